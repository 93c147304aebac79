// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Plans rounds that proceed while the last rank is late. No path may pass it, but planners with
 * hops do not know that. So the rounds before it is needed are planned among the other ranks, the
 * rest after them, and both are joined. A plan of all rounds together is used instead if it avoids
 * the rank and ends no later.
 */
#include "schedule.h"

/* The parts: their collectives and plans, and the circuits left lit for the rest. */
struct halves {
	struct morph_collective *before, *rest;
	struct morph_schedule *alone, *lit, *after, *joined;
};

uint64_t lm_schedule_begins_ps(const struct morph_schedule *schedule, uint32_t round)
{
	uint64_t begins = schedule->finish_ps;

	for (uint32_t at = 0; at < schedule->sends.count; at++) {
		const struct send *send = &schedule->sends.list[at];

		if (send->round >= round && send->from_ps < begins)
			begins = send->from_ps;
	}
	return begins;
}

/* ---------------------------------------------------------- does it keep clear? */

static bool passes(const struct morph_schedule *schedule, const struct send *send, uint32_t src,
		   uint32_t rank)
{
	for (uint32_t hop = 0; hop < send->hops && src != rank; hop++) {
		uint32_t hold = schedule->hops.list[send->hops_first + hop];

		src = lm_matching_leads(schedule, schedule->holds.list[hold].matching, src);
	}
	return src == rank;
}

/* No send of the first rounds passes the rank. */
static bool is_clear(const struct morph_schedule *schedule,
		     const struct morph_collective *collective, uint32_t rounds, uint32_t rank)
{
	for (uint32_t at = 0; at < schedule->sends.count; at++) {
		const struct send *send = &schedule->sends.list[at];
		const struct transfer *transfers;

		if (send->round >= rounds)
			continue;
		transfers =
			&collective->transfers
				 .list[collective->rounds.list[send->round].first + send->first];
		for (uint32_t number = 0; number < send->count; number++)
			if (passes(schedule, send, transfers[number].src, rank))
				return false;
	}
	return true;
}

/* --------------------------------------------------------------------- halves */

static int copy_transfer(struct morph_collective *to, const struct morph_collective *from,
			 const struct transfer *transfer)
{
	int ret = morph_collective_add_transfer(to, transfer->src, transfer->dst, transfer->reduce);

	for (uint32_t at = 0; ret >= 0 && at < transfer->count; at++) {
		const struct chunk_run *run = &from->runs.list[transfer->first + at];

		ret = morph_collective_add_run(to, run->first, run->count);
	}
	return ret;
}

/* Some rounds, of the first ranks. */
static int copy_rounds(struct morph_collective *to, const struct morph_collective *from,
		       uint32_t ranks, uint32_t first, uint32_t until)
{
	int ret = morph_collective_begin(to, ranks);

	for (uint32_t at = 0; ret >= 0 && at < from->chunks.count; at++) {
		const struct chunk *chunk = &from->chunks.list[at];

		ret = morph_collective_add_chunk(to, chunk->begins, chunk->ends, chunk->bytes);
	}
	for (uint32_t round = first; ret >= 0 && round < until; round++) {
		const struct round *of = &from->rounds.list[round];

		ret = morph_collective_add_round(to);
		for (uint32_t at = 0; ret >= 0 && at < of->count; at++)
			ret = copy_transfer(to, from, &from->transfers.list[of->first + at]);
	}
	return ret < 0 ? ret : 0;
}

/* -------------------------------------------------------------------- joining */

/* The hold of a plane that is lit at the end of the schedule so far. */
static uint32_t lit_hold(const struct morph_schedule *schedule, uint32_t plane, uint64_t end_ps)
{
	uint32_t at = schedule->holds.count;

	while (at-- && (schedule->holds.list[at].plane != plane ||
			schedule->holds.list[at].dark_ps < end_ps))
		;
	return at;
}

/*
 * @numbers gets the numbers of the added holds. Circuits that are lit at its start are held
 * already, unless the schedule is empty.
 */
static int add_holds(struct morph_schedule *to, const struct morph_schedule *from, uint64_t ps,
		     bool begins, uint32_t *numbers)
{
	int ret = 0;

	for (uint32_t at = 0; !ret && at < from->holds.count; at++) {
		const struct hold *hold = &from->holds.list[at];
		const struct matching *of = &from->matchings.list[hold->matching];
		uint32_t matching;

		if (!begins && at < from->residents) {
			numbers[at] = lit_hold(to, hold->plane, ps);
		} else {
			ret = lm_schedule_sorted_matching(to, &from->circuits.list[of->first],
							  of->count, &matching);
			if (!ret)
				ret = lm_schedule_hold(to, hold->plane, matching, hold->set_ps + ps,
						       hold->lit_ps + ps, &numbers[at]);
			to->residents += !ret && at < from->residents;
		}
		if (!ret)
			to->holds.list[numbers[at]].dark_ps = hold->dark_ps + ps;
	}
	return ret;
}

static int add_sends(struct morph_schedule *to, const struct morph_schedule *from, uint64_t ps,
		     uint32_t rounds, const uint32_t *numbers, uint32_t *hops)
{
	int ret = 0;

	for (uint32_t at = 0; !ret && at < from->sends.count; at++) {
		struct send send = from->sends.list[at];

		for (uint32_t hop = 0; hop < send.hops; hop++)
			hops[hop] = numbers[from->hops.list[send.hops_first + hop]];
		send.round += rounds;
		send.from_ps += ps;
		send.until_ps += ps;
		ret = lm_schedule_send(to, &send, hops);
	}
	return ret;
}

/* Append a schedule, with later rounds and times. */
static int add_schedule(struct morph_schedule *to, const struct morph_schedule *from,
			uint32_t rounds, bool begins)
{
	uint64_t ps = to->finish_ps;
	uint32_t *numbers = calloc(from->holds.count + 1, sizeof(*numbers));
	uint32_t *hops = calloc(from->hops.count + 1, sizeof(*hops));
	int ret = numbers && hops ? 0 : -ENOMEM;

	if (ret)
		lm_no_memory(to->ctx, "plan a schedule");
	if (!ret)
		ret = add_holds(to, from, ps, begins, numbers);
	if (!ret)
		ret = add_sends(to, from, ps, rounds, numbers, hops);
	free(numbers);
	free(hops);
	return ret;
}

/* The results of each policy for the rest, after the common first part. */
static void note_tried(struct morph_schedule *joined, const struct morph_schedule *rest,
		       const struct morph_schedule *before)
{
	uint64_t circuits;
	uint32_t changes = morph_schedule_changes(before, &circuits);

	memcpy(joined->tried, rest->tried, sizeof(joined->tried));
	for (uint32_t policy = 0; policy < MORPH_POLICIES; policy++) {
		struct tried *tried = &joined->tried[policy];

		if (tried->verdict != MORPH_FEASIBLE)
			continue;
		tried->finish_ps += before->finish_ps;
		tried->changes += changes;
		tried->circuits += circuits;
	}
}

static int join(struct halves *halves, const struct morph_collective *collective, uint32_t rounds,
		const struct costs *costs)
{
	struct morph_schedule *joined = halves->joined;
	int ret;

	lm_schedule_begin(joined, collective->ranks, halves->after->planes, costs);
	joined->policy = halves->lit->policy;
	ret = add_schedule(joined, halves->after, 0, true);
	if (!ret)
		ret = add_schedule(joined, halves->lit, rounds, false);
	if (ret)
		return ret;
	lm_schedule_end(joined);
	note_tried(joined, halves->lit, halves->after);
	return lm_schedule_bound(joined, collective);
}

/* ------------------------------------------------------------------- planning */

/*
 * The others begin without the lit circuits, because these may form paths over the late rank.
 * Initial circuits stay until their plane is set. -ENOENT: a part has no plan.
 */
static int plan_halves(struct halves *halves, const struct morph_collective *collective,
		       uint32_t rounds, const struct costs *costs,
		       const struct morph_schedule_opts *opts)
{
	struct morph_schedule_opts half = *opts;
	uint32_t ranks = collective->ranks;
	int ret = copy_rounds(halves->before, collective, ranks - 1, 0, rounds);

	half.after = NULL;
	if (!ret)
		ret = copy_rounds(halves->rest, collective, ranks, rounds,
				  collective->rounds.count);
	if (!ret)
		ret = lm_schedule_plan_costs(halves->alone, halves->before, costs, &half);
	if (!ret && halves->alone->verdict != MORPH_FEASIBLE)
		ret = -ENOENT;
	if (ret)
		return ret;
	lm_schedule_begin(halves->after, ranks, opts->planes, costs);
	ret = lm_schedule_take_less(halves->after, halves->alone, opts->after);
	half.after = halves->after;
	if (!ret)
		ret = lm_schedule_plan_costs(halves->lit, halves->rest, costs, &half);
	if (!ret && halves->lit->verdict != MORPH_FEASIBLE)
		ret = -ENOENT;
	return ret ? ret : join(halves, collective, rounds, costs);
}

static bool is_sooner(const struct morph_schedule *one, const struct morph_schedule *other)
{
	uint64_t ours, theirs;

	if (one->finish_ps != other->finish_ps)
		return one->finish_ps < other->finish_ps;
	morph_schedule_changes(one, &ours);
	morph_schedule_changes(other, &theirs);
	return ours < theirs;
}

/* If @schedule has a plan that avoids the rank, it stays, unless the joined plan is faster. */
static int take_joined(struct morph_schedule *schedule, struct morph_schedule *joined, bool clear)
{
	if (joined->verdict == MORPH_FEASIBLE && (!clear || is_sooner(joined, schedule))) {
		struct morph_schedule kept = *schedule;

		*schedule = *joined;
		*joined = kept;
	} else if (!clear && schedule->verdict == MORPH_FEASIBLE) {
		return lm_schedule_refuse(schedule, "its plan sends through the late rank");
	}
	return 0;
}

static int plan_joined(struct morph_schedule *schedule, const struct morph_collective *collective,
		       uint32_t rounds, const struct morph_schedule_opts *opts)
{
	struct halves halves = {
		morph_collective_new(schedule->ctx), morph_collective_new(schedule->ctx),
		morph_schedule_new(schedule->ctx),   morph_schedule_new(schedule->ctx),
		morph_schedule_new(schedule->ctx),   morph_schedule_new(schedule->ctx)
	};
	bool clear = schedule->verdict == MORPH_FEASIBLE &&
		     is_clear(schedule, collective, rounds, collective->ranks - 1);
	int ret = -ENOMEM;

	if (halves.before && halves.rest && halves.alone && halves.lit && halves.after &&
	    halves.joined)
		ret = plan_halves(&halves, collective, rounds, &schedule->costs, opts);
	if (!ret || ret == -ENOENT)
		ret = take_joined(schedule, halves.joined, clear);
	morph_schedule_free(halves.joined);
	morph_schedule_free(halves.after);
	morph_schedule_free(halves.lit);
	morph_schedule_free(halves.alone);
	morph_collective_free(halves.rest);
	morph_collective_free(halves.before);
	return ret;
}

int lm_schedule_plan_late(struct morph_schedule *schedule,
			  const struct morph_collective *collective,
			  const struct morph_delay *delay, const struct morph_schedule_opts *opts)
{
	uint32_t rounds = morph_collective_rounds_before(collective, collective->ranks - 1);
	int ret = morph_schedule_plan(schedule, collective, delay, opts);
	struct morph_schedule_opts mine;

	if (ret || !rounds)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	mine.sz = sizeof(mine);
	mine.planes = mine.planes ? mine.planes : 1;
	return plan_joined(schedule, collective, rounds, &mine);
}
