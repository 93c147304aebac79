/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A solver for tests of matrices, its problems, and replayed plans. */
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

/* Solve the problem, and fail the test if the plan is invalid. */
struct matrix_plan solve(const struct matrix_problem *problem);

/* Draw a problem of a random kind from a seed, with its held circuits. */
struct matrix_problem any_problem(uint64_t seed);
struct matrix_problem layer(uint64_t seed, const struct tokens *tokens, uint64_t change_ps);

#endif /* MATRIX_SOLVING_H */
