// SPDX-License-Identifier: GPL-2.0-only
/* Load a schedule, and step it: settle time zero, all receivers read back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../libmorph/include/morph/device.h"
#include "bench.h"

#define RANKS 8u
#define MATCHINGS_OF_8 2u
#define WARM_UP 200
#define ROUNDS 2000
#define LOADS 5
#define ENTRIES 64u
#define RACK 64u
#define MATCHINGS 126u

static void act(int slice, unsigned int verb, struct morph_schedule_act *args)
{
	if (schedule_act(slice, args->schedule, verb, args))
		stop("step of a schedule");
}

static unsigned int load(int slice, struct morph_schedule_load *args)
{
	args->head.size = sizeof(*args);
	args->head.detail_ptr = (uintptr_t)last_detail;
	args->head.detail_len = sizeof(last_detail);
	args->generation = GENERATION_ANY;
	if (ioctl(slice, MORPH_SCHEDULE_LOAD, args)) {
		wrong("load of a schedule: %s (step %d, circuit %d)", last_detail,
		      (int)args->out_wrong_step, (int)args->out_wrong_circuit);
		stop("load of a schedule");
	}
	return args->out_schedule;
}

/* ------------------------------------------------------------------------ steps */

/*
 * Two matchings of tiles on one plane, with the neighbour in the row and in the column, for the
 * first @senders tiles. Each step darkens circuits and lights the same number at the same ports, so
 * that the driver can light nothing ahead.
 */
static unsigned int load_exchanges(int slice, unsigned int senders)
{
	static struct morph_schedule_circuit circuits[RANKS * MATCHINGS_OF_8];
	static struct morph_schedule_step steps[MATCHINGS_OF_8];
	static uint32_t held[RANKS * MATCHINGS_OF_8];
	struct morph_schedule_load args = {
		.head.flags = MORPH_SCHEDULE_LOOP,
		.circuits = ARRAY(circuits, senders * MATCHINGS_OF_8),
		.steps = ARRAY(steps, MATCHINGS_OF_8),
		.held = ARRAY(held, senders * MATCHINGS_OF_8),
	};
	unsigned int step, rank, at = 0;

	for (step = 0; step < MATCHINGS_OF_8; step++) {
		steps[step] = (struct morph_schedule_step){ .first = at, .count = senders };
		for (rank = 0; rank < senders; rank++, at++) {
			held[at] = at;
			circuits[at] = (struct morph_schedule_circuit){
				.src_rank = rank,
				.dst_rank = rank ^ (step ? RANKS / 2 : 1),
			};
		}
	}
	return load(slice, &args);
}

/* Make a slice of all tiles, row by row, with a schedule at its first step; return its number. */
static unsigned int begin_on(const struct sim *sim, const uint32_t tiles[RANKS], int *slice,
			     unsigned int senders)
{
	struct morph_schedule_act args = {};

	*slice = slice_create_at(sim->fd, tiles, RANKS);
	if (*slice < 0)
		stop("slice of eight");
	args.schedule = load_exchanges(*slice, senders);
	act(*slice, MORPH_SCHEDULE_START, &args);
	return args.schedule;
}

static unsigned int begin_exchanges(struct sim *sim, int *slice, unsigned int senders)
{
	static const uint32_t tiles[RANKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };

	sim_start(sim, "server8", INSTANT);
	return begin_on(sim, tiles, slice, senders);
}

static void bench_steps(void)
{
	static struct samples total, provider, software, nulls;
	struct morph_schedule_act args = {};
	struct sim sim;
	uint64_t begin;
	double took;
	int slice, i;

	args.schedule = begin_exchanges(&sim, &slice, RANKS);
	for (i = 0; i < WARM_UP + ROUNDS; i++) {
		null_sample(&nulls);
		begin = now_ns();
		act(slice, MORPH_SCHEDULE_GO, &args);
		took = now_ns() - begin;
		if (i < WARM_UP)
			continue;
		sample_add(&total, took);
		sample_add(&provider, args.out_times.provider_ns);
		sample_add(&software,
			   took - args.out_times.provider_ns - args.out_times.modelled_ns);
	}
	if (args.out_position != WARM_UP + ROUNDS + 1)
		wrong("%d steps ended at position %llu", WARM_UP + ROUNDS,
		      (unsigned long long)args.out_position);
	close(slice);
	sim_stop(&sim);
	report_nulls("step of a schedule, 8 circuits, server8, software", &software, &nulls, 60,
		     25);
	report_nulls("step of a schedule, 8 circuits, server8, provider", &provider, &nulls, 0, 0);
	report_nulls("step of a schedule, 8 circuits, server8, in all", &total, &nulls, 0, 0);
}

/*
 * Each step follows a step of another slice on the same interposer, which has changed the stray
 * light.
 */
static void bench_steps_beside(void)
{
	static const uint32_t upper[RANKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	static const uint32_t lower[RANKS] = { 8, 9, 10, 11, 12, 13, 14, 15 };
	static struct samples software, nulls;
	struct morph_schedule_act args = {}, others = {};
	int slice, other, i;
	struct sim sim;
	uint64_t begin;
	double took;

	sim_start(&sim, "server16", INSTANT);
	args.schedule = begin_on(&sim, upper, &slice, RANKS);
	others.schedule = begin_on(&sim, lower, &other, RANKS);
	for (i = 0; i < WARM_UP + ROUNDS; i++) {
		act(other, MORPH_SCHEDULE_GO, &others);
		null_sample(&nulls);
		begin = now_ns();
		act(slice, MORPH_SCHEDULE_GO, &args);
		took = now_ns() - begin;
		if (i >= WARM_UP)
			sample_add(&software,
				   took - args.out_times.provider_ns - args.out_times.modelled_ns);
	}
	close(slice);
	close(other);
	sim_stop(&sim);
	report_nulls("the same beside another slice's steps, server16, software", &software, &nulls,
		     60, 0);
}

/* ----------------------------------------------------------------------- rings */

static void ring_map(int slice, unsigned int schedule, struct morph_device_ring *ring)
{
	struct morph_ring_setup setup = {
		.head = HEAD(morph_ring_setup),
		.schedule = schedule,
		.entries = ENTRIES,
		.idle_ns = 1000000000, /* the thread never sleeps */
	};

	if (ioctl(slice, MORPH_RING_SETUP, &setup))
		stop("ring");
	ring->entries = ENTRIES;
	ring->base = mmap(NULL, MORPH_RING_BYTES(ENTRIES), PROT_READ | PROT_WRITE, MAP_SHARED,
			  slice, (off_t)MORPH_RING_OFFSET(setup.out_ring));
	if (ring->base == MAP_FAILED)
		stop("mmap of a queue");
}

/* From the submission until the answer that the step is lit, without a system call. */
static double ring_step(struct morph_device_ring *ring, uint64_t position)
{
	struct morph_device_answer answer;
	uint64_t begin = now_ns(), took;

	if (morph_device_submit(ring, MORPH_DEVICE_GO, 0, 0, position))
		stop("a full queue");
	while (!morph_device_answered(ring, &answer))
		;
	took = now_ns() - begin;
	if (answer.error || answer.position != position)
		wrong("step by queue: error %u, position %llu", answer.error, answer.position);
	if (morph_device_asleep(ring))
		wrong("the thread of the queue went to sleep");
	return took;
}

/*
 * Take each step in turn by queue and by call. A queue does not report the provider's share of a
 * step; the call that takes the same step next to it does.
 */
static void bench_ring(unsigned int senders, const char *software_name, const char *all_name)
{
	static struct samples total, software, nulls;
	struct morph_schedule_act args = {};
	struct morph_device_ring ring = {};
	struct sim sim;
	uint64_t position = 1;
	unsigned int i, at;
	double own;
	int slice;

	total.count = software.count = nulls.count = 0;
	args.schedule = begin_exchanges(&sim, &slice, senders);
	ring_map(slice, args.schedule, &ring);
	for (i = 0; i < (WARM_UP + ROUNDS) / 4; i++) {
		double by_ring[2], by_call[2];

		null_sample(&nulls);
		/* Take steps 1 and 0 by queue, call, call, queue: each is taken both ways. */
		for (at = 0; at < 4; at++) {
			position++;
			if (at == 0 || at == 3) {
				by_ring[at & 1] = ring_step(&ring, position);
				continue;
			}
			args.position = position;
			act(slice, MORPH_SCHEDULE_GO, &args);
			by_call[at & 1] = args.out_times.provider_ns + args.out_times.modelled_ns;
		}
		for (at = 0; at < 2 && i >= WARM_UP / 4; at++) {
			own = by_ring[at] - by_call[at];
			sample_add(&total, by_ring[at]);
			sample_add(&software, own > 0 ? own : 0);
		}
	}
	munmap(ring.base, MORPH_RING_BYTES(ENTRIES));
	close(slice);
	sim_stop(&sim);
	report_nulls(software_name, &software, &nulls, 60, 0);
	/* The whole time from a submission to a circuit. */
	report_nulls(all_name, &total, &nulls, senders == 1 ? 60 : 0, 0);
}

/* ------------------------------------------------------------------------- load */

struct rack {
	struct morph_schedule_circuit circuits[RACK * MATCHINGS];
	struct morph_schedule_step steps[MATCHINGS];
	uint32_t held[RACK * MATCHINGS];
	uint32_t guides[RACK * MATCHINGS * MOST_HOPS];
	unsigned int guides_count;
};

/*
 * Ranks are accelerators of a rack with servers of four, server by server. Each server exchanges
 * its tiles in one of three patterns that share no circuit. From one matching to the next each
 * server takes one of the other two. So all circuits change, and the matchings are distinct.
 */
static void make_matchings(struct rack *rack)
{
	unsigned int step, server, tile, at = 0, way[RACK / 4] = {};

	for (step = 0; step < MATCHINGS; step++) {
		rack->steps[step] = (struct morph_schedule_step){ .first = at, .count = RACK };
		for (server = 0; server < RACK / 4; server++) {
			way[server] = (way[server] + 1 + (step >> server % 7 & 1)) % 3;
			for (tile = 0; tile < 4; tile++, at++) {
				rack->held[at] = at;
				rack->circuits[at] = (struct morph_schedule_circuit){
					.src_rank = server * 4 + tile,
					.dst_rank = server * 4 + (tile ^ (way[server] + 1)),
					.src_plane = MORPH_PLANE_ANY,
					.dst_plane = MORPH_PLANE_ANY,
				};
			}
		}
	}
}

static void load_args(struct rack *rack, struct morph_schedule_load *args)
{
	*args = (struct morph_schedule_load){
		.circuits = ARRAY(rack->circuits, RACK * MATCHINGS),
		.steps = ARRAY(rack->steps, MATCHINGS),
		.held = ARRAY(rack->held, RACK * MATCHINGS),
		.guides = ARRAY(rack->guides, rack->guides_count),
	};
}

/* Store the paths that the kernel found, for explicit use in the next schedule. */
static void read_paths(int slice, struct rack *rack, unsigned int first)
{
	struct morph_circuit_path path;
	unsigned int i;

	for (i = 0; i < RACK * MATCHINGS; i++) {
		path = (struct morph_circuit_path){
			.head = HEAD(morph_circuit_path),
			.circuit = first + i,
			.guides = ARRAY(rack->guides + rack->guides_count, MOST_HOPS),
		};
		if (ioctl(slice, MORPH_CIRCUIT_PATH, &path))
			stop("path of a circuit");
		rack->circuits[i].first_guide = rack->guides_count;
		rack->circuits[i].guides_count = path.guides.count;
		rack->circuits[i].lanes = 1;
		rack->guides_count += path.guides.count;
	}
}

/* List the free accelerators, server by server, and their tiles row by row. */
static void rack_order(const struct sim *sim, uint32_t *ranks)
{
	unsigned int host, tile, i, at = 0;

	for (host = 0; host < sim->info.hosts; host++)
		for (tile = 0; tile < 4; tile++)
			for (i = 0; i < sim->info.accelerators && at < RACK; i++) {
				struct morph_accelerator_info info = read_accelerator(sim, i);

				if (info.use == MORPH_USE_FREE && info.host == host &&
				    info.x % 2 + info.y % 2 * 2 == (int)tile)
					ranks[at++] = i;
			}
	if (at != RACK)
		stop("accelerators of a rack");
}

static void bench_load(void)
{
	static struct samples told, routed, nulls;
	struct rack *rack = calloc(1, sizeof(*rack));
	struct morph_schedule_act args = {};
	struct morph_schedule_load how;
	uint32_t ranks[RACK];
	struct sim sim;
	uint64_t begin;
	int slice, i;

	if (!rack)
		stop("memory");
	/* Not between the loads, which would evict the processor's caches. */
	for (i = 0; i < 1000; i++)
		null_sample(&nulls);
	sim_start(&sim, "rack64", INSTANT);
	rack_order(&sim, ranks);
	slice = slice_create_at(sim.fd, ranks, RACK);
	if (slice < 0)
		stop("slice of a rack");
	make_matchings(rack);
	load_args(rack, &how);
	begin = now_ns();
	args.schedule = load(slice, &how);
	sample_add(&routed, (double)(now_ns() - begin) / (RACK * MATCHINGS));
	read_paths(slice, rack, how.out_circuit);
	act(slice, MORPH_SCHEDULE_UNLOAD, &args);
	for (i = 0; i < LOADS; i++) {
		load_args(rack, &how);
		begin = now_ns();
		args.schedule = load(slice, &how);
		sample_add(&told, (double)(now_ns() - begin) / (RACK * MATCHINGS));
		act(slice, MORPH_SCHEDULE_UNLOAD, &args);
	}
	printf("# rack64: a schedule of %u circuits, %u guides\n", RACK * MATCHINGS,
	       rack->guides_count);
	close(slice);
	sim_stop(&sim);
	free(rack);
	report_nulls("load a schedule, 126 matchings of 64, each circuit", &told, &nulls, 0, 10);
	report_nulls("the same, the kernel routes, each circuit", &routed, &nulls, 0, 0);
}

void bench_schedule(void)
{
	bench_steps();
	bench_steps_beside();
	bench_ring(1, "submission to light by queue, 1 circuit, server8, software",
		   "submission to light by queue, 1 circuit, server8, in all");
	bench_ring(RANKS, "submission to light by queue, 8 circuits, server8, software",
		   "submission to light by queue, 8 circuits, server8, in all");
	bench_load();
}
