/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/defrag.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_DEFRAG_H
#define LM_INTERNAL_DEFRAG_H

#include <morph/plan.h>

/**
 * morph_defrag_add() - a slice that runs
 * @defrag: the object
 * @plan: its plan, which must outlive the object; only morph_defrag_take() changes it
 * @slice: its number in the ledger, not 0
 * @flags: MORPH_DEFRAG_PINNED or 0
 *
 * Return: 0, -EINVAL (not a feasible plan, or one across racks; number 0; unknown flags), -EEXIST
 * (the slice is there) or -ENOMEM.
 */
int morph_defrag_add(struct morph_defrag *defrag, struct morph_plan *plan, uint32_t slice,
		     uint32_t flags);

/**
 * morph_defrag_why() - why there is no room
 * @defrag: the object, solved
 *
 * Return: a sentence that names what is short, owned by @defrag; "" of a feasible answer.
 */
const char *morph_defrag_why(const struct morph_defrag *defrag);

/**
 * morph_defrag_step() - look at a step
 * @defrag: the object, solved
 * @step: its number, below morph_defrag_result.steps
 * @out: where to
 *
 * Return: 0, -ENOENT or -E2BIG (an unknown field).
 */
int morph_defrag_step(const struct morph_defrag *defrag, uint32_t step,
		      struct morph_defrag_step *out);

/**
 * morph_defrag_change() - look at a change
 * @defrag: the object, solved
 * @step: number of the step
 * @change: number of the change in it
 * @out: where to
 *
 * Return: 0, -ENOENT or -E2BIG (an unknown field).
 */
int morph_defrag_change(const struct morph_defrag *defrag, uint32_t step, uint32_t change,
			struct morph_defrag_change *out);

/**
 * morph_defrag_guides() - the guides between servers that a circuit takes
 * @defrag: the object, solved
 * @step: number of the step
 * @change: number of the change in it
 * @guides: where to put them, in the direction of light
 * @count: how many there is room for
 *
 * Return: how many there are, or -ENOENT.
 */
int morph_defrag_guides(const struct morph_defrag *defrag, uint32_t step, uint32_t change,
			uint32_t *guides, uint32_t count);

/**
 * morph_defrag_tenant() - look at a tenant
 * @defrag: the object, solved
 * @tenant: its number, below morph_defrag_result.tenants
 * @out: where to
 *
 * Return: 0, -ENOENT or -E2BIG (an unknown field).
 */
int morph_defrag_tenant(const struct morph_defrag *defrag, uint32_t tenant,
			struct morph_defrag_tenant *out);

/**
 * morph_defrag_take() - all steps are carried out, in a ledger
 * @defrag: the object, solved, with a feasible answer
 * @ledger: the ledger that it was solved for, as it was
 * @slice: number of the slice that was requested, not 0
 *
 * The plans that were added are those of the slices as they run afterwards.
 *
 * Return: 0, -EINVAL (no feasible answer, or another fabric's), -EBUSY (something is held that
 * was free; nothing is changed) or -ENOMEM.
 */
int morph_defrag_take(struct morph_defrag *defrag, struct morph_ledger *ledger, uint32_t slice);

#endif /* LM_INTERNAL_DEFRAG_H */
