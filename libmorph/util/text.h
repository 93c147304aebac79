/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text files, line by line: the front end of readers. A line ends with a line feed; a carriage
 * return before it is a blank, so files of both kinds read alike. Lines are numbered from 1, for
 * messages such as "line 3: ...".
 *
 * The text belongs to the caller, needs no NUL at its end, and is never changed. Nothing is
 * allocated. Threads need a position each. Each call costs as much as the text that it passes.
 */
#ifndef LM_UTIL_TEXT_H
#define LM_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rest of a text, or of a line. */
struct text {
	const char *at, *end;
	uint32_t line; /* number of the line that was read last, or that this is */
};

static inline struct text text_begin(const char *text, size_t length)
{
	return (struct text){ .at = text, .end = text + length };
}

/* Take the next line. False at the end of the text. */
bool lm_text_line(struct text *text, struct text *line);

/* Pass blanks, tabs and carriage returns. Returns whether anything is left of the line. */
bool lm_text_skip(struct text *line);

/* Take a word after blanks, if it is this one and ends at a blank or with the line. */
bool lm_text_word(struct text *line, const char *word);

/* Take decimal digits. False if there are none, or their value is above @most. */
bool lm_text_digits(struct text *text, uint64_t most, uint64_t *value);

/* Take a decimal number after blanks that is at most @most and ends at a blank or with the line. */
bool lm_text_number(struct text *line, uint64_t most, uint64_t *value);

#endif /* LM_UTIL_TEXT_H */
