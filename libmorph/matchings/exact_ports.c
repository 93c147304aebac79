// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Exact search of ports at which the fewest rounds of pairs cover all of them. An even number n of
 * endpoints needs n-1 rounds, an odd one n rounds.
 *
 * If n is even, each round joins all endpoints. If n is odd, each round leaves one endpoint idle,
 * and each endpoint is idle in one round: it counts as paired with one more endpoint, which has no
 * port. So some matching of all ports must join all ports of a choice among themselves, or all but
 * any one of them.
 *
 * First, choices are refuted where no matching has some pair (n even), or where no matching joins
 * the ports without some port (n odd). For the sets of ports that rounds of the other choices join,
 * the different pairings are listed, and the cover is searched. Choices that a symmetry of the mesh
 * exchanges are searched once.
 */
#include "exact.h"

#define HALF_BITS 12 /* ports of half a mask */
#define HALF_MASKS (1u << HALF_BITS)
#define HALF_PAIRS 6 /* of a matching */
#define BATCH (1u << 23) /* words of pairings that are listed at once */
#define MOST_LISTED 16 /* ports of a set whose pairings are listed */

/* A visit of a matching does this to each set of ports that it joins. */
enum visit {
	VISIT_JOIN, /* set the set's place to 0 */
	VISIT_MARK, /* mark the pairs, if the set is a choice */
	VISIT_LIST, /* list the pairing */
};

/*
 * A choice is a set of ports, a bit each: its mask. A round joins the ports of a set among
 * themselves: those of a choice, or all but one. Tables have an entry for each value of the lower
 * or the upper HALF_BITS bits of a mask.
 */
struct choices {
	struct exact *exact;
	uint32_t ends, endpoints, words, pairs;
	uint32_t joined; /* number of ports of a set */
	uint32_t all; /* number of all choices */
	uint32_t sets; /* number of all sets */
	uint32_t count; /* number of choices that are left */
	enum visit visit;

	uint8_t *bits; /* by value of a half: how many of its bits are set */
	uint32_t *low, *high; /* by value of a half: low + high is the set's number */
	uint32_t *place; /* by set: where the visit writes, or MESH_NONE */
	uint32_t *mask; /* by choice left: the ports */
	uint32_t *symmetry; /* by symmetry, half and value of the half: its image */
	uint32_t symmetries;
	uint64_t *seen; /* by place: the pairs that are marked */
	uint64_t *listed; /* by place: a bit for each pairing, by its number */
	uint32_t pairings, pairing_words; /* of a set */
	uint8_t order[1 << HALF_PAIRS]; /* sets of pairs, by their size */
	uint8_t order_first[HALF_PAIRS + 2]; /* by size */
};

/* ------------------------------------------------------------------ symmetries */

static uint32_t *symmetry_half(const struct choices *it, uint32_t symmetry, uint32_t half)
{
	return &it->symmetry[(size_t)(2 * symmetry + half) * HALF_MASKS];
}

/* Find the symmetries, and the images of half masks. */
static void find_symmetries(struct choices *it)
{
	uint32_t symmetry, half, mask, bit, end;
	uint32_t *images;

	for (symmetry = 1; symmetry < exact_maps(it->exact); symmetry++) {
		if (!lm_exact_is_symmetry(it->exact, symmetry))
			continue;
		for (half = 0; half < 2; half++) {
			images = symmetry_half(it, it->symmetries, half);
			memset(images, 0, HALF_MASKS * sizeof(*images));
			for (bit = 0; bit < HALF_BITS; bit++) {
				end = half * HALF_BITS + bit;
				for (mask = 0; mask < HALF_MASKS && end < it->ends; mask++)
					images[mask] |= (mask >> bit & 1)
							<< exact_image(it->exact, symmetry, end);
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

/* Number all masks with as many bits as a set: by their upper half, then by the lower one. */
static void number_masks(struct choices *it)
{
	uint32_t counts[HALF_BITS + 1] = { 0 }, number = 0, mask;

	for (mask = 0; mask < HALF_MASKS; mask++) {
		it->bits[mask] = (uint8_t)__builtin_popcount(mask);
		it->low[mask] = counts[it->bits[mask]]++;
	}
	for (mask = 0; mask < HALF_MASKS; mask++) {
		it->high[mask] = number;
		if (it->bits[mask] <= it->joined && it->joined - it->bits[mask] <= HALF_BITS)
			number += counts[it->joined - it->bits[mask]];
	}
}

static uint32_t *place_of(const struct choices *it, uint32_t mask)
{
	return &it->place[it->high[mask / HALF_MASKS] + it->low[mask % HALF_MASKS]];
}

static bool is_odd(const struct choices *it)
{
	return it->joined < it->endpoints;
}

/* Whether some matching joins the ports of a choice without any one of them. */
static bool can_idle(const struct choices *it, uint32_t mask)
{
	uint32_t left = mask;

	while (left && *place_of(it, mask & ~(left & -left)) != MESH_NONE)
		left &= left - 1;
	return !left;
}

/* List the choices that are the first of their images, and in which each port can idle. */
static void list_choices(struct choices *it)
{
	uint32_t mask = (1u << it->endpoints) - 1, lowest, carried;

	it->count = 0;
	while (mask < 1u << it->ends) {
		if ((!is_odd(it) || can_idle(it, mask)) && is_first(it, mask))
			it->mask[it->count++] = mask;
		/* The next number with the same number of bits (Gosper, HAKMEM, 1972). */
		lowest = mask & -mask;
		carried = mask + lowest;
		mask = ((mask ^ carried) >> 2) / lowest | carried;
	}
}

static void clear_places(struct choices *it)
{
	memset(it->place, 0xff, it->sets * sizeof(*it->place));
}

/* Keep the choices with marks for all pairs. */
static void drop_refuted(struct choices *it)
{
	uint32_t kept = 0, i, word, marks;

	for (i = 0; i < it->count; i++) {
		for (word = 0, marks = 0; word < it->words; word++)
			marks += (uint32_t)__builtin_popcountll(
				it->seen[(size_t)i * it->words + word]);
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

/* How many ports of a set are below a port. */
static uint32_t count_below(const struct choices *it, uint32_t mask, uint32_t port)
{
	uint32_t below = mask & ((1u << port) - 1);

	return (uint32_t)it->bits[below % HALF_MASKS] + it->bits[below / HALF_MASKS];
}

/* Mark some pairs of a matching. */
static void mark_pairs(const struct choices *it, uint64_t *seen, const struct matching *matching,
		       uint32_t pairs, uint32_t mask)
{
	uint32_t low, high, pair;

	for (; pairs; pairs &= pairs - 1) {
		pair = (uint32_t)__builtin_ctz(pairs);
		low = count_below(it, mask, matching->ports[pair][0]);
		high = count_below(it, mask, matching->ports[pair][1]);
		pair = exact_pair(low, high);
		seen[pair / 64] |= 1ull << pair % 64;
	}
}

/*
 * The number of a pairing. Pairs come in the order of their lower ports, so that the lower port is
 * the first one that is left. The digits count the ports that are left below the upper port.
 */
static uint32_t number_pairing(const struct choices *it, const struct matching *matching,
			       uint32_t pairs, uint32_t mask)
{
	uint32_t number = 0, left = it->joined - 1, high;

	for (; pairs; pairs &= pairs - 1, left -= 2) {
		high = matching->ports[__builtin_ctz(pairs)][1];
		mask &= mask - 1;
		number = number * left + count_below(it, mask, high);
		mask &= ~(1u << high);
	}
	return number;
}

/* Visit the set of ports that some pairs of a matching join. */
static void visit_set(struct choices *it, const struct matching *matching, uint32_t pairs,
		      uint32_t mask)
{
	uint32_t *place = place_of(it, mask), number;

	if (it->visit == VISIT_JOIN) {
		*place = 0;
		return;
	}
	if (*place == MESH_NONE)
		return;
	if (it->visit == VISIT_MARK) {
		mark_pairs(it, &it->seen[(size_t)*place * it->words], matching, pairs, mask);
		return;
	}
	number = number_pairing(it, matching, pairs, mask);
	it->listed[(size_t)*place * it->pairing_words + number / 64] |= 1ull << number % 64;
}

/* Visit the sets of ports that a matching joins. Returns their number. */
static uint32_t visit_matching(struct choices *it, const uint8_t *partner)
{
	uint32_t wanted = it->joined / 2, one, other, size, at, visited = 0;
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
			visit_set(it, &matching, one | other << HALF_PAIRS,
				  matching.masks[0][one] | matching.masks[1][other]);
		}
	}
	return visited;
}

/* Visit all sets of all matchings: 1, or 0 if the budget is spent. */
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

/* Add the pairs of a pairing to a key. Endpoint @idle is none of the set's. */
static void add_pairs(const struct choices *it, uint64_t *key, uint32_t number, uint32_t idle)
{
	uint32_t digits[EXACT_MOST_ENDS / 2] = { 0 }, left = (1u << it->joined) - 1;
	uint32_t low, high, pair, i;

	for (i = it->joined / 2; i > 0; i--) {
		digits[i - 1] = number % (it->joined - 2 * i + 1);
		number /= it->joined - 2 * i + 1;
	}
	for (i = 0; i < it->joined / 2; i++) {
		low = (uint32_t)__builtin_ctz(left);
		left &= left - 1;
		high = left;
		for (pair = digits[i]; pair; pair--)
			high &= high - 1;
		left &= ~(high & -high);
		high = (uint32_t)__builtin_ctz(high);
		pair = exact_pair(low + (low >= idle), high + (high >= idle));
		key[pair / 64] |= 1ull << pair % 64;
	}
}

/* Add the pairings of a set to the candidates. @idle: the endpoint that is none of the set's. */
static int add_pairings(struct choices *it, uint32_t place, uint32_t idle)
{
	const uint64_t *listed = &it->listed[(size_t)place * it->pairing_words];
	struct exact *exact = it->exact;
	uint32_t word, pair = exact_pair(idle, it->endpoints);
	uint64_t key[EXACT_MOST_WORDS], left;
	int result = 0;

	for (word = 0; word < it->pairing_words; word++) {
		for (left = listed[word]; left && result >= 0; left &= left - 1) {
			memset(key, 0, sizeof(key));
			if (is_odd(it))
				key[pair / 64] |= 1ull << pair % 64;
			add_pairs(it, key, 64 * word + (uint32_t)__builtin_ctzll(left), idle);
			result = lm_exact_add(exact, &exact->candidates, key);
		}
	}
	return result < 0 ? result : 0;
}

/* Cover all pairs by the listed pairings of a choice. */
static int cover_choice(struct choices *it, uint32_t mask)
{
	struct exact *exact = it->exact;
	int result = lm_exact_clear(exact, &exact->candidates, it->words);
	uint32_t left, idle = 0;

	if (!is_odd(it)) {
		if (!result)
			result = add_pairings(it, *place_of(it, mask), it->endpoints);
	} else {
		for (left = mask; left && !result; left &= left - 1)
			result = add_pairings(it, *place_of(it, mask & ~(left & -left)), idle++);
	}
	if (result)
		return result;
	if (exact->steps <= exact->candidates.count)
		return EXACT_UNDECIDED;
	exact->steps -= exact->candidates.count;
	return lm_exact_cover(exact, exact->rounds->rounds);
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
 * Give places to the sets of the choices from @first, as long as their pairings have room. Returns
 * the choice behind them.
 */
static uint32_t place_sets(struct choices *it, uint32_t first, uint32_t room)
{
	uint32_t count = 0, left, i;
	uint32_t *place;

	clear_places(it);
	for (i = first; i < it->count && count + it->endpoints <= room; i++) {
		if (!is_odd(it)) {
			*place_of(it, it->mask[i]) = count++;
			continue;
		}
		for (left = it->mask[i]; left; left &= left - 1) {
			place = place_of(it, it->mask[i] & ~(left & -left));
			if (*place == MESH_NONE)
				*place = count++;
		}
	}
	return i;
}

/* List the pairings of the choices from @first to @end, and cover each choice. */
static int cover_batch(struct choices *it, uint32_t first, uint32_t end, uint32_t room)
{
	int result = EXACT_REFUTED;

	memset(it->listed, 0, (size_t)room * it->pairing_words * sizeof(*it->listed));
	if (!visit_all(it, VISIT_LIST))
		return EXACT_UNDECIDED;
	for (; first < end && result == EXACT_REFUTED; first++) {
		result = cover_choice(it, it->mask[first]);
		if (result == EXACT_FOUND)
			set_ports(it->exact->rounds, it->mask[first]);
	}
	return result;
}

static int cover_choices(struct choices *it)
{
	const uint64_t most = (uint64_t)it->count * (is_odd(it) ? it->endpoints : 1);
	uint32_t room = BATCH / it->pairing_words, first, end;
	int result;

	if (!it->count)
		return EXACT_REFUTED;
	if (it->joined > MOST_LISTED)
		return EXACT_UNDECIDED;
	/* place_sets() keeps room for one more choice of an odd number of endpoints. */
	if (room > most + it->endpoints)
		room = (uint32_t)most + it->endpoints;
	if (room < 2 * it->endpoints)
		room = 2 * it->endpoints;
	result = lm_exact_reserve(it->exact, &it->exact->entries_block,
				  (size_t)room * it->pairing_words * sizeof(*it->listed));
	if (result)
		return result;
	it->listed = it->exact->entries_block.memory;
	result = EXACT_REFUTED;
	for (first = 0; first < it->count && result == EXACT_REFUTED; first = end) {
		end = place_sets(it, first, room);
		result = cover_batch(it, first, end, room);
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
		{ &it->place, (size_t)it->sets * sizeof(uint32_t) },
		{ &it->mask, (size_t)it->all * sizeof(uint32_t) },
	};

	return lm_mesh_lay(it->exact->ctx, &it->exact->choice_block, parts, ARRAY_SIZE(parts));
}

/* The number of sets of @size of the ports; at least those of half a mask. */
static uint32_t count_sets(const struct choices *it, uint32_t size)
{
	uint32_t ends = it->ends > HALF_BITS ? it->ends : HALF_BITS, i;
	uint64_t count = 1;

	for (i = 0; i < size; i++)
		count = count * (ends - i) / (i + 1);
	return (uint32_t)count;
}

/* Drop choices in which a pair never meets: EXACT_FOUND if some are left. */
static int drop_unmarked(struct choices *it)
{
	size_t bytes = (size_t)it->count * it->words * sizeof(*it->seen);
	int error = lm_exact_reserve(it->exact, &it->exact->seen_block, bytes);
	uint32_t i;

	if (error)
		return error;
	it->seen = it->exact->seen_block.memory;
	memset(it->seen, 0, bytes);
	for (i = 0; i < it->count; i++)
		*place_of(it, it->mask[i]) = i;
	if (!visit_all(it, VISIT_MARK))
		return EXACT_UNDECIDED;
	drop_refuted(it);
	return EXACT_FOUND;
}

static int search(struct choices *it)
{
	struct exact *exact = it->exact;
	uint64_t sets = (uint64_t)exact->settings + it->all + it->sets;
	int result;

	if (exact->steps <= sets)
		return EXACT_UNDECIDED;
	exact->steps -= sets;
	result = lm_exact_list_matchings(exact);
	if (!result)
		result = lay(it);
	if (result)
		return result;
	order_sets(it);
	number_masks(it);
	find_symmetries(it);
	clear_places(it);
	if (is_odd(it) && !visit_all(it, VISIT_JOIN))
		return EXACT_UNDECIDED;
	list_choices(it);
	result = is_odd(it) ? EXACT_FOUND : drop_unmarked(it);
	return result == EXACT_FOUND ? cover_choices(it) : result;
}

int lm_exact_choose(struct exact *exact)
{
	const uint32_t n = exact->rounds->endpoints, pairs = exact->cover.pairs;
	const uint32_t full = exact->cover.full;
	struct choices it = {
		.exact = exact,
		.ends = exact->rounds->mesh.ends,
		.endpoints = n,
		.joined = n - n % 2,
		.pairs = exact_pair(0, n + n % 2),
	};
	uint32_t left;
	int result;

	if (it.ends > EXACT_MOST_ENDS || it.pairs > EXACT_MOST_PAIRS)
		return EXACT_UNDECIDED;
	it.words = (it.pairs + 63) / 64;
	it.all = count_sets(&it, it.endpoints);
	it.sets = count_sets(&it, it.joined);
	for (it.pairings = 1, left = it.joined; left > 1; left -= 2)
		it.pairings *= left - 1;
	it.pairing_words = (it.pairings + 63) / 64;
	exact->cover.pairs = it.pairs;
	exact->cover.full = (n + 1) / 2;
	result = search(&it);
	exact->cover.pairs = pairs;
	exact->cover.full = full;
	return result;
}
