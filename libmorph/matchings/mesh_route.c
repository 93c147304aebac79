// SPDX-License-Identifier: LGPL-2.1-or-later
/* Routes through a mesh beside the other routes of a round. */
#include "rounds.h"

#define PRICE 16 /* of an element without history or other routes */
#define MOST_PRICE (64 * PRICE)

void lm_route_add(struct router *router, const uint32_t *turns, uint32_t count)
{
	const struct mesh *mesh = router->mesh;
	const struct mesh_turn *turn;
	uint32_t i, element;
	bool before;

	for (i = 0; i < count; i++) {
		turn = &mesh->turn[turns[i]];
		element = mesh_turn_element(mesh, turn);
		before = router_clashes(router, element);
		router->states_used[element] += !router->state_use[turn->state]++;
		router->joins_crowded[element] += router->join_use[turn->join]++ == 1;
		router->clashes += !before && router_clashes(router, element);
	}
}

void lm_route_remove(struct router *router, const uint32_t *turns, uint32_t count)
{
	const struct mesh *mesh = router->mesh;
	const struct mesh_turn *turn;
	uint32_t i, element;
	bool before;

	for (i = 0; i < count; i++) {
		turn = &mesh->turn[turns[i]];
		element = mesh_turn_element(mesh, turn);
		before = router_clashes(router, element);
		router->states_used[element] -= !--router->state_use[turn->state];
		router->joins_crowded[element] -= router->join_use[turn->join]-- == 2;
		router->clashes -= before && !router_clashes(router, element);
	}
}

bool lm_route_clashes(const struct router *router, const uint32_t *turns, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (router_clashes(router,
				   mesh_turn_element(router->mesh, &router->mesh->turn[turns[i]])))
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------ the queue */

struct route_search {
	struct router *router;
	const struct route_request *request;
	uint32_t goal; /* label of the goal */
	uint32_t least; /* cost of bucket 0 */
	uint32_t used; /* entries */
	uint32_t first; /* no bucket before it is filled */
};

/* The last bucket takes all labels that cost more. They lose their order there. */
static void push(struct route_search *search, uint32_t arc, uint32_t cost, uint32_t estimate)
{
	struct router *router = search->router;
	uint32_t bucket = estimate - search->least;

	if (search->used == router->entries_room)
		return;
	if (bucket >= ROUTE_BUCKETS)
		bucket = ROUTE_BUCKETS - 1;
	if (!(router->filled[bucket / 64] >> bucket % 64 & 1)) {
		router->filled[bucket / 64] |= 1ull << bucket % 64;
		router->buckets[bucket] = MESH_NONE;
	}
	router->entries[search->used] = (struct route_entry){
		.arc = arc,
		.cost = cost,
		.after = router->buckets[bucket],
	};
	router->buckets[bucket] = search->used++;
	if (bucket < search->first)
		search->first = bucket;
}

/* Take the last entry of the first filled bucket; MESH_NONE if none is left. */
static uint32_t pop(struct route_search *search)
{
	struct router *router = search->router;
	uint32_t word = search->first / 64, bucket, entry;

	while (word < ROUTE_BUCKETS / 64 && !router->filled[word])
		word++;
	if (word == ROUTE_BUCKETS / 64)
		return MESH_NONE;
	bucket = word * 64 + (uint32_t)__builtin_ctzll(router->filled[word]);
	search->first = bucket;
	entry = router->buckets[bucket];
	router->buckets[bucket] = router->entries[entry].after;
	if (router->buckets[bucket] == MESH_NONE)
		router->filled[word] &= ~(1ull << bucket % 64);
	return entry;
}

/* ------------------------------------------------------------------ the search */

/*
 * How often the arm of a turn is in use, and how many other states of its element are. Hexagons
 * have two states, other elements many.
 */
static uint32_t count_others(const struct router *router, const struct mesh_turn *turn)
{
	uint32_t element = mesh_turn_element(router->mesh, turn);

	return router->join_use[turn->join] + router->states_used[element] -
	       (router->state_use[turn->state] > 0);
}

/* The price of a turn, or 0 if it is forbidden. */
static uint32_t turn_price(const struct router *router, const struct mesh_turn *turn,
			   uint32_t element)
{
	uint32_t others = count_others(router, turn), price;

	if (router->forbid)
		return others ? 0 : PRICE;
	price = (PRICE + router->history[element]) * (PRICE + router->pressure * others) / PRICE;
	return price < MOST_PRICE ? price : MOST_PRICE;
}

static void relax(struct route_search *search, uint32_t arc, uint32_t turn)
{
	struct router *router = search->router;
	const struct mesh *mesh = router->mesh;
	const struct mesh_turn *by = &mesh->turn[turn];
	uint32_t next = mesh->next[by->out], togo = 0, price, cost, steps;
	struct route_label *label;

	if (next == search->request->end) {
		next = search->goal;
	} else {
		if (next >= MESH_END)
			return;
		togo = search->request->togo[next];
		if (togo == MESH_FAR)
			return;
	}
	price = turn_price(router, by, mesh_turn_element(mesh, by));
	if (!price)
		return;
	label = &router->labels[next];
	cost = router->labels[arc].cost + price;
	steps = router->labels[arc].steps + 1;
	if (steps + togo > router->most_hops ||
	    (label->stamp == router->stamp && label->cost <= cost))
		return;
	*label = (struct route_label){
		.stamp = router->stamp,
		.cost = cost,
		.from = arc,
		.turn = turn,
		.steps = steps,
	};
	push(search, next, cost, cost + PRICE * togo);
}

uint32_t lm_route_find(struct router *router, const struct route_request *request)
{
	struct route_search search = {
		.router = router,
		.request = request,
		.goal = router->mesh->arcs,
		.least = PRICE * request->togo[request->enter],
	};
	uint32_t entry, arc, turn, count = 0;

	memset(router->filled, 0, sizeof(router->filled));
	router->stamp++;
	router->labels[request->enter] = (struct route_label){ .stamp = router->stamp };
	push(&search, request->enter, 0, search.least);
	for (;;) {
		entry = pop(&search);
		if (entry == MESH_NONE)
			return 0;
		arc = router->entries[entry].arc;
		if (arc == search.goal)
			break;
		if (router->labels[arc].cost != router->entries[entry].cost)
			continue; /* a cheaper way was found since */
		for (turn = router->mesh->turn_first[arc]; turn < router->mesh->turn_first[arc + 1];
		     turn++)
			relax(&search, arc, turn);
	}
	/* Labels on the way may have become cheaper since, by more elements. */
	for (; arc != request->enter; arc = router->labels[arc].from)
		count++;
	if (count > router->most_hops)
		return 0;
	for (arc = search.goal, entry = count; arc != request->enter;
	     arc = router->labels[arc].from)
		request->turns[--entry] = router->labels[arc].turn;
	return count;
}

/* ------------------------------------------------------------------ routes alone */

/*
 * A search in depth that extends a route by one turn after another, and takes them back. Behind the
 * first route it extends the second one. It goes on only where walks lead to all goals. A walk
 * keeps the states and arms of the routes so far, but can pass any other element in two states.
 */
struct lone_search {
	struct router *router;
	const struct route_request *requests;
	uint32_t requests_count;
	uint32_t slack; /* by which routes can exceed the distances, up to lone_hops */
	uint32_t at; /* number of the present request */
	uint32_t first[ROUTES_ALONE + 1]; /* by request: number of its first turn */
	uint32_t *turns; /* those of all routes */
	uint32_t count; /* of turns */
	uint32_t turn; /* the next one to try */
	uint32_t *effort; /* arcs that are left to visit */
};

/* The most turns of a route. */
static uint32_t lone_limit(const struct lone_search *search, const struct route_request *request)
{
	uint32_t distance = request->togo[request->enter], most = search->router->lone_hops;

	return distance < most && search->slack < most - distance ? distance + search->slack : most;
}

/*
 * Whether a walk of at most @most turns leads from an arc to the goal. Breadth-first search, with
 * labels as marks and the entries as a queue. O(turns).
 */
static bool has_walk(const struct lone_search *search, const struct route_request *request,
		     uint32_t from, uint32_t most)
{
	struct router *router = search->router;
	const struct mesh *mesh = router->mesh;
	struct route_entry *queue = router->entries;
	uint32_t head = 0, tail = 0, turn, next;

	router->stamp++;
	router->labels[from].stamp = router->stamp;
	queue[tail++] = (struct route_entry){ .arc = from };
	for (; head < tail && queue[head].cost < most && *search->effort; head++) {
		(*search->effort)--;
		for (turn = mesh->turn_first[queue[head].arc];
		     turn < mesh->turn_first[queue[head].arc + 1]; turn++) {
			if (count_others(router, &mesh->turn[turn]))
				continue;
			next = mesh->next[mesh->turn[turn].out];
			if (next == request->end)
				return true;
			if (next >= MESH_END || router->labels[next].stamp == router->stamp)
				continue;
			router->labels[next].stamp = router->stamp;
			queue[tail++] =
				(struct route_entry){ .arc = next, .cost = queue[head].cost + 1 };
		}
	}
	return false;
}

/* Whether walks lead to the goals from the present route, which reaches @next, and later ones. */
static bool has_walks(const struct lone_search *search, uint32_t next)
{
	const struct route_request *request = &search->requests[search->at];
	uint32_t used = search->count + 1 - search->first[search->at], i;

	if (next != request->end &&
	    !has_walk(search, request, next, lone_limit(search, request) - used))
		return false;
	for (i = search->at + 1; i < search->requests_count; i++) {
		request = &search->requests[i];
		if (!has_walk(search, request, request->enter, lone_limit(search, request)))
			return false;
	}
	return true;
}

/* Whether the present turn leads to the goal, or to an arc from which the goal is in reach. */
static bool leads_on(const struct lone_search *search)
{
	const struct route_request *request = &search->requests[search->at];
	const struct mesh *mesh = search->router->mesh;
	uint32_t next = mesh->next[mesh->turn[search->turn].out];
	uint32_t left = lone_limit(search, request) + search->first[search->at] - search->count;

	if (next == request->end)
		return left;
	return next < MESH_END && request->togo[next] != MESH_FAR && request->togo[next] < left;
}

/* Extend the route by the next turn if it leads on. Whether all routes are complete. */
static bool extend(struct lone_search *search)
{
	struct router *router = search->router;
	const struct mesh *mesh = router->mesh;
	uint32_t next = mesh->next[mesh->turn[search->turn].out];

	if (!leads_on(search) || count_others(router, &mesh->turn[search->turn])) {
		search->turn++;
		return false;
	}
	search->turns[search->count] = search->turn;
	lm_route_add(router, &search->turns[search->count], 1);
	if (!has_walks(search, next)) {
		lm_route_remove(router, &search->turns[search->count], 1);
		search->turn++;
		return false;
	}
	search->count++;
	if (next == search->requests[search->at].end) {
		search->first[++search->at] = search->count;
		if (search->at == search->requests_count)
			return true;
		next = search->requests[search->at].enter;
	}
	search->turn = mesh->turn_first[next];
	return false;
}

/* The arc at which the next turn of the present route begins. */
static uint32_t lone_arc(const struct lone_search *search)
{
	const struct mesh *mesh = search->router->mesh;

	if (search->count == search->first[search->at])
		return search->requests[search->at].enter;
	return mesh->next[mesh->turn[search->turns[search->count - 1]].out];
}

/* Search routes within the slack. Whether there are some, or the effort is used up. */
static bool search_alone(struct lone_search *search)
{
	const struct mesh *mesh = search->router->mesh;

	search->turn = mesh->turn_first[lone_arc(search)];
	while (*search->effort) {
		if (search->turn < mesh->turn_first[lone_arc(search) + 1]) {
			if (extend(search))
				return true;
		} else if (search->count) {
			search->at -= search->count == search->first[search->at];
			search->turn = search->turns[--search->count];
			lm_route_remove(search->router, &search->turns[search->count], 1);
			search->turn++;
		} else {
			return false;
		}
	}
	return true;
}

/* Write complete routes. Returns the most turns of one. */
static uint32_t write_lone(const struct lone_search *search)
{
	const struct route_request *request;
	uint32_t longest = 0, count, i;

	for (i = 0; i < search->requests_count; i++) {
		request = &search->requests[i];
		count = search->first[i + 1] - search->first[i];
		longest = count > longest ? count : longest;
		if (count > search->router->most_hops)
			continue;
		memcpy(request->turns, &search->turns[search->first[i]],
		       count * sizeof(*request->turns));
		*request->count = count;
	}
	return longest;
}

uint32_t lm_route_find_alone(struct router *router, const struct route_request *requests,
			     uint32_t count, uint32_t *effort)
{
	struct lone_search search = {
		.router = router,
		.requests = requests,
		.requests_count = count,
		.turns = router->lone,
		.effort = effort,
	};
	uint32_t most = 0, i, found;

	for (i = 0; i < count; i++) {
		found = requests[i].togo[requests[i].enter];
		if (found > router->lone_hops)
			return 0;
		if (router->most_hops > found && router->most_hops - found > most)
			most = router->most_hops - found;
	}
	while (search.slack <= router->lone_hops && !search_alone(&search))
		search.slack = search.slack < most || search.slack == router->lone_hops ?
				       search.slack + 1 :
				       router->lone_hops;
	lm_route_remove(router, search.turns, search.count);
	return *effort && search.count ? write_lone(&search) : 0;
}
