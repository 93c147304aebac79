// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules of the schedule checker, each with a schedule that is valid except for one property of its
 * holds.
 */
#include "by_hand_small.h"

/* ------------------------------------------------------------------- before */

static void valid_schedules_are_accepted(void **state)
{
	(void)state;
	TAKES(small(), );
	TAKES(following(), );
	TAKES(taken_over(), );
	TAKES(set_later(small(), 0, LIT + 2 * LONG, 2, 1), );
}

static void schedule_matches_the_request(void **state)
{
	(void)state;
	REJECTS(small(), "it has 3 ranks and 2 planes, not 3 and 3", it.planes = 3);
	REJECTS(small(), "it has 4 ranks and 2 planes, not 3 and 2", it.schedule.ranks = 4);
	REJECTS(small(), "verdict 2 is not valid for a schedule",
		it.schedule.verdict = MORPH_INFEASIBLE);
}

/* -------------------------------------------------------------------- light */

static void initial_circuits_are_not_set(void **state)
{
	(void)state;
	REJECTS(following(), "hold 0 is lit from the start, but has a time to set it",
		it.schedule.holds[0].lit = 1);
	REJECTS(following(), "hold 0 is lit from the start, but has a time to set it",
		(it.schedule.holds[0].set = it.schedule.holds[0].lit = 1,
		 it.schedule.holds[1].set = 1));
}

static void initial_circuits_are_those_left_before(void **state)
{
	static const char *const nothing =
		"the preceding schedule leaves no circuit from rank 0 to rank 1 on plane 0";

	(void)state;
	REJECTS(following(), nothing, it.follows = false);
	REJECTS(following(), nothing, it.after.holds[0].dark--);
	REJECTS(following(), nothing,
		it.after.holds[0].lit = it.after.holds[0].dark = it.after.finish + 1);
	REJECTS(following(), nothing, it.after.holds[0].plane = 1);
	REJECTS(following(), nothing, it.after.circuits[0].dst = 2);
	REJECTS(following(), nothing, it.after.circuits[0].src = 2);
	TAKES(following(), it.after.holds[0].lit = it.after.finish);
	TAKES(following(), it.after.holds[0].dark++);
}

static void a_port_is_of_one_hold_at_a_time(void **state)
{
	const uint64_t finish = LIT + 2 * LONG;

	(void)state;
	REJECTS(set_later(small(), 0, finish, 0, 2),
		"hold 2 takes a port of rank 0 on plane 0 from hold 0",
		it.schedule.holds[0].dark++);
	REJECTS(set_later(small(), 0, finish, 2, 1),
		"hold 2 takes a port of rank 1 on plane 0 from hold 0",
		it.schedule.holds[0].dark++);
	REJECTS(set_later(following(), 0, 2 * LONG, 0, 2),
		"hold 2 takes a port of rank 0 on plane 0 from hold 0",
		it.schedule.holds[0].dark++);
	REJECTS(set_later(following(), 0, 2 * LONG, 2, 1),
		"hold 2 takes a port of rank 1 on plane 0 from hold 0",
		it.schedule.holds[0].dark++);
	/* The same for circuits lit at the start. */
	REJECTS(following(), "hold 1 takes a port of rank 0 on plane 0 from hold 0",
		(it.schedule.residents = 2, it.schedule.holds[1] = it.schedule.holds[0],
		 it.schedule.matchings_count = 1, it.schedule.circuits_count = 1));
	/* Ports of other ranks and other planes are free. */
	TAKES(set_later(small(), 0, LIT, 2, 0), );
	TAKES(set_later(small(), 1, LIT, 0, 1), );
}

static void changes_are_paid_for(void **state)
{
	(void)state;
	REJECTS(small(), "hold 1 sets 1 circuits in 1049 ps", it.schedule.holds[1].lit--);
	REJECTS(small(), "hold 1 sets 1 circuits in 1049 ps",
		(it.schedule.holds[1].lit--, it.delay.scope = MORPH_DELAY_PLANE_SCOPE));
	/* Each plane counts alone; the fabric counts all its planes. */
	TAKES(small(), it.delay.scope = MORPH_DELAY_PLANE_SCOPE);
	REJECTS(small(), "hold 0 sets 1 circuits in 1050 ps",
		it.delay.scope = MORPH_DELAY_FABRIC_SCOPE);
	REJECTS(small(), "hold 0 sets 1 circuits in 1050 ps",
		(it.delay.scope = MORPH_DELAY_PLANE_SCOPE, it.schedule.holds[1].plane = 0));
}

static void unchanged_circuits_are_not_set(void **state)
{
	(void)state;
	TAKES(taken_over(), it.delay.scope = MORPH_DELAY_PLANE_SCOPE);
	/* The circuit was dark before. */
	REJECTS(taken_over(), "hold 2 sets 1 circuits in 0 ps", it.schedule.holds[0].dark--);
	/* The circuit had another destination before. */
	REJECTS(set_later(small(), 0, LIT + 2 * LONG, 0, 2), "hold 2 sets 1 circuits in 0 ps",
		it.schedule.holds[2].lit = it.schedule.holds[2].set);
	/* Both ports had other circuits before, in one hold. */
	REJECTS(set_later(small(), 0, LIT + 2 * LONG, 2, 1), "hold 2 sets 1 circuits in 0 ps",
		(it.schedule.holds[2].lit = it.schedule.holds[2].set,
		 it.schedule.matchings[0].count = 2, it.schedule.matchings[1].first = 2,
		 it.schedule.matchings[2].first = 3, it.schedule.circuits_count = 4,
		 it.schedule.circuits[3] = it.schedule.circuits[2],
		 it.schedule.circuits[2] = it.schedule.circuits[1], it.schedule.circuits[1].src = 2,
		 it.schedule.circuits[1].dst = 0, it.schedule.holds[0].lit += 50,
		 it.schedule.sends[0].from += 50, it.schedule.sends[0].until += 50,
		 it.schedule.sends[1].from += 50, it.schedule.sends[1].until += 50));
}

/* Another hold had the receiving port, even for a moment only. */
static void circuits_replaced_by_another_do_not_stay(void **state)
{
	struct hand base = following();
	struct hand_schedule *schedule = &base.schedule;

	(void)state;
	/* At the start, 0 to 1 is lit and ends at once; then 2 to 1, which ends at once, too. */
	schedule->residents = 2;
	schedule->holds_count = 4;
	schedule->holds[3] = schedule->holds[1];
	schedule->holds[2] = (struct hand_hold){ 0, 0, 0, LIT, LIT + 2 * LONG };
	schedule->holds[0].dark = 0;
	schedule->holds[1] = (struct hand_hold){ 0, 2, 0, 0, 0 };
	schedule->matchings_count = schedule->circuits_count = 3;
	schedule->matchings[2] = (struct hand_part){ 2, 1 };
	schedule->circuits[2].src = 2;
	schedule->circuits[2].dst = 1;
	base.after = set_later(small(), 0, 0, 2, 1).schedule;
	base.after.holds[2].dark = base.after.finish;
	for (uint32_t at = 0; at < 3; at++)
		schedule->sends[at] = small().schedule.sends[at];
	schedule->hops[0] = schedule->hops[1] = 2;
	schedule->hops[2] = 3;
	schedule->finish = LIT + 2 * LONG;
	assert_legal(&base);
	REJECTS(base, "hold 2 sets 1 circuits in 0 ps", it.schedule.holds[2].lit = 0);
}

static void one_change_waits_for_another(void **state)
{
	(void)state;
	/* On a single plane. */
	TAKES(set_later(small(), 0, LIT + 2 * LONG, 2, 0),
	      it.delay.scope = MORPH_DELAY_PLANE_SCOPE);
	REJECTS(set_later(small(), 0, LIT - 1, 2, 0), "hold 2 is set during another change",
		it.delay.scope = MORPH_DELAY_PLANE_SCOPE);
	REJECTS(set_later(small(), 2, LIT - 1, 2, 0), "hold 2 is set during another change",
		(it.schedule.planes = it.planes = 3, it.delay.scope = MORPH_DELAY_FABRIC_SCOPE,
		 it.schedule.holds[0].lit += 50, it.schedule.holds[1].lit += 50));
	/* This hold is the last to be lit, on any plane. */
	REJECTS(set_later(small(), 0, LIT + 149, 2, 0), "hold 2 is set during another change",
		(it.delay.scope = MORPH_DELAY_FABRIC_SCOPE, it.schedule.holds[0].lit += 50,
		 it.schedule.holds[1].lit += 150));
	TAKES(set_later(small(), 0, LIT - 1, 2, 0), it.schedule.holds[2].dark++);
	REJECTS(set_later(small(), 0, 0, 2, 0),
		"hold 2: plane 0 programs other circuits at that time", );
	TAKES(set_later(small(), 0, 0, 2, 0),
	      (it.schedule.holds[2].lit += 50, it.schedule.holds[2].dark += 50));
}

/*
 * On a third plane, which carries nothing, ranks 0 and 1 always have a circuit, first in one hold
 * and then in another.
 */
static void steps_without_changes_do_not_wait(void **state)
{
	struct hand base = small();

	(void)state;
	base.delay.scope = MORPH_DELAY_PLANE_SCOPE;
	base.planes = base.schedule.planes = 3;
	base.schedule.bound = LIT + 267 + 110; /* a third of 800 bytes */
	base = with_hold(base, (struct hand_hold){ 2, 0, 0, LIT, 2 * LIT - 10 }, 0, 1);
	base = set_later(base, 2, LIT, 2, 0);
	/* While a circuit of rank 2 is set. The hold states a later time of being lit. */
	base = with_hold(base, (struct hand_hold){ 2, 0, 2 * LIT - 10, 2 * LIT + 20, 3 * LIT }, 0,
			 1);
	base = set_later(base, 2, 2 * LIT, 1, 2);
	assert_legal(&base);
	REJECTS(base, "hold 4 sets 1 circuits in 30 ps", it.schedule.holds[2].dark--);
	REJECTS(base, "hold 4 is set during another change",
		(it.schedule.holds[2].dark--, it.schedule.holds[4].lit = 3 * LIT));
	REJECTS(base, "hold 5 is set during another change", it.schedule.holds[5].set--);
}

/* Ports are programmed in the order of their due times, in whatever order the settings began. */
static void ports_are_programmed_in_turn(void **state)
{
	struct hand base = small();

	(void)state;
	base.schedule.holds[1].lit = 1100; /* due after 100, and 50 of that is work */
	base = with_hold(base, (struct hand_hold){ 1, 0, 20, 1070, 1070 }, 2, 0);
	base = with_hold(base, (struct hand_hold){ 1, 0, 30, 1150, 1150 }, 0, 1);
	assert_legal(&base);
	REJECTS(base, "hold 3: plane 1 programs other circuits at that time",
		it.schedule.holds[3].lit--);
	REJECTS(base, "hold 1: plane 1 programs other circuits at that time",
		it.schedule.holds[1].lit--);
	/* No port is programmed before its request. */
	REJECTS(set_later(set_later(small(), 0, LIT, 2, 0), 0, LIT, 1, 2),
		"hold 3: plane 0 programs other circuits at that time", );
}

static void many_ports_are_programmed_in_turn(void **state)
{
	struct hand base = small();

	(void)state;
	base.collective.ranks = base.schedule.ranks = 6;
	base.collective.chunks[0].begins = 0;
	base = with_hold(base, (struct hand_hold){ 1, 0, 10, 1150, 1150 }, 3, 4);
	base = with_hold(base, (struct hand_hold){ 1, 0, 20, 1100, 1100 }, 4, 3);
	base = with_hold(base, (struct hand_hold){ 1, 0, 30, 1200, 1200 }, 0, 5);
	assert_legal(&base);
	REJECTS(base, "hold 4: plane 1 programs other circuits at that time",
		it.schedule.holds[4].lit--);
	/* Two circuits take twice as long. */
	REJECTS(base, "hold 4: plane 1 programs other circuits at that time",
		(it.schedule.matchings[4].count = 2, it.schedule.circuits_count = 6,
		 it.schedule.circuits[5].src = 5, it.schedule.circuits[5].dst = 0));
}

static void there_is_no_matching_of_no_hold(void **state)
{
	(void)state;
	REJECTS(set_later(small(), 0, LIT + 2 * LONG, 0, 1), "no hold has matching 2",
		it.schedule.holds_count--);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_schedules_are_accepted),
		cmocka_unit_test(schedule_matches_the_request),
		cmocka_unit_test(initial_circuits_are_not_set),
		cmocka_unit_test(initial_circuits_are_those_left_before),
		cmocka_unit_test(a_port_is_of_one_hold_at_a_time),
		cmocka_unit_test(changes_are_paid_for),
		cmocka_unit_test(unchanged_circuits_are_not_set),
		cmocka_unit_test(circuits_replaced_by_another_do_not_stay),
		cmocka_unit_test(one_change_waits_for_another),
		cmocka_unit_test(steps_without_changes_do_not_wait),
		cmocka_unit_test(ports_are_programmed_in_turn),
		cmocka_unit_test(many_ports_are_programmed_in_turn),
		cmocka_unit_test(there_is_no_matching_of_no_hold),
	};

	return cmocka_run_group_tests_name("schedule_rules_light", tests, begin, end);
}
