// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Schedules that continue without some ports: they are valid, use no lost port, and change no more
 * than necessary.
 */
#include "../internal/planner.h"
#include "faults.h"
#include "corruption.h"

#include "../bench/replan_exact.h"
#include "../bench/random.h"

#define SEEDS 4000 /* a quarter of which has a schedule */

/* Holds on a lost port end before the loss. */
static void assert_unused(const struct lossy *lossy, const struct morph_schedule *schedule)
{
	for (uint32_t at = 0; at < morph_schedule_holds(schedule); at++) {
		struct morph_hold hold;

		assert_int_equal(morph_schedule_hold(schedule, at, &hold), 0);
		for (uint32_t next = 0; next < hold.circuits; next++) {
			uint32_t src, dst;

			assert_int_equal(morph_schedule_circuit(schedule, at, next, &src, &dst), 0);
			for (uint32_t of = 0; of < lossy->opts.count; of++) {
				const struct morph_loss *loss = &lossy->losses[of];
				bool sends = loss->ports & MORPH_LOSS_TRANSMIT && src == loss->rank;
				bool receives = loss->ports & MORPH_LOSS_RECEIVE &&
						dst == loss->rank;

				if (loss->plane == hold.plane && (sends || receives))
					assert_true(hold.dark_ns <= lossy->opts.from_ns);
			}
		}
	}
}

static bool all_planes_lost(const struct lossy *lossy, uint32_t rank, uint32_t port)
{
	uint64_t planes = 0;

	for (uint32_t at = 0; at < lossy->opts.count; at++)
		if (lossy->losses[at].rank == rank && lossy->losses[at].ports & port)
			planes |= 1ULL << lossy->losses[at].plane;
	return planes == (1ULL << lossy->planes) - 1;
}

static void assert_infeasible(const struct lossy *lossy, const struct morph_schedule *schedule)
{
	bool all = false;

	assert_true(morph_schedule_why(schedule)[0]);
	for (uint32_t rank = 0; rank < morph_collective_ranks(lossy->collective); rank++)
		all = all || all_planes_lost(lossy, rank, MORPH_LOSS_TRANSMIT) ||
		      all_planes_lost(lossy, rank, MORPH_LOSS_RECEIVE);
	assert_true(all);
}

/* Plan without the lost ports, and check the result. Returns the verdict. */
static uint32_t make_good(const struct lossy *lossy, struct morph_schedule *schedule,
			  struct morph_replanned *replanned)
{
	assert_int_equal(morph_schedule_replan(schedule, lossy->schedule, lossy->collective,
					       lossy->delay, &lossy->opts, replanned),
			 0);
	if (morph_schedule_verdict(schedule) == MORPH_INFEASIBLE)
		assert_infeasible(lossy, schedule);
	if (morph_schedule_verdict(schedule) != MORPH_FEASIBLE)
		return morph_schedule_verdict(schedule);
	assert_valid(lossy->collective, lossy->delay, lossy->planes, NULL, schedule);
	assert_unused(lossy, schedule);
	assert_true(replanned->changed >= replanned->lost);
	return MORPH_FEASIBLE;
}

/* Number of schedules with each result. */
struct tally {
	uint32_t verdicts[4];
	uint32_t same, fewer, more; /* circuits than the oracle has, where it is not exact */
	uint32_t dear; /* of the same, where more have to change than are lost */
};

static void compare(const struct lossy *lossy, const struct morph_replanned *replanned,
		    struct tally *tally)
{
	struct replan_least least = replan_exact(lossy);

	if (least.apart)
		assert_int_equal(replanned->changed, least.changed);
	tally->same += replanned->changed == least.changed;
	tally->fewer += replanned->changed < least.changed;
	tally->more += replanned->changed > least.changed;
	tally->dear += replanned->changed == least.changed && least.changed > replanned->lost;
}

static struct tally lose_by_chance(const struct lossy_range *range, uint64_t first, uint64_t last)
{
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct tally tally = { 0 };

	for (uint64_t seed = first; seed <= last; seed++) {
		struct morph_replanned replanned;
		struct lossy lossy;

		if (lossy_draw(ctx, seed, range, &lossy)) {
			uint32_t verdict = make_good(&lossy, schedule, &replanned);

			tally.verdicts[verdict]++;
			if (verdict == MORPH_FEASIBLE)
				compare(&lossy, &replanned, &tally);
		}
		lossy_free(&lossy);
	}
	morph_schedule_free(schedule);
	print_message("%u feasible, %u not, %u undecided; %u as the oracle, %u of them dear; %u "
		      "fewer, %u more\n",
		      tally.verdicts[MORPH_FEASIBLE], tally.verdicts[MORPH_INFEASIBLE],
		      tally.verdicts[MORPH_UNDECIDED], tally.same, tally.dear, tally.fewer,
		      tally.more);
	return tally;
}

/* The number of changes is always the least. */
static void one_port_changes_the_least(void **state)
{
	static const struct lossy_range range = { 4, 16, 2, 8, 1 };
	struct tally tally = lose_by_chance(&range, 1, SEEDS);

	(void)state;
	assert_true(tally.same > SEEDS / 5);
	assert_int_equal(tally.same + tally.fewer, tally.verdicts[MORPH_FEASIBLE]);
	assert_int_equal(tally.verdicts[MORPH_INFEASIBLE], 0);
}

/* With few planes there are few alternatives. */
static void one_port_of_few_changes_the_least(void **state)
{
	static const struct lossy_range range = { 2, 8, 1, 3, 1 };
	struct tally tally = lose_by_chance(&range, SEEDS + 1, 2 * SEEDS);

	(void)state;
	assert_int_equal(tally.same + tally.fewer, tally.verdicts[MORPH_FEASIBLE]);
	assert_true(tally.fewer < SEEDS / 400);
	assert_true(tally.dear > 0);
	assert_true(tally.verdicts[MORPH_INFEASIBLE] > 0);
}

/*
 * Few are undecided: those in which data for a rank consists of chunks that it must still send,
 * over other ranks.
 */
static void several_ports_are_made_good(void **state)
{
	static const struct lossy_range range = { 3, 16, 1, 8, 4 };
	struct tally tally = lose_by_chance(&range, 1, SEEDS);

	(void)state;
	assert_true(tally.verdicts[MORPH_FEASIBLE] > SEEDS / 5);
	assert_true(tally.verdicts[MORPH_UNDECIDED] < SEEDS / 400);
	assert_true(tally.more < SEEDS / 1000);
}

/* Inserted waits do not hide the corruption. */
static void corrupt_plans_are_rejected(void **state)
{
	static const struct lossy_range range = { 2, 12, 1, 6, MOST_LOSSES };
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	uint32_t rejected = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 1500; seed++) {
		struct morph_replanned replanned;
		struct lossy lossy;

		if (lossy_draw(ctx, seed, &range, &lossy) &&
		    make_good(&lossy, schedule, &replanned) == MORPH_FEASIBLE) {
			struct written written = write_schedule(lossy.collective, lossy.delay,
								lossy.planes, NULL, schedule);

			rejected += assert_corrupted_are_rejected(&written, seed, 30, NULL);
			forget_written(&written);
		}
		lossy_free(&lossy);
	}
	morph_schedule_free(schedule);
	assert_true(rejected > 4000);
}

/* Ports of circuits lit at the start can be lost, too. */
static void schedules_after_another_are_replanned(void **state)
{
	static const struct lossy_range range = { 2, 12, 1, 6, MOST_LOSSES };
	struct morph_schedule *next = morph_schedule_new(ctx), *schedule = morph_schedule_new(ctx);
	uint32_t rejected = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct lossy lossy;
		MORPH_OPTS(morph_schedule_opts, opts, .policy = seed % MORPH_POLICIES);

		if (lossy_draw(ctx, seed, &range, &lossy)) {
			opts.planes = lossy.planes;
			opts.after = lossy.schedule;
			assert_int_equal(
				morph_schedule_plan(next, lossy.collective, lossy.delay, &opts), 0);
			if (morph_schedule_verdict(next) == MORPH_FEASIBLE)
				assert_int_equal(
					morph_schedule_replan(schedule, next, lossy.collective,
							      lossy.delay, &lossy.opts, NULL),
					0);
			if (morph_schedule_verdict(next) == MORPH_FEASIBLE &&
			    morph_schedule_verdict(schedule) == MORPH_FEASIBLE) {
				struct written written = write_schedule(lossy.collective,
									lossy.delay, lossy.planes,
									lossy.schedule, schedule);
				char report[256];

				if (check_written(&written, report))
					fail_msg("seed %llu: %s", (unsigned long long)seed, report);
				rejected += assert_corrupted_are_rejected(&written, seed, 15, NULL);
				forget_written(&written);
			}
		}
		lossy_free(&lossy);
	}
	morph_schedule_free(schedule);
	morph_schedule_free(next);
	assert_true(rejected > 1000);
}

static void every_allocation_may_fail(void **state)
{
	static const struct lossy_range range = { 3, 6, 2, 4, 2 };
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_replanned replanned;
	uint32_t failed = 0, moved = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct lossy lossy;
		bool struck = lossy_draw(ctx, seed, &range, &lossy);

		for (unsigned int nth = 1; struck; nth++) {
			int ret;

			fault_at("memory", nth, ENOMEM);
			ret = morph_schedule_replan(schedule, lossy.schedule, lossy.collective,
						    lossy.delay, &lossy.opts, &replanned);
			struck = fault_struck();
			assert_int_equal(ret, struck ? -ENOMEM : 0);
			assert_true(!struck || !morph_schedule_verdict(schedule));
			failed += struck;
			moved += !struck && replanned.moved;
		}
		lossy_free(&lossy);
	}
	morph_schedule_free(schedule);
	assert_true(failed > 200 && moved > 0);
}

/* ------------------------------------------------------------------------ by hand */

/* Each round sends from one rank to another, over its own circuit. */
static void plan_rounds(struct lossy *lossy, uint32_t policy, uint32_t planes,
			const uint32_t (*pairs)[2], uint32_t count)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planes, .policy = policy);

	*lossy = (struct lossy){ .collective = morph_collective_new(ctx),
				 .delay = some_delay(MORPH_DELAY_PORT_SCOPE),
				 .schedule = morph_schedule_new(ctx),
				 .opts = { .sz = sizeof(lossy->opts), .losses = lossy->losses },
				 .planes = planes };
	assert_int_equal(morph_collective_begin(lossy->collective, 4), 0);
	for (uint32_t at = 0; at < count; at++) {
		int chunk = morph_collective_add_chunk(lossy->collective, pairs[at][0],
						       pairs[at][1], 100000);

		assert_int_equal(morph_collective_add_round(lossy->collective), at);
		assert_true(morph_collective_add_transfer(lossy->collective, pairs[at][0],
							  pairs[at][1], false) >= 0);
		assert_int_equal(morph_collective_add_run(lossy->collective, (uint32_t)chunk, 1),
				 0);
	}
	assert_int_equal(
		morph_schedule_plan(lossy->schedule, lossy->collective, lossy->delay, &opts), 0);
}

/*
 * Data of two planes goes over the remaining one and takes longer. Without that one there is no
 * schedule.
 */
static void remaining_sends_are_shared(void **state)
{
	static const uint32_t pairs[][2] = { { 0, 1 } };
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_replanned replanned;
	struct lossy lossy;

	(void)state;
	plan_rounds(&lossy, MORPH_POLICY_EACH_ROUND, 2, pairs, 1);
	lossy.losses[0] = (struct morph_loss){ 0, 1, MORPH_LOSS_TRANSMIT };
	lossy.losses[1] = (struct morph_loss){ 1, 0, MORPH_LOSS_RECEIVE };
	lossy.opts.count = 1;
	assert_int_equal(make_good(&lossy, schedule, &replanned), MORPH_FEASIBLE);
	assert_int_equal(replanned.lost, 1);
	assert_int_equal(replanned.changed, 1);
	assert_int_equal(replanned.shared, 1);
	assert_int_equal(replanned.turns, 0);
	/* A round, a hop, and 50000 bytes at 12.5 bytes per nanosecond. */
	assert_int_equal(replanned.later_ns, 500 + 100 + 4000);
	/* Over another rank: two circuits instead of one. */
	lossy.opts.count = 2;
	assert_int_equal(make_good(&lossy, schedule, &replanned), MORPH_FEASIBLE);
	assert_int_equal(replanned.lost, 2);
	assert_int_equal(replanned.changed, 3);
	assert_int_equal(replanned.turns, 2);
	lossy.losses[1] = (struct morph_loss){ 0, 0, MORPH_LOSS_TRANSMIT };
	assert_int_equal(make_good(&lossy, schedule, &replanned), MORPH_INFEASIBLE);
	assert_string_equal(morph_schedule_why(schedule), "rank 0 has no port left to send from");
	morph_schedule_free(schedule);
	lossy_free(&lossy);
}

/* Holds that end before the loss are unchanged; without a loss, all are. */
static void earlier_sends_stay(void **state)
{
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 4, .policy = MORPH_POLICY_EACH_ROUND);
	MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_REDUCE,
		   .algorithm = MORPH_HALVING, .ranks = 16, .bytes = 1 << 20);
	struct lossy lossy = { .collective = morph_collective_new(ctx),
			       .delay = some_delay(MORPH_DELAY_PORT_SCOPE),
			       .schedule = morph_schedule_new(ctx),
			       .losses = { { 3, 2, MORPH_LOSS_TRANSMIT } },
			       .opts = { .sz = sizeof(lossy.opts), .losses = lossy.losses },
			       .planes = 4 };
	struct morph_replanned replanned;

	(void)state;
	assert_int_equal(morph_collective_build(lossy.collective, &wanted), 0);
	assert_int_equal(morph_schedule_plan(lossy.schedule, lossy.collective, lossy.delay, &opts),
			 0);
	lossy.opts.from_ns = morph_schedule_ns(lossy.schedule, NULL) / 2;
	for (lossy.opts.count = 0; lossy.opts.count < 2; lossy.opts.count++) {
		assert_int_equal(make_good(&lossy, schedule, &replanned), MORPH_FEASIBLE);
		assert_true(!lossy.opts.count == !replanned.changed);
		for (uint32_t at = 0; at < morph_schedule_holds(lossy.schedule); at++) {
			struct morph_hold before, after;

			assert_int_equal(morph_schedule_hold(lossy.schedule, at, &before), 0);
			assert_int_equal(morph_schedule_hold(schedule, at, &after), 0);
			if (lossy.opts.count && before.dark_ns > lossy.opts.from_ns)
				break;
			assert_int_equal(before.plane, after.plane);
			assert_int_equal(before.circuits, after.circuits);
			assert_int_equal(before.lit_ns, after.lit_ns);
			assert_int_equal(before.dark_ns, after.dark_ns);
		}
	}
	morph_schedule_free(schedule);
	lossy_free(&lossy);
}

static void bad_losses_are_refused(void **state)
{
	static const uint32_t pairs[][2] = { { 0, 1 } };
	static const struct morph_loss bad[] = {
		{ 4, 0, 1 }, { 0, 1, 1 }, { 0, 0, 0 }, { 0, 0, 4 }
	};
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *other = some_delay(MORPH_DELAY_PLANE_SCOPE);
	struct morph_collective *larger = ring(7, 1);
	struct lossy lossy;

	(void)state;
	plan_rounds(&lossy, MORPH_POLICY_EACH_ROUND, 1, pairs, 1);
	lossy.opts.count = 1;
	for (uint32_t at = 0; at < 4; at++) {
		lossy.losses[0] = bad[at];
		assert_int_equal(morph_schedule_replan(schedule, lossy.schedule, lossy.collective,
						       lossy.delay, &lossy.opts, NULL),
				 -EINVAL);
	}
	lossy.opts.count = 0;
	lossy.opts.from_ns = UINT64_MAX;
	assert_int_equal(morph_schedule_replan(schedule, lossy.schedule, lossy.collective,
					       lossy.delay, &lossy.opts, NULL),
			 -EINVAL);
	lossy.opts.from_ns = 0;
	assert_int_equal(morph_schedule_replan(schedule, lossy.schedule, larger, lossy.delay,
					       &lossy.opts, NULL),
			 -EINVAL);
	assert_int_equal(morph_schedule_replan(schedule, lossy.schedule, lossy.collective, other,
					       &lossy.opts, NULL),
			 -EINVAL);
	assert_int_equal(morph_schedule_replan(lossy.schedule, lossy.schedule, lossy.collective,
					       lossy.delay, &lossy.opts, NULL),
			 -EINVAL);
	assert_int_equal(morph_schedule_replan(lossy.schedule, schedule, lossy.collective,
					       lossy.delay, &lossy.opts, NULL),
			 -EINVAL);
	lossy.opts.sz = 1;
	assert_true(morph_schedule_replan(schedule, lossy.schedule, lossy.collective, lossy.delay,
					  &lossy.opts, NULL) < 0);
	morph_collective_free(larger);
	morph_delay_free(other);
	morph_schedule_free(schedule);
	lossy_free(&lossy);
}

/* The same number of ranks, but fewer rounds, fewer or other transfers, or other bytes. */
static void other_rounds_are_refused(void **state)
{
	static const uint32_t planned[][2] = { { 0, 1 }, { 1, 2 }, { 2, 0 } };
	static const uint32_t others[][2] = { { 0, 2 }, { 2, 1 }, { 1, 0 } };
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct lossy lossy, other;

	(void)state;
	plan_rounds(&lossy, MORPH_POLICY_MATCHINGS, 1, planned, 3);
	lossy.losses[0] = (struct morph_loss){ 1, 0, 3 };
	lossy.opts.count = 1;
	for (uint32_t count = 0; count <= 3; count++) {
		struct morph_collective *collective = ring(4, 5);

		plan_rounds(&other, MORPH_POLICY_EACH_ROUND, 1, others, count);
		assert_int_equal(morph_schedule_replan(schedule, lossy.schedule, other.collective,
						       lossy.delay, &lossy.opts, NULL),
				 -EINVAL);
		assert_string_equal(morph_error_text(ctx), "it was planned for other rounds");
		assert_int_equal(morph_schedule_verdict(schedule), 0);
		assert_int_equal(morph_schedule_replan(schedule, lossy.schedule, collective,
						       lossy.delay, &lossy.opts, NULL),
				 -EINVAL);
		morph_collective_free(collective);
		lossy_free(&other);
	}
	morph_schedule_free(schedule);
	lossy_free(&lossy);
}

/* The same for schedules that begin with the lit circuits of another schedule. */
static void lost_initial_circuits_are_replaced(void **state)
{
	static const struct lossy_range range = { 3, 16, 1, 8, 3 };
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_schedule *follows = morph_schedule_new(ctx);
	uint32_t sound = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
		struct lossy lossy;

		if (lossy_draw(ctx, seed, &range, &lossy)) {
			MORPH_OPTS(morph_schedule_opts, opts, .planes = lossy.planes,
				   .after = lossy.schedule);

			lossy.opts.from_ns *= seed % 2;
			assert_int_equal(morph_schedule_plan(follows, lossy.collective, lossy.delay,
							     &opts),
					 0);
			assert_int_equal(morph_schedule_replan(schedule, follows, lossy.collective,
							       lossy.delay, &lossy.opts, NULL),
					 0);
			if (morph_schedule_verdict(schedule) == MORPH_FEASIBLE) {
				assert_valid(lossy.collective, lossy.delay, lossy.planes,
					     lossy.schedule, schedule);
				assert_unused(&lossy, schedule);
				sound++;
			}
		}
		lossy_free(&lossy);
	}
	assert_true(sound > SEEDS / 20);
	morph_schedule_free(follows);
	morph_schedule_free(schedule);
}

/* Each failed allocation is reported, and the next call succeeds. */
static void failed_allocations_are_reported(void **state)
{
	static const struct lossy_range range = { 8, 8, 2, 3, 3 };
	uint32_t struck = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct lossy lossy;

		for (unsigned int nth = 1; lossy_draw(ctx, seed, &range, &lossy); nth++) {
			struct morph_schedule *schedule = morph_schedule_new(ctx);
			int ret;

			fault_at("memory", nth, ENOMEM);
			ret = morph_schedule_replan(schedule, lossy.schedule, lossy.collective,
						    lossy.delay, &lossy.opts, NULL);
			assert_int_equal(ret, fault_struck() ? -ENOMEM : 0);
			struck += ret != 0;
			morph_schedule_free(schedule);
			if (!ret)
				break;
			lossy_free(&lossy);
		}
		lossy_free(&lossy);
	}
	assert_true(struck > 100);
}

/* Rounds that differ so much that each plane changes while the other sends. */
static void nothing_goes_to_a_plane_that_changes_meanwhile(void **state)
{
	static const struct {
		uint32_t round, src, dst;
	} moves[] = {
		{ 0, 7, 4 }, { 0, 3, 0 }, { 0, 0, 7 }, { 1, 2, 5 }, { 1, 0, 4 },
		{ 1, 6, 7 }, { 2, 2, 5 }, { 2, 0, 4 }, { 2, 6, 7 }, { 3, 2, 5 },
		{ 3, 0, 4 }, { 3, 6, 7 }, { 4, 3, 6 }, { 4, 5, 2 },
	};
	const uint32_t count = sizeof(moves) / sizeof(moves[0]);
	const uint64_t settle_ns = 8090;
	struct morph_loss loss = { .rank = 5, .plane = 1, .ports = MORPH_LOSS_RECEIVE };
	MORPH_OPTS(morph_replan_opts, lost, .losses = &loss, .count = 1);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2);
	struct morph_schedule *old = morph_schedule_new(ctx), *schedule = morph_schedule_new(ctx);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	assert_int_equal(morph_collective_begin(collective, 8), 0);
	for (uint32_t at = 0; at < count; at++)
		morph_collective_add_chunk(collective, moves[at].src, moves[at].dst, 27339);
	for (uint32_t at = 0; at < count; at++) {
		if (!at || moves[at].round != moves[at - 1].round)
			morph_collective_add_round(collective);
		morph_collective_add_transfer(collective, moves[at].src, moves[at].dst, 0);
		morph_collective_add_run(collective, at, 1);
	}
	morph_delay_set_link(delay, 600, 0, 100000);
	morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle_ns, 1);
	morph_delay_set_scope(delay, MORPH_DELAY_PLANE_SCOPE);
	for (; opts.policy < MORPH_POLICIES; opts.policy++) {
		assert_int_equal(morph_schedule_plan(old, collective, delay, &opts), 0);
		if (morph_schedule_verdict(old) != MORPH_FEASIBLE)
			continue;
		assert_int_equal(
			morph_schedule_replan(schedule, old, collective, delay, &lost, NULL), 0);
		if (morph_schedule_verdict(schedule) == MORPH_FEASIBLE)
			assert_valid(collective, delay, 2, NULL, schedule);
	}
	morph_delay_free(delay);
	morph_collective_free(collective);
	morph_schedule_free(schedule);
	morph_schedule_free(old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_port_changes_the_least),
		cmocka_unit_test(one_port_of_few_changes_the_least),
		cmocka_unit_test(several_ports_are_made_good),
		cmocka_unit_test(corrupt_plans_are_rejected),
		cmocka_unit_test(schedules_after_another_are_replanned),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(remaining_sends_are_shared),
		cmocka_unit_test(earlier_sends_stay),
		cmocka_unit_test(bad_losses_are_refused),
		cmocka_unit_test(other_rounds_are_refused),
		cmocka_unit_test(lost_initial_circuits_are_replaced),
		cmocka_unit_test(failed_allocations_are_reported),
		cmocka_unit_test(nothing_goes_to_a_plane_that_changes_meanwhile),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
