// SPDX-License-Identifier: LGPL-2.1-or-later
/* A rack for rerouting: its circuits, and the fibres that are free or can become free. */
#include <errno.h>

#include "defrag.h"
#include "../util/sort.h"

bool lm_strand_healthy(const struct morph_ledger *ledger, const struct strand *strand)
{
	for (uint32_t at = 0; at < strand->guides_count; at++) {
		const struct optics_guide *guide = &ledger->graph->guides[strand->guides[at] >> 1];

		if (ledger->guide_marked[strand->guides[at] >> 1] ||
		    ledger->element_marked[guide->end[0].index] ||
		    ledger->element_marked[guide->end[1].index])
			return false;
	}
	return true;
}

static uint32_t seat_of(const struct morph_ledger *ledger, uint32_t accelerator)
{
	return ledger->sites.host_seat[ledger->graph->accelerators[accelerator].host];
}

/* ------------------------------------------------------------------------ flows */

/* Servers in which no slice but @slice has an accelerator. */
static uint64_t own_seats(const struct morph_ledger *ledger, uint32_t rack, uint32_t slice)
{
	const struct sites *sites = &ledger->sites;
	uint64_t own = 0;

	for (uint32_t seat = 0; seat < sites->racks[rack].hosts_count; seat++) {
		uint32_t host = sites->rack_hosts[sites->racks[rack].hosts_first + seat];
		bool foreign = false;

		for (uint32_t at = sites->members_first[host]; at < sites->members_first[host + 1];
		     at++) {
			uint32_t owner = ledger->owner[sites->members[at]];

			foreign |= owner && owner != slice;
		}
		own |= (uint64_t)!foreign << seat;
	}
	return own;
}

/* Ports of ranks that a plan's circuits use. */
struct ports {
	uint32_t out[RACK_ACCELERATORS], in[RACK_ACCELERATORS];
};

static void count_ports(const struct morph_plan *plan, struct ports *ports)
{
	memset(ports, 0, sizeof(*ports));
	for (uint32_t at = 0; at < plan->circuits_count; at++) {
		ports->out[plan->circuits[at].src]++;
		ports->in[plan->circuits[at].dst]++;
	}
}

/* Whether a circuit can leave its fibres. It cannot if they are unusable or kept. */
static bool way_loose(const struct morph_ledger *ledger, const struct morph_plan *plan,
		      uint32_t circuit)
{
	const struct strand *strands = &plan->strands[plan->ways[circuit].first];

	for (uint32_t at = 0; at < plan->ways[circuit].count; at++)
		if (!lm_strand_healthy(ledger, &strands[at]) ||
		    !lm_strand_unkept(ledger, &strands[at]))
			return false;
	return true;
}

static void read_way(const struct morph_ledger *ledger, const struct morph_plan *plan,
		     uint32_t circuit, struct flow *flow)
{
	const struct circuit_way *way = &plan->ways[circuit];

	flow->was.hops = (uint8_t)way->count;
	flow->was.sites[0] = flow->from;
	for (uint32_t hop = 0; hop < way->count; hop++)
		flow->was.sites[hop + 1] =
			(uint8_t)ledger->sites.host_seat[plan->strands[way->first + hop].to];
	for (uint32_t hop = 0; hop <= way->count; hop++)
		flow->through |= 1ULL << flow->was.sites[hop];
	flow->goes = flow->was;
}

/* Add the movable circuits of a slice. False if there are too many. */
static bool add_flows(struct morph_defrag *defrag, const struct morph_ledger *ledger,
		      const struct running *running, uint32_t rack)
{
	const struct morph_plan *plan = running->plan;
	struct reroute *reroute = defrag->reroute;
	uint32_t planes = ledger->graph->params.planes;
	uint64_t through = plan->transit == MORPH_TRANSIT_OWN ?
				   own_seats(ledger, rack, running->slice) :
				   net_all(reroute->room.sites);
	struct ports ports;

	count_ports(plan, &ports);
	for (uint32_t at = 0; at < plan->circuits_count; at++) {
		const struct rank_pair *pair = &plan->circuits[at];
		struct flow *flow = &reroute->flows[reroute->running];

		if (!plan->ways[at].count || !way_loose(ledger, plan, at))
			continue;
		if (reroute->running == REROUTE_FLOWS)
			return false;
		*flow = (struct flow){
			.from = (uint8_t)seat_of(ledger, plan->accelerators[pair->src]),
			.to = (uint8_t)seat_of(ledger, plan->accelerators[pair->dst]),
			.running = true,
			.ports = ports.out[pair->src] < planes && ports.in[pair->dst] < planes,
			.slice = running->slice,
			.circuit = at,
			.through = through,
		};
		read_way(ledger, plan, at, flow);
		reroute->running++;
	}
	return true;
}

/* Sort hops with the same start together. */
static int by_place(const void *one, const void *other, void *context)
{
	const struct flow *a = one, *b = other;

	(void)context;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->through != b->through)
		return a->through < b->through ? -1 : 1;
	if (a->slice != b->slice)
		return a->slice < b->slice ? -1 : 1;
	return a->circuit < b->circuit ? -1 : a->circuit > b->circuit;
}

/* ------------------------------------------------------------------------- pool */

static bool same_strand(const struct strand *one, const struct strand *other)
{
	return one->from == other->from && one->to == other->to &&
	       one->guides_count == other->guides_count &&
	       !memcmp(one->guides, other->guides, one->guides_count * sizeof(one->guides[0]));
}

static uint32_t find_strand(const struct sites *sites, const struct strand *strand)
{
	uint32_t at = sites->strands_first[strand->from];

	while (!same_strand(&sites->strands[at], strand))
		at++;
	return at;
}

/* Reserve the guides and elements of a hop for the pool. False if another hop has one of them. */
static bool pass(struct morph_defrag *defrag, const struct strand *strand)
{
	for (uint32_t at = 0; at < strand->guides_count; at++)
		if (defrag->guides_taken[strand->guides[at] >> 1] ||
		    (at && defrag->elements_taken[strand->elements[at - 1]]))
			return false;
	for (uint32_t at = 0; at < strand->guides_count; at++) {
		defrag->guides_taken[strand->guides[at] >> 1] = 1;
		if (at)
			defrag->elements_taken[strand->elements[at - 1]] = 1;
	}
	return true;
}

static int pool_add(struct morph_defrag *defrag, uint32_t strand, uint32_t holder)
{
	int ret = DEFRAG_GROW(defrag, pool, 1);

	if (!ret)
		defrag->pool.list[defrag->pool.count++] =
			(struct pooled){ .strand = strand, .holder = holder };
	return ret;
}

/* Add the hops that flows use. */
static int pool_held(struct morph_defrag *defrag, const struct morph_ledger *ledger)
{
	int ret = 0;

	for (uint32_t number = 0; number < defrag->reroute->running && !ret; number++) {
		const struct flow *flow = &defrag->reroute->flows[number];
		const struct running *running = defrag->slices.list;
		const struct circuit_way *way;

		while (running->slice != flow->slice)
			running++;
		way = &running->plan->ways[flow->circuit];
		for (uint32_t at = 0; at < way->count && !ret; at++) {
			const struct strand *strand = &running->plan->strands[way->first + at];

			pass(defrag, strand);
			ret = pool_add(defrag, find_strand(&ledger->sites, strand), number);
		}
	}
	return ret;
}

/* Add the free hops of the rack. Of hops that share a part, only the first is added. */
static int pool_free(struct morph_defrag *defrag, const struct morph_ledger *ledger, uint32_t rack)
{
	const struct sites *sites = &ledger->sites;
	int ret = 0;

	for (uint32_t seat = 0; seat < sites->racks[rack].hosts_count; seat++) {
		uint32_t host = sites->rack_hosts[sites->racks[rack].hosts_first + seat];

		for (uint32_t at = sites->strands_first[host];
		     at < sites->strands_first[host + 1] && !ret; at++) {
			const struct strand *strand = &sites->strands[at];

			if (sites->host_rack[strand->to] != rack || !lm_strand_free(ledger, strand))
				continue;
			if (pass(defrag, strand))
				ret = pool_add(defrag, at, DEFRAG_NOBODY);
		}
	}
	return ret;
}

/*
 * A hop that shares a part with one of the pool could be free in other routings. The pool is then
 * not exact.
 */
static void look_for_rivals(struct morph_defrag *defrag, const struct morph_ledger *ledger,
			    uint32_t rack)
{
	const struct sites *sites = &ledger->sites;

	for (uint32_t at = 0; at < sites->strands_count; at++) {
		const struct strand *strand = &sites->strands[at];
		bool shared = false, pooled = false;

		if (sites->host_rack[strand->from] != rack || sites->host_rack[strand->to] != rack)
			continue;
		for (uint32_t guide = 0; guide < strand->guides_count; guide++)
			shared |= defrag->guides_taken[strand->guides[guide] >> 1] ||
				  (guide && defrag->elements_taken[strand->elements[guide - 1]]);
		for (uint32_t other = 0; shared && !pooled && other < defrag->pool.count; other++)
			pooled = defrag->pool.list[other].strand == at;
		if (shared && !pooled && lm_strand_healthy(ledger, strand))
			defrag->exact = false;
	}
}

static int by_strand(const void *one, const void *other, void *context)
{
	const struct pooled *a = one, *b = other;

	(void)context;

	return a->strand < b->strand ? -1 : a->strand > b->strand;
}

/* Hops are sorted by host, and so are servers. After sorting, hops of one link are adjacent. */
static void pool_sort(struct morph_defrag *defrag, const struct sites *sites)
{
	uint32_t at = 0;

	if (defrag->pool.count)
		lm_sort(defrag->pool.list, defrag->pool.count, sizeof(*defrag->pool.list),
			by_strand, NULL);
	for (uint32_t link = 0; link <= NET_SITES * NET_SITES; link++) {
		for (; at < defrag->pool.count; at++) {
			const struct strand *strand = &sites->strands[defrag->pool.list[at].strand];

			if (sites->host_seat[strand->from] * NET_SITES +
				    sites->host_seat[strand->to] >=
			    link)
				break;
		}
		defrag->pool_first[link] = at;
	}
	for (at = 0; at < defrag->pool.count; at++) {
		const struct strand *strand = &sites->strands[defrag->pool.list[at].strand];
		uint32_t from = sites->host_seat[strand->from], to = sites->host_seat[strand->to];
		struct net *room = &defrag->reroute->room;

		if (room->room[from][to] < NET_ROOM)
			lm_net_set_room(room, from, to, room->room[from][to] + 1U);
		else
			defrag->exact = false;
	}
}

static int scratch(struct morph_ctx *ctx, uint8_t **list, uint32_t *room, uint32_t count)
{
	if (*room < count) {
		uint8_t *more = realloc(*list, count);

		if (!more)
			return lm_no_memory(ctx, "defragment");
		*list = more;
		*room = count;
	}
	memset(*list, 0, count);
	return 0;
}

/* The servers that the request's circuits can cross. */
static uint64_t request_seats(const struct morph_ledger *ledger,
			      const struct morph_request *request, uint32_t rack)
{
	return request->transit == MORPH_TRANSIT_OWN ?
		       own_seats(ledger, rack, 0) :
		       net_all(ledger->sites.racks[rack].hosts_count);
}

/*
 * Whether free hops exist where the request's light cannot cross. Light could end there, but the
 * search does not route it there.
 */
static bool leaves_out(const struct morph_ledger *ledger, uint64_t through, uint32_t rack)
{
	const struct sites *sites = &ledger->sites;

	for (uint32_t seat = 0; seat < sites->racks[rack].hosts_count; seat++)
		if (!(through >> seat & 1) &&
		    ledger->host_free[sites->rack_hosts[sites->racks[rack].hosts_first + seat]])
			return true;
	return false;
}

int lm_defrag_rack(struct morph_defrag *defrag, struct morph_ledger *ledger,
		   const struct morph_request *request, uint32_t rack)
{
	struct reroute *reroute = defrag->reroute;
	struct morph_ctx *ctx = defrag->ctx;
	int ret;

	defrag->exact = true;
	defrag->pool.count = 0;
	reroute->running = 0;
	lm_net_init(&reroute->room, ledger->sites.racks[rack].hosts_count);
	ret = scratch(ctx, &defrag->guides_taken, &defrag->guides_room,
		      ledger->graph->guides_count + 1);
	if (!ret)
		ret = scratch(ctx, &defrag->elements_taken, &defrag->elements_room,
			      ledger->graph->elements_count + 1);
	if (ret)
		return ret;
	for (uint32_t at = 0; at < defrag->slices.count; at++) {
		const struct running *running = &defrag->slices.list[at];
		uint32_t host = ledger->graph->accelerators[running->plan->accelerators[0]].host;

		if (!running->pinned && ledger->sites.host_rack[host] == rack &&
		    !add_flows(defrag, ledger, running, rack))
			defrag->exact = false;
	}
	if (reroute->running)
		lm_sort(reroute->flows, reroute->running, sizeof(*reroute->flows), by_place, NULL);
	ret = pool_held(defrag, ledger);
	if (!ret)
		ret = pool_free(defrag, ledger, rack);
	if (ret)
		return ret;
	look_for_rivals(defrag, ledger, rack);
	pool_sort(defrag, &ledger->sites);
	reroute->through = request_seats(ledger, request, rack);
	if (leaves_out(ledger, reroute->through, rack))
		defrag->exact = false;
	lm_reroute_begin(reroute);
	return 0;
}
