// SPDX-License-Identifier: LGPL-2.1-or-later
/* Recordings: recorded calls replay, and other calls abort. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../internal/client.h"
#include "fake.h"
#include "recording.h"

static char path[] = "/tmp/libmorph-recording-XXXXXX";

/* ------------------------------------------------------------------- kernel */

static int device(struct fake *fake, unsigned long command, void *argument)
{
	struct morph_txn_run *run = argument;
	struct morph_change *changes;
	struct morph_circuit_path *way = argument;
	struct morph_slice_create *create = argument;

	switch (command) {
	case MORPH_FABRIC_INFO:
		((struct morph_fabric_info *)argument)->fabric = 3;
		return 0;
	case MORPH_SLICE_INFO:
		((struct morph_slice_info *)argument)->slice = 9;
		return 0;
	case MORPH_SLICE_CREATE:
		create->out_slice = 9;
		return 0;
	case MORPH_CIRCUIT_PATH:
		((__u32 *)(uintptr_t)way->guides.ptr)[0] = 70;
		way->guides.count = 1;
		way->elements.count = 0;
		return 0;
	case MORPH_TXN_RUN:
		changes = (void *)(uintptr_t)run->changes.ptr;
		assert_int_equal(((__u32 *)(uintptr_t)changes[0].guides.ptr)[1], 6);
		changes[0].circuit = 21;
		changes[1].status = -EHOSTUNREACH;
		run->head.reason = MORPH_REASON_NO_ROUTE;
		strcpy((char *)(uintptr_t)run->head.detail_ptr, "no path, whoever holds \"what\"");
		return -EHOSTUNREACH;
	}
	fake->state++;
	return -ENOTTY;
}

static void answer(struct fake *fake, const struct nlmsghdr *request)
{
	struct nl_msg *message = fake_message(MORPH_CMD_STATS_GET, NLM_F_MULTI);

	nla_put_u32(message, MORPH_A_STATS_FABRIC, 3);
	nla_put_u64(message, MORPH_A_STATS_COMMITTED, 1234);
	fake_queue(fake, message, request->nlmsg_seq);
	fake_done(fake);
}

/* ----------------------------------------------------------------- a program */

static void tell(FILE *out, struct morph_object *object)
{
	char *text = object ? fake_print(object) : NULL;

	fprintf(out, "%s\n", text ? text : "nothing");
	free(text);
	morph_object_free(object);
}

static void change(FILE *out, struct morph_slice *slice, struct morph_ctx *ctx, uint32_t last)
{
	const uint32_t guides[] = { 5, 6, last };
	MORPH_OPTS(morph_circuit_opts, opts, .guides = guides, .guides_count = 3);
	struct morph_txn *txn = morph_txn_new(ctx);
	struct morph_object *object;

	assert_int_equal(morph_txn_add(txn, 0, 1, &opts), 0);
	assert_int_equal(morph_txn_add(txn, 1, 0, NULL), 1);
	SET_TXN(txn, .flags = MORPH_TXN_EACH);
	fprintf(out, "%d ", morph_txn_run(slice, txn, &object));
	fprintf(out, "%s ", morph_error_text(ctx));
	tell(out, object);
	morph_txn_free(txn);
}

/* The calls of a program. It makes the call @last differently when it must not match. */
static char *program(struct morph_ctx *ctx, struct fake *fake, uint32_t last)
{
	struct morph_request *request = morph_request_new(ctx);
	struct morph_event event = { .size = sizeof(event), .type = MORPH_EVENT_RECOVERED };
	struct morph_fabric *fabric;
	struct morph_object *object;
	struct morph_slice *slice;
	struct morph_watch *watch;
	struct morph_list *list;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(morph_fabric_open(ctx, NULL, &fabric), 0);
	assert_int_equal(morph_request_set_count(request, 4), 0);
	assert_int_equal(morph_slice_create(fabric, request, &slice), 0);
	change(out, slice, ctx, last);
	assert_int_equal(morph_slice_circuit_path(slice, 21, &object), 0);
	tell(out, object);
	if (fake) {
		memcpy(fake->events, &event, sizeof(event));
		fake->events_bytes = sizeof(event);
	}
	assert_int_equal(morph_slice_wait(slice, -1), 1);
	assert_int_equal(morph_slice_read_events(slice, &list), 1);
	morph_list_free(list);
	fprintf(out, "%d ", morph_slice_read_events(slice, &list));
	assert_int_equal(morph_admin_list(ctx, MORPH_OBJECT_STATS, MORPH_ANY, MORPH_ANY, &list), 0);
	fprintf(out, "%llu\n",
		(unsigned long long)morph_object_uint(morph_list_get(list, 0), "committed"));
	morph_list_free(list);
	assert_int_equal(morph_watch_new(ctx, &watch), 0);
	assert_int_equal(morph_watch_read(watch, &object), 1);
	tell(out, object);
	morph_watch_free(watch);
	morph_slice_close(slice);
	morph_fabric_close(fabric);
	morph_request_free(request);
	fclose(out);
	return text;
}

static int record(void **state)
{
	struct fake *fake = fake_new();
	struct morph_ctx *ctx;

	fake->ioctl = device;
	fake->request = answer;
	fake->devices = "present fabric 3 /dev/morph/fabric3\n";
	ctx = fake_ctx(lm_transport_record(&fake->transport, path));
	*state = program(ctx, fake, 7);
	morph_ctx_free(ctx);
	return 0;
}

static int forget(void **state)
{
	free(*state);
	return 0;
}

static struct morph_ctx *replay_ctx(void)
{
	MORPH_OPTS(morph_ctx_opts, opts, .replay_path = path);
	struct morph_ctx *ctx;

	assert_int_equal(morph_ctx_new(&opts, &ctx), 0);
	return ctx;
}

/* -------------------------------------------------------------------- tests */

static void a_recording_replays(void **state)
{
	struct morph_ctx *ctx = replay_ctx();
	char *text = program(ctx, NULL, 7);

	assert_string_equal(text, *state);
	assert_non_null(strstr(text, "no path, whoever holds \"what\" (no-route)"));
	assert_non_null(strstr(text, "circuit=21"));
	assert_non_null(strstr(text, "guide=70"));
	assert_non_null(strstr(text, "1234"));
	free(text);
	morph_ctx_free(ctx);
}

/* A program that aborts would not write its coverage counters. */
static void keep_counters(int signal)
{
	(void)signal;
#ifdef COUNTED
	extern void __gcov_dump(void);

	__gcov_dump();
#endif
}

/* Run a child that must abort, and read its standard error. */
static void expect_abort(void (*child)(void), const char *message)
{
	char said[1024] = "";
	size_t length = 0;
	int fds[2], status;
	ssize_t bytes;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[1], 2);
		close(fds[0]);
		signal(SIGABRT, keep_counters);
		child();
		_exit(0);
	}
	close(fds[1]);
	while ((bytes = read(fds[0], said + length, sizeof(said) - 1 - length)) > 0)
		length += (size_t)bytes;
	close(fds[0]);
	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !strstr(said, message))
		fail_msg("status 0x%x, said: %s", (unsigned int)status, said);
}

static void ask_for_another_guide(void)
{
	free(program(replay_ctx(), NULL, 8));
}

static void ask_for_another_call(void)
{
	struct morph_list *list;

	morph_admin_list(replay_ctx(), MORPH_OBJECT_FABRIC, MORPH_ANY, MORPH_ANY, &list);
}

static void ask_beyond_the_end(void)
{
	struct morph_ctx *ctx = replay_ctx();
	struct morph_list *list;

	free(program(ctx, NULL, 7));
	morph_devices(ctx, &list); /* the recording has the close of the socket here */
}

static void a_program_that_differs_aborts(void **state)
{
	(void)state;
	expect_abort(ask_for_another_guide, "MORPH_TXN_RUN: byte ");
	expect_abort(ask_for_another_call, "line 2: the recording has devices");
	expect_abort(ask_beyond_the_end, "the program requests devices");
}

/* Replace the value of a field, in the first line of the recording that contains @where. */
static void corrupt(const char *where, const char *field, const char *value)
{
	char *line = NULL, *kept = NULL;
	size_t room = 0, bytes;
	bool done = false;
	FILE *in = fopen(path, "r"), *out = open_memstream(&kept, &bytes);

	while (getline(&line, &room, in) > 0) {
		char *at = done || !strstr(line, where) ? NULL : strstr(line, field);

		if (!at) {
			fputs(line, out);
			continue;
		}
		at += strlen(field);
		fprintf(out, "%.*s%s%s", (int)(at - line), line, value,
			at + strcspn(at, field[strlen(field) - 1] == '"' ? "\"" : "}"));
		done = true;
	}
	assert_true(done);
	fclose(in);
	fclose(out);
	out = fopen(path, "w");
	fputs(kept, out);
	fclose(out);
	free(kept);
	free(line);
}

static void run_the_program(void)
{
	free(program(replay_ctx(), NULL, 7));
}

static void malformed_recordings_abort(void **state)
{
	static const struct {
		const char *where, *field, *value, *message;
	} corrupted[] = {
		{ "\"recording\"", "\"op\":\"", "open", "must begin with op \"recording\"" },
		{ "\"recording\"", "\"result\":", "2",
		  "the recording has ABI 2, this library has 1" },
		{ "\"devices\"", "\"after\":\"", "0g", "line 2: not a line of a recording" },
		{ "\"devices\"", "\"handle\":", "1", "the recording has devices on handle 1" },
		{ "\"open\"", "\"text\":\"", "/else", "the recording has open /else on handle 0" },
		{ "\"open\"", "\"result\":", "0", "handle 0 is out of range or in use" },
		{ "\"open\"", "\"result\":", "256", "handle 256 is out of range or in use" },
		{ "FABRIC_INFO", "\"handle\":", "9", "on handle 9, the program requests ioctl" },
		{ "FABRIC_INFO", "\"before\":\"", "00", "the recording has 1 bytes, the program" },
		{ "FABRIC_INFO", "\"after\":\"", "00", "the size of the answer differs" },
		{ "SLICE_CREATE", "\"after\":\"", "z9000.", "the size of the answer differs" },
		{ "CIRCUIT_PATH", "\"after\":\"", "z200.", "the size of the answer differs" },
		{ "TXN_RUN", "\"after\":\"", "z300.", "the size of the answer differs" },
		{ "TXN_RUN", "\"after\":\"", "z420.", "the size of the answer differs" },
		{ "\"read\"", "\"after\":\"", "z90000.",
		  "90000 bytes, the buffer of the program has" },
		{ "\"poll\"", "\"handle\":", "9", "poll on handle 9, the program waits on" },
		{ "\"receive\"", "\"handle\":", "9", "receive on handle 9, the program receives" },
		{ "\"send\"", "\"handle\":", "9", "the recording has send  on handle 9" },
		{ "\"watched\"", "\"op\":\"", "watch", "the program requests watched" },
	};

	for (size_t at = 0; at < ARRAY_SIZE(corrupted); at++) {
		forget(state);
		record(state);
		corrupt(corrupted[at].where, corrupted[at].field, corrupted[at].value);
		expect_abort(run_the_program, corrupted[at].message);
	}
}

static void poll_without_open(void)
{
	struct morph_ctx *ctx = replay_ctx();

	ctx->transport->ops->poll(ctx->transport, 0, 0);
}

static void ask_when_all_is_over(void)
{
	struct morph_ctx *ctx = replay_ctx();
	struct morph_list *list;

	free(program(ctx, NULL, 7));
	ctx->transport->ops->close(ctx->transport, ctx->netlink);
	ctx->netlink = -1;
	morph_devices(ctx, &list);
}

static void open_when_all_is_over(void)
{
	struct morph_ctx *ctx = replay_ctx();

	free(program(ctx, NULL, 7));
	ctx->transport->ops->close(ctx->transport, ctx->netlink);
	ctx->transport->ops->open(ctx->transport, "/dev/morph/fabric3");
}

static void calls_without_a_record_abort(void **state)
{
	(void)state;
	expect_abort(poll_without_open, "fd 0 was not opened here");
	expect_abort(ask_when_all_is_over, "the recording has the end on handle 0");
	expect_abort(open_when_all_is_over, "has ended, the program requests open /dev/morph");
}

static void replays_may_lack_memory_and_files(void **state)
{
	struct morph_ctx *ctx = replay_ctx();
	struct morph_fabric *fabric;
	struct morph_list *list;

	(void)state;
	fault_at("eventfd", 1, EMFILE);
	assert_int_equal(morph_fabric_open(ctx, NULL, &fabric), -EMFILE);
	assert_true(fault_struck());
	morph_ctx_free(ctx);
	ctx = replay_ctx();
	fault_at("memory", 12, ENOMEM); /* the list, ten words of the line, the text */
	assert_int_equal(morph_devices(ctx, &list), -ENOMEM);
	/* what is still open goes with the context */
	assert_true(ctx->transport->ops->open(ctx->transport, "/dev/morph/fabric3") >= 0);
	morph_ctx_free(ctx);
}

/* ---------------------------------------------------------------- recording */

static struct fake *recorded_fake(struct morph_ctx **ctx)
{
	struct fake *fake = fake_new();

	fake->ioctl = device;
	fake->devices = "present fabric 3 /dev/morph/fabric3\n";
	*ctx = fake_ctx(lm_transport_record(&fake->transport, path));
	return fake;
}

static void list_devices(void)
{
	struct morph_ctx *ctx = replay_ctx();
	struct morph_list *list;

	morph_list_free(morph_devices(ctx, &list) ? NULL : list);
	morph_devices(ctx, &list);
}

static void lines_without_memory_stop_a_replay(void **state)
{
	struct morph_ctx *ctx;
	struct lm_transport *transport;
	char event[8];
	struct fake *fake;
	char *text;

	(void)state;
	recorded_fake(&ctx);
	transport = ctx->transport;
	assert_int_equal(transport->ops->devices(transport, &text), 0);
	free(text);
	fault_at("memory", 1, ENOMEM);
	assert_int_equal(transport->ops->devices(transport, &text), 0);
	assert_true(fault_struck());
	free(text);
	morph_ctx_free(ctx);
	expect_abort(list_devices, "the recording has lost on handle 0");
	fake = recorded_fake(&ctx);
	transport = ctx->transport;
	fake->events_bytes = sizeof(event);
	fault_at("memory", 2, ENOMEM); /* the text is there, the bytes are not */
	assert_int_equal(transport->ops->read(transport, 0, event, sizeof(event)), sizeof(event));
	assert_true(fault_struck());
	morph_ctx_free(ctx);
	expect_abort(list_devices, "the recording has lost on handle 0");
}

static void files_beyond_the_recorders_table_are_refused(void **state)
{
	struct morph_request *request;
	struct morph_fabric *fabric, *again, *none;
	struct morph_slice *slice;
	struct morph_ctx *ctx;
	struct fake *fake = recorded_fake(&ctx);

	(void)state;
	fake->opened = fake->closed = 154; /* the next is fd 254 */
	assert_int_equal(morph_fabric_open(ctx, NULL, &fabric), 0);
	assert_int_equal(morph_fabric_from_fd(ctx, morph_fabric_get_fd(fabric), &again), 0);
	request = morph_request_new(ctx);
	assert_int_equal(morph_request_set_count(request, 4), 0);
	assert_int_equal(morph_slice_create(fabric, request, &slice), -EMFILE);
	assert_int_equal(morph_fabric_open(ctx, "3", &none), -EMFILE);
	morph_request_free(request);
	morph_fabric_close(again);
	morph_fabric_close(fabric);
	morph_ctx_free(ctx);
}

/* A program that runs for long opens many files, but few at the same time. */
static void open_one_after_the_other(struct morph_ctx *ctx, struct fake *fake)
{
	struct morph_fabric *fabric;

	for (int i = 0; i < 300; i++) {
		assert_int_equal(morph_fabric_open(ctx, "3", &fabric), 0);
		morph_fabric_close(fabric);
		if (fake)
			fake->opened = fake->closed = 0; /* the next has the same fd */
	}
	morph_ctx_free(ctx);
}

static void closed_files_free_their_place(void **state)
{
	struct morph_ctx *ctx;
	struct fake *fake = recorded_fake(&ctx);

	(void)state;
	open_one_after_the_other(ctx, fake);
	open_one_after_the_other(replay_ctx(), NULL);
}

/* ----------------------------------------------------------------- the end */

static void a_recording_that_ends_ends_waiting(void **state)
{
	MORPH_OPTS(morph_ctx_opts, opts, .replay_path = path);
	struct morph_list *list = NULL;
	struct morph_monitor *monitor;
	struct morph_ctx *ctx;
	FILE *out;

	(void)state;
	{
		struct fake *fake = fake_new();

		ctx = fake_ctx(lm_transport_record(&fake->transport, path));
		assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
		fake_queue_error(fake, ENOBUFS);
		assert_int_equal(morph_monitor_read(monitor, &list), 1);
		morph_list_free(list);
		/* as when the program is killed: nothing is closed in the recording */
		out = fopen(path, "a");
		fclose(out);
	}
	assert_int_equal(morph_monitor_wait(monitor, 0), 0);
	morph_monitor_free(monitor);
	morph_ctx_free(ctx);
	/* cut the recording after the wait */
	{
		char *line = NULL, *kept = strdup("");
		size_t room = 0;

		out = fopen(path, "r");
		while (getline(&line, &room, out) > 0 && !strstr(line, "\"close\"")) {
			char *more;

			assert_true(asprintf(&more, "%s%s", kept, line) > 0);
			free(kept);
			kept = more;
		}
		fclose(out);
		out = fopen(path, "w");
		fputs(kept, out);
		fclose(out);
		free(kept);
		free(line);
	}
	assert_int_equal(morph_ctx_new(&opts, &ctx), 0);
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	assert_int_equal(morph_monitor_read(monitor, &list), 1);
	morph_list_free(list);
	assert_int_equal(morph_monitor_wait(monitor, -1), 0);
	assert_int_equal(morph_monitor_wait(monitor, -1), -ECANCELED);
	assert_int_equal(morph_monitor_read(monitor, &list), -ECANCELED);
	morph_monitor_free(monitor);
	morph_ctx_free(ctx);
}

/* -------------------------------------------------------------------- lines */

static void lines_survive_writing_and_reading(void **state)
{
	struct lm_line line = { .op = "x", .handle = -3, .result = -2147483647 }, back = { 0 };
	uint8_t bytes[600];
	const char *why;
	char *text;
	size_t room;
	FILE *out = open_memstream(&text, &room);

	(void)state;
	for (size_t at = 0; at < sizeof(bytes); at++)
		bytes[at] = at % 97 < 50 ? 0 : (uint8_t)at;
	line.text = strdup("a\"b\\c\nd\001é");
	lm_bytes_add(&line.before, bytes, sizeof(bytes));
	lm_bytes_add(&line.after, bytes, 7);
	lm_line_write(out, &line);
	fclose(out);
	assert_true(lm_line_parse(&back, text, &why));
	assert_string_equal(back.op, line.op);
	assert_string_equal(back.text, line.text);
	assert_int_equal(back.handle, line.handle);
	assert_int_equal(back.result, line.result);
	assert_int_equal(back.before.count, sizeof(bytes));
	assert_memory_equal(back.before.data, bytes, sizeof(bytes));
	assert_int_equal(back.after.count, 7);
	free(text);
	lm_line_clear(&line);
	lm_line_clear(&back);
}

static void malformed_lines_are_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"{",
		"{}",
		"{\"op\":1}",
		"{\"op\":\"x\"",
		"{\"op\":\"x\"} y",
		"{\"op\":\"x\",\"before\":\"0\"}",
		"{\"op\":\"x\",\"before\":\"z5\"}",
		"{\"op\":\"x\",\"before\":\"z99999999999.\"}",
		"{\"op\":\"x\",\"handle\":\"1\"}",
		"{\"op\":\"x\",\"other\":\"1\"}",
		"{\"op\":\"x\",\"before\":\"z4294967295.\"}",
		"{\"op\":\"x\",\"handle\":4294967297}",
		"{\"op\":\"x\",\"text\":\"\\u1234\"}",
		"{\"op\":\"x\",\"text\":\"\\q\"}",
		"{\"op\":\"x\",\"text\":\"\\",
		"{\"op\":\"xxxxxxxxxxxxxxxxxxxxxxxx\"}",
		"{\"handle\":1}",
	};
	struct lm_line line = { 0 };
	const char *why;

	(void)state;
	for (size_t at = 0; at < ARRAY_SIZE(lines); at++) {
		why = NULL;
		if (lm_line_parse(&line, lines[at], &why))
			fail_msg("accepted: %s", lines[at]);
		assert_non_null(why);
	}
	lm_line_clear(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_recording_replays, record, forget),
		cmocka_unit_test_teardown(closed_files_free_their_place, forget),
		cmocka_unit_test_setup_teardown(a_program_that_differs_aborts, record, forget),
		cmocka_unit_test_setup_teardown(malformed_recordings_abort, record, forget),
		cmocka_unit_test_setup_teardown(calls_without_a_record_abort, record, forget),
		cmocka_unit_test_setup_teardown(replays_may_lack_memory_and_files, record, forget),
		cmocka_unit_test(lines_without_memory_stop_a_replay),
		cmocka_unit_test(files_beyond_the_recorders_table_are_refused),
		cmocka_unit_test(a_recording_that_ends_ends_waiting),
		cmocka_unit_test(lines_survive_writing_and_reading),
		cmocka_unit_test(malformed_lines_are_refused),
	};
	int fd = mkstemp(path), result;

	if (fd < 0)
		return 1;
	close(fd);
	result = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return result;
}
