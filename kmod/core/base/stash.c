// SPDX-License-Identifier: GPL-2.0-only
/* Memory for allocations under fabric->lock, allocated and freed without it. */
#include <linux/bug.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "base.h"

void *morph_stash_zalloc(struct morph_stash *stash, size_t bytes)
{
	void *block;

	if (WARN_ON_ONCE(bytes > MORPH_STASH_BLOCK))
		return NULL;
	block = kzalloc(bytes, MORPH_GFP_LOCKED);
	if (block)
		return block;
	block = stash->blocks;
	if (!block) {
		stash->wanted = true;
		return NULL;
	}
	stash->blocks = *(void **)block;
	memset(block, 0, bytes);
	return block;
}

int morph_stash_fill(struct morph_stash *stash, u32 count, gfp_t gfp)
{
	stash->wanted = false;
	while (count--) {
		void *block = kmalloc(MORPH_STASH_BLOCK, gfp);

		if (!block)
			return -ENOMEM;
		*(void **)block = stash->blocks;
		stash->blocks = block;
	}
	return 0;
}

void morph_stash_empty(struct morph_stash *stash)
{
	void *block = stash->blocks;

	while (block) {
		void *next = *(void **)block;

		kfree(block);
		block = next;
	}
	stash->blocks = NULL;
}

static LLIST_HEAD(unused);	/* the first bytes of each block link it */

static void free_unused(struct work_struct *work)
{
	struct llist_node *block = llist_del_all(&unused);

	while (block) {
		struct llist_node *next = block->next;

		kvfree(block);
		cond_resched();
		block = next;
	}
}

static DECLARE_WORK(unused_work, free_unused);

void morph_free_later(void *block, size_t bytes)
{
	if (bytes <= PAGE_SIZE)
		kvfree(block);
	else if (block && llist_add(block, &unused))
		queue_work(system_unbound_wq, &unused_work);
}

void morph_free_now(void)
{
	flush_work(&unused_work);
}
