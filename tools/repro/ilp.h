/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Racks as problems for the published integer program of stitching, and for our planner. */
#ifndef REPRO_ILP_H
#define REPRO_ILP_H

#include "clusters.h"

/* Which of the shortest paths the program may use, and its search limit. */
struct ilp_effort {
	uint32_t ways_shortest, ways_kept, nodes;
	bool no_cuts;
};

enum ilp_verdict {
	ILP_NO, /* proven: no plan with these paths fits the fibres */
	ILP_YES,
	ILP_UNDECIDED, /* the search used all its nodes */
};

struct ilp_answer {
	bool planned; /* is there a plan with any number of fibres? */
	enum ilp_verdict within; /* is there a plan within the fibres? */
	double fibres; /* fibres of its plan on the fullest link */
	bool ours; /* is there a plan of ours? It is always within the fibres */
	double our_fibres;
};

/*
 * Ask for 32 accelerators in a rack. The checker checks plans of both link by link. If the program
 * finds a plan within the fibres where our planner proves that none exists, the program ends.
 */
void ilp_ask(const struct racks *racks, uint32_t rack, const struct ilp_effort *effort,
	     struct ilp_answer *answer);

#endif /* REPRO_ILP_H */
