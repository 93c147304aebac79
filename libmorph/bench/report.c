// SPDX-License-Identifier: LGPL-2.1-or-later
/* Output of the bench: a line of a table for each row, and a JSON object if there is a file. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define WIDTH 60 /* of names */
#define MICROSECOND 1e3 /* in the file's unit */

static FILE *rows;
static int failures;
static uint32_t missed;
static char main_name[128]; /* of the last row that does not add to another one */

/* Statistics of a row's samples. */
struct figures {
	double mean, median, p10, p90, p99, most;
};

double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

void sample(struct samples *samples, double value)
{
	if (samples->count < STATES)
		samples->values[samples->count++] = value;
}

static int by_value(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

/* The least value that at least this percentage of the sorted samples does not exceed. */
static double percentile(const struct samples *samples, uint32_t percent)
{
	return samples->values[(samples->count * percent + 99) / 100 - 1];
}

static struct figures figures_of(struct samples *samples)
{
	struct figures figures = { 0 };
	uint32_t last = samples->count - 1;

	if (!samples->count)
		return figures;
	qsort(samples->values, samples->count, sizeof(samples->values[0]), by_value);
	for (uint32_t at = 0; at < samples->count; at++)
		figures.mean += samples->values[at] / samples->count;
	figures.median = (samples->values[last / 2] + samples->values[(last + 1) / 2]) / 2;
	figures.p10 = percentile(samples, 10);
	figures.p90 = percentile(samples, 90);
	figures.p99 = percentile(samples, 99);
	figures.most = samples->values[last];
	return figures;
}

/* The name and value of the figure with a bar. */
static const char *barred(const struct row *row, const struct figures *figures, double *value)
{
	switch (row->figure) {
	case MEAN:
		*value = figures->mean;
		return "mean";
	case MEDIAN:
		*value = figures->median;
		return "median";
	case P99:
		*value = figures->p99;
		return "p99";
	case MOST:
		*value = figures->most;
		return "max";
	default:
		return NULL;
	}
}

static bool is_met(const struct row *row, double value)
{
	return row->at_least ? value >= row->limit : value <= row->limit;
}

/* A unique name for each row. An additional row includes the name of its main row. */
static void name_row(const char *name, char *whole, size_t room)
{
	const char *begin = name + strspn(name, " ");

	if (begin == name)
		snprintf(main_name, sizeof(main_name), "%s", name);
	if (begin == name)
		snprintf(whole, room, "%s", name);
	else
		snprintf(whole, room, "%s: %s", main_name, begin);
}

static void write_row(const struct row *row, const struct figures *figures, uint32_t count,
		      double reference)
{
	double unit = row->unit ? 1 : MICROSECOND, value = 0;
	const char *bar = barred(row, figures, &value);
	char name[300];

	name_row(row->name, name, sizeof(name));
	if (!rows)
		return;
	fprintf(rows,
		"{\"name\": \"%s\", \"unit\": \"%s\", \"samples\": %u, \"median\": %.9g, "
		"\"p10\": %.9g, \"p90\": %.9g, \"mean\": %.9g, \"p99\": %.9g, \"max\": %.9g",
		name, row->unit ? row->unit : "ns", count, figures->median * unit,
		figures->p10 * unit, figures->p90 * unit, figures->mean * unit, figures->p99 * unit,
		figures->most * unit);
	if (reference > 0)
		fprintf(rows, ", \"reference_name\": \"%s\", \"reference\": %.9g, \"ratio\": %.6g",
			row->reference_name, reference * unit, figures->median / reference);
	if (bar)
		fprintf(rows, ", \"bar\": \"%s\", \"limit\": %.9g, \"met\": %s", bar,
			row->limit * unit, is_met(row, value) ? "true" : "false");
	fprintf(rows, "}\n");
	fflush(rows);
}

void report_row(const struct row *row, struct samples *samples)
{
	struct figures figures = figures_of(samples);
	double reference = row->reference ? figures_of(row->reference).median : 0, value = 0;
	const char *format = row->unit ? " %9.4g %9.4g %9.4g %9.4g %s" :
					 " %9.1f %9.1f %9.1f %9.1f %s";
	const char *bar = barred(row, &figures, &value);

	write_row(row, &figures, samples->count, reference);
	printf("%-*s", WIDTH, row->name);
	printf(format, figures.mean, figures.median, figures.p99, figures.most,
	       row->unit ? row->unit : "us");
	if (reference > 0)
		printf("  %.3g times %s", figures.median / reference, row->reference_name);
	if (bar) {
		bool met = is_met(row, value);

		missed += !met;
		printf("  %s %s %g: %s", bar, row->at_least ? "at least" : "at most", row->limit,
		       met ? "met" : "MISSED");
	}
	puts("");
	fflush(stdout);
}

void report(const char *name, struct samples *samples, enum figure figure, double bar)
{
	const struct row row = { .name = name, .figure = figure, .limit = bar };

	report_row(&row, samples);
}

void report_oracle(const char *name, struct samples *samples, struct samples *ours)
{
	const struct row row = { .name = name, .reference = ours, .reference_name = "ours" };

	report_row(&row, samples);
}

void report_count(const char *name, uint32_t count, uint32_t most)
{
	const struct row row = { .name = name, .unit = "count", .figure = MOST, .limit = most };
	static struct samples samples;

	samples.count = 0;
	sample(&samples, count);
	report_row(&row, &samples);
}

void remark(const char *format, ...)
{
	va_list arguments;

	printf("  ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	puts("");
}

void wrong(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	failures++;
}

bool rows_begin(const char *path)
{
	if (path) {
		rows = fopen(path, "w");
		if (!rows) {
			perror(path);
			return false;
		}
	}
	printf("%-*s %9s %9s %9s %9s\n", WIDTH, "", "mean", "median", "99 %", "most");
	return true;
}

bool rows_end(void)
{
	if (rows && fclose(rows)) {
		perror("rows");
		failures++;
	}
	printf("%u bars missed, %d answers wrong\n", missed, failures);
	return !failures;
}
