/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the programs that recompute published figures: arguments, printed rows, and intervals
 * of figures that depend on chance.
 */
#ifndef REPRO_H
#define REPRO_H

#include <stdbool.h>
#include <stdint.h>

#include "../../libmorph/bench/replay.h"

/* Number of random samples: clusters, draws, topologies. */
#define REPRO_SAMPLES 512

struct repro {
	uint64_t seed;
	bool quick; /* fewer samples, the same rows */
	struct trace trace; /* of jobs; its path is NULL without a trace */
	struct given given; /* published numbers */
};

/*
 * Read [--quick] [--seed NUMBER] [--trace FILE] [NAME=VALUE...]. An error ends the program with a
 * message.
 */
void repro_begin(struct repro *repro, int argc, char **argv);

/* A published number from the command line. The program ends if the number is missing. */
double repro_given(const struct repro *repro, const char *name);

/*
 * A seed for each number below 65536. Two seeds share no number's seed. Those of seed 1 begin with
 * 1, like the seeds of the planners' time measurements.
 */
uint64_t repro_seed(const struct repro *repro, uint32_t number);

/* Report a violated expectation, and end the program. */
void repro_wrong(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/*
 * A row. The part of its name before the slash is the figure. A row without the name of an interval
 * or of a baseline has none.
 */
struct row {
	const char *name, *condition, *unit;
	double ours, low, high;
	const char *interval; /* the meaning of low and high, if the value depends on chance */
	const char *baseline_name;
	double baseline;
	const char *approximation; /* the model that replaces undescribed details */
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

/* The value that a share of all samples does not exceed. Sorts the samples. */
double samples_quantile(struct samples *samples, double share);

/* The median and its 95 % interval by rank. Sorts the samples. */
void samples_median_row(struct samples *samples, struct row *row);

/* The mean of samples and its 95 % interval by Student's distribution. */
void samples_row(const struct samples *samples, struct row *row);

/* The share of samples that are 1 and not 0, and its 95 % interval by Wilson's score. */
void samples_share_row(const struct samples *samples, struct row *row);

#endif /* REPRO_H */
