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

/*
 * plan_lost.c: in the place of a schedule the same without the ports that --lost names, where it is feasible; and how they
 * differ, for people and programs.
 */
enum exit_code plan_lost(struct run *run, const struct morph_collective *collective,
			 const struct morph_delay *delay, struct morph_schedule **schedule,
			 struct morph_replanned *replanned);
void plan_lost_write(const struct morph_replanned *replanned);
json_t *plan_lost_record(const struct morph_replanned *replanned);

#endif /* MORPHCTL_PLAN_H */
