// SPDX-License-Identifier: GPL-2.0-only
/* Claims are all or nothing, and counted. */
#include "maker.h"
#include "tap.h"

/* Two accelerators, one cell: 0 -> 1 by the arm 0-1 and 1 -> 0 by 2-3, or crossed. */
static void open_cell(struct fabric *fabric)
{
	struct maker *maker = &fabric->maker;
	u32 kind;

	maker_init(maker, 1, 4);
	kind = maker_kind(maker, "cell", 4, 250, 35000);
	maker_state(maker, "0-1 2-3");
	maker_state(maker, "0-2 1-3");
	maker_host(maker);
	maker_accelerator(maker, 0);
	maker_accelerator(maker, 0);
	maker_element(maker, kind, OPTICS_NONE);
	maker_guide(maker, TX(0, 0), AT(0, 0), 100);
	maker_guide(maker, AT(0, 1), RX(1, 0), 100);
	maker_guide(maker, TX(1, 0), AT(0, 3), 100);
	maker_guide(maker, AT(0, 2), RX(0, 0), 100);
	fabric_open(fabric, 64);
}

/* The circuit from @from through the cell's bar state. */
static void bar_path(struct route *route, u32 from, u64 lanes)
{
	memset(route, 0, sizeof(*route));
	route->hops[0] = (struct optics_hop){ from * 4, 0, 0 };
	route->hops[1] = (struct optics_hop){ from * 4 + 2, OPTICS_NONE, 0 };
	route->path = (struct optics_path){
		.tx = from, .rx = !from, .lanes = lanes, .hops_count = 2, .hops = route->hops
	};
}

static void *snapshot(const struct fabric *fabric)
{
	u64 bytes = optics_state_bytes(fabric->graph);

	return memcpy(malloc((size_t)bytes), fabric->state, (size_t)bytes);
}

/* Is the ledger unchanged, except for its counters? */
static bool same(const struct fabric *fabric, void *before)
{
	struct optics_state *old = before;

	old->elements_visited = fabric->state->elements_visited;
	old->lanes_visited = fabric->state->lanes_visited;
	return !memcmp(before, fabric->state, (size_t)optics_state_bytes(fabric->graph));
}

static void claim_marks_all_that_the_path_uses(void)
{
	struct fabric f;
	struct route r;

	open_cell(&f);
	bar_path(&r, 0, 0x3);
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), 0);
	CHECK_EQUAL(f.state->element_pins[0], 1);
	CHECK_EQUAL(f.state->element_state[0], 0);
	CHECK_EQUAL(f.state->guide_lanes[0], 0x3);
	CHECK_EQUAL(f.state->guide_lanes[1], 0x3);
	CHECK_EQUAL(f.state->guide_lanes[2], 0);
	CHECK_EQUAL(f.state->tx_lanes[0], 0x3);
	CHECK_EQUAL(f.state->rx_lanes[1], 0x3);
	CHECK_EQUAL(f.state->elements_visited, 1);
	CHECK_EQUAL(f.state->lanes_visited, 4);
	fabric_close(&f);
}

static void release_restores_every_byte(void)
{
	struct fabric f;
	struct route r;
	void *before;

	open_cell(&f);
	before = snapshot(&f);
	bar_path(&r, 0, 0x3);
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), 0);
	CHECK(!same(&f, before));
	optics_release(f.state, &r.path);
	CHECK(same(&f, before));
	free(before);
	fabric_close(&f);
}

static void second_claim_is_that_of_the_first(void)
{
	struct fabric f;
	struct route r;
	void *claimed;

	open_cell(&f);
	bar_path(&r, 0, 0x3);
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), 0);
	claimed = snapshot(&f);
	optics_release(f.state, &r.path);
	CHECK(!same(&f, claimed));
	optics_claim_again(f.state, &r.path);
	CHECK(same(&f, claimed));
	free(claimed);
	fabric_close(&f);
}

static void element_shared_in_one_state_is_pinned_until_both_left(void)
{
	struct fabric f;
	struct route a, b;

	open_cell(&f);
	bar_path(&a, 0, 0x1);
	bar_path(&b, 1, 0x1);
	CHECK_EQUAL(optics_claim(f.state, &a.path, &a.refusal), 0);
	CHECK_EQUAL(optics_claim(f.state, &b.path, &b.refusal), 0);
	CHECK_EQUAL(f.state->element_pins[0], 2);
	optics_release(f.state, &a.path);
	CHECK_EQUAL(f.state->element_pins[0], 1);
	optics_release(f.state, &b.path);
	CHECK_EQUAL(f.state->element_pins[0], 0);
	fabric_close(&f);
}

static void element_is_parked_with_its_last_claim(void)
{
	struct fabric f;
	struct route a, b;
	void *before;

	open_cell(&f);
	before = snapshot(&f);
	bar_path(&a, 0, 0x1);
	bar_path(&b, 1, 0x1);
	a.hops[0].state = b.hops[0].state = 1;
	CHECK_EQUAL(optics_claim(f.state, &a.path, &a.refusal), 0);
	CHECK_EQUAL(optics_claim(f.state, &b.path, &b.refusal), 0);
	optics_release_parked(f.state, &a.path);
	CHECK_EQUAL(f.state->element_state[0], 1);
	optics_release_parked(f.state, &b.path);
	CHECK(same(&f, before));
	free(before);
	fabric_close(&f);
}

static void element_pinned_in_another_state_is_refused(void)
{
	struct fabric f;
	struct route a, b;
	void *before;

	open_cell(&f);
	bar_path(&a, 0, 0x1);
	CHECK_EQUAL(optics_claim(f.state, &a.path, &a.refusal), 0);
	before = snapshot(&f);
	bar_path(&b, 1, 0x2);
	b.hops[0].state = 1;
	CHECK_EQUAL(optics_claim(f.state, &b.path, &b.refusal), -EBUSY);
	CHECK_EQUAL(b.refusal.reason, OPTICS_ELEMENT_PINNED);
	CHECK_EQUAL(b.refusal.part, OPTICS_PART_ELEMENT);
	CHECK_EQUAL(b.refusal.index, 0);
	CHECK_EQUAL(b.refusal.have, 0);
	CHECK_EQUAL(b.refusal.need, 1);
	CHECK(same(&f, before));
	free(before);
	fabric_close(&f);
}

static void lanes_in_use_are_refused_and_nothing_is_claimed(void)
{
	struct fabric f;
	struct route r;
	void *before;

	open_cell(&f);
	f.state->guide_lanes[1] = 0x2;
	before = snapshot(&f);
	bar_path(&r, 0, 0x3);
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), -ENOSPC);
	CHECK_EQUAL(r.refusal.reason, OPTICS_LANES);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_GUIDE);
	CHECK_EQUAL(r.refusal.index, 1);
	CHECK_EQUAL(r.refusal.have, 1);
	CHECK_EQUAL(r.refusal.need, 2);
	CHECK(same(&f, before));
	free(before);
	fabric_close(&f);
}

/* Claimed lanes may be returned, and reserved lanes stay reserved. */
static void reserved_lanes_are_refused_and_stay_reserved(void)
{
	struct fabric f;
	struct route r;
	void *before;

	open_cell(&f);
	bar_path(&r, 0, 0x3);
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), 0);
	f.state->guide_reserved[1] = 0x2;
	optics_release(f.state, &r.path);
	CHECK_EQUAL(f.state->guide_lanes[1], 0);
	CHECK_EQUAL(f.state->guide_reserved[1], 0x2);
	before = snapshot(&f);
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), -ENOSPC);
	CHECK_EQUAL(r.refusal.reason, OPTICS_LANES);
	CHECK_EQUAL(r.refusal.index, 1);
	CHECK_EQUAL(r.refusal.have, 1);
	CHECK(same(&f, before));
	free(before);
	fabric_close(&f);
}

static void ports_busy_or_dead_are_refused(void)
{
	struct fabric f;
	struct route r;

	open_cell(&f);
	bar_path(&r, 0, 0x3);
	f.state->tx_lanes[0] = 0x1;
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), -EBUSY);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_LASER);
	f.state->tx_lanes[0] = 0;
	f.state->rx_lanes[1] = 0x2;
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), -EBUSY);
	CHECK_EQUAL(r.refusal.reason, OPTICS_PORT_BUSY);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_RECEIVER);
	CHECK_EQUAL(r.refusal.index, 1);
	f.state->rx_lanes[1] = 0;
	f.state->rx_dead[1] = 0x2;
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), -EIO);
	CHECK_EQUAL(r.refusal.reason, OPTICS_UNUSABLE);
	fabric_close(&f);
}

static void unhealthy_parts_are_refused(void)
{
	struct fabric f;
	struct route r;

	open_cell(&f);
	bar_path(&r, 0, 0x1);
	f.state->element_marks[0] = OPTICS_UNHEALTHY;
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), -EIO);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_ELEMENT);
	f.state->element_marks[0] = 0;
	f.state->guide_marks[1] = OPTICS_CORDONED;
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), -EIO);
	CHECK_EQUAL(r.refusal.part, OPTICS_PART_GUIDE);
	CHECK_EQUAL(r.refusal.index, 1);
	fabric_close(&f);
}

static void path_that_meets_itself_is_refused(void)
{
	struct fabric f;
	struct route r;
	void *before;

	open_cell(&f);
	before = snapshot(&f);
	bar_path(&r, 0, 0x1);
	r.hops[1] = (struct optics_hop){ 2, 0, 1 };
	r.hops[2] = (struct optics_hop){ 6, OPTICS_NONE, 0 };
	r.path.hops_count = 3;
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), -EBUSY);
	CHECK_EQUAL(r.refusal.reason, OPTICS_ELEMENT_PINNED);
	r.hops[1].state = 0;
	r.hops[2].guide = 0;
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), -ENOSPC);
	r.path.hops_count = 0;
	CHECK_EQUAL(optics_claim(f.state, &r.path, &r.refusal), -EINVAL);
	CHECK(same(&f, before));
	free(before);
	fabric_close(&f);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(claim_marks_all_that_the_path_uses),
		TEST(release_restores_every_byte),
		TEST(second_claim_is_that_of_the_first),
		TEST(element_shared_in_one_state_is_pinned_until_both_left),
		TEST(element_is_parked_with_its_last_claim),
		TEST(element_pinned_in_another_state_is_refused),
		TEST(lanes_in_use_are_refused_and_nothing_is_claimed),
		TEST(reserved_lanes_are_refused_and_stay_reserved),
		TEST(ports_busy_or_dead_are_refused),
		TEST(unhealthy_parts_are_refused),
		TEST(path_that_meets_itself_is_refused),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
