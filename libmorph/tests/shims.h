/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shims for tests, and their plans. */
#ifndef SHIMS_H
#define SHIMS_H

#include "scheduling.h"

#define KINDS 5 /* of collectives */

/* A shim with some delay. The caller frees it, like the next one. */
struct morph_shim *shim_of(const struct morph_shim_opts *opts);
struct morph_shim *some_shim(uint32_t ranks, uint32_t planes);

/* Look up a plan, and fail the test if there is none. */
const struct morph_shim_plan *look_up(struct morph_shim *shim, uint32_t kind, uint64_t bytes,
				      const struct morph_shim_plan *after);

/* Write the shim's plans. The caller frees the file. */
uint8_t *write_shim(struct morph_shim *shim, size_t *bytes);

/* Both are equal word by word. */
void assert_same_plan(const struct morph_shim_plan *one, const struct morph_shim_plan *other);

/* Check the result of a call, and the beginning of the shim's error text. */
void assert_shim_refused(struct morph_shim *shim, int ret, int wanted, const char *why);

#endif /* SHIMS_H */
