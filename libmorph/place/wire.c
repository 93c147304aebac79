// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests, ledgers and plans in the binary form of <morph/wire.h>. */
#include "../bandwidth/bandwidth.h"
#include "../defrag/defrag.h"
#include "../protect/protect.h"
#include "../util/words.h"

ssize_t morph_request_write(const struct morph_request *request, const struct morph_ledger *ledger,
			    void *buffer, size_t bytes)
{
	struct words words = words_begin(buffer, bytes, MORPH_WIRE_REQUEST, 0);

	words_put(&words, request->ranks);
	words_put(&words, request->circuits_count);
	words_put(&words, (uint32_t)lm_request_lanes(request, ledger->graph) | (request->bands - 1)
										       << 16);
	words_put(&words, request->tier);
	words_put(&words, request->transit | request->servers << 16);
	for (uint32_t axis = 0; axis < 3; axis++)
		words_put(&words, request->extent[axis]);
	for (uint32_t at = 0; at < request->circuits_count; at++) {
		words_put(&words, request->circuits[at].src);
		words_put(&words, request->circuits[at].dst);
	}
	return words_end(&words);
}

MORPH_API ssize_t morph_ledger_write(const struct morph_ledger *ledger, void *buffer, size_t bytes)
{
	const struct optics_graph *graph = ledger->graph;
	struct words words = words_begin(buffer, bytes, MORPH_WIRE_LEDGER, graph->params.checksum);

	words_put(&words, graph->accelerators_count);
	words_put(&words, graph->elements_count);
	words_put(&words, graph->guides_count);
	for (uint32_t at = 0; at < graph->accelerators_count; at++) {
		words_put(&words, ledger->owner[at]);
		words_put(&words, ledger->chip_marked[at] | (ledger->spare[at] ? 2U : 0));
	}
	for (uint32_t at = 0; at < graph->elements_count; at++)
		words_put(&words, ledger->element_marked[at] | (ledger->element_held[at] ? 2U : 0) |
					  (ledger->element_kept[at] ? 4U : 0));
	for (uint32_t at = 0; at < graph->guides_count; at++) {
		words_put(&words, ledger->guide_marked[at] | (ledger->guide_kept[at] ? 2U : 0));
		words_put_long(&words, ledger->guide_lanes[at]);
	}
	return words_end(&words);
}

static void put_strand(struct words *words, const struct strand *strand)
{
	words_put(words, strand->guides_count);
	for (uint32_t at = 0; at < STRAND_GUIDES; at++) {
		bool between = at + 1 < strand->guides_count;

		words_put(words, at < strand->guides_count ? strand->guides[at] : OPTICS_NONE);
		words_put(words, between ? strand->elements[at] : OPTICS_NONE);
		words_put(words, between ? strand->states[at] : OPTICS_NONE);
	}
}

ssize_t morph_plan_write(const struct morph_plan *plan, const struct morph_ledger *ledger,
			 void *buffer, size_t bytes)
{
	struct words words = words_begin(buffer, bytes, MORPH_WIRE_PLAN, plan->checksum);
	bool feasible = plan->verdict == MORPH_FEASIBLE;

	words_put(&words, plan->verdict);
	words_put(&words, feasible ? plan->tier : 0);
	words_put(&words, plan->ranks);
	words_put(&words, plan->whole);
	words_put(&words, feasible ? plan->strands_count : 0);
	words_put(&words, feasible ? plan->fibres_bound : 0);
	words_put(&words, feasible ? plan->servers : 0);
	words_put(&words, feasible ? plan->servers_bound : 0);
	words_put(&words, feasible ? plan->circuits_count : 0);
	words_put(&words, feasible ? plan->strands_count : 0);
	words_put(&words, plan->refusals_count);
	words_put(&words, plan->cuts_count);
	for (uint32_t rank = 0; rank < plan->ranks; rank++) {
		words_put(&words, feasible ? plan->accelerators[rank] : OPTICS_NONE);
		words_put(&words, plan->parts[rank]);
	}
	for (uint32_t at = 0; feasible && at < plan->circuits_count; at++) {
		words_put(&words, plan->ways[at].first);
		words_put(&words, plan->ways[at].count | plan->ways[at].band << 16);
	}
	for (uint32_t at = 0; feasible && at < plan->strands_count; at++)
		put_strand(&words, &plan->strands[at]);
	for (uint32_t at = 0; at < plan->refusals_count; at++) {
		const struct rack_refusal *refusal = &plan->refusals[at];

		words_put(
			&words,
			refusal->rack == UINT32_MAX ?
				UINT32_MAX :
				ledger->sites
					.rack_hosts[ledger->sites.racks[refusal->rack].hosts_first]);
		words_put(&words, refusal->reason);
		words_put(&words, refusal->have);
		words_put(&words, refusal->need);
		words_put(&words, refusal->cuts_first);
		words_put(&words, refusal->cuts_count);
	}
	for (uint32_t at = 0; at < plan->cuts_count; at++)
		words_put_long(&words, plan->cuts[at]);
	return words_end(&words);
}

/* -------------------------------------------------------------- defragmentation */

ssize_t morph_defrag_write_running(const struct morph_defrag *defrag, void *buffer, size_t bytes)
{
	uint32_t checksum = defrag->slices.count ? defrag->slices.list[0].plan->checksum : 0;
	struct words words = words_begin(buffer, bytes, MORPH_WIRE_RUNNING, checksum);

	words_put(&words, defrag->slices.count);
	for (uint32_t slice = 0; slice < defrag->slices.count; slice++) {
		const struct running *running = &defrag->slices.list[slice];
		const struct morph_plan *plan = running->plan;

		words_put(&words, running->slice);
		words_put(&words, plan->transit);
		words_put(&words, running->pinned);
		words_put(&words, plan->ranks);
		words_put(&words, plan->circuits_count);
		words_put(&words, plan->strands_count);
		for (uint32_t rank = 0; rank < plan->ranks; rank++)
			words_put(&words, plan->accelerators[rank]);
		for (uint32_t at = 0; at < plan->circuits_count; at++) {
			words_put(&words, plan->circuits[at].src);
			words_put(&words, plan->circuits[at].dst);
			words_put(&words, plan->ways[at].first);
			words_put(&words, plan->ways[at].count);
		}
		for (uint32_t at = 0; at < plan->strands_count; at++)
			put_strand(&words, &plan->strands[at]);
	}
	return words_end(&words);
}

static void put_steps(struct words *words, const struct morph_defrag *defrag)
{
	for (uint32_t at = 0; at < defrag->steps.count; at++) {
		words_put(words, defrag->steps.list[at].kind);
		words_put(words, defrag->steps.list[at].slice);
		words_put(words, defrag->steps.list[at].first);
		words_put(words, defrag->steps.list[at].count);
	}
	for (uint32_t at = 0; at < defrag->changes.count; at++) {
		words_put(words, defrag->changes.list[at].circuit);
		words_put(words, defrag->changes.list[at].first);
		words_put(words, defrag->changes.list[at].count);
	}
	for (uint32_t at = 0; at < defrag->strands.count; at++)
		put_strand(words, &defrag->strands.list[at]);
	for (uint32_t at = 0; at < defrag->tenants.count; at++) {
		words_put(words, defrag->tenants.list[at].slice);
		words_put(words, defrag->tenants.list[at].moved);
		words_put(words, defrag->tenants.list[at].dark);
		words_put_long(words, defrag->tenants.list[at].dark_ns);
	}
}

static void put_refusals(struct words *words, const struct morph_defrag *defrag)
{
	for (uint32_t at = 0; at < defrag->refusals.count; at++) {
		const struct refusal *refusal = &defrag->refusals.list[at];

		words_put(words, refusal->host);
		words_put(words, refusal->reason);
		words_put(words, refusal->have);
		words_put(words, refusal->need);
		words_put(words, refusal->first);
		words_put(words, refusal->count);
	}
	for (uint32_t at = 0; at < defrag->metrics.count; at++) {
		words_put(words, defrag->metrics.list[at].first);
		words_put(words, defrag->metrics.list[at].count);
	}
	for (uint32_t at = 0; at < defrag->lengths.count; at++) {
		words_put(words, defrag->lengths.list[at].from);
		words_put(words, defrag->lengths.list[at].to);
		words_put(words, defrag->lengths.list[at].length);
	}
}

ssize_t morph_defrag_write(const struct morph_defrag *defrag, void *buffer, size_t bytes)
{
	const struct morph_plan *plan = defrag->plan;
	struct words words = words_begin(buffer, bytes, MORPH_WIRE_DEFRAG, plan->checksum);
	bool feasible = defrag->verdict == MORPH_FEASIBLE;

	words_put(&words, defrag->verdict);
	words_put(&words, feasible ? plan->tier : 0);
	words_put(&words, plan->ranks);
	words_put(&words, plan->whole);
	words_put(&words, defrag->moved);
	words_put(&words, defrag->moved_least);
	words_put(&words, defrag->dark);
	words_put(&words, defrag->steps.count);
	words_put(&words, defrag->changes.count);
	words_put(&words, defrag->strands.count);
	words_put(&words, defrag->tenants.count);
	words_put(&words, defrag->refusals.count);
	words_put(&words, defrag->metrics.count);
	words_put(&words, defrag->lengths.count);
	for (uint32_t rank = 0; rank < plan->ranks; rank++) {
		words_put(&words, feasible ? plan->accelerators[rank] : OPTICS_NONE);
		words_put(&words, plan->parts[rank]);
	}
	put_steps(&words, defrag);
	put_refusals(&words, defrag);
	return words_end(&words);
}

/* ------------------------------------------------------------------- protection */

static void put_protected(struct words *words, const struct protected_rank *rank)
{
	words_put(words, rank->verdict);
	words_put(words, rank->spare);
	words_put(words, rank->ways_first);
	words_put(words, rank->ways_count);
	words_put(words, rank->refusals_first);
	words_put(words, rank->refusals_count);
}

ssize_t morph_protection_write(const struct morph_protection *protection, void *buffer,
			       size_t bytes)
{
	struct words words =
		words_begin(buffer, bytes, MORPH_WIRE_PROTECTION, protection->checksum);

	words_put(&words, protection->verdict);
	words_put(&words, protection->ranks_count);
	words_put(&words, protection->ways.count);
	words_put(&words, protection->strands.count);
	words_put(&words, protection->refusals.count);
	for (uint32_t rank = 0; rank < protection->ranks_count; rank++)
		put_protected(&words, &protection->ranks[rank]);
	for (uint32_t at = 0; at < protection->ways.count; at++) {
		words_put(&words, protection->ways.list[at].circuit);
		words_put(&words, protection->ways.list[at].first);
		words_put(&words, protection->ways.list[at].count);
	}
	for (uint32_t at = 0; at < protection->strands.count; at++)
		put_strand(&words, &protection->strands.list[at].strand);
	for (uint32_t at = 0; at < protection->refusals.count; at++) {
		const struct spare_refusal *refusal = &protection->refusals.list[at];

		words_put(&words, refusal->spare);
		words_put(&words, refusal->reason);
		words_put_long(&words, refusal->departs);
		words_put_long(&words, refusal->arrives);
	}
	return words_end(&words);
}

/* -------------------------------------------------------------------- bandwidth */

ssize_t morph_bandwidth_write_problem(const struct morph_bandwidth *bw, void *buffer, size_t bytes)
{
	struct words words = words_begin(buffer, bytes, MORPH_WIRE_BANDWIDTH, 0);
	uint32_t first = 0;

	words_put(&words, bw->wavelengths);
	words_put(&words, bw->accelerators.count);
	words_put(&words, bw->guides.count);
	words_put(&words, bw->groups.count);
	words_put(&words, bw->hops.count);
	/* Besides guides, a path contains the ports at both ends. */
	words_put(&words, bw->ways.count - 2 * bw->hops.count);
	for (uint32_t at = 0; at < bw->accelerators.count; at++) {
		words_put(&words, bw->resources.list[bw->accelerators.list[at]].fibres);
		words_put(&words, bw->resources.list[bw->accelerators.list[at] + 1].fibres);
	}
	for (uint32_t at = 0; at < bw->guides.count; at++)
		words_put(&words, bw->resources.list[bw->guides.list[at]].fibres);
	for (uint32_t at = 0; at < bw->groups.count; at++) {
		words_put(&words, bw->groups.list[at].least);
		words_put(&words, bw->groups.list[at].most);
	}
	for (uint32_t at = 0; at < bw->hops.count; at++) {
		const struct bw_hop *hop = &bw->hops.list[at];
		uint32_t ends[2] = { 0 };

		for (uint32_t use = 0; use < hop->count; use++) {
			const struct bw_resource *it =
				&bw->resources.list[bw->ways.list[hop->first + use]];

			if (it->part != MORPH_BANDWIDTH_GUIDE)
				ends[it->part == MORPH_BANDWIDTH_RECEIVE] = it->index;
		}
		words_put(&words, hop->group);
		words_put(&words, ends[0]);
		words_put(&words, ends[1]);
		words_put(&words, hop->circuits);
		words_put(&words, first);
		words_put(&words, hop->count - 2);
		first += hop->count - 2;
	}
	for (uint32_t at = 0; at < bw->ways.count; at++) {
		const struct bw_resource *it = &bw->resources.list[bw->ways.list[at]];

		if (it->part == MORPH_BANDWIDTH_GUIDE)
			words_put(&words, it->index);
	}
	return words_end(&words);
}

static void put_stop(struct words *words, const struct morph_bandwidth_group *stop)
{
	words_put(words, stop->part);
	words_put(words, stop->index);
	words_put_long(words, stop->have);
	words_put_long(words, stop->need);
}

ssize_t morph_bandwidth_write(const struct morph_bandwidth *bw, void *buffer, size_t bytes)
{
	struct words words = words_begin(buffer, bytes, MORPH_WIRE_SHARES, 0);
	bool feasible = bw->verdict == MORPH_FEASIBLE;
	uint64_t circuits = 0;

	if (!bw->solved)
		return lm_fail(bw->ctx, EINVAL, "the bandwidth problem is not solved");
	for (uint32_t at = 0; at < bw->hops.count; at++)
		circuits += morph_bandwidth_lanes(bw, at, NULL, 0);
	words_put(&words, bw->verdict);
	words_put(&words, feasible ? bw->proof : 0);
	words_put(&words, bw->groups.count);
	words_put(&words, bw->hops.count);
	words_put(&words, (uint32_t)circuits);
	put_stop(&words, &bw->short_of);
	for (uint32_t at = 0; at < bw->groups.count; at++) {
		words_put(&words, bw->groups.list[at].bandwidth);
		put_stop(&words, &bw->groups.list[at].stop);
	}
	for (uint32_t at = 0; at < bw->hops.count; at++)
		words_put(&words, (uint32_t)morph_bandwidth_lanes(bw, at, NULL, 0));
	for (uint32_t at = 0; at < bw->hops.count; at++) {
		uint32_t count = (uint32_t)morph_bandwidth_lanes(bw, at, NULL, 0);

		for (uint32_t circuit = 0; circuit < count; circuit++)
			words_put(&words, lm_bw_lane(bw, at, circuit));
	}
	return words_end(&words);
}
