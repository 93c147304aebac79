// SPDX-License-Identifier: LGPL-2.1-or-later
/* Files of a shim's plans: the shim reads its own files, and refuses all others. */
#include <stdio.h>

#include "../internal/planner.h"
#include "../bench/random.h"
#include "faults.h"
#include "scheduling.h"
#include "shims.h"

static uint8_t *some_file(uint32_t ranks, uint32_t planes, size_t *bytes)
{
	struct morph_shim *shim = some_shim(ranks, planes);
	const struct morph_shim_plan *last = NULL;
	uint8_t *data;

	for (uint32_t kind = 1; kind <= KINDS; kind++)
		last = look_up(shim, kind, 3000, last);
	look_up(shim, MORPH_ALL_REDUCE, 3000, last);
	data = write_shim(shim, bytes);
	morph_shim_free(shim);
	return data;
}

static void out_of_memory_nothing_is_read(void **state)
{
	size_t bytes;
	uint8_t *data = some_file(4, 2, &bytes);
	bool struck = true;

	(void)state;
	for (unsigned int nth = 1; struck; nth++) {
		struct morph_shim *shim = some_shim(4, 2);
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = morph_shim_read(shim, data, bytes);
		struck = fault_struck();
		assert_true(!ret || (struck && ret == -ENOMEM));
		morph_shim_free(shim);
	}
	free(data);
}

static void written_plans_are_read(void **state)
{
	struct morph_shim *writes = some_shim(8, 2), *reads = some_shim(8, 2);
	const struct morph_shim_plan *theirs = NULL, *ours = NULL;
	size_t bytes, again;
	uint8_t *data, *copy;

	(void)state;
	for (uint32_t at = 0; at < 20; at++)
		theirs = look_up(writes, 1 + at % KINDS, 1000 << at % 3 * 4, theirs);
	data = write_shim(writes, &bytes);
	assert_int_equal(morph_shim_read(reads, data, bytes), 0);
	assert_int_equal(morph_shim_plans(reads, NULL), morph_shim_plans(writes, NULL));
	theirs = NULL;
	for (uint32_t at = 0; at < 20; at++) {
		theirs = look_up(writes, 1 + at % KINDS, 1000 << at % 3 * 4, theirs);
		allocations();
		ours = look_up(reads, 1 + at % KINDS, 1000 << at % 3 * 4, ours);
		assert_int_equal(allocations(), 0);
		assert_same_plan(ours, theirs);
	}
	copy = write_shim(reads, &again);
	assert_int_equal(again, bytes);
	assert_memory_equal(copy, data, bytes);
	assert_shim_refused(reads, morph_shim_read(reads, data, bytes), -EEXIST,
			    "plans are already loaded");
	free(copy);
	free(data);
	morph_shim_free(reads);
	morph_shim_free(writes);
}

/* The caller gave no torus. The plan found one, and the answer and the file contain it. */
static void a_torus_is_found_and_kept(void **state)
{
	struct morph_shim *writes = some_shim(36, 2), *reads = some_shim(36, 2);
	const struct morph_shim_plan *plan = look_up(writes, MORPH_ALL_REDUCE, 65536, NULL);
	struct morph_choice choice;
	size_t bytes;
	uint8_t *data = write_shim(writes, &bytes);

	(void)state;
	morph_shim_plan_choice(plan, &choice);
	assert_int_equal(choice.algorithm, MORPH_RINGS);
	assert_true(choice.extent[0] > 1 && choice.extent[1] > 1);
	assert_int_equal(morph_shim_read(reads, data, bytes), 0);
	assert_same_plan(look_up(reads, MORPH_ALL_REDUCE, 65536, NULL), plan);
	free(data);
	morph_shim_free(reads);
	morph_shim_free(writes);
}

/* Another fabric, delay, group size, or way of planning. */
static void stale_files_are_refused(void **state)
{
	MORPH_OPTS(morph_shim_opts, right, .ranks = 4, .planes = 2, .parts = 2,
		   .profile_checksum = 0x1234);
	static const char *const whys[] = {
		"the plans are for another number of ranks",
		"the plans are for another number of planes",
		"the plans are for another policy",
		"the plans are for another root",
		"the plans are for other sizes",
		"the plans are for another profile",
	};
	struct morph_delay *delay = some_delay(MORPH_DELAY_PLANE_SCOPE);
	struct morph_shim *shim;
	size_t bytes;
	uint8_t *data = some_file(4, 2, &bytes);

	(void)state;
	for (uint32_t at = 0; at < 6; at++) {
		struct morph_shim_opts opts = right;

		*(uint32_t *[]){ &opts.ranks, &opts.planes, &opts.policy,
				 &opts.root,  &opts.parts,  &opts.profile_checksum }[at] += 2;
		shim = shim_of(&opts);
		assert_shim_refused(shim, morph_shim_read(shim, data, bytes), -ESTALE, whys[at]);
		assert_int_equal(morph_shim_plans(shim, NULL), 0);
		morph_shim_free(shim);
	}
	right.budget = 7;
	shim = shim_of(&right);
	assert_shim_refused(shim, morph_shim_read(shim, data, bytes), -ESTALE,
			    "the plans are for another budget");
	morph_shim_free(shim);
	right.budget = 0;
	right.late_ns = 1ULL << 33;
	shim = shim_of(&right);
	assert_shim_refused(shim, morph_shim_read(shim, data, bytes), -ESTALE,
			    "the plans are for another delay of the late rank");
	morph_shim_free(shim);
	right.late_ns = 0;
	assert_int_equal(morph_shim_new(ctx, delay, &right, &shim), 0);
	assert_shim_refused(shim, morph_shim_read(shim, data, bytes), -ESTALE,
			    "the plans are for other delays");
	morph_shim_free(shim);
	right.most_plans = 3;
	shim = shim_of(&right);
	assert_shim_refused(shim, morph_shim_read(shim, data, bytes), -ENOSPC, "it has 6 plans");
	morph_shim_free(shim);
	morph_delay_free(delay);
	free(data);
}

static void truncated_and_corrupt_files_are_refused(void **state)
{
	struct morph_shim *shim = some_shim(3, 1);
	size_t bytes;
	uint8_t *data = some_file(3, 1, &bytes);
	char why[256];

	(void)state;
	for (size_t less = 0; less < bytes; less++) {
		uint8_t *cut = malloc(less + 1);
		int ret;

		memcpy(cut, data, less);
		ret = morph_shim_read(shim, cut, less);
		assert_int_equal(ret, -EINVAL);
		morph_shim_why(shim, why, sizeof(why));
		assert_true(*why);
		free(cut);
	}
	for (size_t at = 0; at < bytes; at++) {
		data[at] ^= 0x10;
		assert_true(morph_shim_read(shim, data, bytes) < 0);
		data[at] ^= 0x10;
	}
	data[bytes - 5] ^= 1;
	assert_shim_refused(shim, morph_shim_read(shim, data, bytes), -EBADMSG,
			    "its checksum is wrong");
	data[bytes - 5] ^= 1;
	data[4] ^= 1;
	assert_shim_refused(shim, morph_shim_read(shim, data, bytes), -EINVAL, "it has version ");
	data[4] ^= 1;
	assert_int_equal(morph_shim_plans(shim, NULL), 0);
	assert_int_equal(morph_shim_read(shim, data, bytes), 0);
	free(data);
	morph_shim_free(shim);
}

static uint32_t crc_of(const uint8_t *data, size_t bytes)
{
	uint32_t crc = UINT32_MAX;

	while (bytes--) {
		crc ^= *data++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

/*
 * A file with a valid checksum and an invalid word. Plans that the shim accepts can be used
 * completely.
 */
static void hostile_files_do_no_harm(void **state)
{
	static const uint32_t words[] = { 0, 1, 2, 7, 0x7fffffff, 0xffffffff };
	size_t bytes, refused = 0, tried = 0;
	uint8_t *data = some_file(3, 1, &bytes);

	(void)state;
	for (size_t at = 3; at < bytes / 4 - 1; at++) {
		uint32_t kept, crc;

		memcpy(&kept, data + 4 * at, 4);
		for (size_t word = 0; word < sizeof(words) / sizeof(*words); word++) {
			struct morph_shim *shim = some_shim(3, 1);
			const struct morph_shim_plan *plan, *last = NULL;
			struct morph_object *object;
			int ret;

			memcpy(data + 4 * at, &words[word], 4);
			crc = crc_of(data, bytes - 4);
			memcpy(data + bytes - 4, &crc, 4);
			ret = morph_shim_read(shim, data, bytes);
			refused += ret < 0;
			tried += words[word] != kept;
			for (uint32_t kind = 1; !ret && kind <= KINDS; kind++) {
				if (morph_shim_lookup(shim, kind, 3000, last, &plan))
					continue;
				last = plan;
				assert_int_equal(morph_schedule_describe(
							 morph_shim_plan_schedule(plan), &object),
						 0);
				morph_object_free(object);
			}
			morph_shim_free(shim);
		}
		memcpy(data + 4 * at, &kept, 4);
	}
	print_message("refused %zu of %zu corrupted words\n", refused, tried);
	assert_true(refused * 2 > tried);
	free(data);
}

/* The parameters of an algorithm determine its rounds. They are checked before the schedule. */
static void invalid_parameters_are_refused(void **state)
{
	static const struct {
		/* of the first plan, behind the head, what plans are for, and their number */
		size_t at;
		uint32_t word;
	} corrupted[] = { { 30, 4097 }, { 31, 257 }, { 32, 4097 }, { 33, 4097 }, { 34, 4097 } };
	size_t bytes;
	uint8_t *data = some_file(3, 1, &bytes);

	(void)state;
	for (size_t at = 0; at < sizeof(corrupted) / sizeof(*corrupted); at++) {
		struct morph_shim *shim = some_shim(3, 1);
		uint8_t *copy = malloc(bytes);
		uint32_t crc;

		memcpy(copy, data, bytes);
		memcpy(copy + 4 * corrupted[at].at, &corrupted[at].word, 4);
		crc = crc_of(copy, bytes - 4);
		memcpy(copy + bytes - 4, &crc, 4);
		assert_shim_refused(shim, morph_shim_read(shim, copy, bytes), -EINVAL,
				    "the description of its schedule is malformed");
		free(copy);
		morph_shim_free(shim);
	}
	free(data);
}

/* A file beyond the limit takes no capacity from later plans. */
static void plans_that_are_not_read_take_no_room(void **state)
{
	MORPH_OPTS(morph_shim_opts, opts, .ranks = 8, .planes = 2);
	struct morph_shim *shim = shim_of(&opts);
	size_t bytes;
	uint8_t *data;

	(void)state;
	look_up(shim, MORPH_ALL_TO_ALL, 3000, NULL);
	morph_shim_plans(shim, &opts.most_bytes);
	opts.most_bytes--;
	data = write_shim(shim, &bytes);
	morph_shim_free(shim);
	shim = shim_of(&opts);
	assert_int_equal(morph_shim_read(shim, data, bytes), -ENOSPC);
	look_up(shim, MORPH_BROADCAST, 64, NULL);
	free(data);
	morph_shim_free(shim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_memory_nothing_is_read),
		cmocka_unit_test(written_plans_are_read),
		cmocka_unit_test(a_torus_is_found_and_kept),
		cmocka_unit_test(stale_files_are_refused),
		cmocka_unit_test(truncated_and_corrupt_files_are_refused),
		cmocka_unit_test(hostile_files_do_no_harm),
		cmocka_unit_test(invalid_parameters_are_refused),
		cmocka_unit_test(plans_that_are_not_read_take_no_room),
	};

	return cmocka_run_group_tests_name("shim files", tests, begin, end);
}
