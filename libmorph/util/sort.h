/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorting in place: the C library's qsort() takes memory where there is much to sort. */
#ifndef LM_UTIL_SORT_H
#define LM_UTIL_SORT_H

#include <stddef.h>

/*
 * Sort @count items of @size bytes, ascending by @order, which tells all of them apart: what is
 * equal is not kept in order. By introspection (Musser, Software: Practice and Experience 27,
 * 1997): quicksort, until it goes too deep, then a heap (Floyd, Algorithm 245, Treesort 3, CACM
 * 1964). O(count * log count), and O(count) where they are in order; allocates nothing.
 */
void lm_sort(void *items, size_t count, size_t size,
	     int (*order)(const void *one, const void *other, void *context), void *context);

#endif /* LM_UTIL_SORT_H */
