// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lower bound by circuits, against all sets of circuits of few ranks, and against the plans of
 * all algorithms and policies.
 */
#include <stdio.h>

#include "../schedule/schedule.h"
#include "scheduling.h"

#define MOST 5

static struct morph_delay *delay_of(uint64_t settle, uint64_t port, uint32_t scope)
{
	struct morph_delay *delay = morph_delay_new(ctx);

	assert_int_equal(morph_delay_set_link(delay, 500, 100, 100000), 0);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle, 1), 0);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_PORT, &port, 1), 0);
	assert_int_equal(morph_delay_set_scope(delay, scope), 0);
	return delay;
}

static struct morph_collective *all_to_all(uint32_t algorithm, uint32_t ranks, uint64_t bytes)
{
	MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL, .algorithm = algorithm,
		   .ranks = ranks, .bytes = bytes);
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_int_equal(morph_collective_build(collective, &opts), 0);
	return collective;
}

/* ------------------------------------------------------- all sets of circuits */

/* Sum of the distances from a rank, or 0 if it does not reach all. @onward: a set for each rank. */
static uint32_t hops_from(const uint32_t *onward, uint32_t ranks, uint32_t rank)
{
	uint32_t reached = 1u << rank, last = reached, sum = 0;

	for (uint32_t far = 1; last; far++) {
		uint32_t next = 0;

		for (uint32_t at = 0; at < ranks; at++)
			if (last >> at & 1)
				next |= onward[at];
		last = next & ~reached;
		reached |= last;
		sum += far * (uint32_t)__builtin_popcount(last);
	}
	return reached == (1u << ranks) - 1 ? sum : 0;
}

/*
 * The time of an exchange over these circuits, if every port were busy until the end. No schedule
 * that sets them is faster, whatever the order of its topologies. 0: a rank is not reached.
 */
static uint64_t least_ps(const struct costs *costs, const uint32_t *onward, uint32_t ranks,
			 uint32_t planes, uint64_t bytes)
{
	uint64_t each = costs_change_ps(costs, 1) + costs_send_ps(costs, 0, 1), circuits = 0;
	uint64_t most = 0, hops = 0, sum;

	for (uint32_t rank = 0; rank < ranks; rank++) {
		uint32_t degree = (uint32_t)__builtin_popcount(onward[rank]);
		uint32_t from = hops_from(onward, ranks, rank);

		if (!from)
			return 0;
		hops += from;
		circuits += degree;
		most = (degree + planes - 1) / planes > most ? (degree + planes - 1) / planes :
							       most;
	}
	sum = (circuits * each + costs_bytes_ps(costs, hops * bytes)) / ranks / planes;
	return sum > most * each ? sum : most * each;
}

/* The least over all sets of circuits. */
static uint64_t search_ps(const struct costs *costs, uint32_t ranks, uint32_t planes,
			  uint64_t bytes)
{
	uint32_t others = (1u << (ranks - 1)) - 1, onward[MOST];
	uint64_t best = UINT64_MAX;

	for (uint32_t set = 0; set < 1u << ranks * (ranks - 1); set++) {
		uint64_t ps;

		for (uint32_t rank = 0; rank < ranks; rank++) {
			uint32_t of = set >> rank * (ranks - 1) & others;
			uint32_t below = of & ((1u << rank) - 1);

			onward[rank] = below | (of & ~below) << 1;
		}
		ps = least_ps(costs, onward, ranks, planes, bytes);
		best = ps && ps < best ? ps : best;
	}
	return best;
}

/* Returns whether the bound is by circuits. */
static bool compare(uint32_t ranks, uint32_t planes, uint64_t bytes, uint64_t settle,
		    uint32_t *equal)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_EACH_ROUND, .planes = planes);
	struct morph_collective *collective = all_to_all(MORPH_SHIFT, ranks, ranks * bytes);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = delay_of(settle, 10, MORPH_DELAY_PORT_SCOPE);
	uint64_t best;
	bool circuits;

	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
	assert_valid(collective, delay, planes, NULL, schedule);
	circuits = schedule->bound_kind == MORPH_BOUND_CIRCUITS;
	if (circuits) {
		best = search_ps(&schedule->costs, ranks, planes, bytes);
		if (schedule->bound_ps > best)
			fail_msg("%u ranks, %u planes, %llu bytes, %llu ns: bound %llu, best %llu",
				 ranks, planes, (unsigned long long)bytes,
				 (unsigned long long)settle, (unsigned long long)schedule->bound_ps,
				 (unsigned long long)best);
		*equal += schedule->bound_ps + ranks >= best;
	}
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
	return circuits;
}

static void no_set_of_circuits_is_faster(void **state)
{
	static const uint64_t settles[] = { 0, 1000, 10000, 100000 };
	uint32_t equal = 0, all = 0;

	(void)state;
	for (uint32_t ranks = 3; ranks <= MOST; ranks++)
		for (uint32_t planes = 1; planes <= 3; planes++)
			for (uint64_t bytes = 1000; bytes <= 1000000; bytes *= 10)
				for (uint32_t at = 0; at < 4; at++)
					all += compare(ranks, planes, bytes, settles[at], &equal);
	printf("%u bounds by circuits, %u equal to the best set of circuits\n", all, equal);
	assert_true(all > 50);
	assert_true(equal * 4 >= all * 3);
}

/* ------------------------------------------------------------ plans reach it */

/* At 16 ranks and 10 us, each pair takes a circuit of its own: no topology saves a change. */
static void shifts_of_16_ranks_have_no_gap(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	struct morph_collective *collective = all_to_all(MORPH_SHIFT, 16, 16 << 20);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = delay_of(10000, 0, MORPH_DELAY_PORT_SCOPE);
	uint64_t ports;

	(void)state;
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_valid(collective, delay, 1, NULL, schedule);
	assert_int_equal(schedule->bound_kind, MORPH_BOUND_CIRCUITS);
	ports = costs_send_ps(&schedule->costs, 15 << 20, 1) + costs_change_ps(&schedule->costs, 1);
	printf("end %llu ps, bound by circuits %llu, by ports %llu\n",
	       (unsigned long long)schedule->finish_ps, (unsigned long long)schedule->bound_ps,
	       (unsigned long long)ports);
	assert_int_equal(schedule->finish_ps, schedule->bound_ps);
	assert_true(ports < schedule->bound_ps);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
}

/* One plan that follows another, both of which the checker accepts. Returns bounds by circuits. */
static uint32_t plan_twice(const struct morph_collective *collective,
			   const struct morph_delay *delay, uint32_t planes, uint32_t policy)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = policy, .planes = planes);
	struct morph_schedule *first = morph_schedule_new(ctx), *next = morph_schedule_new(ctx);
	uint32_t count = 0;

	assert_int_equal(morph_schedule_plan(first, collective, delay, &opts), 0);
	if (morph_schedule_verdict(first) == MORPH_FEASIBLE) {
		assert_valid(collective, delay, planes, NULL, first);
		count += first->bound_kind == MORPH_BOUND_CIRCUITS;
		opts.after = first;
		assert_int_equal(morph_schedule_plan(next, collective, delay, &opts), 0);
		assert_int_equal(morph_schedule_verdict(next), MORPH_FEASIBLE);
		assert_valid(collective, delay, planes, first, next);
		count += next->bound_kind == MORPH_BOUND_CIRCUITS;
	}
	morph_schedule_free(first);
	morph_schedule_free(next);
	return count;
}

static void no_plan_is_faster(void **state)
{
	static const uint32_t algorithms[] = { MORPH_SHIFT, MORPH_BRUCK, MORPH_TERNARY,
					       MORPH_DIRECT };
	static const uint64_t settles[] = { 0, 1000, 10000, 1000000 };
	uint32_t circuits = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 4 * 4 * 3 * 24; seed++) {
		uint32_t ranks = 2 + (uint32_t)(seed % 13), planes = 1 + (uint32_t)(seed / 16 % 3);
		struct morph_collective *collective =
			all_to_all(algorithms[seed % 4], ranks, ranks * (1000ULL << seed % 11));
		struct morph_delay *delay =
			delay_of(settles[seed / 4 % 4], seed % 5, (uint32_t)(seed % 3));

		circuits += plan_twice(collective, delay, planes,
				       (uint32_t)(seed / 7 % MORPH_POLICIES));
		morph_delay_free(delay);
		morph_collective_free(collective);
	}
	printf("%u bounds by circuits\n", circuits);
	assert_true(circuits > 300);
}

/* ------------------------------------------------------------- pairs that count */

/* Each rank sends two chunks to each of the next ranks. */
static struct morph_collective *fan(uint32_t ranks, uint32_t partners, uint64_t bytes)
{
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_int_equal(morph_collective_begin(collective, ranks), 0);
	assert_int_equal(morph_collective_add_round(collective), 0);
	for (uint32_t rank = 0; rank < ranks; rank++)
		for (uint32_t far = 1; far <= partners; far++) {
			uint32_t to = (rank + far) % ranks;
			int chunk = morph_collective_add_chunk(collective, rank, to, bytes);

			assert_true(chunk >= 0);
			assert_true(morph_collective_add_transfer(collective, rank, to, false) >=
				    0);
			assert_int_equal(morph_collective_add_run(collective, (uint32_t)chunk, 1),
					 0);
			/* A second chunk of the same pair, which needs no further circuit. */
			chunk = morph_collective_add_chunk(collective, rank, to, bytes);
			assert_int_equal(morph_collective_add_run(collective, (uint32_t)chunk, 1),
					 0);
		}
	return collective;
}

static void a_pair_of_two_chunks_counts_once(void **state)
{
	struct morph_collective *collective = fan(6, 2, 1 << 20);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = delay_of(10000, 0, MORPH_DELAY_PORT_SCOPE);
	uint64_t each;

	(void)state;
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, NULL), 0);
	assert_valid(collective, delay, 1, NULL, schedule);
	assert_int_equal(schedule->bound_kind, MORPH_BOUND_CIRCUITS);
	each = costs_change_ps(&schedule->costs, 1) + costs_send_ps(&schedule->costs, 0, 1);
	assert_int_equal(schedule->bound_ps, 2 * each + costs_bytes_ps(&schedule->costs, 4 << 20));
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
}

/* A broadcast has no chunk from one rank to another, and keeps its bound. */
static void chunks_for_all_ranks_do_not_count(void **state)
{
	MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_GATHER, .algorithm = MORPH_RING,
		   .ranks = 8, .bytes = 8000);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = delay_of(1000000, 0, MORPH_DELAY_PORT_SCOPE);

	(void)state;
	assert_int_equal(morph_collective_build(collective, &opts), 0);
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, NULL), 0);
	assert_int_not_equal(schedule->bound_kind, MORPH_BOUND_CIRCUITS);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
}

/* ----------------------------------------------------------------- the checker */

/* Position of the bound in a schedule. */
#define BOUND_KIND 10

static void another_bound_is_rejected(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2);
	struct morph_collective *collective = all_to_all(MORPH_SHIFT, 9, 9 << 18);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = delay_of(10000, 3, MORPH_DELAY_PORT_SCOPE);
	char report[256];

	(void)state;
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_int_equal(schedule->bound_kind, MORPH_BOUND_CIRCUITS);
	for (int by = -1; by <= 1; by++) {
		struct written written = write_schedule(collective, delay, 2, NULL, schedule);

		written.schedule[BOUND_KIND + 1] += (uint32_t)by;
		assert_int_equal(check_written(&written, report), by ? -EBADMSG : 0);
		assert_true(!by || strstr(report, "the bound is"));
		forget_written(&written);
	}
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_set_of_circuits_is_faster),
		cmocka_unit_test(shifts_of_16_ranks_have_no_gap),
		cmocka_unit_test(no_plan_is_faster),
		cmocka_unit_test(a_pair_of_two_chunks_counts_once),
		cmocka_unit_test(chunks_for_all_ranks_do_not_count),
		cmocka_unit_test(another_bound_is_rejected),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
