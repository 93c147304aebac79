// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules of a slice: load, run, and read them. */
#include "internal.h"
#include "steps.h"

/* -------------------------------------------------------------------- load */

static struct morph_array array_of(const void *list, uint32_t count, size_t stride)
{
	return (struct morph_array){
		.ptr = count ? (uintptr_t)list : 0,
		.count = count,
		.stride = (__u32)stride,
	};
}

#define ARRAY(array) array_of((array).list, (array).count, sizeof(*(array).list))

/* Add the step and the circuit of the table to the kernel's sentence. */
static void name_wrong(struct lm_error *error, const struct morph_schedule_load *load)
{
	if (load->out_wrong_step != MORPH_ANY && load->out_wrong_circuit != MORPH_ANY)
		lm_error_add(error, " [step %u, circuit %u]", load->out_wrong_step,
			     load->out_wrong_circuit);
	else if (load->out_wrong_step != MORPH_ANY)
		lm_error_add(error, " [step %u]", load->out_wrong_step);
	else if (load->out_wrong_circuit != MORPH_ANY)
		lm_error_add(error, " [circuit %u]", load->out_wrong_circuit);
}

MORPH_API int morph_slice_schedule_load(struct morph_slice *slice, const struct morph_steps *steps,
					uint32_t *schedule)
{
	struct morph_schedule_load load;
	int error;

	*schedule = 0;
	if (!steps->steps.count || !steps->circuits.count)
		return lm_fail(
			slice->ctx, EINVAL,
			"load a schedule of %u steps and %u circuits: at least 1 of each is required",
			steps->steps.count, steps->circuits.count);
	memset(&load, 0, sizeof(load));
	load.head.flags = steps->flags;
	load.circuits = ARRAY(steps->circuits);
	load.guides = ARRAY(steps->guides);
	load.held = ARRAY(steps->held);
	load.steps = ARRAY(steps->steps);
	load.generation = steps->generation;
	load.profile_checksum = steps->profile_checksum;
	load.out_wrong_step = load.out_wrong_circuit = MORPH_ANY;
	error = lm_ioctl(slice->ctx, slice->fd, MORPH_SCHEDULE_LOAD, &load, sizeof(load),
			 "load a schedule of %u steps into slice %u", steps->steps.count,
			 slice->number);
	if (error)
		name_wrong(&slice->ctx->error, &load);
	else
		*schedule = load.out_schedule;
	return error;
}

/* --------------------------------------------------------------------- act */

static int schedule_act(struct morph_slice *slice, struct morph_schedule_act *act, const char *what,
			struct morph_schedule_at *at)
{
	struct morph_schedule_at mine = { 0 };
	int error = lm_ioctl(slice->ctx, slice->fd, MORPH_SCHEDULE_ACT, act, sizeof(*act),
			     "%s schedule %u of slice %u", what, act->schedule, slice->number);

	if (error || !at)
		return error;
	mine.position = act->out_position;
	mine.step = act->out_step;
	mine.state = act->out_state;
	mine.seq = act->out_seq;
	mine.times = act->out_times;
	lm_answer_copy(at, &mine, sizeof(mine));
	return 0;
}

MORPH_API int morph_slice_schedule_start(struct morph_slice *slice, uint32_t schedule,
					 uint32_t step, struct morph_schedule_at *at)
{
	struct morph_schedule_act act = {
		.schedule = schedule,
		.verb = MORPH_SCHEDULE_START,
		.step = step,
	};

	return schedule_act(slice, &act, "start", at);
}

MORPH_API int morph_slice_schedule_go(struct morph_slice *slice, uint32_t schedule, uint32_t step,
				      uint64_t position, struct morph_schedule_at *at)
{
	bool next = step == MORPH_ANY;
	struct morph_schedule_act act = {
		.schedule = schedule,
		.verb = next ? MORPH_SCHEDULE_GO : MORPH_SCHEDULE_JUMP,
		.step = next ? 0 : step,
		.position = position,
	};

	return schedule_act(slice, &act, next ? "light the next step of" : "light another step of",
			    at);
}

MORPH_API int morph_slice_schedule_arrive(struct morph_slice *slice, uint32_t schedule,
					  uint32_t rank, uint64_t position)
{
	struct morph_schedule_act act = {
		.schedule = schedule,
		.verb = MORPH_SCHEDULE_ARRIVE,
		.rank = rank,
		.position = position,
	};

	return schedule_act(slice, &act, "arrive at a step of", NULL);
}

MORPH_API int morph_slice_schedule_wait(struct morph_slice *slice, uint32_t schedule,
					uint64_t position)
{
	struct morph_schedule_act act = {
		.schedule = schedule,
		.verb = MORPH_SCHEDULE_WAIT,
		.position = position,
	};

	return schedule_act(slice, &act, "wait for a step of", NULL);
}

MORPH_API int morph_slice_schedule_stop(struct morph_slice *slice, uint32_t schedule)
{
	struct morph_schedule_act act = { .schedule = schedule, .verb = MORPH_SCHEDULE_STOP };

	return schedule_act(slice, &act, "stop", NULL);
}

MORPH_API int morph_slice_schedule_unload(struct morph_slice *slice, uint32_t schedule)
{
	struct morph_schedule_act act = { .schedule = schedule, .verb = MORPH_SCHEDULE_UNLOAD };

	return schedule_act(slice, &act, "unload", NULL);
}

/* -------------------------------------------------------------------- read */

static int out_of_memory(struct morph_slice *slice)
{
	return lm_no_memory(slice->ctx, "read schedules of slice %u", slice->number);
}

/*
 * Read the schedule with number @least or the next one, with space for its last number of steps.
 * Read again if it has grown (EMSGSIZE). The caller frees the array.
 */
static int schedule_info(struct morph_slice *slice, uint32_t least,
			 struct morph_schedule_info *info)
{
	struct morph_schedule_step_info *steps = NULL;
	uint32_t room = 0;
	int error;

	for (int attempt = 0; attempt < LM_RETRIES; attempt++) {
		memset(info, 0, sizeof(*info));
		info->schedule = least;
		info->steps = array_of(steps, room, sizeof(*steps));
		error = lm_ioctl(slice->ctx, slice->fd, MORPH_SCHEDULE_INFO, info, sizeof(*info),
				 "read schedule %u of slice %u", least, slice->number);
		if (!error && info->steps.count <= room)
			/* @info has the array: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
			return 0;
		free(steps);
		if (error && error != -EMSGSIZE)
			return error;
		room = info->steps.count > room ? info->steps.count : room;
		steps = calloc(room + 1UL, sizeof(*steps));
		if (!steps)
			return out_of_memory(slice);
	}
	free(steps);
	return lm_fail(slice->ctx, EAGAIN, "read schedule %u: it grew during each of %d tries",
		       least, LM_RETRIES);
}

/* The schedule with this number or the next one, as an object, and its number. */
static int read_next(struct morph_slice *slice, uint32_t least, uint32_t *number,
		     struct morph_object **out)
{
	struct morph_schedule_info info;
	int error = schedule_info(slice, least, &info);

	*out = NULL;
	if (error)
		return error;
	*number = info.schedule;
	*out = lm_from_schedule(&info, slice->fabric, slice->number);
	free((void *)(uintptr_t)info.steps.ptr);
	return *out ? 0 : out_of_memory(slice);
}

MORPH_API int morph_slice_schedule_info(struct morph_slice *slice, uint32_t schedule,
					struct morph_object **out)
{
	uint32_t number;
	int error = read_next(slice, schedule, &number, out);

	if (error || number == schedule)
		return error;
	morph_object_free(*out);
	*out = NULL;
	return lm_fail(slice->ctx, ENOENT, "slice %u has no schedule %u", slice->number, schedule);
}

MORPH_API int morph_slice_schedules(struct morph_slice *slice, struct morph_list **out)
{
	struct morph_list *list = lm_list_new();
	uint32_t number = 0;
	int error = list ? 0 : out_of_memory(slice);

	*out = NULL;
	while (!error && number != UINT32_MAX) {
		struct morph_object *object;

		error = read_next(slice, number + 1, &number, &object);
		if (!error && lm_list_add(list, object))
			error = out_of_memory(slice);
	}
	if (error && error != -ENOENT) {
		morph_list_free(list);
		return error;
	}
	lm_error_clear(slice->ctx); /* no schedule follows the last one, which is not a failure */
	*out = list;
	return 0;
}
