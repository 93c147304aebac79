// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rounding of flows to whole lanes. Every controller rounds the flows of all controllers, so the
 * lanes differ only as much as the views do.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../util/mix.h"
#include "../util/sort.h"
#include "traffic.h"

#define SLIGHT 1e-6 /* lanes; error of a flow that a solver reports as 0 */
#define LEAST 0.02 /* lanes; a smaller fractional flow does not get an additional lane */

/* A number in [0, 1) from the epoch and the number of a path or demand. */
static double threshold(uint64_t epoch, uint64_t number)
{
	return mix_unit(mix(epoch * 0x9e3779b97f4a7c15 + number * 0xd1342543de82ef95 + 1));
}

static double path_threshold(uint64_t epoch, uint32_t path)
{
	return threshold(epoch, 2 * (uint64_t)path);
}

static double demand_threshold(uint64_t epoch, uint32_t demand)
{
	return threshold(epoch, 2 * (uint64_t)demand + 1);
}

double lm_te_flow(const struct morph_traffic *te, const double *flows, uint32_t path)
{
	return flows ? fmax(flows[path], 0) : te->paths.list[path].flow;
}

static int by_rank(const void *one, const void *other, void *context)
{
	const struct te_turn *a = one, *b = other;

	(void)context;

	if (a->rank > b->rank)
		return -1;
	if (a->rank < b->rank)
		return 1;
	return a->path < b->path ? -1 : a->path > b->path;
}

/* The whole lanes of each demand, and the capacity of each link. */
static void begin(struct morph_traffic *te, const double *flows, uint64_t epoch)
{
	for (uint32_t at = 0; at < te->demands.count; at++) {
		uint32_t path = te->demands.list[at].first;
		double sum = 0;

		for (; path != UINT32_MAX; path = te->paths.list[path].next)
			sum += lm_te_flow(te, flows, path);
		te->wanting.list[at] = (int64_t)floor(sum + demand_threshold(epoch, at));
	}
	for (uint32_t link = 0; link < te->capacities.count; link++)
		te->room.list[link] = te->capacities.list[link];
}

static bool has_room(const struct morph_traffic *te, const struct te_path *path)
{
	for (uint32_t hop = 0; hop < path->count; hop++)
		if (te->room.list[te->links.list[path->first + hop]] < 1)
			return false;
	return true;
}

static void give(struct morph_traffic *te, uint32_t at, uint32_t lanes, uint32_t *out)
{
	const struct te_path *path = &te->paths.list[at];

	for (uint32_t hop = 0; hop < path->count; hop++)
		te->room.list[te->links.list[path->first + hop]] -= lanes;
	te->wanting.list[path->demand] -= lanes;
	out[at] += lanes;
}

/*
 * The lanes that depend on no threshold: the integral part of the flow, or the previous lanes if
 * they are near.
 */
static uint32_t give_whole(struct morph_traffic *te, const double *flows, uint64_t epoch,
			   const uint32_t *last, uint32_t *out)
{
	uint32_t turns = 0;

	for (uint32_t at = 0; at < te->paths.count; at++) {
		double flow = lm_te_flow(te, flows, at), whole = floor(flow);

		out[at] = 0;
		if (last && last[at] != MORPH_ANY && fabs(flow - last[at]) < TE_STAY) {
			give(te, at, last[at], out);
			continue;
		}
		give(te, at, (uint32_t)whole, out);
		if (flow - whole < LEAST)
			continue;
		te->turns.list[turns++] = (struct te_turn){
			.rank = flow - whole + path_threshold(epoch, at),
			.path = at,
		};
	}
	return turns;
}

int lm_te_check_flows(struct morph_traffic *te, const double *flows)
{
	for (uint32_t at = 0; flows && at < te->paths.count; at++)
		if (!(flows[at] >= -SLIGHT && flows[at] <= INT32_MAX))
			return lm_fail(
				te->ctx, EINVAL,
				"the flow of path %u is %g lanes; must be a number, 0 or more", at,
				flows[at]);
	return 0;
}

static int make_room(struct morph_traffic *te)
{
	int error = ARRAY_GROW(te->ctx, te->turns, te->paths.count, "round flows");

	if (!error)
		error = ARRAY_GROW(te->ctx, te->room, te->capacities.count, "round flows");
	if (!error)
		error = ARRAY_GROW(te->ctx, te->wanting, te->demands.count, "round flows");
	return error;
}

MORPH_API int morph_traffic_round(struct morph_traffic *te, const double *flows, uint64_t epoch,
				  const uint32_t *last, uint32_t *out)
{
	int error = lm_te_check_flows(te, flows);
	uint32_t turns;

	if (!error)
		error = make_room(te);
	if (error)
		return error;
	begin(te, flows, epoch);
	turns = give_whole(te, flows, epoch, last, out);
	lm_sort(te->turns.list, turns, sizeof(*te->turns.list), by_rank, NULL);
	for (uint32_t at = 0; at < turns; at++) {
		const struct te_path *path = &te->paths.list[te->turns.list[at].path];

		if (te->wanting.list[path->demand] > 0 && has_room(te, path))
			give(te, te->turns.list[at].path, 1, out);
	}
	return 0;
}
