// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holders of fabric->lock that lose the processor: to a task of a higher priority, or because the
 * time of their cgroup is used up. The bound does not apply to that time, but the file of the holds
 * shows it. Holders whose cgroup exceeds memory.high must not sleep: the kernel would let them
 * sleep inside an allocation.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

#include "holds.h"

#define ADDITIONS 1024u
#define MOST_RANKS 64u
#define RUN_NS 10000000LL /* of the task with the higher priority, each time */
#define REST_NS 1300000LL
#define TRIES 12u
#define ROOT "/run/holds-cgroup"
#define GROUP ROOT "/holds"
#define LEAST_TIME "1000 1000000" /* us of processor in each period of that many us */

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Try additions, whose planning holds the lock for long in all. */
static void try_additions(struct scene *scene)
{
	static struct morph_change changes[ADDITIONS];
	unsigned int ranks = scene->all < MOST_RANKS ? scene->all : MOST_RANKS, i;
	int slice = need_slice(scene, ranks, MORPH_FAILOVER_NONE);

	for (i = 0; i < ADDITIONS; i++)
		changes[i] = change_add(i % ranks, (i + 1) % ranks);
	for (i = 0; i < TRIES; i++) {
		struct morph_txn_run run = {
			.head.flags = MORPH_TXN_DRY_RUN,
			.generation = GENERATION_ANY,
		};

		txn_run(slice, changes, ADDITIONS, &run);
	}
	end_slice(scene, slice);
}

/* Take the processor from all other tasks, for RUN_NS each time. */
static void *preempt_others(void *unused)
{
	struct sched_param first = { .sched_priority = 1 };
	const struct timespec rest = { .tv_nsec = REST_NS };
	long long end;

	(void)unused;
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		stop("priority");
	for (;;) {
		nanosleep(&rest, NULL);
		end = now_ns() + RUN_NS;
		while (now_ns() < end)
			;
	}
	return NULL;
}

static void preempt_holders(struct scene *scene)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, preempt_others, NULL);
	if (errno)
		stop("thread");
	try_additions(scene);
}

/* Move this process to a cgroup of its own with a limit. False: the kernel has no cgroups. */
static bool enter_group(const char *controller, const char *limit, const char *value)
{
	char pid[16];

	mkdir(ROOT, 0755);
	if (mount("none", ROOT, "cgroup2", 0, NULL) && errno != EBUSY) {
		if (judges)
			stop("cgroup2");
		printf("# this kernel has no cgroups\n");
		return false;
	}
	if (write_file(ROOT "/cgroup.subtree_control", controller))
		stop(controller);
	if (mkdir(GROUP, 0755) && errno != EEXIST)
		stop(GROUP);
	snprintf(pid, sizeof(pid), "%d", getpid());
	if (write_file(limit, value) || write_file(GROUP "/cgroup.procs", pid))
		stop("cgroup");
	return true;
}

/* The process leaves the group before its parent removes the rest. */
static void leave_group(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	write_file(ROOT "/cgroup.procs", pid);
	if (rmdir(GROUP))
		stop("end of the cgroup");
}

static void throttle_holders(struct scene *scene)
{
	if (!enter_group("+cpu", GROUP "/cpu.max", LEAST_TIME))
		return;
	try_additions(scene);
	leave_group();
}

/* How often the cgroup has exceeded memory.high. */
static unsigned long long times_exceeded(void)
{
	FILE *stream = fopen(GROUP "/memory.events", "r");
	unsigned long long times = 0;
	char line[80];

	while (stream && fgets(line, sizeof(line), stream))
		sscanf(line, "high %llu", &times);
	if (stream)
		fclose(stream);
	return times;
}

/* The kernel lets a task over memory.high sleep for up to 2 s, in an allocation that may sleep. */
static void exceed_memory(struct scene *scene)
{
	const struct workload *workload;

	if (!enter_group("+memory", GROUP "/memory.high", "0"))
		return;
	for (workload = tenants; workload->name; workload++)
		workload->run(scene);
	errno = 0;
	if (!times_exceeded())
		stop("memory.high was never exceeded");
	printf("# memory.high was exceeded %llu times\n", times_exceeded());
	leave_group();
}

const struct workload absences[] = {
	{ "holder preempted by a task of higher priority", preempt_holders },
	{ "holder throttled by cpu.max", throttle_holders },
	{ NULL, NULL },
};

const struct workload sleepless[] = {
	{ "holder over memory.high", exceed_memory },
	{ NULL, NULL },
};
