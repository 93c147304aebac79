// SPDX-License-Identifier: GPL-2.0-only
/*
 * A coordinator of two circuits between two fabrics, one in each direction. It uses the protocol of
 * Documentation/device-abi.rst.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stress.h"

#define SECOND 1000000000ull
#define LEASE (SECOND * slowness())
/* edge4: light that leaves at an edge arrives at edge (n + 4) of the peer. */
#define BACK 4

struct coordinator {
	struct actor *actor;
	uint64_t cookie;
	unsigned int edge;
	unsigned int left; /* steps until it hangs and waits to be killed; 0: it does not hang */
	int slices[2];
};

static void log_step(struct coordinator *c, const char *what, int side)
{
	actor_log(c->actor, "%llu %s %d", (unsigned long long)c->cookie, what, side);
	(*c->actor->count)++;
	if (c->left && !--c->left)
		pause();
}

static int step(struct coordinator *c, int side, unsigned int verb, uint64_t lease_ns,
		unsigned int *outcome)
{
	static const char *const names[] = {
		[MORPH_TXN_COMMIT] = "commit", [MORPH_TXN_CONFIRM] = "confirm",
		[MORPH_TXN_REVERT] = "revert", [MORPH_TXN_QUERY] = "query",
		[MORPH_TXN_VERIFY] = "verify",
	};
	struct morph_txn_step args = {
		.head = HEAD(morph_txn_step),
		.verb = verb,
		.cookie = c->cookie,
		.lease_ns = lease_ns,
	};
	int error;

	log_step(c, names[verb], side);
	error = ioctl(c->slices[side], MORPH_TXN_STEP, &args) ? errno : 0;
	if (outcome)
		*outcome = args.out_outcome;
	return error;
}

static int prepare(struct coordinator *c, int side)
{
	struct morph_change changes[] = {
		change_add(0, MORPH_RANK_EDGE | c->edge),
		change_add(MORPH_RANK_EDGE | (c->edge + BACK), 0),
	};
	struct morph_txn_run args = {
		.head.flags = MORPH_TXN_PREPARE,
		.generation = GENERATION_ANY,
		.cookie = c->cookie,
		.lease_ns = LEASE,
	};

	changes[0].lanes = changes[1].lanes = 1;
	log_step(c, "prepare", side);
	return txn_run(c->slices[side], changes, 2, &args) ? errno : 0;
}

static int forward(struct coordinator *c)
{
	int i, error = 0;

	for (i = 0; i < 2 && !error; i++)
		error = prepare(c, i);
	for (i = 0; i < 2 && !error; i++)
		error = step(c, i, MORPH_TXN_COMMIT, LEASE, NULL);
	for (i = 0; i < 2 && !error; i++)
		error = step(c, i, MORPH_TXN_VERIFY, 3 * LEASE, NULL);
	for (i = 0; i < 2 && !error; i++)
		error = step(c, i, MORPH_TXN_CONFIRM, 0, NULL);
	return error;
}

/*
 * Find the transactions of a killed coordinator by their cookie, and finish them: confirm both if
 * one is confirmed, otherwise revert both. Renew the leases of verified transactions first, so that
 * none expires between the query and the decision.
 */
static int finish(struct coordinator *c)
{
	bool confirmed = false;
	unsigned int outcome;
	int i;

	for (i = 0; i < 2; i++)
		step(c, i, MORPH_TXN_VERIFY, 3 * LEASE, NULL);
	for (i = 0; i < 2; i++)
		confirmed |= !step(c, i, MORPH_TXN_QUERY, 0, &outcome) &&
			     outcome == MORPH_OUTCOME_COMMITTED;
	for (i = 0; i < 2; i++)
		step(c, i, confirmed ? MORPH_TXN_CONFIRM : MORPH_TXN_REVERT, 0, NULL);
	return 0;
}

/* Remove the confirmed circuits, so that the next change starts without any. */
static int clear(const int *slices)
{
	long long until = now_ms() + PATIENCE_MS;
	struct morph_circuit_info circuits[4];
	struct morph_change changes[4];
	struct morph_slice_info info;
	unsigned int i, side;

	for (side = 0; side < 2; side++)
		/* While the driver verifies darkness at the peer, changes fail: repeat them. */
		while (!slice_read(slices[side], &info, NULL, 0, circuits, 4) &&
		       info.circuits.count && now_ms() < until) {
			for (i = 0; i < info.circuits.count; i++)
				changes[i] = change_remove(circuits[i].circuit);
			if (txn_run(slices[side], changes, i, NULL))
				usleep(5000);
		}
	return 0;
}

int coordinate(struct actor *actor, char **nodes, unsigned int edge, uint64_t cookie,
	       const char *verb, unsigned int steps)
{
	struct coordinator c = { .actor = actor, .cookie = cookie, .edge = edge, .left = steps };
	int i, error;

	for (i = 0; i < 2; i++) {
		c.slices[i] = open(nodes[i], O_RDWR | O_CLOEXEC);
		if (c.slices[i] < 0)
			return errno;
	}
	if (!strcmp(verb, "forward"))
		error = forward(&c);
	else if (!strcmp(verb, "finish"))
		error = finish(&c);
	else
		error = clear(c.slices);
	for (i = 0; i < 2; i++)
		close(c.slices[i]);
	return error;
}
