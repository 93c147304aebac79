/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/morph.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_MORPH_H
#define LM_INTERNAL_MORPH_H

#include <morph/morph.h>

/**
 * morph_error_code() - the errno of the last call that failed
 * @ctx: the context
 *
 * Return: a positive errno; 0 when no call has failed yet, or when a later call that
 * asks the kernel has worked.
 */
int morph_error_code(const struct morph_ctx *ctx);

#endif /* LM_INTERNAL_MORPH_H */
