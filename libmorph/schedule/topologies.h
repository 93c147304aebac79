/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Topologies for a collective, and the time of its rounds on each. A topology is a set of circuits
 * between ranks. Ranks without a direct circuit use several circuits, and transfers share circuits.
 * With a pool of the initial topology and each round's own circuits, the plan is that of PCCL
 * (arXiv 2509.15450). With all shifts of a ring or a torus and each round's own circuits, it is
 * that of Harvest (arXiv 2602.09188).
 */
#ifndef LM_SCHEDULE_TOPOLOGIES_H
#define LM_SCHEDULE_TOPOLOGIES_H

#include "../collective/collective.h"
#include "segments.h"

/* A number of circuits from one rank to another, which share the data between them. */
struct joint {
	uint32_t src, dst;
	uint32_t circuits;
};

struct topology {
	uint32_t first, count; /* joints, by sender and then receiver */
};

/* Begins zeroed, with its context and number of ranks. */
struct pool {
	struct morph_ctx *ctx;
	uint32_t ranks;
	const uint32_t *row; /* ranks of circulants; NULL: all */
	uint32_t row_count;
	ARRAY_OF(struct topology) topologies; /* all different */
	ARRAY_OF(struct joint) joints;
	ARRAY_OF(uint32_t) ports; /* counters: by rank outgoing, then incoming circuits */
};

/*
 * Build a topology: begin, join, and end. End returns its number in the pool, or that of an equal
 * one. Each returns 0, or the number, or -EINVAL (no such rank, a rank with itself, no circuits),
 * -E2BIG, -ENOMEM.
 */
int lm_pool_begin(struct pool *pool);
int lm_pool_join(struct pool *pool, uint32_t src, uint32_t dst, uint32_t circuits);
int lm_pool_end(struct pool *pool);

/*
 * Topologies of ranks in a row, with the given number of circuits for each joint. The calls return
 * a number, or the error of lm_pool_join().
 */
enum pool_ways {
	POOL_FORTH, /* circuits to the next rank */
	POOL_BOTH, /* and the same number back */
};

/* Join each rank of the row to the one @by positions further; 1 is a ring. */
int lm_pool_add_circulant(struct pool *pool, uint32_t by, enum pool_ways ways, uint32_t circuits);

/* Add all different circulants. Return the number of the ring. */
int lm_pool_add_circulants(struct pool *pool, enum pool_ways ways, uint32_t circuits);

/*
 * A grid of all ranks of the pool, joined in both directions. The size of an unused dimension is 1.
 * Rank x + sizes[0] * (y + sizes[1] * z) is at (x, y, z). With @wraps it is a torus.
 */
int lm_pool_add_grid(struct pool *pool, const uint32_t sizes[3], bool wraps, uint32_t circuits);

/*
 * Add a round's own circuits: one for each transfer, and more while all ranks have ports. Return
 * -ENOSPC, noted, if a rank has more partners than ports.
 */
int lm_pool_add_round(struct pool *pool, const struct morph_collective *collective, uint32_t round,
		      uint32_t ports);

/*
 * Add the circuits of as many rounds as fit the ports together, from *first on; *first becomes the
 * next round. A round that alone needs more ports gets none. Return 0, or as lm_pool_join().
 */
int lm_pool_add_rounds(struct pool *pool, const struct morph_collective *collective, uint32_t ports,
		       uint32_t *first);

/* The largest number of circuits that begin or end at a rank: the ports that the topology needs. */
uint32_t lm_pool_ports(struct pool *pool, uint32_t topology);

/*
 * Number of ports with a new outgoing circuit, without ports that go dark. @from may be
 * RESIDENT_NONE.
 */
uint32_t lm_pool_changed_ports(const struct pool *pool, uint32_t from, uint32_t to);

/* Remove all topologies. */
void lm_pool_clear(struct pool *pool);
void lm_pool_release(struct pool *pool);

/* ------------------------------------------------------------------- routes */

/* A rank that the search has reached. */
struct visit {
	uint32_t search, hops;
	uint32_t over; /* the joint to it */
	uint64_t bytes; /* on the fullest circuit of the path */
};

/* Reused by later calls, as struct segments. */
struct pool_work {
	struct segments segments;
	ARRAY_OF(uint64_t) prices, changes;
	ARRAY_OF(uint64_t) loads; /* bytes by joint */
	ARRAY_OF(uint32_t) heads; /* by rank: first joint */
	ARRAY_OF(struct visit) visits; /* by rank */
	ARRAY_OF(uint32_t) queue;
	ARRAY_OF(uint64_t) moved; /* by rank: bytes sent, then bytes received */
	uint32_t search; /* number of the last search */
};

/* The paths of a round on a topology. */
struct congestion {
	uint32_t hops; /* of the longest path */
	uint64_t bytes; /* on the fullest circuit */
	bool reached; /* all paths were found */
};

/*
 * Route the transfers in their order. Each takes a path with the fewest hops and, among these, the
 * one whose fullest circuit has the least bytes at that time. Return 0 or -ENOMEM. Takes at most
 * transfers * joints steps.
 */
int lm_pool_route(struct pool_work *work, const struct pool *pool, uint32_t topology,
		  const struct morph_collective *collective, uint32_t round,
		  struct congestion *congestion);

/* The path of each transfer of a round: consecutive joints of the topology. Begins zeroed. */
struct ways {
	ARRAY_OF(uint32_t) firsts; /* by transfer of the round, and the end of the last */
	ARRAY_OF(uint32_t) joints; /* relative to the topology's first */
};

/* As lm_pool_route(), and store the paths. Return 0, -ENETUNREACH (no path) or -ENOMEM. */
int lm_pool_ways(struct pool_work *work, const struct pool *pool, uint32_t topology,
		 const struct morph_collective *collective, uint32_t round, struct ways *ways);
void lm_pool_ways_release(struct ways *ways);

/* Do two rounds have the same transfers and bytes, in the same order? */
bool lm_rounds_alike(const struct morph_collective *collective, uint32_t one, uint32_t other);

struct pool_opts {
	const struct costs *costs;
	bool round_each_hop; /* as lm_round_ps() */
	uint32_t resident;
	/*
	 * Circuits to pay for when the topology changes, like lm_pool_changed_ports() for one
	 * plane; NULL: that function.
	 */
	uint64_t (*changed)(const void *context, uint32_t from, uint32_t to);
	const void *context;
};

/*
 * Prepare the problem for lm_segments_solve(). The work holds its prices and changes, so the
 * problem is valid until the work or the pool is used again. Return 0, -EINVAL (other ranks, no
 * bandwidth), -E2BIG, -ENOMEM.
 */
int lm_pool_pose(struct pool_work *work, const struct pool *pool,
		 const struct morph_collective *collective, const struct pool_opts *opts,
		 struct segments_problem *problem);

/*
 * Lower bound for all schedules on any topologies: at best, a rank sends and receives over all of
 * its ports, and over one hop. Return 0 or -ENOMEM.
 */
int lm_ports_bound_ps(struct pool_work *work, const struct morph_collective *collective,
		      uint32_t ports, const struct pool_opts *opts, uint64_t *ps);

void lm_pool_work_release(struct pool_work *work);

#endif /* LM_SCHEDULE_TOPOLOGIES_H */
