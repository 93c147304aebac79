// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl monitor: notifications as JSON Lines */
#include <errno.h>
#include <time.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

struct follow {
	struct run *run;
	struct morph_monitor *monitor;
	uint32_t fabric; /* MORPH_ANY: all fabrics */
	int64_t deadline_ns; /* CLOCK_MONOTONIC; negative: none */
	unsigned int printed;
};

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void write_line(const char *name, json_t *msg)
{
	json_t *line = json_pack("{s:s}", "name", name);

	if (msg)
		json_object_set(line, "msg", msg);
	emit_line(line);
	json_decref(line);
}

static bool of_fabric(const struct follow *follow, const char *key, const json_t *record)
{
	return follow->fabric == MORPH_ANY ||
	       number_of(record, key, follow->fabric) == follow->fabric;
}

static enum exit_code write_state(struct follow *follow)
{
	json_t *records, *record;
	enum exit_code code;
	size_t i;

	for (size_t kind = 0; kind < state_kinds_count; kind++) {
		code = client_dump(follow->run, state_kinds[kind].type, follow->fabric, &records);
		if (code)
			return code;
		json_array_foreach(records, i,
				   record) if (of_fabric(follow, kind ? "fabric" : "id", record))
			write_line(state_kinds[kind].command, record);
		json_decref(records);
	}
	return EXIT_CODE_OK;
}

/* Losing notifications costs a dump, but the subscription remains. */
static enum exit_code write_notification(struct follow *follow, const struct morph_object *object)
{
	uint32_t type = morph_object_type(object);
	json_t *record;

	if (type == MORPH_OBJECT_RESYNC) {
		write_line("resync", NULL);
		return write_state(follow);
	}
	record = record_of(object);
	if (of_fabric(follow, type == MORPH_OBJECT_FABRIC ? "id" : "fabric", record)) {
		write_line(morph_object_command(object), record);
		follow->printed++;
	}
	json_decref(record);
	return EXIT_CODE_OK;
}

static enum exit_code read_some(struct follow *follow, bool once)
{
	struct morph_list *list = NULL;
	enum exit_code code = EXIT_CODE_OK;
	int count = morph_monitor_read(follow->monitor, &list);

	if (count < 0)
		return count == -EAGAIN ? EXIT_CODE_OK : client_error(follow->run, count);
	for (size_t i = 0; i < morph_list_count(list) && !code; i++) {
		if (once && follow->printed)
			break;
		code = write_notification(follow, morph_list_get(list, i));
	}
	morph_list_free(list);
	return code;
}

static enum exit_code follow_on(struct follow *follow, bool once)
{
	enum exit_code code;
	int ready;

	while (!once || !follow->printed) {
		int64_t left = follow->deadline_ns < 0 ? -1 : follow->deadline_ns - now_ns();

		if (follow->deadline_ns >= 0 && left <= 0)
			return once ? EXIT_CODE_BUSY : EXIT_CODE_OK;
		ready = morph_monitor_wait(follow->monitor, left);
		if (ready < 0 && ready != -EINTR)
			return client_error(follow->run, ready);
		code = ready > 0 ? read_some(follow, once) : EXIT_CODE_OK;
		if (code)
			return code;
		if (ferror(stdout))
			return EXIT_CODE_FAILED;
	}
	return EXIT_CODE_OK;
}

static bool read_buffer(const struct run *run, struct morph_monitor_opts *opts)
{
	uint64_t bytes = 0;

	if (given(run, OPTION_BUFFER) &&
	    !parse_u64(run->option[OPTION_BUFFER], 4096, INT32_MAX / 2, &bytes)) {
		usage_error(run, "--buffer must be a number of bytes from 4096 to %d, not '%s'",
			    INT32_MAX / 2, run->option[OPTION_BUFFER]);
		return false;
	}
	opts->buffer_bytes = (uint32_t)bytes;
	return true;
}

enum exit_code monitor(struct run *run)
{
	MORPH_OPTS(morph_monitor_opts, opts, .buffer_bytes = 0);
	struct follow follow = { .run = run, .fabric = MORPH_ANY, .deadline_ns = -1 };
	bool once = given(run, OPTION_ONCE);
	enum exit_code code;
	int64_t timeout_ns;
	int error;

	if (!option_ns(run, OPTION_TIMEOUT, &timeout_ns) || !read_buffer(run, &opts))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_TIMEOUT))
		follow.deadline_ns = now_ns() + timeout_ns;
	code = given(run, OPTION_FABRIC) ? client_fabric(run, &follow.fabric) : client_open(run);
	if (code)
		return code;
	error = morph_monitor_new(run->client->ctx, &opts, &follow.monitor);
	if (error < 0)
		return client_error(run, error);
	if (given(run, OPTION_BANNER))
		write_line("ready", NULL);
	if (given(run, OPTION_DUMP))
		code = write_state(&follow);
	if (!code)
		code = follow_on(&follow, once);
	morph_monitor_free(follow.monitor);
	return code;
}
