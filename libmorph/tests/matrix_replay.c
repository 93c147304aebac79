// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Replay a plan send by send in the order of time. Check that ports are free, changes have their
 * time, and all bytes arrive.
 */
#include <stdlib.h>
#include <string.h>

#include "alone.h"
#include "matrix_replay.h"

/* A port and its last use. */
struct port {
	uint64_t free_ps;
	uint32_t peer;
};

struct replay {
	struct port transmit[PLANES][RANKS], receive[PLANES][RANKS];
	uint64_t arrived[RANKS * RANKS];
	uint64_t span_ps;
	uint64_t from_ps[PLANES],
		until_ps[PLANES]; /* circuits were programmed without a pause last */
	uint32_t order[SENDS];
};

static const struct matrix_send *ordered; /* the key for sorting sends */

static int by_time(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	if (ordered[a].set_ps != ordered[b].set_ps)
		return ordered[a].set_ps < ordered[b].set_ps ? -1 : 1;
	return (a > b) - (a < b);
}

static void replay_begin(struct replay *replay, const struct matrix_problem *problem)
{
	memset(replay, 0, sizeof(*replay));
	for (uint32_t plane = 0; plane < PLANES; plane++)
		for (uint32_t rank = 0; rank < RANKS; rank++)
			replay->transmit[plane][rank].peer = replay->receive[plane][rank].peer =
				MATRIX_NONE;
	for (uint32_t at = 0; at < problem->held_count; at++) {
		const struct matrix_circuit *held = &problem->held[at];

		replay->transmit[held->plane][held->src].peer = held->dst;
		replay->receive[held->plane][held->dst].peer = held->src;
	}
}

/* Program a circuit immediately after the circuits before it. */
static const char *replay_program(struct replay *replay, const struct costs *costs,
				  const struct matrix_send *send, uint64_t free_ps)
{
	uint64_t *from = &replay->from_ps[send->plane], *until = &replay->until_ps[send->plane];

	if (send->set_ps < *until)
		return "a port programs two circuits at the same time";
	if (send->set_ps > *until)
		*from = send->set_ps;
	*until = send->set_ps + costs->port_ps;
	return send->set_ps > free_ps && free_ps < *from ? "both ends are idle" : NULL;
}

/*
 * With changes that stop ports: each send begins as soon as both of its ports are free, and in its
 * turn to be programmed.
 */
static const char *replay_port(struct replay *replay, const struct costs *costs,
			       const struct matrix_send *send, const struct port *transmit,
			       const struct port *receive)
{
	bool lit = transmit->peer == send->dst && receive->peer == send->src;
	uint64_t free_ps = transmit->free_ps > receive->free_ps ? transmit->free_ps :
								  receive->free_ps;

	if (send->set_ps < free_ps)
		return "a port has two tasks at the same time";
	if (!lit && costs->port_ps) {
		const char *why = replay_program(replay, costs, send, free_ps);

		if (why)
			return why;
	} else if (send->set_ps > free_ps) {
		return "both ends are idle";
	}
	if (send->lit_ps - send->set_ps != (lit ? 0 : costs->change_ps + costs->port_ps))
		return "a change has a wrong duration";
	return NULL;
}

/* With changes that stop planes or the fabric: no send is active during a change. */
static const char *replay_stop(const struct matrix_problem *problem, const struct matrix_plan *plan,
			       const struct matrix_send *send, const struct port *transmit,
			       const struct port *receive)
{
	bool fabric = problem->costs.scope == MORPH_DELAY_FABRIC_SCOPE;
	bool lit = transmit->peer == send->dst && receive->peer == send->src;
	uint64_t ps = problem->costs.change_ps;

	if (send->set_ps < transmit->free_ps || send->set_ps < receive->free_ps)
		return "a port has two tasks at the same time";
	if (lit && send->set_ps != send->lit_ps)
		return "a change has a wrong duration";
	for (uint32_t at = 0; !lit && at < plan->count; at++) {
		const struct matrix_send *other = &plan->sends[at];

		if (!fabric && other->plane != send->plane)
			continue;
		if (other->lit_ps < send->lit_ps && other->until_ps > send->set_ps)
			return "a send runs during a change of its circuit";
		if (other->set_ps == send->set_ps && other->lit_ps > other->set_ps)
			ps += problem->costs.port_ps;
	}
	return !lit && send->lit_ps - send->set_ps < ps ? "a change has a wrong duration" : NULL;
}

static const char *replay_send(struct replay *replay, const struct matrix_problem *problem,
			       const struct matrix_plan *plan, const struct matrix_send *send)
{
	const struct costs *costs = &problem->costs;
	unsigned __int128 bits = (unsigned __int128)send->bytes * 8000000;
	const char *why;
	struct port *transmit, *receive;

	if (send->plane >= problem->planes || send->src >= problem->ranks ||
	    send->dst >= problem->ranks || send->src == send->dst)
		return "no such circuit";
	if (!send->bytes || send->lit_ps < send->set_ps)
		return "no such send";
	transmit = &replay->transmit[send->plane][send->src];
	receive = &replay->receive[send->plane][send->dst];
	why = costs->scope == MORPH_DELAY_PORT_SCOPE ?
		      replay_port(replay, costs, send, transmit, receive) :
		      replay_stop(problem, plan, send, transmit, receive);
	if (why)
		return why;
	if (send->until_ps - send->lit_ps !=
	    costs->round_ps + costs->hop_ps + (bits + costs->mbps - 1) / costs->mbps)
		return "bytes take a wrong time";
	*transmit = (struct port){ send->until_ps, send->dst };
	*receive = (struct port){ send->until_ps, send->src };
	replay->arrived[send->src * problem->ranks + send->dst] += send->bytes;
	if (send->until_ps > replay->span_ps)
		replay->span_ps = send->until_ps;
	return NULL;
}

const char *wrong_with(const struct matrix_problem *problem, const struct matrix_plan *plan)
{
	static struct replay replay;
	const char *why = NULL;

	assert_in_range(plan->count, 0, SENDS);
	replay_begin(&replay, problem);
	for (uint32_t at = 0; at < plan->count; at++)
		replay.order[at] = at;
	ordered = plan->sends;
	qsort(replay.order, plan->count, sizeof(replay.order[0]), by_time);
	for (uint32_t at = 0; !why && at < plan->count; at++)
		why = replay_send(&replay, problem, plan, &plan->sends[replay.order[at]]);
	for (uint32_t src = 0; !why && src < problem->ranks; src++)
		for (uint32_t dst = 0; dst < problem->ranks; dst++)
			if (src != dst && replay.arrived[src * problem->ranks + dst] !=
						  problem->bytes[src * problem->ranks + dst])
				why = "not all bytes arrive";
	if (!why && replay.span_ps != plan->span_ps)
		why = "the plan takes a wrong time";
	if (!why && plan->span_ps < plan->bound_ps)
		why = "the plan ends before its lower bound";
	return why;
}
