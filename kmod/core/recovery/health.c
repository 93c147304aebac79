// SPDX-License-Identifier: GPL-2.0-only
/* Health of hardware: what follows when the ledger has marked it. */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"

#define HOLD_DOWN_NS		(50 * NSEC_PER_MSEC)	/* after the first failure; doubles */
#define HOLD_DOWN_MAX_SHIFT	10u
#define FLAP_WINDOW_NS		(3600ULL * NSEC_PER_SEC)

u32 morph_health_get(struct morph_fabric *fabric, u32 part, u32 index)
{
	u32 health = morph_health_marked(fabric, part, index);

	if (health == MORPH_HEALTH_OK && morph_suspect_waits(fabric, part, index))
		return MORPH_HEALTH_SUSPECT;
	return health;
}

int morph_health_cordon(struct morph_fabric *fabric, u32 part, u32 index, bool cordon,
			struct morph_refusal *refusal)
{
	const struct morph_culprit culprit = { .part = part, .index = index };
	struct morph_affected affected;
	struct morph_route *route;
	int ret;

	ret = morph_health_check_part(fabric, part, index, refusal);
	if (ret)
		return ret;
	if (part == MORPH_PART_LASER || part == MORPH_PART_RECEIVER)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, part, index,
				    "accelerators, elements and guides can be cordoned, not lasers and receivers");
	mutex_lock(&fabric->lock);
	morph_health_mark_cordon(fabric, &culprit, cordon, &affected);
	if (part == MORPH_PART_ACCELERATOR) {
		morph_protection_touch_chip(fabric, index);
		morph_report_accelerator_changed(fabric, index);
	}
	/* Protections that count on an element or a guide which is to be kept free from now on. */
	while ((route = morph_affected_next(&affected)))
		if (route->protection)
			morph_protection_spoil(route->protection);
	fabric->seq++;
	if (!cordon)
		morph_repair_recover(fabric);
	morph_report_hardware_changed(fabric, part, index);
	mutex_unlock(&fabric->lock);
	return 0;
}

/* --------------------------------------------------------- who is affected */

/* A live circuit runs over failed hardware: its slice is repaired. */
void morph_route_hit(struct morph_route *route, const struct morph_culprit *culprit, u64 since)
{
	struct morph_circuit *circuit = route->circuit;

	if (route->protection)
		morph_protection_spoil(route->protection);
	if (!circuit)
		return;
	if (culprit)
		slice_recovery(circuit->slice)->culprit = *culprit;
	/* One that is being lit for the first time is judged when it is published. */
	if (circuit->listed)
		morph_repair_kick(circuit->slice, since);
}

/* Hold-down doubles with each failure of an hour. */
static void hold_down(struct morph_chip *chip)
{
	u64 now = ktime_get_boottime_ns();

	if (now - chip->last_failed_ns > FLAP_WINDOW_NS)
		chip->flaps = 0;
	chip->last_failed_ns = now;
	chip->hold_until_ns = now +
		(HOLD_DOWN_NS << min_t(u32, chip->flaps, HOLD_DOWN_MAX_SHIFT));
	if (chip->flaps < U8_MAX)
		chip->flaps++;
}

/* The mark of an accelerator has changed: its rank is to be replaced, or keeps it. */
static void chip_marked(struct morph_fabric *fabric, const struct morph_culprit *culprit,
			u32 health, u64 since, const struct morph_affected *affected)
{
	bool failed = health != MORPH_HEALTH_OK;
	struct morph_slice *slice = affected->slice;

	/* Whatever comes back after a failure is looked at anew. */
	if (health != MORPH_HEALTH_QUARANTINED)
		ledger_of(fabric)->chips[culprit->index].stranger = false;
	morph_protection_touch_chip(fabric, culprit->index);
	morph_report_accelerator_changed(fabric, culprit->index);
	if (!slice || slice->ranks[affected->rank].failed == failed)
		return;
	slice->ranks[affected->rank].failed = failed;
	if (!failed) {
		/* It was found well before a spare could be had: the rank keeps it. */
		morph_repair_kick(slice, 0);
		return;
	}
	slice_recovery(slice)->culprit = *culprit;
	morph_repair_kick(slice, since);
	morph_repair_tell_failing(slice, affected->rank);
}

/**
 * morph_health_set() - hardware was found to be bad, or good again
 * @fabric: the fabric
 * @culprit: what; a culprit without part is ignored
 * @health: enum morph_health
 * @since_ns: CLOCK_MONOTONIC time at which hardware showed it, or 0
 *
 * Sets off the repair of every slice that uses it. The cost is that of the
 * circuits concerned.
 *
 * Context: fabric->lock held.
 * Return: 0, or -ENOENT when there is no such thing.
 */
int morph_health_set(struct morph_fabric *fabric, const struct morph_culprit *culprit, u32 health,
		     u64 since_ns)
{
	bool accelerator = culprit->part == MORPH_PART_ACCELERATOR;
	struct morph_affected affected;
	struct morph_route *route;
	u32 index = culprit->index;

	lockdep_assert_held(&fabric->lock);
	if (!morph_part_exists(fabric, culprit->part, index))
		return -ENOENT;
	trace_morph_fault(fabric->id, culprit->part, index, health);
	/* An accelerator that fails while it is tested fails the test, whatever that says. */
	if (health == MORPH_HEALTH_OK || (health == MORPH_HEALTH_FAILED && accelerator))
		morph_suspect_drop(fabric, culprit->part, index);
	/* The mark takes it off the lists, and the hold-down keeps it off. */
	if (accelerator && health == MORPH_HEALTH_FAILED &&
	    ledger_of(fabric)->chips[index].health == MORPH_HEALTH_OK)
		hold_down(&ledger_of(fabric)->chips[index]);
	morph_health_mark(fabric, culprit, health, &affected);
	if (accelerator)
		chip_marked(fabric, culprit, health, since_ns, &affected);
	while (health != MORPH_HEALTH_OK && (route = morph_affected_next(&affected)))
		morph_route_hit(route, culprit, since_ns);
	fabric->seq++;
	if (health == MORPH_HEALTH_OK)
		morph_repair_recover(fabric);
	morph_report_hardware_changed(fabric, culprit->part, index);
	return 0;
}
