// SPDX-License-Identifier: GPL-2.0-only
/* Workloads of schedules: the largest legal one, and repairs that move circuits of schedules. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "holds.h"

#define RANKS 64u
#define MATCHINGS 126u
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

static void print_plan(int slice, const struct plan *plan, const char *when)
{
	struct morph_schedule_info info = {
		.head = HEAD(morph_schedule_info),
		.schedule = plan->number,
	};

	if (ioctl(slice, MORPH_SCHEDULE_INFO, &info))
		stop("schedule");
	printf("# %s: state %u, error %d, %u of %u circuits lit, %u moved\n", when, info.state,
	       info.error, info.lit, info.circuits, info.moved);
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

/* Reading the slice would visit all circuits of the schedule. */
static void wait_for_repair(struct scene *scene, int slice, const struct plan *plan)
{
	if (!WAIT_UNTIL(core_rests(&scene->sim)))
		printf("# the core does not rest\n");
	print_plan(slice, plan, "after a repair");
}

/* An accelerator dies, then a laser; then both work again. */
static void repair_plan(struct scene *scene, struct plan *plan)
{
	int slice = need_slice(scene, plan->ranks, MORPH_FAILOVER_AUTOMATIC);
	struct morph_rank_info *ranks = calloc(plan->ranks, sizeof(*ranks));
	unsigned int planes = scene->sim.info.planes;
	struct morph_slice_info info;

	if (!ranks || slice_read(slice, &info, ranks, plan->ranks, NULL, 0))
		stop("ranks");
	if (load_plan(slice, plan)) {
		run_plan(slice, plan);
		if (sim_control(&scene->sim, "fault", "accelerator_dead %u", ranks[0].accelerator))
			stop("fault");
		wait_for_repair(scene, slice, plan);
		nl_on_part(&scene->nl, MORPH_CMD_HARDWARE_FAIL, scene->sim.number, MORPH_PART_LASER,
			   ranks[1].accelerator * planes);
		nl_do(&scene->nl);
		wait_for_repair(scene, slice, plan);
		schedule_act(slice, plan->number, MORPH_SCHEDULE_GO, NULL);
		print_plan(slice, plan, "after a step");
		if (sim_control(&scene->sim, "clear", "all"))
			stop("clear");
		nl_on_part(&scene->nl, MORPH_CMD_HARDWARE_TEST, scene->sim.number,
			   MORPH_PART_ACCELERATOR, ranks[0].accelerator);
		nl_do(&scene->nl);
		nl_on_part(&scene->nl, MORPH_CMD_HARDWARE_TEST, scene->sim.number, MORPH_PART_LASER,
			   ranks[1].accelerator * planes);
		nl_do(&scene->nl);
		wait_for_repair(scene, slice, plan);
	}
	free(ranks);
	free_plan(plan);
	end_slice(scene, slice);
}

static void repair_usual(struct scene *scene)
{
	unsigned int ranks = scene->all / 2 < RANKS ? scene->all / 2 : RANKS;
	struct plan plan;

	make_plan(&plan, ranks, MATCHINGS, MATCHINGS);
	repair_plan(scene, &plan);
}

const struct workload schedules[] = {
	{ "largest schedule", use_largest },
	{ "repairs of a schedule", repair_usual },
	{ NULL, NULL },
};
