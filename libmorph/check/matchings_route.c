// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All routes of one pair; for duplex circuits, all two routes in one round. Each element has one
 * state in a round, also if light passes it twice.
 *
 * A walk is a looser route. It keeps the states and arms of the routes so far, but may pass each
 * other element in any state. A route is given up where no walk leads to its goal.
 */
#include "matchings.h"

#define MOST_TRIES (1ULL << 28)

struct route_walk {
	struct matchings_check *it;
	uint32_t routes; /* number of routes that must be in one round */
	uint32_t begin[2]; /* place where the light of each route enters */
	uint32_t goal[2]; /* receive port of each route */
	uint32_t hops; /* most elements of a route */
	uint32_t *fixed; /* by element: its state on the routes, or ANY_STATE */
	bool *used; /* by place: whether a route enters or leaves an element there */
	uint32_t *distance; /* by place: of the walk from the end of the route, or NONE */
	uint32_t *queue;
	uint64_t tries; /* places that may still be tried */
};

static uint32_t walk_from(struct route_walk *walk, uint32_t route, uint32_t place, uint32_t count);

/* The place where light leaves in a state of its element, or NONE if it cannot have the state. */
static uint32_t pass(const struct route_walk *walk, uint32_t place, uint32_t state)
{
	uint32_t element = place / ELEMENT_PORTS, fixed = walk->fixed[element], other;

	if (walk->used[place] || (fixed != ANY_STATE && fixed != state))
		return NONE;
	other = ck_matchings_joined(walk->it, element, state, place % ELEMENT_PORTS);
	return other == NONE ? NONE : element * ELEMENT_PORTS + other;
}

/* Whether a walk of at most @most elements leads from a place to the goal of a route. */
static bool has_walk(struct route_walk *walk, uint32_t route, uint32_t from, uint32_t most)
{
	size_t places = (size_t)walk->it->elements * ELEMENT_PORTS, count = 0;

	if (from == NONE || from & RECEIVER)
		return from == (RECEIVER | walk->goal[route]);
	memset(walk->distance, 0xff, places * sizeof(*walk->distance));
	walk->distance[from] = 0;
	walk->queue[count++] = from;
	for (size_t at = 0; at < count && walk->tries; at++) {
		uint32_t place = walk->queue[at], far = walk->distance[place];

		if (far == most)
			return false;
		walk->tries--;
		for (uint32_t state = 0;
		     state < ck_matchings_states(walk->it, place / ELEMENT_PORTS); state++) {
			uint32_t left = pass(walk, place, state), next;

			next = left == NONE ? NONE : walk->it->next[left];
			if (next == (RECEIVER | walk->goal[route]))
				return true;
			if (next == NONE || next & RECEIVER || walk->distance[next] != NONE)
				continue;
			walk->distance[next] = far + 1;
			walk->queue[count++] = next;
		}
	}
	return false;
}

/* Whether walks lead on from a place where a route has @count elements, and on later routes. */
static bool has_walks(struct route_walk *walk, uint32_t route, uint32_t place, uint32_t count)
{
	if (count > walk->hops || !has_walk(walk, route, place, walk->hops - count))
		return false;
	for (uint32_t later = route + 1; later < walk->routes; later++)
		if (!has_walk(walk, later, walk->begin[later], walk->hops))
			return false;
	return true;
}

/* Continue through an element in one state. Returns the elements of all routes, or 0. */
static uint32_t walk_through(struct route_walk *walk, uint32_t route, uint32_t place,
			     uint32_t state, uint32_t count)
{
	uint32_t element = place / ELEMENT_PORTS, before = walk->fixed[element], found;
	uint32_t left = pass(walk, place, state);

	if (left == NONE)
		return 0;
	walk->fixed[element] = state;
	walk->used[place] = walk->used[left] = true;
	found = walk_from(walk, route, walk->it->next[left], count + 1);
	walk->fixed[element] = before;
	walk->used[place] = walk->used[left] = false;
	return found;
}

/* Continue where light of a route enters an element or a receive port, after @count elements. */
static uint32_t walk_from(struct route_walk *walk, uint32_t route, uint32_t place, uint32_t count)
{
	uint32_t state, found = 0;

	if (!has_walks(walk, route, place, count))
		return 0;
	if (place & RECEIVER) {
		if (route + 1 == walk->routes)
			return count;
		found = walk_from(walk, route + 1, walk->begin[route + 1], 0);
		return found ? found + count : 0;
	}
	for (state = 0; state < ck_matchings_states(walk->it, place / ELEMENT_PORTS) && !found;
	     state++)
		found = walk_through(walk, route, place, state, count);
	return found;
}

static void set_route(struct route_walk *walk, uint32_t src, uint32_t dst)
{
	walk->begin[walk->routes] = walk->it->entry[walk->it->input->tx[src]];
	walk->goal[walk->routes++] = ck_matchings_rx(walk->it, dst);
}

int ck_matchings_route(struct matchings_check *it, uint64_t *length)
{
	const struct morph_check_matchings_input *input = it->input;
	size_t places = (size_t)it->elements * ELEMENT_PORTS;
	struct route_walk walk = {
		.it = it,
		.hops = input->hops ? input->hops : NONE,
		.tries = input->tries ? input->tries : MOST_TRIES,
	};
	uint32_t found = 0;
	int ret = 0;

	set_route(&walk, input->src, input->dst);
	if (input->kind == MORPH_CHECK_DUPLEX)
		set_route(&walk, input->dst, input->src);
	walk.fixed = malloc((it->elements + 1UL) * sizeof(*walk.fixed));
	walk.used = calloc(places + 1, sizeof(*walk.used));
	walk.distance = malloc((places + 1) * sizeof(*walk.distance));
	walk.queue = malloc((places + 1) * sizeof(*walk.queue));
	if (!walk.fixed || !walk.used || !walk.distance || !walk.queue) {
		ret = ck_wrong(&it->check, ENOMEM, "out of memory");
	} else {
		/* An element has the state that it is stuck in, or none if it failed. */
		memcpy(walk.fixed, it->only, it->elements * sizeof(*walk.fixed));
		found = walk_from(&walk, 0, walk.begin[0], 0);
	}
	free(walk.fixed);
	free(walk.used);
	free(walk.distance);
	free(walk.queue);
	*length = found ? found : UNREACHABLE;
	if (!ret && !found && !walk.tries)
		ret = ck_wrong(&it->check, EBADMSG,
			       "too many routes of endpoints %u and %u to try all", input->src,
			       input->dst);
	return ret;
}
