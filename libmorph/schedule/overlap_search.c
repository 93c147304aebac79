// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The search for the numbers of planes of a window's rounds: a beam search, and the improvement of
 * its plans.
 */
#include <math.h>

#include "../util/sort.h"
#include "overlap_work.h"

/* ----------------------------------------------------------------------- beam */

/*
 * Beam search over the numbers of planes, as if planes always ended with their rounds. A round over
 * some planes ends when its bytes fill them all up to one level, and no plane may be above it.
 * States are ranked by the earliest end of the next round, plus the rest over all planes.
 */

/* Number of rounds from @round until one needs it again. */
static uint32_t needed_in(const struct overlap_window *window, uint32_t round,
			  uint32_t configuration)
{
	uint32_t at = round;

	while (at < window->count && window->configurations[at] != configuration)
		at++;
	return at;
}

/*
 * Two planes are free at the same time and must change: the order affects only the number of
 * changes.
 */
static bool is_needed_later(const struct overlap_window *window, uint32_t round, uint32_t one,
			    uint32_t other)
{
	return one != other && needed_in(window, round, one) > needed_in(window, round, other);
}

/*
 * First planes that hold the round's configuration, beginning with the one that can change last.
 * Then those that can change first and, among these, the one whose configuration is needed last.
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

/* The earliest end of the round. */
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

static uint64_t hash_number(uint64_t value)
{
	value ^= value >> 31;
	value *= 0x9e3779b97f4a7c15;
	value ^= value >> 29;
	return value * 0xbf58476d1ce4e5b9;
}

/* A value of a state of a round that does not depend on the order of planes. */
static uint64_t alike(const struct overlap_window *window, const struct beam_state *state)
{
	uint64_t sum = 0;

	for (uint32_t plane = 0; plane < window->planes; plane++) {
		double ready = state->ready[plane] > state->end ? state->ready[plane] : state->end;
		uint64_t bits;

		memcpy(&bits, &ready, sizeof(bits));
		sum += hash_number(hash_number(bits) + state->held[plane]);
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

/* The least time of all planes from a round on. */
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

/* Keep the best as states after the round. Return their number. */
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

/* ---------------------------------------------------------------- improvement */

/*
 * Numbers of planes by round, with planes that may end early. The program of the turns evaluates
 * the plans of the beam search and those near them.
 */

#define STARTS 8 /* plans of the beam search to improve */
#define APART 4 /* greatest distance of two rounds whose numbers change together */

/* --------------------------------------------------------------------- paths */

static void begin_paths(struct overlap_paths *paths, const struct overlap_window *window)
{
	struct overlap_before *before = &paths->before[0];

	memcpy(before->ready, window->ready, sizeof(before->ready));
	memcpy(before->held, window->held, sizeof(before->held));
	memset(before->last, -1, sizeof(before->last));
	before->turns_count = before->rows_count = 0;
	before->end = before->lost = 0;
}

/* Restore the state before a round. */
static void go_back(struct overlap_paths *paths, uint32_t round)
{
	const struct overlap_before *before = &paths->before[round];

	for (uint32_t plane = 0; plane < OVERLAP_PLANES; plane++)
		if (before->last[plane] >= 0)
			paths->out[before->last[plane]][plane] = NO_TURN;
	paths->turns_count = before->turns_count;
	paths->rows_count = before->rows_count;
	for (uint32_t at = 0; at < paths->turns_count; at++)
		paths->turns[at].early = paths->turns[at].late = 0;
}

static uint32_t turn_to(struct overlap_paths *paths, int a, int b, double due)
{
	struct overlap_turn *turn;

	for (uint32_t at = paths->turns_count; at-- && paths->turns[at].b == b;) {
		turn = &paths->turns[at];
		if (turn->a == a && turn->due == due) {
			turn->planes++;
			return at;
		}
	}
	turn = &paths->turns[paths->turns_count];
	*turn = (struct overlap_turn){ .a = a, .b = b, .planes = 1, .due = due };
	return paths->turns_count++;
}

/* Of planes that sent in the same round, the first to begin is the first to end. */
static void use_planes(struct overlap_paths *paths, const struct overlap_window *window,
		       uint32_t round)
{
	const struct overlap_before *before = &paths->before[round];
	struct overlap_before *after = &paths->before[round + 1];
	uint8_t order[OVERLAP_PLANES] = { 0 };

	memcpy(after->ready, before->ready, sizeof(after->ready));
	memcpy(after->held, before->held, sizeof(after->held));
	memcpy(after->last, before->last, sizeof(after->last));
	lm_overlap_order(window, round, before->held, before->ready, order);
	for (uint32_t at = 0; at < window->planes; at++) {
		uint32_t plane = order[at], turn = NO_TURN;
		bool used = at < paths->counts[round];
		int last = before->last[plane];

		paths->used[round][plane] = used;
		paths->out[round][plane] = NO_TURN;
		if (used && before->held[plane] != window->configurations[round]) {
			turn = turn_to(paths, last, (int)round,
				       last < 0 ? before->ready[plane] : window->change);
			if (last >= 0)
				paths->out[last][plane] = turn;
		}
		paths->in[round][plane] = turn;
		if (!used)
			continue;
		/* In the order of rounds, first all that sent before them. */
		after->ready[plane] = window->change + 1 + round + at / (2.0 * OVERLAP_PLANES);
		after->held[plane] = window->configurations[round];
		after->last[plane] = (int)round;
	}
}

static double least(double one, double other)
{
	return one < other ? one : other;
}

/*
 * Turns of the round that lack time even without losses become rows of the program. The losses
 * until then cost at least @lost. A single turn pays for its lack at the cheaper end. Turns that
 * each begin after the end of the previous one are independent, so the bound is the most expensive
 * set of such turns.
 */
static void find_rows(struct overlap_paths *paths, const struct overlap_window *window,
		      uint32_t round)
{
	const struct overlap_before *before = paths->before;
	double lost = before[round].lost;

	for (uint32_t at = before[round].turns_count; at < paths->turns_count; at++) {
		struct overlap_turn *turn = &paths->turns[at];
		double share = (double)turn->planes / paths->counts[round], others = 0;

		turn->lack = turn->due - (before[round].end - before[turn->a + 1].end);
		if (turn->lack <= window->moment)
			continue;
		paths->rows[paths->rows_count++] = at;
		if (turn->a >= 0) {
			share = least(share, (double)turn->planes / paths->counts[turn->a]);
			others = before[turn->a + 1].lost;
		}
		if (others + share * turn->lack > lost)
			lost = others + share * turn->lack;
	}
	paths->before[round + 1].lost = lost;
	paths->before[round + 1].turns_count = paths->turns_count;
	paths->before[round + 1].rows_count = paths->rows_count;
}

bool lm_overlap_paths(struct overlap_paths *paths, const struct overlap_window *window,
		      const uint8_t *counts, uint32_t count, double below)
{
	uint32_t round = 0;

	while (round < count && round < paths->known && counts[round] == paths->counts[round])
		round++;
	if (!round)
		begin_paths(paths, window);
	for (uint32_t at = round; at < count; at++) {
		paths->counts[at] = counts[at];
		paths->before[at + 1].end =
			paths->before[at].end + window->latency + window->sending[at] / counts[at];
	}
	paths->known = round;
	if (paths->before[count].end >= below)
		return false;
	go_back(paths, round);
	while (round < count) {
		use_planes(paths, window, round);
		find_rows(paths, window, round);
		paths->known = ++round;
		if (paths->before[count].end + paths->before[round].lost - window->moment >= below)
			return false;
	}
	return true;
}

/* --------------------------------------------------------------- the program */

/* The losses of a row's planes at one end make that round longer, by a share. */
static void add_loss(struct overlap_program *program, const struct overlap_paths *paths,
		     uint32_t row, uint32_t column, int round, double share)
{
	*program_entry(program, program->rows, column) = share;
	for (uint32_t at = 0; at < paths->rows_count; at++) {
		const struct overlap_turn *turn = &paths->turns[paths->rows[at]];

		if (turn->a < round && round < turn->b)
			*program_entry(program, at, column) = share;
	}
	*program_entry(program, row, column) += 1;
}

/* Two columns for each row: losses of its planes at the begin and at the end of the turn. */
static void fill_program(struct overlap_program *program, const struct overlap_paths *paths,
			 const uint8_t *counts, double zero)
{
	lm_overlap_program_begin(program, paths->rows_count, 2 * paths->rows_count, zero);
	for (uint32_t row = 0; row < paths->rows_count; row++) {
		const struct overlap_turn *turn = &paths->turns[paths->rows[row]];

		*program_entry(program, row, program->columns) = -turn->lack;
		if (turn->a >= 0)
			add_loss(program, paths, row, 2 * row, turn->a,
				 (double)turn->planes / counts[turn->a]);
		add_loss(program, paths, row, 2 * row + 1, turn->b,
			 (double)turn->planes / counts[turn->b]);
	}
}

static void read_losses(struct overlap_program *program, struct overlap_paths *paths)
{
	for (uint32_t row = 0; row < program->rows; row++) {
		uint32_t name = program->basic[row];
		double value = *program_entry(program, row, program->columns);

		if (name >= program->columns || value < program->zero)
			continue;
		if (name % 2)
			paths->turns[paths->rows[name / 2]].late = value;
		else
			paths->turns[paths->rows[name / 2]].early = value;
	}
}

/* Does each plane still send after its losses? */
static bool all_carry(const struct overlap_work *work, const uint8_t *counts)
{
	const struct overlap_paths *paths = &work->paths;
	const struct overlap_window *window = &work->window;
	double sending[WINDOW]; /* of a plane without losses */

	for (uint32_t round = 0; round < window->count; round++)
		sending[round] = window->sending[round] / counts[round];
	for (uint32_t at = 0; at < paths->turns_count; at++) {
		const struct overlap_turn *turn = &paths->turns[at];

		sending[turn->b] += turn->late * turn->planes / counts[turn->b];
		if (turn->a >= 0)
			sending[turn->a] += turn->early * turn->planes / counts[turn->a];
	}
	for (uint32_t round = 0; round < window->count; round++) {
		for (uint32_t plane = 0; plane < window->planes; plane++) {
			uint32_t in = paths->in[round][plane], out = paths->out[round][plane];

			if (!paths->used[round][plane])
				continue;
			if ((in == NO_TURN ? 0 : paths->turns[in].late) +
				    (out == NO_TURN ? 0 : paths->turns[out].early) >
			    sending[round])
				return false;
		}
	}
	return true;
}

double lm_overlap_weigh(struct overlap_work *work, const uint8_t *counts, uint32_t count,
			double below)
{
	const struct overlap_window *window = &work->window;
	struct overlap_paths *paths = &work->paths;
	double end, losses;

	if (!lm_overlap_paths(paths, window, counts, count, below))
		return INFINITY;
	end = paths->before[count].end;
	fill_program(&work->program, paths, counts, window->moment);
	losses = lm_overlap_program_solve(&work->program, below - end);
	if (losses == INFINITY)
		return INFINITY;
	read_losses(&work->program, paths);
	if (count == window->count && !all_carry(work, counts))
		return INFINITY;
	return end + losses;
}

/* -------------------------------------------------------------------- search */

/* Evaluate other numbers, and keep them if they are better. */
static bool try(struct overlap_work *work, struct overlap_plan *plan, const uint8_t *counts)
{
	double finish;

	if (!work->programs_left)
		return false;
	work->programs_left--;
	finish = lm_overlap_weigh(work, counts, work->window.count,
				  plan->finish - work->window.moment);
	if (finish == INFINITY)
		return false;
	memcpy(plan->counts, counts, work->window.count);
	plan->finish = finish;
	plan->early = true;
	return true;
}

static bool move(const struct overlap_work *work, uint8_t *counts, uint32_t round, int by)
{
	int count = counts[round] + by;

	if (count < 1 || count > (int)work->window.planes)
		return false;
	counts[round] = (uint8_t)count;
	return true;
}

static bool try_pairs(struct overlap_work *work, struct overlap_plan *plan, uint32_t round, int by)
{
	for (uint32_t other = round + 1; other < work->window.count && other <= round + APART;
	     other++) {
		for (int its = -1; its <= 1; its += 2) {
			uint8_t counts[WINDOW];

			memcpy(counts, plan->counts, sizeof(counts));
			if (move(work, counts, round, by) && move(work, counts, other, its) &&
			    try(work, plan, counts))
				return true;
		}
	}
	return false;
}

/* Continue while a plan near this one is better. */
static void improve(struct overlap_work *work, struct overlap_plan *plan)
{
	uint32_t round = 0;

	for (uint32_t since = 0; since < work->window.count && work->programs_left; since++) {
		bool better = false;

		for (int by = -2; by <= 2; by++) {
			uint8_t counts[WINDOW];

			memcpy(counts, plan->counts, sizeof(counts));
			if (by && move(work, counts, round, by))
				better |= try(work, plan, counts);
		}
		better |= try_pairs(work, plan, round, 1) || try_pairs(work, plan, round, -1);
		if (better)
			since = 0;
		round = (round + 1) % work->window.count;
	}
}

/*
 * Try all numbers, except those whose first rounds take so long that even all planes in the rest
 * gain nothing. False: there are too many.
 */
static bool exhaust(struct overlap_work *work, struct overlap_plan *plan)
{
	const struct overlap_window *window = &work->window;
	double rest[WINDOW + 1] = { 0 };
	uint8_t counts[WINDOW] = { 0 };
	uint32_t round = 0;

	for (uint32_t at = window->count; at--;)
		rest[at] = rest[at + 1] + window->latency + window->sending[at] / window->planes;
	for (;;) {
		double below = plan->finish - window->moment - rest[round + 1], end;

		if (counts[round] == window->planes) {
			counts[round] = 0;
			if (!round--)
				return true;
			continue;
		}
		if (!work->proofs_left)
			return false;
		work->proofs_left--;
		counts[round]++;
		end = lm_overlap_weigh(work, counts, round + 1, below);
		if (end == INFINITY)
			continue;
		if (round + 1 < window->count) {
			round++;
			continue;
		}
		memcpy(plan->counts, counts, sizeof(counts));
		plan->finish = end;
		plan->early = true;
	}
}

bool lm_overlap_search(struct overlap_work *work, struct overlap_plan *plan)
{
	const struct overlap_window *window = &work->window;
	bool proved;

	work->paths.known = 0;
	lm_overlap_beam(&work->beam, window);
	plan->finish = INFINITY;
	for (uint32_t at = 0; at < work->beam.found && at < STARTS && work->programs_left; at++) {
		struct overlap_plan start;

		lm_overlap_beam_plan(&work->beam, window, at, &start);
		try(work, &start, start.counts);
		improve(work, &start);
		if (start.finish < plan->finish)
			*plan = start;
	}
	proved = exhaust(work, plan);
	if (plan->early)
		lm_overlap_weigh(work, plan->counts, window->count, INFINITY);
	else
		lm_overlap_paths(&work->paths, window, plan->counts, window->count, INFINITY);
	return proved;
}
