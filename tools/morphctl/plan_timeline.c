// SPDX-License-Identifier: GPL-2.0-or-later
/* What planes do in the course of a schedule: gathered, and as lines of text. */
#include <stdlib.h>

#include "plan.h"

#define COLUMNS 72

/* That something is sent over a hold. */
struct use {
	uint32_t hold;
	uint64_t begin_ns, end_ns;
};

struct uses {
	struct use *list;
	size_t count;
};

/* By hold, and by time. */
static int in_order(const void *one, const void *other)
{
	const struct use *a = one, *b = other;

	if (a->hold != b->hold)
		return a->hold < b->hold ? -1 : 1;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* What is sent over the same hold at the same time is one use of it. */
static void merge(struct uses *uses)
{
	size_t kept = 0;

	for (size_t at = 0; at < uses->count; at++) {
		struct use use = uses->list[at], *last = uses->list + (kept ? kept - 1 : 0);

		if (!kept || last->hold != use.hold || last->end_ns <= use.begin_ns)
			uses->list[kept++] = use;
		else if (last->end_ns < use.end_ns)
			last->end_ns = use.end_ns;
	}
	uses->count = kept;
}

static struct uses find_uses(const struct morph_schedule *schedule)
{
	uint32_t sends = morph_schedule_sends(schedule);
	struct uses uses = { 0 };
	struct morph_send send;
	size_t room = 1;

	for (uint32_t at = 0; at < sends; at++) {
		morph_schedule_send(schedule, at, &send);
		room += send.hops;
	}
	uses.list = needed(calloc(room, sizeof(*uses.list)));
	for (uint32_t at = 0; at < sends; at++) {
		morph_schedule_send(schedule, at, &send);
		for (uint32_t hop = 0; hop < send.hops; hop++)
			uses.list[uses.count++] =
				(struct use){ morph_schedule_hop(schedule, at, hop), send.from_ns,
					      send.until_ns };
	}
	qsort(uses.list, uses.count, sizeof(*uses.list), in_order);
	merge(&uses);
	return uses;
}

/* Holds come in the order in which they are set, so that there are no more lanes than holds at a time. */
static uint32_t lane_of(struct row *row, const struct morph_hold *hold)
{
	uint32_t lane = 0;

	while (lane < row->lanes && row->ends_ns[lane] > hold->set_ns)
		lane++;
	if (lane == row->lanes)
		row->ends_ns =
			needed(reallocarray(row->ends_ns, ++row->lanes, sizeof(*row->ends_ns)));
	row->ends_ns[lane] = hold->dark_ns;
	return lane;
}

static void add(struct timeline *timeline, struct stretch stretch, enum doing doing,
		uint64_t end_ns)
{
	stretch.doing = doing;
	stretch.end_ns = end_ns;
	if (stretch.begin_ns < end_ns)
		timeline->stretches[timeline->count++] = stretch;
	if (end_ns > timeline->end_ns)
		timeline->end_ns = end_ns;
}

/* It is set, and lit where nothing is sent. */
static void add_hold(struct timeline *timeline, const struct morph_hold *hold,
		     const struct use *uses, size_t count)
{
	struct stretch stretch = { .plane = hold->plane,
				   .lane = lane_of(&timeline->rows[hold->plane], hold),
				   .matching = hold->matching,
				   .begin_ns = hold->set_ns };

	add(timeline, stretch, SET, hold->lit_ns);
	stretch.begin_ns = hold->lit_ns;
	for (size_t at = 0; at < count; at++) {
		add(timeline, stretch, LIT, uses[at].begin_ns);
		stretch.begin_ns = uses[at].begin_ns;
		add(timeline, stretch, SENDS, uses[at].end_ns);
		stretch.begin_ns = uses[at].end_ns;
	}
	add(timeline, stretch, LIT, hold->dark_ns);
}

void timeline_make(struct timeline *timeline, const struct morph_schedule *schedule,
		   uint32_t planes)
{
	uint32_t holds = morph_schedule_holds(schedule);
	struct uses uses = find_uses(schedule);
	size_t first = 0, next;

	*timeline = (struct timeline){ .planes = planes };
	timeline->stretches =
		needed(calloc(2 * (holds + uses.count) + 1, sizeof(*timeline->stretches)));
	for (uint32_t at = 0; at < holds; at++, first = next) {
		struct morph_hold hold;

		morph_schedule_hold(schedule, at, &hold);
		next = first;
		while (next < uses.count && uses.list[next].hold == at)
			next++;
		add_hold(timeline, &hold, &uses.list[first], next - first);
	}
	free(uses.list);
}

void timeline_free(struct timeline *timeline)
{
	for (uint32_t plane = 0; plane < timeline->planes; plane++)
		free(timeline->rows[plane].ends_ns);
	free(timeline->stretches);
}

#define BIT(doing) (1U << (doing))

static char mark_of(unsigned int doings)
{
	if (doings & BIT(SENDS))
		return doings & BIT(SET) ? '+' : '#';
	if (doings & BIT(SET))
		return '~';
	return doings ? '-' : ' ';
}

/* What begins in a column is seen there, however short it is. */
static void draw(unsigned int doings[COLUMNS], const struct timeline *timeline,
		 const struct stretch *stretch)
{
	size_t from = (size_t)((unsigned __int128)stretch->begin_ns * COLUMNS / timeline->end_ns);
	size_t until = (size_t)((unsigned __int128)stretch->end_ns * COLUMNS / timeline->end_ns);

	for (size_t at = from; at < COLUMNS && (at < until || at == from); at++)
		doings[at] |= BIT(stretch->doing);
}

void timeline_write_text(FILE *stream, const struct timeline *timeline)
{
	for (uint32_t plane = 0; timeline->end_ns && plane < timeline->planes; plane++) {
		unsigned int doings[COLUMNS] = { 0 };

		for (size_t at = 0; at < timeline->count; at++)
			if (timeline->stretches[at].plane == plane)
				draw(doings, timeline, &timeline->stretches[at]);
		fprintf(stream, "plane %2u |", plane);
		for (size_t at = 0; at < COLUMNS; at++)
			fputc(mark_of(doings[at]), stream);
		fprintf(stream, "|\n");
	}
	fprintf(stream,
		"          # sends, ~ changes, + both, - is lit, as time goes on to the right\n");
}
