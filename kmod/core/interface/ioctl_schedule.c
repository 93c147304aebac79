// SPDX-License-Identifier: GPL-2.0-only
/* Commands of the slice file about schedules and queues. */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "core/interface/interface.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "ioctl.h"

/* --------------------------------------------------------------------- load */

/* A request, copied to kernel memory. */
struct request_copy {
	struct morph_schedule_circuit *circuits;
	struct morph_schedule_step *steps;
	u32 *guides, *held;
};

static void copy_free(struct request_copy *copy)
{
	kvfree(copy->circuits);
	kvfree(copy->steps);
	kvfree(copy->guides);
	kvfree(copy->held);
}

static int check_array(struct morph_call *call, const struct morph_array *array, u32 least,
		       u32 most, size_t entry_least, const char *name)
{
	if (!array->count && !least)
		return 0;
	if (array->count < least || array->count > most)
		return morph_refuse_field(call, array->count ? -E2BIG : -EINVAL,
					  "%s has %u entries, %u to %u are allowed", name,
					  array->count, least, most);
	return morph_array_check(call, array, entry_least, name);
}

static int check_load(struct morph_call *call)
{
	const struct morph_schedule_load *args = &call->schedule_load;
	int ret;

	ret = check_array(call, &args->circuits, 1, MORPH_SCHEDULE_MOST_CIRCUITS,
			  MORPH_ENTRY_LEAST(morph_schedule_circuit, guides_count), "circuits");
	if (!ret)
		ret = check_array(call, &args->steps, 1, MORPH_SCHEDULE_MOST_STEPS,
				  MORPH_ENTRY_LEAST(morph_schedule_step, deadline_ns), "steps");
	if (!ret)
		ret = check_array(call, &args->held, 0, MORPH_SCHEDULE_MOST_HELD, sizeof(u32),
				  "held");
	if (!ret)
		ret = check_array(call, &args->guides, 0, MORPH_SCHEDULE_MOST_GUIDES, sizeof(u32),
				  "guides");
	return ret ? ret : morph_fabric_check_profile(call->fabric, args->profile_checksum,
						      &call->refusal);
}

/* Copy an array of structures to kernel memory. */
static void *get_entries(struct morph_call *call, const struct morph_array *array, size_t bytes,
			 const char *name)
{
	void *entries;
	u32 i;
	int ret = 0;

	entries = kvmalloc_array(max(array->count, 1u), bytes, GFP_KERNEL_ACCOUNT);
	if (!entries)
		return ERR_PTR(-ENOMEM);
	if (array->stride == bytes)
		ret = copy_from_user(entries, u64_to_user_ptr(array->ptr),
				     array_size(array->count, bytes)) ? -EFAULT : 0;
	else
		for (i = 0; i < array->count && !ret; i++)
			ret = morph_array_get(call, array, i, entries + bytes * i, bytes, name);
	if (!ret)
		return entries;
	kvfree(entries);
	return ERR_PTR(ret);
}

static int get_request(struct morph_call *call, struct request_copy *copy)
{
	const struct morph_schedule_load *args = &call->schedule_load;
	struct morph_array empty = { .stride = sizeof(u32) };
	const struct morph_array *arrays[] = {
		&args->circuits, &args->steps, args->held.count ? &args->held : &empty,
		args->guides.count ? &args->guides : &empty,
	};
	static const struct {
		size_t bytes;
		const char *name;
	} kinds[] = {
		{ sizeof(*copy->circuits), "circuits" }, { sizeof(*copy->steps), "steps" },
		{ sizeof(*copy->held), "held" }, { sizeof(*copy->guides), "guides" },
	};
	void *entries[ARRAY_SIZE(kinds)] = {};
	u32 i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(kinds) && !ret; i++) {
		entries[i] = get_entries(call, arrays[i], kinds[i].bytes, kinds[i].name);
		ret = PTR_ERR_OR_ZERO(entries[i]);
		if (ret)
			entries[i] = NULL;
	}
	*copy = (struct request_copy){
		.circuits = entries[0],
		.steps = entries[1],
		.held = entries[2],
		.guides = entries[3],
	};
	return ret;
}

static struct morph_schedule *find(struct morph_call *call, u32 id)
{
	struct morph_schedule *schedule;

	morph_fabric_lock(call->fabric);
	schedule = morph_schedule_find(call->file->slice, id);
	morph_fabric_unlock(call->fabric);
	if (!schedule)
		morph_refuse_field(call, -ENOENT, "the slice has no schedule %u", id);
	return schedule;
}

/* No program knows the number of the schedule, except one that guessed it. */
static void undo_load(struct morph_call *call)
{
	struct morph_schedule *schedule = find(call, call->schedule_load.out_schedule);

	if (!schedule)
		return;
	morph_schedule_unload(schedule, &call->refusal);
	morph_schedule_put(schedule);
}

int morph_do_schedule_load(struct morph_call *call)
{
	struct morph_schedule_load *args = &call->schedule_load;
	struct morph_schedule_request request = {
		.circuits_count = args->circuits.count,
		.guides_count = args->guides.count,
		.held_count = args->held.count,
		.steps_count = args->steps.count,
		.flags = args->head.flags,
		.generation = args->generation,
	};
	struct morph_schedule_wrong wrong = { MORPH_ANY, MORPH_ANY };
	struct morph_schedule *schedule = NULL;
	struct request_copy copy = {};
	int ret;

	args->out_schedule = 0;
	args->out_circuit = 0;
	ret = check_load(call);
	if (!ret)
		ret = get_request(call, &copy);
	if (!ret) {
		request.circuits = copy.circuits;
		request.steps = copy.steps;
		request.held = copy.held;
		request.guides = copy.guides;
		ret = morph_schedule_load(call->file->slice, &request, &schedule, &wrong,
					  &call->refusal);
	}
	copy_free(&copy);
	args->out_wrong_step = wrong.step;
	args->out_wrong_circuit = wrong.circuit;
	if (ret)
		return ret;
	args->out_schedule = schedule->id;
	args->out_circuit = schedule->first_circuit;
	call->undo = undo_load;
	morph_schedule_put(schedule);
	return 0;
}

/* ---------------------------------------------------------------------- act */

/* Check the fields that only some verbs use. */
static int check_act(struct morph_call *call)
{
	const struct morph_schedule_act *args = &call->schedule_act;
	u32 verb = args->verb;

	if (verb < MORPH_SCHEDULE_START || verb > MORPH_SCHEDULE_JUMP)
		return morph_refuse_field(call, -EOPNOTSUPP,
					  "verb must be 1 (start), 2 (go), 3 (arrive), 4 (wait), 5 (stop), 6 (unload) or 7 (jump), not %u",
					  verb);
	if (args->step && verb != MORPH_SCHEDULE_START && verb != MORPH_SCHEDULE_JUMP)
		return morph_refuse_field(call, -EINVAL, "step is only valid with start and jump");
	if (args->rank && verb != MORPH_SCHEDULE_ARRIVE)
		return morph_refuse_field(call, -EINVAL, "rank is only valid with arrive");
	if (args->position && (verb == MORPH_SCHEDULE_START || verb == MORPH_SCHEDULE_STOP ||
			       verb == MORPH_SCHEDULE_UNLOAD))
		return morph_refuse_field(call, -EINVAL,
					  "position is only valid with go, jump, arrive and wait");
	return 0;
}

static int act(struct morph_call *call, struct morph_schedule *schedule)
{
	struct morph_schedule_act *args = &call->schedule_act;
	struct morph_refusal *refusal = &call->refusal;

	switch (args->verb) {
	case MORPH_SCHEDULE_START:
		return morph_schedule_start(schedule, args->step, &args->out_times, refusal);
	case MORPH_SCHEDULE_GO:
		return morph_schedule_advance(schedule, args->position, &args->out_times, refusal);
	case MORPH_SCHEDULE_JUMP:
		return morph_schedule_jump(schedule, args->step, args->position, &args->out_times,
					   refusal);
	case MORPH_SCHEDULE_ARRIVE:
		return morph_schedule_arrive(schedule, args->rank, args->position, refusal);
	case MORPH_SCHEDULE_WAIT:
		return morph_schedule_wait(schedule, args->position, refusal);
	case MORPH_SCHEDULE_STOP:
		return morph_schedule_stop(schedule, &args->out_times, refusal);
	default:
		return morph_schedule_unload(schedule, refusal);
	}
}

int morph_do_schedule_act(struct morph_call *call)
{
	struct morph_schedule_act *args = &call->schedule_act;
	struct morph_schedule *schedule;
	int ret;

	memset(&args->out_times, 0, sizeof(args->out_times));
	ret = args->verb == MORPH_SCHEDULE_WAIT ? 0 : morph_check_writes(call);
	if (!ret)
		ret = check_act(call);
	if (ret)
		return ret;
	schedule = find(call, args->schedule);
	if (!schedule)
		return -ENOENT;
	call->stands = true;
	ret = act(call, schedule);
	morph_fabric_lock(call->fabric);
	args->out_position = schedule->position;
	args->out_step = schedule->step;
	args->out_state = schedule->state;
	/* The seq of the lit step; the present seq if the call has lit nothing. */
	args->out_seq = schedule->lit_seq ?: call->fabric->seq;
	morph_fabric_unlock(call->fabric);
	morph_schedule_put(schedule);
	return ret;
}

/* --------------------------------------------------------------------- info */

int morph_do_schedule_info(struct morph_call *call)
{
	struct morph_schedule_info *args = &call->schedule_info;
	struct morph_schedule_step_info *steps = NULL;
	struct morph_schedule *schedule;
	u32 i, count;
	int ret = 0;

	if (args->steps.ptr)
		ret = morph_array_check(call, &args->steps,
					MORPH_ENTRY_LEAST(morph_schedule_step_info, longest_ns),
					"steps");
	if (ret)
		return ret;
	morph_fabric_lock(call->fabric);
	schedule = morph_schedule_next(call->file->slice, args->schedule);
	morph_fabric_unlock(call->fabric);
	if (!schedule)
		return morph_refuse_field(call, -ENOENT,
					  "the slice has no schedule with number %u or more",
					  args->schedule);
	count = schedule->steps_count;
	if (args->steps.ptr && args->steps.count >= count) {
		steps = kvmalloc_array(count, sizeof(*steps), GFP_KERNEL_ACCOUNT);
		if (!steps)
			ret = -ENOMEM;
	}
	if (!ret) {
		morph_fabric_lock(call->fabric);
		morph_schedule_fill_info(schedule, args);
		for (i = 0; i < count && steps; i++)
			steps[i] = schedule->steps[i].info;
		morph_fabric_unlock(call->fabric);
		ret = morph_array_answer(call, &args->steps, steps, count, sizeof(*steps), "steps");
	}
	kvfree(steps);
	morph_schedule_put(schedule);
	return ret;
}

/* ------------------------------------------------------------------- queues */

static void undo_setup(struct morph_call *call)
{
	struct morph_ring_act close = {
		.ring = call->ring_setup.out_ring,
		.verb = MORPH_RING_CLOSE,
	};

	morph_queue_act(call->file, &close, &call->refusal);
}

int morph_do_ring_setup(struct morph_call *call)
{
	struct morph_ring_setup *args = &call->ring_setup;
	int ret;

	args->out_ring = 0;
	ret = morph_queue_setup(call->file, args, &args->out_ring, &call->refusal);
	if (!ret)
		call->undo = undo_setup;
	return ret;
}

int morph_do_ring_act(struct morph_call *call)
{
	int ret;

	call->stands = call->ring_act.verb != MORPH_RING_QUERY;
	ret = call->stands ? morph_check_writes(call) : 0;
	if (ret)
		return ret;
	return morph_queue_act(call->file, &call->ring_act, &call->refusal);
}
