// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl schedule: of a slice, on the slice's own file, as its owner */
#include "client.h"
#include "steps.h"

#define COLUMNS "id,state,steps-count,at,position,lit,circuits-count,loop,moved,failed-step,error"

/* The slice that the command line begins with; whoever got it closes it. */
static enum exit_code open_slice(struct run *run, struct morph_slice **slice)
{
	enum exit_code code = client_fields(run, MORPH_OBJECT_SCHEDULE_STATE);
	int error;

	*slice = NULL;
	if (!code)
		code = client_open(run);
	if (code)
		return code;
	error = morph_slice_open(run->client->ctx, run->argv[0], slice);
	return error ? client_error(run, error) : EXIT_CODE_OK;
}

/* Where a schedule is; what its steps have cost is told where that is asked for. */
static enum exit_code tell(struct run *run, struct morph_slice *slice, uint32_t number,
			   bool with_steps)
{
	struct morph_object *object = NULL;
	enum exit_code code;
	struct view view;
	json_t *record;
	int error;

	error = morph_slice_schedule_info(slice, number, &object);
	code = client_reply(run, error, object, &record);
	if (code)
		return code;
	if (!with_steps)
		json_object_del(record, "step");
	view = client_view(run, MORPH_OBJECT_SCHEDULE_STATE, NULL);
	code = emit_one(run, &view, record);
	json_decref(record);
	return code;
}

enum exit_code schedule_list(struct run *run)
{
	struct morph_list *list = NULL;
	struct morph_slice *slice;
	enum exit_code code = open_slice(run, &slice);
	int error = 0;

	if (!code)
		error = morph_slice_schedules(slice, &list);
	if (error)
		code = client_error(run, error);
	if (!code)
		code = client_emit(run, MORPH_OBJECT_SCHEDULE_STATE, COLUMNS, records_of(list));
	morph_list_free(list);
	morph_slice_close(slice);
	return code;
}

enum exit_code schedule_load(struct run *run)
{
	struct morph_slice *slice = NULL;
	struct morph_steps *steps;
	uint32_t number;
	enum exit_code code = client_open(run);
	int error;

	if (code)
		return code;
	steps = needed(morph_steps_new(run->client->ctx));
	code = steps_read(run, run->argv[1], steps);
	if (!code)
		code = open_slice(run, &slice);
	if (!code) {
		error = morph_slice_schedule_load(slice, steps, &number);
		code = error ? client_error(run, error) : tell(run, slice, number, false);
	}
	morph_slice_close(slice);
	morph_steps_free(steps);
	return code;
}

/* What is done to a schedule; @where: at which step or position, where that is meant. */
typedef int act_fn(struct morph_slice *slice, uint32_t number, uint64_t where);

static enum exit_code act(struct run *run, act_fn *function, uint64_t where, bool with_steps)
{
	struct morph_slice *slice;
	uint32_t number;
	enum exit_code code;
	int error = 0;

	code = resolve_number(run, "schedule", run->argv[1], &number);
	if (code)
		return code;
	code = open_slice(run, &slice);
	if (!code && function)
		error = function(slice, number, where);
	if (error)
		code = client_error(run, error);
	if (!code)
		code = tell(run, slice, number, with_steps);
	morph_slice_close(slice);
	return code;
}

enum exit_code schedule_show(struct run *run)
{
	return act(run, NULL, 0, true);
}

static int start(struct morph_slice *slice, uint32_t number, uint64_t where)
{
	return morph_slice_schedule_start(slice, number, (uint32_t)where, NULL);
}

enum exit_code schedule_start(struct run *run)
{
	uint32_t step = 0;

	if (!option_u32(run, OPTION_STEP, &step))
		return EXIT_CODE_USAGE;
	return act(run, start, step, false);
}

static int go(struct morph_slice *slice, uint32_t number, uint64_t where)
{
	return morph_slice_schedule_go(slice, number, where, NULL);
}

enum exit_code schedule_go(struct run *run)
{
	uint64_t position = 0;

	if (!option_u64(run, OPTION_POSITION, &position))
		return EXIT_CODE_USAGE;
	return act(run, go, position, false);
}

static int stop(struct morph_slice *slice, uint32_t number, uint64_t where)
{
	(void)where;
	return morph_slice_schedule_stop(slice, number);
}

enum exit_code schedule_stop(struct run *run)
{
	return act(run, stop, 0, false);
}

enum exit_code schedule_unload(struct run *run)
{
	struct morph_slice *slice;
	struct tally tally = { 0 };
	enum exit_code code = open_slice(run, &slice);
	uint32_t number;
	int error;

	for (int i = 1; !code && i < run->argc; i++) {
		enum exit_code one = resolve_number(run, "schedule", run->argv[i], &number);

		error = one ? 0 : morph_slice_schedule_unload(slice, number);
		tally_add(&tally, error ? client_error(run, error) : one);
	}
	morph_slice_close(slice);
	return code ? code : tally_code(&tally);
}
