// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the driver with its simulated provider: bench FILE [row...]
 *
 * Write a line of JSON for each row to FILE. No time makes the program fail. The exit status is 1
 * after an error: missing light, an impossible slice, or counters of visits that grow with the
 * fabric.
 *
 * The host of the machine may be shared and slow for a while. So the program measures the unit
 * alternately with the rows that use it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define NULL_BATCH 16
#define NULL_SAMPLES 400

static FILE *output;
static bool failed;
static int null_fd;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t boottime_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

void stop(const char *what)
{
	fprintf(stderr, "# %s: %s%s%s\n", what, strerror(errno), last_detail[0] ? ": " : "",
		last_detail);
	exit(1);
}

void wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "# WRONG: ");
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	failed = true;
}

/* -------------------------------------------------------------------- samples */

void sample_add(struct samples *samples, double value)
{
	if (samples->count < MOST_SAMPLES)
		samples->values[samples->count++] = value;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double sample_percentile(struct samples *samples, unsigned int percent)
{
	if (!samples->count)
		return 0;
	qsort(samples->values, samples->count, sizeof(double), compare);
	return samples->values[(samples->count - 1) * percent / 100];
}

double sample_median(struct samples *samples)
{
	return sample_percentile(samples, 50);
}

/* --------------------------------------------------------------------- report */

static void put_bar(const struct row *row, double ratio)
{
	bool met = row->at_least ? ratio >= row->limit : ratio <= row->limit;

	if (row->limit)
		fprintf(output, ", \"bar\": \"ratio\", \"limit\": %g, \"met\": %s", row->limit,
			met ? "true" : "false");
	if (row->aim)
		fprintf(output, ", \"aim\": %g", row->aim);
}

void report(const struct row *row, struct samples *samples)
{
	double median = sample_median(samples);
	double ratio = row->reference ? median / row->reference : 0;

	fprintf(output, "{\"name\": \"%s\", \"median\": %.1f, \"p10\": %.1f, \"p90\": %.1f, ",
		row->name, median, sample_percentile(samples, 10), sample_percentile(samples, 90));
	fprintf(output, "\"unit\": \"%s\", \"samples\": %u, ", row->unit, samples->count);
	fprintf(output, "\"reference_name\": \"%s\", \"reference\": %.1f, \"ratio\": %.4f",
		row->reference_name, row->reference, ratio);
	put_bar(row, ratio);
	fprintf(output, "}\n");
	fflush(output);
}

void report_nulls(const char *name, struct samples *samples, struct samples *nulls, double limit,
		  double aim)
{
	struct row row = {
		.name = name,
		.unit = "ns",
		.reference_name = "ioctl on /dev/null",
		.reference = sample_median(nulls),
		.limit = limit,
		.aim = aim,
	};

	report(&row, samples);
}

void report_against(const char *name, struct samples *samples, const char *reference_name,
		    struct samples *reference, double limit)
{
	struct row row = {
		.name = name,
		.unit = "ns",
		.reference_name = reference_name,
		.reference = sample_median(reference),
		.limit = limit,
	};

	report(&row, samples);
}

/* ------------------------------------------------------------------- the unit */

void null_sample(struct samples *nulls)
{
	uint64_t begin = now_ns();
	int i;

	for (i = 0; i < NULL_BATCH; i++)
		ioctl(null_fd, _IO(MORPH_IOC, 0x7f), 0);
	sample_add(nulls, (double)(now_ns() - begin) / NULL_BATCH);
}

static void null_measure(void)
{
	struct row row = { .name = "ioctl on /dev/null", .unit = "ns", .reference_name = "itself" };
	static struct samples nulls;
	int n;

	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd < 0)
		stop("/dev/null");
	for (n = 0; n < 2 * NULL_SAMPLES; n++) {
		/* The first half warms the caches and an emulator's translation. */
		if (n == NULL_SAMPLES)
			nulls.count = 0;
		null_sample(&nulls);
	}
	row.reference = sample_median(&nulls);
	report(&row, &nulls);
}

/* --------------------------------------------------------------------- visits */

static long long counter(const struct sim *sim, const char *file, const char *key)
{
	long long value = core_counter(sim, file, key);

	if (value < 0)
		stop(key);
	return value;
}

void visits_read(const struct sim *sim, struct visits *visits)
{
	visits->elements = counter(sim, "ledger", "elements visited");
	visits->lanes = counter(sim, "ledger", "lanes visited");
	visits->steps = counter(sim, "stats", "route-steps");
}

void visits_quiet(const struct sim *sim)
{
	if (!WAIT_UNTIL(core_rests(sim) && !core_counter(sim, "rest", "plans")))
		stop("rest");
}

/* ----------------------------------------------------------------------- main */

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "reconfigure", bench_reconfigure },
	{ "failover", bench_failover },
	{ "lent", bench_lent },
	{ "slice", bench_slice },
	{ "kill", bench_kill },
	{ "subsets", bench_subsets },
	{ "visits", bench_visits },
	{ "schedule", bench_schedule },
	{ "interleaving", bench_interleaving },
};

static bool wanted(int argc, char **argv, const char *name)
{
	int i;

	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc <= 2;
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc < 2) {
		fprintf(stderr, "usage: bench FILE [part...]\n");
		return 2;
	}
	output = fopen(argv[1], "w");
	if (!output)
		stop(argv[1]);
	null_measure();
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (wanted(argc, argv, parts[i].name))
			parts[i].run();
	fclose(output);
	return failed;
}
