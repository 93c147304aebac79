// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cohorts whose circuits change between turns: schedules of two steps that time begins.
 *
 * The driver reports no circuits of dark steps and no times of steps. A loaded schedule is compared
 * with a rotation in both of its steps. The time of a step is its mean wait without its delays.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/jobs/lighting.h"

#define READS 64u /* attempts to read a schedule and its circuits within one step */
#define LEAST_NS 100000u /* shortest time of a step that the driver accepts in all cases */

/* ----------------------------------------------------------------- from the decision */

static uint32_t find_component(uint32_t *components, uint32_t site)
{
	while (components[site] != site) {
		components[site] = components[components[site]];
		site = components[site];
	}
	return site;
}

/* Unite sites that share circuits which jobs use. */
static void find_components(struct lighting *lighting)
{
	const struct morph_jobs_problem *problem = &lighting->file.problem;
	uint32_t *components = needed(calloc(problem->site_count, sizeof(uint32_t)));

	for (uint32_t site = 0; site < problem->site_count; site++)
		components[site] = site;
	for (uint32_t number = 0; number < problem->job_count; number++) {
		const struct morph_job *job = &problem->jobs[number];

		for (uint32_t at = job->first; at < job->first + job->parts; at++) {
			uint32_t one = find_component(components, problem->parts[at].site);
			uint32_t other = find_component(components, job->root);

			if (lighting->decision.flows[at].circuits)
				components[one > other ? one : other] = one > other ? other : one;
		}
	}
	for (uint32_t site = 0; site < problem->site_count; site++)
		components[site] = find_component(components, site);
	lighting->components = components;
}

/* Read the times of the turns from the answers of the jobs in a component. */
static void read_times(const struct lighting *lighting, struct rotation *rotation)
{
	const struct morph_jobs_problem *problem = &lighting->file.problem;

	for (uint32_t number = 0; number < problem->job_count; number++) {
		const struct morph_jobs_answer *answer = &lighting->decision.jobs[number];
		uint64_t lit_ns;

		if (answer->cohort != 2 ||
		    lighting->components[problem->jobs[number].root] != rotation->component)
			continue;
		rotation->period_ns = answer->period_ns;
		lit_ns = answer->offset_ns - problem->dark_ns;
		rotation->after_ns[1] = lit_ns;
		rotation->after_ns[0] = answer->period_ns - lit_ns - 2 * problem->dark_ns;
	}
	for (uint32_t step = 0; step < 2; step++)
		if (rotation->after_ns[step] < LEAST_NS)
			rotation->after_ns[step] = LEAST_NS;
}

static struct rotation *rotation_of(struct lighting *lighting, uint32_t component)
{
	struct rotation *rotation;

	for (uint32_t at = 0; at < lighting->rotations_count; at++)
		if (lighting->rotations[at].component == component)
			return &lighting->rotations[at];
	lighting->rotations = jobs_append(lighting->rotations, lighting->rotations_count,
					  sizeof(*lighting->rotations));
	rotation = &lighting->rotations[lighting->rotations_count++];
	*rotation = (struct rotation){ .component = component };
	read_times(lighting, rotation);
	return rotation;
}

static void add_circuit(struct rotation *rotation, uint32_t step, uint32_t src, uint32_t dst)
{
	rotation->circuits =
		jobs_append(rotation->circuits, rotation->count, sizeof(*rotation->circuits));
	rotation->circuits[rotation->count++] =
		(struct turn_circuit){ .step = step, .src = src, .dst = dst };
	rotation->held[step]++;
}

static void set_wanted(struct lighting *lighting, const struct morph_jobs_pair *pair,
		       uint32_t circuits)
{
	uint32_t one = lighting->file.ranks[pair->one], other = lighting->file.ranks[pair->other];

	*cell(lighting, lighting->wanted, one, other) = circuits;
	*cell(lighting, lighting->wanted, other, one) = circuits;
}

static uint32_t wanted_of(const struct lighting *lighting, const struct morph_jobs_pair *pair)
{
	return *cell(lighting, lighting->wanted, lighting->file.ranks[pair->one],
		     lighting->file.ranks[pair->other]);
}

/* Circuits of both turns stay lit. The other ones of a turn belong to its step. */
static void divide_turn(struct lighting *lighting, const struct morph_jobs_turn *turn)
{
	const struct morph_jobs_pair pair = { .one = turn->one, .other = turn->other };
	uint32_t step = turn->circuits[0] < turn->circuits[1];
	uint32_t one = lighting->file.ranks[turn->one], other = lighting->file.ranks[turn->other];
	struct rotation *rotation = rotation_of(lighting, lighting->components[turn->one]);

	set_wanted(lighting, &pair, turn->circuits[!step]);
	for (uint32_t at = turn->circuits[!step]; at < turn->circuits[step]; at++) {
		add_circuit(rotation, step, one, other);
		add_circuit(rotation, step, other, one);
	}
}

void lighting_divide(struct lighting *lighting)
{
	const struct morph_jobs_problem *problem = &lighting->file.problem;
	const struct morph_jobs_decision *decision = &lighting->decision;

	for (uint32_t at = 0; at < problem->lit_count; at++)
		set_wanted(lighting, &problem->lit[at], problem->lit[at].circuits);
	for (uint32_t at = 0; at < decision->set_count; at++)
		set_wanted(lighting, &decision->set[at],
			   wanted_of(lighting, &decision->set[at]) + decision->set[at].circuits);
	for (uint32_t at = 0; at < decision->clear_count; at++)
		set_wanted(lighting, &decision->clear[at],
			   wanted_of(lighting, &decision->clear[at]) -
				   decision->clear[at].circuits);
	find_components(lighting);
	for (uint32_t at = 0; at < decision->turn_count; at++)
		divide_turn(lighting, &decision->turns[at]);
}

void lighting_free_rotations(struct lighting *lighting)
{
	for (uint32_t at = 0; at < lighting->rotations_count; at++)
		free(lighting->rotations[at].circuits);
	free(lighting->rotations);
	free(lighting->components);
}

/* ----------------------------------------------------------------- loaded schedules */

/* Whether a schedule runs and has as many circuits in each step as the rotation. */
static bool has_counts(const struct rotation *rotation, const struct morph_object *schedule)
{
	if (strcmp(morph_object_text(schedule, "state"), "running") ||
	    !morph_object_uint(schedule, "loop") || morph_object_values(schedule, "step") != 2)
		return false;
	for (uint32_t step = 0; step < 2; step++)
		if (morph_object_uint(morph_object_nested_at(schedule, "step", step),
				      "circuits-count") != rotation->held[step])
			return false;
	return morph_object_uint(schedule, "circuits-count") == rotation->count;
}

/* The driver adds the wait to a step in each run except the first one after the start. */
static bool has_times(const struct rotation *rotation, const struct morph_object *schedule)
{
	for (uint32_t at = 0; at < 2; at++) {
		const struct morph_object *step = morph_object_nested_at(schedule, "step", at);
		uint64_t waits = morph_object_uint(step, "runs") - !at;

		if (morph_object_uint(step, "wait-ns") - morph_object_uint(step, "late-ns") !=
		    waits * rotation->after_ns[at])
			return false;
	}
	return true;
}

/* Whether a schedule has lit the circuits of a step of the rotation, and maybe of the next step. */
static bool has_light(const struct lighting *lighting, const struct rotation *rotation,
		      uint64_t first, uint32_t step)
{
	uint32_t found = 0;

	for (size_t at = 0; at < morph_list_count(lighting->circuits); at++) {
		const struct morph_object *circuit = morph_list_get(lighting->circuits, at);
		uint64_t number = morph_object_uint(circuit, "id") - first;
		const struct turn_circuit *it = &rotation->circuits[number];

		if (number >= rotation->count)
			continue;
		if (morph_object_uint(circuit, "src-rank") != it->src ||
		    morph_object_uint(circuit, "dst-rank") != it->dst ||
		    !lighting_is_lit(lighting, circuit))
			return false;
		found += it->step == step;
	}
	return found == rotation->held[step];
}

/* Read the circuits of a slice while a step is lit. *step is MORPH_ANY if that failed. */
static int read_step(struct lighting *lighting, uint32_t number, struct morph_object **schedule,
		     uint32_t *step)
{
	*step = MORPH_ANY;
	for (uint32_t attempt = 0; attempt < READS; attempt++) {
		struct morph_object *before = NULL;
		int error = morph_slice_schedule_info(lighting->slice, number, &before);

		morph_list_free(lighting->circuits);
		lighting->circuits = NULL;
		if (!error)
			error = morph_slice_read(lighting->slice, NULL, &lighting->circuits);
		morph_object_free(*schedule);
		*schedule = NULL;
		if (!error)
			error = morph_slice_schedule_info(lighting->slice, number, schedule);
		if (!error && morph_object_uint(before, "position") ==
				      morph_object_uint(*schedule, "position"))
			*step = (uint32_t)morph_object_uint(*schedule, "at");
		morph_object_free(before);
		if (error || *step != MORPH_ANY)
			return error;
	}
	return 0;
}

/*
 * Compare a schedule with a rotation in both steps. From the third position on, both have waited.
 * Return 1 if they are the same, 0 if not, or a negative errno.
 */
static int compare(struct lighting *lighting, const struct rotation *rotation, uint32_t number,
		   struct morph_object **schedule)
{
	uint64_t position = 3;
	uint32_t step;
	int error = 0;

	for (uint32_t read = 0; read < 2; read++) {
		error = morph_slice_schedule_wait(lighting->slice, number, position);
		if (!error)
			error = read_step(lighting, number, schedule, &step);
		if (error)
			return error == -ECANCELED ? 0 : error;
		if (step > 1 || !has_counts(rotation, *schedule) ||
		    !has_times(rotation, *schedule) ||
		    !has_light(lighting, rotation, morph_object_uint(*schedule, "first-circuit"),
			       step))
			return 0;
		position = morph_object_uint(*schedule, "position") + 1;
	}
	return 1;
}

static int match(struct lighting *lighting, struct rotation *rotation)
{
	for (size_t at = 0; at < morph_list_count(lighting->schedules) && !rotation->schedule;
	     at++) {
		const struct morph_object *listed = morph_list_get(lighting->schedules, at);
		uint32_t number = (uint32_t)morph_object_uint(listed, "id");
		struct morph_object *schedule = NULL;
		int same;

		if (!has_counts(rotation, listed))
			continue;
		same = compare(lighting, rotation, number, &schedule);
		morph_object_free(schedule);
		if (same < 0)
			return same;
		if (same)
			rotation->schedule = number;
	}
	return 0;
}

enum exit_code lighting_match(struct lighting *lighting)
{
	int error = 0;

	for (uint32_t at = 0; at < lighting->rotations_count && !error; at++)
		error = match(lighting, &lighting->rotations[at]);
	if (error)
		return client_error(lighting->run, error);
	return lighting->rotations_count ? lighting_read(lighting) : EXIT_CODE_OK;
}

/* ----------------------------------------------------------------- new schedules */

static int fill(const struct lighting *lighting, const struct rotation *rotation,
		struct morph_steps *steps)
{
	MORPH_OPTS(morph_circuit_opts, circuit, .lanes_count = lighting->lanes);
	MORPH_OPTS(morph_steps_opts, opts, .loop = true);
	uint32_t *held = needed(calloc(rotation->count, sizeof(*held)));
	int error = morph_steps_set_opts(steps, &opts);

	for (uint32_t at = 0; at < rotation->count && error >= 0; at++)
		error = morph_steps_circuit(steps, rotation->circuits[at].src,
					    rotation->circuits[at].dst, &circuit);
	for (uint32_t step = 0; step < 2 && error >= 0; step++) {
		MORPH_OPTS(morph_step_opts, begin, .begin = MORPH_STEP_TIME,
			   .after_ns = rotation->after_ns[step]);
		uint32_t count = 0;

		for (uint32_t at = 0; at < rotation->count; at++)
			if (rotation->circuits[at].step == step)
				held[count++] = at;
		error = morph_steps_add(steps, held, count, &begin);
	}
	free(held);
	morph_steps_set_generation(steps, morph_object_uint(lighting->info, "generation"));
	return error < 0 ? error : 0;
}

static int start(const struct lighting *lighting, struct rotation *rotation)
{
	struct morph_steps *steps = needed(morph_steps_new(lighting->run->client->ctx));
	uint32_t number = 0;
	int error = fill(lighting, rotation, steps);

	if (!error)
		error = morph_slice_schedule_load(lighting->slice, steps, &number);
	morph_steps_free(steps);
	if (error)
		return error;
	rotation->schedule = number;
	rotation->loaded = true;
	return morph_slice_schedule_start(lighting->slice, number, 0, NULL);
}

enum exit_code lighting_start(struct lighting *lighting)
{
	int error = 0;

	for (uint32_t at = 0; at < lighting->rotations_count && !error; at++)
		if (!lighting->rotations[at].schedule)
			error = start(lighting, &lighting->rotations[at]);
	return error ? client_error(lighting->run, error) : EXIT_CODE_OK;
}
