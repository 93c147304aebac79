// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read a logical graph as text: each line has the sending rank and the receiving rank. '#' begins a
 * comment.
 */
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"

#define BLANKS " \t\r\n\v\f"

struct reader {
	const char *path;
	size_t line;
	uint32_t highest; /* rank */
	size_t highest_line;
	struct graph *graph;
	size_t room; /* for links */
	bool named[GRAPH_RANKS];
};

static enum exit_code read_rank(struct reader *reader, const char *word, uint32_t *rank)
{
	uint64_t number;

	if (!parse_u64(word, 0, GRAPH_RANKS - 1, &number))
		return refuse_line(reader->path, reader->line,
				   "'%s' is not a rank; ranks are 0 to %u", word, GRAPH_RANKS - 1);
	*rank = (uint32_t)number;
	reader->named[*rank] = true;
	if (*rank >= reader->highest) {
		reader->highest = *rank;
		reader->highest_line = reader->line;
	}
	return EXIT_CODE_OK;
}

static enum exit_code add_link(struct reader *reader, struct graph_link link)
{
	struct graph *graph = reader->graph;

	if (link.src == link.dst)
		return refuse_line(reader->path, reader->line,
				   "a link from rank %u to itself; the two ranks must differ",
				   link.src);
	if (graph->links_count == GRAPH_LINKS)
		return refuse_line(reader->path, reader->line,
				   "more than %u links; a slice has no more circuits", GRAPH_LINKS);
	if (graph->links_count == reader->room) {
		reader->room = reader->room ? 2 * reader->room : 64;
		graph->links =
			needed(reallocarray(graph->links, reader->room, sizeof(*graph->links)));
	}
	graph->links[graph->links_count++] = link;
	return EXIT_CODE_OK;
}

static enum exit_code read_line(struct reader *reader, char *text)
{
	char *place = NULL, *words[3];
	struct graph_link link = { 0 };
	enum exit_code code;
	unsigned int count = 0;

	text[strcspn(text, "#")] = '\0';
	for (char *word = strtok_r(text, BLANKS, &place); word && count < 3;
	     word = strtok_r(NULL, BLANKS, &place))
		words[count++] = word;
	if (!count)
		return EXIT_CODE_OK;
	if (count != 2)
		return refuse_line(reader->path, reader->line, "%s; a line has two ranks, as '0 1'",
				   count < 2 ? "one word alone" : "more than two words");
	code = read_rank(reader, words[0], &link.src);
	if (!code)
		code = read_rank(reader, words[1], &link.dst);
	return code ? code : add_link(reader, link);
}

/* Check that each rank below the highest one is in a line. */
static enum exit_code check_ranks(struct reader *reader)
{
	if (!reader->graph->links_count) {
		warn_line("%s: no links; each line has two ranks, as '0 1'", reader->path);
		return EXIT_CODE_USAGE;
	}
	reader->line = reader->highest_line;
	for (uint32_t rank = 0; rank < reader->highest; rank++)
		if (!reader->named[rank])
			return refuse_line(
				reader->path, reader->line,
				"rank %u, but no line has rank %u; ranks must be numbered from 0 without a gap",
				reader->highest, rank);
	reader->graph->ranks = reader->highest + 1;
	return EXIT_CODE_OK;
}

enum exit_code graph_read(const char *path, struct graph *graph)
{
	struct reader reader = { .path = path, .graph = graph };
	char *text, *line, *rest;
	enum exit_code code;
	size_t length;

	*graph = (struct graph){ 0 };
	code = input_whole(path, &text, &length);
	if (!code)
		code = refuse_nul(path, text, length);
	rest = text;
	while (!code && (line = strsep(&rest, "\n"))) {
		reader.line++;
		code = read_line(&reader, line);
	}
	free(text);
	return code ? code : check_ranks(&reader);
}

void graph_free(struct graph *graph)
{
	free(graph->links);
	*graph = (struct graph){ 0 };
}
