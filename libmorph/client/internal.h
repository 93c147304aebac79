/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internal functions that the files of the client library share. Names begin with lm_ so that the
 * static library takes no name from a program.
 */
#ifndef LM_INTERNAL_H
#define LM_INTERNAL_H

#include "../internal/client.h"
#include "../util/base.h"
#include "../util/request.h"
#include "schema.h"
#include "transport.h"

#define LM_DEV_DIR "/dev/morph"
#define LM_MODULE_DIR "/sys/module/morph"
#define LM_MAX_CHANGES 1024 /* limit of MORPH_TXN_RUN */
#define LM_MAX_MESSAGE_BYTES (192u * 1024) /* below the limit of any socket */

/* ---------------------------------------------------------------- contexts */

struct lm_error {
	int code; /* positive errno */
	uint32_t reason;
	uint32_t part;
	uint32_t index;
	int64_t have;
	int64_t need;
	uint32_t planes; /* number of the fabric's planes, for the names of ports; 0: unknown */
	char text[768];
	char kernel[256]; /* the kernel's sentence */
	char attribute[96]; /* the attribute it objects to */
};

struct morph_ctx {
	struct lm_error error;
	struct lm_transport *transport;
	uint32_t dump_retries;
	int netlink; /* handle of the socket for requests, -1: not open */
	uint16_t family; /* of netlink; 0: not resolved yet */
	uint32_t monitor_group;
	uint32_t seq; /* of the last request */
	void *message; /* receive buffer */
	size_t message_bytes;
};

/* As morph_error_set(), but keeps the kernel's answer since lm_error_clear(). */
int lm_fail_kernel(struct morph_ctx *ctx, int code, const char *format, va_list arguments);

/* The name of a part in an error: its index, or ACCELERATOR.PLANE of a port. */
struct lm_part_name {
	char text[32];
};

bool lm_names_port(const struct lm_error *error);
struct lm_part_name lm_part_name(const struct lm_error *error, int64_t index);

/* Append to an error's text. Text that does not fit is cut. */
void lm_error_add(struct lm_error *error, const char *format, ...) LM_PRINTF(2, 3);

/* Check flags, planes and guides of a circuit's copied options: 0 or a noted -EINVAL. */
int lm_circuit_opts_check(struct morph_ctx *ctx, const struct morph_circuit_opts *opts);

/* ----------------------------------------------------------------- objects */

struct morph_object *lm_object_new(uint32_t type, const char *command);

/* Each returns 0 or -ENOMEM; @number is a netlink number or one of attrs_gen.h. */
int lm_put_uint(struct morph_object *object, uint32_t number, uint64_t value);
int lm_put_sint(struct morph_object *object, uint32_t number, int64_t value);
int lm_put_text(struct morph_object *object, uint32_t number, const char *text, size_t room);
int lm_put_uuid(struct morph_object *object, uint32_t number, const void *bytes);
/* Takes @inner, also on failure; NULL is a failure. */
int lm_put_object(struct morph_object *object, uint32_t number, struct morph_object *inner);

/* Append the lists of values in @more to those of @object: 0 or -ENOMEM. */
int lm_object_absorb(struct morph_object *object, const struct morph_object *more);

struct morph_list *lm_list_new(void);
/* Takes @object, also on failure; NULL is a failure. */
int lm_list_add(struct morph_list *list, struct morph_object *object);
/* Take the last object out of a list. */
struct morph_object *lm_list_pop(struct morph_list *list);
/* Join adjacent parts of one object that did not fit into one message. */
int lm_list_join(struct morph_list *list);
void lm_list_clear(struct morph_list *list);
void lm_list_set_seq(struct morph_list *list, uint64_t seq);
void lm_list_sort(struct morph_list *list,
		  int (*compare)(const struct morph_object *a, const struct morph_object *b));

bool lm_uuid_parse(const char *text, uint8_t bytes[MORPH_UUID_BYTES]);

/* uapi structures to objects; NULL when out of memory. */
struct morph_object *lm_from_fabric(const struct morph_fabric_info *info);
struct morph_object *lm_from_accelerator(const void *entry, uint32_t fabric, uint64_t seq);
struct morph_object *lm_from_guide(const void *entry, uint32_t fabric, uint64_t seq);
struct morph_object *lm_from_element(const void *entry, uint32_t fabric, uint64_t seq);
struct morph_object *lm_from_edge(const void *entry, uint32_t fabric, uint64_t seq);
/* @info's arrays hold as many entries as their counts say, or their ptr is 0. */
struct morph_object *lm_from_slice(const struct morph_slice_info *info, uint32_t fabric);
struct morph_object *lm_from_circuit(const struct morph_circuit_info *info, uint32_t fabric,
				     uint32_t slice);
struct morph_object *lm_from_path(const struct morph_circuit_path *path, uint32_t fabric,
				  uint32_t slice);
struct morph_object *lm_from_event(const struct morph_event *event, uint32_t fabric);
struct morph_object *lm_from_times(const struct morph_times *times);
struct morph_object *lm_from_run(const struct morph_txn_run *run, uint32_t fabric, uint32_t slice,
				 int error);
struct morph_object *lm_from_step(const struct morph_txn_step *step, uint32_t fabric,
				  uint32_t slice, int error);
/* @info's array holds as many steps as its count says, or its ptr is 0. */
struct morph_object *lm_from_schedule(const struct morph_schedule_info *info, uint32_t fabric,
				      uint32_t slice);

/* ----------------------------------------------------------------- devices */

struct morph_fabric {
	struct morph_ctx *ctx;
	int fd;
	uint32_t number;
};

struct morph_slice {
	struct morph_ctx *ctx;
	int fd;
	uint32_t fabric;
	uint32_t number;
};

struct morph_txn {
	struct morph_ctx *ctx;
	struct morph_change *changes; /* guides.ptr points to memory of the transaction */
	uint32_t count;
	uint32_t room;
	uint32_t flags; /* MORPH_TXN_* */
	uint64_t cookie;
	uint64_t generation;
	uint64_t lease_ns;
	uint32_t profile_checksum; /* 0: not stated */
	uint32_t controller; /* on whose behalf, over netlink; 0: none */
	uint64_t epoch;
};

/*
 * Run a command on a device. @argument begins with struct morph_head, whose size and detail are set
 * here. The caller has zeroed it and set its flags. On failure the context has the sentence of
 * @format, followed by the kernel's.
 */
int lm_ioctl(struct morph_ctx *ctx, int fd, unsigned long command, void *argument, size_t size,
	     const char *format, ...) LM_PRINTF(6, 7);

/* Wait until a handle is readable: 1, 0 or a negative errno. */
int lm_wait(struct morph_ctx *ctx, int fd, int64_t timeout_ns, const char *what);

/* CLOCK_MONOTONIC. */
int64_t lm_now_ns(void);

/* Yield to other threads before the next look at shared memory. */
void lm_pause(void);

/* One line of lm_transport_ops.devices as an object; NULL when out of memory. */
struct morph_object *lm_device_parse(const char *line);

/*
 * Whether an error is due to the caller, so that every other device would fail too. A search over
 * devices then ends.
 */
bool lm_is_ours(int error);

/* Parse a number. False if the text contains anything else. */
bool lm_number(const char *text, uint32_t *value);
/* The rest of "name:NAME", which is a name even if it reads as a number; NULL: no such prefix. */
const char *lm_only_name(const char *which);
/* Whether a program may take the name for a number: decimal, octal or hexadecimal, with a sign. */
bool lm_reads_as_number(const char *name);

/* 0, or a noted -EINVAL if the request states neither a number of accelerators nor a list. */
int lm_request_check(const struct morph_request *request);

/*
 * The number of leading changes that fit into one transaction of the kernel, and into one message:
 * all, or at least 1.
 */
uint32_t lm_txn_front(const struct morph_txn *txn);
int lm_txn_check(const struct morph_txn *txn);

/* ---------------------------------------------------- own.c: without netlink */

/* @type: MORPH_OBJECT_SLICE or MORPH_OBJECT_CIRCUIT, for which @parent is the slice */
int lm_own_list(struct morph_ctx *ctx, uint32_t type, uint32_t fabric, uint32_t parent,
		struct morph_list **out);
int lm_own_get(struct morph_ctx *ctx, uint32_t type, uint32_t fabric, uint32_t parent, uint32_t id,
	       struct morph_object **out);
/* As morph_slice_check(), also with a circuit of @lanes from each rank to the next. 0: one lane. */
int lm_slice_check_ring(struct morph_fabric *fabric, const struct morph_request *request,
			uint32_t lanes);
int lm_own_why_not(struct morph_ctx *ctx, uint32_t fabric, const struct morph_why_not_opts *opts,
		   struct morph_object **out);

/* ----------------------------------------------------------------- netlink */

struct nl_msg;
struct nlmsghdr;

/* Begin a request for @command; @bytes of attributes are expected. NULL: noted failure. */
struct nl_msg *lm_request(struct morph_ctx *ctx, uint32_t command, size_t bytes);

/* Send a request and free it. The object of the reply, if any, goes to @out, which can be NULL. */
int lm_do(struct morph_ctx *ctx, struct nl_msg *request, struct morph_object **out,
	  const char *format, ...) LM_PRINTF(4, 5);

/* Send a dump request and free it. Torn dumps are repeated. */
int lm_dump(struct morph_ctx *ctx, struct nl_msg *request, struct morph_list **out,
	    const char *format, ...) LM_PRINTF(4, 5);

/* Resolve family and group; 0 or a noted failure. */
int lm_netlink_connect(struct morph_ctx *ctx);

/* The object in a message; NULL: of another family (*code 0), or a failure (*code < 0). */
struct morph_object *lm_decode(struct morph_ctx *ctx, const struct nlmsghdr *header, int *code);

/* Turn attributes into values of an object; 0 or a negative errno. */
int lm_decode_attrs(struct morph_object *object, const void *attributes, int bytes);

/*
 * Read the numbers of the family and of its group from the answer of generic netlink's controller.
 */
int lm_family_parse(struct morph_ctx *ctx, const struct nlmsghdr *header);

/* Write the name of the attribute at @offset of a request: "change.src-rank", or "". */
void lm_attr_path(const struct nlmsghdr *request, uint32_t offset, char *text, size_t room);

/*
 * Write the name of attribute @number, which is missing in the nest at offset @nest (0: top level).
 */
void lm_missing_path(const struct nlmsghdr *request, uint32_t nest, uint32_t number, char *text,
		     size_t room);

/*
 * Ask the kernel for the number of planes if the error names a port of this fabric. It keeps the
 * error.
 */
void lm_ask_planes(struct morph_ctx *ctx, uint32_t fabric);

/* Check the verdict of a txn object: 0, or a noted failure with its reason. */
int lm_verdict(struct morph_ctx *ctx, const struct morph_object *txn, const char *format, ...)
	LM_PRINTF(3, 4);

#endif /* LM_INTERNAL_H */
