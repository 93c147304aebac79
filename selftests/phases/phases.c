// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranks are processes and run through phases. Whenever a rank sends there must be light, and every
 * rank must always continue.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <morph/morph.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define RANKS 4u
#define PHASES 4u
#define PAIRS 3u /* the phase of pairs; the others are shifts, each by one more */
#define TIMED "settle_ns=200000 relock_ns=100000 write_ns=0"
#define FOREVER (-1)

/* Data that the processes share. */
struct board {
	unsigned int sent; /* times that a rank was in a phase with light */
	unsigned int dark; /* times without light */
	unsigned int foreseen; /* phases that were lit ahead */
	unsigned int inside; /* ranks that have entered a phase, and wait to be killed */
};

FIXTURE(phases)
{
	struct sim sim;
	int slice;
	unsigned int number; /* file of the slice */
	struct morph_rank_info ranks[RANKS];
	struct morph_ctx *ctx;
	struct morph_slice *loader;
	struct morph_slice_phases *loaded;
	struct board *board;
};

static unsigned int partner(unsigned int phase, unsigned int rank)
{
	return phase == PAIRS ? rank ^ 1 : (rank + phase + 1) % RANKS;
}

/* All on one plane: no two phases fit next to each other, but some share circuits. */
static struct morph_steps *steps_of(struct morph_ctx *ctx)
{
	MORPH_OPTS(morph_circuit_opts, opts,
		   .flags = MORPH_CIRCUIT_SRC_PLANE | MORPH_CIRCUIT_DST_PLANE);
	struct morph_steps *steps = morph_steps_new(ctx);
	uint32_t known[RANKS][RANKS] = {}, held[RANKS]; /* number of a circuit, plus one */

	for (unsigned int phase = 0; phase < PHASES; phase++) {
		for (unsigned int rank = 0; rank < RANKS; rank++) {
			uint32_t *circuit = &known[rank][partner(phase, rank)];

			if (!*circuit)
				*circuit = 1 + (uint32_t)morph_steps_circuit(
						       steps, rank, partner(phase, rank), &opts);
			held[rank] = *circuit - 1;
		}
		if (morph_steps_add(steps, held, RANKS, NULL) < 0)
			abort();
	}
	return steps;
}

FIXTURE_SETUP(phases)
{
	struct morph_slice_create args = { .name = "job", .mode = 0600 };
	struct morph_slice_info info;
	struct morph_steps *steps;
	char path[64];

	sim_start(&self->sim, "server8", TIMED);
	self->slice = slice_create_with(self->sim.fd, &args, NULL, RANKS);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, slice_read(self->slice, &info, self->ranks, RANKS, NULL, 0));
	self->number = info.slice;
	self->board = mmap(NULL, sizeof(*self->board), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->board);
	ASSERT_EQ(0, morph_ctx_new(NULL, &self->ctx));
	snprintf(path, sizeof(path), "/dev/morph/slice%u", self->number);
	ASSERT_TRUE(WAIT_UNTIL(!access(path, R_OK)));
	ASSERT_EQ(0, morph_slice_open(self->ctx, path, &self->loader));
	steps = steps_of(self->ctx);
	ASSERT_EQ(0, morph_slice_phases_load(self->loader, steps, NULL, &self->loaded))
	TH_LOG("%s", morph_error_text(self->ctx));
	morph_steps_free(steps);
}

FIXTURE_TEARDOWN(phases)
{
	EXPECT_EQ(0, morph_slice_phases_unload(self->loaded, FOREVER));
	morph_slice_phases_free(self->loaded);
	morph_slice_close(self->loader);
	morph_ctx_free(self->ctx);
	EXPECT_TRUE(WAIT_UNTIL(sim_all_dark(&self->sim)));
	close(self->slice);
	EXPECT_EQ(0, slice_delete(self->sim.fd, self->number, NULL, 0));
	EXPECT_TRUE(sim_wait_free(&self->sim, self->sim.info.free));
	sim_stop(&self->sim);
	munmap(self->board, sizeof(*self->board));
}

/* ------------------------------------------------------------------ a process */

struct process {
	FIXTURE_DATA(phases) * self;
	unsigned int rank;
	uint32_t seed;
	struct morph_ctx *ctx;
	struct morph_slice *slice;
	struct morph_slice_phases *phasing;
};

static uint32_t chance(struct process *process, uint32_t below)
{
	process->seed = process->seed * 1103515245 + 12345;
	return (process->seed >> 16) % below;
}

static void must(struct process *process, int error)
{
	if (!error)
		return;
	fprintf(stderr, "# rank %u: %s\n", process->rank, morph_error_text(process->ctx));
	_exit(1);
}

/*
 * The rank's circuit of a phase, from the driver, and a receiver that sees light, from the
 * simulator.
 */
static bool has_light(const struct process *process, unsigned int phase)
{
	unsigned int dst = partner(phase, process->rank);
	struct morph_circuit_info circuits[4 * RANKS];
	struct morph_rank_info ranks[RANKS];
	struct morph_slice_info info;
	bool lit = false;

	if (slice_read(morph_slice_get_fd(process->slice), &info, ranks, RANKS, circuits,
		       4 * RANKS))
		return false;
	for (unsigned int at = 0; at < info.circuits.count; at++)
		lit |= circuits[at].src_rank == process->rank && circuits[at].dst_rank == dst &&
		       circuits[at].state == MORPH_CIRCUIT_LIT;
	/* A repair makes circuits dark without a request of a rank. */
	return info.state == MORPH_SLICE_REPAIRING ||
	       (lit && sim_lit_lanes(&process->self->sim, ranks[dst].accelerator));
}

static void note(struct process *process, unsigned int phase)
{
	bool lit = has_light(process, phase);

	__atomic_add_fetch(lit ? &process->self->board->sent : &process->self->board->dark, 1,
			   __ATOMIC_RELAXED);
}

/* Send: there must be light at the beginning and at the end. */
static void send_in(struct process *process, unsigned int phase)
{
	must(process, morph_slice_phases_enter(process->phasing, phase, FOREVER));
	note(process, phase);
	usleep(chance(process, 1000));
	note(process, phase);
	must(process, morph_slice_phases_leave(process->phasing, phase));
}

static pid_t begin(FIXTURE_DATA(phases) * self, unsigned int rank, void (*body)(struct process *))
{
	struct process process = { .self = self, .rank = rank, .seed = 77 * rank + 1 };
	struct morph_slice_phases_info info;
	pid_t pid = fork();
	char path[64];

	if (pid)
		return pid;
	snprintf(path, sizeof(path), "/dev/morph/slice%u", self->number);
	if (morph_ctx_new(NULL, &process.ctx))
		_exit(1);
	must(&process, morph_slice_open(process.ctx, path, &process.slice));
	morph_slice_phases_info(self->loaded, &info);
	must(&process,
	     morph_slice_phases_join(process.slice, info.schedule, NULL, &process.phasing));
	body(&process);
	_exit(0);
}

static void begin_all(FIXTURE_DATA(phases) * self, pid_t *pids, void (*body)(struct process *))
{
	for (unsigned int rank = 0; rank < RANKS; rank++)
		pids[rank] = begin(self, rank, body);
}

/* Count the processes that ended without an error. */
static unsigned int join_all(const pid_t *pids)
{
	unsigned int well = 0;
	int status;

	for (unsigned int rank = 0; rank < RANKS; rank++)
		well += waitpid(pids[rank], &status, 0) == pids[rank] && !status;
	return well;
}

/* ---------------------------------------------------------------------- tests */

#define ROUNDS 40u

static void go_round(struct process *process)
{
	for (unsigned int at = 0; at < ROUNDS; at++)
		send_in(process, at % PHASES);
}

TEST_F(phases, in_their_order)
{
	pid_t pids[RANKS];

	begin_all(self, pids, go_round);
	EXPECT_EQ(RANKS, join_all(pids));
	EXPECT_EQ(0, self->board->dark);
	EXPECT_EQ(2 * RANKS * ROUNDS, self->board->sent);
}

static void go_anywhere(struct process *process)
{
	for (unsigned int at = 0; at < ROUNDS; at++) {
		send_in(process, chance(process, PHASES));
		if (!chance(process, 4))
			must(process, morph_slice_phases_announce(process->phasing,
								  chance(process, PHASES)));
		if (!chance(process, 2))
			morph_slice_phases_provision(process->phasing, 0);
	}
}

TEST_F(phases, each_rank_in_an_order_of_its_own)
{
	pid_t pids[RANKS];

	begin_all(self, pids, go_anywhere);
	EXPECT_EQ(RANKS, join_all(pids));
	EXPECT_EQ(0, self->board->dark);
	EXPECT_EQ(2 * RANKS * ROUNDS, self->board->sent);
}

/* Like a rank that computes while another thread provisions. */
static void go_announced(struct process *process)
{
	struct morph_slice_phases_info counts;

	for (unsigned int at = 0; at < ROUNDS; at++) {
		send_in(process, at % PHASES);
		must(process, morph_slice_phases_announce(process->phasing, (at + 1) % PHASES));
		morph_slice_phases_provision(process->phasing, FOREVER);
	}
	morph_slice_phases_announce(process->phasing, MORPH_PHASE_NONE);
	morph_slice_phases_info(process->phasing, &counts);
	__atomic_add_fetch(&process->self->board->foreseen, counts.lit, __ATOMIC_RELAXED);
}

TEST_F(phases, announced_they_are_lit_ahead)
{
	pid_t pids[RANKS];

	begin_all(self, pids, go_announced);
	EXPECT_EQ(RANKS, join_all(pids));
	EXPECT_EQ(0, self->board->dark);
	/* All but the first. */
	EXPECT_LE(RANKS * (ROUNDS - 1), self->board->foreseen);
}

/*
 * Receivers of circuits that both the first phase and the phase of pairs have: they must never go
 * dark.
 */
static void look_on(struct process *process)
{
	const struct sim *sim = &process->self->sim;
	const struct morph_rank_info *ranks = process->self->ranks;
	struct board *board = process->self->board;

	while (!__atomic_load_n(&board->inside, __ATOMIC_RELAXED)) {
		bool lit = sim_lit_lanes(sim, ranks[1].accelerator) &&
			   sim_lit_lanes(sim, ranks[3].accelerator);

		__atomic_add_fetch(lit ? &board->sent : &board->dark, 1, __ATOMIC_RELAXED);
	}
}

TEST_F(phases, common_circuits_stay_lit_in_another_order)
{
	struct morph_slice_phases_info counts;
	pid_t pid;
	int status;

	ASSERT_EQ(0, morph_slice_phases_enter(self->loaded, 0, FOREVER));
	EXPECT_EQ(0, morph_slice_phases_leave(self->loaded, 0));
	pid = begin(self, 0, look_on);
	for (unsigned int at = 1; at <= ROUNDS; at++) {
		unsigned int phase = at % 2 ? PAIRS : 0;

		EXPECT_TRUE(
			WAIT_UNTIL(__atomic_load_n(&self->board->sent, __ATOMIC_RELAXED) +
					   __atomic_load_n(&self->board->dark, __ATOMIC_RELAXED) >=
				   at));
		EXPECT_EQ(0, morph_slice_phases_enter(self->loaded, phase, FOREVER));
		EXPECT_EQ(0, morph_slice_phases_leave(self->loaded, phase));
	}
	__atomic_store_n(&self->board->inside, 1, __ATOMIC_RELAXED);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, self->board->dark);
	morph_slice_phases_info(self->loaded, &counts);
	EXPECT_EQ(ROUNDS / 2, counts.jumps);
}

static void stay_inside(struct process *process)
{
	must(process, morph_slice_phases_enter(process->phasing, 0, FOREVER));
	__atomic_add_fetch(&process->self->board->inside, 1, __ATOMIC_RELAXED);
	pause();
}

TEST_F(phases, a_killed_rank_blocks_no_other)
{
	pid_t pids[RANKS];
	unsigned int rank;

	pids[0] = begin(self, 0, stay_inside);
	ASSERT_TRUE(WAIT_UNTIL(__atomic_load_n(&self->board->inside, __ATOMIC_RELAXED)));
	EXPECT_EQ(-ETIMEDOUT, morph_slice_phases_enter(self->loaded, 1, 50000000));
	for (rank = 1; rank < RANKS; rank++)
		pids[rank] = begin(self, rank, go_anywhere);
	usleep(50000);
	EXPECT_EQ(0, kill(pids[0], SIGKILL));
	EXPECT_EQ(RANKS - 1, join_all(pids));
	EXPECT_EQ(0, self->board->dark);
	EXPECT_EQ(2 * (RANKS - 1) * ROUNDS, self->board->sent);
}

TEST_F(phases, a_failover_is_waited_out)
{
	struct morph_event event;
	pid_t pids[RANKS];

	begin_all(self, pids, go_anywhere);
	usleep(50000);
	EXPECT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u",
				 self->ranks[1].accelerator));
	EXPECT_EQ(0, wait_event(self->slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	EXPECT_EQ(RANKS, join_all(pids));
	EXPECT_EQ(2 * RANKS * ROUNDS, self->board->sent + self->board->dark);
	/* Between the failure and its detection there is no light, and no rank knows that. */
	EXPECT_LT(self->board->dark, RANKS);
}

TEST_HARNESS_MAIN
