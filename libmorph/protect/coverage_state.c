// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state of a model of coverage: light, failures and replacements. */
#include "coverage.h"

/* ---------------------------------------------------------------------- light */

/* Light: routed, claimed and validated by the code of kmod/optics. */

#define MOST_TRIES 16 /* spares tried for a rank, as in the driver */

uint32_t lm_cover_count_fibres(const struct morph_coverage *coverage, struct cover_circuit *circuit)
{
	const struct optics_path *path = &circuit->path;

	circuit->fibres = 0;
	for (uint32_t at = 0; at < path->hops_count; at++)
		circuit->fibres += coverage->graph->guides[path->hops[at].guide >> 1].class ==
				   MORPH_GUIDE_FIBRE;
	return circuit->fibres;
}

bool lm_cover_has_ends(const struct morph_coverage *coverage, const struct cover_circuit *circuit)
{
	return !coverage->ranks[circuit->src].failed && !coverage->ranks[circuit->dst].failed;
}

static bool is_broken(const struct morph_coverage *coverage, const struct cover_circuit *circuit)
{
	const struct optics_state *state = coverage->state;
	const struct optics_path *path = &circuit->path;

	if (state->tx_dead[path->tx] & path->lanes)
		return true;
	for (uint32_t at = 0; at < path->hops_count; at++)
		if (state->guide_marks[path->hops[at].guide >> 1] ||
		    (path->hops[at].element != OPTICS_NONE &&
		     state->element_marks[path->hops[at].element]))
			return true;
	return false;
}

void lm_cover_look(struct morph_coverage *coverage, struct cover_circuit *circuit)
{
	bool lit = circuit->held && lm_cover_has_ends(coverage, circuit) &&
		   !is_broken(coverage, circuit);

	if (lit != circuit->lit)
		coverage->lit += lit ? circuit->lanes : -(uint64_t)circuit->lanes;
	circuit->lit = lit;
}

int lm_cover_claim(struct morph_coverage *coverage, struct cover_circuit *circuit,
		   struct optics_refusal *refusal)
{
	int error = optics_claim(coverage->state, &circuit->path, refusal);

	if (error)
		return error;
	circuit->held = true;
	lm_cover_look(coverage, circuit);
	return 0;
}

void lm_cover_let_go(struct morph_coverage *coverage, struct cover_circuit *circuit)
{
	if (!circuit->held)
		return;
	optics_release(coverage->state, &circuit->path);
	circuit->held = false;
	lm_cover_look(coverage, circuit);
}

void lm_cover_set_way(struct cover_circuit *circuit, const struct cover_circuit *like)
{
	circuit->fibres = like->fibres;
	circuit->path = like->path;
	circuit->path.hops = circuit->hops;
	memcpy(circuit->hops, like->hops, like->path.hops_count * sizeof(*like->hops));
}

/* The resources were released just before, so they are free. A broken path can stay claimed. */
void lm_cover_reclaim(struct morph_coverage *coverage, struct cover_circuit *circuit,
		      const struct cover_circuit *kept)
{
	struct optics_state *state = coverage->state;

	lm_cover_set_way(circuit, kept);
	circuit->held = kept->held;
	for (uint32_t at = 0; kept->held && at < circuit->path.hops_count; at++) {
		const struct optics_hop *hop = &circuit->hops[at];

		state->guide_lanes[hop->guide >> 1] |= circuit->path.lanes;
		if (hop->element == OPTICS_NONE)
			continue;
		optics_set_state(state, hop->element, hop->state);
		state->element_pins[hop->element]++;
	}
	if (kept->held) {
		state->tx_lanes[circuit->path.tx] |= circuit->path.lanes;
		state->rx_lanes[circuit->path.rx] |= circuit->path.lanes;
	}
	lm_cover_look(coverage, circuit);
}

int lm_cover_route(struct morph_coverage *coverage, struct cover_circuit *circuit, uint64_t planes,
		   struct optics_refusal *refusal)
{
	const struct optics_graph *graph = coverage->graph;
	struct optics_route_request request = {
		.tx_accelerator = coverage->ranks[circuit->src].accelerator,
		.rx_accelerator = coverage->ranks[circuit->dst].accelerator,
		.tx_planes = planes,
		.rx_planes = planes,
		.lanes_allowed = graph->all_lanes,
		.lanes_count = circuit->lanes,
		.owner = coverage->ranks[circuit->src].slice + 1,
		.steps = coverage->steps,
	};
	int error = optics_route(coverage->state, &request, coverage->work, &circuit->path, NULL,
				 refusal);

	return error ? error : lm_cover_claim(coverage, circuit, refusal);
}

/* The validator decides, as in the driver. The claims ensure that paths do not overlap. */
int lm_cover_judge(struct morph_coverage *coverage, const struct optics_path *paths, uint32_t count,
		   uint32_t slice, struct optics_refusal *refusal)
{
	const struct optics_view view = optics_state_view(coverage->state);
	struct optics_verdict verdict;

	for (uint32_t at = 0; at < count; at++) {
		int error =
			optics_validate(&view, paths + at, 1, slice + 1, false, &verdict, refusal);

		if (error)
			return error;
		if (verdict.margin_mdb < coverage->least_margin)
			coverage->least_margin = verdict.margin_mdb;
	}
	return 0;
}

int lm_cover_light(struct morph_coverage *coverage, struct cover_circuit *circuit, uint64_t planes,
		   struct optics_refusal *refusal)
{
	int error = lm_cover_route(coverage, circuit, planes, refusal);

	if (error)
		return error;
	error = lm_cover_judge(coverage, &circuit->path, 1, coverage->ranks[circuit->src].slice,
			       refusal);
	if (error)
		lm_cover_let_go(coverage, circuit);
	else
		lm_cover_count_fibres(coverage, circuit);
	return error;
}

bool lm_cover_reroute(struct morph_coverage *coverage, struct cover_circuit *circuit)
{
	struct cover_circuit *kept = coverage->kept_circuits;
	struct optics_refusal refusal;

	*kept = *circuit;
	lm_cover_let_go(coverage, circuit);
	if (!lm_cover_light(coverage, circuit, ~0ULL, &refusal))
		return true;
	lm_cover_reclaim(coverage, circuit, kept);
	return false;
}

/* ------------------------------------------------------------------- spares */

bool lm_cover_is_idle(const struct morph_coverage *coverage, uint32_t accelerator)
{
	const struct cover_chip *chip = &coverage->chips[accelerator];

	return chip->spare && chip->rank == COVER_NONE && !chip->causes;
}

/* The nearest idle spare beyond the distance @after. */
static uint32_t next_spare(const struct morph_coverage *coverage, uint64_t *after)
{
	uint64_t best = UINT64_MAX;

	for (uint32_t at = 0; at < coverage->graph->accelerators_count; at++) {
		uint32_t host = coverage->graph->accelerators[at].host;
		uint64_t key = ((uint64_t)coverage->distances[host] << 32 | at) + 1;
		if (key > *after && key < best && lm_cover_is_idle(coverage, at))
			best = key;
	}
	if (best == UINT64_MAX)
		return COVER_NONE;
	*after = best;
	return (uint32_t)(best - 1);
}

void lm_cover_set_accelerator(struct morph_coverage *coverage, uint32_t rank, uint32_t accelerator)
{
	uint32_t before = coverage->ranks[rank].accelerator;

	coverage->chips[before].rank = COVER_NONE;
	coverage->state->owner[before] = 0;
	coverage->ranks[rank].accelerator = accelerator;
	coverage->ranks[rank].failed = coverage->chips[accelerator].causes;
	coverage->chips[accelerator].rank = rank;
	coverage->state->owner[accelerator] = coverage->ranks[rank].slice + 1;
}

/* Light all circuits of a rank except those to failed ranks. None of them holds resources. */
static int light_rank(struct morph_coverage *coverage, uint32_t rank,
		      struct optics_refusal *refusal)
{
	uint32_t first = coverage->first_circuit[rank], last = coverage->first_circuit[rank + 1];
	uint32_t count = 0;
	int error = 0;

	for (uint32_t at = first; !error && at < last; at++) {
		struct cover_circuit *circuit = &coverage->circuits[coverage->of_rank[at]];

		if (!lm_cover_has_ends(coverage, circuit))
			continue;
		error = lm_cover_route(coverage, circuit, ~0ULL, refusal);
		if (!error)
			coverage->paths[count++] = circuit->path;
	}
	if (!error)
		error = lm_cover_judge(coverage, coverage->paths, count,
				       coverage->ranks[rank].slice, refusal);
	for (uint32_t at = first; error && at < last; at++)
		lm_cover_let_go(coverage, &coverage->circuits[coverage->of_rank[at]]);
	return error;
}

/* Record a replacement. The replaced accelerator becomes a spare. */
static void settle(struct morph_coverage *coverage, uint32_t rank, uint32_t before)
{
	coverage->chips[before].spare = true;
	for (uint32_t at = coverage->first_circuit[rank]; at < coverage->first_circuit[rank + 1];
	     at++) {
		struct cover_circuit *circuit = &coverage->circuits[coverage->of_rank[at]];
		int64_t fibres = circuit->fibres;

		if (!circuit->lit)
			continue;
		coverage->tally.moved++;
		coverage->tally.extra_fibres += lm_cover_count_fibres(coverage, circuit) - fibres;
	}
}

static enum cover_outcome outcome_of(const struct optics_refusal *refusal)
{
	switch (refusal->reason) {
	case OPTICS_MARGIN:
	case OPTICS_OVERLOAD:
	case OPTICS_ISOLATION:
		return COVER_NO_MARGIN;
	case OPTICS_GAVE_UP:
		return COVER_GAVE_UP;
	default:
		return COVER_NO_ROUTE;
	}
}

/*
 * Try spares in order, with the rank's circuits released. After several failures, report the least
 * certain outcome: that the router gave up, else that the validator refused.
 */
static enum cover_outcome try_spares(struct morph_coverage *coverage, uint32_t rank)
{
	uint32_t before = coverage->ranks[rank].accelerator;
	enum cover_outcome outcome = COVER_NO_SPARE;
	struct optics_refusal refusal;
	uint64_t after = 0;

	for (uint32_t tries = 0; tries < MOST_TRIES; tries++) {
		uint32_t spare = next_spare(coverage, &after);
		enum cover_outcome this;

		if (spare == COVER_NONE)
			break;
		lm_cover_set_accelerator(coverage, rank, spare);
		if (!light_rank(coverage, rank, &refusal)) {
			settle(coverage, rank, before);
			return COVER_REPLACED;
		}
		lm_cover_set_accelerator(coverage, rank, before);
		this = outcome_of(&refusal);
		outcome = this > outcome ? this : outcome;
	}
	return outcome;
}

enum cover_outcome lm_cover_replace(struct morph_coverage *coverage, uint32_t rank)
{
	uint32_t first = coverage->first_circuit[rank], last = coverage->first_circuit[rank + 1];
	uint32_t near = coverage->graph->accelerators[coverage->ranks[rank].accelerator].host;
	enum cover_outcome outcome;

	lm_hosts_distances(&coverage->hosts, near, coverage->distances, coverage->queue);
	for (uint32_t at = first; at < last; at++) {
		struct cover_circuit *circuit = &coverage->circuits[coverage->of_rank[at]];

		coverage->kept_circuits[at - first] = *circuit;
		lm_cover_let_go(coverage, circuit);
	}
	outcome = try_spares(coverage, rank);
	for (uint32_t at = first; outcome != COVER_REPLACED && at < last; at++)
		lm_cover_reclaim(coverage, &coverage->circuits[coverage->of_rank[at]],
				 &coverage->kept_circuits[at - first]);
	return outcome;
}

/* ------------------------------------------------------------------ reversion */

/*
 * Reversion: all ranks return at once. Single ranks could not, if two neighbours are away. First
 * paths never conflict with each other.
 */

static bool is_home(const struct morph_coverage *coverage, uint32_t rank)
{
	return coverage->ranks[rank].accelerator == coverage->ranks[rank].home;
}

static bool both_home(const struct morph_coverage *coverage, const struct cover_circuit *circuit)
{
	return is_home(coverage, circuit->src) && is_home(coverage, circuit->dst);
}

/* The circuit in its initial state. */
static const struct cover_circuit *first_of(const struct morph_coverage *coverage,
					    const struct cover_circuit *circuit)
{
	const struct cover_circuit *first = coverage->blocks[COVER_CIRCUITS].first;

	return first + (circuit - coverage->circuits);
}

static bool same_way(const struct cover_circuit *one, const struct cover_circuit *other)
{
	return one->held == other->held && one->path.hops_count == other->path.hops_count &&
	       one->path.lanes == other->path.lanes &&
	       !memcmp(one->hops, other->hops, one->path.hops_count * sizeof(*one->hops));
}

static bool is_on_first_way(const struct morph_coverage *coverage,
			    const struct cover_circuit *circuit)
{
	return both_home(coverage, circuit) && same_way(circuit, first_of(coverage, circuit));
}

static bool may_go_back(const struct morph_coverage *coverage, uint32_t rank)
{
	return !is_home(coverage, rank) && lm_cover_is_idle(coverage, coverage->ranks[rank].home);
}

static bool any_may_go_back(const struct morph_coverage *coverage)
{
	for (uint32_t rank = 0; rank < coverage->ranks_count; rank++)
		if (may_go_back(coverage, rank))
			return true;
	for (uint32_t at = 0; at < coverage->circuits_count; at++)
		if (both_home(coverage, &coverage->circuits[at]) &&
		    !is_on_first_way(coverage, &coverage->circuits[at]))
			return true;
	return false;
}

/* Light circuits between returned ranks by their first paths, then the others by any path. */
static void light_all(struct morph_coverage *coverage)
{
	struct optics_refusal refusal;

	for (uint32_t at = 0; at < coverage->circuits_count; at++)
		if (!is_on_first_way(coverage, &coverage->circuits[at]))
			lm_cover_let_go(coverage, &coverage->circuits[at]);
	for (uint32_t at = 0; at < coverage->circuits_count; at++) {
		struct cover_circuit *circuit = &coverage->circuits[at];

		if (circuit->held || !both_home(coverage, circuit))
			continue;
		lm_cover_set_way(circuit, first_of(coverage, circuit));
		lm_cover_claim(coverage, circuit, &refusal);
	}
	for (uint32_t at = 0; at < coverage->circuits_count; at++) {
		struct cover_circuit *circuit = &coverage->circuits[at];

		if (!circuit->held && lm_cover_has_ends(coverage, circuit))
			lm_cover_route(coverage, circuit, ~0ULL, &refusal);
	}
}

static bool is_judged_well(struct morph_coverage *coverage)
{
	struct optics_refusal refusal;

	for (uint32_t at = 0; at < coverage->circuits_count; at++) {
		struct cover_circuit *circuit = &coverage->circuits[at];

		if (!circuit->lit || same_way(circuit, &coverage->kept_circuits[at]))
			continue;
		if (lm_cover_judge(coverage, &circuit->path, 1, coverage->ranks[circuit->src].slice,
				   &refusal))
			return false;
		lm_cover_count_fibres(coverage, circuit);
	}
	return true;
}

/* Restore the state from before the reversion. */
static void stay(struct morph_coverage *coverage)
{
	for (uint32_t at = 0; at < coverage->circuits_count; at++)
		lm_cover_let_go(coverage, &coverage->circuits[at]);
	for (uint32_t rank = 0; rank < coverage->ranks_count; rank++)
		if (coverage->ranks[rank].accelerator != coverage->kept_ranks[rank].accelerator)
			lm_cover_set_accelerator(coverage, rank,
						 coverage->kept_ranks[rank].accelerator);
	for (uint32_t at = 0; at < coverage->circuits_count; at++)
		lm_cover_reclaim(coverage, &coverage->circuits[at], &coverage->kept_circuits[at]);
}

void lm_cover_revert(struct morph_coverage *coverage)
{
	uint64_t before = coverage->lit;

	if (!any_may_go_back(coverage))
		return;
	memcpy(coverage->kept_ranks, coverage->ranks,
	       coverage->ranks_count * sizeof(*coverage->ranks));
	memcpy(coverage->kept_circuits, coverage->circuits,
	       coverage->circuits_count * sizeof(*coverage->circuits));
	for (uint32_t rank = 0; rank < coverage->ranks_count; rank++)
		if (may_go_back(coverage, rank))
			lm_cover_set_accelerator(coverage, rank, coverage->ranks[rank].home);
	light_all(coverage);
	if (coverage->lit < before || !is_judged_well(coverage))
		stay(coverage);
}

/* ------------------------------------------------------------------- failures */

/* Failures and repairs: circuits that go dark, and the reaction. */

/* Add or remove a cause why an accelerator is down. Returns the number of hit ranks. */
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

/* Mark parts as down. Ranks whose accelerators failed are in hit_ranks. */
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

/* All failed circuits go dark before any replacement, and ranks come before circuits. */
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

		if (lm_cover_reroute(coverage, circuit))
			coverage->tally.rerouted++;
		else
			coverage->tally.dark++;
	}
}

/* After a repair, try again what could not be replaced or lit. */
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
			lm_cover_reroute(coverage, circuit);
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
