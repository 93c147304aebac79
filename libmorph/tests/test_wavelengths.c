// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fibres with several wavelengths. A circuit keeps its wavelength. Compare small instances with
 * enumeration, and racks with the checker, which must reject corrupted answers.
 */
#include "../internal/planner.h"
#include "../place/place.h"
#include "placing.h"

#define ALL UINT64_MAX

/* ------------------------------------------------------------------ small ones */

static struct stitch stitch;
static struct pattern pattern;
static struct net nets[2];

/* Enumeration: one circuit after the other, in each band. */
struct force {
	struct net left[2];
	uint32_t bands, count;
	uint8_t from[PATTERN_DEMANDS], to[PATTERN_DEMANDS]; /* slots */
	uint8_t sites[PATTERN_SLOTS];
};

static bool force_next(struct force *force, uint32_t at);

static bool force_on(struct force *force, uint32_t at, uint32_t band, uint32_t here, uint64_t seen)
{
	if (here == force->sites[force->to[at]])
		return force_next(force, at + 1);
	for (uint32_t next = 0; next < force->left->sites; next++) {
		bool found;

		if (seen >> next & 1 || !force->left[band].room[here][next])
			continue;
		force->left[band].room[here][next]--;
		found = force_on(force, at, band, next, seen | 1ULL << next);
		force->left[band].room[here][next]++;
		if (found)
			return true;
	}
	return false;
}

static bool force_next(struct force *force, uint32_t at)
{
	if (at == force->count)
		return true;
	for (uint32_t band = 0; band < force->bands; band++) {
		uint32_t from = force->sites[force->from[at]];

		if (force_on(force, at, band, from, 1ULL << from))
			return true;
	}
	return false;
}

static bool force_embed(struct force *force, uint32_t slot, uint64_t unused)
{
	if (slot == pattern.slots)
		return force_next(force, 0);
	for (uint64_t left = unused; left; left &= left - 1) {
		force->sites[slot] = (uint8_t)net_first(left);
		if (force_embed(force, slot + 1, unused & ~(left & -left)))
			return true;
	}
	return false;
}

/* Check whether a plan exists. @converts: as if wavelengths could change on the way. */
static bool exists(uint64_t free, bool converts)
{
	static struct force force;

	force.count = 0;
	for (uint32_t at = 0; at < pattern.demands_count; at++) {
		for (uint32_t unit = 0; unit < pattern.demands[at].units; unit++) {
			force.from[force.count] = pattern.demands[at].from;
			force.to[force.count++] = pattern.demands[at].to;
		}
	}
	memcpy(force.left, nets, sizeof(nets));
	force.bands = converts ? 1 : 2;
	for (uint32_t a = 0; converts && a < nets->sites; a++)
		for (uint32_t b = 0; b < nets->sites; b++)
			force.left[0].room[a][b] =
				(uint8_t)(force.left[0].room[a][b] + nets[1].room[a][b]);
	return force_embed(&force, 0, free);
}

/* Each circuit keeps its band, and no band exceeds its capacity. */
static void check_routes(void)
{
	uint32_t wanted[PATTERN_SLOTS][PATTERN_SLOTS] = { 0 };
	uint8_t slot_at[NET_SITES] = { 0 };
	struct net left[2] = { nets[0], nets[1] };

	for (uint32_t slot = 0; slot < pattern.slots; slot++)
		slot_at[stitch.embedding.sites[slot]] = (uint8_t)slot;
	for (uint32_t at = 0; at < stitch.routes.count; at++) {
		const struct route *route = &stitch.routes.list[at];

		assert_true(route->band < 2);
		assert_int_equal(route->units, 1);
		assert_int_equal(route->sites[0], route->from);
		assert_int_equal(route->sites[route->hops], route->to);
		for (uint32_t hop = 0; hop < route->hops; hop++)
			assert_true(
				left[route->band].room[route->sites[hop]][route->sites[hop + 1]]-- >
				0);
		wanted[slot_at[route->from]][slot_at[route->to]]++;
	}
	for (uint32_t from = 0; from < pattern.slots; from++)
		for (uint32_t to = 0; to < pattern.slots; to++)
			assert_int_equal(wanted[from][to], pattern.units[from][to]);
}

static uint64_t make_small(uint64_t *seed)
{
	uint32_t sites = 4 + random_below(seed, 2), slots = 2 + random_below(seed, 2);
	uint64_t free = net_all(sites);

	for (uint32_t band = 0; band < 2; band++) {
		lm_net_init(&nets[band], sites);
		for (uint32_t a = 0; a < sites; a++)
			for (uint32_t b = 0; b < sites; b++)
				if (a != b && random_below(seed, 100) < 38)
					lm_net_set_room(&nets[band], a, b,
							1 + !random_below(seed, 6));
	}
	for (uint32_t closed = random_below(seed, 3); closed; closed--)
		free &= ~(1ULL << random_below(seed, sites));
	lm_pattern_init(&pattern, slots);
	for (uint32_t a = 0; a < slots; a++)
		for (uint32_t b = 0; b < slots; b++)
			if (a != b && random_below(seed, 4))
				lm_pattern_add(&pattern, a, b, 1 + !random_below(seed, 4));
	lm_pattern_prepare(&pattern);
	return free;
}

static void small_ones_are_decided_as_by_trying_everything(void **state)
{
	uint32_t counts[3] = { 0 }, continuity = 0, searched = 0;
	uint64_t seed = 1;

	(void)state;
	for (int at = 0; at < 3000; at++) {
		uint64_t free = make_small(&seed);
		bool found = exists(free, false);
		enum stitch_verdict verdict =
			lm_stitch_bands(&stitch, nets, 2, &pattern, free, ALL);

		counts[verdict]++;
		assert_int_equal(verdict, found ? STITCH_FEASIBLE : STITCH_INFEASIBLE);
		if (found)
			check_routes();
		else
			continuity += exists(free, true);
		searched += stitch.exhausted_count > 0;
	}
	printf("%u feasible, %u infeasible, %u of these for want of one wavelength from end to end\n",
	       counts[STITCH_FEASIBLE], counts[STITCH_INFEASIBLE], continuity);
	assert_true(counts[STITCH_FEASIBLE] > 500);
	assert_true(counts[STITCH_INFEASIBLE] > 500);
	assert_true(continuity > 50);
	assert_true(searched > 50);
}

/*
 * From the first of three servers to the last: each link has capacity, but in different
 * wavelengths.
 */
static void room_in_other_wavelengths_is_none(void **state)
{
	(void)state;
	lm_net_init(&nets[0], 3);
	lm_net_init(&nets[1], 3);
	lm_net_set_room(&nets[0], 0, 1, 1);
	lm_net_set_room(&nets[1], 1, 2, 1);
	lm_pattern_init(&pattern, 2);
	lm_pattern_add(&pattern, 0, 1, 1);
	lm_pattern_prepare(&pattern);
	assert_int_equal(lm_stitch_bands(&stitch, nets, 2, &pattern, 0x5, ALL), STITCH_INFEASIBLE);
	assert_int_equal(stitch.exhausted_count, 1);
	assert_int_equal(lm_stitch_bands(&stitch, nets, 2, &pattern, 0x5, 0), STITCH_UNDECIDED);
	lm_net_set_room(&nets[0], 1, 2, 1);
	assert_int_equal(lm_stitch_bands(&stitch, nets, 2, &pattern, 0x5, ALL), STITCH_FEASIBLE);
	assert_int_equal(stitch.routes.list[0].band, 0);
}

/* ----------------------------------------------------------------------- racks */

/*
 * Other tenants' use of fibres: one lane of a wavelength, or all lanes, each with the given
 * probability.
 */
static void light_fibres(struct bench *bench, uint64_t *seed, uint32_t bands, uint32_t percent)
{
	const struct optics_graph *graph = bench->ledger->graph;

	for (uint32_t at = 0; at < graph->guides_count; at++) {
		uint64_t lanes = 0;

		for (uint32_t band = 0;
		     graph->guides[at].class == MORPH_GUIDE_FIBRE && band < bands; band++)
			if (random_below(seed, 100) < percent)
				lanes |= lm_band_lanes(graph, bands, band) &
					 (random_below(seed, 2) ? graph->all_lanes : 0x5555);
		assert_int_equal(morph_ledger_load(bench->ledger, at, lanes), 0);
	}
}

static void any_rack(struct bench *bench, uint64_t *seed, uint32_t bands)
{
	for (uint32_t server = 0; server < 16; server++) {
		bool apart = random_below(seed, 4) == 0, held = random_below(seed, 10) < 4;

		for (uint32_t at = 0; at < 4; at++)
			morph_ledger_hold(bench->ledger, 4 * server + at,
					  apart ? random_below(seed, 10) < 4 : held);
	}
	light_fibres(bench, seed, bands, random_below(seed, 98));
	ask(bench->request, seed);
	assert_int_equal(morph_request_set_wavelengths(bench->request, bands), 0);
}

static void whatever_is_placed_is_so(void **state)
{
	static const uint32_t wavelengths[] = { 2, 4, 16 };
	uint32_t counts[4] = { 0 }, shared = 0;
	struct bench *bench = *state;
	uint64_t seed = 31;

	for (uint32_t at = 0; at < 200; at++) {
		uint32_t verdict;

		any_rack(bench, &seed, wavelengths[at % ARRAY_SIZE(wavelengths)]);
		verdict = placed(bench, bench->plan);
		counts[verdict]++;
		for (uint32_t circuit = 0;
		     verdict == MORPH_FEASIBLE && circuit < bench->plan->circuits_count; circuit++)
			shared += bench->plan->ways[circuit].band > 0;
	}
	printf("%u feasible, %u infeasible, %u undecided; %u circuits not in the first wavelength\n",
	       counts[MORPH_FEASIBLE], counts[MORPH_INFEASIBLE], counts[MORPH_UNDECIDED], shared);
	assert_true(counts[MORPH_FEASIBLE] > 30);
	assert_true(counts[MORPH_INFEASIBLE] > 20);
	assert_true(shared > 100);
}

/* Place equal slices, one after the other, until no more fit. */
static uint32_t fill(struct bench *bench, uint32_t bands, struct morph_plan **plans)
{
	uint32_t count = 0;

	assert_int_equal(morph_request_set_wavelengths(bench->request, bands), 0);
	for (uint32_t fits = true; fits; count += fits) {
		plans[count] = morph_plan_new(bench->ctx);
		assert_non_null(plans[count]);
		fits = placed(bench, plans[count]) == MORPH_FEASIBLE;
		if (fits)
			assert_int_equal(morph_ledger_take(bench->ledger, plans[count], count + 1),
					 0);
		else
			morph_plan_free(plans[count]);
	}
	return count;
}

static void slices_share_fibres_and_give_them_back(void **state)
{
	struct morph_plan *plans[ACCELERATORS];
	struct bench *bench = *state;
	uint32_t most[2];

	/* Of each four accelerators three remain, and two fibres. */
	for (uint32_t at = 0; at < ACCELERATORS; at += 4)
		morph_ledger_hold(bench->ledger, at, 1000);
	for (uint32_t guide = 0; guide < bench->ledger->graph->guides_count; guide++)
		if (guide % 4 < 2 && bench->ledger->graph->guides[guide].class == MORPH_GUIDE_FIBRE)
			morph_ledger_mark(bench->ledger, MORPH_PART_GUIDE, guide, true);
	for (uint32_t round = 0; round < 2; round++) {
		struct written before, after;

		assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_MESH, 4, 1, 1),
				 0);
		before = write_all(bench, bench->plan);
		most[round] = fill(bench, round ? 4 : 1, plans);
		assert_true(most[round] > 0);
		assert_int_equal(morph_ledger_take(bench->ledger, plans[0], 99), -EBUSY);
		for (uint32_t at = 0; at < most[round]; at++) {
			assert_int_equal(morph_ledger_give(bench->ledger, plans[at]), 0);
			morph_plan_free(plans[at]);
		}
		after = write_all(bench, bench->plan);
		assert_memory_equal(before.ledger, after.ledger, before.ledger_bytes);
		written_free(&before);
		written_free(&after);
	}
	printf("%u slices with whole fibres, %u with four wavelengths\n", most[0], most[1]);
	assert_true(most[1] > most[0]);
}

/* --------------------------------------------------------------------- mutants */

#define HEAD 5 /* words of the wire form */
#define PLAN_HEAD 17

/*
 * Corrupt the wavelength of a circuit with fibres, or other tenants' wavelengths on these fibres.
 */
static void corrupt(struct written *all, const struct bench *bench, uint64_t *seed)
{
	const struct morph_plan *plan = bench->plan;
	uint32_t *way = all->plan + PLAN_HEAD + 2 * plan->ranks, circuit, guide;
	uint32_t *guides = all->ledger + HEAD + 3 + 2 * all->ledger[HEAD] + all->ledger[HEAD + 1];
	const struct strand *strand;
	uint64_t lanes;

	do
		circuit = random_below(seed, plan->circuits_count);
	while (!plan->ways[circuit].count);
	strand = &plan->strands[plan->ways[circuit].first +
				random_below(seed, plan->ways[circuit].count)];
	guide = strand->guides[0] >> 1;
	lanes = lm_band_lanes(bench->ledger->graph, plan->bands, plan->ways[circuit].band);
	switch (random_below(seed, 5)) {
	case 0: /* one that there is not */
		way[2 * circuit + 1] += plan->bands << 16;
		break;
	case 1: /* held by another tenant on one of its fibres */
		guides[3 * guide + 1] |= (uint32_t)lanes;
		guides[3 * guide + 2] |= (uint32_t)(lanes >> 32);
		break;
	case 2: /* another one, which is held on one of its fibres */
		way[2 * circuit + 1] ^= 1U << 16;
		lanes = lm_band_lanes(bench->ledger->graph, plan->bands,
				      plan->ways[circuit].band ^ 1U);
		guides[3 * guide + 1] |= 1U << __builtin_ctzll(lanes);
		break;
	case 3: /* one that another circuit has on the same fibre */
		all->plan[PLAN_HEAD + 2 * (plan->ranks + plan->circuits_count) +
			  MORPH_WIRE_STRAND * plan->ways[circuit].first + 1] ^= 1;
		break;
	default: /* more lanes than a wavelength has */
		all->request[HEAD + 2] += 16 / plan->bands;
		break;
	}
}

static void mutants_of_plans_are_rejected(void **state)
{
	struct bench *bench = *state;
	uint32_t mutants = 0;
	uint64_t seed = 32;
	char report[256];

	while (mutants < 500) {
		any_rack(bench, &seed, mutants % 40 ? 2 : 4);
		if (placed(bench, bench->plan) != MORPH_FEASIBLE ||
		    morph_plan_fibres(bench->plan, NULL) < 2)
			continue;
		for (uint32_t round = 0; round < 20; round++, mutants++) {
			struct written all = write_all(bench, bench->plan);

			corrupt(&all, bench, &seed);
			if (!check_written(&all, report, sizeof(report)))
				fail_msg("the checker accepted mutant %u as a plan", mutants);
			written_free(&all);
		}
	}
}

/* ----------------------------------------------------------------------- light */

static void circuits_are_lit_in_their_wavelength(void **state)
{
	struct bench *bench = *state;
	MORPH_OPTS(morph_txn_opts, opts, .profile_checksum = morph_model_checksum(bench->model));
	struct morph_txn *txn = morph_txn_new(bench->ctx);

	assert_non_null(txn);
	assert_int_equal(morph_txn_set_opts(txn, &opts), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 4, 4), 0);
	assert_int_equal(morph_request_set_wavelengths(bench->request, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	for (uint32_t at = 0; at < bench->plan->circuits_count; at++)
		bench->plan->ways[at].band = at % 4;
	assert_int_equal(morph_txn_add_plan(txn, bench->plan, bench->ledger), 0);
	assert_int_equal(morph_txn_count(txn), bench->plan->circuits_count);
	for (uint32_t at = 0; at < txn->count; at++)
		assert_int_equal(txn->changes[at].lanes,
				 bench->plan->ways[at].count ? 1ULL << 4 * (at % 4) : 1);
	morph_txn_free(txn);
}

static void a_shared_fibre_is_not_lit_for_nothing_parts_its_light(void **state)
{
	struct bench *bench = *state;
	MORPH_OPTS(morph_txn_opts, opts, .profile_checksum = morph_model_checksum(bench->model));
	struct morph_txn *txn = morph_txn_new(bench->ctx);
	uint32_t fibre;

	assert_non_null(txn);
	assert_int_equal(morph_txn_set_opts(txn, &opts), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 2), 0);
	assert_int_equal(morph_request_set_wavelengths(bench->request, 2), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_true(bench->plan->strands_count > 1);
	/* Other tenants' light in the other wavelength, then two circuits of the plan. */
	fibre = bench->plan->strands[1].guides[0] >> 1;
	morph_ledger_load(bench->ledger, fibre, 0xff00);
	assert_int_equal(morph_txn_add_plan(txn, bench->plan, bench->ledger), -EOPNOTSUPP);
	assert_non_null(strstr(morph_error_text(bench->ctx), "light of another slice"));
	morph_ledger_load(bench->ledger, fibre, 0);
	bench->plan->strands[0] = bench->plan->strands[1];
	assert_int_equal(morph_txn_add_plan(txn, bench->plan, bench->ledger), -EOPNOTSUPP);
	assert_non_null(strstr(morph_error_text(bench->ctx), "two circuits share fibre"));
	assert_int_equal(morph_txn_count(txn), 0);
	morph_txn_free(txn);
}

static void wavelengths_are_described(void **state)
{
	struct bench *bench = *state;
	const struct morph_object *circuit;
	struct morph_object *plan;

	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 2), 0);
	assert_int_equal(morph_request_set_wavelengths(bench->request, 4), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	for (uint32_t at = 0; at < bench->plan->circuits_count; at++)
		bench->plan->ways[at].band = at % 4;
	assert_int_equal(morph_plan_describe(bench->plan, bench->ledger, &plan), 0);
	assert_int_equal(morph_object_uint(plan, "wavelengths"), 4);
	for (uint32_t at = 0; at < bench->plan->circuits_count; at++) {
		circuit = morph_object_nested_at(plan, "circuit", at);
		/* Inside a server there is no fibre to share. */
		assert_int_equal(morph_object_has(circuit, "lanes"),
				 bench->plan->ways[at].count > 0);
		if (bench->plan->ways[at].count)
			assert_int_equal(morph_object_uint(circuit, "lanes"),
					 0xfULL << 4 * (at % 4));
	}
	morph_object_free(plan);
}

/* ------------------------------------------------------------------- bad input */

static void refused(struct bench *bench, const char *why)
{
	assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), -EINVAL);
	assert_non_null(strstr(morph_error_text(bench->ctx), why));
}

static void wavelengths_that_can_t_be_are_refused(void **state)
{
	struct bench *bench = *state;
	struct morph_request *request = bench->request;

	assert_int_equal(morph_request_set_wavelengths(request, 0), -EINVAL);
	assert_int_equal(morph_request_set_wavelengths(request, 17), -EINVAL);
	assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_TORUS, 2, 2, 1), 0);
	assert_int_equal(morph_request_set_wavelengths(request, 3), 0);
	refused(bench, "cannot divide the 16 lanes of a fibre evenly by 3 wavelengths");
	assert_int_equal(morph_request_set_wavelengths(request, 4), 0);
	morph_request_set_mbps(request, 125000);
	refused(bench, "a circuit has at most 4 lanes");
	morph_request_set_mbps(request, 100000);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
}

static void room_is_made_for_whole_fibres_only(void **state)
{
	struct bench *bench = *state;
	struct morph_defrag *defrag = morph_defrag_new(bench->ctx);

	assert_non_null(defrag);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 1), 0);
	assert_int_equal(morph_request_set_wavelengths(bench->request, 2), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_defrag_add(defrag, bench->plan, 7, 0), -EINVAL);
	assert_int_equal(morph_defrag_solve(defrag, bench->ledger, bench->request, NULL, NULL),
			 -EINVAL);
	assert_non_null(strstr(morph_error_text(bench->ctx), "do not share fibres"));
	morph_defrag_free(defrag);
}

static void protections_take_whole_fibres_only(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = morph_protection_new(bench->ctx);

	assert_non_null(protection);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 2), 0);
	assert_int_equal(morph_request_set_wavelengths(bench->request, 2), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_ledger_take(bench->ledger, bench->plan, 7), 0);
	assert_int_equal(morph_protect(bench->ledger, bench->plan, protection), -EINVAL);
	assert_non_null(strstr(morph_error_text(bench->ctx), "shares fibres in 2 wavelengths"));
	assert_int_equal(morph_protection_verdict(protection), 0);
	morph_protection_free(protection);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(small_ones_are_decided_as_by_trying_everything),
		TEST(room_in_other_wavelengths_is_none),
		TEST(whatever_is_placed_is_so),
		TEST(slices_share_fibres_and_give_them_back),
		TEST(mutants_of_plans_are_rejected),
		TEST(circuits_are_lit_in_their_wavelength),
		TEST(a_shared_fibre_is_not_lit_for_nothing_parts_its_light),
		TEST(wavelengths_are_described),
		TEST(wavelengths_that_can_t_be_are_refused),
		TEST(room_is_made_for_whole_fibres_only),
		TEST(protections_take_whole_fibres_only),
#undef TEST
	};

	return placing_run(argc, argv, "wavelengths", tests, ARRAY_SIZE(tests));
}
