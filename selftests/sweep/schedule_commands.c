// SPDX-License-Identifier: GPL-2.0-only
/* Every command on schedules and queues, and the mappings of a slice file. */
#include <sys/mman.h>

#include "allocation.h"
#include "schedule.h"

static uint8_t own[RING_BYTES] __attribute__((aligned(4096)));
static void *mapped;
static int schedule = -1, ring = -1;

static void nothing(struct stage *stage)
{
	(void)stage;
}

/* ----------------------------------------------------------------- schedules */

static int load_as(struct stage *stage, unsigned int advance)
{
	schedule = schedule_load(stage->slice, advance, false, NULL);
	return ERRNO(schedule);
}

static int load(struct stage *stage)
{
	return load_as(stage, MORPH_ADVANCE_CALL);
}

static int act(struct stage *stage, unsigned int verb, unsigned int number, uint64_t position)
{
	return ERRNO(schedule_verb(stage->slice, schedule, verb, number, position));
}

static int start(struct stage *stage)
{
	return act(stage, MORPH_SCHEDULE_START, 0, 0);
}

static int go(struct stage *stage)
{
	return act(stage, MORPH_SCHEDULE_GO, 0, 2);
}

static int jump(struct stage *stage)
{
	return act(stage, MORPH_SCHEDULE_JUMP, 2, 2);
}

/* Wait for the last position. */
static int arrive(struct stage *stage)
{
	return act(stage, MORPH_SCHEDULE_ARRIVE, 0, 1);
}

static int wait_for_it(struct stage *stage)
{
	return act(stage, MORPH_SCHEDULE_WAIT, 0, 1);
}

static int stop(struct stage *stage)
{
	return act(stage, MORPH_SCHEDULE_STOP, 0, 0);
}

static int unload(struct stage *stage)
{
	return act(stage, MORPH_SCHEDULE_UNLOAD, 0, 0);
}

static int read_info(struct stage *stage)
{
	struct morph_schedule_step_info steps[3];
	struct morph_schedule_info info;

	return ERRNO(schedule_read(stage->slice, schedule, &info, steps));
}

static void loaded(struct stage *stage)
{
	must(load(stage), "loading a schedule");
}

static void started(struct stage *stage)
{
	loaded(stage);
	must(start(stage), "starting it");
}

static void awaited(struct stage *stage)
{
	must(load_as(stage, MORPH_ADVANCE_BARRIER), "loading a schedule");
	must(start(stage), "starting it");
	must(act(stage, MORPH_SCHEDULE_ARRIVE, 1, 1), "arriving");
	must(act(stage, MORPH_SCHEDULE_ARRIVE, 2, 1), "arriving");
}

static void unloaded(struct stage *stage)
{
	must(unload(stage), "unloading it");
}

/* --------------------------------------------------------------------- rings */

static int make_ring(struct stage *stage)
{
	ring = ring_setup(stage->slice, schedule, NULL);
	return ERRNO(ring);
}

static int make_own_ring(struct stage *stage)
{
	ring = ring_setup(stage->slice, schedule, own);
	return ERRNO(ring);
}

static int wake(struct stage *stage)
{
	return ERRNO(ring_act(stage->slice, ring, MORPH_RING_WAKE));
}

static int close_ring(struct stage *stage)
{
	return ERRNO(ring_act(stage->slice, ring, MORPH_RING_CLOSE));
}

static int map_ring(struct stage *stage)
{
	mapped = ring_map(stage->slice, ring);
	return mapped ? 0 : errno;
}

static void ring_made(struct stage *stage)
{
	loaded(stage);
	must(make_ring(stage), "a ring");
}

static void ring_closed(struct stage *stage)
{
	must(close_ring(stage), "closing the ring");
	unloaded(stage);
}

static void ring_unmapped(struct stage *stage)
{
	munmap(mapped, RING_BYTES);
	ring_closed(stage);
}

/* ---------------------------------------------------------------- state page */

/* The first mapping of a slice's state page allocates it. */
static void make_slice(struct stage *stage)
{
	stage->fd = slice_create(stage->sim.fd, 2);
	must(ERRNO(stage->fd), "slice_create");
}

static int map_state(struct stage *stage)
{
	mapped = state_map(stage->fd);
	return mapped ? 0 : errno;
}

static void close_slice(struct stage *stage)
{
	close(stage->fd);
	stage->fd = -1;
}

static void state_unmapped(struct stage *stage)
{
	munmap(mapped, 4096);
	close_slice(stage);
}

const struct command schedule_commands[] = {
	{ "schedule-load", .act = load, .undo = unloaded },
	{ "schedule-start", .act = start, .set = loaded, .undo = unloaded, .unset = unloaded },
	{ "schedule-go", .act = go, .set = started, .undo = unloaded, .unset = unloaded },
	{ "schedule-jump", .act = jump, .set = started, .undo = unloaded, .unset = unloaded },
	{ "schedule-arrive", .act = arrive, .set = awaited, .undo = unloaded, .unset = unloaded },
	{ "schedule-wait", .act = wait_for_it, .set = started, .undo = unloaded,
	  .unset = unloaded },
	{ "schedule-info", .act = read_info, .set = started, .undo = unloaded, .unset = unloaded },
	{ "schedule-stop", .act = stop, .set = started, .undo = unloaded, .unset = unloaded },
	{ "schedule-unload", .act = unload, .set = started, .undo = nothing, .unset = unloaded },
	{ "ring-setup", .act = make_ring, .set = loaded, .undo = ring_closed, .unset = unloaded },
	{ "ring-setup-user", .act = make_own_ring, .set = loaded, .undo = ring_closed,
	  .unset = unloaded },
	{ "ring-wake", .act = wake, .set = ring_made, .undo = ring_closed, .unset = ring_closed },
	{ "ring-close", .act = close_ring, .set = ring_made, .undo = unloaded,
	  .unset = ring_closed },
	{ "ring-map", .act = map_ring, .set = ring_made, .undo = ring_unmapped,
	  .unset = ring_closed },
	{ "state-map", .act = map_state, .set = make_slice, .undo = state_unmapped,
	  .unset = close_slice },
};

const unsigned int schedule_commands_count = COUNT(schedule_commands);
