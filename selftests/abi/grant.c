// SPDX-License-Identifier: GPL-2.0-only
/* Grants: fabric files with their own limits, and the rights to make and use them. */
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define TENANT 1000

FIXTURE(grant)
{
	struct sim sim;
	struct morph_grant_create args;
};

FIXTURE_SETUP(grant)
{
	sim_start(&self->sim, "server8", NULL);
	self->args = (struct morph_grant_create)GRANT_ALL;
}

FIXTURE_TEARDOWN(grant)
{
	sim_stop(&self->sim);
}

#define GRANT() grant_create(self->sim.fd, &self->args)

static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
	    prctl(PR_SET_DUMPABLE, 1))
		_exit(99);
}

/* Run a block in a child as the tenant; its exit status is the result. */
#define AS_TENANT(expression)                                 \
	({                                                    \
		pid_t child = fork();                         \
		int status = -1;                              \
                                                              \
		if (!child) {                                 \
			become(TENANT);                       \
			_exit(expression);                    \
		}                                             \
		waitpid(child, &status, 0);                   \
		WIFEXITED(status) ? WEXITSTATUS(status) : -1; \
	})

/* ---------------------------------------------------------------- permissions */

static int try_grant(int fabric)
{
	struct morph_grant_create args = GRANT_ALL;

	return grant_create(fabric, &args) < 0 ? errno : 0;
}

TEST_F(grant, takes_the_capability)
{
	EXPECT_EQ(EPERM, AS_TENANT(try_grant(self->sim.fd)));
}

/* The file of a grant gives its holder no right to make further grants. */
TEST_F(grant, does_not_give_grants)
{
	int grant = GRANT();

	ASSERT_LE(0, grant);
	EXPECT_EQ(EPERM, AS_TENANT(try_grant(grant)));
	close(grant);
}

static int try_grant_in_namespace(int fabric)
{
	return unshare(CLONE_NEWUSER) ? 98 : try_grant(fabric);
}

TEST_F(grant, root_of_a_namespace_may_not)
{
	int seen = AS_TENANT(try_grant_in_namespace(self->sim.fd));

	if (seen == 98)
		SKIP(return, "user namespaces are switched off");
	EXPECT_EQ(EPERM, seen);
}

TEST_F(grant, nothing_is_given_on_failure)
{
	struct rlimit files, none;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &files));
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = files.rlim_max };
	self->args.out_fd = 77;
	self->args.out_grant = 77;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(-1, GRANT());
	EXPECT_EQ(EMFILE, errno);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	EXPECT_EQ(-1, self->args.out_fd);
	EXPECT_EQ(0, self->args.out_grant);
}

TEST_F(grant, is_no_command_of_slices)
{
	int slice = slice_create(self->sim.fd, 1);

	ASSERT_LE(0, slice);
	EXPECT_EQ(-1, grant_create(slice, &self->args));
	EXPECT_EQ(ENOTTY, errno);
	close(slice);
}

/* ------------------------------------------------------------------- limits */

TEST_F(grant, accelerators)
{
	int grant, slice;

	self->args.accelerators = 3;
	grant = GRANT();
	ASSERT_LE(0, grant);
	slice = slice_create(grant, 2);
	ASSERT_LE(0, slice);
	EXPECT_EQ(-1, slice_create(grant, 2));
	EXPECT_EQ(EDQUOT, errno);
	EXPECT_NE(NULL, strstr(last_detail, "grant "))
	{
		TH_LOG("%s", last_detail);
	}
	/* The limits of the grant and its use do not count for the user who made it. */
	EXPECT_EQ(0, close(slice_create(self->sim.fd, 4)));
	close(slice);
	close(grant);
}

TEST_F(grant, circuits)
{
	struct morph_change changes[2] = { change_add(0, 1), change_add(1, 0) };
	int grant, slice;

	self->args.circuits = 1;
	grant = GRANT();
	ASSERT_LE(0, grant);
	slice = slice_create(grant, 2);
	ASSERT_LE(0, slice);
	EXPECT_EQ(-1, txn_run(slice, changes, 2, NULL));
	EXPECT_EQ(EDQUOT, errno);
	EXPECT_EQ(0, txn_run(slice, changes, 1, NULL));
	close(slice);
	close(grant);
}

TEST_F(grant, lanes)
{
	struct morph_change change = change_add(0, 1);
	int grant, slice;

	self->args.lanes = 1;
	grant = GRANT();
	ASSERT_LE(0, grant);
	slice = slice_create(grant, 2);
	ASSERT_LE(0, slice);
	change.lanes_count = 2;
	EXPECT_EQ(-1, txn_run(slice, &change, 1, NULL));
	EXPECT_EQ(EDQUOT, errno);
	change.lanes_count = 1;
	EXPECT_EQ(0, txn_run(slice, &change, 1, NULL));
	close(slice);
	close(grant);
}

TEST_F(grant, prepared)
{
	struct morph_change change = change_add(0, 1);
	struct morph_txn_run args = {
		.generation = GENERATION_ANY,
		.lease_ns = 60000000000ULL,
		.head.flags = MORPH_TXN_PREPARE,
	};
	int grant, slice;

	self->args.prepared = 0;
	grant = GRANT();
	ASSERT_LE(0, grant);
	slice = slice_create(grant, 2);
	ASSERT_LE(0, slice);
	EXPECT_EQ(-1, txn_run(slice, &change, 1, &args));
	EXPECT_EQ(EDQUOT, errno);
	EXPECT_EQ(0, txn_run(slice, &change, 1, NULL));
	close(slice);
	close(grant);
}

TEST_F(grant, replacements)
{
	int grant, slice;

	self->args.replacements = 0;
	grant = GRANT();
	ASSERT_LE(0, grant);
	slice = slice_create(grant, 2);
	ASSERT_LE(0, slice);
	EXPECT_EQ(-1, rank_act(slice, MORPH_RANK_REPLACE, 0, MORPH_ANY, NULL));
	EXPECT_EQ(EDQUOT, errno);
	close(slice);
	close(grant);
}

/* The file of a grant is not charged against the limit of the grant. */
TEST_F(grant, of_nothing)
{
	int grant;

	self->args = (struct morph_grant_create){};
	grant = GRANT();
	ASSERT_LE(0, grant)
	TH_LOG("%s", last_detail);
	EXPECT_EQ(-1, slice_create(grant, 1));
	EXPECT_EQ(EDQUOT, errno);
	close(grant);
}

/* A dry run within the limits uses nothing of them. */
TEST_F(grant, dry_run_holds_nothing)
{
	struct morph_slice_create create = { .head.flags = MORPH_SLICE_DRY_RUN };
	int grant, slice;

	self->args.accelerators = 2;
	grant = GRANT();
	ASSERT_LE(0, grant);
	EXPECT_EQ(0, slice_create_with(grant, &create, NULL, 2));
	slice = slice_create(grant, 2);
	EXPECT_LE(0, slice);
	close(slice);
	close(grant);
}

/* --------------------------------------------------------------- passed on */

static void send_fd(int socket, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {};
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	sendmsg(socket, &message, 0);
}

static int receive_fd(int socket)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* A tenant that may not open the node, and has only the file. */
static int live_on_grant(const struct sim *sim, int socket)
{
	struct morph_change change = change_add(0, 1);
	struct morph_slice_create named = { .name = "granted" };
	int grant, slice;

	if (open_fabric(sim->number) >= 0)
		return 1;
	grant = receive_fd(socket);
	if (grant < 0)
		return 2;
	slice = slice_create(grant, 2);
	if (slice < 0 || txn_run(slice, &change, 1, NULL))
		return 3;
	close(slice);
	/* The slice belongs to the tenant that makes it, so he may also end it. */
	slice = slice_create_with(grant, &named, NULL, 1);
	if (slice < 0)
		return 4;
	close(slice);
	return slice_delete(grant, MORPH_ANY, "granted", 0) ? 5 : 0;
}

TEST_F(grant, is_all_that_a_tenant_needs)
{
	int sockets[2], grant = GRANT(), status = -1;
	pid_t child;

	ASSERT_LE(0, grant);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	child = fork();
	if (!child) {
		close(grant);
		close(self->sim.fd);
		become(TENANT);
		_exit(live_on_grant(&self->sim, sockets[1]));
	}
	send_fd(sockets[0], grant);
	close(grant);
	waitpid(child, &status, 0);
	EXPECT_EQ(0, status);
	close(sockets[0]);
	close(sockets[1]);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
}

TEST_F(grant, file_is_close_on_exec_and_names_its_kind)
{
	unsigned int number = 0, fabric = ~0u;
	int grant = GRANT();
	char path[64], line[128];
	FILE *file;

	ASSERT_LE(0, grant);
	EXPECT_EQ(FD_CLOEXEC, fcntl(grant, F_GETFD));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", grant);
	file = fopen(path, "r");
	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "morph-grant: %u", &number);
		sscanf(line, "morph-fabric: %u", &fabric);
	}
	fclose(file);
	EXPECT_EQ(self->args.out_grant, number);
	EXPECT_EQ(self->sim.number, fabric);
	close(grant);
}

/* The grant outlives its fabric, and is then useless. */
TEST_F(grant, gone_fabric)
{
	int grant = GRANT();

	ASSERT_LE(0, grant);
	sim_pull(&self->sim);
	EXPECT_EQ(-1, slice_create(grant, 1));
	EXPECT_EQ(ENODEV, errno);
	close(grant);
	sim_replug(&self->sim);
}

TEST_HARNESS_MAIN
