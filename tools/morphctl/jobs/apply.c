// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl jobs apply: give a slice the circuits and the schedules of a decision */
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"
#include "morphctl/jobs/lighting.h"
#include "morphctl/output/output.h"

#define CHANGES "action,circuit,src-rank,dst-rank,dark-ns,status,reason,part,index"

/* The changes of a transaction, and how it ended. */
struct outcome {
	struct morph_txn *txn;
	json_t *changes;
	json_t *unloaded; /* numbers of schedules */
	uint32_t kept, set, cleared;
};

/* ----------------------------------------------------------------- the file */

/* Jobs use circuits of the slice, so each of their sites must be a rank. */
static enum exit_code check_jobs(const struct lighting *lighting)
{
	const struct jobs_file *file = &lighting->file;

	for (uint32_t number = 0; number < file->problem.job_count; number++) {
		const struct morph_job *job = &file->jobs[number];
		uint32_t site = job->root;

		for (uint32_t at = 0; at <= job->parts; at++) {
			if (file->ranks[site] == MORPH_ANY) {
				warn_line(
					"%s: job %u: site %u is no rank; give its entry of 'sites' a 'rank', or remove the job",
					lighting->run->argv[0], number, site);
				return EXIT_CODE_USAGE;
			}
			if (at < job->parts)
				site = file->parts[job->first + at].site;
		}
	}
	return EXIT_CODE_OK;
}

static enum exit_code read_file(struct lighting *lighting)
{
	enum exit_code code = jobs_read(lighting->run, &lighting->file);

	if (!code && json_object_get(lighting->file.document, "circuits"))
		code = refuse_line(
			lighting->run->argv[0], document_line(lighting->file.document, "circuits"),
			"remove 'circuits'; the driver reports the circuits of the slice");
	return code ? code : check_jobs(lighting);
}

/* ----------------------------------------------------------------- the decision */

/* Whether the planner decides about the circuits between two ranks. */
static bool is_planned(const struct lighting *lighting, const struct morph_object *circuit,
		       uint32_t *src, uint32_t *dst)
{
	uint64_t state = morph_object_uint(circuit, "state");

	if (!morph_object_values(circuit, "src-rank") || !morph_object_values(circuit, "dst-rank"))
		return false;
	*src = (uint32_t)morph_object_uint(circuit, "src-rank");
	*dst = (uint32_t)morph_object_uint(circuit, "dst-rank");
	return state != MORPH_CIRCUIT_PREPARED && *src < lighting->ranks &&
	       *dst < lighting->ranks && lighting->sites[*src] != MORPH_ANY &&
	       lighting->sites[*dst] != MORPH_ANY && !lighting_is_scheduled(lighting, circuit);
}

static void count_lit(struct lighting *lighting)
{
	for (size_t at = 0; at < morph_list_count(lighting->circuits); at++) {
		const struct morph_object *circuit = morph_list_get(lighting->circuits, at);
		uint32_t src, dst;

		if (is_planned(lighting, circuit, &src, &dst) && lighting_is_lit(lighting, circuit))
			++*cell(lighting, lighting->lit, src, dst);
	}
}

static void add_lit(struct lighting *lighting, uint32_t one, uint32_t other)
{
	struct jobs_file *file = &lighting->file;
	struct morph_jobs_problem *problem = &file->problem;
	uint32_t there = *cell(lighting, lighting->lit, one, other);
	uint32_t back = *cell(lighting, lighting->lit, other, one);

	if (!there || !back)
		return;
	file->lit = jobs_append(file->lit, problem->lit_count, sizeof(*file->lit));
	file->lit[problem->lit_count++] = (struct morph_jobs_pair){
		.one = lighting->sites[one],
		.other = lighting->sites[other],
		.circuits = there < back ? there : back,
	};
	problem->lit = file->lit;
}

/*
 * The circuits of two cohorts change in each period. With grouped, the decision is therefore made
 * from darkness, so that it does not depend on the step that is lit now.
 */
static enum exit_code decide(struct lighting *lighting)
{
	struct morph_jobs_problem *problem = &lighting->file.problem;

	count_lit(lighting);
	if (lighting->file.opts.policy == MORPH_JOBS_GROUPED)
		problem->changed_ns = 0;
	else
		for (uint32_t one = 0; one < lighting->ranks; one++)
			for (uint32_t other = one + 1; other < lighting->ranks; other++)
				add_lit(lighting, one, other);
	return jobs_decide(&lighting->file, &lighting->decision);
}

/* ----------------------------------------------------------------- circuits */

static json_t *add_change(struct outcome *outcome, const char *action, uint32_t src, uint32_t dst)
{
	json_t *change = json_pack("{s:s, s:I, s:I}", "action", action, "src-rank", (json_int_t)src,
				   "dst-rank", (json_int_t)dst);

	json_array_append_new(outcome->changes, change);
	return change;
}

/* Keep wanted circuits, and remove the other ones and those that have failed. */
static int remove_circuits(struct lighting *lighting, struct outcome *outcome, uint32_t *missing)
{
	int error = 0;

	for (size_t at = 0; at < morph_list_count(lighting->circuits) && error >= 0; at++) {
		const struct morph_object *circuit = morph_list_get(lighting->circuits, at);
		uint32_t id = (uint32_t)morph_object_uint(circuit, "id"), src, dst;

		if (!is_planned(lighting, circuit, &src, &dst))
			continue;
		if (lighting_is_lit(lighting, circuit) && *cell(lighting, missing, src, dst)) {
			--*cell(lighting, missing, src, dst);
			outcome->kept++;
			continue;
		}
		error = morph_txn_remove(outcome->txn, id);
		json_object_set_new(add_change(outcome, "remove", src, dst), "circuit",
				    json_integer(id));
		outcome->cleared++;
	}
	return error;
}

static int add_circuits(const struct lighting *lighting, struct outcome *outcome, uint32_t *missing)
{
	MORPH_OPTS(morph_circuit_opts, opts, .lanes_count = lighting->lanes);
	int error = 0;

	for (uint32_t src = 0; src < lighting->ranks; src++)
		for (uint32_t dst = 0; dst < lighting->ranks; dst++)
			for (uint32_t left = *cell(lighting, missing, src, dst); left && error >= 0;
			     left--) {
				error = morph_txn_add(outcome->txn, src, dst, &opts);
				add_change(outcome, "add", src, dst);
				outcome->set++;
			}
	return error;
}

static enum exit_code find_changes(struct lighting *lighting, struct outcome *outcome)
{
	size_t bytes = (size_t)lighting->ranks * lighting->ranks * sizeof(uint32_t);
	uint32_t *missing = needed(malloc(bytes));
	int error;

	memcpy(missing, lighting->wanted, bytes);
	error = remove_circuits(lighting, outcome, missing);
	if (error >= 0)
		error = add_circuits(lighting, outcome, missing);
	free(missing);
	morph_txn_set_generation(outcome->txn, morph_object_uint(lighting->info, "generation"));
	return error < 0 ? client_error(lighting->run, error) : EXIT_CODE_OK;
}

/* Copy the results of changes from the transaction. */
static void note_results(struct outcome *outcome, const json_t *record)
{
	static const char *const keys[] = { "circuit", "dark-ns", "status",
					    "reason",  "part",	  "index" };
	json_t *results = json_object_get(record, "changes"), *result;
	size_t i;

	json_array_foreach(results, i, result) for (size_t key = 0;
						    key < sizeof(keys) / sizeof(keys[0]); key++)
	{
		json_t *value = json_object_get(result, keys[key]);

		if (value)
			json_object_set(json_array_get(outcome->changes, i), keys[key], value);
	}
}

static enum exit_code change_circuits(struct lighting *lighting, struct outcome *outcome)
{
	bool dry_run = given(lighting->run, OPTION_DRY_RUN);
	MORPH_OPTS(morph_txn_opts, opts, .flags = dry_run ? MORPH_TXN_DRY_RUN : 0);
	struct morph_object *object = NULL;
	json_t *record = NULL;
	enum exit_code code;
	int error;

	if (!morph_txn_count(outcome->txn))
		return EXIT_CODE_OK;
	/* The kernel cannot validate circuits on ports that a schedule still holds. */
	if (dry_run && json_array_size(outcome->unloaded))
		return EXIT_CODE_OK;
	error = morph_txn_set_opts(outcome->txn, &opts);
	if (!error)
		error = morph_txn_run(lighting->slice, outcome->txn, &object);
	code = client_reply(lighting->run, error, object, &record);
	note_results(outcome, record);
	json_decref(record);
	return code;
}

/* ----------------------------------------------------------------- schedules */

static bool is_rotation(const struct lighting *lighting, uint32_t schedule)
{
	for (uint32_t at = 0; at < lighting->rotations_count; at++)
		if (lighting->rotations[at].schedule == schedule)
			return true;
	return false;
}

static enum exit_code unload(struct lighting *lighting, struct outcome *outcome)
{
	for (size_t at = 0; at < morph_list_count(lighting->schedules); at++) {
		const struct morph_object *schedule = morph_list_get(lighting->schedules, at);
		uint32_t number = (uint32_t)morph_object_uint(schedule, "id");
		int error = 0;

		if (is_rotation(lighting, number))
			continue;
		if (!given(lighting->run, OPTION_FORCE)) {
			warn_line(
				"slice '%s' has schedule %u, which is not that of these jobs; unload it with --force",
				lighting->run->argv[1], number);
			return EXIT_CODE_BUSY;
		}
		if (!given(lighting->run, OPTION_DRY_RUN))
			error = morph_slice_schedule_unload(lighting->slice, number);
		if (error)
			return client_error(lighting->run, error);
		json_array_append_new(outcome->unloaded, json_integer(number));
	}
	return EXIT_CODE_OK;
}

/* ----------------------------------------------------------------- the report */

static json_t *jobs_of(const struct lighting *lighting, const struct rotation *rotation,
		       uint32_t cohort)
{
	const struct morph_jobs_problem *problem = &lighting->file.problem;
	json_t *list = json_array();

	for (uint32_t number = 0; number < problem->job_count; number++)
		if (lighting->decision.jobs[number].cohort == cohort &&
		    lighting->components[problem->jobs[number].root] == rotation->component)
			json_array_append_new(list, json_integer(number));
	return list;
}

static json_t *step_record(const struct lighting *lighting, const struct rotation *rotation,
			   uint32_t step)
{
	json_t *circuits = json_array();

	for (uint32_t at = 0; at < rotation->count; at++)
		if (rotation->circuits[at].step == step)
			json_array_append_new(circuits,
					      json_pack("{s:I, s:I}", "src-rank",
							(json_int_t)rotation->circuits[at].src,
							"dst-rank",
							(json_int_t)rotation->circuits[at].dst));
	return json_pack("{s:I, s:o, s:I, s:o}", "step", (json_int_t)step, "cohort-jobs",
			 jobs_of(lighting, rotation, step + 1), "after-ns",
			 (json_int_t)rotation->after_ns[step], "circuits", circuits);
}

static json_t *schedule_records(const struct lighting *lighting, const struct outcome *outcome)
{
	json_t *records = json_array(), *number;
	size_t i;

	json_array_foreach(outcome->unloaded, i, number) json_array_append_new(
		records, json_pack("{s:s, s:O}", "action", "unload", "schedule", number));
	for (uint32_t at = 0; at < lighting->rotations_count; at++) {
		const struct rotation *rotation = &lighting->rotations[at];
		bool kept = rotation->schedule && !rotation->loaded;
		json_t *steps = json_array(), *record;

		for (uint32_t step = 0; step < 2; step++)
			json_array_append_new(steps, step_record(lighting, rotation, step));
		record = json_pack("{s:s, s:I, s:o}", "action", kept ? "keep" : "load", "period-ns",
				   (json_int_t)rotation->period_ns, "steps", steps);
		if (rotation->schedule)
			json_object_set_new(record, "schedule", json_integer(rotation->schedule));
		json_array_append_new(records, record);
	}
	return records;
}

static json_t *report_of(const struct lighting *lighting, const struct outcome *outcome,
			 enum exit_code code)
{
	return json_pack("{s:s, s:b, s:b, s:I, s:I, s:I, s:o, s:O, s:o}", "policy",
			 jobs_policies[lighting->file.opts.policy], "ok", code == EXIT_CODE_OK,
			 "dry-run", given(lighting->run, OPTION_DRY_RUN), "circuits-set-count",
			 (json_int_t)outcome->set, "circuits-cleared-count",
			 (json_int_t)outcome->cleared, "circuits-kept-count",
			 (json_int_t)outcome->kept, "jobs",
			 jobs_decided(&lighting->file, &lighting->decision), "changes",
			 outcome->changes, "schedules", schedule_records(lighting, outcome));
}

static void write_schedule(const json_t *record)
{
	json_t *steps = json_object_get(record, "steps"), *step;
	size_t i;

	if (json_object_get(record, "schedule"))
		say("schedule %u: %s", number_of(record, "schedule", 0),
		    text_of_key(record, "action"));
	else
		say("new schedule: %s", text_of_key(record, "action"));
	if (steps)
		say(", a period of %s", amount_ns(wide_of(record, "period-ns")).text);
	say("\n");
	json_array_foreach(steps, i, step)
	{
		char *jobs = format_list("cohort-jobs", json_object_get(step, "cohort-jobs"));
		size_t circuits = json_array_size(json_object_get(step, "circuits"));

		say("step %zu: %zu circuits for jobs %s, %s after step %zu\n", i, circuits, jobs,
		    amount_ns(wide_of(step, "after-ns")).text, 1 - i);
		free(jobs);
	}
}

static void write_report(const struct lighting *lighting, const json_t *report)
{
	json_t *changes = json_object_get(report, "changes"), *record;
	size_t i;

	say("%s: circuits: %u to add, %u to remove, %u unchanged\n", text_of_key(report, "policy"),
	    number_of(report, "circuits-set-count", 0),
	    number_of(report, "circuits-cleared-count", 0),
	    number_of(report, "circuits-kept-count", 0));
	json_array_foreach(json_object_get(report, "schedules"), i, record) write_schedule(record);
	say("\n");
	emit_table(lighting->run,
		   lighting->file.opts.policy == MORPH_JOBS_GROUPED ? JOBS_COHORT_COLUMNS :
								      JOBS_COLUMNS,
		   json_object_get(report, "jobs"));
	if (!json_array_size(changes))
		return;
	say("\n");
	emit_table(lighting->run, CHANGES, changes);
}

/* ----------------------------------------------------------------- the command */

/* Few requests, so a signal waits for their end. */
static enum exit_code carry_out(struct lighting *lighting, struct outcome *outcome)
{
	enum exit_code code;

	if (!given(lighting->run, OPTION_DRY_RUN))
		stop_hold();
	code = unload(lighting, outcome);
	if (!code)
		code = find_changes(lighting, outcome);
	if (!code)
		code = change_circuits(lighting, outcome);
	if (!code && !given(lighting->run, OPTION_DRY_RUN))
		code = lighting_start(lighting);
	return code;
}

static enum exit_code apply_decision(struct lighting *lighting)
{
	struct outcome outcome = {
		.txn = needed(morph_txn_new(lighting->run->client->ctx)),
		.changes = json_array(),
		.unloaded = json_array(),
	};
	enum exit_code code;
	json_t *report;

	lighting_divide(lighting);
	code = lighting_match(lighting);
	if (!code) {
		code = carry_out(lighting, &outcome);
		report = report_of(lighting, &outcome, code);
		if (given(lighting->run, OPTION_JSON))
			emit_document(report);
		else
			write_report(lighting, report);
		json_decref(report);
	}
	lighting_free_rotations(lighting);
	morph_txn_free(outcome.txn);
	json_decref(outcome.changes);
	json_decref(outcome.unloaded);
	return code;
}

enum exit_code jobs_apply(struct run *run)
{
	struct lighting lighting = { .run = run, .lanes = 1 };
	enum exit_code code;

	if (!option_u32(run, OPTION_LANES, &lighting.lanes))
		return EXIT_CODE_USAGE;
	if (!lighting.lanes)
		return usage_error(run, "--lanes must be 1 or more, not '%s'",
				   run->option[OPTION_LANES]);
	code = read_file(&lighting);
	if (!code)
		code = lighting_open(&lighting);
	if (!code)
		code = decide(&lighting);
	if (!code)
		code = apply_decision(&lighting);
	lighting_close(&lighting);
	jobs_free(&lighting.file);
	return code;
}
