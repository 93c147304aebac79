/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much light gets into a server by its fibres at once, or out of it. */
#ifndef LM_PLAN_GATES_H
#define LM_PLAN_GATES_H

#include <stdint.h>

#include "optics.h"

#define GATE_FIBRES 512 /* of a server, at most */

/* Light comes by fibres and ends in the server, or goes on by others. All may be turned round. */
struct gate {
	uint32_t host;
	uint32_t end_type; /* where it ends: MORPH_END_RX, or turned round MORPH_END_TX */
	uint32_t sources[GATE_FIBRES], sources_count; /* coded in the direction of light */
	uint32_t sinks[GATE_FIBRES], sinks_count;
	uint32_t limit; /* the answer: circuits */
};

/*
 * How many circuits can do so at once, at most, for each of @gates: elements lead as much light as
 * any of their states does, between any of their ports. A greatest flow by shortest ways (Edmonds
 * and Karp, 1972): O(circuits * guides of the server) each. 0 or -ENOMEM.
 */
int lm_gate_limits(const struct optics_graph *graph, struct gate *gates, uint32_t count);

#endif /* LM_PLAN_GATES_H */
