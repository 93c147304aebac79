// SPDX-License-Identifier: LGPL-2.1-or-later
/* Columns for the sites of slots, and the interface to CBC. */
#include <stdlib.h>
#include <string.h>

#include "program.h"

int program_column(struct program *program, double most, enum program_kind kind)
{
	if (program->columns == PROGRAM_COLUMNS)
		abort();
	program->most[program->columns] = most;
	program->worth[program->columns] = 0;
	program->kinds[program->columns] = kind;
	return program->columns++;
}

int program_row(struct program *program, double least, double most)
{
	if (program->rows == PROGRAM_ROWS)
		abort();
	program->row_least[program->rows] = least;
	program->row_most[program->rows] = most;
	return program->rows++;
}

void program_add(struct program *program, int row, int column, double times)
{
	if (column == PROGRAM_NO_COLUMN)
		return;
	if (program->entries == PROGRAM_ENTRIES)
		abort();
	program->entry_row[program->entries] = row;
	program->entry_column[program->entries] = column;
	program->entry_times[program->entries++] = times;
}

/* ------------------------------------------------------------- what is alike */

bool program_can_rename(const struct pattern *pattern, uint8_t *image, uint32_t count)
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
		if (program_can_rename(pattern, image, count + 1))
			return true;
	}
	return false;
}

/* Of interchangeable slots, the first one has the lowest site. */
static void find_alike(struct program *program)
{
	const struct pattern *pattern = program->pattern;
	uint8_t image[PROGRAM_SLOTS + 1];

	for (uint32_t slot = 0; slot < pattern->slots; slot++) {
		program->below[slot] = 0;
		for (uint8_t other = (uint8_t)(slot + 1); other < pattern->slots; other++) {
			for (uint32_t before = 0; before < slot; before++)
				image[before] = (uint8_t)before;
			image[slot] = other;
			if (program_can_rename(pattern, image, slot + 1))
				program->below[slot] |= 1U << other;
		}
	}
}

/* --------------------------------------------------------------------- seats */

/* Both slots are placed, except at impossible sites. */
static void add_both(struct program *program, uint32_t one, uint32_t other)
{
	bool ordered = program->below[one] >> other & 1;

	for (uint32_t its = 0; its < program->free_count; its++)
		for (uint32_t others = 0; others < program->free_count; others++)
			program->both[one][other][its][others] =
				its == others || (ordered && its > others) ?
					PROGRAM_NO_COLUMN :
					program_column(program, 1, PROGRAM_BOTH);
}

static void add_columns(struct program *program)
{
	const struct pattern *pattern = program->pattern;

	for (uint32_t slot = 0; slot < pattern->slots; slot++)
		for (uint32_t at = 0; at < program->free_count; at++)
			program->seat[slot][at] = program_column(program, 1, PROGRAM_SEAT);
	for (uint32_t one = 0; one < pattern->slots; one++)
		for (uint32_t other = one + 1; other < pattern->slots; other++)
			if (program_joined(pattern, one, other))
				add_both(program, one, other);
}

/* Each slot has a site, each site at most one slot, and interchangeable slots are in order. */
static void add_seats(struct program *program)
{
	uint32_t slots = program->pattern->slots, count = program->free_count;

	for (uint32_t slot = 0; slot < slots; slot++) {
		int row = program_row(program, 1, 1);

		for (uint32_t at = 0; at < count; at++)
			program_add(program, row, program->seat[slot][at], 1);
	}
	for (uint32_t at = 0; at < count; at++) {
		int row = program_row(program, count == slots, 1);

		for (uint32_t slot = 0; slot < slots; slot++)
			program_add(program, row, program->seat[slot][at], 1);
	}
	for (uint32_t slot = 0; slot < slots; slot++) {
		for (uint32_t left = program->below[slot]; left; left &= left - 1) {
			for (uint32_t most = 0; most < count; most++) {
				int row = program_row(program, 0, slots);

				for (uint32_t at = 0; at < most; at++)
					program_add(program, row, program->seat[slot][at], 1);
				for (uint32_t at = 0; at <= most; at++)
					program_add(program, row,
						    program->seat[net_first(left)][at], -1);
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

/* A slot at a site has each of its neighbours at one other site, and no two at the same. */
static void add_pairs_of(struct program *program, uint32_t slot, uint32_t site)
{
	const struct pattern *pattern = program->pattern;

	for (uint32_t other = 0; other < pattern->slots; other++) {
		int row;

		if (other == slot || !program_joined(pattern, slot, other))
			continue;
		row = program_row(program, 0, 0);
		program_add(program, row, program->seat[slot][site], -1);
		for (uint32_t there = 0; there < program->free_count; there++)
			program_add(program, row, both_of(program, slot, other, site, there), 1);
	}
	for (uint32_t there = 0; there < program->free_count; there++) {
		int row = program_row(program, -1, 0);

		program_add(program, row, program->seat[slot][site], -1);
		for (uint32_t other = 0; other < pattern->slots; other++)
			if (other != slot && program_joined(pattern, slot, other))
				program_add(program, row,
					    both_of(program, slot, other, site, there), 1);
	}
}

static void add_pairs(struct program *program)
{
	for (uint32_t slot = 0; slot < program->pattern->slots; slot++)
		for (uint32_t site = 0; site < program->free_count; site++)
			add_pairs_of(program, slot, site);
}

void program_add_demands(struct program *program, int row, uint32_t from, uint32_t to, double times)
{
	const struct pattern *pattern = program->pattern;

	for (uint32_t one = 0; one < pattern->slots; one++)
		for (uint32_t other = 0; other < pattern->slots; other++)
			if (from != to && pattern->units[one][other])
				program_add(program, row, both_of(program, one, other, from, to),
					    times * pattern->units[one][other]);
}

void program_begin(struct program *program, const struct pattern *pattern, uint64_t free)
{
	memset(program, 0, sizeof(*program));
	program->pattern = pattern;
	for (; free; free &= free - 1)
		program->free[program->free_count++] = (uint8_t)net_first(free);
	find_alike(program);
	add_columns(program);
	add_seats(program);
	add_pairs(program);
}

/* ----------------------------------------------------------------------- CBC */

/* Entries in the order of columns, as CBC requires. */
Cbc_Model *program_load(const struct program *program, bool split)
{
	static CoinBigIndex starts[PROGRAM_COLUMNS + 1], next[PROGRAM_COLUMNS];
	static double times[PROGRAM_ENTRIES];
	static int rows[PROGRAM_ENTRIES];
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
			program->most, program->worth, program->row_least, program->row_most);
	for (int column = 0; column < program->columns; column++)
		if (program->kinds[column] == PROGRAM_SEAT ||
		    (program->kinds[column] == PROGRAM_WHOLE && !split))
			Cbc_setInteger(model, column);
	Cbc_setParameter(model, "logLevel", "0");
	return model;
}
