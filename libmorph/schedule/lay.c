// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Turns the decisions of a planner into holds. Planes keep circuits that they have; others are set,
 * which takes time.
 */
#include "lay.h"

struct lay lm_lay_begin(struct morph_schedule *schedule)
{
	struct lay lay = { .schedule = schedule };

	memset(lay.now, 0xff, sizeof(lay.now));
	for (uint32_t at = 0; at < schedule->residents; at++)
		lay.now[schedule->holds.list[at].plane] = at;
	return lay;
}

uint32_t lm_lay_missing(const struct lay *lay, uint32_t plane, uint32_t matching)
{
	const struct morph_schedule *schedule = lay->schedule;
	const struct matching *wanted = &schedule->matchings.list[matching];
	uint32_t held, count = 0;

	if (lay->now[plane] == NO_HOLD)
		return wanted->count;
	held = schedule->holds.list[lay->now[plane]].matching;
	if (held == matching)
		return 0;
	for (uint32_t at = wanted->first; at < wanted->first + wanted->count; at++) {
		const struct morph_rank_pair *circuit = &schedule->circuits.list[at];

		count += lm_matching_leads(schedule, held, circuit->src) != circuit->dst;
	}
	return count;
}

int lm_lay_hold(struct lay *lay, uint32_t plane, uint32_t matching, uint64_t set_ps,
		uint64_t lit_ps)
{
	uint32_t *now = &lay->now[plane];

	if (*now != NO_HOLD)
		lay->schedule->holds.list[*now].dark_ps = set_ps;
	return lm_schedule_hold(lay->schedule, plane, matching, set_ps, lit_ps, now);
}

int lm_lay_change(struct lay *lay, const uint32_t *wanted)
{
	const struct costs *costs = &lay->schedule->costs;
	uint32_t lacks[MOST_PLANES] = { 0 }, all = 0;
	uint64_t begins = lay->clock_ps;
	int ret = 0;

	for (uint32_t plane = 0; plane < lay->schedule->planes; plane++) {
		lacks[plane] = wanted[plane] == NO_MATCHING ?
				       0 :
				       lm_lay_missing(lay, plane, wanted[plane]);
		all += lacks[plane];
	}
	for (uint32_t plane = 0; !ret && plane < lay->schedule->planes; plane++) {
		/* If the fabric stops, one change sets all planes. */
		bool together = costs->scope == MORPH_DELAY_FABRIC_SCOPE;
		uint64_t lit;

		if (!lacks[plane])
			continue;
		lit = begins + costs_change_ps(costs, together ? all : lacks[plane]);
		ret = lm_lay_hold(lay, plane, wanted[plane], begins, lit);
		if (lit > lay->clock_ps)
			lay->clock_ps = lit;
	}
	return ret;
}

void lm_lay_assign(const struct lay *lay, const uint32_t *matchings, uint32_t count,
		   uint32_t *wanted)
{
	for (uint32_t plane = 0; plane < lay->schedule->planes; plane++)
		wanted[plane] = NO_MATCHING;
	for (uint32_t at = 0; at < count; at++) {
		uint32_t best = UINT32_MAX, least = UINT32_MAX;

		for (uint32_t plane = 0; plane < lay->schedule->planes; plane++) {
			uint32_t lacks;

			if (wanted[plane] != NO_MATCHING)
				continue;
			lacks = lm_lay_missing(lay, plane, matchings[at]);
			if (lacks < least) {
				least = lacks;
				best = plane;
			}
		}
		wanted[best] = matchings[at];
	}
}

int lm_lay_matching(struct lay *lay, const struct morph_collective *collective,
		    const struct round *round, const uint32_t *colours, uint32_t colour,
		    struct morph_rank_pair *circuits, uint32_t *out)
{
	const struct transfer *transfers = &collective->transfers.list[round->first];
	uint32_t count = 0;

	for (uint32_t at = 0; at < round->count; at++)
		if (colours[at] == colour)
			circuits[count++] =
				(struct morph_rank_pair){ transfers[at].src, transfers[at].dst };
	return lm_schedule_matching(lay->schedule, circuits, count, out);
}

/* Transfers of equal size, over the planes of their colour. */
static int send(struct lay *lay, struct send sent, const uint32_t *planes, uint32_t count)
{
	uint64_t bytes = sent.bytes;
	int ret = 0;

	for (uint32_t share = 0; !ret && share < count; share++) {
		sent.bytes = bytes / count + (share < bytes % count);
		sent.from_ps = lay->clock_ps;
		sent.until_ps = sent.from_ps + costs_send_ps(&lay->schedule->costs, sent.bytes, 1);
		ret = lm_schedule_send(lay->schedule, &sent, &lay->now[planes[share]]);
	}
	return ret;
}

int lm_lay_turn(struct lay *lay, const struct morph_collective *collective, uint32_t round,
		const uint32_t *colours, const struct turn *turn)
{
	const struct round *of = &collective->rounds.list[round];
	const struct transfer *transfers = &collective->transfers.list[of->first];
	int ret = 0;

	for (uint32_t at = 0, next; !ret && at < of->count; at = next) {
		uint32_t colour = colours[at] - turn->first;

		/* Consecutive transfers of equal size form one send. */
		for (next = at + 1; next < of->count && colours[next] == colours[at] &&
				    transfers[next].bytes == transfers[at].bytes;
		     next++)
			;
		if (colours[at] >= turn->first && colour < turn->count)
			ret = send(lay,
				   (struct send){ .round = round,
						  .first = at,
						  .count = next - at,
						  .hops = 1,
						  .bytes = transfers[at].bytes },
				   &turn->planes[turn->firsts[colour]],
				   turn->firsts[colour + 1] - turn->firsts[colour]);
	}
	/* A round without transfers ends when it begins. */
	if (!ret && lay->clock_ps < lay->schedule->finish_ps)
		lay->clock_ps = lay->schedule->finish_ps;
	return ret;
}
