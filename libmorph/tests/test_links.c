// SPDX-License-Identifier: LGPL-2.1-or-later
/* The traffic problem of a real rack: its fibres as links, and paths over them. */
#include "../internal/planner.h"
#include "placing.h"

#define HOSTS 18
#define FIBRE 2 /* class of guides */

static struct morph_traffic *te;

static int begin(void **state)
{
	struct bench *bench;

	placing_setup(state);
	bench = *state;
	te = morph_traffic_new(bench->ctx);
	return te ? 0 : -1;
}

static int end(void **state)
{
	morph_traffic_free(te);
	return placing_teardown(state);
}

static int add_servers(const struct bench *bench)
{
	return morph_traffic_add_servers(te, bench->ledger);
}

/* The number of the link between two servers. Each pair has at most one. */
static int link_of(uint32_t src, uint32_t dst)
{
	uint32_t from, to;
	int found = -1;

	for (uint32_t link = 0; !morph_traffic_link_ends(te, link, &from, &to); link++) {
		if (from != src || to != dst)
			continue;
		assert_int_equal(found, -1);
		found = (int)link;
	}
	return found;
}

static void a_link_has_the_lanes_of_its_fibres(void **state)
{
	const uint32_t *section = (const uint32_t *)(const void *)(rack_profile + 168 + 3 * 16);
	struct bench *bench = *state;
	uint32_t fibres = 0, lanes = 0;
	int links = add_servers(bench);

	assert_true(links > 0);
	for (uint32_t guide = 0; guide < section[2]; guide++) {
		bool fibre = rack_profile[section[0] + 16 * guide + 12] == FIBRE;
		int link = morph_traffic_guide_link(te, guide);

		assert_true(fibre ? link >= 0 && link < links : link == -ENOENT);
		fibres += fibre;
	}
	for (int link = 0; link < links; link++)
		lanes += (uint32_t)morph_traffic_capacity(te, (uint32_t)link);
	assert_int_equal(lanes, 16 * fibres);
	/* Four fibres, and as many again across the ring of two. */
	assert_true(morph_traffic_capacity(te, (uint32_t)link_of(0, 1)) == 128);
	assert_true(morph_traffic_capacity(te, (uint32_t)link_of(0, 4)) == 64);
	assert_int_equal(link_of(0, 0), -1);
	assert_int_equal(link_of(0, 3), -1);
	assert_int_equal(morph_traffic_guide_link(te, section[2]), -ENOENT);
	assert_true(morph_traffic_capacity(te, 5000) == 0);
}

static void marked_hardware_carries_no_circuit(void **state)
{
	const uint32_t *section = (const uint32_t *)(const void *)(rack_profile + 168 + 3 * 16);
	struct bench *bench = *state;
	uint32_t link = 0, guide = 0;

	add_servers(bench);
	link = (uint32_t)link_of(0, 4);
	while (guide < section[2] && morph_traffic_guide_link(te, guide) != (int)link)
		guide++;
	morph_traffic_free(te);
	te = morph_traffic_new(bench->ctx);
	assert_int_equal(morph_ledger_mark(bench->ledger, MORPH_PART_GUIDE, guide, true), 0);
	add_servers(bench);
	assert_true(morph_traffic_capacity(te, link) == 48);
}

/* Paths lead from server to server, visit no server twice, and are all different. */
static void paths_are_shortest(void **state)
{
	uint32_t lengths[64] = { 0 };
	int count;

	assert_true(add_servers(*state) > 0);
	assert_int_equal(morph_traffic_add_demand(te, 10, 1), 0);
	count = morph_traffic_add_ways(te, 0, 0, 7, 40);
	assert_true(count > 8 && count <= 40);
	for (uint32_t path = 0; path < (uint32_t)count; path++) {
		const uint32_t *links = NULL, *others = NULL;
		uint32_t from, to, at = 0, seen = 1,
				   hops = morph_traffic_path_links(te, path, &links);

		for (uint32_t hop = 0; hop < hops; hop++) {
			MORPH_OPTS(morph_traffic_link, link);

			assert_int_equal(morph_traffic_link_ends(te, links[hop], &from, &to), 0);
			assert_int_equal(morph_traffic_link(te, links[hop], &link), 0);
			assert_int_equal(link.src_host, from);
			assert_int_equal(link.dst_host, to);
			assert_int_equal(from, at);
			assert_false(seen >> to & 1);
			seen |= 1U << to;
			at = to;
		}
		assert_int_equal(at, 7);
		assert_true(!path || hops >= lengths[path - 1]);
		lengths[path] = hops;
		for (uint32_t other = 0; other < path; other++)
			assert_false(morph_traffic_path_links(te, other, &others) == hops &&
				     !memcmp(others, links, hops * sizeof(*links)));
	}
	assert_int_equal(lengths[0], 3);
	assert_true(lengths[count - 1] <= 5);
	assert_int_equal(morph_traffic_path_links(te, (uint32_t)count, &(const uint32_t *){ NULL }),
			 0);
}

static void path_search_reports_lack_of_memory(void **state)
{
	unsigned int nth = 1;

	assert_true(add_servers(*state) > 0);
	assert_int_equal(morph_traffic_add_demand(te, 10, 1), 0);
	for (;; nth++) {
		int result;

		fault_at("memory", nth, ENOMEM);
		result = morph_traffic_add_ways(te, 0, 0, 7, 40);
		if (!fault_struck())
			break;
		assert_int_equal(result, -ENOMEM);
	}
	assert_true(nth > 4);
}

/* The failed call leaves no change, so that it can be repeated. */
static void servers_may_find_no_memory(void **state)
{
	unsigned int nth = 1;

	for (;; nth++) {
		int result;

		fault_at("memory", nth, ENOMEM);
		result = add_servers(*state);
		if (!fault_struck())
			break;
		assert_int_equal(result, -ENOMEM);
		assert_true(morph_traffic_capacity(te, 0) == 0);
		assert_int_equal(morph_traffic_guide_link(te, 0), -ENOENT);
	}
	assert_true(nth > 5);
	assert_true(morph_traffic_capacity(te, 0) > 0);
}

static void wrong_problems_are_refused(void **state)
{
	struct bench *bench = *state;
	uint32_t from, to;

	assert_int_equal(morph_traffic_guide_link(te, 0), -ENOENT);
	assert_int_equal(morph_traffic_link_ends(te, 0, &from, &to), -ENOENT);
	assert_int_equal(morph_traffic_add_demand(te, 10, 1), 0);
	assert_int_equal(morph_traffic_add_ways(te, 0, 0, 1, 1), -EINVAL);
	assert_int_equal(morph_traffic_add_link(te, 1), 0);
	assert_int_equal(add_servers(bench), -EINVAL);
	morph_traffic_free(te);
	te = morph_traffic_new(bench->ctx);
	assert_true(add_servers(bench) > 0);
	assert_int_equal(morph_traffic_add_ways(te, 0, 0, 1, 1), -ENOENT);
	assert_int_equal(morph_traffic_add_demand(te, 10, 1), 0);
	assert_int_equal(morph_traffic_add_ways(te, 0, 0, HOSTS, 1), -EINVAL);
	assert_int_equal(morph_traffic_add_ways(te, 0, 3, 3, 1), -EINVAL);
	assert_int_equal(morph_traffic_add_ways(te, 0, 0, 1, 0), 1);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(a_link_has_the_lanes_of_its_fibres),
		TEST(marked_hardware_carries_no_circuit),
		TEST(paths_are_shortest),
		TEST(path_search_reports_lack_of_memory),
		TEST(servers_may_find_no_memory),
		TEST(wrong_problems_are_refused),
#undef TEST
	};

	return placing_run(argc, argv, "links", tests, ARRAY_SIZE(tests));
}
