// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * morphctl controller assign: assign whole slices to controllers, at random by weight, and choose
 * backups
 */
#include <stdlib.h>

#include "morphctl/circuit/circuit.h"
#include "morphctl/controller/controller.h"
#include "morphctl/output/output.h"

#define SLICES "id,name,lanes-count,old-controller,controller,backup-controller,result"
#define CONTROLLERS "controller,slices-count,lanes-count,lanes-percent"

struct assigning {
	struct run *run;
	uint32_t fabric;
	uint64_t seed;
	json_t *numbers; /* number of controllers */
	json_t *slices, *circuits; /* all of the fabric */
	size_t count; /* number of slices; the length of the arrays */
	double *weights;
	uint32_t *last, *primary, *backup; /* indices into @numbers, or MORPH_ANY */
	struct tally tally;
};

static void assigning_free(struct assigning *assigning)
{
	json_decref(assigning->numbers);
	json_decref(assigning->slices);
	json_decref(assigning->circuits);
	free(assigning->weights);
	free(assigning->last);
	free(assigning->primary);
	free(assigning->backup);
}

/* ------------------------------------------------------------------ controllers */

static uint32_t controller_at(const struct assigning *assigning, uint32_t place)
{
	return (uint32_t)json_integer_value(json_array_get(assigning->numbers, place));
}

/* Index of a controller in the list, or MORPH_ANY if it is not among the first @end. */
static uint32_t place_of(const struct assigning *assigning, uint32_t controller, size_t end)
{
	for (uint32_t place = 0; place < end; place++)
		if (controller_at(assigning, place) == controller)
			return place;
	return MORPH_ANY;
}

static enum exit_code read_options(struct assigning *assigning)
{
	struct run *run = assigning->run;
	uint32_t controller;

	assigning->seed = 1;
	if (!given(run, OPTION_CONTROLLERS))
		return usage_error(run, "--controllers is required, as 7,8,9");
	if (!option_u64(run, OPTION_SEED, &assigning->seed))
		return EXIT_CODE_USAGE;
	assigning->numbers = option_numbers(run, OPTION_CONTROLLERS);
	if (!assigning->numbers)
		return EXIT_CODE_USAGE;
	for (uint32_t at = 0; at < json_array_size(assigning->numbers); at++) {
		controller = controller_at(assigning, at);
		if (!controller)
			return usage_error(
				run, "--controllers: 0 is not a controller; numbers begin at 1");
		if (place_of(assigning, controller, at) != MORPH_ANY)
			return usage_error(run, "--controllers: %u is listed twice", controller);
	}
	return EXIT_CODE_OK;
}

/* Before any change: check that the kernel knows all controllers. */
static enum exit_code check_controllers(struct assigning *assigning)
{
	struct morph_object *known;
	enum exit_code code = EXIT_CODE_OK;

	for (uint32_t at = 0; at < json_array_size(assigning->numbers) && !code; at++) {
		int error = morph_admin_get(assigning->run->client->ctx, MORPH_OBJECT_CONTROLLER,
					    assigning->fabric, MORPH_ANY,
					    controller_at(assigning, at), &known);

		code = client_reply(assigning->run, error, error ? NULL : known, NULL);
	}
	return code;
}

/* ----------------------------------------------------------------------- slices */

static enum exit_code read_slices(struct assigning *assigning)
{
	struct run *run = assigning->run;
	enum exit_code code =
		client_dump(run, MORPH_OBJECT_SLICE, assigning->fabric, &assigning->slices);
	json_t *slice;
	size_t i;

	if (!code)
		code = circuit_records(run, assigning->fabric, MORPH_ANY, &assigning->circuits);
	if (code)
		return code;
	assigning->count = json_array_size(assigning->slices);
	assigning->weights = needed(calloc(assigning->count + 1, sizeof(double)));
	assigning->last = needed(calloc(assigning->count + 1, sizeof(uint32_t)));
	assigning->primary = needed(calloc(assigning->count + 1, sizeof(uint32_t)));
	assigning->backup = needed(calloc(assigning->count + 1, sizeof(uint32_t)));
	json_array_foreach(assigning->slices, i, slice)
	{
		assigning->weights[i] =
			(double)controller_lanes(assigning->circuits, number_of(slice, "id", 0));
		assigning->last[i] = place_of(assigning, number_of(slice, "controller", 0),
					      json_array_size(assigning->numbers));
	}
	return EXIT_CODE_OK;
}

static const char *assign(struct assigning *assigning, uint32_t slice, uint32_t controller)
{
	MORPH_OPTS(morph_slice_set_opts, opts, .controller = controller,
		   .set = MORPH_SET_CONTROLLER);
	int error = morph_admin_slice_set(assigning->run->client->ctx, assigning->fabric, slice,
					  &opts, NULL);

	tally_add(&assigning->tally, error ? client_error(assigning->run, error) : EXIT_CODE_OK);
	return error ? "failed" : "assigned";
}

/*
 * Report one slice. Transfer it, unless this is a dry run or the controller has the slice already.
 */
static json_t *settle(struct assigning *assigning, size_t at)
{
	const json_t *slice = json_array_get(assigning->slices, at);
	uint32_t id = number_of(slice, "id", 0), from = number_of(slice, "controller", 0);
	uint32_t controller = controller_at(assigning, assigning->primary[at]);
	const char *result = "kept";
	json_t *record;

	if (from != controller)
		result = given(assigning->run, OPTION_DRY_RUN) ? "would-be-assigned" :
								 assign(assigning, id, controller);
	record = json_pack("{s:I, s:s, s:I, s:I, s:I, s:s}", "id", (json_int_t)id, "name",
			   text_of_key(slice, "name"), "lanes-count",
			   (json_int_t)assigning->weights[at], "old-controller", (json_int_t)from,
			   "controller", (json_int_t)controller, "result", result);
	if (assigning->backup[at] != MORPH_ANY)
		json_object_set_new(record, "backup-controller",
				    json_integer(controller_at(assigning, assigning->backup[at])));
	return record;
}

/* Sum up the slices of a controller. */
static json_t *sum_up(const struct assigning *assigning, uint32_t place)
{
	uint64_t whole = 0, lanes = 0;
	uint32_t slices = 0;

	for (size_t at = 0; at < assigning->count; at++) {
		whole += (uint64_t)assigning->weights[at];
		if (assigning->primary[at] != place)
			continue;
		lanes += (uint64_t)assigning->weights[at];
		slices++;
	}
	return json_pack("{s:I, s:I, s:I, s:f}", "controller",
			 (json_int_t)controller_at(assigning, place), "slices-count",
			 (json_int_t)slices, "lanes-count", (json_int_t)lanes, "lanes-percent",
			 controller_percent(lanes, whole));
}

static void answer(struct assigning *assigning)
{
	json_t *slices = json_array(), *controllers = json_array(), *report;

	for (size_t at = 0; at < assigning->count; at++)
		json_array_append_new(slices, settle(assigning, at));
	for (uint32_t place = 0; place < json_array_size(assigning->numbers); place++)
		json_array_append_new(controllers, sum_up(assigning, place));
	report = json_pack("{s:I, s:o, s:o}", "seed", (json_int_t)assigning->seed, "controllers",
			   controllers, "slices", slices);
	if (given(assigning->run, OPTION_JSON)) {
		emit_document(report);
	} else {
		emit_table(assigning->run, CONTROLLERS, controllers);
		if (assigning->count) {
			say("\n");
			emit_table(assigning->run, SLICES, slices);
		}
	}
	json_decref(report);
}

/*
 * Draw the backups again from the assignment that is now fixed. A later call on the finished
 * assignment then computes the same backups.
 */
static enum exit_code draw(struct assigning *assigning)
{
	int error = 0;

	for (int time = 0; time < 2 && !error; time++) {
		error = morph_slicing_assign(assigning->run->client->ctx, assigning->weights,
					     assigning->count,
					     (uint32_t)json_array_size(assigning->numbers),
					     assigning->seed, assigning->last, assigning->primary,
					     assigning->backup);
		memcpy(assigning->last, assigning->primary, assigning->count * sizeof(uint32_t));
	}
	return error ? client_error(assigning->run, error) : EXIT_CODE_OK;
}

enum exit_code controller_assign(struct run *run)
{
	struct assigning assigning = { .run = run };
	enum exit_code code = read_options(&assigning);

	if (!code)
		code = client_fabric(run, &assigning.fabric);
	if (!code)
		code = check_controllers(&assigning);
	if (!code)
		code = read_slices(&assigning);
	if (!code)
		code = draw(&assigning);
	if (!code) {
		answer(&assigning);
		code = tally_code(&assigning.tally);
	}
	assigning_free(&assigning);
	return code;
}
