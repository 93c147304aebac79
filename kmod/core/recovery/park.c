// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parking of elements that nothing holds any more. Some code releases elements and cannot wait for
 * the device. In the ledger these elements count as parked; a worker parks them in hardware.
 */
#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"

bool morph_left_behind(struct morph_fabric *fabric, u32 element)
{
	return !ledger_of(fabric)->state->element_pins[element] &&
	       !(ledger_of(fabric)->state->element_marks[element] & ~OPTICS_CORDONED) &&
	       morph_hw_state(fabric, element) != optics_park_state(fabric->graph, element);
}

void morph_park_elements(struct morph_fabric *fabric, const u32 *elements, u32 count)
{
	struct morph_element_setting settings[MORPH_PARKS_AT_ONCE];
	u8 *marks = ledger_of(fabric)->state->element_marks;
	u32 n = 0, i;

	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++) {
		if (!morph_left_behind(fabric, elements[i]))
			continue;
		marks[elements[i]] |= MORPH_MARK_CHANGING;
		settings[n++] = (struct morph_element_setting){
			.element = elements[i],
			.state = optics_park_state(fabric->graph, elements[i]),
		};
	}
	mutex_unlock(&fabric->lock);
	if (!n)
		return;
	morph_hw_program(fabric, NULL, settings, n);
	mutex_lock(&fabric->lock);
	for (i = 0; i < n; i++)
		marks[settings[i].element] &= ~MORPH_MARK_CHANGING;
	morph_repair_recover(fabric, MORPH_FREED_PATHS);
	mutex_unlock(&fabric->lock);
}

void morph_park_later(struct morph_fabric *fabric, u32 element)
{
	struct morph_recovery *recovery = recovery_of(fabric);

	lockdep_assert_held(&fabric->lock);
	if (fabric->state != MORPH_FABRIC_READY || !morph_left_behind(fabric, element))
		return;
	__set_bit(element, recovery->unparked);
	queue_work(morph_wq, &recovery->park_work);
}

/* Take the next elements from the map. Caller holds fabric->lock. */
static u32 take_unparked(struct morph_fabric *fabric, u32 *elements)
{
	u32 total = fabric->graph->elements_count, count = 0, element;
	struct morph_recovery *recovery = recovery_of(fabric);

	while (count < MORPH_PARKS_AT_ONCE) {
		element = find_next_bit(recovery->unparked, total, recovery->unparked_next);
		if (element >= total && recovery->unparked_next) {
			recovery->unparked_next = 0;
			continue;
		}
		if (element >= total)
			break;
		__clear_bit(element, recovery->unparked);
		recovery->unparked_next = element + 1;
		elements[count++] = element;
	}
	return count;
}

void morph_park_work(struct work_struct *work)
{
	struct morph_recovery *recovery = container_of(work, struct morph_recovery, park_work);
	struct morph_fabric *fabric = &recovery->slices.txns.ledger.hardware.fabric;
	u32 elements[MORPH_PARKS_AT_ONCE], count;

	do {
		mutex_lock(&fabric->lock);
		count = fabric->state == MORPH_FABRIC_READY ? take_unparked(fabric, elements) : 0;
		mutex_unlock(&fabric->lock);
		morph_park_elements(fabric, elements, count);
		cond_resched();
	} while (count);
}
