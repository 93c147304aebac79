// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* The router of failover, and the reasons of its refusals. */
#include "search.h"

#define STEPS_MAX	1048576u
#define GLANCE		8u	/* divisor of the budget for a first, short search */

/* The result of a search for a path. */
enum finding {
	FOUND,
	NONE_EXISTS,	/* proven */
	UNDECIDED,
};

static u32 budget_of(u32 steps)
{
	if (!steps)
		return OPTICS_ROUTE_STEPS;
	return steps > STEPS_MAX ? STEPS_MAX : steps;
}

u64 optics_route_bytes(u32 steps)
{
	return optics_search_bytes(budget_of(steps));
}

/* Run a search with the remaining budget. Later searches share it. */
static u32 run(struct search *search, u32 *budget, u32 *steps_used)
{
	u32 label;

	search->labels_limit = *budget;
	label = optics_search_run(search);
	*budget -= search->guides.count;
	*steps_used += search->guides.count;
	return label;
}

static bool proven(const struct search *search)
{
	return !search->inexact && !search->exhausted;
}

/* Whether no path exists even under the additional assumptions @more. */
static bool none_relaxed(struct search *search, u32 more, u32 *budget, u32 *steps_used)
{
	u32 assume = search->assume;
	u32 label;

	search->assume |= more;
	label = run(search, budget, steps_used);
	search->assume = assume;
	return label == OPTICS_NONE && proven(search);
}

/*
 * The first search failed without proof, because it dropped labels. For each wavelength
 * alone the search is exact, except for paths that meet themselves.
 */
static enum finding decide_single(struct search *search, u32 budget, u32 *steps_used, u32 *label)
{
	u64 all = search->lanes, left;
	enum finding finding = NONE_EXISTS;

	for (left = all; left && finding != FOUND; left &= left - 1) {
		search->lanes = left & -left;
		*label = run(search, &budget, steps_used);
		if (*label != OPTICS_NONE)
			finding = FOUND;
		else if (!proven(search) &&
			 !none_relaxed(search, SEARCH_NO_PAST, &budget, steps_used))
			finding = UNDECIDED;
		if (!budget && finding != FOUND) {
			finding = UNDECIDED;
			break;
		}
	}
	search->lanes = all;
	return finding;
}

/*
 * Decide whether there is a path under @assume, with at most 2.25 budgets of steps. A short
 * search finds most paths. If it fails, it has met obstacles near the transmitter. A short
 * backward search then meets obstacles near the receiver. Without it, the proof would have to
 * search the whole fabric.
 */
static enum finding decide(struct search *search, u32 assume, u32 *steps_used, u32 *label)
{
	u32 steps = budget_of(search->request->steps), budget = steps / GLANCE;
	bool again;

	search->assume = assume;
	*label = run(search, &budget, steps_used);
	if (*label != OPTICS_NONE)
		return FOUND;
	if (proven(search))
		return NONE_EXISTS;
	again = search->exhausted;
	budget = steps / GLANCE;
	if (none_relaxed(search, SEARCH_BACKWARDS | SEARCH_NO_PAST | SEARCH_NO_COMMON, &budget,
			 steps_used))
		return NONE_EXISTS;
	budget = steps;
	if (again) {
		*label = run(search, &budget, steps_used);
		if (*label != OPTICS_NONE)
			return FOUND;
		if (search->exhausted)
			return UNDECIDED;
		if (proven(search))
			return NONE_EXISTS;
		budget = steps;
	}
	if (search->request->lanes_count == 1)
		return decide_single(search, budget, steps_used, label);
	return none_relaxed(search, SEARCH_NO_PAST | SEARCH_NO_COMMON, &budget, steps_used) ?
		NONE_EXISTS : UNDECIDED;
}

static int port_blocks(const struct search *search, u32 part, u32 port, bool receiver,
		       u32 reason, struct optics_refusal *refusal)
{
	u32 have = optics_weight64(optics_search_port_lanes(search, port, receiver));
	u32 need = search->request->lanes_count;

	if (have >= need)
		return 0;
	return optics_refuse_end(search->graph, refusal, reason, part, port, have, need);
}

/* Refuse with the first held part of @path. */
static int name_holder(const struct search *search, const struct optics_path *path,
		       struct optics_refusal *refusal)
{
	const struct optics_route_request *request = search->request;
	const struct optics_state *state = search->state;
	u64 common = search->lanes;
	u32 need = request->lanes_count, i;
	int error;

	error = port_blocks(search, OPTICS_PART_LASER, path->tx, false, OPTICS_BLOCKED, refusal);
	for (i = 0; i < path->hops_count && !error; i++) {
		const struct optics_hop *hop = &path->hops[i];
		u64 lanes = search->lanes & ~optics_guide_taken(state, hop->guide >> 1);
		u32 tile;

		common &= lanes;
		if (optics_weight64(lanes) < need)
			return optics_refuse(refusal, OPTICS_BLOCKED, OPTICS_PART_GUIDE,
					     hop->guide >> 1, optics_weight64(lanes), need);
		if (hop->element == OPTICS_NONE)
			break;
		if (state->element_marks[hop->element] & OPTICS_HELD ||
		    (state->element_pins[hop->element] &&
		     state->element_state[hop->element] != hop->state))
			return optics_refuse(refusal, OPTICS_BLOCKED, OPTICS_PART_ELEMENT,
					     hop->element, state->element_state[hop->element],
					     hop->state);
		tile = search->graph->elements[hop->element].tile;
		if (request->transit_own && tile != OPTICS_NONE && state->owner[tile] &&
		    state->owner[tile] != request->owner)
			return optics_refuse(refusal, OPTICS_BLOCKED, OPTICS_PART_ACCELERATOR,
					     tile, 0, 0);
	}
	if (!error)
		error = port_blocks(search, OPTICS_PART_RECEIVER, path->rx, true, OPTICS_BLOCKED,
				    refusal);
	if (!error)
		error = optics_refuse(refusal, OPTICS_BLOCKED, OPTICS_PART_NONE, OPTICS_NONE,
				      optics_weight64(common), need);
	return error;
}

/* Refuse with the first broken part of @path. */
static int name_broken(const struct search *search, const struct optics_path *path,
		       struct optics_refusal *refusal)
{
	u64 common = optics_search_port_lanes(search, path->tx, false) &
		     optics_search_port_lanes(search, path->rx, true);
	u32 i;
	int error;

	error = port_blocks(search, OPTICS_PART_LASER, path->tx, false, OPTICS_UNUSABLE, refusal);
	for (i = 0; i < path->hops_count && !error; i++) {
		const struct optics_hop *hop = &path->hops[i];

		if (search->state->guide_marks[hop->guide >> 1])
			error = optics_refuse(refusal, OPTICS_UNUSABLE, OPTICS_PART_GUIDE,
					      hop->guide >> 1, 0, 0);
		else if (hop->element != OPTICS_NONE &&
			 search->state->element_marks[hop->element] & ~OPTICS_HELD)
			error = optics_refuse(refusal, OPTICS_UNUSABLE, OPTICS_PART_ELEMENT,
					      hop->element, 0, 0);
	}
	if (!error)
		error = port_blocks(search, OPTICS_PART_RECEIVER, path->rx, true, OPTICS_UNUSABLE,
				    refusal);
	if (!error)
		error = optics_refuse(refusal, OPTICS_UNUSABLE, OPTICS_PART_NONE, OPTICS_NONE,
				      optics_weight64(common), search->request->lanes_count);
	return error;
}

static int give_up(struct optics_refusal *refusal, u32 steps_used, u32 budget)
{
	return optics_refuse(refusal, OPTICS_GAVE_UP, OPTICS_PART_NONE, OPTICS_NONE, steps_used,
			     budget);
}

/* No path exists or was found: refuse with the obstacle. */
static int explain(struct search *search, enum finding finding, struct optics_path *path,
		   u32 *steps_used, struct optics_refusal *refusal)
{
	u32 budget = budget_of(search->request->steps), label;
	enum finding held;

	if (!search->request->ignore_claims) {
		held = decide(search, SEARCH_NO_CLAIMS, steps_used, &label);
		if (held == FOUND && finding == NONE_EXISTS) {
			optics_search_path(search, label, path);
			search->assume = 0;
			return name_holder(search, path, refusal);
		}
		finding = held == NONE_EXISTS ? NONE_EXISTS : UNDECIDED;
	}
	if (finding != NONE_EXISTS)
		return give_up(refusal, *steps_used, budget);
	if (decide(search, SEARCH_NO_CLAIMS | SEARCH_NO_HEALTH, steps_used, &label) == FOUND) {
		optics_search_path(search, label, path);
		search->assume = SEARCH_NO_CLAIMS;
		return name_broken(search, path, refusal);
	}
	return optics_refuse(refusal, OPTICS_NO_ROUTE, OPTICS_PART_NONE, OPTICS_NONE, 0, 0);
}

/* Check one end of a request: an accelerator with permitted planes, or an edge. */
static int check_end(const struct optics_graph *graph, u32 place, u64 planes, u32 part,
		     struct optics_refusal *refusal)
{
	if (place & OPTICS_EDGE) {
		place &= ~OPTICS_EDGE;
		if (place < graph->edges_count)
			return 0;
		return optics_refuse(refusal, OPTICS_BAD_PORT, OPTICS_PART_EDGE, place, place,
				     graph->edges_count);
	}
	if (place >= graph->accelerators_count)
		return optics_refuse(refusal, OPTICS_BAD_PORT, OPTICS_PART_ACCELERATOR, place,
				     place, graph->accelerators_count);
	if (!(planes & optics_low_mask(graph->params.planes)))
		return optics_refuse(refusal, OPTICS_BAD_PORT, part, place * graph->params.planes,
				     0, graph->params.planes);
	return 0;
}

static int check_request(const struct optics_graph *graph,
			 const struct optics_route_request *request,
			 struct optics_refusal *refusal)
{
	u32 lanes = optics_weight64(request->lanes_allowed & graph->all_lanes);
	int error;

	error = check_end(graph, request->tx_accelerator, request->tx_planes, OPTICS_PART_LASER,
			  refusal);
	if (!error)
		error = check_end(graph, request->rx_accelerator, request->rx_planes,
				  OPTICS_PART_RECEIVER, refusal);
	if (error)
		return error;
	if (request->tx_accelerator & request->rx_accelerator & OPTICS_EDGE)
		return optics_refuse(refusal, OPTICS_BAD_PORT, OPTICS_PART_EDGE,
				     request->rx_accelerator & ~OPTICS_EDGE, 0, 0);
	if (request->rx_accelerator == request->tx_accelerator)
		return optics_refuse(refusal, OPTICS_BAD_PORT, OPTICS_PART_ACCELERATOR,
				     request->rx_accelerator, request->rx_accelerator,
				     graph->accelerators_count);
	if (!request->lanes_count || lanes < request->lanes_count)
		return optics_refuse(refusal, OPTICS_LANES, OPTICS_PART_NONE, OPTICS_NONE, lanes,
				     request->lanes_count ? request->lanes_count : 1);
	return 0;
}

int optics_route(struct optics_state *state, const struct optics_route_request *request,
		 void *work, struct optics_path *path, u32 *steps_used,
		 struct optics_refusal *refusal)
{
	struct search search = {
		.state = state, .graph = state->graph, .request = request,
		.lanes = request->lanes_allowed & state->graph->all_lanes,
	};
	u32 steps = 0, label;
	enum finding finding;
	int error;

	error = check_request(state->graph, request, refusal);
	if (!error) {
		optics_search_init(&search, work, budget_of(request->steps));
		optics_tolls_run(&search);
		steps = search.tolls.places.count;
		finding = decide(&search, request->ignore_claims ? SEARCH_NO_CLAIMS : 0, &steps,
				 &label);
		if (finding == FOUND)
			optics_search_path(&search, label, path);
		else
			error = explain(&search, finding, path, &steps, refusal);
	}
	if (steps_used)
		*steps_used = steps;
	return error;
}
