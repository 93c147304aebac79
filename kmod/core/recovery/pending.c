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

/* Entries by type: accelerators, receivers, lasers, elements. */
static const u32 types[] = {
	MORPH_SIGNAL_HEARTBEAT, MORPH_SIGNAL_RECEIVER, MORPH_SIGNAL_LASER, MORPH_SIGNAL_ELEMENT,
};

static u32 count_parts(const struct morph_fabric *fabric, u32 type)
{
	switch (type) {
	case MORPH_SIGNAL_HEARTBEAT:
		return fabric->graph->accelerators_count;
	case MORPH_SIGNAL_RECEIVER:
	case MORPH_SIGNAL_LASER:
		return fabric->graph->ports_count;
	case MORPH_SIGNAL_ELEMENT:
		return fabric->graph->elements_count;
	}
	return 0;
}

static bool has_lanes(u32 type)
{
	return type == MORPH_SIGNAL_RECEIVER || type == MORPH_SIGNAL_LASER;
}

int morph_pending_alloc(struct morph_fabric *fabric)
{
	struct morph_recovery *recovery = recovery_of(fabric);
	u32 total = 0, i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		total += count_parts(fabric, types[i]);
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
	u64 lanes = has_lanes(signal->type) ? signal->lanes & fabric->graph->all_lanes : 1;
	struct morph_pending *part;
	bool back = signal->value;
	u32 entry = signal->index, i;

	lockdep_assert_held(&recovery->signal_lock);
	if (signal->index >= count_parts(fabric, signal->type) || !lanes)
		return;
	for (i = 0; types[i] != signal->type; i++)
		entry += count_parts(fabric, types[i]);
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
	for (i = 0; index >= count_parts(fabric, types[i]); i++)
		index -= count_parts(fabric, types[i]);
	part = &recovery->pending[entry];
	for (value = 0; value < 2; value++) {
		if (!part->lanes[value])
			continue;
		signals[count++] = (struct morph_signal){
			.type = types[i],
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
