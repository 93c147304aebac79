/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: topologies that are given, for schedules. Included by <morph/plan.h>. */
#ifndef MORPH_POOL_H
#define MORPH_POOL_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct morph_joint - circuits from one rank to another
 * @src: the rank that sends
 * @dst: the rank that receives
 * @circuits: how many, each on a plane of its own
 */
struct morph_joint {
	uint32_t src;
	uint32_t dst;
	uint32_t circuits;
};

/**
 * struct morph_pool - topologies that rounds may go on, for struct morph_schedule_opts
 * @sz: sizeof(struct morph_pool)
 * @count: how many there are
 * @firsts: of each its first joint, and where those of the last end: one more than @count
 * @joints: one topology after the other; joints of the same two ranks are added up
 * @in_turn: round i goes on topology i; else whatever takes least, in any order
 */
struct morph_pool {
	size_t sz;
	uint32_t count;
	const uint32_t *firsts;
	const struct morph_joint *joints;
	bool in_turn;
};

#ifdef __cplusplus
}
#endif

#endif /* MORPH_POOL_H */
