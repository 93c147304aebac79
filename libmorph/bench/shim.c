// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Latency of plans for a collective library: a lookup of an existing plan, a new plan, and plans
 * read from a file.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../internal/planner.h"
#include "bench.h"
#include "random.h"

#define RANKS 64
#define PLANES 4
#define KINDS 5
#define POWERS 13 /* of two, from 1 KiB on */
#define AT_ONCE 1000 /* lookups in a sample, because one is too short for a clock */

static uint64_t size_of(uint32_t number)
{
	return 1024ULL << number % POWERS;
}

static struct morph_shim *begin_shim(struct morph_ctx *ctx)
{
	MORPH_OPTS(morph_shim_opts, opts, .ranks = RANKS, .planes = PLANES);
	struct morph_delay *delay = morph_delay_new(ctx);
	struct morph_shim *shim = NULL;
	uint64_t settle_ns = 3700;

	if (delay && !morph_delay_set_link(delay, 500, 100, 800000) &&
	    !morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle_ns, 1) &&
	    morph_shim_new(ctx, delay, &opts, &shim))
		wrong(morph_error_text(ctx));
	morph_delay_free(delay);
	return shim;
}

static const struct morph_shim_plan *look_up(struct morph_shim *shim, uint32_t kind, uint64_t bytes)
{
	const struct morph_shim_plan *plan;

	if (morph_shim_lookup(shim, kind, bytes, NULL, &plan))
		wrong("no plan");
	return plan;
}

static void measure_misses(struct morph_shim *shim)
{
	static struct samples times;

	for (uint32_t number = 0; number < KINDS * POWERS; number++) {
		double begin = now_us();

		look_up(shim, 1 + number / POWERS, size_of(number));
		sample(&times, now_us() - begin);
	}
	report("planning, 64 ranks on 4 planes, each algorithm and policy", &times, NO_BAR, 0);
}

/* Random sizes, so that consecutive lookups differ. */
static void measure_hits(struct morph_shim *shim)
{
	static uint32_t kinds[AT_ONCE];
	static uint64_t sizes[AT_ONCE];
	static struct samples times;
	uint64_t seed = 1;

	for (uint32_t number = 0; number < AT_ONCE; number++) {
		kinds[number] = 1 + random_below(&seed, KINDS);
		sizes[number] = size_of(random_below(&seed, POWERS));
		sizes[number] -= random_below(&seed, 500);
	}
	for (uint32_t at = 0; at < 1000; at++) {
		double begin = now_us();

		for (uint32_t number = 0; number < AT_ONCE; number++)
			look_up(shim, kinds[number], sizes[number]);
		sample(&times, (now_us() - begin) * 1000 / AT_ONCE);
	}
	report_row(
		&(struct row){
			.name = "look-up of a plan", .unit = "ns", .figure = P99, .limit = 200 },
		&times);
}

static void measure_file(struct morph_ctx *ctx, struct morph_shim *shim)
{
	ssize_t bytes = morph_shim_write(shim, NULL, 0);
	void *data = malloc((size_t)bytes);
	static struct samples times;
	uint32_t plans;
	uint64_t kept;

	if (!data || morph_shim_write(shim, data, (size_t)bytes) != bytes)
		wrong("cannot write plans");
	for (uint32_t at = 0; at < 10; at++) {
		struct morph_shim *reads = begin_shim(ctx);
		double begin = now_us();

		if (!reads || morph_shim_read(reads, data, (size_t)bytes))
			wrong("cannot read written plans");
		sample(&times, now_us() - begin);
		morph_shim_free(reads);
	}
	report("reading plans from a file", &times, NO_BAR, 0);
	plans = morph_shim_plans(shim, &kept);
	remark("%u plans, %zd bytes in the file, %llu in memory", plans, bytes,
	       (unsigned long long)kept);
	free(data);
}

void bench_shim(struct morph_ctx *ctx)
{
	struct morph_shim *shim = begin_shim(ctx);

	if (!shim) {
		wrong("no memory");
		return;
	}
	measure_misses(shim);
	measure_hits(shim);
	measure_file(ctx, shim);
	morph_shim_free(shim);
}
