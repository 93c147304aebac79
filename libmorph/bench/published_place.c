// SPDX-License-Identifier: LGPL-2.1-or-later
/* The published program: paths, loads, and CBC. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "published_place.h"

#define WAYS 64 /* limit of the shortest paths examined */

struct way {
	uint8_t hops;
	uint8_t sites[PROGRAM_SITES]; /* hops + 1 of them */
	uint32_t fullest, sum; /* load of its fullest link, and of all links together */
	int column; /* whether the path is used */
};

struct ways {
	uint32_t count;
	struct way list[WAYS];
};

struct published {
	const struct published_place *place;
	struct program program;
	struct ways ways[PROGRAM_SITES][PROGRAM_SITES]; /* by indices among the free sites */
	int load; /* column: load of the fullest link */
	int rows[PROGRAM_SITES][PROGRAM_SITES]; /* of links */
};

/* ---------------------------------------------------------------------- ways */

static uint32_t load_of(const struct published_place *place, uint32_t from, uint32_t to)
{
	return place->links->room[from][to] - place->left->room[from][to];
}

static void weigh(const struct published_place *place, struct way *way)
{
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		uint32_t load = load_of(place, way->sites[hop], way->sites[hop + 1]);

		way->sum += load;
		way->fullest = load > way->fullest ? load : way->fullest;
	}
}

/* Extend a partial path to all simple paths of a length, until there are enough. */
static void extend(const struct published_place *place, struct way *way, uint32_t hops, uint32_t to,
		   struct ways *ways)
{
	uint64_t left = place->links->out[way->sites[way->hops]];

	if (way->hops == hops) {
		if (way->sites[hops] == to && ways->count < place->ways_shortest) {
			ways->list[ways->count] = *way;
			weigh(place, &ways->list[ways->count++]);
		}
		return;
	}
	for (uint32_t at = 0; at <= way->hops; at++)
		left &= ~(1ULL << way->sites[at]);
	if (way->sites[way->hops] == to)
		return;
	for (; left; left &= left - 1) {
		way->sites[++way->hops] = (uint8_t)net_first(left);
		extend(place, way, hops, to, ways);
		way->hops--;
	}
}

static int by_load(const void *one, const void *other)
{
	const struct way *a = one, *b = other;

	if (a->fullest != b->fullest)
		return a->fullest < b->fullest ? -1 : 1;
	if (a->sum != b->sum)
		return a->sum < b->sum ? -1 : 1;
	if (a->hops != b->hops)
		return a->hops < b->hops ? -1 : 1;
	return memcmp(a->sites, b->sites, a->hops + 1);
}

static void choose_ways(const struct published_place *place, uint8_t from, uint32_t to,
			struct ways *ways)
{
	for (uint32_t hops = 1; hops < PROGRAM_SITES && ways->count < place->ways_shortest;
	     hops++) {
		struct way way = { .sites = { from } };

		extend(place, &way, hops, to, ways);
	}
	qsort(ways->list, ways->count, sizeof(*ways->list), by_load);
	if (ways->count > place->ways_kept)
		ways->count = place->ways_kept;
}

/* ------------------------------------------------------------------- program */

/* The load of the fullest link is at least the load of each link. */
static void add_loads(struct published *published)
{
	const struct net *links = published->place->links;
	struct program *program = &published->program;

	published->load = program_column(program, NET_ROOM, PROGRAM_WHOLE);
	program->worth[published->load] = 1;
	for (uint32_t from = 0; from < links->sites; from++) {
		for (uint64_t left = links->out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);
			double load = load_of(published->place, from, to);

			published->rows[from][to] = program_row(program, load, NET_ROOM);
			program_add(program, published->rows[from][to], published->load, 1);
		}
	}
}

/* Neighbours use one path; other pairs use none. */
static void add_ways(struct published *published, uint32_t from, uint32_t to)
{
	struct program *program = &published->program;
	struct ways *ways = &published->ways[from][to];
	int row = program_row(program, 0, 0);

	choose_ways(published->place, program->free[from], program->free[to], ways);
	program_add_demands(program, row, from, to, -1);
	for (uint32_t at = 0; at < ways->count; at++) {
		struct way *way = &ways->list[at];

		way->column = program_column(program, 1, PROGRAM_WHOLE);
		program_add(program, row, way->column, 1);
		for (uint32_t hop = 0; hop < way->hops; hop++)
			program_add(program, published->rows[way->sites[hop]][way->sites[hop + 1]],
				    way->column, -1);
	}
}

/* ---------------------------------------------------------------------- plan */

static void read_plan(const struct published *published, const double *values,
		      struct published_plan *plan)
{
	const struct program *program = &published->program;

	plan->found = true;
	plan->load = (uint32_t)lround(values[published->load]);
	for (uint32_t slot = 0; slot < program->pattern->slots; slot++)
		for (uint32_t at = 0; at < program->free_count; at++)
			if (values[program->seat[slot][at]] > 0.5)
				plan->seats[slot] = program->free[at];
	for (uint32_t from = 0; from < program->free_count; from++) {
		for (uint32_t to = 0; to < program->free_count; to++) {
			const struct ways *ways = &published->ways[from][to];

			for (uint32_t at = 0; at < ways->count; at++) {
				const struct way *way = &ways->list[at];
				struct route *route = &plan->routes.list[plan->routes.count];

				if (values[way->column] < 0.5)
					continue;
				lm_routes_add(&plan->routes, program->free[from], program->free[to],
					      1, 1);
				route->hops = way->hops;
				memcpy(route->sites, way->sites, way->hops + 1);
			}
		}
	}
}

static void solve(const struct published *published, struct published_plan *plan)
{
	Cbc_Model *model = program_load(&published->program, false);
	char nodes[32];

	snprintf(nodes, sizeof(nodes), "%u", published->place->nodes);
	Cbc_setParameter(model, "maxNodes", nodes);
	if (published->place->no_cuts)
		Cbc_setParameter(model, "cuts", "off");
	Cbc_solve(model);
	plan->proven = Cbc_isProvenOptimal(model);
	plan->bound = (uint32_t)fmax(0, ceil(Cbc_getBestPossibleObjValue(model) - 1e-6));
	if (Cbc_bestSolution(model))
		read_plan(published, Cbc_bestSolution(model), plan);
	Cbc_deleteModel(model);
}

void published_place(const struct published_place *place, struct published_plan *plan)
{
	static struct published published;

	if (!place->ways_kept || place->ways_kept > place->ways_shortest ||
	    place->ways_shortest > WAYS)
		abort();
	memset(&published, 0, sizeof(published));
	memset(plan, 0, sizeof(*plan));
	published.place = place;
	program_begin(&published.program, place->pattern, place->free);
	add_loads(&published);
	for (uint32_t from = 0; from < published.program.free_count; from++)
		for (uint32_t to = 0; to < published.program.free_count; to++)
			if (from != to)
				add_ways(&published, from, to);
	solve(&published, plan);
}
