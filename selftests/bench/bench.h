/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The benchmark: samples, rows of the report, and fabrics of equal shape.
 *
 * The unit is an ioctl on /dev/null in the same run. Rows of different fabrics use the same slice
 * shape and path length: always accelerators of one server of 2x2 tiles.
 */
#ifndef SELFTESTS_BENCH_H
#define SELFTESTS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric.h"

#define INSTANT "settle_ns=0 relock_ns=0 write_ns=0"
#define MOST_SAMPLES 8192u
#define MOST_HOPS 64u

/* Measured values, one for each run. */
struct samples {
	unsigned int count;
	double values[MOST_SAMPLES];
};

void sample_add(struct samples *samples, double value);
double sample_percentile(struct samples *samples, unsigned int percent);
double sample_median(struct samples *samples);

uint64_t now_ns(void);
/* CLOCK_BOOTTIME, the clock of events. */
uint64_t boottime_ns(void);

/*
 * One row of the report. A smaller value is better, except for a count that must be reached. limit
 * and aim apply to the ratio; 0: none.
 */
struct row {
	const char *name;
	const char *unit;
	const char *reference_name;
	double reference;
	double limit, aim;
	bool at_least; /* limit is a count that must be reached */
};

void report(const struct row *row, struct samples *samples);
/* Report in units of the ioctl on /dev/null, measured alternately with it. */
void report_nulls(const char *name, struct samples *samples, struct samples *nulls, double limit,
		  double aim);
/* Report relative to the same operation on another fabric. */
void report_against(const char *name, struct samples *samples, const char *reference_name,
		    struct samples *reference, double limit);
/* The benchmark found an error, not a slow result: it will fail. */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
void __attribute__((noreturn)) stop(const char *what);

/* Time of an ioctl on /dev/null, ns. */
void null_sample(struct samples *nulls);

/* A circuit from accelerator 0 to 1 of a fabric, and two paths for it. */
struct pair {
	struct sim sim;
	int slice;
	uint32_t circuit;
	unsigned int hops;
	uint32_t guides[2][MOST_HOPS];
	unsigned int now; /* the current path */
};

struct move {
	double total, provider, software; /* ns */
};

/* policy: enum morph_failover; plans of protection take time in the background. */
void pair_start(struct pair *pair, const char *profile, unsigned int policy);
void pair_stop(struct pair *pair);
/* Move the circuit to its other path, which the caller names guide by guide or the kernel finds. */
void pair_move(struct pair *pair, bool routed, struct move *move);

/* Fail rank 0 of a slice of three on one server over to the fourth accelerator. */
struct failover {
	/* from detection of the failure to wake-up of the owner, without modelled waits */
	double software;
	double provider;
	double injected; /* from injection of the fault to wake-up of the owner */
	double phases[MORPH_PHASE_COUNT];
	unsigned int hops;
};

/* Use the first free server from *server on, and set *server to the one after it. */
void failover_run(struct sim *sim, unsigned int *server, struct failover *result);

/* Counters of the core's visits, exported in debugfs. */
struct visits {
	long long elements, lanes, steps;
};

void visits_read(const struct sim *sim, struct visits *visits);
/* Wait until the counters stop, because the driver makes plans in the background. */
void visits_quiet(const struct sim *sim);

void bench_reconfigure(void);
void bench_failover(void);
void bench_lent(void);
void bench_slice(void);
void bench_kill(void);
void bench_subsets(void);
void bench_visits(void);
void bench_schedule(void);
void bench_interleaving(void);

#endif /* SELFTESTS_BENCH_H */
