// SPDX-License-Identifier: GPL-2.0-only
/* The input is a file for 'morphctl place --graph'. What is read is a graph, else a sentence says why. */
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "graph.h"

const struct option_spec option_specs[OPTION_COUNT_OF];

static unsigned int complaints;

static void complain(const char *format, va_list arguments)
{
	char line[4096];

	vsnprintf(line, sizeof(line), format, arguments);
	complaints++;
}

/* In place of morphctl's own: nothing is printed, everything is formatted. */
void warn_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain(format, arguments);
	va_end(arguments);
}

enum exit_code usage_error(const struct run *run, const char *format, ...)
{
	va_list arguments;

	(void)run;
	va_start(arguments, format);
	complain(format, arguments);
	va_end(arguments);
	return EXIT_CODE_USAGE;
}

void *needed(void *memory)
{
	MUST(memory);
	return memory;
}

/* Each rank is in a link, and no link goes to where it comes from. */
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
	int fd = memfd_create("input", 0);
	enum exit_code code;
	struct graph graph;
	char path[64];

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	complaints = 0;
	code = graph_read(path, &graph);
	MUST(!code == !complaints);
	if (!code)
		check(&graph);
	graph_free(&graph);
	close(fd);
	return 0;
}
