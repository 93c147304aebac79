// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The regularised traffic problem: its time, and its distance from the optimum by the optimality
 * conditions and by a quadratic program.
 */
#include <math.h>

#include "../internal/planner.h"
#include "bench.h"
#include "oracle.h"
#include "traffic.h"

#define QUADRATIC 1 /* epochs of each mesh that a quadratic program solves too */
#define AGREE 1e-6 /* of the objective */

double traffic_solve(struct morph_ctx *ctx, struct morph_traffic *te, const struct mesh *mesh,
		     const double *amounts, bool cold, struct morph_traffic_result *result)
{
	MORPH_OPTS(morph_traffic_opts, opts, .tolerance = 1e-6, .cold = cold);
	double begin;

	for (uint32_t at = 0; at < mesh->demands_count; at++)
		morph_traffic_set_amount(te, at, amounts[at]);
	begin = now_us();
	if (morph_traffic_solve(te, &opts, result))
		wrong(morph_error_text(ctx));
	return now_us() - begin;
}

/* The profit of one more lane on a path, after its links' prices. */
static double profit(struct morph_traffic *te, const struct mesh *mesh, uint32_t at, double lambda)
{
	double profit = 1 - lambda * morph_traffic_flow(te, at);

	for (uint32_t hop = 0; hop < mesh->paths[at].hops; hop++)
		profit -= morph_traffic_price(te, mesh->paths[at].links[hop]);
	return profit;
}

/*
 * The largest residual of the conditions of Karush, Kuhn and Tucker, in lanes per capacity of a
 * link. The conditions exclude an overloaded link or demand, a price of a link with free capacity
 * or of an unsatisfied demand, and a used path with less profit than another one. A demand's price
 * is the profit of its best path.
 */
static double residual(struct morph_traffic *te, const struct mesh *mesh, const double *amounts,
		       double lambda)
{
	double loads[MESH_LINKS] = { 0 }, sent[MESH_DEMANDS] = { 0 }, best[MESH_DEMANDS] = { 0 };
	double worst = 0;

	for (uint32_t at = 0; at < mesh->paths_count; at++) {
		uint32_t demand = mesh->paths[at].demand;

		for (uint32_t hop = 0; hop < mesh->paths[at].hops; hop++)
			loads[mesh->paths[at].links[hop]] += morph_traffic_flow(te, at);
		sent[demand] += morph_traffic_flow(te, at);
		best[demand] = fmax(best[demand], profit(te, mesh, at, lambda));
	}
	for (uint32_t link = 0; link < mesh->links_count; link++) {
		double room = 1 - loads[link] / MESH_LANES, price = morph_traffic_price(te, link);

		worst = fmax(worst, fmax(-room, fmax(-price, fmin(price, room))));
	}
	for (uint32_t at = 0; at < mesh->demands_count; at++) {
		double left = (amounts[at] - sent[at]) / MESH_LANES;

		worst = fmax(worst, fmax(-left, fmin(best[at], left)));
	}
	for (uint32_t at = 0; at < mesh->paths_count; at++) {
		double flow = morph_traffic_flow(te, at) / MESH_LANES;
		double lost = best[mesh->paths[at].demand] - profit(te, mesh, at, lambda);

		worst = fmax(worst, fmax(-flow, fmin(flow, lost)));
	}
	return worst;
}

static double objective(const double *flows, uint32_t count, double lambda)
{
	double sum = 0;

	for (uint32_t at = 0; at < count; at++)
		sum += flows[at] - lambda / 2 * flows[at] * flows[at];
	return sum;
}

struct te_rows {
	struct samples cold, warm, residuals; /* residuals of both */
	struct samples asked, quadratic, apart; /* apart: of objectives */
};

/* Compare our last solution with a quadratic program's. */
static void ask(struct morph_traffic *te, const struct mesh *mesh, const double *amounts,
		double lambda, double took, struct te_rows *rows)
{
	double ours[TRAFFIC_PATHS], its[TRAFFIC_PATHS] = { 0 }, best, begin = now_us();

	if (!oracle_quadratic(mesh, amounts, lambda, its))
		wrong("the quadratic oracle has no solution");
	sample(&rows->quadratic, now_us() - begin);
	sample(&rows->asked, took);
	for (uint32_t at = 0; at < mesh->paths_count; at++)
		ours[at] = morph_traffic_flow(te, at);
	best = objective(its, mesh->paths_count, lambda);
	sample(&rows->apart, fabs(objective(ours, mesh->paths_count, lambda) - best) / best);
}

static void measure_mesh(struct morph_ctx *ctx, uint64_t seed, struct te_rows *rows)
{
	static struct mesh mesh;
	double amounts[MESH_DEMANDS], view[MESH_DEMANDS];
	struct morph_traffic *te;

	mesh_make(&mesh, seed);
	te = mesh_problem(ctx, &mesh, NULL);
	for (uint32_t epoch = 0; te && epoch < TRAFFIC_EPOCHS; epoch++) {
		MORPH_OPTS(morph_traffic_result, result);
		double took;

		mesh_epoch(&mesh, seed, epoch, 1, amounts);
		mesh_view(&mesh, seed, epoch, 0, TRAFFIC_NOISE, amounts, view);
		took = traffic_solve(ctx, te, &mesh, amounts, true, &result);
		sample(&rows->cold, took);
		sample(&rows->residuals, residual(te, &mesh, amounts, result.lambda));
		if (epoch < QUADRATIC)
			ask(te, &mesh, amounts, result.lambda, took, rows);
		sample(&rows->warm, traffic_solve(ctx, te, &mesh, view, false, &result));
		sample(&rows->residuals, residual(te, &mesh, view, result.lambda));
	}
	morph_traffic_free(te);
}

void bench_te(struct morph_ctx *ctx)
{
	static struct te_rows rows;

	for (uint64_t seed = 1; seed <= TRAFFIC_MESHES; seed++)
		measure_mesh(ctx, seed, &rows);
	if (!rows.cold.count)
		return;
	report("traffic of 12 servers, residual 1e-6, from nothing", &rows.cold, MOST, 5000);
	report("  warm, after 5 % noise", &rows.warm, MOST, 1000);
	report_row(&(const struct row){ .name = "  residual, of flows and prices",
					.unit = "KKT",
					.figure = MOST,
					.limit = 1e-6 },
		   &rows.residuals);
	report_oracle("  the first epoch of each by a quadratic program (Clp)", &rows.quadratic,
		      &rows.asked);
	report_row(&(const struct row){ .name = "  objectives apart",
					.unit = "share",
					.figure = MOST,
					.limit = AGREE },
		   &rows.apart);
}
