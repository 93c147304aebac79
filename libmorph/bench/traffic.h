/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurements of lanes between servers for one and for several controllers. */
#ifndef LM_BENCH_TRAFFIC_H
#define LM_BENCH_TRAFFIC_H

#include <morph/plan.h>

#include "meshes.h"

#define TRAFFIC_MESHES 32
#define TRAFFIC_EPOCHS 8
#define TRAFFIC_NOISE 0.05
#define TRAFFIC_PATHS (MESH_DEMANDS * MESH_PATHS)

/* Solve for these amounts; @result can be NULL. Returns the time. */
double traffic_solve(struct morph_ctx *ctx, struct morph_traffic *te, const struct mesh *mesh,
		     const double *amounts, bool cold, struct morph_traffic_result *result);

#endif /* LM_BENCH_TRAFFIC_H */
