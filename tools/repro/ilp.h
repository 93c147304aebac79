/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Racks that are put to the published integer program of stitching, and to ours. */
#ifndef REPRO_ILP_H
#define REPRO_ILP_H

#include "clusters.h"

/* Which ways the program may take of the shortest ones, and how long it may search. */
struct ilp_effort {
	uint32_t ways_shortest, ways_kept, nodes;
	bool no_cuts;
};

enum ilp_verdict {
	ILP_NO, /* proven: by these ways no plan is within the fibres */
	ILP_YES,
	ILP_UNDECIDED, /* out of nodes */
};

struct ilp_answer {
	bool planned; /* there is a plan, whatever fibres it needs */
	enum ilp_verdict within; /* is there one within the fibres? */
	double fibres; /* that its plan has on the fullest link */
	bool ours; /* whether we have a plan, which is always within the fibres */
	double our_fibres;
};

/*
 * 32 accelerators in a rack. Plans of both are gone through by the checker, link by link, and
 * one within the fibres that is there where ours says that there is none ends the program.
 */
void ilp_ask(const struct racks *racks, uint32_t rack, const struct ilp_effort *effort,
	     struct ilp_answer *answer);

#endif /* REPRO_ILP_H */
