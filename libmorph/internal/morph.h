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

/**
 * morph_error_attribute() - the attribute that the kernel objects to
 * @ctx: the context
 *
 * Return: its name, with those of the nests around it ("change.src-rank"), or "".
 */
const char *morph_error_attribute(const struct morph_ctx *ctx);

/**
 * morph_error_reason() - which rule the last failure broke
 * @ctx: the context
 *
 * Return: enum morph_reason, MORPH_REASON_NONE when the kernel did not say.
 */
uint32_t morph_error_reason(const struct morph_ctx *ctx);

/**
 * morph_error_have() - how much there is, in the unit of the reason
 * @ctx: the context
 *
 * Return: the number, 0 when the kernel did not say.
 */
int64_t morph_error_have(const struct morph_ctx *ctx);

/**
 * morph_error_need() - how much was needed, in the unit of the reason
 * @ctx: the context
 *
 * Return: the number, 0 when the kernel did not say.
 */
int64_t morph_error_need(const struct morph_ctx *ctx);

#endif /* LM_INTERNAL_MORPH_H */
