// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The sum of the plans of several controllers, each from its own view: by cold and warm linear
 * programs, and regularised. All three use the same views, and are timed.
 */
#include "../internal/planner.h"
#include "bench.h"
#include "oracle.h"
#include "traffic.h"

#define CONTROLLERS 4
#define LOAD 0.6 /* linear programs carry 95 % of it */
#define ALL CONTROLLERS /* index of the program with the true amounts */

enum way {
	COLD,
	WARM,
	REGULAR,
	WAYS,
};

/* A mesh. Each controller has its own warm problems; one more has no noise. */
struct setting {
	struct morph_ctx *ctx;
	struct mesh mesh;
	uint64_t seed;
	void *oracles[CONTROLLERS + 1];
	struct morph_traffic *te[CONTROLLERS + 1];
};

struct overload_rows {
	struct samples times[WAYS];
	struct samples ratios[REGULAR]; /* by mesh */
	struct samples lost; /* of the throughput, by epoch */
};

/* Lanes above the capacities of links. */
static double overload(const struct mesh *mesh, const double *flows)
{
	double loads[MESH_LINKS] = { 0 }, sum = 0;

	for (uint32_t at = 0; at < mesh->paths_count; at++)
		for (uint32_t hop = 0; hop < mesh->paths[at].hops; hop++)
			loads[mesh->paths[at].links[hop]] += flows[at];
	for (uint32_t link = 0; link < mesh->links_count; link++)
		if (loads[link] > MESH_LANES)
			sum += loads[link] - MESH_LANES;
	return sum;
}

/* The lanes that a controller installs: those that leave its own servers. */
static void install(const struct mesh *mesh, uint32_t controller, const double *flows, double *all)
{
	for (uint32_t at = 0; at < mesh->paths_count; at++)
		if (mesh->source[mesh->paths[at].demand] % CONTROLLERS == controller)
			all[at] = flows[at];
}

/* The time of the linear program. */
static double solve_linear(void *oracle, const struct mesh *mesh, const double *amounts,
			   double *flows)
{
	double begin = now_us();

	if (!oracle || !oracle_solve(oracle, mesh, amounts, flows))
		wrong("the linear oracle has no solution");
	return now_us() - begin;
}

static double solve(struct setting *setting, enum way way, uint32_t controller,
		    const double *amounts, double *flows)
{
	const struct mesh *mesh = &setting->mesh;
	struct morph_traffic *te = setting->te[controller];
	void *oracle;
	double took;

	switch (way) {
	case COLD:
		oracle = oracle_new(mesh);
		took = solve_linear(oracle, mesh, amounts, flows);
		oracle_free(oracle);
		return took;
	case WARM:
		return solve_linear(setting->oracles[controller], mesh, amounts, flows);
	default:
		took = traffic_solve(setting->ctx, te, mesh, amounts, false, NULL);
		for (uint32_t at = 0; at < mesh->paths_count; at++)
			flows[at] = morph_traffic_flow(te, at);
		return took;
	}
}

/* The sum of all plans, for each of the three methods. */
static void plan_epoch(struct setting *setting, uint32_t epoch, double sums[WAYS],
		       struct overload_rows *rows)
{
	double amounts[MESH_DEMANDS], view[MESH_DEMANDS], flows[TRAFFIC_PATHS] = { 0 };
	double plans[WAYS][TRAFFIC_PATHS] = { { 0 } };
	const struct mesh *mesh = &setting->mesh;

	mesh_epoch(mesh, setting->seed, epoch, LOAD, amounts);
	for (uint32_t controller = 0; controller < CONTROLLERS; controller++) {
		mesh_view(mesh, setting->seed, epoch, controller, TRAFFIC_NOISE, amounts, view);
		for (enum way way = COLD; way < WAYS; way++) {
			sample(&rows->times[way], solve(setting, way, controller, view, flows));
			install(mesh, controller, flows, plans[way]);
		}
	}
	for (enum way way = COLD; way < WAYS; way++)
		sums[way] += overload(mesh, plans[way]);
}

static double sum_of(const double *flows, uint32_t count)
{
	double sum = 0;

	for (uint32_t at = 0; at < count; at++)
		sum += flows[at];
	return sum;
}

/* How much less throughput than a linear program, for the same amounts. */
static double throughput_lost(struct setting *setting, uint32_t epoch)
{
	double amounts[MESH_DEMANDS], flows[TRAFFIC_PATHS] = { 0 }, most;
	const struct mesh *mesh = &setting->mesh;

	mesh_epoch(mesh, setting->seed, epoch, LOAD, amounts);
	solve(setting, WARM, ALL, amounts, flows);
	most = sum_of(flows, mesh->paths_count);
	solve(setting, REGULAR, ALL, amounts, flows);
	return most > 0 ? 1 - sum_of(flows, mesh->paths_count) / most : 0;
}

static void measure_mesh(struct setting *setting, struct overload_rows *rows)
{
	double sums[WAYS] = { 0 };
	bool made = true;

	mesh_make(&setting->mesh, setting->seed);
	for (uint32_t at = 0; at <= CONTROLLERS; at++) {
		setting->oracles[at] = oracle_new(&setting->mesh);
		setting->te[at] = mesh_problem(setting->ctx, &setting->mesh, NULL);
		made &= setting->oracles[at] && setting->te[at];
	}
	for (uint32_t epoch = 0; made && epoch < TRAFFIC_EPOCHS; epoch++) {
		sample(&rows->lost, throughput_lost(setting, epoch));
		plan_epoch(setting, epoch, sums, rows);
	}
	for (enum way way = COLD; way < REGULAR; way++)
		sample(&rows->ratios[way], sums[way] / sums[REGULAR]);
	for (uint32_t at = 0; at <= CONTROLLERS; at++) {
		oracle_free(setting->oracles[at]);
		morph_traffic_free(setting->te[at]);
	}
}

/* How often a ratio is below one, which is wrong. */
static uint32_t below_one(const struct samples *ratios)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < ratios->count; at++)
		count += ratios->values[at] < 1;
	return count;
}

static void report_ratios(const char *name, struct samples *ratios)
{
	const struct row row = {
		.name = name, .unit = "times", .figure = MEDIAN, .at_least = true, .limit = 2.5
	};

	report_row(&row, ratios);
	report_count("  of these below 1", below_one(ratios), 0);
}

void bench_overload(struct morph_ctx *ctx)
{
	static struct overload_rows rows;
	static struct setting setting;

	setting.ctx = ctx;
	for (setting.seed = 1; setting.seed <= TRAFFIC_MESHES; setting.seed++)
		measure_mesh(&setting, &rows);
	report_ratios("overload, linear program from nothing, over ours", &rows.ratios[COLD]);
	report_ratios("overload, linear program warm, over ours", &rows.ratios[WARM]);
	report("overload, solving ours, each of 4 controllers and 8 epochs", &rows.times[REGULAR],
	       NO_BAR, 0);
	report_oracle("  the linear program from nothing (Clp)", &rows.times[COLD],
		      &rows.times[REGULAR]);
	report_oracle("  the linear program warm (Clp)", &rows.times[WARM], &rows.times[REGULAR]);
	report_row(&(const struct row){ .name = "  throughput lost",
					.unit = "share",
					.figure = MOST,
					.limit = 0.001 },
		   &rows.lost);
	if (rows.lost.values[rows.lost.count - 1] > 0.001)
		wrong("regularisation costs more than a thousandth of the throughput");
}
