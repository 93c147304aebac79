/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What methods that plan matrices have in common. */
#ifndef LM_SCHEDULE_MATRIX_WORK_H
#define LM_SCHEDULE_MATRIX_WORK_H

#include "../internal/planner.h"
#include "../util/array.h"
#include "../util/colouring.h"
#include "matrix.h"

#define MATRIX_WORST_COST (1LL << 44) /* of an assignment; of 4096 of them the sum fits */

/* What a pair sends on a plane. */
struct matrix_share {
	uint32_t plane, src, dst;
	uint64_t bytes;
};

typedef ARRAY_OF(struct matrix_share) matrix_shares;

/* A matching, or a part of all that its pairs send, by parts of MATRIX_PARTS, on a plane. */
struct matrix_part {
	uint32_t first, count; /* sends */
	uint32_t plane;
	uint32_t from, to;
	uint64_t wire_ps; /* of the whole matching: its longest send */
};

#define MATRIX_PARTS 65536

/* Of a send: the next of each of its ends, and of how many of them it waits for. Besides, what is in this place of the queue of all that are ready. */
struct matrix_turn {
	uint32_t next_out, next_in, waits;
	uint32_t queued;
};

typedef ARRAY_OF(struct matrix_send) matrix_sends;

/* How planes share what pairs send. */
enum matrix_sharing {
	MATRIX_PAIRS, /* pairs go whole, and what is too much for a port is split */
	MATRIX_STRIPES, /* each pair has the same on each plane */
	MATRIX_MATCHINGS, /* matchings of all pairs go whole, and what is too much for a plane is split */
	MATRIX_SHARINGS,
};

struct matrix_solver {
	struct morph_ctx *ctx;
	struct matrix_problem problem; /* the last; its pointers are not followed any more */
	struct matrix_plan plan;
	bool planned; /* best[] is the plan of the problem */
	uint64_t set_ps, each_ps; /* to set one circuit; of a send besides its bytes */
	uint32_t plane, step; /* being planned */
	uint64_t looks, most_looks; /* at pairs: so far, and at most */
	matrix_sends sends, best;
	matrix_shares shares;
	ARRAY_OF(struct matrix_part) parts;
	matrix_shares pairs; /* longest first */
	ARRAY_OF(uint64_t)
	taken; /* by port of a plane: a bit for each matching in which it has a circuit; its count is 0 */
	ARRAY_OF(struct matrix_turn) turns; /* its count is 0 */
	uint32_t queued;
	/* Of each pair: bytes in all, left on this plane, stuffed; weights or costs of a matching. */
	uint64_t *cells, *left, *stuffed, *costs;
	/* Matchings, both ways, MATRIX_NONE where there is none; and how they are found. */
	uint32_t *to, *from, *columns, *before;
	uint64_t *prices, *distances;
	/* Of each port of this plane, transmit then receive: free from when on, left to do. */
	uint64_t *ready, *due;
	/* Of each port of each plane: to do in all, free from when on; peers at first and now, last send. */
	uint64_t *loads, *free_ps;
	uint64_t *programs; /* by plane: until when circuits are programmed */
	uint32_t *firsts, *holds, *lasts;
	uint32_t *slots; /* the circuit, by port and plane, of meshes */
	struct coloured *circuits; /* of meshes */
	/* All of these are in here. */
	uint64_t *words;
	uint32_t *numbers;
	size_t words_room, numbers_room;
};

/* Where the ports of a plane begin in what is of all. */
static inline size_t matrix_ports(const struct matrix_solver *solver, uint32_t plane)
{
	return (size_t)2 * solver->problem.ranks * plane;
}

static inline uint64_t matrix_later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* Time on the wire; as costs_bytes_ps(), which divides numbers twice as wide. */
static inline uint64_t matrix_wire_ps(const struct matrix_solver *solver, uint64_t bytes)
{
	const struct costs *costs = &solver->problem.costs;

	if (bytes < 1ULL << 40)
		return (bytes * 8000000 + costs->mbps - 1) / costs->mbps;
	return costs_bytes_ps(costs, bytes);
}

/* How long a send takes on a circuit that is lit. */
static inline uint64_t matrix_send_ps(const struct matrix_solver *solver, uint64_t bytes)
{
	return solver->each_ps + matrix_wire_ps(solver, bytes);
}

/* Is the budget spent? */
static inline bool matrix_spent(const struct matrix_solver *solver)
{
	return solver->looks >= solver->most_looks;
}

/* Is the circuit lit at first? */
bool lm_matrix_held(const struct matrix_solver *solver, uint32_t plane, uint32_t src, uint32_t dst);

/* Room for so many sends more. 0, -ENOMEM or -E2BIG, noted. */
int lm_matrix_room(struct matrix_solver *solver, uint32_t more);

/* One more send of this step, for which there is room; what is left of the pair gets less. */
void lm_matrix_add(struct matrix_solver *solver, uint32_t src, uint32_t dst, uint64_t bytes);

/* Each pair of the matching in to[] sends what is left, at most @most bytes. What lm_matrix_room() returns. */
int lm_matrix_send(struct matrix_solver *solver, uint64_t most);

/* For lm_sort(): shares by bytes, the largest first; equal ones by ranks. */
int lm_matrix_largest_first(const void *one, const void *other, void *context);

/* The bound, and the load, of all cells. */
void lm_matrix_bound(struct matrix_solver *solver);

/* All pairs that have something of @cells, whole, on the first plane. 0 or -ENOMEM, noted. */
int lm_matrix_pairs(struct matrix_solver *solver, const uint64_t *cells, matrix_shares *out);

/* Into shares[]: what pairs send on which planes. 0 or -ENOMEM, noted. */
int lm_matrix_share(struct matrix_solver *solver, enum matrix_sharing sharing);

/* When sends begin and end; those that follow each other on a circuit become one. 0 or -ENOMEM, noted. */
int lm_matrix_time(struct matrix_solver *solver, struct matrix_figure *figure);

/* ---------------------------------------------------------------- matchings */

/*
 * The assignment of least cost, of costs[], all below or at MATRIX_WORST_COST: by shortest augmenting paths, Jonker and
 * Volgenant, Computing 38 (1987). Into to[] and from[]. O(ranks^3). False: the budget is spent, and there is none.
 */
bool lm_matrix_assign(struct matrix_solver *solver);

/* The assignment of greatest weight, of weights in costs[]. False, and none: all are 0, or the budget is spent. */
bool lm_matrix_heaviest(struct matrix_solver *solver);

/*
 * A perfect matching of cells of stuffed[] that are not below @least, from what there is of one
 * in to[] and from[], which is kept where it can be. O(ranks^3).
 */
bool lm_matrix_match(struct matrix_solver *solver, uint64_t least);

/* ------------------------------------------------------------------ methods */

/* Plan what is left on the solver's plane. 0, or what lm_matrix_room() returned. */
typedef int matrix_planner(struct matrix_solver *solver);

matrix_planner lm_matrix_rotation;
matrix_planner lm_matrix_longest;
matrix_planner lm_matrix_greedy;
matrix_planner lm_matrix_urgent;
matrix_planner lm_matrix_solstice;
matrix_planner lm_matrix_eclipse;
matrix_planner lm_matrix_birkhoff;

/* Plan all planes. 0, what lm_matrix_room() returned, or -ENOENT: there are too few of them. */
int lm_matrix_mesh(struct matrix_solver *solver);

#endif /* LM_SCHEDULE_MATRIX_WORK_H */
