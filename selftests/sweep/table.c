// SPDX-License-Identifier: GPL-2.0-only
/* The recorded numbers of points. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

#define MAX_ROWS 1024

static struct row {
	char sweep[16];
	char name[48];
	unsigned int points;
	bool swept; /* in this run */
} rows[MAX_ROWS];

static unsigned int count;
static bool recording;

static struct row *find(const char *sweep, const char *name)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!strcmp(rows[i].sweep, sweep) && !strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static struct row *add(const char *sweep, const char *name)
{
	struct row *row = &rows[count];

	if (count == MAX_ROWS) {
		fprintf(stderr, "# the table of points is full\n");
		exit(1);
	}
	count++;
	snprintf(row->sweep, sizeof(row->sweep), "%s", sweep);
	snprintf(row->name, sizeof(row->name), "%s", name);
	return row;
}

static const char *recorded(void)
{
	const char *results = getenv("RESULTS");
	static char path[256];

	snprintf(path, sizeof(path), "%s/points", results ? results : "/tmp");
	return path;
}

void points_begin(bool record)
{
	char line[128], sweep[16], name[48];
	FILE *stream = NULL;
	unsigned int points;

	recording = record;
	if (record)
		stream = fopen(recorded(), "r"); /* continue the file of an earlier program */
	if (!stream)
		stream = fopen(POINTS, "r");
	while (stream && fgets(line, sizeof(line), stream))
		if (sscanf(line, "%15s %47s %u", sweep, name, &points) == 3)
			add(sweep, name)->points = points;
	if (stream)
		fclose(stream);
}

/*
 * Write the recorded numbers to a directory that a test machine can write; the user copies the
 * file. Write it after each sweep, so that an aborted run keeps its results.
 */
static void write_all(void)
{
	FILE *stream = fopen(recorded(), "w");
	unsigned int i;

	if (!stream) {
		perror(recorded());
		exit(1);
	}
	fprintf(stream,
		"# SPDX-License-Identifier: GPL-2.0-only\n"
		"# Points that each sweep reaches: sweep, name, number. Written by --record.\n");
	for (i = 0; i < count; i++)
		fprintf(stream, "%s %s %u\n", rows[i].sweep, rows[i].name, rows[i].points);
	fclose(stream);
}

const char *points_check(const char *sweep, const char *name, unsigned int points,
			 unsigned int chance)
{
	struct row *row = find(sweep, name);

	if (recording && !row)
		row = add(sweep, name);
	if (row)
		row->swept = true;
	if (recording) {
		row->points = points;
		write_all();
		return NULL;
	}
	if (!row)
		return say("%s %s: no recorded number of points; this run has %u", sweep, name,
			   points);
	if (points > row->points)
		printf("# %s %s: %u points, recorded are %u\n", sweep, name, points, row->points);
	if (points + chance >= row->points)
		return NULL;
	return say("%s %s: only %u points, recorded are %u", sweep, name, points, row->points);
}

const char *points_end(const char *sweep)
{
	const char *lost = NULL;
	unsigned int i, left = 0;

	for (i = 0; i < count; i++) {
		if (strcmp(rows[i].sweep, sweep) || rows[i].swept) {
			rows[left++] = rows[i];
			continue;
		}
		lost = say("%s %s: recorded with %u points, but not swept", sweep, rows[i].name,
			   rows[i].points);
	}
	if (!recording)
		return lost;
	count = left;
	write_all();
	return NULL;
}
