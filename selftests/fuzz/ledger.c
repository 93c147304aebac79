// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is a sequence of operations on a small fabric: route and claim, release, mark, change
 * the owner, and validate an unusual path. After each the ledger must be the sum of the claimed
 * paths. At the end it must be as at the start.
 */
#include "fuzz.h"
#include "maker.h"

#define MOST_LIVE 16u
#define MOST_OPERATIONS 200u
#define STEPS 1024u

struct world {
	struct fabric fabric;
	struct input *input;
	struct route live[MOST_LIVE];
	u32 count;
};

/* Three fabrics, made once: tiles, a mesh, and tiles with edges. */
static struct fabric *fabric_of(u8 which)
{
	static struct fabric fabrics[3];
	struct fabric *fabric = &fabrics[which % 3];

	if (fabric->graph)
		return fabric;
	if (which % 3 == 0) {
		make_interposer(&fabric->maker, 2, 2, 2, 3);
	} else if (which % 3 == 1) {
		make_mesh(&fabric->maker, 3, 2, 3);
	} else {
		struct maker *maker = &fabric->maker;
		u32 kind;

		/* two accelerators and two edges at one switch */
		maker_init(maker, 1, 4);
		kind = maker_kind(maker, "switch", 6, 500, 40000);
		maker_state(maker, "");
		maker_state(maker, "0-3 1-2");
		maker_state(maker, "0-4 5-1");
		maker_state(maker, "2-5 4-3");
		maker_host(maker);
		for (u32 at = 0; at < 2; at++)
			maker_accelerator(maker, 0);
		maker_element(maker, kind, OPTICS_NONE);
		for (u8 at = 0; at < 2; at++) {
			maker_guide(maker, TX(at, 0), AT(0, 2 * at), 100);
			maker_guide(maker, RX(at, 0), AT(0, 2 * at + 1), 100);
			maker_edge(maker, -5000, 5000);
			maker_guide(maker, AT(0, (u8)(4 + at)), EDGE(at), 300);
		}
	}
	fabric_open(fabric, STEPS);
	return fabric;
}

/* ------------------------------------------------------------------- checks */

static void check_sums(const struct world *world)
{
	const struct optics_graph *graph = world->fabric.graph;
	const struct optics_state *state = world->fabric.state;
	u64 guides[512] = { 0 }, tx[128] = { 0 }, rx[128] = { 0 };
	u32 pins[512] = { 0 };

	MUST(graph->guides_count <= 512 && graph->elements_count <= 512);
	MUST(graph->ends_count <= 128);
	for (u32 at = 0; at < world->count; at++) {
		const struct optics_path *path = &world->live[at].path;

		MUST(!(tx[path->tx] & path->lanes) && !(rx[path->rx] & path->lanes));
		tx[path->tx] |= path->lanes;
		rx[path->rx] |= path->lanes;
		for (u32 hop = 0; hop < path->hops_count; hop++) {
			u32 element = path->hops[hop].element;

			MUST(!(guides[path->hops[hop].guide >> 1] & path->lanes));
			guides[path->hops[hop].guide >> 1] |= path->lanes;
			if (element == OPTICS_NONE)
				continue;
			pins[element]++;
			MUST(state->element_state[element] == path->hops[hop].state);
		}
	}
	MUST(!memcmp(guides, state->guide_lanes, graph->guides_count * sizeof(u64)));
	MUST(!memcmp(pins, state->element_pins, graph->elements_count * sizeof(u32)));
	MUST(!memcmp(tx, state->tx_lanes, graph->ends_count * sizeof(u64)));
	MUST(!memcmp(rx, state->rx_lanes, graph->ends_count * sizeof(u64)));
}

/* The path was claimed for its owner just before; light and leaks may still fail. */
static void check_new(const struct world *world, const struct optics_route_request *request,
		      struct route *route)
{
	struct optics_view view = fabric_view(&world->fabric);
	struct optics_verdict verdict;
	u32 reason;

	MUST(optics_weight64(route->path.lanes) == request->lanes_count);
	MUST(!(route->path.lanes & ~request->lanes_allowed));
	MUST(route->path.loss_mdb == optics_path_loss(world->fabric.graph, &route->path));
	optics_validate(&view, &route->path, 1, request->owner, request->transit_own, &verdict,
			&route->refusal);
	reason = route->refusal.reason;
	MUST(reason == OPTICS_OK || reason == OPTICS_MARGIN || reason == OPTICS_OVERLOAD ||
	     reason == OPTICS_ISOLATION || reason == OPTICS_BAD_PORT);
	/* the port fails only if the request named an end of another owner */
	if (reason == OPTICS_BAD_PORT)
		MUST(view.owner[optics_end_place(world->fabric.graph, route->path.tx)] !=
			     request->owner ||
		     view.owner[optics_end_place(world->fabric.graph, route->path.rx)] !=
			     request->owner);
}

/* --------------------------------------------------------------- operations */

static u32 eat_end(struct world *world)
{
	const struct optics_graph *graph = world->fabric.graph;
	u8 byte = eat8(world->input);

	if (byte & 0x80 && graph->edges_count)
		return OPTICS_EDGE | (byte & 0x7f) % graph->edges_count;
	return byte % (graph->accelerators_count + (byte == 0x7f));
}

static struct optics_route_request eat_request(struct world *world)
{
	u8 how = eat8(world->input);
	struct optics_route_request request = {
		.tx_accelerator = eat_end(world),
		.rx_accelerator = eat_end(world),
		.tx_planes = how & 1 ? eat8(world->input) : ~0ull,
		.rx_planes = how & 2 ? eat8(world->input) : ~0ull,
		.lanes_allowed = how & 4 ? eat8(world->input) : ~0ull,
		.lanes_count = how >> 6,
		.owner = 1 + (how >> 5 & 1),
		.transit_own = how & 8,
		.ignore_claims = how & 16,
		.steps = STEPS,
	};

	return request;
}

static void set_up(struct world *world)
{
	struct optics_route_request request = eat_request(world);
	struct route *route = &world->live[world->count];
	u64 bytes = optics_state_bytes(world->fabric.graph);
	struct optics_state *before = malloc(bytes), *state = world->fabric.state;

	if (world->count == MOST_LIVE) {
		free(before);
		return;
	}
	memcpy(before, state, bytes);
	fabric_route(&world->fabric, &request, route);
	before->elements_visited = state->elements_visited;
	before->lanes_visited = state->lanes_visited;
	MUST(!memcmp(before, state, bytes));
	free(before);
	if (route->error) {
		MUST(route->refusal.reason && route->refusal.reason <= OPTICS_PORT_BUSY);
		return;
	}
	if (optics_claim(state, &route->path, &route->refusal)) {
		MUST(request.ignore_claims);
		return;
	}
	world->count++;
	check_new(world, &request, route);
}

static void take_down(struct world *world)
{
	u32 which;

	if (!world->count)
		return;
	which = eat8(world->input) % world->count;
	optics_release(world->fabric.state, &world->live[which].path);
	world->live[which] = world->live[--world->count];
	world->live[which].path.hops = world->live[which].hops;
}

static void mark(struct world *world)
{
	struct optics_state *state = world->fabric.state;
	u8 marks = eat8(world->input) & (OPTICS_UNHEALTHY | OPTICS_CORDONED | OPTICS_HELD);
	u8 which = eat8(world->input);

	if (which & 1)
		state->guide_marks[(which >> 1) % world->fabric.graph->guides_count] =
			marks & (OPTICS_UNHEALTHY | OPTICS_CORDONED);
	else
		state->element_marks[(which >> 1) % world->fabric.graph->elements_count] = marks;
}

static void give(struct world *world)
{
	const struct optics_graph *graph = world->fabric.graph;
	u8 which = eat8(world->input);

	world->fabric.state->owner[(which >> 2) % (graph->accelerators_count + graph->edges_count)] =
		which & 3;
}

/* The validator may reject an unusual path, but must never count more of it than exists. */
static void judge(struct world *world)
{
	struct optics_view view = fabric_view(&world->fabric);
	struct optics_hop hops[4];
	struct optics_path path = { .hops = hops };
	struct optics_verdict verdict;
	struct optics_refusal refusal;
	u8 odd = eat8(world->input);

	path.tx = eat8(world->input);
	path.rx = eat8(world->input);
	path.lanes = eat8(world->input);
	path.hops_count = odd & 3;
	for (u32 at = 0; at < path.hops_count; at++) {
		hops[at].guide = odd & 4 ? eat32(world->input) : eat8(world->input);
		hops[at].element = odd & 8 ? eat32(world->input) : eat8(world->input);
		hops[at].state = eat8(world->input);
	}
	if (path.hops_count && !(odd & 16))
		hops[path.hops_count - 1].element = OPTICS_NONE;
	if (optics_validate(&view, &path, 1, 1, odd & 32, &verdict, &refusal))
		MUST(refusal.reason && refusal.reason <= OPTICS_PORT_BUSY);
	else
		MUST(path.loss_mdb == optics_path_loss(world->fabric.graph, &path));
}

/* --------------------------------------------------------------------- run */

static void leave(struct world *world, const void *initial)
{
	const struct optics_graph *graph = world->fabric.graph;
	struct optics_state *state = world->fabric.state;
	u64 bytes = optics_state_bytes(graph);

	while (world->count)
		optics_release(state, &world->live[--world->count].path);
	check_sums(world);
	for (u32 at = 0; at < graph->elements_count; at++) {
		optics_set_state(state, at, optics_park_state(graph, at));
		state->element_marks[at] = 0;
	}
	memset(state->guide_marks, 0, graph->guides_count);
	fabric_own_all(&world->fabric, 1);
	state->elements_visited = 0;
	state->lanes_visited = 0;
	MUST(!memcmp(state, initial, bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const operations[])(struct world * world) = {
		set_up, set_up, set_up, take_down, mark, give, judge,
	};
	struct input input = { data, size };
	struct world *world = calloc(1, sizeof(*world));
	struct optics_state *initial;
	u64 bytes;

	world->fabric = *fabric_of(eat8(&input));
	world->input = &input;
	bytes = optics_state_bytes(world->fabric.graph);
	initial = malloc(bytes);
	fabric_own_all(&world->fabric, 1);
	memcpy(initial, world->fabric.state, bytes);
	for (u32 at = 0; input.left && at < MOST_OPERATIONS; at++) {
		operations[eat8(&input) % ARRAY_SIZE(operations)](world);
		check_sums(world);
	}
	leave(world, initial);
	free(initial);
	free(world);
	return 0;
}
