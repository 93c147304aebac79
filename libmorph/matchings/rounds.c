// SPDX-License-Identifier: LGPL-2.1-or-later
/* Divides pairs into rounds, and exchanges circuits until the circuits of each round fit. */
#include "rounds.h"

/* The routes of a round are negotiated in at most this number of passes. */
#define PASSES 8
/* The price of another route at an element in the first pass, in 1/16. */
#define FIRST_PRESSURE 16
/* What a clash adds to the price of its element for later passes, and the limit, in 1/16. */
#define HISTORY 6
#define MOST_HISTORY 1024
/* The first division into rounds is shuffled by this number of exchanges for each round. */
#define SWAPS 50
/*
 * The search of routes begins if at most this number of rounds clash. Exchanges take less time and
 * mend most rounds, so they come first: this number of moves for each round, or half of all moves.
 */
#define LAST_ROUNDS 3
#define LATE_MOVES 16
/* A move pays for this number of arcs that such a search visits. */
#define MOVE_ARCS 16384

/* ------------------------------------------------------------------ one round */

/* Enter the routes of a round into the router, or take them out. */
static void load_round(struct rounds *rounds, uint32_t round)
{
	size_t route = round_route(rounds, round, 0), end = route + rounds->endpoints;

	for (; route < end; route++)
		lm_route_add(&rounds->router, round_turns(rounds, route), rounds->counts[route]);
}

void lm_round_unload(struct rounds *rounds, uint32_t round)
{
	size_t route = round_route(rounds, round, 0), end = route + rounds->endpoints;

	for (; route < end; route++)
		lm_route_remove(&rounds->router, round_turns(rounds, route), rounds->counts[route]);
}

struct route_request lm_round_request(struct rounds *rounds, size_t route, uint32_t src,
				      uint32_t dst)
{
	uint32_t end = rounds->rx[dst];

	return (struct route_request){
		.enter = rounds->mesh.enter[rounds->tx[src]],
		.end = MESH_END | end,
		.togo = rounds->togo + (size_t)rounds->togo_of[end] * rounds->mesh.arcs,
		.turns = round_turns(rounds, route),
		.count = &rounds->counts[route],
	};
}

void lm_round_find_route(struct rounds *rounds, size_t route, uint32_t src, uint32_t dst)
{
	const struct route_request request = lm_round_request(rounds, route, src, dst);

	rounds->counts[route] = lm_route_find(&rounds->router, &request);
}

/* Reroute circuits of a loaded round that have no route or clash. Returns those without a route. */
static uint32_t reroute(struct rounds *rounds, uint32_t round, uint32_t begin)
{
	struct router *router = &rounds->router;
	uint32_t src, dst, i, missing = 0;
	size_t route;

	for (i = 0; i < rounds->endpoints; i++) {
		src = (begin + i) % rounds->endpoints;
		dst = round_target(rounds, round, src);
		route = round_route(rounds, round, src);
		if (dst == ROUNDS_NONE)
			continue;
		if (rounds->counts[route]) {
			if (!lm_route_clashes(router, round_turns(rounds, route),
					      rounds->counts[route]))
				continue;
			lm_route_remove(router, round_turns(rounds, route), rounds->counts[route]);
		}
		lm_round_find_route(rounds, route, src, dst);
		lm_route_add(router, round_turns(rounds, route), rounds->counts[route]);
		missing += !rounds->counts[route];
	}
	return missing;
}

void lm_round_route(struct rounds *rounds, uint32_t round)
{
	struct router *router = &rounds->router;
	uint32_t pass, element, missing = 0;
	struct optics_refusal refusal;

	load_round(rounds, round);
	memset(router->history, 0, rounds->mesh.elements * sizeof(*router->history));
	router->pressure = FIRST_PRESSURE;
	for (pass = 0; pass < PASSES; pass++) {
		missing = reroute(rounds, round, rounds->begin + pass * 7);
		if (!router->clashes && !missing)
			break;
		router->pressure += router->pressure * 3 / 10;
		for (element = 0; element < rounds->mesh.elements; element++) {
			if (router_clashes(router, element) &&
			    router->history[element] < MOST_HISTORY)
				router->history[element] += HISTORY;
		}
	}
	rounds->bad[round] = router->clashes + missing;
	lm_round_unload(rounds, round);
	if (!rounds->bad[round] && rounds->judge.graph)
		rounds->bad[round] = lm_judge_refuses(&rounds->judge, rounds, round, &refusal);
}

/*
 * List what the routes of a loaded round must join: those of the circuits that clash, or of the
 * others. Returns the number of requests, ROUTES_ALONE + 1 if they are more.
 */
static uint32_t add_requests(struct rounds *rounds, uint32_t round, bool clash,
			     struct route_request *requests, uint32_t count)
{
	uint32_t src, dst;
	size_t route;

	for (src = 0; src < rounds->endpoints && count <= ROUTES_ALONE; src++) {
		dst = round_target(rounds, round, src);
		route = round_route(rounds, round, src);
		if (dst == ROUNDS_NONE ||
		    clash != (!rounds->counts[route] ||
			      lm_route_clashes(&rounds->router, round_turns(rounds, route),
					       rounds->counts[route])))
			continue;
		if (count < ROUTES_ALONE)
			requests[count] = lm_round_request(rounds, route, src, dst);
		count++;
	}
	return count;
}

/* Take the routes of requests out of the router, or enter them. */
static void remove_routes(struct router *router, const struct route_request *requests,
			  uint32_t count)
{
	for (; count; count--, requests++)
		lm_route_remove(router, requests->turns, *requests->count);
}

static void add_routes(struct router *router, const struct route_request *requests, uint32_t count)
{
	for (; count; count--, requests++)
		lm_route_add(router, requests->turns, *requests->count);
}

/* Count arcs that a search has visited in moves. */
static void count_arcs(struct rounds *rounds, uint32_t arcs)
{
	rounds->arcs += arcs;
	rounds->moves += rounds->arcs / MOVE_ARCS;
	rounds->arcs %= MOVE_ARCS;
}

/* Search routes for the circuits that clash, then for up to ROUTES_ALONE circuits of the round. */
static bool search_routes(struct rounds *rounds, uint32_t round, uint32_t *effort)
{
	struct router *router = &rounds->router;
	struct route_request requests[ROUTES_ALONE];
	uint32_t clashing = add_requests(rounds, round, true, requests, 0), count;
	bool found;

	if (!clashing || clashing > ROUTES_ALONE)
		return false;
	count = add_requests(rounds, round, false, requests, clashing);
	count = count < ROUTES_ALONE ? count : ROUTES_ALONE;
	remove_routes(router, requests, clashing);
	found = lm_route_find_alone(router, requests, clashing, effort);
	if (!found && *effort && count > clashing) {
		remove_routes(router, requests + clashing, count - clashing);
		found = lm_route_find_alone(router, requests, count, effort);
		add_routes(router, requests + clashing, count - clashing);
	}
	add_routes(router, requests, clashing);
	return found;
}

bool lm_round_search_routes(struct rounds *rounds, uint32_t round)
{
	struct router *router = &rounds->router;
	uint32_t lone_hops = router->lone_hops, effort = MOVE_ARCS;
	struct optics_refusal refusal;
	bool found;

	load_round(rounds, round);
	router->lone_hops = router->most_hops;
	found = search_routes(rounds, round, &effort);
	router->lone_hops = lone_hops;
	lm_round_unload(rounds, round);
	count_arcs(rounds, MOVE_ARCS - effort);
	if (found)
		rounds->bad[round] = rounds->judge.graph &&
				     lm_judge_refuses(&rounds->judge, rounds, round, &refusal);
	return !rounds->bad[round];
}

/* ------------------------------------------------------------------ exchanges */

/*
 * Collect a Kempe chain: the vertices that two rounds connect with @vertex. Returns their number.
 * O(chain).
 */
static uint32_t collect_chain(const struct rounds *rounds, uint32_t one, uint32_t other,
			      uint32_t vertex)
{
	const uint16_t *mates[] = { round_mate(rounds, one), round_mate(rounds, other) };
	uint32_t count = 0, at = vertex, side = 0;

	do {
		rounds->chain[count++] = (uint16_t)at;
		at = mates[side][at];
		side = !side;
	} while (at != ROUNDS_NONE && at != vertex);
	if (at == vertex)
		return count;
	/* A path: follow it in the other direction, too. */
	for (at = mates[1][vertex], side = 0; at != ROUNDS_NONE; side = !side) {
		rounds->chain[count++] = (uint16_t)at;
		at = mates[side][at];
	}
	return count;
}

/* Exchange the circuits of two rounds at the vertices of the chain, with their routes. O(chain). */
static void swap_chain(struct rounds *rounds, uint32_t one, uint32_t other, uint32_t count)
{
	uint16_t *mate = round_mate(rounds, one), *other_mate = round_mate(rounds, other), kept;
	uint32_t *turns, *other_turns, i, j, vertex, hop, most;
	size_t route, other_route;

	for (i = 0; i < count; i++) {
		vertex = rounds->chain[i];
		kept = mate[vertex];
		mate[vertex] = other_mate[vertex];
		other_mate[vertex] = kept;
		if (vertex >= rounds->endpoints)
			continue;
		route = round_route(rounds, one, vertex);
		other_route = round_route(rounds, other, vertex);
		turns = round_turns(rounds, route);
		other_turns = round_turns(rounds, other_route);
		most = rounds->counts[route];
		if (rounds->counts[other_route] > most)
			most = rounds->counts[other_route];
		for (j = 0; j < most; j++) {
			hop = turns[j];
			turns[j] = other_turns[j];
			other_turns[j] = hop;
		}
		hop = rounds->counts[route];
		rounds->counts[route] = rounds->counts[other_route];
		rounds->counts[other_route] = hop;
	}
}

/* Copy a round into a copy, or back. */
static void keep_round(struct rounds *rounds, uint32_t round, uint32_t copy, bool back)
{
	size_t first = round_route(rounds, round, 0), old = (size_t)copy * rounds->endpoints, i;
	uint16_t *mate = round_mate(rounds, round);
	uint16_t *old_mate = rounds->old_mate + (size_t)copy * rounds->vertices;
	size_t bytes = rounds->vertices * sizeof(*mate);
	uint32_t *turns, *old_turns;

	memcpy(back ? mate : old_mate, back ? old_mate : mate, bytes);
	for (i = 0; i < rounds->endpoints; i++) {
		turns = round_turns(rounds, first + i);
		old_turns = rounds->old_hops + (old + i) * rounds->stride;
		if (back) {
			rounds->counts[first + i] = rounds->old_counts[old + i];
			memcpy(turns, old_turns, rounds->counts[first + i] * sizeof(*turns));
		} else {
			rounds->old_counts[old + i] = rounds->counts[first + i];
			memcpy(old_turns, turns, rounds->counts[first + i] * sizeof(*turns));
		}
	}
}

/*
 * Exchange one chain of two rounds and route both. Undo it if the rounds clash more, unless the
 * random number allows it: each further clash halves the chance @bits times.
 */
static void move_chain(struct rounds *rounds, uint32_t one, uint32_t other, uint32_t bits)
{
	uint32_t vertex = mix_below(&rounds->random, rounds->vertices), count, after, worse;
	uint32_t before[] = { rounds->bad[one], rounds->bad[other] };

	count = collect_chain(rounds, one, other, vertex);
	if (count == rounds->vertices)
		return; /* this would only exchange the numbers of the rounds */
	keep_round(rounds, one, COPY_ONE, false);
	keep_round(rounds, other, COPY_OTHER, false);
	swap_chain(rounds, one, other, count);
	lm_round_route(rounds, one);
	lm_round_route(rounds, other);
	after = rounds->bad[one] + rounds->bad[other];
	worse = after > before[0] + before[1] ? (after - before[0] - before[1]) * bits : 0;
	if (!worse || (worse < 32 && !(mix_next(&rounds->random) >> (64 - worse)))) {
		rounds->searched[one] = false;
		rounds->searched[other] = false;
		return;
	}
	keep_round(rounds, one, COPY_ONE, true);
	keep_round(rounds, other, COPY_OTHER, true);
	rounds->bad[one] = before[0];
	rounds->bad[other] = before[1];
}

/* ------------------------------------------------------------------ all rounds */

static void set_mates(struct rounds *rounds, uint32_t round, uint32_t one, uint32_t other)
{
	uint16_t *mate = round_mate(rounds, round);

	mate[one] = (uint16_t)other;
	mate[other] = (uint16_t)one;
}

/* Add the rounds of a tournament of @n players from @first; for odd n, one player rests in each. */
static void colour_circle(struct rounds *rounds, uint32_t round, uint32_t first, uint32_t n)
{
	uint32_t modulus = n % 2 ? n : n - 1, at, i;

	for (at = 0; at < modulus; at++, round++) {
		for (i = 1; i <= (modulus - 1) / 2; i++)
			set_mates(rounds, round, first + (at + i) % modulus,
				  first + (at + modulus - i) % modulus);
		if (modulus < n)
			set_mates(rounds, round, first + at, first + n - 1);
	}
}

/*
 * Divide all pairs into rounds: those between two halves by their difference, and those of each
 * half as in a round-robin tournament. One tournament of all would often be perfect: any two rounds
 * are one chain, and no exchange would change it. Further rounds are empty. Circuits to targets can
 * be in any rounds.
 */
static void colour_pairs(struct rounds *rounds)
{
	uint32_t n = rounds->endpoints, half = n / 2, round, i;

	memset(rounds->mate, 0xff,
	       (size_t)rounds->rounds * rounds->vertices * sizeof(*rounds->mate));
	memset(rounds->counts, 0, (size_t)rounds->rounds * n * sizeof(*rounds->counts));
	if (rounds->targets) {
		for (i = 0; i < n; i++) {
			if (rounds->targets[i] != MORPH_ANY)
				set_mates(rounds, i % rounds->rounds, i, n + rounds->targets[i]);
		}
		return;
	}
	if (rounds->kind == MORPH_MATCHINGS_DIRECTED) {
		for (round = 0; round + 1 < n; round++) {
			for (i = 0; i < n; i++)
				set_mates(rounds, round, i, n + (i + round + 1) % n);
		}
		return;
	}
	if (n % 2) {
		colour_circle(rounds, 0, 0, n);
		return;
	}
	colour_circle(rounds, 0, 0, half);
	colour_circle(rounds, 0, half, half);
	round = half % 2 ? half : half - 1;
	/* In halves of odd size, the two players that rest meet. */
	for (i = 0; i < half && half % 2; i++)
		set_mates(rounds, i, i, half + i);
	for (; round + 1 < n; round++) {
		for (i = 0; i < half; i++)
			set_mates(rounds, round, i, half + (i + round + 1) % half);
	}
}

/* Exchange random chains of random rounds. */
static void shuffle(struct rounds *rounds, uint32_t swaps)
{
	uint32_t one, other, vertex;

	if (rounds->rounds < 2)
		return;
	while (swaps--) {
		one = mix_below(&rounds->random, rounds->rounds);
		other = mix_below(&rounds->random, rounds->rounds - 1);
		other += other >= one;
		vertex = mix_below(&rounds->random, rounds->vertices);
		swap_chain(rounds, one, other, collect_chain(rounds, one, other, vertex));
	}
}

/* The n-th round that clashes. */
static uint32_t bad_round(const struct rounds *rounds, uint32_t n)
{
	uint32_t round = 0;

	for (;; round++) {
		if (rounds->bad[round] && !n--)
			return round;
	}
}

/* Put an endpoint's port elsewhere: its circuits need new routes. */
static void set_port(struct rounds *rounds, uint32_t endpoint, bool receives, uint32_t end)
{
	uint32_t round, src, dst;

	if (receives || rounds->kind == MORPH_MATCHINGS_PAIRS)
		rounds->rx[endpoint] = end;
	if (!receives || rounds->kind == MORPH_MATCHINGS_PAIRS)
		rounds->tx[endpoint] = end;
	for (round = 0; round < rounds->rounds; round++) {
		for (src = 0; src < rounds->endpoints; src++) {
			dst = round_target(rounds, round, src);
			if (src == endpoint || dst == endpoint)
				rounds->counts[round_route(rounds, round, src)] = 0;
		}
	}
}

/* The endpoint that has a port, and whether it receives there; false if none has it. */
static bool find_user(const struct rounds *rounds, uint32_t end, uint32_t *endpoint, bool *receives)
{
	uint32_t i;

	for (i = 0; i < rounds->endpoints; i++) {
		*endpoint = i;
		*receives = rounds->rx[i] == end;
		if (*receives || rounds->tx[i] == end)
			return true;
	}
	return false;
}

/* Exchange the ports at two places of the rim, of which @from has an endpoint. */
static void exchange_ports(struct rounds *rounds, uint32_t from, uint32_t to)
{
	uint32_t endpoint = 0, other = 0;
	bool receives = false, other_receives = false, taken;

	find_user(rounds, from, &endpoint, &receives);
	taken = find_user(rounds, to, &other, &other_receives);
	set_port(rounds, endpoint, receives, to);
	if (taken)
		set_port(rounds, other, other_receives, from);
}

/* Move a port by up to four places along the rim and route all rounds, or undo this. */
static void move_port(struct rounds *rounds, uint32_t bits)
{
	uint32_t endpoint = mix_below(&rounds->random, rounds->endpoints);
	uint32_t shift = mix_below(&rounds->random, 8), round, from, to;
	uint32_t before = 0, after = 0, worse;

	from = mix_next(&rounds->random) >> 63 ? rounds->rx[endpoint] : rounds->tx[endpoint];
	to = (from + rounds->mesh.ends + shift - 4 + (shift >= 4)) % rounds->mesh.ends;
	for (round = 0; round < rounds->rounds; round++) {
		keep_round(rounds, round, COPY_ONE + round, false);
		rounds->old_bad[round] = rounds->bad[round];
		before += rounds->bad[round];
	}
	exchange_ports(rounds, from, to);
	for (round = 0; round < rounds->rounds; round++) {
		lm_round_route(rounds, round);
		after += rounds->bad[round];
	}
	worse = after > before ? (after - before) * bits : 0;
	if (!worse || (worse < 32 && !(mix_next(&rounds->random) >> (64 - worse)))) {
		memset(rounds->searched, 0, rounds->rounds * sizeof(*rounds->searched));
		return;
	}
	exchange_ports(rounds, to, from);
	for (round = 0; round < rounds->rounds; round++) {
		keep_round(rounds, round, COPY_ONE + round, true);
		rounds->bad[round] = rounds->old_bad[round];
	}
}

/* Route the only round again, in a random order of its circuits. */
static void route_again(struct rounds *rounds)
{
	memset(rounds->counts, 0, rounds->endpoints * sizeof(*rounds->counts));
	rounds->begin = mix_below(&rounds->random, rounds->endpoints);
	lm_round_route(rounds, 0);
	rounds->begin = 0;
	rounds->searched[0] = false;
}

/*
 * Search the routes of the last rounds that clash, unless they are the same as in the last search.
 * Returns the number of rounds that still clash.
 */
static uint32_t mend_last(struct rounds *rounds, uint32_t count)
{
	uint32_t round;

	for (round = 0; round < rounds->rounds; round++) {
		if (!rounds->bad[round] || rounds->searched[round])
			continue;
		rounds->searched[round] = true;
		count -= lm_round_search_routes(rounds, round);
	}
	return count;
}

/* Exchange circuits of rounds that clash until all fit, in at most @moves moves. */
static bool mend(struct rounds *rounds, uint64_t moves)
{
	const uint64_t begin = rounds->moves;
	uint32_t round, one, other, count, bits, exchanges;
	uint64_t move, late = moves / 2;

	if (late > (uint64_t)LATE_MOVES * rounds->rounds)
		late = (uint64_t)LATE_MOVES * rounds->rounds;
	memset(rounds->searched, 0, rounds->rounds * sizeof(*rounds->searched));
	for (exchanges = 0;; exchanges++) {
		count = 0;
		for (round = 0; round < rounds->rounds; round++)
			count += rounds->bad[round] > 0;
		if (rounds->large && count <= LAST_ROUNDS && rounds->moves - begin >= late)
			count = mend_last(rounds, count);
		if (!count)
			return true;
		move = rounds->moves - begin;
		if (move >= moves)
			return false;
		rounds->moves++;
		if (rounds->rounds < 2) {
			route_again(rounds);
			continue;
		}
		bits = 1 + (uint32_t)(move * 4 / moves);
		if (rounds->choose && exchanges % (4 * rounds->rounds) == 4 * rounds->rounds - 1) {
			move_port(rounds, bits);
			continue;
		}
		one = bad_round(rounds, mix_below(&rounds->random, count));
		other = mix_below(&rounds->random, rounds->rounds - 1);
		other += other >= one;
		move_chain(rounds, one, other, bits);
	}
}

bool lm_rounds_search(struct rounds *rounds, uint64_t moves)
{
	uint32_t round;

	colour_pairs(rounds);
	shuffle(rounds, SWAPS * rounds->rounds);
	for (round = 0; round < rounds->rounds; round++)
		lm_round_route(rounds, round);
	return mend(rounds, moves);
}

bool lm_rounds_limit(struct rounds *rounds, uint64_t moves)
{
	uint32_t round, src;
	size_t route;
	bool longer;

	for (round = 0; round < rounds->rounds; round++) {
		longer = false;
		for (src = 0; src < rounds->endpoints; src++) {
			route = round_route(rounds, round, src);
			if (rounds->counts[route] <= rounds->router.most_hops)
				continue;
			rounds->counts[route] = 0;
			longer = true;
		}
		if (longer)
			lm_round_route(rounds, round);
	}
	return mend(rounds, moves);
}

/* ------------------------------------------------------------------ improvement */

/* Elements on all routes of a round, and on its longest one. */
static uint32_t round_total(const struct rounds *rounds, uint32_t round, uint32_t *longest)
{
	const uint32_t *counts = &rounds->counts[round_route(rounds, round, 0)];
	uint32_t total = 0, i;

	for (i = 0; i < rounds->endpoints; i++) {
		total += counts[i];
		if (counts[i] > *longest)
			*longest = counts[i];
	}
	return total;
}

uint32_t lm_rounds_total(const struct rounds *rounds)
{
	uint32_t round, longest = 0, total = 0;

	for (round = 0; round < rounds->rounds; round++)
		total += round_total(rounds, round, &longest);
	return total;
}

uint32_t lm_rounds_longest(const struct rounds *rounds)
{
	uint32_t round, longest = 0;

	for (round = 0; round < rounds->rounds; round++)
		round_total(rounds, round, &longest);
	return longest;
}

/* Replace each route of a round by the shortest one that the others leave free. Stays legal. */
static void shorten(struct rounds *rounds, uint32_t round)
{
	struct router *router = &rounds->router;
	struct optics_refusal refusal;
	uint32_t src, dst, old;
	uint32_t *turns;
	size_t route;

	keep_round(rounds, round, COPY_UNSHORTENED, false);
	load_round(rounds, round);
	router->forbid = true;
	for (src = 0; src < rounds->endpoints; src++) {
		dst = round_target(rounds, round, src);
		if (dst == ROUNDS_NONE)
			continue;
		route = round_route(rounds, round, src);
		old = rounds->counts[route];
		if (old == lm_rounds_distance(rounds, src, dst))
			continue;
		turns = round_turns(rounds, route);
		lm_route_remove(router, turns, old);
		memcpy(rounds->old_hops, turns, old * sizeof(*turns));
		lm_round_find_route(rounds, route, src, dst);
		lm_route_add(router, turns, rounds->counts[route]);
		if (rounds->counts[route] && rounds->counts[route] < old && !router->clashes)
			continue;
		lm_route_remove(router, turns, rounds->counts[route]);
		memcpy(turns, rounds->old_hops, old * sizeof(*turns));
		rounds->counts[route] = old;
		lm_route_add(router, turns, old);
	}
	router->forbid = false;
	lm_round_unload(rounds, round);
	if (rounds->judge.graph && lm_judge_refuses(&rounds->judge, rounds, round, &refusal))
		keep_round(rounds, round, COPY_UNSHORTENED, true);
}

/*
 * Exchange a chain of two legal rounds; undo it unless the rounds stay legal and get no longer.
 * Returns the number of elements that this saves.
 */
static uint32_t shorten_chain(struct rounds *rounds, uint32_t one, uint32_t other, uint32_t vertex)
{
	uint32_t count, after, longest = 0;
	uint32_t before = round_total(rounds, one, &longest) + round_total(rounds, other, &longest);

	count = collect_chain(rounds, one, other, vertex);
	if (count == rounds->vertices)
		return 0;
	keep_round(rounds, one, COPY_ONE, false);
	keep_round(rounds, other, COPY_OTHER, false);
	swap_chain(rounds, one, other, count);
	lm_round_route(rounds, one);
	if (!rounds->bad[one])
		lm_round_route(rounds, other);
	if (!rounds->bad[one] && !rounds->bad[other]) {
		shorten(rounds, one);
		shorten(rounds, other);
		after = round_total(rounds, one, &longest) + round_total(rounds, other, &longest);
		if (after <= before)
			return before - after;
	}
	keep_round(rounds, one, COPY_ONE, true);
	keep_round(rounds, other, COPY_OTHER, true);
	rounds->bad[one] = 0;
	rounds->bad[other] = 0;
	return 0;
}

/* Whether the route of a circuit is longer than the shortest one that exists. */
static bool is_detour(const struct rounds *rounds, uint32_t round, uint32_t src)
{
	uint32_t dst = round_target(rounds, round, src);

	return dst != ROUNDS_NONE && rounds->counts[round_route(rounds, round, src)] >
					     lm_rounds_distance(rounds, src, dst);
}

/* The first circuit with a detour from a random one on: its round, and @src. */
static uint32_t find_detour(struct rounds *rounds, uint32_t *src)
{
	uint32_t round = mix_below(&rounds->random, rounds->rounds);
	uint32_t begin = mix_below(&rounds->random, rounds->endpoints), i, j;

	for (i = 0; i < rounds->rounds; i++) {
		for (j = 0; j < rounds->endpoints; j++) {
			*src = (begin + j) % rounds->endpoints;
			if (is_detour(rounds, round, *src))
				return round;
		}
		round = (round + 1) % rounds->rounds;
	}
	return MESH_NONE;
}

void lm_rounds_shorten(struct rounds *rounds, uint64_t enough, uint64_t moves)
{
	uint32_t round, one, other, src, total;

	for (round = 0; round < rounds->rounds; round++)
		shorten(rounds, round);
	total = lm_rounds_total(rounds);
	for (; moves && rounds->rounds > 1 && total > enough; moves--) {
		one = find_detour(rounds, &src);
		if (one == MESH_NONE)
			break;
		rounds->moves++;
		other = mix_below(&rounds->random, rounds->rounds - 1);
		other += other >= one;
		total -= shorten_chain(rounds, one, other, src);
	}
}
