// SPDX-License-Identifier: GPL-2.0-or-later
/* Arguments, rows, intervals. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repro.h"

#define NORMAL 1.959964 /* 97.5 % of the normal distribution lie below this value */

void repro_wrong(const char *format, ...)
{
	va_list words;

	va_start(words, format);
	fputs("repro: ", stderr);
	vfprintf(stderr, format, words);
	fputc('\n', stderr);
	va_end(words);
	exit(1);
}

void repro_begin(struct repro *repro, int argc, char **argv)
{
	*repro = (struct repro){ .seed = 1 };
	for (argv++; --argc > 0; argv++) {
		if (!strcmp(*argv, "--quick")) {
			repro->quick = true;
		} else if (argc > 1 && !strcmp(*argv, "--trace")) {
			repro->trace.path = *++argv;
			argc--;
		} else if (argc > 1 && !strcmp(*argv, "--seed")) {
			char *end;

			repro->seed = strtoull(*++argv, &end, 10);
			if (!**argv || *end)
				repro_wrong("'%s' is not a seed; must be a number", *argv);
			argc--;
		} else {
			break;
		}
	}
	given_begin(&repro->given, "repro", argc, argv);
}

double repro_given(const struct repro *repro, const char *name)
{
	return given_number(&repro->given, name);
}

uint64_t repro_seed(const struct repro *repro, uint32_t number)
{
	return (repro->seed - 1) * 65536 + number + 1;
}

/* --------------------------------------------------------------------- rows */

static void print_word(const char *key, const char *word)
{
	printf(", \"%s\": ", key);
	if (!word) {
		fputs("null", stdout);
		return;
	}
	if (strpbrk(word, "\"\\\n"))
		repro_wrong("a row has an invalid character: %s", word);
	printf("\"%s\"", word);
}

static void print_number(const char *key, bool given, double value)
{
	printf(", \"%s\": ", key);
	if (given && isfinite(value))
		printf("%.6g", value);
	else
		fputs("null", stdout);
}

void row_print(const struct row *row)
{
	printf("{\"name\": \"%s\"", row->name);
	print_word("condition", row->condition);
	print_number("ours", true, row->ours);
	print_number("low", row->interval, row->low);
	print_number("high", row->interval, row->high);
	print_word("interval", row->interval);
	print_word("unit", row->unit);
	print_word("baseline_name", row->baseline_name);
	print_number("baseline", row->baseline_name, row->baseline);
	print_word("approximation", row->approximation);
	puts("}");
}

/* ------------------------------------------------------------------- samples */

void samples_add(struct samples *samples, double value)
{
	if (samples->count == REPRO_SAMPLES)
		repro_wrong("more than %d samples", REPRO_SAMPLES);
	samples->values[samples->count++] = value;
}

double samples_mean(const struct samples *samples)
{
	double sum = 0;

	for (uint32_t at = 0; at < samples->count; at++)
		sum += samples->values[at];
	return sum / samples->count;
}

double samples_min(const struct samples *samples)
{
	double least = INFINITY;

	for (uint32_t at = 0; at < samples->count; at++)
		least = fmin(least, samples->values[at]);
	return least;
}

double samples_max(const struct samples *samples)
{
	double most = -INFINITY;

	for (uint32_t at = 0; at < samples->count; at++)
		most = fmax(most, samples->values[at]);
	return most;
}

static int by_value(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

double samples_quantile(struct samples *samples, double share)
{
	uint32_t at = (uint32_t)ceil(share * samples->count);

	qsort(samples->values, samples->count, sizeof(*samples->values), by_value);
	return samples->values[at ? at - 1 : 0];
}

/*
 * Quantile of Student's distribution, by the first terms of the expansion of Fisher and Cornish
 * (1960).
 */
static double student(double freedom)
{
	double z = NORMAL, z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

void samples_row(const struct samples *samples, struct row *row)
{
	double mean = samples_mean(samples), sum = 0, half;
	uint32_t count = samples->count;

	for (uint32_t at = 0; at < count; at++)
		sum += (samples->values[at] - mean) * (samples->values[at] - mean);
	half = count > 1 ? student(count - 1) * sqrt(sum / (count - 1) / count) : INFINITY;
	row->ours = mean;
	row->low = mean - half;
	row->high = mean + half;
	row->interval = "95 % of the mean";
}

/* Wilson, Probable Inference (1927). The interval has a width even if all samples are equal. */
void samples_share_row(const struct samples *samples, struct row *row)
{
	double share = samples_mean(samples), count = samples->count;
	double square = NORMAL * NORMAL / count, middle = (share + square / 2) / (1 + square);
	double half = sqrt(square * (share * (1 - share) + square / 4)) / (1 + square);

	row->ours = share;
	row->low = middle - half;
	row->high = middle + half;
	row->interval = "95 % of the share";
}

void samples_median_row(struct samples *samples, struct row *row)
{
	double half = samples->count / 2.0, away = NORMAL / 2 * sqrt(samples->count);
	uint32_t low = half > away ? (uint32_t)(half - away) : 0;

	row->ours = samples_quantile(samples, 0.5);
	if (samples->count % 2 == 0)
		row->ours = (row->ours + samples->values[samples->count / 2]) / 2;
	row->low = samples->values[low];
	row->high = samples->values[samples->count - 1 - low];
	row->interval = "95 % of the median";
}
