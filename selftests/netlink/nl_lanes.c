// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lanes between servers that controllers reserve: who gets them, who may use them, and what
 * becomes of them and of the light on them when control changes hands.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define LONG 600000000000ULL
#define SHORT 50000000ULL
#define UUID_A "11111111-1111-4111-8111-111111111111"
#define UUID_B "22222222-2222-4222-8222-222222222222"

/* edge4: edge 0 lies at accelerator 1 and leads to the peer's edge 4. */
#define OUT 0
#define IN 4
#define AT_EDGE 1
#define FIBRE 2 /* class of a guide */
#define SMALL_ROOM 4096 /* less than a hundred reservations need */

/* A fabric with edges, two controllers, and a slice of the first of them. */
FIXTURE(lanes)
{
	struct sim sim;
	struct nl nl;
	unsigned int slice, guide, count;
	uint64_t all;
	int file; /* the slice's */
};

static int take(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch)
{
	return nl_control(nl, MORPH_CMD_CONTROLLER_TAKE, sim->number, id, epoch, LONG);
}

static int expire(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch)
{
	int error = nl_control(nl, MORPH_CMD_CONTROLLER_RENEW, sim->number, id, epoch, SHORT);

	usleep(2 * SHORT / 1000);
	return error;
}

static void begin(struct nl *nl, const struct sim *sim, uint8_t cmd, uint32_t id, uint32_t guide)
{
	nl_begin(nl, cmd, 0);
	nl_put_u32(nl, MORPH_A_RESERVATION_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_RESERVATION_CONTROLLER, id);
	nl_put_u32(nl, MORPH_A_RESERVATION_GUIDE, guide);
}

/* So many lanes, of these; 0: of any. */
static int reserve_epoch(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch,
			 uint32_t guide, uint32_t count, uint64_t among)
{
	begin(nl, sim, MORPH_CMD_RESERVATION_SET, id, guide);
	nl_put_u64(nl, MORPH_A_RESERVATION_EPOCH, epoch);
	nl_put_u32(nl, MORPH_A_RESERVATION_LANES_COUNT, count);
	if (among)
		nl_put_u64(nl, MORPH_A_RESERVATION_LANES, among);
	return nl_do(nl);
}

static int reserve(struct nl *nl, const struct sim *sim, uint32_t id, uint32_t guide,
		   uint32_t count, uint64_t among)
{
	return reserve_epoch(nl, sim, id, 1, guide, count, among);
}

/* The lanes that a controller has of a guide; all ones: that was refused. */
static uint64_t reserved(struct nl *nl, const struct sim *sim, uint32_t id, uint32_t guide)
{
	begin(nl, sim, MORPH_CMD_RESERVATION_GET, id, guide);
	return nl_do(nl) ? UINT64_MAX : REPLY_U64(nl, MORPH_A_RESERVATION_LANES);
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

static unsigned int create(struct nl *nl, const struct sim *sim, uint32_t controller,
			   unsigned int first, unsigned int second)
{
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, sim->number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "job");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FAILOVER, MORPH_FAILOVER_AUTOMATIC);
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, first);
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, second);
	nl_put_u32(nl, MORPH_A_SLICE_CONTROLLER, controller);
	return nl_do(nl) ? 0 : REPLY_U32(nl, MORPH_A_SLICE_ID);
}

static int open_slice(unsigned int slice)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/morph/slice%u", slice);
	return open(path, O_RDWR);
}

static bool no_slices(struct sim *sim)
{
	sim_refresh(sim);
	return !sim->info.slices;
}

FIXTURE_SETUP(lanes)
{
	struct nl *nl = &self->nl;

	sim_start(&self->sim, "edge4", NULL);
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, take(nl, &self->sim, 1, 1));
	ASSERT_EQ(0, take(nl, &self->sim, 2, 1));
	self->slice = create(nl, &self->sim, 1, AT_EDGE, 0);
	ASSERT_NE(0, self->slice) TH_LOG("%s", nl->text);
	self->file = open_slice(self->slice);
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
	EXPECT_TRUE(WAIT_UNTIL(no_slices(&self->sim)));
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

/* How a transaction of netlink ended: 0, or an errno. */
static int end_of(struct nl *nl, const struct sim *sim)
{
	int outcome = nl_wait_outcome(nl, sim->number, REPLY_U32(nl, MORPH_A_TXN_ID));

	if (outcome == MORPH_OUTCOME_COMMITTED)
		return 0;
	return outcome < 0 ? -outcome : -(int)REPLY_U32(nl, MORPH_A_TXN_STATUS);
}

/* Light half a circuit out of edge 0 on these lanes, on the controller's behalf. */
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
	return error ? error : end_of(nl, sim);
}

/* The same by the tenant himself. */
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
	/* Not the tenant's by himself. */
	EXPECT_EQ(EBUSY, light_by_file(self->file, 0x2));
	EXPECT_EQ(0, light(nl, &self->sim, self->slice, 1, 0x2)) TH_LOG("%s", nl->text);
	EXPECT_EQ(0, light_by_file(self->file, 0x4));
}

TEST_F(lanes, reserved_lanes_are_nobody_elses)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, reserve(nl, &self->sim, 2, self->guide, 1, 0x2));
	EXPECT_EQ(EBUSY, light(nl, &self->sim, self->slice, 1, 0x2));
	EXPECT_EQ(EBUSY, light_by_file(self->file, 0x2));
	ASSERT_EQ(0, reserve(nl, &self->sim, 2, self->guide, 0, 0));
	EXPECT_EQ(0, REPLY_U64(nl, MORPH_A_RESERVATION_LANES));
	EXPECT_EQ(0, light(nl, &self->sim, self->slice, 1, 0x2)) TH_LOG("%s", nl->text);
}

/* The router leaves them out, where it may choose. */
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

/* A tenant who moves a circuit from lanes that are reserved keeps it lit meanwhile. */
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

TEST_F(lanes, what_it_has_is_kept)
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

/* Of several that want more than half at once, one gets it. */
TEST_F(lanes, one_of_several_gets_them)
{
	struct nl *nl = &self->nl;
	unsigned int i, have = 0;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, take(nl, &self->sim, 10 + i, 1));
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

/* The backup finds in the kernel what was last decided, takes what it wants, and gives the rest back. */
static int settle(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch)
{
	nl_begin(nl, MORPH_CMD_CONTROLLER_SETTLE, 0);
	nl_put_u32(nl, MORPH_A_CONTROLLER_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_CONTROLLER_ID, id);
	nl_put_u64(nl, MORPH_A_CONTROLLER_EPOCH, epoch);
	return nl_do(nl);
}

TEST_F(lanes, settling_is_for_who_has_control)
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
	ASSERT_EQ(0, take(nl, &self->sim, 1, 2));
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

/* Both ends of a fibre between two fabrics: a token for both, and each keeps its own end. */
TEST_F(lanes, both_ends_of_an_edge)
{
	struct nl *nl = &self->nl;
	struct sim peer;
	uint32_t guide;

	sim_start(&peer, "edge4", "uuid=" UUID_B " peer=" UUID_A);
	ASSERT_EQ(0, take(nl, &peer, 1, 1));
	ASSERT_EQ(0, take(nl, &peer, 2, 1));
	guide = edge_guide(nl, &peer, IN);
	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x2));
	/* The other end is another's already: the first has it in vain, and gives it back. */
	ASSERT_EQ(0, reserve(nl, &peer, 2, guide, 1, 0x2));
	EXPECT_EQ(EBUSY, reserve(nl, &peer, 1, guide, 1, 0x2));
	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 0, 0));
	ASSERT_EQ(0, reserve(nl, &self->sim, 1, self->guide, 1, 0x4));
	EXPECT_EQ(0, reserve(nl, &peer, 1, guide, 1, 0x4));
	EXPECT_EQ(reserved(nl, &peer, 1, guide), reserved(nl, &self->sim, 1, self->guide));
	sim_stop(&peer);
}

/* -------------------------------------------------------------------- bad input */

TEST_F(lanes, what_can_not_be_reserved)
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

TEST_F(lanes, what_a_request_lacks_is_named)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_RESERVATION_GET, 0);
	nl_put_u32(nl, MORPH_A_RESERVATION_FABRIC, self->sim.number);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_RESERVATION_CONTROLLER, nl->missing);
	begin(nl, &self->sim, MORPH_CMD_RESERVATION_SET, 1, self->guide);
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

struct tally {
	unsigned int first, second;
	uint64_t lanes;
};

static void count(const struct nlmsghdr *message, void *context)
{
	struct tally *tally = context;

	tally->first += nl_get_u32(nl_find(message, MORPH_A_RESERVATION_CONTROLLER)) == 1;
	tally->second += nl_get_u32(nl_find(message, MORPH_A_RESERVATION_CONTROLLER)) == 2;
	tally->lanes += nl_get_u32(nl_find(message, MORPH_A_RESERVATION_LANES_COUNT));
}

TEST_F(lanes, dump_tells_all)
{
	struct nl *nl = &self->nl;
	struct tally tally = {};
	uint32_t edge;

	for (edge = 0; edge < self->sim.info.edges; edge++)
		ASSERT_EQ(0, reserve(nl, &self->sim, 1 + (edge & 1),
				     edge_guide(nl, &self->sim, edge), 2, 0));
	nl_begin(nl, MORPH_CMD_RESERVATION_GET, 0);
	nl_put_u32(nl, MORPH_A_RESERVATION_FABRIC, self->sim.number);
	ASSERT_EQ(0, nl_dump(nl, count, &tally));
	EXPECT_EQ(4, tally.first);
	EXPECT_EQ(4, tally.second);
	EXPECT_EQ(16, tally.lanes);
	tally = (struct tally){};
	nl_begin(nl, MORPH_CMD_RESERVATION_GET, 0);
	nl_put_u32(nl, MORPH_A_RESERVATION_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_RESERVATION_CONTROLLER, 2);
	ASSERT_EQ(0, nl_dump(nl, count, &tally));
	EXPECT_EQ(0, tally.first);
	EXPECT_EQ(4, tally.second);
}

/* ---------------------------------------------------------------------- repairs */

struct fibres {
	uint32_t guides[4096];
	unsigned int count;
};

static void find_fibres(const struct nlmsghdr *message, void *context)
{
	struct fibres *fibres = context;

	if (nl_get_u32(nl_find(message, MORPH_A_GUIDE_CLASS)) == FIBRE && fibres->count < 4096)
		fibres->guides[fibres->count++] = nl_get_u32(nl_find(message, MORPH_A_GUIDE_ID));
}

/* The fibre that a circuit of the slice runs over. */
static uint32_t fibre_of(int file, unsigned int circuit, const struct fibres *fibres)
{
	uint32_t guides[64];
	int count = circuit_guides(file, circuit, guides, 64), i;
	unsigned int at;

	for (i = 0; i < count; i++)
		for (at = 0; at < fibres->count; at++)
			if (guides[i] == fibres->guides[at])
				return guides[i];
	return UINT32_MAX;
}

FIXTURE(rack)
{
	struct sim sim;
	struct nl nl;
	unsigned int slice, all;
	int file;
	uint32_t fibre; /* that its circuit runs over */
	struct fibres fibres;
};

/* A circuit from one server to the next. */
FIXTURE_SETUP(rack)
{
	struct nl *nl = &self->nl;

	sim_start(&self->sim, "rack64", NULL);
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, take(nl, &self->sim, 1, 1));
	ASSERT_EQ(0, take(nl, &self->sim, 2, 1));
	self->slice = create(nl, &self->sim, 1, 0, 4);
	ASSERT_NE(0, self->slice) TH_LOG("%s", nl->text);
	self->file = open_slice(self->slice);
	ASSERT_LE(0, self->file);
	nl_begin(nl, MORPH_CMD_GUIDE_GET, 0);
	nl_put_u32(nl, MORPH_A_GUIDE_FABRIC, self->sim.number);
	ASSERT_EQ(0, nl_dump(nl, find_fibres, &self->fibres));
	self->all = self->sim.info.wavelengths;
	nl_apply(nl, self->sim.number, self->slice);
	nl_put_token(nl, 1, 1);
	nl_put_add(nl, 0, 1);
	ASSERT_EQ(0, nl_do(nl));
	ASSERT_EQ(0, end_of(nl, &self->sim));
	self->fibre = fibre_of(self->file, 1, &self->fibres);
	ASSERT_NE(UINT32_MAX, self->fibre);
}

FIXTURE_TEARDOWN(rack)
{
	close(self->file);
	slice_delete(self->sim.fd, MORPH_ANY, "job", MORPH_SLICE_FORCE);
	EXPECT_TRUE(WAIT_UNTIL(no_slices(&self->sim)));
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

TEST_F(rack, long_dump_goes_on_where_it_was)
{
	struct nl *nl = &self->nl;
	struct tally tally = {};
	unsigned int at, fibres = 0;
	bool more = true;
	struct nl reader;

	for (at = 0; at < self->fibres.count && fibres < 100; at++)
		fibres += !reserve(nl, &self->sim, 2, self->fibres.guides[at], 1, 0);
	ASSERT_EQ(100, fibres);
	/* A socket that has never read more gets messages of that size. */
	ASSERT_EQ(0, nl_open(&reader));
	nl_begin(&reader, MORPH_CMD_RESERVATION_GET, 0);
	nl_put_u32(&reader, MORPH_A_RESERVATION_FABRIC, self->sim.number);
	ASSERT_EQ(0, nl_dump_begin(&reader));
	while (more)
		ASSERT_EQ(0, nl_dump_read(&reader, SMALL_ROOM, count, &tally, &more));
	nl_close(&reader);
	EXPECT_EQ(100, tally.second);
	EXPECT_EQ(100, tally.lanes);
}

/* Reserve all of all fibres that can be had for one controller, then lose the fibre in use. */
static int lose_fibre(struct nl *nl, const struct sim *sim, const struct fibres *fibres,
		      uint32_t id, unsigned int count, uint32_t fibre)
{
	unsigned int i;
	int error;

	for (i = 0; i < fibres->count; i++) {
		if (fibres->guides[i] == fibre)
			continue;
		error = reserve(nl, sim, id, fibres->guides[i], count, 0);
		if (error)
			return error;
	}
	nl_on_part(nl, MORPH_CMD_HARDWARE_FAIL, sim->number, MORPH_PART_GUIDE, fibre);
	return nl_do(nl);
}

TEST_F(rack, repairs_may_use_what_their_controller_has)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, lose_fibre(nl, &self->sim, &self->fibres, 1, self->all, self->fibre))
	TH_LOG("%s", nl->text);
	EXPECT_EQ(0, wait_event(self->file, MORPH_EVENT_CIRCUIT_MOVED, PATIENCE_MS, NULL));
	EXPECT_TRUE(slice_wait_state(self->file, MORPH_SLICE_OK));
	EXPECT_NE(self->fibre, fibre_of(self->file, 1, &self->fibres));
}

/* What a repair may use the schedule that goes on after it may use, too. */
TEST_F(rack, schedules_may_use_what_their_controller_has)
{
	struct nl *nl = &self->nl;
	struct morph_schedule_circuit circuits[] = {
		{ .dst_rank = 1, .lanes_count = 1 },
		{ .src_rank = 1, .lanes_count = 1 },
	};
	struct morph_schedule_step steps[] = { { .count = 1 }, { .first = 1, .count = 1 } };
	uint32_t held[] = { 0, 1 }, fibre;
	struct morph_schedule_load load = {
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(circuits, 2),
		.steps = ARRAY(steps, 2),
		.held = ARRAY(held, 2),
		.generation = GENERATION_ANY,
	};
	struct morph_schedule_info info = { .head = HEAD(morph_schedule_info) };

	ASSERT_EQ(0, ioctl(self->file, MORPH_SCHEDULE_LOAD, &load)) TH_LOG("%s", last_detail);
	ASSERT_EQ(0, schedule_act(self->file, load.out_schedule, MORPH_SCHEDULE_START, NULL));
	info.schedule = load.out_schedule;
	ASSERT_EQ(0, ioctl(self->file, MORPH_SCHEDULE_INFO, &info));
	fibre = fibre_of(self->file, info.first_circuit, &self->fibres);
	ASSERT_NE(UINT32_MAX, fibre);
	ASSERT_EQ(0, lose_fibre(nl, &self->sim, &self->fibres, 1, self->all, fibre))
	TH_LOG("%s", nl->text);
	EXPECT_EQ(0, wait_event(self->file, MORPH_EVENT_CIRCUIT_MOVED, PATIENCE_MS, NULL));
	EXPECT_TRUE(slice_wait_state(self->file, MORPH_SLICE_OK));
	EXPECT_NE(fibre, fibre_of(self->file, info.first_circuit, &self->fibres));
	EXPECT_EQ(0, schedule_act(self->file, load.out_schedule, MORPH_SCHEDULE_GO, NULL))
	TH_LOG("%s", last_detail);
}

/* What others have reserved they may not; they get it as soon as it is given back. */
TEST_F(rack, repairs_may_not_use_what_others_have)
{
	struct nl *nl = &self->nl;
	unsigned int i;

	ASSERT_EQ(0, lose_fibre(nl, &self->sim, &self->fibres, 2, self->all, self->fibre))
	TH_LOG("%s", nl->text);
	EXPECT_EQ(0, wait_event(self->file, MORPH_EVENT_DEGRADED, PATIENCE_MS, NULL));
	for (i = 0; i < self->fibres.count; i++)
		if (self->fibres.guides[i] != self->fibre)
			EXPECT_EQ(0, reserve(nl, &self->sim, 2, self->fibres.guides[i], 0, 0));
	EXPECT_EQ(0, wait_event(self->file, MORPH_EVENT_RECOVERED, PATIENCE_MS, NULL));
}

TEST_HARNESS_MAIN
