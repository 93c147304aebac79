// SPDX-License-Identifier: LGPL-2.1-or-later
/* A fabric by server. */
#include "hosts.h"

/* A fibre and the nodes that it joins, the lower number first. */
struct fibre {
	uint32_t nodes[2];
	uint32_t guide;
};

void lm_hosts_free(struct hosts *hosts)
{
	free(hosts->node);
	free(hosts->first_element);
	free(hosts->elements);
	free(hosts->bundles);
	free(hosts->fibres);
	free(hosts->first_arc);
	free(hosts->arcs);
}

/* Sort entries into lists by @of. @first then has the begin of each list. */
static void sort_into(uint32_t *first, uint32_t lists, const uint32_t *of, uint32_t count,
		      uint32_t *sorted)
{
	for (uint32_t at = 0; at < count; at++)
		first[of[at] + 1]++;
	for (uint32_t at = 0; at < lists; at++)
		first[at + 1] += first[at];
	for (uint32_t at = count; at--;)
		sorted[--first[of[at] + 1]] = at;
	/* Each begin is one entry too far. */
	memmove(first, first + 1, lists * sizeof(*first));
	first[lists] = count;
}

static void place_elements(struct hosts *hosts)
{
	const struct optics_graph *graph = hosts->graph;

	hosts->nodes_count = graph->hosts_count;
	for (uint32_t at = 0; at < graph->elements_count; at++) {
		uint32_t tile = graph->elements[at].tile;

		hosts->node[at] = tile == OPTICS_NONE ? hosts->nodes_count++ :
							graph->accelerators[tile].host;
	}
}

static int by_nodes(const void *one, const void *other)
{
	const struct fibre *a = one, *b = other;

	for (int end = 0; end < 2; end++)
		if (a->nodes[end] != b->nodes[end])
			return a->nodes[end] < b->nodes[end] ? -1 : 1;
	return (a->guide > b->guide) - (a->guide < b->guide);
}

static uint32_t list_fibres(const struct hosts *hosts, struct fibre *fibres)
{
	uint32_t count = 0;

	for (uint32_t guide = 0; guide < hosts->graph->guides_count; guide++) {
		const struct optics_end *ends = hosts->graph->guides[guide].end;
		uint32_t a, b;

		if (hosts->graph->guides[guide].class != MORPH_GUIDE_FIBRE ||
		    ends[0].type != MORPH_END_ELEMENT || ends[1].type != MORPH_END_ELEMENT)
			continue;
		a = hosts->node[ends[0].index];
		b = hosts->node[ends[1].index];
		if (a != b)
			fibres[count++] = (struct fibre){ { a < b ? a : b, a < b ? b : a }, guide };
	}
	qsort(fibres, count, sizeof(*fibres), by_nodes);
	return count;
}

/* Make bundles of the sorted fibres: those between the same two nodes are adjacent. */
static void bundle_fibres(struct hosts *hosts, const struct fibre *fibres, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++) {
		hosts->fibres[at] = fibres[at].guide;
		if (at && !memcmp(fibres[at].nodes, fibres[at - 1].nodes, sizeof(fibres->nodes)))
			continue;
		hosts->bundles[hosts->bundles_count++] = (struct bundle){
			.nodes = { fibres[at].nodes[0], fibres[at].nodes[1] },
			.first = at,
		};
	}
	hosts->bundles[hosts->bundles_count].first = count;
}

/* Each bundle is an arc from both ends. @from has space for both. */
static void join_nodes(struct hosts *hosts, uint32_t *from)
{
	uint32_t count = 2 * hosts->bundles_count;

	for (uint32_t at = 0; at < count; at++)
		from[at] = hosts->bundles[at / 2].nodes[at & 1];
	sort_into(hosts->first_arc, hosts->nodes_count, from, count, hosts->arcs);
	for (uint32_t at = 0; at < count; at++) {
		uint32_t arc = hosts->arcs[at];

		hosts->arcs[at] = hosts->bundles[arc / 2].nodes[!(arc & 1)];
	}
}

int lm_hosts_make(struct morph_ctx *ctx, struct hosts *hosts, const struct optics_graph *graph)
{
	uint32_t most = graph->hosts_count + graph->elements_count, count;
	struct fibre *fibres = calloc(graph->guides_count + 1, sizeof(*fibres));
	uint32_t *from = calloc(2 * (size_t)graph->guides_count + 1, sizeof(*from));

	*hosts = (struct hosts){ .graph = graph };
	hosts->node = calloc(graph->elements_count + 1, sizeof(*hosts->node));
	hosts->first_element = calloc(most + 2, sizeof(*hosts->first_element));
	hosts->elements = calloc(graph->elements_count + 1, sizeof(*hosts->elements));
	hosts->bundles = calloc(graph->guides_count + 1, sizeof(*hosts->bundles));
	hosts->fibres = calloc(graph->guides_count + 1, sizeof(*hosts->fibres));
	hosts->first_arc = calloc(most + 2, sizeof(*hosts->first_arc));
	hosts->arcs = calloc(2 * (size_t)graph->guides_count + 1, sizeof(*hosts->arcs));
	if (!fibres || !from || !hosts->node || !hosts->first_element || !hosts->elements ||
	    !hosts->bundles || !hosts->fibres || !hosts->first_arc || !hosts->arcs) {
		free(fibres);
		free(from);
		return lm_no_memory(ctx, "read the servers of a fabric");
	}
	place_elements(hosts);
	sort_into(hosts->first_element, hosts->nodes_count, hosts->node, graph->elements_count,
		  hosts->elements);
	count = list_fibres(hosts, fibres);
	bundle_fibres(hosts, fibres, count);
	join_nodes(hosts, from);
	free(fibres);
	free(from);
	return 0;
}

void lm_hosts_distances(const struct hosts *hosts, uint32_t from, uint32_t *distances,
			uint32_t *queue)
{
	uint32_t first = 0, last = 0;

	memset(distances, 0xff, hosts->nodes_count * sizeof(*distances));
	distances[from] = 0;
	queue[last++] = from;
	while (first < last) {
		uint32_t node = queue[first++];

		for (uint32_t at = hosts->first_arc[node]; at < hosts->first_arc[node + 1]; at++) {
			uint32_t next = hosts->arcs[at];

			if (distances[next] != UINT32_MAX)
				continue;
			distances[next] = distances[node] + 1;
			queue[last++] = next;
		}
	}
}
