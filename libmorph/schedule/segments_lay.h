/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rounds on topologies, laid out as holds and sends: what plans of segments share. */
#ifndef LM_SCHEDULE_SEGMENTS_LAY_H
#define LM_SCHEDULE_SEGMENTS_LAY_H

#include "lay.h"
#include "topologies.h"

/* Copies of joints, each on a plane: transfers for the colouring. */
struct copies {
	struct transfer *list; /* .first: its joint */
	uint32_t count;
	uint32_t *colours;
	uint32_t *firsts; /* by joint: its first copy */
};

/* So many planes of a topology that have the same matching. */
struct group {
	uint32_t matching, planes;
};

/* How topologies of the pool are on planes. */
struct layouts {
	ARRAY_OF(struct group) groups;
	uint32_t *firsts, count; /* by topology, and where those of the last end */
	bool is_told; /* they are not too many */
};

struct segments_planning {
	struct lay lay;
	const struct morph_collective *collective;
	struct pool pool;
	uint32_t *members; /* ranks that take part, which the pool has in a row */
	struct pool_work work;
	struct ways ways;
	struct copies copies;
	struct layouts layouts; /* where what changes take depends on them */
	struct morph_rank_pair *circuits;
	uint64_t *loads; /* by plane and rank that sends */
	uint32_t *hops; /* of one send */
	uint32_t planes[MOST_PLANES]; /* by colour */
	const struct morph_pool *given; /* the topologies; NULL: those of policy_segments.c */
	bool is_one; /* a topology is held throughout */
	bool is_unchanged; /* that is what is lit, or a ring where nothing is */
};

/* 0 or a noted -ENOMEM. */
int lm_segments_room(struct segments_planning *planning);
void lm_segments_free_room(struct segments_planning *planning);

/* The matchings of a topology, one for each of its colours: how many, or a noted -ENOMEM. */
int lm_segments_colour(struct segments_planning *planning, const struct topology *topology,
		       uint32_t *matchings);

/*
 * Each round on a topology of the pool, none of which has more circuits at a rank than there are planes; what is lit stays where it can.
 * 0, -ENETUNREACH (a round has no way) or a noted error.
 */
int lm_segments_lay(struct segments_planning *planning, const uint16_t *held);

/* segments_changes.c: look at how topologies of the pool are on planes. 0 or a noted -ENOMEM. */
int lm_segments_layouts(struct segments_planning *planning, uint32_t resident);
/* Then, for struct pool_opts: circuits that are paid for, on the plane that sets most, or on all in the scope of the fabric. */
uint64_t lm_segments_changed(const void *planning, uint32_t from, uint32_t to);
void lm_segments_layouts_release(struct layouts *layouts);

/* policy_segments.c: on topologies that were looked at. 0, the verdict in the schedule, or a noted error. */
int lm_plan_given(struct morph_schedule *schedule, const struct morph_collective *collective,
		  const struct morph_pool *given);

#endif /* LM_SCHEDULE_SEGMENTS_LAY_H */
