// SPDX-License-Identifier: LGPL-2.1-or-later
/* Netlink: replies, refusals with the kernel's text, torn dumps, and the family. */
#include <dirent.h>

#include "../internal/client.h"
#include "alone.h"

static void answer_one(struct fake *kernel, const struct nlmsghdr *request)
{
	assert_int_equal(fake_command(request), MORPH_CMD_ACCELERATOR_GET);
	fake_queue(kernel, fake_accelerator(99, 1, 0), request->nlmsg_seq - 1); /* left over */
	fake_queue(kernel, fake_accelerator(7, 1, 0), request->nlmsg_seq);
	fake_ack(kernel);
}

static void a_reply_becomes_an_object(void **state)
{
	struct morph_object *object;
	char *text;

	(void)state;
	fake->request = answer_one;
	assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_ACCELERATOR, 3, MORPH_ANY, 7, &object),
			 0);
	text = fake_print(object);
	assert_string_equal(text, "accelerator{fabric=3 id=7 health=failed seq=1}");
	free(text);
	assert_string_equal(morph_object_command(object), "accelerator-get");
	morph_object_free(object);
}

static void refuse_rank(struct fake *kernel, const struct nlmsghdr *request)
{
	fake_refuse(kernel, ENOENT, "no such rank",
		    fake_offset(request, MORPH_A_TXN_CHANGE, MORPH_A_CHANGE_DST_RANK), 0, 0);
}

static void refuse_missing(struct fake *kernel, const struct nlmsghdr *request)
{
	fake_refuse(kernel, EINVAL, NULL, 0, 0, 0);
	(void)request;
}

static void refuse_missing_named(struct fake *kernel, const struct nlmsghdr *request)
{
	fake_refuse(kernel, EINVAL, "attribute missing", 0, MORPH_A_CHANGE_OP,
		    fake_offset(request, MORPH_A_TXN_CHANGE, 0));
}

static void refusals_name_the_attribute(void **state)
{
	struct morph_txn *txn = morph_txn_new(ctx);
	struct morph_object *object;

	(void)state;
	assert_int_equal(morph_txn_add(txn, 0, 77, NULL), 0);
	fake->request = refuse_rank;
	assert_int_equal(morph_admin_circuit_apply(ctx, 3, 9, txn, &object), -ENOENT);
	assert_null(object);
	assert_string_equal(morph_error_text(ctx), "change the circuits of slice 9: no such rank "
						   "[attribute change.dst-rank]");
	assert_string_equal(ERROR_OF(ctx, attribute), "change.dst-rank");
	fake->request = refuse_missing_named;
	assert_int_equal(morph_admin_circuit_apply(ctx, 3, 9, txn, NULL), -EINVAL);
	assert_string_equal(ERROR_OF(ctx, attribute), "change.op");
	fake->request = refuse_missing;
	assert_int_equal(morph_admin_circuit_apply(ctx, 3, 9, txn, NULL), -EINVAL);
	assert_string_equal(morph_error_text(ctx),
			    "change the circuits of slice 9: Invalid argument");
	assert_string_equal(ERROR_OF(ctx, attribute), "");
	morph_txn_free(txn);
}

/*
 * Two torn dumps, the first marked by the kernel, the second visible by its sequence numbers; then
 * a complete one.
 */
static void answer_torn(struct fake *kernel, const struct nlmsghdr *request)
{
	int attempt = kernel->state++;

	assert_int_equal(request->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
	fake_queue(kernel, fake_accelerator(0, 5, NLM_F_MULTI), request->nlmsg_seq);
	fake_queue(kernel,
		   fake_accelerator(1, attempt == 1 ? 6 : 5,
				    attempt ? NLM_F_MULTI : NLM_F_MULTI | NLM_F_DUMP_INTR),
		   request->nlmsg_seq);
	fake_done(kernel);
}

static void torn_dumps_are_repeated(void **state)
{
	struct morph_list *list;

	(void)state;
	fake->request = answer_torn;
	assert_int_equal(morph_admin_list(ctx, MORPH_OBJECT_ACCELERATOR, 3, MORPH_ANY, &list), 0);
	assert_int_equal(fake->state, 3);
	assert_int_equal(morph_list_count(list), 2);
	assert_int_equal(morph_list_seq(list), 5);
	morph_list_free(list);
	fake->state = 0;
	ctx->dump_retries = 1;
	assert_int_equal(morph_admin_list(ctx, MORPH_OBJECT_ACCELERATOR, 3, MORPH_ANY, &list),
			 -EAGAIN);
	assert_null(list);
	assert_int_equal(fake->state, 2);
}

static struct nl_msg *slice(uint16_t flags, uint32_t first, uint32_t count)
{
	struct nl_msg *message = fake_message(MORPH_CMD_SLICE_GET, flags);

	nla_put_u32(message, MORPH_A_SLICE_FABRIC, 3);
	nla_put_u32(message, MORPH_A_SLICE_ID, 9);
	for (uint32_t rank = first; rank < first + count; rank++) {
		struct nlattr *nest = nla_nest_start(message, MORPH_A_SLICE_RANK);

		nla_put_u32(message, MORPH_A_RANK_RANK, rank);
		nla_nest_end(message, nest);
	}
	return message;
}

static void answer_large_slice(struct fake *kernel, const struct nlmsghdr *request)
{
	if (!(request->nlmsg_flags & NLM_F_DUMP)) {
		fake_queue(kernel, slice(0, 0, 256), request->nlmsg_seq);
		fake_ack(kernel);
		return;
	}
	fake_offset(request, MORPH_A_SLICE_ID, 0); /* only this one was asked for */
	fake_queue(kernel, slice(NLM_F_MULTI, 0, 256), request->nlmsg_seq);
	fake_queue(kernel, slice(NLM_F_MULTI, 256, 44), request->nlmsg_seq);
	fake_done(kernel);
}

static void a_slice_beyond_one_message_is_read_whole(void **state)
{
	struct morph_object *object;

	(void)state;
	fake->request = answer_large_slice;
	assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_SLICE, 3, MORPH_ANY, 9, &object), 0);
	assert_int_equal(morph_object_values(object, "rank"), 300);
	assert_int_equal(morph_object_uint(morph_object_nested_at(object, "rank", 299), "rank"),
			 299);
	morph_object_free(object);
}

/* -------------------------------------------- what no kernel should answer */

static struct nl_msg *odd; /* the answer, before the acknowledgement */

static void answer_odd(struct fake *kernel, const struct nlmsghdr *request)
{
	fake_queue(kernel, odd, request->nlmsg_seq);
	fake_ack(kernel);
}

/* Read a fabric, and receive @message as the answer. */
static int get_odd(struct nl_msg *message, struct morph_object **out)
{
	odd = message;
	fake->request = answer_odd;
	return morph_admin_get(ctx, MORPH_OBJECT_FABRIC, 3, MORPH_ANY, 0, out);
}

/* A message of a type outside the family, with @bytes zero bytes. */
static struct nl_msg *bare(int type, int bytes)
{
	struct nl_msg *message = nlmsg_alloc();

	assert_non_null(nlmsg_put(message, 0, 0, type, bytes, 0));
	memset(nlmsg_data(nlmsg_hdr(message)), 0, (size_t)bytes);
	return message;
}

static void malformed_messages_are_refused(void **state)
{
	struct morph_object *object;
	struct nl_msg *message;

	(void)state;
	message = fake_message(MORPH_CMD_FABRIC_GET, 0);
	nla_put(message, MORPH_A_FABRIC_ID, 3, "abc"); /* a number of three bytes */
	assert_int_equal(get_odd(message, &object), -EPROTO);
	message = fake_message(MORPH_CMD_FABRIC_GET, 0);
	nla_put(message, MORPH_A_FABRIC_UUID, 3, "abc");
	assert_int_equal(get_odd(message, &object), -EPROTO);
	message = slice(0, 0, 1);
	((char *)nla_data(nla_data(
		nlmsg_find_attr(nlmsg_hdr(message), GENL_HDRLEN, MORPH_A_SLICE_RANK))))[-4] = 7;
	assert_int_equal(get_odd(message, &object), -EPROTO);
	assert_int_equal(get_odd(bare(FAKE_FAMILY, 0), &object), -EPROTO);
	assert_int_equal(get_odd(bare(NLMSG_ERROR, 4), &object), -EPROTO);
	assert_int_equal(get_odd(bare(NLMSG_OVERRUN, 0), &object), -ENOBUFS);
	assert_null(object);
	/* an acknowledgement alone, and what is not known, is no answer */
	assert_int_equal(get_odd(bare(NLMSG_NOOP, 0), &object), -EPROTO);
	assert_int_equal(get_odd(fake_message(99, 0), &object), -EPROTO);
	assert_int_equal(get_odd(bare(FAKE_FAMILY + 1, 8), &object), -EPROTO);
}

/* The end of an answer, with the given result. */
static struct nl_msg *ending(int type, int32_t result)
{
	struct nl_msg *message = bare(type, sizeof(struct nlmsgerr));

	memcpy(nlmsg_data(nlmsg_hdr(message)), &result, sizeof(result));
	nlmsg_hdr(message)->nlmsg_flags |= NLM_F_CAPPED;
	return message;
}

static void results_that_no_kernel_has_are_refused(void **state)
{
	static const int32_t results[] = { INT32_MIN, -4096, 1 };
	struct morph_object *object;

	(void)state;
	for (size_t at = 0; at < 3; at++)
		assert_int_equal(get_odd(ending(NLMSG_ERROR, results[at]), &object), -EPROTO);
	assert_int_equal(get_odd(ending(NLMSG_DONE, INT32_MIN), &object), -EPROTO);
	assert_int_equal(get_odd(ending(NLMSG_ERROR, -4095), &object), -4095);
}

static void answer_and_fail(struct fake *kernel, const struct nlmsghdr *request)
{
	fake_queue(kernel, odd, request->nlmsg_seq);
	fake_queue(kernel, ending(NLMSG_ERROR, -EIO), request->nlmsg_seq);
}

static void answer_before_an_error_is_none(void **state)
{
	struct morph_object *object;

	(void)state;
	odd = fake_message(MORPH_CMD_FABRIC_GET, 0);
	nla_put_u32(odd, MORPH_A_FABRIC_ID, 3);
	fake->request = answer_and_fail;
	assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_FABRIC, 3, MORPH_ANY, 0, &object), -EIO);
	assert_null(object);
}

static void numbers_come_in_every_width(void **state)
{
	struct nl_msg *message = fake_message(MORPH_CMD_TXN_GET, 0);
	struct morph_object *object;
	char *text;

	(void)state;
	nla_put_u8(message, MORPH_A_TXN_ID, 200);
	nla_put_u16(message, MORPH_A_TXN_SLICE, 60000);
	nla_put_u64(message, MORPH_A_TXN_SEQ, 1ull << 40);
	nla_put_s16(message, MORPH_A_TXN_STATUS, -5);
	nla_put_flag(message, MORPH_A_TXN_EACH);
	assert_int_equal(get_odd(message, &object), 0);
	text = fake_print(object);
	assert_string_equal(text, "txn{slice=60000 id=200 status=-5 each=1 seq=1099511627776}");
	free(text);
	morph_object_free(object);
}

/* ----------------------------------------------------- refusals in full words */

static uint32_t refused_at; /* offset in the request */
static uint32_t missing_in, missing;

/*
 * As a kernel without NLM_F_CAPPED, return the whole request. @cut: claim more bytes than it has.
 */
static void refuse_uncapped(struct fake *kernel, const struct nlmsghdr *request)
{
	struct nl_msg *message = nlmsg_alloc();
	bool cut = kernel->state;
	struct nlmsgerr *report;

	assert_non_null(nlmsg_put(message, 0, 0, NLMSG_ERROR,
				  (int)(sizeof(int) + request->nlmsg_len), NLM_F_ACK_TLVS));
	report = nlmsg_data(nlmsg_hdr(message));
	report->error = -EINVAL;
	memcpy(&report->msg, request, request->nlmsg_len);
	if (cut)
		report->msg.nlmsg_len += 100;
	nla_put_string(message, NLMSGERR_ATTR_MSG, "not like this");
	nla_put_u16(message, NLMSGERR_ATTR_OFFS, 7); /* not a number of 32 bits */
	fake_queue(kernel, message, request->nlmsg_seq);
}

static void refuse_by_numbers(struct fake *kernel, const struct nlmsghdr *request)
{
	(void)request;
	fake_refuse(kernel, EINVAL, "no", refused_at, missing, missing_in);
}

static void refuse_in_dump(struct fake *kernel, const struct nlmsghdr *request)
{
	struct nl_msg *message = nlmsg_alloc();
	int error = -EPERM;

	nlmsg_put(message, 0, 0, NLMSG_DONE, sizeof(error), NLM_F_MULTI | NLM_F_ACK_TLVS);
	memcpy(nlmsg_data(nlmsg_hdr(message)), &error, sizeof(error));
	nla_put_string(message, NLMSGERR_ATTR_MSG, "not for you");
	fake_queue(kernel, message, request->nlmsg_seq);
}

static void refusals_are_read_in_every_form(void **state)
{
	struct morph_object *object;
	struct morph_list *list;

	(void)state;
	fake->request = refuse_uncapped;
	assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_ACCELERATOR, 3, MORPH_ANY, 7, &object),
			 -EINVAL);
	assert_string_equal(morph_error_text(ctx), "read accelerator 7: not like this");
	fake->state = 1;
	assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_ACCELERATOR, 3, MORPH_ANY, 7, &object),
			 -EPROTO);
	fake->request = refuse_in_dump;
	assert_int_equal(morph_admin_list(ctx, MORPH_OBJECT_ACCELERATOR, 3, MORPH_ANY, &list),
			 -EPERM);
	assert_string_equal(morph_error_text(ctx), "list accelerators of fabric 3: not for you");
	assert_int_equal(morph_admin_list(ctx, MORPH_OBJECT_SLICE, MORPH_ANY, MORPH_ANY, &list),
			 -EPERM);
	assert_string_equal(morph_error_text(ctx), "list slices: not for you");
}

/* Offsets of no known attribute give no name. */
static void attributes_without_a_name_are_omitted(void **state)
{
	static const struct {
		uint32_t at, missing, in;
		const char *attribute;
	} refusals[] = {
		{ 20, 0, 0, "fabric" },
		{ 22, 0, 0, "fabric" },
		{ 9999, 0, 0, "" },
		{ 0, MORPH_A_ACCELERATOR_USE, 0, "use" },
		{ 0, 999, 0, "" },
		{ 0, MORPH_A_ACCELERATOR_USE, 20, "fabric" },
		{ 0, MORPH_A_ACCELERATOR_USE, 9999, "" },
	};
	struct morph_object *object;

	(void)state;
	fake->request = refuse_by_numbers;
	for (size_t at = 0; at < ARRAY_SIZE(refusals); at++) {
		refused_at = refusals[at].at;
		missing = refusals[at].missing;
		missing_in = refusals[at].in;
		assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_ACCELERATOR, 3, MORPH_ANY, 7,
						 &object),
				 -EINVAL);
		assert_string_equal(ERROR_OF(ctx, attribute), refusals[at].attribute);
	}
}

/* --------------------------------------------------------------- the family */

#define NO_MODULE                                                                                       \
	"the kernel has no netlink family \"morph\": the module morph is not loaded (no " LM_MODULE_DIR \
	"); run 'modprobe morph'"

static void answer_no_family(struct fake *kernel, const struct nlmsghdr *request)
{
	(void)request;
	fake_refuse(kernel, ENOENT, "no such family", 20, 0, 0);
}

static void answer_nothing(struct fake *kernel, const struct nlmsghdr *request)
{
	(void)request;
	fake_ack(kernel);
}

/* A family without a number, or a family whose groups have other names. */
static void answer_strange_family(struct fake *kernel, const struct nlmsghdr *request)
{
	struct nl_msg *message = nlmsg_alloc();
	struct nlattr *groups, *group;

	genlmsg_put(message, 0, 0, GENL_ID_CTRL, 0, 0, CTRL_CMD_NEWFAMILY, 2);
	if (kernel->state)
		nla_put_u16(message, CTRL_ATTR_FAMILY_ID, FAKE_FAMILY);
	groups = nla_nest_start(message, CTRL_ATTR_MCAST_GROUPS);
	group = nla_nest_start(message, 1);
	nla_put_u32(message, CTRL_ATTR_MCAST_GRP_ID, 8);
	nla_nest_end(message, group);
	group = nla_nest_start(message, 2);
	nla_put_string(message, CTRL_ATTR_MCAST_GRP_NAME, "monitor");
	nla_nest_end(message, group);
	group = nla_nest_start(message, 3);
	nla_put_string(message, CTRL_ATTR_MCAST_GRP_NAME, "monitor");
	nla_put_u16(message, CTRL_ATTR_MCAST_GRP_ID, 9);
	nla_nest_end(message, group);
	group = nla_nest_start(message, 4);
	nla_put_string(message, CTRL_ATTR_MCAST_GRP_NAME, "other");
	nla_put_u32(message, CTRL_ATTR_MCAST_GRP_ID, FAKE_GROUP);
	nla_nest_end(message, group);
	nla_nest_end(message, groups);
	fake_queue(kernel, message, request->nlmsg_seq);
	fake_ack(kernel);
}

static void a_missing_family_is_reported(void **state)
{
	struct morph_monitor *monitor;

	(void)state;
	fake->controller = answer_no_family;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), -ENOENT);
	fake->controller = answer_nothing;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), -ENOENT);
	assert_string_equal(morph_error_text(ctx), NO_MODULE);
	fake->module = true;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), -ENOENT);
	assert_string_equal(
		morph_error_text(ctx),
		"the module morph is loaded, but its netlink family \"morph\" is not visible in "
		"this network namespace; use the initial one, as with "
		"'nsenter --net=/proc/1/ns/net'");
	fake->controller = answer_strange_family;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), -EPROTO);
	fake->state = 1;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), -EINVAL);
	assert_string_equal(morph_error_text(ctx), "join the group \"monitor\": Invalid argument");
	assert_null(monitor);
}

/* ------------------------------------------------------- what goes together */

/* All objects of a fabric have the same sequence number, but the fabrics' numbers differ. */
static void answer_two_fabrics(struct fake *kernel, const struct nlmsghdr *request)
{
	for (uint32_t fabric = 0; fabric < 2; fabric++) {
		struct nl_msg *message = fake_message(MORPH_CMD_GUIDE_GET, NLM_F_MULTI);

		nla_put_u32(message, MORPH_A_GUIDE_FABRIC, fabric);
		nla_put_u64(message, MORPH_A_GUIDE_SEQ, 5 + fabric);
		fake_queue(kernel, message, request->nlmsg_seq);
	}
	fake_done(kernel);
}

static void fabrics_may_be_at_different_seqs(void **state)
{
	struct morph_list *list;

	(void)state;
	fake->request = answer_two_fabrics;
	assert_int_equal(morph_admin_list(ctx, MORPH_OBJECT_GUIDE, MORPH_ANY, MORPH_ANY, &list), 0);
	assert_int_equal(morph_list_count(list), 2);
	assert_int_equal(morph_list_seq(list), 0);
	morph_list_free(list);
}

static void answer_then_gone(struct fake *kernel, const struct nlmsghdr *request)
{
	if (request->nlmsg_flags & NLM_F_DUMP) {
		fake_done(kernel);
		return;
	}
	fake_queue(kernel, slice(0, 0, 256), request->nlmsg_seq);
	fake_ack(kernel);
}

static void a_large_slice_may_go_away_while_it_is_read(void **state)
{
	struct morph_object *object;

	(void)state;
	fake->request = answer_then_gone;
	assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_SLICE, 3, MORPH_ANY, 9, &object),
			 -ENOENT);
	assert_string_equal(morph_error_text(ctx), "the object was removed during the read");
	assert_null(object);
}

/* ------------------------------------------------------------------ the real */

static void a_missing_module_is_reported(void **state)
{
	struct morph_ctx *real;
	struct morph_list *list;
	DIR *module = opendir("/sys/module/morph");

	(void)state;
	if (module) {
		closedir(module);
		print_message("skipped: the module is loaded\n");
		skip();
	}
	assert_int_equal(morph_ctx_new(NULL, &real), 0);
	assert_int_equal(morph_admin_list(real, MORPH_OBJECT_FABRIC, MORPH_ANY, MORPH_ANY, &list),
			 -ENOENT);
	assert_string_equal(morph_error_text(real), NO_MODULE);
	assert_int_equal(morph_fabrics(real, &list), 0);
	assert_int_equal(morph_list_count(list), 0);
	morph_list_free(list);
	morph_ctx_free(real);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_reply_becomes_an_object, begin, end),
		cmocka_unit_test_setup_teardown(refusals_name_the_attribute, begin, end),
		cmocka_unit_test_setup_teardown(torn_dumps_are_repeated, begin, end),
		cmocka_unit_test_setup_teardown(a_slice_beyond_one_message_is_read_whole, begin,
						end),
		cmocka_unit_test_setup_teardown(malformed_messages_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(results_that_no_kernel_has_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(answer_before_an_error_is_none, begin, end),
		cmocka_unit_test_setup_teardown(numbers_come_in_every_width, begin, end),
		cmocka_unit_test_setup_teardown(refusals_are_read_in_every_form, begin, end),
		cmocka_unit_test_setup_teardown(attributes_without_a_name_are_omitted, begin, end),
		cmocka_unit_test_setup_teardown(a_missing_family_is_reported, begin, end),
		cmocka_unit_test_setup_teardown(fabrics_may_be_at_different_seqs, begin, end),
		cmocka_unit_test_setup_teardown(a_large_slice_may_go_away_while_it_is_read, begin,
						end),
		cmocka_unit_test(a_missing_module_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
