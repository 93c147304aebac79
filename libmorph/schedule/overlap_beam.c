// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Numbers of planes by round, as if planes always ended with their rounds: a beam search. A round over so many planes
 * ends when water of its bytes fills them up to one level, and no plane may be above that. Kept are states by
 * when the round after may end at best, and the rest over all planes.
 */
#include <math.h>

#include "../util/sort.h"
#include "overlap_work.h"

/* Rounds from @round on until one needs it again. */
static uint32_t needed_in(const struct overlap_window *window, uint32_t round,
			  uint32_t configuration)
{
	uint32_t at = round;

	while (at < window->count && window->configurations[at] != configuration)
		at++;
	return at;
}

/* Of two that are free at the same time and have to be changed: nothing is won by it but fewer changes. */
static bool is_needed_later(const struct overlap_window *window, uint32_t round, uint32_t one,
			    uint32_t other)
{
	return one != other && needed_in(window, round, one) > needed_in(window, round, other);
}

/*
 * Those that hold the round's configuration, the one that can be changed last first; then those that can be changed first, and of these
 * the one whose configuration is needed last.
 */
uint32_t lm_overlap_order(const struct overlap_window *window, uint32_t round, const uint32_t *held,
			  const double *ready, uint8_t *order)
{
	uint8_t others[OVERLAP_PLANES] = { 0 };
	uint32_t holders = 0, count = 0, at;

	for (uint32_t plane = 0; plane < window->planes; plane++) {
		double its = ready[plane];

		if (held[plane] == window->configurations[round]) {
			for (at = holders++; at && its > ready[order[at - 1]]; at--)
				order[at] = order[at - 1];
			order[at] = (uint8_t)plane;
			continue;
		}
		for (at = count++; at; at--) {
			uint32_t other = others[at - 1];

			if (its > ready[other] ||
			    (its == ready[other] &&
			     !is_needed_later(window, round, held[plane], held[other])))
				break;
			others[at] = (uint8_t)other;
		}
		others[at] = (uint8_t)plane;
	}
	memcpy(order + holders, others, count);
	return holders;
}

static double begins(const struct overlap_window *window, uint32_t round,
		     const struct beam_state *state, uint32_t plane)
{
	if (state->held[plane] == window->configurations[round] || state->ready[plane] < state->end)
		return state->end;
	return state->ready[plane];
}

/* When the round can end at best. */
static double level(const struct overlap_window *window, uint32_t round,
		    const struct beam_state *state)
{
	double from[OVERLAP_PLANES], sum = window->sending[round], filled = INFINITY;

	for (uint32_t plane = 0; plane < window->planes; plane++) {
		double its = begins(window, round, state, plane);
		uint32_t at = plane;

		for (; at && from[at - 1] > its; at--)
			from[at] = from[at - 1];
		from[at] = its;
	}
	for (uint32_t at = 0; at < window->planes && from[at] < filled; at++) {
		sum += from[at];
		filled = sum / (at + 1);
	}
	return filled + window->latency;
}

static uint64_t mix(uint64_t value)
{
	value ^= value >> 31;
	value *= 0x9e3779b97f4a7c15;
	value ^= value >> 29;
	return value * 0xbf58476d1ce4e5b9;
}

/* Of states of a round; in which order planes come makes no difference. */
static uint64_t alike(const struct overlap_window *window, const struct beam_state *state)
{
	uint64_t sum = 0;

	for (uint32_t plane = 0; plane < window->planes; plane++) {
		double ready = state->ready[plane] > state->end ? state->ready[plane] : state->end;
		uint64_t bits;

		memcpy(&bits, &ready, sizeof(bits));
		sum += mix(mix(bits) + state->held[plane]);
	}
	return sum;
}

static void take(const struct overlap_window *window, uint32_t round, struct beam_state *state,
		 const uint8_t *order, uint32_t count, double end)
{
	state->end = end;
	for (uint32_t at = 0; at < count; at++) {
		state->ready[order[at]] = end + window->change;
		state->held[order[at]] = window->configurations[round];
	}
}

/* What of all planes is needed at least from a round on. */
static double rest(const struct overlap_window *window, uint32_t round)
{
	double sum = 0;

	for (uint32_t at = round; at < window->count; at++)
		sum += window->latency + window->sending[at] / window->planes;
	return sum;
}

static uint32_t add_children(struct overlap_beam *beam, const struct overlap_window *window,
			     uint32_t round, uint32_t parent, uint32_t children)
{
	const struct beam_state *state = &beam->states[round % 2][parent];
	double sum = window->sending[round], after = rest(window, round + 2);
	uint8_t order[OVERLAP_PLANES] = { 0 };

	lm_overlap_order(window, round, state->held, state->ready, order);
	for (uint32_t count = 1; count <= window->planes; count++) {
		double from = begins(window, round, state, order[count - 1]);
		struct beam_state next = *state;
		double end;

		sum += from;
		end = sum / count + window->latency;
		if (count > 1 && end - window->latency <= from)
			break;
		take(window, round, &next, order, count, end);
		beam->children[children++] = (struct beam_child){
			.score = round + 1 < window->count ?
					 level(window, round + 1, &next) + after :
					 end,
			.end = end,
			.alike = alike(window, &next),
			.parent = parent,
			.count = count,
		};
	}
	return children;
}

static int by_score(const void *one, const void *other, void *context)
{
	const struct beam_child *a = one, *b = other;

	(void)context;
	if (a->score != b->score)
		return a->score > b->score ? 1 : -1;
	if (a->alike != b->alike)
		return a->alike > b->alike ? 1 : -1;
	if (a->parent != b->parent)
		return a->parent > b->parent ? 1 : -1;
	return (a->count > b->count) - (a->count < b->count);
}

/* The best of them are the states after the round. How many there are. */
static uint32_t keep(struct overlap_beam *beam, const struct overlap_window *window, uint32_t round,
		     uint32_t children)
{
	uint32_t kept = 0;

	lm_sort(beam->children, children, sizeof(beam->children[0]), by_score, NULL);
	for (uint32_t at = 0; at < children && kept < beam->width; at++) {
		const struct beam_child *child = &beam->children[at];
		struct beam_state *next = &beam->states[(round + 1) % 2][kept];
		uint8_t order[OVERLAP_PLANES] = { 0 };

		if (at && child->alike == child[-1].alike && child->score == child[-1].score &&
		    round + 1 < window->count)
			continue;
		*next = beam->states[round % 2][child->parent];
		lm_overlap_order(window, round, next->held, next->ready, order);
		take(window, round, next, order, child->count, child->end);
		beam->finishes[kept] = child->end;
		beam->steps[round][kept++] =
			(struct beam_step){ child->parent, (uint8_t)child->count };
	}
	return kept;
}

void lm_overlap_beam(struct overlap_beam *beam, const struct overlap_window *window)
{
	struct beam_state *first = &beam->states[0][0];

	first->end = 0;
	memcpy(first->ready, window->ready, sizeof(first->ready));
	memcpy(first->held, window->held, sizeof(first->held));
	beam->found = 1;
	for (uint32_t round = 0; round < window->count; round++) {
		uint32_t children = 0;

		for (uint32_t at = 0; at < beam->found; at++)
			children = add_children(beam, window, round, at, children);
		beam->found = keep(beam, window, round, children);
	}
}

void lm_overlap_beam_plan(const struct overlap_beam *beam, const struct overlap_window *window,
			  uint32_t number, struct overlap_plan *plan)
{
	plan->finish = beam->finishes[number];
	plan->early = false;
	for (uint32_t round = window->count; round--;) {
		plan->counts[round] = beam->steps[round][number].count;
		number = beam->steps[round][number].parent;
	}
}
