/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Servers joined by planes of circuits, their demands, and the views of several controllers: the
 * instances of traffic engineering. Twelve servers, five planes, each a random permutation; at most
 * four paths of at most three hops between two servers, the shortest ones; heavy-tailed demands.
 */
#ifndef LM_BENCH_MESHES_H
#define LM_BENCH_MESHES_H

#include <stdint.h>

#include <morph/plan.h>

#define MESH_SERVERS 12
#define MESH_PLANES 5
#define MESH_HOPS 3
#define MESH_PATHS 4 /* of a demand */
#define MESH_LINKS (MESH_SERVERS * MESH_PLANES)
#define MESH_DEMANDS (MESH_SERVERS * (MESH_SERVERS - 1))
#define MESH_LANES 16 /* of a link */

struct mesh_path {
	uint32_t demand;
	uint32_t hops;
	uint32_t links[MESH_HOPS];
};

struct mesh {
	uint32_t links_count;
	uint8_t from[MESH_LINKS], to[MESH_LINKS]; /* servers */
	uint32_t demands_count;
	uint8_t source[MESH_DEMANDS], target[MESH_DEMANDS];
	uint32_t paths_count;
	struct mesh_path paths[MESH_DEMANDS * MESH_PATHS];
};

/* Deterministic for a seed, except for the last digits of logarithms. */
void mesh_make(struct mesh *mesh, uint64_t seed);

/*
 * The demands of an epoch, heavy-tailed and independent. On shortest paths they take @load times
 * the lanes of all links.
 */
void mesh_epoch(const struct mesh *mesh, uint64_t seed, uint32_t epoch, double load,
		double amounts[MESH_DEMANDS]);

/* The view of a controller: each amount times a lognormal factor with deviation @noise. */
void mesh_view(const struct mesh *mesh, uint64_t seed, uint32_t epoch, uint32_t controller,
	       double noise, const double amounts[MESH_DEMANDS], double view[MESH_DEMANDS]);

/* As a problem with these amounts, or without demands for NULL. NULL when out of memory. */
struct morph_traffic *mesh_problem(struct morph_ctx *ctx, const struct mesh *mesh,
				   const double *amounts);

#endif /* LM_BENCH_MESHES_H */
