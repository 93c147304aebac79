// SPDX-License-Identifier: LGPL-2.1-or-later
/* Profiles of Open MPI's pml_monitoring: a line for each pair of ranks and kind of message. */
#include "formats.h"

#include "../util/text.h"

#define MOST_BYTES (1ULL << 50) /* of a chunk, which is the data of one rank for another */

/* The rest of the line is a histogram of sizes, or empty. */
static int read_pair(const struct why *why, struct text *line, uint64_t *bytes, uint32_t ranks,
		     bool back)
{
	uint64_t own, other, size, messages, *to;

	if (!lm_text_number(line, UINT32_MAX, &own) || !lm_text_number(line, UINT32_MAX, &other) ||
	    !lm_text_number(line, UINT64_MAX, &size) || !lm_text_word(line, "bytes") ||
	    !lm_text_number(line, UINT64_MAX, &messages) || !lm_text_word(line, "msgs") ||
	    !lm_text_word(line, "sent"))
		return lm_format_fail(why, EINVAL,
				      "line %u: must be 'RANK RANK BYTES bytes MESSAGES msgs sent'",
				      line->line);
	if (own >= ranks || other >= ranks)
		return lm_format_fail(why, EINVAL, "line %u: no rank %llu: there are %u ranks",
				      line->line, (unsigned long long)(own >= ranks ? own : other),
				      ranks);
	to = &bytes[back ? other * ranks + own : own * ranks + other];
	if (size > MOST_BYTES || *to > MOST_BYTES - size)
		return lm_format_fail(why, EINVAL,
				      "line %u: rank %llu sends rank %llu more than 2^50 bytes",
				      line->line, (unsigned long long)(back ? other : own),
				      (unsigned long long)(back ? own : other));
	*to += size;
	return 0;
}

static int read_line(const struct why *why, struct text *line, uint64_t *bytes, uint32_t ranks)
{
	static const char *const known[] = { "C", "D", "A2A", "A2O", "O2A" };

	if (!lm_text_skip(line) || *line->at == '#')
		return 0;
	if (lm_text_word(line, "E") || lm_text_word(line, "I") || lm_text_word(line, "S"))
		return read_pair(why, line, bytes, ranks, false);
	/* Data that the rank fetched from another one. */
	if (lm_text_word(line, "R"))
		return read_pair(why, line, bytes, ranks, true);
	for (size_t at = 0; at < sizeof(known) / sizeof(*known); at++)
		if (lm_text_word(line, known[at]))
			return 0;
	return lm_format_fail(why, EINVAL, "line %u: must begin with a kind of message",
			      line->line);
}

MORPH_API int morph_monitoring_read(uint64_t *bytes, uint32_t ranks, const char *text,
				    size_t length, char *why, size_t room)
{
	const struct why told = { why, room };
	struct text rest = text_begin(text, length), line;
	int ret = 0;

	while (!ret && lm_text_line(&rest, &line))
		ret = read_line(&told, &line, bytes, ranks);
	return ret;
}
