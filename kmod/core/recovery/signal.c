// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals of the hardware. Providers queue them from any context; a worker converts them to marks.
 */
#include <linux/export.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"

/**
 * morph_fabric_signal() - report signals of the hardware
 * @fabric: a registered fabric
 * @signals: all signals of one event, so that the core handles them together; copied
 * @count: number of signals
 *
 * Context: any.
 */
void morph_fabric_signal(struct morph_fabric *fabric, const struct morph_signal *signals,
			 u32 count)
{
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&recovery_of(fabric)->signal_lock, flags);
	if (!recovery_of(fabric)->pending || recovery_of(fabric)->signals_stopped) {
		spin_unlock_irqrestore(&recovery_of(fabric)->signal_lock, flags);
		return;
	}
	for (i = 0; i < count; i++) {
		if (signals[i].type == MORPH_SIGNAL_TEMPERATURE)
			WRITE_ONCE(recovery_of(fabric)->temperature, signals[i].value);
		else
			morph_pending_add(fabric, &signals[i]);
	}
	queue_work(morph_signal_wq, &recovery_of(fabric)->signal_work);
	spin_unlock_irqrestore(&recovery_of(fabric)->signal_lock, flags);
	for (i = 0; i < count; i++) {
		morph_stat(fabric, MORPH_STAT_SIGNALS);
		trace_morph_signal(fabric->id, signals[i].type, signals[i].index, signals[i].value);
	}
}
EXPORT_SYMBOL_GPL(morph_fabric_signal);

static void on_heartbeat(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	struct morph_culprit culprit = { MORPH_PART_ACCELERATOR, signal->index, 0 };
	struct morph_chip *chip;
	u64 now = ktime_get_boottime_ns();
	unsigned long left;

	chip = &ledger_of(fabric)->chips[signal->index];
	chip->heartbeat_lost = !signal->value;
	if (!signal->value) {
		morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, signal->since_ns);
		return;
	}
	if (chip->health != MORPH_HEALTH_FAILED)
		return;
	/* The heartbeat is back: the accelerator must wait for its hold-down and pass a test. */
	morph_health_set(fabric, &culprit, MORPH_HEALTH_QUARANTINED, signal->since_ns);
	morph_suspect_add(fabric, &culprit);
	left = chip->hold_until_ns > now ? nsecs_to_jiffies(chip->hold_until_ns - now) + 1 : 0;
	/*
	 * Do not postpone the regular patrol round, even for an accelerator that fails repeatedly.
	 */
	if (left < MORPH_PATROL_PERIOD)
		mod_delayed_work(morph_wq, &recovery_of(fabric)->patrol_work, left);
}

/* Count an alarm: light is missing, or may be. @since_ns 0: time unknown. */
static void count_dark(struct morph_circuit *circuit, u64 since_ns)
{
	if (!circuit->dark)
		circuit->alarm_since_ns = since_ns;
	circuit->dark = true;
	circuit->alarms++;
	morph_report_darkened(circuit);
}

/*
 * Return whether the signal is older than the light: it reports late that a change removed the
 * previous light.
 */
static bool precedes_light(const struct morph_route *route, const struct morph_signal *signal)
{
	return !signal->value && signal->since_ns < route->lit_from_ns;
}

/*
 * Return whether light is sent along a route. Darkness is expected if a change has switched the
 * light off. For light of a peer, the state of the laser is unknown.
 */
static bool is_sent(const struct morph_fabric *fabric, const struct morph_route *route, u64 lanes)
{
	u32 h;

	if (morph_route_comes_in(fabric, route))
		return true;
	if (!(route->path.lanes & lanes & hardware_of(fabric)->tx_on[route->path.tx]))
		return false;
	/* Its laser may be on for the route that replaces it. */
	for (h = 0; h < route->path.hops_count && circuit_txns(route->circuit)->pending; h++)
		if (route->hops[h].element != OPTICS_NONE &&
		    morph_hw_state(fabric, route->hops[h].element) != route->hops[h].state)
			return false;
	return true;
}

static void on_receiver(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	struct morph_culprit culprit = { MORPH_PART_RECEIVER, signal->index, signal->lanes };
	struct morph_link *link;
	u32 guide;

	guide = fabric->graph->rx_guide[signal->index] >> 1;
	hlist_for_each_entry(link, &ledger_of(fabric)->guide_routes[guide], node) {
		struct morph_circuit *circuit = link->route->circuit;

		if (link->route->role == MORPH_ROUTE_PROTECTION || !circuit ||
		    !(link->route->path.lanes & signal->lanes))
			continue;
		/* The light of a peer may come and go until it is verified. */
		if (circuit_txns(circuit)->pending && morph_route_comes_in(fabric, link->route))
			continue;
		if (!is_sent(fabric, link->route, signal->lanes) ||
		    precedes_light(link->route, signal))
			continue;
		if (!signal->value)
			count_dark(circuit, signal->since_ns);
		if (!circuit->dark)
			continue;
		/* This is only the symptom; the diagnosis reports the cause later. */
		if (!circuit->slice->repairing)
			slice_recovery(circuit->slice)->culprit = culprit;
		morph_route_hit(link->route, NULL, signal->since_ns);
	}
}

static void on_laser(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	struct morph_culprit culprit = { MORPH_PART_LASER, signal->index, signal->lanes };

	if (!signal->value) {
		/* This overrides a test that runs. */
		morph_suspect_drop(fabric, &culprit);
		morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, signal->since_ns);
		return;
	}
	/* Lanes that are healthy again must pass a test, unless they have passed one meanwhile. */
	culprit.lanes &= ledger_of(fabric)->state->tx_dead[signal->index];
	if (culprit.lanes)
		morph_suspect_add(fabric, &culprit);
}

static void on_element(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	struct morph_culprit culprit = { MORPH_PART_ELEMENT, signal->index, 0 };

	if (!signal->value) {
		morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, signal->since_ns);
		return;
	}
	/*
	 * The alarm is cleared: the element must pass a test, unless it has passed one meanwhile.
	 */
	if (morph_health_get(fabric, culprit.part, culprit.index) != MORPH_HEALTH_FAILED)
		return;
	morph_health_set(fabric, &culprit, MORPH_HEALTH_QUARANTINED, signal->since_ns);
	morph_suspect_add(fabric, &culprit);
}

static void on_signal(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	switch (signal->type) {
	case MORPH_SIGNAL_HEARTBEAT:
		on_heartbeat(fabric, signal);
		break;
	case MORPH_SIGNAL_RECEIVER:
		on_receiver(fabric, signal);
		break;
	case MORPH_SIGNAL_LASER:
		on_laser(fabric, signal);
		break;
	case MORPH_SIGNAL_ELEMENT:
		on_element(fabric, signal);
		break;
	}
}

/*
 * Handle the signals of a few parts. During bring-up they wait for morph_health_start(). Return
 * whether more are pending. Caller holds fabric->lock.
 */
static bool handle_signals(struct morph_fabric *fabric)
{
	struct morph_recovery *recovery = recovery_of(fabric);
	struct morph_signal *signals = recovery->signals;
	u32 count = 0, parts = 0, taken, i;
	bool more;

	if (fabric->state != MORPH_FABRIC_READY)
		return false;
	spin_lock_irq(&recovery->signal_lock);
	do {
		taken = morph_pending_take(fabric, &signals[count]);
		count += taken;
	} while (taken && ++parts < MORPH_SIGNALS_AT_ONCE);
	more = slices_of(fabric)->signal_count;
	spin_unlock_irq(&recovery->signal_lock);
	for (i = 0; i < count; i++)
		on_signal(fabric, &signals[i]);
	return more;
}

void morph_signal_work(struct work_struct *work)
{
	struct morph_recovery *recovery = container_of(work, struct morph_recovery, signal_work);
	struct morph_fabric *fabric = &recovery->slices.txns.ledger.hardware.fabric;
	bool more;

	mutex_lock(&fabric->lock);
	more = handle_signals(fabric);
	morph_protection_wake(fabric);
	mutex_unlock(&fabric->lock);
	/* The repairs that this processor has queued so far come first. */
	if (more)
		queue_work(morph_signal_wq, work);
}
