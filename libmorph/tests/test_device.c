// SPDX-License-Identifier: LGPL-2.1-or-later
/* Builders and calls on devices, with a fake kernel made of hooks. */
#include "../internal/client.h"
#include "alone.h"

static void fill_fabric(struct morph_fabric_info *info)
{
	info->abi_version = MORPH_ABI_VERSION;
	info->fabric = 3;
	info->uuid[0] = 0xfa;
	strcpy(info->name, "bench");
	info->features = MORPH_FABRIC_SIMULATED;
	info->accelerators = 1500;
	info->seq = 12;
}

/* Refuse as the kernel does: numbers in the head, a sentence in the buffer. */
static uint32_t reason = MORPH_REASON_LANES;

static int refuse(struct morph_head *head, int error)
{
	head->reason = reason;
	head->part = MORPH_PART_GUIDE;
	head->index = 17;
	head->have = 3;
	head->need = 4;
	strncpy((char *)(uintptr_t)head->detail_ptr, "guide 17 has too few lanes",
		head->detail_len);
	return -error;
}

static void read_accelerators(struct fake *fake, struct morph_fabric_read *read)
{
	struct morph_accelerator_info *entries = (void *)(uintptr_t)read->entries.ptr;
	uint32_t room = read->entries.count;

	assert_int_equal(read->entries.stride, sizeof(*entries));
	read->entries.count = 0;
	for (uint32_t at = read->first; at < 1500 && read->entries.count < room; at++) {
		entries[read->entries.count].accelerator = at;
		entries[read->entries.count++].use = MORPH_USE_SPARE;
	}
	/* the fabric changes between the two batches, as often as the test requests */
	read->seq = 12 + (read->first ? fake->state-- > 0 : 0);
}

static int device(struct fake *fake, unsigned long command, void *argument)
{
	struct morph_slice_info *slice = argument;
	struct morph_slice_create *create = argument;

	switch (command) {
	case MORPH_FABRIC_INFO:
		fill_fabric(argument);
		return 0;
	case MORPH_FABRIC_READ_ACCELERATORS:
		read_accelerators(fake, argument);
		return 0;
	case MORPH_SLICE_INFO:
		slice->slice = 9;
		return 0;
	case MORPH_SLICE_CREATE:
		if (create->head.flags & MORPH_SLICE_DRY_RUN)
			return refuse(&create->head, ENOSPC);
		assert_int_equal(create->accelerators.count, 2);
		assert_int_equal(((__u32 *)(uintptr_t)create->accelerators.ptr)[1], 5);
		assert_string_equal(create->name, "job.1");
		assert_int_equal(create->mode, 0640);
		assert_int_equal(create->spare_policy, MORPH_SPARES_LIST);
		return 0;
	}
	return -ENOTTY;
}

static int begin_device(void **state)
{
	begin(state);
	fake->ioctl = device;
	fake->devices = "present fabric 3 /dev/morph/fabric3\n";
	return 0;
}

static void fabrics_are_found_by_name_uuid_and_number(void **state)
{
	static const char *const names[] = {
		"bench", "fa000000-0000-0000-0000-000000000000", "3", "/dev/morph/fabric3", NULL,
	};
	struct morph_fabric *fabric;

	(void)state;
	for (size_t at = 0; at < ARRAY_SIZE(names); at++) {
		assert_int_equal(morph_fabric_open(ctx, names[at], &fabric), 0);
		assert_int_equal(morph_fabric_number(fabric), 3);
		morph_fabric_close(fabric);
	}
	assert_int_equal(morph_fabric_open(ctx, "ben", &fabric), -ENOENT);
	assert_null(fabric);
	assert_string_equal(morph_error_text(ctx), "no fabric \"ben\"");
	assert_int_equal(morph_fabric_open(ctx, "/dev/null", &fabric), -ENOENT);
	fake->devices = "present fabric 4 /dev/morph/fabric4\npresent fabric 3 /dev/morph/fabric3\n"
			"present slice 1 /dev/morph/slice1\n";
	assert_int_equal(morph_fabric_open(ctx, NULL, &fabric), -ENOTUNIQ);
	assert_string_equal(morph_error_text(ctx), "2 fabrics exist; name one");
	assert_int_equal(morph_error_code(ctx), ENOTUNIQ);
}

static void ambiguous_fabrics_are_refused(void **state)
{
	struct morph_fabric *fabric;

	(void)state;
	fake->devices =
		"present fabric 4 /dev/morph/fabric4\npresent fabric 3 /dev/morph/fabric3\n";
	assert_int_equal(morph_fabric_open(ctx, "bench", &fabric), -ENOTUNIQ);
	assert_string_equal(morph_error_text(ctx),
			    "2 fabrics have the name \"bench\"; use a number or UUID");
	fake->devices = "";
	assert_int_equal(morph_fabric_open(ctx, NULL, &fabric), -ENOENT);
	assert_string_equal(morph_error_text(ctx), "no fabric");
}

/* An unreadable fabric could have been the named one. Later fabrics do not hide that. */
static void an_error_suggests_a_fabric(void **state)
{
	struct morph_fabric *fabric;

	(void)state;
	fake->devices =
		"present fabric 2 /elsewhere/fabric2\npresent fabric 3 /dev/morph/fabric3\n";
	assert_int_equal(morph_fabric_open(ctx, "bench", &fabric), 0);
	morph_fabric_close(fabric);
	assert_int_equal(morph_fabric_open(ctx, "other", &fabric), -ENOENT);
	assert_int_equal(morph_error_code(ctx), ENOENT);
	assert_string_equal(morph_error_text(ctx),
			    "open /elsewhere/fabric2: No such file or directory");
	assert_null(fabric);
}

static void devices_come_in_order(void **state)
{
	struct morph_list *list;
	char *text;

	(void)state;
	fake->devices = "present slice 1 /dev/morph/slice1\npresent fabric 4 /dev/morph/fabric4\n"
			"present fabric 3 /dev/morph/fabric3\n";
	assert_int_equal(morph_devices(ctx, &list), 0);
	assert_int_equal(morph_list_count(list), 3);
	text = fake_print(morph_list_get(list, 0));
	assert_string_equal(text,
			    "device{action=present kind=fabric number=3 path=/dev/morph/fabric3}");
	free(text);
	assert_string_equal(morph_object_text(morph_list_get(list, 2), "kind"), "slice");
	morph_list_free(list);
}

static void ranges_are_read_in_batches(void **state)
{
	struct morph_fabric *fabric;
	struct morph_list *list;

	(void)state;
	assert_int_equal(morph_fabric_open(ctx, NULL, &fabric), 0);
	fake->state = 2; /* two torn tries, then a whole one */
	assert_int_equal(morph_fabric_accelerators(fabric, &list), 0);
	assert_int_equal(morph_list_count(list), 1500);
	assert_int_equal(morph_list_seq(list), 12);
	assert_int_equal(morph_object_uint(morph_list_get(list, 1499), "id"), 1499);
	assert_int_equal(morph_object_uint(morph_list_get(list, 0), "fabric"), 3);
	morph_list_free(list);
	fake->state = 1000;
	assert_int_equal(morph_fabric_accelerators(fabric, &list), -EAGAIN);
	assert_null(list);
	assert_int_equal(morph_fabric_guides(fabric, &list), -ENOTTY);
	assert_string_equal(morph_error_text(ctx),
			    "read guides from 0: Inappropriate ioctl for device");
	morph_fabric_close(fabric);
}

static void requests_refuse_nonsense(void **state)
{
	static const char *const numbers[] = { "2", "08", "-2", "99999999999999999999", "0x1f" };
	static const uint32_t twice[] = { 1, 2, 1 };
	struct morph_request *request = morph_request_new(ctx);

	(void)state;
	assert_int_equal(lm_request_check(request), -EINVAL);
	assert_int_equal(morph_request_set_count(request, 0), -EINVAL);
	assert_int_equal(morph_request_set_accelerators(request, twice, 3), -EINVAL);
	assert_string_equal(morph_error_text(ctx),
			    "accelerator 1 is listed twice in the list of accelerators");
	assert_int_equal(morph_request_set_accelerators(request, twice, 0), -EINVAL);
	assert_int_equal(morph_request_set_spares(request, NULL, 1), -EINVAL);
	assert_int_equal(morph_request_set_failover(request, 3), -EINVAL);
	assert_int_equal(morph_request_set_transit(request, 2), -EINVAL);
	assert_int_equal(morph_request_set_spare_policy(request, MORPH_SPARES_LIST), -EINVAL);
	assert_int_equal(morph_request_set_name(request, "a/b", 0), -EINVAL);
	assert_int_equal(morph_request_set_name(request, "caf\xc3\xa9", 0), -EINVAL);
	for (size_t at = 0; at < sizeof(numbers) / sizeof(numbers[0]); at++)
		assert_int_equal(morph_request_set_name(request, numbers[at], 0), -EINVAL);
	assert_string_equal(morph_error_text(ctx),
			    "the name \"0x1f\" reads as a number; begin it with a letter");
	assert_int_equal(morph_request_set_name(request, "7b", 0), 0);
	assert_int_equal(morph_request_set_name(request, "a234567890123456789012345678901", 0), 0);
	assert_int_equal(morph_request_set_name(request, "a2345678901234567890123456789012", 0),
			 -ENAMETOOLONG);
	assert_int_equal(morph_request_set_name(request, "a", 04755), -EINVAL);
	assert_int_equal(morph_request_set_name(request, NULL, 0600), -EINVAL);
	assert_int_equal(morph_request_set_name(request, NULL, 0), 0);
	morph_request_free(request);
}

/* Each field alone is refused with its own text, and then no field is set. */
static void options_of_requests_are_all_set_or_none(void **state)
{
	static const uint32_t twice[] = { 1, 2, 1 };
	struct {
		struct morph_request_opts opts;
		int error;
		const char *text;
	} wrong[] = {
		{ { .name = "a/b" }, -EINVAL, "the name \"a/b\" must have only [a-zA-Z0-9_.-]" },
		{ { .mode = 0600 },
		  -EINVAL,
		  "a slice without a name has no node; its mode must be 0" },
		{ { .failover = 3 }, -EINVAL, "3 is no policy on failure" },
		{ { .spares = twice, .spares_count = 3 },
		  -EINVAL,
		  "accelerator 1 is listed twice in the list of spares" },
		{ { .spares = twice }, -EINVAL, "a list of spares requires at least one entry" },
		{ { .spare_policy = 9 }, -EINVAL, "9 is no policy on spares" },
		{ { .spare_policy = MORPH_SPARES_LIST },
		  -EINVAL,
		  "a list of spares requires at least one entry" },
		{ { .transit = 2 }, -EINVAL, "transit 2: must be 0 (any) or 1 (own)" },
		{ { .wavelengths = 17 },
		  -EINVAL,
		  "17 wavelengths of a fibre: must be 1 (circuits do not share fibres) to 16" },
		{ { .tier = 4 },
		  -EINVAL,
		  "tier 4: must be 1 (contiguous), 2 (stitched) or 3 (across racks)" },
		{ { .servers = 2 }, -EINVAL, "servers 2: must be 0 (may be shared) or 1 (whole)" },
		{ { .objective = 3 },
		  -EINVAL,
		  "objective 3: must be 0 (fragmentation), 1 (load) or 2 (blast radius)" },
		{ { .flags = 8 }, -EINVAL, "morph_request_opts.flags is 0x8: an unknown flag" },
	};
	MORPH_OPTS(morph_request_opts, opts, .mbps = 7, .steps = 8, .tier = MORPH_TIER_CROSSING,
		   .objective = MORPH_OBJECTIVE_LOAD, .servers = MORPH_SERVERS_WHOLE,
		   .wavelengths = 4, .transit = MORPH_TRANSIT_OWN,
		   .failover = MORPH_FAILOVER_MANUAL, .spares = twice, .spares_count = 2,
		   .controller = 5, .mode = 0640, .name = "job",
		   .flags = MORPH_REQUEST_SIMPLEX | MORPH_REQUEST_RESERVE_SPARE);
	struct morph_request *request = morph_request_new(ctx), was, fresh;

	(void)state;
	fresh = *request;
	assert_int_equal(morph_request_set_opts(request, &opts), 0);
	was = *request;
	assert_true(was.mbps == 7 && was.steps == 8 && was.tier == MORPH_TIER_CROSSING);
	assert_true(was.objective == MORPH_OBJECTIVE_LOAD && was.bands == 4 && was.simplex);
	assert_true(was.servers == MORPH_SERVERS_WHOLE && was.transit == MORPH_TRANSIT_OWN);
	assert_true(was.failover == MORPH_FAILOVER_MANUAL && was.controller == 5 && was.reserved);
	assert_true(was.spare_policy == MORPH_SPARES_LIST && was.spares_count == 2);
	assert_true(was.spares[0] == 1 && was.spares[1] == 2 && was.mode == 0640);
	assert_string_equal(was.name, "job");
	for (size_t at = 0; at < sizeof(wrong) / sizeof(wrong[0]); at++) {
		wrong[at].opts.sz = sizeof(wrong[at].opts);
		assert_int_equal(morph_request_set_opts(request, &wrong[at].opts), wrong[at].error);
		assert_string_equal(morph_error_text(ctx), wrong[at].text);
		assert_memory_equal(request, &was, sizeof(was));
	}
	assert_int_equal(morph_request_set_opts(request, NULL), 0);
	assert_memory_equal(request, &fresh, sizeof(fresh));
	assert_int_equal(morph_request_set_shape(request, 0, 4, 1, 1), -EINVAL);
	assert_int_equal(morph_request_set_shape(request, 4, 4, 1, 1), -EINVAL);
	assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_RING, 4, 2, 1), -EINVAL);
	assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_MESH, 4, 1, 0), -EINVAL);
	assert_memory_equal(request, &fresh, sizeof(fresh));
	morph_request_free(request);
}

static void slices_are_created_as_requested(void **state)
{
	static const uint32_t accelerators[] = { 4, 5 }, spares[] = { 8 };
	MORPH_OPTS(morph_request_opts, opts, .spares = spares, .spares_count = 1, .name = "job.1",
		   .mode = 0640);
	struct morph_request *request = morph_request_new(ctx);
	struct morph_fabric *fabric;
	struct morph_slice *slice;

	(void)state;
	assert_int_equal(morph_fabric_open(ctx, NULL, &fabric), 0);
	assert_int_equal(morph_request_set_accelerators(request, accelerators, 2), 0);
	assert_int_equal(morph_request_set_opts(request, &opts), 0);
	assert_int_equal(morph_slice_create(fabric, request, &slice), 0);
	assert_int_equal(morph_slice_number(slice), 9);
	morph_slice_close(slice);
	assert_int_equal(morph_slice_check(fabric, request), -ENOSPC);
	assert_string_equal(morph_error_text(ctx),
			    "create a slice of 2: guide 17 has too few lanes "
			    "(lanes, have 3, need 4)");
	assert_string_equal(ERROR_OF(ctx, kernel_text), "guide 17 has too few lanes");
	assert_int_equal(ERROR_OF(ctx, reason), MORPH_REASON_LANES);
	assert_int_equal(ERROR_OF(ctx, part), MORPH_PART_GUIDE);
	assert_int_equal(ERROR_OF(ctx, index), 17);
	assert_int_equal(ERROR_OF(ctx, have), 3);
	assert_int_equal(ERROR_OF(ctx, need), 4);
	reason = 9999; /* of a newer kernel */
	assert_int_equal(morph_slice_check(fabric, request), -ENOSPC);
	assert_string_equal(morph_error_text(ctx),
			    "create a slice of 2: guide 17 has too few lanes "
			    "(rule 9999, have 3, need 4)");
	reason = MORPH_REASON_LANES;
	morph_request_free(request);
	morph_fabric_close(fabric);
}

static void transactions_refuse_nonsense(void **state)
{
	MORPH_OPTS(morph_circuit_opts, opts, .flags = 4);
	MORPH_OPTS(morph_txn_opts, unknown, .flags = MORPH_TXN_PREPARE);
	MORPH_OPTS(morph_txn_opts, reserved, .reserved = 1);
	struct morph_txn *txn = morph_txn_new(ctx);

	(void)state;
	assert_int_equal(lm_txn_check(txn), -EINVAL);
	assert_int_equal(morph_txn_add(txn, 1, 1, NULL), -EINVAL);
	assert_int_equal(morph_txn_add(txn, 0, 1, &opts), -EINVAL);
	opts.flags = MORPH_CIRCUIT_SRC_PLANE;
	opts.src_plane = MORPH_PLANE_ANY;
	assert_int_equal(morph_txn_add(txn, 0, 1, &opts), -EINVAL);
	opts.flags = 0;
	opts.guides_count = 1;
	assert_int_equal(morph_txn_move(txn, 0, &opts), -EINVAL);
	assert_int_equal(morph_txn_count(txn), 0);
	for (int at = 0; at < LM_MAX_CHANGES; at++)
		assert_int_equal(morph_txn_remove(txn, (uint32_t)at), at);
	assert_int_equal(lm_txn_check(txn), 0);
	SET_TXN(txn, .flags = MORPH_TXN_EACH, .lease_ns = 1000000);
	assert_int_equal(lm_txn_check(txn), -EINVAL);
	assert_int_equal(morph_txn_set_opts(txn, &unknown), -EINVAL);
	assert_string_equal(morph_error_text(ctx), "morph_txn_opts.flags is 0x4: an unknown flag");
	assert_int_equal(morph_txn_set_opts(txn, &reserved), -EINVAL);
	assert_int_equal(txn->lease_ns, 1000000);
	SET_TXN(txn, .flags = MORPH_TXN_EACH);
	assert_int_equal(txn->flags, MORPH_TXN_EACH);
	assert_int_equal(lm_txn_check(txn), 0);
	assert_int_equal(morph_txn_set_opts(txn, NULL), 0);
	assert_int_equal(txn->flags, 0);
	morph_txn_clear(txn);
	assert_int_equal(morph_txn_count(txn), 0);
	assert_int_equal(txn->flags, 0);
	assert_true(txn->generation == MORPH_GENERATION_ANY);
	morph_txn_free(txn);
}

static void changes_are_as_asked(void **state)
{
	static const uint32_t guides[] = { 7, 8, 9 };
	MORPH_OPTS(morph_circuit_opts, opts, .guides = guides, .guides_count = 3, .lanes = 0xf0,
		   .lanes_count = 2, .src_plane = 1, .flags = MORPH_CIRCUIT_SRC_PLANE);
	struct morph_txn *txn = morph_txn_new(ctx);
	const struct morph_change *change;

	(void)state;
	assert_int_equal(morph_txn_add(txn, 2, 3, &opts), 0);
	assert_int_equal(morph_txn_add(txn, 3, 2, NULL), 1);
	change = &txn->changes[0];
	assert_int_equal(change->op, MORPH_CHANGE_ADD);
	assert_int_equal(change->src_plane, 1);
	assert_int_equal(change->dst_plane, MORPH_PLANE_ANY);
	assert_int_equal(change->lanes, 0xf0);
	assert_int_equal(change->guides.count, 3);
	assert_ptr_not_equal((void *)(uintptr_t)change->guides.ptr, guides);
	assert_int_equal(((__u32 *)(uintptr_t)change->guides.ptr)[2], 9);
	change = &txn->changes[1];
	assert_int_equal(change->src_plane, MORPH_PLANE_ANY);
	assert_int_equal(change->guides.ptr, 0);
	morph_txn_free(txn);
}

/* A transaction with more changes than the limit, as for a plan. */
static struct morph_txn *large_txn(uint32_t changes, uint32_t guides)
{
	MORPH_OPTS(morph_circuit_opts, opts, .lanes_count = 1, .guides_count = guides);
	struct morph_txn *txn = morph_txn_new(ctx);
	uint32_t *list = calloc(guides, sizeof(*list));

	assert_non_null(txn);
	assert_non_null(list);
	opts.guides = list;
	for (uint32_t at = 0; at < changes; at++)
		assert_int_equal(morph_txn_add(txn, at, at + 1, &opts), at);
	free(list);
	return txn;
}

static void too_many_changes_are_split(void **state)
{
	struct morph_txn *txn = large_txn(1500, 3), *rest, *none;

	(void)state;
	SET_TXN(txn, .lease_ns = 5000, .controller = 3, .epoch = 4);
	morph_txn_set_cookie(txn, 77);
	morph_txn_set_generation(txn, 12);
	assert_int_equal(lm_txn_check(txn), -E2BIG);
	assert_non_null(strstr(morph_error_text(ctx), "morph_txn_split()"));
	assert_int_equal(morph_txn_split(txn, &rest), 0);
	assert_int_equal(lm_txn_check(txn), 0);
	assert_int_equal(morph_txn_count(txn), 1024);
	assert_int_equal(morph_txn_count(rest), 476);
	assert_int_equal(rest->changes[0].src_rank, 1024);
	assert_int_equal(rest->changes[475].guides.count, 3);
	assert_int_equal(rest->flags, txn->flags);
	assert_int_equal(rest->lease_ns, 5000);
	assert_int_equal(rest->controller, 3);
	assert_int_equal(rest->epoch, 4);
	/* These belong to the first transaction only. */
	assert_int_equal(txn->cookie, 77);
	assert_int_equal(rest->cookie, 0);
	assert_true(rest->generation == MORPH_GENERATION_ANY);
	assert_int_equal(morph_txn_split(rest, &none), 0);
	assert_null(none);
	morph_txn_free(txn);
	morph_txn_free(rest);
}

static void changes_that_fill_a_message_are_split(void **state)
{
	struct morph_txn *txn = large_txn(600, 100), *rest;
	size_t parts = 0, changes = 0;

	(void)state;
	for (; txn; morph_txn_free(txn), txn = rest, parts++) {
		assert_int_equal(morph_txn_split(txn, &rest), 0);
		changes += morph_txn_count(txn);
		assert_in_range(morph_txn_count(txn) * 100 * 8, 1, 192 * 1024);
	}
	assert_int_equal(changes, 600);
	assert_int_equal(parts, 3);
	/* A slice that is too large for any transaction has one of its own. */
	txn = large_txn(2, 30000);
	assert_int_equal(morph_txn_split(txn, &rest), 0);
	assert_int_equal(morph_txn_count(txn), 1);
	morph_txn_free(txn);
	morph_txn_free(rest);
}

static void indivisible_parts_stay_whole(void **state)
{
	struct morph_txn *txn = large_txn(1025, 3), *rest;

	(void)state;
	for (unsigned int nth = 1; nth <= 2; nth++) {
		fault_at("memory", nth, ENOMEM);
		assert_int_equal(morph_txn_split(txn, &rest), -ENOMEM);
		assert_true(fault_struck());
		assert_null(rest);
		assert_int_equal(morph_txn_count(txn), 1025);
	}
	morph_txn_free(txn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fabrics_are_found_by_name_uuid_and_number,
						begin_device, end),
		cmocka_unit_test_setup_teardown(ambiguous_fabrics_are_refused, begin_device, end),
		cmocka_unit_test_setup_teardown(an_error_suggests_a_fabric, begin_device, end),
		cmocka_unit_test_setup_teardown(devices_come_in_order, begin_device, end),
		cmocka_unit_test_setup_teardown(ranges_are_read_in_batches, begin_device, end),
		cmocka_unit_test_setup_teardown(requests_refuse_nonsense, begin_device, end),
		cmocka_unit_test_setup_teardown(options_of_requests_are_all_set_or_none,
						begin_device, end),
		cmocka_unit_test_setup_teardown(slices_are_created_as_requested, begin_device, end),
		cmocka_unit_test_setup_teardown(transactions_refuse_nonsense, begin_device, end),
		cmocka_unit_test_setup_teardown(changes_are_as_asked, begin_device, end),
		cmocka_unit_test_setup_teardown(too_many_changes_are_split, begin_device, end),
		cmocka_unit_test_setup_teardown(changes_that_fill_a_message_are_split, begin_device,
						end),
		cmocka_unit_test_setup_teardown(indivisible_parts_stay_whole, begin_device, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
