/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shims for tests, and what they look up. */
#ifndef SHIMS_H
#define SHIMS_H

#include "scheduling.h"

#define KINDS 5 /* of collectives */

/* With some delay; freed by the caller, as the next. */
struct morph_shim *shim_of(const struct morph_shim_opts *opts);
struct morph_shim *some_shim(uint32_t ranks, uint32_t planes);

/* A plan, or the test fails. */
const struct morph_shim_plan *look_up(struct morph_shim *shim, uint32_t kind, uint64_t bytes,
				      const struct morph_shim_plan *after);

/* Its plans in a file, which the caller frees. */
uint8_t *write_shim(struct morph_shim *shim, size_t *bytes);

/* They are the same in all. */
void assert_same_plan(const struct morph_shim_plan *one, const struct morph_shim_plan *other);

/* What a call came to, and how the shim's sentence begins. */
void assert_shim_refused(struct morph_shim *shim, int ret, int wanted, const char *why);

#endif /* SHIMS_H */
