// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's log of failures, replacements and degradations, for operators who read no events.
 * The rate is limited, so a broken rack does not fill the log.
 */
#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"

static const char *pci_text(const char *pci)
{
	return *pci ? pci : "unknown";
}

/* Caller holds fabric->lock. */
void morph_log_failed(struct morph_fabric *fabric, u32 accelerator, const struct morph_slice *slice,
		      u32 rank)
{
	const char *pci = pci_text(ledger_of(fabric)->chips[accelerator].identity.pci);

	if (slice)
		dev_warn_ratelimited(&fabric->dev,
				     "accelerator %u (PCI %s) failed: slice %u, rank %u\n",
				     accelerator, pci, slice->number, rank);
	else
		dev_warn_ratelimited(&fabric->dev,
				     "accelerator %u (PCI %s) failed: in no slice\n",
				     accelerator, pci);
}

static void log_replaced(const struct morph_slice *slice, const struct morph_event *event)
{
	dev_warn_ratelimited(&slice->fabric->dev,
			     "slice %u, rank %u: accelerator %u (PCI %s) replaced by %u (PCI %s)\n",
			     slice->number, event->rank, event->old_accelerator,
			     pci_text(event->old_pci), event->new_accelerator,
			     pci_text(event->new_pci));
}

/* A failover has taken the lent spare of a rank. */
static void log_reclaimed(const struct morph_slice *slice, const struct morph_event *event)
{
	dev_warn_ratelimited(&slice->fabric->dev,
			     "slice %u, rank %u: lent spare %u (PCI %s) taken for a failover\n",
			     slice->number, event->rank, event->old_accelerator,
			     pci_text(event->old_pci));
}

static void log_degraded(const struct morph_slice *slice, const struct morph_event *event)
{
	const struct morph_fabric *fabric = slice->fabric;
	const char *pci = "none";

	if (event->part == MORPH_PART_ACCELERATOR)
		pci = pci_text(ledger_of(fabric)->chips[event->index].identity.pci);
	dev_warn_ratelimited(&fabric->dev, "slice %u: degraded to %llu Mb/s by %s %u (PCI %s)\n",
			     slice->number, event->bandwidth_mbps, morph_part_word(event->part),
			     event->index, pci);
}

/* Caller holds fabric->lock. */
void morph_log_event(struct morph_slice *slice, const struct morph_event *event)
{
	switch (event->type) {
	case MORPH_EVENT_REPLACED:
		log_replaced(slice, event);
		break;
	case MORPH_EVENT_FAILING:
		if (event->outcome == MORPH_OUTCOME_REVOKED)
			log_reclaimed(slice, event);
		break;
	case MORPH_EVENT_DEGRADED:
		log_degraded(slice, event);
		break;
	default:
		break;
	}
}
