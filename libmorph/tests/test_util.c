// SPDX-License-Identifier: LGPL-2.1-or-later
/* The algorithms of util/, each against a simpler one on small random cases. */
#include <string.h>

#include "../util/colouring.h"
#include "../util/flow.h"
#include "../util/heap.h"
#include "../util/mix.h"
#include "../util/shortest.h"
#include "../util/text.h"
#include "alone.h"

#define CASES 2000
#define MOST 40 /* nodes, items */

/* ------------------------------------------------------------------------ heap */

/* Keys, many of them equal; the item's number decides between equal keys. */
struct items {
	size_t count;
	uint32_t keys[MOST], places[MOST], held;
};

static uint32_t at_place(const struct items *items, size_t place)
{
	return place == HEAP_HELD ? items->held : items->places[place];
}

static bool is_less(const void *context, size_t one, size_t other)
{
	const struct items *items = context;
	uint32_t a = at_place(items, one), b = at_place(items, other);

	return items->keys[a] != items->keys[b] ? items->keys[a] < items->keys[b] : a < b;
}

static void move(void *context, size_t to, size_t from)
{
	struct items *items = context;

	*(to == HEAP_HELD ? &items->held : &items->places[to]) = at_place(items, from);
}

static void take_all(struct items *items)
{
	uint32_t last = 0, last_key = 0, taken = 0;

	while (items->count) {
		uint32_t first = items->places[0];

		assert_true(!taken++ || items->keys[first] > last_key ||
			    (items->keys[first] == last_key && first > last));
		last = first;
		last_key = items->keys[first];
		items->held = items->places[--items->count];
		heap_sink_held(items, 0, items->count, is_less, move);
	}
}

static void heaps_are_ordered(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (uint32_t number = 0; number < CASES; number++) {
		uint32_t count = mix_below(&random, MOST) + 1;
		struct items items = { 0 };

		for (uint32_t at = 0; at < count; at++) {
			items.keys[at] = mix_below(&random, 10);
			items.places[at] = at;
			if (number & 1)
				heap_raise(&items, items.count++, is_less, move);
		}
		if (!(number & 1)) {
			items.count = count;
			heap_build(&items, count, is_less, move);
		}
		take_all(&items);
	}
}

/* ---------------------------------------------------------------- shortest paths */

struct graph {
	uint32_t nodes;
	uint32_t edges[MOST][MOST]; /* length or capacity; 0: no edge */
};

static struct graph random_graph(uint64_t *random, uint32_t most)
{
	struct graph graph = { .nodes = mix_below(random, MOST - 2) + 2 };
	uint32_t of = mix_below(random, 6) + 1;

	for (uint32_t from = 0; from < graph.nodes; from++)
		for (uint32_t to = 0; to < graph.nodes; to++)
			if (from != to && !mix_below(random, of))
				graph.edges[from][to] = mix_below(random, most) + 1;
	return graph;
}

/* Bellman and Ford: relax all edges as often as there are nodes. */
static void relax_all(const struct graph *graph, uint32_t from, uint32_t *costs)
{
	memset(costs, 0xff, MOST * sizeof(*costs));
	costs[from] = 0;
	for (uint32_t round = 0; round < graph->nodes; round++)
		for (uint32_t one = 0; one < graph->nodes; one++)
			for (uint32_t other = 0; other < graph->nodes; other++)
				if (graph->edges[one][other] && costs[one] != UINT32_MAX &&
				    costs[one] + graph->edges[one][other] < costs[other])
					costs[other] = costs[one] + graph->edges[one][other];
}

static void search_all(const struct graph *graph, struct shortest *search)
{
	uint32_t at, last = 0;

	shortest_begin(search, 0);
	while ((at = shortest_next(search)) != SHORTEST_NONE) {
		assert_true(search->cost[at] >= last);
		last = search->cost[at];
		for (uint32_t to = 0; to < graph->nodes; to++)
			if (graph->edges[at][to] && !(search->done >> to & 1))
				shortest_reach(search, at, to,
					       search->cost[at] + graph->edges[at][to]);
	}
}

static void paths_are_the_shortest(void **state)
{
	uint64_t random = 2;

	(void)state;
	for (uint32_t number = 0; number < CASES; number++) {
		struct graph graph = random_graph(&random, 9);
		uint32_t costs[MOST];
		struct shortest search;

		relax_all(&graph, 0, costs);
		search_all(&graph, &search);
		for (uint32_t node = 0; node < graph.nodes; node++) {
			uint8_t nodes[SHORTEST_NODES];
			uint32_t edges, sum = 0;

			assert_int_equal(search.done >> node & 1, costs[node] != UINT32_MAX);
			if (costs[node] == UINT32_MAX)
				continue;
			assert_int_equal(search.cost[node], costs[node]);
			edges = shortest_trace(&search, 0, node, nodes);
			assert_int_equal(nodes[0], 0);
			assert_int_equal(nodes[edges], node);
			for (uint32_t at = 0; at < edges; at++) {
				assert_true(graph.edges[nodes[at]][nodes[at + 1]]);
				sum += graph.edges[nodes[at]][nodes[at + 1]];
			}
			assert_int_equal(sum, costs[node]);
		}
	}
}

/* Of equal costs the node with the lowest number comes next, and the first path stays. */
static void ties_are_fixed(void **state)
{
	struct shortest search = { 0 };

	(void)state;
	shortest_begin(&search, 9);
	assert_int_equal(shortest_next(&search), 9);
	assert_true(shortest_reach(&search, 9, 5, 4));
	assert_true(shortest_reach(&search, 9, 3, 4));
	assert_int_equal(shortest_next(&search), 3);
	assert_false(shortest_reach(&search, 3, 5, 4));
	assert_true(shortest_reach(&search, 3, 7, 6));
	assert_int_equal(shortest_next(&search), 5);
	assert_int_equal(search.before[5], 9);
	assert_false(shortest_reach(&search, 5, 7, 6));
	assert_true(shortest_reach(&search, 5, 7, 5));
	assert_int_equal(shortest_next(&search), 7);
	assert_int_equal(search.before[7], 5);
	assert_int_equal(shortest_next(&search), SHORTEST_NONE);
}

/* ------------------------------------------------------------------------ flow */

/* From node 0 to the last one. */
struct network {
	struct graph room; /* residual capacities */
};

static bool start(void *network, struct flow_search *search)
{
	(void)network;
	flow_reach(search, 0, FLOW_SOURCE, 0);
	return false;
}

static bool expand(void *network, struct flow_search *search, uint32_t node)
{
	const struct graph *room = &((struct network *)network)->room;

	if (node == room->nodes - 1)
		return true;
	for (uint32_t to = 0; to < room->nodes; to++)
		if (room->edges[node][to])
			flow_reach(search, to, node, 0);
	return false;
}

static void push(void *network, const struct flow_search *search, uint32_t node)
{
	struct graph *room = &((struct network *)network)->room;
	uint32_t from = search->from[node];

	if (from == FLOW_SOURCE)
		return;
	room->edges[from][node]--;
	room->edges[node][from]++;
}

static const struct flow_network functions = { start, expand, push };

/* The capacity that leaves the reached nodes equals the flow, so that the flow is a maximum. */
static void flows_equal_cuts(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (uint32_t number = 0; number < CASES / 4; number++) {
		struct graph graph = random_graph(&random, 4);
		struct network network = { graph };
		uint32_t from[MOST], over[MOST], queue[MOST], units = 0, cut = 0;
		struct flow_search search = { from, over, queue, 0 };

		memset(from, 0xff, sizeof(from));
		while (lm_flow_augment(&functions, &network, &search))
			units++;
		assert_int_not_equal(from[0], FLOW_UNSEEN);
		assert_int_equal(from[graph.nodes - 1], FLOW_UNSEEN);
		for (uint32_t one = 0; one < graph.nodes; one++)
			for (uint32_t other = 0; other < graph.nodes; other++)
				if (from[one] != FLOW_UNSEEN && from[other] == FLOW_UNSEEN)
					cut += graph.edges[one][other];
		assert_int_equal(units, cut);
		assert_false(lm_flow_augment(&functions, &network, &search));
	}
}

static bool starts_at_sink(void *network, struct flow_search *search)
{
	uint32_t *left = network;

	flow_reach(search, 0, FLOW_SOURCE, 0);
	return (*left)--;
}

static bool never(void *network, struct flow_search *search, uint32_t node)
{
	(void)network;
	(void)search;
	(void)node;
	return false;
}

/* The source may reach the sink at once. The next search starts from no reached node. */
static void sources_reach_sinks(void **state)
{
	const struct flow_network direct = { starts_at_sink, never, NULL };
	uint32_t from[1] = { FLOW_UNSEEN }, over[1], queue[1], left = 1;
	struct flow_search search = { from, over, queue, 0 };

	(void)state;
	assert_true(lm_flow_augment(&direct, &left, &search));
	assert_false(lm_flow_augment(&direct, &left, &search));
	assert_int_equal(search.count, 1);
}

/* ------------------------------------------------------------------- colouring */

#define SIDE 12 /* nodes of each side */
#define EDGES 120

static uint32_t largest_degree(const struct coloured *edges, uint32_t count)
{
	uint32_t out[SIDE] = { 0 }, in[SIDE] = { 0 }, most = 0;

	for (uint32_t at = 0; at < count; at++) {
		uint32_t sent = ++out[edges[at].src], received = ++in[edges[at].dst];

		most = sent > most ? sent : most;
		most = received > most ? received : most;
	}
	return most;
}

/* Each edge is stored under its colour, and nowhere else. */
static void check_colours(const struct colouring *colouring, uint32_t count)
{
	uint32_t places = 0;

	for (uint32_t at = 0; at < count; at++) {
		const struct coloured *edge = &colouring->edges[at];

		assert_true(edge->colour < colouring->colours);
		assert_int_equal(*colouring_out(colouring, edge->src, edge->colour), at);
		assert_int_equal(*colouring_in(colouring, edge->dst, edge->colour), at);
	}
	for (uint32_t at = 0; at < SIDE * colouring->colours; at++)
		places += (colouring->out[at] != COLOURING_NONE) +
			  (colouring->in[at] != COLOURING_NONE);
	assert_int_equal(places, 2 * count);
}

static void degrees_are_enough(void **state)
{
	static uint32_t out[SIDE * EDGES], in[SIDE * EDGES];
	static struct coloured edges[EDGES];
	uint64_t random = 4;

	(void)state;
	for (uint32_t number = 0; number < CASES; number++) {
		uint32_t count = mix_below(&random, EDGES) + 1, side = mix_below(&random, SIDE) + 1;
		struct colouring colouring = { .edges = edges, .out = out, .in = in };

		for (uint32_t at = 0; at < count; at++) {
			uint32_t src = mix_below(&random, side), dst = mix_below(&random, side);

			edges[at] = (struct coloured){ .src = src, .dst = dst };
		}
		colouring.colours = largest_degree(edges, count);
		memset(out, 0xff, sizeof(out));
		memset(in, 0xff, sizeof(in));
		for (uint32_t at = 0; at < count; at++) {
			lm_colouring_add(&colouring, at);
			check_colours(&colouring, at + 1);
		}
	}
}

/*
 * The first free colour at the beginning of an edge becomes its colour, even if another edge has it
 * at the end.
 */
static void first_colours_win(void **state)
{
	struct coloured edges[3] = { { .src = 0, .dst = 0 },
				     { .src = 1, .dst = 1 },
				     { .src = 1, .dst = 0 } };
	uint32_t out[4], in[4];
	struct colouring colouring = { .colours = 2, .edges = edges, .out = out, .in = in };

	(void)state;
	memset(out, 0xff, sizeof(out));
	memset(in, 0xff, sizeof(in));
	colouring_set(&colouring, 0, 1);
	lm_colouring_add(&colouring, 1);
	assert_int_equal(edges[1].colour, 0);
	lm_colouring_add(&colouring, 2);
	assert_int_equal(edges[2].colour, 1);
	assert_int_equal(edges[0].colour, 0);
}

/* ------------------------------------------------------------------------ text */

static struct text text_of(const char *text)
{
	return text_begin(text, strlen(text));
}

/* Lines of both kinds read alike. The last line needs no end, and an end begins no line. */
static void lines_are_numbered(void **state)
{
	static const char *const texts[] = { "one 1\n\n two\t2", "one 1\r\n\r\n two\t2\r\n" };

	(void)state;
	for (int at = 0; at < 2; at++) {
		struct text rest = text_of(texts[at]), line;
		uint64_t value;

		assert_true(lm_text_line(&rest, &line));
		assert_int_equal(line.line, 1);
		assert_false(lm_text_word(&line, "on"));
		assert_false(lm_text_word(&line, "one 1 more"));
		assert_true(lm_text_word(&line, "one"));
		assert_true(lm_text_number(&line, 1, &value));
		assert_int_equal(value, 1);
		assert_false(lm_text_skip(&line));
		assert_true(lm_text_line(&rest, &line));
		assert_false(lm_text_skip(&line));
		assert_true(lm_text_line(&rest, &line));
		assert_int_equal(line.line, 3);
		assert_true(lm_text_word(&line, "two"));
		assert_true(lm_text_number(&line, UINT64_MAX, &value));
		assert_int_equal(value, 2);
		assert_false(lm_text_line(&rest, &line));
	}
}

static void numbers_have_limits(void **state)
{
	static const struct {
		const char *text;
		uint64_t most;
		bool good;
		uint64_t value;
	} cases[] = {
		{ "0", 0, true, 0 },
		{ "1", 0, false, 0 },
		{ "10", 9, false, 0 },
		{ "007", 7, true, 7 },
		{ "8", 7, false, 0 },
		{ "18446744073709551615", UINT64_MAX, true, UINT64_MAX },
		{ "18446744073709551616", UINT64_MAX, false, 0 },
		{ "99999999999999999999", UINT64_MAX, false, 0 },
		{ "", 9, false, 0 },
		{ "-1", 9, false, 0 },
		{ "1x", 9, false, 0 },
		{ "x", 9, false, 0 },
	};

	(void)state;
	for (size_t at = 0; at < sizeof(cases) / sizeof(*cases); at++) {
		struct text text = text_of(cases[at].text);
		uint64_t value;

		assert_int_equal(lm_text_number(&text, cases[at].most, &value), cases[at].good);
		if (cases[at].good)
			assert_true(value == cases[at].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heaps_are_ordered),   cmocka_unit_test(paths_are_the_shortest),
		cmocka_unit_test(ties_are_fixed),      cmocka_unit_test(flows_equal_cuts),
		cmocka_unit_test(sources_reach_sinks), cmocka_unit_test(degrees_are_enough),
		cmocka_unit_test(first_colours_win),   cmocka_unit_test(lines_are_numbered),
		cmocka_unit_test(numbers_have_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
