// SPDX-License-Identifier: LGPL-2.1-or-later
/* The answer as an object for people and programs. */
#include "defrag.h"
#include "../place/writer.h"

static void put_change(struct writer *writer, const struct morph_defrag *defrag, uint32_t step,
		       uint32_t number)
{
	const struct change *change =
		&defrag->changes.list[defrag->steps.list[step].first + number];
	uint32_t slice = defrag->steps.list[step].slice;
	const struct running *running = slice ? lm_defrag_running(defrag, slice) : NULL;
	struct writer inner = writer_begin(MORPH_OBJECT_DEFRAG_CHANGE);
	MORPH_OPTS(morph_defrag_change, info);

	morph_defrag_change(defrag, step, number, &info);
	put(&inner, "src-rank", info.src_rank);
	put(&inner, "dst-rank", info.dst_rank);
	if (running && running->lit)
		put(&inner, "circuit", running->lit[change->circuit].number);
	put(&inner, "dark", info.dark);
	for (uint32_t at = 0; at < change->count; at++) {
		const struct strand *strand = &defrag->strands.list[change->first + at];

		for (uint32_t guide = 0; guide < strand->guides_count; guide++)
			put(&inner, "guide", strand->guides[guide] >> 1);
	}
	put_inner(writer, "change", &inner);
}

static void put_step(struct writer *writer, const struct morph_defrag *defrag, uint32_t step)
{
	static const char *const kinds[] = {
		[MORPH_DEFRAG_MOVE] = "move",	[MORPH_DEFRAG_SWITCH] = "switch",
		[MORPH_DEFRAG_BREAK] = "break", [MORPH_DEFRAG_MAKE] = "make",
		[MORPH_DEFRAG_PLACE] = "place",
	};
	struct writer inner = writer_begin(MORPH_OBJECT_DEFRAG_STEP);
	MORPH_OPTS(morph_defrag_step, info);

	morph_defrag_step(defrag, step, &info);
	put_text(&inner, "kind", kinds[info.kind]);
	if (info.slice)
		put(&inner, "slice", info.slice);
	put(&inner, "takes-ns", info.takes_ns);
	for (uint32_t at = 0; at < info.changes; at++)
		put_change(&inner, defrag, step, at);
	put_inner(writer, "step", &inner);
}

static void put_tenant(struct writer *writer, const struct tenant *tenant)
{
	struct writer inner = writer_begin(MORPH_OBJECT_DEFRAG_TENANT);

	put(&inner, "slice", tenant->slice);
	put(&inner, "moved", tenant->moved);
	put(&inner, "dark", tenant->dark);
	put(&inner, "dark-ns", tenant->dark_ns);
	put_inner(writer, "tenant", &inner);
}

static void put_stay(struct writer *writer, const struct stay *stay)
{
	struct writer inner = writer_begin(MORPH_OBJECT_DEFRAG_STAY);

	put(&inner, "slice", stay->slice);
	put_text(&inner, "text", stay->why);
	put_inner(writer, "stay", &inner);
}

static void put_answer(struct writer *writer, const struct morph_defrag *defrag,
		       const struct morph_ledger *ledger)
{
	struct writer inner;

	put(writer, "moved", defrag->moved);
	put(writer, "moved-least", defrag->moved_least);
	put(writer, "dark", defrag->dark);
	for (uint32_t step = 0; step < defrag->steps.count; step++)
		put_step(writer, defrag, step);
	for (uint32_t at = 0; at < defrag->tenants.count; at++)
		put_tenant(writer, &defrag->tenants.list[at]);
	inner = lm_plan_write(defrag->plan, ledger);
	put_inner(writer, "plan", &inner);
}

MORPH_API int morph_defrag_describe(const struct morph_defrag *defrag,
				    const struct morph_ledger *ledger, struct morph_object **out)
{
	struct writer writer;

	*out = NULL;
	if (!defrag->verdict || defrag->plan->checksum != ledger->graph->params.checksum)
		return lm_fail(defrag->ctx, EINVAL,
			       "the moves have no solution yet, or belong to another fabric");
	writer = writer_begin(MORPH_OBJECT_DEFRAG);
	put_text(&writer, "verdict", lm_verdict_text(defrag->verdict));
	if (defrag->verdict == MORPH_FEASIBLE)
		put_answer(&writer, defrag, ledger);
	else
		put_text(&writer, "text", defrag->why);
	for (uint32_t at = 0; at < defrag->stays.count; at++)
		put_stay(&writer, &defrag->stays.list[at]);
	*out = writer_end(&writer);
	return *out ? 0 : lm_no_memory(defrag->ctx, "describe the moves");
}
