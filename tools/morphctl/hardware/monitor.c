// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl monitor: notifications as JSON Lines; for a tenant, the events of its slices */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

struct follow {
	struct run *run;
	struct morph_monitor *monitor;
	struct morph_slice **slices; /* of a tenant; NULL: the slice has ended */
	size_t slices_count;
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

/* ----------------------------------------------------------------- as a tenant */

static enum exit_code open_slices(struct follow *follow, const struct morph_list *list)
{
	size_t count = morph_list_count(list);

	follow->slices = needed(calloc(count, sizeof(struct morph_slice *)));
	for (size_t i = 0; i < count; i++) {
		struct morph_slice *slice;
		char number[16];
		int error;

		snprintf(number, sizeof(number), "%u",
			 (uint32_t)morph_object_uint(morph_list_get(list, i), "id"));
		error = morph_slice_open(follow->run->client->ctx, number, &slice);
		/* It ended after the list was made. */
		if (error == -ENOENT || error == -ENODEV)
			continue;
		if (error)
			return client_error(follow->run, error);
		follow->slices[follow->slices_count++] = slice;
	}
	return EXIT_CODE_OK;
}

static enum exit_code write_own_state(struct follow *follow)
{
	struct morph_object *info;
	struct morph_list *circuits;
	json_t *record;
	int error;

	for (size_t i = 0; i < follow->slices_count; i++) {
		if (!follow->slices[i])
			continue;
		error = morph_slice_read(follow->slices[i], &info, &circuits);
		if (error == -ENODEV)
			continue;
		if (error)
			return client_error(follow->run, error);
		record = record_of(info);
		write_line("slice-get", record);
		json_decref(record);
		for (size_t at = 0; at < morph_list_count(circuits); at++) {
			record = record_of(morph_list_get(circuits, at));
			write_line("circuit-get", record);
			json_decref(record);
		}
		morph_object_free(info);
		morph_list_free(circuits);
	}
	return EXIT_CODE_OK;
}

static enum exit_code write_event(struct follow *follow, const struct morph_object *event)
{
	json_t *record;

	if (morph_object_uint(event, "type") == MORPH_EVENT_LOST) {
		write_line("resync", NULL);
		return write_own_state(follow);
	}
	record = record_of(event);
	write_line("event-ntf", record);
	json_decref(record);
	follow->printed++;
	return EXIT_CODE_OK;
}

/* Print the events of a slice, and close the slice if it has ended. */
static enum exit_code read_events(struct follow *follow, struct morph_slice **slice, bool once)
{
	enum exit_code code = EXIT_CODE_OK;
	struct morph_list *list;
	int count = morph_slice_read_events(*slice, &list);

	if (count == -ENODEV) {
		morph_slice_close(*slice);
		*slice = NULL;
	} else if (count < 0 && count != -EAGAIN) {
		code = client_error(follow->run, count);
	}
	for (int i = 0; i < count && !code && !(once && follow->printed); i++)
		code = write_event(follow, morph_list_get(list, (size_t)i));
	morph_list_free(list);
	return code;
}

/* Wait for any slice: 1 if @ready[i] says which, 0 after @timeout_ns, or a negative errno. */
static int wait_slices(struct follow *follow, int64_t timeout_ns, struct pollfd *ready)
{
	struct timespec timeout = { .tv_sec = timeout_ns / 1000000000,
				    .tv_nsec = timeout_ns % 1000000000 };
	int count;

	for (size_t i = 0; i < follow->slices_count; i++) {
		struct morph_slice *slice = follow->slices[i];

		ready[i] = (struct pollfd){ .fd = slice ? morph_slice_get_fd(slice) : -1,
					    .events = POLLIN };
	}
	/* The library's own wait can be recorded. */
	if (follow->slices_count == 1) {
		count = morph_slice_wait(follow->slices[0], timeout_ns);
		ready[0].revents = count > 0 || count == -ENODEV ? POLLIN : 0;
		return count == -ENODEV ? 1 : count;
	}
	count = ppoll(ready, follow->slices_count, timeout_ns < 0 ? NULL : &timeout, NULL);
	return count < 0 ? -errno : count > 0;
}

/* Read each slice that is ready. @left: how many have not ended. */
static enum exit_code read_ready(struct follow *follow, const struct pollfd *ready, bool once,
				 size_t *left)
{
	enum exit_code code = EXIT_CODE_OK;

	*left = 0;
	for (size_t i = 0; i < follow->slices_count && !code; i++) {
		if (ready[i].revents)
			code = read_events(follow, &follow->slices[i], once);
		*left += follow->slices[i] != NULL;
	}
	return code;
}

static enum exit_code follow_slices(struct follow *follow, bool once)
{
	enum exit_code code = EXIT_CODE_OK;
	size_t left = follow->slices_count;
	struct pollfd *ready;

	/* All slices ended between the listing and the opening. */
	if (!left)
		return once ? EXIT_CODE_BUSY : EXIT_CODE_OK;
	ready = needed(calloc(left, sizeof(*ready)));
	while (!code && left && !(once && follow->printed)) {
		int64_t time_ns = follow->deadline_ns < 0 ? -1 : follow->deadline_ns - now_ns();
		int woken;

		if (follow->deadline_ns >= 0 && time_ns <= 0)
			break;
		woken = wait_slices(follow, time_ns, ready);
		if (woken < 0 && woken != -EINTR)
			code = client_error(follow->run, woken);
		else if (woken > 0)
			code = read_ready(follow, ready, once, &left);
		if (!code && ferror(stdout))
			code = EXIT_CODE_FAILED;
	}
	free(ready);
	return code || !once || follow->printed ? code : EXIT_CODE_BUSY;
}

/* Follow the slices whose device nodes the caller may open. */
static enum exit_code follow_own(struct follow *follow, const struct morph_list *list)
{
	bool once = given(follow->run, OPTION_ONCE);
	enum exit_code code = open_slices(follow, list);

	if (!code && given(follow->run, OPTION_BANNER))
		write_line("ready", NULL);
	if (!code && given(follow->run, OPTION_DUMP))
		code = write_own_state(follow);
	if (!code)
		code = follow_slices(follow, once);
	for (size_t i = 0; i < follow->slices_count; i++)
		morph_slice_close(follow->slices[i]);
	free(follow->slices);
	return code;
}

/* ------------------------------------------------------------ as an administrator */

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

/* Without a fabric an administrator waits for one, and a tenant has nothing to wait for. */
static enum exit_code note_fabrics(struct run *run)
{
	enum exit_code code;
	json_t *fabrics;

	code = client_fabric_records(run, &fabrics);
	if (!code && !json_array_size(fabrics))
		code = client_no_fabric(run);
	json_decref(fabrics);
	return code;
}

/* @error: why the caller cannot follow all fabrics. */
static enum exit_code monitor_own(struct follow *follow, int error)
{
	char *text = needed(strdup(morph_error_text(follow->run->client->ctx)));
	struct morph_list *own = NULL;
	enum exit_code code = EXIT_CODE_OK;

	if (client_read_list(follow->run, MORPH_OBJECT_SLICE, follow->fabric, MORPH_ANY, &own) ||
	    !morph_list_count(own)) {
		code = note_fabrics(follow->run);
		morph_error_set(follow->run->client->ctx, -error, "%s", text);
		code = code ? code : client_error(follow->run, error);
	} else {
		code = follow_own(follow, own);
	}
	morph_list_free(own);
	free(text);
	return code;
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
	if (client_is_closed(run, error))
		return monitor_own(&follow, error);
	if (error < 0)
		return client_error(run, error);
	if (!given(run, OPTION_FABRIC) && note_fabrics(run) == EXIT_CODE_NOT_FOUND)
		warn_line("waiting for a fabric");
	if (given(run, OPTION_BANNER))
		write_line("ready", NULL);
	if (given(run, OPTION_DUMP))
		code = write_state(&follow);
	if (!code)
		code = follow_on(&follow, once);
	morph_monitor_free(follow.monitor);
	return code;
}
