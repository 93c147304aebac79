// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions for running slices: schedules, queues, and the state page, which is read without a
 * system call.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <morph/device.h>

#include "../internal/client.h"
#include "stepping.h"
#include "steps.h"

static struct fake *fake;
static struct morph_ctx *ctx;
static struct morph_slice *slice;

static int device(struct fake *kernel, unsigned long command, void *argument)
{
	int result = 0;

	(void)kernel;
	if (command == MORPH_SLICE_INFO)
		((struct morph_slice_info *)argument)->ranks.count = STEPPING_RANKS;
	else if (command == MORPH_FABRIC_INFO)
		((struct morph_fabric_info *)argument)->fabric = 3;
	else if (!stepping_ioctl(command, argument, &result))
		result = -ENOTTY;
	return result;
}

static struct fake *kernel_new(void)
{
	struct fake *made = fake_new();

	stepping_begin();
	made->ioctl = device;
	made->map = stepping_map;
	return made;
}

static int begin(void **state)
{
	(void)state;
	fake = kernel_new();
	ctx = fake_ctx(&fake->transport);
	assert_int_equal(morph_slice_open(ctx, "9", &slice), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	morph_slice_close(slice);
	morph_ctx_free(ctx);
	return 0;
}

/* ---------------------------------------------------------------- schedules */

static struct morph_steps *steps_new(struct morph_ctx *with)
{
	static const uint32_t way[] = { 5, 6 }, first = 0, second = 1;
	MORPH_OPTS(morph_circuit_opts, opts, .guides = way, .guides_count = 2);
	struct morph_steps *steps = morph_steps_new(with);

	assert_int_equal(morph_steps_circuit(steps, 0, 1, &opts), 0);
	assert_int_equal(morph_steps_circuit(steps, 1, 0, NULL), 1);
	assert_int_equal(morph_steps_add(steps, &first, 1, NULL), 0);
	assert_int_equal(morph_steps_add(steps, &second, 1, NULL), 1);
	return steps;
}

static void steps_reach_the_kernel(void **state)
{
	const struct morph_schedule_load *load = &stepping.load;
	struct morph_steps *steps = steps_new(ctx);
	uint32_t schedule;

	(void)state;
	morph_steps_set_loop(steps, true);
	morph_steps_set_generation(steps, 40);
	morph_steps_set_profile(steps, 7);
	assert_int_equal(morph_slice_schedule_load(slice, steps, &schedule), 0);
	assert_int_equal(schedule, STEPPING_FIRST);
	assert_int_equal(load->head.flags, MORPH_SCHEDULE_LOOP);
	assert_int_equal(load->generation, 40);
	assert_int_equal(load->profile_checksum, 7);
	assert_int_equal(load->circuits.count, 2);
	assert_int_equal(load->circuits.stride, sizeof(struct morph_schedule_circuit));
	assert_int_equal(load->guides.count, 2);
	assert_int_equal(((uint32_t *)(uintptr_t)load->held.ptr)[1], 1);
	assert_int_equal(load->steps.count, 2);
	assert_int_equal(load->steps.stride, sizeof(struct morph_schedule_step));
	assert_int_equal(morph_slice_schedule_load(slice, steps, &schedule), 0); /* once more */
	morph_steps_clear(steps);
	assert_int_equal(morph_slice_schedule_load(slice, steps, &schedule), -EINVAL);
	assert_int_equal(stepping.asked, 2);
	morph_steps_free(steps);
}

static void expect_refused(uint32_t step, uint32_t circuit, const char *text)
{
	struct morph_steps *steps = steps_new(ctx);
	uint32_t schedule = 5;

	stepping.refusal = -ENOSPC;
	stepping.wrong_step = step;
	stepping.wrong_circuit = circuit;
	assert_int_equal(morph_slice_schedule_load(slice, steps, &schedule), -ENOSPC);
	assert_string_equal(morph_error_text(ctx), text);
	assert_int_equal(schedule, 0);
	morph_steps_free(steps);
}

static void a_refusal_names_its_cause(void **state)
{
	(void)state;
	expect_refused(1, 0,
		       "load a schedule of 2 steps into slice 0: No space left on device "
		       "[step 1, circuit 0]");
	expect_refused(1, MORPH_ANY,
		       "load a schedule of 2 steps into slice 0: "
		       "No space left on device [step 1]");
	expect_refused(MORPH_ANY, 1,
		       "load a schedule of 2 steps into slice 0: "
		       "No space left on device [circuit 1]");
	expect_refused(MORPH_ANY, MORPH_ANY,
		       "load a schedule of 2 steps into slice 0: No space left on device");
}

static void schedules_are_gone_through(void **state)
{
	MORPH_OPTS(morph_schedule_at, at);
	const struct morph_schedule_act *act = &stepping.act;

	(void)state;
	assert_int_equal(morph_slice_schedule_start(slice, 4, 2, &at), 0);
	assert_int_equal(act->verb, MORPH_SCHEDULE_START);
	assert_int_equal(act->schedule, 4);
	assert_int_equal(act->step, 2);
	assert_int_equal(at.position, 1);
	assert_int_equal(at.state, MORPH_SCHEDULE_RUNNING);
	assert_int_equal(at.seq, 71);
	assert_int_equal(at.times.phase_ns[MORPH_PHASE_SETTLE], 90000000);
	assert_int_equal(morph_slice_schedule_go(slice, 4, MORPH_ANY, 2, &at), 0);
	assert_int_equal(act->verb, MORPH_SCHEDULE_GO);
	assert_int_equal(act->position, 2);
	assert_int_equal(at.position, 2);
	assert_int_equal(at.step, 1);
	assert_int_equal(morph_slice_schedule_go(slice, 4, 5, 3, &at), 0);
	assert_int_equal(act->verb, MORPH_SCHEDULE_JUMP);
	assert_int_equal(act->step, 5);
	assert_int_equal(act->position, 3);
	assert_int_equal(morph_slice_schedule_arrive(slice, 4, 3, 2), 0);
	assert_int_equal(act->verb, MORPH_SCHEDULE_ARRIVE);
	assert_int_equal(act->rank, 3);
	assert_int_equal(morph_slice_schedule_wait(slice, 4, 3), 0);
	assert_int_equal(act->verb, MORPH_SCHEDULE_WAIT);
	assert_int_equal(act->position, 3);
	assert_int_equal(morph_slice_schedule_stop(slice, 4), 0);
	assert_int_equal(act->verb, MORPH_SCHEDULE_STOP);
	assert_int_equal(morph_slice_schedule_unload(slice, 4), 0);
	assert_int_equal(act->verb, MORPH_SCHEDULE_UNLOAD);
}

/* A program with a smaller structure gets the members that it knows. */
static void a_short_structure_is_filled_in_part(void **state)
{
	struct morph_schedule_at at = { .sz = offsetof(struct morph_schedule_at, seq), .seq = 5 };

	(void)state;
	assert_int_equal(morph_slice_schedule_go(slice, 4, MORPH_ANY, 6, &at), 0);
	assert_int_equal(at.sz, offsetof(struct morph_schedule_at, seq));
	assert_int_equal(at.position, 6);
	assert_int_equal(at.seq, 5);
	assert_int_equal(morph_slice_schedule_go(slice, 4, MORPH_ANY, 7, NULL), 0);
}

/* Each request is sent once. The caller decides about repetitions. */
static void refusals_are_reported(void **state)
{
	MORPH_OPTS(morph_schedule_at, at, .position = 77);

	(void)state;
	stepping.refusal = -EAGAIN;
	assert_int_equal(morph_slice_schedule_go(slice, 4, MORPH_ANY, 2, &at), -EAGAIN);
	assert_int_equal(at.position, 77);
	assert_string_equal(morph_error_text(ctx), "light the next step of schedule 4 of slice 0: "
						   "Resource temporarily unavailable");
	stepping.refusal = -EINTR;
	assert_int_equal(morph_slice_schedule_wait(slice, 4, 2), -EINTR);
	stepping.refusal = -ECANCELED;
	assert_int_equal(morph_slice_schedule_wait(slice, 4, 2), -ECANCELED);
	assert_int_equal(stepping.asked, 3);
}

static void schedules_are_read(void **state)
{
	struct morph_object *object;
	char *text;

	(void)state;
	assert_int_equal(morph_slice_schedule_info(slice, STEPPING_SECOND, &object), 0);
	assert_int_equal(morph_object_values(object, "step"), STEPPING_STEPS);
	text = fake_print(morph_object_nested_at(object, "step", 2));
	assert_string_equal(text, "schedule-step{step=2 circuits-count=4 changes=8 ahead=0 runs=3 "
				  "late=0 wait-ns=0 program-ns=0 settle-ns=90000000 relock-ns=0 "
				  "verify-ns=0 late-ns=0 longest-ns=0}");
	free(text);
	assert_string_equal(morph_object_text(object, "state"), "stopped");
	assert_int_equal(morph_object_sint(object, "error"), -ETIME);
	assert_int_equal(morph_object_uint(object, "failed-step"), 2);
	assert_false(morph_object_has(object, "at"));
	morph_object_free(object);
	assert_int_equal(morph_slice_schedule_info(slice, STEPPING_FIRST + 1, &object), -ENOENT);
	assert_string_equal(morph_error_text(ctx), "slice 0 has no schedule 5");
	assert_null(object);
	assert_int_equal(morph_slice_schedule_info(slice, 50, &object), -ENOENT);
	assert_null(object);
}

static void all_schedules_are_read(void **state)
{
	const struct morph_object *object;
	struct morph_list *list;

	(void)state;
	assert_int_equal(morph_slice_schedules(slice, &list), 0);
	assert_int_equal(morph_error_code(ctx), 0);
	assert_int_equal(morph_list_count(list), 2);
	object = morph_list_get(list, 0);
	assert_int_equal(morph_object_uint(object, "id"), STEPPING_FIRST);
	assert_int_equal(morph_object_uint(object, "fabric"), 3);
	assert_int_equal(morph_object_uint(object, "loop"), 1);
	assert_int_equal(morph_object_uint(object, "at"), 1);
	assert_int_equal(morph_object_uint(object, "lit"), 4);
	assert_false(morph_object_has(object, "error"));
	assert_int_equal(morph_object_uint(morph_list_get(list, 1), "id"), STEPPING_SECOND);
	morph_list_free(list);
}

static void a_schedule_that_grows_is_given_up(void **state)
{
	struct morph_object *object;

	(void)state;
	stepping.growing = 1;
	assert_int_equal(morph_slice_schedule_info(slice, STEPPING_FIRST, &object), -EAGAIN);
	assert_null(object);
}

static void events_report_schedules(void **state)
{
	struct morph_event event = {
		.size = sizeof(event),
		.type = MORPH_EVENT_SCHEDULE,
		.rank = MORPH_ANY,
		.circuit = 2,
		.txn = 4,
		.outcome = MORPH_OUTCOME_BROKEN,
	};
	const struct morph_object *told;
	struct morph_list *events;

	(void)state;
	memcpy(fake->events, &event, sizeof(event));
	fake->events_bytes = sizeof(event);
	assert_int_equal(morph_slice_read_events(slice, &events), 1);
	told = morph_list_get(events, 0);
	assert_string_equal(morph_object_text(told, "type"), "schedule");
	assert_string_equal(morph_object_text(told, "outcome"), "broken");
	assert_true(morph_object_has(told, "times"));
	morph_list_free(events);
}

/* -------------------------------------------------------------------- rings */

static void rings_refuse_nonsense(void **state)
{
	static char memory[MORPH_RING_BYTES(8)];
	MORPH_OPTS(morph_queue_open_opts, opts, .entries = 12);
	struct morph_queue *ring = (void *)1;

	(void)state;
	assert_int_equal(morph_slice_open_queue(slice, 4, &opts, &ring), -EINVAL);
	assert_null(ring);
	opts.entries = 8192;
	assert_int_equal(morph_slice_open_queue(slice, 4, &opts, &ring), -EINVAL);
	opts.entries = 16;
	opts.memory = memory;
	opts.memory_bytes = MORPH_RING_BYTES(16) - 1;
	assert_int_equal(morph_slice_open_queue(slice, 4, &opts, &ring), -EINVAL);
	opts.memory = NULL;
	assert_int_equal(morph_slice_open_queue(slice, 4, &opts, &ring), -EINVAL);
	opts.memory_bytes = 0;
	opts.reserved = 1;
	assert_int_equal(morph_slice_open_queue(slice, 4, &opts, &ring), -EINVAL);
	opts.sz = 2;
	assert_int_equal(morph_slice_open_queue(slice, 4, &opts, &ring), -EINVAL);
	assert_int_equal(stepping.asked, 0);
	stepping.refusal = -ENOENT;
	assert_int_equal(morph_slice_open_queue(slice, 99, NULL, &ring), -ENOENT);
	assert_null(ring);
	assert_int_equal(stepping.closed, 0);
	morph_queue_close(NULL);
}

static void a_ring_that_is_not_mapped_is_closed(void **state)
{
	struct morph_queue *ring;

	(void)state;
	fault_at("kernel", 2, ENOMEM);
	assert_int_equal(morph_slice_open_queue(slice, 4, NULL, &ring), -ENOMEM);
	assert_string_equal(morph_error_text(ctx),
			    "map queue 2 of slice 0: Cannot allocate memory");
	assert_int_equal(stepping.closed, 1);
}

static void requests_are_answered_in_each_lap(void **state)
{
	MORPH_OPTS(morph_queue_open_opts, opts, .entries = 8, .idle_ns = 5, .rate = 7);
	MORPH_OPTS(morph_queue_answer, answer);
	struct morph_queue *ring;

	(void)state;
	assert_int_equal(morph_slice_open_queue(slice, 4, &opts, &ring), 0);
	assert_int_equal(stepping.setup.schedule, 4);
	assert_int_equal(stepping.setup.idle_ns, 5);
	assert_int_equal(stepping.setup.rate, 7);
	assert_int_equal(morph_queue_answer(ring, -1, &answer), 0); /* nothing was asked */
	for (uint32_t at = 1; at < 40; at++) {
		assert_int_equal(morph_queue_ask(ring, MORPH_RING_GO, 0, at, at + 100), 0);
		assert_int_equal(morph_queue_answer(ring, -1, &answer), 1);
		assert_int_equal(answer.tag, at + 100);
		assert_int_equal(answer.error, 0);
		assert_int_equal(answer.position, at);
		assert_int_equal(stepping.ring->seen, at);
	}
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_GO, 0, 99, 1), 0);
	assert_int_equal(morph_queue_answer(ring, 0, &answer), 1);
	assert_int_equal(answer.error, -EINVAL);
	assert_int_equal(answer.position, 39);
	assert_int_equal(stepping.woken, 40);
	morph_queue_close(ring);
	assert_int_equal(stepping.closed, 1);
}

static void entries_that_mean_nothing_are_not_written(void **state)
{
	struct morph_queue *ring;

	(void)state;
	assert_int_equal(morph_slice_open_queue(slice, 4, NULL, &ring), 0);
	assert_int_equal(morph_queue_ask(ring, 4, 0, 1, 0), -EINVAL);
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_GO, 1, 1, 0), -EINVAL);
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_GO, 0, MORPH_RING_POSITIONS, 0), -EINVAL);
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_GO, 0, 1, MORPH_RING_TAGS), -EINVAL);
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_ARRIVE, 1, 0, 0), -EINVAL);
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_NOP, 0, 1, 0), -EINVAL);
	assert_int_equal(stepping.woken, 0);
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_ARRIVE, 1, 1, 0), 0);
	assert_int_equal(stepping.woken, 1);
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_JUMP, 1, 1, 0), 0);
	morph_queue_close(ring);
}

/*
 * While the thread is awake, no call wakes it. Entries that it has not taken fill the queue in the
 * end.
 */
static void a_ring_is_full_in_the_end(void **state)
{
	MORPH_OPTS(morph_queue_open_opts, opts, .entries = 8);
	MORPH_OPTS(morph_queue_answer, answer, .tag = 77);
	struct morph_queue *ring;

	(void)state;
	assert_int_equal(morph_slice_open_queue(slice, 4, &opts, &ring), 0);
	stepping.ring->asleep = 0;
	for (uint32_t at = 0; at < 8; at++)
		assert_int_equal(morph_queue_ask(ring, MORPH_RING_NOP, 0, 0, at), 0);
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_NOP, 0, 0, 8), -EAGAIN);
	assert_int_equal(morph_queue_answer(ring, 0, &answer), 0);
	assert_int_equal(morph_queue_answer(ring, 30000000, &answer), 0);
	assert_int_equal(answer.tag, 77);
	assert_int_equal(stepping.woken, 0);
	stepping.ring->asleep = 1; /* who waits for an answer wakes it too */
	assert_int_equal(morph_queue_answer(ring, -1, &answer), 1);
	assert_int_equal(answer.tag, 0);
	assert_int_equal(stepping.woken, 1);
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_NOP, 0, 0, 8), 0);
	morph_queue_close(ring);
}

static void stopped_queues_report_it(void **state)
{
	MORPH_OPTS(morph_queue_status, status);
	MORPH_OPTS(morph_queue_answer, answer);
	struct morph_queue *ring;

	(void)state;
	assert_int_equal(morph_slice_open_queue(slice, 4, NULL, &ring), 0);
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_NOP, 0, 0, 1), 0);
	assert_int_equal(morph_queue_state(ring, &status), MORPH_RING_RUNNING);
	assert_int_equal(status.taken, 1);
	assert_int_equal(status.sleeps, 1);
	stepping.ring_state = stepping.ring->state = MORPH_RING_STOPPED;
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_NOP, 0, 0, 2), 0);
	assert_int_equal(morph_queue_answer(ring, -1, &answer), 1); /* what was answered before */
	assert_int_equal(morph_queue_answer(ring, -1, &answer), -EPROTO);
	assert_int_equal(morph_queue_state(ring, &status), MORPH_RING_STOPPED);
	assert_int_equal(status.error, -EPROTO);
	stepping.ring->state = MORPH_RING_GONE;
	assert_int_equal(morph_queue_answer(ring, -1, &answer), -ENODEV);
	assert_int_equal(morph_queue_state(ring, NULL), MORPH_RING_STOPPED);
	stepping.refusal = -ENODEV;
	assert_int_equal(morph_queue_state(ring, &status), -ENODEV);
	morph_queue_close(ring);
}

/*
 * The entry is in the queue although the thread could not be woken. A caller that waits for the
 * answer tries again.
 */
static void waking_may_fail(void **state)
{
	MORPH_OPTS(morph_queue_answer, answer);
	struct morph_queue *ring;

	(void)state;
	assert_int_equal(morph_slice_open_queue(slice, 4, NULL, &ring), 0);
	fault_at("kernel", 1, EIO);
	assert_int_equal(morph_queue_ask(ring, MORPH_RING_NOP, 0, 0, 6), -EIO);
	fault_at("kernel", 1, EIO);
	assert_int_equal(morph_queue_answer(ring, -1, &answer), -EIO);
	assert_int_equal(morph_queue_wake(ring), 0);
	assert_int_equal(morph_queue_answer(ring, -1, &answer), 1);
	assert_int_equal(answer.tag, 6);
	morph_queue_close(ring);
}

static void memory_may_be_the_callers(void **state)
{
	static char memory[MORPH_RING_BYTES(8)] __attribute__((aligned(4096)));
	MORPH_OPTS(morph_queue_open_opts, opts, .entries = 8, .memory = memory,
		   .memory_bytes = sizeof(memory));
	MORPH_OPTS(morph_queue_status, queue);
	struct morph_device_ring end = { 0 };
	struct morph_device_answer answer = { 0 };
	struct morph_queue *ring;

	(void)state;
	assert_int_equal(morph_slice_open_queue(slice, 4, &opts, &ring), 0);
	assert_int_equal(stepping.setup.head.flags, MORPH_RING_USER);
	assert_return_code(morph_queue_state(ring, &queue), 0);
	assert_ptr_equal(queue.base, memory);
	assert_int_equal(queue.entries, 8);
	end.base = queue.base;
	end.entries = queue.entries;
	assert_int_equal(morph_device_submit(&end, MORPH_DEVICE_GO, 3, 0, 1), 0);
	assert_true(morph_device_asleep(&end));
	assert_int_equal(morph_device_answered(&end, &answer), 0);
	assert_int_equal(morph_queue_wake(ring), 0);
	assert_int_equal(morph_device_answered(&end, &answer), 1);
	assert_int_equal(answer.tag, 3);
	morph_queue_close(ring);
}

/* ---------------------------------------------------------------- the state */

static void state_is_read(void **state)
{
	MORPH_OPTS(morph_state_slice, whole);
	struct morph_state_pair pair;
	struct morph_state *page;
	size_t bytes;

	(void)state;
	assert_int_equal(morph_slice_state_map(slice, &page), 0);
	assert_int_equal(morph_state_read(page, 1, 2, &pair), 0);
	assert_int_equal(pair.generation, 3);
	assert_int_equal(pair.hops, 2);
	assert_int_equal(pair.mbps, 400000);
	assert_int_equal(morph_state_read(page, 2, 1, &pair), 0);
	assert_int_equal(pair.hops, 0);
	assert_int_equal(morph_state_read(page, 3, 0, &pair), -ENOENT);
	assert_int_equal(morph_state_read(page, 0, 3, &pair), -ENOENT);
	assert_int_equal(morph_state_slice(page, &whole), 0);
	assert_int_equal(whole.generation, 6);
	assert_int_equal(whole.schedule, STEPPING_FIRST);
	assert_int_equal(whole.step, 1);
	assert_int_equal(whole.position, 5);
	assert_int_equal(whole.ranks, STEPPING_RANKS);
	assert_int_equal(whole.settle_ns, 90000000);
	assert_int_equal(whole.relock_ns, 1000);
	assert_ptr_equal(morph_state_base(page, &bytes), stepping.page);
	assert_int_equal(bytes, 4096);
	assert_ptr_equal(morph_state_base(page, NULL), stepping.page);
	morph_state_close(page);
	morph_state_close(NULL);
}

static void a_state_that_is_always_written_is_given_up(void **state)
{
	MORPH_OPTS(morph_state_slice, whole, .generation = 77);
	struct morph_state_pair pair;
	struct morph_state *page;

	(void)state;
	assert_int_equal(morph_slice_state_map(slice, &page), 0);
	stepping.page->version = 9;
	assert_int_equal(morph_state_read(page, 1, 2, &pair), -EAGAIN);
	assert_int_equal(morph_state_slice(page, &whole), -EAGAIN);
	assert_int_equal(whole.generation, 77);
	morph_state_close(page);
}

static void a_state_of_another_slice_is_refused(void **state)
{
	struct morph_state *page;

	(void)state;
	stepping.page_ranks = 2;
	assert_int_equal(morph_slice_state_map(slice, &page), -EPROTO);
	assert_null(page);
	fault_at("kernel", 2, EACCES);
	assert_int_equal(morph_slice_state_map(slice, &page), -EACCES);
	assert_string_equal(morph_error_text(ctx), "map the state of slice 0: Permission denied");
}

#define WRITES 200000

/* As the kernel, write a consistent state between two even versions. */
static void *write_state(void *unused)
{
	volatile struct morph_state_page *page = stepping.page;
	volatile struct morph_state_pair *pair = stepping_pair(1, 2);

	(void)unused;
	for (uint32_t at = 1; at <= WRITES; at++) {
		page->version++;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		pair->generation = at;
		page->generation = page->position = at;
		pair->hops = at;
		pair->mbps = at;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		page->version++;
	}
	return NULL;
}

static void a_read_is_consistent(void **state)
{
	MORPH_OPTS(morph_state_slice, whole);
	struct morph_state_pair pair = { 0 };
	struct morph_state *page;
	pthread_t writer;

	(void)state;
	assert_int_equal(morph_slice_state_map(slice, &page), 0);
	*stepping_pair(1, 2) = pair;
	stepping.page->generation = stepping.page->position = 0;
	assert_int_equal(pthread_create(&writer, NULL, write_state, NULL), 0);
	while (pair.generation < WRITES) {
		assert_int_equal(morph_state_read(page, 1, 2, &pair), 0);
		assert_int_equal(pair.hops, pair.generation);
		assert_int_equal(pair.mbps, pair.generation);
		assert_int_equal(morph_state_slice(page, &whole), 0);
		assert_int_equal(whole.position, whole.generation);
	}
	pthread_join(writer, NULL);
	morph_state_close(page);
}

/* --------------------------------------------------------------- recordings */

/* The calls of a program. A replay gives it the same answers. */
static char *program(struct morph_ctx *with)
{
	static char memory[MORPH_RING_BYTES(8)] __attribute__((aligned(4096)));
	MORPH_OPTS(morph_queue_open_opts, own, .entries = 8, .memory = memory,
		   .memory_bytes = sizeof(memory));
	MORPH_OPTS(morph_schedule_at, at);
	struct morph_steps *steps = steps_new(with);
	struct morph_state_pair pair;
	struct morph_object *object;
	struct morph_slice *opened;
	struct morph_state *page;
	struct morph_queue *ring;
	uint32_t schedule;
	char *text, *told;

	assert_int_equal(morph_slice_open(with, "9", &opened), 0);
	assert_int_equal(morph_slice_schedule_load(opened, steps, &schedule), 0);
	assert_int_equal(morph_slice_schedule_start(opened, schedule, 0, &at), 0);
	assert_int_equal(morph_slice_open_queue(opened, schedule, NULL, &ring), 0);
	morph_queue_close(ring);
	assert_int_equal(morph_slice_open_queue(opened, schedule, &own, &ring), 0);
	morph_queue_close(ring);
	assert_int_equal(morph_slice_state_map(opened, &page), 0);
	assert_int_equal(morph_state_read(page, 1, 2, &pair), 0);
	morph_state_close(page);
	assert_int_equal(morph_slice_schedule_info(opened, schedule, &object), 0);
	text = fake_print(object);
	assert_true(asprintf(&told, "%u %llu %llu %s", schedule, (unsigned long long)at.seq,
			     (unsigned long long)pair.mbps, text) > 0);
	free(text);
	morph_object_free(object);
	morph_slice_close(opened);
	morph_steps_free(steps);
	return told;
}

static void recordings_have_it_too(void **state)
{
	char path[] = "/tmp/libmorph-running-XXXXXX";
	MORPH_OPTS(morph_ctx_opts, opts, .replay_path = path);
	struct morph_ctx *with;
	char *told, *again;

	(void)state;
	close(mkstemp(path));
	with = fake_ctx(lm_transport_record(&kernel_new()->transport, path));
	told = program(with);
	morph_ctx_free(with);
	assert_int_equal(morph_ctx_new(&opts, &with), 0);
	again = program(with);
	assert_string_equal(told, again);
	morph_ctx_free(with);
	free(told);
	free(again);
	unlink(path);
}

/* A mapping that failed also fails in the replay. */
static void recorded_maps_may_fail(void **state)
{
	char path[] = "/tmp/libmorph-running-XXXXXX";
	MORPH_OPTS(morph_ctx_opts, opts, .replay_path = path);
	struct morph_state *page;
	struct morph_slice *opened;
	struct morph_ctx *with;

	(void)state;
	close(mkstemp(path));
	with = fake_ctx(lm_transport_record(&kernel_new()->transport, path));
	assert_int_equal(morph_slice_open(with, "9", &opened), 0);
	fault_at("kernel", 2, EACCES);
	assert_int_equal(morph_slice_state_map(opened, &page), -EACCES);
	assert_int_equal(morph_slice_state_map(opened, &page), 0);
	morph_state_close(page);
	morph_slice_close(opened);
	morph_ctx_free(with);
	assert_int_equal(morph_ctx_new(&opts, &with), 0);
	assert_int_equal(morph_slice_open(with, "9", &opened), 0);
	assert_int_equal(morph_slice_state_map(opened, &page), -EACCES);
	assert_int_equal(morph_slice_state_map(opened, &page), 0);
	morph_state_close(page);
	morph_slice_close(opened);
	morph_ctx_free(with);
	unlink(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(steps_reach_the_kernel),
		TEST(a_refusal_names_its_cause),
		TEST(schedules_are_gone_through),
		TEST(a_short_structure_is_filled_in_part),
		TEST(refusals_are_reported),
		TEST(schedules_are_read),
		TEST(all_schedules_are_read),
		TEST(a_schedule_that_grows_is_given_up),
		TEST(events_report_schedules),
		TEST(rings_refuse_nonsense),
		TEST(a_ring_that_is_not_mapped_is_closed),
		TEST(requests_are_answered_in_each_lap),
		TEST(entries_that_mean_nothing_are_not_written),
		TEST(a_ring_is_full_in_the_end),
		TEST(stopped_queues_report_it),
		TEST(waking_may_fail),
		TEST(memory_may_be_the_callers),
		TEST(state_is_read),
		TEST(a_state_that_is_always_written_is_given_up),
		TEST(a_state_of_another_slice_is_refused),
		TEST(a_read_is_consistent),
		cmocka_unit_test(recordings_have_it_too),
		cmocka_unit_test(recorded_maps_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
