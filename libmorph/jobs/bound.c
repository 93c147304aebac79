// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lower bounds for all policies.
 *
 * Each part has a slot in these bounds if its site has slots at all.
 *
 * - Last end, of a site: for each time t, all bytes of jobs that arrive from t on pass the ports of
 *   the site after t.
 * - Last end, of a job: its arrival, and its slowest flow with all ports of its sites.
 * - Mean: each job counts at its root only, where its bytes pass all ports. Shortest remaining
 *   processing time first has the least mean on one machine (Schrage, Operations Research 16,
 *   1968).
 *
 * O(jobs log(jobs) + parts).
 */
#include "../util/heap.h"
#include "jobs.h"

/* Bytes that a part moves at least. */
static uint64_t least_of(const struct morph_jobs *jobs, const struct morph_job *job,
			 const struct morph_jobs_part *part)
{
	bool slot = part->slot || jobs->problem.sites[part->site].slots;

	return lm_jobs_flows(job, part) ? part->left * (slot ? 1 : part->workers) : 0;
}

static uint64_t ports_bps(const struct morph_jobs *jobs, uint32_t site)
{
	return jobs->problem.sites[site].ports * jobs->problem.circuit_bps;
}

/* Raise @time to the least time for @bytes over the ports of a site, rounded down. */
static void raise(const struct morph_jobs *jobs, uint32_t site, uint64_t bytes, uint64_t *time)
{
	uint64_t bps = ports_bps(jobs, site);
	jobs_wide bits = (jobs_wide)bytes * JOBS_BITS;

	/* A multiplication is faster than the division, which is seldom necessary. */
	if (bps && bits > (jobs_wide)*time * bps)
		*time = bits / bps < UINT64_MAX ? (uint64_t)(bits / bps) : UINT64_MAX;
}

static uint64_t arrival_of(const struct morph_jobs *jobs, const struct morph_job *job)
{
	return job->arrival_ns > jobs->problem.now_ns ? job->arrival_ns : jobs->problem.now_ns;
}

/* The least time of a job that has all ports alone. */
static uint64_t alone(const struct morph_jobs *jobs, const struct morph_job *job)
{
	uint64_t longest = 0, sum = 0;

	for (uint32_t at = job->first; at < job->first + job->parts; at++) {
		const struct morph_jobs_part *part = &jobs->problem.parts[at];
		uint64_t bytes = least_of(jobs, job, part), time = 0;

		sum += bytes;
		raise(jobs, part->site, bytes, &time);
		raise(jobs, job->root, bytes, &time);
		time = lm_sum(time, lm_jobs_compute(job, part->left));
		longest = time > longest ? time : longest;
	}
	raise(jobs, job->root, sum, &longest);
	return longest;
}

uint64_t lm_jobs_bound(struct morph_jobs *jobs, uint64_t until)
{
	uint64_t bound = 0, *volumes = jobs->volumes.list;

	memset(volumes, 0, jobs->sites.count * sizeof(*volumes));
	for (uint32_t at = jobs->arrivals.count; at--;) {
		const struct morph_job *job = lm_job(jobs, jobs->arrivals.list[at]);
		uint64_t arrival = arrival_of(jobs, job), time;

		if (job->arrival_ns > until)
			continue;
		time = alone(jobs, job);
		time = bound > arrival && bound - arrival > time ? bound - arrival : time;
		for (uint32_t part = job->first; part < job->first + job->parts; part++) {
			uint32_t sites[] = { job->root, jobs->problem.parts[part].site };

			for (uint32_t side = 0; side < 2; side++) {
				volumes[sites[side]] +=
					least_of(jobs, job, &jobs->problem.parts[part]);
				raise(jobs, sites[side], volumes[sites[side]], &time);
			}
		}
		bound = lm_sum(arrival, time);
	}
	return bound;
}

/* Work left at a root, by job; a heap has the least first. */
struct queue {
	const uint64_t *left;
	uint32_t *heap;
	uint32_t count, held;
};

static uint32_t job_at(const struct queue *queue, size_t place)
{
	return place == HEAP_HELD ? queue->held : queue->heap[place];
}

static bool before(const void *context, size_t one, size_t other)
{
	const struct queue *queue = context;
	uint32_t first = job_at(queue, one), second = job_at(queue, other);

	return queue->left[first] != queue->left[second] ?
		       queue->left[first] < queue->left[second] :
		       first < second;
}

static void move(void *context, size_t to, size_t from)
{
	struct queue *queue = context;
	uint32_t job = job_at(queue, from);

	if (to == HEAP_HELD)
		queue->held = job;
	else
		queue->heap[to] = job;
}

/* Work from @now until @until, least work first. Return the sum of the ends, or UINT64_MAX. */
static uint64_t work(struct queue *queue, uint64_t *left, uint64_t now, uint64_t until)
{
	uint64_t sum = 0;

	while (queue->count && now < until) {
		uint64_t *next = &left[queue->heap[0]];
		uint64_t time = *next < until - now ? *next : until - now;

		now += time;
		*next -= time;
		if (*next)
			break;
		sum = lm_sum(sum, now);
		queue->heap[0] = queue->heap[--queue->count];
		if (queue->count)
			heap_sink(queue, 0, queue->count, before, move);
	}
	return sum;
}

/* Sum of the ends of the jobs with root @root; @left has their least work. */
static uint64_t sum_ends(struct morph_jobs *jobs, uint32_t root, uint64_t *left)
{
	struct queue queue = { .left = left, .heap = jobs->heap.list };
	uint64_t sum = 0, now = 0;

	for (uint32_t at = 0; at < jobs->arrivals.count; at++) {
		uint32_t number = jobs->arrivals.list[at];
		const struct morph_job *job = lm_job(jobs, number);

		if (job->root != root)
			continue;
		sum = lm_sum(sum, work(&queue, left, now, arrival_of(jobs, job)));
		now = arrival_of(jobs, job);
		queue.heap[queue.count++] = number;
		heap_raise(&queue, queue.count - 1, before, move);
	}
	return lm_sum(sum, work(&queue, left, now, UINT64_MAX));
}

uint64_t lm_jobs_mean_bound(struct morph_jobs *jobs)
{
	uint64_t *left = jobs->volumes.list, ends = 0, least = 0, arrivals = 0;

	for (uint32_t number = 0; number < jobs->problem.job_count; number++) {
		const struct morph_job *job = lm_job(jobs, number);
		uint64_t bytes = 0;

		for (uint32_t part = job->first; part < job->first + job->parts; part++)
			bytes += least_of(jobs, job, &jobs->problem.parts[part]);
		left[number] = 0;
		raise(jobs, job->root, bytes, &left[number]);
		arrivals = lm_sum(arrivals, job->arrival_ns);
		least = lm_sum(least, lm_sum(arrival_of(jobs, job), alone(jobs, job)));
	}
	for (uint32_t site = 0; site < jobs->sites.count; site++)
		ends = lm_sum(ends, sum_ends(jobs, site, left));
	ends = ends > least ? ends : least;
	return jobs->problem.job_count ? (ends - arrivals) / jobs->problem.job_count : 0;
}
