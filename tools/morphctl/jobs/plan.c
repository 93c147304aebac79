// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl jobs plan and why-not: a decision about the jobs of a file */
#include <stdlib.h>
#include <string.h>

#include "morphctl/jobs/jobs.h"

#define PARTS "job,site,workers-count,slot,circuits-count,bandwidth-mbps"
#define CHANGES "action,a-site,b-site,circuits-count"

const char *const jobs_policies[MORPH_JOBS_POLICIES] = { "auto", "fcfs", "backfill", "ljf",
							 "grouped" };

static const char *const states[] = { "runs",  "ended", "future", "blocked",	"ports",
				      "limit", "gap",	"turn",	  "aggregators" };

enum exit_code jobs_decide(struct jobs_file *file, struct morph_jobs_decision *decision)
{
	int error;

	*decision = (struct morph_jobs_decision){ .sz = sizeof(*decision) };
	progress_begin("planning the jobs");
	error = morph_jobs_decide(file->planner, &file->problem, &file->opts, decision);
	progress_end();
	if (!error)
		return EXIT_CODE_OK;
	warn_line("%s: %s", file->run->argv[0], morph_error_text(file->run->client->ctx));
	return EXIT_CODE_USAGE;
}

static void add_number(json_t *record, const char *key, uint64_t number)
{
	json_object_set_new(record, key, json_integer((json_int_t)number));
}

static bool waits(const struct morph_jobs_answer *answer)
{
	return answer->reason != MORPH_JOBS_RUNS && answer->reason != MORPH_JOBS_ENDED;
}

/* ----------------------------------------------------------------- records */

static char *sentence(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *sentence(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = format_text(format, arguments);
	va_end(arguments);
	return text;
}

/* The reason why a job waits, which the caller frees. */
static char *reason_text(const struct jobs_file *file, uint32_t number,
			 const struct morph_jobs_answer *answer)
{
	const struct morph_jobs_problem *problem = &file->problem;
	const struct morph_job *job = &file->jobs[number];

	switch (answer->reason) {
	case MORPH_JOBS_FUTURE:
		return sentence("the job arrives at %s", amount_ns(job->arrival_ns).text);
	case MORPH_JOBS_BLOCKED:
		return sentence("an earlier job waits, and %s serves jobs in the order of arrival",
				jobs_policies[file->opts.policy]);
	case MORPH_JOBS_PORTS:
		return sentence("not enough free ports at site %u, which has %u", answer->site,
				file->sites[answer->site].ports);
	case MORPH_JOBS_MOST:
		return sentence("no circuit is allowed between sites %u and %u", answer->site,
				job->root);
	case MORPH_JOBS_GAP:
		return sentence(
			"no circuit between sites %u and %u until circuits may change at %s",
			answer->site == MORPH_ANY ? job->root : answer->site, job->root,
			amount_ns(problem->changed_ns + file->opts.gap_ns).text);
	case MORPH_JOBS_TURN:
		return sentence("earlier jobs use the circuits between sites %u and %u",
				answer->site, job->root);
	default:
		return sentence("not enough CPU aggregators at site %u, which has %u", job->root,
				file->sites[job->root].aggregators);
	}
}

static json_t *job_record(const struct jobs_file *file, const struct morph_jobs_decision *decision,
			  uint32_t number)
{
	const struct morph_jobs_answer *answer = &decision->jobs[number];
	json_t *record = json_pack("{s:I, s:s}", "job", (json_int_t)number, "job-state",
				   states[answer->reason]);

	if (file->names[number])
		json_object_set_new(record, "name", json_string(file->names[number]));
	if (waits(answer)) {
		char *text = reason_text(file, number, answer);

		json_object_set_new(record, "text", json_string(text));
		free(text);
	}
	if (answer->site != MORPH_ANY)
		add_number(record, "site", answer->site);
	if (answer->aggregators)
		add_number(record, "aggregators-count", answer->aggregators);
	if (answer->nic_bps)
		add_number(record, "aggregator-mbps", answer->nic_bps / 1000000);
	if (answer->cohort) {
		add_number(record, "cohort", answer->cohort);
		add_number(record, "offset-ns", answer->offset_ns);
		add_number(record, "period-ns", answer->period_ns);
	}
	if (answer->end_ns != UINT64_MAX)
		add_number(record, "ends-ns", answer->end_ns);
	return record;
}

/* The records of all jobs, by number. */
json_t *jobs_decided(const struct jobs_file *file, const struct morph_jobs_decision *decision)
{
	json_t *records = json_array();

	for (uint32_t at = 0; at < file->problem.job_count; at++)
		json_array_append_new(records, job_record(file, decision, at));
	return records;
}

static void add_part(const struct jobs_file *file, const struct morph_jobs_decision *decision,
		     uint32_t job, uint32_t part, json_t *records)
{
	const struct morph_jobs_flow *flow = &decision->flows[part];
	const struct morph_jobs_part *it = &file->parts[part];

	json_array_append_new(
		records, json_pack("{s:I, s:I, s:I, s:b, s:I, s:I}", "job", (json_int_t)job, "site",
				   (json_int_t)it->site, "workers-count", (json_int_t)it->workers,
				   "slot", flow->slot, "circuits-count", (json_int_t)flow->circuits,
				   "bandwidth-mbps", (json_int_t)(flow->share_bps / 1000000)));
}

/* The parts of a job that use circuits. */
static void add_parts(const struct jobs_file *file, const struct morph_jobs_decision *decision,
		      uint32_t number, json_t *records)
{
	const struct morph_job *job = &file->jobs[number];

	for (uint32_t part = job->first; part < job->first + job->parts; part++)
		if (decision->flows[part].circuits)
			add_part(file, decision, number, part, records);
}

static void add_changes(const struct morph_jobs_pair *list, uint32_t count, const char *action,
			json_t *records)
{
	for (uint32_t at = 0; at < count; at++)
		json_array_append_new(records,
				      json_pack("{s:s, s:I, s:I, s:I}", "action", action, "a-site",
						(json_int_t)list[at].one, "b-site",
						(json_int_t)list[at].other, "circuits-count",
						(json_int_t)list[at].circuits));
}

/* The pair with the largest demand per circuit, which proves that no circuits are better. */
static json_t *worst_record(const struct morph_jobs_worst *worst)
{
	json_t *record = json_pack("{s:I, s:I, s:I, s:I}", "a-site", (json_int_t)worst->one,
				   "b-site", (json_int_t)worst->other, "demand-bytes",
				   (json_int_t)worst->demand, "circuits-count",
				   (json_int_t)worst->circuits);

	if (worst->site != MORPH_ANY)
		add_number(record, "site", worst->site);
	return record;
}

/*
 * Excess of the predicted end over the bound, in percent; negative if a job that has arrived waits,
 * since its end is unknown.
 */
static double gap_percent(const struct jobs_file *file, const struct morph_jobs_decision *decision)
{
	uint64_t now = file->problem.now_ns;

	for (uint32_t at = 0; at < file->problem.job_count; at++)
		if (decision->jobs[at].reason != MORPH_JOBS_FUTURE &&
		    decision->jobs[at].end_ns == UINT64_MAX)
			return -1;
	return decision->bound_ns > now && decision->end_ns > decision->bound_ns ?
		       100.0 * (double)(decision->end_ns - decision->bound_ns) /
			       (double)(decision->bound_ns - now) :
		       0;
}

static json_t *plan_record(const struct jobs_file *file, const struct morph_jobs_decision *decision)
{
	json_t *parts = json_array(), *changes = json_array(), *record;
	double gap = gap_percent(file, decision);

	for (uint32_t at = 0; at < file->problem.job_count; at++)
		add_parts(file, decision, at, parts);
	add_changes(decision->clear, decision->clear_count, "remove", changes);
	add_changes(decision->set, decision->set_count, "add", changes);
	record = json_pack("{s:s, s:I, s:I, s:I, s:b, s:o, s:o, s:o}", "policy",
			   jobs_policies[file->opts.policy], "ends-ns",
			   (json_int_t)decision->end_ns, "bound-ns", (json_int_t)decision->bound_ns,
			   "saved-bytes", (json_int_t)decision->saved, "slots-proved",
			   decision->slots_proved, "jobs", jobs_decided(file, decision), "parts",
			   parts, "changes", changes);
	if (gap >= 0)
		json_object_set_new(record, "gap-percent", json_real(gap));
	if (decision->worst.one != MORPH_ANY)
		json_object_set_new(record, "worst", worst_record(&decision->worst));
	return record;
}

/* ----------------------------------------------------------------- text */

static uint64_t count_circuits(const struct morph_jobs_pair *list, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t at = 0; at < count; at++)
		sum += list[at].circuits;
	return sum;
}

static void write_table(const struct jobs_file *file, const char *columns, json_t *records)
{
	if (!json_array_size(records))
		return;
	say("\n");
	emit_table(file->run, columns, records);
}

static void write_plan(const struct jobs_file *file, const struct morph_jobs_decision *decision,
		       const json_t *record)
{
	const struct morph_jobs_worst *worst = &decision->worst;
	double gap = gap_percent(file, decision);
	uint32_t runs = 0;

	for (uint32_t at = 0; at < file->problem.job_count; at++)
		runs += decision->jobs[at].reason == MORPH_JOBS_RUNS;
	say("%s: %u of %u jobs run until %s", jobs_policies[file->opts.policy], runs,
	    file->problem.job_count, amount_ns(decision->end_ns).text);
	if (gap >= 0)
		say(" (lower bound %s, gap %.3g %%)\n", amount_ns(decision->bound_ns).text, gap);
	else
		say(" (lower bound of all jobs %s)\n", amount_ns(decision->bound_ns).text);
	say("circuits: %llu to add, %llu to remove\n",
	    (unsigned long long)count_circuits(decision->set, decision->set_count),
	    (unsigned long long)count_circuits(decision->clear, decision->clear_count));
	say("slots save %s%s\n", amount_bytes(decision->saved).text,
	    decision->slots_proved ? ", proved optimal" : "");
	if (decision->changed && worst->one != MORPH_ANY)
		say("largest demand per circuit: %s over %u circuit%s between sites %u and %u\n",
		    amount_bytes(worst->demand).text, worst->circuits, PLURAL(worst->circuits),
		    worst->one, worst->other);
	write_table(file,
		    file->opts.policy == MORPH_JOBS_GROUPED ? JOBS_COHORT_COLUMNS : JOBS_COLUMNS,
		    json_object_get(record, "jobs"));
	write_table(file, PARTS, json_object_get(record, "parts"));
	write_table(file, CHANGES, json_object_get(record, "changes"));
}

enum exit_code jobs_plan(struct run *run)
{
	struct morph_jobs_decision decision;
	struct jobs_file file;
	enum exit_code code = jobs_read(run, &file);

	if (!code)
		code = jobs_decide(&file, &decision);
	if (!code) {
		json_t *record = plan_record(&file, &decision);

		if (given(run, OPTION_JSON))
			emit_document(record);
		else
			write_plan(&file, &decision, record);
		json_decref(record);
	}
	jobs_free(&file);
	return code;
}

/* ----------------------------------------------------------------- why-not */

/* Find a job by its name or its number. */
static enum exit_code find_job(const struct jobs_file *file, const char *text, uint32_t *number)
{
	uint64_t value;

	for (*number = 0; *number < file->problem.job_count; ++*number)
		if (file->names[*number] && !strcmp(file->names[*number], text))
			return EXIT_CODE_OK;
	if (parse_u64(text, 0, file->problem.job_count - 1UL, &value)) {
		*number = (uint32_t)value;
		return EXIT_CODE_OK;
	}
	warn_line("no job '%s' (0-%u)", text, file->problem.job_count - 1);
	return EXIT_CODE_NOT_FOUND;
}

/* Is the part one of those for which a job waits? */
static bool blocks(const struct jobs_file *file, const struct morph_jobs_answer *answer,
		   uint32_t waiting, uint32_t number, uint32_t part)
{
	uint32_t site = file->parts[part].site, root = file->jobs[number].root;
	uint32_t end = file->jobs[waiting].root;

	if (answer->reason == MORPH_JOBS_PORTS)
		return site == answer->site || root == answer->site;
	return answer->reason == MORPH_JOBS_TURN &&
	       ((site == answer->site && root == end) || (site == end && root == answer->site));
}

/* The parts that use the ports or circuits for which a job waits. */
static json_t *blocker_records(const struct jobs_file *file,
			       const struct morph_jobs_decision *decision, uint32_t waiting)
{
	const struct morph_jobs_answer *answer = &decision->jobs[waiting];
	json_t *records = json_array();

	for (uint32_t number = 0; number < file->problem.job_count; number++) {
		const struct morph_job *job = &file->jobs[number];

		for (uint32_t part = job->first; part < job->first + job->parts; part++)
			if (decision->flows[part].share_bps &&
			    blocks(file, answer, waiting, number, part))
				add_part(file, decision, number, part, records);
	}
	return records;
}

static void write_reason(const struct jobs_file *file, const struct morph_jobs_answer *answer,
			 uint32_t number, const json_t *record)
{
	say("job %u", number);
	if (file->names[number])
		say(" (%s)", file->names[number]);
	if (waits(answer))
		say(" waits: %s\n", text_of_key(record, "text"));
	else if (answer->reason == MORPH_JOBS_ENDED)
		say(" has ended\n");
	else
		say(" runs and ends at %s\n", amount_ns(answer->end_ns).text);
	if (answer->reason == MORPH_JOBS_BLOCKED)
		say("With --policy backfill, later jobs pass a job that waits.\n");
	write_table(file, PARTS, json_object_get(record, "blockers"));
}

enum exit_code jobs_why_not(struct run *run)
{
	struct morph_jobs_decision decision;
	struct jobs_file file;
	enum exit_code code = jobs_read(run, &file);
	uint32_t number = 0;

	if (!code)
		code = find_job(&file, run->argv[1], &number);
	if (!code)
		code = jobs_decide(&file, &decision);
	if (!code) {
		json_t *record = job_record(&file, &decision, number);

		json_object_set_new(record, "blockers", blocker_records(&file, &decision, number));
		if (given(run, OPTION_JSON))
			emit_document(record);
		else
			write_reason(&file, &decision.jobs[number], number, record);
		json_decref(record);
		code = waits(&decision.jobs[number]) ? EXIT_CODE_FAILED : EXIT_CODE_OK;
	}
	jobs_free(&file);
	return code;
}
