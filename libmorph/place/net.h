/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The network of placement. A *site* is a server of a rack; the network has the number of free
 * circuits from each site to the next. Light crosses a site without touching its accelerators, so
 * circuits can cross sites of other tenants.
 */
#ifndef LM_PLAN_NET_H
#define LM_PLAN_NET_H

#include <stdbool.h>
#include <stdint.h>

#define NET_SITES 64 /* limit; a set of sites is one word */
#define NET_ROOM 255 /* limit of the capacity from one site to another */
#define NET_APART 255 /* distance of sites without a path */

struct net {
	uint32_t sites;
	uint32_t room_total;
	uint64_t out[NET_SITES]; /* sites with capacity from this one */
	uint64_t in[NET_SITES]; /* sites with capacity to this one */
	uint64_t stops; /* sites where light can begin and end, but which it cannot cross */
	uint8_t room[NET_SITES][NET_SITES]; /* [from][to] */
};

typedef uint8_t net_distances[NET_SITES][NET_SITES]; /* [from][to], in hops */

static inline uint32_t net_first(uint64_t set)
{
	return (uint32_t)__builtin_ctzll(set);
}

static inline uint32_t net_count(uint64_t set)
{
	return (uint32_t)__builtin_popcountll(set);
}

/* The sites 0 to @count - 1. */
static inline uint64_t net_all(uint32_t count)
{
	return count < 64 ? (1ULL << count) - 1 : ~0ULL;
}

/* Begin a network of @sites sites, at most NET_SITES, without capacity. */
void lm_net_init(struct net *net, uint32_t sites);

/* Set the capacity from one site to another. */
void lm_net_set_room(struct net *net, uint32_t from, uint32_t to, uint32_t room);

/* Take @units of capacity; a negative number gives them back. */
void lm_net_take(struct net *net, uint32_t from, uint32_t to, int32_t units);

/* Hops between all pairs, over links with capacity. O(sites * (sites + links)). */
void lm_net_measure(const struct net *net, net_distances distances);

/* Hops from each site to @to. O(sites + links). */
void lm_net_measure_to(const struct net *net, uint32_t to, uint8_t distances[NET_SITES]);

/*
 * Whether all @count networks together have capacity for @out circuits that begin at a site, and
 * @in that end there. O(links of the site).
 */
static inline bool net_suffices(const struct net *nets, uint32_t count, uint32_t site, int32_t out,
				int32_t in)
{
	for (uint32_t at = 0; at < count; at++) {
		const struct net *net = &nets[at];

		for (uint64_t left = net->out[site]; left && out > 0; left &= left - 1)
			out -= net->room[site][net_first(left)];
		for (uint64_t left = net->in[site]; left && in > 0; left &= left - 1)
			in -= net->room[net_first(left)][site];
	}
	return out <= 0 && in <= 0;
}

/* The capacity of all links that leave @set. */
uint32_t lm_net_room_out(const struct net *net, uint64_t set);

#endif /* LM_PLAN_NET_H */
