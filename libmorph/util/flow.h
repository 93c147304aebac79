/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Maximum flow by shortest augmenting paths (Ford and Fulkerson, Canadian Journal of Mathematics 8,
 * 1956; Edmonds and Karp, Journal of the ACM 19, 1972). The caller keeps the network and its flow
 * in its own form and gives three functions of it. Each path carries one unit.
 */
#ifndef LM_UTIL_FLOW_H
#define LM_UTIL_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#define FLOW_UNSEEN UINT32_MAX /* @from of a node that is not reached */
#define FLOW_SOURCE (UINT32_MAX - 1) /* @from of a node that the source reaches at once */

/*
 * A breadth-first search in the residual network. The caller owns the arrays, one entry by node
 * each.
 */
struct flow_search {
	/* the node before, FLOW_SOURCE or FLOW_UNSEEN: all FLOW_UNSEEN to begin with */
	uint32_t *from;
	uint32_t *over; /* the edge between, in the caller's numbers */
	uint32_t *queue; /* nodes that are reached, in their order */
	uint32_t count; /* of them */
};

struct flow_network {
	/*
	 * Call flow_reach() for each node that the source reaches at once. Return whether the
	 * source reaches the sink at once; the function then has pushed that unit.
	 */
	bool (*start)(void *network, struct flow_search *search);
	/*
	 * Call flow_reach() for each node that @node reaches over an edge with residual capacity.
	 * Return whether it reaches the sink; the function then has pushed a unit from @node to the
	 * sink.
	 */
	bool (*expand)(void *network, struct flow_search *search, uint32_t node);
	/* Push a unit over the edge by which @node was reached. */
	void (*push)(void *network, const struct flow_search *search, uint32_t node);
};

/* A path reaches @node from node @from over edge @over. The first path stays. */
static inline void flow_reach(struct flow_search *search, uint32_t node, uint32_t from,
			      uint32_t over)
{
	if (search->from[node] != FLOW_UNSEEN)
		return;
	search->from[node] = from;
	search->over[node] = over;
	search->queue[search->count++] = node;
}

/*
 * Push one more unit from the source to the sink. False if the flow is a maximum: the nodes in
 * @search are then the side of the source of a minimum cut, the same one for each maximum flow. The
 * search may be used again; it allocates nothing and does not fail. The caller serialises calls on
 * one network. O(edges).
 */
bool lm_flow_augment(const struct flow_network *functions, void *network,
		     struct flow_search *search);

#endif /* LM_UTIL_FLOW_H */
