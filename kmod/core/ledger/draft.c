// SPDX-License-Identifier: GPL-2.0-only
/* Private copies of the ledger, for many path searches without fabric->lock. */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"

#define COPIED_AT_ONCE	65536u	/* bytes, in one hold of fabric->lock */

struct morph_draft *morph_draft_alloc(struct morph_fabric *fabric, struct morph_user *user)
{
	size_t state = optics_state_bytes(fabric->graph);
	size_t work = optics_route_bytes(MORPH_ROUTE_STEPS);
	struct morph_draft *draft = kmalloc(sizeof(*draft), MORPH_GFP_REPAIR);

	draft->user = user;
	draft->bytes = sizeof(*draft) + state + work;
	morph_user_charge_anyway(user, MORPH_RES_BYTES, draft->bytes);
	draft->state = optics_state_place(kvmalloc(state, MORPH_GFP_REPAIR), fabric->graph);
	draft->work = kvmalloc(work, MORPH_GFP_REPAIR);
	return draft;
}

void morph_draft_copy(struct morph_draft *draft, struct morph_fabric *fabric)
{
	size_t bytes = optics_state_bytes(fabric->graph);
	void *from = ledger_of(fabric)->state, *to = draft->state;
	size_t at, part;

	for (at = optics_state_arrays(fabric->graph); at < bytes; at += part) {
		part = min_t(size_t, bytes - at, COPIED_AT_ONCE);
		mutex_lock(&fabric->lock);
		memcpy(to + at, from + at, part);
		mutex_unlock(&fabric->lock);
		cond_resched();
	}
}

void morph_draft_free(struct morph_draft *draft)
{
	morph_user_uncharge(draft->user, MORPH_RES_BYTES, draft->bytes);
	kvfree(draft->work);
	kvfree(draft->state);
	kfree(draft);
}
