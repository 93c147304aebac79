// SPDX-License-Identifier: GPL-2.0-only
/* Permissions: capabilities, user and network namespaces, and the monitor group. */
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define OTHER_UID 1000
#define NOT_NAMED 250

FIXTURE(rights)
{
	struct sim sim;
	struct nl nl;
	int slice;
};

FIXTURE_SETUP(rights)
{
	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, nl_open(&self->nl));
	self->slice = slice_create(self->sim.fd, 2);
	ASSERT_LE(0, self->slice);
}

FIXTURE_TEARDOWN(rights)
{
	close(self->slice);
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

static int drop_root(void)
{
	return setgroups(0, NULL) || setresgid(OTHER_UID, OTHER_UID, OTHER_UID) ||
	       setresuid(OTHER_UID, OTHER_UID, OTHER_UID);
}

static int enter_user_namespace(void)
{
	return unshare(CLONE_NEWUSER);
}

static int enter_net_namespace(void)
{
	return unshare(CLONE_NEWNET);
}

/* Return the status of act() in a child after leave(); 255: leave() failed. */
static int elsewhere(int (*leave)(void), int (*act)(const struct sim *sim), const struct sim *sim)
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(leave() ? 255 : act(sim));
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const uint8_t guarded[] = {
	MORPH_CMD_ACCELERATOR_SET,  MORPH_CMD_SLICE_GET,       MORPH_CMD_SLICE_CREATE,
	MORPH_CMD_SLICE_SET,	    MORPH_CMD_SLICE_DELETE,    MORPH_CMD_CIRCUIT_GET,
	MORPH_CMD_CIRCUIT_APPLY,    MORPH_CMD_TXN_GET,	       MORPH_CMD_TXN_STEP,
	MORPH_CMD_HARDWARE_SET,	    MORPH_CMD_HARDWARE_FAIL,   MORPH_CMD_HARDWARE_TEST,
	MORPH_CMD_REPLACE,	    MORPH_CMD_WHY_NOT,	       MORPH_CMD_QUOTA_GET,
	MORPH_CMD_QUOTA_SET,	    MORPH_CMD_CONTROLLER_GET,  MORPH_CMD_CONTROLLER_TAKE,
	MORPH_CMD_CONTROLLER_RENEW, MORPH_CMD_CONTROLLER_DROP, MORPH_CMD_CONTROLLER_SETTLE,
	MORPH_CMD_RESERVATION_GET,  MORPH_CMD_RESERVATION_SET,
};

static const uint8_t guarded_dumps[] = {
	MORPH_CMD_SLICE_GET, MORPH_CMD_CIRCUIT_GET,    MORPH_CMD_TXN_GET,
	MORPH_CMD_QUOTA_GET, MORPH_CMD_CONTROLLER_GET, MORPH_CMD_RESERVATION_GET,
};

/* Return the first guarded command that does not fail with EPERM, or 0. */
static int administer(const struct sim *sim)
{
	static struct nl nl;
	unsigned int i;

	(void)sim;
	if (nl_open(&nl))
		return 254;
	for (i = 0; i < sizeof(guarded); i++) {
		nl_begin(&nl, guarded[i], 0);
		if (nl_do(&nl) != EPERM)
			return guarded[i];
	}
	for (i = 0; i < sizeof(guarded_dumps); i++) {
		nl_begin(&nl, guarded_dumps[i], 0);
		if (nl_dump(&nl, NULL, NULL) != EPERM)
			return guarded_dumps[i];
	}
	return 0;
}

static int listen_in(const struct sim *sim)
{
	static struct nl nl;

	(void)sim;
	return nl_open(&nl) ? 254 : nl_join(&nl);
}

static int find_family(const struct sim *sim)
{
	static struct nl nl;

	(void)sim;
	return nl_open(&nl);
}

struct seen {
	unsigned int objects, holders;
};

static void look(const struct nlmsghdr *message, void *context)
{
	struct seen *seen = context;

	seen->objects++;
	seen->holders += nl_count(message, MORPH_A_ACCELERATOR_SLICE) +
			 nl_count(message, MORPH_A_ACCELERATOR_RANK);
}

/* Count the attributes that name the holder of an accelerator; 253: the dump is not complete. */
static int see_holders(const struct sim *sim)
{
	static struct nl nl;
	struct seen seen = {};
	unsigned int i;

	if (nl_open(&nl))
		return 254;
	nl_begin(&nl, MORPH_CMD_ACCELERATOR_GET, 0);
	nl_put_u32(&nl, MORPH_A_ACCELERATOR_FABRIC, sim->number);
	if (nl_dump(&nl, look, &seen) || seen.objects != sim->info.accelerators)
		return 253;
	for (i = 0; i < sim->info.accelerators; i++) {
		nl_begin(&nl, MORPH_CMD_ACCELERATOR_GET, 0);
		nl_put_u32(&nl, MORPH_A_ACCELERATOR_FABRIC, sim->number);
		nl_put_u32(&nl, MORPH_A_ACCELERATOR_ID, i);
		if (nl_do(&nl))
			return 253;
		look(nl_reply(&nl), &seen);
	}
	return seen.holders;
}

/* Return 0 if every user may read all hardware. */
static int read_hardware(const struct sim *sim)
{
	static const struct {
		uint8_t cmd;
		uint16_t fabric;
	} reads[] = {
		{ MORPH_CMD_FABRIC_GET, MORPH_A_FABRIC_ID },
		{ MORPH_CMD_GUIDE_GET, MORPH_A_GUIDE_FABRIC },
		{ MORPH_CMD_ELEMENT_GET, MORPH_A_ELEMENT_FABRIC },
		{ MORPH_CMD_HARDWARE_GET, MORPH_A_HARDWARE_FABRIC },
		{ MORPH_CMD_STATS_GET, MORPH_A_STATS_FABRIC },
	};
	static struct nl nl;
	unsigned int i;

	if (nl_open(&nl))
		return 254;
	for (i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		nl_begin(&nl, reads[i].cmd, 0);
		nl_put_u32(&nl, reads[i].fabric, sim->number);
		if (nl_dump(&nl, NULL, NULL))
			return reads[i].cmd;
	}
	return 0;
}

static void note_replaced(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *nest = nl_find(message, MORPH_A_STATS_LAST_REPLACED);
	int *old = context;

	*old = nest ? (int)nl_get_u32(nl_find_nested(nest, MORPH_A_REPLACEMENT_OLD_ACCELERATOR)) :
		      NOT_NAMED;
}

/* Return the accelerator that the last failover replaced, if dump and reply agree. */
static int see_replaced(const struct sim *sim)
{
	int dumped = NOT_NAMED, replied;
	static struct nl nl;

	if (nl_open(&nl))
		return 254;
	nl_begin(&nl, MORPH_CMD_STATS_GET, 0);
	nl_put_u32(&nl, MORPH_A_STATS_FABRIC, sim->number);
	if (nl_dump(&nl, note_replaced, &dumped))
		return 253;
	nl_begin(&nl, MORPH_CMD_STATS_GET, 0);
	nl_put_u32(&nl, MORPH_A_STATS_FABRIC, sim->number);
	if (nl_do(&nl))
		return 252;
	note_replaced(nl_reply(&nl), &replied);
	return dumped == replied ? dumped : 251;
}

TEST_F(rights, user_without_capability)
{
	EXPECT_EQ(0, elsewhere(drop_root, administer, &self->sim));
	EXPECT_EQ(EPERM, elsewhere(drop_root, listen_in, &self->sim));
}

/* All capabilities in its own user namespace count as none here. */
TEST_F(rights, user_namespace)
{
	EXPECT_EQ(0, elsewhere(enter_user_namespace, administer, &self->sim));
	EXPECT_EQ(EPERM, elsewhere(enter_user_namespace, listen_in, &self->sim));
}

TEST_F(rights, net_namespace)
{
	EXPECT_EQ(ENOENT, elsewhere(enter_net_namespace, find_family, &self->sim));
}

/* A socket opened with the capability gives no permission to a process without it. */
TEST_F(rights, socket_handed_on)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		if (drop_root())
			_exit(255);
		nl_begin(&self->nl, MORPH_CMD_QUOTA_GET, 0);
		_exit(nl_do(&self->nl));
	}
	waitpid(child, &status, 0);
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(EPERM, WEXITSTATUS(status));
}

TEST_F(rights, hardware_is_for_everybody)
{
	EXPECT_EQ(0, elsewhere(drop_root, read_hardware, &self->sim));
	EXPECT_EQ(0, elsewhere(drop_root, see_holders, &self->sim));
}

/* The administrator sees slice and rank of both accelerators, in the dump and in single replies. */
TEST_F(rights, administrator_sees_holders)
{
	EXPECT_EQ(8, see_holders(&self->sim));
	EXPECT_EQ(0, nl_join(&self->nl));
}

/* The last failover names a slice, so others see only its times. */
TEST_F(rights, administrator_sees_last_failover)
{
	struct morph_event event;

	EXPECT_EQ(NOT_NAMED, see_replaced(&self->sim));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead 0"));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	EXPECT_EQ((int)event.old_accelerator, see_replaced(&self->sim));
	EXPECT_EQ(NOT_NAMED, elsewhere(drop_root, see_replaced, &self->sim));
}

TEST_HARNESS_MAIN
