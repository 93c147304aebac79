// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl jobs run: simulate the jobs of a file with one policy or with all */
#include "morphctl/jobs/jobs.h"

#define COLUMNS                                                              \
	"policy,ended-jobs-count,ends-ns,gap-percent,mean-ns,mean-bound-ns," \
	"changes-count,circuits-set-count,circuits-cleared-count,dark-ns"
#define LOSSES                                                                     \
	"policy,ended-jobs-count,ends-ns,wrong-ends-ns,ends-loss-percent,mean-ns," \
	"wrong-mean-ns,mean-loss-percent"

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

static bool simulate_once(struct jobs_file *file, const struct morph_job *believed,
			  struct morph_jobs_outcome *outcome)
{
	*outcome = (struct morph_jobs_outcome){ .sz = sizeof(*outcome) };
	file->opts.believed = believed;
	if (!morph_jobs_simulate(file->planner, &file->problem, &file->opts, outcome))
		return true;
	warn_line("%s: %s", file->run->argv[0], morph_error_text(file->run->client->ctx));
	return false;
}

static json_t *loss_percent(uint64_t exact, uint64_t wrong)
{
	return json_real(exact ? 100 * ((double)wrong / (double)exact - 1) : 0);
}

/* The times if the planner errs, and what they exceed the exact times by. */
static void add_losses(const struct jobs_file *file, const struct morph_jobs_outcome *exact,
		       const struct morph_jobs_outcome *wrong, json_t *record)
{
	uint64_t now = file->problem.now_ns;

	json_object_set_new(record, "wrong-ends-ns", json_integer((json_int_t)wrong->end_ns));
	json_object_set_new(record, "wrong-mean-ns", json_integer((json_int_t)wrong->mean_ns));
	if (!exact->ended || exact->ended != wrong->ended)
		return;
	json_object_set_new(record, "ends-loss-percent",
			    loss_percent(exact->end_ns - now, wrong->end_ns - now));
	json_object_set_new(record, "mean-loss-percent",
			    loss_percent(exact->mean_ns, wrong->mean_ns));
}

static enum exit_code simulate(struct jobs_file *file, uint32_t policy, json_t *records)
{
	struct morph_jobs_outcome exact, wrong;
	json_t *record;

	file->opts.policy = policy;
	/* An interrupt ends the program, which has changed nothing. */
	if (given(file->run, OPTION_JOBS_POLICY))
		progress_begin("simulating %s", jobs_policies[policy]);
	else
		progress_begin("simulating %s (%u of %u)", jobs_policies[policy], policy + 1,
			       (uint32_t)MORPH_JOBS_POLICIES);
	if (!simulate_once(file, NULL, &exact))
		return EXIT_CODE_USAGE;
	record = outcome_record(file, &exact);
	json_array_append_new(records, record);
	if (!file->believed)
		return EXIT_CODE_OK;
	if (!simulate_once(file, file->believed, &wrong))
		return EXIT_CODE_USAGE;
	add_losses(file, &exact, &wrong, record);
	return EXIT_CODE_OK;
}

static enum exit_code simulate_all(struct jobs_file *file, json_t *records)
{
	enum exit_code code = EXIT_CODE_OK;

	if (given(file->run, OPTION_JOBS_POLICY))
		code = simulate(file, file->opts.policy, records);
	else
		for (uint32_t policy = 0; policy < MORPH_JOBS_POLICIES && !code; policy++)
			code = simulate(file, policy, records);
	progress_end();
	return code;
}

enum exit_code jobs_run(struct run *run)
{
	json_t *records = json_array();
	struct jobs_file file;
	enum exit_code code = jobs_read(run, &file);

	if (!code)
		code = jobs_believe(&file);
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
		emit_table(run, file.believed ? LOSSES : COLUMNS, records);
	}
	json_decref(records);
	jobs_free(&file);
	return code;
}
