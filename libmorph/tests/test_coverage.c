// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Coverage, on the profile of the rack from the command line. The results equal exact values where
 * routes are no limit. After each event, the ledger equals the resources of the circuits.
 */
#include <math.h>

#include "../internal/planner.h"
#include "../internal/client.h"
#include "../bench/electrical.h"
#include "../bench/random.h"
#include "../bench/tori.h"
#include "../protect/coverage.h"
#include "fake.h"
#include "faults.h"

#define REPAIR 1000000

static const char *profile;
static struct morph_ctx *ctx;
static struct morph_model *model;
static struct morph_coverage *coverage;

static int begin(void **state)
{
	(void)state;
	ctx = fake_ctx(&fake_new()->transport);
	if (morph_model_load(ctx, profile, &model))
		fail_msg("%s", morph_error_text(ctx));
	coverage = morph_coverage_new(ctx, model);
	assert_non_null(coverage);
	return 0;
}

static int end(void **state)
{
	(void)state;
	morph_coverage_free(coverage);
	morph_model_put(model);
	morph_ctx_free(ctx);
	return 0;
}

static void good(int error)
{
	if (error < 0)
		fail_msg("%s", morph_error_text(ctx));
}

static void fails(uint32_t part, double share)
{
	good(morph_coverage_set_rate(coverage, part, (uint64_t)(REPAIR * (1 - share) / share),
				     REPAIR));
}

static void light(uint32_t x, uint32_t y, uint32_t z, uint32_t from_x)
{
	const struct tori_box box = { .at = { from_x, 0, 0 }, .extent = { x, y, z } };

	good(tori_light(coverage, &box));
}

static void keep_spares(uint32_t count)
{
	const uint32_t spares[8] = { 64, 65, 66, 67, 68, 69, 70, 71 };

	good(morph_coverage_set_spares(coverage, spares, count));
}

/* ------------------------------------------------------------- exact figures */

static void times_without_a_spare_are_as_exactly_known(void **state)
{
	MORPH_OPTS(morph_coverage_opts, opts, .seed = 1, .replications = 12, .failures = 150);
	MORPH_OPTS(morph_coverage_result, result);
	struct morph_risk *risk = morph_risk_new(ctx);
	double exact;

	(void)state;
	good(tori_light_ring(coverage));
	keep_spares(4);
	fails(MORPH_COVERAGE_ACCELERATOR, 0.02);
	fails(MORPH_COVERAGE_SERVER, 0.003);
	fails(MORPH_COVERAGE_SUPPLY, 0.002);
	good(morph_coverage_add_supply(coverage, (const uint32_t[]){ 0, 1 }, 2));
	for (uint32_t server = 0; server < 17; server++)
		good(morph_risk_add_server(risk, 4, 0.02, 0.003));
	good(morph_risk_add_shared(risk, (const uint32_t[]){ 0, 1 }, 2, 0.002));
	good(morph_risk_solve(risk));
	exact = morph_risk_at_least(risk, 5);
	good(morph_coverage_run(coverage, &opts, &result));
	assert_true(result.counted_waiting.low <= exact && exact <= result.counted_waiting.high);
	assert_true(result.counted_waiting.high < 2 * exact);
	/* A single lane finds a path to each spare. */
	assert_int_equal(result.no_route + result.no_margin + result.gave_up, 0);
	assert_true(fabs(result.waiting.mean - result.counted_waiting.mean) < 1e-12);
	morph_risk_free(risk);
}

/*
 * The exact probability that the number of down accelerators, of 64 and the spares, exceeds the
 * number of spares.
 */
static double exactly_short(uint32_t spares, double share)
{
	struct morph_risk *risk = morph_risk_new(ctx);
	double short_of;

	for (uint32_t server = 0; server < TORI_CHIPS / 4; server++)
		good(morph_risk_add_server(risk, 4, share, 0));
	if (spares)
		good(morph_risk_add_server(risk, spares, share, 0));
	good(morph_risk_solve(risk));
	short_of = morph_risk_at_least(risk, spares + 1);
	morph_risk_free(risk);
	return short_of;
}

/*
 * With the number of spares that suffices for 95 % of the time, at the middle of each published
 * range.
 */
static void published_ranges_are_as_exactly_known(void **state)
{
	static const double shares[] = { 0.005, 0.02, 0.04 };

	(void)state;
	good(tori_light_ring(coverage));
	for (size_t at = 0; at < ARRAY_SIZE(shares); at++) {
		MORPH_OPTS(morph_coverage_opts, opts, .seed = 1, .failures = 200);
		MORPH_OPTS(morph_coverage_result, result);
		uint32_t spares = 0;
		double exact;

		while (exactly_short(spares, shares[at]) > 0.05)
			spares++;
		exact = exactly_short(spares, shares[at]);
		keep_spares(spares);
		fails(MORPH_COVERAGE_ACCELERATOR, shares[at]);
		good(morph_coverage_run(coverage, &opts, &result));
		if (exact < result.counted_waiting.low || exact > result.counted_waiting.high)
			fail_msg("%u spares, %g: %g is not in %g to %g", spares, shares[at], exact,
				 result.counted_waiting.low, result.counted_waiting.high);
		assert_true(result.counted_waiting.high < 2 * exact);
		assert_true(fabs(result.waiting.mean - result.counted_waiting.mean) < 1e-12);
	}
}

/*
 * From a healthy rack a single failure would never exhaust the spares. (Before this failure there
 * are only repairs, so the probability is smaller than over a long time.)
 */
static void replications_begin_with_the_mean_number_of_failures(void **state)
{
	MORPH_OPTS(morph_coverage_opts, opts, .seed = 1, .replications = 200, .failures = 1);
	MORPH_OPTS(morph_coverage_result, result);

	(void)state;
	good(tori_light_ring(coverage));
	keep_spares(4);
	fails(MORPH_COVERAGE_ACCELERATOR, 0.05);
	good(morph_coverage_run(coverage, &opts, &result));
	assert_true(result.counted_waiting.low > 0.05);
}

static void each_spare_replaces_one_accelerator(void **state)
{
	const uint32_t failed[] = { 5, 17, 63, 40 };

	(void)state;
	good(tori_light_ring(coverage));
	for (uint32_t spares = 0; spares <= 4; spares++) {
		MORPH_OPTS(morph_coverage_result, result);

		keep_spares(spares);
		good(morph_coverage_try(coverage, failed, 4, &result));
		assert_int_equal(result.failures, 4);
		assert_int_equal(result.replaced, spares);
		assert_int_equal(result.no_spare, 4 - spares);
		assert_true(fabs(result.counted.mean - spares / 4.0) < 1e-12);
		assert_true((result.waiting.mean > 0) == (spares < 4));
	}
}

/* --------------------------------------------------------------- real routes */

/* Another router, in profiles/testspares.py, finds the same for this profile. */
static void each_accelerator_of_a_full_torus_is_replaced(void **state)
{
	(void)state;
	light(4, 4, 4, 0);
	for (uint32_t chip = 0; chip < TORI_CHIPS; chip++) {
		MORPH_OPTS(morph_coverage_result, result);

		good(morph_coverage_try(coverage, &chip, 1, &result));
		assert_int_equal(result.replaced, 1);
		assert_int_equal(result.moved, 12);
		assert_true(result.bandwidth.mean >= 1);
		assert_true(result.extra_fibres > 0 && result.least_margin_mdb >= 3000);
	}
}

/*
 * Eight spares, and eight failures of two servers. By number alone, all failures would be covered.
 */
static void spares_that_no_light_gets_to_do_not_count(void **state)
{
	const uint32_t failed[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	MORPH_OPTS(morph_coverage_result, result);

	(void)state;
	light(4, 4, 4, 0);
	good(morph_coverage_try(coverage, failed, 8, &result));
	assert_int_equal(result.failures, 8);
	assert_true(result.counted.mean >= 1);
	assert_int_equal(result.no_spare, 0);
	assert_true(result.replaced < 8 && result.replaced >= 4);
	assert_int_equal(result.no_route + result.no_margin + result.gave_up, 8 - result.replaced);
	assert_true(result.bandwidth.mean < 1);
}

/* Four accelerators are down. Light of the fifth would arrive at each remaining spare too weak. */
static void spares_that_light_gets_to_too_weak_do_not_count(void **state)
{
	const uint32_t failed[] = { 10, 41, 52, 43, 56 };
	MORPH_OPTS(morph_coverage_result, result);

	(void)state;
	light(4, 4, 4, 0);
	good(morph_coverage_try(coverage, failed, 5, &result));
	assert_int_equal(result.replaced, 4);
	assert_int_equal(result.no_margin, 1);
	assert_int_equal(result.no_route, 0);
	assert_true(result.least_margin_mdb >= 3000);
}

static void revertive_switching_covers_more(void **state)
{
	MORPH_OPTS(morph_coverage_result, stays);
	MORPH_OPTS(morph_coverage_result, goes_back);
	MORPH_OPTS(morph_coverage_opts, opts, .replications = 2, .failures = 25, .steps = 2048);

	(void)state;
	light(4, 4, 4, 0);
	fails(MORPH_COVERAGE_ACCELERATOR, 0.02);
	good(morph_coverage_run(coverage, &opts, &stays));
	opts.revertive = true;
	good(morph_coverage_run(coverage, &opts, &goes_back));
	assert_true(goes_back.covered.mean > stays.covered.mean);
	assert_true(goes_back.counted.mean >= 1);
}

/* -------------------------------------------------------------- the ledger */

static uint64_t lanes[1 << 14];
static uint32_t pins[1 << 13];

/* The ledger contains the resources of the circuits exactly once, and nothing else. */
static void check_ledger(void)
{
	const struct optics_graph *graph = coverage->graph;
	uint64_t lit = 0;

	memset(lanes, 0, sizeof(lanes));
	memset(pins, 0, sizeof(pins));
	for (uint32_t at = 0; at < coverage->circuits_count; at++) {
		const struct cover_circuit *circuit = &coverage->circuits[at];

		for (uint32_t hop = 0; circuit->held && hop < circuit->path.hops_count; hop++) {
			uint32_t guide = circuit->hops[hop].guide >> 1;

			if (lanes[guide] & circuit->path.lanes)
				fail_msg("guide %u carries a lane twice", guide);
			lanes[guide] |= circuit->path.lanes;
			if (circuit->hops[hop].element != OPTICS_NONE)
				pins[circuit->hops[hop].element]++;
		}
		lit += circuit->lit ? circuit->lanes : 0;
	}
	assert_int_equal(lit, coverage->lit);
	assert_memory_equal(lanes, coverage->state->guide_lanes,
			    graph->guides_count * sizeof(lanes[0]));
	assert_memory_equal(pins, coverage->state->element_pins,
			    graph->elements_count * sizeof(pins[0]));
}

/* Lit circuits join the accelerators of their ranks, and pass no failed part. */
static void check_light(void)
{
	uint32_t planes = coverage->graph->params.planes;

	for (uint32_t at = 0; at < coverage->circuits_count; at++) {
		const struct cover_circuit *circuit = &coverage->circuits[at];
		uint32_t src = coverage->ranks[circuit->src].accelerator;
		uint32_t dst = coverage->ranks[circuit->dst].accelerator;

		if (!circuit->lit)
			continue;
		assert_int_equal(circuit->path.tx / planes, src);
		assert_int_equal(circuit->path.rx / planes, dst);
		assert_int_equal(coverage->chips[src].causes + coverage->chips[dst].causes, 0);
		assert_int_equal(coverage->state->tx_dead[circuit->path.tx], 0);
		for (uint32_t hop = 0; hop < circuit->path.hops_count; hop++) {
			uint32_t element = circuit->hops[hop].element;

			if (coverage->state->guide_marks[circuit->hops[hop].guide >> 1] ||
			    (element != OPTICS_NONE && coverage->state->element_marks[element]))
				fail_msg("circuit %u is lit through a failed part", at);
		}
	}
	for (uint32_t chip = 0; chip < coverage->graph->accelerators_count; chip++) {
		uint32_t rank = coverage->chips[chip].rank;

		assert_int_equal(coverage->state->owner[chip],
				 rank == COVER_NONE ? 0 : coverage->ranks[rank].slice + 1);
	}
	for (uint32_t rank = 0; rank < coverage->ranks_count; rank++) {
		uint32_t chip = coverage->ranks[rank].accelerator;

		assert_int_equal(coverage->chips[chip].rank, rank);
		assert_int_equal(coverage->ranks[rank].failed, coverage->chips[chip].causes > 0);
	}
}

/* The judge accepts all lit circuits, also with other tenants' light. */
static void check_judged(void)
{
	const struct optics_view view = optics_state_view(coverage->state);
	struct optics_refusal refusal;

	for (uint32_t at = 0; at < coverage->circuits_count; at++) {
		const struct cover_circuit *circuit = &coverage->circuits[at];

		if (circuit->lit)
			assert_int_equal(optics_validate(&view, &circuit->path, 1,
							 coverage->ranks[circuit->src].slice + 1,
							 false, NULL, &refusal),
					 0);
	}
}

static void check_events(bool revertive)
{
	MORPH_OPTS(morph_coverage_opts, opts, .replications = 2, .failures = 1,
		   .revertive = revertive, .steps = 512);
	MORPH_OPTS(morph_coverage_result, result);
	uint64_t random = 7;

	/* The run leaves all parts healthy and lit, and the list of parts that can fail. */
	good(morph_coverage_run(coverage, &opts, &result));
	for (uint32_t at = 0; at < coverage->things_count; at++)
		coverage->things[at].down = false;
	for (uint32_t event = 0; event < 40; event++) {
		uint32_t at = random_below(&random, coverage->things_count);
		struct cover_thing *thing = &coverage->things[at];

		lm_cover_change(coverage, thing, !thing->down);
		check_ledger();
		check_light();
		if (event % 8 == 7)
			check_judged();
	}
	/* Repair all parts, and light all circuits. */
	for (uint32_t at = 0; at < coverage->things_count; at++)
		if (coverage->things[at].down)
			lm_cover_change(coverage, &coverage->things[at], false);
	check_ledger();
	check_light();
	assert_int_equal(coverage->down, 0);
	if (revertive)
		assert_int_equal(coverage->lit, coverage->wanted);
}

static void ledgers_hold_the_claims_of_circuits(void **state)
{
	(void)state;
	light(2, 4, 4, 0);
	light(2, 4, 4, 2);
	for (uint32_t part = 0; part < MORPH_COVERAGE_PARTS; part++)
		fails(part, part == MORPH_COVERAGE_LASER ? 0.0001 : 0.001);
	good(morph_coverage_add_supply(coverage, (const uint32_t[]){ 3, 7 }, 2));
	check_events(false);
	check_events(true);
}

/* Repairs in a torus that fills the rack. */
static void repairs_darken_nothing(void **state)
{
	MORPH_OPTS(morph_coverage_opts, opts, .replications = 2, .failures = 1, .revertive = true,
		   .steps = 512);
	MORPH_OPTS(morph_coverage_result, result);
	uint64_t random = 3;

	(void)state;
	light(4, 4, 4, 0);
	fails(MORPH_COVERAGE_ACCELERATOR, 0.001);
	good(morph_coverage_run(coverage, &opts, &result));
	for (uint32_t at = 0; at < coverage->things_count; at++)
		coverage->things[at].down = false;
	for (uint32_t event = 0; event < 60; event++) {
		uint64_t before;

		while (coverage->down < 9) {
			uint32_t at = random_below(&random, coverage->things_count);

			if (!coverage->things[at].down)
				lm_cover_change(coverage, &coverage->things[at], true);
		}
		before = coverage->lit;
		for (;;) {
			uint32_t at = random_below(&random, coverage->things_count);

			if (!coverage->things[at].down)
				continue;
			lm_cover_change(coverage, &coverage->things[at], false);
			break;
		}
		assert_true(coverage->lit >= before);
	}
}

/* All fibres are down except those of one path that passes each server. */
static void leave_one_path(bool only)
{
	static const uint8_t path[] = { 0, 4, 8, 12, 14, 10, 6, 2, 3, 7, 11, 15, 13, 9, 5, 1 };
	const struct hosts *hosts = &coverage->hosts;

	for (uint32_t at = 0; at < hosts->bundles_count; at++) {
		const struct bundle *bundle = &hosts->bundles[at];
		bool along = false;

		for (uint32_t step = 0; step + 1 < ARRAY_SIZE(path); step++)
			along |= (bundle->nodes[0] == path[step] &&
				  bundle->nodes[1] == path[step + 1]) ||
				 (bundle->nodes[1] == path[step] &&
				  bundle->nodes[0] == path[step + 1]);
		for (uint32_t fibre = bundle->first; fibre < bundle[1].first; fibre++)
			coverage->state->guide_marks[hosts->fibres[fibre]] =
				only && !along ? OPTICS_UNHEALTHY : 0;
	}
}

static void light_that_comes_too_weak_holds_nothing(void **state)
{
	MORPH_OPTS(morph_coverage_circuit, circuit, .src = 0, .dst = 1, .plane = 1);

	(void)state;
	/* The first server, and the server ten fibres along the path. */
	assert_int_equal(morph_coverage_add_slice(coverage, (const uint32_t[]){ 0, 44 }, 2), 0);
	leave_one_path(true);
	assert_int_equal(morph_coverage_add_circuit(coverage, 0, &circuit), -ERANGE);
	assert_non_null(strstr(morph_error_text(ctx), optics_reason_text(OPTICS_MARGIN)));
	leave_one_path(false);
	check_ledger();
	good(morph_coverage_add_circuit(coverage, 0, &circuit));
}

static struct cover_thing *thing_of(uint32_t part, uint32_t index)
{
	for (uint32_t at = 0; at < coverage->things_count; at++)
		if (coverage->things[at].part == part && coverage->things[at].index == index)
			return &coverage->things[at];
	fail_msg("part %u %u cannot fail", part, index);
	return NULL;
}

static void parts_with_two_causes_stay_down_until_both_end(void **state)
{
	MORPH_OPTS(morph_coverage_result, result);
	struct cover_thing *server, *supply;
	uint32_t element;

	(void)state;
	good(tori_light_ring(coverage));
	fails(MORPH_COVERAGE_SERVER, 0.001);
	fails(MORPH_COVERAGE_SUPPLY, 0.001);
	good(morph_coverage_add_supply(coverage, (const uint32_t[]){ 3, 7 }, 2));
	good(morph_coverage_try(coverage, NULL, 0, &result));
	element = coverage->hosts.elements[coverage->hosts.first_element[3]];
	server = thing_of(MORPH_COVERAGE_SERVER, 3);
	supply = thing_of(MORPH_COVERAGE_SUPPLY, 0);
	lm_cover_change(coverage, supply, true);
	lm_cover_change(coverage, server, true);
	assert_int_equal(coverage->down, 8);
	lm_cover_change(coverage, server, false);
	assert_int_equal(coverage->down, 8);
	assert_int_equal(coverage->state->element_marks[element], OPTICS_UNHEALTHY);
	lm_cover_change(coverage, supply, false);
	assert_int_equal(coverage->down, 0);
	assert_int_equal(coverage->state->element_marks[element], 0);
}

static void runs_leave_no_trace_and_repeat(void **state)
{
	MORPH_OPTS(morph_coverage_opts, opts, .seed = 3, .replications = 2, .failures = 20,
		   .revertive = true);
	struct morph_coverage_result results[3];
	const uint32_t failed[] = { 9, 30, 31 };

	(void)state;
	light(2, 4, 4, 0);
	fails(MORPH_COVERAGE_ACCELERATOR, 0.03);
	fails(MORPH_COVERAGE_BUNDLE, 0.01);
	memset(results, 0, sizeof(results));
	for (int at = 0; at < 3; at++) {
		results[at].sz = sizeof(results[at]);
		opts.seed = at == 2 ? 4 : 3;
		good(morph_coverage_run(coverage, &opts, &results[at]));
	}
	assert_memory_equal(&results[0], &results[1], sizeof(results[0]));
	assert_memory_not_equal(&results[0], &results[2], sizeof(results[0]));
	for (int at = 0; at < 2; at++) {
		good(morph_coverage_try(coverage, failed, 3, &results[at]));
		good(morph_coverage_run(coverage, &opts, &results[2]));
	}
	assert_memory_equal(&results[0], &results[1], sizeof(results[0]));
}

/* ------------------------------------------------------------------- servers */

/* Shortest distance in the grid of servers, with rings of two, two and four. */
static uint32_t grid_distance(uint32_t one, uint32_t other)
{
	uint32_t z = (one / 4 + 4 - other / 4) % 4;

	return ((one ^ other) & 1) + ((one ^ other) >> 1 & 1) + (z == 3 ? 1 : z);
}

/* The same with a shorter path over a spare server. */
static uint32_t rack_distance(uint32_t one, uint32_t other)
{
	static const uint32_t joined[2][5] = { { 0, 1, 4, 8, 12 }, { 0, 2, 6, 10, 14 } };
	uint32_t best = grid_distance(one, other);

	for (uint32_t at = 0; at < 2 * 5 * 5; at++) {
		const uint32_t *spare = joined[at / 25];
		uint32_t by = grid_distance(one, spare[at / 5 % 5]) + 2 +
			      grid_distance(spare[at % 5], other);

		best = by < best ? by : best;
	}
	return best;
}

static void fibres_join_the_servers_of_the_rack(void **state)
{
	const struct hosts *hosts = &coverage->hosts;
	uint32_t distances[18], queue[18];

	(void)state;
	assert_int_equal(hosts->nodes_count, 18);
	/* 32 fibres of the torus, and five of each spare server. */
	assert_int_equal(hosts->bundles_count, 42);
	assert_int_equal(hosts->first_element[18], coverage->graph->elements_count);
	for (uint32_t from = 0; from < 16; from++) {
		lm_hosts_distances(hosts, from, distances, queue);
		for (uint32_t to = 0; to < 16; to++)
			assert_int_equal(distances[to], rack_distance(from, to));
	}
}

/* One slice fills a rack. Its first half alone finds links without a user. */
static void electrical_detours_halve_some_link(void **state)
{
	uint32_t slice[TORI_CHIPS], links = 0;

	(void)state;
	for (uint32_t chip = 0; chip < TORI_CHIPS; chip++)
		slice[chip] = 1;
	for (uint32_t chip = 0; chip < TORI_CHIPS; chip++) {
		struct electrical left = electrical_after(chip, slice);

		assert_int_equal(electrical_links(chip, slice), 6);
		assert_true(left.slowest > 0 && left.slowest <= 0.5);
		assert_true(left.replaced >= left.slowest && left.replaced <= 1);
		assert_true(left.all > left.slowest && left.all < 1);
	}
	for (uint32_t chip = TORI_CHIPS / 2; chip < TORI_CHIPS; chip++)
		slice[chip] = 0;
	for (uint32_t chip = 0; chip < TORI_CHIPS / 2; chip++) {
		assert_true(electrical_after(chip, slice).slowest >= 0.5);
		links += electrical_links(chip, slice);
	}
	/* Two levels of the torus: four rings in both, and one link between them. */
	assert_int_equal(links, TORI_CHIPS / 2 * 5);
}

/* ----------------------------------------------------------------- bad input */

#define REFUSED(errno_wanted, call, words)                             \
	do {                                                           \
		assert_int_equal(call, -(errno_wanted));               \
		assert_non_null(strstr(morph_error_text(ctx), words)); \
	} while (0)

static void invalid_models_are_refused_with_the_reason(void **state)
{
	MORPH_OPTS(morph_coverage_circuit, circuit, .src = 0, .dst = 2);
	MORPH_OPTS(morph_coverage_opts, opts, .replications = 1);
	MORPH_OPTS(morph_coverage_result, result);
	const uint32_t beyond = 72, spare = 64, twice[] = { 1, 0, 1 };

	(void)state;
	REFUSED(EINVAL, morph_coverage_run(coverage, NULL, &result), "no slice was added");
	REFUSED(EINVAL, morph_coverage_add_slice(coverage, NULL, 0),
		"requires at least 1 accelerator");
	REFUSED(ENOENT, morph_coverage_add_slice(coverage, &beyond, 1), "the fabric has 72");
	REFUSED(EBUSY, morph_coverage_add_slice(coverage, &spare, 1), "64 is a spare");
	REFUSED(EBUSY, morph_coverage_add_slice(coverage, twice, 3), "1 is already in a slice");
	assert_int_equal(morph_coverage_add_slice(coverage, twice, 2), 0);
	REFUSED(ENOENT, morph_coverage_add_circuit(coverage, 1, &circuit), "no slice 1");
	REFUSED(ENOENT, morph_coverage_add_circuit(coverage, 0, &circuit), "no rank 2");
	circuit.dst = 0;
	REFUSED(EINVAL, morph_coverage_add_circuit(coverage, 0, &circuit), "to itself");
	circuit.dst = 1;
	circuit.lanes = 17;
	REFUSED(EINVAL, morph_coverage_add_circuit(coverage, 0, &circuit), "16 lanes, not 17");
	circuit.lanes = 0;
	circuit.plane = 7;
	REFUSED(EINVAL, morph_coverage_add_circuit(coverage, 0, &circuit), "6 ports, not 7");
	circuit.plane = 1;
	good(morph_coverage_add_circuit(coverage, 0, &circuit));
	REFUSED(EBUSY, morph_coverage_add_circuit(coverage, 0, &circuit), "from rank 0 to rank 1");
	REFUSED(EBUSY, morph_coverage_set_spares(coverage, twice, 1), "1 is in a slice");
	REFUSED(EBUSY, morph_coverage_set_spares(coverage, (uint32_t[]){ 9, 9 }, 2), "twice");
	REFUSED(ENOENT, morph_coverage_set_spares(coverage, &beyond, 1), "no accelerator 72");
	REFUSED(EINVAL, morph_coverage_set_rate(coverage, 5, 1, 1),
		"unknown kind of failing part 5");
	REFUSED(EINVAL, morph_coverage_set_rate(coverage, 0, 1, 0), "must be above 0");
	REFUSED(EINVAL, morph_coverage_add_supply(coverage, NULL, 0), "requires at least 1 server");
	REFUSED(ENOENT, morph_coverage_add_supply(coverage, &beyond, 1), "the fabric has 18");
	REFUSED(EINVAL, morph_coverage_run(coverage, &opts, &result), "at least 2 replications");
	REFUSED(EINVAL, morph_coverage_run(coverage, NULL, &result), "nothing would fail");
	REFUSED(ENOENT, morph_coverage_try(coverage, &beyond, 1, &result), "no accelerator 72");
	morph_coverage_free(NULL);
}

static void exhausted_memory_is_reported(void **state)
{
	/* Enough steps to exceed the router's initial capacity. */
	MORPH_OPTS(morph_coverage_opts, opts, .replications = 2, .failures = 1,
		   .steps = 2 * OPTICS_ROUTE_STEPS);
	bool struck = true;

	(void)state;
	for (unsigned int at = 1; struck; at++) {
		MORPH_OPTS(morph_coverage_result, result);
		struct morph_coverage *other;
		int error = -ENOMEM;

		fault_at("memory", at, ENOMEM);
		other = morph_coverage_new(ctx, model);
		if (other)
			error = morph_coverage_set_rate(other, MORPH_COVERAGE_ACCELERATOR, REPAIR,
							REPAIR);
		if (error >= 0)
			error = tori_light_ring(other);
		if (error >= 0)
			error = morph_coverage_add_supply(other, (const uint32_t[]){ 3, 7 }, 2);
		if (error >= 0)
			error = morph_coverage_run(other, &opts, &result);
		morph_coverage_free(other);
		struck = fault_struck();
		assert_int_equal(error, struck ? -ENOMEM : 0);
		assert_int_equal(morph_error_code(ctx), at > 1 || struck ? ENOMEM : 0);
	}
}

int main(int count, char **arguments)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(times_without_a_spare_are_as_exactly_known),
		TEST(published_ranges_are_as_exactly_known),
		TEST(replications_begin_with_the_mean_number_of_failures),
		TEST(each_spare_replaces_one_accelerator),
		TEST(each_accelerator_of_a_full_torus_is_replaced),
		TEST(spares_that_no_light_gets_to_do_not_count),
		TEST(spares_that_light_gets_to_too_weak_do_not_count),
		TEST(revertive_switching_covers_more),
		TEST(ledgers_hold_the_claims_of_circuits),
		TEST(repairs_darken_nothing),
		TEST(light_that_comes_too_weak_holds_nothing),
		TEST(parts_with_two_causes_stay_down_until_both_end),
		TEST(runs_leave_no_trace_and_repeat),
		TEST(fibres_join_the_servers_of_the_rack),
		TEST(electrical_detours_halve_some_link),
		TEST(invalid_models_are_refused_with_the_reason),
		TEST(exhausted_memory_is_reported),
	};

	if (count != 2) {
		fprintf(stderr, "usage: %s RACK\n", arguments[0]);
		return 2;
	}
	profile = arguments[1];
	return cmocka_run_group_tests_name("coverage", tests, NULL, NULL);
}
