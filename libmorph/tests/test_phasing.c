// SPDX-License-Identifier: LGPL-2.1-or-later
/* Phases on a slice: three ranks, and a kernel with a schedule. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../internal/client.h"
#include "fake.h"

#define PHASES 4
#define RANKS 3
#define SCHEDULE 6
#define FIRST 20 /* number of its first circuit */
#define MS 1000000

/* The driver's state of the schedule; and for how many calls the slice is under repair. */
static struct {
	bool loaded;
	uint32_t state;
	uint32_t step;
	uint64_t position;
	uint32_t repairing;
	uint32_t slice_state;
	int fails; /* the next step fails with this errno */
	/* then the slice is under repair for this number of calls, and steps no longer fail */
	uint32_t breaks;
	uint32_t goes, jumps, starts;
	bool dark; /* a circuit of what is lit */
	uint32_t reads; /* of the schedule */
	uint32_t asked; /* times that a rank asked while another call went on */
} kernel;

static struct fake *fake;
static struct morph_ctx *ctx;
static struct morph_slice *slice;
static struct morph_slice_phases *ranks[RANKS];
static uint32_t inside[PHASES]; /* ranks, as this test knows it */
static char locks[] = "/tmp/phasing-XXXXXX";

/* ------------------------------------------------------------------ kernel */

/* The lit circuits go dark, except those of @step. No rank may be in the step that goes dark. */
static void take_away_for(uint32_t step)
{
	if (kernel.step != MORPH_ANY && kernel.step != step)
		assert_int_equal(inside[kernel.step], 0);
}

static int light(uint32_t step)
{
	take_away_for(step);
	if (kernel.fails) {
		int error = -kernel.fails;

		kernel.state = MORPH_SCHEDULE_STOPPED;
		if (kernel.breaks) {
			kernel.repairing = kernel.breaks;
			kernel.fails = 0;
		}
		return error;
	}
	kernel.state = MORPH_SCHEDULE_RUNNING;
	kernel.step = step;
	kernel.position++;
	return 0;
}

static int go(const struct morph_schedule_act *act)
{
	if (kernel.state != MORPH_SCHEDULE_RUNNING)
		return -ECANCELED;
	assert_int_equal(act->position, kernel.position + 1);
	kernel.goes++;
	return light((kernel.step + 1) % PHASES);
}

static int jump(const struct morph_schedule_act *act)
{
	if (kernel.state != MORPH_SCHEDULE_RUNNING)
		return -ECANCELED;
	assert_int_equal(act->position, kernel.position + 1);
	assert_true(act->step < PHASES);
	kernel.jumps++;
	return light(act->step);
}

static int start(const struct morph_schedule_act *act)
{
	if (kernel.state == MORPH_SCHEDULE_RUNNING)
		return -EBUSY;
	kernel.starts++;
	kernel.position = 0;
	return light(act->step);
}

static int schedule_act(const struct morph_schedule_act *act)
{
	if (!kernel.loaded || act->schedule != SCHEDULE)
		return -ENOENT;
	if (kernel.repairing)
		return -EAGAIN;
	switch (act->verb) {
	case MORPH_SCHEDULE_GO:
		return go(act);
	case MORPH_SCHEDULE_START:
		return start(act);
	case MORPH_SCHEDULE_JUMP:
		return jump(act);
	case MORPH_SCHEDULE_UNLOAD:
		take_away_for(MORPH_ANY);
		kernel.loaded = false;
		return 0;
	}
	return -EOPNOTSUPP;
}

static int schedule_load(struct morph_schedule_load *load)
{
	assert_int_equal(load->head.flags, MORPH_SCHEDULE_LOOP);
	assert_int_equal(load->steps.count, PHASES);
	if (kernel.loaded)
		return -EBUSY;
	kernel.loaded = true;
	load->out_schedule = SCHEDULE;
	return 0;
}

static int schedule_info(struct morph_schedule_info *info)
{
	if (!kernel.loaded)
		return -ENOENT;
	info->schedule = SCHEDULE;
	info->state = kernel.state;
	info->step = kernel.step;
	info->position = kernel.position;
	info->steps.count = PHASES;
	info->circuits = PHASES;
	info->first_circuit = FIRST;
	return 0;
}

/* Circuits of the schedule, one of which can be dark, and a circuit outside the schedule. */
static void slice_info(struct morph_slice_info *info)
{
	struct morph_circuit_info *circuits = (void *)(uintptr_t)info->circuits.ptr;

	info->slice = 9;
	info->state = kernel.slice_state;
	info->circuits.count = 2;
	if (!circuits)
		return;
	circuits[0].circuit = FIRST - 1;
	circuits[0].state = MORPH_CIRCUIT_FAILED;
	circuits[1].circuit = FIRST + 1;
	circuits[1].state = kernel.dark ? MORPH_CIRCUIT_FAILED : MORPH_CIRCUIT_LIT;
}

static int device(struct fake *it, unsigned long command, void *argument)
{
	struct morph_slice_info *info = argument;

	(void)it;
	switch (command) {
	case MORPH_FABRIC_INFO:
		return 0;
	case MORPH_SLICE_INFO:
		slice_info(info);
		if (kernel.repairing) {
			info->state = MORPH_SLICE_REPAIRING;
			kernel.repairing--;
		}
		return 0;
	case MORPH_SCHEDULE_LOAD:
		return schedule_load(argument);
	case MORPH_SCHEDULE_ACT:
		return schedule_act(argument);
	case MORPH_SCHEDULE_INFO:
		kernel.reads++;
		kernel.asked += ranks[2] && morph_slice_phases_asked(ranks[2]);
		return schedule_info(argument);
	}
	return -ENOTTY;
}

/* -------------------------------------------------------------------- ranks */

static struct morph_steps *steps_of(uint32_t begin)
{
	MORPH_OPTS(morph_step_opts, opts, .begin = begin);
	struct morph_steps *steps = morph_steps_new(ctx);

	for (uint32_t phase = 0; phase < PHASES; phase++) {
		uint32_t circuit =
			(uint32_t)morph_steps_circuit(steps, phase % 3, phase % 3 + 1, NULL);

		assert_int_equal(morph_steps_add(steps, &circuit, 1, &opts), phase);
	}
	return steps;
}

static int begin(void **state)
{
	MORPH_OPTS(morph_slice_phases_opts, opts, .locks = locks);
	struct morph_slice_phases_info info;
	struct morph_steps *steps;
	int fd;

	(void)state;
	strcpy(locks + strlen(locks) - 6, "XXXXXX");
	fd = mkstemp(locks);
	assert_true(fd >= 0);
	close(fd);
	memset(&kernel, 0, sizeof(kernel));
	memset(inside, 0, sizeof(inside));
	kernel.step = MORPH_ANY;
	fake = fake_new();
	fake->ioctl = device;
	ctx = fake_ctx(&fake->transport);
	assert_int_equal(morph_slice_open(ctx, "9", &slice), 0);
	steps = steps_of(MORPH_STEP_CALL);
	assert_int_equal(morph_slice_phases_load(slice, steps, &opts, &ranks[0]), 0);
	morph_steps_free(steps);
	morph_slice_phases_info(ranks[0], &info);
	for (uint32_t rank = 1; rank < RANKS; rank++)
		assert_int_equal(morph_slice_phases_join(slice, info.schedule, &opts, &ranks[rank]),
				 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		morph_slice_phases_free(ranks[rank]);
		ranks[rank] = NULL;
	}
	morph_slice_close(slice);
	morph_ctx_free(ctx);
	unlink(locks);
	return 0;
}

static int enter(uint32_t rank, uint32_t phase, int64_t timeout_ns)
{
	int error = morph_slice_phases_enter(ranks[rank], phase, timeout_ns);

	if (error)
		return error;
	assert_int_equal(kernel.state, MORPH_SCHEDULE_RUNNING);
	assert_int_equal(kernel.step, phase);
	inside[phase]++;
	return 0;
}

static void leave(uint32_t rank, uint32_t phase)
{
	inside[phase]--;
	assert_int_equal(morph_slice_phases_leave(ranks[rank], phase), 0);
}

static void announce(uint32_t rank, uint32_t phase)
{
	assert_int_equal(morph_slice_phases_announce(ranks[rank], phase), 0);
}

static struct morph_slice_phases_info counts_of(uint32_t rank)
{
	struct morph_slice_phases_info counts;

	morph_slice_phases_info(ranks[rank], &counts);
	return counts;
}

/* -------------------------------------------------------------------- tests */

static void nothing_is_lit_before_it_is_entered(void **state)
{
	(void)state;
	assert_int_equal(morph_slice_phases_table(ranks[1]), PHASES);
	assert_int_equal(kernel.state, MORPH_SCHEDULE_LOADED);
	assert_int_equal(enter(1, 2, 0), 0);
	assert_int_equal(kernel.starts, 1);
	leave(1, 2);
	assert_int_equal(kernel.step, 2);
}

static void the_phase_after_is_a_step(void **state)
{
	(void)state;
	for (uint32_t at = 0; at < 2 * PHASES; at++) {
		for (uint32_t rank = 0; rank < RANKS; rank++)
			assert_int_equal(enter(rank, at % PHASES, 0), 0);
		for (uint32_t rank = 0; rank < RANKS; rank++)
			leave(rank, at % PHASES);
	}
	assert_int_equal(kernel.starts, 1);
	assert_int_equal(kernel.goes, 2 * PHASES - 1);
	assert_int_equal(kernel.jumps, 0);
	assert_int_equal(counts_of(0).changes, 2 * PHASES);
	assert_int_equal(counts_of(1).changes, 0);
	assert_int_equal(counts_of(1).lit, 2 * PHASES);
}

static void phases_come_in_any_order(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (uint32_t at = 0; at < 1000; at++) {
		uint32_t phase = (seed >> 16) % PHASES, rank = (seed >> 20) % RANKS;

		seed = seed * 1103515245 + 12345;
		assert_int_equal(enter(rank, phase, 0), 0);
		assert_int_equal(enter((rank + 1) % RANKS, phase, 0), 0);
		leave(rank, phase);
		leave((rank + 1) % RANKS, phase);
	}
	assert_int_equal(kernel.starts, 1);
	assert_true(kernel.jumps > 0);
	assert_true(kernel.goes > 0);
	assert_int_equal(counts_of(0).jumps + counts_of(1).jumps + counts_of(2).jumps,
			 kernel.jumps);
}

static void a_rank_in_a_phase_keeps_it(void **state)
{
	(void)state;
	assert_int_equal(enter(0, 0, 0), 0);
	assert_int_equal(enter(1, 1, 0), -ETIMEDOUT);
	assert_string_equal(morph_error_text(ctx), "enter a phase: ranks are in another phase");
	assert_int_equal(enter(1, 3, 3 * MS), -ETIMEDOUT);
	assert_int_equal(counts_of(1).late, 2);
	/* The rank itself does not take the step away either. It can enter the step twice. */
	assert_int_equal(enter(0, 1, 0), -ETIMEDOUT);
	assert_int_equal(enter(0, 0, 0), 0);
	leave(0, 0);
	assert_int_equal(enter(1, 1, 0), -ETIMEDOUT);
	leave(0, 0);
	assert_int_equal(enter(1, 1, 0), 0);
	leave(1, 1);
}

static void a_rank_that_waits_long_asks(void **state)
{
	(void)state;
	assert_int_equal(enter(0, 0, 0), 0);
	assert_int_equal(enter(1, 1, 0), -ETIMEDOUT);
	assert_int_equal(kernel.asked, 0);
	assert_int_equal(enter(1, 1, 50 * MS), -ETIMEDOUT);
	assert_true(kernel.asked > 0);
	assert_false(morph_slice_phases_asked(ranks[2]));
	leave(0, 0);
}

static void a_rank_that_waits_alone_asks(void **state)
{
	(void)state;
	assert_int_equal(morph_slice_phases_ask(ranks[0], MORPH_ASK_LIGHT), 0);
	for (uint32_t rank = 0; rank < RANKS; rank++)
		assert_true(morph_slice_phases_asked(ranks[rank]));
	assert_int_equal(morph_slice_phases_ask(ranks[1], MORPH_ASK_LIGHT), 0);
	assert_int_equal(morph_slice_phases_ask(ranks[0], MORPH_ASK_NOTHING), 0);
	assert_true(morph_slice_phases_asked(ranks[0]));
	/* Neither does a rank that has left. */
	morph_slice_phases_free(ranks[1]);
	ranks[1] = NULL;
	assert_false(morph_slice_phases_asked(ranks[0]));
}

static void nothing_else_is_lit_where_one_asks_for_the_end(void **state)
{
	(void)state;
	assert_int_equal(enter(0, 0, 0), 0);
	assert_int_equal(morph_slice_phases_ask(ranks[2], MORPH_ASK_UNLOAD), 0);
	assert_int_equal(enter(1, 0, 0), 0);
	leave(0, 0);
	leave(1, 0);
	assert_int_equal(enter(1, 1, 0), -ETIMEDOUT);
	announce(0, 1);
	assert_int_equal(morph_slice_phases_provision(ranks[0], 0), -ETIMEDOUT);
	assert_int_equal(morph_slice_phases_ask(ranks[2], MORPH_ASK_LIGHT), 0);
	assert_true(morph_slice_phases_asked(ranks[0]));
	assert_int_equal(enter(1, 1, 0), 0);
	leave(1, 1);
}

static void only_announced_ranks_are_waited_for(void **state)
{
	(void)state;
	assert_int_equal(enter(0, 0, 0), 0);
	assert_int_equal(enter(1, 0, 0), 0);
	leave(0, 0);
	announce(0, 1);
	assert_int_equal(morph_slice_phases_provision(ranks[0], 0), -ETIMEDOUT);
	leave(1, 0);
	assert_int_equal(morph_slice_phases_provision(ranks[0], MS), -ETIMEDOUT);
	announce(1, 1);
	assert_int_equal(morph_slice_phases_provision(ranks[0], 0), 0);
	assert_int_equal(kernel.step, 1);
	assert_int_equal(counts_of(0).provisioned, 1);
	assert_int_equal(enter(1, 1, 0), 0);
	assert_int_equal(counts_of(1).lit, 2);
	leave(1, 1);
	/* Rank 0 reaches its announced operation. A rank that enters does not ask. */
	announce(1, 2);
	assert_int_equal(morph_slice_phases_provision(ranks[1], 0), -ETIMEDOUT);
	assert_int_equal(enter(1, 2, 0), 0);
	leave(1, 2);
	assert_int_equal(enter(0, 1, 0), 0);
	leave(0, 1);
}

static void wrong_announcements_cost_a_change(void **state)
{
	(void)state;
	assert_int_equal(enter(0, 0, 0), 0);
	leave(0, 0);
	announce(0, 3);
	assert_int_equal(morph_slice_phases_provision(ranks[0], 0), 0);
	assert_int_equal(enter(0, 1, 0), 0);
	assert_int_equal(morph_slice_phases_provision(ranks[0], 0), -ENODATA);
	leave(0, 1);
	announce(0, MORPH_PHASE_NONE);
	assert_int_equal(morph_slice_phases_provision(ranks[0], 0), -ENODATA);
	assert_int_equal(morph_slice_phases_announce(ranks[0], PHASES), -ENOENT);
	assert_int_equal(counts_of(0).changes, 3);
}

static void a_rank_that_is_gone_is_in_no_phase(void **state)
{
	(void)state;
	assert_int_equal(enter(2, 0, 0), 0);
	assert_int_equal(enter(1, 1, 0), -ETIMEDOUT);
	morph_slice_phases_free(ranks[2]);
	ranks[2] = NULL;
	inside[0]--;
	assert_int_equal(enter(1, 1, 0), 0);
	leave(1, 1);
}

static void repairs_are_waited_for(void **state)
{
	(void)state;
	kernel.repairing = 5;
	assert_int_equal(enter(0, 0, -1), 0);
	leave(0, 0);
	/* Lit circuits can be dark meanwhile. */
	kernel.repairing = 4;
	assert_int_equal(enter(0, 0, -1), 0);
	leave(0, 0);
	assert_int_equal(counts_of(0).repairs, 2);
	kernel.repairing = UINT32_MAX;
	assert_int_equal(enter(0, 0, 2 * MS), -ETIMEDOUT);
	assert_string_equal(morph_error_text(ctx),
			    "enter a phase: the slice is still being repaired");
	announce(0, 1);
	assert_int_equal(morph_slice_phases_provision(ranks[0], 0), -ETIMEDOUT);
	kernel.repairing = 0;
	assert_int_equal(morph_slice_phases_provision(ranks[0], 0), 0);
	kernel.slice_state = MORPH_SLICE_LOST;
	assert_int_equal(enter(0, 1, -1), -ENODEV);
}

static void phases_that_failed_for_good_are_not_entered(void **state)
{
	(void)state;
	assert_int_equal(enter(0, 0, 0), 0);
	leave(0, 0);
	kernel.slice_state = MORPH_SLICE_DEGRADED;
	assert_int_equal(enter(0, 0, 0), 0);
	leave(0, 0);
	kernel.dark = true;
	assert_int_equal(enter(0, 0, 0), -EIO);
	assert_string_equal(
		morph_error_text(ctx),
		"enter a phase: its circuit 21 has failed, and no other path was found");
	/* A repair can find a path after all. */
	kernel.dark = false;
	assert_int_equal(enter(0, 0, 0), 0);
	leave(0, 0);
}

/* Many ranks look during the wait. Afterwards each call looks once. */
static void failed_phases_are_waited_for_once(void **state)
{
	uint32_t before;

	(void)state;
	assert_int_equal(enter(0, 0, 0), 0);
	leave(0, 0);
	kernel.slice_state = MORPH_SLICE_DEGRADED;
	kernel.dark = true;
	before = kernel.reads;
	assert_int_equal(enter(0, 0, 0), -EIO);
	assert_true(kernel.reads > before + 1);
	for (uint32_t at = 0; at < 10; at++) {
		before = kernel.reads;
		assert_int_equal(enter(0, 0, 0), -EIO);
		assert_int_equal(kernel.reads, before + 1);
	}
	kernel.dark = false;
	assert_int_equal(enter(0, 0, 0), 0);
	leave(0, 0);
	kernel.dark = true;
	before = kernel.reads;
	assert_int_equal(enter(0, 0, 0), -EIO);
	assert_true(kernel.reads > before + 1);
}

/* The rank inside can wait for the arriving one. */
static void a_stopped_phase_is_lit_again_beside_its_ranks(void **state)
{
	(void)state;
	assert_int_equal(enter(0, 0, 0), 0);
	kernel.state = MORPH_SCHEDULE_STOPPED;
	assert_int_equal(enter(1, 1, 0), -ETIMEDOUT);
	assert_int_equal(enter(1, 0, 0), 0);
	leave(1, 0);
	leave(0, 0);
	assert_int_equal(enter(1, 1, 0), 0);
	leave(1, 1);
}

static void phases_that_are_freed_are_left_by_children_too(void **state)
{
	pid_t child;

	(void)state;
	assert_int_equal(enter(0, 0, 0), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		pause();
		_exit(0);
	}
	inside[0]--;
	morph_slice_phases_free(ranks[0]);
	ranks[0] = NULL;
	assert_int_equal(enter(1, 1, 0), 0);
	leave(1, 1);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void failures_during_a_change_are_waited_for(void **state)
{
	(void)state;
	assert_int_equal(enter(0, 0, 0), 0);
	leave(0, 0);
	kernel.fails = EIO;
	kernel.breaks = 4;
	assert_int_equal(enter(1, 2, -1), 0);
	assert_int_equal(kernel.state, MORPH_SCHEDULE_RUNNING);
	assert_int_equal(kernel.step, 2);
	assert_int_equal(kernel.starts, 2);
	leave(1, 2);
	/*
	 * Also with a rank that waits for no other: it fails for the duration of the repair only.
	 */
	kernel.fails = EIO;
	kernel.breaks = 4;
	assert_int_equal(enter(1, 0, 0), -ETIMEDOUT);
	assert_int_equal(enter(1, 0, -1), 0);
	leave(1, 0);
}

static void a_phase_that_fails_is_tried_again(void **state)
{
	(void)state;
	assert_int_equal(enter(0, 0, 0), 0);
	leave(0, 0);
	kernel.fails = EIO;
	assert_int_equal(enter(1, 1, -1), -EIO);
	assert_int_equal(kernel.state, MORPH_SCHEDULE_STOPPED);
	assert_int_equal(enter(1, 0, -1), -EIO);
	kernel.fails = 0;
	/* The circuits of the step before are lit, but the schedule has stopped there. */
	assert_int_equal(enter(1, 0, 0), 0);
	assert_int_equal(enter(0, 0, 0), 0);
	leave(0, 0);
	leave(1, 0);
	assert_int_equal(enter(1, 1, 0), 0);
	leave(1, 1);
}

static void phases_without_ranks_are_unloaded(void **state)
{
	(void)state;
	assert_int_equal(enter(1, 2, 0), 0);
	assert_int_equal(morph_slice_phases_unload(ranks[0], MS), -ETIMEDOUT);
	leave(1, 2);
	assert_int_equal(morph_slice_phases_unload(ranks[0], 0), 0);
	assert_false(kernel.loaded);
	assert_int_equal(enter(1, 2, -1), -ENOENT);
	assert_int_equal(morph_slice_phases_unload(ranks[1], -1), -ENOENT);
}

static void mistakes_are_named(void **state)
{
	MORPH_OPTS(morph_slice_phases_opts, opts, .locks = "/nowhere/at/all");
	struct morph_slice_phases *phasing;
	struct morph_steps *steps;

	(void)state;
	assert_int_equal(morph_slice_phases_enter(ranks[0], PHASES, 0), -ENOENT);
	assert_string_equal(morph_error_text(ctx), "no phase 4: there are 4 phases");
	assert_int_equal(morph_slice_phases_leave(ranks[0], 1), -ENOENT);
	assert_string_equal(morph_error_text(ctx),
			    "leave phase 1: this process has not entered it");
	assert_int_equal(morph_slice_phases_join(slice, SCHEDULE, &opts, &phasing), -ENOENT);
	assert_null(phasing);
	opts.locks = locks;
	assert_int_equal(morph_slice_phases_join(slice, SCHEDULE + 1, &opts, &phasing), -ENOENT);
	assert_null(phasing);
	steps = steps_of(MORPH_STEP_BARRIER);
	assert_int_equal(morph_slice_phases_load(slice, steps, &opts, &phasing), -EINVAL);
	morph_steps_clear(steps);
	assert_int_equal(morph_slice_phases_load(slice, steps, &opts, &phasing), -EINVAL);
	morph_steps_free(steps);
	steps = steps_of(MORPH_STEP_CALL);
	assert_int_equal(morph_slice_phases_load(slice, steps, &opts, &phasing), -EBUSY);
	assert_null(phasing);
	morph_steps_free(steps);
	morph_slice_phases_free(NULL);
}

static void without_memory_nothing_is_joined(void **state)
{
	MORPH_OPTS(morph_slice_phases_opts, opts, .locks = locks);
	struct morph_slice_phases *phasing;
	int error;

	(void)state;
	for (unsigned int nth = 1;; nth++) {
		fault_at("memory", nth, ENOMEM);
		error = morph_slice_phases_join(slice, SCHEDULE, &opts, &phasing);
		if (!fault_struck())
			break;
		assert_int_equal(error, -ENOMEM);
		assert_null(phasing);
	}
	assert_int_equal(error, 0);
	morph_slice_phases_free(phasing);
}

static void without_memory_nothing_is_loaded(void **state)
{
	MORPH_OPTS(morph_slice_phases_opts, opts, .locks = locks);
	struct morph_steps *steps = steps_of(MORPH_STEP_CALL);
	struct morph_slice_phases *phasing = NULL;

	(void)state;
	fault_at("memory", 1, ENOMEM);
	assert_int_equal(morph_slice_phases_load(slice, steps, &opts, &phasing), -ENOMEM);
	assert_true(fault_struck());
	assert_null(phasing);
	morph_steps_free(steps);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_lit_before_it_is_entered),
		TEST(the_phase_after_is_a_step),
		TEST(phases_come_in_any_order),
		TEST(a_rank_in_a_phase_keeps_it),
		TEST(a_rank_that_waits_long_asks),
		TEST(a_rank_that_waits_alone_asks),
		TEST(nothing_else_is_lit_where_one_asks_for_the_end),
		TEST(only_announced_ranks_are_waited_for),
		TEST(wrong_announcements_cost_a_change),
		TEST(a_rank_that_is_gone_is_in_no_phase),
		TEST(repairs_are_waited_for),
		TEST(phases_that_failed_for_good_are_not_entered),
		TEST(failed_phases_are_waited_for_once),
		TEST(a_stopped_phase_is_lit_again_beside_its_ranks),
		TEST(phases_that_are_freed_are_left_by_children_too),
		TEST(failures_during_a_change_are_waited_for),
		TEST(a_phase_that_fails_is_tried_again),
		TEST(phases_without_ranks_are_unloaded),
		TEST(mistakes_are_named),
		TEST(without_memory_nothing_is_joined),
		TEST(without_memory_nothing_is_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
