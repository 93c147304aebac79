// SPDX-License-Identifier: GPL-2.0-only
/*
 * The router's lower bound: it never exceeds the remaining loss, it never falls by more than the
 * cost of a step, and it has no influence on the result. The plain search is the same router on a
 * fabric with a bound of zero.
 */
#include "maker.h"
#include "optics/search.h"
#include "tap.h"

#define STEPS 65536u
#define LIVE_MAX 64u
#define AVOID_MAX 4u

struct pair {
	struct fabric fabric;
	struct unbound plain;
	struct route live[LIVE_MAX];
	u32 live_count;
	u64 seed;
	u32 compared, found, undecided;
	u64 steps, plain_steps;
};

static u32 below(struct pair *p, u32 count)
{
	return next_random(&p->seed) % count;
}

static bool open_profile(struct fabric *fabric, const char *name)
{
	const char *folder = getenv("PROFILES");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.bin", folder ? folder : "build/profiles", name);
	if (fabric_open_file(fabric, path, STEPS))
		return true;
	printf("# no file %s: make -C profiles makes it\n", path);
	tap_failed = true;
	return false;
}

/* Return the bound for light at the end of guide @code; dead: OPTICS_NONE. */
static u32 bound_at(const struct search *search, u32 code)
{
	const struct optics_end *end = optics_far_end(search->graph, code);

	if (end->type == MORPH_END_ELEMENT)
		return optics_toll(search, code, end);
	return end->type == MORPH_END_RX && end->index == search->request->rx_accelerator ?
		       0 :
		       OPTICS_NONE;
}

/* Compare the bound before an element with those after it, in each state that joins two ports. */
static u32 count_falls(const struct search *search, u32 code)
{
	const struct optics_graph *graph = search->graph;
	const struct optics_end *end = optics_far_end(graph, code);
	const struct optics_element *element = &graph->elements[end->index];
	const struct optics_kind *kind = &graph->kinds[element->kind];
	u32 here = bound_at(search, code), state, falls = 0;

	for (state = 0; state < kind->states; state++) {
		u8 joined = optics_joined(graph, end->index, state, end->port);
		u32 next, there;

		if (joined == MORPH_PORT_NONE)
			continue;
		next = graph->port_guide[element->first_port + joined];
		if (next == OPTICS_NONE)
			continue;
		there = bound_at(search, next);
		if (there == OPTICS_NONE)
			continue;
		falls += here == OPTICS_NONE ||
			 here > there + optics_cost(
						kind->loss_mdb + graph->guides[next >> 1].loss_mdb,
						search->state->element_state[end->index] != state);
	}
	return falls;
}

/*
 * The bound is consistent and 0 at the receiver. By induction from the receiver it never exceeds
 * the remaining loss.
 */
static void check_consistent(struct fabric *fabric, u32 rx)
{
	struct optics_route_request request =
		fabric_request(fabric, rx ? 0 : fabric->graph->accelerators_count - 1, rx, 1);
	struct search search = { .state = fabric->state,
				 .graph = fabric->graph,
				 .request = &request,
				 .effort_limit = OPTICS_NONE };
	u32 code, falls = 0;

	optics_search_init(&search, fabric->work, fabric->steps);
	optics_tolls_start(&search);
	CHECK(optics_tolls_continue(&search));
	for (code = 0; code < 2 * fabric->graph->guides_count; code++)
		if (optics_far_end(fabric->graph, code)->type == MORPH_END_ELEMENT)
			falls += count_falls(&search, code);
	CHECK_EQUAL(falls, 0);
}

/* Set up a random circuit, or remove one. */
static void change_circuits(struct pair *p)
{
	struct optics_state *state = p->fabric.state;
	u32 all = p->fabric.graph->accelerators_count, from = below(p, all);
	struct optics_route_request request =
		fabric_request(&p->fabric, from, (from + 1 + below(p, all - 1)) % all, 1);
	struct route *route = &p->live[p->live_count];
	u32 i;

	if (p->live_count == LIVE_MAX || (p->live_count && below(p, 3) == 0)) {
		i = below(p, p->live_count);
		optics_release(state, &p->live[i].path);
		p->live[i] = p->live[--p->live_count];
		p->live[i].path.hops = p->live[i].hops;
		return;
	}
	request.tx_planes = ~0ull << below(p, p->fabric.graph->params.planes);
	fabric_route(&p->fabric, &request, route);
	if (!route->error && !optics_claim(state, &route->path, &route->refusal))
		p->live_count++;
}

/* Reset: no element is held, all are parked and healthy, and one slice owns everything. */
static void tidy_up(struct pair *p)
{
	const struct optics_graph *graph = p->fabric.graph;
	struct optics_state *state = p->fabric.state;
	u32 i;

	for (i = 0; i < graph->elements_count; i++)
		if (!state->element_pins[i])
			optics_set_state(state, i, optics_park_state(graph, i));
	memset(state->element_marks, 0, graph->elements_count);
	memset(state->guide_marks, 0, graph->guides_count);
	memset(state->rx_dead, 0, graph->ports_count * sizeof(*state->rx_dead));
	fabric_own_all(&p->fabric, 0);
	while (p->live_count > LIVE_MAX / 4)
		optics_release(state, &p->live[--p->live_count].path);
}

/* Break or repair a part at random, or change the owner of a tile. */
static void change_state(struct pair *p)
{
	const struct optics_graph *graph = p->fabric.graph;
	struct optics_state *state = p->fabric.state;
	u32 what = below(p, 8);

	change_circuits(p);
	if (what == 0)
		state->guide_marks[below(p, graph->guides_count)] ^= OPTICS_UNHEALTHY;
	else if (what == 1)
		state->element_marks[below(p, graph->elements_count)] ^= OPTICS_CORDONED;
	else if (what == 2)
		state->rx_dead[below(p, graph->ports_count)] ^= 1ull << below(p, 4);
	else if (what == 3)
		state->owner[below(p, graph->accelerators_count)] = below(p, 3);
}

static struct optics_route_request random_request(struct pair *p, u32 *avoid)
{
	const struct optics_graph *graph = p->fabric.graph;
	u32 all = graph->accelerators_count, from = below(p, all);
	struct optics_route_request request =
		fabric_request(&p->fabric, from, (from + 1 + below(p, all - 1)) % all, 1);
	u32 step = graph->guides_count / AVOID_MAX, i;

	if (below(p, 2))
		request.lanes_allowed = 1ull << below(p, graph->params.wavelengths);
	else if (below(p, 3) == 0 && graph->params.wavelengths > 1)
		request.lanes_count = 2;
	request.transit_own = below(p, 3) == 0;
	if (below(p, 3) == 0)
		request.tx_planes = 1ull << below(p, graph->params.planes);
	if (below(p, 3) == 0)
		request.rx_planes = 1ull << below(p, graph->params.planes);
	if (below(p, 3) == 0) {
		for (i = 0; i < AVOID_MAX; i++)
			avoid[i] = i * step + below(p, step);
		request.avoid_guides = avoid;
		request.avoid_guides_count = AVOID_MAX;
	}
	return request;
}

/* Count the elements that a path needs switched. */
static u32 changes_of(const struct optics_state *state, const struct optics_path *path)
{
	u32 changes = 0, i;

	for (i = 0; i + 1 < path->hops_count; i++)
		changes += state->element_state[path->hops[i].element] != path->hops[i].state;
	return changes;
}

/* Ask both routers the same. For one wavelength the answer is exact. */
static void compare(struct pair *p)
{
	u32 avoid[AVOID_MAX];
	struct optics_route_request request = random_request(p, avoid);
	struct route directed, plain = { .path.hops = plain.hops };
	u64 lanes = request.lanes_allowed & p->fabric.graph->all_lanes;

	fabric_route(&p->fabric, &request, &directed);
	plain.error = optics_route(&p->plain.state, &request, p->fabric.work, &plain.path,
				   &plain.steps, &plain.refusal);
	p->compared++;
	if (directed.error == -EAGAIN || plain.error == -EAGAIN) {
		p->undecided++;
		return;
	}
	CHECK_EQUAL(directed.error, plain.error);
	CHECK_EQUAL(directed.refusal.reason, plain.refusal.reason);
	if (directed.error || plain.error)
		return;
	p->found++;
	p->steps += directed.steps;
	p->plain_steps += plain.steps;
	if (lanes & (lanes - 1))
		return;
	CHECK_EQUAL(directed.path.loss_mdb, plain.path.loss_mdb);
	CHECK_EQUAL(changes_of(p->fabric.state, &directed.path),
		    changes_of(p->fabric.state, &plain.path));
}

static void try_states(struct pair *p, u32 rounds)
{
	u32 i;

	p->seed = rounds;
	unbound_open(&p->plain, &p->fabric);
	check_consistent(&p->fabric, 0);
	check_consistent(&p->fabric, p->fabric.graph->accelerators_count - 1);
	for (i = 0; i < rounds && !tap_failed; i++) {
		if (i % 32 == 0)
			tidy_up(p);
		change_state(p);
		compare(p);
		if (i % 64 == 63)
			check_consistent(&p->fabric, below(p, p->fabric.graph->accelerators_count));
	}
	CHECK(p->found > rounds / 10);
	CHECK(p->undecided * 10 <= rounds);
	printf("# %s: %u compared, %u found, %u undecided; %llu steps, %llu without a bound\n",
	       p->fabric.graph->params.name, p->compared, p->found, p->undecided,
	       (unsigned long long)p->steps, (unsigned long long)p->plain_steps);
	unbound_close(&p->plain);
	fabric_close(&p->fabric);
}

static void try_profile(const char *name, u32 rounds)
{
	static struct pair p;

	memset(&p, 0, sizeof(p));
	if (open_profile(&p.fabric, name))
		try_states(&p, rounds);
}

static void server4_is_searched_as_without_bound(void)
{
	try_profile("server4", 2000);
}

static void server8_is_searched_as_without_bound(void)
{
	try_profile("server8", 2000);
}

static void server16_is_searched_as_without_bound(void)
{
	try_profile("server16", 2000);
}

static void smartlight72_is_searched_as_without_bound(void)
{
	try_profile("smartlight72", 2000);
}

static void rack64_is_searched_as_without_bound(void)
{
	try_profile("rack64", 500);
}

static void hexagons_made_at_random_are_searched_as_without_bound(void)
{
	static struct pair p;
	u32 seed;

	for (seed = 1; seed <= 4; seed++) {
		memset(&p, 0, sizeof(p));
		make_mesh(&p.fabric.maker, 3 + seed, 3, 3);
		fabric_open(&p.fabric, STEPS);
		try_states(&p, 400 + seed);
	}
}

/* On an empty fabric the router expands few elements beyond those of the path. */
static void try_empty(const char *name, u32 stride)
{
	u32 from, to, strayed = 0;
	struct fabric f;

	if (!open_profile(&f, name))
		return;
	for (from = 0; from < f.graph->accelerators_count; from++)
		for (to = from % stride; to < f.graph->accelerators_count; to += stride) {
			struct optics_route_request request = fabric_request(&f, from, to, 1);
			struct route r;

			if (from == to)
				continue;
			f.state->elements_visited = 0;
			fabric_route(&f, &request, &r);
			CHECK_EQUAL(r.error, 0);
			strayed += f.state->elements_visited > 3 * (r.path.hops_count - 1);
		}
	CHECK_EQUAL(strayed, 0);
	fabric_close(&f);
}

static void empty_interposer_is_crossed_straight(void)
{
	try_empty("server4", 1);
	try_empty("server8", 1);
	try_empty("server16", 1);
	try_empty("rack64", 5);
}

/* Without the search from the other end the router would search the whole rack, lane by lane. */
static void obstacle_at_either_end_is_proven_in_few_steps(void)
{
	u32 i, end;
	struct fabric f;

	if (!open_profile(&f, "rack64"))
		return;
	for (end = 0; end < 2; end++) {
		struct optics_route_request request = fabric_request(&f, 36, 0, 1);
		const u32 *ports = end ? f.graph->rx_guide : f.graph->tx_guide;
		u32 base = (end ? 0 : 36) * f.graph->params.planes;
		struct route r;

		for (i = 0; i < f.graph->params.planes; i++)
			f.state->element_pins[optics_far_end(f.graph, ports[base + i])->index]++;
		fabric_route(&f, &request, &r);
		CHECK_EQUAL(r.refusal.reason, OPTICS_BLOCKED);
		CHECK_EQUAL(r.refusal.part, OPTICS_PART_ELEMENT);
		CHECK(r.steps < STEPS / 4);
		for (i = 0; i < f.graph->params.planes; i++)
			f.state->element_pins[optics_far_end(f.graph, ports[base + i])->index]--;
	}
	fabric_close(&f);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(server4_is_searched_as_without_bound),
		TEST(server8_is_searched_as_without_bound),
		TEST(server16_is_searched_as_without_bound),
		TEST(smartlight72_is_searched_as_without_bound),
		TEST(rack64_is_searched_as_without_bound),
		TEST(hexagons_made_at_random_are_searched_as_without_bound),
		TEST(empty_interposer_is_crossed_straight),
		TEST(obstacle_at_either_end_is_proven_in_few_steps),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
