// SPDX-License-Identifier: GPL-2.0-only
/* Long paths: obstacles beyond the first search, more guides than a path can have, and no bound. */
#include "maker.h"
#include "optics/search.h"
#include "tap.h"

/*
 * The first search, with an eighth of the steps, ends inside either half of this fabric; all steps
 * are enough.
 */
#define STEPS 48

/* Two accelerators, and a kind of element that light crosses straight. */
static u32 chain_begin(struct maker *maker, u32 wavelengths, u32 loss_mdb)
{
	u32 kind;

	maker_init(maker, 1, wavelengths);
	kind = maker_kind(maker, "pass", 2, loss_mdb, 99999);
	maker_state(maker, "0-1");
	maker_host(maker);
	maker_accelerator(maker, 0);
	maker_accelerator(maker, 0);
	return kind;
}

/* Add @count elements in a row behind @from, all on @tile; return the end of the last one. */
static struct place chain_go_on(struct maker *maker, struct place from, u32 count, u32 kind,
				u32 tile)
{
	while (count--) {
		u32 element = maker_element(maker, kind, tile);

		maker_guide(maker, from, AT(element, 0), 10);
		from = AT(element, 1);
	}
	return from;
}

static void chain_end(struct fabric *fabric, struct place from, u32 steps)
{
	maker_guide(&fabric->maker, from, RX(1, 0), 10);
	maker_guide(&fabric->maker, TX(1, 0), RX(0, 0), 10);
	fabric_open(fabric, steps);
	fabric_own_all(fabric, 1);
}

/* From accelerator 0 to 1 through @count elements: guide i is the i-th of the path. */
static void open_chain(struct fabric *fabric, u32 count, u32 steps)
{
	u32 kind = chain_begin(&fabric->maker, 1, 100);
	struct place last;

	last = chain_go_on(&fabric->maker, TX(0, 0), count, kind, OPTICS_NONE);
	chain_end(fabric, last, steps);
}

static void route_over(struct fabric *fabric, struct route *route)
{
	struct optics_route_request request = fabric_request(fabric, 0, 1, 1);

	fabric_route(fabric, &request, route);
}

static void path_with_too_many_guides_is_not_found(void)
{
	struct fabric f;
	struct route r;

	open_chain(&f, OPTICS_MAX_HOPS - 1, 1024);
	route_over(&f, &r);
	CHECK_EQUAL(r.error, 0);
	CHECK_EQUAL(r.path.hops_count, OPTICS_MAX_HOPS);
	fabric_close(&f);
	/* There is a path. That the router cannot take it does not prove that there is none. */
	open_chain(&f, OPTICS_MAX_HOPS, 1024);
	route_over(&f, &r);
	CHECK_EQUAL(r.refusal.reason, OPTICS_GAVE_UP);
	fabric_close(&f);
}

static void obstacle_far_from_both_ends_is_named(void)
{
	struct fabric f;
	struct route r;

	open_chain(&f, 24, STEPS);
	f.state->guide_lanes[12] = 0x1;
	route_over(&f, &r);
	CHECK_EQUAL(r.refusal.reason, OPTICS_BLOCKED);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_GUIDE);
	CHECK_EQUAL(r.refusal.index, 12);
	fabric_close(&f);
}

/*
 * The cheap path around the middle lacks the lane that is free after it. The router detects that
 * after a complete search. Then it must have steps left to search for each lane.
 */
static void expensive_path_far_from_both_ends_is_found(void)
{
	u32 pass, fork, lacking, wanted;
	struct place from;
	struct fabric f;
	struct route r;

	pass = chain_begin(&f.maker, 2, 100);
	fork = maker_kind(&f.maker, "fork", 3, 100, 35000);
	maker_state(&f.maker, "0-1");
	maker_state(&f.maker, "0-2");
	from = chain_go_on(&f.maker, TX(0, 0), 12, pass, OPTICS_NONE);
	from = chain_go_on(&f.maker, from, 1, fork, OPTICS_NONE);
	maker_element(&f.maker, fork, OPTICS_NONE);
	lacking = maker_guide(&f.maker, from, AT(from.index + 1, 1), 10);
	maker_guide(&f.maker, AT(from.index, 2), AT(from.index + 1, 2), 500);
	from = chain_go_on(&f.maker, AT(from.index + 1, 0), 12, pass, OPTICS_NONE);
	chain_end(&f, from, STEPS);
	wanted = f.graph->rx_guide[1] >> 1;
	f.state->guide_lanes[lacking] = 0x1;
	f.state->guide_lanes[wanted] = 0x2;
	route_over(&f, &r);
	CHECK_EQUAL(r.error, 0);
	CHECK_EQUAL(r.path.lanes, 0x1);
	CHECK_EQUAL(r.path.loss_mdb, 26 * 100 + 26 * 10 + 500);
	fabric_close(&f);
}

/*
 * Compare the bound before each element of a path with the bound after it and the loss in between.
 */
static u32 count_falls(struct fabric *fabric, const struct optics_path *path)
{
	struct optics_route_request request = fabric_request(fabric, 0, 1, 1);
	struct search search = { .state = fabric->state,
				 .graph = fabric->graph,
				 .request = &request,
				 .effort_limit = OPTICS_NONE };
	u32 falls = 0, left = 0, hop;

	optics_search_init(&search, fabric->work, fabric->steps);
	optics_tolls_start(&search);
	CHECK(optics_tolls_continue(&search));
	for (hop = path->hops_count - 1; hop--;) {
		const struct optics_end *end = optics_far_end(fabric->graph, path->hops[hop].guide);
		u32 kind = fabric->graph->elements[end->index].kind;
		u32 bound = optics_toll(&search, path->hops[hop].guide, end);

		left += optics_cost(fabric->graph->kinds[kind].loss_mdb + 10, 0);
		falls += bound == OPTICS_NONE || bound > left;
		left = bound;
	}
	return falls;
}

/* A tile that light crosses with so much loss that the router works without the bound. */
static void tile_too_large_for_the_bound_is_crossed_without(void)
{
	static const u32 on_tile[] = { 4, 24 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(on_tile); i++) {
		struct fabric f;
		struct route r;
		u32 kind = chain_begin(&f.maker, 1, 99000);
		struct place from = chain_go_on(&f.maker, TX(0, 0), on_tile[i], kind, 0);

		from = chain_go_on(&f.maker, from, 2, kind, 1);
		chain_end(&f, from, STEPS);
		route_over(&f, &r);
		CHECK_EQUAL(r.error, 0);
		CHECK_EQUAL(r.path.hops_count, on_tile[i] + 3);
		CHECK_EQUAL(r.path.loss_mdb, (on_tile[i] + 2) * 99000 + (on_tile[i] + 3) * 10);
		CHECK_EQUAL(count_falls(&f, &r.path), 0);
		fabric_close(&f);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(path_with_too_many_guides_is_not_found),
		TEST(obstacle_far_from_both_ends_is_named),
		TEST(expensive_path_far_from_both_ends_is_found),
		TEST(tile_too_large_for_the_bound_is_crossed_without),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
