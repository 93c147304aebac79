// SPDX-License-Identifier: GPL-2.0-only
/* Concurrent tenants: none sees another one, disturbs it or waits for it. */
#include <sys/ioctl.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "runner.h"

FIXTURE(isolation)
{
	struct sim sim;
	int one; /* accelerators 0 and 3, so that light passes 1 and 2 */
	int other; /* accelerators 1 and 2 */
	struct morph_slice_info info;
	struct morph_circuit_info circuits[8];
};

FIXTURE_SETUP(isolation)
{
	static const uint32_t outer[] = { 0, 3 }, inner[] = { 1, 2 };

	sim_start(&self->sim, "server8", NULL);
	self->one = slice_create_at(self->sim.fd, outer, 2);
	self->other = slice_create_at(self->sim.fd, inner, 2);
	ASSERT_LE(0, self->one);
	ASSERT_LE(0, self->other);
}

FIXTURE_TEARDOWN(isolation)
{
	close(self->one);
	close(self->other);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
	EXPECT_TRUE(sim_all_dark(&self->sim));
	sim_stop(&self->sim);
}

#define READ_SLICE(slice) ASSERT_EQ(0, slice_read(slice, &self->info, NULL, 0, self->circuits, 8))

TEST_F(isolation, each_sees_his_own)
{
	struct morph_circuit_path path = { .head = HEAD(morph_circuit_path) };
	struct morph_change remove;
	unsigned int foreign;

	ASSERT_EQ(0, light_ring(self->one, 2));
	READ_SLICE(self->other);
	EXPECT_EQ(0, self->info.circuits.count);
	READ_SLICE(self->one);
	EXPECT_EQ(2, self->info.circuits.count);
	foreign = self->circuits[0].circuit;
	path.circuit = foreign;
	EXPECT_EQ(-1, ioctl(self->other, MORPH_CIRCUIT_PATH, &path));
	EXPECT_EQ(ENOENT, errno);
	remove = change_remove(foreign);
	EXPECT_EQ(-1, txn_run(self->other, &remove, 1, NULL));
	EXPECT_EQ(ENOENT, errno);
	READ_SLICE(self->one);
	EXPECT_EQ(2, self->info.circuits.count);
}

/* Public attributes name no owner. */
TEST_F(isolation, guides_show_lanes_without_owners)
{
	static struct morph_guide_info guides[1000];
	struct morph_fabric_read args = {
		.head = HEAD(morph_fabric_read),
		.entries = ARRAY(guides, 1000),
	};
	unsigned int i, used = 0;

	ASSERT_EQ(0, light_ring(self->one, 2));
	ASSERT_EQ(0, ioctl(self->other, MORPH_FABRIC_READ_GUIDES, &args));
	ASSERT_EQ(self->sim.info.guides, args.entries.count);
	for (i = 0; i < args.entries.count; i++) {
		used += guides[i].lanes_free != guides[i].lanes;
		EXPECT_EQ(0, guides[i].reserved);
	}
	READ_SLICE(self->one);
	EXPECT_EQ(self->circuits[0].hops + self->circuits[1].hops, used);
}

TEST_F(isolation, light_passes_foreign_tiles)
{
	struct morph_circuit_path path;
	struct morph_path_element elements[64];
	static struct morph_element_info all[1000];
	struct morph_fabric_read args = {
		.head = HEAD(morph_fabric_read),
		.entries = ARRAY(all, 1000),
	};
	struct morph_change change = change_add(0, 1);
	unsigned int i, foreign = 0;

	ASSERT_EQ(0, txn_run(self->one, &change, 1, NULL))
	{
		TH_LOG("%s", last_detail);
	}
	READ_SLICE(self->one);
	EXPECT_LE(20000, self->circuits[0].isolation_mdb);
	path = (struct morph_circuit_path){
		.head = HEAD(morph_circuit_path),
		.circuit = change.circuit,
		.elements = ARRAY(elements, 64),
	};
	ASSERT_EQ(0, ioctl(self->one, MORPH_CIRCUIT_PATH, &path));
	ASSERT_EQ(0, ioctl(self->one, MORPH_FABRIC_READ_ELEMENTS, &args));
	for (i = 0; i < path.elements.count; i++) {
		unsigned int tile = all[elements[i].element].tile;

		EXPECT_EQ(elements[i].state, all[elements[i].element].state);
		EXPECT_EQ(1, all[elements[i].element].pins);
		foreign += tile == 1 || tile == 2;
	}
	EXPECT_NE(0, foreign);
	EXPECT_EQ(0, light_ring(self->other, 2));
}

/*
 * With policy own, the first fence takes the upper row. When the second takes the lower row, no
 * path is left.
 */
TEST_F(isolation, own_tiles_only)
{
	static const uint32_t below[] = { 4, 7 }, wall[] = { 5 };
	struct morph_slice_create args = { .transit = MORPH_TRANSIT_OWN };
	struct morph_change change = change_add(0, 1);
	struct morph_circuit_path path;
	uint32_t guides[64];
	int own, fence;

	own = slice_create_with(self->sim.fd, &args, below, 2);
	ASSERT_LE(0, own);
	ASSERT_EQ(0, txn_run(own, &change, 1, NULL))
	{
		TH_LOG("%s", last_detail);
	}
	path = (struct morph_circuit_path){
		.head = HEAD(morph_circuit_path),
		.circuit = change.circuit,
		.guides = ARRAY(guides, 64),
	};
	ASSERT_EQ(0, ioctl(own, MORPH_CIRCUIT_PATH, &path));
	change = change_remove(change.circuit);
	ASSERT_EQ(0, txn_run(own, &change, 1, NULL));

	fence = slice_create_at(self->sim.fd, wall, 1);
	ASSERT_LE(0, fence);
	/* The router finds no path. It names the accelerator that blocks it, but not the tenant. */
	change = change_add(0, 1);
	EXPECT_EQ(-1, txn_run(own, &change, 1, NULL));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(MORPH_REASON_BLOCKED, change.reason);
	EXPECT_EQ(MORPH_PART_ACCELERATOR, change.part);
	EXPECT_TRUE(change.index == 5 || change.index == 0 || change.index == 1 ||
		    change.index == 2 || change.index == 3);
	/* The former path now crosses a tile of another tenant. */
	change = change_add(0, 1);
	change.guides = (struct morph_array)ARRAY(guides, path.guides.count);
	EXPECT_EQ(-1, txn_run(own, &change, 1, NULL));
	EXPECT_EQ(EXDEV, errno);
	EXPECT_EQ(MORPH_REASON_TRANSIT, change.reason);
	close(fence);
	close(own);
}

/* A lane that another tenant uses: the driver refuses it, and reveals nothing about that tenant. */
TEST_F(isolation, other_s_lane_is_not_had)
{
	struct morph_circuit_path path;
	uint32_t guides[64], i;
	struct morph_change change = change_add(0, 1), same = change_add(0, 1);

	ASSERT_EQ(0, txn_run(self->one, &change, 1, NULL));
	path = (struct morph_circuit_path){
		.head = HEAD(morph_circuit_path),
		.circuit = change.circuit,
		.guides = ARRAY(guides, 64),
	};
	ASSERT_EQ(0, ioctl(self->one, MORPH_CIRCUIT_PATH, &path));
	/*
	 * Use the transmitter of another tenant, or a path that does not start at the tenant's own.
	 */
	same.guides = (struct morph_array)ARRAY(guides, path.guides.count);
	EXPECT_EQ(-1, txn_run(self->other, &same, 1, NULL));
	EXPECT_EQ(EINVAL, errno);
	for (i = 0; i < path.guides.count; i++) {
		same.guides = (struct morph_array)ARRAY(guides + i, path.guides.count - i);
		EXPECT_EQ(-1, txn_run(self->other, &same, 1, NULL));
		EXPECT_EQ(EINVAL, errno);
	}
	READ_SLICE(self->one);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[0].state);
}

/* --------------------------------------------------------- no tenant waits */

/* Wait until elements were programmed more often than *times, and store the new count there. */
static bool programmed(const struct sim *sim, long long *times)
{
	bool more = sim_wait_counter(sim, "ops", "set_elements", *times + 1);

	*times = sim_counter(sim, "ops", "set_elements");
	return more;
}

/*
 * Light takes long to settle. While one tenant waits, others must be able to read, to program the
 * elements of a change and to program those of a failover. All of this must end before the first
 * change does, however slow the machine is.
 */
TEST_F(isolation, long_settle_blocks_no_other_slice)
{
	static const uint32_t wanted[] = { 6, 7 };
	struct runner slow, other;
	struct morph_slice_info info;
	struct morph_event event;
	long long writes;
	struct sim sim;
	int third;

	sim_start(&sim, "server8", "settle_ns=3000000000");
	third = slice_create_at(sim.fd, wanted, 2);
	slow.slice = slice_create(sim.fd, 2);
	other.slice = slice_create(sim.fd, 2);
	ASSERT_LE(0, third);
	ASSERT_LE(0, slow.slice);
	ASSERT_LE(0, other.slice);
	ASSERT_EQ(0, light_ring(third, 2));

	writes = sim_counter(&sim, "ops", "set_elements");
	ASSERT_EQ(0, runner_add(&slow, 0, 1));
	ASSERT_TRUE(programmed(&sim, &writes));
	ASSERT_EQ(0, slice_info(other.slice, &info));
	ASSERT_EQ(0, runner_add(&other, 0, 1));
	ASSERT_TRUE(programmed(&sim, &writes));
	EXPECT_FALSE(atomic_load(&slow.done));
	ASSERT_EQ(0, sim_control(&sim, "fault", "accelerator_dead 7"));
	EXPECT_EQ(0, wait_event(third, MORPH_EVENT_FAILING, PATIENCE_MS, &event));
	EXPECT_TRUE(programmed(&sim, &writes));
	EXPECT_FALSE(atomic_load(&slow.done));

	EXPECT_EQ(0, runner_join(&slow));
	EXPECT_EQ(0, runner_join(&other));
	EXPECT_EQ(0, wait_event(third, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	close(third);
	close(slow.slice);
	close(other.slice);
	sim_stop(&sim);
}

TEST_HARNESS_MAIN
