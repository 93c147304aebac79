// SPDX-License-Identifier: GPL-2.0-or-later
/* The legend: a sample and a text for each slice, and for each kind of tile and arrow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/topology/picture.h"

#define LEFT 24.0
#define SAMPLE 32.0 /* a sample, and the space after it */
#define ROW 22.0
#define FONT 11.0

struct legend {
	FILE *stream;
	double x, y, width;
};

static void new_row(struct legend *legend)
{
	if (legend->x > LEFT)
		legend->y += ROW;
	legend->x = LEFT;
}

static double width_of(const char *text)
{
	return SAMPLE + label_width(text, FONT) + 14;
}

/* Write the text of an entry. Returns where its sample begins. */
static double begin_entry(struct legend *legend, const char *text)
{
	double need = width_of(text), x;

	if (legend->x + need > legend->width - LEFT)
		new_row(legend);
	x = legend->x;
	legend->x += need;
	if (legend->stream)
		picture_write_label(legend->stream, x + SAMPLE, legend->y + 4, "legend", text,
				    strlen(text));
	return x;
}

static void add_box(struct legend *legend, const char *text, const char *fill, const char *stroke,
		    bool dashed)
{
	double x = begin_entry(legend, text);

	if (legend->stream)
		fprintf(legend->stream,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"24\" height=\"15\" "
			"rx=\"3\" fill=\"%s\" stroke=\"%s\" stroke-width=\"1.8\"%s/>\n",
			x, legend->y - 8, fill, stroke, dashed ? " stroke-dasharray=\"5 3\"" : "");
}

static void add_line(struct legend *legend, const char *text, const char *stroke, double width,
		     const char *dashes)
{
	double x = begin_entry(legend, text);

	if (legend->stream)
		fprintf(legend->stream,
			"<path d=\"M%.1f %.1fh24\" stroke=\"%s\" "
			"stroke-width=\"%.2f\"%s/>\n",
			x, legend->y, stroke, width, dashes);
}

static char *describe_slice(const struct topo_slice *slice)
{
	char *name = topo_slice_name(slice), *text;

	if (asprintf(&text, "%s%s%s: %u accelerator%s, %u circuit%s", name,
		     *slice->state ? ", " : "", slice->state, slice->tiles, PLURAL(slice->tiles),
		     slice->circuits, PLURAL(slice->circuits)) < 0)
		text = NULL;
	free(name);
	return needed(text);
}

/* Write an entry for each slice, in columns of equal width. */
static void add_slices(struct legend *legend, const struct topo *topo)
{
	double widest = 0;

	for (size_t i = 0; i < topo->slices_count; i++) {
		char *text = describe_slice(&topo->slices[i]);

		widest = fmax(widest, width_of(text));
		free(text);
	}
	for (size_t i = 0; i < topo->slices_count; i++) {
		const struct topo_color *color = topo_color_of(topo, (int)i);
		char *text = describe_slice(&topo->slices[i]);

		add_box(legend, text, color->tint, color->strong, false);
		legend->x += widest - width_of(text);
		free(text);
	}
}

double picture_write_legend(FILE *stream, const struct topo *topo, double top, double width)
{
	struct legend legend = { .stream = stream, .x = LEFT, .y = top + 18, .width = width };

	add_slices(&legend, topo);
	if (topo->slices_count > topo_palette_count) {
		new_row(&legend);
		if (stream)
			picture_write_label(
				stream, LEFT, legend.y + 4, "under",
				"Several slices share a colour; tiles have their names.", 54);
		legend.y += ROW;
	}
	new_row(&legend);
	add_box(&legend, "free", "#ffffff", COLOR_FAINT, false);
	add_box(&legend, "spare", "#ffffff", COLOR_FAINT, true);
	if (topo->unknown)
		add_box(&legend, "in use by a slice that you may not open",
			topo_color_of(topo, -1)->tint, topo_color_of(topo, -1)->strong, false);
	add_box(&legend, "not healthy", "#fde0e0", COLOR_FAILED, false);
	add_line(&legend, "1 lane", COLOR_INK, topo_arrow_width(1), "");
	add_line(&legend, "4 lanes", COLOR_INK, topo_arrow_width(4), "");
	add_line(&legend, "failed circuit", COLOR_FAILED, 2, " stroke-dasharray=\"7 4\"");
	add_line(&legend, "prepared or changing", COLOR_INK, 2, " stroke-dasharray=\"2 3\"");
	if (topo->caption)
		add_box(&legend, "changed, with its number in the list", "#ffffff", "#000000",
			false);
	if (topo->caption)
		add_line(&legend, "removed circuit", topo_color_of(topo, -1)->strong, 2,
			 " stroke-dasharray=\"1 5\"");
	return legend.y + 26;
}
