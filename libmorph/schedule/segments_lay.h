/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rounds on topologies as holds and sends: common parts of the plans of segments. */
#ifndef LM_SCHEDULE_SEGMENTS_LAY_H
#define LM_SCHEDULE_SEGMENTS_LAY_H

#include "lay.h"
#include "topologies.h"

/* Copies of joints, each on one plane, as transfers for the colouring. */
struct copies {
	struct transfer *list; /* .first: its joint */
	uint32_t count;
	uint32_t *colours;
	uint32_t *firsts; /* by joint: first copy */
};

/* A number of planes of a topology with the same matching. */
struct group {
	uint32_t matching, planes;
};

/* How the topologies of the pool are placed on planes. */
struct layouts {
	ARRAY_OF(struct group) groups;
	uint32_t *firsts, count; /* by topology, and the end of the last */
	bool is_told; /* within the limits */
};

struct segments_planning {
	struct lay lay;
	const struct morph_collective *collective;
	struct pool pool;
	uint32_t *members; /* participating ranks: the row of the pool */
	struct pool_work work;
	struct ways ways;
	struct copies copies;
	struct layouts layouts; /* if the time of changes depends on them */
	struct morph_rank_pair *circuits;
	uint64_t *loads; /* by plane and sending rank */
	uint32_t *hops; /* of a send */
	uint32_t planes[MOST_PLANES]; /* by colour */
	const struct morph_pool *given; /* the topologies; NULL: the pool of policy_segments.c */
	bool is_one; /* one topology for all rounds */
	bool is_unchanged; /* the lit circuits, or a ring if there are none */
};

/* Return 0 or a noted -ENOMEM. */
int lm_segments_room(struct segments_planning *planning);
void lm_segments_free_room(struct segments_planning *planning);

/* Make the matchings of a topology, one for each colour. Return their number or a noted -ENOMEM. */
int lm_segments_colour(struct segments_planning *planning, const struct topology *topology,
		       uint32_t *matchings);

/*
 * Lay out each round on a topology of the pool. The circuits of a topology at a rank are limited to
 * the number of planes. Lit circuits stay where possible. Return 0, -ENETUNREACH (a round has no
 * path) or a noted error.
 */
int lm_segments_lay(struct segments_planning *planning, const uint16_t *held);

/*
 * segments_changes.c: compute how the topologies of the pool are placed on planes. Return 0 or a
 * noted -ENOMEM.
 */
int lm_segments_layouts(struct segments_planning *planning, uint32_t resident);
/*
 * Then, for struct pool_opts: the number of circuits to pay for, on the plane that sets most, or on
 * all planes if the fabric stops.
 */
uint64_t lm_segments_changed(const void *planning, uint32_t from, uint32_t to);
void lm_segments_layouts_release(struct layouts *layouts);

/*
 * policy_segments.c: plan on verified topologies. Return 0, with the verdict in the schedule, or a
 * noted error.
 */
int lm_plan_given(struct morph_schedule *schedule, const struct morph_collective *collective,
		  const struct morph_pool *given);

#endif /* LM_SCHEDULE_SEGMENTS_LAY_H */
