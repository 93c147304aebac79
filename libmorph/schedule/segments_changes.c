// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts the circuits that a change between topologies sets on several planes, as segments_lay.c
 * lays it out. Each colour goes to the plane that has most of it. Planes change in parallel unless
 * the fabric stops.
 */
#include "segments_lay.h"

#define MOST_COPIES (1U << 22) /* circuits to colour: a hundredth of a second */
#define MOST_STEPS (1ULL << 26) /* circuits to compare */

/* One more plane with a matching, in the last of the layouts. */
static int add_plane(struct segments_planning *planning, uint32_t matching)
{
	struct layouts *layouts = &planning->layouts;
	uint32_t first = layouts->firsts[layouts->count];
	int ret;

	for (uint32_t at = first; at < layouts->groups.count; at++) {
		if (layouts->groups.list[at].matching != matching)
			continue;
		layouts->groups.list[at].planes++;
		return 0;
	}
	ret = ARRAY_GROW(planning->pool.ctx, layouts->groups, 1, "plan a schedule");
	if (!ret)
		layouts->groups.list[layouts->groups.count++] =
			(struct group){ .matching = matching, .planes = 1 };
	return ret;
}

/* The initial circuits stay on their planes. */
static int add_lit(struct segments_planning *planning)
{
	const struct lay *lay = &planning->lay;
	int ret = 0;

	for (uint32_t plane = 0; !ret && plane < lay->schedule->planes; plane++)
		if (lay->now[plane] != NO_HOLD)
			ret = add_plane(planning,
					lay->schedule->holds.list[lay->now[plane]].matching);
	return ret;
}

static int add_colours(struct segments_planning *planning, const struct topology *topology)
{
	uint32_t matchings[MOST_PLANES];
	int colours = lm_segments_colour(planning, topology, matchings), ret = 0;

	for (int number = 0; !ret && number < colours; number++)
		ret = add_plane(planning, matchings[number]);
	return colours < 0 ? colours : ret;
}

/* Can all pairs be compared quickly? */
static bool is_soon(const struct segments_planning *planning)
{
	uint64_t groups = planning->layouts.groups.count;

	return groups * groups <= MOST_STEPS / planning->pool.ranks;
}

int lm_segments_layouts(struct segments_planning *planning, uint32_t resident)
{
	const struct pool *pool = &planning->pool;
	struct layouts *layouts = &planning->layouts;
	uint64_t copies = (uint64_t)pool->joints.count * planning->lay.schedule->planes;
	int ret = 0;

	layouts->firsts = calloc(pool->topologies.count + 1, sizeof(*layouts->firsts));
	if (!layouts->firsts)
		return lm_no_memory(pool->ctx, "plan a schedule");
	layouts->is_told = copies <= MOST_COPIES;
	while (!ret && layouts->is_told && layouts->count < pool->topologies.count) {
		ret = layouts->count == resident ?
			      add_lit(planning) :
			      add_colours(planning, &pool->topologies.list[layouts->count]);
		layouts->firsts[++layouts->count] = layouts->groups.count;
		layouts->is_told = is_soon(planning);
	}
	return ret;
}

/* Number of circuits that a plane lacks; both lists are in the order of sending ranks. */
static uint32_t missing(const struct morph_schedule *schedule, uint32_t held, uint32_t wanted)
{
	const struct matching *has = &schedule->matchings.list[held];
	const struct matching *wants = &schedule->matchings.list[wanted];
	const struct morph_rank_pair *old = &schedule->circuits.list[has->first];
	const struct morph_rank_pair *new = &schedule->circuits.list[wants->first];
	uint32_t count = 0, past = 0;

	if (held == wanted)
		return 0;
	for (uint32_t at = 0; at < wants->count; at++) {
		while (past < has->count && old[past].src < new[at].src)
			past++;
		count += past == has->count || old[past].src != new[at].src ||
			 old[past].dst != new[at].dst;
	}
	return count;
}

/* Planes that hold a topology, of which some are assigned; the last group is the dark planes. */
struct taking {
	const struct morph_schedule *schedule;
	const struct group *held;
	uint32_t count, left[MOST_PLANES + 1];
};

static uint32_t lacks(const struct taking *taking, uint32_t at, uint32_t wanted)
{
	return at < taking->count ? missing(taking->schedule, taking->held[at].matching, wanted) :
				    taking->schedule->matchings.list[wanted].count;
}

/* The planes that lack the least of a matching. */
static uint32_t nearest(const struct taking *taking, uint32_t wanted, uint32_t *least)
{
	uint32_t best = taking->count;

	*least = UINT32_MAX;
	for (uint32_t at = 0; at <= taking->count && *least; at++) {
		uint32_t lack = taking->left[at] ? lacks(taking, at, wanted) : UINT32_MAX;

		if (lack >= *least)
			continue;
		*least = lack;
		best = at;
	}
	return best;
}

static struct taking begin(const struct segments_planning *planning, uint32_t from)
{
	const struct layouts *layouts = &planning->layouts;
	struct taking taking = { .schedule = planning->lay.schedule };
	uint32_t dark = planning->lay.schedule->planes;

	if (from != RESIDENT_NONE) {
		taking.held = &layouts->groups.list[layouts->firsts[from]];
		taking.count = layouts->firsts[from + 1] - layouts->firsts[from];
	}
	for (uint32_t at = 0; at < taking.count; at++) {
		taking.left[at] = taking.held[at].planes;
		dark -= taking.held[at].planes;
	}
	taking.left[taking.count] = dark;
	return taking;
}

/* If the comparison would take long, assume that all planes set equally many. */
static uint64_t even(const struct segments_planning *planning, uint32_t from, uint32_t to)
{
	uint32_t all = lm_pool_changed_ports(&planning->pool, from, to);
	uint32_t planes = planning->lay.schedule->planes;

	if (planning->lay.schedule->costs.scope == MORPH_DELAY_FABRIC_SCOPE)
		return all;
	return all / planes + !!(all % planes);
}

uint64_t lm_segments_changed(const void *context, uint32_t from, uint32_t to)
{
	const struct segments_planning *planning = context;
	const struct layouts *layouts = &planning->layouts;
	struct taking taking;
	uint64_t all = 0, most = 0;

	if (!layouts->is_told)
		return even(planning, from, to);
	taking = begin(planning, from);
	for (uint32_t at = layouts->firsts[to]; at < layouts->firsts[to + 1]; at++) {
		const struct group *group = &layouts->groups.list[at];

		for (uint32_t planes = group->planes, taken; planes; planes -= taken) {
			uint32_t least, best = nearest(&taking, group->matching, &least);

			taken = planes < taking.left[best] ? planes : taking.left[best];
			taking.left[best] -= taken;
			all += (uint64_t)taken * least;
			most = least > most ? least : most;
		}
	}
	return planning->lay.schedule->costs.scope == MORPH_DELAY_FABRIC_SCOPE ? all : most;
}

void lm_segments_layouts_release(struct layouts *layouts)
{
	free(layouts->groups.list);
	free(layouts->firsts);
}
