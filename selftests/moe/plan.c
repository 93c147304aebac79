// SPDX-License-Identifier: GPL-2.0-only
/* Tokens, experts, and the circuits of each step. */
#include <string.h>
#include <sys/ioctl.h>

#include "../../libmorph/util/mix.h"
#include "moe.h"

uint32_t expert_of(const struct world *world, uint32_t iteration, uint32_t source, uint32_t number,
		   uint32_t choice)
{
	uint64_t seed = mix_first(mix_first(iteration) + source * 4096 + number * 16 + choice);
	uint32_t expert;

	do {
		expert = seed % EXPERTS;
		seed = mix_first(seed);
	} while (world->absent[expert % RANKS]);
	return expert;
}

uint64_t value_of(uint32_t iteration, uint32_t source, uint32_t number)
{
	return mix_first(mix_first(iteration + 77) + source * 4096 + number);
}

uint64_t expert_does(uint32_t expert, uint64_t value)
{
	return mix_first(value ^ expert);
}

/* Return the shift of a step: tokens return by the same shifts in reverse order and direction. */
static uint32_t shift_of(uint64_t position)
{
	uint32_t step = (position - 1) % STEPS;

	return step < SHIFTS ? step + 1 : RANKS - (STEPS - step);
}

static uint32_t present(const struct world *world, uint32_t rank, uint32_t other)
{
	return world->absent[rank] || world->absent[other] ? RANKS : other;
}

uint32_t sends_to(const struct world *world, uint32_t rank, uint64_t position)
{
	return present(world, rank, (rank + shift_of(position)) % RANKS);
}

uint32_t hears_from(const struct world *world, uint32_t rank, uint64_t position)
{
	return present(world, rank, (rank + RANKS - shift_of(position)) % RANKS);
}

uint32_t lane_of(uint64_t position)
{
	return (position - 1) % STEPS % LANES;
}

/* Servers of two rows have few guides in a plane, so neighbours use different planes. */
uint32_t plane_of(const struct world *world, uint32_t src)
{
	return src % world->sim.info.planes;
}

int plan_load(struct world *world)
{
	static struct morph_schedule_circuit circuits[RANKS * STEPS];
	static struct morph_schedule_step steps[STEPS];
	static uint32_t held[RANKS * STEPS];
	struct morph_schedule_load args;
	uint32_t at = 0, step, src, dst;

	for (step = 0; step < STEPS; step++) {
		steps[step] = (struct morph_schedule_step){ .first = at,
							    .advance = MORPH_ADVANCE_BARRIER };
		for (src = 0; src < RANKS; src++) {
			dst = sends_to(world, src, step + 1);
			if (dst == RANKS)
				continue;
			held[at] = at;
			circuits[at++] = (struct morph_schedule_circuit){
				.src_rank = src,
				.dst_rank = dst,
				.src_plane = plane_of(world, src),
				.dst_plane = plane_of(world, src),
				.lanes = 1ull << lane_of(step + 1),
			};
			steps[step].count++;
		}
	}
	args = (struct morph_schedule_load){
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(circuits, at),
		.steps = ARRAY(steps, STEPS),
		.held = ARRAY(held, at),
		.generation = GENERATION_ANY,
	};
	args.head.flags = MORPH_SCHEDULE_LOOP;
	if (ioctl(world->slice, MORPH_SCHEDULE_LOAD, &args))
		return -1;
	world->schedule = args.out_schedule;
	return 0;
}
