/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Included by every source of the client and planner libraries. Names begin with lm_ so that
 * the static libraries take no name from a program.
 */
#ifndef LM_UTIL_BASE_H
#define LM_UTIL_BASE_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <morph/plan.h>

#include "error.h"

#define MORPH_API __attribute__((visibility("default")))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define MOST_RANKS 4096 /* of a slice, as in the driver */
#define LM_RETRIES 8 /* of torn reads, and of overtaken plans */

/* UINT64_MAX for what is more. */
static inline uint64_t lm_sum(uint64_t one, uint64_t other)
{
	uint64_t sum;

	return __builtin_add_overflow(one, other, &sum) ? UINT64_MAX : sum;
}

/* Check options: 0, or -EINVAL/-E2BIG. @known is the size that this library knows. */
int lm_opts_check(struct morph_ctx *ctx, const void *opts, size_t known, const char *what);

/* Copy checked options into the library's own structure of @known bytes, zeros for NULL. */
void lm_opts_copy(void *mine, const void *opts, size_t known);

/*
 * Copy the library's structure of @known bytes into a caller's, as much as that has room for by its
 * own size.
 */
void lm_answer_copy(void *out, const void *mine, size_t known);

#endif /* LM_UTIL_BASE_H */
