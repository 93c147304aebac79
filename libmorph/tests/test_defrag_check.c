// SPDX-License-Identifier: LGPL-2.1-or-later
/* The checker rejects each corrupted answer and refusal of defragmentation. */
#include <stdio.h>

#include "corner.h"

#define HEAD 5 /* words of the wire form */

/* Positions of the parts of a written answer. */
struct parts {
	uint32_t *head, *ranks, *steps, *changes, *strands, *tenants, *refusals, *metrics, *lengths;
};

static struct parts find_parts(const struct answer *answer)
{
	struct parts parts = { .head = (uint32_t *)answer->blobs[3] + HEAD };

	parts.ranks = parts.head + 14;
	parts.steps = parts.ranks + 2 * parts.head[2];
	parts.changes = parts.steps + 4 * parts.head[7];
	parts.strands = parts.changes + 3 * parts.head[8];
	parts.tenants = parts.strands + MORPH_WIRE_STRAND * parts.head[9];
	parts.refusals = parts.tenants + 5 * parts.head[10];
	parts.metrics = parts.refusals + 6 * parts.head[11];
	parts.lengths = parts.metrics + 2 * parts.head[12];
	return parts;
}

/* Corrupt an answer or its ledger, so that the answer is invalid. */
static void corrupt(struct answer *answer, uint64_t *seed)
{
	struct parts it = find_parts(answer);
	uint32_t steps = it.head[7], changes = it.head[8], strands = it.head[9];
	uint32_t step = random_below(seed, steps), strand = random_below(seed, strands);
	uint32_t *held = (uint32_t *)answer->blobs[0] + HEAD + 3;
	uint32_t *ledger = (uint32_t *)answer->blobs[0] + HEAD;
	uint32_t *guide = held + 2 * ledger[0] + ledger[1];
	uint32_t code = it.strands[MORPH_WIRE_STRAND * strand + 1],
		 rank = random_below(seed, it.head[2]);

	switch (random_below(seed, 20)) {
	case 0: /* figures */
		it.head[4] += 1;
		break;
	case 1:
		it.head[6] += 1;
		break;
	case 2:
		it.head[5] = it.head[4] + 1;
		break;
	case 3:
		it.tenants[0] += 100;
		break;
	case 4:
		it.tenants[1 + random_below(seed, 2)] += 1;
		break;
	case 5:
		it.tenants[3] ^= 1;
		break;
	case 6: /* ranks */
		it.ranks[2 * rank] = 64 + random_below(seed, 8); /* a spare */
		break;
	case 7:
		it.ranks[2 * rank] = it.ranks[2 * ((rank + 1) % it.head[2])];
		break;
	case 8:
		held[2 * it.ranks[2 * rank]] = 1000; /* another's */
		break;
	case 9: /* ways */
		it.strands[MORPH_WIRE_STRAND * strand + 1] = code ^ 1;
		break;
	case 10:
		it.strands[MORPH_WIRE_STRAND * strand + 1] = random_below(seed, 1000) | 0x40000000U;
		break;
	case 11:
		it.strands[MORPH_WIRE_STRAND * strand] += 1;
		break;
	case 12:
		guide[3 * (code >> 1)] = 1; /* unusable */
		break;
	case 13:
		it.changes[3 * random_below(seed, changes) + 2] += 1;
		break;
	case 14: /* order */
		it.steps[4 * step] = it.steps[4 * step] % 5 + 1;
		break;
	case 15:
		it.steps[4 * step + 1] += 1000; /* of nobody */
		break;
	case 16:
		it.steps[4 * step + 3] += 1;
		break;
	case 17:
		it.changes[0] += 1000; /* a circuit that is not there */
		break;
	case 18: /* lit by somebody else, or unusable */
		guide[3 * (code >> 1) + (guide[3 * (code >> 1) + 1] ? 0 : 1)] = 1;
		break;
	default:
		it.head[0] = random_below(seed, 2) ? MORPH_INFEASIBLE : 4;
		break;
	}
}

static void mutants_of_answers_are_rejected(void **state)
{
	struct corner corner;
	uint32_t mutants = 0;
	uint64_t seed = 4;
	char report[256];

	corner_begin(&corner, *state);
	while (mutants < 1000) {
		corner_satisfy(&corner, &seed);
		for (uint32_t round = 0; round < 40; round++, mutants++) {
			struct answer answer;

			answer_write(&corner, &answer);
			corrupt(&answer, &seed);
			if (!morph_check_defrag(&answer.input, report, sizeof(report)))
				fail_msg("the checker accepted mutant %u as an answer", mutants);
			assert_string_not_equal(report, "");
			answer_free(&answer);
		}
	}
	corner_end(&corner);
}

/* Remove the first step and its changes. */
static void leave_out(struct answer *answer)
{
	struct parts it = find_parts(answer);
	uint32_t *end = (uint32_t *)answer->blobs[3] + answer->input.answer.bytes / 4;
	uint32_t gone = it.steps[3];

	memmove(it.changes, it.changes + 3 * (size_t)gone,
		(size_t)((char *)end - (char *)(it.changes + 3 * (size_t)gone)));
	memmove(it.steps, it.steps + 4,
		(size_t)((char *)(end - 3 * (size_t)gone) - (char *)(it.steps + 4)));
	it.head[7]--;
	it.head[8] -= gone;
	for (uint32_t step = 0; step < it.head[7]; step++)
		it.steps[4 * step + 2] -= gone;
	answer->input.answer.bytes -= 4 * (4 + 3 * (size_t)gone);
	((uint32_t *)answer->blobs[3])[4] = (uint32_t)(answer->input.answer.bytes / 4);
}

/* Circuits of the first step are in the way of later steps. */
static void no_step_can_be_left_out(void **state)
{
	struct corner corner;
	uint32_t in_use = 0;
	uint64_t seed = 5;
	char report[256];

	corner_begin(&corner, *state);
	for (uint32_t round = 0; round < 40; round++) {
		struct answer answer;

		corner_satisfy(&corner, &seed);
		answer_write(&corner, &answer);
		leave_out(&answer);
		assert_int_equal(morph_check_defrag(&answer.input, report, sizeof(report)),
				 -EBADMSG);
		in_use += strstr(report, "is in use") != NULL;
		answer_free(&answer);
	}
	print_message("%u of 40 would have used fibres in use\n", in_use);
	assert_true(in_use > 30);
	corner_end(&corner);
}

/* As corner_satisfy(), for a request that no rerouting satisfies for lack of fibres. */
static void refuse_corner(struct corner *corner, uint64_t *seed)
{
	struct bench *bench = corner->bench;

	for (;;) {
		struct morph_defrag_result result;

		corner_clear(corner);
		corner_choose(corner, 4 + random_below(seed, 3));
		corner_fence(corner, seed, 1 + random_below(seed, 3), 1);
		corner_run(corner, seed, 2 + random_below(seed, 4));
		corner_ask(bench->request, seed);
		assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
		if (!corner_lacks_fibres(corner))
			continue;
		result = corner_solve(corner, 0);
		if (result.verdict == MORPH_INFEASIBLE)
			return;
	}
}

static void mutants_of_refusals_are_rejected(void **state)
{
	struct corner corner;
	uint32_t mutants = 0;
	uint64_t seed = 6;
	char report[256];

	corner_begin(&corner, *state);
	while (mutants < 200) {
		refuse_corner(&corner, &seed);
		for (uint32_t round = 0; round < 10; round++, mutants++) {
			struct answer answer;
			struct parts it;

			answer_write(&corner, &answer);
			it = find_parts(&answer);
			switch (random_below(&seed, 6)) {
			case 0:
				it.refusals[0] += 1 + random_below(&seed, 17);
				break;
			case 1:
				it.refusals[1] = MORPH_WIRE_DOUBT;
				break;
			case 2:
				it.refusals[1] = MORPH_WIRE_COUNT;
				break;
			case 3:
				it.head[0] = MORPH_FEASIBLE;
				break;
			case 4:
				it.refusals[5] += 5000;
				break;
			default: /* of a link that is not there */
				it.lengths[random_below(&seed, 2)] = 64;
				break;
			}
			if (!morph_check_defrag(&answer.input, report, sizeof(report)))
				fail_msg("the checker accepted mutant %u as a proof", mutants);
			answer_free(&answer);
		}
	}
	corner_end(&corner);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(mutants_of_answers_are_rejected),
		TEST(no_step_can_be_left_out),
		TEST(mutants_of_refusals_are_rejected),
#undef TEST
	};

	return placing_run(argc, argv, "defrag_check", tests, ARRAY_SIZE(tests));
}
