// SPDX-License-Identifier: LGPL-2.1-or-later
/* CBC as an oracle of placement. */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "exact_place.h"
#include "program.h"

struct exact {
	const struct exact_place *place;
	struct program program;
	int flow[PROGRAM_SITES][PROGRAM_SITES]
		[PROGRAM_SITES]; /* circuits that begin there, from site to site */
	double start[PROGRAM_COLUMNS];
};

/* --------------------------------------------------------------------- flows */

static void add_columns(struct exact *exact)
{
	const struct net *net = exact->place->net;
	struct program *program = &exact->program;

	for (uint32_t source = 0; source < program->free_count; source++)
		for (uint32_t from = 0; from < net->sites; from++)
			for (uint32_t to = 0; to < net->sites; to++)
				exact->flow[source][from][to] =
					net->room[from][to] && to != program->free[source] ?
						program_column(program, net->room[from][to],
							       PROGRAM_WHOLE) :
						PROGRAM_NO_COLUMN;
}

/* Circuits that begin at a site leave it, pass other sites, and end at their targets. */
static void add_flows(struct exact *exact, uint32_t source)
{
	struct program *program = &exact->program;

	for (uint32_t site = 0; site < exact->place->net->sites; site++) {
		int row = program_row(program, 0, 0);

		for (uint32_t other = 0; other < exact->place->net->sites; other++) {
			program_add(program, row, exact->flow[source][site][other], 1);
			program_add(program, row, exact->flow[source][other][site], -1);
		}
		for (uint32_t at = 0; at < program->free_count; at++) {
			if (site == program->free[source])
				program_add_demands(program, row, source, at, -1);
			else if (site == program->free[at])
				program_add_demands(program, row, source, at, 1);
		}
	}
}

static void add_rooms(struct exact *exact)
{
	const struct net *net = exact->place->net;
	struct program *program = &exact->program;

	for (uint32_t from = 0; from < net->sites; from++) {
		for (uint64_t left = net->out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);
			int row = program_row(program, 0, net->room[from][to]);

			for (uint32_t source = 0; source < program->free_count; source++)
				program_add(program, row, exact->flow[source][from][to], 1);
		}
	}
}

/* --------------------------------------------------------------------- start */

static bool in_order(const struct program *program, const uint8_t *seats)
{
	for (uint32_t slot = 0; slot < program->pattern->slots; slot++)
		for (uint32_t left = program->below[slot]; left; left &= left - 1)
			if (seats[slot] > seats[net_first(left)])
				return false;
	return true;
}

/* Rename slots until equivalent ones are in order. The plan stays the same. */
static bool rename_slots(const struct exact *exact, uint8_t *image, uint32_t count, uint8_t *seats)
{
	const struct exact_place *place = exact->place;

	for (uint8_t next = 0; count < place->pattern->slots && next < place->pattern->slots;
	     next++) {
		uint8_t rest[PROGRAM_SLOTS + 1];

		image[count] = next;
		memcpy(rest, image, count + 1);
		if (program_can_rename(place->pattern, rest, count + 1) &&
		    rename_slots(exact, image, count + 1, seats))
			return true;
	}
	if (count < place->pattern->slots)
		return false;
	for (uint32_t slot = 0; slot < count; slot++)
		seats[slot] = place->seats[image[slot]];
	return in_order(&exact->program, seats);
}

static uint32_t number_of(const struct exact *exact, uint32_t site)
{
	return net_count(exact->place->free & net_all(site));
}

/* Values of all columns in the given plan. */
static void fill_start(struct exact *exact)
{
	const struct exact_place *place = exact->place;
	const struct pattern *pattern = place->pattern;
	const struct program *program = &exact->program;
	uint8_t image[PROGRAM_SLOTS + 1], seats[PROGRAM_SLOTS] = { 0 };

	if (!rename_slots(exact, image, 0, seats))
		return;
	for (uint32_t slot = 0; slot < pattern->slots; slot++) {
		uint32_t at = number_of(exact, seats[slot]);

		exact->start[program->seat[slot][at]] = 1;
		for (uint32_t other = slot + 1; other < pattern->slots; other++)
			if (program_joined(pattern, slot, other))
				exact->start[program->both[slot][other][at]
							  [number_of(exact, seats[other])]] = 1;
	}
	for (uint32_t at = 0; at < place->routes->count; at++) {
		const struct route *route = &place->routes->list[at];
		uint32_t source = number_of(exact, route->from);

		for (uint32_t hop = 0; hop < route->hops; hop++)
			exact->start[exact->flow[source][route->sites[hop]][route->sites[hop + 1]]] +=
				route->units;
	}
}

static void give_start(const struct exact *exact, Cbc_Model *model)
{
	static double values[PROGRAM_COLUMNS];
	static int columns[PROGRAM_COLUMNS];
	int count = 0;

	for (int column = 0; column < exact->program.columns; column++) {
		if (exact->start[column] <= 0)
			continue;
		columns[count] = column;
		values[count++] = exact->start[column];
	}
	if (count)
		Cbc_setMIPStartI(model, count, columns, values);
}

/* --------------------------------------------------------------------- solve */

/* The fastest of several tried parameters. @split: flows can be fractional. */
static enum exact_answer solve(const struct exact *exact, bool split, double *took_us)
{
	enum exact_answer answer = EXACT_GAVE_UP;
	Cbc_Model *model = program_load(&exact->program, split);
	char seconds[32];
	double begin;

	snprintf(seconds, sizeof(seconds), "%g", exact->place->seconds);
	Cbc_setParameter(model, "seconds", seconds);
	Cbc_setParameter(model, "cuts", "off");
	Cbc_setParameter(model, "strongBranching", "0");
	if (split)
		Cbc_setParameter(model, "heuristicsOnOff", "off");
	give_start(exact, model);
	begin = now_us();
	Cbc_solve(model);
	*took_us += now_us() - begin;
	if (Cbc_isProvenInfeasible(model))
		answer = EXACT_NO;
	else if (Cbc_isProvenOptimal(model) || Cbc_bestSolution(model))
		answer = EXACT_YES;
	Cbc_deleteModel(model);
	return answer;
}

enum exact_answer exact_place(const struct exact_place *place, double *took_us)
{
	static struct exact exact;

	memset(&exact, 0, sizeof(exact));
	exact.place = place;
	program_begin(&exact.program, place->pattern, place->free);
	add_columns(&exact);
	for (uint32_t source = 0; source < exact.program.free_count; source++)
		add_flows(&exact, source);
	add_rooms(&exact);
	*took_us = 0;
	if (place->seats)
		fill_start(&exact);
	else if (solve(&exact, true, took_us) == EXACT_NO)
		return EXACT_NO;
	return solve(&exact, false, took_us);
}
