// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Plans that a collective library looks up: which plans, how often they are made, and concurrent
 * lookups.
 */
#include <pthread.h>
#include <stdio.h>

#include "../internal/planner.h"
#include "../bench/random.h"
#include "faults.h"
#include "scheduling.h"
#include "shims.h"

#define THREADS 8
#define LOOKUPS 400

static void sizes_are_rounded_up_to_buckets(void **state)
{
	(void)state;
	for (uint32_t parts = 1; parts <= 8; parts *= 2) {
		MORPH_OPTS(morph_shim_opts, opts, .ranks = 2, .parts = parts);
		struct morph_shim *shim = shim_of(&opts);
		uint64_t last = 0;

		for (uint64_t bytes = 0; bytes < 5000; bytes++) {
			uint64_t ends = morph_shim_bytes(shim, bytes);

			/*
			 * A bucket's size is at least the request, grows with it, is its own
			 * bucket, and is close to the request.
			 */
			assert_true(ends >= bytes && ends >= last && ends);
			assert_int_equal(morph_shim_bytes(shim, ends), ends);
			assert_true((ends - bytes) * parts <= ends || ends - bytes <= 1);
			last = ends;
		}
		assert_int_equal(morph_shim_bytes(shim, (1ULL << 49) + 1),
				 (1ULL << 49) + (1ULL << 49) / parts);
		assert_int_equal(morph_shim_bytes(shim, 1ULL << 50), 1ULL << 50);
		assert_int_equal(morph_shim_bytes(shim, (1ULL << 50) + 1), UINT64_MAX);
		morph_shim_free(shim);
	}
}

/*
 * The plan is the planner's own plan for the bucket's size. A second lookup returns the same plan
 * and allocates nothing.
 */
static void a_plan_is_made_once(void **state)
{
	struct morph_shim *shim = some_shim(8, 2);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);

	(void)state;
	for (uint32_t kind = 1; kind <= KINDS; kind++) {
		MORPH_OPTS(morph_collective_opts, wanted, .kind = kind, .ranks = 8, .bytes = 98304);
		MORPH_OPTS(morph_schedule_opts, opts, .planes = 2);
		const struct morph_shim_plan *plan = look_up(shim, kind, 98000, NULL), *again;
		uint64_t bytes;

		morph_shim_plan_algorithm(plan, &bytes);
		assert_int_equal(bytes, 98304);
		assert_int_equal(morph_schedule_choose(schedule, collective, &wanted, delay, &opts,
						       NULL),
				 0);
		assert_int_equal(morph_schedule_ns(schedule, NULL),
				 morph_schedule_ns(morph_shim_plan_schedule(plan), NULL));
		assert_valid(morph_shim_plan_collective(plan), delay, 2, NULL,
			     morph_shim_plan_schedule(plan));
		MORPH_OPTS(morph_shim_plan_info, info);
		assert_int_equal(morph_shim_plan_info(plan, &info), 0);
		assert_int_equal(info.bytes, bytes);
		assert_ptr_equal(info.schedule, morph_shim_plan_schedule(plan));
		assert_ptr_equal(info.collective, morph_shim_plan_collective(plan));
		assert_null(info.steps);
		assert_int_equal(info.choice.algorithm, morph_shim_plan_algorithm(plan, NULL));
		allocations();
		assert_int_equal(morph_shim_lookup(shim, kind, 98304, NULL, &again), 0);
		assert_int_equal(allocations(), 0);
		assert_ptr_equal(again, plan);
	}
	assert_int_equal(morph_shim_plans(shim, NULL), KINDS);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
	morph_delay_free(delay);
	morph_shim_free(shim);
}

/* The plan does not depend on a rank's earlier lookups. */
static void all_ranks_get_the_same_plan(void **state)
{
	struct morph_shim *one = some_shim(6, 2), *other = some_shim(6, 2);

	(void)state;
	for (uint32_t kind = 1; kind <= KINDS; kind++)
		for (uint32_t power = 0; power < 30; power += 3)
			look_up(one, kind, 1ULL << power, NULL);
	for (uint32_t kind = KINDS; kind >= 1; kind--)
		for (uint32_t power = 30; power > 0; power -= 3)
			assert_same_plan(look_up(other, kind, 1ULL << (power - 3), NULL),
					 look_up(one, kind, 1ULL << (power - 3), NULL));
	morph_shim_free(one);
	morph_shim_free(other);
}

/* Plans depend on the lit circuits only: if the circuits repeat, the plans repeat. */
static void plans_follow_one_another(void **state)
{
	static const struct {
		uint32_t kind;
		uint64_t bytes;
	} iteration[] = { { MORPH_ALL_GATHER, 1 << 20 },
			  { MORPH_ALL_TO_ALL, 1 << 16 },
			  { MORPH_ALL_REDUCE, 1 << 24 } };
	struct morph_shim *shim = some_shim(8, 2);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	const struct morph_shim_plan *before = NULL, *plan;
	uint32_t count = 0;

	(void)state;
	for (uint32_t at = 0; at < 30; at++) {
		plan = look_up(shim, iteration[at % 3].kind, iteration[at % 3].bytes, before);
		assert_valid(morph_shim_plan_collective(plan), delay, 2,
			     before ? morph_shim_plan_schedule(before) : NULL,
			     morph_shim_plan_schedule(plan));
		before = plan;
		if (at == 14)
			count = morph_shim_plans(shim, NULL);
	}
	assert_int_equal(morph_shim_plans(shim, NULL), count);
	assert_true(count <= 9);
	/* The plan need not light circuits that are lit. */
	plan = look_up(shim, MORPH_ALL_GATHER, 1 << 20, NULL);
	before = look_up(shim, MORPH_ALL_GATHER, 1 << 20, plan);
	assert_true(morph_schedule_ns(morph_shim_plan_schedule(before), NULL) <
		    morph_schedule_ns(morph_shim_plan_schedule(plan), NULL));
	morph_delay_free(delay);
	morph_shim_free(shim);
}

struct asking {
	pthread_t thread;
	struct morph_shim *shim;
	uint64_t seed;
	const struct morph_shim_plan *found[KINDS][16];
	int wrong;
};

static void *ask(void *argument)
{
	struct asking *asking = argument;
	const struct morph_shim_plan *last = NULL;

	for (uint32_t at = 0; at < LOOKUPS; at++) {
		uint32_t kind = random_below(&asking->seed, KINDS);
		uint32_t power = random_below(&asking->seed, 16);
		const struct morph_shim_plan **found = &asking->found[kind][power], *plan;

		if (morph_shim_lookup(asking->shim, kind + 1, 1ULL << power, NULL, &plan) ||
		    (*found && *found != plan) || !morph_shim_plan_algorithm(plan, NULL))
			asking->wrong++;
		*found = plan;
		if (at % 8 == 0 && last &&
		    morph_shim_lookup(asking->shim, kind + 1, 1ULL << 8, last, &plan))
			asking->wrong++;
		last = *found;
	}
	return NULL;
}

static void threads_ask_at_once(void **state)
{
	static struct asking askings[THREADS];
	struct morph_shim *shim = some_shim(4, 1);

	(void)state;
	memset(askings, 0, sizeof(askings));
	for (uint32_t at = 0; at < THREADS; at++) {
		askings[at].shim = shim;
		askings[at].seed = at + 1;
		assert_int_equal(pthread_create(&askings[at].thread, NULL, ask, &askings[at]), 0);
	}
	for (uint32_t at = 0; at < THREADS; at++)
		assert_int_equal(pthread_join(askings[at].thread, NULL), 0);
	for (uint32_t at = 0; at < THREADS; at++) {
		assert_int_equal(askings[at].wrong, 0);
		for (uint32_t kind = 0; kind < KINDS; kind++)
			for (uint32_t power = 0; power < 16; power++)
				if (askings[at].found[kind][power])
					assert_ptr_equal(askings[at].found[kind][power],
							 look_up(shim, kind + 1, 1ULL << power,
								 NULL));
	}
	morph_shim_free(shim);
}

static void memory_is_bounded(void **state)
{
	MORPH_OPTS(morph_shim_opts, few, .ranks = 4, .most_plans = 3);
	MORPH_OPTS(morph_shim_opts, small, .ranks = 16, .most_bytes = 100000);
	struct morph_shim *shim = shim_of(&few);
	const struct morph_shim_plan *first = look_up(shim, MORPH_ALL_REDUCE, 1, NULL), *plan;
	uint32_t found = 0;
	uint64_t bytes;

	(void)state;
	look_up(shim, MORPH_ALL_REDUCE, 2, NULL);
	look_up(shim, MORPH_ALL_REDUCE, 4, NULL);
	assert_shim_refused(shim, morph_shim_lookup(shim, MORPH_ALL_REDUCE, 8, NULL, &plan),
			    -ENOSPC, "the shim already keeps 3 plans, the maximum");
	assert_null(plan);
	assert_ptr_equal(look_up(shim, MORPH_ALL_REDUCE, 1, NULL), first);
	morph_shim_free(shim);
	shim = shim_of(&small);
	while (!morph_shim_lookup(shim, MORPH_ALL_TO_ALL, 1ULL << found, NULL, &plan))
		found++;
	assert_shim_refused(shim,
			    morph_shim_lookup(shim, MORPH_ALL_TO_ALL, 1ULL << found, NULL, &plan),
			    -ENOSPC, "at most 100000 bytes for all plans; ");
	assert_int_equal(morph_shim_plans(shim, &bytes), found);
	assert_true(found && bytes <= 100000);
	/* From here on nothing is planned: no memory is allocated. */
	fault_at("memory", 1, ENOMEM);
	assert_shim_refused(shim,
			    morph_shim_lookup(shim, MORPH_ALL_TO_ALL, 1ULL << found, NULL, &plan),
			    -ENOSPC, "at most 100000 bytes for all plans; ");
	assert_false(fault_struck());
	assert_non_null(look_up(shim, MORPH_ALL_TO_ALL, 1, NULL));
	morph_shim_free(shim);
}

static void impossible_requests_are_reported(void **state)
{
	MORPH_OPTS(morph_shim_opts, opts, .ranks = 8, .policy = MORPH_POLICY_ONE_SHOT);
	struct morph_shim *shim = shim_of(&opts), *other = some_shim(8, 1), *none;
	struct morph_delay *delay = morph_delay_new(ctx);
	const struct morph_shim_plan *plan;

	(void)state;
	assert_shim_refused(shim, morph_shim_lookup(shim, 0, 1, NULL, &plan), -EINVAL,
			    "unknown collective");
	assert_shim_refused(shim, morph_shim_lookup(shim, 6, 1, NULL, &plan), -EINVAL,
			    "unknown collective");
	assert_shim_refused(shim, morph_shim_lookup(shim, 1, (1ULL << 50) + 1, NULL, &plan), -E2BIG,
			    "a buffer has at most 2^50 bytes");
	plan = look_up(other, 1, 1, NULL);
	assert_shim_refused(shim, morph_shim_lookup(shim, 1, 1, plan, &plan), -EINVAL,
			    "the plan to follow belongs to another shim");
	assert_int_equal(morph_shim_new(ctx, delay, &opts, &none), -EINVAL);
	assert_string_equal(morph_error_text(ctx),
			    "the delay has no bandwidth; call morph_delay_set() first");
	morph_delay_free(delay);
	delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	for (uint32_t at = 0; at < 7; at++) {
		struct morph_shim_opts bad = opts;

		*(uint32_t *[]){ &bad.ranks, &bad.ranks, &bad.planes,	 &bad.policy,
				 &bad.root,  &bad.parts, &bad.most_plans }[at] =
			(uint32_t[]){ 0, 4097, 65, MORPH_POLICIES, 8, 3, 65537 }[at];
		assert_int_equal(morph_shim_new(ctx, delay, &bad, &none), -EINVAL);
		assert_null(none);
	}
	opts.sz = 3;
	assert_int_equal(morph_shim_new(ctx, delay, &opts, &none), -EINVAL);
	morph_delay_free(delay);
	morph_shim_free(shim);
	morph_shim_free(other);
	morph_shim_free(NULL);
}

/* The shim remembers that no schedule is feasible, and does not write it to the file. */
static void refusals_are_remembered(void **state)
{
	MORPH_OPTS(morph_shim_opts, opts, .ranks = 8, .policy = MORPH_POLICY_ONE_SHOT);
	struct morph_shim *shim = shim_of(&opts);
	const struct morph_shim_plan *plan;
	uint32_t refused = 0;

	(void)state;
	for (uint32_t kind = 1; kind <= KINDS; kind++) {
		int ret = morph_shim_lookup(shim, kind, 1000, NULL, &plan);

		assert_int_equal(morph_shim_lookup(shim, kind, 1000, NULL, &plan), ret);
		assert_true(!ret || ret == -ENOENT);
		refused += ret == -ENOENT;
	}
	assert_true(refused > 0);
	assert_int_equal(morph_shim_plans(shim, NULL), KINDS);
	morph_shim_free(shim);
}

/* Each allocation fails in turn: nothing is lost, and the next lookup works. */
/* Without memory for shorter lists they stay long. The plans are the same. */
static void out_of_memory(void **state)
{
	struct morph_shim *with = some_shim(4, 2);
	const struct morph_shim_plan *wanted[2], *plan;

	(void)state;
	wanted[0] = look_up(with, MORPH_BROADCAST, 1000, NULL);
	wanted[1] = look_up(with, MORPH_ALL_GATHER, 1000, wanted[0]);
	for (uint32_t plans = 0; plans < 2; plans++) {
		uint32_t kind = plans ? MORPH_ALL_GATHER : MORPH_BROADCAST;
		bool struck = true;

		for (unsigned int nth = 1; struck; nth++) {
			struct morph_shim *shim = some_shim(4, 2);
			const struct morph_shim_plan *first =
				plans ? look_up(shim, MORPH_BROADCAST, 1000, NULL) : NULL;
			int ret;

			fault_at("memory", nth, ENOMEM);
			ret = morph_shim_lookup(shim, kind, 1000, first, &plan);
			struck = fault_struck();
			assert_true(!ret || (struck && ret == -ENOMEM));
			assert_int_equal(morph_shim_plans(shim, NULL), plans + !ret);
			assert_same_plan(look_up(shim, kind, 1000, first), wanted[plans]);
			morph_shim_free(shim);
		}
	}
	morph_shim_free(with);
}

static void out_of_memory_there_is_no_shim(void **state)
{
	MORPH_OPTS(morph_shim_opts, opts, .ranks = 4, .planes = 2);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_shim *shim = NULL;
	bool struck = true;

	(void)state;
	for (unsigned int nth = 1; struck; nth++) {
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = morph_shim_new(ctx, delay, &opts, &shim);
		struck = fault_struck();
		assert_int_equal(ret, struck ? -ENOMEM : 0);
	}
	fault_at("memory", 1, ENOMEM);
	assert_int_equal(morph_shim_write(shim, NULL, 0), -ENOMEM);
	assert_true(fault_struck());
	morph_shim_free(shim);
	morph_delay_free(delay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_rounded_up_to_buckets),
		cmocka_unit_test(a_plan_is_made_once),
		cmocka_unit_test(all_ranks_get_the_same_plan),
		cmocka_unit_test(plans_follow_one_another),
		cmocka_unit_test(threads_ask_at_once),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(impossible_requests_are_reported),
		cmocka_unit_test(refusals_are_remembered),
		cmocka_unit_test(out_of_memory),
		cmocka_unit_test(out_of_memory_there_is_no_shim),
	};

	return cmocka_run_group_tests_name("shim", tests, begin, end);
}
