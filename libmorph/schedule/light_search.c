// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cheapest path of a circuit at the prices of other circuits: Dijkstra (1959) over guides, each
 * with the end at which light enters. The driver's router finds the best free path, but knows no
 * prices.
 */
#include "light.h"

#include "../model/router.h"
#include "../util/heap.h"

#define HOP_MDB 8 /* least cost of a guide */

void lm_ways_free(struct ways *ways)
{
	free(ways->prices.guide_users);
	free(ways->prices.element_users);
	free(ways->prices.state_users);
	free(ways->prices.first_state);
	free(ways->prices.guide_grudge);
	free(ways->prices.element_grudge);
	free(ways->labels);
	free(ways->heap);
	free(ways->stamps);
	free(ways->work);
	free(ways->states);
	free(ways->paths);
	lm_lit_table_free(&ways->table);
}

int lm_ways_room(struct ways *ways)
{
	const struct optics_graph *graph = ways->ledger->graph;
	struct way_prices *prices = &ways->prices;
	size_t guides = graph->guides_count + 1UL, elements = graph->elements_count + 1UL;
	size_t states = 1;

	for (uint32_t at = 0; at < graph->elements_count; at++)
		states += graph->kinds[graph->elements[at].kind].states;
	prices->guide_users = calloc(guides, sizeof(uint32_t));
	prices->element_users = calloc(elements, sizeof(uint32_t));
	prices->state_users = calloc(states, sizeof(uint32_t));
	prices->first_state = calloc(elements, sizeof(uint32_t));
	prices->guide_grudge = calloc(guides, sizeof(uint32_t));
	prices->element_grudge = calloc(elements, sizeof(uint32_t));
	ways->labels = calloc(2 * guides, sizeof(*ways->labels));
	ways->heap = calloc(2 * guides, sizeof(*ways->heap));
	ways->work = router_work(OPTICS_ROUTE_STEPS);
	if (!prices->guide_users || !prices->element_users || !prices->state_users ||
	    !prices->first_state || !prices->guide_grudge || !prices->element_grudge ||
	    !ways->labels || !ways->heap || !ways->work)
		return lm_no_memory(ways->ledger->ctx, "light a schedule");
	states = 0;
	for (uint32_t at = 0; at < graph->elements_count; at++) {
		prices->first_state[at] = (uint32_t)states;
		states += graph->kinds[graph->elements[at].kind].states;
	}
	return 0;
}

/* ------------------------------------------------------------------------ heap */

/* The open labels, as a heap. Each label knows its index. */
struct open {
	struct way_label *labels;
	uint32_t *heap, held;
};

static uint32_t at_place(const struct open *open, size_t place)
{
	return place == HEAP_HELD ? open->held : open->heap[place];
}

/* Order by price, then by number, so that the result never depends on the heap. */
static bool before(const void *context, size_t one, size_t other)
{
	const struct open *open = context;
	uint32_t ours = at_place(open, one), theirs = at_place(open, other);
	uint64_t our_price = open->labels[ours].price, their_price = open->labels[theirs].price;

	return our_price != their_price ? our_price < their_price : ours < theirs;
}

static void move(void *context, size_t to, size_t from)
{
	struct open *open = context;
	uint32_t code = at_place(open, from);

	if (to == HEAP_HELD) {
		open->held = code;
		return;
	}
	open->heap[to] = code;
	open->labels[code].place = (uint32_t)to + 1;
}

static void heap_rise(struct ways *ways, uint32_t code)
{
	struct open open = { .labels = ways->labels, .heap = ways->heap };

	open.heap[ways->labels[code].place - 1] = code;
	heap_raise(&open, ways->labels[code].place - 1, before, move);
}

static uint32_t heap_take(struct ways *ways)
{
	struct open open = { .labels = ways->labels, .heap = ways->heap };
	uint32_t first = ways->heap[0];

	open.held = ways->heap[--ways->heap_count];
	heap_sink_held(&open, 0, ways->heap_count, before, move);
	ways->labels[first].place = 0;
	return first;
}

/* ---------------------------------------------------------------------- labels */

static uint64_t guide_price(const struct ways *ways, uint32_t guide)
{
	const struct way_prices *prices = &ways->prices;
	uint64_t base = HOP_MDB + ways->ledger->graph->guides[guide].loss_mdb +
			(uint64_t)prices->guide_grudge[guide];

	return base * (1 + (uint64_t)prices->guide_users[guide] * prices->pressure);
}

/* Users that want the element in another state. */
static uint64_t element_price(const struct ways *ways, uint32_t element, uint32_t state)
{
	const struct optics_graph *graph = ways->ledger->graph;
	const struct way_prices *prices = &ways->prices;
	uint64_t base = graph->kinds[graph->elements[element].kind].loss_mdb +
			(uint64_t)prices->element_grudge[element];
	uint64_t others = prices->element_users[element] -
			  prices->state_users[prices->first_state[element] + state];

	return base * (1 + others * prices->pressure);
}

/* Enter a guide, from another one or from the transmitter, with the price and loss so far. */
static void enter(struct ways *ways, uint32_t code, uint32_t from, uint32_t state, uint64_t price,
		  uint32_t loss_mdb, uint64_t lanes)
{
	const struct optics_state *ledger = ways->ledger->state;
	struct way_label *label = &ways->labels[code];

	lanes &= ~optics_guide_taken(ledger, code >> 1);
	loss_mdb += ledger->graph->guides[code >> 1].loss_mdb;
	if (ledger->guide_marks[code >> 1] || optics_weight64(lanes) < ways->lanes ||
	    loss_mdb > ways->most_mdb)
		return;
	price += guide_price(ways, code >> 1);
	if (label->mark != ways->mark) {
		label->mark = ways->mark;
		label->place = ++ways->heap_count;
	} else if (!label->place || label->price <= price) {
		return;
	}
	label->price = price;
	label->lanes = lanes;
	label->from = from;
	label->state = state;
	label->loss_mdb = loss_mdb;
	heap_rise(ways, code);
}

static bool closed(const struct ways *ways, uint32_t element)
{
	const struct morph_ledger *ledger = ways->ledger;
	const struct optics_state *state = ledger->state;
	uint32_t tile = ledger->graph->elements[element].tile, owner;

	if (state->element_marks[element])
		return true;
	owner = tile == OPTICS_NONE ? 0 : state->owner[tile];
	return ways->transit_own && owner && owner != ways->owner;
}

/*
 * Pass an element to each port that a state joins to the entry. If several states do, use the one
 * that the driver takes for a path given by its guides.
 */
static void go_on(struct ways *ways, uint32_t code)
{
	const struct optics_graph *graph = ways->ledger->graph;
	const struct optics_state *ledger = ways->ledger->state;
	const struct optics_end *end = &graph->guides[code >> 1].end[!(code & 1)];
	const struct optics_element *element = &graph->elements[end->index];
	const struct optics_kind *kind = &graph->kinds[element->kind];
	const struct way_label *label = &ways->labels[code];
	uint32_t present = ledger->element_state[end->index], seen = 0;

	if (closed(ways, end->index))
		return;
	for (uint32_t at = 0; at <= kind->states; at++) {
		uint32_t state = at ? at - 1 : present, next;
		uint8_t out = optics_joined(graph, end->index, state, end->port);

		if (out == MORPH_PORT_NONE || seen & 1U << out)
			continue;
		seen |= 1U << out;
		next = graph->port_guide[element->first_port + out];
		if (next != OPTICS_NONE && (state == present || !ledger->element_pins[end->index]))
			enter(ways, next, code, state,
			      label->price + element_price(ways, end->index, state),
			      label->loss_mdb + kind->loss_mdb, label->lanes);
	}
}

/* Follow the labels from the receiver back to the transmitter. A path that is too long is none. */
static void note_way(struct ways *ways, uint32_t circuit, uint32_t code)
{
	const struct optics_graph *graph = ways->ledger->graph;
	struct optics_hop *hops = lit_hops(&ways->table, circuit);
	struct lit *lit = &ways->table.circuits.list[circuit];
	uint32_t count = 1, element = OPTICS_NONE, state = 0;
	uint64_t lanes = ways->labels[code].lanes;

	for (uint32_t at = code; ways->labels[at].from != OPTICS_NONE; at = ways->labels[at].from)
		count++;
	if (count > OPTICS_MAX_HOPS)
		return;
	lit->hops_count = count;
	while (count--) {
		hops[count] = (struct optics_hop){ code, element, state };
		state = ways->labels[code].state;
		element = graph->guides[code >> 1].end[code & 1].index;
		code = ways->labels[code].from;
	}
	lit->lanes = 0;
	for (uint32_t lane = 0; optics_weight64(lit->lanes) < ways->lanes; lane++)
		lit->lanes |= lanes & 1ULL << lane;
}

void lm_way_search(struct ways *ways, uint32_t circuit)
{
	const struct optics_graph *graph = ways->ledger->graph;
	const struct optics_state *state = ways->ledger->state;
	struct lit *lit = &ways->table.circuits.list[circuit];
	uint32_t tx = way_port(ways, lit->src, lit->plane);
	uint32_t rx = way_port(ways, lit->dst, lit->plane);
	uint64_t lanes = graph->all_lanes & ~(state->tx_dead[tx] | state->rx_dead[rx]);

	lit->hops_count = 0;
	/* A port sends to one receiver only. */
	if (state->tx_lanes[tx] || state->rx_lanes[rx] || graph->tx_guide[tx] == OPTICS_NONE)
		return;
	ways->mark++;
	ways->heap_count = 0;
	enter(ways, graph->tx_guide[tx], OPTICS_NONE, 0, 0, 0, lanes);
	while (ways->heap_count) {
		uint32_t code = heap_take(ways);
		const struct optics_end *end = &graph->guides[code >> 1].end[!(code & 1)];

		if (end->type == MORPH_END_RX &&
		    end->index * graph->params.planes + end->port == rx) {
			note_way(ways, circuit, code);
			return;
		}
		if (end->type == MORPH_END_ELEMENT)
			go_on(ways, code);
	}
}

struct optics_path lm_way_path(const struct ways *ways, uint32_t circuit)
{
	const struct lit *lit = &ways->table.circuits.list[circuit];
	struct optics_path path = {
		.tx = way_port(ways, lit->src, lit->plane),
		.rx = way_port(ways, lit->dst, lit->plane),
		.lanes = lit->lanes,
		.hops_count = lit->hops_count,
		.hops = lit_hops(&ways->table, circuit),
	};

	path.loss_mdb = optics_path_loss(ways->ledger->graph, &path);
	return path;
}
