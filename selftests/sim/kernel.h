/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel definitions for the simulator's pure files in a user-space program. */
#ifndef SIM_TEST_KERNEL_H
#define SIM_TEST_KERNEL_H

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64; /* as in the kernel, for printf() */
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;

#define U16_MAX UINT16_MAX
#define U64_MAX UINT64_MAX
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define GENMASK_ULL(high, low) ((~0ULL << (low)) & (~0ULL >> (63 - (high))))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define max3(a, b, c) max(max(a, b), c)
#define min_t(type, a, b) min((type)(a), (type)(b))
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define __printf(text, first) __attribute__((format(printf, text, first)))
#define le16_to_cpu(x) le16toh(x)
#define le32_to_cpu(x) le32toh(x)
#define cpu_to_le32(x) htole32(x)
#define cpu_to_le64(x) htole64(x)
#define le64_to_cpu(x) le64toh(x)

#define GFP_KERNEL 0
#define kvcalloc(count, size, flags) calloc(count, size)
#define kvmalloc_array(count, size, flags) calloc(count, size)
#define kvzalloc(size, flags) calloc(1, size)
#define kvfree(pointer) free(pointer)

static inline unsigned int __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}

static inline unsigned int __ffs64(u64 word)
{
	return __builtin_ctzll(word);
}

static inline unsigned int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 div64_u64_rem(u64 a, u64 b, u64 *rest)
{
	*rest = a % b;
	return a / b;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (unsigned __int128)a * b >> shift;
}

static inline void memset32(u32 *to, u32 value, size_t count)
{
	while (count--)
		*to++ = value;
}

static inline u32 crc32_le(u32 crc, const u8 *bytes, size_t count)
{
	int bit;

	while (count--) {
		crc ^= *bytes++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return crc;
}

#endif /* SIM_TEST_KERNEL_H */
