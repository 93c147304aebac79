// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two equal jobs that share the ports of rank 0: at once with half of the ports each, or in turn as
 * steps of the schedule that 'morphctl jobs apply' decides and loads. Each job sends for t over all
 * ports and then computes for tau.
 *
 * A job sends in the time that its lit circuits need. Circuits go dark for d between two turns.
 * The period is max(tau+t, 2t+2d) in turn, and tau+2t at once.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "bench.h"

#define PORTS 2u /* of rank 0 */
#define JOBS 2u
#define SETTINGS "settle_ns=6000000 relock_ns=2000000"
#define NOMINAL_NS 8000000 /* settle and relock */
#define SEND_NS 200000000ull
#define ITERATIONS 8u
#define DARK_TURNS 12u
#define TOLERANCE 0.02
#define CIRCUITS (2 * PORTS * JOBS)
#define SLICE "turns"
#define JOBS_FILE "/tmp/bench-jobs.yaml"
#define CIRCUIT_MBPS 100000u
/* A job pushes its bytes over all ports and pulls as many, for SEND_NS. */
#define PUSH_BYTES (SEND_NS / 2 * PORTS * CIRCUIT_MBPS / 8000)
#define START_STEPS 4u /* before the first iteration of the jobs */

struct job {
	pthread_t thread;
	int slice;
	unsigned int schedule; /* 0: both jobs send at once */
	unsigned int rank;
	uint64_t position; /* of the schedule at its first turn */
	uint64_t compute_ns;
	uint64_t begins[ITERATIONS];
};

static void act(int slice, unsigned int schedule, unsigned int verb, uint64_t position)
{
	struct morph_schedule_act args = { .position = position };

	if (schedule_act(slice, schedule, verb, &args))
		stop("step of a schedule");
}

/* ------------------------------------------------------------------------ jobs */

static unsigned int count_lit(const struct job *job)
{
	struct morph_circuit_info circuits[CIRCUITS];
	struct morph_slice_info info;
	unsigned int i, lit = 0;

	if (slice_read(job->slice, &info, NULL, 0, circuits, CIRCUITS))
		stop("circuits of a slice");
	for (i = 0; i < info.circuits.count; i++)
		lit += circuits[i].state == MORPH_CIRCUIT_LIT && !circuits[i].src_rank &&
		       circuits[i].dst_rank == job->rank;
	return lit;
}

static void sleep_until(uint64_t ns)
{
	struct timespec until = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

static void *run_job(void *arg)
{
	struct job *job = arg;
	unsigned int i, lit;

	for (i = 0; i < ITERATIONS; i++) {
		if (job->schedule)
			act(job->slice, job->schedule, MORPH_SCHEDULE_WAIT,
			    job->position + JOBS * i);
		job->begins[i] = now_ns();
		lit = count_lit(job);
		if (lit != (job->schedule ? PORTS : PORTS / JOBS))
			wrong("job %u has %u lit circuits in iteration %u", job->rank, lit, i);
		if (lit)
			sleep_until(job->begins[i] + PORTS * SEND_NS / lit + job->compute_ns);
	}
	return NULL;
}

/* first: position of the first turn of the first job. */
static void run_jobs(int slice, unsigned int schedule, uint64_t first, uint64_t compute_ns,
		     struct samples *periods)
{
	struct job jobs[JOBS];
	unsigned int i, at;

	for (i = 0; i < JOBS; i++) {
		jobs[i] = (struct job){
			.slice = slice,
			.schedule = schedule,
			.rank = i + 1,
			.position = first + i,
			.compute_ns = compute_ns,
		};
		if (pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]))
			stop("thread");
	}
	for (i = 0; i < JOBS; i++) {
		pthread_join(jobs[i].thread, NULL);
		for (at = 1; at < ITERATIONS; at++)
			sample_add(periods, jobs[i].begins[at] - jobs[i].begins[at - 1]);
	}
}

/* -------------------------------------------------------------------- circuits */

/* Load a schedule of the circuits of both jobs in turn. Calls begin its steps. */
static unsigned int load(int slice)
{
	struct morph_schedule_circuit circuits[CIRCUITS];
	struct morph_schedule_step steps[JOBS];
	uint32_t held[CIRCUITS];
	struct morph_schedule_load args = {
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(circuits, CIRCUITS),
		.steps = ARRAY(steps, JOBS),
		.held = ARRAY(held, CIRCUITS),
		.generation = GENERATION_ANY,
	};
	unsigned int i;

	args.head.flags = MORPH_SCHEDULE_LOOP;
	for (i = 0; i < CIRCUITS; i++) {
		unsigned int rank = i / (2 * PORTS) + 1;

		held[i] = i;
		circuits[i] = (struct morph_schedule_circuit){
			.src_rank = i % 2 ? rank : 0,
			.dst_rank = i % 2 ? 0 : rank,
			.src_plane = i / 2 % PORTS,
			.dst_plane = i / 2 % PORTS,
		};
	}
	for (i = 0; i < JOBS; i++)
		steps[i] = (struct morph_schedule_step){
			.first = i * 2 * PORTS,
			.count = 2 * PORTS,
			.advance = MORPH_ADVANCE_CALL,
		};
	if (ioctl(slice, MORPH_SCHEDULE_LOAD, &args))
		stop("load of a schedule");
	act(slice, args.out_schedule, MORPH_SCHEDULE_START, 0);
	return args.out_schedule;
}

static uint64_t measure_dark(int slice)
{
	static struct samples dark;
	struct row row = {
		.name = "dark time between turns, settle 6 ms, relock 2 ms",
		.unit = "ns",
		.reference_name = "settle + relock",
		.reference = NOMINAL_NS,
	};
	unsigned int schedule = load(slice), i;
	uint64_t begin;

	for (i = 0; i < DARK_TURNS; i++) {
		begin = now_ns();
		act(slice, schedule, MORPH_SCHEDULE_GO, 0);
		sample_add(&dark, now_ns() - begin);
	}
	act(slice, schedule, MORPH_SCHEDULE_UNLOAD, 0);
	report(&row, &dark);
	return sample_median(&dark);
}

/* ------------------------------------------------------------------- decisions */

/* Two equal jobs of rank 0 with ranks 1 and 2. */
static void write_jobs(uint64_t compute_ns, uint64_t dark_ns)
{
	FILE *file = fopen(JOBS_FILE, "w");
	unsigned int i;

	if (!file)
		stop(JOBS_FILE);
	fprintf(file,
		"bandwidth-mbps: %u\ndark-ns: %llu\n"
		"sites: [{rank: 0, sites-count: %u, ports-count: %u}]\njobs:\n",
		CIRCUIT_MBPS, (unsigned long long)dark_ns, JOBS + 1, PORTS);
	for (i = 1; i <= JOBS; i++)
		fprintf(file,
			"- push-bytes: %llu\n  compute-ns: %llu\n  iterations-count: 1000\n"
			"  parts: [{site: 0, workers-count: 1}, {site: %u, workers-count: 1}]\n",
			(unsigned long long)PUSH_BYTES, (unsigned long long)compute_ns, i);
	if (fclose(file))
		stop(JOBS_FILE);
}

/* Return the position of the first turn of job 0 in future. */
static uint64_t next_turn(int slice, struct morph_schedule_info *schedule)
{
	*schedule = (struct morph_schedule_info){ .head = HEAD(morph_schedule_info) };
	if (ioctl(slice, MORPH_SCHEDULE_INFO, schedule))
		stop("schedule of 'morphctl jobs apply'");
	return (schedule->position + START_STEPS) / JOBS * JOBS + 1;
}

/* Decide and load by 'morphctl jobs apply'. Return the number of the schedule. */
static unsigned int apply_jobs(int slice, uint64_t compute_ns, uint64_t dark_ns, uint64_t *first)
{
	struct morph_schedule_info schedule;

	write_jobs(compute_ns, dark_ns);
	if (system("$MORPHCTL jobs apply " JOBS_FILE " " SLICE " --policy grouped >/dev/null"))
		stop("morphctl jobs apply");
	*first = next_turn(slice, &schedule);
	return schedule.schedule;
}

/* ----------------------------------------------------------------------- rows */

static void run_at_once(int slice, uint64_t compute_ns, struct samples *periods)
{
	struct morph_change changes[2 * JOBS];
	unsigned int i;

	for (i = 0; i < 2 * JOBS; i++)
		changes[i] = change_add(i % 2 ? i / 2 + 1 : 0, i % 2 ? 0 : i / 2 + 1);
	if (txn_run(slice, changes, 2 * JOBS, NULL))
		stop("circuits of both jobs");
	run_jobs(slice, 0, 0, compute_ns, periods);
	for (i = 0; i < 2 * JOBS; i++)
		changes[i] = change_remove(changes[i].circuit);
	if (txn_run(slice, changes, 2 * JOBS, NULL))
		stop("removal of circuits");
}

static void run_in_turn(int slice, uint64_t compute_ns, uint64_t dark_ns, struct samples *periods)
{
	uint64_t first;
	unsigned int schedule = apply_jobs(slice, compute_ns, dark_ns, &first);

	run_jobs(slice, schedule, first, compute_ns, periods);
	act(slice, schedule, MORPH_SCHEDULE_UNLOAD, 0);
}

static void report_period(const char *what, const char *words, const char *formula, uint64_t ns,
			  struct samples *periods)
{
	char name[96];
	struct row row = {
		.name = name,
		.unit = "ns",
		.reference_name = formula,
		.reference = ns,
		.limit = 1 + TOLERANCE,
	};

	snprintf(name, sizeof(name), "period of two jobs %s, tau/t %s", what, words);
	report(&row, periods);
	if (sample_median(periods) < (1 - TOLERANCE) * ns)
		wrong("%s is shorter than %s", name, formula);
}

static void bench_ratio(int slice, uint64_t dark_ns, const char *words, unsigned int quarters)
{
	struct samples in_turn = { 0 }, at_once = { 0 };
	uint64_t compute_ns = quarters * SEND_NS / 4;
	uint64_t alone_ns = compute_ns + SEND_NS, both_ns = 2 * (SEND_NS + dark_ns);
	uint64_t period_ns = alone_ns > both_ns ? alone_ns : both_ns;
	char name[96];

	run_at_once(slice, compute_ns, &at_once);
	report_period("at once", words, "tau+2t", compute_ns + 2 * SEND_NS, &at_once);
	if (2 * dark_ns >= compute_ns) {
		fprintf(stderr, "# tau/t %s: the dark time is too long for turns\n", words);
		return;
	}
	run_in_turn(slice, compute_ns, dark_ns, &in_turn);
	report_period("in turn", words, "max(tau+t, 2t+2d)", period_ns, &in_turn);
	snprintf(name, sizeof(name), "period in turn against at once, tau/t %s", words);
	report_against(name, &in_turn, "at once", &at_once, 1);
}

void bench_interleaving(void)
{
	static const struct {
		const char *words;
		unsigned int quarters;
	} ratios[] = { { "0.25", 1 }, { "0.5", 2 }, { "1", 4 }, { "2", 8 }, { "4", 16 } };
	static const uint32_t tiles[JOBS + 1] = { 0, 1, 2 };
	struct morph_slice_create create = { .name = SLICE };
	uint64_t dark_ns;
	struct sim sim;
	unsigned int i;
	int slice;

	sim_start(&sim, "server8", SETTINGS);
	slice = slice_create_with(sim.fd, &create, tiles, JOBS + 1);
	if (slice < 0)
		stop("slice of three");
	dark_ns = measure_dark(slice);
	for (i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++)
		bench_ratio(slice, dark_ns, ratios[i].words, ratios[i].quarters);
	close(slice);
	slice_delete(sim.fd, MORPH_ANY, SLICE, 0);
	sim_stop(&sim);
}
