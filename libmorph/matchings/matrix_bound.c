// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A lower bound for all plans.
 *
 * Take the data that one rank sends (or one receives, or a pair): wire_ps for all bytes, for some
 * partners, with ports on k planes. A plan that uses u of these ports has at least max(u, partners)
 * sends of each_ps. A partner without a held circuit needs one to be set. A used port without a
 * useful held circuit has to set one. So at least max(fresh, u - held) circuits are set. The u
 * ports do one thing at a time, so the last one ends no sooner than
 *
 *	(wire_ps + max(u, partners) * each_ps + max(fresh, u - held) * set_ps) / u
 *
 * While u is at most fresh + held, this does not grow with u. From there on it only grows or only
 * falls. So the smaller of its values there and at u = k bounds all plans. In addition, one of the
 * k ports sets at least fresh / k circuits, rounded up. Planes or fabrics that change as a whole
 * are never faster than ports that change independently.
 */
#include "matrix_work.h"

/* The load of one rank's ports of one kind, or of a pair. */
struct load {
	uint64_t bytes;
	uint32_t partners; /* partners with data */
	uint32_t known; /* of these, with a held circuit */
	uint32_t held; /* held circuits for them, on all planes */
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

/* In any plan, some port sets its part of them. */
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
