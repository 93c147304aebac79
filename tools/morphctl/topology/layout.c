// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Positions for tiles: x and y of a tile on its grid, one panel for each z, and panels side by
 * side. A gap for the boxes of hosts separates two columns or rows if no host spans both.
 */
#include <stdlib.h>

#include "morphctl/topology/topology.h"

#define MARGIN 24.0
#define HEADER 62.0
#define TILE_GAP 30.0
#define BOX_PAD 14.0
#define BOX_LABEL 18.0
#define HOST_GAP 22.0
#define PANEL_GAP 44.0
#define PANEL_LABEL 22.0
#define PANELS_A_ROW 4

/* One axis of a panel: the centre of the tiles in each column (or row). */
struct axis {
	double *centre;
	uint32_t count;
	double size;
};

static bool host_spans(const struct topo *topo, uint32_t z, int axis, uint32_t from)
{
	int other = !axis;

	for (size_t i = 0; i < topo->tiles_count; i++) {
		const struct topo_tile *a = &topo->tiles[i];

		if (a->at[2] != z || a->at[axis] != from)
			continue;
		for (size_t k = 0; k < topo->tiles_count; k++) {
			const struct topo_tile *b = &topo->tiles[k];

			if (b->at[2] == z && b->at[axis] == from + 1 && b->host == a->host &&
			    b->at[other] == a->at[other])
				return true;
		}
	}
	return false;
}

static void axis_make(struct axis *out, const struct topo *topo, uint32_t z, int axis)
{
	double label = axis == 1 ? BOX_LABEL : 0, place = BOX_PAD + label;

	out->count = 0;
	for (size_t i = 0; i < topo->tiles_count; i++)
		if (topo->tiles[i].at[2] == z && topo->tiles[i].at[axis] >= out->count)
			out->count = topo->tiles[i].at[axis] + 1;
	out->centre = needed(calloc(out->count ? out->count : 1, sizeof(*out->centre)));
	for (uint32_t at = 0; at < out->count; at++) {
		out->centre[at] = place + TILE_SIZE / 2;
		place += TILE_SIZE;
		if (at + 1 < out->count)
			place += host_spans(topo, z, axis, at) ? TILE_GAP :
								 2 * BOX_PAD + HOST_GAP + label;
	}
	out->size = place + BOX_PAD;
}

static void place_panel(struct topo *topo, uint32_t z, double left, double top,
			const struct axis *columns, const struct axis *rows)
{
	for (size_t i = 0; i < topo->tiles_count; i++) {
		struct topo_tile *tile = &topo->tiles[i];

		if (tile->at[2] != z)
			continue;
		tile->x = left + columns->centre[tile->at[0]];
		tile->y = top + rows->centre[tile->at[1]];
	}
}

static bool plane_used(const struct topo *topo, uint32_t z)
{
	for (size_t i = 0; i < topo->tiles_count; i++)
		if (topo->tiles[i].at[2] == z)
			return true;
	return false;
}

static void place_boxes(struct topo *topo)
{
	const double half = TILE_SIZE / 2;

	for (size_t b = 0; b < topo->boxes_count; b++) {
		struct topo_box *box = &topo->boxes[b];

		box->left = box->top = 1e9;
		box->right = box->bottom = 0;
		for (size_t i = 0; i < topo->tiles_count; i++) {
			const struct topo_tile *tile = &topo->tiles[i];

			if (tile->host != box->host || tile->at[2] != box->z)
				continue;
			if (tile->x - half - BOX_PAD < box->left)
				box->left = tile->x - half - BOX_PAD;
			if (tile->x + half + BOX_PAD > box->right)
				box->right = tile->x + half + BOX_PAD;
			if (tile->y - half - BOX_PAD - BOX_LABEL < box->top)
				box->top = tile->y - half - BOX_PAD - BOX_LABEL;
			if (tile->y + half + BOX_PAD > box->bottom)
				box->bottom = tile->y + half + BOX_PAD;
		}
	}
}

void topo_layout(struct topo *topo)
{
	double left = MARGIN, top = HEADER, row_height = 0;
	uint32_t planes = 0, shown = 0;

	for (size_t i = 0; i < topo->tiles_count; i++)
		if (topo->tiles[i].at[2] >= planes)
			planes = topo->tiles[i].at[2] + 1;
	for (uint32_t z = 0; z < planes; z++) {
		struct axis columns, rows;

		if (!plane_used(topo, z))
			continue;
		if (shown && shown % PANELS_A_ROW == 0) {
			left = MARGIN;
			top += row_height + PANEL_GAP;
			row_height = 0;
		}
		axis_make(&columns, topo, z, 0);
		axis_make(&rows, topo, z, 1);
		place_panel(topo, z, left, top + PANEL_LABEL, &columns, &rows);
		left += columns.size + PANEL_GAP;
		if (left - PANEL_GAP + MARGIN > topo->width)
			topo->width = left - PANEL_GAP + MARGIN;
		if (rows.size + PANEL_LABEL > row_height)
			row_height = rows.size + PANEL_LABEL;
		free(columns.centre);
		free(rows.centre);
		shown++;
	}
	topo->height = top + row_height + MARGIN;
	place_boxes(topo);
}
