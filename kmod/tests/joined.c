// SPDX-License-Identifier: GPL-2.0-only
/* Slices whose first two ranks a circuit joins. */
#include <linux/jhash.h>

#include "fake.h"
#include "joined.h"

struct morph_slice *fake_joined_like(struct fake *fake, const struct morph_slice_params *params)
{
	struct morph_slice *slice = fake_slice_like(fake, params);

	fake_light(fake, slice, 0, 1, MORPH_PLANE_ANY);
	fake_settle(fake);
	fake_has_event(fake, fake->slices - 1, 0);
	fake_clear(fake);
	return slice;
}

struct morph_slice *fake_joined_on_host(struct fake *fake, u32 host, u32 failover,
					u32 spare_policy)
{
	const u32 accelerators[] = { 3 * host, 3 * host + 1 };
	const struct morph_slice_params params = {
		.accelerators = accelerators,
		.count = ARRAY_SIZE(accelerators),
		.failover = failover,
		.spare_policy = spare_policy,
		.user = fake->user,
	};

	return fake_joined_like(fake, &params);
}

struct morph_slice *fake_joined(struct fake *fake, u32 failover, u32 spare_policy)
{
	return fake_joined_on_host(fake, 0, failover, spare_policy);
}

struct morph_circuit *fake_only_circuit(struct morph_slice *slice)
{
	unsigned long index = 0;

	return xa_find(&slice->circuits, &index, ULONG_MAX, XA_PRESENT);
}

u32 fake_hash_claims(struct fake *fake)
{
	const struct optics_graph *graph = fake->fabric->graph;
	const struct optics_state *state = ledger_of(fake->fabric)->state;
	u32 hash;

	hash = jhash(state->guide_lanes, array_size(graph->guides_count, sizeof(u64)), 0);
	hash = jhash(state->element_pins, array_size(graph->elements_count, sizeof(u32)), hash);
	hash = jhash(state->element_state, graph->elements_count, hash);
	hash = jhash(state->owner, array_size(graph->accelerators_count, sizeof(u32)), hash);
	return jhash(state->tx_lanes, array_size(graph->ports_count, sizeof(u64)), hash);
}

struct morph_slice *fake_pair(struct fake *fake, u32 first, u32 second, bool lend)
{
	const u32 accelerators[] = { first, second };
	const struct morph_slice_params params = {
		.accelerators = accelerators,
		.count = ARRAY_SIZE(accelerators),
		.failover = MORPH_FAILOVER_AUTOMATIC,
		.spare_policy = MORPH_SPARES_ANY,
		.lend = lend,
		.user = fake->user,
	};
	struct morph_slice *slice = fake_slice_like(fake, &params);

	fake_light(fake, slice, 0, 1, MORPH_PLANE_ANY);
	fake_settle(fake);
	return slice;
}

struct fake_loan fake_lend(struct fake *fake, u32 spare)
{
	struct fake_loan loan = {
		.owner = fake_pair(fake, 0, 1, false),
		.borrower = fake_pair(fake, 3, spare, true),
	};

	fake_has_event(fake, 0, 0);
	fake_has_event(fake, 1, 0);
	fake_clear(fake);
	return loan;
}

void fake_fail(struct fake *fake, u32 accelerator)
{
	fake->dead[accelerator] = true;
	fake_set_health(fake, MORPH_PART_ACCELERATOR, accelerator, MORPH_HEALTH_FAILED);
}

void fake_kill(struct fake *fake, u32 accelerator)
{
	fake_fail(fake, accelerator);
	fake_settle(fake);
}

void fake_return(struct fake *fake, u32 accelerator)
{
	fake->dead[accelerator] = false;
	fake_set_health(fake, MORPH_PART_ACCELERATOR, accelerator, MORPH_HEALTH_OK);
	mutex_lock(&fake->fabric->lock);
	ledger_of(fake->fabric)->chips[accelerator].hold_until_ns = 0;
	morph_chip_update(fake->fabric, accelerator);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
}

void fake_expect_one_holder(struct fake *fake)
{
	const struct morph_chip *chip;
	struct morph_slice *slice;
	u32 held = 0, i;

	list_for_each_entry(slice, &ledger_of(fake->fabric)->slices, node) {
		for (i = 0; i < slice->ranks_count; i++) {
			chip = &ledger_of(fake->fabric)->chips[slice->ranks[i].accelerator];
			KUNIT_EXPECT_EQ(fake->test, (u8)MORPH_USE_HELD, chip->use);
			KUNIT_EXPECT_PTR_EQ(fake->test, slice, chip->slice);
			KUNIT_EXPECT_EQ(fake->test, i, chip->rank);
		}
		held += slice->ranks_count;
	}
	KUNIT_EXPECT_EQ(fake->test, held, ledger_of(fake->fabric)->held);
}

void fake_expect_ends(struct kunit *test, const struct morph_circuit *circuit, u32 src, u32 dst)
{
	KUNIT_EXPECT_EQ(test, src, circuit->route->path.tx / FAKE_PLANES);
	KUNIT_EXPECT_EQ(test, dst, circuit->route->path.rx / FAKE_PLANES);
}
