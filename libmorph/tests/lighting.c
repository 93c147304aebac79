// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fabrics for tests of the circuits of schedules. */
#include "../internal/planner.h"
#include "lighting.h"

#include <stdio.h>

char **profiles;

static uint8_t *read_profile(const char *path, size_t *bytes)
{
	FILE *in = fopen(path, "r");
	uint8_t *profile;

	assert_non_null(in);
	assert_int_equal(fseek(in, 0, SEEK_END), 0);
	*bytes = (size_t)ftell(in);
	rewind(in);
	profile = malloc(*bytes);
	assert_non_null(profile);
	assert_int_equal(fread(profile, 1, *bytes, in), *bytes);
	fclose(in);
	return profile;
}

struct bench open_bench(uint32_t number)
{
	struct bench bench = { 0 };

	assert_int_equal(morph_model_load(ctx, profiles[number], &bench.model), 0);
	assert_int_equal(morph_ledger_new(ctx, bench.model, &bench.ledger), 0);
	bench.profile = read_profile(profiles[number], &bench.profile_bytes);
	for (uint32_t rank = 0; rank < ARRAY_SIZE(bench.at); rank++)
		bench.at[rank] = rank;
	bench.steps = morph_steps_new(ctx);
	bench.schedule = morph_schedule_new(ctx);
	bench.delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	return bench;
}

void close_bench(struct bench *bench)
{
	morph_steps_free(bench->steps);
	morph_schedule_free(bench->schedule);
	morph_delay_free(bench->delay);
	morph_ledger_free(bench->ledger);
	morph_model_put(bench->model);
	free(bench->profile);
}

bool plan(struct bench *bench, const struct morph_collective_opts *how,
	  const struct morph_schedule_opts *opts)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	bool planned;

	assert_non_null(collective);
	planned = !morph_collective_build(collective, how) &&
		  !morph_schedule_plan(bench->schedule, collective, bench->delay, opts) &&
		  morph_schedule_verdict(bench->schedule) == MORPH_FEASIBLE;
	if (planned)
		assert_valid(collective, bench->delay, opts->planes ? opts->planes : 1, opts->after,
			     bench->schedule);
	morph_collective_free(collective);
	return planned;
}

void plan_shift(struct bench *bench, uint32_t ranks, uint32_t planes)
{
	MORPH_OPTS(morph_collective_opts, how, .kind = MORPH_ALL_TO_ALL, .algorithm = MORPH_SHIFT,
		   .ranks = ranks, .bytes = 100000);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planes, .policy = MORPH_POLICY_EACH_ROUND);

	assert_true(plan(bench, &how, &opts));
}

uint32_t light(struct bench *bench, uint32_t ranks, const struct morph_light_opts *opts)
{
	MORPH_OPTS(morph_light_opts, one, .lanes = 1);
	int error = morph_schedule_light(bench->schedule, bench->ledger, bench->at, ranks,
					 opts ? opts : &one, bench->steps, &bench->light);

	if (error)
		fail_msg("%d: %s", error, morph_error_text(ctx));
	return bench->light.verdict;
}

int check(const struct bench *bench, const struct words *steps, uint32_t ranks, char report[256])
{
	struct words ledger = WRITE(morph_ledger_write, bench->ledger);
	struct words schedule = WRITE(morph_schedule_write, bench->schedule);
	const struct morph_check_light_input input = {
		.profile = { bench->profile, bench->profile_bytes },
		.ledger = { ledger.list, ledger.bytes },
		.schedule = { schedule.list, schedule.bytes },
		.steps = { steps->list, steps->bytes },
		.accelerators = bench->at,
		.ranks = ranks,
	};
	int result = morph_check_light(&input, report, 256);

	free(ledger.list);
	free(schedule.list);
	return result;
}

void assert_lit(const struct bench *bench, uint32_t ranks)
{
	struct words steps = WRITE(morph_steps_write, bench->steps);
	char report[256];

	if (check(bench, &steps, ranks, report))
		fail_msg("%s", report);
	free(steps.list);
}

int lighting_run(int count, char **arguments, const char *name, const struct CMUnitTest *tests,
		 size_t tests_count)
{
	if (count != 1 + PROFILES) {
		fprintf(stderr, "usage: %s SERVER8 SERVER16 RACK64 SMARTLIGHT72\n", arguments[0]);
		return 2;
	}
	profiles = arguments + 1;
	return _cmocka_run_group_tests(name, tests, tests_count, begin, end);
}
