// SPDX-License-Identifier: GPL-2.0-only
/*
 * Acts of one tenant. With faults, other tenants and accidents nearly every errno is possible, so
 * only the calls on schedules (schedule.c) go to the log one by one. ENODEV means that the slice or
 * the fabric has gone.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stress.h"

unsigned int draw(struct tenant *t, unsigned int limit)
{
	return pick(&t->actor.chance, limit);
}

static int as_errno(int ret)
{
	return ret < 0 ? errno : 0;
}

/* Adopt the file; @fresh means that it is the only file of its slice. */
static void adopt(struct tenant *t, int slice, bool fresh)
{
	t->serial++;
	t->ranks = 1;
	t->shared = !fresh;
	t->slice = slice;
	if (slice_read(slice, &t->info, NULL, 0, NULL, 0))
		return;
	t->ranks = t->info.ranks.count ? t->info.ranks.count : 1;
	if (fresh)
		actor_log(&t->actor, "opened %u %u %llu", t->serial, t->info.slice,
			  (unsigned long long)t->info.seq);
}

int tenant_drop(void *who)
{
	struct tenant *t = who;
	int slice = t->slice;

	if (slice < 0)
		return 0;
	rings_drop(t);
	page_drop(t);
	t->slice = -1;
	actor_log(&t->actor, "closed %u", t->serial);
	return as_errno(close(slice));
}

static int create(void *who)
{
	struct tenant *t = who;
	struct morph_slice_create args = { .failover = draw(t, 8) ? 0 : draw(t, 3) };
	struct morph_grant_create all = GRANT_ALL;
	unsigned int ranks = draw(t, 6) ? 2 + draw(t, draw(t, 2) ? MOST_RANKS - 1 : 2) : 1;
	int grant = -1, slice;

	tenant_drop(t);
	args.transit = !draw(t, 4);
	args.spare_policy = draw(t, 2);
	if (!draw(t, 6))
		args.head.flags = MORPH_SLICE_RESERVED;
	all.accelerators = draw(t, 8);
	if (!draw(t, 6))
		grant = grant_create(t->fabric, &all);
	slice = slice_create_with(grant < 0 ? t->fabric : grant, &args, NULL, ranks);
	/* If memory or hardware is short, a small slice is better than none. */
	if (slice < 0 && errno == ENOSPC && ranks > 2)
		slice = slice_create_with(grant < 0 ? t->fabric : grant, &args, NULL, 2);
	if (slice < 0)
		ranks = errno;
	if (grant >= 0)
		close(grant);
	if (slice < 0)
		return ranks;
	adopt(t, slice, true);
	return 0;
}

/* ------------------------------------------------------------------ circuits */

int tenant_either(struct tenant *t)
{
	if (t->sibling && (t->slice < 0 || !draw(t, 4)))
		return t->sibling->slice;
	return t->slice;
}

static void read_circuits(struct tenant *t, int slice)
{
	t->circuits_count = 0;
	if (!slice_read(slice, &t->info, NULL, 0, t->circuits, MOST_CIRCUITS))
		t->circuits_count = t->info.circuits.count < MOST_CIRCUITS ?
					    t->info.circuits.count :
					    MOST_CIRCUITS;
}

static struct morph_change any_add(struct tenant *t)
{
	unsigned int dst = draw(t, t->ranks), src = draw(t, t->ranks);

	return change_add(src, dst);
}

/* Make one of the three kinds of changes at random. */
static struct morph_change any_change(struct tenant *t)
{
	struct morph_change change;

	if (!t->circuits_count || draw(t, 3)) {
		change = any_add(t);
		change.lanes_count = 1 + draw(t, 3);
		return change;
	}
	change = change_remove(t->circuits[draw(t, t->circuits_count)].circuit);
	if (draw(t, 2)) {
		change.op = MORPH_CHANGE_MOVE;
		change.src_plane = MORPH_PLANE_ANY;
		change.dst_plane = MORPH_PLANE_ANY;
		change.lanes_count = draw(t, 4);
	}
	return change;
}

static int change_some(struct tenant *t, unsigned int flags)
{
	struct morph_txn_run args = { .head.flags = flags, .generation = GENERATION_ANY };
	unsigned int count = 1 + draw(t, 6), i;
	struct morph_change changes[6];
	int slice = tenant_either(t);

	read_circuits(t, slice);
	for (i = 0; i < count; i++)
		changes[i] = any_change(t);
	if (!draw(t, 4))
		args.cookie = 1 + draw(t, 2);
	return as_errno(txn_run(slice, changes, count, &args));
}

static int change_all(void *who)
{
	return change_some(who, 0);
}

static int change_each(void *who)
{
	return change_some(who, MORPH_TXN_EACH);
}

static int change_dry(void *who)
{
	return change_some(who, MORPH_TXN_DRY_RUN);
}

/* Send a change for an old generation: proof.py has a rule for the answer. */
static int change_stale(void *who)
{
	struct tenant *t = who;
	struct morph_txn_run args = {};
	struct morph_change change;

	t->circuits_count = 0;
	if (slice_read(t->slice, &t->info, NULL, 0, t->circuits, MOST_CIRCUITS))
		return errno;
	args.generation = t->info.generation - 1;
	change = any_add(t);
	return as_errno(txn_run(t->slice, &change, 1, &args));
}

static int light(void *who)
{
	struct tenant *t = who;

	return as_errno(light_ring(t->slice, t->ranks));
}

/* Prepare a transaction and take a random number of steps. The lease reverts the rest. */
static int two_phases(void *who)
{
	struct tenant *t = who;
	struct morph_txn_run args = {
		.head.flags = MORPH_TXN_PREPARE,
		.generation = GENERATION_ANY,
		.lease_ns = 1000000ull * (1 + draw(t, 40)),
	};
	struct morph_change changes[3];
	int slice = tenant_either(t), i;

	read_circuits(t, slice);
	for (i = 0; i < 3; i++)
		changes[i] = any_change(t);
	if (txn_run(slice, changes, 1 + draw(t, 3), &args))
		return errno;
	if (!draw(t, 4))
		return 0;
	if (!draw(t, 4))
		return as_errno(txn_step(slice, args.out_txn, MORPH_TXN_REVERT, 0, NULL));
	if (!draw(t, 4))
		usleep(draw(t, 40000)); /* wait until the lease expires */
	if (txn_step(slice, args.out_txn, MORPH_TXN_COMMIT, draw(t, 2) * 5000000, NULL))
		return errno;
	if (!draw(t, 3))
		return 0;
	return as_errno(txn_step(slice, args.out_txn,
				 draw(t, 2) ? MORPH_TXN_CONFIRM : MORPH_TXN_REVERT, 0, NULL));
}

/* -------------------------------------------------------------------- others */

static int report(void *who)
{
	struct tenant *t = who;

	return as_errno(rank_act(t->slice, MORPH_RANK_REPORT, draw(t, t->ranks), 0, NULL));
}

static int replace(void *who)
{
	struct tenant *t = who;
	unsigned int rank = draw(t, t->ranks);

	return as_errno(rank_act(t->slice, MORPH_RANK_REPLACE, rank, MORPH_ANY, NULL));
}

/* Prefer a spare for a rank, an unsuitable one, or none. */
static int prefer(void *who)
{
	struct tenant *t = who;
	unsigned int rank = draw(t, t->ranks), spare = draw(t, 20);

	return as_errno(
		rank_act(t->slice, MORPH_RANK_PREFER, rank, spare ? spare : MORPH_ANY, NULL));
}

static int policy(void *who)
{
	struct tenant *t = who;

	return as_errno(slice_policy(t->slice, draw(t, 3)));
}

int tenant_listen(void *who)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct tenant *t = who;
	struct morph_event event;

	pollfd.fd = t->slice;
	while (poll(&pollfd, 1, 0) == 1 && pollfd.revents & POLLIN &&
	       read(t->slice, &event, sizeof(event)) == sizeof(event))
		actor_log(&t->actor, "event %u %u %llu %llu %llu", t->serial, event.type,
			  (unsigned long long)event.seq, (unsigned long long)event.time_ns,
			  (unsigned long long)event.lost);
	return 0;
}

/* Pass the slice on as a launcher passes it to its ranks; keep the file or close it. */
static int give(void *who)
{
	struct tenant *t = who;
	char room[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room),
	};
	struct cmsghdr *control = CMSG_FIRSTHDR(&message);
	int slice = t->slice;

	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(control), &slice, sizeof(int));
	actor_log(&t->actor, "shared %u", t->serial);
	t->shared = true;
	if (sendmsg(t->give, &message, MSG_DONTWAIT) < 0)
		return errno;
	return draw(t, 2) ? tenant_drop(t) : 0;
}

static int take(void *who)
{
	struct tenant *t = who;
	char room[CMSG_SPACE(sizeof(int))], byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room),
	};
	int slice;

	if (recvmsg(t->take, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return errno;
	if (!CMSG_FIRSTHDR(&message))
		return EMFILE;
	memcpy(&slice, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	tenant_drop(t);
	adopt(t, slice, false);
	return 0;
}

/* Open the node of a named slice, if permitted. */
static int visit(void *who)
{
	struct tenant *t = who;
	DIR *dir = opendir("/dev/morph");
	struct dirent *entry;
	int slice = -1;

	while (dir && slice < 0 && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "slice", 5) && draw(t, 2))
			slice = openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC);
	if (dir)
		closedir(dir);
	if (slice < 0)
		return ENOENT;
	tenant_drop(t);
	adopt(t, slice, false);
	return 0;
}

const struct act tenant_acts[] = { { "create", 1, create },
				   { "close", 1, tenant_drop },
				   { "change", 4, change_all },
				   { "change-each", 1, change_each },
				   { "change-stale", 1, change_stale },
				   { "dry-run", 1, change_dry },
				   { "two-phases", 4, two_phases },
				   { "ring", 1, light },
				   { "report", 1, report },
				   { "replace", 1, replace },
				   { "prefer", 1, prefer },
				   { "policy", 1, policy },
				   { "listen", 1, tenant_listen },
				   { "give", 1, give },
				   { "take", 1, take },
				   { "visit", 1, visit },
				   { "load", 3, schedule_load },
				   { "load-wrong", 1, schedule_load_wrong },
				   { "start", 3, schedule_start },
				   { "walk", 4, schedule_walk },
				   { "wait", 1, schedule_wait },
				   { "stop", 1, schedule_stop },
				   { "unload", 1, schedule_unload },
				   { "look", 1, schedule_look },
				   { "spin", 1, schedule_spin },
				   { "ring-new", 1, ring_new },
				   { "ring-submit", 2, ring_submit },
				   { "ring-corrupt", 1, ring_corrupt },
				   { "ring-touch", 1, ring_touch },
				   { "page", 1, page_read },
				   {} };

bool tenant_act(struct tenant *t)
{
	struct pollfd gone = { .fd = t->fabric };
	struct morph_slice_info info;

	if (t->fabric < 0 || poll(&gone, 1, 0))
		return false;
	/* A tenant without a slice tries to create one before its random act. */
	if (t->slice >= 0 && slice_info(t->slice, &info))
		tenant_drop(t);
	if (t->slice < 0)
		create(t);
	actor_act(&t->actor, tenant_acts, t);
	return true;
}

void tenant(unsigned int fabric, uint64_t seed)
{
	struct tenant t = {
		.actor = { .seed = seed, .chance = seed, .log = -1 },
		.slice = -1,
		.ranks = 1,
		.give = -1,
		.take = -1,
		.fabric = open_fabric(fabric),
	};

	while (tenant_act(&t))
		if (t.slice < 0)
			usleep(5000);
	_exit(0);
}
