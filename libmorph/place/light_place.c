// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Placement with paths inside servers. morph_place() counts fibres only; the router finds out
 * whether light reaches them. If a circuit is stuck, the slice is placed again without its fibres.
 */
#include <stdlib.h>

#include "../internal/planner.h"
#include "../util/array.h"
#include "light.h"

#define PLANS 16 /* plans to try, */
#define CIRCUITS 16384 /* and circuits of all plans, at most */

/* Fibres that are left out, each as often as it is listed. */
struct left_out {
	struct morph_ledger *ledger;
	ARRAY_OF(uint32_t) guides;
};

static int leave_out_strand(struct left_out *out, const struct strand *strand)
{
	int error =
		ARRAY_GROW(out->ledger->ctx, out->guides, strand->guides_count, "place a slice");

	for (uint32_t at = 0; at < strand->guides_count && !error; at++) {
		out->guides.list[out->guides.count++] = strand->guides[at] >> 1;
		out->ledger->guide_kept[strand->guides[at] >> 1]++;
	}
	return error;
}

/* -EBUSY if the circuit has no fibres, because another plan would be the same. */
static int leave_out(struct left_out *out, const struct morph_plan *plan, uint32_t circuit)
{
	const struct circuit_way *way = &plan->ways[circuit];
	int error = way->count ? 0 : -EBUSY;

	for (uint32_t hop = 0; hop < way->count && !error; hop++)
		error = leave_out_strand(out, &plan->strands[way->first + hop]);
	return error;
}

static void take_back(struct left_out *out)
{
	while (out->guides.count)
		out->ledger->guide_kept[out->guides.list[--out->guides.count]]--;
	free(out->guides.list);
}

/* Place and light. *stuck: the circuit that caused an -EBUSY. */
static int try_plan(struct morph_txn *txn, struct morph_ledger *ledger,
		    const struct morph_request *request, struct morph_plan *plan, uint32_t *stuck)
{
	int error = morph_place(ledger, request, plan);

	if (error || plan->verdict != MORPH_FEASIBLE)
		return error;
	return lm_txn_add_plan(txn, plan, ledger, stuck);
}

MORPH_API int morph_txn_place(struct morph_txn *txn, struct morph_ledger *ledger,
			      const struct morph_request *request, struct morph_plan *plan)
{
	struct left_out out = { .ledger = ledger };
	uint32_t stuck = UINT32_MAX, plans = 1;
	int error = try_plan(txn, ledger, request, plan, &stuck);

	while (error == -EBUSY && stuck != UINT32_MAX && plans < PLANS &&
	       (plans < 2 || (plans + 1) * plan->circuits_count <= CIRCUITS)) {
		error = leave_out(&out, plan, stuck);
		if (error)
			break;
		error = try_plan(txn, ledger, request, plan, &stuck);
		plans++;
	}
	take_back(&out);
	/*
	 * A refusal without those fibres proves nothing. Report that the first plan has no paths.
	 */
	if (plans > 1 && (error == -EBUSY || (!error && plan->verdict != MORPH_FEASIBLE)))
		error = try_plan(txn, ledger, request, plan, &stuck);
	return error;
}
