// SPDX-License-Identifier: GPL-2.0-only
/* Path search for a change: by the kernel's router, or along the caller's guides. */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"

/* The state in which the path is searched. */
static struct optics_state *state_of(const struct morph_path_request *request)
{
	if (request->draft)
		return request->draft->state;
	return ledger_of(request->slice->fabric)->state;
}

/*
 * The planes that a change may use at one end. A port with some failed lanes is likely to lose the
 * others. Therefore, if the kernel may choose, it takes ports without failed lanes if there are
 * any. @all: a search over these has found no path.
 */
static u64 planes_mask(struct morph_fabric *fabric, u32 accelerator, u16 plane, const u64 *dead,
		       bool all)
{
	u32 planes = fabric->graph->params.planes, i;
	u64 sound = 0;

	if (accelerator & OPTICS_EDGE)
		return 0;
	if (plane != MORPH_PLANE_ANY)
		return BIT_ULL(plane);
	for (i = 0; i < planes && !all; i++)
		if (!dead[accelerator * planes + i])
			sound |= BIT_ULL(i);
	if (sound)
		return sound;
	return planes == 64 ? ~0ULL : BIT_ULL(planes) - 1;
}

static u32 lanes_wanted(const struct morph_change *change)
{
	if (change->lanes_count)
		return change->lanes_count;
	return change->lanes ? optics_weight64(change->lanes) : 1;
}

static void set_planes(const struct morph_path_request *request,
		       struct optics_route_request *search, bool all)
{
	struct morph_fabric *fabric = request->slice->fabric;
	const struct morph_change *change = request->change;

	search->tx_planes = planes_mask(fabric, request->src, change->src_plane,
					state_of(request)->tx_dead, all);
	search->rx_planes = planes_mask(fabric, request->dst, change->dst_plane,
					state_of(request)->rx_dead, all);
}

static int search_draft(struct morph_fabric *fabric, struct morph_draft *draft,
			const struct optics_route_request *search, struct optics_path *path,
			struct optics_refusal *why)
{
	u32 steps = 0;
	int ret;

	ret = optics_route_start(draft->state, search, draft->work, why);
	if (ret)
		return ret;
	while ((ret = optics_route_continue(draft->work, MORPH_HOLD_EFFORT, path, &steps, why)) ==
	       OPTICS_MORE)
		cond_resched();
	atomic64_add(steps, &fabric->stats[MORPH_STAT_ROUTE_STEPS]);
	return ret;
}

static int run_search(const struct morph_path_request *request,
		      const struct optics_route_request *search, u32 effort,
		      struct optics_path *path, struct optics_refusal *why)
{
	struct morph_fabric *fabric = request->slice->fabric;

	if (request->draft)
		return search_draft(fabric, request->draft, search, path, why);
	return morph_path_search_run(fabric, request->search, search, effort, path, why);
}

/*
 * Search over ports without failed lanes, and then over all ports. A second search that pauses gets
 * no more time in this hold.
 */
static int route_by_search(const struct morph_path_request *request,
			   struct optics_path *path, struct optics_refusal *why)
{
	struct morph_fabric *fabric = request->slice->fabric;
	const struct morph_change *change = request->change;
	struct morph_path_search *kept = request->search;
	bool all = kept && kept->running && kept->all_planes;
	struct optics_route_request first, search = {
		.tx_accelerator = request->src,
		.rx_accelerator = request->dst,
		.lanes_allowed = change->lanes ? change->lanes : fabric->graph->all_lanes,
		.lanes_count = lanes_wanted(change),
		.owner = request->slice->number,
		.transit_own = request->slice->transit == MORPH_TRANSIT_OWN,
		.steps = MORPH_ROUTE_STEPS,
	};
	int ret;

	set_planes(request, &search, all);
	ret = run_search(request, &search, request->effort, path, why);
	if (kept)
		kept->all_planes = all;
	if (!ret || ret == -EINPROGRESS || all)
		return ret;
	first = search;
	set_planes(request, &search, true);
	if (search.tx_planes == first.tx_planes && search.rx_planes == first.rx_planes)
		return ret;
	if (kept)
		kept->all_planes = true;
	return run_search(request, &search, min(request->effort, 1u), path, why);
}

/* The search has met several ledgers, so its failure is that of none of them. */
static int refuse_stale(u32 steps, struct optics_refusal *why)
{
	*why = (struct optics_refusal){
		.reason = OPTICS_GAVE_UP,
		.part = OPTICS_PART_NONE,
		.index = OPTICS_NONE,
		.item = OPTICS_NONE,
		.have = steps,
		.need = MORPH_ROUTE_STEPS,
	};
	return -EAGAIN;
}

int morph_path_search_run(struct morph_fabric *fabric, struct morph_path_search *search,
			  const struct optics_route_request *request, u32 effort,
			  struct optics_path *path, struct optics_refusal *why)
{
	struct morph_path_search one_hold = { .work = ledger_of(fabric)->route_work };
	struct morph_path_search *kept = search ?: &one_hold;
	u32 steps;
	int ret = 0;

	lockdep_assert_held(&fabric->lock);
	if (!kept->running) {
		kept->steps = 0;
		kept->stale = false;
		ret = optics_route_start(ledger_of(fabric)->state, request, kept->work, why);
	}
	if (ret)
		return ret;
	ret = optics_route_continue(kept->work, effort, path, &steps, why);
	atomic64_add(steps - kept->steps, &fabric->stats[MORPH_STAT_ROUTE_STEPS]);
	kept->steps = steps;
	kept->running = ret == OPTICS_MORE;
	if (kept->running)
		return -EINPROGRESS;
	return ret && kept->stale ? refuse_stale(steps, why) : ret;
}

void morph_path_search_pause(struct morph_fabric *fabric, struct morph_path_search *search)
{
	lockdep_assert_held(&fabric->lock);
	search->seq = morph_ledger_seq(fabric);
}

void morph_path_search_resume(struct morph_fabric *fabric, struct morph_path_search *search)
{
	lockdep_assert_held(&fabric->lock);
	if (!search->running || search->seq == morph_ledger_seq(fabric))
		return;
	if (search->restarts++ < MORPH_MOST_RESTARTS)
		search->running = false;
	else
		search->stale = true;
}

int morph_path_search_alloc(struct morph_path_search *search, struct morph_user *user,
			    struct morph_refusal *refusal)
{
	gfp_t gfp = user && !refusal ? MORPH_GFP_REPAIR : GFP_KERNEL_ACCOUNT;
	size_t bytes = optics_route_bytes(MORPH_ROUTE_STEPS);
	int ret = 0;

	if (user && refusal)
		ret = morph_user_charge(user, MORPH_RES_BYTES, bytes, refusal);
	else if (user)
		morph_user_charge_anyway(user, MORPH_RES_BYTES, bytes);
	if (ret)
		return ret;
	search->work = kvmalloc(bytes, gfp);
	if (!search->work) {
		if (user)
			morph_user_uncharge(user, MORPH_RES_BYTES, bytes);
		return -ENOMEM;
	}
	search->bytes = bytes;
	search->user = user;
	search->running = false;
	return 0;
}

void morph_path_search_free(struct morph_path_search *search)
{
	if (!search->work)
		return;
	if (search->user)
		morph_user_uncharge(search->user, MORPH_RES_BYTES, search->bytes);
	kvfree(search->work);
	search->work = NULL;
}

/* The state of an element that joins two ports: the present state, if it joins them. */
static u32 joining_state(const struct optics_state *ledger, u32 element, u8 from, u8 to)
{
	const struct optics_graph *graph = ledger->graph;
	const struct optics_kind *kind = &graph->kinds[graph->elements[element].kind];
	const struct morph_profile_state *states = &graph->states[kind->first_state];
	u32 state = ledger->element_state[element];

	if (states[state].joins[from] == to)
		return state;
	for (state = 0; state < kind->states; state++)
		if (states[state].joins[from] == to)
			return state;
	return OPTICS_NONE;
}

static int bad_guide(struct optics_refusal *why, u32 guide, u32 position)
{
	*why = (struct optics_refusal){
		.reason = OPTICS_BAD_PATH,
		.part = OPTICS_PART_GUIDE,
		.index = guide,
		.item = OPTICS_NONE,
		.have = position,
	};
	return -EINVAL;
}

/* The start of the first guide: a transmitter of the sending accelerator, or an edge. */
static int first_guide(const struct morph_path_request *request, struct optics_path *path,
		       u32 *code, struct optics_refusal *why)
{
	const struct optics_graph *graph = request->slice->fabric->graph;
	bool edge = request->src & OPTICS_EDGE;
	u32 planes = edge ? 1 : graph->params.planes;
	u32 plane;

	for (plane = 0; plane < planes; plane++) {
		u32 port = edge ? optics_edge_end(graph, request->src & ~OPTICS_EDGE) :
				  request->src * planes + plane;

		if (request->change->src_plane != MORPH_PLANE_ANY &&
		    request->change->src_plane != plane)
			continue;
		if (graph->tx_guide[port] >> 1 != request->guides[0])
			continue;
		*code = graph->tx_guide[port];
		path->tx = port;
		return 0;
	}
	return bad_guide(why, request->guides[0], 0);
}

/* The lowest lanes that are free at both ports and along the whole path. */
static int choose_lanes(const struct morph_path_request *request, struct optics_path *path,
			struct optics_refusal *why)
{
	const struct optics_state *ledger = state_of(request);
	const struct optics_hop *hop = path->hops, *end = hop + path->hops_count;
	u32 need = lanes_wanted(request->change);
	u64 lanes = request->change->lanes;

	if (!lanes)
		lanes = request->slice->fabric->graph->all_lanes;
	lanes &= ~(ledger->tx_lanes[path->tx] | ledger->tx_dead[path->tx]);
	lanes &= ~(ledger->rx_lanes[path->rx] | ledger->rx_dead[path->rx]);
	for (; hop < end; hop++)
		lanes &= ~optics_guide_taken(ledger, hop->guide >> 1);
	if (optics_weight64(lanes) < need) {
		*why = (struct optics_refusal){
			.reason = OPTICS_LANES,
			.part = OPTICS_PART_GUIDE,
			.index = path->hops[0].guide >> 1,
			.item = OPTICS_NONE,
			.have = optics_weight64(lanes),
			.need = need,
		};
		return -ENOSPC;
	}
	path->lanes = 0;
	while (need--) {
		path->lanes |= lanes & -lanes;
		lanes &= lanes - 1;
	}
	return 0;
}

/* Return whether the last guide ends at the destination. */
static bool arrives(const struct morph_path_request *request, const struct optics_end *end)
{
	if (end->type == MORPH_END_EDGE)
		return request->dst == (OPTICS_EDGE | end->index);
	return end->type == MORPH_END_RX && end->index == request->dst &&
	       (request->change->dst_plane == MORPH_PLANE_ANY ||
		request->change->dst_plane == end->port);
}

static inline bool is_at_element(const struct optics_end *end, u32 element)
{
	return end->type == MORPH_END_ELEMENT && end->index == element;
}

static int route_by_guides(const struct morph_path_request *request,
			   struct optics_path *path, struct optics_refusal *why)
{
	const struct optics_graph *graph = request->slice->fabric->graph;
	u32 count = request->change->guides.count;
	struct optics_hop *hop = path->hops;
	const struct optics_end *end;
	u32 code, i, next;
	int ret;

	ret = first_guide(request, path, &code, why);
	if (ret)
		return ret;
	path->hops_count = count;
	for (i = 1;; i++, hop++) {
		const struct optics_end *near;

		hop->guide = code;
		end = &graph->guides[code >> 1].end[!(code & 1)];
		if (i >= count)
			break;
		next = request->guides[i];
		if (end->type != MORPH_END_ELEMENT || next >= graph->guides_count)
			return bad_guide(why, request->guides[i - 1], i - 1);
		code = next * 2;
		near = &graph->guides[next].end[0];
		if (!is_at_element(near, end->index)) {
			code++;
			near++;
		}
		if (!is_at_element(near, end->index))
			return bad_guide(why, next, i);
		hop->element = end->index;
		hop->state = joining_state(state_of(request), end->index, end->port, near->port);
		if (hop->state == OPTICS_NONE)
			return bad_guide(why, next, i);
	}
	hop->element = OPTICS_NONE;
	hop->state = 0;
	if (!arrives(request, end))
		return bad_guide(why, request->guides[count - 1], count - 1);
	path->rx = end->type == MORPH_END_EDGE ? optics_edge_end(graph, end->index) :
						 end->index * graph->params.planes + end->port;
	path->loss_mdb = optics_path_loss(graph, path);
	return choose_lanes(request, path, why);
}

/* Allocate a route for a slice. A protection or a repair is never refused for its memory. */
static struct morph_route *charged_route(const struct morph_path_request *request, u32 hops,
					 struct morph_refusal *refusal)
{
	struct morph_user *user = request->slice->user;
	size_t bytes = morph_route_bytes(hops);
	struct morph_route *route = NULL;
	int ret;

	/* fabric->lock guards idle_route. */
	if (!request->draft)
		route = morph_route_reuse(request->slice, hops);
	if (route)
		return route;		/* the slice is charged for idle_route already */
	if (request->charged) {
		ret = morph_user_charge(user, MORPH_RES_BYTES, bytes, refusal);
		if (ret)
			return ERR_PTR(ret);
	} else {
		morph_user_charge_anyway(user, MORPH_RES_BYTES, bytes);
	}
	if (request->stash)
		route = morph_route_take(hops, request->stash);
	else
		route = morph_route_alloc(hops, request->gfp);
	if (!route) {
		morph_user_uncharge(user, MORPH_RES_BYTES, bytes);
		return ERR_PTR(-ENOMEM);
	}
	route->user = user;
	return route;
}

/*
 * Find a path and allocate a route for it. On -ENOMEM and -EDQUOT, which @refusal explains, a path
 * exists, but no memory for its route. -EINPROGRESS: the search has paused. If the ledger changes
 * before it continues, the caller must set search->running to false. Caller holds fabric->lock,
 * unless the search is in a draft.
 */
int morph_path_find(const struct morph_path_request *request, struct morph_route **found,
		    struct morph_refusal *refusal, struct optics_refusal *why)
{
	struct optics_path path = { .hops = ledger_of(request->slice->fabric)->route_hops };
	struct morph_route *route;
	int ret;

	if (request->draft)
		path.hops = request->draft->hops;
	else
		lockdep_assert_held(&request->slice->fabric->lock);
	if (request->guides)
		ret = route_by_guides(request, &path, why);
	else
		ret = route_by_search(request, &path, why);
	if (ret)
		return ret;
	if (request->chunk)
		route = morph_route_place(request->chunk, path.hops_count) ?: ERR_PTR(-ENOMEM);
	else
		route = charged_route(request, path.hops_count, refusal);
	if (IS_ERR(route))
		return PTR_ERR(route);
	memcpy(route->hops, path.hops, array_size(path.hops_count, sizeof(*path.hops)));
	path.hops = route->hops;
	route->path = path;
	route->owner = request->slice->number;
	*found = route;
	return 0;
}
