// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * morphctl schedule plan --slice: find paths beside the resources in use on a fabric, and give the
 * steps to the driver
 */
#include <errno.h>
#include <stdlib.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"
#include "morphctl/schedule/schedule.h"

/*
 * Limit of attempts to plan around hardware that the kernel refuses. The kernel does not reveal
 * hardware that other schedules keep until it refuses it.
 */
#define DETOURS 32

enum exit_code target_check(const struct run *run)
{
	bool slice = given(run, OPTION_OF_SLICE);
	uint32_t lanes = 1;

	if (!option_u32(run, OPTION_LANES, &lanes))
		return EXIT_CODE_USAGE;
	if (!lanes)
		return usage_error(run, "--lanes must be 1 or more, not '%s'",
				   run->option[OPTION_LANES]);
	if (!slice && given(run, OPTION_LOAD))
		return usage_error(run, "--load requires --slice");
	if (!slice && !given(run, OPTION_TO_STEPS) && given(run, OPTION_BEGIN))
		return usage_error(run, "--begin requires --slice or --to-steps");
	if (!slice && !given(run, OPTION_PROFILE) && given(run, OPTION_TO_STEPS))
		return usage_error(run, "--to-steps requires --profile or --slice");
	if (!slice && !given(run, OPTION_PROFILE) &&
	    (given(run, OPTION_AT) || given(run, OPTION_LANES)))
		return usage_error(run, "--at and --lanes require --profile%s",
				   given(run, OPTION_AT) ? "" : " or --slice");
	if (slice && given(run, OPTION_AT))
		return usage_error(run, "--at and --slice are mutually exclusive");
	return EXIT_CODE_OK;
}

static void take_ranks(struct target *target, const struct morph_object *info)
{
	target->fabric = morph_object_uint(info, "fabric");
	target->generation = morph_object_uint(info, "generation");
	target->transit = morph_object_uint(info, "transit");
	target->ranks = (uint32_t)morph_object_values(info, "rank");
	target->accelerators = needed(calloc(target->ranks + 1UL, sizeof(uint32_t)));
	for (uint32_t rank = 0; rank < target->ranks; rank++)
		target->accelerators[rank] = morph_object_uint(
			morph_object_nested_at(info, "rank", rank), "accelerator");
}

enum exit_code target_open(struct run *run, struct target *target)
{
	struct morph_object *info = NULL;
	int error;

	if (!given(run, OPTION_OF_SLICE))
		return EXIT_CODE_OK;
	error = morph_slice_open(run->client->ctx, run->option[OPTION_OF_SLICE], &target->slice);
	if (error)
		return client_no_slice(run, error);
	error = morph_slice_read(target->slice, &info, NULL);
	if (error)
		return client_error(run, error);
	take_ranks(target, info);
	morph_object_free(info);
	return EXIT_CODE_OK;
}

void target_close(struct target *target)
{
	json_decref(target->loaded);
	free(target->accelerators);
	morph_slice_close(target->slice);
}

enum exit_code target_fits(const struct planning *planning)
{
	const struct target *target = &planning->target;

	if (!target->slice || planning->wanted.ranks == target->ranks)
		return EXIT_CODE_OK;
	return usage_error(planning->run, "slice '%s' has %u rank%s, the collective has %u",
			   planning->run->option[OPTION_OF_SLICE], target->ranks,
			   PLURAL(target->ranks), planning->wanted.ranks);
}

/*
 * Count the circuits that a step lights. Changes are circuits that light plus circuits that go
 * dark, so lit = (changes + held now - held before) / 2. Before the first step, a loop holds the
 * circuits of its last step; otherwise no circuit is lit.
 */
static uint32_t lights_of(const struct morph_object *schedule, size_t at)
{
	const struct morph_object *step = morph_object_nested_at(schedule, "step", at);
	uint32_t changes = morph_object_uint(step, "changes");
	uint32_t holds = morph_object_uint(step, "circuits-count"), held = 0;
	size_t before = at ? at - 1 : morph_object_values(schedule, "step") - 1;

	if (at || morph_object_uint(schedule, "loop"))
		held = morph_object_uint(morph_object_nested_at(schedule, "step", before),
					 "circuits-count");
	return (changes + holds - held) / 2;
}

/* Learn from steps that have run and have changed circuits. */
static int observe_steps(struct planning *planning, const struct morph_object *schedule)
{
	size_t count = morph_object_values(schedule, "step");
	int error = 0;

	for (size_t at = 0; !error && at < count; at++) {
		const struct morph_object *step = morph_object_nested_at(schedule, "step", at);
		uint32_t lights = lights_of(schedule, at);

		if (!lights || !morph_object_uint(step, "runs"))
			continue;
		error = morph_delay_observe(planning->delay, step, lights);
		planning->target.measured++;
	}
	return error;
}

enum exit_code target_measure(struct planning *planning)
{
	struct target *target = &planning->target;
	struct morph_list *list = NULL;
	int error = morph_slice_schedules(target->slice, &list);

	for (size_t at = 0; !error && at < morph_list_count(list); at++)
		error = observe_steps(planning, morph_list_get(list, at));
	morph_list_free(list);
	if (error)
		return plan_error(planning->run, error);
	if (target->measured)
		return EXIT_CODE_OK;
	warn_line(
		"slice '%s' has no measured change of circuits yet; run a schedule, or give --delay in nanoseconds",
		planning->run->option[OPTION_OF_SLICE]);
	return EXIT_CODE_FAILED;
}

static enum exit_code report_loaded(struct planning *planning, uint32_t number)
{
	struct target *target = &planning->target;
	struct morph_object *object = NULL;
	enum exit_code code;
	int error = morph_slice_schedule_info(target->slice, number, &object);

	code = client_reply(planning->run, error, object, &target->loaded);
	if (!code)
		json_object_del(target->loaded, "steps");
	return code;
}

/*
 * Mark in the ledger the hardware that the kernel refused. Returns false if the error names no
 * hardware, or if the ledger cannot be marked.
 */
static bool learn(const struct morph_ctx *ctx, struct morph_ledger *ledger)
{
	MORPH_OPTS(morph_error, error);

	morph_error_get(ctx, &error);
	return (error.part == MORPH_PART_ELEMENT || error.part == MORPH_PART_GUIDE) &&
	       error.index != MORPH_ANY &&
	       !morph_ledger_mark(ledger, error.part, error.index, true);
}

/*
 * Find paths, and with --load give the steps to the slice. Plan around hardware that the kernel
 * refuses.
 */
static enum exit_code light(struct planning *planning, struct morph_ledger *ledger,
			    const struct morph_light_opts *opts)
{
	struct morph_steps *steps = planning->steps;
	const struct target *target = &planning->target;
	uint32_t number;
	int error = 0;

	for (uint32_t attempt = 0; attempt < DETOURS; attempt++) {
		error = morph_schedule_light(planning->schedule, ledger, target->accelerators,
					     target->ranks, opts, steps, &planning->light);
		if (error)
			break;
		morph_steps_set_generation(steps, target->generation);
		if (planning->light.verdict != MORPH_FEASIBLE || !given(planning->run, OPTION_LOAD))
			return EXIT_CODE_OK;
		error = morph_slice_schedule_load(target->slice, steps, &number);
		if (!error)
			return report_loaded(planning, number);
		if (error != -EBUSY || !learn(planning->run->client->ctx, ledger))
			break;
	}
	return client_error(planning->run, error);
}

enum exit_code target_light(struct planning *planning)
{
	MORPH_OPTS(morph_light_opts, opts, .count_planes = true,
		   .transit = planning->target.transit, .routes = plan_routes(planning));
	struct run *run = planning->run;
	struct morph_ledger *ledger = NULL;
	struct morph_model *model = NULL;
	enum exit_code code;

	if (!option_u32(run, OPTION_LANES, &opts.lanes) ||
	    !option_word(run, OPTION_BEGIN, &opts.begin))
		return EXIT_CODE_USAGE;
	code = profile_of_fabric(run, planning->target.fabric, &model);
	if (!code)
		code = profile_ledger(run, planning->target.fabric, 0, model, &ledger);
	if (!code)
		code = light(planning, ledger, &opts);
	morph_ledger_free(ledger);
	morph_model_put(model);
	return code;
}

static uint64_t change_ns(const struct planning *planning)
{
	return morph_delay_change_ns(planning->delay, planning->target.ranks,
				     planning->target.ranks);
}

void target_measured_write(const struct planning *planning)
{
	uint32_t measured = planning->target.measured;

	if (measured)
		say("changes take the measured time of %u step%s of the slice: %s if all ranks change circuits\n\n",
		    measured, PLURAL(measured), amount_ns(change_ns(planning)).text);
}

void target_measured_add(const struct planning *planning, json_t *report)
{
	if (planning->target.measured)
		json_object_set_new(report, "measured",
				    json_pack("{s:I, s:I}", "steps-count",
					      (json_int_t)planning->target.measured, "change-ns",
					      (json_int_t)change_ns(planning)));
}

void target_write(const struct planning *planning)
{
	const struct target *target = &planning->target;
	uint32_t number;

	if (!target->loaded)
		return;
	number = number_of(target->loaded, "id", NUMBER_NONE);
	say("loaded as schedule %u: morphctl schedule start %s %u\n\n", number,
	    planning->run->option[OPTION_OF_SLICE], number);
}
