// SPDX-License-Identifier: LGPL-2.1-or-later
/* The greatest flow of light through the elements of a server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gates.h"

/* How a node was reached. */
enum step {
	STEP_NONE,
	STEP_SOURCE, /* by a fibre */
	STEP_THROUGH, /* from before the element to behind it */
	STEP_UNDO_THROUGH,
	STEP_GUIDE, /* from behind another element */
	STEP_UNDO_GUIDE,
};

/* A node is an element's near side, where light comes in, or its far side: 2 * element, plus 1. */
struct node {
	uint32_t from; /* node before; of STEP_SOURCE the number of the fibre */
	uint32_t code; /* of the guide between, in the direction of light */
	uint8_t step;
};

struct flow {
	const struct optics_graph *graph;
	const struct gate *gate;
	uint8_t *used; /* by source */
	uint8_t *lit; /* by coded guide */
	uint8_t *sinks; /* by guide */
	uint16_t *through; /* by element */
	struct node *nodes;
	uint32_t *queue, queued;
	uint8_t *listed; /* by element: it is in @touched */
	uint32_t *touched, touched_count; /* elements that light was led through */
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

/* The most light that a state of the element leads. */
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

static void reach(struct flow *flow, uint32_t node, enum step step, uint32_t from, uint32_t code)
{
	if (flow->nodes[node].step != STEP_NONE)
		return;
	flow->nodes[node] = (struct node){ .from = from, .code = code, .step = (uint8_t)step };
	flow->queue[flow->queued++] = node;
}

/* On from a node by one guide of its element. True where light ends, or goes on, there. */
static bool follow(struct flow *flow, uint32_t node, uint32_t code)
{
	const struct optics_end *far = end_of(flow, code, true);

	if (!(node & 1)) {
		/* What comes in by it might be taken back, and go elsewhere. */
		if (flow->lit[code ^ 1])
			reach(flow, 2 * far->index + 1, STEP_UNDO_GUIDE, node, code ^ 1);
		return false;
	}
	if (flow->lit[code])
		return false;
	if (flow->sinks[code >> 1] || far->type == flow->gate->end_type)
		return true;
	if (is_inside(flow, far))
		reach(flow, 2 * far->index, STEP_GUIDE, node, code);
	return false;
}

/* A way back to a source: its last guide is @code. */
static void take(struct flow *flow, uint32_t node, uint32_t code)
{
	flow->lit[code] = 1;
	for (;;) {
		const struct node *it = &flow->nodes[node];

		switch (it->step) {
		case STEP_SOURCE:
			flow->used[it->from] = 1;
			return;
		case STEP_THROUGH:
			flow->through[node / 2]++;
			if (!flow->listed[node / 2])
				flow->touched[flow->touched_count++] = node / 2;
			flow->listed[node / 2] = 1;
			break;
		case STEP_UNDO_THROUGH:
			flow->through[node / 2]--;
			break;
		default:
			flow->lit[it->code] = it->step == STEP_GUIDE;
		}
		node = it->from;
	}
}

/* Breadth first (Edmonds and Karp, 1972). False where no more light gets in. */
static bool augment(struct flow *flow)
{
	const struct optics_graph *graph = flow->graph;

	for (uint32_t at = 0; at < flow->queued; at++)
		flow->nodes[flow->queue[at]].step = STEP_NONE;
	flow->queued = 0;
	for (uint32_t at = 0; at < flow->gate->sources_count; at++) {
		const struct optics_end *end = end_of(flow, flow->gate->sources[at], true);

		if (!flow->used[at] && is_inside(flow, end))
			reach(flow, 2 * end->index, STEP_SOURCE, at, 0);
	}
	for (uint32_t at = 0; at < flow->queued; at++) {
		uint32_t node = flow->queue[at], element = node / 2;
		const struct optics_element *it = &graph->elements[element];

		if (!(node & 1) && flow->through[element] < width(graph, element))
			reach(flow, node + 1, STEP_THROUGH, node, 0);
		if ((node & 1) && flow->through[element])
			reach(flow, node - 1, STEP_UNDO_THROUGH, node, 0);
		for (uint32_t port = 0; port < graph->kinds[it->kind].ports; port++) {
			uint32_t code = graph->port_guide[it->first_port + port];

			if (code == OPTICS_NONE || !follow(flow, node, code))
				continue;
			take(flow, node, code);
			return true;
		}
	}
	return false;
}

static uint32_t run(struct flow *flow, const struct gate *gate)
{
	const struct optics_graph *graph = flow->graph;
	uint32_t limit = 0;

	flow->gate = gate;
	memset(flow->used, 0, gate->sources_count);
	for (uint32_t at = 0; at < gate->sinks_count; at++)
		flow->sinks[gate->sinks[at] >> 1] = 1;
	while (augment(flow))
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
		.nodes = calloc(elements, 2 * sizeof(*flow.nodes)),
		.queue = calloc(elements, 2 * sizeof(*flow.queue)),
		.listed = calloc(elements, 1),
		.touched = calloc(elements, sizeof(*flow.touched)),
	};
	bool fits = flow.used && flow.lit && flow.sinks && flow.through && flow.nodes &&
		    flow.queue && flow.listed && flow.touched;

	for (uint32_t at = 0; fits && at < count; at++)
		gates[at].limit = run(&flow, &gates[at]);
	free(flow.used);
	free(flow.lit);
	free(flow.sinks);
	free(flow.through);
	free(flow.nodes);
	free(flow.queue);
	free(flow.listed);
	free(flow.touched);
	return fits ? 0 : -ENOMEM;
}
