/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A fake kernel made of hooks, for tests of the layers above the transport. */
#ifndef FAKE_H
#define FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/genetlink.h>
#include <linux/morph_netlink.h>

#include "faults.h"
#include "internal.h"

#define FAKE_FAMILY 33
#define FAKE_GROUP 7
#define FAKE_QUEUE 64 /* notifications that one read takes */
#define FAKE_ROOM 512 /* datagrams that may wait */

/* A pending datagram, or an error instead. */
struct fake_datagram {
	char *bytes;
	ssize_t length;
};

struct fake {
	struct lm_transport transport;
	int opened;
	int closed;
	int (*ioctl)(struct fake *fake, unsigned long command, void *argument);
	void (*request)(struct fake *fake, const struct nlmsghdr *request);
	struct fake_datagram queue[FAKE_ROOM];
	int first, last;
	char events[8192];
	ssize_t events_bytes; /* or a negative errno */
	int poll_events; /* in the place of POLLIN when something waits; 0: that */
	const char *devices;
	/* the answer to who the family is, when it shall be another */
	void (*controller)(struct fake *fake, const struct nlmsghdr *request);
	int requests; /* the socket that was opened last for requests */
	bool dumping; /* a dump's end is still to be received from it */
	/* Memory that is shared with the program, initially zero. Returns 0 or a negative errno. */
	int (*map)(struct fake *fake, uint64_t offset, size_t bytes, void *memory);
	int mapped;
	bool module; /* the module is loaded: its directory in sysfs exists */
	int state; /* for hooks */
	const struct nlmsghdr *request_now;
};

/* The fake. The transport that it is attached to owns it. */
struct fake *fake_new(void);

/* Create a context with @transport as its kernel. */
struct morph_ctx *fake_ctx(struct lm_transport *transport);

/* Queue a message in a datagram of its own, and free it. @seq 0: a notification. */
void fake_queue(struct fake *fake, struct nl_msg *message, uint32_t seq);
void fake_queue_error(struct fake *fake, int error);

/* Allocate a message of the family for the caller to fill. */
struct nl_msg *fake_message(uint32_t command, uint16_t flags);

/* An accelerator with an attribute that the library does not know. */
struct nl_msg *fake_accelerator(uint32_t id, uint64_t seq, uint16_t flags);

/* Answer the request for the family's number. */
void fake_answer_family(struct fake *fake);

/* Answers to the current request: acknowledgement, end of a dump, refusal. */
void fake_ack(struct fake *fake);
void fake_done(struct fake *fake);
void fake_refuse(struct fake *fake, int error, const char *text, uint32_t offset, uint32_t missing,
		 uint32_t nest);

/* Offset of the first attribute @number in the request; with @inner, of the attribute inside it. */
uint32_t fake_offset(const struct nlmsghdr *request, int number, int inner);

/* The command of a request. */
uint32_t fake_command(const struct nlmsghdr *request);

/* All attributes of an object, as text that the caller frees. */
char *fake_print(const struct morph_object *object);

/* A member of the last error. */
#define ERROR_OF(ctx, field)                       \
	({                                         \
		MORPH_OPTS(morph_error, error_of); \
		morph_error_get(ctx, &error_of);   \
		error_of.field;                    \
	})

/* Set options of a transaction, as designated initialisers. They replace earlier options. */
#define SET_TXN(txn, ...)                                                \
	do {                                                             \
		MORPH_OPTS(morph_txn_opts, set_opts, __VA_ARGS__);       \
		assert_int_equal(morph_txn_set_opts(txn, &set_opts), 0); \
	} while (0)

#endif /* FAKE_H */
