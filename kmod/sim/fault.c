// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults: their targets, times, and effects on the physical state.
 *
 * A fault changes only the state that light, monitors and writes depend upon. The core
 * notices it through the readings of the hardware. If faults overlap on one target,
 * all active ones together determine its state.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "sim.h"

#define DRIFT_STEPS	8u	/* of a drifting guide until its full loss */

struct sim_fault {
	struct list_head node;		/* sim_hardware.faults */
	struct sim_event event;
	struct sim_fault_spec spec;
	u32 id;
	u64 at_op;			/* starts with this call of its kind; 0: has started */
	u64 since_op;			/* calls before it started */
	u64 steps;			/* remaining: flaps, or increases of a loss */
	bool active;
	bool hooked;			/* counted in sim_hardware.hooks_count */
};

/* The calls that a fault waits for, and their outcome. */
static const struct {
	enum sim_call call;
	enum sim_verdict verdict;
} hooks[] = {
	[SIM_FAULT_programming_error] = { SIM_CALL_PROGRAM, SIM_VERDICT_FAILS },
	[SIM_FAULT_programming_timeout] = { SIM_CALL_PROGRAM, SIM_VERDICT_SILENT },
	[SIM_FAULT_reading_error] = { SIM_CALL_READ, SIM_VERDICT_FAILS },
	[SIM_FAULT_reading_timeout] = { SIM_CALL_READ, SIM_VERDICT_SILENT },
	[SIM_FAULT_query_error] = { SIM_CALL_QUERY, SIM_VERDICT_FAILS },
	[SIM_FAULT_query_timeout] = { SIM_CALL_QUERY, SIM_VERDICT_SILENT },
	[SIM_FAULT_waiting_error] = { SIM_CALL_WAIT, SIM_VERDICT_FAILS },
};

/* Defaults of arguments; the default of all others is 0. */
static const u64 fallbacks[SIM_ARGUMENTS_COUNT] = {
	[SIM_ARGUMENT_MDB] = 6000,
	[SIM_ARGUMENT_NS] = 1000000,
	[SIM_ARGUMENT_PERIOD] = 1000000,
	[SIM_ARGUMENT_COUNT] = 3,
};

u64 sim_argument(const struct sim_fault_spec *spec, enum sim_argument argument)
{
	return spec->given & BIT(argument) ? spec->arguments[argument] : fallbacks[argument];
}

/* Let sim_fault_call() look for the fault if it waits for calls, or affects them. */
static void hook(struct sim_hardware *hw, struct sim_fault *fault, bool listed)
{
	bool hooked = listed && (fault->at_op ||
				 hooks[fault->spec.type].verdict != SIM_VERDICT_DONE);

	lockdep_assert_held(hw->lock);
	hw->hooks_count += hooked - fault->hooked;
	fault->hooked = hooked;
}

__printf(2, 3)
static void note(struct sim_hardware *hw, const char *format, ...)
{
	struct sim_log_entry *entry = &hw->log[hw->log_count++ % SIM_LOG_ENTRIES];
	va_list arguments;

	lockdep_assert_held(hw->lock);
	entry->now = sim_now(hw);
	entry->operation = hw->calls[SIM_CALL_PROGRAM];
	va_start(arguments, format);
	vsnprintf(entry->text, sizeof(entry->text), format, arguments);
	va_end(arguments);
}

static void note_fault(struct sim_hardware *hw, const struct sim_fault *fault, const char *what)
{
	char text[SIM_FAULT_BYTES];

	sim_fault_format(hw, &fault->spec, text, sizeof(text));
	note(hw, "%s %s", what, text);
}

/* The active fault after @fault, or the first, of type @a or @b and with a target. */
static struct sim_fault *next_active(struct sim_hardware *hw, struct sim_fault *fault,
				     enum sim_fault_type a, enum sim_fault_type b, u32 index)
{
	fault = list_prepare_entry(fault, &hw->faults, node);
	list_for_each_entry_continue(fault, &hw->faults, node)
		if (fault->active && fault->spec.index == index &&
		    (fault->spec.type == a || fault->spec.type == b))
			return fault;
	return NULL;
}

static void renew_accelerator(struct sim_hardware *hw, u32 index)
{
	struct sim_optics *o = &hw->optics;
	struct sim_accelerator *accelerator = &o->accelerators[index];
	bool alive;
	u32 plane;

	alive = !next_active(hw, NULL, SIM_FAULT_accelerator_dead,
			     SIM_FAULT_accelerator_flapping, index);
	if (alive == accelerator->alive)
		return;
	sim_change_begin(hw);
	for (plane = 0; plane < o->planes; plane++)
		sim_touch_transmitter(hw, index * o->planes + plane);
	accelerator->alive = alive;
	accelerator->alive_at = sim_now(hw);
	sim_heartbeat_alarm(hw, index);
	sim_change_end(hw);
}

static void renew_laser(struct sim_hardware *hw, u32 port)
{
	struct sim_optics *o = &hw->optics;
	struct sim_transmitter *tx = &o->transmitters[port];
	u64 before = sim_healthy_lanes(tx), was_dead = tx->dead, lanes;
	struct sim_fault *fault = NULL;

	sim_change_begin(hw);
	sim_touch_transmitter(hw, port);
	tx->dead = 0;
	tx->weak = 0;
	tx->weak_mdb = 0;
	while ((fault = next_active(hw, fault, SIM_FAULT_laser_dead, SIM_FAULT_laser_weak,
				    port))) {
		if (fault->spec.type == SIM_FAULT_laser_dead) {
			tx->dead |= fault->spec.lanes;
			continue;
		}
		tx->weak |= fault->spec.lanes;
		tx->weak_mdb = max_t(u64, tx->weak_mdb,
				     sim_argument(&fault->spec, SIM_ARGUMENT_MDB));
	}
	for (lanes = was_dead & ~tx->dead & tx->on; lanes; lanes &= lanes - 1)
		o->lit_at[port * o->wavelengths + __ffs64(lanes)] = sim_now(hw);
	sim_laser_alarm(hw, port, before & ~sim_healthy_lanes(tx),
			sim_healthy_lanes(tx) & ~before);
	sim_change_end(hw);
}

static void renew_element(struct sim_hardware *hw, u32 index)
{
	struct sim_element *e = &hw->optics.elements[index];
	struct sim_fault *fault = NULL;

	sim_change_begin(hw);
	sim_touch_element(hw, index);
	e->stuck = false;
	e->slow_ns = 0;
	while ((fault = next_active(hw, fault, SIM_FAULT_element_stuck, SIM_FAULT_element_slow,
				    index))) {
		if (fault->spec.type == SIM_FAULT_element_slow) {
			e->slow_ns = max(e->slow_ns, sim_argument(&fault->spec, SIM_ARGUMENT_NS));
			continue;
		}
		e->stuck = true;
		if (fault->spec.given & BIT(SIM_ARGUMENT_STATE))
			sim_move_element(hw, index,
					 sim_argument(&fault->spec, SIM_ARGUMENT_STATE),
					 sim_now(hw));
	}
	sim_change_end(hw);
}

/* The present additional loss of a drifting guide. */
static u64 drifted_mdb(const struct sim_fault *fault)
{
	return div_u64(sim_argument(&fault->spec, SIM_ARGUMENT_MDB) *
		       (DRIFT_STEPS - fault->steps), DRIFT_STEPS);
}

static void renew_guide(struct sim_hardware *hw, u32 index)
{
	struct sim_guide *guide = &hw->optics.guides[index];
	struct sim_fault *fault = NULL;
	u64 extra = 0;

	sim_change_begin(hw);
	sim_touch_guide(hw, index);
	while ((fault = next_active(hw, fault, SIM_FAULT_guide_lossy, SIM_FAULT_fibre_cut, index)))
		extra += fault->spec.type == SIM_FAULT_fibre_cut ?
			 SIM_OPAQUE_MDB : sim_argument(&fault->spec, SIM_ARGUMENT_MDB);
	while ((fault = next_active(hw, fault, SIM_FAULT_guide_drifting, SIM_FAULT_guide_drifting,
				    index)))
		extra += drifted_mdb(fault);
	guide->extra_mdb = min_t(u64, extra, SIM_OPAQUE_MDB);
	sim_change_end(hw);
}

static void renew_receiver(struct sim_hardware *hw, u32 port)
{
	struct sim_receiver *receiver = &hw->optics.receivers[port];

	sim_change_begin(hw);
	sim_touch_receiver(hw, port);
	receiver->deaf = next_active(hw, NULL, SIM_FAULT_receiver_deaf, SIM_FAULT_receiver_deaf,
				     port);
	sim_change_end(hw);
}

/* Recompute the state of the target of @spec from all active faults. */
static void renew(struct sim_hardware *hw, const struct sim_fault_spec *spec)
{
	static const enum sim_target targets[] = {
#define SIM_FAULT(name, target, ...) \
		[SIM_FAULT_##name] = SIM_TARGET_##target,
#include "fault_table.h"
#undef SIM_FAULT
	};

	switch (targets[spec->type]) {
	case SIM_TARGET_ACCELERATOR:
		renew_accelerator(hw, spec->index);
		break;
	case SIM_TARGET_LASER:
		renew_laser(hw, spec->index);
		break;
	case SIM_TARGET_ELEMENT:
		renew_element(hw, spec->index);
		break;
	case SIM_TARGET_GUIDE:
		renew_guide(hw, spec->index);
		break;
	case SIM_TARGET_RECEIVER:
		renew_receiver(hw, spec->index);
		break;
	case SIM_TARGET_DEVICE:
		break;
	}
}

static void end(struct sim_hardware *hw, struct sim_fault *fault)
{
	bool was_active = fault->active;

	lockdep_assert_held(hw->lock);
	fault->active = false;
	if (was_active) {
		renew(hw, &fault->spec);
		note_fault(hw, fault, "end");
	}
	sim_unqueue(hw, &fault->event);
	list_del(&fault->node);
	hook(hw, fault, false);
	hw->faults_count--;
	kfree(fault);
}

/* The number of steps of a fault that changes after its start. */
static u64 first_steps(const struct sim_fault *fault)
{
	switch (fault->spec.type) {
	case SIM_FAULT_accelerator_flapping:
		return 2 * sim_argument(&fault->spec, SIM_ARGUMENT_COUNT) - 1;
	case SIM_FAULT_guide_drifting:
		return DRIFT_STEPS;
	default:
		return 0;
	}
}

static u64 step_ns(const struct sim_fault *fault)
{
	u32 steps = fault->spec.type == SIM_FAULT_guide_drifting ? DRIFT_STEPS : 2;

	return div_u64(sim_argument(&fault->spec, SIM_ARGUMENT_PERIOD), steps) ?: 1;
}

/* Start a fault. Free it if it ends at once, as the removal of the device. */
static void start(struct sim_hardware *hw, struct sim_fault *fault)
{
	u64 ns = sim_argument(&fault->spec, SIM_ARGUMENT_FOR);

	lockdep_assert_held(hw->lock);
	fault->active = true;
	fault->at_op = 0;
	hook(hw, fault, true);
	fault->since_op = hw->calls[hooks[fault->spec.type].call];
	fault->steps = first_steps(fault);
	note_fault(hw, fault, "inject");
	renew(hw, &fault->spec);
	if (fault->steps)
		ns = step_ns(fault);
	if (fault->spec.type == SIM_FAULT_provider_removed) {
		sim_instance_pull(hw->instance);
		end(hw, fault);
	} else if (ns) {
		sim_queue(hw, &fault->event, sim_now(hw) + ns);
	}
}

/* A due fault ends, flaps, or increases its loss. Called with the lock held. */
void sim_fault_event(struct sim_hardware *hw, struct sim_event *event)
{
	struct sim_fault *fault = container_of(event, struct sim_fault, event);

	lockdep_assert_held(hw->lock);
	if (fault->steps)
		fault->steps--;
	if (fault->spec.type == SIM_FAULT_accelerator_flapping && fault->steps) {
		fault->active = !fault->active;
		note_fault(hw, fault, fault->active ? "flap dead" : "flap back");
	} else if (fault->spec.type == SIM_FAULT_guide_drifting) {
		note_fault(hw, fault, "worse");
	} else {
		end(hw, fault);
		return;
	}
	renew(hw, &fault->spec);
	if (fault->steps)
		sim_queue(hw, event, ktime_to_ns(event->node.expires) + step_ns(fault));
}

/**
 * sim_fault_add() - inject a fault, now or at a later operation
 * @hw: hardware; its lock must not be held
 * @spec: valid for this hardware
 *
 * Return: 0, -ENOMEM, or -ENOSPC beyond SIM_MAX_FAULTS.
 */
int sim_fault_add(struct sim_hardware *hw, const struct sim_fault_spec *spec)
{
	struct sim_fault *fault = kzalloc(sizeof(*fault), GFP_KERNEL);
	u64 *calls = &hw->calls[hooks[spec->type].call];
	unsigned long flags;

	if (!fault)
		return -ENOMEM;
	fault->spec = *spec;
	fault->event.type = SIM_EVENT_FAULT;
	timerqueue_init(&fault->event.node);
	spin_lock_irqsave(hw->lock, flags);
	if (hw->faults_count >= SIM_MAX_FAULTS) {
		spin_unlock_irqrestore(hw->lock, flags);
		kfree(fault);
		return -ENOSPC;
	}
	hw->faults_count++;
	fault->id = ++hw->fault_ids;
	list_add_tail(&fault->node, &hw->faults);
	fault->at_op = sim_argument(spec, SIM_ARGUMENT_AT_OP);
	if (spec->given & BIT(SIM_ARGUMENT_AFTER))
		fault->at_op = *calls + sim_argument(spec, SIM_ARGUMENT_AFTER);
	hook(hw, fault, true);
	if (fault->at_op <= *calls)
		start(hw, fault);
	spin_unlock_irqrestore(hw->lock, flags);
	sim_run_due(hw);
	return 0;
}

/* Whether a fault of calls affects this call. */
static bool hits(struct sim_hardware *hw, const struct sim_fault *fault, enum sim_call call)
{
	u64 every = sim_argument(&fault->spec, SIM_ARGUMENT_EVERY);
	u64 rest = 0;

	if (!fault->active || hooks[fault->spec.type].call != call ||
	    hooks[fault->spec.type].verdict == SIM_VERDICT_DONE)
		return false;
	if (every)
		div64_u64_rem(hw->calls[call] - fault->since_op, every, &rest);
	return !rest;
}

/* The fate of a request that faults may affect. */
static struct sim_fate fate_of(struct sim_hardware *hw, enum sim_call call)
{
	struct sim_fate fate = { .verdict = SIM_VERDICT_DONE };
	struct sim_fault *fault, *next;

	list_for_each_entry_safe(fault, next, &hw->faults, node) {
		if (hooks[fault->spec.type].call == call && fault->at_op &&
		    fault->at_op <= hw->calls[call])
			start(hw, fault);
	}
	list_for_each_entry_safe(fault, next, &hw->faults, node) {
		if (!hits(hw, fault, call))
			continue;
		fate.verdict = hooks[fault->spec.type].verdict;
		fate.late_ns = sim_argument(&fault->spec, SIM_ARGUMENT_LATE);
		fate.partial = fault->spec.given & BIT(SIM_ARGUMENT_DONE);
		fate.done = sim_argument(&fault->spec, SIM_ARGUMENT_DONE);
		note_fault(hw, fault, "hit");
		if (!sim_argument(&fault->spec, SIM_ARGUMENT_EVERY))
			end(hw, fault);
		break;
	}
	return fate;
}

/**
 * sim_fault_call() - begin a request: count it, and apply the faults of calls
 * @hw: hardware; its lock must not be held
 * @counter: requests of this operation
 * @call: kind of the request
 * @fate: of the request; set unless the device is gone
 *
 * Starts the faults that wait for it.
 *
 * Return: 0, or -ENODEV once the device is gone.
 */
int sim_fault_call(struct sim_hardware *hw, u64 *counter, enum sim_call call,
		   struct sim_fate *fate)
{
	unsigned long flags;
	bool gone;

	*fate = (struct sim_fate){ .verdict = SIM_VERDICT_DONE };
	spin_lock_irqsave(hw->lock, flags);
	(*counter)++;
	gone = hw->gone;
	if (!gone) {
		hw->calls[call]++;
		if (unlikely(hw->hooks_count))
			*fate = fate_of(hw, call);
	}
	spin_unlock_irqrestore(hw->lock, flags);
	return gone ? -ENODEV : 0;
}

/**
 * sim_fault_clear() - end a fault, or disarm it
 * @hw: hardware; its lock must not be held
 * @id: its number, as sim_faults_show() prints it
 *
 * Return: 0, or -ENOENT.
 */
int sim_fault_clear(struct sim_hardware *hw, u32 id)
{
	struct sim_fault *fault;
	unsigned long flags;
	int err = -ENOENT;

	spin_lock_irqsave(hw->lock, flags);
	list_for_each_entry(fault, &hw->faults, node) {
		if (fault->id == id) {
			end(hw, fault);
			err = 0;
			break;
		}
	}
	spin_unlock_irqrestore(hw->lock, flags);
	sim_run_due(hw);
	return err;
}

void sim_fault_clear_all(struct sim_hardware *hw)
{
	struct sim_fault *fault, *next;
	unsigned long flags;

	spin_lock_irqsave(hw->lock, flags);
	list_for_each_entry_safe(fault, next, &hw->faults, node)
		end(hw, fault);
	spin_unlock_irqrestore(hw->lock, flags);
	sim_run_due(hw);
}

/* The hardware is being freed. */
void sim_fault_free(struct sim_hardware *hw)
{
	struct sim_fault *fault, *next;

	list_for_each_entry_safe(fault, next, &hw->faults, node)
		kfree(fault);
}

/**
 * sim_flip() - change an element's state without a command of the core
 * @hw: hardware; its lock must not be held
 * @element: the element
 * @state: a state of its kind
 *
 * Return: 0, or -EBUSY while the element is stuck.
 */
int sim_flip(struct sim_hardware *hw, u32 element, u32 state)
{
	struct sim_element *e = &hw->optics.elements[element];
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(hw->lock, flags);
	if (e->stuck) {
		err = -EBUSY;
	} else {
		note(hw, "flip %u from %u to %u", element, e->state, state);
		sim_change_begin(hw);
		sim_touch_element(hw, element);
		sim_move_element(hw, element, state, sim_now(hw));
		sim_change_end(hw);
	}
	spin_unlock_irqrestore(hw->lock, flags);
	sim_run_due(hw);
	return err;
}

/**
 * sim_swap() - exchange the accelerator in a socket
 * @hw: hardware; its lock must not be held
 * @accelerator: the socket
 * @uuid: of the new one
 */
void sim_swap(struct sim_hardware *hw, u32 accelerator, const uuid_t *uuid)
{
	unsigned long flags;

	spin_lock_irqsave(hw->lock, flags);
	note(hw, "swap %u for %pUb", accelerator, uuid);
	export_uuid(hw->identities[accelerator].uuid, uuid);
	spin_unlock_irqrestore(hw->lock, flags);
}

void sim_faults_show(struct sim_hardware *hw, struct seq_file *file)
{
	struct sim_fault *fault;
	unsigned long flags;
	char text[SIM_FAULT_BYTES];

	spin_lock_irqsave(hw->lock, flags);
	list_for_each_entry(fault, &hw->faults, node) {
		sim_fault_format(hw, &fault->spec, text, sizeof(text));
		seq_printf(file, "%u %s %s\n", fault->id, fault->at_op ? "armed" : "active", text);
	}
	spin_unlock_irqrestore(hw->lock, flags);
}

void sim_log_show(struct sim_hardware *hw, struct seq_file *file)
{
	unsigned long flags;
	u64 i;

	spin_lock_irqsave(hw->lock, flags);
	i = hw->log_count > SIM_LOG_ENTRIES ? hw->log_count - SIM_LOG_ENTRIES : 0;
	if (i)
		seq_printf(file, "# %llu earlier lines are gone\n", i);
	for (; i < hw->log_count; i++) {
		const struct sim_log_entry *entry = &hw->log[i % SIM_LOG_ENTRIES];

		seq_printf(file, "op=%llu ns=%llu %s\n", entry->operation, entry->now, entry->text);
	}
	spin_unlock_irqrestore(hw->lock, flags);
}
