// SPDX-License-Identifier: LGPL-2.1-or-later
/* Administration: each request contains its arguments, and invalid requests are not sent. */
#include "../internal/client.h"
#include "fake.h"

static struct fake *fake;
static struct morph_ctx *ctx;
static char *asked; /* the last request, as the library reads messages */

/* Keep the request as text, and answer with the object that it names. */
static void answer(struct fake *kernel, const struct nlmsghdr *request)
{
	const struct genlmsghdr *genl = nlmsg_data(request);
	const struct lm_command *command = lm_command(genl->cmd);
	struct morph_object *object = lm_object_new(command->object, command->name);

	assert_int_equal(
		lm_decode_attrs(object, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0)), 0);
	free(asked);
	asked = fake_print(object);
	morph_object_free(object);
	fake_queue(kernel, fake_message(genl->cmd, 0), request->nlmsg_seq);
	fake_ack(kernel);
}

static int begin(void **state)
{
	(void)state;
	fake = fake_new();
	fake->request = answer;
	ctx = fake_ctx(&fake->transport);
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(asked);
	asked = NULL;
	morph_ctx_free(ctx);
	return 0;
}

static void expect(int error, const char *request)
{
	assert_int_equal(error, 0);
	assert_string_equal(asked, request);
	free(asked);
	asked = NULL;
}

static void refused(int error, const char *text)
{
	assert_int_equal(error, -EINVAL);
	assert_string_equal(morph_error_text(ctx), text);
	assert_null(asked);
}

static void objects_have_their_type(void **state)
{
	struct morph_object *object;

	(void)state;
	expect(morph_admin_get(ctx, MORPH_OBJECT_EDGE, 3, MORPH_ANY, 5, &object),
	       "edge{fabric=3 id=5}");
	morph_object_free(object);
	expect(morph_admin_slice_named(ctx, 3, "job.1", &object), "slice{fabric=3 name=job.1}");
	morph_object_free(object);
	expect(morph_admin_get(ctx, MORPH_OBJECT_CIRCUIT, 3, 9, 21, &object),
	       "circuit{fabric=3 slice=9 id=21}");
	morph_object_free(object);
	expect(morph_admin_hardware_part(ctx, 3, MORPH_PART_LASER, 4, &object),
	       "hardware{fabric=3 part=laser index=4}");
	morph_object_free(object);
}

static void slices_are_created_as_requested(void **state)
{
	static const uint32_t accelerators[] = { 4, 5, 6 }, spares[] = { 8, 9 };
	MORPH_OPTS(morph_request_opts, opts, .spares = spares, .spares_count = 2,
		   .transit = MORPH_TRANSIT_OWN, .failover = MORPH_FAILOVER_MANUAL,
		   .flags = MORPH_REQUEST_RESERVE_SPARE);
	struct morph_request *request = morph_request_new(ctx);

	(void)state;
	assert_int_equal(morph_request_set_accelerators(request, accelerators, 3), 0);
	assert_int_equal(morph_request_set_opts(request, &opts), 0);
	refused(morph_admin_slice_create(ctx, 3, request, 1000, NULL),
		"a slice for a user requires a name");
	opts.name = "a234567890123456789012345678901";
	opts.mode = 0640;
	assert_int_equal(morph_request_set_opts(request, &opts), 0);
	expect(morph_admin_slice_create(ctx, 3, request, 1000, NULL),
	       "slice{fabric=3 name=a234567890123456789012345678901 owner=1000 "
	       "mode=416 failover=manual transit=own spares=list reserved=1 "
	       "accelerator=4,5,6 spare=8,9}");
	assert_int_equal(morph_request_set_count(request, 7), 0);
	opts.spares = NULL;
	opts.spares_count = 0;
	opts.spare_policy = MORPH_SPARES_ANY;
	opts.name = "b";
	opts.mode = 0;
	opts.flags = MORPH_REQUEST_LEND_SPARES;
	opts.controller = 12;
	assert_int_equal(morph_request_set_opts(request, &opts), 0);
	expect(morph_admin_slice_create(ctx, 3, request, 0, NULL),
	       "slice{fabric=3 name=b owner=0 failover=manual transit=own spares=any "
	       "ranks-count=7 controller=12 lend=1}");
	morph_request_free(request);
}

static void slices_are_set_and_deleted(void **state)
{
	MORPH_OPTS(morph_slice_set_opts, opts, .failover = MORPH_FAILOVER_MANUAL, .owner = 1001,
		   .mode = 0600);
	static const struct morph_preference preferences[] = { { 2, 64 }, { 3, MORPH_ANY } };

	(void)state;
	refused(morph_admin_slice_set(ctx, 3, 9, &opts, NULL),
		"morph_slice_set_opts.set is 0: nothing to change");
	opts.set = 0x80000001;
	refused(morph_admin_slice_set(ctx, 3, 9, &opts, NULL),
		"morph_slice_set_opts.set is 0x80000001: 0x80000001 is unknown");
	opts.set = MORPH_SET_FAILOVER | MORPH_SET_OWNER | MORPH_SET_MODE;
	expect(morph_admin_slice_set(ctx, 3, 9, &opts, NULL),
	       "slice{fabric=3 id=9 owner=1001 mode=384 failover=manual}");
	opts.set = MORPH_SET_PREFERENCES;
	refused(morph_admin_slice_set(ctx, 3, 9, &opts, NULL),
		"prefer spares for slice 9: the list is empty");
	opts.preferences = preferences;
	opts.preferences_count = 2;
	expect(morph_admin_slice_set(ctx, 3, 9, &opts, NULL),
	       "slice{fabric=3 id=9 preference=preference{rank=2 spare=64},preference{rank=3}}");
	expect(morph_admin_slice_delete(ctx, 3, 9, true), "slice{fabric=3 id=9 force=1}");
	expect(morph_admin_slice_delete(ctx, 3, 9, false), "slice{fabric=3 id=9}");
}

static void changes_are_applied_as_asked(void **state)
{
	static const uint32_t guides[] = { 7, 8 };
	MORPH_OPTS(morph_circuit_opts, opts, .guides = guides, .guides_count = 2, .lanes = 0xf0,
		   .lanes_count = 4, .src_plane = 1, .dst_plane = 2,
		   .flags = MORPH_CIRCUIT_SRC_PLANE | MORPH_CIRCUIT_DST_PLANE);
	struct morph_txn *txn = morph_txn_new(ctx);

	(void)state;
	assert_int_equal(morph_txn_add(txn, 0, MORPH_RANK_EDGE | 3, &opts), 0);
	assert_int_equal(morph_txn_move(txn, 21, NULL), 1);
	assert_int_equal(morph_txn_remove(txn, 22), 2);
	morph_txn_set_cookie(txn, 77);
	morph_txn_set_generation(txn, 40);
	SET_TXN(txn, .flags = MORPH_TXN_EACH);
	expect(morph_admin_circuit_apply(ctx, 3, 9, txn, NULL),
	       "txn{fabric=3 slice=9 cookie=77 generation=40 each=1 "
	       "change=change{op=add src-rank=0 src-plane=1 dst-plane=2 lanes-count=4 "
	       "lanes=240 guide=7,8 dst-edge=3},change{op=move "
	       "circuit=21},change{op=remove circuit=22}}");
	morph_txn_clear(txn);
	assert_int_equal(morph_txn_remove(txn, 22), 0);
	SET_TXN(txn, .flags = MORPH_TXN_DRY_RUN);
	expect(morph_admin_circuit_apply(ctx, 3, 9, txn, NULL),
	       "txn{fabric=3 slice=9 dry-run=1 change=change{op=remove circuit=22}}");
	SET_TXN(txn, .lease_ns = 5000000);
	expect(morph_admin_circuit_apply(ctx, 3, 9, txn, NULL),
	       "txn{fabric=3 slice=9 lease-ns=5000000 prepare=1 "
	       "change=change{op=remove circuit=22}}");
	expect(morph_admin_txn_step(ctx, 3, 5, MORPH_TXN_COMMIT, 6000000, NULL),
	       "txn{fabric=3 id=5 lease-ns=6000000 verb=commit}");
	morph_txn_free(txn);
}

/*
 * Netlink counts the bytes of an attribute with 16 bits. The library builds no attribute that
 * wraps.
 */
static void changes_that_do_not_fit_are_refused(void **state)
{
	static uint32_t guides[9000];
	MORPH_OPTS(morph_circuit_opts, opts, .guides = guides, .guides_count = 9000);
	struct morph_txn *txn = morph_txn_new(ctx);

	(void)state;
	assert_int_equal(morph_txn_remove(txn, 22), 0);
	assert_int_equal(morph_txn_add(txn, 0, 1, &opts), 1);
	refused(morph_admin_circuit_apply(ctx, 3, 9, txn, NULL),
		"change 1 has 72072 bytes, a message has at most 65535 for each");
	morph_txn_clear(txn);
	opts.guides_count = 8000;
	assert_int_equal(morph_txn_add(txn, 0, 1, &opts), 0);
	assert_int_equal(morph_admin_circuit_apply(ctx, 3, 9, txn, NULL), 0);
	assert_int_equal(strlen(strstr(asked, "0,0,0")), 2 * 8000 - 1 + strlen("}}"));
	free(asked);
	asked = NULL;
	for (int at = 1; at < 4; at++)
		assert_int_equal(morph_txn_add(txn, 0, 1, &opts), at);
	refused(morph_admin_circuit_apply(ctx, 3, 9, txn, NULL),
		"the changes have 256384 bytes, a message has at most 196608");
	morph_txn_free(txn);
}

static void steps_refuse_nonsense(void **state)
{
	(void)state;
	refused(morph_admin_txn_step(ctx, 3, 5, MORPH_TXN_QUERY, 0, NULL),
		"unknown transaction verb 4: expected commit, confirm, revert or verify");
	refused(morph_admin_txn_step(ctx, 3, 5, 99, 0, NULL),
		"unknown transaction verb 99: expected commit, confirm, revert or verify");
}

static void hardware_is_named(void **state)
{
	struct morph_object *object = (void *)1;

	(void)state;
	refused(morph_admin_hardware_fail(ctx, 3, 0, 1, &object), "unknown kind of hardware 0");
	assert_null(object);
	refused(morph_admin_hardware_set(ctx, 3, 99, 1, true, NULL), "unknown kind of hardware 99");
	refused(morph_admin_hardware_test(ctx, 3, MORPH_PART_GUIDE, 1, 6, NULL),
		"flags of a test are 0x6: 0x6 is unknown");
	object = (void *)1;
	refused(morph_admin_hardware_test(ctx, 3, MORPH_PART_GUIDE, 1, 6, &object),
		"flags of a test are 0x6: 0x6 is unknown");
	assert_null(object);
	expect(morph_admin_hardware_test(ctx, 3, MORPH_PART_GUIDE, 1, MORPH_TEST_ACCEPT, NULL),
	       "hardware{fabric=3 part=guide index=1 accept=1}");
	expect(morph_admin_hardware_test(ctx, 3, MORPH_PART_GUIDE, 1, 0, NULL),
	       "hardware{fabric=3 part=guide index=1}");
	expect(morph_admin_hardware_set(ctx, 3, MORPH_PART_ELEMENT, 2, true, NULL),
	       "hardware{fabric=3 part=element index=2 cordoned=1}");
}

static void ranks_are_replaced(void **state)
{
	(void)state;
	expect(morph_admin_replace(ctx, 3, 9, 1, 17, NULL),
	       "replace{fabric=3 slice=9 rank=1 spare=17}");
	expect(morph_admin_replace(ctx, 3, 9, 1, MORPH_ANY, NULL),
	       "replace{fabric=3 slice=9 rank=1}");
}

static void accelerators_are_set(void **state)
{
	MORPH_OPTS(morph_accelerator_opts, opts, .set = MORPH_SET_PCI);

	(void)state;
	refused(morph_admin_accelerator_set(ctx, 3, 0, &opts, NULL),
		"a PCI address has at most 15 characters");
	opts.pci = "a234567890123456789012345678901234567890123456789012345678901234567890";
	refused(morph_admin_accelerator_set(ctx, 3, 0, &opts, NULL),
		"a PCI address has at most 15 characters");
	opts.pci = "0000:01:00.0";
	opts.set |= MORPH_SET_USE;
	opts.use = MORPH_USE_SPARE;
	expect(morph_admin_accelerator_set(ctx, 3, 0, &opts, NULL),
	       "accelerator{fabric=3 id=0 use=spare pci=0000:01:00.0}");
}

static void why_not_is_asked(void **state)
{
	static const uint32_t accelerators[] = { 1, 2 };
	MORPH_OPTS(morph_why_not_opts, opts, .accelerators_count = 2);
	struct morph_object *object;

	(void)state;
	refused(morph_admin_why_not(ctx, 3, &opts, &object),
		"morph_why_not_opts: neither count nor accelerators, or an unknown flag");
	opts.count = 2;
	opts.flags = 0x80;
	refused(morph_admin_why_not(ctx, 3, &opts, &object),
		"morph_why_not_opts: neither count nor accelerators, or an unknown flag");
	opts.flags = MORPH_WHY_NOT_RING;
	opts.lanes_count = 4;
	expect(morph_admin_why_not(ctx, 3, &opts, &object),
	       "why-not{fabric=3 count=2 transit=any ring=1 lanes-count=4}");
	morph_object_free(object);
	opts.accelerators = accelerators;
	opts.accelerators_count = 2;
	expect(morph_admin_why_not(ctx, 3, &opts, &object),
	       "why-not{fabric=3 accelerator=1,2 transit=any ring=1 lanes-count=4}");
	morph_object_free(object);
}

static void quotas_are_set(void **state)
{
	MORPH_OPTS(morph_quota_opts, opts, .accelerators = 1, .circuits = 2, .lanes = 3,
		   .prepared = 4, .replacements = 5, .bytes = 6, .set = 2 * MORPH_QUOTA_BYTES - 1);

	(void)state;
	expect(morph_admin_quota_set(ctx, 1000, &opts, NULL),
	       "quota{uid=1000 accelerators=1 circuits=2 lanes=3 prepared=4 "
	       "replacements=5 bytes=6}");
	opts.grant = 8;
	opts.set = MORPH_QUOTA_BYTES;
	expect(morph_admin_quota_set(ctx, MORPH_ANY, &opts, NULL), "quota{bytes=6 grant=8}");
}

static void controllers_are_named(void **state)
{
	MORPH_OPTS(morph_slice_set_opts, assign, .set = MORPH_SET_CONTROLLER);
	struct morph_object *object;

	(void)state;
	expect(morph_admin_get(ctx, MORPH_OBJECT_CONTROLLER, 3, MORPH_ANY, 7, &object),
	       "controller{fabric=3 id=7}");
	morph_object_free(object);
	expect(morph_controller_take(ctx, 3, 7, 2, 5000, 0, NULL),
	       "controller{fabric=3 id=7 epoch=2 lease-ns=5000}");
	expect(morph_controller_take(ctx, 3, 7, 2, 5000, MORPH_TAKE_FORCE, NULL),
	       "controller{fabric=3 id=7 epoch=2 lease-ns=5000 force=1}");
	expect(morph_controller_take(ctx, 3, 7, 2, 5000, MORPH_TAKE_RENEW, NULL),
	       "controller{fabric=3 id=7 epoch=2 lease-ns=5000}");
	expect(morph_controller_settle(ctx, 3, 7, 2, NULL), "controller{fabric=3 id=7 epoch=2}");
	expect(morph_controller_drop(ctx, 3, 7), "controller{fabric=3 id=7}");
	expect(morph_admin_slice_set(ctx, 3, 9, &assign, NULL),
	       "slice{fabric=3 id=9 controller=0}");
	refused(morph_controller_take(ctx, 3, 7, 2, 5000, MORPH_TAKE_FORCE | MORPH_TAKE_RENEW,
				      &object),
		"flags of taking control are 0x3: neither 0x1 nor 0x2");
	refused(morph_controller_take(ctx, 3, 7, 2, 5000, 4, &object),
		"flags of taking control are 0x4: neither 0x1 nor 0x2");
}

static void reservations_are_named(void **state)
{
	(void)state;
	expect(morph_controller_reserve(ctx, 3, 7, 2, 17, 4, 0, NULL),
	       "reservation{fabric=3 controller=7 guide=17 epoch=2 lanes-count=4}");
	expect(morph_controller_reserve(ctx, 3, 7, 2, 17, 0, 6, NULL),
	       "reservation{fabric=3 controller=7 guide=17 epoch=2 lanes-count=0 lanes=6}");
}

/*
 * Steps and changes name the controller on whose behalf they act. Without a controller they omit
 * it.
 */
static void tokens_are_passed(void **state)
{
	struct morph_txn *txn = morph_txn_new(ctx);

	(void)state;
	expect(morph_controller_step(ctx, 3, 5, MORPH_TXN_COMMIT, 0, 7, 2, NULL),
	       "txn{fabric=3 id=5 verb=commit controller=7 epoch=2}");
	expect(morph_admin_txn_step(ctx, 3, 5, MORPH_TXN_COMMIT, 0, NULL),
	       "txn{fabric=3 id=5 verb=commit}");
	assert_int_equal(morph_txn_remove(txn, 1), 0);
	SET_TXN(txn, .controller = 7, .epoch = 2);
	expect(morph_admin_circuit_apply(ctx, 3, 9, txn, NULL),
	       "txn{fabric=3 slice=9 change=change{op=remove circuit=1} controller=7 epoch=2}");
	morph_txn_clear(txn);
	assert_int_equal(morph_txn_remove(txn, 1), 0);
	expect(morph_admin_circuit_apply(ctx, 3, 9, txn, NULL),
	       "txn{fabric=3 slice=9 change=change{op=remove circuit=1}}");
	morph_txn_free(txn);
}

/* Options of a newer program: every call refuses options that this library does not know. */
static void unknown_options_are_refused(void **state)
{
	struct {
		size_t sz;
		char bytes[256];
	} opts = { .sz = sizeof(opts), .bytes[255] = 1 };
	const void *newer = &opts;
	struct morph_monitor *monitor;
	struct morph_object *object;

	(void)state;
	assert_int_equal(morph_admin_accelerator_set(ctx, 3, 0, newer, &object), -E2BIG);
	assert_int_equal(morph_admin_slice_set(ctx, 3, 9, newer, &object), -E2BIG);
	assert_int_equal(morph_admin_why_not(ctx, 3, newer, &object), -E2BIG);
	assert_int_equal(morph_admin_quota_set(ctx, 3, newer, &object), -E2BIG);
	assert_int_equal(morph_monitor_new(ctx, newer, &monitor), -E2BIG);
	assert_non_null(strstr(morph_error_text(ctx), "option at byte 263"));
	opts.sz = 1;
	assert_int_equal(morph_monitor_new(ctx, newer, &monitor), -EINVAL);
	opts.sz = sizeof(size_t) + 8;
	memset(opts.bytes, 1, 8);
	assert_int_equal(morph_monitor_new(ctx, newer, &monitor), -EINVAL);
	assert_null(asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(objects_have_their_type, begin, end),
		cmocka_unit_test_setup_teardown(slices_are_created_as_requested, begin, end),
		cmocka_unit_test_setup_teardown(slices_are_set_and_deleted, begin, end),
		cmocka_unit_test_setup_teardown(changes_are_applied_as_asked, begin, end),
		cmocka_unit_test_setup_teardown(changes_that_do_not_fit_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(steps_refuse_nonsense, begin, end),
		cmocka_unit_test_setup_teardown(hardware_is_named, begin, end),
		cmocka_unit_test_setup_teardown(ranks_are_replaced, begin, end),
		cmocka_unit_test_setup_teardown(accelerators_are_set, begin, end),
		cmocka_unit_test_setup_teardown(why_not_is_asked, begin, end),
		cmocka_unit_test_setup_teardown(quotas_are_set, begin, end),
		cmocka_unit_test_setup_teardown(controllers_are_named, begin, end),
		cmocka_unit_test_setup_teardown(reservations_are_named, begin, end),
		cmocka_unit_test_setup_teardown(tokens_are_passed, begin, end),
		cmocka_unit_test_setup_teardown(unknown_options_are_refused, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
