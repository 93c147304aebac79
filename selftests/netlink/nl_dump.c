// SPDX-License-Identifier: GPL-2.0-only
/* Dumps: complete, filtered, split into messages, and marked if objects changed in between. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

/*
 * A buffer so small that each dump takes many reads. The size of the kernel's messages grows with
 * the largest buffer ever used on the socket, so these tests use sockets of their own.
 */
#define SMALL_ROOM 4096

FIXTURE(dump)
{
	struct sim a, b;
	struct nl nl;
};

FIXTURE_SETUP(dump)
{
	sim_start(&self->a, "server8", NULL);
	sim_start(&self->b, "server4", NULL);
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(dump)
{
	nl_close(&self->nl);
	sim_stop(&self->b);
	sim_stop(&self->a);
}

struct kind {
	const char *name;
	uint8_t cmd;
	uint16_t fabric, id, seq;
};

static const struct kind kinds[] = {
	{ "accelerators", MORPH_CMD_ACCELERATOR_GET, MORPH_A_ACCELERATOR_FABRIC,
	  MORPH_A_ACCELERATOR_ID, MORPH_A_ACCELERATOR_SEQ },
	{ "guides", MORPH_CMD_GUIDE_GET, MORPH_A_GUIDE_FABRIC, MORPH_A_GUIDE_ID,
	  MORPH_A_GUIDE_SEQ },
	{ "elements", MORPH_CMD_ELEMENT_GET, MORPH_A_ELEMENT_FABRIC, MORPH_A_ELEMENT_ID,
	  MORPH_A_ELEMENT_SEQ },
};

/* Count the objects of each of the two fabrics. */
struct tally {
	const struct kind *kind;
	unsigned int fabric[2];
	unsigned int count[2];
	unsigned int others; /* objects of fabrics outside the test */
	unsigned int disordered; /* ids that did not ascend */
	unsigned int seq_zero;
};

/* No object has come yet. For use inside a test of the fixture. */
#define TALLY(what)                                                          \
	{                                                                    \
		.kind = (what), .fabric = { self->a.number, self->b.number } \
	}

static void count_object(const struct nlmsghdr *message, void *context)
{
	struct tally *tally = context;
	uint32_t fabric = nl_get_u32(nl_find(message, tally->kind->fabric));
	uint32_t id = nl_get_u32(nl_find(message, tally->kind->id));
	int i;

	for (i = 0; i < 2; i++) {
		if (fabric != tally->fabric[i])
			continue;
		tally->disordered += id != tally->count[i];
		tally->count[i]++;
		tally->seq_zero += !nl_get_u64(nl_find(message, tally->kind->seq)) ||
				   !nl_find(message, tally->kind->seq);
		return;
	}
	tally->others++;
}

static unsigned int expected(const struct sim *sim, const struct kind *kind)
{
	switch (kind->cmd) {
	case MORPH_CMD_ACCELERATOR_GET:
		return sim->info.accelerators;
	case MORPH_CMD_GUIDE_GET:
		return sim->info.guides;
	}
	return sim->info.elements;
}

TEST_F(dump, everything_once_and_in_order)
{
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct tally tally = TALLY(&kinds[i]);

		nl_begin(&self->nl, kinds[i].cmd, 0);
		ASSERT_EQ(0, nl_dump(&self->nl, count_object, &tally));
		EXPECT_EQ(expected(&self->a, &kinds[i]), tally.count[0])
		TH_LOG("%s", kinds[i].name);
		EXPECT_EQ(expected(&self->b, &kinds[i]), tally.count[1])
		TH_LOG("%s", kinds[i].name);
		EXPECT_EQ(0, tally.disordered);
		EXPECT_EQ(0, tally.seq_zero);
		EXPECT_FALSE(self->nl.interrupted);
	}
}

TEST_F(dump, filtered_by_fabric)
{
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct tally tally = TALLY(&kinds[i]);

		nl_begin(&self->nl, kinds[i].cmd, 0);
		nl_put_u32(&self->nl, kinds[i].fabric, self->b.number);
		ASSERT_EQ(0, nl_dump(&self->nl, count_object, &tally));
		EXPECT_EQ(0, tally.count[0]);
		EXPECT_EQ(0, tally.others);
		EXPECT_EQ(expected(&self->b, &kinds[i]), tally.count[1]);
	}
}

/* Make the fabric publish a change while the test reads its elements. */
static int disturb(const struct sim *sim)
{
	static struct nl nl;
	int error = nl_open(&nl);

	if (error)
		return error;
	nl_on_part(&nl, MORPH_CMD_HARDWARE_SET, sim->number, MORPH_PART_ELEMENT, 0);
	nl_put_u8(&nl, MORPH_A_HARDWARE_CORDONED, 1);
	error = nl_do(&nl);
	nl_close(&nl);
	return error;
}

static int torn_dump(struct nl *nl, const struct sim *read, const struct sim *disturbed,
		     struct tally *tally)
{
	bool more = true;
	int error;

	nl_begin(nl, MORPH_CMD_ELEMENT_GET, 0);
	nl_put_u32(nl, MORPH_A_ELEMENT_FABRIC, read->number);
	error = nl_dump_begin(nl);
	/* There are two parts: the kernel built the second before the test read the first. */
	if (!error)
		error = nl_dump_read(nl, SMALL_ROOM, count_object, tally, &more);
	if (!error && disturbed)
		error = disturb(disturbed);
	while (!error && more)
		error = nl_dump_read(nl, SMALL_ROOM, count_object, tally, &more);
	return error;
}

TEST_F(dump, torn_dump_says_so)
{
	struct tally tally = TALLY(&kinds[2]);

	ASSERT_EQ(0, torn_dump(&self->nl, &self->a, &self->a, &tally));
	EXPECT_EQ(self->a.info.elements, tally.count[0]);
	EXPECT_TRUE(self->nl.interrupted);
}

TEST_F(dump, whole_dump_does_not)
{
	struct tally tally = TALLY(&kinds[2]);

	ASSERT_EQ(0, torn_dump(&self->nl, &self->a, NULL, &tally));
	EXPECT_EQ(self->a.info.elements, tally.count[0]);
	EXPECT_FALSE(self->nl.interrupted);
}

/* Changes of another fabric do not mark this dump. */
TEST_F(dump, other_fabric_does_not_tear)
{
	struct tally tally = TALLY(&kinds[2]);

	ASSERT_EQ(0, torn_dump(&self->nl, &self->a, &self->b, &tally));
	EXPECT_EQ(self->a.info.elements, tally.count[0]);
	EXPECT_FALSE(self->nl.interrupted);
}

/*
 * A fabric that disappears during the dump marks it too. The mark need not be on the first message
 * after that. Another fabric can get the number of the old one when the last holder closes it,
 * possibly between two messages.
 */
TEST_F(dump, fabric_goes)
{
	struct tally tally = TALLY(&kinds[2]);
	bool more = true;
	int error;

	nl_begin(&self->nl, MORPH_CMD_ELEMENT_GET, 0);
	ASSERT_EQ(0, nl_dump_begin(&self->nl));
	while (!tally.count[0])
		ASSERT_EQ(0, nl_dump_read(&self->nl, SMALL_ROOM, count_object, &tally, &more));
	ASSERT_TRUE(more);
	sim_pull(&self->a);
	do
		error = nl_dump_read(&self->nl, SMALL_ROOM, count_object, &tally, &more);
	while (!error && more);
	EXPECT_EQ(0, error);
	EXPECT_GT(self->a.info.elements, tally.count[0]);
	EXPECT_EQ(self->b.info.elements, tally.count[1]);
	EXPECT_TRUE(self->nl.interrupted);
}

struct slices {
	unsigned int messages, ranks, next, counts;
	unsigned int slice; /* the only slice to examine */
	unsigned int others;
};

static void count_ranks(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *rank = NULL;
	struct slices *slices = context;

	if (nl_get_u32(nl_find(message, MORPH_A_SLICE_ID)) != slices->slice) {
		slices->others++;
		return;
	}
	slices->messages++;
	slices->counts = nl_get_u32(nl_find(message, MORPH_A_SLICE_RANKS_COUNT));
	while ((rank = nl_next(message, MORPH_A_SLICE_RANK, rank)))
		slices->ranks += nl_get_u32(nl_find_nested(rank, MORPH_A_RANK_RANK)) ==
				 slices->next++;
}

static unsigned int slice_number(int slice)
{
	struct morph_slice_info info;

	return slice_info(slice, &info) ? 0 : info.slice;
}

TEST_F(dump, slices_by_fabric_and_id)
{
	int first = slice_create(self->a.fd, 2), second = slice_create(self->a.fd, 3);
	int third = slice_create(self->b.fd, 2);
	struct slices slices = { .slice = slice_number(second) };

	ASSERT_LE(0, first);
	ASSERT_LE(0, second);
	ASSERT_LE(0, third);
	nl_begin(&self->nl, MORPH_CMD_SLICE_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_SLICE_FABRIC, self->a.number);
	ASSERT_EQ(0, nl_dump(&self->nl, count_ranks, &slices));
	EXPECT_EQ(1, slices.messages);
	EXPECT_EQ(1, slices.others);
	EXPECT_EQ(3, slices.ranks);

	slices = (struct slices){ .slice = slice_number(second) };
	nl_begin(&self->nl, MORPH_CMD_SLICE_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_SLICE_FABRIC, self->a.number);
	nl_put_u32(&self->nl, MORPH_A_SLICE_ID, slices.slice);
	ASSERT_EQ(0, nl_dump(&self->nl, count_ranks, &slices));
	EXPECT_EQ(1, slices.messages);
	EXPECT_EQ(0, slices.others);

	/* The slice is not of that fabric. */
	slices = (struct slices){ .slice = slice_number(third) };
	nl_begin(&self->nl, MORPH_CMD_SLICE_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_SLICE_FABRIC, self->a.number);
	nl_put_u32(&self->nl, MORPH_A_SLICE_ID, slices.slice);
	ASSERT_EQ(0, nl_dump(&self->nl, count_ranks, &slices));
	EXPECT_EQ(0, slices.messages);
	close(first);
	close(second);
	close(third);
}

/* More ranks than fit into one message of the dump: several messages, and each rank once. */
TEST_F(dump, slice_in_several_messages)
{
	bool more = true;
	struct slices slices;
	struct sim rack;
	int slice;

	sim_start(&rack, "rack64", NULL);
	slice = slice_create(rack.fd, 64);
	ASSERT_LE(0, slice);
	slices = (struct slices){ .slice = slice_number(slice) };
	nl_begin(&self->nl, MORPH_CMD_SLICE_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_SLICE_FABRIC, rack.number);
	ASSERT_EQ(0, nl_dump_begin(&self->nl));
	while (more)
		ASSERT_EQ(0, nl_dump_read(&self->nl, SMALL_ROOM, count_ranks, &slices, &more));
	EXPECT_LT(1, slices.messages);
	EXPECT_EQ(64, slices.ranks);
	EXPECT_EQ(64, slices.next);
	EXPECT_EQ(64, slices.counts);

	/* One reply holds all ranks. */
	nl_begin(&self->nl, MORPH_CMD_SLICE_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_SLICE_FABRIC, rack.number);
	nl_put_u32(&self->nl, MORPH_A_SLICE_ID, slices.slice);
	ASSERT_EQ(0, nl_do(&self->nl));
	EXPECT_EQ(64, nl_count(nl_reply(&self->nl), MORPH_A_SLICE_RANK));
	close(slice);
	sim_stop(&rack);
}

#define MANY 64

/* The remaining slices disappear, and only the end of the dump can carry the mark. */
TEST_F(dump, rest_of_slices_goes)
{
	struct slices slices = { .slice = UINT32_MAX };
	struct sim rack;
	int many[MANY], i, error;
	bool more = true;

	sim_start(&rack, "rack64", NULL);
	for (i = 0; i < MANY; i++) {
		many[i] = slice_create(rack.fd, 1);
		ASSERT_LE(0, many[i]);
	}
	nl_begin(&self->nl, MORPH_CMD_SLICE_GET, 0);
	ASSERT_EQ(0, nl_dump_begin(&self->nl));
	ASSERT_EQ(0, nl_dump_read(&self->nl, SMALL_ROOM, count_ranks, &slices, &more));
	ASSERT_TRUE(more);
	for (i = 0; i < MANY; i++)
		close(many[i]);
	ASSERT_TRUE(sim_wait_free(&rack, MANY));
	do
		error = nl_dump_read(&self->nl, SMALL_ROOM, count_ranks, &slices, &more);
	while (!error && more);
	EXPECT_EQ(0, error);
	EXPECT_GT(MANY, slices.others);
	EXPECT_TRUE(self->nl.interrupted);
	sim_stop(&rack);
}

static void count_circuits(const struct nlmsghdr *message, void *context)
{
	unsigned int *count = context;

	count[0]++;
	count[1] += nl_count(message, MORPH_A_CIRCUIT_GUIDE);
	count[2] += nl_count(message, MORPH_A_CIRCUIT_ELEMENT) ==
			    nl_count(message, MORPH_A_CIRCUIT_ELEMENT_STATE) &&
		    nl_count(message, MORPH_A_CIRCUIT_ELEMENT) + 1 ==
			    nl_count(message, MORPH_A_CIRCUIT_GUIDE);
}

TEST_F(dump, circuits_of_one_slice)
{
	int first = slice_create(self->a.fd, 3), second = slice_create(self->a.fd, 2);
	unsigned int count[3] = {};

	ASSERT_LE(0, first);
	ASSERT_LE(0, second);
	ASSERT_EQ(0, light_ring(first, 3));
	ASSERT_EQ(0, light_ring(second, 2));
	nl_begin(&self->nl, MORPH_CMD_CIRCUIT_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_CIRCUIT_FABRIC, self->a.number);
	ASSERT_EQ(0, nl_dump(&self->nl, count_circuits, count));
	EXPECT_EQ(5, count[0]);
	EXPECT_EQ(5, count[2]);

	memset(count, 0, sizeof(count));
	nl_begin(&self->nl, MORPH_CMD_CIRCUIT_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_CIRCUIT_FABRIC, self->a.number);
	nl_put_u32(&self->nl, MORPH_A_CIRCUIT_SLICE, slice_number(second));
	ASSERT_EQ(0, nl_dump(&self->nl, count_circuits, count));
	EXPECT_EQ(2, count[0]);
	EXPECT_LT(4, count[1]);
	close(first);
	close(second);
}

/* A dump in several messages must have each number once and in order. */
struct row {
	uint16_t attr; /* the number, or the attribute that orders the objects */
	unsigned int next, wrong;
};

static void in_row(const struct nlmsghdr *message, void *context)
{
	struct row *row = context;
	uint32_t number = nl_get_u32(nl_find(message, row->attr));

	if (number == UINT32_MAX)
		return; /* the default, or a user */
	row->wrong += number < row->next;
	row->next = number + 1;
}

/*
 * Read the answer to a request in small steps. Return the number of steps, or -1 if an object was
 * out of order.
 */
static int read_in_row(struct nl *nl, uint16_t attr)
{
	struct row row = { .attr = attr };
	bool more = true;
	int steps = 0;

	if (nl_dump_begin(nl))
		return -1;
	for (; more; steps++)
		if (nl_dump_read(nl, SMALL_ROOM, in_row, &row, &more))
			return -1;
	return row.wrong || steps < 3 ? -1 : (int)nl->messages;
}

TEST_F(dump, circuits_in_several_messages)
{
	int slice = slice_create(self->a.fd, 8);
	unsigned int i;

	ASSERT_LE(0, slice);
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, light_ring(slice, 8)) TH_LOG("%s", last_detail);
	nl_begin(&self->nl, MORPH_CMD_CIRCUIT_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_CIRCUIT_FABRIC, self->a.number);
	EXPECT_EQ(8 * 8, read_in_row(&self->nl, MORPH_A_CIRCUIT_ID));
	close(slice);
}

#define GRANTS 100

TEST_F(dump, grants_in_several_messages)
{
	int grants[GRANTS], i;

	for (i = 0; i < GRANTS; i++) {
		struct morph_grant_create args = GRANT_ALL;

		grants[i] = grant_create(self->a.fd, &args);
		ASSERT_LE(0, grants[i]);
	}
	nl_begin(&self->nl, MORPH_CMD_QUOTA_GET, 0);
	EXPECT_LT(GRANTS,
		  /* the default is in the dump, too */
		  read_in_row(&self->nl, MORPH_A_QUOTA_GRANT));
	for (i = 0; i < GRANTS; i++)
		close(grants[i]);
}

static void note_part(const struct nlmsghdr *message, void *context)
{
	unsigned int *parts = context;
	uint32_t part = nl_get_u32(nl_find(message, MORPH_A_HARDWARE_PART));

	if (part <= MORPH_PART_EDGE)
		parts[part] += 1000 + nl_get_u32(nl_find(message, MORPH_A_HARDWARE_INDEX));
}

static int cordon(struct nl *nl, const struct sim *sim, unsigned int part, unsigned int index)
{
	nl_on_part(nl, MORPH_CMD_HARDWARE_SET, sim->number, part, index);
	nl_put_u8(nl, MORPH_A_HARDWARE_CORDONED, 1);
	return nl_do(nl);
}

/* Dump only parts that are not healthy, or cordoned. */
TEST_F(dump, impaired_hardware)
{
	unsigned int parts[MORPH_PART_EDGE + 1] = {};

	nl_begin(&self->nl, MORPH_CMD_HARDWARE_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_HARDWARE_FABRIC, self->a.number);
	ASSERT_EQ(0, nl_dump(&self->nl, note_part, parts));
	EXPECT_EQ(0, self->nl.messages);

	ASSERT_EQ(0, cordon(&self->nl, &self->a, MORPH_PART_ACCELERATOR, 3));
	nl_on_part(&self->nl, MORPH_CMD_HARDWARE_FAIL, self->a.number, MORPH_PART_LASER, 7);
	ASSERT_EQ(0, nl_do(&self->nl));
	EXPECT_EQ(MORPH_HEALTH_FAILED, REPLY_U32(&self->nl, MORPH_A_HARDWARE_HEALTH));
	ASSERT_EQ(0, cordon(&self->nl, &self->a, MORPH_PART_GUIDE, 9));
	nl_begin(&self->nl, MORPH_CMD_HARDWARE_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_HARDWARE_FABRIC, self->a.number);
	ASSERT_EQ(0, nl_dump(&self->nl, note_part, parts));
	EXPECT_EQ(3, self->nl.messages);
	EXPECT_EQ(1003, parts[MORPH_PART_ACCELERATOR]);
	EXPECT_EQ(1007, parts[MORPH_PART_LASER]);
	EXPECT_EQ(1009, parts[MORPH_PART_GUIDE]);
}

#define CORDONED 150

TEST_F(dump, impaired_hardware_in_several_messages)
{
	unsigned int i;

	for (i = 0; i < CORDONED; i++)
		ASSERT_EQ(0, cordon(&self->nl, &self->a, MORPH_PART_GUIDE, i));
	/* The test read the replies with a large buffer. */
	nl_close(&self->nl);
	ASSERT_EQ(0, nl_open(&self->nl));
	nl_begin(&self->nl, MORPH_CMD_HARDWARE_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_HARDWARE_FABRIC, self->a.number);
	EXPECT_EQ(CORDONED, read_in_row(&self->nl, MORPH_A_HARDWARE_INDEX));
}

TEST_HARNESS_MAIN
