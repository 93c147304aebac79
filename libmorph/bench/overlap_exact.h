/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Overlapped rounds as mixed-integer programs, solved by CBC: SWOT's, and one with the state of each plane. */
#ifndef LM_BENCH_OVERLAP_EXACT_H
#define LM_BENCH_OVERLAP_EXACT_H

#include "../schedule/overlap.h"

#define EXACT_ROUNDS 20 /* at most */

struct exact_effort {
	double seconds; /* processor time */
	const struct overlap_share *start; /* a plan to begin with, or NULL */
	uint64_t enough_ps; /* stop at a plan that ends by then; 0: at the best */
};

struct exact_answer {
	bool found;
	bool proved; /* no plan ends before, but for CBC's tolerances */
	double seconds; /* that it took */
};

/*
 * The program with the state of each plane. Its plan, with times as early as they can be and whole bytes, is in
 * @shares. The fabric is dark at first.
 */
void exact_overlap(const struct overlap_problem *problem, const struct exact_effort *effort,
		   struct overlap_share *shares, struct exact_answer *answer);

/* The released program. Its plan may send by circuits that are not there: replay says so. */
void released_overlap(const struct overlap_problem *problem, const struct exact_effort *effort,
		      struct overlap_share *shares, struct exact_answer *answer);

#endif /* LM_BENCH_OVERLAP_EXACT_H */
