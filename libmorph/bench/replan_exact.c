// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The least number of circuits that change after the loss of ports. It uses nothing of the planner.
 * It reads a schedule from its wire form into plain lists of circuits and of their loads, and
 * evaluates these lists each time. The cost of replacing a circuit at one moment is the cost of a
 * unit of flow between its ranks (Bellman and Ford). Lit circuits are free, possible circuits cost
 * one, and each further setting costs one. All assignments of circuits to free planes are tried.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "../internal/planner.h"
#include "replan_exact.h"

#define NEVER UINT32_MAX
#define MOST_TIMES 4096
#define MOST_RANKS_ASKED 64

/* A circuit of a hold. */
struct link {
	uint32_t hold, plane, src, dst;
	uint64_t set, lit, dark;
	bool resident, lost;
	uint32_t cost; /* of a lost one */
	uint64_t planes; /* that it can use */
};

/* A transfer of a send. */
struct part {
	uint32_t round, src, dst;
	uint32_t first, hops; /* links */
	uint64_t from, until;
	bool gone; /* it needs another path */
	uint64_t gap;
};

struct exact {
	const struct lossy *lossy;
	uint32_t *words;
	uint32_t at; /* the next word */
	uint32_t ranks, planes;
	uint64_t lost_ps, change_ps, port_ps;
	uint32_t scope;
	struct link *links;
	uint32_t links_count;
	struct part *parts;
	uint32_t parts_count;
	uint32_t *passed;
	uint32_t passed_count;
	bool waits; /* until all circuits set now are lit */
	uint64_t *dear; /* moments at which it needs a set circuit */
	uint32_t dear_count, dear_room;
	bool apart;
};

static uint32_t take(struct exact *exact)
{
	return le32toh(exact->words[exact->at++]);
}

static uint64_t take_long(struct exact *exact)
{
	uint64_t low = take(exact);

	return low | (uint64_t)take(exact) << 32;
}

/* ------------------------------------------------------------------- reading */

static bool is_lost(const struct exact *exact, uint32_t rank, uint32_t plane, uint32_t port)
{
	for (uint32_t at = 0; at < exact->lossy->opts.count; at++) {
		const struct morph_loss *loss = &exact->lossy->losses[at];

		if (loss->rank == rank && loss->plane == plane && loss->ports & port)
			return true;
	}
	return false;
}

static void read_delay(struct exact *exact)
{
	exact->at = MORPH_WIRE_HEAD;
	exact->scope = take(exact);
	exact->at += 6;
	exact->change_ps = take_long(exact);
	exact->port_ps = take_long(exact);
}

/* A matching has two words, and so has a circuit; holds follow, with eight. */
static void read_links(struct exact *exact, uint32_t matchings, uint32_t circuits, uint32_t holds,
		       uint32_t residents)
{
	uint32_t tables = exact->at, lists = tables + 2 * matchings;

	for (uint32_t hold = 0; hold < holds; hold++) {
		uint32_t plane, first, count;
		uint64_t set, lit, dark;

		exact->at = lists + 2 * circuits + 8 * hold;
		plane = take(exact);
		first = take(exact);
		set = take_long(exact);
		lit = take_long(exact);
		dark = take_long(exact);
		exact->at = tables + 2 * first;
		first = take(exact);
		count = take(exact);
		exact->at = lists + 2 * first;
		while (count--) {
			struct link *link = &exact->links[exact->links_count++];

			*link = (struct link){ .hold = hold,
					       .plane = plane,
					       .src = take(exact),
					       .set = set,
					       .lit = lit,
					       .dark = dark,
					       .resident = hold < residents };
			link->dst = take(exact);
			link->lost = dark > exact->lost_ps &&
				     (is_lost(exact, link->src, plane, MORPH_LOSS_TRANSMIT) ||
				      is_lost(exact, link->dst, plane, MORPH_LOSS_RECEIVE));
		}
	}
}

static uint32_t link_of(const struct exact *exact, uint32_t hold, uint32_t src)
{
	for (uint32_t at = 0; at < exact->links_count; at++)
		if (exact->links[at].hold == hold && exact->links[at].src == src)
			return at;
	return NEVER;
}

static void read_part(struct exact *exact, const struct part *like, uint32_t number, uint32_t hops)
{
	struct part *part = &exact->parts[exact->parts_count++];
	struct morph_transfer transfer;
	uint32_t rank;

	morph_collective_transfer(exact->lossy->collective, like->round, number, &transfer);
	*part = *like;
	part->src = rank = transfer.src;
	part->dst = transfer.dst;
	part->first = exact->passed_count;
	exact->at = hops;
	for (uint32_t hop = 0; hop < part->hops; hop++) {
		uint32_t link = link_of(exact, take(exact), rank);

		exact->passed[exact->passed_count++] = link;
		rank = exact->links[link].dst;
		part->gone = part->gone ||
			     (exact->links[link].lost && part->until > exact->lost_ps);
	}
}

/* A send has eleven words; hops follow. */
static void read_parts(struct exact *exact, uint32_t sends, uint32_t first_send)
{
	for (uint32_t send = 0; send < sends; send++) {
		struct part part = { 0 };
		uint32_t first, count, hops;

		exact->at = first_send + 11 * send;
		part.round = take(exact);
		first = take(exact);
		count = take(exact);
		hops = first_send + 11 * sends + take(exact);
		part.hops = take(exact);
		exact->at += 2;
		part.from = take_long(exact);
		part.until = take_long(exact);
		while (count--)
			read_part(exact, &part, first++, hops);
	}
}

/* The number of parts of sends, and of their hops. */
static uint32_t count_parts(struct exact *exact, uint32_t sends, uint32_t first_send,
			    uint32_t *hops)
{
	uint32_t parts = 0;

	*hops = 0;
	for (uint32_t send = 0; send < sends; send++) {
		uint32_t count, each;

		exact->at = first_send + 11 * send + 2;
		count = take(exact);
		exact->at++;
		each = take(exact);
		parts += count;
		*hops += count * each;
	}
	return parts;
}

static bool read_schedule(struct exact *exact)
{
	uint32_t residents, matchings, circuits, holds, sends, first, hops, parts;

	exact->at = MORPH_WIRE_HEAD + 1;
	exact->ranks = take(exact);
	exact->planes = take(exact);
	exact->at += 5;
	residents = take(exact);
	matchings = take(exact);
	circuits = take(exact);
	holds = take(exact);
	sends = take(exact);
	take(exact);
	first = exact->at + 2 * matchings + 2 * circuits + 8 * holds;
	exact->links = calloc((size_t)holds * exact->ranks + 1, sizeof(*exact->links));
	if (!exact->links)
		return false;
	read_links(exact, matchings, circuits, holds, residents);
	parts = count_parts(exact, sends, first, &hops);
	exact->parts = calloc((size_t)parts + 1, sizeof(*exact->parts));
	exact->passed = calloc((size_t)hops + 1, sizeof(*exact->passed));
	if (!exact->parts || !exact->passed)
		return false;
	read_parts(exact, sends, first);
	return true;
}

/* The end of all data that is sent beside it without a pause. */
static void find_gap(struct exact *exact, struct part *part)
{
	bool more = true;

	part->gap = part->until;
	while (more) {
		more = false;
		for (uint32_t at = 0; at < exact->parts_count; at++) {
			const struct part *other = &exact->parts[at];

			if (other->round == part->round && other->from < part->gap &&
			    other->until > part->gap) {
				part->gap = other->until;
				more = true;
			}
		}
	}
}

/* ---------------------------------------------------------------- at a moment */

static bool passes(const struct exact *exact, const struct part *part, uint32_t link)
{
	for (uint32_t hop = 0; hop < part->hops; hop++)
		if (exact->passed[part->first + hop] == link)
			return true;
	return false;
}

static bool is_there(const struct exact *exact, const struct link *link, uint64_t ps)
{
	(void)exact;
	return !link->lost && (link->resident || link->set < ps) && link->dark >= ps;
}

static bool is_changing(const struct exact *exact, const struct link *link, uint64_t ps)
{
	return !exact->waits && link->set < ps && link->lit > ps && !link->resident;
}

/* A changing plane carries nothing if changes stop planes. */
static bool is_stopped(const struct exact *exact, uint32_t plane, uint64_t ps)
{
	if (!exact->scope)
		return false;
	for (uint32_t at = 0; at < exact->links_count; at++)
		if (exact->links[at].plane == plane && is_changing(exact, &exact->links[at], ps))
			return true;
	return false;
}

/*
 * If programming a port takes time, the ports of a plane are programmed one after the other, and
 * new circuits wait.
 */
static bool is_programmed(const struct exact *exact, uint32_t plane, uint64_t ps)
{
	if (exact->scope || !exact->port_ps)
		return false;
	for (uint32_t at = 0; at < exact->links_count; at++) {
		const struct link *link = &exact->links[at];

		if (link->plane == plane && is_changing(exact, link, ps) &&
		    link->lit - exact->change_ps > ps)
			return true;
	}
	return false;
}

static bool is_wanted(const struct exact *exact, uint32_t number, uint64_t ps)
{
	const struct link *link = &exact->links[number];

	for (uint32_t at = 0; at < exact->parts_count; at++)
		if (exact->parts[at].from >= ps && passes(exact, &exact->parts[at], number))
			return true;
	for (uint32_t at = 0; at < exact->links_count; at++) {
		const struct link *next = &exact->links[at];

		if (next->plane == link->plane && next->src == link->src &&
		    next->dst == link->dst && next->set == link->dark && at != number &&
		    next->hold > link->hold)
			return true;
	}
	return false;
}

/* Costs of ports at a moment, and joined ranks. */
struct moment {
	uint32_t out[64][MOST_RANKS_ASKED], in[64][MOST_RANKS_ASKED]; /* by plane; NEVER: not now */
	bool joined[MOST_RANKS_ASKED][MOST_RANKS_ASKED];
};

static void look_at(const struct exact *exact, uint64_t ps, struct moment *moment)
{
	bool stopped[64] = { false };

	memset(moment, 0, sizeof(*moment));
	for (uint32_t plane = 0; plane < exact->planes; plane++) {
		bool programmed = is_programmed(exact, plane, ps);

		stopped[plane] = is_stopped(exact, plane, ps);
		for (uint32_t rank = 0; rank < exact->ranks; rank++) {
			if (programmed || stopped[plane] ||
			    is_lost(exact, rank, plane, MORPH_LOSS_TRANSMIT))
				moment->out[plane][rank] = NEVER;
			if (programmed || stopped[plane] ||
			    is_lost(exact, rank, plane, MORPH_LOSS_RECEIVE))
				moment->in[plane][rank] = NEVER;
		}
	}
	for (uint32_t at = 0; at < exact->links_count; at++) {
		const struct link *link = &exact->links[at];
		uint32_t *out = &moment->out[link->plane][link->src];
		uint32_t *in = &moment->in[link->plane][link->dst], cost;

		if (!is_there(exact, link, ps) || stopped[link->plane])
			continue;
		cost = is_changing(exact, link, ps) ? NEVER : is_wanted(exact, at, ps);
		*out = *out > cost ? *out : cost;
		*in = *in > cost ? *in : cost;
		if (cost != NEVER)
			moment->joined[link->src][link->dst] = true;
	}
}

/* The cost of a unit of flow; with @set false over lit circuits only. */
static uint32_t flow(const struct exact *exact, const struct moment *moment, uint32_t src,
		     uint32_t dst, bool set)
{
	uint32_t cost[MOST_RANKS_ASKED];
	bool more = true;

	memset(cost, 0xff, sizeof(cost));
	cost[src] = 0;
	while (more) {
		more = false;
		for (uint32_t from = 0; from < exact->ranks; from++)
			for (uint32_t to = 0; cost[from] != NEVER && to < exact->ranks; to++) {
				uint32_t least = moment->joined[from][to] ? 0 : NEVER;

				for (uint32_t plane = 0; set && plane < exact->planes; plane++) {
					uint32_t out = moment->out[plane][from];
					uint32_t in = moment->in[plane][to];

					if (out != NEVER && in != NEVER && from != to &&
					    1 + out + in < least)
						least = 1 + out + in;
				}
				if (least != NEVER && cost[from] + least < cost[to]) {
					cost[to] = cost[from] + least;
					more = true;
				}
			}
	}
	return cost[dst];
}

static bool is_free(const struct exact *exact, const struct link *link, uint32_t plane,
		    uint64_t from, uint64_t until)
{
	if (is_lost(exact, link->src, plane, MORPH_LOSS_TRANSMIT) ||
	    is_lost(exact, link->dst, plane, MORPH_LOSS_RECEIVE))
		return false;
	for (uint32_t at = 0; at < exact->links_count; at++) {
		const struct link *other = &exact->links[at];

		if (other->plane == plane && other->set < until && other->dark > from &&
		    (other->src == link->src || other->dst == link->dst))
			return false;
	}
	return true;
}

/* Whether it can be set now for the rest of its hold. */
static bool can_stay(const struct exact *exact, const struct moment *moment,
		     const struct link *link, uint64_t ps)
{
	for (uint32_t plane = 0; link->dark > ps && plane < exact->planes; plane++)
		if (!moment->out[plane][link->src] && !moment->in[plane][link->dst] &&
		    is_free(exact, link, plane, ps, link->dark))
			return true;
	return false;
}

/* The cost of all loads that need another path at this moment. */
static uint32_t cost_at(struct exact *exact, uint32_t number, uint64_t ps, bool *stays)
{
	static struct moment moment;
	const struct link *link = &exact->links[number];
	uint32_t cost = NEVER;

	for (int waits = 0; cost == NEVER && waits < 2; waits++) {
		bool all = true;

		exact->waits = waits;
		look_at(exact, ps, &moment);
		for (uint32_t at = 0; at < exact->parts_count; at++) {
			const struct part *part = &exact->parts[at];

			if (part->gone && part->gap == ps && passes(exact, part, number))
				all = all &&
				      flow(exact, &moment, part->src, part->dst, false) != NEVER;
		}
		cost = all ? 0 : flow(exact, &moment, link->src, link->dst, true);
		*stays = can_stay(exact, &moment, link, ps);
	}
	return cost;
}

/* --------------------------------------------------------------- a circuit alone */

static int by_time(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/* The moments of its loads. Returns their number. */
static uint32_t list_times(const struct exact *exact, uint32_t number, uint64_t *times)
{
	uint32_t count = 0, kept = 0;

	for (uint32_t at = 0; at < exact->parts_count && count < MOST_TIMES; at++)
		if (exact->parts[at].gone && exact->parts[at].until > exact->lost_ps &&
		    passes(exact, &exact->parts[at], number))
			times[count++] = exact->parts[at].gap;
	qsort(times, count, sizeof(*times), by_time);
	for (uint32_t at = 0; at < count; at++)
		if (!kept || times[kept - 1] != times[at])
			times[kept++] = times[at];
	return kept;
}

/* Costs at each moment for one circuit alone. */
static void note_dear(struct exact *exact, uint64_t ps)
{
	for (uint32_t at = 0; at < exact->dear_count; at++)
		if (exact->dear[at] == ps)
			exact->apart = false;
	if (exact->dear_count < exact->dear_room)
		exact->dear[exact->dear_count++] = ps;
	else
		exact->apart = false;
}

static uint32_t cost_of(struct exact *exact, uint32_t number)
{
	static uint64_t times[MOST_TIMES];
	uint32_t count = list_times(exact, number, times), sum = 0, least = NEVER;

	for (uint32_t at = 0; at < count; at++) {
		bool stays = false;
		uint32_t cost = cost_at(exact, number, times[at], &stays);

		if (stays && sum + 1 < least)
			least = sum + 1;
		if (cost)
			note_dear(exact, times[at]);
		/* A load that can use other circuits may not need this one. */
		exact->apart = exact->apart && cost != NEVER;
		if (cost == NEVER)
			return least;
		sum += cost;
	}
	least = sum < least ? sum : least;
	return least ? least : 1;
}

/*
 * Whether circuits set on a plane are one change, because changes stop the plane or its ports are
 * programmed one after the other.
 */
static bool is_one_change(const struct exact *exact)
{
	return exact->scope == 1 || (!exact->scope && exact->port_ps);
}

/*
 * Whether circuits set at once on a plane fit into one change: enough time, and no other change
 * meanwhile.
 */
static bool is_paid(const struct exact *exact, const struct link *link, uint32_t plane)
{
	uint64_t takes = link->lit - link->set, come = 0, there = 0;
	uint64_t behind = exact->scope ? 0 : exact->change_ps;

	for (uint32_t at = 0; at < exact->links_count; at++) {
		const struct link *other = &exact->links[at];

		come += other->lost && other->plane == link->plane && other->set == link->set;
		if (other->plane != plane || other->set == other->lit ||
		    other->set >= link->lit - behind || other->lit - behind <= link->set)
			continue;
		if (other->set != link->set)
			return false;
		takes = other->lit - other->set < takes ? other->lit - other->set : takes;
		there++;
	}
	return !there || takes >= exact->change_ps + exact->port_ps * (there + come);
}

/* Planes on which it fits for its whole hold. */
static uint64_t planes_of(const struct exact *exact, uint32_t number)
{
	const struct link *link = &exact->links[number];
	uint64_t planes = 0;

	if (link->set < exact->lost_ps || link->resident ||
	    link->lit - link->set < exact->change_ps + exact->port_ps)
		return 0;
	for (uint32_t at = 0; at < exact->parts_count; at++)
		if (exact->parts[at].from < link->lit && passes(exact, &exact->parts[at], number))
			return 0;
	for (uint32_t at = 0; exact->scope && exact->port_ps && at < exact->links_count; at++) {
		const struct link *before = &exact->links[at];

		if (before->hold < link->hold && before->plane == link->plane &&
		    before->dark == link->set && before->src == link->src &&
		    before->dst == link->dst)
			return 0;
	}
	for (uint32_t plane = 0; plane < exact->planes; plane++) {
		bool quiet = true;

		for (uint32_t at = 0; exact->scope == 1 && at < exact->parts_count; at++)
			for (uint32_t hop = 0; hop < exact->parts[at].hops; hop++)
				if (exact->links[exact->passed[exact->parts[at].first + hop]]
						    .plane == plane &&
				    exact->parts[at].from < link->lit &&
				    exact->parts[at].until > link->set)
					quiet = false;
		if (quiet && is_free(exact, link, plane, link->set, link->dark) &&
		    (!is_one_change(exact) || is_paid(exact, link, plane)))
			planes |= 1ULL << plane;
	}
	return planes;
}

/* ------------------------------------------------------------------ all of them */

/*
 * The least cost of circuits from this one on, each on a plane without a conflict, or at its cost.
 */
static uint32_t try_planes(const struct exact *exact, uint32_t *dear, uint32_t count, uint32_t at,
			   uint32_t *planes)
{
	const struct link *link = &exact->links[dear[at]];
	uint32_t least, rest;

	if (at == count)
		return 0;
	planes[at] = NEVER;
	least = try_planes(exact, dear, count, at + 1, planes);
	least = link->cost == NEVER || least == NEVER ? NEVER : least + link->cost;
	for (uint32_t plane = 0; plane < exact->planes; plane++) {
		bool taken = false;

		for (uint32_t of = 0; of < at; of++) {
			const struct link *other = &exact->links[dear[of]];

			taken = taken || (planes[of] == plane && other->set < link->dark &&
					  other->dark > link->set &&
					  (other->src == link->src || other->dst == link->dst));
			taken = taken || (planes[of] == plane && is_one_change(exact) &&
					  other->plane != link->plane);
		}
		if (taken || !(link->planes >> plane & 1))
			continue;
		planes[at] = plane;
		rest = try_planes(exact, dear, count, at + 1, planes);
		if (rest != NEVER && rest + 1 < least)
			least = rest + 1;
	}
	return least;
}

#define MOST_DEAR 12 /* limit of the enumeration of planes */

static uint32_t add_up(struct exact *exact)
{
	uint32_t dear[MOST_DEAR + 1] = { 0 }, planes[MOST_DEAR + 1], count = 0, sum = 0, rest;

	for (uint32_t at = 0; at < exact->links_count; at++) {
		struct link *link = &exact->links[at];

		if (!link->lost)
			continue;
		link->cost = cost_of(exact, at);
		link->planes = link->cost > 1 ? planes_of(exact, at) : 0;
		if (link->planes && count < MOST_DEAR)
			dear[count++] = at;
		else if (link->planes)
			sum++;
		else if (link->cost == NEVER)
			return NEVER;
		else
			sum += link->cost;
	}
	rest = try_planes(exact, dear, count, 0, planes);
	return rest == NEVER ? NEVER : sum + rest;
}

static uint32_t *read_words(struct exact *exact, ssize_t bytes)
{
	free(exact->words);
	exact->words = malloc((size_t)bytes);
	return exact->words;
}

struct replan_least replan_exact(const struct lossy *lossy)
{
	static uint64_t dear[MOST_TIMES];
	struct exact exact = { .lossy = lossy,
			       .lost_ps = lossy->opts.from_ns * 1000,
			       .dear = dear,
			       .dear_room = MOST_TIMES,
			       .apart = true };
	uint32_t ranks = morph_collective_ranks(lossy->collective), least = NEVER;
	uint32_t busy = morph_collective_busy(lossy->collective);
	ssize_t bytes = morph_delay_write(lossy->delay, busy, NULL, 0);

	if (ranks > MOST_RANKS_ASKED || !read_words(&exact, bytes))
		return (struct replan_least){ NEVER, false };
	morph_delay_write(lossy->delay, busy, exact.words, (size_t)bytes);
	read_delay(&exact);
	bytes = morph_schedule_write(lossy->schedule, NULL, 0);
	if (read_words(&exact, bytes)) {
		morph_schedule_write(lossy->schedule, exact.words, (size_t)bytes);
		if (read_schedule(&exact)) {
			for (uint32_t at = 0; at < exact.parts_count; at++)
				if (exact.parts[at].gone)
					find_gap(&exact, &exact.parts[at]);
			least = add_up(&exact);
		}
	}
	free(exact.words);
	free(exact.links);
	free(exact.parts);
	free(exact.passed);
	return (struct replan_least){ least, exact.apart };
}
