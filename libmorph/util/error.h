/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Failures that functions of both libraries note in their context: a code and a sentence, which the
 * caller reads with morph_error_text(). The client library owns the context, and morph_error_set()
 * is its public function, so this archive needs nothing else of it. Without a context nothing is
 * noted.
 */
#ifndef LM_UTIL_ERROR_H
#define LM_UTIL_ERROR_H

#include <errno.h>

#include <morph/morph.h>

#define LM_PRINTF(at, first) __attribute__((__format__(__printf__, at, first)))

/* Note a failure; its code is a positive errno. Returns -code. */
#define lm_fail morph_error_set

/*
 * Note that there is no memory for what @format says, a verb with its object: "plan a schedule".
 * Returns -ENOMEM.
 */
int lm_no_memory(struct morph_ctx *ctx, const char *format, ...) LM_PRINTF(2, 3);

/* Forget the last failure before an act that may fail without noting why. */
static inline void lm_error_clear(struct morph_ctx *ctx)
{
	morph_error_set(ctx, 0, "%s", "");
}

#endif /* LM_UTIL_ERROR_H */
