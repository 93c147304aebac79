/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last failure of a context: a code and a sentence, that a caller reads with morph_error_code() and
 * morph_error_text(). Sentences that do not fit are cut.
 *
 * The context owns the failure. Each function replaces it or adds to it, costs as much as the sentence is long, and
 * allocates nothing. The caller serialises calls on one context.
 */
#ifndef LM_UTIL_ERROR_H
#define LM_UTIL_ERROR_H

#include <errno.h>
#include <stdint.h>

#define LM_PRINTF(at, first) __attribute__((__format__(__printf__, at, first)))

struct morph_ctx; /* begins with its struct lm_error */

struct lm_error {
	int code; /* positive errno */
	uint32_t reason;
	uint32_t part;
	uint32_t index;
	int64_t have;
	int64_t need;
	char text[768];
	char kernel[256]; /* the kernel's sentence */
	char attribute[96]; /* the attribute it objects to */
};

/* Note a failure; @code is a positive errno. Without a context it is not noted. Returns -code. */
int lm_fail(struct morph_ctx *ctx, int code, const char *format, ...) LM_PRINTF(3, 4);

/* Note that there is no memory for what @format says, a verb with its object: "plan a schedule". Returns -ENOMEM. */
int lm_no_memory(struct morph_ctx *ctx, const char *format, ...) LM_PRINTF(2, 3);

/* Append to an error's text. */
void lm_error_add(struct lm_error *error, const char *format, ...) LM_PRINTF(2, 3);

/* Forget the last failure before talking to the kernel. */
void lm_error_clear(struct morph_ctx *ctx);

#endif /* LM_UTIL_ERROR_H */
