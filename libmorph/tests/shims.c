// SPDX-License-Identifier: LGPL-2.1-or-later
#include "../internal/planner.h"
#include "shims.h"

struct morph_shim *shim_of(const struct morph_shim_opts *opts)
{
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_shim *shim = NULL;

	assert_int_equal(morph_shim_new(ctx, delay, opts, &shim), 0);
	morph_delay_free(delay);
	return shim;
}

struct morph_shim *some_shim(uint32_t ranks, uint32_t planes)
{
	MORPH_OPTS(morph_shim_opts, opts, .ranks = ranks, .planes = planes, .parts = 2,
		   .profile_checksum = 0x1234);

	return shim_of(&opts);
}

const struct morph_shim_plan *look_up(struct morph_shim *shim, uint32_t kind, uint64_t bytes,
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

uint8_t *write_shim(struct morph_shim *shim, size_t *bytes)
{
	ssize_t size = morph_shim_write(shim, NULL, 0);
	uint8_t *data = malloc((size_t)size);

	assert_non_null(data);
	assert_int_equal(morph_shim_write(shim, data, (size_t)size - 1), -ENOSPC);
	assert_int_equal(morph_shim_write(shim, data, (size_t)size), size);
	*bytes = (size_t)size;
	return data;
}

/* The wire form of a plan. */
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

void assert_same_plan(const struct morph_shim_plan *one, const struct morph_shim_plan *other)
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

void assert_shim_refused(struct morph_shim *shim, int ret, int wanted, const char *why)
{
	char text[256];

	assert_int_equal(ret, wanted);
	morph_shim_why(shim, text, sizeof(text));
	if (strncmp(text, why, strlen(why)))
		fail_msg("'%s' is not '%s'", text, why);
}
