// SPDX-License-Identifier: GPL-2.0-only
/* Half circuits: routed, claimed and judged at a guide that leaves the fabric. */
#include "maker.h"
#include "oracle.h"
#include "tap.h"

#define LEAST (-9000)
#define MOST 8000

/*
 * One cell. In its parking state, the arm 0-1 joins transmitter 0 to edge 0, and the arm 3-2 joins
 * edge 1 to receiver 1.
 */
struct halves {
	struct fabric fabric;
	struct route out, in;
};

static void halves_open(struct halves *h, u32 extinction_mdb, u32 guide_loss_mdb)
{
	struct maker *maker = &h->fabric.maker;
	u32 kind, i;

	memset(h, 0, sizeof(*h));
	maker_init(maker, 1, 4);
	kind = maker_kind(maker, "cell", 4, 250, extinction_mdb);
	maker_state(maker, "0-1 2-3");
	maker_state(maker, "0-2 1-3");
	maker_host(maker);
	for (i = 0; i < 2; i++) {
		maker_accelerator(maker, 0);
		maker_edge(maker, LEAST, MOST);
	}
	maker_element(maker, kind, OPTICS_NONE);
	maker_guide(maker, TX(0, 0), AT(0, 0), guide_loss_mdb);
	maker_guide(maker, AT(0, 1), EDGE(0), 500);
	maker_guide(maker, EDGE(1), AT(0, 3), 500);
	maker_guide(maker, AT(0, 2), RX(1, 0), guide_loss_mdb);
	maker_guide(maker, TX(1, 0), RX(0, 0), 100);
	fabric_open(&h->fabric, 64);
	fabric_own_all(&h->fabric, 1);
}

static void route_halves(struct halves *h)
{
	struct optics_route_request request = fabric_request(&h->fabric, 0, OPTICS_EDGE | 0, 1);

	fabric_route(&h->fabric, &request, &h->out);
	request.tx_accelerator = OPTICS_EDGE | 1;
	request.rx_accelerator = 1;
	fabric_route(&h->fabric, &request, &h->in);
}

static int judge(struct halves *h, struct route *route, u32 owner, struct optics_verdict *verdict)
{
	struct optics_view view = fabric_view(&h->fabric);

	return optics_validate(&view, &route->path, 1, owner, false, verdict, &route->refusal);
}

static void half_that_leaves_has_the_power_at_its_edge(void)
{
	struct optics_verdict verdict = {};
	struct halves h;

	halves_open(&h, 35000, 2000);
	route_halves(&h);
	CHECK_EQUAL(h.out.error, 0);
	CHECK_EQUAL(h.out.path.tx, 0);
	CHECK_EQUAL(h.out.path.rx, optics_edge_end(h.fabric.graph, 0));
	CHECK_EQUAL(judge(&h, &h.out, 1, &verdict), 0);
	CHECK_EQUAL(verdict.power_mdbm, 10000 - 2000 - 250 - 500);
	CHECK_EQUAL(verdict.spread_mdb, 0);
	CHECK_EQUAL(verdict.margin_mdb, verdict.power_mdbm - LEAST);
	fabric_close(&h.fabric);
}

static void half_that_comes_in_counts_upon_the_least(void)
{
	struct optics_verdict verdict = {};
	struct halves h;

	halves_open(&h, 35000, 2000);
	route_halves(&h);
	CHECK_EQUAL(h.in.error, 0);
	CHECK_EQUAL(h.in.path.tx, optics_edge_end(h.fabric.graph, 1));
	CHECK_EQUAL(h.in.path.rx, 1);
	CHECK_EQUAL(judge(&h, &h.in, 1, &verdict), 0);
	CHECK_EQUAL(verdict.power_mdbm, LEAST - 500 - 250 - 2000);
	CHECK_EQUAL(verdict.spread_mdb, MOST - LEAST);
	CHECK_EQUAL(verdict.margin_mdb, verdict.power_mdbm + 20000);
	fabric_close(&h.fabric);
}

static void half_that_exceeds_its_share_is_refused_at_the_edge(void)
{
	struct halves h;

	halves_open(&h, 35000, 19000);
	route_halves(&h);
	CHECK_EQUAL(judge(&h, &h.out, 1, NULL), -ERANGE);
	CHECK_EQUAL(h.out.refusal.reason, OPTICS_MARGIN);
	CHECK_EQUAL(h.out.refusal.part, OPTICS_PART_EDGE);
	CHECK_EQUAL(h.out.refusal.index, 0);
	CHECK_EQUAL(h.out.refusal.have, 10000 - 19000 - 250 - 500 - LEAST);
	CHECK_EQUAL(judge(&h, &h.in, 1, NULL), -ERANGE);
	CHECK_EQUAL(h.in.refusal.part, OPTICS_PART_RECEIVER);
	fabric_close(&h.fabric);
}

static void half_too_bright_for_the_peer_is_refused(void)
{
	struct halves h;

	halves_open(&h, 35000, 100);
	route_halves(&h);
	CHECK_EQUAL(judge(&h, &h.out, 1, NULL), -ERANGE);
	CHECK_EQUAL(h.out.refusal.reason, OPTICS_OVERLOAD);
	CHECK_EQUAL(h.out.refusal.part, OPTICS_PART_EDGE);
	CHECK_EQUAL(h.out.refusal.need, MOST);
	fabric_close(&h.fabric);
}

static void receiver_is_spared_the_most_that_may_come_in(void)
{
	struct halves h;

	halves_open(&h, 35000, 2000);
	((struct optics_graph *)h.fabric.graph)->params.overload_mdbm = MOST - 500 - 250 - 2000;
	route_halves(&h);
	CHECK_EQUAL(judge(&h, &h.in, 1, NULL), 0);
	((struct optics_graph *)h.fabric.graph)->params.overload_mdbm--;
	CHECK_EQUAL(judge(&h, &h.in, 1, NULL), -ERANGE);
	CHECK_EQUAL(h.in.refusal.reason, OPTICS_OVERLOAD);
	fabric_close(&h.fabric);
}

static void edge_is_held_lane_by_lane_in_each_direction(void)
{
	struct halves h;

	halves_open(&h, 35000, 2000);
	route_halves(&h);
	CHECK_EQUAL(optics_claim(h.fabric.state, &h.out.path, &h.out.refusal), 0);
	CHECK_EQUAL(h.fabric.state->rx_lanes[optics_edge_end(h.fabric.graph, 0)], 1);
	CHECK_EQUAL(h.fabric.state->tx_lanes[optics_edge_end(h.fabric.graph, 0)], 0);
	route_halves(&h);
	CHECK_EQUAL(h.out.error, 0);
	CHECK_EQUAL(h.out.path.lanes, 2);
	fabric_close(&h.fabric);
}

static void edge_of_another_slice_is_not_routed_to(void)
{
	struct halves h;

	halves_open(&h, 35000, 2000);
	route_halves(&h);
	h.fabric.state->owner[2] = 2;
	CHECK_EQUAL(judge(&h, &h.out, 1, NULL), -EINVAL);
	CHECK_EQUAL(h.out.refusal.part, OPTICS_PART_EDGE);
	route_halves(&h);
	CHECK_EQUAL(h.out.error, -EBUSY);
	CHECK_EQUAL(h.out.refusal.reason, OPTICS_BLOCKED);
	CHECK_EQUAL(h.out.refusal.part, OPTICS_PART_EDGE);
	CHECK_EQUAL(h.in.error, 0);
	fabric_close(&h.fabric);
}

static void light_that_only_passes_through_is_no_circuit(void)
{
	struct optics_route_request request;
	struct route route;
	struct halves h;

	halves_open(&h, 35000, 2000);
	request = fabric_request(&h.fabric, 0, OPTICS_EDGE | 1, 1);
	request.tx_accelerator = OPTICS_EDGE | 0;
	fabric_route(&h.fabric, &request, &route);
	CHECK_EQUAL(route.error, -EINVAL);
	CHECK_EQUAL(route.refusal.reason, OPTICS_BAD_PORT);
	route.path = (struct optics_path){
		.tx = optics_edge_end(h.fabric.graph, 0),
		.lanes = 1,
		.hops_count = 2,
		.rx = optics_edge_end(h.fabric.graph, 1),
		.hops = route.hops,
	};
	CHECK_EQUAL(judge(&h, &route, 1, NULL), -EINVAL);
	request.rx_accelerator = 0;
	request.tx_accelerator = OPTICS_EDGE | 2;
	fabric_route(&h.fabric, &request, &route);
	CHECK_EQUAL(route.error, -EINVAL);
	CHECK_EQUAL(route.refusal.part, OPTICS_PART_EDGE);
	fabric_close(&h.fabric);
}

/* Incoming light of another slice leaks into the outgoing light of this one. */
static void leak_out_of_an_edge_counts(void)
{
	struct optics_verdict verdict = {};
	struct halves h;

	halves_open(&h, 30000, 2000);
	h.fabric.state->owner[1] = 2;
	h.fabric.state->owner[3] = 2;
	route_halves(&h);
	CHECK_EQUAL(optics_claim(h.fabric.state, &h.out.path, &h.out.refusal), 0);
	CHECK_EQUAL(judge(&h, &h.out, 1, &verdict), 0);
	CHECK_EQUAL(verdict.isolation_mdb, OPTICS_MAX_MDB);
	h.fabric.state->tx_lanes[optics_edge_end(h.fabric.graph, 1)] = 1;
	CHECK_EQUAL(judge(&h, &h.out, 1, &verdict), 0);
	/* 10 - 2 - 0.25 - 0.5 dBm of its own, 8 - 0.5 - 30 - 0.5 dBm of the other slice. */
	CHECK_EQUAL(verdict.isolation_mdb, 7250 - (MOST - 500 - 30000 - 500));
	fabric_close(&h.fabric);
}

/* The same for the incoming circuit: the transmitter leaks into its receiver. */
static void leak_into_incoming_light_counts_at_its_minimum(void)
{
	struct halves h;

	halves_open(&h, 30000, 2000);
	h.fabric.state->owner[1] = 2;
	h.fabric.state->owner[3] = 2;
	route_halves(&h);
	h.in.path.lanes = 1;
	CHECK_EQUAL(optics_claim(h.fabric.state, &h.out.path, &h.out.refusal), 0);
	CHECK_EQUAL(optics_claim(h.fabric.state, &h.in.path, &h.in.refusal), 0);
	CHECK_EQUAL(judge(&h, &h.in, 2, NULL), -EXDEV);
	CHECK_EQUAL(h.in.refusal.reason, OPTICS_ISOLATION);
	CHECK_EQUAL(h.in.refusal.have, LEAST - 500 - 250 - 2000 - (10000 - 2000 - 30000 - 2000));
	/* From the other side the router finds and names the victim, too. */
	CHECK_EQUAL(judge(&h, &h.out, 1, NULL), -EXDEV);
	CHECK_EQUAL(h.out.refusal.part, OPTICS_PART_RECEIVER);
	CHECK_EQUAL(h.out.refusal.index, 1);
	fabric_close(&h.fabric);
}

static void halves_agree_with_the_second_opinion(void)
{
	struct oracle *oracle;
	struct halves h;

	halves_open(&h, 35000, 2000);
	oracle = oracle_open(h.fabric.blob);
	route_halves(&h);
	CHECK(!oracle_add(oracle, &h.out.path));
	CHECK(!oracle_add(oracle, &h.in.path));
	oracle_close(oracle);
	fabric_close(&h.fabric);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(half_that_leaves_has_the_power_at_its_edge),
		TEST(half_that_comes_in_counts_upon_the_least),
		TEST(half_that_exceeds_its_share_is_refused_at_the_edge),
		TEST(half_too_bright_for_the_peer_is_refused),
		TEST(receiver_is_spared_the_most_that_may_come_in),
		TEST(edge_is_held_lane_by_lane_in_each_direction),
		TEST(edge_of_another_slice_is_not_routed_to),
		TEST(light_that_only_passes_through_is_no_circuit),
		TEST(leak_out_of_an_edge_counts),
		TEST(leak_into_incoming_light_counts_at_its_minimum),
		TEST(halves_agree_with_the_second_opinion),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
