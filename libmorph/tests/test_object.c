// SPDX-License-Identifier: LGPL-2.1-or-later
/* Objects and lists. */
#include "../internal/client.h"
#include "fake.h"

static void values_come_in_the_order_of_the_schema(void **state)
{
	struct morph_object *object = lm_object_new(MORPH_OBJECT_CIRCUIT, "circuit-get");
	struct morph_attr attr = { .sz = sizeof(attr) };
	char *text;

	(void)state;
	assert_int_equal(lm_put_uint(object, MORPH_A_CIRCUIT_GUIDE, 9), 0);
	assert_int_equal(lm_put_uint(object, MORPH_A_CIRCUIT_ELEMENT, 40), 0);
	assert_int_equal(lm_put_uint(object, MORPH_A_CIRCUIT_ID, 3), 0);
	assert_int_equal(lm_put_sint(object, MORPH_A_CIRCUIT_MARGIN_MDB, -250), 0);
	assert_int_equal(lm_put_uint(object, MORPH_A_CIRCUIT_GUIDE, 8), 0);
	assert_int_equal(lm_put_uint(object, MORPH_A_CIRCUIT_STATE, MORPH_CIRCUIT_FAILED), 0);
	assert_int_equal(lm_put_uint(object, MORPH_A_CIRCUIT_ELEMENT, 41), 0);
	text = fake_print(object);
	assert_string_equal(text,
			    "circuit{id=3 state=failed margin-mdb=-250 guide=9,8 element=40,41}");
	free(text);
	assert_string_equal(morph_object_command(object), "circuit-get");
	assert_int_equal(morph_object_uint_at(object, "guide", 1), 8);
	assert_int_equal(morph_object_uint_at(object, "guide", 2), 0);
	assert_int_equal(morph_object_values(object, "guide"), 2);
	assert_int_equal(morph_object_sint(object, "margin-mdb"), -250);
	assert_int_equal(morph_object_uint(object, "lanes"), 0);
	assert_false(morph_object_has(object, "lanes"));
	assert_int_equal(morph_object_values(object, "lanes"), 0);
	assert_true(morph_object_attr(object, 0, &attr));
	assert_false(attr.is_list);
	assert_true(morph_object_attr(object, 3, &attr));
	assert_true(attr.is_list);
	assert_int_equal(attr.values, 2);
	assert_false(morph_object_attr(object, 5, &attr));
	assert_false(morph_object_attr(object, SIZE_MAX, &attr));
	morph_object_free(object);
}

static void a_value_has_the_content_of_its_attribute(void **state)
{
	struct morph_object *object = lm_object_new(MORPH_OBJECT_CIRCUIT, NULL);
	MORPH_OPTS(morph_value, value);
	struct morph_value less = { .sz = offsetof(struct morph_value, text),
				    .text = "left alone" };

	(void)state;
	assert_int_equal(lm_put_uint(object, MORPH_A_CIRCUIT_GUIDE, 9), 0);
	assert_int_equal(lm_put_uint(object, MORPH_A_CIRCUIT_GUIDE, 8), 0);
	assert_int_equal(lm_put_sint(object, MORPH_A_CIRCUIT_MARGIN_MDB, -250), 0);
	assert_int_equal(lm_put_uint(object, MORPH_A_CIRCUIT_STATE, MORPH_CIRCUIT_FAILED), 0);
	assert_true(morph_object_value(object, "guide", 1, &value));
	assert_true(value.uint == 8 && value.sint == 8 && !value.text && !value.object);
	assert_true(morph_object_value(object, "margin-mdb", 0, &value));
	assert_true(value.uint == 0 && value.sint == -250 && !value.text && !value.object);
	assert_true(morph_object_value(object, "state", 0, &value));
	assert_true(value.uint == MORPH_CIRCUIT_FAILED && value.sint == MORPH_CIRCUIT_FAILED);
	assert_string_equal(value.text, "failed");
	assert_true(morph_object_value(object, "state", 0, &less));
	assert_true(less.uint == MORPH_CIRCUIT_FAILED);
	assert_string_equal(less.text, "left alone");
	assert_false(morph_object_value(object, "guide", 2, &value));
	assert_true(!value.uint && !value.sint && !value.text && !value.object);
	assert_false(morph_object_value(object, "lanes", 0, &value));
	morph_object_free(object);
}

static void assert_not_put(struct morph_object *object, const char *name, struct morph_value value,
			   int error)
{
	value.sz = sizeof(value);
	assert_int_equal(morph_object_put(object, name, &value), error);
}

static void missing_attributes_are_not_written(void **state)
{
	struct morph_object *plan = morph_object_new(MORPH_OBJECT_PLAN);
	struct morph_object *rank = morph_object_new(MORPH_OBJECT_PLAN_RANK);
	struct {
		struct morph_value known;
		uint64_t more;
	} newer = { .known = { .sz = sizeof(newer), .uint = 4 }, .more = 1 };
	MORPH_OPTS(morph_value, number, .uint = 4);
	MORPH_OPTS(morph_value, inner, .object = rank);
	MORPH_OPTS(morph_value, value);

	(void)state;
	assert_int_equal(morph_object_put(rank, "accelerator", &number), 0);
	assert_int_equal(morph_object_put(rank, "accelerator", &newer.known), -E2BIG);
	assert_not_put(rank, "accelerator", (struct morph_value){ .text = "four" }, -EINVAL);
	assert_not_put(rank, "accelerator", (struct morph_value){ .uint = 4, .sint = 4 }, -EINVAL);
	assert_not_put(rank, "accelerator",
		       (struct morph_value){ .object = morph_object_new(MORPH_OBJECT_PLAN) },
		       -EINVAL);
	assert_not_put(rank, "verdict", (struct morph_value){ .uint = 4 }, -EINVAL);
	assert_not_put(plan, "verdict", (struct morph_value){ .uint = 4 }, -EINVAL);
	assert_not_put(plan, "verdict", (struct morph_value){ 0 }, -EINVAL);
	assert_not_put(plan, "rank", (struct morph_value){ .uint = 4 }, -EINVAL);
	assert_not_put(plan, "rank", (struct morph_value){ 0 }, -ENOMEM);
	assert_int_equal(morph_object_values(plan, "rank"), 0);
	assert_int_equal(morph_object_put(plan, "rank", &inner), 0);
	assert_true(morph_object_value(plan, "rank", 0, &value));
	assert_ptr_equal(value.object, rank);
	assert_int_equal(morph_object_uint(rank, "accelerator"), 4);
	morph_object_free(plan);
}

static void a_list_of_values_grows(void **state)
{
	struct morph_object *object = lm_object_new(MORPH_OBJECT_CIRCUIT, NULL);

	(void)state;
	assert_int_equal(lm_put_uint(object, MORPH_A_CIRCUIT_ELEMENT, 1), 0);
	for (uint32_t at = 0; at < 1000; at++)
		assert_int_equal(lm_put_uint(object, MORPH_A_CIRCUIT_GUIDE, at), 0);
	assert_int_equal(morph_object_values(object, "guide"), 1000);
	for (uint32_t at = 0; at < 1000; at++)
		assert_int_equal(morph_object_uint_at(object, "guide", at), at);
	assert_int_equal(morph_object_uint_at(object, "element", 0), 1);
	morph_object_free(object);
}

/* Lists have used the whole capacity. */
static void attributes_without_space_are_not_written(void **state)
{
	struct morph_object *object = lm_object_new(MORPH_OBJECT_SLICE, NULL);
	struct morph_attr attr = { .sz = sizeof(attr) };
	size_t room = 0;

	(void)state;
	while (morph_schema_attr(MORPH_OBJECT_SLICE, room, &attr))
		room++;
	for (uint32_t at = 0; at < room; at++)
		assert_int_equal(lm_put_uint(object, MORPH_A_SLICE_SPARE, at), 0);
	fault_at("memory", 2, ENOMEM);
	assert_int_equal(lm_put_text(object, MORPH_A_SLICE_NAME, "job", 3), -ENOMEM);
	assert_true(fault_struck());
	fault_at("memory", 4, ENOMEM); /* three are those of the inner object */
	assert_int_equal(lm_put_object(object, MORPH_A_SLICE_RANK,
				       lm_object_new(MORPH_OBJECT_RANK, NULL)),
			 -ENOMEM);
	assert_true(fault_struck());
	assert_false(morph_object_has(object, "name"));
	assert_int_equal(morph_object_values(object, "spare"), room);
	morph_object_free(object);
}

static void the_last_of_a_repeated_single_value_counts(void **state)
{
	struct morph_object *object = lm_object_new(MORPH_OBJECT_SLICE, NULL);

	(void)state;
	assert_int_equal(lm_put_text(object, MORPH_A_SLICE_NAME, "first", 99), 0);
	assert_int_equal(lm_put_uint(object, MORPH_A_SLICE_ID, 1), 0);
	assert_int_equal(lm_put_text(object, MORPH_A_SLICE_NAME, "second", 3), 0);
	assert_string_equal(morph_object_text(object, "name"), "sec");
	assert_int_equal(morph_object_values(object, "name"), 1);
	morph_object_free(object);
}

static void getters_of_another_type_answer_nothing(void **state)
{
	struct morph_object *object = lm_object_new(MORPH_OBJECT_FABRIC, NULL);
	static const uint8_t uuid[MORPH_UUID_BYTES] = { 0xab, 1, [15] = 0xcd };

	(void)state;
	assert_int_equal(lm_put_text(object, MORPH_A_FABRIC_NAME, "pod", 4), 0);
	assert_int_equal(lm_put_sint(object, MORPH_A_FABRIC_TEMPERATURE, -5000), 0);
	assert_int_equal(lm_put_uuid(object, MORPH_A_FABRIC_UUID, uuid), 0);
	assert_int_equal(lm_put_uint(object, MORPH_A_FABRIC_STATE, 99), 0);
	assert_int_equal(morph_object_uint(object, "name"), 0);
	assert_int_equal(morph_object_uint(object, "temperature"), 0);
	assert_int_equal(morph_object_sint(object, "temperature"), -5000);
	assert_null(morph_object_text(object, "temperature"));
	assert_null(morph_object_bytes(object, "name"));
	assert_null(morph_object_nested_at(object, "name", 0));
	assert_null(morph_object_text(object, "state")); /* no word for 99 */
	assert_int_equal(morph_object_uint(object, "state"), 99);
	assert_string_equal(morph_object_text(object, "uuid"),
			    "ab010000-0000-0000-0000-0000000000cd");
	assert_memory_equal(morph_object_bytes(object, "uuid"), uuid, sizeof(uuid));
	morph_object_free(object);
}

static struct morph_object *slice_with_rank(uint32_t id, uint32_t rank)
{
	struct morph_object *slice = lm_object_new(MORPH_OBJECT_SLICE, NULL);
	struct morph_object *inner = lm_object_new(MORPH_OBJECT_RANK, NULL);

	assert_int_equal(lm_put_uint(slice, MORPH_A_SLICE_FABRIC, 0), 0);
	assert_int_equal(lm_put_uint(slice, MORPH_A_SLICE_ID, id), 0);
	assert_int_equal(lm_put_uint(inner, MORPH_A_RANK_RANK, rank), 0);
	assert_int_equal(lm_put_object(slice, MORPH_A_SLICE_RANK, inner), 0);
	return slice;
}

static void a_copy_outlives_its_source(void **state)
{
	struct morph_object *slice = slice_with_rank(4, 17);
	struct morph_object *copy;
	char *text;

	(void)state;
	assert_int_equal(lm_put_text(slice, MORPH_A_SLICE_NAME, "job", 4), 0);
	assert_int_equal(morph_object_copy(slice, &copy), 0);
	morph_object_free(slice);
	text = fake_print(copy);
	assert_string_equal(text, "slice{fabric=0 id=4 name=job rank=rank{rank=17}}");
	free(text);
	morph_object_free(copy);
}

static void parts_of_one_object_are_joined(void **state)
{
	struct morph_list *list = lm_list_new();

	(void)state;
	assert_int_equal(lm_list_add(list, slice_with_rank(1, 0)), 0);
	assert_int_equal(lm_list_add(list, slice_with_rank(1, 1)), 0);
	assert_int_equal(lm_list_add(list, slice_with_rank(1, 2)), 0);
	assert_int_equal(lm_list_add(list, slice_with_rank(2, 0)), 0);
	assert_int_equal(lm_list_join(list), 0);
	assert_int_equal(morph_list_count(list), 2);
	assert_int_equal(morph_object_values(morph_list_get(list, 0), "rank"), 3);
	assert_int_equal(
		morph_object_uint(morph_object_nested_at(morph_list_get(list, 0), "rank", 2),
				  "rank"),
		2);
	assert_int_equal(morph_object_values(morph_list_get(list, 1), "rank"), 1);
	assert_ptr_equal(morph_list_find(list, "id", 2), morph_list_get(list, 1));
	assert_null(morph_list_find(list, "id", 3));
	assert_null(morph_list_get(list, 2));
	assert_int_equal(lm_list_add(list, NULL), -ENOMEM);
	morph_list_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_in_the_order_of_the_schema),
		cmocka_unit_test(a_list_of_values_grows),
		cmocka_unit_test(attributes_without_space_are_not_written),
		cmocka_unit_test(the_last_of_a_repeated_single_value_counts),
		cmocka_unit_test(a_value_has_the_content_of_its_attribute),
		cmocka_unit_test(missing_attributes_are_not_written),
		cmocka_unit_test(getters_of_another_type_answer_nothing),
		cmocka_unit_test(a_copy_outlives_its_source),
		cmocka_unit_test(parts_of_one_object_are_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
