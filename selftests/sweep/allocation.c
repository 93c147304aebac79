// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fail in turn every allocation of a command:
 *
 *   allocation [--record] [--nosleep] [command [n]]
 *
 * The first, second, ... n-th allocation of the calling task fails, until the command makes fewer
 * than n. After each run, a failed command must have changed nothing, and a successful one must be
 * complete. The kernel must have fault injection.
 *
 * With --nosleep only allocations that must not sleep fail, such as those under fabric->lock: first
 * one at a time, then all of a command. Each of them has a fallback, so every command must succeed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "allocation.h"
#include "progress.h"
#include "schedule.h"

#define WORKER_TRIES 60 /* about one try in eight succeeds on RECORDED_ON */
#define MOST_POINTS 400
#define SLAB_POINTS 4
#define RECORDED_ON "6.1-kasan"
#define ALL MORPH_ANY /* instead of the number of an allocation */

static struct stage stage;
static bool nosleep; /* only allocations that must not sleep fail */

/* All state that a command might change, as one line. */
struct picture {
	char line[PICTURE_BYTES];
	bool prepared;
};

/* ------------------------------------------------------------------ the state */

static struct nl watcher; /* a separate socket for reading the state */

/* Read the quota of a user into the watcher's reply. */
static void ask_quota(uint32_t user)
{
	nl_begin(&watcher, MORPH_CMD_QUOTA_GET, 0);
	nl_put_u32(&watcher, MORPH_A_QUOTA_UID, user);
	must(nl_do(&watcher), "quota-get");
}

static unsigned int draw_charges(char *line, size_t room)
{
	unsigned int prepared, at;

	ask_quota(0);
	prepared = REPLY_U32(&watcher, MORPH_A_QUOTA_USED_PREPARED);
	at = snprintf(line, room, "%u %u %u %u",
		      REPLY_U32(&watcher, MORPH_A_QUOTA_USED_ACCELERATORS),
		      REPLY_U32(&watcher, MORPH_A_QUOTA_USED_CIRCUITS),
		      REPLY_U32(&watcher, MORPH_A_QUOTA_USED_LANES), prepared);
	ask_quota(4444);
	snprintf(line + at, room - at, " limit %u", REPLY_U32(&watcher, MORPH_A_QUOTA_CIRCUITS));
	return prepared;
}

/* Count the accelerators of each use and health. Spares of other colours count as free. */
static void draw_accelerators(char *line, size_t room)
{
	static struct morph_accelerator_info accelerators[64];
	struct morph_fabric_read args = {
		.head.size = sizeof(args),
		.entries = ARRAY(accelerators, 64),
	};
	unsigned int i, used[4][4] = {}, cordoned = 0, u, h, at = 0;

	must(ERRNO(ioctl(stage.sim.fd, MORPH_FABRIC_READ_ACCELERATORS, &args)), "accelerators");
	for (i = 0; i < args.entries.count; i++) {
		used[accelerators[i].use & 3][accelerators[i].health & 3]++;
		cordoned += accelerators[i].cordoned;
	}
	for (u = 0; u < 4; u++)
		for (h = 0; h < 4; h++)
			at += snprintf(line + at, room - at, "%u", used[u][h]);
	snprintf(line + at, room - at, " cordoned %u", cordoned);
}

static unsigned int odd_elements(void)
{
	static struct morph_element_info elements[4096];
	struct morph_fabric_read args = {
		.head.size = sizeof(args),
		.entries = ARRAY(elements, 4096),
	};
	unsigned int i, odd = 0;

	must(ERRNO(ioctl(stage.sim.fd, MORPH_FABRIC_READ_ELEMENTS, &args)), "elements");
	for (i = 0; i < args.entries.count; i++)
		odd += elements[i].health * 100 + elements[i].cordoned;
	return odd;
}

/* The number of nodes, and the sums of their owners and modes. */
static void draw_nodes(char *line, size_t room)
{
	unsigned int nodes = 0, owners = 0, modes = 0;
	struct dirent *entry;
	struct stat node;
	DIR *dir = opendir("/dev/morph");

	must(!dir, "/dev/morph");
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || fstatat(dirfd(dir), entry->d_name, &node, 0))
			continue;
		nodes++;
		owners += node.st_uid;
		modes += node.st_mode & 0777;
	}
	closedir(dir);
	snprintf(line, room, "%u of %u mode %o", nodes, owners, modes);
}

static void draw_controller(const struct nlmsghdr *message, void *context)
{
	char *line = context;

	sprintf(line + strlen(line), " %u@%llu:%u",
		nl_get_u32(nl_find(message, MORPH_A_CONTROLLER_ID)),
		(unsigned long long)nl_get_u64(nl_find(message, MORPH_A_CONTROLLER_EPOCH)),
		nl_get_u32(nl_find(message, MORPH_A_CONTROLLER_LANES_COUNT)));
}

/* Number, epoch and lanes of each controller; there is at most one. */
static void draw_controllers(char *line)
{
	*line = '\0';
	nl_begin(&watcher, MORPH_CMD_CONTROLLER_GET, 0);
	nl_put_u32(&watcher, MORPH_A_CONTROLLER_FABRIC, stage.edges.number);
	must(nl_dump(&watcher, draw_controller, line), "controllers");
}

/* The number of threads that poll for queue entries. */
static unsigned int ring_threads(void)
{
	DIR *dir = opendir("/proc");
	unsigned int threads = 0;
	struct dirent *entry;

	must(!dir, "/proc");
	while ((entry = readdir(dir)))
		threads += is_called(entry->d_name, "morph-ring");
	closedir(dir);
	return threads;
}

/* For each schedule of the slice: its state, its step, and its number of lit circuits. */
static void draw_schedules(char *line, size_t room)
{
	unsigned int at = snprintf(line, room, "%u", ring_threads());
	struct morph_schedule_info info = {};

	while (at < room && !schedule_info(stage.slice, info.schedule + 1, &info))
		at += snprintf(line + at, room - at, " %u@%d:%u", info.state, (int)info.step,
			       info.lit);
}

static void draw(struct picture *picture)
{
	char accelerators[64], nodes[64], charges[64], controllers[64], schedules[64];
	unsigned int i, at;
	struct view view;

	sim_refresh(&stage.sim);
	draw_accelerators(accelerators, sizeof(accelerators));
	draw_nodes(nodes, sizeof(nodes));
	picture->prepared = draw_charges(charges, sizeof(charges));
	draw_controllers(controllers);
	draw_schedules(schedules, sizeof(schedules));
	must(ERRNO(view_read(stage.slice, &view)), "the slice");
	at = snprintf(
		picture->line, sizeof(picture->line),
		"slices %u nodes %s use %s elements %u charged %s controllers%s rings %s policy %u state %u",
		stage.sim.info.slices, nodes, accelerators, odd_elements(), charges, controllers,
		schedules, view.info.failover, view.info.state);
	for (i = 0; i < view.info.circuits.count; i++)
		at += snprintf(picture->line + at, sizeof(picture->line) - at, " %u>%u:%u",
			       view.circuits[i].src_rank, view.circuits[i].dst_rank,
			       view.circuits[i].state);
}

static bool same(const struct picture *a, const struct picture *b)
{
	return !strcmp(a->line, b->line);
}

/*
 * Wait until the state is one of two, and no operation is in progress. Return NULL, or the actual
 * state.
 */
static const char *becomes(const struct picture *one, const struct picture *other,
			   struct picture *now)
{
	long long until = now_ms() + PATIENCE_MS;

	for (;;) {
		if (!world_rest(&stage.sim))
			return "the slice never became idle";
		draw(now);
		if (same(now, one) || same(now, other))
			return NULL;
		if (now_ms() > until)
			return say("the state is\n#   %s, expected\n#   %s", now->line, one->line);
		usleep(5000);
	}
}

/* Compare light and accounts with the circuits. With a prepared transaction they do not match. */
static const char *wrong_light(const struct picture *now)
{
	return now->prepared ? NULL : world_wrong(&stage.sim, stage.parked, &stage.slice, 1);
}

/* -------------------------------------------------------------------- the sweep */

static uint32_t edge_guide(void)
{
	nl_begin(&watcher, MORPH_CMD_EDGE_GET, 0);
	nl_put_u32(&watcher, MORPH_A_EDGE_FABRIC, stage.edges.number);
	nl_put_u32(&watcher, MORPH_A_EDGE_ID, 0);
	must(nl_do(&watcher), "edge-get");
	return REPLY_U32(&watcher, MORPH_A_EDGE_GUIDE);
}

static void prepare_stage(void)
{
	static const uint32_t wanted[] = { 0, 1, 2 }, other[] = { 6 };
	struct morph_slice_create named = { .name = "opened" };
	struct view view;
	unsigned int i;
	int fd;

	sim_start(&stage.sim, "server8", NULL);
	world_parked(&stage.sim, stage.parked);
	fd = slice_create_with(stage.sim.fd, &named, other, 1);
	must(ERRNO(fd), "a named slice");
	close(fd);
	stage.named = named.out_slice;
	stage.slice = slice_create_at(stage.sim.fd, wanted, 3);
	must(ERRNO(stage.slice), "a slice");
	must(ERRNO(light_ring(stage.slice, 3)), "a ring");
	must(ERRNO(view_read(stage.slice, &view)), "reading the slice");
	stage.number = view.info.slice;
	for (i = 0; i < 3; i++)
		stage.circuits[i] = view.circuits[i].circuit;
	fcntl(stage.slice, F_SETFL, O_NONBLOCK);
	stage.fd = -1;
	sim_start(&stage.edges, "edge4", NULL);
	stage.guide = edge_guide();
}

/* The caller of a command. */
enum caller {
	ABI,
	NETLINK,
	WORKER
};

/* Is this an error that a lack of memory may cause? */
static bool documented(int error, enum caller caller)
{
	return !nosleep && (error == ENOMEM || (caller == NETLINK && error == ENOBUFS));
}

/* Does the state match the answer? Return NULL or a description. */
static const char *judge(const struct command *command, enum caller caller, int error,
			 const struct picture *set, const struct picture *after,
			 struct picture *now)
{
	const char *what;

	/* If the answer was lost, the request may or may not have been carried out. */
	if (caller == NETLINK && error == ENOBUFS)
		what = becomes(set, after, now);
	else if (caller == WORKER && !command->must && !nosleep)
		what = becomes(after, set, now);
	else
		what = becomes(error ? set : after, error ? set : after, now);
	return what ? what : wrong_light(now);
}

/* Find the state after the complete command. */
static void learn(const struct command *command, const struct picture *set, struct picture *after)
{
	if (command->restores) {
		*after = *set;
		return;
	}
	if (command->queued)
		usleep(200000 * slowness());
	must(!world_rest(&stage.sim), "rest");
	draw(after);
}

/* Prepare the command; *set is the state after that. */
static void set_stage(const struct command *command, const struct picture *before,
		      struct picture *set)
{
	*set = *before;
	if (!command->set)
		return;
	command->set(&stage);
	must(!world_rest(&stage.sim), "rest");
	draw(set);
}

/* Undo the command, or its preparation. */
static void clear_stage(const struct command *command, bool done)
{
	if (done && command->undo)
		command->undo(&stage);
	else if (!done && command->unset)
		command->unset(&stage);
}

/* Run the command while its n-th allocation fails, or all. *failed: was there such a failure? */
static int act(const struct command *command, enum victim victim, unsigned int n, bool *failed)
{
	unsigned int failures = failures_count();
	int error;

	if (n == ALL)
		fail_all(victim, true);
	else if (n)
		fail_nth(victim, n);
	error = command->act(&stage);
	if (n && victim == WORKERS) {
		/* The worker may not have begun. */
		usleep(200000 * slowness());
		must(!world_rest(&stage.sim), "rest");
	}
	if (n == ALL)
		fail_all(victim, false);
	*failed = n == ALL ? failures_count() != failures : n && !fail_nth_left(victim);
	return error;
}

/*
 * Run the command once while its n-th allocation fails, or all; n = 0: none fails. Return NULL or a
 * description; *failed reports whether there was such an allocation. The state must be *before at
 * the start and at the end. *after is the state after the complete command, which the run with n =
 * 0 finds.
 */
static const char *once(const struct command *command, enum caller caller, unsigned int n,
			const struct picture *before, struct picture *after, bool *failed)
{
	static struct picture set, now;
	const char *what;
	bool done;
	int error;

	must(nl_open(&stage.nl), "netlink");
	set_stage(command, before, &set);
	error = act(command, caller == WORKER ? WORKERS : SELF, n, failed);
	if (error && (!*failed || !documented(error, caller))) {
		nl_close(&stage.nl);
		return say("it answers %s: %s", strerror(error), last_detail);
	}
	/* The state may not have begun to change. */
	if ((command->restores || error == ENOBUFS) && caller != WORKER)
		usleep(200000 * slowness());
	if (!n)
		learn(command, &set, after);
	what = judge(command, caller, error, &set, after, &now);
	done = (!error && caller != WORKER) || !same(&now, &set);
	clear_stage(command, done);
	nl_close(&stage.nl);
	if (what || (same(&now, before) && !(done ? command->undo : command->unset)))
		return what;
	return becomes(before, before, &now);
}

/* The name of this sweep in the table of points. */
static const char *label(void)
{
	return nosleep ? "nosleep" : "allocation";
}

static unsigned int tests, failures, points_all;

static void result(const char *name, const char *what)
{
	tests++;
	failures += what != NULL;
	if (what)
		printf("# %s\n", what);
	printf("%sok %u %s\n", what ? "not " : "", tests, name);
}

/*
 * The number of allocations depends on the kernel, too: a debug kernel may add others to each of
 * the driver's. The file has the numbers of one kernel.
 */
static const char *wrong_number(const char *command, unsigned int points)
{
	const char *what = points_check(label(), command, points, 1 + points / 16);
	const char *kernel = getenv("KERNEL");

	return kernel && strcmp(kernel, RECORDED_ON) ? NULL : what;
}

/* Print how to repeat a run. */
static void print_repeat(const struct command *command, unsigned int n)
{
	printf("# build/selftests/sweep/allocation%s %s %u\n", nosleep ? " --nosleep" : "",
	       command->name, n);
}

/*
 * Fail all allocations of a command. If it has more points than a growing slab may add, some must
 * fail.
 */
static const char *fail_at_once(const struct command *command, enum caller caller,
				unsigned int points, const struct picture *before,
				struct picture *after)
{
	unsigned int failures_before = failures_count();
	const char *what;
	bool failed;

	what = once(command, caller, ALL, before, after, &failed);
	printf("# %s: %u failures at once\n", command->name, failures_count() - failures_before);
	if (!what && !failed && points > SLAB_POINTS)
		what = say("%u points, but none failed at once", points);
	if (what)
		print_repeat(command, ALL);
	return what;
}

static void sweep(const struct command *command, enum caller caller, unsigned int only)
{
	static struct picture before, after;
	unsigned int n, tries, points = 0, stride = command->stride ? command->stride : 1;
	const char *what;
	bool failed;

	draw(&before);
	what = once(command, caller, 0, &before, &after, &failed);
	/* All workers at once suffice: it is random which of them has a failure. */
	for (n = only ? only : 1; n <= MOST_POINTS && !what && !(nosleep && caller == WORKER);
	     n += stride) {
		/* A worker started later may have done the work, so try again. */
		tries = caller == WORKER && !points ? WORKER_TRIES : 1;
		do
			what = once(command, caller, n, &before, &after, &failed);
		while (!what && !failed && --tries);
		if (what)
			print_repeat(command, n);
		if (only || !failed)
			break;
		points++;
	}
	if (nosleep && !what && !only)
		what = fail_at_once(command, caller, points, &before, &after);
	points_all += points;
	/*
	 * The assignment of work to workers is random. So is, to a small extent, the filling of
	 * slabs.
	 */
	if (!what && !only && caller != WORKER)
		what = wrong_number(command->name, points);
	if (!what && !only && caller == WORKER && !points && !nosleep)
		what = "no allocation of a worker has failed";
	result(command->name, what);
	progress("%s: %u allocations so far", command->name, points_all);
}

static void sweep_all(const struct command *commands, unsigned int count, enum caller caller,
		      int argc, char **argv)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (argc < 2 || !strcmp(argv[1], commands[i].name))
			sweep(&commands[i], caller, argc > 2 ? atoi(argv[2]) : 0);
}

/* Take an option from the arguments if it comes first. */
static bool take_option(int *argc, char ***argv, const char *option)
{
	bool given = *argc > 1 && !strcmp((*argv)[1], option);

	*argc -= given;
	*argv += given;
	return given;
}

int main(int argc, char **argv)
{
	bool record = take_option(&argc, &argv, "--record");

	nosleep = take_option(&argc, &argv, "--nosleep");
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!failures_ready(nosleep)) {
		printf("1..0 # SKIP this kernel has no fault injection\n");
		return 0;
	}
	points_begin(record);
	must(nl_open(&watcher), "netlink");
	prepare_stage();
	printf("TAP version 13\n");
	sweep_all(abi_commands, abi_commands_count, ABI, argc, argv);
	sweep_all(netlink_commands, netlink_commands_count, NETLINK, argc, argv);
	sweep_all(controller_commands, controller_commands_count, NETLINK, argc, argv);
	sweep_all(schedule_commands, schedule_commands_count, ABI, argc, argv);
	sweep_all(worker_commands, worker_commands_count, WORKER, argc, argv);
	if (nosleep)
		sweep_all(big_commands, big_commands_count, ABI, argc, argv);
	if (argc < 2)
		result("all that is recorded was swept", points_end(label()));
	printf("# %u points\n1..%u\n", points_all, tests);
	close(stage.slice);
	must(ERRNO(slice_delete(stage.sim.fd, MORPH_ANY, "opened", 0)), "slice_delete");
	sim_stop(&stage.edges);
	sim_stop(&stage.sim);
	return failures != 0;
}
