// SPDX-License-Identifier: LGPL-2.1-or-later
/* Structures that begin with their size: options that callers pass, and answers that they get. */
#include "base.h"

int lm_opts_check(struct morph_ctx *ctx, const void *opts, size_t known, const char *what)
{
	size_t size;

	if (!opts)
		return 0;
	memcpy(&size, opts, sizeof(size));
	if (size < sizeof(size))
		return ctx ? lm_fail(ctx, EINVAL, "%s.sz is %zu: use MORPH_OPTS()", what, size) :
			     -EINVAL;
	for (size_t at = known; at < size; at++)
		if (((const unsigned char *)opts)[at])
			return ctx ? lm_fail(ctx, E2BIG,
					     "%s has an option at byte %zu that this library does not know",
					     what, at) :
				     -E2BIG;
	return 0;
}

void lm_opts_copy(void *mine, const void *opts, size_t known)
{
	size_t size = 0;

	memset(mine, 0, known);
	if (!opts)
		return;
	memcpy(&size, opts, sizeof(size));
	memcpy(mine, opts, size < known ? size : known);
}

void lm_answer_copy(void *out, const void *mine, size_t known)
{
	size_t size;

	memcpy(&size, out, sizeof(size));
	if (size > known)
		size = known;
	if (size > sizeof(size))
		memcpy((char *)out + sizeof(size), (const char *)mine + sizeof(size),
		       size - sizeof(size));
}
