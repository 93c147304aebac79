/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shortest paths between at most 64 nodes (E. W. Dijkstra, Numerische Mathematik 1, pp. 269-271,
 * 1959). Sets of nodes are bits of a word. Of several open nodes with the same cost, the node with
 * the lowest number comes next, and of several paths with the same cost, the first that is found
 * stays.
 *
 * 	shortest_begin(&search, from);
 * 	while ((at = shortest_next(&search)) != SHORTEST_NONE && at != to)
 * 		for each neighbour of @at that is not in search.done:
 * 			shortest_reach(&search, at, neighbour, search.cost[at] + price);
 *
 * The caller sets the unit of costs and takes care that sums fit 32 bits. Nothing is allocated and
 * nothing fails. Threads need a search each. A search costs O(nodes^2 + edges).
 */
#ifndef LM_UTIL_SHORTEST_H
#define LM_UTIL_SHORTEST_H

#include <stdbool.h>
#include <stdint.h>

#define SHORTEST_NODES 64
#define SHORTEST_NONE UINT32_MAX

struct shortest {
	uint64_t open; /* nodes that were reached and have not come next */
	uint64_t done; /* nodes whose cost is final */
	uint32_t cost[SHORTEST_NODES]; /* of nodes in @open or @done only */
	uint8_t before[SHORTEST_NODES]; /* the node before, of nodes that were reached */
};

/* Begin at @from, which costs 0. */
static inline __attribute__((always_inline)) void shortest_begin(struct shortest *search,
								 uint32_t from)
{
	search->open = 1ULL << from;
	search->done = 0;
	search->cost[from] = 0;
}

/* Take the open node of the least cost; SHORTEST_NONE: no node is open. Its cost is final. */
static inline __attribute__((always_inline)) uint32_t shortest_next(struct shortest *search)
{
	uint64_t left = search->open;
	uint32_t at;

	if (!left)
		return SHORTEST_NONE;
	at = (uint32_t)__builtin_ctzll(left);
	for (left &= left - 1; left; left &= left - 1)
		if (search->cost[__builtin_ctzll(left)] < search->cost[at])
			at = (uint32_t)__builtin_ctzll(left);
	search->open &= ~(1ULL << at);
	search->done |= 1ULL << at;
	return at;
}

/*
 * A path reaches @to, which is not done, by @from at a total of @cost. Return whether it is the
 * cheapest so far.
 */
static inline __attribute__((always_inline)) bool
shortest_reach(struct shortest *search, uint32_t from, uint32_t to, uint32_t cost)
{
	if (search->open >> to & 1 && search->cost[to] <= cost)
		return false;
	search->open |= 1ULL << to;
	search->cost[to] = cost;
	search->before[to] = (uint8_t)from;
	return true;
}

/*
 * Write the nodes of the path that was found into @nodes, from @from to @to, both included. Returns
 * the number of edges, at most SHORTEST_NODES - 1.
 */
static inline uint32_t shortest_trace(const struct shortest *search, uint32_t from, uint32_t to,
				      uint8_t *nodes)
{
	uint32_t edges = 0, node = to;

	for (; node != from; node = search->before[node])
		edges++;
	node = to;
	for (uint32_t at = edges; at; at--, node = search->before[node])
		nodes[at] = (uint8_t)node;
	nodes[0] = (uint8_t)from;
	return edges;
}

#endif /* LM_UTIL_SHORTEST_H */
