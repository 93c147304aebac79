/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A generic netlink client for tests of the family "morph". It uses raw sockets, so a test can send
 * invalid messages that no library would send. It handles one request at a time.
 */
#ifndef SELFTESTS_NETLINK_NL_H
#define SELFTESTS_NETLINK_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/genetlink.h>
#include <linux/morph.h>
#include <linux/morph_netlink.h>
#include <linux/netlink.h>

#define NL_ROOM 65536

struct nl {
	int fd;
	uint16_t family;
	uint32_t group; /* id of the multicast group "monitor" */
	uint32_t seq;
	size_t room; /* size of the buffer for replies */

	/* the request */
	unsigned char request[NL_ROOM];

	/* the answer */
	unsigned char reply[NL_ROOM]; /* the first reply except notifications; may be empty */
	char text[256]; /* sentence of the kernel with its numbers, or empty */
	char fixed[256]; /* the same as the kernel sent it */
	struct morph_refusal_cookie cookie; /* numbers of a refusal */
	size_t cookie_bytes; /* length of the kernel's cookie; 0: it sent none */
	int bad_attr; /* type of the attribute that the kernel rejects, or -1 */
	int missing; /* type of the attribute that the kernel misses, or -1 */
	bool interrupted; /* a message of the dump had NLM_F_DUMP_INTR */
	unsigned int messages; /* number of messages of the dump */
	uint8_t echoed; /* command of a notification that came with the reply, or 0 */
};

/* Open a socket and find the family: 0 or an errno; ENOENT: the kernel has no such family. */
int nl_open(struct nl *nl);
void nl_close(struct nl *nl);

/* Begin a request. */
void nl_begin(struct nl *nl, uint8_t cmd, uint16_t flags);
void nl_put(struct nl *nl, uint16_t type, const void *data, size_t bytes);
void nl_put_u8(struct nl *nl, uint16_t type, uint8_t value);
void nl_put_u32(struct nl *nl, uint16_t type, uint32_t value);
void nl_put_u64(struct nl *nl, uint16_t type, uint64_t value);
void nl_put_text(struct nl *nl, uint16_t type, const char *text);
/* Begin a circuit-apply; add one of its changes: a circuit between two ranks. */
void nl_apply(struct nl *nl, unsigned int fabric, unsigned int slice);
void nl_put_add(struct nl *nl, unsigned int src, unsigned int dst);
/* Set the controller of a circuit-apply or txn-step. */
void nl_put_token(struct nl *nl, uint32_t controller, uint64_t epoch);
/* Take or renew control: 0 or an errno. */
int nl_control(struct nl *nl, uint8_t cmd, unsigned int fabric, uint32_t controller, uint64_t epoch,
	       uint64_t lease_ns);
/* Begin a command about a part of the hardware. */
void nl_on_part(struct nl *nl, uint8_t cmd, unsigned int fabric, unsigned int part,
		unsigned int index);
/* Begin a nest; end it with the result of nl_nest(). */
size_t nl_nest(struct nl *nl, uint16_t type);
void nl_nest_end(struct nl *nl, size_t nest);
struct genlmsghdr *nl_genl(struct nl *nl);

/* Send the request and wait for its acknowledgement: 0 or an errno. */
int nl_do(struct nl *nl);

/* Read the outcome of a transaction, which is then the reply; or a negative errno. */
int nl_outcome(struct nl *nl, unsigned int fabric, unsigned int txn);
/* Wait for the end of a transaction and return its outcome. After a timeout it still runs. */
int nl_wait_outcome(struct nl *nl, unsigned int fabric, unsigned int txn);

typedef void (*nl_object_fn)(const struct nlmsghdr *message, void *context);

/* Send the request as a dump and pass each object to the function: 0 or an errno. */
int nl_dump(struct nl *nl, nl_object_fn object, void *context);
/* Dump in steps with a buffer of @room bytes; *more is false after the last step. */
int nl_dump_begin(struct nl *nl);
int nl_dump_read(struct nl *nl, size_t room, nl_object_fn object, void *context, bool *more);

/*
 * Start @count processes that perform an act at once, each with its number. Return the number of
 * successes if all others failed with the errno @refused, otherwise a negative number.
 */
struct sim;
typedef int (*nl_act_fn)(struct nl *nl, const struct sim *sim, unsigned int which);
int nl_race(const struct sim *sim, unsigned int count, nl_act_fn act, int refused);

/* Join the group "monitor": 0 or an errno. */
int nl_join(struct nl *nl);
/* Wait for a notification of this kind, which is then the reply; false after a timeout. */
bool nl_wait(struct nl *nl, uint8_t cmd, int timeout_ms);

/* Find attributes of a message; from = NULL finds the first of that type. */
const struct nlattr *nl_find(const struct nlmsghdr *message, uint16_t type);
const struct nlattr *nl_next(const struct nlmsghdr *message, uint16_t type,
			     const struct nlattr *from);
const struct nlattr *nl_find_nested(const struct nlattr *nest, uint16_t type);
unsigned int nl_count(const struct nlmsghdr *message, uint16_t type);
uint32_t nl_get_u32(const struct nlattr *attr); /* 0xffffffff if @attr is NULL or no u32 */
uint64_t nl_get_u64(const struct nlattr *attr); /* all ones if @attr is NULL or no u64 */
const char *nl_get_text(const struct nlattr *attr);

static inline const struct nlmsghdr *nl_reply(const struct nl *nl)
{
	return (const struct nlmsghdr *)nl->reply;
}

static inline uint8_t nl_cmd(const struct nlmsghdr *message)
{
	return ((const struct genlmsghdr *)NLMSG_DATA(message))->cmd;
}

/* Read a u32 or a u64 of the reply. */
#define REPLY_U32(nl, type) nl_get_u32(nl_find(nl_reply(nl), type))
#define REPLY_U64(nl, type) nl_get_u64(nl_find(nl_reply(nl), type))

#endif /* SELFTESTS_NETLINK_NL_H */
