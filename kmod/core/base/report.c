// SPDX-License-Identifier: GPL-2.0-only
/* Reports of the lower layers to the components of higher layers that have subscribed. */
#include <linux/bug.h>

#include "core/base/base.h"

#define SUBSCRIBERS_MAX	8u

/*
 * Entry 0 has the first subscriber to each operation, entry 1 the second one, and so on; then NULL.
 * So a report visits only subscribers that implement its operation. Constant after the module has
 * loaded.
 */
static struct morph_subscriber subscribers[SUBSCRIBERS_MAX + 1];

typedef void (*operation_fn)(void);

#define OPERATIONS	(sizeof(struct morph_subscriber) / sizeof(operation_fn))

void morph_subscribe(const struct morph_subscriber *subscriber)
{
	const operation_fn *from = (const void *)subscriber;
	u32 operation, at;

	for (operation = 0; operation < OPERATIONS; operation++) {
		if (!from[operation])
			continue;
		for (at = 0; ((operation_fn *)&subscribers[at])[operation]; at++)
			;
		if (!WARN_ON_ONCE(at == SUBSCRIBERS_MAX))
			((operation_fn *)&subscribers[at])[operation] = from[operation];
	}
}

void morph_report_finding(struct morph_fabric *fabric, const struct morph_culprit *culprit,
			  u32 health)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->found; at++)
		at->found(fabric, culprit, health, false);
}

void morph_report_suspect(struct morph_fabric *fabric, const struct morph_culprit *culprit,
			  u32 health)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->found; at++)
		at->found(fabric, culprit, health, true);
}

void morph_report_doubt(struct morph_fabric *fabric)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->doubted; at++)
		at->doubted(fabric);
}

void morph_report_dark(struct morph_fabric *fabric, const struct optics_path *path,
		       u32 src_accelerator, struct morph_culprit *culprit)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->diagnose; at++)
		at->diagnose(fabric, path, src_accelerator, culprit);
}

void morph_report_answer(struct morph_fabric *fabric, u32 accelerator)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->answered; at++)
		at->answered(fabric, accelerator);
}

void morph_report_light(struct morph_txn *txn)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->light; at++)
		at->light(txn);
}

void morph_report_published(struct morph_txn *txn)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->published; at++)
		at->published(txn);
}

void morph_report_paths_freed(struct morph_txn *txn)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->paths_freed; at++)
		at->paths_freed(txn);
}

void morph_report_freed(struct morph_fabric *fabric, u32 freed)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->freed; at++)
		at->freed(fabric, freed);
}

void morph_report_light_lost(struct morph_slice *slice)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->light_lost; at++)
		at->light_lost(slice);
}

void morph_report_broken(struct morph_txn *txn)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->broken; at++)
		at->broken(txn);
}

void morph_report_txn_changed(struct morph_txn *txn)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->txn_changed; at++)
		at->txn_changed(txn);
}

void morph_report_txn_ended(struct morph_txn *txn)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->txn_ended; at++)
		at->txn_ended(txn);
}

void morph_report_reverted(struct morph_slice *slice)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->reverted; at++)
		at->reverted(slice);
}

void morph_report_event(struct morph_slice *slice, const struct morph_event *event)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->event; at++)
		at->event(slice, event);
}

void morph_report_slice_changed(struct morph_slice *slice)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->slice_changed; at++)
		at->slice_changed(slice);
}

void morph_report_accelerator_changed(struct morph_fabric *fabric, u32 accelerator)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->accelerator_changed; at++)
		at->accelerator_changed(fabric, accelerator);
}

void morph_report_hardware_changed(struct morph_fabric *fabric, u32 part, u32 index)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->hardware_changed; at++)
		at->hardware_changed(fabric, part, index);
}

void morph_report_controller_changed(struct morph_fabric *fabric,
				     const struct morph_controller *controller, u32 state)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->controller_changed; at++)
		at->controller_changed(fabric, controller, state);
}

void morph_report_schedule_changed(const struct morph_schedule *schedule)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->schedule_changed; at++)
		at->schedule_changed(schedule);
}

void morph_report_darkened(struct morph_circuit *circuit)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->darkened; at++)
		at->darkened(circuit);
}

void morph_report_light_reviewed(struct morph_slice *slice)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->light_reviewed; at++)
		at->light_reviewed(slice);
}

void morph_report_repaired(struct morph_slice *slice)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->repaired; at++)
		at->repaired(slice);
}

void morph_report_searched(struct morph_slice *slice)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->searched; at++)
		at->searched(slice);
}

void morph_report_retried(struct morph_slice *slice)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->retried; at++)
		at->retried(slice);
}

void morph_report_slice_dying(struct morph_slice *slice)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->slice_dying; at++)
		at->slice_dying(slice);
}

void morph_report_slice_stopping(struct morph_slice *slice)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->slice_stopping; at++)
		at->slice_stopping(slice);
}

void morph_report_slice_darkening(struct morph_slice *slice)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->slice_darkening; at++)
		at->slice_darkening(slice);
}

void morph_report_slice_gone(struct morph_slice *slice)
{
	const struct morph_subscriber *at;

	for (at = subscribers; at->slice_gone; at++)
		at->slice_gone(slice);
}
