// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What was decided last, from what is reserved: links know lanes, not the ways that they are
 * part of. A controller that was restarted, or a backup, finds lanes of paths that come to the
 * same, or nearly, and that rounding would leave where they are.
 */
#include <math.h>
#include <stdlib.h>

#include "traffic.h"

#define NONE UINT32_MAX
#define SLIGHT 1e-9 /* lanes by which a step must gain to be one */
#define TIE 0.01 /* of a lane: what decides between paths that stay either way */
/*
 * What a path that does not stay is taken to change, by lane that it is off: some of it is made
 * up for by others. From 0.6 to 0.9 it comes to nearly the same.
 */
#define MOVED 0.75

/* Lanes of paths until now, and by link what is held and not explained by them. */
struct recall {
	struct morph_traffic *te;
	const double *flows;
	const uint32_t *demands;
	size_t count;
	uint32_t *lanes;
	int64_t *left;
};

/* Lanes of links that the next rounding would change for what a path is taken to have. */
static double path_cost(const struct recall *recall, uint32_t at)
{
	const struct te_path *path = &recall->te->paths.list[at];
	double far = fabs(lm_te_flow(recall->te, recall->flows, at) - recall->lanes[at]);

	return path->count * far * (far < TE_STAY ? TIE : MOVED);
}

static int64_t unexplained(const struct recall *recall, const struct te_path *path)
{
	int64_t sum = 0;

	for (uint32_t hop = 0; hop < path->count; hop++)
		sum += llabs(recall->left[recall->te->links.list[path->first + hop]]);
	return sum;
}

/* Returns what it changes of the cost. */
static double move(struct recall *recall, uint32_t at, int32_t lanes)
{
	const struct te_path *path = &recall->te->paths.list[at];
	double before = (double)unexplained(recall, path) + path_cost(recall, at);

	for (uint32_t hop = 0; hop < path->count; hop++)
		recall->left[recall->te->links.list[path->first + hop]] -= lanes;
	recall->lanes[at] += (uint32_t)lanes;
	return (double)unexplained(recall, path) + path_cost(recall, at) - before;
}

/* One lane more on the one path, one less on the other, either of them NONE, if that gains. */
static bool step(struct recall *recall, uint32_t more, uint32_t less)
{
	double change = 0;

	if (less != NONE && !recall->lanes[less])
		return false;
	if (more != NONE)
		change += move(recall, more, 1);
	if (less != NONE)
		change += move(recall, less, -1);
	if (change < -SLIGHT)
		return true;
	if (less != NONE)
		move(recall, less, 1);
	if (more != NONE)
		move(recall, more, -1);
	return false;
}

/* The path alone, and in exchange for each other of the controller. */
static bool improve(struct recall *recall, uint32_t at)
{
	const struct te_path *paths = recall->te->paths.list;
	bool any = false;

	while (step(recall, at, NONE))
		any = true;
	while (step(recall, NONE, at))
		any = true;
	for (size_t i = 0; i < recall->count; i++) {
		uint32_t other = recall->te->demands.list[recall->demands[i]].first;

		for (; other != NONE; other = paths[other].next)
			while (other != at && step(recall, at, other))
				any = true;
	}
	return any;
}

/* Each path once. Returns whether that was of use. */
static bool improve_all(struct recall *recall)
{
	bool any = false;

	for (size_t i = 0; i < recall->count; i++) {
		uint32_t at = recall->te->demands.list[recall->demands[i]].first;

		for (; at != NONE; at = recall->te->paths.list[at].next)
			any |= improve(recall, at);
	}
	return any;
}

/* Whole lanes of the flow, as far as all links of the path hold as many. */
static uint32_t first_guess(const struct recall *recall, uint32_t at, const uint32_t *held)
{
	const struct te_path *path = &recall->te->paths.list[at];
	double flow = fmax(lm_te_flow(recall->te, recall->flows, at), 0);

	for (uint32_t hop = 0; hop < path->count; hop++)
		flow = fmin(flow, held[recall->te->links.list[path->first + hop]]);
	return (uint32_t)flow;
}

static void begin(struct recall *recall, const uint32_t *held)
{
	for (uint32_t link = 0; link < recall->te->capacities.count; link++)
		recall->left[link] = held[link];
	for (size_t i = 0; i < recall->count; i++) {
		uint32_t at = recall->te->demands.list[recall->demands[i]].first;

		for (; at != NONE; at = recall->te->paths.list[at].next) {
			recall->lanes[at] = 0;
			move(recall, at, (int32_t)first_guess(recall, at, held));
		}
	}
}

MORPH_API int64_t morph_traffic_recall(struct morph_traffic *te, const double *flows,
				       const uint32_t *demands, size_t count, const uint32_t *held,
				       uint32_t *last)
{
	struct recall recall = {
		.te = te,
		.flows = flows,
		.demands = demands,
		.count = count,
		.lanes = last,
	};
	int error = lm_te_check_flows(te, flows);
	int64_t sum = 0;

	for (size_t i = 0; i < count && !error; i++)
		error = lm_te_check_demand(te, demands[i]);
	if (!error)
		error = ARRAY_GROW(te->ctx, te->left, te->capacities.count, "recall lanes");
	if (error)
		return error;
	recall.left = te->left.list;
	begin(&recall, held);
	while (improve_all(&recall))
		;
	for (uint32_t link = 0; link < te->capacities.count; link++)
		sum += llabs(recall.left[link]);
	return sum;
}
