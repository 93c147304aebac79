/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internal structures of steps, in the driver's form. */
#ifndef LM_STEPS_H
#define LM_STEPS_H

#include <linux/morph.h>

#include "internal.h"
#include "../util/array.h"
#include "internal.h"

struct morph_steps {
	struct morph_ctx *ctx;
	uint32_t flags; /* MORPH_SCHEDULE_LOOP */
	uint32_t profile_checksum;
	uint64_t generation;
	ARRAY_OF(struct morph_schedule_circuit) circuits;
	ARRAY_OF(struct morph_schedule_step) steps;
	ARRAY_OF(uint32_t) guides; /* paths, one after the other */
	ARRAY_OF(uint32_t) held; /* circuits of the steps, one step after the other */
	ARRAY_OF(uint32_t) seen; /* by circuit: the last step that holds it, plus one */
};

#endif /* LM_STEPS_H */
