// SPDX-License-Identifier: GPL-2.0-or-later
/* Ask the published program and our planner about the same racks. */
#include <string.h>

#include "../../libmorph/bench/proof.h"
#include "../../libmorph/bench/published_place.h"
#include "../../libmorph/place/stitch.h"
#include "ilp.h"

#define FIBRES 4 /* a circuit between servers takes all fibres of a link */
#define STITCH_STEPS 50000000

/* A question about a rack. */
struct question {
	struct pattern pattern;
	struct net links, left; /* of an empty rack, and of this one */
	uint64_t free;
};

static uint32_t taken(const struct question *question, uint32_t from, uint32_t to)
{
	return question->links.room[from][to] - question->left.room[from][to];
}

/* Check a plan whose links may each carry @load circuits. An invalid plan ends the program. */
static void go_through(const struct question *question, uint32_t load, const uint8_t *seats,
		       const struct routes *routes)
{
	struct proof_rack rack = { .sites = RACK_SITES,
				   .bands = 1,
				   .slots = question->pattern.slots,
				   .free = question->free };
	static struct proof_way ways[PATTERN_DEMANDS];

	for (uint32_t from = 0; from < RACK_SITES; from++)
		for (uint32_t to = 0; to < RACK_SITES; to++)
			if (question->links.room[from][to])
				rack.room[0][from][to] =
					(uint8_t)(load - taken(question, from, to));
	for (uint32_t from = 0; from < rack.slots; from++)
		memcpy(rack.units[from], question->pattern.units[from], rack.slots);
	for (uint32_t at = 0; at < routes->count; at++)
		ways[at] = (struct proof_way){ .units = routes->list[at].units,
					       .hops = routes->list[at].hops,
					       .sites = routes->list[at].sites };
	if (!proof_of_plan(&rack, seats, ways, routes->count))
		repro_wrong("a plan for a rack is not valid");
}

static uint32_t fullest(const struct question *question, const struct routes *routes)
{
	uint32_t loads[RACK_SITES][RACK_SITES], most = 0;

	for (uint32_t from = 0; from < RACK_SITES; from++)
		for (uint32_t to = 0; to < RACK_SITES; to++)
			loads[from][to] = taken(question, from, to);
	for (uint32_t at = 0; at < routes->count; at++)
		for (uint32_t hop = 0; hop < routes->list[at].hops; hop++)
			loads[routes->list[at].sites[hop]][routes->list[at].sites[hop + 1]] +=
				routes->list[at].units;
	for (uint32_t from = 0; from < RACK_SITES; from++)
		for (uint32_t to = 0; to < RACK_SITES; to++)
			most = loads[from][to] > most ? loads[from][to] : most;
	return most;
}

static void ask_ours(const struct question *question, struct ilp_answer *answer)
{
	static struct stitch stitch;
	uint32_t load;

	switch (lm_stitch(&stitch, &question->left, &question->pattern, question->free,
			  STITCH_STEPS)) {
	case STITCH_INFEASIBLE:
		return;
	case STITCH_FEASIBLE:
		load = fullest(question, &stitch.routes);
		go_through(question, load, stitch.embedding.sites, &stitch.routes);
		answer->ours = true;
		answer->our_fibres = FIBRES * load;
		return;
	default:
		repro_wrong("the planner left a rack undecided");
	}
}

static void ask_program(const struct question *question, const struct ilp_effort *effort,
			struct ilp_answer *answer)
{
	const struct published_place place = { .links = &question->links,
					       .left = &question->left,
					       .pattern = &question->pattern,
					       .free = question->free,
					       .ways_shortest = effort->ways_shortest,
					       .ways_kept = effort->ways_kept,
					       .nodes = effort->nodes,
					       .no_cuts = effort->no_cuts };
	static struct published_plan plan;

	published_place(&place, &plan);
	answer->within = plan.bound > 1 ? ILP_NO : ILP_UNDECIDED;
	answer->planned = plan.found;
	if (!plan.found)
		return;
	go_through(question, plan.load, plan.seats, &plan.routes);
	answer->fibres = FIBRES * plan.load;
	if (plan.load <= 1)
		answer->within = ILP_YES;
}

void ilp_ask(const struct racks *racks, uint32_t rack, const struct ilp_effort *effort,
	     struct ilp_answer *answer)
{
	static const struct racks empty;
	static struct question question;

	memset(answer, 0, sizeof(*answer));
	lm_pattern_torus(&question.pattern, 1, 2, 4, 1);
	lm_pattern_prepare(&question.pattern);
	racks_net(&empty, 0, 1, &question.links);
	racks_net(racks, rack, 1, &question.left);
	question.free = racks_free(racks, rack);
	ask_ours(&question, answer);
	ask_program(&question, effort, answer);
	if (answer->within == ILP_YES && !answer->ours)
		repro_wrong("the planner refused a rack that has a plan");
}
