/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A fabric by server: its elements and accelerators, and the fibres between servers. */
#ifndef LM_PLAN_HOSTS_H
#define LM_PLAN_HOSTS_H

#include "model.h"
#include "optics.h"

/* All fibres between two nodes. Nodes are servers, followed by the elements outside servers. */
struct bundle {
	uint32_t nodes[2];
	uint32_t first; /* of its fibres, which end where those of the next bundle begin */
};

struct hosts {
	const struct optics_graph *graph;
	uint32_t nodes_count;
	uint32_t bundles_count;
	uint32_t *node; /* by element */
	uint32_t *first_element; /* by node, and one past the last */
	uint32_t *elements; /* by node */
	struct bundle *bundles; /* and one past the last */
	uint32_t *fibres; /* guides, by bundle */
	uint32_t *first_arc; /* by node, and one past the last */
	uint32_t *arcs; /* neighbouring nodes */
};

/* O(fabric), and sorting of its fibres. 0 or -ENOMEM; the caller frees @hosts in both cases. */
int lm_hosts_make(struct morph_ctx *ctx, struct hosts *hosts, const struct optics_graph *graph);
void lm_hosts_free(struct hosts *hosts);

/*
 * Number of fibres from a node to each other one, UINT32_MAX if unreachable. @queue has space for
 * all nodes. O(nodes and bundles).
 */
void lm_hosts_distances(const struct hosts *hosts, uint32_t from, uint32_t *distances,
			uint32_t *queue);

#endif /* LM_PLAN_HOSTS_H */
