// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decisions about jobs: capacities, hysteresis, cohorts, reasons, and invalid problems. */
#include <string.h>

#include "../bench/small_jobs.h"
#include "../util/mix.h"
#include "alone.h"
#include "faults.h"

#define INSTANCES 1000
#define SECOND 1000000000ULL

static struct morph_jobs_decision decide(struct morph_jobs *jobs,
					 const struct morph_jobs_problem *problem,
					 const struct morph_jobs_opts *opts)
{
	MORPH_OPTS(morph_jobs_decision, decision);

	if (morph_jobs_decide(jobs, problem, opts, &decision))
		fail_msg("%s", morph_error_text(ctx));
	return decision;
}

/* ------------------------------------------------------------ capacities */

static void count_circuits(const struct small *small, const struct morph_jobs_decision *decision,
			   uint32_t circuits[SMALL_SITES][SMALL_SITES])
{
	memset(circuits, 0, SMALL_SITES * sizeof(*circuits));
	for (uint32_t at = 0; at < small->problem.lit_count; at++)
		circuits[small->lit[at].one][small->lit[at].other] += small->lit[at].circuits;
	for (uint32_t at = 0; at < decision->set_count; at++)
		circuits[decision->set[at].one][decision->set[at].other] +=
			decision->set[at].circuits;
	for (uint32_t at = 0; at < decision->clear_count; at++)
		circuits[decision->clear[at].one][decision->clear[at].other] -=
			decision->clear[at].circuits;
}

static void check_ports(const struct small *small, uint32_t circuits[SMALL_SITES][SMALL_SITES])
{
	for (uint32_t one = 0; one < small->problem.site_count; one++) {
		uint32_t used = 0;

		for (uint32_t other = 0; other < small->problem.site_count; other++) {
			used += circuits[one][other] + circuits[other][one];
			assert_true(circuits[one][other] <= small_most(small, one, other));
		}
		assert_in_range(used, 0, small->sites[one].ports);
	}
}

/* Neither shares nor slots exceed what there is, and a job without a share has a reason. */
static void check_shares(const struct small *small, const struct morph_jobs_decision *decision,
			 uint32_t circuits[SMALL_SITES][SMALL_SITES])
{
	uint64_t shares[SMALL_SITES][SMALL_SITES] = { 0 };
	uint32_t slots[SMALL_SITES] = { 0 };

	for (uint32_t job = 0; job < small->problem.job_count; job++) {
		uint64_t sum = 0;

		for (uint32_t at = 0; at < small->jobs[job].parts; at++) {
			uint32_t part = small->jobs[job].first + at;
			uint32_t one = small->parts[part].site, other = small->jobs[job].root;
			const struct morph_jobs_flow *flow = &decision->flows[part];

			sum += flow->share_bps;
			shares[one < other ? one : other][one < other ? other : one] +=
				flow->share_bps;
			slots[one] += flow->slot;
			if (small_flows(small, job, part) && !flow->share_bps)
				assert_int_not_equal(decision->jobs[job].reason, MORPH_JOBS_RUNS);
		}
		if (decision->jobs[job].nic_bps)
			assert_true(sum <= decision->jobs[job].nic_bps);
	}
	for (uint32_t one = 0; one < small->problem.site_count; one++) {
		assert_in_range(slots[one], 0, small->sites[one].slots);
		for (uint32_t other = 0; other < small->problem.site_count; other++)
			assert_true(shares[one][other] <=
				    circuits[one][other] * small->problem.circuit_bps);
	}
}

static void decisions_stay_within_ports_and_capacities(void **state)
{
	const struct small_limits limits = { 5, 8, 5, 6, 2, 4, 900 };
	struct small small = { .random = 5 };
	struct morph_jobs *jobs = morph_jobs_new(ctx);
	uint32_t cleared = 0, waiting = 0;

	(void)state;
	for (uint32_t at = 0; at < MORPH_JOBS_POLICIES * INSTANCES; at++) {
		MORPH_OPTS(morph_jobs_opts, opts, .policy = at % MORPH_JOBS_POLICIES);
		uint32_t circuits[SMALL_SITES][SMALL_SITES];
		struct morph_jobs_decision decision;

		small_draw(&small, &limits);
		small_limit(&small, 3);
		small_light(&small);
		for (uint32_t job = 0; job < small.problem.job_count; job++)
			small.jobs[job].compute_ns = mix_below(&small.random, 1u << 30);
		decision = decide(jobs, &small.problem, &opts);
		count_circuits(&small, &decision, circuits);
		check_ports(&small, circuits);
		check_shares(&small, &decision, circuits);
		assert_true(decision.changed == (decision.set_count || decision.clear_count));
		cleared += decision.clear_count;
		for (uint32_t job = 0; job < small.problem.job_count; job++)
			waiting += decision.jobs[job].end_ns == UINT64_MAX;
	}
	assert_in_range(cleared, 100, 100 * INSTANCES);
	assert_in_range(waiting, 100, 100 * INSTANCES);
	morph_jobs_free(jobs);
}

/* ------------------------------------------------------------ two jobs on one circuit */

struct pair_of_jobs {
	struct morph_jobs_site sites[3];
	struct morph_job jobs[2];
	struct morph_jobs_part parts[4];
	struct morph_jobs_pair lit[1];
	struct morph_jobs_problem problem;
};

/* A circuit of 8 bit/ns between sites 0 and 1; each job sends for a second and computes. */
static void make_pair(struct pair_of_jobs *pair, uint64_t compute_ns)
{
	*pair = (struct pair_of_jobs){ .sites = {
					       { .ports = 1 }, { .ports = 1 }, { .ports = 1 } } };
	for (uint32_t at = 0; at < 2; at++) {
		pair->jobs[at] = (struct morph_job){
			.bytes = SECOND / 2,
			.iterations = 10,
			.compute_ns = compute_ns,
			.first = 2 * at,
			.parts = 2,
		};
		for (uint32_t site = 0; site < 2; site++)
			pair->parts[2 * at + site] = (struct morph_jobs_part){
				.site = site, .workers = 1, .left = 10 * SECOND
			};
	}
	pair->problem = (struct morph_jobs_problem){
		.sz = sizeof(pair->problem),
		.sites = pair->sites,
		.site_count = 3,
		.jobs = pair->jobs,
		.job_count = 2,
		.parts = pair->parts,
		.part_count = 4,
		.lit = pair->lit,
		.circuit_bps = 8 * SECOND,
	};
}

/*
 * Two ports at site 0 and at the other ends of two pairs: each job has one circuit without cohorts,
 * and both circuits in its turn.
 */
static void make_turns(struct pair_of_jobs *pair, uint64_t compute_ns)
{
	make_pair(pair, compute_ns);
	for (uint32_t site = 0; site < 3; site++)
		pair->sites[site].ports = 2;
	pair->parts[3].site = 2;
	pair->jobs[0].bytes = pair->jobs[1].bytes = SECOND;
	for (uint32_t part = 0; part < 4; part++)
		pair->parts[part].left = 20 * SECOND;
}

/*
 * The period is max(tau + t, 2 t + 2 delta), and tau + 2 t without cohorts. Jobs that would have a
 * longer period are in no cohort. Jobs that share a circuit keep their circuits, and delta is 0.
 */
static void cohorts_have_the_period_of_the_formula(void **state)
{
	static const uint64_t computes[] = { SECOND / 4, SECOND / 2, SECOND, 2 * SECOND,
					     4 * SECOND };
	static const uint64_t darks[] = { 0, SECOND / 20, SECOND / 4 };
	MORPH_OPTS(morph_jobs_opts, opts, .policy = MORPH_JOBS_GROUPED);
	struct morph_jobs *jobs = morph_jobs_new(ctx);
	uint32_t grouped = 0;

	(void)state;
	for (uint32_t at = 0; at < 30; at++) {
		uint64_t tau = computes[at % 5], dark = darks[at / 5 % 3], delta, period;
		struct morph_jobs_decision decision;
		struct pair_of_jobs pair;

		delta = at < 15 ? 0 : dark;
		if (at < 15)
			make_pair(&pair, tau);
		else
			make_turns(&pair, tau);
		pair.problem.dark_ns = dark;
		decision = decide(jobs, &pair.problem, &opts);
		period = tau > SECOND + 2 * delta ? tau + SECOND : 2 * SECOND + 2 * delta;
		if (2 * delta > tau) {
			assert_int_equal(decision.jobs[0].cohort + decision.jobs[1].cohort, 0);
			assert_int_equal(decision.turn_count, 0);
			continue;
		}
		grouped++;
		assert_int_equal(decision.turn_count, at < 15 ? 0 : 2);
		for (uint32_t job = 0; job < 2; job++) {
			assert_int_equal(decision.jobs[job].cohort, job + 1);
			assert_int_equal(decision.jobs[job].period_ns, period);
			assert_true(period <= tau + 2 * SECOND);
			assert_in_range(decision.jobs[job].end_ns, dark + 10 * period,
					dark + 10 * period + 100);
		}
		assert_int_equal(decision.jobs[1].offset_ns, SECOND + delta);
		for (uint32_t turn = 0; turn < decision.turn_count; turn++) {
			const struct morph_jobs_turn *it = &decision.turns[turn];

			assert_int_equal(it->circuits[0] + it->circuits[1], 2);
			assert_int_equal(it->circuits[it->one + it->other - 1], 2);
		}
	}
	assert_int_equal(grouped, 29);
	morph_jobs_free(jobs);
}

/*
 * In the paper's mode, the turns of the two jobs would darken the circuit of a third one between
 * other sites. Then they have no turns.
 */
static void turns_do_not_darken_other_jobs(void **state)
{
	MORPH_OPTS(morph_jobs_opts, opts, .policy = MORPH_JOBS_GROUPED);
	struct morph_jobs *jobs = morph_jobs_new(ctx);
	struct morph_jobs_site sites[5];
	struct morph_jobs_part parts[6];
	struct pair_of_jobs pair;
	struct morph_job all[3];

	(void)state;
	make_turns(&pair, SECOND);
	pair.problem.dark_ns = SECOND / 20;
	memcpy(sites, pair.sites, sizeof(pair.sites));
	sites[3] = sites[4] = (struct morph_jobs_site){ .ports = 1 };
	memcpy(all, pair.jobs, sizeof(pair.jobs));
	all[2] = all[0];
	all[2].first = 4;
	all[2].root = 3;
	memcpy(parts, pair.parts, sizeof(pair.parts));
	parts[4] = parts[5] = parts[0];
	parts[4].site = 3;
	parts[5].site = 4;
	pair.problem.sites = sites;
	pair.problem.site_count = 5;
	pair.problem.jobs = all;
	pair.problem.parts = parts;
	for (uint32_t at = 0; at < 4; at++) {
		uint32_t turns = at == 3 ? 0 : 2;
		struct morph_jobs_decision decision;

		pair.problem.job_count = 2 + at % 2;
		pair.problem.part_count = 4 + 2 * (at % 2);
		opts.flags = at < 2 ? 0 : MORPH_JOBS_DARK_FABRIC;
		decision = decide(jobs, &pair.problem, &opts);
		assert_int_equal(decision.turn_count, turns);
		assert_int_equal(decision.jobs[0].cohort != 0, turns != 0);
		assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_RUNS);
		assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_RUNS);
	}
	morph_jobs_free(jobs);
}

/* Bit/s over whole iterations. */
static uint64_t rate_of(const struct small *small, const struct morph_jobs_decision *decision,
			uint32_t job, uint32_t part)
{
	const struct morph_job *it = &small->jobs[job];
	const struct morph_jobs_flow *flow = &decision->flows[part];
	uint64_t bits = 16 * it->bytes * (flow->slot ? 1 : small->parts[part].workers);
	uint64_t period = decision->jobs[job].period_ns;

	if (!flow->share_bps || !small_flows(small, job, part))
		return 0;
	if (!period)
		period = it->compute_ns + bits * SECOND / flow->share_bps;
	return bits * SECOND / period;
}

/* A job without a cohort that sends often leaves less of the circuit for the turns. */
static void cohorts_stay_within_capacities(void **state)
{
	const struct small_limits limits = { 3, 8, 2, 4, 2, 4, 0 };
	struct small small = { .random = 7 };
	MORPH_OPTS(morph_jobs_opts, opts, .policy = MORPH_JOBS_GROUPED);
	struct morph_jobs *jobs = morph_jobs_new(ctx);
	uint32_t grouped = 0;

	(void)state;
	for (uint32_t at = 0; at < 4 * INSTANCES; at++) {
		uint64_t rates[SMALL_SITES][SMALL_SITES] = { 0 };
		struct morph_jobs_decision decision;

		small_draw(&small, &limits);
		for (uint32_t job = 0; job < small.problem.job_count; job++)
			small.jobs[job].compute_ns = mix_below(&small.random, 4) * SECOND;
		decision = decide(jobs, &small.problem, &opts);
		if (decision.turn_count)
			continue;
		for (uint32_t job = 0; job < small.problem.job_count; job++) {
			grouped += decision.jobs[job].cohort != 0;
			for (uint32_t part = 0; part < small.jobs[job].parts; part++) {
				uint32_t number = small.jobs[job].first + part;
				uint32_t one = small.parts[number].site;
				uint32_t other = small.jobs[job].root;
				uint64_t *rate = one < other ? &rates[one][other] :
							       &rates[other][one];

				*rate += rate_of(&small, &decision, job, number);
				if (small_flows(&small, job, number))
					assert_in_range(*rate, 0,
							decision.flows[number].circuits *
								small.problem.circuit_bps);
			}
		}
	}
	assert_in_range(grouped, INSTANCES / 10, 100 * INSTANCES);
	morph_jobs_free(jobs);
}

/* ------------------------------------------------------------ periods */

static uint64_t order_size(const struct morph_jobs_view *view)
{
	return UINT64_MAX - view->workers * view->job->bytes;
}

static uint64_t value_saving(const struct morph_jobs_view *view)
{
	return (view->part->workers - 1) * view->part->left;
}

static uint64_t circuits_by_filling(const struct morph_jobs_view *view)
{
	(void)view;
	return 0;
}

/* The rules of the policy grouped without cohorts. */
static const struct morph_jobs_rules alone_rules = { MORPH_JOBS_FAIR, order_size, value_saving,
						     circuits_by_filling };

/* Bits of an iteration of a part. */
static uint64_t bits_of(const struct small *small, const struct morph_jobs_decision *decision,
			uint32_t job, uint32_t part)
{
	if (!small_flows(small, job, part))
		return 0;
	return 16 * small->jobs[job].bytes *
	       (decision->flows[part].slot ? 1 : small->parts[part].workers);
}

/* Whether two parts send over the circuits of the same two sites. */
static bool share_pair(const struct small *small, uint32_t job, uint32_t part, uint32_t other_job,
		       uint32_t other)
{
	uint32_t one = small->parts[part].site, end = small->jobs[job].root;
	uint32_t site = small->parts[other].site, root = small->jobs[other_job].root;

	return (one == site && end == root) || (one == root && end == site);
}

/*
 * The period of a job if all jobs start together. Parts with the same circuits have equal shares.
 * While a part sends its bits, each other one sends as many, or all of its own.
 */
static uint64_t period_together(const struct small *small,
				const struct morph_jobs_decision *decision, uint32_t job)
{
	uint64_t longest = 0;

	for (uint32_t at = 0; at < small->jobs[job].parts; at++) {
		uint32_t part = small->jobs[job].first + at;
		uint64_t bits = bits_of(small, decision, job, part), sum = 0, time;

		if (!bits)
			continue;
		for (uint32_t other = 0; other < small->problem.job_count; other++)
			for (uint32_t its = 0; its < small->jobs[other].parts; its++) {
				uint32_t number = small->jobs[other].first + its;
				uint64_t more = bits_of(small, decision, other, number);

				if (share_pair(small, job, part, other, number))
					sum += more < bits ? more : bits;
			}
		time = sum * SECOND / decision->flows[part].circuits / small->problem.circuit_bps;
		longest = time > longest ? time : longest;
	}
	return small->jobs[job].compute_ns + longest + 1;
}

/* Also where circuits change between the turns, which makes them dark. */
static void no_job_has_a_longer_period_than_without_cohorts(void **state)
{
	const struct small_limits limits = { 3, 8, 2, 4, 2, 4, 0 };
	struct small small = { .random = 11 };
	MORPH_OPTS(morph_jobs_opts, opts, .policy = MORPH_JOBS_GROUPED);
	struct morph_jobs *jobs = morph_jobs_new(ctx);
	uint32_t grouped = 0, rewired = 0, shorter = 0;

	(void)state;
	for (uint32_t at = 0; at < 8 * INSTANCES; at++) {
		uint64_t periods[SMALL_JOBS], together;
		struct morph_jobs_decision decision;

		small_draw(&small, &limits);
		small.problem.dark_ns = mix_below(&small.random, 3) * SECOND / 20;
		for (uint32_t job = 0; job < small.problem.job_count; job++)
			small.jobs[job].compute_ns = mix_below(&small.random, 4) * SECOND;
		opts.rules = NULL;
		decision = decide(jobs, &small.problem, &opts);
		rewired += decision.turn_count != 0;
		for (uint32_t job = 0; job < small.problem.job_count; job++)
			periods[job] = decision.jobs[job].period_ns;
		opts.rules = &alone_rules;
		decision = decide(jobs, &small.problem, &opts);
		for (uint32_t job = 0; job < small.problem.job_count; job++) {
			if (!periods[job])
				continue;
			together = period_together(&small, &decision, job);
			assert_in_range(periods[job], 1, together);
			grouped++;
			shorter += periods[job] + 1 < together;
		}
	}
	assert_in_range(grouped, INSTANCES / 10, 100 * INSTANCES);
	assert_in_range(rewired, 10, 8 * INSTANCES);
	assert_in_range(shorter, INSTANCES / 20, 100 * INSTANCES);
	morph_jobs_free(jobs);
}

static void circuits_change_only_if_it_pays(void **state)
{
	MORPH_OPTS(morph_jobs_opts, opts, .gap_ns = SECOND);
	struct morph_jobs *jobs = morph_jobs_new(ctx);
	struct morph_jobs_decision decision;
	struct pair_of_jobs pair;

	(void)state;
	/* Two more circuits for a demand that the lit one moves in 20 s. */
	make_pair(&pair, 0);
	pair.sites[0].ports = pair.sites[1].ports = 3;
	pair.lit[0] = (struct morph_jobs_pair){ 0, 1, 1 };
	pair.problem.lit_count = 1;
	pair.problem.now_ns = 10 * SECOND;
	pair.problem.dark_ns = SECOND / 2;
	decision = decide(jobs, &pair.problem, &opts);
	assert_int_equal(decision.set_count, 1);
	assert_int_equal(decision.set[0].circuits, 2);
	/* They lose more than they gain within the gap. */
	pair.problem.dark_ns = SECOND;
	decision = decide(jobs, &pair.problem, &opts);
	assert_false(decision.changed);
	/* The gap has not passed. */
	pair.problem.dark_ns = 0;
	pair.problem.changed_ns = 10 * SECOND - 1;
	decision = decide(jobs, &pair.problem, &opts);
	assert_false(decision.changed);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_RUNS);
	/* Without lit circuits, jobs wait for the gap. */
	pair.problem.lit_count = 0;
	decision = decide(jobs, &pair.problem, &opts);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_GAP);
	pair.problem.now_ns += SECOND;
	assert_true(decide(jobs, &pair.problem, &opts).changed);
	morph_jobs_free(jobs);
}

static void jobs_that_wait_have_their_reason(void **state)
{
	MORPH_OPTS(morph_jobs_opts, opts, .policy = MORPH_JOBS_FCFS);
	struct morph_jobs *jobs = morph_jobs_new(ctx);
	struct morph_jobs_decision decision;
	struct pair_of_jobs pair;

	(void)state;
	make_pair(&pair, 0);
	decision = decide(jobs, &pair.problem, &opts);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_RUNS);
	assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_PORTS);
	assert_int_equal(decision.jobs[1].site, 0);
	opts.policy = MORPH_JOBS_AUTO;
	decision = decide(jobs, &pair.problem, &opts);
	assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_TURN);
	assert_int_equal(decision.jobs[1].end_ns, 20 * SECOND);
	assert_int_equal(decision.bound_ns, 20 * SECOND);
	pair.sites[1].ports = 0;
	opts.policy = MORPH_JOBS_FCFS;
	decision = decide(jobs, &pair.problem, &opts);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_PORTS);
	assert_int_equal(decision.jobs[0].site, 1);
	assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_BLOCKED);
	pair.jobs[0].arrival_ns = 1;
	pair.parts[2].left = pair.parts[3].left = 0;
	decision = decide(jobs, &pair.problem, &opts);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_FUTURE);
	assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_ENDED);
	make_pair(&pair, 0);
	pair.sites[0].aggregators = 1;
	pair.sites[0].nic_bps = SECOND;
	for (uint32_t part = 0; part < 4; part++)
		pair.parts[part].workers = 2;
	opts.policy = MORPH_JOBS_AUTO;
	decision = decide(jobs, &pair.problem, &opts);
	assert_int_equal(decision.jobs[0].aggregators, 1);
	assert_int_equal(decision.flows[1].share_bps, SECOND);
	assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_AGGREGATORS);
	morph_jobs_free(jobs);
}

/* ------------------------------------------------------------ use of the object */

static void same_problem_has_the_same_decision_without_memory(void **state)
{
	const struct small_limits limits = { 5, 8, 5, 6, 2, 4, 900 };
	struct small small = { .random = 6 };
	struct morph_jobs *one = morph_jobs_new(ctx), *other = morph_jobs_new(ctx);

	(void)state;
	for (uint32_t at = 0; at < INSTANCES; at++) {
		MORPH_OPTS(morph_jobs_opts, opts, .policy = at % MORPH_JOBS_POLICIES);
		MORPH_OPTS(morph_jobs_outcome, outcome);
		struct morph_jobs_decision a, b;

		opts.flags = at / MORPH_JOBS_POLICIES % 4;
		small_draw(&small, &limits);
		small_light(&small);
		/* The other object solves only every third problem. */
		decide(one, &small.problem, &opts);
		allocations();
		decide(one, &small.problem, &opts);
		assert_int_equal(morph_jobs_simulate(one, &small.problem, &opts, &outcome), 0);
		a = decide(one, &small.problem, &opts);
		assert_int_equal(allocations(), 0);
		if (at % 3)
			continue;
		b = decide(other, &small.problem, &opts);
		assert_int_equal(a.set_count, b.set_count);
		assert_memory_equal(a.set, b.set, a.set_count * sizeof(*a.set));
		assert_memory_equal(a.jobs, b.jobs, small.problem.job_count * sizeof(*a.jobs));
		assert_memory_equal(a.flows, b.flows, small.problem.part_count * sizeof(*a.flows));
		assert_memory_equal(&a.worst, &b.worst, sizeof(a.worst));
		assert_true(a.end_ns == b.end_ns && a.bound_ns == b.bound_ns);
	}
	morph_jobs_free(one);
	morph_jobs_free(other);
}

static void invalid_problems_are_rejected(void **state)
{
	struct morph_jobs *jobs = morph_jobs_new(ctx);
	MORPH_OPTS(morph_jobs_decision, decision);
	MORPH_OPTS(morph_jobs_opts, opts);
	struct pair_of_jobs pair;

	(void)state;
#define REJECTED(code, change)                                                             \
	do {                                                                               \
		make_pair(&pair, 0);                                                       \
		change;                                                                    \
		assert_int_equal(morph_jobs_decide(jobs, &pair.problem, &opts, &decision), \
				 -(code));                                                 \
		opts = (struct morph_jobs_opts){ .sz = sizeof(opts) };                     \
	} while (0)

	REJECTED(EINVAL, opts.policy = MORPH_JOBS_POLICIES);
	REJECTED(EINVAL, pair.problem.circuit_bps = 0);
	REJECTED(EINVAL, pair.problem.changed_ns = 1);
	REJECTED(EINVAL, pair.problem.site_count = 4097);
	REJECTED(EINVAL, pair.sites[2].ports = 65536);
	REJECTED(EINVAL, pair.jobs[1].first = 1);
	REJECTED(EINVAL, pair.jobs[1].parts = 1);
	REJECTED(EINVAL, pair.jobs[1].parts = 3);
	REJECTED(EINVAL, pair.jobs[0].root = 3);
	REJECTED(EINVAL, pair.parts[1].site = 0);
	REJECTED(EINVAL, pair.parts[1].site = 3);
	REJECTED(EINVAL, pair.parts[1].workers = 0);
	REJECTED(EINVAL, pair.parts[1].left++);
	REJECTED(EINVAL, pair.parts[1].slot = true);
	REJECTED(EINVAL, pair.parts[1].circuits = 2);
	REJECTED(EINVAL, pair.problem.lit_count = 1);
	REJECTED(EINVAL,
		 (pair.lit[0] = (struct morph_jobs_pair){ 0, 1, 2 }, pair.problem.lit_count = 1));
	REJECTED(EINVAL, (pair.problem.most = pair.lit, pair.problem.most_count = 1));
	REJECTED(ERANGE, (pair.jobs[0].iterations = UINT32_MAX,
			  pair.parts[0].left = SECOND * UINT32_MAX, pair.parts[0].workers = 2));
#undef REJECTED
	morph_jobs_free(jobs);
}

static void lack_of_memory_is_reported(void **state)
{
	MORPH_OPTS(morph_jobs_decision, decision);
	struct pair_of_jobs pair;
	unsigned int failures = 0;
	struct morph_jobs *jobs;
	int error;

	(void)state;
	make_pair(&pair, 0);
	fault_at("memory", 1, ENOMEM);
	assert_null(morph_jobs_new(ctx));
	assert_true(fault_struck());
	for (bool struck = true; struck; failures += struck) {
		jobs = morph_jobs_new(ctx);
		fault_at("memory", failures + 1, ENOMEM);
		error = morph_jobs_decide(jobs, &pair.problem, NULL, &decision);
		assert_int_equal(error, fault_calls() > failures ? -ENOMEM : 0);
		struck = fault_struck();
		assert_int_equal(morph_jobs_decide(jobs, &pair.problem, NULL, &decision), 0);
		morph_jobs_free(jobs);
	}
	assert_in_range(failures, 20, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decisions_stay_within_ports_and_capacities),
		cmocka_unit_test(cohorts_have_the_period_of_the_formula),
		cmocka_unit_test(turns_do_not_darken_other_jobs),
		cmocka_unit_test(cohorts_stay_within_capacities),
		cmocka_unit_test(no_job_has_a_longer_period_than_without_cohorts),
		cmocka_unit_test(circuits_change_only_if_it_pays),
		cmocka_unit_test(jobs_that_wait_have_their_reason),
		cmocka_unit_test(same_problem_has_the_same_decision_without_memory),
		cmocka_unit_test(invalid_problems_are_rejected),
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
