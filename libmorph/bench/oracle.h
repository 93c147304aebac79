/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Linear and quadratic programs of traffic engineering, by COIN-OR's Clp: what planners are held against. */
#ifndef LM_BENCH_ORACLE_H
#define LM_BENCH_ORACLE_H

#include <stdbool.h>

#include "meshes.h"

/* Of the mesh; freed by oracle_free(). NULL when out of memory. */
void *oracle_new(const struct mesh *mesh);
void oracle_free(void *oracle);

/*
 * As much as can be sent of @amounts, by the dual simplex; columns are paths in their order. A
 * new oracle begins from nothing, one that has solved before from that basis. Returns whether
 * it found the optimum; @flows by path.
 */
bool oracle_solve(void *oracle, const struct mesh *mesh, const double *amounts, double *flows);

/*
 * The regularised problem, every path less worth by half of @lambda times the square of its flow, as
 * a quadratic program from nothing. Returns whether it found the optimum; @flows by path.
 */
bool oracle_quadratic(const struct mesh *mesh, const double *amounts, double lambda, double *flows);

#endif /* LM_BENCH_ORACLE_H */
