// SPDX-License-Identifier: LGPL-2.1-or-later
/* Functions that readers and writers of files share. */
#include "formats.h"

#include <stdarg.h>
#include <stdio.h>

void lm_format_note(const struct why *why, const char *format, ...)
{
	va_list arguments;

	if (!why->text || !why->room)
		return;
	va_start(arguments, format);
	vsnprintf(why->text, why->room, format, arguments);
	va_end(arguments);
}

int lm_format_added(const struct why *why, int ret)
{
	if (ret >= 0)
		return ret;
	return ret == -ENOMEM ?
		       lm_format_no_memory(why) :
		       lm_format_fail(why, -ret,
				      "too many ranks, chunks, rounds or bytes for a collective");
}

int lm_format_grow(void **list, uint32_t wanted, uint32_t *room, size_t bytes)
{
	uint32_t larger = *room ? *room : 16;
	void *grown;

	if (wanted <= *room)
		return 0;
	while (larger < wanted)
		larger = larger < UINT32_MAX / 2 ? 2 * larger : UINT32_MAX;
	grown = reallocarray(*list, larger, bytes);
	if (!grown)
		return -ENOMEM;
	*list = grown;
	*room = larger;
	return 0;
}

/* ---------------------------------------------------------------------- writing */

void lm_format_put(struct output *output, const char *format, ...)
{
	char piece[512];
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(piece, sizeof(piece), format, arguments);
	va_end(arguments);
	if (output->at && output->bytes + (size_t)bytes <= output->room)
		memcpy(output->at + output->bytes, piece, (size_t)bytes);
	output->bytes += (size_t)bytes;
}

ssize_t lm_format_end(const struct output *output)
{
	return !output->at || output->bytes <= output->room ? (ssize_t)output->bytes : -ENOSPC;
}

int lm_format_check_name(const struct why *why, const char *name)
{
	size_t length = name ? strlen(name) : 0;

	if (!length || length > 128 ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") !=
		    length)
		return lm_format_fail(
			why, EINVAL,
			"a name must have 1 to 128 letters, digits, underscores, hyphens and dots");
	return 0;
}

/* ------------------------------------------------------------------------ order */

/* The successors of a node: after[first[node]] up to first[node + 1]. */
struct graph {
	uint32_t *first, *after, *waits;
};

static int make_graph(struct graph *graph, uint32_t nodes, const struct edge *edges, uint32_t count)
{
	graph->first = calloc((size_t)nodes + 2, sizeof(*graph->first));
	graph->after = calloc((size_t)count + 1, sizeof(*graph->after));
	graph->waits = calloc((size_t)nodes + 1, sizeof(*graph->waits));
	if (!graph->first || !graph->after || !graph->waits)
		return -ENOMEM;
	for (uint32_t at = 0; at < count; at++) {
		graph->first[edges[at].before + 2]++;
		graph->waits[edges[at].after]++;
	}
	for (uint32_t node = 0; node < nodes; node++)
		graph->first[node + 2] += graph->first[node + 1];
	/* After filling, first[node + 1] is at its final value. */
	for (uint32_t at = 0; at < count; at++)
		graph->after[graph->first[edges[at].before + 1]++] = edges[at].after;
	return 0;
}

/* Each unreached node waits for another one, so going back far enough leads to a cycle. */
static uint32_t find_circle(uint32_t nodes, const struct graph *graph, const struct edge *edges,
			    uint32_t edges_count, uint32_t *scratch)
{
	uint32_t node = 0;

	for (uint32_t at = 0; at < edges_count; at++)
		if (graph->waits[edges[at].before])
			scratch[edges[at].after] = edges[at].before;
	while (!graph->waits[node])
		node++;
	for (uint32_t at = 0; at < nodes; at++)
		node = scratch[node];
	return node;
}

int lm_format_order(uint32_t nodes, const struct edge *edges, uint32_t edges_count, uint32_t *order)
{
	struct graph graph = { 0 };
	uint32_t done = 0, found = 0;
	int ret = make_graph(&graph, nodes, edges, edges_count);

	if (ret)
		goto out;
	for (uint32_t node = 0; node < nodes; node++)
		if (!graph.waits[node])
			order[found++] = node;
	for (; done < found; done++)
		for (uint32_t at = graph.first[order[done]]; at < graph.first[order[done] + 1];
		     at++)
			if (!--graph.waits[graph.after[at]])
				order[found++] = graph.after[at];
	if (found < nodes) {
		order[0] = find_circle(nodes, &graph, edges, edges_count, order);
		ret = -ELOOP;
	}
out:
	free(graph.first);
	free(graph.after);
	free(graph.waits);
	return ret;
}
