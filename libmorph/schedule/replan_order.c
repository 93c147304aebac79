// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a rank sends in a gap is what it had before the round. Where something of the same chunks comes to it in the round, as in an
 * exchange of whole buffers, that arrives at the end of the gap: its send lasts longer.
 */
#include "replan.h"

static void index_coming(struct gapping *gapping)
{
	const struct morph_collective *collective = gapping->replan->collective;
	const struct round *round = &collective->rounds.list[gapping->round];

	if (gapping->coming_round == gapping->round)
		return;
	gapping->coming_round = gapping->round;
	memset(gapping->coming, 0xff, gapping->replan->old->ranks * sizeof(*gapping->coming));
	for (uint32_t at = round->count; at--;) {
		uint32_t dst = collective->transfers.list[round->first + at].dst;

		gapping->coming_next[at] = gapping->coming[dst];
		gapping->coming[dst] = at;
	}
}

static bool has_same_chunk(const struct morph_collective *collective, const struct transfer *one,
			   const struct transfer *other)
{
	for (uint32_t at = one->first; at < one->first + one->count; at++) {
		const struct chunk_run *a = &collective->runs.list[at];

		for (uint32_t next = other->first; next < other->first + other->count; next++) {
			const struct chunk_run *b = &collective->runs.list[next];

			if (a->first < b->first + b->count && b->first < a->first + a->count)
				return true;
		}
	}
	return false;
}

/* Whether it arrives within the gap, and later than that. */
static bool comes_later(const struct gapping *gapping, uint32_t transfer, uint64_t later_ps)
{
	const struct replan *replan = gapping->replan;

	for (uint32_t at = gapping->first_resend; at < replan->resends.count; at++)
		if (replan->resends.list[at].transfer == transfer &&
		    replan->resends.list[at].until_ps > later_ps)
			return true;
	for (uint32_t at = replan->stretches.count; at--;) {
		const struct stretch *stretch = &replan->stretches.list[at];

		if (stretch->gap_ps != gapping->ps)
			break;
		if (stretch->transfer == transfer)
			return true;
	}
	return false;
}

/* The send of a transfer that arrives last, of those that begin before the gap, or NOTHING. */
static uint32_t last_send(const struct replan *replan, uint32_t round, uint32_t transfer)
{
	uint32_t last = NOTHING;

	for (uint32_t at = replan->round_first[round]; at < replan->round_first[round + 1]; at++) {
		const struct send *send = &replan->old->sends.list[at];

		if (transfer - send->first < send->count &&
		    (last == NOTHING || send->until_ps > replan->old->sends.list[last].until_ps))
			last = at;
	}
	return last;
}

/* Nothing that is set in the gap stops what is sent on a plane. */
static bool goes_on(const struct gapping *gapping, uint32_t plane)
{
	switch (gapping->replan->old->costs.scope) {
	case MORPH_DELAY_PORT_SCOPE:
		return true;
	case MORPH_DELAY_PLANE_SCOPE:
		return !(gapping->changed >> plane & 1);
	default:
		return !gapping->changed;
	}
}

/* All of its way is lit throughout the gap, and nothing else goes over it. */
static bool can_last(struct gapping *gapping, const struct send *send, uint32_t number)
{
	const struct replan *replan = gapping->replan;
	uint32_t rank = replan_transfer(replan, send->round, number)->src;

	if (send->hops > replan->old->ranks || !lm_replan_way(replan, send, number, gapping->queue))
		return false;
	for (uint32_t hop = 0; hop < send->hops; hop++) {
		uint32_t ref = gapping->queue[hop];
		uint32_t plane = ref & PIECE ? replan->pieces.list[ref & ~PIECE].plane :
					       replan->old->holds.list[ref].plane;
		size_t port = replan_port(gapping, plane, rank);

		if (!goes_on(gapping, plane) || gapping->out[port].ref != ref ||
		    gapping->passed[port] == replan->gaps.count + 1 ||
		    !lm_replan_lit(gapping, &gapping->out[port], plane))
			return false;
		rank = gapping->out[port].other;
	}
	return true;
}

/* Whether what a transfer goes over is marked; with @mark it is from now on. */
static bool meets(struct gapping *gapping, const struct send *send, uint32_t number, bool mark)
{
	const struct morph_schedule *old = gapping->replan->old;
	uint32_t rank = replan_transfer(gapping->replan, send->round, number)->src;
	bool met = false;

	for (uint32_t hop = 0; hop < send->hops; hop++) {
		const struct hold *hold = &old->holds.list[old->hops.list[send->hops_first + hop]];
		uint32_t *lasting = &gapping->lasting[replan_port(gapping, hold->plane, rank)];

		met = met || *lasting == gapping->replan->gaps.count + 1;
		if (mark)
			*lasting = gapping->replan->gaps.count + 1;
		rank = lm_matching_leads(old, hold->matching, rank);
	}
	return met;
}

static int stretch(struct gapping *gapping, uint32_t number, uint32_t transfer)
{
	struct replan *replan = gapping->replan;
	const struct send *send = &replan->old->sends.list[number];
	int ret;

	if (!can_last(gapping, send, transfer))
		return lm_replan_refuse(
			replan, MORPH_UNDECIDED,
			"in round %u what comes to a rank can't wait until it has sent",
			gapping->round);
	ret = REPLAN_GROW(replan, stretches, 1);
	if (ret)
		return ret;
	replan->stretches.list[replan->stretches.count++] =
		(struct stretch){ .send = number, .transfer = transfer, .gap_ps = gapping->ps };
	meets(gapping, send, transfer, true);
	return 0;
}

static bool is_stretched(const struct replan *replan, uint32_t send, uint32_t transfer)
{
	for (uint32_t at = replan->stretches.count; at--;)
		if (replan->stretches.list[at].send == send &&
		    replan->stretches.list[at].transfer == transfer)
			return true;
	return false;
}

/* Those of a send that share a circuit with what lasts longer do so too: how many, or what was noted. */
static int stretch_sharing(struct gapping *gapping, uint32_t number)
{
	struct replan *replan = gapping->replan;
	const struct send *send = &replan->old->sends.list[number];
	int count = 0;

	for (uint32_t at = send->first; at < send->first + send->count; at++) {
		int ret;

		if (!meets(gapping, send, at, false) || is_stretched(replan, number, at) ||
		    !lm_replan_way(replan, send, at, gapping->queue))
			continue;
		ret = stretch(gapping, number, at);
		if (ret)
			return ret;
		count++;
	}
	return count;
}

/* What shares a circuit has the same times. */
static int last_longer(struct gapping *gapping, uint32_t transfer)
{
	struct replan *replan = gapping->replan;
	const struct morph_schedule *old = replan->old;
	uint32_t number = last_send(replan, gapping->round, transfer);
	int more, ret;

	if (number == NOTHING)
		return 0;
	ret = stretch(gapping, number, transfer);
	do {
		more = 0;
		for (uint32_t at = replan->round_first[gapping->round];
		     !ret && at < replan->round_first[gapping->round + 1]; at++) {
			int count = old->sends.list[at].from_ps ==
							    old->sends.list[number].from_ps &&
						    old->sends.list[at].until_ps ==
							    old->sends.list[number].until_ps ?
					    stretch_sharing(gapping, at) :
					    0;

			ret = count < 0 ? count : 0;
			more += count;
		}
	} while (!ret && more);
	return ret;
}

int lm_replan_order(struct gapping *gapping)
{
	struct replan *replan = gapping->replan;
	int ret = 0;

	index_coming(gapping);
	for (uint32_t at = gapping->first_resend; !ret && at < replan->resends.count; at++) {
		const struct resend *resend = &replan->resends.list[at];
		const struct transfer *sent =
			replan_transfer(replan, gapping->round, resend->transfer);
		uint64_t from_ps = resend->from_ps;

		for (uint32_t next = gapping->coming[sent->src]; !ret && next != NOTHING;
		     next = gapping->coming_next[next])
			if (has_same_chunk(replan->collective, sent,
					   replan_transfer(replan, gapping->round, next)) &&
			    !comes_later(gapping, next, from_ps))
				ret = last_longer(gapping, next);
	}
	return ret;
}
