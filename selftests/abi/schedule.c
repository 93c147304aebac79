// SPDX-License-Identifier: GPL-2.0-only
/* Schedules: the hardware that they hold, the ways to step them, and their limits. */
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "shifts.h"

#define RANKS SHIFT_RANKS
#define STEPS SHIFT_STEPS
#define INSTANT "settle_ns=0 relock_ns=0 write_ns=0"
#define MS 1000000ull

static int act(int slice, unsigned int schedule, unsigned int verb, uint64_t position,
	       struct morph_schedule_act *result)
{
	struct morph_schedule_act args = { .position = position };
	int ret = schedule_act(slice, schedule, verb, &args);

	if (result)
		*result = args;
	return ret;
}

static int start_at(int slice, unsigned int schedule, unsigned int step)
{
	struct morph_schedule_act args = { .step = step };

	return schedule_act(slice, schedule, MORPH_SCHEDULE_START, &args);
}

static int jump(int slice, unsigned int schedule, unsigned int step, uint64_t position)
{
	struct morph_schedule_act args = { .step = step, .position = position };

	return schedule_act(slice, schedule, MORPH_SCHEDULE_JUMP, &args);
}

static int arrive(int slice, unsigned int schedule, unsigned int rank, uint64_t position)
{
	struct morph_schedule_act args = { .rank = rank, .position = position };

	return schedule_act(slice, schedule, MORPH_SCHEDULE_ARRIVE, &args);
}

/* Return the current state of the element, or -1. */
static int state_of(int slice, unsigned int schedule)
{
	struct morph_schedule_info info;

	return shifts_info(slice, schedule, &info, NULL) ? -1 : (int)info.state;
}

static uint64_t position_of(int slice, unsigned int schedule)
{
	struct morph_schedule_info info;

	return shifts_info(slice, schedule, &info, NULL) ? 0 : info.position;
}

/* Are exactly the circuits from each rank to the rank @shift further lit? */
static bool shift_is_lit(int slice, unsigned int shift)
{
	struct morph_circuit_info circuits[RANKS * STEPS];
	struct morph_rank_info ranks[RANKS];
	struct morph_slice_info info;
	unsigned int i;

	if (slice_read(slice, &info, ranks, RANKS, circuits, RANKS * STEPS) ||
	    info.circuits.count != (shift ? RANKS : 0))
		return false;
	for (i = 0; i < info.circuits.count; i++)
		if (circuits[i].state != MORPH_CIRCUIT_LIT ||
		    circuits[i].dst_rank != (circuits[i].src_rank + shift) % RANKS)
			return false;
	return true;
}

FIXTURE(schedule)
{
	struct sim sim;
	int slice;
	struct shifts shifts;
};

FIXTURE_SETUP(schedule)
{
	sim_start(&self->sim, "server8", INSTANT);
	self->slice = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, self->slice);
	shifts_make(&self->shifts, MORPH_ADVANCE_CALL, false);
}

FIXTURE_TEARDOWN(schedule)
{
	close(self->slice);
	EXPECT_TRUE(WAIT_UNTIL(sim_all_dark(&self->sim)));
	EXPECT_TRUE(sim_wait_free(&self->sim, self->sim.info.free));
	sim_stop(&self->sim);
}

static int load(int slice, struct shifts *shifts, unsigned int flags)
{
	shifts->load.head.flags = flags;
	if (ioctl(slice, MORPH_SCHEDULE_LOAD, &shifts->load))
		return -1;
	return (int)shifts->load.out_schedule;
}

#define LOAD(flags)                                                   \
	({                                                            \
		int __id = load(self->slice, &self->shifts, (flags)); \
                                                                      \
		ASSERT_LT(0, __id)                                    \
		TH_LOG("%s", last_detail);                            \
		(unsigned int)__id;                                   \
	})

TEST_F(schedule, nothing_is_lit_before_it_is_started)
{
	unsigned int id = LOAD(0);

	EXPECT_EQ(MORPH_SCHEDULE_LOADED, state_of(self->slice, id));
	EXPECT_TRUE(shift_is_lit(self->slice, 0));
	EXPECT_TRUE(sim_all_dark(&self->sim));
}

TEST_F(schedule, steps_follow_each_other)
{
	unsigned int id = LOAD(0), step;
	struct morph_schedule_act result;

	for (step = 0; step < STEPS; step++) {
		ASSERT_EQ(0, act(self->slice, id, step ? MORPH_SCHEDULE_GO : MORPH_SCHEDULE_START,
				 step ? step + 1 : 0, &result))
		TH_LOG("%s", last_detail);
		EXPECT_EQ(step + 1, result.out_position);
		EXPECT_EQ(step, result.out_step);
		EXPECT_EQ(MORPH_SCHEDULE_RUNNING, result.out_state);
		EXPECT_TRUE(shift_is_lit(self->slice, step + 1));
	}
}

TEST_F(schedule, after_the_last_step_there_is_none)
{
	unsigned int id = LOAD(0);

	ASSERT_EQ(0, start_at(self->slice, id, STEPS - 1));
	ASSERT_EQ(-1, act(self->slice, id, MORPH_SCHEDULE_GO, 0, NULL));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_TRUE(shift_is_lit(self->slice, STEPS));
}

TEST_F(schedule, loop_begins_again)
{
	unsigned int id = LOAD(MORPH_SCHEDULE_LOOP), lap;

	ASSERT_EQ(0, start_at(self->slice, id, 0));
	for (lap = 1; lap < 3 * STEPS; lap++) {
		ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_GO, lap + 1, NULL))
		TH_LOG("%s", last_detail);
		EXPECT_TRUE(shift_is_lit(self->slice, lap % STEPS + 1));
	}
}

TEST_F(schedule, asked_twice_is_one_step)
{
	unsigned int id = LOAD(0);

	ASSERT_EQ(0, start_at(self->slice, id, 0));
	ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_GO, 2, NULL));
	ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_GO, 2, NULL));
	EXPECT_EQ(2, position_of(self->slice, id));
	ASSERT_EQ(-1, act(self->slice, id, MORPH_SCHEDULE_GO, 4, NULL));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(schedule, stopped_it_is_dark_and_can_be_started_again)
{
	unsigned int id = LOAD(0);

	ASSERT_EQ(0, start_at(self->slice, id, 1));
	ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_STOP, 0, NULL));
	EXPECT_TRUE(shift_is_lit(self->slice, 0));
	EXPECT_TRUE(sim_all_dark(&self->sim));
	EXPECT_EQ(MORPH_SCHEDULE_LOADED, state_of(self->slice, id));
	ASSERT_EQ(0, start_at(self->slice, id, 2));
	EXPECT_TRUE(shift_is_lit(self->slice, 3));
}

TEST_F(schedule, unloaded_it_holds_nothing)
{
	struct morph_guide_info before, after;
	unsigned int id, guide;
	int lost = 0;

	/* The hardware that one schedule holds is not available for a second one. */
	id = LOAD(0);
	ASSERT_EQ(-1, load(self->slice, &self->shifts, 0));
	EXPECT_EQ(EBUSY, errno);
	ASSERT_EQ(0, start_at(self->slice, id, 0));
	ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_UNLOAD, 0, NULL));
	ASSERT_EQ(-1, act(self->slice, id, MORPH_SCHEDULE_STOP, 0, NULL));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_TRUE(sim_all_dark(&self->sim));
	for (guide = 0; guide < self->sim.info.guides; guide++) {
		ASSERT_EQ(1, fabric_read(self->sim.fd, MORPH_FABRIC_READ_GUIDES, guide,
					 (struct morph_array)ARRAY(&after, 1)));
		before = after;
		lost += after.lanes_free != before.lanes;
	}
	EXPECT_EQ(0, lost);
	id = LOAD(0);
	ASSERT_EQ(0, start_at(self->slice, id, 0));
}

TEST_F(schedule, its_circuits_are_changed_by_steps_only)
{
	struct morph_change change;
	unsigned int id = LOAD(0);

	ASSERT_EQ(0, start_at(self->slice, id, 0));
	change = change_remove(self->shifts.load.out_circuit);
	ASSERT_EQ(-1, txn_run(self->slice, &change, 1, NULL));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_TRUE(shift_is_lit(self->slice, 1));
}

TEST_F(schedule, no_other_circuit_gets_held_resources)
{
	struct morph_change change = change_add(0, 2);
	unsigned int lit = 0;

	LOAD(0);
	/* The schedule holds its ports of plane 0 for each step. */
	change.src_plane = 0;
	ASSERT_EQ(-1, txn_run(self->slice, &change, 1, NULL));
	for (lit = 0; lit < 64; lit++) {
		change = change_add(0, 2);
		change.lanes_count = 1;
		if (txn_run(self->slice, &change, 1, NULL))
			break;
		EXPECT_NE(0, change.src_plane);
	}
	EXPECT_EQ(0, start_at(self->slice, self->shifts.load.out_schedule, 0));
}

TEST_F(schedule, barrier_waits_for_ranks_that_change)
{
	unsigned int id, rank;

	shifts_make(&self->shifts, MORPH_ADVANCE_BARRIER, false);
	/* Rank 3 has no circuit in the first two steps: 0 to 1, 1 to 2; then 0 to 2. */
	self->shifts.steps[0].count = 2;
	self->shifts.steps[1].count = 1;
	self->shifts.circuits[2] = self->shifts.circuits[RANKS];
	self->shifts.held[RANKS] = 2;
	for (rank = 0; rank < RANKS; rank++) {
		self->shifts.circuits[3 + rank] = self->shifts.circuits[2 * RANKS + rank];
		self->shifts.held[2 * RANKS + rank] = 3 + rank;
	}
	self->shifts.load.circuits.count = 3 + RANKS;
	id = LOAD(0);
	ASSERT_EQ(0, start_at(self->slice, id, 0));
	for (rank = 0; rank < 3; rank++) {
		EXPECT_EQ(1, position_of(self->slice, id));
		ASSERT_EQ(0, arrive(self->slice, id, rank, 1));
	}
	EXPECT_EQ(2, position_of(self->slice, id));
	ASSERT_EQ(-1, arrive(self->slice, id, 0, 3));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, act(self->slice, id, MORPH_SCHEDULE_GO, 0, NULL));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(schedule, time_goes_on_by_itself)
{
	unsigned int id, i;

	shifts_make(&self->shifts, MORPH_ADVANCE_TIME, false);
	for (i = 0; i < STEPS; i++)
		self->shifts.steps[i].after_ns = MS;
	id = LOAD(MORPH_SCHEDULE_LOOP);
	ASSERT_EQ(0, start_at(self->slice, id, 0));
	ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_WAIT, 2 * STEPS, NULL));
	EXPECT_LE(2 * STEPS, position_of(self->slice, id));
	ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_STOP, 0, NULL));
	EXPECT_TRUE(sim_all_dark(&self->sim));
}

TEST_F(schedule, schedule_stops_at_its_deadline_and_light_stays)
{
	struct morph_schedule_info info;
	struct morph_event event;
	unsigned int id;

	self->shifts.steps[1].deadline_ns = MS;
	id = LOAD(0);
	ASSERT_EQ(0, start_at(self->slice, id, 0));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_SCHEDULE, PATIENCE_MS, &event));
	EXPECT_EQ(id, event.txn);
	EXPECT_EQ(1, event.circuit);
	ASSERT_EQ(0, shifts_info(self->slice, id, &info, NULL));
	EXPECT_EQ(MORPH_SCHEDULE_STOPPED, info.state);
	EXPECT_EQ(-ETIME, info.error);
	EXPECT_EQ(1, info.failed_step);
	EXPECT_TRUE(shift_is_lit(self->slice, 1));
	ASSERT_EQ(-1, act(self->slice, id, MORPH_SCHEDULE_GO, 0, NULL));
	EXPECT_EQ(ECANCELED, errno);
	/* It continues from the given step. */
	self->shifts.steps[1].deadline_ns = 0;
	ASSERT_EQ(0, start_at(self->slice, id, 1));
	EXPECT_TRUE(shift_is_lit(self->slice, 2));
}

TEST_F(schedule, free_circuits_of_the_next_step_are_lit_ahead)
{
	struct morph_schedule_step_info steps[STEPS];
	struct morph_schedule_info info;
	unsigned int id;

	shifts_make(&self->shifts, MORPH_ADVANCE_CALL, true);
	id = LOAD(0);
	ASSERT_EQ(0, shifts_info(self->slice, id, &info, steps));
	EXPECT_EQ(RANKS, steps[1].ahead);
	EXPECT_EQ(2 * RANKS, steps[1].changes);
	ASSERT_EQ(0, start_at(self->slice, id, 0));
	EXPECT_TRUE(
		WAIT_UNTIL(!shifts_info(self->slice, id, &info, NULL) && info.lit == 2 * RANKS));
	ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_GO, 0, NULL));
	ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_GO, 0, NULL));
	EXPECT_TRUE(WAIT_UNTIL(shift_is_lit(self->slice, 3)));
}

TEST_F(schedule, jump_skips_steps_and_their_light)
{
	struct morph_schedule_info info;
	unsigned int id;

	shifts_make(&self->shifts, MORPH_ADVANCE_CALL, true);
	id = LOAD(MORPH_SCHEDULE_LOOP);
	ASSERT_EQ(0, start_at(self->slice, id, 0));
	EXPECT_TRUE(
		WAIT_UNTIL(!shifts_info(self->slice, id, &info, NULL) && info.lit == 2 * RANKS));
	ASSERT_EQ(0, jump(self->slice, id, 2, 2));
	ASSERT_EQ(0, shifts_info(self->slice, id, &info, NULL));
	EXPECT_EQ(2, info.step);
	EXPECT_EQ(2, info.position);
	EXPECT_TRUE(WAIT_UNTIL(shift_is_lit(self->slice, 3)));
	/* This step is followed by the one after it. */
	ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_GO, 3, NULL));
	ASSERT_EQ(0, shifts_info(self->slice, id, &info, NULL));
	EXPECT_EQ(0, info.step);
	ASSERT_EQ(-1, jump(self->slice, id, STEPS, 0));
	EXPECT_EQ(EINVAL, errno);
}

/*
 * Return a guide of the circuits of one step that the circuits of the two other steps do not use,
 * or -1.
 */
static long guide_of_shift(int slice, unsigned int first, unsigned int shift)
{
	uint32_t guides[RANKS * STEPS][64], own = (shift - 1) * RANKS;
	int counts[RANKS * STEPS], at;
	unsigned int i, j;

	for (i = 0; i < RANKS * STEPS; i++)
		counts[i] = circuit_guides(slice, first + i, guides[i], 64);
	for (at = 0; at < counts[own]; at++) {
		bool alone = true;

		for (i = 0; i < RANKS * STEPS; i++)
			for (j = 0; i / RANKS != shift - 1 && (int)j < counts[i]; j++)
				alone &= guides[i][j] != guides[own][at];
		if (alone)
			return guides[own][at];
	}
	return -1;
}

TEST_F(schedule, failed_jump_keeps_the_light)
{
	struct morph_schedule_info info;
	unsigned int id;
	long guide;

	shifts_make(&self->shifts, MORPH_ADVANCE_CALL, true);
	id = LOAD(MORPH_SCHEDULE_LOOP);
	ASSERT_EQ(0, start_at(self->slice, id, 0));
	EXPECT_TRUE(
		WAIT_UNTIL(!shifts_info(self->slice, id, &info, NULL) && info.lit == 2 * RANKS));
	guide = guide_of_shift(self->slice, info.first_circuit, 3);
	ASSERT_LE(0, guide);
	/* No one notices lost light in a dark guide. */
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "guide_lossy %ld mdb=60000", guide));
	EXPECT_EQ(-1, jump(self->slice, id, 2, 2));
	EXPECT_EQ(EIO, errno) TH_LOG("%s", last_detail);
	EXPECT_EQ(MORPH_SCHEDULE_STOPPED, state_of(self->slice, id));
	EXPECT_TRUE(WAIT_UNTIL(shift_is_lit(self->slice, 1)));
}

TEST_F(schedule, jump_to_a_barrier_step_is_refused)
{
	unsigned int id;

	self->shifts.steps[2].advance = MORPH_ADVANCE_BARRIER;
	id = LOAD(0);
	ASSERT_EQ(0, start_at(self->slice, id, 0));
	ASSERT_EQ(-1, jump(self->slice, id, 2, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_TRUE(shift_is_lit(self->slice, 1));
}

TEST_F(schedule, failed_accelerator_is_replaced_and_it_goes_on)
{
	struct morph_rank_info ranks[RANKS];
	struct morph_slice_info slice;
	struct morph_schedule_info info;
	struct morph_event event;
	unsigned int id = LOAD(MORPH_SCHEDULE_LOOP), lap;

	ASSERT_EQ(0, start_at(self->slice, id, 0));
	ASSERT_EQ(0, slice_read(self->slice, &slice, ranks, RANKS, NULL, 0));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", ranks[1].accelerator));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_RECOVERED, PATIENCE_MS, &event));
	EXPECT_TRUE(shift_is_lit(self->slice, 1));
	ASSERT_EQ(0, shifts_info(self->slice, id, &info, NULL));
	EXPECT_EQ(MORPH_SCHEDULE_RUNNING, info.state);
	EXPECT_EQ(1, info.position);
	/*
	 * Each step has one circuit from the rank and one to it. Those of the first step were lit.
	 */
	EXPECT_LE(2 * STEPS, info.moved);
	for (lap = 1; lap < 2 * STEPS; lap++) {
		ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_GO, lap + 1, NULL))
		TH_LOG("%s", last_detail);
		EXPECT_TRUE(shift_is_lit(self->slice, lap % STEPS + 1));
	}
}

/* slice, schedule, and the thread when it runs */
static void *wait_for_second(void *context)
{
	int *at = context;
	intptr_t error = 0;

	__atomic_store_n(&at[2], gettid(), __ATOMIC_RELEASE);
	if (act(at[0], (unsigned int)at[1], MORPH_SCHEDULE_WAIT, 2, NULL))
		error = errno;
	return (void *)error;
}

TEST_F(schedule, waiter_learns_that_the_schedule_is_unloaded)
{
	unsigned int id = LOAD(0);
	int at[3] = { self->slice, (int)id };
	pthread_t thread;
	void *error;

	ASSERT_EQ(0, start_at(self->slice, id, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_second, at));
	wait_thread_asleep(&at[2]);
	ASSERT_EQ(0, act(self->slice, id, MORPH_SCHEDULE_UNLOAD, 0, NULL));
	ASSERT_EQ(0, pthread_join(thread, &error));
	EXPECT_EQ(ECANCELED, (intptr_t)error);
}

TEST_F(schedule, step_that_has_no_room_is_named)
{
	/* Rank 1 would receive from two ranks on one port. */
	self->shifts.circuits[RANKS + 2].dst_rank = 2;
	self->shifts.circuits[RANKS + 2].src_rank = 3;
	ASSERT_EQ(-1, load(self->slice, &self->shifts, 0));
	EXPECT_NE(MORPH_ANY, self->shifts.load.out_wrong_circuit);
	EXPECT_TRUE(sim_all_dark(&self->sim));
	shifts_make(&self->shifts, MORPH_ADVANCE_CALL, false);
	LOAD(0);
}

TEST_HARNESS_MAIN
