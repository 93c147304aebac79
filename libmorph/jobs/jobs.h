/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The working state of decisions about jobs, which their parts share.
 *
 * lm_jobs_load() checks a problem and copies its state. lm_jobs_plan() then decides for the jobs
 * in @active, in this order: order, slots, circuits, aggregators, shares, cohorts. A simulation
 * repeats it with later states. Only lm_jobs_load() allocates.
 */
#ifndef LM_JOBS_JOBS_H
#define LM_JOBS_JOBS_H

#include "../internal/planner.h"
#include "../util/array.h"

#define JOBS_NONE UINT32_MAX
#define JOBS_VOLUME (1ULL << 62) /* most bytes of all jobs */
#define JOBS_BITS 8000000000ULL /* bits of a byte times nanoseconds of a second */

__extension__ typedef unsigned __int128 jobs_wide;

struct jobs_site {
	uint32_t free; /* number of free ports */
	uint32_t slots; /* number of free slots */
	uint32_t aggregators; /* number of free CPU aggregators */
	uint32_t first, room; /* its candidates for slots: the first one, and their number */
	uint32_t count; /* number of candidates that have a slot so far */

	/* For cohorts.c. */
	uint32_t component; /* with rewiring: the lowest site of the component */
	uint32_t usable; /* ports that pairs with a known period leave */
	uint64_t load; /* bytes of an iteration, twice for jobs without a cohort */
	uint32_t kept; /* value of @free before the circuits of turns are chosen */
	uint32_t unused; /* ports without circuits */
};

/* Jobs that have one period, for cohorts.c. By its lowest site or its lowest pair. */
struct jobs_component {
	uint32_t jobs; /* jobs whose flows have circuits */
	uint32_t worst; /* the site or the pair with the longest @least */
	uint64_t least; /* lower bound of the period, from ports or circuits */
	uint64_t turn[2]; /* the longest time of each turn */
	uint64_t period;
	bool rewired; /* circuits change between the turns */
	bool limited; /* a network interface limits a job */
};

struct jobs_pair {
	uint32_t one, other;
	uint32_t lit; /* circuits before the decision */
	uint32_t most; /* largest number of circuits */
	uint32_t circuits;
	uint32_t dark; /* circuits that this decision sets */
	uint32_t first, count; /* flows of this pair, in @by_pair */
	uint64_t demand; /* bytes */
	uint64_t wanted_bps; /* that flows take before filling */
	uint64_t capacity; /* bit/s, now */

	/* For cohorts.c. */
	uint64_t bytes; /* bytes of all flows in an iteration */
	uint64_t time; /* the time that these bytes take */
	uint64_t load; /* bytes of an iteration, twice for jobs without a cohort */
	uint64_t turn[2]; /* bytes of an iteration in each turn */
	uint64_t longest[2]; /* of these: the most bytes of a flow of the cohort; 0: none */
	uint64_t turn_time[2]; /* the time of a turn with a flow of its cohort */
	uint32_t turn_circuits[2];
	uint32_t component;
	bool measured;
	bool settled; /* the period of its component is known */
};

/* A part outside the root that has bytes left. Flows are in the order of the policy. */
struct jobs_flow {
	uint32_t job, part, pair;
	bool fresh; /* its own circuits were set by this decision */
	uint64_t traffic; /* bytes on the circuits */
	uint64_t iteration; /* bytes on the circuits in an iteration; for cohorts.c */
	uint64_t share; /* bit/s */
	uint64_t rate; /* bit/s over a whole iteration, with the time to compute */
};

struct jobs_rank {
	uint64_t young; /* 0: waits longer than the age */
	uint64_t key, arrival;
	uint32_t job;
};

/* A part that may have a slot, and the value of this slot. */
struct jobs_candidate {
	uint64_t value;
	uint32_t part;
};

/* The circuits of a pair, or the network interface of the aggregators of a job. */
struct jobs_resource {
	jobs_wide left; /* that stopped flows do not use, in fractions of a bit/s */
	jobs_wide level; /* known so far, at which it is full */
	uint64_t used; /* bit/s, in order */
	uint32_t rising; /* flows that have not stopped */
};

/* A job that may be in a cohort. */
struct jobs_member {
	uint32_t component, job;
	uint64_t compute, time; /* of an iteration, in nanoseconds */
};

/* Bytes of a flow in an iteration. */
struct jobs_size {
	uint64_t bytes;
	uint32_t flow;
};

/* What lm_jobs_plan() keeps of a job. */
struct jobs_state {
	uint32_t first, flows; /* in @flows */
	uint32_t missing; /* parts that have bytes left */
	uint64_t end; /* last end of its flows */
	uint64_t nic; /* bit/s of its aggregators that no flow uses; UINT64_MAX: unlimited */
	bool started; /* with MORPH_JOBS_HOLD */
	uint32_t cohort; /* 1 or 2; 0: none */
	uint64_t own, shared; /* time of an iteration on circuits: alone, and without cohorts */
};

struct morph_jobs {
	struct morph_ctx *ctx;
	struct morph_jobs_problem problem;
	struct morph_jobs_opts opts;
	struct morph_jobs_rules rules;
	uint64_t now, changed, light; /* times: now, of the last change, of its end */
	bool coupled; /* a network interface limits flows of several pairs */

	/* By job, by part, by site. */
	ARRAY_OF(struct jobs_state) jobs;
	ARRAY_OF(struct morph_jobs_answer) answers;
	ARRAY_OF(struct morph_jobs_part) parts;
	ARRAY_OF(struct morph_jobs_flow) decided;
	ARRAY_OF(struct jobs_site) sites;

	ARRAY_OF(struct jobs_pair) pairs;
	ARRAY_OF(uint32_t) map; /* from two sites to their pair */
	ARRAY_OF(uint32_t) used; /* pairs with flows, in the order of their first flow */

	ARRAY_OF(uint32_t) active; /* jobs that have arrived and have bytes left */
	ARRAY_OF(struct jobs_rank) ranks;
	ARRAY_OF(struct jobs_flow) flows;
	ARRAY_OF(uint32_t) numbers; /* 0, 1, 2 ... */
	ARRAY_OF(uint32_t) by_pair; /* flows, by pair and then in order */
	ARRAY_OF(struct jobs_candidate) candidates;
	ARRAY_OF(struct jobs_resource) resources; /* by pair, then by job */
	ARRAY_OF(uint32_t) heap; /* of circuits.c, shares.c, bound.c; sizes of packing.c */
	ARRAY_OF(jobs_wide) sums; /* of packing.c */
	ARRAY_OF(struct jobs_member) members; /* of cohorts.c */
	ARRAY_OF(struct jobs_size) sizes; /* of cohorts.c, of the flows of a pair */
	ARRAY_OF(uint32_t) open; /* of cohorts.c: used pairs with circuits, without a period */
	ARRAY_OF(struct jobs_component) components; /* of cohorts.c, by site or by pair */
	bool rewires; /* of cohorts.c: components share sites, else pairs */
	ARRAY_OF(struct morph_jobs_turn) turns;
	ARRAY_OF(uint32_t) taken; /* of packing.c */
	ARRAY_OF(uint64_t) volumes; /* of bound.c, by site or job; of cohorts.c, by job */
	ARRAY_OF(uint32_t) arrivals; /* jobs by arrival */
	ARRAY_OF(struct morph_jobs_pair) set;
	ARRAY_OF(struct morph_jobs_pair) clear;
	ARRAY_OF(uint64_t) ends;
	ARRAY_OF(uint64_t) lefts; /* of belief.c, by part: the true bytes left */
	const struct morph_job *truth; /* of belief.c: @problem.jobs of the caller */

	struct morph_jobs_decision decision;
	uint64_t set_circuits, cleared_circuits;
	bool deferred; /* circuits would change if the gap had passed */
};

/* jobs.c: check a problem, copy its state and make room for all decisions. */
int lm_jobs_load(struct morph_jobs *jobs, const struct morph_jobs_problem *problem,
		 const struct morph_jobs_opts *opts);

static inline const struct morph_job *lm_job(const struct morph_jobs *jobs, uint32_t job)
{
	return &jobs->problem.jobs[job];
}

/* Are the numbers of a job out of range? Its sites are not checked. */
bool lm_jobs_check_numbers(const struct morph_job *job);

/* belief.c: the planner's numbers instead of the true ones, if they differ, and back. */
int lm_jobs_check_beliefs(struct morph_jobs *jobs);
void lm_jobs_believe(struct morph_jobs *jobs);
void lm_jobs_see_truth(struct morph_jobs *jobs);

/* The pair of two sites; JOBS_NONE if no flow, circuit or limit has it. */
uint32_t lm_jobs_find_pair(const struct morph_jobs *jobs, uint32_t one, uint32_t other);

/* Bytes that a part moves over its circuits until the end of the job. */
static inline uint64_t lm_jobs_traffic(const struct morph_jobs_part *part)
{
	return part->left * (part->slot ? 1 : part->workers);
}

/* Does the part move bytes over circuits? */
static inline bool lm_jobs_flows(const struct morph_job *job, const struct morph_jobs_part *part)
{
	return part->site != job->root && part->left;
}

/* Nanoseconds that a part computes, with @left bytes left for each worker. */
static inline uint64_t lm_jobs_compute(const struct morph_job *job, uint64_t left)
{
	jobs_wide time;

	if (!job->bytes || !job->compute_ns)
		return 0;
	time = (jobs_wide)left * job->compute_ns / (2 * job->bytes);
	return time < UINT64_MAX ? (uint64_t)time : UINT64_MAX;
}

/* Nanoseconds in which @bytes pass at @bps, rounded up; UINT64_MAX at 0 bit/s. */
static inline uint64_t lm_jobs_time(uint64_t bytes, uint64_t bps)
{
	jobs_wide time;

	if (!bps)
		return UINT64_MAX;
	if (!bytes)
		return 0;
	if (bytes < UINT64_MAX / JOBS_BITS)
		return (bytes * JOBS_BITS - 1) / bps + 1;
	time = ((jobs_wide)bytes * JOBS_BITS + bps - 1) / bps;
	return time < UINT64_MAX ? (uint64_t)time : UINT64_MAX;
}

/* Nanoseconds in which @bytes pass over @circuits. */
static inline uint64_t lm_jobs_pass(const struct morph_jobs *jobs, uint64_t bytes,
				    uint32_t circuits)
{
	return lm_jobs_time(bytes, circuits * jobs->problem.circuit_bps);
}

/* The component of a pair, for cohorts.c. */
static inline struct jobs_component *lm_jobs_component(const struct morph_jobs *jobs,
						       const struct jobs_pair *pair)
{
	return &jobs->components.list[pair->component];
}

/* policy.c */
const struct morph_jobs_rules *lm_jobs_rules(uint32_t policy);

/* order.c: sort the active jobs by the policy. */
void lm_jobs_sort(struct morph_jobs *jobs);
void lm_jobs_view(const struct morph_jobs *jobs, uint32_t job, uint32_t part,
		  struct morph_jobs_view *view);

/* slots.c: grant free slots. packing.c: the same if a job needs all its slots. */
void lm_jobs_grant(struct morph_jobs *jobs);
void lm_jobs_pack(struct morph_jobs *jobs);

/* circuits.c: circuits that all jobs share. hold.c: circuits that jobs hold. */
void lm_jobs_share_circuits(struct morph_jobs *jobs);
void lm_jobs_fill(struct morph_jobs *jobs, const uint32_t *pairs, uint32_t pair_count);
void lm_jobs_hold_circuits(struct morph_jobs *jobs);

/* hysteresis.c: has the least gap passed since the last change? */
bool lm_jobs_gap_passed(const struct morph_jobs *jobs);

/* hysteresis.c: keep the lit circuits unless new ones gain more; list the difference. */
void lm_jobs_change(struct morph_jobs *jobs);

/* shares.c: bandwidth of @count flows, which have all flows of their pairs. */
void lm_jobs_share(struct morph_jobs *jobs, const uint32_t *flows, uint32_t count);
void lm_jobs_assign_aggregators(struct morph_jobs *jobs);
/* Bit/s over a whole iteration of a flow that sends at @share. */
uint64_t lm_jobs_rate(const struct morph_jobs *jobs, const struct jobs_flow *flow, uint64_t share);

/* components.c: unite the jobs of pairs without a period. cohorts.c: form cohorts. */
void lm_jobs_unite(struct morph_jobs *jobs);
void lm_jobs_group(struct morph_jobs *jobs);
/* Start of the second turn of a component within its period. */
uint64_t lm_jobs_offset(const struct morph_jobs *jobs, const struct jobs_component *component);

/*
 * rotation.c: bytes of pairs in the turns of two cohorts; their circuits, changed or kept; and the
 * times of the turns.
 */
void lm_jobs_sum_turns(struct morph_jobs *jobs);
void lm_jobs_keep_turns(struct morph_jobs *jobs);
void lm_jobs_find_turns(struct morph_jobs *jobs);
void lm_jobs_rotate(struct morph_jobs *jobs);
void lm_jobs_list_turns(struct morph_jobs *jobs);

/* bound.c: lower bounds of the last end and of the mean, for the jobs that arrive until @until. */
uint64_t lm_jobs_bound(struct morph_jobs *jobs, uint64_t until);
uint64_t lm_jobs_mean_bound(struct morph_jobs *jobs);

/* decide.c: decide for the active jobs at @now. */
void lm_jobs_plan(struct morph_jobs *jobs);
void lm_jobs_set_capacities(struct morph_jobs *jobs);
void lm_jobs_share_all(struct morph_jobs *jobs);

#endif /* LM_JOBS_JOBS_H */
