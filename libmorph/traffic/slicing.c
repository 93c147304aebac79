// SPDX-License-Identifier: LGPL-2.1-or-later
/* Assignment of tenants to controllers, and of a backup controller to each tenant. */
#include <math.h>

#include "../internal/planner.h"
#include "../util/mix.h"

#define DRAWS 16
#define EVEN_ENOUGH 1.2 /* limit of the greatest load, as a multiple of its lower bound */

/* A tenant, in the order of assignment. */
struct heavy {
	double weight;
	uint32_t tenant;
};

struct slicing {
	const double *weights;
	size_t count;
	uint32_t controllers;
	uint64_t random;
	double floor; /* lower bound of the greatest load of a controller */
	struct heavy *order; /* heaviest first */
	double *loads; /* by controller */
	uint32_t *draw, *best; /* by tenant */
	uint32_t *shared; /* by controller: tenants of one primary that have it as their backup */
};

static int by_weight(const void *one, const void *other)
{
	const struct heavy *a = one, *b = other;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->tenant > b->tenant) - (a->tenant < b->tenant);
}

/* One of the two controllers with the least load, at random. */
static uint32_t light_one(struct slicing *slicing)
{
	uint32_t least = 0, second = MORPH_ANY;

	for (uint32_t at = 1; at < slicing->controllers; at++) {
		if (slicing->loads[at] < slicing->loads[least]) {
			second = least;
			least = at;
		} else if (second == MORPH_ANY || slicing->loads[at] < slicing->loads[second]) {
			second = at;
		}
	}
	return second != MORPH_ANY && mix_below(&slicing->random, 2) ? second : least;
}

/* Assign the tenants of @draw that have no controller. Returns the greatest load. */
static double give_away(struct slicing *slicing)
{
	double most = 0;

	memset(slicing->loads, 0, slicing->controllers * sizeof(*slicing->loads));
	for (size_t at = 0; at < slicing->count; at++)
		if (slicing->draw[at] != MORPH_ANY)
			slicing->loads[slicing->draw[at]] += slicing->weights[at];
	for (size_t at = 0; at < slicing->count; at++) {
		const struct heavy *heavy = &slicing->order[at];

		if (slicing->draw[heavy->tenant] != MORPH_ANY)
			continue;
		slicing->draw[heavy->tenant] = light_one(slicing);
		slicing->loads[slicing->draw[heavy->tenant]] += heavy->weight;
	}
	for (uint32_t at = 0; at < slicing->controllers; at++)
		most = fmax(most, slicing->loads[at]);
	return most;
}

static void assign(struct slicing *slicing, const uint32_t *last)
{
	double least = INFINITY;

	if (last) {
		memcpy(slicing->draw, last, slicing->count * sizeof(*last));
		memcpy(slicing->best, last, slicing->count * sizeof(*last));
		least = give_away(slicing);
		memcpy(slicing->best, slicing->draw, slicing->count * sizeof(*slicing->best));
		if (least <= EVEN_ENOUGH * slicing->floor)
			return;
	}
	for (int draw = 0; draw < DRAWS; draw++) {
		double most;

		for (size_t at = 0; at < slicing->count; at++)
			slicing->draw[at] = MORPH_ANY;
		most = give_away(slicing);
		if (most >= least)
			continue;
		least = most;
		memcpy(slicing->best, slicing->draw, slicing->count * sizeof(*slicing->best));
	}
}

/* One of the other controllers that are backup of the fewest tenants of this primary, at random. */
static uint32_t choose_backup(struct slicing *slicing, uint32_t primary)
{
	uint32_t least = UINT32_MAX, equal = 0, chosen = MORPH_ANY;

	for (uint32_t at = 0; at < slicing->controllers; at++) {
		if (at == primary || slicing->shared[at] > least)
			continue;
		equal = slicing->shared[at] < least ? 1 : equal + 1;
		least = slicing->shared[at];
		if (!mix_below(&slicing->random, equal))
			chosen = at;
	}
	return chosen;
}

static void choose_backups(struct slicing *slicing, uint32_t *backup)
{
	for (uint32_t primary = 0; primary < slicing->controllers; primary++) {
		memset(slicing->shared, 0, slicing->controllers * sizeof(*slicing->shared));
		for (size_t at = 0; at < slicing->count; at++) {
			uint32_t tenant = slicing->order[at].tenant;

			if (slicing->best[tenant] != primary)
				continue;
			backup[tenant] = choose_backup(slicing, primary);
			if (backup[tenant] != MORPH_ANY)
				slicing->shared[backup[tenant]]++;
		}
	}
}

static int check(struct morph_ctx *ctx, const double *weights, size_t count, uint32_t controllers,
		 const uint32_t *last)
{
	if (!controllers)
		return lm_fail(ctx, EINVAL, "no controllers for the tenants");
	if (count >= MORPH_ANY)
		return lm_fail(ctx, EINVAL, "too many tenants: %zu", count);
	for (size_t at = 0; at < count; at++) {
		if (!isfinite(weights[at]) || weights[at] < 0)
			return lm_fail(
				ctx, EINVAL,
				"the weight of tenant %zu is %g; must be a number, 0 or more", at,
				weights[at]);
		if (last && last[at] != MORPH_ANY && last[at] >= controllers)
			return lm_fail(ctx, EINVAL, "tenant %zu: no controller %u (0-%u)", at,
				       last[at], controllers - 1);
	}
	return 0;
}

MORPH_API int morph_slicing_assign(struct morph_ctx *ctx, const double *weights, size_t count,
				   uint32_t controllers, uint64_t seed, const uint32_t *last,
				   uint32_t *primary, uint32_t *backup)
{
	struct slicing slicing = {
		.weights = weights,
		.count = count,
		.controllers = controllers,
		.random = seed,
	};
	double total = 0;
	int error = check(ctx, weights, count, controllers, last);
	char *memory;

	if (error)
		return error;
	memory = malloc(count * (sizeof(struct heavy) + 2 * sizeof(uint32_t)) +
			controllers * (sizeof(double) + sizeof(uint32_t)));
	if (!memory)
		return lm_no_memory(ctx, "assign tenants to controllers");
	slicing.order = (void *)memory;
	slicing.loads = (double *)(slicing.order + count);
	slicing.draw = (void *)(slicing.loads + controllers);
	slicing.best = slicing.draw + count;
	slicing.shared = slicing.best + count;
	for (size_t at = 0; at < count; at++) {
		slicing.order[at] = (struct heavy){ weights[at], (uint32_t)at };
		total += weights[at];
		slicing.floor = fmax(slicing.floor, weights[at]);
	}
	slicing.floor = fmax(slicing.floor, total / controllers);
	qsort(slicing.order, count, sizeof(*slicing.order), by_weight);
	assign(&slicing, last);
	memcpy(primary, slicing.best, count * sizeof(*primary));
	if (backup)
		choose_backups(&slicing, backup);
	free(memory);
	return 0;
}
