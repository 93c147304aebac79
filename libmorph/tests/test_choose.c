// SPDX-License-Identifier: LGPL-2.1-or-later
/* Algorithms and their parameters, chosen together with circuits. */
#include "../internal/planner.h"
#include "scheduling.h"

#define MIB (1 << 20)

/* The chosen plan ends no later than any single algorithm, and the rounds are those of the plan. */
static void algorithm_and_circuits_are_chosen_together(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2);
	MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_REDUCE, .ranks = 8);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_choice choices[MORPH_ALGORITHMS];
	uint32_t chosen[2] = { 0 };

	(void)state;
	for (uint32_t large = 0; large < 2; large++) {
		uint64_t soonest = UINT64_MAX;

		wanted.bytes = large ? 256 * MIB : 64;
		assert_int_equal(morph_schedule_choose(schedule, collective, &wanted, delay, &opts,
						       choices),
				 0);
		assert_valid(collective, delay, 2, NULL, schedule);
		for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++) {
			if (!choices[at].algorithm || choices[at].ns >= soonest)
				continue;
			soonest = choices[at].ns;
			chosen[large] = at;
		}
		assert_int_equal(morph_schedule_ns(schedule, NULL), soonest);
		assert_int_equal(morph_collective_rounds(collective),
				 choices[chosen[large]].rounds);
	}
	/* Few rounds for small buffers, few bytes for large ones. */
	assert_int_not_equal(chosen[0], chosen[1]);
	wanted.algorithm = MORPH_RING;
	assert_int_equal(morph_schedule_choose(schedule, collective, &wanted, delay, &opts, NULL),
			 0);
	assert_int_equal(morph_collective_rounds(collective), 14);
	morph_delay_free(delay);
	morph_collective_free(collective);
	morph_schedule_free(schedule);
}

static void assert_none(const struct morph_collective_opts *wanted, int error, const char *why)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);

	assert_int_equal(morph_schedule_choose(schedule, collective, wanted, delay, &opts, NULL),
			 error);
	assert_string_equal(morph_error_text(ctx), why);
	morph_delay_free(delay);
	morph_collective_free(collective);
	morph_schedule_free(schedule);
}

/*
 * An algorithm that exceeds a limit has another reason than one that does not support the
 * collective.
 */
static void unsupported_collectives_are_refused_with_the_reason(void **state)
{
	const uint64_t matrix[4] = { 0, 1ULL << 51, 1, 0 };
	MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_TO_ALL, .ranks = 2,
		   .matrix = matrix);

	(void)state;
	assert_none(&wanted, -E2BIG,
		    "a chunk has at most 1125899906842624 bytes, not 2251799813685248");
	wanted.kind = MORPH_BROADCAST;
	wanted.matrix = NULL;
	wanted.root = 2;
	assert_none(&wanted, -EINVAL, "no algorithm supports a broadcast with 2 ranks");
	wanted.kind = 77;
	assert_none(&wanted, -EINVAL, "unknown kind of collective 77");
}

/* The end of a collective by the wanted algorithm. */
static uint64_t ends(struct morph_collective_opts wanted, const struct morph_schedule_opts *opts,
		     struct morph_choice *choices)
{
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	uint64_t ns;

	assert_int_equal(morph_schedule_choose(schedule, collective, &wanted, delay, opts, choices),
			 0);
	ns = morph_schedule_ns(schedule, NULL);
	morph_delay_free(delay);
	morph_collective_free(collective);
	morph_schedule_free(schedule);
	return ns;
}

/*
 * A binary tree with one segment takes three times as long as with the best number. The search
 * finds that number without trying all.
 */
static void best_number_of_segments_is_chosen(void **state)
{
	(void)state;
	for (uint64_t bytes = 1; bytes <= 256 * MIB; bytes *= 64)
		for (uint32_t planes = 1; planes <= 2; planes++) {
			MORPH_OPTS(morph_schedule_opts, opts, .planes = planes);
			MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_BROADCAST,
				   .algorithm = MORPH_BINARY, .ranks = 33, .bytes = bytes);
			struct morph_choice choices[MORPH_ALGORITHMS];
			uint64_t found = ends(wanted, &opts, choices), best = UINT64_MAX;

			assert_true(choices[MORPH_BINARY].chosen);
			wanted.segments = choices[MORPH_BINARY].segments;
			assert_int_equal(ends(wanted, &opts, NULL), found);
			for (wanted.segments = 1;
			     wanted.segments <= 256 && wanted.segments <= bytes;
			     wanted.segments *= 2) {
				uint64_t ns = ends(wanted, &opts, NULL);

				best = ns < best ? ns : best;
			}
			if (found > best + best / 8)
				fail_msg(
					"%llu bytes, %u planes: %llu ns in %u segments, the best is %llu",
					(unsigned long long)bytes, planes,
					(unsigned long long)found, choices[MORPH_BINARY].segments,
					(unsigned long long)best);
		}
}

/* One radix for each number of ports and for few bytes; a given radix is kept. */
static void radix_is_the_best_of_some(void **state)
{
	uint32_t others = 0;

	(void)state;
	for (uint32_t planes = 1; planes <= 4; planes++)
		for (uint64_t bytes = 64; bytes <= 256 * MIB; bytes *= 64) {
			MORPH_OPTS(morph_schedule_opts, opts, .planes = planes);
			MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_TO_ALL,
				   .algorithm = MORPH_BRUCK, .ranks = 27, .bytes = bytes);
			uint32_t radices[] = { 2, planes + 1, 6 };
			struct morph_choice choices[MORPH_ALGORITHMS];
			uint64_t found = ends(wanted, &opts, choices), best = UINT64_MAX;

			for (uint32_t at = 0; at < 3; at++) {
				uint64_t ns;

				wanted.radix = radices[at];
				ns = ends(wanted, &opts, NULL);
				best = ns < best ? ns : best;
			}
			assert_int_equal(found, best);
			others += choices[MORPH_BRUCK].radix != 2;
			wanted.radix = 5;
			ends(wanted, &opts, choices);
			assert_int_equal(choices[MORPH_BRUCK].radix, 5);
		}
	assert_true(others > 4);
}

/*
 * Without extents, rings use the better of two tori. That is faster than one ring if rounds are
 * long and changes are short.
 */
static void rings_go_along_the_best_of_two_tori(void **state)
{
	static const uint32_t tori[][2][3] = { { { 6, 6 }, { 4, 3, 3 } },
					       { { 6, 4 }, { 4, 3, 2 } },
					       { { 7, 3 }, { 7, 3 } } };
	static const uint32_t ranks[] = { 36, 24, 21 };

	(void)state;
	for (uint32_t at = 0; at < ARRAY_SIZE(ranks); at++) {
		MORPH_OPTS(morph_schedule_opts, opts, .planes = 2);
		MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_REDUCE,
			   .ranks = ranks[at], .bytes = 65536);
		struct morph_choice choices[MORPH_ALGORITHMS], rings[MORPH_ALGORITHMS];
		uint64_t found = ends(wanted, &opts, choices), best = UINT64_MAX;

		assert_true(choices[MORPH_RINGS].chosen);
		assert_true(found < choices[MORPH_RING].ns);
		wanted.algorithm = MORPH_RINGS;
		assert_int_equal(ends(wanted, &opts, rings), found);
		for (uint32_t torus = 0; torus < 2; torus++) {
			uint64_t ns;

			memcpy(wanted.extent, tori[at][torus], sizeof(wanted.extent));
			ns = ends(wanted, &opts, rings);
			assert_memory_equal(rings[MORPH_RINGS].extent, wanted.extent,
					    sizeof(wanted.extent));
			if (ns == found)
				assert_int_equal(choices[MORPH_RINGS].rounds,
						 rings[MORPH_RINGS].rounds);
			best = ns < best ? ns : best;
		}
		assert_int_equal(found, best);
	}
}

static void a_prime_of_ranks_is_on_no_torus(void **state)
{
	MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_GATHER, .ranks = 7,
		   .bytes = 7000);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_choice choices[MORPH_ALGORITHMS];

	(void)state;
	ends(wanted, NULL, choices);
	assert_int_equal(choices[MORPH_RINGS].algorithm, 0);
	wanted.algorithm = MORPH_RINGS;
	assert_int_equal(morph_schedule_choose(schedule, collective, &wanted, delay, NULL, NULL),
			 -EINVAL);
	assert_string_equal(morph_error_text(ctx), "no torus of two dimensions has 7 ranks");
	morph_delay_free(delay);
	morph_collective_free(collective);
	morph_schedule_free(schedule);
}

/* The end of the collective if the last rank is late by this time. */
static uint64_t ends_late(const struct morph_choice *choice, uint64_t late_ns)
{
	return choice->ns + (late_ns > choice->alone_ns ? late_ns - choice->alone_ns : 0);
}

/* Circuits lit at the start never make the end later than a dark start. */
static void lit_circuits_never_delay_a_late_rank(void **state)
{
	MORPH_OPTS(morph_collective_opts, first, .kind = MORPH_ALL_TO_ALL, .ranks = 8,
		   .bytes = 3670016);
	MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_REDUCE, .ranks = 8);
	struct morph_collective *rounds = morph_collective_new(ctx);
	struct morph_schedule *before = morph_schedule_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_choice choices[MORPH_ALGORITHMS];
	struct morph_delay *delay = morph_delay_new(ctx);
	const uint64_t settle_ns = 155577;

	(void)state;
	assert_int_equal(morph_delay_set_link(delay, 1, 309, 100000), 0);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle_ns, 1), 0);
	for (uint32_t at = 0; at < 12; at++) {
		MORPH_OPTS(morph_schedule_opts, opts, .planes = 1 + at % 2);
		uint64_t ends[2] = { 0 };

		assert_int_equal(morph_schedule_choose(before, rounds, &first, delay, &opts, NULL),
				 0);
		wanted.bytes = 65536ULL << at / 2;
		wanted.late_ns = 429297;
		for (uint32_t lit = 0; lit < 2; lit++) {
			opts.after = lit ? before : NULL;
			assert_int_equal(morph_schedule_choose(schedule, rounds, &wanted, delay,
							       &opts, choices),
					 0);
			assert_valid(rounds, delay, opts.planes, opts.after, schedule);
			for (uint32_t one = 1; one < MORPH_ALGORITHMS; one++)
				if (choices[one].chosen)
					ends[lit] = ends_late(&choices[one], wanted.late_ns);
		}
		assert_true(ends[1] && ends[1] <= ends[0]);
	}
	morph_delay_free(delay);
	morph_schedule_free(before);
	morph_schedule_free(schedule);
	morph_collective_free(rounds);
}

/*
 * StragglAR is chosen from the delay on from which the reported rule says that it pays. In any case
 * the chosen algorithm ends first.
 */
static void a_late_rank_is_not_waited_for_where_that_pays(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_REDUCE, .ranks = 8,
		   .bytes = 256 * MIB);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_choice choices[MORPH_ALGORITHMS];
	struct morph_payoff payoff;

	(void)state;
	assert_int_equal(
		morph_schedule_payoff(schedule, collective, &wanted, delay, &opts, &payoff), 0);
	assert_true(payoff.pays_ns > 1000 && payoff.pays_ns < payoff.late_ns);
	for (uint32_t at = 0; at < 5; at++) {
		uint64_t lateness[] = { 0, payoff.pays_ns - 2, payoff.pays_ns + 2, payoff.late_ns,
					1ULL << 40 };
		bool pays = lateness[at] > payoff.pays_ns;

		wanted.late_ns = lateness[at];
		assert_int_equal(morph_schedule_choose(schedule, collective, &wanted, delay, &opts,
						       choices),
				 0);
		assert_int_equal(choices[MORPH_STRAGGLAR].chosen, pays);
		assert_int_equal(choices[MORPH_STRAGGLAR].policy != 0, lateness[at] != 0);
		assert_valid(collective, delay, 1, NULL, schedule);
		for (uint32_t one = 1; one < MORPH_ALGORITHMS; one++)
			for (uint32_t other = 1; other < MORPH_ALGORITHMS; other++)
				if (choices[one].chosen && choices[other].policy)
					assert_true(ends_late(&choices[one], lateness[at]) <=
						    ends_late(&choices[other], lateness[at]));
	}
	assert_int_equal(choices[MORPH_STRAGGLAR].alone_ns, payoff.late_ns);
	wanted.late_ns++;
	assert_int_equal(morph_schedule_choose(schedule, collective, &wanted, delay, &opts, NULL),
			 -EINVAL);
	assert_non_null(
		strstr(morph_error_text(ctx), "late rank must be at most 1099511627776 ns"));
	/* A collective that begins at one rank waits for no other rank. */
	wanted.kind = MORPH_BROADCAST;
	wanted.late_ns = 5000000;
	assert_int_equal(
		morph_schedule_choose(schedule, collective, &wanted, delay, &opts, choices), 0);
	assert_int_equal(choices[MORPH_STRAGGLAR].algorithm, 0);
	assert_int_equal(choices[MORPH_BINOMIAL].alone_ns, 0);
	morph_delay_free(delay);
	morph_collective_free(collective);
	morph_schedule_free(schedule);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(algorithm_and_circuits_are_chosen_together),
		cmocka_unit_test(unsupported_collectives_are_refused_with_the_reason),
		cmocka_unit_test(best_number_of_segments_is_chosen),
		cmocka_unit_test(radix_is_the_best_of_some),
		cmocka_unit_test(rings_go_along_the_best_of_two_tori),
		cmocka_unit_test(a_prime_of_ranks_is_on_no_torus),
		cmocka_unit_test(a_late_rank_is_not_waited_for_where_that_pays),
		cmocka_unit_test(lit_circuits_never_delay_a_late_rank),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
