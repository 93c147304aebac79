// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel memory that programs map and that is charged to a user. It stays charged while any mapping
 * of it exists: otherwise a tenant could map, close, and hold any amount of memory.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/base/base.h"
#include "core/interface/interface.h"

static void mapped_last_put(struct kref *kref)
{
	struct morph_mapped *mapped = container_of(kref, struct morph_mapped, kref);

	vfree(mapped->memory);
	morph_user_uncharge(mapped->user, MORPH_RES_BYTES, mapped->bytes);
	morph_user_put(mapped->user);
	kfree(mapped);
}

void morph_mapped_put(struct morph_mapped *mapped)
{
	kref_put(&mapped->kref, mapped_last_put);
}

struct morph_mapped *morph_mapped_create(struct morph_user *user, size_t bytes,
					 struct morph_refusal *refusal)
{
	struct morph_mapped *mapped;
	int ret;

	ret = morph_user_charge(user, MORPH_RES_BYTES, bytes, refusal);
	if (ret)
		return ERR_PTR(ret);
	mapped = kzalloc(sizeof(*mapped), GFP_KERNEL_ACCOUNT);
	if (mapped)
		mapped->memory = morph_shared_alloc(bytes);
	if (!mapped || !mapped->memory) {
		kfree(mapped);
		morph_user_uncharge(user, MORPH_RES_BYTES, bytes);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&mapped->kref);
	mapped->user = morph_user_ref(user);
	mapped->bytes = bytes;
	return mapped;
}

/* The kernel holds mmap_lock. A split, a move and a fork open the new mapping. */
static void mapping_open(struct vm_area_struct *vma)
{
	struct morph_mapped *mapped = vma->vm_private_data;

	kref_get(&mapped->kref);
}

static void mapping_close(struct vm_area_struct *vma)
{
	morph_mapped_put(vma->vm_private_data);
}

static const struct vm_operations_struct mapping_ops = {
	.open = mapping_open,
	.close = mapping_close,
};

int morph_mapped_map(struct morph_mapped *mapped, struct vm_area_struct *vma)
{
	int ret;

	if (vma->vm_end - vma->vm_start > mapped->bytes)
		return -EINVAL;
	ret = morph_shared_map(vma, mapped->memory);
	if (ret)
		return ret;
	kref_get(&mapped->kref);
	vma->vm_private_data = mapped;
	vma->vm_ops = &mapping_ops;
	return 0;
}
