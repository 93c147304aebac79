// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the file of sites and training jobs for morphctl jobs */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"
#include "morphctl/jobs/jobs.h"

#define MOST_NS ((uint64_t)INT64_MAX)
#define MOST_PORTS 65535u
#define MOST_RANK 65535u
#define MOST_MBPS ((uint64_t)1 << 24)
#define KNOWN                                                                         \
	"bandwidth-mbps,dark-ns,now-ns,changed-ns,gap-ns,age-ns,slot-ns,dark-fabric," \
	"all-slots,sites,circuits,limits,jobs"
#define KNOWN_SITE "sites-count,rank,ports-count,slots-count,aggregators-count,aggregator-mbps"
#define KNOWN_JOB "name,arrival-ns,compute-ns,push-bytes,iterations-count,root-site,parts"
#define KNOWN_PART "site,workers-count,left-bytes,circuits-count,slot"

struct reader {
	struct jobs_file *file;
	char where[64]; /* what is being read, and ": " */
};

static enum exit_code refuse(const struct reader *reader, const json_t *value, const char *key,
			     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Name the line of a key, or of the value that lacks it. */
static enum exit_code refuse(const struct reader *reader, const json_t *value, const char *key,
			     const char *format, ...)
{
	const char *path = reader->file->run->argv[0];
	size_t line = document_line(value, key);
	char what[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	if (line)
		return refuse_line(path, line, "%s%s", reader->where, what);
	warn_line("%s: %s%s", path, reader->where, what);
	return EXIT_CODE_USAGE;
}

static enum exit_code check_keys(const struct reader *reader, const json_t *object,
				 const char *known)
{
	char *stray;
	enum exit_code code;

	if (!json_is_object(object))
		return refuse(reader, object, NULL, "must be a mapping with the keys %s", known);
	stray = document_stray_key(object, known, NULL);
	code = stray ? refuse(reader, object, document_stray(object, known), "%s", stray) :
		       EXIT_CODE_OK;
	free(stray);
	return code;
}

/* A number of an object: its key, its range, and its place. */
struct number {
	const char *key;
	uint64_t least, most;
	uint64_t *value;
	bool required;
};

static enum exit_code read_numbers(const struct reader *reader, const json_t *object,
				   const struct number *list, size_t count)
{
	for (size_t at = 0; at < count; at++) {
		const struct number *it = &list[at];
		bool there = json_object_get(object, it->key);

		if (!there && !it->required)
			continue;
		if (!there || !document_number(object, it->key, it->most, it->value) ||
		    *it->value < it->least)
			return refuse(reader, object, it->key,
				      "'%s' must be a number, %llu to %llu", it->key,
				      (unsigned long long)it->least, (unsigned long long)it->most);
	}
	return EXIT_CODE_OK;
}

#define READ_NUMBERS(reader, object, list) \
	read_numbers(reader, object, list, sizeof(list) / sizeof((list)[0]))

static enum exit_code read_flag(const struct reader *reader, const json_t *object, const char *key,
				bool *value)
{
	const json_t *it = json_object_get(object, key);

	if (it && !json_is_boolean(it))
		return refuse(reader, object, key, "'%s' must be true or false", key);
	*value = json_is_true(it);
	return EXIT_CODE_OK;
}

/* A list of the document; an absent list is empty. */
static enum exit_code read_list(const struct reader *reader, const json_t *object, const char *key,
				json_t **list)
{
	*list = json_object_get(object, key);
	if (*list && !json_is_array(*list))
		return refuse(reader, object, key, "'%s' must be a list", key);
	return EXIT_CODE_OK;
}

void *jobs_append(void *list, uint32_t count, size_t size)
{
	return needed(reallocarray(list, count + 1UL, size));
}

/* ----------------------------------------------------------------- sites and circuits */

/* @rank: the rank of the new site; MORPH_ANY: none */
static enum exit_code add_rank(const struct reader *reader, const json_t *it, uint64_t rank)
{
	struct jobs_file *file = reader->file;
	uint32_t count = file->problem.site_count;

	for (uint32_t at = 0; rank < MORPH_ANY && at < count; at++)
		if (file->ranks[at] == rank)
			return refuse(reader, it, "rank", "rank %u is site %u already",
				      (uint32_t)rank, at);
	file->ranks = jobs_append(file->ranks, count, sizeof(*file->ranks));
	file->ranks[count] = (uint32_t)rank;
	return EXIT_CODE_OK;
}

static enum exit_code read_site(const struct reader *reader, const json_t *it)
{
	struct jobs_file *file = reader->file;
	struct morph_jobs_problem *problem = &file->problem;
	uint64_t count = 1, rank = MORPH_ANY, ports = 0, slots = 0, aggregators = 0, mbps = 0;
	const struct number numbers[] = {
		{ "sites-count", 1, JOBS_MOST_SITES, &count, false },
		{ "rank", 0, MOST_RANK, &rank, false },
		{ "ports-count", 0, MOST_PORTS, &ports, true },
		{ "slots-count", 0, UINT32_MAX, &slots, false },
		{ "aggregators-count", 0, UINT32_MAX, &aggregators, false },
		{ "aggregator-mbps", 0, MOST_MBPS, &mbps, false },
	};
	enum exit_code code = check_keys(reader, it, KNOWN_SITE);

	if (!code)
		code = READ_NUMBERS(reader, it, numbers);
	if (code)
		return code;
	if (count > JOBS_MOST_SITES - problem->site_count)
		return refuse(reader, it, "sites-count", "too many sites: %llu (at most %u)",
			      (unsigned long long)count + problem->site_count, JOBS_MOST_SITES);
	for (uint64_t at = 0; at < count && !code; at++) {
		code = add_rank(reader, it, rank == MORPH_ANY ? MORPH_ANY : rank + at);
		file->sites = jobs_append(file->sites, problem->site_count, sizeof(*file->sites));
		file->sites[problem->site_count++] = (struct morph_jobs_site){
			.ports = (uint32_t)ports,
			.slots = (uint32_t)slots,
			.aggregators = (uint32_t)aggregators,
			.nic_bps = mbps * 1000000,
		};
	}
	return code;
}

static enum exit_code read_sites(struct reader *reader)
{
	enum exit_code code;
	json_t *list, *it;
	size_t i;

	code = read_list(reader, reader->file->document, "sites", &list);
	if (!code && !json_array_size(list))
		code = refuse(reader, reader->file->document, "sites",
			      "requires a list 'sites' with at least one entry");
	json_array_foreach(list, i, it)
	{
		if (code)
			return code;
		snprintf(reader->where, sizeof(reader->where), "entry %zu of 'sites': ", i);
		code = read_site(reader, it);
	}
	reader->where[0] = '\0';
	return code;
}

/* Read a list of pairs of sites, with a number each. */
static enum exit_code read_pairs(struct reader *reader, const char *key, const char *amount,
				 struct morph_jobs_pair **pairs, uint32_t *count)
{
	uint64_t one = 0, other = 0, circuits = 0;
	uint64_t last = reader->file->problem.site_count - 1;
	const struct number numbers[] = {
		{ "a-site", 0, last, &one, true },
		{ "b-site", 0, last, &other, true },
		{ amount, 0, MOST_PORTS, &circuits, true },
	};
	char known[64];
	enum exit_code code;
	json_t *list, *it;
	size_t i;

	snprintf(known, sizeof(known), "a-site,b-site,%s", amount);
	code = read_list(reader, reader->file->document, key, &list);
	json_array_foreach(list, i, it)
	{
		if (code)
			return code;
		snprintf(reader->where, sizeof(reader->where), "entry %zu of '%s': ", i, key);
		code = check_keys(reader, it, known);
		if (!code)
			code = READ_NUMBERS(reader, it, numbers);
		*pairs = jobs_append(*pairs, *count, sizeof(**pairs));
		(*pairs)[(*count)++] = (struct morph_jobs_pair){
			.one = (uint32_t)one,
			.other = (uint32_t)other,
			.circuits = (uint32_t)circuits,
		};
	}
	reader->where[0] = '\0';
	return code;
}

/* ----------------------------------------------------------------- jobs */

bool jobs_complete(struct jobs_file *file, bool has_root)
{
	struct morph_job *job = &file->jobs[file->problem.job_count - 1];
	uint32_t most = 0;

	if (job->bytes && job->iterations > JOBS_MOST_BYTES / 2 / job->bytes)
		return false;
	for (uint32_t at = job->first; at < job->first + job->parts; at++) {
		struct morph_jobs_part *part = &file->parts[at];

		if (part->left == UINT64_MAX)
			part->left = 2 * job->bytes * job->iterations;
		if (has_root || part->workers <= most)
			continue;
		most = part->workers;
		job->root = part->site;
	}
	return true;
}

static enum exit_code read_part(const struct reader *reader, const json_t *it)
{
	struct jobs_file *file = reader->file;
	uint64_t site = 0, workers = 0, left = UINT64_MAX, circuits = 0;
	const struct number numbers[] = {
		{ "site", 0, file->problem.site_count - 1, &site, true },
		{ "workers-count", 1, JOBS_MOST_WORKERS, &workers, true },
		{ "left-bytes", 0, JOBS_MOST_BYTES, &left, false },
		{ "circuits-count", 0, MOST_PORTS, &circuits, false },
	};
	enum exit_code code = check_keys(reader, it, KNOWN_PART);
	bool slot = false;

	if (!code)
		code = READ_NUMBERS(reader, it, numbers);
	if (!code)
		code = read_flag(reader, it, "slot", &slot);
	if (code)
		return code;
	if (file->problem.part_count == JOBS_MOST_PARTS)
		return refuse(reader, it, NULL, "too many parts (at most %u)", JOBS_MOST_PARTS);
	file->parts = jobs_append(file->parts, file->problem.part_count, sizeof(*file->parts));
	file->parts[file->problem.part_count++] = (struct morph_jobs_part){
		.site = (uint32_t)site,
		.workers = (uint32_t)workers,
		.left = left,
		.circuits = (uint32_t)circuits,
		.slot = slot,
	};
	return EXIT_CODE_OK;
}

static enum exit_code read_parts(struct reader *reader, const json_t *it, struct morph_job *job)
{
	uint32_t number = reader->file->problem.job_count;
	enum exit_code code;
	json_t *list, *part;
	size_t i;

	code = read_list(reader, it, "parts", &list);
	if (!code && !json_array_size(list))
		code = refuse(reader, it, "parts",
			      "requires a list 'parts' with at least one entry");
	json_array_foreach(list, i, part)
	{
		if (code)
			return code;
		snprintf(reader->where, sizeof(reader->where), "job %u: part %zu: ", number, i);
		code = read_part(reader, part);
		job->parts++;
	}
	snprintf(reader->where, sizeof(reader->where), "job %u: ", number);
	return code;
}

static enum exit_code read_job(struct reader *reader, const json_t *it)
{
	struct jobs_file *file = reader->file;
	uint32_t number = file->problem.job_count;
	struct morph_job job = { .first = file->problem.part_count };
	uint64_t iterations = 0, root = 0;
	const struct number numbers[] = {
		{ "arrival-ns", 0, MOST_NS, &job.arrival_ns, false },
		{ "compute-ns", 0, MOST_NS, &job.compute_ns, false },
		{ "push-bytes", 0, JOBS_MOST_BYTES, &job.bytes, true },
		{ "iterations-count", 0, UINT32_MAX, &iterations, true },
		{ "root-site", 0, file->problem.site_count - 1, &root, false },
	};
	const json_t *name = json_object_get(it, "name");
	enum exit_code code;

	snprintf(reader->where, sizeof(reader->where), "job %u: ", number);
	code = check_keys(reader, it, KNOWN_JOB);
	if (!code && name && !json_is_string(name))
		code = refuse(reader, it, "name", "'name' must be a word");
	if (!code)
		code = READ_NUMBERS(reader, it, numbers);
	if (!code)
		code = read_parts(reader, it, &job);
	if (code)
		return code;
	if (number == JOBS_MOST_JOBS)
		return refuse(reader, it, NULL, "too many jobs (at most %u)", JOBS_MOST_JOBS);
	job.iterations = (uint32_t)iterations;
	job.root = (uint32_t)root;
	file->jobs = jobs_append(file->jobs, number, sizeof(*file->jobs));
	file->names = jobs_append(file->names, number, sizeof(*file->names));
	file->jobs[number] = job;
	file->names[number] = json_string_value(name);
	file->problem.job_count++;
	if (!jobs_complete(file, json_object_get(it, "root-site")))
		code = refuse(reader, it, "iterations-count",
			      "more than 2^62 bytes in all iterations");
	return code;
}

/* ----------------------------------------------------------------- the whole file */

static enum exit_code read_conditions(const struct reader *reader)
{
	struct jobs_file *file = reader->file;
	struct morph_jobs_problem *problem = &file->problem;
	uint64_t mbps = 0;
	const struct number numbers[] = {
		{ "bandwidth-mbps", 1, MOST_MBPS, &mbps, true },
		{ "dark-ns", 0, MOST_NS, &problem->dark_ns, false },
		{ "now-ns", 0, MOST_NS, &problem->now_ns, false },
		{ "changed-ns", 0, MOST_NS, &problem->changed_ns, false },
		{ "gap-ns", 0, MOST_NS, &file->opts.gap_ns, false },
		{ "age-ns", 0, MOST_NS, &file->opts.age_ns, false },
		{ "slot-ns", 1, MOST_NS, &file->opts.slot_ns, false },
	};
	enum exit_code code = check_keys(reader, file->document, KNOWN);
	bool fabric = false, all = false;

	if (!code)
		code = READ_NUMBERS(reader, file->document, numbers);
	if (!code)
		code = read_flag(reader, file->document, "dark-fabric", &fabric);
	if (!code)
		code = read_flag(reader, file->document, "all-slots", &all);
	problem->circuit_bps = mbps * 1000000;
	file->opts.flags = (fabric ? MORPH_JOBS_DARK_FABRIC : 0) | (all ? MORPH_JOBS_ALL_SLOTS : 0);
	return code;
}

static enum exit_code read_document(struct jobs_file *file)
{
	struct reader reader = { .file = file };
	struct morph_jobs_problem *problem = &file->problem;
	enum exit_code code = read_conditions(&reader);
	json_t *list = NULL, *it;
	size_t i;

	if (!code)
		code = read_sites(&reader);
	if (!code)
		code = read_pairs(&reader, "circuits", "circuits-count", &file->lit,
				  &problem->lit_count);
	if (!code)
		code = read_pairs(&reader, "limits", "circuits-limit", &file->most,
				  &problem->most_count);
	if (!code)
		code = read_list(&reader, file->document, "jobs", &list);
	json_array_foreach(list, i, it)
	{
		if (code)
			return code;
		code = read_job(&reader, it);
	}
	return code;
}

enum exit_code jobs_read(struct run *run, struct jobs_file *file)
{
	struct morph_jobs_problem *problem = &file->problem;
	enum exit_code code;

	*file = (struct jobs_file){
		.run = run,
		.problem.sz = sizeof(*problem),
		.opts = { .sz = sizeof(file->opts), .policy = MORPH_JOBS_AUTO },
	};
	if (!option_word(run, OPTION_JOBS_POLICY, &file->opts.policy))
		return EXIT_CODE_USAGE;
	code = client_open(run);
	if (!code)
		code = document_read(run->argv[0], &file->document);
	if (!code)
		code = read_document(file);
	if (!code && given(run, OPTION_TRACE))
		code = jobs_read_trace(file, run->option[OPTION_TRACE]);
	if (!code && !problem->job_count)
		code = refuse_file(run->argv[0], "requires a list 'jobs', or --trace");
	problem->sites = file->sites;
	problem->jobs = file->jobs;
	problem->parts = file->parts;
	problem->lit = file->lit;
	problem->most = file->most;
	if (!code)
		file->planner = needed(morph_jobs_new(run->client->ctx));
	return code;
}

void jobs_free(struct jobs_file *file)
{
	morph_jobs_free(file->planner);
	free(file->sites);
	free(file->jobs);
	free(file->believed);
	free(file->names);
	free(file->ranks);
	free(file->parts);
	free(file->lit);
	free(file->most);
	json_decref(file->document);
}
