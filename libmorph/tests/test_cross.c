// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Internals of the tier across racks: slices built together in hand-made pods, and the faces of
 * racks.
 */
#include "../bench/random.h"
#include "../place/crossing.h"
#include "../place/gates.h"
#include "fake.h"

static struct cross cross;
static struct cross_pod pod;
static struct cross_shape shape;

/* ------------------------------------------------------------------------ pods */

static void add_arc(uint32_t from, uint32_t to, uint32_t group, uint32_t far_group, bool face)
{
	pod.arcs[from][pod.arcs_count[from]++] = (struct cross_arc){
		.to = (uint8_t)to,
		.group = (uint8_t)group,
		.far_group = (uint8_t)far_group,
		.face = face,
	};
}

/* One more link between two slots, in each rack. */
static void add_chord(uint32_t one, uint32_t other, uint32_t room)
{
	uint32_t group = pod.groups++;

	add_arc(one, other, group, 0, false);
	add_arc(other, one, group, 0, false);
	for (uint32_t rack = 0; rack < pod.racks; rack++)
		pod.room[rack][group] = (uint8_t)room;
}

/* Slots in a row. */
static void make_row(uint32_t racks, uint32_t seats, uint32_t room)
{
	memset(&pod, 0, sizeof(pod));
	pod.racks = racks;
	pod.seats = seats;
	for (uint32_t seat = 0; seat + 1 < seats; seat++)
		add_chord(seat, seat + 1, room);
	for (uint32_t rack = 0; rack < racks; rack++)
		pod.free[rack] = pod.pass[rack] = (1U << seats) - 1;
}

/* A link from the last slot of a rack to the first slot of any rack. */
static void add_face(void)
{
	uint32_t plus = pod.groups++, minus = pod.groups++;

	add_arc(pod.seats - 1, 0, plus, minus, true);
	add_arc(0, pod.seats - 1, minus, plus, true);
	for (uint32_t rack = 0; rack < pod.racks; rack++) {
		pod.room[rack][plus] = pod.room[rack][minus] = 1;
		pod.leads[rack][plus] = pod.leads[rack][minus] = (1ULL << pod.racks) - 1;
	}
}

/* ---------------------------------------------------------------------- books */

struct counted {
	uint16_t used[CROSS_RACKS][CROSS_GROUPS];
	uint32_t over, taken;
};

static void use(struct counted *counted, uint32_t rack, uint32_t group)
{
	counted->taken++;
	counted->over += counted->used[rack][group]++ >= pod.room[rack][group];
}

/* A path leads from one slot to the other over existing links. */
static void walk(struct counted *counted, const struct cross_way *way, cross_server from,
		 cross_server to)
{
	counted->over += !way->hops;
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		const struct cross_arc *arc = &pod.arcs[from % CROSS_SEATS][way->arcs[hop]];
		uint32_t rack = from / CROSS_SEATS;

		assert_true(way->arcs[hop] < pod.arcs_count[from % CROSS_SEATS]);
		assert_true(pod.room[rack][arc->group] > 0);
		use(counted, rack, arc->group);
		if (arc->face) {
			assert_true(pod.leads[rack][arc->group] >> (to / CROSS_SEATS) & 1);
			use(counted, to / CROSS_SEATS, arc->far_group);
		}
		from = cross_step(&pod, from, way->arcs[hop], to);
	}
	if (way->hops)
		assert_int_equal(from, to);
}

/* Links of paths are counted once. Each free server is in a slice or left over. */
static void check_books(void)
{
	const struct cross_found *found = &cross.found;
	struct counted counted = { .over = 0 };
	uint32_t seen[CROSS_RACKS] = { 0 }, hot = 0;

	for (uint32_t slice = 0; slice < found->slices; slice++) {
		const cross_server *servers = &found->servers[slice * shape.slots];

		for (uint32_t edge = 0; edge < shape.edges_count; edge++)
			for (uint32_t link = 0; link < shape.edges[edge].links; link++)
				walk(&counted,
				     &found->ways[slice * shape.links + shape.edges[edge].first +
						  link],
				     servers[shape.edges[edge].from],
				     servers[shape.edges[edge].to]);
	}
	assert_int_equal(cross.over, counted.over);
	assert_int_equal(cross.taken, counted.taken);
	assert_memory_equal(cross.used, counted.used, sizeof(counted.used));
	for (uint32_t rack = 0; rack < pod.racks; rack++)
		for (uint32_t group = 0; group < pod.groups; group++)
			hot += counted.used[rack][group] > pod.room[rack][group];
	assert_int_equal(cross.hot_count, hot);
	for (uint32_t at = 0; at < found->servers_count; at++) {
		seen[found->servers[at] / CROSS_SEATS] |= 1U << found->servers[at] % CROSS_SEATS;
		assert_int_equal(cross.place[found->servers[at]], at);
	}
	assert_memory_equal(seen, pod.free, sizeof(seen));
}

/* ---------------------------------------------------------------------- tests */

static void add_chords(uint32_t chords, uint32_t room, uint64_t *seed)
{
	while (chords--) {
		uint32_t one = random_below(seed, pod.seats);
		uint32_t other = random_below(seed, pod.seats);

		if (one != other)
			add_chord(one, other, room);
	}
}

/* Slices whose slots form a row, with at most @links links between neighbours. */
static void make_shape(uint32_t slots, uint32_t links, uint64_t *seed)
{
	lm_cross_shape_init(&shape, slots);
	for (uint32_t slot = 0; slot + 1 < slots; slot++)
		assert_true(
			lm_cross_shape_join(&shape, slot, slot + 1, 1 + random_below(seed, links)));
}

/* Build, and release unfinished slices. Returns the number of complete slices. */
static uint32_t build(uint32_t wanted, const struct cross_effort *effort, uint64_t seed)
{
	uint32_t over = lm_cross_build(&cross, &pod, &shape, wanted, effort, seed), stay;

	assert_int_equal(over, cross.over);
	assert_int_equal(cross.found.slices, wanted);
	check_books();
	stay = lm_cross_settle(&cross);
	assert_int_equal(stay, cross.found.slices);
	assert_int_equal(stay == wanted, over == 0);
	assert_int_equal(cross.over, 0);
	check_books();
	return stay;
}

/*
 * Few links, and slices with several links between servers. In the end each slice matches the
 * counts.
 */
static void whatever_is_built_is_counted(void **state)
{
	uint32_t built = 0, dropped = 0;
	uint64_t seed = 1;

	(void)state;
	for (uint32_t round = 0; round < 300; round++) {
		const struct cross_effort effort = {
			.moves = 400, .hot = 4, .cold = 0.2, .thrifty = random_below(&seed, 2)
		};
		uint32_t racks = 1 + random_below(&seed, 3), slots = 2 + random_below(&seed, 3);
		uint32_t wanted = 1 + random_below(&seed, racks * 6 / slots), stay;

		make_row(racks, 6, 1 + random_below(&seed, 3));
		add_chords(random_below(&seed, 4), 1, &seed);
		for (uint32_t face = random_below(&seed, 4); face; face--)
			add_face();
		make_shape(slots, 3, &seed);
		stay = build(wanted, &effort, round);
		built += stay == wanted;
		dropped += wanted - stay;
	}
	print_message("%u of 300 built, %u slices dropped of the others\n", built, dropped);
	assert_true(built > 50 && dropped > 50);
}

/*
 * Links of an edge are routed one by one, and the first can block the next. This happens if such an
 * edge has tried better paths before, which it keeps.
 */
static void worse_paths_are_dropped(void **state)
{
	const struct cross_effort effort = { .moves = 2000, .hot = 1, .cold = 0.2, .thrifty = true };
	uint64_t seed = 1;

	(void)state;
	for (uint32_t round = 0; round < 150; round++) {
		make_row(1, 24, 1);
		add_chord(0, 23, 1);
		add_chords(16, 1, &seed);
		make_shape(4, 4, &seed);
		build(6, &effort, round);
	}
}

/* Slices of two servers and one link. Each uses the next slots of a row. */
static void build_by_hand(const cross_server servers[][2], uint32_t slices)
{
	const struct cross_effort none = { .moves = 1, .hot = 1, .cold = 1 };

	/* Build nothing for an empty pod, with the counts of one. */
	assert_int_equal(lm_cross_build(&cross, &pod, &shape, 0, &none, 1), 0);
	for (uint32_t slice = 0; slice < slices; slice++) {
		for (uint32_t slot = 0; slot < 2; slot++) {
			uint32_t to = slice * 2 + slot, from = cross.place[servers[slice][slot]];
			cross_server other = cross.found.servers[to];

			cross.found.servers[to] = servers[slice][slot];
			cross.found.servers[from] = other;
			cross.place[servers[slice][slot]] = (uint16_t)to;
			cross.place[other] = (uint16_t)from;
		}
		cross.found.slices++;
		lm_cross_route(&cross, slice, 0);
	}
}

/* The slice that blocks two others leaves, and these stay. */
static void the_worst_slice_goes_first(void **state)
{
	static const cross_server servers[][2] = { { 0, 5 }, { 1, 2 }, { 3, 4 } };

	(void)state;
	make_row(1, 6, 1);
	lm_cross_shape_init(&shape, 2);
	assert_true(lm_cross_shape_join(&shape, 0, 1, 1));
	build_by_hand(servers, 3);
	assert_int_equal(cross.over, 2);
	assert_int_equal(lm_cross_excess(&cross, 0), 2);
	assert_int_equal(lm_cross_excess(&cross, 1), 1);
	assert_int_equal(lm_cross_excess(&cross, 2), 1);
	assert_int_equal(lm_cross_settle(&cross), 2);
	check_books();
	for (uint32_t slice = 0; slice < 2; slice++)
		assert_in_range(cross.found.servers[2 * slice], 1, 3);
}

/* A slice without any path for a link leaves, too. */
static void a_slice_without_a_path_is_removed(void **state)
{
	static const cross_server servers[][2] = { { 0, CROSS_SEATS }, { 1, 2 } };

	(void)state;
	make_row(2, 3, 1);
	lm_cross_shape_init(&shape, 2);
	assert_true(lm_cross_shape_join(&shape, 0, 1, 1));
	build_by_hand(servers, 2);
	assert_int_equal(cross.over, 1);
	assert_int_equal(lm_cross_excess(&cross, 0), 1);
	assert_int_equal(lm_cross_excess(&cross, 1), 0);
	assert_int_equal(lm_cross_settle(&cross), 1);
	check_books();
	assert_int_equal(cross.found.servers[0], 1);
}

/* ---------------------------------------------------------------------- faces */

#define MOST_LINKS (CROSS_ARCS + 1)

/* Two racks of two servers. Switches join each link of a rack's face with that of any other. */
static struct {
	struct sites sites;
	struct optics_graph graph;
	struct rack racks[2];
	u32 hosts[4], seat[4], rack_of[4], first[5];
	struct optics_guide guides[4 * MOST_LINKS]; /* that end nowhere */
	struct strand strands[8 * MOST_LINKS];
} faces;

/* The fibre out of a server's link, or into it. */
static u32 fibre(u32 host, u32 link, bool in)
{
	return (host * MOST_LINKS + link) * 2 + in;
}

/* All fibres and switches, except those of link 0 from server @from to server @to. */
static void make_faces(u32 links, u32 from, u32 to)
{
	u32 count = 0;

	memset(&faces, 0, sizeof(faces));
	for (u32 host = 0; host < 4; host++) {
		faces.hosts[host] = host;
		faces.seat[host] = host % 2;
		faces.rack_of[host] = host / 2;
		for (u32 other = 0; other < 4; other++)
			for (u32 link = 0; link < links && other % 2 != host % 2; link++)
				if (link || host != from || other != to)
					faces.strands[count++] = (struct strand){
						.from = host,
						.to = other,
						.guides_count = 2,
						.guides = { fibre(host, link, false),
							    fibre(other, link, true) },
					};
		faces.first[host + 1] = count;
	}
	faces.racks[0] = (struct rack){ .hosts_first = 0, .hosts_count = 2 };
	faces.racks[1] = (struct rack){ .hosts_first = 2, .hosts_count = 2 };
	for (u32 at = 0; at < ARRAY_SIZE(faces.guides); at++)
		faces.guides[at].end[0].type = faces.guides[at].end[1].type = MORPH_END_EDGE;
	faces.graph.guides = faces.guides;
	faces.graph.guides_count = ARRAY_SIZE(faces.guides);
	faces.graph.hosts_count = 4;
	faces.sites = (struct sites){ .graph = &faces.graph,
				      .racks_count = 2,
				      .racks = faces.racks,
				      .rack_hosts = faces.hosts,
				      .host_rack = faces.rack_of,
				      .host_seat = faces.seat,
				      .strands_count = count,
				      .strands_first = faces.first,
				      .strands = faces.strands };
}

/* Racks that a rack can reach over @link of the first slot's face. */
static uint64_t leads_of(const struct crossing *crossing, uint32_t rack, uint32_t link)
{
	uint32_t group = crossing->pod.arcs[0][link].group;

	assert_int_equal(crossing->out[rack][group], fibre(2 * rack, link, false));
	return crossing->leads[rack][group];
}

static void a_one_way_link_is_no_link(void **state)
{
	struct crossing *crossing = calloc(1, sizeof(*crossing));

	(void)state;
	assert_non_null(crossing);
	/*
	 * No light leads from the second slot of the second rack to the first slot of the first
	 * rack.
	 */
	make_faces(2, 3, 0);
	assert_int_equal(lm_crossing_find(crossing, &faces.sites), 0);
	assert_true(crossing->possible);
	assert_int_equal(leads_of(crossing, 0, 0), 1);
	assert_int_equal(leads_of(crossing, 0, 1), 3);
	assert_int_equal(leads_of(crossing, 1, 0), 3);
	free(crossing);
}

static void racks_beyond_the_limit_of_links_are_not_joined(void **state)
{
	struct crossing *crossing;

	(void)state;
	for (uint32_t links = CROSS_ARCS; links <= MOST_LINKS; links++) {
		crossing = calloc(1, sizeof(*crossing));
		assert_non_null(crossing);
		make_faces(links, UINT32_MAX, UINT32_MAX);
		assert_int_equal(lm_crossing_find(crossing, &faces.sites), 0);
		assert_int_equal(crossing->possible, links == CROSS_ARCS);
		free(crossing);
	}
}

/* Slots are in servers with space for their ranks after each exchange. */
static void slots_get_servers_that_are_large_enough(void **state)
{
	static const uint16_t takes[] = { 3, 2, 2, 1 };
	const struct cross_effort effort = { .moves = 2000, .hot = 6, .cold = 1, .thrifty = true };
	uint64_t seed = 4;
	uint32_t built = 0, none = 0;

	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		uint32_t over;

		make_row(2, 6, 4);
		add_face();
		for (uint32_t server = 0; server < CROSS_SERVERS; server++)
			pod.takes[server] = (uint16_t)random_below(&seed, 4);
		lm_cross_shape_init(&shape, 4);
		memcpy(shape.takes, takes, sizeof(takes));
		for (uint32_t slot = 1; slot < 4; slot++)
			assert_true(lm_cross_shape_join(&shape, slot - 1, slot, 1));
		over = lm_cross_build(&cross, &pod, &shape, 1, &effort, round);
		none += over == UINT32_MAX;
		if (over)
			continue;
		for (uint32_t slot = 0; slot < 4; slot++)
			assert_true(pod.takes[cross.found.servers[slot]] >= takes[slot]);
		check_books();
		built++;
	}
	print_message("# %u built, %u without a server for a slot\n", built, none);
	assert_true(built > 50 && none > 5);
}

/* ---------------------------------------------------------------------- gates */

enum {
	A,
	X,
	M,
	P,
	Q,
	R,
	U,
	V,
	W,
	ELEMENTS
};

#define PORTS 4

/* A server of one tile, whose elements carry one circuit each. */
static struct {
	struct optics_graph graph;
	struct optics_kind kind;
	struct morph_profile_state states[2];
	struct optics_element elements[ELEMENTS];
	struct optics_accelerator tile;
	struct optics_guide guides[16];
	u32 port_guide[ELEMENTS * PORTS];
	u32 ports[ELEMENTS]; /* in use */
} maze;

static struct optics_end port_of(u32 element, u32 code)
{
	u32 port = maze.ports[element]++;

	assert_in_range(port, 0, PORTS - 1);
	maze.port_guide[element * PORTS + port] = code;
	return (struct optics_end){ .index = element, .port = (u8)port, .type = MORPH_END_ELEMENT };
}

/* Join two elements; ELEMENTS: another server, or a receiver. */
static u32 join(u32 from, u32 to)
{
	u32 guide = maze.graph.guides_count++;
	struct optics_end *end = maze.guides[guide].end;

	end[0].type = MORPH_END_EDGE;
	if (from != ELEMENTS)
		end[0] = port_of(from, 2 * guide);
	end[1].type = MORPH_END_RX;
	if (to != ELEMENTS)
		end[1] = port_of(to, 2 * guide + 1);
	return 2 * guide;
}

static void make_maze(void)
{
	memset(&maze, 0, sizeof(maze));
	memset(maze.port_guide, 0xff, sizeof(maze.port_guide));
	memset(maze.states, MORPH_PORT_NONE, sizeof(maze.states));
	maze.states[1].joins[0] = 1;
	maze.states[1].joins[1] = 0;
	maze.kind = (struct optics_kind){ .ports = PORTS, .states = 2 };
	for (u32 at = 0; at < ELEMENTS; at++)
		maze.elements[at].first_port = at * PORTS;
	maze.graph = (struct optics_graph){ .kinds = &maze.kind,
					    .states = maze.states,
					    .elements = maze.elements,
					    .elements_count = ELEMENTS,
					    .port_guide = maze.port_guide,
					    .guides = maze.guides,
					    .accelerators = &maze.tile,
					    .accelerators_count = 1 };
}

/*
 * The first circuit takes the shortest path. It takes a longer one if the second circuit has no
 * other path.
 */
static void light_makes_room_for_more(void **state)
{
	struct gate gate = { .end_type = MORPH_END_RX };

	(void)state;
	make_maze();
	gate.sources[gate.sources_count++] = join(ELEMENTS, A);
	gate.sources[gate.sources_count++] = join(ELEMENTS, U);
	join(A, X);
	join(X, M);
	join(M, ELEMENTS);
	join(A, P);
	join(P, Q);
	join(Q, R);
	join(R, ELEMENTS);
	join(U, V);
	join(V, W);
	join(W, M);
	assert_int_equal(lm_gate_limits(&maze.graph, &gate, 1), 0);
	assert_int_equal(gate.limit, 2);
}

/*
 * Two fibres lead to one element. It carries the light of one, to the receiver or to the next
 * fibre.
 */
static void an_element_carries_the_circuits_of_its_states(void **state)
{
	struct gate gates[2] = { { .end_type = MORPH_END_RX }, { .end_type = MORPH_END_TX } };

	(void)state;
	make_maze();
	gates[0].sources[gates[0].sources_count++] = join(ELEMENTS, A);
	gates[0].sources[gates[0].sources_count++] = join(ELEMENTS, A);
	gates[0].sinks[gates[0].sinks_count++] = join(A, ELEMENTS);
	gates[1].sources[gates[1].sources_count++] = gates[0].sinks[0] ^ 1;
	assert_int_equal(lm_gate_limits(&maze.graph, gates, 2), 0);
	assert_int_equal(gates[0].limit, 1);
	assert_int_equal(gates[1].limit, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_is_built_is_counted),
		cmocka_unit_test(slots_get_servers_that_are_large_enough),
		cmocka_unit_test(worse_paths_are_dropped),
		cmocka_unit_test(the_worst_slice_goes_first),
		cmocka_unit_test(a_slice_without_a_path_is_removed),
		cmocka_unit_test(a_one_way_link_is_no_link),
		cmocka_unit_test(racks_beyond_the_limit_of_links_are_not_joined),
		cmocka_unit_test(light_makes_room_for_more),
		cmocka_unit_test(an_element_carries_the_circuits_of_its_states),
	};

	return cmocka_run_group_tests_name("cross", tests, NULL, NULL);
}
