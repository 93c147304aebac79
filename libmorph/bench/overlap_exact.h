/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overlapped rounds as mixed-integer programs, solved by CBC: SWOT's, and one with the state of
 * each plane.
 */
#ifndef LM_BENCH_OVERLAP_EXACT_H
#define LM_BENCH_OVERLAP_EXACT_H

#include "../schedule/overlap.h"

#define EXACT_ROUNDS 20 /* limit */

struct exact_effort {
	double seconds; /* limit of processor time */
	const struct overlap_share *start; /* an initial plan, or NULL */
	uint64_t enough_ps; /* stop at a plan that ends by then; 0: at the optimum */
};

struct exact_answer {
	bool found;
	bool proved; /* no plan ends earlier, within CBC's tolerances */
	double seconds; /* time used */
};

/*
 * The program with the state of each plane, dark at first. @shares gets its plan, with earliest
 * times and whole bytes.
 */
void exact_overlap(const struct overlap_problem *problem, const struct exact_effort *effort,
		   struct overlap_share *shares, struct exact_answer *answer);

/* The released program. Its plan can use missing circuits; overlap_replay() detects this. */
void released_overlap(const struct overlap_problem *problem, const struct exact_effort *effort,
		      struct overlap_share *shares, struct exact_answer *answer);

#endif /* LM_BENCH_OVERLAP_EXACT_H */
