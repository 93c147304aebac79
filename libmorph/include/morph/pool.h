/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: given topologies for schedules. Included by <morph/plan.h>. */
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
 * @circuits: their number, each on its own plane
 */
struct morph_joint {
	uint32_t src;
	uint32_t dst;
	uint32_t circuits;
};

/**
 * struct morph_pool - given topologies for rounds, for struct morph_schedule_opts
 * @sz: sizeof(struct morph_pool)
 * @count: number of topologies
 * @firsts: first joint of each, and the end of the last: @count + 1 entries
 * @joints: topology after topology; joints of the same two ranks are added
 * @in_turn: round i uses topology i; else the fastest, in any order
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
