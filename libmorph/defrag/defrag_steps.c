// SPDX-License-Identifier: LGPL-2.1-or-later
/* Moves as ordered transactions with fibres, and their effects on tenants. */
#include <errno.h>

#include "defrag.h"

struct making {
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	const struct morph_request *request;
	uint32_t picked[NET_SITES]; /* in the pool: fibres of the present path */
};

static const struct strand *strand_at(const struct making *making, uint32_t pooled)
{
	return &making->ledger->sites.strands[making->defrag->pool.list[pooled].strand];
}

/* ------------------------------------------------------------------------ fibres */

/*
 * A free fibre of a link. Fibres that circuits of this step leave do not count, because these
 * circuits go dark after the new paths are lit. @src, @dst: preferred tiles of its ends.
 */
static uint32_t pick(const struct making *making, uint32_t from, uint32_t to, uint32_t src,
		     uint32_t dst)
{
	const struct morph_defrag *defrag = making->defrag;
	uint32_t link = from * NET_SITES + to, best = OPTICS_NONE, most = 0;

	for (uint32_t at = defrag->pool_first[link]; at < defrag->pool_first[link + 1]; at++) {
		const struct pooled *pooled = &defrag->pool.list[at];
		uint32_t score = 1 + (strand_at(making, at)->from_tile == src) +
				 (strand_at(making, at)->to_tile == dst);

		if (pooled->holder != DEFRAG_NOBODY || score <= most ||
		    (defrag->steps.count && pooled->freed == defrag->steps.count))
			continue;
		best = at;
		most = score;
	}
	return best;
}

/* Pick fibres for all hops of a path. False if a link has none left. */
static bool lay(struct making *making, const struct way *way, uint32_t src, uint32_t dst)
{
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		making->picked[hop] = pick(making, way->sites[hop], way->sites[hop + 1], src, dst);
		if (making->picked[hop] == OPTICS_NONE)
			return false;
	}
	return true;
}

/* Free the hops of a flow; with @marked only after this step. */
static void release(struct making *making, uint32_t flow, bool marked)
{
	struct morph_defrag *defrag = making->defrag;

	for (uint32_t at = 0; at < defrag->pool.count; at++) {
		struct pooled *pooled = &defrag->pool.list[at];

		if (pooled->holder != flow)
			continue;
		pooled->holder = DEFRAG_NOBODY;
		pooled->freed = marked ? defrag->steps.count : 0;
	}
}

static int hold(struct making *making, uint32_t flow, const struct way *way)
{
	struct morph_defrag *defrag = making->defrag;
	int ret = DEFRAG_GROW(defrag, strands, way->hops);

	for (uint32_t hop = 0; hop < way->hops && !ret; hop++) {
		defrag->pool.list[making->picked[hop]].holder = flow;
		defrag->strands.list[defrag->strands.count++] =
			*strand_at(making, making->picked[hop]);
	}
	return ret;
}

/* ------------------------------------------------------------------------- steps */

static const uint32_t kinds[] = {
	[ACTION_MOVE] = MORPH_DEFRAG_MOVE,
	[ACTION_SWITCH] = MORPH_DEFRAG_SWITCH,
	[ACTION_BREAK] = MORPH_DEFRAG_BREAK,
	[ACTION_MAKE] = MORPH_DEFRAG_MAKE,
};

static int begin_step(struct morph_defrag *defrag, uint32_t kind, uint32_t slice)
{
	int ret = DEFRAG_GROW(defrag, steps, 1);

	if (!ret)
		defrag->steps.list[defrag->steps.count++] = (struct step){
			.kind = kind,
			.slice = slice,
			.first = defrag->changes.count,
		};
	return ret;
}

/* Whether both ends of a circuit have free ports for a second path, besides those of this step. */
static bool ports_left(const struct making *making, const struct step *step,
		       const struct flow *flow)
{
	const struct morph_plan *plan = lm_defrag_plan_of(making->defrag, flow->slice);
	const struct rank_pair *pair = &plan->circuits[flow->circuit];
	uint32_t out = 1, in = 1;

	for (uint32_t at = 0; at < plan->circuits_count; at++) {
		out += plan->circuits[at].src == pair->src;
		in += plan->circuits[at].dst == pair->dst;
	}
	for (uint32_t at = 0; at < step->count; at++) {
		const struct rank_pair *other =
			&plan->circuits[making->defrag->changes.list[step->first + at].circuit];

		out += other->src == pair->src;
		in += other->dst == pair->dst;
	}
	return out <= making->ledger->graph->params.planes &&
	       in <= making->ledger->graph->params.planes;
}

/* Whether an action fits into the last step. If so, its fibres are picked. */
static bool joins(struct making *making, const struct action *action)
{
	struct morph_defrag *defrag = making->defrag;
	const struct flow *flow = &defrag->best->flows[action->flow];
	const struct step *step;

	if (!defrag->steps.count)
		return false;
	step = &defrag->steps.list[defrag->steps.count - 1];
	if (step->slice != flow->slice || step->kind != kinds[action->kind])
		return false;
	for (uint32_t at = 0; at < step->count; at++)
		if (defrag->changes.list[step->first + at].flow == action->flow)
			return false;
	switch (action->kind) {
	case ACTION_BREAK:
		return true;
	case ACTION_MOVE:
		return ports_left(making, step, flow) &&
		       lay(making, &action->way, OPTICS_NONE, OPTICS_NONE);
	case ACTION_MAKE:
		return lay(making, &action->way, OPTICS_NONE, OPTICS_NONE);
	default: /* a circuit frees its own fibres before it takes new ones */
		return false;
	}
}

static int add_change(struct making *making, uint32_t number, uint32_t circuit,
		      const struct way *way)
{
	struct morph_defrag *defrag = making->defrag;
	uint32_t first = defrag->strands.count;
	int ret = hold(making, number, way);

	if (!ret)
		ret = DEFRAG_GROW(defrag, changes, 1);
	if (ret)
		return ret;
	defrag->changes.list[defrag->changes.count++] = (struct change){
		.flow = number, .circuit = circuit, .first = first, .count = way->hops
	};
	defrag->steps.list[defrag->steps.count - 1].count++;
	return 0;
}

static int make_step(struct making *making, const struct action *action)
{
	struct morph_defrag *defrag = making->defrag;
	const struct flow *flow = &defrag->best->flows[action->flow];
	bool joined = joins(making, action), breaks = action->kind != ACTION_MOVE;
	int ret = joined ? 0 : begin_step(defrag, kinds[action->kind], flow->slice);

	if (ret)
		return ret;
	if (breaks)
		release(making, action->flow, action->kind == ACTION_BREAK);
	if (!joined && action->kind != ACTION_BREAK &&
	    !lay(making, &action->way, OPTICS_NONE, OPTICS_NONE))
		return lm_fail(defrag->ctx, EPROTO, "a move uses fibres that are not free");
	if (!breaks)
		release(making, action->flow, true);
	return add_change(making, action->flow, flow->circuit, &action->way);
}

/* --------------------------------------------------------------------- the request */

static const struct flow *request_flow(const struct best *best, uint32_t running, uint32_t circuit)
{
	for (uint32_t at = running; at < best->count; at++)
		if (best->flows[at].circuit == circuit)
			return &best->flows[at];
	return NULL;
}

/* Finish the last step: write its fibres into the plan as well. */
static int place(struct making *making)
{
	struct morph_defrag *defrag = making->defrag;
	const struct best *best = defrag->best;
	struct morph_plan *plan = defrag->plan;
	int ret = begin_step(defrag, MORPH_DEFRAG_PLACE, 0);

	plan->strands_count = 0;
	for (uint32_t at = 0; at < plan->circuits_count && !ret; at++) {
		const struct flow *flow = request_flow(best, defrag->reroute->running, at);
		const struct rank_pair *pair = &plan->circuits[at];
		const struct way none = { 0 };
		const struct way *way = flow ? &flow->goes : &none;
		uint32_t first = defrag->strands.count;

		if (!lay(making, way, plan->accelerators[pair->src], plan->accelerators[pair->dst]))
			return lm_fail(defrag->ctx, EPROTO,
				       "the request uses fibres that are not free");
		ret = add_change(making, DEFRAG_REQUEST, at, way);
		plan->ways[at] =
			(struct circuit_way){ .first = plan->strands_count, .count = way->hops };
		for (uint32_t hop = 0; hop < way->hops && !ret; hop++)
			ret = lm_plan_add_strand(plan, &defrag->strands.list[first + hop]);
	}
	return ret;
}

/* Figures of the request's plan after all moves. */
static void weigh(struct making *making)
{
	struct morph_defrag *defrag = making->defrag;
	struct rack_search *search = &making->ledger->search;
	struct best *best = defrag->best;
	struct morph_plan *plan = defrag->plan;

	search->net = defrag->reroute->room;
	for (uint32_t at = 0; at < defrag->reroute->running; at++)
		for (uint32_t hop = 0; hop < best->flows[at].goes.hops; hop++)
			lm_net_take(&search->net, best->flows[at].goes.sites[hop],
				    best->flows[at].goes.sites[hop + 1], 1);
	for (uint32_t seat = 0; seat < search->net.sites; seat++) {
		if (defrag->reroute->through >> seat & 1)
			continue;
		for (uint32_t other = 0; other < search->net.sites; other++) {
			lm_net_set_room(&search->net, seat, other, 0);
			lm_net_set_room(&search->net, other, seat, 0);
		}
	}
	lm_net_measure(&search->net, search->distances);
	lm_mapping_weigh(search, making->request, &best->mapping);
	plan->verdict = MORPH_FEASIBLE;
	plan->tier = best->tier;
	plan->fibres_bound = best->mapping.fibres;
	plan->servers = best->mapping.servers;
	plan->servers_bound = lm_place_fewest(search, making->request->ranks);
	memcpy(plan->accelerators, best->mapping.accelerators,
	       plan->ranks * sizeof(*plan->accelerators));
}

/* ------------------------------------------------------------------------- tenants */

static bool goes_out(const struct step *step, const struct change *change)
{
	return step->kind == MORPH_DEFRAG_SWITCH || step->kind == MORPH_DEFRAG_BREAK ||
	       change->dark;
}

const struct change *lm_defrag_change_of(const struct morph_defrag *defrag, const struct step *step,
					 uint32_t slice, uint32_t circuit)
{
	for (uint32_t at = 0; step->slice == slice && at < step->count; at++)
		if (defrag->changes.list[step->first + at].circuit == circuit)
			return &defrag->changes.list[step->first + at];
	return NULL;
}

/* How long a circuit of a slice is dark. *moved and *dark: how often. */
static uint64_t dark_time(const struct morph_defrag *defrag, uint32_t slice, uint32_t circuit,
			  uint32_t *moved, uint32_t *dark)
{
	bool out = false;
	uint64_t sum = 0;

	*moved = *dark = 0;
	for (uint32_t at = 0; at < defrag->steps.count; at++) {
		const struct step *step = &defrag->steps.list[at];
		const struct change *mine = lm_defrag_change_of(defrag, step, slice, circuit);

		*moved += mine != NULL;
		if (mine && goes_out(step, mine)) {
			++*dark;
			out = true;
		}
		if (out && step->kind != MORPH_DEFRAG_BREAK)
			sum += defrag->light_ns;
		if (mine && step->kind != MORPH_DEFRAG_BREAK)
			out = false;
	}
	return sum;
}

int lm_defrag_report_tenants(struct morph_defrag *defrag)
{
	defrag->tenants.count = 0;
	defrag->moved = defrag->dark = 0;
	for (uint32_t at = 0; at < defrag->slices.count; at++) {
		const struct running *running = &defrag->slices.list[at];
		struct tenant tenant = { .slice = running->slice };

		for (uint32_t circuit = 0; circuit < running->plan->circuits_count; circuit++) {
			uint32_t moved, dark;
			uint64_t ns = dark_time(defrag, running->slice, circuit, &moved, &dark);

			tenant.moved += moved > 0;
			tenant.dark += dark > 0;
			tenant.dark_ns = ns > tenant.dark_ns ? ns : tenant.dark_ns;
		}
		if (!tenant.moved)
			continue;
		if (DEFRAG_GROW(defrag, tenants, 1))
			return -ENOMEM;
		defrag->tenants.list[defrag->tenants.count++] = tenant;
		defrag->moved += tenant.moved;
		defrag->dark += tenant.dark;
	}
	return 0;
}

int lm_defrag_steps(struct morph_defrag *defrag, struct morph_ledger *ledger,
		    const struct morph_request *request)
{
	struct making making = { .defrag = defrag, .ledger = ledger, .request = request };
	const struct optics_params *params = &ledger->graph->params;
	int ret = 0;

	defrag->steps.count = defrag->changes.count = defrag->strands.count = 0;
	defrag->guides.count = 0;
	defrag->lit = false;
	defrag->light_ns = params->settle_ns + params->relock_ns;
	weigh(&making);
	for (uint32_t at = 0; at < defrag->best->actions_count && !ret; at++)
		ret = make_step(&making, &defrag->best->actions[at]);
	if (!ret)
		ret = place(&making);
	if (!ret)
		ret = lm_defrag_report_tenants(defrag);
	return ret;
}
