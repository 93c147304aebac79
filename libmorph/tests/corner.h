/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A corner of a rack, small enough to try all that can be done in it. */
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

/* Slices that run, and what is asked of them. */
struct corner {
	struct bench *bench;
	struct morph_defrag *defrag;
	uint32_t count;
	struct morph_plan *plans[SLICES];
	uint32_t hosts_count, hosts[CORNER];
	uint32_t detour; /* hops that circuits take too many at most; 0: any number */
};

void corner_begin(struct corner *corner, struct bench *bench);
/* All slices end, and those that ran are forgotten. */
void corner_clear(struct corner *corner);
void corner_end(struct corner *corner);

/* Servers 4z + 2y + x of a block. */
void corner_choose(struct corner *corner, uint32_t count);
/*
 * Leave so many accelerators of each server of the corner, and up to so many fibres of each link.
 */
void corner_fence(struct corner *corner, uint64_t *seed, uint32_t chips, uint32_t fibres);
/* What is requested becomes the next slice, and goes ways by chance; false: it has no place. */
bool corner_add(struct corner *corner, uint64_t *seed);
/* Slices that go ways by chance. */
void corner_run(struct corner *corner, uint64_t *seed, uint32_t count);
/* A request of a few ranks. */
void corner_ask(struct morph_request *request, uint64_t *seed);

/* So many fibres of a link may be used, where none might. */
void corner_keep_link(struct corner *corner, uint32_t from, uint32_t to, uint32_t count);

/*
 * Servers 0, 1, 2 and 3 in a square. Of so many circuits from 0 to 1 all but @away go straight,
 * and these go by 2 and 3, where as many are wanted. As many fibres more are straight.
 */
void corner_detours(struct corner *corner, uint32_t circuits, uint32_t away);
/* With one of them. */
void corner_detour(struct corner *corner, uint32_t circuits);

/* Solve; the answer has to be what it says. */
struct morph_defrag_result corner_solve(struct corner *corner, uint32_t objective);
/* Was the request refused, and not for want of accelerators? */
bool corner_lacks_fibres(const struct corner *corner);
/* Until a request that morph_place() refuses is satisfied by moves. */
struct morph_defrag_result corner_satisfy(struct corner *corner, uint64_t *seed);

/* What the checker is given; blobs in the order of input: ledger, request, running, answer. */
struct answer {
	struct morph_check_defrag_input input;
	void *blobs[4];
};

void answer_write(const struct corner *corner, struct answer *answer);
void answer_free(struct answer *answer);

#endif /* CORNER_H */
