// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads of a tenant through device nodes: slices, circuits, and trials of requests. */
#include "../internal/client.h"
#include "fake.h"

#define CIRCUITS 3
#define FREE 5 /* accelerators */
#define LANES 3

static struct fake *fake;
static struct morph_ctx *ctx;
static uint32_t rings; /* dry runs of a ring */
static uint32_t files; /* open files of the slice; 0: as an earlier kernel */

static int read_slice(struct morph_slice_info *info)
{
	struct morph_circuit_info *circuits = (void *)(uintptr_t)info->circuits.ptr;
	bool room = info->circuits.count >= CIRCUITS;

	info->slice = 9;
	strcpy(info->name, "job");
	info->owner = 1000;
	info->mode = 0640;
	info->files = files;
	info->used_replacements = 2;
	info->bandwidth_mbps = 50000;
	for (uint32_t at = 0; room && at < CIRCUITS; at++)
		circuits[at].circuit = at;
	info->ranks.count = 0;
	info->circuits.count = CIRCUITS;
	return 0;
}

static int read_path(struct morph_circuit_path *path)
{
	((__u32 *)(uintptr_t)path->guides.ptr)[0] = 40 + path->circuit;
	path->guides.count = 1;
	path->elements.count = 0;
	return 0;
}

static int create(struct morph_slice_create *create)
{
	assert_true(create->head.flags & MORPH_SLICE_DRY_RUN);
	assert_int_equal(create->transit, MORPH_TRANSIT_OWN);
	assert_int_equal(create->ring_lanes, create->head.flags & MORPH_SLICE_RING ? LANES : 0);
	rings += !!(create->head.flags & MORPH_SLICE_RING);
	if (create->accelerators.count <= FREE)
		return 0;
	create->head.reason = fake->state;
	create->head.part = MORPH_PART_ACCELERATOR;
	create->head.index = MORPH_ANY;
	create->head.have = FREE;
	create->head.need = create->accelerators.count;
	return -ENOSPC;
}

static int device(struct fake *kernel, unsigned long command, void *argument)
{
	struct morph_fabric_info *fabric = argument;

	(void)kernel;
	switch (command) {
	case MORPH_FABRIC_INFO:
		fabric->fabric = 3;
		return 0;
	case MORPH_SLICE_INFO:
		return read_slice(argument);
	case MORPH_CIRCUIT_PATH:
		return read_path(argument);
	case MORPH_SLICE_CREATE:
		return create(argument);
	}
	return -ENOTTY;
}

static int begin(void **state)
{
	(void)state;
	fake = fake_new();
	fake->ioctl = device;
	fake->devices = "present fabric 3 /dev/morph/fabric3\npresent slice 8 /elsewhere/slice8\n"
			"present slice 9 /dev/morph/slice9\n";
	fake->state = MORPH_REASON_ACCELERATORS;
	files = 1;
	rings = 0;
	ctx = fake_ctx(&fake->transport);
	return 0;
}

static int end(void **state)
{
	(void)state;
	morph_ctx_free(ctx);
	return 0;
}

static size_t count_own(uint32_t type, uint32_t fabric, uint32_t parent)
{
	struct morph_list *list;
	size_t count;

	assert_int_equal(morph_admin_list(ctx, type | MORPH_OWN, fabric, parent, &list), 0);
	assert_string_equal(morph_error_text(ctx), "");
	count = morph_list_count(list);
	morph_list_free(list);
	return count;
}

static void slices_that_open_are_listed_without_netlink(void **state)
{
	struct morph_list *list;

	(void)state;
	assert_int_equal(morph_admin_list(ctx, MORPH_OBJECT_SLICE | MORPH_OWN, 3, MORPH_ANY, &list),
			 0);
	assert_int_equal(morph_list_count(list), 1);
	assert_string_equal(morph_object_text(morph_list_get(list, 0), "name"), "job");
	morph_list_free(list);
	assert_int_equal(count_own(MORPH_OBJECT_SLICE, MORPH_ANY, MORPH_ANY), 1);
	assert_int_equal(count_own(MORPH_OBJECT_SLICE, 4, MORPH_ANY), 0);
	assert_int_equal(fake->requests, 0);
}

static void circuits_are_listed_in_order(void **state)
{
	struct morph_list *list;

	(void)state;
	assert_int_equal(count_own(MORPH_OBJECT_CIRCUIT, 3, MORPH_ANY), CIRCUITS);
	assert_int_equal(count_own(MORPH_OBJECT_CIRCUIT, 3, 8), 0);
	assert_int_equal(morph_admin_list(ctx, MORPH_OBJECT_CIRCUIT | MORPH_OWN, 3, 9, &list), 0);
	for (uint32_t at = 0; at < CIRCUITS; at++)
		assert_int_equal(morph_object_uint(morph_list_get(list, at), "id"), at);
	morph_list_free(list);
}

static void one_object_is_read_by_its_number(void **state)
{
	struct morph_object *object;

	(void)state;
	assert_int_equal(
		morph_admin_get(ctx, MORPH_OBJECT_SLICE | MORPH_OWN, 3, MORPH_ANY, 9, &object), 0);
	assert_int_equal(morph_object_uint(object, "id"), 9);
	morph_object_free(object);
	assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_CIRCUIT | MORPH_OWN, 3, 9, 1, &object),
			 0);
	assert_int_equal(morph_object_uint(object, "guide"), 41);
	morph_object_free(object);
	assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_SLICE | MORPH_OWN, 4, MORPH_ANY, 9,
					 &object),
			 -ENOENT);
	assert_string_equal(morph_error_text(ctx), "fabric 4 has no slice 9");
	assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_CIRCUIT | MORPH_OWN, 3, 9, 77, &object),
			 -ENOENT);
	assert_string_equal(morph_error_text(ctx), "slice 9 has no circuit 77");
	assert_null(object);
}

static struct morph_object *get_own_slice(void)
{
	struct morph_object *object;

	assert_int_equal(
		morph_admin_get(ctx, MORPH_OBJECT_SLICE | MORPH_OWN, 3, MORPH_ANY, 9, &object), 0);
	return object;
}

static void slice_has_owner_mode_and_bandwidth(void **state)
{
	struct morph_object *object = get_own_slice();

	(void)state;
	assert_int_equal(morph_object_uint(object, "owner"), 1000);
	assert_int_equal(morph_object_uint(object, "mode"), 0640);
	assert_int_equal(morph_object_uint(object, "files"), 1);
	assert_int_equal(morph_object_uint(object, "used-replacements"), 2);
	assert_int_equal(morph_object_uint(object, "bandwidth-mbps"), 50000);
	morph_object_free(object);
}

static void slice_of_an_earlier_kernel_has_no_owner(void **state)
{
	static const char *const keys[] = { "owner", "mode", "files", "used-replacements",
					    "bandwidth-mbps" };
	struct morph_object *object;

	(void)state;
	files = 0;
	object = get_own_slice();
	for (size_t at = 0; at < sizeof(keys) / sizeof(keys[0]); at++)
		assert_int_equal(morph_object_values(object, keys[at]), 0);
	morph_object_free(object);
}

static void other_types_are_refused(void **state)
{
	struct morph_object *object;
	struct morph_list *list;

	(void)state;
	assert_int_equal(morph_admin_list(ctx, MORPH_OBJECT_TXN | MORPH_OWN, 3, MORPH_ANY, &list),
			 -EINVAL);
	assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_FABRIC | MORPH_OWN, 3, MORPH_ANY, 0,
					 &object),
			 -EINVAL);
}

static int ask(uint32_t count, uint32_t flags, struct morph_object **answer)
{
	MORPH_OPTS(morph_why_not_opts, opts, .count = count, .transit = MORPH_TRANSIT_OWN,
		   .flags = MORPH_WHY_NOT_OWN | flags,
		   .lanes_count = flags & MORPH_WHY_NOT_RING ? LANES : 0);

	return morph_admin_why_not(ctx, 3, &opts, answer);
}

static void a_request_is_tried_without_creating_a_slice(void **state)
{
	struct morph_object *answer;

	(void)state;
	assert_int_equal(ask(FREE, 0, &answer), 0);
	assert_int_equal(morph_object_uint(answer, "reason"), MORPH_REASON_NONE);
	morph_object_free(answer);
	assert_int_equal(ask(FREE + 1, 0, &answer), 0);
	assert_int_equal(morph_object_uint(answer, "reason"), MORPH_REASON_ACCELERATORS);
	assert_int_equal(morph_object_uint(answer, "fabric"), 3);
	assert_int_equal(morph_object_values(answer, "index"), 0);
	morph_object_free(answer);
	assert_string_equal(morph_error_text(ctx), "");
}

static void a_refusal_without_a_rule_is_an_error(void **state)
{
	struct morph_object *answer;

	(void)state;
	fake->state = MORPH_REASON_NONE;
	assert_int_equal(ask(FREE + 1, 0, &answer), -ENOSPC);
	assert_null(answer);
}

static void a_ring_is_tried_without_creating_a_slice(void **state)
{
	struct morph_object *answer;

	(void)state;
	assert_int_equal(ask(FREE, MORPH_WHY_NOT_RING, &answer), 0);
	assert_int_equal(morph_object_uint(answer, "reason"), MORPH_REASON_NONE);
	morph_object_free(answer);
	fake->state = MORPH_REASON_LANES;
	assert_int_equal(ask(FREE + 1, MORPH_WHY_NOT_RING, &answer), 0);
	assert_int_equal(morph_object_uint(answer, "reason"), MORPH_REASON_LANES);
	morph_object_free(answer);
	assert_int_equal(rings, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(slices_that_open_are_listed_without_netlink, begin,
						end),
		cmocka_unit_test_setup_teardown(circuits_are_listed_in_order, begin, end),
		cmocka_unit_test_setup_teardown(one_object_is_read_by_its_number, begin, end),
		cmocka_unit_test_setup_teardown(slice_has_owner_mode_and_bandwidth, begin, end),
		cmocka_unit_test_setup_teardown(slice_of_an_earlier_kernel_has_no_owner, begin,
						end),
		cmocka_unit_test_setup_teardown(other_types_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(a_request_is_tried_without_creating_a_slice, begin,
						end),
		cmocka_unit_test_setup_teardown(a_refusal_without_a_rule_is_an_error, begin, end),
		cmocka_unit_test_setup_teardown(a_ring_is_tried_without_creating_a_slice, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
