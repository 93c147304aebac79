// SPDX-License-Identifier: LGPL-2.1-or-later
/* Pools of topologies: their members, the times of rounds on them, and changes between them. */
#include "../util/mix.h"
#include "../schedule/circulants.h"
#include "../schedule/topologies.h"
#include "alone.h"

static struct morph_collective *collective_of(uint32_t ranks)
{
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_int_equal(morph_collective_begin(collective, ranks), 0);
	return collective;
}

static void transfer(struct morph_collective *collective, uint32_t src, uint32_t dst,
		     uint64_t bytes)
{
	int chunk = morph_collective_add_chunk(collective, src, dst, bytes);

	assert_true(chunk >= 0);
	assert_true(morph_collective_add_transfer(collective, src, dst, false) >= 0);
	assert_int_equal(morph_collective_add_run(collective, (uint32_t)chunk, 1), 0);
}

static void shift_round(struct morph_collective *collective, uint32_t by, uint64_t bytes)
{
	assert_true(morph_collective_add_round(collective) >= 0);
	for (uint32_t rank = 0; rank < collective->ranks; rank++)
		transfer(collective, rank, (rank + by) % collective->ranks, bytes);
}

static struct congestion route(struct pool_work *work, const struct pool *pool, int topology,
			       const struct morph_collective *collective, uint32_t round)
{
	struct congestion congestion;

	assert_true(topology >= 0);
	assert_int_equal(
		lm_pool_route(work, pool, (uint32_t)topology, collective, round, &congestion), 0);
	return congestion;
}

#define assert_congestion(its, hops_, bytes_)               \
	do {                                                \
		struct congestion assert_its = its;         \
                                                            \
		assert_true(assert_its.reached);            \
		assert_int_equal(assert_its.hops, hops_);   \
		assert_int_equal(assert_its.bytes, bytes_); \
	} while (0)

/* ------------------------------------------------------------------------ pools */

static void equal_topologies_are_one(void **state)
{
	struct pool pool = { .ctx = ctx, .ranks = 6 };
	int ring, grid;

	(void)state;
	ring = lm_pool_add_circulants(&pool, POOL_FORTH, 1);
	assert_int_equal(ring, 0);
	assert_int_equal(pool.topologies.count, 5);
	assert_int_equal(lm_pool_add_circulants(&pool, POOL_BOTH, 1), 5);
	assert_int_equal(pool.topologies.count, 8);
	/*
	 * A circulant with a distance of half of the ranks, in both directions, has two circuits
	 * for each pair.
	 */
	assert_int_equal(lm_pool_add_circulant(&pool, 3, POOL_FORTH, 2), 7);
	grid = lm_pool_add_grid(&pool, (const uint32_t[]){ 6, 1, 1 }, true, 1);
	assert_int_equal(grid, 5);
	assert_int_equal(lm_pool_begin(&pool), 0);
	for (uint32_t rank = 6; rank--;)
		assert_int_equal(lm_pool_join(&pool, rank, (rank + 1) % 6, 1), 0);
	assert_int_equal(lm_pool_end(&pool), ring);
	assert_int_equal(pool.topologies.count, 8);
	assert_int_equal(lm_pool_ports(&pool, 0), 1);
	assert_int_equal(lm_pool_ports(&pool, 5), 2);
	lm_pool_release(&pool);
}

static void tori_wrap_and_grids_do_not(void **state)
{
	struct pool pool = { .ctx = ctx, .ranks = 24 };
	const uint32_t sizes[] = { 4, 3, 2 };
	int torus, grid;

	(void)state;
	torus = lm_pool_add_grid(&pool, sizes, true, 1);
	grid = lm_pool_add_grid(&pool, sizes, false, 1);
	/* The two ranks of a dimension of two are neighbours twice. */
	assert_int_equal(pool.topologies.list[torus].count, 24 * (2 + 2 + 1));
	assert_int_equal(lm_pool_ports(&pool, (uint32_t)torus), 6);
	assert_int_equal(pool.topologies.list[grid].count, 2 * (3 * 6 + 2 * 8 + 12));
	assert_int_equal(lm_pool_changed_ports(&pool, (uint32_t)torus, (uint32_t)grid), 0);
	assert_int_equal(lm_pool_changed_ports(&pool, (uint32_t)grid, (uint32_t)torus),
			 2 * 6 + 2 * 8 + 24);
	assert_int_equal(lm_pool_changed_ports(&pool, RESIDENT_NONE, (uint32_t)torus), 24 * 6);
	lm_pool_release(&pool);
}

static void rounds_have_a_circuit_for_each_port(void **state)
{
	struct morph_collective *collective = collective_of(4);
	struct pool pool = { .ctx = ctx, .ranks = 4 };
	int matching, star;

	(void)state;
	shift_round(collective, 1, 8);
	morph_collective_add_round(collective);
	for (uint32_t rank = 1; rank < 4; rank++)
		transfer(collective, rank, 0, 8);
	transfer(collective, 3, 0, 8);
	morph_collective_add_round(collective);
	matching = lm_pool_add_round(&pool, collective, 0, 4);
	assert_int_equal(matching, 0);
	assert_int_equal(pool.joints.list[0].circuits, 4);
	assert_int_equal(lm_pool_add_round(&pool, collective, 1, 2), -ENOSPC);
	assert_non_null(strstr(morph_error_text(ctx), "3 partners, but only 2 ports"));
	star = lm_pool_add_round(&pool, collective, 1, 7);
	assert_int_equal(pool.topologies.list[star].count, 3);
	assert_int_equal(lm_pool_ports(&pool, (uint32_t)star), 6);
	assert_true(lm_pool_add_round(&pool, collective, 2, 1) > star);
	lm_pool_release(&pool);
	morph_collective_free(collective);
}

/* Two shifts fit two ports together, a third does not. A star needs all ports alone. */
static void rounds_go_together_as_far_as_there_are_ports(void **state)
{
	struct morph_collective *collective = collective_of(4);
	struct pool pool = { .ctx = ctx, .ranks = 4 };
	uint32_t first = 0;

	(void)state;
	shift_round(collective, 1, 8);
	shift_round(collective, 2, 8);
	shift_round(collective, 2, 8);
	shift_round(collective, 3, 8);
	for (uint32_t star = 0; star < 2; star++) {
		morph_collective_add_round(collective);
		for (uint32_t rank = 1; rank < 4; rank++)
			transfer(collective, rank, 0, 8);
	}
	shift_round(collective, 1, 8);
	assert_int_equal(lm_pool_add_rounds(&pool, collective, 2, &first), 0);
	assert_int_equal(first, 3);
	assert_int_equal(pool.topologies.count, 1);
	assert_int_equal(pool.topologies.list[0].count, 8);
	assert_int_equal(lm_pool_ports(&pool, 0), 2);
	assert_int_equal(lm_pool_add_rounds(&pool, collective, 2, &first), 0);
	assert_int_equal(first, 4);
	assert_int_equal(pool.joints.list[8].circuits, 2);
	/* None of them stays in the pool. */
	assert_int_equal(lm_pool_add_rounds(&pool, collective, 2, &first), 0);
	assert_int_equal(first, 6);
	assert_int_equal(pool.topologies.count, 2);
	assert_int_equal(pool.joints.count, 12);
	assert_int_equal(lm_pool_add_rounds(&pool, collective, 2, &first), 0);
	assert_int_equal(first, 7);
	assert_int_equal(pool.topologies.count, 3);
	lm_pool_release(&pool);
	morph_collective_free(collective);
}

static void invalid_topologies_are_refused(void **state)
{
	struct pool pool = { .ctx = ctx, .ranks = 4 };

	(void)state;
	assert_int_equal(lm_pool_begin(&pool), 0);
	assert_int_equal(lm_pool_join(&pool, 0, 4, 1), -EINVAL);
	assert_int_equal(lm_pool_join(&pool, 4, 0, 1), -EINVAL);
	assert_int_equal(lm_pool_join(&pool, 1, 1, 1), -EINVAL);
	assert_int_equal(lm_pool_join(&pool, 1, 2, 0), -EINVAL);
	assert_int_equal(lm_pool_add_circulant(&pool, 4, POOL_BOTH, 1), -EINVAL);
	assert_int_equal(lm_pool_add_circulants(&pool, POOL_FORTH, 0), -EINVAL);
	assert_int_equal(lm_pool_add_grid(&pool, (const uint32_t[]){ 2, 2, 2 }, true, 1), -EINVAL);
	assert_int_equal(lm_pool_add_grid(&pool, (const uint32_t[]){ 0, 4, 1 }, true, 1), -EINVAL);
	pool.topologies.count = MOST_TOPOLOGIES;
	assert_int_equal(lm_pool_begin(&pool), -E2BIG);
	lm_pool_release(&pool);
}

/* ----------------------------------------------------------------------- routes */

static void shifts_on_rings_stack_their_flows(void **state)
{
	struct morph_collective *collective = collective_of(16);
	struct pool pool = { .ctx = ctx, .ranks = 16 };
	struct pool_work work = { .segments.ctx = ctx };
	int ring = lm_pool_add_circulant(&pool, 1, POOL_FORTH, 1);
	int both = lm_pool_add_circulant(&pool, 1, POOL_BOTH, 2);
	int third = lm_pool_add_circulant(&pool, 3, POOL_FORTH, 1);
	int even = lm_pool_add_circulant(&pool, 2, POOL_FORTH, 1);
	int grid = lm_pool_add_grid(&pool, (const uint32_t[]){ 4, 4, 1 }, false, 1);

	(void)state;
	shift_round(collective, 5, 100);
	shift_round(collective, 13, 100);
	morph_collective_add_round(collective);
	assert_congestion(route(&work, &pool, ring, collective, 0), 5, 500);
	assert_congestion(route(&work, &pool, both, collective, 0), 5, 250);
	assert_congestion(route(&work, &pool, ring, collective, 1), 13, 1300);
	assert_congestion(route(&work, &pool, both, collective, 1), 3, 150);
	assert_congestion(route(&work, &pool, third, collective, 0), 7, 700);
	assert_false(route(&work, &pool, even, collective, 0).reached);
	assert_congestion(route(&work, &pool, ring, collective, 2), 0, 0);
	/* From (3, 3) to (0, 1), and similar ones. */
	assert_int_equal(route(&work, &pool, grid, collective, 0).hops, 5);
	lm_pool_work_release(&work);
	lm_pool_release(&pool);
	morph_collective_free(collective);
}

/* From 0 to 3 by 1 or by 2; a pair of circuits loads the first half of the path to 1. */
static void the_least_full_shortest_path_is_taken(void **state)
{
	struct morph_collective *collective = collective_of(5);
	struct pool pool = { .ctx = ctx, .ranks = 5 };
	struct pool_work work = { .segments.ctx = ctx };

	(void)state;
	lm_pool_begin(&pool);
	lm_pool_join(&pool, 0, 1, 2);
	lm_pool_join(&pool, 1, 3, 1);
	lm_pool_join(&pool, 0, 2, 1);
	lm_pool_join(&pool, 2, 3, 1);
	lm_pool_join(&pool, 4, 0, 4);
	assert_int_equal(lm_pool_end(&pool), 0);
	morph_collective_add_round(collective);
	transfer(collective, 0, 1, 90);
	transfer(collective, 0, 3, 30);
	transfer(collective, 4, 3, 40);
	/* 90 in two halves. Then 30 by 2; 40 after it would give 65 by 1, and 70 by 2. */
	assert_congestion(route(&work, &pool, 0, collective, 0), 3, 65);
	lm_pool_work_release(&work);
	lm_pool_release(&pool);
	morph_collective_free(collective);
}

static void numbers_of_searches_restart(void **state)
{
	struct morph_collective *collective = collective_of(8);
	struct pool pool = { .ctx = ctx, .ranks = 8 };
	struct pool_work work = { .segments.ctx = ctx };
	int ring = lm_pool_add_circulant(&pool, 1, POOL_FORTH, 1);

	(void)state;
	shift_round(collective, 3, 10);
	assert_congestion(route(&work, &pool, ring, collective, 0), 3, 30);
	work.search = UINT32_MAX - 7;
	assert_congestion(route(&work, &pool, ring, collective, 0), 3, 30);
	assert_int_equal(work.search, 8);
	lm_pool_work_release(&work);
	lm_pool_release(&pool);
	morph_collective_free(collective);
}

/* ------------------------------------------------------------------------ plans */

static void pools_of_circulants_plan_as_the_closed_form(void **state)
{
	struct circulants_work closed = { .segments.ctx = ctx };
	struct pool_work work = { .segments.ctx = ctx };
	uint64_t random = 7;

	(void)state;
	for (uint32_t ranks = 3; ranks < 16; ranks++) {
		struct costs costs = { .round_ps = 500,
				       .mbps = 799999,
				       .port_ps = 50 * (ranks % 2) };
		struct morph_collective *collective = collective_of(ranks);
		struct pool pool = { .ctx = ctx, .ranks = ranks };
		struct circulants circulants = { .ranks = ranks, .costs = &costs };
		struct pool_opts opts = { .costs = &costs, .round_each_hop = ranks & 4 };
		struct segments_problem problem;
		struct segments_plan mine, its;
		struct shift shifts[8];
		uint64_t bound;

		costs.hop_ps = 100 * (1 + mix_below(&random, 9));
		costs.change_ps = 100 * (1 + mix_below(&random, 99));
		for (uint32_t round = 0; round < 8; round++) {
			shifts[round].by = 1 + mix_below(&random, ranks - 1);
			shifts[round].bytes = mix_below(&random, 100);
			shift_round(collective, shifts[round].by, shifts[round].bytes);
		}
		circulants.shifts = shifts;
		circulants.rounds = 8;
		circulants.round_each_hop = opts.round_each_hop;
		circulants.resident = opts.resident = ranks & 2 ? RESIDENT_NONE : ranks / 2;
		assert_int_equal(lm_pool_add_circulants(&pool, POOL_FORTH, 1), 0);
		assert_int_equal(lm_pool_pose(&work, &pool, collective, &opts, &problem), 0);
		assert_int_equal(!!problem.changes, ranks % 2);
		assert_int_equal(lm_segments_solve(&work.segments, &problem, &mine), 0);
		assert_int_equal(lm_circulants_solve(&closed, &circulants, &its), 0);
		assert_int_equal(mine.ps, its.ps);
		assert_int_equal(mine.changes, its.changes);
		assert_int_equal(mine.bound_ps, its.bound_ps);
		assert_memory_equal(mine.held, its.held, 8 * sizeof(*mine.held));
		assert_int_equal(lm_ports_bound_ps(&work, collective, 1, &opts, &bound), 0);
		assert_int_equal(bound, lm_circulants_bound_ps(&circulants, 1));
		assert_true(bound <= mine.bound_ps);
		lm_pool_release(&pool);
		morph_collective_free(collective);
	}
	lm_circulants_release(&closed);
	lm_pool_work_release(&work);
}

/*
 * Exchanges between ranks that differ in one bit, which no circulant carries in one hop: first a
 * mesh, then each round's own circuits.
 */
static void exchanges_get_circuits_of_their_own_where_that_pays(void **state)
{
	struct costs costs = { .round_ps = 1000, .hop_ps = 1000, .mbps = 800000 };
	struct morph_collective *collective = collective_of(16);
	struct pool pool = { .ctx = ctx, .ranks = 16 };
	struct pool_work work = { .segments.ctx = ctx };
	struct pool_opts opts = { .costs = &costs };
	struct segments_baselines baselines;
	struct segments_problem problem;
	struct segments_plan plan;
	int mesh;

	(void)state;
	mesh = lm_pool_add_grid(&pool, (const uint32_t[]){ 4, 4, 1 }, false, 1);
	for (uint32_t bit = 1; bit < 16; bit *= 2) {
		int round = morph_collective_add_round(collective);

		for (uint32_t rank = 0; rank < 16; rank++)
			transfer(collective, rank, rank ^ bit, 1000);
		assert_true(lm_pool_add_round(&pool, collective, (uint32_t)round, 1) > mesh);
	}
	opts.resident = (uint32_t)mesh;
	for (costs.change_ps = 0; costs.change_ps < 50000; costs.change_ps += 1000) {
		/*
		 * Two hops and two flows on each link instead of one, in two of four rounds. There
		 * is no change back.
		 */
		uint64_t saved = 1000 + 10000;
		bool pays = saved > costs.change_ps;

		assert_int_equal(lm_pool_pose(&work, &pool, collective, &opts, &problem), 0);
		assert_int_equal(lm_segments_solve(&work.segments, &problem, &plan), 0);
		assert_int_equal(lm_segments_baselines(&work.segments, &problem, (uint32_t)mesh,
						       &baselines),
				 0);
		assert_int_equal(baselines.fixed.ps, 4 * (2000 + 10000) + 2 * saved);
		assert_int_equal(baselines.ideal.ps, 4 * (2000 + 10000));
		/*
		 * None of the third round's circuits is useful in the fourth. Before them the mesh
		 * returns if it pays.
		 */
		assert_true(plan.ps <= baselines.fixed.ps);
		assert_int_equal(plan.held[0], mesh);
		assert_int_equal(plan.held[3] != mesh, pays);
	}
	opts.costs = &(struct costs){ .change_ps = 1 };
	assert_int_equal(lm_pool_pose(&work, &pool, collective, &opts, &problem), -EINVAL);
	opts.costs = &costs;
	pool.ranks = 8;
	assert_int_equal(lm_pool_pose(&work, &pool, collective, &opts, &problem), -EINVAL);
	pool.ranks = 16;
	lm_pool_work_release(&work);
	lm_pool_release(&pool);
	morph_collective_free(collective);
}

static void warm_plans_allocate_nothing(void **state)
{
	const struct costs costs = { .hop_ps = 5, .mbps = 800000, .change_ps = 9, .port_ps = 1 };
	struct morph_collective *collective = collective_of(16);
	struct pool pool = { .ctx = ctx, .ranks = 16 };
	struct pool_work work = { .segments.ctx = ctx };
	struct pool_opts opts = { .costs = &costs, .resident = RESIDENT_ANY };
	struct segments_problem problem;
	struct segments_plan plan;
	uint64_t bound;
	bool struck = true;

	(void)state;
	for (uint32_t by = 1; by < 16; by++)
		shift_round(collective, by, 64);
	for (unsigned int nth = 1; struck; nth++) {
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = lm_pool_add_circulants(&pool, POOL_FORTH, 1);
		ret = ret < 0 ? ret : lm_pool_pose(&work, &pool, collective, &opts, &problem);
		ret = ret ? ret : lm_segments_solve(&work.segments, &problem, &plan);
		ret = ret ? ret : lm_ports_bound_ps(&work, collective, 2, &opts, &bound);
		struck = fault_struck();
		assert_int_equal(ret, struck ? -ENOMEM : 0);
		assert_true(struck || nth > 12);
		if (struck) {
			lm_pool_work_release(&work);
			lm_pool_release(&pool);
		}
	}
	allocations();
	assert_int_equal(lm_pool_pose(&work, &pool, collective, &opts, &problem), 0);
	assert_int_equal(lm_segments_solve(&work.segments, &problem, &plan), 0);
	assert_int_equal(lm_ports_bound_ps(&work, collective, 2, &opts, &bound), 0);
	assert_int_equal(allocations(), 0);
	lm_pool_work_release(&work);
	lm_pool_release(&pool);
	morph_collective_free(collective);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_topologies_are_one),
		cmocka_unit_test(tori_wrap_and_grids_do_not),
		cmocka_unit_test(rounds_have_a_circuit_for_each_port),
		cmocka_unit_test(rounds_go_together_as_far_as_there_are_ports),
		cmocka_unit_test(invalid_topologies_are_refused),
		cmocka_unit_test(shifts_on_rings_stack_their_flows),
		cmocka_unit_test(the_least_full_shortest_path_is_taken),
		cmocka_unit_test(numbers_of_searches_restart),
		cmocka_unit_test(pools_of_circulants_plan_as_the_closed_form),
		cmocka_unit_test(exchanges_get_circuits_of_their_own_where_that_pays),
		cmocka_unit_test(warm_plans_allocate_nothing),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
