// SPDX-License-Identifier: GPL-2.0-only
/* Slices, circuits and events for tests. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fabric.h"

int grant_create(int fabric, struct morph_grant_create *args)
{
	args->head = (struct morph_head)HEAD(morph_grant_create);
	return ioctl(fabric, MORPH_GRANT_CREATE, args) ? -1 : args->out_fd;
}

int slice_create_with(int fabric, struct morph_slice_create *args, const uint32_t *accelerators,
		      unsigned int count)
{
	args->head.size = sizeof(*args);
	args->head.detail_ptr = (uintptr_t)last_detail;
	args->head.detail_len = sizeof(last_detail);
	args->accelerators.ptr = (uintptr_t)accelerators;
	args->accelerators.count = count;
	args->accelerators.stride = sizeof(*accelerators);
	if (ioctl(fabric, MORPH_SLICE_CREATE, args))
		return -1;
	return args->head.flags & MORPH_SLICE_DRY_RUN ? 0 : args->out_fd;
}

int slice_create_at(int fabric, const uint32_t *accelerators, unsigned int count)
{
	struct morph_slice_create args = {};

	return slice_create_with(fabric, &args, accelerators, count);
}

int slice_create(int fabric, unsigned int count)
{
	return slice_create_at(fabric, NULL, count);
}

int slice_read(int slice, struct morph_slice_info *info, struct morph_rank_info *ranks,
	       unsigned int ranks_room, struct morph_circuit_info *circuits,
	       unsigned int circuits_room)
{
	*info = (struct morph_slice_info){
		.head = HEAD(morph_slice_info),
		.ranks = ARRAY(ranks, ranks_room),
		.circuits = ARRAY(circuits, circuits_room),
	};
	return ioctl(slice, MORPH_SLICE_INFO, info);
}

int slice_info(int slice, struct morph_slice_info *info)
{
	return slice_read(slice, info, NULL, 0, NULL, 0);
}

int circuit_guides(int slice, unsigned int circuit, uint32_t *guides, unsigned int room)
{
	struct morph_circuit_path path = {
		.head.size = sizeof(path),
		.circuit = circuit,
		.guides = ARRAY(guides, room),
	};

	return ioctl(slice, MORPH_CIRCUIT_PATH, &path) ? -1 : (int)path.guides.count;
}

int slice_delete(int fabric, unsigned int number, const char *name, unsigned int flags)
{
	struct morph_slice_delete args = { .head = HEAD(morph_slice_delete), .slice = number };

	args.head.flags = flags;
	if (name)
		strncpy(args.name, name, sizeof(args.name) - 1);
	return ioctl(fabric, MORPH_SLICE_DELETE, &args);
}

int slice_policy(int slice, unsigned int failover)
{
	struct morph_slice_policy args = {
		.head = HEAD(morph_slice_policy),
		.failover = failover,
	};

	return ioctl(slice, MORPH_SLICE_POLICY, &args);
}

struct morph_change change_add(unsigned int src, unsigned int dst)
{
	return (struct morph_change){
		.op = MORPH_CHANGE_ADD,
		.src_rank = src,
		.dst_rank = dst,
		.src_plane = MORPH_PLANE_ANY,
		.dst_plane = MORPH_PLANE_ANY,
		.lanes_count = 1,
	};
}

struct morph_change change_remove(unsigned int circuit)
{
	return (struct morph_change){ .op = MORPH_CHANGE_REMOVE, .circuit = circuit };
}

int txn_run(int slice, struct morph_change *changes, unsigned int count, struct morph_txn_run *args)
{
	struct morph_txn_run plain = { .generation = GENERATION_ANY };

	if (!args)
		args = &plain;
	args->head.size = sizeof(*args);
	args->head.detail_ptr = (uintptr_t)last_detail;
	args->head.detail_len = sizeof(last_detail);
	args->changes = (struct morph_array)ARRAY(changes, count);
	return ioctl(slice, MORPH_TXN_RUN, args);
}

int schedule_act(int slice, unsigned int schedule, unsigned int verb,
		 struct morph_schedule_act *args)
{
	struct morph_schedule_act plain = {};

	if (!args)
		args = &plain;
	args->head = (struct morph_head)HEAD(morph_schedule_act);
	args->schedule = schedule;
	args->verb = verb;
	return ioctl(slice, MORPH_SCHEDULE_ACT, args);
}

int txn_step(int slice, unsigned int txn, unsigned int verb, uint64_t lease_ns,
	     struct morph_txn_step *args)
{
	struct morph_txn_step plain;

	if (!args)
		args = &plain;
	*args = (struct morph_txn_step){
		.head = HEAD(morph_txn_step),
		.txn = txn,
		.verb = verb,
		.lease_ns = lease_ns,
	};
	return ioctl(slice, MORPH_TXN_STEP, args);
}

#define MOST_TURNS 8

int schedule_in_turn(int slice, const struct morph_schedule_circuit *circuits, unsigned int count,
		     uint32_t *first)
{
	struct morph_schedule_step steps[MOST_TURNS];
	uint32_t held[MOST_TURNS], i;
	struct morph_schedule_load load = {
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(circuits, count),
		.steps = ARRAY(steps, count),
		.held = ARRAY(held, count),
		.generation = GENERATION_ANY,
	};

	if (count > MOST_TURNS) {
		errno = E2BIG;
		return -1;
	}
	for (i = 0; i < count; i++) {
		steps[i] = (struct morph_schedule_step){ .first = i, .count = 1 };
		held[i] = i;
	}
	if (ioctl(slice, MORPH_SCHEDULE_LOAD, &load))
		return -1;
	if (first)
		*first = load.out_circuit;
	return (int)load.out_schedule;
}

int rank_act(int slice, unsigned long command, unsigned int rank, unsigned int spare,
	     struct morph_rank_act *args)
{
	struct morph_rank_act plain;

	if (!args)
		args = &plain;
	*args = (struct morph_rank_act){
		.head = HEAD(morph_rank_act),
		.rank = rank,
		.spare = spare,
	};
	return ioctl(slice, command, args);
}

int light_ring(int slice, unsigned int ranks)
{
	struct morph_change changes[ranks];
	unsigned int i;

	for (i = 0; i < ranks; i++)
		changes[i] = change_add(i, (i + 1) % ranks);
	return txn_run(slice, changes, ranks, NULL);
}

int wait_event(int slice, unsigned int type, int timeout_ms, struct morph_event *event)
{
	long long until = now_ms() + timeout_ms, left;
	struct pollfd pollfd = { .fd = slice, .events = POLLIN };
	struct morph_event unwanted;

	if (!event)
		event = &unwanted;
	for (left = timeout_ms; left >= 0; left = until - now_ms()) {
		if (poll(&pollfd, 1, left) <= 0)
			continue;
		if (!(pollfd.revents & POLLIN))
			break;
		if (read(slice, event, sizeof(*event)) != sizeof(*event))
			return -1;
		if (event->type == type)
			return 0;
	}
	errno = ETIME;
	return -1;
}

int drain_events(int slice)
{
	struct pollfd pollfd = { .fd = slice, .events = POLLIN };
	struct morph_event event;
	int count = 0;

	while (poll(&pollfd, 1, 0) == 1 && pollfd.revents & POLLIN &&
	       read(slice, &event, sizeof(event)) == sizeof(event))
		count++;
	return count;
}

void wait_asleep(pid_t pid)
{
	char path[32], state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	do {
		usleep(1000);
		file = fopen(path, "r");
		if (!file)
			return;
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 'R';
		fclose(file);
	} while (state != 'S');
}

void wait_thread_asleep(const pid_t *tid)
{
	pid_t started;

	while (!(started = __atomic_load_n(tid, __ATOMIC_ACQUIRE)))
		nap();
	wait_asleep(started);
}
