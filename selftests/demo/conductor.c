// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replay the jobs of a trace on a simulated rack, in compressed time, while hardware fails
 * by a seeded plan.
 *
 *   conductor JOBS RESULTS SEED SECONDS
 *
 * The program writes RESULTS/demo.json, pictures and snapshots of the light. It exits with 1
 * if an invariant broke. The fabric is instance sim0 of morph_sim.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../libmorph/util/mix.h"
#include "demo.h"

#define HEADROOM 5u /* accelerators that the operator keeps free */
#define PATIENCE_QUEUE_MS 25000 /* a job that waited longer gets the driver's refusal */
#define BLOCKS_AFTER_MS 8000 /* no job overtakes one that waited longer */
#define QUIET_EVERY_MS 12000
#define CLOSING_MS 5000 /* time for the last jobs after all arrivals and failures */

struct demo demo;

/* -------------------------------------------------------------------- small */

void violation(const char *format, ...)
{
	va_list args;

	if (demo.violations_count == VIOLATIONS_MAX)
		return;
	va_start(args, format);
	vsnprintf(demo.violations[demo.violations_count++], sizeof(demo.violations[0]), format,
		  args);
	va_end(args);
	printf("  BROKEN: %s\n", demo.violations[demo.violations_count - 1]);
	fflush(stdout);
}

uint32_t chance(uint32_t below)
{
	return mix_next(&demo.chance) % below;
}

uint64_t boottime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

struct view view_of(const struct job *job)
{
	struct view copy;
	uint32_t version;

	do {
		version = __atomic_load_n(&job->view->version, __ATOMIC_ACQUIRE);
		copy = *job->view;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		/* If a tenant is killed while it writes, the version stays odd. */
		if (job->stage == STAGE_KILLED)
			break;
	} while (version & 1 || version != __atomic_load_n(&job->view->version, __ATOMIC_ACQUIRE));
	return copy;
}

uint32_t jobs_at(enum stage stage)
{
	uint32_t count = 0, i;

	for (i = 0; i < demo.jobs_count; i++)
		count += demo.jobs[i].stage == stage;
	return count;
}

uint32_t held_accelerators(void)
{
	uint32_t held = 0, i;

	for (i = 0; i < demo.jobs_count; i++)
		if (demo.jobs[i].stage == STAGE_RUNNING || demo.jobs[i].stage == STAGE_ENDING)
			held += demo.jobs[i].accelerators;
	return held;
}

static void sample_occupancy(void)
{
	long long now = now_ms();
	uint32_t held = held_accelerators();

	if (!demo.measured_from_ms) {
		if (held * 10 < demo.capacity * 7)
			return;
		demo.measured_from_ms = demo.sampled_ms = now;
		demo.held_least = demo.held_most = held;
	}
	if (demo.measured_until_ms)
		return;
	demo.held_ms += (double)held * (now - demo.sampled_ms);
	demo.sampled_ms = now;
	demo.held_least = held < demo.held_least ? held : demo.held_least;
	demo.held_most = held > demo.held_most ? held : demo.held_most;
	/* Measure until the last arrival. Afterwards the rack empties. */
	if (now - demo.begin_ms > demo.length_ms && !jobs_at(STAGE_AHEAD))
		demo.measured_until_ms = now;
}

/* --------------------------------------------------------------------- jobs */

static void start(struct job *job)
{
	uint32_t number = job - demo.jobs;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		perror("socketpair");
		exit(1);
	}
	job->stage = STAGE_STARTING;
	job->started_ms = now_ms();
	fflush(stdout);
	job->pid = fork();
	if (job->pid < 0) {
		perror("fork");
		exit(1);
	}
	if (!job->pid) {
		close(pair[0]);
		_exit(tenant_main(number, job, pair[1]));
	}
	close(pair[1]);
	job->orders = pair[0];
}

bool order(struct job *job, enum order_verb verb)
{
	uint32_t word = verb;

	job->done = -1;
	return write(job->orders, &word, sizeof(word)) == sizeof(word);
}

static void arrive_and_end(long long now)
{
	uint32_t i;

	for (i = 0; i < demo.jobs_count; i++) {
		struct job *job = &demo.jobs[i];

		if (job->stage == STAGE_AHEAD && now >= job->arrives_ms) {
			job->stage = STAGE_QUEUED;
			job->queued_ms = now;
		}
		if (job->stage == STAGE_RUNNING && !job->held && !job->hurt && !demo.gated &&
		    now >= job->ends_ms) {
			job->stage = STAGE_ENDING;
			order(job, ORDER_END);
		}
	}
}

/* Accelerators for jobs that start now: free ones, less the headroom and those of starting jobs. */
static uint32_t room_now(void)
{
	uint32_t starting = 0, room, taken, i;

	sim_refresh(&demo.sim);
	for (i = 0; i < demo.jobs_count; i++)
		if (demo.jobs[i].stage == STAGE_STARTING)
			starting += demo.jobs[i].accelerators;
	/* A starting job may or may not have its accelerators already. */
	room = demo.sim.info.free > starting ? demo.sim.info.free - starting : 0;
	taken = held_accelerators() + starting + HEADROOM;
	if (taken > demo.capacity)
		return 0;
	return room < demo.capacity - taken ? room : demo.capacity - taken;
}

/*
 * Start queued jobs in order of arrival. Later jobs overtake a job that does not fit, until
 * its patience ends. Then it starts and gets the driver's refusal.
 */
static void start_queued(long long now)
{
	uint32_t i, room;

	if (demo.gated || !jobs_at(STAGE_QUEUED))
		return;
	room = room_now();
	for (i = 0; i < demo.jobs_count; i++) {
		struct job *job = &demo.jobs[i];
		long long waited = now - job->queued_ms;

		if (job->stage != STAGE_QUEUED)
			continue;
		if (job->accelerators <= room) {
			room -= job->accelerators;
			start(job);
			continue;
		}
		if (job->accelerators > demo.capacity || waited > PATIENCE_QUEUE_MS) {
			start(job);
			return;
		}
		demo.waited += !job->waited;
		job->waited = true;
		if (waited > BLOCKS_AFTER_MS && job->accelerators <= demo.capacity / 2)
			return;
	}
}

/* -------------------------------------------------------------------- notes */

static void hear_refusal(struct job *job, const struct note *note)
{
	/* Another job took the accelerators first: keep waiting. */
	if (job->view->reason == MORPH_REASON_ACCELERATORS && job->accelerators <= demo.capacity &&
	    now_ms() - job->queued_ms < PATIENCE_QUEUE_MS) {
		job->refused_reason = MORPH_ANY;
		return;
	}
	job->refused_reason = job->view->reason;
	snprintf(job->refused_detail, sizeof(job->refused_detail), "%s", job->view->detail);
	if (!note->value || !job->refused_detail[0])
		violation("job %u was refused without a reason", note->job);
}

static void hear_event(struct job *job, const struct morph_event *event)
{
	switch (event->type) {
	case MORPH_EVENT_FAILING:
	case MORPH_EVENT_CIRCUIT_FAILED:
	case MORPH_EVENT_DEGRADED:
		job->hurt = true;
		job->was_hurt = true;
		break;
	case MORPH_EVENT_RECOVERED:
		job->hurt = false;
		break;
	case MORPH_EVENT_LOST:
		violation("job %u: %llu events were lost", (uint32_t)(job - demo.jobs),
			  (unsigned long long)event->lost);
		break;
	}
	failures_event(job, event);
}

static void hear(const struct note *note)
{
	struct job *job = &demo.jobs[note->job];
	long long now = now_ms();

	switch (note->kind) {
	case NOTE_READY:
		job->stage = STAGE_RUNNING;
		job->ends_ms = now + (job->ends_ms ? job->ends_ms : SHORTEST_MS);
		break;
	case NOTE_REFUSED:
		hear_refusal(job, note);
		break;
	case NOTE_EVENT:
		hear_event(job, &note->event);
		break;
	case NOTE_DONE:
		job->done = note->value;
		job->outcome = note->extra;
		break;
	case NOTE_WRONG:
		violation("job %u: %s", note->job, note->detail);
		break;
	}
}

static struct job *job_of(pid_t pid)
{
	uint32_t i;

	for (i = 0; i < demo.jobs_count; i++)
		if (demo.jobs[i].pid == pid)
			return &demo.jobs[i];
	return NULL;
}

static void bury(struct job *job, int status)
{
	bool clean = WIFEXITED(status) && !WEXITSTATUS(status);

	close(job->orders);
	job->pid = 0;
	demo.tenant_checks += job->view->checks;
	if (job->stage == STAGE_STARTING && clean && job->refused_reason == MORPH_ANY) {
		job->refused_reason = 0;
		job->stage = STAGE_QUEUED;
	} else if (job->stage == STAGE_STARTING && clean) {
		job->stage = STAGE_REFUSED;
	} else if (job->stage == STAGE_ENDING && clean) {
		job->stage = STAGE_SERVED;
	} else if (job->stage != STAGE_KILLED) {
		job->stage = STAGE_LOST;
		violation("job %u: its process ended with status %#x", (uint32_t)(job - demo.jobs),
			  status);
	}
	if (job->stage == STAGE_QUEUED) {
		job->view->checks = 0;
		return;
	}
	munmap(job->view, sizeof(*job->view));
	job->view = NULL;
}

static void hear_all(void)
{
	struct pollfd pollfd = { .fd = demo.notes, .events = POLLIN };
	struct note note;

	while (poll(&pollfd, 1, 0) == 1 && read(demo.notes, &note, sizeof(note)) == sizeof(note))
		hear(&note);
}

static void reap(void)
{
	struct job *job;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		job = job_of(pid);
		/* Read the notes that it wrote before its end. */
		hear_all();
		if (job)
			bury(job, status);
	}
}

/* ---------------------------------------------------------------------- pump */

/* Read all notes once, and end and start the jobs that are due. */
static void turn(int wait_ms)
{
	struct pollfd pollfd = { .fd = demo.notes, .events = POLLIN };

	poll(&pollfd, 1, wait_ms);
	hear_all();
	reap();
	arrive_and_end(now_ms());
	start_queued(now_ms());
	sample_occupancy();
	report_progress(false);
}

bool pump(bool (*done)(const void *arg), const void *arg, int timeout_ms)
{
	long long until = now_ms() + timeout_ms;

	while (!done(arg)) {
		if (now_ms() > until)
			return false;
		turn(10);
	}
	return true;
}

static bool never(const void *unused)
{
	(void)unused;
	return false;
}

void pump_for(int ms)
{
	pump(never, NULL, ms);
}

static bool nothing_moves(const void *unused)
{
	(void)unused;
	return !jobs_at(STAGE_STARTING) && !jobs_at(STAGE_ENDING);
}

void gate(void)
{
	demo.gated = true;
	pump(nothing_moves, NULL, PATIENCE_MS);
}

void ungate(void)
{
	demo.gated = false;
}

/* -------------------------------------------------------------------- replay */

bool all_over(const void *unused)
{
	(void)unused;
	return !jobs_at(STAGE_AHEAD) && !jobs_at(STAGE_QUEUED) && !jobs_at(STAGE_STARTING) &&
	       !jobs_at(STAGE_RUNNING) && !jobs_at(STAGE_ENDING);
}

/* Shorten the jobs that would run longer than CLOSING_MS. */
static void close_down(void)
{
	long long latest = now_ms() + CLOSING_MS;
	uint32_t i;

	if (failures_left() || jobs_at(STAGE_AHEAD) || jobs_at(STAGE_QUEUED))
		return;
	for (i = 0; i < demo.jobs_count; i++) {
		struct job *job = &demo.jobs[i];

		if (job->stage == STAGE_RUNNING && job->ends_ms > latest) {
			job->ends_ms = latest;
			demo.cut++;
		}
	}
}

static void replay(void)
{
	long long quiet = demo.begin_ms + QUIET_EVERY_MS;

	while (!all_over(NULL)) {
		turn(20);
		close_down();
		if (failures_step())
			continue;
		if (now_ms() > quiet && demo.measured_from_ms) {
			light_check_fabric();
			quiet = now_ms() + QUIET_EVERY_MS;
		}
		if (now_ms() - demo.begin_ms > 3 * demo.length_ms + 60000) {
			violation("the replay did not end in time");
			return;
		}
	}
}

int main(int argc, char **argv)
{
	char path[300];
	int pipes[2];

	if (argc != 5) {
		fprintf(stderr, "usage: conductor JOBS RESULTS SEED SECONDS\n");
		return 2;
	}
	demo.results = argv[2];
	demo.seed = demo.chance = strtoull(argv[3], NULL, 0);
	demo.length_ms = 1000 * atoi(argv[4]);
	if (demo.length_ms < 10000 || pipe2(pipes, O_CLOEXEC)) {
		fprintf(stderr, "conductor: SECONDS must be 10 or more, not %s\n", argv[4]);
		return 2;
	}
	demo.notes = pipes[0];
	demo.notes_write = pipes[1];
	setup_fabric();
	setup_jobs(argv[1]);
	demo.begin_ms = now_ms();
	setup_time();
	failures_plan();
	replay();
	check_ending();
	report_progress(true);
	snprintf(path, sizeof(path), "%s/demo.json", demo.results);
	if (!write_record(path)) {
		perror(path);
		return 2;
	}
	return demo.violations_count ? 1 : 0;
}
