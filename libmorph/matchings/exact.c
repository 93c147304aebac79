// SPDX-License-Identifier: LGPL-2.1-or-later
/* Exact search in small fabrics: all settings, and covers of all pairs by them. */
#include "exact.h"

static const char what[] = "search matchings";

/* ------------------------------------------------------------------ memory */

int lm_exact_reserve(struct exact *exact, struct exact_block *block, size_t bytes)
{
	size_t more = block->bytes ? block->bytes : 4096;
	void *grown;

	while (more < bytes)
		more *= 2;
	if (more == block->bytes)
		return 0;
	grown = realloc(block->memory, more);
	if (!grown)
		return lm_no_memory(exact->ctx, "%s", what);
	block->memory = grown;
	block->bytes = more;
	return 0;
}

void lm_exact_free(struct exact *exact)
{
	free(exact->block.memory);
	free(exact->candidates.keys_block.memory);
	free(exact->candidates.slots_block.memory);
	free(exact->setting_block.memory);
	free(exact->cover.live_block.memory);
	free(exact->matchings.keys_block.memory);
	free(exact->matchings.slots_block.memory);
	free(exact->choice_block.memory);
	free(exact->seen_block.memory);
	free(exact->entries_block.memory);
}

/* ------------------------------------------------------------------ sets of keys */

#define FIRST_SLOTS 256

static int set_slots(struct exact *exact, struct exact_set *set, uint32_t count)
{
	int error = lm_exact_reserve(exact, &set->slots_block, count * sizeof(*set->slots));

	if (error)
		return error;
	set->slots = set->slots_block.memory;
	set->slots_count = count;
	memset(set->slots, 0, count * sizeof(*set->slots));
	return 0;
}

int lm_exact_clear(struct exact *exact, struct exact_set *set, uint32_t words)
{
	set->words = words;
	set->count = 0;
	return set_slots(exact, set, FIRST_SLOTS);
}

/* The slot that holds a key, or the empty one where it belongs. */
static uint32_t find_slot(const struct exact_set *set, const uint64_t *key)
{
	const size_t bytes = set->words * sizeof(*key);
	uint64_t hash = 0;
	uint32_t at, word;

	for (word = 0; word < set->words; word++)
		hash = mix(hash ^ key[word]);
	at = (uint32_t)hash & (set->slots_count - 1);
	while (set->slots[at] &&
	       memcmp(&set->keys[(size_t)(set->slots[at] - 1) * set->words], key, bytes))
		at = (at + 1) & (set->slots_count - 1);
	return at;
}

bool lm_exact_has(const struct exact_set *set, const uint64_t *key)
{
	return set->slots[find_slot(set, key)];
}

int lm_exact_add(struct exact *exact, struct exact_set *set, const uint64_t *key)
{
	uint32_t at = find_slot(set, key), i;
	int error;

	if (set->slots[at])
		return 0;
	error = lm_exact_reserve(exact, &set->keys_block,
				 (set->count + 1) * set->words * sizeof(*key));
	if (error)
		return error;
	set->keys = set->keys_block.memory;
	memcpy(&set->keys[(size_t)set->count * set->words], key, set->words * sizeof(*key));
	set->slots[at] = ++set->count;
	if (2 * set->count <= set->slots_count)
		return 1;
	error = set_slots(exact, set, 2 * set->slots_count);
	for (i = 0; i < set->count && !error; i++)
		set->slots[find_slot(set, &set->keys[(size_t)i * set->words])] = i + 1;
	return error ? error : 1;
}

/* ------------------------------------------------------------------ settings */

/* Whether some turn of an element needs a state. */
static bool is_usable(const struct mesh *mesh, uint32_t element, uint32_t state)
{
	uint32_t turn, end = mesh->turn_first[mesh->arc_first[element + 1]];

	for (turn = mesh->turn_first[mesh->arc_first[element]]; turn < end; turn++) {
		if (mesh->turn[turn].state == state)
			return true;
	}
	return false;
}

static uint32_t count_usable(const struct mesh *mesh, uint32_t element)
{
	uint32_t count = 0, state;

	for (state = mesh->state_first[element]; state < mesh->state_first[element + 1]; state++)
		count += is_usable(mesh, element, state);
	return count;
}

bool lm_exact_applies(const struct mesh *mesh)
{
	uint64_t settings = 1;
	uint32_t element, count;

	for (element = 0; element < mesh->elements && settings <= EXACT_MOST_SETTINGS; element++) {
		count = count_usable(mesh, element);
		settings *= count ? count : 1;
	}
	return settings <= EXACT_MOST_SETTINGS;
}

/* A route passes each join of a setting once at most, which has two arcs. */
uint32_t lm_exact_stride(const struct rounds *rounds, uint32_t limit)
{
	uint32_t most = rounds->router.most_hops;

	if (!limit && lm_exact_applies(&rounds->mesh) && rounds->mesh.arcs / 2 > most)
		return rounds->mesh.arcs / 2;
	return most;
}

static int lay(struct exact *exact)
{
	const struct mesh *mesh = &exact->rounds->mesh;
	const struct mesh_part parts[] = {
		{ &exact->usable, mesh->elements * sizeof(uint32_t) },
		{ &exact->state, (size_t)mesh->elements * exact->radix * sizeof(uint32_t) },
		{ &exact->leads, (size_t)mesh->arcs * exact->radix * sizeof(uint32_t) },
		{ &exact->digit, mesh->elements * sizeof(uint32_t) },
		{ &exact->owner, mesh->ends * sizeof(uint32_t) },
		{ &exact->reached, exact->rounds->endpoints * sizeof(uint32_t) },
	};

	return lm_mesh_lay(exact->ctx, &exact->block, parts, ARRAY_SIZE(parts));
}

/* Set where light goes from each arc in each usable state of its element. */
static void set_leads(struct exact *exact)
{
	const struct mesh *mesh = &exact->rounds->mesh;
	uint32_t arc, turn, digit, element;

	memset(exact->leads, 0xff, (size_t)mesh->arcs * exact->radix * sizeof(*exact->leads));
	for (arc = 0; arc < mesh->arcs; arc++) {
		element = mesh->element[arc];
		for (turn = mesh->turn_first[arc]; turn < mesh->turn_first[arc + 1]; turn++) {
			digit = 0;
			while (exact->state[element * exact->radix + digit] !=
			       mesh->turn[turn].state)
				digit++;
			exact->leads[arc * exact->radix + digit] = mesh->next[mesh->turn[turn].out];
		}
	}
}

/* List the usable states of all elements. 0, or a noted -ENOMEM. */
static int set_states(struct exact *exact)
{
	const struct mesh *mesh = &exact->rounds->mesh;
	uint32_t element, state, count;
	int error;

	exact->radix = 1;
	for (element = 0; element < mesh->elements; element++) {
		count = count_usable(mesh, element);
		exact->radix = count > exact->radix ? count : exact->radix;
	}
	error = lay(exact);
	if (error)
		return error;
	exact->settings = 1;
	for (element = 0; element < mesh->elements; element++) {
		exact->usable[element] = 0;
		for (state = mesh->state_first[element]; state < mesh->state_first[element + 1];
		     state++) {
			if (is_usable(mesh, element, state))
				exact->state[element * exact->radix + exact->usable[element]++] =
					state;
		}
		if (!exact->usable[element])
			exact->usable[element] = 1;
		exact->settings *= exact->usable[element];
	}
	set_leads(exact);
	return 0;
}

void lm_exact_begin(struct exact *exact)
{
	memset(exact->digit, 0, exact->rounds->mesh.elements * sizeof(*exact->digit));
}

bool lm_exact_next(struct exact *exact)
{
	uint32_t element;

	for (element = 0; element < exact->rounds->mesh.elements; element++) {
		if (++exact->digit[element] < exact->usable[element])
			return true;
		exact->digit[element] = 0;
	}
	return false;
}

/* Light that enters at an end never comes back to an arc, since each arc has one origin. */
uint32_t lm_exact_follow(const struct exact *exact, uint32_t arc)
{
	const uint32_t *element = exact->rounds->mesh.element;
	uint32_t hops = 0;

	for (; !(arc & MESH_END); hops++)
		arc = exact->leads[arc * exact->radix + exact->digit[element[arc]]];
	if (arc == MESH_NONE || (exact->hops && hops > exact->hops))
		return MESH_NONE;
	return arc & ~MESH_END;
}

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

bool lm_exact_is_symmetry(const struct exact *exact, uint32_t map)
{
	uint32_t ends = exact->rounds->mesh.ends, matching, end;
	uint8_t image[EXACT_MOST_ENDS];
	uint64_t key[EXACT_KEY_WORDS];
	const uint8_t *partner;

	for (matching = 0; matching < exact->matchings.count; matching++) {
		partner = exact_partners(exact, matching);
		memset(image, EXACT_ALONE, sizeof(image));
		for (end = 0; end < ends; end++) {
			if (partner[end] != EXACT_ALONE)
				image[exact_image(exact, map, end)] =
					(uint8_t)exact_image(exact, map, partner[end]);
		}
		memcpy(key, image, sizeof(key));
		if (!lm_exact_has(&exact->matchings, key))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------ given ports */

/* Number the circuits of a round. Returns MESH_NONE for a part of another circuit. */
static uint32_t number_circuit(const struct exact *exact, uint32_t src, uint32_t dst)
{
	uint32_t kind = exact->rounds->kind;

	if (kind == MORPH_MATCHINGS_DIRECTED)
		return src * (exact->rounds->endpoints - 1) + dst - (dst > src);
	if (dst < src || (kind == MORPH_MATCHINGS_DUPLEX && exact->reached[dst] != src))
		return MESH_NONE;
	return exact_pair(src, dst);
}

/* Set where the light of all endpoints arrives in the present setting. */
static void follow_all(struct exact *exact)
{
	const struct rounds *rounds = exact->rounds;
	uint32_t src, end;

	for (src = 0; src < rounds->endpoints; src++) {
		end = lm_exact_follow(exact, rounds->mesh.enter[rounds->tx[src]]);
		exact->reached[src] = end == MESH_NONE ? MESH_NONE : exact->owner[end];
	}
}

int lm_exact_add_reached(struct exact *exact, uint32_t setting, uint32_t least)
{
	uint64_t key[EXACT_MOST_WORDS] = { 0 };
	uint32_t src, dst, number, count = 0;
	int result;

	for (src = 0; src < exact->rounds->endpoints; src++) {
		dst = exact->reached[src];
		if (dst == MESH_NONE || dst == src)
			continue;
		number = number_circuit(exact, src, dst);
		if (number == MESH_NONE)
			continue;
		key[number / 64] |= 1ull << number % 64;
		count++;
	}
	if (count < least)
		return 0;
	result = lm_exact_add(exact, &exact->candidates, key);
	if (result <= 0)
		return result;
	result = lm_exact_reserve(exact, &exact->setting_block,
				  exact->candidates.count * sizeof(*exact->setting));
	if (result)
		return result;
	exact->setting = exact->setting_block.memory;
	exact->setting[exact->candidates.count - 1] = setting;
	return 0;
}

static int collect_candidates(struct exact *exact, uint32_t slack)
{
	const struct rounds *rounds = exact->rounds;
	uint32_t full = exact->cover.full, setting = 0, i;
	int error = lm_exact_clear(exact, &exact->candidates, (exact->cover.pairs + 63) / 64);

	memset(exact->owner, 0xff, rounds->mesh.ends * sizeof(*exact->owner));
	for (i = 0; i < rounds->endpoints; i++)
		exact->owner[rounds->rx[i]] = i;
	lm_exact_begin(exact);
	do {
		if (error)
			break;
		follow_all(exact);
		error = lm_exact_add_reached(exact, setting++, full > slack ? full - slack : 0);
	} while (!error && lm_exact_next(exact));
	return error;
}

/* Write the route of a circuit in the present setting. */
static void write_route(struct exact *exact, uint32_t round, uint32_t src)
{
	struct rounds *rounds = exact->rounds;
	const struct mesh *mesh = &rounds->mesh;
	size_t route = round_route(rounds, round, src);
	uint32_t arc = mesh->enter[rounds->tx[src]], turn, element, state;

	while (!(arc & MESH_END)) {
		element = mesh->element[arc];
		state = exact->state[element * exact->radix + exact->digit[element]];
		turn = mesh->turn_first[arc];
		while (mesh->turn[turn].state != state)
			turn++;
		round_turns(rounds, route)[rounds->counts[route]++] = turn;
		arc = mesh->next[mesh->turn[turn].out];
	}
}

/* Go to a setting by its number. */
static void set_setting(struct exact *exact, uint32_t setting)
{
	uint32_t element;

	for (element = 0; element < exact->rounds->mesh.elements; element++) {
		exact->digit[element] = setting % exact->usable[element];
		setting /= exact->usable[element];
	}
}

/* Write the circuits of a candidate that no earlier round has. Updates the covered ones. */
static void write_round(struct exact *exact, uint32_t round)
{
	struct exact_cover *cover = &exact->cover;
	struct rounds *rounds = exact->rounds;
	uint16_t *mates = round_mate(rounds, round);
	uint32_t src, dst, number;

	set_setting(exact, exact->setting[cover->chosen[round]]);
	follow_all(exact);
	for (src = 0; src < rounds->endpoints; src++) {
		dst = exact->reached[src];
		if (dst == MESH_NONE || dst == src)
			continue;
		number = number_circuit(exact, src, dst);
		if (number == MESH_NONE || cover->covered[number / 64] >> number % 64 & 1)
			continue;
		cover->covered[number / 64] |= 1ull << number % 64;
		write_route(exact, round, src);
		if (rounds->kind == MORPH_MATCHINGS_DUPLEX)
			write_route(exact, round, dst);
		dst += rounds->kind == MORPH_MATCHINGS_DIRECTED ? rounds->endpoints : 0;
		mates[src] = (uint16_t)dst;
		mates[dst] = (uint16_t)src;
	}
	rounds->bad[round] = 0;
}

static void write_rounds(struct exact *exact)
{
	struct rounds *rounds = exact->rounds;
	uint32_t round;

	memset(rounds->mate, 0xff,
	       (size_t)rounds->rounds * rounds->vertices * sizeof(*rounds->mate));
	memset(rounds->counts, 0,
	       (size_t)rounds->rounds * rounds->endpoints * sizeof(*rounds->counts));
	memset(exact->cover.covered, 0, sizeof(exact->cover.covered));
	for (round = 0; round < rounds->rounds; round++)
		write_round(exact, round);
}

/* Cover all pairs at the ports of @rounds. */
static int search_ports(struct exact *exact)
{
	struct exact_cover *cover = &exact->cover;
	struct rounds *rounds = exact->rounds;
	int result;

	if (exact->steps <= exact->settings)
		return EXACT_UNDECIDED;
	exact->steps -= exact->settings;
	result = collect_candidates(exact, rounds->rounds * cover->full - cover->pairs);
	if (!result)
		result = lm_exact_cover_weighed(exact, rounds->rounds);
	if (result == EXACT_FOUND)
		write_rounds(exact);
	return result;
}

static int search(struct exact *exact)
{
	struct rounds *rounds = exact->rounds;
	uint32_t n = rounds->endpoints;
	int result;

	if (!rounds->choose)
		return search_ports(exact);
	if (rounds->kind == MORPH_MATCHINGS_PAIRS && rounds->rounds == (n % 2 ? n : n - 1)) {
		result = lm_exact_choose(exact);
		if (result == EXACT_REFUTED)
			lm_exact_find_separated(exact);
	} else {
		result = lm_exact_choose_any(exact);
	}
	return result == EXACT_FOUND ? search_ports(exact) : result;
}

/* Whether the search applies to the fabric and to these rounds. Sets their pairs. */
static bool applies(struct exact *exact, const struct rounds *rounds)
{
	struct exact_cover *cover = &exact->cover;
	uint32_t n = rounds->endpoints;
	bool directed = rounds->kind == MORPH_MATCHINGS_DIRECTED;

	cover->pairs = directed ? n * (n - 1) : n * (n - 1) / 2;
	cover->full = directed ? n : n / 2;
	return !rounds->targets && cover->pairs <= EXACT_MOST_PAIRS &&
	       rounds->rounds <= EXACT_MOST_ROUNDS && lm_exact_applies(&rounds->mesh);
}

/* Prepare a search with a number of steps. 0, or a noted -ENOMEM. */
static int prepare(struct exact *exact, struct rounds *rounds, uint32_t hops, uint64_t steps)
{
	exact->rounds = rounds;
	exact->hops = hops;
	exact->steps = steps;
	exact->separated = false;
	return set_states(exact);
}

int lm_exact_search(struct exact *exact, struct rounds *rounds, uint32_t hops, uint64_t *steps)
{
	int result;

	if (!applies(exact, rounds))
		return EXACT_UNDECIDED;
	result = prepare(exact, rounds, hops, *steps);
	if (!result)
		result = search(exact);
	*steps = exact->steps;
	return result;
}

int lm_exact_join(struct exact *exact, struct rounds *rounds, uint32_t hops, uint64_t *steps)
{
	int result;

	if (!applies(exact, rounds))
		return EXACT_UNDECIDED;
	result = prepare(exact, rounds, hops, *steps);
	if (!result)
		result = lm_exact_choose_joined(exact);
	*steps = exact->steps;
	return result;
}
