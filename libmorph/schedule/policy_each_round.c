// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each round has its own circuits; other policies are compared with this. If a rank has more
 * partners than ports, the round takes as many turns as necessary, unless a turn would send what an
 * earlier one received. If it has fewer, several planes lead to the same partner.
 */
#include "lay.h"

struct planning {
	struct lay lay;
	const struct morph_collective *collective;
	uint32_t *colours; /* of the transfers of a round */
	struct morph_rank_pair *circuits;
	struct turn turn;
	uint32_t matchings[MOST_PLANES]; /* by copy; those of a colour are consecutive */
};

/* Distribute the planes evenly over the colours of a turn; the first have one more. */
static void share_out(struct turn *turn, uint32_t planes)
{
	turn->firsts[0] = 0;
	for (uint32_t colour = 0; colour < turn->count; colour++)
		turn->firsts[colour + 1] = turn->firsts[colour] + planes / turn->count +
					   (colour < planes % turn->count);
}

/* Put each copy of a matching on the plane that wants it. */
static void find_planes(struct planning *planning, const uint32_t *wanted)
{
	uint32_t planes = planning->lay.schedule->planes;
	bool taken[MOST_PLANES] = { false };

	for (uint32_t copy = 0; copy < planes; copy++) {
		uint32_t plane = 0;

		while (taken[plane] || wanted[plane] != planning->matchings[copy])
			plane++;
		taken[plane] = true;
		planning->turn.planes[copy] = plane;
	}
}

/* The colours of a turn, limited to the number of planes. All planes are used. */
static int take_turn(struct planning *planning, uint32_t round)
{
	const struct round *of = &planning->collective->rounds.list[round];
	uint32_t wanted[MOST_PLANES];
	int ret = 0;

	share_out(&planning->turn, planning->lay.schedule->planes);
	for (uint32_t colour = 0; !ret && colour < planning->turn.count; colour++) {
		uint32_t matching = NO_MATCHING;

		ret = lm_lay_matching(&planning->lay, planning->collective, of, planning->colours,
				      planning->turn.first + colour, planning->circuits, &matching);
		for (uint32_t copy = planning->turn.firsts[colour];
		     copy < planning->turn.firsts[colour + 1]; copy++)
			planning->matchings[copy] = matching;
	}
	if (ret)
		return ret;
	lm_lay_assign(&planning->lay, planning->matchings, planning->lay.schedule->planes, wanted);
	find_planes(planning, wanted);
	ret = lm_lay_change(&planning->lay, wanted);
	return ret ? ret :
		     lm_lay_turn(&planning->lay, planning->collective, round, planning->colours,
				 &planning->turn);
}

static int plan_round(struct planning *planning, uint32_t round)
{
	const struct round *of = &planning->collective->rounds.list[round];
	uint32_t planes = planning->lay.schedule->planes, colours;
	int ret = lm_colour_round(planning->lay.schedule->ctx, planning->lay.schedule->ranks,
				  &planning->collective->transfers.list[of->first], of->count,
				  planning->colours);

	if (ret < 0)
		return ret;
	colours = (uint32_t)ret;
	ret = 0;
	for (uint32_t first = 0; !ret && first < colours; first += planes) {
		planning->turn.first = first;
		planning->turn.count = colours - first < planes ? colours - first : planes;
		ret = take_turn(planning, round);
	}
	return ret;
}

int lm_plan_each_round(struct morph_schedule *schedule, const struct morph_collective *collective,
		       const struct morph_schedule_opts *opts)
{
	struct planning planning = { .lay = lm_lay_begin(schedule), .collective = collective };
	int ret = lm_find_exchange(schedule->ctx, collective, schedule->planes);

	(void)opts;
	if (ret > 0)
		return lm_schedule_give_up(
			schedule,
			"a rank sends data that it receives in the same round, and the round takes turns");
	if (ret)
		return ret;
	planning.colours = calloc(lm_widest_round(collective) + 1, sizeof(*planning.colours));
	planning.circuits = calloc(schedule->ranks, sizeof(*planning.circuits));
	if (!planning.colours || !planning.circuits)
		ret = lm_no_memory(schedule->ctx, "plan a schedule");
	for (uint32_t round = 0; !ret && round < collective->rounds.count; round++)
		ret = plan_round(&planning, round);
	free(planning.colours);
	free(planning.circuits);
	if (!ret)
		lm_schedule_end(schedule);
	return ret;
}
