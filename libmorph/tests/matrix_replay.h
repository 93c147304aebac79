/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Replay plans for matrices. The replay and the planners share only the definition of the problem.
 */
#ifndef MATRIX_REPLAY_H
#define MATRIX_REPLAY_H

#include "../matchings/matrix.h"

/* At most. */
#define RANKS 128
#define PLANES 8
#define SENDS 20000

/* Check a plan. Returns an error text, or NULL. */
const char *wrong_with(const struct matrix_problem *problem, const struct matrix_plan *plan);

#endif /* MATRIX_REPLAY_H */
