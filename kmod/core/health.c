// SPDX-License-Identifier: GPL-2.0-only
/*
 * Health of hardware: signals become marks, marks set off repairs, and what was
 * marked comes back through a test only.
 */
#include <linux/slab.h>

#include "core.h"
#include "trace.h"

#define PATROL_PERIOD		msecs_to_jiffies(1000)
#define PATROL_CHIPS		16u	/* idle accelerators probed each period */
#define PATROL_ELEMENTS		64u	/* elements read back each period */
#define PATROL_TESTS		4u	/* suspects tested each period */
#define SIGNAL_BATCH		16u
#define HOLD_DOWN_NS		(50 * NSEC_PER_MSEC)	/* after the first failure; doubles */
#define HOLD_DOWN_MAX_SHIFT	10u
#define FLAP_WINDOW_NS		(3600ULL * NSEC_PER_SEC)

/* ------------------------------------------------------------ read and check */

static u32 marks_health(u8 marks)
{
	if (!(marks & OPTICS_UNHEALTHY))
		return MORPH_HEALTH_OK;
	return marks & MORPH_MARK_QUARANTINED ? MORPH_HEALTH_QUARANTINED : MORPH_HEALTH_FAILED;
}

static u32 part_count(struct morph_fabric *fabric, u32 part)
{
	switch (part) {
	case MORPH_PART_ACCELERATOR:
		return fabric->graph->accelerators_count;
	case MORPH_PART_LASER:
	case MORPH_PART_RECEIVER:
		return fabric->graph->ports_count;
	case MORPH_PART_ELEMENT:
		return fabric->graph->elements_count;
	case MORPH_PART_GUIDE:
		return fabric->graph->guides_count;
	}
	return 0;
}

int morph_health_check_part(struct morph_fabric *fabric, u32 part, u32 index,
			    struct morph_refusal *refusal)
{
	u32 count = part_count(fabric, part);

	if (!count)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, part, index,
				    "part must be 1 (accelerator), 2 (laser), 3 (receiver), 4 (element) or 5 (guide), not %u",
				    part);
	if (index >= count)
		return morph_refuse(refusal, -ENOENT, MORPH_REASON_ARGUMENT, part, index,
				    "index %u is past the %u of that kind", index, count);
	return 0;
}

u32 morph_health_get(struct morph_fabric *fabric, u32 part, u32 index)
{
	switch (part) {
	case MORPH_PART_ACCELERATOR:
		return fabric->chips[index].health;
	case MORPH_PART_LASER:
		return fabric->ledger->tx_dead[index] ? MORPH_HEALTH_FAILED : MORPH_HEALTH_OK;
	case MORPH_PART_RECEIVER:
		return fabric->ledger->rx_dead[index] ? MORPH_HEALTH_FAILED : MORPH_HEALTH_OK;
	case MORPH_PART_ELEMENT:
		return marks_health(fabric->ledger->element_marks[index]);
	case MORPH_PART_GUIDE:
		return marks_health(fabric->ledger->guide_marks[index]);
	}
	return MORPH_HEALTH_OK;
}

bool morph_health_cordoned(struct morph_fabric *fabric, u32 part, u32 index)
{
	switch (part) {
	case MORPH_PART_ACCELERATOR:
		return fabric->chips[index].cordoned;
	case MORPH_PART_ELEMENT:
		return fabric->ledger->element_marks[index] & OPTICS_CORDONED;
	case MORPH_PART_GUIDE:
		return fabric->ledger->guide_marks[index] & OPTICS_CORDONED;
	}
	return false;
}

int morph_health_cordon(struct morph_fabric *fabric, u32 part, u32 index, bool cordon,
			struct morph_refusal *refusal)
{
	u8 *marks = NULL;
	int ret;

	ret = morph_health_check_part(fabric, part, index, refusal);
	if (ret)
		return ret;
	if (part == MORPH_PART_LASER || part == MORPH_PART_RECEIVER)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, part, index,
				    "accelerators, elements and guides can be cordoned, not lasers and receivers");
	mutex_lock(&fabric->lock);
	if (part == MORPH_PART_ACCELERATOR) {
		fabric->chips[index].cordoned = cordon;
		morph_chip_update(fabric, index);
		morph_plan_touch_chip(fabric, index);
		morph_netlink_accelerator(fabric, index);
	} else {
		marks = part == MORPH_PART_ELEMENT ? &fabric->ledger->element_marks[index] :
						     &fabric->ledger->guide_marks[index];
		if (cordon)
			*marks |= OPTICS_CORDONED;
		else
			*marks &= ~OPTICS_CORDONED;
	}
	fabric->seq++;
	if (!cordon)
		morph_repair_recover(fabric);
	morph_netlink_hardware(fabric, part, index);
	mutex_unlock(&fabric->lock);
	return 0;
}

/* --------------------------------------------------------- who is affected */

/* A live circuit runs over failed hardware: its slice is repaired. */
static void route_hit(struct morph_route *route, const struct morph_culprit *culprit, u64 since)
{
	struct morph_circuit *circuit = route->circuit;

	if (route->role == MORPH_ROUTE_PLAN || !circuit)
		return;
	if (culprit)
		circuit->slice->culprit = *culprit;
	/* One that is being changed is judged when its change is published. */
	if (circuit->listed && !circuit->pending)
		morph_repair_kick(circuit->slice, since);
}

static void guide_hit(struct morph_fabric *fabric, u32 guide, u64 lanes,
		      const struct morph_culprit *culprit, u64 since)
{
	struct morph_link *link;

	hlist_for_each_entry(link, &fabric->guide_routes[guide], node)
		if (link->route->path.lanes & lanes)
			route_hit(link->route, culprit, since);
}

/* Routes through an element hang on the guides at its ports. */
static void element_hit(struct morph_fabric *fabric, u32 element,
			const struct morph_culprit *culprit, u64 since)
{
	const struct optics_element *place = &fabric->graph->elements[element];
	u32 port, code;

	for (port = 0; port < fabric->graph->kinds[place->kind].ports; port++) {
		code = fabric->graph->port_guide[place->first_port + port];
		if (code != OPTICS_NONE)
			guide_hit(fabric, code >> 1, ~0ULL, culprit, since);
	}
}

/* -------------------------------------------------------------------- marks */

/* Hold-down doubles with each failure of an hour. */
static void chip_failed(struct morph_chip *chip)
{
	u64 now = ktime_get_boottime_ns();

	if (now - chip->last_failed_ns > FLAP_WINDOW_NS)
		chip->flaps = 0;
	chip->last_failed_ns = now;
	chip->hold_until_ns = now +
		(HOLD_DOWN_NS << min_t(u32, chip->flaps, HOLD_DOWN_MAX_SHIFT));
	if (chip->flaps < U8_MAX)
		chip->flaps++;
}

static void set_accelerator(struct morph_fabric *fabric, const struct morph_culprit *culprit,
			    u32 health, u64 since)
{
	struct morph_chip *chip = &fabric->chips[culprit->index];
	struct morph_slice *slice = chip->slice;
	bool was_ok = chip->health == MORPH_HEALTH_OK;

	chip->health = health;
	fabric->failed += (int)(health != MORPH_HEALTH_OK) - (int)!was_ok;
	if (was_ok && health == MORPH_HEALTH_FAILED)
		chip_failed(chip);
	morph_chip_update(fabric, culprit->index);
	morph_plan_touch_chip(fabric, culprit->index);
	morph_netlink_accelerator(fabric, culprit->index);
	if (health == MORPH_HEALTH_OK) {
		/* It was found well before a spare could be had: the rank keeps it. */
		if (slice && chip->use == MORPH_USE_HELD && chip->rank != MORPH_ANY &&
		    slice->ranks[chip->rank].accelerator == culprit->index &&
		    slice->ranks[chip->rank].failed) {
			slice->ranks[chip->rank].failed = false;
			morph_repair_kick(slice, 0);
		}
		return;
	}
	if (!slice || chip->rank == MORPH_ANY || chip->use != MORPH_USE_HELD ||
	    slice->ranks[chip->rank].accelerator != culprit->index ||
	    slice->ranks[chip->rank].failed)
		return;
	slice->ranks[chip->rank].failed = true;
	slice->culprit = *culprit;
	morph_repair_kick(slice, since);
	morph_repair_tell_failing(slice, chip->rank);
}

static void set_marks(struct morph_fabric *fabric, u8 *marks, u32 health)
{
	bool was_ok = !(*marks & OPTICS_UNHEALTHY);

	*marks &= ~(OPTICS_UNHEALTHY | MORPH_MARK_QUARANTINED);
	if (health != MORPH_HEALTH_OK)
		*marks |= OPTICS_UNHEALTHY;
	if (health == MORPH_HEALTH_QUARANTINED || health == MORPH_HEALTH_SUSPECT)
		*marks |= MORPH_MARK_QUARANTINED;
	fabric->impaired += (int)(health != MORPH_HEALTH_OK) - (int)!was_ok;
}

static void set_lanes(struct morph_fabric *fabric, u64 *dead, u64 lanes, u32 health)
{
	bool was_ok = !*dead;

	if (!lanes)
		lanes = fabric->graph->all_lanes;
	if (health == MORPH_HEALTH_OK)
		*dead &= ~lanes;
	else
		*dead |= lanes;
	fabric->impaired += (int)(*dead != 0) - (int)!was_ok;
}

/**
 * morph_health_set() - hardware was found to be bad, or good again
 * @fabric: the fabric
 * @culprit: what; a culprit without part is ignored
 * @health: enum morph_health
 * @since_ns: CLOCK_MONOTONIC time at which hardware showed it, or 0
 *
 * Sets off the repair of every slice that uses it. The cost is that of the
 * circuits concerned.
 *
 * Context: fabric->lock held.
 * Return: 0, or -ENOENT when there is no such thing.
 */
int morph_health_set(struct morph_fabric *fabric, const struct morph_culprit *culprit, u32 health,
		     u64 since_ns)
{
	u64 lanes = culprit->lanes ? culprit->lanes : fabric->graph->all_lanes;
	u32 index = culprit->index;

	lockdep_assert_held(&fabric->lock);
	if (index >= part_count(fabric, culprit->part))
		return -ENOENT;
	trace_morph_fault(fabric->id, culprit->part, index, health);
	switch (culprit->part) {
	case MORPH_PART_ACCELERATOR:
		set_accelerator(fabric, culprit, health, since_ns);
		break;
	case MORPH_PART_LASER:
		set_lanes(fabric, &fabric->ledger->tx_dead[index], culprit->lanes, health);
		if (health != MORPH_HEALTH_OK)
			guide_hit(fabric, fabric->graph->tx_guide[index] >> 1, lanes, culprit,
				  since_ns);
		break;
	case MORPH_PART_RECEIVER:
		set_lanes(fabric, &fabric->ledger->rx_dead[index], culprit->lanes, health);
		if (health != MORPH_HEALTH_OK)
			guide_hit(fabric, fabric->graph->rx_guide[index] >> 1, lanes, culprit,
				  since_ns);
		break;
	case MORPH_PART_ELEMENT:
		set_marks(fabric, &fabric->ledger->element_marks[index], health);
		if (health != MORPH_HEALTH_OK)
			element_hit(fabric, index, culprit, since_ns);
		break;
	case MORPH_PART_GUIDE:
		set_marks(fabric, &fabric->ledger->guide_marks[index], health);
		if (health != MORPH_HEALTH_OK)
			guide_hit(fabric, index, ~0ULL, culprit, since_ns);
		break;
	}
	fabric->seq++;
	if (health == MORPH_HEALTH_OK)
		morph_repair_recover(fabric);
	morph_netlink_hardware(fabric, culprit->part, index);
	return 0;
}

/* ------------------------------------------------------------------- suspects */

/*
 * Hardware that patrol shall test when it can. More than the ring holds stays
 * quarantined until the operator has it tested. fabric->lock held.
 */
static void suspect_add(struct morph_fabric *fabric, const struct morph_culprit *suspect)
{
	u32 i;

	for (i = 0; i < fabric->suspect_count; i++) {
		const struct morph_culprit *other =
			&fabric->suspects[(fabric->suspect_head + i) % MORPH_SUSPECTS];

		if (other->part == suspect->part && other->index == suspect->index)
			return;
	}
	if (fabric->suspect_count == MORPH_SUSPECTS)
		return;
	i = (fabric->suspect_head + fabric->suspect_count++) % MORPH_SUSPECTS;
	fabric->suspects[i] = *suspect;
}

/* Test one suspect. What can't be tested now goes to the end of the queue. */
static void patrol_suspect(struct morph_fabric *fabric)
{
	struct morph_culprit suspect;
	bool marked;
	int ret;

	mutex_lock(&fabric->lock);
	if (!fabric->suspect_count) {
		mutex_unlock(&fabric->lock);
		return;
	}
	suspect = fabric->suspects[fabric->suspect_head];
	fabric->suspect_head = (fabric->suspect_head + 1) % MORPH_SUSPECTS;
	fabric->suspect_count--;
	mutex_unlock(&fabric->lock);
	ret = morph_test_run(fabric, &suspect);
	mutex_lock(&fabric->lock);
	marked = morph_health_get(fabric, suspect.part, suspect.index) != MORPH_HEALTH_OK;
	if (!ret && marked)
		morph_health_set(fabric, &suspect, MORPH_HEALTH_OK, 0);
	else if (ret == -EIO)
		morph_health_set(fabric, &suspect, MORPH_HEALTH_FAILED, 0);
	else if (ret)
		suspect_add(fabric, &suspect);
	mutex_unlock(&fabric->lock);
}

/* ------------------------------------------------------------------ diagnosis */

/* Does an accelerator answer? Trouble with asking counts as an answer. */
static bool probe_dead(struct morph_fabric *fabric, u32 accelerator)
{
	struct morph_probe probe = { .accelerator = accelerator };

	return !morph_hw_probe(fabric, NULL, &probe, 1) && !probe.alive;
}

static bool laser_bad(struct morph_fabric *fabric, const struct optics_path *path,
		      struct morph_culprit *culprit)
{
	struct morph_laser_reading reading = { .port = path->tx };

	if (morph_hw_get_lasers(fabric, NULL, &reading, 1))
		return false;
	culprit->lanes = path->lanes & (~reading.lanes | reading.weak);
	if (!culprit->lanes)
		return false;
	culprit->part = MORPH_PART_LASER;
	culprit->index = path->tx;
	return true;
}

static bool element_bad(struct morph_fabric *fabric, const struct optics_path *path,
			struct morph_culprit *culprit)
{
	struct morph_element_setting reading;
	u32 h;

	for (h = 0; h + 1 < path->hops_count; h++) {
		reading.element = path->hops[h].element;
		if (morph_hw_get_elements(fabric, NULL, &reading, 1) ||
		    reading.state == path->hops[h].state)
			continue;
		culprit->part = MORPH_PART_ELEMENT;
		culprit->index = reading.element;
		return true;
	}
	return false;
}

/*
 * Nothing on the way owns up. The longest span is the likeliest: a fibre, then a
 * guide between tiles, then the guides inside. Spans that were blamed before are
 * not on new paths, so that a deaf receiver is what remains in the end.
 */
static void blame_span(struct morph_fabric *fabric, const struct optics_path *path,
		       struct morph_culprit *culprit)
{
	static const u16 likeliest[] = { MORPH_GUIDE_FIBRE, MORPH_GUIDE_TILE };
	u32 c, h;

	for (c = 0; c < ARRAY_SIZE(likeliest); c++) {
		for (h = 0; h < path->hops_count; h++) {
			u32 guide = path->hops[h].guide >> 1;

			if (fabric->graph->guides[guide].class != likeliest[c] ||
			    morph_health_get(fabric, MORPH_PART_GUIDE, guide) != MORPH_HEALTH_OK)
				continue;
			culprit->part = MORPH_PART_GUIDE;
			culprit->index = guide;
			return;
		}
	}
	for (h = 1; h + 1 < path->hops_count; h++) {
		u32 guide = path->hops[h].guide >> 1;

		if (morph_health_get(fabric, MORPH_PART_GUIDE, guide) != MORPH_HEALTH_OK)
			continue;
		culprit->part = MORPH_PART_GUIDE;
		culprit->index = guide;
		return;
	}
	culprit->part = MORPH_PART_RECEIVER;
	culprit->index = path->rx;
	culprit->lanes = path->lanes;
}

/* Is the receive port known to have been dark on another path just now? */
static bool receiver_suspect(struct morph_fabric *fabric, const struct optics_path *path)
{
	return fabric->rx_blamed == path->rx + 1;
}

int morph_health_diagnose(struct morph_fabric *fabric, const struct optics_path *path,
			  u32 src_accelerator, struct morph_culprit *culprit)
{
	const struct morph_culprit receiver = { MORPH_PART_RECEIVER, path->rx, path->lanes };
	u32 planes = fabric->graph->params.planes;

	*culprit = (struct morph_culprit){ .part = MORPH_PART_ACCELERATOR };
	culprit->index = src_accelerator;
	if (probe_dead(fabric, src_accelerator))
		return 0;
	culprit->index = path->rx / planes;
	if (probe_dead(fabric, culprit->index))
		return 0;
	*culprit = (struct morph_culprit){};
	if (laser_bad(fabric, path, culprit) || element_bad(fabric, path, culprit))
		return 0;
	mutex_lock(&fabric->lock);
	if (receiver_suspect(fabric, path)) {
		/* Two ways lead to this receiver and both are dark: it is deaf. */
		culprit->part = MORPH_PART_RECEIVER;
		culprit->index = path->rx;
		culprit->lanes = path->lanes;
		fabric->rx_blamed = 0;
	} else {
		blame_span(fabric, path, culprit);
		fabric->rx_blamed = path->rx + 1;
		/* It was the likeliest, no more: light will tell the span from the receiver. */
		suspect_add(fabric, culprit);
		suspect_add(fabric, &receiver);
	}
	mutex_unlock(&fabric->lock);
	return 0;
}

/* -------------------------------------------------------------------- signals */

/**
 * morph_fabric_signal() - hardware shows something unasked
 * @fabric: a registered fabric
 * @signal: what; copied
 *
 * Context: any.
 */
void morph_fabric_signal(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	unsigned long flags;
	u32 slot;

	spin_lock_irqsave(&fabric->signal_lock, flags);
	if (!fabric->signals || fabric->signals_stopped) {
		spin_unlock_irqrestore(&fabric->signal_lock, flags);
		return;
	}
	if (fabric->signal_count == MORPH_SIGNAL_SLOTS) {
		fabric->signals_overrun = true;
		morph_stat(fabric, MORPH_STAT_SIGNALS_LOST);
	} else {
		slot = (fabric->signal_head + fabric->signal_count++) % MORPH_SIGNAL_SLOTS;
		fabric->signals[slot] = *signal;
		if (!signal->since_ns)
			fabric->signals[slot].since_ns = ktime_get_ns();
	}
	queue_work(morph_wq, &fabric->signal_work);
	spin_unlock_irqrestore(&fabric->signal_lock, flags);
	morph_stat(fabric, MORPH_STAT_SIGNALS);
	trace_morph_signal(fabric->id, signal->type, signal->index, signal->value);
}
EXPORT_SYMBOL_GPL(morph_fabric_signal);

static void on_heartbeat(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	struct morph_culprit culprit = { MORPH_PART_ACCELERATOR, signal->index, 0 };
	struct morph_chip *chip;
	u64 now = ktime_get_boottime_ns();

	if (signal->index >= fabric->graph->accelerators_count)
		return;
	chip = &fabric->chips[signal->index];
	chip->heartbeat_lost = !signal->value;
	if (!signal->value) {
		morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, signal->since_ns);
		return;
	}
	if (chip->health != MORPH_HEALTH_FAILED)
		return;
	/* It is back: to be trusted after its hold-down, and a test. */
	morph_health_set(fabric, &culprit, MORPH_HEALTH_QUARANTINED, signal->since_ns);
	mod_delayed_work(morph_wq, &fabric->patrol_work,
			 chip->hold_until_ns > now ?
			 nsecs_to_jiffies(chip->hold_until_ns - now) + 1 : 0);
}

static void on_receiver(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	struct morph_culprit culprit = { MORPH_PART_RECEIVER, signal->index, signal->lanes };
	struct morph_link *link;

	if (signal->index >= fabric->graph->ports_count)
		return;
	hlist_for_each_entry(link, &fabric->guide_routes[fabric->graph->rx_guide[signal->index] >> 1],
			     node) {
		struct morph_circuit *circuit = link->route->circuit;

		if (link->route->role == MORPH_ROUTE_PLAN || !circuit ||
		    !(link->route->path.lanes & signal->lanes))
			continue;
		if (!signal->value)
			circuit->dark = true;
		if (!circuit->dark)
			continue;
		/* The symptom; whoever finds the cause says so. */
		if (!circuit->slice->repairing)
			circuit->slice->culprit = culprit;
		route_hit(link->route, NULL, signal->since_ns);
	}
}

static void on_laser(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	struct morph_culprit culprit = { MORPH_PART_LASER, signal->index, signal->lanes };

	if (signal->index < fabric->graph->ports_count && signal->lanes)
		morph_health_set(fabric, &culprit,
				 signal->value ? MORPH_HEALTH_OK : MORPH_HEALTH_FAILED,
				 signal->since_ns);
}

static void on_element(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	struct morph_culprit culprit = { MORPH_PART_ELEMENT, signal->index, 0 };

	morph_health_set(fabric, &culprit,
			 signal->value ? MORPH_HEALTH_QUARANTINED : MORPH_HEALTH_FAILED,
			 signal->since_ns);
}

static void on_signal(struct morph_fabric *fabric, const struct morph_signal *signal)
{
	switch (signal->type) {
	case MORPH_SIGNAL_HEARTBEAT:
		on_heartbeat(fabric, signal);
		break;
	case MORPH_SIGNAL_RECEIVER:
		on_receiver(fabric, signal);
		break;
	case MORPH_SIGNAL_LASER:
		on_laser(fabric, signal);
		break;
	case MORPH_SIGNAL_ELEMENT:
		on_element(fabric, signal);
		break;
	case MORPH_SIGNAL_TEMPERATURE:
		fabric->temperature = signal->value;
		break;
	}
}

/* Signals were lost: whatever is lit counts as dark until it has been read. */
static void doubt_everything(struct morph_fabric *fabric)
{
	struct morph_circuit *circuit;
	struct morph_slice *slice;
	unsigned long index;

	list_for_each_entry(slice, &fabric->slices, node) {
		xa_for_each(&slice->circuits, index, circuit)
			circuit->dark = true;
		if (slice->circuits_count)
			morph_repair_kick(slice, 0);
	}
	mod_delayed_work(morph_wq, &fabric->patrol_work, 0);
}

static void signal_work_fn(struct work_struct *work)
{
	struct morph_fabric *fabric = container_of(work, struct morph_fabric, signal_work);
	struct morph_signal batch[SIGNAL_BATCH];
	bool overrun;
	u32 count, i;

	do {
		spin_lock_irq(&fabric->signal_lock);
		for (count = 0; count < SIGNAL_BATCH && fabric->signal_count; count++) {
			batch[count] = fabric->signals[fabric->signal_head];
			fabric->signal_head = (fabric->signal_head + 1) % MORPH_SIGNAL_SLOTS;
			fabric->signal_count--;
		}
		overrun = fabric->signals_overrun;
		fabric->signals_overrun = false;
		spin_unlock_irq(&fabric->signal_lock);

		mutex_lock(&fabric->lock);
		for (i = 0; i < count && fabric->state == MORPH_FABRIC_READY; i++)
			on_signal(fabric, &batch[i]);
		if (overrun && fabric->state == MORPH_FABRIC_READY)
			doubt_everything(fabric);
		mutex_unlock(&fabric->lock);
	} while (count == SIGNAL_BATCH);
}

/* --------------------------------------------------------------------- patrol */

/* Idle or quarantined, and not held down: worth a probe. */
static bool worth_a_probe(const struct morph_chip *chip, u64 now)
{
	if (chip->heartbeat_lost || chip->hold_until_ns > now ||
	    chip->health == MORPH_HEALTH_FAILED)
		return false;
	return chip->use == MORPH_USE_FREE || chip->use == MORPH_USE_SPARE ||
	       chip->health != MORPH_HEALTH_OK;
}

static void patrol_chips(struct morph_fabric *fabric)
{
	u32 total = fabric->graph->accelerators_count;
	struct morph_probe probes[PATROL_CHIPS];
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	u32 count = 0, seen;
	u64 now = ktime_get_boottime_ns();

	mutex_lock(&fabric->lock);
	for (seen = 0; seen < total && count < PATROL_CHIPS; seen++) {
		u32 index = fabric->patrol_next++ % total;

		if (worth_a_probe(&fabric->chips[index], now))
			probes[count++] = (struct morph_probe){ .accelerator = index };
		/* Held down until now: it may be given out again. */
		morph_chip_update(fabric, index);
	}
	mutex_unlock(&fabric->lock);
	if (!count || morph_hw_probe(fabric, NULL, probes, count))
		return;
	mutex_lock(&fabric->lock);
	for (seen = 0; seen < count; seen++) {
		struct morph_chip *chip = &fabric->chips[probes[seen].accelerator];

		culprit.index = probes[seen].accelerator;
		morph_stat(fabric, MORPH_STAT_PATROLS);
		if (!probes[seen].alive) {
			morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, 0);
			continue;
		}
		chip->last_verified_ns = ktime_get_boottime_ns();
		if (chip->health != MORPH_HEALTH_OK && !chip->heartbeat_lost)
			suspect_add(fabric, &culprit);
	}
	mutex_unlock(&fabric->lock);
}

/* An element that could not be parked when it was released. fabric->lock held. */
static bool left_behind(struct morph_fabric *fabric, u32 element)
{
	return !fabric->ledger->element_pins[element] && !fabric->ledger->element_marks[element] &&
	       fabric->hw_state[element] != optics_park_state(fabric->graph, element);
}

/* Park one; the mark keeps everybody away meanwhile. No lock held. */
static void patrol_park(struct morph_fabric *fabric, u32 element)
{
	struct morph_element_setting setting = {
		.element = element,
		.state = optics_park_state(fabric->graph, element),
	};
	bool ours;
	int ret;

	mutex_lock(&fabric->lock);
	ours = left_behind(fabric, element);
	if (ours)
		fabric->ledger->element_marks[element] |= MORPH_MARK_CHANGING;
	mutex_unlock(&fabric->lock);
	if (!ours)
		return;
	ret = morph_hw_set_elements(fabric, NULL, &setting, 1);
	mutex_lock(&fabric->lock);
	fabric->ledger->element_marks[element] &= ~MORPH_MARK_CHANGING;
	if (!ret)
		fabric->hw_state[element] = setting.state;
	mutex_unlock(&fabric->lock);
}

/* Read elements back that nobody is turning: one that moved by itself is failed. */
static void patrol_elements(struct morph_fabric *fabric)
{
	u32 total = fabric->graph->elements_count;
	u32 count = min(PATROL_ELEMENTS, total), i;
	struct morph_element_setting settings[PATROL_ELEMENTS];
	u8 expected[PATROL_ELEMENTS];
	struct morph_culprit culprit = { .part = MORPH_PART_ELEMENT };

	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++) {
		settings[i].element = fabric->patrol_element++ % total;
		expected[i] = fabric->hw_state[settings[i].element];
	}
	mutex_unlock(&fabric->lock);
	if (morph_hw_get_elements(fabric, NULL, settings, count))
		return;
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++) {
		u32 element = settings[i].element;

		if (settings[i].state == expected[i] || fabric->hw_state[element] != expected[i] ||
		    fabric->ledger->element_state[element] != expected[i] ||
		    fabric->ledger->element_marks[element])
			continue;
		culprit.index = element;
		fabric->hw_state[element] = settings[i].state;
		morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, 0);
	}
	mutex_unlock(&fabric->lock);
	for (i = 0; i < count; i++)
		if (left_behind(fabric, settings[i].element))
			patrol_park(fabric, settings[i].element);
}

static void patrol_work_fn(struct work_struct *work)
{
	struct morph_fabric *fabric = container_of(to_delayed_work(work), struct morph_fabric,
						   patrol_work);
	u32 tests;

	if (READ_ONCE(fabric->state) != MORPH_FABRIC_READY)
		return;
	patrol_chips(fabric);
	patrol_elements(fabric);
	for (tests = 0; tests < PATROL_TESTS; tests++)
		patrol_suspect(fabric);
	queue_delayed_work(morph_wq, &fabric->patrol_work, PATROL_PERIOD);
}

void morph_health_init(struct morph_fabric *fabric)
{
	INIT_WORK(&fabric->signal_work, signal_work_fn);
	INIT_DELAYED_WORK(&fabric->patrol_work, patrol_work_fn);
}

void morph_health_start(struct morph_fabric *fabric)
{
	queue_delayed_work(morph_wq, &fabric->patrol_work, PATROL_PERIOD);
}

void morph_health_stop(struct morph_fabric *fabric)
{
	unsigned long flags;

	spin_lock_irqsave(&fabric->signal_lock, flags);
	fabric->signals_stopped = true;
	spin_unlock_irqrestore(&fabric->signal_lock, flags);
	cancel_work_sync(&fabric->signal_work);
	cancel_delayed_work_sync(&fabric->patrol_work);
}
