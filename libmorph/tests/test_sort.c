// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sort in place, for items of any size in any order. */
#include <string.h>

#include "../util/mix.h"
#include "../util/sort.h"
#include "alone.h"

#define MOST 3000

/* An odd size, so that exchanges have a remainder. */
struct odd {
	uint8_t key[3], rest[8];
};

struct counted {
	uint64_t orders;
	size_t size;
};

static uint32_t key_of(const void *item, size_t size)
{
	uint32_t key = 0;

	memcpy(&key, item, size < sizeof(key) ? size : sizeof(key));
	return key;
}

static int by_key(const void *one, const void *other, void *context)
{
	struct counted *counted = context;
	uint32_t a, b;

	counted->orders++;
	a = key_of(one, counted->size);
	b = key_of(other, counted->size);
	return a < b ? -1 : a > b;
}

static void swap(uint32_t *one, uint32_t *other)
{
	uint32_t kept = *one;

	*one = *other;
	*other = kept;
}

/* A permutation of the numbers from 0 on. */
static void shuffle(uint32_t *keys, uint32_t count, uint64_t *random)
{
	for (uint32_t at = 0; at < count; at++) {
		keys[at] = at;
		swap(&keys[at], &keys[mix_below(random, at + 1)]);
	}
}

/*
 * An order in which the median of the first, the last and the middle item is always almost the
 * smallest.
 */
static void oppose(uint32_t *keys, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++)
		keys[at] = at;
	for (uint32_t length = 3; length <= count; length++)
		swap(&keys[length / 2], &keys[length - 2]);
}

static void assert_sorted(const uint32_t *keys, uint32_t count, uint64_t most)
{
	static uint32_t sorted[MOST];
	struct counted counted = { .size = sizeof(*sorted) };

	memcpy(sorted, keys, count * sizeof(*keys));
	lm_sort(sorted, count, sizeof(*sorted), by_key, &counted);
	for (uint32_t at = 0; at < count; at++)
		assert_int_equal(sorted[at], at);
	assert_true(counted.orders <= most);
}

static uint64_t few(uint32_t count)
{
	uint64_t log = 1;

	while (count >> log)
		log++;
	return 4 * count * log + 100;
}

static void numbers_in_any_order_are_sorted_soon(void **state)
{
	static uint32_t keys[MOST];
	uint64_t random = 1;

	(void)state;
	for (uint32_t count = 0; count <= MOST; count += 1 + count / 8) {
		shuffle(keys, count, &random);
		assert_sorted(keys, count, few(count));
		for (uint32_t at = 0; at < count; at++)
			keys[at] = count - 1 - at;
		assert_sorted(keys, count, few(count));
		oppose(keys, count);
		assert_sorted(keys, count, few(count));
	}
}

static void sorted_arrays_are_scanned_once(void **state)
{
	static uint32_t keys[MOST];

	(void)state;
	for (uint32_t at = 0; at < MOST; at++)
		keys[at] = at;
	assert_sorted(keys, MOST, MOST);
	assert_sorted(keys, 1, 0);
	assert_sorted(keys, 0, 0);
}

/* Many keys are equal, and all items are still there. */
static void items_of_an_odd_size_go_whole(void **state)
{
	static struct odd items[MOST];
	static bool seen[MOST];
	struct counted counted = { .size = 2 };
	uint64_t random = 1;

	(void)state;
	for (uint32_t at = 0; at < MOST; at++) {
		uint32_t key = mix_below(&random, 50);

		memcpy(items[at].key, &key, sizeof(items[at].key));
		memcpy(items[at].rest, &at, sizeof(at));
	}
	lm_sort(items, MOST, sizeof(*items), by_key, &counted);
	for (uint32_t at = 0; at < MOST; at++) {
		uint32_t number;

		memcpy(&number, items[at].rest, sizeof(number));
		assert_false(seen[number]);
		seen[number] = true;
		if (at)
			assert_true(key_of(&items[at - 1], 2) <= key_of(&items[at], 2));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_in_any_order_are_sorted_soon),
		cmocka_unit_test(sorted_arrays_are_scanned_once),
		cmocka_unit_test(items_of_an_odd_size_go_whole),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
