// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules of the schedule checker, each with a schedule that is valid except for one property: sends,
 * their results, and bounds.
 */
#include "by_hand_small.h"

/* -------------------------------------------------------------------- sends */

static void sends_follow_circuits(void **state)
{
	(void)state;
	REJECTS(small(), "send 0 has no circuit onward from rank 0", it.schedule.hops[0] = 1);
	REJECTS(small(), "send 0 ends at rank 2, not at rank 1", it.schedule.circuits[0].dst = 2);
	REJECTS(small(), "send 2 has no circuit onward from rank 1", it.schedule.hops[2] = 0);
}

static void sends_use_lit_circuits(void **state)
{
	(void)state;
	REJECTS(small(), "send 0 uses a dark circuit", it.schedule.sends[0].from--);
	REJECTS(small(), "send 1 uses a dark circuit", it.schedule.holds[0].dark--);
	REJECTS(small(), "send 2 uses a dark circuit", it.schedule.holds[1].dark--);
}

/*
 * A circuit that stays, in a hold with another circuit that changes, is lit meanwhile if changes
 * stop only ports.
 */
static void unchanged_circuits_stay_lit(void **state)
{
	struct hand base = taken_over();
	struct hand_schedule *schedule = &base.schedule;

	(void)state;
	schedule->matchings[2].count = 2;
	schedule->circuits_count = 4;
	schedule->circuits[3].src = 2;
	schedule->circuits[3].dst = 0;
	schedule->holds[2].lit += LIT;
	schedule->holds[2].dark += LIT;
	assert_legal(&base);
	REJECTS(base, "send 1 uses a dark circuit", it.delay.scope = MORPH_DELAY_PLANE_SCOPE);
	REJECTS(base, "send 1 uses a dark circuit", it.schedule.sends[1].from--);
	/* This does not hold for circuits that change. */
	REJECTS(base, "send 1 uses a dark circuit",
		(it.schedule.holds[2].lit += 50, it.schedule.holds[2].dark += 50,
		 it.schedule.holds[0].dark--, it.schedule.sends[0].until--));
}

static void sends_match_their_transfers(void **state)
{
	(void)state;
	REJECTS(small(), "send 2 belongs to no round", it.schedule.sends[2].round = 2);
	REJECTS(small(), "send 2 has no transfers", it.schedule.sends[2].transfers.first = 1);
	REJECTS(small(), "send 2 has no transfers", it.schedule.sends[2].transfers.first = 2);
	REJECTS(small(), "send 2 has no transfers", it.schedule.sends[2].transfers.count = 2);
	REJECTS(small(), "send 2 exceeds the bytes of transfer 2", it.schedule.sends[2].bytes++);
	REJECTS(small(), "transfer 2: 399 bytes sent, not 400", it.schedule.sends[2].bytes--);
	/* Transfers without bytes need a send, too. */
	REJECTS(small(), "transfer 1: 0 bytes sent, not 0",
		(it.collective.chunks[1].bytes = 0, it.schedule.sends[1] = it.schedule.sends[2],
		 it.schedule.sends[1].hops.first = 1, it.schedule.hops[1] = 1,
		 it.schedule.sends_count = it.schedule.hops_count = 2));
	REJECTS(small(), "too many bytes to send", it.schedule.sends[0].transfers.count = 1 << 23);
}

/*
 * Send chunk 0 to rank 1 in half the time, both parts at once, over the circuit that carries all
 * bytes.
 */
static void sends_share_a_circuit_or_do_not_meet(void **state)
{
	struct hand both = small();

	(void)state;
	REJECTS(small(), "sends 0 and 1 overlap on one circuit, but at different times",
		it.schedule.sends[0].until++);
	REJECTS(small(), "sends 1 and 0 overlap on one circuit, but at different times",
		(it.schedule.sends[0].from = LIT + LONG + 1,
		 it.schedule.sends[0].until = LIT + 2 * LONG));
	REJECTS(small(), "sends 0 and 1 overlap on one circuit, but at different times",
		(it.schedule.sends[1].from = LIT));
	for (uint32_t at = 0; at < 2; at++) {
		both.schedule.sends[at].from = LIT;
		both.schedule.sends[at].until = LIT + LONG + 400;
	}
	both.schedule.sends[2].from = LIT + LONG + 400;
	both.schedule.sends[2].until = LIT + 2 * LONG + 400;
	both.schedule.finish = both.schedule.holds[1].dark = LIT + 2 * LONG + 400;
	assert_legal(&both);
	REJECTS(both, "send 0 takes 910 ps, not 909",
		it.schedule.sends[0].until = --it.schedule.sends[1].until);
}

static void sends_have_the_right_time(void **state)
{
	(void)state;
	REJECTS(small(), "send 0 takes 510 ps, not 509", it.schedule.sends[0].until--);
	REJECTS(small(), "send 0 takes 511 ps, not 510", it.delay.round_ps++);
	REJECTS(small(), "send 0 takes 511 ps, not 510", it.delay.hop_ps++);
	/* A send must deliver the bytes that it began to send. */
	REJECTS(small(), "send 0 takes 511 ps, not 510", it.delay.mbps--);
	REJECTS(small(), "all data arrives after 2070 ps, not 2071", it.schedule.finish++);
	REJECTS(small(), "all data arrives after 2070 ps, not 2069", it.schedule.finish--);
}

/* Chunk 1 goes to rank 2 over rank 1 after all other data has arrived, and ends there. */
static struct hand by_two_hops(void)
{
	struct hand base = small();
	struct hand_schedule *schedule = &base.schedule;

	base.collective.chunks[1].ends = base.collective.transfers[1].dst = 2;
	schedule->sends[1].hops.count = 2;
	schedule->sends[1].from += LONG;
	schedule->sends[1].until += LONG + 10;
	schedule->sends[2].hops.first = 3;
	schedule->hops_count = 4;
	schedule->hops[2] = schedule->hops[3] = 1;
	schedule->finish = schedule->sends[1].until;
	schedule->holds[0].dark = schedule->holds[1].dark = schedule->finish;
	return base;
}

static void each_hop_takes_time(void **state)
{
	struct hand base = by_two_hops();

	(void)state;
	assert_legal(&base);
	REJECTS(base, "send 1 takes 520 ps, not 519",
		it.schedule.finish = --it.schedule.sends[1].until);
	REJECTS(base, "send 1 ends at rank 1, not at rank 2",
		(it.schedule.sends[1].hops.count = 1, it.schedule.sends[2].hops.first = 2,
		 it.schedule.hops_count = 3));
	/* Another send at the same time over any one of its circuits. */
	REJECTS(base, "sends 2 and 1 overlap on one circuit, but at different times",
		it.schedule.sends[2].until++);
}

/* The circuit with most bytes limits a path, here the first one. */
static void the_fullest_circuit_of_a_path_counts(void **state)
{
	struct hand base = by_two_hops();
	struct hand_schedule *schedule = &base.schedule;

	(void)state;
	for (uint32_t at = 0; at < 2; at++) {
		schedule->sends[at].from = LIT;
		schedule->sends[at].until = LIT + 920;
	}
	schedule->sends[2].from = LIT + 920;
	schedule->sends[2].until = schedule->finish = LIT + 920 + LONG;
	assert_legal(&base);
	REJECTS(base, "send 1 takes 920 ps, not 919",
		it.schedule.sends[0].until = --it.schedule.sends[1].until);
}

/*
 * If changes stop planes, nothing is sent over a changing plane. If they stop the fabric, nothing
 * is sent at all.
 */
static void nothing_is_sent_into_a_change(void **state)
{
	const struct hand ends = set_later(small(), 0, LIT + 2 * LONG, 2, 0);
	const struct hand early = set_later(small(), 0, LIT + 2 * LONG - 1, 2, 0);
	const struct hand other = set_later(small(), 1, LIT + 2 * LONG - 1, 0, 1);
	struct hand fabric = small();

	(void)state;
	TAKES(ends, it.delay.scope = MORPH_DELAY_PLANE_SCOPE);
	TAKES(early, );
	REJECTS(early, "hold 2 is set during send 1", it.delay.scope = MORPH_DELAY_PLANE_SCOPE);
	REJECTS(other, "hold 2 is set during send 2", it.delay.scope = MORPH_DELAY_PLANE_SCOPE);
	/* A change on a plane that the send does not use matters only if it stops the fabric. */
	fabric.planes = fabric.schedule.planes = 3;
	fabric.schedule.bound = LIT + 267 + 110;
	fabric.schedule.holds[0].lit += 50;
	fabric.schedule.holds[1].lit += 50;
	for (uint32_t at = 0; at < 3; at++) {
		fabric.schedule.sends[at].from += 50;
		fabric.schedule.sends[at].until += 50;
	}
	fabric.schedule.finish = fabric.schedule.holds[0].dark = fabric.schedule.holds[1].dark +=
		50;
	TAKES(set_later(fabric, 2, LIT + 50 + LONG + 1, 0, 1),
	      it.delay.scope = MORPH_DELAY_PLANE_SCOPE);
	REJECTS(set_later(fabric, 2, LIT + 50 + LONG + 1, 0, 1), "hold 2 is set during send 1",
		it.delay.scope = MORPH_DELAY_FABRIC_SCOPE);
	TAKES(set_later(fabric, 2, LIT + 50 + 2 * LONG, 0, 1),
	      it.delay.scope = MORPH_DELAY_FABRIC_SCOPE);
	/* Any plane of its path. */
	REJECTS(set_later(by_two_hops(), 0, LIT + 3 * LONG, 2, 0), "hold 2 is set during send 1",
		it.delay.scope = MORPH_DELAY_PLANE_SCOPE);
	/* Circuits lit at the start do not change. */
	TAKES(following(), it.delay.scope = MORPH_DELAY_PLANE_SCOPE);
	REJECTS(following(), "hold 1 is set during send 0",
		it.delay.scope = MORPH_DELAY_FABRIC_SCOPE);
}

/* A hold that replaces an equal one is no change. */
static void unchanged_circuits_do_not_disturb(void **state)
{
	struct hand base = following();
	struct hand_schedule *schedule = &base.schedule;

	(void)state;
	/* Rank 2 has a circuit to rank 0 at the start, and then in another hold, during send 0. */
	schedule->residents = 2;
	schedule->holds[2] = schedule->holds[1];
	schedule->hops[2] = 2;
	schedule->holds[1] = (struct hand_hold){ 0, 2, 0, 0, 300 };
	schedule->holds[3] = (struct hand_hold){ 0, 2, 300, 310, 400 };
	schedule->holds_count = 4;
	schedule->matchings_count = schedule->circuits_count = 3;
	schedule->matchings[2] = (struct hand_part){ 2, 1 };
	schedule->circuits[2].src = 2;
	schedule->circuits[2].dst = 0;
	base.after = set_later(small(), 0, 0, 2, 0).schedule;
	base.after.holds[2].dark = base.after.finish;
	base.delay.scope = MORPH_DELAY_PLANE_SCOPE;
	assert_legal(&base);
	/* For a moment the circuit is dark. */
	REJECTS(base, "hold 3 is set during send 0",
		(it.schedule.holds[1].dark--, it.schedule.holds[3].lit += LIT,
		 it.schedule.holds[3].dark += LIT));
}

/* --------------------------------------------------------------------- data */

static void ranks_send_only_their_bytes(void **state)
{
	(void)state;
	REJECTS(small(), "rank 0 sends chunk 1, which it does not have",
		it.collective.chunks[1].begins = 2);
}

static void parts_are_summed_once(void **state)
{
	(void)state;
	REJECTS(small(), "rank 1 adds a part of chunk 0 twice",
		(it.collective.transfers[1].reduce = 1, it.collective.runs[1].first = 0));
	REJECTS(small(), "rank 2 loses a part of chunk 0", it.collective.transfers[2].reduce = 0);
	/* Empty data can be summed, and a chunk that is present can arrive again. */
	TAKES(small(), it.collective.transfers[1].reduce = 1);
	TAKES(small(), (it.collective.runs[1].first = 0, it.collective.chunks[0].begins = 0,
			it.collective.chunks[1].ends = 0));
}

/* Rank 1 sends its data in two parts, one after the other. */
static struct hand in_parts(struct hand it)
{
	struct hand_schedule *schedule = &it.schedule;

	schedule->sends_count = schedule->hops_count = 4;
	schedule->hops[3] = 1;
	schedule->sends[2].bytes = 200;
	schedule->sends[3] = schedule->sends[2];
	schedule->sends[3].hops.first = 3;
	schedule->sends[2].until = schedule->sends[3].from = LIT + LONG + 310;
	schedule->sends[3].until = LIT + LONG + 620;
	schedule->finish = schedule->holds[1].dark = LIT + LONG + 620;
	return it;
}

/* The data that it waits for is in two parts, too. The last part comes first in the list. */
static struct hand last_first(void)
{
	struct hand it = small();
	struct hand_schedule *schedule = &it.schedule;

	schedule->sends_count = schedule->hops_count = 4;
	schedule->hops[2] = 0;
	schedule->hops[3] = 1;
	for (uint32_t at = 3; at; at--) {
		schedule->sends[at] = schedule->sends[at - 1];
		schedule->sends[at].hops.first++;
	}
	for (uint32_t at = 0; at < 2; at++) {
		schedule->sends[at].bytes = 200;
		schedule->sends[at].from = LIT + (at ? 0 : 310);
		schedule->sends[at].until = schedule->sends[at].from + 310;
		schedule->sends[2 + at].from = LIT + 620;
		schedule->sends[2 + at].until = LIT + 620 + LONG;
	}
	schedule->finish = schedule->holds[0].dark = schedule->holds[1].dark = LIT + 620 + LONG;
	return it;
}

static void received_bytes_stay(void **state)
{
	(void)state;
	REJECTS(small(), "rank 2 does not get all parts of chunk 0", it.schedule.sends[2].from--);
	TAKES(in_parts(small()), );
	REJECTS(in_parts(small()), "chunk 0 changes at rank 1 while the rank sends it",
		it.schedule.sends[2].from--);
	/* In any round: here the data arrives in the last round, and the send is in the first. */
	TAKES(small(),
	      (it.collective.transfers[0] = small().collective.transfers[2],
	       it.collective.transfers[1] = small().collective.transfers[0],
	       it.collective.transfers[2] = small().collective.transfers[1],
	       it.collective.runs[1].first = 0, it.collective.runs[2].first = 1,
	       it.collective.transfers[0].runs.first = 0, it.collective.transfers[1].runs.first = 1,
	       it.collective.transfers[2].runs.first = 2, it.collective.rounds[0].count = 1,
	       it.collective.rounds[1].first = 1, it.collective.rounds[1].count = 2,
	       it.schedule.sends[0].round = 1, it.schedule.sends[1].round = 1,
	       it.schedule.sends[2].round = 0));
	TAKES(last_first(), );
	REJECTS(last_first(), "rank 2 does not get all parts of chunk 0",
		it.schedule.sends[3].from--);
}

/* Sends that take no time are in the order of rounds. */
static void rounds_follow_rounds_at_once(void **state)
{
	struct hand base = small();
	struct hand_schedule *schedule = &base.schedule;

	(void)state;
	base.delay.round_ps = base.delay.hop_ps = 0;
	for (uint32_t at = 0; at < 2; at++)
		base.collective.chunks[at].bytes = 0;
	for (uint32_t at = 0; at < 3; at++) {
		schedule->sends[at].bytes = 0;
		schedule->sends[at].from = schedule->sends[at].until = LIT;
	}
	schedule->finish = schedule->bound = LIT;
	assert_legal(&base);
	/* All sends of a round read the data from before the round. */
	REJECTS(base, "rank 2 does not get all parts of chunk 0",
		(it.collective.rounds_count = 1, it.collective.rounds[0].count = 3,
		 it.schedule.sends[2].round = 0, it.schedule.sends[2].transfers.first = 2));
	/* A later send reads all of it. */
	TAKES(base, (it.schedule.sends[2].until++, it.schedule.finish++));
	REJECTS(base, "rank 2 does not get all parts of chunk 0",
		(it.schedule.sends[0].until++, it.schedule.sends[1].from++,
		 it.schedule.sends[1].until++, it.schedule.finish++));
}

static void chunks_end_where_they_end(void **state)
{
	(void)state;
	REJECTS(small(), "rank 2 does not get all parts of chunk 1",
		it.collective.chunks[1].ends = 2);
	REJECTS(small(), "rank 2 does not get all parts of chunk 1",
		it.collective.chunks[1].ends = EACH);
	REJECTS(small(), "rank 0 does not get all parts of chunk 0",
		it.collective.chunks[0].ends = EACH);
	REJECTS(small(), "rank 1 does not get all parts of chunk 0",
		it.collective.chunks[0].ends = 1);
}

/* Ranks whose parts are not in the first 64 bits of a set. */
static struct hand behind(void)
{
	struct hand it = small();

	it.collective.ranks = it.schedule.ranks = 70;
	for (uint32_t at = 0; at < 2; at++) {
		it.schedule.circuits[at].src += 66;
		it.schedule.circuits[at].dst += 66;
	}
	for (uint32_t at = 0; at < 3; at++) {
		it.collective.transfers[at].src += 66;
		it.collective.transfers[at].dst += 66;
	}
	it.collective.chunks[0].begins = 66;
	it.collective.chunks[0].ends = 68;
	it.collective.chunks[1].begins = 66;
	it.collective.chunks[1].ends = 67;
	return it;
}

static void of_many_ranks_it_is_so_too(void **state)
{
	(void)state;
	TAKES(behind(), );
	REJECTS(behind(), "rank 66 sends chunk 0, which it does not have",
		it.collective.chunks[0].begins = 2);
	REJECTS(behind(), "rank 67 sends chunk 0, which it does not have",
		it.schedule.sends[2].from--);
	REJECTS(behind(), "rank 69 does not get all parts of chunk 1",
		it.collective.chunks[1].ends = 69);
	REJECTS(behind(), "rank 67 adds a part of chunk 0 twice",
		(it.collective.transfers[1].reduce = 1, it.collective.runs[1].first = 0));
	REJECTS(behind(), "rank 68 loses a part of chunk 0",
		(it.collective.chunks[0].begins = EACH, it.collective.transfers[2].reduce = 0));
	/* Rank 67 has a part of its own, too. */
	REJECTS(in_parts(behind()), "chunk 0 changes at rank 67 while the rank sends it",
		(it.collective.chunks[0].begins = EACH, it.schedule.sends[2].from--));
}

/* ------------------------------------------------------------------- bounds */

static void bounds_are_recomputed(void **state)
{
	(void)state;
	REJECTS(small(), "bound 4 does not exist", it.schedule.bound_kind = 4);
	REJECTS(small(), "bound 0 does not exist", it.schedule.bound_kind = 0);
	REJECTS(small(), "the bound is 1560 ps, not 1561", it.schedule.bound++);
	REJECTS(small(), "the bound is 1560 ps, not 1559", it.schedule.bound--);
	REJECTS(small(), "the bound is 1670 ps, not 1560",
		it.schedule.bound_kind = MORPH_BOUND_CHAIN);
	TAKES(small(), (it.schedule.bound_kind = MORPH_BOUND_CHAIN, it.schedule.bound = 1670));
	REJECTS(small(), "the bound is 1160 ps, not 1560",
		it.schedule.bound_kind = MORPH_BOUND_CIRCUITS);
	TAKES(small(), (it.schedule.bound_kind = MORPH_BOUND_CIRCUITS, it.schedule.bound = 1160));
	REJECTS(following(), "the bound is 510 ps, not 1560", it.schedule.bound += LIT);
	/* The bytes that a rank receives count like those that it sends. */
	REJECTS(small(), "the bound is 1760 ps, not 1560",
		(it.collective.transfers[2].src = 2, it.collective.transfers[2].dst = 1,
		 it.collective.chunks[0].ends = 1, it.schedule.circuits[1].src = 2,
		 it.schedule.circuits[1].dst = 1));
}

static void bounds_count_sent_bytes(void **state)
{
	struct hand it = small();

	(void)state;
	/*
	 * Chunk 0 returns to rank 0, which sends chunk 1 to rank 2: no rank receives as much as it
	 * sends.
	 */
	it.collective.chunks[0].begins = it.collective.chunks[0].ends = 0;
	it.collective.chunks[1].ends = it.collective.transfers[1].dst = 2;
	it.collective.transfers[2].dst = it.collective.transfers[2].reduce = 0;
	it.schedule.matchings[1].count = 2;
	it.schedule.circuits_count = 3;
	it.schedule.circuits[2] = it.schedule.circuits[1];
	it.schedule.circuits[2].dst = it.schedule.circuits[1].src = 0;
	it.schedule.holds[1].lit += 50;
	it.schedule.hops[1] = 1;
	assert_legal(&it);
	/* Without bytes there is no bound and no change. */
	it = small();
	it.collective.chunks_count = it.collective.transfers_count = it.collective.runs_count = 0;
	it.collective.rounds_count = it.schedule.sends_count = it.schedule.hops_count = 0;
	it.schedule.finish = it.schedule.bound = 0;
	assert_legal(&it);
}

/*
 * Rank 0 sends to rank 1, which sends to rank 2, and to rank 2 itself, which sends on before it has
 * the data of both. So the schedule ends earlier than a chain over all rounds, which is no bound.
 */
static void nothing_ends_before_its_bound(void **state)
{
	struct hand base = small();
	const struct hand it = {
		.planes = 2,
		.delay = base.delay,
		.collective = {
			.form = base.collective.form,
			.ranks = 4,
			.chunks_count = 1, .chunks = { { 0, EACH, 2 } },
			.rounds_count = 4, .rounds = { { 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 1 } },
			.transfers_count = 4,
			.transfers = { { 0, 1, 0, { 0, 1 } }, { 1, 2, 0, { 1, 1 } },
				       { 0, 2, 0, { 2, 1 } }, { 2, 3, 0, { 3, 1 } } },
			.runs_count = 4, .runs = { { 0, 1 }, { 0, 1 }, { 0, 1 }, { 0, 1 } },
		},
		.schedule = {
			.form = base.schedule.form,
			.verdict = MORPH_FEASIBLE, .ranks = 4, .planes = 2,
			.finish = 1150 + 2 * 112,
			.bound_kind = MORPH_BOUND_PORTS, .bound = LIT + 112,
			.matchings_count = 2, .matchings = { { 0, 3 }, { 3, 1 } },
			.circuits_count = 4, .circuits = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 0, 2 } },
			.holds_count = 2,
			.holds = { { 0, 0, 0, 1150, 2000 }, { 1, 1, 0, LIT, 2000 } },
			.sends_count = 4,
			.sends = { { 0, { 0, 1 }, { 0, 1 }, 2, 1150, 1262 },
				   { 1, { 0, 1 }, { 1, 1 }, 2, 1262, 1374 },
				   { 2, { 0, 1 }, { 2, 1 }, 2, 1150, 1262 },
				   { 3, { 0, 1 }, { 3, 1 }, 2, 1262, 1374 } },
			.hops_count = 4, .hops = { 0, 0, 1, 0 },
		},
	};

	(void)state;
	assert_legal(&it);
	base = it;
	base.schedule.bound_kind = MORPH_BOUND_CHAIN;
	base.schedule.bound = LIT + 3 * 111;
	assert_report(&base, "the schedule ends after 1374 ps, before its bound");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_follow_circuits),
		cmocka_unit_test(sends_use_lit_circuits),
		cmocka_unit_test(unchanged_circuits_stay_lit),
		cmocka_unit_test(sends_match_their_transfers),
		cmocka_unit_test(sends_share_a_circuit_or_do_not_meet),
		cmocka_unit_test(sends_have_the_right_time),
		cmocka_unit_test(each_hop_takes_time),
		cmocka_unit_test(the_fullest_circuit_of_a_path_counts),
		cmocka_unit_test(nothing_is_sent_into_a_change),
		cmocka_unit_test(unchanged_circuits_do_not_disturb),
		cmocka_unit_test(ranks_send_only_their_bytes),
		cmocka_unit_test(parts_are_summed_once),
		cmocka_unit_test(received_bytes_stay),
		cmocka_unit_test(rounds_follow_rounds_at_once),
		cmocka_unit_test(chunks_end_where_they_end),
		cmocka_unit_test(of_many_ranks_it_is_so_too),
		cmocka_unit_test(bounds_are_recomputed),
		cmocka_unit_test(bounds_count_sent_bytes),
		cmocka_unit_test(nothing_ends_before_its_bound),
	};

	return cmocka_run_group_tests_name("schedule_rules", tests, begin, end);
}
