// SPDX-License-Identifier: LGPL-2.1-or-later
/* The recording transport: forwards calls to the real one, and writes both sides to a file. */
#include <stdio.h>

#include "internal.h"
#include "recording.h"

#define LARGEST_STRUCT 512

struct record {
	struct lm_transport transport;
	struct lm_transport *inner;
	FILE *out;
	int handles[LM_MAX_HANDLES]; /* by fd; 0: not opened here */
	bool used[LM_MAX_HANDLES]; /* by handle */
};

static struct record *record_of(struct lm_transport *transport)
{
	return (struct record *)transport;
}

static int handle_of(const struct record *record, int fd)
{
	return fd >= 0 && fd < LM_MAX_HANDLES ? record->handles[fd] : 0;
}

/* Number a new fd. Refuses an fd that neither this table nor a replay's can hold. */
static int handle_new(struct record *record, int fd)
{
	int handle = 1;

	if (fd < 0)
		return fd;
	while (handle < LM_MAX_HANDLES && record->used[handle])
		handle++;
	if (fd >= LM_MAX_HANDLES || handle >= LM_MAX_HANDLES)
		return -EMFILE;
	record->used[handle] = true;
	record->handles[fd] = handle;
	return handle;
}

/*
 * Each line reaches the file before the call returns, so that a crash loses none. A line without
 * memory is marked, so that no replay accepts it.
 */
static void line_end(struct record *record, struct lm_line *line)
{
	static const char lost[] = "lost";

	if (!line->text || line->before.failed || line->after.failed)
		memcpy(line->op, lost, sizeof(lost));
	lm_line_write(record->out, line);
	fflush(record->out);
	lm_line_clear(line);
}

static void line_begin(struct lm_line *line, const char *op, int handle, const char *text,
		       int result)
{
	memset(line, 0, sizeof(*line));
	strcpy(line->op, op);
	line->handle = handle;
	line->text = strdup(text);
	line->result = result;
}

/* A call that opens a file. Its result is the handle. */
static int opened(struct record *record, const char *op, const char *text, int fd)
{
	struct lm_line line;
	int handle = handle_new(record, fd);

	if (fd >= 0 && handle < 0) {
		record->inner->ops->close(record->inner, fd);
		fd = handle;
	}
	line_begin(&line, op, 0, text, handle);
	line_end(record, &line);
	return fd;
}

static int record_open(struct lm_transport *transport, const char *path)
{
	struct record *record = record_of(transport);

	return opened(record, "open", path, record->inner->ops->open(record->inner, path));
}

static int record_adopt(struct lm_transport *transport, int fd)
{
	struct record *record = record_of(transport);

	return opened(record, "adopt", "", record->inner->ops->adopt(record->inner, fd));
}

static int record_ioctl(struct lm_transport *transport, int fd, unsigned long command,
			void *argument)
{
	const struct lm_command_shape *shape = lm_shape(command);
	struct record *record = record_of(transport);
	char asked[LARGEST_STRUCT];
	struct lm_line line;
	int32_t *new_fd = lm_shape_fd(shape, argument);
	int32_t kept = -1;
	int result;

	line_begin(&line, "ioctl", handle_of(record, fd), lm_shape_name(shape), 0);
	memcpy(asked, argument, lm_shape_bytes(shape));
	lm_shape_save(shape, argument, asked, false, &line.before);
	line.result = record->inner->ops->ioctl(record->inner, fd, command, argument);
	if (new_fd) {
		kept = *new_fd;
		if (line.result >= 0 && kept >= 0)
			*new_fd = handle_new(record, kept);
		if (*new_fd == -EMFILE) {
			record->inner->ops->close(record->inner, kept);
			line.result = kept = -EMFILE;
		}
	}
	lm_shape_save(shape, argument, asked, true, &line.after);
	if (new_fd)
		*new_fd = kept;
	result = line.result;
	line_end(record, &line);
	return result;
}

static ssize_t record_read(struct lm_transport *transport, int fd, void *buffer, size_t bytes)
{
	struct record *record = record_of(transport);
	ssize_t got = record->inner->ops->read(record->inner, fd, buffer, bytes);
	struct lm_line line;

	line_begin(&line, "read", handle_of(record, fd), "", (int)got);
	if (got > 0)
		lm_bytes_add(&line.after, buffer, (size_t)got);
	line_end(record, &line);
	return got;
}

static int record_poll(struct lm_transport *transport, int fd, int64_t timeout_ns)
{
	struct record *record = record_of(transport);
	int events = record->inner->ops->poll(record->inner, fd, timeout_ns);
	struct lm_line line;

	line_begin(&line, "poll", handle_of(record, fd), "", events);
	line_end(record, &line);
	return events;
}

static void record_close(struct lm_transport *transport, int fd)
{
	struct record *record = record_of(transport);
	struct lm_line line;

	line_begin(&line, "close", handle_of(record, fd), "", 0);
	if (fd >= 0 && fd < LM_MAX_HANDLES) {
		record->used[record->handles[fd]] = false;
		record->handles[fd] = 0;
	}
	record->inner->ops->close(record->inner, fd);
	line_end(record, &line);
}

/* Records the initial content; later writes are not recorded. */
static int record_map(struct lm_transport *transport, int fd, uint64_t offset, size_t bytes,
		      bool write, void **memory)
{
	struct record *record = record_of(transport);
	char what[LM_MAP_TEXT_BYTES];
	struct lm_line line;
	int result;

	lm_map_text(what, offset, bytes, write);
	result = record->inner->ops->map(record->inner, fd, offset, bytes, write, memory);
	line_begin(&line, "map", handle_of(record, fd), what, result);
	if (!result)
		lm_bytes_add(&line.after, *memory, bytes);
	line_end(record, &line);
	return result;
}

static void record_unmap(struct lm_transport *transport, void *memory, size_t bytes)
{
	struct record *record = record_of(transport);

	record->inner->ops->unmap(record->inner, memory, bytes);
}

static int record_netlink_open(struct lm_transport *transport, uint32_t buffer_bytes)
{
	struct record *record = record_of(transport);

	return opened(record, "netlink", buffer_bytes ? "notifications" : "requests",
		      record->inner->ops->netlink_open(record->inner, buffer_bytes));
}

static int record_netlink_join(struct lm_transport *transport, int fd, uint32_t group)
{
	struct record *record = record_of(transport);
	struct lm_line line;
	int result = record->inner->ops->netlink_join(record->inner, fd, group);

	line_begin(&line, "join", handle_of(record, fd), "", result);
	line_end(record, &line);
	return result;
}

static int record_netlink_send(struct lm_transport *transport, int fd, const void *message,
			       size_t bytes)
{
	struct record *record = record_of(transport);
	struct lm_line line;
	int result = record->inner->ops->netlink_send(record->inner, fd, message, bytes);

	line_begin(&line, "send", handle_of(record, fd), "", result);
	lm_bytes_add(&line.before, message, bytes);
	line_end(record, &line);
	return result;
}

static ssize_t record_netlink_receive(struct lm_transport *transport, int fd, void **buffer,
				      size_t *room)
{
	struct record *record = record_of(transport);
	ssize_t got = record->inner->ops->netlink_receive(record->inner, fd, buffer, room);
	struct lm_line line;

	line_begin(&line, "receive", handle_of(record, fd), "", (int)got);
	if (got > 0)
		lm_bytes_add(&line.after, *buffer, (size_t)got);
	line_end(record, &line);
	return got;
}

static int record_devices(struct lm_transport *transport, char **text)
{
	struct record *record = record_of(transport);
	int result = record->inner->ops->devices(record->inner, text);
	struct lm_line line;

	line_begin(&line, "devices", 0, result < 0 ? "" : *text, result);
	line_end(record, &line);
	return result;
}

static int record_watch_open(struct lm_transport *transport)
{
	struct record *record = record_of(transport);

	return opened(record, "watch", "", record->inner->ops->watch_open(record->inner));
}

static int record_watch_read(struct lm_transport *transport, int fd, char **text)
{
	struct record *record = record_of(transport);
	int result = record->inner->ops->watch_read(record->inner, fd, text);
	struct lm_line line;

	line_begin(&line, "watched", handle_of(record, fd), result < 0 ? "" : *text, result);
	line_end(record, &line);
	return result;
}

static void record_free(struct lm_transport *transport)
{
	struct record *record = record_of(transport);

	record->inner->ops->free(record->inner);
	fclose(record->out);
	free(record);
}

static const struct lm_transport_ops record_ops = {
	.open = record_open,
	.adopt = record_adopt,
	.ioctl = record_ioctl,
	.read = record_read,
	.poll = record_poll,
	.close = record_close,
	.map = record_map,
	.unmap = record_unmap,
	.netlink_open = record_netlink_open,
	.netlink_join = record_netlink_join,
	.netlink_send = record_netlink_send,
	.netlink_receive = record_netlink_receive,
	.devices = record_devices,
	.watch_open = record_watch_open,
	.watch_read = record_watch_read,
	.free = record_free,
};

struct lm_transport *lm_transport_record(struct lm_transport *inner, const char *path)
{
	struct record *record = calloc(1, sizeof(*record));
	struct lm_line head;
	int error = ENOMEM;

	line_begin(&head, "recording", 0, "libmorph", MORPH_ABI_VERSION);
	if (record && head.text) {
		record->out = fopen(path, "we");
		error = errno;
	}
	if (!record || !record->out) {
		lm_line_clear(&head);
		free(record);
		inner->ops->free(inner);
		errno = error;
		return NULL;
	}
	record->transport.ops = &record_ops;
	record->inner = inner;
	line_end(record, &head);
	return &record->transport;
}
