// SPDX-License-Identifier: GPL-2.0-only
/*
 * A whole run on a device whose clock each request advances to its own end. The test makes a slice,
 * lights it, and waits for a failover and a reroute around a dead laser. The same seed must give
 * the same run, byte for byte.
 */
#include <sys/ioctl.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define RANKS 4
#define LASER_OF 1 /* rank whose laser dies */

/* Log everything in the events except times, up to one event of the type. */
static int print_events(int slice, FILE *to, unsigned int last)
{
	struct morph_event event = {};

	while (event.type != last) {
		if (read(slice, &event, sizeof(event)) != sizeof(event))
			return -1;
		fprintf(to, "event %u state %u rank %u circuit %u part %u %u old %u new %u\n",
			event.type, event.state, event.rank, event.circuit, event.part, event.index,
			event.old_accelerator, event.new_accelerator);
	}
	return 0;
}

static int print_slice(int slice, FILE *to)
{
	struct morph_circuit_info circuits[RANKS];
	struct morph_rank_info ranks[RANKS];
	struct morph_slice_info info;
	unsigned int i;

	if (slice_read(slice, &info, ranks, RANKS, circuits, RANKS))
		return -1;
	fprintf(to, "slice %u generation %llu\n", info.state, (unsigned long long)info.generation);
	for (i = 0; i < info.ranks.count; i++)
		fprintf(to, "rank %u on %u\n", i, ranks[i].accelerator);
	for (i = 0; i < info.circuits.count; i++)
		fprintf(to, "circuit %u state %u planes %u %u lanes %llx hops %u power %d\n",
			circuits[i].circuit, circuits[i].state, circuits[i].src_plane,
			circuits[i].dst_plane, (unsigned long long)circuits[i].lanes,
			circuits[i].hops, circuits[i].power_mdbm);
	return 0;
}

/* Log the state of the simulator: clock, elements, lasers, light, and the history of operations. */
static void print_hardware(const struct sim *sim, const char *file, FILE *to)
{
	char path[160], line[512];
	FILE *from;

	snprintf(path, sizeof(path), "/sys/kernel/debug/morph_sim/%s/%s", sim->name, file);
	from = fopen(path, "r");
	while (from && fgets(line, sizeof(line), from))
		fputs(line, to);
	if (from)
		fclose(from);
}

/* A failover uses the plan of a worker, so wait for it. */
static bool planned(int slice)
{
	return wait_plans(slice, RANKS, MORPH_PLAN_CURRENT);
}

static int run_and_print(const struct sim *sim, FILE *to)
{
	struct morph_circuit_info circuits[RANKS];
	struct morph_rank_info ranks[RANKS];
	struct morph_slice_info info;
	int slice = slice_create(sim->fd, RANKS), ret = -1;

	if (slice < 0 || light_ring(slice, RANKS) || !planned(slice) ||
	    sim_control(sim, "fault", "accelerator_dead 2") ||
	    print_events(slice, to, MORPH_EVENT_RECOVERED) || !planned(slice) ||
	    slice_read(slice, &info, ranks, RANKS, circuits, RANKS) ||
	    sim_control(sim, "fault", "laser_dead %u.%u", ranks[LASER_OF].accelerator,
			circuits[LASER_OF].src_plane) ||
	    print_events(slice, to, MORPH_EVENT_RECOVERED) || print_slice(slice, to))
		goto out;
	print_hardware(sim, "hardware", to);
	print_hardware(sim, "log", to);
	ret = 0;
out:
	close(slice);
	return ret;
}

/* Return the text of one run from power-on, or NULL on failure. */
static char *one_run(unsigned int seed)
{
	char settings[120], *text = NULL;
	FILE *to;
	size_t size;
	struct sim sim;
	int error;

	snprintf(settings, sizeof(settings),
		 "clock=skipping seed=%u uuid=0a0b0c0d-0000-8000-8000-000000000002", seed);
	sim_start(&sim, "server8", settings);
	to = open_memstream(&text, &size);
	error = run_and_print(&sim, to);
	fclose(to);
	if (error) {
		fprintf(stderr, "# so far: %s\n", text);
		free(text);
		text = NULL;
	}
	sim_stop(&sim);
	return text;
}

TEST(same_seed_same_run)
{
	char *first = one_run(5), *second = one_run(5), *other = one_run(6);

	ASSERT_NE(NULL, first);
	ASSERT_NE(NULL, second);
	ASSERT_NE(NULL, other);
	EXPECT_STREQ(first, second);
	EXPECT_STRNE(first, other);
	/* The run must not be empty. */
	EXPECT_NE(NULL, strstr(first, "accelerator_dead 2"));
	EXPECT_NE(NULL, strstr(first, "locked"));
	free(first);
	free(second);
	free(other);
}

TEST_HARNESS_MAIN
