// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Revertive switching: all that is away goes back at once. Each rank for itself could not, where
 * two neighbours are away; and first ways never stand in each other's way.
 */
#include "coverage.h"

static bool is_home(const struct morph_coverage *coverage, uint32_t rank)
{
	return coverage->ranks[rank].accelerator == coverage->ranks[rank].home;
}

static bool both_home(const struct morph_coverage *coverage, const struct cover_circuit *circuit)
{
	return is_home(coverage, circuit->src) && is_home(coverage, circuit->dst);
}

/* A circuit as it was lit first. */
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

/* First ways for all that are at home, and then any way for the others. */
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

/* All as it was kept. */
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
