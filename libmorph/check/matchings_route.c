// SPDX-License-Identifier: LGPL-2.1-or-later
/* All routes of one pair. Each element on a route has one state, also if light passes it twice. */
#include "matchings.h"

#define MOST_STEPS (1u << 22)

struct route_walk {
	struct matchings_check *it;
	uint32_t goal; /* a receive port */
	uint32_t *fixed; /* by element: its state on this route, or ANY_STATE */
	uint32_t steps;
};

static uint32_t walk_from(struct route_walk *walk, uint32_t place, uint32_t count);

/* Continue through an element in one state. Returns the elements of a route to the goal, or 0. */
static uint32_t walk_through(struct route_walk *walk, uint32_t place, uint32_t state,
			     uint32_t count)
{
	uint32_t element = place / ELEMENT_PORTS, before = walk->fixed[element], found = 0;
	uint32_t other = ck_matchings_joined(walk->it, element, state, place % ELEMENT_PORTS);

	if (other == NONE || (before != ANY_STATE && before != state) ||
	    (walk->it->only[element] != ANY_STATE && walk->it->only[element] != state))
		return 0;
	walk->fixed[element] = state;
	found = walk_from(walk, walk->it->next[element * ELEMENT_PORTS + other], count + 1);
	walk->fixed[element] = before;
	return found;
}

/* Continue where light enters an element or a receive port, after @count elements. */
static uint32_t walk_from(struct route_walk *walk, uint32_t place, uint32_t count)
{
	uint32_t state, found = 0;

	if (place == NONE)
		return 0;
	if (place & RECEIVER)
		return (place & ~RECEIVER) == walk->goal ? count : 0;
	if (count == walk->it->input->hops || walk->steps++ >= MOST_STEPS)
		return 0;
	for (state = 0; state < ck_matchings_states(walk->it, place / ELEMENT_PORTS) && !found;
	     state++)
		found = walk_through(walk, place, state, count);
	return found;
}

int ck_matchings_route(struct matchings_check *it, uint64_t *length)
{
	struct route_walk walk = { .it = it, .goal = ck_matchings_rx(it, it->input->dst) };
	uint32_t element, found;

	walk.fixed = malloc((it->elements + 1) * sizeof(*walk.fixed));
	if (!walk.fixed)
		return ck_wrong(&it->check, ENOMEM, "out of memory");
	for (element = 0; element < it->elements; element++)
		walk.fixed[element] = ANY_STATE;
	found = walk_from(&walk, it->entry[it->input->tx[it->input->src]], 0);
	free(walk.fixed);
	*length = found ? found : UNREACHABLE;
	if (!found && walk.steps > MOST_STEPS)
		return ck_wrong(&it->check, EBADMSG,
				"too many routes of up to %u elements to try all", it->input->hops);
	return 0;
}
