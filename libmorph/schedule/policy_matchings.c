// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lays out the decisions of matrix.c for each round: each circuit is set when its two ends are
 * free, and goes after sending. A hold has one circuit.
 */
#include "../util/sort.h"
#include "lay.h"
#include "../matchings/matrix.h"

#define LOOKS_BITS 20 /* log2 of a step of the budget: about a millisecond */
#define LOOKS_ANYWAY 8 /* minimum, at each pair on each plane */

struct planning {
	struct morph_schedule *schedule;
	const struct morph_collective *collective;
	struct matrix_solver *solver;
	uint64_t *bytes; /* by pair of ranks */
	uint64_t *left; /* by transfer of the round */
	uint32_t *first; /* by pair: first unsent transfer; chained by @next */
	uint32_t *next; /* by transfer of the round */
	uint32_t *sends, *receives; /* holds by plane and rank */
	struct matrix_circuit *held;
	struct matrix_send *order;
	size_t order_room;
	uint64_t clock_ps;
	uint64_t looks; /* rest of the budget */
	bool thorough; /* as of struct matrix_problem */
	bool turned; /* plan the original direction and reverse it */
};

void lm_matrix_effort(struct matrix_problem *problem, const struct morph_schedule_opts *opts)
{
	problem->budget = (uint64_t)lm_schedule_budget(opts) << LOOKS_BITS;
	problem->thorough = problem->ranks <= MATRIX_QUICK_RANKS &&
			    (problem->budget || opts->policy != MORPH_POLICY_MATCHINGS);
	if (problem->thorough && !problem->budget)
		problem->budget = MATRIX_LOOKS;
}

/*
 * The bytes of each pair in a round, in the original direction if that is planned, and the
 * transfers.
 */
static void gather(struct planning *planning, const struct round *round)
{
	uint32_t ranks = planning->schedule->ranks;

	memset(planning->bytes, 0, (size_t)ranks * ranks * sizeof(*planning->bytes));
	memset(planning->first, 0xff, (size_t)ranks * ranks * sizeof(*planning->first));
	for (uint32_t at = round->count; at-- > 0;) {
		const struct transfer *transfer =
			&planning->collective->transfers.list[round->first + at];
		size_t pair = (size_t)transfer->src * ranks + transfer->dst;
		size_t there = (size_t)transfer->dst * ranks + transfer->src;

		planning->bytes[planning->turned ? there : pair] += transfer->bytes;
		planning->left[at] = transfer->bytes;
		planning->next[at] = planning->first[pair];
		planning->first[pair] = at;
	}
}

/* The lit circuits; on each plane each port has one. */
static uint32_t list_held(struct planning *planning)
{
	const struct morph_schedule *schedule = planning->schedule;
	uint32_t count = 0;

	for (uint32_t port = 0; port < schedule->planes * schedule->ranks; port++) {
		uint32_t src = port % schedule->ranks, plane = port / schedule->ranks, dst;

		if (planning->sends[port] == NO_HOLD)
			continue;
		dst = lm_matching_leads(schedule,
					schedule->holds.list[planning->sends[port]].matching, src);
		planning->held[count++] =
			(struct matrix_circuit){ .plane = plane, .src = src, .dst = dst };
	}
	return count;
}

/* The single circuit of a hold ends. */
static void darken(struct planning *planning, uint32_t number, uint64_t ps)
{
	struct morph_schedule *schedule = planning->schedule;
	struct hold *hold = &schedule->holds.list[number];
	const struct morph_rank_pair *circuit =
		&schedule->circuits.list[schedule->matchings.list[hold->matching].first];
	size_t row = (size_t)hold->plane * schedule->ranks;

	hold->dark_ps = ps;
	planning->sends[row + circuit->src] = NO_HOLD;
	planning->receives[row + circuit->dst] = NO_HOLD;
}

static int set_circuit(struct planning *planning, const struct matrix_send *send)
{
	struct morph_schedule *schedule = planning->schedule;
	struct morph_rank_pair circuit = { send->src, send->dst };
	size_t row = (size_t)send->plane * schedule->ranks;
	uint32_t matching, hold;
	int ret = lm_schedule_matching(schedule, &circuit, 1, &matching);

	if (!ret)
		ret = lm_schedule_hold(schedule, send->plane, matching,
				       planning->clock_ps + send->set_ps,
				       planning->clock_ps + send->lit_ps, &hold);
	if (ret)
		return ret;
	if (planning->sends[row + send->src] != NO_HOLD)
		darken(planning, planning->sends[row + send->src],
		       planning->clock_ps + send->set_ps);
	if (planning->receives[row + send->dst] != NO_HOLD)
		darken(planning, planning->receives[row + send->dst],
		       planning->clock_ps + send->set_ps);
	planning->sends[row + send->src] = hold;
	planning->receives[row + send->dst] = hold;
	return 0;
}

static bool is_there(const struct planning *planning, const struct matrix_send *send)
{
	size_t row = (size_t)send->plane * planning->schedule->ranks;
	uint32_t hold = planning->sends[row + send->src];

	return send->set_ps == send->lit_ps && hold != NO_HOLD &&
	       hold == planning->receives[row + send->dst];
}

/* A circuit carries the transfers between its ends in sequence; all get the same times. */
static int lay_send(struct planning *planning, uint32_t round, const struct matrix_send *send)
{
	struct morph_schedule *schedule = planning->schedule;
	uint32_t *at = &planning->first[(size_t)send->src * schedule->ranks + send->dst];
	uint64_t bytes = send->bytes;
	int ret = is_there(planning, send) ? 0 : set_circuit(planning, send);

	while (!ret && *at != UINT32_MAX && (bytes || !planning->left[*at])) {
		uint64_t part = bytes < planning->left[*at] ? bytes : planning->left[*at];
		struct send sent = { .round = round,
				     .first = *at,
				     .count = 1,
				     .hops = 1,
				     .bytes = part,
				     .from_ps = planning->clock_ps + send->lit_ps,
				     .until_ps = planning->clock_ps + send->until_ps };

		ret = lm_schedule_send(schedule, &sent,
				       &planning->sends[send->plane * schedule->ranks + send->src]);
		bytes -= part;
		planning->left[*at] -= part;
		if (!planning->left[*at])
			*at = planning->next[*at];
	}
	return ret;
}

static int by_set(const void *one, const void *other, void *context)
{
	const struct matrix_send *a = one, *b = other;

	(void)context;
	if (a->set_ps != b->set_ps)
		return a->set_ps < b->set_ps ? -1 : 1;
	if (a->plane != b->plane)
		return a->plane < b->plane ? -1 : 1;
	return a->src < b->src ? -1 : a->src > b->src;
}

/* A send over an existing circuit gives its begin, not the time of setting. */
static int lay_round(struct planning *planning, uint32_t round, const struct matrix_plan *plan)
{
	int ret = 0;

	if (!plan->count)
		return 0;
	if (plan->count > planning->order_room) {
		free(planning->order);
		planning->order_room = 2 * (size_t)plan->count;
		planning->order = calloc(planning->order_room, sizeof(*planning->order));
		if (!planning->order) {
			lm_no_memory(planning->schedule->ctx, "plan a schedule");
			return -ENOMEM;
		}
	}
	memcpy(planning->order, plan->sends, plan->count * sizeof(*planning->order));
	lm_sort(planning->order, plan->count, sizeof(*planning->order), by_set, NULL);
	for (uint32_t at = 0; !ret && at < plan->count; at++)
		ret = lay_send(planning, round, &planning->order[at]);
	planning->clock_ps += plan->span_ps;
	return ret;
}

static int plan_round(struct planning *planning, uint32_t round)
{
	const struct round *of = &planning->collective->rounds.list[round];
	struct morph_schedule *schedule = planning->schedule;
	struct matrix_problem problem = { .ranks = schedule->ranks,
					  .planes = schedule->planes,
					  .bytes = planning->bytes,
					  .costs = schedule->costs,
					  .held = planning->held,
					  .budget = planning->looks,
					  .thorough = planning->thorough };
	uint64_t cells = (uint64_t)schedule->ranks * schedule->ranks, looks;
	struct matrix_plan plan;
	int ret;

	gather(planning, of);
	problem.held_count = planning->turned ? 0 : list_held(planning);
	ret = lm_matrix_solve(planning->solver, &problem, &plan);
	if (ret)
		return ret;
	looks = plan.looks + cells * schedule->planes * LOOKS_ANYWAY;
	planning->looks = looks < planning->looks ? planning->looks - looks : 1;
	if (planning->turned)
		ret = lm_matrix_combine(planning->solver, &plan);
	return ret ? ret : lay_round(planning, round, &plan);
}

static int make_room(struct planning *planning)
{
	size_t ranks = planning->schedule->ranks, pairs = ranks * ranks;
	size_t ports = ranks * planning->schedule->planes;
	size_t widest = lm_widest_round(planning->collective);

	planning->solver = lm_matrix_new(planning->schedule->ctx);
	planning->bytes = calloc(pairs, sizeof(*planning->bytes));
	planning->left = calloc(widest + 1, sizeof(*planning->left));
	planning->first = calloc(pairs, sizeof(*planning->first));
	planning->next = calloc(widest + 1, sizeof(*planning->next));
	planning->sends = malloc(2 * ports * sizeof(*planning->sends));
	planning->held = calloc(ports, sizeof(*planning->held));
	if (!planning->solver || !planning->bytes || !planning->left || !planning->first ||
	    !planning->next || !planning->sends || !planning->held) {
		lm_no_memory(planning->schedule->ctx, "plan a schedule");
		return -ENOMEM;
	}
	memset(planning->sends, 0xff, 2 * ports * sizeof(*planning->sends));
	planning->receives = planning->sends + ports;
	return 0;
}

static void free_room(struct planning *planning)
{
	lm_matrix_free(planning->solver);
	free(planning->bytes);
	free(planning->left);
	free(planning->first);
	free(planning->next);
	free(planning->sends);
	free(planning->held);
	free(planning->order);
}

/* The initial circuits: a hold has one circuit here, so each ends alone. */
static int split_residents(struct planning *planning)
{
	struct morph_schedule *schedule = planning->schedule;
	uint32_t residents = schedule->residents;
	struct hold *holds = calloc(residents + 1, sizeof(*holds));
	int ret = 0;

	if (!holds)
		return lm_no_memory(schedule->ctx, "plan a schedule");
	if (residents)
		memcpy(holds, schedule->holds.list, residents * sizeof(*holds));
	schedule->holds.count = 0;
	for (uint32_t at = 0; !ret && at < residents; at++) {
		struct matching matching = schedule->matchings.list[holds[at].matching];
		size_t row = (size_t)holds[at].plane * schedule->ranks;

		for (uint32_t next = 0; !ret && next < matching.count; next++) {
			struct morph_rank_pair circuit =
				schedule->circuits.list[matching.first + next];
			uint32_t single, hold;

			ret = lm_schedule_matching(schedule, &circuit, 1, &single);
			if (!ret)
				ret = lm_schedule_hold(schedule, holds[at].plane, single, 0, 0,
						       &hold);
			if (ret)
				break;
			planning->sends[row + circuit.src] = hold;
			planning->receives[row + circuit.dst] = hold;
		}
	}
	schedule->residents = schedule->holds.count;
	free(holds);
	return ret;
}

/* Why the rounds cannot be done pair by pair, or NULL; a noted -ENOMEM goes to *ret. */
static const char *find_unfit(const struct planning *planning, int *ret)
{
	const struct morph_collective *collective = planning->collective;

	for (uint32_t at = 0; at < collective->transfers.count; at++)
		if (!collective->transfers.list[at].bytes)
			return "a transfer of its rounds has no bytes";
	/* Pairs have their own times here, even if a rank has one partner. */
	*ret = lm_find_exchange(planning->schedule->ctx, collective, 0);
	if (*ret <= 0)
		return NULL;
	*ret = 0;
	return "a rank sends data that it receives in the same round, and this policy does not order pairs";
}

static int plan_all(struct morph_schedule *schedule, const struct morph_collective *collective,
		    const struct morph_schedule_opts *opts, bool turned)
{
	struct matrix_problem effort = { .ranks = schedule->ranks };
	struct planning planning = { .schedule = schedule,
				     .collective = collective,
				     .turned = turned };
	int ret = 0;
	const char *why = find_unfit(&planning, &ret);

	lm_matrix_effort(&effort, opts);
	/* With several rounds, the first would use the whole budget. */
	planning.thorough = effort.thorough && collective->rounds.count == 1;
	planning.looks = lm_matrix_budget(schedule->ranks, effort.budget);

	if (why)
		return lm_schedule_give_up(schedule, why);
	if (!ret)
		ret = make_room(&planning);
	if (!ret)
		ret = split_residents(&planning);
	for (uint32_t round = 0; !ret && !why && round < collective->rounds.count; round++) {
		if (round && planning.looks == 1)
			why = "search budget exhausted before all rounds had a plan";
		else
			ret = plan_round(&planning, round);
	}
	free_room(&planning);
	if (!ret && why)
		return lm_schedule_give_up(schedule, why);
	if (!ret)
		lm_schedule_end(schedule);
	return ret;
}

int lm_plan_matchings(struct morph_schedule *schedule, const struct morph_collective *collective,
		      const struct morph_schedule_opts *opts)
{
	return plan_all(schedule, collective, opts, false);
}

int lm_plan_matchings_back(struct morph_schedule *schedule,
			   const struct morph_collective *collective,
			   const struct morph_schedule_opts *opts)
{
	return plan_all(schedule, collective, opts, true);
}
