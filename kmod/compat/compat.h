/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's newest names on the oldest kernel supported, 6.1.
 *
 * Force-included into every file, so that the driver is written for the newest kernel and
 * nothing outside this directory asks for a version. Each shim names the change that it stands in
 * for and when it may go. They are macros, so that no file gets headers that it does not ask for.
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

/*
 * "netlink: add support for formatted extack messages". Nothing happens, so set a fixed message
 * first; it stays. Drop when the oldest is 6.2 or newer.
 */
#define NETLINK_MAX_FMTMSG_LEN 80
#define NL_SET_ERR_MSG_FMT(extack, ...) ((void)(extack))

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
 * "driver core: class: remove module * from class_create()". Write it for class_create(name); drop
 * when the oldest is 6.4 or newer.
 */
#define COMPAT_CLASS_CREATE(name) class_create(THIS_MODULE, name)

#else

#define COMPAT_CLASS_CREATE(name) class_create(name)

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)

/*
 * "genetlink: provide struct genl_info to dumps". Before it they had a structure of their own,
 * whose attrs are the same. Drop when the oldest is 6.6 or newer.
 */
#define genl_info_dump genl_dumpit_info

#endif

#endif /* MORPH_COMPAT_H */
