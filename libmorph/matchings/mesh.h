/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A fabric of elements as arrays, for the search of matchings.
 *
 * An arc is an element and the port at which light enters it, or leaves it. A turn is a passage of
 * an element: it begins at an arc, needs a state of the element, and ends at another arc. Turns
 * through the same two ports in the same state share a join, whatever their direction. An end is a
 * port of the rim of a hexagonal mesh, or a port of an accelerator.
 *
 * Two routes fit together if each element has one state and each join has one route.
 */
#ifndef LM_MATCHINGS_MESH_H
#define LM_MATCHINGS_MESH_H

#include "../internal/planner.h"

#define MESH_NONE UINT32_MAX
#define MESH_END 0x80000000u /* | end, in mesh.next */
#define MESH_FAR UINT16_MAX /* no way leads there */

struct mesh_turn {
	uint32_t in; /* the arc at which light enters the element */
	uint32_t state; /* of all elements */
	uint32_t join; /* of all states */
	uint32_t out; /* the arc at which light leaves the element */
};

/* Memory that arrays share. It grows only, so that later searches of the same size reuse it. */
struct mesh_block {
	void *memory;
	size_t bytes;
};

struct mesh_part {
	void *array; /* address of the pointer to set */
	size_t bytes;
};

/* Lay out arrays in a block; their content is undefined. Returns 0, or a noted -ENOMEM. */
int lm_mesh_lay(struct morph_ctx *ctx, struct mesh_block *block, const struct mesh_part *parts,
		size_t count);

/*
 * The comments name what an array is indexed by. An array NAME_first has the number of the first
 * NAME of each entry, and one more entry for the end of the last.
 */
struct mesh {
	uint32_t elements, arcs, states, joins, turns, ends; /* their numbers */
	uint32_t *arc_first; /* by element. Its ports have successive arcs */
	uint32_t *element; /* by arc: the element that has this port */
	uint32_t *next; /* by arc where light leaves: where it arrives, MESH_END | end, MESH_NONE */
	uint32_t *turn_first; /* by arc */
	struct mesh_turn *turn; /* by turn */
	uint32_t *state_first; /* by element */
	uint32_t *join_first; /* by state */
	uint32_t *enter; /* by end: the arc at which its light enters, or MESH_NONE */
	uint32_t cells; /* number of cells of a hexagonal mesh */
	/* Only while a hexagonal mesh is built. */
	uint32_t (*corner)[2]; /* by 6 * cell + corner: the arcs that meet there, or MESH_NONE */
	uint32_t *arc_corner; /* by arc: its 6 * cell + corner */
	struct mesh_block block;
};

/* Elements that do not pass light, or do so in one state only. */
struct mesh_faults {
	const uint32_t *failed;
	size_t failed_count;
	const uint32_t *stuck, *stuck_states;
	size_t stuck_count;
};

/*
 * Build the graph of a hexagonal mesh. Numbers are those of the profiles' generator: columns of
 * cells, and one element for each side that two cells share. O(cells). Returns 0, or a noted
 * -ENOMEM.
 */
int lm_mesh_hexagons(struct morph_ctx *ctx, struct mesh *mesh, uint32_t width, uint32_t height,
		     const struct mesh_faults *faults);

/* Build the graph of a profile. O(elements * states * ports). Returns 0, or a noted -ENOMEM. */
int lm_mesh_profile(struct morph_ctx *ctx, struct mesh *mesh, const struct morph_model *model,
		    const struct mesh_faults *faults);

void lm_mesh_free(struct mesh *mesh);

/*
 * Set @togo, by arc at which light enters: the least number of elements until @end, or MESH_FAR.
 * Breadth-first search against the light; @queue has room for all arcs. O(turns).
 */
void lm_mesh_distances(const struct mesh *mesh, uint32_t end, uint16_t *togo, uint32_t *queue);

/* The element that a turn passes. */
static inline uint32_t mesh_turn_element(const struct mesh *mesh, const struct mesh_turn *turn)
{
	return mesh->element[turn->out];
}

#endif /* LM_MATCHINGS_MESH_H */
