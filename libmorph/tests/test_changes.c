// SPDX-License-Identifier: LGPL-2.1-or-later
/* Circuits that changes set on planes, their times, and the ranks that they affect. */
#include "../internal/planner.h"
#include "../bench/random.h"
#include "scheduling.h"

#define MIB (1 << 20)

/* Links of 100 Gb/s, and changes whose time depends on their ports only. */
static struct morph_delay *ports_alone(uint64_t port, uint32_t scope)
{
	struct morph_delay *delay = morph_delay_new(ctx);

	assert_non_null(delay);
	assert_int_equal(morph_delay_set_link(delay, 0, 0, 100000), 0);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_PORT, &port, 1), 0);
	assert_int_equal(morph_delay_set_scope(delay, scope), 0);
	return delay;
}

static struct morph_collective *shifts(uint32_t ranks, uint64_t bytes)
{
	MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL, .algorithm = MORPH_SHIFT,
		   .ranks = ranks, .bytes = bytes);
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_non_null(collective);
	assert_int_equal(morph_collective_build(collective, &opts), 0);
	return collective;
}

static uint64_t ns_by(uint32_t policy, uint32_t planes, const struct morph_collective *collective,
		      const struct morph_delay *delay)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = policy, .planes = planes);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	uint64_t ns;

	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
	assert_valid(collective, delay, planes, NULL, schedule);
	ns = morph_schedule_ns(schedule, NULL);
	morph_schedule_free(schedule);
	return ns;
}

/* Planes change concurrently. The time of a change is that of one plane, however many there are. */
static void segments_pay_for_one_plane(void **state)
{
	struct morph_collective *few = shifts(8, 4 * MIB), *many = shifts(16, 8 * MIB);

	(void)state;
	for (uint32_t scope = 0; scope < MORPH_DELAY_FABRIC_SCOPE; scope++) {
		struct morph_delay *delay = ports_alone(1000, scope);

		assert_int_equal(ns_by(MORPH_POLICY_SEGMENTS, 4, few, delay), 129401);
		assert_int_equal(ns_by(MORPH_POLICY_EACH_ROUND, 4, few, delay), 129401);
		/* The time that the program finds that knows all shifts. */
		assert_in_range(ns_by(MORPH_POLICY_SEGMENTS, 32, many, delay), 115886, 115887);
		morph_delay_free(delay);
	}
	morph_collective_free(many);
	morph_collective_free(few);
}

/*
 * Each sending rank has one destination, and each receiving rank one source. Some ranks are idle,
 * and some rounds repeat.
 */
static void add_matching(struct morph_collective *collective, uint64_t *seed)
{
	uint32_t ranks = morph_collective_ranks(collective), to[16] = { 0 };
	uint64_t bytes = 1 + random_below(seed, 1 << 22);

	for (uint32_t rank = 0; rank < ranks; rank++) {
		uint32_t other = random_below(seed, rank + 1);

		to[rank] = to[other];
		to[other] = rank;
	}
	assert_true(morph_collective_add_round(collective) >= 0);
	for (uint32_t rank = 0; rank < ranks; rank++) {
		int chunk;

		if (to[rank] == rank)
			continue;
		chunk = morph_collective_add_chunk(collective, rank, to[rank], bytes);
		assert_true(chunk >= 0);
		assert_true(morph_collective_add_transfer(collective, rank, to[rank], false) >= 0);
		assert_int_equal(morph_collective_add_run(collective, (uint32_t)chunk, 1), 0);
	}
}

static void segments_are_no_later_than_each_round(void **state)
{
	uint32_t sooner = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t random = seed;
		uint32_t planes = 2 + random_below(&random, 5);
		struct morph_collective *collective = morph_collective_new(ctx);
		uint32_t scope = random_below(&random, 3);
		struct morph_delay *delay = ports_alone(1 + random_below(&random, 20000), scope);
		uint64_t each, segments;

		assert_int_equal(morph_collective_begin(collective, 3 + random_below(&random, 8)),
				 0);
		for (uint32_t rounds = 1 + random_below(&random, 8); rounds; rounds--)
			add_matching(collective, &random);
		each = ns_by(MORPH_POLICY_EACH_ROUND, planes, collective, delay);
		segments = ns_by(MORPH_POLICY_SEGMENTS, planes, collective, delay);
		if (segments > each)
			fail_msg("seed %lu: %lu ns, each round %lu ns", seed, segments, each);
		sooner += segments < each;
		morph_delay_free(delay);
		morph_collective_free(collective);
	}
	print_message("sooner in %u of 200\n", sooner);
	assert_true(sooner > 20);
}

/*
 * With many ranks the planner tries only shifts. Four planes then count as one plane with a quarter
 * of the bytes. If the fabric stops, all planes count.
 */
static void shifts_pay_as_other_changes_do(void **state)
{
	struct morph_collective *collective = shifts(200, 200 * MIB);
	struct morph_collective *quarter = shifts(200, 50 * MIB);

	(void)state;
	for (uint32_t scope = 0; scope <= MORPH_DELAY_FABRIC_SCOPE; scope++) {
		bool stops = scope == MORPH_DELAY_FABRIC_SCOPE;
		struct morph_delay *delay = ports_alone(150, scope);
		struct morph_delay *alike = ports_alone(stops ? 600 : 150, scope);

		assert_int_equal(ns_by(MORPH_POLICY_SEGMENTS, 4, collective, delay),
				 ns_by(MORPH_POLICY_SEGMENTS, 1, quarter, alike));
		morph_delay_free(alike);
		morph_delay_free(delay);
	}
	morph_collective_free(quarter);
	morph_collective_free(collective);
}

/* 2000 bytes over each of two circuits alternately, with a change of all circuits in between. */
static void short_cuts_pay_for_one_plane(void **state)
{
	struct morph_short_cut cut;

	(void)state;
	for (uint32_t scope = 0; scope <= MORPH_DELAY_FABRIC_SCOPE; scope++) {
		struct morph_delay *delay = ports_alone(10, scope);
		uint32_t changed = scope == MORPH_DELAY_FABRIC_SCOPE ? 8 : 4;

		assert_int_equal(morph_short_cut(ctx, delay, 4, 2, 50000, &cut), 0);
		assert_int_equal(cut.steps, 2);
		assert_int_equal(cut.first, 1);
		assert_int_equal(cut.ns, 1000 + 500 + 10 * changed);
		morph_delay_free(delay);
	}
}

/* ---------------------------------------------------------------- who takes part */

#define RANKS 9

/* Each rank has bytes for each other rank, except for random ranks without bytes. */
static struct morph_collective *draw_parts(uint64_t *seed, uint32_t roles[RANKS])
{
	uint64_t matrix[RANKS * RANKS] = { 0 };
	MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL, .algorithm = MORPH_DIRECT,
		   .ranks = RANKS, .matrix = matrix);
	struct morph_collective *collective = morph_collective_new(ctx);
	uint32_t idle = random_below(seed, 1 << RANKS);

	idle &= random_below(seed, 1 << RANKS);
	for (uint32_t pair = 0; pair < RANKS * RANKS; pair++)
		if (!(idle >> pair / RANKS & 1) && !(idle >> pair % RANKS & 1))
			matrix[pair] = 1 + random_below(seed, 1 << 20);
	morph_matrix_roles(matrix, RANKS, roles, NULL);
	assert_int_equal(morph_collective_build(collective, &opts), 0);
	return collective;
}

static uint32_t leads(const struct morph_schedule *schedule, uint32_t hold, uint32_t rank)
{
	uint32_t src, dst;

	for (uint32_t at = 0; !morph_schedule_circuit(schedule, hold, at, &src, &dst); at++)
		if (src == rank)
			return dst;
	fail_msg("no circuit of hold %u leaves rank %u", hold, rank);
	return rank;
}

/* No circuit begins or ends at a rank without bytes, and nothing passes one. */
static void assert_left_alone(const struct morph_collective *collective,
			      const struct morph_schedule *schedule, const uint32_t *roles)
{
	struct morph_transfer transfer;
	struct morph_hold hold;
	struct morph_send send;
	uint32_t src, dst;

	for (uint32_t at = 0; !morph_schedule_hold(schedule, at, &hold); at++)
		for (uint32_t number = 0; hold.lit_ns && number < hold.circuits; number++) {
			morph_schedule_circuit(schedule, at, number, &src, &dst);
			assert_true(roles[src] && roles[dst]);
		}
	for (uint32_t at = 0; !morph_schedule_send(schedule, at, &send); at++)
		for (uint32_t number = send.first; number < send.first + send.count; number++) {
			morph_collective_transfer(collective, send.round, number, &transfer);
			for (uint32_t hop = 0; hop < send.hops; hop++) {
				assert_true(roles[transfer.src]);
				transfer.src = leads(schedule,
						     morph_schedule_hop(schedule, at, hop),
						     transfer.src);
			}
			assert_int_equal(transfer.src, transfer.dst);
		}
}

static uint32_t plan_alone(const struct morph_collective *collective, const uint32_t *roles,
			   const struct morph_delay *delay, struct morph_schedule_opts opts)
{
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	uint32_t planned = 0;

	for (uint32_t which = 0; which < MORPH_POLICIES + MORPH_BASELINES; which++) {
		opts.policy = which;
		if (which < MORPH_POLICIES)
			assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts),
					 0);
		else
			assert_int_equal(morph_schedule_baseline(schedule, collective, delay, &opts,
								 which - MORPH_POLICIES),
					 0);
		if (morph_schedule_verdict(schedule) != MORPH_FEASIBLE)
			continue;
		assert_left_alone(collective, schedule, roles);
		if (which != MORPH_POLICIES + MORPH_BASELINE_IDEAL)
			assert_valid(collective, delay, opts.planes, opts.after, schedule);
		planned++;
	}
	morph_schedule_free(schedule);
	return planned;
}

/* By each policy and each baseline, and after schedules that waited for other ranks. */
static void ranks_without_bytes_get_no_circuit(void **state)
{
	struct morph_schedule *before = morph_schedule_new(ctx);
	uint32_t planned = 0;
	uint64_t seed = 1;

	(void)state;
	for (uint32_t trial = 0; trial < 60; trial++) {
		MORPH_OPTS(morph_schedule_opts, opts, .planes = 1 + trial % 3);
		struct morph_delay *delay = some_delay(trial / 3 % 3);
		uint64_t settle = trial % 2 ? 3700 : 200000;
		struct morph_collective *first = shifts(RANKS, 1000), *collective;
		uint32_t roles[RANKS];

		assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle, 1), 0);
		collective = draw_parts(&seed, roles);
		planned += plan_alone(collective, roles, delay, opts);
		assert_int_equal(morph_schedule_plan(before, first, delay, &opts), 0);
		opts.after = before;
		planned += plan_alone(collective, roles, delay, opts);
		morph_collective_free(collective);
		morph_collective_free(first);
		morph_delay_free(delay);
	}
	print_message("%u plans\n", planned);
	assert_true(planned > 60 * 2 * 6);
	morph_schedule_free(before);
}

/* ------------------------------------------------------------------ what is set */

static bool has(const struct morph_schedule *schedule, uint32_t hold, uint32_t from, uint32_t to)
{
	uint32_t src, dst;

	for (uint32_t at = 0; !morph_schedule_circuit(schedule, hold, at, &src, &dst); at++)
		if (src == from && dst == to)
			return true;
	return false;
}

/* Check whether an earlier hold has the circuit until then. */
static bool stays(const struct morph_schedule *schedule, uint32_t number, uint32_t src,
		  uint32_t dst)
{
	struct morph_hold hold, before;

	morph_schedule_hold(schedule, number, &hold);
	for (uint32_t at = 0; at < number; at++) {
		morph_schedule_hold(schedule, at, &before);
		if (before.plane == hold.plane && before.dark_ns == hold.set_ns &&
		    has(schedule, at, src, dst))
			return true;
	}
	return false;
}

static void assert_counted(const struct morph_schedule *schedule)
{
	uint64_t set = 0, counted;
	uint32_t changes = 0, src, dst;
	struct morph_hold hold;
	uint64_t last = UINT64_MAX;

	for (uint32_t at = 0; !morph_schedule_hold(schedule, at, &hold); at++) {
		bool sets = false;

		for (uint32_t number = 0; hold.lit_ns && number < hold.circuits; number++) {
			morph_schedule_circuit(schedule, at, number, &src, &dst);
			if (stays(schedule, at, src, dst))
				continue;
			set++;
			sets = true;
		}
		changes += sets && hold.set_ns != last;
		last = sets ? hold.set_ns : last;
	}
	assert_int_equal(morph_schedule_changes(schedule, &counted), changes);
	assert_int_equal(counted, set);
}

/* Two of three circuits are those of the round before. */
static void unchanged_circuits_are_not_set(void **state)
{
	static const uint32_t ends[2][3][2] = { { { 0, 1 }, { 2, 3 }, { 4, 5 } },
						{ { 0, 1 }, { 2, 3 }, { 5, 4 } } };
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_EACH_ROUND);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = ports_alone(1000, MORPH_DELAY_PORT_SCOPE);
	uint64_t circuits;

	(void)state;
	assert_int_equal(morph_collective_begin(collective, 6), 0);
	for (uint32_t at = 0; at < 6; at++) {
		const uint32_t *pair = ends[at / 3][at % 3];

		if (at % 3 == 0)
			assert_int_equal(morph_collective_add_round(collective), at / 3);
		assert_int_equal(morph_collective_add_chunk(collective, pair[0], pair[1], MIB), at);
		morph_collective_add_transfer(collective, pair[0], pair[1], false);
		morph_collective_add_run(collective, at, 1);
	}
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_int_equal(morph_schedule_changes(schedule, &circuits), 2);
	assert_int_equal(circuits, 4);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
}

/* By each policy, and after schedules that left circuits lit. */
static void set_circuits_are_counted(void **state)
{
	struct morph_schedule *before = morph_schedule_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	uint64_t seed = 4;

	(void)state;
	for (uint32_t trial = 0; trial < 60; trial++) {
		MORPH_OPTS(morph_schedule_opts, opts, .planes = 1 + trial % 3);
		struct morph_delay *delay = some_delay(trial / 3 % 3);
		struct morph_collective *collective = trial % 2 ? random_rounds(&seed, 6, 3, 5) :
								  ring(4, 10000);
		struct morph_collective *first =
			random_rounds(&seed, morph_collective_ranks(collective), 1, 4);

		/* With a nanosecond for each byte, different times remain different. */
		assert_int_equal(morph_delay_set_link(delay, 500, 100, 8000), 0);
		assert_int_equal(morph_schedule_plan(before, first, delay, &opts), 0);
		for (uint32_t which = 0; which < 2 * MORPH_POLICIES; which++) {
			opts.policy = which / 2;
			opts.after = which % 2 ? before : NULL;
			assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts),
					 0);
			if (morph_schedule_verdict(schedule) == MORPH_FEASIBLE)
				assert_counted(schedule);
		}
		morph_collective_free(first);
		morph_collective_free(collective);
		morph_delay_free(delay);
	}
	morph_schedule_free(schedule);
	morph_schedule_free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_pay_for_one_plane),
		cmocka_unit_test(segments_are_no_later_than_each_round),
		cmocka_unit_test(shifts_pay_as_other_changes_do),
		cmocka_unit_test(short_cuts_pay_for_one_plane),
		cmocka_unit_test(ranks_without_bytes_get_no_circuit),
		cmocka_unit_test(unchanged_circuits_are_not_set),
		cmocka_unit_test(set_circuits_are_counted),
	};

	return cmocka_run_group_tests_name("changes", tests, begin, end);
}
