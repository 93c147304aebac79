// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chunks of memory for the circuits of a schedule and their routes. A load allocates a chunk
 * without fabric->lock, and takes the objects from it under the lock, where it must not sleep for
 * memory.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"

struct morph_chunk *morph_chunk_alloc(struct morph_user *user, size_t bytes,
				      struct morph_refusal *refusal)
{
	struct morph_chunk *chunk;
	int ret;

	bytes = struct_size(chunk, memory, ALIGN(bytes, sizeof(u64)) / sizeof(u64));
	ret = morph_user_charge(user, MORPH_RES_BYTES, bytes, refusal);
	if (ret)
		return ERR_PTR(ret);
	chunk = kvzalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!chunk) {
		morph_user_uncharge(user, MORPH_RES_BYTES, bytes);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&chunk->kref);
	chunk->user = user;
	chunk->bytes = bytes;
	chunk->left = bytes - sizeof(*chunk);
	return chunk;
}

static void chunk_last_put(struct kref *kref)
{
	struct morph_chunk *chunk = container_of(kref, struct morph_chunk, kref);

	morph_user_uncharge(chunk->user, MORPH_RES_BYTES, chunk->bytes);
	kvfree(chunk);
}

void morph_chunk_put(struct morph_chunk *chunk)
{
	if (chunk)
		kref_put(&chunk->kref, chunk_last_put);
}

void *morph_chunk_take(struct morph_chunk *chunk, size_t bytes)
{
	void *object = (void *)chunk + chunk->bytes - chunk->left;

	bytes = ALIGN(bytes, sizeof(u64));
	if (bytes > chunk->left)
		return NULL;
	chunk->left -= bytes;
	kref_get(&chunk->kref);
	return object;
}
