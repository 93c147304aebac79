// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules, queues and the state of a slice, as acts that can fail. */
#include "../internal/client.h"
#include "acts.h"
#include "acts_running.h"
#include "stepping.h"

static struct morph_ctx *ctx;
static struct morph_slice *slice;

void acts_running_begin(struct morph_ctx *of, struct morph_slice *in)
{
	ctx = of;
	slice = in;
}

/* Exceed the initial capacity of the lists of circuits and of paths. */
static int add_steps(struct morph_steps *steps)
{
	static const uint32_t way[20];
	MORPH_OPTS(morph_circuit_opts, opts, .guides = way, .guides_count = ARRAY_SIZE(way));
	int result = 0;

	for (uint32_t at = 0; result >= 0 && at < 20; at++) {
		uint32_t held[] = { 0, at };

		result = morph_steps_circuit(steps, 0, 1, at ? NULL : &opts);
		if (result >= 0)
			result = morph_steps_add(steps, held, at ? 2 : 1, NULL);
	}
	return result < 0 ? result : 0;
}

int load_schedule(void)
{
	struct morph_steps *steps = morph_steps_new(ctx);
	uint32_t schedule = 99;
	int error = steps ? add_steps(steps) : -morph_error_code(ctx);

	if (!error) {
		error = morph_slice_schedule_load(slice, steps, &schedule);
		assert_int_equal(schedule, error ? 0 : STEPPING_FIRST);
	}
	morph_steps_free(steps);
	return error;
}

int go_through_schedule(void)
{
	int error = morph_slice_schedule_start(slice, STEPPING_FIRST, 0, NULL);

	if (!error)
		error = morph_slice_schedule_go(slice, STEPPING_FIRST, MORPH_ANY, 2, NULL);
	if (!error)
		error = morph_slice_schedule_arrive(slice, STEPPING_FIRST, 0, 2);
	if (!error)
		error = morph_slice_schedule_wait(slice, STEPPING_FIRST, 2);
	if (!error)
		error = morph_slice_schedule_stop(slice, STEPPING_FIRST);
	if (!error)
		error = morph_slice_schedule_unload(slice, STEPPING_FIRST);
	return error;
}

int schedule_state(struct morph_object **out)
{
	return morph_slice_schedule_info(slice, STEPPING_FIRST, out);
}

int schedule_states(struct morph_list **out)
{
	return morph_slice_schedules(slice, out);
}

/* The library closes a queue that it cannot return to the program. */
static int use(const struct morph_queue_open_opts *opts)
{
	MORPH_OPTS(morph_queue_answer, answer);
	struct morph_queue *ring = POISON;
	int error = morph_slice_open_queue(slice, STEPPING_FIRST, opts, &ring);

	if (error) {
		assert_null(ring);
		return error;
	}
	error = morph_queue_ask(ring, MORPH_RING_NOP, 0, 0, 5);
	if (!error)
		error = morph_queue_state(ring, NULL);
	if (!error)
		error = morph_queue_answer(ring, 0, &answer);
	morph_queue_close(ring);
	return error < 0 ? error : 0;
}

int use_ring(void)
{
	return use(NULL);
}

int use_ring_of_own(void)
{
	static char memory[MORPH_RING_BYTES(8)] __attribute__((aligned(4096)));
	MORPH_OPTS(morph_queue_open_opts, opts, .entries = 8, .memory = memory,
		   .memory_bytes = sizeof(memory));

	memset(memory, 0, sizeof(memory));
	return use(&opts);
}

int read_state(void)
{
	struct morph_state *state = POISON;
	struct morph_state_pair pair;
	int error = morph_slice_state_map(slice, &state);

	if (error) {
		assert_null(state);
		return error;
	}
	error = morph_state_read(state, 1, 2, &pair);
	morph_state_close(state);
	return error;
}
