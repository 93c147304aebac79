// SPDX-License-Identifier: LGPL-2.1-or-later
/* Refusals of the kernel: the same text from the device and from netlink, and strange cookies. */
#include <stdio.h>

#include "../internal/client.h"
#include "alone.h"

/* A refusal as the kernel reports it over netlink, on the device, and as users read it. */
struct refusal {
	const char *fixed;
	struct morph_refusal_cookie cookie;
	const char *rendered;
	const char *text;
};

static const struct refusal refusals[] = {
	{ "no accelerator {index} (0-{last})",
	  { MORPH_REASON_ARGUMENT, MORPH_PART_ACCELERATOR, 77, 10, 0 },
	  "no accelerator 77 (0-9)",
	  "read accelerator 7: no accelerator 77 (0-9)" },
	{ "not enough accelerators: {need} requested, {have} free",
	  { MORPH_REASON_ACCELERATORS, MORPH_PART_ACCELERATOR, MORPH_ANY, 4, 5 },
	  "not enough accelerators: 5 requested, 4 free",
	  "read accelerator 7: not enough accelerators: 5 requested, 4 free (accelerators)" },
	{ "too few lanes",
	  { MORPH_REASON_LANES, MORPH_PART_GUIDE, 17, 3, 4 },
	  "too few lanes",
	  "read accelerator 7: too few lanes (lanes, have 3, need 4, guide 17)" },
	/* 13 and 40 contain the digits of 3 and 4, but not the numbers. */
	{ "guide {index} of 13 has lost 40 lanes",
	  { MORPH_REASON_LANES, MORPH_PART_GUIDE, 17, 3, 4 },
	  "guide 17 of 13 has lost 40 lanes",
	  "read accelerator 7: guide 17 of 13 has lost 40 lanes (lanes, have 3, need 4)" },
	{ "the margin would be {have} mdB, at least {need} mdB are needed",
	  { MORPH_REASON_MARGIN, MORPH_PART_RECEIVER, 5, -1005, 3000 },
	  "the margin would be -1005 mdB, at least 3000 mdB are needed",
	  "read accelerator 7: the margin would be -1005 mdB, at least 3000 mdB are needed "
	  "(margin, receiver 1.1)" },
	{ "receive port 1.1 is dark",
	  { MORPH_REASON_HARDWARE, MORPH_PART_RECEIVER, 5, 0, 0 },
	  "receive port 1.1 is dark",
	  "read accelerator 7: receive port 1.1 is dark (hardware)" },
	{ "no receive port {index} (the last one is {last})",
	  { MORPH_REASON_ARGUMENT, MORPH_PART_RECEIVER, 77, 40, 0 },
	  "no receive port 19.1 (the last one is 9.3)",
	  "read accelerator 7: no receive port 19.1 (the last one is 9.3)" },
	{ "no source plane {index} (0-{last})",
	  { MORPH_REASON_PORT, MORPH_PART_NONE, 9, 4, 0 },
	  "no source plane 9 (0-3)",
	  "read accelerator 7: no source plane 9 (0-3) (port)" },
	{ "the slice is being repaired; try again",
	  { MORPH_REASON_STATE, MORPH_PART_NONE, 0, 0, 0 },
	  "the slice is being repaired; try again",
	  "read accelerator 7: the slice is being repaired; try again" },
	{ "{unknown} {index {have}",
	  { 9999, MORPH_PART_NONE, 0, 1, 2 },
	  "{unknown} {index 1",
	  "read accelerator 7: {unknown} {index 1 (rule 9999, have 1, need 2)" },
};

#define PLANES 4

static bool planes_known = true;
static const struct refusal *refusal;
static const char *sentence; /* of the kernel over netlink */
static const void *cookie;
static int cookie_bytes;

static int refuse_on_device(struct fake *kernel, unsigned long command, void *argument)
{
	struct morph_head *head = argument;

	(void)kernel;
	if (command == MORPH_FABRIC_INFO) {
		((struct morph_fabric_info *)argument)->planes = PLANES;
		return planes_known ? 0 : -ENODEV;
	}
	snprintf((char *)(uintptr_t)head->detail_ptr, head->detail_len, "%s", refusal->rendered);
	head->reason = refusal->cookie.reason;
	head->part = refusal->cookie.part;
	head->index = refusal->cookie.index;
	head->have = refusal->cookie.have;
	head->need = refusal->cookie.need;
	return -ENOSPC;
}

static struct nl_msg *refuse(const struct nlmsghdr *request, int type)
{
	struct nl_msg *message = nlmsg_alloc();
	struct nlmsgerr report = { .error = -ENOSPC, .msg = *request };
	size_t bytes = type == NLMSG_DONE ? sizeof(report.error) : sizeof(report);

	assert_non_null(nlmsg_put(message, 0, 0, type, (int)bytes, NLM_F_CAPPED | NLM_F_ACK_TLVS));
	memcpy(nlmsg_data(nlmsg_hdr(message)), &report, bytes);
	if (cookie)
		nla_put(message, NLMSGERR_ATTR_COOKIE, cookie_bytes, cookie);
	nla_put_string(message, NLMSGERR_ATTR_MSG, sentence);
	return message;
}

static void answer_fabric(struct fake *kernel, const struct nlmsghdr *request)
{
	struct nl_msg *message = fake_message(MORPH_CMD_FABRIC_GET, 0);

	nla_put_u32(message, MORPH_A_FABRIC_ID, 3);
	nla_put_u32(message, MORPH_A_FABRIC_PLANES, PLANES);
	fake_queue(kernel, message, request->nlmsg_seq);
	fake_ack(kernel);
}

static void refuse_over_netlink(struct fake *kernel, const struct nlmsghdr *request)
{
	bool dump = request->nlmsg_flags & NLM_F_DUMP;

	if (fake_command(request) == MORPH_CMD_FABRIC_GET && planes_known) {
		answer_fabric(kernel, request);
		return;
	}
	fake_queue(kernel, refuse(request, dump ? NLMSG_DONE : NLMSG_ERROR), request->nlmsg_seq);
}

static void check_numbers(const struct morph_refusal_cookie *numbers)
{
	assert_int_equal(ERROR_OF(ctx, code), ENOSPC);
	assert_int_equal(ERROR_OF(ctx, reason), numbers->reason);
	assert_int_equal(ERROR_OF(ctx, part), numbers->part);
	assert_int_equal(ERROR_OF(ctx, index), numbers->index);
	assert_int_equal(ERROR_OF(ctx, have), numbers->have);
	assert_int_equal(ERROR_OF(ctx, need), numbers->need);
}

static void get(void)
{
	struct morph_object *object;

	fake->request = refuse_over_netlink;
	assert_int_equal(morph_admin_get(ctx, MORPH_OBJECT_ACCELERATOR, 3, MORPH_ANY, 7, &object),
			 -ENOSPC);
	assert_null(object);
}

static void both_interfaces_give_the_same_text(void **state)
{
	int fd = fake->transport.ops->open(&fake->transport, LM_DEV_DIR "/fabric0");
	struct morph_slice_info info = { 0 };

	(void)state;
	cookie_bytes = sizeof(refusal->cookie);
	for (size_t at = 0; at < ARRAY_SIZE(refusals); at++) {
		refusal = &refusals[at];
		fake->ioctl = refuse_on_device;
		assert_int_equal(lm_ioctl(ctx, fd, MORPH_SLICE_INFO, &info, sizeof(info),
					  "read accelerator %u", 7),
				 -ENOSPC);
		assert_string_equal(morph_error_text(ctx), refusal->text);
		check_numbers(&refusal->cookie);
		sentence = refusal->fixed;
		cookie = &refusal->cookie;
		get();
		assert_string_equal(morph_error_text(ctx), refusal->text);
		assert_string_equal(ERROR_OF(ctx, kernel_text), refusal->rendered);
		check_numbers(&refusal->cookie);
	}
	fake->transport.ops->close(&fake->transport, fd);
}

/* A kernel that does not answer the question for the planes leaves the index. */
static void ports_without_planes_have_their_index(void **state)
{
	int fd = fake->transport.ops->open(&fake->transport, LM_DEV_DIR "/fabric0");
	const char *text = "read accelerator 7: the margin would be -1005 mdB, at least 3000 mdB "
			   "are needed (margin, receiver 5)";
	struct morph_slice_info info = { 0 };

	(void)state;
	planes_known = false;
	refusal = &refusals[4];
	fake->ioctl = refuse_on_device;
	assert_int_equal(lm_ioctl(ctx, fd, MORPH_SLICE_INFO, &info, sizeof(info),
				  "read accelerator %u", 7),
			 -ENOSPC);
	assert_string_equal(morph_error_text(ctx), text);
	sentence = refusal->fixed;
	cookie = &refusal->cookie;
	cookie_bytes = sizeof(refusal->cookie);
	get();
	assert_string_equal(morph_error_text(ctx), text);
	check_numbers(&refusal->cookie);
	fake->transport.ops->close(&fake->transport, fd);
	planes_known = true;
}

static void dumps_have_numbers_where_the_kernel_sends_them(void **state)
{
	struct morph_list *list;

	(void)state;
	refusal = &refusals[0];
	sentence = refusal->fixed;
	cookie = &refusal->cookie;
	cookie_bytes = sizeof(refusal->cookie);
	fake->request = refuse_over_netlink;
	assert_int_equal(morph_admin_list(ctx, MORPH_OBJECT_GUIDE, 3, MORPH_ANY, &list), -ENOSPC);
	assert_string_equal(ERROR_OF(ctx, kernel_text), refusal->rendered);
	check_numbers(&refusal->cookie);
}

/* Other kernels may send other cookies. The next refusal contains none of their numbers. */
static void cookies_of_another_size_are_ignored(void **state)
{
	static const struct morph_refusal_cookie none;
	static const int sizes[] = { 0, 1, 4, 8, 19, 21, 40 };
	static const char bytes[40] = { 1, 2, 3 };

	(void)state;
	sentence = "no accelerator {index}";
	for (size_t at = 0; at < ARRAY_SIZE(sizes); at++) {
		cookie = bytes;
		cookie_bytes = sizes[at];
		get();
		assert_string_equal(morph_error_text(ctx),
				    "read accelerator 7: no accelerator {index}");
		check_numbers(&none);
	}
	cookie = &refusals[1].cookie;
	cookie_bytes = sizeof(refusals[1].cookie);
	get();
	assert_int_equal(ERROR_OF(ctx, need), 5);
	cookie = NULL;
	get();
	check_numbers(&none);
}

static void numbers_beyond_32_bits_are_least_numbers(void **state)
{
	const struct morph_refusal_cookie cut = { MORPH_REASON_QUOTA, MORPH_PART_NONE, INT32_MAX,
						  INT32_MAX, INT32_MIN };

	(void)state;
	sentence = "{index}, {have}, {need}, {last}";
	cookie = &cut;
	cookie_bytes = sizeof(cut);
	get();
	assert_string_equal(ERROR_OF(ctx, kernel_text),
			    "2147483647, 2147483647 or more, -2147483648, 2147483646 or more");
}

/* Numbers make a sentence longer; it is cut where the kernel's longest sentence would be. */
static void long_sentences_are_cut(void **state)
{
	const struct morph_refusal_cookie numbers = { MORPH_REASON_QUOTA, 0, MORPH_ANY, 0, 0 };
	char places[256] = "", filled[512] = "";
	size_t longest = sizeof(ctx->error.kernel) - 1;

	(void)state;
	for (int at = 0; at < 36; at++) {
		strcat(places, "{index}");
		strcat(filled, "4294967295");
	}
	filled[longest] = '\0';
	sentence = places;
	cookie = &numbers;
	cookie_bytes = sizeof(numbers);
	get();
	assert_string_equal(ERROR_OF(ctx, kernel_text), filled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_interfaces_give_the_same_text, begin, end),
		cmocka_unit_test_setup_teardown(ports_without_planes_have_their_index, begin, end),
		cmocka_unit_test_setup_teardown(dumps_have_numbers_where_the_kernel_sends_them,
						begin, end),
		cmocka_unit_test_setup_teardown(cookies_of_another_size_are_ignored, begin, end),
		cmocka_unit_test_setup_teardown(numbers_beyond_32_bits_are_least_numbers, begin,
						end),
		cmocka_unit_test_setup_teardown(long_sentences_are_cut, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
