// SPDX-License-Identifier: GPL-2.0-only
/* The router finds the best path, proves that there is none, or reports that it cannot decide. */
#include "maker.h"
#include "oracle.h"
#include "tap.h"

#define STEPS 4096

static void open_tiles(struct fabric *fabric, u32 width, u32 height, u32 planes, u32 wavelengths)
{
	make_interposer(&fabric->maker, width, height, planes, wavelengths);
	fabric_open(fabric, STEPS);
	fabric_own_all(fabric, 1);
}

static u32 element_of(u32 planes, u32 tile, u32 plane, u32 role)
{
	return (tile * planes + plane) * ROLES + role;
}

/* Route, validate and claim; return the reason of a failure. */
static u32 take(struct fabric *fabric, const struct optics_route_request *request,
		struct route *route)
{
	struct optics_view view = fabric_view(fabric);

	fabric_route(fabric, request, route);
	if (route->error)
		return route->refusal.reason;
	if (optics_claim(fabric->state, &route->path, &route->refusal))
		return route->refusal.reason;
	if (optics_validate(&view, &route->path, 1, request->owner, request->transit_own, NULL,
			    &route->refusal))
		return route->refusal.reason;
	return OPTICS_OK;
}

static void neighbour_route_is_short_and_valid(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;
	struct oracle *oracle;

	open_tiles(&f, 2, 2, 6, 16);
	request = fabric_request(&f, 0, 1, 1);
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	CHECK_EQUAL(r.path.hops_count, 5);
	CHECK_EQUAL(r.path.loss_mdb, 4 * 10 + 300 + 4 * 200);
	CHECK_EQUAL(r.path.loss_mdb, optics_path_loss(f.graph, &r.path));
	CHECK_EQUAL(r.path.lanes, 1);
	CHECK_EQUAL(r.path.tx, 0);
	CHECK_EQUAL(r.path.rx, 6);
	CHECK(r.steps > 0 && r.steps < 100);
	oracle = oracle_open(f.blob);
	CHECK(!oracle_add(oracle, &r.path));
	oracle_close(oracle);
	fabric_close(&f);
}

static void request_without_sense_is_refused(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;

	open_tiles(&f, 2, 1, 1, 4);
	request = fabric_request(&f, 0, 0, 1);
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_BAD_PORT);
	CHECK_EQUAL(r.error, -EINVAL);
	request = fabric_request(&f, 0, 1, 1);
	request.rx_accelerator = 2;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_BAD_PORT);
	request = fabric_request(&f, 0, 1, 1);
	request.tx_planes = 2;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_BAD_PORT);
	request = fabric_request(&f, 0, 1, 0);
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_LANES);
	request = fabric_request(&f, 0, 1, 5);
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_LANES);
	CHECK_EQUAL(r.error, -ENOSPC);
	CHECK_EQUAL(r.refusal.have, 4);
	CHECK_EQUAL(r.refusal.need, 5);
	fabric_close(&f);
}

static void lanes_are_taken_lowest_first_until_none_is_left(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;

	open_tiles(&f, 2, 1, 1, 4);
	request = fabric_request(&f, 0, 1, 2);
	request.lanes_allowed = 0xe;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	CHECK_EQUAL(r.path.lanes, 0x6);
	request.lanes_allowed = ~0ull;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	CHECK_EQUAL(r.path.lanes, 0x9);
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_BLOCKED);
	CHECK_EQUAL(r.error, -EBUSY);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_LASER);
	CHECK_EQUAL(r.refusal.have, 0);
	CHECK_EQUAL(r.refusal.need, 2);
	fabric_close(&f);
}

static void guide_avoided_or_full_is_gone_around(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;
	u32 direct;

	open_tiles(&f, 2, 2, 1, 4);
	request = fabric_request(&f, 0, 1, 1);
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	optics_release(f.state, &r.path);
	direct = r.hops[2].guide >> 1;
	request.avoid_guides = &direct;
	request.avoid_guides_count = 1;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	CHECK_EQUAL(r.path.hops_count, 9);
	optics_release(f.state, &r.path);
	request.avoid_guides_count = 0;
	f.state->guide_lanes[direct] = 0xf;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	CHECK_EQUAL(r.path.hops_count, 9);
	optics_release(f.state, &r.path);
	f.state->guide_lanes[direct] = 0x7;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	CHECK_EQUAL(r.path.hops_count, 5);
	CHECK_EQUAL(r.path.lanes, 0x8);
	/* Reserved lanes are as unavailable as claimed lanes. */
	optics_release(f.state, &r.path);
	f.state->guide_lanes[direct] = 0x1;
	f.state->guide_reserved[direct] = 0xa;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	CHECK_EQUAL(r.path.hops_count, 5);
	CHECK_EQUAL(r.path.lanes, 0x4);
	fabric_close(&f);
}

static void element_avoided_blocks_only_its_plane(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;
	u32 avoid;

	open_tiles(&f, 2, 1, 2, 4);
	avoid = element_of(2, 0, 0, ROLE_TX);
	request = fabric_request(&f, 0, 1, 1);
	request.avoid_elements = &avoid;
	request.avoid_elements_count = 1;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	CHECK_EQUAL(r.path.tx, 1);
	request.tx_planes = 1;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_NO_ROUTE);
	fabric_close(&f);
}

static void planes_never_meet_is_proven(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;

	open_tiles(&f, 2, 2, 2, 4);
	request = fabric_request(&f, 0, 3, 1);
	request.tx_planes = 1;
	request.rx_planes = 2;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_NO_ROUTE);
	CHECK_EQUAL(r.error, -EHOSTUNREACH);
	fabric_close(&f);
}

static void element_pinned_is_crossed_in_its_state_only(void)
{
	struct fabric f;
	struct route a, b;
	struct optics_route_request request;
	u32 pinned = element_of(1, 1, 0, ROLE_RX);

	/* A row of three: 0 -> 1 pins the receiver's selector of 1, so 2 -> 1 is impossible. */
	open_tiles(&f, 3, 1, 1, 4);
	request = fabric_request(&f, 0, 1, 1);
	CHECK_EQUAL(take(&f, &request, &a), OPTICS_OK);
	request = fabric_request(&f, 2, 1, 1);
	CHECK_EQUAL(take(&f, &request, &b), OPTICS_BLOCKED);
	CHECK_EQUAL(b.refusal.part, OPTICS_PART_ELEMENT);
	CHECK_EQUAL(b.refusal.index, pinned);
	request.ignore_claims = true;
	fabric_route(&f, &request, &b);
	CHECK_EQUAL(b.error, 0);
	/* A second circuit on other lanes shares all the pinned states. */
	request = fabric_request(&f, 0, 1, 3);
	CHECK_EQUAL(take(&f, &request, &b), OPTICS_OK);
	CHECK_EQUAL(b.path.lanes, 0xe);
	CHECK_EQUAL(f.state->element_pins[pinned], 2);
	fabric_close(&f);
}

static void hardware_broken_is_named(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;
	u32 broken = element_of(1, 1, 0, ROLE_RX);

	open_tiles(&f, 2, 1, 1, 4);
	request = fabric_request(&f, 0, 1, 1);
	f.state->element_marks[broken] = OPTICS_UNHEALTHY;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_UNUSABLE);
	CHECK_EQUAL(r.error, -EIO);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_ELEMENT);
	CHECK_EQUAL(r.refusal.index, broken);
	f.state->element_marks[broken] = 0;
	f.state->rx_dead[1] = 0xf;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_UNUSABLE);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_RECEIVER);
	f.state->rx_dead[1] = 0x1;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	CHECK_EQUAL(r.path.lanes, 0x2);
	fabric_close(&f);
}

/* One lane is dead at the laser, the other at the receiver: no part of the path is to blame. */
static void lanes_dead_at_different_ends_leave_none(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;

	open_tiles(&f, 2, 1, 1, 2);
	f.state->tx_dead[0] = 0x1;
	f.state->rx_dead[1] = 0x2;
	request = fabric_request(&f, 0, 1, 1);
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_UNUSABLE);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_NONE);
	CHECK_EQUAL(r.refusal.have, 0);
	CHECK_EQUAL(r.refusal.need, 1);
	/* The result is the same if the router ignores all holders. */
	request.ignore_claims = true;
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.refusal.reason, OPTICS_UNUSABLE);
	fabric_close(&f);
}

static void transit_own_keeps_off_foreign_tiles(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;

	open_tiles(&f, 3, 1, 1, 4);
	request = fabric_request(&f, 0, 2, 1);
	f.state->owner[1] = 2;
	request.transit_own = true;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_BLOCKED);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_ACCELERATOR);
	CHECK_EQUAL(r.refusal.index, 1);
	f.state->owner[1] = 0;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	optics_release(f.state, &r.path);
	f.state->owner[1] = 2;
	request.transit_own = false;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	fabric_close(&f);
}

static void budget_too_small_gives_up(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;

	open_tiles(&f, 8, 8, 1, 4);
	request = fabric_request(&f, 0, 63, 1);
	request.steps = 20;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_GAVE_UP);
	CHECK_EQUAL(r.error, -EAGAIN);
	CHECK_EQUAL(r.refusal.need, 20);
	request.steps = STEPS;
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	fabric_close(&f);
}

/*
 * Two paths to the middle, the cheap one with lane 1 free, the expensive one with lane 0. After the
 * middle only lane 0 is free. A label for the middle has the lanes of the cheap path. The router
 * must still find one wavelength.
 */
static void open_diamond(struct fabric *fabric, u32 wavelengths)
{
	struct maker *maker = &fabric->maker;
	u32 kind;

	maker_init(maker, 1, wavelengths);
	kind = maker_kind(maker, "selector", 3, 100, 35000);
	maker_state(maker, "0-1");
	maker_state(maker, "0-2");
	maker_host(maker);
	maker_accelerator(maker, 0);
	maker_accelerator(maker, 0);
	maker_element(maker, kind, OPTICS_NONE);
	maker_element(maker, kind, OPTICS_NONE);
	maker_element(maker, kind, OPTICS_NONE);
	maker_guide(maker, TX(0, 0), AT(0, 0), 10);
	maker_guide(maker, AT(0, 1), AT(1, 1), 10);
	maker_guide(maker, AT(0, 2), AT(1, 2), 500);
	maker_guide(maker, AT(1, 0), AT(2, 0), 10);
	maker_guide(maker, AT(2, 1), RX(1, 0), 10);
	maker_guide(maker, TX(1, 0), RX(0, 0), 10);
	fabric_open(fabric, 64);
	fabric->state->guide_lanes[1] = 0x1;
	fabric->state->guide_lanes[2] = 0x2;
	fabric->state->guide_lanes[4] = 0x2;
}

static void expensive_path_is_found_when_the_cheap_one_lacks_the_lane(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;

	open_diamond(&f, 2);
	request = fabric_request(&f, 0, 1, 1);
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.error, 0);
	CHECK_EQUAL(r.path.lanes, 0x1);
	CHECK_EQUAL(r.hops[1].guide >> 1, 2);
	f.state->guide_lanes[2] = 0x3;
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.refusal.reason, OPTICS_BLOCKED);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_NONE); /* no single guide blocks it */
	CHECK_EQUAL(r.refusal.have, 0);
	CHECK_EQUAL(r.refusal.need, 1);
	f.state->guide_lanes[1] = 0x3;
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_GUIDE);
	CHECK_EQUAL(r.refusal.index, 1);
	fabric_close(&f);
}

static void lanes_wanted_together_are_blocked_only_when_proven(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;

	open_diamond(&f, 2);
	request = fabric_request(&f, 0, 1, 2);
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.refusal.reason, OPTICS_BLOCKED);
	f.state->guide_lanes[1] = 0;
	f.state->guide_lanes[2] = 0;
	f.state->guide_lanes[4] = 0;
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.error, 0);
	CHECK_EQUAL(r.path.lanes, 0x3);
	fabric_close(&f);
}

static void lanes_requested_together_are_undecided_where_paths_merge(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;

	/*
	 * The cheap path lacks lane 2, the expensive one lane 1, the end lane 0: each has two left.
	 */
	open_diamond(&f, 3);
	f.state->guide_lanes[1] = 0x4;
	f.state->guide_lanes[2] = 0x2;
	f.state->guide_lanes[4] = 0x1;
	request = fabric_request(&f, 0, 1, 2);
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.refusal.reason, OPTICS_GAVE_UP);
	/* With one lane fewer at the end, no path has two: proven. */
	f.state->guide_lanes[4] = 0x3;
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.refusal.reason, OPTICS_BLOCKED);
	fabric_close(&f);
}

/* One cell whose ports 1 and @back are joined by a loop; its receiver is at port @out. */
static void open_loop(struct fabric *fabric, const char *first, const char *second, u8 back, u8 out)
{
	struct maker *maker = &fabric->maker;
	u32 kind;

	maker_init(maker, 1, 1);
	kind = maker_kind(maker, "cell", 4, 100, 35000);
	maker_state(maker, first);
	maker_state(maker, second);
	maker_host(maker);
	maker_accelerator(maker, 0);
	maker_accelerator(maker, 0);
	maker_element(maker, kind, OPTICS_NONE);
	maker_guide(maker, TX(0, 0), AT(0, 0), 10);
	maker_guide(maker, AT(0, 1), AT(0, back), 10);
	maker_guide(maker, AT(0, out), RX(1, 0), 10);
	maker_guide(maker, TX(1, 0), RX(0, 0), 10);
	fabric_open(fabric, 64);
}

static void element_crossed_twice_must_keep_its_state(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;

	open_loop(&f, "0-1 2-3", "", 2, 3);
	request = fabric_request(&f, 0, 1, 1);
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
	CHECK_EQUAL(r.path.hops_count, 3);
	CHECK_EQUAL(f.state->element_pins[0], 2);
	fabric_close(&f);
	/* Light would need the cell in two states at once. The router cannot prove that. */
	open_loop(&f, "0-1", "2-3", 2, 3);
	request = fabric_request(&f, 0, 1, 1);
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_GAVE_UP);
	fabric_close(&f);
	/* No light can reach a port that no state joins to another. */
	open_loop(&f, "0-1", "0-2", 2, 3);
	request = fabric_request(&f, 0, 1, 1);
	CHECK_EQUAL(take(&f, &request, &r), OPTICS_NO_ROUTE);
	fabric_close(&f);
}

static void direct_guide_is_a_route_of_one_hop(void)
{
	struct fabric f;
	struct route r;
	struct optics_route_request request;

	open_diamond(&f, 2);
	request = fabric_request(&f, 1, 0, 2);
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.error, 0);
	CHECK_EQUAL(r.path.hops_count, 1);
	CHECK_EQUAL(r.path.loss_mdb, 10);
	fabric_close(&f);
}

/* Plane 0 leads straight to the receiver, plane 1 through an element. */
static void direct_guide_is_preferred_to_a_path_through_an_element(void)
{
	struct fabric f;
	struct route r;
	struct maker *maker = &f.maker;
	struct optics_route_request request;

	maker_init(maker, 2, 1);
	maker_kind(maker, "pass", 2, 100, 35000);
	maker_state(maker, "0-1");
	maker_host(maker);
	maker_accelerator(maker, 0);
	maker_accelerator(maker, 0);
	maker_element(maker, 0, OPTICS_NONE);
	maker_guide(maker, TX(0, 0), RX(1, 0), 500);
	maker_guide(maker, TX(0, 1), AT(0, 0), 10);
	maker_guide(maker, AT(0, 1), RX(1, 1), 10);
	maker_guide(maker, TX(1, 0), RX(0, 0), 10);
	maker_guide(maker, TX(1, 1), RX(0, 1), 10);
	fabric_open(&f, 64);
	request = fabric_request(&f, 0, 1, 1);
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.error, 0);
	CHECK_EQUAL(r.path.loss_mdb, 120);
	f.state->tx_lanes[1] = 0x1;
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.error, 0);
	CHECK_EQUAL(r.path.loss_mdb, 500);
	fabric_close(&f);
}

/*
 * Two paths around a square have equal loss. The router takes the one with fewer elements to
 * switch: if its elements are all set, if all but the first are, or if only the last one is.
 */
static void state_already_there_is_preferred(void)
{
	static const u32 from[] = { 0, 1, 5 };
	u32 first_guide = OPTICS_NONE, way, i, hop;

	for (i = 0; i < 2 * ARRAY_SIZE(from); i++) {
		struct optics_route_request request;
		struct route r, again;
		struct fabric f;

		way = i % 2;
		open_tiles(&f, 2, 2, 1, 4);
		request = fabric_request(&f, 0, 3, 1);
		request.avoid_guides = &first_guide;
		request.avoid_guides_count = way;
		fabric_route(&f, &request, &r);
		CHECK_EQUAL(r.error, 0);
		CHECK_EQUAL(r.path.hops_count, 7);
		CHECK(!way || r.hops[2].guide >> 1 != first_guide);
		first_guide = r.hops[2].guide >> 1;
		for (hop = from[i / 2]; hop + 1 < r.path.hops_count; hop++)
			optics_set_state(f.state, r.hops[hop].element, r.hops[hop].state);
		request.avoid_guides_count = 0;
		fabric_route(&f, &request, &again);
		CHECK_EQUAL(again.hops[2].guide >> 1, first_guide);
		fabric_close(&f);
	}
}

static void visits_follow_the_slice_not_the_fabric(void)
{
	static const u32 sides[] = { 8, 16 };
	u64 elements[2], lanes[2];
	u32 i;

	for (i = 0; i < 2; i++) {
		struct fabric f;
		struct route r;
		struct optics_route_request request;
		u32 middle;

		/* The same pair in the middle of a small and of a large fabric. */
		open_tiles(&f, sides[i], sides[i], 2, 16);
		middle = sides[i] / 2 * sides[i] + sides[i] / 2;
		request = fabric_request(&f, middle - 1, middle, 2);
		CHECK_EQUAL(take(&f, &request, &r), OPTICS_OK);
		optics_release(f.state, &r.path);
		elements[i] = f.state->elements_visited;
		lanes[i] = f.state->lanes_visited;
		CHECK(elements[i] > 0 && lanes[i] > 0);
		fabric_close(&f);
	}
	CHECK_EQUAL(elements[0], elements[1]);
	CHECK_EQUAL(lanes[0], lanes[1]);
}

static void mesh_cell_is_shared_by_its_two_arms(void)
{
	struct fabric f;
	struct oracle *oracle;
	u32 a, b, shared = 0;
	u64 seed = 7;

	make_mesh(&f.maker, 4, 3, 2);
	fabric_open(&f, STEPS);
	fabric_own_all(&f, 1);
	oracle = oracle_open(f.blob);
	for (a = 0; a < 200; a++) {
		u32 to = next_random(&seed) % f.graph->accelerators_count;
		u32 from = next_random(&seed) % f.graph->accelerators_count;
		struct optics_route_request request = fabric_request(&f, from, to, 1);
		struct route r;

		if (request.tx_accelerator == request.rx_accelerator)
			continue;
		if (take(&f, &request, &r) == OPTICS_OK) {
			const char *wrong = oracle_add(oracle, &r.path);

			CHECK(!wrong);
		}
	}
	for (b = 0; b < f.graph->elements_count; b++)
		shared += f.state->element_pins[b] > 1;
	CHECK(shared > 0);
	oracle_close(oracle);
	fabric_close(&f);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(neighbour_route_is_short_and_valid),
		TEST(request_without_sense_is_refused),
		TEST(lanes_are_taken_lowest_first_until_none_is_left),
		TEST(guide_avoided_or_full_is_gone_around),
		TEST(element_avoided_blocks_only_its_plane),
		TEST(planes_never_meet_is_proven),
		TEST(element_pinned_is_crossed_in_its_state_only),
		TEST(hardware_broken_is_named),
		TEST(lanes_dead_at_different_ends_leave_none),
		TEST(transit_own_keeps_off_foreign_tiles),
		TEST(budget_too_small_gives_up),
		TEST(expensive_path_is_found_when_the_cheap_one_lacks_the_lane),
		TEST(lanes_wanted_together_are_blocked_only_when_proven),
		TEST(lanes_requested_together_are_undecided_where_paths_merge),
		TEST(element_crossed_twice_must_keep_its_state),
		TEST(direct_guide_is_a_route_of_one_hop),
		TEST(direct_guide_is_preferred_to_a_path_through_an_element),
		TEST(state_already_there_is_preferred),
		TEST(visits_follow_the_slice_not_the_fabric),
		TEST(mesh_cell_is_shared_by_its_two_arms),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
