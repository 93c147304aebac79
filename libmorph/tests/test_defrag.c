// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Room made by rewiring, on a real rack, whose profile the command line gives. Corners of it with
 * few fibres are small enough for this test to try every place of a request and every way of every
 * circuit; whatever is answered goes through the checker, which carries out each step by itself.
 */
#include <stdio.h>

#include <morph/check.h>

#include "../plan/defrag.h"
#include "placing.h"

#define SLICES 8
#define CORNER 6 /* servers of a corner */
#define CHIPS 3 /* of each of them that can be had */
#define DEMANDS 64

/* Slices that run, and what is asked of them. */
struct corner {
	struct bench *bench;
	struct morph_defrag *defrag;
	uint32_t count;
	struct morph_plan *plans[SLICES];
	uint32_t hosts_count, hosts[CORNER];
};

static const uint32_t server_x = 1, server_y = 2, server_z = 4; /* to the next server, by axis */

/* Servers 4z + 2y + x of a block. */
static void choose_hosts(struct corner *corner, uint32_t count)
{
	const uint32_t block[CORNER] = { 0,	   server_x,
					 server_y, server_x + server_y,
					 server_z, server_x + server_z };

	corner->hosts_count = count;
	memcpy(corner->hosts, block, sizeof(block));
}

static bool in_corner(const struct corner *corner, uint32_t host)
{
	for (uint32_t at = 0; at < corner->hosts_count; at++)
		if (corner->hosts[at] == host)
			return true;
	return false;
}

/* Leave so many accelerators of each server of the corner, and up to so many fibres of each link. */
static void fence(struct corner *corner, uint64_t *seed, uint32_t chips, uint32_t fibres)
{
	struct morph_ledger *ledger = corner->bench->ledger;
	const struct sites *sites = &ledger->sites;
	uint32_t left = 0;

	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++) {
		bool keep = in_corner(corner, ledger->graph->accelerators[at].host) &&
			    at % 4 < chips;

		morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, at, !keep);
	}
	for (uint32_t at = 0; at < sites->strands_count; at++) {
		const struct strand *strand = &sites->strands[at];
		bool keep = in_corner(corner, strand->from) && in_corner(corner, strand->to);

		if (!at || sites->strands[at - 1].from != strand->from ||
		    sites->strands[at - 1].to != strand->to)
			left = 1 + random_below(seed, fibres);
		keep = keep && left;
		left -= keep;
		morph_ledger_load(ledger, strand->guides[0] >> 1, !keep);
	}
}

/* A way by chance over what is free, seldom a short one; it is held. */
static bool wander(struct corner *corner, struct morph_plan *plan, uint32_t host, uint32_t goal,
		   uint64_t seen, uint64_t *seed)
{
	struct morph_ledger *ledger = corner->bench->ledger;
	const struct sites *sites = &ledger->sites;
	uint32_t first = sites->strands_first[host], count = sites->strands_first[host + 1] - first;
	uint32_t begin = random_below(seed, count ? count : 1);

	if (host == goal)
		return true;
	for (uint32_t at = 0; at < count; at++) {
		const struct strand *strand = &sites->strands[first + (begin + at) % count];

		if (seen >> strand->to & 1 || !lm_strand_free(ledger, strand))
			continue;
		assert_int_equal(lm_plan_add_strand(plan, strand), 0);
		lm_strand_hold(ledger, strand, true);
		if (wander(corner, plan, strand->to, goal, seen | 1ULL << strand->to, seed))
			return true;
		lm_strand_hold(ledger, strand, false);
		plan->strands_count--;
	}
	return false;
}

/* The circuits of a plan go other ways, as after a long time of coming and going. */
static void scatter(struct corner *corner, struct morph_plan *plan, uint64_t *seed)
{
	struct morph_ledger *ledger = corner->bench->ledger;
	bool found = true;

	assert_true(plan->circuits_count < DEMANDS && ledger->sites.racks_count == 1);
	plan->strands_count = 0;
	for (uint32_t at = 0; at < plan->circuits_count && found; at++) {
		uint32_t src = plan->accelerators[plan->circuits[at].src];
		uint32_t dst = plan->accelerators[plan->circuits[at].dst];
		uint32_t host = ledger->graph->accelerators[src].host;

		plan->ways[at].first = plan->strands_count;
		found = wander(corner, plan, host, ledger->graph->accelerators[dst].host,
			       1ULL << host, seed);
		plan->ways[at].count = plan->strands_count - plan->ways[at].first;
	}
	for (uint32_t at = 0; at < plan->strands_count; at++)
		lm_strand_hold(ledger, &plan->strands[at], false);
	if (!found)
		assert_int_equal(morph_place(ledger, corner->bench->request, plan), 0);
}

/* Any small slice. */
static void ask_little(struct morph_request *request, uint64_t *seed)
{
	uint32_t ranks = 2 + random_below(seed, 3);

	morph_request_set_simplex(request, random_below(seed, 2));
	if (random_below(seed, 3)) {
		assert_int_equal(morph_request_set_ring(request, ranks), 0);
		return;
	}
	assert_int_equal(morph_request_set_count(request, ranks), 0);
	for (uint32_t at = 0; at < ranks; at++) {
		uint32_t src = random_below(seed, ranks), dst = random_below(seed, ranks);

		if (src != dst)
			assert_int_equal(morph_request_add_circuit(request, src, dst), 0);
	}
}

static void run_slices(struct corner *corner, uint64_t *seed, uint32_t count)
{
	struct bench *bench = corner->bench;

	for (uint32_t tries = 0; tries < 2 * count && corner->count < count; tries++) {
		struct morph_plan *plan = corner->plans[corner->count];

		ask_little(bench->request, seed);
		assert_int_equal(
			morph_request_set_transit(bench->request, random_below(seed, 6) == 0), 0);
		assert_int_equal(morph_place(bench->ledger, bench->request, plan), 0);
		if (morph_plan_verdict(plan) != MORPH_FEASIBLE)
			continue;
		if (plan->transit == MORPH_TRANSIT_ANY)
			scatter(corner, plan, seed);
		corner->count++;
		assert_int_equal(morph_ledger_take(bench->ledger, plan, corner->count), 0);
		assert_int_equal(morph_defrag_add(corner->defrag, plan, corner->count,
						  random_below(seed, 8) ? 0 : MORPH_DEFRAG_PINNED),
				 0);
	}
	assert_int_equal(morph_request_set_transit(bench->request, MORPH_TRANSIT_ANY), 0);
}

static void corner_begin(struct corner *corner, struct bench *bench)
{
	memset(corner, 0, sizeof(*corner));
	corner->bench = bench;
	corner->defrag = morph_defrag_new(bench->ctx);
	assert_non_null(corner->defrag);
	for (uint32_t at = 0; at < SLICES; at++) {
		corner->plans[at] = morph_plan_new(bench->ctx);
		assert_non_null(corner->plans[at]);
	}
}

/* All slices end, and those that ran are forgotten. */
static void corner_clear(struct corner *corner)
{
	struct morph_ledger *ledger = corner->bench->ledger;

	morph_defrag_clear(corner->defrag);
	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++)
		morph_ledger_hold(ledger, at, 0);
	for (uint32_t at = 0; at < ledger->sites.strands_count; at++)
		lm_strand_hold(ledger, &ledger->sites.strands[at], false);
	corner->count = 0;
}

static void corner_end(struct corner *corner)
{
	for (uint32_t at = 0; at < SLICES; at++)
		morph_plan_free(corner->plans[at]);
	morph_defrag_free(corner->defrag);
}

/* --------------------------------------------------------------------- checking */

struct answer {
	struct morph_check_defrag_input input;
	void *blobs[4];
};

static struct morph_check_bytes blob(void **to, ssize_t bytes)
{
	assert_true(bytes > 0);
	*to = malloc((size_t)bytes);
	assert_non_null(*to);
	return (struct morph_check_bytes){ *to, (size_t)bytes };
}

static void write_answer(const struct corner *corner, struct answer *answer)
{
	const struct bench *bench = corner->bench;
	const struct morph_defrag *defrag = corner->defrag;
	struct morph_check_defrag_input *input = &answer->input;

	*input = (struct morph_check_defrag_input){ .profile = { rack_profile, rack_bytes } };
	input->ledger = blob(&answer->blobs[0], morph_ledger_write(bench->ledger, NULL, 0));
	input->request = blob(&answer->blobs[1],
			      morph_request_write(bench->request, bench->ledger, NULL, 0));
	input->running = blob(&answer->blobs[2], morph_defrag_write_running(defrag, NULL, 0));
	input->answer = blob(&answer->blobs[3], morph_defrag_write(defrag, NULL, 0));
	morph_ledger_write(bench->ledger, answer->blobs[0], input->ledger.bytes);
	morph_request_write(bench->request, bench->ledger, answer->blobs[1], input->request.bytes);
	morph_defrag_write_running(defrag, answer->blobs[2], input->running.bytes);
	morph_defrag_write(defrag, answer->blobs[3], input->answer.bytes);
}

static void free_answer(struct answer *answer)
{
	for (uint32_t at = 0; at < ARRAY_SIZE(answer->blobs); at++)
		free(answer->blobs[at]);
}

/* Solve; the answer has to be what it says. */
static struct morph_defrag_result solve(struct corner *corner, uint32_t objective)
{
	MORPH_OPTS(morph_defrag_opts, opts, .objective = objective);
	MORPH_OPTS(morph_defrag_result, result);
	struct answer answer;
	char report[256];

	if (morph_defrag_solve(corner->defrag, corner->bench->ledger, corner->bench->request, &opts,
			       &result))
		fail_msg("%s", morph_error_text(corner->bench->ctx));
	write_answer(corner, &answer);
	if (morph_check_defrag(&answer.input, report, sizeof(report)))
		fail_msg("%s", report);
	free_answer(&answer);
	return result;
}

/* ------------------------------------------------------------------ brute force */

struct demand_of {
	uint32_t from, to; /* seats */
	uint64_t through;
	bool runs;
	uint32_t was_hops;
	uint8_t was[NET_SITES];
};

struct brute {
	const struct corner *corner;
	uint32_t sites, running, count;
	uint8_t room[NET_SITES][NET_SITES];
	struct demand_of demands[DEMANDS];
	uint8_t way[DEMANDS][NET_SITES];
	uint32_t free[NET_SITES], seats[16];
	uint32_t least; /* moved so far; UINT32_MAX: no ways found */
};

static void brute_next(struct brute *brute, uint32_t at, uint32_t moved);

static void brute_walk(struct brute *brute, uint32_t at, uint32_t hop, uint64_t seen,
		       uint32_t moved)
{
	const struct demand_of *demand = &brute->demands[at];
	uint32_t site = brute->way[at][hop];

	if (site == demand->to) {
		bool stays = demand->runs && hop == demand->was_hops &&
			     !memcmp(brute->way[at], demand->was, hop + 1);

		brute_next(brute, at + 1, moved + (demand->runs && !stays));
		return;
	}
	for (uint32_t next = 0; next < brute->sites; next++) {
		if (seen >> next & 1 || !brute->room[site][next] || !(demand->through >> next & 1))
			continue;
		brute->room[site][next]--;
		brute->way[at][hop + 1] = (uint8_t)next;
		brute_walk(brute, at, hop + 1, seen | 1ULL << next, moved);
		brute->room[site][next]++;
	}
}

static void brute_next(struct brute *brute, uint32_t at, uint32_t moved)
{
	if (moved >= brute->least)
		return;
	if (at == brute->count) {
		brute->least = moved;
		return;
	}
	brute->way[at][0] = (uint8_t)brute->demands[at].from;
	brute_walk(brute, at, 0, 1ULL << brute->demands[at].from, moved);
}

/* Every place of every rank. */
static void brute_place(struct brute *brute, uint32_t rank)
{
	const struct morph_request *request = brute->corner->bench->request;

	if (rank == request->ranks) {
		brute->count = brute->running;
		for (uint32_t at = 0; at < request->circuits_count; at++) {
			uint32_t from = brute->seats[request->circuits[at].src];
			uint32_t to = brute->seats[request->circuits[at].dst];

			if (from != to)
				brute->demands[brute->count++] = (struct demand_of){
					.from = from, .to = to, .through = ~0ULL
				};
		}
		brute_next(brute, 0, 0);
		return;
	}
	for (uint32_t seat = 0; seat < brute->sites; seat++) {
		if (!brute->free[seat])
			continue;
		brute->free[seat]--;
		brute->seats[rank] = seat;
		brute_place(brute, rank + 1);
		brute->free[seat]++;
	}
}

static uint64_t brute_through(const struct morph_ledger *ledger, const struct morph_plan *plan,
			      uint32_t slice)
{
	uint64_t through = ~0ULL;

	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++)
		if (plan->transit == MORPH_TRANSIT_OWN && ledger->owner[at] &&
		    ledger->owner[at] != slice)
			through &=
				~(1ULL
				  << ledger->sites.host_seat[ledger->graph->accelerators[at].host]);
	return through;
}

/* What runs and may move: its room is free, and it is to be led. */
static void brute_running(struct brute *brute, const struct running *running)
{
	const struct morph_ledger *ledger = brute->corner->bench->ledger;
	const struct morph_plan *plan = running->plan;

	for (uint32_t at = 0; !running->pinned && at < plan->circuits_count; at++) {
		const struct circuit_way *way = &plan->ways[at];
		struct demand_of *demand = &brute->demands[brute->running];

		if (!way->count)
			continue;
		*demand = (struct demand_of){ .runs = true };
		demand->through = brute_through(ledger, plan, running->slice);
		demand->from = ledger->sites.host_seat[plan->strands[way->first].from];
		demand->was[0] = (uint8_t)demand->from;
		for (uint32_t hop = 0; hop < way->count; hop++) {
			uint32_t to = ledger->sites.host_seat[plan->strands[way->first + hop].to];

			brute->room[demand->was[hop]][to]++;
			demand->was[hop + 1] = (uint8_t)to;
			demand->through |= 1ULL << to;
		}
		demand->was_hops = way->count;
		demand->to = demand->was[way->count];
		assert_true(++brute->running < DEMANDS / 2);
	}
}

static void brute_begin(struct brute *brute, const struct corner *corner)
{
	const struct morph_ledger *ledger = corner->bench->ledger;

	brute->corner = corner;
	brute->sites = ledger->sites.racks[0].hosts_count;
	brute->least = UINT32_MAX;
	for (uint32_t at = 0; at < ledger->sites.strands_count; at++) {
		const struct strand *strand = &ledger->sites.strands[at];

		if (lm_strand_free(ledger, strand))
			brute->room[ledger->sites.host_seat[strand->from]]
				   [ledger->sites.host_seat[strand->to]]++;
	}
	for (uint32_t at = 0; at < corner->defrag->slices.count; at++)
		brute_running(brute, &corner->defrag->slices.list[at]);
	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++)
		if (lm_ledger_free(ledger, at))
			brute->free[ledger->sites.host_seat[ledger->graph->accelerators[at].host]]++;
}

/* The fewest circuits that have to go another way, UINT32_MAX: there are no ways. */
static uint32_t least_by_brute_force(const struct corner *corner)
{
	struct brute *brute = calloc(1, sizeof(*brute));
	uint32_t least;

	assert_non_null(brute);
	brute_begin(brute, corner);
	brute_place(brute, 0);
	least = brute->least;
	free(brute);
	return least;
}

/* ---------------------------------------------------------- hitless by brute force */

#define WAYS 64 /* of a circuit */
#define STATES (1U << 18)

/* Ways of each circuit that runs, and the states that can be got to with all light on. */
struct reach {
	struct brute brute;
	uint32_t ways_count[DEMANDS];
	uint8_t hops[DEMANDS][WAYS], ways[DEMANDS][WAYS][NET_SITES];
	uint64_t states[STATES]; /* in the order in which they were found: the ways in base WAYS */
	uint64_t seen[2 * STATES];
	uint32_t count;
	bool all; /* they are no more than there is room for */
};

static void list_ways(struct reach *reach, uint32_t at, uint8_t *way, uint32_t hop, uint64_t seen)
{
	const struct demand_of *demand = &reach->brute.demands[at];
	uint32_t count = reach->ways_count[at];

	if (way[hop] == demand->to) {
		if (count == WAYS) {
			reach->all = false;
			return;
		}
		reach->hops[at][count] = (uint8_t)hop;
		memcpy(reach->ways[at][count], way, hop + 1);
		reach->ways_count[at]++;
		return;
	}
	for (uint32_t next = 0; next < reach->brute.sites; next++) {
		if (seen >> next & 1 || !reach->brute.room[way[hop]][next] ||
		    !(demand->through >> next & 1))
			continue;
		way[hop + 1] = (uint8_t)next;
		list_ways(reach, at, way, hop + 1, seen | 1ULL << next);
	}
}

static void find_state(struct reach *reach, uint64_t state)
{
	uint64_t slot = mix(state) % (2 * STATES);

	while (reach->seen[slot] && reach->seen[slot] != state + 1)
		slot = (slot + 1) % (2 * STATES);
	if (reach->seen[slot])
		return;
	if (reach->count == STATES) {
		reach->all = false;
		return;
	}
	reach->seen[slot] = state + 1;
	reach->states[reach->count++] = state;
}

/* Room that a state leaves: taken, or given back. */
static void occupy(struct reach *reach, uint64_t state, int units)
{
	for (uint32_t at = 0; at < reach->brute.running; at++, state /= WAYS)
		for (uint32_t hop = 0; hop < reach->hops[at][state % WAYS]; hop++) {
			const uint8_t *way = reach->ways[at][state % WAYS];

			reach->brute.room[way[hop]][way[hop + 1]] =
				(uint8_t)(reach->brute.room[way[hop]][way[hop + 1]] - units);
		}
}

/* Does the request fit into what a state leaves? */
static bool request_fits(struct reach *reach)
{
	uint32_t running = reach->brute.running;

	reach->brute.running = 0;
	reach->brute.least = UINT32_MAX;
	brute_place(&reach->brute, 0);
	reach->brute.running = running;
	return !reach->brute.least;
}

/* All states that one circuit's move leads to, its old way lit beside the new. */
static void spread_from(struct reach *reach, uint64_t state)
{
	uint64_t weight = 1;

	for (uint32_t at = 0; at < reach->brute.running; at++, weight *= WAYS) {
		for (uint32_t way = 0; way < reach->ways_count[at]; way++) {
			bool fits = true;

			for (uint32_t hop = 0; hop < reach->hops[at][way]; hop++)
				fits &= reach->brute.room[reach->ways[at][way][hop]]
							 [reach->ways[at][way][hop + 1]] > 0;
			if (fits)
				find_state(reach,
					   state - state / weight % WAYS * weight + way * weight);
		}
	}
}

/* Can the request be made room for without any light going out? 1, 0, or -1: too much to try. */
static int hitless_by_brute_force(const struct corner *corner)
{
	struct reach *reach = calloc(1, sizeof(*reach));
	uint64_t state = 0, weight = 1;
	int answer = 0;

	assert_non_null(reach);
	brute_begin(&reach->brute, corner);
	reach->all = reach->brute.running <= 10;
	for (uint32_t at = 0; at < reach->brute.running && reach->all; at++, weight *= WAYS) {
		const struct demand_of *demand = &reach->brute.demands[at];
		uint8_t way[NET_SITES] = { (uint8_t)demand->from };
		uint32_t mine = 0;

		list_ways(reach, at, way, 0, 1ULL << demand->from);
		while (reach->hops[at][mine] != demand->was_hops ||
		       memcmp(reach->ways[at][mine], demand->was, demand->was_hops + 1) != 0)
			assert_true(++mine < reach->ways_count[at]);
		state += mine * weight;
	}
	if (reach->all)
		find_state(reach, state);
	for (uint32_t at = 0; at < reach->count && !answer; at++) {
		occupy(reach, reach->states[at], 1);
		answer = request_fits(reach);
		if (!answer)
			spread_from(reach, reach->states[at]);
		occupy(reach, reach->states[at], -1);
	}
	if (!answer && !reach->all)
		answer = -1;
	free(reach);
	return answer;
}

/* ------------------------------------------------------------------------ tests */

struct tally {
	uint32_t asked, refused, verdicts[4], with_moves, moved, dark, proven, by_search, needless,
		unknown, led_aside;
};

static void try_corner(struct corner *corner, uint64_t *seed, struct tally *tally)
{
	struct bench *bench = corner->bench;
	struct morph_defrag_result result;
	uint32_t least;

	choose_hosts(corner, 4 + random_below(seed, 3));
	fence(corner, seed, 1 + random_below(seed, 3), 1 + random_below(seed, 2));
	run_slices(corner, seed, 2 + random_below(seed, 4));
	ask_little(bench->request, seed);
	tally->asked++;
	assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
	if (morph_plan_verdict(bench->plan) == MORPH_FEASIBLE ||
	    (morph_plan_verdict(bench->plan) == MORPH_INFEASIBLE && random_below(seed, 20)))
		return;
	tally->refused++;
	result = solve(corner, MORPH_DEFRAG_LIGHT);
	least = least_by_brute_force(corner);
	tally->verdicts[result.verdict]++;
	tally->by_search += strstr(morph_defrag_why(corner->defrag), "fibres") != NULL;
	assert_int_equal(result.verdict, least == UINT32_MAX ? MORPH_INFEASIBLE : MORPH_FEASIBLE);
	if (result.verdict != MORPH_FEASIBLE)
		return;
	tally->with_moves += least > 0;
	tally->moved += result.moved;
	tally->led_aside += corner->defrag->changes.count - corner->defrag->plan->circuits_count >
			    result.moved + result.dark;
	tally->dark += result.dark;
	if (result.dark) {
		int hitless = hitless_by_brute_force(corner);

		tally->needless += hitless == 1;
		tally->unknown += hitless < 0;
	}
	tally->proven += result.moved_least == least;
	assert_true(result.moved >= least);
	assert_true(!result.moved_least || result.moved_least == least);
}

static void whatever_rewiring_can_satisfy_is_satisfied(void **state)
{
	struct tally tally = { 0 };
	struct corner corner;
	uint64_t seed = 1;

	corner_begin(&corner, *state);
	while (tally.with_moves < 100) {
		try_corner(&corner, &seed, &tally);
		corner_clear(&corner);
	}
	print_message(
		"%u asked, %u refused: %u satisfied (%u by moves; of %u the fewest are proven), %u not (%u for want of fibres), %u circuits moved, %u dark (%u answers needlessly, of %u it is not known), %u with one led aside\n",
		tally.asked, tally.refused, tally.verdicts[1], tally.with_moves, tally.proven,
		tally.verdicts[2], tally.by_search, tally.moved, tally.dark, tally.needless,
		tally.unknown, tally.led_aside);
	assert_true(tally.by_search > 40 && tally.dark > 0 && tally.led_aside > 0);
	/* Where some light goes out there is no way to keep all of it on. */
	assert_int_equal(tally.needless, 0);
	assert_int_equal(tally.unknown, 0);
	corner_end(&corner);
}

/* Until a request that morph_place() refuses is satisfied by moves. */
static struct morph_defrag_result satisfy(struct corner *corner, uint64_t *seed)
{
	struct bench *bench = corner->bench;

	for (;;) {
		struct morph_defrag_result result;

		corner_clear(corner);
		choose_hosts(corner, 4 + random_below(seed, 3));
		fence(corner, seed, 1 + random_below(seed, 3), 1 + random_below(seed, 2));
		run_slices(corner, seed, 2 + random_below(seed, 4));
		ask_little(bench->request, seed);
		assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
		if (morph_plan_verdict(bench->plan) != MORPH_UNDECIDED)
			continue;
		result = solve(corner, random_below(seed, 2));
		if (result.verdict == MORPH_FEASIBLE && result.moved)
			return result;
	}
}

static void what_was_answered_is_taken(void **state)
{
	struct bench *bench = *state;
	struct corner corner;
	uint64_t seed = 2;

	corner_begin(&corner, bench);
	for (uint32_t round = 0; round < 20; round++) {
		const struct morph_plan *plan;
		struct written all;
		char report[256];

		satisfy(&corner, &seed);
		plan = morph_defrag_plan(corner.defrag);
		assert_int_equal(morph_defrag_take(corner.defrag, bench->ledger, 100), 0);
		assert_int_equal(morph_defrag_take(corner.defrag, bench->ledger, 101), -EBUSY);
		/* Where all has been moved, the plan of the request is one like any. */
		assert_int_equal(morph_ledger_give(bench->ledger, plan), 0);
		all = write_all(bench, plan);
		if (check_written(&all, report, sizeof(report)))
			fail_msg("%s", report);
		written_free(&all);
		/* And what runs can be asked to move again. */
		assert_int_equal(solve(&corner, 0).verdict, MORPH_FEASIBLE);
	}
	corner_end(&corner);
}

static void the_same_is_answered_again(void **state)
{
	struct corner corner;
	uint64_t seed = 3;

	corner_begin(&corner, *state);
	for (uint32_t round = 0; round < 10; round++) {
		struct answer first, again;
		MORPH_OPTS(morph_defrag_result, result);

		satisfy(&corner, &seed);
		assert_int_equal(morph_defrag_solve(corner.defrag, corner.bench->ledger,
						    corner.bench->request, NULL, &result),
				 0);
		write_answer(&corner, &first);
		assert_int_equal(morph_defrag_solve(corner.defrag, corner.bench->ledger,
						    corner.bench->request, NULL, &result),
				 0);
		write_answer(&corner, &again);
		assert_int_equal(first.input.answer.bytes, again.input.answer.bytes);
		assert_memory_equal(first.blobs[3], again.blobs[3], first.input.answer.bytes);
		free_answer(&first);
		free_answer(&again);
	}
	corner_end(&corner);
}

/* --------------------------------------------------------------------- one by one */

/* So many fibres of a link may be used; none of any other. */
static void keep_link(struct corner *corner, uint32_t from, uint32_t to, uint32_t count)
{
	struct morph_ledger *ledger = corner->bench->ledger;

	for (uint32_t at = 0; at < ledger->sites.strands_count && count; at++) {
		const struct strand *strand = &ledger->sites.strands[at];

		if (strand->from != from || strand->to != to)
			continue;
		assert_int_equal(morph_ledger_load(ledger, strand->guides[0] >> 1, 0), 0);
		count--;
	}
	assert_int_equal(count, 0);
}

/* A free fibre of a link goes on a plan's list. */
static void add_strand(struct corner *corner, struct morph_plan *plan, uint32_t from, uint32_t to)
{
	struct morph_ledger *ledger = corner->bench->ledger;
	const struct strand *strand = ledger->sites.strands;

	while (strand->from != from || strand->to != to || !lm_strand_free(ledger, strand))
		strand++;
	assert_int_equal(lm_plan_add_strand(plan, strand), 0);
}

/*
 * Servers 0, 1, 2 and 3 in a square. Of so many circuits from 0 to 1 all but one go straight,
 * and one goes by 2 and 3, where a circuit is wanted. One fibre more is straight.
 */
static void make_detour(struct corner *corner, uint32_t circuits)
{
	struct bench *bench = corner->bench;
	struct morph_plan *plan = corner->plans[0];

	choose_hosts(corner, 4);
	for (uint32_t at = 0; at < bench->ledger->graph->accelerators_count; at++)
		morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, at, at != 0 && at != 4);
	for (uint32_t at = 0; at < bench->ledger->graph->guides_count; at++)
		morph_ledger_load(bench->ledger, at, 1);
	keep_link(corner, 0, 1, circuits);
	keep_link(corner, 0, 2, 1);
	keep_link(corner, 2, 3, 1);
	keep_link(corner, 3, 1, 1);
	assert_int_equal(morph_request_set_count(bench->request, 2), 0);
	for (uint32_t at = 0; at < circuits; at++)
		assert_int_equal(morph_request_add_circuit(bench->request, 0, 1), 0);
	assert_int_equal(placed(bench, plan), MORPH_FEASIBLE);
	plan->strands_count--;
	plan->ways[circuits - 1].count = 3;
	add_strand(corner, plan, 0, 2);
	add_strand(corner, plan, 2, 3);
	add_strand(corner, plan, 3, 1);
	assert_int_equal(morph_ledger_take(bench->ledger, plan, 7), 0);
	for (uint32_t chip = 8; chip <= 12; chip += 4)
		morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, chip, false);
	/* From the rank in server 2, by itself or not. */
	morph_request_set_simplex(bench->request, true);
	assert_int_equal(morph_request_set_ring(bench->request, 2), 0);
	assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
	assert_int_not_equal(morph_plan_verdict(bench->plan), MORPH_FEASIBLE);
}

/* The only tenant that notices. */
static struct morph_defrag_tenant notice(const struct corner *corner)
{
	MORPH_OPTS(morph_defrag_tenant, tenant);

	assert_int_equal(morph_defrag_tenant(corner->defrag, 0, &tenant), 0);
	assert_int_equal(tenant.slice, 7);
	assert_int_equal(morph_defrag_tenant(corner->defrag, 1, &tenant), -ENOENT);
	return tenant;
}

static void a_circuit_with_a_port_left_is_never_dark(void **state)
{
	MORPH_OPTS(morph_defrag_change, change);
	MORPH_OPTS(morph_defrag_step, step);
	struct morph_defrag_result result;
	struct corner corner;
	uint32_t guides[4];

	corner_begin(&corner, *state);
	make_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	result = solve(&corner, MORPH_DEFRAG_LIGHT);
	assert_int_equal(result.verdict, MORPH_FEASIBLE);
	assert_int_equal(result.moved, 1);
	assert_int_equal(result.moved_least, 1);
	assert_int_equal(result.steps, 2);
	assert_int_equal(notice(&corner).moved, 1);
	assert_int_equal(notice(&corner).dark, 0);
	assert_int_equal(notice(&corner).dark_ns, 0);
	assert_string_equal(morph_defrag_why(corner.defrag), "");
	assert_int_equal(morph_defrag_step(corner.defrag, 0, &step), 0);
	assert_int_equal(step.kind, MORPH_DEFRAG_MOVE);
	assert_int_equal(step.slice, 7);
	assert_int_equal(step.changes, 1);
	assert_int_equal(morph_defrag_change(corner.defrag, 0, 0, &change), 0);
	assert_int_equal(change.circuit, 4);
	assert_int_equal(change.src_rank, 0);
	assert_int_equal(change.dst_rank, 1);
	assert_int_equal(change.fibres, 1);
	assert_int_equal(morph_defrag_guides(corner.defrag, 0, 0, guides, 4), 1);
	assert_int_equal(morph_defrag_step(corner.defrag, 1, &step), 0);
	assert_int_equal(step.kind, MORPH_DEFRAG_PLACE);
	assert_int_equal(step.slice, 0);
	assert_int_equal(morph_defrag_step(corner.defrag, 2, &step), -ENOENT);
	assert_int_equal(morph_defrag_change(corner.defrag, 0, 1, &change), -ENOENT);
	assert_int_equal(morph_defrag_guides(corner.defrag, 2, 0, guides, 4), -ENOENT);
	corner_end(&corner);
}

static void without_a_port_it_is_dark_while_light_settles(void **state)
{
	struct morph_object *info;
	struct bench *bench = *state;
	struct corner corner;
	uint64_t light = 0;

	corner_begin(&corner, bench);
	make_detour(&corner, 6);
	assert_int_equal(morph_model_info(bench->ctx, bench->model, &info), 0);
	light = morph_object_uint(info, "settle-ns") + morph_object_uint(info, "relock-ns");
	morph_object_free(info);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	assert_int_equal(solve(&corner, MORPH_DEFRAG_LIGHT).dark, 1);
	assert_int_equal(notice(&corner).dark, 1);
	assert_true(light > 0);
	assert_int_equal(notice(&corner).dark_ns, light);
	corner_end(&corner);
}

static void what_is_pinned_or_marked_stays(void **state)
{
	struct bench *bench = *state;
	struct corner corner;
	uint32_t guide;

	corner_begin(&corner, bench);
	make_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, MORPH_DEFRAG_PINNED),
			 0);
	assert_int_equal(solve(&corner, 0).verdict, MORPH_INFEASIBLE);
	assert_non_null(strstr(morph_defrag_why(corner.defrag), "enough fibres"));
	assert_int_equal(morph_defrag_take(corner.defrag, bench->ledger, 8), -EINVAL);
	morph_defrag_clear(corner.defrag);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	assert_int_equal(solve(&corner, 0).verdict, MORPH_FEASIBLE);
	/* One of the fibres that it goes by is to be repaired. */
	guide = corner.plans[0]->strands[4].guides[0] >> 1;
	assert_int_equal(morph_ledger_mark(bench->ledger, MORPH_PART_GUIDE, guide, true), 0);
	assert_int_equal(solve(&corner, 0).verdict, MORPH_INFEASIBLE);
	corner_end(&corner);
}

/* More accelerators than are free are never made room for. */
static void ranks_keep_their_accelerators(void **state)
{
	struct bench *bench = *state;
	struct corner corner;

	corner_begin(&corner, bench);
	make_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	assert_int_equal(morph_request_set_ring(bench->request, 3), 0);
	assert_int_equal(solve(&corner, 0).verdict, MORPH_INFEASIBLE);
	assert_string_equal(
		morph_defrag_why(corner.defrag),
		"3 accelerators are wanted in one rack, the rack with most free has 2, and ranks keep theirs");
	corner_end(&corner);
}

static void a_search_without_steps_is_undecided(void **state)
{
	MORPH_OPTS(morph_defrag_opts, opts, .steps = 1);
	MORPH_OPTS(morph_defrag_result, result);
	struct bench *bench = *state;
	struct corner corner;

	corner_begin(&corner, bench);
	make_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request, &opts,
					    &result),
			 0);
	assert_int_equal(result.verdict, MORPH_UNDECIDED);
	assert_non_null(strstr(morph_defrag_why(corner.defrag), "nothing proven"));
	corner_end(&corner);
}

static void wrong_input_is_refused(void **state)
{
	MORPH_OPTS(morph_defrag_opts, opts, .objective = 2);
	struct bench *bench = *state;
	struct corner corner;

	corner_begin(&corner, bench);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), -EINVAL);
	make_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 0, 0), -EINVAL);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 2), -EINVAL);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 8, 0), 0);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 8, 0), -EEXIST);
	assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request, NULL,
					    NULL),
			 -EINVAL);
	assert_string_equal(morph_error_text(bench->ctx),
			    "slice 8: accelerator 0 of rank 0 is not its in the ledger");
	morph_defrag_clear(corner.defrag);
	assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request, &opts,
					    NULL),
			 -EINVAL);
	assert_int_equal(morph_request_set_mesh(bench->request, 8), 0);
	assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request, NULL,
					    NULL),
			 -EINVAL);
	corner_end(&corner);
}

/* -------------------------------------------------------------------- mutants */

#define HEAD 5 /* words of the wire form */

/* Where the parts of a written answer are. */
struct parts {
	uint32_t *head, *ranks, *steps, *changes, *strands, *tenants, *refusals, *metrics, *lengths;
};

static struct parts find_parts(const struct answer *answer)
{
	struct parts parts = { .head = (uint32_t *)answer->blobs[3] + HEAD };

	parts.ranks = parts.head + 14;
	parts.steps = parts.ranks + 2 * parts.head[2];
	parts.changes = parts.steps + 4 * parts.head[7];
	parts.strands = parts.changes + 3 * parts.head[8];
	parts.tenants = parts.strands + MORPH_WIRE_STRAND * parts.head[9];
	parts.refusals = parts.tenants + 5 * parts.head[10];
	parts.metrics = parts.refusals + 6 * parts.head[11];
	parts.lengths = parts.metrics + 2 * parts.head[12];
	return parts;
}

/* Spoil an answer or the world that it is for, so that it can't be right any more. */
static void spoil(struct answer *answer, uint64_t *seed)
{
	struct parts it = find_parts(answer);
	uint32_t steps = it.head[7], changes = it.head[8], strands = it.head[9];
	uint32_t step = random_below(seed, steps), strand = random_below(seed, strands);
	uint32_t *held = (uint32_t *)answer->blobs[0] + HEAD + 3;
	uint32_t *ledger = (uint32_t *)answer->blobs[0] + HEAD;
	uint32_t *guide = held + 2 * ledger[0] + ledger[1];
	uint32_t code = it.strands[MORPH_WIRE_STRAND * strand + 1],
		 rank = random_below(seed, it.head[2]);

	switch (random_below(seed, 20)) {
	case 0: /* figures */
		it.head[4] += 1;
		break;
	case 1:
		it.head[6] += 1;
		break;
	case 2:
		it.head[5] = it.head[4] + 1;
		break;
	case 3:
		it.tenants[0] += 100;
		break;
	case 4:
		it.tenants[1 + random_below(seed, 2)] += 1;
		break;
	case 5:
		it.tenants[3] ^= 1;
		break;
	case 6: /* ranks */
		it.ranks[2 * rank] = 64 + random_below(seed, 8); /* a spare */
		break;
	case 7:
		it.ranks[2 * rank] = it.ranks[2 * ((rank + 1) % it.head[2])];
		break;
	case 8:
		held[2 * it.ranks[2 * rank]] = 1000; /* another's */
		break;
	case 9: /* ways */
		it.strands[MORPH_WIRE_STRAND * strand + 1] = code ^ 1;
		break;
	case 10:
		it.strands[MORPH_WIRE_STRAND * strand + 1] = random_below(seed, 1000) | 0x40000000U;
		break;
	case 11:
		it.strands[MORPH_WIRE_STRAND * strand] += 1;
		break;
	case 12:
		guide[3 * (code >> 1)] = 1; /* unusable */
		break;
	case 13:
		it.changes[3 * random_below(seed, changes) + 2] += 1;
		break;
	case 14: /* order */
		it.steps[4 * step] = it.steps[4 * step] % 5 + 1;
		break;
	case 15:
		it.steps[4 * step + 1] += 1000; /* of nobody */
		break;
	case 16:
		it.steps[4 * step + 3] += 1;
		break;
	case 17:
		it.changes[0] += 1000; /* a circuit that is not there */
		break;
	case 18: /* lit by somebody else, or unusable */
		guide[3 * (code >> 1) + (guide[3 * (code >> 1) + 1] ? 0 : 1)] = 1;
		break;
	default:
		it.head[0] = random_below(seed, 2) ? MORPH_INFEASIBLE : 4;
		break;
	}
}

static void mutants_of_answers_are_rejected(void **state)
{
	struct corner corner;
	uint32_t mutants = 0;
	uint64_t seed = 4;
	char report[256];

	corner_begin(&corner, *state);
	while (mutants < 1000) {
		satisfy(&corner, &seed);
		for (uint32_t round = 0; round < 40; round++, mutants++) {
			struct answer answer;

			write_answer(&corner, &answer);
			spoil(&answer, &seed);
			if (!morph_check_defrag(&answer.input, report, sizeof(report)))
				fail_msg("mutant %u was taken for an answer", mutants);
			assert_string_not_equal(report, "");
			free_answer(&answer);
		}
	}
	corner_end(&corner);
}

/* Leave the first step out, and its changes. */
static void leave_out(struct answer *answer)
{
	struct parts it = find_parts(answer);
	uint32_t *end = (uint32_t *)answer->blobs[3] + answer->input.answer.bytes / 4;
	uint32_t gone = it.steps[3];

	memmove(it.changes, it.changes + 3 * (size_t)gone,
		(size_t)((char *)end - (char *)(it.changes + 3 * (size_t)gone)));
	memmove(it.steps, it.steps + 4,
		(size_t)((char *)(end - 3 * (size_t)gone) - (char *)(it.steps + 4)));
	it.head[7]--;
	it.head[8] -= gone;
	for (uint32_t step = 0; step < it.head[7]; step++)
		it.steps[4 * step + 2] -= gone;
	answer->input.answer.bytes -= 4 * (4 + 3 * (size_t)gone);
	((uint32_t *)answer->blobs[3])[4] = (uint32_t)(answer->input.answer.bytes / 4);
}

/* What has to go first is in the way of what comes after. */
static void no_step_can_be_left_out(void **state)
{
	struct corner corner;
	uint32_t in_use = 0;
	uint64_t seed = 5;
	char report[256];

	corner_begin(&corner, *state);
	for (uint32_t round = 0; round < 40; round++) {
		struct answer answer;

		satisfy(&corner, &seed);
		write_answer(&corner, &answer);
		leave_out(&answer);
		assert_int_equal(morph_check_defrag(&answer.input, report, sizeof(report)),
				 -EBADMSG);
		in_use += strstr(report, "is in use") != NULL;
		free_answer(&answer);
	}
	print_message("of 40, %u would have used what is in use\n", in_use);
	assert_true(in_use > 30);
	corner_end(&corner);
}

/* As satisfy(), for a request that no rewiring satisfies for want of fibres. */
static void refuse_corner(struct corner *corner, uint64_t *seed)
{
	struct bench *bench = corner->bench;

	for (;;) {
		struct morph_defrag_result result;

		corner_clear(corner);
		choose_hosts(corner, 4 + random_below(seed, 3));
		fence(corner, seed, 1 + random_below(seed, 3), 1);
		run_slices(corner, seed, 2 + random_below(seed, 4));
		ask_little(bench->request, seed);
		assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
		if (morph_plan_verdict(bench->plan) != MORPH_UNDECIDED)
			continue;
		result = solve(corner, 0);
		if (result.verdict == MORPH_INFEASIBLE)
			return;
	}
}

static void mutants_of_refusals_are_rejected(void **state)
{
	struct corner corner;
	uint32_t mutants = 0;
	uint64_t seed = 6;
	char report[256];

	corner_begin(&corner, *state);
	while (mutants < 200) {
		refuse_corner(&corner, &seed);
		for (uint32_t round = 0; round < 10; round++, mutants++) {
			struct answer answer;
			struct parts it;

			write_answer(&corner, &answer);
			it = find_parts(&answer);
			switch (random_below(&seed, 6)) {
			case 0:
				it.refusals[0] += 1 + random_below(&seed, 17);
				break;
			case 1:
				it.refusals[1] = MORPH_WIRE_DOUBT;
				break;
			case 2:
				it.refusals[1] = MORPH_WIRE_COUNT;
				break;
			case 3:
				it.head[0] = MORPH_FEASIBLE;
				break;
			case 4:
				it.refusals[5] += 5000;
				break;
			default: /* of a link that is not there */
				it.lengths[random_below(&seed, 2)] = 64;
				break;
			}
			if (!morph_check_defrag(&answer.input, report, sizeof(report)))
				fail_msg("mutant %u was taken for a proof", mutants);
			free_answer(&answer);
		}
	}
	corner_end(&corner);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(whatever_rewiring_can_satisfy_is_satisfied),
		TEST(what_was_answered_is_taken),
		TEST(the_same_is_answered_again),
		TEST(a_circuit_with_a_port_left_is_never_dark),
		TEST(without_a_port_it_is_dark_while_light_settles),
		TEST(what_is_pinned_or_marked_stays),
		TEST(ranks_keep_their_accelerators),
		TEST(a_search_without_steps_is_undecided),
		TEST(wrong_input_is_refused),
		TEST(mutants_of_answers_are_rejected),
		TEST(no_step_can_be_left_out),
		TEST(mutants_of_refusals_are_rejected),
#undef TEST
	};

	return placing_run(argc, argv, "defrag", tests, ARRAY_SIZE(tests));
}
