// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a trace of training jobs in CSV, one line for each job. */
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"
#include "morphctl/jobs/jobs.h"

#define BLANKS " \t\r"

enum column {
	ARRIVAL,
	WORKERS,
	BYTES,
	ITERATIONS,
	COMPUTE,
	SITES,
	COLUMNS
};

static const char *const columns[COLUMNS] = { "arrival_s",  "workers",	 "bytes",
					      "iterations", "compute_s", "sites" };

struct trace {
	struct jobs_file *file;
	const char *path;
	size_t line;
	bool headed; /* the line with the names of columns was read */
	char *field[COLUMNS];
};

/* Divide a line at its commas, and remove blanks around fields. */
static enum exit_code split(struct trace *trace, char *line)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < COLUMNS; at++)
		trace->field[at] = line + strlen(line);
	for (char *at = line; at; count++) {
		char *comma = strchr(at, ','), *end;

		if (comma)
			*comma = '\0';
		at += strspn(at, BLANKS);
		for (end = at + strlen(at); end > at && strchr(BLANKS, end[-1]); end--)
			;
		*end = '\0';
		if (count < COLUMNS)
			trace->field[count] = at;
		at = comma ? comma + 1 : NULL;
	}
	if (count == COLUMNS)
		return EXIT_CODE_OK;
	return refuse_line(trace->path, trace->line, "%u columns, must be %u", count,
			   (uint32_t)COLUMNS);
}

static enum exit_code check_heading(struct trace *trace)
{
	for (uint32_t at = 0; at < COLUMNS; at++)
		if (strcmp(trace->field[at], columns[at]))
			return refuse_line(trace->path, trace->line,
					   "column %u is '%s', must be '%s'", at + 1,
					   trace->field[at], columns[at]);
	trace->headed = true;
	return EXIT_CODE_OK;
}

static enum exit_code read_time(struct trace *trace, enum column column, uint64_t *ns)
{
	int64_t time;

	if (!parse_seconds(trace->field[column], &time))
		return refuse_line(trace->path, trace->line,
				   "'%s' must be seconds, 0 to 1000000000, not '%s'",
				   columns[column], trace->field[column]);
	*ns = (uint64_t)time;
	return EXIT_CODE_OK;
}

static enum exit_code read_number(struct trace *trace, enum column column, uint64_t least,
				  uint64_t most, uint64_t *value)
{
	if (parse_u64(trace->field[column], least, most, value))
		return EXIT_CODE_OK;
	return refuse_line(trace->path, trace->line,
			   "'%s' must be a number, %llu to %llu, not '%s'", columns[column],
			   (unsigned long long)least, (unsigned long long)most,
			   trace->field[column]);
}

/* Add a worker to the part at its site. */
static void add_worker(struct jobs_file *file, struct morph_job *job, uint32_t site)
{
	uint32_t at = job->first;

	while (at < job->first + job->parts && file->parts[at].site != site)
		at++;
	if (at == job->first + job->parts) {
		file->parts = jobs_append(file->parts, at, sizeof(*file->parts));
		file->parts[at] = (struct morph_jobs_part){ .site = site, .left = UINT64_MAX };
		file->problem.part_count++;
		job->parts++;
	}
	file->parts[at].workers++;
}

static enum exit_code read_sites(struct trace *trace, struct morph_job *job, uint64_t workers)
{
	struct jobs_file *file = trace->file;
	uint32_t last = file->problem.site_count - 1, count = 0;
	char *state = NULL;

	for (char *word = strtok_r(trace->field[SITES], BLANKS, &state); word;
	     word = strtok_r(NULL, BLANKS, &state)) {
		uint64_t site;

		if (!parse_u64(word, 0, last, &site))
			return refuse_line(trace->path, trace->line, "no site '%s' (0-%u)", word,
					   last);
		if (file->problem.part_count == JOBS_MOST_PARTS)
			return refuse_line(trace->path, trace->line, "too many parts (at most %u)",
					   JOBS_MOST_PARTS);
		add_worker(file, job, (uint32_t)site);
		count++;
	}
	if (count == workers)
		return EXIT_CODE_OK;
	return refuse_line(trace->path, trace->line, "%llu workers, but %u sites; each needs one",
			   (unsigned long long)workers, count);
}

static enum exit_code read_job(struct trace *trace)
{
	struct jobs_file *file = trace->file;
	struct morph_job job = { .first = file->problem.part_count };
	uint32_t number = file->problem.job_count;
	uint64_t workers, iterations;
	enum exit_code code = read_time(trace, ARRIVAL, &job.arrival_ns);

	if (!code)
		code = read_number(trace, WORKERS, 1, JOBS_MOST_WORKERS, &workers);
	if (!code)
		code = read_number(trace, BYTES, 0, JOBS_MOST_BYTES, &job.bytes);
	if (!code)
		code = read_number(trace, ITERATIONS, 0, UINT32_MAX, &iterations);
	if (!code)
		code = read_time(trace, COMPUTE, &job.compute_ns);
	if (!code)
		code = read_sites(trace, &job, workers);
	if (code)
		return code;
	if (number == JOBS_MOST_JOBS)
		return refuse_line(trace->path, trace->line, "too many jobs (at most %u)",
				   JOBS_MOST_JOBS);
	job.iterations = (uint32_t)iterations;
	file->jobs = jobs_append(file->jobs, number, sizeof(*file->jobs));
	file->names = jobs_append(file->names, number, sizeof(*file->names));
	file->jobs[number] = job;
	file->names[number] = NULL;
	file->problem.job_count++;
	if (!jobs_complete(file, false))
		return refuse_line(trace->path, trace->line,
				   "more than 2^62 bytes in all iterations");
	return EXIT_CODE_OK;
}

/* '#' begins a comment. */
static enum exit_code read_line(struct trace *trace, char *line)
{
	enum exit_code code;

	line[strcspn(line, "#")] = '\0';
	if (!line[strspn(line, BLANKS)])
		return EXIT_CODE_OK;
	code = split(trace, line);
	if (code)
		return code;
	return trace->headed ? read_job(trace) : check_heading(trace);
}

enum exit_code jobs_read_trace(struct jobs_file *file, const char *path)
{
	struct trace trace = { .file = file, .path = path };
	char *text = NULL;
	enum exit_code code;
	size_t length;

	code = input_whole(path, &text, &length);
	if (!code)
		code = refuse_nul(path, text, length);
	for (char *line = text; !code && line;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		trace.line++;
		code = read_line(&trace, line);
		line = end ? end + 1 : NULL;
	}
	if (!code && !trace.headed)
		code = refuse_file(path, "requires a line with the names of columns");
	free(text);
	return code;
}
