// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Cuts: does a step need more circuits out of some accelerators than paths can leave? A path passes
 * guides and elements. A guide carries one path, because elements route all wavelengths the same,
 * in both directions. An element carries one path for each pair of ports that its state joins. So
 * the maximum number of paths is a flow (Ford and Fulkerson, 1956).
 *
 * The flow ignores which ports a state joins, and the destination of each path. It also accepts
 * flow in both directions of a guide, which cancels. All of this only increases it, so a cut that
 * it finds is proven.
 */
#include <stdio.h>

#include "../util/flow.h"
#include "light.h"

#define MOST_STEPS 64 /* limit of steps to examine */
#define UNSEEN UINT32_MAX

/*
 * The nodes of the flow: 4 * element; plus 2 if light comes in at the far side of an element that
 * joins ports of opposite sides only; plus 1 where it goes out.
 */
struct light_cut {
	struct ways *ways;
	const struct lit_step *step;
	uint8_t *inside; /* by accelerator */
	uint8_t *wants; /* by port: enum wanting */
	bool both; /* outgoing circuits, and incoming ones reversed */
	uint8_t *guide_flow; /* by coded guide */
	uint32_t *element_flow; /* by place / 2 */
	uint32_t *element_most;
	struct flow_search
		search; /* by node; the edge is a coded guide, or UNSEEN: within the element */
	uint32_t src, dst, plane; /* an outgoing circuit */
};

/* Flow begins and ends at ports of circuits that cross; those of incoming circuits are reversed. */
enum wanting {
	SENDS_OUT = 1,
	RECEIVES_OUT = 2,
	RECEIVES_IN = 4,
	SENDS_IN = 8
};

static void cut_free(struct light_cut *cut)
{
	free(cut->inside);
	free(cut->wants);
	free(cut->guide_flow);
	free(cut->element_flow);
	free(cut->element_most);
	free(cut->search.from);
	free(cut->search.over);
	free(cut->search.queue);
}

static int cut_room(struct light_cut *cut)
{
	const struct optics_graph *graph = cut->ways->ledger->graph;
	size_t elements = graph->elements_count + 1UL;

	cut->inside = calloc(graph->accelerators_count + 1UL, 1);
	cut->wants = calloc(graph->ports_count + 1UL, 1);
	cut->guide_flow = calloc(2 * (graph->guides_count + 1UL), 1);
	cut->element_flow = calloc(2 * elements, sizeof(uint32_t));
	cut->element_most = calloc(elements, sizeof(uint32_t));
	cut->search.from = malloc(4 * elements * sizeof(uint32_t));
	cut->search.over = malloc(4 * elements * sizeof(uint32_t));
	cut->search.queue = malloc(4 * elements * sizeof(uint32_t));
	if (!cut->inside || !cut->wants || !cut->guide_flow || !cut->element_flow ||
	    !cut->element_most || !cut->search.from || !cut->search.over || !cut->search.queue)
		return lm_no_memory(cut->ways->ledger->ctx, "light a schedule");
	memset(cut->search.from, 0xff, 4 * elements * sizeof(uint32_t));
	return 0;
}

/* Number of port pairs that a state joins. */
static uint32_t pairs(const struct optics_graph *graph, uint32_t element, uint32_t state)
{
	const struct optics_kind *kind = &graph->kinds[graph->elements[element].kind];
	uint32_t joined = 0;

	for (uint32_t port = 0; port < kind->ports; port++)
		joined += optics_joined(graph, element, state, port) != MORPH_PORT_NONE;
	return joined / 2;
}

/* Number of paths that an element carries at once. */
static void measure(struct light_cut *cut)
{
	const struct optics_state *state = cut->ways->ledger->state;
	const struct optics_graph *graph = state->graph;

	for (uint32_t at = 0; at < graph->elements_count; at++) {
		uint32_t most = 0;

		for (uint32_t it = 0; it < graph->kinds[graph->elements[at].kind].states; it++) {
			uint32_t joined = pairs(graph, at, it);

			if (joined > most &&
			    (!state->element_pins[at] || it == state->element_state[at]))
				most = joined;
		}
		cut->element_most[at] = state->element_marks[at] ? 0 : most;
	}
}

/* ------------------------------------------------------------------------ flow */

static bool open_guide(const struct light_cut *cut, uint32_t code)
{
	const struct optics_state *state = cut->ways->ledger->state;
	uint64_t lanes = state->graph->all_lanes & ~optics_guide_taken(state, code >> 1);

	return !cut->guide_flow[code] && !state->guide_marks[code >> 1] &&
	       optics_weight64(lanes) >= cut->ways->lanes;
}

/* Light comes in at the far end of a guide. */
static uint32_t place_behind(const struct optics_graph *graph, const struct optics_end *end)
{
	uint32_t side = graph->kinds[graph->elements[end->index].kind].side;

	return 4 * end->index + (side && !(side >> end->port & 1) ? 2 : 0);
}

static bool has_sides(const struct optics_graph *graph, const struct optics_end *end)
{
	return graph->kinds[graph->elements[end->index].kind].side;
}

/* Ports at which the light of a node comes in, or goes out. */
static uint32_t ports_of(const struct optics_graph *graph, uint32_t place, bool out)
{
	const struct optics_kind *kind = &graph->kinds[graph->elements[place / 4].kind];
	uint32_t all = (1U << kind->ports) - 1;

	if (!kind->side)
		return all;
	return !(place & 2) == !out ? kind->side : all & ~(uint32_t)kind->side;
}

static bool wanted_at(const struct light_cut *cut, const struct optics_end *end)
{
	uint32_t port = end->index * cut->ways->ledger->graph->params.planes + end->port;

	return (end->type == MORPH_END_RX && cut->wants[port] & RECEIVES_OUT) ||
	       (end->type == MORPH_END_TX && cut->wants[port] & SENDS_IN);
}

/*
 * Light leaves an element to another one, or to a receiver that wants it. Return whether there is
 * such a receiver.
 */
static bool leave(struct light_cut *cut, uint32_t place)
{
	const struct optics_graph *graph = cut->ways->ledger->graph;
	const struct optics_element *element = &graph->elements[place / 4];

	for (uint32_t ports = ports_of(graph, place, true); ports; ports &= ports - 1) {
		uint32_t code =
			graph->port_guide[element->first_port + (uint32_t)__builtin_ctz(ports)];
		const struct optics_end *end;

		if (code == OPTICS_NONE || !open_guide(cut, code))
			continue;
		end = &graph->guides[code >> 1].end[!(code & 1)];
		if (wanted_at(cut, end)) {
			cut->guide_flow[code] = 1;
			return true;
		}
		if (end->type == MORPH_END_ELEMENT)
			flow_reach(&cut->search, place_behind(graph, end), place, code);
	}
	return false;
}

/* Flow into an element may leave elsewhere, or back where it came from. */
static void turn_back(struct light_cut *cut, uint32_t place)
{
	const struct optics_graph *graph = cut->ways->ledger->graph;
	const struct optics_element *element = &graph->elements[place / 4];

	for (uint32_t ports = ports_of(graph, place, false); ports; ports &= ports - 1) {
		uint32_t code =
			graph->port_guide[element->first_port + (uint32_t)__builtin_ctz(ports)];
		const struct optics_end *end;

		if (code == OPTICS_NONE || !cut->guide_flow[code ^ 1])
			continue;
		end = &graph->guides[code >> 1].end[!(code & 1)];
		/* It left at that port, so it came in at the other side. */
		if (end->type == MORPH_END_ELEMENT)
			flow_reach(&cut->search,
				   (place_behind(graph, end) ^ (has_sides(graph, end) ? 2 : 0)) + 1,
				   place, code ^ 1);
	}
}

/*
 * Start from a port. Return whether the path ends there: it leads directly to a receiver that wants
 * it.
 */
static bool start_at(struct light_cut *cut, uint32_t code)
{
	const struct optics_graph *graph = cut->ways->ledger->graph;
	const struct optics_end *end;

	if (code == OPTICS_NONE || !open_guide(cut, code))
		return false;
	end = &graph->guides[code >> 1].end[!(code & 1)];
	if (end->type == MORPH_END_ELEMENT)
		flow_reach(&cut->search, place_behind(graph, end), FLOW_SOURCE, code);
	else if (wanted_at(cut, end))
		cut->guide_flow[code] = 1;
	return cut->guide_flow[code];
}

static bool start(void *network, struct flow_search *search)
{
	struct light_cut *cut = network;
	const struct optics_graph *graph = cut->ways->ledger->graph;

	(void)search;
	for (uint32_t port = 0; port < graph->ports_count; port++)
		if ((cut->wants[port] & SENDS_OUT && start_at(cut, graph->tx_guide[port])) ||
		    (cut->wants[port] & RECEIVES_IN && start_at(cut, graph->rx_guide[port])))
			return true;
	return false;
}

static bool expand(void *network, struct flow_search *search, uint32_t place)
{
	struct light_cut *cut = network;
	bool found = false;

	if (place & 1) {
		found = leave(cut, place);
		if (cut->element_flow[place / 2])
			flow_reach(search, place - 1, place, UNSEEN);
	} else {
		if (cut->element_flow[place / 2] < cut->element_most[place / 4])
			flow_reach(search, place + 1, place, UNSEEN);
		turn_back(cut, place);
	}
	return found;
}

/* Add flow on an edge of the path, or cancel flow that the path passes backwards. */
static void push(void *network, const struct flow_search *search, uint32_t place)
{
	struct light_cut *cut = network;
	uint32_t over = search->over[place];

	if (over == UNSEEN)
		cut->element_flow[place / 2] += place & 1 ? 1 : UINT32_MAX;
	else
		cut->guide_flow[over] = !(place & 1);
}

static const struct flow_network functions = { start, expand, push };

/* ------------------------------------------------------------------------ cuts */

/* The guides of a path, in order or reversed. */
static uint32_t code_of(const struct ways *ways, uint32_t circuit, uint32_t number, bool back)
{
	const struct optics_hop *hops = lit_hops(&ways->table, circuit);
	uint32_t last = ways->table.circuits.list[circuit].hops_count - 1;

	return back ? hops[last - number].guide ^ 1 : hops[number].guide;
}

/*
 * A circuit's path is initial flow if it fits beside the present flow. Return whether it does. A
 * path that passes an element twice does not, since it would take too much of it.
 */
static bool begin_flow(struct light_cut *cut, uint32_t circuit, bool back)
{
	const struct ways *ways = cut->ways;
	const struct optics_graph *graph = ways->ledger->graph;
	uint32_t count = ways->table.circuits.list[circuit].hops_count, hop;

	for (hop = 0; hop < count; hop++) {
		uint32_t code = code_of(ways, circuit, hop, back), place;

		if (!open_guide(cut, code))
			break;
		cut->guide_flow[code] = 1;
		if (hop + 1 == count)
			return true;
		place = place_behind(graph, &graph->guides[code >> 1].end[!(code & 1)]);
		if (cut->element_flow[place / 2] == cut->element_most[place / 4]) {
			cut->guide_flow[code] = 0;
			break;
		}
		cut->element_flow[place / 2]++;
	}
	while (hop--) {
		uint32_t code = code_of(ways, circuit, hop, back);

		cut->guide_flow[code] = 0;
		cut->element_flow[place_behind(graph, &graph->guides[code >> 1].end[!(code & 1)]) /
				  2]--;
	}
	return false;
}

/*
 * List the circuits of the step that leave the inside and, with both, enter it; *have becomes the
 * initial flow.
 */
static uint32_t count_crossing(struct light_cut *cut, uint32_t *have)
{
	const struct ways *ways = cut->ways;
	uint32_t count = 0;

	*have = 0;
	memset(cut->wants, 0, ways->ledger->graph->ports_count);
	for (uint32_t at = cut->step->first; at < cut->step->first + cut->step->count; at++) {
		const struct lit *lit = &ways->table.circuits.list[ways->table.held.list[at]];
		bool out = cut->inside[ways->accelerators[lit->src]];

		if (out == !!cut->inside[ways->accelerators[lit->dst]] || (!out && !cut->both))
			continue;
		cut->wants[way_port(ways, lit->src, lit->plane)] |= out ? SENDS_OUT : SENDS_IN;
		cut->wants[way_port(ways, lit->dst, lit->plane)] |= out ? RECEIVES_OUT :
									  RECEIVES_IN;
		cut->src = lit->src;
		cut->dst = lit->dst;
		cut->plane = lit->plane;
		*have += begin_flow(cut, ways->table.held.list[at], !out);
		count++;
	}
	return count;
}

static void report_cut(const struct light_cut *cut, const char *name, uint32_t have, uint32_t need,
		       struct morph_light *light)
{
	light->verdict = MORPH_INFEASIBLE;
	light->reason = MORPH_LIGHT_CUT;
	light->step = (uint32_t)(cut->step - cut->ways->table.steps.list);
	light->plane = cut->plane;
	light->src = cut->src;
	light->dst = cut->dst;
	light->have = have;
	light->need = need;
	snprintf(
		light->why, sizeof(light->why),
		"step %u: %u circuits, such as from rank %u to rank %u on plane %u, lead out of %s%s %u; at most %u can",
		light->step, need, cut->src, cut->dst, cut->plane, cut->both ? "or into " : "",
		name, light->index, have);
}

/*
 * Do too many circuits leave the inside, or leave and enter together? @name and @index are for the
 * message.
 */
static bool too_many(struct light_cut *cut, const char *name, uint32_t part, uint32_t index,
		     struct morph_light *light)
{
	const struct optics_graph *graph = cut->ways->ledger->graph;

	for (int both = 0; both < 2; both++) {
		uint32_t need, have;

		cut->both = both;
		memset(cut->guide_flow, 0, 2UL * graph->guides_count);
		memset(cut->element_flow, 0,
		       2UL * graph->elements_count * sizeof(*cut->element_flow));
		need = count_crossing(cut, &have);
		while (have < need && lm_flow_augment(&functions, cut, &cut->search))
			have++;
		if (have == need)
			continue;
		light->part = part;
		light->index = index;
		report_cut(cut, name, have, need, light);
		return true;
	}
	return false;
}

static uint32_t position(const struct optics_accelerator *accelerator, uint32_t axis)
{
	return axis == 0 ? accelerator->x : axis == 1 ? accelerator->y : accelerator->z;
}

/* The parts below and above a coordinate of an axis. */
static bool axis_cut(struct light_cut *cut, uint32_t axis, struct morph_light *light)
{
	static const char *const names[3][2] = {
		{ "the part beyond x =", "the part up to x =" },
		{ "the part beyond y =", "the part up to y =" },
		{ "the part beyond z =", "the part up to z =" },
	};
	const struct optics_graph *graph = cut->ways->ledger->graph;
	uint32_t most = 0;

	for (uint32_t at = 0; at < graph->accelerators_count; at++)
		if (position(&graph->accelerators[at], axis) > most)
			most = position(&graph->accelerators[at], axis);
	for (uint32_t next = 0; next < 2 * most; next++) {
		bool below = next & 1;

		for (uint32_t at = 0; at < graph->accelerators_count; at++)
			cut->inside[at] = (position(&graph->accelerators[at], axis) <= next / 2) ==
					  below;
		if (too_many(cut, names[axis][below], MORPH_PART_NONE, next / 2, light))
			return true;
	}
	return false;
}

/* An accelerator, a server, or a part of the fabric. */
static bool step_cut(struct light_cut *cut, struct morph_light *light)
{
	const struct optics_graph *graph = cut->ways->ledger->graph;
	uint32_t count = graph->accelerators_count;
	bool found = false;

	for (uint32_t rank = 0; rank < cut->ways->table.ranks && !found; rank++) {
		memset(cut->inside, 0, count);
		cut->inside[cut->ways->accelerators[rank]] = 1;
		found = too_many(cut, "accelerator", MORPH_PART_ACCELERATOR,
				 cut->ways->accelerators[rank], light);
	}
	for (uint32_t host = 0; host < graph->hosts_count && graph->hosts_count > 1 && !found;
	     host++) {
		for (uint32_t at = 0; at < count; at++)
			cut->inside[at] = graph->accelerators[at].host == host;
		found = too_many(cut, "server", MORPH_PART_NONE, host, light);
	}
	for (uint32_t axis = 0; axis < 3 && !found; axis++)
		found = axis_cut(cut, axis, light);
	return found;
}

int lm_ways_cut(struct ways *ways, struct morph_light *light)
{
	struct light_cut cut = { .ways = ways };
	int error = cut_room(&cut);
	bool found = false;

	if (!error)
		measure(&cut);
	for (uint32_t step = 0;
	     !error && !found && step < ways->table.steps.count && step < MOST_STEPS; step++) {
		cut.step = &ways->table.steps.list[step];
		found = step_cut(&cut, light);
	}
	cut_free(&cut);
	return error;
}
