// SPDX-License-Identifier: LGPL-2.1-or-later
/* Search for accelerators of a rack with which all circuits have routes. */
#include "defrag.h"

#define ENOUGH 8 /* number of answers that ends the search */
#define SPARING 4 /* attempts to keep circuits that went dark in place */
#define EXTRA_STEPS 2048 /* of the search for better answers */
#define IMPROVE_STEPS 65536 /* of the search for fewer moves, and of its proof */
#define LOOK_STEPS 16 /* cost of one negotiation and refutation */
#define ORDER_NODES 512

enum goal {
	FIND, /* any answer */
	PROVE, /* answers with fewer moves than the best one */
};

struct hunt {
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	const struct morph_request *request;
	enum goal goal;
	uint64_t steps;
	uint32_t tier;
	uint32_t found; /* answers */
	uint32_t least; /* circuits that take another route */
	bool unsure; /* something was left out, so the search proves nothing */
	bool stopped;
	/* Embedding of slots: parts or ranks. */
	bool whole;
	uint16_t parts[RACK_ACCELERATORS], places[RACK_ACCELERATORS];
	uint32_t size; /* ranks of a slot */
	uint8_t sites[PATTERN_SLOTS]; /* by slot */
	uint8_t room[NET_SITES]; /* slots that a server can still take */
	uint32_t known; /* number of metrics that @left contains */
	int64_t left[PATTERN_SLOTS + 1][REROUTE_METRICS];
};

/* ---------------------------------------------------------------------- answers */

static bool better(const struct morph_defrag *defrag, const struct best *best, uint32_t hops)
{
	const struct reroute *reroute = defrag->reroute;
	bool moves = defrag->objective == MORPH_DEFRAG_MOVES;
	const uint32_t ours[] = { moves ? reroute->touched : reroute->interrupted,
				  moves ? reroute->interrupted : reroute->touched,
				  reroute->actions_count, hops };
	const uint32_t theirs[] = { moves ? best->touched : best->interrupted,
				    moves ? best->interrupted : best->touched, best->actions_count,
				    best->hops };

	for (uint32_t at = 0; at < ARRAY_SIZE(ours); at++)
		if (ours[at] != theirs[at])
			return ours[at] < theirs[at];
	return false;
}

/* All flows have routes. Order the moves, and keep the answer if it is the best one. */
static void consider(struct hunt *hunt, const struct mapping *mapping)
{
	struct morph_defrag *defrag = hunt->defrag;
	struct reroute *reroute = defrag->reroute;
	struct best *best = defrag->best;
	uint32_t moved = lm_reroute_moved(reroute), hops = 0;

	hunt->found++;
	hunt->least = moved < hunt->least ? moved : hunt->least;
	lm_reroute_order(reroute, ORDER_NODES);
	for (uint32_t at = 0; at < reroute->count; at++)
		hops += reroute->flows[at].goes.hops;
	if (best->found && !better(defrag, best, hops))
		return;
	best->found = true;
	best->rack = hunt->ledger->search.rack;
	best->tier = hunt->tier;
	best->interrupted = reroute->interrupted;
	best->touched = reroute->touched;
	best->moved = moved;
	best->hops = hops;
	best->count = reroute->count;
	best->actions_count = reroute->actions_count;
	if (mapping != &best->mapping)
		best->mapping = *mapping;
	memcpy(best->flows, reroute->flows, reroute->count * sizeof(*reroute->flows));
	memcpy(best->actions, reroute->actions, reroute->actions_count * sizeof(*reroute->actions));
}

static bool enough(const struct hunt *hunt)
{
	const struct best *best = hunt->defrag->best;

	return hunt->found >= ENOUGH || (best->found && !best->interrupted && best->touched <= 1);
}

static bool spend(struct hunt *hunt, uint64_t steps)
{
	if (hunt->steps >= steps) {
		hunt->steps -= steps;
		return true;
	}
	hunt->steps = 0;
	hunt->stopped = hunt->unsure = true;
	return false;
}

/* Add the request's circuits between servers. */
static bool add_circuits(struct hunt *hunt, const struct mapping *mapping)
{
	struct reroute *reroute = hunt->defrag->reroute;
	const struct morph_request *request = hunt->request;

	reroute->count = reroute->running;
	for (uint32_t at = 0; at < request->circuits_count; at++) {
		uint32_t from = mapping->seats[request->circuits[at].src];
		uint32_t to = mapping->seats[request->circuits[at].dst];

		if (from != to && !lm_reroute_add(reroute, from, to, at))
			return false;
	}
	return true;
}

/* Try all routes of one embedding within this number of steps. */
static void exhaust(struct hunt *hunt, const struct mapping *mapping, uint32_t limit,
		    uint64_t steps)
{
	uint64_t left = steps;

	switch (lm_reroute_exhaust(hunt->defrag->reroute, limit, &left)) {
	case ROUTES_FOUND:
		consider(hunt, mapping);
		break;
	case ROUTES_UNDECIDED:
		hunt->unsure = true;
		hunt->stopped = steps == hunt->steps;
		break;
	default:
		break;
	}
	hunt->steps -= steps - left;
}

/* All flows have routes. Returns whether this is enough. */
static bool accept(struct hunt *hunt, const struct mapping *mapping)
{
	consider(hunt, mapping);
	if (hunt->found == 1 && hunt->steps > EXTRA_STEPS)
		hunt->steps = EXTRA_STEPS;
	return enough(hunt);
}

/* Examine one embedding. Returns whether this is enough. */
static bool examine(struct hunt *hunt, const struct mapping *mapping)
{
	struct reroute *reroute = hunt->defrag->reroute;

	if (!add_circuits(hunt, mapping)) {
		hunt->unsure = true;
		return false;
	}
	if (lm_reroute_refuted(reroute))
		return false;
	if (!spend(hunt, LOOK_STEPS))
		return true;
	if (hunt->goal == PROVE) {
		if (hunt->least > 1 || !lm_reroute_refute_still(reroute))
			exhaust(hunt, mapping, hunt->least - 1, hunt->steps);
		return hunt->stopped || !hunt->least;
	}
	if (lm_reroute_negotiate(reroute))
		return accept(hunt, mapping);
	if (lm_reroute_refute(reroute))
		return false;
	if (lm_reroute_negotiate_shares(reroute))
		return accept(hunt, mapping);
	/* Use half of the steps here, because other embeddings can have quick routes. */
	exhaust(hunt, mapping, UINT32_MAX, hunt->steps / 2);
	return enough(hunt);
}

static bool examine_trial(void *context)
{
	struct hunt *hunt = context;

	return examine(hunt, &hunt->ledger->search.trial);
}

/* ------------------------------------------------------------------- embeddings */

static bool examine_embedding(struct hunt *hunt)
{
	struct mapping *trial = &hunt->ledger->search.trial;

	if (hunt->whole)
		lm_place_lay_parts(hunt->ledger, hunt->request, hunt->parts, hunt->places,
				   hunt->sites, trial);
	else
		lm_place_lay_ranks(hunt->ledger, hunt->request, hunt->sites, trial);
	return examine(hunt, trial);
}

/* The slack of the metrics once the slot at @depth has its server. */
static void compute_slacks(struct hunt *hunt, uint32_t depth, uint32_t first)
{
	const struct pattern *pattern = &hunt->ledger->search.pattern;
	const struct reroute *reroute = hunt->defrag->reroute;
	uint32_t slot = pattern->steps[depth].slot, site = hunt->sites[slot];

	for (uint32_t at = first; at < reroute->metrics_count; at++) {
		const struct metric *metric = &reroute->metrics[at];
		int64_t left = depth ? hunt->left[depth][at] : metric->slack;

		for (uint64_t near = pattern->steps[depth].before; near; near &= near - 1) {
			uint32_t other = net_first(near), its = hunt->sites[other];

			left -= (int64_t)pattern->units[slot][other] *
					(site == its ? 0 : metric->apart[site][its]) +
				(int64_t)pattern->units[other][slot] *
					(site == its ? 0 : metric->apart[its][site]);
		}
		hunt->left[depth + 1][at] = left;
	}
}

static bool metrics_allow(const struct hunt *hunt, uint32_t depth)
{
	for (uint32_t at = 0; at < hunt->known; at++)
		if (hunt->left[depth][at] < 0)
			return false;
	return true;
}

/* Apply metrics that were found deeper to the slots up to @depth. */
static void extend_slacks(struct hunt *hunt, uint32_t depth)
{
	uint32_t first = hunt->known;

	hunt->known = hunt->defrag->reroute->metrics_count;
	for (uint32_t at = 0; at < depth && first < hunt->known; at++)
		compute_slacks(hunt, at, first);
}

/* Hops between the slot at @depth on @site and the slots before. */
static uint32_t hops_added(const struct hunt *hunt, uint32_t depth, uint32_t site)
{
	const struct rack_search *search = &hunt->ledger->search;
	const struct pattern *pattern = &search->pattern;
	uint32_t slot = pattern->steps[depth].slot, hops = 0;

	for (uint64_t near = pattern->steps[depth].before; near; near &= near - 1) {
		uint32_t other = net_first(near), its = hunt->sites[other];

		hops += (uint32_t)pattern->units[slot][other] * search->distances[site][its] +
			(uint32_t)pattern->units[other][slot] * search->distances[its][site];
	}
	return hops;
}

/* Sites for the slot at @depth, the nearest first, without symmetric cases. */
static uint32_t candidates(const struct hunt *hunt, uint32_t depth, uint8_t sites[NET_SITES])
{
	const struct pattern *pattern = &hunt->ledger->search.pattern;
	uint32_t hops[NET_SITES], count = 0, least = 0;

	for (uint64_t below = pattern->steps[depth].below; below; below &= below - 1)
		if (hunt->sites[net_first(below)] > least)
			least = hunt->sites[net_first(below)];
	for (uint32_t site = least; site < hunt->defrag->reroute->room.sites; site++) {
		uint32_t its = hops_added(hunt, depth, site), to = count;

		if (!hunt->room[site])
			continue;
		for (; to && hops[to - 1] > its; to--) {
			hops[to] = hops[to - 1];
			sites[to] = sites[to - 1];
		}
		hops[to] = its;
		sites[to] = (uint8_t)site;
		count++;
	}
	return count;
}

/* Assign sites to the slots from @depth on. Returns whether this is enough. */
static bool embed(struct hunt *hunt, uint32_t depth)
{
	const struct pattern *pattern = &hunt->ledger->search.pattern;
	uint8_t sites[NET_SITES];
	uint32_t count;

	if (depth == pattern->slots)
		return examine_embedding(hunt);
	count = candidates(hunt, depth, sites);
	for (uint32_t at = 0; at < count; at++) {
		bool done = false;

		if (!spend(hunt, 1))
			return true;
		hunt->sites[pattern->steps[depth].slot] = sites[at];
		compute_slacks(hunt, depth, 0);
		hunt->known = hunt->defrag->reroute->metrics_count;
		if (!metrics_allow(hunt, depth + 1))
			continue;
		hunt->room[sites[at]]--;
		done = embed(hunt, depth + 1);
		hunt->room[sites[at]]++;
		if (done)
			return true;
		extend_slacks(hunt, depth);
		if (depth && !metrics_allow(hunt, depth))
			return false;
	}
	return false;
}

/* Make slots of parts that fill a server, or of ranks. False if there are too many. */
static bool make_slots(struct hunt *hunt)
{
	const struct morph_request *request = hunt->request;
	struct rack_search *search = &hunt->ledger->search;
	uint32_t count = hunt->whole ?
				 lm_request_cut(request, search->block, hunt->parts, hunt->places) :
				 request->ranks;

	if (count > (hunt->whole ? PATTERN_SLOTS : RANK_SLOTS))
		return false;
	hunt->size = request->ranks / count;
	lm_pattern_init(&search->pattern, count);
	for (uint32_t at = 0; at < request->circuits_count; at++) {
		const struct rank_pair *pair = &request->circuits[at];
		uint32_t from = hunt->whole ? hunt->parts[pair->src] : pair->src;
		uint32_t to = hunt->whole ? hunt->parts[pair->dst] : pair->dst;

		if (from != to)
			lm_pattern_add(&search->pattern, from, to, 1);
	}
	lm_pattern_arrange(&search->pattern);
	for (uint32_t seat = 0; seat < search->net.sites; seat++)
		hunt->room[seat] = (uint8_t)(search->free[seat] / hunt->size);
	return true;
}

/* ------------------------------------------------------------------------- rack */

/* Examine boxes, then growths, then all embeddings, until there are enough answers. */
static void look(struct hunt *hunt)
{
	const struct morph_request *request = hunt->request;
	bool torus = request->extent[0];

	hunt->tier = MORPH_TIER_CONTIGUOUS;
	lm_place_each_box(hunt->ledger, request, examine_trial, hunt);
	if (request->tier == MORPH_TIER_CONTIGUOUS) {
		/* Ranks that run back and forth are only one way to fill a box. */
		hunt->unsure |= !torus;
		return;
	}
	hunt->tier = MORPH_TIER_STITCHED;
	if (!hunt->whole && hunt->goal == FIND && !enough(hunt) && !hunt->stopped)
		lm_place_each_growth(hunt->ledger, request, examine_trial, hunt);
	if (hunt->stopped || (hunt->goal == FIND && enough(hunt)))
		return;
	hunt->known = 0;
	if (make_slots(hunt))
		embed(hunt, 0);
	else
		hunt->unsure = true;
}

/* Keep circuits that went dark in place, if the others can be rerouted around them. */
static void spare_dark(struct hunt *hunt, const struct mapping *mapping)
{
	struct reroute *reroute = hunt->defrag->reroute;
	const struct best *best = hunt->defrag->best;
	const struct action *actions = best->actions;
	uint32_t count = best->actions_count;

	for (uint32_t round = 0; best->interrupted && round < SPARING; round++) {
		for (uint32_t at = 0; at < count; at++)
			if (actions[at].kind == ACTION_SWITCH || actions[at].kind == ACTION_BREAK)
				reroute->flows[actions[at].flow].stays = true;
		if (!add_circuits(hunt, mapping) || !lm_reroute_negotiate(reroute))
			break;
		consider(hunt, mapping);
		actions = reroute->actions;
		count = reroute->actions_count;
	}
	for (uint32_t at = 0; at < reroute->running; at++)
		reroute->flows[at].stays = false;
}

/* Find fewer moves with the same accelerators, then with any. */
static void improve(struct hunt *hunt, uint64_t steps)
{
	struct best *best = hunt->defrag->best;
	struct mapping *mapping = &hunt->ledger->search.best;

	*mapping = best->mapping;
	hunt->tier = best->tier;
	spare_dark(hunt, mapping);
	hunt->steps = steps < IMPROVE_STEPS ? steps : IMPROVE_STEPS;
	hunt->stopped = hunt->unsure = false;
	for (uint32_t before = 0; hunt->least && before != hunt->least && !hunt->stopped;) {
		before = hunt->least;
		add_circuits(hunt, mapping);
		exhaust(hunt, mapping, hunt->least - 1, hunt->steps);
	}
	hunt->goal = PROVE;
	hunt->steps = steps < IMPROVE_STEPS ? steps : IMPROVE_STEPS;
	hunt->stopped = hunt->unsure = !hunt->defrag->exact;
	if (hunt->least && !hunt->stopped)
		look(hunt);
	hunt->defrag->moved_least = hunt->unsure ? 0 : hunt->least;
}

static void rack_begin(struct hunt *hunt, uint32_t number)
{
	const struct sites *sites = &hunt->ledger->sites;
	struct rack_search *search = &hunt->ledger->search;
	const struct rack *rack = &sites->racks[number];

	search->rack = number;
	search->net = hunt->defrag->reroute->room;
	for (uint32_t seat = 0; seat < rack->hosts_count; seat++)
		search->free[seat] =
			(uint8_t)hunt->ledger
				->host_free[sites->rack_hosts[rack->hosts_first + seat]];
	lm_net_measure(&search->net, search->distances);
}

enum stitch_verdict lm_defrag_search(struct morph_defrag *defrag, struct morph_ledger *ledger,
				     const struct morph_request *request, uint32_t rack,
				     uint64_t steps)
{
	struct hunt hunt = {
		.defrag = defrag,
		.ledger = ledger,
		.request = request,
		.steps = steps,
		.least = UINT32_MAX,
		.whole = defrag->plan->whole,
	};

	rack_begin(&hunt, rack);
	look(&hunt);
	if (hunt.found) {
		improve(&hunt, steps);
		return STITCH_FEASIBLE;
	}
	return hunt.unsure || !defrag->exact ? STITCH_UNDECIDED : STITCH_INFEASIBLE;
}
