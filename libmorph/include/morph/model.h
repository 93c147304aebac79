/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: models of fabrics, for planners. Included by <morph/plan.h>. */
#ifndef MORPH_MODEL_H
#define MORPH_MODEL_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Models
 *
 * A model is what a device profile says of a fabric, checked by the same code as in the
 * kernel. It needs no kernel, never changes, and may be shared by threads; it is
 * counted, and freed with its last holder.
 */

/**
 * morph_model_load() - make a model from a profile's file
 * @ctx: the context, for the error only
 * @path: the file, as the kernel's firmware loader gets it
 * @out: the model, given back by morph_model_put()
 *
 * Return: 0, -EINVAL (the profile breaks a rule; the text names the byte), -EFBIG,
 * -ENOMEM, or what open() and read() say.
 */
int morph_model_load(struct morph_ctx *ctx, const char *path, struct morph_model **out);

/**
 * morph_model_put() - give a model back
 * @model: the model, or NULL
 */
void morph_model_put(struct morph_model *model);

/**
 * morph_model_info() - what a profile says of the fabric as a whole
 * @ctx: the context, for the error only
 * @model: the model
 * @out: object of type "fabric": profile, profile-checksum, the numbers of its parts,
 *       lane-mbps, settle-ns, relock-ns
 *
 * Return: 0 or -ENOMEM.
 */
int morph_model_info(struct morph_ctx *ctx, const struct morph_model *model,
		     struct morph_object **out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_MODEL_H */
