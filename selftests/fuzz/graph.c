// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is a file for 'morphctl slice place --graph'. A valid file must give a valid graph. The
 * error text of any other file must give a reason.
 */
#include <unistd.h>

#include "command.h"
#include "fuzz.h"
#include "morphctl/input/input.h"

/* Each rank has a link, and no link connects a rank to itself. */
static void check(const struct graph *graph)
{
	bool *named = calloc(graph->ranks + 1, sizeof(*named));

	MUST(graph->ranks >= 2 && graph->ranks <= GRAPH_RANKS);
	MUST(graph->links_count && graph->links_count <= GRAPH_LINKS);
	for (size_t at = 0; at < graph->links_count; at++) {
		const struct graph_link *link = &graph->links[at];

		MUST(link->src < graph->ranks && link->dst < graph->ranks);
		MUST(link->src != link->dst);
		named[link->src] = named[link->dst] = true;
	}
	for (uint32_t rank = 0; rank < graph->ranks; rank++)
		MUST(named[rank]);
	free(named);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum exit_code code;
	struct graph graph;
	char path[64];
	int fd;

	fd = command_file(data, size, path);
	complaints = 0;
	code = graph_read(path, &graph);
	MUST(!code == !complaints);
	if (!code)
		check(&graph);
	graph_free(&graph);
	close(fd);
	return 0;
}
