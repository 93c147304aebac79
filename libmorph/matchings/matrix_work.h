/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Common parts of the methods that plan matrices. */
#ifndef LM_SCHEDULE_MATRIX_WORK_H
#define LM_SCHEDULE_MATRIX_WORK_H

#include "../internal/planner.h"
#include "../util/array.h"
#include "../util/colouring.h"
#include "matrix.h"

#define MATRIX_WORST_COST (1LL << 44) /* of an assignment; the sum of 4096 fits */

/* The bytes of a pair on a plane. */
struct matrix_share {
	uint32_t plane, src, dst;
	uint64_t bytes;
};

typedef ARRAY_OF(struct matrix_share) matrix_shares;

/* A matching, or a part of it in units of MATRIX_PARTS, on a plane. */
struct matrix_part {
	uint32_t first, count; /* sends */
	uint32_t plane;
	uint32_t from, to;
	uint64_t wire_ps; /* of the whole matching: time of its longest send */
};

#define MATRIX_PARTS 65536

/*
 * For a send: the next send of each of its ends, and for how many of them it waits. Also the entry
 * of this index in the queue of ready sends.
 */
struct matrix_turn {
	uint32_t next_out, next_in, waits;
	uint32_t queued;
};

typedef ARRAY_OF(struct matrix_send) matrix_sends;

/* How pairs share planes. */
enum matrix_sharing {
	MATRIX_PAIRS, /* whole pairs; loads that are too large for a port are split */
	MATRIX_STRIPES, /* each pair evenly on all planes */
	/* whole matchings of all pairs; loads that are too large for a plane are split */
	MATRIX_MATCHINGS,
	MATRIX_SHARINGS,
};

struct matrix_solver {
	struct morph_ctx *ctx;
	struct matrix_problem problem; /* the last one; its pointers are no longer used */
	struct matrix_plan plan;
	bool planned; /* best[] is the plan of the problem */
	uint64_t set_ps, each_ps; /* time of setting a circuit; time of a send besides its bytes */
	uint32_t plane, step; /* plane and step in progress */
	uint64_t looks, most_looks; /* pairs examined, and the limit */
	matrix_sends sends, best;
	matrix_shares shares;
	ARRAY_OF(struct matrix_part) parts;
	matrix_shares pairs; /* longest first */
	ARRAY_OF(uint64_t)
	/* by port of a plane: a bit for each matching with a circuit of it; the count is 0 */
	taken;
	ARRAY_OF(struct matrix_turn) turns; /* the count is 0 */
	uint32_t queued;
	/* By pair: all bytes, rest on this plane, stuffed bytes; weights or costs of a matching. */
	uint64_t *cells, *left, *stuffed, *costs;
	/* Matchings, in both directions, MATRIX_NONE for none; and working data. */
	uint32_t *to, *from, *columns, *before;
	uint64_t *prices, *distances;
	/*
	 * By port of this plane, transmit then receive: time from which it is free, rest of its
	 * load.
	 */
	uint64_t *ready, *due;
	/*
	 * By port and plane: whole load, time from which it is free; first and present partners,
	 * last send.
	 */
	uint64_t *loads, *free_ps;
	uint64_t *programs; /* by plane: end of programming */
	uint32_t *firsts, *holds, *lasts;
	uint32_t *slots; /* circuits by port and plane, for meshes */
	struct coloured *circuits; /* for meshes */
	/* The memory of all these arrays. */
	uint64_t *words;
	uint32_t *numbers;
	size_t words_room, numbers_room;
};

/* The first port of a plane in arrays of all ports. */
static inline size_t matrix_ports(const struct matrix_solver *solver, uint32_t plane)
{
	return (size_t)2 * solver->problem.ranks * plane;
}

static inline uint64_t matrix_later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* Time on the wire; as costs_bytes_ps(), which divides numbers of twice the width. */
static inline uint64_t matrix_wire_ps(const struct matrix_solver *solver, uint64_t bytes)
{
	const struct costs *costs = &solver->problem.costs;

	if (bytes < 1ULL << 40)
		return (bytes * 8000000 + costs->mbps - 1) / costs->mbps;
	return costs_bytes_ps(costs, bytes);
}

/* Duration of a send on a lit circuit. */
static inline uint64_t matrix_send_ps(const struct matrix_solver *solver, uint64_t bytes)
{
	return solver->each_ps + matrix_wire_ps(solver, bytes);
}

/* Is the budget spent? */
static inline bool matrix_spent(const struct matrix_solver *solver)
{
	return solver->looks >= solver->most_looks;
}

/* Is the circuit initially lit? */
bool lm_matrix_held(const struct matrix_solver *solver, uint32_t plane, uint32_t src, uint32_t dst);

/* Allocate space for more sends. Return 0, -ENOMEM or -E2BIG, noted. */
int lm_matrix_room(struct matrix_solver *solver, uint32_t more);

/* Add a send to this step, for which space exists, and reduce the rest of the pair. */
void lm_matrix_add(struct matrix_solver *solver, uint32_t src, uint32_t dst, uint64_t bytes);

/*
 * Each pair of the matching in to[] sends its rest, at most @most bytes. Returns as
 * lm_matrix_room().
 */
int lm_matrix_send(struct matrix_solver *solver, uint64_t most);

/* For lm_sort(): shares by bytes, the largest first; equal ones by ranks. */
int lm_matrix_largest_first(const void *one, const void *other, void *context);

/* Compute the bound and the load of all cells. */
void lm_matrix_bound(struct matrix_solver *solver);

/* Assign all pairs with @cells to the first plane. Return 0 or -ENOMEM, noted. */
int lm_matrix_pairs(struct matrix_solver *solver, const uint64_t *cells, matrix_shares *out);

/* Fill shares[]: the bytes of pairs on planes. Return 0 or -ENOMEM, noted. */
int lm_matrix_share(struct matrix_solver *solver, enum matrix_sharing sharing);

/*
 * Compute the begin and end of sends; consecutive ones on a circuit become one. Return 0 or
 * -ENOMEM, noted.
 */
int lm_matrix_time(struct matrix_solver *solver, struct matrix_figure *figure);

/* ---------------------------------------------------------------- matchings */

/*
 * Find the assignment of least cost, for costs[] up to MATRIX_WORST_COST, by shortest augmenting
 * paths: Jonker and Volgenant, Computing 38 (1987). The result is in to[] and from[]. O(ranks^3).
 * False: the budget is spent, and there is no result.
 */
bool lm_matrix_assign(struct matrix_solver *solver);

/*
 * Find the assignment of greatest weight, for weights in costs[]. False, without a result: all are
 * 0, or the budget is spent.
 */
bool lm_matrix_heaviest(struct matrix_solver *solver);

/*
 * Find a perfect matching of cells of stuffed[] of at least @least, starting from the partial one
 * in to[] and from[]. O(ranks^3).
 */
bool lm_matrix_match(struct matrix_solver *solver, uint64_t least);

/* ------------------------------------------------------------------ methods */

/* Plan the rest of the solver's plane. Return 0, or the error of lm_matrix_room(). */
typedef int matrix_planner(struct matrix_solver *solver);

matrix_planner lm_matrix_rotation;
matrix_planner lm_matrix_longest;
matrix_planner lm_matrix_greedy;
matrix_planner lm_matrix_urgent;
matrix_planner lm_matrix_solstice;
matrix_planner lm_matrix_eclipse;
matrix_planner lm_matrix_birkhoff;

/* Plan all planes. Return 0, the error of lm_matrix_room(), or -ENOENT: there are too few. */
int lm_matrix_mesh(struct matrix_solver *solver);

#endif /* LM_SCHEDULE_MATRIX_WORK_H */
