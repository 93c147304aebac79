// SPDX-License-Identifier: LGPL-2.1-or-later
/* A small valid schedule, and schedules derived from it. */
#include "by_hand_small.h"

struct hand small(void)
{
	return (struct hand){
		.planes = 2,
		.collective = {
			.form = { MORPH_WIRE_COLLECTIVE, 0 },
			.ranks = 3,
			.chunks_count = 2, .chunks = { { EACH, 2, 400 }, { 0, 1, 400 } },
			.rounds_count = 2, .rounds = { { 0, 2 }, { 2, 1 } },
			.transfers_count = 3,
			.transfers = { { 0, 1, 1, { 0, 1 } }, { 0, 1, 0, { 1, 1 } }, { 1, 2, 1, { 2, 1 } } },
			.runs_count = 3, .runs = { { 0, 1 }, { 1, 1 }, { 0, 1 } },
		},
		.delay = { .form = { MORPH_WIRE_DELAY, 0 }, .scope = MORPH_DELAY_PORT_SCOPE,
			   .round_ps = 100, .hop_ps = 10, .mbps = 8000000,
			   .change_ps = 1000, .port_ps = 50 },
		.schedule = {
			.form = { MORPH_WIRE_SCHEDULE, 0 },
			.verdict = MORPH_FEASIBLE, .ranks = 3, .planes = 2,
			.finish = LIT + 2 * LONG,
			.bound_kind = MORPH_BOUND_PORTS, .bound = LIT + LONG,
			.matchings_count = 2, .matchings = { { 0, 1 }, { 1, 1 } },
			.circuits_count = 2, .circuits = { { 0, 1 }, { 1, 2 } },
			.holds_count = 2,
			.holds = { { 0, 0, 0, LIT, LIT + 2 * LONG }, { 1, 1, 0, LIT, LIT + 2 * LONG } },
			.sends_count = 3,
			.sends = { { 0, { 0, 1 }, { 0, 1 }, 400, LIT, LIT + LONG },
				   { 0, { 1, 1 }, { 1, 1 }, 400, LIT + LONG, LIT + 2 * LONG },
				   { 1, { 0, 1 }, { 2, 1 }, 400, LIT + LONG, LIT + 2 * LONG } },
			.hops_count = 3, .hops = { 0, 0, 1 },
		},
	};
}

struct hand following(void)
{
	struct hand it = small();
	struct hand_schedule *schedule = &it.schedule;

	it.follows = true;
	it.after = it.schedule;
	schedule->residents = 1;
	schedule->holds[0] = (struct hand_hold){ 0, 0, 0, 0, 2 * LONG };
	schedule->sends[0].from = 0;
	schedule->sends[0].until = schedule->sends[1].from = LONG;
	schedule->sends[1].until = 2 * LONG;
	schedule->sends[2].from = LIT;
	schedule->sends[2].until = schedule->finish = LIT + LONG;
	schedule->bound = LONG;
	return it;
}

struct hand with_hold(struct hand it, struct hand_hold hold, uint32_t src, uint32_t dst)
{
	struct hand_schedule *schedule = &it.schedule;

	hold.matching = schedule->matchings_count;
	schedule->holds[schedule->holds_count++] = hold;
	schedule->matchings[schedule->matchings_count++] =
		(struct hand_part){ schedule->circuits_count, 1 };
	schedule->circuits[schedule->circuits_count].src = src;
	schedule->circuits[schedule->circuits_count++].dst = dst;
	return it;
}

struct hand set_later(struct hand it, uint32_t plane, uint64_t set, uint32_t src, uint32_t dst)
{
	return with_hold(it, (struct hand_hold){ plane, 0, set, set + LIT, set + LIT }, src, dst);
}

struct hand taken_over(void)
{
	struct hand it = small();
	uint64_t when = LIT + LONG;

	it.schedule.holds[0].dark = when;
	it = with_hold(it, (struct hand_hold){ 0, 0, when, when, when + LONG }, 0, 1);
	it.schedule.hops[1] = 2;
	return it;
}
