// SPDX-License-Identifier: GPL-2.0-only
/* Charges of users and grants: every kind of resource, and zero at the end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define OWNER 4322
#define LEASE 60000000000ULL

FIXTURE(quota)
{
	struct sim sim;
	struct nl nl;
	int fd; /* the fabric node, opened by OWNER */
};

/*
 * Use the effective id of the owner with root's capabilities, so that the node's mode does not
 * matter.
 */
static int open_as_owner(const struct sim *sim)
{
	int fd;

	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) || seteuid(OWNER))
		return -1;
	fd = open_fabric(sim->number);
	if (seteuid(0) || prctl(PR_SET_SECUREBITS, SECUREBITS_DEFAULT))
		return -1;
	return fd;
}

FIXTURE_SETUP(quota)
{
	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, nl_open(&self->nl));
	self->fd = open_as_owner(&self->sim);
	ASSERT_LE(0, self->fd);
}

static int set_limit(struct nl *nl, uint16_t whose, uint32_t number, uint16_t limit, uint64_t value)
{
	nl_begin(nl, MORPH_CMD_QUOTA_SET, 0);
	nl_put_u32(nl, whose, number);
	if (limit == MORPH_A_QUOTA_BYTES)
		nl_put_u64(nl, limit, value);
	else
		nl_put_u32(nl, limit, value);
	return nl_do(nl);
}

/* Read the current use into the reply. */
static int get(struct nl *nl, uint16_t whose, uint32_t number)
{
	nl_begin(nl, MORPH_CMD_QUOTA_GET, 0);
	nl_put_u32(nl, whose, number);
	return nl_do(nl);
}

static uint64_t bytes_used(struct nl *nl)
{
	return get(nl, MORPH_A_QUOTA_UID, OWNER) ? UINT64_MAX :
						   REPLY_U64(nl, MORPH_A_QUOTA_USED_BYTES);
}

/* Teardown is asynchronous: wait until this number of bytes is in use. */
static bool wait_used(struct nl *nl, uint64_t bytes)
{
	return WAIT_UNTIL(bytes_used(nl) == bytes);
}

FIXTURE_TEARDOWN(quota)
{
	close(self->fd);
	EXPECT_TRUE(wait_used(&self->nl, 0))
	{
		TH_LOG("%llu bytes are left", (unsigned long long)bytes_used(&self->nl));
	}
	EXPECT_EQ(0, REPLY_U32(&self->nl, MORPH_A_QUOTA_USED_ACCELERATORS));
	EXPECT_EQ(0, REPLY_U32(&self->nl, MORPH_A_QUOTA_USED_CIRCUITS));
	EXPECT_EQ(0, REPLY_U32(&self->nl, MORPH_A_QUOTA_USED_LANES));
	EXPECT_EQ(0, REPLY_U32(&self->nl, MORPH_A_QUOTA_USED_PREPARED));
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

/* ------------------------------------------------------------- what is charged */

TEST_F(quota, open_files)
{
	uint64_t before = bytes_used(&self->nl);
	int second = open_as_owner(&self->sim);

	EXPECT_LT(0, before);
	ASSERT_LE(0, second);
	EXPECT_EQ(2 * before, bytes_used(&self->nl));
	close(second);
	EXPECT_EQ(before, bytes_used(&self->nl));
}

/* Open the fabric as a user of the namespace, and make a slice: its file, or -1. */
static int slice_of(const struct sim *sim, uid_t uid, unsigned int count)
{
	int fd, slice = -1;

	if (seteuid(uid))
		return -1;
	fd = open_fabric(sim->number);
	if (fd >= 0)
		slice = slice_create(fd, count);
	return seteuid(0) ? -1 : slice;
}

/* In a namespace of OWNER, whose parent maps its users: the errno for the second user's slice. */
static int use_subordinate_ids(const struct sim *sim, int ready, int mapped)
{
	char byte = 0;

	if (setresgid(OWNER, OWNER, OWNER) || setresuid(OWNER, OWNER, OWNER))
		return 90;
	if (unshare(CLONE_NEWUSER))
		return 98;
	if (write(ready, &byte, 1) != 1 || read(mapped, &byte, 1) != 1)
		return 91;
	if (slice_of(sim, 1, 3) < 0)
		return 92;
	if (slice_of(sim, 2, 3) >= 0)
		return 0;
	return strcmp(last_detail,
		      "quota of user 4322 exceeded: 3 accelerators requested, 1 left") ?
		       93 :
		       errno;
}

static int map_users(pid_t pid)
{
	char path[64], map[64];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	snprintf(map, sizeof(map), "0 %d 1\n1 200000 2\n", OWNER);
	return write_file(path, map);
}

TEST_F(quota, subordinate_ids_share_the_quota_of_their_owner)
{
	int ready[2], mapped[2], status;
	char path[64], byte;
	pid_t child;

	snprintf(path, sizeof(path), "/dev/morph/fabric%u", self->sim.number);
	ASSERT_EQ(0, chmod(path, 0666));
	ASSERT_EQ(0, set_limit(&self->nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_ACCELERATORS, 4));
	ASSERT_EQ(0, pipe(ready) | pipe(mapped));
	child = fork();
	if (!child)
		_exit(use_subordinate_ids(&self->sim, ready[1], mapped[0]));
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1) {
		EXPECT_EQ(0, map_users(child));
		EXPECT_EQ(1, write(mapped[1], &byte, 1));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	close(ready[0]);
	close(mapped[0]);
	close(mapped[1]);
	ASSERT_EQ(0,
		  set_limit(&self->nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_ACCELERATORS, 1024));
	if (WEXITSTATUS(status) == 98)
		SKIP(return, "user namespaces are switched off");
	EXPECT_EQ(EDQUOT, WEXITSTATUS(status));
}

/* Most of the memory of an unused slice is its event queue and its tables. */
TEST_F(quota, slice_by_size)
{
	uint64_t before = bytes_used(&self->nl), one, four;
	int slice = slice_create(self->fd, 1);

	ASSERT_LE(0, slice);
	ASSERT_TRUE(wait_plans(slice, 1, MORPH_PLAN_CURRENT));
	one = bytes_used(&self->nl) - before;
	close(slice);
	ASSERT_TRUE(wait_used(&self->nl, before));
	slice = slice_create(self->fd, 4);
	ASSERT_LE(0, slice);
	ASSERT_TRUE(wait_plans(slice, 4, MORPH_PLAN_CURRENT));
	four = bytes_used(&self->nl) - before;
	EXPECT_LE(64 * sizeof(struct morph_event), one);
	EXPECT_LT(one, four);
	close(slice);
}

TEST_F(quota, node_of_a_named_slice)
{
	struct morph_slice_create args = { .name = "named", .failover = MORPH_FAILOVER_NONE };
	uint64_t before = bytes_used(&self->nl), named;
	int slice;

	slice = slice_create_with(self->fd, &args, NULL, 1);
	ASSERT_LE(0, slice);
	named = bytes_used(&self->nl) - before;
	close(slice);
	EXPECT_EQ(0, slice_delete(self->sim.fd, MORPH_ANY, "named", 0));
	ASSERT_TRUE(wait_used(&self->nl, before));
	args.name[0] = '\0';
	slice = slice_create_with(self->fd, &args, NULL, 1);
	ASSERT_LE(0, slice);
	EXPECT_GT(named, bytes_used(&self->nl) - before);
	close(slice);
}

/* The least room in bytes, as a power of two, that permits a dry run of a slice of four. */
static uint64_t room_of_dry_run(struct nl *nl, int fabric, unsigned int flags)
{
	uint64_t before = bytes_used(nl), room = 64;
	struct morph_slice_create args;

	for (; room < 1 << 30; room *= 2) {
		args = (struct morph_slice_create){ .head.flags = MORPH_SLICE_DRY_RUN | flags };
		if (set_limit(nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_BYTES, before + room) ||
		    !slice_create_with(fabric, &args, NULL, 4))
			break;
		if (args.head.reason != MORPH_REASON_QUOTA || bytes_used(nl) != before)
			return 0;
	}
	return bytes_used(nl) == before ? room : 0;
}

/* The trial needs memory for its searches and paths, which nothing keeps. */
TEST_F(quota, dry_run_of_a_ring)
{
	uint64_t slice, ring;

	slice = room_of_dry_run(&self->nl, self->fd, 0);
	ring = room_of_dry_run(&self->nl, self->fd, MORPH_SLICE_RING);
	EXPECT_LT(0, slice);
	EXPECT_LT(slice, ring);
	EXPECT_GT(1 << 30, ring);
	ASSERT_EQ(0, set_limit(&self->nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_BYTES, 1 << 30));
}

FIXTURE(lit)
{
	struct sim sim;
	struct nl nl;
	int fd;
	int slice;
};

/* Without protection, so that the driver charges nothing in the background. */
FIXTURE_SETUP(lit)
{
	struct morph_slice_create args = { .failover = MORPH_FAILOVER_NONE };

	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, nl_open(&self->nl));
	self->fd = open_as_owner(&self->sim);
	ASSERT_LE(0, self->fd);
	self->slice = slice_create_with(self->fd, &args, NULL, 4);
	ASSERT_LE(0, self->slice);
}

FIXTURE_TEARDOWN(lit)
{
	close(self->slice);
	close(self->fd);
	EXPECT_TRUE(wait_used(&self->nl, 0))
	{
		TH_LOG("%llu bytes are left", (unsigned long long)bytes_used(&self->nl));
	}
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

TEST_F(lit, circuit)
{
	struct morph_change change = change_add(0, 1);
	uint64_t before = bytes_used(&self->nl);

	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	EXPECT_LT(before, bytes_used(&self->nl));
	change = change_remove(change.circuit);
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	EXPECT_EQ(before, bytes_used(&self->nl));
}

TEST_F(lit, refused_changes_cost_nothing)
{
	struct morph_change changes[3] = { change_add(0, 1), change_add(1, 2), change_add(2, 2) };
	struct morph_txn_run dry = { .generation = GENERATION_ANY };
	uint64_t before = bytes_used(&self->nl);

	EXPECT_EQ(-1, txn_run(self->slice, changes, 3, NULL));
	EXPECT_EQ(before, bytes_used(&self->nl));
	dry.head.flags = MORPH_TXN_DRY_RUN;
	changes[2] = change_add(2, 3);
	EXPECT_EQ(0, txn_run(self->slice, changes, 3, &dry));
	EXPECT_EQ(before, bytes_used(&self->nl));
}

TEST_F(lit, rolled_back_change_costs_nothing)
{
	struct morph_change change = change_add(0, 1);
	uint64_t before = bytes_used(&self->nl);

	ASSERT_EQ(0, sim_control(&self->sim, "fault", "programming_error -"));
	EXPECT_EQ(-1, txn_run(self->slice, &change, 1, NULL));
	EXPECT_EQ(before, bytes_used(&self->nl));
}

TEST_F(lit, prepared_transaction)
{
	struct morph_change change = change_add(0, 1);
	struct morph_txn_run args = {
		.generation = GENERATION_ANY,
		.lease_ns = LEASE,
		.head.flags = MORPH_TXN_PREPARE,
	};
	uint64_t before = bytes_used(&self->nl), prepared;

	ASSERT_EQ(0, txn_run(self->slice, &change, 1, &args));
	prepared = bytes_used(&self->nl);
	ASSERT_EQ(0, txn_step(self->slice, args.out_txn, MORPH_TXN_REVERT, 0, NULL));
	EXPECT_EQ(before, bytes_used(&self->nl));
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	EXPECT_GT(prepared, bytes_used(&self->nl));
}

/* A client may come back and query the cookie: the memory of the record belongs to the slice. */
TEST_F(lit, record_of_a_prepared_transaction)
{
	struct morph_change change = change_add(0, 1);
	struct morph_txn_run args = {
		.generation = GENERATION_ANY,
		.lease_ns = LEASE,
		.cookie = 8,
		.head.flags = MORPH_TXN_PREPARE,
	};
	uint64_t before = bytes_used(&self->nl), one;
	int i;

	ASSERT_EQ(0, txn_run(self->slice, &change, 1, &args));
	ASSERT_EQ(0, txn_step(self->slice, args.out_txn, MORPH_TXN_REVERT, 0, NULL));
	one = bytes_used(&self->nl) - before;
	EXPECT_LT(0, one);
	for (i = 0; i < 10; i++) {
		args.cookie++;
		ASSERT_EQ(0, txn_run(self->slice, &change, 1, &args));
		ASSERT_EQ(0, txn_step(self->slice, args.out_txn, MORPH_TXN_REVERT, 0, NULL));
	}
	EXPECT_EQ(before + 4 * one, bytes_used(&self->nl));
}

/* Each slice has memory for one last cookie. */
TEST_F(lit, remembered_transaction)
{
	struct morph_change change = change_add(0, 1);
	struct morph_txn_run args = { .generation = GENERATION_ANY, .cookie = 5 };
	uint64_t before, remembered;

	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	before = bytes_used(&self->nl);
	change = change_remove(change.circuit);
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, &args));
	change = change_add(0, 1);
	args.cookie = 6;
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, &args));
	remembered = bytes_used(&self->nl);
	EXPECT_LT(before, remembered);
	change = change_remove(change.circuit);
	args.cookie = 7;
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, &args));
	EXPECT_GT(remembered, bytes_used(&self->nl));
}

TEST_F(lit, protection_plans)
{
	uint64_t before;

	ASSERT_EQ(0, light_ring(self->slice, 4));
	before = bytes_used(&self->nl);
	ASSERT_EQ(0, slice_policy(self->slice, MORPH_FAILOVER_AUTOMATIC));
	ASSERT_TRUE(wait_plans(self->slice, 4, MORPH_PLAN_CURRENT));
	EXPECT_LT(before, bytes_used(&self->nl));
}

TEST_F(lit, queue_of_an_open_file)
{
	struct morph_slice_info info;
	uint64_t before = bytes_used(&self->nl);
	struct morph_slice_create args = {
		.name = "twice",
		.mode = 0666,
		.failover = MORPH_FAILOVER_NONE,
	};
	char path[64];
	int slice, second;

	slice = slice_create_with(self->fd, &args, NULL, 1);
	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_info(slice, &info));
	before = bytes_used(&self->nl);
	snprintf(path, sizeof(path), "/dev/morph/slice%u", info.slice);
	second = open(path, O_RDWR);
	ASSERT_LE(0, second);
	EXPECT_LE(before + 64 * sizeof(struct morph_event), bytes_used(&self->nl));
	/*
	 * The driver charges the user of the slice, whoever opens it, and applies that user's
	 * limit.
	 */
	ASSERT_EQ(0, set_limit(&self->nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_BYTES,
			       bytes_used(&self->nl)));
	EXPECT_EQ(-1, open(path, O_RDWR));
	EXPECT_EQ(EDQUOT, errno);
	close(second);
	EXPECT_EQ(before, bytes_used(&self->nl));
	close(slice);
	EXPECT_EQ(0, slice_delete(self->sim.fd, MORPH_ANY, "twice", 0));
	ASSERT_EQ(0, set_limit(&self->nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_BYTES, 1 << 30));
}

/*
 * With each insufficient limit in bytes, the driver refuses the whole change and charges nothing.
 */
TEST_F(lit, too_few_bytes_at_every_step)
{
	struct morph_change change = change_add(0, 1);
	struct morph_txn_run args;
	uint64_t before = bytes_used(&self->nl), room;
	int ret = -1;

	for (room = 0; ret && room < 65536; room += 40) {
		ASSERT_EQ(0, set_limit(&self->nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_BYTES,
				       before + room));
		args = (struct morph_txn_run){
			.generation = GENERATION_ANY,
			.lease_ns = LEASE,
			.head.flags = MORPH_TXN_PREPARE,
		};
		ret = txn_run(self->slice, &change, 1, &args);
		if (!ret)
			break;
		ASSERT_EQ(EDQUOT, errno);
		EXPECT_EQ(MORPH_REASON_QUOTA, args.head.reason);
		EXPECT_EQ(-EDQUOT, change.status);
		EXPECT_LT(args.head.have, args.head.need);
		ASSERT_EQ(before, bytes_used(&self->nl))
		{
			TH_LOG("with room for %u bytes", (unsigned int)room);
		}
	}
	ASSERT_EQ(0, ret);
	EXPECT_LT(0, room);
	EXPECT_GE(before + room, bytes_used(&self->nl));
	ASSERT_EQ(0, set_limit(&self->nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_BYTES, 1 << 30));
}

/* A quota must never prevent a repair. */
TEST_F(lit, repair_is_never_refused)
{
	ASSERT_EQ(0, light_ring(self->slice, 4));
	ASSERT_EQ(0, set_limit(&self->nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_BYTES, 0));
	ASSERT_EQ(0, slice_policy(self->slice, MORPH_FAILOVER_AUTOMATIC));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead 0"));
	EXPECT_EQ(0, wait_event(self->slice, MORPH_EVENT_REPLACED, PATIENCE_MS, NULL));
	EXPECT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
	ASSERT_EQ(0, set_limit(&self->nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_BYTES, 1 << 30));
}

/* ------------------------------------------------------------- replacements */

static uint32_t replacements_of(struct nl *nl, const struct sim *sim, int slice)
{
	struct morph_slice_info info;

	if (slice_info(slice, &info))
		return UINT32_MAX;
	nl_begin(nl, MORPH_CMD_SLICE_GET, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_SLICE_ID, info.slice);
	return nl_do(nl) ? UINT32_MAX : REPLY_U32(nl, MORPH_A_SLICE_USED_REPLACEMENTS);
}

TEST_F(quota, each_slice_has_replacements_of_its_own)
{
	struct nl *nl = &self->nl;
	struct morph_rank_act act;
	int first, second;

	ASSERT_EQ(0, set_limit(nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_REPLACEMENTS, 1));
	first = slice_create(self->fd, 2);
	second = slice_create(self->fd, 2);
	ASSERT_LE(0, first);
	ASSERT_LE(0, second);
	/* A replacement that fails for another reason is not charged. */
	EXPECT_EQ(-1, rank_act(first, MORPH_RANK_REPLACE, 2, MORPH_ANY, &act));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(0, replacements_of(nl, &self->sim, first));
	EXPECT_EQ(0, rank_act(first, MORPH_RANK_REPLACE, 0, MORPH_ANY, &act));
	EXPECT_EQ(-1, rank_act(first, MORPH_RANK_REPLACE, 1, MORPH_ANY, &act));
	EXPECT_EQ(EDQUOT, errno);
	EXPECT_EQ(MORPH_REASON_QUOTA, act.head.reason);
	EXPECT_EQ(1, replacements_of(nl, &self->sim, first));
	EXPECT_EQ(0, replacements_of(nl, &self->sim, second));
	EXPECT_EQ(0, rank_act(second, MORPH_RANK_REPLACE, 0, MORPH_ANY, &act))
	{
		TH_LOG("%s", last_detail);
	}
	EXPECT_EQ(1, replacements_of(nl, &self->sim, second));
	close(first);
	close(second);
	ASSERT_EQ(0, set_limit(nl, MORPH_A_QUOTA_UID, OWNER, MORPH_A_QUOTA_REPLACEMENTS, 32));
}

/* ------------------------------------------------------------------- grants */

struct seen {
	uint32_t grant;
	unsigned int grants, users, defaults;
	uint32_t accelerators, used;
};

static void look(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *grant = nl_find(message, MORPH_A_QUOTA_GRANT);
	const struct nlattr *uid = nl_find(message, MORPH_A_QUOTA_UID);
	struct seen *seen = context;

	seen->defaults += !grant && !uid;
	seen->users += uid && nl_get_u32(uid) == OWNER;
	if (!grant || nl_get_u32(grant) != seen->grant)
		return;
	seen->grants += !uid;
	seen->accelerators = nl_get_u32(nl_find(message, MORPH_A_QUOTA_ACCELERATORS));
	seen->used = nl_get_u32(nl_find(message, MORPH_A_QUOTA_USED_ACCELERATORS));
}

TEST_F(quota, dump_distinguishes_users_and_grants)
{
	struct morph_grant_create args = GRANT_ALL;
	struct seen seen = {};
	int grant, slice;

	args.accelerators = 3;
	grant = grant_create(self->sim.fd, &args);
	ASSERT_LE(0, grant);
	slice = slice_create(grant, 2);
	ASSERT_LE(0, slice);
	seen.grant = args.out_grant;
	nl_begin(&self->nl, MORPH_CMD_QUOTA_GET, 0);
	ASSERT_EQ(0, nl_dump(&self->nl, look, &seen));
	EXPECT_EQ(1, seen.defaults);
	EXPECT_EQ(1, seen.users);
	EXPECT_EQ(1, seen.grants);
	EXPECT_EQ(3, seen.accelerators);
	EXPECT_EQ(2, seen.used);
	close(slice);
	close(grant);
}

static bool wait_no_grant(struct nl *nl, uint32_t grant)
{
	return WAIT_UNTIL(get(nl, MORPH_A_QUOTA_GRANT, grant) == ENOENT);
}

TEST_F(quota, grant_lives_as_long_as_its_slices)
{
	struct morph_slice_create create = { .name = "on-grant" };
	struct morph_grant_create args = GRANT_ALL;
	struct nl *nl = &self->nl;
	int grant, slice;

	grant = grant_create(self->sim.fd, &args);
	ASSERT_LE(0, grant);
	slice = slice_create_with(grant, &create, NULL, 2);
	ASSERT_LE(0, slice);
	nl_begin(nl, MORPH_CMD_SLICE_GET, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, self->sim.number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "on-grant");
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(args.out_grant, REPLY_U32(nl, MORPH_A_SLICE_GRANT));
	close(grant);
	close(slice);
	ASSERT_EQ(0, get(nl, MORPH_A_QUOTA_GRANT, args.out_grant));
	EXPECT_EQ(2, REPLY_U32(nl, MORPH_A_QUOTA_USED_ACCELERATORS));
	EXPECT_EQ(0, slice_delete(self->sim.fd, MORPH_ANY, "on-grant", 0));
	EXPECT_TRUE(wait_no_grant(nl, args.out_grant));
}

/* Setting the limits to zero revokes a grant. */
TEST_F(quota, limits_of_a_grant_are_changed)
{
	struct morph_grant_create args = GRANT_ALL;
	struct nl *nl = &self->nl;
	char sentence[80];
	int grant;

	grant = grant_create(self->sim.fd, &args);
	ASSERT_LE(0, grant);
	ASSERT_EQ(0, set_limit(nl, MORPH_A_QUOTA_GRANT, args.out_grant, MORPH_A_QUOTA_ACCELERATORS,
			       0));
	EXPECT_EQ(args.out_grant, REPLY_U32(nl, MORPH_A_QUOTA_GRANT));
	EXPECT_EQ(NULL, nl_find(nl_reply(nl), MORPH_A_QUOTA_UID));
	EXPECT_EQ(-1, slice_create(grant, 1));
	EXPECT_EQ(EDQUOT, errno);
	close(grant);
	EXPECT_TRUE(wait_no_grant(nl, args.out_grant));
	snprintf(sentence, sizeof(sentence), "no grant %u (grants: 0)", args.out_grant);
	EXPECT_STREQ(sentence, nl->text);
	EXPECT_EQ(MORPH_A_QUOTA_GRANT, nl->bad_attr);
}

TEST_F(quota, grant_and_user_at_once)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_QUOTA_GET, 0);
	nl_put_u32(nl, MORPH_A_QUOTA_UID, OWNER);
	nl_put_u32(nl, MORPH_A_QUOTA_GRANT, 1);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_QUOTA_GRANT, nl->bad_attr);
}

TEST_HARNESS_MAIN
