// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lays out the decisions of overlap.c: while some planes change, others send. The configuration of
 * a round is its matching. Smaller transfers are divided over the planes in the same proportion as
 * the largest.
 */
#include "../util/sort.h"
#include "lay.h"
#include "overlap.h"

/* A plane gets the matching of a round. */
struct change {
	uint64_t from, until;
	uint32_t round, plane;
};

struct planning {
	struct lay lay;
	const struct morph_collective *collective;
	struct overlap_problem problem;
	struct overlap_round *rounds; /* the configuration is a matching */
	struct overlap_share *shares;
	struct change *changes;
	uint32_t *holds; /* by round and plane, if used */
	struct morph_rank_pair *circuits;
	uint32_t resident[MOST_PLANES];
	/* by rank: last round in which it sends, plus one; then in which it receives */
	uint32_t *users;
};

/* Does each rank send to one rank and receive from one? */
static bool is_matching(struct planning *planning, uint32_t round)
{
	const struct round *of = &planning->collective->rounds.list[round];
	uint32_t ranks = planning->collective->ranks;

	for (uint32_t at = of->first; at < of->first + of->count; at++) {
		const struct transfer *transfer = &planning->collective->transfers.list[at];
		uint32_t *sends = &planning->users[transfer->src];
		uint32_t *receives = &planning->users[ranks + transfer->dst];

		if (*sends == round + 1 || *receives == round + 1)
			return false;
		*sends = *receives = round + 1;
	}
	return true;
}

/*
 * List the rounds with transfers and their matchings. Return their number or a noted error;
 * -ENOENT: a round is no matching.
 */
static int pose(struct planning *planning)
{
	const struct morph_collective *collective = planning->collective;
	uint32_t widest = 0;

	for (uint32_t round = 0; round < collective->rounds.count; round++) {
		const struct round *of = &collective->rounds.list[round];
		struct overlap_round *to = &planning->rounds[round];
		int ret;

		if (!of->count || !is_matching(planning, round))
			return -ENOENT;
		for (uint32_t at = 0; at < of->count; at++) {
			const struct transfer *transfer =
				&collective->transfers.list[of->first + at];

			planning->circuits[at] =
				(struct morph_rank_pair){ transfer->src, transfer->dst };
			to->bytes = transfer->bytes > to->bytes ? transfer->bytes : to->bytes;
		}
		if (!to->bytes)
			return -ENOENT;
		ret = lm_schedule_matching(planning->lay.schedule, planning->circuits, of->count,
					   &to->configuration);
		if (ret)
			return ret;
		widest = of->count > widest ? of->count : widest;
	}
	planning->problem.costs = planning->lay.schedule->costs;
	planning->problem.costs.round_ps += planning->problem.costs.hop_ps;
	planning->problem.costs.change_ps = costs_change_ps(&planning->lay.schedule->costs, widest);
	return 0;
}

static int by_time(const void *one, const void *other, void *context)
{
	const struct change *a = one, *b = other;

	(void)context;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->plane < b->plane ? -1 : a->plane > b->plane;
}

/* Holds in the order in which they are set, each named by the round for which it is set. */
static int lay_changes(struct planning *planning)
{
	uint32_t planes = planning->problem.planes, count = 0;
	int ret = 0;

	for (uint32_t at = 0; at < planning->problem.count * planes; at++)
		if (planning->shares[at].changed)
			planning->changes[count++] =
				(struct change){ .from = planning->shares[at].change_from,
						 .until = planning->shares[at].change_until,
						 .round = at / planes,
						 .plane = at % planes };
	lm_sort(planning->changes, count, sizeof(*planning->changes), by_time, NULL);
	for (uint32_t at = 0; !ret && at < count; at++) {
		const struct change *change = &planning->changes[at];

		ret = lm_lay_hold(&planning->lay, change->plane,
				  planning->rounds[change->round].configuration, change->from,
				  change->until);
		planning->holds[change->round * planes + change->plane] =
			planning->lay.now[change->plane];
	}
	return ret;
}

/*
 * A plane's part of a transfer: its share of everything up to this plane, less that of earlier
 * planes.
 */
static uint64_t part(uint64_t bytes, uint64_t before, uint64_t share, uint64_t all)
{
	unsigned __int128 until = (unsigned __int128)bytes * (before + share) / all;

	return (uint64_t)(until - (unsigned __int128)bytes * before / all);
}

/* Transfers of equal size, over all planes that take part. */
static int send(struct planning *planning, struct send sent, const uint32_t *now)
{
	const struct overlap_share *shares =
		&planning->shares[sent.round * planning->problem.planes];
	uint64_t bytes = sent.bytes, before = 0, all = planning->rounds[sent.round].bytes;
	int ret = 0;

	for (uint32_t plane = 0; !ret && plane < planning->problem.planes; plane++) {
		if (!shares[plane].used)
			continue;
		sent.bytes = part(bytes, before, shares[plane].bytes, all);
		sent.from_ps = shares[plane].from;
		sent.until_ps = shares[plane].until;
		before += shares[plane].bytes;
		ret = lm_schedule_send(planning->lay.schedule, &sent, &now[plane]);
	}
	return ret;
}

static int lay_round(struct planning *planning, uint32_t round, uint32_t *now)
{
	const struct round *of = &planning->collective->rounds.list[round];
	const struct transfer *transfers = &planning->collective->transfers.list[of->first];
	uint32_t planes = planning->problem.planes;
	int ret = 0;

	for (uint32_t plane = 0; plane < planes; plane++)
		if (planning->shares[round * planes + plane].changed)
			now[plane] = planning->holds[round * planes + plane];
	for (uint32_t at = 0, next; !ret && at < of->count; at = next) {
		for (next = at + 1;
		     next < of->count && transfers[next].bytes == transfers[at].bytes; next++)
			;
		ret = send(planning,
			   (struct send){ .round = round,
					  .first = at,
					  .count = next - at,
					  .hops = 1,
					  .bytes = transfers[at].bytes },
			   now);
	}
	return ret;
}

static int lay_all(struct planning *planning)
{
	uint32_t now[MOST_PLANES];
	int ret;

	memcpy(now, planning->lay.now, sizeof(now));
	ret = lay_changes(planning);
	for (uint32_t round = 0; !ret && round < planning->problem.count; round++)
		ret = lay_round(planning, round, now);
	if (!ret)
		lm_schedule_end(planning->lay.schedule);
	return ret;
}

static int solve(struct planning *planning, const struct morph_schedule_opts *opts)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	struct overlap_options options = { .width = lm_schedule_budget(opts) };
	struct overlap_result result;
	struct overlap_work *work;
	int ret;

	for (uint32_t plane = 0; plane < schedule->planes; plane++)
		planning->resident[plane] =
			planning->lay.now[plane] == NO_HOLD ?
				OVERLAP_NONE :
				schedule->holds.list[planning->lay.now[plane]].matching;
	planning->problem.resident = planning->resident;
	work = lm_overlap_work_new(schedule->ctx);
	if (!work)
		return -ENOMEM;
	ret = lm_overlap_solve(work, &planning->problem, &options, planning->shares, &result);
	lm_overlap_work_free(work);
	return ret ? ret : lay_all(planning);
}

static int make_room(struct planning *planning)
{
	size_t rounds = planning->collective->rounds.count;
	size_t cells = rounds * planning->problem.planes;
	uint32_t ranks = planning->collective->ranks;

	planning->rounds = calloc(rounds, sizeof(*planning->rounds));
	planning->shares = calloc(cells, sizeof(*planning->shares));
	planning->changes = calloc(cells, sizeof(*planning->changes));
	planning->holds = calloc(cells, sizeof(*planning->holds));
	planning->circuits = calloc(ranks, sizeof(*planning->circuits));
	planning->users = calloc(2 * (size_t)ranks, sizeof(*planning->users));
	if (planning->rounds && planning->shares && planning->changes && planning->holds &&
	    planning->circuits && planning->users)
		return 0;
	lm_no_memory(planning->lay.schedule->ctx, "plan a schedule");
	return -ENOMEM;
}

static void free_room(struct planning *planning)
{
	free(planning->rounds);
	free(planning->shares);
	free(planning->changes);
	free(planning->holds);
	free(planning->circuits);
	free(planning->users);
}

int lm_plan_overlap(struct morph_schedule *schedule, const struct morph_collective *collective,
		    const struct morph_schedule_opts *opts)
{
	struct planning planning = { .lay = lm_lay_begin(schedule),
				     .collective = collective,
				     .problem.planes = schedule->planes,
				     .problem.count = collective->rounds.count };
	int ret;

	if (schedule->costs.scope == MORPH_DELAY_FABRIC_SCOPE)
		return lm_schedule_refuse(schedule, "no rank may send during a change");
	if (schedule->planes > OVERLAP_PLANES)
		return lm_schedule_refuse(schedule, "policy overlap supports at most 16 planes");
	if (!collective->rounds.count)
		return lm_schedule_refuse(schedule, "no rounds");
	ret = make_room(&planning);
	if (!ret)
		ret = pose(&planning);
	planning.problem.rounds = planning.rounds;
	if (!ret)
		ret = solve(&planning, opts);
	else if (ret == -ENOENT)
		ret = lm_schedule_refuse(
			schedule, "in a round a rank has several partners, or no rank has bytes");
	free_room(&planning);
	return ret;
}
