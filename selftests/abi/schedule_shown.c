// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the driver shows a schedule: in the slice's state page, in the cost of its steps, and in the
 * count of light checks.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "shifts.h"

#define RANKS SHIFT_RANKS
#define STEPS SHIFT_STEPS
#define MS 1000000ull
#define INSTANT "settle_ns=0 relock_ns=0 write_ns=0"
#define TIMED "settle_ns=1000000 relock_ns=100000 write_ns=0"
/* long enough for a reader to see it meanwhile */
#define SLOW "settle_ns=500000000 relock_ns=0 write_ns=0"
#define SLOW_TO_LOCK "settle_ns=0 relock_ns=500000000 write_ns=0"
#define VERY_SLOW "settle_ns=2500000000 relock_ns=0 write_ns=0"
#define SLOW_TO_WRITE "settle_ns=0 relock_ns=0 write_ns=50000000"
#define STATE_BYTES MORPH_STATE_BYTES(RANKS *RANKS)
#define OPAQUE_MDB 60000u

FIXTURE(shown)
{
	struct sim sim;
	int slice;
	struct shifts shifts;
	volatile struct morph_state_page *page;
	volatile struct morph_state_pair *pairs;
};

FIXTURE_SETUP(shown)
{
	shifts_make(&self->shifts, MORPH_ADVANCE_CALL, false);
}

FIXTURE_TEARDOWN(shown)
{
	munmap((void *)self->page, STATE_BYTES);
	close(self->slice);
	sim_stop(&self->sim);
}

static void begin(FIXTURE_DATA(shown) * self, const char *times)
{
	sim_start(&self->sim, "server8", times);
	self->slice = slice_create(self->sim.fd, RANKS);
	self->page = mmap(NULL, STATE_BYTES, PROT_READ, MAP_SHARED, self->slice, 0);
	self->pairs = (volatile void *)(self->page + 1);
}

static int load(FIXTURE_DATA(shown) * self)
{
	self->shifts.load.head.flags = MORPH_SCHEDULE_LOOP;
	return ioctl(self->slice, MORPH_SCHEDULE_LOAD, &self->shifts.load);
}

static int act(FIXTURE_DATA(shown) * self, unsigned int verb)
{
	return schedule_act(self->slice, self->shifts.load.out_schedule, verb, NULL);
}

static void *go(void *context)
{
	FIXTURE_DATA(shown) *self = context;

	return act(self, MORPH_SCHEDULE_GO) ? context : NULL;
}

TEST_F(shown, light_that_a_step_takes_away_is_not_shown_meanwhile)
{
	unsigned int generation;
	pthread_t thread;
	void *failed;

	begin(self, SLOW);
	ASSERT_EQ(0, load(self));
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_START));
	EXPECT_NE(0, self->pairs[1].mbps);
	generation = self->pairs[1].generation;
	ASSERT_EQ(0, pthread_create(&thread, NULL, go, self));
	EXPECT_TRUE(WAIT_UNTIL(!self->pairs[1].mbps));
	EXPECT_EQ(1, self->page->position);
	EXPECT_NE(generation, self->pairs[1].generation);
	EXPECT_EQ(0, self->pairs[2].mbps);
	pthread_join(thread, &failed);
	EXPECT_EQ(NULL, failed);
	EXPECT_NE(0, self->pairs[2].mbps);
}

TEST_F(shown, light_that_went_out_and_came_back_is_another)
{
	struct morph_change change = change_add(0, 1);
	unsigned int generation;
	struct morph_event event;
	uint32_t guides[64];

	begin(self, INSTANT);
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	generation = self->pairs[1].generation;
	ASSERT_LT(0, circuit_guides(self->slice, change.circuit, guides, 64));
	ASSERT_EQ(0,
		  sim_control(&self->sim, "fault", "guide_lossy %u mdb=%u", guides[0], OPAQUE_MDB));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_RECOVERED, PATIENCE_MS, &event));
	EXPECT_NE(0, self->pairs[1].mbps);
	/* One generation when it went out, and one when it came back. */
	EXPECT_LE(generation + 2, self->pairs[1].generation);
}

struct mover {
	int slice;
	struct morph_change change;
	int error;
};

static void *run_move(void *context)
{
	struct mover *mover = context;

	mover->error = txn_run(mover->slice, &mover->change, 1, NULL) ? errno : 0;
	return NULL;
}

/*
 * Both lights are on for a while, but the generation must change: a sender that used the old light
 * must not assume that all data has arrived.
 */
TEST_F(shown, light_that_moves_unseen_is_another)
{
	struct mover mover = { .change = change_add(0, 1) };
	unsigned int generation;
	pthread_t thread;

	begin(self, SLOW_TO_WRITE);
	mover.slice = self->slice;
	mover.change.src_plane = mover.change.dst_plane = 0;
	run_move(&mover);
	ASSERT_EQ(0, mover.error);
	generation = self->pairs[1].generation;
	mover.change.op = MORPH_CHANGE_MOVE;
	mover.change.src_plane = mover.change.dst_plane = 1;
	mover.change.lanes = 0;
	ASSERT_EQ(0, pthread_create(&thread, NULL, run_move, &mover));
	/* This happens before the old light goes out. */
	EXPECT_TRUE(WAIT_UNTIL(!self->pairs[1].mbps));
	pthread_join(thread, NULL);
	ASSERT_EQ(0, mover.error) TH_LOG("%s", last_detail);
	EXPECT_NE(0, self->pairs[1].mbps);
	EXPECT_LE(generation + 2, self->pairs[1].generation);
	EXPECT_EQ(0, mover.change.dark_ns);
}

struct revert {
	int slice;
	unsigned int txn;
	int error;
};

static void *run_revert(void *context)
{
	struct revert *revert = context;

	revert->error = txn_step(revert->slice, revert->txn, MORPH_TXN_REVERT, 0, NULL);
	return NULL;
}

/* No rank may send until the old light is back. */
TEST_F(shown, light_that_is_reverted_is_not_shown_meanwhile)
{
	struct morph_txn_run args = { .head.flags = MORPH_TXN_PREPARE,
				      .generation = GENERATION_ANY,
				      .lease_ns = 600000 * MS };
	struct morph_change change = change_add(0, 1);
	struct morph_circuit_info circuit;
	struct morph_slice_info info;
	struct revert revert;
	pthread_t thread;

	begin(self, SLOW_TO_LOCK);
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	ASSERT_EQ(0, slice_read(self->slice, &info, NULL, 0, &circuit, 1));
	change.op = MORPH_CHANGE_MOVE;
	change.circuit = circuit.circuit;
	change.src_plane = circuit.src_plane ? 0 : 1;
	change.dst_plane = circuit.dst_plane ? 0 : 1;
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, &args)) TH_LOG("%s", last_detail);
	ASSERT_EQ(0, txn_step(self->slice, args.out_txn, MORPH_TXN_COMMIT, 0, NULL));
	EXPECT_NE(0, self->pairs[1].mbps);
	revert = (struct revert){ .slice = self->slice, .txn = args.out_txn };
	ASSERT_EQ(0, pthread_create(&thread, NULL, run_revert, &revert));
	EXPECT_TRUE(WAIT_UNTIL(!self->pairs[1].mbps));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, revert.error);
	EXPECT_NE(0, self->pairs[1].mbps);
}

TEST_F(shown, step_that_meets_the_end_of_the_fabric_shows_nothing)
{
	pthread_t thread;
	unsigned int i;

	begin(self, SLOW);
	ASSERT_EQ(0, load(self));
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_START));
	ASSERT_EQ(0, pthread_create(&thread, NULL, go, self));
	EXPECT_TRUE(WAIT_UNTIL(!self->pairs[1].mbps));
	sim_pull(&self->sim);
	pthread_join(thread, NULL);
	for (i = 0; i < RANKS * RANKS; i++)
		EXPECT_EQ(0, self->pairs[i].mbps);
	EXPECT_EQ(MORPH_SCHEDULE_STOPPED, self->page->state);
	EXPECT_EQ(MORPH_ANY, self->page->step);
	close(self->slice);
	sim_replug(&self->sim);
	self->slice = open("/dev/null", O_RDONLY);
}

TEST_F(shown, schedule_that_comes_to_rest_does_not_hide_one_that_runs)
{
	unsigned int first, second, i;

	begin(self, INSTANT);
	ASSERT_EQ(0, load(self));
	first = self->shifts.load.out_schedule;
	for (i = 0; i < RANKS * STEPS; i++)
		self->shifts.circuits[i].src_plane = self->shifts.circuits[i].dst_plane = 1;
	ASSERT_EQ(0, load(self))
	TH_LOG("%s", last_detail);
	second = self->shifts.load.out_schedule;
	ASSERT_EQ(0, schedule_act(self->slice, first, MORPH_SCHEDULE_START, NULL));
	ASSERT_EQ(0, schedule_act(self->slice, second, MORPH_SCHEDULE_START, NULL));
	EXPECT_EQ(second, self->page->schedule);
	ASSERT_EQ(0, schedule_act(self->slice, first, MORPH_SCHEDULE_STOP, NULL));
	EXPECT_EQ(second, self->page->schedule);
	EXPECT_EQ(MORPH_SCHEDULE_RUNNING, self->page->state);
}

TEST_F(shown, step_reports_its_cost)
{
	struct morph_schedule_step_info steps[STEPS];
	struct morph_schedule_info info;
	unsigned int lap;

	begin(self, TIMED);
	ASSERT_EQ(0, load(self));
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_START));
	for (lap = 0; lap < 2 * STEPS; lap++) {
		/* The driver measures the part of the ranks. */
		usleep(2000);
		ASSERT_EQ(0, act(self, MORPH_SCHEDULE_GO));
	}
	ASSERT_EQ(0, shifts_info(self->slice, self->shifts.load.out_schedule, &info, steps));
	EXPECT_EQ(3, steps[0].runs);
	EXPECT_EQ(2, steps[1].runs);
	EXPECT_LE(3 * MS, steps[0].settle_ns);
	EXPECT_LE(2 * MS, steps[1].settle_ns);
	EXPECT_LE(2 * MS / 10, steps[1].relock_ns);
	EXPECT_LT(0, steps[1].program_ns);
	EXPECT_LT(0, steps[1].verify_ns);
	/* The first step has no earlier step to wait for. */
	EXPECT_LE(2 * 2 * MS, steps[0].wait_ns);
	EXPECT_LE(2 * 2 * MS, steps[1].wait_ns);
	EXPECT_LE(MS + MS / 10, steps[1].longest_ns);
	EXPECT_EQ(0, steps[1].late);
}

TEST_F(shown, light_ahead_counts_for_its_step)
{
	struct morph_schedule_step_info steps[STEPS];
	struct morph_schedule_info info;

	shifts_make(&self->shifts, MORPH_ADVANCE_CALL, true);
	begin(self, TIMED);
	ASSERT_EQ(0, load(self));
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_START));
	EXPECT_TRUE(
		WAIT_UNTIL(!shifts_info(self->slice, self->shifts.load.out_schedule, &info, NULL) &&
			   info.lit == 2 * RANKS));
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_GO));
	ASSERT_EQ(0, shifts_info(self->slice, self->shifts.load.out_schedule, &info, steps));
	EXPECT_LE(MS, steps[1].settle_ns);
}

TEST_F(shown, step_that_runs_at_its_deadline_is_late)
{
	struct morph_schedule_step_info steps[STEPS];
	struct morph_schedule_info info;

	begin(self, SLOW);
	self->shifts.steps[1].deadline_ns = 400 * MS;
	ASSERT_EQ(0, load(self));
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_START));
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_GO));
	ASSERT_EQ(0, shifts_info(self->slice, self->shifts.load.out_schedule, &info, steps));
	EXPECT_EQ(MORPH_SCHEDULE_RUNNING, info.state);
	EXPECT_EQ(1, steps[1].late);
}

/* The step waits for another change of the slice, although the call came in time. */
TEST_F(shown, step_that_was_called_before_its_deadline_is_late)
{
	struct morph_schedule_step_info steps[STEPS];
	struct mover mover = { .change = change_add(0, 1) };
	struct morph_schedule_info info;
	pthread_t thread;
	long long asked;

	begin(self, VERY_SLOW);
	self->shifts.steps[1].deadline_ns = 1500 * MS;
	ASSERT_EQ(0, load(self));
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_START));
	mover.slice = self->slice;
	mover.change.src_plane = mover.change.dst_plane = 1;
	asked = core_counter(&self->sim, "stats", "provider-ops");
	ASSERT_EQ(0, pthread_create(&thread, NULL, run_move, &mover));
	EXPECT_TRUE(WAIT_UNTIL(core_counter(&self->sim, "stats", "provider-ops") > asked));
	EXPECT_EQ(0, act(self, MORPH_SCHEDULE_GO))
	TH_LOG("%s", last_detail);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, mover.error);
	ASSERT_EQ(0, shifts_info(self->slice, self->shifts.load.out_schedule, &info, steps));
	EXPECT_EQ(MORPH_SCHEDULE_RUNNING, info.state);
	EXPECT_EQ(1, steps[1].late);
}

/* The repair takes longer than the deadline. */
TEST_F(shown, deadline_waits_for_a_repair)
{
	struct morph_schedule_info info;
	struct morph_rank_info ranks[RANKS];
	struct morph_slice_info slice;
	struct morph_event event;

	begin(self, VERY_SLOW);
	self->shifts.steps[1].deadline_ns = 2000 * MS;
	ASSERT_EQ(0, load(self));
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_START));
	ASSERT_EQ(0, slice_read(self->slice, &slice, ranks, RANKS, NULL, 0));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", ranks[1].accelerator));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_RECOVERED, PATIENCE_MS, &event));
	EXPECT_EQ(0, act(self, MORPH_SCHEDULE_GO))
	TH_LOG("%s", last_detail);
	ASSERT_EQ(0, shifts_info(self->slice, self->shifts.load.out_schedule, &info, NULL));
	EXPECT_EQ(MORPH_SCHEDULE_RUNNING, info.state);
	EXPECT_EQ(2, info.position);
}

/*
 * Elements that no circuit of a step uses stay as the earlier steps left them, so the second lap
 * differs from the first, and the third is like the second.
 */
TEST_F(shown, step_is_validated_again_if_elements_differ)
{
	long long judged[3];
	unsigned int lap, step;

	begin(self, INSTANT);
	ASSERT_EQ(0, load(self));
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_START));
	for (lap = 0; lap < 3; lap++) {
		for (step = 0; step < STEPS; step++)
			ASSERT_EQ(0, act(self, MORPH_SCHEDULE_GO));
		judged[lap] = core_counter(&self->sim, "stats", "steps-judged");
	}
	EXPECT_LT(0, judged[0]);
	EXPECT_EQ(judged[1], judged[2]);
}

/*
 * The check also covers accelerators whose tile the light crosses, although nothing is lit there.
 */
TEST_F(shown, step_is_validated_again_if_holders_change)
{
	unsigned int lap, step;
	long long judged;
	int other;

	begin(self, INSTANT);
	ASSERT_EQ(0, load(self));
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_START));
	for (lap = 0; lap < 2; lap++)
		for (step = 0; step < STEPS; step++)
			ASSERT_EQ(0, act(self, MORPH_SCHEDULE_GO));
	judged = core_counter(&self->sim, "stats", "steps-judged");
	other = slice_create(self->sim.fd, 2);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, act(self, MORPH_SCHEDULE_GO));
	EXPECT_LT(judged, core_counter(&self->sim, "stats", "steps-judged"));
	close(other);
}

TEST_HARNESS_MAIN
