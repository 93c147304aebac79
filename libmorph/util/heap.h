/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Binary heaps in arrays of the caller (Williams, Algorithm 232, Heapsort, CACM 7, 1964; Floyd,
 * Algorithm 245, Treesort 3, CACM 7, 1964). Place 0 holds the first item. The children of place p
 * are at 2 * p + 1 and 2 * p + 2.
 *
 * The functions know places only. The caller gives two functions of places: @before compares two
 * items, and @move copies an item from one place to another. HEAP_HELD is a place outside the
 * array, where the item waits that is on its way. The compiler inlines both functions, so that a
 * heap costs as much as one written for its items. Items that compare equal leave a heap in an
 * order that depends on the order in which they came; if that matters, @before must also compare
 * something that is unique.
 *
 * Nothing is allocated and nothing fails. The caller serialises calls on one heap. Raising and
 * sinking cost O(log count), building costs O(count).
 */
#ifndef LM_UTIL_HEAP_H
#define LM_UTIL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_HELD SIZE_MAX

/* Is the item at place @one to leave the heap before the item at place @other? */
typedef bool heap_before(const void *context, size_t one, size_t other);

/* Copy the item at place @from to place @to. */
typedef void heap_move(void *context, size_t to, size_t from);

/*
 * Move the item at @place towards place 0 until its parent is not after it: for an item that was
 * added or improved.
 */
static inline __attribute__((always_inline)) void heap_raise(void *context, size_t place,
							     heap_before *before, heap_move *move)
{
	move(context, HEAP_HELD, place);
	while (place && before(context, HEAP_HELD, (place - 1) / 2)) {
		move(context, place, (place - 1) / 2);
		place = (place - 1) / 2;
	}
	move(context, place, HEAP_HELD);
}

/*
 * Put the held item at @place, which is free, or farther from place 0: none of its children is
 * before it then. The heap has @count items with it.
 */
static inline __attribute__((always_inline)) void
heap_sink_held(void *context, size_t place, size_t count, heap_before *before, heap_move *move)
{
	for (size_t child = 2 * place + 1; child < count; child = 2 * place + 1) {
		if (child + 1 < count && before(context, child + 1, child))
			child++;
		if (!before(context, child, HEAP_HELD))
			break;
		move(context, place, child);
		place = child;
	}
	move(context, place, HEAP_HELD);
}

/* The same for the item at @place: for an item that became later. */
static inline __attribute__((always_inline)) void
heap_sink(void *context, size_t place, size_t count, heap_before *before, heap_move *move)
{
	move(context, HEAP_HELD, place);
	heap_sink_held(context, place, count, before, move);
}

/* Make a heap of @count items in any order. */
static inline __attribute__((always_inline)) void heap_build(void *context, size_t count,
							     heap_before *before, heap_move *move)
{
	for (size_t place = count / 2; place--;)
		heap_sink(context, place, count, before, move);
}

#endif /* LM_UTIL_HEAP_H */
