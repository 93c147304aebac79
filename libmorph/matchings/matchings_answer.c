// SPDX-License-Identifier: LGPL-2.1-or-later
/* The answer of legal rounds: their order, their circuits and the states of elements. */
#include "matchings.h"

#define PASSES 16 /* of the exchange of rounds in their order */

static int lay_answer(struct morph_matchings *matchings)
{
	const struct rounds *rounds = &matchings->rounds;
	size_t circuits = (size_t)rounds->endpoints * (rounds->endpoints - 1);
	const struct mesh_part parts[] = {
		{ &matchings->circuits, circuits * sizeof(*matchings->circuits) },
		{ &matchings->hops, lm_rounds_total(rounds) * sizeof(*matchings->hops) },
		{ &matchings->round_first, (rounds->rounds + 1) * sizeof(uint32_t) },
		{ &matchings->order, rounds->rounds * sizeof(uint32_t) },
		{ &matchings->writes, (size_t)rounds->rounds * rounds->rounds * sizeof(uint32_t) },
		{ &matchings->states,
		  (size_t)rounds->rounds * rounds->mesh.elements * sizeof(uint16_t) },
		{ &matchings->refused, rounds->rounds * sizeof(uint32_t) },
		{ &matchings->tx, rounds->endpoints * sizeof(uint32_t) },
		{ &matchings->rx, rounds->endpoints * sizeof(uint32_t) },
	};

	return lm_mesh_lay(matchings->ctx, &matchings->answer_block, parts, ARRAY_SIZE(parts));
}

/* Set the states of elements in round @round of the search, as round @place. */
static void set_states(struct morph_matchings *matchings, uint32_t round, uint32_t place)
{
	const struct rounds *rounds = &matchings->rounds;
	const struct mesh *mesh = &rounds->mesh;
	uint16_t *states = &matchings->states[(size_t)place * mesh->elements];
	const struct mesh_turn *turn;
	uint32_t src, i, element;
	const uint32_t *turns;
	size_t route;

	memset(states, 0xff, mesh->elements * sizeof(*states));
	for (src = 0; src < rounds->endpoints; src++) {
		route = round_route(rounds, round, src);
		turns = round_turns(rounds, route);
		for (i = 0; i < rounds->counts[route]; i++) {
			turn = &mesh->turn[turns[i]];
			element = mesh_turn_element(mesh, turn);
			states[element] = (uint16_t)(turn->state - mesh->state_first[element]);
		}
	}
}

/* Count the elements that each two rounds need in different states. */
static void count_writes(struct morph_matchings *matchings)
{
	uint32_t rounds = matchings->rounds.rounds, elements = matchings->rounds.mesh.elements;
	uint32_t one, other, writes, i;
	const uint16_t *a, *b;

	for (one = 0; one < rounds; one++) {
		a = &matchings->states[(size_t)one * elements];
		for (other = 0; other < one; other++) {
			b = &matchings->states[(size_t)other * elements];
			for (i = 0, writes = 0; i < elements; i++)
				writes += (a[i] != b[i]) & (a[i] != MORPH_MATCHINGS_ANY) &
					  (b[i] != MORPH_MATCHINGS_ANY);
			matchings->writes[one * rounds + other] = writes;
			matchings->writes[other * rounds + one] = writes;
		}
	}
}

/* Writes between two rounds of the search. */
static uint32_t writes_between(const struct morph_matchings *matchings, uint32_t one,
			       uint32_t other)
{
	return matchings->writes[one * matchings->rounds.rounds + other];
}

/* Writes from the round at a place of the order to the next one. */
static uint32_t writes_at(const struct morph_matchings *matchings, uint32_t place)
{
	uint32_t rounds = matchings->rounds.rounds;

	return writes_between(matchings, matchings->order[place % rounds],
			      matchings->order[(place + 1) % rounds]);
}

static void reverse(uint32_t *order, uint32_t first, uint32_t last)
{
	uint32_t kept;

	for (; first < last; first++, last--) {
		kept = order[first];
		order[first] = order[last];
		order[last] = kept;
	}
}

/* Reverse the part of the order after @first up to @last if this saves writes. */
static bool try_reverse(struct morph_matchings *matchings, uint32_t first, uint32_t last)
{
	uint32_t rounds = matchings->rounds.rounds, *order = matchings->order;
	uint32_t before = writes_at(matchings, first) + writes_at(matchings, last);
	uint32_t after = writes_between(matchings, order[first], order[last]) +
			 writes_between(matchings, order[first + 1], order[(last + 1) % rounds]);

	if (after >= before)
		return false;
	reverse(order, first + 1, last);
	return true;
}

/* Order the rounds as a short tour: 2-opt (Croes, Operations Research 6, 1958). */
static void order_rounds(struct morph_matchings *matchings)
{
	uint32_t rounds = matchings->rounds.rounds, pass, i, j;
	bool changed = true;

	for (i = 0; i < rounds; i++)
		matchings->order[i] = i;
	for (pass = 0; pass < PASSES && changed; pass++) {
		changed = false;
		for (i = 0; i + 2 < rounds; i++) {
			for (j = i + 2; j < rounds; j++)
				changed |= try_reverse(matchings, i, j);
		}
	}
}

/* Count the elements written in a cycle of all rounds. An element keeps its state until needed. */
static uint64_t sum_writes(const struct morph_matchings *matchings)
{
	uint32_t elements = matchings->rounds.mesh.elements, element, round, first, last, state;
	uint64_t writes = 0;

	for (element = 0; element < elements; element++) {
		first = MORPH_MATCHINGS_ANY;
		last = MORPH_MATCHINGS_ANY;
		for (round = 0; round < matchings->rounds.rounds; round++) {
			state = matchings->states[(size_t)round * elements + element];
			if (state == MORPH_MATCHINGS_ANY)
				continue;
			if (first == MORPH_MATCHINGS_ANY)
				first = state;
			else
				writes += state != last;
			last = state;
		}
		writes += first != last;
	}
	return writes;
}

/* Write the circuits of a round. */
static void write_round(struct morph_matchings *matchings, uint32_t round, uint32_t *circuits,
			uint32_t *hops)
{
	struct morph_matchings_answer *answer = &matchings->answer;
	const struct rounds *rounds = &matchings->rounds;
	const struct mesh *mesh = &rounds->mesh;
	const struct mesh_turn *turn;
	uint32_t src, i, element;
	size_t route;

	for (src = 0; src < rounds->endpoints; src++) {
		route = round_route(rounds, round, src);
		if (!rounds->counts[route])
			continue;
		matchings->circuits[(*circuits)++] = (struct morph_matchings_circuit){
			.src = src,
			.dst = round_target(rounds, round, src),
			.first = *hops,
			.count = rounds->counts[route],
		};
		for (i = 0; i < rounds->counts[route]; i++) {
			turn = &mesh->turn[round_turns(rounds, route)[i]];
			element = mesh_turn_element(mesh, turn);
			matchings->hops[(*hops)++] = (struct morph_matchings_hop){
				.element = element,
				.entry = (uint16_t)(turn->in - mesh->arc_first[element]),
				.state = (uint16_t)(turn->state - mesh->state_first[element]),
			};
		}
		if (rounds->counts[route] > answer->longest)
			answer->longest = rounds->counts[route];
	}
}

/* Elements on the shortest routes of all circuits, from the ports of the answer. */
static uint64_t sum_distances(const struct rounds *rounds)
{
	uint64_t sum = 0;
	uint32_t src, dst;

	for (src = 0; src < rounds->endpoints; src++) {
		for (dst = 0; dst < rounds->endpoints; dst++) {
			if (lm_rounds_want(rounds, src, dst))
				sum += lm_rounds_distance(rounds, src, dst);
		}
	}
	return sum;
}

/* Name the rounds that the validator refuses. */
static void list_refused(struct morph_matchings *matchings)
{
	struct morph_matchings_answer *answer = &matchings->answer;
	const struct rounds *rounds = &matchings->rounds;
	struct optics_refusal refusal;
	uint32_t round;

	answer->refused = matchings->refused;
	answer->refused_count = 0;
	for (round = 0; round < rounds->rounds && matchings->namer.graph; round++) {
		if (lm_judge_refuses(&matchings->namer, rounds, matchings->order[round], &refusal))
			matchings->refused[answer->refused_count++] = round;
	}
}

int lm_matchings_answer(struct morph_matchings *matchings)
{
	struct morph_matchings_answer *answer = &matchings->answer;
	const struct rounds *rounds = &matchings->rounds;
	uint32_t round, circuits = 0, hops = 0;
	int error = lay_answer(matchings);

	if (error)
		return error;
	for (round = 0; round < rounds->rounds; round++)
		set_states(matchings, round, round);
	count_writes(matchings);
	order_rounds(matchings);
	answer->longest = 0;
	for (round = 0; round < rounds->rounds; round++) {
		matchings->round_first[round] = circuits;
		write_round(matchings, matchings->order[round], &circuits, &hops);
	}
	matchings->round_first[round] = circuits;
	/* Once more, in the new order. */
	for (round = 0; round < rounds->rounds; round++)
		set_states(matchings, matchings->order[round], round);
	memcpy(matchings->tx, rounds->tx, rounds->endpoints * sizeof(uint32_t));
	memcpy(matchings->rx, rounds->rx, rounds->endpoints * sizeof(uint32_t));
	answer->verdict = MORPH_FEASIBLE;
	answer->rounds = rounds->rounds;
	answer->round_first = matchings->round_first;
	answer->circuits = matchings->circuits;
	answer->hops = matchings->hops;
	answer->states = matchings->states;
	answer->tx = matchings->tx;
	answer->rx = matchings->rx;
	answer->total = hops;
	answer->distance = sum_distances(rounds);
	answer->writes = sum_writes(matchings);
	list_refused(matchings);
	return 0;
}
