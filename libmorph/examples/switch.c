// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Use a hexagonal mesh of 7x3 cells as a switch:
 *
 *	switch TARGET...
 *
 * There are six receivers, 0 to 5, and a sender for each TARGET, the receiver of its light. The
 * program prints the elements to set and their states.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <morph/plan.h>

#define SENDERS 6
#define RECEIVERS 6

static void print_states(const struct morph_matchings_answer *answer)
{
	printf("%" PRIu32 " round%s (at least %" PRIu32 "), longest route %" PRIu32 " elements\n",
	       answer->rounds, answer->rounds == 1 ? "" : "s", answer->bound, answer->longest);
	for (uint32_t round = 0; round < answer->rounds; round++) {
		const uint16_t *states = answer->states + round * answer->elements;

		printf("round %" PRIu32 ":", round);
		for (uint32_t element = 0; element < answer->elements; element++) {
			if (states[element] != MORPH_MATCHINGS_ANY)
				printf(" %" PRIu32 "=%s", element,
				       states[element] ? "cross" : "bar");
		}
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	MORPH_OPTS(morph_matchings_problem, problem, .width = 7, .height = 3,
		   .endpoints = SENDERS + RECEIVERS, .seed = 1);
	uint32_t tx[SENDERS + RECEIVERS] = { 4, 5, 7, 10, 15, 20 }, rx[SENDERS + RECEIVERS];
	static const uint32_t receivers[RECEIVERS] = { 22, 27, 32, 35, 36, 38 };
	uint32_t targets[SENDERS + RECEIVERS];
	struct morph_matchings_answer answer;
	struct morph_matchings *matchings;
	struct morph_ctx *ctx;
	int status = 1;

	if (argc < 2 || argc > SENDERS + 1) {
		fprintf(stderr, "usage: switch TARGET...\n");
		return 2;
	}
	for (uint32_t at = 0; at < SENDERS + RECEIVERS; at++) {
		targets[at] = MORPH_ANY;
		if (at + 1 < (uint32_t)argc)
			targets[at] = SENDERS + (uint32_t)atoi(argv[at + 1]);
		if (at >= SENDERS)
			tx[at] = MORPH_ANY;
		rx[at] = at < SENDERS ? MORPH_ANY : receivers[at - SENDERS];
	}
	problem.tx = tx;
	problem.rx = rx;
	problem.targets = targets;
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	matchings = morph_matchings_new(ctx);
	if (!matchings || morph_matchings_find(matchings, &problem, &answer))
		fprintf(stderr, "%s\n", morph_error_text(ctx));
	else
		status = 0;
	if (!status && answer.rounds)
		print_states(&answer);
	morph_matchings_free(matchings);
	morph_ctx_free(ctx);
	return status;
}
