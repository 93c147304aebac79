/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of the bench's table, and what fails it. */
#ifndef LM_BENCH_BENCH_H
#define LM_BENCH_BENCH_H

#include <stdint.h>

#include <morph/morph.h>

#define STATES 10000 /* samples of a row, at most */

struct samples {
	uint32_t count;
	double values[STATES]; /* microseconds */
};

/* Which figure of a row a bar is for. */
enum figure {
	NO_BAR,
	MEAN,
	P99,
	MOST,
};

/* Processor time. */
double now_us(void);

/* Print a row; the samples are sorted. */
void report(const char *name, struct samples *samples, enum figure figure, double bar);

/* More about the row before. */
void remark(const char *text);

/* An answer that must not be. */
void wrong(const char *what);

/* A file in memory of its own, NULL where it can't be read. */
void *read_profile(const char *path, size_t *bytes);

/* Room made by rewiring the rack whose profile that is. */
void bench_defrag(struct morph_ctx *ctx, const char *profile);

/*
 * Placement where slices come and go, in the pod whose profile that is; and across racks, in the
 * one whose switches join any.
 */
void bench_pod(struct morph_ctx *ctx, const char *profile, const char *any);

/* Light for slices that come and go, in the rack whose profile that is. */
void bench_light(struct morph_ctx *ctx, const char *profile);

/* Spares for the ranks of slices in the rack whose profile that is. */
void bench_protect(struct morph_ctx *ctx, const char *profile);

#endif /* LM_BENCH_BENCH_H */
