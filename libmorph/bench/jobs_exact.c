// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Slots, circuits and bandwidth of one time slot together, by branch and bound.
 *
 * The integer program: binary s(part), integer circuits x(pair), bytes y(part) on circuits.
 * Maximise the sum of y(part) * (workers if s(part), else 1), subject to
 *
 * - the slots of a site: sum of s(part) <= slots;
 * - the ports of a site: sum of x(pair) <= ports; the limit of a pair: x(pair) <= most;
 * - capacity: sum of y(part) of a pair <= x(pair) * bytes of a circuit in the time slot;
 * - demand: y(part) <= left * (1 if s(part), else workers).
 *
 * With slots and circuits given, each pair serves parts with slots first, those with the most
 * workers before the others. Branching is over slots, then over circuits. The bound gives each
 * pair all ports that are free. The code shares nothing with the planner.
 */
#include <string.h>

#include "jobs_exact.h"

#define PAIRS (JOBS_EXACT_SITES * JOBS_EXACT_SITES)

struct pair {
	uint32_t one, other, most, count;
	uint32_t parts[JOBS_EXACT_PARTS];
};

struct search {
	const struct morph_jobs_problem *problem;
	uint64_t bytes; /* of a circuit in the time slot */
	struct pair pairs[PAIRS];
	uint32_t pair_count;
	uint32_t choices[JOBS_EXACT_PARTS], choice_count; /* parts that may have a slot */
	bool slot[JOBS_EXACT_PARTS];
	uint32_t slots[JOBS_EXACT_SITES], ports[JOBS_EXACT_SITES]; /* free */
	uint64_t best;
};

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* ------------------------------------------------------------ the problem */

static uint32_t most_of(const struct morph_jobs_problem *problem, uint32_t one, uint32_t other)
{
	for (uint32_t at = 0; at < problem->most_count; at++) {
		const struct morph_jobs_pair *it = &problem->most[at];

		if ((it->one == one && it->other == other) ||
		    (it->one == other && it->other == one))
			return it->circuits;
	}
	return UINT32_MAX;
}

static struct pair *find_pair(struct search *search, uint32_t one, uint32_t other)
{
	struct pair *pair;

	for (uint32_t at = 0; at < search->pair_count; at++) {
		pair = &search->pairs[at];
		if ((pair->one == one && pair->other == other) ||
		    (pair->one == other && pair->other == one))
			return pair;
	}
	pair = &search->pairs[search->pair_count++];
	*pair = (struct pair){ .one = one,
			       .other = other,
			       .most = most_of(search->problem, one, other) };
	return pair;
}

/* List the pairs with their parts, in the order of the jobs in @order. */
static void list_pairs(struct search *search, const struct morph_jobs_problem *problem,
		       const uint32_t *order)
{
	memset(search, 0, sizeof(*search));
	search->problem = problem;
	search->bytes = problem->circuit_bps / 8;
	for (uint32_t rank = 0; rank < problem->job_count; rank++) {
		const struct morph_job *job = &problem->jobs[order ? order[rank] : rank];

		for (uint32_t part = job->first; part < job->first + job->parts; part++) {
			const struct morph_jobs_part *it = &problem->parts[part];
			struct pair *pair;

			if (it->site == job->root || !it->left)
				continue;
			pair = find_pair(search, it->site, job->root);
			pair->parts[pair->count++] = part;
			if (it->workers > 1)
				search->choices[search->choice_count++] = part;
		}
	}
}

/* ------------------------------------------------------------ branch and bound */

/* Let a part use what is left of the capacity. Return the bytes of workers that it delivers. */
static uint64_t serve(const struct morph_jobs_part *part, bool slot, uint64_t *capacity)
{
	uint64_t bytes = least(slot ? part->left : part->left * part->workers, *capacity);

	*capacity -= bytes;
	return bytes * (slot ? part->workers : 1);
}

/* The most that a pair delivers with this number of circuits. */
static uint64_t deliver(const struct search *search, const struct pair *pair, uint32_t circuits)
{
	uint64_t capacity = circuits * search->bytes, sum = 0;
	bool served[JOBS_EXACT_PARTS] = { false };

	for (uint32_t next = 0; next < pair->count; next++) {
		uint32_t best = 0, most = 0;

		for (uint32_t at = 0; at < pair->count; at++) {
			uint32_t part = pair->parts[at];
			uint32_t weight =
				search->slot[part] ? search->problem->parts[part].workers : 1;

			if (served[at] || weight <= most)
				continue;
			most = weight;
			best = at;
		}
		served[best] = true;
		sum += serve(&search->problem->parts[pair->parts[best]],
			     search->slot[pair->parts[best]], &capacity);
	}
	return sum;
}

static uint32_t room_of(const struct search *search, const struct pair *pair)
{
	return (uint32_t)least(pair->most,
			       least(search->ports[pair->one], search->ports[pair->other]));
}

/* Give circuits to the pairs from @next on. */
static void branch_circuits(struct search *search, uint32_t next, uint64_t sum)
{
	const struct pair *pair = &search->pairs[next];
	uint64_t bound = 0;
	uint32_t room;

	for (uint32_t at = next; at < search->pair_count; at++)
		bound += deliver(search, &search->pairs[at], room_of(search, &search->pairs[at]));
	if (sum + bound <= search->best)
		return;
	if (next == search->pair_count) {
		search->best = sum;
		return;
	}
	room = room_of(search, pair);
	for (uint32_t circuits = room + 1; circuits--;) {
		search->ports[pair->one] -= circuits;
		search->ports[pair->other] -= circuits;
		branch_circuits(search, next + 1, sum + deliver(search, pair, circuits));
		search->ports[pair->one] += circuits;
		search->ports[pair->other] += circuits;
	}
}

/* Grant slots to the choices from @next on. */
static void branch_slots(struct search *search, uint32_t next)
{
	uint32_t part, site, later = 0;

	if (next == search->choice_count) {
		branch_circuits(search, 0, 0);
		return;
	}
	part = search->choices[next];
	site = search->problem->parts[part].site;
	if (search->slots[site]) {
		search->slots[site]--;
		search->slot[part] = true;
		branch_slots(search, next + 1);
		search->slot[part] = false;
		search->slots[site]++;
	}
	/* A slot never delivers less, so a slot stays free only if nothing else can use it. */
	for (uint32_t at = next + 1; at < search->choice_count; at++)
		later += search->problem->parts[search->choices[at]].site == site;
	if (search->slots[site] <= later)
		branch_slots(search, next + 1);
}

uint64_t jobs_exact(const struct morph_jobs_problem *problem)
{
	struct search search;

	list_pairs(&search, problem, NULL);
	for (uint32_t at = 0; at < problem->site_count; at++) {
		search.slots[at] = problem->sites[at].slots;
		search.ports[at] = problem->sites[at].ports;
	}
	branch_slots(&search, 0);
	return search.best;
}

/* ------------------------------------------------------------ a decision */

static uint64_t left_of(const struct morph_jobs_problem *problem,
			const struct morph_jobs_decision *decision, uint32_t number)
{
	const struct morph_job *job = &problem->jobs[number];
	uint64_t left = 0;

	for (uint32_t part = job->first; part < job->first + job->parts; part++) {
		const struct morph_jobs_part *it = &problem->parts[part];

		if (it->site != job->root)
			left += it->left * (decision->flows[part].slot ? 1 : it->workers);
	}
	return left;
}

/* The jobs by the bytes that they move without slots, as the policy orders them. */
static void sort_jobs(const struct morph_jobs_problem *problem, uint32_t *order)
{
	const struct morph_jobs_flow none[JOBS_EXACT_PARTS] = { 0 };
	const struct morph_jobs_decision dry = { .flows = none };

	for (uint32_t number = 0; number < problem->job_count; number++) {
		uint64_t left = left_of(problem, &dry, number);
		uint32_t at = number;

		for (; at && left_of(problem, &dry, order[at - 1]) > left; at--)
			order[at] = order[at - 1];
		order[at] = number;
	}
}

uint64_t jobs_delivered(const struct morph_jobs_problem *problem,
			const struct morph_jobs_decision *decision)
{
	uint32_t order[JOBS_EXACT_PARTS];
	struct search search;
	uint64_t sum = 0;

	sort_jobs(problem, order);
	list_pairs(&search, problem, order);
	for (uint32_t at = 0; at < search.pair_count; at++) {
		const struct pair *pair = &search.pairs[at];
		uint64_t capacity = decision->flows[pair->parts[0]].circuits * search.bytes;

		for (uint32_t rank = 0; rank < pair->count; rank++)
			sum += serve(&problem->parts[pair->parts[rank]],
				     decision->flows[pair->parts[rank]].slot, &capacity);
	}
	return sum;
}
