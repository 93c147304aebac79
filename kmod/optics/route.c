// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* The router of failover, and the reasons of its refusals. */
#include "search.h"

#define STEPS_MAX	1048576u
#define GLANCE		8u	/* divisor of the budget for a first, short search */

/* The result of a search for a path. */
enum finding {
	SEARCHING,	/* another run must follow */
	FOUND,
	NONE_EXISTS,	/* proven */
	UNDECIDED,
};

/* The questions of a request. The later two find the reason of a refusal. */
enum question {
	FREE_PATH,
	HELD_PATH,	/* is there a path but for claims? */
	BROKEN_PATH,	/* is there a path but for claims and failed hardware? */
};

/* The runs of the label search that answer a question, with at most 2.25 budgets of steps. */
enum stage {
	TOLLS,		/* before the first question */
	/* A short run finds most paths. If it fails, it has met obstacles near the transmitter. */
	SHORT,
	/*
	 * A short backward run then meets obstacles near the receiver. Without it, the proof would
	 * have to search the whole fabric.
	 */
	SHORT_BACKWARDS,
	FULL,
	RELAXED,	/* proves that no path exists, though the full run dropped labels */
	/*
	 * The same for one lane: for each wavelength alone the search is exact, except for paths
	 * that meet themselves.
	 */
	SINGLE,
	SINGLE_RELAXED,
};

/* A request and its search, at the start of the work space. */
struct routing {
	struct search search;
	struct optics_route_request request;
	u64 lanes_left;		/* wavelengths that the stage SINGLE has not finished */
	enum question question;
	enum stage stage;
	enum finding free;	/* the answers so far: does a path exist? */
	u32 steps;		/* budget of one run */
	u32 budget;		/* remaining steps of this run and of later ones that share it */
	u32 steps_used;		/* by finished runs */
	u32 assume;		/* assumptions of the question */
	bool again;		/* the short run had too few steps */
	bool undecided;		/* a wavelength was */
};

static u32 budget_of(u32 steps)
{
	if (!steps)
		return OPTICS_ROUTE_STEPS;
	return steps > STEPS_MAX ? STEPS_MAX : steps;
}

static u64 routing_bytes(void)
{
	return (sizeof(struct routing) + 7) & ~7ull;
}

u64 optics_route_bytes(u32 steps)
{
	return routing_bytes() + optics_search_bytes(budget_of(steps));
}

/* Start a run with the remaining budget, under the additional assumptions @more. */
static enum finding start_run(struct routing *routing, enum stage stage, u32 more)
{
	routing->stage = stage;
	routing->search.assume = routing->assume | more;
	routing->search.labels_limit = routing->budget;
	optics_search_start(&routing->search);
	return SEARCHING;
}

static enum finding start_single(struct routing *routing)
{
	routing->search.lanes = routing->lanes_left & -routing->lanes_left;
	return start_run(routing, SINGLE, 0);
}

/* The full run failed without proof, because it dropped labels. */
static enum finding start_proof(struct routing *routing)
{
	routing->budget = routing->steps;
	if (routing->request.lanes_count > 1)
		return start_run(routing, RELAXED, SEARCH_NO_PAST | SEARCH_NO_COMMON);
	routing->lanes_left = routing->search.lanes;
	routing->undecided = false;
	return start_single(routing);
}

/* The wavelengths of the stage SINGLE have been searched, or one of them has a path. */
static enum finding end_singles(struct routing *routing, enum finding finding)
{
	const struct optics_route_request *request = &routing->request;

	routing->search.lanes = request->lanes_allowed & routing->search.graph->all_lanes;
	return finding;
}

static enum finding next_single(struct routing *routing)
{
	routing->lanes_left &= routing->lanes_left - 1;
	if (!routing->budget)
		return end_singles(routing, UNDECIDED);
	if (routing->lanes_left)
		return start_single(routing);
	return end_singles(routing, routing->undecided ? UNDECIDED : NONE_EXISTS);
}

/* A run has ended: answer the question, or start the next run. */
static enum finding end_run(struct routing *routing)
{
	const struct search *search = &routing->search;
	bool found = search->arrived != OPTICS_NONE;
	bool none = !found && !search->inexact && !search->exhausted;

	routing->budget -= search->guides.count;
	routing->steps_used += search->guides.count;
	switch (routing->stage) {
	case TOLLS:
		break;
	case SHORT:
		if (found || none)
			return found ? FOUND : NONE_EXISTS;
		routing->again = search->exhausted;
		routing->budget = routing->steps / GLANCE;
		return start_run(routing, SHORT_BACKWARDS,
				 SEARCH_BACKWARDS | SEARCH_NO_PAST | SEARCH_NO_COMMON);
	case SHORT_BACKWARDS:
		if (none)
			return NONE_EXISTS;
		if (!routing->again)
			return start_proof(routing);
		routing->budget = routing->steps;
		return start_run(routing, FULL, 0);
	case FULL:
		if (found || none)
			return found ? FOUND : NONE_EXISTS;
		return search->exhausted ? UNDECIDED : start_proof(routing);
	case SINGLE:
		if (found)
			return end_singles(routing, FOUND);
		if (none)
			return next_single(routing);
		return start_run(routing, SINGLE_RELAXED, SEARCH_NO_PAST);
	case SINGLE_RELAXED:
		routing->undecided |= !none;
		return next_single(routing);
	case RELAXED:
		return none ? NONE_EXISTS : UNDECIDED;
	}
	return UNDECIDED;
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

static void ask(struct routing *routing, enum question question, u32 assume)
{
	routing->question = question;
	routing->assume = assume;
	routing->budget = routing->steps / GLANCE;
	start_run(routing, SHORT, 0);
}

/* Conclude from the finding of a question: end the request, or ask the next question. */
static int conclude(struct routing *routing, enum finding finding, struct optics_path *path,
		    struct optics_refusal *refusal)
{
	struct search *search = &routing->search;

	switch (routing->question) {
	case FREE_PATH:
		if (finding == FOUND) {
			optics_search_path(search, search->arrived, path);
			return 0;
		}
		routing->free = finding;
		if (routing->request.ignore_claims)
			break;
		ask(routing, HELD_PATH, SEARCH_NO_CLAIMS);
		return OPTICS_MORE;
	case HELD_PATH:
		if (finding == FOUND && routing->free == NONE_EXISTS) {
			optics_search_path(search, search->arrived, path);
			search->assume = 0;
			return name_holder(search, path, refusal);
		}
		routing->free = finding == NONE_EXISTS ? NONE_EXISTS : UNDECIDED;
		break;
	case BROKEN_PATH:
		if (finding == FOUND) {
			optics_search_path(search, search->arrived, path);
			search->assume = SEARCH_NO_CLAIMS;
			return name_broken(search, path, refusal);
		}
		return optics_refuse(refusal, OPTICS_NO_ROUTE, OPTICS_PART_NONE, OPTICS_NONE, 0, 0);
	}
	if (routing->free != NONE_EXISTS)
		return give_up(refusal, routing->steps_used, routing->steps);
	ask(routing, BROKEN_PATH, SEARCH_NO_CLAIMS | SEARCH_NO_HEALTH);
	return OPTICS_MORE;
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

int optics_route_start(struct optics_state *state, const struct optics_route_request *request,
		       void *work, struct optics_refusal *refusal)
{
	struct routing *routing = work;
	int error = check_request(state->graph, request, refusal);

	if (error)
		return error;
	routing->request = *request;
	routing->search = (struct search){
		.state = state, .graph = state->graph, .request = &routing->request,
		.lanes = request->lanes_allowed & state->graph->all_lanes,
	};
	routing->steps = budget_of(request->steps);
	routing->steps_used = 0;
	routing->stage = TOLLS;
	optics_search_init(&routing->search, (u8 *)work + (size_t)routing_bytes(), routing->steps);
	optics_tolls_start(&routing->search);
	return 0;
}

/* The steps of a request that has paused. */
static u32 steps_so_far(const struct routing *routing)
{
	if (routing->stage == TOLLS)
		return routing->search.tolls.places.count;
	return routing->steps_used + routing->search.guides.count;
}

int optics_route_continue(void *work, u32 effort, struct optics_path *path, u32 *steps_used,
			  struct optics_refusal *refusal)
{
	struct routing *routing = work;
	struct search *search = &routing->search;
	int result = OPTICS_MORE;

	search->effort = 0;
	search->effort_limit = effort ? effort : OPTICS_NONE;
	if (routing->stage == TOLLS && optics_tolls_continue(search)) {
		routing->steps_used = search->tolls.places.count;
		ask(routing, FREE_PATH, routing->request.ignore_claims ? SEARCH_NO_CLAIMS : 0);
	}
	while (routing->stage != TOLLS && result == OPTICS_MORE && optics_search_continue(search)) {
		enum finding finding = end_run(routing);

		if (finding != SEARCHING)
			result = conclude(routing, finding, path, refusal);
	}
	if (steps_used)
		*steps_used = result == OPTICS_MORE ? steps_so_far(routing) : routing->steps_used;
	return result;
}

int optics_route(struct optics_state *state, const struct optics_route_request *request,
		 void *work, struct optics_path *path, u32 *steps_used,
		 struct optics_refusal *refusal)
{
	int error;

	if (steps_used)
		*steps_used = 0;
	error = optics_route_start(state, request, work, refusal);
	if (error)
		return error;
	return optics_route_continue(work, 0, path, steps_used, refusal);
}
