// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the failure of one controller touches: the share of all traffic whose tenants the worst
 * one has. Whole tenants are assigned, as a controller's failure would else hurt all of them;
 * so the largest tenant, and an even share, are a floor.
 */
#include <stdio.h>

#include <morph/morph.h>

#include "../../libmorph/bench/random.h"
#include "../../libmorph/bench/tenants.h"
#include "repro.h"

#define DRAWS 200

enum way {
	COLOCATED,
	HASHED,
	OURS,
	FLOOR,
	WAYS,
};

static void draw(struct morph_ctx *ctx, const struct tenants_case *this, uint64_t seed,
		 struct samples shares[WAYS])
{
	static double weights[TENANTS];
	static uint32_t controller[TENANTS];
	uint32_t tenants = this->tenants, controllers = this->controllers;
	uint64_t random = seed;
	double total = tenants_draw(this, &random, weights);

	for (uint32_t at = 0; at < tenants; at++)
		controller[at] = at * controllers / tenants;
	samples_add(&shares[COLOCATED], tenants_worst(this, weights, controller) / total);
	for (uint32_t at = 0; at < tenants; at++)
		controller[at] = random_below(&random, controllers);
	samples_add(&shares[HASHED], tenants_worst(this, weights, controller) / total);
	if (morph_slicing_assign(ctx, weights, tenants, controllers, seed, NULL, controller, NULL))
		repro_wrong("%s", morph_error_text(ctx));
	samples_add(&shares[OURS], tenants_worst(this, weights, controller) / total);
	samples_add(&shares[FLOOR], tenants_floor(this, weights, total) / total);
}

static void case_rows(const struct repro *repro, struct morph_ctx *ctx, uint32_t number)
{
	const struct tenants_case *this = &tenants_cases[number];
	uint32_t draws = repro->quick ? DRAWS / 5 : DRAWS;
	struct samples shares[WAYS] = { 0 }, cut = { 0 };
	char name[96], condition[384];
	struct row row = {
		.name = name,
		.condition = condition,
		.unit = "share of traffic",
		.baseline_name = "by a hash",
		.approximation =
			"weights of tenants and the slicing of the original are not published: "
			"whole tenants, Lomax weights",
	};

	for (uint32_t at = 0; at < draws; at++)
		draw(ctx, this, repro_seed(repro, 1000 * number + at), shares);
	for (uint32_t at = 0; at < draws; at++)
		samples_add(&cut, 1 - shares[OURS].values[at] / shares[COLOCATED].values[at]);
	snprintf(
		condition, sizeof(condition),
		"%u controllers, %u tenants of exponent %g, %u draws: share that the worst failure "
		"touches; heavy tenants together %.3f, floor (largest tenant or even share) %.3f",
		this->controllers, this->tenants, this->tail, draws,
		samples_mean(&shares[COLOCATED]), samples_mean(&shares[FLOOR]));
	snprintf(name, sizeof(name), "blast-radius/%u controllers, %u tenants", this->controllers,
		 this->tenants);
	samples_row(&shares[OURS], &row);
	row.baseline = samples_mean(&shares[HASHED]);
	row_print(&row);
	snprintf(name, sizeof(name), "blast-radius/%u controllers, %u tenants, over the floor",
		 this->controllers, this->tenants);
	row.unit = "times the floor";
	for (uint32_t at = 0; at < draws; at++)
		shares[OURS].values[at] /= shares[FLOOR].values[at];
	samples_row(&shares[OURS], &row);
	row.baseline_name = NULL;
	row_print(&row);
	snprintf(name, sizeof(name), "blast-radius/%u controllers, %u tenants, less than together",
		 this->controllers, this->tenants);
	row.unit = "share of the blast radius cut";
	row.baseline_name = "heavy tenants together";
	row.baseline = 0;
	samples_row(&cut, &row);
	row_print(&row);
}

int main(int argc, char **argv)
{
	struct morph_ctx *ctx;
	struct repro repro;

	repro_begin(&repro, argc, argv);
	if (morph_ctx_new(NULL, &ctx))
		repro_wrong("there is no context");
	for (uint32_t at = 0; at < TENANTS_CASES; at++)
		case_rows(&repro, ctx, at);
	morph_ctx_free(ctx);
	return 0;
}
