/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Definitions of newer kernel interfaces for older kernels; the oldest supported one is 6.1.
 *
 * Force-included into every file, so that the driver is written for the newest kernel and
 * nothing outside this directory asks for a version. Each shim names the upstream
 * commit that it replaces, and the version with which it can be dropped. Shims are macros, so
 * that this file includes no headers.
 */
#ifndef MORPH_COMPAT_H
#define MORPH_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)

/*
 * "driver core: make struct class.devnode() take a const *".
 * Write "COMPAT_DEVNODE_CONST struct device *"; drop when the oldest is 6.2 or newer.
 */
#define COMPAT_DEVNODE_CONST

/* "mm: new primitive kvmemdup()". Drop when the oldest is 6.2 or newer. */
#define kvmemdup(source, bytes, gfp)				\
({								\
	size_t kvmemdup_bytes = (bytes);			\
	void *kvmemdup_copy = kvmalloc(kvmemdup_bytes, gfp);	\
								\
	if (kvmemdup_copy)					\
		memcpy(kvmemdup_copy, source, kvmemdup_bytes);	\
	kvmemdup_copy;						\
})

#else

#define COMPAT_DEVNODE_CONST const

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)

/* "mm: introduce vma->vm_flags wrapper functions". Drop when the oldest is 6.3 or newer. */
#define vm_flags_clear(vma, flags) ((vma)->vm_flags &= ~(flags))

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)

/*
 * "driver core: class: remove module * from class_create()". Write COMPAT_CLASS_CREATE(name) for
 * class_create(name); drop
 * when the oldest is 6.4 or newer.
 */
#define COMPAT_CLASS_CREATE(name) class_create(THIS_MODULE, name)

#else

#define COMPAT_CLASS_CREATE(name) class_create(name)

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)

/*
 * "genetlink: provide struct genl_info to dumps". Before that commit dumps used struct
 * genl_dumpit_info, whose attrs field is the same. Drop when the oldest is 6.6 or newer.
 */
#define genl_info_dump genl_dumpit_info

#endif

#endif /* MORPH_COMPAT_H */
