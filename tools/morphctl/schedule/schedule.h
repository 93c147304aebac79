/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Schedules: planned for collectives, loaded into slices and run. */
#ifndef MORPHCTL_SCHEDULE_H
#define MORPHCTL_SCHEDULE_H

#include <stdio.h>

#include "morphctl/client/client.h"

/* With --slice: a slice that runs, all ranks of which take part. */
struct target {
	struct morph_slice *slice; /* NULL: there is none */
	uint32_t fabric, ranks, transit;
	uint64_t generation; /* at which these are its accelerators */
	uint32_t *accelerators;
	uint32_t measured; /* steps whose changes the delay is of */
	json_t *loaded; /* state of the schedule that was loaded, or NULL */
};

#define MOST_PLANES 64u
#define MOST_UNLIT 24 /* ways of each may take seconds */

/* A plan whose light has no ways. */
struct unlit {
	uint32_t algorithm, policy, planes;
	uint64_t ns;
	bool proven; /* else none were found */
};

/* Topologies of a file, one for each round. */
struct topologies {
	uint32_t ranks, count; /* 0: there is no file */
	uint32_t *firsts; /* of each its first joint, and where those of the last end */
	struct morph_joint *joints;
	json_t *written; /* what comes of them as they are written */
	/* --steps for an algorithm that has as many rounds; 0: none was left out for that */
	uint64_t lacks;
	bool full; /* one is more than a collective may be */
};

/* What is asked, and what is made of it. */
struct planning {
	struct run *run;
	struct morph_collective *collective;
	struct morph_delay *delay,
		*unchanging; /* the other is the same where changes take no time */
	struct morph_schedule *schedule;
	struct morph_collective_opts wanted;
	uint64_t *matrix; /* what each rank has for each, of a file; NULL: there is none */
	/* the collective is that of a file, with its rounds: there is nothing to choose */
	bool rounds_given;
	struct morph_choice choices[MORPH_ALGORITHMS];
	struct morph_payoff payoff; /* of a late rank, where this is what does not wait for it */
	struct morph_payoff rule; /* the same, whatever it came to */
	struct morph_replanned replanned; /* without ports that are lost */
	bool is_replanned;
	char stuck[256]; /* why it could not go on, and was planned anew; "": it goes on */
	struct topologies topologies;
	struct target target;
	struct morph_steps *steps; /* of its light, where that has ways */
	struct morph_light light; /* verdict 0: nobody has asked */
	struct unlit unlit[MOST_UNLIT]; /* soonest first */
	uint32_t unlit_count;
	uint32_t planes, policy;
	uint64_t budget; /* of the search; 0: as long as pays */
	char title[160];
};

/* plan.c: verdict, times and sizes of a schedule; sizes of a collective. */
struct morph_schedule_result schedule_result(const struct morph_schedule *schedule);
struct morph_collective_info collective_info(const struct morph_collective *collective);

/*
 * What the library says of a plan. It asks no kernel: what can't be planned is a mistake of who
 * asks.
 */
enum exit_code plan_error(struct run *run, int error);

/*
 * request.c: an algorithm and what it is told; the collective; what rounds and changes take.
 * Options that the collective makes no use of are a usage error, those of a file's, too.
 */
enum exit_code plan_ask_algorithm(struct planning *planning);
enum exit_code plan_ask_collective(struct planning *planning);
enum exit_code plan_ask_delay(struct planning *planning);
enum exit_code plan_check_options(const struct planning *planning);
/* A collective in a word: enum morph_collective_kind. */
const char *kind_name(uint32_t kind);

/* files.c: is the collective to come from a file of another program? Several are a usage error. */
enum exit_code from_file(const struct run *run, bool *file);
/*
 * The file becomes a matrix of what each has for each, or a collective; what is wrong in it is told
 * with its line.
 */
enum exit_code ask_file(struct planning *planning);

/*
 * topologies.c: topologies of --from-segments, where it is given. Rounds are those of the
 * algorithm, or of the one that ends first of those that have as many.
 */
enum exit_code topologies_read(const struct run *run, struct topologies *to);
enum exit_code topologies_solve(struct planning *planning, const struct morph_schedule_opts *opts);
/*
 * Do topologies that --to-segments is about to write come to the plan when they are read back? What
 * is another is said; false: there is no plan.
 */
bool topologies_return(const struct planning *planning, const char *path, const char *text,
		       size_t length);
void topologies_free(struct topologies *topologies);

/*
 * files.c: write the files of other programs, and of steps, that are asked for. One of them may go
 * to standard output, in the place of the answer.
 */
enum exit_code export_check(const struct run *run);
bool export_is_answer(const struct run *run);
enum exit_code write_files(const struct planning *planning);

/* From begin to end, in the units of the schedule; what circuits of a plane do in between. */
struct stretch {
	uint32_t plane, lane, matching;
	uint64_t begin_ns, end_ns;
	enum doing {
		LIT,
		SET,
		SENDS
	} doing;
};

/* A plane: holds of which each begins after the one before has ended are in the same lane. */
struct row {
	uint32_t lanes;
	uint64_t *ends_ns; /* of the last hold of each lane */
};

/* What all planes do; of a lane one stretch at a time. */
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

/* A line for each plane. */
void timeline_write_text(FILE *stream, const struct timeline *timeline);
bool is_utf8(const char *text, size_t length);
/* One SVG file without references. */
void timeline_write_svg(FILE *stream, const struct timeline *timeline, const char *title);

/*
 * Of a feasible schedule, with --profile or --slice: whether its light has ways; verdict 0: it was
 * not asked.
 */
enum exit_code plan_light(struct planning *planning);
void plan_light_write(const struct morph_light *light);
void plan_light_add(const struct morph_light *light, json_t *report);

/*
 * light.c: where light has no ways, the next plan whose light has some, in its place. With --slice
 * --load it is loaded, like the first would have been.
 */
enum exit_code plan_other(struct planning *planning);
void plan_other_write(const struct planning *planning);
void plan_other_add(const struct planning *planning, json_t *report);

/*
 * choices.c: what a schedule is held against: baselines, from when on it pays to change a ring's
 * circuits, the rounds that a late rank needs, and what each method of a matrix came to. A schedule
 * under a name; the record; and from it what people read.
 */
json_t *schedule_record(const struct morph_schedule *schedule, const char *name);
enum exit_code plan_against_add(const struct planning *planning, json_t *report);
void plan_against_write(const struct run *run, const json_t *report);

/*
 * choices.c: is an algorithm that was named within the planner's budget, which leaves out others?
 * What algorithms and policies came to, and why they are not the ones, into the record.
 */
enum exit_code plan_within_budget(const struct planning *planning);
/*
 * The --steps that it takes to plan the rounds of the collective, or, before they are built, those
 * that are wanted; 0: what there is will do, or as far as can be reckoned.
 */
uint64_t plan_lacks(const struct planning *planning, const struct morph_collective_opts *wanted);
/* With --late: what they came to says from when on it pays not to wait. */
void plan_choices_weigh(struct planning *planning);
/*
 * When all has arrived by the one that is chosen, where the last rank comes as late as --late says;
 * 0: it does not say.
 */
uint64_t plan_choices_end(const struct planning *planning);
void plan_choices_add(const struct planning *planning, json_t *report);

/*
 * lost.c: in the place of a schedule the same without the ports that --lost names, where it is
 * feasible, or one that is planned anew; how they differ, for people and programs; and what else
 * was tried is labelled as being from before.
 */
enum exit_code plan_lost(struct planning *planning);
void plan_lost_write(const struct planning *planning);
void plan_lost_add(const struct planning *planning, json_t *report);

/* target.c: before anything is asked: do the options go together? */
enum exit_code target_check(const struct run *run);
/* Its ranks, and who they are now; without --slice there is nothing to close. */
enum exit_code target_open(struct run *run, struct target *target);
void target_close(struct target *target);
/* What the driver has measured of changes of its schedules becomes the delay. */
enum exit_code target_measure(struct planning *planning);
/* As many ranks as the slice has. */
enum exit_code target_fits(const struct planning *planning);
/* Ways beside what is held of its fabric now, and with --load the steps into the driver. */
enum exit_code target_light(struct planning *planning);
void target_measured_write(const struct planning *planning);
void target_measured_add(const struct planning *planning, json_t *report);
void target_write(const struct planning *planning);

/* steps.c: a file of circuits and of steps that hold them, as 'morphctl schedule load' takes it. */
json_t *steps_document(const struct morph_steps *steps);
/* Read a YAML or JSON file, or standard input for "-", into steps, which are new. */
enum exit_code steps_read(struct run *run, const char *path, struct morph_steps *steps);

#endif /* MORPHCTL_SCHEDULE_H */
