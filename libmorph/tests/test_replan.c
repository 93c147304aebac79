// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules that go on without some ports: they are sound, use none that is lost, and change no more than has to be. */
#include "scheduling.h"

#include "../bench/lossy.h"
#include "../bench/random.h"

#define SEEDS 4000

/* What is held on a port that is lost is dark by then. */
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

/* Plan without what is lost, and look at what comes of it. Returns the verdict. */
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
	assert_sound(lossy->collective, lossy->delay, lossy->planes, NULL, schedule);
	assert_unused(lossy, schedule);
	assert_true(replanned->changed >= replanned->lost);
	return MORPH_FEASIBLE;
}

/* Few are left undecided: where what comes to a rank is of the chunks that it has still to send, by ways of others. */
static void whatever_is_lost_is_made_good(void **state)
{
	static const struct lossy_range range = { 3, 16, 1, 8, 4 };
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	uint32_t verdicts[4] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct morph_replanned replanned;
		struct lossy lossy;

		if (lossy_draw(ctx, seed, &range, &lossy))
			verdicts[make_good(&lossy, schedule, &replanned)]++;
		lossy_free(&lossy);
	}
	print_message("%u feasible, %u not, %u undecided\n", verdicts[MORPH_FEASIBLE],
		      verdicts[MORPH_INFEASIBLE], verdicts[MORPH_UNDECIDED]);
	assert_true(verdicts[MORPH_FEASIBLE] > SEEDS / 5);
	assert_true(verdicts[MORPH_UNDECIDED] < SEEDS / 400);
	morph_schedule_free(schedule);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_is_lost_is_made_good),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
