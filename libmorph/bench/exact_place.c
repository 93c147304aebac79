// SPDX-License-Identifier: LGPL-2.1-or-later
/* CBC as an oracle of placement. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <Cbc_C_Interface.h>

#include "bench.h"
#include "exact_place.h"

#define COLUMNS 8192
#define ROWS 8192
#define ENTRIES 65536
#define NO_COLUMN (-1)

enum column_kind {
	SEAT, /* zero or one */
	BOTH, /* follows from these */
	FLOW, /* whole, or split where programs are relaxed */
};

struct program {
	const struct exact_place *place;
	uint32_t free_count;
	uint8_t free[EXACT_SITES]; /* sites, in ascending order */
	uint32_t below[EXACT_SLOTS]; /* by slot: those whose sites may be taken to be higher */
	/* Columns; of sites that may take a slot their number among these. */
	int seat[EXACT_SLOTS][EXACT_SITES]; /* the slot is there */
	int both[EXACT_SLOTS][EXACT_SLOTS][EXACT_SITES]
		[EXACT_SITES]; /* both are, the lower slot first */
	int flow[EXACT_SITES][EXACT_SITES][EXACT_SITES]; /* of what begins there, from site to site */
	int columns, rows, entries;
	double most[COLUMNS], start[COLUMNS];
	enum column_kind kinds[COLUMNS];
	double row_least[ROWS], row_most[ROWS];
	int entry_row[ENTRIES], entry_column[ENTRIES];
	double entry_times[ENTRIES];
};

static int add_column(struct program *program, double most, enum column_kind kind)
{
	program->most[program->columns] = most;
	program->start[program->columns] = 0;
	program->kinds[program->columns] = kind;
	return program->columns++;
}

static int add_row(struct program *program, double least, double most)
{
	program->row_least[program->rows] = least;
	program->row_most[program->rows] = most;
	return program->rows++;
}

static void add(struct program *program, int row, int column, double times)
{
	if (column == NO_COLUMN)
		return;
	program->entry_row[program->entries] = row;
	program->entry_column[program->entries] = column;
	program->entry_times[program->entries++] = times;
}

/* ------------------------------------------------------------- what is alike */

/* Can slots be renamed so that all circuits stay, the first @count of them as @image says? */
static bool can_rename(const struct pattern *pattern, uint8_t *image, uint32_t count)
{
	for (uint32_t last = count; last--;) {
		for (uint32_t slot = 0; slot < last; slot++)
			if (image[slot] == image[last] ||
			    pattern->units[slot][last] !=
				    pattern->units[image[slot]][image[last]] ||
			    pattern->units[last][slot] != pattern->units[image[last]][image[slot]])
				return false;
	}
	if (count == pattern->slots)
		return true;
	for (uint8_t next = 0; next < pattern->slots; next++) {
		image[count] = next;
		if (can_rename(pattern, image, count + 1))
			return true;
	}
	return false;
}

/* Of slots that can change places where those before them stay, the first has the lowest site. */
static void find_alike(struct program *program)
{
	const struct pattern *pattern = program->place->pattern;
	uint8_t image[EXACT_SLOTS + 1];

	for (uint32_t slot = 0; slot < pattern->slots; slot++) {
		program->below[slot] = 0;
		for (uint8_t other = (uint8_t)(slot + 1); other < pattern->slots; other++) {
			for (uint32_t before = 0; before < slot; before++)
				image[before] = (uint8_t)before;
			image[slot] = other;
			if (can_rename(pattern, image, slot + 1))
				program->below[slot] |= 1U << other;
		}
	}
}

static bool in_order(const struct program *program, const uint8_t *seats)
{
	const struct pattern *pattern = program->place->pattern;

	for (uint32_t slot = 0; slot < pattern->slots; slot++)
		for (uint32_t left = program->below[slot]; left; left &= left - 1)
			if (seats[slot] > seats[net_first(left)])
				return false;
	return true;
}

/* ------------------------------------------------------------------- columns */

static bool joined(const struct pattern *pattern, uint32_t one, uint32_t other)
{
	return pattern->units[one][other] || pattern->units[other][one];
}

/* Both slots somewhere, but for where they can't be. */
static void add_both(struct program *program, uint32_t one, uint32_t other)
{
	bool ordered = program->below[one] >> other & 1;

	for (uint32_t its = 0; its < program->free_count; its++)
		for (uint32_t others = 0; others < program->free_count; others++)
			program->both[one][other][its][others] =
				its == others || (ordered && its > others) ?
					NO_COLUMN :
					add_column(program, 1, BOTH);
}

static void add_columns(struct program *program)
{
	const struct exact_place *place = program->place;
	const struct net *net = place->net;
	uint32_t slots = place->pattern->slots, count = program->free_count;

	for (uint32_t slot = 0; slot < slots; slot++)
		for (uint32_t at = 0; at < count; at++)
			program->seat[slot][at] = add_column(program, 1, SEAT);
	for (uint32_t one = 0; one < slots; one++)
		for (uint32_t other = one + 1; other < slots; other++)
			if (joined(place->pattern, one, other))
				add_both(program, one, other);
	for (uint32_t source = 0; source < count; source++)
		for (uint32_t from = 0; from < net->sites; from++)
			for (uint32_t to = 0; to < net->sites; to++)
				program->flow[source][from][to] =
					net->room[from][to] && to != program->free[source] ?
						add_column(program, net->room[from][to], FLOW) :
						NO_COLUMN;
}

/* ---------------------------------------------------------------------- rows */

/* Each slot has a site, each site at most a slot, and what is alike is in order. */
static void add_seats(struct program *program)
{
	uint32_t slots = program->place->pattern->slots, count = program->free_count;

	for (uint32_t slot = 0; slot < slots; slot++) {
		int row = add_row(program, 1, 1);

		for (uint32_t at = 0; at < count; at++)
			add(program, row, program->seat[slot][at], 1);
	}
	for (uint32_t at = 0; at < count; at++) {
		int row = add_row(program, count == slots, 1);

		for (uint32_t slot = 0; slot < slots; slot++)
			add(program, row, program->seat[slot][at], 1);
	}
	for (uint32_t slot = 0; slot < slots; slot++) {
		for (uint32_t left = program->below[slot]; left; left &= left - 1) {
			for (uint32_t most = 0; most < count; most++) {
				int row = add_row(program, 0, slots);

				for (uint32_t at = 0; at < most; at++)
					add(program, row, program->seat[slot][at], 1);
				for (uint32_t at = 0; at <= most; at++)
					add(program, row, program->seat[net_first(left)][at], -1);
			}
		}
	}
}

static int both_of(const struct program *program, uint32_t slot, uint32_t other, uint32_t at,
		   uint32_t there)
{
	return slot < other ? program->both[slot][other][at][there] :
			      program->both[other][slot][there][at];
}

/* A slot at a site has each of its neighbours at one other, and no two at the same. */
static void add_pairs_of(struct program *program, uint32_t slot, uint32_t site)
{
	const struct pattern *pattern = program->place->pattern;

	for (uint32_t other = 0; other < pattern->slots; other++) {
		int row;

		if (other == slot || !joined(pattern, slot, other))
			continue;
		row = add_row(program, 0, 0);
		add(program, row, program->seat[slot][site], -1);
		for (uint32_t there = 0; there < program->free_count; there++)
			add(program, row, both_of(program, slot, other, site, there), 1);
	}
	for (uint32_t there = 0; there < program->free_count; there++) {
		int row = add_row(program, -1, 0);

		add(program, row, program->seat[slot][site], -1);
		for (uint32_t other = 0; other < pattern->slots; other++)
			if (other != slot && joined(pattern, slot, other))
				add(program, row, both_of(program, slot, other, site, there), 1);
	}
}

static void add_pairs(struct program *program)
{
	for (uint32_t slot = 0; slot < program->place->pattern->slots; slot++)
		for (uint32_t site = 0; site < program->free_count; site++)
			add_pairs_of(program, slot, site);
}

/* So many times what goes from one site to another. */
static void add_demands(struct program *program, int row, uint32_t from, uint32_t to, double times)
{
	const struct pattern *pattern = program->place->pattern;

	for (uint32_t one = 0; one < pattern->slots; one++)
		for (uint32_t other = 0; other < pattern->slots; other++)
			if (from != to && pattern->units[one][other])
				add(program, row, both_of(program, one, other, from, to),
				    times * pattern->units[one][other]);
}

/* What begins at a site leaves it, passes others, and ends where it is wanted. */
static void add_flows(struct program *program, uint32_t source)
{
	const struct net *net = program->place->net;

	for (uint32_t site = 0; site < net->sites; site++) {
		int row = add_row(program, 0, 0);

		for (uint32_t other = 0; other < net->sites; other++) {
			add(program, row, program->flow[source][site][other], 1);
			add(program, row, program->flow[source][other][site], -1);
		}
		for (uint32_t at = 0; at < program->free_count; at++) {
			if (site == program->free[source])
				add_demands(program, row, source, at, -1);
			else if (site == program->free[at])
				add_demands(program, row, source, at, 1);
		}
	}
}

static void add_rooms(struct program *program)
{
	const struct net *net = program->place->net;

	for (uint32_t from = 0; from < net->sites; from++) {
		for (uint64_t left = net->out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);
			int row = add_row(program, 0, net->room[from][to]);

			for (uint32_t source = 0; source < program->free_count; source++)
				add(program, row, program->flow[source][from][to], 1);
		}
	}
}

/* --------------------------------------------------------------------- start */

/* Rename slots until what is alike is in order; the plan stays the same one. */
static bool rename_slots(const struct program *program, uint8_t *image, uint32_t count,
			 uint8_t *seats)
{
	const struct exact_place *place = program->place;

	for (uint8_t next = 0; count < place->pattern->slots && next < place->pattern->slots;
	     next++) {
		uint8_t rest[EXACT_SLOTS + 1];

		image[count] = next;
		memcpy(rest, image, count + 1);
		if (can_rename(place->pattern, rest, count + 1) &&
		    rename_slots(program, image, count + 1, seats))
			return true;
	}
	if (count < place->pattern->slots)
		return false;
	for (uint32_t slot = 0; slot < count; slot++)
		seats[slot] = place->seats[image[slot]];
	return in_order(program, seats);
}

static uint32_t number_of(const struct program *program, uint32_t site)
{
	return net_count(program->place->free & net_all(site));
}

/* Values of all columns in the plan that is given. */
static void fill_start(struct program *program)
{
	const struct exact_place *place = program->place;
	const struct pattern *pattern = place->pattern;
	uint8_t image[EXACT_SLOTS + 1], seats[EXACT_SLOTS];

	if (!rename_slots(program, image, 0, seats))
		return;
	for (uint32_t slot = 0; slot < pattern->slots; slot++) {
		uint32_t at = number_of(program, seats[slot]);

		program->start[program->seat[slot][at]] = 1;
		for (uint32_t other = slot + 1; other < pattern->slots; other++)
			if (joined(pattern, slot, other))
				program->start[program->both[slot][other][at]
							    [number_of(program, seats[other])]] = 1;
	}
	for (uint32_t at = 0; at < place->routes->count; at++) {
		const struct route *route = &place->routes->list[at];
		uint32_t source = number_of(program, route->from);

		for (uint32_t hop = 0; hop < route->hops; hop++)
			program->start[program->flow[source][route->sites[hop]]
						    [route->sites[hop + 1]]] += route->units;
	}
}

/* --------------------------------------------------------------------- solve */

/* Entries in the order of columns, as CBC wants them. @split: flows may be any number. */
static Cbc_Model *load(const struct program *program, bool split)
{
	static CoinBigIndex starts[COLUMNS + 1], next[COLUMNS];
	static double times[ENTRIES];
	static int rows[ENTRIES];
	Cbc_Model *model = Cbc_newModel();

	memset(starts, 0, sizeof(starts));
	for (int at = 0; at < program->entries; at++)
		starts[program->entry_column[at] + 1]++;
	for (int column = 0; column < program->columns; column++) {
		starts[column + 1] += starts[column];
		next[column] = starts[column];
	}
	for (int at = 0; at < program->entries; at++) {
		CoinBigIndex to = next[program->entry_column[at]]++;

		rows[to] = program->entry_row[at];
		times[to] = program->entry_times[at];
	}
	Cbc_loadProblem(model, program->columns, program->rows, starts, rows, times, NULL,
			program->most, NULL, program->row_least, program->row_most);
	for (int column = 0; column < program->columns; column++)
		if (program->kinds[column] == SEAT || (program->kinds[column] == FLOW && !split))
			Cbc_setInteger(model, column);
	return model;
}

static void give_start(const struct program *program, Cbc_Model *model)
{
	static double values[COLUMNS];
	static int columns[COLUMNS];
	int count = 0;

	for (int column = 0; column < program->columns; column++) {
		if (program->start[column] <= 0)
			continue;
		columns[count] = column;
		values[count++] = program->start[column];
	}
	if (count)
		Cbc_setMIPStartI(model, count, columns, values);
}

/* Parameters are those of several tried with which it was soonest done. */
static enum exact_answer solve(const struct program *program, bool split, double *took_us)
{
	enum exact_answer answer = EXACT_GAVE_UP;
	Cbc_Model *model = load(program, split);
	char seconds[32];
	double begin;

	snprintf(seconds, sizeof(seconds), "%g", program->place->seconds);
	Cbc_setParameter(model, "logLevel", "0");
	Cbc_setParameter(model, "seconds", seconds);
	Cbc_setParameter(model, "cuts", "off");
	Cbc_setParameter(model, "strongBranching", "0");
	if (split)
		Cbc_setParameter(model, "heuristicsOnOff", "off");
	give_start(program, model);
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
	static struct program program;

	memset(&program, 0, sizeof(program));
	program.place = place;
	for (uint64_t left = place->free; left; left &= left - 1)
		program.free[program.free_count++] = (uint8_t)net_first(left);
	find_alike(&program);
	add_columns(&program);
	add_seats(&program);
	add_pairs(&program);
	for (uint32_t source = 0; source < program.free_count; source++)
		add_flows(&program, source);
	add_rooms(&program);
	*took_us = 0;
	if (place->seats)
		fill_start(&program);
	else if (solve(&program, true, took_us) == EXACT_NO)
		return EXACT_NO;
	return solve(&program, false, took_us);
}
