/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much light enters a server by its fibres at once, or leaves it. */
#ifndef LM_PLAN_GATES_H
#define LM_PLAN_GATES_H

#include <stdint.h>

#include "optics.h"

#define GATE_FIBRES 512 /* of a server, at most */

/*
 * Light enters by fibres and ends in the server, or leaves it by other fibres. Also used in
 * reverse.
 */
struct gate {
	uint32_t host;
	uint32_t end_type; /* where light ends: MORPH_END_RX; in reverse MORPH_END_TX */
	uint32_t sources[GATE_FIBRES], sources_count; /* coded in the direction of light */
	uint32_t sinks[GATE_FIBRES], sinks_count;
	uint32_t limit; /* the result: circuits */
};

/*
 * The maximum number of simultaneous circuits for each of @gates. An element passes as much light
 * as its best state, between any of its ports. Maximum flow by shortest paths (Edmonds and Karp,
 * 1972): O(circuits * guides of the server) each. 0 or -ENOMEM.
 */
int lm_gate_limits(const struct optics_graph *graph, struct gate *gates, uint32_t count);

#endif /* LM_PLAN_GATES_H */
