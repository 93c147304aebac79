// SPDX-License-Identifier: LGPL-2.1-or-later
/* The real transport, with features of every kernel. udev.c has a fake udev. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../internal/client.h"
#include "fake.h"

static struct morph_ctx *ctx;
static struct lm_transport *real;
static const struct lm_transport_ops *ops;

static int begin(void **state)
{
	(void)state;
	assert_int_equal(morph_ctx_new(NULL, &ctx), 0);
	real = ctx->transport;
	ops = real->ops;
	return 0;
}

static int end(void **state)
{
	(void)state;
	morph_ctx_free(ctx);
	return 0;
}

/* -------------------------------------------------------------------- files */

static void files_are_opened_adopted_and_asked(void **state)
{
	int fd = ops->open(real, "/dev/null"), mine, waiting = -1, pipes[2];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	mine = ops->adopt(real, fd);
	assert_true(mine >= 0 && mine != fd);
	assert_int_equal(fcntl(mine, F_GETFD), FD_CLOEXEC);
	ops->close(real, fd);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(ops->ioctl(real, mine, FIONREAD, &waiting), -ENOTTY);
	ops->close(real, mine);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(ops->ioctl(real, pipes[0], FIONREAD, &waiting), 0);
	assert_int_equal(waiting, 0);
	close(pipes[0]);
	close(pipes[1]);
	assert_int_equal(ops->open(real, "/nonexistent"), -ENOENT);
	assert_int_equal(ops->adopt(real, fd), -EBADF);
}

/* A user that may only read the node gets a file opened for reading. */
static void node_that_may_only_be_read_is_opened_for_reading(void **state)
{
	char path[] = "/tmp/morph-real-XXXXXX";
	bool root = !geteuid();
	int made = mkstemp(path), fd;

	(void)state;
	assert_true(made >= 0);
	assert_int_equal(fchmod(made, 0444), 0);
	close(made);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	fd = ops->open(real, path);
	if (root)
		assert_int_equal(seteuid(0), 0);
	unlink(path);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	ops->close(real, fd);
}

static void reading_does_not_wait(void **state)
{
	int pipes[2], directory = open("/", O_RDONLY);
	char text[8];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(ops->read(real, pipes[0], text, sizeof(text)), -EAGAIN);
	assert_int_equal(ops->poll(real, pipes[0], 1000), 0);
	assert_int_equal(write(pipes[1], "light", 5), 5);
	assert_int_equal(ops->poll(real, pipes[0], -1), POLLIN);
	fault_at("ppoll", 1, EINTR);
	assert_int_equal(ops->poll(real, pipes[0], 0), -EINTR);
	fault_at("ppoll", 1, EINTR);
	assert_int_equal(ops->read(real, pipes[0], text, sizeof(text)), -EINTR);
	assert_int_equal(ops->read(real, pipes[0], text, sizeof(text)), 5);
	assert_memory_equal(text, "light", 5);
	close(pipes[1]);
	assert_int_equal(ops->poll(real, pipes[0], -1), POLLHUP);
	assert_int_equal(ops->read(real, directory, text, sizeof(text)), -EISDIR);
	close(directory);
	close(pipes[0]);
}

static void memory_is_shared(void **state)
{
	int fd = memfd_create("state", MFD_CLOEXEC);
	char *seen, *written;
	void *memory;

	(void)state;
	assert_int_equal(ftruncate(fd, 8192), 0);
	assert_int_equal(ops->map(real, fd, 4096, 4096, true, &memory), 0);
	written = memory;
	assert_int_equal(ops->map(real, fd, 0, 8192, false, &memory), 0);
	seen = memory;
	written[5] = 7;
	assert_int_equal(seen[4096 + 5], 7);
	ops->unmap(real, seen, 8192);
	ops->unmap(real, written, 4096);
	fault_at("mmap64", 1, ENODEV);
	assert_int_equal(ops->map(real, fd, 0, 4096, false, &memory), -ENODEV);
	close(fd);
}

/* ------------------------------------------------------------------ netlink */

/* Ask generic netlink's controller about itself. */
static int ask(int fd)
{
	struct nl_msg *message = nlmsg_alloc();
	int error;

	assert_non_null(
		genlmsg_put(message, 0, 1, GENL_ID_CTRL, 0, NLM_F_REQUEST, CTRL_CMD_GETFAMILY, 2));
	assert_int_equal(nla_put_string(message, CTRL_ATTR_FAMILY_NAME, "nlctrl"), 0);
	error = ops->netlink_send(real, fd, nlmsg_hdr(message), nlmsg_hdr(message)->nlmsg_len);
	nlmsg_free(message);
	return error;
}

static void messages_are_sent_and_received(void **state)
{
	int fd = ops->netlink_open(real, 0);
	void *buffer = NULL;
	size_t room = 0;
	ssize_t bytes;

	(void)state;
	assert_true(fd >= 0);
	fault_at("sendto", 1, EINTR);
	assert_int_equal(ask(fd), 0);
	assert_true(fault_struck());
	fault_at("memory", 1, ENOMEM); /* what can't be received stays */
	assert_int_equal(ops->netlink_receive(real, fd, &buffer, &room), -ENOMEM);
	fault_at("recv", 1, EINTR);
	bytes = ops->netlink_receive(real, fd, &buffer, &room);
	assert_true(fault_struck());
	assert_true(bytes > 0 && (size_t)bytes <= room);
	assert_int_equal(((struct nlmsghdr *)buffer)->nlmsg_type, GENL_ID_CTRL);
	fault_at("sendto", 1, ENOBUFS);
	assert_int_equal(ask(fd), -ENOBUFS);
	fault_at("recv", 1, ENOBUFS);
	assert_int_equal(ops->netlink_receive(real, fd, &buffer, &room), -ENOBUFS);
	assert_int_equal(ask(fd), 0);
	fault_at("recvfrom", 1, ENOBUFS);
	assert_int_equal(ops->netlink_receive(real, fd, &buffer, &room), -ENOBUFS);
	free(buffer);
	ops->close(real, fd);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

/* The library ignores messages that are not from the kernel. */
static void other_programs_are_not_listened_to(void **state)
{
	int fd = ops->netlink_open(real, 0), other;
	struct nlmsghdr header = { .nlmsg_len = sizeof(header), .nlmsg_type = GENL_ID_CTRL };
	struct sockaddr_nl to = { 0 };
	socklen_t length = sizeof(to);
	void *buffer = NULL;
	size_t room = 0;

	(void)state;
	other = ops->netlink_open(real, 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&to, &length), 0);
	if (sendto(other, &header, sizeof(header), 0, (struct sockaddr *)&to, length) < 0)
		assert_int_equal(errno, EPERM); /* only root may, on this kernel */
	else
		assert_int_equal(ops->netlink_receive(real, fd, &buffer, &room), 0);
	free(buffer);
	ops->close(real, fd);
	/* the other is still open, and goes with the context */
}

static void notifications_have_their_own_buffer(void **state)
{
	const int wanted = 32768;
	void *buffer = NULL;
	size_t room = 0;

	(void)state;
	/* with the right to exceed the limit, and without */
	for (unsigned int denied = 0; denied < 2; denied++) {
		int size = 0, fd;
		socklen_t length = sizeof(size);

		fault_at("setsockopt", denied ? 4 : 0, EPERM);
		fd = ops->netlink_open(real, (uint32_t)wanted);
		assert_int_equal(fault_struck(), denied);
		assert_true(fd >= 0);
		assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &length), 0);
		assert_int_equal(size, 2 * wanted); /* the kernel doubles it */
		assert_int_equal(ops->netlink_receive(real, fd, &buffer, &room), -EAGAIN);
		assert_int_equal(ops->netlink_join(real, fd, GENL_ID_CTRL), 0);
		assert_int_equal(ops->netlink_join(real, fd, 1u << 30), -EINVAL);
		ops->close(real, fd);
	}
	free(buffer);
}

static void sockets_are_opened_or_not(void **state)
{
	(void)state;
	for (unsigned int nth = 1; nth <= 2; nth++) {
		fault_at("memory", nth, ENOMEM);
		assert_int_equal(ops->netlink_open(real, 0), -ENOMEM);
		assert_true(fault_struck());
	}
	fault_at("nl_connect", 1, EAFNOSUPPORT);
	assert_int_equal(ops->netlink_open(real, 0), -EAFNOSUPPORT);
	assert_true(fault_struck());
}

/* --------------------------------------------------------------------- udev */

static const struct fault_node nodes[] = {
	{ "add", LM_DEV_DIR "/fabric3" },
	{ "add", "" },
	{ "add", LM_DEV_DIR "/fabric" },
	{ "add", LM_DEV_DIR "/slicer1" },
	{ "add", "slice" },
	{ "remove", LM_DEV_DIR "/slice12" },
	{ 0 },
};

static char directory[] = "/tmp/libmorph-nodes-XXXXXX";

static int begin_nodes(void **state)
{
	static const char *const names[] = { "fabric7", "slice8", "other9" };
	char path[64];

	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	assert_non_null(mkdtemp(directory));
	for (size_t at = 0; at < ARRAY_SIZE(names); at++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[at]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	fault_nodes = nodes;
	fault_directory = directory;
	return begin(state);
}

static int end_nodes(void **state)
{
	static const char *const names[] = { "fabric7", "slice8", "other9" };
	char path[64];

	for (size_t at = 0; at < ARRAY_SIZE(names); at++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[at]);
		rmdir(path);
	}
	rmdir(directory);
	fault_nodes = nodes + ARRAY_SIZE(nodes) - 1;
	fault_directory = NULL;
	return end(state);
}

/* Print the devices as text, in order. */
static void expect_devices(const char *expected)
{
	struct morph_list *list;
	char text[512] = "";

	assert_int_equal(morph_devices(ctx, &list), 0);
	for (size_t at = 0; at < morph_list_count(list); at++) {
		const struct morph_object *device = morph_list_get(list, at);
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s %s %u %s\n",
			 morph_object_text(device, "action"), morph_object_text(device, "kind"),
			 (uint32_t)morph_object_uint(device, "number"),
			 morph_object_text(device, "path"));
	}
	assert_string_equal(text, expected);
	morph_list_free(list);
}

static void devices_are_those_of_udev(void **state)
{
	(void)state;
	expect_devices(
		"present fabric 3 /dev/morph/fabric3\npresent slice 12 /dev/morph/slice12\n");
	fault_at("udev", 5, ENODEV); /* the first device disappeared before the library read it */
	expect_devices("present slice 12 /dev/morph/slice12\n");
	assert_true(fault_struck());
}

static void devices_are_the_nodes_where_udev_is_not(void **state)
{
	(void)state;
	for (unsigned int nth = 1; nth <= 4; nth++) {
		fault_at("udev", nth, ENOENT);
		expect_devices("present fabric 7 /dev/morph/fabric7\n"
			       "present slice 8 /dev/morph/slice8\n");
		assert_true(fault_struck());
	}
	fault_directory = NULL;
	fault_nodes = nodes + ARRAY_SIZE(nodes) - 1;
	expect_devices("");
}

static void devices_are_listed_whole_or_not(void **state)
{
	struct morph_list *list;

	(void)state;
	fault_at("fclose", 1, ENOMEM);
	assert_int_equal(morph_devices(ctx, &list), -ENOMEM);
	assert_null(list);
	fault_at("memory", 2, ENOMEM);
	assert_int_equal(morph_devices(ctx, &list), -ENOMEM);
	assert_true(fault_struck());
}

static void devices_are_watched(void **state)
{
	struct morph_watch *watch;
	struct morph_object *object;

	(void)state;
	for (unsigned int nth = 1; nth <= 4; nth++) {
		fault_at("udev", nth, ENOENT);
		assert_int_equal(morph_watch_new(ctx, &watch), -ENOSYS);
		assert_true(fault_struck());
	}
	assert_int_equal(morph_watch_new(ctx, &watch), 0);
	assert_true(ops->netlink_open(real, 0) >= 0); /* is not taken for the watch */
	assert_int_equal(morph_watch_get_fd(watch), 1000);
	assert_int_equal(morph_watch_read(watch, &object), 1);
	assert_string_equal(morph_object_text(object, "action"), "add");
	assert_string_equal(morph_object_text(object, "path"), LM_DEV_DIR "/fabric3");
	morph_object_free(object);
	assert_int_equal(morph_watch_read(watch, &object), 1); /* passes over what is not ours */
	assert_string_equal(morph_object_text(object, "action"), "remove");
	assert_int_equal(morph_object_uint(object, "number"), 12);
	morph_object_free(object);
	assert_int_equal(morph_watch_read(watch, &object), -EAGAIN);
	fault_nodes = nodes;
	fault_at("memory", 1, ENOMEM);
	assert_int_equal(morph_watch_read(watch, &object), -ENOMEM);
	fault_nodes = nodes;
	fault_at("fclose", 1, ENOMEM);
	assert_int_equal(morph_watch_read(watch, &object), -ENOMEM);
	assert_null(object);
	morph_watch_free(watch);
	fault_at("memory", 2, ENOMEM);
	assert_int_equal(morph_watch_new(ctx, &watch), -ENOMEM);
	assert_true(fault_struck());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_are_opened_adopted_and_asked, begin, end),
		cmocka_unit_test_setup_teardown(memory_is_shared, begin, end),
		cmocka_unit_test_setup_teardown(node_that_may_only_be_read_is_opened_for_reading,
						begin, end),
		cmocka_unit_test_setup_teardown(reading_does_not_wait, begin, end),
		cmocka_unit_test_setup_teardown(messages_are_sent_and_received, begin, end),
		cmocka_unit_test_setup_teardown(other_programs_are_not_listened_to, begin, end),
		cmocka_unit_test_setup_teardown(notifications_have_their_own_buffer, begin, end),
		cmocka_unit_test_setup_teardown(sockets_are_opened_or_not, begin, end),
		cmocka_unit_test_setup_teardown(devices_are_those_of_udev, begin_nodes, end_nodes),
		cmocka_unit_test_setup_teardown(devices_are_the_nodes_where_udev_is_not,
						begin_nodes, end_nodes),
		cmocka_unit_test_setup_teardown(devices_are_listed_whole_or_not, begin_nodes,
						end_nodes),
		cmocka_unit_test_setup_teardown(devices_are_watched, begin_nodes, end_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
