// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dispatch of experts' tokens over circuits: the time of each method for finding matchings, and the
 * delay of a change from which a fixed mesh is faster. Public functions plan the fastest method,
 * and the checker carries it out.
 */
#include <math.h>
#include <stdio.h>

#include "../../libmorph/internal/planner.h"
#include "../../libmorph/bench/tokens.h"
#include "../../libmorph/matchings/matrix.h"
#include "planned.h"
#include "repro.h"

#define NAME 96
#define CONDITION 256
#define MATRICES 20

static const struct tokens layer = TOKENS_LAYER;

struct skew {
	const char *what;
	double skew;
};

static const struct skew skews[] = { { "even", 0 }, { "mild", 0.5 }, { "strong", 1 } };

/*
 * A way to send. A mesh has a plane for each other rank, and all planes share the bandwidth of one
 * port.
 */
struct way {
	const char *what;
	/* MATRIX_METHODS: the fastest method with changing circuits, planned by public functions */
	uint32_t method;
	bool packets; /* published in combination with a packet switch for the small rest */
};

static const struct way ways[] = {
	{ "planned", MATRIX_METHODS, false },
	{ "greatest weight first", MATRIX_GREEDY, false },
	{ "rotation", MATRIX_ROTATION, false },
	{ "Solstice", MATRIX_SOLSTICE, true },
	{ "Eclipse", MATRIX_ECLIPSE, true },
	{ "exact decomposition", MATRIX_BIRKHOFF, false },
	{ "mesh that never changes", MATRIX_MESH, false },
};

struct dispatch {
	const struct repro *repro;
	struct planned planned;
	struct matrix_solver *solver;
	uint64_t *bytes; /* of the matrix drawn last */
	double skew;
};

static void draw(struct dispatch *dispatch, uint32_t number)
{
	struct tokens tokens = layer;

	tokens.skew = dispatch->skew;
	tokens_matrix(&tokens, repro_seed(dispatch->repro, number), dispatch->bytes);
}

/* Plan by public functions, and let the checker carry the plan out. */
static double planned_us(struct dispatch *dispatch, uint64_t change_ns)
{
	const struct morph_collective_opts how = { .sz = sizeof(how),
						   .kind = MORPH_ALL_TO_ALL,
						   .algorithm = MORPH_DIRECT,
						   .ranks = layer.ranks,
						   .matrix = dispatch->bytes };
	const struct planned_costs costs = { .change_ns = change_ns,
					     .mbps = TOKENS_MBPS,
					     .ports = 1 };
	uint64_t ns = planned_ns(&dispatch->planned, &how, &costs, MORPH_POLICY_MATCHINGS);

	if (!ns)
		repro_wrong("%s", morph_schedule_why(dispatch->planned.schedule));
	return (double)ns / 1e3;
}

static struct matrix_plan solve(struct dispatch *dispatch, uint32_t method, uint64_t change_ns)
{
	uint32_t planes = method == MATRIX_MESH ? layer.ranks - 1 : 1;
	const struct matrix_problem problem = {
		.ranks = layer.ranks,
		.planes = planes,
		.bytes = dispatch->bytes,
		.costs = { .mbps = TOKENS_MBPS / planes, .change_ps = change_ns * PS_PER_NS },
		.methods = 1U << method,
	};
	struct matrix_plan plan;

	if (lm_matrix_solve(dispatch->solver, &problem, &plan))
		repro_wrong("%s", morph_error_text(dispatch->planned.ctx));
	return plan;
}

/* A mesh is lit at the start. */
static double way_us(struct dispatch *dispatch, uint32_t method, uint64_t change_ns)
{
	if (method == MATRIX_METHODS)
		return planned_us(dispatch, change_ns);
	return (double)solve(dispatch, method, method == MATRIX_MESH ? 0 : change_ns).span_ps / 1e6;
}

/* ---------------------------------------------------------------------- rows */

static uint32_t matrices(const struct dispatch *dispatch)
{
	return dispatch->repro->quick ? MATRICES / 2 : MATRICES;
}

#define DRAWS "the expert of a token is drawn (Zipf), because no trace of tokens is available"

static const char *const draws = DRAWS;
static const char *const no_packets = DRAWS
	"; circuits also carry the traffic that it leaves to a packet switch, because there is none";

static void describe(const struct dispatch *dispatch, char words[CONDITION])
{
	snprintf(
		words, CONDITION,
		"%u ranks of 100 GB/s with %u experts, %u tokens each to %u of them, %u bytes; mean of "
		"%u matrices",
		layer.ranks, layer.experts, layer.tokens, layer.chosen, layer.bytes,
		matrices(dispatch));
}

static void way_row(struct dispatch *dispatch, const struct skew *skew, const struct way *way,
		    uint64_t change_ns)
{
	struct samples spans = { 0 }, loads = { 0 };
	char name[NAME], condition[CONDITION];
	struct row row = { .name = name,
			   .condition = condition,
			   .unit = "us",
			   .baseline_name = "fullest port",
			   .approximation = way->packets ? no_packets : draws };

	for (uint32_t at = 0; at < matrices(dispatch); at++) {
		draw(dispatch, at);
		samples_add(&spans, way_us(dispatch, way->method, change_ns));
		samples_add(&loads, (double)solve(dispatch, MATRIX_ROTATION, 0).load_ps / 1e6);
	}
	snprintf(name, sizeof(name), "experts/%s, change of %g us, %s", skew->what,
		 (double)change_ns / 1e3, way->what);
	describe(dispatch, condition);
	samples_row(&spans, &row);
	row.baseline = samples_mean(&loads);
	row_print(&row);
}

/* The delay from which the mesh is faster, to a percent. */
static double crossing_us(struct dispatch *dispatch)
{
	double mesh = way_us(dispatch, MATRIX_MESH, 0), low = 1, high = 1e9;

	while (high > low * 1.01) {
		double middle = sqrt(low * high);

		if (planned_us(dispatch, (uint64_t)middle) < mesh)
			low = middle;
		else
			high = middle;
	}
	return high / 1e3;
}

static void crossing_row(struct dispatch *dispatch, const struct skew *skew)
{
	struct samples crossings = { 0 };
	char name[NAME], condition[CONDITION];
	struct row row = {
		.name = name, .condition = condition, .unit = "us", .approximation = draws
	};

	for (uint32_t at = 0; at < matrices(dispatch); at++) {
		draw(dispatch, at);
		samples_add(&crossings, crossing_us(dispatch));
	}
	snprintf(name, sizeof(name), "experts/%s, a mesh is faster from a change of", skew->what);
	describe(dispatch, condition);
	samples_row(&crossings, &row);
	row_print(&row);
}

static void skew_rows(struct dispatch *dispatch, const struct skew *skew,
		      const uint64_t changes_ns[2])
{
	dispatch->skew = skew->skew;
	for (size_t change = 0; change < 2; change++)
		for (size_t way = 0; way < sizeof(ways) / sizeof(*ways); way++)
			way_row(dispatch, skew, &ways[way], changes_ns[change]);
	crossing_row(dispatch, skew);
}

int main(int argc, char **argv)
{
	static uint64_t bytes[TOKENS_RANKS * TOKENS_RANKS];
	struct dispatch dispatch = { .bytes = bytes };
	struct repro repro;
	uint64_t changes_ns[2];

	repro_begin(&repro, argc, argv);
	changes_ns[0] = (uint64_t)repro_given(&repro, "reconfiguration_ns");
	changes_ns[1] = (uint64_t)repro_given(&repro, "longer_ns");
	dispatch.repro = &repro;
	planned_begin(&dispatch.planned);
	dispatch.solver = lm_matrix_new(dispatch.planned.ctx);
	if (!dispatch.solver)
		repro_wrong("%s", morph_error_text(dispatch.planned.ctx));
	for (size_t at = 0; at < sizeof(skews) / sizeof(*skews); at++)
		skew_rows(&dispatch, &skews[at], changes_ns);
	lm_matrix_free(dispatch.solver);
	planned_end(&dispatch.planned);
	return 0;
}
