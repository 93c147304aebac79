// SPDX-License-Identifier: LGPL-2.1-or-later
/* Proofs that wavelengths do not suffice: weights of circuits, and exhaustive search. */
#include "bandwidth.h"

/* -------------------------------------------------------------------- weights */

/*
 * Proof by weights of circuits. A branch and bound finds the greatest weight that one wavelength
 * can carry. If all wanted circuits weigh more than all wavelengths can carry, no assignment
 * exists.
 * The weights are learnt from the heaviest circuits that one wavelength can carry. Types of which
 * these have less than their share become heavier, the others lighter. This is the perceptron
 * (Rosenblatt, Psychological Review 65, 1958). It finds weights that separate the wanted circuits
 * from the possible ones, if any exist (Novikoff, 1962). It does not depend on the order of
 * wavelengths, which are interchangeable. The weights are kept for the next question, which is
 * mostly similar.
 */

#define MOST_NODES 2048 /* of one branch and bound */
#define MOST_VAGUE 16 /* successive branch-and-bound runs without the optimum, at most */

struct bw_weigh {
	const struct bw_component *component;
	int64_t *weights; /* by type */
	uint32_t *order; /* types of the component, the heaviest first */
	uint32_t *owner; /* by type: the resource that bound() counts it at */
	uint32_t *packed, *best; /* by type */
	uint32_t *free, *used; /* by resource */
	uint32_t count; /* types of @order with a weight above 0 */
	uint32_t nodes;
	int64_t most; /* weight of @best */
};

#define MAKE(list, count) ((list) = calloc((count) + 1, sizeof(*(list))))

struct bw_weigh *lm_bw_weigh_new(const struct morph_bandwidth *bw)
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

void lm_bw_weigh_forget(struct morph_bandwidth *bw)
{
	for (uint32_t type = 0; bw->weigh && type < bw->types_count; type++)
		bw->weigh->weights[type] = 1;
}

/* The number of additional circuits of a type that fit in one wavelength. */
static uint32_t room_of(const struct morph_bandwidth *bw, uint32_t number)
{
	const struct bw_type *type = &bw->types[number];
	uint32_t room = type->wanted;

	for (uint32_t at = type->first; at < type->first + type->count; at++)
		if (bw->weigh->free[bw->ways.list[at]] < room)
			room = bw->weigh->free[bw->ways.list[at]];
	return room;
}

static void take(const struct morph_bandwidth *bw, uint32_t number, uint32_t circuits)
{
	const struct bw_type *type = &bw->types[number];

	for (uint32_t at = type->first; at < type->first + type->count; at++)
		bw->weigh->free[bw->ways.list[at]] -= circuits;
	bw->weigh->packed[number] += circuits;
}

/* Upper bound of the weight of types from index @at on. Each type counts at one resource only. */
static int64_t bound(const struct morph_bandwidth *bw, uint32_t at)
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

static void pack_from(const struct morph_bandwidth *bw, uint32_t at, int64_t weight)
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

/* Sort by descending weight. Insertion, because few types change places between rounds. */
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

/* Find the heaviest circuits that one wavelength can carry. Returns whether they are optimal. */
static bool pack(const struct morph_bandwidth *bw)
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

/* For each type, choose its resource with the highest relative load. */
static void choose_owners(const struct morph_bandwidth *bw)
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

/* Increase the weights of types of which the packed circuits have less than their share. */
static void learn(const struct morph_bandwidth *bw, int64_t limit)
{
	const struct bw_component *component = bw->weigh->component;

	for (uint32_t at = 0; at < component->types_count; at++) {
		uint32_t type = component->types[at];
		int64_t weight = bw->weigh->weights[type] + bw->types[type].wanted -
				 (int64_t)bw->weigh->best[type] * bw->wavelengths;

		bw->weigh->weights[type] = weight < 0 ? 0 : weight > limit ? limit : weight;
	}
}

bool lm_bw_outweighs(struct morph_bandwidth *bw, const struct bw_component *component,
		     uint64_t last)
{
	struct bw_weigh *weigh = bw->weigh;
	uint32_t vague = 0; /* successive rounds */
	int64_t circuits = 1, limit;

	weigh->component = component;
	choose_owners(bw);
	for (uint32_t at = 0; at < component->types_count; at++) {
		weigh->order[at] = component->types[at];
		circuits += bw->types[component->types[at]].wanted;
	}
	/* Sums over all wavelengths stay below 2^63. */
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

/* ------------------------------------------------------------------- all ways */

/*
 * Exhaustive search. First it removes parts that cannot conflict:
 *
 * - a resource whose users together fit into one wavelength;
 * - a resource whose users all use another resource that does not have more capacity;
 * - a type that uses only one of the remaining resources. It fits, whatever wavelengths the others
 *   have, because no resource has more circuits than all of its wavelengths carry.
 *
 * The rest consists of components. In each one, the search takes the type with the least spare
 * capacity and distributes its circuits over the wavelengths in every way. Wavelengths with the
 * same history are interchangeable: a later one never gets more circuits than an earlier one.
 */

#define MOST_DEPTH 8192 /* types * wavelengths of a component */
#define BRIEFLY 16 /* the exhaustive search gets this fraction of the steps */

struct bw_exhaust {
	bool *type_left, *resource_left;
	uint32_t *binding; /* by type: number of remaining resources */
	uint32_t *wanted; /* by resource: circuits of remaining types */
	uint32_t *out; /* types that were removed, in this order */
	uint32_t out_count;
	struct bw_component component; /* the present one */
	uint32_t *chosen; /* by depth: type */
	uint16_t *room; /* by type, then wavelength */
	int32_t *same; /* by depth, then wavelength: the equal one before it, -1: none */
	uint32_t *later; /* by depth, then wavelength: room in later ones */
	uint64_t last; /* limit of steps */
};

struct bw_exhaust *lm_bw_exhaust_new(const struct morph_bandwidth *bw)
{
	size_t types = bw->types_count, resources = bw->resources.count;
	size_t deep = MOST_DEPTH + bw->wavelengths;
	struct bw_exhaust *exhaust = calloc(1, sizeof(*exhaust));

	if (!exhaust)
		return NULL;
	if (MAKE(exhaust->type_left, types) && MAKE(exhaust->resource_left, resources) &&
	    MAKE(exhaust->binding, types) && MAKE(exhaust->wanted, resources) &&
	    MAKE(exhaust->out, types) && MAKE(exhaust->component.types, types) &&
	    MAKE(exhaust->component.resources, resources) &&
	    MAKE(exhaust->component.inside, types) && MAKE(exhaust->chosen, types) &&
	    MAKE(exhaust->room, types * bw->wavelengths) && MAKE(exhaust->same, deep) &&
	    MAKE(exhaust->later, deep))
		return exhaust;
	lm_bw_exhaust_free(exhaust);
	return NULL;
}

void lm_bw_exhaust_free(struct bw_exhaust *exhaust)
{
	if (!exhaust)
		return;
	free(exhaust->type_left);
	free(exhaust->resource_left);
	free(exhaust->binding);
	free(exhaust->wanted);
	free(exhaust->out);
	free(exhaust->component.types);
	free(exhaust->component.resources);
	free(exhaust->component.inside);
	free(exhaust->chosen);
	free(exhaust->room);
	free(exhaust->same);
	free(exhaust->later);
	free(exhaust);
}

static const uint32_t *way_of(const struct morph_bandwidth *bw, uint32_t type)
{
	return bw->ways.list + bw->types[type].first;
}

static bool uses(const struct morph_bandwidth *bw, uint32_t type, uint32_t resource)
{
	const uint32_t *way = way_of(bw, type);

	for (uint32_t at = 0; at < bw->types[type].count; at++)
		if (way[at] == resource)
			return true;
	return false;
}

/* ---------------------------------------------------------- what is in the way */

/* Whether all remaining users of one resource also use the other. */
static bool within(const struct morph_bandwidth *bw, uint32_t one, uint32_t other)
{
	const struct bw_resource *resource = &bw->resources.list[one];

	for (uint32_t at = 0; at < resource->count; at++) {
		uint32_t type = bw->users[resource->first + at];

		if (bw->exhaust->type_left[type] && !uses(bw, type, other))
			return false;
	}
	return true;
}

static bool never_binds(const struct morph_bandwidth *bw, uint32_t number)
{
	const struct bw_resource *resource = &bw->resources.list[number];
	const struct bw_exhaust *exhaust = bw->exhaust;
	const uint32_t *way;
	uint32_t at = 0, type;

	if (exhaust->wanted[number] <= resource->fibres)
		return true;
	while (!exhaust->type_left[bw->users[resource->first + at]])
		at++;
	type = bw->users[resource->first + at];
	way = way_of(bw, type);
	for (uint32_t use = 0; use < bw->types[type].count; use++)
		if (way[use] != number && exhaust->resource_left[way[use]] &&
		    bw->resources.list[way[use]].fibres <= resource->fibres &&
		    within(bw, number, way[use]))
			return true;
	return false;
}

static bool take_out_resources(struct morph_bandwidth *bw)
{
	struct bw_exhaust *exhaust = bw->exhaust;
	bool changed = false;

	for (uint32_t at = 0; at < bw->resources.count; at++) {
		const struct bw_resource *resource = &bw->resources.list[at];

		if (!exhaust->resource_left[at] || !never_binds(bw, at))
			continue;
		exhaust->resource_left[at] = false;
		changed = true;
		for (uint32_t user = 0; user < resource->count; user++)
			exhaust->binding[bw->users[resource->first + user]]--;
	}
	return changed;
}

static bool take_out_types(struct morph_bandwidth *bw)
{
	struct bw_exhaust *exhaust = bw->exhaust;
	bool changed = false;

	for (uint32_t type = 0; type < bw->types_count; type++) {
		const uint32_t *way = way_of(bw, type);

		if (!exhaust->type_left[type] || exhaust->binding[type] > 1)
			continue;
		exhaust->type_left[type] = false;
		exhaust->out[exhaust->out_count++] = type;
		changed = true;
		for (uint32_t at = 0; at < bw->types[type].count; at++)
			exhaust->wanted[way[at]] -= bw->types[type].wanted;
	}
	return changed;
}

static void take_out(struct morph_bandwidth *bw)
{
	struct bw_exhaust *exhaust = bw->exhaust;
	bool changed = true;

	exhaust->out_count = 0;
	memset(exhaust->wanted, 0, bw->resources.count * sizeof(*exhaust->wanted));
	for (uint32_t at = 0; at < bw->resources.count; at++)
		exhaust->resource_left[at] = true;
	for (uint32_t type = 0; type < bw->types_count; type++) {
		const uint32_t *way = way_of(bw, type);

		exhaust->type_left[type] = bw->types[type].wanted > 0;
		exhaust->component.inside[type] = false;
		exhaust->binding[type] = bw->types[type].count;
		for (uint32_t at = 0; at < bw->types[type].count; at++)
			exhaust->wanted[way[at]] += bw->types[type].wanted;
	}
	while (changed) {
		changed = take_out_resources(bw);
		changed |= take_out_types(bw);
	}
}

/* Collect the component of a type and remove it from the rest. */
static void take_component(struct morph_bandwidth *bw, uint32_t first)
{
	struct bw_exhaust *exhaust = bw->exhaust;

	exhaust->component.resources_count = 0;
	exhaust->component.types[0] = first;
	exhaust->component.types_count = 1;
	exhaust->type_left[first] = false;
	exhaust->component.inside[first] = true;
	for (uint32_t at = 0; at < exhaust->component.types_count; at++) {
		const uint32_t *way = way_of(bw, exhaust->component.types[at]);

		for (uint32_t use = 0; use < bw->types[exhaust->component.types[at]].count; use++) {
			const struct bw_resource *resource = &bw->resources.list[way[use]];

			if (!exhaust->resource_left[way[use]])
				continue;
			exhaust->resource_left[way[use]] = false;
			exhaust->component.resources[exhaust->component.resources_count++] =
				way[use];
			for (uint32_t user = 0; user < resource->count; user++) {
				uint32_t type = bw->users[resource->first + user];

				if (!exhaust->type_left[type])
					continue;
				exhaust->type_left[type] = false;
				exhaust->component.inside[type] = true;
				exhaust->component.types[exhaust->component.types_count++] = type;
			}
		}
	}
}

/* ------------------------------------------------------------------- search */

static uint32_t missing(const struct morph_bandwidth *bw, uint32_t type)
{
	return bw->types[type].wanted - bw->now.placed[type];
}

/* Whether the wavelengths that are possible for its users suffice for their missing circuits. */
static bool suffices(const struct morph_bandwidth *bw, uint32_t number)
{
	const struct bw_exhaust *exhaust = bw->exhaust;
	const struct bw_resource *resource = &bw->resources.list[number];
	const uint16_t *load = bw->now.load + (size_t)number * bw->wavelengths;
	uint64_t need = 0, have = 0;

	for (uint32_t at = 0; at < resource->count; at++)
		if (exhaust->component.inside[bw->users[resource->first + at]])
			need += missing(bw, bw->users[resource->first + at]);
	for (uint32_t wavelength = 0; have < need && wavelength < bw->wavelengths; wavelength++) {
		uint32_t left = resource->fibres - load[wavelength], useful = 0;

		for (uint32_t at = 0; useful < left && at < resource->count; at++) {
			uint32_t type = bw->users[resource->first + at];

			if (exhaust->component.inside[type])
				useful +=
					exhaust->room[(size_t)type * bw->wavelengths + wavelength];
		}
		have += useful < left ? useful : left;
	}
	return have >= need;
}

/*
 * The next type to distribute, or types_count if all are complete. False if no assignment exists.
 */
static bool choose(struct morph_bandwidth *bw, uint32_t *chosen)
{
	struct bw_exhaust *exhaust = bw->exhaust;
	uint64_t least = UINT64_MAX;

	*chosen = bw->types_count;
	for (uint32_t at = 0; at < exhaust->component.types_count; at++) {
		uint32_t type = exhaust->component.types[at], wants = missing(bw, type);
		uint16_t *room = exhaust->room + (size_t)type * bw->wavelengths;
		uint64_t all = 0;

		for (uint32_t wavelength = 0; wavelength < bw->wavelengths; wavelength++) {
			uint32_t its = wants ? lm_bw_room(bw, type, wavelength) : 0;

			room[wavelength] = (uint16_t)(its < wants ? its : wants);
			all += room[wavelength];
		}
		if (all < wants)
			return false;
		if (!wants || all - wants >= least)
			continue;
		least = all - wants;
		*chosen = type;
	}
	for (uint32_t at = 0; at < exhaust->component.resources_count; at++)
		if (!suffices(bw, exhaust->component.resources[at]))
			return false;
	return true;
}

static enum bw_answer search(struct morph_bandwidth *bw, uint32_t depth);

/* Distribute the missing circuits of a type over the wavelengths from @wavelength on. */
static enum bw_answer share_out(struct morph_bandwidth *bw, uint32_t depth, uint32_t type,
				uint32_t wavelength)
{
	size_t row = (size_t)depth * bw->wavelengths;
	const int32_t *same = bw->exhaust->same + row;
	const uint32_t *later = bw->exhaust->later + row;
	const uint16_t *taken = bw->now.taken + (size_t)type * bw->wavelengths;
	uint32_t left = missing(bw, type), most, least;
	enum bw_answer answer = BW_NO;

	if (wavelength == bw->wavelengths)
		return search(bw, depth + 1);
	if (bw->steps++ >= bw->exhaust->last)
		return BW_UNKNOWN;
	most = lm_bw_room(bw, type, wavelength);
	if (most > left)
		most = left;
	if (same[wavelength] >= 0 && taken[same[wavelength]] < most)
		most = taken[same[wavelength]];
	least = left > later[wavelength] ? left - later[wavelength] : 0;
	for (uint32_t circuits = most + 1; answer == BW_NO && circuits-- > least;) {
		lm_bw_shift(bw, type, wavelength, (int)circuits);
		answer = share_out(bw, depth, type, wavelength + 1);
		if (answer != BW_YES)
			lm_bw_shift(bw, type, wavelength, -(int)circuits);
	}
	return answer;
}

/*
 * Wavelengths are equal while each type has the same number of circuits of both. @last: circuits of
 * the last type by wavelength, NULL for the first.
 */
static void note_same(struct morph_bandwidth *bw, uint32_t depth, const uint16_t *last)
{
	int32_t *same = bw->exhaust->same + (size_t)depth * bw->wavelengths;

	for (uint32_t at = 0; at < bw->wavelengths; at++) {
		int32_t before = last ? (same - bw->wavelengths)[at] : (int32_t)at - 1;

		same[at] = before >= 0 && (!last || last[before] == last[at]) ? before : -1;
	}
}

static enum bw_answer search(struct morph_bandwidth *bw, uint32_t depth)
{
	struct bw_exhaust *exhaust = bw->exhaust;
	uint32_t *later = exhaust->later + (size_t)depth * bw->wavelengths;
	uint32_t type, sum = 0;

	if (bw->steps++ >= exhaust->last)
		return BW_UNKNOWN;
	if (!choose(bw, &type))
		return BW_NO;
	if (type == bw->types_count)
		return BW_YES;
	note_same(bw, depth,
		  depth ? &bw->now.taken[(size_t)exhaust->chosen[depth - 1] * bw->wavelengths] :
			  NULL);
	for (uint32_t at = bw->wavelengths; at--;) {
		later[at] = sum;
		sum += exhaust->room[(size_t)type * bw->wavelengths + at];
	}
	exhaust->chosen[depth] = type;
	return share_out(bw, depth, type, 0);
}

/* A brief exhaustive search is often enough. Otherwise try weights. */
static enum bw_answer try_component(struct morph_bandwidth *bw, uint64_t last)
{
	struct bw_exhaust *exhaust = bw->exhaust;
	uint64_t steps = last > bw->steps ? last - bw->steps : 0;
	enum bw_answer answer = BW_UNKNOWN;

	exhaust->last = bw->steps + steps / BRIEFLY;
	if ((size_t)exhaust->component.types_count * bw->wavelengths <= MOST_DEPTH)
		answer = search(bw, 0);
	if (answer == BW_UNKNOWN && lm_bw_outweighs(bw, &exhaust->component, last))
		answer = BW_NO;
	return answer;
}

enum bw_answer lm_bw_exhaust(struct morph_bandwidth *bw, uint64_t last)
{
	struct bw_exhaust *exhaust = bw->exhaust;
	enum bw_answer answer = BW_YES;

	lm_bw_clear(bw, &bw->now);
	take_out(bw);
	for (uint32_t type = 0; answer != BW_NO && type < bw->types_count; type++) {
		enum bw_answer its;

		if (!exhaust->type_left[type])
			continue;
		take_component(bw, type);
		its = try_component(bw, last);
		if (its != BW_YES)
			answer = its;
	}
	while (answer == BW_YES && exhaust->out_count--) {
		uint32_t type = exhaust->out[exhaust->out_count];

		for (uint32_t at = 0; at < bw->wavelengths; at++) {
			uint32_t room = lm_bw_room(bw, type, at), wants = missing(bw, type);

			lm_bw_shift(bw, type, at, (int)(room < wants ? room : wants));
		}
	}
	return answer;
}
