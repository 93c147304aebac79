// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's log of failures, replacements and degradations, for operators who read no events.
 *
 * A slow console can take longer for a line than a failover takes. So the lines are kept as events,
 * and a worker prints them soon afterwards without fabric->lock. The rate is limited for each kind
 * of line, so a broken rack does not fill the log.
 */
#include <linux/ratelimit.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"

#define PRINT_DELAY	(HZ / 50)

static const char *pci_text(const char *pci)
{
	return *pci ? pci : "unknown";
}

static void print_line(const struct morph_fabric *fabric, const struct morph_event *line)
{
	const char *old_pci = pci_text(line->old_pci), *new_pci = pci_text(line->new_pci);

	if (line->type == MORPH_EVENT_REPLACED)
		dev_warn(&fabric->dev,
			 "slice %u, rank %u: accelerator %u (PCI %s) replaced by %u (PCI %s)\n",
			 line->slice, line->rank, line->old_accelerator, old_pci,
			 line->new_accelerator, new_pci);
	else if (line->type == MORPH_EVENT_DEGRADED)
		dev_warn(&fabric->dev, "slice %u: degraded to %llu Mb/s by %s %u (PCI %s)\n",
			 line->slice, line->bandwidth_mbps, morph_part_word(line->part),
			 line->index, line->part == MORPH_PART_ACCELERATOR ? old_pci : "none");
	else if (line->outcome == MORPH_OUTCOME_REVOKED)
		dev_warn(&fabric->dev,
			 "slice %u, rank %u: lent spare %u (PCI %s) taken for a failover\n",
			 line->slice, line->rank, line->old_accelerator, old_pci);
	else if (line->slice == MORPH_ANY)
		dev_warn(&fabric->dev, "accelerator %u (PCI %s) failed: in no slice\n",
			 line->old_accelerator, old_pci);
	else
		dev_warn(&fabric->dev, "accelerator %u (PCI %s) failed: slice %u, rank %u\n",
			 line->old_accelerator, old_pci, line->slice, line->rank);
}

/* Take the oldest line that is not printed yet. */
static bool take_line(struct morph_fabric *fabric, struct morph_event *line)
{
	struct morph_log *log = &recovery_of(fabric)->log;
	bool any;

	mutex_lock(&fabric->lock);
	any = log->count;
	if (any) {
		*line = log->lines[log->first];
		log->first = (log->first + 1) % ARRAY_SIZE(log->lines);
		log->count--;
	}
	mutex_unlock(&fabric->lock);
	return any;
}

static void print_work(struct work_struct *work)
{
	struct morph_log *log = container_of(to_delayed_work(work), struct morph_log, work);
	struct morph_fabric *fabric = log->fabric;
	struct morph_event line;

	while (take_line(fabric, &line))
		print_line(fabric, &line);
}

/* Caller holds fabric->lock. */
static void add_line(struct morph_fabric *fabric, const struct morph_event *line)
{
	struct morph_log *log = &recovery_of(fabric)->log;

	/* The worker has ended, or is too slow. */
	if (fabric->state == MORPH_FABRIC_GONE || log->count == ARRAY_SIZE(log->lines)) {
		print_line(fabric, line);
		return;
	}
	log->lines[(log->first + log->count++) % ARRAY_SIZE(log->lines)] = *line;
	queue_delayed_work(morph_wq, &log->work, PRINT_DELAY);
}

void morph_log_init(struct morph_fabric *fabric)
{
	recovery_of(fabric)->log.fabric = fabric;
	INIT_DELAYED_WORK(&recovery_of(fabric)->log.work, print_work);
}

void morph_log_stop(struct morph_fabric *fabric)
{
	flush_delayed_work(&recovery_of(fabric)->log.work);
}

void morph_log_failed(struct morph_fabric *fabric, u32 accelerator, const struct morph_slice *slice,
		      u32 rank)
{
	static DEFINE_RATELIMIT_STATE(rate, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);
	struct morph_event line = {
		.type = MORPH_EVENT_FAILING,
		.slice = slice ? slice->number : MORPH_ANY,
		.rank = rank,
		.old_accelerator = accelerator,
	};

	if (!__ratelimit(&rate))
		return;
	strscpy(line.old_pci, ledger_of(fabric)->chips[accelerator].identity.pci,
		sizeof(line.old_pci));
	add_line(fabric, &line);
}

static void log_degraded(struct morph_slice *slice, const struct morph_event *event)
{
	static DEFINE_RATELIMIT_STATE(rate, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);
	struct morph_fabric *fabric = slice->fabric;
	struct morph_event line;

	if (!__ratelimit(&rate))
		return;
	line = *event;
	if (line.part == MORPH_PART_ACCELERATOR)
		strscpy(line.old_pci, ledger_of(fabric)->chips[line.index].identity.pci,
			sizeof(line.old_pci));
	add_line(fabric, &line);
}

void morph_log_event(struct morph_slice *slice, const struct morph_event *event)
{
	static DEFINE_RATELIMIT_STATE(rate, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);
	bool reclaimed = event->type == MORPH_EVENT_FAILING &&
			 event->outcome == MORPH_OUTCOME_REVOKED;

	if (event->type == MORPH_EVENT_DEGRADED)
		log_degraded(slice, event);
	else if ((event->type == MORPH_EVENT_REPLACED || reclaimed) && __ratelimit(&rate))
		add_line(slice->fabric, event);
}
