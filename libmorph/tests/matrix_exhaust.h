/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fastest plan of a small matrix, found by enumeration. */
#ifndef MATRIX_EXHAUST_H
#define MATRIX_EXHAUST_H

#include "../matchings/matrix.h"

/*
 * The end of the best plan in whole units, for up to four ranks, one plane, and no held circuit.
 * The time is exponential.
 */
uint64_t exhaust_problem(const struct matrix_problem *problem, uint64_t unit);

#endif /* MATRIX_EXHAUST_H */
