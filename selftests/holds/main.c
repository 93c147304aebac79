// SPDX-License-Identifier: GPL-2.0-only
/*
 * Judge the longest holds of fabric->lock: holds [--only=TEXT] [profile...]
 *
 * --only runs the workloads whose names contain the text.
 *
 * The modules are built with HOLDS=y and list the longest holds in debugfs. A hold may run for as
 * long as BOUND ioctls on /dev/null, plus EACH for each change that it publishes and each record
 * that it copies. Kernels for finding bugs report their holds without a verdict.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

#include "holds.h"

#define BOUND 1000u
#define EACH 5u
#define MOST_DELAY 5000u
#define NULL_BATCH 16
#define NULL_SAMPLES 200

static const char *const profiles[] = { "server8", "rack64", "pod4096" };

static double null_ns;
bool judges;
static const char *only = "";
static bool in_workload; /* this process runs one workload and prints no results */
static unsigned int tests, failed;

void stop(const char *what)
{
	printf("%s %s: %s%s%s\n", in_workload ? "#" : "Bail out!", what, strerror(errno),
	       last_detail[0] ? ": " : "", last_detail);
	exit(1);
}

/* ----------------------------------------------------------------------- unit */

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double measure_null(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), n, i;
	static double samples[NULL_SAMPLES];

	if (fd < 0)
		stop("/dev/null");
	for (n = 0; n < NULL_SAMPLES; n++) {
		double begin = now_ns();

		for (i = 0; i < NULL_BATCH; i++)
			ioctl(fd, _IO(MORPH_IOC, 0x7f), 0);
		samples[n] = (now_ns() - begin) / NULL_BATCH;
	}
	close(fd);
	qsort(samples, NULL_SAMPLES, sizeof(*samples), compare);
	return samples[NULL_SAMPLES / 2];
}

/* ---------------------------------------------------------------------- verdict */

static void result(bool passed, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void result(bool passed, const char *format, ...)
{
	va_list args;

	failed += !passed;
	printf("%sok %u ", passed ? "" : "not ", ++tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

static void holds_path(const struct scene *scene, char *path, size_t room)
{
	snprintf(path, room, "/sys/kernel/debug/morph/fabric%u/holds", scene->sim.number);
}

static void forget_holds(const struct scene *scene)
{
	char path[80], text[32];

	holds_path(scene, path, sizeof(path));
	snprintf(text, sizeof(text), "%.0f", EACH * null_ns);
	if (write_file(path, text))
		stop(path);
}

/* Print the longest time without the processor of any holder. It has no bound. */
static void print_absence(const char *profile, const char *workload, const char *line)
{
	unsigned long long running, preempted, slept;
	unsigned int records;
	char holder[80];

	if (sscanf(line, "longest preempted: %llu %llu %llu %u %79s", &running, &preempted, &slept,
		   &records, holder) == 5)
		printf("# %s, %s: preempted for %.0f null ioctls: %s\n", profile, workload,
		       preempted / null_ns, holder);
	else if (sscanf(line, "longest asleep: %llu %llu %llu %u %79s", &running, &preempted,
			&slept, &records, holder) == 5)
		printf("# %s, %s: asleep for %.0f null ioctls: %s\n", profile, workload,
		       slept / null_ns, holder);
}

/* Report the holds of a workload. One that did not run to its end has failed. */
static void judge_holds(const struct scene *scene, const char *profile, const char *workload,
			bool ended)
{
	char path[80], line[200], holder[80], worst[80] = "none";
	unsigned long long running, preempted, slept;
	double nulls, worst_nulls = 0; /* without the time of the records */
	unsigned int records;
	FILE *stream;

	holds_path(scene, path, sizeof(path));
	stream = fopen(path, "r");
	if (!stream)
		stop(path);
	while (fgets(line, sizeof(line), stream)) {
		if (sscanf(line, "%llu %llu %llu %u %79s", &running, &preempted, &slept, &records,
			   holder) != 5) {
			print_absence(profile, workload, line);
			continue;
		}
		nulls = running / null_ns;
		printf("# %s, %s: %.0f null ioctls, %u records, %s\n", profile, workload, nulls,
		       records, holder);
		nulls -= (double)EACH * records;
		if (nulls > worst_nulls) {
			worst_nulls = nulls;
			strcpy(worst, holder);
		}
	}
	fclose(stream);
	result(ended && (!judges || worst_nulls <= BOUND),
	       "%s: %s: at most %.0f null ioctls by %s%s", profile, workload, worst_nulls, worst,
	       ended ? "" : ", but it did not run to its end");
}

/* Report the longest sleep of a holder. */
static void judge_sleep(const struct scene *scene, const char *profile, const char *workload)
{
	unsigned long long running, preempted, slept, longest = 0;
	char path[80], line[200], holder[80], sleeper[80] = "none";
	unsigned int records;
	FILE *stream;

	holds_path(scene, path, sizeof(path));
	stream = fopen(path, "r");
	if (!stream)
		stop(path);
	while (fgets(line, sizeof(line), stream)) {
		if (sscanf(line, "longest asleep: %llu %llu %llu %u %79s", &running, &preempted,
			   &slept, &records, holder) != 5)
			continue;
		longest = slept;
		strcpy(sleeper, holder);
	}
	fclose(stream);
	result(!longest, "%s: %s: %llu ns asleep by %s", profile, workload, longest, sleeper);
}

/* ------------------------------------------------------------------------- main */

int need_slice(struct scene *scene, unsigned int accelerators, unsigned int failover)
{
	struct morph_slice_create create = { .failover = failover };
	int slice = slice_create_with(scene->sim.fd, &create, NULL,
				      accelerators ? accelerators : scene->all);

	if (slice < 0)
		stop("slice");
	return slice;
}

void end_slice(struct scene *scene, int slice)
{
	close(slice);
	if (!WAIT_UNTIL(sim_no_slices(&scene->sim)))
		stop("end of a slice");
}

unsigned int light_some(int slice, unsigned int ranks)
{
	unsigned int rank, lit = 0;

	for (rank = 0; rank < ranks; rank++) {
		struct morph_change change = change_add(rank, (rank + 1) % ranks);

		lit += !txn_run(slice, &change, 1, NULL);
	}
	return lit;
}

/* Run a workload in its own process, so that its failure ends no other. Return whether it ended. */
static bool run_workload(struct scene *scene, const struct workload *workload)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		stop("fork");
	if (!child) {
		in_workload = true;
		workload->run(scene);
		exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		stop("waitpid");
	if (!WAIT_UNTIL(sim_no_slices(&scene->sim)))
		stop("end of all slices");
	return !status;
}

#define DELAYS "delay beside four hostile users"

static bool ends_without_slices(struct scene *scene)
{
	return WAIT_UNTIL(sim_no_slices(&scene->sim));
}

/* Judge the delays of a tenant's calls, which another process measures. */
static void run_delays(struct scene *scene, const char *profile)
{
	struct delay *worst;
	unsigned int i;
	int status;
	pid_t child;

	if (!strstr(DELAYS, only))
		return;
	worst = mmap(NULL, DELAYED_CALLS * sizeof(*worst), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (worst == MAP_FAILED)
		stop("mmap");
	memset(worst, 0, DELAYED_CALLS * sizeof(*worst));
	forget_holds(scene);
	fflush(stdout);
	child = fork();
	if (!child) {
		in_workload = true;
		measure_delays(scene, worst);
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		stop("process");
	for (i = 0; i < DELAYED_CALLS; i++)
		result(!status && (!judges || worst[i].ns / null_ns <= MOST_DELAY),
		       "%s: " DELAYS ": %s: at most %.0f null ioctls, %u holds, in %u calls",
		       profile, worst[i].name ?: "no call", worst[i].ns / null_ns, worst[i].holds,
		       worst[i].calls);
	judge_holds(scene, profile, DELAYS, !status && ends_without_slices(scene));
	munmap(worst, DELAYED_CALLS * sizeof(*worst));
}

static void run_list(struct scene *scene, const char *profile, const struct workload *workload,
		     bool sleeps)
{
	for (; workload->name; workload++) {
		bool ended;

		if (!strstr(workload->name, only))
			continue;
		forget_holds(scene);
		ended = run_workload(scene, workload);
		judge_holds(scene, profile, workload->name, ended);
		if (!sleeps)
			judge_sleep(scene, profile, workload->name);
	}
}

static void run_profile(const char *profile)
{
	static struct scene scene;

	sim_start(&scene.sim, profile, "settle_ns=0 relock_ns=0 write_ns=0");
	scene.all = scene.sim.info.free;
	errno = nl_open(&scene.nl);
	if (errno)
		stop("netlink");
	judge_holds(&scene, profile, "bring-up", true);
	run_list(&scene, profile, tenants, true);
	run_list(&scene, profile, moves, true);
	run_list(&scene, profile, schedules, true);
	run_list(&scene, profile, sleepless, false);
	/* Parts of hardware may stay in quarantine after the failures. */
	run_delays(&scene, profile);
	run_list(&scene, profile, failures, true);
	run_list(&scene, profile, absences, true);
	nl_close(&scene.nl);
	sim_stop(&scene.sim);
}

static bool wanted(int argc, char **argv, const char *profile)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], profile))
			return true;
	return argc <= 1;
}

int main(int argc, char **argv)
{
	const char *kernel = getenv("KERNEL");
	unsigned int i;

	judges = !kernel || !strchr(kernel, '-');
	if (argc > 1 && !strncmp(argv[1], "--only=", 7)) {
		only = argv[1] + 7;
		argc--;
		argv++;
	}
	printf("TAP version 13\n");
	mount("none", "/sys/kernel/debug", "debugfs", 0, NULL);
	mount("none", "/sys/kernel/config", "configfs", 0, NULL);
	null_ns = measure_null();
	printf("# ioctl on /dev/null: %.0f ns\n", null_ns);
	for (i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		if (wanted(argc, argv, profiles[i]))
			run_profile(profiles[i]);
	printf("1..%u\n", tests);
	return !!failed;
}
