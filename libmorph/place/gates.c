// SPDX-License-Identifier: LGPL-2.1-or-later
/* The maximum flow of light through the elements of a server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../util/flow.h"
#include "gates.h"

/*
 * A node is the near side of an element, where light enters, or its far side: 2 * element, plus 1.
 * The edge to a node is one of these: the number of a fibre from the source, WITHIN for an element,
 * or the code of a guide in the direction of light.
 */
#define WITHIN UINT32_MAX

struct flow {
	const struct optics_graph *graph;
	const struct gate *gate;
	uint8_t *used; /* by source */
	uint8_t *lit; /* by coded guide */
	uint8_t *sinks; /* by guide */
	uint16_t *through; /* by element */
	struct flow_search search;
	uint8_t *listed; /* by element: it is in @touched */
	uint32_t *touched, touched_count; /* elements that light passed */
};

static const struct optics_end *end_of(const struct flow *flow, uint32_t code, bool far)
{
	return &flow->graph->guides[code >> 1].end[(code & 1) ^ far];
}

static bool is_inside(const struct flow *flow, const struct optics_end *end)
{
	uint32_t tile;

	if (end->type != MORPH_END_ELEMENT)
		return false;
	tile = flow->graph->elements[end->index].tile;
	return tile != OPTICS_NONE && flow->graph->accelerators[tile].host == flow->gate->host;
}

/* The number of circuits that the best state of the element can pass. */
static uint32_t width(const struct optics_graph *graph, uint32_t element)
{
	const struct optics_kind *kind = &graph->kinds[graph->elements[element].kind];
	uint32_t most = 0;

	for (uint32_t state = 0; state < kind->states; state++) {
		uint32_t joined = 0;

		for (uint32_t port = 0; port < kind->ports; port++)
			joined += optics_joined(graph, element, state, port) != MORPH_PORT_NONE;
		most = joined / 2 > most ? joined / 2 : most;
	}
	return most;
}

/*
 * Continue from a node along one guide of its element. True if light ends there or leaves the
 * server.
 */
static bool follow(struct flow *flow, uint32_t node, uint32_t code)
{
	const struct optics_end *far = end_of(flow, code, true);

	if (!(node & 1)) {
		/* The flow along this guide can be taken back and rerouted. */
		if (flow->lit[code ^ 1])
			flow_reach(&flow->search, 2 * far->index + 1, node, code ^ 1);
		return false;
	}
	if (flow->lit[code])
		return false;
	if (flow->sinks[code >> 1] || far->type == flow->gate->end_type)
		return true;
	if (is_inside(flow, far))
		flow_reach(&flow->search, 2 * far->index, node, code);
	return false;
}

static bool start(void *network, struct flow_search *search)
{
	struct flow *flow = network;

	for (uint32_t at = 0; at < flow->gate->sources_count; at++) {
		const struct optics_end *end = end_of(flow, flow->gate->sources[at], true);

		if (!flow->used[at] && is_inside(flow, end))
			flow_reach(search, 2 * end->index, FLOW_SOURCE, at);
	}
	return false;
}

static bool expand(void *network, struct flow_search *search, uint32_t node)
{
	struct flow *flow = network;
	const struct optics_graph *graph = flow->graph;
	uint32_t element = node / 2;
	const struct optics_element *it = &graph->elements[element];

	if (!(node & 1) && flow->through[element] < width(graph, element))
		flow_reach(search, node + 1, node, WITHIN);
	if ((node & 1) && flow->through[element])
		flow_reach(search, node - 1, node, WITHIN);
	for (uint32_t port = 0; port < graph->kinds[it->kind].ports; port++) {
		uint32_t code = graph->port_guide[it->first_port + port];

		if (code == OPTICS_NONE || !follow(flow, node, code))
			continue;
		flow->lit[code] = 1;
		return true;
	}
	return false;
}

static void push(void *network, const struct flow_search *search, uint32_t node)
{
	struct flow *flow = network;
	uint32_t over = search->over[node], element = node / 2;

	if (search->from[node] == FLOW_SOURCE) {
		flow->used[over] = 1;
	} else if (over != WITHIN) {
		flow->lit[over] = !(node & 1);
	} else if (node & 1) {
		flow->through[element]++;
		if (!flow->listed[element])
			flow->touched[flow->touched_count++] = element;
		flow->listed[element] = 1;
	} else {
		flow->through[element]--;
	}
}

static const struct flow_network functions = { start, expand, push };

static uint32_t run(struct flow *flow, const struct gate *gate)
{
	const struct optics_graph *graph = flow->graph;
	uint32_t limit = 0;

	flow->gate = gate;
	memset(flow->used, 0, gate->sources_count);
	for (uint32_t at = 0; at < gate->sinks_count; at++)
		flow->sinks[gate->sinks[at] >> 1] = 1;
	while (lm_flow_augment(&functions, flow, &flow->search))
		limit++;
	for (uint32_t at = 0; at < gate->sinks_count; at++)
		flow->sinks[gate->sinks[at] >> 1] = 0;
	while (flow->touched_count) {
		uint32_t element = flow->touched[--flow->touched_count];
		const struct optics_element *it = &graph->elements[element];

		flow->through[element] = 0;
		flow->listed[element] = 0;
		for (uint32_t port = 0; port < graph->kinds[it->kind].ports; port++) {
			uint32_t code = graph->port_guide[it->first_port + port];

			if (code != OPTICS_NONE)
				flow->lit[code] = flow->lit[code ^ 1] = 0;
		}
	}
	return limit;
}

int lm_gate_limits(const struct optics_graph *graph, struct gate *gates, uint32_t count)
{
	size_t elements = graph->elements_count + 1UL, guides = graph->guides_count + 1UL;
	struct flow flow = {
		.graph = graph,
		.used = calloc(GATE_FIBRES, 1),
		.lit = calloc(guides, 2),
		.sinks = calloc(guides, 1),
		.through = calloc(elements, sizeof(*flow.through)),
		.search = {
			.from = malloc(elements * 2 * sizeof(*flow.search.from)),
			.over = malloc(elements * 2 * sizeof(*flow.search.over)),
			.queue = malloc(elements * 2 * sizeof(*flow.search.queue)),
		},
		.listed = calloc(elements, 1),
		.touched = calloc(elements, sizeof(*flow.touched)),
	};
	bool fits = flow.used && flow.lit && flow.sinks && flow.through && flow.search.from &&
		    flow.search.over && flow.search.queue && flow.listed && flow.touched;

	if (fits)
		memset(flow.search.from, 0xff, elements * 2 * sizeof(*flow.search.from));
	for (uint32_t at = 0; fits && at < count; at++)
		gates[at].limit = run(&flow, &gates[at]);
	free(flow.used);
	free(flow.lit);
	free(flow.sinks);
	free(flow.through);
	free(flow.search.from);
	free(flow.search.over);
	free(flow.search.queue);
	free(flow.listed);
	free(flow.touched);
	return fits ? 0 : -ENOMEM;
}
