// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Placement on a real rack, whose profile is on the command line. The checker, which shares no code
 * with the planner, checks each answer and each witness.
 */
#include "../internal/planner.h"
#include "placing.h"

struct tally {
	uint32_t verdicts[4], tiers[3];
};

/* Slices come and go. Returns the counts of each outcome. */
static struct tally churn(struct bench *bench, uint64_t seed, uint32_t events)
{
	struct morph_plan *live[ACCELERATORS] = { NULL };
	struct tally tally = { { 0 }, { 0 } };

	for (uint32_t event = 0; event < events; event++) {
		uint32_t at = random_below(&seed, ACCELERATORS);

		if (live[at]) {
			assert_int_equal(morph_ledger_give(bench->ledger, live[at]), 0);
			morph_plan_free(live[at]);
			live[at] = NULL;
			continue;
		}
		ask(bench->request, &seed);
		live[at] = morph_plan_new(bench->ctx);
		assert_non_null(live[at]);
		tally.verdicts[placed(bench, live[at])]++;
		tally.tiers[morph_plan_tier(live[at])]++;
		if (morph_plan_verdict(live[at]) == MORPH_FEASIBLE) {
			assert_int_equal(morph_ledger_take(bench->ledger, live[at], event + 1), 0);
			continue;
		}
		assert_string_not_equal(morph_plan_why(live[at]), "");
		morph_plan_free(live[at]);
		live[at] = NULL;
	}
	for (uint32_t at = 0; at < ACCELERATORS; at++) {
		if (live[at])
			assert_int_equal(morph_ledger_give(bench->ledger, live[at]), 0);
		morph_plan_free(live[at]);
	}
	return tally;
}

static void whatever_is_answered_is_so(void **state)
{
	struct tally tally = churn(*state, 1, 250);

	print_message("%u feasible (%u contiguous), %u infeasible, %u undecided\n",
		      tally.verdicts[1], tally.tiers[1], tally.verdicts[2], tally.verdicts[3]);
	assert_true(tally.tiers[1] > 30 && tally.tiers[2] > 10);
	assert_true(tally.verdicts[2] > 20);
}

static void taken_resources_are_released(void **state)
{
	struct bench *bench = *state;
	size_t bytes = (size_t)morph_ledger_write(bench->ledger, NULL, 0);
	void *before = malloc(bytes), *after = malloc(bytes);

	assert_non_null(before);
	assert_non_null(after);
	morph_ledger_write(bench->ledger, before, bytes);
	churn(bench, 2, 60);
	morph_ledger_write(bench->ledger, after, bytes);
	assert_memory_equal(before, after, bytes);
	free(before);
	free(after);
}

static void refusals_for_want_of_fibres_are_proven(void **state)
{
	struct bench *bench = *state;
	uint32_t verdicts[4] = { 0 };
	uint64_t seed = 3;

	morph_request_set_budget(bench->request, 1 << 18);
	assert_int_equal(morph_request_set_servers(bench->request, MORPH_SERVERS_WHOLE), 0);
	for (uint32_t round = 0; round < 14; round++) {
		hold_fibres(bench, &seed, 25 + 5 * round);
		for (uint32_t server = 0; server < 16; server++) {
			uint32_t slice = random_below(&seed, 10) < 3;

			for (uint32_t at = 0; at < 4; at++)
				morph_ledger_hold(bench->ledger, 4 * server + at, slice);
		}
		assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 4,
							 round % 2 ? 2 : 4),
				 0);
		verdicts[placed(bench, bench->plan)]++;
	}
	print_message("%u feasible, %u infeasible, %u undecided\n", verdicts[1], verdicts[2],
		      verdicts[3]);
	assert_true(verdicts[1] > 1 && verdicts[2] > 3);
}

/*
 * Small shapes that fill no servers are tried everywhere, so that their refusals are proven, too.
 */
static void small_rings_and_meshes_are_decided(void **state)
{
	struct bench *bench = *state;
	uint32_t verdicts[4] = { 0 }, cut = 0;
	uint64_t seed = 4;

	for (uint32_t round = 0; round < 60; round++) {
		uint32_t ranks = 2 + random_below(&seed, 5), free = 0;

		hold_fibres(bench, &seed, 60 + random_below(&seed, 35));
		for (uint32_t at = 0; at < ACCELERATORS; at++) {
			bool held = random_below(&seed, 8) != 0;

			free += !held;
			morph_ledger_hold(bench->ledger, at, held);
		}
		if (round % 2)
			assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_MESH,
								 ranks, 1, 1),
					 0);
		else
			assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING,
								 ranks, 1, 1),
					 0);
		verdicts[placed(bench, bench->plan)]++;
		cut += morph_plan_verdict(bench->plan) == MORPH_INFEASIBLE && free >= ranks;
	}
	print_message("%u feasible, %u infeasible, %u of these for want of fibres\n", verdicts[1],
		      verdicts[2], cut);
	assert_int_equal(verdicts[3], 0);
	assert_true(verdicts[1] > 5 && cut > 5);
}

/* --------------------------------------------------------------------- wishes */

static void an_empty_rack_takes_a_box(void **state)
{
	struct bench *bench = *state;
	uint32_t bound;

	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 4, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CONTIGUOUS);
	assert_int_equal(morph_plan_ranks(bench->plan), 32);
	assert_int_equal(morph_plan_servers(bench->plan, &bound), 8);
	assert_int_equal(bound, 8);
	assert_int_equal(morph_plan_fibres(bench->plan, &bound), 96);
	assert_int_equal(bound, 96);
	assert_int_equal(morph_plan_accelerator(bench->plan, 32), UINT32_MAX);
	assert_string_equal(morph_plan_why(bench->plan), "");
}

/* Every other accelerator along each dimension is free, so that no two are neighbours. */
static void requests_without_a_box_are_stitched(void **state)
{
	struct bench *bench = *state;

	for (uint32_t at = 0; at < ACCELERATORS; at++)
		morph_ledger_hold(bench->ledger, at, (at ^ at >> 1 ^ at >> 4) & 1);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 12, 1, 1), 0);
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_CONTIGUOUS), 0);
	assert_int_not_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_STITCHED), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_STITCHED);
}

static void objectives_differ(void **state)
{
	struct bench *bench = *state;
	uint32_t servers[3];

	/* Two servers have two free accelerators each. All other servers are free. */
	for (uint32_t at = 0; at < 8; at++)
		if (at % 4 < 2)
			morph_ledger_hold(bench->ledger, at, 1);
	assert_int_equal(morph_request_set_count(bench->request, 4), 0);
	for (uint32_t objective = 0; objective < 3; objective++) {
		assert_int_equal(morph_request_set_objective(bench->request, objective), 0);
		assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
		servers[objective] = morph_plan_servers(bench->plan, NULL);
	}
	assert_int_equal(servers[MORPH_OBJECTIVE_BLAST], 1);
	assert_int_equal(morph_request_set_count(bench->request, 2), 0);
	assert_int_equal(morph_request_set_objective(bench->request, MORPH_OBJECTIVE_FRAGMENTATION),
			 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	/* The slice does not enter a free server. */
	assert_true(morph_plan_accelerator(bench->plan, 0) < 8);
	MORPH_OPTS(morph_plan_info, info);
	assert_int_equal(morph_plan_info(bench->plan, &info), 0);
	assert_int_equal(info.verdict, morph_plan_verdict(bench->plan));
	assert_int_equal(info.ranks, morph_plan_ranks(bench->plan));
	for (uint32_t rank = 0; rank < info.ranks; rank++)
		assert_int_equal(info.accelerators[rank],
				 morph_plan_accelerator(bench->plan, rank));
}

/* The only paths between the free servers pass other tenants' servers. */
static void transit_can_be_forbidden(void **state)
{
	struct bench *bench = *state;

	for (uint32_t at = 0; at < ACCELERATORS; at++)
		morph_ledger_hold(bench->ledger, at, at / 4 != 0 && at / 4 != 7 ? 1 : 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 8, 1, 1), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_request_set_transit(bench->request, MORPH_TRANSIT_OWN), 0);
	assert_int_not_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
}

/* Position of an accelerator along x in the rack's torus: 0 to 3. Servers have 2x2x1. */
static uint32_t column(uint32_t accelerator)
{
	return (accelerator & 1) | (accelerator >> 1 & 2);
}

/* Half of two neighbouring servers is free, on the side where they meet, or on the other side. */
static void light_may_end_where_it_may_not_cross(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 4, 1, 1), 0);
	assert_int_equal(morph_request_set_transit(bench->request, MORPH_TRANSIT_OWN), 0);
	for (uint32_t away = 0; away < 2; away++) {
		for (uint32_t at = 0; at < ACCELERATORS; at++) {
			uint32_t side = column(at) == 1 || column(at) == 2;

			/* Of the servers with the lowest y and z. */
			morph_ledger_hold(bench->ledger, at, at >> 3 || side == away);
		}
		assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
		assert_int_equal(morph_plan_servers(bench->plan, NULL), 2);
	}
}

/* The free accelerators are halves of servers that lie far apart. */
static void servers_are_shared_unless_they_are_wanted_whole(void **state)
{
	struct bench *bench = *state;

	for (uint32_t at = 0; at < ACCELERATORS; at++)
		morph_ledger_hold(bench->ledger, at, at / 4 % 5 || at % 2);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 1), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_STITCHED);
	assert_int_equal(morph_request_set_servers(bench->request, MORPH_SERVERS_WHOLE), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	assert_non_null(strstr(morph_plan_why(bench->plan), "whole servers"));
}

/*
 * Cuts prove that parts of whole servers have no paths. They prove nothing about ranks in other
 * positions.
 */
static void of_shared_servers_whole_ones_prove_nothing(void **state)
{
	struct bench *bench = *state;
	uint64_t seed = 6;

	hold_every_other_server(bench);
	hold_fibres(bench, &seed, 60);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 4, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_UNDECIDED);
	assert_non_null(strstr(morph_plan_why(bench->plan), "in whole servers it can't be done"));
	assert_int_equal(morph_request_set_servers(bench->request, MORPH_SERVERS_WHOLE), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
}

/* Half of each server is free, in a row. The box consists of no whole servers. */
static void a_box_breaks_no_server_that_is_wanted_whole(void **state)
{
	struct bench *bench = *state;

	for (uint32_t at = 0; at < ACCELERATORS; at++)
		morph_ledger_hold(bench->ledger, at, column(at) != 1 && column(at) != 2);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CONTIGUOUS);
	assert_int_equal(morph_request_set_servers(bench->request, MORPH_SERVERS_WHOLE), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_CONTIGUOUS), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
}

static void requests_that_fill_no_servers_have_no_whole_server(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(morph_request_set_servers(bench->request, 2), -EINVAL);
	assert_int_equal(morph_request_set_servers(bench->request, MORPH_SERVERS_WHOLE), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 3, 2, 1), 0);
	assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), -EINVAL);
	assert_non_null(strstr(morph_error_text(bench->ctx), "a torus that divides evenly"));
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 4, 1, 1), 0);
	assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), -EINVAL);
}

static void a_search_without_steps_is_undecided(void **state)
{
	struct bench *bench = *state;
	uint64_t seed = 6;

	hold_every_other_server(bench);
	hold_fibres(bench, &seed, 60);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 4, 4), 0);
	assert_int_equal(morph_request_set_servers(bench->request, MORPH_SERVERS_WHOLE), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	morph_request_set_budget(bench->request, 1);
	assert_int_equal(placed(bench, bench->plan), MORPH_UNDECIDED);
	assert_non_null(strstr(morph_plan_why(bench->plan), "nothing proven"));
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_CROSSING), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_UNDECIDED);
	assert_non_null(strstr(morph_plan_why(bench->plan), "no switches join them"));
}

static void too_few_accelerators_are_counted(void **state)
{
	struct bench *bench = *state;

	morph_ledger_hold(bench->ledger, 5, 1);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 4, 4, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	assert_string_equal(morph_plan_why(bench->plan),
			    "not enough accelerators in one rack: 64 requested, at most 63 free");
	assert_int_equal(morph_plan_ranks(bench->plan), 0);
	assert_int_equal(morph_plan_tier(bench->plan), 0);
	assert_int_equal(morph_plan_fibres(bench->plan, NULL), 0);
	assert_int_equal(morph_plan_servers(bench->plan, NULL), 0);
}

/* ---------------------------------------------------------------------- memory */

/* Each allocation fails in turn. Then there is no plan, and the ledger is unchanged. */
static void try_without_memory(struct bench *bench, uint32_t verdict, unsigned int least)
{
	size_t bytes = (size_t)morph_ledger_write(bench->ledger, NULL, 0);
	void *before = malloc(bytes), *after = malloc(bytes);
	unsigned int nth = 1;

	assert_int_equal(morph_ledger_write(bench->ledger, before, bytes), bytes);
	for (;; nth++) {
		struct morph_plan *plan = morph_plan_new(bench->ctx);
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = morph_place(bench->ledger, bench->request, plan);
		assert_int_equal(morph_ledger_write(bench->ledger, after, bytes), bytes);
		assert_memory_equal(before, after, bytes);
		assert_int_equal(morph_plan_verdict(plan), ret ? 0 : verdict);
		morph_plan_free(plan);
		if (!fault_struck())
			break;
		assert_int_equal(ret, -ENOMEM);
	}
	assert_true(nth > least);
	free(before);
	free(after);
}

static void without_memory_nothing_is_planned(void **state)
{
	struct bench *bench = *state;
	uint64_t seed = 6;

	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 4, 4), 0);
	try_without_memory(bench, MORPH_FEASIBLE, 5);
	hold_every_other_server(bench);
	hold_fibres(bench, &seed, 60);
	try_without_memory(bench, MORPH_UNDECIDED, 4);
}

/* Neither the library nor functions that it calls allocate. */
static void placing_again_allocates_nothing(void **state)
{
	struct bench *bench = *state;
	uint64_t seed = 6;

	hold_every_other_server(bench);
	hold_fibres(bench, &seed, 60);
#ifdef SANITIZED
	allocations();
	morph_plan_free(morph_plan_new(bench->ctx));
	assert_int_equal(allocations(), 1);
#endif
	for (uint32_t shape = 0; shape < 3; shape++) {
		assert_int_equal(shape == 2 ?
					 morph_request_set_shape(bench->request, MORPH_SHAPE_RING,
								 12, 1, 1) :
					 morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS,
								 2, 4, shape ? 1 : 4),
				 0);
		assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
		allocations();
		fault_at("memory", 1, ENOMEM);
		assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
		assert_int_equal(allocations(), 0);
		assert_int_equal(fault_calls(), 0);
		fault_struck();
	}
}

/* ------------------------------------------------------------------- bad input */

static void impossible_requests_are_reported(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_MESH, 8, 1, 1), 0);
	assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), -EINVAL);
	assert_string_equal(
		morph_error_text(bench->ctx),
		"rank 0 has 7 circuits out and 7 in: an accelerator has 6 ports each way");
	assert_int_equal(morph_plan_verdict(bench->plan), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 4, 1, 1), 0);
	morph_request_set_mbps(bench->request, UINT64_MAX);
	assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), -EINVAL);
	assert_non_null(strstr(morph_error_text(bench->ctx), "a circuit has at most"));
}

static void wrong_requests_are_refused(void **state)
{
	struct bench *bench = *state;
	struct morph_request *request = bench->request;

	assert_int_equal(morph_request_set_count(request, 0), -EINVAL);
	/* The kernel may answer such a large request. A planner does not. */
	assert_int_equal(morph_request_set_count(request, 4097), 0);
	assert_int_equal(morph_request_add_circuit(request, 0, 1), -E2BIG);
	assert_int_equal(morph_place(bench->ledger, request, bench->plan), -E2BIG);
	assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_TORUS, 2, 0, 2), -EINVAL);
	assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_TORUS, 65536, 65536, 65536),
			 -E2BIG);
	assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_RING, 5000, 1, 1), -E2BIG);
	assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_MESH, 300, 1, 1), -E2BIG);
	assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_MESH, 0, 1, 1), -EINVAL);
	assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_MESH, 256, 1, 1), 0);
	assert_int_equal(morph_request_set_count(request, 3), 0);
	assert_int_equal(morph_request_add_circuit(request, 0, 3), -EINVAL);
	assert_int_equal(morph_request_add_circuit(request, 3, 0), -EINVAL);
	assert_int_equal(morph_request_add_circuit(request, 1, 1), -EINVAL);
	assert_int_equal(morph_request_add_circuit(request, 2, 0), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_request_set_tier(request, 0), -EINVAL);
	assert_int_equal(morph_request_set_tier(request, 4), -EINVAL);
	assert_int_equal(morph_request_set_objective(request, 3), -EINVAL);
	assert_int_equal(morph_request_set_transit(request, 2), -EINVAL);
	assert_int_equal(morph_request_set_count(request, 2), 0);
	for (uint32_t at = 0; at < 65536; at++)
		assert_int_equal(morph_request_add_circuit(request, 0, 1), 0);
	assert_int_equal(morph_request_add_circuit(request, 0, 1), -E2BIG);
}

/* A single rack is asked for more than its fibres carry. There is no other rack to try. */
static void a_single_rack_has_none_to_cross_to(void **state)
{
	struct bench *bench = *state;
	uint64_t seed = 1;

	hold_fibres(bench, &seed, 100);
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_CROSSING), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	morph_request_set_budget(bench->request, 1);
	assert_int_equal(placed(bench, bench->plan), MORPH_UNDECIDED);
	assert_non_null(strstr(morph_plan_why(bench->plan), "no switches join them"));
}

static void wrong_entries_are_refused(void **state)
{
	struct bench *bench = *state;
	struct morph_ledger *ledger = bench->ledger;

	assert_int_equal(morph_ledger_hold(ledger, 72, 1), -ENOENT);
	assert_int_equal(morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, 72, true), -ENOENT);
	assert_int_equal(morph_ledger_mark(ledger, MORPH_PART_ELEMENT, 1 << 20, true), -ENOENT);
	assert_int_equal(morph_ledger_mark(ledger, MORPH_PART_GUIDE, 1 << 20, true), -ENOENT);
	assert_int_equal(morph_ledger_mark(ledger, MORPH_PART_LASER, 0, true), -EINVAL);
	assert_int_equal(morph_ledger_load(ledger, 1 << 20, 1), -ENOENT);
	assert_int_equal(morph_ledger_load(ledger, 0, 1 << 16), -EINVAL);
}

static void marked_hardware_is_not_used(void **state)
{
	struct bench *bench = *state;
	const uint32_t *section = (const uint32_t *)(const void *)(rack_profile + 168 + 2 * 16);

	for (uint32_t at = 1; at < ACCELERATORS; at++)
		assert_int_equal(morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, at, true),
				 0);
	assert_int_equal(morph_request_set_count(bench->request, 1), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_accelerator(bench->plan, 0), 0);
	for (uint32_t at = 1; at < ACCELERATORS; at++)
		morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, at, false);
	for (uint32_t at = 0; at < section[2]; at++)
		assert_int_equal(morph_ledger_mark(bench->ledger, MORPH_PART_ELEMENT, at, true), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 5, 1, 1), 0);
	assert_int_not_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
}

/* Spares whose role has changed. The rack has eight, in two servers beside the torus. */
static void spares_are_those_of_the_ledger(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(morph_ledger_set_spare(bench->ledger, 72, true), -ENOENT);
	assert_int_equal(morph_ledger_set_spare(bench->ledger, 5, true), 0);
	assert_int_equal(morph_request_set_count(bench->request, 64), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	assert_int_equal(morph_ledger_set_spare(bench->ledger, 70, false), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	for (uint32_t rank = 0; rank < 64; rank++)
		assert_int_not_equal(morph_plan_accelerator(bench->plan, rank), 5);
	/* A server of former spares takes a part like other servers. */
	for (uint32_t at = 0; at < ACCELERATORS; at++)
		morph_ledger_hold(bench->ledger, at, at >= 12);
	for (uint32_t at = 64; at < 72; at++)
		assert_int_equal(morph_ledger_set_spare(bench->ledger, at, at >= 68), 0);
	assert_int_equal(morph_ledger_set_spare(bench->ledger, 5, false), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_STITCHED);
}

static void only_free_resources_are_taken(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(morph_ledger_take(bench->ledger, bench->plan, 1), -EINVAL);
	assert_int_equal(morph_ledger_give(bench->ledger, bench->plan), -EINVAL);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_ledger_take(bench->ledger, bench->plan, 0), -EINVAL);
	assert_int_equal(morph_ledger_take(bench->ledger, bench->plan, 1), 0);
	assert_int_equal(morph_ledger_take(bench->ledger, bench->plan, 2), -EBUSY);
	assert_non_null(strstr(morph_error_text(bench->ctx), "is not free"));
	/* Releasing the accelerators alone does not make the server free. */
	for (uint32_t rank = 0; rank < 16; rank++)
		morph_ledger_hold(bench->ledger, morph_plan_accelerator(bench->plan, rank), 0);
	assert_int_equal(morph_ledger_take(bench->ledger, bench->plan, 2), -EBUSY);
	assert_non_null(strstr(morph_error_text(bench->ctx), "fibre"));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(whatever_is_answered_is_so),
		TEST(taken_resources_are_released),
		TEST(refusals_for_want_of_fibres_are_proven),
		TEST(small_rings_and_meshes_are_decided),
		TEST(an_empty_rack_takes_a_box),
		TEST(requests_without_a_box_are_stitched),
		TEST(objectives_differ),
		TEST(transit_can_be_forbidden),
		TEST(light_may_end_where_it_may_not_cross),
		TEST(servers_are_shared_unless_they_are_wanted_whole),
		TEST(of_shared_servers_whole_ones_prove_nothing),
		TEST(a_box_breaks_no_server_that_is_wanted_whole),
		TEST(requests_that_fill_no_servers_have_no_whole_server),
		TEST(placing_again_allocates_nothing),
		TEST(a_search_without_steps_is_undecided),
		TEST(too_few_accelerators_are_counted),
		TEST(without_memory_nothing_is_planned),
		TEST(impossible_requests_are_reported),
		TEST(wrong_requests_are_refused),
		TEST(a_single_rack_has_none_to_cross_to),
		TEST(wrong_entries_are_refused),
		TEST(marked_hardware_is_not_used),
		TEST(spares_are_those_of_the_ledger),
		TEST(only_free_resources_are_taken),
#undef TEST
	};

	return placing_run(argc, argv, "place", tests, ARRAY_SIZE(tests));
}
