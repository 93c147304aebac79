// SPDX-License-Identifier: GPL-2.0-only
/* A generic netlink client for the tests. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric.h"
#include "nl.h"

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

/*
 * Large enough for the description of a family. With a larger buffer the kernel would send larger
 * messages.
 */
#define CONTROL_ROOM 4096

static struct nlmsghdr *request_of(struct nl *nl)
{
	return (struct nlmsghdr *)nl->request;
}

/* ------------------------------------------------------------------- write */

static void begin(struct nl *nl, uint16_t family, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *head = request_of(nl);
	struct genlmsghdr *genl = NLMSG_DATA(head);

	memset(nl->request, 0, NLMSG_LENGTH(GENL_HDRLEN));
	head->nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	head->nlmsg_type = family;
	head->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	head->nlmsg_seq = ++nl->seq;
	genl->cmd = cmd;
	genl->version = MORPH_FAMILY_VERSION;
}

void nl_begin(struct nl *nl, uint8_t cmd, uint16_t flags)
{
	begin(nl, nl->family, cmd, flags);
}

struct genlmsghdr *nl_genl(struct nl *nl)
{
	return NLMSG_DATA(request_of(nl));
}

void nl_put(struct nl *nl, uint16_t type, const void *data, size_t bytes)
{
	struct nlmsghdr *head = request_of(nl);
	struct nlattr *attr = (struct nlattr *)(nl->request + NLMSG_ALIGN(head->nlmsg_len));
	size_t end = NLMSG_ALIGN(head->nlmsg_len) + NLA_HDRLEN + NLA_ALIGN(bytes);

	if (end > NL_ROOM) {
		fprintf(stderr, "# the test's request is too long\n");
		exit(1);
	}
	memset(attr, 0, end - NLMSG_ALIGN(head->nlmsg_len));
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + bytes;
	if (bytes)
		memcpy((unsigned char *)attr + NLA_HDRLEN, data, bytes);
	head->nlmsg_len = end;
}

void nl_put_u8(struct nl *nl, uint16_t type, uint8_t value)
{
	nl_put(nl, type, &value, sizeof(value));
}

void nl_put_u32(struct nl *nl, uint16_t type, uint32_t value)
{
	nl_put(nl, type, &value, sizeof(value));
}

void nl_put_u64(struct nl *nl, uint16_t type, uint64_t value)
{
	nl_put(nl, type, &value, sizeof(value));
}

void nl_put_text(struct nl *nl, uint16_t type, const char *text)
{
	nl_put(nl, type, text, strlen(text) + 1);
}

size_t nl_nest(struct nl *nl, uint16_t type)
{
	size_t at = NLMSG_ALIGN(request_of(nl)->nlmsg_len);

	nl_put(nl, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void nl_nest_end(struct nl *nl, size_t nest)
{
	((struct nlattr *)(nl->request + nest))->nla_len = request_of(nl)->nlmsg_len - nest;
}

void nl_apply(struct nl *nl, unsigned int fabric, unsigned int slice)
{
	nl_begin(nl, MORPH_CMD_CIRCUIT_APPLY, 0);
	nl_put_u32(nl, MORPH_A_TXN_FABRIC, fabric);
	nl_put_u32(nl, MORPH_A_TXN_SLICE, slice);
}

void nl_put_add(struct nl *nl, unsigned int src, unsigned int dst)
{
	size_t nest = nl_nest(nl, MORPH_A_TXN_CHANGE);

	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_ADD);
	nl_put_u32(nl, MORPH_A_CHANGE_SRC_RANK, src);
	nl_put_u32(nl, MORPH_A_CHANGE_DST_RANK, dst);
	nl_nest_end(nl, nest);
}

void nl_put_token(struct nl *nl, uint32_t controller, uint64_t epoch)
{
	nl_put_u32(nl, MORPH_A_TXN_CONTROLLER, controller);
	nl_put_u64(nl, MORPH_A_TXN_EPOCH, epoch);
}

int nl_control(struct nl *nl, uint8_t cmd, unsigned int fabric, uint32_t controller, uint64_t epoch,
	       uint64_t lease_ns)
{
	nl_begin(nl, cmd, 0);
	nl_put_u32(nl, MORPH_A_CONTROLLER_FABRIC, fabric);
	nl_put_u32(nl, MORPH_A_CONTROLLER_ID, controller);
	nl_put_u64(nl, MORPH_A_CONTROLLER_EPOCH, epoch);
	nl_put_u64(nl, MORPH_A_CONTROLLER_LEASE_NS, lease_ns);
	return nl_do(nl);
}

void nl_on_part(struct nl *nl, uint8_t cmd, unsigned int fabric, unsigned int part,
		unsigned int index)
{
	nl_begin(nl, cmd, 0);
	nl_put_u32(nl, MORPH_A_HARDWARE_FABRIC, fabric);
	nl_put_u32(nl, MORPH_A_HARDWARE_PART, part);
	nl_put_u32(nl, MORPH_A_HARDWARE_INDEX, index);
}

/* -------------------------------------------------------------------- read */

static const struct nlattr *scan(const unsigned char *at, const unsigned char *end, uint16_t type,
				 const struct nlattr *after)
{
	while (at + NLA_HDRLEN <= end) {
		const struct nlattr *attr = (const struct nlattr *)at;

		if (attr->nla_len < NLA_HDRLEN || at + attr->nla_len > end)
			return NULL;
		if ((attr->nla_type & NLA_TYPE_MASK) == type && attr > after)
			return attr;
		at += NLA_ALIGN(attr->nla_len);
	}
	return NULL;
}

const struct nlattr *nl_next(const struct nlmsghdr *message, uint16_t type,
			     const struct nlattr *from)
{
	const unsigned char *start = NLMSG_DATA(message);

	return scan(start + GENL_HDRLEN, (const unsigned char *)message + message->nlmsg_len, type,
		    from);
}

const struct nlattr *nl_find(const struct nlmsghdr *message, uint16_t type)
{
	return nl_next(message, type, NULL);
}

const struct nlattr *nl_find_nested(const struct nlattr *nest, uint16_t type)
{
	const unsigned char *start = (const unsigned char *)nest;

	return nest ? scan(start + NLA_HDRLEN, start + nest->nla_len, type, NULL) : NULL;
}

unsigned int nl_count(const struct nlmsghdr *message, uint16_t type)
{
	const struct nlattr *attr = NULL;
	unsigned int count = 0;

	while ((attr = nl_next(message, type, attr)))
		count++;
	return count;
}

static bool get(const struct nlattr *attr, void *value, size_t bytes)
{
	if (!attr || attr->nla_len != NLA_HDRLEN + bytes)
		return false;
	memcpy(value, (const unsigned char *)attr + NLA_HDRLEN, bytes);
	return true;
}

uint32_t nl_get_u32(const struct nlattr *attr)
{
	uint32_t value;

	return get(attr, &value, sizeof(value)) ? value : UINT32_MAX;
}

uint64_t nl_get_u64(const struct nlattr *attr)
{
	uint64_t value;

	return get(attr, &value, sizeof(value)) ? value : UINT64_MAX;
}

const char *nl_get_text(const struct nlattr *attr)
{
	return attr ? (const char *)attr + NLA_HDRLEN : "";
}

static void put_number(struct nl *nl, const char *place, long long value)
{
	char rest[sizeof(nl->text)];
	char *at;

	while ((at = strstr(nl->text, place))) {
		snprintf(rest, sizeof(rest), "%s", at + strlen(place));
		snprintf(at, nl->text + sizeof(nl->text) - at, "%lld%s", value, rest);
	}
}

/* Read the numbers of a refusal, and put them into its sentence. */
static void read_cookie(struct nl *nl, const struct nlattr *attr)
{
	nl->cookie_bytes = attr ? attr->nla_len - NLA_HDRLEN : 0;
	if (!get(attr, &nl->cookie, sizeof(nl->cookie)))
		return;
	put_number(nl, "{index}", nl->cookie.index);
	put_number(nl, "{have}", nl->cookie.have);
	put_number(nl, "{need}", nl->cookie.need);
	put_number(nl, "{last}", nl->cookie.have - 1LL);
}

/* Read the kernel's extended acknowledgement. */
static void read_extack(struct nl *nl, const struct nlmsghdr *message, size_t skip)
{
	const unsigned char *at = (const unsigned char *)NLMSG_DATA(message) + skip;
	const unsigned char *end = (const unsigned char *)message + message->nlmsg_len;
	const struct nlattr *offset = scan(at, end, NLMSGERR_ATTR_OFFS, NULL);
	const struct nlattr *text = scan(at, end, NLMSGERR_ATTR_MSG, NULL);
	const struct nlattr *missing = scan(at, end, NLMSGERR_ATTR_MISS_TYPE, NULL);

	if (text)
		snprintf(nl->text, sizeof(nl->text), "%s", nl_get_text(text));
	snprintf(nl->fixed, sizeof(nl->fixed), "%s", nl->text);
	read_cookie(nl, scan(at, end, NLMSGERR_ATTR_COOKIE, NULL));
	if (missing)
		nl->missing = nl_get_u32(missing);
	if (offset && nl_get_u32(offset) < NL_ROOM - NLA_HDRLEN)
		nl->bad_attr = ((struct nlattr *)(nl->request + nl_get_u32(offset)))->nla_type &
			       NLA_TYPE_MASK;
}

/* Return the errno of an acknowledgement or an error. */
static int read_error(struct nl *nl, const struct nlmsghdr *message)
{
	const struct nlmsgerr *error = NLMSG_DATA(message);
	size_t skip = sizeof(*error);

	if (!(message->nlmsg_flags & NLM_F_ACK_TLVS))
		return -error->error;
	if (!(message->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(error->msg.nlmsg_len) - NLMSG_HDRLEN;
	read_extack(nl, message, skip);
	return -error->error;
}

static void forget(struct nl *nl)
{
	memset(nl->reply, 0, sizeof(struct nlmsghdr));
	nl->text[0] = '\0';
	nl->fixed[0] = '\0';
	memset(&nl->cookie, 0, sizeof(nl->cookie));
	nl->cookie_bytes = 0;
	nl->bad_attr = -1;
	nl->missing = -1;
	nl->interrupted = false;
	nl->messages = 0;
	nl->echoed = 0;
}

static int send_request(struct nl *nl)
{
	forget(nl);
	return send(nl->fd, nl->request, request_of(nl)->nlmsg_len, 0) < 0 ? errno : 0;
}

static bool is_notification(const struct nl *nl, const struct nlmsghdr *message)
{
	return message->nlmsg_type == nl->family &&
	       nl_cmd(message) != ((struct genlmsghdr *)NLMSG_DATA(nl->request))->cmd;
}

static void keep(struct nl *nl, const struct nlmsghdr *message)
{
	if (is_notification(nl, message))
		nl->echoed = nl_cmd(message);
	else if (!nl_reply(nl)->nlmsg_len)
		memcpy(nl->reply, message, message->nlmsg_len);
}

int nl_do(struct nl *nl)
{
	static unsigned char buffer[NL_ROOM];
	struct nlmsghdr *message;
	ssize_t bytes;
	int error = send_request(nl);

	while (!error) {
		bytes = recv(nl->fd, buffer, nl->room, 0);
		if (bytes < 0)
			return errno;
		for (message = (struct nlmsghdr *)buffer; NLMSG_OK(message, bytes);
		     message = NLMSG_NEXT(message, bytes)) {
			if (message->nlmsg_seq != nl->seq)
				continue; /* id of the group */
			if (message->nlmsg_type == NLMSG_ERROR)
				return read_error(nl, message);
			keep(nl, message);
		}
	}
	return error;
}

int nl_outcome(struct nl *nl, unsigned int fabric, unsigned int txn)
{
	int error;

	nl_begin(nl, MORPH_CMD_TXN_GET, 0);
	nl_put_u32(nl, MORPH_A_TXN_FABRIC, fabric);
	nl_put_u32(nl, MORPH_A_TXN_ID, txn);
	error = nl_do(nl);
	return error ? -error : (int)REPLY_U32(nl, MORPH_A_TXN_OUTCOME);
}

int nl_wait_outcome(struct nl *nl, unsigned int fabric, unsigned int txn)
{
	long long until = now_ms() + PATIENCE_MS;
	int outcome;

	while ((outcome = nl_outcome(nl, fabric, txn)) == MORPH_OUTCOME_RUNNING && now_ms() < until)
		usleep(1000);
	return outcome;
}

int nl_dump_begin(struct nl *nl)
{
	request_of(nl)->nlmsg_flags |= NLM_F_DUMP;
	return send_request(nl);
}

int nl_dump_read(struct nl *nl, size_t room, nl_object_fn object, void *context, bool *more)
{
	static unsigned char buffer[NL_ROOM];
	struct nlmsghdr *message;
	ssize_t bytes;

	*more = false;
	bytes = recv(nl->fd, buffer, room, MSG_TRUNC);
	if (bytes < 0)
		return errno;
	if ((size_t)bytes > room)
		return EMSGSIZE;
	for (message = (struct nlmsghdr *)buffer; NLMSG_OK(message, bytes);
	     message = NLMSG_NEXT(message, bytes)) {
		nl->interrupted |= message->nlmsg_flags & NLM_F_DUMP_INTR;
		if (message->nlmsg_type == NLMSG_ERROR)
			return read_error(nl, message);
		if (message->nlmsg_type == NLMSG_DONE) {
			read_extack(nl, message, sizeof(int));
			return -*(int *)NLMSG_DATA(message);
		}
		nl->messages++;
		if (object)
			object(message, context);
	}
	*more = true;
	return 0;
}

int nl_dump(struct nl *nl, nl_object_fn object, void *context)
{
	bool more = true;
	int error = nl_dump_begin(nl);

	while (!error && more)
		error = nl_dump_read(nl, NL_ROOM, object, context, &more);
	return error;
}

/* ------------------------------------------------------------- open, listen */

static void find_group(struct nl *nl)
{
	const struct nlattr *groups = nl_find(nl_reply(nl), CTRL_ATTR_MCAST_GROUPS);
	const unsigned char *at, *end;
	const struct nlattr *group;

	if (!groups)
		return;
	end = (const unsigned char *)groups + groups->nla_len;
	for (at = (const unsigned char *)groups + NLA_HDRLEN; at < end;
	     at += NLA_ALIGN(group->nla_len)) {
		group = (const struct nlattr *)at;
		if (!strcmp(nl_get_text(nl_find_nested(group, CTRL_ATTR_MCAST_GRP_NAME)),
			    MORPH_MCGRP_MONITOR))
			nl->group = nl_get_u32(nl_find_nested(group, CTRL_ATTR_MCAST_GRP_ID));
	}
}

int nl_open(struct nl *nl)
{
	struct timeval patience = { .tv_sec = 20 };
	uint16_t family;
	int on = 1, error;

	memset(nl, 0, sizeof(*nl));
	nl->room = CONTROL_ROOM;
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0)
		return errno;
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	begin(nl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	nl_put_text(nl, CTRL_ATTR_FAMILY_NAME, MORPH_FAMILY_NAME);
	error = nl_do(nl);
	if (error)
		return error;
	if (!get(nl_find(nl_reply(nl), CTRL_ATTR_FAMILY_ID), &family, sizeof(family)))
		return EPROTO;
	nl->family = family;
	find_group(nl);
	nl->room = NL_ROOM;
	return 0;
}

void nl_close(struct nl *nl)
{
	close(nl->fd);
}

int nl_join(struct nl *nl)
{
	return setsockopt(nl->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &nl->group,
			  sizeof(nl->group)) ?
		       errno :
		       0;
}

bool nl_wait(struct nl *nl, uint8_t cmd, int timeout_ms)
{
	struct pollfd wait = { .fd = nl->fd, .events = POLLIN };
	const struct nlmsghdr *message = nl_reply(nl);

	while (poll(&wait, 1, timeout_ms) == 1) {
		if (recv(nl->fd, nl->reply, sizeof(nl->reply), 0) < 0)
			return false;
		if (message->nlmsg_type == nl->family && nl_cmd(message) == cmd)
			return true;
	}
	return false;
}

/* Start a process that performs one act when the pipe is closed, and exits with the errno. */
static pid_t rival(const struct sim *sim, const int start[2], nl_act_fn act, unsigned int which)
{
	static struct nl nl;
	pid_t pid = fork();
	char nothing;

	if (pid)
		return pid;
	close(start[1]);
	if (nl_open(&nl))
		_exit(255);
	while (read(start[0], &nothing, 1) > 0)
		;
	_exit(act(&nl, sim, which));
}

int nl_race(const struct sim *sim, unsigned int count, nl_act_fn act, int refused)
{
	int start[2], status, won = 0;
	unsigned int i;

	if (pipe(start))
		return -1;
	for (i = 0; i < count; i++)
		if (rival(sim, start, act, i) < 0)
			return -1;
	close(start[0]);
	close(start[1]);
	for (i = 0; i < count; i++) {
		if (wait(&status) < 0 || !WIFEXITED(status))
			return -1;
		if (!WEXITSTATUS(status))
			won++;
		else if (WEXITSTATUS(status) != refused)
			return -WEXITSTATUS(status);
	}
	return won;
}
