// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules for tests. */
#include "../internal/planner.h"
#include "scheduling.h"

#include "../bench/random.h"

static uint32_t *room_for(ssize_t bytes, size_t *size)
{
	uint32_t *words;

	assert_true(bytes > 0);
	words = malloc((size_t)bytes);
	assert_non_null(words);
	*size = (size_t)bytes;
	return words;
}

static uint32_t *schedule_words(const struct morph_schedule *schedule, size_t *bytes)
{
	uint32_t *words = room_for(morph_schedule_write(schedule, NULL, 0), bytes);

	assert_int_equal(morph_schedule_write(schedule, words, *bytes - 4), -ENOSPC);
	assert_int_equal(morph_schedule_write(schedule, words, *bytes), *bytes);
	return words;
}

struct written write_schedule(const struct morph_collective *collective,
			      const struct morph_delay *delay, uint32_t planes,
			      const struct morph_schedule *after,
			      const struct morph_schedule *schedule)
{
	struct written to = { .planes = planes };
	uint32_t ranks = morph_collective_busy(collective);

	to.collective = room_for(morph_collective_write(collective, NULL, 0), &to.collective_bytes);
	assert_int_equal(morph_collective_write(collective, to.collective, to.collective_bytes),
			 to.collective_bytes);
	to.delay = room_for(morph_delay_write(delay, ranks, NULL, 0), &to.delay_bytes);
	assert_int_equal(morph_delay_write(delay, ranks, to.delay, to.delay_bytes), to.delay_bytes);
	to.schedule = schedule_words(schedule, &to.schedule_bytes);
	if (after)
		to.after = schedule_words(after, &to.after_bytes);
	return to;
}

void forget_written(struct written *written)
{
	free(written->collective);
	free(written->delay);
	free(written->after);
	free(written->schedule);
}

int check_written(const struct written *written, char report[256])
{
	const struct morph_check_schedule_input input = {
		.collective = { written->collective, written->collective_bytes },
		.delay = { written->delay, written->delay_bytes },
		.planes = written->planes,
		.after = { written->after, written->after_bytes },
		.schedule = { written->schedule, written->schedule_bytes },
	};

	return morph_check_schedule(&input, report, 256);
}

void assert_valid(const struct morph_collective *collective, const struct morph_delay *delay,
		  uint32_t planes, const struct morph_schedule *after,
		  const struct morph_schedule *schedule)
{
	struct written written = write_schedule(collective, delay, planes, after, schedule);
	char report[256];

	if (check_written(&written, report))
		fail_msg("policy %u: %s", morph_schedule_policy(schedule), report);
	forget_written(&written);
}

/*
 * Add an exchange: each rank sends its part to each other rank, which sums it. A chunk that arrives
 * in this round is sent in the same round.
 */
static void add_exchange(struct morph_collective *collective, uint64_t bytes)
{
	uint32_t ranks = morph_collective_ranks(collective);
	int chunk = morph_collective_add_chunk(collective, MORPH_EACH_RANK, MORPH_EACH_RANK, bytes);

	assert_true(chunk >= 0);
	for (uint32_t pair = 0; pair < ranks * ranks; pair++) {
		if (pair / ranks == pair % ranks)
			continue;
		assert_true(morph_collective_add_transfer(collective, pair / ranks, pair % ranks,
							  true) >= 0);
		assert_int_equal(morph_collective_add_run(collective, (uint32_t)chunk, 1), 0);
	}
}

struct morph_collective *random_rounds(uint64_t *seed, uint32_t ranks, uint32_t rounds,
				       uint32_t transfers)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	bool some = random_below(seed, 4) == 0;

	assert_non_null(collective);
	assert_int_equal(morph_collective_begin(collective, ranks), 0);
	for (uint32_t round = 0; round < rounds; round++) {
		bool exchanges = some && random_below(seed, 2);

		assert_int_equal(morph_collective_add_round(collective), round);
		if (exchanges)
			add_exchange(collective, 1 + random_below(seed, 1 << 20));
		for (uint32_t at = 0; !exchanges && at < transfers; at++) {
			uint32_t src = random_below(seed, ranks);
			uint32_t dst = (src + 1 + random_below(seed, ranks - 1)) % ranks;
			int chunk = morph_collective_add_chunk(collective, src, dst,
							       1 + random_below(seed, 1 << 20));

			assert_true(chunk >= 0);
			assert_true(morph_collective_add_transfer(collective, src, dst, false) >=
				    0);
			assert_int_equal(morph_collective_add_run(collective, (uint32_t)chunk, 1),
					 0);
		}
	}
	return collective;
}

struct morph_collective *exchange(uint32_t ranks, uint64_t bytes)
{
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_non_null(collective);
	assert_int_equal(morph_collective_begin(collective, ranks), 0);
	assert_int_equal(morph_collective_add_round(collective), 0);
	add_exchange(collective, bytes);
	return collective;
}

struct morph_collective *ring(uint32_t ranks, uint64_t bytes)
{
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_non_null(collective);
	assert_int_equal(morph_collective_begin(collective, ranks), 0);
	for (uint32_t chunk = 0; chunk < ranks; chunk++)
		assert_int_equal(morph_collective_add_chunk(collective, MORPH_EACH_RANK,
							    MORPH_EACH_RANK, bytes),
				 chunk);
	for (uint32_t round = 0; round < 2 * (ranks - 1); round++) {
		bool reduces = round < ranks - 1;

		assert_int_equal(morph_collective_add_round(collective), round);
		for (uint32_t rank = 0; rank < ranks; rank++) {
			uint32_t chunk = (rank + 2 * ranks - round) % ranks;

			assert_true(morph_collective_add_transfer(
					    collective, rank, (rank + 1) % ranks, reduces) >= 0);
			assert_int_equal(morph_collective_add_run(collective, chunk, 1), 0);
		}
	}
	return collective;
}

struct morph_delay *some_delay(uint32_t scope)
{
	struct morph_delay *delay = morph_delay_new(ctx);
	uint64_t settle = 3700, port = 10;

	assert_non_null(delay);
	assert_int_equal(morph_delay_set_link(delay, 500, 100, 100000), 0);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle, 1), 0);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_PORT, &port, 1), 0);
	assert_int_equal(morph_delay_set_scope(delay, scope), 0);
	return delay;
}
