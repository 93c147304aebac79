// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl schedule: act on the schedules of a slice, through the slice's own file, as its owner */
#include <inttypes.h>

#include "morphctl/client/client.h"
#include "morphctl/schedule/schedule.h"

#define COLUMNS \
	"id,state,steps-count,lit-step,position,lit-circuits-count,circuits-count,loop,moved-circuits-count,failed-step,status"

/* Open the slice that the first argument names. The caller closes it. */
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
	return error ? client_no_slice(run, error) : EXIT_CODE_OK;
}

/* Print the state of a schedule, and the costs of its steps on request. */
static enum exit_code print_schedule(struct run *run, struct morph_slice *slice, uint32_t number,
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
		json_object_del(record, "steps");
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
		code = error ? client_error(run, error) : print_schedule(run, slice, number, false);
	}
	morph_slice_close(slice);
	morph_steps_free(steps);
	return code;
}

/* The step, rank or position for verbs that need one. */
struct where {
	uint32_t step, rank;
	uint64_t position;
};

/* An action on a schedule. */
typedef int act_fn(struct morph_slice *slice, uint32_t number, const struct where *where);

static enum exit_code act(struct run *run, act_fn *function, const struct where *where,
			  bool with_steps)
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
		code = print_schedule(run, slice, number, with_steps);
	morph_slice_close(slice);
	return code;
}

enum exit_code schedule_show(struct run *run)
{
	return act(run, NULL, NULL, true);
}

static int start(struct morph_slice *slice, uint32_t number, const struct where *where)
{
	return morph_slice_schedule_start(slice, number, where->step, NULL);
}

enum exit_code schedule_start(struct run *run)
{
	struct where where = { 0 };

	if (!option_u32(run, OPTION_STEP, &where.step))
		return EXIT_CODE_USAGE;
	return act(run, start, &where, false);
}

static int go(struct morph_slice *slice, uint32_t number, const struct where *where)
{
	return morph_slice_schedule_go(slice, number, MORPH_ANY, where->position, NULL);
}

enum exit_code schedule_go(struct run *run)
{
	struct where where = { 0 };

	if (!option_u64(run, OPTION_POSITION, &where.position))
		return EXIT_CODE_USAGE;
	return act(run, go, &where, false);
}

static int jump(struct morph_slice *slice, uint32_t number, const struct where *where)
{
	return morph_slice_schedule_go(slice, number, where->step, where->position, NULL);
}

enum exit_code schedule_jump(struct run *run)
{
	struct where where = { 0 };
	enum exit_code code = resolve_number(run, "step", run->argv[2], &where.step);

	if (!code && !option_u64(run, OPTION_POSITION, &where.position))
		return EXIT_CODE_USAGE;
	return code ? code : act(run, jump, &where, false);
}

/* Positions have more bits than other numbers. */
static enum exit_code read_position(struct run *run, const char *text, struct where *where)
{
	return parse_u64(text, 0, UINT64_MAX, &where->position) ?
		       EXIT_CODE_OK :
		       usage_error(run, "the position must be an integer, not '%s'", text);
}

static int arrive(struct morph_slice *slice, uint32_t number, const struct where *where)
{
	return morph_slice_schedule_arrive(slice, number, where->rank, where->position);
}

enum exit_code schedule_arrive(struct run *run)
{
	struct where where = { 0 };
	enum exit_code code = resolve_number(run, "rank", run->argv[2], &where.rank);

	if (!code)
		code = read_position(run, run->argv[3], &where);
	return code ? code : act(run, arrive, &where, false);
}

static int wait_for(struct morph_slice *slice, uint32_t number, const struct where *where)
{
	int error;

	progress_begin("waiting for position %" PRIu64, where->position);
	error = morph_slice_schedule_wait(slice, number, where->position);
	progress_end();
	return error;
}

enum exit_code schedule_wait(struct run *run)
{
	struct where where = { 0 };
	enum exit_code code = read_position(run, run->argv[2], &where);

	return code ? code : act(run, wait_for, &where, false);
}

static int stop(struct morph_slice *slice, uint32_t number, const struct where *where)
{
	(void)where;
	return morph_slice_schedule_stop(slice, number);
}

enum exit_code schedule_stop(struct run *run)
{
	return act(run, stop, NULL, false);
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
