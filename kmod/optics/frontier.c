// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Layout of the hash table of a search, in memory of the caller. */
#include "frontier.h"

#define TABLE_MIN_BITS	6u

/* The table has at least two slots for each entry. */
static u32 table_bits(u32 entries)
{
	u32 bits = entries ? optics_last64(2ull * entries - 1) + 1 : 0;

	return bits > TABLE_MIN_BITS ? bits : TABLE_MIN_BITS;
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
