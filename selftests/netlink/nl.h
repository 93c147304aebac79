/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A generic netlink client for the tests of family "morph": raw sockets, so that a
 * test can say what no library would let it say. One request at a time.
 */
#ifndef SELFTESTS_NETLINK_NL_H
#define SELFTESTS_NETLINK_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/genetlink.h>
#include <linux/morph_netlink.h>
#include <linux/netlink.h>

#define NL_ROOM 65536

struct nl {
	int fd;
	uint16_t family;
	uint32_t group; /* of the multicast group "monitor" */
	uint32_t seq;
	size_t room; /* of the buffer that replies are read into */

	/* the request */
	unsigned char request[NL_ROOM];

	/* what came back */
	unsigned char
		reply[NL_ROOM]; /* the first reply that is no notification; its length may be 0 */
	char text[256]; /* the kernel's sentence, or empty */
	int bad_attr; /* type of the attribute that the kernel points at, or -1 */
	int missing; /* type of the attribute that it misses, or -1 */
	bool interrupted; /* some message of the dump carried NLM_F_DUMP_INTR */
	unsigned int messages; /* of the dump */
	uint8_t echoed; /* command of a notification that came with the reply, or 0 */
};

/* Open a socket and find the family: 0 or an errno; ENOENT: there is no such family here. */
int nl_open(struct nl *nl);
void nl_close(struct nl *nl);

/* Begin a request. */
void nl_begin(struct nl *nl, uint8_t cmd, uint16_t flags);
void nl_put(struct nl *nl, uint16_t type, const void *data, size_t bytes);
void nl_put_u8(struct nl *nl, uint16_t type, uint8_t value);
void nl_put_u32(struct nl *nl, uint16_t type, uint32_t value);
void nl_put_u64(struct nl *nl, uint16_t type, uint64_t value);
void nl_put_text(struct nl *nl, uint16_t type, const char *text);
/* Begin a circuit-apply; one of its changes: a circuit between two ranks. */
void nl_apply(struct nl *nl, unsigned int fabric, unsigned int slice);
void nl_put_add(struct nl *nl, unsigned int src, unsigned int dst);
/* On whose behalf a circuit-apply or txn-step is. */
void nl_put_token(struct nl *nl, uint32_t controller, uint64_t epoch);
/* Take or renew control: 0 or an errno. */
int nl_control(struct nl *nl, uint8_t cmd, unsigned int fabric, uint32_t controller, uint64_t epoch,
	       uint64_t lease_ns);
/* Begin a command about a part of the hardware. */
void nl_on_part(struct nl *nl, uint8_t cmd, unsigned int fabric, unsigned int part,
		unsigned int index);
/* Begin a nest, and end it with what nl_nest() returned. */
size_t nl_nest(struct nl *nl, uint16_t type);
void nl_nest_end(struct nl *nl, size_t nest);
struct genlmsghdr *nl_genl(struct nl *nl);

/* Send the request and wait for its acknowledgement: 0 or an errno. */
int nl_do(struct nl *nl);

/* The outcome of a transaction, which is then the reply; or a negative errno. */
int nl_outcome(struct nl *nl, unsigned int fabric, unsigned int txn);
/* The same when it has ended, or patience has: it still runs then. */
int nl_wait_outcome(struct nl *nl, unsigned int fabric, unsigned int txn);

typedef void (*nl_object_fn)(const struct nlmsghdr *message, void *context);

/* Send the request as a dump and hand over each object: 0 or an errno. */
int nl_dump(struct nl *nl, nl_object_fn object, void *context);
/* The same in steps, reading with so small a buffer: more says whether there is more. */
int nl_dump_begin(struct nl *nl);
int nl_dump_read(struct nl *nl, size_t room, nl_object_fn object, void *context, bool *more);

/*
 * An act that so many processes do at once, each of its number: how many did it. The others
 * were refused with that errno; else the answer is negative.
 */
struct sim;
typedef int (*nl_act_fn)(struct nl *nl, const struct sim *sim, unsigned int which);
int nl_race(const struct sim *sim, unsigned int count, nl_act_fn act, int refused);

/* Join "monitor": 0 or an errno. */
int nl_join(struct nl *nl);
/* Wait for a notification of this kind: false when none came. It is then the reply. */
bool nl_wait(struct nl *nl, uint8_t cmd, int timeout_ms);

/* Attributes of a message. first: NULL for the first of that type. */
const struct nlattr *nl_find(const struct nlmsghdr *message, uint16_t type);
const struct nlattr *nl_next(const struct nlmsghdr *message, uint16_t type,
			     const struct nlattr *from);
const struct nlattr *nl_find_nested(const struct nlattr *nest, uint16_t type);
unsigned int nl_count(const struct nlmsghdr *message, uint16_t type);
uint32_t nl_get_u32(const struct nlattr *attr); /* 0xffffffff: there is none, or it is no u32 */
uint64_t nl_get_u64(const struct nlattr *attr); /* all ones: the same */
const char *nl_get_text(const struct nlattr *attr);

static inline const struct nlmsghdr *nl_reply(const struct nl *nl)
{
	return (const struct nlmsghdr *)nl->reply;
}

static inline uint8_t nl_cmd(const struct nlmsghdr *message)
{
	return ((const struct genlmsghdr *)NLMSG_DATA(message))->cmd;
}

/* A u32 and a u64 of the reply. */
#define REPLY_U32(nl, type) nl_get_u32(nl_find(nl_reply(nl), type))
#define REPLY_U64(nl, type) nl_get_u64(nl_find(nl_reply(nl), type))

#endif /* SELFTESTS_NETLINK_NL_H */
