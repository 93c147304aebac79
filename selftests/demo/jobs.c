// SPDX-License-Identifier: GPL-2.0-only
/* The jobs of the trace, and how their time is compressed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define LONGEST_S 5400.0 /* of the trace; longer tasks are shortened to this */
#define MOST_S 1e9 /* of the trace; about thirty years */
#define MOST_ACCELERATORS 1000000u
#define LOAD 1.0 /* requested accelerators, as a share of the capacity */
#define HEADING "arrival_s,duration_s,accelerators,source"

/* Read the number before the next comma, or NAN. @line then points behind the comma. */
static double number(char **line)
{
	char *word = strsep(line, ","), *end;
	double value;

	if (!*line || !(*word >= '0' && *word <= '9'))
		return NAN;
	value = strtod(word, &end);
	return *end ? NAN : value;
}

/* Read a line, and return its error or NULL. The function changes @line. */
static const char *read_line(char *line, double earliest_s, struct job *job)
{
	double accelerators;

	job->arrival_s = number(&line);
	if (!(job->arrival_s >= earliest_s && job->arrival_s <= MOST_S))
		return "arrival_s must be seconds, not less than in the line before";
	job->duration_s = number(&line);
	if (!(job->duration_s > 0 && job->duration_s <= MOST_S))
		return "duration_s must be seconds, more than 0";
	accelerators = number(&line);
	if (!(accelerators >= 1 && accelerators <= MOST_ACCELERATORS) ||
	    accelerators != floor(accelerators))
		return "accelerators must be an integer, 1 or more";
	job->accelerators = accelerators;
	job->drawn = !strcmp(line, "drawn");
	if (!job->drawn && strcmp(line, "trace"))
		return "source must be trace or drawn";
	return NULL;
}

/* Read up to @most jobs. Returns their number, or -1 with the error in @why. */
int jobs_read(FILE *file, struct job *jobs, uint32_t most, char *why, size_t room)
{
	uint32_t count = 0, number = 0;
	char line[256];

	while (fgets(line, sizeof(line), file)) {
		char *end = strchr(line, '\n');
		const char *wrong;

		number++;
		if (end)
			*end = '\0';
		if (end && (!line[0] || line[0] == '#' || !strcmp(line, HEADING)))
			continue;
		if (!end)
			wrong = "the line has no newline, or more than 254 characters, or is not text";
		else if (count == most)
			wrong = "too many jobs";
		else
			wrong = read_line(line, count ? jobs[count - 1].arrival_s : 0,
					  &jobs[count]);
		if (wrong) {
			snprintf(why, room, "line %u: %s", number, wrong);
			return -1;
		}
		count++;
	}
	if (count)
		return count;
	snprintf(why, room, "no line with the heading %s", HEADING);
	return -1;
}

/*
 * One factor fits the arrivals into the time of the demo, another fits the work to the load.
 * If all jobs arrive at once, they arrive at the beginning. If no job counts, each job stays
 * for the shortest time.
 */
struct pace jobs_pace(struct job *jobs, uint32_t count, uint32_t capacity, long long length_ms)
{
	double first = jobs[0].arrival_s, last = jobs[count - 1].arrival_s, asked = 0;
	double longest_ms = (double)capacity * length_ms;
	struct pace pace = {};
	uint32_t i;

	for (i = 0; i < count; i++) {
		jobs[i].duration_s = fmin(jobs[i].duration_s, LONGEST_S);
		if (jobs[i].accelerators <= capacity / 2)
			asked += jobs[i].duration_s * jobs[i].accelerators;
	}
	if (last > first)
		pace.arrivals = length_ms / (last - first);
	if (asked > 0)
		pace.durations = LOAD * longest_ms / asked;
	for (i = 0; i < count; i++) {
		/* A job that does not count may be longer than all that do. */
		double ends_ms = fmin(jobs[i].duration_s * pace.durations, longest_ms);

		jobs[i].arrives_ms = (jobs[i].arrival_s - first) * pace.arrivals;
		jobs[i].ends_ms = ends_ms < SHORTEST_MS ? SHORTEST_MS : ends_ms;
	}
	return pace;
}
