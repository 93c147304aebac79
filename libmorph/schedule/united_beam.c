// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Beam search over the rounds of a collective. A state records which matching each plane holds and
 * when the plane is free. States are ranked by the earliest end of the next round plus an estimate
 * for the remaining rounds. The estimate assumes that all planes hold the same matching and change
 * together (dynamic program, as in segments.c). For planes that differ it is the mean of their
 * estimates.
 */
#include "../util/mix.h"
#include "united.h"

#define MOST_WIDTH 64
/* Limits of planes in children, for the default width: some milliseconds. */
#define STEPS 36000
#define STEPS_LONG 360000
#define FEW 64 /* rounds */
#define PAIRS 16 /* rounds */

struct child {
	struct united_state state;
	uint64_t score, alike; /* equal states have the same value */
	uint32_t parent;
	uint16_t picks[UNITED_PLANES];
};

struct united_work {
	struct morph_ctx *ctx;
	const struct united_problem *problem;
	uint32_t width;
	uint16_t *candidates; /* by round, UNITED_CANDIDATES each */
	uint8_t *counts; /* of candidates */
	uint16_t *targets; /* by round: the target of planes that change together */
	uint64_t *values; /* by round and matching: time from there on */
	uint64_t *rests; /* by round: the lower bound with free changes */
	uint64_t *sums; /* by round and matching: of consecutive rounds */
	struct child *children, *parents; /* best first */
	uint32_t children_count, parents_count;
	uint16_t *steps; /* by round and child: picks by plane */
	uint8_t *origins; /* by round and child: its parent */
};

/* ------------------------------------------------------------------ values */

/* The time of a round over all planes that hold a matching. */
static uint64_t share_of(const struct united_problem *problem, uint32_t round, uint16_t matching)
{
	const struct united_price *price = united_price(problem, round, matching);

	if (price->wire_ps == UNITED_NEVER)
		return UNITED_NEVER;
	return united_begin(problem, price) + price->wire_ps / problem->planes;
}

static uint64_t *values_of(const struct united_work *work, uint32_t round)
{
	return &work->values[(size_t)round * work->problem->pool->count];
}

static void value(struct united_work *work, uint64_t change)
{
	const struct united_problem *problem = work->problem;
	uint32_t count = problem->pool->count;

	for (uint32_t round = problem->rounds; round-- > 0;) {
		uint64_t *now = values_of(work, round), *later = now + count;
		uint64_t least = UINT64_MAX;

		for (uint32_t at = 0; at < count; at++) {
			now[at] = lm_sum(share_of(problem, round, (uint16_t)at), later[at]);
			if (now[at] < least) {
				least = now[at];
				work->targets[round] = (uint16_t)at;
			}
		}
		least = lm_sum(least, change);
		for (uint32_t at = 0; at < count; at++)
			now[at] = now[at] < least ? now[at] : least;
	}
}

/* The least time of each round over all planes, whatever they hold. */
static void sum_rests(struct united_work *work)
{
	const struct united_problem *problem = work->problem;

	for (uint32_t round = problem->rounds; round-- > 0;) {
		uint64_t least = UINT64_MAX;

		for (uint32_t at = 0; at < problem->pool->count; at++) {
			uint64_t share = share_of(problem, round, (uint16_t)at);

			least = share < least ? share : least;
		}
		work->rests[round] = lm_sum(work->rests[round + 1], least);
	}
}

/* -------------------------------------------------------------- candidates */

static void add_candidate(struct united_work *work, uint32_t round, uint16_t matching)
{
	uint16_t *list = &work->candidates[round * UNITED_CANDIDATES];

	for (uint32_t at = 0; at < work->counts[round]; at++)
		if (list[at] == matching)
			return;
	if (work->counts[round] < UNITED_CANDIDATES)
		list[work->counts[round]++] = matching;
}

/*
 * The best matching for a round and its successors, 1, 2, 4 and so on in all; if there are few
 * matchings, all of them.
 */
static void find_candidates(struct united_work *work)
{
	const struct united_problem *problem = work->problem;
	uint32_t count = problem->pool->count, rounds = problem->rounds;

	for (uint32_t round = 0; round < rounds; round++) {
		if (problem->own[round] != UNITED_NONE)
			add_candidate(work, round, problem->own[round]);
		for (uint32_t at = 0; at < count; at++)
			work->sums[(size_t)round * count + at] =
				share_of(problem, round, (uint16_t)at);
	}
	for (uint32_t length = 1; length <= rounds; length *= 2)
		for (uint32_t round = 0; round + length <= rounds; round++) {
			uint64_t *sums = &work->sums[(size_t)round * count], least = UINT64_MAX;
			uint64_t *others = sums + (size_t)length * count;
			uint32_t best = 0;

			for (uint32_t at = 0; at < count; at++)
				if (sums[at] < least) {
					least = sums[at];
					best = at;
				}
			if (least != UINT64_MAX)
				add_candidate(work, round, (uint16_t)best);
			for (uint32_t at = 0; round + 2 * length <= rounds && at < count; at++)
				sums[at] = lm_sum(sums[at], others[at]);
		}
	for (uint32_t round = 0; round < rounds && count <= UNITED_CANDIDATES; round++)
		for (uint32_t at = 0; at < count; at++)
			if (united_price(problem, round, (uint16_t)at)->wire_ps != UNITED_NEVER)
				add_candidate(work, round, (uint16_t)at);
}

uint32_t lm_united_candidates(const struct united_work *work, uint32_t round,
			      const uint16_t **candidates)
{
	*candidates = &work->candidates[round * UNITED_CANDIDATES];
	return work->counts[round];
}

/* ---------------------------------------------------------------- children */

/* An option of a plane in a round. */
struct option {
	uint64_t ends; /* end of the round if all planes took this option */
	uint64_t begin, wire;
	uint64_t loses; /* advantage of its present matching */
	uint32_t plane;
	uint16_t pick;
	bool stays;
};

static bool look_at(const struct united_work *work, const struct united_state *state,
		    uint32_t round, uint32_t plane, uint16_t pick, struct option *option)
{
	const struct united_problem *problem = work->problem;
	const struct united_price *price;
	uint32_t gap;

	if (pick == UNITED_NONE)
		return false;
	price = united_price(problem, round, pick);
	if (price->wire_ps == UNITED_NEVER)
		return false;
	gap = lm_united_gap(problem->pool, state->held[plane], pick);
	option->begin = state->end;
	if (gap) {
		bool alone = problem->costs->scope != MORPH_DELAY_FABRIC_SCOPE;
		uint64_t lit = (alone ? state->free[plane] : state->end) +
			       costs_change_ps(problem->costs, gap);

		option->begin = lit > state->end ? lit : state->end;
	}
	option->begin += united_begin(problem, price);
	option->wire = price->wire_ps;
	option->ends = option->begin + price->wire_ps / problem->planes;
	option->plane = plane;
	option->pick = gap ? pick : state->held[plane];
	option->stays = !gap;
	return true;
}

/* The better of staying and changing, including the rest. */
static bool choose(const struct united_work *work, const struct united_state *state, uint32_t round,
		   uint32_t plane, uint16_t pick, struct option *option)
{
	const uint64_t *later = values_of(work, round + 1);
	struct option stays = { .plane = plane };
	bool may_stay = look_at(work, state, round, plane, state->held[plane], &stays);
	bool may_change = look_at(work, state, round, plane, pick, option);

	if (may_stay && (!may_change || lm_sum(stays.ends, later[stays.pick]) <=
						lm_sum(option->ends, later[option->pick])))
		*option = stays;
	return may_stay || may_change;
}

/*
 * Is it first? Of planes that stay, the one that sent last, because the other can change sooner. Of
 * planes that change, the one with the least valuable matching.
 */
static bool goes_before(const struct united_state *state, const struct option *one,
			const struct option *other)
{
	if (one->ends != other->ends)
		return one->ends < other->ends;
	if (one->stays != other->stays)
		return one->stays;
	if (one->stays && state->free[one->plane] != state->free[other->plane])
		return state->free[one->plane] > state->free[other->plane];
	if (!one->stays && one->loses != other->loses)
		return one->loses > other->loses;
	return false;
}

/* The earliest end of the next round, and the rest. */
static uint64_t score_of(const struct united_work *work, uint32_t round,
			 const struct united_state *state)
{
	const struct united_problem *problem = work->problem;
	struct united_way ways[UNITED_PLANES];
	struct option option = { .plane = 0 };
	const uint64_t *later;
	uint32_t count = 0;
	uint64_t rest = 0;
	bool may = false;

	if (round + 1 == problem->rounds)
		return state->end;
	later = values_of(work, round + 2);
	for (uint32_t plane = 0; plane < problem->planes; plane++) {
		/* Equal planes are usually adjacent. */
		bool again = plane && state->held[plane] == state->held[plane - 1] &&
			     state->free[plane] == state->free[plane - 1];

		if (!again)
			may = choose(work, state, round + 1, plane, work->targets[round + 1],
				     &option);
		if (!may)
			continue;
		ways[count++] = (struct united_way){ .begin = option.begin, .wire = option.wire };
		rest += later[option.pick] / problem->planes;
	}
	if (!count)
		return UINT64_MAX;
	return lm_sum(lm_united_level(ways, &count), rest);
}

/* Planes that are free for the longest change are equal, in any order. */
static uint64_t alike(const struct united_problem *problem, const struct united_state *state)
{
	uint64_t change = costs_change_ps(problem->costs, problem->pool->ranks), sum = 0;
	uint64_t least = state->end > change ? state->end - change : 0;

	for (uint32_t plane = 0; plane < problem->planes; plane++) {
		uint64_t from = state->free[plane] > least ? state->free[plane] : least;

		sum += mix(mix(from) + state->held[plane]);
	}
	return sum;
}

static bool is_before(const struct child *one, const struct child *other)
{
	return one->score != other->score ? one->score < other->score : one->alike < other->alike;
}

/* Keep a child if it is among the best so far. */
static void keep(struct united_work *work, struct child *child)
{
	uint32_t place = work->children_count;

	if (place == work->width && child->score >= work->children[place - 1].score)
		return;
	child->alike = alike(work->problem, &child->state);
	for (uint32_t at = 0; at < work->children_count; at++)
		if (work->children[at].alike == child->alike)
			return;
	place -= place == work->width;
	for (; place && is_before(child, &work->children[place - 1]); place--)
		work->children[place] = work->children[place - 1];
	work->children[place] = *child;
	work->children_count += work->children_count < work->width;
}

/* A child that cannot be among the best is dropped early. */
static bool is_late(const struct united_work *work, uint32_t round, const struct child *child)
{
	return work->children_count == work->width &&
	       lm_sum(child->state.end, work->rests[round + 1]) >=
		       work->children[work->width - 1].score;
}

/* Build it from its parent and picks. False: some of these planes have nothing to carry. */
static bool add_child(struct united_work *work, uint32_t round, struct child *child, uint32_t used)
{
	child->state = work->parents[child->parent].state;
	if (lm_united_go(work->problem, round, child->picks, NULL, &child->state) < used)
		return false;
	if (is_late(work, round, child))
		return true;
	child->score = score_of(work, round, &child->state);
	keep(work, child);
	return true;
}

/* Add planes in order, while each has something to carry. */
static void add_children(struct united_work *work, uint32_t round, uint32_t parent,
			 const struct option *options, uint32_t count)
{
	struct child child = { .parent = parent };

	memset(child.picks, 0xff, sizeof(child.picks));
	for (uint32_t used = 1; used <= count; used++) {
		const struct option *option = &options[used - 1];

		child.picks[option->plane] = option->pick;
		if (!add_child(work, round, &child, used))
			break;
	}
}

struct options {
	struct option list[UNITED_PLANES]; /* in the order in which planes take part */
	uint32_t count;
	bool mixed; /* some stay with another matching than the candidate */
};

/* Change to a matching if that is better; with @all, whenever possible. */
static struct options options_of(const struct united_work *work, uint32_t round,
				 const struct united_state *state, uint16_t candidate, bool all)
{
	const uint64_t *later = values_of(work, round + 1);
	struct options options = { .count = 0 };

	for (uint32_t plane = 0; plane < work->problem->planes; plane++) {
		uint16_t held = state->held[plane];
		struct option option = { .plane = plane };
		uint32_t at = options.count;

		if (!(all ? look_at(work, state, round, plane, candidate, &option) :
			    choose(work, state, round, plane, candidate, &option)))
			continue;
		option.loses = held == UNITED_NONE ? UINT64_MAX : later[held];
		options.mixed = options.mixed || (option.stays && option.pick != candidate);
		for (; at && goes_before(state, &option, &options.list[at - 1]); at--)
			options.list[at] = options.list[at - 1];
		options.list[at] = option;
		options.count++;
	}
	return options;
}

static bool try_candidate(struct united_work *work, uint32_t round, uint32_t parent,
			  uint16_t candidate, bool all)
{
	struct options options =
		options_of(work, round, &work->parents[parent].state, candidate, all);

	add_children(work, round, parent, options.list, options.count);
	return options.mixed;
}

/* All planes take part: some for one candidate, the others change to another. */
static void try_pair(struct united_work *work, uint32_t round, uint32_t parent, uint16_t one,
		     uint16_t other)
{
	struct options options = options_of(work, round, &work->parents[parent].state, one, false);
	struct child child = { .parent = parent };

	for (uint32_t used = 1; used < options.count; used++) {
		memset(child.picks, 0xff, sizeof(child.picks));
		for (uint32_t at = 0; at < options.count; at++)
			child.picks[options.list[at].plane] = at < used ? options.list[at].pick :
									  other;
		add_child(work, round, &child, options.count);
	}
}

/*
 * If there are few rounds, the first candidate with each other one; with two planes, both of all.
 */
static void try_pairs(struct united_work *work, uint32_t round, uint32_t parent,
		      const uint16_t *candidates, uint32_t count)
{
	uint32_t firsts = work->problem->planes == 2 ? count : 1;

	if (work->problem->rounds > PAIRS)
		return;
	for (uint32_t one = 0; one < firsts && one < count; one++)
		for (uint32_t other = 0; other < count; other++)
			if (one != other)
				try_pair(work, round, parent, candidates[one], candidates[other]);
}

static void bear(struct united_work *work, uint32_t round, uint32_t parent)
{
	uint16_t target = work->targets[round];
	const uint16_t *candidates;
	uint32_t count = lm_united_candidates(work, round, &candidates);

	/* Without a target, all stay. */
	try_candidate(work, round, parent, UNITED_NONE, false);
	if (try_candidate(work, round, parent, target, false))
		try_candidate(work, round, parent, target, true);
	for (uint32_t at = 0; at < count; at++)
		if (candidates[at] != target &&
		    try_candidate(work, round, parent, candidates[at], false))
			try_candidate(work, round, parent, candidates[at], true);
	try_pairs(work, round, parent, candidates, count);
}

/* -------------------------------------------------------------------- beam */

static void note(struct united_work *work, uint32_t round)
{
	uint32_t planes = work->problem->planes;

	for (uint32_t at = 0; at < work->children_count; at++) {
		size_t cell = (size_t)round * work->width + at;

		work->origins[cell] = (uint8_t)work->children[at].parent;
		memcpy(&work->steps[cell * planes], work->children[at].picks,
		       planes * sizeof(*work->steps));
	}
}

static void trace(const struct united_work *work, struct united_plan *plan)
{
	uint32_t planes = work->problem->planes, at = 0;

	for (uint32_t round = work->problem->rounds; round-- > 0;) {
		size_t cell = (size_t)round * work->width + at;

		memcpy(&plan->picks[(size_t)round * planes], &work->steps[cell * planes],
		       planes * sizeof(*work->steps));
		at = work->origins[cell];
	}
	memset(plan->early, 0, (size_t)work->problem->rounds * planes * sizeof(*plan->early));
}

void lm_united_beam(struct united_work *work, uint32_t percent, struct united_plan *plan)
{
	const struct united_problem *problem = work->problem;

	value(work, costs_change_ps(problem->costs, problem->pool->ranks) / 100 * percent);
	work->parents[0].state = lm_united_first(problem);
	work->parents_count = 1;
	plan->finish = UINT64_MAX;
	for (uint32_t round = 0; round < problem->rounds; round++) {
		struct child *swapped = work->parents;

		work->children_count = 0;
		for (uint32_t parent = 0; parent < work->parents_count; parent++)
			bear(work, round, parent);
		if (!work->children_count)
			return;
		note(work, round);
		work->parents = work->children;
		work->parents_count = work->children_count;
		work->children = swapped;
	}
	plan->finish = work->parents[0].state.end;
	trace(work, plan);
}

/* -------------------------------------------------------------------- work */

/* Usually few planes after the first have something to carry. */
static uint32_t width_of(const struct united_problem *problem)
{
	uint64_t steps = problem->rounds <= FEW ? STEPS : STEPS_LONG;
	uint64_t each = (uint64_t)problem->rounds * (problem->planes + 8) * 2 * UNITED_CANDIDATES;
	uint64_t width = steps / each;

	if (width < 3)
		return 3;
	return width > MOST_WIDTH ? MOST_WIDTH : (uint32_t)width;
}

struct united_work *lm_united_work_new(struct morph_ctx *ctx, const struct united_problem *problem,
				       uint32_t width)
{
	struct united_work *work = calloc(1, sizeof(*work));
	size_t rounds = problem->rounds, cells = (rounds + 1) * problem->pool->count;

	if (!work) {
		lm_no_memory(ctx, "plan a schedule");
		return NULL;
	}
	work->ctx = ctx;
	work->problem = problem;
	work->width = width ? width : width_of(problem);
	work->width = work->width > MOST_WIDTH ? MOST_WIDTH : work->width;
	work->candidates = calloc(rounds * UNITED_CANDIDATES, sizeof(*work->candidates));
	work->counts = calloc(rounds, sizeof(*work->counts));
	work->targets = calloc(rounds, sizeof(*work->targets));
	work->values = calloc(cells, sizeof(*work->values));
	work->rests = calloc(rounds + 1, sizeof(*work->rests));
	work->sums = calloc(cells, sizeof(*work->sums));
	work->children = calloc(work->width, sizeof(*work->children));
	work->parents = calloc(work->width, sizeof(*work->parents));
	work->steps = calloc(rounds * work->width * problem->planes, sizeof(*work->steps));
	work->origins = calloc(rounds * work->width, sizeof(*work->origins));
	if (!work->candidates || !work->counts || !work->targets || !work->values || !work->sums ||
	    !work->rests || !work->children || !work->parents || !work->steps || !work->origins) {
		lm_united_work_free(work);
		lm_no_memory(ctx, "plan a schedule");
		return NULL;
	}
	sum_rests(work);
	find_candidates(work);
	return work;
}

void lm_united_work_free(struct united_work *work)
{
	if (!work)
		return;
	free(work->candidates);
	free(work->counts);
	free(work->targets);
	free(work->values);
	free(work->rests);
	free(work->sums);
	free(work->children);
	free(work->parents);
	free(work->steps);
	free(work->origins);
	free(work);
}
