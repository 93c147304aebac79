// SPDX-License-Identifier: GPL-2.0-only
/* Programming: the elements and lasers that a change turns, and parking of unused elements. */
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

/* ----------------------------------------------------------------- elements */

/*
 * Collect settings of new routes that turn late (or early), from setting @first on. An element is
 * late if it turns only after the old light is out. All elements that a step of a schedule turns
 * are late: the previous step may use them, but no other slice does.
 */
static u32 collect_new(struct exec *exec, bool late, u32 first)
{
	const struct morph_fabric *fabric = exec->fabric;
	u8 *marks = ledger_of(fabric)->state->element_marks;
	struct morph_txn *txn = exec->txn;
	bool all_late = txn->kind->exclusive;
	u32 n = first, i;

	for (i = 0; i < txn->count; i++) {
		const struct morph_route *route = txn->items[i].new;
		const struct optics_hop *hop, *end;

		if (!route)
			continue;
		end = route->hops + route->path.hops_count;
		for (hop = route->hops; hop < end; hop++) {
			u32 element = hop->element;

			if (element == OPTICS_NONE || morph_hw_state(fabric, element) == hop->state)
				continue;
			/* Routes may share the element in the same state. */
			if (marks[element] & MORPH_MARK_TURNED ||
			    (all_late || marks[element] & MORPH_MARK_CHANGING) != late)
				continue;
			marks[element] |= MORPH_MARK_TURNED;
			txn->turned[n].route = route;
			txn->turned[n].hop = hop;
			txn->settings[n].element = element;
			txn->settings[n++].state = hop->state;
		}
	}
	return n - first;
}

/*
 * Collect the settings of new routes that the hardware does not have yet, each setting once. Marks
 * their elements until exec_unmark_turned(). Caller holds fabric->lock.
 */
void exec_collect_new(struct exec *exec)
{
	bool step = exec->txn->kind->exclusive;

	if (!step)
		exec->early = collect_new(exec, false, 0);
	if (step || exec->broken)
		exec->late = collect_new(exec, true, exec->early);
}

/* Caller has held fabric->lock since exec_collect_new(). */
void exec_unmark_turned(struct exec *exec)
{
	u8 *marks = ledger_of(exec->fabric)->state->element_marks;
	u32 i;

	for (i = 0; i < exec->early + exec->late; i++)
		marks[exec->txn->settings[i].element] &= ~MORPH_MARK_TURNED;
}

/* Collect the settings that restore the old routes' elements. Caller holds fabric->lock. */
u32 exec_collect_old(struct exec *exec)
{
	bool step = exec->txn->kind->exclusive;
	u32 n = 0, i, h;

	for (i = 0; i < exec->txn->count; i++) {
		const struct morph_route *route = exec->txn->items[i].old;

		if (!route || !(step || route->role == MORPH_ROUTE_SHADOW))
			continue;
		for (h = 0; h < route->path.hops_count; h++) {
			if (route->hops[h].element == OPTICS_NONE ||
			    (!step && route->links[h].element_held))
				continue;
			exec->txn->settings[n].element = route->hops[h].element;
			exec->txn->settings[n++].state = route->hops[h].state;
		}
	}
	return n;
}

/*
 * Collect the park settings of the elements that no route claims any more. In the ledger they count
 * as parked since the release of the route. Until the hardware is programmed, a guard pin holds
 * them in that state. Caller holds fabric->lock.
 */
u32 morph_park_collect(struct morph_fabric *fabric, const struct morph_route *route,
		       struct morph_element_setting *settings, u32 n)
{
	const struct optics_hop *hop = route->hops, *end = hop + route->path.hops_count;
	u32 *pins = ledger_of(fabric)->state->element_pins;
	u32 first = n;

	for (; hop < end; hop++) {
		u32 element = hop->element;
		u32 park;

		if (element == OPTICS_NONE || pins[element])
			continue;
		park = optics_park_state(fabric->graph, element);
		if (morph_hw_state(fabric, element) == park)
			continue;
		pins[element] = 1;
		settings[n].element = element;
		settings[n++].state = park;
	}
	ledger_of(fabric)->marks_seq += n != first;
	return n;
}

/* Drop guard pins. Caller holds fabric->lock. */
static void unguard(struct morph_fabric *fabric, const struct morph_element_setting *settings,
		    u32 count)
{
	const struct morph_element_setting *end = settings + count;
	struct optics_state *ledger = ledger_of(fabric)->state;

	for (; settings < end; settings++)
		if (!--ledger->element_pins[settings->element])
			optics_park(ledger, settings->element);
	ledger_of(fabric)->marks_seq++;
}

/*
 * Drop a guard pin. The other pins may be gone by now. An element without a pin counts as parked,
 * and patrol corrects its state. Caller holds fabric->lock.
 */
void morph_park_unguard(struct morph_fabric *fabric, u32 element)
{
	struct morph_element_setting setting = { .element = element };

	unguard(fabric, &setting, 1);
}

/*
 * Park the elements that morph_park_collect() has collected. Caller holds fabric->lock; the
 * function drops it meanwhile.
 */
void morph_park_run(struct morph_fabric *fabric, struct morph_hw_session *session,
		    struct morph_element_setting *settings, u32 count)
{
	int ret;

	if (!count)
		return;
	morph_fabric_unlock(fabric);
	ret = morph_hw_program(fabric, session, settings, count);
	/* Retry once, because the error may be transient; then read the states back. */
	if (ret && ret != -ENODEV)
		ret = morph_hw_program(fabric, session, settings, count);
	if (ret && ret != -ENODEV)
		morph_hw_read_back(fabric, session, settings, count, false);
	morph_fabric_lock(fabric);
	unguard(fabric, settings, count);
}

/* Whether a step switches any lasers. */
bool exec_has_lasers(const struct exec *exec, enum laser_step step)
{
	u32 i;

	for (i = 0; i < exec->txn->count; i++)
		if (exec_laser_route(exec, &exec->txn->items[i], step))
			return true;
	return false;
}

/*
 * Record the lasers of a step as switched, and return the number of settings to submit. Caller
 * holds fabric->lock.
 */
u32 exec_collect_lasers(struct exec *exec, enum laser_step step)
{
	bool on = step == LIGHT_NEW || step == RELIGHT_OLD;
	struct morph_fabric *fabric = exec->fabric;
	struct morph_txn *txn = exec->txn;
	u32 n = 0, i;
	u64 now = 0;

	/* After the wait for the lock, during which the old light was still on. */
	if (on || step == BREAK_OLD)
		now = ktime_get_ns();
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];
		struct morph_route *route = exec_laser_route(exec, item, step);

		if (!route)
			continue;
		if (on)
			route->lit_from_ns = now;
		if (!morph_route_comes_in(fabric, route))
			n = morph_hw_add_laser(fabric, txn->lasers, n, &route->path, on);
		if (step == BREAK_OLD && !item->dark_since_ns)
			item->dark_since_ns = now;
		/* The circuit was lit at staging, but lost its light before the move. */
		if (step == DARKEN_OLD && item->circuit->alarms != item->alarms)
			item->dark_since_ns = item->circuit->alarm_since_ns;
		if (step == LIGHT_NEW)
			item->circuit->dark = false;
	}
	morph_hw_update_lasers(fabric, txn->lasers, n);
	return n;
}

/* Submit the settings; return their number or a negative errno. No lock held. */
int exec_command_lasers(struct exec *exec, u32 n)
{
	struct morph_txn *txn = exec->txn;
	int ret = morph_hw_submit_lasers(exec->fabric, &txn->session, txn->lasers, n);

	return ret ? ret : n;
}

/* Both of the above, if the step switches any lasers. No lock held. */
int exec_set_lasers(struct exec *exec, enum laser_step step)
{
	u32 n;

	if (!exec_has_lasers(exec, step))
		return 0;
	morph_fabric_lock(exec->fabric);
	n = exec_collect_lasers(exec, step);
	morph_fabric_unlock(exec->fabric);
	return exec_command_lasers(exec, n);
}
