// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Hash table and heap of the searches, in memory of the caller. */
#include "frontier.h"

#define TABLE_MIN_BITS	6u
#define BLOCK_BITS	3u	/* neighbouring keys share a block of slots */

/* The table has at least two slots for each entry. */
static u32 table_bits(u32 entries)
{
	u32 bits = TABLE_MIN_BITS;

	while (1ull << bits < 2ull * entries)
		bits++;
	return bits;
}

u64 optics_table_bytes(u32 entries)
{
	return (u64)entries * sizeof(struct frontier_name) + (sizeof(u32) << table_bits(entries));
}

void *optics_table_init(struct frontier_table *table, void *work, u32 entries)
{
	table->bits = table_bits(entries);
	table->count = 0;
	table->names = work;
	table->slots = (u32 *)(table->names + entries);
	return table->slots + ((size_t)1 << table->bits);
}

u32 optics_table_at(const struct frontier_table *table, u32 slot)
{
	u32 entry = table->slots[slot];

	if (entry < table->count && table->names[entry].slot == slot)
		return entry;
	return OPTICS_NONE;
}

u32 optics_table_slot(const struct frontier_table *table, u32 key)
{
	u32 mask = (1u << table->bits) - 1;
	u32 block = (key >> BLOCK_BITS) * 0x9e3779b1u >> (32 - (table->bits - BLOCK_BITS));
	u32 slot = block << BLOCK_BITS | (key & ((1u << BLOCK_BITS) - 1));
	u32 entry;

	while ((entry = optics_table_at(table, slot)) != OPTICS_NONE &&
	       table->names[entry].key != key)
		slot = (slot + 1) & mask;
	return slot;
}

void optics_heap_push(struct frontier_heap *heap, u64 key)
{
	u64 *keys = heap->keys;
	u32 at = heap->count++;

	while (at && keys[(at - 1) / 2] > key) {
		keys[at] = keys[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	keys[at] = key;
}

u64 optics_heap_pop(struct frontier_heap *heap)
{
	u64 *keys = heap->keys;
	u64 least = keys[0], last = keys[--heap->count];
	u32 at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count && keys[child + 1] < keys[child])
			child++;
		if (keys[child] >= last)
			break;
		keys[at] = keys[child];
		at = child;
	}
	keys[at] = last;
	return least;
}
