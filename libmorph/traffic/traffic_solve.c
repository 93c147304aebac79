// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The regularised traffic problem, solved by its dual in the prices of links. At given prices, path
 * p of a demand carries (weight - price of p) / (lambda * weight). If the sum exceeds the amount of
 * the demand, all of its paths carry less by the same excess. The dual is convex, piecewise
 * quadratic and once differentiable. Its gradient is the free capacity of the links.
 */
#include <math.h>

#include "traffic.h"

#define TENTH 0.1
#define TOLERANCE 1e-9
#define ITERATIONS 200
#define ENOUGH 1e-4 /* share of the decrease that the slope promises */
#define HALVINGS 40 /* of a step, at most */
#define LEAST_RIDGE 1e-13
#define ROUNDING 1e-12 /* relative error of the dual */
#define ALMOST 1e-3 /* of the largest weight: a price that counts as 0 */
#define SHORT 0.3 /* a shorter step shows that the quadratic model is valid only nearby */
#define LEAST_DAMPING 0.01
#define MOST_DAMPING 1e12

struct solver {
	struct morph_traffic *te;
	uint32_t links;
	double lambda;
	double most_capacity, most_weight;
	double damping; /* of steps; more after short steps, less after full ones */
	double *prices, *trial; /* by link */
	double *room; /* by link, at the prices of the last evaluation */
	double *gradient; /* by link: the room from which the step was computed */
	double *step; /* by link */
	double *matrix; /* links * links, lower half */
	double *pays; /* by path of one demand */
	uint32_t *free; /* links whose prices the step changes together */
	uint32_t free_count;
	uint32_t *row; /* by link: index in @free, or ~0 */
};

/* --------------------------------------------------------------------- flows */

static double path_price(const struct morph_traffic *te, const struct te_path *path,
			 const double *prices)
{
	const uint32_t *links = te->links.list + path->first;
	double price = 0;

	for (uint32_t hop = 0; hop < path->count; hop++)
		price += prices[links[hop]];
	return price;
}

/*
 * Sort @pays in descending order. Returns the excess to subtract from each so that the sum is at
 * most @amount.
 */
static double excess_of(double *pays, uint32_t count, double amount)
{
	double sum = 0, excess = 0;

	for (uint32_t at = 1; at < count; at++) {
		double value = pays[at];
		uint32_t to = at;

		for (; to && pays[to - 1] < value; to--)
			pays[to] = pays[to - 1];
		pays[to] = value;
	}
	for (uint32_t at = 0; at < count && pays[at] > excess; at++) {
		sum += pays[at];
		if (sum > amount)
			excess = fmax(excess, (sum - amount) / (at + 1));
	}
	return excess;
}

/* Compute the flows of a demand at these prices. Returns their contribution to the dual. */
static double demand_send(const struct solver *solver, const struct te_demand *demand,
			  const double *prices)
{
	struct morph_traffic *te = solver->te;
	double scale = solver->lambda * demand->weight, worth = 0, excess;
	uint32_t count = 0;

	for (uint32_t at = demand->first; at != UINT32_MAX; at = te->paths.list[at].next) {
		struct te_path *path = &te->paths.list[at];

		path->flow = (demand->weight - path_price(te, path, prices)) / scale;
		if (path->flow > 0)
			solver->pays[count++] = path->flow;
	}
	excess = excess_of(solver->pays, count, demand->amount);
	for (uint32_t at = demand->first; at != UINT32_MAX; at = te->paths.list[at].next) {
		struct te_path *path = &te->paths.list[at];
		double pays = path->flow;

		path->flow = fmax(pays - excess, 0);
		worth += scale * path->flow * (pays - path->flow / 2);
	}
	return worth;
}

/* The dual at these prices. Sets flows and room. */
static double dual(const struct solver *solver, const double *prices)
{
	struct morph_traffic *te = solver->te;
	double value = 0;

	for (uint32_t link = 0; link < solver->links; link++) {
		solver->room[link] = te->capacities.list[link];
		value += prices[link] * te->capacities.list[link];
	}
	for (uint32_t at = 0; at < te->demands.count; at++)
		value += demand_send(solver, &te->demands.list[at], prices);
	for (uint32_t at = 0; at < te->paths.count; at++) {
		const struct te_path *path = &te->paths.list[at];

		for (uint32_t hop = 0; path->flow > 0 && hop < path->count; hop++)
			solver->room[te->links.list[path->first + hop]] -= path->flow;
	}
	return value;
}

/* The largest violation of complementarity: price and room are at least 0, and one of them is 0. */
static double residual(const struct solver *solver)
{
	double worst = 0;

	for (uint32_t link = 0; link < solver->links; link++) {
		double price = solver->prices[link] / solver->most_weight;
		double room = solver->room[link] / solver->most_capacity;

		worst = fmax(worst, fabs(fmin(price, room)));
	}
	return worst;
}

/* --------------------------------------------------------------------- steps */

/* Add @value to the matrix for each pair of a link of @a and a link of @b. */
static void add_pair(const struct solver *solver, const struct te_path *a, const struct te_path *b,
		     double value)
{
	const uint32_t *links = solver->te->links.list;

	for (uint32_t i = 0; i < a->count; i++) {
		uint32_t row = solver->row[links[a->first + i]];

		for (uint32_t j = 0; row != UINT32_MAX && j < b->count; j++) {
			uint32_t column = solver->row[links[b->first + j]];

			if (column <= row)
				solver->matrix[row * solver->free_count + column] += value;
		}
	}
}

/* The second derivatives of one demand: how its flows change the room of links with the prices. */
static void add_demand(const struct solver *solver, const struct te_demand *demand)
{
	struct morph_traffic *te = solver->te;
	double scale = solver->lambda * demand->weight, sum = 0;
	uint32_t sending = 0;
	bool limited;

	for (uint32_t at = demand->first; at != UINT32_MAX; at = te->paths.list[at].next) {
		sum += te->paths.list[at].flow;
		sending += te->paths.list[at].flow > 0;
	}
	/* At the full amount, the paths of a demand exchange flow. */
	limited = sum >= demand->amount * (1 - 1e-12);
	for (uint32_t a = demand->first; a != UINT32_MAX; a = te->paths.list[a].next) {
		const struct te_path *one = &te->paths.list[a];

		if (one->flow <= 0)
			continue;
		add_pair(solver, one, one, 1 / scale);
		for (uint32_t b = demand->first; limited && b != UINT32_MAX;
		     b = te->paths.list[b].next)
			if (te->paths.list[b].flow > 0)
				add_pair(solver, one, &te->paths.list[b], -1 / scale / sending);
	}
}

/*
 * Cholesky decomposition in place, and the step for the free links. Where flows do not depend on
 * small changes of prices, the dual is linear. A ridge proportional to the residual limits the step
 * there to a few weights (Levenberg and Marquardt).
 */
static void solve_matrix(const struct solver *solver, double left)
{
	double ridge = solver->most_capacity / solver->most_weight *
		       fmax(solver->damping * fmin(left, 1), LEAST_RIDGE);
	uint32_t count = solver->free_count;
	double *m = solver->matrix, *x = solver->trial;

	for (uint32_t row = 0; row < count; row++) {
		double *mine = m + row * count;

		mine[row] += ridge;
		for (uint32_t column = 0; column <= row; column++) {
			double *its = m + column * count, sum = mine[column];

			for (uint32_t at = 0; at < column; at++)
				sum -= mine[at] * its[at];
			if (column < row)
				mine[column] = sum / its[column];
			else
				mine[row] = sqrt(fmax(sum, ridge));
		}
	}
	for (uint32_t row = 0; row < count; row++) {
		double sum = -solver->room[solver->free[row]];

		for (uint32_t at = 0; at < row; at++)
			sum -= m[row * count + at] * x[at];
		x[row] = sum / m[row * count + row];
	}
	for (uint32_t row = count; row--;) {
		double sum = x[row];

		for (uint32_t at = row + 1; at < count; at++)
			sum -= m[at * count + row] * x[at];
		x[row] = sum / m[row * count + row];
		solver->step[solver->free[row]] = x[row];
	}
}

/*
 * Newton's step. A link whose price is almost 0 and below its room goes to price 0 instead, because
 * the projection can turn a joint step into an ascent (Bertsekas).
 */
static void find_step(struct solver *solver, double left)
{
	double almost = fmin(left, ALMOST);

	solver->free_count = 0;
	for (uint32_t link = 0; link < solver->links; link++) {
		double price = solver->prices[link] / solver->most_weight;
		bool falls = price <= fmin(almost, solver->room[link] / solver->most_capacity);

		solver->row[link] = falls ? UINT32_MAX : solver->free_count;
		solver->step[link] = -solver->prices[link];
		if (!falls)
			solver->free[solver->free_count++] = link;
	}
	memset(solver->matrix, 0,
	       (size_t)solver->free_count * solver->free_count * sizeof(*solver->matrix));
	for (uint32_t at = 0; at < solver->te->demands.count; at++)
		add_demand(solver, &solver->te->demands.list[at]);
	solve_matrix(solver, left);
}

/*
 * Go along the step, with prices of at least 0, until the dual has decreased by a share of the
 * promised slope (Armijo). Near the optimum, rounding errors hide the decrease. There it is
 * sufficient that the residual halves.
 */
static bool walk(struct solver *solver, double *value, double *left)
{
	double *prices = solver->prices, *trial = solver->trial;
	double before = *left;

	memcpy(solver->gradient, solver->room, solver->links * sizeof(*solver->room));
	for (int halvings = 0; halvings < HALVINGS; halvings++) {
		double length = ldexp(1, -halvings), promised = 0, reached;

		for (uint32_t link = 0; link < solver->links; link++) {
			trial[link] = fmax(prices[link] + length * solver->step[link], 0);
			promised += solver->gradient[link] * (trial[link] - prices[link]);
		}
		reached = dual(solver, trial);
		solver->prices = trial;
		*left = residual(solver);
		if (reached <= *value + ENOUGH * promised ||
		    (*left <= before / 2 && reached <= *value + ROUNDING * fabs(*value))) {
			solver->trial = prices;
			*value = reached;
			if (length < SHORT)
				solver->damping *= 4;
			else if (!halvings)
				solver->damping = fmax(solver->damping / 2, LEAST_DAMPING);
			return true;
		}
		solver->prices = prices;
	}
	*value = dual(solver, prices);
	*left = before;
	return false;
}

/* --------------------------------------------------------------------- whole */

/* Allocate memory for the present problem. Prices of known links are kept. */
static int make_memory(struct morph_traffic *te)
{
	size_t links = te->capacities.count;
	size_t numbers = links * (links + 5) + te->most_paths + 1;
	size_t words = 2 * links;
	double *prices, *loads, *memory;

	if (te->memory && te->solved_links == links && te->solved_paths == te->paths.count)
		return 0;
	memory = malloc(numbers * sizeof(double) + words * sizeof(uint32_t));
	prices = calloc(links + 1, sizeof(double));
	loads = calloc(links + 1, sizeof(double));
	if (!memory || !prices || !loads) {
		free(memory);
		free(prices);
		free(loads);
		return lm_no_memory(te->ctx, "solve a traffic problem");
	}
	if (te->prices)
		memcpy(prices, te->prices, te->solved_links * sizeof(double));
	free(te->prices);
	free(te->loads);
	free(te->memory);
	te->prices = prices;
	te->loads = loads;
	te->memory = memory;
	te->solved_links = te->capacities.count;
	te->solved_paths = te->paths.count;
	return 0;
}

static void solver_init(struct solver *solver, struct morph_traffic *te, double lambda)
{
	double *next = te->memory;
	size_t links = te->capacities.count;

	*solver = (struct solver){ .te = te, .links = te->capacities.count };
	solver->prices = next;
	solver->trial = next + links;
	solver->room = next + 2 * links;
	solver->gradient = next + 3 * links;
	solver->step = next + 4 * links;
	solver->matrix = next + 5 * links;
	solver->pays = next + (links + 5) * links;
	solver->free = (void *)(solver->pays + te->most_paths + 1);
	solver->row = solver->free + links;
	for (uint32_t link = 0; link < links; link++)
		solver->most_capacity = fmax(solver->most_capacity, te->capacities.list[link]);
	for (uint32_t at = 0; at < te->demands.count; at++)
		solver->most_weight = fmax(solver->most_weight, te->demands.list[at].weight);
	if (solver->most_capacity <= 0)
		solver->most_capacity = 1;
	if (solver->most_weight <= 0)
		solver->most_weight = 1;
	solver->damping = 1;
	solver->lambda = lambda > 0 ? lambda : TENTH / solver->most_capacity;
}

static int read_opts(struct morph_traffic *te, const struct morph_traffic_opts *opts,
		     struct morph_traffic_opts *mine)
{
	int error = lm_opts_check(te->ctx, opts, sizeof(*mine), "morph_traffic_opts");

	if (error)
		return error;
	lm_opts_copy(mine, opts, sizeof(*mine));
	if (!isfinite(mine->lambda) || mine->lambda < 0 || !isfinite(mine->tolerance) ||
	    mine->tolerance < 0)
		return lm_fail(te->ctx, EINVAL,
			       "lambda is %g and tolerance is %g; both must be numbers, 0 or more",
			       mine->lambda, mine->tolerance);
	if (mine->tolerance <= 0)
		mine->tolerance = TOLERANCE;
	if (!mine->iterations)
		mine->iterations = ITERATIONS;
	return 0;
}

/* The loads of links. */
static void add_loads(struct morph_traffic *te)
{
	memset(te->loads, 0, te->solved_links * sizeof(*te->loads));
	for (uint32_t at = 0; at < te->paths.count; at++) {
		const struct te_path *path = &te->paths.list[at];

		for (uint32_t hop = 0; hop < path->count; hop++)
			te->loads[te->links.list[path->first + hop]] += path->flow;
	}
}

static void set_result(const struct solver *solver, double left, uint32_t iterations,
		       struct morph_traffic_result *out)
{
	struct morph_traffic_result result = {
		.sz = out->sz,
		.lambda = solver->lambda,
		.residual = left,
		.iterations = iterations,
	};

	for (uint32_t at = 0; at < solver->te->paths.count; at++)
		result.throughput += solver->te->paths.list[at].flow;
	memcpy(out, &result, out->sz < sizeof(result) ? out->sz : sizeof(result));
}

MORPH_API int morph_traffic_solve(struct morph_traffic *te, const struct morph_traffic_opts *opts,
				  struct morph_traffic_result *out)
{
	struct morph_traffic_opts mine;
	struct solver solver;
	double value, left;
	uint32_t at = 0;
	int error = read_opts(te, opts, &mine);

	if (!error && out)
		error = lm_opts_check(te->ctx, out, sizeof(*out), "morph_traffic_result");
	if (!error)
		error = make_memory(te);
	if (error)
		return error;
	solver_init(&solver, te, mine.lambda);
	if (mine.cold)
		memset(te->prices, 0, solver.links * sizeof(double));
	memcpy(solver.prices, te->prices, solver.links * sizeof(double));
	value = dual(&solver, solver.prices);
	left = residual(&solver);
	for (; left > mine.tolerance && at < mine.iterations; at++) {
		find_step(&solver, left);
		if (walk(&solver, &value, &left))
			continue;
		/* At a kink of the dual. More damping turns the step towards steepest descent. */
		solver.damping *= 64;
		if (solver.damping > MOST_DAMPING)
			break;
	}
	memcpy(te->prices, solver.prices, solver.links * sizeof(double));
	add_loads(te);
	if (out)
		set_result(&solver, left, at, out);
	if (left <= mine.tolerance)
		return 0;
	return lm_fail(te->ctx, EAGAIN, "the residual is %g after %u steps, above %g", left, at,
		       mine.tolerance);
}
