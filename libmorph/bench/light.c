// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Paths inside servers for slices that come and go in a rack: tori of 2 to 32 accelerators with
 * equal probability. Lit circuits hold guides and elements until their slice ends, as in the
 * driver. Deterministic for a seed.
 */
#include <stdlib.h>

#include "../client/internal.h"
#include "../internal/planner.h"
#include "../internal/client.h"
#include "../place/place.h"
#include "bench.h"
#include "random.h"

#define RACK 64 /* accelerators without spares */
#define EVENTS 2000

static const uint8_t shapes[][3] = { { 2, 1, 1 }, { 2, 2, 1 }, { 4, 1, 1 }, { 3, 2, 1 },
				     { 2, 2, 2 }, { 3, 3, 1 }, { 4, 4, 1 }, { 2, 2, 4 },
				     { 2, 2, 3 }, { 2, 4, 4 } };

struct tenant {
	struct morph_plan *plan;
	struct morph_txn *txn;
};

struct rack_of_slices {
	struct morph_ctx *ctx;
	struct morph_ledger *ledger;
	struct morph_request *request;
	struct tenant tenants[RACK];
	uint32_t live, held, lit, stuck, unlit;
	uint64_t random;
};

/* Pin the element between two guides of a path in the state that joins them, or release it. */
static void hold_element(struct optics_state *state, uint32_t guide, uint32_t next, bool hold)
{
	const struct optics_graph *graph = state->graph;

	for (uint32_t ends = 0; ends < 4; ends++) {
		const struct optics_end *in = &graph->guides[guide].end[ends & 1];
		const struct optics_end *out = &graph->guides[next].end[ends >> 1];
		uint32_t at = 0;

		if (in->type != MORPH_END_ELEMENT || out->type != MORPH_END_ELEMENT ||
		    in->index != out->index)
			continue;
		while (optics_joined(graph, in->index, at, in->port) != out->port)
			at++;
		if (hold)
			optics_set_state(state, in->index, at);
		state->element_pins[in->index] += hold ? 1 : UINT32_MAX;
		return;
	}
}

static void hold_circuits(struct morph_ledger *ledger, const struct morph_txn *txn, bool hold)
{
	for (uint32_t at = 0; at < txn->count; at++) {
		const struct morph_change *change = &txn->changes[at];
		const uint32_t *guides = (const void *)(uintptr_t)change->guides.ptr;

		for (uint32_t hop = 0; hop < change->guides.count; hop++) {
			if (hold)
				ledger->guide_lanes[guides[hop]] |= change->lanes;
			else
				ledger->guide_lanes[guides[hop]] &= ~change->lanes;
			if (hop)
				hold_element(ledger->state, guides[hop - 1], guides[hop], hold);
		}
	}
}

static void leave(struct rack_of_slices *rack, uint32_t most)
{
	while (rack->live && rack->held > most) {
		uint32_t at = random_below(&rack->random, rack->live);
		struct tenant tenant = rack->tenants[at];

		hold_circuits(rack->ledger, tenant.txn, false);
		for (uint32_t rank = 0; rank < morph_plan_ranks(tenant.plan); rank++)
			morph_ledger_hold(rack->ledger, morph_plan_accelerator(tenant.plan, rank),
					  0);
		rack->held -= morph_plan_ranks(tenant.plan);
		morph_txn_clear(tenant.txn);
		rack->tenants[at] = rack->tenants[--rack->live];
		rack->tenants[rack->live] = tenant;
	}
}

/* Add a slice and light it if possible. */
static void come(struct rack_of_slices *rack, struct samples *samples)
{
	const uint8_t *shape = shapes[random_below(&rack->random, ARRAY_SIZE(shapes))];
	struct tenant *tenant = &rack->tenants[rack->live];
	double begin;
	int error;

	if (morph_request_set_shape(rack->request, MORPH_SHAPE_TORUS, shape[0], shape[1],
				    shape[2]) ||
	    morph_place(rack->ledger, rack->request, tenant->plan))
		wrong(morph_error_text(rack->ctx));
	if (morph_plan_verdict(tenant->plan) != MORPH_FEASIBLE)
		return;
	begin = now_us();
	error = morph_txn_add_plan(tenant->txn, tenant->plan, rack->ledger);
	samples->values[samples->count++] = now_us() - begin;
	if (error == -EBUSY) {
		rack->stuck++;
		error = morph_txn_place(tenant->txn, rack->ledger, rack->request, tenant->plan);
	}
	if (error) {
		rack->unlit++;
		return;
	}
	hold_circuits(rack->ledger, tenant->txn, true);
	for (uint32_t rank = 0; rank < morph_plan_ranks(tenant->plan); rank++)
		morph_ledger_hold(rack->ledger, morph_plan_accelerator(tenant->plan, rank), 1);
	rack->held += morph_plan_ranks(tenant->plan);
	rack->live++;
	rack->lit++;
}

static void churn(struct rack_of_slices *rack, uint32_t percent, const char *name)
{
	static struct samples samples;

	samples.count = 0;
	rack->lit = rack->stuck = rack->unlit = 0;
	rack->random = 1;
	while (samples.count < EVENTS) {
		leave(rack, RACK * percent / 100);
		come(rack, &samples);
	}
	report(name, &samples, NO_BAR, 0);
	remark("%u lit; %u without ways inside servers, %u by any plan", rack->lit, rack->stuck,
	       rack->unlit);
	leave(rack, 0);
}

void bench_light(struct morph_ctx *ctx, const char *profile)
{
	struct rack_of_slices *rack = calloc(1, sizeof(*rack));
	struct morph_model *model = NULL;
	bool made = rack && !morph_model_load(ctx, profile, &model) &&
		    !morph_ledger_new(ctx, model, &rack->ledger) && !lm_ledger_state(rack->ledger);

	if (made) {
		rack->ctx = ctx;
		rack->request = morph_request_new(ctx);
		made = rack->request;
		for (uint32_t at = 0; at < RACK; at++) {
			rack->tenants[at].plan = morph_plan_new(ctx);
			rack->tenants[at].txn = morph_txn_new(ctx);
			made &= rack->tenants[at].plan && rack->tenants[at].txn;
		}
	}
	if (made) {
		churn(rack, 70, "ways inside servers of a slice in a rack, 70 % held");
		churn(rack, 95, "ways inside servers of a slice in a rack, 95 % held");
	} else {
		wrong(profile);
	}
	for (uint32_t at = 0; rack && at < RACK; at++) {
		morph_plan_free(rack->tenants[at].plan);
		morph_txn_free(rack->tenants[at].txn);
	}
	if (rack) {
		morph_request_free(rack->request);
		morph_ledger_free(rack->ledger);
	}
	morph_model_put(model);
	free(rack);
}
