// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests of rtnetlink for devices of the kind "morph". */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/morph_net.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "morphctl/command/command.h"
#include "morphctl/net/net.h"

#define KIND "morph"
#define ROOM 65536 /* of an answer; the kernel sends at most 32 KiB at once */

struct message {
	struct nlmsghdr head;
	struct ifinfomsg info;
	char attributes[256];
};

static struct rtattr *end_of(struct message *message)
{
	return (void *)((char *)message + NLMSG_ALIGN(message->head.nlmsg_len));
}

static struct rtattr *add(struct message *message, unsigned short type, const void *data,
			  size_t bytes)
{
	struct rtattr *attribute = end_of(message);

	attribute->rta_type = type;
	attribute->rta_len = (unsigned short)RTA_LENGTH(bytes);
	if (bytes)
		memcpy(RTA_DATA(attribute), data, bytes);
	message->head.nlmsg_len =
		(uint32_t)(NLMSG_ALIGN(message->head.nlmsg_len) + RTA_SPACE(bytes));
	return attribute;
}

static void close_nest(struct message *message, struct rtattr *nest)
{
	nest->rta_len = (unsigned short)((char *)end_of(message) - (char *)nest);
}

static void begin(struct message *message, unsigned short type, unsigned int flags)
{
	memset(message, 0, sizeof(*message));
	message->head.nlmsg_len = NLMSG_LENGTH(sizeof(message->info));
	message->head.nlmsg_type = type;
	message->head.nlmsg_flags = (unsigned short)(NLM_F_REQUEST | flags);
}

/* ---------------------------------------------------------------- answers */

/* Copy the sentence of an answer, which follows the error. */
static void read_text(const struct nlmsghdr *head, struct link_answer *answer)
{
	const struct nlmsgerr *error = NLMSG_DATA(head);
	size_t offset = NLMSG_LENGTH(sizeof(*error)), left;
	const struct rtattr *attribute;

	if (!(head->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(head->nlmsg_flags & NLM_F_CAPPED))
		offset += NLMSG_ALIGN(error->msg.nlmsg_len) - sizeof(error->msg);
	if (offset > head->nlmsg_len)
		return;
	left = head->nlmsg_len - offset;
	for (attribute = (const void *)((const char *)head + offset); RTA_OK(attribute, left);
	     attribute = RTA_NEXT(attribute, left))
		if (attribute->rta_type == NLMSGERR_ATTR_MSG)
			snprintf(answer->text, sizeof(answer->text), "%.*s",
				 (int)RTA_PAYLOAD(attribute), (const char *)RTA_DATA(attribute));
}

typedef void link_fn(const struct nlmsghdr *head, void *context);

/* Send a request and read its answer; each record of a dump goes to @each. */
static struct link_answer ask(struct message *message, link_fn *each, void *context)
{
	struct link_answer answer = { 0 };
	const struct nlmsghdr *head;
	bool done = false;
	char *buffer;
	ssize_t got;
	size_t left;
	int file, on = 1;

	file = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (file < 0) {
		answer.error = -errno;
		return answer;
	}
	/* Without sentences, the number of the error remains. */
	(void)setsockopt(file, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	buffer = needed(malloc(ROOM));
	if (send(file, message, message->head.nlmsg_len, 0) < 0)
		answer.error = -errno;
	while (!answer.error && !done) {
		got = recv(file, buffer, ROOM, 0);
		if (got < 0) {
			answer.error = -errno;
			break;
		}
		left = (size_t)got;
		for (head = (void *)buffer; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
			if (head->nlmsg_type == NLMSG_ERROR) {
				answer.error = ((const struct nlmsgerr *)NLMSG_DATA(head))->error;
				read_text(head, &answer);
			}
			done |= head->nlmsg_type == NLMSG_ERROR || head->nlmsg_type == NLMSG_DONE;
			if (each && head->nlmsg_type == RTM_NEWLINK)
				each(head, context);
		}
	}
	free(buffer);
	close(file);
	return answer;
}

/* --------------------------------------------------------------- requests */

struct link_answer link_create(uint32_t fabric, uint32_t slice, uint32_t rank)
{
	struct message message;
	struct rtattr *info, *data;
	char name[IFNAMSIZ];
	int length;

	begin(&message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
	length = snprintf(name, sizeof(name), "morph%u.%u", slice, rank);
	/* The kernel chooses a name if this one is too long. */
	if (length < (int)sizeof(name))
		add(&message, IFLA_IFNAME, name, (size_t)length + 1);
	info = add(&message, IFLA_LINKINFO, NULL, 0);
	add(&message, IFLA_INFO_KIND, KIND, sizeof(KIND));
	data = add(&message, IFLA_INFO_DATA, NULL, 0);
	add(&message, IFLA_MORPH_FABRIC, &fabric, sizeof(fabric));
	add(&message, IFLA_MORPH_SLICE, &slice, sizeof(slice));
	add(&message, IFLA_MORPH_RANK, &rank, sizeof(rank));
	close_nest(&message, data);
	close_nest(&message, info);
	return ask(&message, NULL, NULL);
}

struct link_answer link_delete(int index)
{
	struct message message;

	begin(&message, RTM_DELLINK, NLM_F_ACK);
	message.info.ifi_index = index;
	return ask(&message, NULL, NULL);
}

/* Find an attribute in a range of attributes, or return NULL. */
static const struct rtattr *find(const void *from, size_t bytes, unsigned short type)
{
	const struct rtattr *attribute;

	for (attribute = from; RTA_OK(attribute, bytes); attribute = RTA_NEXT(attribute, bytes))
		if ((attribute->rta_type & NLA_TYPE_MASK) == type)
			return attribute;
	return NULL;
}

static const struct rtattr *find_in(const struct rtattr *nest, unsigned short type)
{
	return nest ? find(RTA_DATA(nest), RTA_PAYLOAD(nest), type) : NULL;
}

static bool has_number(const struct rtattr *data, unsigned short type, uint32_t number)
{
	const struct rtattr *attribute = find_in(data, type);
	uint32_t found;

	if (!attribute || RTA_PAYLOAD(attribute) != sizeof(found))
		return false;
	memcpy(&found, RTA_DATA(attribute), sizeof(found));
	return found == number;
}

struct search {
	uint32_t fabric, slice;
	struct links *links;
};

static void collect(const struct nlmsghdr *head, void *context)
{
	struct search *search = context;
	const struct ifinfomsg *info = NLMSG_DATA(head);
	const struct rtattr *link, *kind, *data;
	struct links *links = search->links;

	link = find(IFLA_RTA(info), IFLA_PAYLOAD(head), IFLA_LINKINFO);
	kind = find_in(link, IFLA_INFO_KIND);
	data = find_in(link, IFLA_INFO_DATA);
	if (!kind || RTA_PAYLOAD(kind) < strlen(KIND) ||
	    strncmp(RTA_DATA(kind), KIND, RTA_PAYLOAD(kind)) ||
	    !has_number(data, IFLA_MORPH_FABRIC, search->fabric) ||
	    !has_number(data, IFLA_MORPH_SLICE, search->slice))
		return;
	links->indices =
		needed(realloc(links->indices, (links->count + 1) * sizeof(*links->indices)));
	links->indices[links->count++] = info->ifi_index;
}

struct link_answer link_list(uint32_t fabric, uint32_t slice, struct links *links)
{
	struct search search = { .fabric = fabric, .slice = slice, .links = links };
	struct message message;

	*links = (struct links){ 0 };
	begin(&message, RTM_GETLINK, NLM_F_DUMP);
	return ask(&message, collect, &search);
}
