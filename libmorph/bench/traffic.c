// SPDX-License-Identifier: LGPL-2.1-or-later
/* The regularised problem of traffic: how long it takes. */
#include "bench.h"
#include "traffic.h"

struct morph_te *traffic_problem(struct morph_ctx *ctx, const struct mesh *mesh)
{
	struct morph_te *te = morph_te_new(ctx);

	for (uint32_t link = 0; te && link < mesh->links_count; link++)
		morph_te_add_link(te, MESH_LANES);
	for (uint32_t at = 0; te && at < mesh->demands_count; at++)
		morph_te_add_demand(te, 0, 1);
	for (uint32_t at = 0; te && at < mesh->paths_count; at++)
		if (morph_te_add_path(te, mesh->paths[at].demand, mesh->paths[at].links,
				      mesh->paths[at].hops) < 0)
			wrong(morph_error_text(ctx));
	return te;
}

double traffic_solve(struct morph_ctx *ctx, struct morph_te *te, const struct mesh *mesh,
		     const double *amounts, bool cold, struct morph_te_result *result)
{
	MORPH_OPTS(morph_te_opts, opts, .tolerance = 1e-6, .cold = cold);
	double begin;

	for (uint32_t at = 0; at < mesh->demands_count; at++)
		morph_te_set_amount(te, at, amounts[at]);
	begin = now_us();
	if (morph_te_solve(te, &opts, result))
		wrong(morph_error_text(ctx));
	return now_us() - begin;
}

struct te_rows {
	struct samples cold, warm;
};

static void measure_mesh(struct morph_ctx *ctx, uint64_t seed, struct te_rows *rows)
{
	static struct mesh mesh;
	double amounts[MESH_DEMANDS], view[MESH_DEMANDS];
	struct morph_te *te;

	mesh_make(&mesh, seed);
	te = traffic_problem(ctx, &mesh);
	for (uint32_t epoch = 0; te && epoch < TRAFFIC_EPOCHS; epoch++) {
		mesh_epoch(&mesh, seed, epoch, 1, amounts);
		mesh_view(&mesh, seed, epoch, 0, TRAFFIC_NOISE, amounts, view);
		sample(&rows->cold, traffic_solve(ctx, te, &mesh, amounts, true, NULL));
		sample(&rows->warm, traffic_solve(ctx, te, &mesh, view, false, NULL));
	}
	morph_te_free(te);
}

void bench_te(struct morph_ctx *ctx)
{
	static struct te_rows rows;

	for (uint64_t seed = 1; seed <= TRAFFIC_MESHES; seed++)
		measure_mesh(ctx, seed, &rows);
	if (!rows.cold.count)
		return;
	report("traffic of 12 servers, residual 1e-6, from nothing", &rows.cold, MOST, 5000);
	report("  warm, after 5 % noise", &rows.warm, MOST, 1000);
}
