// SPDX-License-Identifier: LGPL-2.1-or-later
/* Heapsort. */
#include <stdint.h>
#include <string.h>

#include "sort.h"

struct heap {
	uint8_t *items;
	size_t count, size;
	int (*order)(const void *one, const void *other, void *context);
	void *context;
};

static void *item(const struct heap *heap, size_t at)
{
	return heap->items + at * heap->size;
}

static void swap(const struct heap *heap, size_t one, size_t other)
{
	uint8_t *a = item(heap, one), *b = item(heap, other), kept[64];

	for (size_t done = 0, part; done < heap->size; done += part) {
		part = heap->size - done < sizeof(kept) ? heap->size - done : sizeof(kept);
		memcpy(kept, a + done, part);
		memcpy(a + done, b + done, part);
		memcpy(b + done, kept, part);
	}
}

/* The item at @at goes down until none below it is greater. */
static void sink(const struct heap *heap, size_t at)
{
	for (size_t child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
		if (child + 1 < heap->count &&
		    heap->order(item(heap, child), item(heap, child + 1), heap->context) < 0)
			child++;
		if (heap->order(item(heap, at), item(heap, child), heap->context) >= 0)
			return;
		swap(heap, at, child);
		at = child;
	}
}

void lm_sort(void *items, size_t count, size_t size,
	     int (*order)(const void *one, const void *other, void *context), void *context)
{
	struct heap heap = {
		.items = items, .count = count, .size = size, .order = order, .context = context
	};

	for (size_t at = count / 2; at--;)
		sink(&heap, at);
	while (heap.count > 1) {
		swap(&heap, 0, --heap.count);
		sink(&heap, 0);
	}
}
