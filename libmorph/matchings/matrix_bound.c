// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * No plan is sooner than this.
 *
 * Take what is sent by one rank (or received by one, or by a pair): bytes that take wire_ps in all, for some
 * partners, with ports on k planes. In a plan that uses u of these ports there are at least
 * max(u, partners) sends, each with its each_ps. A partner for whom no circuit is held needs one set; and a
 * port that is used, but holds no circuit that is of use, has to set one: at least max(fresh, u - held) are set. All of
 * that is done by u ports, one thing at a time, so the last is done no sooner than
 *
 *	(wire_ps + max(u, partners) * each_ps + max(fresh, u - held) * set_ps) / u
 *
 * As long as u is at most fresh + held this does not grow with u; from there on it only grows or only
 * falls. So the lesser of what it is there and at u = k bounds all plans. Besides, one of the k
 * ports sets at least fresh / k circuits, rounded up. Planes that change as a whole,
 * or a fabric that does, are never sooner than ports that change by themselves.
 */
#include "matrix_work.h"

/* Of one rank's ports of one kind, or of a pair. */
struct load {
	uint64_t bytes;
	uint32_t partners; /* that there is something for */
	uint32_t known; /* of these: a circuit is held */
	uint32_t held; /* circuits held for them, on all planes */
};

static uint64_t shared(unsigned __int128 ps, uint32_t ports)
{
	return (uint64_t)((ps + ports - 1) / ports);
}

static uint64_t bound_with(const struct matrix_solver *solver, const struct load *load,
			   uint32_t ports)
{
	uint32_t sends = load->partners > ports ? load->partners : ports;
	uint32_t fresh = load->partners - load->known;
	uint32_t dark = ports > load->held ? ports - load->held : 0;
	unsigned __int128 ps = matrix_wire_ps(solver, load->bytes);

	ps += (unsigned __int128)sends * solver->each_ps;
	ps += (unsigned __int128)(fresh > dark ? fresh : dark) * solver->set_ps;
	return shared(ps, ports);
}

/* Whatever is done: some port sets its part of them. */
static uint64_t bound_by_sets(const struct matrix_solver *solver, const struct load *load)
{
	uint32_t fresh = load->partners - load->known;

	return shared(fresh, solver->problem.planes) * (solver->set_ps + solver->each_ps);
}

static uint64_t bound_of(const struct matrix_solver *solver, const struct load *load)
{
	uint32_t turn = load->partners - load->known + load->held;
	uint64_t sets = bound_by_sets(solver, load), some;
	uint64_t all = bound_with(solver, load, solver->problem.planes);

	if (load->held && turn < solver->problem.planes) {
		some = bound_with(solver, load, turn);
		all = some < all ? some : all;
	}
	return all > sets ? all : sets;
}

static void bound_by(struct matrix_solver *solver, const struct load *load, uint32_t kind,
		     uint32_t rank, uint32_t peer)
{
	uint64_t bound = load->bytes ? bound_of(solver, load) : 0;

	if (bound <= solver->plan.bound_ps)
		return;
	solver->plan.bound_ps = bound;
	solver->plan.bound = kind;
	solver->plan.bound_rank = rank;
	solver->plan.bound_peer = peer;
}

static void add_pair(struct matrix_solver *solver, struct load *load, uint32_t src, uint32_t dst,
		     struct load *pair)
{
	uint64_t bytes = src == dst ? 0 : solver->cells[(size_t)src * solver->problem.ranks + dst];

	*pair = (struct load){ .bytes = bytes, .partners = 1 };
	if (!bytes)
		return;
	for (uint32_t plane = 0; solver->problem.held_count && plane < solver->problem.planes;
	     plane++)
		pair->held += lm_matrix_held(solver, plane, src, dst);
	pair->known = pair->held > 0;
	load->bytes += bytes;
	load->partners++;
	load->known += pair->known;
	load->held += pair->held;
}

void lm_matrix_bound(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;

	for (uint32_t rank = 0; rank < ranks; rank++) {
		struct load sent = { 0 }, received = { 0 }, pair;
		uint64_t most;

		for (uint32_t peer = 0; peer < ranks; peer++) {
			add_pair(solver, &received, peer, rank, &pair);
			add_pair(solver, &sent, rank, peer, &pair);
			bound_by(solver, &pair, MATRIX_BOUND_PAIR, rank, peer);
		}
		bound_by(solver, &sent, MATRIX_BOUND_TRANSMIT, rank, MATRIX_NONE);
		bound_by(solver, &received, MATRIX_BOUND_RECEIVE, rank, MATRIX_NONE);
		most = sent.bytes > received.bytes ? sent.bytes : received.bytes;
		most = shared(matrix_wire_ps(solver, most), solver->problem.planes);
		if (most > solver->plan.load_ps)
			solver->plan.load_ps = most;
	}
}
