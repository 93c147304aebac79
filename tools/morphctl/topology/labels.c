// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The width of text. A program that draws the picture may have another font, so the estimate is
 * that of a wide one.
 */
#include <string.h>

#include "morphctl/topology/topology.h"

#define SEPARATORS " -_.:;,/"
#define WIDER 1.1 /* than Helvetica, such as DejaVu Sans */

static bool continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Width of a character as part of the size of the font, as in Helvetica. */
static double part_of_size(unsigned char first)
{
	if (first >= 0x80)
		return 1;
	if (strchr("ijl'|", first))
		return 0.24;
	if (strchr("ftIr .,:;/-()[]!", first))
		return 0.33;
	if (strchr("mMW@%", first))
		return 0.9;
	if ((first >= 'A' && first <= 'Z') || first == 'w')
		return 0.72;
	return 0.556;
}

double label_width(const char *text, double size)
{
	double width = 0;

	for (; *text; text++)
		if (!continues(*text))
			width += part_of_size((unsigned char)*text);
	return width * size * WIDER;
}

size_t label_fit(const char *text, double size, double width)
{
	size_t at = 0, fits = 0, after_break = 0;
	double used = 0;

	while (text[at]) {
		size_t next = at + 1;

		while (continues(text[next]))
			next++;
		used += part_of_size((unsigned char)text[at]) * size * WIDER;
		if (at && used > width)
			break;
		if (strchr(SEPARATORS, text[at]))
			after_break = next;
		fits = at = next;
	}
	/* Break after a separator, unless the line becomes short. */
	return text[at] && 2 * after_break > fits ? after_break : fits;
}

size_t label_lines(const char *text, double size, double width)
{
	size_t count = 0;

	for (; *text; text += label_fit(text, size, width))
		count++;
	return count;
}

bool label_splits(const char *text, double size, double width)
{
	size_t bytes;

	for (; *text; text += bytes) {
		bytes = label_fit(text, size, width);
		if (text[bytes] && !strchr(SEPARATORS, text[bytes - 1]))
			return true;
	}
	return false;
}
