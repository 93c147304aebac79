// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts that wait for a test by patrol. Each part of the fabric has its own entry, so none is
 * forgotten. Two queues hold the entries of waiting parts: one has accelerators, whose test is a
 * short request, and one has all other parts. Callers hold fabric->lock.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"

#define QUEUE_END	U32_MAX

struct morph_suspect {
	u64 lanes;		/* to be tested, 1 if the part has none; 0: it does not wait */
	u32 previous, next;	/* entries of the waiting parts beside it in its queue */
	struct morph_search search;
};

static bool has_lanes(u32 part)
{
	return part == MORPH_PART_LASER || part == MORPH_PART_RECEIVER;
}

static u64 lanes_of(const struct morph_fabric *fabric, const struct morph_culprit *suspect)
{
	if (!has_lanes(suspect->part))
		return 1;
	return suspect->lanes ? suspect->lanes : fabric->graph->all_lanes;
}

/* Entries are in the order of parts: accelerators, lasers, receivers, elements, guides. */
static u32 entry_of(struct morph_fabric *fabric, u32 part, u32 index)
{
	u32 other;

	for (other = MORPH_PART_ACCELERATOR; other < part; other++)
		index += morph_part_count(fabric, other);
	return index;
}

static struct morph_suspect *suspect_of(struct morph_fabric *fabric,
					const struct morph_culprit *suspect)
{
	return &recovery_of(fabric)->suspect_parts[entry_of(fabric, suspect->part,
							    suspect->index)];
}

static struct morph_suspects *queue_of(struct morph_fabric *fabric, u32 part)
{
	return &recovery_of(fabric)->suspects[part == MORPH_PART_ACCELERATOR];
}

int morph_suspects_alloc(struct morph_fabric *fabric)
{
	struct morph_recovery *recovery = recovery_of(fabric);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(recovery->suspects); i++)
		recovery->suspects[i].first = QUEUE_END;
	recovery->suspect_parts = kvcalloc(entry_of(fabric, MORPH_PART_GUIDE + 1, 0),
					   sizeof(*recovery->suspect_parts), GFP_KERNEL);
	return recovery->suspect_parts ? 0 : -ENOMEM;
}

void morph_suspects_free(struct morph_fabric *fabric)
{
	kvfree(recovery_of(fabric)->suspect_parts);
}

static void append(struct morph_fabric *fabric, u32 part, u32 index)
{
	struct morph_suspect *parts = recovery_of(fabric)->suspect_parts;
	struct morph_suspects *queue = queue_of(fabric, part);
	u32 entry = entry_of(fabric, part, index);

	parts[entry].next = QUEUE_END;
	parts[entry].previous = queue->last;
	if (queue->first == QUEUE_END)
		queue->first = entry;
	else
		parts[queue->last].next = entry;
	queue->last = entry;
	queue->count++;
}

static void unlink(struct morph_fabric *fabric, u32 part, u32 index)
{
	struct morph_suspect *parts = recovery_of(fabric)->suspect_parts;
	struct morph_suspects *queue = queue_of(fabric, part);
	u32 entry = entry_of(fabric, part, index);

	if (queue->first == entry)
		queue->first = parts[entry].next;
	else
		parts[parts[entry].previous].next = parts[entry].next;
	if (queue->last == entry)
		queue->last = parts[entry].previous;
	else
		parts[parts[entry].next].previous = parts[entry].previous;
	queue->count--;
}

/* Return the lanes of a port that wait, or whether another part waits. */
u64 morph_suspect_lanes(struct morph_fabric *fabric, u32 part, u32 index)
{
	if (!morph_part_exists(fabric, part, index))
		return 0;
	return recovery_of(fabric)->suspect_parts[entry_of(fabric, part, index)].lanes;
}

bool morph_suspect_waits(struct morph_fabric *fabric, u32 part, u32 index)
{
	return morph_suspect_lanes(fabric, part, index);
}

/* Set the lanes that wait. Another choice of lanes may have a path where there was none. */
static void set_lanes(struct morph_suspect *entry, u64 lanes)
{
	if (entry->lanes == lanes)
		return;
	entry->lanes = lanes;
	/* The budget is that of the test that may use the search meanwhile. */
	entry->search.tried = 0;
	entry->search.ended = false;
}

/*
 * Queue hardware for a test by patrol. The hardware is quarantined, or it is suspect and stays in
 * use. If the part waits already, it keeps its place.
 */
void morph_suspect_add(struct morph_fabric *fabric, const struct morph_culprit *suspect)
{
	struct morph_suspect *entry;
	bool waited;

	lockdep_assert_held(&fabric->lock);
	if (!morph_part_exists(fabric, suspect->part, suspect->index))
		return;
	entry = suspect_of(fabric, suspect);
	waited = entry->lanes;
	set_lanes(entry, entry->lanes | lanes_of(fabric, suspect));
	if (waited)
		return;
	append(fabric, suspect->part, suspect->index);
	if (morph_health_get(fabric, suspect->part, suspect->index) != MORPH_HEALTH_SUSPECT)
		return;
	fabric->seq++;
	morph_report_hardware_changed(fabric, suspect->part, suspect->index);
}

void morph_suspect_drop(struct morph_fabric *fabric, const struct morph_culprit *suspect)
{
	struct morph_suspect *entry;

	lockdep_assert_held(&fabric->lock);
	if (!morph_suspect_waits(fabric, suspect->part, suspect->index))
		return;
	entry = suspect_of(fabric, suspect);
	set_lanes(entry, entry->lanes & ~lanes_of(fabric, suspect));
	if (!entry->lanes)
		unlink(fabric, suspect->part, suspect->index);
}

struct morph_search *morph_suspect_search(struct morph_fabric *fabric,
					  const struct morph_culprit *suspect)
{
	return &suspect_of(fabric, suspect)->search;
}

void morph_suspect_defer(struct morph_fabric *fabric, const struct morph_culprit *suspect)
{
	unlink(fabric, suspect->part, suspect->index);
	append(fabric, suspect->part, suspect->index);
}

bool morph_suspect_first(struct morph_fabric *fabric, bool accelerator,
			 struct morph_culprit *suspect)
{
	u32 entry = recovery_of(fabric)->suspects[accelerator].first;
	u32 part = MORPH_PART_ACCELERATOR, index = entry;

	if (entry == QUEUE_END)
		return false;
	while (index >= morph_part_count(fabric, part))
		index -= morph_part_count(fabric, part++);
	*suspect = (struct morph_culprit){
		.part = part,
		.index = index,
		.lanes = has_lanes(part) ? recovery_of(fabric)->suspect_parts[entry].lanes : 0,
	};
	return true;
}
