// SPDX-License-Identifier: GPL-2.0-only
/* Permissions: modes of nodes, owners, capabilities, user namespaces, and files passed on. */
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define OTHER_UID 1000
#define THIRD_UID 1001

FIXTURE(rights)
{
	struct sim sim;
};

FIXTURE_SETUP(rights)
{
	sim_start(&self->sim, "server8", NULL);
}

FIXTURE_TEARDOWN(rights)
{
	sim_stop(&self->sim);
}

static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
	    prctl(PR_SET_DUMPABLE, 1))
		_exit(99);
}

/* Run a block in a child as another user; its exit status is the result. */
#define AS(uid, expression)                                   \
	({                                                    \
		pid_t child = fork();                         \
		int status = -1;                              \
                                                              \
		if (!child) {                                 \
			become(uid);                          \
			_exit(expression);                    \
		}                                             \
		waitpid(child, &status, 0);                   \
		WIFEXITED(status) ? WEXITSTATUS(status) : -1; \
	})

static int named_slice(int fabric, const char *name, unsigned int mode)
{
	struct morph_slice_create args = { .mode = mode };

	strncpy(args.name, name, sizeof(args.name) - 1);
	return slice_create_with(fabric, &args, NULL, 2);
}

static unsigned int number_of(int slice)
{
	struct morph_slice_info info;

	return slice_info(slice, &info) ? 0 : info.slice;
}

static int try_open(const char *path)
{
	int fd = open(path, O_RDWR);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

TEST_F(rights, fabric_node)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/dev/morph/fabric%u", self->sim.number);
	ASSERT_EQ(0, stat(path, &st));
	EXPECT_EQ(S_IFCHR | 0660, st.st_mode);
	EXPECT_EQ(0, st.st_uid);
	EXPECT_EQ(EACCES, AS(OTHER_UID, try_open(path)));
}

TEST_F(rights, slice_node_belongs_to_the_opener_of_the_fabric)
{
	int fd = self->sim.fd, slice;
	struct stat st;
	char path[64];

	slice = named_slice(fd, "root-own", 0);
	ASSERT_LE(0, slice);
	snprintf(path, sizeof(path), "/dev/morph/slice%u", number_of(slice));
	ASSERT_EQ(0, stat(path, &st));
	EXPECT_EQ(S_IFCHR | 0600, st.st_mode);
	EXPECT_EQ(0, st.st_uid);
	EXPECT_EQ(EACCES, AS(OTHER_UID, try_open(path)));
	close(slice);
	EXPECT_EQ(0, slice_delete(fd, MORPH_ANY, "root-own", 0));

	slice = named_slice(fd, "for-all", 0666);
	ASSERT_LE(0, slice);
	snprintf(path, sizeof(path), "/dev/morph/slice%u", number_of(slice));
	EXPECT_EQ(0, AS(OTHER_UID, try_open(path)));
	close(slice);
	EXPECT_EQ(0, slice_delete(fd, MORPH_ANY, "for-all", 0));
}

/* The other user opens the node, makes a slice and leaves it. */
static int make_own(const struct sim *sim, const char *name)
{
	int fd = open_fabric(sim->number), slice;

	if (fd < 0)
		return 1;
	slice = named_slice(fd, name, 0);
	return slice < 0 ? 2 : 0;
}

static int try_delete(const struct sim *sim, const char *name, unsigned int flags)
{
	return slice_delete(sim->fd, MORPH_ANY, name, flags) ? errno : 0;
}

TEST_F(rights, only_owner_or_administrator_deletes)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/morph/fabric%u", self->sim.number);
	ASSERT_EQ(0, chmod(path, 0666));
	ASSERT_EQ(0, AS(OTHER_UID, make_own(&self->sim, "theirs")));
	EXPECT_EQ(EPERM, AS(THIRD_UID, try_delete(&self->sim, "theirs", 0)));
	EXPECT_EQ(EPERM, AS(THIRD_UID, try_delete(&self->sim, "theirs", MORPH_SLICE_FORCE)));
	EXPECT_EQ(0, AS(OTHER_UID, try_delete(&self->sim, "theirs", 0)));

	ASSERT_EQ(0, AS(OTHER_UID, make_own(&self->sim, "again")));
	EXPECT_EQ(0, try_delete(&self->sim, "again", 0));
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
}

/* A file passed on gives no access to the slices of the user who opened it. */
TEST_F(rights, inherited_file_is_no_ownership)
{
	int slice = named_slice(self->sim.fd, "mine", 0);

	ASSERT_LE(0, slice);
	close(slice);
	EXPECT_EQ(EPERM, AS(OTHER_UID, try_delete(&self->sim, "mine", 0)));
	EXPECT_EQ(0, try_delete(&self->sim, "mine", 0));
}

/* Root of its own namespace has every capability, but none that counts here. */
static int namespace_root_deletes(const struct sim *sim, const char *name)
{
	FILE *map;

	if (unshare(CLONE_NEWUSER))
		return 98;
	map = fopen("/proc/self/uid_map", "w");
	if (!map || fprintf(map, "0 %d 1\n", OTHER_UID) < 0 || fclose(map))
		return 97;
	if (getuid())
		return 96;
	return try_delete(sim, name, MORPH_SLICE_FORCE);
}

TEST_F(rights, user_namespace)
{
	int slice = named_slice(self->sim.fd, "outside", 0), seen;

	ASSERT_LE(0, slice);
	close(slice);
	seen = AS(OTHER_UID, namespace_root_deletes(&self->sim, "outside"));
	if (seen == 98)
		SKIP(goto out, "user namespaces are switched off");
	EXPECT_EQ(EPERM, seen);
out:
	EXPECT_EQ(0, try_delete(&self->sim, "outside", 0));
}

/* With only the file, a container can work. */
static int use_handed_file(const struct sim *sim, int slice)
{
	struct morph_change change = change_add(0, 1);
	struct morph_slice_info info;
	int own;

	if (unshare(CLONE_NEWUSER) && errno != EPERM)
		return 1;
	if (slice_info(slice, &info))
		return 2;
	if (txn_run(slice, &change, 1, NULL))
		return 3;
	own = slice_create(sim->fd, 1);
	return own < 0 ? 4 : 0;
}

TEST_F(rights, handed_on_file_works)
{
	int slice = slice_create(self->sim.fd, 2);

	ASSERT_LE(0, slice);
	EXPECT_EQ(0, AS(OTHER_UID, use_handed_file(&self->sim, slice)));
	close(slice);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
}

#define OVERFLOW_UID 65534

static unsigned int owner_of(int slice)
{
	struct morph_slice_info info;

	return slice_info(slice, &info) ? ~0u : info.owner;
}

/* The other user owns a slice, and reads the owner outside and inside of a user namespace. */
static int read_own_id(const struct sim *sim)
{
	int fd = open_fabric(sim->number), slice = fd < 0 ? -1 : slice_create(fd, 2);
	FILE *map;

	if (slice < 0)
		return 1;
	if (owner_of(slice) != OTHER_UID)
		return 2;
	if (unshare(CLONE_NEWUSER))
		return 98;
	if (owner_of(slice) != OVERFLOW_UID)
		return 3;
	map = fopen("/proc/self/uid_map", "w");
	if (!map || fprintf(map, "7 %d 1\n", OTHER_UID) < 0 || fclose(map))
		return 97;
	return owner_of(slice) == 7 ? 0 : 4;
}

TEST_F(rights, info_names_the_owner_in_the_namespace_of_the_reader)
{
	char path[64];
	int seen;

	snprintf(path, sizeof(path), "/dev/morph/fabric%u", self->sim.number);
	ASSERT_EQ(0, chmod(path, 0666));
	seen = AS(OTHER_UID, read_own_id(&self->sim));
	if (seen == 98)
		SKIP(return, "user namespaces are switched off");
	EXPECT_EQ(0, seen);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
}

TEST_F(rights, slice_file_is_close_on_exec)
{
	int slice = slice_create(self->sim.fd, 1);

	ASSERT_LE(0, slice);
	EXPECT_EQ(FD_CLOEXEC, fcntl(slice, F_GETFD));
	close(slice);
}

TEST_F(rights, fdinfo_names_the_slice)
{
	int slice = named_slice(self->sim.fd, "shown", 0);
	char path[64], line[128];
	unsigned int number = 0;
	bool name = false, state = false;
	FILE *file;

	ASSERT_LE(0, slice);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", slice);
	file = fopen(path, "r");
	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "morph-slice: %u", &number);
		name |= !strcmp(line, "morph-name:\tshown\n");
		state |= !strcmp(line, "morph-state:\tok\n");
	}
	fclose(file);
	EXPECT_EQ(number_of(slice), number);
	EXPECT_TRUE(name);
	EXPECT_TRUE(state);
	close(slice);
	EXPECT_EQ(0, try_delete(&self->sim, "shown", 0));
}

/* A container that was given a node by number keeps the number after the slice has ended. */
TEST_F(rights, number_of_a_deleted_node_names_no_later_slice)
{
	const char *kept = "/dev/morph-kept";
	int slice = named_slice(self->sim.fd, "given", 0);
	struct stat st;
	char path[64];

	ASSERT_LE(0, slice);
	snprintf(path, sizeof(path), "/dev/morph/slice%u", number_of(slice));
	ASSERT_EQ(0, stat(path, &st));
	unlink(kept);
	ASSERT_EQ(0, mknod(kept, S_IFCHR | 0600, st.st_rdev));
	EXPECT_EQ(0, try_open(kept));
	close(slice);
	ASSERT_EQ(0, try_delete(&self->sim, "given", 0));
	EXPECT_TRUE(WAIT_UNTIL(try_open(kept) == ENXIO));

	slice = named_slice(self->sim.fd, "of-the-next-tenant", 0);
	EXPECT_LE(0, slice);
	EXPECT_EQ(ENXIO, try_open(kept));
	close(slice);
	EXPECT_EQ(0, try_delete(&self->sim, "of-the-next-tenant", 0));
	unlink(kept);
}

/* The errno of a command with a structure of zeros, except for the verb at @verb_at. */
static int try_command(int fd, unsigned long command, size_t verb_at, uint32_t verb)
{
	struct {
		struct morph_head head;
		char rest[512];
	} args = { .head = { .size = _IOC_SIZE(command) } };

	if (verb_at)
		memcpy((char *)&args + verb_at, &verb, sizeof(verb));
	return ioctl(fd, command, &args) ? errno : 0;
}

FIXTURE(read_only)
{
	struct sim sim;
	int writer, reader;
};

FIXTURE_SETUP(read_only)
{
	char path[64];

	sim_start(&self->sim, "server8", NULL);
	self->writer = named_slice(self->sim.fd, "shared", 0644);
	ASSERT_LE(0, self->writer);
	snprintf(path, sizeof(path), "/dev/morph/slice%u", number_of(self->writer));
	self->reader = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, self->reader);
}

FIXTURE_TEARDOWN(read_only)
{
	close(self->reader);
	close(self->writer);
	slice_delete(self->sim.fd, MORPH_ANY, "shared", 0);
	sim_stop(&self->sim);
}

TEST_F(read_only, changes_are_refused)
{
	static const unsigned long commands[] = {
		MORPH_TXN_RUN,	   MORPH_RANK_REPORT,	MORPH_RANK_REPLACE, MORPH_SLICE_POLICY,
		MORPH_RANK_PREFER, MORPH_SCHEDULE_LOAD, MORPH_RING_SETUP,
	};
	struct morph_change change = change_add(0, 1);

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		EXPECT_EQ(EBADF, try_command(self->reader, commands[i], 0, 0))
		TH_LOG("command 0x%lx", _IOC_NR(commands[i]));
	}
	EXPECT_EQ(-1, txn_run(self->reader, &change, 1, NULL));
	EXPECT_EQ(EBADF, errno);
	EXPECT_STREQ("the file was opened for reading only", last_detail);
	EXPECT_EQ(0, sim_lit_lanes(&self->sim, 1));
}

TEST_F(read_only, verbs_that_change_are_refused)
{
	size_t at = offsetof(struct morph_txn_step, verb);

	for (unsigned int verb = MORPH_TXN_COMMIT; verb <= MORPH_TXN_QUERY; verb++) {
		EXPECT_EQ(verb == MORPH_TXN_QUERY ? ENOENT : EBADF,
			  try_command(self->reader, MORPH_TXN_STEP, at, verb))
		TH_LOG("verb %u", verb);
	}
	at = offsetof(struct morph_schedule_act, verb);
	for (unsigned int verb = MORPH_SCHEDULE_START; verb <= MORPH_SCHEDULE_JUMP; verb++) {
		EXPECT_EQ(verb == MORPH_SCHEDULE_WAIT ? ENOENT : EBADF,
			  try_command(self->reader, MORPH_SCHEDULE_ACT, at, verb))
		TH_LOG("verb %u", verb);
	}
	at = offsetof(struct morph_ring_act, verb);
	for (unsigned int verb = MORPH_RING_WAKE; verb <= MORPH_RING_QUERY; verb++) {
		EXPECT_EQ(verb == MORPH_RING_QUERY ? ENOENT : EBADF,
			  try_command(self->reader, MORPH_RING_ACT, at, verb))
		TH_LOG("verb %u", verb);
	}
}

TEST_F(read_only, fabric_file_creates_and_deletes_nothing)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/morph/fabric%u", self->sim.number);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(EBADF, try_command(fd, MORPH_SLICE_CREATE, 0, 0));
	EXPECT_EQ(EBADF, try_command(fd, MORPH_SLICE_DELETE, 0, 0));
	EXPECT_EQ(EBADF, try_command(fd, MORPH_GRANT_CREATE, 0, 0));
	EXPECT_EQ(0, try_command(fd, MORPH_FABRIC_INFO, 0, 0));
	close(fd);
}

TEST_F(read_only, reads_work)
{
	size_t bytes = MORPH_STATE_BYTES(2 * 2);
	struct morph_slice_info info;
	struct morph_event event;
	void *page;

	EXPECT_EQ(0, slice_info(self->reader, &info));
	EXPECT_EQ(0, try_command(self->reader, MORPH_FABRIC_INFO, 0, 0));
	EXPECT_EQ(-1, read(self->reader, &event, sizeof(event)));
	EXPECT_EQ(EAGAIN, errno);
	page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, self->reader, 0);
	EXPECT_NE(MAP_FAILED, page);
	if (page != MAP_FAILED)
		munmap(page, bytes);
}

TEST_F(read_only, queue_cannot_be_mapped_for_writing)
{
	struct morph_schedule_circuit circuits[] = { { .src_rank = 0, .dst_rank = 1 } };
	struct morph_ring_setup setup = { .head = HEAD(morph_ring_setup), .entries = 64 };
	size_t bytes = MORPH_RING_BYTES(64);
	void *memory;

	setup.schedule = schedule_in_turn(self->writer, circuits, 1, NULL);
	ASSERT_EQ(0, ioctl(self->writer, MORPH_RING_SETUP, &setup));
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, self->reader,
		      MORPH_RING_OFFSET(setup.out_ring));
	EXPECT_EQ(MAP_FAILED, memory);
	EXPECT_EQ(EACCES, errno);
	memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, self->reader,
		      MORPH_RING_OFFSET(setup.out_ring));
	ASSERT_NE(MAP_FAILED, memory);
	EXPECT_EQ(-1, mprotect(memory, bytes, PROT_READ | PROT_WRITE));
	munmap(memory, bytes);
}

TEST_HARNESS_MAIN
