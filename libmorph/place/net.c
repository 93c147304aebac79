// SPDX-License-Identifier: LGPL-2.1-or-later
/* Servers, the capacities between them, and distances. */
#include <string.h>

#include "net.h"

void lm_net_init(struct net *net, uint32_t sites)
{
	memset(net, 0, sizeof(*net));
	net->sites = sites;
}

void lm_net_set_room(struct net *net, uint32_t from, uint32_t to, uint32_t room)
{
	net->room_total += room - net->room[from][to];
	net->room[from][to] = (uint8_t)room;
	net->out[from] = (net->out[from] & ~(1ULL << to)) | (uint64_t) !!room << to;
	net->in[to] = (net->in[to] & ~(1ULL << from)) | (uint64_t) !!room << from;
}

void lm_net_take(struct net *net, uint32_t from, uint32_t to, int32_t units)
{
	lm_net_set_room(net, from, to, (uint32_t)((int32_t)net->room[from][to] - units));
}

/* Breadth-first search over sets of servers. It does not continue from stops. */
static void measure(const uint64_t *next, uint64_t stops, uint32_t at, uint8_t distances[NET_SITES])
{
	uint64_t seen = 1ULL << at, ring = seen;

	for (uint8_t hops = 0; ring; hops++) {
		uint64_t reached = 0;

		for (; ring; ring &= ring - 1) {
			distances[net_first(ring)] = hops;
			if (!hops || !(stops >> net_first(ring) & 1))
				reached |= next[net_first(ring)];
		}
		ring = reached & ~seen;
		seen |= ring;
	}
}

void lm_net_measure(const struct net *net, net_distances distances)
{
	for (uint32_t from = 0; from < net->sites; from++) {
		memset(distances[from], NET_APART, NET_SITES);
		measure(net->out, net->stops, from, distances[from]);
	}
}

void lm_net_measure_to(const struct net *net, uint32_t to, uint8_t distances[NET_SITES])
{
	memset(distances, NET_APART, NET_SITES);
	measure(net->in, net->stops, to, distances);
}

uint32_t lm_net_room_out(const struct net *net, uint64_t set)
{
	uint32_t room = 0;

	for (uint64_t left = set; left; left &= left - 1) {
		uint32_t from = net_first(left);

		for (uint64_t to = net->out[from] & ~set; to; to &= to - 1)
			room += net->room[from][net_first(to)];
	}
	return room;
}
