// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linked without route.o, search.o and ledger.o: that this program exists proves that
 * the validator needs neither. It judges one path written by hand.
 */
#include "maker.h"
#include "tap.h"

static void validator_works_without_router_and_ledger(void)
{
	struct optics_hop hop = { 0, OPTICS_NONE, 0 };
	struct optics_path path = { .tx = 0, .rx = 1, .lanes = 1, .hops_count = 1, .hops = &hop };
	u8 element_state = 0, marks[2] = { 0 };
	u64 none[2] = { 0 };
	u32 owner[2] = { 1, 1 };
	struct optics_view view = {
		.element_state = &element_state,
		.element_marks = marks,
		.guide_marks = marks,
		.tx_lanes = none,
		.rx_lanes = none,
		.tx_dead = none,
		.rx_dead = none,
		.owner = owner,
	};
	struct optics_refusal refusal;
	struct maker maker;
	void *blob, *block;
	u64 bytes;

	maker_init(&maker, 1, 1);
	maker_host(&maker);
	maker_accelerator(&maker, 0);
	maker_accelerator(&maker, 0);
	maker_guide(&maker, TX(0, 0), RX(1, 0), 100);
	maker_guide(&maker, TX(1, 0), RX(0, 0), 100);
	blob = maker_blob(&maker, &bytes);
	block = malloc((size_t)optics_graph_bytes(blob, bytes, &refusal));
	view.graph = optics_graph_build(block, blob, bytes, &refusal);
	CHECK(view.graph);
	CHECK_EQUAL(optics_validate(&view, &path, 1, 1, true, NULL, &refusal), 0);
	hop.guide = 2;
	CHECK_EQUAL(optics_validate(&view, &path, 1, 1, true, NULL, &refusal), -EINVAL);
	free(block);
	free(blob);
	maker_free(&maker);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(validator_works_without_router_and_ledger),
	};

	return tap_main(tests, 1);
}
