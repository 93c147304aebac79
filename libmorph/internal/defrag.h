/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/defrag.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_DEFRAG_H
#define LM_INTERNAL_DEFRAG_H

#include <morph/plan.h>

#define MORPH_DEFRAG_PINNED 0x1u /* none of a slice's circuits may move */

/**
 * enum morph_defrag_kind - what a step does
 * @MORPH_DEFRAG_MOVE: new ways are lit, then the old go out
 * @MORPH_DEFRAG_SWITCH: old ways go out, then the new are lit, over the same ports or fibres
 * @MORPH_DEFRAG_BREAK: circuits go out
 * @MORPH_DEFRAG_MAKE: circuits that went out are lit again, by another way
 * @MORPH_DEFRAG_PLACE: the slice that was requested is lit; the last step
 */
enum morph_defrag_kind {
	MORPH_DEFRAG_MOVE = 1,
	MORPH_DEFRAG_SWITCH = 2,
	MORPH_DEFRAG_BREAK = 3,
	MORPH_DEFRAG_MAKE = 4,
	MORPH_DEFRAG_PLACE = 5,
};

/**
 * struct morph_defrag_step - one transaction
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @kind: what it does
 * @slice: of which slice; 0: the one that was requested
 * @changes: circuits that it changes
 * @takes_ns: that light takes for it: to settle and to be locked to
 */
struct morph_defrag_step {
	size_t sz;
	enum morph_defrag_kind kind;
	uint32_t slice;
	uint32_t changes;
	uint64_t takes_ns;
};

/**
 * struct morph_defrag_change - what happens to a circuit in a step
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @src_rank: rank that sends
 * @dst_rank: rank that receives
 * @circuit: its number in its slice's plan
 * @fibres: fibres that it takes from server to server; none where it goes out
 * @dark: 1: its light goes out, by the kind of the step or since morph_defrag_light() found no
 * 	way beside the old one
 */
struct morph_defrag_change {
	size_t sz;
	uint32_t src_rank;
	uint32_t dst_rank;
	uint32_t circuit;
	uint32_t fibres;
	uint32_t dark;
};

/**
 * struct morph_defrag_tenant - what a tenant would notice
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @slice: its slice
 * @moved: circuits that are moved
 * @dark: circuits whose light is gone meanwhile
 * @dark_ns: for how long, of the one that is dark longest
 */
struct morph_defrag_tenant {
	size_t sz;
	uint32_t slice;
	uint32_t moved;
	uint32_t dark;
	uint64_t dark_ns;
};

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

/**
 * morph_defrag_clear() - forget the slices that were added, and the answer
 * @defrag: the object
 */
void morph_defrag_clear(struct morph_defrag *defrag);

#endif /* LM_INTERNAL_DEFRAG_H */
