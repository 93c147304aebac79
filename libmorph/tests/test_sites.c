// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Racks of other sizes and shapes than in the paper: built here, and one of 36 servers with one
 * accelerator each, whose profile is on the command line.
 */
#include "protecting.h"

#define SERVERS 36
#define LONG 12 /* servers of a row; there are three */

/* Accelerators of one server. */
static int build(struct sites *sites, const struct optics_accelerator *chips, uint32_t count)
{
	const struct optics_graph graph = {
		.hosts_count = 1,
		.accelerators_count = count,
		.accelerators = chips,
	};

	return lm_sites_build(sites, &graph);
}

static void a_rack_has_at_most_256_accelerators(void **state)
{
	struct optics_accelerator chips[RACK_ACCELERATORS + 1] = { { 0 } };
	struct sites sites;

	(void)state;
	for (uint32_t at = 0; at <= RACK_ACCELERATORS; at++)
		chips[at].x = (uint16_t)at;
	assert_int_equal(build(&sites, chips, RACK_ACCELERATORS + 1), -E2BIG);
	assert_int_equal(build(&sites, chips, RACK_ACCELERATORS), 0);
	assert_int_equal(sites.racks[0].extent[0], RACK_ACCELERATORS);
	lm_sites_free(&sites);
	/* Spares are beside the torus. */
	chips[5].flags = MORPH_ACCELERATOR_F_SPARE;
	chips[5].x = 0;
	for (uint32_t at = 6; at <= RACK_ACCELERATORS; at++)
		chips[at].x--;
	assert_int_equal(build(&sites, chips, RACK_ACCELERATORS + 1), 0);
	assert_int_equal(sites.racks[0].extent[0], RACK_ACCELERATORS);
	lm_sites_free(&sites);
}

static void partial_boxes_are_no_torus(void **state)
{
	static const struct optics_accelerator corner[] = { { .x = 1, .y = 1 },
							    { .x = 2, .y = 1 },
							    { .x = 1, .y = 2 } };
	static const struct optics_accelerator stacked[] = {
		{ .x = 1, .y = 1 }, { .x = 2, .y = 2 }, { .x = 2, .y = 2 }, { .x = 1, .y = 1 }
	};
	static const struct optics_accelerator full[] = {
		{ .x = 1, .y = 1 }, { .x = 2, .y = 1 }, { .x = 1, .y = 2 }, { .x = 2, .y = 2 }
	};
	struct sites sites;

	(void)state;
	assert_int_equal(build(&sites, corner, 3), 0);
	assert_int_equal(sites.racks[0].extent[0] | sites.racks[0].extent[1], 0);
	lm_sites_free(&sites);
	assert_int_equal(build(&sites, stacked, 4), 0);
	assert_int_equal(sites.racks[0].extent[0] | sites.racks[0].extent[1], 0);
	lm_sites_free(&sites);
	assert_int_equal(build(&sites, full, 4), 0);
	assert_int_equal(sites.racks[0].extent[0] * sites.racks[0].extent[1], 4);
	assert_int_equal(sites_accelerator(&sites, 0, 0, 1, 0), 2);
	lm_sites_free(&sites);
}

/* On a tile's element, port 0 is the fibre's and port 2 the accelerator's. Port 1 has no guide. */
static void a_port_without_a_guide_has_no_links(void **state)
{
	static const struct optics_kind kind = { .ports = 3, .states = 1, .leaks = { 6, 5, 3 } };
	static const struct optics_element elements[] = { { .tile = 0 },
							  { .tile = 1, .first_port = 3 } };
	static const struct optics_accelerator chips[] = { { .host = 0 }, { .host = 1, .x = 1 } };
	static const struct optics_guide guides[] = {
		{ { { 0, 0, MORPH_END_TX, 0 }, { 0, 2, MORPH_END_ELEMENT, 0 } },
		  MORPH_GUIDE_WAVEGUIDE,
		  0 },
		{ { { 0, 0, MORPH_END_ELEMENT, 0 }, { 1, 0, MORPH_END_ELEMENT, 0 } },
		  MORPH_GUIDE_FIBRE,
		  0 },
		{ { { 1, 2, MORPH_END_ELEMENT, 0 }, { 1, 0, MORPH_END_RX, 0 } },
		  MORPH_GUIDE_WAVEGUIDE,
		  0 },
	};
	/* The code contains the end of the guide that is at the port. */
	static const uint32_t port_guide[] = { 2, OPTICS_NONE, 1, 3, OPTICS_NONE, 4 };
	static const struct optics_graph graph = {
		.hosts_count = 2,
		.accelerators_count = 2,
		.accelerators = chips,
		.kinds = &kind,
		.elements = elements,
		.elements_count = 2,
		.guides = guides,
		.guides_count = 3,
		.port_guide = port_guide,
	};
	struct sites sites;

	(void)state;
	assert_int_equal(lm_sites_build(&sites, &graph), 0);
	assert_int_equal(sites.strands_count, 1);
	assert_int_equal(sites.strands[0].from, 0);
	assert_int_equal(sites.strands[0].to, 1);
	assert_int_equal(sites.strands[0].guides[0], 2);
	assert_int_equal(sites.racks_count, 1);
	lm_sites_free(&sites);
}

/* ------------------------------------------------------------------ protection */

/* Two ranks in servers 0 and 1, which cross only their own servers, and a spare. */
static void protect_beside(struct bench *bench, uint32_t spare, struct morph_protection *protection,
			   uint32_t verdict)
{
	for (uint32_t at = 0; at < SERVERS; at++) {
		morph_ledger_set_spare(bench->ledger, at, at == spare);
		morph_ledger_hold(bench->ledger, at, at > 1 && at != spare ? 9 : 0);
	}
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 2, 1, 1), 0);
	assert_int_equal(morph_request_set_transit(bench->request, MORPH_TRANSIT_OWN), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_ledger_take(bench->ledger, bench->plan, 7), 0);
	assert_int_equal(protected(bench, bench->plan, protection), verdict);
	assert_int_equal(morph_ledger_give(bench->ledger, bench->plan), 0);
}

/*
 * Other tenants' servers, where light can end but not continue, have two numbers. Here there are
 * more than the limit, so nothing is proven, but each found path is valid.
 */
static void too_many_servers_of_other_tenants_are_undecided(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	struct morph_object *object = NULL;
	const struct morph_object *refusal;

	assert_int_equal(bench->ledger->sites.racks_count, 1);
	assert_int_equal(bench->ledger->sites.racks[0].hosts_count, SERVERS);
	protect_beside(bench, 2, protection, MORPH_FEASIBLE);
	protect_beside(bench, LONG + 5, protection, MORPH_UNDECIDED);
	assert_int_equal(morph_ledger_take(bench->ledger, bench->plan, 7), 0);
	assert_int_equal(morph_protection_describe(protection, bench->plan, bench->ledger, &object),
			 0);
	assert_string_equal(morph_object_text(object, "verdict"), "undecided");
	refusal = morph_object_nested_at(morph_object_nested_at(object, "rank", 0), "refusal", 0);
	assert_int_equal(morph_object_uint(refusal, "spare"), LONG + 5);
	assert_string_equal(morph_object_text(refusal, "reason"), "doubt");
	morph_object_free(object);
	morph_protection_free(protection);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rack_has_at_most_256_accelerators),
		cmocka_unit_test(partial_boxes_are_no_torus),
		cmocka_unit_test(a_port_without_a_guide_has_no_links),
		cmocka_unit_test_setup_teardown(too_many_servers_of_other_tenants_are_undecided,
						placing_setup, placing_teardown),
	};

	return placing_run(argc, argv, "sites", tests, ARRAY_SIZE(tests));
}
