/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns the decisions of a planner into holds and sends. */
#ifndef LM_SCHEDULE_LAY_H
#define LM_SCHEDULE_LAY_H

#include "schedule.h"

struct lay {
	struct morph_schedule *schedule;
	uint32_t now[MOST_PLANES]; /* present hold, NO_HOLD if dark */
	uint64_t clock_ps; /* end of everything laid out so far */
};

/* The initially lit circuits are held. */
struct lay lm_lay_begin(struct morph_schedule *schedule);

/* Number of circuits of a matching that a plane lacks. */
uint32_t lm_lay_missing(const struct lay *lay, uint32_t plane, uint32_t matching);

/* Change a plane to another matching. Return 0 or a noted -ENOMEM. */
int lm_lay_hold(struct lay *lay, uint32_t plane, uint32_t matching, uint64_t set_ps,
		uint64_t lit_ps);

/*
 * Change each plane to the wanted matching; NO_MATCHING keeps the present one. The clock advances
 * until all are lit. A plane that has all wanted circuits keeps its hold. Return 0 or a noted
 * -ENOMEM.
 */
int lm_lay_change(struct lay *lay, const uint32_t *wanted);

/*
 * Assign each matching to the free plane that already has most of it. @wanted has NO_MATCHING for
 * unused planes.
 */
void lm_lay_assign(const struct lay *lay, const uint32_t *matchings, uint32_t count,
		   uint32_t *wanted);

/* The matching of the transfers of one colour of a round. @circuits has space for all ranks. */
int lm_lay_matching(struct lay *lay, const struct morph_collective *collective,
		    const struct round *round, const uint32_t *colours, uint32_t colour,
		    struct morph_rank_pair *circuits, uint32_t *out);

/* Transfers sent at one time: some colours, each on its own planes. */
struct turn {
	uint32_t first, count; /* colours */
	uint32_t firsts[MOST_PLANES + 1]; /* by colour of the turn: index into @planes */
	uint32_t planes[MOST_PLANES];
};

/* Send the transfers of a round in their turn. Each uses the planes of its colour equally. */
int lm_lay_turn(struct lay *lay, const struct morph_collective *collective, uint32_t round,
		const uint32_t *colours, const struct turn *turn);

#endif /* LM_SCHEDULE_LAY_H */
