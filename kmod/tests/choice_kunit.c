// SPDX-License-Identifier: GPL-2.0-only
/* Choices of a repair after a path was refused: the next spare, or another plane. */
#include "fake.h"
#include "suites.h"

/* Two ranks on accelerators 0 and 1, with a circuit. The spares are 2, and 5 on the other host. */
static struct morph_slice *pair_of_ranks(struct fake *fake)
{
	static const u32 accelerators[] = { 0, 1 };
	const struct morph_slice_params params = {
		.accelerators = accelerators,
		.count = ARRAY_SIZE(accelerators),
		.failover = MORPH_FAILOVER_AUTOMATIC,
		.spare_policy = MORPH_SPARES_ANY,
		.user = fake->user,
	};
	struct morph_slice *slice = fake_slice_like(fake, &params);

	fake_light(fake, slice, 0, 1, 0);
	fake_settle(fake);
	return slice;
}

/* Keep new paths off the guides between two accelerators. */
static void cordon_guides(struct fake *fake, u32 from, u32 to)
{
	u32 of_port = fake->accelerators + 1, plane, guide;
	struct morph_refusal refusal = {};

	for (plane = 0; plane < FAKE_PLANES; plane++) {
		/* fill_port(): two guides of the port, then one for each other accelerator. */
		guide = (from * FAKE_PLANES + plane) * of_port + 2 + to - (to > from);
		KUNIT_EXPECT_EQ(fake->test, 0,
				morph_health_cordon(fake->fabric, MORPH_PART_GUIDE, guide, true,
						    &refusal));
	}
}

/*
 * The nearest spare has no path to the other rank, whose requested replacement is impossible. The
 * failover takes the next spare.
 */
static void choice_of_spare_ignores_ranks_without_one(struct kunit *test)
{
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	struct fake *fake = test->priv;
	struct morph_slice *slice = pair_of_ranks(fake);

	cordon_guides(fake, 2, 1);
	fake_settle(fake);
	fake->dead[0] = true;
	mutex_lock(&fake->fabric->lock);
	morph_health_set(fake->fabric, &culprit, MORPH_HEALTH_FAILED, 0);
	slice->ranks[1].failed = true;		/* as morph_repair_replace() does */
	rank_recovery(slice, 1)->forced = true;
	rank_recovery(slice, 1)->wanted_spare = 0;	/* not possible: it has failed */
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 5u, slice->ranks[0].accelerator);
	KUNIT_EXPECT_EQ(test, 1u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	fake_expect_light(fake);
}

/*
 * The laser of a circuit of a schedule is off, and the path on its planes loses too much power now.
 * The repair lights the circuit on other planes.
 */
static void choice_of_plane_forgets_the_refused_path(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = pair_of_ranks(fake);
	struct optics_guide *guides = (struct optics_guide *)fake->fabric->graph->guides;
	const struct optics_path *path;
	struct morph_circuit *circuit;
	unsigned long index = 0;

	circuit = xa_find(&slice->circuits, &index, ULONG_MAX, XA_PRESENT);
	path = &circuit->route->path;
	mutex_lock(&fake->fabric->lock);
	guides[path->hops[1].guide >> 1].loss_mdb = U16_MAX;
	hardware_of(fake->fabric)->tx_on[path->tx] = 0;
	fake->laser[path->tx] = 0;
	circuit->scheduled = true;
	circuit->dark = true;
	morph_repair_kick(slice, 0);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, 1u, circuit->route->path.tx % FAKE_PLANES);
	KUNIT_EXPECT_EQ(test, 1u, circuit->route->path.rx % FAKE_PLANES);
	fake_expect_light(fake);
}

static struct kunit_case choice_cases[] = {
	KUNIT_CASE(choice_of_spare_ignores_ranks_without_one),
	KUNIT_CASE(choice_of_plane_forgets_the_refused_path),
	{}
};

struct kunit_suite morph_choice_suite = {
	.name = "morph_choice",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = choice_cases,
};
