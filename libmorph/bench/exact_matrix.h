/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The soonest plan for a matrix by an integer program, with COIN-OR's CBC. */
#ifndef LM_BENCH_EXACT_MATRIX_H
#define LM_BENCH_EXACT_MATRIX_H

#include <stdint.h>

struct exact_matrix_effort {
	double seconds; /* processor time; 0: as long as it takes */
	double enough; /* stop at a plan that ends by then; 0: at the best */
};

/*
 * When all have sent what takes times[src * ranks + dst] with the change, each pair at one go, on one plane on which nothing
 * is held: the open shop with one binary for each two pairs that have a port in common. Negative: CBC has proven nothing, or
 * where a plan is enough, has none.
 */
double exact_matrix(const double *times, uint32_t ranks, const struct exact_matrix_effort *effort);

#endif /* LM_BENCH_EXACT_MATRIX_H */
