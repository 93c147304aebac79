// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Replanning of schedules after the loss of ports: time, and number of changed circuits, beside an
 * oracle.
 */
#include <stdio.h>
#include <string.h>

#include "../internal/planner.h"
#include "bench.h"
#include "lossy.h"
#include "random.h"
#include "replan_exact.h"

struct replan_setting {
	const char *name;
	struct lossy_range range;
	uint32_t count; /* of seeds */
	bool asked; /* also by the oracle */
	double most; /* microseconds, at most; 0: no bar */
};

struct replan_rows {
	struct samples times, asked, its, later;
	uint32_t others, undecided;
};

/* With memory from an earlier call, as in programs that replan repeatedly. */
static bool replan(const struct lossy *lossy, struct morph_schedule *schedule,
		   struct morph_replanned *replanned, struct replan_rows *rows)
{
	double begin = now_us();

	if (morph_schedule_replan(schedule, lossy->schedule, lossy->collective, lossy->delay,
				  &lossy->opts, replanned))
		wrong("cannot replan a schedule");
	sample(&rows->times, now_us() - begin);
	rows->undecided += morph_schedule_verdict(schedule) == MORPH_UNDECIDED;
	if (morph_schedule_verdict(schedule) != MORPH_FEASIBLE)
		return false;
	sample(&rows->later, 100.0 * (double)replanned->later_ns /
				     (double)morph_schedule_ns(lossy->schedule, NULL));
	return true;
}

static void ask(const struct lossy *lossy, const struct morph_replanned *replanned,
		struct replan_rows *rows)
{
	double begin = now_us();
	struct replan_least least = replan_exact(lossy);

	sample(&rows->its, now_us() - begin);
	sample(&rows->asked, rows->times.values[rows->times.count - 1]);
	if (least.apart && least.changed != replanned->changed) {
		rows->others++;
		wrong("an oracle needs fewer changed circuits");
	}
}

static void report_rows(const struct replan_setting *setting, struct replan_rows *rows)
{
	const struct row later = { .name = "  later than it was", .unit = "%" };

	report(setting->name, &rows->times, setting->most ? MOST : NO_BAR, setting->most);
	report_row(&later, &rows->later);
	if (rows->undecided)
		remark("of these %u are undecided", rows->undecided);
	if (!rows->its.count)
		return;
	report_oracle("  the same by flows and trial", &rows->its, &rows->asked);
	report_count("  where fewer circuits have to change", rows->others, 0);
}

static void measure_drawn(struct morph_ctx *ctx, const struct replan_setting *setting)
{
	static struct replan_rows rows;
	struct morph_schedule *schedule = morph_schedule_new(ctx);

	memset(&rows, 0, sizeof(rows));
	for (uint64_t seed = 1; seed <= setting->count; seed++) {
		struct morph_replanned replanned;
		struct lossy lossy;

		if (lossy_draw(ctx, seed, &setting->range, &lossy) &&
		    replan(&lossy, schedule, &replanned, &rows) && setting->asked)
			ask(&lossy, &replanned, &rows);
		lossy_free(&lossy);
	}
	report_rows(setting, &rows);
	morph_schedule_free(schedule);
}

/* ----------------------------------------------------------------- 126 steps, 64 ranks */

static bool plan_large(struct morph_ctx *ctx, struct lossy *lossy, uint32_t kind,
		       uint32_t algorithm, uint32_t policy)
{
	const struct morph_collective_opts wanted = { .sz = sizeof(wanted),
						      .kind = kind,
						      .algorithm = algorithm,
						      .ranks = 64,
						      .bytes = 64 << 20,
						      .extent = { 8, 8, 1 } };
	const struct morph_schedule_opts opts = { .sz = sizeof(opts),
						  .policy = policy,
						  .planes = lossy->planes };
	uint64_t settle_ns = 3700;

	lossy->collective = morph_collective_new(ctx);
	lossy->delay = morph_delay_new(ctx);
	lossy->schedule = morph_schedule_new(ctx);
	morph_delay_set_link(lossy->delay, 500, 500, 800000);
	morph_delay_set_part(lossy->delay, MORPH_DELAY_SETTLE, &settle_ns, 1);
	return !morph_collective_build(lossy->collective, &wanted) &&
	       !morph_schedule_plan(lossy->schedule, lossy->collective, lossy->delay, &opts) &&
	       morph_schedule_verdict(lossy->schedule) == MORPH_FEASIBLE;
}

/* Each policy with its part of the times, to show the slow ones. */
static void report_policies(struct samples times[MORPH_POLICIES])
{
	for (uint32_t policy = 1; policy < MORPH_POLICIES; policy++) {
		char name[32];

		snprintf(name, sizeof(name), "  planned by %s",
			 morph_enum_name(MORPH_ENUM_POLICY, policy));
		if (times[policy].count)
			report(name, &times[policy], NO_BAR, 0);
	}
}

/* Lose a different port each time, before the start or in the middle. */
static void lose_often(const struct lossy *planned, struct morph_schedule *schedule, uint32_t times,
		       uint64_t *random, struct replan_rows *rows)
{
	struct lossy lossy = *planned;

	while (times--) {
		struct morph_replanned replanned;

		lossy_lose(&lossy, random, 1);
		replan(&lossy, schedule, &replanned, rows);
	}
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Steps of matchings. MORPH_POLICY_MATCHINGS has tens of thousands of independent circuits. */
#define OF_STEPS (((1U << MORPH_POLICIES) - 2) & ~(1U << MORPH_POLICY_MATCHINGS))
#define OF_CIRCUITS (1U << MORPH_POLICY_MATCHINGS)

/* The collectives of a setting, and a bit for each policy. */
struct large {
	struct replan_setting setting;
	const uint32_t (*wanted)[2]; /* kind and algorithm */
	uint32_t count, policies;
};

static void measure_large(struct morph_ctx *ctx, const struct large *large)
{
	static struct replan_rows rows;
	static struct samples times[MORPH_POLICIES];
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	uint64_t random = 1;

	memset(&rows, 0, sizeof(rows));
	memset(times, 0, sizeof(times));
	for (uint32_t at = 0; at < large->count; at++)
		for (uint32_t policy = 1; policy < MORPH_POLICIES; policy++)
			for (uint32_t planes = 2; planes <= 8; planes *= 2) {
				struct lossy lossy = { .planes = planes };
				uint32_t first = rows.times.count;

				if (large->policies >> policy & 1 &&
				    plan_large(ctx, &lossy, large->wanted[at][0],
					       large->wanted[at][1], policy))
					lose_often(&lossy, schedule, 50, &random, &rows);
				while (first < rows.times.count)
					sample(&times[policy], rows.times.values[first++]);
				lossy_free(&lossy);
			}
	report_rows(&large->setting, &rows);
	report_policies(times);
	morph_schedule_free(schedule);
}

static const uint32_t of_rounds[][2] = {
	{ MORPH_ALL_REDUCE, MORPH_RING },    { MORPH_ALL_REDUCE, MORPH_RINGS },
	{ MORPH_ALL_REDUCE, MORPH_HALVING }, { MORPH_ALL_REDUCE, MORPH_SWING },
	{ MORPH_ALL_TO_ALL, MORPH_SHIFT },   { MORPH_ALL_TO_ALL, MORPH_PAIRWISE },
	{ MORPH_ALL_TO_ALL, MORPH_BRUCK },
};
static const uint32_t of_one[][2] = { { MORPH_ALL_TO_ALL, MORPH_DIRECT } };
static const uint32_t without_last[][2] = { { MORPH_ALL_REDUCE, MORPH_STRAGGLAR } };

void bench_replan(struct morph_ctx *ctx)
{
	static const struct large large[] = {
		{ { .name = "a port is lost, up to 126 steps, 64 ranks, 2 to 8 planes",
		    .most = 1000 },
		  of_rounds,
		  COUNT(of_rounds),
		  OF_STEPS },
		{ { .name = "the same, of up to 32256 circuits that change by themselves" },
		  of_rounds,
		  COUNT(of_rounds),
		  OF_CIRCUITS },
		{ { .name = "a port is lost, all to all in one step, 64 ranks" },
		  of_one,
		  COUNT(of_one),
		  OF_STEPS | OF_CIRCUITS },
		{ { .name = "a port is lost, 130 steps without a late rank, 64 ranks" },
		  without_last,
		  COUNT(without_last),
		  OF_STEPS | OF_CIRCUITS },
	};
	static const struct replan_setting settings[] = {
		{ "a port is lost, 4 to 16 ranks", { 4, 16, 2, 8, 1 }, 2000, true, 0 },
		{ "one to four ports are lost, 4 to 16 ranks", { 4, 16, 2, 8, 4 }, 2000, true, 0 },
	};

	for (size_t at = 0; at < sizeof(large) / sizeof(large[0]); at++)
		measure_large(ctx, &large[at]);
	for (size_t at = 0; at < sizeof(settings) / sizeof(settings[0]); at++)
		measure_drawn(ctx, &settings[at]);
}
