// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Spares for slices of a rack: tori that fill it to about 70 %. More fibres are lit, so that some
 * ranks have a near spare and others no reachable one. Deterministic for a seed.
 */
#include "../internal/planner.h"
#include "../internal/request.h"
#include "../protect/protect.h"
#include "bench.h"
#include "random.h"

#define ROUNDS 200
#define SLICES 8
#define HELD 45 /* accelerators, of 64 */

static const uint8_t shapes[][3] = { { 2, 2, 1 }, { 4, 1, 1 }, { 2, 2, 2 },
				     { 4, 4, 1 }, { 2, 2, 4 }, { 2, 4, 4 } };

struct rack_of_slices {
	struct morph_ctx *ctx;
	struct morph_ledger *ledger;
	struct morph_request *request;
	struct morph_plan *plans[SLICES];
	struct morph_protection *protection;
	uint32_t count, verdicts[4], reasons[3];
	uint64_t random;
};

static void fill(struct rack_of_slices *rack, uint32_t percent)
{
	const struct sites *sites = &rack->ledger->sites;
	uint32_t held = 0;

	for (uint32_t at = 0; at < sites->graph->accelerators_count; at++)
		morph_ledger_hold(rack->ledger, at, 0);
	for (uint32_t at = 0; at < sites->strands_count; at++)
		morph_ledger_load(rack->ledger, sites->strands[at].guides[0] >> 1,
				  random_below(&rack->random, 100) < percent);
	rack->count = 0;
	for (uint32_t tries = 0; tries < SLICES && held < HELD; tries++) {
		const uint8_t *shape = shapes[random_below(&rack->random, ARRAY_SIZE(shapes))];
		struct morph_plan *plan = rack->plans[rack->count];

		if (morph_request_set_shape(rack->request, MORPH_SHAPE_TORUS, shape[0], shape[1],
					    shape[2]) ||
		    morph_place(rack->ledger, rack->request, plan))
			wrong(morph_error_text(rack->ctx));
		if (morph_plan_verdict(plan) != MORPH_FEASIBLE)
			continue;
		if (morph_ledger_take(rack->ledger, plan, ++rack->count))
			wrong(morph_error_text(rack->ctx));
		held += plan->ranks;
	}
}

/* A sample is the time of a rank: that of its slice divided by its ranks. */
static void protect(struct rack_of_slices *rack, struct samples *samples)
{
	const struct morph_protection *protection = rack->protection;

	for (uint32_t at = 0; at < rack->count && samples->count < STATES; at++) {
		double begin = now_us();

		if (morph_protect(rack->ledger, rack->plans[at], rack->protection))
			wrong(morph_error_text(rack->ctx));
		samples->values[samples->count++] = (now_us() - begin) / rack->plans[at]->ranks;
		for (uint32_t rank = 0; rank < protection->ranks_count; rank++)
			rack->verdicts[protection->ranks[rank].verdict]++;
		for (uint32_t it = 0; it < protection->refusals.count; it++)
			rack->reasons[protection->refusals.list[it].reason]++;
	}
}

static void run(struct rack_of_slices *rack, uint32_t percent, const char *name)
{
	static struct samples samples;

	samples.count = 0;
	memset(rack->verdicts, 0, sizeof(rack->verdicts));
	memset(rack->reasons, 0, sizeof(rack->reasons));
	rack->random = 1;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		fill(rack, percent);
		protect(rack, &samples);
	}
	report(name, &samples, NO_BAR, 0);
	remark("%u ranks protected, %u not, %u undecided; %u spares by cuts, %u searched",
	       rack->verdicts[MORPH_FEASIBLE], rack->verdicts[MORPH_INFEASIBLE],
	       rack->verdicts[MORPH_UNDECIDED], rack->reasons[MORPH_WIRE_SPARE_CUT],
	       rack->reasons[MORPH_WIRE_SPARE_SEARCHED]);
}

void bench_protect(struct morph_ctx *ctx, const char *profile)
{
	struct rack_of_slices rack = { .ctx = ctx };
	struct morph_model *model = NULL;

	rack.request = morph_request_new(ctx);
	rack.protection = morph_protection_new(ctx);
	if (rack.request) /* placement is not measured here */
		morph_request_set_budget(rack.request, 256);
	for (uint32_t at = 0; at < SLICES; at++)
		rack.plans[at] = morph_plan_new(ctx);
	if (!rack.request || !rack.protection || !rack.plans[SLICES - 1] ||
	    morph_model_load(ctx, profile, &model) || morph_ledger_new(ctx, model, &rack.ledger)) {
		wrong(morph_error_text(ctx));
		return;
	}
	run(&rack, 0, "a spare for each rank of slices in a rack");
	run(&rack, 50, "a spare for each rank, half of the fibres lit");
	for (uint32_t at = 0; at < SLICES; at++)
		morph_plan_free(rack.plans[at]);
	morph_protection_free(rack.protection);
	morph_request_free(rack.request);
	morph_ledger_free(rack.ledger);
	morph_model_put(model);
}
