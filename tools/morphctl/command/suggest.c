// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the object or verb that the caller probably meant. */
#include <string.h>

#include "morphctl/command/command.h"

#define LONGEST 32 /* bytes; longer words are like no other */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * The number of letters to insert, remove or replace, or of neighbours to exchange, that make one
 * word of the other (optimal string alignment).
 */
static size_t distance(const char *one, const char *other)
{
	size_t rows[3][LONGEST + 1], length = strlen(other);
	size_t *before = rows[0], *last = rows[1], *row = rows[2], *spare;

	for (size_t k = 0; k <= length; k++)
		last[k] = k;
	for (size_t i = 1; one[i - 1]; i++) {
		row[0] = i;
		for (size_t k = 1; k <= length; k++) {
			row[k] = least(last[k - 1] + (one[i - 1] != other[k - 1]),
				       least(last[k], row[k - 1]) + 1);
			if (i > 1 && k > 1 && one[i - 1] == other[k - 2] &&
			    one[i - 2] == other[k - 1])
				row[k] = least(row[k], before[k - 2] + 1);
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[length];
}

/* At most a third of the letters may be wrong. The beginning of a word is like the word. */
static size_t difference(const char *word, const char *known)
{
	size_t length = strlen(word), found;

	if (length > LONGEST || strlen(known) > LONGEST || length < 2)
		return SIZE_MAX;
	if (!strncmp(word, known, length))
		return 1;
	found = distance(word, known);
	return 3 * found <= strlen(known) ? found : SIZE_MAX;
}

const char *suggest_word(const char *object, const char *word)
{
	size_t best = SIZE_MAX;
	const char *like = NULL;

	for (size_t i = 0; i < commands_count; i++) {
		const char *known = object ? commands[i].verb : commands[i].object;
		size_t found;

		if (!known || (object && strcmp(commands[i].object, object)))
			continue;
		found = difference(word, known);
		if (found < best) {
			best = found;
			like = known;
		}
	}
	return like;
}
