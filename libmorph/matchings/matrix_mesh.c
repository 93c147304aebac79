// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Circuits that stay. A pair gets as many planes as it takes that none of its circuits carries more than so many bytes; and
 * as long as no rank needs more of them than there are, they can be had: edges of a bipartite
 * graph have as many colours as the greatest degree (Koenig 1916).
 */
#include "matrix_work.h"

static uint32_t copies_of(uint64_t bytes, uint64_t most)
{
	uint64_t copies = (bytes + most - 1) / most;

	return copies > UINT32_MAX ? UINT32_MAX : (uint32_t)copies;
}

/* Are there planes enough, when a circuit carries so much at most? */
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

/* The least that a circuit has to carry; 0: there are too few planes. */
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

/* The port at the other end of this port's circuit on a plane. */
static uint32_t *slot(struct matrix_solver *solver, uint32_t port, uint32_t plane)
{
	return &solver->slots[(size_t)port * solver->problem.planes + plane];
}

static void join(struct matrix_solver *solver, uint32_t one, uint32_t other, uint32_t plane)
{
	*slot(solver, one, plane) = other;
	*slot(solver, other, plane) = one;
}

/* The first plane that neither has a circuit on, a held one first; MATRIX_NONE. */
static uint32_t common_plane(struct matrix_solver *solver, uint32_t src, uint32_t dst)
{
	uint32_t ranks = solver->problem.ranks, found = MATRIX_NONE;

	for (uint32_t plane = solver->problem.planes; plane--;) {
		if (*slot(solver, src, plane) != MATRIX_NONE ||
		    *slot(solver, ranks + dst, plane) != MATRIX_NONE)
			continue;
		if (lm_matrix_held(solver, plane, src, dst))
			return plane;
		found = plane;
	}
	return found;
}

static uint32_t free_plane(struct matrix_solver *solver, uint32_t port)
{
	uint32_t plane = 0;

	while (*slot(solver, port, plane) != MATRIX_NONE)
		plane++;
	return plane;
}

/*
 * Free a plane at a port that has another one free: along the path of circuits on these two planes,
 * each goes to the other of them.
 */
static void exchange(struct matrix_solver *solver, uint32_t port, uint32_t plane, uint32_t other)
{
	uint32_t peer = *slot(solver, port, plane);

	*slot(solver, port, plane) = MATRIX_NONE;
	while (peer != MATRIX_NONE) {
		uint32_t next = *slot(solver, peer, other), held = plane;

		*slot(solver, peer, plane) = MATRIX_NONE;
		join(solver, port, peer, other);
		port = peer;
		peer = next;
		plane = other;
		other = held;
	}
}

static void add_circuit(struct matrix_solver *solver, uint32_t src, uint32_t dst)
{
	uint32_t port = solver->problem.ranks + dst, plane = common_plane(solver, src, dst);

	if (plane == MATRIX_NONE) {
		plane = free_plane(solver, src);
		exchange(solver, port, plane, free_plane(solver, port));
	}
	join(solver, src, port, plane);
}

/* As many circuits as each pair takes; how many in stuffed[]. Held ones first, where they are not moved again. */
static void add_circuits(struct matrix_solver *solver, uint64_t most)
{
	uint32_t ranks = solver->problem.ranks;

	memset(solver->slots, 0xff,
	       (size_t)2 * ranks * solver->problem.planes * sizeof(*solver->slots));
	for (uint32_t src = 0; src < ranks; src++) {
		for (uint32_t dst = 0; dst < ranks; dst++) {
			size_t cell = (size_t)src * ranks + dst;
			uint32_t copies = copies_of(solver->cells[cell], most), held = 0;

			solver->stuffed[cell] = copies;
			for (uint32_t plane = 0; plane < solver->problem.planes; plane++) {
				if (held == copies || !lm_matrix_held(solver, plane, src, dst))
					continue;
				join(solver, src, ranks + dst, plane);
				held++;
			}
			solver->costs[cell] = copies - held;
		}
	}
	for (uint32_t src = 0; src < ranks; src++)
		for (uint32_t dst = 0; dst < ranks; dst++)
			while (solver->costs[(size_t)src * ranks + dst]--)
				add_circuit(solver, src, dst);
}

int lm_matrix_mesh(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;
	uint64_t most = least_most(solver);
	int ret;

	if (!most)
		return -ENOENT;
	add_circuits(solver, most);
	memcpy(solver->left, solver->cells, (size_t)ranks * ranks * sizeof(*solver->left));
	for (uint32_t plane = 0; plane < solver->problem.planes; plane++) {
		solver->plane = plane;
		solver->step = 0;
		ret = lm_matrix_room(solver, ranks);
		if (ret)
			return ret;
		for (uint32_t src = 0; src < ranks; src++) {
			uint32_t port = *slot(solver, src, plane);
			size_t cell = (size_t)src * ranks + port - ranks;
			uint64_t copies;

			if (port == MATRIX_NONE)
				continue;
			copies = solver->stuffed[cell]--;
			lm_matrix_add(solver, src, port - ranks,
				      (solver->left[cell] + copies - 1) / copies);
		}
	}
	return 0;
}
