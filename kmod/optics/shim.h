/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Everything that optics uses of the kernel and of user space: integer types, byte order,
 * memory and string functions, errno, 64-bit division, sort. Files of this directory may
 * use nothing else.
 */
#ifndef MORPH_OPTICS_SHIM_H
#define MORPH_OPTICS_SHIM_H

#include <linux/types.h>

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/byteorder/generic.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <asm/byteorder.h>

static inline u32 optics_weight64(u64 mask)
{
	return hweight64(mask);
}

/* Index of the lowest bit of a mask that is not zero. */
static inline u32 optics_first64(u64 mask)
{
	return __ffs64(mask);
}

/* Index of the highest bit of a mask that is not zero. */
static inline u32 optics_last64(u64 mask)
{
	return fls64(mask) - 1;
}

#else /* user space */

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#endif

#define le16_to_cpu(v)	le16toh(v)
#define le32_to_cpu(v)	le32toh(v)
#define le64_to_cpu(v)	le64toh(v)

static inline u32 optics_weight64(u64 mask)
{
	return (u32)__builtin_popcountll(mask);
}

static inline u32 optics_first64(u64 mask)
{
	return (u32)__builtin_ctzll(mask);
}

static inline u32 optics_last64(u64 mask)
{
	return 63 - (u32)__builtin_clzll(mask);
}

#endif /* __KERNEL__ */

#endif /* MORPH_OPTICS_SHIM_H */
