// SPDX-License-Identifier: GPL-2.0-only
/*
 * Routes and their claims in the ledger. Callers hold fabric->lock.
 *
 * During a replacement, both the old and the new route must stay claimed. The new route claims
 * first. The old route then becomes a shadow: it claims the rest of its path, so that no other
 * change can take it before publication or rollback.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"

/* The links follow the hops in memory. */
static size_t links_at(u32 capacity)
{
	return ALIGN(struct_size((struct morph_route *)NULL, hops, capacity), sizeof(u64));
}

size_t morph_route_bytes(u32 capacity)
{
	return size_add(links_at(capacity), array_size(capacity, sizeof(struct morph_link)));
}

/* @route: zeroed memory, or NULL. */
static struct morph_route *init_route(struct morph_route *route, u32 capacity)
{
	u32 i;

	if (!route)
		return NULL;
	route->links = (void *)route + links_at(capacity);
	for (i = 0; i < capacity; i++) {
		INIT_HLIST_NODE(&route->links[i].node);
		route->links[i].route = route;
	}
	route->capacity = capacity;
	route->path.hops = route->hops;
	return route;
}

struct morph_route *morph_route_alloc(u32 capacity, gfp_t gfp)
{
	return init_route(kzalloc(morph_route_bytes(capacity), gfp), capacity);
}

struct morph_route *morph_route_take(u32 capacity, struct morph_stash *stash)
{
	return init_route(morph_stash_zalloc(stash, morph_route_bytes(capacity)), capacity);
}

struct morph_route *morph_route_place(struct morph_chunk *chunk, u32 capacity)
{
	struct morph_route *route;

	route = init_route(morph_chunk_take(chunk, morph_route_bytes(capacity)), capacity);
	if (route)
		route->chunk = chunk;
	return route;
}

/*
 * A move allocates one route and drops another one, usually of the same length. The slice keeps the
 * last dropped route, which is on no list, for the next allocation.
 */
struct morph_route *morph_route_reuse(struct morph_slice *slice, u32 capacity)
{
	struct morph_route *route = slice->idle_route;

	lockdep_assert_held(&slice->fabric->lock);
	if (!route || route->capacity < capacity)
		return NULL;
	slice->idle_route = NULL;
	memset(route, 0, offsetof(struct morph_route, capacity));
	route->path.hops = route->hops;
	return route;
}

void morph_route_keep(struct morph_slice *slice, struct morph_route *route)
{
	lockdep_assert_held(&slice->fabric->lock);
	morph_route_unlist(route);
	morph_route_free(slice->idle_route);
	slice->idle_route = route;
}

void morph_route_free(struct morph_route *route)
{
	if (!route)
		return;
	WARN_ON_ONCE(route->role != MORPH_ROUTE_IDLE && route->role != MORPH_ROUTE_PROTECTION);
	if (route->user)
		morph_user_uncharge(route->user, MORPH_RES_BYTES,
				    morph_route_bytes(route->capacity));
	if (route->chunk)
		morph_chunk_put(route->chunk);
	else
		kfree(route);
}

/* The edge that a route ends at, in the form of a circuit's end, or OPTICS_NONE. */
static u32 edge_end(const struct morph_fabric *fabric, const struct morph_route *route)
{
	if (morph_route_leaves(fabric, route))
		return route->path.rx;
	return morph_route_comes_in(fabric, route) ? route->path.tx : OPTICS_NONE;
}

/* An edge belongs to a slice while circuits of the slice use it. */
static void own_edge_in(struct morph_fabric *fabric, struct optics_state *state,
			const struct morph_route *route)
{
	u32 end = edge_end(fabric, route);

	if (end != OPTICS_NONE)
		state->owner[optics_end_place(fabric->graph, end)] =
			state->tx_lanes[end] | state->rx_lanes[end] ? route->owner : 0;
}

static void own_edge(struct morph_fabric *fabric, const struct morph_route *route)
{
	own_edge_in(fabric, ledger_of(fabric)->state, route);
}

/* Return -EBUSY if the edge of a route belongs to another slice. */
static int check_edge(struct morph_fabric *fabric, const struct optics_state *state,
		      const struct morph_route *route, struct optics_refusal *why)
{
	u32 end = edge_end(fabric, route), owner;

	if (end == OPTICS_NONE)
		return 0;
	owner = state->owner[optics_end_place(fabric->graph, end)];
	if (!owner || owner == route->owner)
		return 0;
	*why = (struct optics_refusal){
		.reason = OPTICS_PORT_BUSY,
		.part = OPTICS_PART_EDGE,
		.index = end - fabric->graph->ports_count,
		.item = OPTICS_NONE,
	};
	return -EBUSY;
}

int morph_route_claim(struct morph_fabric *fabric, struct morph_route *route,
		      struct optics_refusal *why)
{
	int ret;

	lockdep_assert_held(&fabric->lock);
	ret = check_edge(fabric, ledger_of(fabric)->state, route, why);
	if (!ret)
		ret = optics_claim(ledger_of(fabric)->state, &route->path, why);
	if (ret)
		return ret;
	route->role = MORPH_ROUTE_LIVE;
	ledger_of(fabric)->ownerless += !route->owner;
	ledger_of(fabric)->light_seq++;
	own_edge(fabric, route);
	return 0;
}

void morph_route_reclaim(struct morph_fabric *fabric, struct morph_route *route)
{
	lockdep_assert_held(&fabric->lock);
	optics_claim_again(ledger_of(fabric)->state, &route->path);
	own_edge(fabric, route);
	route->role = MORPH_ROUTE_LIVE;
	ledger_of(fabric)->ownerless += !route->owner;
	ledger_of(fabric)->light_seq++;
}

void morph_route_shadow(struct morph_fabric *fabric, struct morph_route *route)
{
	struct optics_state *ledger = ledger_of(fabric)->state;
	const struct optics_path *path = &route->path;
	const struct optics_hop *hop = route->hops, *end = hop + path->hops_count;
	struct morph_link *link = route->links;
	u64 lanes = path->lanes, taken = 0;
	bool pinned = false;

	lockdep_assert_held(&fabric->lock);
	route->tx_held = path->lanes & ~ledger->tx_lanes[path->tx];
	route->rx_held = path->lanes & ~ledger->rx_lanes[path->rx];
	ledger->tx_lanes[path->tx] |= route->tx_held;
	ledger->rx_lanes[path->rx] |= route->rx_held;
	own_edge(fabric, route);
	taken |= lanes & ~(route->tx_held & route->rx_held);
	for (; hop < end; hop++, link++) {
		u64 *guide = &ledger->guide_lanes[hop->guide >> 1];
		u32 element = hop->element;

		link->lanes_held = lanes & ~*guide;
		taken |= lanes & *guide;
		*guide |= lanes;
		link->element_held = false;
		if (element == OPTICS_NONE)
			continue;
		if (ledger->element_pins[element] && ledger->element_state[element] != hop->state) {
			pinned = true;
			continue;
		}
		link->element_held = true;
		if (!ledger->element_pins[element]++)
			optics_set_state(ledger, element, hop->state);
	}
	route->whole = !taken && !pinned;
	route->role = MORPH_ROUTE_SHADOW;
	ledger_of(fabric)->marks_seq++;
}

/* Also park elements that no other claim pins. */
static void release_shadow(struct optics_state *ledger, struct morph_route *route)
{
	const struct optics_path *path = &route->path;
	const struct optics_hop *hop = route->hops, *end = hop + path->hops_count;
	struct morph_link *link = route->links;

	ledger->tx_lanes[path->tx] &= ~route->tx_held;
	ledger->rx_lanes[path->rx] &= ~route->rx_held;
	for (; hop < end; hop++, link++) {
		ledger->guide_lanes[hop->guide >> 1] &= ~link->lanes_held;
		if (hop->element == OPTICS_NONE)
			continue;
		if (link->element_marked)
			ledger->element_marks[hop->element] &= ~OPTICS_HELD;
		link->element_marked = false;
		ledger->element_pins[hop->element] -= link->element_held;
		if (!ledger->element_pins[hop->element])
			optics_park(ledger, hop->element);
	}
}

void morph_path_park(struct morph_fabric *fabric, const struct optics_path *path)
{
	struct optics_state *ledger = ledger_of(fabric)->state;
	u32 i;

	for (i = 0; i < path->hops_count; i++) {
		u32 element = path->hops[i].element;

		if (element != OPTICS_NONE && !ledger->element_pins[element])
			optics_park(ledger, element);
	}
}

void morph_path_unclaim(struct morph_fabric *fabric, const struct optics_path *path)
{
	lockdep_assert_held(&fabric->lock);
	optics_release_parked(ledger_of(fabric)->state, path);
}

int morph_route_try(struct morph_fabric *fabric, const struct morph_route *route,
		    struct optics_refusal *why)
{
	int ret = check_edge(fabric, ledger_of(fabric)->state, route, why);

	lockdep_assert_held(&fabric->lock);
	return ret ? ret : optics_claim(ledger_of(fabric)->state, &route->path, why);
}

void morph_route_try_again(struct morph_fabric *fabric, const struct morph_route *route)
{
	lockdep_assert_held(&fabric->lock);
	optics_claim_again(ledger_of(fabric)->state, &route->path);
}

void morph_route_try_end(struct morph_fabric *fabric, const struct morph_route *route)
{
	morph_path_unclaim(fabric, &route->path);
}

int morph_route_draft(struct morph_fabric *fabric, const struct morph_draft *draft,
		      const struct morph_route *route, struct optics_refusal *why)
{
	int ret = check_edge(fabric, draft->state, route, why);

	if (!ret)
		ret = optics_claim(draft->state, &route->path, why);
	if (!ret)
		own_edge_in(fabric, draft->state, route);
	return ret;
}

/* The elements of a shadow are free for other paths of its transaction. */
void morph_route_undraft(struct morph_fabric *fabric, const struct morph_draft *draft,
			 struct morph_route *route)
{
	u32 i;

	if (route->role == MORPH_ROUTE_LIVE) {
		optics_release_parked(draft->state, &route->path);
	} else if (route->role == MORPH_ROUTE_SHADOW) {
		release_shadow(draft->state, route);
		for (i = 0; i < route->path.hops_count; i++)
			if (route->hops[i].element != OPTICS_NONE)
				draft->state->element_marks[route->hops[i].element] &=
					~MORPH_MARK_CHANGING;
	}
	own_edge_in(fabric, draft->state, route);
}

void morph_route_release(struct morph_fabric *fabric, struct morph_route *route)
{
	lockdep_assert_held(&fabric->lock);
	if (route->role == MORPH_ROUTE_LIVE) {
		optics_release_parked(ledger_of(fabric)->state, &route->path);
		ledger_of(fabric)->ownerless -= !route->owner;
	} else if (route->role == MORPH_ROUTE_SHADOW || route->role == MORPH_ROUTE_HELD) {
		release_shadow(ledger_of(fabric)->state, route);
	} else {
		return;
	}
	own_edge(fabric, route);
	route->role = MORPH_ROUTE_IDLE;
	ledger_of(fabric)->light_seq++;
}

u32 morph_route_hold(struct morph_fabric *fabric, struct morph_route *route)
{
	u64 lanes;
	u32 i;

	morph_route_shadow(fabric, route);
	lanes = route->tx_held | route->rx_held;
	for (i = 0; i < route->path.hops_count; i++) {
		struct morph_link *link = &route->links[i];
		u32 element = route->hops[i].element;
		u8 *marks;

		lanes |= link->lanes_held;
		if (element == OPTICS_NONE || link->element_held)
			continue;
		/* The slice itself pins it in another state, and no other slice does. */
		marks = &ledger_of(fabric)->state->element_marks[element];
		link->element_marked = !(*marks & OPTICS_HELD);
		*marks |= OPTICS_HELD;
	}
	route->role = MORPH_ROUTE_HELD;
	return optics_weight64(lanes);
}

void morph_route_unhold(struct morph_fabric *fabric, struct morph_route *route)
{
	if (route->role != MORPH_ROUTE_HELD)
		return;
	morph_route_release(fabric, route);
	route->role = MORPH_ROUTE_PROTECTION;
}

void morph_route_list(struct morph_fabric *fabric, struct morph_route *route)
{
	struct hlist_head *lists = ledger_of(fabric)->guide_routes;
	const struct optics_hop *hop = route->hops;
	struct morph_link *link = route->links;
	const struct morph_link *end = link + route->path.hops_count;

	lockdep_assert_held(&fabric->lock);
	for (; link < end; link++, hop++)
		hlist_add_head(&link->node, &lists[hop->guide >> 1]);
}

void morph_route_unlist(struct morph_route *route)
{
	struct morph_link *link = route->links;
	const struct morph_link *end = link + route->capacity;

	for (; link < end; link++)
		hlist_del_init(&link->node);
}

bool morph_route_is_healthy(struct morph_fabric *fabric, const struct morph_route *route)
{
	const struct optics_state *ledger = ledger_of(fabric)->state;
	u32 h;

	lockdep_assert_held(&fabric->lock);
	/* Nearly always. health.c counts every mark and every dead lane that the loop looks for. */
	if (!ledger_of(fabric)->impaired)
		return true;
	for (h = 0; h < route->path.hops_count; h++) {
		u32 element = route->hops[h].element;

		if (ledger->guide_marks[route->hops[h].guide >> 1] & OPTICS_UNHEALTHY)
			return false;
		if (element != OPTICS_NONE && ledger->element_marks[element] & OPTICS_UNHEALTHY)
			return false;
	}
	return !(route->path.lanes &
		 (ledger->tx_dead[route->path.tx] | ledger->rx_dead[route->path.rx]));
}
