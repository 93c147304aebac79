// SPDX-License-Identifier: GPL-2.0-only
/* A schedule of three ranks, and a queue for it. */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "../../libmorph/include/morph/device.h"
#include "schedule.h"

#define CIRCUITS (2 * SCHEDULE_RANKS)
#define ENTRIES 8u

/*
 * On the same ports the driver can light nothing ahead. Other circuits of the slice are on other
 * lanes.
 */
static void fill_circuits(struct morph_schedule_circuit *circuits, bool apart)
{
	unsigned int i;

	for (i = 0; i < CIRCUITS; i++) {
		unsigned int src = i % SCHEDULE_RANKS, far = 1 + i / SCHEDULE_RANKS;

		circuits[i] = (struct morph_schedule_circuit){
			.src_rank = src,
			.dst_rank = (src + far) % SCHEDULE_RANKS,
			.src_plane = apart ? i / SCHEDULE_RANKS : 1,
			.dst_plane = apart ? i / SCHEDULE_RANKS : 1,
			.lanes = 2,
		};
	}
}

int schedule_load(int slice, unsigned int advance, bool apart, unsigned int *first)
{
	static const uint32_t held[] = { 0, 1, 2, 3, 4, 5, 0, 4 };
	struct morph_schedule_circuit circuits[CIRCUITS];
	struct morph_schedule_step steps[] = {
		{ .count = 3 },
		{ .first = 3, .count = 3, .advance = advance },
		{ .first = 6, .count = 2 },
	};
	struct morph_schedule_load args = {
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(circuits, CIRCUITS),
		.steps = ARRAY(steps, COUNT(steps)),
		.held = ARRAY(held, COUNT(held)),
		.generation = GENERATION_ANY,
	};

	fill_circuits(circuits, apart);
	args.head.flags = MORPH_SCHEDULE_LOOP;
	if (advance == MORPH_ADVANCE_TIME)
		steps[1].after_ns = 1000000;
	if (advance == SCHEDULE_TOO_LATE) {
		steps[1].advance = MORPH_ADVANCE_CALL;
		steps[1].deadline_ns = 1;
	}
	if (ioctl(slice, MORPH_SCHEDULE_LOAD, &args))
		return -1;
	if (first)
		*first = args.out_circuit;
	return (int)args.out_schedule;
}

int schedule_verb(int slice, unsigned int schedule, unsigned int verb, unsigned int number,
		  uint64_t position)
{
	struct morph_schedule_act args = {
		.step = verb == MORPH_SCHEDULE_ARRIVE ? 0 : number,
		.rank = verb == MORPH_SCHEDULE_ARRIVE ? number : 0,
		.position = position,
	};

	return schedule_act(slice, schedule, verb, &args);
}

int schedule_info(int slice, unsigned int schedule, struct morph_schedule_info *info)
{
	*info = (struct morph_schedule_info){
		.head = HEAD(morph_schedule_info),
		.schedule = schedule,
	};
	return ioctl(slice, MORPH_SCHEDULE_INFO, info);
}

int schedule_read(int slice, unsigned int schedule, struct morph_schedule_info *info,
		  struct morph_schedule_step_info steps[3])
{
	*info = (struct morph_schedule_info){
		.head = HEAD(morph_schedule_info),
		.schedule = schedule,
		.steps = ARRAY(steps, 3),
	};
	return ioctl(slice, MORPH_SCHEDULE_INFO, info);
}

unsigned int schedule_step(unsigned int step, unsigned int *circuits)
{
	static const unsigned int held[][3] = { { 0, 1, 2 }, { 3, 4, 5 }, { 0, 4 } };

	if (step >= COUNT(held))
		return 0;
	memcpy(circuits, held[step], sizeof(held[step]));
	return step == 2 ? 2 : 3;
}

/* ---------------------------------------------------------------------- ring */

int ring_setup(int slice, unsigned int schedule, void *memory)
{
	struct morph_ring_setup args = {
		.head = HEAD(morph_ring_setup),
		.schedule = schedule,
		.entries = ENTRIES,
		.user_ptr = (uintptr_t)memory,
	};

	args.head.flags = memory ? MORPH_RING_USER : 0;
	return ioctl(slice, MORPH_RING_SETUP, &args) ? -1 : (int)args.out_ring;
}

int ring_act(int slice, unsigned int ring, unsigned int verb)
{
	struct morph_ring_act args = {
		.head = HEAD(morph_ring_act),
		.ring = ring,
		.verb = verb,
	};

	return ioctl(slice, MORPH_RING_ACT, &args);
}

void *ring_map(int slice, unsigned int ring)
{
	void *memory = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, slice,
			    (off_t)MORPH_RING_OFFSET(ring));

	return memory == MAP_FAILED ? NULL : memory;
}

void *state_map(int slice)
{
	void *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, slice, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int ring_jump(int slice, unsigned int ring, void *memory, unsigned int step, uint64_t position)
{
	struct morph_device_ring device = { .base = memory, .entries = ENTRIES };
	struct morph_device_answer answer = {};

	if (morph_device_submit(&device, MORPH_DEVICE_JUMP, 0, step, position))
		return EAGAIN;
	if (!WAIT_UNTIL((ring_act(slice, ring, MORPH_RING_WAKE),
			 morph_device_answered(&device, &answer))))
		return ETIME;
	return (int)answer.error;
}
