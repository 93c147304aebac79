// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reconstruction of the lanes of paths from the reservations of links. Links know lanes, but not
 * the paths that use them. A restarted controller, or a backup, finds lanes of paths that explain
 * the reservations nearly, and that morph_traffic_round() does not change.
 */
#include <math.h>
#include <stdlib.h>

#include "traffic.h"

#define NONE UINT32_MAX
#define SLIGHT 1e-9 /* lanes; the least gain of a step */
#define TIE 0.01 /* of a lane; decides between paths that both keep their lanes */
/*
 * Cost of a path that morph_traffic_round() changes, for each lane of distance. It is below 1
 * because changes of other paths compensate some. Values from 0.6 to 0.9 give nearly the same
 * result.
 */
#define MOVED 0.75

/* Lanes of paths so far, and for each link the reserved lanes that they do not explain. */
struct recall {
	struct morph_traffic *te;
	const double *flows;
	const uint32_t *demands;
	size_t count;
	uint32_t *lanes;
	int64_t *left;
};

/* Lanes of links that the next rounding would change if the path had these lanes. */
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

/* Returns the change of the cost. */
static double move(struct recall *recall, uint32_t at, int32_t lanes)
{
	const struct te_path *path = &recall->te->paths.list[at];
	double before = (double)unexplained(recall, path) + path_cost(recall, at);

	for (uint32_t hop = 0; hop < path->count; hop++)
		recall->left[recall->te->links.list[path->first + hop]] -= lanes;
	recall->lanes[at] += (uint32_t)lanes;
	return (double)unexplained(recall, path) + path_cost(recall, at) - before;
}

/* Add a lane to path @more and remove one from path @less, if this gains. Either can be NONE. */
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

/* Change this path alone, and in exchange with each other path of the controller. */
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

/* Improve each path once. Returns whether anything changed. */
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

/* The whole lanes of the flow, limited by the reservations of the path's links. */
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
