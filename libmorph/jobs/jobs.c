// SPDX-License-Identifier: LGPL-2.1-or-later
/* Jobs: objects, the checks of a problem, and its state. */
#include "../util/sort.h"
#include "jobs.h"

#define MOST_SITES 4096
#define MOST_PORTS 65535 /* and slots and aggregators of a site */
#define MOST_JOBS (1U << 20)
#define MOST_PARTS (1U << 22)
#define MOST_WORKERS 65536 /* of a part */
#define MOST_BPS (1ULL << 44)
#define MOST_TIME (1ULL << 60)
#define MOST_BYTES (1ULL << 40) /* of a push */

MORPH_API struct morph_jobs *morph_jobs_new(struct morph_ctx *ctx)
{
	struct morph_jobs *jobs = calloc(1, sizeof(*jobs));

	if (!jobs) {
		lm_no_memory(ctx, "create an object for jobs");
		return NULL;
	}
	jobs->ctx = ctx;
	return jobs;
}

MORPH_API void morph_jobs_free(struct morph_jobs *jobs)
{
	if (!jobs)
		return;
	free(jobs->jobs.list);
	free(jobs->answers.list);
	free(jobs->parts.list);
	free(jobs->decided.list);
	free(jobs->sites.list);
	free(jobs->pairs.list);
	free(jobs->map.list);
	free(jobs->used.list);
	free(jobs->active.list);
	free(jobs->ranks.list);
	free(jobs->flows.list);
	free(jobs->numbers.list);
	free(jobs->by_pair.list);
	free(jobs->candidates.list);
	free(jobs->resources.list);
	free(jobs->heap.list);
	free(jobs->sums.list);
	free(jobs->members.list);
	free(jobs->sizes.list);
	free(jobs->open.list);
	free(jobs->components.list);
	free(jobs->turns.list);
	free(jobs->taken.list);
	free(jobs->volumes.list);
	free(jobs->arrivals.list);
	free(jobs->set.list);
	free(jobs->clear.list);
	free(jobs->ends.list);
	free(jobs->lefts.list);
	free(jobs);
}

/* ------------------------------------------------------------ checks */

static int check_sites(const struct morph_jobs *jobs)
{
	const struct morph_jobs_problem *problem = &jobs->problem;

	if (problem->site_count > MOST_SITES)
		return lm_fail(jobs->ctx, EINVAL, "%u sites: at most %u", problem->site_count,
			       MOST_SITES);
	for (uint32_t at = 0; at < problem->site_count; at++) {
		const struct morph_jobs_site *site = &problem->sites[at];

		if (site->ports > MOST_PORTS || site->slots > MOST_PORTS ||
		    site->aggregators > MOST_PORTS || site->nic_bps > MOST_BPS)
			return lm_fail(
				jobs->ctx, EINVAL,
				"site %u: ports, slots or aggregators above %u, or interface above %llu bit/s",
				at, MOST_PORTS, MOST_BPS);
	}
	return 0;
}

/* @seen has the last job with a part at each site, plus 1. */
static int check_parts(struct morph_jobs *jobs, uint32_t number, uint32_t *seen, uint64_t *volume)
{
	const struct morph_job *job = lm_job(jobs, number);

	for (uint32_t at = job->first; at < job->first + job->parts; at++) {
		const struct morph_jobs_part *part = &jobs->problem.parts[at];

		if (part->site >= jobs->problem.site_count || seen[part->site] == number + 1)
			return lm_fail(jobs->ctx, EINVAL,
				       "job %u: site %u occurs twice or does not exist", number,
				       part->site);
		seen[part->site] = number + 1;
		if (!part->workers || part->workers > MOST_WORKERS ||
		    part->left > 2 * (jobs_wide)job->bytes * job->iterations)
			return lm_fail(
				jobs->ctx, EINVAL,
				"job %u, site %u: 1 to %u workers, at most the bytes of all iterations",
				number, part->site, MOST_WORKERS);
		if ((jobs_wide)*volume + (jobs_wide)part->left * part->workers > JOBS_VOLUME)
			return lm_fail(jobs->ctx, ERANGE, "job %u: more than 2^62 bytes", number);
		*volume += part->left * part->workers;
	}
	return 0;
}

bool lm_jobs_check_numbers(const struct morph_job *job)
{
	return job->bytes > MOST_BYTES || job->arrival_ns > MOST_TIME ||
	       job->compute_ns > MOST_TIME;
}

static int check_jobs(struct morph_jobs *jobs)
{
	const struct morph_jobs_problem *problem = &jobs->problem;
	uint32_t first = 0, *seen = jobs->heap.list;
	uint64_t volume = 0;
	int err;

	memset(seen, 0, problem->site_count * sizeof(*seen));
	for (uint32_t at = 0; at < problem->job_count; at++) {
		const struct morph_job *job = lm_job(jobs, at);

		if (job->first != first || job->parts > problem->part_count - first)
			return lm_fail(jobs->ctx, EINVAL,
				       "job %u: its parts begin at %u of %u, not at %u", at, first,
				       problem->part_count, job->first);
		first += job->parts;
		if (job->root >= problem->site_count || lm_jobs_check_numbers(job))
			return lm_fail(
				jobs->ctx, EINVAL,
				"job %u: no site %u, or bytes, arrival or computation are out of range",
				at, job->root);
		err = check_parts(jobs, at, seen, &volume);
		if (err)
			return err;
	}
	if (first != problem->part_count)
		return lm_fail(jobs->ctx, EINVAL, "part %u belongs to no job", first);
	return 0;
}

static int check_numbers(const struct morph_jobs *jobs)
{
	const struct morph_jobs_problem *problem = &jobs->problem;

	if (!problem->circuit_bps || problem->circuit_bps > MOST_BPS)
		return lm_fail(jobs->ctx, EINVAL, "a circuit has 1 to %llu bit/s, not %llu",
			       MOST_BPS, (unsigned long long)problem->circuit_bps);
	if (problem->job_count > MOST_JOBS || problem->part_count > MOST_PARTS)
		return lm_fail(jobs->ctx, EINVAL, "%u jobs and %u parts: at most %u and %u",
			       problem->job_count, problem->part_count, MOST_JOBS, MOST_PARTS);
	if (problem->now_ns > MOST_TIME || problem->dark_ns > MOST_TIME ||
	    problem->changed_ns > problem->now_ns || jobs->opts.gap_ns > MOST_TIME ||
	    jobs->opts.slot_ns > MOST_TIME)
		return lm_fail(jobs->ctx, EINVAL, "a time is above 2^60 ns or after the present");
	return 0;
}

/* ------------------------------------------------------------ pairs */

static uint32_t *place_of(const struct morph_jobs *jobs, uint32_t one, uint32_t other)
{
	size_t high = one > other ? one : other, low = one > other ? other : one;

	return &jobs->map.list[high * (high - 1) / 2 + low];
}

uint32_t lm_jobs_find_pair(const struct morph_jobs *jobs, uint32_t one, uint32_t other)
{
	return *place_of(jobs, one, other);
}

static struct jobs_pair *add_pair(struct morph_jobs *jobs, uint32_t one, uint32_t other)
{
	uint32_t *place = place_of(jobs, one, other);

	if (*place == JOBS_NONE) {
		*place = jobs->pairs.count++;
		jobs->pairs.list[*place] = (struct jobs_pair){
			.one = one < other ? one : other,
			.other = one < other ? other : one,
			.most = MOST_PORTS,
		};
	}
	return &jobs->pairs.list[*place];
}

/* Read the limits of pairs, or their lit circuits. */
static int add_pairs(struct morph_jobs *jobs, const struct morph_jobs_pair *list, uint32_t count,
		     bool lit)
{
	for (uint32_t at = 0; at < count; at++) {
		const struct morph_jobs_pair *it = &list[at];
		struct jobs_pair *pair;

		if (it->one >= jobs->problem.site_count || it->other >= jobs->problem.site_count ||
		    it->one == it->other)
			return lm_fail(jobs->ctx, EINVAL, "no pair of sites %u and %u", it->one,
				       it->other);
		pair = add_pair(jobs, it->one, it->other);
		if (lit ? pair->lit : pair->most != MOST_PORTS)
			return lm_fail(jobs->ctx, EINVAL, "sites %u and %u occur twice", it->one,
				       it->other);
		if (lit)
			pair->lit = it->circuits;
		else
			pair->most = it->circuits < MOST_PORTS ? it->circuits : MOST_PORTS - 1;
	}
	return 0;
}

/* Count the ports of lit circuits and of those that jobs hold, and the slots that they hold. */
static int check_used(struct morph_jobs *jobs)
{
	uint64_t *lit = jobs->volumes.list, *held = lit + jobs->sites.count;
	uint64_t *slots = held + jobs->sites.count;

	memset(lit, 0, 3 * jobs->sites.count * sizeof(*lit));
	for (uint32_t at = 0; at < jobs->pairs.count; at++) {
		lit[jobs->pairs.list[at].one] += jobs->pairs.list[at].lit;
		lit[jobs->pairs.list[at].other] += jobs->pairs.list[at].lit;
	}
	for (uint32_t number = 0; number < jobs->problem.job_count; number++) {
		const struct morph_job *job = lm_job(jobs, number);

		for (uint32_t at = job->first; at < job->first + job->parts; at++) {
			const struct morph_jobs_part *part = &jobs->problem.parts[at];

			slots[part->site] += part->slot;
			if (part->site == job->root)
				continue;
			held[part->site] += part->circuits;
			held[job->root] += part->circuits;
		}
	}
	for (uint32_t at = 0; at < jobs->sites.count; at++) {
		const struct morph_jobs_site *site = &jobs->problem.sites[at];

		if (lit[at] > site->ports || held[at] > site->ports || slots[at] > site->slots)
			return lm_fail(
				jobs->ctx, EINVAL,
				"site %u: lit or held circuits exceed %u ports, or held slots exceed %u",
				at, site->ports, site->slots);
	}
	return 0;
}

/* ------------------------------------------------------------ memory */

#define ROOM(jobs, array, entries) \
	((array).count = 0, ARRAY_GROW((jobs)->ctx, array, entries, "decide about jobs"))

static int make_map(struct morph_jobs *jobs, uint32_t sites)
{
	size_t entries = (size_t)sites * (sites ? sites - 1 : 0) / 2;

	for (uint32_t at = 0; at < jobs->pairs.count; at++)
		*place_of(jobs, jobs->pairs.list[at].one, jobs->pairs.list[at].other) = JOBS_NONE;
	jobs->pairs.count = 0;
	if (jobs->map.count >= entries)
		return 0;
	if (ARRAY_GROW(jobs->ctx, jobs->map, (uint32_t)entries - jobs->map.count,
		       "decide about jobs"))
		return -ENOMEM;
	for (size_t at = jobs->map.count; at < entries; at++)
		jobs->map.list[at] = JOBS_NONE;
	jobs->map.count = (uint32_t)entries;
	return 0;
}

static int make_room(struct morph_jobs *jobs)
{
	const struct morph_jobs_problem *problem = &jobs->problem;
	uint32_t sites = problem->site_count, count = problem->job_count;
	uint32_t parts = problem->part_count;
	uint64_t all = (uint64_t)parts + problem->lit_count + problem->most_count;
	uint32_t pairs, most = parts > count ? parts : count;

	if (problem->lit_count > MOST_PARTS || problem->most_count > MOST_PARTS)
		return lm_fail(jobs->ctx, EINVAL, "more than %u pairs of sites", MOST_PARTS);
	pairs = (uint32_t)all;
	if (make_map(jobs, sites) || ROOM(jobs, jobs->pairs, pairs) ||
	    ROOM(jobs, jobs->jobs, count) || ROOM(jobs, jobs->answers, count) ||
	    ROOM(jobs, jobs->parts, parts) || ROOM(jobs, jobs->decided, parts) ||
	    ROOM(jobs, jobs->sites, sites) || ROOM(jobs, jobs->used, pairs) ||
	    ROOM(jobs, jobs->active, count) || ROOM(jobs, jobs->ranks, count) ||
	    ROOM(jobs, jobs->flows, parts) || ROOM(jobs, jobs->by_pair, most) ||
	    ROOM(jobs, jobs->numbers, parts) || ROOM(jobs, jobs->candidates, most) ||
	    ROOM(jobs, jobs->resources, pairs + count) ||
	    ROOM(jobs, jobs->heap, pairs + count + sites + 1) ||
	    ROOM(jobs, jobs->sums, count + 1) || ROOM(jobs, jobs->members, count) ||
	    ROOM(jobs, jobs->taken, count) || ROOM(jobs, jobs->sizes, parts) ||
	    ROOM(jobs, jobs->open, pairs) ||
	    ROOM(jobs, jobs->components, pairs > sites ? pairs : sites) ||
	    ROOM(jobs, jobs->turns, pairs) ||
	    ROOM(jobs, jobs->volumes, pairs + 2 * count + 3 * sites) ||
	    ROOM(jobs, jobs->arrivals, count) || ROOM(jobs, jobs->set, pairs) ||
	    ROOM(jobs, jobs->clear, pairs) || ROOM(jobs, jobs->ends, count) ||
	    ROOM(jobs, jobs->lefts, jobs->opts.believed ? parts : 0))
		return -ENOMEM;
	return 0;
}

static int order_arrival(const void *one, const void *other, void *context)
{
	uint32_t first = *(const uint32_t *)one, second = *(const uint32_t *)other;
	const struct morph_jobs *jobs = context;
	uint64_t mine = lm_job(jobs, first)->arrival_ns, its = lm_job(jobs, second)->arrival_ns;

	if (mine != its)
		return mine < its ? -1 : 1;
	return first < second ? -1 : first > second;
}

static void copy_state(struct morph_jobs *jobs)
{
	const struct morph_jobs_problem *problem = &jobs->problem;

	jobs->sites.count = problem->site_count;
	jobs->jobs.count = jobs->answers.count = jobs->ends.count = problem->job_count;
	jobs->parts.count = jobs->decided.count = problem->part_count;
	for (uint32_t at = 0; at < problem->part_count; at++)
		jobs->numbers.list[at] = at;
	if (problem->part_count)
		memcpy(jobs->parts.list, problem->parts,
		       problem->part_count * sizeof(*problem->parts));
	for (uint32_t number = 0; number < problem->job_count; number++) {
		const struct morph_job *job = lm_job(jobs, number);

		jobs->arrivals.list[jobs->arrivals.count++] = number;
		for (uint32_t at = job->first; at < job->first + job->parts; at++) {
			const struct morph_jobs_part *part = &jobs->parts.list[at];

			if (part->site != job->root && (part->left || part->circuits))
				add_pair(jobs, part->site, job->root);
		}
	}
	lm_sort(jobs->arrivals.list, jobs->arrivals.count, sizeof(*jobs->arrivals.list),
		order_arrival, jobs);
	jobs->now = problem->now_ns;
	jobs->changed = problem->changed_ns;
	jobs->light = 0;
}

static int load_opts(struct morph_jobs *jobs, const struct morph_jobs_opts *opts)
{
	const struct morph_jobs_rules *rules;
	int err = lm_opts_check(jobs->ctx, opts, sizeof(*opts), "morph_jobs_opts");

	if (err)
		return err;
	lm_opts_copy(&jobs->opts, opts, sizeof(jobs->opts));
	if (!jobs->opts.slot_ns)
		jobs->opts.slot_ns = 1000000000;
	rules = jobs->opts.rules ? jobs->opts.rules : lm_jobs_rules(jobs->opts.policy);
	if (!rules)
		return lm_fail(jobs->ctx, EINVAL, "no policy %u", jobs->opts.policy);
	jobs->rules = *rules;
	return 0;
}

int lm_jobs_load(struct morph_jobs *jobs, const struct morph_jobs_problem *problem,
		 const struct morph_jobs_opts *opts)
{
	int err = lm_opts_check(jobs->ctx, problem, sizeof(*problem), "morph_jobs_problem");

	if (!err)
		err = load_opts(jobs, opts);
	if (err)
		return err;
	lm_opts_copy(&jobs->problem, problem, sizeof(jobs->problem));
	err = check_numbers(jobs);
	if (!err)
		err = check_sites(jobs);
	if (!err)
		err = make_room(jobs);
	if (!err)
		err = check_jobs(jobs);
	if (!err && jobs->opts.believed)
		err = lm_jobs_check_beliefs(jobs);
	if (err)
		return err;
	jobs->truth = jobs->problem.jobs;
	copy_state(jobs);
	err = add_pairs(jobs, jobs->problem.most, jobs->problem.most_count, false);
	if (!err)
		err = add_pairs(jobs, jobs->problem.lit, jobs->problem.lit_count, true);
	return err ? err : check_used(jobs);
}
