/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Schedules of collectives, for people. */
#ifndef MORPHCTL_PLAN_H
#define MORPHCTL_PLAN_H

#include <stdio.h>

#include "client.h"

/* From begin to end, in the units of the schedule; what a plane does in between. */
struct stretch {
	uint32_t plane, matching;
	uint64_t begin_ns, end_ns;
	enum doing {
		LIT,
		SET,
		SENDS
	} doing;
};

/* What all planes do, in the order in which it is to be drawn: later ones over earlier. */
struct timeline {
	struct stretch *stretches;
	size_t count;
	uint32_t planes;
	uint64_t end_ns;
};

void timeline_make(struct timeline *timeline, const struct morph_schedule *schedule,
		   uint32_t planes);
void timeline_free(struct timeline *timeline);

/* A line for each plane. */
void timeline_write_text(FILE *stream, const struct timeline *timeline);
/* One SVG file without references. */
void timeline_write_svg(FILE *stream, const struct timeline *timeline, const char *title);

/* Of a feasible schedule, with --profile: whether its light has ways; verdict 0: it was not asked. */
enum exit_code plan_light(struct run *run, const struct morph_schedule *schedule, uint32_t ranks,
			  struct morph_light *answer);
void plan_light_write(const struct morph_light *light);
void plan_light_add(const struct morph_light *light, json_t *report);

#endif /* MORPHCTL_PLAN_H */
