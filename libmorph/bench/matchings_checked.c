// SPDX-License-Identifier: LGPL-2.1-or-later
/* Answers of the search for matchings, as the checker reads them. */
#include <errno.h>
#include <stdlib.h>

#include "matchings_checked.h"

/* The problem, the bound and the refusal. */
static struct morph_check_matchings_input input_of(const struct morph_matchings_problem *problem,
						   const struct morph_matchings_answer *answer,
						   struct morph_check_bytes profile)
{
	return (struct morph_check_matchings_input){
		.kind = problem->kind,
		.profile = profile,
		.width = problem->width,
		.height = problem->height,
		.endpoints = problem->endpoints,
		.tx = answer->tx,
		.rx = answer->rx,
		.targets = problem->targets,
		.ports_chosen = !problem->tx,
		.hops = answer->hops_most,
		.failed = problem->failed,
		.failed_count = problem->failed_count,
		.stuck = problem->stuck,
		.stuck_states = problem->stuck_states,
		.stuck_count = problem->stuck_count,
		.bound = answer->bound,
		.bound_kind = answer->bound_kind,
		.lengths = answer->lengths,
		.lengths_count = answer->lengths_count,
		.cut = answer->cut,
		.cut_count = answer->cut_count,
		/* Without a bound, two endpoints have no route. */
		.limit = answer->bound ? problem->rounds : 0,
		.src = answer->src,
		.dst = answer->dst,
	};
}

static void add_rounds(struct morph_check_matchings_input *input,
		       const struct morph_matchings_answer *answer,
		       struct morph_check_matchings_circuit *circuits, uint32_t *elements)
{
	uint32_t count = answer->round_first[answer->rounds], hops = 0, at;

	for (at = 0; at < count; at++) {
		const struct morph_matchings_circuit *circuit = &answer->circuits[at];

		circuits[at] = (struct morph_check_matchings_circuit){ circuit->src, circuit->dst,
								       circuit->first,
								       circuit->count };
		hops += circuit->count;
	}
	for (at = 0; at < hops; at++)
		elements[at] = answer->hops[at].element;
	input->circuits = circuits;
	input->elements = elements;
	input->rounds = answer->rounds;
	input->round_first = answer->round_first;
	input->states = answer->states;
	input->distance = answer->distance;
	input->total = answer->total;
	input->longest = answer->longest;
}

int check_matchings(const struct morph_matchings_problem *problem,
		    const struct morph_matchings_answer *answer, struct morph_check_bytes profile,
		    char *report, size_t room)
{
	struct morph_check_matchings_input input = input_of(problem, answer, profile);
	bool feasible = answer->verdict == MORPH_FEASIBLE;
	size_t count = feasible ? answer->round_first[answer->rounds] : 0;
	struct morph_check_matchings_circuit *circuits = calloc(count + 1, sizeof(*circuits));
	uint32_t *elements = calloc(answer->total + 1, sizeof(*elements));
	int ret = -ENOMEM;

	if (circuits && elements) {
		if (feasible)
			add_rounds(&input, answer, circuits, elements);
		ret = morph_check_matchings(&input, report, room);
	}
	free(circuits);
	free(elements);
	return ret;
}
