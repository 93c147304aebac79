// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each round has circuits of its own: what others are compared with. A round in which a rank has more partners than
 * ports takes as many turns as that needs; where it has fewer, several planes lead to the same partner.
 */
#include "lay.h"

/* What is sent at once: transfers of some colours, each on planes of its own. */
struct turn {
	uint32_t first, count; /* colours */
	uint32_t matchings[MOST_PLANES]; /* by copy; those of a colour follow one another */
	uint32_t planes[MOST_PLANES]; /* by copy */
};

struct planning {
	struct lay lay;
	const struct morph_collective *collective;
	uint32_t *colours; /* of the transfers of a round */
	struct joined *circuits;
	struct turn turn;
};

static uint32_t circuits_of(struct planning *planning, const struct round *round, uint32_t colour)
{
	const struct transfer *transfers = &planning->collective->transfers.list[round->first];
	uint32_t count = 0;

	for (uint32_t at = 0; at < round->count; at++)
		if (planning->colours[at] == colour)
			planning->circuits[count++] =
				(struct joined){ transfers[at].src, transfers[at].dst };
	return count;
}

/* The first copy of a colour: planes are shared out evenly, the first colours have one more. */
static uint32_t first_copy(const struct planning *planning, uint32_t colour)
{
	uint32_t planes = planning->lay.schedule->planes, count = planning->turn.count;
	uint32_t more = planes % count;

	return colour * (planes / count) + (colour < more ? colour : more);
}

/* Transfers of as many bytes, over the planes of their colour: each takes its share. */
static int send(struct planning *planning, struct send sent)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	uint32_t colour = planning->colours[sent.first] - planning->turn.first;
	uint32_t first = first_copy(planning, colour);
	uint32_t planes = first_copy(planning, colour + 1) - first;
	uint64_t bytes = sent.bytes;
	int ret = 0;

	for (uint32_t share = 0; !ret && share < planes; share++) {
		sent.bytes = bytes / planes + (share < bytes % planes);
		sent.from_ps = planning->lay.clock_ps;
		sent.until_ps = sent.from_ps + costs_send_ps(&schedule->costs, sent.bytes, 1);
		ret = lm_schedule_send(schedule, &sent,
				       &planning->lay.now[planning->turn.planes[first + share]]);
	}
	return ret;
}

/* Those of a round that have their turn, as many in one send as are alike and follow each other. */
static int send_turn(struct planning *planning, uint32_t round)
{
	const struct round *of = &planning->collective->rounds.list[round];
	const struct transfer *transfers = &planning->collective->transfers.list[of->first];
	int ret = 0;

	for (uint32_t at = 0, next; !ret && at < of->count; at = next) {
		uint32_t colour = planning->colours[at];

		for (next = at + 1; next < of->count && planning->colours[next] == colour &&
				    transfers[next].bytes == transfers[at].bytes;
		     next++)
			;
		if (colour >= planning->turn.first &&
		    colour < planning->turn.first + planning->turn.count)
			ret = send(planning, (struct send){ .round = round,
							    .first = at,
							    .count = next - at,
							    .hops = 1,
							    .bytes = transfers[at].bytes });
	}
	if (!ret)
		planning->lay.clock_ps = planning->lay.schedule->finish_ps;
	return ret;
}

/* Each copy of a matching is on the plane that wants it. */
static void find_planes(struct planning *planning, const uint32_t *wanted)
{
	uint32_t planes = planning->lay.schedule->planes;
	bool taken[MOST_PLANES] = { false };

	for (uint32_t copy = 0; copy < planes; copy++) {
		uint32_t plane = 0;

		while (taken[plane] || wanted[plane] != planning->turn.matchings[copy])
			plane++;
		taken[plane] = true;
		planning->turn.planes[copy] = plane;
	}
}

/* The colours of a turn, at most as many as there are planes; no plane is left. */
static int take_turn(struct planning *planning, uint32_t round)
{
	const struct round *of = &planning->collective->rounds.list[round];
	uint32_t wanted[MOST_PLANES];
	int ret = 0;

	for (uint32_t colour = 0; !ret && colour < planning->turn.count; colour++) {
		uint32_t count = circuits_of(planning, of, planning->turn.first + colour);
		uint32_t matching;

		ret = lm_schedule_matching(planning->lay.schedule, planning->circuits, count,
					   &matching);
		for (uint32_t copy = first_copy(planning, colour);
		     !ret && copy < first_copy(planning, colour + 1); copy++)
			planning->turn.matchings[copy] = matching;
	}
	if (ret)
		return ret;
	lm_lay_assign(&planning->lay, planning->turn.matchings, planning->lay.schedule->planes,
		      wanted);
	find_planes(planning, wanted);
	ret = lm_lay_change(&planning->lay, wanted);
	return ret ? ret : send_turn(planning, round);
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
	int ret = 0;

	(void)opts;
	planning.colours = calloc(lm_widest_round(collective) + 1, sizeof(*planning.colours));
	planning.circuits = calloc(schedule->ranks, sizeof(*planning.circuits));
	if (!planning.colours || !planning.circuits)
		ret = lm_fail(schedule->ctx, ENOMEM, "plan a schedule: out of memory");
	for (uint32_t round = 0; !ret && round < collective->rounds.count; round++)
		ret = plan_round(&planning, round);
	free(planning.colours);
	free(planning.circuits);
	if (!ret)
		lm_schedule_end(schedule, MORPH_POLICY_EACH_ROUND);
	return ret;
}
