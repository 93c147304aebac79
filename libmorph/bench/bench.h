/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of the bench, what fails it, and its parts. */
#ifndef LM_BENCH_BENCH_H
#define LM_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <morph/plan.h>

#define STATES 10000 /* samples of a row, at most */

struct samples {
	uint32_t count;
	double values[STATES]; /* of times: microseconds */
};

/* Processor time. */
double now_us(void);

void sample(struct samples *samples, double value);

/* Which figure of a row a bar is for. */
enum figure {
	NO_BAR,
	MEAN,
	MEDIAN,
	P99,
	MOST,
};

/*
 * A row. A name that begins with blanks is of something more about the last row whose name does
 * not.
 */
struct row {
	const char *name;
	const char *unit; /* NULL: microseconds */
	enum figure figure; /* that must not be above the limit, or with at_least not below it */
	bool at_least;
	double limit;
	struct samples *reference; /* the ratio is of the medians; NULL: there is none */
	const char *reference_name;
};

/* Print a row; the samples, and those it is held against, are sorted. */
void report_row(const struct row *row, struct samples *samples);

/* Times. */
void report(const char *name, struct samples *samples, enum figure figure, double bar);

/* Times of an oracle, beside ours of the same instances. */
void report_oracle(const char *name, struct samples *samples, struct samples *ours);

/* What there may be so many of at most. */
void report_count(const char *name, uint32_t count, uint32_t most);

/* More about the row before. */
void remark(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/* An answer that must not be. */
void wrong(const char *what);

/* Rows go to a file too, an object of JSON each, times in nanoseconds. False: it can't be written. */
bool rows_begin(const char *path);
/* All rows are there. Whether nothing was wrong. */
bool rows_end(void);

/* enum morph_servers: hosts are scheduled whole where that can be. Those of the profiles have 2x2x1. */
static inline uint32_t servers_of_torus(uint32_t x, uint32_t y, uint32_t z)
{
	return !(x % 2) + !(y % 2) + !(z % 2) > 1 ? MORPH_SERVERS_WHOLE : MORPH_SERVERS_SHARED;
}

/* A file in memory of its own, NULL where it can't be read. */
void *read_profile(const char *path, size_t *bytes);

/* Racks that 32 accelerators are stitched into, and what integer programs say of some of them. */
void bench_stitch(void);

/*
 * Placement where slices come and go, in the pod whose profile that is; and across racks, in the
 * one whose switches join any.
 */
void bench_pod(struct morph_ctx *ctx, const char *profile, const char *any);

/* Light for slices that come and go, in the rack whose profile that is. */
void bench_light(struct morph_ctx *ctx, const char *profile);

/* Room made by rewiring the rack whose profile that is; and corners of it, beside brute force. */
void bench_defrag(struct morph_ctx *ctx, const char *profile);
void bench_corners(struct morph_ctx *ctx, const char *profile);

/* Spares for the ranks of slices in the rack whose profile that is. */
void bench_protect(struct morph_ctx *ctx, const char *profile);

/* How many spares are enough, beside racks drawn by chance. */
void bench_sizing(struct morph_ctx *ctx);

/* Bandwidth of groups, beside integer programs. */
void bench_bandwidth(struct morph_ctx *ctx);

/* Lanes between servers for one controller and for several, beside linear and quadratic programs. */
void bench_te(struct morph_ctx *ctx);
void bench_overload(struct morph_ctx *ctx);

/* Tenants given to controllers. */
void bench_slicing(struct morph_ctx *ctx);

/* Rounds of collectives over planes that change while others send, beside integer programs. */
void bench_overlap(struct morph_ctx *ctx);

/* Iterations of training, whose circuits change between collectives: by modes and delays, and what an event takes. */
void bench_phases(struct morph_ctx *ctx);

/* Dispatch of experts' tokens, beside exact decomposition and integer programs. */
void bench_matrix(struct morph_ctx *ctx);

/* Plans that a collective library looks up: found, made, and read from a file. */
void bench_shim(struct morph_ctx *ctx);

/* When circuits change inside collectives of shifts, beside integer programs. */
void bench_segments(struct morph_ctx *ctx);

/* Both in one, beside each of the policies alone. */
void bench_united(struct morph_ctx *ctx);
/* Schedules that go on without ports that are lost, beside flows. */
void bench_replan(struct morph_ctx *ctx);

#endif /* LM_BENCH_BENCH_H */
