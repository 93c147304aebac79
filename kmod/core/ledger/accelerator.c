// SPDX-License-Identifier: GPL-2.0-only
/* Allocation of accelerators to slices. Callers hold fabric->lock. */
#include "core/base/base.h"
#include "core/ledger/ledger.h"

bool morph_chip_fit(struct morph_fabric *fabric, u32 accelerator)
{
	const struct morph_chip *chip = &ledger_of(fabric)->chips[accelerator];

	if (chip->health != MORPH_HEALTH_OK || chip->cordoned || chip->testing)
		return false;
	/* Nearly always 0: do not read the clock. */
	return !chip->hold_until_ns || chip->hold_until_ns <= ktime_get_boottime_ns();
}

static struct list_head *host_list(struct morph_host *host, u8 listed)
{
	switch (listed) {
	case MORPH_LISTED_FREE:
		return &host->free;
	case MORPH_LISTED_SPARE:
		return &host->spares;
	}
	return &host->lent;
}

static void host_count(struct morph_fabric *fabric, struct morph_host *host, u8 listed, int step)
{
	if (listed == MORPH_LISTED_FREE) {
		host->free_count += step;
		ledger_of(fabric)->free += step;
		list_move(&host->bucket, &ledger_of(fabric)->hosts_by_free[host->free_count]);
	} else if (listed == MORPH_LISTED_SPARE) {
		host->spare_count += step;
		ledger_of(fabric)->spares += step;
	} else {
		ledger_of(fabric)->lent += step;
	}
}

static u8 list_of(struct morph_fabric *fabric, u32 accelerator)
{
	const struct morph_chip *chip = &ledger_of(fabric)->chips[accelerator];

	if (!morph_chip_fit(fabric, accelerator))
		return MORPH_LISTED_NOT;
	if (chip->use == MORPH_USE_FREE)
		return MORPH_LISTED_FREE;
	if (chip->use == MORPH_USE_SPARE)
		return MORPH_LISTED_SPARE;
	return chip->lent && morph_chip_use(chip) == MORPH_USE_HELD ? MORPH_LISTED_LENT :
								      MORPH_LISTED_NOT;
}

void morph_chip_update(struct morph_fabric *fabric, u32 accelerator)
{
	struct morph_chip *chip = &ledger_of(fabric)->chips[accelerator];
	struct morph_host *host =
		&ledger_of(fabric)->hosts[fabric->graph->accelerators[accelerator].host];
	u8 listed = list_of(fabric, accelerator);

	lockdep_assert_held(&fabric->lock);
	if (listed == chip->listed)
		return;
	if (chip->listed) {
		list_del_init(&chip->host_node);
		host_count(fabric, host, chip->listed, -1);
	}
	if (listed) {
		list_add_tail(&chip->host_node, host_list(host, listed));
		host_count(fabric, host, listed, 1);
	}
	chip->listed = listed;
}

void morph_chip_hold(struct morph_slice *slice, u32 accelerator, u32 rank)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_chip *chip = &ledger_of(fabric)->chips[accelerator];

	chip->slice = slice;
	chip->rank = rank;
	chip->use = MORPH_USE_HELD;
	ledger_of(fabric)->held++;
	ledger_of(fabric)->state->owner[accelerator] = slice->number;
	/* The owner decides whether light may cross the tile: earlier decisions may be stale. */
	ledger_of(fabric)->light_seq++;
	morph_chip_update(fabric, accelerator);
}

/* Remove an accelerator from its slice: it becomes free or a spare again. */
void morph_chip_let_go(struct morph_fabric *fabric, u32 accelerator)
{
	struct morph_chip *chip = &ledger_of(fabric)->chips[accelerator];

	chip->slice = NULL;
	chip->lent = false;
	chip->use = chip->spare ? MORPH_USE_SPARE : MORPH_USE_FREE;
	ledger_of(fabric)->held--;
	ledger_of(fabric)->state->owner[accelerator] = 0;
	ledger_of(fabric)->light_seq++;
	morph_chip_update(fabric, accelerator);
}
