// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sweeps of SWOT's evaluation. MB and GB/s are decimal. */
#include <stdio.h>
#include <stdlib.h>

#include "overlap_grid.h"

#define ROUND_NS 20000
#define KB 1000

/* Every combination of ranks, sizes and changes, each from the first to the last by a factor. */
struct sweep {
	const char *algorithms; /* one digit each: enum grid_algorithm */
	uint32_t ranks, ranks_last, ranks_times, ranks_plus;
	uint32_t planes;
	uint64_t mbps;
	uint64_t kb, kb_last, kb_times;
	uint64_t change_ns, change_last;
};

static const struct sweep sweeps[] = {
	/* 1.1: sizes */
	{ "0123", 16, 16, 2, 0, 4, 200000, 125, 512000, 2, 200000, 200000 },
	{ "0123", 256, 256, 2, 0, 8, 100000, 125, 512000, 2, 200000, 200000 },
	{ "4", 5, 5, 2, 0, 4, 200000, 125, 512000, 2, 200000, 200000 },
	{ "4", 9, 9, 2, 0, 8, 100000, 125, 512000, 2, 200000, 200000 },
	/* 1.2: ranks */
	{ "0123", 4, 1024, 2, 0, 4, 200000, 32000, 32000, 4, 200000, 200000 },
	{ "4", 4, 14, 1, 1, 4, 200000, 32000, 32000, 4, 200000, 200000 },
	/* 2.1: planes with a common total bandwidth */
	{ "1234", 256, 256, 2, 0, 2, 400000, 125, 512000, 4, 200000, 200000 },
	{ "1234", 256, 256, 2, 0, 4, 200000, 125, 512000, 4, 200000, 200000 },
	{ "1234", 256, 256, 2, 0, 8, 100000, 125, 512000, 4, 200000, 200000 },
	/* 2.2: changes */
	{ "1234", 256, 256, 2, 0, 4, 200000, 125, 512000, 4, 200000, 20000000 },
};

static bool same(const struct grid_instance *one, const struct grid_instance *other)
{
	return one->algorithm == other->algorithm && one->ranks == other->ranks &&
	       one->planes == other->planes && one->bytes == other->bytes &&
	       one->mbps == other->mbps && one->change_ns == other->change_ns;
}

/* Add an instance unless it exists. Returns the new number. */
static uint32_t add(struct grid_instance *instances, uint32_t count,
		    const struct grid_instance *instance)
{
	for (uint32_t at = 0; at < count; at++)
		if (same(&instances[at], instance))
			return count;
	if (count == GRID_INSTANCES)
		abort();
	instances[count] = *instance;
	return count + 1;
}

static uint32_t add_sizes(struct grid_instance *instances, uint32_t count,
			  const struct sweep *sweep, struct grid_instance instance)
{
	for (uint64_t kb = sweep->kb; kb <= sweep->kb_last; kb *= sweep->kb_times) {
		instance.bytes = kb * KB;
		for (const char *its = sweep->algorithms; *its; its++) {
			instance.algorithm = (enum grid_algorithm)(*its - '0');
			count = add(instances, count, &instance);
		}
	}
	return count;
}

uint32_t grid_instances(struct grid_instance instances[GRID_INSTANCES])
{
	uint32_t count = 0;

	for (size_t at = 0; at < ARRAY_SIZE(sweeps); at++) {
		const struct sweep *sweep = &sweeps[at];
		struct grid_instance instance = { .planes = sweep->planes, .mbps = sweep->mbps };

		for (instance.change_ns = sweep->change_ns;
		     instance.change_ns <= sweep->change_last; instance.change_ns *= 10)
			for (instance.ranks = sweep->ranks; instance.ranks <= sweep->ranks_last;
			     instance.ranks =
				     instance.ranks * sweep->ranks_times + sweep->ranks_plus)
				count = add_sizes(instances, count, sweep, instance);
	}
	return count;
}

void grid_name(const struct grid_instance *instance, char name[GRID_NAME])
{
	static const char *const names[] = { "rs-hd", "ar-hd", "bruck-whole", "bruck", "pairwise" };

	snprintf(name, GRID_NAME, "%s p%u k%u b%g m%g r%g", names[instance->algorithm],
		 instance->ranks, instance->planes, (double)instance->mbps / 8e3,
		 (double)instance->bytes / 1e6, (double)instance->change_ns / 1e6);
}

/* Halves, one configuration each; bytes are rounded up. */
static uint32_t add_halves(struct overlap_round *rounds, uint64_t bytes, uint32_t steps, bool back)
{
	for (uint32_t step = 1; step <= steps; step++)
		rounds[back ? steps - step : step - 1] =
			(struct overlap_round){ .bytes = (bytes + (1ULL << step) - 1) >> step,
						.configuration = step };
	return steps;
}

static uint32_t add_alike(struct overlap_round *rounds, uint64_t bytes, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++)
		rounds[at] = (struct overlap_round){ .bytes = bytes, .configuration = at };
	return count;
}

void grid_problem(const struct grid_instance *instance, struct overlap_round *rounds,
		  struct overlap_problem *problem)
{
	uint32_t steps = 31 - (uint32_t)__builtin_clz(instance->ranks);

	*problem = (struct overlap_problem){
		.rounds = rounds,
		.planes = instance->planes,
		.costs = { .round_ps = (uint64_t)ROUND_NS * PS_PER_NS,
			   .change_ps = instance->change_ns * PS_PER_NS,
			   .mbps = instance->mbps },
	};
	switch (instance->algorithm) {
	case GRID_RS_HD:
		problem->count = add_halves(rounds, instance->bytes, steps, false);
		return;
	case GRID_AR_HD:
		problem->count = add_halves(rounds, instance->bytes, steps, false);
		problem->count += add_halves(rounds + steps, instance->bytes, steps, true);
		return;
	case GRID_BRUCK_WHOLE:
		problem->count = add_alike(rounds, instance->bytes, steps);
		return;
	case GRID_BRUCK:
		problem->count = add_alike(rounds, instance->bytes / 2, steps);
		return;
	default:
		steps = instance->ranks - 1;
		problem->count = add_alike(rounds, (instance->bytes + steps - 1) / steps, steps);
	}
}
