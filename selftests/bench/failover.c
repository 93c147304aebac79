// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failover: an accelerator dies while the owner of its slice sleeps in read(), and an event wakes
 * the owner.
 *
 * The slice has a ring of three accelerators of a server. The fourth, which the slice names as its
 * spare, replaces the first. So the shape is the same on all profiles with servers of 2x2 tiles,
 * and none needs spares of its own. Use each server once, because the driver holds a failed
 * accelerator back before it may fail again.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define RANKS 3u
#define WARM_UP 6u
#define ROUNDS 48u
#define RACK_SERVERS 16u
#define NULLS 8u

struct owner {
	int slice;
	pid_t tid;
	sem_t started; /* tid is valid, and read() comes next */
	struct morph_event failing, replaced;
	uint64_t woken_ns; /* CLOCK_BOOTTIME at the return of read() with the event "replaced" */
	uint64_t woken_mono;
};

/* Act as an owner: sleep until there is an event. */
static void *owner_run(void *argument)
{
	struct owner *owner = argument;
	struct morph_event event;

	owner->tid = gettid();
	sem_post(&owner->started);
	while (read(owner->slice, &event, sizeof(event)) == sizeof(event)) {
		owner->woken_ns = boottime_ns();
		owner->woken_mono = now_ns();
		if (event.type == MORPH_EVENT_FAILING)
			owner->failing = event;
		if (event.type != MORPH_EVENT_REPLACED && event.type != MORPH_EVENT_DEGRADED)
			continue;
		owner->replaced = event;
		return NULL;
	}
	return NULL;
}

static void wait_planned(int slice)
{
	if (!wait_plans(slice, RANKS, MORPH_PLAN_CURRENT))
		wrong("not all ranks have a current plan");
}

static unsigned int first_hops(int slice)
{
	struct morph_circuit_info circuits[RANKS];
	struct morph_slice_info info;

	if (slice_read(slice, &info, NULL, 0, circuits, RANKS) || !info.circuits.count)
		stop("circuits of a slice");
	return circuits[0].hops;
}

static void evaluate(const struct sim *sim, const struct owner *owner, uint64_t injected,
		     struct failover *result)
{
	const struct morph_times *times = &owner->replaced.times;
	unsigned int i;

	if (owner->replaced.type != MORPH_EVENT_REPLACED)
		wrong("%s: failover did not repair the slice: part %u, index %u", sim->name,
		      owner->replaced.part, owner->replaced.index);
	result->software = owner->woken_ns - owner->failing.time_ns - times->modelled_ns;
	result->provider = times->provider_ns;
	result->injected = owner->woken_mono - injected;
	for (i = 0; i < MORPH_PHASE_COUNT; i++)
		result->phases[i] = times->phase_ns[i];
}

/* Find the next server whose accelerators are for tenants and all free. */
static unsigned int next_server(const struct sim *sim, unsigned int server)
{
	unsigned int i;

	for (;; server++) {
		for (i = 0; i <= RANKS; i++)
			if (read_accelerator(sim, 4 * server + i).use != MORPH_USE_FREE)
				break;
		if (i > RANKS)
			return server;
	}
}

/* Let the accelerator of rank 0 die while the owner of the slice sleeps. */
static void fail_first(struct sim *sim, int slice, unsigned int accelerator,
		       struct failover *result)
{
	struct owner owner = { .slice = slice };
	pthread_t thread;
	uint64_t begin;

	if (sem_init(&owner.started, 0, 0) || pthread_create(&thread, NULL, owner_run, &owner))
		stop("thread");
	sem_wait(&owner.started);
	wait_asleep(owner.tid);
	begin = now_ns();
	if (sim_control(sim, "fault", "accelerator_dead %u", accelerator))
		stop("fault");
	pthread_join(thread, NULL);
	evaluate(sim, &owner, begin, result);
}

void failover_run(struct sim *sim, unsigned int *server, struct failover *result)
{
	const uint32_t first = 4 * next_server(sim, *server), spare = first + RANKS;
	const uint32_t members[RANKS] = { first, first + 1, first + 2 };
	struct morph_slice_create create = {
		.spare_policy = MORPH_SPARES_LIST,
		.spares = ARRAY(&spare, 1),
	};
	int slice;

	*server = first / 4 + 1;
	slice = slice_create_with(sim->fd, &create, members, RANKS);
	if (slice < 0)
		stop("slice of three");
	if (light_ring(slice, RANKS))
		stop("ring");
	result->hops = first_hops(slice);
	wait_planned(slice);
	fail_first(sim, slice, first, result);
	close(slice);
}

struct series {
	struct samples software, provider, injected, phases[MORPH_PHASE_COUNT], nulls;
};

static void series_add(struct series *series, const struct failover *failover)
{
	unsigned int i;

	sample_add(&series->software, failover->software);
	sample_add(&series->provider, failover->provider);
	sample_add(&series->injected, failover->injected);
	for (i = 0; i < MORPH_PHASE_COUNT; i++)
		sample_add(&series->phases[i], failover->phases[i]);
}

/* Run a number of failovers on instances of a profile, each with several servers. */
static void run_series(const char *profile, unsigned int servers, unsigned int rounds,
		       struct series *series)
{
	struct failover failover;
	unsigned int i, n, hops = 0, server = 0;
	struct sim sim;

	for (i = 0; i < rounds; i++) {
		if (i % servers == 0) {
			sim_start(&sim, profile, INSTANT);
			server = 0;
		}
		for (n = 0; n < NULLS && series; n++)
			null_sample(&series->nulls);
		failover_run(&sim, &server, &failover);
		if (hops && failover.hops != hops)
			wrong("%s: paths of %u and %u hops", profile, hops, failover.hops);
		hops = failover.hops;
		if (series)
			series_add(series, &failover);
		if (i % servers == servers - 1 || i + 1 == rounds)
			sim_stop(&sim);
	}
}

static void report_phases(struct series *series)
{
	static const char *const names[MORPH_PHASE_COUNT] = {
		[MORPH_PHASE_DETECT] = "detect",   [MORPH_PHASE_PLAN] = "plan",
		[MORPH_PHASE_PROGRAM] = "program", [MORPH_PHASE_SETTLE] = "settle",
		[MORPH_PHASE_RELOCK] = "relock",   [MORPH_PHASE_VERIFY] = "verify",
		[MORPH_PHASE_NOTIFY] = "notify",
	};
	char name[64];
	unsigned int i;

	for (i = 0; i < MORPH_PHASE_COUNT; i++) {
		snprintf(name, sizeof(name), "failover, rack64, phase %s", names[i]);
		report_nulls(name, &series->phases[i], &series->nulls, 0, 0);
	}
}

void bench_failover(void)
{
	static struct series small, rack, pod;
	struct row row = {
		.name = "failover, rack64, software: noticed to owner woken, in ms",
		.unit = "ns",
		.reference_name = "1 ms",
		.reference = 1e6,
		.limit = 1,
	};

	run_series("rack64", RACK_SERVERS, WARM_UP, NULL);
	run_series("rack64", RACK_SERVERS, ROUNDS, &rack);
	run_series("server4", 1, ROUNDS / 2, &small);
	run_series("pod4096", ROUNDS, ROUNDS, &pod);
	report(&row, &rack.software);
	report_nulls("failover, rack64, software: noticed to owner woken", &rack.software,
		     &rack.nulls, 0, 100);
	report_nulls("failover, rack64, provider", &rack.provider, &rack.nulls, 0, 0);
	report_nulls("failover, rack64, fault injected to owner woken", &rack.injected, &rack.nulls,
		     0, 0);
	report_phases(&rack);
	report_nulls("failover, server4, software", &small.software, &small.nulls, 0, 0);
	report_against("failover, pod4096, software", &pod.software, "server4, software",
		       &small.software, 2);
}

/* ---------------------------------------------------------------- lent spares */

#define LENT_ROUNDS 6u
#define LENT_INSTANCES 3u

/* Failovers to spares that are idle or lent: time, and work of the device. */
struct loans {
	struct samples software, writes, operations;
};

static unsigned int next_spare(const struct sim *sim, unsigned int from)
{
	while (from < sim->info.accelerators && read_accelerator(sim, from).use != MORPH_USE_SPARE)
		from++;
	if (from == sim->info.accelerators)
		stop("spares of a profile");
	return from;
}

/* Lend a spare to a slice, with a circuit from the spare to the slice's own accelerator. */
static int lend(const struct sim *sim, unsigned int own, unsigned int spare)
{
	struct morph_slice_create create = { .head.flags = MORPH_SLICE_LEND };
	const uint32_t members[] = { own, spare };
	struct morph_change change = change_add(1, 0);
	int slice = slice_create_with(sim->fd, &create, members, 2);

	if (slice < 0 || txn_run(slice, &change, 1, NULL))
		stop("slice with a lent spare");
	return slice;
}

/* Fail rank 0 of a slice over to the only spare that its list allows. */
static void fail_to(struct sim *sim, unsigned int server, uint32_t spare, struct loans *loans)
{
	const uint32_t members[RANKS] = { 4 * server, 4 * server + 1, 4 * server + 2 };
	struct morph_slice_create create = {
		.spare_policy = MORPH_SPARES_LIST,
		.spares = ARRAY(&spare, 1),
	};
	int slice = slice_create_with(sim->fd, &create, members, RANKS);
	long long writes, operations;
	struct failover failover;

	if (slice < 0 || light_ring(slice, RANKS))
		stop("slice of three");
	wait_planned(slice);
	visits_quiet(sim);
	writes = sim_counter(sim, "ops", "lasers_written");
	operations = sim_counter(sim, "ops", "set_lasers");
	fail_first(sim, slice, members[0], &failover);
	visits_quiet(sim);
	sample_add(&loans->writes, sim_counter(sim, "ops", "lasers_written") - writes);
	sample_add(&loans->operations, sim_counter(sim, "ops", "set_lasers") - operations);
	sample_add(&loans->software, failover.software);
	close(slice);
}

/* Use a server and a spare for each round. The borrowers have the servers behind. */
static void run_loans(bool lent, struct loans *loans)
{
	unsigned int i, spare = 0;
	int borrowers[LENT_ROUNDS];
	struct sim sim;

	sim_start(&sim, "rack64", INSTANT);
	for (i = 0; i < LENT_ROUNDS; i++, spare++) {
		spare = next_spare(&sim, spare);
		borrowers[i] = lent ? lend(&sim, 4 * (LENT_ROUNDS + i), spare) : -1;
		fail_to(&sim, i, spare, loans);
	}
	for (i = 0; i < LENT_ROUNDS && lent; i++)
		close(borrowers[i]);
	sim_stop(&sim);
}

static void report_count(const char *name, struct samples *samples, const char *reference_name,
			 double reference)
{
	struct row row = {
		.name = name,
		.unit = "writes",
		.reference_name = reference_name,
		.reference = reference,
		.limit = 1,
	};

	report(&row, samples);
	if (sample_percentile(samples, 0) != reference ||
	    sample_percentile(samples, 100) != reference)
		wrong("%s: %g to %g, expected %g", name, sample_percentile(samples, 0),
		      sample_percentile(samples, 100), reference);
}

void bench_lent(void)
{
	static struct loans warm, idle, lent;
	unsigned int i;

	run_loans(true, &warm);
	for (i = 0; i < LENT_INSTANCES; i++) {
		run_loans(false, &idle);
		run_loans(true, &lent);
	}
	report_count("failover, rack64, lent spare: writes of lasers", &lent.writes,
		     "idle spare, and one", sample_median(&idle.writes) + 1);
	report_count("failover, rack64, lent spare: operations on lasers", &lent.operations,
		     "idle spare", sample_median(&idle.operations));
	report_against("failover, rack64, lent spare, software", &lent.software,
		       "idle spare, software", &idle.software, 0);
}
