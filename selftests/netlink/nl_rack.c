// SPDX-License-Identifier: GPL-2.0-only
/*
 * A rack with reserved fibres: which lanes repairs and the schedules after them may use; and a dump
 * too long for one message.
 */
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"
#include "reservation.h"

#define FIBRE 2 /* class of a guide */
#define SMALL_ROOM 4096 /* less than the space of a hundred reservations */

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

/* Find the fibre that a circuit of the slice uses. */
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
	uint32_t fibre; /* fibre that its circuit uses */
	struct fibres fibres;
};

/* Light a circuit from one server to the next. */
FIXTURE_SETUP(rack)
{
	struct nl *nl = &self->nl;

	sim_start(&self->sim, "rack64", NULL);
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, controller_take(nl, &self->sim, 1, 1));
	ASSERT_EQ(0, controller_take(nl, &self->sim, 2, 1));
	self->slice = controller_slice(nl, &self->sim, 1, 0, 4);
	ASSERT_NE(0, self->slice) TH_LOG("%s", nl->text);
	self->file = slice_open(self->slice);
	ASSERT_LE(0, self->file);
	nl_begin(nl, MORPH_CMD_GUIDE_GET, 0);
	nl_put_u32(nl, MORPH_A_GUIDE_FABRIC, self->sim.number);
	ASSERT_EQ(0, nl_dump(nl, find_fibres, &self->fibres));
	self->all = self->sim.info.wavelengths;
	nl_apply(nl, self->sim.number, self->slice);
	nl_put_token(nl, 1, 1);
	nl_put_add(nl, 0, 1);
	ASSERT_EQ(0, nl_do(nl));
	ASSERT_EQ(0, txn_status(nl, &self->sim));
	self->fibre = fibre_of(self->file, 1, &self->fibres);
	ASSERT_NE(UINT32_MAX, self->fibre);
}

FIXTURE_TEARDOWN(rack)
{
	close(self->file);
	slice_delete(self->sim.fd, MORPH_ANY, "job", MORPH_SLICE_FORCE);
	EXPECT_TRUE(WAIT_UNTIL(sim_no_slices(&self->sim)));
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

TEST_F(rack, long_dump_goes_on_where_it_was)
{
	struct nl *nl = &self->nl;
	struct reservations tally = {};
	unsigned int at, fibres = 0;
	bool more = true;
	struct nl reader;

	for (at = 0; at < self->fibres.count && fibres < 100; at++)
		fibres += !reserve(nl, &self->sim, 2, self->fibres.guides[at], 1, 0);
	ASSERT_EQ(100, fibres);
	/* A socket that was never read with a larger buffer gets messages of that size. */
	ASSERT_EQ(0, nl_open(&reader));
	nl_begin(&reader, MORPH_CMD_RESERVATION_GET, 0);
	nl_put_u32(&reader, MORPH_A_RESERVATION_FABRIC, self->sim.number);
	ASSERT_EQ(0, nl_dump_begin(&reader));
	while (more)
		ASSERT_EQ(0, nl_dump_read(&reader, SMALL_ROOM, reservation_count, &tally, &more));
	nl_close(&reader);
	EXPECT_EQ(100, tally.second);
	EXPECT_EQ(100, tally.lanes);
}

struct ends {
	uint32_t last_element, last_guide;
	unsigned int elements, guides;
};

static void find_ends(const struct nlmsghdr *message, void *context)
{
	struct ends *ends = context;
	uint32_t part = nl_get_u32(nl_find(message, MORPH_A_HARDWARE_PART));
	uint32_t index = nl_get_u32(nl_find(message, MORPH_A_HARDWARE_INDEX));

	ends->elements += part == MORPH_PART_ELEMENT && (!index || index == ends->last_element);
	ends->guides += part == MORPH_PART_GUIDE && index == ends->last_guide;
}

/* The driver examines the parts in several holds of its lock. */
TEST_F(rack, dump_of_health_has_the_first_and_the_last_part)
{
	struct ends ends = {
		.last_element = self->sim.info.elements - 1,
		.last_guide = self->sim.info.guides - 1,
	};
	const uint32_t cordoned[][2] = {
		{ MORPH_PART_ELEMENT, 0 },
		{ MORPH_PART_ELEMENT, ends.last_element },
		{ MORPH_PART_GUIDE, ends.last_guide },
	};
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		nl_on_part(nl, MORPH_CMD_HARDWARE_SET, self->sim.number, cordoned[i][0],
			   cordoned[i][1]);
		nl_put_u8(nl, MORPH_A_HARDWARE_CORDONED, 1);
		ASSERT_EQ(0, nl_do(nl));
	}
	nl_begin(nl, MORPH_CMD_HARDWARE_GET, 0);
	nl_put_u32(nl, MORPH_A_HARDWARE_FABRIC, self->sim.number);
	ASSERT_EQ(0, nl_dump(nl, find_ends, &ends));
	EXPECT_EQ(2, ends.elements);
	EXPECT_EQ(1, ends.guides);
}

/* Reserve all available lanes of all fibres for one controller, then fail the fibre in use. */
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

TEST_F(rack, repairs_may_use_lanes_of_their_controller)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, lose_fibre(nl, &self->sim, &self->fibres, 1, self->all, self->fibre))
	TH_LOG("%s", nl->text);
	EXPECT_EQ(0, wait_event(self->file, MORPH_EVENT_CIRCUIT_MOVED, PATIENCE_MS, NULL));
	EXPECT_TRUE(slice_wait_state(self->file, MORPH_SLICE_OK));
	EXPECT_NE(self->fibre, fibre_of(self->file, 1, &self->fibres));
}

/* A schedule that continues after a repair may use the same lanes as the repair. */
TEST_F(rack, schedules_may_use_lanes_of_their_controller)
{
	static const struct morph_schedule_circuit circuits[] = {
		{ .dst_rank = 1, .lanes_count = 1 },
		{ .src_rank = 1, .lanes_count = 1 },
	};
	struct nl *nl = &self->nl;
	uint32_t fibre, circuit;
	int schedule;

	schedule = schedule_in_turn(self->file, circuits, 2, &circuit);
	ASSERT_LT(0, schedule) TH_LOG("%s", last_detail);
	ASSERT_EQ(0, schedule_act(self->file, schedule, MORPH_SCHEDULE_START, NULL));
	fibre = fibre_of(self->file, circuit, &self->fibres);
	ASSERT_NE(UINT32_MAX, fibre);
	ASSERT_EQ(0, lose_fibre(nl, &self->sim, &self->fibres, 1, self->all, fibre))
	TH_LOG("%s", nl->text);
	EXPECT_EQ(0, wait_event(self->file, MORPH_EVENT_CIRCUIT_MOVED, PATIENCE_MS, NULL));
	EXPECT_TRUE(slice_wait_state(self->file, MORPH_SLICE_OK));
	EXPECT_NE(fibre, fibre_of(self->file, circuit, &self->fibres));
	EXPECT_EQ(0, schedule_act(self->file, schedule, MORPH_SCHEDULE_GO, NULL))
	TH_LOG("%s", last_detail);
}

/* They may not use lanes of another controller, but get them when that controller releases them. */
TEST_F(rack, repairs_may_not_use_lanes_of_other_controllers)
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

/* A loaded schedule holds lanes of circuits that are dark now. They are no other tenant's. */
TEST_F(rack, controller_may_reserve_lanes_that_a_dark_schedule_holds)
{
	static const struct morph_schedule_circuit circuits[] = {
		{ .dst_rank = 1, .lanes_count = 1 },
		{ .src_rank = 1, .lanes_count = 1 },
	};
	struct nl *nl = &self->nl;
	unsigned int i;

	ASSERT_LT(0, schedule_in_turn(self->file, circuits, 2, NULL)) TH_LOG("%s", last_detail);
	for (i = 0; i < self->fibres.count; i++) {
		EXPECT_EQ(0, reserve(nl, &self->sim, 1, self->fibres.guides[i], self->all, 0))
		TH_LOG("%s", nl->text);
	}
}

TEST_HARNESS_MAIN
