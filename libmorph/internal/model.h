/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/model.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_MODEL_H
#define LM_INTERNAL_MODEL_H

#include <morph/plan.h>

/**
 * morph_model_parse() - make a model from a profile in memory
 * @ctx: the context, for the error only
 * @profile: the profile; not needed afterwards
 * @bytes: its size
 * @out: the model, given back by morph_model_put()
 *
 * Return: 0, -EINVAL (the profile breaks a rule; the text names the byte) or -ENOMEM.
 */
int morph_model_parse(struct morph_ctx *ctx, const void *profile, size_t bytes,
		      struct morph_model **out);

/**
 * morph_model_get() - hold a model once more
 * @model: the model
 *
 * Return: @model.
 */
struct morph_model *morph_model_get(struct morph_model *model);

/**
 * morph_model_check() - is a fabric the one that a model describes
 * @ctx: the context, for the error only
 * @model: the model
 * @fabric: object of type "fabric", from a device or netlink
 *
 * Return: 0, or -ESTALE when the checksums of the profiles differ.
 */
int morph_model_check(struct morph_ctx *ctx, const struct morph_model *model,
		      const struct morph_object *fabric);

/**
 * morph_model_checksum() - the checksum of a model's profile
 * @model: the model
 *
 * Return: its CRC-32, as in the fabric's attribute profile-checksum. Never fails.
 */
uint32_t morph_model_checksum(const struct morph_model *model);

#endif /* LM_INTERNAL_MODEL_H */
