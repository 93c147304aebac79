/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rounds of SWOT's evaluation (arXiv 2510.19322): its experiments 1.1, 1.2, 2.1 and 2.2. */
#ifndef LM_BENCH_OVERLAP_GRID_H
#define LM_BENCH_OVERLAP_GRID_H

#include "../schedule/overlap.h"

#define GRID_ROUNDS 1024
#define GRID_INSTANCES 512
#define GRID_NAME 64

enum grid_algorithm {
	GRID_RS_HD, /* reduce-scatter by halving */
	GRID_AR_HD, /* and the same rounds in reverse */
	GRID_BRUCK_WHOLE, /* all-to-all in log2 rounds of all bytes, as in SWOT */
	GRID_BRUCK, /* all-to-all in log2 rounds of half of the bytes */
	GRID_PAIRWISE, /* all-to-all with each other rank in turn */
	GRID_ALGORITHMS,
};

struct grid_instance {
	enum grid_algorithm algorithm;
	uint32_t ranks, planes;
	uint64_t bytes; /* of a rank */
	uint64_t mbps; /* of a plane */
	uint64_t change_ns;
};

/* Fill in all instances, each once. Returns their number. */
uint32_t grid_instances(struct grid_instance instances[GRID_INSTANCES]);

/* The complete name of an instance. */
void grid_name(const struct grid_instance *instance, char name[GRID_NAME]);

/* As a problem on a dark fabric, with space for GRID_ROUNDS rounds. */
void grid_problem(const struct grid_instance *instance, struct overlap_round *rounds,
		  struct overlap_problem *problem);

#endif /* LM_BENCH_OVERLAP_GRID_H */
