// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create a simulated fabric and a named slice with RANKS ranks, and run a command with its name in
 * MORPH_SLICE. Afterwards all receivers must be dark.
 *
 * 	launch PROFILE RANKS [--fail MS] COMMAND...
 *
 * With --fail, the accelerator of rank 1 dies that long after the slice's first light.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "fabric.h"

#define NAME "job"
#define RANKS_MOST 64
#define TIMED "settle_ns=200000 relock_ns=100000 write_ns=0"

static bool is_lit(int slice)
{
	struct morph_slice_info info;

	return !slice_info(slice, &info) && info.circuits.count;
}

static void fail(const struct sim *sim, int slice, int after_ms)
{
	struct morph_rank_info ranks[RANKS_MOST];
	struct morph_slice_info info;
	struct morph_event event;

	usleep((useconds_t)after_ms * 1000);
	if (slice_read(slice, &info, ranks, RANKS_MOST, NULL, 0) ||
	    sim_control(sim, "fault", "accelerator_dead %u", ranks[1].accelerator) ||
	    wait_event(slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event))
		fprintf(stderr, "launch: no accelerator was replaced\n");
}

static int run(const struct sim *sim, int slice, int fail_ms, char **command)
{
	pid_t pid = fork();
	int status = 1;

	if (!pid) {
		setenv("MORPH_SLICE", NAME, 1);
		execvp(command[0], command);
		_exit(127);
	}
	/* MPI programs need time to start. */
	while (fail_ms >= 0 && !is_lit(slice)) {
		if (waitpid(pid, &status, WNOHANG))
			return 4;
		nap();
	}
	if (fail_ms >= 0)
		fail(sim, slice, fail_ms);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	struct morph_slice_create args = { .name = NAME, .mode = 0600 };
	struct morph_slice_info info;
	struct sim sim;
	int slice, status, fail_ms = -1;
	char **command = argv + 3;

	if (argc > 5 && !strcmp(argv[3], "--fail")) {
		fail_ms = atoi(argv[4]);
		command += 2;
	}
	if (argc < 4)
		return 2;
	sim_start(&sim, argv[1], TIMED);
	slice = slice_create_with(sim.fd, &args, NULL, (unsigned int)atoi(argv[2]));
	if (slice < 0 || slice_info(slice, &info)) {
		fprintf(stderr, "launch: %s\n", last_detail);
		return 1;
	}
	status = run(&sim, slice, fail_ms, command);
	if (!WAIT_UNTIL(sim_all_dark(&sim))) {
		fprintf(stderr, "launch: light remains\n");
		status = status ? status : 3;
	}
	close(slice);
	if (slice_delete(sim.fd, info.slice, NULL, 0)) {
		fprintf(stderr, "launch: the slice is still open\n");
		status = status ? status : 3;
	}
	sim_stop(&sim);
	return status;
}
