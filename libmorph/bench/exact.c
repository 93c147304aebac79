// SPDX-License-Identifier: LGPL-2.1-or-later
/* CBC as an oracle. */
#include <math.h>
#include <stdlib.h>

#include <Cbc_C_Interface.h>

#include "exact.h"

#define MOST_BANDWIDTH 256

/* A number of groups with a common level. */
struct exact_level {
	uint32_t bandwidth, groups;
};

/* An integer program. The columns of its groups come first. */
struct exact {
	const struct groups *groups;
	Cbc_Model *model;
	int columns;
	uint32_t levels_count;
	struct exact_level levels[GROUPS_COUNT];
};

static int add_column(struct exact *exact, double lower, double upper, double worth)
{
	Cbc_addCol(exact->model, "", lower, upper, worth, 1, 0, NULL, NULL);
	return exact->columns++;
}

/* The resources of an instance in order: transmit ports, receive ports, guides. */
static uint32_t resources(const struct groups *groups)
{
	return 2 * groups->accelerators_count + groups->guides_count;
}

static double fibres_of(const struct groups *groups, uint32_t resource)
{
	if (resource < groups->accelerators_count)
		return groups->transmit[resource];
	resource -= groups->accelerators_count;
	if (resource < groups->accelerators_count)
		return groups->receive[resource];
	return groups->fibres[resource - groups->accelerators_count];
}

static bool uses(const struct groups *groups, const struct groups_hop *hop, uint32_t resource)
{
	if (resource == hop->source || resource == groups->accelerators_count + hop->target)
		return true;
	for (uint32_t at = 0; at < hop->guides_count; at++)
		if (resource == 2 * groups->accelerators_count + hop->guides[at])
			return true;
	return false;
}

/* The circuits of each hop, summed over wavelengths, equal its group's bandwidth. */
static void add_circuits(struct exact *exact)
{
	const struct groups *groups = exact->groups;
	int first = exact->columns, where[1 + 256] = { 0 };
	double times[1 + 256] = { 0 };

	for (uint32_t at = 0; at < groups->hops_count * groups->wavelengths; at++)
		add_column(exact, 0, MOST_BANDWIDTH, 0);
	for (uint32_t at = 0; at < groups->hops_count; at++) {
		int count = 0;

		for (; count < (int)groups->wavelengths; count++) {
			where[count] = first + (int)(at * groups->wavelengths) + count;
			times[count] = 1;
		}
		where[count] = (int)groups->hops[at].group;
		times[count] = -(double)groups->hops[at].circuits;
		Cbc_addRow(exact->model, "", count + 1, where, times, 'E', 0);
	}
	for (uint32_t resource = 0; resource < resources(groups); resource++) {
		for (uint32_t wavelength = 0; wavelength < groups->wavelengths; wavelength++) {
			static int its[GROUPS_HOPS];
			static double ones[GROUPS_HOPS];
			int count = 0;

			for (uint32_t at = 0; at < groups->hops_count; at++) {
				if (!uses(groups, &groups->hops[at], resource))
					continue;
				its[count] = first + (int)(at * groups->wavelengths + wavelength);
				ones[count++] = 1;
			}
			if (count)
				Cbc_addRow(exact->model, "", count, its, ones, 'L',
					   fibres_of(groups, resource));
		}
	}
}

/* At least a number of groups reach a level. Optionally maximise how many do. */
static void add_level(struct exact *exact, const struct exact_level *level, double worth)
{
	int chosen[GROUPS_COUNT] = { 0 };
	double ones[GROUPS_COUNT] = { 0 };

	for (uint32_t at = 0; at < exact->groups->groups_count; at++) {
		chosen[at] = add_column(exact, 0, 1, worth);
		ones[at] = 1;
		Cbc_addRow(exact->model, "", 2, (const int[]){ (int)at, chosen[at] },
			   (const double[]){ 1, -(double)level->bandwidth }, 'G', 0);
	}
	Cbc_addRow(exact->model, "", (int)exact->groups->groups_count, chosen, ones, 'G',
		   level->groups);
}

static void begin(struct exact *exact)
{
	const struct groups *groups = exact->groups;

	exact->model = Cbc_newModel();
	exact->columns = 0;
	Cbc_setParameter(exact->model, "logLevel", "0");
	Cbc_setObjSense(exact->model, -1);
	for (uint32_t at = 0; at < groups->groups_count; at++)
		add_column(exact, groups->least[at],
			   groups->most[at] ? groups->most[at] : MOST_BANDWIDTH, 0);
	add_circuits(exact);
	for (uint32_t at = 0; at < exact->levels_count; at++)
		add_level(exact, &exact->levels[at], 0);
}

/* The optimum, negative if there is none. */
static int solve(struct exact *exact)
{
	int best = -1;

	Cbc_solve(exact->model);
	if (Cbc_isProvenOptimal(exact->model))
		best = (int)lround(Cbc_getObjValue(exact->model));
	Cbc_deleteModel(exact->model);
	return best;
}

/* The highest common level of @count groups. */
static int highest(struct exact *exact, uint32_t count)
{
	int chosen[GROUPS_COUNT] = { 0 }, level;
	double ones[GROUPS_COUNT] = { 0 };

	begin(exact);
	level = add_column(exact, 0, MOST_BANDWIDTH, 1);
	for (uint32_t at = 0; at < exact->groups->groups_count; at++) {
		chosen[at] = add_column(exact, 0, 1, 0);
		ones[at] = 1;
		/* x - level - MOST * chosen >= -MOST */
		Cbc_addRow(exact->model, "", 3, (const int[]){ (int)at, level, chosen[at] },
			   (const double[]){ 1, -1, -MOST_BANDWIDTH }, 'G', -MOST_BANDWIDTH);
	}
	Cbc_addRow(exact->model, "", (int)exact->groups->groups_count, chosen, ones, 'G', count);
	return solve(exact);
}

bool exact_bandwidths(const struct groups *groups, uint32_t *sorted)
{
	struct exact exact = { .groups = groups };
	uint32_t count = groups->groups_count, done = 0;

	while (count) {
		struct exact_level next = { 0 };
		int level = highest(&exact, count), more;

		if (level < 0)
			return false;
		exact.levels[exact.levels_count++] = (struct exact_level){ (uint32_t)level, count };
		begin(&exact);
		next.bandwidth = (uint32_t)level + 1;
		add_level(&exact, &next, 1);
		more = solve(&exact);
		if (more < 0 || more >= (int)count)
			return false;
		while (count > (uint32_t)more) {
			sorted[done++] = (uint32_t)level;
			count--;
		}
	}
	return true;
}
