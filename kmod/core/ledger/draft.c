// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drafts: private copies of the ledger, for many path searches without fabric->lock. Their owner
 * claims the found paths there, and nobody else sees that.
 *
 * The copy of a big ledger takes several holds of the lock, between which the ledger may change.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"

#define COPIED_AT_ONCE	(128 * 1024u)	/* bytes, in one hold of fabric->lock */

struct morph_draft *morph_draft_alloc(struct morph_fabric *fabric, struct morph_user *user,
				      struct morph_refusal *refusal)
{
	gfp_t gfp = refusal ? GFP_KERNEL_ACCOUNT : MORPH_GFP_REPAIR;
	size_t state = optics_state_bytes(fabric->graph);
	size_t work = optics_route_bytes(MORPH_ROUTE_STEPS);
	size_t bytes = sizeof(struct morph_draft) + state + work;
	struct morph_draft *draft;
	void *block;
	int ret = 0;

	if (refusal)
		ret = morph_user_charge(user, MORPH_RES_BYTES, bytes, refusal);
	else
		morph_user_charge_anyway(user, MORPH_RES_BYTES, bytes);
	if (ret)
		return ERR_PTR(ret);
	draft = kzalloc(sizeof(*draft), gfp);
	block = kvmalloc(state, gfp);
	if (draft)
		draft->work = kvmalloc(work, gfp);
	if (!draft || !block || !draft->work) {
		kvfree(block);
		if (draft)
			kvfree(draft->work);
		kfree(draft);
		morph_user_uncharge(user, MORPH_RES_BYTES, bytes);
		return ERR_PTR(-ENOMEM);
	}
	draft->user = user;
	draft->bytes = bytes;
	draft->state = optics_state_place(block, fabric->graph);
	return draft;
}

void morph_draft_begin(struct morph_draft *draft)
{
	draft->copied = optics_state_arrays(draft->state->graph);
}

/* Reservations that are lifted now do not bind the draft. Its bytes before @end are copied. */
static void lift_reserved(struct morph_draft *draft, const struct optics_state *ledger, size_t end)
{
	size_t first = (u8 *)draft->state->guide_reserved - (u8 *)draft->state;
	u32 guide = draft->copied > first ? (draft->copied - first) / sizeof(u64) : 0;
	u32 guides = ledger->graph->guides_count;

	if (!ledger->lifted || end <= first)
		return;
	guides = min_t(size_t, guides, (end - first) / sizeof(u64));
	for (; guide < guides; guide++)
		draft->state->guide_reserved[guide] &= ~ledger->lifted[guide];
}

bool morph_draft_copy_some(struct morph_draft *draft, struct morph_fabric *fabric)
{
	const struct optics_state *ledger = ledger_of(fabric)->state;
	size_t bytes = optics_state_bytes(fabric->graph);
	size_t end = min_t(size_t, bytes, draft->copied + COPIED_AT_ONCE);

	lockdep_assert_held(&fabric->lock);
	memcpy((u8 *)draft->state + draft->copied, (const u8 *)ledger + draft->copied,
	       end - draft->copied);
	lift_reserved(draft, ledger, end);
	draft->copied = end;
	return end < bytes;
}

void morph_draft_copy(struct morph_draft *draft, struct morph_fabric *fabric)
{
	bool more;

	morph_draft_begin(draft);
	do {
		mutex_lock(&fabric->lock);
		more = morph_draft_copy_some(draft, fabric);
		mutex_unlock(&fabric->lock);
		cond_resched();
	} while (more);
}

void morph_draft_free(struct morph_draft *draft)
{
	morph_user_uncharge(draft->user, MORPH_RES_BYTES, draft->bytes);
	kvfree(draft->work);
	kvfree(draft->state);
	kfree(draft);
}
