// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The policy in which some planes change while others send: its initial plans, and their
 * improvement.
 */
#include "lay.h"
#include "united.h"

/* ---------------------------------------------------------------- improvement */

/*
 * Changes near a plan: a plane leaves out rounds, takes part in others or over another matching, or
 * ends before a round to change sooner. The search keeps what ends sooner, until nothing helps or
 * the steps are used up.
 */

#define ROUND_STEPS 6 /* steps of a round, relative to the planes */
#define HORIZON 8 /* rounds after which a change without gain is given up */

struct improving {
	const struct united_problem *problem;
	const struct united_work *work;
	struct united_plan *plan;
	struct united_state *states; /* before each round, and after the last */
	struct united_state *trial; /* the same for a trial */
	uint16_t *kept; /* previous picks of the rounds that a trial changes */
	uint64_t *kept_early;
	uint64_t steps; /* steps left */
	bool better; /* a trial succeeded since the last check */
};

static size_t cell_of(const struct improving *it, uint32_t round, uint32_t plane)
{
	return (size_t)round * it->problem->planes + plane;
}

/* Recompute the rounds from one on. False: within the horizon it does not end sooner. */
static bool ends_sooner(struct improving *it, uint32_t from, uint32_t until)
{
	const struct united_problem *problem = it->problem;
	uint32_t steps = problem->planes + ROUND_STEPS;

	it->trial[from] = it->states[from];
	for (uint32_t round = from; round < problem->rounds; round++) {
		size_t cell = cell_of(it, round, 0);

		it->steps -= it->steps < steps ? it->steps : steps;
		it->trial[round + 1] = it->trial[round];
		if (!lm_united_go(problem, round, it->plan->picks + cell, it->plan->early + cell,
				  &it->trial[round + 1]))
			return false;
		if (round >= until + HORIZON &&
		    it->trial[round + 1].end >= it->states[round + 1].end)
			return false;
	}
	return it->trial[problem->rounds].end < it->states[problem->rounds].end;
}

/* Keep the trial for a range of rounds, or undo it. */
static bool settle(struct improving *it, uint32_t from, uint32_t until)
{
	size_t first = cell_of(it, from, 0), count = cell_of(it, until, 0) - first;
	uint32_t rounds = it->problem->rounds;

	if (!ends_sooner(it, from, until)) {
		memcpy(it->plan->picks + first, it->kept, count * sizeof(*it->kept));
		memcpy(it->plan->early + first, it->kept_early, count * sizeof(*it->kept_early));
		return false;
	}
	memcpy(it->states + from, it->trial + from, (rounds + 1 - from) * sizeof(*it->states));
	it->plan->finish = it->states[rounds].end;
	it->better = true;
	return true;
}

static void begin(struct improving *it, uint32_t from, uint32_t until)
{
	size_t first = cell_of(it, from, 0), count = cell_of(it, until, 0) - first;

	memcpy(it->kept, it->plan->picks + first, count * sizeof(*it->kept));
	memcpy(it->kept_early, it->plan->early + first, count * sizeof(*it->kept_early));
}

/* Let a plane carry rounds over a matching, or none of them. */
static bool try_pick(struct improving *it, uint32_t plane, uint32_t from, uint32_t until,
		     uint16_t pick)
{
	bool differs = false;

	begin(it, from, until);
	for (uint32_t round = from; round < until; round++) {
		size_t cell = cell_of(it, round, plane);

		differs = differs || it->plan->picks[cell] != pick;
		it->plan->picks[cell] = pick;
		it->plan->early[cell] = 0;
	}
	return differs && settle(it, from, until);
}

/* Number of rounds from one on in which the plane does the same. */
static uint32_t run_of(const struct improving *it, uint32_t plane, uint32_t from)
{
	uint16_t pick = it->plan->picks[cell_of(it, from, plane)];
	uint32_t round = from;

	while (round < it->problem->rounds && it->plan->picks[cell_of(it, round, plane)] == pick)
		round++;
	return round;
}

/* Lengths to try for a new matching: 1, 2, 4 and so on, and as long as the plane does the same. */
static void try_lengths(struct improving *it, uint32_t plane, uint32_t from, uint16_t pick)
{
	uint32_t rounds = it->problem->rounds, run = run_of(it, plane, from);

	for (uint32_t length = 1; it->steps && length <= 16 && from + length <= rounds; length *= 2)
		if (try_pick(it, plane, from, from + length, pick))
			return;
	if (it->steps)
		try_pick(it, plane, from, run, pick);
}

/*
 * If a round waits for a plane, let the plane end its previous round sooner: by half of the wait,
 * and by all of it.
 */
static void try_early(struct improving *it, uint32_t plane, uint32_t round)
{
	const struct united_problem *problem = it->problem;
	uint16_t pick = it->plan->picks[cell_of(it, round, plane)];
	const struct united_state *state = &it->states[round];
	uint32_t before = round;
	uint64_t lit;

	if (pick == UNITED_NONE || problem->costs->scope == MORPH_DELAY_FABRIC_SCOPE)
		return;
	lit = lm_united_lit(problem, state, plane, pick, 0);
	if (lit <= state->end)
		return;
	while (before && it->states[before].free[plane] == state->free[plane])
		before--;
	if (it->states[before].free[plane] == state->free[plane])
		return;
	for (uint32_t part = 1; it->steps && part <= 16; part *= 2) {
		size_t cell = cell_of(it, before, plane);

		begin(it, before, before + 1);
		it->plan->early[cell] += (lit - state->end) / part;
		if (settle(it, before, before + 1))
			return;
	}
	for (uint32_t part = 1; it->steps && part <= 4; part *= 2) {
		size_t cell = cell_of(it, before, plane);

		begin(it, before, before + 1);
		it->plan->early[cell] -= it->plan->early[cell] / part;
		if (settle(it, before, before + 1))
			return;
	}
}

static void try_round(struct improving *it, uint32_t round)
{
	const uint16_t *candidates;
	uint32_t count = lm_united_candidates(it->work, round, &candidates);

	for (uint32_t plane = 0; it->steps && plane < it->problem->planes; plane++) {
		uint16_t held = it->states[round].held[plane];

		if (it->plan->picks[cell_of(it, round, plane)] != UNITED_NONE)
			try_lengths(it, plane, round, UNITED_NONE);
		if (held != UNITED_NONE)
			try_lengths(it, plane, round, held);
		for (uint32_t at = 0; it->steps && at < count; at++)
			if (candidates[at] != held)
				try_lengths(it, plane, round, candidates[at]);
		try_early(it, plane, round);
	}
}

static bool follow(struct improving *it)
{
	const struct united_problem *problem = it->problem;

	it->states[0] = lm_united_first(problem);
	for (uint32_t round = 0; round < problem->rounds; round++) {
		size_t cell = cell_of(it, round, 0);

		it->states[round + 1] = it->states[round];
		if (!lm_united_go(problem, round, it->plan->picks + cell, it->plan->early + cell,
				  &it->states[round + 1]))
			return false;
	}
	it->plan->finish = it->states[problem->rounds].end;
	return true;
}

int lm_united_improve(struct morph_ctx *ctx, const struct united_problem *problem,
		      const struct united_work *work, uint64_t steps, struct united_plan *plan)
{
	size_t rounds = problem->rounds, cells = rounds * problem->planes;
	struct improving it = {
		.problem = problem, .work = work, .plan = plan, .steps = steps, .better = true
	};
	int ret = 0;

	it.states = calloc(rounds + 1, sizeof(*it.states));
	it.trial = calloc(rounds + 1, sizeof(*it.trial));
	it.kept = calloc(cells, sizeof(*it.kept));
	it.kept_early = calloc(cells, sizeof(*it.kept_early));
	if (!it.states || !it.trial || !it.kept || !it.kept_early)
		ret = lm_no_memory(ctx, "plan a schedule");
	else if (follow(&it))
		while (it.better && it.steps) {
			it.better = false;
			for (uint32_t round = 0; it.steps && round < rounds; round++)
				try_round(&it, round);
		}
	free(it.states);
	free(it.trial);
	free(it.kept);
	free(it.kept_early);
	return ret;
}

/* ----------------------------------------------------------------- beginnings */

/*
 * While some planes change, others send, each over its own circuits or several: see united.h. The
 * search begins with a schedule of the other policies, if planes and matchings can express it, and
 * with beam searches that assume expensive or cheap changes.
 */

#define MOST_CIRCULANTS 128 /* ranks; above, the pool has the ring only */
#define MOST_NEXT (1U << 22) /* ranks of all matchings */
#define FEW 64 /* rounds */
#define STEPS 32000 /* of improvement: some milliseconds */
#define STEPS_LONG 420000

struct planning {
	struct lay lay;
	const struct morph_collective *collective;
	const struct morph_schedule *other;
	struct united_pool pool;
	struct united_problem *problem;
	uint32_t *next; /* of a matching */
	uint32_t *members, count; /* participating ranks; others have no circuits */
	bool *takes_part; /* by rank */
	uint16_t *numbers; /* by matching of the other schedule */
	struct united_plan best, plan;
};

/* ---------------------------------------------------------------- the pool */

static void clear(struct planning *planning)
{
	memset(planning->next, 0xff, planning->pool.ranks * sizeof(*planning->next));
}

static int add_matching(struct planning *planning, const struct morph_schedule *schedule,
			uint32_t number)
{
	const struct matching *matching = &schedule->matchings.list[number];

	clear(planning);
	for (uint32_t at = matching->first; at < matching->first + matching->count; at++) {
		const struct morph_rank_pair *circuit = &schedule->circuits.list[at];

		if (planning->takes_part[circuit->src] && planning->takes_part[circuit->dst])
			planning->next[circuit->src] = circuit->dst;
	}
	return lm_united_add(&planning->pool, planning->next);
}

static int add_resident(struct planning *planning)
{
	const struct morph_schedule *schedule = planning->lay.schedule;
	int ret = 0;

	memset(planning->problem->resident, 0xff, sizeof(planning->problem->resident));
	for (uint32_t plane = 0; ret >= 0 && plane < schedule->planes; plane++) {
		uint32_t hold = planning->lay.now[plane];

		if (hold == NO_HOLD)
			continue;
		ret = add_matching(planning, schedule, schedule->holds.list[hold].matching);
		planning->problem->resident[plane] = (uint16_t)ret;
	}
	return ret;
}

static int add_other(struct planning *planning)
{
	const struct morph_schedule *other = planning->other;
	int ret = 0;

	for (uint32_t at = 0; ret >= 0 && at < other->matchings.count; at++) {
		ret = add_matching(planning, other, at);
		planning->numbers[at] = (uint16_t)ret;
	}
	return ret;
}

static int add_circulant(struct planning *planning, uint32_t by)
{
	clear(planning);
	for (uint32_t at = 0; at < planning->count; at++)
		planning->next[planning->members[at]] =
			planning->members[(at + by) % planning->count];
	return lm_united_add(&planning->pool, planning->next);
}

/* A round's own circuits, if each rank sends to one partner and receives from one. */
static int add_own(struct planning *planning, uint32_t round)
{
	struct united_problem *problem = planning->problem;
	const struct round *of = &planning->collective->rounds.list[round];
	const struct transfer *transfers = &planning->collective->transfers.list[of->first];
	uint32_t ranks = planning->pool.ranks, *senders = planning->next + ranks;
	int ret;

	clear(planning);
	memset(senders, 0xff, ranks * sizeof(*senders));
	problem->own[round] = UNITED_NONE;
	problem->uniform[round] = true;
	problem->bytes[round] = 0;
	for (uint32_t at = 0; at < of->count; at++) {
		const struct transfer *transfer = &transfers[at];

		if (transfer->bytes > problem->bytes[round])
			problem->bytes[round] = transfer->bytes;
		problem->uniform[round] &= transfer->bytes == transfers->bytes;
	}
	for (uint32_t at = 0; at < of->count; at++) {
		const struct transfer *transfer = &transfers[at];

		if (planning->next[transfer->src] != UINT32_MAX ||
		    senders[transfer->dst] != UINT32_MAX)
			return 0;
		planning->next[transfer->src] = transfer->dst;
		senders[transfer->dst] = transfer->src;
	}
	ret = lm_united_add(&planning->pool, planning->next);
	problem->own[round] = (uint16_t)ret;
	return ret;
}

/* Add the matchings. Those up to the returned number are always priced. */
static int fill_pool(struct planning *planning)
{
	uint32_t count = planning->count, always;
	int ret = add_resident(planning);

	if (ret >= 0)
		ret = add_other(planning);
	if (ret >= 0)
		ret = add_circulant(planning, 1);
	if (ret >= 0)
		ret = add_circulant(planning, count - 1);
	always = planning->pool.count;
	for (uint32_t round = 0; ret >= 0 && round < planning->problem->rounds; round++)
		ret = add_own(planning, round);
	for (uint32_t by = 2; ret >= 0 && count <= MOST_CIRCULANTS && by + 1 < count; by++)
		ret = add_circulant(planning, by);
	return ret < 0 ? ret : (int)always;
}

/* ---------------------------------------------------------- what others found */

/* How much earlier than its round each plane ends. */
static void note_early(const struct planning *planning, struct united_plan *plan)
{
	const struct morph_schedule *other = planning->other;
	uint32_t planes = planning->problem->planes, next;

	for (uint32_t at = 0; at < other->sends.count; at = next) {
		const struct send *first = &other->sends.list[at];
		uint64_t end = 0;

		for (next = at;
		     next < other->sends.count && other->sends.list[next].round == first->round;
		     next++)
			if (other->sends.list[next].until_ps > end)
				end = other->sends.list[next].until_ps;
		for (uint32_t of = at; of < next; of++) {
			const struct send *send = &other->sends.list[of];
			uint32_t hold = other->hops.list[send->hops_first];

			plan->early[(size_t)send->round * planes + other->holds.list[hold].plane] =
				end - send->until_ps;
		}
	}
}

/* Does each plane have one matching in each round, without paths over several planes? */
static bool read_other(const struct planning *planning, struct united_plan *plan)
{
	const struct morph_schedule *other = planning->other;
	uint32_t planes = planning->problem->planes;

	memset(plan->picks, 0xff,
	       (size_t)planning->problem->rounds * planes * sizeof(*plan->picks));
	for (uint32_t at = 0; at < other->sends.count; at++) {
		const struct send *send = &other->sends.list[at];
		const struct hold *hold = &other->holds.list[other->hops.list[send->hops_first]];
		uint16_t number = planning->numbers[hold->matching], *pick;

		for (uint32_t hop = 1; hop < send->hops; hop++)
			if (other->hops.list[send->hops_first + hop] !=
			    other->hops.list[send->hops_first])
				return false;
		pick = &plan->picks[(size_t)send->round * planes + hold->plane];
		if (*pick != UNITED_NONE && *pick != number)
			return false;
		*pick = number;
	}
	note_early(planning, plan);
	plan->finish = lm_united_finish(planning->problem, plan);
	return plan->finish != UINT64_MAX;
}

/* -------------------------------------------------------------------- search */

static void take_better(struct planning *planning)
{
	struct united_plan plan = planning->plan;

	if (plan.finish >= planning->best.finish)
		return;
	planning->plan = planning->best;
	planning->best = plan;
}

/* Improve the plans of other policies and of beam searches, each for half of the steps. */
static int search(struct planning *planning, struct united_work *work)
{
	static const uint32_t percents[] = { 100, 30 };
	struct morph_ctx *ctx = planning->lay.schedule->ctx;
	const struct united_problem *problem = planning->problem;
	uint64_t steps = problem->rounds > FEW ? STEPS_LONG : STEPS;
	struct united_plan found = { 0 };
	int ret = lm_united_plan_room(ctx, problem, &found);

	for (size_t at = 0; !ret && at < sizeof(percents) / sizeof(percents[0]); at++) {
		lm_united_beam(work, percents[at], &planning->plan);
		take_better(planning);
	}
	if (!ret && planning->best.finish != UINT64_MAX)
		ret = lm_united_improve(ctx, problem, work, steps, &planning->best);
	if (!ret && read_other(planning, &found)) {
		ret = lm_united_improve(ctx, problem, work, steps, &found);
		if (found.finish < planning->best.finish) {
			struct united_plan kept = planning->best;

			planning->best = found;
			found = kept;
		}
	}
	lm_united_plan_free(&found);
	return ret;
}

/* The end of the other plan, which may not exist. */
static uint64_t other_ps(const struct planning *planning)
{
	return planning->other->verdict == MORPH_FEASIBLE ? planning->other->finish_ps : UINT64_MAX;
}

static int solve(struct planning *planning, uint32_t width)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	struct united_work *work = lm_united_work_new(schedule->ctx, planning->problem, width);
	int ret = work ? lm_united_plan_room(schedule->ctx, planning->problem, &planning->plan) :
			 -ENOMEM;

	if (!ret)
		ret = lm_united_plan_room(schedule->ctx, planning->problem, &planning->best);
	if (!ret)
		ret = search(planning, work);
	lm_united_work_free(work);
	if (ret)
		return ret;
	if (planning->best.finish < other_ps(planning))
		ret = lm_united_lay(schedule, planning->collective, planning->problem,
				    &planning->best);
	/* Rounding to whole bytes may use up the gain. */
	if (!ret &&
	    (schedule->verdict != MORPH_FEASIBLE || schedule->finish_ps >= other_ps(planning)))
		ret = lm_schedule_give_up(schedule, "found no schedule that ends sooner");
	return ret;
}

/* Do times fit, and does each round have bytes? */
static bool is_small(const struct planning *planning)
{
	const struct costs *costs = &planning->lay.schedule->costs;
	uint64_t ports = (uint64_t)planning->pool.ranks * planning->problem->planes;

	if (costs_change_ps(costs, ports) > UNITED_LONGEST ||
	    (uint64_t)planning->pool.ranks * planning->pool.count > MOST_NEXT)
		return false;
	for (uint32_t round = 0; round < planning->problem->rounds; round++)
		if (!planning->problem->bytes[round])
			return false;
	return true;
}

static void find_members(struct planning *planning)
{
	planning->count = lm_collective_members(planning->collective, planning->members);
	for (uint32_t at = 0; at < planning->count; at++)
		planning->takes_part[planning->members[at]] = true;
}

static int pose_and_solve(struct planning *planning, const struct morph_schedule_opts *opts)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	int ret;

	find_members(planning);
	ret = fill_pool(planning);
	if (ret == -E2BIG || (ret >= 0 && !is_small(planning)))
		return lm_schedule_give_up(schedule, "it has too many or too long rounds");
	if (ret >= 0)
		ret = lm_united_price(planning->problem, planning->collective, (uint32_t)ret);
	return ret ? ret : solve(planning, lm_schedule_budget(opts));
}

int lm_plan_united(struct morph_schedule *schedule, const struct morph_collective *collective,
		   const struct morph_schedule_opts *opts, const struct morph_schedule *other)
{
	struct planning planning = { .lay = lm_lay_begin(schedule),
				     .collective = collective,
				     .other = other,
				     .pool = { .ctx = schedule->ctx, .ranks = schedule->ranks } };
	uint32_t rounds = collective->rounds.count;
	int ret;

	if (schedule->planes > UNITED_PLANES || !collective->transfers.count ||
	    rounds > UNITED_ROUNDS || schedule->ranks >= UNITED_NONE)
		return lm_schedule_give_up(schedule, "it has too many planes or rounds, or none");
	planning.problem = calloc(1, sizeof(*planning.problem));
	planning.next = calloc(2 * (size_t)schedule->ranks, sizeof(*planning.next));
	planning.numbers = calloc(other->matchings.count + 1U, sizeof(*planning.numbers));
	planning.members = calloc(schedule->ranks, sizeof(*planning.members));
	planning.takes_part = calloc(schedule->ranks, sizeof(*planning.takes_part));
	if (planning.problem && planning.next && planning.numbers && planning.members &&
	    planning.takes_part) {
		planning.problem->costs = &schedule->costs;
		planning.problem->pool = &planning.pool;
		planning.problem->rounds = rounds;
		planning.problem->planes = schedule->planes;
		ret = pose_and_solve(&planning, opts);
	} else {
		ret = lm_no_memory(schedule->ctx, "plan a schedule");
	}
	if (planning.problem)
		free(planning.problem->prices);
	free(planning.problem);
	free(planning.next);
	free(planning.numbers);
	free(planning.members);
	free(planning.takes_part);
	lm_united_pool_release(&planning.pool);
	lm_united_plan_free(&planning.plan);
	lm_united_plan_free(&planning.best);
	return ret;
}
