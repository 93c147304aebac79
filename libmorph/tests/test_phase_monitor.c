// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Circuits between collectives with arbitrary ranks. A monitor that knows only the calls and their
 * answers checks that no busy circuit goes dark and no rank waits for ever.
 */
#include "../internal/client.h"
#include "../bench/random.h"
#include "alone.h"

#define RANKS 8
#define GROUPS 12
#define PLANES 2
#define EVENTS 120
#define SEQUENCES 10000

/* The state that is visible from outside: calls, and the acts that follow. */
struct monitor {
	struct morph_phases *phases;
	uint64_t seed, now_ns;
	uint32_t planes, scope, groups;
	uint32_t members[GROUPS]; /* bits */
	uint32_t circuits[GROUPS];
	struct morph_phase_circuit circuit[GROUPS][RANKS * PLANES];
	uint32_t begun[GROUPS], running[GROUPS]; /* members, as bits */
	uint64_t counters[GROUPS][RANKS]; /* of what is begun */
	uint64_t next[GROUPS];
	uint32_t gone; /* ranks */
	bool changing[GROUPS];
	bool lit[PLANES][RANKS][RANKS];
	int setting[PLANES][RANKS][RANKS]; /* group and one; 0: it is not */
	bool controlled;
	uint32_t script[6],
		/* operations of an undisturbed iteration; 0 lines: none */
		line;
	uint32_t lines;
};

static bool busy(const struct monitor *monitor, const struct morph_phase_circuit *circuit)
{
	for (uint32_t group = 0; group < monitor->groups; group++)
		for (uint32_t at = 0; monitor->running[group] && at < monitor->circuits[group];
		     at++)
			if (!memcmp(&monitor->circuit[group][at], circuit, sizeof(*circuit)))
				return true;
	return false;
}

/* A change of a circuit darkens its whole scope: no circuit there may be busy. */
static void check_scope(const struct monitor *monitor, uint32_t plane)
{
	for (uint32_t group = 0; group < monitor->groups; group++)
		for (uint32_t at = 0; at < monitor->circuits[group]; at++)
			if (monitor->running[group] &&
			    (monitor->scope == MORPH_DELAY_FABRIC_SCOPE ||
			     monitor->circuit[group][at].plane == plane))
				fail_msg("a plane is changed on which group %u communicates",
					 group);
}

static void see_change(struct monitor *monitor, const struct morph_phase_act *act)
{
	struct morph_phase_circuit circuit;

	assert_true(monitor->controlled);
	assert_false(monitor->changing[act->group]);
	assert_true(act->comes > 0);
	for (uint32_t at = 0; at < act->goes; at++) {
		assert_int_equal(
			morph_phases_change(monitor->phases, act->group, true, at, &circuit), 0);
		assert_true(monitor->lit[circuit.plane][circuit.src][circuit.dst]);
		assert_false(busy(monitor, &circuit));
		monitor->lit[circuit.plane][circuit.src][circuit.dst] = false;
	}
	for (uint32_t at = 0; at < act->comes; at++) {
		assert_int_equal(
			morph_phases_change(monitor->phases, act->group, false, at, &circuit), 0);
		if (monitor->scope != MORPH_DELAY_PORT_SCOPE)
			check_scope(monitor, circuit.plane);
		/* Each port once. */
		for (uint32_t rank = 0; rank < RANKS; rank++) {
			assert_false(monitor->lit[circuit.plane][circuit.src][rank]);
			assert_false(monitor->lit[circuit.plane][rank][circuit.dst]);
			assert_false(monitor->setting[circuit.plane][circuit.src][rank]);
			assert_false(monitor->setting[circuit.plane][rank][circuit.dst]);
		}
		monitor->setting[circuit.plane][circuit.src][circuit.dst] = (int)act->group + 1;
	}
	monitor->changing[act->group] = true;
}

static bool plane_changes(const struct monitor *monitor, uint32_t plane)
{
	for (uint32_t src = 0; src < RANKS; src++)
		for (uint32_t dst = 0; dst < RANKS; dst++)
			if (monitor->setting[plane][src][dst])
				return true;
	return false;
}

static void see_go(struct monitor *monitor, const struct morph_phase_act *act)
{
	assert_int_equal(monitor->begun[act->group], monitor->members[act->group]);
	assert_int_equal(monitor->running[act->group], 0);
	assert_int_equal(monitor->members[act->group] & monitor->gone, 0);
	for (uint32_t rank = 0; rank < RANKS; rank++)
		if (monitor->members[act->group] & 1U << rank)
			assert_int_equal(monitor->counters[act->group][rank], act->counter);
	for (uint32_t at = 0; monitor->controlled && at < monitor->circuits[act->group]; at++) {
		const struct morph_phase_circuit *circuit = &monitor->circuit[act->group][at];

		assert_true(monitor->lit[circuit->plane][circuit->src][circuit->dst]);
		if (monitor->scope == MORPH_DELAY_PLANE_SCOPE)
			assert_false(plane_changes(monitor, circuit->plane));
		for (uint32_t plane = 0;
		     monitor->scope == MORPH_DELAY_FABRIC_SCOPE && plane < monitor->planes; plane++)
			assert_false(plane_changes(monitor, plane));
	}
	monitor->begun[act->group] = 0;
	monitor->running[act->group] = monitor->members[act->group];
}

static void see(struct monitor *monitor)
{
	struct morph_phase_act act;

	while (morph_phases_next(monitor->phases, &act)) {
		assert_true(act.group < monitor->groups);
		if (act.kind == MORPH_PHASE_CHANGE)
			see_change(monitor, &act);
		else
			see_go(monitor, &act);
	}
}

static void report_change(struct monitor *monitor, uint32_t group, bool lit)
{
	monitor->changing[group] = false;
	for (uint32_t plane = 0; plane < PLANES; plane++)
		for (uint32_t src = 0; src < RANKS; src++)
			for (uint32_t dst = 0; dst < RANKS; dst++)
				if (monitor->setting[plane][src][dst] == (int)group + 1) {
					monitor->setting[plane][src][dst] = 0;
					monitor->lit[plane][src][dst] = lit;
				}
	assert_int_equal(morph_phases_changed(monitor->phases, group, lit, monitor->now_ns), 0);
	see(monitor);
}

static void end_at(struct monitor *monitor, uint32_t group, uint32_t rank)
{
	monitor->begun[group] &= ~(1U << rank);
	monitor->running[group] &= ~(1U << rank);
	assert_int_equal(morph_phases_end(monitor->phases, rank, group, monitor->now_ns), 0);
	see(monitor);
}

static void begin_at(struct monitor *monitor, uint32_t group, uint32_t rank)
{
	int ret;

	/*
	 * A rank that ended before the others began is one operation ahead. Then the ranks'
	 * operations can differ.
	 */
	ret = morph_phases_begin(monitor->phases, rank, group, monitor->next[group],
				 monitor->now_ns);
	if (monitor->gone & (1U << rank | monitor->members[group])) {
		assert_int_equal(ret, -ENOTCONN);
		return;
	}
	if ((monitor->begun[group] | monitor->running[group]) & 1U << rank) {
		assert_int_equal(ret, -EBUSY);
		return;
	}
	if (ret == -EINVAL) {
		assert_non_null(strstr(morph_error_text(ctx), "does not follow"));
		monitor->next[group]++;
		return;
	}
	assert_int_equal(ret, 0);
	monitor->counters[group][rank] = monitor->next[group];
	monitor->begun[group] |= 1U << rank;
	see(monitor);
}

static void leave_at(struct monitor *monitor, uint32_t rank)
{
	for (uint32_t group = 0; group < monitor->groups; group++) {
		monitor->begun[group] &= ~(1U << rank);
		monitor->running[group] &= ~(1U << rank);
	}
	assert_int_equal(morph_phases_leave(monitor->phases, rank, monitor->now_ns),
			 monitor->gone & 1U << rank ? -ENOTCONN : 0);
	monitor->gone |= 1U << rank;
	see(monitor);
}

/* A ring over the members in any order, and sometimes single circuits on another plane. */
static void add_group(struct monitor *monitor)
{
	uint32_t order[RANKS], count = 0, number = monitor->groups;
	uint32_t plane = random_below(&monitor->seed, monitor->planes);

	monitor->members[number] = 0;
	while (count < 2 + random_below(&monitor->seed, 3)) {
		uint32_t rank = random_below(&monitor->seed, RANKS);

		if (monitor->members[number] & 1U << rank)
			continue;
		monitor->members[number] |= 1U << rank;
		order[count++] = rank;
	}
	assert_int_equal(morph_phases_add_group(monitor->phases, order, count), number);
	monitor->groups++;
	if (!random_below(&monitor->seed, 8))
		return; /* it needs no circuits */
	assert_int_equal(morph_phases_add_ring(monitor->phases, number, plane, order), 0);
	for (uint32_t at = 0; at < count; at++)
		monitor->circuit[number][monitor->circuits[number]++] =
			(struct morph_phase_circuit){ plane, order[at], order[(at + 1) % count] };
	if (monitor->planes == 1 || random_below(&monitor->seed, 2))
		return;
	assert_int_equal(morph_phases_add_circuit(monitor->phases, number, 1 - plane, order[0],
						  order[1]),
			 0);
	monitor->circuit[number][monitor->circuits[number]++] =
		(struct morph_phase_circuit){ 1 - plane, order[0], order[1] };
}

static uint32_t some_member(struct monitor *monitor, uint32_t group)
{
	uint32_t rank;

	do
		rank = random_below(&monitor->seed, RANKS);
	while (!(monitor->members[group] & 1U << rank));
	return rank;
}

/* All members of a group that can begin its next operation do so. */
static void begin_everywhere(struct monitor *monitor, uint32_t group)
{
	monitor->next[group]++;
	for (uint32_t rank = 0; rank < RANKS; rank++)
		if (monitor->members[group] & 1U << rank)
			begin_at(monitor, group, rank);
}

/* A random group in one of the given states, if there is one. */
static uint32_t some_group(struct monitor *monitor, bool runs, bool changes)
{
	uint32_t first = random_below(&monitor->seed, monitor->groups);

	for (uint32_t more = 0; more < monitor->groups; more++) {
		uint32_t group = (first + more) % monitor->groups;

		if ((!runs || monitor->running[group]) && (!changes || monitor->changing[group]))
			return group;
	}
	return first;
}

static void end_everywhere(struct monitor *monitor, uint32_t group)
{
	for (uint32_t rank = 0; rank < RANKS; rank++)
		if (monitor->running[group] & 1U << rank)
			end_at(monitor, group, rank);
}

/* End operations in progress, and light circuits that are being set, until nothing remains. */
static void finish(struct monitor *monitor)
{
	bool moved = true;

	while (moved) {
		moved = false;
		for (uint32_t group = 0; group < monitor->groups; group++) {
			moved |= monitor->changing[group] || monitor->running[group];
			if (monitor->changing[group])
				report_change(monitor, group, true);
			end_everywhere(monitor, group);
		}
	}
}

/* Usually take the next line of the script. Iterations follow one another. */
static void go_on(struct monitor *monitor, uint32_t group)
{
	if (monitor->lines && random_below(&monitor->seed, 16)) {
		for (uint32_t rank = 0; !monitor->line && rank < RANKS; rank++)
			assert_int_equal(morph_phases_iterate(monitor->phases, rank), 0);
		if (random_below(&monitor->seed, 4))
			finish(monitor);
		group = monitor->script[monitor->line];
		monitor->line = (monitor->line + 1) % monitor->lines;
	}
	begin_everywhere(monitor, group);
}

static void happen(struct monitor *monitor)
{
	uint32_t what = random_below(&monitor->seed, 40);
	uint32_t group = some_group(monitor, what >= 14 && what < 26, what >= 26 && what < 32);
	uint32_t rank = some_member(monitor, group);
	int gone = monitor->gone & (1U << rank | monitor->members[group]) ? -ENOTCONN : 0;

	monitor->now_ns += random_below(&monitor->seed, 3);
	if (what < 12) {
		go_on(monitor, group);
	} else if (what < 14) {
		begin_at(monitor, group, rank);
	} else if (what < 24) {
		end_everywhere(monitor, group);
	} else if (what < 26) {
		if ((monitor->running[group] | (what < 25 ? monitor->begun[group] : 0)) &
		    1U << rank)
			end_at(monitor, group, rank);
	} else if (what < 32) {
		if (monitor->changing[group])
			report_change(monitor, group, random_below(&monitor->seed, 8));
	} else if (what < 34) {
		assert_int_equal(
			morph_phases_announce(monitor->phases, rank, group, monitor->now_ns), gone);
		see(monitor);
	} else if (what < 35) {
		assert_int_equal(morph_phases_provision(monitor->phases, group, monitor->now_ns),
				 monitor->gone & monitor->members[group] ? -ENOTCONN : 0);
		see(monitor);
	} else if (what < 39) {
		if (!monitor->lines)
			assert_int_equal(morph_phases_iterate(monitor->phases, rank), 0);
	} else if (!random_below(&monitor->seed, 8)) {
		leave_at(monitor, rank);
	} else if (monitor->groups < GROUPS) {
		add_group(monitor);
	}
}

/*
 * No operation begins any more. Operations that began at all members have run, unless members mean
 * different operations.
 */
static void run_dry(struct monitor *monitor)
{
	finish(monitor);
	for (uint32_t group = 0; group < monitor->groups; group++) {
		uint32_t first = UINT32_MAX;
		bool alike = true;

		if (monitor->begun[group] != monitor->members[group])
			continue;
		for (uint32_t rank = 0; rank < RANKS; rank++) {
			if (!(monitor->members[group] & 1U << rank))
				continue;
			first = first == UINT32_MAX ? rank : first;
			alike &= monitor->counters[group][rank] == monitor->counters[group][first];
		}
		assert_false(alike);
	}
}

static void whatever_happens_no_busy_circuit_goes_dark_and_all_go_on(void **state)
{
	struct morph_phase_counts all = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < SEQUENCES; seed++) {
		struct monitor monitor = { .seed = seed, .planes = 1 + seed % PLANES };
		MORPH_OPTS(morph_phases_opts, opts, .planes = monitor.planes,
			   .mode = seed % 7 == 0 ? MORPH_PHASE_UNCONTROLLED :
						   (uint32_t)(seed / 2 % 2),
			   .scope = (uint32_t)(seed / 4 % 3), .stages = 1 + (uint32_t)(seed % 9));
		struct morph_phase_counts counts;

		monitor.controlled = opts.mode != MORPH_PHASE_UNCONTROLLED;
		monitor.scope = opts.scope;
		monitor.phases = morph_phases_new(ctx, RANKS, &opts);
		assert_non_null(monitor.phases);
		for (uint32_t at = 0; at < 3; at++)
			add_group(&monitor);
		monitor.lines = seed / 8 % 2 ? 2 + random_below(&monitor.seed, 5) : 0;
		for (uint32_t at = 0; at < monitor.lines; at++)
			monitor.script[at] = random_below(&monitor.seed, monitor.groups);
		for (uint32_t at = 0; at < EVENTS; at++)
			happen(&monitor);
		run_dry(&monitor);
		morph_phases_counts(monitor.phases, &counts);
		all.operations += counts.operations;
		all.foreseen += counts.foreseen;
		all.waits += counts.waits;
		all.failed += counts.failed;
		all.learned += counts.learned;
		all.dark += counts.dark;
		morph_phases_free(monitor.phases);
	}
	/* The test did not run in vain. */
	assert_true(all.operations > 10ULL * SEQUENCES);
	assert_true(all.foreseen > SEQUENCES / 10);
	assert_true(all.waits > SEQUENCES);
	assert_true(all.failed > SEQUENCES / 10);
	assert_true(all.dark > SEQUENCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			whatever_happens_no_busy_circuit_goes_dark_and_all_go_on, begin, end),
	};

	return cmocka_run_group_tests_name("phase monitor", tests, NULL, NULL);
}
