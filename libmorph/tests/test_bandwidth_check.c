// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checker, which shares no code with the planner, accepts answers and rejects corrupted ones.
 */
#include <stdio.h>

#include "../check/check.h"
#include "../internal/planner.h"
#include "../bench/groups.h"
#include "../bench/random.h"
#include "alone.h"

#define STEPS (1 << 22) /* of the checker, for each answer */
#define HEAD 5 /* words */
#define ANSWER_HEAD 11
#define GROUP 7

static struct groups groups;

/* A problem and its answer, in the wire form. */
struct asked {
	struct morph_bandwidth_result result;
	uint32_t *problem, *answer;
	size_t problem_bytes, answer_bytes;
};

static uint32_t *room_for(ssize_t bytes, size_t *size)
{
	uint32_t *words;

	assert_true(bytes > 0);
	words = malloc((size_t)bytes);
	assert_non_null(words);
	*size = (size_t)bytes;
	return words;
}

static struct asked solve(uint64_t steps)
{
	MORPH_OPTS(morph_bandwidth_opts, opts, .steps = steps);
	struct asked asked = { .result.sz = sizeof(asked.result) };
	struct morph_bandwidth *bw = groups_problem(ctx, &groups);

	assert_non_null(bw);
	assert_int_equal(morph_bandwidth_write(bw, NULL, 0), -EINVAL);
	assert_int_equal(morph_bandwidth_solve(bw, &opts, &asked.result), 0);
	asked.problem = room_for(morph_bandwidth_write_problem(bw, NULL, 0), &asked.problem_bytes);
	asked.answer = room_for(morph_bandwidth_write(bw, NULL, 0), &asked.answer_bytes);
	assert_int_equal(morph_bandwidth_write(bw, asked.answer, asked.answer_bytes - 4), -ENOSPC);
	assert_int_equal(morph_bandwidth_write_problem(bw, asked.problem, asked.problem_bytes),
			 asked.problem_bytes);
	assert_int_equal(morph_bandwidth_write(bw, asked.answer, asked.answer_bytes),
			 asked.answer_bytes);
	morph_bandwidth_free(bw);
	return asked;
}

static void forget(struct asked *asked)
{
	free(asked->problem);
	free(asked->answer);
}

static int check(const struct asked *asked, char report[256])
{
	const struct morph_check_bandwidth_input input = {
		.problem = { asked->problem, asked->problem_bytes },
		.answer = { asked->answer, asked->answer_bytes },
		.steps = STEPS,
	};

	return morph_check_bandwidth(&input, report, 256);
}

/* Instances of all kinds, small and large. */
static void draw(uint64_t seed)
{
	static const uint32_t wavelengths[] = { 1, 2, 3, 4, 8 };
	uint32_t lanes = wavelengths[seed % 5];

	switch (seed % 3) {
	case 0:
		groups_rings(&groups, seed, 4, 4, 6, lanes, 6, 2);
		break;
	case 1:
		groups_irregular(&groups, seed, 5, 5, 3, 3, lanes);
		break;
	default:
		groups_irregular(&groups, seed, 16, 24, 6, 6, lanes);
		break;
	}
}

static void whatever_is_answered_is_so(void **state)
{
	uint32_t verdicts[4] = { 0 }, proofs[3] = { 0 }, given_up = 0;
	char report[256];

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct asked asked;
		int ret;

		draw(seed);
		asked = solve(seed % 7 ? 0 : 1);
		ret = check(&asked, report);
		verdicts[asked.result.verdict]++;
		proofs[asked.result.proof] += asked.result.verdict == MORPH_FEASIBLE;
		given_up += ret == -EAGAIN;
		if (ret && ret != -EAGAIN)
			fail_msg("seed %llu: %s", (unsigned long long)seed, report);
		forget(&asked);
	}
	print_message(
		"%u feasible (%u legal, %u fair, %u the fairest), %u infeasible, %u undecided; %u checked only in part\n",
		verdicts[1], proofs[0], proofs[1], proofs[2], verdicts[2], verdicts[3], given_up);
	assert_true(proofs[MORPH_BANDWIDTH_LEXIMIN] > 100 && verdicts[MORPH_INFEASIBLE] > 10);
	assert_true(given_up < 100);
}

/* --------------------------------------------------------------------- mutants */

static uint32_t *group_of(const struct asked *asked, uint32_t group)
{
	return asked->answer + HEAD + ANSWER_HEAD + GROUP * (size_t)group;
}

static uint32_t *counts_of(const struct asked *asked)
{
	return group_of(asked, groups.groups_count);
}

/* Remove all lanes of the last unit of a group, as if the group needed less. */
static bool lower(struct asked *asked, uint32_t group)
{
	uint32_t *counts = counts_of(asked), *lanes = counts + groups.hops_count, gone = 0;
	uint32_t left = asked->answer[HEAD + 4];

	if (group_of(asked, group)[0] <= groups.least[group])
		return false;
	for (uint32_t hop = 0; hop < groups.hops_count; hop++) {
		uint32_t less = groups.hops[hop].group == group ? groups.hops[hop].circuits : 0;

		left -= counts[hop];
		counts[hop] -= less;
		lanes += counts[hop];
		memmove(lanes, lanes + less, left * sizeof(*lanes));
		gone += less;
	}
	group_of(asked, group)[0]--;
	asked->answer[HEAD + 4] -= gone;
	asked->answer_bytes -= 4 * (size_t)gone;
	asked->answer[4] -= gone;
	return true;
}

/* Give two circuits of a hop the same wavelength. This is wrong if a fibre has space for one. */
static bool clash(const struct asked *asked, uint64_t *seed)
{
	const uint32_t *counts = counts_of(asked);
	uint32_t *lanes = counts_of(asked) + groups.hops_count, wanted;

	wanted = random_below(seed, groups.hops_count);
	for (uint32_t hop = 0; hop < wanted; hop++)
		lanes += counts[hop];
	for (uint32_t at = 1; at < counts[wanted]; at++) {
		uint32_t fibres = groups.transmit[groups.hops[wanted].source], same = 0;

		for (uint32_t other = 0; other < counts[wanted]; other++)
			same += lanes[other] == lanes[at - 1];
		if (lanes[at] == lanes[at - 1] || same < fibres)
			continue;
		lanes[at] = lanes[at - 1];
		return true;
	}
	return false;
}

/* Corrupt a stop: part, index, available and needed lanes. */
static void corrupt_stop(const struct asked *asked, uint32_t group, uint64_t *seed)
{
	uint32_t *stop = group_of(asked, group) + 1;

	switch (random_below(seed, 4)) {
	case 0:
		stop[0] = stop[0] == MORPH_BANDWIDTH_WISH ? MORPH_BANDWIDTH_GUIDE :
							    MORPH_BANDWIDTH_WISH;
		break;
	case 1:
		stop[1] += 1 + random_below(seed, 3);
		break;
	case 2:
		stop[2] += 1 + random_below(seed, 3);
		break;
	default:
		stop[4] += 1 + random_below(seed, 3);
		break;
	}
}

static bool corrupt(struct asked *asked, uint64_t *seed)
{
	uint32_t group = random_below(seed, groups.groups_count);

	switch (random_below(seed, 6)) {
	case 0:
		group_of(asked, group)[0] += random_below(seed, 2) ? 1 : UINT32_MAX;
		return true;
	case 1:
		return lower(asked, group);
	case 2:
		return clash(asked, seed);
	case 3:
		asked->answer[HEAD] = MORPH_INFEASIBLE;
		return true;
	case 4:
		asked->answer[HEAD + 1] += 3;
		return true;
	default:
		/* Several stops can be valid. A stop of another kind of part is not. */
		corrupt_stop(asked, group, seed);
		return true;
	}
}

/* Another guide or port can be short by the same amount as the named one. That is no corruption. */
static bool still_so(const struct asked *asked, const struct asked *before)
{
	const uint32_t *one = group_of(asked, 0), *other = group_of(before, 0);

	for (uint32_t group = 0; group < groups.groups_count; group++, one += GROUP, other += GROUP)
		if (one[1] == other[1] && one[2] != other[2] && !memcmp(one + 3, other + 3, 16))
			return true;
	return false;
}

static void mutants_are_rejected(void **state)
{
	uint64_t seed = 1;
	char report[256];

	(void)state;
	for (uint32_t mutants = 0, at = 1; mutants < 1000; at++) {
		struct asked asked;

		draw(at);
		asked = solve(0);
		if (asked.result.verdict != MORPH_FEASIBLE ||
		    asked.result.proof != MORPH_BANDWIDTH_LEXIMIN || check(&asked, report)) {
			forget(&asked);
			continue;
		}
		for (uint32_t round = 0; round < 10; round++) {
			struct asked mutant = asked;
			int ret;

			mutant.answer = malloc(asked.answer_bytes);
			assert_non_null(mutant.answer);
			memcpy(mutant.answer, asked.answer, asked.answer_bytes);
			if (corrupt(&mutant, &seed) && !still_so(&mutant, &asked)) {
				ret = check(&mutant, report);
				if (ret != -EBADMSG)
					fail_msg("instance %u: mutant %u: %d %s", at, mutants, ret,
						 report);
				assert_string_not_equal(report, "");
				mutants++;
			}
			free(mutant.answer);
		}
		forget(&asked);
	}
}

static void truncated_plans_are_malformed(void **state)
{
	char report[256];
	struct asked asked;

	(void)state;
	draw(1);
	asked = solve(0);
	assert_int_equal(check(&asked, report), 0);
	asked.answer_bytes -= 4;
	assert_int_equal(check(&asked, report), -EINVAL);
	asked.answer_bytes += 4;
	asked.problem[HEAD] = 0;
	assert_int_equal(check(&asked, report), -EINVAL);
	assert_string_equal(report, "the problem is malformed");
	forget(&asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_is_answered_is_so),
		cmocka_unit_test(mutants_are_rejected),
		cmocka_unit_test(truncated_plans_are_malformed),
	};

	return cmocka_run_group_tests_name("bandwidth_check", tests, begin, end);
}
