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
	uint32_t *ranks; /* by site: the rank that it is; MORPH_ANY: none */
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
enum exit_code jobs_decide(struct jobs_file *file, struct morph_jobs_decision *decision);
json_t *jobs_decided(const struct jobs_file *file, const struct morph_jobs_decision *decision);
#define JOBS_COLUMNS "job,name,job-state,aggregators-count,ends-ns,text"
#define JOBS_COHORT_COLUMNS \
	"job,name,job-state,aggregators-count,cohort,offset-ns,period-ns,ends-ns,text"

#endif /* MORPHCTL_JOBS_H */
