/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The network that placement sees: sites, which are the servers of a rack, and how many
 * circuits may still go from one to the next. Light crosses a site without touching its
 * accelerators, so whoever holds them, circuits may pass.
 */
#ifndef LM_PLAN_NET_H
#define LM_PLAN_NET_H

#include <stdbool.h>
#include <stdint.h>

#define NET_SITES 64 /* at most: a set of sites is one word */
#define NET_ROOM 255 /* from one site to another, at most */
#define NET_APART 255 /* the distance where there is no way */

struct net {
	uint32_t sites;
	uint32_t room_total;
	uint64_t out[NET_SITES]; /* sites to which there is room */
	uint64_t in[NET_SITES]; /* sites from which there is */
	uint64_t stops; /* sites where light may begin and end, but that it may not cross */
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

/* A network of @sites sites, at most NET_SITES, with no room anywhere. */
void lm_net_init(struct net *net, uint32_t sites);

/* Set the room from one site to another. */
void lm_net_set_room(struct net *net, uint32_t from, uint32_t to, uint32_t room);

/* Take @units of room, or give them back where @units is negative. */
void lm_net_take(struct net *net, uint32_t from, uint32_t to, int32_t units);

/* Hops between all pairs, over links with room; O(sites * (sites + links)). */
void lm_net_measure(const struct net *net, net_distances distances);

/* Hops from each site to @to; O(sites + links). */
void lm_net_measure_to(const struct net *net, uint32_t to, uint8_t distances[NET_SITES]);

/*
 * Does the room of all @count networks together suffice for @out circuits that begin at a site, and @in that end
 * there? O(links of the site).
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

/* The room of all links that lead out of @set. */
uint32_t lm_net_room_out(const struct net *net, uint64_t set);

#endif /* LM_PLAN_NET_H */
