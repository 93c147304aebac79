// SPDX-License-Identifier: LGPL-2.1-or-later
/* Corners of a rack with random slices, and checked answers. */
#include "../internal/planner.h"
#include "corner.h"

/* Servers 4z + 2y + x of a block. */
void corner_choose(struct corner *corner, uint32_t count)
{
	corner->hosts_count = count;
	memcpy(corner->hosts, fenced_block, sizeof(corner->hosts));
}

void corner_fence(struct corner *corner, uint64_t *seed, uint32_t chips, uint32_t fibres)
{
	fenced_leave(corner->bench->ledger, corner->hosts_count, seed, chips, fibres);
}

/*
 * Reroute the circuits of a plan at random. If there are no other paths, the plan stays unchanged.
 */
static void scatter(struct corner *corner, struct morph_plan *plan, uint64_t *seed)
{
	struct morph_ledger *ledger = corner->bench->ledger;

	assert_true(ledger->sites.racks_count == 1);
	if (!fenced_scatter(ledger, plan, corner->detour, seed))
		assert_int_equal(morph_place(ledger, corner->bench->request, plan), 0);
}

void corner_ask(struct morph_request *request, uint64_t *seed)
{
	assert_int_equal(fenced_ask(request, seed), 0);
}

bool corner_add(struct corner *corner, uint64_t *seed)
{
	struct bench *bench = corner->bench;
	struct morph_plan *plan = corner->plans[corner->count];

	assert_int_equal(morph_place(bench->ledger, bench->request, plan), 0);
	if (morph_plan_verdict(plan) != MORPH_FEASIBLE)
		return false;
	if (plan->transit == MORPH_TRANSIT_ANY)
		scatter(corner, plan, seed);
	corner->count++;
	assert_int_equal(morph_ledger_take(bench->ledger, plan, corner->count), 0);
	assert_int_equal(morph_defrag_add(corner->defrag, plan, corner->count,
					  random_below(seed, 8) ? 0 : MORPH_DEFRAG_PINNED),
			 0);
	return true;
}

void corner_run(struct corner *corner, uint64_t *seed, uint32_t count)
{
	struct bench *bench = corner->bench;

	for (uint32_t tries = 0; tries < 2 * count && corner->count < count; tries++) {
		corner_ask(bench->request, seed);
		assert_true(bench->request->circuits_count < DEMANDS);
		assert_int_equal(
			morph_request_set_transit(bench->request, random_below(seed, 6) == 0), 0);
		corner_add(corner, seed);
	}
	assert_int_equal(morph_request_set_transit(bench->request, MORPH_TRANSIT_ANY), 0);
}

/* ---------------------------------------------------------------------- one detour */

void corner_keep_link(struct corner *corner, uint32_t from, uint32_t to, uint32_t count)
{
	struct morph_ledger *ledger = corner->bench->ledger;

	for (uint32_t at = 0; at < ledger->sites.strands_count && count; at++) {
		const struct strand *strand = &ledger->sites.strands[at];

		if (strand->from != from || strand->to != to || strand->guides_count > 1)
			continue;
		assert_int_equal(morph_ledger_load(ledger, strand->guides[0] >> 1, 0), 0);
		count--;
	}
	assert_int_equal(count, 0);
}

/* Add a free fibre of a link to a plan. */
static void add_strand(struct corner *corner, struct morph_plan *plan, uint32_t from, uint32_t to)
{
	struct morph_ledger *ledger = corner->bench->ledger;
	const struct strand *strand = ledger->sites.strands;

	while (strand->from != from || strand->to != to || !lm_strand_free(ledger, strand))
		strand++;
	lm_strand_hold(ledger, strand, true);
	assert_int_equal(lm_plan_add_strand(plan, strand), 0);
}

void corner_detours(struct corner *corner, uint32_t circuits, uint32_t away)
{
	struct bench *bench = corner->bench;
	struct morph_plan *plan = corner->plans[0];

	corner_choose(corner, 4);
	for (uint32_t at = 0; at < bench->ledger->graph->accelerators_count; at++)
		morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, at, at != 0 && at != 4);
	for (uint32_t at = 0; at < bench->ledger->graph->guides_count; at++)
		morph_ledger_load(bench->ledger, at, 1);
	corner_keep_link(corner, 0, 1, circuits);
	corner_keep_link(corner, 0, 2, away);
	corner_keep_link(corner, 2, 3, away);
	corner_keep_link(corner, 3, 1, away);
	assert_int_equal(morph_request_set_count(bench->request, 2), 0);
	for (uint32_t at = 0; at < circuits; at++)
		assert_int_equal(morph_request_add_circuit(bench->request, 0, 1), 0);
	assert_int_equal(placed(bench, plan), MORPH_FEASIBLE);
	plan->strands_count -= away;
	for (uint32_t at = circuits - away; at < circuits; at++) {
		plan->ways[at] = (struct circuit_way){ .first = plan->strands_count, .count = 3 };
		add_strand(corner, plan, 0, 2);
		add_strand(corner, plan, 2, 3);
		add_strand(corner, plan, 3, 1);
	}
	for (uint32_t at = circuits - away; at < plan->strands_count; at++)
		lm_strand_hold(bench->ledger, &plan->strands[at], false);
	assert_int_equal(morph_ledger_take(bench->ledger, plan, 7), 0);
	for (uint32_t chip = 8; chip <= 12; chip += 4)
		morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, chip, false);
	/* From the rank in server 2, with simplex or duplex circuits. */
	morph_request_set_simplex(bench->request, true);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 2, 1, 1), 0);
	for (uint32_t at = 1; at < away; at++)
		assert_int_equal(morph_request_add_circuit(bench->request, 0, 1), 0);
	assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
	assert_int_not_equal(morph_plan_verdict(bench->plan), MORPH_FEASIBLE);
}

void corner_detour(struct corner *corner, uint32_t circuits)
{
	corner_detours(corner, circuits, 1);
}

/* ------------------------------------------------------------------- begin and end */

void corner_begin(struct corner *corner, struct bench *bench)
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

/* End all slices, and forget those that ran. */
void corner_clear(struct corner *corner)
{
	morph_defrag_clear(corner->defrag);
	fenced_clear(corner->bench->ledger);
	corner->count = 0;
}

void corner_end(struct corner *corner)
{
	for (uint32_t at = 0; at < SLICES; at++)
		morph_plan_free(corner->plans[at]);
	morph_defrag_free(corner->defrag);
}

/* --------------------------------------------------------------------- checking */

static struct morph_check_bytes blob(void **to, ssize_t bytes)
{
	assert_true(bytes > 0);
	*to = malloc((size_t)bytes);
	assert_non_null(*to);
	return (struct morph_check_bytes){ *to, (size_t)bytes };
}

void answer_write(const struct corner *corner, struct answer *answer)
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

void answer_free(struct answer *answer)
{
	for (uint32_t at = 0; at < ARRAY_SIZE(answer->blobs); at++)
		free(answer->blobs[at]);
}

/* Solve, and check that the answer is valid. */
struct morph_defrag_result corner_solve(struct corner *corner, uint32_t objective)
{
	MORPH_OPTS(morph_defrag_opts, opts, .objective = objective);
	MORPH_OPTS(morph_defrag_result, result);
	struct answer answer;
	char report[256];

	if (morph_defrag_solve(corner->defrag, corner->bench->ledger, corner->bench->request, &opts,
			       &result))
		fail_msg("%s", morph_error_text(corner->bench->ctx));
	answer_write(corner, &answer);
	if (morph_check_defrag(&answer.input, report, sizeof(report)))
		fail_msg("%s", report);
	answer_free(&answer);
	return result;
}

/* Draw corners until moves satisfy a request that morph_place() refuses. */
bool corner_lacks_fibres(const struct corner *corner)
{
	const struct morph_plan *plan = corner->bench->plan;

	return morph_plan_verdict(plan) != MORPH_FEASIBLE &&
	       plan->refusals[0].reason != MORPH_WIRE_COUNT;
}

void corner_draw(struct corner *corner, uint64_t *seed)
{
	corner_clear(corner);
	corner_choose(corner, 4 + random_below(seed, 3));
	corner_fence(corner, seed, 1 + random_below(seed, 2), 2);
	corner_run(corner, seed, 1 + random_below(seed, 4));
	corner_ask(corner->bench->request, seed);
}

struct morph_defrag_result corner_satisfy(struct corner *corner, uint64_t *seed)
{
	struct bench *bench = corner->bench;

	for (;;) {
		struct morph_defrag_result result;
		uint32_t fibres;

		corner_clear(corner);
		corner_choose(corner, 4 + random_below(seed, 3));
		fibres = 1 + random_below(seed, 2);
		corner_fence(corner, seed, 1 + random_below(seed, 3), fibres);
		corner_run(corner, seed, 2 + random_below(seed, 4));
		corner_ask(bench->request, seed);
		assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
		if (!corner_lacks_fibres(corner))
			continue;
		result = corner_solve(corner, random_below(seed, 2));
		if (result.verdict == MORPH_FEASIBLE && result.moved)
			return result;
	}
}
