// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Models of real profiles, whose paths are on the command line. Each must load and give its
 * numbers. The library must refuse it with any byte changed.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "../internal/planner.h"
#include "../internal/client.h"
#include "fake.h"

static const char *const *profiles;

static char *file(const char *path, size_t *bytes)
{
	FILE *in = fopen(path, "r");
	struct stat status = { 0 };
	char *data;

	if (!in || fstat(fileno(in), &status))
		fail_msg("cannot read %s", path);
	*bytes = (size_t)status.st_size;
	data = malloc(*bytes + 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *bytes, in), *bytes);
	fclose(in);
	return data;
}

static void profiles_load(void **state)
{
	struct morph_ctx *ctx = fake_ctx(&fake_new()->transport);
	struct morph_object *info;
	struct morph_model *model;

	(void)state;
	for (const char *const *path = profiles; *path; path++) {
		assert_int_equal(morph_model_load(ctx, *path, &model), 0);
		assert_int_equal(morph_model_info(ctx, model, &info), 0);
		assert_non_null(strstr(*path, morph_object_text(info, "profile")));
		assert_int_equal(morph_object_uint(info, "profile-checksum"),
				 morph_model_checksum(model));
		assert_true(morph_object_uint(info, "accelerators") > 0);
		assert_true(morph_object_uint(info, "guides") > 0);
		assert_true(morph_object_uint(info, "lane-mbps") > 0);
		assert_int_equal(morph_model_check(ctx, model, info), 0);
		assert_int_equal(lm_put_uint(info, MORPH_A_FABRIC_PROFILE_CHECKSUM, 1), 0);
		assert_int_equal(morph_model_check(ctx, model, info), -ESTALE);
		assert_ptr_equal(morph_model_get(model), model);
		morph_model_put(model);
		assert_true(morph_model_checksum(model) != 0); /* still held */
		morph_model_put(model);
		morph_object_free(info);
	}
	morph_model_put(NULL);
	morph_ctx_free(ctx);
}

static void corrupt_profiles_are_refused(void **state)
{
	struct morph_ctx *ctx = fake_ctx(&fake_new()->transport);
	struct morph_model *model;
	size_t bytes;
	char *data = file(profiles[0], &bytes);

	(void)state;
	for (size_t at = 0; at < bytes; at += 1 + bytes / 500) {
		data[at] ^= 0x10;
		assert_int_equal(morph_model_parse(ctx, data, bytes, &model), -EINVAL);
		assert_null(model);
		data[at] ^= 0x10;
	}
	assert_int_equal(morph_model_parse(ctx, data, bytes - 1, &model), -EINVAL);
	assert_int_equal(morph_model_parse(ctx, NULL, 0, &model), -EINVAL);
	assert_non_null(strstr(morph_error_text(ctx), "the profile of 0 bytes is malformed"));
	assert_int_equal(morph_model_parse(ctx, data, bytes, &model), 0);
	morph_model_put(model);
	assert_int_equal(morph_model_load(ctx, "/nonexistent", &model), -ENOENT);
	assert_int_equal(morph_model_load(ctx, "/", &model), -EINVAL);
	fault_at("read", 1, EINTR); /* which is no reason to give up */
	assert_int_equal(morph_model_load(ctx, profiles[0], &model), 0);
	assert_true(fault_struck());
	morph_model_put(model);
	fault_at("read", 1, EIO);
	assert_int_equal(morph_model_load(ctx, profiles[0], &model), -EIO);
	free(data);
	morph_ctx_free(ctx);
}

static uint32_t stated; /* the profile's checksum that the transaction contains */

static int device(struct fake *fake, unsigned long command, void *argument)
{
	const struct morph_txn_run *run = argument;

	(void)fake;
	if (command != MORPH_TXN_RUN)
		return 0;
	stated = run->profile_checksum;
	return -ESTALE;
}

static void refuse_apply(struct fake *fake, const struct nlmsghdr *request)
{
	uint32_t at = fake_offset(request, MORPH_A_TXN_PROFILE_CHECKSUM, 0);

	stated = nla_get_u32((struct nlattr *)((char *)request + at));
	fake_refuse(fake, ESTALE, "another profile", at, 0, 0);
}

static void a_transaction_states_its_model(void **state)
{
	struct fake *fake = fake_new();
	struct morph_ctx *ctx = fake_ctx(&fake->transport);
	struct morph_txn *txn = morph_txn_new(ctx);
	struct morph_slice *slice;
	struct morph_model *model;

	(void)state;
	fake->ioctl = device;
	fake->request = refuse_apply;
	assert_int_equal(morph_model_load(ctx, profiles[0], &model), 0);
	assert_int_equal(morph_slice_open(ctx, "9", &slice), 0);
	assert_int_equal(morph_txn_remove(txn, 1), 0);
	SET_TXN(txn, .profile_checksum = morph_model_checksum(model));
	assert_int_equal(morph_txn_run(slice, txn, NULL), -ESTALE);
	assert_int_equal(stated, morph_model_checksum(model));
	stated = 0;
	assert_int_equal(morph_admin_circuit_apply(ctx, 3, 9, txn, NULL), -ESTALE);
	assert_int_equal(stated, morph_model_checksum(model));
	assert_string_equal(ERROR_OF(ctx, attribute), "profile-checksum");
	morph_txn_clear(txn);
	assert_int_equal(morph_txn_remove(txn, 1), 0);
	assert_int_equal(morph_txn_run(slice, txn, NULL), -ESTALE);
	assert_int_equal(stated, 0);
	morph_slice_close(slice);
	morph_txn_free(txn);
	morph_model_put(model);
	morph_ctx_free(ctx);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profiles_load),
		cmocka_unit_test(corrupt_profiles_are_refused),
		cmocka_unit_test(a_transaction_states_its_model),
	};

	if (count < 2) {
		fprintf(stderr, "usage: %s PROFILE...\n", arguments[0]);
		return 2;
	}
	profiles = (const char *const *)arguments + 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
