/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Hash table and heap of a search. */
#ifndef MORPH_OPTICS_FRONTIER_H
#define MORPH_OPTICS_FRONTIER_H

#include "internal.h"

/*
 * struct frontier_table - a hash table from keys to entries
 *
 * Entries are numbered from 0 in the order of insertion. A later entry replaces the earlier
 * one of the same key. A slot is in use only if its entry exists and names the slot in turn.
 * So the table needs no clearing, and the cost of a search follows its visits.
 */
struct frontier_table {
	struct frontier_name {
		u32 key;
		u32 slot;
	} *names;
	u32 *slots;
	u32 bits;
	u32 count;
};

/* The bytes of a table of @entries; and its layout in @work, whose end is returned. */
u64 optics_table_bytes(u32 entries);
void *optics_table_init(struct frontier_table *table, void *work, u32 entries);

#define FRONTIER_BLOCK_BITS	3u	/* neighbouring keys share a block of slots */

/* The entry of a slot, or OPTICS_NONE. */
static inline u32 optics_table_at(const struct frontier_table *table, u32 slot)
{
	u32 entry = table->slots[slot];

	if (entry < table->count && table->names[entry].slot == slot)
		return entry;
	return OPTICS_NONE;
}

/* The slot of a key, in use or free. *entry: its entry, or OPTICS_NONE. */
static inline u32 optics_table_find(const struct frontier_table *table, u32 key, u32 *entry)
{
	u32 shift = 32 - (table->bits - FRONTIER_BLOCK_BITS);
	u32 block = (key >> FRONTIER_BLOCK_BITS) * 0x9e3779b1u >> shift;
	u32 slot = block << FRONTIER_BLOCK_BITS | (key & ((1u << FRONTIER_BLOCK_BITS) - 1));

	for (;;) {
		*entry = optics_table_at(table, slot);
		if (*entry == OPTICS_NONE || table->names[*entry].key == key)
			return slot;
		slot = (slot + 1) & ((1u << table->bits) - 1);
	}
}

/* Add an entry for a key at its slot. The table must have room. */
static inline u32 optics_table_put(struct frontier_table *table, u32 slot, u32 key)
{
	table->names[table->count].key = key;
	table->names[table->count].slot = slot;
	table->slots[slot] = table->count;
	return table->count++;
}

/* Whether no later entry has replaced this one. */
static inline bool optics_table_current(const struct frontier_table *table, u32 entry)
{
	return table->slots[table->names[entry].slot] == entry;
}

/* A heap of numbers; the least is at the top. */
struct frontier_heap {
	u64 *keys;
	u32 count;
};

static inline void optics_heap_push(struct frontier_heap *heap, u64 key)
{
	u64 *keys = heap->keys;
	u32 at = heap->count++;

	while (at && keys[(at - 1) / 2] > key) {
		keys[at] = keys[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	keys[at] = key;
}

static inline u64 optics_heap_pop(struct frontier_heap *heap)
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

#endif /* MORPH_OPTICS_FRONTIER_H */
