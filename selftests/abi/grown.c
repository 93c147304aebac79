// SPDX-License-Identifier: GPL-2.0-only
/*
 * Array entries of another version: a program passes more bytes per entry than the kernel knows, or
 * exactly those of the first version. abi.c does the same for structures, ranges and changes.
 */
#include <string.h>
#include <sys/ioctl.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define RANKS 4u
#define MORE 8u /* bytes of an entry that the kernel does not know */
#define MOST_BYTES 512u /* of an entry with these bytes */

FIXTURE(grown)
{
	struct sim sim;
	int slice;
	unsigned int circuit; /* a lit one */
};

FIXTURE_SETUP(grown)
{
	struct morph_change change = change_add(0, 1);

	sim_start(&self->sim, "server8", NULL);
	self->slice = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	self->circuit = change.circuit;
}

FIXTURE_TEARDOWN(grown)
{
	close(self->slice);
	sim_stop(&self->sim);
}

/* ------------------------------------------------------------------------ input */

/* The arrays of a schedule with one circuit. */
struct request {
	struct morph_schedule_circuit circuit;
	struct morph_schedule_step step;
	uint32_t held;
};

#define REQUEST                                                        \
	{                                                              \
		.circuit = { .src_rank = 2, .dst_rank = 3 },           \
		.step = { .count = 1, .advance = MORPH_ADVANCE_CALL }, \
	}

static struct morph_schedule_load load_of(struct request *request)
{
	return (struct morph_schedule_load){
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(&request->circuit, 1),
		.steps = ARRAY(&request->step, 1),
		.held = ARRAY(&request->held, 1),
		.generation = GENERATION_ANY,
	};
}

/* Load a schedule, unload it, and return the errno of the load, or 0. */
static int load(int slice, struct morph_schedule_load *args)
{
	int ret = ioctl(slice, MORPH_SCHEDULE_LOAD, args) ? errno : 0;

	if (!ret)
		schedule_act(slice, args->out_schedule, MORPH_SCHEDULE_UNLOAD, NULL);
	return ret;
}

/*
 * Give the array its entry with a longer stride, an unknown non-zero byte, and a shorter stride.
 * The refusals name the array.
 */
#define EXPECT_INPUT_GROWS(array, name, entry, call)                              \
	do {                                                                      \
		uint8_t wide[MOST_BYTES] = {};                                    \
		const struct morph_array kept = array;                            \
                                                                                  \
		memcpy(wide, entry, sizeof(*(entry)));                            \
		array.ptr = (uintptr_t)wide;                                      \
		array.stride = sizeof(*(entry)) + MORE;                           \
		EXPECT_EQ(0, call);                                               \
		wide[sizeof(*(entry)) + MORE - 1] = 1;                            \
		EXPECT_EQ(E2BIG, call);                                           \
		EXPECT_EQ(0, strncmp(last_detail, name "[0]", sizeof(name) + 2)); \
		array.stride = sizeof(*(entry));                                  \
		EXPECT_EQ(0, call);                                               \
		array.stride = sizeof(*(entry)) - 1;                              \
		EXPECT_EQ(EINVAL, call);                                          \
		EXPECT_EQ(0, strncmp(last_detail, name ".", sizeof(name)));       \
		array = kept;                                                     \
	} while (0)

TEST_F(grown, entries_of_a_schedule)
{
	struct request request = REQUEST;
	struct morph_schedule_load args = load_of(&request);

	ASSERT_EQ(0, load(self->slice, &args))
	TH_LOG("%s", last_detail);
	EXPECT_INPUT_GROWS(args.circuits, "circuits", &request.circuit, load(self->slice, &args));
	EXPECT_INPUT_GROWS(args.steps, "steps", &request.step, load(self->slice, &args));
	EXPECT_INPUT_GROWS(args.held, "held", &request.held, load(self->slice, &args));
}

static int dry_run(int fabric, struct morph_slice_create *args)
{
	return ioctl(fabric, MORPH_SLICE_CREATE, args) ? errno : 0;
}

TEST_F(grown, accelerators_and_spares)
{
	uint32_t accelerator = 6, spare = 7;
	struct morph_slice_create args = {
		.head = HEAD(morph_slice_create),
		.accelerators = ARRAY(&accelerator, 1),
		.spares = ARRAY(&spare, 1),
		.spare_policy = MORPH_SPARES_LIST,
	};

	args.head.flags = MORPH_SLICE_DRY_RUN;
	ASSERT_EQ(0, dry_run(self->sim.fd, &args))
	TH_LOG("%s", last_detail);
	EXPECT_INPUT_GROWS(args.accelerators, "accelerators", &accelerator,
			   dry_run(self->sim.fd, &args));
	EXPECT_INPUT_GROWS(args.spares, "spares", &spare, dry_run(self->sim.fd, &args));
}

TEST_F(grown, changes)
{
	struct morph_change change = change_add(2, 3);
	struct morph_txn_run args = {
		.head = HEAD(morph_txn_run),
		.changes = ARRAY(&change, 1),
		.generation = GENERATION_ANY,
	};

	args.head.flags = MORPH_TXN_DRY_RUN;
	EXPECT_INPUT_GROWS(args.changes, "changes", &change,
			   ioctl(self->slice, MORPH_TXN_RUN, &args) ? errno : 0);
}

/* ----------------------------------------------------------------------- output */

/* Bytes of an entry that the kernel does not know become zero; bytes behind it stay. */
#define EXPECT_OUTPUT_GROWS(array, bytes, call)                           \
	do {                                                              \
		uint8_t wide[RANKS * MOST_BYTES];                         \
		uint64_t unknown = 1;                                     \
		uint32_t at;                                              \
                                                                          \
		memset(wide, 0xcc, sizeof(wide));                         \
		array = (struct morph_array){ .ptr = (uintptr_t)wide,     \
					      .count = RANKS,             \
					      .stride = (bytes) + MORE }; \
		EXPECT_EQ(0, call);                                       \
		at = (array.count - 1) * array.stride;                    \
		memcpy(&unknown, wide + at + (bytes), MORE);              \
		EXPECT_EQ(0, unknown);                                    \
		EXPECT_EQ(0xcc, wide[at + (bytes) + MORE]);               \
		array.count = RANKS;                                      \
		array.stride = (bytes);                                   \
		EXPECT_EQ(0, call);                                       \
		array.count = RANKS;                                      \
		array.stride = (bytes)-1;                                 \
		EXPECT_EQ(EINVAL, call);                                  \
		array = (struct morph_array){};                           \
	} while (0)

TEST_F(grown, ranks_and_circuits)
{
	struct morph_slice_info args = { .head = HEAD(morph_slice_info) };

	EXPECT_OUTPUT_GROWS(args.ranks, sizeof(struct morph_rank_info),
			    ioctl(self->slice, MORPH_SLICE_INFO, &args) ? errno : 0);
	EXPECT_OUTPUT_GROWS(args.circuits, sizeof(struct morph_circuit_info),
			    ioctl(self->slice, MORPH_SLICE_INFO, &args) ? errno : 0);
}

TEST_F(grown, elements_of_a_path)
{
	struct morph_circuit_path args = {
		.head = HEAD(morph_circuit_path),
		.circuit = self->circuit,
	};

	EXPECT_OUTPUT_GROWS(args.elements, sizeof(struct morph_path_element),
			    ioctl(self->slice, MORPH_CIRCUIT_PATH, &args) ? errno : 0);
}

TEST_F(grown, steps_of_a_schedule)
{
	struct request request = REQUEST;
	struct morph_schedule_load args = load_of(&request);
	struct morph_schedule_info info = { .head = HEAD(morph_schedule_info) };

	ASSERT_EQ(0, ioctl(self->slice, MORPH_SCHEDULE_LOAD, &args));
	EXPECT_OUTPUT_GROWS(info.steps, sizeof(struct morph_schedule_step_info),
			    ioctl(self->slice, MORPH_SCHEDULE_INFO, &info) ? errno : 0);
}

TEST_HARNESS_MAIN
