// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules go through the checker, which shares no code with the planners; what was spoilt does not. */
#include <stdio.h>

#include "../bench/random.h"
#include "scheduling.h"

#define HEAD 5 /* words */
#define SCHEDULE_HEAD 14
#define HOLD 8
#define SEND 11
#define ROUND_PS 500000 /* of some_delay() */

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

static void add(uint32_t *low, int64_t more)
{
	uint64_t value = (low[0] | (uint64_t)low[1] << 32) + (uint64_t)more;

	low[0] = (uint32_t)value;
	low[1] = (uint32_t)(value >> 32);
}

/* Of a hold that is set: it is lit too soon, or set too late, or dark too soon. */
static bool spoil_hold(const struct laid *laid, uint64_t *seed)
{
	uint32_t number = random_below(seed, laid->holds_count);
	uint32_t *hold = laid->holds + HOLD * (size_t)number;

	if (number < laid->residents)
		return false;
	switch (random_below(seed, 3)) {
	case 0:
		add(&hold[4], -1 - (int64_t)random_below(seed, 1000000));
		return true;
	case 1:
		add(&hold[2], 1 + random_below(seed, 1000000));
		return true;
	default:
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
}

/* Of a send: its round, transfers, way, bytes, or how long it takes. */
static bool spoil_send(const struct laid *laid, uint64_t *seed)
{
	uint32_t *send = laid->sends + SEND * (size_t)random_below(seed, laid->sends_count);
	uint32_t *hop = &laid->hops[send[3]];
	uint32_t other;

	switch (random_below(seed, 6)) {
	case 0:
		send[0]++;
		return true;
	case 1:
		send[1]++;
		return true;
	case 2:
		send[2]++;
		return true;
	case 3: /* held by another plane, or at another time */
		other = random_below(seed, laid->holds_count);
		if (laid->holds[HOLD * (size_t)other + 1] == laid->holds[HOLD * (size_t)*hop + 1])
			return false;
		*hop = other;
		return true;
	case 4:
		add(&send[5], random_below(seed, 2) ? 1 : -1);
		return true;
	default: /* no round is over in less than what each takes */
		send[9] = send[7];
		send[10] = send[8];
		add(&send[9], random_below(seed, ROUND_PS));
		return true;
	}
}

/* A send is left out. */
static void drop(struct written *written, const struct laid *laid, uint64_t *seed)
{
	uint32_t *send = laid->sends + SEND * (size_t)random_below(seed, laid->sends_count);
	uint32_t *end = written->schedule + written->schedule_bytes / 4;

	memmove(send, send + SEND, (size_t)(end - send - SEND) * 4);
	laid->head[12]--;
	written->schedule_bytes -= SEND * 4;
	written->schedule[4] -= SEND;
}

/* The rank that sends the first transfer of a send. */
static uint32_t sender(const struct written *written, const uint32_t *send)
{
	const uint32_t *head = written->collective + HEAD;
	const uint32_t *rounds = head + 5 + 4 * (size_t)head[1];
	const uint32_t *transfers = rounds + 2 * (size_t)head[2];

	return transfers[5 * ((size_t)rounds[2 * (size_t)send[0]] + send[1])];
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

/* Numbers of the head: verdict, ranks, planes, the end, the bound, what is lit at first. */
static void spoil_head(const struct laid *laid, uint64_t *seed)
{
	static const uint32_t long_words[] = { 3, 6 };
	static const uint32_t words[] = { 0, 1, 2, 5, 8 };

	if (random_below(seed, 2))
		add(&laid->head[long_words[random_below(seed, 2)]], random_below(seed, 2) ? 1 : -1);
	else
		laid->head[words[random_below(seed, 5)]]++;
}

static bool spoil(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written);

	switch (random_below(seed, 5)) {
	case 0:
		return spoil_hold(&laid, seed);
	case 1:
		return spoil_send(&laid, seed);
	case 2:
		drop(written, &laid, seed);
		return true;
	case 3:
		spoil_matching(written, &laid, seed);
		return true;
	default:
		spoil_head(&laid, seed);
		return true;
	}
}

/* A schedule of some shape by some policy that does it, for as many planes. */
static struct written plan(uint64_t seed)
{
	uint32_t planes = 1 + (uint32_t)(seed / 6 % 5);
	MORPH_OPTS(morph_schedule_opts, opts,
		   .policy = seed % 8 ? 1 + (uint32_t)(seed / 2 % MORPH_POLICY_MATCHINGS) :
					MORPH_POLICY_UNITED,
		   .planes = planes);
	uint64_t chance = seed;
	struct morph_collective *collective = seed % 2 ?
						      random_rounds(&chance, 3 + seed % 7, 4, 9) :
						      ring(3 + seed % 6, 1000 * seed);
	struct morph_delay *delay = some_delay((uint32_t)(seed % 3));
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct written written;

	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	if (morph_schedule_verdict(schedule) == MORPH_INFEASIBLE) {
		assert_true(morph_schedule_why(schedule)[0]);
		opts.policy = MORPH_POLICY_BEST;
		assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	}
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
	written = write_schedule(collective, delay, planes, NULL, schedule);
	morph_schedule_free(schedule);
	morph_delay_free(delay);
	morph_collective_free(collective);
	return written;
}

static void what_is_planned_is_so(void **state)
{
	char report[256];

	(void)state;
	for (uint64_t seed = 1; seed <= 120; seed++) {
		struct written written = plan(seed);

		if (check_written(&written, report))
			fail_msg("seed %llu: %s", (unsigned long long)seed, report);
		forget_written(&written);
	}
}

static void what_was_spoilt_is_rejected(void **state)
{
	uint32_t rejected = 0;
	char report[256];

	(void)state;
	for (uint64_t seed = 1; rejected < 2000; seed++) {
		struct written written = plan(seed % 120 + 1);
		uint64_t chance = seed;

		if (spoil(&written, &chance)) {
			int ret = check_written(&written, report);

			if (ret != -EBADMSG && ret != -EINVAL)
				fail_msg("seed %llu: %d", (unsigned long long)seed, ret);
			assert_true(report[0]);
			rejected++;
		}
		forget_written(&written);
	}
}

/* What the schedule before leaves lit need not be set; what it does not, must. */
static void what_is_there_is_not_set(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_EACH_ROUND, .planes = 2);
	struct morph_collective *collective = ring(5, 4096);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_schedule *first = morph_schedule_new(ctx), *second = morph_schedule_new(ctx);
	struct written written;
	char report[256];

	(void)state;
	assert_int_equal(morph_schedule_plan(first, collective, delay, &opts), 0);
	assert_int_equal(morph_schedule_changes(first, NULL), 1);
	assert_sound(collective, delay, 2, NULL, first);
	opts.after = first;
	assert_int_equal(morph_schedule_plan(second, collective, delay, &opts), 0);
	assert_int_equal(morph_schedule_changes(second, NULL), 0);
	assert_sound(collective, delay, 2, first, second);
	assert_int_equal(morph_schedule_ns(first, NULL) - morph_schedule_ns(second, NULL),
			 3700 + 5 * 10);
	written = write_schedule(collective, delay, 2, NULL, second);
	assert_int_equal(check_written(&written, report), -EBADMSG);
	assert_non_null(strstr(report, "nothing leaves a circuit"));
	forget_written(&written);
	morph_schedule_free(second);
	morph_schedule_free(first);
	morph_delay_free(delay);
	morph_collective_free(collective);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_planned_is_so),
		cmocka_unit_test(what_was_spoilt_is_rejected),
		cmocka_unit_test(what_is_there_is_not_set),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
