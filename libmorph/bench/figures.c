// SPDX-License-Identifier: LGPL-2.1-or-later
/* Output of figures: a line of a table each, or an object. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../internal/planner.h"
#include "../util/student.h"
#include "figures.h"

#ifndef PROFILES
#define PROFILES "build/profiles"
#endif

#define HOUR_NS 3600000000000ULL
#define REPAIR_NS (24 * HOUR_NS)

struct bench bench = { .profiles = PROFILES, .seed = 1 };

static void print_number(const char *name, double number)
{
	if (isnan(number))
		printf(", \"%s\": null", name);
	else
		printf(", \"%s\": %.6g", name, number);
}

static void print_text(const char *name, const char *text)
{
	if (text)
		printf(", \"%s\": \"%s\"", name, text);
	else
		printf(", \"%s\": null", name);
}

static void print_column(double number)
{
	if (isnan(number))
		printf(" %8s", "-");
	else
		printf(" %8.4g", number);
}

void report(const struct row *row, const char *format, ...)
{
	char name[128];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(name, sizeof(name), format, arguments);
	va_end(arguments);
	if (!bench.json) {
		printf("%-68s %8.4g", name, row->ours.mean);
		if (isnan(row->ours.low))
			printf("  %20s", "");
		else
			printf("  %8.4g to %-8.4g", row->ours.low, row->ours.high);
		print_column(row->baseline);
		printf("  %s%s%s\n", row->unit, row->versus ? "; baseline: " : "",
		       row->versus ? row->versus : "");
		return;
	}
	printf("{\"name\": \"%s/%s\"", bench.figure, name);
	print_text("condition", row->condition);
	print_number("ours", row->ours.mean);
	if (!isnan(row->ours.low)) {
		print_number("low", row->ours.low);
		print_number("high", row->ours.high);
		print_text("interval", "95 %");
	}
	if (row->versus) {
		print_number("baseline", row->baseline);
		print_text("baseline_name", row->versus);
	}
	print_text("unit", row->unit);
	print_text("approximation", row->approximation);
	puts("}");
}

void die(void)
{
	fprintf(stderr, "spares: %s\n", morph_error_text(bench.ctx));
	exit(1);
}

void check(int error)
{
	if (error < 0)
		die();
}

struct figure exactly(double value)
{
	return (struct figure){ value, NAN, NAN };
}

struct figure estimated(const struct morph_coverage_estimate *estimate)
{
	return (struct figure){ estimate->mean, estimate->low, estimate->high };
}

struct figure averaged(const double *values, uint32_t count)
{
	double mean = 0, squares = 0, half;

	for (uint32_t at = 0; at < count; at++)
		mean += values[at] / count;
	for (uint32_t at = 0; at < count; at++)
		squares += (values[at] - mean) * (values[at] - mean);
	half = student_quantile(count - 1) * sqrt(squares / (count - 1) / count);
	return (struct figure){ mean, mean - half, mean + half };
}

const char *figure_of(enum trace_set set, const char *plain, const char *traced)
{
	return set == TRACE_SETS ? plain : traced;
}

const char *prefix_of(enum trace_set set)
{
	static const char *const prefixes[TRACE_SETS + 1] = { "as traced, ",
							      "more tasks of several GPUs, ", "" };

	return prefixes[set];
}

/* -------------------------------------------------------------------- racks */

const struct tori_box whole_rack = { .extent = { 4, 4, 4 } };

struct morph_model *load_model(const char *profile)
{
	struct morph_model *model;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.bin", bench.profiles, profile);
	check(morph_model_load(bench.ctx, path, &model));
	return model;
}

struct morph_coverage *new_rack(const char *profile)
{
	struct morph_model *model = load_model(profile);
	struct morph_coverage *coverage;

	coverage = morph_coverage_new(bench.ctx, model);
	morph_model_put(model);
	if (!coverage)
		die();
	return coverage;
}

/* The mean time up of a part that is down for this share of the time. */
static uint64_t active_ns(double share)
{
	return (uint64_t)((double)REPAIR_NS * (1 - share) / share);
}

void fails(struct morph_coverage *coverage, uint32_t part, double share)
{
	check(morph_coverage_set_rate(coverage, part, active_ns(share), REPAIR_NS));
}

struct morph_coverage_result run_rack(struct morph_coverage *coverage, bool revertive)
{
	MORPH_OPTS(morph_coverage_opts, opts, .seed = bench.seed,
		   .replications = bench.quick ? QUICK_REPLICATIONS : REPLICATIONS,
		   .failures = bench.quick ? QUICK_FAILURES : FAILURES, .steps = STEPS,
		   .revertive = revertive);
	MORPH_OPTS(morph_coverage_result, result);

	check(morph_coverage_run(coverage, &opts, &result));
	return result;
}
