// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replace functions of the planner in a special build of morphctl (ld --wrap). Each schedule that
 * the program plans goes through libmorph's checker. An invalid schedule ends the program; a valid
 * one adds a line to the file CHECKED. The wrappers see each request, so morphctl's output need not
 * contain it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <morph/plan.h>

#include "../../libmorph/check/check.h"
#include "../../libmorph/internal/planner.h"

#define CHANGE 7 /* index in a delay of four words: the times of a change and of a circuit */
#define PLANES 2 /* of a schedule */

static void wrong(const char *what)
{
	fprintf(stderr, "checked: %s\n", what);
	abort();
}

static uint32_t *room_for(ssize_t bytes)
{
	uint32_t *words = bytes > 0 ? malloc((size_t)bytes) : NULL;

	if (!words)
		wrong("it can't be written");
	return words;
}

static struct morph_check_bytes write_schedule(const struct morph_schedule *schedule)
{
	ssize_t bytes = morph_schedule_write(schedule, NULL, 0);
	uint32_t *words = room_for(bytes);

	if (morph_schedule_write(schedule, words, (size_t)bytes) != bytes)
		wrong("it can't be written");
	return (struct morph_check_bytes){ words, (size_t)bytes };
}

static struct morph_check_bytes write_collective(const struct morph_collective *collective)
{
	ssize_t bytes = morph_collective_write(collective, NULL, 0);
	uint32_t *words = room_for(bytes);

	if (morph_collective_write(collective, words, (size_t)bytes) != bytes)
		wrong("it can't be written");
	return (struct morph_check_bytes){ words, (size_t)bytes };
}

/* @free: changes take no time. */
static struct morph_check_bytes write_delay(const struct morph_delay *delay, uint32_t ranks,
					    bool free)
{
	ssize_t bytes = morph_delay_write(delay, ranks, NULL, 0);
	uint32_t *words = room_for(bytes);

	if (morph_delay_write(delay, ranks, words, (size_t)bytes) != bytes)
		wrong("it can't be written");
	if (free)
		memset(words + MORPH_WIRE_HEAD + CHANGE, 0, 4 * sizeof(*words));
	return (struct morph_check_bytes){ words, (size_t)bytes };
}

static void note(const char *name)
{
	const char *path = getenv("CHECKED");
	FILE *file = path ? fopen(path, "ae") : NULL;

	if (!file)
		return;
	fprintf(file, "%s\n", name);
	fclose(file);
}

/* @planes: 0: the number in the schedule. Returns @error. */
static int check(const char *name, int error, const struct morph_schedule *schedule,
		 const struct morph_collective *collective, const struct morph_delay *delay,
		 uint32_t planes, const struct morph_schedule *after, bool free_changes)
{
	struct morph_check_schedule_input input = { .planes = planes };
	char report[256];

	if (error || morph_schedule_verdict(schedule) != MORPH_FEASIBLE)
		return error;
	input.schedule = write_schedule(schedule);
	input.collective = write_collective(collective);
	input.delay = write_delay(delay, morph_collective_busy(collective), free_changes);
	if (after)
		input.after = write_schedule(after);
	if (!planes)
		input.planes = ((const uint32_t *)input.schedule.data)[MORPH_WIRE_HEAD + PLANES];
	if (morph_check_schedule(&input, report, sizeof(report)))
		wrong(report);
	free((void *)input.schedule.data);
	free((void *)input.collective.data);
	free((void *)input.delay.data);
	free((void *)input.after.data);
	note(name);
	return error;
}

static uint32_t planes_of(const struct morph_schedule_opts *opts)
{
	return opts && opts->planes ? opts->planes : 1;
}

/* The linker binds __real_NAME to the library's function, and morphctl's calls to __wrap_NAME. */
#define REAL(function) __typeof__(function) __real_##function, __wrap_##function

REAL(morph_schedule_plan);
REAL(morph_schedule_choose);
REAL(morph_schedule_combine);
REAL(morph_schedule_payoff);
REAL(morph_schedule_baseline);
REAL(morph_schedule_replan);

#define ASKED planes_of(opts), opts ? opts->after : NULL

int __wrap_morph_schedule_plan(struct morph_schedule *schedule,
			       const struct morph_collective *collective,
			       const struct morph_delay *delay,
			       const struct morph_schedule_opts *opts)
{
	int error = __real_morph_schedule_plan(schedule, collective, delay, opts);

	return check(opts && opts->pool ? "plan-on" : "plan", error, schedule, collective, delay,
		     ASKED, false);
}

int __wrap_morph_schedule_choose(struct morph_schedule *schedule,
				 struct morph_collective *collective,
				 const struct morph_collective_opts *wanted,
				 const struct morph_delay *delay,
				 const struct morph_schedule_opts *opts,
				 struct morph_choice *choices)
{
	int error =
		__real_morph_schedule_choose(schedule, collective, wanted, delay, opts, choices);

	return check("choose", error, schedule, collective, delay, ASKED, false);
}

int __wrap_morph_schedule_combine(struct morph_schedule *schedule,
				  struct morph_collective *collective,
				  const struct morph_collective *there,
				  const struct morph_delay *delay,
				  const struct morph_schedule_opts *opts)
{
	int error = __real_morph_schedule_combine(schedule, collective, there, delay, opts);

	return check("combine", error, schedule, collective, delay, ASKED, false);
}

int __wrap_morph_schedule_payoff(struct morph_schedule *schedule,
				 struct morph_collective *collective,
				 const struct morph_collective_opts *wanted,
				 const struct morph_delay *delay,
				 const struct morph_schedule_opts *opts,
				 struct morph_payoff *payoff)
{
	int error = __real_morph_schedule_payoff(schedule, collective, wanted, delay, opts, payoff);

	return check("payoff", error, schedule, collective, delay, ASKED, false);
}

/* In the ideal baseline, changes take no time. */
int __wrap_morph_schedule_baseline(struct morph_schedule *schedule,
				   const struct morph_collective *collective,
				   const struct morph_delay *delay,
				   const struct morph_schedule_opts *opts, uint32_t baseline)
{
	int error = __real_morph_schedule_baseline(schedule, collective, delay, opts, baseline);

	return check("baseline", error, schedule, collective, delay, ASKED,
		     baseline == MORPH_BASELINE_IDEAL);
}

/* On the planes of the schedule before. The schedule that this one follows is unknown. */
int __wrap_morph_schedule_replan(struct morph_schedule *schedule, const struct morph_schedule *old,
				 const struct morph_collective *collective,
				 const struct morph_delay *delay,
				 const struct morph_replan_opts *opts,
				 struct morph_replanned *replanned)
{
	int error = __real_morph_schedule_replan(schedule, old, collective, delay, opts, replanned);

	return check("replan", error, schedule, collective, delay, 0, NULL, false);
}
