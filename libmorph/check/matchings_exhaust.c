// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Proofs that a number of rounds is too small: all settings of the elements are tried. A setting
 * joins some pairs, and no set of that number of settings joins all pairs. If the search chose the
 * ports, all choices of ports are tried: in matchings_full.c for pairs in the fewest rounds that
 * the number of endpoints allows, in matchings_choose.c for the others.
 */
#include "matchings_exhaust.h"

#define MOST_SETTINGS (1ULL << 22)
#define MOST_TRIES (1ULL << 32)
#define MOST_WEIGHT (1U << 20)

/* Tries for each round of a choice before it gets weights, and steps for each round to get them. */
#define BRIEF 8
#define BALANCE 64

int ck_exhaust_wrong_memory(struct exhaust *exhaust)
{
	return ck_wrong(&exhaust->it->check, ENOMEM, "out of memory");
}

int ck_exhaust_reserve(struct exhaust *exhaust, struct keys *keys, size_t count)
{
	size_t room = keys->room ? keys->room : 64;
	struct key *list;

	while (room < count)
		room *= 2;
	if (room == keys->room)
		return 0;
	list = realloc(keys->list, room * sizeof(*list));
	if (!list) {
		ck_exhaust_wrong_memory(exhaust);
		return -ENOMEM;
	}
	keys->list = list;
	keys->room = room;
	return 0;
}

static int by_words(const void *one, const void *other)
{
	return memcmp(one, other, sizeof(struct key));
}

/* Sort keys and drop those that are equal. Returns how many are left. */
static size_t unite(struct key *list, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(list, count, sizeof(*list), by_words);
	for (size_t at = 0; at < count; at++)
		if (!kept || memcmp(&list[at], &list[kept - 1], sizeof(*list)))
			list[kept++] = list[at];
	return kept;
}

int ck_exhaust_spend(struct exhaust *exhaust, uint64_t tries)
{
	if (exhaust->reserve && tries + exhaust->reserve > exhaust->tries)
		return -EAGAIN;
	if (tries > exhaust->tries)
		return ck_wrong(&exhaust->it->check, EBADMSG,
				"too many tries to prove that %u rounds are too few",
				exhaust->rounds);
	exhaust->tries -= tries;
	return 0;
}

/* -------------------------------------------------------------------- settings */

static bool in_all_states(const struct exhaust *exhaust, uint32_t element)
{
	return exhaust->it->only[element] == ANY_STATE;
}

static int count_settings(struct exhaust *exhaust)
{
	uint64_t settings = 1;

	for (uint32_t element = 0; element < exhaust->it->elements; element++) {
		if (in_all_states(exhaust, element))
			settings *= ck_matchings_states(exhaust->it, element);
		if (settings > MOST_SETTINGS)
			return ck_wrong(&exhaust->it->check, EBADMSG,
					"the elements have too many settings to try all");
	}
	return ck_exhaust_spend(exhaust, settings);
}

static void begin_settings(struct exhaust *exhaust)
{
	for (uint32_t element = 0; element < exhaust->it->elements; element++)
		exhaust->state[element] =
			in_all_states(exhaust, element) ? 0 : exhaust->it->only[element];
}

static bool next_setting(struct exhaust *exhaust)
{
	for (uint32_t element = 0; element < exhaust->it->elements; element++) {
		if (!in_all_states(exhaust, element))
			continue;
		if (++exhaust->state[element] < ck_matchings_states(exhaust->it, element))
			return true;
		exhaust->state[element] = 0;
	}
	return false;
}

/* The receive port at which light from a transmit port arrives, or NONE. */
static uint32_t follow(const struct exhaust *exhaust, uint32_t port)
{
	const struct matchings_check *it = exhaust->it;
	uint32_t at = it->entry[port], hops = 0;

	for (; at != NONE && !(at & RECEIVER); hops++) {
		uint32_t element = at / ELEMENT_PORTS, joined = NONE;

		if (it->only[element] != FAILED)
			joined = ck_matchings_joined(it, element, exhaust->state[element],
						     at % ELEMENT_PORTS);
		at = joined == NONE ? NONE : it->next[element * ELEMENT_PORTS + joined];
	}
	if (at == NONE || (it->input->hops && hops > it->input->hops))
		return NONE;
	return at & ~RECEIVER;
}

/* ---------------------------------------------------------------------- covers */

static uint32_t count_new(const struct key *key, const struct key *met)
{
	uint32_t count = 0;

	for (uint32_t word = 0; word < WORDS; word++)
		count += (uint32_t)__builtin_popcountll(key->word[word] & ~met->word[word]);
	return count;
}

/* The weight of the pairs of a round that have not met. */
static uint64_t weigh_new(const struct exhaust *exhaust, const struct key *key,
			  const struct key *met)
{
	uint64_t sum = 0;

	if (!exhaust->weights)
		return count_new(key, met);
	for (uint32_t word = 0; word < WORDS; word++)
		for (uint64_t bits = key->word[word] & ~met->word[word]; bits; bits &= bits - 1)
			sum += exhaust->weights[64 * word + (uint32_t)__builtin_ctzll(bits)];
	return sum;
}

/* Whether all pairs of a round that have not met are in another round too. */
static bool is_part(const struct key *key, const struct key *other, const struct key *met)
{
	for (uint32_t word = 0; word < WORDS; word++)
		if (key->word[word] & ~met->word[word] & ~other->word[word])
			return false;
	return true;
}

static bool has(const struct key *key, uint32_t pair)
{
	return key->word[pair / 64] >> pair % 64 & 1;
}

/* The pair that has not met and that the fewest of the keys have. */
static uint32_t rarest(const struct exhaust *exhaust, size_t first, size_t count,
		       const struct key *met)
{
	uint32_t counts[MOST_PAIRS] = { 0 }, best = NONE;

	for (size_t at = first; at < first + count; at++)
		for (uint32_t word = 0; word < WORDS; word++)
			for (uint64_t bits = exhaust->live.list[at].word[word]; bits;
			     bits &= bits - 1)
				counts[64 * word + (uint32_t)__builtin_ctzll(bits)]++;
	for (uint32_t pair = 0; pair < exhaust->pairs; pair++)
		if (!has(met, pair) && (best == NONE || counts[pair] < counts[best]))
			best = pair;
	return best;
}

/* Bring the keys that have a pair to the front. Returns their number. */
static size_t bring_front(struct key *keys, size_t count, uint32_t pair)
{
	size_t front = 0;

	for (size_t at = 0; at < count; at++)
		if (has(&keys[at], pair)) {
			struct key key = keys[at];

			keys[at] = keys[front];
			keys[front++] = key;
		}
	return front;
}

static int try_rounds(struct exhaust *exhaust, size_t first, size_t count, struct key met,
		      uint32_t left, uint64_t slack);

/* Try the first key of a list as the next round, then those behind it that still fit. */
static int try_first(struct exhaust *exhaust, size_t first, size_t count, const struct key *met,
		     uint32_t left, uint64_t slack)
{
	struct key chosen = exhaust->live.list[first], all = *met;
	uint64_t lacks = exhaust->heaviest - weigh_new(exhaust, &chosen, met);
	int ret = ck_exhaust_reserve(exhaust, &exhaust->live, first + 2 * count);
	size_t kept = 0;

	if (!ret)
		ret = ck_exhaust_spend(exhaust, count);
	for (uint32_t word = 0; word < WORDS; word++)
		all.word[word] |= chosen.word[word];
	for (size_t from = first + 1; from < first + count && !ret; from++) {
		const struct key *key = &exhaust->live.list[from];

		if (exhaust->heaviest - weigh_new(exhaust, key, &all) + lacks <= slack)
			exhaust->live.list[first + count + kept++] = *key;
	}
	if (!ret)
		ret = try_rounds(exhaust, first + count, kept, all, left - 1, slack - lacks);
	return ret;
}

/* No round has a pair, so it belongs to one endpoint, whose sender and receiver have no other. */
static int try_own(struct exhaust *exhaust, size_t first, size_t count, uint32_t pair,
		   const struct key *met, uint32_t left, uint64_t slack)
{
	bool *sender = &exhaust->own_sender[pair / exhaust->side];
	bool *receiver = &exhaust->own_receiver[pair % exhaust->side];
	uint64_t lacks = exhaust->own_most[pair / exhaust->side] -
			 (exhaust->weights ? exhaust->weights[pair] : 1);
	struct key all = *met;
	size_t kept = 0;
	int ret;

	if (*sender || *receiver || lacks > slack)
		return 0;
	all.word[pair / 64] |= 1ULL << pair % 64;
	ret = ck_exhaust_reserve(exhaust, &exhaust->live, first + 2 * count);
	for (size_t from = first; from < first + count && !ret; from++) {
		const struct key *key = &exhaust->live.list[from];

		if (exhaust->heaviest - weigh_new(exhaust, key, &all) + lacks <= slack)
			exhaust->live.list[first + count + kept++] = *key;
	}
	*sender = *receiver = true;
	if (!ret)
		ret = try_rounds(exhaust, first + count, kept, all, left, slack - lacks);
	*sender = *receiver = false;
	return ret;
}

/*
 * One of the next rounds has the rarest pair: try each key that has it. A key that was tried, or
 * that has no new pair besides those of one that was tried, need not be tried again. All rounds
 * together can lack @slack of their largest weight.
 */
static int try_rounds(struct exhaust *exhaust, size_t first, size_t count, struct key met,
		      uint32_t left, uint64_t slack)
{
	uint32_t pair = rarest(exhaust, first, count, &met);
	int ret = ck_exhaust_spend(exhaust, count + 1);
	size_t front, tried;

	if (pair == NONE)
		return ck_wrong(&exhaust->it->check, EBADMSG, "all pairs can meet in %u rounds",
				exhaust->rounds);
	front = left ? bring_front(exhaust->live.list + first, count, pair) : 0;
	for (size_t at = 0; at < front && !ret; at++) {
		const struct key *keys = exhaust->live.list + first;

		for (tried = 0; tried < at; tried++)
			if (is_part(&keys[at], &keys[tried], &met))
				break;
		if (tried == at)
			ret = try_first(exhaust, first + at, count - at, &met, left, slack);
	}
	if (!ret && exhaust->side)
		ret = try_own(exhaust, first + front, count - front, pair, &met, left, slack);
	return ret;
}

/* Set exhaust->own_most. Returns the most that all pairs weigh that the rounds may miss. */
static uint64_t weigh_own(struct exhaust *exhaust)
{
	uint64_t sum = 0;

	for (uint32_t sender = 0; sender < exhaust->side; sender++) {
		uint64_t most = exhaust->weights ? 0 : 1;

		for (uint32_t at = 0; at < exhaust->side && exhaust->weights; at++)
			if (exhaust->weights[sender * exhaust->side + at] > most)
				most = exhaust->weights[sender * exhaust->side + at];
		exhaust->own_most[sender] = most;
		sum += most;
	}
	return sum;
}

/* Set exhaust->heaviest. Returns the weight of all pairs. */
static uint64_t weigh_all(struct exhaust *exhaust, const struct key *keys, size_t count)
{
	const struct key none = { { 0 } };
	uint64_t sum = 0;

	exhaust->heaviest = exhaust->full;
	if (!exhaust->weights)
		return exhaust->pairs;
	exhaust->heaviest = 0;
	for (size_t at = 0; at < count; at++) {
		uint64_t weight = weigh_new(exhaust, &keys[at], &none);

		if (weight > exhaust->heaviest)
			exhaust->heaviest = weight;
	}
	for (uint32_t pair = 0; pair < exhaust->pairs; pair++)
		sum += exhaust->weights[pair];
	return sum;
}

/* No set of rounds out of these keys joins all pairs. */
static int refute(struct exhaust *exhaust, const struct key *keys, size_t count)
{
	uint64_t sum = weigh_all(exhaust, keys, count), slack;
	struct key met = { { 0 } };
	size_t kept = 0;
	int ret;

	slack = exhaust->rounds * exhaust->heaviest + weigh_own(exhaust);
	if (slack < sum)
		return 0;
	slack -= sum;
	ret = ck_exhaust_reserve(exhaust, &exhaust->live, count);
	for (size_t at = 0; at < count && !ret; at++)
		if (weigh_new(exhaust, &keys[at], &met) + slack >= exhaust->heaviest)
			exhaust->live.list[kept++] = keys[at];
	return ret ? ret : try_rounds(exhaust, 0, kept, met, exhaust->rounds, slack);
}

/* ----------------------------------------------------------------- given ports */

struct key ck_exhaust_met(const struct exhaust *exhaust)
{
	const struct morph_check_matchings_input *input = exhaust->it->input;
	struct key key = { { 0 } };

	for (uint32_t src = 0; src < input->endpoints; src++) {
		uint32_t dst = exhaust->arrival[src], pair;

		if (dst == NONE || dst == src)
			continue;
		if (input->kind == MORPH_CHECK_DIRECTED)
			pair = src * (input->endpoints - 1) + (dst > src ? dst - 1 : dst);
		else if (exhaust->arrival[dst] == src)
			pair = src < dst ? ck_exhaust_pair(src, dst) : ck_exhaust_pair(dst, src);
		else
			continue;
		key.word[pair / 64] |= 1ULL << pair % 64;
	}
	return key;
}

/* Where light of each endpoint arrives in the present setting. */
static void set_arrivals(struct exhaust *exhaust)
{
	const struct morph_check_matchings_input *input = exhaust->it->input;

	for (uint32_t src = 0; src < input->endpoints; src++) {
		uint32_t port = follow(exhaust, input->tx[src]);

		exhaust->arrival[src] = port == NONE ? NONE : exhaust->owner[port];
	}
}

int ck_exhaust_refute(struct exhaust *exhaust, struct keys *keys)
{
	keys->count = unite(keys->list, keys->count);
	return refute(exhaust, keys->list, keys->count);
}

/*
 * Balance the weights of pairs: those of the heaviest round lose a sixteenth, many times. So no
 * round is much heavier than the others in the end. Any weights are good for a proof.
 */
static int balance(struct exhaust *exhaust, const struct keys *keys)
{
	const struct key none = { { 0 } };
	int ret = 0;

	for (uint32_t pair = 0; pair < exhaust->pairs; pair++)
		exhaust->balanced[pair] = MOST_WEIGHT - 1;
	exhaust->weights = exhaust->balanced;
	for (uint32_t time = 0; time < BALANCE * exhaust->rounds && !ret; time++) {
		uint64_t most = 0;
		size_t heaviest = 0;

		for (size_t at = 0; at < keys->count; at++) {
			uint64_t weight = weigh_new(exhaust, &keys->list[at], &none);

			if (weight > most) {
				most = weight;
				heaviest = at;
			}
		}
		for (uint32_t pair = 0; pair < exhaust->pairs && keys->count; pair++)
			if (has(&keys->list[heaviest], pair))
				exhaust->balanced[pair] -= exhaust->balanced[pair] / 16;
		ret = ck_exhaust_spend(exhaust, keys->count);
	}
	return ret;
}

int ck_exhaust_refute_briefly(struct exhaust *exhaust, struct keys *keys)
{
	uint64_t brief = BRIEF * (keys->count + 1UL);
	int ret;

	exhaust->reserve = exhaust->tries > brief ? exhaust->tries - brief : 0;
	ret = ck_exhaust_refute(exhaust, keys);
	exhaust->reserve = 0;
	if (ret != -EAGAIN)
		return ret;
	ret = balance(exhaust, keys);
	if (!ret)
		ret = ck_exhaust_refute(exhaust, keys);
	exhaust->weights = NULL;
	return ret;
}

static int refute_ports(struct exhaust *exhaust)
{
	struct matchings_check *it = exhaust->it;
	struct keys *candidates = &exhaust->candidates;
	int ret = 0;

	memset(exhaust->owner, 0xff, it->rx_ports * sizeof(*exhaust->owner));
	for (uint32_t at = 0; at < it->input->endpoints; at++)
		exhaust->owner[ck_matchings_rx(it, at)] = at;
	begin_settings(exhaust);
	do {
		ret = ck_exhaust_reserve(exhaust, candidates, candidates->count + 1);
		if (ret)
			break;
		set_arrivals(exhaust);
		candidates->list[candidates->count++] = ck_exhaust_met(exhaust);
	} while (next_setting(exhaust));
	return ret ? ret : ck_exhaust_refute(exhaust, candidates);
}

/* -------------------------------------------------------------------- any ports */

int ck_exhaust_list(struct exhaust *exhaust)
{
	struct keys *matchings = &exhaust->matchings;
	int ret;

	begin_settings(exhaust);
	do {
		uint8_t partner[MOST_PORTS];

		memset(partner, 0xff, sizeof(partner));
		for (uint32_t port = 0; port < exhaust->it->tx_ports; port++)
			partner[port] = (uint8_t)follow(exhaust, port);
		ret = ck_exhaust_reserve(exhaust, matchings, matchings->count + 1);
		if (!ret)
			memcpy(&matchings->list[matchings->count++], partner, sizeof(partner));
	} while (!ret && next_setting(exhaust));
	matchings->count = unite(matchings->list, matchings->count);
	return ret;
}

static int refute_choices(struct exhaust *exhaust)
{
	const struct morph_check_matchings_input *input = exhaust->it->input;

	if (exhaust->it->tx_ports > MOST_PORTS)
		return ck_wrong(&exhaust->it->check, EBADMSG,
				"the mesh has too many ports to try all: %u, at most %u",
				exhaust->it->tx_ports, MOST_PORTS);
	if (input->kind == MORPH_CHECK_PAIRS &&
	    exhaust->rounds == input->endpoints - 1 + input->endpoints % 2)
		return ck_exhaust_choose_full(exhaust);
	return ck_exhaust_choose(exhaust);
}

/* ---------------------------------------------------------------------- proofs */

static int use_weights(struct exhaust *exhaust)
{
	const struct morph_check_matchings_input *input = exhaust->it->input;

	if (input->lengths_count != exhaust->pairs)
		return ck_wrong(&exhaust->it->check, EBADMSG, "%llu weights of %u pairs",
				(unsigned long long)input->lengths_count, exhaust->pairs);
	for (uint32_t pair = 0; pair < exhaust->pairs; pair++)
		if (input->lengths[pair] >= MOST_WEIGHT)
			return ck_wrong(&exhaust->it->check, EBADMSG,
					"the weight %u of pair %u is not below %u",
					input->lengths[pair], pair, MOST_WEIGHT);
	exhaust->weights = input->lengths;
	return 0;
}

static int prove(struct exhaust *exhaust)
{
	struct matchings_check *it = exhaust->it;
	int ret;

	if (it->input->targets)
		return ck_wrong(&it->check, EBADMSG,
				"an exhaustive bound does not hold for targets");
	if (exhaust->pairs > MOST_PAIRS)
		return ck_wrong(&it->check, EBADMSG,
				"%u endpoints have too many pairs to try all settings",
				it->input->endpoints);
	if ((uint64_t)exhaust->rounds * exhaust->full < exhaust->pairs)
		return 0;
	exhaust->state = malloc((it->elements + 1UL) * sizeof(*exhaust->state));
	exhaust->owner = malloc((it->rx_ports + 1UL) * sizeof(*exhaust->owner));
	exhaust->arrival = malloc(it->input->endpoints * sizeof(*exhaust->arrival));
	if (!exhaust->state || !exhaust->owner || !exhaust->arrival)
		return ck_exhaust_wrong_memory(exhaust);
	ret = count_settings(exhaust);
	if (!ret && !it->input->ports_chosen && it->input->lengths_count)
		ret = use_weights(exhaust);
	if (ret)
		return ret;
	return it->input->ports_chosen ? refute_choices(exhaust) : refute_ports(exhaust);
}

int ck_matchings_exhaust(struct matchings_check *it)
{
	uint32_t endpoints = it->input->endpoints;
	bool directed = it->input->kind == MORPH_CHECK_DIRECTED;
	struct exhaust exhaust = {
		.it = it,
		.rounds = it->input->bound ? it->input->bound - 1 : 0,
		.pairs = endpoints * (endpoints - 1) / (directed ? 1 : 2),
		.full = directed ? endpoints : endpoints / 2,
		.tries = it->input->tries ? it->input->tries : MOST_TRIES,
	};
	int ret = prove(&exhaust);

	free(exhaust.state);
	free(exhaust.owner);
	free(exhaust.arrival);
	free(exhaust.candidates.list);
	free(exhaust.live.list);
	free(exhaust.matchings.list);
	return ret;
}
