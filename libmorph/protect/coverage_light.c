// SPDX-License-Identifier: LGPL-2.1-or-later
/* Light of a model of coverage: routed, claimed and judged by the code of kmod/optics. */
#include "coverage.h"

#define MOST_TRIES 16 /* spares that are tried for a rank, as in the driver */

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

/* What was released a moment ago is free still; and what is broken may stay claimed. */
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

/* The judge has the last word, as in the driver. Claims have seen to it that paths differ. */
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

bool lm_cover_lead_round(struct morph_coverage *coverage, struct cover_circuit *circuit)
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

/* The idle spare that is nearest, of those that are further than @after. */
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

/* All circuits of a rank, none of which is held, but those to ranks that have failed. */
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

/* A spare has taken over; what it replaces is a spare from then on. */
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
 * Spares in turn, with the rank's circuits let go. Of several that could not take over the
 * answer is the one that leaves most open: what the router gave up upon, then what the judge
 * refused.
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
