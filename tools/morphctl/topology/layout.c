// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Positions for tiles: x and y of a tile on its grid, one panel for each z, and panels side by
 * side. All panels form one grid of columns and rows, in whose gaps arrows run. A gap has space for
 * the boxes of hosts if no host spans both of its sides.
 */
#include <stdlib.h>

#include "morphctl/topology/topology.h"

#define MARGIN 24.0
#define TILE_LEAST 58.0
#define TILE_MOST 160.0
#define NAME_LINES 3 /* tiles become wider before names have more lines */
#define TILE_GAP 30.0
#define HEAD 11.0 /* space for the head of an arrow beside a tile */
#define BOX_PAD 14.0
#define BOX_LABEL 6.0
#define HOST_GAP 16.0
#define PANEL_GAP 24.0
#define PANEL_LABEL 22.0

/* ---------------------------------------------------------------------- columns and rows */

static int by_value(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Sort numbers, and keep one of each. Returns how many there are. */
static size_t distinct(uint32_t *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof(*list), by_value);
	for (size_t i = 0; i < count; i++)
		if (!kept || list[kept - 1] != list[i])
			list[kept++] = list[i];
	return kept;
}

static size_t place_in(const uint32_t *list, size_t count, uint32_t value)
{
	const uint32_t *found = bsearch(&value, list, count, sizeof(*list), by_value);

	return (size_t)(found - list);
}

/* The column (axis 0) or row (axis 1) of panels in which one of @count planes is. */
static size_t panel_of(size_t plane, size_t count, int axis)
{
	size_t columns = 1;

	while (columns * columns < count)
		columns++;
	return axis ? plane / columns : plane % columns;
}

/* Tiles of all panels of one column or row of panels share their columns or rows. */
static void number_cells(struct topo *topo, int axis, const uint32_t *planes, size_t planes_count)
{
	uint32_t *list = needed(calloc(topo->tiles_count + 1, sizeof(*list)));
	size_t panels = 0, before = 0;

	for (size_t i = 0; i < planes_count; i++)
		if (panel_of(i, planes_count, axis) >= panels)
			panels = panel_of(i, planes_count, axis) + 1;
	for (size_t panel = 0; panel < panels; panel++) {
		size_t count = 0;

		for (int pass = 0; pass < 2; pass++) {
			for (size_t i = 0; i < topo->tiles_count; i++) {
				struct topo_tile *tile = &topo->tiles[i];
				size_t plane = place_in(planes, planes_count, tile->at[2]);

				if (panel_of(plane, planes_count, axis) != panel)
					continue;
				if (pass)
					tile->cell[axis] =
						before + place_in(list, count, tile->at[axis]);
				else
					list[count++] = tile->at[axis];
			}
			if (!pass)
				count = distinct(list, count);
		}
		before += count;
	}
	topo->axis[axis].count = before;
	free(list);
}

static void number_all(struct topo *topo)
{
	uint32_t *planes = needed(calloc(topo->tiles_count + 1, sizeof(*planes)));
	size_t count;

	for (size_t i = 0; i < topo->tiles_count; i++)
		planes[i] = topo->tiles[i].at[2];
	count = distinct(planes, topo->tiles_count);
	for (int axis = 0; axis < 2; axis++)
		number_cells(topo, axis, planes, count);
	topo->planes_count = count;
	free(planes);
}

/* ------------------------------------------------------------------------ size of tiles */

/* Make tiles as large as the longest names and marks require. */
static void size_tiles(struct topo *topo)
{
	double width = TILE_LEAST;
	size_t lines = 1;

	for (size_t i = 0; i < topo->tiles_count; i++) {
		double need = label_width(topo->tiles[i].health, SIZE_MARK) + TILE_PAD;

		if (topo_unwell(&topo->tiles[i]) && width < need)
			width = need;
	}
	for (size_t i = 0; i < topo->slices_count; i++) {
		char *name = topo_slice_name(&topo->slices[i]);
		size_t count;

		while (topo->slices[i].tiles && width < TILE_MOST &&
		       (label_lines(name, SIZE_NAME, width - TILE_PAD) > NAME_LINES ||
			label_splits(name, SIZE_NAME, width - TILE_PAD)))
			width += 4;
		count = label_lines(name, SIZE_NAME, width - TILE_PAD);
		if (topo->slices[i].tiles && count > lines)
			lines = count;
		free(name);
	}
	topo->tile[0] = width;
	topo->tile[1] = TILE_LEAST + (double)(lines - 1) * NAME_LINE;
}

/* Names of hosts have as many lines as the longest needs above one tile. */
static void size_names(struct topo *topo)
{
	size_t lines = 1;

	for (size_t i = 0; i < topo->boxes_count; i++) {
		size_t count = label_lines(topo->boxes[i].name, HOST_SIZE,
					   topo->tile[0] + 2 * BOX_PAD - HOST_PAD);

		if (count > lines)
			lines = count;
	}
	topo->name_height = (double)lines * HOST_LINE + BOX_LABEL;
}

/* --------------------------------------------------------------------------------- gaps */

enum gap {
	WITHIN_HOST,
	BETWEEN_HOSTS,
	BETWEEN_PANELS
};

/* A gap without tiles on one side is as one between panels. */
static enum gap kind_of(const struct topo *topo, int axis, size_t gap)
{
	enum gap kind = BETWEEN_PANELS;

	for (size_t i = 0; i < topo->tiles_count; i++) {
		const struct topo_tile *a = &topo->tiles[i];

		if (a->cell[axis] + 1 != gap)
			continue;
		for (size_t k = 0; k < topo->tiles_count; k++) {
			const struct topo_tile *b = &topo->tiles[k];

			if (b->cell[axis] != gap || b->at[2] != a->at[2])
				continue;
			kind = BETWEEN_HOSTS;
			if (b->host == a->host && b->cell[!axis] == a->cell[!axis])
				return WITHIN_HOST;
		}
	}
	return kind;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Columns and rows begin at 0, after the first gap. */
static void place_axis(struct topo *topo, int axis)
{
	struct topo_axis *line = &topo->axis[axis];
	double place = 0, name = axis ? topo->name_height : 0;

	line->centre = needed(calloc(line->count + 1, sizeof(*line->centre)));
	line->begin = needed(calloc(line->count + 1, sizeof(*line->begin)));
	for (size_t gap = 0; gap <= line->count; gap++) {
		enum gap kind = kind_of(topo, axis, gap);
		double before = gap ? BOX_PAD : MARGIN, after = BOX_PAD + name;
		double middle = kind == BETWEEN_HOSTS ? HOST_GAP : PANEL_GAP;

		if (kind == WITHIN_HOST) {
			before = after = HEAD;
			middle = TILE_GAP - 2 * HEAD;
		} else if (kind == BETWEEN_PANELS && axis && topo->planes_count > 1) {
			after += PANEL_LABEL;
		}
		if (!gap || gap == line->count)
			middle = line->need[gap] > 0 ? HOST_GAP : 0;
		middle = larger(middle, line->need[gap] + 6);
		line->begin[gap] = place + before + (middle - line->need[gap]) / 2;
		place += before + middle;
		if (gap == line->count)
			break;
		place += after + topo->tile[axis];
		line->centre[gap] = place - topo->tile[axis] / 2;
	}
	topo->size[axis] = place + MARGIN;
}

static void place_boxes(struct topo *topo)
{
	const double wide = topo->tile[0] / 2 + BOX_PAD, high = topo->tile[1] / 2 + BOX_PAD;

	for (size_t b = 0; b < topo->boxes_count; b++) {
		struct topo_box *box = &topo->boxes[b];

		box->left = box->top = 1e9;
		box->right = box->bottom = 0;
		for (size_t i = 0; i < topo->tiles_count; i++) {
			const struct topo_tile *tile = &topo->tiles[i];

			if (tile->host != box->host || tile->at[2] != box->z)
				continue;
			if (tile->x - wide < box->left)
				box->left = tile->x - wide;
			if (tile->x + wide > box->right)
				box->right = tile->x + wide;
			if (tile->y - high - topo->name_height < box->top)
				box->top = tile->y - high - topo->name_height;
			if (tile->y + high > box->bottom)
				box->bottom = tile->y + high;
		}
	}
}

void topo_layout(struct topo *topo)
{
	number_all(topo);
	size_tiles(topo);
	size_names(topo);
	topo_choose_routes(topo);
	for (int axis = 0; axis < 2; axis++)
		place_axis(topo, axis);
	for (size_t i = 0; i < topo->tiles_count; i++) {
		struct topo_tile *tile = &topo->tiles[i];

		tile->x = topo->axis[0].centre[tile->cell[0]];
		tile->y = topo->axis[1].centre[tile->cell[1]];
	}
	place_boxes(topo);
	topo_place_routes(topo);
}
