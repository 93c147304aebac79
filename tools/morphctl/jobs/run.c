// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl jobs run: simulate the jobs of a file with one policy or with all */
#include <unistd.h>

#include "morphctl/jobs/jobs.h"

#define COLUMNS                                                              \
	"policy,ended-jobs-count,ends-ns,gap-percent,mean-ns,mean-bound-ns," \
	"changes-count,circuits-set-count,circuits-cleared-count,dark-ns"

/* A simulation can take minutes. An interrupt ends the program, which has changed nothing. */
static void show_progress(uint32_t policy)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rsimulating %s (%u of %u)\033[K", jobs_policies[policy],
			policy + 1, (uint32_t)MORPH_JOBS_POLICIES);
}

static void end_progress(void)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

static json_t *outcome_record(const struct jobs_file *file, const struct morph_jobs_outcome *it)
{
	uint64_t now = file->problem.now_ns;
	double least = (double)(it->bound_ns - now), all = (double)(it->end_ns - now);
	json_t *record = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "policy",
				   jobs_policies[file->opts.policy], "ended-jobs-count",
				   (json_int_t)it->ended, "ends-ns", (json_int_t)it->end_ns,
				   "bound-ns", (json_int_t)it->bound_ns, "mean-ns",
				   (json_int_t)it->mean_ns, "mean-bound-ns",
				   (json_int_t)it->mean_bound_ns, "changes-count",
				   (json_int_t)it->changes, "circuits-set-count",
				   (json_int_t)it->set, "circuits-cleared-count",
				   (json_int_t)it->cleared, "dark-ns", (json_int_t)it->dark_ns);

	if (it->ended == file->problem.job_count && least > 0)
		json_object_set_new(record, "gap-percent", json_real(100 * (all - least) / least));
	return record;
}

static enum exit_code simulate(struct jobs_file *file, uint32_t policy, json_t *records)
{
	MORPH_OPTS(morph_jobs_outcome, outcome, .ended = 0);

	file->opts.policy = policy;
	if (morph_jobs_simulate(file->planner, &file->problem, &file->opts, &outcome)) {
		warn_line("%s: %s", file->run->argv[0], morph_error_text(file->run->client->ctx));
		return EXIT_CODE_USAGE;
	}
	json_array_append_new(records, outcome_record(file, &outcome));
	return EXIT_CODE_OK;
}

static enum exit_code simulate_all(struct jobs_file *file, json_t *records)
{
	enum exit_code code = EXIT_CODE_OK;

	if (given(file->run, OPTION_JOBS_POLICY))
		return simulate(file, file->opts.policy, records);
	for (uint32_t policy = 0; policy < MORPH_JOBS_POLICIES && !code; policy++) {
		show_progress(policy);
		code = simulate(file, policy, records);
	}
	end_progress();
	return code;
}

enum exit_code jobs_run(struct run *run)
{
	json_t *records = json_array();
	struct jobs_file file;
	enum exit_code code = jobs_read(run, &file);

	if (!code)
		code = simulate_all(&file, records);
	if (!code && given(run, OPTION_JSON)) {
		json_t *record = json_pack("{s:I, s:O}", "jobs-count",
					   (json_int_t)file.problem.job_count, "simulations",
					   records);

		emit_document(record);
		json_decref(record);
	} else if (!code) {
		say("%u jobs; no policy ends them before %s\n\n", file.problem.job_count,
		    amount_ns(wide_of(json_array_get(records, 0), "bound-ns")).text);
		emit_table(run, COLUMNS, records);
	}
	json_decref(records);
	jobs_free(&file);
	return code;
}
