// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lanes of an edge at both of its ends. After each call, both ends have the same lanes, or each end
 * is unchanged, even if requests are refused or lost, or other controllers take lanes meanwhile.
 * The ends are of two kernels, or of one, that account for lanes as kmod/core/slice/lanes.c does.
 */
#include <stdio.h>

#include "../internal/client.h"
#include "../util/mix.h"
#include "edge_sites.h"

#define ROUNDS 3000

/* ------------------------------------------------------------- the two ends */

static void make_sites(uint32_t second_fabric)
{
	static const char first_uuid[] = "first-uuid-here-", second_uuid[] = "second-uuid-here";

	sites[0] = (struct site){ .fabric = 3,
				  .edge = 0,
				  .guide = 17,
				  .uuid = first_uuid,
				  .peer_uuid = second_uuid,
				  .peer_edge = 4,
				  .epoch = 2,
				  .decides = OURS };
	sites[1] = (struct site){ .fabric = second_fabric,
				  .edge = 4,
				  .guide = 21,
				  .uuid = second_uuid,
				  .peer_uuid = first_uuid,
				  .peer_edge = 0,
				  .epoch = 5,
				  .decides = OURS };
	memset(&requests, 0, sizeof(requests));
}

static void make_kernel(struct site *site)
{
	site->fake = fake_new();
	site->fake->request = sites_answer;
	site->ctx = fake_ctx(&site->fake->transport);
}

/* Two kernels, each with a fabric of the same number. */
static int begin(void **state)
{
	(void)state;
	make_sites(3);
	make_kernel(&sites[0]);
	make_kernel(&sites[1]);
	return 0;
}

static int begin_as_one(void **state)
{
	(void)state;
	make_sites(4);
	make_kernel(&sites[0]);
	sites[1].fake = sites[0].fake;
	sites[1].ctx = sites[0].ctx;
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (sites[1].ctx != sites[0].ctx)
		morph_ctx_free(sites[1].ctx);
	morph_ctx_free(sites[0].ctx);
	return 0;
}

/* Make the call with one end or the other first. */
static int call_from(size_t first, uint32_t count, uint64_t among, uint64_t *lanes)
{
	struct morph_controller_end ends[2];

	requests.wanted = count;
	requests.count = requests.reserved = 0;
	requests.first = NULL;
	for (size_t at = 0; at < ARRAY_SIZE(ends); at++) {
		struct site *site = &sites[first ^ at];

		site->had = site->ours;
		ends[at] = (struct morph_controller_end){ site->ctx, site->fabric, site->edge,
							  site->epoch };
	}
	return morph_controller_reserve_edge(ends, OURS, count, among, lanes);
}

static int call(uint32_t count, uint64_t *lanes)
{
	return call_from(0, count, 0, lanes);
}

static void assert_both(uint64_t lanes)
{
	for (size_t at = 0; at < ARRAY_SIZE(sites); at++) {
		assert_int_equal(sites[at].ours, lanes);
		assert_int_equal(sites[at].bears, sites[at].epoch);
	}
}

static void assert_as_before(void)
{
	for (size_t at = 0; at < ARRAY_SIZE(sites); at++)
		assert_int_equal(sites[at].ours, sites[at].had);
}

/* Both contexts report the failure, with these words. */
static void assert_error(int error, const char *words)
{
	for (size_t at = 0; at < ARRAY_SIZE(sites); at++) {
		assert_int_equal(morph_error_code(sites[at].ctx), error);
		if (!strstr(morph_error_text(sites[at].ctx), words))
			fail_msg("\"%s\" does not have \"%s\"", morph_error_text(sites[at].ctx),
				 words);
	}
}

/* ------------------------------------------------------- what is reserved */

static void lanes_are_the_same_at_both_ends(void **state)
{
	uint64_t lanes;

	(void)state;
	sites[0].theirs = 0x3;
	sites[1].theirs = 0x4;
	assert_int_equal(call(3, &lanes), 0);
	assert_int_equal(lanes, 0x38);
	assert_both(0x38);
	/* More lanes, fewer lanes, and lanes of a mask. */
	assert_int_equal(call(5, &lanes), 0);
	assert_both(0xf8);
	assert_int_equal(call(2, &lanes), 0);
	assert_both(0x18);
	assert_int_equal(call_from(0, 2, 0xf000, &lanes), 0);
	assert_both(0x3000);
	assert_int_equal(call_from(1, 2, 0, NULL), 0);
	assert_both(0x3000);
}

/*
 * Lanes that a call left at one end are the first choice of the next call, together with reserved
 * and lit lanes.
 */
static void lanes_left_at_one_end_are_reused(void **state)
{
	uint64_t lanes;

	(void)state;
	sites[0].ours = 0x1f00;
	sites[1].ours = 0x1000;
	sites[0].lit = sites[1].lit = 0x4;
	assert_int_equal(call(4, &lanes), 0);
	assert_both(0x1304);
}

/* Two calls that begin at different ends and want all lanes would get one end each. */
static void the_same_end_is_asked_first_by_whomever(void **state)
{
	(void)state;
	for (uint32_t count = 1; count <= 17; count++)
		for (size_t first = 0; first < ARRAY_SIZE(sites); first++) {
			assert_int_equal(call_from(first, count, 0, NULL),
					 count > 16 ? -EINVAL : 0);
			assert_ptr_equal(requests.first, &sites[count > 16]);
		}
}

/* Random lanes: one in two, in four, in eight. */
static uint64_t one_in(uint32_t parts, uint64_t *random)
{
	uint64_t lanes = LANES;

	for (; parts > 1; parts /= 2)
		lanes &= mix_next(random);
	return lanes;
}

/*
 * Draw each site at random: some lanes are reserved, lit or prepared, and another controller has
 * some.
 */
static void make_random(uint64_t *random)
{
	uint64_t lit = one_in(4, random), prepared = one_in(8, random) & ~lit;
	uint32_t reserved = mix_below(random, 2) ? 4 : 8;

	for (size_t at = 0; at < ARRAY_SIZE(sites); at++) {
		struct site *site = &sites[at];

		site->ours = one_in(reserved, random);
		site->theirs = one_in(2, random) & ~site->ours;
		site->decides = mix_below(random, 3) ? OURS : OTHERS;
		site->lit = site->decides == OURS ? lit & ~site->theirs : 0;
		site->prepared = 0;
		if (site->decides == OURS && !mix_below(random, 4))
			site->prepared = prepared & ~(site->theirs | site->ours);
		site->conflicts = 0;
	}
}

/* Reserved lanes stay as far as permitted, then lit ones. */
static void assert_kept(const uint64_t *had, uint64_t lit, uint32_t count, uint64_t lanes)
{
	uint64_t both = had[0] & had[1];
	uint64_t dark = both & ~lit;

	assert_int_equal(edge_weight(lanes & both),
			 edge_weight(both) < count ? edge_weight(both) : count);
	if (edge_weight(both) >= count)
		assert_true((both & lit & ~lanes) == 0 || (dark & lanes) == 0);
	else if (edge_weight(both | lit) >= count)
		assert_int_equal(lanes & ~(both | lit), 0);
	else
		assert_int_equal(lit & ~lanes, 0);
}

/*
 * Both ends get the lanes if enough common lanes exist. Otherwise the call fails with a conflict
 * that one kernel has counted, and nothing changes.
 */
static void lanes_are_reserved_if_enough_are_free(void **state)
{
	uint32_t good = 0, conflicts = 0;
	uint64_t random = 1;

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t count = 1 + mix_below(&random, 9);
		uint64_t common, lanes, again;
		int error;

		make_random(&random);
		common = site_may_have(&sites[0]) & site_may_have(&sites[1]);
		error = call_from(round % 2, count, 0, &lanes);
		if (error) {
			assert_true(edge_weight(common) < count);
			assert_int_equal(error, -EBUSY);
			assert_int_equal(lanes, 0);
			assert_as_before();
			assert_int_equal(sites[0].conflicts + sites[1].conflicts, 1);
			conflicts++;
			continue;
		}
		good++;
		assert_int_equal(edge_weight(lanes), count);
		assert_int_equal(lanes & ~common, 0);
		assert_both(lanes);
		assert_int_equal(sites[0].conflicts + sites[1].conflicts, 0);
		assert_kept((uint64_t[]){ sites[0].had, sites[1].had },
			    (sites[0].lit | sites[1].lit) & common, count, lanes);
		/* Repeat the call with the ends in any order. */
		assert_int_equal(call_from((round + 1) % 2, count, 0, &again), 0);
		assert_int_equal(again, lanes);
		assert_both(lanes);
	}
	print_message("%u reserved, %u conflicts\n", good, conflicts);
	assert_true(good > ROUNDS / 4 && conflicts > ROUNDS / 4);
}

static void lanes_of_an_ended_slice_are_free(void **state)
{
	uint64_t lanes;

	(void)state;
	sites[0].lit = 0x10;
	sites[0].slice_gone = true;
	assert_int_equal(call(1, &lanes), 0);
	assert_both(0x1);
}

static void both_ends_are_given_back(void **state)
{
	(void)state;
	sites[0].ours = 0xf;
	sites[1].ours = 0x3c;
	assert_int_equal(call(0, NULL), 0);
	assert_int_equal(sites[0].ours | sites[1].ours, 0);
	/* Use one end only if the other one is unreachable. */
	for (uint32_t nth = 1; nth <= 10; nth++) {
		sites[0].ours = sites[1].ours = 0xf;
		requests.refused_at = nth;
		requests.refused_until = nth + 1;
		requests.error = EPERM;
		assert_int_equal(call(0, NULL), -EPERM);
		assert_int_equal(!sites[0].ours + !sites[1].ours, 1);
		assert_error(EPERM, sites[0].ours ? "first end" : "second end");
	}
	requests.refused_at = 1;
	requests.refused_until = UINT32_MAX;
	assert_int_equal(call(0, NULL), -EPERM);
	assert_error(EPERM, "first end");
	requests.refused_until = 0;
	assert_int_equal(call(0, NULL), 0);
	assert_int_equal(sites[0].ours | sites[1].ours, 0);
}

/* -------------------------------------------------------- what is refused */

static void ends_that_do_not_name_each_other_are_refused(void **state)
{
	struct site right = sites[1];

	(void)state;
	sites[0].ours = sites[1].ours = 0x3;
	sites[1].peer_edge = 1;
	for (uint32_t count = 0; count < 2; count++) {
		assert_int_equal(call(count, NULL), -EINVAL);
		assert_as_before();
		assert_int_equal(requests.count, 8);
		assert_error(EINVAL,
			     "the ends do not name each other: first end, edge 0 of fabric ");
		assert_error(EINVAL,
			     ", names edge 4 of fabric 7365636f-6e64-2d75-7569-642d68657265");
		assert_error(EINVAL,
			     "second end, edge 4 of fabric 7365636f-6e64-2d75-7569-642d68657265");
		assert_error(EINVAL,
			     ", names edge 1 of fabric 66697273-742d-7575-6964-2d686572652d");
	}
	sites[1].peer_edge = right.peer_edge;
	sites[1].peer_uuid = sites[1].uuid;
	assert_int_equal(call(1, NULL), -EINVAL);
	sites[1].peer_uuid = NULL;
	assert_int_equal(call(1, NULL), -EINVAL);
	assert_error(EINVAL, "names none");
	sites[1].peer_uuid = right.peer_uuid;
	sites[0].peer_uuid = NULL;
	assert_int_equal(call(1, NULL), -EINVAL);
	assert_as_before();
}

static void refusals_name_the_end_at_fault(void **state)
{
	(void)state;
	sites[1].theirs = LANES & ~0x7ull;
	assert_int_equal(call(4, NULL), -EBUSY);
	assert_error(EBUSY, "second end, edge 4 of fabric");
	assert_int_equal(call_from(1, 4, 0, NULL), -EBUSY);
	assert_error(EBUSY, "first end, edge 4 of fabric");
	sites[0].theirs = 0x1;
	assert_int_equal(call(3, NULL), -EBUSY);
	assert_error(EBUSY, "first end, edge 0 of fabric");
	assert_int_equal(call(17, NULL), -EINVAL);
	sites[1].marked = true;
	assert_int_equal(call(1, NULL), -EIO);
	assert_error(EIO, "second end, edge 4 of fabric");
	assert_as_before();
}

static void control_that_was_lost_changes_nothing(void **state)
{
	(void)state;
	sites[0].ours = 0x1;
	for (size_t at = 0; at < ARRAY_SIZE(sites); at++) {
		const struct morph_controller_end ends[] = {
			{ sites[0].ctx, sites[0].fabric, sites[0].edge, sites[0].epoch - !at },
			{ sites[1].ctx, sites[1].fabric, sites[1].edge, sites[1].epoch - at },
		};

		sites[0].had = sites[0].ours;
		assert_int_equal(morph_controller_reserve_edge(ends, OURS, 2, 0, NULL), -ESTALE);
		assert_error(ESTALE, at ? "second end" : "first end");
		assert_as_before();
	}
}

/* Another controller takes a lane of the second end each time, until no tries are left. */
static void an_overtaken_controller_tries_again(void **state)
{
	uint64_t lanes;

	(void)state;
	sites[0].ours = 0x1;
	sites[1].ours = 0x2;
	requests.overtaken = 3;
	assert_int_equal(call(4, &lanes), 0);
	assert_both(lanes);
	assert_int_equal(edge_weight(lanes), 4);
	assert_int_equal(edge_weight(sites[1].theirs), 3);
	assert_int_equal(lanes & sites[1].theirs, 0);
	requests.overtaken = UINT32_MAX;
	sites[1].theirs = 0;
	sites[0].ours = 0x8001;
	sites[1].ours = 0x8002;
	assert_int_equal(call(4, &lanes), -EBUSY);
	assert_int_equal(lanes, 0);
	assert_as_before();
	assert_error(EBUSY, "second end");
	/* The report refers to the last try. */
	sites[1].theirs = 0;
	requests.overtaken = 1;
	requests.refused_at = 11;
	requests.refused_until = 12;
	requests.error = EPERM;
	assert_int_equal(call(4, NULL), -EPERM);
	assert_as_before();
	assert_error(EPERM, "first end");
}

/* --------------------------------------------------------- what goes wrong */

/*
 * Reservations before the call: none, fewer, others, more, and the rest of a call that ended in
 * between.
 */
static const struct {
	uint64_t first, second;
	uint32_t count;
	bool grows; /* first end, then second end */
} starts[] = {
	{ 0, 0, 3, true },	  { 0x1, 0x1, 3, true }, { 0x30, 0xc0, 3, true },
	{ 0xff, 0xff, 3, false }, { 0xf, 0, 4, false },	 { 0x1f, 0x3c, 2, false },
};

static void start(size_t at)
{
	sites[0].ours = starts[at].first;
	sites[1].ours = starts[at].second;
	sites[0].lit = sites[1].lit = 0x2;
}

/*
 * Both ends have the lanes, or both are unchanged; or both have the lanes, and one has more, which
 * the same call returns.
 */
static void assert_ended(int error, uint64_t lanes, uint32_t count)
{
	if (!error) {
		assert_both(lanes);
	} else if (lanes) {
		assert_int_equal(edge_weight(lanes), count);
		assert_int_equal(lanes & ~(sites[0].ours & sites[1].ours), 0);
	} else {
		assert_as_before();
	}
	assert_int_equal(call(count, &lanes), 0);
	assert_both(lanes);
	assert_int_equal(edge_weight(lanes), count);
}

static void each_request_may_be_refused(void **state)
{
	(void)state;
	for (size_t at = 0; at < ARRAY_SIZE(starts); at++) {
		uint32_t count = starts[at].count, nth = 0;
		uint64_t lanes;
		int error;

		do {
			start(at);
			requests.refused_at = ++nth;
			requests.refused_until = nth + 1;
			requests.error = EPERM;
			error = call(count, &lanes);
			assert_int_equal(error, nth <= requests.count ? -EPERM : 0);
			requests.refused_until = 0;
			assert_ended(error, lanes, count);
		} while (error);
		assert_true(nth > 10);
	}
}

/*
 * The caller dies before any one of its requests. No earlier lane is lost. The next caller, with
 * its own epoch, gets both ends by the same call.
 */
static void next_controller_completes_a_half_reservation(void **state)
{
	(void)state;
	for (size_t at = 0; at < ARRAY_SIZE(starts); at++) {
		uint32_t count = starts[at].count, nth = 0, halves = 0;
		uint64_t lanes;
		int error;

		do {
			start(at);
			requests.refused_at = ++nth;
			requests.refused_until = UINT32_MAX;
			requests.error = ENODEV;
			error = call(count, &lanes);
			sites_check_kept();
			halves += (sites[0].ours & ~sites[0].had) && sites[1].ours == sites[1].had;
			requests.refused_until = 0;
			sites[0].epoch++;
			sites[1].epoch++;
			assert_int_equal(call(count, &lanes), 0);
			assert_int_equal(edge_weight(lanes), count);
			assert_both(lanes);
		} while (error);
		/* Between the requests to the two ends, one end has more lanes than before. */
		assert_int_equal(halves, starts[at].grows ? 1 : 0);
	}
}

static void failed_restorations_are_reported(void **state)
{
	uint64_t lanes;

	(void)state;
	sites[0].ours = 0x1;
	requests.refused_at = 10; /* the second end */
	requests.refused_until = UINT32_MAX;
	requests.error = ENODEV;
	assert_int_equal(call(2, &lanes), -ENODEV);
	assert_int_equal(lanes, 0);
	assert_error(ENODEV, "second end, edge 4 of fabric");
	assert_error(ENODEV, "; restoring the first end failed: ");
	assert_int_equal(sites[0].ours, 0x3);
	assert_int_equal(sites[1].ours, 0);
}

static unsigned int sweep(const char *what, int code)
{
	unsigned int calls = 0;

	for (size_t at = 0; at < ARRAY_SIZE(starts); at++) {
		uint32_t count = starts[at].count;
		unsigned int nth = 0;
		uint64_t lanes;
		bool struck;
		int error;

		do {
			start(at);
			fault_at(what, ++nth, code);
			error = call(count, &lanes);
			struck = fault_struck();
			assert_int_equal(error, struck ? -code : 0);
			if (struck)
				assert_error(code, " end, edge ");
			assert_ended(error, lanes, count);
		} while (struck);
		calls += nth - 1;
	}
	print_message("%u calls of %s failed\n", calls, what);
	return calls;
}

/* Requests that are not sent, and lost answers to requests that the kernel carried out. */
static void each_call_of_the_kernels_may_fail(void **state)
{
	(void)state;
	assert_true(sweep("kernel", EMFILE) > 150);
}

static void each_allocation_may_fail(void **state)
{
	(void)state;
	assert_true(sweep("memory", ENOMEM) > 300);
}

#define BOTH_WAYS(test)                                                                       \
	{ .name = #test, .test_func = test, .setup_func = begin, .teardown_func = end },      \
	{                                                                                     \
		.name = #test " (one kernel)", .test_func = test, .setup_func = begin_as_one, \
		.teardown_func = end                                                          \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH_WAYS(lanes_are_the_same_at_both_ends),
		BOTH_WAYS(lanes_are_reserved_if_enough_are_free),
		BOTH_WAYS(lanes_left_at_one_end_are_reused),
		BOTH_WAYS(the_same_end_is_asked_first_by_whomever),
		BOTH_WAYS(lanes_of_an_ended_slice_are_free),
		BOTH_WAYS(both_ends_are_given_back),
		BOTH_WAYS(ends_that_do_not_name_each_other_are_refused),
		BOTH_WAYS(refusals_name_the_end_at_fault),
		BOTH_WAYS(control_that_was_lost_changes_nothing),
		BOTH_WAYS(an_overtaken_controller_tries_again),
		BOTH_WAYS(each_request_may_be_refused),
		BOTH_WAYS(next_controller_completes_a_half_reservation),
		BOTH_WAYS(failed_restorations_are_reported),
		BOTH_WAYS(each_call_of_the_kernels_may_fail),
		BOTH_WAYS(each_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
