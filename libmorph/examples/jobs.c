// SPDX-License-Identifier: MIT
/*
 * Two training jobs that share the circuits between three servers.
 *
 *	jobs [CIRCUITS]
 *
 * cc jobs.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>

#define SITES 3u
#define MEGABYTE 1000000u
#define ITERATIONS 100u
#define MILLISECOND 1000000u

/* Job 0 has workers at servers 0 and 1, job 1 at all servers. Server 0 has a slot for one job. */
static const struct morph_job jobs[] = {
	{ .bytes = 100 * MEGABYTE, .iterations = ITERATIONS, .root = 0, .first = 0, .parts = 2 },
	{ .bytes = 400 * MEGABYTE, .iterations = ITERATIONS, .root = 1, .first = 2, .parts = 3 },
};

static const struct morph_jobs_part parts[] = {
	{ .site = 0, .workers = 4, .left = 2ull * ITERATIONS * 100 * MEGABYTE },
	{ .site = 1, .workers = 4, .left = 2ull * ITERATIONS * 100 * MEGABYTE },
	{ .site = 1, .workers = 2, .left = 2ull * ITERATIONS * 400 * MEGABYTE },
	{ .site = 0, .workers = 2, .left = 2ull * ITERATIONS * 400 * MEGABYTE },
	{ .site = 2, .workers = 2, .left = 2ull * ITERATIONS * 400 * MEGABYTE },
};

static void print_decision(const struct morph_jobs_decision *decision)
{
	for (uint32_t at = 0; at < decision->set_count; at++)
		printf("set %" PRIu32 " circuits between %" PRIu32 " and %" PRIu32 "\n",
		       decision->set[at].circuits, decision->set[at].one, decision->set[at].other);
	for (uint32_t job = 0; job < 2; job++)
		printf("job %" PRIu32 ": reason %" PRIu32 ", ends at %" PRIu64 " ms\n", job,
		       decision->jobs[job].reason, decision->jobs[job].end_ns / MILLISECOND);
	printf("slots save %" PRIu64 " MB, nothing ends all before %" PRIu64 " ms\n",
	       decision->saved / MEGABYTE, decision->bound_ns / MILLISECOND);
}

int main(int argc, char **argv)
{
	uint32_t ports = argc > 1 ? (uint32_t)atoi(argv[1]) : 2;
	struct morph_jobs_site sites[SITES] = { { .ports = ports, .slots = 1 },
						{ .ports = ports },
						{ .ports = ports } };
	MORPH_OPTS(morph_jobs_problem, problem, .sites = sites, .site_count = SITES, .jobs = jobs,
		   .job_count = 2, .parts = parts, .part_count = 5, .circuit_bps = 400000000000,
		   .dark_ns = MILLISECOND);
	MORPH_OPTS(morph_jobs_opts, opts, .policy = MORPH_JOBS_AUTO, .slot_ns = MILLISECOND);
	MORPH_OPTS(morph_jobs_decision, decision);
	MORPH_OPTS(morph_jobs_outcome, outcome);
	struct morph_jobs *object;
	struct morph_ctx *ctx;
	int status = 1;

	if (morph_ctx_new(NULL, &ctx))
		return 1;
	object = morph_jobs_new(ctx);
	if (!object || morph_jobs_decide(object, &problem, &opts, &decision))
		goto out;
	print_decision(&decision);
	if (morph_jobs_simulate(object, &problem, &opts, &outcome))
		goto out;
	printf("simulated: %" PRIu32 " jobs ended at %" PRIu64 " ms, %" PRIu64 " circuits set\n",
	       outcome.ended, outcome.end_ns / MILLISECOND, outcome.set);
	status = 0;
out:
	if (status)
		fprintf(stderr, "%s\n", morph_error_text(ctx));
	morph_jobs_free(object);
	morph_ctx_free(ctx);
	return status;
}
