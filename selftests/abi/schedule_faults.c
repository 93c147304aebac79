// SPDX-License-Identifier: GPL-2.0-only
/* Schedules whose hardware fails or disappears, and queues that are closed and made again. */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define RANKS 4u
#define MOST_RANKS 8u
#define MOST_CIRCUITS 8u
#define INSTANT "settle_ns=0 relock_ns=0 write_ns=0"
#define OPAQUE_MDB 60000u
#define LATE_NS 300000000ll /* long after the deadline of the profile */

FIXTURE(faults)
{
	struct sim sim;
	int slice;
	struct morph_schedule_circuit circuits[2];
	struct morph_schedule_step steps[2];
	uint32_t held[2];
	struct morph_schedule_load load;
};

/* One circuit of rank 0, in one step. */
FIXTURE_SETUP(faults)
{
	sim_start(&self->sim, "server8", INSTANT);
	self->slice = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, self->slice);
	memset(self->steps, 0, sizeof(self->steps));
	self->held[0] = 0;
	self->held[1] = 1;
	self->circuits[0] = (struct morph_schedule_circuit){ .dst_rank = 1, .lanes_count = 1 };
	self->circuits[1] = (struct morph_schedule_circuit){ .dst_rank = 2, .lanes_count = 1 };
	self->steps[0].count = 1;
	self->load = (struct morph_schedule_load){
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(self->circuits, 1),
		.steps = ARRAY(self->steps, 1),
		.held = ARRAY(self->held, 1),
		.generation = GENERATION_ANY,
	};
}

FIXTURE_TEARDOWN(faults)
{
	close(self->slice);
	sim_stop(&self->sim);
}

#define LOAD() ioctl(self->slice, MORPH_SCHEDULE_LOAD, &self->load)

/* Return the number of lit circuits, or -1; store them in *circuits. */
static int lit(int slice, struct morph_circuit_info *circuits)
{
	struct morph_rank_info ranks[MOST_RANKS];
	struct morph_slice_info info;
	unsigned int i, count = 0;

	if (slice_read(slice, &info, ranks, MOST_RANKS, circuits, MOST_CIRCUITS))
		return -1;
	for (i = 0; i < info.circuits.count; i++)
		count += circuits[i].state == MORPH_CIRCUIT_LIT;
	return (int)count;
}

/* The first guide of a circuit's path loses its light. */
static int break_first_guide(const struct sim *sim, int slice, unsigned int circuit)
{
	uint32_t guides[64];

	if (circuit_guides(slice, circuit, guides, 64) <= 0)
		return -1;
	return sim_control(sim, "fault", "guide_lossy %u mdb=%u", guides[0], OPAQUE_MDB);
}

TEST_F(faults, barrier_that_no_rank_would_begin_is_refused)
{
	self->steps[0].advance = MORPH_ADVANCE_BARRIER;
	self->load.head.flags = MORPH_SCHEDULE_LOOP;
	ASSERT_EQ(-1, LOAD());
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, self->load.out_wrong_step);
	/* A schedule without a loop starts with START. */
	self->load.head.flags = 0;
	EXPECT_EQ(0, LOAD());
}

TEST_F(faults, circuit_of_no_step_is_refused)
{
	self->load.circuits.count = 2;
	ASSERT_EQ(-1, LOAD());
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(1, self->load.out_wrong_circuit);
}

TEST_F(faults, time_that_is_none_is_refused)
{
	self->steps[0].advance = MORPH_ADVANCE_TIME;
	ASSERT_EQ(-1, LOAD());
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(faults, schedules_of_a_slice_are_counted)
{
	unsigned int made, wavelengths = self->sim.info.wavelengths;

	for (made = 0; made < 100; made++) {
		self->circuits[0].lanes = 1ull << made % wavelengths;
		self->circuits[0].src_plane = made / wavelengths;
		self->circuits[0].dst_plane = made / wavelengths;
		if (LOAD())
			break;
	}
	EXPECT_EQ(64, made);
	EXPECT_EQ(EDQUOT, errno);
}

/* A repair handles everything that the steps of a slice hold. */
TEST_F(faults, resources_of_schedules_are_counted)
{
	static struct morph_schedule_step steps[MORPH_SCHEDULE_MOST_STEPS];
	static uint32_t held[MORPH_SCHEDULE_MOST_STEPS];
	unsigned int made, i;

	for (i = 0; i < MORPH_SCHEDULE_MOST_STEPS; i++)
		steps[i].count = 1;
	self->load.steps = (struct morph_array)ARRAY(steps, MORPH_SCHEDULE_MOST_STEPS);
	self->load.held = (struct morph_array)ARRAY(held, MORPH_SCHEDULE_MOST_STEPS);
	for (made = 0; made < 64; made++) {
		self->circuits[0].lanes = 1ull << made % self->sim.info.wavelengths;
		self->circuits[0].src_plane = made / self->sim.info.wavelengths;
		self->circuits[0].dst_plane = made / self->sim.info.wavelengths;
		for (i = 0; i < MORPH_SCHEDULE_MOST_STEPS; i++)
			steps[i].first = i;
		if (LOAD())
			break;
	}
	EXPECT_EQ(MORPH_SCHEDULE_MOST_HELD / MORPH_SCHEDULE_MOST_STEPS, made);
	EXPECT_EQ(EDQUOT, errno)
	TH_LOG("%s", last_detail);
}

TEST_F(faults, repair_of_another_circuit_spares_the_schedule)
{
	struct morph_change change = change_add(0, 1);
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	struct morph_event event;

	ASSERT_EQ(0, LOAD())
	TH_LOG("%s", last_detail);
	change.src_plane = change.dst_plane = 1;
	change.lanes_count = 1;
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	ASSERT_EQ(0, break_first_guide(&self->sim, self->slice, change.circuit));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_RECOVERED, PATIENCE_MS, &event));
	ASSERT_EQ(0, schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_START, NULL))
	TH_LOG("%s", last_detail);
	EXPECT_EQ(2, lit(self->slice, circuits));
	ASSERT_EQ(0, schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_STOP, NULL));
	EXPECT_EQ(1, lit(self->slice, circuits));
	EXPECT_NE(0, sim_lit_lanes(&self->sim, circuits[0].dst_rank));
}

/*
 * The circuit moves to another plane, because the schedule holds all other lanes of its old path.
 */
TEST_F(faults, path_released_by_a_repair_suits_the_schedule)
{
	struct morph_change change = change_add(0, 1);
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	struct morph_event event;
	long long turned;

	change.src_plane = change.dst_plane = 0;
	change.lanes = 1;
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	self->circuits[0].lanes = (1ull << self->sim.info.wavelengths) - 2;
	self->circuits[0].lanes_count = self->sim.info.wavelengths - 1;
	ASSERT_EQ(0, LOAD())
	TH_LOG("%s", last_detail);
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "laser_dead 0.0.0x1"));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_RECOVERED, PATIENCE_MS, &event));
	ASSERT_EQ(1, lit(self->slice, circuits));
	ASSERT_NE(0, circuits[0].src_plane);
	turned = sim_counter(&self->sim, "ops", "elements_written");
	ASSERT_EQ(0, schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_START, NULL))
	TH_LOG("%s", last_detail);
	EXPECT_EQ(turned, sim_counter(&self->sim, "ops", "elements_written"));
}

#define TARGETS 7u

/* Rank 0 sends to several ranks, one after the other, in a loop. */
struct turns {
	struct morph_schedule_circuit circuits[TARGETS];
	struct morph_schedule_step steps[TARGETS];
	uint32_t held[TARGETS];
	struct morph_schedule_load load;
};

static int load_turns(int slice, struct turns *turns, const unsigned int *ranks, unsigned int count)
{
	unsigned int i;

	memset(turns, 0, sizeof(*turns));
	for (i = 0; i < count; i++) {
		turns->circuits[i].dst_rank = ranks[i];
		turns->circuits[i].lanes_count = 1;
		turns->steps[i].first = i;
		turns->steps[i].count = 1;
		turns->held[i] = i;
	}
	turns->load = (struct morph_schedule_load){
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(turns->circuits, count),
		.steps = ARRAY(turns->steps, count),
		.held = ARRAY(turns->held, count),
		.generation = GENERATION_ANY,
	};
	turns->load.head.flags = MORPH_SCHEDULE_LOOP;
	return ioctl(slice, MORPH_SCHEDULE_LOAD, &turns->load);
}

struct way {
	uint32_t guides[64];
	int count;
};

static int position_in(const struct way *way, uint32_t guide)
{
	int at;

	for (at = 0; at < way->count && way->guides[at] != guide; at++)
		;
	return at;
}

/* Do two of the paths cross an element in different states, while the third does not cross it? */
static bool parts_off(const struct way *one, const struct way *other, const struct way *beside)
{
	int at, there;

	for (at = 0; at + 1 < one->count; at++) {
		there = position_in(other, one->guides[at]);
		if (there + 1 < other->count && other->guides[there + 1] != one->guides[at + 1] &&
		    position_in(beside, one->guides[at]) == beside->count)
			return true;
	}
	return false;
}

/* Find ranks for parts_off(): the first, the one beside, and the other one. */
static bool find_turns(int slice, struct turns *turns, unsigned int *ranks)
{
	static const unsigned int all[TARGETS] = { 1, 2, 3, 4, 5, 6, 7 };
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	struct way ways[TARGETS];
	unsigned int i, j, k;

	if (load_turns(slice, turns, all, TARGETS))
		return false;
	for (i = 0; i < TARGETS; i++) {
		if (schedule_act(slice, turns->load.out_schedule,
				 i ? MORPH_SCHEDULE_GO : MORPH_SCHEDULE_START, NULL) ||
		    lit(slice, circuits) != 1)
			return false;
		ways[i].count = circuit_guides(slice, circuits[0].circuit, ways[i].guides, 64);
	}
	if (schedule_act(slice, turns->load.out_schedule, MORPH_SCHEDULE_STOP, NULL) ||
	    schedule_act(slice, turns->load.out_schedule, MORPH_SCHEDULE_UNLOAD, NULL))
		return false;
	for (i = 0; i < TARGETS; i++)
		for (j = 0; j < TARGETS; j++)
			for (k = 0; k < TARGETS; k++)
				if (parts_off(&ways[i], &ways[k], &ways[j])) {
					ranks[0] = all[i];
					ranks[1] = all[j];
					ranks[2] = all[k];
					return true;
				}
	return false;
}

/* The patrol has read back all elements, which it does in chunks of the simulator's size. */
static bool reviewed(const struct sim *sim, long long before)
{
	return sim_counter(sim, "ops", "get_elements") >= before + sim->info.elements / 16 &&
	       core_rests(sim);
}

/* The driver turns elements back that only the schedule uses, even after the step failed. */
TEST_F(faults, elements_that_turn_late_are_turned_back)
{
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	unsigned int ranks[3];
	struct turns turns;
	long long before;
	int slice;

	close(self->slice);
	self->slice = -1;
	ASSERT_TRUE(WAIT_UNTIL((slice = slice_create(self->sim.fd, TARGETS + 1)) >= 0));
	ASSERT_TRUE(find_turns(slice, &turns, ranks))
	TH_LOG("%s", last_detail);
	ASSERT_EQ(0, load_turns(slice, &turns, ranks, 3));
	ASSERT_EQ(0, schedule_act(slice, turns.load.out_schedule, MORPH_SCHEDULE_START, NULL));
	ASSERT_EQ(0, schedule_act(slice, turns.load.out_schedule, MORPH_SCHEDULE_GO, NULL));
	before = sim_counter(&self->sim, "ops", "get_elements");
	/* The driver turns off lasers first, then programs elements. */
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "programming_timeout - after=2 late=%lld",
				 LATE_NS));
	ASSERT_EQ(-1, schedule_act(slice, turns.load.out_schedule, MORPH_SCHEDULE_GO, NULL));
	ASSERT_TRUE(WAIT_UNTIL(reviewed(&self->sim, before)));
	EXPECT_EQ(0, schedule_act(slice, turns.load.out_schedule, MORPH_SCHEDULE_START, NULL))
	TH_LOG("%s", last_detail);
	EXPECT_EQ(1, lit(slice, circuits));
	close(slice);
}

TEST_F(faults, lit_circuit_changes_its_plane_if_no_other_path_exists)
{
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	struct morph_event event;

	self->circuits[0].src_plane = MORPH_PLANE_ANY;
	self->circuits[0].dst_plane = MORPH_PLANE_ANY;
	ASSERT_EQ(0, LOAD());
	ASSERT_EQ(0,
		  schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_START, NULL));
	ASSERT_EQ(1, lit(self->slice, circuits));
	ASSERT_EQ(0, break_first_guide(&self->sim, self->slice, circuits[0].circuit));
	EXPECT_EQ(0, wait_event(self->slice, MORPH_EVENT_RECOVERED, PATIENCE_MS, &event));
	EXPECT_EQ(1, lit(self->slice, circuits));
}

/* slice, schedule, and the thread when it runs */
static void *wait_for_second(void *context)
{
	int *at = context;
	struct morph_schedule_act args = { .position = 2 };
	intptr_t error = 0;

	__atomic_store_n(&at[2], gettid(), __ATOMIC_RELEASE);
	if (schedule_act(at[0], (unsigned int)at[1], MORPH_SCHEDULE_WAIT, &args))
		error = errno;
	return (void *)error;
}

TEST_F(faults, waiter_learns_that_the_fabric_is_gone)
{
	pthread_t thread;
	void *error;
	int at[3] = {};

	ASSERT_EQ(0, LOAD());
	ASSERT_EQ(0,
		  schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_START, NULL));
	at[0] = self->slice;
	at[1] = (int)self->load.out_schedule;
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_second, at));
	wait_thread_asleep(&at[2]);
	sim_pull(&self->sim);
	ASSERT_EQ(0, pthread_join(thread, &error));
	EXPECT_EQ(ENODEV, (intptr_t)error);
	close(self->slice);
	sim_replug(&self->sim);
	self->slice = open("/dev/null", O_RDONLY);
}

TEST_F(faults, ring_that_was_closed_makes_room_for_another)
{
	struct morph_ring_setup setup;
	struct morph_ring_act close_it;
	unsigned int i;

	ASSERT_EQ(0, LOAD());
	for (i = 0; i < 40; i++) {
		setup = (struct morph_ring_setup){ .head = HEAD(morph_ring_setup),
						   .schedule = self->load.out_schedule,
						   .entries = 8 };
		ASSERT_EQ(0, ioctl(self->slice, MORPH_RING_SETUP, &setup))
		TH_LOG("ring %u: %s", i, last_detail);
		close_it = (struct morph_ring_act){ .head = HEAD(morph_ring_act),
						    .ring = setup.out_ring,
						    .verb = MORPH_RING_CLOSE };
		ASSERT_EQ(0, ioctl(self->slice, MORPH_RING_ACT, &close_it));
	}
	EXPECT_EQ(-1, ioctl(self->slice, MORPH_RING_ACT, &close_it));
	EXPECT_EQ(ENOENT, errno);
}

TEST_F(faults, dark_path_that_fails_is_rerouted)
{
	struct morph_schedule_info info = { .head = HEAD(morph_schedule_info) };
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	unsigned int tries;

	ASSERT_EQ(0, LOAD());
	info.schedule = self->load.out_schedule;
	ASSERT_EQ(0, ioctl(self->slice, MORPH_SCHEDULE_INFO, &info));
	ASSERT_EQ(0, break_first_guide(&self->sim, self->slice, info.first_circuit));
	/*
	 * The driver notices it only when light is missing, and does not know at once which part
	 * failed.
	 */
	for (tries = 0; tries < 8; tries++) {
		ASSERT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
		if (!schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_START, NULL))
			break;
		EXPECT_TRUE(errno == EAGAIN || errno == EIO)
		TH_LOG("%s", last_detail);
	}
	EXPECT_LT(0, tries);
	EXPECT_EQ(1, lit(self->slice, circuits));
}

static bool starts(int slice, unsigned int schedule)
{
	return !schedule_act(slice, schedule, MORPH_SCHEDULE_START, NULL);
}

/* Break paths until the schedule has none. */
static bool lose_paths(const struct sim *sim, int slice, const struct morph_schedule_info *info)
{
	unsigned int tries;

	for (tries = 0; tries < 64; tries++) {
		if (break_first_guide(sim, slice, info->first_circuit) ||
		    !slice_wait_state(slice, MORPH_SLICE_OK))
			return false;
		if (starts(slice, info->schedule)) {
			if (schedule_act(slice, info->schedule, MORPH_SCHEDULE_STOP, NULL))
				return false;
		} else if (errno == EHOSTUNREACH) {
			return true;
		}
	}
	return false;
}

/* Return whether an event reports other paths of a schedule. */
static bool reports_paths(int slice)
{
	struct morph_event event;

	while (!wait_event(slice, MORPH_EVENT_SCHEDULE, 0, &event))
		if (event.outcome == MORPH_OUTCOME_COMMITTED)
			return true;
	return false;
}

/*
 * The driver cannot find the broken guide, and quarantines healthy ones instead. Each second the
 * patrol tests some and returns them to use, so that the schedule may have a path again. Then lose
 * it again.
 */
TEST_F(faults, schedule_regains_paths_when_hardware_recovers)
{
	struct morph_schedule_info info = { .head = HEAD(morph_schedule_info) };
	struct morph_slice_info before, after;
	struct morph_event event;
	bool quiet = false;
	unsigned int round;

	ASSERT_EQ(0, LOAD());
	info.schedule = self->load.out_schedule;
	ASSERT_EQ(0, ioctl(self->slice, MORPH_SCHEDULE_INFO, &info));
	sim_refresh(&self->sim);
	for (round = 0; round < 8 && !quiet; round++) {
		ASSERT_TRUE(lose_paths(&self->sim, self->slice, &info))
		TH_LOG("%s", last_detail);
		/* The schedule was not running: the driver still notifies its owner. */
		EXPECT_EQ(0, wait_event(self->slice, MORPH_EVENT_SCHEDULE, PATIENCE_MS, &event));
		drain_events(self->slice);
		/*
		 * The driver notifies once. Hardware that other slices release does not help, and
		 * causes no event.
		 */
		ASSERT_EQ(0, slice_info(self->slice, &before));
		close(slice_create(self->sim.fd, 2));
		EXPECT_TRUE(sim_wait_free(&self->sim, self->sim.info.free));
		EXPECT_TRUE(WAIT_UNTIL(core_rests(&self->sim)));
		ASSERT_EQ(0, slice_info(self->slice, &after));
		EXPECT_EQ(MORPH_SLICE_OK, after.state);
		quiet = before.generation == after.generation;
		EXPECT_TRUE(quiet || reports_paths(self->slice));
	}
	EXPECT_TRUE(quiet);
	ASSERT_EQ(0, sim_control(&self->sim, "clear", "all"));
	EXPECT_TRUE(WAIT_UNTIL(starts(self->slice, info.schedule)))
	TH_LOG("%s", last_detail);
}

TEST_F(faults, rank_that_was_replaced_before_the_start_is_lit)
{
	struct morph_circuit_info circuits[MOST_CIRCUITS];

	ASSERT_EQ(0, LOAD());
	ASSERT_EQ(0, rank_act(self->slice, MORPH_RANK_REPLACE, 0, MORPH_ANY, NULL));
	ASSERT_EQ(0, schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_START, NULL))
	TH_LOG("%s", last_detail);
	ASSERT_EQ(1, lit(self->slice, circuits));
	EXPECT_NE(0, circuits[0].margin_mdb);
}

static bool is_lit(int slice, unsigned int dst_rank)
{
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	struct morph_rank_info ranks[MOST_RANKS];
	struct morph_slice_info info;
	unsigned int i;

	if (slice_read(slice, &info, ranks, MOST_RANKS, circuits, MOST_CIRCUITS))
		return false;
	for (i = 0; i < info.circuits.count; i++)
		if (circuits[i].state == MORPH_CIRCUIT_LIT && circuits[i].dst_rank == dst_rank)
			return true;
	return false;
}

/* The driver may be searching paths of the next step. */
static bool goes_on(int slice, unsigned int schedule)
{
	return !schedule_act(slice, schedule, MORPH_SCHEDULE_GO, NULL);
}

/*
 * The rank stays on its spare until the owner returns to the first accelerator after the repair.
 * The next step of the schedule then lights a circuit of this accelerator.
 */
TEST_F(faults, failback_keeps_the_schedule)
{
	struct morph_rank_info ranks[RANKS];
	struct morph_slice_info info;
	uint32_t first;

	ASSERT_EQ(0, slice_read(self->slice, &info, ranks, RANKS, NULL, 0));
	first = ranks[0].accelerator;
	self->load.circuits.count = 2;
	self->load.steps.count = 2;
	self->load.held.count = 2;
	self->steps[1] = (struct morph_schedule_step){ .first = 1, .count = 1 };
	ASSERT_EQ(0, LOAD());
	ASSERT_EQ(0,
		  schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_START, NULL));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", first));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_REPLACED, PATIENCE_MS,
				&(struct morph_event){}));
	ASSERT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
	ASSERT_EQ(0, sim_control(&self->sim, "clear", "all"));
	ASSERT_TRUE(wait_health(&self->sim, first, MORPH_HEALTH_OK));
	EXPECT_TRUE(WAIT_UNTIL(core_rests(&self->sim)));
	ASSERT_EQ(0, slice_read(self->slice, &info, ranks, RANKS, NULL, 0));
	EXPECT_NE(first, ranks[0].accelerator);
	EXPECT_TRUE(WAIT_UNTIL(!rank_act(self->slice, MORPH_RANK_REPLACE, 0, first, NULL)))
	TH_LOG("%s", last_detail);
	ASSERT_EQ(0, slice_read(self->slice, &info, ranks, RANKS, NULL, 0));
	EXPECT_EQ(first, ranks[0].accelerator);
	EXPECT_EQ(MORPH_SLICE_OK, info.state);
	EXPECT_TRUE(is_lit(self->slice, 1));
	EXPECT_TRUE(WAIT_UNTIL(goes_on(self->slice, self->load.out_schedule)))
	TH_LOG("%s", last_detail);
	EXPECT_TRUE(is_lit(self->slice, 2));
	EXPECT_FALSE(is_lit(self->slice, 1));
	EXPECT_EQ(0, schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_STOP, NULL))
	TH_LOG("%s", last_detail);
}

TEST_F(faults, waiter_of_one_run_is_not_answered_by_the_next)
{
	pthread_t thread;
	void *error;
	int at[3] = {};

	ASSERT_EQ(0, LOAD());
	at[0] = self->slice;
	at[1] = (int)self->load.out_schedule;
	ASSERT_EQ(0, schedule_act(self->slice, at[1], MORPH_SCHEDULE_START, NULL));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_second, at));
	wait_thread_asleep(&at[2]);
	ASSERT_EQ(0, schedule_act(self->slice, at[1], MORPH_SCHEDULE_STOP, NULL));
	ASSERT_EQ(0, schedule_act(self->slice, at[1], MORPH_SCHEDULE_START, NULL));
	ASSERT_EQ(0, pthread_join(thread, &error));
	EXPECT_EQ(ECANCELED, (intptr_t)error);
}

TEST_F(faults, time_that_changes_nothing_is_no_microsecond)
{
	self->load.head.flags = MORPH_SCHEDULE_LOOP;
	self->steps[0].advance = MORPH_ADVANCE_TIME;
	self->steps[0].after_ns = 1000;
	ASSERT_EQ(-1, LOAD());
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, self->load.out_wrong_step);
	self->steps[0].after_ns = 100000;
	EXPECT_EQ(0, LOAD());
}

TEST_F(faults, state_says_that_the_fabric_is_gone)
{
	size_t bytes = MORPH_STATE_BYTES(RANKS * RANKS);
	volatile struct morph_state_page *page;
	volatile struct morph_state_pair *pairs;

	page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, self->slice, 0);
	ASSERT_NE(MAP_FAILED, (void *)page);
	pairs = (volatile void *)(page + 1);
	ASSERT_EQ(0, LOAD());
	ASSERT_EQ(0,
		  schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_START, NULL));
	EXPECT_NE(0, pairs[1].mbps);
	sim_pull(&self->sim);
	EXPECT_EQ(0, pairs[1].mbps);
	EXPECT_EQ(MORPH_SCHEDULE_STOPPED, page->state);
	EXPECT_EQ(0, page->version % 2);
	munmap((void *)page, bytes);
	close(self->slice);
	sim_replug(&self->sim);
	self->slice = open("/dev/null", O_RDONLY);
}

TEST_F(faults, schedule_does_not_go_on_while_the_machine_sleeps)
{
	struct morph_schedule_act act = { .position = 1 };
	uint64_t before;

	if (write_file("/sys/power/pm_test", "freezer"))
		SKIP(return, "this kernel can't rehearse a suspend");
	self->steps[0].advance = MORPH_ADVANCE_TIME;
	self->steps[0].after_ns = 20000000;
	self->steps[1] = self->steps[0];
	self->steps[1].count = 0;
	self->load.steps.count = 2;
	self->load.head.flags = MORPH_SCHEDULE_LOOP;
	ASSERT_EQ(0, LOAD());
	ASSERT_EQ(0,
		  schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_START, NULL));
	ASSERT_EQ(0, schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_WAIT, &act));
	before = act.out_position;
	EXPECT_EQ(0, write_file("/sys/power/state", "freeze"));
	EXPECT_EQ(0, write_file("/sys/power/pm_test", "none"));
	ASSERT_EQ(0, schedule_act(self->slice, self->load.out_schedule, MORPH_SCHEDULE_WAIT, &act));
	/*
	 * The rehearsal takes five seconds. Without it the schedule would have advanced by some
	 * hundred steps.
	 */
	EXPECT_GT(before + 50, act.out_position);
}

TEST_F(faults, ring_in_the_pages_of_a_file_is_refused)
{
	struct morph_ring_setup setup = { .head = HEAD(morph_ring_setup), .entries = 8 };
	size_t bytes = 1 << 16;
	void *memory;
	int file;

	ASSERT_EQ(0, LOAD());
	mkdir("/tmp/morph-ram", 0700);
	ASSERT_EQ(0, mount("none", "/tmp/morph-ram", "ramfs", 0, NULL));
	file = open("/tmp/morph-ram/ring", O_RDWR | O_CREAT, 0600);
	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, (off_t)bytes));
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, memory);
	setup.schedule = self->load.out_schedule;
	setup.head.flags = MORPH_RING_USER;
	setup.user_ptr = (uintptr_t)memory;
	EXPECT_EQ(-1, ioctl(self->slice, MORPH_RING_SETUP, &setup));
	/* Newer kernels refuse to pin such pages. */
	EXPECT_TRUE(errno == EOPNOTSUPP || errno == EFAULT);
	munmap(memory, bytes);
	close(file);
	umount("/tmp/morph-ram");
}

TEST_HARNESS_MAIN
