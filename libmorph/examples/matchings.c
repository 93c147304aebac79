// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Join all pairs of endpoints of a hexagonal mesh, with as few rounds as possible:
 *
 *	matchings WIDTH HEIGHT ENDPOINTS
 *
 * The endpoints are spread evenly over the ports of the rim, and each uses one port both ways. The
 * program prints the number of rounds and its lower bound, and the pairs of each round with the
 * number of elements that their light passes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <morph/plan.h>

static void print_rounds(const struct morph_matchings_answer *answer)
{
	printf("%" PRIu32 " rounds (at least %" PRIu32 "), longest route %" PRIu32 " elements\n",
	       answer->rounds, answer->bound, answer->longest);
	for (uint32_t round = 0; round < answer->rounds; round++) {
		printf("round %" PRIu32 ":", round);
		for (uint32_t at = answer->round_first[round]; at < answer->round_first[round + 1];
		     at++) {
			const struct morph_matchings_circuit *circuit = &answer->circuits[at];

			printf(" %" PRIu32 "-%" PRIu32 " (%" PRIu32 ")", circuit->src, circuit->dst,
			       circuit->count);
		}
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	MORPH_OPTS(morph_matchings_problem, problem, .kind = MORPH_MATCHINGS_PAIRS, .seed = 1);
	uint32_t ports[MORPH_MATCHINGS_MOST_ENDPOINTS], rim;
	struct morph_matchings_answer answer;
	struct morph_matchings *matchings;
	struct morph_ctx *ctx;
	int status = 1;

	if (argc != 4) {
		fprintf(stderr, "usage: matchings WIDTH HEIGHT ENDPOINTS\n");
		return 2;
	}
	problem.width = (uint32_t)atoi(argv[1]);
	problem.height = (uint32_t)atoi(argv[2]);
	problem.endpoints = (uint32_t)atoi(argv[3]);
	rim = 4 * (problem.width + problem.height);
	for (uint32_t at = 0; at < problem.endpoints && at < MORPH_MATCHINGS_MOST_ENDPOINTS; at++)
		ports[at] = at * rim / problem.endpoints;
	problem.tx = ports;
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	matchings = morph_matchings_new(ctx);
	if (!matchings || morph_matchings_find(matchings, &problem, &answer))
		fprintf(stderr, "%s\n", morph_error_text(ctx));
	else if (answer.verdict == MORPH_INFEASIBLE)
		printf("no route from %" PRIu32 " to %" PRIu32 "\n", answer.src, answer.dst);
	else
		status = 0;
	if (!status)
		print_rounds(&answer);
	morph_matchings_free(matchings);
	morph_ctx_free(ctx);
	return status;
}
