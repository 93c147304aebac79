// SPDX-License-Identifier: GPL-2.0-or-later
/* The picture, as one SVG file without references. */
#include <stdlib.h>
#include <string.h>

#include "morphctl/output/output.h"
#include "morphctl/topology/picture.h"

#define LEAST_WIDTH 620.0
#define LEFT 24.0
#define BOLD 1.15 /* width of a bold letter, by that of another one */
#define CHANGES_SHOWN 99

void picture_write_text(FILE *stream, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)text[i];

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

void picture_write_label(FILE *stream, double x, double y, const char *class, const char *text,
			 size_t bytes)
{
	fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	picture_write_text(stream, text, bytes);
	fputs("</text>\n", stream);
}

void picture_write_badge(FILE *stream, double x, double y, size_t number)
{
	char text[24];

	if (number > CHANGES_SHOWN)
		return;
	snprintf(text, sizeof(text), "%zu", number);
	fprintf(stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"8\" fill=\"#000000\"/>\n", x, y);
	picture_write_label(stream, x, y + 3, "badge", text, strlen(text));
}

/* The font of a paragraph, as in the style sheet. */
struct font {
	const char *class;
	double size, width;
};

static const struct font font_title = { "title", 20, BOLD };
static const struct font font_under = { "under", 12, 1 };
static const struct font font_warning = { "warning", 12, BOLD };
static const struct font font_change = { "change", 12, 1 };

/* Write a paragraph in lines from @y on. Returns where the next one begins. */
static double write_lines(FILE *stream, double x, double y, double width, const struct font *font,
			  const char *text)
{
	size_t bytes;

	for (; *text; text += bytes) {
		y += font->size * 1.3;
		bytes = label_fit(text, font->size * font->width, width);
		if (stream)
			picture_write_label(stream, x, y, font->class, text, bytes);
	}
	return y;
}

static void write_head(FILE *stream, double width, double height)
{
	fprintf(stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
		"sans-serif\">\n<style>\n"
		"text { fill: " COLOR_INK "; font-size: 11px; }\n"
		".title { font-size: 20px; font-weight: bold; }\n"
		".under { font-size: 12px; fill: #455a64; }\n"
		".warning { font-size: 12px; font-weight: bold; }\n"
		".change { font-size: 12px; }\n"
		".host { font-size: 11px; fill: #546e7a; }\n"
		".plane { font-size: 13px; font-weight: bold; fill: #546e7a; }\n"
		".id, .rank, .mark { text-anchor: middle; }\n"
		".host, .id, .rank, .mark { paint-order: stroke; stroke: #ffffff; "
		"stroke-opacity: 0.75; stroke-width: 2.4px; stroke-linejoin: round; }\n"
		".id { font-size: 15px; font-weight: bold; }\n"
		".rank { font-size: 10px; }\n"
		".mark { font-size: 9.5px; font-weight: bold; fill: " COLOR_FAILED "; }\n"
		".changed { fill: none; stroke: #000000; }\n"
		".changed-tile { fill: #ffffff; stroke: #000000; stroke-width: 2px; }\n"
		".badge { text-anchor: middle; font-size: 9px; font-weight: bold; fill: #ffffff; }\n"
		".casing { fill: none; stroke: #ffffff; stroke-opacity: 0.9; }\n"
		"</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		width, height, width, height);
}

static char *summarize(const struct topo *topo, bool named)
{
	const json_t *fabric = json_array_get(json_object_get(topo->document, "fabrics"), 0);
	unsigned int lent = number_of(fabric, "lent-count", 0);
	char lent_text[24] = "", *text;
	uint64_t mbps = 0;

	for (size_t i = 0; i < topo->arrows_count; i++)
		if (!strcmp(topo->arrows[i].state, "lit"))
			mbps += topo->arrows[i].mbps;
	if (lent)
		snprintf(lent_text, sizeof(lent_text), "%u lent, ", lent);
	if (asprintf(&text,
		     "%s%s%zu accelerators: %u free, %u spare, %s%u failed; "
		     "slices: %zu; %g Gb/s lit",
		     named ? text_of_key(fabric, "name") : "",
		     named && *text_of_key(fabric, "name") ? "; " : "", topo->tiles_count,
		     number_of(fabric, "free-count", 0), number_of(fabric, "spares-count", 0),
		     lent_text, number_of(fabric, "failed-count", 0), topo->slices_count,
		     (double)mbps / 1e3) < 0)
		text = NULL;
	return needed(text);
}

/* Write the title and what is below it. Returns where it ends. */
static double write_title(FILE *stream, const struct topo *topo, const char *title, double width)
{
	const json_t *fabric = json_array_get(json_object_get(topo->document, "fabrics"), 0);
	const char *name = text_of_key(fabric, "name");
	char *under = summarize(topo, title), *time = topo_time(topo->document), *line;
	double y = 8, inner = width - 2 * LEFT;

	y = write_lines(stream, LEFT, y, inner, &font_title,
			title ? title :
			*name ? name :
				"fabric");
	y = write_lines(stream, LEFT, y + 3, inner, &font_under, under);
	if (asprintf(&line, "%s%s", *time ? "taken at " : TIME_UNKNOWN, time) < 0)
		line = NULL;
	y = write_lines(stream, LEFT, y, inner, &font_under, needed(line));
	if (topo->own)
		y = write_lines(stream, LEFT, y + 2, inner, &font_warning, INCOMPLETE);
	free(under);
	free(time);
	free(line);
	return y;
}

/* Write the caption and the list of changes. Returns where they end. */
static double write_changes(FILE *stream, const struct topo *topo, double y, double width)
{
	size_t shown = topo->changes_count < CHANGES_SHOWN ? topo->changes_count : CHANGES_SHOWN;
	double inner = width - 2 * LEFT, below;
	char text[64];

	if (!topo->caption)
		return y;
	y = write_lines(stream, LEFT, y, inner, &font_warning, topo->caption);
	for (size_t i = 0; i < shown; i++) {
		below = write_lines(stream, LEFT + 30, y + 4, inner - 30, &font_change,
				    topo->changes[i]);
		if (stream)
			picture_write_badge(stream, LEFT + 10, y + 15, i + 1);
		y = below;
	}
	if (shown < topo->changes_count) {
		snprintf(text, sizeof(text), "and %zu more changes", topo->changes_count - shown);
		y = write_lines(stream, LEFT + 30, y + 4, inner, &font_change, text);
	}
	return y + 16;
}

static void write_box(FILE *stream, const struct topo_box *box)
{
	fprintf(stream,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"9\" "
		"fill=\"#f6f8f9\" stroke=\"#cfd8dc\"/>\n",
		box->left, box->top, box->right - box->left, box->bottom - box->top);
}

static void write_host(FILE *stream, const struct topo_box *box)
{
	double y = box->top + 2;
	char number[32];
	const char *name = box->name;
	size_t bytes;

	snprintf(number, sizeof(number), "host %u", box->host);
	for (name = *name ? name : number; *name; name += bytes) {
		y += HOST_LINE;
		bytes = label_fit(name, HOST_SIZE, box->right - box->left - HOST_PAD);
		picture_write_label(stream, box->left + HOST_PAD / 2, y, "host", name, bytes);
	}
}

/* Write names of planes if there is more than one plane. */
static void write_planes(FILE *stream, const struct topo *topo)
{
	uint32_t last = 0;

	for (size_t i = 0; i < topo->boxes_count; i++)
		if (topo->boxes[i].z > last)
			last = topo->boxes[i].z;
	for (uint32_t z = 0; topo->planes_count > 1 && z <= last; z++) {
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
		picture_write_label(stream, left + 2, top - 7, "plane", name, strlen(name));
	}
}

void topo_write_svg(FILE *stream, const struct topo *topo, const char *title)
{
	double width = topo->size[0] > LEAST_WIDTH ? topo->size[0] : LEAST_WIDTH;
	double top = write_title(NULL, topo, title, width), bottom = top + topo->size[1];
	double below = picture_write_legend(NULL, topo, bottom, width);

	write_head(stream, width, write_changes(NULL, topo, below, width));
	write_title(stream, topo, title, width);
	fprintf(stream, "<g transform=\"translate(%.1f %.1f)\">\n", (width - topo->size[0]) / 2,
		top);
	for (size_t i = 0; i < topo->boxes_count; i++)
		write_box(stream, &topo->boxes[i]);
	write_planes(stream, topo);
	picture_write_tiles(stream, topo);
	picture_write_arrows(stream, topo);
	/* Draw names last, so that no arrow crosses them. */
	for (size_t i = 0; i < topo->boxes_count; i++)
		write_host(stream, &topo->boxes[i]);
	picture_write_tile_texts(stream, topo);
	picture_write_arrow_badges(stream, topo);
	fputs("</g>\n", stream);
	fprintf(stream, "<path d=\"M24 %.1fH%.1f\" stroke=\"#cfd8dc\"/>\n", bottom - 6,
		width - LEFT);
	picture_write_legend(stream, topo, bottom, width);
	write_changes(stream, topo, below, width);
	fputs("</svg>\n", stream);
}
