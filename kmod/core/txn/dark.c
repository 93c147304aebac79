// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verification that light is gone. An acknowledged command proves nothing, so this file reads
 * receivers and lasers back. It quarantines hardware that may still be lit.
 */
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

/* ---------------------------------------------------- circuits of a transaction */

/* Quarantine a part until it passes a test; patrol tests receivers. No lock held. */
static void quarantine(struct morph_fabric *fabric, const struct morph_culprit *culprit)
{
	morph_fabric_lock(fabric);
	if (culprit->part == MORPH_PART_RECEIVER)
		morph_report_suspect(fabric, culprit, MORPH_HEALTH_QUARANTINED);
	else
		morph_report_finding(fabric, culprit, MORPH_HEALTH_QUARANTINED);
	morph_fabric_unlock(fabric);
}

/*
 * Quarantine the lasers that did not switch off: those that emit and whose receiver was lit at the
 * last reading. If there are no readings, check all lasers that the step has switched. If a
 * receiver sees light although its laser is off, the light is stray; quarantine that receiver while
 * the light lasts. Patrol later tests both kinds. No lock held.
 */
static void exec_quarantine(struct exec *exec, enum laser_step step, bool read)
{
	struct morph_txn *txn = exec->txn;
	u32 n = 0, i;

	for (i = 0; i < txn->count; i++) {
		const struct morph_route *route = exec_laser_route(exec, &txn->items[i], step);
		struct morph_culprit culprit = { .part = MORPH_PART_LASER };
		u64 seen, on;

		if (!route || morph_route_comes_in(exec->fabric, route))
			continue;
		seen = route->path.lanes;
		if (read && exec_read_route(exec, &txn->items[i], step))
			seen = txn->reads[n++].lit;
		on = seen;
		if (read && seen)
			on = morph_hw_lasers_lit(exec->fabric, &txn->session, route->path.tx, seen);
		culprit.index = route->path.tx;
		culprit.lanes = on;
		if (!on && seen && !morph_route_leaves(exec->fabric, route)) {
			culprit.part = MORPH_PART_RECEIVER;
			culprit.index = route->path.rx;
			culprit.lanes = seen;
		}
		if (culprit.lanes)
			quarantine(exec->fabric, &culprit);
	}
	morph_report_doubt(exec->fabric);
}

/*
 * Verify that the routes that a step switched off are dark. Return false if a receiver may still be
 * lit. No lock held.
 */
bool exec_see_dark(struct exec *exec, enum laser_step step)
{
	u32 wrong;
	int ret;

	ret = exec_verify(exec, step, false, &wrong);
	/* Retry once, because the error may be transient. */
	if (ret < 0 && ret != -ENODEV)
		ret = exec_verify(exec, step, false, &wrong);
	if (!ret || ret == -ENODEV)
		return true;
	exec_quarantine(exec, step, ret > 0);
	return false;
}

#define BROKEN_CHUNK	8u	/* lasers per read operation */

/* Collect lasers of step 2 that must still be off, from item *first on. Return their number. */
static u32 collect_broken(struct exec *exec, u32 *first, struct morph_laser_reading *reads,
			  u64 *lanes)
{
	u32 planes = exec->fabric->graph->params.planes, count = 0;
	struct morph_txn *txn = exec->txn;

	for (; *first < txn->count && count < BROKEN_CHUNK; ++*first) {
		const struct morph_item *item = &txn->items[*first];
		const struct morph_route *route = exec_laser_route(exec, item, BREAK_OLD);

		/* A test of a failed accelerator verifies that its lasers are off. */
		if (!route || morph_route_comes_in(exec->fabric, route) ||
		    ledger_of(exec->fabric)->chips[route->path.tx / planes].health !=
			    MORPH_HEALTH_OK)
			continue;
		reads[count].port = route->path.tx;
		lanes[count++] = route->path.lanes &
				 ~hardware_of(exec->fabric)->tx_on[route->path.tx];
	}
	return count;
}

/*
 * The old circuits of step 2 went dark before their successors were lit. Their receivers may see no
 * light only because the elements have turned. Therefore read the monitors of the lasers
 * themselves. Caller holds fabric->lock; the function drops it meanwhile.
 */
void exec_see_broken_off(struct exec *exec)
{
	struct morph_fabric *fabric = exec->fabric;
	struct morph_culprit culprit = { .part = MORPH_PART_LASER };
	u32 first = 0, count, i;

	while (first < exec->txn->count) {
		struct morph_laser_reading reads[BROKEN_CHUNK] = {};
		u64 lanes[BROKEN_CHUNK];
		int ret;

		count = collect_broken(exec, &first, reads, lanes);
		if (!count)
			break;
		morph_fabric_unlock(fabric);
		ret = morph_hw_get_lasers(fabric, &exec->txn->session, reads, count);
		morph_fabric_lock(fabric);
		/*
		 * The lasers acknowledged the command. If they cannot be read now, a review reads
		 * them later.
		 */
		if (ret)
			morph_report_doubt(fabric);
		for (i = 0; i < count && !ret; i++) {
			culprit.index = reads[i].port;
			culprit.lanes = lanes[i] & (reads[i].lanes | reads[i].weak);
			if (culprit.lanes)
				morph_report_finding(fabric, &culprit,
						     MORPH_HEALTH_QUARANTINED);
		}
	}
}

/* ------------------------------------------------- routes without a transaction */

/* Like exec_see_dark(), without a transaction. Return 0, or -EIO if a receiver stays lit. */
static int see_receivers_dark(struct morph_fabric *fabric, struct morph_receiver_reading *reads,
			      u32 count)
{
	struct morph_hw_patience patience = {};
	bool lit = true, again = true;
	u32 i;
	int ret = 0;

	while (lit && !ret) {
		ret = morph_hw_get_receivers(fabric, NULL, reads, count);
		/* Retry once, because the error may be transient. */
		if (ret && ret != -ENODEV && again)
			ret = morph_hw_get_receivers(fabric, NULL, reads, count);
		again = !ret;
		for (lit = false, i = 0; i < count && !ret; i++)
			lit |= reads[i].lit;
		if (lit)
			ret = morph_hw_wait_more(fabric, &patience);
	}
	return ret > 0 ? -EIO : ret;
}

/**
 * morph_exec_darken() - switch routes off, verify darkness, park their elements
 * @fabric: the fabric
 * @routes: up to MORPH_TEARDOWN_CHUNK routes, still claimed
 * @count: number of routes
 * @settings: room for a setting for each element of the routes
 *
 * On return the routes claim nothing; the function parks elements that no other
 * route pins.
 *
 * Context: fabric->lock held; the function drops it while the device works.
 * Return: 0, or -EIO when a receiver still sees light.
 */
int morph_exec_darken(struct morph_fabric *fabric, struct morph_route **routes, u32 count,
		      struct morph_element_setting *settings)
{
	struct morph_laser_setting lasers[MORPH_TEARDOWN_CHUNK];
	struct morph_receiver_reading reads[MORPH_TEARDOWN_CHUNK];
	u32 n = 0, readings = 0, parks = 0, i;
	int ret;

	lockdep_assert_held(&fabric->lock);
	for (i = 0; i < count; i++)
		if (!morph_route_comes_in(fabric, routes[i]))
			n = morph_hw_add_laser(fabric, lasers, n, &routes[i]->path, false);
	morph_hw_update_lasers(fabric, lasers, n);
	morph_fabric_unlock(fabric);
	ret = morph_hw_submit_lasers(fabric, NULL, lasers, n);
	if (ret && ret != -ENODEV)
		ret = morph_hw_submit_lasers(fabric, NULL, lasers, n);
	for (i = 0; i < count; i++) {
		/* The receiver of a half circuit that leaves is in another fabric: see half.c. */
		if (morph_route_leaves(fabric, routes[i]) && !ret)
			ret = morph_half_verify_leaving(fabric, NULL, routes[i], false);
		if (morph_route_leaves(fabric, routes[i]) ||
		    morph_route_comes_in(fabric, routes[i]))
			continue;
		reads[readings++] = (struct morph_receiver_reading){
			.port = routes[i]->path.rx,
			.lanes = routes[i]->path.lanes,
		};
	}
	if (!ret && readings)
		ret = see_receivers_dark(fabric, reads, readings);
	morph_fabric_lock(fabric);
	for (i = 0; i < count; i++)
		morph_route_release(fabric, routes[i]);
	for (i = 0; i < count; i++)
		parks = morph_park_collect(fabric, routes[i], settings, parks);
	morph_park_run(fabric, NULL, settings, parks);
	return ret;
}
