/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A corner of a rack that is small enough for trying all solutions. */
#ifndef CORNER_H
#define CORNER_H

#include "../bench/brute.h"
#include "../bench/fenced.h"
#include "../check/check.h"
#include "../defrag/defrag.h"
#include "placing.h"

#define SLICES 8
#define CORNER FENCED_SERVERS
#define DEMANDS BRUTE_DEMANDS

/* Running slices, and a request. */
struct corner {
	struct bench *bench;
	struct morph_defrag *defrag;
	uint32_t count;
	struct morph_plan *plans[SLICES];
	uint32_t hosts_count, hosts[CORNER];
	uint32_t detour; /* limit of additional hops of random paths; 0: no limit */
};

void corner_begin(struct corner *corner, struct bench *bench);
/* End all slices, and forget those that ran. */
void corner_clear(struct corner *corner);
void corner_end(struct corner *corner);

/* Servers 4z + 2y + x of a block. */
void corner_choose(struct corner *corner, uint32_t count);
/*
 * Leave @chips accelerators of each server of the corner, and up to @fibres fibres of each link. C
 * does not fix the order of arguments: at most one argument draws a random number.
 */
void corner_fence(struct corner *corner, uint64_t *seed, uint32_t chips, uint32_t fibres);
/* The request becomes the next slice, on random paths. Returns false if it has no place. */
bool corner_add(struct corner *corner, uint64_t *seed);
/* Add slices on random paths. */
void corner_run(struct corner *corner, uint64_t *seed, uint32_t count);
/* Draw a request for a few ranks. */
void corner_ask(struct morph_request *request, uint64_t *seed);
/* End all slices, and draw a corner with one to four slices and a request. */
void corner_draw(struct corner *corner, uint64_t *seed);

/* Make a number of fibres of a link usable. Before, none is. */
void corner_keep_link(struct corner *corner, uint32_t from, uint32_t to, uint32_t count);

/*
 * Servers 0, 1, 2 and 3 form a square. @circuits circuits lead from 0 to 1. @away of them take the
 * path over 2 and 3, where the request needs as many fibres. The same number of direct fibres is
 * free.
 */
void corner_detours(struct corner *corner, uint32_t circuits, uint32_t away);
/* The same with one circuit on the long path. */
void corner_detour(struct corner *corner, uint32_t circuits);

/* Solve, and check that the answer is valid. */
struct morph_defrag_result corner_solve(struct corner *corner, uint32_t objective);
/* Check that the request was refused, and not because of missing accelerators. */
bool corner_lacks_fibres(const struct corner *corner);
/* Draw corners until moves satisfy a request that morph_place() refuses. */
struct morph_defrag_result corner_satisfy(struct corner *corner, uint64_t *seed);

/* Input of the checker, in the order of its blobs: ledger, request, running slices, answer. */
struct answer {
	struct morph_check_defrag_input input;
	void *blobs[4];
};

void answer_write(const struct corner *corner, struct answer *answer);
void answer_free(struct answer *answer);

#endif /* CORNER_H */
