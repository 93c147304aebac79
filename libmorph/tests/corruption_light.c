// SPDX-License-Identifier: LGPL-2.1-or-later
/* Corrupt the holds and the circuits at the start. */
#include "corruption_words.h"

#include "../bench/random.h"

uint32_t count_new(const struct laid *laid, const uint32_t *hold)
{
	const uint32_t *matching = &laid->matchings[2 * (size_t)hold[1]];
	const uint32_t *circuit = laid->circuits + 2 * (size_t)matching[0];
	uint32_t count = matching[1];

	for (uint32_t at = 0; at < matching[1]; at++, circuit += 2)
		for (uint32_t of = 0; of < laid->holds_count; of++) {
			const uint32_t *other = hold_at(laid, of);

			if (other != hold && other[0] == hold[0] &&
			    long_at(&other[6]) == long_at(&hold[2]) &&
			    leads(laid, other, circuit[0], circuit[1])) {
				count--;
				break;
			}
		}
	return count;
}

uint64_t takes(const struct written *written, const struct laid *laid, const uint32_t *hold)
{
	const uint32_t *delay = written->delay + HEAD;
	uint64_t circuits = 0;

	if (!count_new(laid, hold))
		return 0;
	for (uint32_t at = laid->residents; at < laid->holds_count; at++) {
		const uint32_t *other = hold_at(laid, at);

		if (long_at(&other[2]) == long_at(&hold[2]) &&
		    (other == hold || delay[0] == MORPH_DELAY_FABRIC_SCOPE ||
		     (delay[0] == MORPH_DELAY_PLANE_SCOPE && other[0] == hold[0])))
			circuits += count_new(laid, other);
	}
	return long_at(&delay[7]) + circuits * long_at(&delay[9]);
}

/* ------------------------------------------------------------------ changes */

/* More than the spare time that a hold has for its setting; 0: the hold sets no circuit. */
static uint64_t too_much(const struct written *written, const struct laid *laid,
			 const uint32_t *hold, uint64_t *seed)
{
	uint64_t least = takes(written, laid, hold);

	if (!least)
		return 0;
	return 1 + random_below(seed, least < 1000000 ? (uint32_t)least : 1000000) +
	       long_at(&hold[4]) - long_at(&hold[2]) - least;
}

/* Light the hold too early. */
bool corrupt_lit(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t number = random_below(seed, laid.holds_count), *hold = hold_at(&laid, number);
	uint64_t less = number < laid.residents ? 0 : too_much(written, &laid, hold, seed);

	add(&hold[4], -(int64_t)less);
	return less;
}

/* Set the hold too late. */
bool corrupt_set(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t number = random_below(seed, laid.holds_count), *hold = hold_at(&laid, number);
	uint64_t less = number < laid.residents ? 0 : too_much(written, &laid, hold, seed);

	add(&hold[2], (int64_t)less);
	return less;
}

/* Let the hold end while something is sent. */
bool corrupt_dark(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t number = random_below(seed, laid.holds_count), *hold = hold_at(&laid, number);

	for (uint32_t at = 0; at < laid.sends_count; at++) {
		const uint32_t *send = send_at(&laid, at);

		if (laid.hops[send[3]] != number)
			continue;
		set_long(&hold[6], long_at(&send[9]) - 1);
		return true;
	}
	return false;
}

/*
 * Check whether ports of a plane are programmed for two holds at once, neither of which has spare
 * time.
 */
static bool collides(const struct written *written, const struct laid *laid, const uint32_t *hold)
{
	const uint32_t *delay = written->delay + HEAD;
	uint64_t set = long_at(&hold[2]), until = long_at(&hold[4]) - long_at(&delay[7]);

	for (uint32_t at = laid->residents; at < laid->holds_count; at++) {
		const uint32_t *other = hold_at(laid, at);
		uint64_t least = takes(written, laid, other);

		if (other != hold && other[0] == hold[0] && least &&
		    long_at(&other[4]) - long_at(&other[2]) == least &&
		    long_at(&other[2]) < until && long_at(&other[4]) - long_at(&delay[7]) > set)
			return true;
	}
	return false;
}

/* Do not let a hold wait until other ports of its plane are programmed. */
bool corrupt_queue(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	const uint32_t *delay = written->delay + HEAD;
	uint32_t number = random_below(seed, laid.holds_count), *hold = hold_at(&laid, number);
	uint64_t less, least = takes(written, &laid, hold);

	if (delay[0] != MORPH_DELAY_PORT_SCOPE || !long_at(&delay[9]) || number < laid.residents ||
	    long_at(&hold[4]) - long_at(&hold[2]) != least || !least)
		return false;
	less = 1 + random_below(seed, (uint32_t)long_at(&delay[9]));
	if (less > long_at(&hold[2]))
		return false;
	add(&hold[2], -(int64_t)less);
	add(&hold[4], -(int64_t)less);
	return collides(written, &laid, hold);
}

/* -------------------------------------------------------------------- ports */

static bool share_a_port(const struct laid *laid, const uint32_t *one, const uint32_t *other)
{
	const uint32_t *ones = &laid->matchings[2 * (size_t)one[1]];
	const uint32_t *others = &laid->matchings[2 * (size_t)other[1]];

	for (uint32_t at = 0; at < ones[1]; at++)
		for (uint32_t of = 0; of < others[1]; of++) {
			const uint32_t *a = laid->circuits + 2 * ((size_t)ones[0] + at);
			const uint32_t *b = laid->circuits + 2 * ((size_t)others[0] + of);

			if (a[0] == b[0] || a[1] == b[1])
				return true;
		}
	return false;
}

/* Let a hold keep its ports until shortly after another hold has taken one of them. */
bool corrupt_port(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t number = random_below(seed, laid.holds_count), *hold = hold_at(&laid, number);

	for (uint32_t at = number + 1; at < laid.holds_count; at++) {
		const uint32_t *other = hold_at(&laid, at);

		if (other[0] != hold[0] || long_at(&other[2]) < long_at(&hold[6]) ||
		    long_at(&other[6]) == long_at(&other[2]) || !share_a_port(&laid, hold, other))
			continue;
		set_long(&hold[6], long_at(&other[2]) + 1);
		return true;
	}
	return false;
}

/* Hold something a second time at the same time. */
bool corrupt_twice(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t number = random_below(seed, laid.holds_count), *hold = hold_at(&laid, number);
	uint32_t *end = written->schedule + written->schedule_bytes / 4;

	if (long_at(&hold[6]) == long_at(&hold[2]))
		return false;
	for (uint32_t at = 0; at < laid.hops_count; at++)
		laid.hops[at] += laid.hops[at] > number;
	memmove(hold + HOLD, hold, (size_t)(end - hold) * 4);
	laid.head[8] += number < laid.residents;
	laid.head[11]++;
	written->schedule_bytes += HOLD * 4;
	written->schedule[4] += HOLD;
	return true;
}

/* ------------------------------------------------------------ what was there */

/* Light circuits of the start later than the start. */
bool corrupt_first(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t *hold;

	if (!laid.residents)
		return false;
	hold = hold_at(&laid, random_below(seed, laid.residents));
	if (!long_at(&hold[6]))
		return false;
	set_long(&hold[4], 1);
	return true;
}

/*
 * A circuit at the start was dark when the schedule before ended, or was not lit by then, in each
 * hold that had it. The holds keep their order.
 */
bool corrupt_left(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule), after;
	const uint32_t *hold, *matching, *circuit;
	bool late = random_below(seed, 2), done = false;
	uint64_t finish;

	if (!laid.residents || !written->after)
		return false;
	after = lay(written->after);
	finish = long_at(after.head + 3);
	hold = hold_at(&laid, random_below(seed, laid.residents));
	matching = laid.matchings + 2 * (size_t)hold[1];
	circuit = laid.circuits + 2 * ((size_t)matching[0] + random_below(seed, matching[1]));
	for (uint32_t at = 0; at < after.holds_count; at++) {
		uint32_t *before = hold_at(&after, at);

		if (before[0] != hold[0] || long_at(&before[6]) < finish ||
		    !leads(&after, before, circuit[0], circuit[1]))
			continue;
		if (!late && long_at(&before[4]) >= finish)
			return false;
		if (late)
			set_long(&before[4], finish + 1);
		set_long(&before[6], late ? finish + 1 : finish - 1);
		done = true;
	}
	return done;
}

/* Check whether the circuits that disappear must be set as well, for which there is no time. */
static bool is_left_unpaid(const struct written *written, const struct laid *laid, uint32_t *hold)
{
	for (uint32_t at = laid->residents; at < laid->holds_count; at++) {
		const uint32_t *next = hold_at(laid, at);
		uint32_t before = count_new(laid, next);

		if (next == hold || next[0] != hold[0] || long_at(&next[2]) != long_at(&hold[6]))
			continue;
		add(&hold[6], -1);
		if (count_new(laid, next) > before &&
		    long_at(&next[4]) - long_at(&next[2]) < takes(written, laid, next))
			return true;
		add(&hold[6], 1);
	}
	return false;
}

/* End a hold a moment early, although the next hold keeps some of its circuits. */
bool corrupt_gap(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t first = random_below(seed, laid.holds_count);

	for (uint32_t at = 0; at < laid.holds_count; at++) {
		uint32_t *hold = hold_at(&laid, (first + at) % laid.holds_count);

		if (long_at(&hold[6]) > long_at(&hold[4]) && is_left_unpaid(written, &laid, hold))
			return true;
	}
	return false;
}
