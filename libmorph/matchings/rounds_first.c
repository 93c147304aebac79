// SPDX-License-Identifier: LGPL-2.1-or-later
/* The first legal set of rounds, quickly and with any number of rounds. */
#include "rounds.h"

#define EFFORT (1u << 23) /* arcs to visit for routes alone */

/* The distance of a circuit to list, or 0. For duplex, one of each two. */
static uint32_t listed_distance(const struct rounds *rounds, uint32_t src, uint32_t dst)
{
	if (!lm_rounds_want(rounds, src, dst) ||
	    (rounds->kind == MORPH_MATCHINGS_DUPLEX && src > dst))
		return 0;
	return lm_rounds_distance(rounds, src, dst);
}

/* List all circuits, those of the longest distance first. */
static uint32_t list_circuits(struct rounds *rounds)
{
	uint32_t count = 0, src, dst, distance, longest = 0, shorter, next;

	for (src = 0; src < rounds->endpoints; src++) {
		for (dst = 0; dst < rounds->endpoints; dst++) {
			distance = listed_distance(rounds, src, dst);
			longest = distance > longest ? distance : longest;
		}
	}
	for (distance = longest; distance; distance = shorter) {
		shorter = 0;
		for (src = 0; src < rounds->endpoints; src++) {
			for (dst = 0; dst < rounds->endpoints; dst++) {
				next = listed_distance(rounds, src, dst);
				if (next == distance)
					rounds->waiting[count++] = src << 16 | dst;
				else if (next < distance && next > shorter)
					shorter = next;
			}
		}
	}
	return count;
}

/* Enter the route of a circuit beside those of the loaded round, or find one. Whether it fits. */
static bool add_route(struct rounds *rounds, uint32_t round, uint32_t src, uint32_t dst)
{
	size_t route = round_route(rounds, round, src);

	if (!rounds->counts[route])
		lm_round_find_route(rounds, route, src, dst);
	lm_route_add(&rounds->router, round_turns(rounds, route), rounds->counts[route]);
	return rounds->counts[route] && !rounds->router.clashes;
}

static void remove_route(struct rounds *rounds, uint32_t round, uint32_t src)
{
	size_t route = round_route(rounds, round, src);

	lm_route_remove(&rounds->router, round_turns(rounds, route), rounds->counts[route]);
	rounds->counts[route] = 0;
}

/* Add a circuit to the loaded round if it fits, for duplex with the opposite one. */
static bool add_circuit(struct rounds *rounds, uint32_t round, uint32_t src, uint32_t dst)
{
	bool both = rounds->kind == MORPH_MATCHINGS_DUPLEX;
	uint32_t mate = rounds->kind == MORPH_MATCHINGS_DIRECTED ? rounds->endpoints + dst : dst;
	uint16_t *mates = round_mate(rounds, round);
	struct optics_refusal refusal;

	if (mates[src] != ROUNDS_NONE || mates[mate] != ROUNDS_NONE)
		return false;
	mates[src] = (uint16_t)mate;
	mates[mate] = (uint16_t)src;
	if (add_route(rounds, round, src, dst) && (!both || add_route(rounds, round, dst, src)) &&
	    !(rounds->judge.graph && lm_judge_refuses(&rounds->judge, rounds, round, &refusal)))
		return true;
	remove_route(rounds, round, src);
	if (both)
		remove_route(rounds, round, dst);
	mates[src] = ROUNDS_NONE;
	mates[mate] = ROUNDS_NONE;
	return false;
}

/* Add waiting circuits, except for the first, to a round. Returns how many still wait. */
static uint32_t fill_round(struct rounds *rounds, uint32_t round, uint32_t count)
{
	uint32_t left = 0, i;

	for (i = 1; i < count; i++) {
		if (!add_circuit(rounds, round, rounds->waiting[i] >> 16,
				 rounds->waiting[i] & 0xffff))
			rounds->waiting[left++] = rounds->waiting[i];
	}
	return left;
}

/* What the routes of a circuit must join; for duplex, also those of the opposite one. */
static uint32_t set_requests(struct rounds *rounds, uint32_t round, uint32_t src, uint32_t dst,
			     struct route_request *requests)
{
	requests[0] = lm_round_request(rounds, round_route(rounds, round, src), src, dst);
	if (rounds->kind != MORPH_MATCHINGS_DUPLEX)
		return 1;
	requests[1] = lm_round_request(rounds, round_route(rounds, round, dst), dst, src);
	return 2;
}

/*
 * Add the first waiting circuit to an empty round. Its shortest way may need two states of one
 * element, or leave none for the opposite circuit; then search other routes.
 */
static enum rounds_first add_alone(struct rounds *rounds, uint32_t round)
{
	uint32_t src = rounds->waiting[0] >> 16, dst = rounds->waiting[0] & 0xffff;
	struct route_request requests[ROUTES_ALONE];
	uint32_t count = set_requests(rounds, round, src, dst, requests);
	uint32_t effort = EFFORT / count, longest;

	if (add_circuit(rounds, round, src, dst))
		return FIRST_FOUND;
	longest = lm_route_find_alone(&rounds->router, requests, count, &effort);
	if (!longest && !effort && count > 1) {
		/* The search can be shorter if it begins with the opposite circuit. */
		rounds->waiting[0] = dst << 16 | src;
		set_requests(rounds, round, dst, src, requests);
		effort = EFFORT / count;
		longest = lm_route_find_alone(&rounds->router, requests, count, &effort);
	}
	if (!longest)
		return effort ? FIRST_UNREACHABLE : FIRST_REFUSED;
	if (longest > rounds->router.most_hops)
		return FIRST_REFUSED;
	return add_circuit(rounds, round, src, dst) ? FIRST_FOUND : FIRST_REFUSED;
}

enum rounds_first lm_rounds_first(struct rounds *rounds)
{
	size_t routes = (size_t)rounds->rounds * rounds->endpoints;
	uint32_t count = list_circuits(rounds), round = 0;
	enum rounds_first result = FIRST_FOUND;

	memset(rounds->mate, 0xff,
	       (size_t)rounds->rounds * rounds->vertices * sizeof(*rounds->mate));
	memset(rounds->counts, 0, routes * sizeof(*rounds->counts));
	memset(rounds->router.history, 0, rounds->mesh.elements * sizeof(*rounds->router.history));
	rounds->router.forbid = true;
	while (count && !result) {
		if (round == rounds->rounds) {
			result = FIRST_LACKS_ROUNDS;
			break;
		}
		result = add_alone(rounds, round);
		if (!result)
			count = fill_round(rounds, round, count);
		lm_round_unload(rounds, round);
		rounds->bad[round++] = 0;
	}
	rounds->router.forbid = false;
	if (!result)
		rounds->rounds = round;
	return result;
}

/* Whether routes that lm_route_find() finds one after the other are legal together. */
static bool fit_alone(struct router *router, const struct route_request *requests, uint32_t count)
{
	bool fits = true;
	uint32_t i;

	for (i = 0; i < count; i++) {
		*requests[i].count = lm_route_find(router, &requests[i]);
		lm_route_add(router, requests[i].turns, *requests[i].count);
		fits &= *requests[i].count > 0;
	}
	fits &= !router->clashes;
	for (i = 0; i < count; i++)
		lm_route_remove(router, requests[i].turns, *requests[i].count);
	return fits;
}

/*
 * Whether no route joins a circuit, or no two routes join a duplex pair. Uses a quarter of the
 * effort at most, since the search of another circuit can be shorter.
 */
static bool is_separated(struct rounds *rounds, uint32_t src, uint32_t dst, uint32_t *effort)
{
	struct route_request requests[ROUTES_ALONE];
	uint32_t count = set_requests(rounds, 0, src, dst, requests);
	uint32_t left = *effort / 4 + 1;
	bool separated;

	if (fit_alone(&rounds->router, requests, count))
		return false;
	*effort -= left;
	separated = !lm_route_find_alone(&rounds->router, requests, count, &left) && left;
	*effort += left;
	return separated;
}

bool lm_rounds_find_separated(struct rounds *rounds, uint32_t *src, uint32_t *dst)
{
	uint32_t effort = EFFORT, n = rounds->endpoints, at;
	struct router *router = &rounds->router;
	bool found = false;

	memset(router->history, 0, rounds->mesh.elements * sizeof(*router->history));
	router->forbid = true;
	for (at = 0; at < n * n && effort && !found; at++) {
		*src = at / n;
		*dst = at % n;
		found = lm_rounds_want(rounds, *src, *dst) &&
			is_separated(rounds, *src, *dst, &effort);
	}
	router->forbid = false;
	return found;
}
