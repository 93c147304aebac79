// SPDX-License-Identifier: GPL-2.0-only
/*
 * Health of hardware: marks keep new paths away and set off the repair of what uses it.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"

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
		return morph_refuse_fixed(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, part, index,
					  "part must be accelerator, laser, receiver, element or guide",
					  "part must be 1 (accelerator), 2 (laser), 3 (receiver), 4 (element) or 5 (guide), not %u",
					  part);
	if (index >= count)
		return morph_refuse_fixed(refusal, -ENOENT, MORPH_REASON_ARGUMENT, part, index,
					  "the fabric has no part of that kind at this index",
					  "index %u is past the %u of that kind", index, count);
	return 0;
}

/* Is it in use, or free for use? Hardware that is only in doubt is OK here. */
static u32 health_for_use(struct morph_fabric *fabric, u32 part, u32 index)
{
	switch (part) {
	case MORPH_PART_ACCELERATOR:
		return ledger_of(fabric)->chips[index].health;
	case MORPH_PART_LASER:
		return ledger_of(fabric)->state->tx_dead[index] ? MORPH_HEALTH_FAILED :
								  MORPH_HEALTH_OK;
	case MORPH_PART_RECEIVER:
		return ledger_of(fabric)->state->rx_dead[index] ? MORPH_HEALTH_FAILED :
								  MORPH_HEALTH_OK;
	case MORPH_PART_ELEMENT:
		return marks_health(ledger_of(fabric)->state->element_marks[index]);
	case MORPH_PART_GUIDE:
		return marks_health(ledger_of(fabric)->state->guide_marks[index]);
	}
	return MORPH_HEALTH_OK;
}

u32 morph_health_get(struct morph_fabric *fabric, u32 part, u32 index)
{
	u32 health = health_for_use(fabric, part, index);

	if (health == MORPH_HEALTH_OK && morph_suspect_waits(fabric, part, index))
		return MORPH_HEALTH_SUSPECT;
	return health;
}

bool morph_health_cordoned(struct morph_fabric *fabric, u32 part, u32 index)
{
	switch (part) {
	case MORPH_PART_ACCELERATOR:
		return ledger_of(fabric)->chips[index].cordoned;
	case MORPH_PART_ELEMENT:
		return ledger_of(fabric)->state->element_marks[index] & OPTICS_CORDONED;
	case MORPH_PART_GUIDE:
		return ledger_of(fabric)->state->guide_marks[index] & OPTICS_CORDONED;
	}
	return false;
}

static void spoil_guide(struct morph_fabric *fabric, u32 guide)
{
	struct morph_link *link;

	hlist_for_each_entry(link, &ledger_of(fabric)->guide_routes[guide], node)
		if (link->route->protection)
			morph_protection_spoil(link->route->protection);
}

/* Protections that count on a guide or an element which is to be kept free from now on. */
static void spoil_protections(struct morph_fabric *fabric, u32 part, u32 index)
{
	const struct optics_graph *graph = fabric->graph;
	u32 port, code;

	if (part == MORPH_PART_GUIDE) {
		spoil_guide(fabric, index);
		return;
	}
	for (port = 0; port < graph->kinds[graph->elements[index].kind].ports; port++) {
		code = graph->port_guide[graph->elements[index].first_port + port];
		if (code != OPTICS_NONE)
			spoil_guide(fabric, code >> 1);
	}
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
		ledger_of(fabric)->chips[index].cordoned = cordon;
		morph_chip_update(fabric, index);
		morph_protection_touch_chip(fabric, index);
		morph_report_accelerator_changed(fabric, index);
	} else {
		marks = part == MORPH_PART_ELEMENT ?
				&ledger_of(fabric)->state->element_marks[index] :
				&ledger_of(fabric)->state->guide_marks[index];
		if (cordon)
			*marks |= OPTICS_CORDONED;
		else
			*marks &= ~OPTICS_CORDONED;
		spoil_protections(fabric, part, index);
	}
	fabric->seq++;
	if (!cordon)
		morph_repair_recover(fabric);
	morph_report_hardware_changed(fabric, part, index);
	mutex_unlock(&fabric->lock);
	return 0;
}

/* --------------------------------------------------------- who is affected */

/* A live circuit runs over failed hardware: its slice is repaired. */
void morph_route_hit(struct morph_route *route, const struct morph_culprit *culprit, u64 since)
{
	struct morph_circuit *circuit = route->circuit;

	if (route->protection)
		morph_protection_spoil(route->protection);
	if (!circuit)
		return;
	if (culprit)
		slice_recovery(circuit->slice)->culprit = *culprit;
	/* One that is being lit for the first time is judged when it is published. */
	if (circuit->listed)
		morph_repair_kick(circuit->slice, since);
}

static void guide_hit(struct morph_fabric *fabric, u32 guide, u64 lanes,
		      const struct morph_culprit *culprit, u64 since)
{
	struct morph_link *link;

	hlist_for_each_entry(link, &ledger_of(fabric)->guide_routes[guide], node)
		if (link->route->path.lanes & lanes)
			morph_route_hit(link->route, culprit, since);
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
	struct morph_chip *chip = &ledger_of(fabric)->chips[culprit->index];
	struct morph_slice *slice = chip->slice;
	bool was_ok = chip->health == MORPH_HEALTH_OK;

	chip->health = health;
	/* Whatever comes back after a failure is looked at anew. */
	if (health != MORPH_HEALTH_QUARANTINED)
		chip->stranger = false;
	ledger_of(fabric)->failed += (int)(health != MORPH_HEALTH_OK) - (int)!was_ok;
	if (was_ok && health == MORPH_HEALTH_FAILED)
		chip_failed(chip);
	morph_chip_update(fabric, culprit->index);
	morph_protection_touch_chip(fabric, culprit->index);
	morph_report_accelerator_changed(fabric, culprit->index);
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
	slice_recovery(slice)->culprit = *culprit;
	morph_repair_kick(slice, since);
	morph_repair_tell_failing(slice, chip->rank);
}

static void set_marks(struct morph_fabric *fabric, u8 *marks, u32 health)
{
	bool was_ok = !(*marks & OPTICS_UNHEALTHY);

	*marks &= ~(OPTICS_UNHEALTHY | MORPH_MARK_QUARANTINED);
	if (health != MORPH_HEALTH_OK)
		*marks |= OPTICS_UNHEALTHY;
	if (health == MORPH_HEALTH_QUARANTINED)
		*marks |= MORPH_MARK_QUARANTINED;
	ledger_of(fabric)->impaired += (int)(health != MORPH_HEALTH_OK) - (int)!was_ok;
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
	ledger_of(fabric)->impaired += (int)(*dead != 0) - (int)!was_ok;
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
	/* An accelerator that fails while it is tested fails the test, whatever that says. */
	if (health == MORPH_HEALTH_OK ||
	    (health == MORPH_HEALTH_FAILED && culprit->part == MORPH_PART_ACCELERATOR))
		morph_suspect_drop(fabric, culprit->part, index);
	switch (culprit->part) {
	case MORPH_PART_ACCELERATOR:
		set_accelerator(fabric, culprit, health, since_ns);
		break;
	case MORPH_PART_LASER:
		set_lanes(fabric, &ledger_of(fabric)->state->tx_dead[index], culprit->lanes,
			  health);
		if (health != MORPH_HEALTH_OK)
			guide_hit(fabric, fabric->graph->tx_guide[index] >> 1, lanes, culprit,
				  since_ns);
		break;
	case MORPH_PART_RECEIVER:
		set_lanes(fabric, &ledger_of(fabric)->state->rx_dead[index], culprit->lanes,
			  health);
		if (health != MORPH_HEALTH_OK)
			guide_hit(fabric, fabric->graph->rx_guide[index] >> 1, lanes, culprit,
				  since_ns);
		break;
	case MORPH_PART_ELEMENT:
		set_marks(fabric, &ledger_of(fabric)->state->element_marks[index], health);
		if (health != MORPH_HEALTH_OK)
			element_hit(fabric, index, culprit, since_ns);
		break;
	case MORPH_PART_GUIDE:
		set_marks(fabric, &ledger_of(fabric)->state->guide_marks[index], health);
		if (health != MORPH_HEALTH_OK)
			guide_hit(fabric, index, ~0ULL, culprit, since_ns);
		break;
	}
	fabric->seq++;
	if (health == MORPH_HEALTH_OK)
		morph_repair_recover(fabric);
	morph_report_hardware_changed(fabric, culprit->part, index);
	return 0;
}
