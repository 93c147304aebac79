// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress [seed [seconds [operator]]], or stress hold to run one tenant only.
 *
 * Tenants start, change circuits and die on one fabric after another. At random, hardware fails and
 * sim_pull() removes the provider. At intervals all tenants pause, and the accounts of the core
 * must agree with the hardware. At the end all lanes must be dark, free and released.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"

#define TENANTS 7 /* the first one is the borrower */
#define OPERATORS 2

struct scene {
	struct sim sim;
	uint64_t seed;
	pid_t tenants[TENANTS], operators[OPERATORS];
	const char *operator; /* program of the operator, or NULL */
	struct loan_counts *loans; /* shared with the borrowers */
	unsigned int born, killed, faults, pulls;
};

static unsigned int tests;

static void result(const char *profile, const char *name, const char *what)
{
	printf("%sok %u %s: %s\n", what ? "not " : "", ++tests, profile, name);
	if (what)
		printf("# %s\n", what);
	fflush(stdout);
}

static void bear(struct scene *scene, unsigned int index)
{
	uint64_t seed = (uint64_t)pick(&scene->seed, 1u << 30) << 20 | index;

	scene->born++;
	scene->tenants[index] = fork();
	if (scene->tenants[index])
		return;
	if (!index)
		borrower(&scene->sim, seed, scene->loans);
	tenant(scene->sim.number, seed);
}

static void bury(struct scene *scene, unsigned int index)
{
	kill(scene->tenants[index], SIGKILL);
	waitpid(scene->tenants[index], NULL, 0);
	scene->killed++;
}

/* Operators start further programs, so each operator has a process group of its own. */
static void hire(struct scene *scene)
{
	char word[16];
	unsigned int i;

	for (i = 0; scene->operator&& i<OPERATORS; i++) {
		snprintf(word, sizeof(word), "%u", pick(&scene->seed, 30000));
		scene->operators[i] = fork();
		if (scene->operators[i])
			continue;
		setpgid(0, 0);
		execl(scene->operator, scene->operator, word, NULL);
		_exit(127);
	}
}

static void dismiss(struct scene *scene)
{
	unsigned int i;

	for (i = 0; scene->operator&& i<OPERATORS; i++) {
		kill(-scene->operators[i], SIGKILL);
		waitpid(scene->operators[i], NULL, 0);
	}
}

static void clean(struct scene *scene)
{
	pid_t pid = scene->operator? fork() : - 1;

	if (!pid) {
		execl(scene->operator, scene->operator, "clean", NULL);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* Inject one fault of any kind except the loss of the provider, which sim_pull() injects. */
static void fault(struct scene *scene)
{
	const struct morph_fabric_info *info = &scene->sim.info;
	uint64_t *seed = &scene->seed;
	unsigned int chip = pick(seed, info->accelerators), plane = pick(seed, info->planes);
	unsigned int element = pick(seed, info->elements), guide = pick(seed, info->guides);
	unsigned int late;
	int ret = -1;

	switch (pick(seed, 10)) {
	case 0:
		ret = sim_control(&scene->sim, "fault", "accelerator_dead %u", chip);
		break;
	case 1:
		ret = sim_control(&scene->sim, "fault", "accelerator_flapping %u period=2000000",
				  chip);
		break;
	case 2:
		ret = sim_control(&scene->sim, "fault", "laser_dead %u.%u", chip, plane);
		break;
	case 3:
		ret = sim_control(&scene->sim, "fault", "laser_weak %u.%u", chip, plane);
		break;
	case 4:
		ret = sim_control(&scene->sim, "fault", "element_stuck %u", element);
		break;
	case 5:
		ret = sim_control(&scene->sim, "flip", "%u %u", element, pick(seed, 2));
		break;
	case 6:
		ret = sim_control(&scene->sim, "fault", "guide_lossy %u mdb=30000", guide);
		break;
	case 7:
		ret = sim_control(&scene->sim, "fault", "receiver_deaf %u.%u", chip, plane);
		break;
	case 8:
		ret = sim_control(&scene->sim, "fault", "programming_error - after=%u",
				  pick(seed, 8));
		break;
	case 9:
		late = 30000000 * pick(seed, 2);
		ret = sim_control(&scene->sim, "fault", "programming_timeout - after=%u late=%u",
				  pick(seed, 8), late);
		break;
	}
	scene->faults += !ret;
}

static void signal_all(struct scene *scene, int number)
{
	unsigned int i;

	for (i = 0; i < TENANTS; i++)
		kill(scene->tenants[i], number);
}

/* Remove the provider with all operations in progress, and add it again as another fabric. */
static void pull(struct scene *scene)
{
	const struct morph_fabric_info start = scene->sim.info;
	unsigned int i;
	int old = scene->sim.fd;

	sim_pull(&scene->sim);
	for (i = 0; i < TENANTS; i++)
		waitpid(scene->tenants[i], NULL, 0);
	close(old);
	sim_replug(&scene->sim);
	/* Operators can already hold accelerators of the new fabric. */
	scene->sim.info.free = start.free;
	scene->sim.info.spares = start.spares;
	scene->pulls++;
	for (i = 0; i < TENANTS; i++)
		bear(scene, i);
}

static void run(struct scene *scene, long long until)
{
	unsigned int index;

	while (now_ms() < until) {
		usleep(20000);
		index = pick(&scene->seed, 40);
		if (index < TENANTS) {
			bury(scene, index);
			bear(scene, index);
		} else if (index == 39) {
			pull(scene);
		} else if (index > 33) {
			sim_control(&scene->sim, "clear", "all");
		} else if (index > 20) {
			fault(scene);
		}
	}
}

static struct loan_counts *share_counts(void)
{
	void *page = mmap(NULL, sizeof(struct loan_counts), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	return page;
}

static void stress(const char *profile, uint64_t seed, long long seconds, const char *operator)
{
	struct scene scene = { .seed = seed, .operator= operator, .loans = share_counts() };
	const char *what;
	unsigned int i;

	sim_start(&scene.sim, profile, "settle_ns=20000 relock_ns=10000 write_ns=5000");
	for (i = 0; i < TENANTS; i++)
		bear(&scene, i);
	hire(&scene);
	run(&scene, now_ms() + 500 * seconds);
	dismiss(&scene);
	sim_control(&scene.sim, "clear", "all");
	signal_all(&scene, SIGSTOP);
	result(profile, "core and hardware agree while tenants are idle", balance_held(&scene.sim));
	signal_all(&scene, SIGCONT);
	hire(&scene);
	run(&scene, now_ms() + 500 * seconds);
	dismiss(&scene);
	for (i = 0; i < TENANTS; i++)
		bury(&scene, i);
	clean(&scene);
	sim_control(&scene.sim, "clear", "all");
	what = balance_empty(&scene.sim);
	result(profile, "all hardware is dark, free and released", what);
	printf("# %u tenants, %u killed, %u faults, provider pulled %u times; %lld committed, %lld failovers\n",
	       scene.born, scene.killed, scene.faults, scene.pulls,
	       core_counter(&scene.sim, "stats", "committed"),
	       core_counter(&scene.sim, "stats", "failovers"));
	printf("# %u slices with lent spares, %u spares taken back\n", scene.loans->made,
	       scene.loans->taken);
	sim_stop(&scene.sim);
}

int main(int argc, char **argv)
{
	static const char *const profiles[] = { "server8", "server16", "smartlight72", "rack64" };
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	long long seconds = argc > 2 ? atoll(argv[2]) : 6;
	unsigned int i;

	/* Run a tenant on any available fabric, for programs that unload the modules. */
	if (argc > 1 && !strcmp(argv[1], "hold"))
		tenant(0, getpid());
	printf("KTAP version 1\n1..%zu\n# seed %llu, %lld seconds each\n",
	       2 * sizeof(profiles) / sizeof(*profiles), (unsigned long long)seed, seconds);
	fflush(stdout);
	for (i = 0; i < sizeof(profiles) / sizeof(*profiles); i++)
		stress(profiles[i], seed + i, seconds, argc > 3 ? argv[3] : NULL);
	return 0;
}
