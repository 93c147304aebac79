// SPDX-License-Identifier: GPL-2.0-only
/*
 * A coordinator lights one circuit between two fabrics in each direction, and dies in between:
 * either both fabrics confirm, or neither does.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "side.h"
#include "kselftest_harness.h"

FIXTURE(coordinator)
{
	struct side a, b;
};

FIXTURE_SETUP(coordinator)
{
	side_start(&self->a, "uuid=" UUID_A " peer=" UUID_B, "a");
	side_start(&self->b, "uuid=" UUID_B " peer=" UUID_A, "b");
	ASSERT_LE(0, self->a.slice);
	ASSERT_LE(0, self->b.slice);
}

FIXTURE_TEARDOWN(coordinator)
{
	side_stop(&self->a, "a");
	side_stop(&self->b, "b");
}

#define STEPS 8

/* Follow the protocol of Documentation/device-abi.rst up to a step. */
static void coordinate(struct side *a, struct side *b, uint64_t cookie, int steps)
{
	struct side *const sides[] = { a, b };
	int step, error = 0;

	for (step = 0; step < steps && !error; step++) {
		struct side *side = sides[step % 2];

		switch (step / 2) {
		case 0:
			error = side_prepare(side, cookie, SECOND);
			break;
		case 1:
			error = side_step(side, MORPH_TXN_COMMIT, SECOND);
			break;
		case 2:
			error = side_step(side, MORPH_TXN_VERIFY, 3 * SECOND);
			break;
		default:
			error = side_step(side, MORPH_TXN_CONFIRM, 0);
		}
	}
}

/* Start a process that opens the slices itself, as a coordinator does, and hangs at a step. */
static pid_t start_coordinator(struct side *a, struct side *b, uint64_t cookie, int steps,
			       int *ready)
{
	int pipe_ends[2];
	pid_t pid;

	if (pipe(pipe_ends))
		return -1;
	pid = fork();
	if (!pid) {
		a->slice = open(a->node, O_RDWR | O_CLOEXEC);
		b->slice = open(b->node, O_RDWR | O_CLOEXEC);
		coordinate(a, b, cookie, steps);
		if (write(pipe_ends[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	close(pipe_ends[1]);
	*ready = pipe_ends[0];
	return pid;
}

static void kill_coordinator(pid_t pid, int ready)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready);
}

/* Return the outcome of a transaction after its end: 1 confirmed, 0 reverted or never prepared. */
static int ending(struct side *side, uint64_t cookie)
{
	do {
		if (side_step_by_cookie(side, cookie, MORPH_TXN_QUERY) == ENOENT)
			return 0;
		switch (side->step.out_outcome) {
		case MORPH_OUTCOME_COMMITTED:
			return 1;
		case MORPH_OUTCOME_EXPIRED:
		case MORPH_OUTCOME_ROLLED_BACK:
		case MORPH_OUTCOME_REVOKED:
			return 0;
		}
	} while (!wait_event(side->slice, MORPH_EVENT_TXN, PATIENCE_MS, NULL));
	return -1;
}

/* Remove the confirmed circuits, so that the next coordinator finds none. */
static void clear(struct side *side)
{
	long long until = now_ms() + PATIENCE_MS;
	struct morph_change changes[2];
	unsigned int i;

	/*
	 * While the driver verifies darkness at the peer, changes fail with EAGAIN. No event
	 * reports the end of that, so repeat them.
	 */
	while (!side_read(side) && side->info.circuits.count && now_ms() < until) {
		for (i = 0; i < side->info.circuits.count; i++)
			changes[i] = change_remove(side->circuits[i].circuit);
		if (txn_run(side->slice, changes, i, NULL))
			usleep(5000);
	}
	drain_events(side->slice);
}

/* The light must agree with the outcomes. */
#define EXPECT_SAME_ENDING(step, cookie)                                                \
	({                                                                              \
		int __a = ending(&self->a, cookie), __b = ending(&self->b, cookie);     \
                                                                                        \
		EXPECT_LE(0, __a);                                                      \
		EXPECT_EQ(__a, __b)                                                     \
		{                                                                       \
			TH_LOG("killed after step %d: ends %d and %d", step, __a, __b); \
		}                                                                       \
		EXPECT_EQ(__a ? MORPH_CIRCUIT_LIT : -1, side_state_in(&self->a));       \
		EXPECT_EQ(__b ? MORPH_CIRCUIT_LIT : -1, side_state_in(&self->b));       \
		EXPECT_EQ(!__a, sim_all_dark(&self->a.sim));                            \
		__a;                                                                    \
	})

TEST_F_TIMEOUT(coordinator, killed_for_good, 240)
{
	int step, ready, confirmed = 0;
	char byte;
	pid_t pid;

	for (step = 0; step <= STEPS; step++) {
		pid = start_coordinator(&self->a, &self->b, step + 1, step, &ready);
		ASSERT_LT(0, pid);
		ASSERT_EQ(1, read(ready, &byte, 1));
		kill_coordinator(pid, ready);
		confirmed += EXPECT_SAME_ENDING(step, step + 1);
		clear(&self->a);
		clear(&self->b);
	}
	EXPECT_LT(0, confirmed);
	EXPECT_GT(STEPS, confirmed);
}

/* Kill it at any moment, also in the middle of a step. */
TEST_F_TIMEOUT(coordinator, killed_at_random, 240)
{
	unsigned int seed = 12345;
	int round, ready;
	pid_t pid;

	for (round = 0; round < 12; round++) {
		pid = start_coordinator(&self->a, &self->b, 100 + round, STEPS, &ready);
		ASSERT_LT(0, pid);
		usleep(rand_r(&seed) % 30000);
		kill_coordinator(pid, ready);
		EXPECT_SAME_ENDING(round, 100 + round);
		clear(&self->a);
		clear(&self->b);
	}
}

/* Renew the lease of a verified transaction, so that it does not expire before the decision. */
static void renew(struct side *side, uint64_t cookie)
{
	side->step = (struct morph_txn_step){
		.head = HEAD(morph_txn_step),
		.verb = MORPH_TXN_VERIFY,
		.cookie = cookie,
		.lease_ns = LONG,
	};
	ioctl(side->slice, MORPH_TXN_STEP, &side->step);
}

/*
 * Find the transactions of the dead coordinator by their cookie, and finish them: confirm both if
 * one is confirmed, otherwise revert both.
 */
static void recover(struct side *a, struct side *b, uint64_t cookie)
{
	struct side *const sides[] = { a, b };
	bool confirmed = false;
	int i;

	for (i = 0; i < 2; i++)
		renew(sides[i], cookie);
	for (i = 0; i < 2; i++)
		confirmed |= !side_step_by_cookie(sides[i], cookie, MORPH_TXN_QUERY) &&
			     sides[i]->step.out_outcome == MORPH_OUTCOME_COMMITTED;
	for (i = 0; i < 2; i++)
		side_step_by_cookie(sides[i], cookie,
				    confirmed ? MORPH_TXN_CONFIRM : MORPH_TXN_REVERT);
}

/* A coordinator that starts late, and takes longer than the leases it found, can still revert. */
TEST_F(coordinator, restarted_late_goes_back)
{
	ASSERT_EQ(0, side_prepare(&self->a, 300, LONG));
	ASSERT_EQ(0, side_prepare(&self->b, 300, LONG));
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_COMMIT, 0));
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_COMMIT, 0));
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_VERIFY, SECOND));
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_VERIFY, SECOND));
	renew(&self->a, 300);
	renew(&self->b, 300);
	EXPECT_LT(SECOND, self->a.step.out_lease_ns);
	EXPECT_LT(SECOND, self->b.step.out_lease_ns);
	EXPECT_EQ(0, side_step_by_cookie(&self->a, 300, MORPH_TXN_REVERT));
	EXPECT_EQ(0, side_step_by_cookie(&self->b, 300, MORPH_TXN_REVERT));
	EXPECT_SAME_ENDING(0, 300);
}

TEST_F_TIMEOUT(coordinator, restarted_finishes, 240)
{
	int step, ready;
	char byte;
	pid_t pid;

	for (step = 0; step <= STEPS; step++) {
		pid = start_coordinator(&self->a, &self->b, 200 + step, step, &ready);
		ASSERT_LT(0, pid);
		ASSERT_EQ(1, read(ready, &byte, 1));
		kill_coordinator(pid, ready);
		recover(&self->a, &self->b, 200 + step);
		EXPECT_EQ(step > STEPS - 2, EXPECT_SAME_ENDING(step, 200 + step));
		clear(&self->a);
		clear(&self->b);
	}
}

TEST_HARNESS_MAIN
