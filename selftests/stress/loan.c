// SPDX-License-Identifier: GPL-2.0-only
/*
 * A borrower: a tenant that lends all idle spares to a slice of its own. Its second slice, the
 * owner, fails over to one of them. Releases of both race with the failures, in each of five ways.
 *
 * Other tenants, accidents and a SIGKILL at any moment interrupt each race, so every call may fail.
 * The accounts at the end of the scene decide: balance.c.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../netlink/nl.h"
#include "stress.h"

#define MOST_CHIPS 128u
#define MOST_SPARES 4u
#define FAILOVER_MS 200

struct loan {
	const struct sim *sim;
	uint64_t seed;
	struct nl nl;
	struct loan_counts *counts;
	int fabric;
	uint32_t owners[2], borrowed[1 + MOST_SPARES]; /* accelerators; the last ones are spares */
	unsigned int spares;
	int owner, borrower; /* slices */
};

static bool fits(const struct morph_accelerator_info *chip, unsigned int use)
{
	return chip->use == use && chip->health == MORPH_HEALTH_OK && !chip->cordoned;
}

/* Choose three free accelerators and all idle spares. Return false if there are not enough. */
static bool choose(struct loan *loan)
{
	static struct morph_accelerator_info chips[MOST_CHIPS];
	struct morph_array room = ARRAY(chips, MOST_CHIPS);
	int count = fabric_read(loan->fabric, MORPH_FABRIC_READ_ACCELERATORS, 0, room), i;
	unsigned int free = 0, at, first;

	loan->spares = 0;
	if (count <= 0)
		return false;
	first = pick(&loan->seed, count);
	for (i = 0; i < count; i++) {
		at = (first + i) % count;
		if (fits(&chips[at], MORPH_USE_SPARE) && loan->spares < MOST_SPARES)
			loan->borrowed[1 + loan->spares++] = at;
		if (!fits(&chips[at], MORPH_USE_FREE) || free == 3)
			continue;
		*(free < 2 ? &loan->owners[free] : &loan->borrowed[0]) = at;
		free++;
	}
	return free == 3 && loan->spares;
}

/* Make both slices, with circuits from and to each lent spare. */
static bool begin(struct loan *loan)
{
	struct morph_slice_create owner = { .spare_policy = MORPH_SPARES_ANY };
	struct morph_slice_create borrower = { .head.flags = MORPH_SLICE_LEND };
	struct morph_change changes[2 * MOST_SPARES];
	unsigned int i;

	loan->owner = slice_create_with(loan->fabric, &owner, loan->owners, 2);
	loan->borrower =
		slice_create_with(loan->fabric, &borrower, loan->borrowed, 1 + loan->spares);
	if (loan->owner < 0 || loan->borrower < 0)
		return false;
	loan->counts->made++;
	for (i = 0; i < loan->spares; i++) {
		changes[2 * i] = change_add(0, i + 1);
		changes[2 * i + 1] = change_add(i + 1, 0);
	}
	txn_run(loan->borrower, changes, 2 * loan->spares,
		&(struct morph_txn_run){ .head.flags = MORPH_TXN_EACH,
					 .generation = GENERATION_ANY });
	return !light_ring(loan->owner, 2);
}

static void end(int *slice)
{
	if (*slice >= 0)
		close(*slice);
	*slice = -1;
}

static void ask_about(struct loan *loan, uint8_t command, uint32_t accelerator)
{
	nl_begin(&loan->nl, command, 0);
	nl_put_u32(&loan->nl, MORPH_A_HARDWARE_FABRIC, loan->sim->number);
	nl_put_u32(&loan->nl, MORPH_A_HARDWARE_PART, MORPH_PART_ACCELERATOR);
	nl_put_u32(&loan->nl, MORPH_A_HARDWARE_INDEX, accelerator);
	nl_do(&loan->nl);
}

/* The operator's request, because faults of the simulator end all at once. */
static void fail(struct loan *loan, uint32_t accelerator)
{
	ask_about(loan, MORPH_CMD_HARDWARE_FAIL, accelerator);
}

/* Let a failover take a spare back, without a race. */
static void take_back(struct loan *loan)
{
	fail(loan, loan->owners[0]);
	if (!wait_event(loan->owner, MORPH_EVENT_REPLACED, FAILOVER_MS, NULL) &&
	    !wait_event(loan->borrower, MORPH_EVENT_DEGRADED, FAILOVER_MS, NULL))
		loan->counts->taken++;
}

static void race(struct loan *loan)
{
	unsigned int kind = pick(&loan->seed, 5), delay = pick(&loan->seed, 3000);

	if (kind == 0)
		take_back(loan);
	if (kind == 1 || kind == 3)
		fail(loan, loan->borrowed[1]);
	if (kind >= 2)
		fail(loan, loan->owners[0]);
	usleep(delay);
	if (kind == 4)
		end(&loan->owner);
	end(&loan->borrower);
	usleep(pick(&loan->seed, 2000));
	end(&loan->owner);
}

/* Test the failed accelerators, so that the next race has hardware. */
static void mend(struct loan *loan)
{
	ask_about(loan, MORPH_CMD_HARDWARE_TEST, loan->owners[0]);
	ask_about(loan, MORPH_CMD_HARDWARE_TEST, loan->borrowed[1]);
}

void borrower(const struct sim *sim, uint64_t seed, struct loan_counts *counts)
{
	struct loan *loan = calloc(1, sizeof(*loan));
	struct pollfd gone;

	if (!loan || nl_open(&loan->nl))
		_exit(1);
	loan->sim = sim;
	loan->seed = seed;
	loan->counts = counts;
	loan->owner = loan->borrower = -1;
	loan->fabric = open_fabric(sim->number);
	gone.fd = loan->fabric;
	while (loan->fabric >= 0 && !poll(&gone, 1, 0)) {
		if (choose(loan)) {
			if (begin(loan))
				race(loan);
			end(&loan->borrower);
			end(&loan->owner);
			mend(loan);
		}
		usleep(5000);
	}
	_exit(0);
}
