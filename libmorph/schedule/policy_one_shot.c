// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Before the first round, each plane gets a matching and keeps it, if there are no more matchings
 * than planes. Each remaining plane goes to the matching whose rounds gain most. Since each further
 * plane gains less, this is optimal for rounds of one matching.
 */
#include "lay.h"

struct planning {
	struct lay lay;
	const struct morph_collective *collective;
	uint32_t *colours; /* by transfer */
	uint32_t *rounds; /* by round: its first of @uses, and the end of the last */
	uint32_t *uses; /* by round and colour: index into @matchings */
	struct morph_rank_pair *circuits;
	uint32_t matchings[MOST_PLANES], count; /* that differ */
	uint64_t bytes[MOST_PLANES]; /* sum over rounds of their fullest transfer */
	uint32_t planes[MOST_PLANES]; /* number of planes of each */
};

static bool is_among(const uint32_t *list, uint32_t count, uint32_t number)
{
	for (uint32_t at = 0; at < count; at++)
		if (list[at] == number)
			return true;
	return false;
}

/*
 * The index of the matching, a new one if necessary; NO_MATCHING if there are too many. Two colours
 * of a round stay two, even with the same ranks.
 */
static uint32_t number_of(struct planning *planning, uint32_t matching, const uint32_t *used,
			  uint32_t used_count)
{
	for (uint32_t at = 0; at < planning->count; at++)
		if (planning->matchings[at] == matching && !is_among(used, used_count, at))
			return at;
	if (planning->count == planning->lay.schedule->planes)
		return NO_MATCHING;
	planning->matchings[planning->count] = matching;
	return planning->count++;
}

static uint64_t fullest(const struct planning *planning, const struct round *round, uint32_t colour)
{
	uint64_t most = 0;

	for (uint32_t at = round->first; at < round->first + round->count; at++) {
		const struct transfer *transfer = &planning->collective->transfers.list[at];

		if (planning->colours[at] == colour && transfer->bytes > most)
			most = transfer->bytes;
	}
	return most;
}

/*
 * Find the colours of a round, and the matching of each. Return 0, -ENOSPC (more matchings than
 * planes) or a noted -ENOMEM.
 */
static int look_at(struct planning *planning, uint32_t number)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	const struct round *round = &planning->collective->rounds.list[number];
	uint32_t *colours = &planning->colours[round->first];
	uint32_t first = planning->rounds[number];
	int count = lm_colour_round(schedule->ctx, schedule->ranks,
				    &planning->collective->transfers.list[round->first],
				    round->count, colours);

	if (count < 0)
		return count;
	if ((uint32_t)count > schedule->planes)
		return -ENOSPC;
	for (uint32_t colour = 0; colour < (uint32_t)count; colour++) {
		uint32_t matching, use;
		int ret = lm_lay_matching(&planning->lay, planning->collective, round, colours,
					  colour, planning->circuits, &matching);

		if (ret)
			return ret;
		use = number_of(planning, matching, &planning->uses[first], colour);
		if (use == NO_MATCHING)
			return -ENOSPC;
		planning->uses[first + colour] = use;
		planning->bytes[use] += fullest(planning, round, colour);
	}
	planning->rounds[number + 1] = first + (uint32_t)count;
	return 0;
}

static void share_out(struct planning *planning)
{
	for (uint32_t at = 0; at < planning->count; at++)
		planning->planes[at] = 1;
	for (uint32_t left = planning->lay.schedule->planes - planning->count; left; left--) {
		uint32_t best = 0;

		/* bytes / n - bytes / (n + 1), without fractions */
		for (uint32_t at = 1; at < planning->count; at++) {
			uint64_t planes = planning->planes[at], most = planning->planes[best];

			if ((unsigned __int128)planning->bytes[at] * most * (most + 1) >
			    (unsigned __int128)planning->bytes[best] * planes * (planes + 1))
				best = at;
		}
		planning->planes[best]++;
	}
}

/* Set what planes lack; @firsts and @planes list the planes of each matching. */
static int light(struct planning *planning, uint32_t *firsts, uint32_t *planes)
{
	uint32_t copies[MOST_PLANES], wanted[MOST_PLANES], count = 0, next = 0;
	bool taken[MOST_PLANES] = { false };

	for (uint32_t at = 0; at < planning->count; at++)
		for (uint32_t copy = 0; copy < planning->planes[at]; copy++)
			copies[count++] = planning->matchings[at];
	lm_lay_assign(&planning->lay, copies, count, wanted);
	for (uint32_t at = 0; at < planning->count; at++) {
		firsts[at] = next;
		for (uint32_t plane = 0; next < firsts[at] + planning->planes[at]; plane++) {
			if (taken[plane] || wanted[plane] != planning->matchings[at])
				continue;
			taken[plane] = true;
			planes[next++] = plane;
		}
	}
	firsts[planning->count] = next;
	return lm_lay_change(&planning->lay, wanted);
}

static int lay_round(struct planning *planning, uint32_t round, const uint32_t *firsts,
		     const uint32_t *planes)
{
	uint32_t first = planning->rounds[round];
	struct turn turn = { .count = planning->rounds[round + 1] - first };

	for (uint32_t colour = 0; colour < turn.count; colour++) {
		uint32_t use = planning->uses[first + colour];
		uint32_t count = firsts[use + 1] - firsts[use];

		turn.firsts[colour + 1] = turn.firsts[colour] + count;
		memcpy(&turn.planes[turn.firsts[colour]], &planes[firsts[use]],
		       count * sizeof(*planes));
	}
	return lm_lay_turn(&planning->lay, planning->collective, round,
			   &planning->colours[planning->collective->rounds.list[round].first],
			   &turn);
}

static int plan(struct planning *planning)
{
	uint32_t firsts[MOST_PLANES + 1], planes[MOST_PLANES];
	uint32_t rounds = planning->collective->rounds.count;
	int ret = 0;

	for (uint32_t round = 0; !ret && round < rounds; round++)
		ret = look_at(planning, round);
	if (!ret && planning->count) {
		share_out(planning);
		ret = light(planning, firsts, planes);
	}
	for (uint32_t round = 0; !ret && round < rounds; round++)
		ret = lay_round(planning, round, firsts, planes);
	if (!ret)
		lm_schedule_end(planning->lay.schedule);
	return ret;
}

int lm_plan_one_shot(struct morph_schedule *schedule, const struct morph_collective *collective,
		     const struct morph_schedule_opts *opts)
{
	struct planning planning = { .lay = lm_lay_begin(schedule), .collective = collective };
	size_t rounds = collective->rounds.count;
	int ret;

	(void)opts;
	planning.colours = calloc(collective->transfers.count + 1, sizeof(*planning.colours));
	planning.rounds = calloc(rounds + 1, sizeof(*planning.rounds));
	planning.uses = calloc(rounds * schedule->planes + 1, sizeof(*planning.uses));
	planning.circuits = calloc(schedule->ranks, sizeof(*planning.circuits));
	if (planning.colours && planning.rounds && planning.uses && planning.circuits)
		ret = plan(&planning);
	else
		ret = lm_no_memory(schedule->ctx, "plan a schedule");
	free(planning.colours);
	free(planning.rounds);
	free(planning.uses);
	free(planning.circuits);
	if (ret == -ENOSPC)
		ret = lm_schedule_refuse(schedule, "it has more matchings than planes");
	return ret;
}
