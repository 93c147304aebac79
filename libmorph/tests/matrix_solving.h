/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One solver for tests of matrices, what it is asked, and plans that were replayed. */
#ifndef MATRIX_SOLVING_H
#define MATRIX_SOLVING_H

#include "../bench/tokens.h"
#include "alone.h"
#include "matrix_replay.h"

extern struct matrix_solver *solver;
extern uint64_t matrix[RANKS * RANKS];
extern struct matrix_circuit circuits[RANKS * PLANES];
extern const struct costs link;

int open_solver(void **state);
int close_solver(void **state);

/* A plan that is as it should be, or the test fails. */
struct matrix_plan solve(const struct matrix_problem *problem);

/* One of many kinds, by its seed; what is held too. */
struct matrix_problem any_problem(uint64_t seed);
struct matrix_problem layer(uint64_t seed, const struct tokens *tokens, uint64_t change_ps);

#endif /* MATRIX_SOLVING_H */
