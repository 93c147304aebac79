// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lower bounds of the number of rounds.
 *
 * Give each join of each state of each element any length. The length of a state is the sum of its
 * joins. In a round an element has one state. So the routes of a round together are at most as long
 * as the longest states of all elements together. The routes of all rounds together are at least as
 * long as the shortest routes of all pairs. The quotient is a lower bound.
 *
 * It is the dual of the fractional schedule, in which all pairs are a flow and elements divide the
 * time among their states. So the best lengths give the bound of that linear program. The bounds by
 * degree, by distance and by a cut are those of special lengths.
 *
 * The lengths are found by multiplicative weights (Arora, Hazan and Kale, Theory of Computing 8,
 * 2012): joins become longer where the shortest routes crowd. All values are integers, so that each
 * machine finds the same lengths.
 */
#include "../util/heap.h"
#include "mesh_bound.h"

#define ONE 65536u /* of shares; weights have this mean */
#define MOST_WEIGHT (ONE << 8)
#define ARC_BITS 20

/* ------------------------------------------------------------------ shortest routes */

static bool nearer(const void *context, size_t one, size_t other)
{
	const struct mesh_bound *bound = context;

	return bound->heap[one == HEAP_HELD ? 0 : one + 1] <
	       bound->heap[other == HEAP_HELD ? 0 : other + 1];
}

/* Entry 0 of the array is the held item. */
static void move_entry(void *context, size_t to, size_t from)
{
	struct mesh_bound *bound = context;

	bound->heap[to == HEAP_HELD ? 0 : to + 1] = bound->heap[from == HEAP_HELD ? 0 : from + 1];
}

static void reach(struct mesh_bound *bound, uint32_t arc, uint64_t distance)
{
	bound->distance[arc] = distance;
	bound->heap[1 + bound->heap_count] = distance << ARC_BITS | arc;
	heap_raise(bound, bound->heap_count++, nearer, move_entry);
}

/* Extend the routes that end at @arc by its turns. */
static void extend(struct mesh_bound *bound, uint32_t arc)
{
	const struct mesh *mesh = bound->mesh;
	uint32_t turn, next, end;
	uint64_t distance;

	for (turn = mesh->turn_first[arc]; turn < mesh->turn_first[arc + 1]; turn++) {
		next = mesh->next[mesh->turn[turn].out];
		distance = bound->distance[arc] + bound->lengths[mesh->turn[turn].join];
		if (next == MESH_NONE)
			continue;
		if (next & MESH_END) {
			end = next & ~MESH_END;
			if (distance < bound->end_distance[end]) {
				bound->end_distance[end] = distance;
				bound->end_from[end] = arc;
				bound->end_turn[end] = turn;
			}
		} else if (distance < bound->distance[next]) {
			bound->from[next] = arc;
			bound->turn[next] = turn;
			reach(bound, next, distance);
		}
	}
}

/* Find the shortest routes from an arc to all ends (Dijkstra, 1959). */
static void find_routes(struct mesh_bound *bound, uint32_t enter)
{
	uint64_t entry;
	uint32_t arc;

	memset(bound->distance, 0xff, bound->mesh->arcs * sizeof(*bound->distance));
	memset(bound->end_distance, 0xff, bound->mesh->ends * sizeof(*bound->end_distance));
	bound->heap_count = 0;
	reach(bound, enter, 0);
	while (bound->heap_count) {
		entry = bound->heap[1];
		if (--bound->heap_count) {
			bound->heap[1] = bound->heap[1 + bound->heap_count];
			heap_sink(bound, 0, bound->heap_count, nearer, move_entry);
		}
		arc = (uint32_t)(entry & ((1u << ARC_BITS) - 1));
		if (entry >> ARC_BITS == bound->distance[arc])
			extend(bound, arc);
	}
}

/* Add the shortest route to an end to the flow. */
static void add_flow(struct mesh_bound *bound, uint32_t enter, uint32_t end)
{
	const struct mesh_turn *turns = bound->mesh->turn;
	uint32_t arc = bound->end_from[end];

	bound->flow[turns[bound->end_turn[end]].join]++;
	for (; arc != enter; arc = bound->from[arc])
		bound->flow[turns[bound->turn[arc]].join]++;
}

/* ------------------------------------------------------------------ bounds */

uint64_t lm_mesh_bound_longest(const struct mesh_bound *bound)
{
	const struct mesh *mesh = bound->mesh;
	uint64_t sum = 0, longest, length;
	uint32_t element, state, join;

	for (element = 0; element < mesh->elements; element++) {
		longest = 0;
		for (state = mesh->state_first[element]; state < mesh->state_first[element + 1];
		     state++) {
			length = 0;
			for (join = mesh->join_first[state]; join < mesh->join_first[state + 1];
			     join++)
				length += bound->lengths[join];
			if (length > longest)
				longest = length;
		}
		sum += longest;
	}
	return sum;
}

/* Whether the rounds together have a circuit. */
static bool is_wanted(const struct mesh_bound *bound, uint32_t src, uint32_t dst)
{
	if (bound->targets)
		return bound->targets[src] == dst;
	return bound->pairs ? src < dst : src != dst;
}

static void evaluate(struct mesh_bound *bound)
{
	uint64_t numerator = 0, denominator = lm_mesh_bound_longest(bound);
	uint32_t src, dst, enter;

	memset(bound->flow, 0, bound->mesh->joins * sizeof(*bound->flow));
	for (src = 0; src < bound->endpoints; src++) {
		if (bound->targets && bound->targets[src] == MORPH_ANY)
			continue;
		enter = bound->mesh->enter[bound->tx[src]];
		find_routes(bound, enter);
		for (dst = 0; dst < bound->endpoints; dst++) {
			if (!is_wanted(bound, src, dst))
				continue;
			numerator += bound->end_distance[bound->rx[dst]];
			add_flow(bound, enter, bound->rx[dst]);
		}
	}
	if (!denominator ||
	    (bound->denominator && (__uint128_t)numerator * bound->denominator <=
					   (__uint128_t)bound->numerator * denominator))
		return;
	bound->numerator = numerator;
	bound->denominator = denominator;
	memcpy(bound->best, bound->lengths, bound->mesh->joins * sizeof(*bound->best));
}

/* Set the lengths of an element's joins from its weight and their shares. */
static void set_lengths(struct mesh_bound *bound)
{
	const struct mesh *mesh = bound->mesh;
	uint32_t element, join, end;

	for (element = 0; element < mesh->elements; element++) {
		end = mesh->join_first[mesh->state_first[element + 1]];
		for (join = mesh->join_first[mesh->state_first[element]]; join < end; join++) {
			bound->lengths[join] = (uint32_t)((uint64_t)bound->weights[element] *
							  bound->shares[join] / ONE);
			bound->sums[join] += bound->lengths[join];
		}
	}
}

/* The shares of a state become larger where more routes pass. Returns the state's mean flow. */
static uint64_t update_state(struct mesh_bound *bound, uint32_t state, uint64_t rounds,
			     uint32_t divisor)
{
	uint32_t first = bound->mesh->join_first[state], end = bound->mesh->join_first[state + 1],
		 join;
	uint64_t mean = 0, sum = 0, factor;

	for (join = first; join < end; join++)
		mean += (uint64_t)bound->shares[join] * bound->flow[join];
	for (join = first; join < end; join++) {
		/* 1 + flow / rounds / divisor */
		factor = ONE + (uint64_t)bound->flow[join] * ONE / rounds / divisor;
		bound->shares[join] = (uint32_t)((uint64_t)bound->shares[join] * factor / ONE);
		if (!bound->shares[join])
			bound->shares[join] = 1;
		sum += bound->shares[join];
	}
	for (join = first; join < end; join++)
		bound->shares[join] = (uint32_t)((uint64_t)bound->shares[join] * ONE / sum);
	return mean / ONE;
}

/* Elements become longer where more routes pass; their mean stays. */
static void update(struct mesh_bound *bound, uint32_t divisor)
{
	const struct mesh *mesh = bound->mesh;
	uint64_t rounds = bound->numerator / bound->denominator + 1, load, sum = 0, weight;
	uint32_t element, state;

	for (element = 0; element < mesh->elements; element++) {
		load = 0;
		for (state = mesh->state_first[element]; state < mesh->state_first[element + 1];
		     state++)
			load += update_state(bound, state, rounds, divisor);
		weight = bound->weights[element];
		weight += weight * load / rounds / divisor;
		bound->weights[element] = (uint32_t)(weight < 1 ? 1 : weight);
		sum += bound->weights[element];
	}
	for (element = 0; element < mesh->elements; element++) {
		weight = (uint64_t)bound->weights[element] * mesh->elements * ONE / sum;
		bound->weights[element] = (uint32_t)(weight < MOST_WEIGHT ? weight : MOST_WEIGHT);
	}
}

/* Evaluate the mean lengths of the iterations since the sums were cleared. */
static void evaluate_mean(struct mesh_bound *bound, uint32_t iterations)
{
	uint32_t join;

	for (join = 0; join < bound->mesh->joins; join++)
		bound->lengths[join] = (uint32_t)(bound->sums[join] / iterations);
	evaluate(bound);
}

void lm_mesh_bound_fractional(struct mesh_bound *bound, uint32_t iterations)
{
	const struct mesh *mesh = bound->mesh;
	uint32_t i, state, join, joins, since = 0;

	for (i = 0; i < mesh->elements; i++)
		bound->weights[i] = ONE;
	for (state = 0; state < mesh->states; state++) {
		joins = mesh->join_first[state + 1] - mesh->join_first[state];
		for (join = mesh->join_first[state]; join < mesh->join_first[state + 1]; join++)
			bound->shares[join] = ONE / joins;
	}
	memset(bound->sums, 0, mesh->joins * sizeof(*bound->sums));
	for (i = 1; i <= iterations; i++) {
		set_lengths(bound);
		since++;
		evaluate(bound);
		update(bound, 2 + i / 8);
		if ((i & (i - 1)) && i % 64)
			continue;
		evaluate_mean(bound, since);
		if (!(i & (i - 1))) { /* forget the first iterations */
			memset(bound->sums, 0, mesh->joins * sizeof(*bound->sums));
			since = 0;
		}
	}
}
