// SPDX-License-Identifier: LGPL-2.1-or-later
/* A fake kernel made of hooks. */
#include <poll.h>
#include <stdio.h>

#include "../internal/client.h"
#include "fake.h"

static struct fake *fake_of(struct lm_transport *transport)
{
	return (struct fake *)transport;
}

/* Allocate a handle, or fail on demand. */
static int handle_new(struct lm_transport *transport)
{
	if (fault_strikes("kernel"))
		return -errno;
	return 100 + fake_of(transport)->opened++;
}

static int fake_open(struct lm_transport *transport, const char *path)
{
	if (!strcmp(path, LM_MODULE_DIR))
		return fake_of(transport)->module ? -EISDIR : -ENOENT;
	if (strncmp(path, LM_DEV_DIR "/", strlen(LM_DEV_DIR) + 1))
		return -ENOENT;
	return handle_new(transport);
}

static int fake_adopt(struct lm_transport *transport, int fd)
{
	(void)fd;
	return handle_new(transport);
}

static int fake_ioctl(struct lm_transport *transport, int fd, unsigned long command, void *argument)
{
	struct morph_head *head = argument;
	int result;

	assert_true(fd >= 100);
	assert_int_not_equal(head->size, 0);
	if (fault_strikes("kernel"))
		return -errno;
	result = fake_of(transport)->ioctl(fake_of(transport), command, argument);
	if (command == MORPH_SLICE_CREATE && !result && !(head->flags & MORPH_SLICE_DRY_RUN))
		((struct morph_slice_create *)argument)->out_fd =
			100 + fake_of(transport)->opened++;
	if (command == MORPH_GRANT_CREATE && !result)
		((struct morph_grant_create *)argument)->out_fd =
			100 + fake_of(transport)->opened++;
	return result;
}

static ssize_t fake_read(struct lm_transport *transport, int fd, void *buffer, size_t bytes)
{
	struct fake *fake = fake_of(transport);
	ssize_t got = fake->events_bytes;

	(void)fd;
	if (fault_strikes("kernel"))
		return -errno;
	if (got > (ssize_t)bytes)
		return -EINVAL;
	if (got > 0)
		memcpy(buffer, fake->events, (size_t)got);
	fake->events_bytes = -EAGAIN;
	return got;
}

static int fake_poll(struct lm_transport *transport, int fd, int64_t timeout_ns)
{
	struct fake *fake = fake_of(transport);

	(void)fd;
	(void)timeout_ns;
	if (fault_strikes("kernel"))
		return -errno;
	if (fake->poll_events)
		return fake->poll_events;
	return fake->first != fake->last || fake->events_bytes > 0 ? POLLIN : 0;
}

/* Closing a socket drops its pending answers. */
static void drop_answers(struct fake *fake)
{
	for (int at = fake->first; at != fake->last; at++) {
		struct fake_datagram *datagram = &fake->queue[at % FAKE_ROOM];
		const struct nlmsghdr *header = (const void *)datagram->bytes;

		if (header && header->nlmsg_seq)
			datagram->length = 0;
	}
	fake->dumping = false;
}

static void fake_close(struct lm_transport *transport, int fd)
{
	struct fake *fake = fake_of(transport);

	assert_true(fd >= 100);
	fake->closed++;
	if (fd == fake->requests)
		drop_answers(fake);
}

/* Map new memory each time, so that a use after unmapping is detected. */
static int fake_map(struct lm_transport *transport, int fd, uint64_t offset, size_t bytes,
		    bool write, void **memory)
{
	struct fake *fake = fake_of(transport);
	void *made;
	int error;

	assert_true(fd >= 100);
	assert_int_equal(write, offset != 0); /* the state is not to be written */
	if (fault_strikes("kernel"))
		return -errno;
	made = calloc(1, bytes);
	assert_non_null(made);
	error = fake->map(fake, offset, bytes, made);
	if (error) {
		free(made);
		return error;
	}
	fake->mapped++;
	*memory = made;
	return 0;
}

static void fake_unmap(struct lm_transport *transport, void *memory, size_t bytes)
{
	assert_true(bytes > 0);
	fake_of(transport)->mapped--;
	free(memory);
}

static int fake_netlink_open(struct lm_transport *transport, uint32_t buffer_bytes)
{
	int fd = handle_new(transport);

	if (!buffer_bytes && fd >= 0)
		fake_of(transport)->requests = fd;
	return fd;
}

static int fake_netlink_join(struct lm_transport *transport, int fd, uint32_t group)
{
	(void)transport;
	(void)fd;
	if (fault_strikes("kernel"))
		return -errno;
	return group == FAKE_GROUP ? 0 : -EINVAL;
}

void fake_answer_family(struct fake *fake)
{
	struct nl_msg *message = nlmsg_alloc();
	struct nlattr *groups, *group;

	genlmsg_put(message, 0, 0, GENL_ID_CTRL, 0, 0, CTRL_CMD_NEWFAMILY, 2);
	nla_put_u16(message, CTRL_ATTR_FAMILY_ID, FAKE_FAMILY);
	groups = nla_nest_start(message, CTRL_ATTR_MCAST_GROUPS);
	group = nla_nest_start(message, 1);
	nla_put_string(message, CTRL_ATTR_MCAST_GRP_NAME, "monitor");
	nla_put_u32(message, CTRL_ATTR_MCAST_GRP_ID, FAKE_GROUP);
	nla_nest_end(message, group);
	nla_nest_end(message, groups);
	fake_queue(fake, message, fake->request_now->nlmsg_seq);
	fake_ack(fake);
}

/* As in the kernel, a socket has one dump at a time, until the program has received its end. */
static int fake_netlink_send(struct lm_transport *transport, int fd, const void *message,
			     size_t bytes)
{
	struct fake *fake = fake_of(transport);
	const struct nlmsghdr *request = message;
	bool dump = (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;

	assert_int_equal(fd, fake->requests);
	assert_int_equal(bytes, request->nlmsg_len);
	if (fault_strikes("kernel"))
		return -errno;
	fake->request_now = request;
	if (dump && fake->dumping)
		fake_refuse(fake, EBUSY, NULL, 0, 0, 0);
	else if (request->nlmsg_type != GENL_ID_CTRL)
		fake->request(fake, request);
	else if (fake->controller)
		fake->controller(fake, request);
	else
		fake_answer_family(fake);
	fake->dumping |= dump;
	return 0;
}

/* Copy a datagram to the program. It can contain the end of a dump. */
static void deliver(struct fake *fake, const struct fake_datagram *datagram, void *buffer)
{
	const struct nlmsghdr *header = (const void *)datagram->bytes;

	memcpy(buffer, datagram->bytes, (size_t)datagram->length);
	if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
		fake->dumping = false;
}

static ssize_t fake_netlink_receive(struct lm_transport *transport, int fd, void **buffer,
				    size_t *room)
{
	struct fake *fake = fake_of(transport);
	struct fake_datagram *datagram = &fake->queue[fake->first % FAKE_ROOM];

	(void)fd;
	if (fault_strikes("kernel"))
		return -errno;
	if (fake->first == fake->last)
		return -EAGAIN;
	fake->first++;
	if (datagram->length > (ssize_t)*room) {
		*buffer = realloc(*buffer, (size_t)datagram->length);
		*room = (size_t)datagram->length;
	}
	if (datagram->length > 0)
		deliver(fake, datagram, *buffer);
	free(datagram->bytes);
	datagram->bytes = NULL;
	return datagram->length;
}

static int fake_devices(struct lm_transport *transport, char **text)
{
	if (fault_strikes("kernel"))
		return -errno;
	*text = strdup(fake_of(transport)->devices);
	return 0;
}

static int fake_watch_open(struct lm_transport *transport)
{
	return handle_new(transport);
}

static int fake_watch_read(struct lm_transport *transport, int fd, char **text)
{
	(void)fd;
	if (fault_strikes("kernel"))
		return -errno;
	*text = strdup(fake_of(transport)->devices);
	return 0;
}

static void fake_free(struct lm_transport *transport)
{
	struct fake *fake = fake_of(transport);

	assert_int_equal(fake->opened, fake->closed);
	assert_int_equal(fake->mapped, 0);
	for (; fake->first != fake->last; fake->first++)
		free(fake->queue[fake->first % FAKE_ROOM].bytes);
	free(fake);
}

static const struct lm_transport_ops fake_ops = {
	.open = fake_open,
	.adopt = fake_adopt,
	.ioctl = fake_ioctl,
	.read = fake_read,
	.poll = fake_poll,
	.close = fake_close,
	.map = fake_map,
	.unmap = fake_unmap,
	.netlink_open = fake_netlink_open,
	.netlink_join = fake_netlink_join,
	.netlink_send = fake_netlink_send,
	.netlink_receive = fake_netlink_receive,
	.devices = fake_devices,
	.watch_open = fake_watch_open,
	.watch_read = fake_watch_read,
	.free = fake_free,
};

struct fake *fake_new(void)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	assert_non_null(fake);
	fake->transport.ops = &fake_ops;
	fake->events_bytes = -EAGAIN;
	fake->devices = "";
	return fake;
}

struct morph_ctx *fake_ctx(struct lm_transport *transport)
{
	struct morph_ctx *ctx;

	assert_non_null(transport);
	assert_int_equal(morph_ctx_new(NULL, &ctx), 0);
	ctx->transport->ops->free(ctx->transport);
	ctx->transport = transport;
	return ctx;
}

/* ----------------------------------------------------------------- messages */

static struct fake_datagram *queue_next(struct fake *fake)
{
	assert_true(fake->last - fake->first < FAKE_ROOM);
	return &fake->queue[fake->last++ % FAKE_ROOM];
}

void fake_queue(struct fake *fake, struct nl_msg *message, uint32_t seq)
{
	struct fake_datagram *datagram = queue_next(fake);
	struct nlmsghdr *header = nlmsg_hdr(message);

	header->nlmsg_seq = seq;
	datagram->length = (ssize_t)header->nlmsg_len;
	datagram->bytes = malloc(header->nlmsg_len);
	assert_non_null(datagram->bytes);
	memcpy(datagram->bytes, header, header->nlmsg_len);
	nlmsg_free(message);
}

void fake_queue_error(struct fake *fake, int error)
{
	struct fake_datagram *datagram = queue_next(fake);

	datagram->bytes = NULL;
	datagram->length = -error;
}

struct nl_msg *fake_message(uint32_t command, uint16_t flags)
{
	struct nl_msg *message = nlmsg_alloc_size(16384);

	assert_non_null(message);
	assert_non_null(genlmsg_put(message, 0, 0, FAKE_FAMILY, 0, flags, (uint8_t)command, 1));
	return message;
}

struct nl_msg *fake_accelerator(uint32_t id, uint64_t seq, uint16_t flags)
{
	struct nl_msg *message = fake_message(MORPH_CMD_ACCELERATOR_GET, flags);

	nla_put_u32(message, MORPH_A_ACCELERATOR_FABRIC, 3);
	nla_put_u32(message, MORPH_A_ACCELERATOR_ID, id);
	nla_put_u32(message, MORPH_A_ACCELERATOR_HEALTH, MORPH_HEALTH_FAILED);
	nla_put_u64(message, MORPH_A_ACCELERATOR_SEQ, seq);
	nla_put_u32(message, 1000, 5); /* of a newer kernel */
	return message;
}

void fake_refuse(struct fake *fake, int error, const char *text, uint32_t offset, uint32_t missing,
		 uint32_t nest)
{
	struct nl_msg *message = nlmsg_alloc();
	struct nlmsgerr *report;

	nlmsg_put(message, 0, 0, NLMSG_ERROR, sizeof(*report),
		  NLM_F_CAPPED | (text ? NLM_F_ACK_TLVS : 0));
	report = nlmsg_data(nlmsg_hdr(message));
	report->error = -error;
	report->msg = *fake->request_now;
	if (text)
		nla_put_string(message, NLMSGERR_ATTR_MSG, text);
	if (offset)
		nla_put_u32(message, NLMSGERR_ATTR_OFFS, offset);
	if (missing)
		nla_put_u32(message, NLMSGERR_ATTR_MISS_TYPE, missing);
	if (nest)
		nla_put_u32(message, NLMSGERR_ATTR_MISS_NEST, nest);
	fake_queue(fake, message, fake->request_now->nlmsg_seq);
}

void fake_ack(struct fake *fake)
{
	fake_refuse(fake, 0, NULL, 0, 0, 0);
}

void fake_done(struct fake *fake)
{
	struct nl_msg *message = nlmsg_alloc();
	int result = 0;

	nlmsg_put(message, 0, 0, NLMSG_DONE, sizeof(result), NLM_F_MULTI);
	memcpy(nlmsg_data(nlmsg_hdr(message)), &result, sizeof(result));
	fake_queue(fake, message, fake->request_now->nlmsg_seq);
}

uint32_t fake_command(const struct nlmsghdr *request)
{
	const struct genlmsghdr *genl = nlmsg_data(request);

	return genl->cmd;
}

uint32_t fake_offset(const struct nlmsghdr *request, int number, int inner)
{
	const struct genlmsghdr *genl = nlmsg_data(request);
	struct nlattr *attr = nla_find(genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), number);

	assert_non_null(attr);
	if (inner)
		attr = nla_find(nla_data(attr), nla_len(attr), inner);
	assert_non_null(attr);
	return (uint32_t)((char *)attr - (char *)request);
}

/* ----------------------------------------------------------------- printing */

static void print(FILE *out, const struct morph_object *object)
{
	struct morph_attr attr = { .sz = sizeof(attr) };

	fprintf(out, "%s{", morph_object_type_name(morph_object_type(object)));
	for (size_t position = 0; morph_object_attr(object, position, &attr); position++) {
		fprintf(out, "%s%s=", position ? " " : "", attr.name);
		for (size_t at = 0; at < attr.values; at++) {
			if (at)
				fputc(',', out);
			switch (attr.type) {
			case MORPH_ATTR_UINT:
			case MORPH_ATTR_FLAG:
				fprintf(out, "%llu",
					(unsigned long long)morph_object_uint_at(object, attr.name,
										 at));
				break;
			case MORPH_ATTR_SINT:
				fprintf(out, "%lld",
					(long long)morph_object_sint_at(object, attr.name, at));
				break;
			case MORPH_ATTR_OBJECT:
				print(out, morph_object_nested_at(object, attr.name, at));
				break;
			default:
				fputs(morph_object_text_at(object, attr.name, at), out);
			}
		}
	}
	fputc('}', out);
}

char *fake_print(const struct morph_object *object)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	print(out, object);
	fclose(out);
	return text;
}
