/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs that recompute published figures share: their arguments, the rows that they
 * print, and intervals of what depends on chance.
 */
#ifndef REPRO_H
#define REPRO_H

#include <stdbool.h>
#include <stdint.h>

#include "../../libmorph/bench/replay.h"

/* How often chance is tried: clusters, draws, topologies. */
#define REPRO_SAMPLES 512

struct repro {
	uint64_t seed;
	bool quick; /* fewer samples, the same rows */
	struct trace trace; /* of jobs; its path is NULL where there is none */
	struct given given; /* numbers that are published */
};

/*
 * Reads [--quick] [--seed NUMBER] [--trace FILE] [NAME=VALUE...]; says what is wrong and ends
 * the program.
 */
void repro_begin(struct repro *repro, int argc, char **argv);

/* A published number that the program computes from; ends the program where it was not given. */
double repro_given(const struct repro *repro, const char *name);

/*
 * A seed of its own for each number below 65536; two seeds have none in common, and those of
 * seed 1 begin with 1, as those that planners are timed on do.
 */
uint64_t repro_seed(const struct repro *repro, uint32_t number);

/* Says that something must not be, and ends the program. */
void repro_wrong(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/*
 * A row: what stands before the slash in its name is the figure. Without the name of an
 * interval or of a baseline there is none.
 */
struct row {
	const char *name, *condition, *unit;
	double ours, low, high;
	const char *interval; /* what low and high are, where something depends on chance */
	const char *baseline_name;
	double baseline;
	const char *approximation; /* which model stands in for what is not described */
};

void row_print(const struct row *row);

struct samples {
	uint32_t count;
	double values[REPRO_SAMPLES];
};

void samples_add(struct samples *samples, double value);
double samples_mean(const struct samples *samples);
double samples_min(const struct samples *samples);
double samples_max(const struct samples *samples);

/* The value that a share of all does not exceed; sorts them. */
double samples_quantile(struct samples *samples, double share);

/* The median, and where with 95 % it lies by its rank. Sorts them. */
void samples_median_row(struct samples *samples, struct row *row);

/* The mean of samples, and where with 95 % it lies by Student's distribution. */
void samples_row(const struct samples *samples, struct row *row);

/* The share of samples that are 1 and not 0, and where with 95 % it lies by Wilson's score. */
void samples_share_row(const struct samples *samples, struct row *row);

#endif /* REPRO_H */
