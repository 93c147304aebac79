// SPDX-License-Identifier: GPL-2.0-only
/* Programming: which elements and lasers a change turns, and the parking of what is left. */
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

/* ----------------------------------------------------------------- elements */

/*
 * Is it turned after the old light has gone out? What a step of a schedule turns the step before
 * may have had, and nobody else has.
 */
static bool is_late(const struct exec *exec, u32 element)
{
	return exec->txn->kind->exclusive ||
	       ledger_of(exec->fabric)->state->element_marks[element] & MORPH_MARK_CHANGING;
}

/* Those of new routes that are turned late, or those that are not, from setting @first on. */
static u32 collect_new(struct exec *exec, bool late, u32 first)
{
	struct morph_fabric *fabric = exec->fabric;
	u8 *marks = ledger_of(fabric)->state->element_marks;
	u32 n = first, i, h;

	for (i = 0; i < exec->txn->count; i++) {
		const struct morph_route *route = exec->txn->items[i].new;

		if (!route)
			continue;
		for (h = 0; h < route->path.hops_count; h++) {
			u32 element = route->hops[h].element;

			if (element == OPTICS_NONE ||
			    hardware_of(fabric)->hw_state[element] == route->hops[h].state)
				continue;
			/* Routes may share it, in the same state. */
			if (marks[element] & MORPH_MARK_TURNED || is_late(exec, element) != late)
				continue;
			marks[element] |= MORPH_MARK_TURNED;
			exec->txn->settings[n].element = element;
			exec->txn->settings[n++].state = route->hops[h].state;
		}
	}
	return n - first;
}

/*
 * Settings of new routes that hardware does not have yet, each once. Their elements are marked
 * until exec_unmark_turned(). fabric->lock held.
 */
void exec_collect_new(struct exec *exec)
{
	bool step = exec->txn->kind->exclusive;

	if (!step)
		exec->early = collect_new(exec, false, 0);
	if (step || exec->broken)
		exec->late = collect_new(exec, true, exec->early);
}

/* fabric->lock held, since exec_collect_new(). */
void exec_unmark_turned(struct exec *exec)
{
	u8 *marks = ledger_of(exec->fabric)->state->element_marks;
	u32 i;

	for (i = 0; i < exec->early + exec->late; i++)
		marks[exec->txn->settings[i].element] &= ~MORPH_MARK_TURNED;
}

/* Settings that give old routes back the elements which were turned. fabric->lock held. */
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
 * Elements of a route that nobody claims any more are to be parked; to the ledger they have
 * been since the route was released. Until they are, a guard pin holds them in that state.
 * fabric->lock held.
 */
u32 morph_park_collect(struct morph_fabric *fabric, const struct morph_route *route,
		       struct morph_element_setting *settings, u32 n)
{
	struct optics_state *ledger = ledger_of(fabric)->state;
	u32 h;

	for (h = 0; h < route->path.hops_count; h++) {
		u32 element = route->hops[h].element;
		u32 park;

		if (element == OPTICS_NONE || ledger->element_pins[element])
			continue;
		park = optics_park_state(fabric->graph, element);
		if (hardware_of(fabric)->hw_state[element] == park)
			continue;
		ledger->element_pins[element] = 1;
		settings[n].element = element;
		settings[n++].state = park;
	}
	return n;
}

/*
 * Let go of a guard pin. Whoever else had pinned the element may have left meanwhile: what
 * nobody pins counts as parked, and patrol sees to that. fabric->lock held.
 */
void morph_park_unguard(struct morph_fabric *fabric, u32 element)
{
	if (!--ledger_of(fabric)->state->element_pins[element])
		optics_set_state(ledger_of(fabric)->state, element,
				 optics_park_state(fabric->graph, element));
}

/* Park what morph_park_collect() has guarded. fabric->lock held, dropped meanwhile. */
void morph_park_run(struct morph_fabric *fabric, struct morph_hw_session *session,
		    struct morph_element_setting *settings, u32 count)
{
	u32 i;
	int ret;

	if (!count)
		return;
	mutex_unlock(&fabric->lock);
	ret = morph_hw_program(fabric, session, settings, count);
	/* Once more, for a passing error; then hardware is asked what it did. */
	if (ret && ret != -ENODEV)
		ret = morph_hw_program(fabric, session, settings, count);
	if (ret && ret != -ENODEV)
		morph_hw_read_back(fabric, session, settings, count, false);
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++)
		morph_park_unguard(fabric, settings[i].element);
}

/* Returns how many settings were submitted, or a negative errno. No lock held. */
int exec_set_lasers(struct exec *exec, enum laser_step step)
{
	bool on = step == LIGHT_NEW || step == RELIGHT_OLD;
	struct morph_fabric *fabric = exec->fabric;
	struct morph_txn *txn = exec->txn;
	u64 now = on ? ktime_get_ns() : 0;
	u32 n = 0, i;
	int ret;

	mutex_lock(&fabric->lock);
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
			item->dark_since_ns = ktime_get_ns();
		/* Lit when it was staged, it went out by itself before it could be moved. */
		if (step == DARKEN_OLD && item->circuit->alarms != item->alarms)
			item->dark_since_ns = item->circuit->alarm_since_ns;
		if (step == LIGHT_NEW)
			item->circuit->dark = false;
	}
	morph_hw_update_lasers(fabric, txn->lasers, n);
	mutex_unlock(&fabric->lock);
	ret = morph_hw_submit_lasers(fabric, &txn->session, txn->lasers, n);
	return ret ? ret : n;
}
