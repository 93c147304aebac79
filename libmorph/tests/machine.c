// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Numbers of answers of the search for matchings. The Makefile compares those of this machine with
 * those of a big-endian machine. No cross library has libnl, so this file replaces the functions
 * that the search calls in other parts of the library.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../internal/planner.h"
#include "../model/model.h"

#define MOST 32 /* endpoints */

int morph_error_set(struct morph_ctx *ctx, int code, const char *format, ...)
{
	va_list arguments;

	(void)ctx;
	if (!code)
		return 0;
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	exit(1);
}

struct morph_model *morph_model_get(struct morph_model *model)
{
	return model;
}

void morph_model_put(struct morph_model *model)
{
	(void)model;
}

const struct optics_graph *lm_model_graph(const struct morph_model *model)
{
	(void)model;
	return NULL;
}

/* ------------------------------------------------------------------ */

static uint64_t digest;

/* FNV-1a of numbers, whatever their size in memory. */
static void mix(uint64_t number)
{
	for (uint32_t at = 0; at < 8; at++)
		digest = (digest ^ (number >> 8 * at & 0xff)) * 1099511628211;
}

static void mix_rounds(const struct morph_matchings_answer *answer)
{
	uint32_t count = answer->round_first[answer->rounds];

	for (uint32_t at = 0; at < count; at++) {
		mix(answer->circuits[at].src);
		mix(answer->circuits[at].dst);
	}
	for (uint64_t at = 0; at < answer->total; at++) {
		mix(answer->hops[at].element);
		mix(answer->hops[at].entry);
		mix(answer->hops[at].state);
	}
	for (uint32_t at = 0; at < answer->rounds * answer->elements; at++)
		mix(answer->states[at]);
}

/* Print numbers of an answer, and a digest of its arrays. */
static void print(const struct morph_matchings_problem *problem,
		  const struct morph_matchings_answer *answer)
{
	digest = 14695981039346656037ULL;
	for (size_t at = 0; at < answer->lengths_count; at++)
		mix(answer->lengths[at]);
	for (size_t at = 0; at < answer->cut_count; at++)
		mix(answer->cut[at]);
	for (uint32_t at = 0; at < problem->endpoints; at++)
		mix(answer->tx[at]);
	if (answer->verdict == MORPH_FEASIBLE)
		mix_rounds(answer);
	printf("%ux%u kind %u, %u endpoints: verdict %u, rounds %u, bound %u of kind %u, ",
	       problem->width, problem->height, problem->kind, problem->endpoints, answer->verdict,
	       answer->rounds, answer->bound, answer->bound_kind);
	printf("elements %llu, writes %llu, moves %llu, pair %u-%u, %016llx\n",
	       (unsigned long long)answer->total, (unsigned long long)answer->writes,
	       (unsigned long long)answer->moves, answer->src, answer->dst,
	       (unsigned long long)digest);
}

static const struct {
	uint32_t kind, width, height, endpoints, failed; /* MORPH_ANY: none */
	bool given; /* evenly spread ports */
} problems[] = {
	{ MORPH_MATCHINGS_PAIRS, 5, 5, 16, MORPH_ANY, true },
	{ MORPH_MATCHINGS_PAIRS, 9, 9, 32, MORPH_ANY, true },
	{ MORPH_MATCHINGS_DIRECTED, 5, 5, 9, MORPH_ANY, true },
	{ MORPH_MATCHINGS_DUPLEX, 5, 5, 8, MORPH_ANY, true },
	{ MORPH_MATCHINGS_PAIRS, 7, 3, 16, MORPH_ANY, false },
	{ MORPH_MATCHINGS_PAIRS, 1, 3, 8, MORPH_ANY, false },
	{ MORPH_MATCHINGS_DIRECTED, 1, 2, 5, MORPH_ANY, false },
	{ MORPH_MATCHINGS_PAIRS, 1, 4, 9, MORPH_ANY, true },
	{ MORPH_MATCHINGS_PAIRS, 3, 3, 8, 5, true },
	{ MORPH_MATCHINGS_DIRECTED, 3, 3, 6, 14, true },
	{ MORPH_MATCHINGS_DUPLEX, 3, 3, 8, 3, true },
};

int main(void)
{
	struct morph_matchings *search = morph_matchings_new(NULL);
	struct morph_matchings_answer answer;
	uint32_t tx[MOST], rx[MOST];

	for (size_t row = 0; row < sizeof(problems) / sizeof(problems[0]); row++) {
		uint32_t ports = 4 * (problems[row].width + problems[row].height);
		uint32_t count = problems[row].endpoints;
		bool pairs = problems[row].kind == MORPH_MATCHINGS_PAIRS;
		struct morph_matchings_problem problem = {
			.sz = sizeof(problem),
			.kind = problems[row].kind,
			.width = problems[row].width,
			.height = problems[row].height,
			.endpoints = count,
			.tx = problems[row].given ? tx : NULL,
			.rx = problems[row].given && !pairs ? rx : NULL,
			.failed = &problems[row].failed,
			.failed_count = problems[row].failed != MORPH_ANY,
			.seed = 1,
			.moves = 3000,
		};

		for (uint32_t at = 0; at < count; at++) {
			tx[at] = pairs ? at * ports / count : 2 * at * ports / (2 * count);
			rx[at] = (2 * at + 1) * ports / (2 * count);
		}
		if (morph_matchings_find(search, &problem, &answer))
			return 1;
		print(&problem, &answer);
	}
	morph_matchings_free(search);
	return 0;
}
