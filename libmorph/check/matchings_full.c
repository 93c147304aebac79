// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Proofs that no ports have the fewest rounds of pairs that the number of endpoints allows: n-1 for
 * an even number n. Then each round joins all endpoints. For an odd number n, these are n rounds.
 * They join n(n-1)/2 pairs, (n-1)/2 at most each, so each round leaves exactly one endpoint idle.
 * Each endpoint meets n-1 others in n rounds, so it is idle exactly once. The proof counts the idle
 * endpoint of a round as paired with one more endpoint, of number n and without a port.
 */
#include "matchings_exhaust.h"

#define HALF 12U /* bits of half a mask of ports */
#define BATCH (1U << 23) /* words of lists at once */
#define MOST_LISTED 16U /* ports of a group whose lists have room */

/*
 * A choice is a set of ports, a bit each: its mask. A round joins a group of them: all, or all but
 * one. Tables have an entry for each value of the lower or the upper HALF bits of a mask.
 */
struct full {
	struct exhaust *exhaust;
	uint32_t ports, endpoints;
	uint32_t size; /* number of ports of a group */
	uint8_t *bits; /* number of bits set in each value of a half */
	/* The number of a group is low[lower half] + high[upper half]. */
	uint32_t *low, *high;
	uint32_t groups, *place; /* by group: its place in the next arrays, or NONE */
	uint32_t *choices, count; /* masks of the choices that are not refused yet */
	struct key *marks; /* by place: the pairs of ports that meet in some round */
	/* By place, a bit for each way to pair its ports: set if a round has this way. */
	uint64_t *lists;
	uint32_t words; /* of the list of a group */
	struct keys keys; /* of a choice */
};

static bool is_odd(const struct full *full)
{
	return full->size < full->endpoints;
}

static void number_groups(struct full *full)
{
	uint32_t counts[HALF + 1] = { 0 };

	for (uint32_t mask = 0; mask < 1U << HALF; mask++) {
		full->bits[mask] = (uint8_t)__builtin_popcount(mask);
		full->low[mask] = counts[full->bits[mask]]++;
	}
	for (uint32_t mask = 0; mask < 1U << HALF; mask++) {
		uint32_t bits = full->bits[mask];

		full->high[mask] = full->groups;
		if (bits <= full->size && full->size - bits <= HALF)
			full->groups += counts[full->size - bits];
	}
}

static uint32_t *place_of(const struct full *full, uint32_t mask)
{
	return &full->place[full->high[mask >> HALF] + full->low[mask & ((1U << HALF) - 1)]];
}

/* The bits of a mask below a port. */
static uint32_t count_below(const struct full *full, uint32_t mask, uint32_t port)
{
	mask &= (1U << port) - 1;
	return (uint32_t)full->bits[mask >> HALF] + full->bits[mask & ((1U << HALF) - 1)];
}

/* -------------------------------------------------------------------- visits */

/* Pairs of a matching that join a group. */
struct part {
	const uint8_t *partner;
	uint8_t low[MOST_PORTS / 2];
	uint32_t pairs;
};

/* A visit passes on a group, its place, and the pairs of a matching that join it. */
typedef void visit_fn(struct full *full, uint32_t mask, uint32_t *place, const struct part *part);

static void note(struct full *full, uint32_t mask, uint32_t *place, const struct part *part)
{
	(void)full;
	(void)mask;
	(void)part;
	*place = 0;
}

static void mark(struct full *full, uint32_t mask, uint32_t *place, const struct part *part)
{
	if (*place == NONE)
		return;
	for (uint32_t at = 0; at < part->pairs; at++) {
		uint32_t one = part->low[at], other = part->partner[one];
		uint32_t pair = ck_exhaust_pair(count_below(full, mask, one),
						count_below(full, mask, other));

		full->marks[*place].word[pair / 64] |= 1ULL << pair % 64;
	}
}

static void list(struct full *full, uint32_t mask, uint32_t *place, const struct part *part)
{
	uint32_t bit = 0, factor = 1;

	if (*place == NONE)
		return;
	for (uint32_t at = 0; at < part->pairs; at++) {
		uint32_t one = part->low[at], other = part->partner[one];

		/* The lowest port that is left has as many partners as there are other ports. */
		mask ^= 1U << one;
		bit += factor * count_below(full, mask, other);
		factor *= full->size - 2 * at - 1;
		mask ^= 1U << other;
	}
	full->lists[(size_t)*place * full->words + bit / 64] |= 1ULL << bit % 64;
}

/* Extend a group by pairs of the matching, in the order of their lower ports. */
static int visit_groups(struct full *full, struct part *part, uint32_t port, uint32_t mask,
			visit_fn *visit)
{
	int ret = 0;

	if (2 * part->pairs == full->size) {
		visit(full, mask, place_of(full, mask), part);
		return ck_exhaust_spend(full->exhaust, 1);
	}
	for (; port < full->ports && !ret; port++) {
		uint32_t other = part->partner[port];

		if (other == 0xff || other < port)
			continue;
		part->low[part->pairs++] = (uint8_t)port;
		ret = visit_groups(full, part, port + 1, mask | 1U << port | 1U << other, visit);
		part->pairs--;
	}
	return ret;
}

static int visit_all(struct full *full, visit_fn *visit)
{
	const struct keys *matchings = &full->exhaust->matchings;
	int ret = 0;

	for (size_t at = 0; at < matchings->count && !ret; at++) {
		struct part part = { .partner = (const uint8_t *)&matchings->list[at] };

		ret = visit_groups(full, &part, 0, 0, visit);
	}
	return ret;
}

/* -------------------------------------------------------------------- choices */

/* Whether some matching joins the ports of a choice without each one of them. */
static bool can_idle(const struct full *full, uint32_t mask)
{
	for (uint32_t port = 0; mask >> port; port++)
		if (mask >> port & 1 && *place_of(full, mask ^ 1U << port) == NONE)
			return false;
	return true;
}

/* List all choices; for an odd number of endpoints, those in which each one can idle. */
static int list_choices(struct full *full)
{
	uint32_t most = 0;

	for (uint32_t mask = 0; !(mask >> full->ports); mask++) {
		uint32_t bits =
			(uint32_t)full->bits[mask >> HALF] + full->bits[mask & ((1U << HALF) - 1)];

		if (bits != full->endpoints || (is_odd(full) && !can_idle(full, mask)))
			continue;
		if (full->count == most) {
			uint32_t *grown;

			most = most ? 2 * most : 1024;
			grown = realloc(full->choices, most * sizeof(*grown));
			if (!grown)
				return ck_exhaust_wrong_memory(full->exhaust);
			full->choices = grown;
		}
		full->choices[full->count++] = mask;
	}
	return 0;
}

/* Keep the choices in which each pair meets in some matching. */
static int drop_unmarked(struct full *full)
{
	uint32_t kept = 0;
	int ret;

	full->marks = calloc(full->count + 1UL, sizeof(*full->marks));
	if (!full->marks)
		return ck_exhaust_wrong_memory(full->exhaust);
	for (uint32_t at = 0; at < full->count; at++)
		*place_of(full, full->choices[at]) = at;
	ret = visit_all(full, mark);
	for (uint32_t at = 0; at < full->count; at++) {
		uint32_t pairs = 0;

		for (uint32_t word = 0; word < WORDS; word++)
			pairs += (uint32_t)__builtin_popcountll(full->marks[at].word[word]);
		if (pairs == full->exhaust->pairs)
			full->choices[kept++] = full->choices[at];
	}
	full->count = kept;
	return ret;
}

/* -------------------------------------------------------------------- proofs */

/* Add a key for each bit of a group's list, whose ports are @mask without @idle, or all. */
static int add_keys(struct full *full, uint32_t mask, uint32_t idle)
{
	uint32_t group = idle == NONE ? mask : mask ^ 1U << idle;
	const uint64_t *words = &full->lists[(size_t)*place_of(full, group) * full->words];

	for (uint32_t bit = 0; bit < 64 * full->words; bit++) {
		uint32_t left = group, digits = bit, pair;
		struct key key = { { 0 } };

		if (!(words[bit / 64] >> bit % 64 & 1))
			continue;
		for (uint32_t size = full->size; size; size -= 2) {
			uint32_t one = (uint32_t)__builtin_ctz(left), other;

			left &= left - 1;
			for (other = one + 1;
			     !(left >> other & 1) ||
			     count_below(full, left, other) != digits % (size - 1);)
				other++;
			digits /= size - 1;
			left ^= 1U << other;
			pair = ck_exhaust_pair(count_below(full, mask, one),
					       count_below(full, mask, other));
			key.word[pair / 64] |= 1ULL << pair % 64;
		}
		if (idle != NONE) {
			pair = ck_exhaust_pair(count_below(full, mask, idle), full->endpoints);
			key.word[pair / 64] |= 1ULL << pair % 64;
		}
		if (ck_exhaust_reserve(full->exhaust, &full->keys, full->keys.count + 1))
			return -ENOMEM;
		full->keys.list[full->keys.count++] = key;
	}
	return ck_exhaust_spend(full->exhaust, 1);
}

/* No set of rounds out of the lists of a choice joins all pairs. */
static int refute_choice(struct full *full, uint32_t mask)
{
	int ret = 0;

	full->keys.count = 0;
	if (!is_odd(full))
		ret = add_keys(full, mask, NONE);
	for (uint32_t port = 0; is_odd(full) && mask >> port && !ret; port++)
		if (mask >> port & 1)
			ret = add_keys(full, mask, port);
	return ret ? ret : ck_exhaust_refute(full->exhaust, &full->keys);
}

/* Give places to the groups of a choice, from @count on. Returns the number of places. */
static uint32_t place_groups(struct full *full, uint32_t mask, uint32_t count)
{
	if (!is_odd(full)) {
		*place_of(full, mask) = count;
		return count + 1;
	}
	for (uint32_t port = 0; mask >> port; port++) {
		uint32_t *place = place_of(full, mask & ~(1U << port));

		if (mask >> port & 1 && *place == NONE)
			*place = count++;
	}
	return count;
}

static int refute_choices(struct full *full)
{
	uint32_t room = BATCH / full->words, at = 0;
	int ret = 0;

	if (room < 2 * full->endpoints)
		room = 2 * full->endpoints;
	full->lists = malloc((size_t)room * full->words * sizeof(*full->lists));
	if (!full->lists)
		return ck_exhaust_wrong_memory(full->exhaust);
	while (at < full->count && !ret) {
		uint32_t places = 0, end = at;

		memset(full->place, 0xff, full->groups * sizeof(*full->place));
		while (end < full->count && places + full->endpoints <= room)
			places = place_groups(full, full->choices[end++], places);
		memset(full->lists, 0, (size_t)places * full->words * sizeof(*full->lists));
		ret = visit_all(full, list);
		for (; at < end && !ret; at++)
			ret = refute_choice(full, full->choices[at]);
	}
	return ret;
}

static int prove(struct full *full)
{
	int ret = ck_exhaust_list(full->exhaust);

	if (ret)
		return ret;
	full->low = malloc((1U << HALF) * sizeof(*full->low));
	full->high = malloc((1U << HALF) * sizeof(*full->high));
	full->bits = malloc(1U << HALF);
	if (!full->low || !full->high || !full->bits)
		return ck_exhaust_wrong_memory(full->exhaust);
	number_groups(full);
	full->place = malloc((full->groups + 1UL) * sizeof(*full->place));
	if (!full->place)
		return ck_exhaust_wrong_memory(full->exhaust);
	memset(full->place, 0xff, full->groups * sizeof(*full->place));
	if (is_odd(full))
		ret = visit_all(full, note);
	if (!ret)
		ret = list_choices(full);
	if (!ret && !is_odd(full))
		ret = drop_unmarked(full);
	if (ret || !full->count)
		return ret;
	if (full->size > MOST_LISTED)
		return ck_wrong(&full->exhaust->it->check, EBADMSG,
				"%u endpoints have too many pairs to try all settings",
				full->endpoints);
	return refute_choices(full);
}

int ck_exhaust_choose_full(struct exhaust *exhaust)
{
	const uint32_t endpoints = exhaust->it->input->endpoints;
	struct full full = {
		.exhaust = exhaust,
		.ports = exhaust->it->tx_ports,
		.endpoints = endpoints,
		.size = endpoints - endpoints % 2,
	};
	uint32_t bits = 1;
	int ret;

	for (uint32_t left = full.size; left > 1; left -= 2)
		bits *= left - 1;
	full.words = (bits + 63) / 64;
	/* The pairs of all endpoints, with the one without a port. */
	exhaust->pairs = ck_exhaust_pair(0, endpoints + endpoints % 2);
	exhaust->full = (endpoints + 1) / 2;
	ret = prove(&full);
	free(full.bits);
	free(full.low);
	free(full.high);
	free(full.place);
	free(full.choices);
	free(full.marks);
	free(full.lists);
	free(full.keys.list);
	return ret;
}
