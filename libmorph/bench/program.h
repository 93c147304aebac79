/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Common part of integer programs of stitching. The site of each slot is binary. Two neighbours on
 * two sites are a product, which is linear and tight: Adams and Johnson, Improved linear
 * programming-based lower bounds for the quadratic assignment problem (DIMACS 16, 1994).
 * Interchangeable slots are ordered by site. Each program routes circuits in its own way.
 */
#ifndef LM_BENCH_PROGRAM_H
#define LM_BENCH_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <Cbc_C_Interface.h>

#include "../place/pattern.h"

#define PROGRAM_SITES 16
#define PROGRAM_SLOTS 8
#define PROGRAM_COLUMNS 16384
#define PROGRAM_ROWS 8192
#define PROGRAM_ENTRIES 131072
#define PROGRAM_NO_COLUMN (-1)

enum program_kind {
	PROGRAM_SEAT, /* zero or one */
	PROGRAM_BOTH, /* follows from these */
	PROGRAM_WHOLE, /* integral, or continuous in relaxed programs */
};

/* Minimises the sum of columns times their cost. */
struct program {
	const struct pattern *pattern; /* its units only */
	uint32_t free_count;
	uint8_t free[PROGRAM_SITES]; /* sites, in ascending order */
	uint32_t below[PROGRAM_SLOTS]; /* by slot: slots with a higher site */
	/* Columns. Sites that can take a slot are numbered. */
	int seat[PROGRAM_SLOTS][PROGRAM_SITES]; /* the slot is there */
	int both[PROGRAM_SLOTS][PROGRAM_SLOTS][PROGRAM_SITES]
		[PROGRAM_SITES]; /* both are, the lower slot first */
	int columns, rows, entries;
	double most[PROGRAM_COLUMNS], worth[PROGRAM_COLUMNS];
	enum program_kind kinds[PROGRAM_COLUMNS];
	double row_least[PROGRAM_ROWS], row_most[PROGRAM_ROWS];
	int entry_row[PROGRAM_ENTRIES], entry_column[PROGRAM_ENTRIES];
	double entry_times[PROGRAM_ENTRIES];
};

/*
 * Slots of the pattern, at most PROGRAM_SLOTS, on sites of the set, which are below PROGRAM_SITES.
 * An overflow of the arrays ends the process.
 */
void program_begin(struct program *program, const struct pattern *pattern, uint64_t free);

int program_column(struct program *program, double most, enum program_kind kind);
int program_row(struct program *program, double least, double most);

/* Add a column to a row with this factor; PROGRAM_NO_COLUMN adds nothing. */
void program_add(struct program *program, int row, int column, double times);

/*
 * Add the circuits from a site to another one with this factor. Both are indices among free sites.
 */
void program_add_demands(struct program *program, int row, uint32_t from, uint32_t to,
			 double times);

static inline bool program_joined(const struct pattern *pattern, uint32_t one, uint32_t other)
{
	return pattern->units[one][other] || pattern->units[other][one];
}

/*
 * Whether slots can be renamed without a change of circuits, the first @count as in @image, which
 * is then completed.
 */
bool program_can_rename(const struct pattern *pattern, uint8_t *image, uint32_t count);

/* The program in CBC, without output; the caller frees it. @split: integers can be continuous. */
Cbc_Model *program_load(const struct program *program, bool split);

#endif /* LM_BENCH_PROGRAM_H */
