/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the program on spares share: figures, and racks that they are found on. */
#ifndef LM_BENCH_FIGURES_H
#define LM_BENCH_FIGURES_H

#include <math.h>

#include "../internal/coverage.h"
#include "replay.h"
#include "tori.h"

/* What the command line says. */
extern struct bench {
	bool json;
	bool quick; /* fewer samples, wider intervals */
	const char *figure; /* that rows are of */
	const char *profiles; /* their directory */
	uint64_t seed;
	struct given given; /* numbers that are published */
	struct trace trace;
	struct morph_ctx *ctx;
} bench;

struct figure {
	double mean, low, high;
};

struct row {
	const char *condition, *unit;
	const char *approximation; /* where the original is too thin: what was taken instead */
	const char *versus; /* whose the baseline is */
	double baseline; /* NAN: none */
	struct figure ours;
};

void report(const struct row *row, const char *format, ...)
	__attribute__((__format__(__printf__, 2, 3)));

struct figure exactly(double value);
struct figure estimated(const struct morph_coverage_estimate *estimate);
/* With an interval of 95 %. */
struct figure averaged(const double *values, uint32_t count);

/* A figure's name, and what its rows begin with, for racks let as jobs of the trace run. */
const char *figure_of(enum trace_set set, const char *plain, const char *traced);
const char *prefix_of(enum trace_set set);

/* End with the library's own words; in the second case where an answer is an error. */
void die(void) __attribute__((__noreturn__));
void check(int error);

extern const struct tori_box whole_rack;

/* A profile, put back by the caller; and a model of coverage of one. */
struct morph_model *load_model(const char *profile);
struct morph_coverage *new_rack(const char *profile);
/* Parts of a kind are down for that share of the time, a day each time. */
void fails(struct morph_coverage *coverage, uint32_t part, double share);

/* How long is simulated, as a rule. */
#define REPLICATIONS 10
#define FAILURES 60
#define STEPS 4096
#define QUICK_REPLICATIONS 2
#define QUICK_FAILURES 12
struct morph_coverage_result run_rack(struct morph_coverage *coverage, bool revertive);

/* positions.c */
void bench_positions(void);

/*
 * given_up.c; of racks that are let as jobs of a trace run, or, TRACE_SETS, as published and whole.
 */
void bench_overprovisioning(enum trace_set set);
void bench_one_failure(enum trace_set set);

#endif /* LM_BENCH_FIGURES_H */
