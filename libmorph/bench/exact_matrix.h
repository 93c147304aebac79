/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The earliest plan of a matrix by an integer program with COIN-OR's CBC. */
#ifndef LM_BENCH_EXACT_MATRIX_H
#define LM_BENCH_EXACT_MATRIX_H

#include <stdint.h>

struct exact_matrix_effort {
	double seconds; /* limit of processor time; 0: none */
	double enough; /* stop at a plan that ends by then; 0: at the optimum */
};

/*
 * The end of a plan for times times[src * ranks + dst], which include the change. Each pair sends
 * without preemption, on one plane, dark at first. This is the open shop with one binary for two
 * pairs that share a port. Negative: CBC has no proof, or, if a plan suffices, no plan.
 */
double exact_matrix(const double *times, uint32_t ranks, const struct exact_matrix_effort *effort);

#endif /* LM_BENCH_EXACT_MATRIX_H */
