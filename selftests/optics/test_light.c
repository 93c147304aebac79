// SPDX-License-Identifier: GPL-2.0-only
/* Loss, power, leakage, and the validator that uses them. */
#include "maker.h"
#include "oracle.h"
#include "tap.h"

#include <math.h>

#define NO_FLOOR (-400000)

static double to_milliwatts(s32 mdbm)
{
	return pow(10.0, mdbm / 10000.0);
}

static void power_sum_is_within_five_mdb(void)
{
	double worst = 0;
	s32 apart;

	for (apart = 0; apart < 60000; apart += 7) {
		double exact =
			10000.0 * log10(to_milliwatts(-30000) + to_milliwatts(-30000 - apart));
		double error = fabs(exact - optics_power_sum(-30000 - apart, -30000));

		worst = error > worst ? error : worst;
		CHECK_EQUAL(optics_power_sum(-30000 - apart, -30000),
			    optics_power_sum(-30000, -30000 - apart));
	}
	printf("# worst error %.2f mdb\n", worst);
	CHECK(worst <= 5.0);
	CHECK_EQUAL(optics_power_sum(-5000, -OPTICS_MAX_MDB), -5000);
	CHECK_EQUAL(optics_power_sum(0x7fffffff, 0x7fffffff), 0x7fffffff);
	CHECK_EQUAL(optics_power_sum(-0x7fffffff - 1, 0x7fffffff), 0x7fffffff);
}

static void power_in_nanowatts_is_within_a_permille(void)
{
	double worst = 0;
	s32 mdbm;

	for (mdbm = -30000; mdbm <= 36000; mdbm += 7) {
		double exact = to_milliwatts(mdbm) * 1e6;
		double error = fabs(optics_power_nw(mdbm) - exact) / exact;

		worst = error > worst ? error : worst;
	}
	printf("# worst error %.4f permille\n", worst * 1000);
	CHECK(worst <= 1e-3);
	CHECK_EQUAL(optics_power_nw(0), 1000000);
	CHECK_EQUAL(optics_power_nw(-60000), 1);
	CHECK_EQUAL(optics_power_nw(-60001), 0);
	CHECK_EQUAL(optics_power_nw(-0x7fffffff - 1), 0);
	CHECK_EQUAL(optics_power_nw(0x7fffffff), optics_power_nw(36000));
}

/* Two tenants in one cell: 0 -> 1 by the arm 0-1, 2 -> 3 by the arm 3-2. */
struct pair {
	struct fabric fabric;
	struct route a, b;
};

static void bar_route(struct route *route, u32 tx, u32 rx, u32 first_guide)
{
	memset(route, 0, sizeof(*route));
	route->hops[0] = (struct optics_hop){ first_guide * 2, 0, 0 };
	route->hops[1] = (struct optics_hop){ first_guide * 2 + 2, OPTICS_NONE, 0 };
	route->path = (struct optics_path){
		.tx = tx, .rx = rx, .lanes = 0x1, .hops_count = 2, .hops = route->hops
	};
}

static void pair_open(struct pair *pair, u32 extinction_mdb, u32 first_guide_loss_mdb)
{
	struct maker *maker = &pair->fabric.maker;
	u32 kind, i;

	maker_init(maker, 1, 4);
	kind = maker_kind(maker, "cell", 4, 250, extinction_mdb);
	maker_state(maker, "0-1 2-3");
	maker_state(maker, "0-2 1-3");
	maker_host(maker);
	for (i = 0; i < 4; i++)
		maker_accelerator(maker, 0);
	maker_element(maker, kind, OPTICS_NONE);
	maker_guide(maker, TX(0, 0), AT(0, 0), first_guide_loss_mdb);
	maker_guide(maker, AT(0, 1), RX(1, 0), 100);
	maker_guide(maker, TX(2, 0), AT(0, 3), 100);
	maker_guide(maker, AT(0, 2), RX(3, 0), 100);
	maker_guide(maker, TX(1, 0), RX(0, 0), 100);
	maker_guide(maker, TX(3, 0), RX(2, 0), 100);
	fabric_open(&pair->fabric, 64);
	for (i = 0; i < 4; i++)
		pair->fabric.state->owner[i] = i < 2 ? 1 : 2;
	bar_route(&pair->a, 0, 1, 0);
	bar_route(&pair->b, 2, 3, 2);
}

static int judge(struct pair *pair, struct route *route, u32 owner, struct optics_verdict *verdict)
{
	struct optics_view view = fabric_view(&pair->fabric);

	return optics_validate(&view, &route->path, 1, owner, false, verdict, &route->refusal);
}

static int claim(struct pair *pair, struct route *route)
{
	return optics_claim(pair->fabric.state, &route->path, &route->refusal);
}

static void isolation_of_lone_circuit_is_unlimited(void)
{
	struct optics_verdict verdict;
	struct pair p;

	pair_open(&p, 35000, 100);
	CHECK_EQUAL(claim(&p, &p.a), 0);
	CHECK_EQUAL(judge(&p, &p.a, 1, &verdict), 0);
	CHECK_EQUAL(verdict.power_mdbm, 10000 - 100 - 250 - 100);
	CHECK_EQUAL(verdict.margin_mdb, verdict.power_mdbm + 20000);
	CHECK_EQUAL(verdict.isolation_mdb, OPTICS_MAX_MDB);
	fabric_close(&p.fabric);
}

/* Both circuits are of one owner, so no light leaks to another one. */
static void lone_owner_is_judged_as_without_the_hint(void)
{
	struct optics_verdict full, lone;
	struct optics_view view;
	struct pair p;

	pair_open(&p, 15000, 100);
	p.fabric.state->owner[2] = p.fabric.state->owner[3] = 1;
	CHECK_EQUAL(claim(&p, &p.a), 0);
	CHECK_EQUAL(claim(&p, &p.b), 0);
	CHECK_EQUAL(judge(&p, &p.b, 1, &full), 0);
	view = fabric_view(&p.fabric);
	view.alone = true;
	CHECK_EQUAL(optics_validate(&view, &p.b.path, 1, 1, false, &lone, &p.b.refusal), 0);
	CHECK_EQUAL(memcmp(&full, &lone, sizeof(lone)), 0);
	fabric_close(&p.fabric);
}

static void isolation_between_arms_is_extinction_less_loss(void)
{
	struct optics_verdict verdict;
	struct pair p;

	pair_open(&p, 35000, 100);
	CHECK_EQUAL(claim(&p, &p.a), 0);
	CHECK_EQUAL(claim(&p, &p.b), 0);
	CHECK_EQUAL(judge(&p, &p.b, 2, &verdict), 0);
	CHECK_EQUAL(verdict.isolation_mdb, 35000 - 250);
	fabric_close(&p.fabric);
}

static void isolation_poor_is_refused_with_its_numbers(void)
{
	struct pair p;

	pair_open(&p, 15000, 100);
	CHECK_EQUAL(claim(&p, &p.a), 0);
	CHECK_EQUAL(claim(&p, &p.b), 0);
	CHECK_EQUAL(judge(&p, &p.b, 2, NULL), -EXDEV);
	CHECK_EQUAL(p.b.refusal.reason, OPTICS_ISOLATION);
	CHECK_EQUAL(p.b.refusal.part, OPTICS_PART_RECEIVER);
	CHECK_EQUAL(p.b.refusal.have, 15000 - 250);
	CHECK_EQUAL(p.b.refusal.need, 20000);
	CHECK_EQUAL(p.b.refusal.item, 0);
	fabric_close(&p.fabric);
}

static void foreign_victim_is_found_when_it_is_the_fainter_one(void)
{
	struct optics_verdict verdict;
	struct pair p;

	/* Tenant 1's signal is 10 dB weaker: tenant 2's light harms it, but not the reverse. */
	pair_open(&p, 26000, 10100);
	CHECK_EQUAL(claim(&p, &p.a), 0);
	CHECK_EQUAL(claim(&p, &p.b), 0);
	CHECK_EQUAL(judge(&p, &p.b, 2, &verdict), -EXDEV);
	CHECK_EQUAL(p.b.refusal.index, 1);
	CHECK_EQUAL(p.b.refusal.have, 26000 - 250 - 10000);
	fabric_close(&p.fabric);
}

static void leak_on_other_lane_or_of_own_slice_does_not_count(void)
{
	struct optics_verdict verdict;
	struct pair p;

	pair_open(&p, 15000, 100);
	p.b.path.lanes = 0x2;
	CHECK_EQUAL(claim(&p, &p.a), 0);
	CHECK_EQUAL(claim(&p, &p.b), 0);
	CHECK_EQUAL(judge(&p, &p.b, 2, &verdict), 0);
	CHECK_EQUAL(verdict.isolation_mdb, OPTICS_MAX_MDB);
	fabric_close(&p.fabric);

	pair_open(&p, 15000, 100);
	fabric_own_all(&p.fabric, 1);
	CHECK_EQUAL(claim(&p, &p.a), 0);
	CHECK_EQUAL(claim(&p, &p.b), 0);
	CHECK_EQUAL(judge(&p, &p.b, 1, &verdict), 0);
	CHECK_EQUAL(verdict.isolation_mdb, OPTICS_MAX_MDB);
	fabric_close(&p.fabric);
}

static void margin_missing_is_refused(void)
{
	struct pair p;

	pair_open(&p, 35000, 27000);
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -ERANGE);
	CHECK_EQUAL(p.a.refusal.reason, OPTICS_MARGIN);
	CHECK_EQUAL(p.a.refusal.have, 10000 - 27000 - 350 + 20000);
	CHECK_EQUAL(p.a.refusal.need, 3000);
	fabric_close(&p.fabric);
}

static void overload_is_refused(void)
{
	struct pair p;

	maker_init(&p.fabric.maker, 1, 1);
	p.fabric.maker.header.overload_mdbm = htole32(5000);
	maker_host(&p.fabric.maker);
	maker_accelerator(&p.fabric.maker, 0);
	maker_accelerator(&p.fabric.maker, 0);
	maker_guide(&p.fabric.maker, TX(0, 0), RX(1, 0), 100);
	maker_guide(&p.fabric.maker, TX(1, 0), RX(0, 0), 5000);
	fabric_open(&p.fabric, 16);
	fabric_own_all(&p.fabric, 1);
	bar_route(&p.a, 0, 1, 0);
	p.a.hops[0].element = OPTICS_NONE;
	p.a.path.hops_count = 1;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -ERANGE);
	CHECK_EQUAL(p.a.refusal.reason, OPTICS_OVERLOAD);
	CHECK_EQUAL(p.a.refusal.have, 9900);
	CHECK_EQUAL(p.a.refusal.need, 5000);
	p.a.hops[0].guide = 2;
	p.a.path.tx = 1;
	p.a.path.rx = 0;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), 0);
	fabric_close(&p.fabric);
}

static void path_that_does_not_join_up_is_refused(void)
{
	struct pair p;

	pair_open(&p, 35000, 100);
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), 0);
	p.a.hops[0].guide = 4;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EINVAL);
	CHECK_EQUAL(p.a.refusal.reason, OPTICS_BAD_PATH);
	p.a.hops[0].guide = 1;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EINVAL);
	p.a.hops[0].guide = ~0u;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EINVAL);
	p.a.hops[0].guide = 0;
	p.a.hops[0].element = 5;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EINVAL);
	p.a.hops[0].element = 0;
	p.a.hops[0].state = 2;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EINVAL);
	CHECK_EQUAL(p.a.refusal.part, OPTICS_PART_ELEMENT);
	p.a.hops[0].state = 0;
	p.a.path.hops_count = 1;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EINVAL);
	p.a.path.hops_count = OPTICS_MAX_HOPS + 1;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EINVAL);
	p.a.path.hops_count = 2;
	p.a.path.rx = 3;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EINVAL);
	CHECK_EQUAL(p.a.refusal.reason, OPTICS_BAD_PORT);
	p.fabric.state->owner[3] = 1;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EINVAL);
	CHECK_EQUAL(p.a.refusal.reason, OPTICS_BAD_PATH);
	CHECK_EQUAL(p.a.refusal.part, OPTICS_PART_RECEIVER);
	fabric_close(&p.fabric);
}

static void path_against_the_view_is_refused(void)
{
	struct pair p;

	pair_open(&p, 35000, 100);
	optics_set_state(p.fabric.state, 0, 1);
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EBUSY);
	CHECK_EQUAL(p.a.refusal.reason, OPTICS_ELEMENT_PINNED);
	optics_set_state(p.fabric.state, 0, 0);
	p.fabric.state->element_marks[0] = OPTICS_UNHEALTHY;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EIO);
	p.fabric.state->element_marks[0] = 0;
	p.fabric.state->guide_marks[1] = OPTICS_UNHEALTHY;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EIO);
	CHECK_EQUAL(p.a.refusal.part, OPTICS_PART_GUIDE);
	p.fabric.state->guide_marks[1] = 0;
	p.fabric.state->tx_dead[0] = 1;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -EIO);
	CHECK_EQUAL(p.a.refusal.part, OPTICS_PART_LASER);
	p.fabric.state->tx_dead[0] = 2;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), 0);
	CHECK_EQUAL(judge(&p, &p.a, 2, NULL), -EINVAL);
	CHECK_EQUAL(p.a.refusal.part, OPTICS_PART_ACCELERATOR);
	p.a.path.lanes = 0x10;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -ENOSPC);
	p.a.path.lanes = 0;
	CHECK_EQUAL(judge(&p, &p.a, 1, NULL), -ENOSPC);
	fabric_close(&p.fabric);
}

static void set_that_uses_a_lane_twice_is_refused(void)
{
	struct optics_refusal refusal;
	struct optics_path paths[2];
	struct optics_view view;
	struct pair p;

	pair_open(&p, 35000, 100);
	view = fabric_view(&p.fabric);
	paths[0] = p.a.path;
	paths[1] = p.a.path;
	CHECK_EQUAL(optics_validate(&view, paths, 2, 1, false, NULL, &refusal), -EBUSY);
	CHECK_EQUAL(refusal.item, 1);
	CHECK_EQUAL(refusal.reason, OPTICS_PORT_BUSY);
	paths[1].lanes = 0x2;
	CHECK_EQUAL(optics_validate(&view, paths, 2, 1, false, NULL, &refusal), 0);
	fabric_close(&p.fabric);
}

/* An effort of 1 judges one path in each call. */
static void set_is_judged_in_parts(void)
{
	struct optics_verdict whole[2], parts[2];
	struct optics_refusal refusal;
	struct optics_path paths[2];
	struct optics_view view;
	struct pair p;
	u32 next = 0;

	pair_open(&p, 35000, 100);
	view = fabric_view(&p.fabric);
	paths[0] = p.a.path;
	paths[1] = p.a.path;
	paths[1].lanes = 0x2;
	CHECK_EQUAL(optics_validate(&view, paths, 2, 1, false, whole, &refusal), 0);
	CHECK_EQUAL(optics_validate_part(&view, paths, 2, &next, 1, 1, false, parts, &refusal), 0);
	CHECK_EQUAL(next, 1);
	CHECK_EQUAL(optics_validate_part(&view, paths, 2, &next, 1, 1, false, parts, &refusal), 0);
	CHECK_EQUAL(next, 2);
	CHECK_EQUAL(parts[0].power_mdbm, whole[0].power_mdbm);
	CHECK_EQUAL(parts[1].isolation_mdb, whole[1].isolation_mdb);
	next = 0;
	CHECK_EQUAL(optics_validate_part(&view, paths, 2, &next, 99, 1, false, NULL, &refusal), 0);
	CHECK_EQUAL(next, 2);
	fabric_close(&p.fabric);
}

static void first_part_compares_all_paths(void)
{
	struct optics_refusal refusal;
	struct optics_path paths[2];
	struct optics_view view;
	struct pair p;
	u32 next = 0;

	pair_open(&p, 35000, 100);
	view = fabric_view(&p.fabric);
	paths[0] = p.a.path;
	paths[1] = p.a.path;
	CHECK_EQUAL(optics_validate_part(&view, paths, 2, &next, 1, 1, false, NULL, &refusal),
		    -EBUSY);
	CHECK_EQUAL(refusal.item, 1);
	CHECK_EQUAL(next, 0);
	CHECK_EQUAL(p.fabric.state->tx_judged[paths[0].tx], 0);
	/* A wrong end is refused before the paths are compared. */
	paths[1].tx = 1u << 30;
	CHECK_EQUAL(optics_validate_part(&view, paths, 2, &next, 1, 1, false, NULL, &refusal),
		    -EINVAL);
	CHECK_EQUAL(refusal.item, 1);
	fabric_close(&p.fabric);
}

static void transit_policy_is_judged(void)
{
	struct optics_route_request request;
	struct optics_refusal refusal;
	struct optics_view view;
	struct fabric f;
	struct route r;

	make_interposer(&f.maker, 3, 1, 1, 4);
	fabric_open(&f, 256);
	fabric_own_all(&f, 1);
	f.state->owner[1] = 2;
	request = fabric_request(&f, 0, 2, 1);
	fabric_route(&f, &request, &r);
	CHECK_EQUAL(r.error, 0);
	CHECK_EQUAL(optics_claim(f.state, &r.path, &refusal), 0);
	view = fabric_view(&f);
	CHECK_EQUAL(optics_validate(&view, &r.path, 1, 1, false, NULL, &refusal), 0);
	CHECK_EQUAL(optics_validate(&view, &r.path, 1, 1, true, NULL, &refusal), -EXDEV);
	CHECK_EQUAL(refusal.reason, OPTICS_TRANSIT);
	CHECK_EQUAL(f.graph->elements[refusal.index].tile, 1);
	fabric_close(&f);
}

/* Return the leaked power that optics finds between two ports, in milliwatts. */
struct sum {
	u32 tx, rx;
	double milliwatts;
};

static void sum_add(void *context, const struct optics_leak *leak)
{
	struct sum *sum = context;

	if (leak->tx == sum->tx && leak->rx == sum->rx)
		sum->milliwatts += to_milliwatts(leak->power_mdbm);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * (a + b) + 1e-30;
}

/* Compare every leak of every circuit with the oracle's light, and from both ends. */
static void compare_leaks(struct fabric *fabric, struct oracle *oracle, const struct route *routes,
			  u32 count, u32 *leaks_seen)
{
	const u8 *states = fabric->state->element_state;
	u32 i, port;

	for (i = 0; i < count; i++)
		for (port = 0; port < fabric->graph->ports_count; port++) {
			struct sum from = { routes[i].path.tx, port, 0 };
			struct sum into = { port, routes[i].path.rx, 0 };
			struct sum at = into;
			double truth = oracle_light(oracle, from.tx, port, 1) +
				       oracle_light(oracle, from.tx, port, 2);

			optics_leaks_from(fabric->graph, states, &routes[i].path, NO_FLOOR, sum_add,
					  &from);
			CHECK(near(from.milliwatts, truth));
			truth = oracle_light(oracle, port, into.rx, 1) +
				oracle_light(oracle, port, into.rx, 2);
			optics_leaks_into(fabric->graph, states, &routes[i].path, NO_FLOOR, sum_add,
					  &into);
			optics_leaks_at(fabric->graph, states, at.rx, 1, NO_FLOOR, sum_add, &at);
			CHECK(near(into.milliwatts, truth));
			CHECK(near(at.milliwatts, truth));
			*leaks_seen += (from.milliwatts > 0) + (into.milliwatts > 0);
		}
}

static void leaks_agree_with_traced_light(void)
{
	u32 leaks_seen = 0, round;
	u64 seed = 11;

	for (round = 0; round < 10; round++) {
		struct route routes[8];
		struct oracle *oracle;
		struct fabric f;
		u32 count = 0, tries;

		if (round & 1)
			make_mesh(&f.maker, 3, 2, 4);
		else
			make_interposer(&f.maker, 2, 2, 1, 4);
		fabric_open(&f, 1024);
		oracle = oracle_open(f.blob);
		for (tries = 0; tries < 20 && count < 8; tries++) {
			u32 all = f.graph->accelerators_count;
			u32 from = next_random(&seed) % all, to = next_random(&seed) % all;
			struct optics_route_request request = fabric_request(&f, from, to, 1);
			struct route *r = &routes[count];

			fabric_route(&f, &request, r);
			if (r->error || optics_claim(f.state, &r->path, &r->refusal))
				continue;
			r->path.hops = r->hops;
			CHECK(!oracle_add(oracle, &r->path));
			count++;
		}
		compare_leaks(&f, oracle, routes, count, &leaks_seen);
		oracle_close(oracle);
		fabric_close(&f);
	}
	printf("# %u leaks compared\n", leaks_seen);
	CHECK(leaks_seen > 100);
}

static void signal_is_traced_back_to_its_transmitter(void)
{
	struct pair p;
	u32 tx;

	pair_open(&p, 35000, 100);
	CHECK_EQUAL(optics_signal_at(p.fabric.graph, p.fabric.state->element_state, 1, &tx),
		    optics_path_power(p.fabric.graph, &p.a.path));
	CHECK_EQUAL(tx, 0);
	optics_set_state(p.fabric.state, 0, 1);
	optics_signal_at(p.fabric.graph, p.fabric.state->element_state, 1, &tx);
	CHECK_EQUAL(tx, 2);
	fabric_close(&p.fabric);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(power_sum_is_within_five_mdb),
		TEST(power_in_nanowatts_is_within_a_permille),
		TEST(isolation_of_lone_circuit_is_unlimited),
		TEST(lone_owner_is_judged_as_without_the_hint),
		TEST(isolation_between_arms_is_extinction_less_loss),
		TEST(isolation_poor_is_refused_with_its_numbers),
		TEST(foreign_victim_is_found_when_it_is_the_fainter_one),
		TEST(leak_on_other_lane_or_of_own_slice_does_not_count),
		TEST(margin_missing_is_refused),
		TEST(overload_is_refused),
		TEST(path_that_does_not_join_up_is_refused),
		TEST(path_against_the_view_is_refused),
		TEST(set_that_uses_a_lane_twice_is_refused),
		TEST(set_is_judged_in_parts),
		TEST(first_part_compares_all_paths),
		TEST(transit_policy_is_judged),
		TEST(leaks_agree_with_traced_light),
		TEST(signal_is_traced_back_to_its_transmitter),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
