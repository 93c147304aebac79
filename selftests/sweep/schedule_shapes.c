// SPDX-License-Identifier: GPL-2.0-only
/* Schedules: each verb, by call and through a queue. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "schedule.h"
#include "shapes.h"

static void want(struct scene *scene, unsigned int circuit)
{
	unsigned int src = circuit % SCHEDULE_RANKS, far = 1 + circuit / SCHEDULE_RANKS;

	scene->wanted[scene->wanted_count++] = (struct wanted){ scene->first_circuit + circuit, src,
								(src + far) % SCHEDULE_RANKS };
}

static bool is_wanted(const struct scene *scene, unsigned int circuit)
{
	unsigned int i;

	for (i = 0; i < scene->wanted_count; i++)
		if (scene->wanted[i].circuit == circuit)
			return true;
	return false;
}

/*
 * Collect the circuits that must be lit according to the schedule: those of its step, also after a
 * stop. Circuits of the next step may be lit, if a repair has separated them from the current ones.
 */
static void follow(struct scene *scene)
{
	struct morph_schedule_info info;
	unsigned int circuits[3], count, i;

	scene->wanted_count = scene->ahead_count = 0;
	if (schedule_info(scene->slice, scene->schedule, &info))
		return;
	count = schedule_step(info.step, circuits);
	for (i = 0; i < count; i++)
		want(scene, circuits[i]);
	/* A schedule that stopped on the way to its first step has lit some of them. */
	if (info.step == MORPH_ANY && info.state == MORPH_SCHEDULE_STOPPED)
		for (i = 0; i < info.circuits; i++)
			scene->ahead[scene->ahead_count++] = scene->first_circuit + i;
	if (info.step == MORPH_ANY)
		return;
	count = schedule_step((info.step + 1) % 3, circuits);
	for (i = 0; i < count; i++)
		if (!is_wanted(scene, scene->first_circuit + circuits[i]))
			scene->ahead[scene->ahead_count++] = scene->first_circuit + circuits[i];
}

static int act_at(struct scene *scene, unsigned int verb, unsigned int number, uint64_t position)
{
	int error = 0;

	if (schedule_verb(scene->slice, scene->schedule, verb, number, position))
		error = errno;
	follow(scene);
	return error;
}

static int start(struct scene *scene)
{
	return act_at(scene, MORPH_SCHEDULE_START, 0, 0);
}

/* A failed step has stopped the schedule, so START continues it. */
static int restart_at(struct scene *scene, unsigned int step)
{
	struct morph_schedule_info info;

	if (schedule_info(scene->slice, scene->schedule, &info))
		return errno;
	if (info.state == MORPH_SCHEDULE_RUNNING)
		return info.step == step ? 0 : EPROTO;
	return act_at(scene, MORPH_SCHEDULE_START, step, 0);
}

static int start_again(struct scene *scene)
{
	return restart_at(scene, 0);
}

static int second_again(struct scene *scene)
{
	return restart_at(scene, 1);
}

static int third_again(struct scene *scene)
{
	return restart_at(scene, 2);
}

/* ----------------------------------------------------------------------- scenes */

static int load(struct scene *scene, unsigned int advance, bool apart)
{
	int schedule = schedule_load(scene->slice, advance, apart, &scene->first_circuit);

	scene->schedule = schedule;
	return schedule < 0 ? errno : 0;
}

static int set_loaded(struct scene *scene)
{
	return load(scene, MORPH_ADVANCE_CALL, false);
}

static int set_timed(struct scene *scene)
{
	return load(scene, MORPH_ADVANCE_TIME, false);
}

static int load_and_start(struct scene *scene, unsigned int advance, bool apart)
{
	int error = load(scene, advance, apart);

	return error ? error : start(scene);
}

static int set_started(struct scene *scene)
{
	return load_and_start(scene, MORPH_ADVANCE_CALL, false);
}

static int set_barrier(struct scene *scene)
{
	return load_and_start(scene, MORPH_ADVANCE_BARRIER, false);
}

/* Wait until the second step has missed its deadline. */
static int set_stopped(struct scene *scene)
{
	int error = load_and_start(scene, SCHEDULE_TOO_LATE, false);
	struct morph_schedule_info info = {};

	if (error)
		return error;
	if (!WAIT_UNTIL((schedule_info(scene->slice, scene->schedule, &info),
			 info.state == MORPH_SCHEDULE_STOPPED)))
		return ETIME;
	return 0;
}

/* The driver has lit ahead the circuits of the second step that the first leaves room for. */
static int set_ahead(struct scene *scene)
{
	int error = load_and_start(scene, MORPH_ADVANCE_CALL, true);
	struct morph_schedule_step_info steps[3];
	struct morph_schedule_info info = {};

	if (error)
		return error;
	if (schedule_read(scene->slice, scene->schedule, &info, steps))
		return errno;
	if (!steps[1].ahead)
		return ENOSPC;
	if (!WAIT_UNTIL((schedule_info(scene->slice, scene->schedule, &info),
			 info.lit == SCHEDULE_RANKS + steps[1].ahead)))
		return ETIME;
	return 0;
}

static int set_ring(struct scene *scene)
{
	int error = set_started(scene);

	if (error)
		return error;
	scene->ring = ring_setup(scene->slice, scene->schedule, NULL);
	if (scene->ring < 0)
		return errno;
	scene->memory = ring_map(scene->slice, scene->ring);
	return scene->memory ? 0 : errno;
}

/* ------------------------------------------------------------------------ verbs */

static int go(struct scene *scene)
{
	return act_at(scene, MORPH_SCHEDULE_GO, 0, 2);
}

static int jump(struct scene *scene)
{
	return act_at(scene, MORPH_SCHEDULE_JUMP, 2, 2);
}

static int restart(struct scene *scene)
{
	return act_at(scene, MORPH_SCHEDULE_START, 2, 0);
}

/* The last rank that arrives begins the step; the waiting ranks get its result. */
static int arrive(struct scene *scene)
{
	unsigned int rank;
	int error;

	for (rank = 0; rank < SCHEDULE_RANKS; rank++) {
		error = act_at(scene, MORPH_SCHEDULE_ARRIVE, rank, 1);
		if (error)
			return error;
	}
	return act_at(scene, MORPH_SCHEDULE_WAIT, 0, 2);
}

static int start_timed(struct scene *scene)
{
	int error = start(scene);

	return error ? error : act_at(scene, MORPH_SCHEDULE_WAIT, 0, 2);
}

static int stop(struct scene *scene)
{
	return act_at(scene, MORPH_SCHEDULE_STOP, 0, 0);
}

static int unload(struct scene *scene)
{
	struct morph_schedule_info info;

	/* The schedule has gone. */
	if (schedule_info(scene->slice, scene->schedule, &info) && errno == ENOENT)
		return 0;
	return act_at(scene, MORPH_SCHEDULE_UNLOAD, 0, 0);
}

/* Make two steps, then stop, which darkens also the circuits lit ahead. */
static int go_and_stop(struct scene *scene)
{
	int error = go(scene);

	if (!error)
		error = jump(scene);
	return error ? error : stop(scene);
}

static int ring(struct scene *scene)
{
	int error = ring_jump(scene->slice, scene->ring, scene->memory, 2, 2);

	munmap(scene->memory, RING_BYTES);
	ring_act(scene->slice, scene->ring, MORPH_RING_CLOSE);
	follow(scene);
	return error;
}

static int release(struct scene *scene)
{
	struct sim sim = scene->sim;

	close(scene->slice);
	scene->slice = -1;
	scene->wanted_count = scene->ahead_count = 0;
	do {
		usleep(1000);
		sim_refresh(&sim);
	} while (sim.info.slices > 1);
	return 0;
}

const struct shape schedule_shapes[] = {
	{ "schedule-start", .set = set_loaded, .act = start, .again = start_again },
	{ "schedule-go", .set = set_started, .act = go, .again = second_again },
	{ "schedule-jump", .set = set_started, .act = jump, .again = third_again },
	{ "schedule-arrive", .set = set_barrier, .act = arrive, .again = second_again },
	{ "schedule-time", .set = set_timed, .act = start_timed, .again = second_again },
	{ "schedule-restart", .set = set_stopped, .act = restart, .again = third_again },
	{ "schedule-ahead", .set = set_ahead, .act = go_and_stop, .again = stop },
	{ "schedule-stop", .set = set_started, .act = stop, .again = stop },
	{ "schedule-unload", .set = set_started, .act = unload, .again = unload },
	{ "schedule-ring", .set = set_ring, .act = ring, .again = third_again },
	{ "schedule-release", .set = set_started, .act = release },
};

const unsigned int schedule_shapes_count = COUNT(schedule_shapes);
