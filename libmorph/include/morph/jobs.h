/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: training jobs that share circuits. Included by <morph/plan.h>. */
#ifndef MORPH_JOBS_H
#define MORPH_JOBS_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Jobs
 *
 * A *job* trains a model with workers at several sites. A site is a server or a rack. In each
 * iteration the job computes, each worker pushes its gradients to the root site, and each worker
 * pulls their sum. A *part* of a job is its workers at one site. A part outside the root has a
 * *flow* over the circuits between the two sites. Push and pull take turns on a circuit, so a
 * worker moves 2 * bytes per iteration.
 *
 * A site has ports for circuits and *slots* for aggregation in the network. With a slot, a part
 * moves the bytes of one worker, else those of all its workers. A job without slots at all its
 * parts of several workers uses CPU aggregators (parameter servers) at its root.
 *
 *	struct morph_jobs *jobs = morph_jobs_new(ctx);
 *
 *	morph_jobs_decide(jobs, &problem, &opts, &decision);
 *	morph_jobs_simulate(jobs, &problem, &opts, &outcome);
 *
 * A decision solves four problems in turn, and states for each of them what is proved:
 *
 * - slots: the allocation saves the most bytes (libmorph/jobs/slots.c);
 * - circuits: the pairs of sites are admitted in the order of the policy while ports last. The
 *   largest demand per circuit of the admitted pairs is least (circuits.c);
 * - shares: max-min by progressive filling, or the whole capacity in the order of the policy
 *   (shares.c);
 * - cohorts: two groups of jobs that send in turn (cohorts.c).
 *
 * Circuits change only if this gains more than the dark time costs, and not before the least gap
 * has passed. The model is fluid. A flow drains independently of the other flows of its job, and
 * the job ends with its last flow.
 *
 * A policy is three functions of a job, struct morph_jobs_rules. All numbers are integers, and the
 * same arguments give the same answer. Calls allocate only if a problem is larger than all earlier
 * ones. One thread at a time uses an object. Every array of an answer belongs to the object until
 * its next call.
 */

/**
 * morph_jobs_new() - create an object that decides
 * @ctx: the context, which must outlive it
 *
 * Return: the object, freed by morph_jobs_free(); NULL when out of memory.
 */
struct morph_jobs *morph_jobs_new(struct morph_ctx *ctx);

/**
 * morph_jobs_free() - free an object and its answers
 * @jobs: the object, or NULL
 */
void morph_jobs_free(struct morph_jobs *jobs);

/**
 * struct morph_jobs_site - a site
 * @ports: ports for circuits; each circuit takes one at both ends
 * @slots: slots for aggregation in the network, one per job
 * @aggregators: CPU aggregators; 0: unlimited
 * @nic_bps: bandwidth of each CPU aggregator in bit/s; 0: unlimited
 */
struct morph_jobs_site {
	uint32_t ports;
	uint32_t slots;
	uint32_t aggregators;
	uint64_t nic_bps;
};

/**
 * struct morph_jobs_part - the workers of a job at one site
 * @site: its number
 * @workers: number of workers
 * @left: bytes that each of them still pushes and pulls: 2 * bytes * iterations at the start
 * @circuits: with MORPH_JOBS_HOLD, circuits to the root that the job holds
 * @slot: the part holds a slot
 */
struct morph_jobs_part {
	uint32_t site;
	uint32_t workers;
	uint64_t left;
	uint32_t circuits;
	bool slot;
};

/**
 * struct morph_job - a job
 * @arrival_ns: its arrival
 * @bytes: bytes that each worker pushes in an iteration
 * @compute_ns: time to compute in an iteration
 * @iterations: number of iterations
 * @root: site with its aggregator
 * @first: number of its first part
 * @parts: number of parts, at different sites
 */
struct morph_job {
	uint64_t arrival_ns;
	uint64_t bytes;
	uint64_t compute_ns;
	uint32_t iterations;
	uint32_t root;
	uint32_t first;
	uint32_t parts;
};

/**
 * struct morph_jobs_pair - circuits between two sites
 * @one: one end
 * @other: the other end
 * @circuits: number of circuits
 */
struct morph_jobs_pair {
	uint32_t one;
	uint32_t other;
	uint32_t circuits;
};

/**
 * struct morph_jobs_problem - sites, circuits and jobs
 * @sz: sizeof(struct morph_jobs_problem)
 * @sites: the sites
 * @site_count: number of sites, at most 4096
 * @jobs: the jobs
 * @job_count: number of jobs, at most 2^20
 * @parts: parts of all jobs
 * @part_count: number of parts, at most 2^22
 * @lit: circuits that are lit, each pair once
 * @lit_count: number of pairs
 * @most: largest number of circuits of pairs; other pairs have no limit
 * @most_count: number of pairs
 * @circuit_bps: bandwidth of a circuit in bit/s, at most 2^44
 * @dark_ns: time for which a circuit is dark when it is set
 * @now_ns: the time of the decision. Jobs that arrive later wait
 * @changed_ns: time of the last change of circuits; 0: none
 */
struct morph_jobs_problem {
	size_t sz;
	const struct morph_jobs_site *sites;
	uint32_t site_count;
	const struct morph_job *jobs;
	uint32_t job_count;
	const struct morph_jobs_part *parts;
	uint32_t part_count;
	const struct morph_jobs_pair *lit;
	uint32_t lit_count;
	const struct morph_jobs_pair *most;
	uint32_t most_count;
	uint64_t circuit_bps;
	uint64_t dark_ns;
	uint64_t now_ns;
	uint64_t changed_ns;
};

/**
 * enum morph_jobs_policy - policies
 * @MORPH_JOBS_AUTO: the job with the fewest bytes left first takes the circuits that end it within
 *	the gap. Filling gives the other ports
 * @MORPH_JOBS_FCFS: first come, first served. A job that waits blocks later ones
 * @MORPH_JOBS_BACKFILL: the same, but later jobs pass a job that waits
 * @MORPH_JOBS_LJF: large jobs first; circuits follow the bytes left of all jobs
 * @MORPH_JOBS_GROUPED: two cohorts of jobs by computation to communication, which send in turn
 * @MORPH_JOBS_POLICIES: number of policies
 */
enum morph_jobs_policy {
	MORPH_JOBS_AUTO = 0,
	MORPH_JOBS_FCFS = 1,
	MORPH_JOBS_BACKFILL = 2,
	MORPH_JOBS_LJF = 3,
	MORPH_JOBS_GROUPED = 4,
	MORPH_JOBS_POLICIES = 5,
};

/**
 * struct morph_jobs_view - a part of a job as a policy sees it
 * @job: the job
 * @part: the part; NULL for order()
 * @left: bytes that the part moves until its end, or all parts of the job for order()
 * @workers: number of workers of the job
 * @now_ns: the time
 * @gap_ns: least time between two changes of circuits, at least 1
 */
struct morph_jobs_view {
	const struct morph_job *job;
	const struct morph_jobs_part *part;
	uint64_t left;
	uint64_t workers;
	uint64_t now_ns;
	uint64_t gap_ns;
};

/**
 * enum morph_jobs_traits - properties of a policy
 * @MORPH_JOBS_HOLD: a job takes its own circuits and slots when it starts, and holds them
 * @MORPH_JOBS_BLOCK: with MORPH_JOBS_HOLD, a job that waits blocks later ones
 * @MORPH_JOBS_FAIR: flows on a circuit have max-min shares; else the first flow in order sends
 * @MORPH_JOBS_COHORTS: two cohorts send in turn
 */
enum morph_jobs_traits {
	MORPH_JOBS_HOLD = 1,
	MORPH_JOBS_BLOCK = 2,
	MORPH_JOBS_FAIR = 4,
	MORPH_JOBS_COHORTS = 8,
};

/**
 * struct morph_jobs_rules - a policy
 * @traits: enum morph_jobs_traits
 * @order: the key of a job; the least key is first. Equal keys: the earlier arrival, then the lower
 *	number
 * @slots: the value of a slot for a part. The planner maximises the sum of values
 * @circuits: bandwidth in bit/s that a flow takes in order, before filling gives the other ports
 */
struct morph_jobs_rules {
	uint32_t traits;
	uint64_t (*order)(const struct morph_jobs_view *view);
	uint64_t (*slots)(const struct morph_jobs_view *view);
	uint64_t (*circuits)(const struct morph_jobs_view *view);
};

/**
 * enum morph_jobs_flags - conditions of decisions
 * @MORPH_JOBS_ALL_SLOTS: a job uses slots only if all its parts of several workers have one
 * @MORPH_JOBS_DARK_FABRIC: a change darkens all circuits, as in the paper; else only those it sets.
 *	Then circuits change between turns of cohorts only if no other job sends
 */
enum morph_jobs_flags {
	MORPH_JOBS_ALL_SLOTS = 1,
	MORPH_JOBS_DARK_FABRIC = 2,
};

/**
 * struct morph_jobs_opts - options
 * @sz: sizeof(struct morph_jobs_opts)
 * @policy: enum morph_jobs_policy
 * @rules: another policy; NULL: @policy
 * @flags: enum morph_jobs_flags
 * @gap_ns: least time between two changes of circuits
 * @age_ns: waiting time after which a job precedes all younger ones; 0: never
 * @slot_ns: morph_jobs_simulate() decides at multiples of it; 0: 1 s
 * @believed: morph_jobs_simulate() decides by the bytes and computation of these jobs, and runs the
 *	jobs of the problem. Other fields are those of the problem. The bytes left are in proportion
 *	to the bytes. NULL: without errors
 */
struct morph_jobs_opts {
	size_t sz;
	uint32_t policy;
	const struct morph_jobs_rules *rules;
	uint32_t flags;
	uint64_t gap_ns;
	uint64_t age_ns;
	uint64_t slot_ns;
	const struct morph_job *believed;
};

/**
 * enum morph_jobs_reason - reasons why a job waits
 * @MORPH_JOBS_RUNS: it does not wait
 * @MORPH_JOBS_ENDED: it has nothing left
 * @MORPH_JOBS_FUTURE: it has not arrived
 * @MORPH_JOBS_BLOCKED: an earlier job waits
 * @MORPH_JOBS_PORTS: a site has no port left
 * @MORPH_JOBS_MOST: a pair admits no circuit
 * @MORPH_JOBS_GAP: a pair has no circuit, and circuits do not change now
 * @MORPH_JOBS_TURN: earlier jobs use the whole circuit
 * @MORPH_JOBS_AGGREGATORS: the root has no CPU aggregator left
 */
enum morph_jobs_reason {
	MORPH_JOBS_RUNS = 0,
	MORPH_JOBS_ENDED = 1,
	MORPH_JOBS_FUTURE = 2,
	MORPH_JOBS_BLOCKED = 3,
	MORPH_JOBS_PORTS = 4,
	MORPH_JOBS_MOST = 5,
	MORPH_JOBS_GAP = 6,
	MORPH_JOBS_TURN = 7,
	MORPH_JOBS_AGGREGATORS = 8,
};

/**
 * struct morph_jobs_answer - the decision for a job
 * @reason: enum morph_jobs_reason, of the first flow that waits
 * @site: the site that is short, or of the flow that waits; else MORPH_ANY
 * @aggregators: CPU aggregators at the root
 * @cohort: 1 or 2; 0: none
 * @nic_bps: bandwidth of these aggregators; 0: unlimited
 * @offset_ns: start of the cohort's turn within a period
 * @period_ns: time of an iteration in its cohort; 0: none
 * @end_ns: predicted end if no job arrives; UINT64_MAX: unknown, since it waits
 */
struct morph_jobs_answer {
	uint32_t reason;
	uint32_t site;
	uint32_t aggregators;
	uint32_t cohort;
	uint64_t nic_bps;
	uint64_t offset_ns;
	uint64_t period_ns;
	uint64_t end_ns;
};

/**
 * struct morph_jobs_flow - the decision for a part
 * @share_bps: bandwidth in bit/s. If flows send in order, the mean over an iteration
 * @circuits: circuits of its pair; with MORPH_JOBS_HOLD, those of the job
 * @slot: the part has a slot
 */
struct morph_jobs_flow {
	uint64_t share_bps;
	uint32_t circuits;
	bool slot;
};

/**
 * struct morph_jobs_worst - certificate of the circuits
 * @one: one end of the admitted pair with the largest demand per circuit; MORPH_ANY: no demand
 * @other: the other end
 * @demand: bytes
 * @circuits: circuits of the pair
 * @site: the end without a free port; MORPH_ANY: the pair has its largest number of circuits
 *
 * With less demand per circuit, each pair at @site needs at least its circuits and this pair needs
 * one more, which exceeds the ports.
 */
struct morph_jobs_worst {
	uint32_t one;
	uint32_t other;
	uint64_t demand;
	uint32_t circuits;
	uint32_t site;
};

/**
 * struct morph_jobs_turn - circuits of a pair that change between turns
 * @one: one end
 * @other: the other end
 * @circuits: number of circuits in the turn of cohort 1, and in that of cohort 2
 */
struct morph_jobs_turn {
	uint32_t one;
	uint32_t other;
	uint32_t circuits[2];
};

/**
 * struct morph_jobs_decision - a decision
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @jobs: by job
 * @flows: by part
 * @set: circuits to set, by pair
 * @set_count: number of pairs
 * @clear: circuits to clear, by pair
 * @clear_count: number of pairs
 * @changed: circuits change
 * @slots_proved: the slots have the largest sum of values
 * @saved: bytes that slots save until the end of all jobs
 * @worst: certificate of the new circuits
 * @end_ns: predicted end of the last job that runs
 * @bound_ns: no decision ends all arrived jobs before this time
 * @turns: pairs whose circuits change between the turns of the cohorts. Their periods contain the
 *	dark time of both changes
 * @turn_count: number of pairs
 */
struct morph_jobs_decision {
	size_t sz;
	const struct morph_jobs_answer *jobs;
	const struct morph_jobs_flow *flows;
	const struct morph_jobs_pair *set;
	uint32_t set_count;
	const struct morph_jobs_pair *clear;
	uint32_t clear_count;
	bool changed;
	bool slots_proved;
	uint64_t saved;
	struct morph_jobs_worst worst;
	uint64_t end_ns;
	uint64_t bound_ns;
	const struct morph_jobs_turn *turns;
	uint32_t turn_count;
};

/**
 * morph_jobs_decide() - decide slots, circuits, shares and cohorts
 * @jobs: the object
 * @problem: sites, circuits and jobs
 * @opts: options; NULL: MORPH_JOBS_AUTO without a gap
 * @out: the answer
 *
 * O(jobs log(jobs) + parts log(slots) + circuits log(pairs)), and O(sites^2) memory.
 *
 * Return: 0, -EINVAL (a number is out of range; a pair or a site of a job occurs twice; the lit
 * circuits exceed the ports), -ERANGE (more than 2^62 bytes), -ENOMEM, or as morph_opts_check().
 */
int morph_jobs_decide(struct morph_jobs *jobs, const struct morph_jobs_problem *problem,
		      const struct morph_jobs_opts *opts, struct morph_jobs_decision *out);

/**
 * struct morph_jobs_outcome - a simulation
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @ends_ns: end of each job; UINT64_MAX: it cannot end
 * @ended: number of jobs that ended
 * @decisions: number of decisions
 * @changes: number of decisions that set circuits, and of turns of cohorts that do
 * @set: circuits set, also by turns
 * @cleared: circuits cleared
 * @dark_ns: dark time, summed over circuits
 * @moved: bytes that passed circuits
 * @end_ns: end of the last job
 * @bound_ns: lower bound of @end_ns for all policies
 * @mean_ns: mean time from arrival to end, of the jobs that ended
 * @mean_bound_ns: lower bound of the mean for all policies
 */
struct morph_jobs_outcome {
	size_t sz;
	const uint64_t *ends_ns;
	uint32_t ended;
	uint32_t decisions;
	uint32_t changes;
	uint64_t set;
	uint64_t cleared;
	uint64_t dark_ns;
	uint64_t moved;
	uint64_t end_ns;
	uint64_t bound_ns;
	uint64_t mean_ns;
	uint64_t mean_bound_ns;
};

/**
 * morph_jobs_simulate() - make the same decisions against a fluid model
 * @jobs: the object
 * @problem: sites, circuits and jobs at the start
 * @opts: as morph_jobs_decide()
 * @out: the answer
 *
 * The simulation starts at @problem->now_ns, decides at multiples of the slot after an arrival, an
 * end or a deferred change, and stops when no job can proceed.
 *
 * Return: as morph_jobs_decide().
 */
int morph_jobs_simulate(struct morph_jobs *jobs, const struct morph_jobs_problem *problem,
			const struct morph_jobs_opts *opts, struct morph_jobs_outcome *out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_JOBS_H */
