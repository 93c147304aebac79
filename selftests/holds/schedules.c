// SPDX-License-Identifier: GPL-2.0-only
/* Workloads of schedules: as many circuits in as many steps as a slice may have. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "holds.h"

#define RANKS 64u
#define ADVANCES 4u

/* A schedule in which all steps have the same number of circuits. */
struct plan {
	struct morph_schedule_circuit *circuits;
	struct morph_schedule_step *steps;
	uint32_t *held;
	unsigned int ranks, matchings, steps_count;
	uint32_t number;
};

/* Steps beyond the matchings repeat them in turn. */
static void make_plan(struct plan *plan, unsigned int ranks, unsigned int matchings,
		      unsigned int steps)
{
	unsigned int i;

	*plan = (struct plan){ .ranks = ranks, .matchings = matchings, .steps_count = steps };
	plan->circuits = calloc((size_t)ranks * matchings, sizeof(*plan->circuits));
	plan->steps = calloc(steps, sizeof(*plan->steps));
	plan->held = calloc((size_t)ranks * steps, sizeof(*plan->held));
	if (!plan->circuits || !plan->steps || !plan->held)
		stop("memory of a schedule");
	fill_matchings(ranks, matchings, plan->circuits, plan->steps, plan->held);
	for (i = ranks * matchings; i < ranks * steps; i++)
		plan->held[i] = i % (ranks * matchings);
	for (i = 0; i < steps; i++)
		plan->steps[i] = (struct morph_schedule_step){ .first = i * ranks, .count = ranks };
}

static void free_plan(struct plan *plan)
{
	free(plan->circuits);
	free(plan->steps);
	free(plan->held);
}

static bool load_plan(int slice, struct plan *plan)
{
	struct morph_schedule_load load = {
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(plan->circuits, plan->ranks * plan->matchings),
		.held = ARRAY(plan->held, plan->ranks * plan->steps_count),
		.steps = ARRAY(plan->steps, plan->steps_count),
		.generation = GENERATION_ANY,
	};

	load.head.flags = MORPH_SCHEDULE_LOOP;
	if (ioctl(slice, MORPH_SCHEDULE_LOAD, &load)) {
		printf("# load of a schedule: %s\n", last_detail);
		return false;
	}
	plan->number = load.out_schedule;
	return true;
}

static void run_plan(int slice, const struct plan *plan)
{
	unsigned int i;

	if (schedule_act(slice, plan->number, MORPH_SCHEDULE_START, NULL))
		stop("start of a schedule");
	for (i = 0; i < ADVANCES; i++)
		if (schedule_act(slice, plan->number, MORPH_SCHEDULE_GO, NULL))
			stop("step of a schedule");
}

/* As many circuits in as many steps as a slice may have. */
static void make_largest(struct scene *scene, struct plan *plan)
{
	unsigned int ranks = scene->all / 2 < RANKS ? scene->all / 2 : RANKS;
	unsigned int steps = MORPH_SCHEDULE_MOST_HELD / ranks;

	if (steps > MORPH_SCHEDULE_MOST_STEPS)
		steps = MORPH_SCHEDULE_MOST_STEPS;
	make_plan(plan, ranks, MORPH_SCHEDULE_MOST_CIRCUITS / ranks, steps);
}

/* The stray light of each step must be judged, because there is another slice. */
static void use_largest(struct scene *scene)
{
	int neighbour = need_slice(scene, 2, MORPH_FAILOVER_NONE), slice;
	struct plan plan;

	light_some(neighbour, 2);
	make_largest(scene, &plan);
	slice = need_slice(scene, plan.ranks, MORPH_FAILOVER_NONE);
	if (load_plan(slice, &plan)) {
		run_plan(slice, &plan);
		schedule_act(slice, plan.number, MORPH_SCHEDULE_UNLOAD, NULL);
	}
	if (load_plan(slice, &plan))
		run_plan(slice, &plan);
	free_plan(&plan);
	close(neighbour);
	end_slice(scene, slice);
}

const struct workload schedules[] = {
	{ "largest schedule", use_largest },
	{ NULL, NULL },
};
