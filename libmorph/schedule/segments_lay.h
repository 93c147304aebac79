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

struct segments_planning {
	struct lay lay;
	const struct morph_collective *collective;
	struct pool pool;
	struct pool_work work;
	struct ways ways;
	struct copies copies;
	struct joined *circuits;
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

/*
 * Each round on a topology of the pool, none of which has more circuits at a rank than there are planes; what is lit stays where it can.
 * 0, -ENETUNREACH (a round has no way) or a noted error.
 */
int lm_segments_lay(struct segments_planning *planning, const uint16_t *held);

/* policy_segments.c: on topologies that were looked at. 0, the verdict in the schedule, or a noted error. */
int lm_plan_given(struct morph_schedule *schedule, const struct morph_collective *collective,
		  const struct morph_pool *given);

#endif /* LM_SCHEDULE_SEGMENTS_LAY_H */
