// SPDX-License-Identifier: GPL-2.0-or-later
/* What planes do in the course of a schedule: gathered, and as lines of text. */
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#define COLUMNS 72

static void add(struct timeline *timeline, struct stretch stretch)
{
	timeline->stretches[timeline->count++] = stretch;
	if (stretch.end_ns > timeline->end_ns)
		timeline->end_ns = stretch.end_ns;
}

static void add_holds(struct timeline *timeline, const struct morph_schedule *schedule)
{
	for (uint32_t at = 0; at < morph_schedule_holds(schedule); at++) {
		struct stretch stretch = { 0 };
		struct morph_hold hold;

		morph_schedule_hold(schedule, at, &hold);
		stretch.plane = hold.plane;
		stretch.matching = hold.matching;
		stretch.doing = LIT;
		stretch.begin_ns = hold.lit_ns;
		stretch.end_ns = hold.dark_ns;
		add(timeline, stretch);
		stretch.doing = SET;
		stretch.begin_ns = hold.set_ns;
		stretch.end_ns = hold.lit_ns;
		add(timeline, stretch);
	}
}

static void add_sends(struct timeline *timeline, const struct morph_schedule *schedule)
{
	for (uint32_t at = 0; at < morph_schedule_sends(schedule); at++) {
		struct morph_send send;

		morph_schedule_send(schedule, at, &send);
		for (uint32_t hop = 0; hop < send.hops; hop++) {
			struct morph_hold hold;

			morph_schedule_hold(schedule, morph_schedule_hop(schedule, at, hop), &hold);
			add(timeline, (struct stretch){ .plane = hold.plane,
							.matching = hold.matching,
							.begin_ns = send.from_ns,
							.end_ns = send.until_ns,
							.doing = SENDS });
		}
	}
}

void timeline_make(struct timeline *timeline, const struct morph_schedule *schedule,
		   uint32_t planes)
{
	size_t room = 2 * (size_t)morph_schedule_holds(schedule) + 1;

	for (uint32_t at = 0; at < morph_schedule_sends(schedule); at++) {
		struct morph_send send;

		morph_schedule_send(schedule, at, &send);
		room += send.hops;
	}
	*timeline = (struct timeline){ .planes = planes };
	timeline->stretches = needed(calloc(room, sizeof(*timeline->stretches)));
	add_holds(timeline, schedule);
	add_sends(timeline, schedule);
}

void timeline_free(struct timeline *timeline)
{
	free(timeline->stretches);
}

/* What begins in a column is seen there, however short it is. */
static void draw(char *line, const struct timeline *timeline, const struct stretch *stretch)
{
	static const char marks[] = { [LIT] = '-', [SET] = '~', [SENDS] = '#' };
	size_t from = (size_t)((unsigned __int128)stretch->begin_ns * COLUMNS / timeline->end_ns);
	size_t until = (size_t)((unsigned __int128)stretch->end_ns * COLUMNS / timeline->end_ns);

	if (stretch->begin_ns == stretch->end_ns)
		return;
	for (size_t at = from; at < COLUMNS && (at < until || at == from); at++)
		line[at] = marks[stretch->doing];
}

void timeline_write_text(FILE *stream, const struct timeline *timeline)
{
	char line[COLUMNS + 1];

	for (uint32_t plane = 0; timeline->end_ns && plane < timeline->planes; plane++) {
		memset(line, ' ', COLUMNS);
		line[COLUMNS] = '\0';
		for (size_t at = 0; at < timeline->count; at++)
			if (timeline->stretches[at].plane == plane)
				draw(line, timeline, &timeline->stretches[at]);
		fprintf(stream, "plane %2u |%s|\n", plane, line);
	}
	fprintf(stream, "          # sends, ~ changes, - is lit, as time goes on to the right\n");
}
