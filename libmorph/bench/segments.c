// SPDX-License-Identifier: LGPL-2.1-or-later
/* Circuit changes inside a collective of shifts: planning time, and that of integer programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "random.h"
#include "segments_program.h"

#include "../schedule/circulants.h"

#define MOST_SHIFTS_RANKS 64
#define SECONDS 10 /* limit for each proof by an integer program */
#define RACED_SECONDS 20
#define AGREES 1e-6 /* of the cost: what floating point leaves */

/* Shifts by all distances in random order, as in all-to-all. */
struct shifts_instance {
	struct shift shifts[MOST_SHIFTS_RANKS];
	uint64_t changes[MOST_SHIFTS_RANKS * MOST_SHIFTS_RANKS];
	struct costs costs;
	struct circulants circulants;
};

struct setting {
	const char *name;
	uint32_t ranks;
	bool by_port; /* change times by ports, any number of which change between circulants */
	uint32_t count; /* of seeds */
	uint32_t asked,
		raced; /* the first ones: proof by integer programs, and time to an equal plan */
	double most; /* microseconds, in the median; 0: no bar */
};

struct segments_rows {
	struct samples cold, warm;
	struct samples asked, its; /* of those that integer programs solved */
	struct samples raced, raced_its;
	uint32_t others;
	uint32_t undecided, unequal; /* by the integer program, in time */
};

/* From 10 ns to 10 ms, as in the published grid; each power of ten is equally likely. */
static uint64_t draw_ps(uint64_t *random, double least, double most)
{
	return (uint64_t)pow(10, log10(least) + random_unit(random) * log10(most / least));
}

static void draw(struct shifts_instance *its, const struct setting *setting, uint64_t seed)
{
	uint64_t random = seed, bytes = 1ULL << (10 + random_below(&random, 21));
	uint32_t count = setting->ranks - 1;

	its->costs = (struct costs){ .mbps = 800000 };
	its->costs.round_ps = draw_ps(&random, 1e4, 1e7);
	its->costs.hop_ps = draw_ps(&random, 1e4, 1e7);
	its->costs.change_ps = draw_ps(&random, 1e4, 1e10);
	for (uint32_t at = 0; at < count; at++) {
		uint32_t other = random_below(&random, at + 1);

		its->shifts[at] = its->shifts[other];
		its->shifts[other] =
			(struct shift){ .by = at + 1, .bytes = bytes / setting->ranks };
	}
	for (uint32_t from = 0; from <= count; from++)
		for (uint32_t to = 0; to < count; to++)
			its->changes[from * count + to] =
				from == to ?
					0 :
					its->costs.change_ps +
						its->costs.change_ps / setting->ranks *
							(1 + random_below(&random, setting->ranks));
	its->circulants = (struct circulants){ .ranks = setting->ranks,
					       .shifts = its->shifts,
					       .rounds = count,
					       .costs = &its->costs,
					       .changes = setting->by_port ? its->changes : NULL,
					       .resident = RESIDENT_ANY };
}

static struct segments_plan solve(struct circulants_work *work, const struct circulants *circulants,
				  struct samples *times)
{
	struct segments_plan plan = { .ps = 0 };
	double begin = now_us();

	if (lm_circulants_solve(work, circulants, &plan))
		wrong(morph_error_text(work->segments.ctx));
	sample(times, now_us() - begin);
	return plan;
}

/* Starting with our plan, whether a cheaper one exists. */
static void ask(const struct segments_problem *problem, const struct segments_plan *mine,
		struct segments_rows *rows)
{
	const struct segments_effort effort = { .seconds = SECONDS, .start = mine->held };
	double begin = now_us();
	struct segments_answer its = segments_by_program(problem, &effort);

	sample(&rows->its, now_us() - begin);
	sample(&rows->asked, rows->cold.values[rows->cold.count - 1]);
	rows->undecided += !its.proved;
	if (its.found && its.ps < (double)mine->ps * (1 - AGREES))
		rows->others++;
	if (its.proved && its.ps > (double)mine->ps * (1 + AGREES))
		rows->others++;
	if (rows->others)
		wrong("an integer program computes another time for changes of topologies");
}

/* From scratch, the time to a plan that is not longer. */
static void race(const struct segments_problem *problem, const struct segments_plan *mine,
		 struct segments_rows *rows)
{
	const struct segments_effort effort = { .seconds = RACED_SECONDS, .enough_ps = mine->ps };
	double begin = now_us();
	struct segments_answer its = segments_by_program(problem, &effort);

	sample(&rows->raced_its, now_us() - begin);
	sample(&rows->raced, rows->cold.values[rows->cold.count - 1]);
	rows->unequal += !its.found;
	if (its.found && its.ps < (double)mine->ps * (1 - AGREES))
		wrong("an integer program finds faster changes of topologies");
}

static void report_programs(struct segments_rows *rows)
{
	char name[80];

	if (rows->its.count) {
		snprintf(name, sizeof(name), "  the first %u, beginning from them, proven (CBC)",
			 rows->its.count);
		report_oracle(name, &rows->its, &rows->asked);
		report_count("  whose cost is another", rows->others, 0);
		remark("of these %u are undecided after %d s", rows->undecided, SECONDS);
	}
	if (rows->raced_its.count) {
		snprintf(name, sizeof(name), "  the first %u to a plan as good (CBC)",
			 rows->raced_its.count);
		report_oracle(name, &rows->raced_its, &rows->raced);
		remark("of these %u have none after %d s", rows->unequal, RACED_SECONDS);
	}
}

static void measure(struct morph_ctx *ctx, const struct setting *setting)
{
	static struct segments_rows rows;
	static struct shifts_instance its;

	memset(&rows, 0, sizeof(rows));
	for (uint64_t seed = 1; seed <= setting->count; seed++) {
		struct circulants_work work = { .segments.ctx = ctx };
		struct segments_problem problem;
		struct segments_plan mine;
		uint64_t ps;

		draw(&its, setting, seed);
		ps = solve(&work, &its.circulants, &rows.cold).ps;
		mine = solve(&work, &its.circulants, &rows.warm);
		if (mine.ps != ps)
			wrong("two plans of the same problem differ");
		if ((seed <= setting->asked || seed <= setting->raced) &&
		    lm_circulants_pose(&work, &its.circulants, &problem))
			wrong(morph_error_text(ctx));
		if (seed <= setting->asked)
			ask(&problem, &mine, &rows);
		if (seed <= setting->raced)
			race(&problem, &mine, &rows);
		lm_circulants_release(&work);
	}
	report(setting->name, &rows.cold, setting->most ? MEDIAN : NO_BAR, setting->most);
	report("  with the results kept from the last time", &rows.warm, NO_BAR, 0);
	report_programs(&rows);
}

/*
 * For 63 rounds a table of changes has 250000 columns. A program finds a plan; proofs are for
 * smaller instances.
 */
void bench_segments(struct morph_ctx *ctx)
{
	static const struct setting settings[] = {
		{ "63 shifts on 63 circulants", 64, false, 2000, 8, 8, 15 },
		{ "63 shifts, changes by ports", 64, true, 2000, 0, 1, 500 },
		{ "31 shifts, changes by ports", 32, true, 2000, 8, 8, 0 },
		{ "15 shifts on 15 circulants", 16, false, 2000, 20, 20, 0 },
		{ "15 shifts, changes by ports", 16, true, 2000, 20, 20, 0 },
	};

	for (size_t at = 0; at < sizeof(settings) / sizeof(settings[0]); at++)
		measure(ctx, &settings[at]);
}
