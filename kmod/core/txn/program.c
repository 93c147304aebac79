// SPDX-License-Identifier: GPL-2.0-only
/* Programming: which elements and lasers a change turns, and the parking of what is left. */
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"
#include "internal.h"

/* ------------------------------------------------------------------ telling */

/* Is some of it what a review has for itself? */
static bool is_reviewed(struct morph_fabric *fabric, enum morph_review what, const void *settings,
			u32 count)
{
	const struct morph_element_setting *elements = settings;
	const struct morph_laser_setting *lasers = settings;
	u32 first, index, i;

	/* Pairs with exec_review_begin() and exec_review_end(). */
	if (likely(smp_load_acquire(&fabric->review_of) != what))
		return false;
	first = READ_ONCE(fabric->review_first);
	for (i = 0; i < count; i++) {
		index = what == MORPH_REVIEW_ELEMENTS ? elements[i].element : lasers[i].port;
		if (index - first < MORPH_REVIEW_CHUNK)
			return true;
	}
	return false;
}

/*
 * Hardware is about to be told these settings, or asked how they stand for fabric->hw_state.
 * Whoever sees no review here is waited for by the next one. No lock held.
 */
static int tell_begin(struct morph_fabric *fabric, enum morph_review what, const void *settings,
		      u32 count) __acquires(&fabric->telling)
{
	int srcu;

	for (;;) {
		srcu = srcu_read_lock(&fabric->telling);
		if (!is_reviewed(fabric, what, settings, count))
			return srcu;
		srcu_read_unlock(&fabric->telling, srcu);
		wait_event(fabric->review_end, !is_reviewed(fabric, what, settings, count));
	}
}

static void tell_end(struct morph_fabric *fabric, int srcu) __releases(&fabric->telling)
{
	srcu_read_unlock(&fabric->telling, srcu);
}

/*
 * From now until exec_review_end() nobody else tells MORPH_REVIEW_CHUNK elements, or the lasers
 * of so many ports, from @first on; what they are told in between is what is written down. There
 * is one review at a time. No lock held.
 */
void exec_review_begin(struct morph_fabric *fabric, enum morph_review what, u32 first)
{
	WRITE_ONCE(fabric->review_first, first);
	/* Who sees that there is one sees of what. Pairs with is_reviewed(). */
	smp_store_release(&fabric->review_of, what);
	synchronize_srcu(&fabric->telling);
}

void exec_review_end(struct morph_fabric *fabric)
{
	/* Whoever goes on sees what hardware was told. Pairs with is_reviewed(). */
	smp_store_release(&fabric->review_of, MORPH_REVIEW_NONE);
	wake_up_all(&fabric->review_end);
}

/* ----------------------------------------------------------------- elements */

/*
 * Is it turned after the old light has gone out? What a step of a schedule turns the step before
 * may have had, and nobody else has.
 */
static bool is_late(const struct exec *exec, u32 element)
{
	return exec->txn->kind == MORPH_TXN_OF_SCHEDULE ||
	       exec->fabric->ledger->element_marks[element] & MORPH_MARK_CHANGING;
}

/* Those of new routes that are turned late, or those that are not, from setting @first on. */
static u32 collect_new(struct exec *exec, bool late, u32 first)
{
	struct morph_fabric *fabric = exec->fabric;
	u8 *marks = fabric->ledger->element_marks;
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
	bool step = exec->txn->kind == MORPH_TXN_OF_SCHEDULE;

	if (!step)
		exec->early = collect_new(exec, false, 0);
	if (step || exec->broken)
		exec->late = collect_new(exec, true, exec->early);
}

/* fabric->lock held, since exec_collect_new(). */
void exec_unmark_turned(struct exec *exec)
{
	u8 *marks = exec->fabric->ledger->element_marks;
	u32 i;

	for (i = 0; i < exec->early + exec->late; i++)
		marks[exec->txn->settings[i].element] &= ~MORPH_MARK_TURNED;
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

/* How an element stands, which is remembered. No lock held. */
int exec_ask_element(struct morph_fabric *fabric, struct morph_txn *txn, u32 element, u32 *state)
{
	struct morph_element_setting setting = { .element = element };
	int srcu, ret;

	srcu = tell_begin(fabric, MORPH_REVIEW_ELEMENTS, &setting, 1);
	ret = morph_hw_get_elements(fabric, txn, &setting, 1);
	if (!ret) {
		mutex_lock(&fabric->lock);
		fabric->hw_state[element] = setting.state;
		mutex_unlock(&fabric->lock);
	}
	tell_end(fabric, srcu);
	*state = setting.state;
	return ret;
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
	u32 i, state;
	int ret;

	for (i = 0; i < count; i++) {
		culprit.index = settings[i].element;
		ret = exec_ask_element(fabric, txn, culprit.index, &state);
		if (ret)
			morph_patrol_review(fabric);
		if (ret == -ETIMEDOUT || ret == -ENODEV)
			return;
		if (ret || !told || state == settings[i].state)
			continue;
		mutex_lock(&fabric->lock);
		morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, 0);
		mutex_unlock(&fabric->lock);
	}
}

/* Program elements and remember what they were told. No lock held. */
int exec_set_elements(struct morph_fabric *fabric, struct morph_txn *txn,
		      struct morph_element_setting *settings, u32 count)
{
	int srcu, ret;
	u32 i;

	if (!count)
		return 0;
	srcu = tell_begin(fabric, MORPH_REVIEW_ELEMENTS, settings, count);
	ret = morph_hw_set_elements(fabric, txn, settings, count);
	if (!ret) {
		mutex_lock(&fabric->lock);
		for (i = 0; i < count; i++)
			fabric->hw_state[settings[i].element] = settings[i].state;
		mutex_unlock(&fabric->lock);
	}
	tell_end(fabric, srcu);
	return ret;
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
	ret = exec_set_elements(fabric, txn, settings, count);
	/* Once more, for a passing error; then hardware is asked what it did. */
	if (ret && ret != -ENODEV)
		ret = exec_set_elements(fabric, txn, settings, count);
	if (ret && ret != -ENODEV)
		exec_read_back(fabric, txn, settings, count, false);
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++)
		exec_unguard(fabric, settings[i].element);
}

/* ------------------------------------------------------------------- lasers */

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
	int srcu, ret;

	if (!n)
		return 0;
	do {
		srcu = tell_begin(fabric, MORPH_REVIEW_LASERS, lasers, n);
		ret = morph_hw_set_lasers(fabric, txn, lasers, n);
		tell_end(fabric, srcu);
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
