/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans for matrices, replayed by what shares nothing with planners but the definition. */
#ifndef MATRIX_REPLAY_H
#define MATRIX_REPLAY_H

#include "../matchings/matrix.h"

/* At most. */
#define RANKS 128
#define PLANES 8
#define SENDS 20000

/* What is wrong with a plan; NULL: nothing. */
const char *wrong_with(const struct matrix_problem *problem, const struct matrix_plan *plan);

#endif /* MATRIX_REPLAY_H */
