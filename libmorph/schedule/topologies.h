/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Topologies that a collective may go on, and what its rounds take on each: any rounds, any topologies. A topology is circuits
 * between ranks; what is not joined directly goes over several circuits, and circuits are shared. With a start topology and
 * each round's own circuits as its pool, the plan is PCCL's (arXiv 2509.15450); with all shifts of a ring or a torus and each
 * round's own circuits, it is Harvest's (arXiv 2602.09188).
 */
#ifndef LM_SCHEDULE_TOPOLOGIES_H
#define LM_SCHEDULE_TOPOLOGIES_H

#include "../collective/collective.h"
#include "segments.h"

/* So many circuits from one rank to another one, which share what goes there. */
struct joint {
	uint32_t src, dst;
	uint32_t circuits;
};

struct topology {
	uint32_t first, count; /* joints, by src and then dst */
};

/* Begins as zeros with its context and its number of ranks. */
struct pool {
	struct morph_ctx *ctx;
	uint32_t ranks;
	const uint32_t *row; /* ranks that circulants have; NULL: all */
	uint32_t row_count;
	ARRAY_OF(struct topology) topologies; /* no two of them the same */
	ARRAY_OF(struct joint) joints;
	ARRAY_OF(uint32_t) ports; /* to count with: by rank those out, then those in */
};

/*
 * A topology by hand: begin, join, and end, which returns its number in the pool: that of an equal one, if there is one.
 * Each returns 0, or the number, or -EINVAL (no such rank, a rank with itself, no circuits), -E2BIG, -ENOMEM.
 */
int lm_pool_begin(struct pool *pool);
int lm_pool_join(struct pool *pool, uint32_t src, uint32_t dst, uint32_t circuits);
int lm_pool_end(struct pool *pool);

/* Topologies of ranks in a row, joined by so many circuits each; the calls return a number, or what lm_pool_join() does. */
enum pool_ways {
	POOL_FORTH, /* circuits to the next one */
	POOL_BOTH, /* and as many back */
};

/* Each rank of the row and the one @by further on. 1: a ring. */
int lm_pool_add_circulant(struct pool *pool, uint32_t by, enum pool_ways ways, uint32_t circuits);

/* All of them that differ; the number is that of the ring. */
int lm_pool_add_circulants(struct pool *pool, enum pool_ways ways, uint32_t circuits);

/*
 * A grid of as many ranks as the pool has, 1 in dimensions that it has not, joined both ways; rank
 * x + sizes[0] * (y + sizes[1] * z) is at (x, y, z). With @wraps a torus.
 */
int lm_pool_add_grid(struct pool *pool, const uint32_t sizes[3], bool wraps, uint32_t circuits);

/*
 * A round's own circuits: one for whoever sends to another, and as often as all have ports for it. -ENOSPC, noted, where
 * a rank sends to or hears from more ranks than it has ports.
 */
int lm_pool_add_round(struct pool *pool, const struct morph_collective *collective, uint32_t round,
		      uint32_t ports);

/*
 * The circuits of as many rounds as go together with so many ports, from round @first on, which is the one after them then; none of a round
 * that needs more ports alone. 0, or as lm_pool_join().
 */
int lm_pool_add_rounds(struct pool *pool, const struct morph_collective *collective, uint32_t ports,
		       uint32_t *first);

/* The most circuits that begin or end at a rank: how many ports the topology needs. */
uint32_t lm_pool_ports(struct pool *pool, uint32_t topology);

/*
 * Ports from which another circuit goes out than before; those that fall dark are not counted. @from may be
 * RESIDENT_NONE.
 */
uint32_t lm_pool_changed_ports(const struct pool *pool, uint32_t from, uint32_t to);

/* Without topologies, as at first. */
void lm_pool_clear(struct pool *pool);
void lm_pool_release(struct pool *pool);

/* ------------------------------------------------------------------- routes */

/* A rank that a search has come to. */
struct visit {
	uint32_t search, hops;
	uint32_t over; /* the joint it was come by */
	uint64_t bytes; /* over the fullest circuit of the way */
};

/* Kept from solve to solve, as struct segments. */
struct pool_work {
	struct segments segments;
	ARRAY_OF(uint64_t) prices, changes;
	ARRAY_OF(uint64_t) loads; /* bytes by joint of the topology */
	ARRAY_OF(uint32_t) heads; /* by rank its first joint */
	ARRAY_OF(struct visit) visits; /* by rank */
	ARRAY_OF(uint32_t) queue;
	ARRAY_OF(uint64_t) moved; /* by rank bytes sent, then those heard */
	uint32_t search; /* number of the last one */
};

/* The ways of a round on a topology. */
struct congestion {
	uint32_t hops; /* of the longest way */
	uint64_t bytes; /* over the fullest circuit */
	bool reached; /* all ways were found */
};

/*
 * Transfers go in their order, each on a way of least hops, of these on one whose fullest circuit is the least full then.
 * Returns 0 or -ENOMEM. Takes at most transfers * joints steps.
 */
int lm_pool_route(struct pool_work *work, const struct pool *pool, uint32_t topology,
		  const struct morph_collective *collective, uint32_t round,
		  struct congestion *congestion);

/* The way of each transfer of a round: joints of the topology, one after the other. Begins as zeros. */
struct ways {
	ARRAY_OF(uint32_t) firsts; /* by transfer of the round, and where those of the last end */
	ARRAY_OF(uint32_t) joints; /* counted from the topology's first */
};

/* What lm_pool_route() finds, and where it leads. Returns 0, -ENETUNREACH (there is no way) or -ENOMEM. */
int lm_pool_ways(struct pool_work *work, const struct pool *pool, uint32_t topology,
		 const struct morph_collective *collective, uint32_t round, struct ways *ways);
void lm_pool_ways_release(struct ways *ways);

/* Do rounds have the same from the same to the same, in the same order? */
bool lm_rounds_alike(const struct morph_collective *collective, uint32_t one, uint32_t other);

struct pool_opts {
	const struct costs *costs;
	bool round_each_hop; /* as lm_round_ps() */
	uint32_t resident;
	/* Circuits that are paid for when topologies change, as lm_pool_changed_ports() has it of one plane; NULL: that. */
	uint64_t (*changed)(const void *context, uint32_t from, uint32_t to);
	const void *context;
};

/*
 * What lm_segments_solve() solves, of prices and changes in the work, which stays valid while neither work nor pool is used for
 * another one. Returns 0, -EINVAL (other ranks, no bandwidth), -E2BIG, -ENOMEM.
 */
int lm_pool_pose(struct pool_work *work, const struct pool *pool,
		 const struct morph_collective *collective, const struct pool_opts *opts,
		 struct segments_problem *problem);

/*
 * No schedule takes less, whatever its topologies: a rank with so many ports sends and hears over all of them at best, and
 * over one hop at least. Returns 0 or -ENOMEM.
 */
int lm_ports_bound_ps(struct pool_work *work, const struct morph_collective *collective,
		      uint32_t ports, const struct pool_opts *opts, uint64_t *ps);

void lm_pool_work_release(struct pool_work *work);

#endif /* LM_SCHEDULE_TOPOLOGIES_H */
