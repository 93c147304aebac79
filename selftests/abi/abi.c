// SPDX-License-Identifier: GPL-2.0-only
/*
 * Properties of every command: sizes, flags, reserved fields, numbers, pointers, detail strings of
 * failures, and arrays. Make also builds this program for 32 bits.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "fabric.h"
#include "kselftest_harness.h"

/* 32-bit and 64-bit programs have the same layout, and it never changes. */
#define SAME(name, bytes) _Static_assert(sizeof(struct name) == (bytes), #name " has changed")

SAME(morph_head, 48);
SAME(morph_array, 16);
SAME(morph_times, 80);
SAME(morph_fabric_info, 224);
SAME(morph_accelerator_info, 64);
SAME(morph_guide_info, 32);
SAME(morph_element_info, 16);
SAME(morph_edge_info, 88);
SAME(morph_fabric_read, 80);
SAME(morph_slice_create, 152);
SAME(morph_slice_delete, 88);
SAME(morph_grant_create, 88);
SAME(morph_slice_info, 184);
SAME(morph_rank_info, 56);
SAME(morph_circuit_info, 72);
SAME(morph_circuit_path, 88);
SAME(morph_path_element, 8);
SAME(morph_change, 72);
SAME(morph_txn_run, 200);
SAME(morph_txn_step, 176);
SAME(morph_rank_act, 64);
SAME(morph_slice_policy, 56);
SAME(morph_event, 248);
SAME(morph_schedule_circuit, 32);
SAME(morph_schedule_step, 32);
SAME(morph_schedule_load, 144);
SAME(morph_schedule_act, 176);
SAME(morph_schedule_step_info, 80);
SAME(morph_schedule_info, 112);
SAME(morph_ring_entry, 16);
SAME(morph_ring_page, 256);
SAME(morph_ring_setup, 80);
SAME(morph_ring_act, 80);
SAME(morph_state_pair, 16);
SAME(morph_state_page, 56);

/* ------------------------------------------------------------ every command */

FIXTURE(command)
{
	struct sim sim;
	int slice;
	int fd; /* file for which the command is valid */
	uint8_t buffer[8192];
	struct morph_head *head;
};

FIXTURE_VARIANT(command)
{
	unsigned long number;
	size_t bytes;
	size_t least; /* bytes of the first version */
	bool slice;
};

#define GROWN(name, code, type, first, on_slice)                                                 \
	FIXTURE_VARIANT_ADD(command, name)                                                       \
	{                                                                                        \
		.number = code, .bytes = sizeof(struct type), .least = first, .slice = on_slice, \
	}
#define COMMAND(name, code, type, on_slice) GROWN(name, code, type, sizeof(struct type), on_slice)

COMMAND(fabric_info, MORPH_FABRIC_INFO, morph_fabric_info, false);
COMMAND(accelerators, MORPH_FABRIC_READ_ACCELERATORS, morph_fabric_read, false);
COMMAND(guides, MORPH_FABRIC_READ_GUIDES, morph_fabric_read, false);
COMMAND(elements, MORPH_FABRIC_READ_ELEMENTS, morph_fabric_read, false);
COMMAND(edges, MORPH_FABRIC_READ_EDGES, morph_fabric_read, false);
GROWN(slice_create, MORPH_SLICE_CREATE, morph_slice_create, 144, false);
COMMAND(slice_delete, MORPH_SLICE_DELETE, morph_slice_delete, false);
COMMAND(grant_create, MORPH_GRANT_CREATE, morph_grant_create, false);
COMMAND(fabric_info_by_slice, MORPH_FABRIC_INFO, morph_fabric_info, true);
COMMAND(elements_by_slice, MORPH_FABRIC_READ_ELEMENTS, morph_fabric_read, true);
COMMAND(edges_by_slice, MORPH_FABRIC_READ_EDGES, morph_fabric_read, true);
GROWN(slice_info, MORPH_SLICE_INFO, morph_slice_info, 160, true);
COMMAND(circuit_path, MORPH_CIRCUIT_PATH, morph_circuit_path, true);
COMMAND(txn_run, MORPH_TXN_RUN, morph_txn_run, true);
COMMAND(txn_step, MORPH_TXN_STEP, morph_txn_step, true);
COMMAND(rank_report, MORPH_RANK_REPORT, morph_rank_act, true);
COMMAND(rank_replace, MORPH_RANK_REPLACE, morph_rank_act, true);
COMMAND(slice_policy, MORPH_SLICE_POLICY, morph_slice_policy, true);
COMMAND(rank_prefer, MORPH_RANK_PREFER, morph_rank_act, true);
COMMAND(schedule_load, MORPH_SCHEDULE_LOAD, morph_schedule_load, true);
COMMAND(schedule_act, MORPH_SCHEDULE_ACT, morph_schedule_act, true);
COMMAND(schedule_info, MORPH_SCHEDULE_INFO, morph_schedule_info, true);
COMMAND(ring_setup, MORPH_RING_SETUP, morph_ring_setup, true);
COMMAND(ring_act, MORPH_RING_ACT, morph_ring_act, true);

FIXTURE_SETUP(command)
{
	sim_start(&self->sim, "server4", NULL);
	self->slice = slice_create(self->sim.fd, 2);
	ASSERT_LE(0, self->slice);
	self->fd = variant->slice ? self->slice : self->sim.fd;
	self->head = (struct morph_head *)self->buffer;
	self->head->size = variant->bytes;
}

FIXTURE_TEARDOWN(command)
{
	close(self->slice);
	sim_stop(&self->sim);
}

/* Return the errno of the command on the buffer, or 0. */
#define RUN() (ioctl(self->fd, variant->number, self->buffer) ? errno : 0)

TEST_F(command, too_small)
{
	self->head->size = 0;
	EXPECT_EQ(EINVAL, RUN());
	self->head->size = sizeof(*self->head) - 1;
	EXPECT_EQ(EINVAL, RUN());
	self->head->size = variant->least - 1;
	EXPECT_EQ(EINVAL, RUN());
	EXPECT_EQ(MORPH_REASON_ARGUMENT, self->head->reason);
}

/* A program of the first version gets the same answer, and no byte behind its structure. */
TEST_F(command, first_version_is_the_same)
{
	int exact = RUN();
	size_t at;

	memset(self->buffer, 0, variant->least);
	memset(self->buffer + variant->least, 0xcc, variant->bytes - variant->least + 8);
	self->head->size = variant->least;
	EXPECT_EQ(exact, RUN());
	EXPECT_EQ(variant->least, self->head->size);
	for (at = variant->least; at < variant->bytes + 8; at++)
		EXPECT_EQ(0xcc, self->buffer[at]);
}

TEST_F(command, longer_with_zeros_is_the_same)
{
	uint8_t before[32];
	int exact = RUN();

	memset(self->buffer, 0, sizeof(self->buffer));
	self->head->size = variant->bytes + sizeof(before);
	EXPECT_EQ(exact, RUN());
	EXPECT_EQ(variant->bytes + sizeof(before), self->head->size);
	memset(before, 0, sizeof(before));
	EXPECT_EQ(0, memcmp(before, self->buffer + variant->bytes, sizeof(before)));
}

TEST_F(command, longer_with_bits_set)
{
	char expected[64], detail[128] = "";

	self->head->size = variant->bytes + 8;
	self->head->detail_ptr = (uintptr_t)detail;
	self->head->detail_len = sizeof(detail);
	self->buffer[variant->bytes + 7] = 1;
	EXPECT_EQ(E2BIG, RUN());
	EXPECT_EQ(MORPH_REASON_ARGUMENT, self->head->reason);
	snprintf(expected, sizeof(expected), "beyond its first %zu bytes", variant->bytes);
	EXPECT_NE(NULL, strstr(detail, expected))
	TH_LOG("%s", detail);
	EXPECT_EQ(1, self->buffer[variant->bytes + 7]);
	self->head->size = sizeof(self->buffer);
	EXPECT_EQ(E2BIG, RUN());
}

TEST_F(command, unknown_flag)
{
	self->head->flags = 1u << 31;
	EXPECT_EQ(EOPNOTSUPP, RUN());
	EXPECT_EQ(MORPH_REASON_ARGUMENT, self->head->reason);
	EXPECT_EQ(1u << 31, self->head->flags);
}

TEST_F(command, pointer_leads_nowhere)
{
	EXPECT_EQ(-1, ioctl(self->fd, variant->number, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, variant->number, (void *)16));
	EXPECT_EQ(EFAULT, errno);
}

/* The structure begins on a valid page and ends on an invalid page. */
TEST_F(command, structure_ends_nowhere)
{
	size_t page = sysconf(_SC_PAGESIZE);
	uint8_t *map, *at;

	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, munmap(map + page, page));
	at = map + page - sizeof(*self->head);
	memcpy(at, self->buffer, sizeof(*self->head));
	EXPECT_EQ(-1, ioctl(self->fd, variant->number, at));
	EXPECT_EQ(EFAULT, errno);
	munmap(map, page);
}

TEST_F(command, coded_size_does_not_matter)
{
	unsigned long number =
		_IOC(_IOC_DIR(variant->number), MORPH_IOC, _IOC_NR(variant->number), 8);
	int exact = RUN();

	memset(self->buffer, 0, sizeof(self->buffer));
	self->head->size = variant->bytes;
	EXPECT_EQ(exact, ioctl(self->fd, number, self->buffer) ? errno : 0);
}

TEST_F(command, other_type)
{
	EXPECT_EQ(-1, ioctl(self->fd, _IOWR(0x12, _IOC_NR(variant->number), long), self->buffer));
	EXPECT_EQ(ENOTTY, errno);
}

TEST_F(command, sentence_about_a_failure)
{
	char detail[16];

	memset(detail, 0x5a, sizeof(detail));
	self->head->flags = 1u << 31;
	self->head->detail_ptr = (uintptr_t)detail;
	self->head->detail_len = 8;
	EXPECT_EQ(EOPNOTSUPP, RUN());
	EXPECT_EQ(7, strnlen(detail, sizeof(detail)));
	EXPECT_EQ(0x5a, detail[8]);
	self->head->detail_len = 1;
	EXPECT_EQ(EOPNOTSUPP, RUN());
	EXPECT_EQ('\0', detail[0]);
	self->head->detail_len = 0;
	detail[0] = 'x';
	EXPECT_EQ(EOPNOTSUPP, RUN());
	EXPECT_EQ('x', detail[0]);
	/* The command must return its own error, even if its detail string has no valid address. */
	self->head->detail_len = 8;
	self->head->detail_ptr = 16;
	EXPECT_EQ(EOPNOTSUPP, RUN());
}

/* ------------------------------------------------------------------ numbers */

FIXTURE(numbers)
{
	struct sim sim;
	int slice;
};

FIXTURE_SETUP(numbers)
{
	sim_start(&self->sim, "server4", NULL);
	self->slice = slice_create(self->sim.fd, 2);
	ASSERT_LE(0, self->slice);
}

FIXTURE_TEARDOWN(numbers)
{
	close(self->slice);
	sim_stop(&self->sim);
}

TEST_F(numbers, other_values_are_unknown)
{
	struct morph_head head = { .size = sizeof(head) };
	unsigned int number;

	for (number = 0; number < 256; number++) {
		if (number > _IOC_NR(MORPH_FABRIC_READ_EDGES)) {
			EXPECT_EQ(-1, ioctl(self->sim.fd, _IO(MORPH_IOC, number), &head));
			EXPECT_EQ(ENOTTY, errno);
		}
		if (number > _IOC_NR(MORPH_FABRIC_READ_ELEMENTS) &&
		    number != _IOC_NR(MORPH_FABRIC_READ_EDGES) &&
		    (number < _IOC_NR(MORPH_SLICE_INFO) || number > _IOC_NR(MORPH_RING_ACT))) {
			EXPECT_EQ(-1, ioctl(self->slice, _IO(MORPH_IOC, number), &head));
			EXPECT_EQ(ENOTTY, errno);
		}
	}
}

TEST_F(numbers, info_speaks_the_truth)
{
	struct morph_fabric_info *info = &self->sim.info;

	sim_refresh(&self->sim);
	EXPECT_EQ(MORPH_ABI_VERSION, info->abi_version);
	EXPECT_EQ(self->sim.number, info->fabric);
	EXPECT_STREQ(self->sim.name, info->name);
	EXPECT_STREQ("server4", info->profile);
	EXPECT_EQ(MORPH_FABRIC_SIMULATED, info->features);
	EXPECT_EQ(MORPH_FABRIC_READY, info->state);
	EXPECT_EQ(4, info->accelerators);
	EXPECT_EQ(1, info->hosts);
	EXPECT_EQ(144, info->elements);
	EXPECT_EQ(240, info->guides);
	EXPECT_EQ(2, info->free);
	EXPECT_EQ(0, info->spares);
	EXPECT_EQ(1, info->slices);
	EXPECT_EQ(0, info->lent);
	EXPECT_NE(0, info->seq);
}

/* A structure with a field that must be zero. */
#define RESERVED(code, type, on_slice)                                               \
	{                                                                            \
		code, sizeof(struct type), offsetof(struct type, reserved), on_slice \
	}

static const struct {
	unsigned long number;
	size_t bytes;
	size_t offset;
	bool slice;
} reserved[] = {
	RESERVED(MORPH_FABRIC_READ_ACCELERATORS, morph_fabric_read, false),
	RESERVED(MORPH_FABRIC_READ_GUIDES, morph_fabric_read, false),
	RESERVED(MORPH_FABRIC_READ_ELEMENTS, morph_fabric_read, true),
	RESERVED(MORPH_FABRIC_READ_EDGES, morph_fabric_read, true),
	RESERVED(MORPH_SLICE_CREATE, morph_slice_create, false),
	RESERVED(MORPH_SLICE_DELETE, morph_slice_delete, false),
	RESERVED(MORPH_GRANT_CREATE, morph_grant_create, false),
	RESERVED(MORPH_CIRCUIT_PATH, morph_circuit_path, true),
	RESERVED(MORPH_TXN_RUN, morph_txn_run, true),
	RESERVED(MORPH_TXN_STEP, morph_txn_step, true),
	RESERVED(MORPH_SLICE_POLICY, morph_slice_policy, true),
};

TEST_F(numbers, reserved_fields)
{
	uint8_t buffer[256];
	struct morph_head *head = (struct morph_head *)buffer;
	unsigned int i, byte;

	for (i = 0; i < sizeof(reserved) / sizeof(*reserved); i++) {
		for (byte = 0; byte < 4; byte++) {
			memset(buffer, 0, sizeof(buffer));
			head->size = reserved[i].bytes;
			buffer[reserved[i].offset + byte] = 0x80;
			EXPECT_EQ(-1, ioctl(reserved[i].slice ? self->slice : self->sim.fd,
					    reserved[i].number, buffer));
			EXPECT_EQ(EOPNOTSUPP, errno);
			EXPECT_EQ(MORPH_REASON_ARGUMENT, head->reason);
		}
	}
}

/* ------------------------------------------------------------------- arrays */

#define READ(first_entry, pointer, room, bytes)                                       \
	{                                                                             \
		.head = HEAD(morph_fabric_read), .first = (first_entry), .entries = { \
			.ptr = (uintptr_t)(pointer),                                  \
			.count = (room),                                              \
			.stride = (bytes)                                             \
		}                                                                     \
	}

TEST_F(numbers, range_in_parts_and_whole)
{
	struct morph_element_info whole[200], part[3];
	struct morph_fabric_read all = READ(0, whole, 200, sizeof(*whole));
	unsigned int first, i;

	memset(whole, 0xcc, sizeof(whole));
	ASSERT_EQ(0, ioctl(self->sim.fd, MORPH_FABRIC_READ_ELEMENTS, &all));
	ASSERT_EQ(144, all.entries.count);
	EXPECT_EQ(0xcccccccc, whole[144].element);
	for (first = 0; first < 144; first += 3) {
		struct morph_fabric_read some = READ(first, part, 3, sizeof(*part));

		ASSERT_EQ(0, ioctl(self->slice, MORPH_FABRIC_READ_ELEMENTS, &some));
		ASSERT_EQ(3, some.entries.count);
		EXPECT_EQ(all.seq, some.seq);
		for (i = 0; i < 3; i++)
			EXPECT_EQ(0, memcmp(&whole[first + i], &part[i], sizeof(*part)));
	}
}

TEST_F(numbers, range_at_its_end)
{
	struct morph_guide_info guides[4];
	struct morph_fabric_read last = READ(239, guides, 4, sizeof(*guides));
	struct morph_fabric_read past = READ(240, guides, 4, sizeof(*guides));
	struct morph_fabric_read far = READ(0xffffffff, guides, 0xffffffff, sizeof(*guides));
	struct morph_fabric_read none = READ(0, NULL, 0, sizeof(*guides));

	ASSERT_EQ(0, ioctl(self->sim.fd, MORPH_FABRIC_READ_GUIDES, &last));
	EXPECT_EQ(1, last.entries.count);
	EXPECT_EQ(239, guides[0].guide);
	EXPECT_EQ(guides[0].lanes, guides[0].lanes_free);
	ASSERT_EQ(0, ioctl(self->sim.fd, MORPH_FABRIC_READ_GUIDES, &past));
	EXPECT_EQ(0, past.entries.count);
	ASSERT_EQ(0, ioctl(self->sim.fd, MORPH_FABRIC_READ_GUIDES, &far));
	EXPECT_EQ(0, far.entries.count);
	ASSERT_EQ(0, ioctl(self->sim.fd, MORPH_FABRIC_READ_GUIDES, &none));
	EXPECT_EQ(0, none.entries.count);
}

TEST_F(numbers, strides)
{
	struct {
		struct morph_accelerator_info info;
		uint64_t more[2];
	} wide[4];
	struct morph_fabric_read args = READ(0, wide, 4, sizeof(*wide));
	unsigned int i;

	memset(wide, 0xcc, sizeof(wide));
	ASSERT_EQ(0, ioctl(self->sim.fd, MORPH_FABRIC_READ_ACCELERATORS, &args));
	ASSERT_EQ(4, args.entries.count);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(i, wide[i].info.accelerator);
		EXPECT_EQ(0, wide[i].more[0]);
		EXPECT_EQ(0, wide[i].more[1]);
	}
	args.entries.stride = sizeof(struct morph_accelerator_info) - 1;
	EXPECT_EQ(-1, ioctl(self->sim.fd, MORPH_FABRIC_READ_ACCELERATORS, &args));
	EXPECT_EQ(EINVAL, errno);
	args.entries.stride = 1 << 20;
	EXPECT_EQ(-1, ioctl(self->sim.fd, MORPH_FABRIC_READ_ACCELERATORS, &args));
	EXPECT_EQ(E2BIG, errno);
	args = (struct morph_fabric_read)READ(0, 16, 4, sizeof(wide[0].info));
	EXPECT_EQ(-1, ioctl(self->sim.fd, MORPH_FABRIC_READ_ACCELERATORS, &args));
	EXPECT_EQ(EFAULT, errno);
}

/*
 * Entries of a program that is newer than the kernel: the kernel reads their unknown ends as zero.
 */
TEST_F(numbers, longer_entries_of_every_range)
{
	static const struct {
		unsigned long number;
		uint32_t bytes;
	} ranges[] = {
		{ MORPH_FABRIC_READ_ACCELERATORS, sizeof(struct morph_accelerator_info) },
		{ MORPH_FABRIC_READ_GUIDES, sizeof(struct morph_guide_info) },
		{ MORPH_FABRIC_READ_ELEMENTS, sizeof(struct morph_element_info) },
		{ MORPH_FABRIC_READ_EDGES, sizeof(struct morph_edge_info) },
	};
	static const uint8_t zeros[8];
	uint8_t entries[256];
	struct sim edges;
	unsigned int i;

	sim_start(&edges, "edge4", NULL);
	for (i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		struct morph_fabric_read args = READ(0, entries, 1, ranges[i].bytes + 8);

		memset(entries, 0xcc, sizeof(entries));
		EXPECT_EQ(0, ioctl(edges.fd, ranges[i].number, &args));
		EXPECT_EQ(1, args.entries.count);
		EXPECT_EQ(0, memcmp(zeros, entries + ranges[i].bytes, sizeof(zeros)));
		EXPECT_EQ(0xcc, entries[ranges[i].bytes + 8]);
		args.entries.stride = ranges[i].bytes - 1;
		EXPECT_EQ(-1, ioctl(edges.fd, ranges[i].number, &args));
		EXPECT_EQ(EINVAL, errno);
	}
	sim_stop(&edges);
}

TEST_F(numbers, changes_with_a_longer_stride)
{
	struct {
		struct morph_change change;
		uint64_t more;
	} wide = { .change = change_add(0, 1) };
	struct morph_txn_run args = {
		.head = HEAD(morph_txn_run),
		.generation = GENERATION_ANY,
		.changes = ARRAY(&wide, 1),
	};

	args.head.flags = MORPH_TXN_DRY_RUN;
	wide.more = 1;
	EXPECT_EQ(-1, ioctl(self->slice, MORPH_TXN_RUN, &args));
	EXPECT_EQ(E2BIG, errno);
	wide.more = 0;
	EXPECT_EQ(0, ioctl(self->slice, MORPH_TXN_RUN, &args));
	args.changes.stride = sizeof(wide.change) - 8;
	EXPECT_EQ(-1, ioctl(self->slice, MORPH_TXN_RUN, &args));
	EXPECT_EQ(EINVAL, errno);
}

/* The kernel cannot write the result back, so the request must fail and leave nothing. */
TEST_F(numbers, read_only_structure)
{
	struct morph_slice_create *args;
	size_t page = sysconf(_SC_PAGESIZE);
	int lowest;

	args = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, args);
	args->head.size = sizeof(*args);
	args->accelerators.count = 2;
	strcpy(args->name, "readonly");
	ASSERT_EQ(0, mprotect(args, page, PROT_READ));
	lowest = dup(0);
	close(lowest);
	EXPECT_EQ(-1, ioctl(self->sim.fd, MORPH_SLICE_CREATE, args));
	EXPECT_EQ(EFAULT, errno);
	/* No file, slice or accelerator is left behind. */
	EXPECT_EQ(-1, fcntl(lowest, F_GETFD));
	EXPECT_TRUE(sim_wait_free(&self->sim, 2));
	EXPECT_EQ(1, self->sim.info.slices);
	EXPECT_EQ(-1, slice_delete(self->sim.fd, MORPH_ANY, "readonly", MORPH_SLICE_FORCE));
	EXPECT_EQ(ENOENT, errno);
	munmap(args, page);
}

TEST_HARNESS_MAIN
