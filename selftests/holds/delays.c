// SPDX-License-Identifier: GPL-2.0-only
/*
 * The delay of a tenant's short calls beside hostile users, each with a process of several threads.
 *
 * A call is delayed by the holds of fabric->lock that it waits for. Their length is the running
 * time of their holders, so the figures do not depend on the order in which the only processor runs
 * the threads. The tenant's thread runs before all others when it can.
 */
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "holds.h"

#define HOSTILE_USERS 4u
#define THREADS_PER_ROLE 3u
#define FIRST_UID 2000u
#define ADDITIONS 1024u
#define MOST_RANKS 64u
#define MATCHINGS 16u
#define MEASURE_MS 1500
#define LEAST_CALLS 40u

/* ------------------------------------------------------------------- hostile users */

struct hostile {
	const struct scene *scene;
	int fabric;
	/* Slices of the user, or -1. Threads of a role share one. */
	int routed, stepped, prepared;
	unsigned int ranks, stepped_ranks;
};

static void dry_runs(const struct hostile *hostile)
{
	struct morph_change *changes = calloc(ADDITIONS, sizeof(*changes));
	unsigned int i, n = hostile->ranks;

	for (i = 0; i < ADDITIONS; i++)
		changes[i] = change_add(i % n, (i % n + 1 + i / n % (n - 1)) % n);
	for (;;) {
		struct morph_txn_run run = {
			.head.flags = MORPH_TXN_DRY_RUN,
			.generation = GENERATION_ANY,
		};

		txn_run(hostile->routed, changes, ADDITIONS, &run);
	}
}

/* More lanes than any path has. */
static void failing_searches(const struct hostile *hostile)
{
	for (;;) {
		struct morph_txn_run run = {
			.head.flags = MORPH_TXN_DRY_RUN,
			.generation = GENERATION_ANY,
		};
		struct morph_change change = change_add(0, hostile->ranks - 1);

		change.lanes_count = 64;
		txn_run(hostile->routed, &change, 1, &run);
	}
}

static void opens(const struct hostile *hostile)
{
	for (;;) {
		int fabric = open_fabric(hostile->scene->sim.number);
		int slice = slice_create(fabric, 1);

		if (slice >= 0)
			close(slice);
		close(fabric);
	}
}

static void schedule_loads(const struct hostile *hostile)
{
	unsigned int ranks = hostile->stepped_ranks;
	struct morph_schedule_circuit *circuits = calloc(ranks * MATCHINGS, sizeof(*circuits));
	struct morph_schedule_step *steps = calloc(MATCHINGS, sizeof(*steps));
	uint32_t *held = calloc(ranks * MATCHINGS, sizeof(*held));

	fill_matchings(ranks, MATCHINGS, circuits, steps, held);
	for (;;) {
		struct morph_schedule_load load = {
			.head = HEAD(morph_schedule_load),
			.circuits = ARRAY(circuits, ranks * MATCHINGS),
			.held = ARRAY(held, ranks * MATCHINGS),
			.steps = ARRAY(steps, MATCHINGS),
			.generation = GENERATION_ANY,
		};

		if (!ioctl(hostile->stepped, MORPH_SCHEDULE_LOAD, &load))
			schedule_act(hostile->stepped, load.out_schedule, MORPH_SCHEDULE_UNLOAD,
				     NULL);
	}
}

static void ignore(const struct nlmsghdr *message, void *context)
{
	(void)message;
	(void)context;
}

static void dumps(const struct hostile *hostile)
{
	struct nl *nl = calloc(1, sizeof(*nl));

	(void)hostile;
	if (nl_open(nl))
		exit(1);
	for (;;) {
		nl_begin(nl, MORPH_CMD_HARDWARE_GET, 0);
		nl_dump(nl, ignore, NULL);
	}
}

static void prepares(const struct hostile *hostile)
{
	for (;;) {
		struct morph_txn_run run = {
			.head.flags = MORPH_TXN_PREPARE,
			.generation = GENERATION_ANY,
			.lease_ns = 600000000000ULL,
		};
		struct morph_change changes[] = { change_add(0, 1), change_add(1, 0) };

		if (!txn_run(hostile->prepared, changes, 2, &run))
			txn_step(hostile->prepared, run.out_txn, MORPH_TXN_REVERT, 0, NULL);
	}
}

static void (*const roles[])(const struct hostile *hostile) = {
	dry_runs, failing_searches, opens, schedule_loads, dumps, prepares,
};

#define ROLES (sizeof(roles) / sizeof(roles[0]))

struct thread {
	const struct hostile *hostile;
	void (*role)(const struct hostile *hostile);
};

static void *run_role(void *argument)
{
	const struct thread *thread = argument;

	thread->role(thread->hostile);
	return NULL;
}

static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		stop("user");
}

/* A slice of the user; on a small fabric the later ones share the first. */
static int make_slice(const struct hostile *hostile, unsigned int *ranks, int other)
{
	int slice;

	if (*ranks < 2)
		*ranks = 2;
	slice = other >= 0 && hostile->scene->all < 32 ? -1 : slice_create(hostile->fabric, *ranks);
	return slice >= 0 ? slice : other;
}

/* The process of one user: threads of all roles that its slices allow. Never returns. */
static void __attribute__((noreturn)) be_hostile(const struct scene *scene, unsigned int user)
{
	static struct thread threads[ROLES * THREADS_PER_ROLE];
	struct hostile hostile = { .scene = scene };
	unsigned int share = (scene->all - 2) / HOSTILE_USERS, i, two = 2;
	pthread_t id;

	become(FIRST_UID + user);
	/* After the change of the user, which clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	hostile.fabric = open_fabric(scene->sim.number);
	if (hostile.fabric < 0)
		stop("fabric");
	hostile.ranks = share / 2 < MOST_RANKS ? share / 2 : MOST_RANKS;
	hostile.stepped_ranks = hostile.ranks / 2;
	hostile.routed = make_slice(&hostile, &hostile.ranks, -1);
	hostile.stepped = make_slice(&hostile, &hostile.stepped_ranks, hostile.routed);
	hostile.prepared = make_slice(&hostile, &two, hostile.routed);
	for (i = 0; i < ROLES * THREADS_PER_ROLE; i++) {
		threads[i] = (struct thread){ &hostile, roles[i % ROLES] };
		if (hostile.routed < 0 && threads[i].role != dumps)
			threads[i].role = opens;
		if (pthread_create(&id, NULL, run_role, &threads[i]))
			stop("thread");
	}
	for (;;)
		pause();
}

/* ------------------------------------------------------------------- the tenant */

struct tenant {
	const struct scene *scene;
	int fabric, slice, waits;
	unsigned int circuit; /* the last one that was added */
};

static void read_slice(struct tenant *tenant)
{
	struct morph_slice_info info;

	if (slice_info(tenant->slice, &info))
		stop("info");
}

static void open_node(struct tenant *tenant)
{
	close(open_fabric(tenant->scene->sim.number));
}

static void try_addition(struct tenant *tenant)
{
	struct morph_txn_run run = {
		.head.flags = MORPH_TXN_DRY_RUN,
		.generation = GENERATION_ANY,
	};
	struct morph_change change = change_add(0, 1);

	txn_run(tenant->slice, &change, 1, &run);
}

static void add_circuit(struct tenant *tenant)
{
	struct morph_change change = change_add(0, 1);

	if (txn_run(tenant->slice, &change, 1, NULL))
		stop("addition");
	tenant->circuit = change.circuit;
}

static void remove_circuit(struct tenant *tenant)
{
	struct morph_change change = change_remove(tenant->circuit);

	if (txn_run(tenant->slice, &change, 1, NULL))
		stop("removal");
}

static const struct call {
	const char *name;
	void (*run)(struct tenant *tenant);
} calls[DELAYED_CALLS] = {
	{ "read of a slice", read_slice },	    { "open of a node", open_node },
	{ "dry run of an addition", try_addition }, { "addition of a circuit", add_circuit },
	{ "removal of a circuit", remove_circuit },
};

/* Run a call and keep its delay if it is the longest one. */
static void measure_call(struct tenant *tenant, const struct call *call, struct delay *worst)
{
	struct delay delay = { .name = call->name };
	char text[48] = "";

	if (pwrite(tenant->waits, "1", 1, 0) != 1)
		stop("waits");
	call->run(tenant);
	if (pread(tenant->waits, text, sizeof(text) - 1, 0) < 0 ||
	    sscanf(text, "%llu %u", &delay.ns, &delay.holds) != 2)
		stop("waits");
	delay.calls = worst->calls + 1;
	if (delay.ns < worst->ns) {
		delay.ns = worst->ns;
		delay.holds = worst->holds;
	}
	*worst = delay;
}

void measure_delays(struct scene *scene, struct delay *worst)
{
	struct sched_param first = { .sched_priority = 1 };
	struct tenant tenant = { .scene = scene };
	pid_t hostile[HOSTILE_USERS];
	unsigned int i, n;
	char path[80];
	long long end;

	snprintf(path, sizeof(path), "/dev/morph/fabric%u", scene->sim.number);
	if (chmod(path, 0666))
		stop(path);
	snprintf(path, sizeof(path), "/sys/kernel/debug/morph/fabric%u/waits", scene->sim.number);
	tenant.waits = open(path, O_RDWR | O_CLOEXEC);
	if (tenant.waits < 0)
		stop(path);
	tenant.fabric = open_fabric(scene->sim.number);
	tenant.slice = slice_create(tenant.fabric, 2);
	if (tenant.slice < 0)
		stop("slice of the tenant");
	for (i = 0; i < HOSTILE_USERS; i++) {
		hostile[i] = fork();
		if (!hostile[i])
			be_hostile(scene, i);
	}
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		stop("priority");
	usleep(100000);
	end = now_ms() + MEASURE_MS;
	for (n = 0; n < LEAST_CALLS || now_ms() < end; n++) {
		measure_call(&tenant, &calls[n % DELAYED_CALLS], &worst[n % DELAYED_CALLS]);
		usleep(1000);
	}
	for (i = 0; i < HOSTILE_USERS; i++) {
		kill(hostile[i], SIGKILL);
		waitpid(hostile[i], NULL, 0);
	}
}
