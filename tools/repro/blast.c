// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The effect of one failed controller: the share of all traffic whose tenants the worst controller
 * has. Assignments keep tenants whole, because the failure of a controller affects the whole
 * tenant. The largest tenant and an even share are therefore lower bounds.
 */
#include <math.h>
#include <stdio.h>

#include <morph/plan.h>

#include "../../libmorph/bench/random.h"
#include "../../libmorph/bench/tenants.h"
#include "clusters.h"
#include "repro.h"

#define DRAWS 200
#define TRACE_DRAWS 40
#define ALL 0 /* tenants: all tenants */

/* A case of the bench, or with a tail of 0 a case from a trace. */
struct case_ {
	struct tenants_case of;
	enum trace_set set;
};

static const struct case_ traced[] = {
	{ { 4, 8, 0 }, TRACE_AS_IT_IS },    { { 8, 64, 0 }, TRACE_AS_IT_IS },
	{ { 16, ALL, 0 }, TRACE_AS_IT_IS }, { { 4, 8, 0 }, TRACE_WIDE },
	{ { 8, 64, 0 }, TRACE_WIDE },	    { { 16, ALL, 0 }, TRACE_WIDE },
};

enum way {
	COLOCATED,
	HASHED,
	OURS,
	FLOOR,
	WAYS,
};

/*
 * Tenants are the tasks of the trace that run at the same time, sampled at random. Their weights
 * are their accelerators.
 */
static uint32_t weigh_traced(const struct repro *repro, const struct case_ *this, uint32_t number,
			     uint64_t *random, double *weights)
{
	static struct replay replay;
	static struct racks racks;
	uint32_t tenants = 0, wanted;

	cluster_replay_aligned(repro, number, this->set, &replay, &racks);
	for (uint32_t at = 0; at < racks.slices_count; at++)
		if (!racks.slices[at].gone)
			weights[tenants++] = net_count(racks.slices[at].sites);
	wanted = this->of.tenants == ALL ? tenants : this->of.tenants;
	for (uint32_t at = 0; at < wanted; at++) {
		uint32_t other = at + random_below(random, tenants - at);
		double kept = weights[at];

		weights[at] = weights[other];
		weights[other] = kept;
	}
	return wanted;
}

static void draw(const struct repro *repro, struct morph_ctx *ctx, const struct case_ *this,
		 uint32_t number, struct samples shares[WAYS])
{
	static double weights[TENANTS];
	static uint32_t controller[TENANTS];
	struct tenants_case of = this->of;
	uint64_t seed = repro_seed(repro, number), random = seed;
	double total, floor;

	if (of.tail > 0) {
		total = tenants_draw(&of, &random, weights);
		floor = tenants_bound(&of, weights, total);
	} else {
		of.tenants = weigh_traced(repro, this, number, &random, weights);
		total = tenants_sort(weights, of.tenants);
		/* In a trace, all tenants weigh whole servers. */
		floor = ceil(tenants_bound(&of, weights, total));
	}
	for (uint32_t at = 0; at < of.tenants; at++)
		controller[at] = at * of.controllers / of.tenants;
	samples_add(&shares[COLOCATED], tenants_worst(&of, weights, controller) / total);
	for (uint32_t at = 0; at < of.tenants; at++)
		controller[at] = random_below(&random, of.controllers);
	samples_add(&shares[HASHED], tenants_worst(&of, weights, controller) / total);
	if (morph_slicing_assign(ctx, weights, of.tenants, of.controllers, seed, NULL, controller,
				 NULL))
		repro_wrong("%s", morph_error_text(ctx));
	samples_add(&shares[OURS], tenants_worst(&of, weights, controller) / total);
	samples_add(&shares[FLOOR], floor / total);
}

/* Prefix of a case's rows, and the condition that they name. */
struct words {
	char name[96], condition[512];
};

static void say(const struct case_ *this, uint32_t draws, struct samples shares[WAYS],
		struct words *words)
{
	bool is_traced = this->of.tail <= 0;
	char tenants[32] = "all", weights[192];

	if (this->of.tenants != ALL)
		snprintf(tenants, sizeof(tenants), "%u", this->of.tenants);
	snprintf(words->name, sizeof(words->name), "blast-radius%s/%s%s%u controllers, %s tenants",
		 is_traced ? "-trace" : "", is_traced ? trace_names[this->set] : "",
		 is_traced ? ", " : "", this->of.controllers, tenants);
	if (is_traced)
		snprintf(weights, sizeof(weights), "weighted by their number of servers: %s",
			 trace_words[this->set]);
	else
		snprintf(weights, sizeof(weights), "of exponent %g", this->of.tail);
	snprintf(
		words->condition, sizeof(words->condition),
		"%u controllers, %s tenants %s, %u draws: share of traffic that the worst failure "
		"affects; heavy tenants together %.3f, lower bound (largest tenant or even share%s) "
		"%.3f",
		this->of.controllers, tenants, weights, draws, samples_mean(&shares[COLOCATED]),
		is_traced ? ", in whole servers" : "", samples_mean(&shares[FLOOR]));
}

/* The worst of all draws, and the range of the worst draws of PARTS parts. */
#define PARTS 5

static void worst_row(const struct samples *over, const char *name, const char *condition,
		      const char *approximation)
{
	char words[160];
	struct row row = {
		.name = words,
		.condition = condition,
		.unit = "times the lower bound",
		.interval = "worst draws of each fifth",
		.low = INFINITY,
		.ours = samples_max(over),
		.high = samples_max(over),
		.approximation = approximation,
	};

	snprintf(words, sizeof(words), "%s, relative to the lower bound, worst draw", name);
	for (uint32_t part = 0; part < PARTS; part++) {
		struct samples some = { 0 };

		for (uint32_t at = part; at < over->count; at += PARTS)
			samples_add(&some, over->values[at]);
		row.low = fmin(row.low, samples_max(&some));
	}
	row_print(&row);
}

static void print_rows(const struct case_ *this, uint32_t draws, struct samples shares[WAYS])
{
	struct samples cut = { 0 };
	struct words words = { 0 };
	char name[160];
	struct row row = {
		.name = words.name,
		.condition = words.condition,
		.unit = "share of traffic",
		.baseline_name = "by a hash",
		.baseline = samples_mean(&shares[HASHED]),
		.approximation =
			this->of.tail > 0 ?
				"weights of tenants and the slicing of the original are not published: "
				"whole tenants, Lomax weights" :
				"the slicing of the original is not published: whole tenants; " TRACE_APPROXIMATION,
	};

	say(this, draws, shares, &words);
	for (uint32_t at = 0; at < draws; at++)
		samples_add(&cut, 1 - shares[OURS].values[at] / shares[COLOCATED].values[at]);
	samples_row(&shares[OURS], &row);
	row_print(&row);
	row.name = name;
	snprintf(name, sizeof(name), "%s, relative to the lower bound", words.name);
	row.unit = "times the lower bound";
	for (uint32_t at = 0; at < draws; at++)
		shares[OURS].values[at] /= shares[FLOOR].values[at];
	samples_row(&shares[OURS], &row);
	row.baseline_name = NULL;
	row_print(&row);
	worst_row(&shares[OURS], words.name, words.condition, row.approximation);
	snprintf(name, sizeof(name), "%s, reduction from heavy tenants together", words.name);
	row.unit = "share of the blast radius";
	row.baseline_name = "heavy tenants together";
	row.baseline = 0;
	samples_row(&cut, &row);
	row_print(&row);
}

static void case_rows(const struct repro *repro, struct morph_ctx *ctx, uint32_t number)
{
	const struct case_ drawn = { tenants_cases[number % TENANTS_CASES], TRACE_SETS };
	const struct case_ *this = number < TENANTS_CASES ? &drawn :
							    &traced[number - TENANTS_CASES];
	uint32_t draws = this->of.tail > 0 ? DRAWS : TRACE_DRAWS;
	struct samples shares[WAYS] = { 0 };

	if (repro->quick)
		draws /= 5;
	for (uint32_t at = 0; at < draws; at++)
		draw(repro, ctx, this, 1000 * number + at, shares);
	print_rows(this, draws, shares);
}

int main(int argc, char **argv)
{
	struct morph_ctx *ctx;
	struct repro repro;

	cluster_begin(&repro, argc, argv);
	if (morph_ctx_new(NULL, &ctx))
		repro_wrong("cannot create a context");
	for (uint32_t at = 0; at < TENANTS_CASES + sizeof(traced) / sizeof(*traced); at++)
		case_rows(&repro, ctx, at);
	morph_ctx_free(ctx);
	return 0;
}
