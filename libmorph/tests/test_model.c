// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Models of real profiles, whose paths the command line gives: each must load, tell
 * numbers, and be refused with any byte of it changed.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "fake.h"

static const char *const *profiles;

static char *file(const char *path, size_t *bytes)
{
	FILE *in = fopen(path, "r");
	struct stat status;
	char *data;

	if (!in || fstat(fileno(in), &status))
		fail_msg("%s can't be read", path);
	*bytes = (size_t)status.st_size;
	data = malloc(*bytes);
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
		assert_non_null(strstr(*path, morph_get_fabric_profile(info)));
		assert_int_equal(morph_get_fabric_profile_checksum(info),
				 morph_model_checksum(model));
		assert_true(morph_get_fabric_accelerators(info) > 0);
		assert_true(morph_get_fabric_guides(info) > 0);
		assert_true(morph_get_fabric_lane_mbps(info) > 0);
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

static void spoilt_profiles_are_refused(void **state)
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
	assert_int_equal(morph_model_parse(ctx, data, 0, &model), -EINVAL);
	assert_non_null(strstr(morph_error_text(ctx), "the profile of 0 bytes is malformed"));
	assert_int_equal(morph_model_parse(ctx, data, bytes, &model), 0);
	morph_model_put(model);
	assert_int_equal(morph_model_load(ctx, "/nonexistent", &model), -ENOENT);
	assert_int_equal(morph_model_load(ctx, "/", &model), -EINVAL);
	free(data);
	morph_ctx_free(ctx);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profiles_load),
		cmocka_unit_test(spoilt_profiles_are_refused),
	};

	if (count < 2) {
		fprintf(stderr, "usage: %s PROFILE...\n", arguments[0]);
		return 2;
	}
	profiles = (const char *const *)arguments + 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
