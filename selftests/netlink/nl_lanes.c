// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lanes between servers that controllers reserve: which controller gets them, which tenants may use
 * them, and the fate of the lanes and their light when control changes.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"
#include "reservation.h"

#define SHORT 50000000ULL
#define UUID_A "11111111-1111-4111-8111-111111111111"
#define UUID_B "22222222-2222-4222-8222-222222222222"

/* edge4: edge 0 is at accelerator 1 and leads to edge 4 of the peer. */
#define OUT 0
#define IN 4
#define AT_EDGE 1

/* A fabric with edges, two controllers, and a slice of the first of them. */
FIXTURE(lanes)
{
	struct sim sim;
	struct nl nl;
	unsigned int slice, guide, count;
	uint64_t all;
	int file; /* file of the slice */
};

static int expire(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch)
{
	int error = nl_control(nl, MORPH_CMD_CONTROLLER_RENEW, sim->number, id, epoch, SHORT);

	usleep(2 * SHORT / 1000);
	return error;
}

static uint64_t free_lanes(struct nl *nl, const struct sim *sim, uint32_t guide)
{
	nl_begin(nl, MORPH_CMD_GUIDE_GET, 0);
	nl_put_u32(nl, MORPH_A_GUIDE_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_GUIDE_ID, guide);
	return nl_do(nl) ? UINT64_MAX : REPLY_U64(nl, MORPH_A_GUIDE_LANES_FREE);
}

static uint32_t edge_guide(struct nl *nl, const struct sim *sim, uint32_t edge)
{
	nl_begin(nl, MORPH_CMD_EDGE_GET, 0);
	nl_put_u32(nl, MORPH_A_EDGE_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_EDGE_ID, edge);
	return nl_do(nl) ? UINT32_MAX : REPLY_U32(nl, MORPH_A_EDGE_GUIDE);
}

static int get_controller(struct nl *nl, const struct sim *sim, uint32_t id)
{
	nl_begin(nl, MORPH_CMD_CONTROLLER_GET, 0);
	nl_put_u32(nl, MORPH_A_CONTROLLER_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_CONTROLLER_ID, id);
	return nl_do(nl);
}

FIXTURE_SETUP(lanes)
{
	struct nl *nl = &self->nl;

	sim_start(&self->sim, "edge4", NULL);
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, controller_take(nl, &self->sim, 1, 1));
	ASSERT_EQ(0, controller_take(nl, &self->sim, 2, 1));
	self->slice = controller_slice(nl, &self->sim, 1, AT_EDGE, 0);
	ASSERT_NE(0, self->slice) TH_LOG("%s", nl->text);
	self->file = slice_open(self->slice);
	ASSERT_LE(0, self->file);
	self->guide = edge_guide(nl, &self->sim, OUT);
	self->count = self->sim.info.wavelengths;
	self->all = ~0ULL >> (64 - self->count);
	ASSERT_LT(3, self->count);
}

FIXTURE_TEARDOWN(lanes)
{
	close(self->file);
	slice_delete(self->sim.fd, MORPH_ANY, "job", MORPH_SLICE_FORCE);
	EXPECT_TRUE(WAIT_UNTIL(sim_no_slices(&self->sim)));
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

/* Light half a circuit out of edge 0 on these lanes, on behalf of the controller. */
static int light(struct nl *nl, const struct sim *sim, unsigned int slice, uint64_t epoch,
		 uint64_t lanes)
{
	size_t nest;
	int error;

	nl_apply(nl, sim->number, slice);
	nl_put_token(nl, 1, epoch);
	nest = nl_nest(nl, MORPH_A_TXN_CHANGE);
	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_ADD);
	nl_put_u32(nl, MORPH_A_CHANGE_SRC_RANK, 0);
	nl_put_u32(nl, MORPH_A_CHANGE_DST_EDGE, OUT);
	nl_put_u64(nl, MORPH_A_CHANGE_LANES, lanes);
	nl_nest_end(nl, nest);
	error = nl_do(nl);
	return error ? error : txn_status(nl, sim);
}

/* The tenant requests the same without the controller. */
static int light_by_file(int file, uint64_t lanes)
{
	struct morph_change change = change_add(0, MORPH_RANK_EDGE | OUT);

	change.lanes = lanes;
	return txn_run(file, &change, 1, NULL) ? errno : 0;
}

/* -------------------------------------------------------------- who may use them */

TEST_F(lanes, reserved_lanes_are_their_controllers)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x2)) TH_LOG("%s", nl->text);
	EXPECT_EQ(0x2, REPLY_U64(nl, MORPH_A_RESERVATION_LANES));
	EXPECT_EQ(1, REPLY_U32(nl, MORPH_A_RESERVATION_LANES_COUNT));
	EXPECT_EQ(self->all & ~0x2ULL, free_lanes(nl, &self->sim, self->guide));
	/* The tenant alone may not use them. */
	EXPECT_EQ(EBUSY, light_by_file(self->file, 0x2));
	EXPECT_EQ(0, light(nl, &self->sim, self->slice, 1, 0x2)) TH_LOG("%s", nl->text);
	EXPECT_EQ(0, light_by_file(self->file, 0x4));
}

TEST_F(lanes, reserved_lanes_exclude_other_controllers)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 2, self->guide, 1, 0x2));
	EXPECT_EQ(EBUSY, light(nl, &self->sim, self->slice, 1, 0x2));
	EXPECT_EQ(EBUSY, light_by_file(self->file, 0x2));
	ASSERT_EQ(0, reserve(nl, &self->sim, 2, self->guide, 0, 0));
	EXPECT_EQ(0, REPLY_U64(nl, MORPH_A_RESERVATION_LANES));
	EXPECT_EQ(0, light(nl, &self->sim, self->slice, 1, 0x2)) TH_LOG("%s", nl->text);
}

/* The router avoids them if it may choose. */
TEST_F(lanes, router_goes_round_them)
{
	struct morph_change change = change_add(0, MORPH_RANK_EDGE | OUT);
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 2, self->guide, self->count - 1, ~0x8ULL));
	EXPECT_EQ(0, txn_run(self->file, &change, 1, NULL));
	EXPECT_EQ(0x8, change.lanes);
	EXPECT_EQ(0, free_lanes(nl, &self->sim, self->guide));
	change = change_add(0, MORPH_RANK_EDGE | OUT);
	EXPECT_EQ(-1, txn_run(self->file, &change, 1, NULL));
	EXPECT_EQ(EBUSY, errno);
}

TEST_F(lanes, reservation_outlives_the_light_on_it)
{
	struct nl *nl = &self->nl;
	struct morph_change change;

	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x2));
	ASSERT_EQ(0, light(nl, &self->sim, self->slice, 1, 0x2));
	change = change_remove(1);
	ASSERT_EQ(0, txn_run(self->file, &change, 1, NULL)) TH_LOG("%s", last_detail);
	EXPECT_EQ(0x2, reserved(nl, &self->sim, 1, self->guide));
	EXPECT_EQ(EBUSY, reserve(nl, &self->sim, 2, self->guide, 1, 0x2));
	EXPECT_EQ(0, light(nl, &self->sim, self->slice, 1, 0x2)) TH_LOG("%s", nl->text);
}

TEST_F(lanes, light_outlives_the_reservation_under_it)
{
	long long lasers;
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x2));
	ASSERT_EQ(0, light(nl, &self->sim, self->slice, 1, 0x2));
	lasers = sim_counter(&self->sim, "ops", "set_lasers");
	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 0, 0));
	EXPECT_EQ(EBUSY, reserve(nl, &self->sim, 2, self->guide, 1, 0x2));
	EXPECT_EQ(self->all & ~0x2ULL, free_lanes(nl, &self->sim, self->guide));
	EXPECT_EQ(lasers, sim_counter(&self->sim, "ops", "set_lasers"));
}

/* A tenant that moves a circuit away from reserved lanes keeps it lit meanwhile. */
TEST_F(lanes, circuit_leaves_reserved_lanes_by_file)
{
	struct morph_change change = { .op = MORPH_CHANGE_MOVE, .circuit = 1 };
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x2));
	ASSERT_EQ(0, light(nl, &self->sim, self->slice, 1, 0x2));
	change.src_plane = MORPH_PLANE_ANY;
	change.dst_plane = MORPH_PLANE_ANY;
	change.lanes = 0x4;
	ASSERT_EQ(0, txn_run(self->file, &change, 1, NULL)) TH_LOG("%s", last_detail);
	EXPECT_EQ(0x2, reserved(nl, &self->sim, 1, self->guide));
	EXPECT_EQ(self->all & ~0x6ULL, free_lanes(nl, &self->sim, self->guide));
}

/* ---------------------------------------------------------------- who gets them */

TEST_F(lanes, present_lanes_are_kept)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x4));
	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 2, 0));
	EXPECT_EQ(0x5, REPLY_U64(nl, MORPH_A_RESERVATION_LANES));
	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x6));
	EXPECT_EQ(0x4, REPLY_U64(nl, MORPH_A_RESERVATION_LANES));
	EXPECT_EQ(self->all & ~0x4ULL, free_lanes(nl, &self->sim, self->guide));
	ASSERT_EQ(0, get_controller(nl, &self->sim, 1));
	EXPECT_EQ(1, REPLY_U32(nl, MORPH_A_CONTROLLER_LANES_COUNT));
}

TEST_F(lanes, lanes_that_its_slices_have_lit_come_first)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, light_by_file(self->file, 0x4));
	EXPECT_EQ(EBUSY, reserve(nl, &self->sim, 2, self->guide, 1, 0x4));
	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 2, 0));
	EXPECT_EQ(0x5, REPLY_U64(nl, MORPH_A_RESERVATION_LANES));
}

TEST_F(lanes, conflicts_are_counted)
{
	long long conflicts = core_counter(&self->sim, "stats", "reservation-conflicts");
	long long granted = core_counter(&self->sim, "stats", "reservations");
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, self->count - 1, 0));
	EXPECT_EQ(EBUSY, reserve(nl, &self->sim, 2, self->guide, 2, 0));
	EXPECT_EQ(MORPH_A_RESERVATION_GUIDE, nl->bad_attr);
	EXPECT_EQ(0, reserved(nl, &self->sim, 2, self->guide));
	EXPECT_EQ(0, reserve(nl, &self->sim, 2, self->guide, 1, 0));
	ASSERT_EQ(0, get_controller(nl, &self->sim, 2));
	EXPECT_EQ(1, REPLY_U64(nl, MORPH_A_CONTROLLER_CONFLICTS));
	EXPECT_EQ(1, REPLY_U64(nl, MORPH_A_CONTROLLER_RESERVATIONS));
	ASSERT_EQ(0, get_controller(nl, &self->sim, 1));
	EXPECT_EQ(0, REPLY_U64(nl, MORPH_A_CONTROLLER_CONFLICTS));
	EXPECT_EQ(conflicts + 1, core_counter(&self->sim, "stats", "reservation-conflicts"));
	EXPECT_EQ(granted + 2, core_counter(&self->sim, "stats", "reservations"));
}

static int reserve_most(struct nl *nl, const struct sim *sim, unsigned int which)
{
	return reserve(nl, sim, 10 + which, edge_guide(nl, sim, OUT), sim->info.wavelengths / 2 + 1,
		       0);
}

/* If several controllers request more than half at once, exactly one gets it. */
TEST_F(lanes, one_of_several_gets_them)
{
	struct nl *nl = &self->nl;
	unsigned int i, have = 0;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, controller_take(nl, &self->sim, 10 + i, 1));
	EXPECT_EQ(1, nl_race(&self->sim, 4, reserve_most, EBUSY));
	for (i = 0; i < 4; i++)
		have += !!reserved(nl, &self->sim, 10 + i, self->guide);
	EXPECT_EQ(1, have);
}

/* ------------------------------------------------------------ when control changes */

TEST_F(lanes, expiry_leaves_reservations)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x2));
	ASSERT_EQ(0, light(nl, &self->sim, self->slice, 1, 0x2));
	ASSERT_EQ(0, expire(nl, &self->sim, 1, 1));
	EXPECT_EQ(ETIME, reserve(nl, &self->sim, 1, self->guide, 2, 0));
	EXPECT_EQ(ETIME, reserve(nl, &self->sim, 1, self->guide, 0, 0));
	EXPECT_EQ(0x2, reserved(nl, &self->sim, 1, self->guide));
	EXPECT_EQ(EBUSY, reserve(nl, &self->sim, 2, self->guide, 1, 0x2));
}

/*
 * The backup reads the latest decisions from the kernel, keeps the lanes that it needs, and
 * releases the rest.
 */
static int settle(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch)
{
	nl_begin(nl, MORPH_CMD_CONTROLLER_SETTLE, 0);
	nl_put_u32(nl, MORPH_A_CONTROLLER_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_CONTROLLER_ID, id);
	nl_put_u64(nl, MORPH_A_CONTROLLER_EPOCH, epoch);
	return nl_do(nl);
}

TEST_F(lanes, settling_requires_control)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0));
	EXPECT_EQ(ENOENT, settle(nl, &self->sim, 3, 2));
	EXPECT_EQ(MORPH_A_CONTROLLER_ID, nl->bad_attr);
	EXPECT_EQ(ESTALE, settle(nl, &self->sim, 1, 2));
	EXPECT_EQ(MORPH_A_CONTROLLER_EPOCH, nl->bad_attr);
	EXPECT_EQ(0x1, reserved(nl, &self->sim, 1, self->guide));
}

TEST_F(lanes, backup_settles)
{
	uint32_t other = edge_guide(&self->nl, &self->sim, OUT + 1);
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x2));
	ASSERT_EQ(0, reserve(nl, &self->sim, 1, other, 2, 0));
	ASSERT_EQ(0, light(nl, &self->sim, self->slice, 1, 0x2));
	ASSERT_EQ(0, expire(nl, &self->sim, 1, 1));
	ASSERT_EQ(0, controller_take(nl, &self->sim, 1, 2));
	EXPECT_EQ(0x3, reserved(nl, &self->sim, 1, other));
	EXPECT_EQ(1, REPLY_U64(nl, MORPH_A_RESERVATION_EPOCH));
	EXPECT_EQ(ESTALE, reserve(nl, &self->sim, 1, self->guide, 2, 0));
	ASSERT_EQ(0, reserve_epoch(nl, &self->sim, 1, 2, self->guide, 2, 0));
	EXPECT_EQ(0x3, REPLY_U64(nl, MORPH_A_RESERVATION_LANES));
	EXPECT_EQ(2, REPLY_U64(nl, MORPH_A_RESERVATION_EPOCH));
	ASSERT_EQ(0, settle(nl, &self->sim, 1, 2));
	EXPECT_EQ(2, REPLY_U32(nl, MORPH_A_CONTROLLER_LANES_COUNT));
	EXPECT_EQ(0, reserved(nl, &self->sim, 1, other));
	EXPECT_EQ(0x3, reserved(nl, &self->sim, 1, self->guide));
	EXPECT_EQ(self->all, free_lanes(nl, &self->sim, other));
}

TEST_F(lanes, dropped_controllers_leave_nothing)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 2, self->guide, self->count, 0));
	nl_begin(nl, MORPH_CMD_CONTROLLER_DROP, 0);
	nl_put_u32(nl, MORPH_A_CONTROLLER_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_CONTROLLER_ID, 2);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(self->all, free_lanes(nl, &self->sim, self->guide));
	EXPECT_EQ(0, core_counter(&self->sim, "ledger", "lanes reserved"));
}

/* Reserve both ends of a fibre between two fabrics, each with the token of its own fabric. */
TEST_F(lanes, both_ends_of_an_edge)
{
	struct nl *nl = &self->nl;
	struct sim peer;
	uint32_t guide;

	sim_start(&peer, "edge4", "uuid=" UUID_B " peer=" UUID_A);
	ASSERT_EQ(0, controller_take(nl, &peer, 1, 1));
	ASSERT_EQ(0, controller_take(nl, &peer, 2, 1));
	guide = edge_guide(nl, &peer, IN);
	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x2));
	/* Another controller has the other end, so the first releases its own end again. */
	ASSERT_EQ(0, reserve(nl, &peer, 2, guide, 1, 0x2));
	EXPECT_EQ(EBUSY, reserve(nl, &peer, 1, guide, 1, 0x2));
	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 0, 0));
	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x4));
	EXPECT_EQ(0, reserve(nl, &peer, 1, guide, 1, 0x4));
	EXPECT_EQ(reserved(nl, &peer, 1, guide), reserved(nl, &self->sim, 1, self->guide));
	sim_stop(&peer);
}

/* -------------------------------------------------------------------- bad input */

TEST_F(lanes, invalid_reservations_are_refused)
{
	struct nl *nl = &self->nl;

	EXPECT_EQ(EINVAL, reserve(nl, &self->sim, 1, 0, 1, 0));
	EXPECT_EQ(MORPH_A_RESERVATION_GUIDE, nl->bad_attr);
	EXPECT_NE(NULL, strstr(nl->text, "does not lead to another server"));
	EXPECT_EQ(ENOENT, reserve(nl, &self->sim, 1, self->sim.info.guides, 1, 0));
	EXPECT_EQ(EINVAL, reserve(nl, &self->sim, 1, self->guide, 2, 0x4));
	EXPECT_EQ(MORPH_A_RESERVATION_LANES_COUNT, nl->bad_attr);
	EXPECT_EQ(EINVAL, reserve(nl, &self->sim, 1, self->guide, self->count + 1, 0));
	EXPECT_EQ(ERANGE, reserve(nl, &self->sim, 1, self->guide, 65, 0));
	EXPECT_EQ(ENOENT, reserve(nl, &self->sim, 9, self->guide, 1, 0));
	EXPECT_EQ(MORPH_A_RESERVATION_CONTROLLER, nl->bad_attr);
	EXPECT_EQ(UINT64_MAX, reserved(nl, &self->sim, 9, self->guide));
	EXPECT_EQ(ESTALE, reserve_epoch(nl, &self->sim, 1, 2, self->guide, 1, 0));
	EXPECT_EQ(MORPH_A_RESERVATION_EPOCH, nl->bad_attr);
	EXPECT_EQ(self->all, free_lanes(nl, &self->sim, self->guide));
}

TEST_F(lanes, missing_attributes_of_a_request_are_named)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_RESERVATION_GET, 0);
	nl_put_u32(nl, MORPH_A_RESERVATION_FABRIC, self->sim.number);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_RESERVATION_CONTROLLER, nl->missing);
	reservation_begin(nl, &self->sim, MORPH_CMD_RESERVATION_SET, 1, self->guide);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_RESERVATION_EPOCH, nl->missing);
	nl_begin(nl, MORPH_CMD_CONTROLLER_SETTLE, 0);
	nl_put_u32(nl, MORPH_A_CONTROLLER_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_CONTROLLER_ID, 1);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_CONTROLLER_EPOCH, nl->missing);
}

TEST_F(lanes, cordoned_guides)
{
	struct nl *nl = &self->nl;

	nl_on_part(nl, MORPH_CMD_HARDWARE_SET, self->sim.number, MORPH_PART_GUIDE, self->guide);
	nl_put_u8(nl, MORPH_A_HARDWARE_CORDONED, 1);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(EIO, reserve(nl, &self->sim, 1, self->guide, 1, 0));
	EXPECT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 0, 0));
}

TEST_F(lanes, dump_has_all)
{
	struct nl *nl = &self->nl;
	struct reservations tally = {};
	uint32_t edge;

	for (edge = 0; edge < self->sim.info.edges; edge++)
		ASSERT_EQ(0, reserve(nl, &self->sim, 1 + (edge & 1),
				     edge_guide(nl, &self->sim, edge), 2, 0));
	nl_begin(nl, MORPH_CMD_RESERVATION_GET, 0);
	nl_put_u32(nl, MORPH_A_RESERVATION_FABRIC, self->sim.number);
	ASSERT_EQ(0, nl_dump(nl, reservation_count, &tally));
	EXPECT_EQ(4, tally.first);
	EXPECT_EQ(4, tally.second);
	EXPECT_EQ(16, tally.lanes);
	tally = (struct reservations){};
	nl_begin(nl, MORPH_CMD_RESERVATION_GET, 0);
	nl_put_u32(nl, MORPH_A_RESERVATION_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_RESERVATION_CONTROLLER, 2);
	ASSERT_EQ(0, nl_dump(nl, reservation_count, &tally));
	EXPECT_EQ(0, tally.first);
	EXPECT_EQ(4, tally.second);
}

TEST_HARNESS_MAIN
