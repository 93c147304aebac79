// SPDX-License-Identifier: LGPL-2.1-or-later
/* Access to an answer, and its execution in a ledger. */
#include <errno.h>

#include "defrag.h"

const char *morph_defrag_why(const struct morph_defrag *defrag)
{
	return defrag->why;
}

MORPH_API const struct morph_plan *morph_defrag_plan(const struct morph_defrag *defrag)
{
	return defrag->plan;
}

/* --------------------------------------------------------------------- reading */

static int check_out(const struct morph_defrag *defrag, const void *out, size_t known,
		     const char *what, uint32_t index, uint32_t count)
{
	int ret = lm_opts_check(defrag->ctx, out, known, what);

	if (!ret && index >= count)
		ret = lm_fail(defrag->ctx, ENOENT, "%s %u: there are %u", what, index, count);
	return ret;
}

/* Copy as many fields of a structure as its owner knows. */
static void fill(void *out, const void *mine, size_t known)
{
	size_t size;

	memcpy(&size, out, sizeof(size));
	memcpy((char *)out + sizeof(size), (const char *)mine + sizeof(size),
	       (size < known ? size : known) - sizeof(size));
}

int morph_defrag_step(const struct morph_defrag *defrag, uint32_t step,
		      struct morph_defrag_step *out)
{
	int ret = check_out(defrag, out, sizeof(*out), "step", step, defrag->steps.count);
	struct morph_defrag_step mine = { 0 };

	if (ret)
		return ret;
	mine.kind = defrag->steps.list[step].kind;
	mine.slice = defrag->steps.list[step].slice;
	mine.changes = defrag->steps.list[step].count;
	mine.takes_ns = mine.kind == MORPH_DEFRAG_BREAK ? 0 : defrag->light_ns;
	fill(out, &mine, sizeof(mine));
	return 0;
}

struct running *lm_defrag_running(const struct morph_defrag *defrag, uint32_t slice)
{
	struct running *running = defrag->slices.list;

	while (running->slice != slice)
		running++;
	return running;
}

struct morph_plan *lm_defrag_plan_of(const struct morph_defrag *defrag, uint32_t slice)
{
	return slice ? lm_defrag_running(defrag, slice)->plan : defrag->plan;
}

static const struct change *find_change(const struct morph_defrag *defrag, uint32_t step,
					uint32_t change)
{
	if (step >= defrag->steps.count || change >= defrag->steps.list[step].count)
		return NULL;
	return &defrag->changes.list[defrag->steps.list[step].first + change];
}

int morph_defrag_change(const struct morph_defrag *defrag, uint32_t step, uint32_t change,
			struct morph_defrag_change *out)
{
	uint32_t count = step < defrag->steps.count ? defrag->steps.list[step].count : 0;
	int ret = check_out(defrag, out, sizeof(*out), "change", change, count);
	const struct change *its = find_change(defrag, step, change);
	struct morph_defrag_change mine = { 0 };
	const struct rank_pair *pair;

	if (ret || !its)
		return ret;
	pair = &lm_defrag_plan_of(defrag, defrag->steps.list[step].slice)->circuits[its->circuit];
	mine.src_rank = pair->src;
	mine.dst_rank = pair->dst;
	mine.circuit = its->circuit;
	mine.fibres = its->count;
	mine.dark = its->dark || defrag->steps.list[step].kind == MORPH_DEFRAG_SWITCH ||
		    defrag->steps.list[step].kind == MORPH_DEFRAG_BREAK;
	fill(out, &mine, sizeof(mine));
	return 0;
}

int morph_defrag_guides(const struct morph_defrag *defrag, uint32_t step, uint32_t change,
			uint32_t *guides, uint32_t count)
{
	const struct change *its = find_change(defrag, step, change);
	uint32_t there = 0;

	if (!its)
		return lm_fail(defrag->ctx, ENOENT, "step %u has no change %u", step, change);
	for (uint32_t at = 0; at < its->count; at++) {
		const struct strand *strand = &defrag->strands.list[its->first + at];

		for (uint32_t guide = 0; guide < strand->guides_count; guide++, there++)
			if (there < count)
				guides[there] = strand->guides[guide] >> 1;
	}
	return (int)there;
}

int morph_defrag_tenant(const struct morph_defrag *defrag, uint32_t tenant,
			struct morph_defrag_tenant *out)
{
	int ret = check_out(defrag, out, sizeof(*out), "tenant", tenant, defrag->tenants.count);
	struct morph_defrag_tenant mine = { 0 };

	if (ret)
		return ret;
	mine.slice = defrag->tenants.list[tenant].slice;
	mine.moved = defrag->tenants.list[tenant].moved;
	mine.dark = defrag->tenants.list[tenant].dark;
	mine.dark_ns = defrag->tenants.list[tenant].dark_ns;
	fill(out, &mine, sizeof(mine));
	return 0;
}

/* ---------------------------------------------------------------------- taking */

/* The last change of a circuit, or NULL. */
static const struct change *last_change(const struct morph_defrag *defrag, uint32_t slice,
					uint32_t circuit)
{
	for (uint32_t at = defrag->steps.count; at--;) {
		const struct change *change =
			lm_defrag_change_of(defrag, &defrag->steps.list[at], slice, circuit);

		if (change)
			return change;
	}
	return NULL;
}

/* A slice's hops after all steps, in new memory. */
static struct strand *strands_after(const struct morph_defrag *defrag,
				    const struct running *running, uint32_t *count,
				    struct circuit_way *ways)
{
	const struct morph_plan *plan = running->plan;
	struct strand *strands;

	*count = 0;
	for (uint32_t at = 0; at < plan->circuits_count; at++) {
		const struct change *change = last_change(defrag, running->slice, at);

		ways[at] = (struct circuit_way){ .first = *count,
						 .count = change ? change->count :
								   plan->ways[at].count };
		*count += ways[at].count;
	}
	strands = calloc(*count + 1U, sizeof(*strands));
	for (uint32_t at = 0; strands && at < plan->circuits_count; at++) {
		const struct change *change = last_change(defrag, running->slice, at);
		const struct strand *from = change ? &defrag->strands.list[change->first] :
						     &plan->strands[plan->ways[at].first];

		if (ways[at].count)
			memcpy(&strands[ways[at].first], from, ways[at].count * sizeof(*strands));
	}
	return strands;
}

/* A slice's plan before or after all steps. */
struct swap {
	struct strand *strands;
	struct circuit_way *ways;
	uint32_t count;
};

static bool is_moved(const struct morph_defrag *defrag, uint32_t slice)
{
	for (uint32_t at = 0; at < defrag->tenants.count; at++)
		if (defrag->tenants.list[at].slice == slice)
			return true;
	return false;
}

static void swap_plans(struct morph_defrag *defrag, struct swap *swaps)
{
	for (uint32_t at = 0; at < defrag->slices.count; at++) {
		struct morph_plan *plan = defrag->slices.list[at].plan;
		struct swap was = { plan->strands, plan->ways, plan->strands_count };

		if (!swaps[at].strands)
			continue;
		plan->strands = swaps[at].strands;
		plan->ways = swaps[at].ways;
		plan->strands_count = plan->strands_room = swaps[at].count;
		swaps[at] = was;
	}
}

static void hold_plans(struct morph_defrag *defrag, struct morph_ledger *ledger,
		       const struct swap *swaps, bool hold)
{
	for (uint32_t at = 0; at < defrag->slices.count; at++) {
		const struct morph_plan *plan = defrag->slices.list[at].plan;

		for (uint32_t its = 0; swaps[at].strands && its < plan->strands_count; its++)
			lm_strand_hold(ledger, &plan->strands[its], hold);
	}
}

static bool plans_free(const struct morph_defrag *defrag, const struct morph_ledger *ledger,
		       const struct swap *swaps)
{
	for (uint32_t at = 0; at < defrag->slices.count; at++) {
		const struct morph_plan *plan = defrag->slices.list[at].plan;

		for (uint32_t its = 0; swaps[at].strands && its < plan->strands_count; its++)
			for (uint32_t guide = 0; guide < plan->strands[its].guides_count; guide++)
				if (ledger->guide_lanes[plan->strands[its].guides[guide] >> 1])
					return false;
	}
	return true;
}

static int prepare(struct morph_defrag *defrag, struct swap *swaps)
{
	for (uint32_t at = 0; at < defrag->slices.count; at++) {
		const struct running *running = &defrag->slices.list[at];

		if (!is_moved(defrag, running->slice))
			continue;
		/* The same size as before, because a plan that is used again expects it. */
		swaps[at].ways = calloc(running->plan->circuits_room + 1U, sizeof(*swaps[at].ways));
		if (swaps[at].ways)
			swaps[at].strands =
				strands_after(defrag, running, &swaps[at].count, swaps[at].ways);
		if (!swaps[at].strands)
			return lm_no_memory(defrag->ctx, "apply the moves to the ledger");
	}
	return 0;
}

/* Take all moves and then the request, or nothing. */
static int take(struct morph_defrag *defrag, struct morph_ledger *ledger, struct swap *swaps,
		uint32_t slice)
{
	int ret;

	hold_plans(defrag, ledger, swaps, false);
	swap_plans(defrag, swaps);
	if (plans_free(defrag, ledger, swaps)) {
		hold_plans(defrag, ledger, swaps, true);
		ret = morph_ledger_take(ledger, defrag->plan, slice);
		if (!ret)
			return 0;
		hold_plans(defrag, ledger, swaps, false);
	} else {
		ret = lm_fail(defrag->ctx, EBUSY, "a target fibre of a move is not free");
	}
	swap_plans(defrag, swaps);
	hold_plans(defrag, ledger, swaps, true);
	return ret;
}

int morph_defrag_take(struct morph_defrag *defrag, struct morph_ledger *ledger, uint32_t slice)
{
	struct swap *swaps;
	int ret;

	if (defrag->verdict != MORPH_FEASIBLE)
		return lm_fail(defrag->ctx, EINVAL, "no feasible answer to carry out");
	if (defrag->plan->checksum != ledger->graph->params.checksum)
		return lm_fail(
			defrag->ctx, EINVAL,
			"the answer is for a profile with checksum %08x, the ledger's has %08x",
			defrag->plan->checksum, ledger->graph->params.checksum);
	swaps = calloc(defrag->slices.count + 1U, sizeof(*swaps));
	if (!swaps)
		return lm_no_memory(defrag->ctx, "apply the moves to the ledger");
	ret = prepare(defrag, swaps);
	if (!ret)
		ret = take(defrag, ledger, swaps, slice);
	for (uint32_t at = 0; at < defrag->slices.count; at++) {
		free(swaps[at].strands);
		free(swaps[at].ways);
	}
	free(swaps);
	return ret;
}
