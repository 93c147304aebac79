// SPDX-License-Identifier: GPL-2.0-only
/*
 * Half circuits: verification of light whose other end is in another fabric.
 *
 * The receiver of a half circuit that leaves is not in this fabric. So this file reads the monitors
 * of its lasers, the activity of the accelerator, and the elements on its path. The laser of a half
 * circuit that comes in is not in this fabric. So this file reads its elements, and its receiver
 * once the peer should have lit it.
 */
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

/* Verify that the elements of a route have the states that it needs. No lock held. */
static int verify_elements(struct morph_fabric *fabric, struct morph_hw_session *session,
			   const struct morph_route *route)
{
	struct morph_element_setting reading;
	u32 h;
	int ret;

	for (h = 0; h + 1 < route->path.hops_count; h++) {
		reading.element = route->hops[h].element;
		ret = morph_hw_get_elements(fabric, session, &reading, 1);
		if (ret)
			return ret;
		if (reading.state != route->hops[h].state)
			return -EIO;
	}
	return 0;
}

int morph_half_verify_leaving(struct morph_fabric *fabric, struct morph_hw_session *session,
			      const struct morph_route *route, bool lit)
{
	struct morph_laser_reading reading = { .port = route->path.tx };
	u64 lanes = route->path.lanes;
	int ret;

	ret = morph_hw_get_lasers(fabric, session, &reading, 1);
	if (ret)
		return ret;
	if (!lit)
		return (reading.lanes | reading.weak) & lanes ? -EIO : 0;
	if ((reading.lanes & lanes) != lanes || !reading.active)
		return -EIO;
	return verify_elements(fabric, session, route);
}

/*
 * Return the first item whose half circuit does not have the expected state after a step, or
 * MORPH_ANY. Record the state that was read in each item. No lock held.
 */
u32 exec_first_wrong_half(struct exec *exec, enum laser_step step, bool lit)
{
	struct morph_fabric *fabric = exec->fabric;
	struct morph_txn *txn = exec->txn;
	u32 wrong = MORPH_ANY, i;
	int ret;

	/* Before the laser is on there is no light to verify. */
	if (step == LIGHT_NEW && !lit)
		return MORPH_ANY;
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];
		const struct morph_route *route = exec_laser_route(exec, item, step);

		if (!route)
			continue;
		if (morph_route_leaves(fabric, route))
			ret = morph_half_verify_leaving(fabric, &txn->session, route, lit);
		else if (morph_route_comes_in(fabric, route) && lit)
			ret = verify_elements(fabric, &txn->session, route);
		else
			continue;
		if (morph_route_leaves(fabric, route))
			item->seen = lit == !ret;
		if (ret && wrong == MORPH_ANY)
			wrong = i;
	}
	return wrong;
}

/* Read once whether light arrives on the new (or old) routes that come in. No lock held. */
void exec_look_in(struct exec *exec, bool old)
{
	struct morph_fabric *fabric = exec->fabric;
	struct morph_txn *txn = exec->txn;
	bool waited = false;
	u32 i;

	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];
		const struct morph_route *route = old ? item->old : item->new;
		struct morph_receiver_reading reading;

		if (!route || !morph_route_comes_in(fabric, route))
			continue;
		/* The light may just have arrived: wait once, then read again. */
		if (!waited)
			morph_hw_wait(fabric, fabric->graph->params.relock_ns);
		waited = true;
		reading = (struct morph_receiver_reading){
			.port = route->path.rx,
			.lanes = route->path.lanes,
		};
		item->seen = !morph_hw_get_receivers(fabric, &txn->session, &reading, 1) &&
			     exec_reading_lit(fabric, &reading, route);
	}
}

/*
 * Verify that the receivers of a slice are dark after its circuits were removed. A peer may still
 * send, but its light ends at elements that are parked now. No lock held; the caller has entered
 * the slice to end it.
 */
int morph_half_verify_dark(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	const struct optics_params *params = &fabric->graph->params;
	u32 rank, plane;
	int ret;

	ret = morph_hw_wait(fabric, params->settle_ns);
	for (rank = 0; rank < slice->ranks_count && !ret; rank++) {
		for (plane = 0; plane < params->planes && !ret; plane++) {
			struct morph_receiver_reading reading = {
				.port = slice->ranks[rank].accelerator * params->planes + plane,
				.lanes = fabric->graph->all_lanes,
			};

			ret = morph_hw_get_receivers(fabric, NULL, &reading, 1);
			if (!ret && reading.lit)
				ret = -EIO;
		}
	}
	return ret;
}
