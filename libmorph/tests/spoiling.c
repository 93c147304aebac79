// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules that can't be right: what is changed is told from what is written alone, and what may be so is left. */
#include "spoiling.h"

#include "../bench/random.h"

#define HEAD 5 /* words */
#define SCHEDULE_HEAD 14
#define HOLD 8
#define SEND 11

/* Where things are in the words of a schedule. */
struct laid {
	uint32_t *head; /* behind that of all wire forms */
	uint32_t *matchings, *circuits, *holds, *sends, *hops;
	uint32_t residents, matchings_count, circuits_count, holds_count, sends_count, hops_count;
};

static struct laid lay(const struct written *written)
{
	uint32_t *head = written->schedule + HEAD;
	struct laid laid = { .head = head,
			     .residents = head[8],
			     .matchings_count = head[9],
			     .circuits_count = head[10],
			     .holds_count = head[11],
			     .sends_count = head[12],
			     .hops_count = head[13] };

	laid.matchings = head + SCHEDULE_HEAD;
	laid.circuits = laid.matchings + 2 * (size_t)laid.matchings_count;
	laid.holds = laid.circuits + 2 * (size_t)laid.circuits_count;
	laid.sends = laid.holds + HOLD * (size_t)laid.holds_count;
	laid.hops = laid.sends + SEND * (size_t)laid.sends_count;
	return laid;
}

static uint64_t long_at(const uint32_t *low)
{
	return low[0] | (uint64_t)low[1] << 32;
}

static void add(uint32_t *low, int64_t more)
{
	uint64_t value = long_at(low) + (uint64_t)more;

	low[0] = (uint32_t)value;
	low[1] = (uint32_t)(value >> 32);
}

/* The rank that sends the first transfer of a send. */
static uint32_t sender(const struct written *written, const uint32_t *send)
{
	const uint32_t *head = written->collective + HEAD;
	const uint32_t *rounds = head + 5 + 4 * (size_t)head[1];
	const uint32_t *transfers = rounds + 2 * (size_t)head[2];

	return transfers[5 * ((size_t)rounds[2 * (size_t)send[0]] + send[1])];
}

/* Whether a hold has a circuit. */
static bool leads(const struct laid *laid, const uint32_t *hold, uint32_t src, uint32_t dst)
{
	const uint32_t *matching = &laid->matchings[2 * (size_t)hold[1]];
	const uint32_t *circuit = laid->circuits + 2 * (size_t)matching[0];

	for (uint32_t at = 0; at < matching[1]; at++, circuit += 2)
		if (circuit[0] == src)
			return circuit[1] == dst;
	return false;
}

/* Circuits of a hold that no hold of its plane leaves when it is set. */
static uint32_t count_new(const struct laid *laid, const uint32_t *hold)
{
	const uint32_t *matching = &laid->matchings[2 * (size_t)hold[1]];
	const uint32_t *circuit = laid->circuits + 2 * (size_t)matching[0];
	uint32_t count = matching[1];

	for (uint32_t at = 0; at < matching[1]; at++, circuit += 2)
		for (uint32_t of = 0; of < laid->holds_count; of++) {
			const uint32_t *other = laid->holds + HOLD * (size_t)of;

			if (other != hold && other[0] == hold[0] &&
			    long_at(&other[6]) == long_at(&hold[2]) &&
			    leads(laid, other, circuit[0], circuit[1])) {
				count--;
				break;
			}
		}
	return count;
}

/* What it takes to set a hold, with what is set at once where changes stop planes or the fabric; 0: nothing is new in it. */
static uint64_t takes(const struct written *written, const struct laid *laid, const uint32_t *hold)
{
	const uint32_t *delay = written->delay + HEAD;
	uint64_t circuits = 0;

	if (!count_new(laid, hold))
		return 0;
	for (uint32_t at = laid->residents; at < laid->holds_count; at++) {
		const uint32_t *other = laid->holds + HOLD * (size_t)at;

		if (long_at(&other[2]) == long_at(&hold[2]) &&
		    (other == hold || delay[0] == MORPH_DELAY_FABRIC_SCOPE ||
		     (delay[0] == MORPH_DELAY_PLANE_SCOPE && other[0] == hold[0])))
			circuits += count_new(laid, other);
	}
	return long_at(&delay[7]) + circuits * long_at(&delay[9]);
}

/* Of a hold that is set: it is lit too soon, or set too late, or dark too soon. */
static bool spoil_hold(const struct written *written, const struct laid *laid, uint64_t *seed)
{
	uint32_t number = random_below(seed, laid->holds_count);
	uint32_t *hold = laid->holds + HOLD * (size_t)number, kind = random_below(seed, 3);
	uint64_t least = takes(written, laid, hold), less;

	if (number < laid->residents)
		return false;
	if (kind == 2) {
		for (uint32_t at = 0; at < laid->sends_count; at++) {
			const uint32_t *send = laid->sends + SEND * (size_t)at;

			if (laid->hops[send[3]] != number)
				continue;
			hold[6] = send[9];
			hold[7] = send[10];
			add(&hold[6], -1);
			return true;
		}
		return false;
	}
	if (!least)
		return false;
	less = 1 + random_below(seed, least < 1000000 ? (uint32_t)least : 1000000);
	less += long_at(&hold[4]) - long_at(&hold[2]) - least; /* what it has to spare */
	if (kind)
		add(&hold[2], (int64_t)less);
	else
		add(&hold[4], -(int64_t)less);
	return true;
}

/* Whether ports of a plane are programmed for two holds at once, which both have no more time than that takes. */
static bool collides(const struct written *written, const struct laid *laid, const uint32_t *hold)
{
	const uint32_t *delay = written->delay + HEAD;
	uint64_t set = long_at(&hold[2]), until = long_at(&hold[4]) - long_at(&delay[7]);

	for (uint32_t at = laid->residents; at < laid->holds_count; at++) {
		const uint32_t *other = laid->holds + HOLD * (size_t)at;
		uint64_t least = takes(written, laid, other);

		if (other != hold && other[0] == hold[0] && least &&
		    long_at(&other[4]) - long_at(&other[2]) == least &&
		    long_at(&other[2]) < until && long_at(&other[4]) - long_at(&delay[7]) > set)
			return true;
	}
	return false;
}

/* Of a hold that waits until other ports of its plane are programmed: it does not. */
static bool spoil_queue(const struct written *written, const struct laid *laid, uint64_t *seed)
{
	const uint32_t *delay = written->delay + HEAD;
	uint32_t number = random_below(seed, laid->holds_count);
	uint32_t *hold = laid->holds + HOLD * (size_t)number;
	uint64_t less, least = takes(written, laid, hold);

	if (delay[0] != MORPH_DELAY_PORT_SCOPE || !long_at(&delay[9]) || number < laid->residents ||
	    long_at(&hold[4]) - long_at(&hold[2]) != least || !least)
		return false;
	less = 1 + random_below(seed, (uint32_t)long_at(&delay[9]));
	if (less > long_at(&hold[2]))
		return false;
	add(&hold[2], -(int64_t)less);
	add(&hold[4], -(int64_t)less);
	return collides(written, laid, hold);
}

/* Of a way: its first hold is another, which does not lead there, or is dark for some of the time. */
static bool spoil_way(const struct written *written, const struct laid *laid, const uint32_t *send,
		      uint64_t *seed)
{
	uint32_t *hop = &laid->hops[send[3]], other = random_below(seed, laid->holds_count);
	const uint32_t *was = laid->holds + HOLD * (size_t)*hop;
	const uint32_t *is = laid->holds + HOLD * (size_t)other;
	uint32_t src = sender(written, send);

	for (uint32_t dst = 0; dst < laid->head[1]; dst++)
		if (leads(laid, was, src, dst) && leads(laid, is, src, dst) &&
		    long_at(&is[2]) <= long_at(&send[7]) && long_at(&is[6]) >= long_at(&send[9]))
			return false;
	*hop = other;
	return true;
}

/* Of a send: its round, transfers, way, bytes, or how long it takes. */
static bool spoil_send(const struct written *written, const struct laid *laid, uint64_t *seed)
{
	uint32_t *send = laid->sends + SEND * (size_t)random_below(seed, laid->sends_count);
	uint32_t kind = random_below(seed, 6);

	switch (kind) {
	case 0:
	case 1:
	case 2: /* without bytes it may be any's */
		send[kind]++;
		return long_at(&send[5]);
	case 3:
		return spoil_way(written, laid, send, seed);
	case 4:
		add(&send[5], random_below(seed, 2) ? 1 : -1);
		return true;
	default: /* no round is over in less than what each takes */
		send[9] = send[7];
		send[10] = send[8];
		add(&send[9], random_below(seed, written->delay[HEAD + 1]));
		return true;
	}
}

/* A send is left out: nobody lacks one without bytes. */
static bool drop(struct written *written, const struct laid *laid, uint64_t *seed)
{
	uint32_t *send = laid->sends + SEND * (size_t)random_below(seed, laid->sends_count);
	uint32_t *end = written->schedule + written->schedule_bytes / 4;

	if (!long_at(&send[5]))
		return false;
	memmove(send, send + SEND, (size_t)(end - send - SEND) * 4);
	laid->head[12]--;
	written->schedule_bytes -= SEND * 4;
	written->schedule[4] -= SEND;
	return true;
}

/* A circuit over which something is sent leads elsewhere; or a matching has one less. */
static void spoil_matching(const struct written *written, const struct laid *laid, uint64_t *seed)
{
	const uint32_t *send = laid->sends + SEND * (size_t)random_below(seed, laid->sends_count);
	uint32_t number = laid->holds[HOLD * (size_t)laid->hops[send[3]] + 1];
	uint32_t *matching = &laid->matchings[2 * (size_t)number];
	uint32_t *circuit = laid->circuits + 2 * (size_t)matching[0], ranks = laid->head[1];

	if (random_below(seed, 4) == 0) {
		matching[1]--;
		return;
	}
	while (circuit[0] != sender(written, send))
		circuit += 2;
	circuit[1] = (circuit[1] + 1 + random_below(seed, ranks - 1)) % ranks;
}

/* Numbers of the head: verdict, ranks, planes, the end, the bound, what is lit at first; of bounds there are two, often of the same time. */
static void spoil_head(const struct laid *laid, uint64_t *seed)
{
	static const uint32_t long_words[] = { 3, 6 };
	static const uint32_t words[] = { 0, 1, 2, 5, 8 };
	uint32_t word;

	if (random_below(seed, 2)) {
		add(&laid->head[long_words[random_below(seed, 2)]], random_below(seed, 2) ? 1 : -1);
		return;
	}
	word = words[random_below(seed, 5)];
	laid->head[word] += word == 5 ? 2 : 1;
}

static bool spoil(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written);

	if (!laid.sends_count)
		return false;
	switch (random_below(seed, 6)) {
	case 0:
		return spoil_hold(written, &laid, seed);
	case 5:
		return spoil_queue(written, &laid, seed);
	case 1:
		return spoil_send(written, &laid, seed);
	case 2:
		return drop(written, &laid, seed);
	case 3:
		spoil_matching(written, &laid, seed);
		return true;
	default:
		spoil_head(&laid, seed);
		return true;
	}
}

uint32_t assert_spoilt_are_rejected(const struct written *written, uint64_t seed, uint32_t times)
{
	uint32_t *words = malloc(written->schedule_bytes), rejected = 0;
	char report[256];

	assert_non_null(words);
	for (uint32_t time = 0; time < times; time++) {
		struct written spoilt = *written;
		int ret;

		memcpy(words, written->schedule, written->schedule_bytes);
		spoilt.schedule = words;
		if (!spoil(&spoilt, &seed))
			continue;
		ret = check_written(&spoilt, report);
		if (ret != -EBADMSG && ret != -EINVAL)
			fail_msg("time %u: %d", time, ret);
		assert_true(report[0]);
		rejected++;
	}
	free(words);
	return rejected;
}
