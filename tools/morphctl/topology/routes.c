// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths of arrows. An arrow is one straight line if no tile is in between. Otherwise it runs along
 * at most one gap between rows and one gap between columns. Lines of one gap that would touch get
 * different places across the gap.
 */
#include <math.h>
#include <stdlib.h>

#include "morphctl/topology/topology.h"

#define LINE_SPACE 4.0 /* between two lines of a gap */
#define PORT_STEP 8.0 /* between two ends of arrows on one side of a tile */
#define PORT_MARGIN 8.0 /* between the last end and the corner */
#define BEYOND 2.0 /* between an end and its tile */

double topo_arrow_width(unsigned int lanes)
{
	return fmin(1.2 + 0.45 * lanes, 5);
}

/* ------------------------------------------------------------------------------- choose */

static bool is_between(size_t value, size_t a, size_t b)
{
	return (value > a && value < b) || (value > b && value < a);
}

/* Whether a tile is between two tiles of one row (axis 0) or column (axis 1). */
static bool blocked(const struct topo *topo, const struct topo_tile *a, const struct topo_tile *b,
		    int axis)
{
	for (size_t i = 0; i < topo->tiles_count; i++) {
		const struct topo_tile *tile = &topo->tiles[i];

		if (tile->cell[!axis] == a->cell[!axis] &&
		    is_between(tile->cell[axis], a->cell[axis], b->cell[axis]))
			return true;
	}
	return false;
}

/* Add a line in a gap of @axis, from one place along it to another. */
static void add_leg(struct topo_arrow *arrow, int axis, size_t gap, size_t from, size_t to)
{
	arrow->legs[arrow->legs_count++] =
		(struct topo_leg){ .axis = axis, .gap = gap, .from = from, .to = to };
}

static size_t middle(const struct topo_tile *tile, int axis)
{
	return 2 * tile->cell[axis] + 1;
}

/* The side of a tile that faces lower or higher columns (axis 0) or rows (axis 1). */
static enum topo_side side_of(int axis, bool high)
{
	return (enum topo_side)(axis + (high ? 2 : 0));
}

/* Both tiles are in one row (axis 0) or column (axis 1). */
static void choose_aligned(const struct topo *topo, struct topo_arrow *arrow,
			   const struct topo_tile *a, const struct topo_tile *b, int axis)
{
	bool up = b->cell[axis] > a->cell[axis], high;

	if (!blocked(topo, a, b, axis)) {
		arrow->side[0] = side_of(axis, up);
		arrow->side[1] = side_of(axis, !up);
		return;
	}
	/* Traffic keeps to one side: to the right above the row, to the left below it. */
	high = axis ? up : !up;
	arrow->side[0] = arrow->side[1] = side_of(!axis, high);
	add_leg(arrow, !axis, a->cell[!axis] + high, middle(a, axis), middle(b, axis));
}

/* Tiles of neighbouring rows (axis 1) or columns (axis 0) share the gap between them. */
static void choose_neighbours(struct topo_arrow *arrow, const struct topo_tile *a,
			      const struct topo_tile *b, int axis)
{
	bool up = b->cell[axis] > a->cell[axis];

	arrow->side[0] = side_of(axis, up);
	arrow->side[1] = side_of(axis, !up);
	add_leg(arrow, axis, a->cell[axis] + up, middle(a, !axis), middle(b, !axis));
}

static void choose_far(struct topo_arrow *arrow, const struct topo_tile *a,
		       const struct topo_tile *b)
{
	bool right = b->cell[0] > a->cell[0], down = b->cell[1] > a->cell[1];
	size_t row_gap = a->cell[1] + down, column_gap = b->cell[0] + !right;

	arrow->side[0] = side_of(1, down);
	arrow->side[1] = side_of(0, !right);
	add_leg(arrow, 1, row_gap, middle(a, 0), 2 * column_gap);
	add_leg(arrow, 0, column_gap, 2 * row_gap, middle(b, 1));
}

static size_t distance(const struct topo_tile *a, const struct topo_tile *b, int axis)
{
	return a->cell[axis] > b->cell[axis] ? a->cell[axis] - b->cell[axis] :
					       b->cell[axis] - a->cell[axis];
}

static void choose(const struct topo *topo, struct topo_arrow *arrow)
{
	const struct topo_tile *a = &topo->tiles[arrow->from], *b = &topo->tiles[arrow->to];
	size_t columns = distance(a, b, 0), rows = distance(a, b, 1);

	arrow->legs_count = 0;
	if (!rows)
		choose_aligned(topo, arrow, a, b, 0);
	else if (!columns)
		choose_aligned(topo, arrow, a, b, 1);
	else if (rows == 1)
		choose_neighbours(arrow, a, b, 1);
	else if (columns == 1)
		choose_neighbours(arrow, a, b, 0);
	else
		choose_far(arrow, a, b);
}

/* ------------------------------------------------------------- places across the gaps */

struct placed {
	struct topo_leg *leg;
	size_t low, high;
	size_t number; /* of the arrow */
	double width;
	size_t track;
};

static int by_gap(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->leg->axis != b->leg->axis)
		return a->leg->axis - b->leg->axis;
	if (a->leg->gap != b->leg->gap)
		return a->leg->gap < b->leg->gap ? -1 : 1;
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Give each line of a gap the first track that is free. Returns the width of all tracks. */
static double place_gap(struct placed *list, size_t count)
{
	size_t *ends = needed(calloc(count, sizeof(*ends))), tracks = 0;
	double *width = needed(calloc(count, sizeof(*width)));
	double *begin = needed(calloc(count, sizeof(*begin))), total = 0;

	for (size_t i = 0; i < count; i++) {
		size_t track = 0;

		while (track < tracks && ends[track] >= list[i].low)
			track++;
		if (track == tracks)
			tracks++;
		ends[track] = list[i].high;
		list[i].track = track;
		width[track] = fmax(width[track], list[i].width);
	}
	for (size_t track = 0; track < tracks; track++) {
		begin[track] = total;
		total += width[track] + LINE_SPACE;
	}
	total -= LINE_SPACE;
	for (size_t i = 0; i < count; i++)
		list[i].leg->place = begin[list[i].track] + width[list[i].track] / 2;
	free(ends);
	free(width);
	free(begin);
	return total;
}

static void place_legs(struct topo *topo)
{
	struct placed *list = needed(calloc(LEGS_MOST * topo->arrows_count + 1, sizeof(*list)));
	size_t count = 0;

	for (size_t i = 0; i < topo->arrows_count; i++) {
		struct topo_arrow *arrow = &topo->arrows[i];

		for (size_t k = 0; k < arrow->legs_count; k++) {
			struct topo_leg *leg = &arrow->legs[k];
			bool forward = leg->from < leg->to;

			list[count++] = (struct placed){
				.leg = leg,
				.low = forward ? leg->from : leg->to,
				.high = forward ? leg->to : leg->from,
				.number = i,
				.width = topo_arrow_width(arrow->lanes),
			};
		}
	}
	qsort(list, count, sizeof(*list), by_gap);
	for (size_t from = 0, to; from < count; from = to) {
		const struct topo_leg *leg = list[from].leg;

		for (to = from + 1; to < count && list[to].leg->axis == leg->axis &&
				    list[to].leg->gap == leg->gap;)
			to++;
		topo->axis[leg->axis].need[leg->gap] = place_gap(&list[from], to - from);
	}
	free(list);
}

/* ------------------------------------------------------------------- ends on the tiles */

struct end {
	struct topo_arrow *arrow;
	size_t number; /* of the arrow */
	int which; /* 0: where it leaves, 1: where it arrives */
	size_t tile;
	enum topo_side side;
	int zone; /* towards lower (-1) or higher (1) cells, or straight on (0) */
	size_t aim; /* the place along the gap where the line of this end goes */
};

static int by_side(const void *left, const void *right)
{
	const struct end *a = left, *b = right;

	if (a->tile != b->tile)
		return a->tile < b->tile ? -1 : 1;
	if (a->side != b->side)
		return (int)a->side - (int)b->side;
	if (a->zone != b->zone)
		return a->zone - b->zone;
	if (a->aim != b->aim)
		return a->aim < b->aim ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static struct end end_of(struct topo *topo, size_t number, int which)
{
	struct topo_arrow *arrow = &topo->arrows[number];
	struct end end = { .arrow = arrow,
			   .number = number,
			   .which = which,
			   .tile = which ? arrow->to : arrow->from,
			   .side = arrow->side[which] };

	if (arrow->legs_count) {
		const struct topo_leg *leg = &arrow->legs[which ? arrow->legs_count - 1 : 0];

		end.aim = which ? leg->from : leg->to;
		end.zone = end.aim < middle(&topo->tiles[end.tile], !leg->axis) ? -1 : 1;
	}
	return end;
}

/*
 * Ends of straight arrows are in the middle of a side. The others lie beside them, towards where
 * they go. Ends on opposite sides of a gap are never at the same place along it.
 */
static void place_side(const struct topo *topo, struct end *ends, size_t count)
{
	int along = ends[0].side == SIDE_TOP || ends[0].side == SIDE_BOTTOM ? 0 : 1;
	double half = topo->tile[along] / 2 - PORT_MARGIN;
	double shift = ends[0].side == SIDE_RIGHT || ends[0].side == SIDE_BOTTOM ? 0.5 : 0;
	double first, step = PORT_STEP;
	size_t zone[3] = { 0 };

	for (size_t i = 0; i < count; i++)
		zone[ends[i].zone + 1]++;
	/* Straight arrows take two steps each, and are at the same places on both tiles. */
	if (zone[1] && half / step < (double)zone[1])
		step = half / (double)zone[1];
	for (size_t i = 0; i < zone[1]; i++)
		ends[zone[0] + i].arrow->port[ends[zone[0] + i].which] =
			(2 * (double)i - (double)zone[1] + 1) * step;
	if (!zone[1]) {
		/* All ends around the middle. */
		step = fmin(PORT_STEP, 2 * half / (double)(count + 1));
		first = -floor((double)count / 2) * step;
		for (size_t i = 0; i < count; i++)
			ends[i].arrow->port[ends[i].which] = first + ((double)i + shift) * step;
		return;
	}
	for (int high = 0; high < 2; high++) {
		size_t some = zone[2 * high], from = high ? zone[0] + zone[1] : 0;
		double inner = (double)zone[1] * step;
		double space = fmin(PORT_STEP, (half - inner + step) / ((double)some + 0.5));

		for (size_t i = 0; i < some; i++) {
			size_t outward = high ? i : some - 1 - i;
			double place = inner + ((double)outward + shift) * space;

			ends[from + i].arrow->port[ends[from + i].which] = high ? place : -place;
		}
	}
}

static void place_ends(struct topo *topo)
{
	size_t count = 2 * topo->arrows_count;
	struct end *ends = needed(calloc(count + 1, sizeof(*ends)));

	for (size_t i = 0; i < count; i++)
		ends[i] = end_of(topo, i / 2, i % 2);
	qsort(ends, count, sizeof(*ends), by_side);
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && ends[to].tile == ends[from].tile &&
				    ends[to].side == ends[from].side;)
			to++;
		place_side(topo, &ends[from], to - from);
	}
	free(ends);
}

void topo_choose_routes(struct topo *topo)
{
	for (int axis = 0; axis < 2; axis++) {
		struct topo_axis *line = &topo->axis[axis];

		line->need = needed(calloc(line->count + 1, sizeof(*line->need)));
	}
	for (size_t i = 0; i < topo->arrows_count; i++)
		choose(topo, &topo->arrows[i]);
	place_legs(topo);
	place_ends(topo);
}

/* ------------------------------------------------------------------------------- points */

static struct topo_point end_point(const struct topo *topo, const struct topo_arrow *arrow,
				   int which)
{
	const struct topo_tile *tile = &topo->tiles[which ? arrow->to : arrow->from];
	double wide = topo->tile[0] / 2 + BEYOND, high = topo->tile[1] / 2 + BEYOND;
	double port = arrow->port[which];

	switch (arrow->side[which]) {
	case SIDE_LEFT:
		return (struct topo_point){ tile->x - wide, tile->y + port };
	case SIDE_TOP:
		return (struct topo_point){ tile->x + port, tile->y - high };
	case SIDE_RIGHT:
		return (struct topo_point){ tile->x + wide, tile->y + port };
	default:
		return (struct topo_point){ tile->x + port, tile->y + high };
	}
}

/* Turn into a line of a gap. */
static void turn(struct topo_arrow *arrow, const struct topo_axis *axes, const struct topo_leg *leg)
{
	double place = axes[leg->axis].begin[leg->gap] + leg->place;
	struct topo_point point = arrow->points[arrow->points_count - 1];

	if (leg->axis)
		point.y = place;
	else
		point.x = place;
	arrow->points[arrow->points_count++] = point;
}

void topo_place_routes(struct topo *topo)
{
	for (size_t i = 0; i < topo->arrows_count; i++) {
		struct topo_arrow *arrow = &topo->arrows[i];
		struct topo_point end = end_point(topo, arrow, 1), last;

		arrow->points[0] = end_point(topo, arrow, 0);
		arrow->points_count = 1;
		for (size_t k = 0; k < arrow->legs_count; k++)
			turn(arrow, topo->axis, &arrow->legs[k]);
		/* Leave the last line towards the end. */
		if (arrow->legs_count) {
			last = arrow->points[arrow->points_count - 1];
			if (arrow->legs[arrow->legs_count - 1].axis)
				last.x = end.x;
			else
				last.y = end.y;
			arrow->points[arrow->points_count++] = last;
		}
		arrow->points[arrow->points_count++] = end;
	}
}
