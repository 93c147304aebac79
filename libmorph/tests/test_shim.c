// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans that a collective library looks up: which, how often they are made, by how many at once, and in files. */
#include <pthread.h>
#include <stdio.h>

#include "../bench/random.h"
#include "faults.h"
#include "scheduling.h"

#define THREADS 8
#define LOOKUPS 400
#define KINDS 5

static struct morph_shim *shim_of(const struct morph_shim_opts *opts)
{
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_shim *shim = NULL;

	assert_int_equal(morph_shim_new(ctx, delay, opts, &shim), 0);
	morph_delay_free(delay);
	return shim;
}

static struct morph_shim *some_shim(uint32_t ranks, uint32_t planes)
{
	MORPH_OPTS(morph_shim_opts, opts, .ranks = ranks, .planes = planes, .parts = 2,
		   .profile_checksum = 0x1234);

	return shim_of(&opts);
}

static const struct morph_shim_plan *look_up(struct morph_shim *shim, uint32_t kind, uint64_t bytes,
					     const struct morph_shim_plan *after)
{
	const struct morph_shim_plan *plan;
	char why[256];

	if (morph_shim_lookup(shim, kind, bytes, after, &plan)) {
		morph_shim_why(shim, why, sizeof(why));
		fail_msg("%s", why);
	}
	return plan;
}

/* What a plan is, in words. */
static uint8_t *words_of(const struct morph_shim_plan *plan, size_t *bytes)
{
	const struct morph_schedule *schedule = morph_shim_plan_schedule(plan);
	const struct morph_collective *collective = morph_shim_plan_collective(plan);
	ssize_t first = morph_schedule_write(schedule, NULL, 0);
	ssize_t second = morph_collective_write(collective, NULL, 0);
	uint8_t *words = malloc((size_t)(first + second));

	assert_non_null(words);
	assert_int_equal(morph_schedule_write(schedule, words, (size_t)first), first);
	assert_int_equal(morph_collective_write(collective, words + first, (size_t)second), second);
	*bytes = (size_t)(first + second);
	return words;
}

static void assert_same(const struct morph_shim_plan *one, const struct morph_shim_plan *other)
{
	size_t bytes, others;
	uint8_t *words = words_of(one, &bytes), *its = words_of(other, &others);
	struct morph_choice choice, its_choice;

	assert_int_equal(bytes, others);
	assert_memory_equal(words, its, bytes);
	morph_shim_plan_choice(one, &choice);
	morph_shim_plan_choice(other, &its_choice);
	assert_int_equal(choice.algorithm, its_choice.algorithm);
	assert_int_equal(choice.radix, its_choice.radix);
	assert_int_equal(choice.segments, its_choice.segments);
	assert_memory_equal(choice.extent, its_choice.extent, sizeof(choice.extent));
	assert_int_equal(choice.policy, its_choice.policy);
	assert_int_equal(choice.rounds, its_choice.rounds);
	assert_int_equal(choice.ns, its_choice.ns);
	free(words);
	free(its);
}

static void sizes_are_rounded_up_to_buckets(void **state)
{
	(void)state;
	for (uint32_t parts = 1; parts <= 8; parts *= 2) {
		MORPH_OPTS(morph_shim_opts, opts, .ranks = 2, .parts = parts);
		struct morph_shim *shim = shim_of(&opts);
		uint64_t last = 0;

		for (uint64_t bytes = 0; bytes < 5000; bytes++) {
			uint64_t ends = morph_shim_bytes(shim, bytes);

			/* Not below, never falling, a size that stays what it is, and not far away. */
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

/* The plan is the planner's own, of the bucket's size; asked again it is the same one, and nothing is allocated. */
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
		assert_sound(morph_shim_plan_collective(plan), delay, 2, NULL,
			     morph_shim_plan_schedule(plan));
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

/* Whatever each has asked before. */
static void all_ranks_come_to_the_same(void **state)
{
	struct morph_shim *one = some_shim(6, 2), *other = some_shim(6, 2);

	(void)state;
	for (uint32_t kind = 1; kind <= KINDS; kind++)
		for (uint32_t power = 0; power < 30; power += 3)
			look_up(one, kind, 1ULL << power, NULL);
	for (uint32_t kind = KINDS; kind >= 1; kind--)
		for (uint32_t power = 30; power > 0; power -= 3)
			assert_same(look_up(other, kind, 1ULL << (power - 3), NULL),
				    look_up(one, kind, 1ULL << (power - 3), NULL));
	morph_shim_free(one);
	morph_shim_free(other);
}

/* What is lit counts and nothing else: where circuits come round, plans do. */
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
		assert_sound(morph_shim_plan_collective(plan), delay, 2,
			     before ? morph_shim_plan_schedule(before) : NULL,
			     morph_shim_plan_schedule(plan));
		before = plan;
		if (at == 14)
			count = morph_shim_plans(shim, NULL);
	}
	assert_int_equal(morph_shim_plans(shim, NULL), count);
	assert_true(count <= 9);
	/* It need not light what is lit. */
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

static void assert_refused(struct morph_shim *shim, int ret, int wanted, const char *why)
{
	char text[256];

	assert_int_equal(ret, wanted);
	morph_shim_why(shim, text, sizeof(text));
	if (strncmp(text, why, strlen(why)))
		fail_msg("'%s' is not '%s'", text, why);
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
	assert_refused(shim, morph_shim_lookup(shim, MORPH_ALL_REDUCE, 8, NULL, &plan), -ENOSPC,
		       "3 plans are kept, and no more");
	assert_null(plan);
	assert_ptr_equal(look_up(shim, MORPH_ALL_REDUCE, 1, NULL), first);
	morph_shim_free(shim);
	shim = shim_of(&small);
	while (!morph_shim_lookup(shim, MORPH_ALL_TO_ALL, 1ULL << found, NULL, &plan))
		found++;
	assert_refused(shim, morph_shim_lookup(shim, MORPH_ALL_TO_ALL, 1ULL << found, NULL, &plan),
		       -ENOSPC, "plans take 100000 bytes at most, and there are ");
	assert_int_equal(morph_shim_plans(shim, &bytes), found);
	assert_true(found && bytes <= 100000);
	/* Then nothing is planned any more: there is no memory asked for. */
	fault_at("memory", 1, ENOMEM);
	assert_refused(shim, morph_shim_lookup(shim, MORPH_ALL_TO_ALL, 1ULL << found, NULL, &plan),
		       -ENOSPC, "plans take 100000 bytes at most, and there are ");
	assert_false(fault_struck());
	assert_non_null(look_up(shim, MORPH_ALL_TO_ALL, 1, NULL));
	morph_shim_free(shim);
}

static void what_cannot_be_is_said(void **state)
{
	MORPH_OPTS(morph_shim_opts, opts, .ranks = 8, .policy = MORPH_POLICY_ONE_SHOT);
	struct morph_shim *shim = shim_of(&opts), *other = some_shim(8, 1), *none;
	struct morph_delay *delay = morph_delay_new(ctx);
	const struct morph_shim_plan *plan;

	(void)state;
	assert_refused(shim, morph_shim_lookup(shim, 0, 1, NULL, &plan), -EINVAL,
		       "there is no such collective");
	assert_refused(shim, morph_shim_lookup(shim, 6, 1, NULL, &plan), -EINVAL,
		       "there is no such collective");
	assert_refused(shim, morph_shim_lookup(shim, 1, (1ULL << 50) + 1, NULL, &plan), -E2BIG,
		       "a buffer has 2^50 bytes at most");
	plan = look_up(other, 1, 1, NULL);
	assert_refused(shim, morph_shim_lookup(shim, 1, 1, plan, &plan), -EINVAL,
		       "what is followed is a plan of another shim");
	assert_int_equal(morph_shim_new(ctx, delay, &opts, &none), -EINVAL);
	assert_string_equal(morph_error_text(ctx),
			    "the delay has no bandwidth: morph_delay_set_link() sets it");
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

/* That no schedule is feasible is known the second time, and not written. */
static void what_cannot_be_done_is_kept(void **state)
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
/* Without memory to make lists shorter they stay long; what is planned is the same. */
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
			assert_same(look_up(shim, kind, 1000, first), wanted[plans]);
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

/* ------------------------------------------------------------------ files */

static uint8_t *write_shim(struct morph_shim *shim, size_t *bytes)
{
	ssize_t size = morph_shim_write(shim, NULL, 0);
	uint8_t *data = malloc((size_t)size);

	assert_non_null(data);
	assert_int_equal(morph_shim_write(shim, data, (size_t)size - 1), -ENOSPC);
	assert_int_equal(morph_shim_write(shim, data, (size_t)size), size);
	*bytes = (size_t)size;
	return data;
}

static uint8_t *some_file(uint32_t ranks, uint32_t planes, size_t *bytes)
{
	struct morph_shim *shim = some_shim(ranks, planes);
	const struct morph_shim_plan *last = NULL;
	uint8_t *data;

	for (uint32_t kind = 1; kind <= KINDS; kind++)
		last = look_up(shim, kind, 3000, last);
	look_up(shim, MORPH_ALL_REDUCE, 3000, last);
	data = write_shim(shim, bytes);
	morph_shim_free(shim);
	return data;
}

static void out_of_memory_nothing_is_read(void **state)
{
	size_t bytes;
	uint8_t *data = some_file(4, 2, &bytes);
	bool struck = true;

	(void)state;
	for (unsigned int nth = 1; struck; nth++) {
		struct morph_shim *shim = some_shim(4, 2);
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = morph_shim_read(shim, data, bytes);
		struck = fault_struck();
		assert_true(!ret || (struck && ret == -ENOMEM));
		morph_shim_free(shim);
	}
	free(data);
}

static void what_was_written_is_read(void **state)
{
	struct morph_shim *writes = some_shim(8, 2), *reads = some_shim(8, 2);
	const struct morph_shim_plan *theirs = NULL, *ours = NULL;
	size_t bytes, again;
	uint8_t *data, *copy;

	(void)state;
	for (uint32_t at = 0; at < 20; at++)
		theirs = look_up(writes, 1 + at % KINDS, 1000 << at % 3 * 4, theirs);
	data = write_shim(writes, &bytes);
	assert_int_equal(morph_shim_read(reads, data, bytes), 0);
	assert_int_equal(morph_shim_plans(reads, NULL), morph_shim_plans(writes, NULL));
	theirs = NULL;
	for (uint32_t at = 0; at < 20; at++) {
		theirs = look_up(writes, 1 + at % KINDS, 1000 << at % 3 * 4, theirs);
		allocations();
		ours = look_up(reads, 1 + at % KINDS, 1000 << at % 3 * 4, ours);
		assert_int_equal(allocations(), 0);
		assert_same(ours, theirs);
	}
	copy = write_shim(reads, &again);
	assert_int_equal(again, bytes);
	assert_memory_equal(copy, data, bytes);
	assert_refused(reads, morph_shim_read(reads, data, bytes), -EEXIST,
		       "there are plans already");
	free(copy);
	free(data);
	morph_shim_free(reads);
	morph_shim_free(writes);
}

/* Nobody has told the shim of a torus; what it found is in its answer, and in the file. */
static void a_torus_is_found_and_kept(void **state)
{
	struct morph_shim *writes = some_shim(36, 2), *reads = some_shim(36, 2);
	const struct morph_shim_plan *plan = look_up(writes, MORPH_ALL_REDUCE, 65536, NULL);
	struct morph_choice choice;
	size_t bytes;
	uint8_t *data = write_shim(writes, &bytes);

	(void)state;
	morph_shim_plan_choice(plan, &choice);
	assert_int_equal(choice.algorithm, MORPH_RINGS);
	assert_true(choice.extent[0] > 1 && choice.extent[1] > 1);
	assert_int_equal(morph_shim_read(reads, data, bytes), 0);
	assert_same(look_up(reads, MORPH_ALL_REDUCE, 65536, NULL), plan);
	free(data);
	morph_shim_free(reads);
	morph_shim_free(writes);
}

/* Another fabric, delay, size of the group, or way of planning. */
static void what_is_stale_is_refused(void **state)
{
	MORPH_OPTS(morph_shim_opts, right, .ranks = 4, .planes = 2, .parts = 2,
		   .profile_checksum = 0x1234);
	static const char *const whys[] = {
		"the plans were made for another number of ranks",
		"the plans were made for another number of planes",
		"the plans were made for another policy",
		"the plans were made for another root",
		"the plans were made for other sizes",
		"the plans were made for another profile",
	};
	struct morph_delay *delay = some_delay(MORPH_DELAY_PLANE_SCOPE);
	struct morph_shim *shim;
	size_t bytes;
	uint8_t *data = some_file(4, 2, &bytes);

	(void)state;
	for (uint32_t at = 0; at < 6; at++) {
		struct morph_shim_opts opts = right;

		*(uint32_t *[]){ &opts.ranks, &opts.planes, &opts.policy,
				 &opts.root,  &opts.parts,  &opts.profile_checksum }[at] += 2;
		shim = shim_of(&opts);
		assert_refused(shim, morph_shim_read(shim, data, bytes), -ESTALE, whys[at]);
		assert_int_equal(morph_shim_plans(shim, NULL), 0);
		morph_shim_free(shim);
	}
	right.budget = 7;
	shim = shim_of(&right);
	assert_refused(shim, morph_shim_read(shim, data, bytes), -ESTALE,
		       "the plans were made for another budget");
	morph_shim_free(shim);
	right.budget = 0;
	assert_int_equal(morph_shim_new(ctx, delay, &right, &shim), 0);
	assert_refused(shim, morph_shim_read(shim, data, bytes), -ESTALE,
		       "the plans were made for another delay");
	morph_shim_free(shim);
	right.most_plans = 3;
	shim = shim_of(&right);
	assert_refused(shim, morph_shim_read(shim, data, bytes), -ENOSPC, "it has 6 plans");
	morph_shim_free(shim);
	morph_delay_free(delay);
	free(data);
}

static void what_is_cut_off_or_spoilt_is_refused(void **state)
{
	struct morph_shim *shim = some_shim(3, 1);
	size_t bytes;
	uint8_t *data = some_file(3, 1, &bytes);
	char why[256];

	(void)state;
	for (size_t less = 0; less < bytes; less++) {
		uint8_t *cut = malloc(less + 1);
		int ret;

		memcpy(cut, data, less);
		ret = morph_shim_read(shim, cut, less);
		assert_int_equal(ret, -EINVAL);
		morph_shim_why(shim, why, sizeof(why));
		assert_true(*why);
		free(cut);
	}
	for (size_t at = 0; at < bytes; at++) {
		data[at] ^= 0x10;
		assert_true(morph_shim_read(shim, data, bytes) < 0);
		data[at] ^= 0x10;
	}
	data[bytes - 5] ^= 1;
	assert_refused(shim, morph_shim_read(shim, data, bytes), -EBADMSG, "its checksum is wrong");
	data[bytes - 5] ^= 1;
	data[4] ^= 1;
	assert_refused(shim, morph_shim_read(shim, data, bytes), -EINVAL, "it has version ");
	data[4] ^= 1;
	assert_int_equal(morph_shim_plans(shim, NULL), 0);
	assert_int_equal(morph_shim_read(shim, data, bytes), 0);
	free(data);
	morph_shim_free(shim);
}

static uint32_t crc_of(const uint8_t *data, size_t bytes)
{
	uint32_t crc = UINT32_MAX;

	while (bytes--) {
		crc ^= *data++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

/* Its checksum is right, and a word in it is not. What is taken all the same is asked for all that it says. */
static void what_is_hostile_does_no_harm(void **state)
{
	static const uint32_t words[] = { 0, 1, 2, 7, 0x7fffffff, 0xffffffff };
	size_t bytes, refused = 0, tried = 0;
	uint8_t *data = some_file(3, 1, &bytes);

	(void)state;
	for (size_t at = 3; at < bytes / 4 - 1; at++) {
		uint32_t kept, crc;

		memcpy(&kept, data + 4 * at, 4);
		for (size_t word = 0; word < sizeof(words) / sizeof(*words); word++) {
			struct morph_shim *shim = some_shim(3, 1);
			const struct morph_shim_plan *plan, *last = NULL;
			struct morph_object *object;
			int ret;

			memcpy(data + 4 * at, &words[word], 4);
			crc = crc_of(data, bytes - 4);
			memcpy(data + bytes - 4, &crc, 4);
			ret = morph_shim_read(shim, data, bytes);
			refused += ret < 0;
			tried += words[word] != kept;
			for (uint32_t kind = 1; !ret && kind <= KINDS; kind++) {
				if (morph_shim_lookup(shim, kind, 3000, last, &plan))
					continue;
				last = plan;
				assert_int_equal(morph_schedule_describe(
							 morph_shim_plan_schedule(plan), &object),
						 0);
				morph_object_free(object);
			}
			morph_shim_free(shim);
		}
		memcpy(data + 4 * at, &kept, 4);
	}
	print_message("%zu of %zu words spoilt were refused\n", refused, tried);
	assert_true(refused * 2 > tried);
	free(data);
}

/* What an algorithm is told makes its rounds, before anything of the schedule is looked at. */
static void what_no_algorithm_is_told_is_refused(void **state)
{
	static const struct {
		size_t at; /* of the first plan, behind the head, what plans are for, and their number */
		uint32_t word;
	} spoilt[] = { { 28, 4097 }, { 29, 257 }, { 30, 4097 }, { 31, 4097 }, { 32, 4097 } };
	size_t bytes;
	uint8_t *data = some_file(3, 1, &bytes);

	(void)state;
	for (size_t at = 0; at < sizeof(spoilt) / sizeof(*spoilt); at++) {
		struct morph_shim *shim = some_shim(3, 1);
		uint8_t *copy = malloc(bytes);
		uint32_t crc;

		memcpy(copy, data, bytes);
		memcpy(copy + 4 * spoilt[at].at, &spoilt[at].word, 4);
		crc = crc_of(copy, bytes - 4);
		memcpy(copy + bytes - 4, &crc, 4);
		assert_refused(shim, morph_shim_read(shim, copy, bytes), -EINVAL,
			       "what it says of its schedule is malformed");
		free(copy);
		morph_shim_free(shim);
	}
	free(data);
}

/* A file that is too large has no part in what there is room for afterwards. */
static void plans_that_are_not_read_take_no_room(void **state)
{
	MORPH_OPTS(morph_shim_opts, opts, .ranks = 8, .planes = 2);
	struct morph_shim *shim = shim_of(&opts);
	size_t bytes;
	uint8_t *data;

	(void)state;
	look_up(shim, MORPH_ALL_TO_ALL, 3000, NULL);
	morph_shim_plans(shim, &opts.most_bytes);
	opts.most_bytes--;
	data = write_shim(shim, &bytes);
	morph_shim_free(shim);
	shim = shim_of(&opts);
	assert_int_equal(morph_shim_read(shim, data, bytes), -ENOSPC);
	look_up(shim, MORPH_BROADCAST, 64, NULL);
	free(data);
	morph_shim_free(shim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_rounded_up_to_buckets),
		cmocka_unit_test(a_plan_is_made_once),
		cmocka_unit_test(all_ranks_come_to_the_same),
		cmocka_unit_test(plans_follow_one_another),
		cmocka_unit_test(threads_ask_at_once),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(what_cannot_be_is_said),
		cmocka_unit_test(what_cannot_be_done_is_kept),
		cmocka_unit_test(out_of_memory),
		cmocka_unit_test(out_of_memory_there_is_no_shim),
		cmocka_unit_test(out_of_memory_nothing_is_read),
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(a_torus_is_found_and_kept),
		cmocka_unit_test(what_is_stale_is_refused),
		cmocka_unit_test(what_is_cut_off_or_spoilt_is_refused),
		cmocka_unit_test(what_is_hostile_does_no_harm),
		cmocka_unit_test(what_no_algorithm_is_told_is_refused),
		cmocka_unit_test(plans_that_are_not_read_take_no_room),
	};

	return cmocka_run_group_tests_name("shim", tests, begin, end);
}
