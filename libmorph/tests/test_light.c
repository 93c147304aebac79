// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From plans to transactions, on a real rack. The test follows each circuit guide by guide, as the
 * kernel does, and takes the resources inside servers, so that later slices find them used.
 */
#include "../internal/planner.h"
#include "../place/light.h"
#include "placing.h"

#define MOST_HOPS 64

/* A path of a transaction, followed guide by guide. */
struct followed {
	uint32_t fibres[MOST_HOPS], fibres_count;
};

static void claim(struct optics_state *state, uint32_t element, uint8_t from, uint8_t to)
{
	const struct optics_graph *graph = state->graph;
	const struct optics_kind *kind = &graph->kinds[graph->elements[element].kind];
	uint32_t at = 0;

	while (at < kind->states && optics_joined(graph, element, at, from) != to)
		at++;
	assert_true(at < kind->states);
	assert_true(!state->element_pins[element] || state->element_state[element] == at);
	optics_set_state(state, element, at);
	state->element_pins[element]++;
}

/* Each guide ends where the next begins; no resource is used twice. */
static struct followed follow(struct bench *bench, const struct morph_change *change)
{
	struct morph_ledger *ledger = bench->ledger;
	const struct optics_graph *graph = ledger->graph;
	const uint32_t *guides = (const void *)(uintptr_t)change->guides.ptr;
	struct followed followed = { .fibres_count = 0 };
	struct optics_end at = { .type = MORPH_END_TX };

	at.index = morph_plan_accelerator(bench->plan, change->src_rank);
	for (uint32_t hop = 0; hop < change->guides.count; hop++) {
		const struct optics_guide *guide = &graph->guides[guides[hop]];
		uint32_t end =
			guide->end[0].type == at.type && guide->end[0].index == at.index ? 0 : 1;

		assert_int_equal(guide->end[end].type, at.type);
		assert_int_equal(guide->end[end].index, at.index);
		if (hop)
			claim(ledger->state, at.index, at.port, guide->end[end].port);
		assert_int_equal(ledger->guide_lanes[guides[hop]] & change->lanes, 0);
		assert_false(ledger->guide_marked[guides[hop]]);
		morph_ledger_load(bench->ledger, guides[hop],
				  ledger->guide_lanes[guides[hop]] | change->lanes);
		if (guide->class == MORPH_GUIDE_FIBRE)
			followed.fibres[followed.fibres_count++] = guides[hop];
		at = guide->end[!end];
	}
	assert_int_equal(at.type, MORPH_END_RX);
	assert_int_equal(at.index, morph_plan_accelerator(bench->plan, change->dst_rank));
	return followed;
}

/* Follow all circuits of a transaction that lights bench->plan, and take its fibres. */
static void follow_all(struct bench *bench, const struct morph_txn *txn)
{
	struct morph_object *plan;

	assert_int_equal(morph_plan_describe(bench->plan, bench->ledger, &plan), 0);
	assert_int_equal(morph_txn_count(txn), morph_object_values(plan, "circuit"));
	for (uint32_t at = 0; at < txn->count; at++) {
		const struct morph_object *circuit = morph_object_nested_at(plan, "circuit", at);
		struct followed followed = follow(bench, &txn->changes[at]);

		assert_int_equal(txn->changes[at].src_rank, morph_object_uint(circuit, "src-rank"));
		assert_int_equal(txn->changes[at].dst_rank, morph_object_uint(circuit, "dst-rank"));
		assert_int_equal(__builtin_popcountll(txn->changes[at].lanes),
				 morph_object_uint(plan, "lanes-count"));
		assert_int_equal(followed.fibres_count, morph_object_values(circuit, "guide"));
		for (uint32_t hop = 0; hop < followed.fibres_count; hop++)
			assert_int_equal(followed.fibres[hop],
					 morph_object_uint_at(circuit, "guide", hop));
	}
	morph_object_free(plan);
}

/* A placed and lit slice, and the resources to release with it. */
struct lit {
	struct morph_txn *txn;
	uint32_t ranks, accelerators[RACK_ACCELERATORS];
};

static void darken(struct bench *bench, struct lit *lit)
{
	struct morph_ledger *ledger = bench->ledger;

	for (uint32_t at = 0; at < lit->txn->count; at++) {
		const struct morph_change *change = &lit->txn->changes[at];
		const uint32_t *guides = (const void *)(uintptr_t)change->guides.ptr;

		for (uint32_t hop = 0; hop < change->guides.count; hop++) {
			const struct optics_end *ends = ledger->graph->guides[guides[hop]].end;
			const struct optics_end *next =
				hop + 1 < change->guides.count ?
					ledger->graph->guides[guides[hop + 1]].end :
					NULL;

			morph_ledger_load(ledger, guides[hop],
					  ledger->guide_lanes[guides[hop]] & ~change->lanes);
			/* The element that both guides share. */
			for (uint32_t end = 0; next && end < 2; end++)
				if (ends[end].type == MORPH_END_ELEMENT &&
				    ((next[0].type == MORPH_END_ELEMENT &&
				      next[0].index == ends[end].index) ||
				     (next[1].type == MORPH_END_ELEMENT &&
				      next[1].index == ends[end].index)))
					ledger->state->element_pins[ends[end].index]--;
		}
	}
	for (uint32_t rank = 0; rank < lit->ranks; rank++)
		morph_ledger_hold(ledger, lit->accelerators[rank], 0);
	morph_txn_free(lit->txn);
	lit->txn = NULL;
}

/* Unusable fibres, or fibres kept for failover. */
static uint32_t kept(const struct morph_ledger *ledger)
{
	uint32_t count = 0;

	for (uint32_t guide = 0; guide < ledger->graph->guides_count; guide++)
		count += ledger->guide_kept[guide] != 0;
	return count;
}

/* Slices come, are lit, and go. */
static void placements_are_lit_on_their_fibres(void **state)
{
	struct bench *bench = *state;
	struct lit live[ACCELERATORS] = { 0 };
	uint32_t lit = 0, stuck = 0, again = 0;
	uint64_t seed = 11;

	for (uint32_t event = 0; event < 1000; event++) {
		struct lit *it = &live[random_below(&seed, ACCELERATORS)];
		int error;

		if (it->txn) {
			darken(bench, it);
			continue;
		}
		ask(bench->request, &seed);
		if (placed(bench, bench->plan) != MORPH_FEASIBLE)
			continue;
		it->txn = morph_txn_new(bench->ctx);
		error = morph_txn_add_plan(it->txn, bench->plan, bench->ledger);
		if (error) {
			assert_non_null(strstr(morph_error_text(bench->ctx), "found no path"));
			assert_int_equal(error, -EBUSY);
			assert_int_equal(morph_txn_count(it->txn), 0);
			stuck++;
			error = morph_txn_place(it->txn, bench->ledger, bench->request,
						bench->plan);
			again += !error;
			assert_int_equal(morph_plan_verdict(bench->plan), MORPH_FEASIBLE);
			assert_int_equal(kept(bench->ledger), 0);
		}
		if (error) {
			assert_int_equal(error, -EBUSY);
			assert_int_equal(morph_txn_count(it->txn), 0);
			morph_txn_free(it->txn);
			it->txn = NULL;
			continue;
		}
		lit++;
		follow_all(bench, it->txn);
		it->ranks = morph_plan_ranks(bench->plan);
		for (uint32_t rank = 0; rank < it->ranks; rank++) {
			it->accelerators[rank] = morph_plan_accelerator(bench->plan, rank);
			morph_ledger_hold(bench->ledger, it->accelerators[rank], event + 1);
		}
	}
	print_message("%u lit; %u without ways inside servers, %u of them by another plan\n", lit,
		      stuck, again);
	for (uint32_t at = 0; at < ACCELERATORS; at++)
		if (live[at].txn)
			darken(bench, &live[at]);
	assert_true(lit > 100);
	assert_true(100 * stuck <= 2 * lit);
	assert_true(again > 0);
}

static void a_torus_that_fills_the_rack_is_lit(void **state)
{
	struct bench *bench = *state;
	struct morph_txn *txn = morph_txn_new(bench->ctx);

	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 4, 4, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_txn_add_plan(txn, bench->plan, bench->ledger), 0);
	assert_int_equal(morph_txn_count(txn), 384);
	follow_all(bench, txn);
	morph_txn_free(txn);
}

/* ------------------------------------------------------------- what stays the same */

static void the_ledger_stays_as_it_was(void **state)
{
	struct bench *bench = *state;
	size_t bytes = optics_state_bytes(bench->ledger->graph);
	struct morph_txn *first = morph_txn_new(bench->ctx), *second = morph_txn_new(bench->ctx);
	size_t written = (size_t)morph_ledger_write(bench->ledger, NULL, 0);
	uint8_t *before = malloc(written), *after = malloc(written), *states = malloc(bytes);

	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 4, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	morph_ledger_write(bench->ledger, before, written);
	assert_int_equal(morph_txn_add_plan(first, bench->plan, bench->ledger), 0);
	memcpy(states, bench->ledger->state->element_state, bench->ledger->graph->elements_count);
	assert_int_equal(morph_txn_add_plan(second, bench->plan, bench->ledger), 0);
	morph_ledger_write(bench->ledger, after, written);
	assert_memory_equal(before, after, written);
	assert_memory_equal(states, bench->ledger->state->element_state,
			    bench->ledger->graph->elements_count);
	for (uint32_t at = 0; at < bench->ledger->graph->elements_count; at++)
		assert_int_equal(bench->ledger->state->element_pins[at], 0);
	/* Therefore the results are equal. */
	assert_int_equal(first->count, second->count);
	for (uint32_t at = 0; at < first->count; at++) {
		assert_int_equal(first->changes[at].guides.count, second->changes[at].guides.count);
		assert_memory_equal((void *)(uintptr_t)first->changes[at].guides.ptr,
				    (void *)(uintptr_t)second->changes[at].guides.ptr,
				    4 * first->changes[at].guides.count);
	}
	morph_txn_free(first);
	morph_txn_free(second);
	free(before);
	free(after);
	free(states);
}

static void a_plan_that_can_t_be_lit_leaves_the_transaction(void **state)
{
	struct bench *bench = *state;
	struct morph_txn *txn = morph_txn_new(bench->ctx);

	assert_int_equal(morph_txn_add_plan(txn, bench->plan, bench->ledger), -EINVAL);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	/* Rank 5 cannot send: no light passes the elements beside its lasers. */
	for (uint32_t plane = 0; plane < bench->ledger->graph->params.planes; plane++) {
		const struct optics_graph *graph = bench->ledger->graph;
		uint32_t port =
			morph_plan_accelerator(bench->plan, 5) * graph->params.planes + plane;
		uint32_t code = graph->tx_guide[port];

		assert_int_equal(morph_ledger_mark(bench->ledger, MORPH_PART_ELEMENT,
						   graph->guides[code >> 1].end[!(code & 1)].index,
						   true),
				 0);
	}
	assert_int_equal(morph_txn_remove(txn, 7), 0);
	assert_int_equal(morph_txn_add_plan(txn, bench->plan, bench->ledger), -EBUSY);
	assert_non_null(strstr(morph_error_text(bench->ctx), "from rank 5 "));
	assert_int_equal(morph_txn_count(txn), 1);
	morph_txn_free(txn);
}

/* No rank can send: all plans fail, and the report has the first plan and its reason. */
static void if_no_plan_can_be_lit_the_first_is_reported(void **state)
{
	struct bench *bench = *state;
	struct morph_txn *txn = morph_txn_new(bench->ctx);
	const struct optics_graph *graph = bench->ledger->graph;

	for (uint32_t port = 0; port < graph->ports_count; port++) {
		uint32_t code = graph->tx_guide[port];

		assert_int_equal(morph_ledger_mark(bench->ledger, MORPH_PART_ELEMENT,
						   graph->guides[code >> 1].end[!(code & 1)].index,
						   true),
				 0);
	}
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_txn_place(txn, bench->ledger, bench->request, bench->plan), -EBUSY);
	assert_non_null(strstr(morph_error_text(bench->ctx), "found no path"));
	assert_int_equal(morph_plan_verdict(bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_txn_count(txn), 0);
	assert_int_equal(kept(bench->ledger), 0);
	/*
	 * After all fibres have been removed one by one there is no plan. The answer is the one
	 * before.
	 */
	for (uint32_t at = 0; at < ACCELERATORS; at++)
		assert_int_equal(morph_ledger_hold(bench->ledger, at, at == 0 || at == 4 ? 0 : 1),
				 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_MESH, 2, 1, 1), 0);
	assert_int_equal(morph_txn_place(txn, bench->ledger, bench->request, bench->plan), -EBUSY);
	assert_int_equal(morph_plan_verdict(bench->plan), MORPH_FEASIBLE);
	assert_int_equal(kept(bench->ledger), 0);
	/* An impossible request is refused as usual. */
	assert_int_equal(morph_request_set_count(bench->request, 65), 0);
	assert_int_equal(morph_txn_place(txn, bench->ledger, bench->request, bench->plan), 0);
	assert_int_equal(morph_plan_verdict(bench->plan), MORPH_INFEASIBLE);
	morph_txn_free(txn);
}

/*
 * The router finds paths that are free and bright enough. Only the judge finds paths that are too
 * bright.
 */
static void plans_refused_by_the_validator_are_not_lit(void **state)
{
	struct bench *bench = *state;
	struct morph_txn *txn = morph_txn_new(bench->ctx);
	struct optics_graph *graph = (struct optics_graph *)(uintptr_t)bench->ledger->graph;
	int32_t most = graph->params.overload_mdbm;

	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_txn_remove(txn, 7), 0);
	graph->params.overload_mdbm = graph->params.sensitivity_mdbm;
	assert_true(morph_txn_add_plan(txn, bench->plan, bench->ledger) < 0);
	assert_non_null(strstr(morph_error_text(bench->ctx), "circuit 0 of the plan: "));
	assert_int_equal(morph_txn_count(txn), 1);
	graph->params.overload_mdbm = most;
	assert_int_equal(morph_txn_add_plan(txn, bench->plan, bench->ledger), 0);
	morph_txn_free(txn);
}

/* ------------------------------------------------------------------------ moves */

/* The only circuit of bench->plan as it is lit, and as it will be on another fibre. */
static void light_one(const struct bench *bench, struct lighting *lighting, struct wanted *wanted)
{
	struct morph_plan *plan = bench->plan;

	*wanted = (struct wanted){ .ranks = plan->circuits[0],
				   .src = plan->accelerators[0],
				   .dst = plan->accelerators[1],
				   .lanes = plan->lanes,
				   .among = bench->ledger->graph->all_lanes,
				   .strands = plan->strands,
				   .count = 1,
				   .old = wanted->old };
	*lighting = (struct lighting){
		.ledger = bench->ledger, .owner = LIGHT_OWNER, .wanted = wanted, .count = 1
	};
	assert_int_equal(lm_light_room(lighting, 1), 0);
	assert_int_equal(lm_light(lighting), 0);
	assert_true(lighting->paths[0].hops_count > 2);
}

/*
 * Light the new path beside the old one if a laser is free. Otherwise report that the circuit goes
 * dark.
 */
static void try_move(struct bench *bench, bool lasers)
{
	struct lighting before, after;
	struct wanted wanted = { .old = NULL };
	struct light_before state;
	struct morph_ledger *ledger = bench->ledger;
	const struct optics_graph *graph = ledger->graph;
	uint32_t first = bench->plan->accelerators[0] * graph->params.planes;

	assert_int_equal(lm_ledger_state(ledger), 0);
	assert_int_equal(lm_light_begin(ledger, bench->plan, &state), 0);
	light_one(bench, &before, &wanted);
	assert_false(wanted.dark);
	for (uint32_t plane = 0; plane < graph->params.planes; plane++)
		ledger->state->tx_dead[first + plane] =
			lasers || first + plane == before.paths[0].tx ? 0 : graph->all_lanes;
	wanted.old = &before.paths[0];
	light_one(bench, &after, &wanted);
	assert_int_equal(wanted.dark, !lasers);
	assert_int_equal(after.paths[0].tx == before.paths[0].tx, !lasers);
	/* Of both paths, the new one is lit. */
	for (uint32_t plane = 0; plane < graph->params.planes; plane++)
		assert_int_equal(ledger->state->tx_lanes[first + plane],
				 first + plane == after.paths[0].tx ? after.paths[0].lanes : 0);
	memset(&ledger->state->tx_dead[first], 0,
	       graph->params.planes * sizeof(*ledger->state->tx_dead));
	lm_light_end(ledger, &state);
	lm_light_free(&before);
	lm_light_free(&after);
}

static void circuits_without_a_second_laser_move_dark(void **state)
{
	struct bench *bench = *state;

	for (uint32_t at = 0; at < ACCELERATORS; at++)
		morph_ledger_hold(bench->ledger, at, at != 3 && at != 4);
	assert_int_equal(morph_request_set_count(bench->request, 2), 0);
	assert_int_equal(morph_request_add_circuit(bench->request, 0, 1), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	try_move(bench, true);
	try_move(bench, false);
}

/* ------------------------------------------------------------------ descriptions */

static void a_feasible_plan_is_described(void **state)
{
	struct bench *bench = *state;
	struct morph_object *plan;
	char *text;

	for (uint32_t at = 0; at < ACCELERATORS; at++)
		morph_ledger_hold(bench->ledger, at, at != 3 && at != 4);
	morph_request_set_simplex(bench->request, true);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 2, 1, 1), 0);
	assert_int_equal(morph_plan_describe(bench->plan, bench->ledger, &plan), -EINVAL);
	assert_null(plan);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_describe(bench->plan, bench->ledger, &plan), 0);
	assert_string_equal(morph_object_text(plan, "verdict"), "feasible");
	assert_null(morph_object_text(plan, "text"));
	assert_int_equal(morph_object_uint(plan, "servers"), 2);
	assert_int_equal(morph_object_uint(plan, "servers-bound"), 2);
	assert_int_equal(morph_object_uint(plan, "fibres"), 1);
	assert_int_equal(morph_object_uint(plan, "fibres-bound"), 1);
	text = fake_print(morph_object_nested_at(plan, "rank", 1));
	assert_string_equal(text, "plan-rank{rank=1 accelerator=4 host=1}");
	free(text);
	text = fake_print(morph_object_nested_at(plan, "load", 0));
	assert_string_equal(text, "plan-load{src-host=0 dst-host=1 fibres=1 free=8}");
	free(text);
	morph_object_free(plan);
}

static void a_refusal_is_described_with_its_cuts(void **state)
{
	struct bench *bench = *state;
	const struct morph_object *refusal;
	struct morph_object *plan;
	uint64_t seed = 6;

	hold_every_other_server(bench);
	hold_fibres(bench, &seed, 60);
	assert_int_equal(morph_request_set_servers(bench->request, MORPH_SERVERS_WHOLE), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 4, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	assert_int_equal(morph_plan_describe(bench->plan, bench->ledger, &plan), 0);
	assert_string_equal(morph_object_text(plan, "verdict"), "infeasible");
	assert_string_equal(morph_object_text(plan, "text"), morph_plan_why(bench->plan));
	assert_int_equal(morph_object_values(plan, "refusal"), 1);
	refusal = morph_object_nested_at(plan, "refusal", 0);
	assert_string_equal(morph_object_text(refusal, "reason"), "cuts");
	assert_int_equal(morph_object_uint(refusal, "have"), 32);
	assert_true(morph_object_values(refusal, "cut") > 0);
	assert_true(morph_object_values(morph_object_nested_at(refusal, "cut", 0), "host") > 0);
	assert_false(morph_object_has(plan, "rank"));
	morph_object_free(plan);
}

/* The only refusal of a plan, as a description. */
static void refused(struct bench *bench, uint32_t verdict, const char *reason, const char *text)
{
	const struct morph_object *refusal;
	struct morph_object *plan;

	assert_int_equal(placed(bench, bench->plan), verdict);
	assert_int_equal(morph_plan_describe(bench->plan, bench->ledger, &plan), 0);
	assert_int_equal(morph_object_values(plan, "refusal"), 1);
	refusal = morph_object_nested_at(plan, "refusal", 0);
	assert_string_equal(morph_object_text(refusal, "reason"), reason);
	assert_string_equal(morph_object_text(refusal, "text"), text);
	morph_object_free(plan);
}

static void refusals_are_described_by_their_reason(void **state)
{
	struct bench *bench = *state;
	uint64_t seed = 6;

	hold_every_other_server(bench);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 3, 4, 3), 0);
	refused(bench, MORPH_INFEASIBLE, "count", "not enough accelerators: 36 requested, 32 free");
	hold_fibres(bench, &seed, 60);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 4, 4), 0);
	morph_request_set_budget(bench->request, 1);
	refused(bench, MORPH_UNDECIDED, "doubt",
		"enough accelerators are free; nothing was found, and nothing is proven");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(placements_are_lit_on_their_fibres),
		TEST(a_torus_that_fills_the_rack_is_lit),
		TEST(the_ledger_stays_as_it_was),
		TEST(a_plan_that_can_t_be_lit_leaves_the_transaction),
		TEST(if_no_plan_can_be_lit_the_first_is_reported),
		TEST(plans_refused_by_the_validator_are_not_lit),
		TEST(circuits_without_a_second_laser_move_dark),
		TEST(a_feasible_plan_is_described),
		TEST(a_refusal_is_described_with_its_cuts),
		TEST(refusals_are_described_by_their_reason),
#undef TEST
	};

	return placing_run(argc, argv, "light", tests, ARRAY_SIZE(tests));
}
