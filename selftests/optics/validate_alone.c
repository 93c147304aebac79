// SPDX-License-Identifier: GPL-2.0-only
/*
 * This program links without route.o, search.o and ledger.o, which proves that the validator needs
 * none of them. It judges explicit paths.
 */
#include "maker.h"
#include "tap.h"

/* Two accelerators: a guide directly from 1 to 0, and from 0 to 1 an element between two guides. */
struct hand {
	struct maker maker;
	void *blob, *block;
	u8 element_state, marks[4];
	u64 none[2];
	u32 owner[2];
	struct optics_view view;
	struct optics_refusal refusal;
};

static void hand_open(struct hand *hand)
{
	struct maker *maker = &hand->maker;
	u64 bytes;

	memset(hand, 0, sizeof(*hand));
	maker_init(maker, 1, 1);
	maker_kind(maker, "fork", 3, 100, 35000);
	maker_state(maker, "0-1");
	maker_state(maker, "0-2");
	maker_host(maker);
	maker_accelerator(maker, 0);
	maker_accelerator(maker, 0);
	maker_element(maker, 0, OPTICS_NONE);
	maker_guide(maker, TX(1, 0), RX(0, 0), 100);
	maker_guide(maker, TX(0, 0), AT(0, 1), 100);
	maker_guide(maker, AT(0, 0), RX(1, 0), 100);
	hand->blob = maker_blob(maker, &bytes);
	hand->block = malloc((size_t)optics_graph_bytes(hand->blob, bytes, &hand->refusal));
	hand->owner[0] = 1;
	hand->owner[1] = 1;
	hand->view = (struct optics_view){
		.graph = optics_graph_build(hand->block, hand->blob, bytes, &hand->refusal),
		.element_state = &hand->element_state,
		.element_marks = hand->marks,
		.guide_marks = hand->marks,
		.tx_lanes = hand->none,
		.rx_lanes = hand->none,
		.tx_dead = hand->none,
		.rx_dead = hand->none,
		.owner = hand->owner,
	};
	CHECK(hand->view.graph);
}

static void hand_close(struct hand *hand)
{
	free(hand->block);
	free(hand->blob);
	maker_free(&hand->maker);
}

static int judge(struct hand *hand, const struct optics_path *path)
{
	return optics_validate(&hand->view, path, 1, 1, true, NULL, &hand->refusal);
}

static void path_is_good_only_over_the_guide_of_its_laser(void)
{
	struct optics_hop hop = { 0, OPTICS_NONE, 0 };
	struct optics_path path = { .tx = 1, .rx = 0, .lanes = 1, .hops_count = 1, .hops = &hop };
	struct hand hand;

	hand_open(&hand);
	CHECK_EQUAL(judge(&hand, &path), 0);
	hop.guide = 2;
	CHECK_EQUAL(judge(&hand, &path), -EINVAL);
	hand_close(&hand);
}

static void path_from_or_to_nowhere_is_refused(void)
{
	struct optics_hop hop = { 0, OPTICS_NONE, 0 };
	struct optics_path path = { .tx = 2, .rx = 0, .lanes = 1, .hops_count = 1, .hops = &hop };
	struct hand hand;

	hand_open(&hand);
	CHECK_EQUAL(judge(&hand, &path), -EINVAL);
	CHECK_EQUAL(hand.refusal.part, OPTICS_PART_LASER);
	CHECK_EQUAL(hand.refusal.index, 2);
	path.tx = 1;
	path.rx = 2;
	CHECK_EQUAL(judge(&hand, &path), -EINVAL);
	CHECK_EQUAL(hand.refusal.part, OPTICS_PART_RECEIVER);
	CHECK_EQUAL(hand.refusal.index, 2);
	hand_close(&hand);
}

static void element_must_join_the_port_where_light_comes_in(void)
{
	struct optics_hop hops[2] = { { 2, 0, 0 }, { 4, OPTICS_NONE, 0 } };
	struct optics_path path = { .tx = 0, .rx = 1, .lanes = 1, .hops_count = 2, .hops = hops };
	struct hand hand;

	hand_open(&hand);
	CHECK_EQUAL(judge(&hand, &path), 0);
	hops[0].state = 1;
	hand.element_state = 1;
	CHECK_EQUAL(judge(&hand, &path), -EINVAL);
	CHECK_EQUAL(hand.refusal.reason, OPTICS_BAD_PATH);
	CHECK_EQUAL(hand.refusal.part, OPTICS_PART_ELEMENT);
	CHECK_EQUAL(hand.refusal.have, MORPH_PORT_NONE);
	hand_close(&hand);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(path_is_good_only_over_the_guide_of_its_laser),
		TEST(path_from_or_to_nowhere_is_refused),
		TEST(element_must_join_the_port_where_light_comes_in),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
