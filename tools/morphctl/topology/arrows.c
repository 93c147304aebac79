// SPDX-License-Identifier: GPL-2.0-or-later
/* Draw circuits as arrows: colour shows the slice, width shows lanes, dashes show the state. */
#include <math.h>
#include <string.h>

#include "morphctl/topology/picture.h"

#define CORNER 7.0 /* radius */
#define CASING 3.0 /* white space beside an arrow that crosses another */
#define CHANGED 6.0 /* black border around the white of a changed arrow */

static double between(struct topo_point a, struct topo_point b)
{
	return hypot(b.x - a.x, b.y - a.y);
}

/* The point that divides the line from @a to @b at @part, from 0 to 1. */
static struct topo_point divide(struct topo_point a, struct topo_point b, double part)
{
	return (struct topo_point){ a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part };
}

/* Write the points as a path with round corners. */
static void write_path(FILE *stream, const struct topo_point *points, size_t count)
{
	fprintf(stream, "M%.1f %.1f", points[0].x, points[0].y);
	for (size_t i = 1; i + 1 < count; i++) {
		double before = between(points[i - 1], points[i]);
		double after = between(points[i], points[i + 1]);
		double radius = fmin(CORNER, fmin(before, after) / 2);
		struct topo_point from, to;

		if (radius < 0.5) {
			fprintf(stream, "L%.1f %.1f", points[i].x, points[i].y);
			continue;
		}
		from = divide(points[i], points[i - 1], radius / before);
		to = divide(points[i], points[i + 1], radius / after);
		fprintf(stream, "L%.1f %.1fQ%.1f %.1f %.1f %.1f", from.x, from.y, points[i].x,
			points[i].y, to.x, to.y);
	}
	fprintf(stream, "L%.1f %.1f", points[count - 1].x, points[count - 1].y);
}

static void write_head(FILE *stream, struct topo_point back, struct topo_point end, double wide)
{
	double length = between(back, end);
	struct topo_point side = { (end.x - back.x) / length, (end.y - back.y) / length };

	fprintf(stream, "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\" stroke=\"none\"/>", end.x,
		end.y, back.x - side.y * wide, back.y + side.x * wide, back.x + side.y * wide,
		back.y - side.x * wide);
}

/* Write the path of an arrow, wider, so that it becomes the border of the arrow. */
static void write_around(FILE *stream, const struct topo_arrow *arrow,
			 const struct topo_point *points, const char *class, double width)
{
	fprintf(stream, "<path class=\"%s\" stroke-width=\"%.2f\" d=\"", class, width);
	write_path(stream, points, arrow->points_count);
	fputs("\"/>\n", stream);
}

static void write_arrow(FILE *stream, const struct topo *topo, const struct topo_arrow *arrow)
{
	const struct topo_tile *from = &topo->tiles[arrow->from], *to = &topo->tiles[arrow->to];
	bool failed = !strcmp(arrow->state, "failed"), lit = !strcmp(arrow->state, "lit");
	bool removed = !strcmp(arrow->state, ARROW_REMOVED);
	const char *stroke = failed ? COLOR_FAILED : topo_color_of(topo, arrow->slice)->strong;
	double width = topo_arrow_width(arrow->lanes), head = 4.5 + width;
	struct topo_point points[POINTS_MOST], end = arrow->points[arrow->points_count - 1];
	struct topo_point before = arrow->points[arrow->points_count - 2];

	if (between(before, end) < 1)
		return;
	memcpy(points, arrow->points, sizeof(points));
	points[arrow->points_count - 1] = divide(end, before, head / between(before, end));
	fprintf(stream,
		"<g stroke=\"%s\" fill=\"%s\" class=\"arrow\"><title>%u circuit%s, %u lane%s, "
		"%g Gb/s, %s: %u to %u</title>\n",
		stroke, stroke, arrow->circuits, PLURAL(arrow->circuits), arrow->lanes,
		PLURAL(arrow->lanes), (double)arrow->mbps / 1e3, arrow->state, from->id, to->id);
	if (arrow->change)
		write_around(stream, arrow, points, "changed", width + CHANGED);
	write_around(stream, arrow, points, "casing", width + CASING);
	fprintf(stream, "<path fill=\"none\" stroke-width=\"%.2f\"%s d=\"", width,
		failed	? " stroke-dasharray=\"7 4\"" :
		removed ? " stroke-dasharray=\"1 5\"" :
		lit	? "" :
			  " stroke-dasharray=\"3 3\"");
	write_path(stream, points, arrow->points_count);
	fputs("\"/>", stream);
	write_head(stream, points[arrow->points_count - 1], end, 2.2 + width * 0.6);
	fputs("</g>\n", stream);
}

void picture_write_arrows(FILE *stream, const struct topo *topo)
{
	for (size_t i = 0; i < topo->arrows_count; i++)
		write_arrow(stream, topo, &topo->arrows[i]);
}

/* A badge is in the middle of the longest line of its arrow. */
void picture_write_arrow_badges(FILE *stream, const struct topo *topo)
{
	for (size_t i = 0; i < topo->arrows_count; i++) {
		const struct topo_arrow *arrow = &topo->arrows[i];
		const struct topo_point *points = arrow->points;
		struct topo_point middle;
		size_t longest = 0;

		if (!arrow->change)
			continue;
		for (size_t k = 1; k + 1 < arrow->points_count; k++)
			if (between(points[k], points[k + 1]) >
			    between(points[longest], points[longest + 1]))
				longest = k;
		middle = divide(points[longest], points[longest + 1], 0.5);
		picture_write_badge(stream, middle.x, middle.y, arrow->change);
	}
}
