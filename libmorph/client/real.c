// SPDX-License-Identifier: LGPL-2.1-or-later
/* The real transport: devices, netlink sockets, udev. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <libudev.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include <linux/netlink.h>

#include "internal.h"

#define SUBSYSTEM "morph"
#define FIRST_MESSAGE_BYTES (64u * 1024)
#define SECOND_NS 1000000000LL

/* Data of an fd besides the fd. */
struct behind {
	struct behind *next;
	int fd;
	struct nl_sock *socket;
	struct udev *udev;
	struct udev_monitor *monitor;
};

struct real {
	struct lm_transport transport;
	struct behind *behind;
};

static struct real *real_of(struct lm_transport *transport)
{
	return (struct real *)transport;
}

static struct behind *behind_of(struct lm_transport *transport, int fd)
{
	struct behind *behind = real_of(transport)->behind;

	while (behind && behind->fd != fd)
		behind = behind->next;
	return behind;
}

static void behind_drop(struct behind *behind)
{
	nl_socket_free(behind->socket);
	udev_monitor_unref(behind->monitor);
	udev_unref(behind->udev);
	free(behind);
}

static int behind_keep(struct lm_transport *transport, struct behind *behind)
{
	behind->next = real_of(transport)->behind;
	real_of(transport)->behind = behind;
	return behind->fd;
}

/* ------------------------------------------------------------------ devices */

/* Users with read permission can read the fabric and the slice; the driver refuses changes. */
static int real_open(struct lm_transport *transport, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 && errno == EACCES)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	(void)transport;
	return fd < 0 ? -errno : fd;
}

static int real_adopt(struct lm_transport *transport, int fd)
{
	int mine = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	(void)transport;
	return mine < 0 ? -errno : mine;
}

static int real_ioctl(struct lm_transport *transport, int fd, unsigned long command, void *argument)
{
	(void)transport;
	return ioctl(fd, command, argument) < 0 ? -errno : 0;
}

static int real_poll(struct lm_transport *transport, int fd, int64_t timeout_ns)
{
	struct timespec timeout = {
		.tv_sec = timeout_ns / SECOND_NS,
		.tv_nsec = timeout_ns % SECOND_NS,
	};
	struct pollfd entry = { .fd = fd, .events = POLLIN };
	int ready = ppoll(&entry, 1, timeout_ns < 0 ? NULL : &timeout, NULL);

	(void)transport;
	if (ready < 0)
		return -errno;
	return ready ? entry.revents : 0;
}

/* Blocking files must not block here, so poll first. */
static ssize_t real_read(struct lm_transport *transport, int fd, void *buffer, size_t bytes)
{
	int events = real_poll(transport, fd, 0);
	ssize_t got;

	if (events < 0)
		return events;
	if (!events)
		return -EAGAIN;
	got = read(fd, buffer, bytes);
	return got < 0 ? -errno : got;
}

static void real_close(struct lm_transport *transport, int fd)
{
	struct behind **link = &real_of(transport)->behind;

	while (*link && (*link)->fd != fd)
		link = &(*link)->next;
	if (*link) {
		struct behind *behind = *link;

		*link = behind->next;
		behind_drop(behind); /* closes the fd */
	} else {
		close(fd);
	}
}

static int real_map(struct lm_transport *transport, int fd, uint64_t offset, size_t bytes,
		    bool write, void **memory)
{
	int protection = PROT_READ | (write ? PROT_WRITE : 0);

	(void)transport;
	*memory = mmap64(NULL, bytes, protection, MAP_SHARED, fd, (off64_t)offset);
	return *memory == MAP_FAILED ? -errno : 0;
}

static void real_unmap(struct lm_transport *transport, void *memory, size_t bytes)
{
	(void)transport;
	munmap(memory, bytes);
}

/* ------------------------------------------------------------------ netlink */

static void set_option(int fd, int option)
{
	int on = 1;

	/* the module needs a kernel that has this option */
	setsockopt(fd, SOL_NETLINK, option, &on, sizeof(on));
}

/* Without the privilege, use the limit of unprivileged processes. */
static void set_bytes(int fd, int privileged, int plain, uint32_t bytes)
{
	int size = (int)bytes;

	if (setsockopt(fd, SOL_SOCKET, privileged, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, plain, &size, sizeof(size));
}

static int real_netlink_open(struct lm_transport *transport, uint32_t buffer_bytes)
{
	struct behind *behind = calloc(1, sizeof(*behind));

	if (!behind)
		return -ENOMEM;
	behind->socket = nl_socket_alloc();
	if (!behind->socket || nl_connect(behind->socket, NETLINK_GENERIC)) {
		int error = behind->socket && errno ? errno : ENOMEM;

		behind_drop(behind);
		return -error;
	}
	behind->fd = nl_socket_get_fd(behind->socket);
	set_option(behind->fd, NETLINK_EXT_ACK);
	set_option(behind->fd, NETLINK_CAP_ACK);
	set_option(behind->fd, NETLINK_GET_STRICT_CHK);
	set_bytes(behind->fd, SO_SNDBUFFORCE, SO_SNDBUF, LM_MAX_MESSAGE_BYTES);
	if (buffer_bytes) {
		set_bytes(behind->fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
		nl_socket_set_nonblocking(behind->socket);
	}
	return behind_keep(transport, behind);
}

static int real_netlink_join(struct lm_transport *transport, int fd, uint32_t group)
{
	(void)transport;
	if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		return -errno;
	return 0;
}

static int real_netlink_send(struct lm_transport *transport, int fd, const void *message,
			     size_t bytes)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	ssize_t sent;

	(void)transport;
	do {
		sent = sendto(fd, message, bytes, 0, (struct sockaddr *)&kernel, sizeof(kernel));
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

/* Length of the next datagram, or a negative errno. */
static ssize_t peek(int fd)
{
	ssize_t bytes;
	char byte;

	do {
		bytes = recv(fd, &byte, sizeof(byte), MSG_PEEK | MSG_TRUNC);
	} while (bytes < 0 && errno == EINTR);
	return bytes < 0 ? -errno : bytes;
}

static ssize_t real_netlink_receive(struct lm_transport *transport, int fd, void **buffer,
				    size_t *room)
{
	ssize_t bytes = peek(fd);
	struct sockaddr_nl from = { 0 };
	socklen_t length = sizeof(from);

	(void)transport;
	if (bytes < 0)
		return bytes;
	if ((size_t)bytes > *room || !*room) {
		size_t wanted = (size_t)bytes > FIRST_MESSAGE_BYTES ? (size_t)bytes :
								      FIRST_MESSAGE_BYTES;
		void *grown = realloc(*buffer, wanted);

		if (!grown)
			return -ENOMEM;
		*buffer = grown;
		*room = wanted;
	}
	bytes = recvfrom(fd, *buffer, *room, 0, (struct sockaddr *)&from, &length);
	if (bytes < 0)
		return -errno;
	return from.nl_pid ? 0 : bytes; /* accept messages of the kernel only */
}

/* --------------------------------------------------------------------- udev */

/*
 * Append "ACTION KIND NUMBER PATH
 * " if the node is one of the driver's.
 */
static void print_device(FILE *out, const char *action, const char *path)
{
	static const char *const kinds[] = { "fabric", "slice" };
	const char *name = path ? strrchr(path, '/') : NULL;
	uint32_t number;

	if (!name)
		return;
	name++;
	for (size_t at = 0; at < ARRAY_SIZE(kinds); at++) {
		size_t length = strlen(kinds[at]);

		if (!strncmp(name, kinds[at], length) && lm_number(name + length, &number))
			fprintf(out, "%s %s %u %s\n", action, kinds[at], number, path);
	}
}

/* Without udev, in a container: list existing nodes. */
static void print_nodes(FILE *out)
{
	char path[sizeof(LM_DEV_DIR) + NAME_MAX + 1];
	DIR *dir = opendir(LM_DEV_DIR);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), LM_DEV_DIR "/%s", entry->d_name);
		print_device(out, "present", path);
	}
	if (dir)
		closedir(dir);
}

/* Finish a memory stream. -ENOMEM if some text is missing. */
static int finish(FILE *out, char **text)
{
	if (!fclose(out))
		return 0;
	free(*text);
	*text = NULL;
	return -ENOMEM;
}

/* List the nodes that udev knows. Returns their number. */
static int print_known(FILE *out)
{
	struct udev *udev = udev_new();
	struct udev_enumerate *enumerate = udev ? udev_enumerate_new(udev) : NULL;
	struct udev_list_entry *entry = NULL;
	int count = 0;

	if (enumerate && udev_enumerate_add_match_subsystem(enumerate, SUBSYSTEM) >= 0 &&
	    udev_enumerate_scan_devices(enumerate) >= 0)
		entry = udev_enumerate_get_list_entry(enumerate);
	for (; entry; entry = udev_list_entry_get_next(entry)) {
		struct udev_device *device =
			udev_device_new_from_syspath(udev, udev_list_entry_get_name(entry));

		if (!device)
			continue;
		print_device(out, "present", udev_device_get_devnode(device));
		udev_device_unref(device);
		count++;
	}
	udev_enumerate_unref(enumerate);
	udev_unref(udev);
	return count;
}

static int real_devices(struct lm_transport *transport, char **text)
{
	size_t bytes;
	FILE *out = open_memstream(text, &bytes);

	(void)transport;
	if (!out)
		return -errno;
	if (!print_known(out))
		print_nodes(out);
	return finish(out, text);
}

static int real_watch_open(struct lm_transport *transport)
{
	struct behind *behind = calloc(1, sizeof(*behind));

	if (!behind)
		return -ENOMEM;
	behind->udev = udev_new();
	if (behind->udev)
		behind->monitor = udev_monitor_new_from_netlink(behind->udev, "udev");
	if (!behind->monitor ||
	    udev_monitor_filter_add_match_subsystem_devtype(behind->monitor, SUBSYSTEM, NULL) < 0 ||
	    udev_monitor_enable_receiving(behind->monitor) < 0) {
		behind_drop(behind);
		return -ENOSYS;
	}
	behind->fd = udev_monitor_get_fd(behind->monitor);
	return behind_keep(transport, behind);
}

static int real_watch_read(struct lm_transport *transport, int fd, char **text)
{
	struct behind *behind = behind_of(transport, fd);
	struct udev_device *device;

	while ((device = udev_monitor_receive_device(behind->monitor))) {
		size_t bytes = 0;
		FILE *out = open_memstream(text, &bytes);

		if (!out) {
			udev_device_unref(device);
			return -ENOMEM;
		}
		print_device(out, udev_device_get_action(device), udev_device_get_devnode(device));
		udev_device_unref(device);
		if (finish(out, text))
			return -ENOMEM;
		if (bytes)
			return 0;
		free(*text);
	}
	return -EAGAIN;
}

static void real_free(struct lm_transport *transport)
{
	struct real *real = real_of(transport);

	while (real->behind) {
		struct behind *behind = real->behind;

		real->behind = behind->next;
		behind_drop(behind);
	}
	free(real);
}

static const struct lm_transport_ops real_ops = {
	.open = real_open,
	.adopt = real_adopt,
	.ioctl = real_ioctl,
	.read = real_read,
	.poll = real_poll,
	.close = real_close,
	.map = real_map,
	.unmap = real_unmap,
	.netlink_open = real_netlink_open,
	.netlink_join = real_netlink_join,
	.netlink_send = real_netlink_send,
	.netlink_receive = real_netlink_receive,
	.devices = real_devices,
	.watch_open = real_watch_open,
	.watch_read = real_watch_read,
	.free = real_free,
};

struct lm_transport *lm_transport_real(void)
{
	struct real *real = calloc(1, sizeof(*real));

	if (!real)
		return NULL;
	real->transport.ops = &real_ops;
	return &real->transport;
}
