// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests over netlink: send them, and read answers and the kernel's errors. */
#include <stdio.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/genetlink.h>
#include <linux/morph_netlink.h>

#include "internal.h"

#define SLACK_BYTES 64 /* for the request's own headers */
#define MOST_ERRNO 4095 /* the kernel's limit */

/* State of one exchange of messages. */
struct exchange {
	struct morph_ctx *ctx;
	const struct nlmsghdr *request;
	struct morph_list *list;
	uint32_t fabric; /* of a refused request, MORPH_ANY: unknown */
	bool has_cookie;
	bool torn;
	bool done;
};

/* ------------------------------------------------------- the kernel's words */

static uint32_t number_of(const struct nlattr *attr)
{
	return nla_len(attr) == sizeof(uint32_t) ? nla_get_u32(attr) : 0;
}

/* Numbers of the cookie that the kernel's sentence may name. */
struct number {
	const char *place;
	struct lm_part_name text;
	const char *more; /* after a value that is cut to 32 bits */
};

static const struct number *number_at(const struct number *numbers, const char *sentence)
{
	for (; numbers->place; numbers++)
		if (!strncmp(sentence, numbers->place, strlen(numbers->place)))
			return numbers;
	return NULL;
}

static const char *more_than(int64_t value)
{
	return value == INT32_MAX ? " or more" : "";
}

static struct lm_part_name number_text(int64_t value)
{
	struct lm_part_name text;

	snprintf(text.text, sizeof(text.text), "%lld", (long long)value);
	return text;
}

/*
 * Put the numbers into the kernel's sentence. On the device the kernel has done so; a sentence over
 * netlink is fixed, because 6.1 formats none.
 */
static void fill_sentence(struct lm_error *error)
{
	const struct number numbers[] = {
		{ "{index}", lm_part_name(error, error->index), "" },
		{ "{have}", number_text(error->have), more_than(error->have) },
		{ "{need}", number_text(error->need), more_than(error->need) },
		{ "{last}", lm_part_name(error, error->have - 1), more_than(error->have) },
		{ 0 },
	};
	char sentence[sizeof(error->kernel)];
	const char *from = error->kernel;
	size_t used = 0;

	while (*from && used < sizeof(sentence) - 1) {
		const struct number *number = number_at(numbers, from);

		if (!number) {
			sentence[used++] = *from++;
			continue;
		}
		used += (size_t)snprintf(sentence + used, sizeof(sentence) - used, "%s%s",
					 number->text.text, number->more);
		from += strlen(number->place);
	}
	used = used < sizeof(sentence) ? used : sizeof(sentence) - 1;
	sentence[used] = '\0';
	memcpy(error->kernel, sentence, used + 1);
}

/* The fabric that a request names in its first attribute. A request of fabrics names none. */
static uint32_t fabric_of(const struct nlmsghdr *request)
{
	const struct genlmsghdr *genl = nlmsg_data(request);
	const struct nlattr *fabric;

	if (genl->cmd == MORPH_CMD_FABRIC_GET)
		return MORPH_ANY;
	fabric = nla_find(genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0),
			  MORPH_A_HARDWARE_FABRIC);
	return fabric && nla_len(fabric) == sizeof(uint32_t) ? nla_get_u32(fabric) : MORPH_ANY;
}

/* Read the numbers of a refusal. A cookie of another size is of another kernel: ignore it. */
static void parse_cookie(struct exchange *x, const struct nlattr *attr)
{
	struct lm_error *error = &x->ctx->error;
	struct morph_refusal_cookie cookie;

	if (nla_len(attr) != sizeof(cookie))
		return;
	memcpy(&cookie, nla_data(attr), sizeof(cookie));
	error->reason = cookie.reason;
	error->part = cookie.part;
	error->index = cookie.index;
	error->have = cookie.have;
	error->need = cookie.need;
	x->fabric = fabric_of(x->request);
	x->has_cookie = true;
}

/* The kernel names a bad attribute by its offset, and a missing one by number and nest. */
static void parse_ext_ack(struct exchange *x, const void *attributes, int bytes)
{
	struct lm_error *error = &x->ctx->error;
	uint32_t offset = 0, nest = 0, missing = 0;
	const struct nlattr *attr, *cookie = NULL;
	int left;

	nla_for_each_attr(attr, (struct nlattr *)attributes, bytes, left) {
		switch (nla_type(attr)) {
		case NLMSGERR_ATTR_MSG:
			nla_strlcpy(error->kernel, attr, sizeof(error->kernel));
			break;
		case NLMSGERR_ATTR_OFFS:
			offset = number_of(attr);
			break;
		case NLMSGERR_ATTR_MISS_TYPE:
			missing = number_of(attr);
			break;
		case NLMSGERR_ATTR_MISS_NEST:
			nest = number_of(attr);
			break;
		case NLMSGERR_ATTR_COOKIE:
			cookie = attr;
			break;
		}
	}
	if (x->request->nlmsg_type != x->ctx->family)
		return;
	if (cookie)
		parse_cookie(x, cookie);
	if (missing)
		lm_missing_path(x->request, nest, missing, error->attribute,
				sizeof(error->attribute));
	else if (offset)
		lm_attr_path(x->request, offset, error->attribute, sizeof(error->attribute));
}

/* The kernel's result of a request: 0 or a negative errno. Other values are invalid. */
static int result_of(int result)
{
	return result <= 0 && result >= -MOST_ERRNO ? result : -EPROTO;
}

/* An error, or an acknowledgement. */
static int parse_error(struct exchange *x, const struct nlmsghdr *header)
{
	const struct nlmsgerr *report = nlmsg_data(header);
	size_t skip = sizeof(*report), bytes = (size_t)nlmsg_datalen(header);

	if (nlmsg_datalen(header) < (int)sizeof(*report))
		return -EPROTO;
	x->done = true;
	if (!report->error)
		return 0;
	if (!(header->nlmsg_flags & NLM_F_CAPPED)) {
		if (report->msg.nlmsg_len < sizeof(report->msg) || report->msg.nlmsg_len > bytes)
			return -EPROTO;
		skip += NLMSG_ALIGN(report->msg.nlmsg_len) - sizeof(report->msg);
	}
	if ((header->nlmsg_flags & NLM_F_ACK_TLVS) && skip < bytes)
		parse_ext_ack(x, (const char *)report + skip, (int)(bytes - skip));
	return result_of(report->error);
}

/* The end of a dump, which can have failed midway. */
static int parse_done(struct exchange *x, const struct nlmsghdr *header)
{
	const char *data = nlmsg_data(header);
	int result = 0;
	int skip = NLMSG_ALIGN(sizeof(result));

	x->done = true;
	if (nlmsg_datalen(header) >= (int)sizeof(result))
		memcpy(&result, data, sizeof(result));
	if (result < 0 && (header->nlmsg_flags & NLM_F_ACK_TLVS) && skip < nlmsg_datalen(header))
		parse_ext_ack(x, data + skip, nlmsg_datalen(header) - skip);
	return result < 0 ? result_of(result) : 0;
}

static int parse_message(struct exchange *x, const struct nlmsghdr *header)
{
	struct morph_object *object;
	int code;

	if (header->nlmsg_seq != x->request->nlmsg_seq)
		return 0; /* the rest of an abandoned exchange */
	if (header->nlmsg_flags & NLM_F_DUMP_INTR)
		x->torn = true;
	switch (header->nlmsg_type) {
	case NLMSG_ERROR:
		return parse_error(x, header);
	case NLMSG_DONE:
		return parse_done(x, header);
	case NLMSG_NOOP:
		return 0;
	case NLMSG_OVERRUN:
		return -ENOBUFS;
	}
	if (header->nlmsg_type == GENL_ID_CTRL)
		return lm_family_parse(x->ctx, header);
	object = lm_decode(x->ctx, header, &code);
	return object ? lm_list_add(x->list, object) : code;
}

/* Receive until the exchange is done. */
static int receive(struct exchange *x)
{
	struct lm_transport *transport = x->ctx->transport;
	int error = 0;

	while (!x->done && !error) {
		ssize_t bytes = transport->ops->netlink_receive(
			transport, x->ctx->netlink, &x->ctx->message, &x->ctx->message_bytes);
		const struct nlmsghdr *header = x->ctx->message;
		int left = (int)bytes;

		if (bytes < 0)
			return (int)bytes;
		for (; nlmsg_ok(header, left) && !x->done && !error;
		     header = nlmsg_next((struct nlmsghdr *)header, &left))
			error = parse_message(x, header);
	}
	return error;
}

/*
 * Close the socket after an answer that was not read completely. Its rest would come before the
 * next answer, and during a dump the kernel refuses another one on this socket (EBUSY). The next
 * request opens a new socket.
 */
static void give_up(struct morph_ctx *ctx)
{
	ctx->transport->ops->close(ctx->transport, ctx->netlink);
	ctx->netlink = -1;
}

static int exchange(struct exchange *x, struct nlmsghdr *request, uint16_t flags)
{
	struct lm_transport *transport = x->ctx->transport;
	int error;

	request->nlmsg_flags = NLM_F_REQUEST | flags;
	request->nlmsg_seq = ++x->ctx->seq;
	x->request = request;
	x->torn = x->done = false;
	error = transport->ops->netlink_send(transport, x->ctx->netlink, request,
					     request->nlmsg_len);
	if (!error)
		error = receive(x);
	if (!x->done)
		give_up(x->ctx);
	return error;
}

/* --------------------------------------------------------------- connecting */

/*
 * The family is visible only in the initial network namespace. The directory of the module is
 * visible in all of them; opening it for writing fails with EISDIR.
 */
static bool module_is_loaded(struct morph_ctx *ctx)
{
	int fd = ctx->transport->ops->open(ctx->transport, LM_MODULE_DIR);

	if (fd >= 0)
		ctx->transport->ops->close(ctx->transport, fd);
	return fd >= 0 || fd == -EISDIR;
}

static int fail_without_family(struct morph_ctx *ctx)
{
	if (module_is_loaded(ctx))
		return lm_fail(
			ctx, ENOENT,
			"the module morph is loaded, but its netlink family \"" MORPH_FAMILY_NAME
			"\" is not visible in this network namespace; use the initial one, as with "
			"'nsenter --net=/proc/1/ns/net'");
	return lm_fail(ctx, ENOENT,
		       "the kernel has no netlink family \"" MORPH_FAMILY_NAME
		       "\": the module morph is not loaded (no " LM_MODULE_DIR
		       "); run 'modprobe morph'");
}

static int family_resolve(struct morph_ctx *ctx)
{
	struct nl_msg *message = nlmsg_alloc_size(256);
	struct exchange x = { .ctx = ctx };
	int error = -ENOMEM;

	lm_error_clear(ctx);
	if (message && genlmsg_put(message, 0, 0, GENL_ID_CTRL, 0, 0, CTRL_CMD_GETFAMILY, 2) &&
	    !nla_put_string(message, CTRL_ATTR_FAMILY_NAME, MORPH_FAMILY_NAME))
		error = exchange(&x, nlmsg_hdr(message), NLM_F_ACK);
	nlmsg_free(message);
	if (error == -ENOENT || (!error && !ctx->family))
		return fail_without_family(ctx);
	if (error)
		return lm_fail(ctx, -error, "find the netlink family \"" MORPH_FAMILY_NAME "\": %s",
			       strerror(-error));
	return 0;
}

int lm_netlink_connect(struct morph_ctx *ctx)
{
	if (ctx->netlink < 0) {
		int fd = ctx->transport->ops->netlink_open(ctx->transport, 0);

		if (fd < 0)
			return lm_fail(ctx, -fd, "open a netlink socket: %s", strerror(-fd));
		ctx->netlink = fd;
	}
	return ctx->family ? 0 : family_resolve(ctx);
}

struct nl_msg *lm_request(struct morph_ctx *ctx, uint32_t command, size_t bytes)
{
	struct nl_msg *message;

	if (lm_netlink_connect(ctx))
		return NULL;
	message = nlmsg_alloc_size(bytes + SLACK_BYTES);
	if (message &&
	    genlmsg_put(message, 0, 0, ctx->family, 0, 0, (uint8_t)command, MORPH_FAMILY_VERSION))
		return message;
	nlmsg_free(message);
	lm_no_memory(ctx, "make a request");
	return NULL;
}

/* ----------------------------------------------------------------- exchanges */

/* Note the failure of an exchange. The numbers of a refusal go into the kernel's sentence. */
static void fail(struct exchange *x, int error, const char *format, va_list arguments)
{
	if (x->has_cookie) {
		lm_ask_planes(x->ctx, x->fabric);
		fill_sentence(&x->ctx->error);
	}
	lm_fail_kernel(x->ctx, -error, format, arguments);
}

int lm_do(struct morph_ctx *ctx, struct nl_msg *request, struct morph_object **out,
	  const char *format, ...)
{
	struct exchange x = { .ctx = ctx, .list = lm_list_new() };
	va_list arguments;
	int error = -ENOMEM;

	lm_error_clear(ctx);
	if (x.list)
		error = exchange(&x, nlmsg_hdr(request), NLM_F_ACK);
	nlmsg_free(request);
	/* Messages before an error are not the answer. */
	if (out)
		*out = error ? NULL : lm_list_pop(x.list);
	morph_list_free(x.list);
	if (!error && out && !*out)
		error = -EPROTO;
	if (!error)
		return 0;
	va_start(arguments, format);
	fail(&x, error, format, arguments);
	va_end(arguments);
	return error;
}

/*
 * Whether entries of one fabric have different seqs. This compares only entries whose seq means
 * "valid at"; a transaction's seq is that of its own publication.
 */
static bool seq_differs(struct morph_list *list)
{
	const struct morph_object *before = NULL;
	bool one_fabric = true;

	for (size_t at = 0; at < morph_list_count(list); at++) {
		const struct morph_object *object = morph_list_get(list, at);

		switch (morph_object_type(object)) {
		case MORPH_OBJECT_ACCELERATOR:
		case MORPH_OBJECT_GUIDE:
		case MORPH_OBJECT_ELEMENT:
		case MORPH_OBJECT_SLICE:
			break;
		default:
			return false;
		}
		if (before &&
		    morph_object_uint(before, "fabric") != morph_object_uint(object, "fabric"))
			one_fabric = false;
		else if (before &&
			 morph_object_uint(before, "seq") != morph_object_uint(object, "seq"))
			return true;
		before = object;
	}
	if (before && one_fabric)
		lm_list_set_seq(list, morph_object_uint(before, "seq"));
	return false;
}

int lm_dump(struct morph_ctx *ctx, struct nl_msg *request, struct morph_list **out,
	    const char *format, ...)
{
	struct exchange x = { .ctx = ctx, .list = lm_list_new() };
	va_list arguments;
	bool again = x.list;
	int error = -ENOMEM;

	*out = NULL;
	for (uint32_t attempt = 0; again && attempt <= ctx->dump_retries; attempt++) {
		lm_error_clear(ctx);
		x.has_cookie = false;
		lm_list_clear(x.list);
		error = exchange(&x, nlmsg_hdr(request), NLM_F_DUMP);
		if (!error && (x.torn || seq_differs(x.list)))
			error = -EAGAIN;
		again = error == -EAGAIN && x.done;
	}
	nlmsg_free(request);
	if (!error)
		error = lm_list_join(x.list);
	if (!error) {
		*out = x.list;
		return 0;
	}
	morph_list_free(x.list);
	va_start(arguments, format);
	fail(&x, error, format, arguments);
	va_end(arguments);
	return error;
}
