// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans for matrices: the request, the choice of the best method, and the reverse direction. */
#include "../collective/collective.h"
#include "matrix_work.h"

#define MOST_PLANES 256
#define MOST_SENDS (1U << 26)
#define MOST_PS (1ULL << 61) /* limit for any duration: 26 days */

struct matrix_solver *lm_matrix_new(struct morph_ctx *ctx)
{
	struct matrix_solver *solver = calloc(1, sizeof(*solver));

	if (!solver) {
		lm_no_memory(ctx, "create a plan of a matrix");
		return NULL;
	}
	solver->ctx = ctx;
	return solver;
}

void lm_matrix_free(struct matrix_solver *solver)
{
	if (!solver)
		return;
	free(solver->sends.list);
	free(solver->best.list);
	free(solver->shares.list);
	free(solver->parts.list);
	free(solver->pairs.list);
	free(solver->taken.list);
	free(solver->turns.list);
	free(solver->words);
	free(solver->numbers);
	free(solver);
}

/* ---------------------------------------------------------------- questions */

static int check_sizes(struct matrix_solver *solver, const struct matrix_problem *problem)
{
	if (!problem->ranks || !problem->planes)
		return lm_fail(solver->ctx, EINVAL,
			       "a matrix requires at least one rank and one plane");
	if (problem->ranks > MOST_RANKS || problem->planes > MOST_PLANES)
		return lm_fail(solver->ctx, E2BIG,
			       "a matrix has at most %d ranks and %d planes, not %u and %u",
			       MOST_RANKS, MOST_PLANES, problem->ranks, problem->planes);
	if ((uint64_t)problem->ranks * problem->ranks * problem->planes > MOST_SENDS)
		return lm_fail(solver->ctx, E2BIG, "at most %u pairs of ranks on all planes",
			       MOST_SENDS);
	if (!problem->costs.mbps)
		return lm_fail(solver->ctx, EINVAL, "the bandwidth of ports was not set");
	if (problem->costs.scope > MORPH_DELAY_FABRIC_SCOPE)
		return lm_fail(solver->ctx, EINVAL, "scope %u must be one of 0 to %d",
			       problem->costs.scope, MORPH_DELAY_FABRIC_SCOPE);
	if (problem->methods & ~MATRIX_ALL)
		return lm_fail(solver->ctx, EINVAL, "methods must be bits of %#x, not %#x",
			       MATRIX_ALL, problem->methods);
	return 0;
}

/*
 * The worst result of any method: all bytes in sequence, and a change for each of the largest
 * number of matchings.
 */
static int check_times(struct matrix_solver *solver, const struct matrix_problem *problem)
{
	const struct costs *costs = &problem->costs;
	size_t cells = (size_t)problem->ranks * problem->ranks;
	unsigned __int128 bytes = 0, ps;

	for (size_t cell = 0; cell < cells; cell++)
		bytes += problem->bytes[cell];
	ps = (unsigned __int128)costs->port_ps * problem->ranks * problem->planes;
	ps += (unsigned __int128)costs->change_ps + costs->round_ps + costs->hop_ps;
	ps *= cells + 8ULL * problem->ranks;
	if (bytes < MOST_PS)
		ps += bytes * 8000000 / costs->mbps;
	if (bytes >= MOST_PS || ps >= MOST_PS)
		return lm_fail(solver->ctx, EOVERFLOW,
			       "all sends in sequence take longer than %llu hours",
			       MOST_PS / 3600000000000000ULL);
	return 0;
}

/* ------------------------------------------------------------------- memory */

/* Take @count words from *next, and advance it. */
#define CARVE(array, next, count)          \
	do {                               \
		(array) = (next);          \
		(next) += (size_t)(count); \
	} while (0)

static void carve(struct matrix_solver *solver, uint64_t *words, uint32_t *numbers, uint32_t ranks,
		  uint32_t planes)
{
	size_t cells = (size_t)ranks * ranks, ports = 2 * (size_t)ranks, all = ports * planes;

	CARVE(solver->cells, words, cells);
	CARVE(solver->left, words, cells);
	CARVE(solver->stuffed, words, cells);
	CARVE(solver->costs, words, cells);
	CARVE(solver->prices, words, ranks);
	CARVE(solver->distances, words, ranks);
	CARVE(solver->ready, words, ports);
	CARVE(solver->due, words, ports);
	CARVE(solver->loads, words, all);
	CARVE(solver->free_ps, words, all);
	CARVE(solver->programs, words, planes);
	CARVE(solver->to, numbers, ranks);
	CARVE(solver->from, numbers, ranks);
	CARVE(solver->columns, numbers, ranks);
	CARVE(solver->before, numbers, ranks);
	CARVE(solver->firsts, numbers, all);
	CARVE(solver->holds, numbers, all);
	CARVE(solver->lasts, numbers, all);
	CARVE(solver->slots, numbers, all);
	solver->circuits = (struct coloured *)numbers;
}

static int make_room(struct matrix_solver *solver, uint32_t ranks, uint32_t planes)
{
	size_t cells = (size_t)ranks * ranks, all = 2 * (size_t)ranks * planes;
	size_t words = 4 * cells + 6 * (size_t)ranks + 2 * all + planes;
	size_t circuits = (size_t)ranks * planes * sizeof(struct coloured);
	size_t numbers = 4 * (size_t)ranks + 4 * all + circuits / sizeof(uint32_t);

	if (words > solver->words_room) {
		free(solver->words);
		solver->words_room = 0;
		solver->words = calloc(words, sizeof(*solver->words));
		if (!solver->words)
			return lm_no_memory(solver->ctx, "plan a matrix");
		solver->words_room = words;
	}
	if (numbers > solver->numbers_room) {
		free(solver->numbers);
		solver->numbers_room = 0;
		solver->numbers = calloc(numbers, sizeof(*solver->numbers));
		if (!solver->numbers)
			return lm_no_memory(solver->ctx, "plan a matrix");
		solver->numbers_room = numbers;
	}
	carve(solver, solver->words, solver->numbers, ranks, planes);
	return 0;
}

int lm_matrix_room(struct matrix_solver *solver, uint32_t more)
{
	if (solver->sends.count > MOST_SENDS)
		return lm_fail(solver->ctx, E2BIG, "a plan has at most %u sends", MOST_SENDS);
	return ARRAY_GROW(solver->ctx, solver->sends, more, "plan a matrix");
}

/* ------------------------------------------------------------------ circuits */

bool lm_matrix_held(const struct matrix_solver *solver, uint32_t plane, uint32_t src, uint32_t dst)
{
	const uint32_t *firsts = solver->firsts + matrix_ports(solver, plane);

	return firsts[src] == dst;
}

static int hold(struct matrix_solver *solver, const struct matrix_circuit *circuit)
{
	const struct matrix_problem *problem = &solver->problem;
	uint32_t *firsts;

	if (circuit->plane >= problem->planes || circuit->src >= problem->ranks ||
	    circuit->dst >= problem->ranks || circuit->src == circuit->dst)
		return lm_fail(solver->ctx, EINVAL,
			       "no circuit goes from rank %u to %u on plane %u", circuit->src,
			       circuit->dst, circuit->plane);
	firsts = solver->firsts + matrix_ports(solver, circuit->plane);
	if (firsts[circuit->src] != MATRIX_NONE ||
	    firsts[problem->ranks + circuit->dst] != MATRIX_NONE)
		return lm_fail(solver->ctx, EINVAL,
			       "a port of rank %u or %u holds two circuits on plane %u",
			       circuit->src, circuit->dst, circuit->plane);
	firsts[circuit->src] = circuit->dst;
	firsts[problem->ranks + circuit->dst] = circuit->src;
	return 0;
}

void lm_matrix_add(struct matrix_solver *solver, uint32_t src, uint32_t dst, uint64_t bytes)
{
	solver->sends.list[solver->sends.count++] = (struct matrix_send){
		.plane = solver->plane, .step = solver->step, .src = src, .dst = dst, .bytes = bytes
	};
	solver->left[(size_t)src * solver->problem.ranks + dst] -= bytes;
}

int lm_matrix_send(struct matrix_solver *solver, uint64_t most)
{
	uint32_t ranks = solver->problem.ranks;
	int ret = lm_matrix_room(solver, ranks);

	if (ret)
		return ret;
	for (uint32_t src = 0; src < ranks; src++) {
		uint32_t dst = solver->to[src];
		uint64_t bytes = solver->left[(size_t)src * ranks + dst];

		if (bytes)
			lm_matrix_add(solver, src, dst, bytes < most ? bytes : most);
	}
	return 0;
}

/* Lit circuits that are useful send all they can, since that needs no change. */
static int use_held(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks, before = solver->sends.count;
	const uint32_t *firsts = solver->firsts + matrix_ports(solver, solver->plane);
	int ret = lm_matrix_room(solver, ranks);

	memset(solver->ready, 0, 2 * ranks * sizeof(*solver->ready));
	for (uint32_t src = 0; !ret && src < ranks; src++) {
		uint32_t dst = firsts[src];
		uint64_t bytes;

		bytes = dst == MATRIX_NONE ? 0 : solver->left[(size_t)src * ranks + dst];
		if (!bytes)
			continue;
		lm_matrix_add(solver, src, dst, bytes);
		solver->ready[src] = solver->ready[ranks + dst] = matrix_send_ps(solver, bytes);
	}
	solver->step += solver->sends.count > before;
	return ret;
}

/* ------------------------------------------------------------------ methods */

/* Each plane alone, with its share. */
static int plan_planes(struct matrix_solver *solver, matrix_planner *planner)
{
	uint32_t ranks = solver->problem.ranks;
	int ret = 0;

	for (uint32_t plane = 0; !ret && plane < solver->problem.planes; plane++) {
		solver->plane = plane;
		solver->step = 0;
		memset(solver->left, 0, (size_t)ranks * ranks * sizeof(*solver->left));
		for (uint32_t at = 0; at < solver->shares.count; at++) {
			const struct matrix_share *share = &solver->shares.list[at];

			if (share->plane == plane)
				solver->left[(size_t)share->src * ranks + share->dst] +=
					share->bytes;
		}
		ret = use_held(solver);
		if (!ret)
			ret = planner(solver);
	}
	return ret;
}

/* Keep the sends as the best so far. */
static void keep(struct matrix_solver *solver)
{
	matrix_sends worse = solver->best;

	solver->best = solver->sends;
	solver->sends = worse;
}

static int try_method(struct matrix_solver *solver, uint32_t method)
{
	static matrix_planner *const planners[MATRIX_METHODS] = {
		[MATRIX_ROTATION] = lm_matrix_rotation, [MATRIX_LONGEST] = lm_matrix_longest,
		[MATRIX_GREEDY] = lm_matrix_greedy,	[MATRIX_URGENT] = lm_matrix_urgent,
		[MATRIX_SOLSTICE] = lm_matrix_solstice, [MATRIX_ECLIPSE] = lm_matrix_eclipse,
		[MATRIX_BIRKHOFF] = lm_matrix_birkhoff,
	};
	struct matrix_plan *plan = &solver->plan;
	struct matrix_figure figure;
	int ret;

	solver->sends.count = 0;
	ret = planners[method] ? plan_planes(solver, planners[method]) : lm_matrix_mesh(solver);
	if (!ret)
		ret = lm_matrix_time(solver, &figure);
	if (ret)
		return ret;
	if (!plan->figures[method].tried || figure.span_ps < plan->figures[method].span_ps)
		plan->figures[method] = figure;
	if (plan->method != MATRIX_METHODS && figure.span_ps >= plan->span_ps)
		return 0;
	plan->method = method;
	plan->span_ps = figure.span_ps;
	keep(solver);
	return 0;
}

/*
 * Is the method tried by default? Not if there is nothing to gain, or if it takes long. Exact
 * decomposition has many changes; it is tried only if there is much to gain, when few pairs send.
 */
static bool is_quick(const struct matrix_solver *solver, uint32_t method)
{
	const struct matrix_plan *plan = &solver->plan;
	uint32_t ranks = solver->problem.ranks;

	if (plan->method != MATRIX_METHODS && plan->span_ps == plan->bound_ps)
		return false;
	if (solver->problem.thorough)
		return plan->method == MATRIX_METHODS || !matrix_spent(solver);
	if (method == MATRIX_LONGEST)
		return ranks > MATRIX_QUICK_RANKS;
	if (method == MATRIX_GREEDY || method == MATRIX_URGENT)
		return !matrix_spent(solver);
	if (method == MATRIX_BIRKHOFF)
		return !matrix_spent(solver) && ranks <= MATRIX_QUICK_RANKS / 2 &&
		       plan->span_ps - plan->bound_ps > plan->bound_ps / 64;
	return MATRIX_QUICK >> method & 1;
}

/* Try all requested methods with planes shared this way. A mesh shares them itself. */
static int try_sharing(struct matrix_solver *solver, enum matrix_sharing sharing)
{
	uint32_t asked = solver->problem.methods;
	int ret = lm_matrix_share(solver, sharing);

	for (uint32_t method = 0; !ret && method < MATRIX_METHODS; method++) {
		if (asked ? !(asked >> method & 1) : !is_quick(solver, method))
			continue;
		if (method == MATRIX_MESH && sharing != MATRIX_PAIRS)
			continue;
		ret = try_method(solver, method);
		if (ret == -ENOENT)
			ret = 0;
	}
	return ret;
}

static int try_methods(struct matrix_solver *solver)
{
	uint32_t sharings = solver->problem.planes == 1 ? 1 : MATRIX_SHARINGS;
	int ret = 0;

	for (uint32_t sharing = 0; !ret && sharing < sharings; sharing++)
		ret = try_sharing(solver, sharing);
	if (!ret && solver->plan.method == MATRIX_METHODS)
		ret = lm_fail(
			solver->ctx, ENOENT,
			"a mesh requires a plane for each partner of a rank; %u are not enough",
			solver->problem.planes);
	return ret;
}

/* Copy the request into the solver's memory. */
static int begin(struct matrix_solver *solver, const struct matrix_problem *problem)
{
	uint32_t ranks = problem->ranks;
	int ret = make_room(solver, ranks, problem->planes);

	if (ret)
		return ret;
	solver->problem = *problem;
	solver->plan = (struct matrix_plan){ .method = MATRIX_METHODS };
	solver->best.count = 0;
	solver->looks = 0;
	solver->most_looks = problem->methods ? UINT64_MAX :
						lm_matrix_budget(ranks, problem->budget);
	solver->set_ps = problem->costs.change_ps + problem->costs.port_ps;
	solver->each_ps = problem->costs.round_ps + problem->costs.hop_ps;
	memcpy(solver->cells, problem->bytes, (size_t)ranks * ranks * sizeof(*solver->cells));
	for (uint32_t rank = 0; rank < ranks; rank++)
		solver->cells[(size_t)rank * ranks + rank] = 0;
	memset(solver->firsts, 0xff,
	       matrix_ports(solver, problem->planes) * sizeof(*solver->firsts));
	for (uint32_t at = 0; !ret && at < problem->held_count; at++)
		ret = hold(solver, &problem->held[at]);
	return ret;
}

/* The plan is the one in best[]. */
static void set_plan(struct matrix_solver *solver, struct matrix_plan *plan)
{
	solver->plan.sends = solver->best.list;
	solver->plan.count = solver->best.count;
	solver->plan.looks = solver->looks;
	*plan = solver->plan;
}

int lm_matrix_solve(struct matrix_solver *solver, const struct matrix_problem *problem,
		    struct matrix_plan *plan)
{
	int ret = check_sizes(solver, problem);

	solver->planned = false;
	if (!ret)
		ret = check_times(solver, problem);
	if (!ret)
		ret = begin(solver, problem);
	if (ret)
		return ret;
	lm_matrix_bound(solver);
	if (solver->plan.bound_ps)
		ret = try_methods(solver);
	if (ret)
		return ret;
	solver->planned = true;
	set_plan(solver, plan);
	return 0;
}

/* ------------------------------------------------------------- the way back */

static struct matrix_send turned(const struct matrix_send *send, uint32_t steps)
{
	struct matrix_send back = *send;

	back.src = send->dst;
	back.dst = send->src;
	back.step = steps - 1 - send->step;
	return back;
}

/* Transpose the cells; no circuit is held any more. */
static void transpose(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;

	for (uint32_t src = 0; src < ranks; src++) {
		for (uint32_t dst = 0; dst < src; dst++) {
			uint64_t *one = &solver->cells[(size_t)src * ranks + dst];
			uint64_t *other = &solver->cells[(size_t)dst * ranks + src];
			uint64_t bytes = *one;

			*one = *other;
			*other = bytes;
		}
	}
	solver->problem.held_count = 0;
	memset(solver->firsts, 0xff,
	       matrix_ports(solver, solver->problem.planes) * sizeof(*solver->firsts));
}

int lm_matrix_combine(struct matrix_solver *solver, struct matrix_plan *plan)
{
	uint32_t count = solver->best.count, steps = 0;
	struct matrix_figure figure;
	int ret;

	if (!solver->planned)
		return lm_fail(solver->ctx, ENOENT, "no plan to reverse; plan the matrix first");
	solver->sends.count = 0;
	ret = lm_matrix_room(solver, count);
	if (ret)
		return ret;
	for (uint32_t at = 0; at < count; at++)
		if (solver->best.list[at].step >= steps)
			steps = solver->best.list[at].step + 1;
	for (uint32_t at = 0; at < count; at++)
		solver->sends.list[at] = turned(&solver->best.list[count - 1 - at], steps);
	solver->sends.count = count;
	transpose(solver);
	solver->plan.bound_ps = solver->plan.load_ps = 0;
	lm_matrix_bound(solver);
	ret = lm_matrix_time(solver, &figure);
	if (ret)
		return ret;
	solver->plan.span_ps = figure.span_ps;
	keep(solver);
	set_plan(solver, plan);
	return 0;
}
