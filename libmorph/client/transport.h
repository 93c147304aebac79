/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All requests of libmorph to a kernel. There are three transports: the real one, one that records
 * the real one, and one that replays a recording.
 */
#ifndef LM_TRANSPORT_H
#define LM_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lm_transport;

/*
 * Handles are fds, so that a caller's poll() works on them. Calls return a negative errno on
 * failure. The caller frees returned texts with free().
 */
struct lm_transport_ops {
	int (*open)(struct lm_transport *transport, const char *path);
	int (*adopt)(struct lm_transport *transport, int fd); /* a duplicate */
	int (*ioctl)(struct lm_transport *transport, int fd, unsigned long command, void *argument);
	ssize_t (*read)(struct lm_transport *transport, int fd, void *buffer, size_t bytes);
	int (*poll)(struct lm_transport *transport, int fd, int64_t timeout_ns);
	void (*close)(struct lm_transport *transport, int fd);
	/* Memory that is shared with the kernel; @offset selects it. */
	int (*map)(struct lm_transport *transport, int fd, uint64_t offset, size_t bytes,
		   bool write, void **memory);
	void (*unmap)(struct lm_transport *transport, void *memory, size_t bytes);

	/* A generic netlink socket; with @buffer_bytes it is non-blocking, for notifications. */
	int (*netlink_open)(struct lm_transport *transport, uint32_t buffer_bytes);
	int (*netlink_join)(struct lm_transport *transport, int fd, uint32_t group);
	int (*netlink_send)(struct lm_transport *transport, int fd, const void *message,
			    size_t bytes);
	/* One datagram; *buffer grows as needed. */
	ssize_t (*netlink_receive)(struct lm_transport *transport, int fd, void **buffer,
				   size_t *room);

	/* Lines "ACTION KIND NUMBER PATH\n". */
	int (*devices)(struct lm_transport *transport, char **text);
	int (*watch_open)(struct lm_transport *transport);
	int (*watch_read)(struct lm_transport *transport, int fd, char **text);

	void (*free)(struct lm_transport *transport);
};

struct lm_transport {
	const struct lm_transport_ops *ops;
};

/* Each returns NULL and sets errno on failure. */
struct lm_transport *lm_transport_real(void);
/* Takes @inner, also on failure. */
struct lm_transport *lm_transport_record(struct lm_transport *inner, const char *path);
struct lm_transport *lm_transport_replay(const char *path);

#endif /* LM_TRANSPORT_H */
