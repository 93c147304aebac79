// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All-reduce that begins without the last rank: when it pays, and that no data passes that rank
 * meanwhile.
 */
#include "../internal/planner.h"
#include "scheduling.h"

#define MIB (1 << 20)

/* more matchings than planes */
static void late_rank_pays_where_changes_are_short(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	MORPH_OPTS(morph_collective_opts, wanted, .ranks = 8, .bytes = 7 << 20);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_delay *delay = morph_delay_new(ctx);
	struct morph_payoff payoff;
	uint64_t share, change = 3600000000;

	(void)state;
	assert_int_equal(morph_delay_set_link(delay, 1000, 0, 100000), 0);
	share = morph_delay_round_ns(delay, 1 << 20, 1);
	assert_int_equal(
		morph_schedule_payoff(schedule, collective, &wanted, delay, &opts, &payoff), 0);
	assert_in_range(payoff.rest_ns, 9 * share - 9, 9 * share);
	assert_in_range(payoff.late_ns, 6 * share - 6, 6 * share);
	assert_true(payoff.rest_ns < payoff.other_ns);
	assert_in_range(payoff.pays_ns, payoff.late_ns + payoff.rest_ns - payoff.other_ns - 2,
			payoff.late_ns + payoff.rest_ns - payoff.other_ns + 2);
	assert_valid(collective, delay, 1, NULL, schedule);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_RELOCK, &change, 1), 0);
	assert_int_equal(
		morph_schedule_payoff(schedule, collective, &wanted, delay, &opts, &payoff), 0);
	assert_true(payoff.pays_ns == UINT64_MAX);
	opts.policy = MORPH_POLICY_ONE_SHOT;
	assert_int_equal(morph_schedule_payoff(schedule, collective, &wanted, delay, &opts,
					       &payoff),
			 -EINVAL);
	assert_non_null(strstr(morph_error_text(ctx), "more matchings than planes"));
	wanted.ranks = 1;
	assert_int_equal(morph_schedule_payoff(schedule, collective, &wanted, delay, NULL, &payoff),
			 -EINVAL);
	morph_delay_free(delay);
	morph_collective_free(collective);
	morph_schedule_free(schedule);
}

/*
 * The late rank blocks no other rank: neither if hops save changes, nor after a ring of all ranks.
 */
static void assert_without(const struct morph_collective *collective,
			   const struct morph_schedule *schedule, uint32_t late)
{
	uint32_t rounds = morph_collective_rounds_before(collective, late);
	struct morph_transfer transfer;
	struct morph_send send;

	for (uint32_t at = 0; !morph_schedule_send(schedule, at, &send); at++)
		for (uint32_t number = send.first;
		     send.round < rounds && number < send.first + send.count; number++) {
			assert_int_equal(morph_collective_transfer(collective, send.round, number,
								   &transfer),
					 0);
			for (uint32_t hop = 0; hop < send.hops; hop++) {
				uint32_t hold = morph_schedule_hop(schedule, at, hop), src, dst;

				for (uint32_t circuit = 0;
				     !morph_schedule_circuit(schedule, hold, circuit, &src, &dst) &&
				     src != transfer.src;
				     circuit++)
					;
				assert_int_equal(src, transfer.src);
				assert_int_not_equal(dst, late);
				transfer.src = dst;
			}
			assert_int_equal(transfer.src, transfer.dst);
		}
}

static void no_transfer_passes_the_late_rank(void **state)
{
	static const struct {
		uint32_t ranks, planes, scope, policy;
		uint64_t bytes, settle_ns;
	} all[] = {
		{ 8, 1, 0, 0, MIB, 100000 },
		{ 8, 2, 0, 0, MIB, 1000000 },
		{ 16, 1, 0, 0, 64 * MIB, 1000000 },
		{ 12, 2, 1, 0, MIB, 100000 },
		{ 8, 2, 2, 0, MIB, 100000 },
		{ 9, 4, 0, 0, 1024, 20000 },
		{ 3, 1, 0, 0, MIB, 100000 },
		{ 8, 1, 0, MORPH_POLICY_SEGMENTS, MIB, 100000 },
		{ 8, 2, 0, MORPH_POLICY_UNITED, MIB, 100000 },
	};

	(void)state;
	for (uint32_t at = 0; at < 2 * ARRAY_SIZE(all); at++) {
		uint32_t ranks = all[at / 2].ranks, planes = all[at / 2].planes;
		MORPH_OPTS(morph_schedule_opts, opts, .planes = planes);
		MORPH_OPTS(morph_collective_opts, wanted, .ranks = ranks,
			   .bytes = all[at / 2].bytes);
		struct morph_collective *before = ring(ranks, 64);
		struct morph_collective *collective = morph_collective_new(ctx);
		struct morph_schedule *first = morph_schedule_new(ctx);
		struct morph_schedule *schedule = morph_schedule_new(ctx);
		struct morph_delay *delay = some_delay(all[at / 2].scope);
		uint32_t numbers[] = { 2, 64 };
		uint64_t ns[] = { 2000, 20000 };
		struct morph_payoff payoff;

		assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE,
						      &all[at / 2].settle_ns, 1),
				 0);
		assert_int_equal(morph_delay_set_barrier(delay, numbers, ns, 2), 0);
		assert_int_equal(morph_schedule_plan(first, before, delay, &opts), 0);
		opts.policy = all[at / 2].policy;
		opts.after = at % 2 ? first : NULL;
		assert_int_equal(morph_schedule_payoff(schedule, collective, &wanted, delay, &opts,
						       &payoff),
				 0);
		assert_valid(collective, delay, planes, opts.after, schedule);
		assert_without(collective, schedule, ranks - 1);
		morph_delay_free(delay);
		morph_schedule_free(schedule);
		morph_schedule_free(first);
		morph_collective_free(collective);
		morph_collective_free(before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_rank_pays_where_changes_are_short),
		cmocka_unit_test(no_transfer_passes_the_late_rank),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
