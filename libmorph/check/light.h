/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Steps, as the checker reads them. */
#ifndef CHECK_LIGHT_H
#define CHECK_LIGHT_H

#include "schedule.h"

struct light_circuit {
	uint32_t src, dst; /* ranks */
	uint32_t src_plane, dst_plane;
	uint32_t lanes_count;
	uint64_t lanes;
	struct part guides;
};

struct light_step {
	struct part held;
	uint32_t begin;
	uint64_t after_ns, deadline_ns;
};

struct light_check {
	struct check check; /* for its fabric and report */
	struct schedule schedule;
	const struct morph_check_light_input *input;
	uint32_t loop, circuits_count, steps_count, guides_count, held_count;
	struct light_circuit *circuits;
	struct light_step *steps;
	uint32_t *guides, *held;
};

/*
 * light_ways.c: the guides of each circuit are adjacent, and the circuits of a step are compatible.
 * 0 or a noted error.
 */
int ck_light_ways(struct light_check *it);
/* light_steps.c: each step has the circuits that the schedule then holds, and begins in time. */
int ck_light_steps(struct light_check *it);

#endif /* CHECK_LIGHT_H */
