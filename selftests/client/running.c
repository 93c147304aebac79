// SPDX-License-Identifier: GPL-2.0-only
/* Schedules, queues and state pages over the library: its results must match the driver's. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <morph/device.h>
#include <morph/morph.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define RANKS 4u
#define STEPS 3u
#define PATIENCE_NS (PATIENCE_MS * 1000000LL)
#define INSTANT "settle_ns=0 relock_ns=0 write_ns=0"

/* All resources of a test. */
FIXTURE(running)
{
	struct sim sim;
	struct morph_ctx *ctx;
	struct morph_slice *slice;
	struct morph_steps *steps;
};

/* Exchanges between four ranks: a loop of three steps. */
static int add_exchanges(struct morph_steps *steps, uint32_t begin)
{
	MORPH_OPTS(morph_step_opts, opts, .begin = begin);
	MORPH_OPTS(morph_steps_opts, whole, .loop = true);
	uint32_t held[RANKS], step, rank;
	int number = 0;

	for (step = 1; step <= STEPS && number >= 0; step++) {
		for (rank = 0; rank < RANKS && number >= 0; rank++) {
			number = morph_steps_circuit(steps, rank, rank ^ step, NULL);
			held[rank] = (uint32_t)number;
		}
		if (number >= 0)
			number = morph_steps_add(steps, held, RANKS, &opts);
	}
	return number < 0 ? number : morph_steps_set_opts(steps, &whole);
}

FIXTURE_SETUP(running)
{
	int fd;

	sim_start(&self->sim, "server8", INSTANT);
	ASSERT_EQ(0, morph_ctx_new(NULL, &self->ctx));
	fd = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, morph_slice_from_fd(self->ctx, fd, &self->slice))
	TH_LOG("%s", morph_error_text(self->ctx));
	close(fd);
	self->steps = morph_steps_new(self->ctx);
	ASSERT_NE(NULL, self->steps);
}

FIXTURE_TEARDOWN(running)
{
	morph_steps_free(self->steps);
	morph_slice_close(self->slice);
	morph_ctx_free(self->ctx);
	EXPECT_TRUE(WAIT_UNTIL(sim_all_dark(&self->sim)));
	EXPECT_TRUE(sim_wait_free(&self->sim, self->sim.info.free));
	sim_stop(&self->sim);
}

TEST_F(running, steps_are_lit_by_calls)
{
	MORPH_OPTS(morph_schedule_at, at);
	struct morph_object *info;
	uint32_t schedule, position;

	ASSERT_EQ(0, add_exchanges(self->steps, MORPH_STEP_CALL));
	ASSERT_EQ(0, morph_slice_schedule_load(self->slice, self->steps, &schedule))
	TH_LOG("%s", morph_error_text(self->ctx));
	EXPECT_GT(0, morph_slice_schedule_go(self->slice, schedule, MORPH_ANY, 1,
					     NULL)); /* the schedule does not run */
	ASSERT_EQ(0, morph_slice_schedule_start(self->slice, schedule, 1, &at));
	EXPECT_EQ(1, at.position);
	EXPECT_EQ(1, at.step);
	EXPECT_EQ(MORPH_SCHEDULE_RUNNING, at.state);
	for (position = 2; position < 8; position++) {
		ASSERT_EQ(0,
			  morph_slice_schedule_go(self->slice, schedule, MORPH_ANY, position, &at));
		EXPECT_EQ(position, at.position);
		EXPECT_EQ(position % STEPS, at.step);
		EXPECT_EQ(0,
			  morph_slice_schedule_go(self->slice, schedule, MORPH_ANY, position, &at));
		EXPECT_EQ(position, at.position);
	}
	ASSERT_EQ(0, morph_slice_schedule_info(self->slice, schedule, &info));
	EXPECT_EQ(schedule, morph_object_uint(info, "id"));
	EXPECT_STREQ("running", morph_object_text(info, "state"));
	EXPECT_EQ(7, morph_object_uint(info, "position"));
	EXPECT_EQ(STEPS, morph_object_values(info, "step"));
	EXPECT_EQ(3, morph_object_uint(morph_object_nested_at(info, "step", 1), "runs"));
	EXPECT_EQ(RANKS,
		  morph_object_uint(morph_object_nested_at(info, "step", 1), "circuits-count"));
	morph_object_free(info);
	ASSERT_EQ(0, morph_slice_schedule_go(self->slice, schedule, 1, 8, &at));
	EXPECT_EQ(8, at.position);
	EXPECT_EQ(1, at.step);
	ASSERT_EQ(0, morph_slice_schedule_stop(self->slice, schedule));
	EXPECT_TRUE(sim_all_dark(&self->sim));
	ASSERT_EQ(0, morph_slice_schedule_unload(self->slice, schedule));
	EXPECT_EQ(-ENOENT, morph_slice_schedule_info(self->slice, schedule, &info));
}

TEST_F(running, all_schedules_are_listed)
{
	struct morph_list *list;
	uint32_t first, second;

	ASSERT_EQ(0, morph_slice_schedules(self->slice, &list));
	EXPECT_EQ(0, morph_list_count(list));
	morph_list_free(list);
	ASSERT_EQ(0, morph_steps_circuit(self->steps, 0, 1, NULL));
	ASSERT_EQ(0, morph_steps_add(self->steps, (const uint32_t[]){ 0 }, 1, NULL));
	ASSERT_EQ(0, morph_slice_schedule_load(self->slice, self->steps, &first));
	ASSERT_EQ(0, morph_slice_schedule_load(self->slice, self->steps, &second));
	ASSERT_EQ(0, morph_slice_schedules(self->slice, &list));
	ASSERT_EQ(2, morph_list_count(list));
	EXPECT_EQ(first, morph_object_uint(morph_list_get(list, 0), "id"));
	EXPECT_EQ(second, morph_object_uint(morph_list_get(list, 1), "id"));
	EXPECT_STREQ("loaded", morph_object_text(morph_list_get(list, 1), "state"));
	EXPECT_EQ(0, morph_object_values(morph_list_get(list, 1), "at"));
	morph_list_free(list);
}

TEST_F(running, refusals_name_the_cause)
{
	static const uint32_t both[] = { 0, 1 };
	MORPH_OPTS(morph_circuit_opts, opts, .src_plane = 0, .flags = MORPH_CIRCUIT_SRC_PLANE);
	uint32_t schedule;

	ASSERT_EQ(0, morph_steps_circuit(self->steps, 0, 1, &opts));
	ASSERT_EQ(1, morph_steps_circuit(self->steps, 0, 2, &opts));
	ASSERT_EQ(0, morph_steps_add(self->steps, both, 1, NULL));
	ASSERT_EQ(1, morph_steps_add(self->steps, both, 2, NULL));
	EXPECT_GT(0, morph_slice_schedule_load(self->slice, self->steps, &schedule));
	EXPECT_NE(NULL, strstr(morph_error_text(self->ctx), "circuit 1]"))
	TH_LOG("%s", morph_error_text(self->ctx));
	morph_steps_set_generation(self->steps, 99);
	EXPECT_EQ(-ESTALE, morph_slice_schedule_load(self->slice, self->steps, &schedule));
}

/* A thread that waits, with its own context. */
struct waiter {
	int fd;
	uint32_t schedule;
	uint64_t position;
	pid_t tid; /* posted just before it waits */
	int result;
};

static void *wait_for(void *argument)
{
	struct waiter *waiter = argument;
	struct morph_slice *slice;
	struct morph_ctx *ctx;

	waiter->result = morph_ctx_new(NULL, &ctx);
	if (waiter->result)
		return NULL;
	waiter->result = morph_slice_from_fd(ctx, waiter->fd, &slice);
	if (!waiter->result) {
		__atomic_store_n(&waiter->tid, gettid(), __ATOMIC_RELEASE);
		waiter->result =
			morph_slice_schedule_wait(slice, waiter->schedule, waiter->position);
	}
	morph_slice_close(slice);
	morph_ctx_free(ctx);
	return NULL;
}

TEST_F(running, ranks_arrive_and_are_waited_for)
{
	struct waiter waiter = { .fd = morph_slice_get_fd(self->slice), .position = 2 };
	pthread_t thread;
	uint32_t rank;

	ASSERT_EQ(0, add_exchanges(self->steps, MORPH_STEP_BARRIER));
	ASSERT_EQ(0, morph_slice_schedule_load(self->slice, self->steps, &waiter.schedule));
	ASSERT_EQ(0, morph_slice_schedule_start(self->slice, waiter.schedule, 0, NULL));
	EXPECT_EQ(-EINVAL, morph_slice_schedule_arrive(self->slice, waiter.schedule, 0, 2));
	EXPECT_EQ(-ENOENT, morph_slice_schedule_arrive(self->slice, waiter.schedule, RANKS, 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for, &waiter));
	for (rank = 0; rank < RANKS; rank++)
		ASSERT_EQ(0, morph_slice_schedule_arrive(self->slice, waiter.schedule, rank, 1));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, waiter.result);
	waiter.position = 3;
	waiter.tid = 0;
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for, &waiter));
	wait_thread_asleep(&waiter.tid);
	ASSERT_EQ(0, morph_slice_schedule_stop(self->slice, waiter.schedule));
	pthread_join(thread, NULL);
	EXPECT_GT(0, waiter.result);
}

/* A loop that has started, and a queue for it. */
static int ring_begin(struct morph_slice *slice, struct morph_steps *steps,
		      const struct morph_queue_open_opts *opts, struct morph_queue **ring)
{
	uint32_t schedule;
	int error = add_exchanges(steps, MORPH_STEP_CALL);

	if (!error)
		error = morph_slice_schedule_load(slice, steps, &schedule);
	if (!error)
		error = morph_slice_schedule_start(slice, schedule, 0, NULL);
	return error ? error : morph_slice_open_queue(slice, schedule, opts, ring);
}

/* Does the kernel's thread sleep when there is no entry? */
static bool falls_asleep(struct morph_queue *ring)
{
	MORPH_OPTS(morph_queue_status, status);
	struct morph_device_ring look = {};

	if (morph_queue_state(ring, &status) < 0)
		return false;
	look.base = status.base;
	return WAIT_UNTIL(morph_device_asleep(&look));
}

TEST_F(running, a_ring_asks_and_is_answered)
{
	MORPH_OPTS(morph_queue_open_opts, opts, .entries = 8);
	MORPH_OPTS(morph_queue_status, status);
	MORPH_OPTS(morph_queue_answer, answer);
	struct morph_queue *ring;
	uint32_t at;

	ASSERT_EQ(0, ring_begin(self->slice, self->steps, &opts, &ring))
	TH_LOG("%s", morph_error_text(self->ctx));
	for (at = 2; at < 60; at++) {
		/* Some entries find the thread asleep. */
		if (at % 10 == 0)
			EXPECT_TRUE(falls_asleep(ring));
		ASSERT_EQ(0, morph_queue_ask(ring, MORPH_RING_GO, 0, at, at));
		ASSERT_EQ(1, morph_queue_answer(ring, PATIENCE_NS, &answer));
		EXPECT_EQ(at, answer.tag);
		EXPECT_EQ(0, answer.error);
		EXPECT_EQ(at, answer.position);
	}
	ASSERT_EQ(0, morph_queue_ask(ring, MORPH_RING_GO, 0, 500, 7));
	ASSERT_EQ(1, morph_queue_answer(ring, PATIENCE_NS, &answer));
	EXPECT_EQ(-EINVAL, answer.error);
	EXPECT_EQ(59, answer.position);
	EXPECT_EQ(MORPH_RING_RUNNING, morph_queue_state(ring, &status));
	EXPECT_EQ(59, status.taken);
	EXPECT_LT(0, status.sleeps);
	morph_queue_close(ring);
}

/* The library does not know the number of ranks, so the kernel rejects this one. */
TEST_F(running, a_ring_that_has_stopped_says_so)
{
	MORPH_OPTS(morph_queue_status, status);
	MORPH_OPTS(morph_queue_answer, answer);
	struct morph_list *events;
	struct morph_queue *ring;

	ASSERT_EQ(0, ring_begin(self->slice, self->steps, NULL, &ring));
	ASSERT_EQ(0, morph_queue_ask(ring, MORPH_RING_ARRIVE, RANKS, 1, 0));
	EXPECT_EQ(-EPROTO, morph_queue_answer(ring, PATIENCE_NS, &answer));
	EXPECT_EQ(MORPH_RING_STOPPED, morph_queue_state(ring, &status));
	EXPECT_EQ(-EPROTO, status.error);
	ASSERT_EQ(1, morph_slice_wait(self->slice, PATIENCE_NS));
	ASSERT_EQ(1, morph_slice_read_events(self->slice, &events));
	EXPECT_STREQ("ring", morph_object_text(morph_list_get(events, 0), "type"));
	morph_list_free(events);
	morph_queue_close(ring);
}

TEST_F(running, memory_may_be_ones_own)
{
	MORPH_OPTS(morph_queue_open_opts, opts, .entries = 8, .memory_bytes = MORPH_RING_BYTES(8));
	MORPH_OPTS(morph_queue_status, status);
	struct morph_device_ring end = {};
	struct morph_device_answer answer;
	struct morph_queue *ring;

	opts.memory = aligned_alloc(4096, opts.memory_bytes);
	ASSERT_EQ(0, ring_begin(self->slice, self->steps, &opts, &ring))
	TH_LOG("%s", morph_error_text(self->ctx));
	ASSERT_LE(0, morph_queue_state(ring, &status));
	EXPECT_EQ(opts.memory, status.base);
	end.base = status.base;
	end.entries = status.entries;
	ASSERT_EQ(0, morph_device_submit(&end, MORPH_DEVICE_GO, 5, 0, 2));
	EXPECT_TRUE(WAIT_UNTIL((morph_device_asleep(&end) ? morph_queue_wake(ring) : 0,
				morph_device_answered(&end, &answer))));
	EXPECT_EQ(5, answer.tag);
	EXPECT_EQ(2, answer.position);
	morph_queue_close(ring);
	EXPECT_TRUE(WAIT_UNTIL(*lm_device_half(&end, 0) == MORPH_RING_GONE));
	free(opts.memory);
}

TEST_F(running, state_is_read_without_a_call)
{
	MORPH_OPTS(morph_state_slice, whole);
	struct morph_state_pair pair, before;
	struct morph_state *state;
	uint32_t schedule, rank;

	ASSERT_EQ(0, morph_slice_state_map(self->slice, &state))
	TH_LOG("%s", morph_error_text(self->ctx));
	ASSERT_EQ(0, morph_state_slice(state, &whole));
	EXPECT_EQ(RANKS, whole.ranks);
	EXPECT_EQ(0, whole.schedule);
	EXPECT_EQ(MORPH_ANY, whole.step);
	ASSERT_EQ(0, add_exchanges(self->steps, MORPH_STEP_CALL));
	ASSERT_EQ(0, morph_slice_schedule_load(self->slice, self->steps, &schedule));
	ASSERT_EQ(0, morph_slice_schedule_start(self->slice, schedule, 0, NULL));
	ASSERT_EQ(0, morph_state_read(state, 0, 1, &before));
	EXPECT_LT(0, before.mbps);
	EXPECT_LT(0, before.hops);
	ASSERT_EQ(0, morph_slice_schedule_go(self->slice, schedule, MORPH_ANY, 2, NULL));
	ASSERT_EQ(0, morph_state_read(state, 0, 1, &pair));
	EXPECT_EQ(0, pair.mbps);
	EXPECT_EQ(0, pair.hops);
	EXPECT_NE(before.generation, pair.generation);
	for (rank = 0; rank < RANKS; rank++) {
		ASSERT_EQ(0, morph_state_read(state, rank, rank ^ 2, &pair));
		EXPECT_LT(0, pair.mbps);
	}
	ASSERT_EQ(0, morph_state_slice(state, &whole));
	EXPECT_EQ(schedule, whole.schedule);
	EXPECT_EQ(1, whole.step);
	EXPECT_EQ(2, whole.position);
	EXPECT_EQ(-ENOENT, morph_state_read(state, 0, RANKS, &pair));
	morph_state_close(state);
}

TEST_HARNESS_MAIN
