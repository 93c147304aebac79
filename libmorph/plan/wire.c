// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests, ledgers and plans in bytes, as <morph/wire.h> says. */
#include <endian.h>

#include "bandwidth.h"
#include "defrag.h"
#include "protect.h"

/* Words on their way into a buffer, which may be too small; they are counted all the same. */
struct words {
	uint8_t *buffer;
	size_t room, count; /* words */
};

static void put(struct words *words, uint32_t value)
{
	uint32_t word = htole32(value);

	if (words->count < words->room)
		memcpy(words->buffer + 4 * words->count, &word, 4);
	words->count++;
}

static void put_long(struct words *words, uint64_t value)
{
	put(words, (uint32_t)value);
	put(words, (uint32_t)(value >> 32));
}

static struct words begin(void *buffer, size_t bytes, uint32_t kind, uint32_t checksum)
{
	struct words words = { .buffer = buffer, .room = buffer ? bytes / 4 : 0 };

	put(&words, MORPH_WIRE_MAGIC);
	put(&words, MORPH_WIRE_VERSION);
	put(&words, kind);
	put(&words, checksum);
	put(&words, 0); /* the number of words, when it is known */
	return words;
}

static ssize_t end(struct words *words)
{
	size_t count = words->count;

	if (words->room >= MORPH_WIRE_HEAD) {
		words->count = MORPH_WIRE_HEAD - 1;
		put(words, (uint32_t)count);
	}
	if (words->buffer && words->room < count)
		return -ENOSPC;
	return (ssize_t)(4 * count);
}

MORPH_API ssize_t morph_request_write(const struct morph_request *request,
				      const struct morph_ledger *ledger, void *buffer, size_t bytes)
{
	struct words words = begin(buffer, bytes, MORPH_WIRE_REQUEST, 0);

	put(&words, request->ranks);
	put(&words, request->circuits_count);
	put(&words, (uint32_t)lm_request_lanes(request, ledger->graph) | (request->bands - 1)
										 << 16);
	put(&words, request->tier);
	put(&words, request->transit | request->servers << 16);
	for (uint32_t axis = 0; axis < 3; axis++)
		put(&words, request->extent[axis]);
	for (uint32_t at = 0; at < request->circuits_count; at++) {
		put(&words, request->circuits[at].src);
		put(&words, request->circuits[at].dst);
	}
	return end(&words);
}

MORPH_API ssize_t morph_ledger_write(const struct morph_ledger *ledger, void *buffer, size_t bytes)
{
	const struct optics_graph *graph = ledger->graph;
	struct words words = begin(buffer, bytes, MORPH_WIRE_LEDGER, graph->params.checksum);

	put(&words, graph->accelerators_count);
	put(&words, graph->elements_count);
	put(&words, graph->guides_count);
	for (uint32_t at = 0; at < graph->accelerators_count; at++) {
		put(&words, ledger->owner[at]);
		put(&words, ledger->chip_marked[at] | (ledger->spare[at] ? 2U : 0));
	}
	for (uint32_t at = 0; at < graph->elements_count; at++)
		put(&words, ledger->element_marked[at] | (ledger->element_held[at] ? 2U : 0) |
				    (ledger->element_kept[at] ? 4U : 0));
	for (uint32_t at = 0; at < graph->guides_count; at++) {
		put(&words, ledger->guide_marked[at] | (ledger->guide_kept[at] ? 2U : 0));
		put_long(&words, ledger->guide_lanes[at]);
	}
	return end(&words);
}

static void put_strand(struct words *words, const struct strand *strand)
{
	put(words, strand->guides_count);
	for (uint32_t at = 0; at < STRAND_GUIDES; at++) {
		bool between = at + 1 < strand->guides_count;

		put(words, at < strand->guides_count ? strand->guides[at] : OPTICS_NONE);
		put(words, between ? strand->elements[at] : OPTICS_NONE);
		put(words, between ? strand->states[at] : OPTICS_NONE);
	}
}

MORPH_API ssize_t morph_plan_write(const struct morph_plan *plan, const struct morph_ledger *ledger,
				   void *buffer, size_t bytes)
{
	struct words words = begin(buffer, bytes, MORPH_WIRE_PLAN, plan->checksum);
	bool feasible = plan->verdict == MORPH_FEASIBLE;

	put(&words, plan->verdict);
	put(&words, feasible ? plan->tier : 0);
	put(&words, plan->ranks);
	put(&words, plan->whole);
	put(&words, feasible ? plan->strands_count : 0);
	put(&words, feasible ? plan->fibres_bound : 0);
	put(&words, feasible ? plan->servers : 0);
	put(&words, feasible ? plan->servers_bound : 0);
	put(&words, feasible ? plan->circuits_count : 0);
	put(&words, feasible ? plan->strands_count : 0);
	put(&words, plan->refusals_count);
	put(&words, plan->cuts_count);
	for (uint32_t rank = 0; rank < plan->ranks; rank++) {
		put(&words, feasible ? plan->accelerators[rank] : OPTICS_NONE);
		put(&words, plan->parts[rank]);
	}
	for (uint32_t at = 0; feasible && at < plan->circuits_count; at++) {
		put(&words, plan->ways[at].first);
		put(&words, plan->ways[at].count | plan->ways[at].band << 16);
	}
	for (uint32_t at = 0; feasible && at < plan->strands_count; at++)
		put_strand(&words, &plan->strands[at]);
	for (uint32_t at = 0; at < plan->refusals_count; at++) {
		const struct rack_refusal *refusal = &plan->refusals[at];

		put(&words,
		    refusal->rack == UINT32_MAX ?
			    UINT32_MAX :
			    ledger->sites
				    .rack_hosts[ledger->sites.racks[refusal->rack].hosts_first]);
		put(&words, refusal->reason);
		put(&words, refusal->have);
		put(&words, refusal->need);
		put(&words, refusal->cuts_first);
		put(&words, refusal->cuts_count);
	}
	for (uint32_t at = 0; at < plan->cuts_count; at++)
		put_long(&words, plan->cuts[at]);
	return end(&words);
}

/* -------------------------------------------------------------- defragmentation */

MORPH_API ssize_t morph_defrag_write_running(const struct morph_defrag *defrag, void *buffer,
					     size_t bytes)
{
	uint32_t checksum = defrag->slices.count ? defrag->slices.list[0].plan->checksum : 0;
	struct words words = begin(buffer, bytes, MORPH_WIRE_RUNNING, checksum);

	put(&words, defrag->slices.count);
	for (uint32_t slice = 0; slice < defrag->slices.count; slice++) {
		const struct running *running = &defrag->slices.list[slice];
		const struct morph_plan *plan = running->plan;

		put(&words, running->slice);
		put(&words, plan->transit);
		put(&words, running->pinned);
		put(&words, plan->ranks);
		put(&words, plan->circuits_count);
		put(&words, plan->strands_count);
		for (uint32_t rank = 0; rank < plan->ranks; rank++)
			put(&words, plan->accelerators[rank]);
		for (uint32_t at = 0; at < plan->circuits_count; at++) {
			put(&words, plan->circuits[at].src);
			put(&words, plan->circuits[at].dst);
			put(&words, plan->ways[at].first);
			put(&words, plan->ways[at].count);
		}
		for (uint32_t at = 0; at < plan->strands_count; at++)
			put_strand(&words, &plan->strands[at]);
	}
	return end(&words);
}

static void put_steps(struct words *words, const struct morph_defrag *defrag)
{
	for (uint32_t at = 0; at < defrag->steps.count; at++) {
		put(words, defrag->steps.list[at].kind);
		put(words, defrag->steps.list[at].slice);
		put(words, defrag->steps.list[at].first);
		put(words, defrag->steps.list[at].count);
	}
	for (uint32_t at = 0; at < defrag->changes.count; at++) {
		put(words, defrag->changes.list[at].circuit);
		put(words, defrag->changes.list[at].first);
		put(words, defrag->changes.list[at].count);
	}
	for (uint32_t at = 0; at < defrag->strands.count; at++)
		put_strand(words, &defrag->strands.list[at]);
	for (uint32_t at = 0; at < defrag->tenants.count; at++) {
		put(words, defrag->tenants.list[at].slice);
		put(words, defrag->tenants.list[at].moved);
		put(words, defrag->tenants.list[at].dark);
		put_long(words, defrag->tenants.list[at].dark_ns);
	}
}

static void put_refusals(struct words *words, const struct morph_defrag *defrag)
{
	for (uint32_t at = 0; at < defrag->refusals.count; at++) {
		const struct refusal *refusal = &defrag->refusals.list[at];

		put(words, refusal->host);
		put(words, refusal->reason);
		put(words, refusal->have);
		put(words, refusal->need);
		put(words, refusal->first);
		put(words, refusal->count);
	}
	for (uint32_t at = 0; at < defrag->metrics.count; at++) {
		put(words, defrag->metrics.list[at].first);
		put(words, defrag->metrics.list[at].count);
	}
	for (uint32_t at = 0; at < defrag->lengths.count; at++) {
		put(words, defrag->lengths.list[at].from);
		put(words, defrag->lengths.list[at].to);
		put(words, defrag->lengths.list[at].length);
	}
}

MORPH_API ssize_t morph_defrag_write(const struct morph_defrag *defrag, void *buffer, size_t bytes)
{
	const struct morph_plan *plan = defrag->plan;
	struct words words = begin(buffer, bytes, MORPH_WIRE_DEFRAG, plan->checksum);
	bool feasible = defrag->verdict == MORPH_FEASIBLE;

	put(&words, defrag->verdict);
	put(&words, feasible ? plan->tier : 0);
	put(&words, plan->ranks);
	put(&words, plan->whole);
	put(&words, defrag->moved);
	put(&words, defrag->moved_least);
	put(&words, defrag->dark);
	put(&words, defrag->steps.count);
	put(&words, defrag->changes.count);
	put(&words, defrag->strands.count);
	put(&words, defrag->tenants.count);
	put(&words, defrag->refusals.count);
	put(&words, defrag->metrics.count);
	put(&words, defrag->lengths.count);
	for (uint32_t rank = 0; rank < plan->ranks; rank++) {
		put(&words, feasible ? plan->accelerators[rank] : OPTICS_NONE);
		put(&words, plan->parts[rank]);
	}
	put_steps(&words, defrag);
	put_refusals(&words, defrag);
	return end(&words);
}

/* ------------------------------------------------------------------- protection */

static void put_protected(struct words *words, const struct protected_rank *rank)
{
	put(words, rank->verdict);
	put(words, rank->spare);
	put(words, rank->ways_first);
	put(words, rank->ways_count);
	put(words, rank->refusals_first);
	put(words, rank->refusals_count);
}

MORPH_API ssize_t morph_protection_write(const struct morph_protection *protection, void *buffer,
					 size_t bytes)
{
	struct words words = begin(buffer, bytes, MORPH_WIRE_PROTECTION, protection->checksum);

	put(&words, protection->verdict);
	put(&words, protection->ranks_count);
	put(&words, protection->ways.count);
	put(&words, protection->strands.count);
	put(&words, protection->refusals.count);
	for (uint32_t rank = 0; rank < protection->ranks_count; rank++)
		put_protected(&words, &protection->ranks[rank]);
	for (uint32_t at = 0; at < protection->ways.count; at++) {
		put(&words, protection->ways.list[at].circuit);
		put(&words, protection->ways.list[at].first);
		put(&words, protection->ways.list[at].count);
	}
	for (uint32_t at = 0; at < protection->strands.count; at++)
		put_strand(&words, &protection->strands.list[at].strand);
	for (uint32_t at = 0; at < protection->refusals.count; at++) {
		const struct spare_refusal *refusal = &protection->refusals.list[at];

		put(&words, refusal->spare);
		put(&words, refusal->reason);
		put_long(&words, refusal->departs);
		put_long(&words, refusal->arrives);
	}
	return end(&words);
}

/* -------------------------------------------------------------------- bandwidth */

MORPH_API ssize_t morph_bw_write_problem(const struct morph_bw *bw, void *buffer, size_t bytes)
{
	struct words words = begin(buffer, bytes, MORPH_WIRE_BANDWIDTH, 0);
	uint32_t first = 0;

	put(&words, bw->wavelengths);
	put(&words, bw->accelerators.count);
	put(&words, bw->guides.count);
	put(&words, bw->groups.count);
	put(&words, bw->hops.count);
	/* Besides guides a way has the ports at both ends. */
	put(&words, bw->ways.count - 2 * bw->hops.count);
	for (uint32_t at = 0; at < bw->accelerators.count; at++) {
		put(&words, bw->resources.list[bw->accelerators.list[at]].fibres);
		put(&words, bw->resources.list[bw->accelerators.list[at] + 1].fibres);
	}
	for (uint32_t at = 0; at < bw->guides.count; at++)
		put(&words, bw->resources.list[bw->guides.list[at]].fibres);
	for (uint32_t at = 0; at < bw->groups.count; at++) {
		put(&words, bw->groups.list[at].least);
		put(&words, bw->groups.list[at].most);
	}
	for (uint32_t at = 0; at < bw->hops.count; at++) {
		const struct bw_hop *hop = &bw->hops.list[at];
		uint32_t ends[2] = { 0 };

		for (uint32_t use = 0; use < hop->count; use++) {
			const struct bw_resource *it =
				&bw->resources.list[bw->ways.list[hop->first + use]];

			if (it->part != MORPH_BW_GUIDE)
				ends[it->part == MORPH_BW_RECEIVE] = it->index;
		}
		put(&words, hop->group);
		put(&words, ends[0]);
		put(&words, ends[1]);
		put(&words, hop->circuits);
		put(&words, first);
		put(&words, hop->count - 2);
		first += hop->count - 2;
	}
	for (uint32_t at = 0; at < bw->ways.count; at++) {
		const struct bw_resource *it = &bw->resources.list[bw->ways.list[at]];

		if (it->part == MORPH_BW_GUIDE)
			put(&words, it->index);
	}
	return end(&words);
}

static void put_stop(struct words *words, const struct morph_bw_stop *stop)
{
	put(words, stop->part);
	put(words, stop->index);
	put_long(words, stop->have);
	put_long(words, stop->need);
}

MORPH_API ssize_t morph_bw_write(const struct morph_bw *bw, void *buffer, size_t bytes)
{
	struct words words = begin(buffer, bytes, MORPH_WIRE_SHARES, 0);
	bool feasible = bw->verdict == MORPH_FEASIBLE;
	uint64_t circuits = 0;

	if (!bw->solved)
		return lm_fail(bw->ctx, EINVAL, "the bandwidth problem is not solved");
	for (uint32_t at = 0; at < bw->hops.count; at++)
		circuits += morph_bw_lanes(bw, at, NULL, 0);
	put(&words, bw->verdict);
	put(&words, feasible ? bw->proof : 0);
	put(&words, bw->groups.count);
	put(&words, bw->hops.count);
	put(&words, (uint32_t)circuits);
	put_stop(&words, &bw->short_of);
	for (uint32_t at = 0; at < bw->groups.count; at++) {
		put(&words, bw->groups.list[at].bandwidth);
		put_stop(&words, &bw->groups.list[at].stop);
	}
	for (uint32_t at = 0; at < bw->hops.count; at++)
		put(&words, (uint32_t)morph_bw_lanes(bw, at, NULL, 0));
	for (uint32_t at = 0; at < bw->hops.count; at++) {
		uint32_t count = (uint32_t)morph_bw_lanes(bw, at, NULL, 0);

		for (uint32_t circuit = 0; circuit < count; circuit++)
			put(&words, lm_bw_lane(bw, at, circuit));
	}
	return end(&words);
}
