// SPDX-License-Identifier: GPL-2.0-only
/* Slices: creation and release, loss of their owner, and any shape. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define WARM_UP 100
#define ROUNDS 800
#define KILL_WARM_UP 5
#define KILL_ROUNDS 60
#define RANKS 4u

/* Poll without a pause until @count accelerators are free. */
static void spin_until_free(struct sim *sim, unsigned int count)
{
	long long until = now_ms() + PATIENCE_MS;

	do
		sim_refresh(sim);
	while (sim->info.free != count && now_ms() < until);
	if (sim->info.free != count)
		wrong("%s: %u accelerators are free, not %u", sim->name, sim->info.free, count);
}

void bench_slice(void)
{
	static struct samples create, close_fd, both, free_again, nulls;
	unsigned int all;
	struct sim sim;
	int i, fd;

	sim_start(&sim, "rack64", INSTANT);
	all = sim.info.free;
	for (i = 0; i < WARM_UP + ROUNDS; i++) {
		uint64_t begin, created, closed, end;

		null_sample(&nulls);
		begin = now_ns();
		fd = slice_create(sim.fd, RANKS);
		created = now_ns();
		if (fd < 0)
			stop("slice of four");
		close(fd);
		closed = now_ns();
		spin_until_free(&sim, all);
		end = now_ns();
		if (i < WARM_UP)
			continue;
		sample_add(&create, created - begin);
		sample_add(&close_fd, closed - created);
		sample_add(&both, closed - begin);
		sample_add(&free_again, end - begin);
	}
	sim_stop(&sim);
	report_nulls("slice of 4 on rack64, create", &create, &nulls, 0, 0);
	report_nulls("slice of 4 on rack64, release", &close_fd, &nulls, 0, 0);
	report_nulls("slice of 4 on rack64, create and release", &both, &nulls, 150, 60);
	report_nulls("slice of 4 on rack64, create until free again", &free_again, &nulls, 150, 60);
}

/* Start a process that has a slice with a lit ring, and reports when it is ready. */
static pid_t owner_start(struct sim *sim)
{
	int ready[2], slice;
	char byte = 0;
	pid_t child;

	if (pipe(ready))
		stop("pipe");
	child = fork();
	if (child < 0)
		stop("fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		slice = slice_create(sim->fd, RANKS);
		if (slice < 0 || light_ring(slice, RANKS))
			stop("ring of the owner");
		if (write(ready[1], &byte, 1) != 1)
			stop("pipe");
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		wrong("the owner has no slice");
	close(ready[0]);
	return child;
}

void bench_kill(void)
{
	struct row row = {
		.name = "kill of the owner until its accelerators are free and dark",
		.unit = "ns",
		.reference_name = "100 ms",
		.reference = 100e6,
		.limit = 1,
	};
	static struct samples samples;
	unsigned int all;
	struct sim sim;
	int i;

	sim_start(&sim, "rack64", INSTANT);
	all = sim.info.free;
	for (i = 0; i < KILL_WARM_UP + KILL_ROUNDS; i++) {
		pid_t owner = owner_start(&sim);
		uint64_t begin = now_ns();

		kill(owner, SIGKILL);
		spin_until_free(&sim, all);
		if (i >= KILL_WARM_UP)
			sample_add(&samples, now_ns() - begin);
		waitpid(owner, NULL, 0);
		if (!sim_all_dark(&sim))
			wrong("%s: accelerators are free, but a receiver sees light", sim.name);
	}
	sim_stop(&sim);
	report(&row, &samples);
}

/* Check in the simulator, not in the core, that light arrives at every accelerator. */
static bool ring_is_lit(const struct sim *sim, int slice, const uint32_t *members,
			unsigned int count)
{
	struct morph_circuit_info circuits[8];
	struct morph_slice_info info;
	unsigned int i;

	if (slice_read(slice, &info, NULL, 0, circuits, 8) || info.circuits.count != count)
		return false;
	for (i = 0; i < count; i++)
		if (circuits[i].state != MORPH_CIRCUIT_LIT || !sim_lit_lanes(sim, members[i]))
			return false;
	return true;
}

static bool subset_works(struct sim *sim, unsigned int mask, unsigned int all)
{
	unsigned int count = 0, i;
	uint32_t members[8];
	bool lit;
	int slice;

	for (i = 0; i < 8; i++)
		if (mask & 1u << i)
			members[count++] = i;
	slice = slice_create_at(sim->fd, members, count);
	if (slice < 0)
		return false;
	lit = !light_ring(slice, count) && ring_is_lit(sim, slice, members, count);
	close(slice);
	spin_until_free(sim, all);
	return lit;
}

void bench_subsets(void)
{
	struct row row = {
		.name = "subsets of 2 or more of 8 accelerators, server8, ring lit",
		.unit = "subsets",
		.reference_name = "one",
		.reference = 1,
		.limit = 247,
		.at_least = true,
	};
	static struct samples works;
	unsigned int mask, count = 0, all;
	struct sim sim;

	sim_start(&sim, "server8", INSTANT);
	all = sim.info.free;
	for (mask = 0; mask < 256; mask++) {
		if (__builtin_popcount(mask) < 2)
			continue;
		if (subset_works(&sim, mask, all))
			count++;
		else
			wrong("server8: subset 0x%02x has no lit ring: %s", mask, last_detail);
	}
	sim_stop(&sim);
	sample_add(&works, count);
	report(&row, &works);
}
