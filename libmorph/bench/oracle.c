// SPDX-License-Identifier: LGPL-2.1-or-later
/* Clp as an oracle. */
#include <stddef.h>

#include <Clp_C_Interface.h>

#include "oracle.h"

void *oracle_new(const struct mesh *mesh)
{
	static double lower[MESH_LINKS + MESH_DEMANDS], upper[MESH_LINKS + MESH_DEMANDS];
	static double ones[MESH_DEMANDS * MESH_PATHS * (MESH_HOPS + 1)];
	static double worth[MESH_DEMANDS * MESH_PATHS];
	static int rows[MESH_DEMANDS * MESH_PATHS * (MESH_HOPS + 1)];
	static CoinBigIndex starts[MESH_DEMANDS * MESH_PATHS + 1];
	Clp_Simplex *model = Clp_newModel();
	int entries = 0;

	if (!model)
		return NULL;
	for (uint32_t row = 0; row < mesh->links_count + mesh->demands_count; row++) {
		lower[row] = -1e30;
		upper[row] = row < mesh->links_count ? MESH_LANES : 0;
	}
	for (uint32_t at = 0; at < mesh->paths_count; at++) {
		const struct mesh_path *path = &mesh->paths[at];

		starts[at] = entries;
		worth[at] = -1; /* Clp minimises */
		for (uint32_t hop = 0; hop < path->hops; hop++)
			rows[entries++] = (int)path->links[hop];
		rows[entries++] = (int)(mesh->links_count + path->demand);
	}
	for (int at = 0; at < entries; at++)
		ones[at] = 1;
	starts[mesh->paths_count] = entries;
	Clp_setLogLevel(model, 0);
	Clp_loadProblem(model, (int)mesh->paths_count,
			(int)(mesh->links_count + mesh->demands_count), starts, rows, ones, NULL,
			NULL, worth, lower, upper);
	return model;
}

void oracle_free(void *oracle)
{
	Clp_deleteModel(oracle);
}

bool oracle_solve(void *oracle, const struct mesh *mesh, const double *amounts, double *flows)
{
	double *upper = Clp_rowUpper(oracle);
	const double *found;

	for (uint32_t at = 0; at < mesh->demands_count; at++)
		upper[mesh->links_count + at] = amounts[at];
	Clp_dual(oracle, 0);
	found = Clp_primalColumnSolution(oracle);
	for (uint32_t at = 0; at < mesh->paths_count; at++)
		flows[at] = found[at];
	return Clp_status(oracle) == 0;
}

/* By the barrier method, which is faster than the simplex for such objectives. */
bool oracle_quadratic(const struct mesh *mesh, const double *amounts, double lambda, double *flows)
{
	static CoinBigIndex starts[MESH_DEMANDS * MESH_PATHS + 1];
	static double squares[MESH_DEMANDS * MESH_PATHS];
	static int columns[MESH_DEMANDS * MESH_PATHS];
	Clp_Simplex *model = oracle_new(mesh);
	const double *found;
	double *upper;
	bool solved;

	if (!model)
		return false;
	for (uint32_t at = 0; at < mesh->paths_count; at++) {
		starts[at] = (CoinBigIndex)at;
		columns[at] = (int)at;
		squares[at] = lambda; /* Clp uses half of it */
	}
	starts[mesh->paths_count] = (CoinBigIndex)mesh->paths_count;
	Clp_loadQuadraticObjective(model, (int)mesh->paths_count, starts, columns, squares);
	upper = Clp_rowUpper(model);
	for (uint32_t at = 0; at < mesh->demands_count; at++)
		upper[mesh->links_count + at] = amounts[at];
	Clp_initialBarrierNoCrossSolve(model);
	solved = Clp_status(model) == 0;
	found = Clp_primalColumnSolution(model);
	for (uint32_t at = 0; at < mesh->paths_count; at++)
		flows[at] = found[at];
	Clp_deleteModel(model);
	return solved;
}
