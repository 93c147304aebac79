// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of values in both directions, schemas, numbers and UUIDs, options. */
#include "../internal/client.h"
#include "fake.h"

static void words_are_those_of_the_abi(void **state)
{
	(void)state;
	assert_string_equal(morph_enum_name(MORPH_ENUM_HEALTH, MORPH_HEALTH_QUARANTINED),
			    "quarantined");
	assert_string_equal(morph_enum_name(MORPH_ENUM_REASON, MORPH_REASON_ACCELERATORS),
			    "accelerators");
	assert_string_equal(morph_enum_name(MORPH_ENUM_REASON, MORPH_REASON_ARGUMENT), "argument");
	assert_string_equal(morph_enum_name(MORPH_ENUM_OUTCOME, MORPH_OUTCOME_ROLLED_BACK),
			    "rolled-back");
	assert_string_equal(morph_enum_name(MORPH_ENUM_EVENT_TYPE, MORPH_EVENT_FABRIC_GONE),
			    "fabric-gone");
	assert_string_equal(morph_enum_name(MORPH_ENUM_CHANGE_OP, MORPH_CHANGE_MOVE), "move");
	assert_null(morph_enum_name(MORPH_ENUM_HEALTH, 4));
	assert_null(morph_enum_name(MORPH_ENUM_REASON, 15)); /* a gap */
	assert_null(morph_enum_name(0, 0));
	assert_null(morph_enum_name(1000, 0));
}

static void words_are_found_whatever_their_case(void **state)
{
	(void)state;
	assert_int_equal(morph_enum_value(MORPH_ENUM_REASON, "gave-up"), MORPH_REASON_GAVE_UP);
	assert_int_equal(morph_enum_value(MORPH_ENUM_REASON, "Gave_Up"), MORPH_REASON_GAVE_UP);
	assert_int_equal(morph_enum_value(MORPH_ENUM_REASON, "gave"), -EINVAL);
	assert_int_equal(morph_enum_value(MORPH_ENUM_REASON, "gave-up-"), -EINVAL);
	assert_int_equal(morph_enum_value(MORPH_ENUM_REASON, ""), -EINVAL);
	assert_int_equal(morph_enum_value(0, "ok"), -EINVAL);
}

static void every_word_has_its_value(void **state)
{
	size_t words = 0;

	(void)state;
	for (uint32_t e = MORPH_ENUM_REASON; morph_enum_word(e, 0); e++) {
		const char *word;

		for (size_t at = 0; (word = morph_enum_word(e, at)); at++, words++) {
			int64_t value = morph_enum_value(e, word);

			assert_true(value >= 0);
			assert_string_equal(morph_enum_name(e, (uint32_t)value), word);
		}
		assert_null(morph_enum_word(e, SIZE_MAX));
	}
	assert_null(morph_enum_word(0, 0));
	assert_null(morph_enum_word(100000, 0));
	assert_true(words > 80);
}

static void schemas_have_every_attribute_once(void **state)
{
	struct morph_attr attr = { .sz = sizeof(attr) }, other = { .sz = sizeof(other) };
	size_t count = 0;

	(void)state;
	for (uint32_t type = MORPH_OBJECT_FABRIC; type <= MORPH_OBJECT_RESYNC; type++) {
		for (size_t at = 0; morph_schema_attr(type, at, &attr); at++) {
			assert_true(attr.type >= MORPH_ATTR_UINT);
			assert_true(attr.type <= MORPH_ATTR_OBJECT);
			assert_true(!!attr.enumeration == (attr.type == MORPH_ATTR_ENUM));
			assert_true(strlen(attr.doc) > 0);
			for (size_t before = 0; before < at; before++) {
				assert_true(morph_schema_attr(type, before, &other));
				assert_string_not_equal(attr.name, other.name);
			}
		}
		assert_false(morph_schema_attr(type, SIZE_MAX, &attr));
	}
	assert_false(morph_schema_attr(0, 0, &attr));
	assert_false(morph_schema_attr(100000, 0, &attr));
	assert_string_equal(morph_object_type_name(MORPH_OBJECT_WHY_NOT), "why-not");
	assert_null(morph_object_type_name(0));
	assert_null(morph_object_type_name(40));
	assert_null(morph_object_type_name(100000));
	while (morph_schema_attr(MORPH_OBJECT_RANK, count, &attr))
		count++;
	assert_int_equal(count, 10);
	assert_true(morph_schema_attr(MORPH_OBJECT_RANK, 5, &attr));
	assert_string_equal(attr.name, "spare");
	assert_true(morph_schema_attr(MORPH_OBJECT_CIRCUIT, 18, &attr));
	assert_true(attr.is_list);
}

static void numbers_are_numbers_only(void **state)
{
	uint32_t value = 7;

	(void)state;
	assert_true(lm_number("4294967295", &value));
	assert_int_equal(value, UINT32_MAX);
	assert_true(lm_number("0", &value));
	assert_int_equal(value, 0);
	assert_false(lm_number("4294967296", &value));
	assert_false(lm_number("99999999999999999999", &value));
	assert_false(lm_number("-1", &value));
	assert_false(lm_number(" 1", &value));
	assert_false(lm_number("1 ", &value));
	assert_false(lm_number("", &value));
}

static void uuids_are_read_in_both_forms(void **state)
{
	static const uint8_t expected[MORPH_UUID_BYTES] = {
		0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 1, 2, 3, 4, 5, 6, 7, 0xff,
	};
	uint8_t bytes[MORPH_UUID_BYTES];

	(void)state;
	assert_true(lm_uuid_parse("12345678-9abc-def0-0102-0304050607ff", bytes));
	assert_memory_equal(bytes, expected, sizeof(bytes));
	assert_true(lm_uuid_parse("123456789ABCDEF001020304050607FF", bytes));
	assert_memory_equal(bytes, expected, sizeof(bytes));
	assert_false(lm_uuid_parse("12345678-9abc-def0-0102-0304050607f", bytes));
	assert_false(lm_uuid_parse("12345678-9abc-def0-0102-0304050607fff", bytes));
	assert_false(lm_uuid_parse("1234-56789abc-def0-0102-0304050607ff", bytes));
	assert_false(lm_uuid_parse("pod-a", bytes));
}

static void unknown_options_are_refused(void **state)
{
	struct {
		struct morph_ctx_opts known;
		char unknown[8];
	} opts = { .known.sz = sizeof(opts) };
	struct morph_ctx *ctx;

	(void)state;
	assert_int_equal(morph_ctx_new(&opts.known, &ctx), 0);
	morph_ctx_free(ctx);
	opts.unknown[3] = 1;
	assert_int_equal(morph_ctx_new(&opts.known, &ctx), -E2BIG);
	assert_null(ctx);
	opts.known.sz = 3;
	assert_int_equal(morph_ctx_new(&opts.known, &ctx), -EINVAL);
	opts.known.sz = sizeof(size_t); /* a program of a time when there were no options */
	opts.known.unrecorded = 2;
	assert_int_equal(morph_ctx_new(&opts.known, &ctx), 0);
	morph_ctx_free(ctx);
	opts.known.sz = sizeof(opts.known);
	assert_int_equal(morph_ctx_new(&opts.known, &ctx), -EINVAL);
}

static void recording_and_replay_exclude_each_other(void **state)
{
	MORPH_OPTS(morph_ctx_opts, opts, .record_path = "a", .replay_path = "b");
	struct morph_ctx *ctx;

	(void)state;
	assert_int_equal(morph_ctx_new(&opts, &ctx), -EINVAL);
	opts.record_path = NULL;
	opts.replay_path = "/nonexistent/recording";
	assert_int_equal(morph_ctx_new(&opts, &ctx), -ENOENT);
	opts.replay_path = NULL;
	opts.record_path = "/nonexistent/recording";
	assert_int_equal(morph_ctx_new(&opts, &ctx), -ENOENT);
}

static void freeing_nothing_is_allowed(void **state)
{
	(void)state;
	morph_ctx_free(NULL);
	morph_object_free(NULL);
	morph_list_free(NULL);
	morph_fabric_close(NULL);
	morph_request_free(NULL);
	morph_slice_close(NULL);
	morph_txn_free(NULL);
	morph_monitor_free(NULL);
	morph_watch_free(NULL);
	assert_int_equal(morph_list_count(NULL), 0);
	assert_string_equal(morph_library_version(), "1.0.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_those_of_the_abi),
		cmocka_unit_test(words_are_found_whatever_their_case),
		cmocka_unit_test(every_word_has_its_value),
		cmocka_unit_test(schemas_have_every_attribute_once),
		cmocka_unit_test(numbers_are_numbers_only),
		cmocka_unit_test(uuids_are_read_in_both_forms),
		cmocka_unit_test(unknown_options_are_refused),
		cmocka_unit_test(recording_and_replay_exclude_each_other),
		cmocka_unit_test(freeing_nothing_is_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
