/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* What a search needs to find again, and to take in order: a table and a heap. */
#ifndef MORPH_OPTICS_FRONTIER_H
#define MORPH_OPTICS_FRONTIER_H

#include "internal.h"

/*
 * struct frontier_table - the entry that stands for a key
 *
 * Entries are numbered from 0 as they come; a later one of the same key takes the
 * earlier one's place. A slot is in use only if the entry that it names exists and
 * names the slot in turn: nothing need be cleared, and a search costs what it visits.
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

/* Bytes for a table of @entries, and its layout in @work; return the first byte behind it. */
u64 optics_table_bytes(u32 entries);
void *optics_table_init(struct frontier_table *table, void *work, u32 entries);

/* The slot of a key, in use or free, and the entry that it names, or OPTICS_NONE. */
u32 optics_table_slot(const struct frontier_table *table, u32 key);
u32 optics_table_at(const struct frontier_table *table, u32 slot);

/* A new entry for a key at its slot; there must be room. */
static inline u32 optics_table_put(struct frontier_table *table, u32 slot, u32 key)
{
	table->names[table->count].key = key;
	table->names[table->count].slot = slot;
	table->slots[slot] = table->count;
	return table->count++;
}

/* Whether no later entry has taken the place of this one. */
static inline bool optics_table_current(const struct frontier_table *table, u32 entry)
{
	return table->slots[table->names[entry].slot] == entry;
}

/* A heap of numbers, the least on top. */
struct frontier_heap {
	u64 *keys;
	u32 count;
};

void optics_heap_push(struct frontier_heap *heap, u64 key);
u64 optics_heap_pop(struct frontier_heap *heap);

#endif /* MORPH_OPTICS_FRONTIER_H */
