// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The graph for the programs of Graphviz. Tiles have the positions of the picture, which neato and
 * fdp keep; neato leads arrows around tiles.
 */
#include <stdlib.h>
#include <string.h>

#include "morphctl/output/output.h"
#include "morphctl/topology/topology.h"

#define INCH 72.0

/* Write text within quotes. Graphviz reads a backslash as the begin of an escape. */
static void write_text(FILE *stream, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', stream);
		fputc((unsigned char)*text < 0x20 ? ' ' : *text, stream);
	}
}

static void write_lines(FILE *stream, const char *text, double size, double width)
{
	for (size_t bytes; *text; text += bytes) {
		char *line;

		bytes = label_fit(text, size, width);
		line = needed(strndup(text, bytes));
		fputs("\\n", stream);
		write_text(stream, line);
		free(line);
	}
}

static const char *host_of(const struct topo *topo, const struct topo_tile *tile)
{
	for (size_t i = 0; i < topo->boxes_count; i++)
		if (topo->boxes[i].host == tile->host && topo->boxes[i].z == tile->at[2])
			return topo->boxes[i].name;
	return "";
}

static void write_node(FILE *stream, const struct topo *topo, const struct topo_tile *tile)
{
	const struct topo_color *color = topo_color_of(topo, tile->slice);
	bool held = tile->slice >= 0 || !strcmp(tile->use, "held"), bad = topo_unwell(tile);
	double width = topo->tile[0] - TILE_PAD;

	fprintf(stream, "\ta%u [pos=\"%.1f,%.1f!\", label=\"", tile->id, tile->x, -tile->y);
	if (bad)
		write_text(stream, tile->health);
	else if (tile->cordoned)
		fputs("cordoned", stream);
	fprintf(stream, "\\n%u", tile->id);
	if (tile->slice >= 0) {
		char *name = topo_slice_name(&topo->slices[tile->slice]);

		write_lines(stream, name, SIZE_NAME, width);
		fprintf(stream, "\\nrank %u", tile->rank);
		free(name);
	} else {
		write_lines(stream, held ? "in use" : tile->use, SIZE_NAME, width);
	}
	write_lines(stream, host_of(topo, tile), SIZE_NAME, width);
	fprintf(stream, "\", fillcolor=\"%s\", color=\"%s\", style=\"rounded,filled%s\"%s];\n",
		bad  ? "#fde0e0" :
		held ? color->tint :
		       "#ffffff",
		bad  ? COLOR_FAILED :
		held ? color->strong :
		       COLOR_FAINT,
		!strcmp(tile->use, "spare") || tile->lent ? ", dashed" : "",
		tile->change ? ", peripheries=2" : "");
}

static void write_edge(FILE *stream, const struct topo *topo, const struct topo_arrow *arrow)
{
	bool failed = !strcmp(arrow->state, "failed"), lit = !strcmp(arrow->state, "lit");

	fprintf(stream,
		"\ta%u -> a%u [color=\"%s\", penwidth=%.2f, style=%s, tooltip=\"%u circuit%s, "
		"%u lane%s, %s\"",
		topo->tiles[arrow->from].id, topo->tiles[arrow->to].id,
		failed ? COLOR_FAILED : topo_color_of(topo, arrow->slice)->strong,
		topo_arrow_width(arrow->lanes),
		failed ? "dashed" :
		lit    ? "solid" :
			 "dotted",
		arrow->circuits, PLURAL(arrow->circuits), arrow->lanes, PLURAL(arrow->lanes),
		arrow->state);
	if (arrow->change)
		fprintf(stream, ", label=\"%zu\"", arrow->change);
	fputs("];\n", stream);
}

/* The title and what is below it; \l ends a line that begins at the left. */
static void write_label(FILE *stream, const struct topo *topo, const char *title)
{
	const json_t *fabric = json_array_get(json_object_get(topo->document, "fabrics"), 0);
	char *time = topo_time(topo->document);

	write_text(stream, title ? title : text_of_key(fabric, "name"));
	fprintf(stream, "\\l%s%s\\l", *time ? "taken at " : TIME_UNKNOWN, time);
	if (topo->own)
		fputs(INCOMPLETE "\\l", stream);
	if (topo->caption) {
		write_text(stream, topo->caption);
		fputs("\\l", stream);
	}
	for (size_t i = 0; i < topo->changes_count; i++) {
		fprintf(stream, "%zu  ", i + 1);
		write_text(stream, topo->changes[i]);
		fputs("\\l", stream);
	}
	free(time);
}

void topo_write_dot(FILE *stream, const struct topo *topo, const char *title)
{
	fputs("digraph fabric {\n\tgraph [layout=neato, inputscale=72, splines=true, "
	      "fontname=\"Helvetica\", labelloc=t, labeljust=l, label=\"",
	      stream);
	write_label(stream, topo, title);
	fprintf(stream,
		"\"];\n\tnode [shape=box, fixedsize=true, width=%.3f, height=%.3f, "
		"fontname=\"Helvetica\", fontsize=9, penwidth=2];\n\tedge [arrowsize=0.6, "
		"fontname=\"Helvetica\", fontsize=10];\n",
		topo->tile[0] / INCH, (topo->tile[1] + NAME_LINE) / INCH);
	for (size_t i = 0; i < topo->tiles_count; i++)
		write_node(stream, topo, &topo->tiles[i]);
	for (size_t i = 0; i < topo->arrows_count; i++)
		write_edge(stream, topo, &topo->arrows[i]);
	fputs("}\n", stream);
}
