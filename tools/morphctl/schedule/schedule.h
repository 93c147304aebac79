/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Schedules: plan them for collectives, load them into slices, and run them. */
#ifndef MORPHCTL_SCHEDULE_H
#define MORPHCTL_SCHEDULE_H

#include <stdio.h>

#include "morphctl/client/client.h"

/* With --slice: a running slice. All its ranks take part. */
struct target {
	struct morph_slice *slice; /* NULL: no slice */
	uint32_t fabric, ranks, transit;
	uint64_t generation; /* the generation of the slice that has these accelerators */
	uint32_t *accelerators;
	uint32_t measured; /* number of steps whose changes gave the delay */
	json_t *loaded; /* state of the schedule after loading, or NULL */
};

#define MOST_PLANES 64u
#define MOST_UNLIT 24 /* finding the paths of each plan can take seconds */

/* A plan whose circuits have no paths. */
struct unlit {
	uint32_t algorithm, policy, planes;
	uint64_t ns;
	bool proven; /* false: the search found none */
};

/* Topologies of a file, one for each round. */
struct topologies {
	uint32_t ranks, count; /* 0: no file */
	uint32_t *firsts; /* index of the first joint of each topology, and the end of the last */
	struct morph_joint *joints;
	json_t *written; /* result of the topologies in the order of the file */
	/*
	 * --steps that an algorithm with this number of rounds needs; 0: no algorithm was skipped
	 */
	uint64_t lacks;
	bool full; /* some algorithm exceeds the size limit of a collective */
};

/* Rounds that the fabric can light, for an all-to-all without paths otherwise. */
struct matchings {
	struct morph_matchings *search; /* owns the arrays of the answer; NULL: not searched */
	struct morph_matchings_answer answer;
	bool chosen;
};

/* The request, and the results so far. */
struct planning {
	struct run *run;
	struct morph_collective *collective;
	struct morph_delay *delay,
		*unchanging; /* @unchanging: the delay with changes that take no time */
	struct morph_schedule *schedule;
	struct morph_collective_opts wanted;
	uint64_t *matrix; /* bytes from each rank to each, from a file; NULL: no matrix */
	/* the collective and its rounds are from a file: there is no algorithm to choose */
	bool rounds_given;
	struct morph_choice choices[MORPH_ALGORITHMS];
	struct morph_payoff payoff; /* of a late rank, if the plan starts without it */
	struct morph_payoff rule; /* the same, also if it does not pay */
	struct morph_replanned replanned; /* result without the lost ports */
	bool is_replanned;
	/* the reason for a new plan from the beginning; "": the schedule continues */
	char stuck[256];
	struct topologies topologies;
	struct target target;
	struct morph_steps *steps; /* steps of the plan's circuits, if they have paths */
	struct morph_light light; /* verdict 0: not requested */
	struct matchings matchings;
	struct unlit unlit[MOST_UNLIT]; /* earliest end first */
	uint32_t unlit_count;
	uint32_t planes, policy;
	uint64_t budget; /* search effort; 0: automatic */
	char title[160];
};

/* plan.c: verdict, times and sizes of a schedule; sizes of a collective. */
struct morph_schedule_result schedule_result(const struct morph_schedule *schedule);
struct morph_collective_info collective_info(const struct morph_collective *collective);

/*
 * Report the library's error about a plan. Planning uses no kernel, so each refusal is a usage
 * error.
 */
enum exit_code plan_error(struct run *run, int error);

/*
 * request.c: the algorithm and its parameters; the collective; the times of rounds and changes. An
 * option that the collective or the file does not use is a usage error.
 */
enum exit_code plan_ask_algorithm(struct planning *planning);
enum exit_code plan_ask_collective(struct planning *planning);
enum exit_code plan_ask_delay(struct planning *planning);
enum exit_code plan_check_options(const struct planning *planning);
/* The name of a kind of collective: enum morph_collective_kind. */
const char *kind_name(uint32_t kind);

/*
 * files.c: check whether the collective is from a file of another program. Several files are a
 * usage error.
 */
enum exit_code from_file(const struct run *run, bool *file);
/* Convert the file to a matrix of bytes, or to a collective. Errors name the line. */
enum exit_code ask_file(struct planning *planning);

/*
 * topologies.c: read the topologies of --from-segments, if it is given. The rounds are those of the
 * named algorithm, or of the algorithm with this number of rounds that ends first.
 */
enum exit_code topologies_read(const struct run *run, struct topologies *to);
enum exit_code topologies_solve(struct planning *planning, const struct morph_schedule_opts *opts);
/*
 * Check that the topologies that --to-segments is about to write give the same plan when they are
 * read again. Prints the difference. Returns false if they give no plan.
 */
bool topologies_return(const struct planning *planning, const char *path, const char *text,
		       size_t length);
void topologies_free(struct topologies *topologies);

/*
 * files.c: write the requested files of other programs and of steps. One of them can go to standard
 * output, instead of the answer.
 */
enum exit_code export_check(const struct run *run);
bool export_is_answer(const struct run *run);
enum exit_code write_files(const struct planning *planning);

/* State of the circuits of a plane from @begin_ns to @end_ns of the schedule. */
struct stretch {
	uint32_t plane, lane, matching;
	uint64_t begin_ns, end_ns;
	enum doing {
		LIT,
		SET,
		SENDS
	} doing;
};

/* A row of the picture, which shows a plane. Holds that do not overlap share a lane. */
struct row {
	uint32_t lanes;
	uint64_t *ends_ns; /* end of the last hold of each lane */
};

/* The states of all planes. The stretches of a lane do not overlap. */
struct timeline {
	struct stretch *stretches;
	size_t count;
	struct row rows[MOST_PLANES];
	uint32_t planes;
	uint64_t end_ns;
};

void timeline_make(struct timeline *timeline, const struct morph_schedule *schedule,
		   uint32_t planes);
void timeline_free(struct timeline *timeline);

/* Write a line for each plane. */
void timeline_write_text(const struct timeline *timeline);
bool is_utf8(const char *text, size_t length);
/* Write one SVG file without external references. */
void timeline_write_svg(FILE *stream, const struct timeline *timeline, const char *title);

/*
 * Check the paths of a feasible schedule's circuits, with --profile or --slice. Verdict 0: not
 * requested.
 */
enum exit_code plan_light(struct planning *planning);
void plan_light_write(const struct morph_light *light);
void plan_light_add(const struct morph_light *light, json_t *report);

/*
 * light.c: the model and the accelerators of the ranks, of --profile or --slice. The caller puts
 * the model and frees the accelerators.
 */
enum exit_code plan_ground(struct planning *planning, struct morph_model **model,
			   uint32_t **accelerators);

/*
 * matchings.c: replace the plan of an all-to-all by matchings, and find their paths. @choice
 * describes the plan if the light is feasible. If matchings do not apply or are not found, the
 * light stays.
 */
enum exit_code plan_matchings(struct planning *planning, struct morph_choice *choice);
void plan_matchings_write(const struct planning *planning);
void plan_matchings_add(const struct planning *planning, json_t *report);
void plan_matchings_free(struct planning *planning);

/* Routes of the matchings, to begin with; NULL: none. */
static inline const struct morph_matchings_answer *plan_routes(const struct planning *planning)
{
	const struct matchings *matchings = &planning->matchings;

	return matchings->answer.verdict == MORPH_FEASIBLE ? &matchings->answer : NULL;
}

/*
 * light.c: if the circuits of the plan have no paths, replace it by the next plan whose circuits
 * have some. With --slice and --load, load that one.
 */
enum exit_code plan_other(struct planning *planning);
void plan_other_write(const struct planning *planning);
void plan_other_add(const struct planning *planning, json_t *report);

/*
 * choices.c: comparisons of a schedule with baselines, the size from which on a ring's own circuits
 * pay, the rounds that a late rank needs, and the results of each method for a matrix. The
 * functions give the named record of a schedule, add these records to the report, and print them.
 */
json_t *schedule_record(const struct morph_schedule *schedule, const char *name);
enum exit_code plan_against_add(const struct planning *planning, json_t *report);
void plan_against_write(const struct run *run, const json_t *report);

/*
 * choices.c: check that a named algorithm is within the planner's budget, which excludes expensive
 * ones. Add the results of algorithms and policies to the report, with the reasons against the ones
 * not chosen.
 */
enum exit_code plan_within_budget(const struct planning *planning);
/*
 * The --steps that planning the collective needs, or, if @wanted is given, an estimate before it is
 * built. 0: the present budget is enough, as far as the estimate goes.
 */
uint64_t plan_lacks(const struct planning *planning, const struct morph_collective_opts *wanted);
/*
 * With --late: compute from the results from which delay on it pays to start without the late rank.
 */
void plan_choices_weigh(struct planning *planning);
/*
 * The end of the chosen plan if the last rank arrives as late as --late says. 0: --late is absent.
 */
uint64_t plan_choices_end(const struct planning *planning);
void plan_choices_add(const struct planning *planning, json_t *report);

/*
 * lost.c: replace a schedule by one without the ports of --lost if that is feasible, or by a new
 * plan. Report the difference for people and programs, and label other results that are from before
 * the loss.
 */
enum exit_code plan_lost(struct planning *planning);
void plan_lost_write(const struct planning *planning);
void plan_lost_add(const struct planning *planning, json_t *report);

/* target.c: check the combination of options before anything else. */
enum exit_code target_check(const struct run *run);
/* Open the slice and read its accelerators. Without --slice there is nothing to close. */
enum exit_code target_open(struct run *run, struct target *target);
void target_close(struct target *target);
/* Use the driver's measurements of changes as the delay. */
enum exit_code target_measure(struct planning *planning);
/* Check that the slice has the ranks of the collective. */
enum exit_code target_fits(const struct planning *planning);
/*
 * Find paths beside the resources in use on the fabric, and with --load give the steps to the
 * driver.
 */
enum exit_code target_light(struct planning *planning);
void target_measured_write(const struct planning *planning);
void target_measured_add(const struct planning *planning, json_t *report);
void target_write(const struct planning *planning);

/*
 * steps.c: a file of circuits and of the steps that hold them, as 'morphctl schedule load' reads
 * it.
 */
json_t *steps_document(const struct morph_steps *steps);
/* Read a YAML or JSON file, or standard input for "-", into new steps. */
enum exit_code steps_read(struct run *run, const char *path, struct morph_steps *steps);

#endif /* MORPHCTL_SCHEDULE_H */
