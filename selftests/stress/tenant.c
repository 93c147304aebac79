// SPDX-License-Identifier: GPL-2.0-only
/*
 * One tenant. What a call answers is of no interest here, as long as it answers: with
 * faults, rivals and accidents about, nearly every errno is a right one. ENODEV says that
 * slice or fabric have gone.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stress.h"

#define MOST_RANKS 6
#define MOST_CIRCUITS 32

struct state {
	uint64_t seed;
	int fabric, slice;
	unsigned int ranks;
	struct morph_slice_info info;
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	unsigned int circuits_count;
};

unsigned int pick(uint64_t *seed, unsigned int limit)
{
	/* splitmix64 */
	uint64_t z = (*seed += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % limit;
}

static bool read_slice(struct state *t)
{
	t->circuits_count = 0;
	if (slice_read(t->slice, &t->info, NULL, 0, t->circuits, MOST_CIRCUITS))
		return false;
	t->circuits_count = t->info.circuits.count;
	return true;
}

static void open_slice(struct state *t)
{
	struct morph_slice_create args = { .failover = pick(&t->seed, 8) ? 0 : pick(&t->seed, 3) };

	args.transit = !pick(&t->seed, 4);
	args.spare_policy = pick(&t->seed, 2);
	if (!pick(&t->seed, 6))
		args.head.flags = MORPH_SLICE_RESERVED;
	t->ranks = 1 + pick(&t->seed, MOST_RANKS);
	t->slice = slice_create_with(t->fabric, &args, NULL, t->ranks);
}

/* Any of the three changes, at random. */
static struct morph_change any_change(struct state *t)
{
	struct morph_change change;

	if (!t->circuits_count || pick(&t->seed, 3)) {
		change = change_add(pick(&t->seed, t->ranks), pick(&t->seed, t->ranks));
		change.lanes_count = 1 + pick(&t->seed, 3);
		return change;
	}
	change = change_remove(t->circuits[pick(&t->seed, t->circuits_count)].circuit);
	if (pick(&t->seed, 2)) {
		change.op = MORPH_CHANGE_MOVE;
		change.src_plane = MORPH_PLANE_ANY;
		change.dst_plane = MORPH_PLANE_ANY;
		change.lanes_count = pick(&t->seed, 4);
	}
	return change;
}

static void change_some(struct state *t)
{
	struct morph_txn_run args = { .generation = GENERATION_ANY };
	struct morph_change changes[6];
	unsigned int count = 1 + pick(&t->seed, 6), i;

	for (i = 0; i < count; i++)
		changes[i] = any_change(t);
	if (!pick(&t->seed, 4))
		args.cookie = 1 + pick(&t->seed, 2);
	if (!pick(&t->seed, 5))
		args.head.flags = pick(&t->seed, 2) ? MORPH_TXN_EACH : MORPH_TXN_DRY_RUN;
	txn_run(t->slice, changes, count, &args);
}

/* Prepare, and go as far as chance will have it; the lease takes the rest back. */
static void two_phases(struct state *t)
{
	struct morph_change changes[3] = { any_change(t), any_change(t), any_change(t) };
	struct morph_txn_run args = {
		.head.flags = MORPH_TXN_PREPARE,
		.generation = GENERATION_ANY,
		.lease_ns = 1000000ull * (1 + pick(&t->seed, 40)),
	};

	if (txn_run(t->slice, changes, 1 + pick(&t->seed, 3), &args))
		return;
	if (!pick(&t->seed, 4))
		return;
	if (!pick(&t->seed, 4)) {
		txn_step(t->slice, args.out_txn, MORPH_TXN_REVERT, 0, NULL);
		return;
	}
	if (!pick(&t->seed, 4))
		usleep(pick(&t->seed, 40000)); /* into the lease's end */
	txn_step(t->slice, args.out_txn, MORPH_TXN_COMMIT, pick(&t->seed, 2) * 5000000, NULL);
	if (!pick(&t->seed, 3))
		return;
	txn_step(t->slice, args.out_txn, pick(&t->seed, 2) ? MORPH_TXN_CONFIRM : MORPH_TXN_REVERT,
		 0, NULL);
}

static void act_on_rank(struct state *t)
{
	unsigned int rank = pick(&t->seed, t->ranks);

	if (pick(&t->seed, 3))
		rank_act(t->slice, MORPH_RANK_REPORT, rank, 0, NULL);
	else
		rank_act(t->slice, MORPH_RANK_REPLACE, rank, MORPH_ANY, NULL);
}

static void act(struct state *t)
{
	switch (pick(&t->seed, 16)) {
	case 0:
		close(t->slice);
		t->slice = -1;
		break;
	case 1:
		light_ring(t->slice, t->ranks);
		break;
	case 2:
		act_on_rank(t);
		break;
	case 3:
		slice_policy(t->slice, pick(&t->seed, 3));
		break;
	case 4:
		drain_events(t->slice);
		break;
	case 5 ... 8:
		two_phases(t);
		break;
	default:
		change_some(t);
	}
}

void tenant(unsigned int fabric, uint64_t seed)
{
	struct state t = { .seed = seed, .slice = -1, .fabric = open_fabric(fabric) };
	struct pollfd gone = { .fd = t.fabric };

	while (t.fabric >= 0 && poll(&gone, 1, 0) == 0) {
		if (t.slice < 0)
			open_slice(&t);
		if (t.slice < 0) {
			usleep(5000);
		} else if (!read_slice(&t)) {
			close(t.slice);
			t.slice = -1;
		} else {
			act(&t);
		}
	}
	_exit(0);
}
