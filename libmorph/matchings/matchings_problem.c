// SPDX-License-Identifier: LGPL-2.1-or-later
/* The arguments of a search for matchings, and whether the last set-up serves them. */
#include "../model/model.h"
#include "matchings.h"

#define MOST_WIDTH 63
#define MOST_HEIGHT 64

/* ------------------------------------------------------------------ arguments */

/* An endpoint sends to one other endpoint at most, and receives from one at most. */
static int check_targets(struct morph_ctx *ctx, const struct morph_matchings_problem *problem)
{
	uint32_t sender[MORPH_MATCHINGS_MOST_ENDPOINTS], circuits = 0, i, dst;

	if (problem->kind != MORPH_MATCHINGS_DIRECTED)
		return lm_fail(ctx, EINVAL, "targets need circuits of the kind directed");
	if (!problem->tx)
		return lm_fail(ctx, EINVAL, "targets need the ports of their endpoints");
	memset(sender, 0xff, sizeof(sender));
	for (i = 0; i < problem->endpoints; i++) {
		dst = problem->targets[i];
		if (dst == MORPH_ANY)
			continue;
		if (dst >= problem->endpoints || dst == i)
			return lm_fail(ctx, EINVAL,
				       "endpoint %u: no target %u; must be another endpoint (0-%u)",
				       i, dst, problem->endpoints - 1);
		if (sender[dst] != MORPH_ANY)
			return lm_fail(ctx, EINVAL,
				       "endpoints %u and %u have the same target %u; targets must "
				       "differ",
				       sender[dst], i, dst);
		sender[dst] = i;
		circuits++;
	}
	return circuits ? 0 : lm_fail(ctx, EINVAL, "no endpoint has a target; at least one must");
}

int lm_matchings_check(struct morph_ctx *ctx, const struct morph_matchings_problem *problem)
{
	if (problem->kind > MORPH_MATCHINGS_PAIRS)
		return lm_fail(ctx, EINVAL, "no kind of matchings %u (0-%u)", problem->kind,
			       MORPH_MATCHINGS_PAIRS);
	if (problem->endpoints < 2 || problem->endpoints > MORPH_MATCHINGS_MOST_ENDPOINTS)
		return lm_fail(ctx, EINVAL, "%u endpoints requested; must be 2 to %u",
			       problem->endpoints, MORPH_MATCHINGS_MOST_ENDPOINTS);
	if (problem->model && problem->kind == MORPH_MATCHINGS_PAIRS)
		return lm_fail(ctx, EINVAL,
			       "pairs need a mesh: a fabric has no port that both "
			       "transmits and receives");
	if (!problem->model && (problem->width % 2 == 0 || problem->width > MOST_WIDTH))
		return lm_fail(ctx, EINVAL, "the mesh has width %u; must be odd, 1 to %u",
			       problem->width, MOST_WIDTH);
	if (!problem->model && (!problem->height || problem->height > MOST_HEIGHT))
		return lm_fail(ctx, EINVAL, "the mesh has height %u; must be 1 to %u",
			       problem->height, MOST_HEIGHT);
	return problem->targets ? check_targets(ctx, problem) : 0;
}

int lm_matchings_check_faults(struct morph_ctx *ctx, const struct morph_matchings_problem *problem,
			      const struct mesh *mesh)
{
	uint32_t element, states;
	size_t i;

	for (i = 0; i < problem->failed_count; i++) {
		if (problem->failed[i] >= mesh->elements)
			return lm_fail(ctx, EINVAL, "no element %u (0-%u)", problem->failed[i],
				       mesh->elements - 1);
	}
	for (i = 0; i < problem->stuck_count; i++) {
		element = problem->stuck[i];
		if (element >= mesh->elements)
			return lm_fail(ctx, EINVAL, "no element %u (0-%u)", element,
				       mesh->elements - 1);
		states = mesh->state_first[element + 1] - mesh->state_first[element];
		if (problem->stuck_states[i] >= states)
			return lm_fail(ctx, EINVAL, "element %u has no state %u (0-%u)", element,
				       problem->stuck_states[i], states - 1);
	}
	return 0;
}

/* ------------------------------------------------------------------ ports */

/* Whether an endpoint has a circuit that needs its receive port, or its transmit port. */
static bool needs_port(const struct morph_matchings_problem *problem, uint32_t endpoint,
		       bool receives)
{
	uint32_t i;

	if (!problem->targets)
		return true;
	if (!receives)
		return problem->targets[endpoint] != MORPH_ANY;
	for (i = 0; i < problem->endpoints; i++) {
		if (problem->targets[i] == endpoint)
			return true;
	}
	return false;
}

static int check_ends(struct morph_ctx *ctx, const struct morph_matchings_problem *problem,
		      uint32_t ends, bool receives, const char *name)
{
	const uint32_t *array = receives ? problem->rx : problem->tx;
	uint32_t i, j;

	for (i = 0; i < problem->endpoints; i++) {
		if (array[i] == MORPH_ANY) {
			if (!needs_port(problem, i, receives))
				continue;
			return lm_fail(ctx, EINVAL, "endpoint %u needs a %s port (0-%u)", i, name,
				       ends - 1);
		}
		if (array[i] >= ends)
			return lm_fail(ctx, EINVAL, "endpoint %u: no %s port %u (0-%u)", i, name,
				       array[i], ends - 1);
		for (j = 0; j < i; j++) {
			if (array[i] == array[j])
				return lm_fail(ctx, EINVAL,
					       "endpoints %u and %u have the same %s port %u", j, i,
					       name, array[i]);
		}
	}
	return 0;
}

/* A port of a mesh has one direction. */
static int check_directions(struct morph_ctx *ctx, const struct morph_matchings_problem *problem)
{
	uint32_t i, j;

	for (i = 0; i < problem->endpoints; i++) {
		for (j = 0; j < problem->endpoints && problem->tx[i] != MORPH_ANY; j++) {
			if (problem->tx[i] == problem->rx[j])
				return lm_fail(ctx, EINVAL,
					       "port %u of the mesh both transmits and receives",
					       problem->tx[i]);
		}
	}
	return 0;
}

int lm_matchings_check_ports(struct morph_ctx *ctx, const struct morph_matchings_problem *problem,
			     uint32_t ends)
{
	bool pairs = problem->kind == MORPH_MATCHINGS_PAIRS;
	uint32_t needed = problem->endpoints * (pairs || problem->model ? 1 : 2);
	int error;

	if (!problem->tx) {
		if (problem->model)
			return lm_fail(ctx, EINVAL,
				       "the ports of a fabric's endpoints must be given");
		if (needed > ends)
			return lm_fail(ctx, EINVAL, "%u endpoints need %u ports, the mesh has %u",
				       problem->endpoints, needed, ends);
		return 0;
	}
	error = check_ends(ctx, problem, ends, false, pairs ? "mesh" : "transmit");
	if (error || pairs)
		return error;
	if (!problem->rx)
		return lm_fail(ctx, EINVAL, "transmit ports are given, but not receive ports");
	error = check_ends(ctx, problem, ends, true, "receive");
	return error || problem->model ? error : check_directions(ctx, problem);
}

/* ------------------------------------------------------------------ the last set-up */

static bool equal(const uint32_t *one, const uint32_t *other, size_t count)
{
	return !count || !memcmp(one, other, count * sizeof(*one));
}

bool lm_matchings_is_kept(const struct matchings_kept *kept,
			  const struct morph_matchings_problem *problem)
{
	const struct morph_matchings_problem *last = &kept->problem;

	/* A search that chooses ports moves them, and with them the distances. */
	return last->tx && problem->tx && last->kind == problem->kind &&
	       last->model == problem->model &&
	       (problem->model ||
		(last->width == problem->width && last->height == problem->height)) &&
	       last->endpoints == problem->endpoints &&
	       last->failed_count == problem->failed_count &&
	       last->stuck_count == problem->stuck_count &&
	       equal(last->tx, problem->tx, problem->endpoints) &&
	       (problem->kind == MORPH_MATCHINGS_PAIRS ||
		equal(last->rx, problem->rx, problem->endpoints)) &&
	       equal(last->failed, problem->failed, problem->failed_count) &&
	       equal(last->stuck, problem->stuck, problem->stuck_count) &&
	       equal(last->stuck_states, problem->stuck_states, problem->stuck_count);
}

static void copy(uint32_t *to, const uint32_t *from, size_t count)
{
	if (count)
		memcpy(to, from, count * sizeof(*to));
}

int lm_matchings_keep(struct morph_ctx *ctx, struct matchings_kept *kept,
		      const struct morph_matchings_problem *problem)
{
	uint32_t *tx, *rx, *failed, *stuck, *stuck_states;
	const struct mesh_part parts[] = {
		{ &tx, problem->endpoints * sizeof(*tx) },
		{ &rx, problem->endpoints * sizeof(*rx) },
		{ &failed, problem->failed_count * sizeof(*failed) },
		{ &stuck, problem->stuck_count * sizeof(*stuck) },
		{ &stuck_states, problem->stuck_count * sizeof(*stuck_states) },
	};
	int error = lm_mesh_lay(ctx, &kept->block, parts, ARRAY_SIZE(parts));

	if (error || !problem->tx)
		return error;
	copy(tx, problem->tx, problem->endpoints);
	copy(rx, problem->rx, problem->kind == MORPH_MATCHINGS_PAIRS ? 0 : problem->endpoints);
	copy(failed, problem->failed, problem->failed_count);
	copy(stuck, problem->stuck, problem->stuck_count);
	copy(stuck_states, problem->stuck_states, problem->stuck_count);
	kept->problem = *problem;
	kept->problem.tx = tx;
	kept->problem.rx = rx;
	kept->problem.failed = failed;
	kept->problem.stuck = stuck;
	kept->problem.stuck_states = stuck_states;
	if (problem->model)
		morph_model_get(problem->model);
	return 0;
}

void lm_matchings_forget(struct matchings_kept *kept)
{
	morph_model_put(kept->problem.model);
	memset(&kept->problem, 0, sizeof(kept->problem));
}

/* The loss of the guide at a port, or the largest number without a port. */
static uint32_t port_loss(const struct optics_graph *graph, const uint32_t *guides, uint32_t port)
{
	return port == MORPH_ANY ? UINT32_MAX : graph->guides[guides[port] / 2].loss_mdb;
}

uint32_t lm_matchings_limit_hops(const struct morph_matchings_problem *problem)
{
	uint32_t least = UINT32_MAX, least_tx = UINT32_MAX, least_rx = UINT32_MAX, loss, i;
	const struct optics_graph *graph;
	int64_t budget;

	if (problem->hops || !problem->model)
		return problem->hops;
	graph = lm_model_graph(problem->model);
	for (i = 0; i < graph->kinds_count; i++) {
		if (graph->kinds[i].loss_mdb < least)
			least = graph->kinds[i].loss_mdb;
	}
	for (i = 0; i < problem->endpoints; i++) {
		loss = port_loss(graph, graph->tx_guide, problem->tx[i]);
		least_tx = loss < least_tx ? loss : least_tx;
		loss = port_loss(graph, graph->rx_guide, problem->rx[i]);
		least_rx = loss < least_rx ? loss : least_rx;
	}
	budget = (int64_t)graph->params.laser_mdbm - graph->params.sensitivity_mdbm -
		 graph->params.margin_mdb - least_tx - least_rx;
	if (!least)
		return 0;
	return budget < (int64_t)least ? 1 : (uint32_t)(budget / least);
}
