// SPDX-License-Identifier: LGPL-2.1-or-later
/* Profiles of Open MPI's pml_monitoring: a line for each pair of ranks and kind of message. */
#include "formats.h"

#define MOST_BYTES (1ULL << 50) /* of a chunk, which is what a rank has for another */

/* What is left of a line. */
struct line {
	const char *at, *end;
	uint32_t number;
};

static bool is_blank(char letter)
{
	return letter == ' ' || letter == '\t' || letter == '\r';
}

static void skip_blanks(struct line *line)
{
	while (line->at < line->end && is_blank(*line->at))
		line->at++;
}

static bool take_word(struct line *line, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(line);
	if ((size_t)(line->end - line->at) < length || memcmp(line->at, word, length) != 0 ||
	    (line->at + length < line->end && !is_blank(line->at[length])))
		return false;
	line->at += length;
	return true;
}

static bool take_number(struct line *line, uint64_t most, uint64_t *value)
{
	const char *begin;

	skip_blanks(line);
	begin = line->at;
	*value = 0;
	while (line->at < line->end && *line->at >= '0' && *line->at <= '9') {
		uint64_t digit = (uint64_t)(*line->at++ - '0');

		if (*value > (most - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	return line->at > begin && (line->at == line->end || is_blank(*line->at));
}

/* What follows is a histogram of sizes, or nothing. */
static int read_pair(const struct why *why, struct line *line, uint64_t *bytes, uint32_t ranks,
		     bool back)
{
	uint64_t own, other, size, messages, *to;

	if (!take_number(line, UINT32_MAX, &own) || !take_number(line, UINT32_MAX, &other) ||
	    !take_number(line, UINT64_MAX, &size) || !take_word(line, "bytes") ||
	    !take_number(line, UINT64_MAX, &messages) || !take_word(line, "msgs") ||
	    !take_word(line, "sent"))
		return lm_format_fail(why, EINVAL,
				      "line %u: it is not RANK RANK BYTES bytes MESSAGES msgs sent",
				      line->number);
	if (own >= ranks || other >= ranks)
		return lm_format_fail(why, EINVAL, "line %u: there is no rank %llu of %u",
				      line->number,
				      (unsigned long long)(own >= ranks ? own : other), ranks);
	to = &bytes[back ? other * ranks + own : own * ranks + other];
	if (size > MOST_BYTES || *to > MOST_BYTES - size)
		return lm_format_fail(why, EINVAL,
				      "line %u: rank %llu sends rank %llu more than 2^50 bytes",
				      line->number, (unsigned long long)(back ? other : own),
				      (unsigned long long)(back ? own : other));
	*to += size;
	return 0;
}

static int read_line(const struct why *why, struct line *line, uint64_t *bytes, uint32_t ranks)
{
	static const char *const known[] = { "C", "D", "A2A", "A2O", "O2A" };

	skip_blanks(line);
	if (line->at == line->end || *line->at == '#')
		return 0;
	if (take_word(line, "E") || take_word(line, "I") || take_word(line, "S"))
		return read_pair(why, line, bytes, ranks, false);
	/* What the rank got by itself from another one. */
	if (take_word(line, "R"))
		return read_pair(why, line, bytes, ranks, true);
	for (size_t at = 0; at < sizeof(known) / sizeof(*known); at++)
		if (take_word(line, known[at]))
			return 0;
	return lm_format_fail(why, EINVAL, "line %u: it begins with no kind of message",
			      line->number);
}

MORPH_API int morph_monitoring_read(uint64_t *bytes, uint32_t ranks, const char *text,
				    size_t length, char *why, size_t room)
{
	const struct why told = { why, room };
	const char *end = text + length;
	uint32_t number = 0;
	int ret = 0;

	while (!ret && text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		struct line line = { text, stop ? stop : end, ++number };

		ret = read_line(&told, &line, bytes, ranks);
		text = stop ? stop + 1 : end;
	}
	return ret;
}
