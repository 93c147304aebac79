/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Figures, and their racks, as the files of the program on spares share them. */
#ifndef LM_BENCH_FIGURES_H
#define LM_BENCH_FIGURES_H

#include <math.h>

#include "../internal/coverage.h"
#include "replay.h"
#include "tori.h"

/* Options of the command line. */
extern struct bench {
	bool json;
	bool quick; /* fewer samples, wider intervals */
	const char *figure; /* that the present rows belong to */
	const char *profiles; /* their directory */
	uint64_t seed;
	struct given given; /* published numbers */
	struct trace trace;
	struct morph_ctx *ctx;
} bench;

struct figure {
	double mean, low, high;
};

struct row {
	const char *condition, *unit;
	const char *approximation; /* substitute where the publication lacks details */
	const char *versus; /* source of the baseline */
	double baseline; /* NAN: none */
	struct figure ours;
};

void report(const struct row *row, const char *format, ...)
	__attribute__((__format__(__printf__, 2, 3)));

struct figure exactly(double value);
struct figure estimated(const struct morph_coverage_estimate *estimate);
/* The mean with an interval of 95 %. */
struct figure averaged(const double *values, uint32_t count);

/* The name of a figure, which begins its rows, for racks with jobs of the trace. */
const char *figure_of(enum trace_set set, const char *plain, const char *traced);
const char *prefix_of(enum trace_set set);

/* End with the library's message; the second one if an answer is an error. */
void die(void) __attribute__((__noreturn__));
void check(int error);

extern const struct tori_box whole_rack;

/* Load a profile, to be freed by the caller; create a model of coverage of it. */
struct morph_model *load_model(const char *profile);
struct morph_coverage *new_rack(const char *profile);
/* Parts of a kind are down for this share of the time, a day each time. */
void fails(struct morph_coverage *coverage, uint32_t part, double share);

/* Default length of the simulation. */
#define REPLICATIONS 10
#define FAILURES 60
#define STEPS 4096
#define QUICK_REPLICATIONS 2
#define QUICK_FAILURES 12
struct morph_coverage_result run_rack(struct morph_coverage *coverage, bool revertive);

/* positions.c */
void bench_positions(void);

/* given_up.c: of racks with jobs of a trace; or with TRACE_SETS as published and complete. */
void bench_overprovisioning(enum trace_set set);
void bench_one_failure(enum trace_set set);

#endif /* LM_BENCH_FIGURES_H */
