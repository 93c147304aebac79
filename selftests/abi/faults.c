// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failures of hardware other than a dead accelerator: lasers, elements, guides, receivers and
 * programming. The outcome that the driver returns must always match the light.
 */
#include <sys/ioctl.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "runner.h"

#define RANKS 6 /* of a slice beside that of the fixture */

FIXTURE(faults)
{
	struct sim sim;
	int slice;
	struct morph_change change;
	struct morph_txn_run args;
	struct morph_slice_info info;
	struct morph_circuit_info circuits[4];
};

FIXTURE_SETUP(faults)
{
	static const uint32_t wanted[] = { 0, 1 };

	sim_start(&self->sim, "server8", NULL);
	self->slice = slice_create_at(self->sim.fd, wanted, 2);
	ASSERT_LE(0, self->slice);
	self->change = change_add(0, 1);
	self->args.generation = GENERATION_ANY;
}

FIXTURE_TEARDOWN(faults)
{
	close(self->slice);
	sim_stop(&self->sim);
}

#define FAULT(...) ASSERT_EQ(0, sim_control(&self->sim, "fault", __VA_ARGS__))
#define RUN() (txn_run(self->slice, &self->change, 1, &self->args) ? errno : 0)
#define READ_SLICE() ASSERT_EQ(0, slice_read(self->slice, &self->info, NULL, 0, self->circuits, 4))

/* The driver rerouted the circuit: it is lit, and its path has changed. */
#define EXPECT_MOVED(kind, what)                                                             \
	({                                                                                   \
		struct morph_event __event;                                                  \
                                                                                             \
		ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_CIRCUIT_MOVED, PATIENCE_MS, \
					&__event));                                          \
		EXPECT_EQ(self->change.circuit, __event.circuit);                            \
		EXPECT_EQ(kind, __event.part);                                               \
		EXPECT_EQ(what, __event.index);                                              \
		EXPECT_NE(0, __event.dark_ns);                                               \
		ASSERT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));                  \
		READ_SLICE();                                                                \
		ASSERT_EQ(1, self->info.circuits.count);                                     \
		EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[0].state);                       \
		EXPECT_NE(0, sim_lit_lanes(&self->sim, 1));                                  \
	})

/* ------------------------------------------------------------- light goes out */

TEST_F(faults, dead_laser)
{
	unsigned int planes = self->sim.info.planes;

	ASSERT_EQ(0, RUN());
	FAULT("laser_dead 0.%u.%llx", self->change.src_plane,
	      (unsigned long long)self->change.lanes);
	EXPECT_MOVED(MORPH_PART_LASER, 0 * planes + self->change.src_plane);
	/* The driver keeps the accelerator and uses another lane or port of it. */
	EXPECT_TRUE(self->circuits[0].lanes != self->change.lanes ||
		    self->circuits[0].src_plane != self->change.src_plane);
	EXPECT_EQ(MORPH_HEALTH_OK, read_accelerator(&self->sim, 0).health);
}

TEST_F(faults, element_moves_by_itself)
{
	struct morph_path_element elements[64];
	struct morph_circuit_path path = {
		.head = HEAD(morph_circuit_path),
		.elements = ARRAY(elements, 64),
	};

	ASSERT_EQ(0, RUN());
	path.circuit = self->change.circuit;
	ASSERT_EQ(0, ioctl(self->slice, MORPH_CIRCUIT_PATH, &path));
	/* The test parks the element without the driver, and the element does not move again. */
	FAULT("element_stuck %u state=0", elements[1].element);
	EXPECT_MOVED(MORPH_PART_ELEMENT, elements[1].element);
}

TEST_F(faults, guide_loses_light)
{
	struct morph_event event;
	uint32_t guides[64];
	int count;

	ASSERT_EQ(0, RUN());
	count = circuit_guides(self->slice, self->change.circuit, guides, 64);
	ASSERT_LT(0, count);
	FAULT("guide_lossy %u mdb=60000", guides[count / 2]);
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_CIRCUIT_MOVED, PATIENCE_MS, &event));
	ASSERT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
	READ_SLICE();
	EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[0].state);
	EXPECT_NE(0, sim_lit_lanes(&self->sim, 1));
}

/* Whether the path of a circuit contains the guide. */
static bool passes(int slice, unsigned int circuit, uint32_t guide)
{
	uint32_t guides[64];
	int count = circuit_guides(slice, circuit, guides, 64);

	while (count > 0)
		if (guides[--count] == guide)
			return true;
	return false;
}

/* A guide of the circuit that no other circuit of the slice passes. */
static uint32_t own_guide(int slice, const struct morph_circuit_info *circuits,
			  unsigned int circuit)
{
	uint32_t guides[64];
	int left = circuit_guides(slice, circuit, guides, 64);

	while (left-- > 0) {
		unsigned int users = 0, i;

		for (i = 0; i < RANKS; i++)
			users += passes(slice, circuits[i].circuit, guides[left]);
		if (users == 1)
			return guides[left];
	}
	return MORPH_ANY;
}

TEST_F(faults, guide_changes_only_the_circuits_on_it)
{
	struct morph_circuit_info before[RANKS], after[RANKS];
	uint32_t guides[RANKS][64], now[64], broken;
	struct morph_rank_info ranks[RANKS];
	struct morph_slice_info info;
	struct morph_event event;
	int slice, counts[RANKS];
	unsigned int i;

	slice = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, slice);
	ASSERT_EQ(0, light_ring(slice, RANKS));
	ASSERT_EQ(0, slice_read(slice, &info, NULL, 0, before, RANKS));
	ASSERT_EQ(RANKS, info.circuits.count);
	for (i = 0; i < RANKS; i++)
		counts[i] = circuit_guides(slice, before[i].circuit, guides[i], 64);
	broken = own_guide(slice, before, before[1].circuit);
	ASSERT_NE(MORPH_ANY, broken);

	FAULT("guide_lossy %u mdb=60000", broken);
	ASSERT_EQ(0, wait_event(slice, MORPH_EVENT_CIRCUIT_MOVED, PATIENCE_MS, &event));
	EXPECT_EQ(before[1].circuit, event.circuit);
	ASSERT_TRUE(slice_wait_state(slice, MORPH_SLICE_OK));
	ASSERT_EQ(0, slice_read(slice, &info, ranks, RANKS, after, RANKS));
	ASSERT_EQ(RANKS, info.circuits.count);
	EXPECT_FALSE(passes(slice, before[1].circuit, broken));
	for (i = 0; i < RANKS; i++) {
		EXPECT_EQ(MORPH_HEALTH_OK, ranks[i].health);
		EXPECT_EQ(before[i].circuit, after[i].circuit);
		EXPECT_EQ(MORPH_CIRCUIT_LIT, after[i].state);
		if (i == 1)
			continue;
		EXPECT_EQ(before[i].lanes, after[i].lanes);
		EXPECT_EQ(before[i].dark_ns, after[i].dark_ns);
		ASSERT_EQ(counts[i], circuit_guides(slice, after[i].circuit, now, 64));
		EXPECT_EQ(0, memcmp(guides[i], now, counts[i] * sizeof(*now)));
	}
	close(slice);
}

/*
 * The accelerator dies while the driver lights its circuit. Its transmitter shows that long before
 * its heartbeat.
 */
TEST(silent_sender)
{
	static const uint32_t wanted[] = { 0, 1 };
	struct morph_change change = change_add(0, 1);
	struct morph_txn_run args = { .generation = GENERATION_ANY };
	struct sim sim;
	int slice;

	sim_start(&sim, "server8", "monitor_ns=60000000000");
	slice = slice_create_at(sim.fd, wanted, 2);
	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_policy(slice, MORPH_FAILOVER_NONE));
	ASSERT_EQ(0, sim_control(&sim, "fault", "accelerator_dead 0 after=1"));
	EXPECT_NE(0, txn_run(slice, &change, 1, &args));
	EXPECT_EQ(MORPH_PART_ACCELERATOR, change.part);
	EXPECT_EQ(0, change.index);
	EXPECT_EQ(MORPH_HEALTH_FAILED, read_accelerator(&sim, 0).health);
	close(slice);
	sim_stop(&sim);
}

static unsigned int count_health(const struct sim *sim, unsigned int health)
{
	unsigned int i, count = 0;

	for (i = 0; i < sim->info.accelerators; i++)
		count += read_accelerator(sim, i).health == health;
	return count;
}

/*
 * A round of patrol probes at most 16 accelerators, but must test all whose heartbeat is back. The
 * number of probes shows how many rounds the accelerators have waited for.
 */
TEST(heartbeats_that_return_together_wait_for_few_rounds)
{
	unsigned int i, all;
	long long probes;
	struct sim sim;

	sim_start(&sim, "pod192", NULL);
	all = sim.info.accelerators;
	for (i = 0; i < all; i++)
		ASSERT_EQ(0, sim_control(&sim, "fault", "accelerator_dead %u", i));
	ASSERT_TRUE(WAIT_UNTIL(count_health(&sim, MORPH_HEALTH_FAILED) == all));
	probes = core_counter(&sim, "stats", "patrols");
	ASSERT_EQ(0, sim_control(&sim, "clear", "all"));
	ASSERT_TRUE(WAIT_UNTIL(count_health(&sim, MORPH_HEALTH_OK) == all));
	probes = core_counter(&sim, "stats", "patrols") - probes;
	EXPECT_GT(all / 2, probes) TH_LOG("%lld of %u", probes, all);
	sim_stop(&sim);
}

TEST_F(faults, deaf_receiver)
{
	ASSERT_EQ(0, RUN());
	FAULT("receiver_deaf 1.%u", self->change.dst_plane);
	/* Whatever part the driver suspects first, it uses another receiver in the end. */
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_CIRCUIT_MOVED, PATIENCE_MS, NULL));
	ASSERT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
	READ_SLICE();
	EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[0].state);
	EXPECT_NE(self->change.dst_plane, self->circuits[0].dst_plane);
}

/*
 * The spare dies while the driver reroutes the only circuit to it, so the driver uses the other
 * spare.
 */
TEST_F(faults, spare_dies_before_it_is_lit)
{
	struct morph_event event;

	ASSERT_EQ(0, RUN());
	FAULT("accelerator_dead 8 after=1");
	FAULT("accelerator_dead 0");
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	EXPECT_EQ(9, event.new_accelerator);
	EXPECT_EQ(MORPH_HEALTH_FAILED, read_accelerator(&self->sim, 8).health);
	EXPECT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
}

/* --------------------------------------------------------- programming goes wrong */

/* The light is as before, and nothing is held. */
#define EXPECT_NOTHING_DONE()                            \
	({                                               \
		READ_SLICE();                            \
		EXPECT_EQ(0, self->info.circuits.count); \
		EXPECT_TRUE(sim_all_dark(&self->sim));   \
	})

TEST_F(faults, programming_fails_once)
{
	int error;

	FAULT("programming_error -");
	error = RUN();
	EXPECT_EQ(EIO, error);
	EXPECT_TRUE(self->args.out_outcome == MORPH_OUTCOME_ROLLED_BACK ||
		    self->args.out_outcome == MORPH_OUTCOME_BROKEN);
	EXPECT_NE(MORPH_REASON_NONE, self->args.head.reason);
	EXPECT_NE('\0', last_detail[0]);
	EXPECT_NOTHING_DONE();
	/* The next transaction succeeds. */
	self->change = change_add(0, 1);
	EXPECT_EQ(0, RUN())
	{
		TH_LOG("%s", last_detail);
	}
	READ_SLICE();
	EXPECT_EQ(1, self->info.circuits.count);
}

TEST_F(faults, programming_never_answers)
{
	int error;

	FAULT("programming_timeout -");
	error = RUN();
	EXPECT_TRUE(error == ETIMEDOUT || error == EIO)
	{
		TH_LOG("%s", strerror(error));
	}
	EXPECT_NOTHING_DONE();
	self->change = change_add(0, 1);
	EXPECT_EQ(0, RUN())
	{
		TH_LOG("%s", last_detail);
	}
}

/*
 * An element does not turn: the driver detects this, blames the element and avoids it the next
 * time.
 */
TEST_F(faults, element_does_not_obey)
{
	struct morph_path_element elements[64];
	struct morph_circuit_path path = {
		.head = HEAD(morph_circuit_path),
		.elements = ARRAY(elements, 64),
	};
	unsigned int stuck, i;

	ASSERT_EQ(0, RUN());
	path.circuit = self->change.circuit;
	ASSERT_EQ(0, ioctl(self->slice, MORPH_CIRCUIT_PATH, &path));
	self->change = change_remove(path.circuit);
	ASSERT_EQ(0, RUN());
	stuck = elements[1].element;
	FAULT("element_stuck %u", stuck);

	self->change = change_add(0, 1);
	EXPECT_EQ(EIO, RUN());
	EXPECT_TRUE(self->args.out_outcome == MORPH_OUTCOME_ROLLED_BACK ||
		    self->args.out_outcome == MORPH_OUTCOME_BROKEN);
	EXPECT_EQ(MORPH_PART_ELEMENT, self->args.head.part);
	EXPECT_EQ(stuck, self->args.head.index);
	EXPECT_NOTHING_DONE();

	self->change = change_add(0, 1);
	ASSERT_EQ(0, RUN())
	{
		TH_LOG("%s", last_detail);
	}
	path.circuit = self->change.circuit;
	path.elements.count = 64;
	ASSERT_EQ(0, ioctl(self->slice, MORPH_CIRCUIT_PATH, &path));
	for (i = 0; i < path.elements.count; i++)
		EXPECT_NE(stuck, elements[i].element);
}

/* Each of the first operations of a commit fails once: the outcome must be true each time. */
TEST_F(faults, every_operation_fails_once)
{
	struct morph_change changes[2];
	unsigned int after, failures = 0;
	int ret, i;

	for (after = 0; after < 12; after++) {
		FAULT("programming_error - after=%u", after);
		changes[0] = change_add(0, 1);
		changes[1] = change_add(1, 0);
		ret = txn_run(self->slice, changes, 2, &self->args);
		failures += ret != 0;
		READ_SLICE();
		if (ret) {
			EXPECT_NE(MORPH_OUTCOME_COMMITTED, self->args.out_outcome);
			EXPECT_EQ(0, self->info.circuits.count);
			EXPECT_TRUE(sim_all_dark(&self->sim))
			{
				TH_LOG("after %u operations", after);
			}
		} else {
			EXPECT_EQ(MORPH_OUTCOME_COMMITTED, self->args.out_outcome);
			ASSERT_EQ(2, self->info.circuits.count);
			EXPECT_NE(0, sim_lit_lanes(&self->sim, 0));
			EXPECT_NE(0, sim_lit_lanes(&self->sim, 1));
		}
		ASSERT_EQ(0, sim_control(&self->sim, "clear", "all"));
		for (i = 0; !ret && i < 2; i++) {
			struct morph_change remove = change_remove(changes[i].circuit);

			ASSERT_EQ(0, txn_run(self->slice, &remove, 1, NULL))
			{
				TH_LOG("after %u operations: %s", after, last_detail);
			}
		}
	}
	EXPECT_LE(2, failures);
}

/*
 * A circuit goes dark while the driver removes it. The removal fails, so the circuit stays, and the
 * driver repairs it.
 */
TEST(dark_while_a_change_fails)
{
	struct morph_change change = change_add(0, 1);
	struct runner exchange = { .count = 2 };
	struct morph_event event;
	uint32_t guides[64];
	long long before;
	struct sim sim;
	int count;

	sim_start(&sim, "server8", "settle_ns=2000000000");
	exchange.slice = slice_create(sim.fd, 2);
	ASSERT_LE(0, exchange.slice);
	ASSERT_EQ(0, txn_run(exchange.slice, &change, 1, NULL));
	count = circuit_guides(exchange.slice, change.circuit, guides, 64);
	ASSERT_LT(0, count);
	exchange.changes[0] = change_remove(change.circuit);
	exchange.changes[1] = change_add(1, 0);
	before = sim_counter(&sim, "ops", "set_elements");
	ASSERT_EQ(0, runner_start(&exchange));
	ASSERT_TRUE(sim_wait_counter(&sim, "ops", "set_elements", before + 1));
	/* The elements settle, but the lasers do not turn on. */
	ASSERT_EQ(0, sim_control(&sim, "fault", "guide_lossy %u mdb=60000", guides[count / 2]));
	ASSERT_EQ(0, sim_control(&sim, "fault", "programming_error -"));
	EXPECT_EQ(EIO, runner_join(&exchange));
	ASSERT_EQ(0, wait_event(exchange.slice, MORPH_EVENT_CIRCUIT_MOVED, PATIENCE_MS, &event));
	EXPECT_EQ(change.circuit, event.circuit);
	EXPECT_TRUE(slice_wait_state(exchange.slice, MORPH_SLICE_OK));
	close(exchange.slice);
	sim_stop(&sim);
}

/*
 * The driver cannot verify darkness, so it does not give the accelerators to another slice at once.
 */
TEST_F(faults, release_with_broken_hardware)
{
	ASSERT_EQ(0, RUN());
	FAULT("programming_error - every=1 for=300000000");
	close(self->slice);
	self->slice = -1;
	/*
	 * In the end they have passed a test or stay quarantined. They are never both lit and free.
	 */
	EXPECT_TRUE(sim_wait_free(&self->sim, 8) ||
		    read_accelerator(&self->sim, 0).health != MORPH_HEALTH_OK);
	sim_refresh(&self->sim);
	if (self->sim.info.free == 8)
		EXPECT_TRUE(sim_all_dark(&self->sim));
}

TEST_HARNESS_MAIN
