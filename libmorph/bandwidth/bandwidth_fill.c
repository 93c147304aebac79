// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fair bandwidths by filling, level by level, and the wavelengths of circuits. */
#include "../util/mix.h"
#include "bandwidth.h"

/* ---------------------------------------------------------------- wavelengths */

/*
 * Assignment of wavelengths: a colouring in which a resource can carry several circuits of one
 * colour. A circuit gets the first wavelength that is free on all of its resources. If there is
 * none, two wavelengths are exchanged along a chain of circuits, as in Kempe's proof. The new
 * circuit takes the first wavelength, the circuits that exceed a capacity take the second, and so
 * on.
 * If each circuit uses two resources, one of either kind, as ports without guides, chains always
 * end (König's theorem), here if they have at most MOST_MOVES moves. Otherwise a chain can fail.
 * Then the search starts again in other orders, and between these tries an exhaustive search.
 */

#define MOST_MOVES 256 /* of a chain */
#define ORDERS 4
#define MORE_ORDERS 64

struct bw_chain {
	uint32_t count;
	struct {
		uint32_t type;
		uint32_t to;
	} moves[MOST_MOVES];
	uint32_t order[]; /* types */
};

struct bw_chain *lm_bw_chain_new(const struct morph_bandwidth *bw)
{
	struct bw_chain *chain;

	return calloc(1, sizeof(*chain) + bw->types_count * sizeof(chain->order[0]));
}

void lm_bw_copy(const struct morph_bandwidth *bw, struct bw_colours *to,
		const struct bw_colours *from)
{
	memcpy(to->taken, from->taken,
	       (size_t)bw->types_count * bw->wavelengths * sizeof(*to->taken));
	memcpy(to->load, from->load,
	       (size_t)bw->resources.count * bw->wavelengths * sizeof(*to->load));
	memcpy(to->placed, from->placed, bw->types_count * sizeof(*to->placed));
}

void lm_bw_clear(const struct morph_bandwidth *bw, struct bw_colours *colours)
{
	memset(colours->taken, 0,
	       (size_t)bw->types_count * bw->wavelengths * sizeof(*colours->taken));
	memset(colours->load, 0,
	       (size_t)bw->resources.count * bw->wavelengths * sizeof(*colours->load));
	memset(colours->placed, 0, bw->types_count * sizeof(*colours->placed));
}

static const uint32_t *way_of(const struct morph_bandwidth *bw, uint32_t type)
{
	return bw->ways.list + bw->types[type].first;
}

static uint16_t *taken(const struct morph_bandwidth *bw, uint32_t type, uint32_t wavelength)
{
	return &bw->now.taken[(size_t)type * bw->wavelengths + wavelength];
}

static uint16_t *load(const struct morph_bandwidth *bw, uint32_t resource, uint32_t wavelength)
{
	return &bw->now.load[(size_t)resource * bw->wavelengths + wavelength];
}

void lm_bw_shift(struct morph_bandwidth *bw, uint32_t type, uint32_t wavelength, int circuits)
{
	const uint32_t *way = way_of(bw, type);

	for (uint32_t at = 0; at < bw->types[type].count; at++)
		*load(bw, way[at], wavelength) += (uint16_t)circuits;
	*taken(bw, type, wavelength) += (uint16_t)circuits;
	bw->now.placed[type] += (uint32_t)circuits;
}

uint32_t lm_bw_room(const struct morph_bandwidth *bw, uint32_t type, uint32_t wavelength)
{
	const uint32_t *way = way_of(bw, type);
	uint32_t room = UINT32_MAX;

	for (uint32_t at = 0; room && at < bw->types[type].count; at++) {
		uint32_t left = bw->resources.list[way[at]].fibres - *load(bw, way[at], wavelength);

		if (left < room)
			room = left;
	}
	return room;
}

/* ------------------------------------------------------------------- chains */

/* The number of resources of a type that have no free circuit of this wavelength. */
static uint32_t blocked(const struct morph_bandwidth *bw, uint32_t type, uint32_t wavelength)
{
	const uint32_t *way = way_of(bw, type);
	uint32_t count = 0;

	for (uint32_t at = 0; at < bw->types[type].count; at++)
		count += *load(bw, way[at], wavelength) >= bw->resources.list[way[at]].fibres;
	return count;
}

/* Circuits of a type that this chain moved to the wavelength. They stay there. */
static uint32_t arrived(const struct bw_chain *chain, uint32_t type, uint32_t wavelength)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < chain->count; at++)
		count += chain->moves[at].type == type && chain->moves[at].to == wavelength;
	return count;
}

static bool move(struct morph_bandwidth *bw, uint32_t type, uint32_t to)
{
	struct bw_chain *chain = bw->chain;

	if (chain->count == MOST_MOVES)
		return false;
	lm_bw_shift(bw, type, to, 1);
	chain->moves[chain->count].type = type;
	chain->moves[chain->count++].to = to;
	return true;
}

/*
 * A resource has one circuit of @from too many. Move the circuit to @to that exceeds the fewest
 * capacities.
 */
static bool relieve(struct morph_bandwidth *bw, uint32_t number, uint32_t from, uint32_t to)
{
	const struct bw_resource *resource = &bw->resources.list[number];
	uint32_t best = UINT32_MAX, least = UINT32_MAX;

	for (uint32_t at = 0; least && at < resource->count; at++) {
		uint32_t type = bw->users[resource->first + at], hurts;

		if (!*taken(bw, type, from))
			continue;
		hurts = blocked(bw, type, to);
		if (hurts >= least || *taken(bw, type, from) <= arrived(bw->chain, type, from))
			continue;
		least = hurts;
		best = type;
	}
	if (best == UINT32_MAX || !move(bw, best, to))
		return false;
	lm_bw_shift(bw, best, from, -1);
	return true;
}

/* Add a circuit of a type with wavelength @one, and exchange @one and @other where necessary. */
static bool exchange(struct morph_bandwidth *bw, uint32_t type, uint32_t one, uint32_t other)
{
	struct bw_chain *chain = bw->chain;
	bool fits = true;

	chain->count = 0;
	move(bw, type, one);
	for (uint32_t at = 0; fits && at < chain->count; at++) {
		uint32_t its = chain->moves[at].type, from = chain->moves[at].to;
		const uint32_t *way = way_of(bw, its);

		for (uint32_t use = 0; fits && use < bw->types[its].count; use++)
			while (fits &&
			       *load(bw, way[use], from) > bw->resources.list[way[use]].fibres)
				fits = relieve(bw, way[use], from, one + other - from);
	}
	while (!fits && chain->count--) {
		uint32_t its = chain->moves[chain->count].type;
		uint32_t to = chain->moves[chain->count].to;

		lm_bw_shift(bw, its, to, -1);
		if (chain->count)
			lm_bw_shift(bw, its, one + other - to, 1);
	}
	return fits;
}

/* The new circuit takes the wavelength that is full on the fewest of its resources. */
static bool place_by_exchange(struct morph_bandwidth *bw, uint32_t type)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t at = 0; at < bw->wavelengths; at++) {
		uint32_t lack = blocked(bw, type, at);

		if (lack < least)
			least = lack;
	}
	for (uint32_t one = 0; one < bw->wavelengths; one++) {
		if (blocked(bw, type, one) > least)
			continue;
		for (uint32_t other = 0; other < bw->wavelengths; other++) {
			if (other == one)
				continue;
			bw->steps++;
			if (exchange(bw, type, one, other))
				return true;
		}
	}
	return false;
}

/* Place all circuits that a type wants. */
static bool place(struct morph_bandwidth *bw, uint32_t type)
{
	uint32_t wanted = bw->types[type].wanted;

	for (uint32_t at = 0; at < bw->wavelengths && bw->now.placed[type] < wanted; at++) {
		uint32_t missing = wanted - bw->now.placed[type], room = lm_bw_room(bw, type, at);

		lm_bw_shift(bw, type, at, (int)(room < missing ? room : missing));
	}
	while (bw->now.placed[type] < wanted)
		if (!place_by_exchange(bw, type))
			return false;
	return true;
}

/* ---------------------------------------------------------------------- all */

/* Continue from the last wavelengths that fitted. */
static bool colour_on(struct morph_bandwidth *bw)
{
	bool fits = true;

	lm_bw_copy(bw, &bw->now, &bw->good);
	for (uint32_t type = 0; type < bw->types_count; type++) {
		for (uint32_t at = bw->wavelengths;
		     at-- && bw->now.placed[type] > bw->types[type].wanted;) {
			uint32_t more = bw->now.placed[type] - bw->types[type].wanted;
			uint32_t has = *taken(bw, type, at);

			lm_bw_shift(bw, type, at, -(int)(has < more ? has : more));
		}
	}
	for (uint32_t type = 0; fits && type < bw->types_count; type++)
		fits = place(bw, type);
	return fits;
}

/*
 * Start from scratch: first the circuits that are equal in all wavelengths, then the rest in an
 * order from the seed.
 */
static bool recolour(struct morph_bandwidth *bw, uint64_t seed)
{
	uint32_t *order = bw->chain->order;
	uint64_t random = seed;
	bool fits = true;

	bw->steps += lm_bw_look(bw);
	lm_bw_clear(bw, &bw->now);
	for (uint32_t type = 0; type < bw->types_count; type++) {
		uint32_t each = bw->types[type].wanted / bw->wavelengths;
		uint32_t other = seed ? mix_below(&random, type + 1) : type;

		for (uint32_t at = 0; each && at < bw->wavelengths; at++)
			lm_bw_shift(bw, type, at, (int)each);
		order[type] = order[other];
		order[other] = type;
	}
	for (uint32_t at = 0; fits && at < bw->types_count; at++)
		fits = place(bw, order[at]);
	return fits;
}

enum bw_answer lm_bw_colour(struct morph_bandwidth *bw)
{
	uint64_t left = bw->limit > bw->steps ? bw->limit - bw->steps : 0;
	uint64_t last = bw->steps + (left < bw->share ? left : bw->share);
	enum bw_answer answer = BW_UNKNOWN;
	bool fits = colour_on(bw);
	uint64_t seed = 0;

	while (!fits && seed < ORDERS && bw->steps < last)
		fits = recolour(bw, seed++);
	if (!fits)
		answer = lm_bw_exhaust(bw, last);
	while (!fits && answer == BW_UNKNOWN && seed < MORE_ORDERS && bw->steps < last)
		fits = recolour(bw, seed++);
	if (fits)
		answer = BW_YES;
	if (answer == BW_YES)
		lm_bw_copy(bw, &bw->good, &bw->now);
	return answer;
}

/* -------------------------------------------------------------------- filling */

/*
 * Fair bandwidths by filling. Of two plans, the fairer one has fewer groups that stay behind at the
 * lowest level where they differ. So at each level a largest set of groups rises by one, and the
 * search follows all plans with a set of this size.
 * Every plan still fits if a group has less, so a group that stays behind never rises later. It is
 * tried last, with all groups that did rise, and no group is more than one level above it. So it
 * can gain only if another group drops to its level: maximal sets give fair plans, and largest sets
 * give leximin plans.
 *
 * Six groups stay behind in at most 6! = 720 orders, so all of their plans can be followed.
 */

#define STEPS (1U << 22)
#define SHARE 4 /* of the steps; limit of one search for wavelengths */

/* Filling of one level. */
struct fill {
	struct morph_bandwidth *bw;
	uint32_t level;
	uint32_t active; /* groups of the present plan that can rise */
	uint32_t plans; /* at this level */
	uint32_t found; /* plans at the next level */
	uint32_t up; /* groups that rise in each of these */
	bool gave_up; /* the search skipped a set or ran out of steps */
};

static void set_level(struct morph_bandwidth *bw, uint32_t number, uint32_t level)
{
	struct bw_group *group = &bw->groups.list[number];
	uint32_t more = level - group->level; /* modulo 2^32, like wanted */

	if (group->level == level)
		return;
	for (uint32_t at = group->first; at < group->first + group->count; at++) {
		struct bw_resource *resource = &bw->resources.list[bw->uses[at].resource];
		uint64_t takes = (uint64_t)resource->fibres * bw->wavelengths;

		bw->over -= resource->load > takes;
		resource->load -= (uint64_t)bw->uses[at].circuits * group->level;
		resource->load += (uint64_t)bw->uses[at].circuits * level;
		bw->over += resource->load > takes;
	}
	for (uint32_t at = group->hops; at != UINT32_MAX; at = bw->hops.list[at].next)
		bw->types[bw->hops.list[at].type].wanted += more * bw->hops.list[at].circuits;
	group->level = level;
}

static void set_levels(struct morph_bandwidth *bw, const uint32_t *levels)
{
	for (uint32_t at = 0; at < bw->groups.count; at++)
		set_level(bw, at, levels[at]);
}

/* Whether all groups can have their level. */
static enum bw_answer ask(struct morph_bandwidth *bw)
{
	bw->steps++;
	if (bw->over)
		return BW_NO;
	bw->steps += lm_bw_look(bw);
	return bw->wavelengths == 1 ? BW_YES : lm_bw_colour(bw);
}

/* The resource that the present levels exceed. */
static struct morph_bandwidth_group find_stop(const struct morph_bandwidth *bw,
					      enum bw_answer answer)
{
	for (uint32_t at = 0; bw->over && at < bw->resources.count; at++) {
		const struct bw_resource *resource = &bw->resources.list[at];
		uint64_t takes = (uint64_t)resource->fibres * bw->wavelengths;

		if (resource->load > takes)
			return (struct morph_bandwidth_group){ .part = resource->part,
							       .index = resource->index,
							       .have = takes,
							       .need = resource->load };
	}
	if (answer == BW_NO)
		return (struct morph_bandwidth_group){ .part = MORPH_BANDWIDTH_WAVELENGTHS,
						       .index = MORPH_ANY,
						       .have = bw->wavelengths,
						       .need = bw->wavelengths + 1ULL };
	return (struct morph_bandwidth_group){ .index = MORPH_ANY };
}

/* ------------------------------------------------------------------ filling */

/* Record the present levels as a plan of the next level, in which @up groups have risen. */
static void follow(struct fill *fill, uint32_t up)
{
	struct morph_bandwidth *bw = fill->bw;
	uint32_t *plan;

	if (fill->found && up < fill->up)
		return;
	if (up > fill->up)
		fill->found = 0;
	fill->up = up;
	if (fill->found == bw->room) {
		fill->gave_up = true;
		return;
	}
	plan = bw->plans[1] + (size_t)fill->found * bw->groups.count;
	for (uint32_t at = 0; at < bw->groups.count; at++)
		plan[at] = bw->groups.list[at].level;
	/* The last answer was about these levels, unless no group has risen. */
	if (!fill->found++ && up)
		lm_bw_copy(bw, &bw->kept, &bw->good);
}

/*
 * Try all sets of the groups from index @at on that can rise, larger ones first, so that the first
 * set found is maximal. Beyond the limit of steps, find only this set.
 */
static void try_sets(struct fill *fill, uint32_t at, uint32_t up)
{
	struct morph_bandwidth *bw = fill->bw;
	enum bw_answer answer;

	if (at == fill->active) {
		follow(fill, up);
		return;
	}
	set_level(bw, bw->active[at], fill->level + 1);
	answer = ask(bw);
	if (answer == BW_YES)
		try_sets(fill, at + 1, up + 1);
	fill->gave_up |= answer == BW_UNKNOWN;
	set_level(bw, bw->active[at], fill->level);
	if (fill->found && up + fill->active - at - 1 < fill->up)
		return;
	if (answer == BW_YES && bw->steps >= bw->limit)
		fill->gave_up = true;
	else
		try_sets(fill, at + 1, up);
}

static void fill_level(struct fill *fill)
{
	struct morph_bandwidth *bw = fill->bw;
	uint32_t *next = bw->plans[1];

	fill->found = fill->up = 0;
	for (uint32_t plan = 0; plan < fill->plans; plan++) {
		if (plan && bw->steps >= bw->limit) {
			fill->gave_up = true;
			break;
		}
		set_levels(bw, bw->plans[0] + (size_t)plan * bw->groups.count);
		fill->active = 0;
		for (uint32_t at = 0; at < bw->groups.count; at++)
			if (bw->groups.list[at].level == fill->level &&
			    bw->groups.list[at].most > fill->level)
				bw->active[fill->active++] = at;
		try_sets(fill, 0, 0);
	}
	bw->plans[1] = bw->plans[0];
	bw->plans[0] = next;
	fill->plans = fill->found;
}

/* All followed plans have the same levels, but for different groups. */
static uint32_t highest(const struct morph_bandwidth *bw)
{
	uint32_t level = 0;

	for (uint32_t at = 0; at < bw->groups.count; at++)
		if (bw->plans[0][at] > level)
			level = bw->plans[0][at];
	return level;
}

/*
 * Start from the least lanes of the groups, which are feasible. Returns whether the search was
 * complete.
 */
static bool fill_up(struct morph_bandwidth *bw)
{
	struct fill fill = { .bw = bw, .plans = 1 };

	lm_bw_copy(bw, &bw->kept, &bw->good);
	for (uint32_t at = 0; at < bw->groups.count; at++)
		bw->plans[0][at] = bw->groups.list[at].level;
	for (fill.level = 0; fill.level <= highest(bw); fill.level++)
		fill_level(&fill);
	for (uint32_t at = 0; at < bw->groups.count; at++)
		bw->groups.list[at].bandwidth = bw->plans[0][at];
	return !fill.gave_up;
}

/* -------------------------------------------------------------------- proof */

/*
 * Find the limiting resource of each group at this level. Levels ascend, so the other groups change
 * little between calls.
 */
static bool prove_level(struct morph_bandwidth *bw, uint32_t level)
{
	bool proven = true;

	for (uint32_t at = 0; at < bw->groups.count; at++) {
		const struct bw_group *group = &bw->groups.list[at];
		uint32_t most = group->least > level + 1 ? group->least : level + 1;

		set_level(bw, at, group->bandwidth < most ? group->bandwidth : most);
	}
	for (uint32_t at = 0; at < bw->groups.count; at++) {
		struct bw_group *group = &bw->groups.list[at];
		enum bw_answer answer;

		if (group->bandwidth != level)
			continue;
		if (group->most == level) {
			group->stop = (struct morph_bandwidth_group){ .part = MORPH_BANDWIDTH_WISH,
								      .index = MORPH_ANY,
								      .have = level,
								      .need = level + 1ULL };
			continue;
		}
		set_level(bw, at, level + 1);
		answer = ask(bw);
		group->stop = find_stop(bw, answer);
		proven &= answer == BW_NO;
		set_level(bw, at, level);
	}
	return proven;
}

static bool prove(struct morph_bandwidth *bw)
{
	uint32_t last = highest(bw);
	bool proven = true;

	for (uint32_t level = 0; level <= last; level++)
		proven &= prove_level(bw, level);
	return proven;
}

/* --------------------------------------------------------------------- all */

/* Reset the solution, so that the answer does not depend on earlier ones. */
static void begin(struct morph_bandwidth *bw)
{
	for (uint32_t at = 0; at < bw->resources.count; at++)
		bw->resources.list[at].load = 0;
	for (uint32_t at = 0; at < bw->types_count; at++)
		bw->types[at].wanted = 0;
	for (uint32_t at = 0; at < bw->groups.count; at++) {
		struct bw_group *group = &bw->groups.list[at];

		group->level = group->bandwidth = 0;
		group->stop = (struct morph_bandwidth_group){ .index = MORPH_ANY };
	}
	bw->over = 0;
	bw->short_of = (struct morph_bandwidth_group){ .index = MORPH_ANY };
	lm_bw_clear(bw, &bw->good);
	lm_bw_clear(bw, &bw->kept);
	lm_bw_weigh_forget(bw);
	for (uint32_t at = 0; at < bw->groups.count; at++)
		set_level(bw, at, bw->groups.list[at].least);
}

/*
 * Number the circuits of each type consecutively. With one wavelength this is the whole assignment.
 */
static void number_circuits(struct morph_bandwidth *bw)
{
	for (uint32_t at = 0; at < bw->types_count; at++)
		bw->types[at].wanted = 0;
	for (uint32_t at = 0; at < bw->hops.count; at++) {
		struct bw_hop *hop = &bw->hops.list[at];
		struct bw_type *type = &bw->types[hop->type];

		hop->before = type->wanted;
		type->wanted += hop->circuits * bw->groups.list[hop->group].bandwidth;
		if (bw->wavelengths == 1)
			bw->kept.taken[hop->type] = (uint16_t)type->wanted;
	}
}

static void solve(struct morph_bandwidth *bw, uint64_t steps, struct morph_bandwidth_result *result)
{
	enum bw_answer answer;
	bool leximin;

	bw->steps = 0;
	bw->limit = steps;
	bw->share = steps / SHARE;
	begin(bw);
	answer = ask(bw);
	result->verdict = answer == BW_YES ? MORPH_FEASIBLE :
			  answer == BW_NO  ? MORPH_INFEASIBLE :
					     MORPH_UNDECIDED;
	if (answer == BW_YES) {
		leximin = fill_up(bw);
		bw->limit = bw->steps > UINT64_MAX - steps ? UINT64_MAX : bw->steps + steps;
		result->proof = prove(bw) ? MORPH_BANDWIDTH_FAIR : MORPH_BANDWIDTH_LEGAL;
		if (leximin)
			result->proof = MORPH_BANDWIDTH_LEXIMIN;
	} else {
		bw->short_of = find_stop(bw, answer);
	}
	number_circuits(bw);
	for (uint32_t at = 0; at < bw->types_count; at++)
		result->circuits += bw->types[at].wanted;
	result->steps = bw->steps;
	bw->verdict = result->verdict;
	bw->proof = result->proof;
}

MORPH_API int morph_bandwidth_solve(struct morph_bandwidth *bw,
				    const struct morph_bandwidth_opts *opts,
				    struct morph_bandwidth_result *out)
{
	struct morph_bandwidth_result result = { .sz = out ? out->sz : 0 };
	struct morph_bandwidth_opts mine;
	int error = lm_opts_check(bw->ctx, opts, sizeof(*opts), "morph_bandwidth_opts");

	if (!error)
		error = lm_opts_check(bw->ctx, out, sizeof(*out), "morph_bandwidth_result");
	if (!error && !bw->prepared)
		error = lm_bw_prepare(bw);
	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	solve(bw, mine.steps ? mine.steps : STEPS, &result);
	bw->solved = true;
	if (out)
		memcpy(out, &result, out->sz < sizeof(result) ? out->sz : sizeof(result));
	return 0;
}
