// SPDX-License-Identifier: LGPL-2.1-or-later
/* The driver's judgement of paths: of all steps, as at loading, and of one circuit alone. */
#include <stdio.h>

#include "light.h"

static void refuse(const struct ways *ways, uint32_t circuit, const struct optics_refusal *refusal,
		   struct morph_light *light)
{
	const struct lit *lit = &ways->table.circuits.list[circuit];

	light->plane = lit->plane;
	light->src = lit->src;
	light->dst = lit->dst;
	light->driver = refusal->reason;
	light->part = refusal->part;
	light->index = refusal->index;
	light->have = refusal->have;
	light->need = refusal->need;
}

/* Claim all circuits of a step together, then release them. */
static bool claim_refused(struct ways *ways, const struct lit_step *step, uint32_t *circuit,
			  struct optics_refusal *refusal)
{
	const uint32_t *held = ways->table.held.list + step->first;
	struct optics_state *state = ways->ledger->state;
	uint32_t claimed = 0;
	bool refused = false;

	for (; claimed < step->count && !refused; claimed += !refused) {
		struct optics_path path = lm_way_path(ways, held[claimed]);

		refused = optics_claim(state, &path, refusal);
		*circuit = held[claimed];
	}
	while (claimed--) {
		struct optics_path path = lm_way_path(ways, held[claimed]);

		optics_release(state, &path);
	}
	return refused;
}

#define SEVERAL UINT32_MAX /* states */

/* The state that an element has in all steps, plus one; 0: no path uses it; or SEVERAL. */
static void note_states(struct ways *ways, uint32_t circuit, uint32_t *noted)
{
	const struct lit *lit = &ways->table.circuits.list[circuit];
	const struct optics_hop *hops = lit_hops(&ways->table, circuit);

	for (uint32_t hop = 0; hop < lit->hops_count; hop++) {
		uint32_t element = hops[hop].element, state = hops[hop].state + 1;

		if (element != OPTICS_NONE)
			noted[element] = noted[element] && noted[element] != state ? SEVERAL :
										     state;
	}
}

/* Elements that change from step to step keep their old state; others get theirs. */
static void hold_all(struct ways *ways)
{
	const struct optics_graph *graph = ways->ledger->graph;
	struct optics_state *state = ways->ledger->state;
	uint32_t *noted = ways->prices.element_users;

	for (uint32_t at = 0; at < ways->table.circuits.count; at++) {
		const struct optics_path path = lm_way_path(ways, at);

		if (!path.hops_count)
			continue;
		state->tx_lanes[path.tx] |= path.lanes;
		state->rx_lanes[path.rx] |= path.lanes;
		note_states(ways, at, noted);
	}
	for (uint32_t at = 0; at < graph->elements_count; at++) {
		if (noted[at] && noted[at] != SEVERAL)
			optics_set_state(state, at, noted[at] - 1);
		noted[at] = 0;
	}
}

/* Set the elements as a step has them, or with @before as they were. */
static void set_step(struct ways *ways, const struct lit_step *step, const uint8_t *before)
{
	struct optics_state *state = ways->ledger->state;

	for (uint32_t at = step->first; at < step->first + step->count; at++) {
		uint32_t circuit = ways->table.held.list[at];
		const struct lit *lit = &ways->table.circuits.list[circuit];
		const struct optics_hop *hops = lit_hops(&ways->table, circuit);

		for (uint32_t hop = 0; hop < lit->hops_count; hop++)
			if (hops[hop].element != OPTICS_NONE)
				optics_set_state(state, hops[hop].element,
						 before ? before[hops[hop].element] :
							  hops[hop].state);
	}
}

static bool validate_refused(struct ways *ways, const struct lit_step *step,
			     struct optics_path *paths, const uint8_t *before, uint32_t *circuit,
			     struct optics_refusal *refusal)
{
	const struct optics_view view = optics_state_view(ways->ledger->state);
	bool refused;

	set_step(ways, step, NULL);
	for (uint32_t at = 0; at < step->count; at++)
		paths[at] = lm_way_path(ways, ways->table.held.list[step->first + at]);
	refused = optics_validate(&view, paths, step->count, ways->owner, ways->transit_own, NULL,
				  refusal);
	if (refused)
		*circuit = ways->table.held.list[step->first +
						 (refusal->item < step->count ? refusal->item : 0)];
	set_step(ways, step, before);
	return refused;
}

bool lm_ways_refused(struct ways *ways, struct morph_light *light, uint32_t *circuit)
{
	const struct lit_table *table = &ways->table;
	struct optics_refusal refusal = { 0 };
	uint32_t step = 0;
	bool refused = false;

	for (step = 0; step < table->steps.count && !refused; step++)
		refused = claim_refused(ways, &table->steps.list[step], circuit, &refusal);
	if (!refused) {
		hold_all(ways);
		memcpy(ways->states, ways->ledger->state->element_state,
		       ways->ledger->graph->elements_count);
		for (step = 0; step < table->steps.count && !refused; step++)
			refused = validate_refused(ways, &table->steps.list[step], ways->paths,
						   ways->states, circuit, &refusal);
	}
	if (!refused)
		return false;
	refuse(ways, *circuit, &refusal, light);
	light->reason = MORPH_LIGHT_JUDGE;
	light->step = step - 1;
	snprintf(light->why, sizeof(light->why),
		 "step %u: the circuit from rank %u to rank %u on plane %u: %s (%lld of %lld)",
		 light->step, light->src, light->dst, light->plane,
		 optics_reason_text(refusal.reason), (long long)refusal.have,
		 (long long)refusal.need);
	return true;
}

/* A port has light of a tenant, or its hardware may not be used. */
static bool port_refused(const struct ways *ways, const struct optics_path *path,
			 struct optics_refusal *refusal)
{
	const struct optics_state *state = ways->ledger->state;
	bool tx = state->tx_lanes[path->tx], rx = state->rx_lanes[path->rx];

	if (!tx && !rx)
		return false;
	refusal->reason = OPTICS_PORT_BUSY;
	refusal->part = tx ? OPTICS_PART_LASER : OPTICS_PART_RECEIVER;
	refusal->index = tx ? path->tx : path->rx;
	refusal->have = 0;
	refusal->need = ways->lanes;
	return true;
}

int lm_way_alone(struct ways *ways, uint32_t circuit, struct optics_refusal *refusal)
{
	struct lit *lit = &ways->table.circuits.list[circuit];
	struct optics_path path = lm_way_path(ways, circuit);
	const struct optics_route_request request = {
		.tx_accelerator = ways->accelerators[lit->src],
		.rx_accelerator = ways->accelerators[lit->dst],
		.tx_planes = 1ULL << lit->plane,
		.rx_planes = 1ULL << lit->plane,
		.lanes_allowed = ways->ledger->graph->all_lanes,
		.lanes_count = ways->lanes,
		.owner = ways->owner,
		.transit_own = ways->transit_own,
	};
	int error;

	lit->hops_count = 0;
	if (port_refused(ways, &path, refusal))
		return -EBUSY;
	error = optics_route(ways->ledger->state, &request, ways->work, &path, NULL, refusal);
	if (error)
		return error;
	lit->hops_count = path.hops_count;
	lit->lanes = path.lanes;
	return 0;
}

void lm_way_refused_alone(struct ways *ways, uint32_t circuit, struct morph_light *light)
{
	struct optics_refusal refusal = { 0 };
	bool gave_up = lm_way_alone(ways, circuit, &refusal) == -EAGAIN;

	refuse(ways, circuit, &refusal, light);
	light->verdict = gave_up ? MORPH_UNDECIDED : MORPH_INFEASIBLE;
	light->reason = gave_up ? MORPH_LIGHT_GAVE_UP : MORPH_LIGHT_ALONE;
	light->step = ways->table.used_in[ways->table.circuits.list[circuit].uses];
	snprintf(light->why, sizeof(light->why),
		 "step %u: the circuit from rank %u to rank %u on plane %u, alone: %s", light->step,
		 light->src, light->dst, light->plane, optics_reason_text(refusal.reason));
}
