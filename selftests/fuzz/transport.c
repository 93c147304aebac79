// SPDX-License-Identifier: GPL-2.0-only
#include "../../libmorph/internal/client.h"
#include "transport.h"

#include <poll.h>

#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/genetlink.h>
#include <linux/morph_netlink.h>

struct kernel {
	struct lm_transport transport;
	struct input *input;
	struct morph_ctx *ctx;
	unsigned int messages; /* limit for the input, so that it ends */
};

#define MOST_MESSAGES 256

/* Kinds of messages, for the first byte of each. */
enum kind {
	KIND_OBJECT,
	KIND_ERROR,
	KIND_DONE,
	KIND_FAMILY,
	KIND_RAW,
	KIND_ERRNO,
	KINDS,
};

static struct kernel *kernel_of(struct lm_transport *transport)
{
	return (struct kernel *)transport;
}

static int any_open(struct lm_transport *transport, const char *path)
{
	(void)transport;
	(void)path;
	return FUZZ_HANDLE;
}

static int any_adopt(struct lm_transport *transport, int fd)
{
	(void)transport;
	(void)fd;
	return FUZZ_HANDLE;
}

static int any_ioctl(struct lm_transport *transport, int fd, unsigned long command, void *argument)
{
	(void)transport;
	(void)fd;
	(void)command;
	(void)argument;
	return -ENOTTY;
}

static ssize_t any_read(struct lm_transport *transport, int fd, void *buffer, size_t bytes)
{
	struct input *input = kernel_of(transport)->input;

	(void)fd;
	if (bytes > input->left)
		bytes = input->left;
	memcpy(buffer, input->data, bytes);
	input->data += bytes;
	input->left -= bytes;
	return (ssize_t)bytes;
}

static int any_poll(struct lm_transport *transport, int fd, int64_t timeout_ns)
{
	(void)fd;
	(void)timeout_ns;
	return kernel_of(transport)->input->left ? POLLIN : -ECANCELED;
}

static void any_close(struct lm_transport *transport, int fd)
{
	(void)transport;
	MUST(fd == FUZZ_HANDLE);
}

static int any_netlink_open(struct lm_transport *transport, uint32_t buffer_bytes)
{
	(void)transport;
	(void)buffer_bytes;
	return FUZZ_HANDLE;
}

static int any_netlink_join(struct lm_transport *transport, int fd, uint32_t group)
{
	(void)transport;
	(void)fd;
	(void)group;
	return 0;
}

static int any_netlink_send(struct lm_transport *transport, int fd, const void *message,
			    size_t bytes)
{
	const struct nlmsghdr *header = message;

	(void)transport;
	(void)fd;
	MUST(bytes >= sizeof(*header) && header->nlmsg_len == bytes);
	return 0;
}

/* Set the type of the message at @header to its kind; its body comes from the input. */
static void shape(const struct kernel *kernel, enum kind kind, struct nlmsghdr *header)
{
	static const uint16_t types[KINDS] = {
		[KIND_OBJECT] = FUZZ_FAMILY,
		[KIND_ERROR] = NLMSG_ERROR,
		[KIND_DONE] = NLMSG_DONE,
		[KIND_FAMILY] = GENL_ID_CTRL,
	};

	header->nlmsg_type = types[kind];
	header->nlmsg_seq = kernel->ctx->seq;
}

/* One message: kind, flags, length of the body, body. Its memory ends with it. */
static ssize_t any_netlink_receive(struct lm_transport *transport, int fd, void **buffer,
				   size_t *room)
{
	struct kernel *kernel = kernel_of(transport);
	struct input *input = kernel->input;
	enum kind kind = eat8(input) % KINDS;
	struct nlmsghdr *header;
	uint8_t flags = eat8(input);
	uint16_t body = eat16(input);
	void *bytes;

	(void)fd;
	if (!input->left || kernel->messages++ == MOST_MESSAGES)
		return -EAGAIN;
	if (kind == KIND_ERRNO)
		return flags & 1 ? -ENOBUFS : -EINTR;
	if (body > input->left)
		body = (uint16_t)input->left;
	free(*buffer);
	if (kind == KIND_RAW) {
		*buffer = eat_bytes(input, body);
		*room = body;
		return body;
	}
	*room = NLMSG_HDRLEN + body;
	header = *buffer = malloc(*room);
	memset(header, 0, NLMSG_HDRLEN);
	header->nlmsg_len = (uint32_t)*room;
	header->nlmsg_flags = (uint16_t)(flags & 0xf) | (flags & 0xf0) << 4;
	shape(kernel, kind, header);
	bytes = eat_bytes(input, body);
	if (body)
		memcpy(header + 1, bytes, body);
	free(bytes);
	return (ssize_t)*room;
}

static int any_devices(struct lm_transport *transport, char **text)
{
	*text = eat_text(kernel_of(transport)->input);
	return 0;
}

static int any_watch_open(struct lm_transport *transport)
{
	(void)transport;
	return FUZZ_HANDLE;
}

static int any_watch_read(struct lm_transport *transport, int fd, char **text)
{
	(void)fd;
	return any_devices(transport, text);
}

static void any_free(struct lm_transport *transport)
{
	free(kernel_of(transport));
}

static const struct lm_transport_ops any_ops = {
	.open = any_open,
	.adopt = any_adopt,
	.ioctl = any_ioctl,
	.read = any_read,
	.poll = any_poll,
	.close = any_close,
	.netlink_open = any_netlink_open,
	.netlink_join = any_netlink_join,
	.netlink_send = any_netlink_send,
	.netlink_receive = any_netlink_receive,
	.devices = any_devices,
	.watch_open = any_watch_open,
	.watch_read = any_watch_read,
	.free = any_free,
};

struct morph_ctx *transport_ctx(struct input *input, bool connected)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	struct morph_ctx *ctx = calloc(1, sizeof(*ctx));

	kernel->transport.ops = &any_ops;
	kernel->input = input;
	kernel->ctx = ctx;
	ctx->transport = &kernel->transport;
	ctx->netlink = FUZZ_HANDLE;
	ctx->dump_retries = 2;
	ctx->family = connected ? FUZZ_FAMILY : 0;
	return ctx;
}

/* ------------------------------------------------------------------ reading */

static size_t sink; /* use the values that were read */

static void read_value(const struct morph_object *object, const struct morph_attr *attr,
		       size_t value)
{
	const char *text;

	switch (attr->type) {
	case MORPH_ATTR_UINT:
	case MORPH_ATTR_FLAG:
		sink += morph_object_uint_at(object, attr->name, value);
		break;
	case MORPH_ATTR_SINT:
		sink += (size_t)morph_object_sint_at(object, attr->name, value);
		break;
	case MORPH_ATTR_OBJECT:
		read_object(morph_object_nested_at(object, attr->name, value));
		break;
	default:
		text = morph_object_text_at(object, attr->name, value);
		/* a number of an enum may be newer than its names */
		MUST(text || attr->type == MORPH_ATTR_ENUM);
		sink += text ? strlen(text) : 0;
	}
}

void read_object(const struct morph_object *object)
{
	struct morph_attr attr = { .sz = sizeof(attr) };

	MUST(object);
	for (size_t position = 0; morph_object_attr(object, position, &attr); position++) {
		MUST(morph_object_has(object, attr.name));
		MUST(attr.values == 1 || attr.is_list);
		MUST(attr.values == morph_object_values(object, attr.name));
		for (size_t at = 0; at < attr.values; at++)
			read_value(object, &attr, at);
	}
}

void read_list(const struct morph_list *list)
{
	for (size_t at = 0; at < morph_list_count(list); at++) {
		struct morph_object *copy;

		MUST(!morph_object_copy(morph_list_get(list, at), &copy));
		read_object(copy);
		morph_object_free(copy);
	}
}
