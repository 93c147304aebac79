// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The replaying transport: answers from a recording, line by line. It aborts if the program makes
 * another request, so that a test cannot pass by accident. Only this file of the library prints.
 */
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"
#include "recording.h"

#define LARGEST_STRUCT 512
#define LONGEST_LINE (64u << 20)

struct replay {
	struct lm_transport transport;
	FILE *in;
	char *path;
	char *text; /* the last line */
	size_t text_room;
	unsigned int number; /* of the last line */
	bool ended;
	struct lm_line line;
	int fds[LM_MAX_HANDLES]; /* by handle; -1: closed or never opened */
};

static struct replay *replay_of(struct lm_transport *transport)
{
	return (struct replay *)transport;
}

static void LM_PRINTF(2, 3) __attribute__((noreturn))
mismatch(const struct replay *replay, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "libmorph: recording %s, line %u: ", replay->path, replay->number);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	abort();
}

/* Read the text of the next line; false at the end. A file without end has no newline. */
static bool read_text(struct replay *replay)
{
	size_t length = 0;
	int character;

	while ((character = getc_unlocked(replay->in)) != EOF && character != '\n') {
		if (length + 1 >= replay->text_room) {
			size_t room = replay->text_room ? 2 * replay->text_room : 4096;
			char *text = room > LONGEST_LINE ? NULL : realloc(replay->text, room);

			if (!text)
				mismatch(replay, "longer than %u bytes, or out of memory",
					 LONGEST_LINE);
			replay->text = text;
			replay->text_room = room;
		}
		replay->text[length++] = (char)character;
	}
	if (ferror(replay->in))
		mismatch(replay, "%s", strerror(errno));
	if (replay->text)
		replay->text[length] = 0;
	return length || character != EOF;
}

/* Read the next line; false at the end. */
static bool next(struct replay *replay)
{
	const char *why;

	replay->number++;
	if (!read_text(replay)) {
		replay->ended = true;
		lm_line_clear(&replay->line);
		return false;
	}
	if (!lm_line_parse(&replay->line, replay->text, &why))
		mismatch(replay, "not a line of a recording: %s", why);
	return true;
}

static int handle_of(const struct replay *replay, int fd)
{
	for (int handle = 1; handle < LM_MAX_HANDLES; handle++)
		if (replay->fds[handle] == fd)
			return handle;
	mismatch(replay, "fd %d was not opened here", fd);
}

/* Compare a request with the next line. */
static void expect(struct replay *replay, const char *op, int handle, const char *text)
{
	const struct lm_line *line = &replay->line;

	if (!next(replay))
		mismatch(replay, "the recording has ended, the program requests %s %s", op, text);
	if (strcmp(line->op, op) || line->handle != handle || strcmp(line->text ?: "", text))
		mismatch(
			replay,
			"the recording has %s %s on handle %d, the program requests %s %s on handle %d",
			line->op, line->text ?: "", line->handle, op, text, handle);
}

static void expect_bytes(struct replay *replay, const struct lm_bytes *asked, const char *what)
{
	const struct lm_bytes *recorded = &replay->line.before;
	size_t at = 0;

	while (at < asked->count && at < recorded->count && asked->data[at] == recorded->data[at])
		at++;
	if (asked->count != recorded->count)
		mismatch(
			replay,
			"%s: the recording has %zu bytes, the program %zu; they are equal up to byte %zu",
			what, recorded->count, asked->count, at);
	if (at < asked->count)
		mismatch(replay, "%s: byte %zu is 0x%02x in the recording, 0x%02x in the program",
			 what, at, recorded->data[at], asked->data[at]);
}

/* An fd for a handle. It is always readable, so that a caller's poll() returns. */
static int fd_new(struct replay *replay, int handle)
{
	int fd;

	if (handle < 0)
		return handle;
	if (!handle || handle >= LM_MAX_HANDLES || replay->fds[handle] >= 0)
		mismatch(replay, "handle %d is out of range or in use", handle);
	fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	replay->fds[handle] = fd;
	return fd;
}

static int opened(struct lm_transport *transport, const char *op, const char *text)
{
	struct replay *replay = replay_of(transport);

	expect(replay, op, 0, text);
	return fd_new(replay, replay->line.result);
}

static int replay_open(struct lm_transport *transport, const char *path)
{
	return opened(transport, "open", path);
}

static int replay_adopt(struct lm_transport *transport, int fd)
{
	(void)fd;
	return opened(transport, "adopt", "");
}

static int replay_ioctl(struct lm_transport *transport, int fd, unsigned long command,
			void *argument)
{
	const struct lm_command_shape *shape = lm_shape(command);
	struct replay *replay = replay_of(transport);
	struct lm_bytes asked = { 0 };
	int32_t *new_fd = lm_shape_fd(shape, argument);

	expect(replay, "ioctl", handle_of(replay, fd), lm_shape_name(shape));
	lm_shape_save(shape, argument, argument, false, &asked);
	expect_bytes(replay, &asked, lm_shape_name(shape));
	free(asked.data);
	if (!lm_shape_restore(shape, argument, &replay->line.after))
		mismatch(replay, "%s: the size of the answer differs from the program's buffer",
			 lm_shape_name(shape));
	if (new_fd && replay->line.result >= 0 && *new_fd > 0)
		*new_fd = fd_new(replay, *new_fd);
	return replay->line.result;
}

/* Return the bytes of the line. Bytes beyond @room are an error of the recording. */
static ssize_t give(struct replay *replay, void *buffer, size_t room)
{
	const struct lm_line *line = &replay->line;

	if (line->result < 0)
		return line->result;
	if (line->after.count > room)
		mismatch(replay, "%zu bytes, the buffer of the program has %zu", line->after.count,
			 room);
	if (line->after.count)
		memcpy(buffer, line->after.data, line->after.count);
	return (ssize_t)line->after.count;
}

static ssize_t replay_read(struct lm_transport *transport, int fd, void *buffer, size_t bytes)
{
	struct replay *replay = replay_of(transport);

	expect(replay, "read", handle_of(replay, fd), "");
	return give(replay, buffer, bytes);
}

/* A program that follows events ends by waiting beyond the end of a recording. */
static int replay_poll(struct lm_transport *transport, int fd, int64_t timeout_ns)
{
	struct replay *replay = replay_of(transport);
	int handle = handle_of(replay, fd);

	(void)timeout_ns;
	if (replay->ended || (!next(replay) && replay->ended))
		return -ECANCELED;
	if (strcmp(replay->line.op, "poll") || replay->line.handle != handle)
		mismatch(replay,
			 "the recording has %s on handle %d, the program waits on handle %d",
			 replay->line.op, replay->line.handle, handle);
	return replay->line.result;
}

static void replay_close(struct lm_transport *transport, int fd)
{
	struct replay *replay = replay_of(transport);
	int handle = handle_of(replay, fd);

	if (!replay->ended)
		expect(replay, "close", handle, "");
	replay->fds[handle] = -1;
	close(fd);
}

/* Map the recorded content. No other process writes there, and writes have no effect. */
static int replay_map(struct lm_transport *transport, int fd, uint64_t offset, size_t bytes,
		      bool write, void **memory)
{
	struct replay *replay = replay_of(transport);
	char what[LM_MAP_TEXT_BYTES];

	lm_map_text(what, offset, bytes, write);
	expect(replay, "map", handle_of(replay, fd), what);
	if (replay->line.result < 0)
		return replay->line.result;
	*memory = calloc(1, bytes);
	if (!*memory)
		return -ENOMEM;
	give(replay, *memory, bytes);
	return 0;
}

static void replay_unmap(struct lm_transport *transport, void *memory, size_t bytes)
{
	(void)transport;
	(void)bytes;
	free(memory);
}

static int replay_netlink_open(struct lm_transport *transport, uint32_t buffer_bytes)
{
	return opened(transport, "netlink", buffer_bytes ? "notifications" : "requests");
}

static int replay_netlink_join(struct lm_transport *transport, int fd, uint32_t group)
{
	struct replay *replay = replay_of(transport);

	(void)group;
	expect(replay, "join", handle_of(replay, fd), "");
	return replay->line.result;
}

static int replay_netlink_send(struct lm_transport *transport, int fd, const void *message,
			       size_t bytes)
{
	struct lm_bytes asked = { .data = (uint8_t *)message, .count = bytes };
	struct replay *replay = replay_of(transport);

	expect(replay, "send", handle_of(replay, fd), "");
	expect_bytes(replay, &asked, "netlink message");
	return replay->line.result;
}

/* As in replay_poll(): notifications end where the recording ends. */
static ssize_t replay_netlink_receive(struct lm_transport *transport, int fd, void **buffer,
				      size_t *room)
{
	struct replay *replay = replay_of(transport);
	int handle = handle_of(replay, fd);

	if (replay->ended || (!next(replay) && replay->ended))
		return -ECANCELED;
	if (strcmp(replay->line.op, "receive") || replay->line.handle != handle)
		mismatch(replay,
			 "the recording has %s on handle %d, the program receives on handle %d",
			 replay->line.op, replay->line.handle, handle);
	if (replay->line.after.count > *room) {
		void *grown = realloc(*buffer, replay->line.after.count);

		if (!grown)
			return -ENOMEM;
		*buffer = grown;
		*room = replay->line.after.count;
	}
	return give(replay, *buffer, *room);
}

static int give_text(struct replay *replay, char **text)
{
	if (replay->line.result < 0)
		return replay->line.result;
	*text = strdup(replay->line.text ?: "");
	return *text ? replay->line.result : -ENOMEM;
}

/* Here the text is the answer, so only the op can be compared. */
static void expect_op(struct replay *replay, const char *op, int handle)
{
	if (!next(replay) || strcmp(replay->line.op, op) || replay->line.handle != handle)
		mismatch(replay,
			 "the recording has %s on handle %d, the program requests %s on handle %d",
			 replay->ended ? "the end" : replay->line.op, replay->line.handle, op,
			 handle);
}

static int replay_devices(struct lm_transport *transport, char **text)
{
	struct replay *replay = replay_of(transport);

	expect_op(replay, "devices", 0);
	return give_text(replay, text);
}

static int replay_watch_open(struct lm_transport *transport)
{
	return opened(transport, "watch", "");
}

static int replay_watch_read(struct lm_transport *transport, int fd, char **text)
{
	struct replay *replay = replay_of(transport);

	expect_op(replay, "watched", handle_of(replay, fd));
	return give_text(replay, text);
}

static void replay_free(struct lm_transport *transport)
{
	struct replay *replay = replay_of(transport);

	for (int handle = 1; handle < LM_MAX_HANDLES; handle++)
		if (replay->fds[handle] >= 0)
			close(replay->fds[handle]);
	lm_line_clear(&replay->line);
	fclose(replay->in);
	free(replay->text);
	free(replay->path);
	free(replay);
}

static const struct lm_transport_ops replay_ops = {
	.open = replay_open,
	.adopt = replay_adopt,
	.ioctl = replay_ioctl,
	.read = replay_read,
	.poll = replay_poll,
	.close = replay_close,
	.map = replay_map,
	.unmap = replay_unmap,
	.netlink_open = replay_netlink_open,
	.netlink_join = replay_netlink_join,
	.netlink_send = replay_netlink_send,
	.netlink_receive = replay_netlink_receive,
	.devices = replay_devices,
	.watch_open = replay_watch_open,
	.watch_read = replay_watch_read,
	.free = replay_free,
};

struct lm_transport *lm_transport_replay(const char *path)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return NULL;
	replay->transport.ops = &replay_ops;
	for (int handle = 0; handle < LM_MAX_HANDLES; handle++)
		replay->fds[handle] = -1;
	replay->path = strdup(path);
	replay->in = replay->path ? fopen(path, "re") : NULL;
	if (!replay->in) {
		int error = errno;

		free(replay->path);
		free(replay);
		errno = error;
		return NULL;
	}
	if (!next(replay) || strcmp(replay->line.op, "recording"))
		mismatch(replay, "a recording must begin with op \"recording\"");
	if (replay->line.result != MORPH_ABI_VERSION)
		mismatch(replay, "the recording has ABI %d, this library has %d",
			 replay->line.result, MORPH_ABI_VERSION);
	return &replay->transport;
}
