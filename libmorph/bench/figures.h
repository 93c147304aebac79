/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the program on spares share: figures, and racks that they are found on. */
#ifndef LM_BENCH_FIGURES_H
#define LM_BENCH_FIGURES_H

#include <math.h>

#include "tori.h"

/* What the command line says. */
extern struct bench {
	bool json;
	bool quick; /* fewer samples, wider intervals */
	const char *figure; /* that rows are of */
	const char *profiles; /* their directory */
	uint64_t seed;
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

/* End with the library's own words; in the second case where an answer is an error. */
void die(void) __attribute__((__noreturn__));
void check(int error);

extern const struct tori_box whole_rack;

/* A model of coverage of a profile. */
struct morph_coverage *new_rack(const char *profile);
/* Parts of a kind are down for that share of the time, a day each time. */
void fails(struct morph_coverage *coverage, uint32_t part, double share);

/* given_up.c */
void bench_overprovisioning(void);
void bench_blast_radius(void);
void bench_bandwidth(void);

#endif /* LM_BENCH_FIGURES_H */
