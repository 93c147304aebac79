// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draw the picture: colour shows the slice, dashes show a spare, red shows a failure, width shows
 * lanes. A lent spare has dashes and the colour of its slice.
 */
#include <math.h>

#include "morphctl/output/output.h"
#include "morphctl/topology/topology.h"

#define HALF (TILE_SIZE / 2)
#define FAR (3 * TILE_SIZE) /* longer than the distance between neighbouring tiles */
#define LEAST_WIDTH 560.0
#define RED "#c62828"
#define INK "#263238"
#define FAINT "#90a4ae"

struct color {
	const char *strong;
	const char *tint;
};

/* These colours are distinguishable for colour-blind readers. Red is reserved for failed parts. */
static const struct color palette[] = {
	{ "#0072b2", "#cfe6f5" }, { "#e69f00", "#fdeecb" }, { "#009e73", "#cdeee3" },
	{ "#8e44ad", "#e8d7f1" }, { "#3aa7c9", "#d6f0f8" }, { "#8d6e63", "#e8deda" },
	{ "#c2519b", "#f6dcec" }, { "#5c6bc0", "#dde0f4" }, { "#7cb342", "#e4f2d4" },
	{ "#455a64", "#d8e0e3" },
};

static const struct color *color_of(int slice)
{
	return &palette[(size_t)(slice < 0 ? 9 : slice) % (sizeof(palette) / sizeof(palette[0]))];
}

static void text_out(FILE *stream, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '<')
			fputs("&lt;", stream);
		else if (c == '>')
			fputs("&gt;", stream);
		else if (c == '&')
			fputs("&amp;", stream);
		else if (c >= 0x20 && c < 0x7f)
			fputc(c, stream);
		else
			fputc('?', stream);
	}
}

static void label(FILE *stream, double x, double y, const char *class, const char *text)
{
	fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	text_out(stream, text);
	fputs("</text>\n", stream);
}

static void slice_name(const struct topo_slice *slice, char *name, size_t size)
{
	if (*slice->name)
		snprintf(name, size, "%s", slice->name);
	else
		snprintf(name, size, "slice %u", slice->id);
}

static bool unwell(const struct topo_tile *tile)
{
	return strcmp(tile->health, "ok") && *tile->health;
}

static void write_head(FILE *stream, double width, double height)
{
	fprintf(stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
		"sans-serif\">\n<style>\n"
		"text { fill: " INK "; font-size: 11px; }\n"
		".title { font-size: 20px; font-weight: bold; }\n"
		".under { font-size: 12px; fill: #546e7a; }\n"
		".host { font-size: 11px; fill: #607d8b; }\n"
		".plane { font-size: 13px; font-weight: bold; fill: #607d8b; }\n"
		".id, .rank, .mark { text-anchor: middle; paint-order: stroke; stroke: #ffffff; "
		"stroke-opacity: 0.75; stroke-width: 2.4px; stroke-linejoin: round; }\n"
		".id { font-size: 15px; font-weight: bold; }\n"
		".rank { font-size: 10px; }\n"
		".mark { font-size: 9.5px; font-weight: bold; fill: " RED "; }\n"
		"</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		width, height, width, height);
}

static void write_title(FILE *stream, const struct topo *topo, const char *title)
{
	const json_t *fabric = json_array_get(json_object_get(topo->document, "fabrics"), 0);
	unsigned int lent = number_of(fabric, "lent-count", 0);
	char line[256], name[80], lent_text[24] = "";
	uint64_t mbps = 0;

	for (size_t i = 0; i < topo->arrows_count; i++)
		if (!strcmp(topo->arrows[i].state, "lit"))
			mbps += topo->arrows[i].mbps;
	snprintf(name, sizeof(name), "%s", text_of_key(fabric, "name"));
	label(stream, 24, 32, "title", title ? title : *name ? name : "fabric");
	if (lent)
		snprintf(lent_text, sizeof(lent_text), "%u lent, ", lent);
	snprintf(line, sizeof(line),
		 "%s%s%zu accelerators: %u free, %u spare, %s%u failed; "
		 "slices: %zu; %g Gb/s lit",
		 title ? name : "", title && *name ? "; " : "", topo->tiles_count,
		 number_of(fabric, "free-count", 0), number_of(fabric, "spares-count", 0),
		 lent_text, number_of(fabric, "failed-count", 0), topo->slices_count,
		 (double)mbps / 1e3);
	label(stream, 24, 51, "under", line);
}

static void write_box(FILE *stream, const struct topo_box *box)
{
	char name[64];

	fprintf(stream,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"9\" "
		"fill=\"#f6f8f9\" stroke=\"#cfd8dc\"/>\n",
		box->left, box->top, box->right - box->left, box->bottom - box->top);
	snprintf(name, sizeof(name), "%s", box->name);
	if (!*name)
		snprintf(name, sizeof(name), "host %u", box->host);
	label(stream, box->left + 9, box->top + 14, "host", name);
}

/* Write names of planes if there is more than one plane. */
static void write_planes(FILE *stream, const struct topo *topo)
{
	uint32_t last = 0;

	for (size_t i = 0; i < topo->boxes_count; i++)
		if (topo->boxes[i].z > last)
			last = topo->boxes[i].z;
	for (uint32_t z = 0; last && z <= last; z++) {
		double left = 1e9, top = 1e9;
		char name[16];

		for (size_t i = 0; i < topo->boxes_count; i++) {
			const struct topo_box *box = &topo->boxes[i];

			if (box->z == z && box->left < left)
				left = box->left;
			if (box->z == z && box->top < top)
				top = box->top;
		}
		if (left == 1e9)
			continue;
		snprintf(name, sizeof(name), "z = %u", z);
		label(stream, left + 2, top - 7, "plane", name);
	}
}

static void write_tile(FILE *stream, const struct topo *topo, const struct topo_tile *tile)
{
	const struct color *color = color_of(tile->slice);
	const char *fill = tile->slice >= 0 ? color->tint : "#ffffff";
	const char *stroke = tile->slice >= 0 ? color->strong : FAINT;
	char name[64] = "", text[96];

	if (unwell(tile)) {
		fill = "#fde0e0";
		stroke = RED;
	}
	fprintf(stream,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" rx=\"7\" "
		"fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"%s><title>",
		tile->x - HALF, tile->y - HALF, TILE_SIZE, TILE_SIZE, fill, stroke,
		tile->slice >= 0 || unwell(tile) ? "2.2" : "1.4",
		!strcmp(tile->use, "spare") || tile->lent ? " stroke-dasharray=\"6 4\"" : "");
	if (tile->slice >= 0)
		slice_name(&topo->slices[tile->slice], name, sizeof(name));
	snprintf(text, sizeof(text), "accelerator %u: %s, %s", tile->id,
		 tile->lent ? "lent spare" : tile->use, tile->health);
	text_out(stream, text);
	text_out(stream, *name ? ", " : "");
	text_out(stream, name);
	fputs("</title></rect>\n", stream);
	if (unwell(tile))
		fprintf(stream,
			"<path d=\"M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1f\" stroke=\"" RED
			"\" stroke-width=\"1.6\" opacity=\"0.45\"/>\n",
			tile->x - HALF + 7, tile->y - HALF + 7, tile->x + HALF - 7,
			tile->y + HALF - 7, tile->x + HALF - 7, tile->y - HALF + 7,
			tile->x - HALF + 7, tile->y + HALF - 7);
}

static void write_tile_text(FILE *stream, const struct topo *topo, const struct topo_tile *tile)
{
	char text[48], name[40];

	snprintf(text, sizeof(text), "%u", tile->id);
	label(stream, tile->x, tile->y - 3, "id", text);
	if (tile->slice >= 0) {
		slice_name(&topo->slices[tile->slice], name, sizeof(name));
		name[8] = 0; /* the tile has no space for more; the legend has the full name */
		label(stream, tile->x, tile->y + 10, "rank", name);
		snprintf(text, sizeof(text), "rank %u", tile->rank);
		label(stream, tile->x, tile->y + 21, "rank", text);
	} else if (unwell(tile)) {
		label(stream, tile->x, tile->y + 12, "mark", tile->health);
	} else {
		label(stream, tile->x, tile->y + 12, "rank", tile->use);
	}
	if (tile->slice >= 0 && unwell(tile))
		label(stream, tile->x, tile->y - HALF + 11, "mark", tile->health);
	else if (tile->cordoned)
		label(stream, tile->x, tile->y - HALF + 11, "mark", "cordon");
}

struct point {
	double x, y;
};

/* The point outside the tile on the line from its centre to @to. */
static struct point leave(const struct topo_tile *tile, struct point to, double beyond)
{
	double dx = to.x - tile->x, dy = to.y - tile->y;
	double far = fabs(dx) > fabs(dy) ? fabs(dx) : fabs(dy);
	double scale = far > 0 ? (HALF + beyond) / far : 0;

	return (struct point){ tile->x + dx * scale, tile->y + dy * scale };
}

static double arrow_width(const struct topo_arrow *arrow)
{
	double width = 1.2 + 0.55 * arrow->lanes;

	return width > 8 ? 8 : width;
}

static void write_arrow(FILE *stream, const struct topo *topo, const struct topo_arrow *arrow)
{
	const struct topo_tile *from = &topo->tiles[arrow->from], *to = &topo->tiles[arrow->to];
	bool failed = !strcmp(arrow->state, "failed"), lit = !strcmp(arrow->state, "lit");
	const char *stroke = failed ? RED : color_of(arrow->slice)->strong;
	double dx = to->x - from->x, dy = to->y - from->y, length = hypot(dx, dy);
	double width = arrow_width(arrow), head = 5.5 + width, bend = 11 + length * 0.09;
	double opacity = length > FAR ? 0.6 : 0.88;
	struct point control, begin, end, back, side;

	if (length < 1)
		return;
	control = (struct point){ (from->x + to->x) / 2 + dy / length * bend,
				  (from->y + to->y) / 2 - dx / length * bend };
	begin = leave(from, control, 1.5);
	end = leave(to, control, 2);
	length = hypot(end.x - control.x, end.y - control.y);
	side = (struct point){ (end.x - control.x) / length, (end.y - control.y) / length };
	back = (struct point){ end.x - side.x * head, end.y - side.y * head };
	fprintf(stream,
		"<g stroke=\"%s\" fill=\"%s\" opacity=\"%.2f\"><title>%u circuit%s, %u "
		"lane%s, %g Gb/s, %s: %u to %u</title>\n",
		stroke, stroke, opacity, arrow->circuits, arrow->circuits > 1 ? "s" : "",
		arrow->lanes, arrow->lanes > 1 ? "s" : "", (double)arrow->mbps / 1e3, arrow->state,
		from->id, to->id);
	fprintf(stream,
		"<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\" fill=\"none\" "
		"stroke-width=\"%.2f\"%s/>\n",
		begin.x, begin.y, control.x, control.y, back.x, back.y, width,
		failed ? " stroke-dasharray=\"7 4\"" :
		lit    ? "" :
			 " stroke-dasharray=\"2 3\"");
	fprintf(stream, "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\" stroke=\"none\"/></g>\n",
		end.x, end.y, back.x - side.y * head * 0.5, back.y + side.x * head * 0.5,
		back.x + side.y * head * 0.5, back.y - side.x * head * 0.5);
}

/* Draw arrows that pass other tiles first, so that short arrows lie on top. */
static void write_arrows(FILE *stream, const struct topo *topo, bool far)
{
	for (size_t i = 0; i < topo->arrows_count; i++) {
		const struct topo_arrow *arrow = &topo->arrows[i];
		const struct topo_tile *from = &topo->tiles[arrow->from];
		const struct topo_tile *to = &topo->tiles[arrow->to];

		if ((hypot(to->x - from->x, to->y - from->y) > FAR) == far)
			write_arrow(stream, topo, arrow);
	}
}

/* Entries of the legend, in as many rows as necessary. */
struct legend {
	FILE *stream;
	double x, y, width;
};

static void entry_begin(struct legend *legend, const char *text, double *x, double *y)
{
	double need = 38 + 6.6 * (double)strlen(text);

	if (legend->x > 24 && legend->x + need > legend->width - 24) {
		legend->x = 24;
		legend->y += 22;
	}
	*x = legend->x;
	*y = legend->y;
	legend->x += need + 14;
	if (legend->stream)
		label(legend->stream, *x + 32, *y + 4, "legend", text);
}

static void entry_box(struct legend *legend, const char *text, const char *fill, const char *stroke,
		      bool dashed)
{
	double x, y;

	entry_begin(legend, text, &x, &y);
	if (legend->stream)
		fprintf(legend->stream,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"24\" height=\"15\" "
			"rx=\"3\" fill=\"%s\" stroke=\"%s\" stroke-width=\"1.8\"%s/>\n",
			x, y - 8, fill, stroke, dashed ? " stroke-dasharray=\"5 3\"" : "");
}

static void entry_line(struct legend *legend, const char *text, const char *stroke, double width,
		       const char *dashes)
{
	double x, y;

	entry_begin(legend, text, &x, &y);
	if (legend->stream)
		fprintf(legend->stream,
			"<path d=\"M%.1f %.1fh24\" stroke=\"%s\" "
			"stroke-width=\"%.2f\"%s/>\n",
			x, y, stroke, width, dashes);
}

/* Returns the height. With a NULL stream, only measure. */
static double write_legend(FILE *stream, const struct topo *topo, double top, double width)
{
	struct legend legend = { .stream = stream, .x = 24, .y = top + 14, .width = width };
	struct topo_arrow one = { .lanes = 1 }, four = { .lanes = 4 };
	char name[48], text[128];

	for (size_t i = 0; i < topo->slices_count; i++) {
		const struct topo_slice *slice = &topo->slices[i];
		const struct color *color = color_of((int)i);

		slice_name(slice, name, sizeof(name));
		snprintf(text, sizeof(text), "%s%s%s: %u accelerators, %u circuits", name,
			 *slice->state ? ", " : "", slice->state, slice->tiles, slice->circuits);
		entry_box(&legend, text, color->tint, color->strong, false);
	}
	if (topo->slices_count) {
		legend.x = 24;
		legend.y += 24;
	}
	entry_box(&legend, "free", "#ffffff", FAINT, false);
	entry_box(&legend, "spare", "#ffffff", FAINT, true);
	entry_box(&legend, "not healthy", "#fde0e0", RED, false);
	entry_line(&legend, "1 lane", INK, arrow_width(&one), "");
	entry_line(&legend, "4 lanes", INK, arrow_width(&four), "");
	entry_line(&legend, "failed circuit", RED, 2, " stroke-dasharray=\"7 4\"");
	entry_line(&legend, "prepared or changing", INK, 2, " stroke-dasharray=\"2 3\"");
	return legend.y + 26 - top;
}

void topo_write_svg(FILE *stream, const struct topo *topo, const char *title)
{
	double width = topo->width > LEAST_WIDTH ? topo->width : LEAST_WIDTH;
	double legend = write_legend(NULL, topo, topo->height, width);

	write_head(stream, width, topo->height + legend);
	write_title(stream, topo, title);
	fprintf(stream, "<g transform=\"translate(%.1f 0)\">\n", (width - topo->width) / 2);
	for (size_t i = 0; i < topo->boxes_count; i++)
		write_box(stream, &topo->boxes[i]);
	write_planes(stream, topo);
	write_arrows(stream, topo, true);
	for (size_t i = 0; i < topo->tiles_count; i++)
		write_tile(stream, topo, &topo->tiles[i]);
	write_arrows(stream, topo, false);
	/* Draw names last, so that no arrow crosses them. */
	for (size_t i = 0; i < topo->tiles_count; i++)
		write_tile_text(stream, topo, &topo->tiles[i]);
	fputs("</g>\n", stream);
	fprintf(stream, "<path d=\"M24 %.1fH%.1f\" stroke=\"#cfd8dc\"/>\n", topo->height - 6,
		width - 24);
	write_legend(stream, topo, topo->height, width);
	fputs("</svg>\n", stream);
}
