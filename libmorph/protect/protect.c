// SPDX-License-Identifier: LGPL-2.1-or-later
/* The spare that takes over from each rank of a slice, and the fibres to it. */
#include <stdio.h>

#include "protect.h"

#define GROW(protection, array) \
	ARRAY_GROW((protection)->ctx, (protection)->array, 1, "protect a slice")

/* ----------------------------------------------------------------- the failure */

/* Release and record the resources of a circuit of the rank, except those that it keeps. */
static int lift_way(struct failure *failure, uint32_t number)
{
	struct morph_protection *protection = failure->protection;
	const struct circuit_way *way = &failure->plan->ways[protection->ways.list[number].circuit];
	const struct spare_rest rest = lm_protect_rest(failure, number);
	struct morph_ledger *ledger = failure->ledger;
	int ret = 0;

	for (uint32_t hop = way->first; hop < way->first + way->count; hop++) {
		const struct strand *strand = &failure->plan->strands[hop];

		if (hop - rest.first < rest.count)
			continue;
		for (uint32_t at = 0; at < strand->guides_count; at++) {
			struct spare_lifted lifted = {
				.guide = strand->guides[at] >> 1,
				.element = at ? strand->elements[at - 1] : OPTICS_NONE,
			};

			ret = GROW(protection, lifted);
			if (ret)
				return ret;
			lifted.lanes = ledger->guide_lanes[lifted.guide];
			if (at)
				lifted.held = ledger->element_held[lifted.element];
			protection->lifted.list[protection->lifted.count++] = lifted;
		}
		lm_strand_hold(ledger, strand, false);
	}
	return 0;
}

/* Darken the failed accelerator's circuits; these need new routes. */
static int lift(struct failure *failure)
{
	struct morph_protection *protection = failure->protection;
	int ret = 0;

	protection->lifted.count = 0;
	for (uint32_t at = 0; at < failure->plan->circuits_count && !ret; at++) {
		const struct rank_pair *pair = &failure->plan->circuits[at];

		if (pair->src != failure->number && pair->dst != failure->number)
			continue;
		ret = GROW(protection, ways);
		if (!ret) {
			protection->ways.list[protection->ways.count++] =
				(struct spare_way){ .circuit = at };
			failure->rank->ways_count++;
			ret = lift_way(failure, protection->ways.count - 1);
		}
	}
	return ret;
}

/* Restore the ledger. */
static void lower(const struct failure *failure)
{
	struct morph_protection *protection = failure->protection;
	struct morph_ledger *ledger = failure->ledger;

	while (protection->lifted.count) {
		const struct spare_lifted *lifted =
			&protection->lifted.list[--protection->lifted.count];

		ledger->guide_lanes[lifted->guide] = lifted->lanes;
		if (lifted->element != OPTICS_NONE)
			ledger->element_held[lifted->element] = lifted->held;
	}
}

static bool is_own(const struct morph_protection *protection, const struct strand *strand)
{
	for (uint32_t at = 0; at < protection->lifted.count; at++)
		if (protection->lifted.list[at].guide == strand->guides[0] >> 1)
			return true;
	return false;
}

/* ------------------------------------------------------------------------ ways */

static bool is_used(const struct failure *failure, const struct strand *strand)
{
	const struct morph_protection *protection = failure->protection;

	for (uint32_t at = failure->rank->strands_first; at < protection->strands.count; at++)
		if (protection->strands.list[at].strand.guides[0] >> 1 == strand->guides[0] >> 1)
			return true;
	return false;
}

/*
 * A fibre between two servers: preferably at the tiles of both ends, else one that is already kept.
 */
static const struct strand *pick(const struct failure *failure, uint32_t from, uint32_t to,
				 const struct spare_ends *ends)
{
	const struct morph_ledger *ledger = failure->ledger;
	const struct sites *sites = &ledger->sites;
	const struct strand *best = NULL;
	uint32_t most = 0;

	for (uint32_t at = sites->strands_first[from]; at < sites->strands_first[from + 1]; at++) {
		const struct strand *strand = &sites->strands[at];
		uint32_t score = 1 + 2 * (strand->from_tile == ends->src) +
				 2 * (strand->to_tile == ends->dst) +
				 !!ledger->guide_kept[strand->guides[0] >> 1];

		if (strand->to != to || score <= most ||
		    !lm_strand_dark(ledger, strand, ledger->graph->all_lanes) ||
		    is_used(failure, strand))
			continue;
		best = strand;
		most = score;
	}
	return best;
}

static int add_strands(struct failure *failure, struct spare_way *way, const struct route *route,
		       const struct spare_ends *ends)
{
	struct morph_protection *protection = failure->protection;
	int ret = 0;

	for (uint32_t hop = 0; hop < route->hops && !ret; hop++) {
		const struct strand *strand = pick(failure, failure->hosts[route->sites[hop]],
						   failure->hosts[route->sites[hop + 1]], ends);

		if (!strand)
			return lm_fail(
				protection->ctx, EPROTO,
				"the routes of a protection use more fibres than the fabric has");
		ret = GROW(protection, strands);
		if (!ret)
			protection->strands.list[protection->strands.count++] =
				(struct spare_strand){ *strand, is_own(protection, strand) };
		way->count++;
	}
	return ret;
}

/* Add the part that the circuit keeps. */
static int add_rest(struct failure *failure, struct spare_way *way, const struct spare_rest *rest)
{
	struct morph_protection *protection = failure->protection;
	int ret = 0;

	for (uint32_t hop = rest->first; hop < rest->first + rest->count && !ret; hop++) {
		ret = GROW(protection, strands);
		if (!ret)
			protection->strands.list[protection->strands.count++] =
				(struct spare_strand){ failure->plan->strands[hop], true };
		way->count++;
	}
	return ret;
}

/* Turn the routes into hops. */
static int add_ways(struct failure *failure)
{
	struct morph_protection *protection = failure->protection;
	const struct route *route = failure->ledger->search.routes.list;
	struct protected_rank *rank = failure->rank;
	int ret = 0;

	for (uint32_t at = 0; at < rank->ways_count && !ret; at++) {
		struct spare_ends ends = lm_protect_ends(failure, rank->ways_first + at);
		struct spare_rest rest = lm_protect_rest(failure, rank->ways_first + at);
		struct spare_way *way = &protection->ways.list[rank->ways_first + at];
		bool leaves = ends.src == failure->spare;

		way->first = protection->strands.count;
		if (!leaves)
			ret = add_rest(failure, way, &rest);
		if (!ret && ends.from != ends.to)
			ret = add_strands(failure, way, route++, &ends);
		if (!ret && leaves)
			ret = add_rest(failure, way, &rest);
	}
	rank->verdict = MORPH_FEASIBLE;
	rank->spare = failure->spare;
	rank->strands_count = protection->strands.count - rank->strands_first;
	/* A feasible rank needs no refusals of nearer spares. */
	protection->refusals.count = rank->refusals_first;
	rank->refusals_count = 0;
	return ret;
}

/* ---------------------------------------------------------------------- spares */

static int refuse(struct failure *failure, enum stitch_verdict verdict)
{
	struct morph_protection *protection = failure->protection;
	struct spare_refusal refusal = { .spare = failure->spare };
	int ret = GROW(protection, refusals);

	if (ret)
		return ret;
	/* A cut proves nothing about circuits that might leave the rack elsewhere. */
	if (!failure->rank->crossing && lm_protect_cut(failure, &refusal))
		refusal.reason = MORPH_WIRE_SPARE_CUT;
	else if (!failure->rank->crossing && verdict == STITCH_INFEASIBLE)
		refusal.reason = MORPH_WIRE_SPARE_SEARCHED;
	else
		refusal.reason = MORPH_WIRE_SPARE_DOUBT;
	if (refusal.reason == MORPH_WIRE_SPARE_DOUBT)
		failure->rank->verdict = MORPH_UNDECIDED;
	protection->refusals.list[protection->refusals.count++] = refusal;
	failure->rank->refusals_count++;
	return 0;
}

/* The least number of fibres from the circuits to a spare; UINT32_MAX if one cannot reach it. */
static uint32_t distance(struct failure *failure, uint32_t spare)
{
	const struct rack_search *search = &failure->ledger->search;
	const struct protected_rank *rank = failure->rank;
	uint32_t sum = 0;

	failure->spare = spare;
	for (uint32_t at = rank->ways_first; at < rank->ways_first + rank->ways_count; at++) {
		struct spare_ends ends = lm_protect_ends(failure, at);

		if (ends.to == NET_SITES || search->distances[ends.from][ends.to] == NET_APART)
			return UINT32_MAX;
		sum += search->distances[ends.from][ends.to];
	}
	return sum;
}

/* The rack's healthy, unassigned spares, the nearest first. */
static uint32_t list_spares(struct failure *failure, uint32_t spares[RACK_ACCELERATORS])
{
	const struct morph_ledger *ledger = failure->ledger;
	const struct sites *sites = &ledger->sites;
	const struct rack *rack = &sites->racks[failure->rack];
	uint32_t far[RACK_ACCELERATORS], count = 0;

	for (uint32_t seat = 0; seat < rack->hosts_count; seat++) {
		uint32_t host = sites->rack_hosts[rack->hosts_first + seat];

		for (uint32_t at = sites->members_first[host]; at < sites->members_first[host + 1];
		     at++) {
			uint32_t spare = sites->members[at], place = count, hops;

			if (!lm_ledger_spare(ledger, spare))
				continue;
			hops = distance(failure, spare);
			for (; place && far[place - 1] > hops; place--) {
				far[place] = far[place - 1];
				spares[place] = spares[place - 1];
			}
			far[place] = hops;
			spares[place] = spare;
			count++;
		}
	}
	return count;
}

/* Move this spare to the front, if it is in the list. */
static void put_first(uint32_t spare, uint32_t *spares, uint32_t count)
{
	uint32_t at = 0;

	while (at < count && spares[at] != spare)
		at++;
	if (at == count)
		return;
	memmove(spares + 1, spares, at * sizeof(*spares));
	spares[0] = spare;
}

static int try_spares(struct failure *failure)
{
	uint32_t spares[RACK_ACCELERATORS], count = list_spares(failure, spares);
	struct protected_rank *rank = failure->rank;
	int ret = 0;

	if (failure->protection->first)
		put_first(failure->protection->first[failure->number], spares, count);
	rank->verdict = MORPH_INFEASIBLE;
	for (uint32_t at = 0; at < count && !ret && rank->verdict != MORPH_FEASIBLE; at++) {
		enum stitch_verdict verdict;

		failure->spare = spares[at];
		verdict = lm_protect_route(failure);
		ret = verdict == STITCH_FEASIBLE ? add_ways(failure) : refuse(failure, verdict);
	}
	return ret;
}

/* ----------------------------------------------------------------------- ranks */

static uint32_t rack_of(const struct failure *failure, uint32_t rank)
{
	const struct morph_ledger *ledger = failure->ledger;

	return ledger->sites
		.host_rack[ledger->graph->accelerators[failure->plan->accelerators[rank]].host];
}

static bool leaves_rack(const struct failure *failure)
{
	for (uint32_t at = 0; at < failure->rank->ways_count; at++)
		if (lm_protect_rest(failure, failure->rank->ways_first + at).count)
			return true;
	return false;
}

static int look_for_spare(struct failure *failure)
{
	struct morph_protection *protection = failure->protection;
	struct protected_rank *rank = failure->rank;
	int ret;

	rank->crossing = leaves_rack(failure);
	lm_protect_net(failure);
	ret = try_spares(failure);
	if (rank->verdict != MORPH_FEASIBLE) {
		protection->ways.count = rank->ways_first;
		rank->ways_count = 0;
	}
	return ret;
}

static int protect_rank(struct failure *failure, uint32_t number)
{
	struct morph_protection *protection = failure->protection;
	int ret;

	failure->number = number;
	failure->rank = &protection->ranks[number];
	failure->rack = rack_of(failure, number);
	*failure->rank = (struct protected_rank){
		.verdict = MORPH_UNDECIDED,
		.spare = UINT32_MAX,
		.ways_first = protection->ways.count,
		.strands_first = protection->strands.count,
		.refusals_first = protection->refusals.count,
	};
	ret = lift(failure);
	if (!ret)
		ret = look_for_spare(failure);
	lower(failure);
	return ret;
}

/* -------------------------------------------------------------------- the slice */

static void explain(struct morph_protection *protection)
{
	uint32_t at = 0;

	while (protection->ranks[at].verdict != protection->verdict)
		at++;
	if (!protection->ranks[at].refusals_count)
		snprintf(protection->why, sizeof(protection->why),
			 "rank %u: no healthy, unassigned spare in its rack", at);
	else if (protection->ranks[at].crossing)
		snprintf(
			protection->why, sizeof(protection->why),
			"rank %u: none of %u spares has paths to the fibres where its circuits leave the rack",
			at, protection->ranks[at].refusals_count);
	else
		snprintf(protection->why, sizeof(protection->why),
			 "rank %u: %s for its circuits to any of %u spares", at,
			 protection->verdict == MORPH_UNDECIDED ? "no paths were found" :
								  "no paths exist",
			 protection->ranks[at].refusals_count);
}

/* The slice that has all resources of a plan, or 0 and the reason. */
static uint32_t taken_by(const struct morph_ledger *ledger, const struct morph_plan *plan)
{
	uint32_t slice = ledger->owner[plan->accelerators[0]];

	for (uint32_t rank = 0; rank < plan->ranks; rank++) {
		if (slice && ledger->owner[plan->accelerators[rank]] == slice)
			continue;
		lm_fail(ledger->ctx, EINVAL,
			"the ledger does not hold accelerator %u of rank %u; call morph_ledger_take() first",
			plan->accelerators[rank], rank);
		return 0;
	}
	for (uint32_t at = 0; at < plan->strands_count; at++) {
		for (uint32_t guide = 0; guide < plan->strands[at].guides_count; guide++) {
			if (ledger->guide_lanes[plan->strands[at].guides[guide] >> 1])
				continue;
			lm_fail(ledger->ctx, EINVAL,
				"guide %u of the plan is dark; call morph_ledger_take() first",
				plan->strands[at].guides[guide] >> 1);
			return 0;
		}
	}
	return slice;
}

static void clear(struct morph_protection *protection)
{
	protection->verdict = 0;
	protection->ranks_count = 0;
	protection->ways.count = protection->strands.count = protection->refusals.count = 0;
	protection->why[0] = '\0';
}

MORPH_API int morph_protect(struct morph_ledger *ledger, const struct morph_plan *plan,
			    struct morph_protection *protection)
{
	struct failure failure = { .ledger = ledger, .plan = plan, .protection = protection };
	uint32_t verdict = MORPH_FEASIBLE;
	int ret;

	if (protection->keeper)
		return lm_fail(ledger->ctx, EBUSY,
			       "the ledger keeps the protection; call morph_ledger_unkeep() first");
	clear(protection);
	ret = lm_plan_check(ledger, plan);
	if (ret)
		return ret;
	if (plan->bands > 1)
		return lm_fail(
			ledger->ctx, EINVAL,
			"the plan shares fibres in %u wavelengths; a protection requires unshared fibres",
			plan->bands);
	failure.slice = taken_by(ledger, plan);
	if (!failure.slice)
		return -EINVAL;
	for (uint32_t rank = 0; rank < plan->ranks && !ret; rank++) {
		ret = protect_rank(&failure, rank);
		if (verdict != MORPH_INFEASIBLE &&
		    protection->ranks[rank].verdict != MORPH_FEASIBLE)
			verdict = protection->ranks[rank].verdict;
	}
	if (ret) {
		clear(protection);
		return ret;
	}
	protection->checksum = plan->checksum;
	protection->verdict = verdict;
	protection->ranks_count = plan->ranks;
	if (verdict != MORPH_FEASIBLE)
		explain(protection);
	return 0;
}
