// SPDX-License-Identifier: LGPL-2.1-or-later
/* Matrices from random choices of tokens. */
#include <string.h>

#include "random.h"
#include "tokens.h"

/* Probability of each expert. */
static void popularity(const struct tokens *tokens, uint64_t *random, double *shares)
{
	uint32_t order[TOKENS_EXPERTS];
	double sum = 0;

	for (uint32_t at = 0; at < tokens->experts; at++) {
		uint32_t other = random_below(random, at + 1);

		order[at] = order[other];
		order[other] = at;
	}
	for (uint32_t at = 0; at < tokens->experts; at++) {
		shares[order[at]] = pow(at + 1, -tokens->skew);
		sum += shares[order[at]];
	}
	for (uint32_t at = 0; at < tokens->experts; at++)
		shares[at] /= sum;
}

/* The expert at a position in the cumulative sums. */
static uint32_t expert_at(const double *sums, uint32_t experts, double where)
{
	uint32_t low = 0, high = experts - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (sums[middle] > where)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Choose different experts; repeated ones are drawn again. */
static void choose(const struct tokens *tokens, uint64_t *random, const double *sums, uint64_t *row)
{
	uint64_t chosen[TOKENS_EXPERTS / 64] = { 0 };

	for (uint32_t count = 0; count < tokens->chosen;) {
		double where = random_unit(random) * sums[tokens->experts - 1];
		uint32_t expert = expert_at(sums, tokens->experts, where);

		if (chosen[expert / 64] >> expert % 64 & 1)
			continue;
		chosen[expert / 64] |= 1ULL << expert % 64;
		row[expert * tokens->ranks / tokens->experts] += tokens->bytes;
		count++;
	}
}

void tokens_matrix(const struct tokens *tokens, uint64_t seed, uint64_t *matrix)
{
	double common[TOKENS_EXPERTS] = { 0 }, own[TOKENS_EXPERTS] = { 0 };
	uint64_t random = seed;

	memset(matrix, 0, (size_t)tokens->ranks * tokens->ranks * sizeof(*matrix));
	popularity(tokens, &random, common);
	for (uint32_t rank = 0; rank < tokens->ranks; rank++) {
		uint64_t *row = matrix + (size_t)rank * tokens->ranks;

		popularity(tokens, &random, own);
		own[0] += common[0];
		for (uint32_t expert = 1; expert < tokens->experts; expert++)
			own[expert] += common[expert] + own[expert - 1];
		for (uint32_t token = 0; token < tokens->tokens; token++)
			choose(tokens, &random, own, row);
		row[rank] = 0;
	}
}
