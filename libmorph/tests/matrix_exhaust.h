/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The soonest plan of a small matrix, by trying all of them. */
#ifndef MATRIX_EXHAUST_H
#define MATRIX_EXHAUST_H

#include "../matchings/matrix.h"

/*
 * When the best plan in whole units ends: of four ranks at most, of one plane, with nothing held.
 * Exponential.
 */
uint64_t exhaust_problem(const struct matrix_problem *problem, uint64_t unit);

#endif /* MATRIX_EXHAUST_H */
