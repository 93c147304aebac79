// SPDX-License-Identifier: GPL-2.0-only
/* Slices whose first two ranks a circuit joins. */
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

void fake_kill(struct fake *fake, u32 accelerator)
{
	fake->dead[accelerator] = true;
	fake_set_health(fake, MORPH_PART_ACCELERATOR, accelerator, MORPH_HEALTH_FAILED);
	fake_settle(fake);
}

void fake_expect_ends(struct kunit *test, const struct morph_circuit *circuit, u32 src, u32 dst)
{
	KUNIT_EXPECT_EQ(test, src, circuit->route->path.tx / FAKE_PLANES);
	KUNIT_EXPECT_EQ(test, dst, circuit->route->path.rx / FAKE_PLANES);
}
