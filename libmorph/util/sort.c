// SPDX-License-Identifier: LGPL-2.1-or-later
/* Quicksort of what is long, with a heap where it goes wrong, and insertion of what is short. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "heap.h"
#include "sort.h"

#define FEW 12 /* items that are inserted */

struct sort {
	uint8_t *items; /* a part of them */
	size_t count, size;
	int (*order)(const void *one, const void *other, void *context);
	void *context;
};

static uint8_t *item(const struct sort *sort, size_t at)
{
	return sort->items + at * sort->size;
}

static bool is_before(const struct sort *sort, size_t one, size_t other)
{
	return sort->order(item(sort, one), item(sort, other), sort->context) < 0;
}

static void swap(const struct sort *sort, size_t one, size_t other)
{
	uint8_t *a = item(sort, one), *b = item(sort, other);
	size_t left = sort->size;

	for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t)) {
		uint64_t kept;

		memcpy(&kept, a, sizeof(kept));
		memcpy(a, b, sizeof(kept));
		memcpy(b, &kept, sizeof(kept));
		a += sizeof(kept);
		b += sizeof(kept);
	}
	while (left--) {
		uint8_t kept = a[left];

		a[left] = b[left];
		b[left] = kept;
	}
}

static bool is_sorted(const struct sort *sort)
{
	for (size_t at = 1; at < sort->count; at++)
		if (is_before(sort, at, at - 1))
			return false;
	return true;
}

static void insert_all(const struct sort *sort)
{
	for (size_t at = 1; at < sort->count; at++)
		for (size_t place = at; place && is_before(sort, place, place - 1); place--)
			swap(sort, place, place - 1);
}

/*
 * A heap that the last item leaves first. The held item stays in the array: a move exchanges it
 * with another one.
 */
struct descending {
	struct sort sort;
	size_t held;
};

static size_t place_of(const struct descending *heap, size_t place)
{
	return place == HEAP_HELD ? heap->held : place;
}

static bool is_after(const void *context, size_t one, size_t other)
{
	const struct descending *heap = context;

	return is_before(&heap->sort, place_of(heap, other), place_of(heap, one));
}

static void move_item(void *context, size_t to, size_t from)
{
	struct descending *heap = context;

	if (to != HEAP_HELD && from != HEAP_HELD)
		swap(&heap->sort, to, from);
	if (from != HEAP_HELD)
		heap->held = from;
}

static void sort_by_heap(const struct sort *sort)
{
	struct descending heap = { .sort = *sort };

	heap_build(&heap, heap.sort.count, is_after, move_item);
	while (heap.sort.count > 1) {
		swap(&heap.sort, 0, --heap.sort.count);
		heap_sink(&heap, 0, heap.sort.count, is_after, move_item);
	}
}

/* Of the first, the last and the middle one the one between comes to the front. */
static void choose_pivot(const struct sort *sort)
{
	size_t first = 0, middle = sort->count / 2, last = sort->count - 1;

	if (is_before(sort, last, middle))
		swap(sort, last, middle);
	if (is_before(sort, first, middle))
		swap(sort, first, middle);
	if (is_before(sort, last, first))
		swap(sort, last, first);
}

/* Where the first one belongs: what is before it comes before it. */
static size_t divide(const struct sort *sort)
{
	size_t low = 0, high = sort->count;

	for (;;) {
		while (++low < sort->count && is_before(sort, low, 0))
			;
		while (is_before(sort, 0, --high))
			;
		if (low >= high)
			break;
		swap(sort, low, high);
	}
	swap(sort, 0, high);
	return high;
}

static struct sort part_of(const struct sort *sort, size_t first, size_t count)
{
	struct sort part = *sort;

	part.items = item(sort, first);
	part.count = count;
	return part;
}

/* The shorter part by itself, so that few calls are in one another. */
static void sort_parts(struct sort sort, uint32_t depth)
{
	while (sort.count > FEW) {
		struct sort before, after;
		size_t place;

		if (!depth--) {
			sort_by_heap(&sort);
			return;
		}
		choose_pivot(&sort);
		place = divide(&sort);
		before = part_of(&sort, 0, place);
		after = part_of(&sort, place + 1, sort.count - place - 1);
		sort_parts(before.count < after.count ? before : after, depth);
		sort = before.count < after.count ? after : before;
	}
	insert_all(&sort);
}

void lm_sort(void *items, size_t count, size_t size,
	     int (*order)(const void *one, const void *other, void *context), void *context)
{
	const struct sort sort = {
		.items = items, .count = count, .size = size, .order = order, .context = context
	};

	if (count > 1 && !is_sorted(&sort))
		sort_parts(sort, 2 * (64 - (uint32_t)__builtin_clzll(count)));
}
