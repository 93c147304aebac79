// SPDX-License-Identifier: GPL-2.0-only
/* Reports of the lower layers to those above that have subscribed to them. */
#include <linux/bug.h>

#include "core/base/base.h"

#define SUBSCRIBERS_MAX	8u

/* Constant once the module has started. */
static const struct morph_subscriber *subscribers[SUBSCRIBERS_MAX];
static u32 subscribers_count;

void morph_subscribe(const struct morph_subscriber *subscriber)
{
	if (!WARN_ON_ONCE(subscribers_count == SUBSCRIBERS_MAX))
		subscribers[subscribers_count++] = subscriber;
}

/* Call an operation of all subscribers that have it. */
#define report(operation, ...)							\
	do {									\
		u32 at;								\
										\
		for (at = 0; at < subscribers_count; at++)			\
			if (subscribers[at]->operation)				\
				subscribers[at]->operation(__VA_ARGS__);	\
	} while (0)

void morph_report_finding(struct morph_fabric *fabric, const struct morph_culprit *culprit,
			  u32 health)
{
	report(found, fabric, culprit, health, false);
}

void morph_report_suspect(struct morph_fabric *fabric, const struct morph_culprit *culprit,
			  u32 health)
{
	report(found, fabric, culprit, health, true);
}

void morph_report_doubt(struct morph_fabric *fabric)
{
	report(doubted, fabric);
}

void morph_report_dark(struct morph_fabric *fabric, const struct optics_path *path,
		       u32 src_accelerator, struct morph_culprit *culprit)
{
	report(diagnose, fabric, path, src_accelerator, culprit);
}

void morph_report_answer(struct morph_fabric *fabric, u32 accelerator)
{
	report(answered, fabric, accelerator);
}

void morph_report_seen(struct morph_fabric *fabric, u32 rx)
{
	report(seen, fabric, rx);
}

void morph_report_light_begin(struct morph_slice *slice)
{
	report(light_begin, slice);
}

void morph_report_light(struct morph_circuit *circuit)
{
	report(light, circuit);
}

void morph_report_light_end(struct morph_slice *slice)
{
	report(light_end, slice);
}

void morph_report_moved(struct morph_circuit *circuit)
{
	report(moved, circuit);
}

void morph_report_lit(struct morph_txn *txn, struct morph_circuit *circuit, bool had_path)
{
	report(lit, txn, circuit, had_path);
}

void morph_report_published(struct morph_txn *txn)
{
	report(published, txn);
}

void morph_report_path_freed(struct morph_fabric *fabric, const struct morph_route *route)
{
	report(path_freed, fabric, route);
}

void morph_report_freed(struct morph_fabric *fabric)
{
	report(freed, fabric);
}

void morph_report_hurt(struct morph_slice *slice)
{
	report(hurt, slice);
}

void morph_report_broken(struct morph_txn *txn)
{
	report(broken, txn);
}

void morph_report_txn_changed(struct morph_txn *txn)
{
	report(txn_changed, txn);
}

void morph_report_txn_ended(struct morph_txn *txn)
{
	report(txn_ended, txn);
}

void morph_report_reverted(struct morph_slice *slice)
{
	report(reverted, slice);
}

void morph_report_event(struct morph_slice *slice, const struct morph_event *event)
{
	report(event, slice, event);
}

void morph_report_slice_changed(struct morph_slice *slice)
{
	report(slice_changed, slice);
}

void morph_report_accelerator_changed(struct morph_fabric *fabric, u32 accelerator)
{
	report(accelerator_changed, fabric, accelerator);
}

void morph_report_hardware_changed(struct morph_fabric *fabric, u32 part, u32 index)
{
	report(hardware_changed, fabric, part, index);
}

void morph_report_controller_changed(struct morph_fabric *fabric,
				     const struct morph_controller *controller, u32 state)
{
	report(controller_changed, fabric, controller, state);
}

void morph_report_schedule_changed(const struct morph_schedule *schedule)
{
	report(schedule_changed, schedule);
}

void morph_report_darkened(struct morph_circuit *circuit)
{
	report(darkened, circuit);
}

void morph_report_light_reviewed(struct morph_slice *slice)
{
	report(light_reviewed, slice);
}

void morph_report_repaired(struct morph_slice *slice)
{
	report(repaired, slice);
}

void morph_report_retried(struct morph_slice *slice)
{
	report(retried, slice);
}

void morph_report_slice_dying(struct morph_slice *slice)
{
	report(slice_dying, slice);
}

void morph_report_slice_stopping(struct morph_slice *slice)
{
	report(slice_stopping, slice);
}

void morph_report_slice_darkening(struct morph_slice *slice)
{
	report(slice_darkening, slice);
}

void morph_report_slice_gone(struct morph_slice *slice)
{
	report(slice_gone, slice);
}
