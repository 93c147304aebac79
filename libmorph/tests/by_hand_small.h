/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small schedule that is right, and some that are made of it. A picosecond for each byte, 100 for
 * a round, 10 for a hop, 1000 for a change and 50 for each circuit of it.
 */
#ifndef BY_HAND_SMALL_H
#define BY_HAND_SMALL_H

#include "by_hand.h"

#define EACH MORPH_EACH_RANK
#define LIT 1050 /* one circuit */
#define LONG 510 /* 400 bytes, one hop */

/*
 * Rank 0 sends its part of chunk 0 to rank 1, and chunk 1, both over plane 0. Rank 1 sums the one
 * with its own part and sends that to rank 2, over plane 1, when it has it.
 */
struct hand small(void);

/* The circuit of plane 0 is there at first, from a schedule before: all is sent as much sooner. */
struct hand following(void);

/* A hold more, of one circuit, over which nothing is sent. */
struct hand with_hold(struct hand it, struct hand_hold hold, uint32_t src, uint32_t dst);

/* On some plane, set at some time, for as long as one circuit takes. */
struct hand set_later(struct hand it, uint32_t plane, uint64_t set, uint32_t src, uint32_t dst);

/*
 * The second send begins when the first hold of plane 0 ends; another of the same circuit takes it
 * over.
 */
struct hand taken_over(void);

#endif /* BY_HAND_SMALL_H */
