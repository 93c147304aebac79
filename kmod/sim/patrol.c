// SPDX-License-Identifier: GPL-2.0-only
/*
 * Periodic check for receivers that lose light through drift.
 *
 * Drift moves losses slowly, and no event marks the moment at which a receiver loses
 * lock. So the monitors read a few receivers at a time. They raise an alarm for lanes
 * that were locked at the last reading, that no change has touched since, and that are
 * no longer usable. Without drift there is no check.
 */
#include "sim.h"

#define PORTS_AT_ONCE	8
#define ROUNDS		1024	/* checks in a period of the drift */
#define SENSOR_STEP_MDEG	500

static void look(struct sim_hardware *hw, u32 port)
{
	struct sim_optics *o = &hw->optics;
	const u64 now = sim_now(hw), last = hw->patrol_at[port];
	struct sim_reading reading;
	u64 lost, lanes;

	sim_receive(o, port, o->all_lanes, now, false, &reading);
	lost = hw->patrol_locked[port] & ~reading.usable;
	for (lanes = lost; lanes; lanes &= lanes - 1) {
		u32 lane = __ffs64(lanes);

		/* No light or new light: a change is the cause, not drift. */
		if (!o->light->total[lane] || sim_lock_since(o, port, lane) > last)
			lost &= ~BIT_ULL(lane);
	}
	hw->patrol_locked[port] = reading.locked;
	hw->patrol_at[port] = now;
	sim_receiver_lost(hw, port, lost);
}

void sim_patrol_start(struct sim_hardware *hw)
{
	const struct sim_optics *o = &hw->optics;
	unsigned long flags;

	timerqueue_init(&hw->patrol.node);
	hw->patrol.type = SIM_EVENT_PATROL;
	if (!o->drift_mdb || o->drift_period_ns < ROUNDS)
		return;
	spin_lock_irqsave(hw->lock, flags);
	sim_queue(hw, &hw->patrol, sim_now(hw) + div_u64(o->drift_period_ns, ROUNDS));
	spin_unlock_irqrestore(hw->lock, flags);
}

/* The sensor of the interposer signals each change of half a degree. */
static bool read_sensor(struct sim_hardware *hw, struct morph_signal *signal)
{
	s32 now_mdeg = sim_temperature(&hw->optics, sim_now(hw));

	if (hw->booting || abs(now_mdeg - hw->reported_mdeg) < SENSOR_STEP_MDEG)
		return false;
	hw->reported_mdeg = now_mdeg;
	*signal = (struct morph_signal){
		.type = MORPH_SIGNAL_TEMPERATURE, .value = now_mdeg,
	};
	return true;
}

/*
 * Check the next few receivers and the temperature. Called with the lock held.
 * Returns whether there is anything to signal.
 */
bool sim_patrol(struct sim_hardware *hw, struct morph_signal *signal)
{
	const struct sim_optics *o = &hw->optics;
	u32 i;

	lockdep_assert_held(hw->lock);
	for (i = 0; i < min_t(u32, PORTS_AT_ONCE, o->ports_count); i++) {
		look(hw, hw->patrol_port);
		hw->patrol_port = (hw->patrol_port + 1) % o->ports_count;
	}
	sim_queue(hw, &hw->patrol, sim_now(hw) + div_u64(o->drift_period_ns, ROUNDS));
	return read_sensor(hw, signal);
}
