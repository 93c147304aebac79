// SPDX-License-Identifier: GPL-2.0-only
/*
 * Seeing that light has gone: what was told counts for nothing. What may still be lit is not
 * to be used, and who lets it shine is found out here.
 */
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

/* ------------------------------------------------------------- of a transaction */

/* Not to be used until it has passed a test, which patrol makes of a receiver. No lock held. */
static void quarantine(struct morph_fabric *fabric, const struct morph_culprit *culprit)
{
	mutex_lock(&fabric->lock);
	if (culprit->part == MORPH_PART_RECEIVER)
		morph_report_suspect(fabric, culprit, MORPH_HEALTH_QUARANTINED);
	else
		morph_report_finding(fabric, culprit, MORPH_HEALTH_QUARANTINED);
	mutex_unlock(&fabric->lock);
}

/*
 * A laser that does not go off may not be used again: one that emits while the last readings
 * show its receiver lit, or where there are none any that the step has switched. Light at a
 * receiver whose laser is off is stray, and the receiver is not to be used while it is there.
 * Patrol goes on with both. No lock held.
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

/* See that what a step has switched off is dark. True unless something may be lit. No lock held. */
bool exec_see_dark(struct exec *exec, enum laser_step step)
{
	u32 wrong;
	int ret;

	ret = exec_verify(exec, step, false, &wrong);
	/* Once more, for a passing error. */
	if (ret < 0 && ret != -ENODEV)
		ret = exec_verify(exec, step, false, &wrong);
	if (!ret || ret == -ENODEV)
		return true;
	exec_quarantine(exec, step, ret > 0);
	return false;
}

#define BROKEN_CHUNK	8u	/* lasers asked at once */

/* Lasers that were switched off in step 2, and should still be. Returns how many from @first. */
static u32 collect_broken(struct exec *exec, u32 *first, struct morph_laser_reading *reads,
			  u64 *lanes)
{
	u32 planes = exec->fabric->graph->params.planes, count = 0;
	struct morph_txn *txn = exec->txn;

	for (; *first < txn->count && count < BROKEN_CHUNK; ++*first) {
		const struct morph_item *item = &txn->items[*first];
		const struct morph_route *route = exec_laser_route(exec, item, BREAK_OLD);

		/* One that failed is not used before a test has seen its lasers off. */
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
 * What had to yield went dark before its successor was lit, and its receiver may see nothing
 * since its elements have turned: its lasers themselves are asked whether they are off.
 * fabric->lock held, dropped meanwhile.
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
		mutex_unlock(&fabric->lock);
		ret = morph_hw_get_lasers(fabric, &exec->txn->session, reads, count);
		mutex_lock(&fabric->lock);
		/* They obeyed: what can't be read now is left to a review. */
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

/* ---------------------------------------------------------------- of any routes */

/* As exec_see_dark(), where there is no transaction: 0, or -EIO if light is there to stay. */
static int see_receivers_dark(struct morph_fabric *fabric, struct morph_receiver_reading *reads,
			      u32 count)
{
	struct morph_hw_patience patience = {};
	bool lit = true, again = true;
	u32 i;
	int ret = 0;

	while (lit && !ret) {
		ret = morph_hw_get_receivers(fabric, NULL, reads, count);
		/* Once more, for a passing error. */
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
 * morph_exec_darken() - lasers off, verified dark, elements parked
 * @fabric: the fabric
 * @routes: up to MORPH_TEARDOWN_CHUNK routes, still claimed
 * @count: how many
 * @settings: room for MORPH_TEARDOWN_CHUNK * OPTICS_MAX_HOPS settings
 *
 * On return the routes claim nothing; elements that nobody else pins are parked.
 *
 * Context: fabric->lock held, dropped while the device works.
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
	mutex_unlock(&fabric->lock);
	ret = morph_hw_submit_lasers(fabric, NULL, lasers, n);
	if (ret && ret != -ENODEV)
		ret = morph_hw_submit_lasers(fabric, NULL, lasers, n);
	for (i = 0; i < count; i++) {
		/* Of half a circuit one end is not ours: see half.c. */
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
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++)
		morph_route_release(fabric, routes[i]);
	for (i = 0; i < count; i++)
		parks = morph_park_collect(fabric, routes[i], settings, parks);
	morph_park_run(fabric, NULL, settings, parks);
	return ret;
}
