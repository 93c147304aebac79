// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checker, which shares no code with planners and optics, accepts the circuits of schedules and
 * rejects corrupted ones.
 */
#include "../internal/planner.h"
#include "../bench/random.h"
#include "lighting.h"

/*
 * Corrupt a circuit: its guides, ports, lanes or ranks; or a step: its circuits, or its beginning.
 */
static bool corrupt(struct words *steps, uint64_t *seed)
{
	uint32_t *head = steps->list + HEAD, circuits = head[3], count = head[4];
	uint32_t guides = head[5], held = head[6];
	uint32_t *circuit = head + STEPS_HEAD + CIRCUIT * random_below(seed, circuits);
	uint32_t *step = head + STEPS_HEAD + CIRCUIT * circuits + STEP * random_below(seed, count);
	uint32_t *guide = head + STEPS_HEAD + CIRCUIT * circuits + STEP * count;
	uint32_t *entry = guide + guides + random_below(seed, held);
	uint32_t other = random_below(seed, circuits), lanes;

	switch (random_below(seed, 11)) {
	case 0: /* another guide */
		lanes = 1 + random_below(seed, 7);
		guide[random_below(seed, guides)] ^= lanes;
		return true;
	case 1: /* one less */
		circuit[8]--;
		return true;
	case 2: /* the way of another */
		if (other == (uint32_t)(circuit - head - STEPS_HEAD) / CIRCUIT)
			return false;
		circuit[7] = head[STEPS_HEAD + CIRCUIT * other + 7];
		circuit[8] = head[STEPS_HEAD + CIRCUIT * other + 8];
		return true;
	case 3: /* another port */
		circuit[2 + random_below(seed, 2)] ^= 1;
		return true;
	case 4: /* another rank */
		circuit[random_below(seed, 2)] ^= 1;
		return true;
	case 5: /* a missing wavelength, or too many */
		circuit[5] ^= random_below(seed, 2) ? 1U << 16 : 1U << 15;
		return true;
	case 6: /* another circuit */
		if (*entry == other)
			return false;
		*entry = other;
		return true;
	case 7: /* one less is held */
		step[1]--;
		return true;
	case 8: /* more lanes, or fewer, than it has */
		circuit[4] ^= 1 + random_below(seed, 3);
		return circuit[4];
	case 9: /* otherwise than the others */
		step[2] ^= 1 + random_below(seed, 3);
		return count > 1;
	default: /* too late, by time or not; or too soon */
		if (random_below(seed, 2))
			step[3] += 1 + random_below(seed, 1000);
		else if (!step[3] || step[4])
			return false;
		else
			step[3] -= 1 + random_below(seed, step[3]);
		return true;
	}
}

static void corrupt_plans_are_rejected(void **state)
{
	uint64_t seed = 20;
	uint32_t rejected = 0;

	(void)state;
	for (uint32_t profile = 0; profile < PROFILES; profile++) {
		struct bench bench = open_bench(profile);
		char report[256];

		plan_shift(&bench, 4, profile == SMARTLIGHT ? 1 : 3);
		assert_int_equal(light(&bench, 4, NULL), MORPH_FEASIBLE);
		for (uint32_t round = 0; round < 200; round++) {
			struct words steps = WRITE(morph_steps_write, bench.steps);

			if (corrupt(&steps, &seed)) {
				int result = check(&bench, &steps, 4, report);

				if (result != -EBADMSG && result != -EINVAL)
					fail_msg("profile %u, round %u: %d", profile, round,
						 result);
				rejected++;
			}
			free(steps.list);
		}
		close_bench(&bench);
	}
	assert_true(rejected > 600);
}

/*
 * Any algorithm, policy and scope, in steps that begin in any way. Schedules without paths are
 * skipped.
 */
static bool light_by_chance(struct bench *bench, uint64_t chance, uint32_t *ranks)
{
	MORPH_OPTS(morph_collective_opts, how, .bytes = 100000, .radix = 2, .segments = 2);
	MORPH_OPTS(morph_schedule_opts, opts);
	MORPH_OPTS(morph_light_opts, lit);

	how.kind = 1 + random_below(&chance, MORPH_BROADCAST);
	how.algorithm = 1 + random_below(&chance, MORPH_ALGORITHMS - 1);
	how.ranks = *ranks = 3 + random_below(&chance, 4);
	opts.policy = random_below(&chance, MORPH_POLICIES);
	opts.planes = 1 + random_below(&chance, 4);
	lit.begin = random_below(&chance, 3);
	lit.loop = random_below(&chance, 2);
	lit.lanes = 1 + random_below(&chance, 2);
	morph_delay_free(bench->delay);
	bench->delay = some_delay(random_below(&chance, 3));
	return plan(bench, &how, &opts) && light(bench, *ranks, &lit) == MORPH_FEASIBLE;
}

static void random_corruption_is_rejected(void **state)
{
	uint32_t rejected = 0, ranks;
	char report[256];

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct bench bench = open_bench((uint32_t)(seed % SMARTLIGHT));
		uint64_t chance = seed;

		for (uint32_t time = light_by_chance(&bench, seed, &ranks) ? 0 : 100; time < 100;
		     time++) {
			struct words steps = WRITE(morph_steps_write, bench.steps);

			if (corrupt(&steps, &chance)) {
				int result = check(&bench, &steps, ranks, report);

				if (result != -EBADMSG && result != -EINVAL)
					fail_msg("seed %llu, time %u: %d", (unsigned long long)seed,
						 time, result);
				rejected++;
			}
			free(steps.list);
		}
		close_bench(&bench);
	}
	assert_true(rejected > 4000);
}

static void conflicts_with_other_tenants_are_rejected(void **state)
{
	struct bench bench = open_bench(SERVER8);
	struct words steps;
	char report[256];
	uint32_t *head;

	(void)state;
	plan_shift(&bench, 4, 1);
	assert_int_equal(light(&bench, 4, NULL), MORPH_FEASIBLE);
	steps = WRITE(morph_steps_write, bench.steps);
	head = steps.list + HEAD;
	head += STEPS_HEAD + CIRCUIT * head[3] + STEP * head[4]; /* guides */
	assert_int_equal(check(&bench, &steps, 4, report), 0);
	assert_int_equal(morph_ledger_load(bench.ledger, head[1], 1), 0);
	assert_int_equal(check(&bench, &steps, 4, report), -EBADMSG);
	assert_non_null(strstr(report, "carries light of other circuits"));
	free(steps.list);
	close_bench(&bench);
}

/*
 * Paths of the same ranks at another time. These ranks have two circuits, because one does not
 * suffice: a tenant has its guides.
 */
static void circuits_that_meet_are_rejected(void **state)
{
	MORPH_OPTS(morph_collective_opts, how, .kind = MORPH_ALL_REDUCE,
		   .algorithm = MORPH_STRAGGLAR, .ranks = 6, .bytes = 1 << 20);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2, .policy = MORPH_POLICY_EACH_ROUND);
	struct bench bench = open_bench(SERVER8);
	uint32_t rejected = 0, circuits;
	char report[256];

	(void)state;
	assert_true(plan(&bench, &how, &opts));
	assert_int_equal(light(&bench, 6, NULL), MORPH_FEASIBLE);
	morph_steps_count(bench.steps, &circuits);
	for (uint32_t at = 0; at < circuits * circuits; at++) {
		struct words steps = WRITE(morph_steps_write, bench.steps);
		uint32_t *one = steps.list + HEAD + STEPS_HEAD + CIRCUIT * (at / circuits);
		uint32_t *other = steps.list + HEAD + STEPS_HEAD + CIRCUIT * (at % circuits);

		if (one != other && !memcmp(one, other, 3 * sizeof(*one))) {
			one[7] = other[7];
			one[8] = other[8];
			if (check(&bench, &steps, 6, report)) {
				assert_true(strstr(report, "another circuit of the step uses") ||
					    strstr(report, "connects a port twice") ||
					    strstr(report, "has no state for all"));
				rejected++;
			}
		}
		free(steps.list);
	}
	assert_true(rejected > 0);
	close_bench(&bench);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(corrupt_plans_are_rejected),
		cmocka_unit_test(random_corruption_is_rejected),
		cmocka_unit_test(conflicts_with_other_tenants_are_rejected),
		cmocka_unit_test(circuits_that_meet_are_rejected),
	};

	return lighting_run(count, arguments, "schedule_light_check", tests, ARRAY_SIZE(tests));
}
