// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices that come and go many times, and that go at any moment beside traffic.
 *
 * NET_CYCLES and NET_ROUNDS in the environment set how often, and NET_SEED the moments.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "link.h"
#include "traffic.h"

#define RANKS 3
#define MOST_WAIT_MS 40u
#define TEST_SECONDS 3600
/* So slow that frames wait in the queues of circuits when a device goes. */
#define SLOW "scale=1000"

/* A slice of three ranks, with circuits 0 to 1, 1 to 0 and 0 to 2. */
FIXTURE(churn)
{
	struct sim sim;
	int slice;
	unsigned int number;
	unsigned int circuit; /* from 0 to 1 */
	struct place places[RANKS];
	struct traffic traffic;
};

static int make_slice(FIXTURE_DATA(churn) * self)
{
	struct morph_change changes[] = { change_add(0, 1), change_add(1, 0), change_add(0, 2) };
	struct morph_slice_info info;

	self->slice = slice_create(self->sim.fd, RANKS);
	if (self->slice < 0 || slice_info(self->slice, &info))
		return -errno;
	self->number = info.slice;
	if (txn_run(self->slice, changes, 3, NULL))
		return -errno;
	self->circuit = changes[0].circuit;
	return 0;
}

static bool make_place(FIXTURE_DATA(churn) * self, unsigned int rank)
{
	struct place *place = &self->places[rank];

	if (!place_create(place, self->sim.number, self->number, rank, 0))
		return true;
	place_close(place);
	return false;
}

/* Wait until the rank's device in an earlier namespace has gone, too. */
static bool make_places(FIXTURE_DATA(churn) * self)
{
	return WAIT_UNTIL(make_place(self, 0)) && WAIT_UNTIL(make_place(self, 1));
}

static void close_places(FIXTURE_DATA(churn) * self)
{
	unsigned int rank;

	for (rank = 0; rank < 2; rank++)
		place_close(&self->places[rank]);
}

FIXTURE_SETUP(churn)
{
	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, load_net(SLOW));
	ASSERT_EQ(0, make_slice(self));
}

FIXTURE_TEARDOWN(churn)
{
	if (self->slice >= 0)
		close(self->slice);
	sim_stop(&self->sim);
	ASSERT_EQ(0, unload_net());
}

/* Create and remove the device of rank 2. */
static int create_and_delete(FIXTURE_DATA(churn) * self)
{
	struct link_request wanted = {
		.fabric = self->sim.number,
		.slice = self->number,
		.rank = 2,
		.name = "cycle",
		.net = -1,
	};
	int ret = link_create(&wanted);

	return ret ? ret : link_delete(wanted.name);
}

/* The slice has no other device, so each cycle also begins and ends its slice in morph_net. */
TEST_F_TIMEOUT(churn, device_comes_and_goes_many_times, TEST_SECONDS)
{
	unsigned int i, cycles = read_setting("NET_CYCLES", 50);

	for (i = 0; i < cycles; i++)
		ASSERT_EQ(0, create_and_delete(self))
	TH_LOG("cycle %u", i);
}

/* Broadcasts of rank 0 lead to the device that comes and goes. */
TEST_F_TIMEOUT(churn, device_comes_and_goes_beside_traffic, TEST_SECONDS)
{
	unsigned int i, cycles = read_setting("NET_CYCLES", 50);
	uint64_t before;

	ASSERT_TRUE(make_places(self));
	traffic_start(&self->traffic, self->places, 2);
	EXPECT_TRUE(WAIT_UNTIL(self->traffic.counts[1].datagrams));
	for (i = 0; i < cycles; i++)
		EXPECT_EQ(0, create_and_delete(self))
	TH_LOG("cycle %u", i);
	before = self->traffic.counts[1].datagrams;
	EXPECT_TRUE(WAIT_UNTIL(self->traffic.counts[1].datagrams > before));
	traffic_stop(&self->traffic);
	close_places(self);
}

/* -------------------------------------------------------------- changes beside a removal */

enum act {
	RELIGHT,
	REPLACE,
	CREATE,
	ACTS
};

static const char *const act_names[ACTS] = { "light changes", "failovers", "devices" };

/* A thread that changes the slice until it ends. A process would keep the slice. */
struct changer {
	FIXTURE_DATA(churn) * self;
	pthread_t thread;
	bool ends;
	unsigned int seed;
	unsigned int done[ACTS]; /* acts that succeeded */
};

/* Remove the circuit from rank 0 to rank 1, and light another one. */
static bool relight(FIXTURE_DATA(churn) * self)
{
	struct morph_change change = change_remove(self->circuit);

	if (txn_run(self->slice, &change, 1, NULL))
		return false;
	change = change_add(0, 1);
	if (txn_run(self->slice, &change, 1, NULL))
		return false;
	self->circuit = change.circuit;
	return true;
}

static bool act(FIXTURE_DATA(churn) * self, enum act act)
{
	switch (act) {
	case RELIGHT:
		return relight(self);
	case REPLACE:
		return !rank_act(self->slice, MORPH_RANK_REPLACE, 1, MORPH_ANY, NULL);
	default:
		return !create_and_delete(self);
	}
}

/* The fabric, the slice and the module go while this thread uses them, so acts may fail. */
static void *change_until_end(void *context)
{
	struct changer *changer = context;

	while (!__atomic_load_n(&changer->ends, __ATOMIC_RELAXED)) {
		enum act chosen = rand_r(&changer->seed) % ACTS;

		changer->done[chosen] += act(changer->self, chosen);
	}
	return NULL;
}

static bool start_changing(FIXTURE_DATA(churn) * self, struct changer *changer)
{
	changer->self = self;
	changer->ends = false;
	return !pthread_create(&changer->thread, NULL, change_until_end, changer);
}

static void stop_changing(struct changer *changer)
{
	__atomic_store_n(&changer->ends, true, __ATOMIC_RELAXED);
	pthread_join(changer->thread, NULL);
}

enum removal {
	UNBIND,
	UNLOAD,
	LEAVE,
	END,
	REMOVALS
};

static const char *const removal_names[REMOVALS] = { "unbind the provider", "unload morph_net",
						     "end the namespaces", "end the slice" };

static bool are_gone(FIXTURE_DATA(churn) * self)
{
	struct link_state state;

	return place_state(&self->places[0], &state) == -ENODEV &&
	       place_state(&self->places[1], &state) == -ENODEV;
}

/* Remove both devices while the processes send. Return whether they are gone. */
static bool remove_devices(FIXTURE_DATA(churn) * self, enum removal removal)
{
	switch (removal) {
	case UNBIND:
		sim_pull(&self->sim);
		break;
	case UNLOAD:
		if (unload_net())
			return false;
		break;
	case LEAVE:
		/* The processes have the last files of the namespaces. */
		close_places(self);
		traffic_stop(&self->traffic);
		return true;
	default:
		close(self->slice);
		self->slice = -1;
	}
	return WAIT_UNTIL(are_gone(self));
}

/* Restore the fabric, the module and the slice. */
static bool restore(FIXTURE_DATA(churn) * self, enum removal removal)
{
	if (removal != LEAVE) {
		traffic_stop(&self->traffic);
		close_places(self);
	}
	if (removal == UNLOAD)
		return !load_net(SLOW);
	if (removal == LEAVE)
		return true;
	if (self->slice >= 0)
		close(self->slice);
	if (removal == UNBIND) {
		close(self->sim.fd);
		sim_replug(&self->sim);
	}
	return !make_slice(self);
}

/* Also in the middle of the creation of a device, a change of light and a failover. */
TEST_F_TIMEOUT(churn, devices_go_at_any_moment_beside_traffic_and_changes, TEST_SECONDS)
{
	struct changer changer = {};
	unsigned int rounds = read_setting("NET_ROUNDS", 8), seed = read_setting("NET_SEED", 1), i,
		     wait_ms;
	enum removal removal;
	bool done;

	TH_LOG("NET_SEED=%u", seed);
	srandom(seed);
	changer.seed = seed;
	for (i = 0; i < rounds; i++) {
		removal = i % REMOVALS;
		wait_ms = random() % MOST_WAIT_MS;
		ASSERT_TRUE(make_places(self));
		traffic_start(&self->traffic, self->places, 2);
		ASSERT_TRUE(start_changing(self, &changer));
		usleep(1000 * wait_ms);
		done = remove_devices(self, removal);
		stop_changing(&changer);
		ASSERT_TRUE(restore(self, removal) && done)
		TH_LOG("round %u: %s after %u ms", i, removal_names[removal], wait_ms);
	}
	for (i = 0; i < ACTS; i++)
		EXPECT_LT(0, changer.done[i]) TH_LOG("no %s", act_names[i]);
}

TEST_HARNESS_MAIN
