// SPDX-License-Identifier: LGPL-2.1-or-later
/* Generator of meshes and their demands. */
#include <math.h>
#include <string.h>

#include "../internal/planner.h"
#include "meshes.h"
#include "random.h"

#define TAIL 1.5 /* exponent of the shares' Pareto distribution */

static bool link_exists(const struct mesh *mesh, uint32_t from, uint32_t to)
{
	for (uint32_t link = 0; link < mesh->links_count; link++)
		if (mesh->from[link] == from && mesh->to[link] == to)
			return true;
	return false;
}

/* A plane: a random permutation, without loops and without pairs that another plane has. */
static void add_plane(struct mesh *mesh, uint64_t *random)
{
	uint8_t to[MESH_SERVERS];

	for (uint32_t at = 0; at < MESH_SERVERS; at++)
		to[at] = (uint8_t)at;
	for (uint32_t left = MESH_SERVERS; left > 1; left--) {
		uint32_t other = random_below(random, left);
		uint8_t kept = to[left - 1];

		to[left - 1] = to[other];
		to[other] = kept;
	}
	for (uint32_t at = 0; at < MESH_SERVERS; at++) {
		if (to[at] == at || link_exists(mesh, at, to[at]))
			continue;
		mesh->from[mesh->links_count] = (uint8_t)at;
		mesh->to[mesh->links_count++] = to[at];
	}
}

/* All paths of this length, as far as they fit. */
static void add_paths(struct mesh *mesh, struct mesh_path *path, uint32_t at, uint32_t target,
		      uint32_t hops, uint32_t seen, uint32_t *count)
{
	if (!hops) {
		if (at == target && *count < MESH_PATHS) {
			mesh->paths[mesh->paths_count++] = *path;
			++*count;
		}
		return;
	}
	for (uint32_t link = 0; link < mesh->links_count; link++) {
		uint32_t to = mesh->to[link];

		if (mesh->from[link] != at || seen >> to & 1 || (to == target && hops > 1))
			continue;
		path->links[path->hops++] = link;
		add_paths(mesh, path, to, target, hops - 1, seen | 1U << to, count);
		path->hops--;
	}
}

static void add_demand(struct mesh *mesh, uint32_t source, uint32_t target)
{
	struct mesh_path path = { .demand = mesh->demands_count };
	uint32_t count = 0;

	for (uint32_t hops = 1; hops <= MESH_HOPS; hops++)
		add_paths(mesh, &path, source, target, hops, 1U << source, &count);
	if (!count)
		return;
	mesh->source[mesh->demands_count] = (uint8_t)source;
	mesh->target[mesh->demands_count++] = (uint8_t)target;
}

void mesh_make(struct mesh *mesh, uint64_t seed)
{
	uint64_t random = seed;

	memset(mesh, 0, sizeof(*mesh));
	for (uint32_t plane = 0; plane < MESH_PLANES; plane++)
		add_plane(mesh, &random);
	for (uint32_t source = 0; source < MESH_SERVERS; source++)
		for (uint32_t target = 0; target < MESH_SERVERS; target++)
			if (source != target)
				add_demand(mesh, source, target);
}

/* Hops of a demand's first path, which is a shortest one. */
static uint32_t shortest(const struct mesh *mesh, uint32_t demand)
{
	for (uint32_t at = 0; at < mesh->paths_count; at++)
		if (mesh->paths[at].demand == demand)
			return mesh->paths[at].hops;
	return 0;
}

void mesh_epoch(const struct mesh *mesh, uint64_t seed, uint32_t epoch, double load,
		double amounts[MESH_DEMANDS])
{
	uint64_t random = seed * 1000003 + epoch;
	double hops = 0;

	for (uint32_t at = 0; at < mesh->demands_count; at++) {
		amounts[at] = pow(1 - random_unit(&random), -1 / TAIL);
		hops += amounts[at] * shortest(mesh, at);
	}
	for (uint32_t at = 0; at < mesh->demands_count; at++)
		amounts[at] *= load * MESH_LANES * mesh->links_count / hops;
}

void mesh_view(const struct mesh *mesh, uint64_t seed, uint32_t epoch, uint32_t controller,
	       double noise, const double amounts[MESH_DEMANDS], double view[MESH_DEMANDS])
{
	uint64_t random = (seed * 1000003 + epoch) * 1009 + controller + 1;

	for (uint32_t at = 0; at < mesh->demands_count; at++)
		view[at] = amounts[at] * exp(noise * random_normal(&random));
}

struct morph_traffic *mesh_problem(struct morph_ctx *ctx, const struct mesh *mesh,
				   const double *amounts)
{
	struct morph_traffic *te = morph_traffic_new(ctx);
	bool made = te;

	for (uint32_t link = 0; made && link < mesh->links_count; link++)
		made = morph_traffic_add_link(te, MESH_LANES) >= 0;
	for (uint32_t at = 0; made && at < mesh->demands_count; at++)
		made = morph_traffic_add_demand(te, amounts ? amounts[at] : 0, 1) >= 0;
	for (uint32_t at = 0; made && at < mesh->paths_count; at++)
		made = morph_traffic_add_path(te, mesh->paths[at].demand, mesh->paths[at].links,
					      mesh->paths[at].hops) >= 0;
	if (made)
		return te;
	morph_traffic_free(te);
	return NULL;
}
