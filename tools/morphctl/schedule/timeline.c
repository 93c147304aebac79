// SPDX-License-Identifier: GPL-2.0-or-later
/* The time line of a schedule: the states of planes as lines of text and as a picture. */
#include <stdlib.h>
#include <string.h>

#include "morphctl/schedule/schedule.h"

#define MOST_COLUMNS 72
#define LABEL 11 /* columns of "plane 12 |" and of the bar at the end */

/* A transmission over a hold. */
struct use {
	uint32_t hold;
	uint64_t begin_ns, end_ns;
};

struct uses {
	struct use *list;
	size_t count;
};

/* Sort by hold, then by time. */
static int in_order(const void *one, const void *other)
{
	const struct use *a = one, *b = other;

	if (a->hold != b->hold)
		return a->hold < b->hold ? -1 : 1;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Transmissions over the same hold that overlap become one. */
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
	uint32_t sends = schedule_result(schedule).sends;
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
				(struct use){ send.holds[hop], send.from_ns, send.until_ns };
	}
	qsort(uses.list, uses.count, sizeof(*uses.list), in_order);
	merge(&uses);
	return uses;
}

/*
 * Holds are sorted by the time at which they are set. So there are at most as many lanes as
 * overlapping holds.
 */
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

/* Add the hold: first it is set, and between transmissions it is lit. */
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
	uint32_t holds = schedule_result(schedule).holds;
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

/* Each stretch takes at least the column in which it begins, so that short ones are visible. */
static void draw(unsigned int doings[MOST_COLUMNS], size_t columns, const struct timeline *timeline,
		 const struct stretch *stretch)
{
	size_t from = (size_t)((unsigned __int128)stretch->begin_ns * columns / timeline->end_ns);
	size_t until = (size_t)((unsigned __int128)stretch->end_ns * columns / timeline->end_ns);

	for (size_t at = from; at < columns && (at < until || at == from); at++)
		doings[at] |= BIT(stretch->doing);
}

void timeline_write_text(const struct timeline *timeline)
{
	size_t columns = text_width() - LABEL;

	if (columns > MOST_COLUMNS)
		columns = MOST_COLUMNS;
	for (uint32_t plane = 0; timeline->end_ns && plane < timeline->planes; plane++) {
		unsigned int doings[MOST_COLUMNS] = { 0 };

		for (size_t at = 0; at < timeline->count; at++)
			if (timeline->stretches[at].plane == plane)
				draw(doings, columns, timeline, &timeline->stretches[at]);
		printf("plane %2u |", plane);
		for (size_t at = 0; at < columns; at++)
			putchar(mark_of(doings[at]));
		printf("|\n");
	}
	say("# sends, ~ changes, + both, - is lit; time increases to the right\n");
}

/* The picture: a row for each plane. Colour shows the matching; hatching shows a change. */

#define LEFT 70.0
#define TOP 56.0
#define WIDTH 880.0 /* width of the time axis */
#define ROW 34.0
#define BAR 22.0

/* These colours are distinguishable for colour-blind readers. */
static const uint8_t palette[][3] = { { 0x00, 0x72, 0xb2 }, { 0xe6, 0x9f, 0x00 },
				      { 0x00, 0x9e, 0x73 }, { 0x8e, 0x44, 0xad },
				      { 0x3a, 0xa7, 0xc9 }, { 0x8d, 0x6e, 0x63 },
				      { 0xc2, 0x51, 0x9b }, { 0x5c, 0x6b, 0xc0 },
				      { 0x7c, 0xb3, 0x42 }, { 0x45, 0x5a, 0x64 } };

#define HUES (sizeof(palette) / sizeof(palette[0]))
#define SHADES 3

/* After all hues, use them again in darker shades. */
static uint32_t colour_of(uint32_t matching)
{
	const uint8_t *hue = palette[matching % HUES];
	uint32_t light = SHADES + 1 - matching / HUES % SHADES, colour = 0;

	for (uint32_t part = 0; part < 3; part++)
		colour = colour << 8 | hue[part] * light / (SHADES + 1);
	return colour;
}

static double place_of(const struct timeline *timeline, uint64_t ns)
{
	return LEFT + WIDTH * (double)ns / (double)timeline->end_ns;
}

/*
 * Bytes of the next character, or 0 if XML excludes it. U+FFFE and U+FFFF are valid UTF-8, but XML
 * excludes them.
 */
static size_t character(const char *text)
{
	size_t length = 1;

	if ((unsigned char)*text < 0x20)
		return 0;
	while ((unsigned char)*text >= 0x80 && (text[length] & 0xc0) == 0x80)
		length++;
	if (!strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3))
		return 0;
	return is_utf8(text, length) ? length : 0;
}

/* Names of files may contain any bytes. They are cut to a length. */
static void text_out(FILE *stream, const char *text)
{
	while (*text) {
		size_t length = character(text);

		if (*text == '<')
			fputs("&lt;", stream);
		else if (*text == '>')
			fputs("&gt;", stream);
		else if (*text == '&')
			fputs("&amp;", stream);
		else if (length)
			fwrite(text, 1, length, stream);
		else
			fputc('?', stream);
		text += length ? length : 1;
	}
}

static void write_stretch(FILE *stream, const struct timeline *timeline,
			  const struct stretch *stretch)
{
	static const struct {
		double inset, opacity;
		const char *name;
	} looks[] = {
		[LIT] = { 0.27, 0.25, "lit" }, [SET] = { 0, 1, "set" }, [SENDS] = { 0, 0.9, "sends" }
	};
	double height = BAR / timeline->rows[stretch->plane].lanes;
	double inset = height * looks[stretch->doing].inset;
	double from = place_of(timeline, stretch->begin_ns);
	char colour[16] = "url(#set)";

	if (stretch->doing != SET)
		snprintf(colour, sizeof(colour), "#%06x", colour_of(stretch->matching));
	fprintf(stream,
		"<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" "
		"fill-opacity=\"%.2f\"><title>plane %u, matching %u: %s from %llu to %llu ns"
		"</title></rect>\n",
		from, TOP + ROW * stretch->plane + height * stretch->lane + inset,
		place_of(timeline, stretch->end_ns) - from, height - 2 * inset, colour,
		looks[stretch->doing].opacity, stretch->plane, stretch->matching,
		looks[stretch->doing].name, (unsigned long long)stretch->begin_ns,
		(unsigned long long)stretch->end_ns);
}

/* Write a time in a unit that suits the whole schedule, without an exponent. */
static void write_time(FILE *stream, double ns, uint64_t end_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	size_t unit = end_ns < 10000000 ? 0 : end_ns < 10000000000 ? 1 : 2;
	double value = ns / units[unit].ns;

	fprintf(stream, value < 1000 ? "%.4g %s" : "%.0f %s", value, units[unit].name);
}

static void write_axis(FILE *stream, const struct timeline *timeline, double bottom)
{
	for (unsigned int tick = 0; tick <= 4; tick++) {
		double x = LEFT + WIDTH * tick / 4;

		fprintf(stream,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#cfd8dc\"/>\n"
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
			x, TOP - 6, x, bottom, x, bottom + 14);
		write_time(stream, (double)timeline->end_ns * tick / 4, timeline->end_ns);
		fputs("</text>\n", stream);
	}
}

void timeline_write_svg(FILE *stream, const struct timeline *timeline, const char *title)
{
	double bottom = TOP + ROW * timeline->planes, height = bottom + 46;

	fprintf(stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
		"sans-serif\" font-size=\"11\" fill=\"#263238\">\n"
		"<defs><pattern id=\"set\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
		"patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#eceff1\"/>"
		"<rect width=\"2\" height=\"6\" fill=\"#78909c\"/></pattern></defs>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		"<text x=\"%.1f\" y=\"28\" font-size=\"16\" font-weight=\"bold\">",
		LEFT + WIDTH + 30, height, LEFT + WIDTH + 30, height, LEFT);
	text_out(stream, title);
	fputs("</text>\n", stream);
	if (timeline->end_ns) {
		write_axis(stream, timeline, bottom);
		for (size_t at = 0; at < timeline->count; at++)
			write_stretch(stream, timeline, &timeline->stretches[at]);
	}
	for (uint32_t plane = 0; plane < timeline->planes; plane++)
		fprintf(stream, "<text x=\"12\" y=\"%.1f\">plane %u</text>\n",
			TOP + ROW * plane + BAR / 2 + 4, plane);
	fprintf(stream,
		"<text x=\"%.1f\" y=\"%.1f\" fill=\"#546e7a\">full: sends; hatched: changes; faint: "
		"is lit; one colour for each set of circuits, stacked where some change while others "
		"send</text>\n</svg>\n",
		LEFT, height - 10);
}
