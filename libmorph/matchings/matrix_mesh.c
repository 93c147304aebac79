// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Circuits that stay. A limit says how many bytes a circuit carries, and so how many planes each
 * pair of ranks needs. If no rank needs more planes than exist, a colouring of the graph of these
 * circuits gives each its plane.
 */
#include "matrix_work.h"

static uint32_t copies_of(uint64_t bytes, uint64_t most)
{
	uint64_t copies = (bytes + most - 1) / most;

	return copies > UINT32_MAX ? UINT32_MAX : (uint32_t)copies;
}

/* Are there enough planes for this limit? */
static bool suffices(const struct matrix_solver *solver, uint64_t most)
{
	uint32_t ranks = solver->problem.ranks;

	for (uint32_t rank = 0; rank < ranks; rank++) {
		uint64_t sent = 0, received = 0;

		for (uint32_t peer = 0; peer < ranks; peer++) {
			sent += copies_of(solver->cells[(size_t)rank * ranks + peer], most);
			received += copies_of(solver->cells[(size_t)peer * ranks + rank], most);
		}
		if (sent > solver->problem.planes || received > solver->problem.planes)
			return false;
	}
	return true;
}

/* The least limit of a circuit; 0: there are too few planes. */
static uint64_t least_most(const struct matrix_solver *solver)
{
	size_t cells = (size_t)solver->problem.ranks * solver->problem.ranks;
	uint64_t low = 0, high = 1;

	for (size_t cell = 0; cell < cells; cell++)
		high = solver->cells[cell] > high ? solver->cells[cell] : high;
	if (!suffices(solver, high))
		return 0;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (suffices(solver, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* ---------------------------------------------------------------- colouring */

/*
 * The first plane on which both ports are free, preferably with a held circuit; COLOURING_NONE:
 * there is none.
 */
static uint32_t common_plane(const struct matrix_solver *solver, const struct colouring *mesh,
			     uint32_t src, uint32_t dst)
{
	uint32_t found = COLOURING_NONE;

	for (uint32_t plane = mesh->colours; plane--;) {
		if (*colouring_out(mesh, src, plane) != COLOURING_NONE ||
		    *colouring_in(mesh, dst, plane) != COLOURING_NONE)
			continue;
		if (lm_matrix_held(solver, plane, src, dst))
			return plane;
		found = plane;
	}
	return found;
}

static void add_circuit(const struct matrix_solver *solver, struct colouring *mesh, uint32_t edge)
{
	uint32_t plane = common_plane(solver, mesh, mesh->edges[edge].src, mesh->edges[edge].dst);

	if (plane == COLOURING_NONE)
		lm_colouring_add(mesh, edge);
	else
		colouring_set(mesh, edge, plane);
}

/*
 * Place the circuits of each pair, with their number in stuffed[]. Held ones come first, where the
 * colouring does not move them.
 */
static void add_circuits(struct matrix_solver *solver, struct colouring *mesh, uint64_t most)
{
	uint32_t ranks = solver->problem.ranks, edges = 0;

	memset(mesh->out, 0xff, (size_t)2 * ranks * mesh->colours * sizeof(*mesh->out));
	for (uint32_t src = 0; src < ranks; src++) {
		for (uint32_t dst = 0; dst < ranks; dst++) {
			size_t cell = (size_t)src * ranks + dst;
			uint32_t copies = copies_of(solver->cells[cell], most), held = 0;

			solver->stuffed[cell] = copies;
			for (uint32_t plane = 0; plane < mesh->colours; plane++) {
				if (held == copies || !lm_matrix_held(solver, plane, src, dst))
					continue;
				mesh->edges[edges] = (struct coloured){ .src = src, .dst = dst };
				colouring_set(mesh, edges++, plane);
				held++;
			}
			solver->costs[cell] = copies - held;
		}
	}
	for (uint32_t src = 0; src < ranks; src++) {
		for (uint32_t dst = 0; dst < ranks; dst++) {
			while (solver->costs[(size_t)src * ranks + dst]--) {
				mesh->edges[edges] = (struct coloured){ .src = src, .dst = dst };
				add_circuit(solver, mesh, edges++);
			}
		}
	}
}

int lm_matrix_mesh(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;
	uint64_t most = least_most(solver);
	struct colouring mesh = {
		.colours = solver->problem.planes,
		.edges = solver->circuits,
		.out = solver->slots,
		.in = solver->slots + (size_t)ranks * solver->problem.planes,
	};
	int ret;

	if (!most)
		return -ENOENT;
	add_circuits(solver, &mesh, most);
	memcpy(solver->left, solver->cells, (size_t)ranks * ranks * sizeof(*solver->left));
	for (uint32_t plane = 0; plane < solver->problem.planes; plane++) {
		solver->plane = plane;
		solver->step = 0;
		ret = lm_matrix_room(solver, ranks);
		if (ret)
			return ret;
		for (uint32_t src = 0; src < ranks; src++) {
			uint32_t edge = *colouring_out(&mesh, src, plane), dst;
			uint64_t copies;
			size_t cell;

			if (edge == COLOURING_NONE)
				continue;
			dst = mesh.edges[edge].dst;
			cell = (size_t)src * ranks + dst;
			copies = solver->stuffed[cell]--;
			lm_matrix_add(solver, src, dst, (solver->left[cell] + copies - 1) / copies);
		}
	}
	return 0;
}
