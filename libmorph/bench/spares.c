// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The value of spares: how often one takes over with its light, from which position, beside the
 * losses of other policies, and with how much bandwidth. One seed gives all figures, as a table, or
 * with --json as one object in each line. A figure has no bar and fails nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../internal/planner.h"
#include "figures.h"
#include "lets.h"

#define TRACED_RACKS 8
#define QUICK_AGREEMENT 5 /* replications instead of 20 */
#define CONDITION(down)                                                                       \
	(bench.quick ?                                                                        \
		 "rack64 full, 8 spares, 12 failures from the first layout on; down: " down : \
		 "rack64 full, 8 spares, 60 failures from the first layout on; down: " down)

#define RANGES 3
#define SERVER 4 /* accelerators */

/* Spares of rack64: four of one spare server, or two of each. */
static const uint32_t one_server[SERVER] = { 64, 65, 66, 67 },
		      two_servers[SERVER] = { 64, 65, 68, 69 };

/* ----------------------------------------------------------------- coverage */

/* Division of a rack into slices. */
static const struct tenancy {
	const char *name;
	uint32_t extent[3];
} tenancies[] = {
	{ "one 4x4x4 torus", { 4, 4, 4 } },
	{ "two 2x4x4 tori", { 2, 4, 4 } },
	{ "four 2x2x4 tori", { 2, 2, 4 } },
	{ "16 slices of 2x2x1", { 2, 2, 1 } },
};

static void let(struct morph_coverage *coverage, const struct tenancy *tenancy)
{
	struct tori_box box = { 0 };

	memcpy(box.extent, tenancy->extent, sizeof(box.extent));
	for (box.at[2] = 0; box.at[2] < TORI_SIDE; box.at[2] += box.extent[2])
		for (box.at[1] = 0; box.at[1] < TORI_SIDE; box.at[1] += box.extent[1])
			for (box.at[0] = 0; box.at[0] < TORI_SIDE; box.at[0] += box.extent[0])
				check(tori_light(coverage, &box));
}

static const char simulated[] = "assumed rates and shared parts; budget of 4096 steps";

static void report_coverage(const struct morph_coverage_result *result, const char *what,
			    const char *condition)
{
	const struct row row = {
		.condition = condition,
		.ours = estimated(&result->covered),
		.baseline = result->counted.mean,
		.unit = "share of failures replaced",
		.versus = "by number alone",
		.approximation = simulated,
	};
	const struct row left = {
		.condition = condition,
		.ours = estimated(&result->bandwidth),
		.baseline = NAN,
		.unit = "share of lanes lit",
		.approximation = simulated,
	};

	report(&row, "replaced, %s", what);
	report(&left, "lanes lit, %s", what);
}

static void simulate(struct morph_coverage *coverage, bool revertive, const char *what,
		     const char *condition)
{
	struct morph_coverage_result result = run_rack(coverage, revertive);
	char name[96];

	snprintf(name, sizeof(name), "%s, %s", what, revertive ? "revertive" : "not revertive");
	report_coverage(&result, name, condition);
}

/* Accelerators are down for 2 % of the time; nothing else fails. */
static void bench_coverage(void)
{
	for (size_t at = 0; at < sizeof(tenancies) / sizeof(tenancies[0]); at++) {
		struct morph_coverage *coverage = new_rack("rack64");

		let(coverage, &tenancies[at]);
		fails(coverage, MORPH_COVERAGE_ACCELERATOR, 0.02);
		for (int revertive = 1; revertive >= 0; revertive--)
			simulate(coverage, revertive, tenancies[at].name,
				 CONDITION("accelerators 2 %"));
		morph_coverage_free(coverage);
	}
}

/* Means of single racks that run jobs of the trace. */
struct traced {
	double covered[TRACED_RACKS], counted[TRACED_RACKS], lit[TRACED_RACKS];
};

static void simulate_traced(enum trace_set set, bool revertive, uint32_t number,
			    struct traced *traced)
{
	struct morph_coverage *coverage = new_rack("rack64");
	struct morph_coverage_result result;
	uint32_t slice[TORI_CHIPS];
	static struct racks racks;

	let_racks(&racks, set, number);
	let_rack(coverage, &racks, let_rack_of(&racks, number), slice);
	fails(coverage, MORPH_COVERAGE_ACCELERATOR, 0.02);
	result = run_rack(coverage, revertive);
	morph_coverage_free(coverage);
	traced->covered[number] = result.covered.mean;
	traced->counted[number] = result.counted.mean;
	traced->lit[number] = result.bandwidth.mean;
}

static void bench_traced_coverage(enum trace_set set, bool revertive)
{
	uint32_t count = bench.quick ? TRACED_RACKS / 4 : TRACED_RACKS;
	struct traced traced;
	char condition[384];
	struct row row = {
		.condition = condition,
		.unit = "share of failures replaced",
		.versus = "by number alone",
		.approximation = TRACE_APPROXIMATION
		"; assumed rates and shared parts; budget of 4096 steps",
	};

	for (uint32_t number = 0; number < count; number++)
		simulate_traced(set, revertive, number, &traced);
	snprintf(condition, sizeof(condition),
		 "%u racks, 8 spares: %s; %d times %d failures of each; down: accelerators 2 %%",
		 count, trace_words[set], bench.quick ? QUICK_REPLICATIONS : REPLICATIONS,
		 bench.quick ? QUICK_FAILURES : FAILURES);
	row.ours = averaged(traced.covered, count);
	row.baseline = averaged(traced.counted, count).mean;
	report(&row, "replaced, %s, %s", trace_names[set],
	       revertive ? "revertive" : "not revertive");
	row.ours = averaged(traced.lit, count);
	row.baseline = NAN;
	row.versus = NULL;
	row.unit = "share of lanes lit";
	report(&row, "lanes lit, %s, %s", trace_names[set],
	       revertive ? "revertive" : "not revertive");
}

static double part(const char *name)
{
	return given_number(&bench.given, name);
}

static void fail_all(struct morph_coverage *coverage)
{
	fails(coverage, MORPH_COVERAGE_ACCELERATOR, 0.015);
	fails(coverage, MORPH_COVERAGE_LASER, part("laser"));
	fails(coverage, MORPH_COVERAGE_SERVER, part("server"));
	fails(coverage, MORPH_COVERAGE_SUPPLY, part("supply"));
	fails(coverage, MORPH_COVERAGE_BUNDLE, part("bundle"));
	for (uint32_t level = 0; level < TORI_SIDE; level++) {
		const uint32_t hosts[] = { 4 * level, 4 * level + 1, 4 * level + 2, 4 * level + 3 };

		check(morph_coverage_add_supply(coverage, hosts, TORI_SIDE));
	}
}

/* Accelerators, lasers, servers, the supplies of four servers, and bundles of fibres. */
static void bench_nested(void)
{
	for (size_t at = 0; at < 2; at++) {
		struct morph_coverage *coverage = new_rack("rack64");
		char name[64], condition[256];

		let(coverage, &tenancies[at]);
		fail_all(coverage);
		snprintf(name, sizeof(name), "all parts fail, %s", tenancies[at].name);
		snprintf(
			condition, sizeof(condition),
			"%s, lasers of a port %g %%, servers %g %%, supplies of four servers %g %%, "
			"bundles %g %%",
			CONDITION("accelerators 1.5 %"), 100 * part("laser"), 100 * part("server"),
			100 * part("supply"), 100 * part("bundle"));
		simulate(coverage, true, name, condition);
		morph_coverage_free(coverage);
	}
}

/* The published ranges of shares of time: names and means. */
struct range {
	char name[32];
	double mean;
};

static struct range range_of(uint32_t number)
{
	struct range range;
	char name[32];
	double least, most;

	snprintf(name, sizeof(name), "down_%u_least", number + 1);
	least = given_number(&bench.given, name);
	snprintf(name, sizeof(name), "down_%u_most", number + 1);
	most = given_number(&bench.given, name);
	range.mean = (least + most) / 2;
	snprintf(range.name, sizeof(range.name), "%g-%g %%", 100 * least, 100 * most);
	return range;
}

/* Exact share of time with more failed accelerators than spares: of 64 and these. */
static double short_of(uint32_t spares, double share, double whole)
{
	struct morph_risk *risk = morph_risk_new(bench.ctx);
	double short_of;

	if (!risk)
		die();
	for (uint32_t left = TORI_CHIPS + spares, count; left; left -= count) {
		count = left < SERVER ? left : SERVER;
		check(morph_risk_add_server(risk, count, share, whole));
	}
	check(morph_risk_solve(risk));
	short_of = morph_risk_at_least(risk, spares + 1);
	morph_risk_free(risk);
	return short_of;
}

/* The published condition: four spares, and accelerators that are down this often. */
static void bench_published(const uint32_t spares[SERVER], const char *which,
			    const struct range *range)
{
	struct morph_coverage *coverage = new_rack("rack64");
	struct morph_coverage_result result;
	struct figure covered;
	char published[64];

	check(tori_light(coverage, &whole_rack));
	check(morph_coverage_set_spares(coverage, spares, SERVER));
	fails(coverage, MORPH_COVERAGE_ACCELERATOR, range->mean);
	result = run_rack(coverage, true);
	morph_coverage_free(coverage);
	covered.mean = 1 - result.waiting.mean;
	covered.low = 1 - result.waiting.high;
	covered.high = 1 - result.waiting.low;
	snprintf(published, sizeof(published), "published: above %g in most cases",
		 given_number(&bench.given, "covered"));
	report(
		&(const struct row){
			.condition =
				"rack64, a 4x4x4 torus, the mean of the range for all, revertive",
			.ours = covered,
			.baseline = 1 - short_of(SERVER, range->mean, 0),
			.unit = "share of time covered",
			.versus = "by number alone, exact",
			.approximation = published,
		},
		"time covered by 4 spares %s, down %s", which, range->name);
}

static void bench_four_spares(void)
{
	for (uint32_t number = 0; number < RANGES; number++) {
		struct range range = range_of(number);

		bench_published(one_server, "of one server", &range);
		bench_published(two_servers, "of two servers", &range);
	}
}

/* ---------------------------------------------------------------- agreement */

/*
 * Where routes never limit, the simulation must agree with the exact share: the time during which a
 * rank of a ring over all 64 has no accelerator.
 */
static void agree(uint32_t spares, double share, double whole, const char *condition,
		  const char *name)
{
	static const uint32_t numbers[] = { 64, 65, 66, 67, 68, 69, 70, 71 };
	struct morph_coverage *coverage = new_rack("rack64");
	MORPH_OPTS(morph_coverage_opts, opts, .seed = bench.seed,
		   .replications = bench.quick ? QUICK_AGREEMENT : 0);
	MORPH_OPTS(morph_coverage_result, result);

	check(tori_light_ring(coverage));
	check(morph_coverage_set_spares(coverage, numbers, spares));
	fails(coverage, MORPH_COVERAGE_ACCELERATOR, share);
	if (whole > 0)
		fails(coverage, MORPH_COVERAGE_SERVER, whole);
	check(morph_coverage_run(coverage, &opts, &result));
	morph_coverage_free(coverage);
	report(
		&(const struct row){
			.condition = condition,
			.ours = estimated(&result.waiting),
			.baseline = short_of(spares, share, whole),
			.unit = "share of time",
			.versus = "exact",
		},
		"%s", name);
}

/* The number of spares that suffice by number. Spares can fail too. */
static uint32_t enough_spares(double share, double covered)
{
	uint32_t spares = 0;

	while (short_of(spares, share, 0) > 1 - covered)
		spares++;
	return spares;
}

static void bench_agreement(void)
{
	double covered = given_number(&bench.given, "covered");
	char name[128], condition[192];

	snprintf(condition, sizeof(condition),
		 "rack64, a ring of one lane, 4 spares, accelerators down 2 %%, servers %g %%",
		 100 * part("server"));
	agree(SERVER, 0.02, part("server"), condition,
	      "time without a spare, simulated, where routes do not bind");
	for (uint32_t number = 0; number < RANGES; number++) {
		struct range range = range_of(number);
		uint32_t spares = enough_spares(range.mean, covered);

		snprintf(name, sizeof(name),
			 "time without a spare of %u, down %s, simulated, where routes do not bind",
			 spares, range.name);
		snprintf(
			condition, sizeof(condition),
			"rack64, a ring of one lane, as many spares as are enough for %g %% of the time "
			"by number, accelerators down %g %%, the mean of the range",
			100 * covered, 100 * range.mean);
		agree(spares, range.mean, 0, condition, name);
	}
}

/* ------------------------------------------------------------------ program */

static int usage(const char *program)
{
	fprintf(stderr,
		"usage: %s [--json] [--quick] [--seed N] [--profiles DIRECTORY] --trace FILE "
		"NAME=VALUE...\n",
		program);
	return 2;
}

/* Options, then published numbers. Returns whether they are valid. */
static bool read_arguments(int argc, char **argv)
{
	const char *trace = NULL;
	int at;

	for (at = 1; at < argc && !strncmp(argv[at], "--", 2); at++) {
		if (!strcmp(argv[at], "--json"))
			bench.json = true;
		else if (!strcmp(argv[at], "--quick"))
			bench.quick = true;
		else if (!strcmp(argv[at], "--seed") && at + 1 < argc)
			bench.seed = strtoull(argv[++at], NULL, 0);
		else if (!strcmp(argv[at], "--profiles") && at + 1 < argc)
			bench.profiles = argv[++at];
		else if (!strcmp(argv[at], "--trace") && at + 1 < argc)
			trace = argv[++at];
		else
			return false;
	}
	given_begin(&bench.given, "spares", argc - at, argv + at);
	trace_begin(&bench.trace, trace, &bench.given);
	return true;
}

int main(int argc, char **argv)
{
	if (!read_arguments(argc, argv))
		return usage(argv[0]);
	if (morph_ctx_new(NULL, &bench.ctx))
		return 1;
	if (!bench.json)
		printf("%-68s %8s  %20s %8s\n", "", "ours", "95 % interval    ", "baseline");
	bench.figure = "coverage";
	bench_coverage();
	bench_nested();
	bench_four_spares();
	bench_agreement();
	bench_positions();
	bench_overprovisioning(TRACE_SETS);
	bench_one_failure(TRACE_SETS);
	for (enum trace_set set = 0; set < TRACE_SETS; set++) {
		bench.figure = "coverage-trace";
		bench_traced_coverage(set, true);
		bench_traced_coverage(set, false);
		bench_overprovisioning(set);
		bench_one_failure(set);
	}
	morph_ctx_free(bench.ctx);
	return 0;
}
