// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans as objects for people and programs. */
#include <stdio.h>

#include "place.h"
#include "writer.h"

/* ------------------------------------------------------------------- feasible */

static void put_ranks(struct writer *writer, const struct morph_plan *plan,
		      const struct optics_graph *graph)
{
	for (uint32_t rank = 0; rank < plan->ranks; rank++) {
		struct writer inner = writer_begin(MORPH_OBJECT_PLAN_RANK);

		put(&inner, "rank", rank);
		put(&inner, "accelerator", plan->accelerators[rank]);
		put(&inner, "host", graph->accelerators[plan->accelerators[rank]].host);
		put_inner(writer, "rank", &inner);
	}
}

/* One hop of a circuit: the next server, and the fibres to it. */
void lm_strand_write(struct writer *writer, const struct strand *strand)
{
	put(writer, "host", strand->to);
	for (uint32_t guide = 0; guide < strand->guides_count; guide++)
		put(writer, "guide", strand->guides[guide] >> 1);
}

static void put_circuits(struct writer *writer, const struct morph_plan *plan,
			 const struct optics_graph *graph)
{
	for (uint32_t at = 0; at < plan->circuits_count; at++) {
		const struct rank_pair *pair = &plan->circuits[at];
		const struct circuit_way *way = &plan->ways[at];
		struct writer inner = writer_begin(MORPH_OBJECT_PLAN_CIRCUIT);

		put(&inner, "src-rank", pair->src);
		put(&inner, "dst-rank", pair->dst);
		put(&inner, "host", graph->accelerators[plan->accelerators[pair->src]].host);
		for (uint32_t hop = way->first; hop < way->first + way->count; hop++)
			lm_strand_write(&inner, &plan->strands[hop]);
		if (plan->bands > 1 && way->count)
			put(&inner, "lanes", lm_way_lanes(graph, plan, way));
		put_inner(writer, "circuit", &inner);
	}
}

/*
 * The load between the two servers of fibre number @at; only for the pair's first fibre in the
 * plan.
 */
static void put_load(struct writer *writer, const struct morph_plan *plan,
		     const struct morph_ledger *ledger, uint32_t at)
{
	const struct sites *sites = &ledger->sites;
	uint32_t from = plan->strands[at].from, to = plan->strands[at].to;
	struct writer inner;
	uint32_t taken = 0, free = 0;

	for (uint32_t other = 0; other < plan->strands_count; other++) {
		if (plan->strands[other].from != from || plan->strands[other].to != to)
			continue;
		if (other < at)
			return;
		taken++;
	}
	for (uint32_t other = sites->strands_first[from]; other < sites->strands_first[from + 1];
	     other++)
		for (uint32_t band = 0; band < plan->bands && sites->strands[other].to == to;
		     band++)
			free += lm_strand_open(ledger, &sites->strands[other],
					       lm_band_lanes(ledger->graph, plan->bands, band));
	inner = writer_begin(MORPH_OBJECT_PLAN_LOAD);
	put(&inner, "src-host", from);
	put(&inner, "dst-host", to);
	put(&inner, "fibres", taken);
	put(&inner, "free", free);
	put_inner(writer, "load", &inner);
}

static void put_feasible(struct writer *writer, const struct morph_plan *plan,
			 const struct morph_ledger *ledger)
{
	static const char *const tiers[] = { [MORPH_TIER_CONTIGUOUS] = "contiguous",
					     [MORPH_TIER_STITCHED] = "stitched",
					     [MORPH_TIER_CROSSING] = "crossing" };

	put_text(writer, "tier", tiers[plan->tier]);
	put(writer, "servers", plan->servers);
	put(writer, "servers-bound", plan->servers_bound);
	put_text(writer, "servers-bound-kind", "free-accelerators");
	put(writer, "fibres", plan->strands_count);
	put(writer, "fibres-bound", plan->fibres_bound);
	put_text(writer, "fibres-bound-kind", "distances");
	put_ranks(writer, plan, ledger->graph);
	put_circuits(writer, plan, ledger->graph);
	for (uint32_t at = 0; at < plan->strands_count; at++)
		put_load(writer, plan, ledger, at);
}

/* -------------------------------------------------------------------- refused */

static const char *refusal_text(const struct rack_refusal *refusal, const struct rack *rack,
				char *text, size_t room)
{
	switch (refusal->reason) {
	case MORPH_WIRE_COUNT:
		snprintf(text, room, "not enough accelerators: %u requested, %u free",
			 refusal->need, refusal->have);
		break;
	case MORPH_WIRE_CUTS:
		snprintf(
			text, room,
			"enough accelerators are free; but each box has one that is not free, or no routes, "
			"and each embedding of the parts into the %u servers needs more fibres than exist%s",
			rack->hosts_count,
			refusal->cuts_count ? " out of one of the sets of servers that are named" :
					      "");
		break;
	default:
		snprintf(text, room,
			 "enough accelerators are free; nothing was found, and nothing is proven");
	}
	return text;
}

static void put_cut(struct writer *writer, const struct sites *sites, const struct rack *rack,
		    uint64_t set)
{
	struct writer inner = writer_begin(MORPH_OBJECT_PLAN_CUT);

	for (uint32_t seat = 0; seat < rack->hosts_count; seat++)
		if (set >> seat & 1)
			put(&inner, "host", sites->rack_hosts[rack->hosts_first + seat]);
	put_inner(writer, "cut", &inner);
}

/* The refusal of a rack; or of all racks together, if they have too few accelerators. */
static void put_refusal(struct writer *writer, const struct morph_plan *plan,
			const struct morph_ledger *ledger, const struct rack_refusal *refusal)
{
	static const char *const reasons[] = {
		[MORPH_WIRE_COUNT] = "count", [MORPH_WIRE_CUTS] = "cuts", [MORPH_WIRE_DOUBT] = "doubt"
	};
	const struct sites *sites = &ledger->sites;
	static const struct rack none = { .hosts_count = 0 };
	bool together = refusal->rack == UINT32_MAX;
	const struct rack *rack = together ? &none : &sites->racks[refusal->rack];
	struct writer inner = writer_begin(MORPH_OBJECT_PLAN_REFUSAL);
	char text[256];

	if (!together)
		put(&inner, "host", sites->rack_hosts[rack->hosts_first]);
	put_text(&inner, "reason", reasons[refusal->reason]);
	put(&inner, "have", together ? refusal->have : ledger->rack_free[refusal->rack]);
	put(&inner, "need", refusal->need);
	put_text(&inner, "text", refusal_text(refusal, rack, text, sizeof(text)));
	for (uint32_t at = 0; at < refusal->cuts_count; at++)
		put_cut(&inner, sites, rack, plan->cuts[refusal->cuts_first + at]);
	put_inner(writer, "refusal", &inner);
}

/* ------------------------------------------------------------------ the whole */

const char *lm_verdict_text(uint32_t verdict)
{
	static const char *const texts[] = { [MORPH_FEASIBLE] = "feasible",
					     [MORPH_INFEASIBLE] = "infeasible",
					     [MORPH_UNDECIDED] = "undecided" };

	return texts[verdict];
}

struct writer lm_plan_write(const struct morph_plan *plan, const struct morph_ledger *ledger)
{
	struct writer writer = writer_begin(MORPH_OBJECT_PLAN);

	put_text(&writer, "verdict", lm_verdict_text(plan->verdict));
	put(&writer, "profile-checksum", plan->checksum);
	put(&writer, "ranks-count", plan->ranks);
	put(&writer, "circuits-count", plan->circuits_count);
	put(&writer, "lanes-count", plan->lanes);
	if (plan->bands > 1)
		put(&writer, "wavelengths", plan->bands);
	if (plan->verdict == MORPH_FEASIBLE)
		put_feasible(&writer, plan, ledger);
	else
		put_text(&writer, "text", plan->why);
	for (uint32_t at = 0; at < plan->refusals_count; at++)
		put_refusal(&writer, plan, ledger, &plan->refusals[at]);
	return writer;
}

MORPH_API int morph_plan_describe(const struct morph_plan *plan, const struct morph_ledger *ledger,
				  struct morph_object **out)
{
	struct writer writer;

	*out = NULL;
	if (!plan->verdict || plan->checksum != ledger->graph->params.checksum)
		return lm_fail(ledger->ctx, EINVAL,
			       "the plan is empty, or belongs to another fabric");
	writer = lm_plan_write(plan, ledger);
	*out = writer_end(&writer);
	return *out ? 0 : lm_no_memory(ledger->ctx, "describe a plan");
}
