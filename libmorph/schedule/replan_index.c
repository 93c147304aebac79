// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is looked up of a schedule that is planned again. */
#include <stdarg.h>
#include <stdio.h>

#include "replan.h"

int lm_replan_refuse(struct replan *replan, uint32_t verdict, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(replan->why, sizeof(replan->why), format, arguments);
	va_end(arguments);
	replan->verdict = verdict;
	return -ECANCELED;
}

int lm_replan_add_piece(struct replan *replan, const struct piece *piece, uint32_t *number)
{
	int ret = REPLAN_GROW(replan, pieces, 1);
	struct piece *added;

	if (ret)
		return ret;
	*number = replan->pieces.count++;
	added = &replan->pieces.list[*number];
	*added = *piece;
	added->next = NOTHING;
	if (piece->hold == NOTHING)
		return 0;
	added->next = replan->pieces_of[piece->hold];
	replan->pieces_of[piece->hold] = *number;
	return 0;
}

/* -------------------------------------------------------------------- holds */

static void index_planes(struct replan *replan)
{
	const struct morph_schedule *old = replan->old;
	uint32_t *first = replan->plane_first;

	for (uint32_t at = 0; at < old->holds.count; at++)
		first[old->holds.list[at].plane + 1]++;
	for (uint32_t plane = 0; plane < old->planes; plane++)
		first[plane + 1] += first[plane];
	for (uint32_t at = 0; at < old->holds.count; at++)
		replan->plane_holds[first[old->holds.list[at].plane]++] = at;
	/* Each has gone to where the next began. */
	memmove(first + 1, first, old->planes * sizeof(*first));
	first[0] = 0;
	for (uint32_t plane = 0; plane < old->planes; plane++) {
		uint64_t latest = 0;

		for (uint32_t at = first[plane]; at < first[plane + 1]; at++) {
			uint64_t dark = old->holds.list[replan->plane_holds[at]].dark_ps;

			latest = dark > latest ? dark : latest;
			replan->dark_before[at] = latest;
		}
	}
}

static void index_sends(struct replan *replan)
{
	const struct morph_schedule *old = replan->old;
	uint32_t *first = replan->hold_first;

	for (uint32_t at = 0; at < old->hops.count; at++)
		first[old->hops.list[at] + 1]++;
	for (uint32_t hold = 0; hold < old->holds.count; hold++)
		first[hold + 1] += first[hold];
	for (uint32_t at = 0; at < old->sends.count; at++) {
		const struct send *send = &old->sends.list[at];

		for (uint32_t hop = 0; hop < send->hops; hop++)
			replan->hold_sends[first[old->hops.list[send->hops_first + hop]]++] = at;
	}
	memmove(first + 1, first, old->holds.count * sizeof(*first));
	first[0] = 0;
}

/* Sends come by rounds, and a round begins when the one before has ended. */
static int index_rounds(struct replan *replan)
{
	const struct morph_schedule *old = replan->old;
	uint32_t rounds = replan->collective->rounds.count, round = 0;
	uint64_t ended = 0, ends = 0;

	for (uint32_t at = 0; at < old->sends.count; at++) {
		const struct send *send = &old->sends.list[at];

		if (send->round < round)
			return lm_replan_refuse(replan, MORPH_UNDECIDED,
						"its sends are not in the order of rounds");
		while (round < send->round) {
			replan->round_first[++round] = at;
			ended = ends;
		}
		if (send->from_ps < ended)
			return lm_replan_refuse(replan, MORPH_UNDECIDED,
						"round %u begins before round %u has ended", round,
						round - 1);
		ends = send->until_ps > ends ? send->until_ps : ends;
	}
	while (round < rounds)
		replan->round_first[++round] = old->sends.count;
	return 0;
}

int lm_replan_index(struct replan *replan)
{
	const struct morph_schedule *old = replan->old;
	size_t holds = old->holds.count;

	replan->plane_first = calloc((size_t)old->planes + 1, sizeof(*replan->plane_first));
	replan->plane_holds = calloc(holds + 1, sizeof(*replan->plane_holds));
	replan->dark_before = calloc(holds + 1, sizeof(*replan->dark_before));
	replan->hold_first = calloc(holds + 1, sizeof(*replan->hold_first));
	replan->hold_sends = calloc((size_t)old->hops.count + 1, sizeof(*replan->hold_sends));
	replan->round_first =
		calloc((size_t)replan->collective->rounds.count + 1, sizeof(*replan->round_first));
	replan->pieces_of = malloc((holds + 1) * sizeof(*replan->pieces_of));
	if (!replan->plane_first || !replan->plane_holds || !replan->dark_before ||
	    !replan->hold_first || !replan->hold_sends || !replan->round_first ||
	    !replan->pieces_of) {
		lm_fail(replan->schedule->ctx, ENOMEM, "plan a schedule again: out of memory");
		return -ENOMEM;
	}
	memset(replan->pieces_of, 0xff, (holds + 1) * sizeof(*replan->pieces_of));
	index_planes(replan);
	index_sends(replan);
	return index_rounds(replan);
}

static bool has_end(const struct morph_schedule *old, const struct hold *hold,
		    const struct joined *circuit)
{
	const struct matching *matching = &old->matchings.list[hold->matching];

	if (lm_matching_leads(old, hold->matching, circuit->src) != UINT32_MAX)
		return true;
	for (uint32_t at = matching->first; at < matching->first + matching->count; at++)
		if (old->circuits.list[at].dst == circuit->dst)
			return true;
	return false;
}

uint32_t lm_replan_first_after(const struct replan *replan, uint32_t plane, uint64_t ps)
{
	uint32_t low = replan->plane_first[plane], high = replan->plane_first[plane + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (replan->dark_before[middle] <= ps)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool lm_replan_free(const struct replan *replan, uint32_t plane, const struct joined *circuit,
		    uint64_t from_ps, uint64_t until_ps)
{
	const struct morph_schedule *old = replan->old;

	if (replan->sends_lost[circuit->src] >> plane & 1 ||
	    replan->receives_lost[circuit->dst] >> plane & 1)
		return false;
	for (uint32_t at = lm_replan_first_after(replan, plane, from_ps);
	     at < replan->plane_first[plane + 1]; at++) {
		const struct hold *hold = &old->holds.list[replan->plane_holds[at]];

		if (hold->set_ps >= until_ps)
			break;
		if (hold->dark_ps > from_ps && has_end(old, hold, circuit))
			return false;
	}
	for (uint32_t at = 0; at < replan->pieces.count; at++) {
		const struct piece *piece = &replan->pieces.list[at];

		if (piece->plane == plane && !piece->absent && piece->from_ps < until_ps &&
		    piece->until_ps > from_ps &&
		    (piece->circuit.src == circuit->src || piece->circuit.dst == circuit->dst))
			return false;
	}
	return true;
}

bool lm_replan_stays(const struct replan *replan, uint32_t number, const struct joined *circuit)
{
	const struct morph_schedule *old = replan->old;
	const struct hold *hold = &old->holds.list[number];

	for (uint32_t at = number + 1;
	     at < old->holds.count && old->holds.list[at].set_ps <= hold->dark_ps; at++) {
		const struct hold *next = &old->holds.list[at];

		if (next->plane == hold->plane && next->set_ps == hold->dark_ps &&
		    lm_matching_leads(old, next->matching, circuit->src) == circuit->dst)
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------- ways */

uint32_t lm_replan_piece(const struct replan *replan, uint32_t hold, uint32_t src, uint64_t from_ps)
{
	uint32_t at = replan->pieces_of[hold];

	while (at != NOTHING && (replan->pieces.list[at].circuit.src != src ||
				 replan->pieces.list[at].from_ps > from_ps))
		at = replan->pieces.list[at].next;
	return at;
}

bool lm_replan_way(const struct replan *replan, const struct send *send, uint32_t transfer,
		   uint32_t *refs)
{
	const struct morph_schedule *old = replan->old;
	uint32_t rank = replan_transfer(replan, send->round, transfer)->src;

	for (uint32_t hop = 0; hop < send->hops; hop++) {
		uint32_t hold = old->hops.list[send->hops_first + hop], at;

		refs[hop] = hold;
		if (replan->pieces_of[hold] != NOTHING) {
			at = lm_replan_piece(replan, hold, rank, send->from_ps);
			if (at != NOTHING && (replan->pieces.list[at].absent ||
					      send->until_ps > replan->pieces.list[at].until_ps))
				return false;
			if (at != NOTHING)
				refs[hop] = PIECE | at;
		}
		if (hop + 1 < send->hops)
			rank = lm_matching_leads(old, old->holds.list[hold].matching, rank);
	}
	return true;
}

bool lm_replan_passes(const struct replan *replan, const struct send *send, uint32_t transfer,
		      uint32_t hold, uint32_t src)
{
	const struct morph_schedule *old = replan->old;
	uint32_t rank = replan_transfer(replan, send->round, transfer)->src;

	if (send->hops == 1)
		return rank == src && old->hops.list[send->hops_first] == hold;
	for (uint32_t hop = 0; hop < send->hops; hop++) {
		uint32_t over = old->hops.list[send->hops_first + hop];

		if (over == hold && rank == src)
			return true;
		if (hop + 1 < send->hops)
			rank = lm_matching_leads(old, old->holds.list[over].matching, rank);
	}
	return false;
}

uint32_t lm_replan_most_hops(const struct replan *replan)
{
	uint32_t most = replan->old->ranks;

	for (uint32_t at = 0; at < replan->old->sends.count; at++)
		if (replan->old->sends.list[at].hops > most)
			most = replan->old->sends.list[at].hops;
	return most;
}
