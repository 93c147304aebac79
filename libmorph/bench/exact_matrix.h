/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The soonest plan for a matrix by an integer program, with COIN-OR's CBC. */
#ifndef LM_BENCH_EXACT_MATRIX_H
#define LM_BENCH_EXACT_MATRIX_H

#include <stdint.h>

#define EXACT_MATRIX_RANKS 5

/*
 * When all have sent what takes times[src * ranks + dst] with the change, each pair at one go, on one plane on which nothing
 * is held: the open shop with one binary for each two pairs that have a port in common. Negative: CBC gave up.
 */
double exact_matrix(const double *times, uint32_t ranks);

#endif /* LM_BENCH_EXACT_MATRIX_H */
