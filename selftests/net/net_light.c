// SPDX-License-Identifier: GPL-2.0-only
/*
 * Light changes beside traffic in eight namespaces: circuits come and go, and hardware fails.
 *
 * NET_SECONDS in the environment sets how long, and NET_SEED the changes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "link.h"
#include "traffic.h"

#define RANKS 8
#define MOST_CIRCUITS 64
#define FAILING_PLANES 2u /* of six; a failed laser stays failed until somebody tests it */
#define MOST_PAUSE_MS 20u
#define TEST_SECONDS 3600
/*
 * An accelerator that failed often waits for 51 s before it is tested. Then the patrol tests one
 * after the other.
 */
#define REPAIR_WAITS 8

struct counts {
	unsigned int added, removed, refused, faults;
};

FIXTURE(light)
{
	struct sim sim;
	int slice;
	struct place places[RANKS];
	struct traffic traffic;
	struct counts counts;
};

FIXTURE_SETUP(light)
{
	struct morph_slice_info info;
	unsigned int rank;

	sim_start(&self->sim, "server8", NULL);
	/* So slow that frames wait in the queues of circuits that go dark. */
	ASSERT_EQ(0, load_net("scale=1000"));
	self->slice = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, slice_info(self->slice, &info));
	for (rank = 0; rank < RANKS; rank++)
		ASSERT_EQ(0,
			  place_create(&self->places[rank], self->sim.number, info.slice, rank, 0));
	traffic_start(&self->traffic, self->places, RANKS);
}

FIXTURE_TEARDOWN(light)
{
	unsigned int rank;

	traffic_stop(&self->traffic);
	for (rank = 0; rank < RANKS; rank++)
		place_close(&self->places[rank]);
	close(self->slice);
	sim_stop(&self->sim);
	ASSERT_EQ(0, unload_net());
}

static void change_light(FIXTURE_DATA(light) * self, struct morph_change change,
			 unsigned int *counter)
{
	if (txn_run(self->slice, &change, 1, NULL))
		self->counts.refused++;
	else
		++*counter;
}

static void add_circuit(FIXTURE_DATA(light) * self)
{
	unsigned int src = random() % RANKS, dst = (src + 1 + random() % (RANKS - 1)) % RANKS;

	change_light(self, change_add(src, dst), &self->counts.added);
}

/* Read the circuits of the slice; return their number, at most MOST_CIRCUITS. */
static unsigned int read_circuits(FIXTURE_DATA(light) * self, struct morph_circuit_info *circuits)
{
	struct morph_slice_info info;

	if (slice_read(self->slice, &info, NULL, 0, circuits, MOST_CIRCUITS))
		return 0;
	return info.circuits.count < MOST_CIRCUITS ? info.circuits.count : MOST_CIRCUITS;
}

static void add_or_remove(FIXTURE_DATA(light) * self, bool add)
{
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	unsigned int count = read_circuits(self, circuits), choice = random();

	if (!count || (add && count < MOST_CIRCUITS / 2))
		add_circuit(self);
	else
		change_light(self, change_remove(circuits[choice % count].circuit),
			     &self->counts.removed);
}

/* An accelerator dies now and then only, because the fabric has two spares. */
static void break_hardware(FIXTURE_DATA(light) * self)
{
	unsigned int chip = random() % (RANKS + 2), plane = random() % FAILING_PLANES;

	self->counts.faults++;
	if (random() % 4)
		sim_control(&self->sim, "fault", "laser_dead %u.%u", chip, plane);
	else
		sim_control(&self->sim, "fault", "accelerator_dead %u", chip);
}

static void change_at_random(FIXTURE_DATA(light) * self)
{
	unsigned int choice = random() % 20;

	if (choice < 17)
		add_or_remove(self, choice < 10);
	else if (choice < 19)
		break_hardware(self);
	else
		sim_control(&self->sim, "clear", "all");
	usleep(1000 * (random() % MOST_PAUSE_MS));
}

/* Light a ring in both directions and nothing else. */
static bool light_both_rings(FIXTURE_DATA(light) * self)
{
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	struct morph_change changes[2 * RANKS];
	unsigned int count = read_circuits(self, circuits), i;

	for (i = 0; i < count; i++) {
		changes[0] = change_remove(circuits[i].circuit);
		if (txn_run(self->slice, changes, 1, NULL))
			return false;
	}
	for (i = 0; i < RANKS; i++) {
		changes[i] = change_add(i, (i + 1) % RANKS);
		changes[RANKS + i] = change_add((i + 1) % RANKS, i);
	}
	return !txn_run(self->slice, changes, 2 * RANKS, NULL);
}

/* Wait until every process receives datagrams and its stream. */
static bool all_receive(FIXTURE_DATA(light) * self)
{
	struct traffic_count *now = self->traffic.counts, before[RANKS];
	unsigned int rank;

	memcpy(before, now, sizeof(before));
	for (rank = 0; rank < RANKS; rank++) {
		if (WAIT_UNTIL(now[rank].datagrams > before[rank].datagrams &&
			       now[rank].stream_bytes > before[rank].stream_bytes))
			continue;
		printf("# rank %u received %llu datagrams and %llu bytes\n", rank,
		       (unsigned long long)(now[rank].datagrams - before[rank].datagrams),
		       (unsigned long long)(now[rank].stream_bytes - before[rank].stream_bytes));
		return false;
	}
	return true;
}

/*
 * Wait until enough hardware is repaired for both rings. The slice itself may stay degraded, since
 * failed lasers can leave no path for some of its random circuits.
 */
static bool wait_repair(FIXTURE_DATA(light) * self)
{
	unsigned int left = REPAIR_WAITS;

	while (left-- > 0)
		if (WAIT_UNTIL(light_both_rings(self)))
			return true;
	return false;
}

TEST_F_TIMEOUT(light, traffic_survives_changes_of_light, TEST_SECONDS)
{
	unsigned int seconds = read_setting("NET_SECONDS", 5), seed = read_setting("NET_SEED", 1);
	long long end_ms = now_ms() + 1000LL * seconds;

	TH_LOG("NET_SEED=%u, %u s", seed, seconds);
	srandom(seed);
	while (now_ms() < end_ms)
		change_at_random(self);
	TH_LOG("%u circuits added, %u removed, %u changes refused, %u faults", self->counts.added,
	       self->counts.removed, self->counts.refused, self->counts.faults);
	EXPECT_LT(0, self->counts.added);
	EXPECT_LT(0, self->counts.removed);
	sim_control(&self->sim, "clear", "all");
	ASSERT_TRUE(wait_repair(self));
	EXPECT_TRUE(all_receive(self));
}

TEST_HARNESS_MAIN
