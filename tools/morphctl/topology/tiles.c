// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draw accelerators as tiles: colour shows the slice, dashes show a spare, red shows a failure. A
 * lent spare has dashes and the colour of its slice.
 */
#include <stdlib.h>
#include <string.h>

#include "morphctl/topology/picture.h"

static void write_tile(FILE *stream, const struct topo *topo, const struct topo_tile *tile)
{
	const struct topo_color *color = topo_color_of(topo, tile->slice);
	bool held = tile->slice >= 0 || !strcmp(tile->use, "held"), bad = topo_unwell(tile);
	const char *fill = bad ? "#fde0e0" : held ? color->tint : "#ffffff";
	const char *stroke = bad ? COLOR_FAILED : held ? color->strong : COLOR_FAINT;
	double left = tile->x - topo->tile[0] / 2, top = tile->y - topo->tile[1] / 2;
	char text[96];

	if (tile->change)
		fprintf(stream,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" rx=\"11\" "
			"class=\"changed-tile\"/>\n",
			left - 5, top - 5, topo->tile[0] + 10, topo->tile[1] + 10);
	fprintf(stream,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" rx=\"7\" "
		"fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"%s><title>",
		left, top, topo->tile[0], topo->tile[1], fill, stroke, held || bad ? "2.2" : "1.4",
		!strcmp(tile->use, "spare") || tile->lent ? " stroke-dasharray=\"6 4\"" : "");
	snprintf(text, sizeof(text), "accelerator %u: %s, %s", tile->id,
		 tile->lent ? "lent spare" : tile->use, tile->health);
	picture_write_text(stream, text, strlen(text));
	if (tile->slice >= 0) {
		char *name = topo_slice_name(&topo->slices[tile->slice]);

		fputs(", ", stream);
		picture_write_text(stream, name, strlen(name));
		free(name);
	}
	fputs("</title></rect>\n", stream);
	if (bad)
		fprintf(stream,
			"<path d=\"M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f\" stroke=\"" COLOR_FAILED
			"\" stroke-width=\"1.6\" opacity=\"0.35\"/>\n",
			left + 7, top + 7, topo->tile[0] - 14, topo->tile[1] - 14,
			14 - topo->tile[1], 14 - topo->tile[0], topo->tile[1] - 14);
}

void picture_write_tiles(FILE *stream, const struct topo *topo)
{
	for (size_t i = 0; i < topo->tiles_count; i++)
		write_tile(stream, topo, &topo->tiles[i]);
}

static void write_line(FILE *stream, const struct topo_tile *tile, double y, const char *class,
		       const char *text)
{
	picture_write_label(stream, tile->x, y, class, text, strlen(text));
}

static void write_tile_text(FILE *stream, const struct topo *topo, const struct topo_tile *tile)
{
	double top = tile->y - topo->tile[1] / 2, y = top + 39;
	char text[48];

	if (topo_unwell(tile))
		write_line(stream, tile, top + 12, "mark", tile->health);
	else if (tile->cordoned)
		write_line(stream, tile, top + 12, "mark", "cordoned");
	snprintf(text, sizeof(text), "%u", tile->id);
	write_line(stream, tile, top + 27, "id", text);
	if (tile->slice >= 0) {
		char *name = topo_slice_name(&topo->slices[tile->slice]);
		double width = topo->tile[0] - TILE_PAD;
		size_t bytes;

		for (const char *at = name; *at; at += bytes, y += NAME_LINE) {
			bytes = label_fit(at, SIZE_NAME, width);
			picture_write_label(stream, tile->x, y, "rank", at, bytes);
		}
		free(name);
		snprintf(text, sizeof(text), "rank %u", tile->rank);
		write_line(stream, tile, y, "rank", text);
	} else {
		write_line(stream, tile, y + 3, "rank",
			   strcmp(tile->use, "held") ? tile->use : "in use");
	}
}

void picture_write_tile_texts(FILE *stream, const struct topo *topo)
{
	for (size_t i = 0; i < topo->tiles_count; i++)
		write_tile_text(stream, topo, &topo->tiles[i]);
	for (size_t i = 0; i < topo->tiles_count; i++) {
		const struct topo_tile *tile = &topo->tiles[i];

		if (tile->change)
			picture_write_badge(stream, tile->x + topo->tile[0] / 2,
					    tile->y - topo->tile[1] / 2, tile->change);
	}
}
