// SPDX-License-Identifier: GPL-2.0-only
/* Programming: which elements and lasers a change turns, and the parking of what is left. */
#include "exec.h"
#include "half.h"
#include "health.h"
#include "hw.h"
#include "route.h"
#include "slice.h"
#include "txn.h"

/* ------------------------------------------------------------------ elements */

/*
 * Is it turned after the old light has gone out? What a step of a schedule turns the step before
 * may have had, and nobody else has.
 */
static bool is_late(const struct exec *exec, u32 element)
{
	return exec->txn->kind == MORPH_TXN_OF_SCHEDULE ||
	       exec->fabric->ledger->element_marks[element] & MORPH_MARK_CHANGING;
}

/* Settings of new routes that hardware does not have yet. fabric->lock held. */
u32 exec_collect_new(struct exec *exec, bool late, u32 first)
{
	struct morph_fabric *fabric = exec->fabric;
	u32 n = first, i, h;

	for (i = 0; i < exec->txn->count; i++) {
		const struct morph_route *route = exec->txn->items[i].new;

		if (!route)
			continue;
		for (h = 0; h < route->path.hops_count; h++) {
			u32 element = route->hops[h].element;

			if (element == OPTICS_NONE ||
			    fabric->hw_state[element] == route->hops[h].state)
				continue;
			if (is_late(exec, element) != late)
				continue;
			exec->txn->settings[n].element = element;
			exec->txn->settings[n++].state = route->hops[h].state;
		}
	}
	return n - first;
}

/* Settings that give old routes back the elements which were turned. fabric->lock held. */
u32 exec_collect_old(struct exec *exec)
{
	bool step = exec->txn->kind == MORPH_TXN_OF_SCHEDULE;
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
u32 exec_collect_parks(struct morph_fabric *fabric, const struct morph_route *route,
		       struct morph_element_setting *settings, u32 n)
{
	struct optics_state *ledger = fabric->ledger;
	u32 h;

	for (h = 0; h < route->path.hops_count; h++) {
		u32 element = route->hops[h].element;
		u32 park;

		if (element == OPTICS_NONE || ledger->element_pins[element])
			continue;
		park = optics_park_state(fabric->graph, element);
		if (fabric->hw_state[element] == park)
			continue;
		ledger->element_pins[element] = 1;
		settings[n].element = element;
		settings[n++].state = park;
	}
	return n;
}

/*
 * What hardware says about elements that may not have obeyed. Only those that had
 * been told without an error are to blame for it. One that can't be read now is told its
 * state again by patrol, before it can be taken for one that has moved. So is the rest, where
 * the device does not answer at all: each would be waited for. No lock held.
 */
void exec_read_back(struct morph_fabric *fabric, struct morph_txn *txn,
		    struct morph_element_setting *settings, u32 count, bool told)
{
	struct morph_culprit culprit = { .part = MORPH_PART_ELEMENT };
	u32 i, wanted;
	int ret;

	for (i = 0; i < count; i++) {
		struct morph_element_setting one = settings[i];

		wanted = settings[i].state;
		ret = morph_hw_get_elements(fabric, txn, &one, 1);
		if (ret)
			morph_patrol_review(fabric);
		if (ret == -ETIMEDOUT || ret == -ENODEV)
			return;
		if (ret)
			continue;
		mutex_lock(&fabric->lock);
		fabric->hw_state[one.element] = one.state;
		culprit.index = one.element;
		if (told && one.state != wanted)
			morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, 0);
		mutex_unlock(&fabric->lock);
	}
}

/* Program elements and remember what they were told. No lock held. */
int exec_set_elements(struct morph_fabric *fabric, struct morph_txn *txn,
		      struct morph_element_setting *settings, u32 count)
{
	u32 i;
	int ret;

	if (!count)
		return 0;
	ret = morph_hw_set_elements(fabric, txn, settings, count);
	if (ret)
		return ret;
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++)
		fabric->hw_state[settings[i].element] = settings[i].state;
	mutex_unlock(&fabric->lock);
	return 0;
}

/*
 * Let go of a guard pin. Whoever else had pinned the element may have left meanwhile: what
 * nobody pins counts as parked, and patrol sees to that. fabric->lock held.
 */
void exec_unguard(struct morph_fabric *fabric, u32 element)
{
	if (!--fabric->ledger->element_pins[element])
		optics_set_state(fabric->ledger, element,
				 optics_park_state(fabric->graph, element));
}

/* Park what exec_collect_parks() has guarded. fabric->lock held, dropped meanwhile. */
void exec_run_parks(struct morph_fabric *fabric, struct morph_txn *txn,
		    struct morph_element_setting *settings, u32 count)
{
	u32 i;
	int ret;

	if (!count)
		return;
	mutex_unlock(&fabric->lock);
	ret = morph_hw_set_elements(fabric, txn, settings, count);
	/* Once more, for a passing error; then hardware is asked what it did. */
	if (ret && ret != -ENODEV)
		ret = morph_hw_set_elements(fabric, txn, settings, count);
	if (ret && ret != -ENODEV)
		exec_read_back(fabric, txn, settings, count, false);
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++) {
		if (!ret)
			fabric->hw_state[settings[i].element] = settings[i].state;
		exec_unguard(fabric, settings[i].element);
	}
}

/* -------------------------------------------------------------------- lasers */

/* Add a change of one route's lasers to the list. fabric->lock held. */
u32 exec_add_laser(struct morph_fabric *fabric, struct morph_laser_setting *lasers, u32 n,
		   const struct morph_route *route, bool on)
{
	u64 *lit = &fabric->tx_on[route->path.tx];

	if (on)
		*lit |= route->path.lanes;
	else
		*lit &= ~route->path.lanes;
	lasers[n].port = route->path.tx;
	lasers[n].lanes = *lit;
	return n + 1;
}

/* Settings as they are wanted now: true when some were not. fabric->lock held. */
bool exec_update_lasers(struct morph_fabric *fabric, struct morph_laser_setting *lasers, u32 n)
{
	bool changed = false;
	u32 i;

	for (i = 0; i < n; i++) {
		if (lasers[i].lanes == fabric->tx_on[lasers[i].port])
			continue;
		lasers[i].lanes = fabric->tx_on[lasers[i].port];
		changed = true;
	}
	return changed;
}

/*
 * Switch the lasers of ports as fabric->tx_on has them. A setting speaks of all lanes of
 * its port: a test by light may have changed others meanwhile, and what was submitted
 * first need not be done first. So until it agrees it is told again. No lock held.
 */
int exec_tell_lasers(struct morph_fabric *fabric, struct morph_txn *txn,
		     struct morph_laser_setting *lasers, u32 n)
{
	bool changed;
	int ret;

	if (!n)
		return 0;
	do {
		ret = morph_hw_set_lasers(fabric, txn, lasers, n);
		mutex_lock(&fabric->lock);
		changed = exec_update_lasers(fabric, lasers, n);
		mutex_unlock(&fabric->lock);
	} while (!ret && changed);
	return ret;
}

/*
 * Likewise. After an error nobody knows which of them have obeyed, and a receiver that sees
 * nothing proves nothing where it is deaf: a review asks the lasers themselves.
 */
int exec_submit_lasers(struct morph_fabric *fabric, struct morph_txn *txn,
		       struct morph_laser_setting *lasers, u32 n)
{
	int ret = exec_tell_lasers(fabric, txn, lasers, n);

	if (ret && ret != -ENODEV)
		morph_patrol_review(fabric);
	return ret;
}

/* Returns how many settings were submitted, or a negative errno. No lock held. */
int exec_set_lasers(struct exec *exec, enum laser_step step)
{
	bool on = step == LIGHT_NEW || step == RELIGHT_OLD;
	struct morph_fabric *fabric = exec->fabric;
	struct morph_txn *txn = exec->txn;
	u32 n = 0, i;
	int ret;

	mutex_lock(&fabric->lock);
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];
		const struct morph_route *route = exec_laser_route(exec, item, step);

		if (!route)
			continue;
		if (!morph_route_comes_in(fabric, route))
			n = exec_add_laser(fabric, txn->lasers, n, route, on);
		if (step == BREAK_OLD && !item->dark_since_ns)
			item->dark_since_ns = ktime_get_ns();
		/* Lit when it was staged, it went out by itself before it could be moved. */
		if (step == DARKEN_OLD && item->circuit->alarms != item->alarms)
			item->dark_since_ns = item->circuit->alarm_since_ns;
		if (step == LIGHT_NEW)
			item->circuit->dark = false;
	}
	exec_update_lasers(fabric, txn->lasers, n);
	mutex_unlock(&fabric->lock);
	ret = exec_submit_lasers(fabric, txn, txn->lasers, n);
	return ret ? ret : n;
}
