// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How long planners take, in processor time, on the committed instances: a table, or with
 * --json one object a line. A bar that is missed is shown and fails nothing; what fails is an
 * answer that must not be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <morph/morph.h>

#include "../plan/stitch.h"
#include "bench.h"
#include "exact.h"
#include "groups.h"
#include "meshes.h"
#include "oracle.h"
#include "racks.h"

#define MESHES 32
#define EPOCHS 8
#define NOISE 0.05
#define CONTROLLERS 4
#define LOAD 0.6 /* of which linear programs carry 95 % */

static bool json;
static int failures;

double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_value(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

void report(const char *name, struct samples *samples, enum figure figure, double bar)
{
	static const char *const figures[] = { "", "mean", "99 %", "most" };
	double sum = 0, numbers[5], reached;
	uint32_t last = samples->count - 1;

	qsort(samples->values, samples->count, sizeof(samples->values[0]), by_value);
	for (uint32_t at = 0; at < samples->count; at++)
		sum += samples->values[at];
	numbers[0] = sum / samples->count;
	numbers[1] = samples->values[last / 2];
	numbers[2] = samples->values[last * 99ULL / 100];
	numbers[3] = samples->values[last];
	reached = figure == MEAN ? numbers[0] : figure == P99 ? numbers[2] : numbers[3];
	if (json) {
		printf("{\"name\": \"%s\", \"unit\": \"us\", \"count\": %u, \"mean\": %.3f, "
		       "\"median\": %.3f, \"p99\": %.3f, \"max\": %.3f",
		       name, samples->count, numbers[0], numbers[1], numbers[2], numbers[3]);
		if (figure != NO_BAR)
			printf(", \"bar\": \"%s\", \"limit\": %g, \"met\": %s", figures[figure],
			       bar, reached <= bar ? "true" : "false");
		puts("}");
		return;
	}
	printf("%-52s %8.1f %8.1f %8.1f %8.1f us", name, numbers[0], numbers[1], numbers[2],
	       numbers[3]);
	if (figure != NO_BAR)
		printf("  %s bar %g: %s", figures[figure], bar, reached <= bar ? "met" : "MISSED");
	puts("");
}

void wrong(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	failures++;
}

void remark(const char *text)
{
	if (!json)
		printf("  %s\n", text);
}

/* ----------------------------------------------------------------- stitching */

/*
 * 32 accelerators, a torus of 2x4x4, into racks without a box for them, where a link has room for
 * so many others: by more fibres, or by bands that a circuit stays in.
 */
static void bench_stitch(uint32_t links, uint32_t bands, const char *name, enum figure figure,
			 double bar)
{
	static struct net nets[BANDS];
	static struct samples all, no;
	static struct stitch stitch;
	static struct pattern pattern;
	static struct racks_walk walk;
	char refused[96];

	all.count = no.count = 0;
	lm_pattern_torus(&pattern, 1, 2, 4, 1);
	lm_pattern_prepare(&pattern);
	racks_walk_begin(&walk, 1);
	while (all.count < STATES) {
		uint32_t rack = racks_walk_next(&walk);
		double begin = now_us(), took;
		enum stitch_verdict verdict;

		if (bands > 1)
			racks_nets(&walk.racks, rack, bands, nets);
		else
			racks_net(&walk.racks, rack, links, nets);
		verdict = lm_stitch_bands(&stitch, nets, bands, &pattern,
					  racks_free(&walk.racks, rack), UINT64_MAX);
		took = now_us() - begin;
		all.values[all.count++] = took;
		if (verdict == STITCH_INFEASIBLE)
			no.values[no.count++] = took;
		if (verdict == STITCH_UNDECIDED)
			wrong("a rack was left undecided");
	}
	report(name, &all, figure, bar);
	snprintf(refused, sizeof(refused), "  of these refused, with a cut for each: %u", no.count);
	if (no.count)
		report(refused, &no, NO_BAR, 0);
}

/* ------------------------------------------------------------------- traffic */

static struct morph_te *make_problem(struct morph_ctx *ctx, const struct mesh *mesh)
{
	struct morph_te *te = morph_te_new(ctx);

	for (uint32_t link = 0; te && link < mesh->links_count; link++)
		morph_te_add_link(te, MESH_LANES);
	for (uint32_t at = 0; te && at < mesh->demands_count; at++)
		morph_te_add_demand(te, 0, 1);
	for (uint32_t at = 0; te && at < mesh->paths_count; at++)
		if (morph_te_add_path(te, mesh->paths[at].demand, mesh->paths[at].links,
				      mesh->paths[at].hops) < 0)
			wrong(morph_error_text(ctx));
	return te;
}

static double solve_us(struct morph_ctx *ctx, struct morph_te *te, const struct mesh *mesh,
		       const double *amounts, bool cold)
{
	MORPH_OPTS(morph_te_opts, opts, .tolerance = 1e-6, .cold = cold);
	double begin;

	for (uint32_t at = 0; at < mesh->demands_count; at++)
		morph_te_set_amount(te, at, amounts[at]);
	begin = now_us();
	if (morph_te_solve(te, &opts, NULL))
		wrong(morph_error_text(ctx));
	return now_us() - begin;
}

static void bench_te(struct morph_ctx *ctx)
{
	static struct samples cold, warm;
	static struct mesh mesh;
	double amounts[MESH_DEMANDS], view[MESH_DEMANDS];

	for (uint64_t seed = 1; seed <= MESHES; seed++) {
		struct morph_te *te;

		mesh_make(&mesh, seed);
		te = make_problem(ctx, &mesh);
		for (uint32_t epoch = 0; te && epoch < EPOCHS; epoch++) {
			mesh_epoch(&mesh, seed, epoch, 1, amounts);
			mesh_view(&mesh, seed, epoch, 0, NOISE, amounts, view);
			cold.values[cold.count++] = solve_us(ctx, te, &mesh, amounts, true);
			warm.values[warm.count++] = solve_us(ctx, te, &mesh, view, false);
		}
		morph_te_free(te);
	}
	if (!cold.count)
		return;
	report("traffic of 12 servers, residual 1e-6, cold", &cold, MOST, 5000);
	report("  warm, after 5 % noise", &warm, MOST, 1000);
}

/* Lanes that are wanted of links beyond what they have. */
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

/* What each controller installs: what leaves its own servers. */
static void install(const struct mesh *mesh, uint32_t controller, const double *flows, double *all)
{
	for (uint32_t at = 0; at < mesh->paths_count; at++)
		if (mesh->source[mesh->paths[at].demand] % CONTROLLERS == controller)
			all[at] = flows[at];
}

/* How plans of controllers add up: by linear programs, from nothing and warm, and regularised. */
struct plans {
	double cold[MESH_DEMANDS * MESH_PATHS], warm[MESH_DEMANDS * MESH_PATHS];
	double regular[MESH_DEMANDS * MESH_PATHS];
};

static void plan_epoch(struct morph_ctx *ctx, struct morph_te *te, const struct mesh *mesh,
		       uint64_t seed, uint32_t epoch, void **warm, struct plans *plans)
{
	double amounts[MESH_DEMANDS], view[MESH_DEMANDS], flows[MESH_DEMANDS * MESH_PATHS] = { 0 };

	mesh_epoch(mesh, seed, epoch, LOAD, amounts);
	for (uint32_t controller = 0; controller < CONTROLLERS; controller++) {
		void *cold = oracle_new(mesh);

		mesh_view(mesh, seed, epoch, controller, NOISE, amounts, view);
		if (!cold || !oracle_solve(cold, mesh, view, flows))
			wrong("the oracle has no answer");
		install(mesh, controller, flows, plans->cold);
		oracle_free(cold);
		if (!oracle_solve(warm[controller], mesh, view, flows))
			wrong("the oracle has no answer");
		install(mesh, controller, flows, plans->warm);
		solve_us(ctx, te, mesh, view, false);
		for (uint32_t at = 0; at < mesh->paths_count; at++)
			flows[at] = morph_te_flow(te, at);
		install(mesh, controller, flows, plans->regular);
	}
}

/* How much less is sent than a linear program would, of the same amounts. */
static double throughput_lost(struct morph_ctx *ctx, struct morph_te *te, const struct mesh *mesh,
			      uint64_t seed, uint32_t epoch, void *oracle)
{
	double amounts[MESH_DEMANDS], flows[MESH_DEMANDS * MESH_PATHS] = { 0 };
	double most = 0, sent = 0;

	mesh_epoch(mesh, seed, epoch, LOAD, amounts);
	if (!oracle_solve(oracle, mesh, amounts, flows))
		wrong("the oracle has no answer");
	solve_us(ctx, te, mesh, amounts, false);
	for (uint32_t at = 0; at < mesh->paths_count; at++) {
		most += flows[at];
		sent += morph_te_flow(te, at);
	}
	return most > 0 ? 1 - sent / most : 0;
}

static void report_ratios(const char *name, double ratios[MESHES])
{
	double median;

	qsort(ratios, MESHES, sizeof(*ratios), by_value);
	median = (ratios[MESHES / 2 - 1] + ratios[MESHES / 2]) / 2;
	if (json)
		printf("{\"name\": \"%s\", \"unit\": \"ratio\", \"count\": %d, \"median\": %.3f, "
		       "\"min\": %.3f, \"max\": %.3f, \"bar\": \"median and least\", \"met\": %s}\n",
		       name, MESHES, median, ratios[0], ratios[MESHES - 1],
		       median >= 2.5 && ratios[0] >= 1 ? "true" : "false");
	else
		printf("%-52s %8.2f times, from %.2f to %.2f  median bar 2.5, least bar 1: %s\n",
		       name, median, ratios[0], ratios[MESHES - 1],
		       median >= 2.5 && ratios[0] >= 1 ? "met" : "MISSED");
}

static void bench_overload(struct morph_ctx *ctx)
{
	static struct mesh mesh;
	static struct plans plans;
	double cold[MESHES], warm[MESHES], lost = 0;

	for (uint64_t seed = 1; seed <= MESHES; seed++) {
		void *oracles[CONTROLLERS + 1];
		struct morph_te *te;
		double sums[3] = { 0 };

		mesh_make(&mesh, seed);
		te = make_problem(ctx, &mesh);
		for (uint32_t at = 0; at <= CONTROLLERS; at++)
			oracles[at] = oracle_new(&mesh);
		for (uint32_t epoch = 0; te && epoch < EPOCHS; epoch++) {
			double less =
				throughput_lost(ctx, te, &mesh, seed, epoch, oracles[CONTROLLERS]);

			plan_epoch(ctx, te, &mesh, seed, epoch, oracles, &plans);
			sums[0] += overload(&mesh, plans.cold);
			sums[1] += overload(&mesh, plans.warm);
			sums[2] += overload(&mesh, plans.regular);
			lost = less > lost ? less : lost;
		}
		cold[seed - 1] = sums[0] / sums[2];
		warm[seed - 1] = sums[1] / sums[2];
		for (uint32_t at = 0; at <= CONTROLLERS; at++)
			oracle_free(oracles[at]);
		morph_te_free(te);
	}
	report_ratios("overload, linear program from nothing, over ours", cold);
	report_ratios("overload, linear program warm, over ours", warm);
	if (lost > 0.001)
		wrong("regularised, more than a thousandth of the throughput is lost");
}

/* ----------------------------------------------------------------- bandwidth */

static int ascending(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return (a > b) - (a < b);
}

/* Solve what is in @groups; its bandwidths in ascending order. Whether there is a plan. */
static bool share(struct morph_ctx *ctx, const struct groups *groups, struct samples *samples,
		  uint32_t *sorted)
{
	MORPH_OPTS(morph_bw_result, result);
	struct morph_bw *bw = groups_problem(ctx, groups);
	double begin;

	if (!bw || morph_bw_solve(bw, NULL, NULL))
		wrong(morph_error_text(ctx));
	begin = now_us();
	if (!bw || morph_bw_solve(bw, NULL, &result))
		wrong(morph_error_text(ctx));
	samples->values[samples->count++] = now_us() - begin;
	if (result.verdict == MORPH_UNDECIDED ||
	    (result.verdict == MORPH_FEASIBLE && result.proof != MORPH_BW_LEXIMIN))
		wrong("it was left undecided which bandwidths are the fairest");
	for (uint32_t at = 0; bw && at < groups->groups_count; at++)
		sorted[at] = morph_bw_bandwidth(bw, at);
	qsort(sorted, groups->groups_count, sizeof(*sorted), ascending);
	morph_bw_free(bw);
	return result.verdict == MORPH_FEASIBLE;
}

/* Six groups of 16 accelerators, by filling and by integer programs: @count instances of rings or not. */
static void bench_bandwidth(struct morph_ctx *ctx, const char *name, bool rings,
			    uint32_t wavelengths, uint32_t count)
{
	static struct samples ours, its;
	static struct groups groups;

	ours.count = its.count = 0;
	for (uint64_t seed = 1; seed <= count; seed++) {
		uint32_t mine[GROUPS_COUNT] = { 0 }, best[GROUPS_COUNT] = { 0 };
		bool feasible, exact;
		double begin;

		if (rings)
			groups_rings(&groups, seed, 4, 4, 6, wavelengths, 6, 4);
		else
			groups_irregular(&groups, seed, 16, 24, 6, 4, wavelengths);
		feasible = share(ctx, &groups, &ours, mine);
		begin = now_us();
		exact = exact_bandwidths(&groups, best);
		its.values[its.count++] = now_us() - begin;
		if (feasible != exact || (exact && memcmp(mine, best, sizeof(mine)) != 0))
			wrong("integer programs find other bandwidths");
	}
	report(name, &ours, NO_BAR, 0);
	report("  the same by integer programs", &its, NO_BAR, 0);
}

int main(int argc, char **argv)
{
	struct morph_ctx *ctx;

	json = argc > 4 && !strcmp(argv[4], "--json");
	if (argc != 4 + json) {
		fprintf(stderr,
			"usage: %s POD ANY RACK [--json]: profiles of a pod4096, a pod4096-any and a rack64\n",
			argv[0]);
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	if (!json)
		printf("%-52s %8s %8s %8s %8s\n", "", "mean", "median", "99 %", "most");
	bench_stitch(1, 1, "32 accelerators stitched, 4 fibres", P99, 1000);
	bench_stitch(2, 1, "32 accelerators stitched, 8 fibres", MEAN, 20);
	bench_stitch(1, 2, "32 accelerators stitched, 4 fibres, 2 wavelengths", NO_BAR, 0);
	bench_stitch(1, 4, "32 accelerators stitched, 4 fibres, 4 wavelengths", NO_BAR, 0);
	bench_pod(ctx, argv[1], argv[2]);
	bench_light(ctx, argv[3]);
	bench_defrag(ctx, argv[3]);
	bench_protect(ctx, argv[3]);
	bench_bandwidth(ctx, "6 rings of 16 accelerators, whole fibres", true, 1, 200);
	bench_bandwidth(ctx, "6 irregular groups, whole fibres", false, 1, 200);
	bench_bandwidth(ctx, "6 rings, 2 wavelengths", true, 2, 10);
	bench_bandwidth(ctx, "6 irregular groups, 4 wavelengths", false, 4, 50);
	bench_te(ctx);
	bench_overload(ctx);
	morph_ctx_free(ctx);
	return failures > 0;
}
