// SPDX-License-Identifier: GPL-2.0-only
/* Health of hardware: recovery's reactions to marks in the ledger. */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"

#define HOLD_DOWN_NS		(50 * NSEC_PER_MSEC)	/* after the first failure */
#define HOLD_DOWN_MAX_SHIFT	10u
#define FLAP_WINDOW_NS		(3600ULL * NSEC_PER_SEC)

u32 morph_health_get(struct morph_fabric *fabric, u32 part, u32 index)
{
	u32 health = morph_health_marked(fabric, part, index);

	if (health == MORPH_HEALTH_OK && morph_suspect_waits(fabric, part, index))
		return MORPH_HEALTH_SUSPECT;
	return health;
}

static u32 kind_of(u32 part)
{
	return part == MORPH_PART_ACCELERATOR ? MORPH_FREED_ACCELERATORS : MORPH_FREED_PATHS;
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
				    "lasers and receivers cannot be cordoned; only accelerators, elements, guides");
	mutex_lock(&fabric->lock);
	morph_health_mark_cordon(fabric, &culprit, cordon, &affected);
	if (part == MORPH_PART_ACCELERATOR) {
		morph_protection_touch_chip(fabric, index);
		morph_report_accelerator_changed(fabric, index);
	}
	/* Protections depend on an element or a guide that new paths must avoid from now on. */
	while ((route = morph_affected_next(&affected)))
		if (route->protection)
			morph_protection_mark_stale(route->protection);
	fabric->seq++;
	if (!cordon)
		morph_repair_recover(fabric, kind_of(part));
	morph_report_hardware_changed(fabric, part, index);
	mutex_unlock(&fabric->lock);
	return 0;
}

/* --------------------------------------------------------- affected slices */

/* Caller holds fabric->lock. */
void morph_route_hit(struct morph_route *route, const struct morph_culprit *culprit, u64 since)
{
	struct morph_circuit *circuit = route->circuit;

	if (route->protection)
		morph_protection_mark_stale(route->protection);
	if (!circuit)
		return;
	if (culprit)
		slice_recovery(circuit->slice)->culprit = *culprit;
	/* A circuit that is lit for the first time is checked when it is published. */
	if (circuit->listed)
		morph_repair_kick(circuit->slice, since);
}

/* Double the hold-down with each failure within an hour. */
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

/* The mark of an accelerator has changed: queue the replacement of its rank, or cancel it. */
static void chip_marked(struct morph_fabric *fabric, const struct morph_culprit *culprit,
			u32 health, u64 since, const struct morph_affected *affected)
{
	bool failed = health != MORPH_HEALTH_OK;
	struct morph_slice *slice = affected->slice;

	/* Hardware that returns after a failure must pass a test. */
	if (health != MORPH_HEALTH_QUARANTINED)
		ledger_of(fabric)->chips[culprit->index].stranger = false;
	morph_protection_touch_chip(fabric, culprit->index);
	morph_report_accelerator_changed(fabric, culprit->index);
	if (!slice || slice->ranks[affected->rank].failed == failed)
		return;
	slice->ranks[affected->rank].failed = failed;
	if (!failed) {
		/* The accelerator became healthy before a spare was found: the rank keeps it. */
		morph_repair_kick(slice, 0);
		return;
	}
	slice_recovery(slice)->culprit = *culprit;
	morph_repair_kick(slice, since);
	morph_repair_report_failing(slice, affected->rank, culprit->index, MORPH_OUTCOME_NONE);
}

/**
 * morph_health_set() - apply a changed health of hardware
 * @fabric: the fabric
 * @culprit: the part; the function ignores a culprit without part
 * @health: enum morph_health
 * @since_ns: CLOCK_MONOTONIC time at which hardware showed it, or 0
 *
 * Starts the repair of every slice that uses the part. The cost is proportional to the number
 * of affected circuits.
 *
 * Context: fabric->lock held.
 * Return: 0, or -ENOENT if the fabric has no such part.
 */
int morph_health_set(struct morph_fabric *fabric, const struct morph_culprit *culprit, u32 health,
		     u64 since_ns)
{
	bool accelerator = culprit->part == MORPH_PART_ACCELERATOR;
	struct morph_affected affected;
	struct morph_route *route;
	u32 index = culprit->index;
	bool fails;

	lockdep_assert_held(&fabric->lock);
	if (!morph_part_exists(fabric, culprit->part, index))
		return -ENOENT;
	trace_morph_fault(fabric->id, culprit->part, index, health);
	/* An accelerator that fails during its test fails the test, whatever the test returns. */
	if (health == MORPH_HEALTH_OK || (health == MORPH_HEALTH_FAILED && accelerator))
		morph_suspect_drop(fabric, culprit);
	/*
	 * The mark removes it from the lists of free accelerators; the hold-down delays its return.
	 */
	if (accelerator && health == MORPH_HEALTH_FAILED &&
	    ledger_of(fabric)->chips[index].health == MORPH_HEALTH_OK)
		hold_down(&ledger_of(fabric)->chips[index]);
	fails = accelerator && health == MORPH_HEALTH_FAILED &&
		ledger_of(fabric)->chips[index].health != MORPH_HEALTH_FAILED;
	morph_health_mark(fabric, culprit, health, &affected);
	if (fails)
		morph_log_failed(fabric, index, affected.slice, affected.rank);
	if (accelerator)
		chip_marked(fabric, culprit, health, since_ns, &affected);
	while (health != MORPH_HEALTH_OK && (route = morph_affected_next(&affected)))
		morph_route_hit(route, culprit, since_ns);
	fabric->seq++;
	if (health == MORPH_HEALTH_OK)
		morph_repair_recover(fabric, kind_of(culprit->part));
	morph_report_hardware_changed(fabric, culprit->part, index);
	return 0;
}
