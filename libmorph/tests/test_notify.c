// SPDX-License-Identifier: LGPL-2.1-or-later
/* Netlink: notifications, their loss, and waiting for the end of a transaction. */
#include <poll.h>

#include "../internal/client.h"
#include "alone.h"

static struct nl_msg *txn(uint32_t command, uint32_t id, uint32_t outcome, int32_t status)
{
	struct nl_msg *message = fake_message(command, 0);

	nla_put_u32(message, MORPH_A_TXN_FABRIC, 3);
	nla_put_u32(message, MORPH_A_TXN_ID, id);
	nla_put_u32(message, MORPH_A_TXN_OUTCOME, outcome);
	nla_put_s32(message, MORPH_A_TXN_STATUS, status);
	if (status) {
		nla_put_u32(message, MORPH_A_TXN_REASON, MORPH_REASON_HARDWARE);
		nla_put_u32(message, MORPH_A_TXN_PART, MORPH_PART_ELEMENT);
		nla_put_u32(message, MORPH_A_TXN_INDEX, 4);
		nla_put_string(message, MORPH_A_TXN_TEXT, "element 4 did not switch");
	}
	return message;
}

static void an_overrun_is_an_object(void **state)
{
	struct morph_monitor *monitor;
	struct morph_list *list;

	(void)state;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	assert_int_equal(morph_monitor_read(monitor, &list), -EAGAIN);
	assert_int_equal(morph_monitor_wait(monitor, 0), 0);
	fake_queue_error(fake, ENOBUFS);
	fake_queue(fake, fake_accelerator(1, 5, 0), 0);
	fake_queue(fake, txn(MORPH_CMD_TXN_NTF, 8, MORPH_OUTCOME_COMMITTED, 0), 0);
	assert_int_equal(morph_monitor_wait(monitor, 0), 1);
	assert_int_equal(morph_monitor_read(monitor, &list), 3);
	assert_string_equal(morph_object_command(morph_list_get(list, 1)), "txn-ntf");
	assert_int_equal(morph_object_type(morph_list_get(list, 2)), MORPH_OBJECT_RESYNC);
	morph_list_free(list);
	assert_int_equal(morph_monitor_read(monitor, &list), -EAGAIN);
	morph_monitor_free(monitor);
}

/* One read returns 64 notifications. The report of the loss follows the last stored one. */
static void an_overrun_is_reported_when_the_socket_is_empty(void **state)
{
	struct morph_monitor *monitor;
	struct morph_list *list;

	(void)state;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	fake_queue_error(fake, ENOBUFS);
	for (uint32_t index = 0; index < FAKE_QUEUE - 1; index++)
		fake_queue(fake, fake_accelerator(1, index, 0), 0);
	assert_int_equal(morph_monitor_read(monitor, &list), FAKE_QUEUE - 1);
	assert_int_equal(morph_object_type(morph_list_get(list, FAKE_QUEUE - 2)),
			 MORPH_OBJECT_ACCELERATOR);
	morph_list_free(list);
	assert_int_equal(morph_monitor_wait(monitor, 0), 1);
	assert_int_equal(morph_monitor_read(monitor, &list), 1);
	assert_int_equal(morph_object_type(morph_list_get(list, 0)), MORPH_OBJECT_RESYNC);
	morph_list_free(list);
	assert_int_equal(morph_monitor_wait(monitor, 0), 0);
	morph_monitor_free(monitor);
}

/* Read all pending notifications. Returns their number, and whether the last one reports a loss. */
static size_t drain(struct morph_monitor *monitor, bool *lost)
{
	struct morph_list *list;
	size_t count = 0;

	*lost = false;
	while (morph_monitor_wait(monitor, 0) == 1) {
		int got = morph_monitor_read(monitor, &list);

		assert_true(got > 0);
		count += (size_t)got;
		*lost = morph_object_type(morph_list_get(list, (size_t)got - 1)) ==
			MORPH_OBJECT_RESYNC;
		morph_list_free(list);
	}
	return count;
}

static void notifications_without_memory_count_as_lost(void **state)
{
	struct morph_monitor *monitor;
	struct morph_list *list;
	bool lost, struck = true;

	(void)state;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	for (unsigned int nth = 1; struck; nth++) {
		int result;

		fake_queue(fake, fake_accelerator(1, 5, 0), 0);
		fake_queue(fake, fake_accelerator(2, 5, 0), 0);
		fault_at("memory", nth, ENOMEM);
		result = morph_monitor_read(monitor, &list);
		struck = fault_struck();
		assert_int_equal(result, struck ? -ENOMEM : 2);
		morph_list_free(list);
		if (struck && drain(monitor, &lost) < 2 && !lost)
			fail_msg("allocation %u failed: no record reports the loss", nth);
	}
	morph_monitor_free(monitor);
}

static void a_loss_is_reported_despite_lack_of_memory(void **state)
{
	struct morph_monitor *monitor;
	struct morph_list *list;
	bool lost;

	(void)state;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	fake_queue_error(fake, ENOBUFS);
	fault_at("memory", 2, ENOMEM); /* the list is there, what it shall hold is not */
	assert_int_equal(morph_monitor_read(monitor, &list), -ENOMEM);
	assert_true(fault_struck());
	assert_int_equal(drain(monitor, &lost), 1);
	assert_true(lost);
	morph_monitor_free(monitor);
}

/* A read takes as many messages as it can, and the library knows none of them. */
static void a_read_may_find_nothing_it_knows(void **state)
{
	struct morph_monitor *monitor;
	struct morph_list *list;

	(void)state;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	for (int at = 0; at < FAKE_QUEUE; at++)
		fake_queue(fake, fake_message(99, 0), 0);
	assert_int_equal(morph_monitor_read(monitor, &list), -EAGAIN);
	assert_null(list);
	assert_int_equal(morph_monitor_wait(monitor, 0), 0);
	morph_monitor_free(monitor);
}

/* ------------------------------------------------------------------ waiting */

/* The transaction is in progress when asked. Its end arrives with the notifications. */
static void answer_running(struct fake *kernel, const struct nlmsghdr *request)
{
	uint32_t outcome = kernel->state ? MORPH_OUTCOME_BROKEN : MORPH_OUTCOME_RUNNING;

	fake_queue(kernel, txn(MORPH_CMD_TXN_GET, 8, outcome, kernel->state), request->nlmsg_seq);
	fake_ack(kernel);
	if (kernel->state)
		return;
	fake_queue(kernel, txn(MORPH_CMD_TXN_NTF, 7, MORPH_OUTCOME_BROKEN, -EIO), 0);
	fake_queue(kernel, txn(MORPH_CMD_TXN_NTF, 8, MORPH_OUTCOME_COMMITTED, 0), 0);
}

static void the_end_of_a_transaction_is_waited_for(void **state)
{
	struct morph_monitor *monitor;
	struct morph_object *object;

	(void)state;
	fake->request = answer_running;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	assert_int_equal(morph_monitor_wait_txn(monitor, 3, 8, -1, &object), 0);
	assert_int_equal(morph_object_uint(object, "outcome"), MORPH_OUTCOME_COMMITTED);
	morph_object_free(object);
	fake->state = -EIO;
	assert_int_equal(morph_monitor_wait_txn(monitor, 3, 8, INT64_MAX, &object), -EIO);
	assert_string_equal(morph_error_text(ctx), "transaction 8 of fabric 3: "
						   "element 4 did not switch (hardware)");
	assert_int_equal(morph_object_uint(object, "outcome"), MORPH_OUTCOME_BROKEN);
	morph_object_free(object);
	morph_monitor_free(monitor);
}

/* The notification is lost, and the transaction ends meanwhile. */
static void answer_lost(struct fake *kernel, const struct nlmsghdr *request)
{
	uint32_t outcome = kernel->state++ ? MORPH_OUTCOME_COMMITTED : MORPH_OUTCOME_RUNNING;

	fake_queue(kernel, txn(MORPH_CMD_TXN_GET, 8, outcome, 0), request->nlmsg_seq);
	fake_ack(kernel);
	if (outcome == MORPH_OUTCOME_RUNNING)
		fake_queue_error(kernel, ENOBUFS);
}

static void an_overrun_while_waiting_asks_again(void **state)
{
	struct morph_monitor *monitor;

	(void)state;
	fake->request = answer_lost;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	assert_int_equal(morph_monitor_wait_txn(monitor, 3, 8, -1, NULL), 0);
	assert_int_equal(fake->state, 2);
	morph_monitor_free(monitor);
}

/* The step is queued. First the transaction is unchanged, then it has changed. */
static void answer_prepared(struct fake *kernel, const struct nlmsghdr *request)
{
	fake_queue(kernel, txn(MORPH_CMD_TXN_GET, 8, MORPH_OUTCOME_PREPARED, 0),
		   request->nlmsg_seq);
	fake_ack(kernel);
	fake_queue(kernel, txn(MORPH_CMD_TXN_NTF, 8, MORPH_OUTCOME_PREPARED, 0), 0);
	fake_queue(kernel, txn(MORPH_CMD_TXN_NTF, 8, MORPH_OUTCOME_UNCONFIRMED, 0), 0);
}

static void the_end_of_a_step_is_not_its_beginning(void **state)
{
	struct morph_monitor *monitor;
	struct morph_object *object;

	(void)state;
	fake->request = answer_prepared;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	assert_int_equal(morph_monitor_wait_txn(monitor, 3, 8, 0, &object), 0);
	assert_int_equal(morph_object_uint(object, "outcome"), MORPH_OUTCOME_PREPARED);
	morph_object_free(object);
	assert_int_equal(morph_monitor_wait_step(monitor, 3, 8, MORPH_TXN_COMMIT, -1, &object), 0);
	assert_int_equal(morph_object_uint(object, "outcome"), MORPH_OUTCOME_UNCONFIRMED);
	morph_object_free(object);
	assert_int_equal(morph_monitor_wait_step(monitor, 3, 8, MORPH_TXN_REVERT, 0, NULL),
			 -ETIMEDOUT); /* neither of the two is the end of it */
	assert_int_equal(morph_monitor_wait_step(monitor, 3, 8, MORPH_TXN_CONFIRM, 0, NULL), 0);
	assert_int_equal(morph_monitor_wait_step(monitor, 3, 8, MORPH_TXN_QUERY, -1, NULL),
			 -EINVAL);
	morph_monitor_free(monitor);
}

static void answer_forever(struct fake *kernel, const struct nlmsghdr *request)
{
	fake_queue(kernel, txn(MORPH_CMD_TXN_GET, 8, MORPH_OUTCOME_RUNNING, 0), request->nlmsg_seq);
	fake_ack(kernel);
}

static void waiting_ends(void **state)
{
	struct morph_monitor *monitor;
	struct morph_object *object;

	(void)state;
	fake->request = answer_forever;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	assert_int_equal(morph_monitor_wait_txn(monitor, 3, 8, 1000000, &object), -ETIMEDOUT);
	assert_null(object);
	fake->poll_events = POLLIN; /* woken for nothing */
	assert_int_equal(morph_monitor_wait_txn(monitor, 3, 8, 1000000, NULL), -ETIMEDOUT);
	morph_monitor_free(monitor);
}

/*
 * Any unknown outcome of a newer kernel is an end. A status above 0 is not one of the library's
 * errors.
 */
static void answer_strange_end(struct fake *kernel, const struct nlmsghdr *request)
{
	struct nl_msg *message = fake_message(MORPH_CMD_TXN_GET, 0);

	nla_put_u32(message, MORPH_A_TXN_OUTCOME, 32);
	nla_put_s32(message, MORPH_A_TXN_STATUS, kernel->state);
	fake_queue(kernel, message, request->nlmsg_seq);
	fake_ack(kernel);
}

static void strange_ends_are_ends(void **state)
{
	struct morph_monitor *monitor;

	(void)state;
	fake->request = answer_strange_end;
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	assert_true(morph_monitor_get_fd(monitor) >= 100);
	assert_int_equal(morph_monitor_wait_txn(monitor, 3, 8, -1, NULL), 0);
	fake->state = 5;
	assert_int_equal(morph_monitor_wait_txn(monitor, 3, 8, -1, NULL), -EPROTO);
	assert_string_equal(morph_error_text(ctx), "transaction 8 of fabric 3: Protocol error");
	morph_monitor_free(monitor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_overrun_is_an_object, begin, end),
		cmocka_unit_test_setup_teardown(an_overrun_is_reported_when_the_socket_is_empty,
						begin, end),
		cmocka_unit_test_setup_teardown(notifications_without_memory_count_as_lost, begin,
						end),
		cmocka_unit_test_setup_teardown(a_loss_is_reported_despite_lack_of_memory, begin,
						end),
		cmocka_unit_test_setup_teardown(a_read_may_find_nothing_it_knows, begin, end),
		cmocka_unit_test_setup_teardown(the_end_of_a_transaction_is_waited_for, begin, end),
		cmocka_unit_test_setup_teardown(an_overrun_while_waiting_asks_again, begin, end),
		cmocka_unit_test_setup_teardown(the_end_of_a_step_is_not_its_beginning, begin, end),
		cmocka_unit_test_setup_teardown(waiting_ends, begin, end),
		cmocka_unit_test_setup_teardown(strange_ends_are_ends, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
