// SPDX-License-Identifier: LGPL-2.1-or-later
/* Chakra's execution traces, written by protobuf, which is independent of the reader. */
#include <stdio.h>

#include "../internal/formats.h"
#include "../internal/planner.h"
#include "faults.h"
#include "scheduling.h"

static const char *directory;

static uint8_t *read_file(const char *name, size_t *length)
{
	char path[512];
	uint8_t *data = malloc(4096);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_non_null(data);
	*length = fread(data, 1, 4096, file);
	fclose(file);
	return data;
}

static struct morph_trace *empty(void)
{
	struct morph_trace *trace = morph_trace_new();

	assert_non_null(trace);
	return trace;
}

static void add_file(struct morph_trace *trace, uint32_t rank, const char *name)
{
	char why[256] = "";
	size_t length;
	uint8_t *data = read_file(name, &length);

	if (morph_trace_read(trace, rank, data, length, why, sizeof(why)))
		fail_msg("%s: %s", name, why);
	free(data);
}

static struct morph_trace *ring_of(uint32_t ranks)
{
	struct morph_trace *trace = empty();

	for (uint32_t rank = 0; rank < ranks; rank++) {
		char name[32];

		snprintf(name, sizeof(name), "ring.%u.et", rank);
		add_file(trace, rank, name);
	}
	return trace;
}

static struct morph_operation at(const struct morph_trace *trace, uint32_t number)
{
	struct morph_operation operation;

	assert_int_equal(morph_trace_operation(trace, 0, number, &operation), 0);
	return operation;
}

static void operations_match_the_file(void **state)
{
	struct morph_trace *trace = empty();
	struct morph_operation operation;

	(void)state;
	assert_int_equal(morph_trace_operation(trace, 0, 0, &operation), -ENOENT);
	add_file(trace, 0, "job.0.et");
	assert_int_equal(morph_trace_operation(trace, 1, 0, &operation), -ENOENT);
	operation = at(trace, 0);
	assert_int_equal(operation.kind, MORPH_TRACE_COMPUTE);
	assert_int_equal(operation.id, 7);
	assert_int_equal(operation.start_us, 100);
	assert_int_equal(operation.duration_us, 250);
	assert_int_equal(operation.dependencies, 0);
	assert_null(operation.waits_for);
	assert_string_equal(operation.name, "forward");
	assert_string_equal(operation.group, "");
	operation = at(trace, 1);
	assert_int_equal(operation.kind, MORPH_TRACE_COLLECTIVE);
	assert_int_equal(operation.collective, MORPH_TRACE_ALL_REDUCE);
	assert_int_equal(operation.bytes, 1ULL << 33);
	assert_string_equal(operation.group, "dp");
	assert_int_equal(operation.dependencies, 2);
	assert_int_equal(operation.waits_for[0], 0);
	assert_int_equal(operation.waits_for[1], 2);
	operation = at(trace, 2);
	assert_int_equal(operation.collective, MORPH_TRACE_REDUCE_SCATTER);
	assert_int_equal(operation.bytes, 77);
	operation = at(trace, 3);
	assert_int_equal(operation.kind, MORPH_TRACE_SEND);
	assert_int_equal(operation.src, 0);
	assert_int_equal(operation.dst, 2);
	assert_int_equal(operation.bytes, 5);
	assert_int_equal(operation.tag, 6);
	assert_int_equal(operation.dependencies, 3);
	operation = at(trace, 4);
	assert_int_equal(operation.kind, MORPH_TRACE_OTHER);
	assert_int_equal(morph_trace_operation(trace, 0, 5, &operation), -ENOENT);
	morph_trace_free(trace);
}

static void messages_become_rounds(void **state)
{
	struct morph_trace *trace = ring_of(4);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_transfer transfer;
	char why[256] = "";

	(void)state;
	if (morph_trace_convert(trace, collective, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(morph_collective_ranks(collective), 4);
	assert_int_equal(morph_collective_chunks(collective), 12);
	assert_int_equal(morph_collective_rounds(collective), 3);
	for (uint32_t round = 0; round < 3; round++) {
		assert_int_equal(morph_collective_transfers(collective, round), 4);
		for (uint32_t rank = 0; rank < 4; rank++) {
			assert_int_equal(
				morph_collective_transfer(collective, round, rank, &transfer), 0);
			assert_int_equal(transfer.src, rank);
			assert_int_equal(transfer.dst, (rank + 1) % 4);
			assert_int_equal(transfer.bytes, 4096);
			assert_false(transfer.reduce);
		}
	}
	morph_collective_free(collective);
	morph_trace_free(trace);
}

/* --------------------------------------------------------------------- refusals */

/* Nodes made by hand: { length, bytes... }, after metadata of no bytes. */
struct refused {
	const char *data;
	size_t length;
	int ret;
	const char *why;
};

#define BYTES(text) text, sizeof(text) - 1

static const struct refused refused[] = {
	{ BYTES("\x05"), -EINVAL, "byte 0: the message is cut off" },
	{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), -EINVAL,
	  "byte 0: the message is cut off" },
	{ BYTES("\x00\x01\x08"), -EINVAL,
	  "byte 2: the field is cut off, or longer than its message" },
	{ BYTES("\x00\x02\x12\x05"), -EINVAL,
	  "byte 2: the field is cut off, or longer than its message" },
	{ BYTES("\x00\x01\x0b"), -EINVAL, "byte 2: the field has an unknown kind" },
	{ BYTES("\x00\x02\x00\x00"), -EINVAL, "byte 2: the number of a field is missing" },
	{ BYTES("\x00\x03\x22\x01\x80"), -EINVAL, "byte 4: a dependency is cut off" },
	{ BYTES("\x00\x02\x08\x01\x02\x08\x01"), -EINVAL, "byte 4: operation 1 appears twice" },
	{ BYTES("\x00\x04\x08\x01\x20\x09"), -EINVAL,
	  "byte 1: operation 1 waits for 9, which does not exist" },
	{ BYTES("\x00\x04\x08\x01\x20\x01"), -EINVAL,
	  "byte 1: operation 1 waits for itself through other operations" },
	{ BYTES("\x00\x02\x08\x03\x04\x08\x01\x20\x02\x04\x08\x02\x28\x01"), -EINVAL,
	  "byte 9: operation 2 waits for itself through other operations" },
	/* comm_size=-1, as an int64; and as a text */
	{ BYTES("\x00\x18\x52\x16\x0a\x09"
		"comm_size\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	  -EINVAL, "byte 6: the attribute is not an integer >= 0" },
	{ BYTES("\x00\x11\x52\x0f\x0a\x09"
		"comm_size\xea\x01\x01"
		"5"),
	  -EINVAL, "byte 6: the attribute is not an integer >= 0" },
	{ BYTES("\x00\x0f\x52\x0d\x0a\x08"
		"comm_dst\x38\x80\x20"),
	  -EINVAL, "byte 6: the attribute is above 4095" },
};

static void errors_name_their_byte(void **state)
{
	struct morph_trace *trace = empty();
	struct morph_operation operation;
	char why[256];

	(void)state;
	for (size_t which = 0; which < sizeof(refused) / sizeof(*refused); which++) {
		int ret = morph_trace_read(trace, 0, refused[which].data, refused[which].length,
					   why, sizeof(why));

		if (ret != refused[which].ret || strcmp(why, refused[which].why) != 0)
			fail_msg("number %zu: %d, %s", which, ret, why);
	}
	assert_int_equal(morph_trace_operation(trace, 0, 0, &operation), -ENOENT);
	add_file(trace, 0, "job.0.et");
	assert_int_equal(morph_trace_read(trace, 0, "", 0, why, sizeof(why)), -EEXIST);
	assert_string_equal(why, "rank 0 was already read");
	assert_int_equal(morph_trace_read(trace, 4096, "", 0, why, sizeof(why)), -EINVAL);
	assert_int_equal(morph_trace_read(trace, 1, "", (1ULL << 30) + 1, why, sizeof(why)),
			 -E2BIG);
	morph_trace_free(trace);
}

static void truncated_traces_are_refused_or_shorter(void **state)
{
	size_t length;
	uint8_t *data = read_file("job.0.et", &length);
	struct morph_operation operation;
	uint32_t whole = 0;

	(void)state;
	for (size_t cut = 0; cut < length; cut++) {
		struct morph_trace *trace = empty();
		uint8_t *copy = malloc(cut + 1);

		assert_non_null(copy);
		memcpy(copy, data, cut);
		if (!morph_trace_read(trace, 0, copy, cut, NULL, 0))
			whole++;
		assert_int_equal(morph_trace_operation(trace, 0, 4, &operation), -ENOENT);
		free(copy);
		morph_trace_free(trace);
	}
	/*
	 * After nothing, after the metadata, and after the first node. Later nodes depend on each
	 * other.
	 */
	assert_in_range(whole, 3, 5);
	free(data);
}

static void assert_no_collective(const struct morph_trace *trace, int ret, const char *wanted)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	char why[256] = "";

	assert_non_null(collective);
	assert_int_equal(morph_trace_convert(trace, collective, why, sizeof(why)), ret);
	assert_string_equal(why, wanted);
	morph_collective_free(collective);
}

/*
 * A node that sends (5) or receives (6) @bytes between 0 and 1, and waits for another node of its
 * rank.
 */
static size_t message(char *to, char id, char kind, char bytes, char waits)
{
	static const char form[] = "\x08?\x18?\x20?\x52\x0c\x0a\x08"
				   "comm_src\x38\x00\x52\x0c\x0a\x08"
				   "comm_dst\x38\x01\x52\x0d\x0a\x09"
				   "comm_size\x38?";
	size_t length = sizeof(form) - 1;

	to[0] = (char)length;
	memcpy(to + 1, form, length);
	to[2] = id;
	to[4] = kind;
	to[6] = waits;
	to[length] = bytes;
	return length + 1;
}

static void add_messages(struct morph_trace *trace, uint32_t rank, const char *data, size_t length)
{
	char why[256] = "";

	if (morph_trace_read(trace, rank, data, length, why, sizeof(why)))
		fail_msg("%s", why);
}

static void messages_that_do_not_meet_are_refused(void **state)
{
	struct morph_trace *trace = empty();
	char send[128] = "", receive[128] = "";
	/* Node 1 waits for node 2, which is of another kind. */
	static const char second[] = { 2, 8, 2 };
	size_t sent = 1 + message(send + 1, 1, 5, 9, 2), received = 1;

	(void)state;
	memcpy(send + sent, second, sizeof(second));
	add_messages(trace, 0, send, sent + 3);
	memcpy(receive + 1, second, sizeof(second));
	assert_no_collective(trace, -EINVAL,
			     "rank 0, byte 1: no file of the other rank of operation 1");
	add_messages(trace, 1, receive, 4);
	assert_no_collective(
		trace, -EBADMSG,
		"rank 0, byte 1: operation 1 sends from rank 0 to 1 with tag 0 data that no operation receives");
	morph_trace_free(trace);

	trace = empty();
	received += message(receive + 1, 1, 6, 8, 2);
	memcpy(receive + received, second, sizeof(second));
	add_messages(trace, 1, receive, received + 3);
	assert_no_collective(
		trace, -EBADMSG,
		"rank 1, byte 1: operation 1 receives from rank 0 to 1 with tag 0 data that no operation sends");
	add_messages(trace, 0, send, sent + 3);
	assert_no_collective(
		trace, -EBADMSG,
		"rank 0, byte 1: operation 1 sends 9 bytes from rank 0 to 1, the receiver expects 8");
	morph_trace_free(trace);

	trace = empty();
	add_file(trace, 0, "job.0.et");
	assert_no_collective(
		trace, -EINVAL,
		"rank 0, byte 96: operation 3 is a collective of 8589934592 bytes, not a message; plan the collective by name");
	morph_trace_free(trace);
}

/* Each rank sends after it has received what the other one sends just as late. */
static void messages_that_wait_for_one_another_are_refused(void **state)
{
	static const char last[] = { 2, 8, 3 };
	struct morph_trace *trace = empty();

	(void)state;
	for (char rank = 0; rank < 2; rank++) {
		char data[256] = "";
		size_t sent = 1 + message(data + 1, 1, 5, 9, 2);
		size_t received = sent + message(data + sent, 2, 6, 9, 3);

		/* The sender and the receiver. */
		data[1 + 20] = data[sent + 34] = rank;
		data[1 + 34] = data[sent + 20] = !rank;
		memcpy(data + received, last, sizeof(last));
		add_messages(trace, (uint32_t)rank, data, received + sizeof(last));
	}
	assert_no_collective(trace, -EBADMSG,
			     "rank 1, byte 1: operation 1 waits for itself through messages");
	morph_trace_free(trace);
}

static void lack_of_memory_is_reported(void **state)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_trace *trace = ring_of(4), *other = empty();
	char why[256] = "";
	size_t length;
	uint8_t *data = read_file("job.0.et", &length);
	unsigned int failed = 0;
	int ret = -ENOMEM;

	(void)state;
	for (unsigned int nth = 1; ret; nth++) {
		fault_at("memory", nth, ENOMEM);
		ret = morph_trace_read(other, 0, data, length, why, sizeof(why));
		failed += fault_struck();
		assert_true(!ret || ret == -ENOMEM);
		if (ret)
			assert_string_equal(why, "out of memory");
	}
	assert_true(failed > 6);
	failed = 0;
	ret = -ENOMEM;
	for (unsigned int nth = 1; ret; nth++) {
		fault_at("memory", nth, ENOMEM);
		ret = morph_trace_convert(trace, collective, why, sizeof(why));
		failed += fault_struck();
		assert_true(!ret || ret == -ENOMEM);
		if (ret)
			assert_string_equal(why, "out of memory");
	}
	assert_true(failed > 10);
	fault_at("memory", 1, ENOMEM);
	assert_null(morph_trace_new());
	fault_struck();
	free(data);
	morph_trace_free(other);
	morph_trace_free(trace);
	morph_trace_free(NULL);
	morph_collective_free(collective);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_match_the_file),
		cmocka_unit_test(messages_become_rounds),
		cmocka_unit_test(errors_name_their_byte),
		cmocka_unit_test(truncated_traces_are_refused_or_shorter),
		cmocka_unit_test(messages_that_do_not_meet_are_refused),
		cmocka_unit_test(messages_that_wait_for_one_another_are_refused),
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	if (argc != 2)
		return 2;
	directory = argv[1];
	return cmocka_run_group_tests(tests, begin, end);
}
