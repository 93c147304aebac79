// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Planning a schedule again without some ports: the request, its errors, and an index of the old
 * schedule.
 */
#include <stdarg.h>
#include <stdio.h>

#include "../util/sort.h"
#include "replan.h"

/* ---------------------------------------------------------------------- index */

/* The index of the old schedule. */

int lm_replan_refuse(struct replan *replan, uint32_t verdict, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(replan->why, sizeof(replan->why), format, arguments);
	va_end(arguments);
	replan->verdict = verdict;
	return -ECANCELED;
}

int lm_replan_add_piece(struct replan *replan, const struct piece *piece, uint32_t *number)
{
	int ret = REPLAN_GROW(replan, pieces, 1);
	struct piece *added;

	if (ret)
		return ret;
	*number = replan->pieces.count++;
	added = &replan->pieces.list[*number];
	*added = *piece;
	added->next = NOTHING;
	if (piece->hold == NOTHING)
		return 0;
	added->next = replan->pieces_of[piece->hold];
	replan->pieces_of[piece->hold] = *number;
	return 0;
}

/* -------------------------------------------------------------------- holds */

static void index_planes(struct replan *replan)
{
	const struct morph_schedule *old = replan->old;
	uint32_t *first = replan->plane_first;

	for (uint32_t at = 0; at < old->holds.count; at++)
		first[old->holds.list[at].plane + 1]++;
	for (uint32_t plane = 0; plane < old->planes; plane++)
		first[plane + 1] += first[plane];
	for (uint32_t at = 0; at < old->holds.count; at++)
		replan->plane_holds[first[old->holds.list[at].plane]++] = at;
	/* Each index now is that of the next one's begin. */
	memmove(first + 1, first, old->planes * sizeof(*first));
	first[0] = 0;
	for (uint32_t plane = 0; plane < old->planes; plane++) {
		uint64_t latest = 0;

		for (uint32_t at = first[plane]; at < first[plane + 1]; at++) {
			uint64_t dark = old->holds.list[replan->plane_holds[at]].dark_ps;

			latest = dark > latest ? dark : latest;
			replan->dark_before[at] = latest;
		}
	}
}

static void index_sends(struct replan *replan)
{
	const struct morph_schedule *old = replan->old;
	uint32_t *first = replan->hold_first;

	for (uint32_t at = 0; at < old->hops.count; at++)
		first[old->hops.list[at] + 1]++;
	for (uint32_t hold = 0; hold < old->holds.count; hold++)
		first[hold + 1] += first[hold];
	for (uint32_t at = 0; at < old->sends.count; at++) {
		const struct send *send = &old->sends.list[at];

		for (uint32_t hop = 0; hop < send->hops; hop++)
			replan->hold_sends[first[old->hops.list[send->hops_first + hop]]++] = at;
	}
	memmove(first + 1, first, old->holds.count * sizeof(*first));
	first[0] = 0;
}

/* Sends are in the order of rounds, and a round begins when the previous one has ended. */
static int index_rounds(struct replan *replan)
{
	const struct morph_schedule *old = replan->old;
	uint32_t rounds = replan->collective->rounds.count, round = 0;
	uint64_t ended = 0, ends = 0;

	for (uint32_t at = 0; at < old->sends.count; at++) {
		const struct send *send = &old->sends.list[at];

		if (send->round < round)
			return lm_replan_refuse(replan, MORPH_UNDECIDED,
						"its sends are not in the order of rounds");
		while (round < send->round) {
			replan->round_first[++round] = at;
			ended = ends;
		}
		if (send->from_ps < ended)
			return lm_replan_refuse(replan, MORPH_UNDECIDED,
						"round %u begins before round %u has ended", round,
						round - 1);
		ends = send->until_ps > ends ? send->until_ps : ends;
	}
	while (round < rounds)
		replan->round_first[++round] = old->sends.count;
	return 0;
}

int lm_replan_index(struct replan *replan)
{
	const struct morph_schedule *old = replan->old;
	size_t holds = old->holds.count;

	replan->plane_first = calloc((size_t)old->planes + 1, sizeof(*replan->plane_first));
	replan->plane_holds = calloc(holds + 1, sizeof(*replan->plane_holds));
	replan->dark_before = calloc(holds + 1, sizeof(*replan->dark_before));
	replan->hold_first = calloc(holds + 1, sizeof(*replan->hold_first));
	replan->hold_sends = calloc((size_t)old->hops.count + 1, sizeof(*replan->hold_sends));
	replan->round_first =
		calloc((size_t)replan->collective->rounds.count + 1, sizeof(*replan->round_first));
	replan->pieces_of = malloc((holds + 1) * sizeof(*replan->pieces_of));
	if (!replan->plane_first || !replan->plane_holds || !replan->dark_before ||
	    !replan->hold_first || !replan->hold_sends || !replan->round_first ||
	    !replan->pieces_of) {
		lm_no_memory(replan->schedule->ctx, "plan a schedule again");
		return -ENOMEM;
	}
	memset(replan->pieces_of, 0xff, (holds + 1) * sizeof(*replan->pieces_of));
	index_planes(replan);
	index_sends(replan);
	return index_rounds(replan);
}

static bool has_end(const struct morph_schedule *old, const struct hold *hold,
		    const struct morph_rank_pair *circuit)
{
	const struct matching *matching = &old->matchings.list[hold->matching];

	if (lm_matching_leads(old, hold->matching, circuit->src) != UINT32_MAX)
		return true;
	for (uint32_t at = matching->first; at < matching->first + matching->count; at++)
		if (old->circuits.list[at].dst == circuit->dst)
			return true;
	return false;
}

uint32_t lm_replan_first_after(const struct replan *replan, uint32_t plane, uint64_t ps)
{
	uint32_t low = replan->plane_first[plane], high = replan->plane_first[plane + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (replan->dark_before[middle] <= ps)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool lm_replan_free(const struct replan *replan, uint32_t plane,
		    const struct morph_rank_pair *circuit, uint64_t from_ps, uint64_t until_ps)
{
	const struct morph_schedule *old = replan->old;

	if (replan->sends_lost[circuit->src] >> plane & 1 ||
	    replan->receives_lost[circuit->dst] >> plane & 1)
		return false;
	for (uint32_t at = lm_replan_first_after(replan, plane, from_ps);
	     at < replan->plane_first[plane + 1]; at++) {
		const struct hold *hold = &old->holds.list[replan->plane_holds[at]];

		if (hold->set_ps >= until_ps)
			break;
		if (hold->dark_ps > from_ps && has_end(old, hold, circuit))
			return false;
	}
	for (uint32_t at = 0; at < replan->pieces.count; at++) {
		const struct piece *piece = &replan->pieces.list[at];

		if (piece->plane == plane && !piece->absent && piece->from_ps < until_ps &&
		    piece->until_ps > from_ps &&
		    (piece->circuit.src == circuit->src || piece->circuit.dst == circuit->dst))
			return false;
	}
	return true;
}

bool lm_replan_stays(const struct replan *replan, uint32_t number,
		     const struct morph_rank_pair *circuit)
{
	const struct morph_schedule *old = replan->old;
	const struct hold *hold = &old->holds.list[number];

	for (uint32_t at = number + 1;
	     at < old->holds.count && old->holds.list[at].set_ps <= hold->dark_ps; at++) {
		const struct hold *next = &old->holds.list[at];

		if (next->plane == hold->plane && next->set_ps == hold->dark_ps &&
		    lm_matching_leads(old, next->matching, circuit->src) == circuit->dst)
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------- ways */

uint32_t lm_replan_piece(const struct replan *replan, uint32_t hold, uint32_t src, uint64_t from_ps)
{
	uint32_t at = replan->pieces_of[hold];

	while (at != NOTHING && (replan->pieces.list[at].circuit.src != src ||
				 replan->pieces.list[at].from_ps > from_ps))
		at = replan->pieces.list[at].next;
	return at;
}

bool lm_replan_way(const struct replan *replan, const struct send *send, uint32_t transfer,
		   uint32_t *refs)
{
	const struct morph_schedule *old = replan->old;
	uint32_t rank = replan_transfer(replan, send->round, transfer)->src;

	for (uint32_t hop = 0; hop < send->hops; hop++) {
		uint32_t hold = old->hops.list[send->hops_first + hop], at;

		refs[hop] = hold;
		if (replan->pieces_of[hold] != NOTHING) {
			at = lm_replan_piece(replan, hold, rank, send->from_ps);
			if (at != NOTHING && (replan->pieces.list[at].absent ||
					      send->until_ps > replan->pieces.list[at].until_ps))
				return false;
			if (at != NOTHING)
				refs[hop] = PIECE | at;
		}
		if (hop + 1 < send->hops)
			rank = lm_matching_leads(old, old->holds.list[hold].matching, rank);
	}
	return true;
}

bool lm_replan_passes(const struct replan *replan, const struct send *send, uint32_t transfer,
		      uint32_t hold, uint32_t src)
{
	const struct morph_schedule *old = replan->old;
	uint32_t rank = replan_transfer(replan, send->round, transfer)->src;

	if (send->hops == 1)
		return rank == src && old->hops.list[send->hops_first] == hold;
	for (uint32_t hop = 0; hop < send->hops; hop++) {
		uint32_t over = old->hops.list[send->hops_first + hop];

		if (over == hold && rank == src)
			return true;
		if (hop + 1 < send->hops)
			rank = lm_matching_leads(old, old->holds.list[over].matching, rank);
	}
	return false;
}

uint32_t lm_replan_most_hops(const struct replan *replan)
{
	uint32_t most = replan->old->ranks;

	for (uint32_t at = 0; at < replan->old->sends.count; at++)
		if (replan->old->sends.list[at].hops > most)
			most = replan->old->sends.list[at].hops;
	return most;
}

/* ------------------------------------------------------------- what is given */

/* Verify the arguments, and find the lost circuits. */

static int check_losses(struct morph_schedule *schedule, const struct morph_schedule *old,
			const struct morph_replan_opts *opts)
{
	const uint32_t both = MORPH_LOSS_TRANSMIT | MORPH_LOSS_RECEIVE;

	for (uint32_t at = 0; at < opts->count; at++) {
		const struct morph_loss *loss = &opts->losses[at];

		if (loss->rank >= old->ranks || loss->plane >= old->planes)
			return lm_fail(schedule->ctx, EINVAL,
				       "no rank %u on plane %u: there are %u ranks on %u planes",
				       loss->rank, loss->plane, old->ranks, old->planes);
		if (!loss->ports || loss->ports & ~both)
			return lm_fail(schedule->ctx, EINVAL, "a rank does not have the ports %#x",
				       loss->ports);
	}
	if (opts->from_ns > LONGEST_PS / PS_PER_NS)
		return lm_fail(schedule->ctx, EINVAL, "the time of the loss, %llu ns, is too large",
			       (unsigned long long)opts->from_ns);
	return 0;
}

static bool same_costs(const struct costs *one, const struct costs *other)
{
	return one->round_ps == other->round_ps && one->hop_ps == other->hop_ps &&
	       one->mbps == other->mbps && one->change_ps == other->change_ps &&
	       one->port_ps == other->port_ps && one->scope == other->scope;
}

static int check(struct morph_schedule *schedule, const struct morph_schedule *old,
		 const struct morph_collective *collective, const struct morph_delay *delay,
		 const struct morph_replan_opts *opts)
{
	struct costs costs;

	if (old == schedule)
		return lm_fail(
			schedule->ctx, EINVAL,
			"the new schedule must be another object than the schedule to replan");
	if (old->verdict != MORPH_FEASIBLE)
		return lm_fail(schedule->ctx, EINVAL, "the schedule to replan is not feasible");
	if (old->ranks != collective->ranks)
		return lm_fail(schedule->ctx, EINVAL, "it was planned for %u ranks, not %u",
			       old->ranks, collective->ranks);
	costs = lm_delay_costs(delay, morph_collective_busy(collective));
	if (!same_costs(&costs, &old->costs))
		return lm_fail(schedule->ctx, EINVAL, "it was planned with other delays");
	if (old->rounds != lm_collective_digest(collective))
		return lm_fail(schedule->ctx, EINVAL, "it was planned for other rounds");
	return check_losses(schedule, old, opts);
}

/* ------------------------------------------------------------- what is lost */

static int lose(struct replan *replan, uint32_t hold, const struct morph_rank_pair *circuit)
{
	const struct hold *of = &replan->old->holds.list[hold];
	struct piece piece = { .plane = of->plane,
			       .circuit = *circuit,
			       .hold = hold,
			       .until_ps = replan->lost_ps,
			       .lit_ps = of->lit_ps,
			       .set = { of->set_ps, 0, true },
			       .takes_ps = of->lit_ps - of->set_ps,
			       .dark = { replan->lost_ps, 0, false },
			       .absent = of->set_ps >= replan->lost_ps };
	uint32_t number;
	int ret = REPLAN_GROW(replan, losts, 1);

	if (ret)
		return ret;
	replan->losts.list[replan->losts.count++] =
		(struct lost){ .hold = hold, .circuit = *circuit };
	/* It is not lit before the loss, so nothing has used it. */
	if (of->lit_ps > replan->lost_ps)
		piece.absent = true;
	ret = lm_replan_add_piece(replan, &piece, &number);
	if (ret || piece.absent)
		return ret;
	piece.from_ps = replan->lost_ps;
	piece.absent = true;
	return lm_replan_add_piece(replan, &piece, &number);
}

static int lose_of_hold(struct replan *replan, uint32_t number)
{
	const struct morph_schedule *old = replan->old;
	const struct hold *hold = &old->holds.list[number];
	const struct matching *matching = &old->matchings.list[hold->matching];
	int ret = 0;

	for (uint32_t at = matching->first; !ret && at < matching->first + matching->count; at++) {
		const struct morph_rank_pair *circuit = &old->circuits.list[at];

		if (replan->sends_lost[circuit->src] >> hold->plane & 1 ||
		    replan->receives_lost[circuit->dst] >> hold->plane & 1)
			ret = lose(replan, number, circuit);
	}
	return ret;
}

static int find_lost(struct replan *replan, const struct morph_replan_opts *opts)
{
	const struct morph_schedule *old = replan->old;
	uint64_t planes = 0;
	int ret = 0;

	for (uint32_t at = 0; at < opts->count; at++) {
		const struct morph_loss *loss = &opts->losses[at];

		planes |= 1ULL << loss->plane;
		if (loss->ports & MORPH_LOSS_TRANSMIT)
			replan->sends_lost[loss->rank] |= 1ULL << loss->plane;
		if (loss->ports & MORPH_LOSS_RECEIVE)
			replan->receives_lost[loss->rank] |= 1ULL << loss->plane;
	}
	for (uint32_t at = 0; !ret && at < old->holds.count; at++)
		if (planes >> old->holds.list[at].plane & 1 &&
		    old->holds.list[at].dark_ps > replan->lost_ps)
			ret = lose_of_hold(replan, at);
	replan->count.lost = replan->losts.count;
	return ret;
}

/* ----------------------------------------------------------- what is sent again */

static int note_uses(struct replan *replan, uint32_t number)
{
	struct lost *lost = &replan->losts.list[number];
	uint32_t first = replan->hold_first[lost->hold], end = replan->hold_first[lost->hold + 1];
	int ret = 0;

	for (uint32_t at = first; !ret && at < end; at++) {
		uint32_t send = replan->hold_sends[at];
		const struct send *of = &replan->old->sends.list[send];

		if (of->until_ps <= replan->lost_ps)
			continue;
		for (uint32_t next = of->first; !ret && next < of->first + of->count; next++) {
			if (!lm_replan_passes(replan, of, next, lost->hold, lost->circuit.src))
				continue;
			lost->used = true;
			ret = REPLAN_GROW(replan, uses, 1);
			if (!ret)
				replan->uses.list[replan->uses.count++] = (struct use){
					.send = send, .transfer = next, .lost = number
				};
		}
	}
	return ret;
}

static int plan_again(struct replan *replan, const struct morph_replan_opts *opts)
{
	int ret = lm_replan_index(replan);

	if (!ret)
		ret = find_lost(replan, opts);
	for (uint32_t at = 0; !ret && at < replan->losts.count; at++)
		ret = note_uses(replan, at);
	if (!ret)
		ret = lm_replan_move(replan);
	if (!ret)
		ret = lm_replan_gaps(replan);
	return ret ? ret : lm_replan_lay(replan);
}

static void sum_up(struct replan *replan)
{
	for (uint32_t at = 0; at < replan->losts.count; at++)
		replan->count.changed += replan->losts.list[at].set ? replan->losts.list[at].set :
								      1;
	if (replan->schedule->finish_ps > replan->old->finish_ps)
		replan->count.later_ns =
			lm_edge_ns(replan->schedule->finish_ps - replan->old->finish_ps);
}

/*
 * The same rounds on as many planes. If the initial circuits are lost, the bound counts their
 * setting too. Return 0 or a noted -ENOMEM.
 */
static int bound(struct replan *replan)
{
	struct morph_schedule *schedule = replan->schedule;
	const struct morph_schedule *old = replan->old;

	schedule->rounds = old->rounds;
	schedule->bound_kind = old->bound_kind;
	schedule->bound_ps = old->bound_ps;
	if (!old->residents == !schedule->residents)
		return 0;
	return lm_schedule_bound(schedule, replan->collective);
}

static void release(struct replan *replan)
{
	free(replan->sends_lost);
	free(replan->plane_first);
	free(replan->plane_holds);
	free(replan->dark_before);
	free(replan->hold_first);
	free(replan->hold_sends);
	free(replan->round_first);
	free(replan->pieces_of);
	free(replan->pieces.list);
	free(replan->losts.list);
	free(replan->uses.list);
	free(replan->gaps.list);
	free(replan->resends.list);
	free(replan->stretches.list);
	free(replan->ways.list);
}

static int begin(struct replan *replan, const struct morph_replan_opts *opts)
{
	const struct morph_schedule *old = replan->old;
	struct morph_schedule *schedule = replan->schedule;

	lm_schedule_begin(schedule, old->ranks, old->planes, &old->costs);
	memcpy(schedule->tried, old->tried, sizeof(schedule->tried));
	schedule->policy = old->policy;
	replan->lost_ps = opts->from_ns * PS_PER_NS;
	replan->sends_lost = calloc(2 * (size_t)old->ranks, sizeof(*replan->sends_lost));
	if (!replan->sends_lost)
		return lm_no_memory(schedule->ctx, "plan a schedule again");
	replan->receives_lost = replan->sends_lost + old->ranks;
	return 0;
}

MORPH_API int
morph_schedule_replan(struct morph_schedule *schedule, const struct morph_schedule *old,
		      const struct morph_collective *collective, const struct morph_delay *delay,
		      const struct morph_replan_opts *opts, struct morph_replanned *replanned)
{
	struct replan replan = { .schedule = schedule, .old = old, .collective = collective };
	struct morph_replan_opts mine;
	int ret = lm_opts_check(schedule->ctx, opts, sizeof(mine), "morph_replan_opts");

	if (ret)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	ret = check(schedule, old, collective, delay, &mine);
	if (ret)
		return ret;
	ret = begin(&replan, &mine);
	if (!ret)
		ret = plan_again(&replan, &mine);
	if (!ret)
		ret = bound(&replan);
	if (ret == -ECANCELED)
		ret = replan.verdict == MORPH_INFEASIBLE ?
			      lm_schedule_refuse(schedule, replan.why) :
			      lm_schedule_give_up(schedule, replan.why);
	else if (ret)
		schedule->verdict = 0;
	if (!ret && schedule->verdict == MORPH_FEASIBLE)
		sum_up(&replan);
	if (replanned)
		*replanned = replan.count;
	release(&replan);
	return ret;
}
