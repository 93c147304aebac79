// SPDX-License-Identifier: GPL-2.0-only
/* Counts of outcomes by kind of component: as text, and as JSON in $RESULTS. */
#include <stdlib.h>
#include <string.h>

#include "campaign.h"

#define BAR 40

static unsigned int counts[ROUNDS][KINDS][2][OUTCOMES];

static const char *const round_names[ROUNDS] = { "singles", "pairs", "triples" };

void report_count(enum round round, enum kind kind, bool used, enum outcome outcome)
{
	counts[round][kind][used][outcome]++;
}

static unsigned int total(const unsigned int *row)
{
	return row[UNTOUCHED] + row[SURVIVED] + row[DEGRADED] + row[LOST];
}

/* A bar with the share of each outcome: '.' untouched, '=' survived, 'd' degraded, 'L' lost. */
static void bar(const unsigned int *row)
{
	static const char letters[OUTCOMES] = { '.', '=', 'd', 'L' };
	unsigned int all = total(row), seen = 0, at = 0, o;

	for (o = 0; o < OUTCOMES; o++) {
		seen += row[o];
		while (at < seen * BAR / all) {
			putchar(letters[o]);
			at++;
		}
	}
}

static void show_row(const char *name, const char *use, const unsigned int *row)
{
	if (!total(row))
		return;
	printf("# %-18s %-6s %7u %9u %9u %9u %5u  ", name, use, total(row), row[UNTOUCHED],
	       row[SURVIVED], row[DEGRADED], row[LOST]);
	bar(row);
	putchar('\n');
}

static void show(enum round round)
{
	unsigned int all[OUTCOMES] = {}, kind, used, o;

	for (kind = 0; kind < KINDS; kind++)
		for (used = 0; used < 2; used++)
			for (o = 0; o < OUTCOMES; o++)
				all[o] += counts[round][kind][used][o];
	if (!total(all))
		return;
	printf("#\n# %s%s\n", round_names[round],
	       round == SINGLES ? "" : " (each counts for the kind of each of its faults)");
	printf("# %-18s %-6s %7s %9s %9s %9s %5s\n", "what broke", "light", "trials",
	       outcome_names[UNTOUCHED], outcome_names[SURVIVED], outcome_names[DEGRADED],
	       outcome_names[LOST]);
	for (kind = 0; kind < KINDS; kind++)
		for (used = 2; used--;)
			show_row(kinds[kind].name, used ? "used" : "idle",
				 counts[round][kind][used]);
	show_row("all", "", all);
}

static void write_json(FILE *file)
{
	const char *comma = "";
	unsigned int round, kind, used, o;

	fprintf(file, "{\"seed\": %llu, \"violations\": %u, \"untestable\": %u, \"rows\": [",
		(unsigned long long)seed, violations, untestable);
	for (round = 0; round < ROUNDS; round++) {
		for (kind = 0; kind < KINDS; kind++) {
			for (used = 0; used < 2; used++) {
				const unsigned int *row = counts[round][kind][used];

				if (!total(row))
					continue;
				fprintf(file,
					"%s\n {\"round\": \"%s\", \"kind\": \"%s\", \"used\": %s",
					comma, round_names[round], kinds[kind].name,
					used ? "true" : "false");
				for (o = 0; o < OUTCOMES; o++)
					fprintf(file, ", \"%s\": %u",
						o == LOST ? "lost" : outcome_names[o], row[o]);
				fputc('}', file);
				comma = ",";
			}
		}
	}
	fprintf(file, "\n]}\n");
}

void report_write(void)
{
	const char *results = getenv("RESULTS");
	char path[300];
	FILE *file;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++)
		show(round);
	printf("# idle components that no test could reach: %u\n", untestable);
	if (!results)
		return;
	snprintf(path, sizeof(path), "%s/%s.json", results, program_invocation_short_name);
	file = fopen(path, "w");
	if (!file)
		return;
	write_json(file);
	fclose(file);
}
