/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Training jobs that share circuits: their files and decisions about them. */
#ifndef MORPHCTL_JOBS_H
#define MORPHCTL_JOBS_H

#include "morphctl/client/client.h"

/* A file of sites and jobs. The options and the problem refer to its arrays. */
struct jobs_file {
	struct run *run;
	json_t *document;
	struct morph_jobs *planner;
	struct morph_jobs_site *sites;
	struct morph_job *jobs;
	struct morph_job *believed; /* of --errors; NULL: none */
	const char **names; /* by job; NULL: none */
	struct morph_jobs_part *parts;
	struct morph_jobs_pair *lit, *most;
	struct morph_jobs_problem problem;
	struct morph_jobs_opts opts;
};

/* read.c: read the file on the command line, and the trace of --trace. Free it after errors too. */
enum exit_code jobs_read(struct run *run, struct jobs_file *file);
void jobs_free(struct jobs_file *file);
/* The largest numbers that libmorph accepts. */
#define JOBS_MOST_SITES 4096u
#define JOBS_MOST_JOBS (1u << 20)
#define JOBS_MOST_PARTS (1u << 22)
#define JOBS_MOST_WORKERS (1u << 20)
#define JOBS_MOST_BYTES ((uint64_t)1 << 62)
/* Append an element to an array of the file. */
void *jobs_append(void *list, uint32_t count, size_t size);
/*
 * Complete the last job: the root with the most workers, and the bytes that its parts have left.
 * Returns false if the bytes are too many.
 */
bool jobs_complete(struct jobs_file *file, bool has_root);

/* trace.c: append the jobs of a trace in CSV. */
enum exit_code jobs_read_trace(struct jobs_file *file, const char *path);

/* errors.c: draw what the planner believes about the jobs, as --errors and --seed require. */
enum exit_code jobs_believe(struct jobs_file *file);

/* plan.c */
extern const char *const jobs_policies[];

#endif /* MORPHCTL_JOBS_H */
