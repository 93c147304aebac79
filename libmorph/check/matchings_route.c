// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All routes of one pair. Each element on a route has one state, also if light passes it twice. A
 * route is not continued where no walk leads to the goal: a walk keeps the states of the elements
 * on the route, and can pass the other elements in any of their states.
 */
#include "matchings.h"

#define MOST_TRIES (1ULL << 28)

struct route_walk {
	struct matchings_check *it;
	uint32_t goal; /* a receive port */
	uint32_t hops; /* limit of the elements of a route */
	uint32_t *fixed; /* by element: its state on this route, or ANY_STATE */
	uint32_t *distance; /* by place: of the walk from the end of this route, or NONE */
	uint32_t *queue;
	uint64_t tries; /* places that may still be tried */
};

static uint32_t walk_from(struct route_walk *walk, uint32_t place, uint32_t count);

/* Where light goes from a place in a state of its element, or NONE if it cannot have the state. */
static uint32_t pass(const struct route_walk *walk, uint32_t place, uint32_t state)
{
	uint32_t element = place / ELEMENT_PORTS, fixed = walk->fixed[element], other;

	if (fixed != ANY_STATE && fixed != state)
		return NONE;
	other = ck_matchings_joined(walk->it, element, state, place % ELEMENT_PORTS);
	return other == NONE ? NONE : walk->it->next[element * ELEMENT_PORTS + other];
}

/* Whether a walk of at most @most elements leads from a place to the goal. */
static bool has_walk(struct route_walk *walk, uint32_t from, uint32_t most)
{
	size_t places = (size_t)walk->it->elements * ELEMENT_PORTS, count = 0;

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
			uint32_t next = pass(walk, place, state);

			if (next == (RECEIVER | walk->goal))
				return true;
			if (next == NONE || next & RECEIVER || walk->distance[next] != NONE)
				continue;
			walk->distance[next] = far + 1;
			walk->queue[count++] = next;
		}
	}
	return false;
}

/* Continue through an element in one state. Returns the elements of a route to the goal, or 0. */
static uint32_t walk_through(struct route_walk *walk, uint32_t place, uint32_t state,
			     uint32_t count)
{
	uint32_t element = place / ELEMENT_PORTS, before = walk->fixed[element], found;
	uint32_t next = pass(walk, place, state);

	if (next == NONE)
		return 0;
	walk->fixed[element] = state;
	found = walk_from(walk, next, count + 1);
	walk->fixed[element] = before;
	return found;
}

/* Continue where light enters an element or a receive port, after @count elements. */
static uint32_t walk_from(struct route_walk *walk, uint32_t place, uint32_t count)
{
	uint32_t state, found = 0;

	if (place & RECEIVER)
		return (place & ~RECEIVER) == walk->goal ? count : 0;
	if (count >= walk->hops || !has_walk(walk, place, walk->hops - count))
		return 0;
	for (state = 0; state < ck_matchings_states(walk->it, place / ELEMENT_PORTS) && !found;
	     state++)
		found = walk_through(walk, place, state, count);
	return found;
}

int ck_matchings_route(struct matchings_check *it, uint64_t *length)
{
	const struct morph_check_matchings_input *input = it->input;
	size_t places = (size_t)it->elements * ELEMENT_PORTS;
	struct route_walk walk = {
		.it = it,
		.goal = ck_matchings_rx(it, input->dst),
		.hops = input->hops ? input->hops : NONE,
		.tries = input->tries ? input->tries : MOST_TRIES,
	};
	uint32_t found = 0;
	int ret = 0;

	walk.fixed = malloc((it->elements + 1UL) * sizeof(*walk.fixed));
	walk.distance = malloc((places + 1) * sizeof(*walk.distance));
	walk.queue = malloc((places + 1) * sizeof(*walk.queue));
	if (!walk.fixed || !walk.distance || !walk.queue) {
		ret = ck_wrong(&it->check, ENOMEM, "out of memory");
	} else {
		/* An element has the state that it is stuck in, or none if it failed. */
		memcpy(walk.fixed, it->only, it->elements * sizeof(*walk.fixed));
		found = walk_from(&walk, it->entry[input->tx[input->src]], 0);
	}
	free(walk.fixed);
	free(walk.distance);
	free(walk.queue);
	*length = found ? found : UNREACHABLE;
	if (!ret && !found && !walk.tries)
		ret = ck_wrong(&it->check, EBADMSG,
			       "too many routes of endpoints %u and %u to try all", input->src,
			       input->dst);
	return ret;
}
