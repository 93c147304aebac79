// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of the physical state, and what the hardware's monitors make of them.
 *
 * A change that may darken a receiver happens between sim_change_begin() and
 * sim_change_end(). They read all receivers that light through the changed part
 * reaches, and raise an alarm for each lane that differs. Alarms are members of the
 * ports, so raising one never allocates.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "sim.h"

static void prepare_alarm(struct sim_alarm *alarm, enum sim_event_type type, u32 index)
{
	alarm->event.type = type;
	alarm->index = index;
	timerqueue_init(&alarm->event.node);
}

int sim_change_init(struct sim_hardware *hw)
{
	const struct sim_optics *o = &hw->optics;
	u32 i;

	hw->port_alarms = kvcalloc(o->ports_count, sizeof(*hw->port_alarms), GFP_KERNEL);
	hw->heartbeats = kvcalloc(o->accelerators_count, sizeof(*hw->heartbeats), GFP_KERNEL);
	if (!hw->port_alarms || !hw->heartbeats)
		return -ENOMEM;
	for (i = 0; i < o->ports_count; i++) {
		struct sim_port_alarms *alarms = &hw->port_alarms[i];

		prepare_alarm(&alarms->receiver_lost, SIM_EVENT_RECEIVER_LOST, i);
		prepare_alarm(&alarms->receiver_back, SIM_EVENT_RECEIVER_BACK, i);
		prepare_alarm(&alarms->laser_lost, SIM_EVENT_LASER_LOST, i);
		prepare_alarm(&alarms->laser_back, SIM_EVENT_LASER_BACK, i);
	}
	for (i = 0; i < o->accelerators_count; i++)
		prepare_alarm(&hw->heartbeats[i], SIM_EVENT_HEARTBEAT, i);
	return 0;
}

void sim_change_free(struct sim_hardware *hw)
{
	kvfree(hw->dark);
	kvfree(hw->heartbeats);
	kvfree(hw->port_alarms);
}

/* After power-on the states are unknown to the core: the seed determines them. */
void sim_power_on(struct sim_hardware *hw)
{
	struct sim_optics *o = &hw->optics;
	u32 i;

	for (i = 0; i < o->elements_count; i++) {
		struct sim_element *e = &o->elements[i];

		e->state = (u32)sim_mix(o->seed ^ sim_mix(i)) % o->kinds[e->kind].states;
		e->previous = e->state;
	}
	for (i = 0; i < o->ports_count; i++) {
		u64 bits = sim_mix(~o->seed ^ sim_mix(i));

		if (bits >> 62 == 3)
			o->transmitters[i].on = bits & o->all_lanes;
	}
}

static void raise_alarm(struct sim_hardware *hw, struct sim_alarm *alarm, u64 lanes, u64 due)
{
	if (!lanes)
		return;
	if (RB_EMPTY_NODE(&alarm->event.node.node))
		alarm->lanes = 0;
	alarm->lanes |= lanes;
	alarm->since = sim_now(hw);
	sim_queue(hw, &alarm->event, due);
}

void sim_receiver_lost(struct sim_hardware *hw, u32 port, u64 lanes)
{
	hw->port_alarms[port].receiver_back.lanes &= ~lanes;
	raise_alarm(hw, &hw->port_alarms[port].receiver_lost, lanes,
		    sim_now(hw) + hw->monitor_ns);
}

static void receiver_back(struct sim_hardware *hw, u32 port, u64 lanes, u64 due)
{
	raise_alarm(hw, &hw->port_alarms[port].receiver_back, lanes, due);
}

/* The lanes for which a due alarm of a receiver still holds. */
static u64 receiver_confirms(struct sim_hardware *hw, const struct sim_alarm *alarm, bool back)
{
	struct sim_reading reading;

	sim_receive(&hw->optics, alarm->index, alarm->lanes, sim_now(hw), !back, &reading);
	return alarm->lanes & (back ? reading.locked : ~(reading.lit & reading.usable));
}

/**
 * sim_alarm_signal() - turn an alarm that is due into a signal
 * @hw: hardware; its lock is held
 * @event: the alarm's event
 * @signal: result
 *
 * Return: whether there is anything to signal.
 */
bool sim_alarm_signal(struct sim_hardware *hw, struct sim_event *event,
		      struct morph_signal *signal)
{
	struct sim_alarm *alarm = container_of(event, struct sim_alarm, event);
	const struct sim_transmitter *tx;

	memset(signal, 0, sizeof(*signal));
	signal->index = alarm->index;
	signal->since_ns = hw->config->clock == SIM_CLOCK_REAL ? alarm->since : 0;
	switch (event->type) {
	case SIM_EVENT_HEARTBEAT:
		signal->type = MORPH_SIGNAL_HEARTBEAT;
		signal->value = alarm->value;
		return true;
	case SIM_EVENT_RECEIVER_LOST:
	case SIM_EVENT_RECEIVER_BACK:
		signal->type = MORPH_SIGNAL_RECEIVER;
		signal->value = event->type == SIM_EVENT_RECEIVER_BACK;
		signal->lanes = receiver_confirms(hw, alarm, signal->value);
		return signal->lanes;
	default:
		tx = &hw->optics.transmitters[alarm->index];
		signal->type = MORPH_SIGNAL_LASER;
		signal->value = event->type == SIM_EVENT_LASER_BACK;
		signal->lanes = alarm->lanes & tx->on &
				(signal->value ? sim_healthy_lanes(tx) : ~sim_healthy_lanes(tx));
		return signal->lanes;
	}
}

/* Lanes of a transmit port that emit at full power. */
u64 sim_healthy_lanes(const struct sim_transmitter *tx)
{
	return tx->on & ~tx->dead & ~tx->weak;
}

void sim_laser_alarm(struct sim_hardware *hw, u32 port, u64 lost, u64 back)
{
	u64 due;

	if (!(lost | back))
		return;
	due = sim_now(hw) + hw->monitor_ns;
	raise_alarm(hw, &hw->port_alarms[port].laser_lost, lost, due);
	raise_alarm(hw, &hw->port_alarms[port].laser_back, back, due);
}

void sim_heartbeat_alarm(struct sim_hardware *hw, u32 accelerator)
{
	struct sim_alarm *alarm = &hw->heartbeats[accelerator];

	alarm->value = hw->optics.accelerators[accelerator].alive;
	alarm->since = sim_now(hw);
	sim_queue(hw, &alarm->event, alarm->since + hw->monitor_ns);
}

void sim_change_begin(struct sim_hardware *hw)
{
	lockdep_assert_held(hw->lock);
	hw->change.count = 0;
	hw->change.commanded = false;
	hw->change.now = sim_now(hw);
}

/* The core changes something that sim_commands_are_watched(). */
static void command_begin(struct sim_hardware *hw)
{
	sim_change_begin(hw);
	hw->change.commanded = !hw->config->alarm_commanded;
}

/* Whether the core commanded the change of this fabric's receivers itself. */
static bool own_doing(const struct sim_hardware *hw, const struct sim_optics *o)
{
	return hw->change.commanded && o == &hw->optics;
}

/* Note a receiver that the change may affect, here or in a joined fabric. */
static void touch(struct sim_hardware *hw, struct sim_optics *o, u32 port)
{
	struct sim_change *change = &hw->change;
	u32 i;

	if (port == SIM_NONE || (own_doing(hw, o) && !hw->dark))
		return;
	for (i = 0; i < change->count; i++)
		if (change->optics[i] == o && change->ports[i] == port)
			return;
	if (WARN_ON_ONCE(i == SIM_MAX_TOUCHED))
		return;
	change->optics[i] = o;
	change->ports[i] = port;
	sim_receive(o, port, o->all_lanes, change->now, false, &change->before[i]);
	change->count++;
}

void sim_touch_receiver(struct sim_hardware *hw, u32 port)
{
	touch(hw, &hw->optics, port);
}

/* Touch the receiver of the light that enters a guide at its coded end. */
static void touch_behind(struct sim_hardware *hw, sim_coded guide)
{
	struct sim_optics *o = &hw->optics;
	u32 port = sim_follow(&o, guide);

	touch(hw, o, port);
}

void sim_touch_transmitter(struct sim_hardware *hw, u32 port)
{
	touch_behind(hw, hw->optics.transmitters[port].guide);
}

void sim_touch_guide(struct sim_hardware *hw, u32 guide)
{
	touch_behind(hw, guide * 2);
	touch_behind(hw, guide * 2 + 1);
}

void sim_touch_element(struct sim_hardware *hw, u32 element)
{
	const struct sim_optics *o = &hw->optics;
	const struct sim_element *e = &o->elements[element];
	u32 port;

	for (port = 0; port < o->kinds[e->kind].ports; port++)
		touch_behind(hw, o->port_guide[e->first_port + port]);
}

static void count_dark(struct sim_hardware *hw, u32 port, u64 lanes)
{
	for (; hw->dark && lanes; lanes &= lanes - 1)
		hw->dark[port * hw->optics.wavelengths + __ffs64(lanes)]++;
}

/* Raise the alarms of a receiver that a change altered, unless the core needs none. */
static void compare(struct sim_optics *o, u32 port, u64 now, const struct sim_reading *before,
		    bool alarms)
{
	struct sim_hardware *hw = container_of(o, struct sim_hardware, optics);
	struct sim_reading after;
	u64 back, due = 0;

	sim_receive(o, port, o->all_lanes, now, true, &after);
	count_dark(hw, port, before->usable & ~after.usable);
	if (!alarms)
		return;
	sim_receiver_lost(hw, port, (before->lit & ~after.lit) | (before->locked & ~after.usable));
	back = after.usable & ~before->usable;
	for (u64 lanes = back; lanes; lanes &= lanes - 1) {
		u32 lane = __ffs64(lanes);

		o->clear_at[port * o->wavelengths + lane] = now;
		due = max(due, sim_lock_since(o, port, lane) + o->relock_ns);
	}
	receiver_back(hw, port, back, due);
}

void sim_change_end(struct sim_hardware *hw)
{
	const struct sim_change *change = &hw->change;
	u32 i;

	lockdep_assert_held(hw->lock);
	for (i = 0; i < change->count; i++)
		compare(change->optics[i], change->ports[i], change->now, &change->before[i],
			!own_doing(hw, change->optics[i]));
}

/**
 * sim_dark_begin() - start to count, from zero, how often lanes go dark
 * @hw: hardware; its lock must not be held
 *
 * Both faults and the core count as causes. A lane goes dark when its receiver is locked, or
 * would lock if left alone, and no longer can.
 *
 * Context: control_mutex held.
 * Return: 0 or -ENOMEM.
 */
int sim_dark_begin(struct sim_hardware *hw)
{
	size_t bytes = array3_size(hw->optics.ports_count, hw->optics.wavelengths, sizeof(u32));
	u32 *fresh = NULL;
	unsigned long flags;

	if (!hw->dark) {
		fresh = kvzalloc(bytes, GFP_KERNEL);
		if (!fresh)
			return -ENOMEM;
	}
	spin_lock_irqsave(hw->lock, flags);
	if (fresh)
		hw->dark = fresh;
	else
		memset(hw->dark, 0, bytes);
	spin_unlock_irqrestore(hw->lock, flags);
	return 0;
}

/* Print a line for each receiver with lanes that went dark. */
void sim_dark_show(struct sim_hardware *hw, struct seq_file *file)
{
	u32 lanes = hw->optics.wavelengths, port, lane;
	const u32 *dark = READ_ONCE(hw->dark);
	bool any;

	for (port = 0; dark && port < hw->optics.ports_count; port++) {
		for (lane = 0, any = false; lane < lanes; lane++) {
			u32 times = READ_ONCE(dark[port * lanes + lane]);

			if (!times)
				continue;
			if (!any)
				seq_printf(file, "receiver %u", port);
			seq_printf(file, " %u:%u", lane, times);
			any = true;
		}
		if (any)
			seq_putc(file, '\n');
	}
}

/* Drive an element into a state from @now on; its light follows while it settles. */
void sim_move_element(struct sim_hardware *hw, u32 element, u32 state, u64 now)
{
	struct sim_optics *o = &hw->optics;
	struct sim_element *e = &o->elements[element];

	lockdep_assert_held(hw->lock);
	if (e->state == state)
		return;
	e->previous = e->state;
	e->state = state;
	e->settled_at = now + o->settle_ns + e->slow_ns;
}

/* The core drives an element, by a command that the device began at @now. @watched: see sim.h. */
void sim_write_element(struct sim_hardware *hw, const struct morph_element_setting *setting,
		       u64 now, bool watched)
{
	lockdep_assert_held(hw->lock);
	hw->counters.elements_written++;
	if (hw->optics.elements[setting->element].stuck)
		return;
	if (!watched) {
		sim_move_element(hw, setting->element, setting->state, now);
		return;
	}
	command_begin(hw);
	sim_touch_element(hw, setting->element);
	sim_move_element(hw, setting->element, setting->state, now);
	sim_change_end(hw);
}

/* The core switches the lasers of a port. */
void sim_write_lasers(struct sim_hardware *hw, const struct morph_laser_setting *setting)
{
	struct sim_optics *o = &hw->optics;
	struct sim_transmitter *tx = &o->transmitters[setting->port];
	u64 fresh = setting->lanes & ~tx->on, lanes, now;
	bool watched = sim_commands_are_watched(hw);

	lockdep_assert_held(hw->lock);
	hw->counters.lasers_written++;
	if (watched) {
		command_begin(hw);
		sim_touch_transmitter(hw, setting->port);
	}
	tx->on = setting->lanes;
	now = fresh ? sim_now(hw) : 0;
	for (lanes = fresh; lanes; lanes &= lanes - 1)
		o->lit_at[setting->port * o->wavelengths + __ffs64(lanes)] = now;
	sim_laser_alarm(hw, setting->port, fresh & (tx->dead | tx->weak), 0);
	if (watched)
		sim_change_end(hw);
}
