// SPDX-License-Identifier: LGPL-2.1-or-later
/* Computes when the sends of a plan begin and end. */
#include "matrix_work.h"
#include "../util/sort.h"
#include "../util/heap.h"

/* Indices of the ports of a send in arrays of all ports. */
struct ends {
	size_t transmit, receive;
};

static struct ends ends_of(const struct matrix_solver *solver, const struct matrix_send *send)
{
	size_t first = matrix_ports(solver, send->plane);

	return (struct ends){ first + send->src, first + solver->problem.ranks + send->dst };
}

static bool is_lit(const struct matrix_solver *solver, const struct matrix_send *send)
{
	struct ends ends = ends_of(solver, send);

	return solver->holds[ends.transmit] == send->dst &&
	       solver->holds[ends.receive] == send->src;
}

/* All ports are free, and hold their initial circuits. */
static void begin(struct matrix_solver *solver)
{
	size_t all = matrix_ports(solver, solver->problem.planes);

	memset(solver->free_ps, 0, all * sizeof(*solver->free_ps));
	memset(solver->lasts, 0xff, all * sizeof(*solver->lasts));
	memcpy(solver->holds, solver->firsts, all * sizeof(*solver->holds));
}

static void note_end(struct matrix_solver *solver, const struct matrix_send *send,
		     struct matrix_figure *figure)
{
	struct ends ends = ends_of(solver, send);

	solver->free_ps[ends.transmit] = send->until_ps;
	solver->free_ps[ends.receive] = send->until_ps;
	solver->holds[ends.transmit] = send->dst;
	solver->holds[ends.receive] = send->src;
	figure->span_ps = matrix_later(figure->span_ps, send->until_ps);
	if (send->step >= figure->steps)
		figure->steps = send->step + 1;
}

/* Consecutive sends on a circuit become one. */
static void join(struct matrix_solver *solver)
{
	uint32_t kept = 0;

	for (uint32_t at = 0; at < solver->sends.count; at++) {
		const struct matrix_send *send = &solver->sends.list[at];
		struct ends ends = ends_of(solver, send);
		uint32_t last = solver->lasts[ends.transmit];

		if (last != MATRIX_NONE && last == solver->lasts[ends.receive]) {
			solver->sends.list[last].bytes += send->bytes;
			continue;
		}
		solver->sends.list[kept] = *send;
		solver->lasts[ends.transmit] = kept;
		solver->lasts[ends.receive] = kept++;
	}
	solver->sends.count = kept;
}

/*
 * A send starts when its ends are free. If its circuit is not lit, it is set as soon as the plane
 * programs no other.
 */
static void time_send(struct matrix_solver *solver, struct matrix_send *send,
		      struct matrix_figure *figure)
{
	struct ends ends = ends_of(solver, send);

	send->set_ps = matrix_later(solver->free_ps[ends.transmit], solver->free_ps[ends.receive]);
	send->lit_ps = send->set_ps;
	if (!is_lit(solver, send)) {
		uint64_t *programs = &solver->programs[send->plane];

		if (solver->problem.costs.port_ps) {
			send->set_ps = matrix_later(send->set_ps, *programs);
			*programs = send->set_ps + solver->problem.costs.port_ps;
		}
		send->lit_ps = send->set_ps + solver->set_ps;
		figure->changes++;
	}
	send->until_ps = send->lit_ps + matrix_send_ps(solver, send->bytes);
	note_end(solver, send, figure);
}

/* Ready sends, the first one first. */
struct ready {
	const struct matrix_send *sends;
	struct matrix_turn *turns; /* the heap is in their @queued */
	uint32_t held;
};

static struct ready ready_of(const struct matrix_solver *solver)
{
	return (struct ready){ .sends = solver->sends.list, .turns = solver->turns.list };
}

static uint32_t at_place(const struct ready *ready, size_t place)
{
	return place == HEAP_HELD ? ready->held : ready->turns[place].queued;
}

/* Is a send ready before another? set_ps is the time since when. */
static bool goes_before(const void *context, size_t one, size_t other)
{
	const struct ready *ready = context;
	uint32_t ours = at_place(ready, one), theirs = at_place(ready, other);
	uint64_t our_ps = ready->sends[ours].set_ps, their_ps = ready->sends[theirs].set_ps;

	return our_ps != their_ps ? our_ps < their_ps : ours < theirs;
}

static void move(void *context, size_t to, size_t from)
{
	struct ready *ready = context;

	*(to == HEAP_HELD ? &ready->held : &ready->turns[to].queued) = at_place(ready, from);
}

static void push(struct matrix_solver *solver, uint32_t send)
{
	struct ready ready = ready_of(solver);

	ready.turns[solver->queued].queued = send;
	heap_raise(&ready, solver->queued++, goes_before, move);
}

static uint32_t pop(struct matrix_solver *solver)
{
	struct ready ready = ready_of(solver);
	uint32_t first = ready.turns[0].queued;

	ready.held = ready.turns[--solver->queued].queued;
	heap_sink_held(&ready, 0, solver->queued, goes_before, move);
	return first;
}

/* One of its ends has reached it; when both have, it is ready. */
static void come_to(struct matrix_solver *solver, uint32_t number)
{
	struct matrix_send *send;
	struct ends ends;

	if (number == MATRIX_NONE || --solver->turns.list[number].waits)
		return;
	send = &solver->sends.list[number];
	ends = ends_of(solver, send);
	send->set_ps = matrix_later(solver->free_ps[ends.transmit], solver->free_ps[ends.receive]);
	push(solver, number);
}

/* In the order in which they are ready, because a plane programs circuits one after another. */
static void time_by_turns(struct matrix_solver *solver, struct matrix_figure *figure)
{
	size_t all = matrix_ports(solver, solver->problem.planes);

	memset(solver->lasts, 0xff, all * sizeof(*solver->lasts));
	for (uint32_t at = solver->sends.count; at--;) {
		struct ends ends = ends_of(solver, &solver->sends.list[at]);

		solver->turns.list[at] =
			(struct matrix_turn){ .next_out = solver->lasts[ends.transmit],
					      .next_in = solver->lasts[ends.receive],
					      .waits = 2 };
		solver->lasts[ends.transmit] = at;
		solver->lasts[ends.receive] = at;
	}
	solver->queued = 0;
	for (size_t port = 0; port < all; port++)
		come_to(solver, solver->lasts[port]);
	while (solver->queued) {
		uint32_t number = pop(solver);

		time_send(solver, &solver->sends.list[number], figure);
		come_to(solver, solver->turns.list[number].next_out);
		come_to(solver, solver->turns.list[number].next_in);
	}
}

/* Each when its two ends are free and the plane can program it. */
static int time_by_ports(struct matrix_solver *solver, struct matrix_figure *figure)
{
	uint32_t room = solver->turns.count;

	join(solver);
	if (!solver->problem.costs.port_ps) {
		for (uint32_t at = 0; at < solver->sends.count; at++)
			time_send(solver, &solver->sends.list[at], figure);
		return 0;
	}
	if (solver->sends.count > room &&
	    ARRAY_GROW(solver->ctx, solver->turns, solver->sends.count - room, "plan a matrix"))
		return -ENOMEM;
	memset(solver->programs, 0, solver->problem.planes * sizeof(*solver->programs));
	time_by_turns(solver, figure);
	return 0;
}

/* Simultaneous sends: from @first on, of a step and plane, or of a step. */
static uint32_t together(const struct matrix_solver *solver, uint32_t first)
{
	bool fabric = solver->problem.costs.scope == MORPH_DELAY_FABRIC_SCOPE;
	const struct matrix_send *sends = solver->sends.list;
	uint32_t at = first;

	while (at < solver->sends.count && sends[at].step == sends[first].step &&
	       (fabric || sends[at].plane == sends[first].plane))
		at++;
	return at - first;
}

/* Set all of them together; they wait for each other. Return the end of the last. */
static uint64_t time_step(struct matrix_solver *solver, uint32_t first, uint32_t count,
			  uint64_t begin_ps, struct matrix_figure *figure)
{
	const struct costs *costs = &solver->problem.costs;
	struct matrix_send *sends = solver->sends.list + first;
	uint64_t lit_ps = begin_ps, end_ps = begin_ps;
	uint32_t changes = 0;

	for (uint32_t at = 0; at < count; at++)
		changes += !is_lit(solver, &sends[at]);
	if (changes)
		lit_ps += costs->change_ps + costs->port_ps * changes;
	figure->changes += changes;
	for (uint32_t at = 0; at < count; at++) {
		sends[at].set_ps = is_lit(solver, &sends[at]) ? lit_ps : begin_ps;
		sends[at].lit_ps = lit_ps;
		sends[at].until_ps = lit_ps + matrix_send_ps(solver, sends[at].bytes);
		end_ps = matrix_later(end_ps, sends[at].until_ps);
	}
	for (uint32_t at = 0; at < count; at++)
		note_end(solver, &sends[at], figure);
	return end_ps;
}

static int by_step(const void *one, const void *other, void *context)
{
	const struct matrix_send *a = one, *b = other;

	(void)context;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->plane != b->plane)
		return a->plane < b->plane ? -1 : 1;
	return (a->src > b->src) - (a->src < b->src);
}

/* One matching after another: a change stops the plane, or all. */
static void time_by_steps(struct matrix_solver *solver, struct matrix_figure *figure)
{
	uint64_t now_ps = 0;

	if (solver->problem.costs.scope == MORPH_DELAY_FABRIC_SCOPE)
		lm_sort(solver->sends.list, solver->sends.count, sizeof(*solver->sends.list),
			by_step, NULL);
	for (uint32_t at = 0, count; at < solver->sends.count; at += count) {
		const struct matrix_send *sends = solver->sends.list;

		count = together(solver, at);
		if (at && solver->problem.costs.scope != MORPH_DELAY_FABRIC_SCOPE &&
		    sends[at].plane != sends[at - 1].plane)
			now_ps = 0;
		now_ps = time_step(solver, at, count, now_ps, figure);
	}
}

int lm_matrix_time(struct matrix_solver *solver, struct matrix_figure *figure)
{
	*figure = (struct matrix_figure){ .tried = true };
	begin(solver);
	if (solver->problem.costs.scope == MORPH_DELAY_PORT_SCOPE)
		return time_by_ports(solver, figure);
	time_by_steps(solver, figure);
	return 0;
}
