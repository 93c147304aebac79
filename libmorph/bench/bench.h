/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of the bench, its failures, and its parts. */
#ifndef LM_BENCH_BENCH_H
#define LM_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <morph/plan.h>

#define STATES 10000 /* limit of the samples of a row */

struct samples {
	uint32_t count;
	double values[STATES]; /* of times: microseconds */
};

/* Processor time. */
double now_us(void);

void sample(struct samples *samples, double value);

/* The figure of a row that a bar limits. */
enum figure {
	NO_BAR,
	MEAN,
	MEDIAN,
	P99,
	MOST,
};

/* A row. A row whose name begins with blanks adds to the last row whose name does not. */
struct row {
	const char *name;
	const char *unit; /* NULL: microseconds */
	enum figure figure; /* must not exceed the limit; with at_least, must not be below it */
	bool at_least;
	double limit;
	struct samples *reference; /* for the ratio of medians; NULL: none */
	const char *reference_name;
};

/* Print a row. Sorts the samples and the reference samples. */
void report_row(const struct row *row, struct samples *samples);

/* Report times. */
void report(const char *name, struct samples *samples, enum figure figure, double bar);

/* Report times of an oracle, beside ours for the same instances. */
void report_oracle(const char *name, struct samples *samples, struct samples *ours);

/* Report a count and its limit. */
void report_count(const char *name, uint32_t count, uint32_t most);

/* Add text to the row before. */
void remark(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/* Report a wrong answer. */
void wrong(const char *what);

/*
 * Also write rows to a file, one JSON object each, with times in nanoseconds. False: not writable.
 */
bool rows_begin(const char *path);
/* Finish the rows. Returns whether no answer was wrong. */
bool rows_end(void);

/* enum morph_servers: whole hosts where possible. Servers of the profiles are 2x2x1. */
static inline uint32_t servers_of_torus(uint32_t x, uint32_t y, uint32_t z)
{
	return !(x % 2) + !(y % 2) + !(z % 2) > 1 ? MORPH_SERVERS_WHOLE : MORPH_SERVERS_SHARED;
}

/* Read a file into new memory; NULL if unreadable. */
void *read_profile(const char *path, size_t *bytes);

/* Stitch 32 accelerators into racks; some instances also by integer programs. */
void bench_stitch(void);

/* Place slices that come and go in the pod of @profile; across racks in that of @any. */
void bench_pod(struct morph_ctx *ctx, const char *profile, const char *any);

/* Light slices that come and go in the rack of this profile. */
void bench_light(struct morph_ctx *ctx, const char *profile);

/* Make room in the rack of this profile; in corners of it also by brute force. */
void bench_defrag(struct morph_ctx *ctx, const char *profile);
void bench_corners(struct morph_ctx *ctx, const char *profile);

/* Find spares for ranks of slices in the rack of this profile. */
void bench_protect(struct morph_ctx *ctx, const char *profile);

/* Numbers of spares that suffice, beside random racks. */
void bench_sizing(struct morph_ctx *ctx);

/* Bandwidth of groups, beside integer programs. */
void bench_bandwidth(struct morph_ctx *ctx);

/*
 * Lanes between servers for one and for several controllers, beside linear and quadratic programs.
 */
void bench_te(struct morph_ctx *ctx);
void bench_overload(struct morph_ctx *ctx);

/* Assign tenants to controllers. */
void bench_slicing(struct morph_ctx *ctx);

/* Rounds of collectives over planes that change while others send, beside integer programs. */
void bench_overlap(struct morph_ctx *ctx);

/*
 * Iterations of training whose circuits change between collectives: by mode and delay, and the time
 * of an event.
 */
void bench_phases(struct morph_ctx *ctx);

/* Dispatch of experts' tokens, beside exact decomposition and integer programs. */
void bench_matrix(struct morph_ctx *ctx);

/* Plans of a collective library: lookups, planning, and reading from a file. */
void bench_shim(struct morph_ctx *ctx);

/* Circuit changes inside collectives of shifts, beside integer programs. */
void bench_segments(struct morph_ctx *ctx);

/* Overlap and circuit changes combined, beside each policy alone. */
void bench_united(struct morph_ctx *ctx);
/* Schedules after the loss of ports, beside flows. */
void bench_replan(struct morph_ctx *ctx);

/* Decisions about training jobs, also beside brute force. */
void bench_jobs(struct morph_ctx *ctx);

/* Rounds that join all pairs of endpoints, of meshes and of the device of this profile. */
void bench_matchings(struct morph_ctx *ctx, const char *profile);

#endif /* LM_BENCH_BENCH_H */
