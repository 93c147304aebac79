// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each act of the library with the n-th allocation failing, and with the n-th call of the kernel
 * failing, for n from 1 on until it succeeds. Each time the act reports the failure, returns
 * nothing, leaks nothing (the sanitizer checks that at the end), and can be repeated.
 */
#include <stdio.h>
#include <unistd.h>

#include "../internal/client.h"
#include "acts.h"
#include "acts_planning.h"
#include "fake.h"

static struct morph_ctx *ctx;
static const char *profile;

/* Returns the number of calls of @what. */
static unsigned int sweep(const struct act *act, const char *what, int error)
{
	for (unsigned int nth = 1;; nth++) {
		int result;

		fault_at(what, nth, error);
		result = act_do(act);
		if (!fault_struck()) {
			if (result < 0)
				fail_msg("%s with nothing failing: %s", act->name,
					 morph_error_text(ctx));
			return nth - 1;
		}
		if (result >= 0 && act->may_succeed)
			continue;
		if (result != -error || morph_error_code(ctx) != error || !*morph_error_text(ctx))
			fail_msg("%s, with call %u of %s failing: %d and %d, \"%s\"", act->name,
				 nth, what, result, morph_error_code(ctx), morph_error_text(ctx));
	}
}

static int begin(void **state)
{
	(void)state;
	ctx = acts_begin(profile);
	return 0;
}

static int end(void **state)
{
	(void)state;
	acts_end();
	return 0;
}

static void plans_pass_the_checker(void **state)
{
	(void)state;
	acts_planning_check(true);
	assert_int_equal(plan_schedules(), 0);
	assert_int_equal(choose_schedule(), 0);
	acts_planning_check(false);
}

static void every_allocation_may_fail(void **state)
{
	unsigned int calls = 0;

	(void)state;
	for (size_t at = 0; at < acts_count; at++)
		calls += sweep(&acts[at], "memory", ENOMEM);
	print_message("%u allocations failed\n", calls);
	assert_true(calls > 600);
}

static void every_call_of_the_kernel_may_fail(void **state)
{
	unsigned int calls = 0;

	(void)state;
	for (size_t at = 0; at < acts_count; at++)
		calls += sweep(&acts[at], "kernel", EMFILE);
	print_message("%u calls of the kernel failed\n", calls);
	assert_true(calls > 170);
}

/* ----------------------------------------------------- without a context */

static void contexts_are_made_or_not(void **state)
{
	static char path[] = "/tmp/libmorph-faults-XXXXXX";
	MORPH_OPTS(morph_ctx_opts, plain);
	MORPH_OPTS(morph_ctx_opts, recorded, .record_path = path);
	MORPH_OPTS(morph_ctx_opts, replayed, .replay_path = path);
	const struct {
		const struct morph_ctx_opts *opts;
		unsigned int allocations; /* memory that a replay allocates before it reads */
	} ways[] = { { &plain, 2 }, { &recorded, 4 }, { &replayed, 3 } };
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	for (size_t at = 0; at < ARRAY_SIZE(ways); at++) {
		struct morph_ctx *made = POISON;

		for (unsigned int nth = 1; nth <= ways[at].allocations; nth++) {
			fault_at("memory", nth, ENOMEM);
			assert_int_equal(morph_ctx_new(ways[at].opts, &made), -ENOMEM);
			assert_true(fault_struck());
			assert_null(made);
		}
		assert_int_equal(morph_ctx_new(ways[at].opts, &made), 0);
		morph_ctx_free(made);
	}
	unlink(path);
}

static void copies_are_made_or_not(void **state)
{
	struct morph_object *object = lm_object_new(MORPH_OBJECT_SLICE, NULL), *copy;
	unsigned int nth = 0;
	int error;

	(void)state;
	assert_int_equal(lm_put_text(object, MORPH_A_SLICE_NAME, "job", 3), 0);
	for (int rank = 0; rank < 40; rank++) {
		struct morph_object *inner = lm_object_new(MORPH_OBJECT_RANK, NULL);

		assert_int_equal(lm_put_uuid(inner, MORPH_A_RANK_UUID, "0123456789abcdef"), 0);
		assert_int_equal(lm_put_object(object, MORPH_A_SLICE_RANK, inner), 0);
	}
	do {
		fault_at("memory", ++nth, ENOMEM);
		error = morph_object_copy(object, &copy);
		assert_int_equal(error, fault_struck() ? -ENOMEM : 0);
		assert_int_equal(!copy, !!error);
	} while (error);
	assert_int_equal(morph_object_values(copy, "rank"), 40);
	morph_object_free(copy);
	morph_object_free(object);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(plans_pass_the_checker, begin, end),
		cmocka_unit_test_setup_teardown(every_allocation_may_fail, begin, end),
		cmocka_unit_test_setup_teardown(every_call_of_the_kernel_may_fail, begin, end),
		cmocka_unit_test(contexts_are_made_or_not),
		cmocka_unit_test(copies_are_made_or_not),
	};

	if (count < 2) {
		fprintf(stderr, "usage: %s PROFILE\n", arguments[0]);
		return 2;
	}
	profile = arguments[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
