/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What integer programs of stitching have in common: which slot is on which free site is binary, and
 * two neighbours on two sites, a product, is linear and tight: Adams and Johnson, Improved linear
 * programming-based lower bounds for the quadratic assignment problem (DIMACS 16, 1994). Slots that
 * are alike are told apart by the order of their sites. How circuits go is up to each program.
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
	PROGRAM_WHOLE, /* a whole number, or split where programs are relaxed */
};

/* Minimised is the sum of columns times their worth. */
struct program {
	const struct pattern *pattern; /* its units only */
	uint32_t free_count;
	uint8_t free[PROGRAM_SITES]; /* sites, in ascending order */
	uint32_t below[PROGRAM_SLOTS]; /* by slot: those whose sites may be taken to be higher */
	/* Columns; of sites that may take a slot their number among these. */
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
 * Slots of the pattern, PROGRAM_SLOTS at most, on sites of the set, which are below PROGRAM_SITES.
 * What grows beyond the arrays ends the process.
 */
void program_begin(struct program *program, const struct pattern *pattern, uint64_t free);

int program_column(struct program *program, double most, enum program_kind kind);
int program_row(struct program *program, double least, double most);

/* Add so many times a column to a row; PROGRAM_NO_COLUMN adds nothing. */
void program_add(struct program *program, int row, int column, double times);

/* Add so many times the circuits from a site to another one, both by their numbers among the free ones. */
void program_add_demands(struct program *program, int row, uint32_t from, uint32_t to,
			 double times);

static inline bool program_joined(const struct pattern *pattern, uint32_t one, uint32_t other)
{
	return pattern->units[one][other] || pattern->units[other][one];
}

/* Can slots be renamed so that all circuits stay, the first @count of them as @image says, which it completes? */
bool program_can_rename(const struct pattern *pattern, uint8_t *image, uint32_t count);

/* As CBC's, silent; the caller frees it. @split: whole numbers may be any. */
Cbc_Model *program_load(const struct program *program, bool split);

#endif /* LM_BENCH_PROGRAM_H */
