// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A hexagonal mesh of 2x2 elements, from its width and height. Columns of cells alternate in
 * length. Each side that two cells share has one element. profiles/README.md has the numbering.
 */
#include "matchings.h"

#define SIDES 6U
#define MOST_CELLS 64U /* of width and height */

enum side {
	UPPER_RIGHT = 1,
	LOWER_RIGHT,
	BELOW
};

struct mesh {
	struct matchings_check *it;
	uint32_t width, height, cells;
	uint32_t *across; /* by cell * SIDES + side: the cell beyond this side, or NONE */
	uint32_t (*ends)[2]; /* by cell * SIDES + corner: the ports of elements there, or NONE */
};

static uint32_t column_size(const struct mesh *mesh, uint32_t column)
{
	if (!column || column > mesh->width)
		return mesh->height;
	return mesh->height + 1 + (column - 1) % 2;
}

static void put_end(struct mesh *mesh, uint32_t cell, uint32_t corner, uint32_t port)
{
	uint32_t *ends = mesh->ends[cell * SIDES + corner % SIDES];

	ends[ends[0] != NONE] = mesh->it->elements * ELEMENT_PORTS + port;
}

/* Add the element on @side of cell @a, beyond which is cell @b. */
static void add_element(struct mesh *mesh, uint32_t a, uint32_t b, enum side side)
{
	mesh->across[a * SIDES + side] = b;
	mesh->across[b * SIDES + (side + 3) % SIDES] = a;
	put_end(mesh, a, side, 0);
	put_end(mesh, a, side + 1, 1);
	put_end(mesh, b, side + 3, 2);
	put_end(mesh, b, side + 4, 3);
	mesh->it->elements++;
}

/*
 * The elements inside a column, and those between it and the next one, which begins at @next. The
 * first and the last cell of the longest columns have neighbours only in their column, and so have
 * no elements to other columns.
 */
static void add_column(struct mesh *mesh, uint32_t column, uint32_t first, uint32_t next)
{
	uint32_t size = column_size(mesh, column), height = mesh->height;
	bool middle = size == height + 1;
	uint32_t skipped = size > height + 1;
	/* Of the next column, the neighbour on the lower right of the first cell that has one. */
	uint32_t lower = next + (!middle || column_size(mesh, column + 1) > height);

	for (uint32_t cell = 1; cell < size && size != height; cell++)
		add_element(mesh, first + cell - 1, first + cell, BELOW);
	for (uint32_t cell = skipped; cell < size - skipped; cell++, lower++) {
		if (!middle || cell)
			add_element(mesh, first + cell, lower - 1, UPPER_RIGHT);
		if (!middle || cell < height)
			add_element(mesh, first + cell, lower, LOWER_RIGHT);
	}
}

static void join(struct mesh *mesh)
{
	for (uint32_t corner = 0; corner < mesh->cells * SIDES; corner++) {
		const uint32_t *ends = mesh->ends[corner];

		if (ends[1] == NONE)
			continue;
		mesh->it->next[ends[0]] = ends[1];
		mesh->it->next[ends[1]] = ends[0];
	}
}

/* Walk along the rim, clockwise. A port is a corner with one end. */
static void number_ports(struct mesh *mesh)
{
	uint32_t start = (mesh->height - 1) / 2 * SIDES + 1, at = start;

	do {
		uint32_t beyond = mesh->across[at], corner = at % SIDES;

		if (mesh->ends[at][0] != NONE && mesh->ends[at][1] == NONE) {
			mesh->it->entry[mesh->it->tx_ports] = mesh->ends[at][0];
			mesh->it->next[mesh->ends[at][0]] = RECEIVER | mesh->it->tx_ports++;
		}
		at = beyond != NONE ? beyond * SIDES + (corner + 4) % SIDES :
				      at - corner + (corner + 1) % SIDES;
	} while (at != start);
	mesh->it->rx_ports = mesh->it->tx_ports;
}

static bool reserve(struct mesh *mesh)
{
	/* A side belongs to two cells. */
	size_t elements = (size_t)mesh->cells * SIDES / 2, corners = (size_t)mesh->cells * SIDES;

	mesh->across = malloc(corners * sizeof(*mesh->across));
	mesh->ends = malloc(corners * sizeof(*mesh->ends));
	mesh->it->next = malloc(elements * ELEMENT_PORTS * sizeof(*mesh->it->next));
	mesh->it->entry = malloc(corners * sizeof(*mesh->it->entry));
	if (!mesh->across || !mesh->ends || !mesh->it->next || !mesh->it->entry)
		return false;
	memset(mesh->across, 0xff, corners * sizeof(*mesh->across));
	memset(mesh->ends, 0xff, corners * sizeof(*mesh->ends));
	memset(mesh->it->next, 0xff, elements * ELEMENT_PORTS * sizeof(*mesh->it->next));
	return true;
}

static void fill(struct mesh *mesh)
{
	uint32_t first = 0;

	for (uint32_t column = 0; column <= mesh->width; column++) {
		uint32_t next = first + column_size(mesh, column);

		add_column(mesh, column, first, next);
		first = next;
	}
	join(mesh);
	number_ports(mesh);
}

int ck_mesh_build(struct matchings_check *it)
{
	struct mesh mesh = { .it = it, .width = it->input->width, .height = it->input->height };
	int ret = 0;

	if (mesh.width % 2 == 0 || mesh.width >= MOST_CELLS || !mesh.height ||
	    mesh.height > MOST_CELLS)
		return ck_wrong(
			&it->check, EINVAL,
			"no mesh of %ux%u cells: the width must be odd and at most 63, the height 1 to 64",
			mesh.width, mesh.height);
	for (uint32_t column = 0; column < mesh.width + 2; column++)
		mesh.cells += column_size(&mesh, column);
	if (reserve(&mesh))
		fill(&mesh);
	else
		ret = ck_wrong(&it->check, ENOMEM, "out of memory");
	free(mesh.across);
	free(mesh.ends);
	return ret;
}
