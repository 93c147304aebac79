/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small valid schedule, and schedules derived from it. A byte takes 1 ps, a round 100, a hop 10,
 * a change 1000, and each circuit of a change 50 more.
 */
#ifndef BY_HAND_SMALL_H
#define BY_HAND_SMALL_H

#include "by_hand.h"

#define EACH MORPH_EACH_RANK
#define LIT 1050 /* one circuit */
#define LONG 510 /* 400 bytes, one hop */

/*
 * Rank 0 sends its part of chunk 0 and then chunk 1 to rank 1, over plane 0. Rank 1 adds its own
 * part to chunk 0 and sends the sum to rank 2, over plane 1, as soon as it has it.
 */
struct hand small(void);

/* An earlier schedule has lit the circuit of plane 0, so that all sends begin earlier. */
struct hand following(void);

/* Add a hold of one circuit that carries nothing. */
struct hand with_hold(struct hand it, struct hand_hold hold, uint32_t src, uint32_t dst);

/* Add a hold on a plane that is set at a given time, for as long as one circuit takes. */
struct hand set_later(struct hand it, uint32_t plane, uint64_t set, uint32_t src, uint32_t dst);

/*
 * The second send begins when the first hold of plane 0 ends. Another hold of the same circuit
 * follows it.
 */
struct hand taken_over(void);

#endif /* BY_HAND_SMALL_H */
