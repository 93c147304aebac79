// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices on a fabric that is not simulated: the driver refuses them unless the parameter force of
 * morph_net is set. The sample provider reports such a fabric here.
 */
#include <errno.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "link.h"

#define FORCE "/sys/module/morph_net/parameters/force"

FIXTURE(force)
{
	int fabric;
	int slice;
	struct link_request wanted;
};

FIXTURE_SETUP(force)
{
	struct morph_fabric_info fabric;
	struct morph_slice_info info;

	ASSERT_EQ(0, load_sample("profile=server4 simulated=0"));
	self->fabric = find_fabric("null0", &fabric);
	ASSERT_LE(0, self->fabric);
	ASSERT_EQ(0, fabric.features & MORPH_FABRIC_SIMULATED);
	self->slice = slice_create(self->fabric, 1);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, slice_info(self->slice, &info));
	self->wanted = (struct link_request){
		.fabric = fabric.fabric,
		.slice = info.slice,
		.name = "forced",
		.net = -1,
	};
}

FIXTURE_TEARDOWN(force)
{
	ASSERT_EQ(0, unload_net());
	close(self->slice);
	close(self->fabric);
	/* The slice holds the provider until it has gone dark. */
	ASSERT_TRUE(WAIT_UNTIL(!unload_sample()));
}

TEST_F(force, device_is_refused)
{
	ASSERT_EQ(0, load_net(""));
	EXPECT_EQ(-EOPNOTSUPP, link_create(&self->wanted));
	EXPECT_STREQ("the fabric is not simulated: its own devices carry frames", link_refusal);
}

TEST_F(force, parameter_of_the_module_permits_the_device)
{
	ASSERT_EQ(0, load_net("force=1"));
	EXPECT_EQ(0, link_create(&self->wanted));
}

TEST_F(force, parameter_changes_while_the_module_is_loaded)
{
	ASSERT_EQ(0, load_net(""));
	ASSERT_EQ(0, write_file(FORCE, "1"));
	EXPECT_EQ(0, link_create(&self->wanted));
	EXPECT_EQ(0, link_delete(self->wanted.name));
	ASSERT_EQ(0, write_file(FORCE, "0"));
	EXPECT_EQ(-EOPNOTSUPP, link_create(&self->wanted));
}

TEST_HARNESS_MAIN
