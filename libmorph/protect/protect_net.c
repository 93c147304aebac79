// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Routes from and to a spare: the rack as its light would find it, routes, and cuts if none exist.
 */
#include "../util/flow.h"
#include "protect.h"

#define STEPS (1ULL << 16) /* of the search for routes to one spare */

static const struct rank_pair *pair_of(const struct failure *failure, uint32_t way)
{
	return &failure->plan->circuits[failure->protection->ways.list[way].circuit];
}

static uint32_t host_of(const struct failure *failure, uint32_t accelerator)
{
	return failure->ledger->graph->accelerators[accelerator].host;
}

static bool in_rack(const struct failure *failure, uint32_t host)
{
	return failure->ledger->sites.host_rack[host] == failure->rack;
}

struct spare_rest lm_protect_rest(const struct failure *failure, uint32_t way)
{
	const struct morph_plan *plan = failure->plan;
	const struct rank_pair *pair = pair_of(failure, way);
	const struct circuit_way *it = &plan->ways[failure->protection->ways.list[way].circuit];
	bool leaves = pair->src == failure->number;
	uint32_t other = leaves ? pair->dst : pair->src, at = it->first, end = at + it->count;

	if (in_rack(failure, host_of(failure, plan->accelerators[other])))
		return (struct spare_rest){ 0, 0 };
	if (leaves) {
		while (!in_rack(failure, plan->strands[end - 1].from))
			end--;
		return (struct spare_rest){ end - 1, it->first + it->count - (end - 1) };
	}
	while (!in_rack(failure, plan->strands[at].to))
		at++;
	return (struct spare_rest){ it->first, at + 1 - it->first };
}

struct spare_ends lm_protect_ends(const struct failure *failure, uint32_t way)
{
	const struct morph_plan *plan = failure->plan;
	const struct sites *sites = &failure->ledger->sites;
	const struct rank_pair *pair = pair_of(failure, way);
	const struct spare_rest rest = lm_protect_rest(failure, way);
	bool leaves = pair->src == failure->number;
	uint32_t spare = failure->spare, seat = sites->host_seat[host_of(failure, spare)];
	uint32_t other = plan->accelerators[leaves ? pair->dst : pair->src];
	uint32_t host = host_of(failure, other), far;
	struct spare_ends ends;

	if (rest.count) {
		const struct strand *gate =
			&plan->strands[leaves ? rest.first : rest.first + rest.count - 1];

		other = leaves ? gate->from_tile : gate->to_tile;
		host = leaves ? gate->from : gate->to;
	}
	far = sites->host_seat[host];
	ends = leaves ? (struct spare_ends){ spare, other, seat, far } :
			(struct spare_ends){ other, spare, far, seat };
	/* Capacities inside a server do not matter; light out of the rack continues there. */
	if (seat != far)
		ends.to = rest.count && failure->arrives_at[far] != far ?
				  NET_SITES :
				  failure->arrives_at[ends.to];
	return ends;
}

/* ------------------------------------------------------------------------- net */

/* Whether all accelerators of the server belong to the slice or are spares. */
static bool is_closed(const struct failure *failure, uint32_t host)
{
	const struct morph_ledger *ledger = failure->ledger;
	const struct sites *sites = &ledger->sites;

	for (uint32_t at = sites->members_first[host]; at < sites->members_first[host + 1]; at++) {
		uint32_t member = sites->members[at], owner = ledger->owner[member];

		if (owner ? owner != failure->slice : !ledger->spare[member])
			return false;
	}
	return true;
}

/*
 * Number the sites: the servers of the rack, then a second site for each server that light must
 * not cross.
 */
static uint32_t number_sites(struct failure *failure)
{
	const struct sites *sites = &failure->ledger->sites;
	const struct rack *rack = &sites->racks[failure->rack];
	bool own = failure->plan->transit == MORPH_TRANSIT_OWN;
	uint32_t count = rack->hosts_count;

	failure->blurred = false;
	for (uint32_t seat = 0; seat < rack->hosts_count; seat++) {
		uint32_t host = sites->rack_hosts[rack->hosts_first + seat];

		failure->hosts[seat] = host;
		failure->arrives_at[seat] = (uint8_t)seat;
		if (!own || is_closed(failure, host))
			continue;
		failure->arrives_at[seat] = (uint8_t)count;
		if (count == NET_SITES)
			failure->blurred = true;
		else
			failure->hosts[count++] = host;
	}
	return count;
}

void lm_protect_net(struct failure *failure)
{
	struct morph_ledger *ledger = failure->ledger;
	const struct sites *sites = &ledger->sites;
	struct net *net = &ledger->search.net;
	uint32_t seats = sites->racks[failure->rack].hosts_count;

	lm_net_init(net, number_sites(failure));
	for (uint32_t seat = 0; seat < seats; seat++) {
		uint32_t host = failure->hosts[seat];

		for (uint32_t at = sites->strands_first[host]; at < sites->strands_first[host + 1];
		     at++) {
			const struct strand *strand = &sites->strands[at];
			uint32_t to;

			if (!in_rack(failure, strand->to) ||
			    !lm_strand_dark(ledger, strand, ledger->graph->all_lanes))
				continue;
			to = failure->arrives_at[sites->host_seat[strand->to]];
			if (to < NET_SITES && net->room[seat][to] < NET_ROOM)
				lm_net_set_room(net, seat, to, net->room[seat][to] + 1U);
		}
	}
	lm_net_measure(net, ledger->search.distances);
}

/* ---------------------------------------------------------------------- routes */

/* Each circuit takes its own route. False if one has none. */
static bool list_routes(const struct failure *failure, struct routes *routes)
{
	const struct rack_search *search = &failure->ledger->search;
	const struct protected_rank *rank = failure->rank;

	routes->count = 0;
	for (uint32_t way = rank->ways_first; way < rank->ways_first + rank->ways_count; way++) {
		struct spare_ends ends = lm_protect_ends(failure, way);

		if (ends.from == ends.to)
			continue;
		if (ends.to == NET_SITES || search->distances[ends.from][ends.to] == NET_APART)
			return false;
		routes->list[routes->count++] = (struct route){
			.from = (uint8_t)ends.from,
			.to = (uint8_t)ends.to,
			.units = 1,
		};
	}
	return true;
}

enum stitch_verdict lm_protect_route(struct failure *failure)
{
	struct rack_search *search = &failure->ledger->search;
	enum stitch_verdict none = failure->blurred ? STITCH_UNDECIDED : STITCH_INFEASIBLE;
	struct spare_refusal refusal;
	uint64_t steps = STEPS;

	if (!list_routes(failure, &search->routes))
		return none;
	if (lm_routes_negotiate(&search->net, 1, &search->routes, search->stitch.work))
		return STITCH_FEASIBLE;
	if (lm_protect_cut(failure, &refusal))
		return none;
	search->stitch.scratch[0] = search->net;
	switch (lm_routes_exhaust(search->stitch.scratch, 1, &search->routes, &steps)) {
	case ROUTES_FOUND:
		return STITCH_FEASIBLE;
	case ROUTES_NONE:
		return none;
	default:
		return STITCH_UNDECIDED;
	}
}

/* ------------------------------------------------------------------------ cuts */

/* Flow between one site and many, in one direction. */
struct stream {
	const struct net *net;
	bool inward; /* the flow ends at the one site */
	uint8_t goes[NET_SITES][NET_SITES]; /* flow away from the one site */
	uint8_t wanted[NET_SITES]; /* circuits that are not yet routed */
	uint32_t root; /* the one site */
};

/*
 * Whether one more circuit fits from one site to the next, in the direction away from the one site.
 */
static bool has_room(const struct stream *stream, uint32_t from, uint32_t to)
{
	const struct net *net = stream->net;
	uint32_t room = stream->inward ? net->room[to][from] : net->room[from][to];

	return stream->goes[from][to] < room || stream->goes[to][from];
}

static bool start(void *network, struct flow_search *search)
{
	const struct stream *stream = network;

	flow_reach(search, stream->root, FLOW_SOURCE, 0);
	return false;
}

static bool expand(void *network, struct flow_search *search, uint32_t site)
{
	struct stream *stream = network;
	uint64_t next = stream->net->out[site] | stream->net->in[site];

	if (stream->wanted[site]) {
		stream->wanted[site]--;
		return true;
	}
	for (; next; next &= next - 1)
		if (has_room(stream, site, net_first(next)))
			flow_reach(search, net_first(next), site, 0);
	return false;
}

static void push(void *network, const struct flow_search *search, uint32_t site)
{
	struct stream *stream = network;
	uint32_t from = search->from[site];

	if (from == FLOW_SOURCE)
		return;
	if (stream->goes[site][from])
		stream->goes[site][from]--;
	else
		stream->goes[from][site]++;
}

static const struct flow_network functions = { start, expand, push };

/*
 * The maximum flow of all circuits out of the spare, or of all into it, without the other
 * direction. O(circuits * (sites + links)). If it does not carry all, returns the sites that it
 * reaches, which are a cut.
 */
static uint64_t starve(const struct failure *failure, bool inward)
{
	const struct protected_rank *rank = failure->rank;
	struct stream stream = { .net = &failure->ledger->search.net, .inward = inward };
	uint32_t from[NET_SITES], over[NET_SITES], queue[NET_SITES], left = 0;
	struct flow_search search = { .from = from, .over = over, .queue = queue };
	uint64_t reached = 0;

	for (uint32_t way = rank->ways_first; way < rank->ways_first + rank->ways_count; way++) {
		struct spare_ends ends = lm_protect_ends(failure, way);

		if (ends.from == ends.to || (ends.dst == failure->spare) != inward)
			continue;
		stream.root = inward ? ends.to : ends.from;
		stream.wanted[inward ? ends.from : ends.to]++;
		left++;
	}
	memset(from, 0xff, sizeof(from));
	while (left && lm_flow_augment(&functions, &stream, &search))
		left--;
	for (uint32_t at = 0; left && at < search.count; at++)
		reached |= 1ULL << queue[at];
	return inward && reached ? net_all(stream.net->sites) & ~reached : reached;
}

bool lm_protect_cut(const struct failure *failure, struct spare_refusal *refusal)
{
	uint32_t seats = failure->ledger->sites.racks[failure->rack].hosts_count;
	uint64_t set;

	if (failure->blurred)
		return false;
	set = starve(failure, false);
	if (!set)
		set = starve(failure, true);
	refusal->departs = set & net_all(seats);
	refusal->arrives = 0;
	for (uint32_t seat = 0; seat < seats; seat++)
		refusal->arrives |= (set >> failure->arrives_at[seat] & 1) << seat;
	return set;
}
