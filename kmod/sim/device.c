// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of the provider interface.
 *
 * Reads complete inline. Writes and waits take the modelled time and complete from
 * the event queue, or inline if that time is zero. The settings of a write take
 * effect a few at a time, as over a bus, so the lock is held for a short time.
 */
#include <linux/overflow.h>
#include <linux/slab.h>

#include "sim.h"

#define WRITES_TOGETHER	8u	/* elements in one hold of the lock */

static struct sim_hardware *hardware(struct morph_fabric *fabric)
{
	return morph_fabric_priv(fabric);
}

static int refused(struct sim_hardware *hw)
{
	unsigned long flags;

	spin_lock_irqsave(hw->lock, flags);
	hw->counters.refused++;
	spin_unlock_irqrestore(hw->lock, flags);
	return -EINVAL;
}

/* Count an operation that takes no time. Returns 0, or the answer of a fault. */
static int begin_call(struct sim_hardware *hw, u64 *counter, enum sim_call call)
{
	struct sim_fate fate;
	int err;

	err = sim_fault_call(hw, counter, call, &fate);
	if (err)
		return err;
	sim_run_due(hw);
	if (fate.verdict == SIM_VERDICT_SILENT)
		return -EINPROGRESS;
	return fate.verdict == SIM_VERDICT_FAILS ? -EIO : 0;
}

static void write_elements(struct sim_hardware *hw, const struct morph_element_setting *settings,
			   u32 count)
{
	u64 now = sim_now(hw);
	unsigned long flags;
	bool watched;
	u32 i, end;

	for (i = 0; i < count;) {
		spin_lock_irqsave(hw->lock, flags);
		/* Then each element is traced before and after. */
		watched = sim_commands_are_watched(hw);
		end = watched ? i + 1 : min(count, i + WRITES_TOGETHER);
		for (; i < end; i++)
			sim_write_element(hw, &settings[i], now, watched);
		spin_unlock_irqrestore(hw->lock, flags);
	}
}

static void write_lasers(struct sim_hardware *hw, const struct morph_laser_setting *settings,
			 u32 count)
{
	unsigned long flags;
	u32 i;

	for (i = 0; i < count; i++) {
		spin_lock_irqsave(hw->lock, flags);
		sim_write_lasers(hw, &settings[i]);
		spin_unlock_irqrestore(hw->lock, flags);
	}
}

static void carry_out(struct sim_hardware *hw, enum sim_request_type type, const void *settings,
		      u32 count)
{
	if (type == SIM_REQUEST_ELEMENTS)
		write_elements(hw, settings, count);
	else if (type == SIM_REQUEST_LASERS)
		write_lasers(hw, settings, count);
}

/* The same, inline: also execute the events that the settings have queued for now. */
static void carry_out_now(struct sim_hardware *hw, enum sim_request_type type,
			  const void *settings, u32 count)
{
	u64 first_due = READ_ONCE(hw->first_due);

	carry_out(hw, type, settings, count);
	if (READ_ONCE(hw->first_due) != first_due)
		sim_run_due(hw);
}

/**
 * sim_request_done() - complete a request that is due
 * @hw: hardware; its lock must not be held
 * @request: freed here
 */
void sim_request_done(struct sim_hardware *hw, struct sim_request *request)
{
	unsigned long flags;

	carry_out(hw, request->type, request->elements, request->count);
	spin_lock_irqsave(hw->lock, flags);
	hw->counters.in_flight--;
	hw->counters.completed++;
	spin_unlock_irqrestore(hw->lock, flags);
	morph_fabric_complete(hw->fabric, request->cookie, request->status, NULL, 0);
	kvfree(request);
}

/* Let a request complete after @ns. */
static int later(struct sim_hardware *hw, u64 ns, struct sim_request *request)
{
	unsigned long flags;
	bool skip;
	u64 due;

	timerqueue_init(&request->event.node);
	request->event.type = SIM_EVENT_REQUEST;
	spin_lock_irqsave(hw->lock, flags);
	due = sim_now(hw) + ns;
	hw->counters.in_flight++;
	skip = hw->config->clock == SIM_CLOCK_SKIPPING ||
	       (hw->config->clock == SIM_CLOCK_STEPPED && hw->booting);
	sim_queue(hw, &request->event, due);
	spin_unlock_irqrestore(hw->lock, flags);
	if (skip)
		sim_advance_to(hw, due);
	return -EINPROGRESS;
}

/*
 * A real device always has its registers; here memory replaces them. Wait for this memory:
 * its lack would look like failed hardware and end a prepared change.
 */
static struct sim_request *new_request(u64 cookie, enum sim_request_type type,
				       const void *settings, size_t bytes)
{
	struct sim_request *request = kvmalloc(size_add(sizeof(*request), bytes),
					       GFP_KERNEL | __GFP_NOFAIL);

	memset(request, 0, sizeof(*request));
	request->cookie = cookie;
	request->type = type;
	if (bytes)
		memcpy(request->elements, settings, bytes);
	return request;
}

/* A programming request; all settings are valid. */
static int program(struct sim_hardware *hw, u64 *counter, u64 cookie, enum sim_request_type type,
		   const void *settings, u32 count, size_t bytes)
{
	u64 delay = hw->write_fixed_ns + count * hw->write_each_ns;
	struct sim_request *request;
	struct sim_fate fate;
	int status = 0, err;

	err = sim_fault_call(hw, counter, SIM_CALL_PROGRAM, &fate);
	if (err)
		return err;
	sim_run_due(hw);
	if (fate.verdict == SIM_VERDICT_FAILS)
		status = -EIO;
	if (fate.verdict != SIM_VERDICT_DONE && !fate.late_ns)
		count = fate.partial ? min_t(u64, count, fate.done) : count / 2;
	if (fate.verdict == SIM_VERDICT_SILENT && !fate.late_ns) {
		carry_out_now(hw, type, settings, count);
		return -EINPROGRESS;
	}
	delay += fate.late_ns;
	if (!delay) {
		carry_out_now(hw, type, settings, count);
		return status;
	}
	request = new_request(cookie, type, settings, bytes);
	request->status = status;
	request->count = count;
	return later(hw, delay, request);
}

static int set_elements(struct morph_fabric *fabric, u64 cookie,
			const struct morph_element_setting *settings, u32 count)
{
	struct sim_hardware *hw = hardware(fabric);
	const struct sim_optics *o = &hw->optics;
	u32 i;

	for (i = 0; i < count; i++) {
		u32 element = settings[i].element;

		if (element >= o->elements_count ||
		    settings[i].state >= o->kinds[o->elements[element].kind].states)
			return refused(hw);
	}
	return program(hw, &hw->counters.set_elements, cookie, SIM_REQUEST_ELEMENTS, settings,
		       count, array_size(count, sizeof(*settings)));
}

static int get_elements(struct morph_fabric *fabric, u64 cookie,
			struct morph_element_setting *settings, u32 count)
{
	struct sim_hardware *hw = hardware(fabric);
	unsigned long flags;
	int err;
	u32 i;

	err = begin_call(hw, &hw->counters.get_elements, SIM_CALL_QUERY);
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		if (settings[i].element >= hw->optics.elements_count)
			return refused(hw);
		spin_lock_irqsave(hw->lock, flags);
		settings[i].state = hw->optics.elements[settings[i].element].state;
		spin_unlock_irqrestore(hw->lock, flags);
	}
	return 0;
}

static int set_lasers(struct morph_fabric *fabric, u64 cookie,
		      const struct morph_laser_setting *settings, u32 count)
{
	struct sim_hardware *hw = hardware(fabric);
	const struct sim_optics *o = &hw->optics;
	u32 i;

	for (i = 0; i < count; i++)
		if (settings[i].port >= o->ports_count || settings[i].lanes & ~o->all_lanes)
			return refused(hw);
	return program(hw, &hw->counters.set_lasers, cookie, SIM_REQUEST_LASERS, settings, count,
		       array_size(count, sizeof(*settings)));
}

static int get_lasers(struct morph_fabric *fabric, u64 cookie,
		      struct morph_laser_reading *readings, u32 count)
{
	struct sim_hardware *hw = hardware(fabric);
	const struct sim_optics *o = &hw->optics;
	unsigned long flags;
	int err;
	u32 i;

	err = begin_call(hw, &hw->counters.get_lasers, SIM_CALL_READ);
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		const struct sim_transmitter *tx;

		if (readings[i].port >= o->ports_count)
			return refused(hw);
		tx = &o->transmitters[readings[i].port];
		spin_lock_irqsave(hw->lock, flags);
		readings[i].active = o->accelerators[readings[i].port / o->planes].alive;
		readings[i].lanes = sim_healthy_lanes(tx);
		readings[i].weak = tx->on & tx->weak & ~tx->dead;
		spin_unlock_irqrestore(hw->lock, flags);
	}
	return 0;
}

static void read_receiver(struct sim_hardware *hw, struct morph_receiver_reading *reading)
{
	struct sim_optics *o = &hw->optics;
	u64 least = U64_MAX, most = 0, lanes = reading->lanes & o->all_lanes;
	struct sim_reading seen;

	lockdep_assert_held(hw->lock);
	hw->counters.receivers_read++;
	sim_receive(o, reading->port, lanes, sim_now(hw), false, &seen);
	reading->lit = seen.lit;
	reading->locked = seen.locked;
	for (; lanes; lanes &= lanes - 1) {
		u64 power = o->light->total[__ffs64(lanes)];

		least = min(least, power);
		most = max(most, power);
	}
	reading->max_mdbm = max(sim_mdbm(most), o->floor_mdbm);
	reading->min_mdbm = least < most ? max(sim_mdbm(least), o->floor_mdbm) : reading->max_mdbm;
}

static int get_receivers(struct morph_fabric *fabric, u64 cookie,
			 struct morph_receiver_reading *readings, u32 count)
{
	struct sim_hardware *hw = hardware(fabric);
	unsigned long flags;
	int err;
	u32 i;

	err = begin_call(hw, &hw->counters.get_receivers, SIM_CALL_READ);
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		if (readings[i].port >= hw->optics.ports_count)
			return refused(hw);
		spin_lock_irqsave(hw->lock, flags);
		read_receiver(hw, &readings[i]);
		spin_unlock_irqrestore(hw->lock, flags);
	}
	return 0;
}

static int probe(struct morph_fabric *fabric, u64 cookie, struct morph_probe *probes, u32 count)
{
	struct sim_hardware *hw = hardware(fabric);
	unsigned long flags;
	int err;
	u32 i;

	err = begin_call(hw, &hw->counters.probes, SIM_CALL_QUERY);
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		if (probes[i].accelerator >= hw->optics.accelerators_count)
			return refused(hw);
		spin_lock_irqsave(hw->lock, flags);
		probes[i].alive = hw->optics.accelerators[probes[i].accelerator].alive;
		spin_unlock_irqrestore(hw->lock, flags);
	}
	return 0;
}

static int wait(struct morph_fabric *fabric, u64 cookie, u64 ns)
{
	struct sim_hardware *hw = hardware(fabric);
	int err;

	err = begin_call(hw, &hw->counters.waits, SIM_CALL_WAIT);
	if (err)
		return err;
	if (!ns)
		return 0;
	if (ns > SIM_MAX_NS)
		return refused(hw);
	return later(hw, ns, new_request(cookie, SIM_REQUEST_WAIT, NULL, 0));
}

static void identify(struct morph_fabric *fabric, u32 accelerator,
		     struct morph_identity *identity)
{
	struct sim_hardware *hw = hardware(fabric);
	unsigned long flags;

	spin_lock_irqsave(hw->lock, flags);
	*identity = hw->identities[accelerator];
	spin_unlock_irqrestore(hw->lock, flags);
}

const struct morph_fabric_ops sim_fabric_ops = {
	.owner = THIS_MODULE,
	.set_elements = set_elements,
	.get_elements = get_elements,
	.set_lasers = set_lasers,
	.get_lasers = get_lasers,
	.get_receivers = get_receivers,
	.probe = probe,
	.wait = wait,
	.identify = identify,
};
