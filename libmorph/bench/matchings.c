// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rounds that join all pairs of endpoints of hexagonal meshes and of a device. The checker judges
 * each answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../util/mix.h"
#include "bench.h"
#include "matchings_checked.h"

#define SEEDS 100
#define MOST_ENDPOINTS 64
#define MS 1e3 /* microseconds */

struct instance {
	struct morph_matchings_problem problem;
	struct morph_check_bytes profile; /* of problem.model */
	uint32_t tx[MOST_ENDPOINTS], rx[MOST_ENDPOINTS], targets[MOST_ENDPOINTS];
};

static struct morph_matchings *search;
static struct samples times, excess, writes;

/* ------------------------------------------------------------------ answers */

/* Compare an answer with the checker's model. */
static void check_answer(const struct instance *instance,
			 const struct morph_matchings_answer *answer)
{
	char report[256] = "";

	if (answer->verdict != MORPH_UNDECIDED &&
	    check_matchings(&instance->problem, answer, instance->profile, report, sizeof(report)))
		wrong(report);
}

/* Search, with the time as a sample; then check. */
static void find(const struct instance *instance, struct morph_matchings_answer *answer)
{
	double begin = now_us();

	if (morph_matchings_find(search, &instance->problem, answer))
		return wrong("matchings");
	sample(&times, now_us() - begin);
	check_answer(instance, answer);
	if (answer->verdict != MORPH_FEASIBLE)
		return;
	sample(&excess, 100.0 * (double)answer->total / (double)answer->distance - 100);
	sample(&writes, (double)answer->writes / answer->rounds);
}

static void begin(struct instance *instance, uint32_t width, uint32_t height, uint32_t endpoints)
{
	memset(instance, 0, sizeof(*instance));
	instance->problem = (struct morph_matchings_problem){
		.sz = sizeof(instance->problem),
		.kind = MORPH_MATCHINGS_PAIRS,
		.width = width,
		.height = height,
		.endpoints = endpoints,
	};
	times.count = excess.count = writes.count = 0;
}

/* ------------------------------------------------------------------ meshes */

static const struct mesh_case {
	uint32_t side, endpoints;
	double ms, percent; /* bars */
} meshes[] = {
	{ 3, 8, 1, 0 },
	{ 5, 16, 2, 3 },
	{ 9, 32, 20, 4 },
	{ 17, 64, 150, 4 },
};

static void report_mesh(const struct mesh_case *this, const char *ports, uint32_t more, bool bars)
{
	char name[96];

	snprintf(name, sizeof(name), "matchings of %u endpoints, mesh %ux%u, %s", this->endpoints,
		 this->side, this->side, ports);
	report(name, &times, bars ? MEDIAN : NO_BAR, this->ms * MS);
	report_row(&(const struct row){ .name = "  elements beyond the shortest routes",
					.unit = "percent",
					.figure = bars ? MOST : NO_BAR,
					.limit = this->percent },
		   &excess);
	report_row(&(const struct row){ .name = "  elements written for a round",
					.unit = "elements" },
		   &writes);
	report_count("  seeds with more than n-1 rounds", more, 0);
}

/* Ports spread evenly, or those that the search chooses. */
static void measure_mesh(const struct mesh_case *this, bool given)
{
	uint32_t ports = 8 * this->side, seeds = given ? SEEDS : SEEDS / 10, more = 0, at;
	struct morph_matchings_answer answer = { 0 };
	static struct instance instance;

	begin(&instance, this->side, this->side, this->endpoints);
	for (at = 0; at < this->endpoints; at++)
		instance.tx[at] = at * ports / this->endpoints;
	instance.problem.tx = given ? instance.tx : NULL;
	for (instance.problem.seed = 1; instance.problem.seed <= seeds; instance.problem.seed++) {
		find(&instance, &answer);
		more += answer.verdict != MORPH_FEASIBLE || answer.rounds > this->endpoints - 1;
	}
	report_mesh(this, given ? "given ports" : "ports chosen", more, given);
}

/* Random ports: rounds beside the bound, or a proof, or neither. */
static void measure_random(const struct mesh_case *this)
{
	uint32_t ports = 8 * this->side, undecided = 0, refused = 0, equal = 0, draw, at, other;
	static struct samples gaps;
	struct morph_matchings_answer answer = { 0 };
	static struct instance instance;
	uint64_t random = this->side;
	uint32_t rim[8 * 17] = { 0 };
	char name[96];

	begin(&instance, this->side, this->side, this->endpoints);
	gaps.count = 0;
	instance.problem.tx = instance.tx;
	instance.problem.moves = 2000;
	instance.problem.seed = 1;
	for (draw = 0; draw < SEEDS; draw++) {
		for (at = 0; at < ports; at++)
			rim[at] = at;
		for (at = 0; at < this->endpoints; at++) {
			other = at + mix_below(&random, ports - at);
			instance.tx[at] = rim[other];
			rim[other] = rim[at];
		}
		find(&instance, &answer);
		undecided += answer.verdict == MORPH_UNDECIDED;
		refused += answer.verdict == MORPH_INFEASIBLE;
		if (answer.verdict != MORPH_FEASIBLE)
			continue;
		equal += answer.rounds == answer.bound;
		sample(&gaps, answer.rounds - answer.bound);
	}
	snprintf(name, sizeof(name), "matchings of %u endpoints, mesh %ux%u, random ports",
		 this->endpoints, this->side, this->side);
	report(name, &times, NO_BAR, 0);
	report_row(&(const struct row){ .name = "  rounds above the bound", .unit = "rounds" },
		   &gaps);
	report_count("  undecided draws", undecided, SEEDS / 20);
	remark("%u of %u draws with as few rounds as the bound, %u refused with a proof", equal,
	       SEEDS, refused);
}

/* ------------------------------------------------------------------ smallest meshes */

static const struct {
	uint32_t width, height, endpoints;
} smallest[] = {
	{ 1, 1, 4 },  { 1, 2, 6 },  { 1, 3, 8 },  { 3, 2, 10 },	  { 3, 2, 12 },
	{ 3, 3, 14 }, { 3, 3, 16 }, { 7, 6, 32 }, { 13, 13, 64 },
};

#define TRIES 20

/* The first seed that finds n-1 rounds, with ports chosen by the search. */
static void measure_smallest(void)
{
	struct morph_matchings_answer answer = { 0 };
	static struct instance instance;
	size_t at;
	char name[96];

	for (at = 0; at < sizeof(smallest) / sizeof(smallest[0]); at++) {
		begin(&instance, smallest[at].width, smallest[at].height, smallest[at].endpoints);
		instance.problem.rounds = smallest[at].endpoints - 1;
		instance.problem.moves = 40000;
		do {
			instance.problem.seed++;
			find(&instance, &answer);
		} while (answer.verdict != MORPH_FEASIBLE && instance.problem.seed < TRIES);
		snprintf(name, sizeof(name), "mesh %ux%u, %u elements: %u endpoints in n-1 rounds",
			 smallest[at].width, smallest[at].height, answer.elements,
			 smallest[at].endpoints);
		report_count(name, answer.verdict != MORPH_FEASIBLE, 0);
		remark("seed %llu", (unsigned long long)instance.problem.seed);
	}
}

static const struct {
	uint32_t width, height, endpoints;
} too_small[] = {
	{ 3, 1, 8 }, { 1, 3, 10 }, { 5, 1, 10 }, { 1, 4, 10 }, { 5, 1, 7 }, { 1, 4, 9 },
};

/* Proofs that no ports have n-1 rounds, or n if n is odd. The checker repeats each in a minute. */
static void measure_too_small(void)
{
	struct morph_matchings_answer answer = { 0 };
	static struct instance instance;
	size_t at;
	char name[96];

	for (at = 0; at < sizeof(too_small) / sizeof(too_small[0]); at++) {
		begin(&instance, too_small[at].width, too_small[at].height,
		      too_small[at].endpoints);
		instance.problem.rounds = (too_small[at].endpoints - 1) | 1;
		find(&instance, &answer);
		snprintf(name, sizeof(name),
			 "mesh %ux%u, %u elements: no %u endpoints in %s rounds",
			 too_small[at].width, too_small[at].height, answer.elements,
			 too_small[at].endpoints, too_small[at].endpoints % 2 ? "n" : "n-1");
		report(name, &times, NO_BAR, 0);
		report_count("  meshes undecided", answer.verdict != MORPH_INFEASIBLE, 0);
	}
}

/* ------------------------------------------------------------------ a device */

/* The accelerators of the device, as wired. Without @bar and @seconds, there are no bars. */
static void measure_device(struct instance *instance, const char *name, uint32_t seeds,
			   uint32_t bar, double seconds)
{
	struct morph_matchings_answer answer = { 0 };
	uint32_t more = 0, rounds = 0, at;

	times.count = excess.count = writes.count = 0;
	for (at = 0; at < instance->problem.endpoints; at++)
		instance->tx[at] = at;
	instance->problem.tx = instance->problem.rx = instance->tx;
	for (instance->problem.seed = 1; instance->problem.seed <= seeds;
	     instance->problem.seed++) {
		find(instance, &answer);
		more += answer.verdict != MORPH_FEASIBLE || answer.rounds > bar;
		rounds = answer.rounds > rounds ? answer.rounds : rounds;
	}
	report(name, &times, seconds ? MEDIAN : NO_BAR, seconds * 1e6);
	remark("at most %u rounds, bound %u", rounds, answer.bound);
	if (bar)
		report_count("  seeds with more rounds than the bar", more, 0);
}

/* Each element of the device fails in turn. */
static void measure_failures(struct instance *instance)
{
	uint32_t failed, separated = 0, undecided = 0;
	struct morph_matchings_answer answer = { 0 };

	times.count = 0;
	instance->problem.seed = 1;
	instance->problem.first = true;
	instance->problem.failed = &failed;
	instance->problem.failed_count = 1;
	for (failed = 0; failed < 72; failed++) {
		find(instance, &answer);
		separated += answer.verdict == MORPH_INFEASIBLE;
		undecided += answer.verdict == MORPH_UNDECIDED;
	}
	report("  the first legal set without an element", &times, MOST, 100 * MS);
	remark("%u of 72 elements separate a pair", separated);
	report_count("  undecided elements", undecided, 0);
	instance->problem.first = false;
	instance->problem.failed_count = 0;
}

#define SWITCH_PORTS 6
#define PERMUTATIONS 720
#define REPEATS 3 /* of a search, of which the fastest counts */

/* Set the targets to a permutation of the receivers, in the factorial number system. */
static void set_permutation(struct instance *instance, uint32_t number)
{
	uint32_t left[SWITCH_PORTS], i, at;

	for (i = 0; i < SWITCH_PORTS; i++)
		left[i] = SWITCH_PORTS + i;
	for (i = 0; i < SWITCH_PORTS; i++) {
		at = number % (SWITCH_PORTS - i);
		number /= SWITCH_PORTS - i;
		instance->targets[i] = left[at];
		left[at] = left[SWITCH_PORTS - i - 1];
	}
}

/* Six accelerators send to six others, in each order, in one round. */
static void measure_switch(const struct instance *device)
{
	static const uint32_t senders[SWITCH_PORTS] = { 4, 5, 7, 12, 11, 0 };
	static const uint32_t receivers[SWITCH_PORTS] = { 13, 10, 3, 2, 9, 8 };
	struct morph_matchings_answer answer = { 0 };
	static struct instance instance;
	uint32_t number, repeat, i, refused = 0;
	double start, fastest, took;

	instance = *device;
	for (i = 0; i < 2 * SWITCH_PORTS; i++) {
		instance.tx[i] = i < SWITCH_PORTS ? senders[i] : MORPH_ANY;
		instance.rx[i] = i < SWITCH_PORTS ? MORPH_ANY : receivers[i - SWITCH_PORTS];
		instance.targets[i] = MORPH_ANY;
	}
	instance.problem.endpoints = 2 * SWITCH_PORTS;
	instance.problem.tx = instance.tx;
	instance.problem.rx = instance.rx;
	instance.problem.targets = instance.targets;
	instance.problem.seed = 1;
	times.count = 0;
	for (number = 0; number < PERMUTATIONS; number++) {
		set_permutation(&instance, number);
		for (repeat = 0, fastest = 1e9; repeat < REPEATS; repeat++) {
			start = now_us();
			if (morph_matchings_find(search, &instance.problem, &answer))
				return wrong("switch");
			took = now_us() - start;
			fastest = took < fastest ? took : fastest;
		}
		sample(&times, fastest);
		refused += answer.verdict != MORPH_FEASIBLE || answer.rounds != 1;
		check_answer(&instance, &answer);
	}
	report("6x6 switch of accelerators, smartlight72, validated", &times, MEDIAN, MS / 10);
	report("  the slowest permutation", &times, MOST, MS);
	report_count("  permutations that are not legal", refused, 0);
	remark("%u of %u permutations are legal", PERMUTATIONS - refused, PERMUTATIONS);
}

static void measure_chosen(uint32_t endpoints)
{
	struct morph_matchings_answer answer = { 0 };
	static struct instance instance;
	uint32_t more = 0;
	char name[96];

	begin(&instance, 7, 3, endpoints);
	instance.problem.rounds = endpoints - 1;
	instance.problem.moves = 400000;
	for (instance.problem.seed = 1; instance.problem.seed <= 20; instance.problem.seed++) {
		find(&instance, &answer);
		more += answer.verdict != MORPH_FEASIBLE;
	}
	snprintf(name, sizeof(name), "matchings of %u endpoints, mesh 7x3, ports chosen",
		 endpoints);
	report(name, &times, MOST, 10e6);
	report_count("  seeds without n-1 rounds", more, 0);
}

void bench_matchings(struct morph_ctx *ctx, const char *profile)
{
	static struct instance device;
	size_t at, bytes;
	void *data;

	search = morph_matchings_new(ctx);
	for (at = 0; at < sizeof(meshes) / sizeof(meshes[0]); at++) {
		measure_mesh(&meshes[at], true);
		measure_mesh(&meshes[at], false);
	}
	measure_random(&meshes[1]);
	measure_random(&meshes[2]);
	measure_smallest();
	measure_too_small();
	measure_chosen(16);
	measure_chosen(18);
	begin(&device, 0, 0, 14);
	device.problem.kind = MORPH_MATCHINGS_DIRECTED;
	data = read_profile(profile, &bytes);
	if (!data || morph_model_load(ctx, profile, &device.problem.model))
		return wrong("the device's profile");
	device.profile = (struct morph_check_bytes){ data, bytes };
	device.problem.unjudged = true;
	device.problem.moves = 300000;
	measure_device(&device, "matchings of 14 accelerators, smartlight72", 3, 20, 60);
	device.problem.unjudged = false;
	measure_device(&device, "matchings of 14 accelerators, smartlight72, validated", 3, 22, 60);
	device.problem.moves = 0;
	measure_failures(&device);
	measure_switch(&device);
	device.problem.kind = MORPH_MATCHINGS_DUPLEX;
	measure_device(&device, "duplex matchings of 14 accelerators, smartlight72, validated", 1,
		       0, 0);
	morph_model_put(device.problem.model);
	free(data);
	morph_matchings_free(search);
}
