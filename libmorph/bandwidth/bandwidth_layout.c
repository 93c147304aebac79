// SPDX-License-Identifier: LGPL-2.1-or-later
/* A bandwidth problem laid out for solving: what groups use, types of hops, who uses what. */
#include "bandwidth.h"
#include "../util/sort.h"

#define MOST_PAIRS (1U << 24) /* of type and wavelength, and of resource and wavelength */
#define MOST_PLANS 1024U /* 720 for six groups, see bandwidth_fill.c */
#define MOST_LEVELS (1U << 20) /* of groups, in all plans */

#define MAKE(list, count) ((list) = calloc((count) + 1, sizeof(*(list))))

/* What a group's hops use, each resource once. */
static void sum_uses(struct morph_bw *bw, struct bw_group *group, uint32_t *where)
{
	for (uint32_t at = group->hops; at != UINT32_MAX; at = bw->hops.list[at].next) {
		const struct bw_hop *hop = &bw->hops.list[at];

		for (uint32_t way = 0; way < hop->count; way++) {
			uint32_t resource = bw->ways.list[hop->first + way];
			struct bw_use *use = &bw->uses[where[resource]];

			/* What another group has written there is no longer ours. */
			if (where[resource] < group->first ||
			    where[resource] >= group->first + group->count ||
			    use->resource != resource) {
				where[resource] = group->first + group->count++;
				use = &bw->uses[where[resource]];
				*use = (struct bw_use){ .resource = resource };
			}
			use->circuits += hop->circuits;
		}
	}
}

static int by_way(const void *one, const void *other, void *context)
{
	const struct morph_bw *bw = context;
	const struct bw_hop *a = &bw->hops.list[*(const uint32_t *)one];
	const struct bw_hop *b = &bw->hops.list[*(const uint32_t *)other];
	int order;

	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	order = memcmp(bw->ways.list + a->first, bw->ways.list + b->first,
		       a->count * sizeof(*bw->ways.list));
	return order ? order : (a > b) - (a < b);
}

static bool alike(const struct morph_bw *bw, const struct bw_hop *a, const struct bw_hop *b)
{
	return a->count == b->count && !memcmp(bw->ways.list + a->first, bw->ways.list + b->first,
					       a->count * sizeof(*bw->ways.list));
}

/* Hops that use the same resources get one type. */
static void sort_types(struct morph_bw *bw, uint32_t *order)
{
	for (uint32_t at = 0; at < bw->hops.count; at++)
		order[at] = at;
	lm_sort(order, bw->hops.count, sizeof(*order), by_way, bw);
	bw->types_count = 0;
	for (uint32_t at = 0; at < bw->hops.count; at++) {
		struct bw_hop *hop = &bw->hops.list[order[at]];

		if (!at || !alike(bw, hop, &bw->hops.list[order[at - 1]]))
			bw->types[bw->types_count++] =
				(struct bw_type){ .first = hop->first, .count = hop->count };
		hop->type = bw->types_count - 1;
	}
}

static void list_users(struct morph_bw *bw)
{
	uint32_t first = 0;

	for (uint32_t at = 0; at < bw->resources.count; at++)
		bw->resources.list[at].count = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t type = 0; type < bw->types_count; type++) {
			for (uint32_t way = 0; way < bw->types[type].count; way++) {
				uint32_t at = bw->ways.list[bw->types[type].first + way];
				struct bw_resource *resource = &bw->resources.list[at];

				if (pass)
					bw->users[resource->first + resource->count] = type;
				resource->count++;
			}
		}
		for (uint32_t at = 0; !pass && at < bw->resources.count; at++) {
			struct bw_resource *resource = &bw->resources.list[at];

			resource->first = first;
			first += resource->count;
			resource->count = 0;
		}
	}
}

static bool make_colours(const struct morph_bw *bw, struct bw_colours *colours)
{
	return MAKE(colours->taken, (size_t)bw->types_count * bw->wavelengths) &&
	       MAKE(colours->load, (size_t)bw->resources.count * bw->wavelengths) &&
	       MAKE(colours->placed, bw->types_count);
}

/* What depends on how many types there are. */
static bool make_memory(struct morph_bw *bw)
{
	size_t groups = bw->groups.count ? bw->groups.count : 1;

	bw->room = MOST_LEVELS / groups < MOST_PLANS ? MOST_LEVELS / (uint32_t)groups : MOST_PLANS;
	if (!make_colours(bw, &bw->now) || !make_colours(bw, &bw->good) ||
	    !make_colours(bw, &bw->kept) || !MAKE(bw->active, groups) ||
	    !MAKE(bw->plans[0], bw->room * groups) || !MAKE(bw->plans[1], bw->room * groups))
		return false;
	if (bw->wavelengths == 1)
		return true;
	bw->chain = lm_bw_chain_new(bw);
	bw->exhaust = lm_bw_exhaust_new(bw);
	bw->weigh = lm_bw_weigh_new(bw);
	return bw->chain && bw->exhaust && bw->weigh;
}

static int check_size(struct morph_bw *bw)
{
	size_t most = bw->hops.count > bw->resources.count ? bw->hops.count : bw->resources.count;

	for (uint32_t at = 0; at < bw->groups.count; at++)
		if (bw->groups.list[at].hops == UINT32_MAX)
			return lm_fail(bw->ctx, EINVAL, "group %u has no hops", at);
	if (most * bw->wavelengths <= MOST_PAIRS)
		return 0;
	return lm_fail(bw->ctx, E2BIG,
		       "%u hops, %u ports and guides, %u wavelengths: that is too many to solve",
		       bw->hops.count, bw->resources.count, bw->wavelengths);
}

int lm_bw_prepare(struct morph_bw *bw)
{
	uint32_t *scratch = NULL;
	uint32_t uses = 0;
	int error = check_size(bw);

	if (error)
		return error;
	lm_bw_unprepare(bw);
	if (!MAKE(bw->uses, bw->ways.count) || !MAKE(bw->users, bw->ways.count) ||
	    !MAKE(bw->types, bw->hops.count) ||
	    !MAKE(scratch, (size_t)bw->resources.count + bw->hops.count))
		goto no_memory;
	for (uint32_t at = 0; at < bw->groups.count; at++) {
		bw->groups.list[at].first = uses;
		bw->groups.list[at].count = 0;
		sum_uses(bw, &bw->groups.list[at], scratch);
		uses += bw->groups.list[at].count;
	}
	sort_types(bw, scratch);
	list_users(bw);
	if (!make_memory(bw))
		goto no_memory;
	free(scratch);
	bw->prepared = true;
	return 0;

no_memory:
	free(scratch);
	lm_bw_unprepare(bw);
	return lm_fail(bw->ctx, ENOMEM, "solve a bandwidth problem: out of memory");
}

static void drop_colours(struct bw_colours *colours)
{
	free(colours->taken);
	free(colours->load);
	free(colours->placed);
	*colours = (struct bw_colours){ 0 };
}

void lm_bw_unprepare(struct morph_bw *bw)
{
	free(bw->uses);
	free(bw->users);
	free(bw->types);
	drop_colours(&bw->now);
	drop_colours(&bw->good);
	drop_colours(&bw->kept);
	free(bw->active);
	free(bw->plans[0]);
	free(bw->plans[1]);
	free(bw->chain);
	lm_bw_exhaust_free(bw->exhaust);
	lm_bw_weigh_free(bw->weigh);
	bw->uses = NULL;
	bw->users = NULL;
	bw->types = NULL;
	bw->active = NULL;
	bw->plans[0] = bw->plans[1] = NULL;
	bw->chain = NULL;
	bw->exhaust = NULL;
	bw->weigh = NULL;
	bw->prepared = false;
}
