// SPDX-License-Identifier: LGPL-2.1-or-later
/* Text files, line by line. */
#include <string.h>

#include "text.h"

static bool is_blank(char letter)
{
	return letter == ' ' || letter == '\t' || letter == '\r';
}

bool lm_text_line(struct text *text, struct text *line)
{
	const char *stop;

	if (text->at == text->end)
		return false;
	stop = memchr(text->at, '\n', (size_t)(text->end - text->at));
	*line = (struct text){ text->at, stop ? stop : text->end, ++text->line };
	text->at = stop ? stop + 1 : text->end;
	return true;
}

bool lm_text_skip(struct text *line)
{
	while (line->at < line->end && is_blank(*line->at))
		line->at++;
	return line->at < line->end;
}

bool lm_text_word(struct text *line, const char *word)
{
	size_t length = strlen(word);

	lm_text_skip(line);
	if ((size_t)(line->end - line->at) < length || memcmp(line->at, word, length) != 0 ||
	    (line->at + length < line->end && !is_blank(line->at[length])))
		return false;
	line->at += length;
	return true;
}

bool lm_text_digits(struct text *text, uint64_t most, uint64_t *value)
{
	const char *begin = text->at;

	*value = 0;
	while (text->at < text->end && *text->at >= '0' && *text->at <= '9') {
		uint64_t digit = (uint64_t)(*text->at++ - '0');

		if (digit > most || *value > (most - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	return text->at > begin;
}

bool lm_text_number(struct text *line, uint64_t most, uint64_t *value)
{
	lm_text_skip(line);
	return lm_text_digits(line, most, value) && (line->at == line->end || is_blank(*line->at));
}
