/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Linear and quadratic programs of traffic engineering by COIN-OR's Clp, as references for
 * planners.
 */
#ifndef LM_BENCH_ORACLE_H
#define LM_BENCH_ORACLE_H

#include <stdbool.h>

#include "meshes.h"

/* A program of the mesh, freed by oracle_free(). NULL when out of memory. */
void *oracle_new(const struct mesh *mesh);
void oracle_free(void *oracle);

/*
 * The maximum throughput of @amounts, by the dual simplex with columns in the order of paths. A new
 * oracle starts cold, a used one from its last basis. Returns whether it found the optimum; @flows
 * by path.
 */
bool oracle_solve(void *oracle, const struct mesh *mesh, const double *amounts, double *flows);

/*
 * The regularised problem as a quadratic program, cold: each path's value minus half of @lambda
 * times the square of its flow. Returns whether it found the optimum; @flows by path.
 */
bool oracle_quadratic(const struct mesh *mesh, const double *amounts, double lambda, double *flows);

#endif /* LM_BENCH_ORACLE_H */
