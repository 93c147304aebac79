// SPDX-License-Identifier: LGPL-2.1-or-later
/* Things fail and come back: what goes dark, and what is done about it. */
#include "coverage.h"

/* One cause more, or less, for an accelerator to be down; its rank is noted. */
static uint32_t change_chip(struct morph_coverage *coverage, uint32_t accelerator, bool down,
			    uint32_t hit)
{
	struct cover_chip *chip = &coverage->chips[accelerator];
	bool counts = chip->spare || chip->rank != COVER_NONE;

	if (!down) {
		if (--chip->causes || !counts)
			return hit;
		coverage->down--;
		if (chip->rank != COVER_NONE)
			coverage->ranks[chip->rank].failed = false;
		return hit;
	}
	if (chip->causes++ || !counts)
		return hit;
	coverage->down++;
	if (chip->rank == COVER_NONE)
		return hit;
	coverage->tally.failures++;
	coverage->tally.counted += coverage->down <= coverage->spares_count;
	coverage->ranks[chip->rank].failed = true;
	coverage->hit_ranks[hit] = chip->rank;
	return hit + 1;
}

static uint32_t change_host(struct morph_coverage *coverage, uint32_t host, bool down, uint32_t hit)
{
	const struct hosts *hosts = &coverage->hosts;

	for (uint32_t at = 0; at < coverage->graph->accelerators_count; at++)
		if (coverage->graph->accelerators[at].host == host)
			hit = change_chip(coverage, at, down, hit);
	if (down ? coverage->host_causes[host]++ : --coverage->host_causes[host])
		return hit;
	for (uint32_t at = hosts->first_element[host]; at < hosts->first_element[host + 1]; at++)
		coverage->state->element_marks[hosts->elements[at]] = down ? OPTICS_UNHEALTHY : 0;
	return hit;
}

/* Mark what is down; ranks whose accelerators failed are in hit_ranks then. */
static uint32_t change_parts(struct morph_coverage *coverage, const struct cover_thing *thing,
			     bool down)
{
	const struct bundle *bundle = &coverage->hosts.bundles[thing->index];
	uint32_t hit = 0;

	switch (thing->part) {
	case MORPH_COVERAGE_ACCELERATOR:
		return change_chip(coverage, thing->index, down, hit);
	case MORPH_COVERAGE_LASER:
		coverage->state->tx_dead[thing->index] = down ? coverage->graph->all_lanes : 0;
		return hit;
	case MORPH_COVERAGE_SERVER:
		return change_host(coverage, thing->index, down, hit);
	case MORPH_COVERAGE_SUPPLY:
		for (uint32_t at = coverage->supplies[thing->index];
		     at < coverage->supplies[thing->index + 1]; at++)
			hit = change_host(coverage, coverage->supplied[at], down, hit);
		return hit;
	default:
		for (uint32_t at = bundle[0].first; at < bundle[1].first; at++)
			coverage->state->guide_marks[coverage->hosts.fibres[at]] =
				down ? OPTICS_UNHEALTHY : 0;
		return hit;
	}
}

/* All that fails goes dark before anything is replaced, and ranks come before circuits. */
static void fail(struct morph_coverage *coverage, uint32_t hit)
{
	uint32_t dark = 0;

	for (uint32_t at = 0; at < coverage->circuits_count; at++) {
		struct cover_circuit *circuit = &coverage->circuits[at];
		bool was = circuit->lit;

		lm_cover_look(coverage, circuit);
		if (was && !circuit->lit && lm_cover_has_ends(coverage, circuit))
			coverage->hit_circuits[dark++] = at;
	}
	for (uint32_t at = 0; at < hit; at++)
		coverage->tally.outcomes[lm_cover_replace(coverage, coverage->hit_ranks[at])]++;
	for (uint32_t at = 0; at < dark; at++) {
		struct cover_circuit *circuit = &coverage->circuits[coverage->hit_circuits[at]];

		if (lm_cover_lead_round(coverage, circuit))
			coverage->tally.rerouted++;
		else
			coverage->tally.dark++;
	}
}

/* Something was repaired: what could not be replaced or lit before is tried again. */
static void recover(struct morph_coverage *coverage)
{
	for (uint32_t at = 0; at < coverage->circuits_count; at++)
		lm_cover_look(coverage, &coverage->circuits[at]);
	if (coverage->revertive)
		lm_cover_revert(coverage);
	for (uint32_t at = 0; at < coverage->ranks_count; at++)
		if (coverage->ranks[at].failed)
			lm_cover_replace(coverage, at);
	for (uint32_t at = 0; coverage->lit < coverage->wanted && at < coverage->circuits_count;
	     at++) {
		struct cover_circuit *circuit = &coverage->circuits[at];

		if (!circuit->lit && lm_cover_has_ends(coverage, circuit))
			lm_cover_lead_round(coverage, circuit);
	}
}

void lm_cover_change(struct morph_coverage *coverage, struct cover_thing *thing, bool down)
{
	uint32_t hit = change_parts(coverage, thing, down);

	thing->down = down;
	if (down)
		fail(coverage, hit);
	else
		recover(coverage);
}
