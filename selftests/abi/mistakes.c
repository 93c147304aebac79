// SPDX-License-Identifier: GPL-2.0-only
/* One error in an otherwise correct call: the errno, and a detail string that names the error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define ACCELERATORS 2

FIXTURE(mistakes)
{
	struct sim sim;
	int slice;
};

FIXTURE_SETUP(mistakes)
{
	sim_start(&self->sim, "server8", NULL);
	self->slice = slice_create(self->sim.fd, ACCELERATORS);
	ASSERT_LE(0, self->slice);
}

FIXTURE_TEARDOWN(mistakes)
{
	close(self->slice);
	sim_stop(&self->sim);
}

/* The call fails with this errno and this detail string. */
#define EXPECT_REFUSED(error, call, sentence)        \
	do {                                         \
		last_detail[0] = '\0';               \
		EXPECT_EQ(-1, call);                 \
		EXPECT_EQ(error, errno);             \
		EXPECT_STREQ(sentence, last_detail); \
	} while (0)

TEST_F(mistakes, a_transaction_is_named_once)
{
	struct morph_txn_step step = {
		.head = HEAD(morph_txn_step),
		.txn = 1,
		.cookie = 1,
		.verb = MORPH_TXN_QUERY,
	};

	EXPECT_REFUSED(EINVAL, ioctl(self->slice, MORPH_TXN_STEP, &step),
		       "name the transaction by its number, or by 0 and its cookie");
}

TEST_F(mistakes, there_is_no_such_plane)
{
	struct morph_change change = change_add(0, 1);
	unsigned int planes = self->sim.info.planes;
	char sentence[80];

	change.src_plane = planes;
	snprintf(sentence, sizeof(sentence), "no source plane %u (0-%u)", planes, planes - 1);
	EXPECT_REFUSED(EINVAL, txn_run(self->slice, &change, 1, NULL), sentence);
	change = change_add(0, 1);
	change.dst_plane = planes;
	snprintf(sentence, sizeof(sentence), "no destination plane %u (0-%u)", planes, planes - 1);
	EXPECT_REFUSED(EINVAL, txn_run(self->slice, &change, 1, NULL), sentence);
	/* A move has the same limit. */
	change = change_add(0, 1);
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	change.op = MORPH_CHANGE_MOVE;
	change.dst_plane = planes;
	EXPECT_REFUSED(EINVAL, txn_run(self->slice, &change, 1, NULL), sentence);
}

TEST_F(mistakes, there_are_not_that_many_lanes)
{
	struct morph_change change = change_add(0, 1);
	unsigned int lanes = self->sim.info.wavelengths;
	char sentence[80];

	change.lanes_count = lanes + 1;
	snprintf(sentence, sizeof(sentence), "%u lanes requested, the port has %u", lanes + 1,
		 lanes);
	EXPECT_REFUSED(EINVAL, txn_run(self->slice, &change, 1, NULL), sentence);
	change = change_add(0, 1);
	change.lanes_count = 3;
	change.lanes = 0x3;
	EXPECT_REFUSED(EINVAL, txn_run(self->slice, &change, 1, NULL),
		       "3 lanes requested, the mask has 2");
}

/* The sentence has the number that the call names, and the range or the number of such objects. */
TEST_F(mistakes, there_is_no_such_object)
{
	struct morph_change change = change_add(0, 1), add;

	add = change_add(0, 7);
	EXPECT_REFUSED(ENOENT, txn_run(self->slice, &add, 1, NULL), "no rank 7 to receive (0-1)");
	add = change_add(7, 0);
	EXPECT_REFUSED(ENOENT, txn_run(self->slice, &add, 1, NULL), "no rank 7 to send (0-1)");
	add = change_add(MORPH_RANK_EDGE | 5, 1);
	EXPECT_REFUSED(ENOENT, txn_run(self->slice, &add, 1, NULL),
		       "no edge 5: the fabric has no edges");
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	change.op = MORPH_CHANGE_REMOVE;
	change.circuit = 4711;
	EXPECT_REFUSED(ENOENT, txn_run(self->slice, &change, 1, NULL),
		       "no circuit 4711 (circuits: 1)");
	EXPECT_REFUSED(ENOENT, slice_delete(self->sim.fd, 4711, NULL, 0),
		       "no slice 4711 (slices: 1)");
	EXPECT_REFUSED(ENOENT, slice_delete(self->sim.fd, MORPH_ANY, "none", 0),
		       "no slice of this name");
}

/* A path too long for the space inside a change is checked like a short one. */
TEST_F(mistakes, a_long_path_does_not_join)
{
	struct morph_change change = change_add(0, 1);
	uint32_t guides[64] = {};

	change.guides = (struct morph_array)ARRAY(guides, 64);
	EXPECT_EQ(-1, txn_run(self->slice, &change, 1, NULL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MORPH_REASON_PATH, change.reason);
	change = change_add(0, 1);
	change.guides = (struct morph_array)ARRAY((uint32_t *)8, 64);
	EXPECT_EQ(-1, txn_run(self->slice, &change, 1, NULL));
	EXPECT_EQ(EFAULT, errno);
}

/* Return the last bytes before an invalid page. */
static void *last_bytes(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
		abort();
	return pages + page - bytes;
}

/* The size exceeds the memory behind the head. */
TEST_F(mistakes, a_structure_is_all_there)
{
	struct morph_slice_info *info = last_bytes(sizeof(info->head));

	info->head = (struct morph_head)HEAD(morph_slice_info);
	EXPECT_EQ(-1, ioctl(self->slice, MORPH_SLICE_INFO, info));
	EXPECT_EQ(EFAULT, errno);
	/* The size exceeds the memory behind the part that the kernel knows. */
	info = last_bytes(sizeof(*info));
	info->head = (struct morph_head)HEAD(morph_slice_info);
	info->head.size += 8;
	EXPECT_EQ(-1, ioctl(self->slice, MORPH_SLICE_INFO, info));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(mistakes, a_list_is_all_there)
{
	uint32_t *const one = last_bytes(sizeof(*one));
	struct {
		uint32_t index, more;
	} *const wide = last_bytes(sizeof(*wide));
	struct morph_slice_create args = { .spare_policy = MORPH_SPARES_LIST };
	const uint32_t wanted[] = { 4 };

	*one = 5;
	args.spares = (struct morph_array)ARRAY(one, 2);
	EXPECT_EQ(-1, slice_create_with(self->sim.fd, &args, wanted, 1));
	EXPECT_EQ(EFAULT, errno);
	/*
	 * The kernel reads entries that are longer than its own one by one: here the second is
	 * missing.
	 */
	wide->index = 5;
	wide->more = 0;
	args.spares = (struct morph_array)ARRAY(wide, 2);
	EXPECT_EQ(-1, slice_create_with(self->sim.fd, &args, wanted, 1));
	EXPECT_EQ(EFAULT, errno);
	args.spares.count = 1;
	args.spares.stride = sizeof(*wide) + 4;
	EXPECT_EQ(-1, slice_create_with(self->sim.fd, &args, wanted, 1));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(mistakes, an_answer_has_where_to_go)
{
	struct {
		struct morph_rank_info info;
		uint64_t more;
	} *const wide = last_bytes(sizeof(*wide));
	struct morph_slice_info info = {
		.head = HEAD(morph_slice_info),
		.ranks = ARRAY(wide, ACCELERATORS),
	};

	EXPECT_EQ(-1, ioctl(self->slice, MORPH_SLICE_INFO, &info));
	EXPECT_EQ(EFAULT, errno);
	info.ranks.count = ACCELERATORS;
	info.ranks.stride = 1 << 20;
	EXPECT_EQ(-1, ioctl(self->slice, MORPH_SLICE_INFO, &info));
	EXPECT_EQ(E2BIG, errno);
}

TEST_F(mistakes, an_entry_has_its_size)
{
	struct morph_circuit_path path = {
		.head = HEAD(morph_circuit_path),
		.guides = { .ptr = (uintptr_t)&path, .count = 1, .stride = 2 },
	};
	struct morph_slice_info info = {
		.head = HEAD(morph_slice_info),
		.ranks = { .ptr = (uintptr_t)&info, .count = 1, .stride = 2 },
	};
	char sentence[80];

	EXPECT_REFUSED(EINVAL, ioctl(self->slice, MORPH_CIRCUIT_PATH, &path),
		       "guides.stride is 2, must be at least 4");
	snprintf(sentence, sizeof(sentence), "ranks.stride is 2, must be at least %zu",
		 sizeof(struct morph_rank_info));
	EXPECT_REFUSED(EINVAL, ioctl(self->slice, MORPH_SLICE_INFO, &info), sentence);
}

TEST_F(mistakes, a_name_ends)
{
	struct morph_slice_delete args = {
		.head = HEAD(morph_slice_delete),
		.slice = MORPH_ANY,
	};

	memset(args.name, 'x', sizeof(args.name));
	EXPECT_REFUSED(EINVAL, ioctl(self->sim.fd, MORPH_SLICE_DELETE, &args),
		       "name has no final NUL");
}

TEST_F(mistakes, a_spare_exists_and_is_allowed)
{
	unsigned int total = self->sim.info.accelerators, other;
	const uint32_t wanted[] = { 4 }, listed[] = { 5 };
	struct morph_slice_create args = {
		.spare_policy = MORPH_SPARES_LIST,
		.spares = ARRAY(listed, 1),
	};
	char sentence[80];
	int slice;

	snprintf(sentence, sizeof(sentence), "no accelerator %u (0-%u)", total, total - 1);
	EXPECT_REFUSED(ENOENT, rank_act(self->slice, MORPH_RANK_REPLACE, 0, total, NULL), sentence);
	EXPECT_REFUSED(ENOENT, rank_act(self->slice, MORPH_RANK_PREFER, 0, total, NULL), sentence);

	/* An accelerator that is free but not listed is not for this slice. */
	slice = slice_create_with(self->sim.fd, &args, wanted, 1);
	ASSERT_LE(0, slice) TH_LOG("%s", last_detail);
	for (other = 0; other < total; other++)
		if (read_accelerator(&self->sim, other).use == MORPH_USE_SPARE)
			break;
	ASSERT_NE(total, other);
	snprintf(sentence, sizeof(sentence),
		 "accelerator %u is not among the spares that the slice allows", other);
	EXPECT_REFUSED(EBUSY, rank_act(slice, MORPH_RANK_REPLACE, 0, other, NULL), sentence);
	EXPECT_REFUSED(EBUSY, rank_act(slice, MORPH_RANK_PREFER, 0, other, NULL), sentence);
	snprintf(sentence, sizeof(sentence), "accelerator %u is held, cordoned or not healthy",
		 wanted[0]);
	EXPECT_REFUSED(EBUSY, rank_act(slice, MORPH_RANK_PREFER, 0, wanted[0], NULL), sentence);
	close(slice);
}

TEST_HARNESS_MAIN
