// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Wavelengths that do not suffice, by weights of circuits. One wavelength takes circuits of so much
 * weight at most, found by branch and bound; if all that are wanted weigh more than all
 * wavelengths take, there is no way to give them out. Weights are learnt from the heaviest
 * circuits that one wavelength takes: those of which it has less than its share become
 * heavier, the others lighter. That is the perceptron (Rosenblatt, Psychological Review 65,
 * 1958), which finds weights that separate what is wanted from what wavelengths take, if there
 * are any (Novikoff, 1962), and knows nothing of wavelengths that are interchangeable. What was
 * learnt is kept for the next question, which is mostly like the last.
 */
#include "bandwidth.h"

#define MOST_NODES 2048 /* of one branch and bound */
#define MOST_VAGUE 16 /* of which so many in a row may end without the most */

struct bw_weigh {
	const struct bw_component *component;
	int64_t *weights; /* by type */
	uint32_t *order; /* types of the component, the heaviest first */
	uint32_t *owner; /* by type: the resource that counts for bounds */
	uint32_t *packed, *best; /* by type */
	uint32_t *free, *used; /* by resource */
	uint32_t count; /* of these that have weight */
	uint32_t nodes;
	int64_t most; /* weight of the best */
};

#define MAKE(list, count) ((list) = calloc((count) + 1, sizeof(*(list))))

struct bw_weigh *lm_bw_weigh_new(const struct morph_bw *bw)
{
	size_t types = bw->types_count, resources = bw->resources.count;
	struct bw_weigh *weigh = calloc(1, sizeof(*weigh));

	if (!weigh)
		return NULL;
	if (MAKE(weigh->weights, types) && MAKE(weigh->order, types) && MAKE(weigh->owner, types) &&
	    MAKE(weigh->packed, types) && MAKE(weigh->best, types) &&
	    MAKE(weigh->free, resources) && MAKE(weigh->used, resources))
		return weigh;
	lm_bw_weigh_free(weigh);
	return NULL;
}

void lm_bw_weigh_free(struct bw_weigh *weigh)
{
	if (!weigh)
		return;
	free(weigh->weights);
	free(weigh->order);
	free(weigh->owner);
	free(weigh->packed);
	free(weigh->best);
	free(weigh->free);
	free(weigh->used);
	free(weigh);
}

void lm_bw_weigh_forget(struct morph_bw *bw)
{
	for (uint32_t type = 0; bw->weigh && type < bw->types_count; type++)
		bw->weigh->weights[type] = 1;
}

/* How many more of a type one wavelength takes. */
static uint32_t room_of(const struct morph_bw *bw, uint32_t number)
{
	const struct bw_type *type = &bw->types[number];
	uint32_t room = type->wanted;

	for (uint32_t at = type->first; at < type->first + type->count; at++)
		if (bw->weigh->free[bw->ways.list[at]] < room)
			room = bw->weigh->free[bw->ways.list[at]];
	return room;
}

static void take(const struct morph_bw *bw, uint32_t number, uint32_t circuits)
{
	const struct bw_type *type = &bw->types[number];

	for (uint32_t at = type->first; at < type->first + type->count; at++)
		bw->weigh->free[bw->ways.list[at]] -= circuits;
	bw->weigh->packed[number] += circuits;
}

/* No more weight than this is taken of types from the @at-th on: each counts at one resource. */
static int64_t bound(const struct morph_bw *bw, uint32_t at)
{
	struct bw_weigh *weigh = bw->weigh;
	int64_t weight = 0;

	for (uint32_t next = at; next < weigh->count; next++)
		weigh->used[weigh->owner[weigh->order[next]]] = 0;
	for (uint32_t next = at; next < weigh->count; next++) {
		uint32_t type = weigh->order[next], owner = weigh->owner[type];
		uint32_t room = room_of(bw, type), left = weigh->free[owner] - weigh->used[owner];

		if (left < room)
			room = left;
		weigh->used[owner] += room;
		weight += room * weigh->weights[type];
	}
	return weight;
}

static void note_best(struct bw_weigh *weigh, int64_t weight)
{
	weigh->most = weight;
	for (uint32_t at = 0; at < weigh->count; at++)
		weigh->best[weigh->order[at]] = weigh->packed[weigh->order[at]];
}

static void pack_from(const struct morph_bw *bw, uint32_t at, int64_t weight)
{
	struct bw_weigh *weigh = bw->weigh;
	uint32_t type;

	weigh->nodes++;
	if (weight > weigh->most)
		note_best(weigh, weight);
	if (at == weigh->count || weigh->nodes >= MOST_NODES ||
	    weight + bound(bw, at) <= weigh->most)
		return;
	type = weigh->order[at];
	for (uint32_t circuits = room_of(bw, type) + 1; circuits--;) {
		take(bw, type, circuits);
		pack_from(bw, at + 1, weight + circuits * weigh->weights[type]);
		take(bw, type, -circuits);
	}
}

/* The heaviest first, by insertion: from one round to the next few change places. */
static void sort(struct bw_weigh *weigh)
{
	uint32_t all = weigh->component->types_count;

	for (uint32_t next = 1; next < all; next++) {
		uint32_t type = weigh->order[next], at = next;

		for (; at && weigh->weights[weigh->order[at - 1]] < weigh->weights[type]; at--)
			weigh->order[at] = weigh->order[at - 1];
		weigh->order[at] = type;
	}
	weigh->count = all;
	while (weigh->count && !weigh->weights[weigh->order[weigh->count - 1]])
		weigh->count--;
}

/* The heaviest circuits that one wavelength takes; whether they are. */
static bool pack(const struct morph_bw *bw)
{
	struct bw_weigh *weigh = bw->weigh;
	const struct bw_component *component = weigh->component;

	sort(weigh);
	for (uint32_t at = 0; at < component->types_count; at++)
		weigh->packed[component->types[at]] = weigh->best[component->types[at]] = 0;
	for (uint32_t at = 0; at < bw->resources.count; at++)
		weigh->free[at] = bw->resources.list[at].fibres;
	weigh->most = 0;
	weigh->nodes = 0;
	pack_from(bw, 0, 0);
	return weigh->nodes < MOST_NODES;
}

/* The resource on a type's way that most is wanted of. */
static void choose_owners(const struct morph_bw *bw)
{
	struct bw_weigh *weigh = bw->weigh;
	const struct bw_component *component = weigh->component;

	for (uint32_t at = 0; at < component->types_count; at++) {
		const struct bw_type *type = &bw->types[component->types[at]];
		const uint32_t *way = bw->ways.list + type->first;
		const struct bw_resource *most = &bw->resources.list[way[0]];

		for (uint32_t use = 1; use < type->count; use++) {
			const struct bw_resource *its = &bw->resources.list[way[use]];

			if (its->load * most->fibres > most->load * its->fibres)
				most = its;
		}
		weigh->owner[component->types[at]] = (uint32_t)(most - bw->resources.list);
	}
}

/* Heavier what the heaviest circuits have too little of. */
static void learn(const struct morph_bw *bw, int64_t limit)
{
	const struct bw_component *component = bw->weigh->component;

	for (uint32_t at = 0; at < component->types_count; at++) {
		uint32_t type = component->types[at];
		int64_t weight = bw->weigh->weights[type] + bw->types[type].wanted -
				 (int64_t)bw->weigh->best[type] * bw->wavelengths;

		bw->weigh->weights[type] = weight < 0 ? 0 : weight > limit ? limit : weight;
	}
}

bool lm_bw_outweighs(struct morph_bw *bw, const struct bw_component *component, uint64_t last)
{
	struct bw_weigh *weigh = bw->weigh;
	uint32_t vague = 0; /* rounds in a row */
	int64_t circuits = 1, limit;

	weigh->component = component;
	choose_owners(bw);
	for (uint32_t at = 0; at < component->types_count; at++) {
		weigh->order[at] = component->types[at];
		circuits += bw->types[component->types[at]].wanted;
	}
	/* So that sums over wavelengths have 63 bits. */
	limit = INT64_MAX / 4 / bw->wavelengths / circuits;
	while (bw->steps < last && vague < MOST_VAGUE) {
		bool most = pack(bw);
		int64_t wanted = 0;

		bw->steps += weigh->nodes;
		vague = most ? 0 : vague + 1;
		for (uint32_t at = 0; at < component->types_count; at++)
			wanted += weigh->weights[component->types[at]] *
				  bw->types[component->types[at]].wanted;
		if (most && wanted > weigh->most * bw->wavelengths)
			return true;
		learn(bw, limit);
	}
	return false;
}
