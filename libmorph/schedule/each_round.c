// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each round has circuits of its own: what others are compared with. A round in which a rank has more partners than
 * ports takes as many turns as that needs; where it has fewer, several planes lead to the same partner.
 */
#include "schedule.h"

struct turn {
	uint32_t first, count; /* colours */
	uint32_t now[MOST_PLANES]; /* holds by plane */
};

struct planning {
	struct morph_schedule *schedule;
	const struct morph_collective *collective;
	uint32_t *colours; /* of the transfers of a round */
	struct joined *circuits;
	struct turn turn;
	uint64_t clock_ps;
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

/* Circuits of a matching that a hold does not have. */
static uint32_t missing(const struct morph_schedule *schedule, uint32_t matching, uint32_t hold)
{
	const struct matching *wanted = &schedule->matchings.list[matching];
	uint32_t count = 0;

	if (hold == NO_HOLD)
		return wanted->count;
	for (uint32_t at = wanted->first; at < wanted->first + wanted->count; at++) {
		const struct joined *circuit = &schedule->circuits.list[at];

		count += lm_matching_leads(schedule, schedule->holds.list[hold].matching,
					   circuit->src) != circuit->dst;
	}
	return count;
}

/* How many planes lead to the partners of a colour: shared out evenly, the first have one more. */
static uint32_t planes_of(const struct planning *planning, uint32_t colour)
{
	uint32_t planes = planning->schedule->planes, count = planning->turn.count;

	return planes / count + (colour < planes % count);
}

/* The free plane that has most of a matching. */
static uint32_t best_plane(const struct planning *planning, uint32_t matching, const bool *taken)
{
	uint32_t best = UINT32_MAX, least = UINT32_MAX;

	for (uint32_t plane = 0; plane < planning->schedule->planes; plane++) {
		uint32_t count;

		if (taken[plane])
			continue;
		count = missing(planning->schedule, matching, planning->turn.now[plane]);
		if (count < least) {
			least = count;
			best = plane;
		}
	}
	return best;
}

/* Whose change a port counts for: in the scope of the fabric one change is of all planes. */
static uint64_t change_ps(const struct planning *planning, const uint32_t *wanted,
			  const uint32_t *lacks, uint32_t plane)
{
	const struct costs *costs = &planning->schedule->costs;
	uint64_t ports = lacks[plane];

	if (costs->scope == MORPH_DELAY_FABRIC_SCOPE) {
		ports = 0;
		for (uint32_t at = 0; at < planning->schedule->planes; at++)
			ports += wanted[at] == UINT32_MAX ? 0 : lacks[at];
	}
	return costs_change_ps(costs, ports);
}

/* Set what is wanted on each plane; returns 0 or what was noted, and the clock is when all is lit. */
static int change(struct planning *planning, const uint32_t *wanted)
{
	struct morph_schedule *schedule = planning->schedule;
	uint64_t begins = planning->clock_ps;
	uint32_t lacks[MOST_PLANES];
	int ret = 0;

	for (uint32_t plane = 0; plane < schedule->planes; plane++)
		lacks[plane] = wanted[plane] == UINT32_MAX ?
				       0 :
				       missing(schedule, wanted[plane], planning->turn.now[plane]);
	for (uint32_t plane = 0; !ret && plane < schedule->planes; plane++) {
		uint32_t *now = &planning->turn.now[plane];
		uint64_t lit;

		if (!lacks[plane])
			continue;
		lit = begins + change_ps(planning, wanted, lacks, plane);
		if (*now != NO_HOLD)
			schedule->holds.list[*now].dark_ps = begins;
		ret = lm_schedule_hold(schedule, plane, wanted[plane], begins, lit, now);
		if (lit > planning->clock_ps)
			planning->clock_ps = lit;
	}
	return ret;
}

/* Transfers of as many bytes, over the planes of their colour: each takes its share. */
static int send(struct planning *planning, struct send sent, const uint32_t *colours)
{
	struct morph_schedule *schedule = planning->schedule;
	uint32_t colour = planning->colours[sent.first] - planning->turn.first;
	uint32_t planes = planes_of(planning, colour), share = 0;
	const struct costs *costs = &schedule->costs;
	uint64_t bytes = sent.bytes;
	int ret = 0;

	for (uint32_t plane = 0; !ret && plane < schedule->planes; plane++) {
		if (colours[plane] != colour)
			continue;
		sent.bytes = bytes / planes + (share < bytes % planes);
		sent.from_ps = planning->clock_ps;
		sent.until_ps = planning->clock_ps + costs_send_ps(costs, sent.bytes, 1);
		share++;
		ret = lm_schedule_send(schedule, &sent, &planning->turn.now[plane]);
	}
	return ret;
}

/* Those of a round that have their turn, as many in one send as are alike and follow each other. */
static int send_turn(struct planning *planning, uint32_t round, const uint32_t *colours)
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
			ret = send(planning,
				   (struct send){ .round = round,
						  .first = at,
						  .count = next - at,
						  .hops = 1,
						  .bytes = transfers[at].bytes },
				   colours);
	}
	return ret;
}

/* The colours of a turn, at most as many as there are planes. */
static int take_turn(struct planning *planning, uint32_t round)
{
	const struct round *of = &planning->collective->rounds.list[round];
	uint32_t wanted[MOST_PLANES], colours[MOST_PLANES], matching;
	bool taken[MOST_PLANES] = { false };
	int ret = 0;

	for (uint32_t plane = 0; plane < planning->schedule->planes; plane++)
		wanted[plane] = UINT32_MAX;
	memset(colours, 0xff, sizeof(colours));
	for (uint32_t colour = 0; !ret && colour < planning->turn.count; colour++) {
		ret = lm_schedule_matching(planning->schedule, planning->circuits,
					   circuits_of(planning, of, planning->turn.first + colour),
					   &matching);
		for (uint32_t copy = 0; !ret && copy < planes_of(planning, colour); copy++) {
			uint32_t plane = best_plane(planning, matching, taken);

			taken[plane] = true;
			wanted[plane] = matching;
			colours[plane] = colour;
		}
	}
	if (!ret)
		ret = change(planning, wanted);
	if (!ret)
		ret = send_turn(planning, round, colours);
	if (!ret)
		planning->clock_ps = planning->schedule->finish_ps;
	return ret;
}

static int plan_round(struct planning *planning, uint32_t round)
{
	const struct round *of = &planning->collective->rounds.list[round];
	uint32_t planes = planning->schedule->planes;
	int ret = lm_colour_round(planning->schedule->ctx, planning->schedule->ranks,
				  &planning->collective->transfers.list[of->first], of->count,
				  planning->colours);
	uint32_t colours;

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
	struct planning planning = { .schedule = schedule, .collective = collective };
	int ret = 0;

	(void)opts;
	memset(planning.turn.now, 0xff, sizeof(planning.turn.now));
	for (uint32_t at = 0; at < schedule->residents; at++)
		planning.turn.now[schedule->holds.list[at].plane] = at;
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
