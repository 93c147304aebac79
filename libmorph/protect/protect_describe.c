// SPDX-License-Identifier: LGPL-2.1-or-later
/* Protections as objects for people and programs. */
#include "protect.h"
#include "../place/writer.h"

static void put_spare_circuits(struct writer *writer, const struct morph_protection *protection,
			       const struct morph_plan *plan, const struct morph_ledger *ledger,
			       uint32_t number)
{
	const struct protected_rank *rank = &protection->ranks[number];

	for (uint32_t at = rank->ways_first; at < rank->ways_first + rank->ways_count; at++) {
		const struct spare_way *way = &protection->ways.list[at];
		const struct rank_pair *pair = &plan->circuits[way->circuit];
		uint32_t src = pair->src == number ? rank->spare : plan->accelerators[pair->src];
		struct writer inner = writer_begin(MORPH_OBJECT_PLAN_CIRCUIT);

		put(&inner, "src-rank", pair->src);
		put(&inner, "dst-rank", pair->dst);
		put(&inner, "host", ledger->graph->accelerators[src].host);
		for (uint32_t hop = way->first; hop < way->first + way->count; hop++)
			lm_strand_write(&inner, &protection->strands.list[hop].strand);
		put_inner(writer, "circuit", &inner);
	}
}

static void put_spare_refusal(struct writer *writer, const struct spare_refusal *refusal,
			      const uint32_t *hosts)
{
	static const char *const reasons[] = { [MORPH_WIRE_SPARE_CUT] = "cut",
					       [MORPH_WIRE_SPARE_SEARCHED] = "searched",
					       [MORPH_WIRE_SPARE_DOUBT] = "doubt" };
	struct writer inner = writer_begin(MORPH_OBJECT_PROTECTION_REFUSAL);

	put(&inner, "spare", refusal->spare);
	put_text(&inner, "reason", reasons[refusal->reason]);
	for (uint64_t left = refusal->departs; left; left &= left - 1)
		put(&inner, "host", hosts[net_first(left)]);
	put_inner(writer, "refusal", &inner);
}

static void put_protected(struct writer *writer, const struct morph_protection *protection,
			  const struct morph_plan *plan, const struct morph_ledger *ledger,
			  uint32_t number)
{
	const struct protected_rank *rank = &protection->ranks[number];
	const struct optics_accelerator *chips = ledger->graph->accelerators;
	const struct sites *sites = &ledger->sites;
	uint32_t rack = sites->host_rack[chips[plan->accelerators[number]].host];
	struct writer inner = writer_begin(MORPH_OBJECT_PROTECTION_RANK);

	put(&inner, "rank", number);
	put_text(&inner, "verdict", lm_verdict_text(rank->verdict));
	if (rank->verdict == MORPH_FEASIBLE) {
		put(&inner, "spare", rank->spare);
		put(&inner, "host", chips[rank->spare].host);
		put(&inner, "fibres", rank->strands_count);
	}
	put_spare_circuits(&inner, protection, plan, ledger, number);
	for (uint32_t at = 0; at < rank->refusals_count; at++)
		put_spare_refusal(&inner, &protection->refusals.list[rank->refusals_first + at],
				  &sites->rack_hosts[sites->racks[rack].hosts_first]);
	put_inner(writer, "rank", &inner);
}

MORPH_API int morph_protection_describe(const struct morph_protection *protection,
					const struct morph_plan *plan,
					const struct morph_ledger *ledger,
					struct morph_object **out)
{
	struct writer writer;

	*out = NULL;
	if (!protection->verdict || protection->checksum != ledger->graph->params.checksum ||
	    protection->ranks_count != plan->ranks || protection->checksum != plan->checksum)
		return lm_fail(ledger->ctx, EINVAL,
			       "the protection is empty, or belongs to another plan or fabric");
	writer = writer_begin(MORPH_OBJECT_PROTECTION);
	put_text(&writer, "verdict", lm_verdict_text(protection->verdict));
	if (protection->why[0])
		put_text(&writer, "text", protection->why);
	for (uint32_t rank = 0; rank < protection->ranks_count; rank++)
		put_protected(&writer, protection, plan, ledger, rank);
	*out = writer_end(&writer);
	return *out ? 0 : lm_no_memory(ledger->ctx, "describe a protection");
}
