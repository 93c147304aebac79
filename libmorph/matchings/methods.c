// SPDX-License-Identifier: LGPL-2.1-or-later
/* The results of each method for matchings of a matrix: see morph_matrix_methods(). */
#include "matrix.h"
#include "../schedule/schedule.h"

static const char *const names[] = {
	[MATRIX_ROTATION] = "rotation", [MATRIX_MESH] = "mesh",
	[MATRIX_LONGEST] = "longest",	[MATRIX_GREEDY] = "greedy",
	[MATRIX_URGENT] = "urgent",	[MATRIX_SOLSTICE] = "solstice",
	[MATRIX_ECLIPSE] = "eclipse",	[MATRIX_BIRKHOFF] = "birkhoff",
};

_Static_assert(sizeof(names) / sizeof(names[0]) == MATRIX_METHODS, "each method has a name");

/* @plan: the plan; @all: all results, which are complete for a @few ranks. */
static const char *why_not(const struct matrix_plan *plan, const struct matrix_plan *all, bool few,
			   uint32_t method)
{
	uint64_t span = all->figures[method].span_ps;

	if (!plan->bound_ps)
		return "nothing to send";
	if (!all->figures[method].tried && !few && plan->span_ps == plan->bound_ps)
		return "skipped: the result is already optimal";
	if (!all->figures[method].tried && method == MATRIX_MESH)
		return "a rank has more partners than planes";
	if (!all->figures[method].tried)
		return "skipped: too many ranks";
	if (span > plan->span_ps)
		return "later";
	if (span == plan->span_ps)
		return "no sooner";
	return "sooner, but needs a larger search budget";
}

static void describe_method(const struct matrix_plan *plan, const struct matrix_plan *all, bool few,
			    uint32_t method, struct morph_method *out)
{
	const struct matrix_figure *figure = &all->figures[method];
	bool chosen = method == plan->method;

	*out = (struct morph_method){ .name = names[method],
				      .chosen = chosen,
				      .why = chosen ? "" : why_not(plan, all, few, method) };
	if (!figure->tried)
		return;
	out->ns = lm_edge_ns(figure->span_ps);
	out->turns = figure->steps;
	out->circuits = figure->changes;
}

static int solve(struct matrix_solver *solver, struct matrix_problem *problem,
		 struct matrix_plan *plan, struct matrix_plan *all)
{
	int ret = lm_matrix_solve(solver, problem, plan);

	if (ret)
		return ret;
	*all = *plan;
	if (problem->ranks > MATRIX_QUICK_RANKS)
		return 0;
	problem->methods = MATRIX_ALL;
	return lm_matrix_solve(solver, problem, all);
}

MORPH_API int morph_matrix_methods(struct morph_ctx *ctx, const uint64_t *matrix, uint32_t ranks,
				   const struct morph_delay *delay,
				   const struct morph_schedule_opts *opts,
				   struct morph_method *methods, uint32_t room)
{
	/* Do not read matrices of more ranks than allowed; they are rejected. */
	uint32_t busy = ranks <= MOST_RANKS ? morph_matrix_roles(matrix, ranks, NULL, NULL) : ranks;
	struct matrix_problem problem = { .ranks = ranks,
					  .bytes = matrix,
					  .costs = lm_delay_costs(delay, busy) };
	int ret = lm_opts_check(ctx, opts, sizeof(*opts), "morph_schedule_opts");
	struct morph_schedule_opts mine;
	struct matrix_solver *solver;
	struct matrix_plan plan, all;

	if (ret)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	problem.planes = mine.planes ? mine.planes : 1;
	lm_matrix_effort(&problem, &mine);
	solver = lm_matrix_new(ctx);
	ret = solver ? solve(solver, &problem, &plan, &all) : -ENOMEM;
	for (uint32_t method = 0; !ret && method < MATRIX_METHODS && method < room; method++)
		describe_method(&plan, &all, ranks <= MATRIX_QUICK_RANKS, method, &methods[method]);
	lm_matrix_free(solver);
	return ret ? ret : MATRIX_METHODS;
}
