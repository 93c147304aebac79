// SPDX-License-Identifier: LGPL-2.1-or-later
/* Graphs of fabrics for the search of matchings: hexagonal meshes, profiles, and distances. */
#include "../model/model.h"
#include "mesh.h"

#define CORNERS 6
#define HEXAGON_PORTS 4
#define HEXAGON_STATES 2

static const char what[] = "search matchings";

/* Ports that bar and cross join to each port. */
static const uint8_t hexagon_joins[HEXAGON_STATES][HEXAGON_PORTS] = {
	{ 1, 0, 3, 2 },
	{ 2, 3, 0, 1 },
};

int lm_mesh_lay(struct morph_ctx *ctx, struct mesh_block *block, const struct mesh_part *parts,
		size_t count)
{
	size_t bytes = 0, i;

	for (i = 0; i < count; i++)
		bytes += (parts[i].bytes + 7) / 8 * 8;
	if (bytes > block->bytes) {
		free(block->memory);
		block->bytes = 0;
		block->memory = malloc(bytes);
		if (!block->memory)
			return lm_no_memory(ctx, "%s", what);
		block->bytes = bytes;
	}
	for (i = 0, bytes = 0; i < count; i++) {
		*(void **)parts[i].array = (char *)block->memory + bytes;
		bytes += (parts[i].bytes + 7) / 8 * 8;
	}
	return 0;
}

void lm_mesh_free(struct mesh *mesh)
{
	free(mesh->block.memory);
	memset(mesh, 0, sizeof(*mesh));
}

/* Lay out the arrays for the sizes that @mesh has. */
static int lay(struct morph_ctx *ctx, struct mesh *mesh)
{
	const struct mesh_part parts[] = {
		{ &mesh->turn, (size_t)mesh->joins * 2 * sizeof(*mesh->turn) },
		{ &mesh->arc_first, (mesh->elements + 1) * sizeof(uint32_t) },
		{ &mesh->element, mesh->arcs * sizeof(uint32_t) },
		{ &mesh->next, mesh->arcs * sizeof(uint32_t) },
		{ &mesh->turn_first, (mesh->arcs + 1) * sizeof(uint32_t) },
		{ &mesh->state_first, (mesh->elements + 1) * sizeof(uint32_t) },
		{ &mesh->join_first, (mesh->states + 1) * sizeof(uint32_t) },
		{ &mesh->enter, mesh->ends * sizeof(uint32_t) },
		{ &mesh->corner, mesh->cells * CORNERS * sizeof(*mesh->corner) },
		{ &mesh->arc_corner, (mesh->cells ? mesh->arcs : 0) * sizeof(uint32_t) },
	};

	return lm_mesh_lay(ctx, &mesh->block, parts, ARRAY_SIZE(parts));
}

/* Whether an element passes light in a state. O(faults). */
static bool state_works(const struct mesh_faults *faults, uint32_t element, uint32_t state)
{
	size_t i;

	for (i = 0; i < faults->failed_count; i++) {
		if (faults->failed[i] == element)
			return false;
	}
	for (i = 0; i < faults->stuck_count; i++) {
		if (faults->stuck[i] == element && faults->stuck_states[i] != state)
			return false;
	}
	return true;
}

/* Add the turns of an arc: one for each state that joins its port and works. */
static void add_turns(struct mesh *mesh, const struct mesh_faults *faults, uint32_t element,
		      uint32_t port, uint32_t states, const uint8_t *joins, size_t stride)
{
	uint32_t first = mesh->state_first[element], state, joined, low, join, i;
	const uint8_t *of;

	for (state = 0; state < states; state++) {
		of = joins + state * stride;
		joined = of[port];
		if (joined == MORPH_PORT_NONE || !state_works(faults, element, state))
			continue;
		/* Joins of a state are numbered by their lower ports. */
		low = port < joined ? port : joined;
		join = mesh->join_first[first + state];
		for (i = 0; i < low; i++)
			join += of[i] != MORPH_PORT_NONE && of[i] > i;
		mesh->turn[mesh->turns++] = (struct mesh_turn){
			.in = mesh->arc_first[element] + port,
			.state = first + state,
			.join = join,
			.out = mesh->arc_first[element] + joined,
		};
	}
}

/* Set the first arc, state and join of an element of a kind, and those of the next one. */
static void add_element(struct mesh *mesh, uint32_t element, uint32_t ports, uint32_t states,
			const uint8_t *joins, size_t stride)
{
	uint32_t arc = mesh->arc_first[element], first = mesh->state_first[element], state, i;

	for (i = 0; i < ports; i++) {
		mesh->element[arc + i] = element;
		mesh->next[arc + i] = MESH_NONE;
	}
	for (state = 0; state < states; state++) {
		mesh->join_first[first + state + 1] = mesh->join_first[first + state];
		for (i = 0; i < ports; i++) {
			mesh->join_first[first + state + 1] += joins[state * stride + i] !=
								       MORPH_PORT_NONE &&
							       joins[state * stride + i] > i;
		}
	}
	mesh->arc_first[element + 1] = arc + ports;
	mesh->state_first[element + 1] = first + states;
}

static void mesh_begin(struct mesh *mesh)
{
	mesh->arc_first[0] = 0;
	mesh->state_first[0] = 0;
	mesh->join_first[0] = 0;
	mesh->turns = 0;
}

/* ------------------------------------------------------------------ hexagonal meshes */

/* The side of cell a that touches cell b. Sides and corners are numbered clockwise. */
enum side {
	SIDE_RIGHT = 1,
	SIDE_LEFT = 2,
	SIDE_BELOW = 3
};

/* Cells of a column: 3 4 5 4 5 4 5 4 3 for width 7 and height 3. */
static uint32_t column_cells(uint32_t width, uint32_t height, uint32_t column)
{
	return column == 0 || column == width + 1 ? height : height + 1 + (column - 1) % 2;
}

/* Add the element of the side that two cells share, with its four corners. */
static void add_side(struct mesh *mesh, uint32_t a, uint32_t b, enum side side)
{
	const uint32_t corners[HEXAGON_PORTS] = {
		CORNERS * a + side,
		CORNERS * a + (side + 1) % CORNERS,
		CORNERS * b + (side + 3) % CORNERS,
		CORNERS * b + (side + 4) % CORNERS,
	};
	uint32_t element = mesh->elements++, arc, port;

	if (!mesh->corner)
		return; /* counting */
	add_element(mesh, element, HEXAGON_PORTS, HEXAGON_STATES, hexagon_joins[0], HEXAGON_PORTS);
	for (port = 0; port < HEXAGON_PORTS; port++) {
		arc = mesh->arc_first[element] + port;
		mesh->arc_corner[arc] = corners[port];
		mesh->corner[corners[port]][mesh->corner[corners[port]][0] != MESH_NONE] = arc;
	}
}

/* Add the elements of a column: between its cells, then to the cells of the next column. */
static void add_column(struct mesh *mesh, uint32_t width, uint32_t height, uint32_t column,
		       uint32_t first)
{
	uint32_t size = column_cells(width, height, column), next = first + size, cell;
	uint32_t after = column_cells(width, height, column + 1);

	if (size > height) {
		for (cell = 0; cell + 1 < size; cell++)
			add_side(mesh, first + cell, first + cell + 1, SIDE_BELOW);
	}
	if (size == height + 1) {
		/* Inner cells of the next column start one lower if that column is longer. */
		next += after > height;
		for (cell = 0; cell < size; cell++) {
			if (cell > 0)
				add_side(mesh, first + cell, next + cell - 1, SIDE_RIGHT);
			if (cell + 1 < size)
				add_side(mesh, first + cell, next + cell, SIDE_LEFT);
		}
		return;
	}
	first += size > height;
	for (cell = 0; cell < height; cell++) {
		add_side(mesh, first + cell, next + cell, SIDE_RIGHT);
		add_side(mesh, first + cell, next + cell + 1, SIDE_LEFT);
	}
}

static void add_columns(struct mesh *mesh, uint32_t width, uint32_t height)
{
	uint32_t column;

	mesh->elements = 0;
	mesh->cells = 0;
	for (column = 0; column <= width; column++) {
		add_column(mesh, width, height, column, mesh->cells);
		mesh->cells += column_cells(width, height, column);
	}
	mesh->cells += height;
}

/*
 * Number the ports clockwise along the rim. A corner with one arc is a port. At a corner whose next
 * side has an element, the walk goes to the corner of the other cell at this place, else to the
 * next corner of its cell.
 */
static void number_rim(struct mesh *mesh, uint32_t height)
{
	static const uint8_t opposite[HEXAGON_PORTS] = { 3, MORPH_PORT_NONE, 1, MORPH_PORT_NONE };
	uint32_t begin = (height - 1) / 2 * CORNERS + 1, at = begin, end = 0, i, arc, port;
	bool crossed;

	do {
		arc = mesh->corner[at][0];
		if (arc != MESH_NONE && mesh->corner[at][1] == MESH_NONE) {
			mesh->enter[end] = arc;
			mesh->next[arc] = MESH_END | end++;
		}
		crossed = false;
		for (i = 0; i < 2 && !crossed; i++) {
			arc = mesh->corner[at][i];
			if (arc == MESH_NONE)
				continue;
			port = arc % HEXAGON_PORTS;
			crossed = opposite[port] != MORPH_PORT_NONE;
			if (crossed)
				at = mesh->arc_corner[arc - port + opposite[port]];
		}
		if (!crossed)
			at = at / CORNERS * CORNERS + (at + 1) % CORNERS;
	} while (at != begin);
}

int lm_mesh_hexagons(struct morph_ctx *ctx, struct mesh *mesh, uint32_t width, uint32_t height,
		     const struct mesh_faults *faults)
{
	uint32_t corner, i, arc;
	int error;

	mesh->corner = NULL;
	add_columns(mesh, width, height);
	mesh->arcs = mesh->elements * HEXAGON_PORTS;
	mesh->states = mesh->elements * HEXAGON_STATES;
	mesh->joins = mesh->states * HEXAGON_PORTS / 2;
	mesh->ends = 4 * (width + height);
	error = lay(ctx, mesh);
	if (error)
		return error;
	memset(mesh->corner, 0xff, mesh->cells * CORNERS * sizeof(*mesh->corner));
	mesh_begin(mesh);
	add_columns(mesh, width, height);
	for (corner = 0; corner < mesh->cells * CORNERS; corner++) {
		for (i = 0; i < 2 && mesh->corner[corner][1] != MESH_NONE; i++)
			mesh->next[mesh->corner[corner][i]] = mesh->corner[corner][!i];
	}
	for (arc = 0; arc < mesh->arcs; arc++) {
		mesh->turn_first[arc] = mesh->turns;
		add_turns(mesh, faults, arc / HEXAGON_PORTS, arc % HEXAGON_PORTS, HEXAGON_STATES,
			  hexagon_joins[0], HEXAGON_PORTS);
	}
	mesh->turn_first[arc] = mesh->turns;
	number_rim(mesh, height);
	return 0;
}

/* ------------------------------------------------------------------ profiles */

/* The arc of an end of a guide that is attached to an element, or MESH_NONE. */
static uint32_t end_arc(const struct mesh *mesh, const struct optics_end *end)
{
	return end->type == MORPH_END_ELEMENT ? mesh->arc_first[end->index] + end->port : MESH_NONE;
}

/* The arcs that light reaches through guides from transmitters, receivers and elements. */
static void join_guides(struct mesh *mesh, const struct optics_graph *graph)
{
	const struct optics_end *here, *there;
	uint32_t guide, i, arc;

	memset(mesh->enter, 0xff, mesh->ends * sizeof(uint32_t));
	for (guide = 0; guide < graph->guides_count; guide++) {
		for (i = 0; i < 2; i++) {
			here = &graph->guides[guide].end[i];
			there = &graph->guides[guide].end[!i];
			arc = end_arc(mesh, there);
			if (arc == MESH_NONE)
				continue;
			if (here->type == MORPH_END_ELEMENT)
				mesh->next[end_arc(mesh, here)] = arc;
			else if (here->type == MORPH_END_TX)
				mesh->enter[here->index * graph->params.planes + here->port] = arc;
			else if (here->type == MORPH_END_RX)
				mesh->next[arc] = MESH_END |
						  (here->index * graph->params.planes + here->port);
		}
	}
}

/* Count arcs, states and joins of the elements of a profile. */
static void count_parts(struct mesh *mesh, const struct optics_graph *graph)
{
	const struct optics_kind *kind;
	uint32_t element, state, port;
	const uint8_t *joins;

	mesh->arcs = 0;
	mesh->states = 0;
	mesh->joins = 0;
	for (element = 0; element < mesh->elements; element++) {
		kind = &graph->kinds[graph->elements[element].kind];
		mesh->arcs += kind->ports;
		mesh->states += kind->states;
		for (state = 0; state < kind->states; state++) {
			joins = graph->states[kind->first_state + state].joins;
			for (port = 0; port < kind->ports; port++)
				mesh->joins += joins[port] != MORPH_PORT_NONE && joins[port] > port;
		}
	}
}

int lm_mesh_profile(struct morph_ctx *ctx, struct mesh *mesh, const struct morph_model *model,
		    const struct mesh_faults *faults)
{
	const struct optics_graph *graph = lm_model_graph(model);
	const size_t stride = sizeof(*graph->states);
	const struct optics_kind *kind;
	uint32_t element, arc, port;
	const uint8_t *joins;
	int error;

	mesh->cells = 0;
	mesh->elements = graph->elements_count;
	mesh->ends = graph->ports_count;
	count_parts(mesh, graph);
	error = lay(ctx, mesh);
	if (error)
		return error;
	mesh_begin(mesh);
	for (element = 0; element < mesh->elements; element++) {
		kind = &graph->kinds[graph->elements[element].kind];
		joins = graph->states[kind->first_state].joins;
		add_element(mesh, element, kind->ports, kind->states, joins, stride);
	}
	for (arc = 0; arc < mesh->arcs; arc++) {
		element = mesh->element[arc];
		kind = &graph->kinds[graph->elements[element].kind];
		port = arc - mesh->arc_first[element];
		mesh->turn_first[arc] = mesh->turns;
		add_turns(mesh, faults, element, port, kind->states,
			  graph->states[kind->first_state].joins, stride);
	}
	mesh->turn_first[arc] = mesh->turns;
	join_guides(mesh, graph);
	return 0;
}

/* ------------------------------------------------------------------ distances */

void lm_mesh_distances(const struct mesh *mesh, uint32_t end, uint16_t *togo, uint32_t *queue)
{
	uint32_t head = 0, tail = 0, arc, in, i;

	memset(togo, 0xff, mesh->arcs * sizeof(*togo));
	/* Turns are symmetric: those of the last arc end where light may come from. */
	for (arc = 0; arc < mesh->arcs; arc++) {
		if (mesh->next[arc] == (MESH_END | end))
			queue[tail++] = arc;
	}
	for (; head < tail; head++) {
		arc = queue[head]; /* light leaves here */
		for (i = mesh->turn_first[arc]; i < mesh->turn_first[arc + 1]; i++) {
			in = mesh->turn[i].out;
			if (togo[in] != MESH_FAR)
				continue;
			togo[in] = 1;
			if (mesh->next[arc] < MESH_END)
				togo[in] += togo[mesh->next[arc]];
			/* The arc from which light gets to @in: next is symmetric. */
			if (mesh->next[in] < MESH_END)
				queue[tail++] = mesh->next[in];
		}
	}
}
