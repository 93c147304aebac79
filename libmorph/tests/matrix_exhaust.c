// SPDX-License-Identifier: LGPL-2.1-or-later
/* Enumerate all plans of a small matrix, and find the fastest. */
#include "matrix_exhaust.h"

/*
 * Enumerate all orders of sends of whole units. Each send begins as soon as both of its ends are
 * free.
 */
struct exhaust {
	uint32_t ranks, left[16], units;
	uint64_t transmit[4], receive[4], unit_ps, set_ps, best_ps;
	uint32_t peer[4], sender[4];
};

/* Lower bound of the remaining time: the remaining work of the busiest port. */
static uint64_t still(const struct exhaust *exhaust)
{
	uint64_t most = 0;

	for (uint32_t port = 0; port < exhaust->ranks; port++) {
		uint64_t out = exhaust->transmit[port], in = exhaust->receive[port];

		for (uint32_t peer = 0; peer < exhaust->ranks; peer++) {
			uint32_t to = exhaust->left[port * exhaust->ranks + peer];
			uint32_t from = exhaust->left[peer * exhaust->ranks + port];

			if (to)
				out += to * exhaust->unit_ps +
				       (exhaust->peer[port] != peer) * exhaust->set_ps;
			if (from)
				in += from * exhaust->unit_ps +
				      (exhaust->sender[port] != peer) * exhaust->set_ps;
		}
		most = out > most ? out : most;
		most = in > most ? in : most;
	}
	return most;
}

/* Sends are in the order of their beginnings. */
static void exhaust_all(struct exhaust *exhaust, uint64_t last_ps)
{
	if (still(exhaust) >= exhaust->best_ps)
		return;
	if (!exhaust->units)
		exhaust->best_ps = still(exhaust);
	for (uint32_t cell = 0; cell < exhaust->ranks * exhaust->ranks; cell++) {
		uint32_t src = cell / exhaust->ranks, dst = cell % exhaust->ranks;
		uint64_t from_ps = exhaust->transmit[src] > exhaust->receive[dst] ?
					   exhaust->transmit[src] :
					   exhaust->receive[dst];

		if (from_ps < last_ps)
			continue;
		for (uint32_t units = exhaust->left[cell]; units; units--) {
			struct exhaust next = *exhaust;

			next.left[cell] -= units;
			next.units -= units;
			next.transmit[src] = from_ps + units * exhaust->unit_ps;
			if (exhaust->peer[src] != dst || exhaust->sender[dst] != src)
				next.transmit[src] += exhaust->set_ps;
			next.receive[dst] = next.transmit[src];
			next.peer[src] = dst;
			next.sender[dst] = src;
			exhaust_all(&next, from_ps);
			exhaust->best_ps = next.best_ps;
		}
	}
}

uint64_t exhaust_problem(const struct matrix_problem *problem, uint64_t unit)
{
	struct exhaust exhaust = { .ranks = problem->ranks,
				   .unit_ps = unit * 8000000 / problem->costs.mbps,
				   .set_ps = problem->costs.change_ps,
				   .best_ps = UINT64_MAX };

	for (uint32_t port = 0; port < problem->ranks; port++)
		exhaust.peer[port] = exhaust.sender[port] = MATRIX_NONE;
	for (uint32_t cell = 0; cell < problem->ranks * problem->ranks; cell++) {
		exhaust.left[cell] = (uint32_t)(problem->bytes[cell] / unit);
		exhaust.units += exhaust.left[cell];
	}
	exhaust_all(&exhaust, 0);
	return exhaust.best_ps;
}
