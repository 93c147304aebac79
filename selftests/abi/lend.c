// SPDX-License-Identifier: GPL-2.0-only
/*
 * A spare lent to a slice: it is charged and counted, a failover takes it back, and it returns to
 * the spares with its slice.
 */
#include <string.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define ACCELERATORS 10
#define RANKS 2

FIXTURE(lend)
{
	struct sim sim;
	int owner, borrower;
	uint32_t own[RANKS]; /* accelerators of the owner */
	uint32_t borrowed[RANKS]; /* accelerators of the borrower; rank 1 has the spare */
	uint32_t idle; /* the other spare */
};

/* Find the next accelerator with a use. */
static uint32_t next(const struct sim *sim, uint32_t from, unsigned int use)
{
	while (from < ACCELERATORS && read_accelerator(sim, from).use != use)
		from++;
	return from;
}

static int lend(const struct sim *sim, const uint32_t *accelerators)
{
	struct morph_slice_create args = {
		.head.flags = MORPH_SLICE_LEND,
		.spare_policy = MORPH_SPARES_ANY,
	};

	return slice_create_with(sim->fd, &args, accelerators, RANKS);
}

/* The owner and the borrower have a ring each. */
static bool create_both(FIXTURE_DATA(lend) * self)
{
	struct morph_slice_create args = { .spare_policy = MORPH_SPARES_ANY };
	const struct sim *sim = &self->sim;

	self->own[0] = next(sim, 0, MORPH_USE_FREE);
	self->own[1] = next(sim, self->own[0] + 1, MORPH_USE_FREE);
	self->borrowed[0] = next(sim, self->own[1] + 1, MORPH_USE_FREE);
	self->borrowed[1] = next(sim, 0, MORPH_USE_SPARE);
	self->idle = next(sim, self->borrowed[1] + 1, MORPH_USE_SPARE);
	self->owner = slice_create_with(sim->fd, &args, self->own, RANKS);
	self->borrower = lend(sim, self->borrowed);
	return self->owner >= 0 && self->borrower >= 0 && !light_ring(self->owner, RANKS) &&
	       !light_ring(self->borrower, RANKS);
}

static bool has_counts(const struct sim *sim, uint32_t spares, uint32_t lent)
{
	struct morph_fabric_info info;

	return !fabric_info(sim->fd, &info) && info.spares == spares && info.lent == lent;
}

/* End both slices and all faults. Return whether every accelerator is idle again. */
static bool end_both(FIXTURE_DATA(lend) * self)
{
	bool healthy = true;
	unsigned int i;

	close(self->owner);
	close(self->borrower);
	sim_control(&self->sim, "clear", "all");
	for (i = 0; i < ACCELERATORS; i++)
		healthy &= wait_health(&self->sim, i, MORPH_HEALTH_OK);
	return healthy && sim_wait_free(&self->sim, 8) && WAIT_UNTIL(has_counts(&self->sim, 2, 0));
}

FIXTURE_SETUP(lend)
{
	sim_start(&self->sim, "server8", NULL);
	ASSERT_TRUE(create_both(self)) TH_LOG("%s", last_detail);
}

FIXTURE_TEARDOWN(lend)
{
	EXPECT_TRUE(end_both(self));
	EXPECT_EQ(0, core_counter(&self->sim, "ledger", "pins"));
	sim_stop(&self->sim);
}

#define KILL(accelerator) \
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", accelerator))

static int replaced(int slice, struct morph_event *event)
{
	return wait_event(slice, MORPH_EVENT_REPLACED, PATIENCE_MS, event);
}

TEST_F(lend, lent_spare_is_shown_and_held)
{
	static const struct morph_schedule_circuit circuit = { .dst_rank = 1, .lanes_count = 1 };
	const uint32_t pair[RANKS] = { next(&self->sim, 0, MORPH_USE_FREE), self->idle };

	EXPECT_TRUE(has_counts(&self->sim, 1, 1));
	EXPECT_EQ(MORPH_USE_HELD, read_accelerator(&self->sim, self->borrowed[1]).use);
	EXPECT_EQ(-1, slice_create_at(self->sim.fd, pair, RANKS));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(-1, lend(&self->sim, self->borrowed));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(-1, schedule_in_turn(self->borrower, &circuit, 1, NULL));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_NE(NULL, strstr(last_detail, "rank 1 has a lent spare")) TH_LOG("%s", last_detail);
}

/* A failover takes the idle spare, the next one the lent spare. */
TEST_F(lend, failover_takes_the_idle_spare_first)
{
	struct morph_rank_info ranks[RANKS];
	struct morph_slice_info info;
	struct morph_event event;

	KILL(self->own[0]);
	ASSERT_EQ(0, replaced(self->owner, &event));
	EXPECT_EQ(self->idle, event.new_accelerator);
	ASSERT_TRUE(slice_wait_state(self->owner, MORPH_SLICE_OK));
	ASSERT_TRUE(slice_wait_state(self->borrower, MORPH_SLICE_OK));
	KILL(self->own[1]);
	ASSERT_EQ(0, replaced(self->owner, &event));
	EXPECT_EQ(self->borrowed[1], event.new_accelerator);
	ASSERT_TRUE(slice_wait_state(self->owner, MORPH_SLICE_OK));
	ASSERT_EQ(0, wait_event(self->borrower, MORPH_EVENT_FAILING, PATIENCE_MS, &event));
	EXPECT_EQ(MORPH_OUTCOME_REVOKED, event.outcome);
	EXPECT_EQ(1, event.rank);
	EXPECT_EQ(self->borrowed[1], event.old_accelerator);
	ASSERT_EQ(0, wait_event(self->borrower, MORPH_EVENT_DEGRADED, PATIENCE_MS, &event));
	ASSERT_EQ(0, slice_read(self->borrower, &info, ranks, RANKS, NULL, 0));
	EXPECT_EQ(0, info.circuits.count);
	EXPECT_EQ(self->own[1], ranks[1].accelerator);
	EXPECT_TRUE(has_counts(&self->sim, 0, 0));
	/* After the repair the borrower may use its rank again. */
	ASSERT_EQ(0, sim_control(&self->sim, "clear", "all"));
	ASSERT_TRUE(slice_wait_state(self->borrower, MORPH_SLICE_OK));
	EXPECT_EQ(0, light_ring(self->borrower, RANKS)) TH_LOG("%s", last_detail);
	EXPECT_TRUE(WAIT_UNTIL(has_counts(&self->sim, 1, 1)));
}

TEST_F(lend, failed_lent_spare_is_not_replaced)
{
	struct morph_event event;

	KILL(self->borrowed[1]);
	ASSERT_EQ(0, wait_event(self->borrower, MORPH_EVENT_DEGRADED, PATIENCE_MS, &event));
	EXPECT_EQ(self->borrowed[1], event.index);
	EXPECT_TRUE(has_counts(&self->sim, 1, 0));
	KILL(self->own[0]);
	ASSERT_EQ(0, replaced(self->owner, &event));
	EXPECT_EQ(self->idle, event.new_accelerator);
}

/* The borrower ends before, while or after a failover takes its spare. */
TEST_F(lend, release_races_with_a_failure)
{
	static const unsigned int pauses_us[] = { 0, 500, 1000, 2000, 5000 };
	struct morph_event event;
	unsigned int i;

	for (i = 0; i < sizeof(pauses_us) / sizeof(*pauses_us); i++) {
		KILL(self->idle);
		ASSERT_TRUE(wait_health(&self->sim, self->idle, MORPH_HEALTH_FAILED));
		KILL(self->own[1]);
		usleep(pauses_us[i]);
		close(self->borrower);
		ASSERT_EQ(0, replaced(self->owner, &event));
		EXPECT_EQ(self->borrowed[1], event.new_accelerator);
		ASSERT_TRUE(slice_wait_state(self->owner, MORPH_SLICE_OK));
		self->borrower = -1;
		ASSERT_TRUE(end_both(self));
		ASSERT_TRUE(create_both(self)) TH_LOG("%s", last_detail);
	}
}

TEST_HARNESS_MAIN
