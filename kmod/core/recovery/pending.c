// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals that wait for the worker. Each part of the fabric has its own entry, so that a flood of
 * signals cannot displace others. The entries of parts with signals form a queue.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/recovery/recovery.h"

#define QUEUE_END	U32_MAX

/*
 * The signals of one part. The first index is the value of a signal: lost (0) or back (1). A loss
 * stays until the worker has taken it, even if the same lanes are back. A part without lanes has
 * one.
 */
struct morph_pending {
	u64 lanes[2];
	u64 since_ns[2];	/* of the latest signal, which may concern newer light */
	u32 next;		/* entry of the next part in the queue */
};

/* The entries of all parts of the first kind come first, and so on. */
static const struct kind {
	u32 type;	/* of its signals */
	u32 part;
	bool has_lanes;
} kinds[] = {
	{ MORPH_SIGNAL_HEARTBEAT, MORPH_PART_ACCELERATOR, false },
	{ MORPH_SIGNAL_RECEIVER, MORPH_PART_RECEIVER, true },
	{ MORPH_SIGNAL_LASER, MORPH_PART_LASER, true },
	{ MORPH_SIGNAL_ELEMENT, MORPH_PART_ELEMENT, false },
};

int morph_pending_alloc(struct morph_fabric *fabric)
{
	struct morph_recovery *recovery = recovery_of(fabric);
	u32 total = 0, i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		total += morph_part_count(fabric, kinds[i].part);
	recovery->pending_first = QUEUE_END;
	recovery->pending = kvcalloc(total, sizeof(*recovery->pending), GFP_KERNEL);
	return recovery->pending ? 0 : -ENOMEM;
}

void morph_pending_free(struct morph_fabric *fabric)
{
	kvfree(recovery_of(fabric)->pending);
}

/* Caller holds signal_lock. The hardware sends the index, so check it. */
void morph_pending_add(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	struct morph_recovery *recovery = recovery_of(fabric);
	u64 since = signal->since_ns ? signal->since_ns : ktime_get_ns();
	struct morph_pending *part;
	bool back = signal->value;
	u32 entry = signal->index, i;
	u64 lanes;

	lockdep_assert_held(&recovery->signal_lock);
	for (i = 0; i < ARRAY_SIZE(kinds) && kinds[i].type != signal->type; i++)
		entry += morph_part_count(fabric, kinds[i].part);
	if (i == ARRAY_SIZE(kinds) || !morph_part_exists(fabric, kinds[i].part, signal->index))
		return;
	lanes = kinds[i].has_lanes ? signal->lanes & fabric->graph->all_lanes : 1;
	if (!lanes)
		return;
	part = &recovery->pending[entry];
	if (!(part->lanes[0] | part->lanes[1])) {
		part->next = QUEUE_END;
		if (recovery->pending_first == QUEUE_END)
			recovery->pending_first = entry;
		else
			recovery->pending[recovery->pending_last].next = entry;
		recovery->pending_last = entry;
		slices_of(fabric)->signal_count++;
	}
	part->lanes[back] |= lanes;
	if (!back)
		part->lanes[1] &= ~lanes;
	part->since_ns[back] = max(part->since_ns[back], since);
}

/*
 * Take the signals of the first part: its loss, then its return. Return their number, 0 to 2.
 * Caller holds signal_lock.
 */
u32 morph_pending_take(struct morph_fabric *fabric, struct morph_signal signals[2])
{
	struct morph_recovery *recovery = recovery_of(fabric);
	u32 entry = recovery->pending_first, index = entry, count = 0, i, value;
	struct morph_pending *part;

	lockdep_assert_held(&recovery->signal_lock);
	if (entry == QUEUE_END)
		return 0;
	for (i = 0; !morph_part_exists(fabric, kinds[i].part, index); i++)
		index -= morph_part_count(fabric, kinds[i].part);
	part = &recovery->pending[entry];
	for (value = 0; value < 2; value++) {
		if (!part->lanes[value])
			continue;
		signals[count++] = (struct morph_signal){
			.type = kinds[i].type,
			.index = index,
			.lanes = part->lanes[value],
			.value = value,
			.since_ns = part->since_ns[value],
		};
	}
	recovery->pending_first = part->next;
	memset(part, 0, sizeof(*part));
	slices_of(fabric)->signal_count--;
	return count;
}
