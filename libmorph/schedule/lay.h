/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From what a planner has decided to holds and sends. */
#ifndef LM_SCHEDULE_LAY_H
#define LM_SCHEDULE_LAY_H

#include "schedule.h"

struct lay {
	struct morph_schedule *schedule;
	uint32_t now[MOST_PLANES]; /* holds, NO_HOLD where it is dark */
	uint64_t clock_ps; /* until when all that was laid has ended */
};

/* What is lit at first is held. */
struct lay lm_lay_begin(struct morph_schedule *schedule);

/* Circuits of a matching that a plane does not have. */
uint32_t lm_lay_missing(const struct lay *lay, uint32_t plane, uint32_t matching);

/* A plane holds another matching. 0 or a noted -ENOMEM. */
int lm_lay_hold(struct lay *lay, uint32_t plane, uint32_t matching, uint64_t set_ps,
		uint64_t lit_ps);

/*
 * From now on each plane holds what is wanted there, or what it has where that is NO_MATCHING; the clock goes on until
 * all is lit. A plane that has all circuits of what is wanted keeps what it holds. 0 or a noted -ENOMEM.
 */
int lm_lay_change(struct lay *lay, const uint32_t *wanted);

/*
 * Which plane holds what: each of the matchings goes to the free plane that has most of it. @wanted has NO_MATCHING
 * for planes that are left.
 */
void lm_lay_assign(const struct lay *lay, const uint32_t *matchings, uint32_t count,
		   uint32_t *wanted);

/* The matching of the transfers of a round that have one colour. @circuits has room for all ranks. */
int lm_lay_matching(struct lay *lay, const struct morph_collective *collective,
		    const struct round *round, const uint32_t *colours, uint32_t colour,
		    struct morph_rank_pair *circuits, uint32_t *out);

/* What is sent at once: transfers of some colours, each of them on planes of its own. */
struct turn {
	uint32_t first, count; /* colours */
	uint32_t firsts[MOST_PLANES + 1]; /* by colour of the turn, into @planes */
	uint32_t planes[MOST_PLANES];
};

/* Send the transfers of a round that have their turn; each takes as much of each plane of its colour. */
int lm_lay_turn(struct lay *lay, const struct morph_collective *collective, uint32_t round,
		const uint32_t *colours, const struct turn *turn);

#endif /* LM_SCHEDULE_LAY_H */
