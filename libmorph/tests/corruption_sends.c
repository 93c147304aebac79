// SPDX-License-Identifier: LGPL-2.1-or-later
/* Corrupt the places and times of sends. */
#include "corruption_words.h"

#include "../bench/random.h"

/*
 * Replace the first hold of a path by one that does not lead there, or is dark for some of the
 * time.
 */
bool corrupt_way(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	const uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));
	uint32_t *hop = laid.hops + send[3], other = random_below(seed, laid.holds_count);
	const uint32_t *was = hold_at(&laid, *hop), *is = hold_at(&laid, other);
	uint32_t src = sender(written, send, 0);

	for (uint32_t dst = 0; dst < laid.head[1]; dst++)
		if (leads(&laid, was, src, dst) && leads(&laid, is, src, dst) &&
		    long_at(&is[2]) <= long_at(&send[7]) && long_at(&is[6]) >= long_at(&send[9]))
			return false;
	*hop = other;
	return true;
}

/* Check whether both sends use one circuit of a hold first. */
static bool begin_together(const struct written *written, const struct laid *laid,
			   const uint32_t *one, const uint32_t *other)
{
	if (laid->hops[one[3]] != laid->hops[other[3]])
		return false;
	for (uint32_t at = 0; at < one[2]; at++)
		for (uint32_t of = 0; of < other[2]; of++)
			if (sender(written, one, at) == sender(written, other, of))
				return true;
	return false;
}

/* The next send over the first circuit of a send that takes some time; or NULL. */
static uint32_t *next_over(const struct written *written, const struct laid *laid,
			   const uint32_t *send)
{
	uint32_t *next = NULL;

	for (uint32_t at = 0; at < laid->sends_count; at++) {
		uint32_t *other = send_at(laid, at);

		if (other != send && long_at(&other[7]) >= long_at(&send[9]) &&
		    long_at(&other[7]) < long_at(&other[9]) &&
		    (!next || long_at(&other[7]) < long_at(&next[7])) &&
		    begin_together(written, laid, send, other))
			next = other;
	}
	return next;
}

/* Let two consecutive sends over a circuit overlap by a moment without a common beginning. */
bool corrupt_overlap(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));
	const uint32_t *next = next_over(written, &laid, send);

	if (!next || long_at(&send[7]) == long_at(&send[9]))
		return false;
	set_long(&send[9], long_at(&next[7]) + 1);
	return true;
}

/* Send both at once, in less time than the circuit needs for the bytes of both. */
bool corrupt_beside(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	const uint32_t *delay = written->delay + HEAD;
	uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));
	uint32_t *next = next_over(written, &laid, send);

	if (!next || (long_at(&send[5]) + long_at(&next[5])) * 8000000 / long_at(&delay[5]) +
				     long_at(&delay[1]) <=
			     long_at(&send[9]) - long_at(&send[7]))
		return false;
	memcpy(&next[7], &send[7], 4 * sizeof(*send));
	return true;
}

/* Check whether any circuit of a send is on a plane. */
static bool passes(const struct laid *laid, const uint32_t *send, uint32_t plane)
{
	for (uint32_t hop = 0; hop < send[4]; hop++)
		if (hold_at(laid, laid->hops[send[3] + hop])[0] == plane)
			return true;
	return false;
}

/*
 * With changes that stop the plane or the fabric: let a send continue after a change begins, or
 * begin before the change ends.
 */
bool corrupt_change(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));
	uint32_t scope = written->delay[HEAD];
	bool before = random_below(seed, 2);

	if (scope == MORPH_DELAY_PORT_SCOPE)
		return false;
	for (uint32_t at = laid.residents; at < laid.holds_count; at++) {
		const uint32_t *hold =
			hold_at(&laid, before ? at : laid.holds_count + laid.residents - 1 - at);

		if (!count_new(&laid, hold) || long_at(&hold[4]) == long_at(&hold[2]) ||
		    (scope == MORPH_DELAY_PLANE_SCOPE && !passes(&laid, send, hold[0])))
			continue;
		if (before && long_at(&hold[2]) >= long_at(&send[9])) {
			set_long(&send[9], long_at(&hold[2]) + 1);
			return true;
		}
		if (!before && long_at(&hold[4]) <= long_at(&send[7])) {
			set_long(&send[7], long_at(&hold[4]) - 1);
			return true;
		}
	}
	return false;
}
