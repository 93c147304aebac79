// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Exact search of ports at which n-1 rounds cover all pairs.
 *
 * In each round every endpoint has a circuit, so a matching of all ports serves a choice of ports
 * if it joins them among themselves. First, each matching marks the pairs of each choice that it
 * serves. Choices without a mark for some pair are refuted. For the others the matchings are
 * listed, and the cover is searched. Choices that a symmetry of the mesh exchanges are searched
 * once.
 */
#include "exact.h"

#define HALF_BITS 12 /* ports of half a mask */
#define HALF_MASKS (1u << HALF_BITS)
#define HALF_PAIRS 6 /* of a matching */
#define BATCH (1u << 22) /* entries that are listed at once */

/* A visit of a matching does this to each choice that it serves. */
enum visit {
	VISIT_MARK,
	VISIT_COUNT,
	VISIT_LIST,
};

/*
 * A choice is a set of ports, a bit each: its mask. Tables have an entry for each value of the
 * lower or the upper HALF_BITS bits of a mask.
 */
struct choices {
	struct exact *exact;
	uint32_t ends, endpoints, words, pairs;
	uint32_t all; /* number of all choices */
	uint32_t count; /* number of those that are left */
	uint32_t first, end; /* choices of the present batch */
	enum visit visit;
	uint32_t most; /* matchings of one choice */

	uint8_t *bits; /* by value of a half: how many of its bits are set */
	uint32_t *low, *high; /* by value of a half: low + high is the choice's number */
	uint32_t *number; /* by choice: its number among those left, or MESH_NONE */
	uint32_t *mask; /* by number: the ports */
	uint32_t *begin; /* by number: number of its first entry */
	uint32_t *symmetry; /* by symmetry, half and value of the half: its image */
	uint32_t symmetries;
	uint64_t *seen; /* by number: the pairs that are marked */
	uint64_t *entries; /* pairs of a matching at a choice */
	uint8_t order[1 << HALF_PAIRS]; /* sets of pairs, by their size */
	uint8_t order_first[HALF_PAIRS + 2]; /* by size */
};

/* ------------------------------------------------------------------ matchings of all ports */

int lm_exact_list_matchings(struct exact *exact)
{
	const struct mesh *mesh = &exact->rounds->mesh;
	uint8_t partner[EXACT_MOST_ENDS];
	uint64_t key[EXACT_KEY_WORDS];
	uint32_t end, arrived;
	int result = lm_exact_clear(exact, &exact->matchings, EXACT_KEY_WORDS);

	lm_exact_begin(exact);
	do {
		memset(partner, 0xff, sizeof(partner));
		for (end = 0; end < mesh->ends; end++) {
			if (partner[end] != EXACT_ALONE)
				continue;
			arrived = lm_exact_follow(exact, mesh->enter[end]);
			if (arrived == MESH_NONE)
				continue;
			partner[end] = (uint8_t)arrived;
			partner[arrived] = (uint8_t)end;
		}
		memcpy(key, partner, sizeof(key));
		if (result >= 0)
			result = lm_exact_add(exact, &exact->matchings, key);
	} while (result >= 0 && lm_exact_next(exact));
	return result < 0 ? result : 0;
}

/* ------------------------------------------------------------------ symmetries */

/* The image of a port: a rotation of the rim, or a reflection. */
static uint32_t image_of(uint32_t ends, uint32_t symmetry, uint32_t end)
{
	return symmetry < ends ? (end + symmetry) % ends : (symmetry - end) % ends;
}

/* Whether the image of each matching is a matching. */
static bool is_symmetry(const struct exact *exact, uint32_t symmetry)
{
	uint32_t ends = exact->rounds->mesh.ends, matching, end;
	uint8_t image[EXACT_MOST_ENDS];
	uint64_t key[EXACT_KEY_WORDS];
	const uint8_t *partner;

	for (matching = 0; matching < exact->matchings.count; matching++) {
		partner = exact_partners(exact, matching);
		memset(image, 0xff, sizeof(image));
		for (end = 0; end < ends; end++) {
			if (partner[end] != EXACT_ALONE)
				image[image_of(ends, symmetry, end)] =
					(uint8_t)image_of(ends, symmetry, partner[end]);
		}
		memcpy(key, image, sizeof(key));
		if (!lm_exact_has(&exact->matchings, key))
			return false;
	}
	return true;
}

static uint32_t *symmetry_half(const struct choices *it, uint32_t symmetry, uint32_t half)
{
	return &it->symmetry[(size_t)(2 * symmetry + half) * HALF_MASKS];
}

/* Find the symmetries, and the images of half masks. */
static void find_symmetries(struct choices *it)
{
	uint32_t symmetry, half, mask, bit, end;
	uint32_t *images;

	for (symmetry = 1; symmetry < 2 * it->ends; symmetry++) {
		if (!is_symmetry(it->exact, symmetry))
			continue;
		for (half = 0; half < 2; half++) {
			images = symmetry_half(it, it->symmetries, half);
			memset(images, 0, HALF_MASKS * sizeof(*images));
			for (bit = 0; bit < HALF_BITS; bit++) {
				end = half * HALF_BITS + bit;
				for (mask = 0; mask < HALF_MASKS && end < it->ends; mask++)
					images[mask] |= (mask >> bit & 1)
							<< image_of(it->ends, symmetry, end);
			}
		}
		it->symmetries++;
	}
}

/* Whether no image of a choice is smaller. */
static bool is_first(const struct choices *it, uint32_t mask)
{
	uint32_t symmetry;

	for (symmetry = 0; symmetry < it->symmetries; symmetry++) {
		if ((symmetry_half(it, symmetry, 0)[mask % HALF_MASKS] |
		     symmetry_half(it, symmetry, 1)[mask / HALF_MASKS]) < mask)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------ choices */

/* Number all masks with a bit for each endpoint: by their upper half, then by the lower one. */
static void number_masks(struct choices *it)
{
	uint32_t counts[HALF_BITS + 1] = { 0 }, number = 0, mask;

	for (mask = 0; mask < HALF_MASKS; mask++) {
		it->bits[mask] = (uint8_t)__builtin_popcount(mask);
		it->low[mask] = counts[it->bits[mask]]++;
	}
	for (mask = 0; mask < HALF_MASKS; mask++) {
		it->high[mask] = number;
		if (it->bits[mask] <= it->endpoints && it->endpoints - it->bits[mask] <= HALF_BITS)
			number += counts[it->endpoints - it->bits[mask]];
	}
}

static uint32_t number_of(const struct choices *it, uint32_t mask)
{
	return it->high[mask / HALF_MASKS] + it->low[mask % HALF_MASKS];
}

/* Number the choices that are the first of their images. */
static void number_choices(struct choices *it)
{
	uint32_t mask = (1u << it->endpoints) - 1, lowest, carried;

	memset(it->number, 0xff, it->all * sizeof(*it->number));
	it->count = 0;
	while (mask < 1u << it->ends) {
		if (is_first(it, mask)) {
			it->number[number_of(it, mask)] = it->count;
			it->mask[it->count++] = mask;
		}
		/* The next number with the same number of bits (Gosper, HAKMEM, 1972). */
		lowest = mask & -mask;
		carried = mask + lowest;
		mask = ((mask ^ carried) >> 2) / lowest | carried;
	}
}

/* Keep the choices with marks for all pairs. */
static void drop_refuted(struct choices *it)
{
	uint32_t kept = 0, i, word, marks;

	for (i = 0; i < it->count; i++) {
		for (word = 0, marks = 0; word < it->words; word++)
			marks += (uint32_t)__builtin_popcountll(
				it->seen[(size_t)i * it->words + word]);
		it->number[number_of(it, it->mask[i])] = marks == it->pairs ? kept : MESH_NONE;
		if (marks == it->pairs)
			it->mask[kept++] = it->mask[i];
	}
	it->count = kept;
}

/* ------------------------------------------------------------------ visits */

/* Pairs of a matching, in two halves, and the ports of each set of pairs of a half. */
struct matching {
	uint8_t ports[2 * HALF_PAIRS][2];
	uint32_t masks[2][1 << HALF_PAIRS];
	uint32_t half[2]; /* number of pairs */
};

static void split_matching(const struct choices *it, const uint8_t *partner,
			   struct matching *matching)
{
	uint32_t count = 0, end, half, set, pair;

	for (end = 0; end < it->ends; end++) {
		if (partner[end] == EXACT_ALONE || partner[end] <= end)
			continue;
		matching->ports[count][0] = (uint8_t)end;
		matching->ports[count++][1] = partner[end];
	}
	matching->half[0] = count < HALF_PAIRS ? count : HALF_PAIRS;
	matching->half[1] = count - matching->half[0];
	for (half = 0; half < 2; half++) {
		matching->masks[half][0] = 0;
		for (set = 1; set < 1u << matching->half[half]; set++) {
			pair = half * HALF_PAIRS + (uint32_t)__builtin_ctz(set);
			matching->masks[half][set] = matching->masks[half][set & (set - 1)] |
						     1u << matching->ports[pair][0] |
						     1u << matching->ports[pair][1];
		}
	}
}

/* The endpoint at a port of a choice. */
static uint32_t endpoint_at(const struct choices *it, uint32_t mask, uint32_t port)
{
	uint32_t below = mask & ((1u << port) - 1);

	return (uint32_t)it->bits[below % HALF_MASKS] + it->bits[below / HALF_MASKS];
}

static void visit_choice(struct choices *it, uint32_t number, const struct matching *matching,
			 uint32_t set)
{
	uint32_t mask = it->mask[number], word, pair, low, high;
	uint64_t key[EXACT_MOST_WORDS] = { 0 };
	uint64_t *to;

	if (it->visit == VISIT_COUNT) {
		it->begin[number]++;
		return;
	}
	if (number < it->first || number >= it->end)
		return;
	for (; set; set &= set - 1) {
		pair = (uint32_t)__builtin_ctz(set);
		low = endpoint_at(it, mask, matching->ports[pair][0]);
		high = endpoint_at(it, mask, matching->ports[pair][1]);
		pair = exact_pair(low, high);
		key[pair / 64] |= 1ull << pair % 64;
	}
	to = it->visit == VISIT_MARK ? &it->seen[(size_t)number * it->words] :
				       &it->entries[(size_t)it->begin[number]++ * it->words];
	for (word = 0; word < it->words; word++)
		to[word] = it->visit == VISIT_MARK ? to[word] | key[word] : key[word];
}

/* Visit the choices that a matching serves. Returns their number. */
static uint32_t visit_matching(struct choices *it, const uint8_t *partner)
{
	uint32_t wanted = it->endpoints / 2, one, other, size, at, number, visited = 0;
	struct matching matching;

	split_matching(it, partner, &matching);
	for (one = 0; one < 1u << matching.half[0]; one++) {
		if (it->bits[one] > wanted || wanted - it->bits[one] > HALF_PAIRS)
			continue;
		size = wanted - it->bits[one];
		for (at = it->order_first[size]; at < it->order_first[size + 1]; at++) {
			other = it->order[at];
			if (other >> matching.half[1])
				continue;
			visited++;
			number = it->number[number_of(it, matching.masks[0][one] |
								  matching.masks[1][other])];
			if (number != MESH_NONE)
				visit_choice(it, number, &matching, one | other << HALF_PAIRS);
		}
	}
	return visited;
}

/* Visit all choices of all matchings: 1, or 0 if the budget is spent. */
static bool visit_all(struct choices *it, enum visit visit)
{
	struct exact *exact = it->exact;
	uint32_t matching, visited;

	it->visit = visit;
	for (matching = 0; matching < exact->matchings.count; matching++) {
		visited = visit_matching(it, exact_partners(exact, matching));
		if (exact->steps <= visited)
			return false;
		exact->steps -= visited;
	}
	return true;
}

static void order_sets(struct choices *it)
{
	uint32_t size, set, count = 0;

	for (size = 0; size <= HALF_PAIRS; size++) {
		it->order_first[size] = (uint8_t)count;
		for (set = 0; set < 1u << HALF_PAIRS; set++) {
			if ((uint32_t)__builtin_popcount(set) == size)
				it->order[count++] = (uint8_t)set;
		}
	}
	it->order_first[size] = (uint8_t)count;
}

/* ------------------------------------------------------------------ covers */

/* Make each begin[] the number of the choice's first entry. Sets @most. */
static void sum_counts(struct choices *it)
{
	uint32_t sum = 0, count, i;

	it->most = 0;
	for (i = 0; i < it->count; i++) {
		count = it->begin[i];
		it->begin[i] = sum;
		sum += count;
		it->most = count > it->most ? count : it->most;
	}
	it->begin[it->count] = sum;
}

/* Cover all pairs by the entries of a choice. */
static int cover_choice(struct choices *it, uint32_t first, uint32_t end)
{
	struct exact *exact = it->exact;
	int result = lm_exact_clear(exact, &exact->candidates, it->words);

	for (; first < end && result >= 0; first++)
		result = lm_exact_add(exact, &exact->candidates,
				      &it->entries[(size_t)first * it->words]);
	return result < 0 ? result : lm_exact_cover(exact, it->endpoints - 1);
}

static void set_ports(struct rounds *rounds, uint32_t mask)
{
	uint32_t endpoint = 0;

	for (; mask; mask &= mask - 1) {
		rounds->tx[endpoint] = (uint32_t)__builtin_ctz(mask);
		rounds->rx[endpoint] = rounds->tx[endpoint];
		endpoint++;
	}
}

/*
 * List the entries of a batch of choices and cover each. begin[] of the batch is relative to its
 * first choice meanwhile.
 */
static int cover_batch(struct choices *it)
{
	uint32_t base = it->begin[it->first], first = 0, i;
	int result = EXACT_REFUTED;

	for (i = it->first; i < it->end; i++)
		it->begin[i] -= base;
	if (!visit_all(it, VISIT_LIST))
		return EXACT_UNDECIDED;
	/* Now begin[] is the end of each choice's entries. */
	for (i = it->first; i < it->end && result == EXACT_REFUTED; i++) {
		result = cover_choice(it, first, it->begin[i]);
		first = it->begin[i];
		if (result == EXACT_FOUND)
			set_ports(it->exact->rounds, it->mask[i]);
	}
	return result;
}

static int cover_choices(struct choices *it)
{
	uint32_t room;
	int result;

	memset(it->begin, 0, (it->count + 1) * sizeof(*it->begin));
	if (!visit_all(it, VISIT_COUNT))
		return EXACT_UNDECIDED;
	sum_counts(it);
	room = it->most > BATCH ? it->most : BATCH;
	result = lm_exact_reserve(it->exact, &it->exact->entries_block,
				  (size_t)room * it->words * sizeof(*it->entries));
	if (result)
		return result;
	it->entries = it->exact->entries_block.memory;
	result = EXACT_REFUTED;
	for (it->first = 0; it->first < it->count && result == EXACT_REFUTED; it->first = it->end) {
		it->end = it->first;
		while (it->end < it->count && it->begin[it->end + 1] - it->begin[it->first] <= room)
			it->end++;
		result = cover_batch(it);
	}
	return result;
}

/* ------------------------------------------------------------------ the search */

static int lay(struct choices *it)
{
	const struct mesh_part parts[] = {
		{ &it->bits, HALF_MASKS * sizeof(*it->bits) },
		{ &it->low, HALF_MASKS * sizeof(uint32_t) },
		{ &it->high, HALF_MASKS * sizeof(uint32_t) },
		{ &it->symmetry, (size_t)4 * it->ends * HALF_MASKS * sizeof(uint32_t) },
		{ &it->number, (size_t)it->all * sizeof(uint32_t) },
		{ &it->mask, (size_t)it->all * sizeof(uint32_t) },
		{ &it->begin, ((size_t)it->all + 1) * sizeof(uint32_t) },
	};

	return lm_mesh_lay(it->exact->ctx, &it->exact->choice_block, parts, ARRAY_SIZE(parts));
}

/* The number of choices of @endpoints of the ports; at least those of half a mask. */
static uint32_t count_choices(const struct choices *it)
{
	uint32_t ends = it->ends > HALF_BITS ? it->ends : HALF_BITS, i;
	uint64_t count = 1;

	for (i = 0; i < it->endpoints; i++)
		count = count * (ends - i) / (i + 1);
	return (uint32_t)count;
}

static int search(struct choices *it)
{
	struct exact *exact = it->exact;
	size_t bytes;
	int error;

	if (exact->steps <= exact->settings + it->all)
		return EXACT_UNDECIDED;
	exact->steps -= exact->settings + it->all;
	error = lm_exact_list_matchings(exact);
	if (!error)
		error = lay(it);
	if (error)
		return error;
	order_sets(it);
	number_masks(it);
	find_symmetries(it);
	number_choices(it);
	bytes = (size_t)it->count * it->words * sizeof(*it->seen);
	error = lm_exact_reserve(exact, &exact->seen_block, bytes);
	if (error)
		return error;
	it->seen = exact->seen_block.memory;
	memset(it->seen, 0, bytes);
	it->first = 0;
	it->end = it->count;
	if (!visit_all(it, VISIT_MARK))
		return EXACT_UNDECIDED;
	drop_refuted(it);
	return it->count ? cover_choices(it) : EXACT_REFUTED;
}

int lm_exact_choose(struct exact *exact)
{
	struct choices it = {
		.exact = exact,
		.ends = exact->rounds->mesh.ends,
		.endpoints = exact->rounds->endpoints,
		.pairs = exact->cover.pairs,
		.words = (exact->cover.pairs + 63) / 64,
	};

	if (it.ends > EXACT_MOST_ENDS)
		return EXACT_UNDECIDED;
	it.all = count_choices(&it);
	return search(&it);
}
