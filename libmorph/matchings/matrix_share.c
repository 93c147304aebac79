// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Assigns pairs to planes. Changes cost most if each pair uses all planes; the loads differ most if
 * each uses one. So there are three ways:
 *
 * - Pairs go whole, the largest first, to the plane on which the fuller of their ports is least
 *   full. Then the load of the fullest port of all is split with another plane, while that gains
 *   anything.
 * - Each pair is distributed evenly.
 * - The matrix is decomposed into matchings. These go to planes, the longest first, and are split
 *   until the planes have about equal loads: Spectra (arXiv 2603.07373).
 */
#include "matrix_work.h"
#include "../util/sort.h"

/* The busy time of ports. */
struct pair_loads {
	uint64_t *transmit, *receive;
};

static struct pair_loads loads_of(struct matrix_solver *solver, uint32_t plane, uint32_t src,
				  uint32_t dst)
{
	uint64_t *loads = solver->loads + matrix_ports(solver, plane);

	return (struct pair_loads){ loads + src, loads + solver->problem.ranks + dst };
}

static uint64_t change_ps(const struct matrix_solver *solver, uint32_t plane, uint32_t src,
			  uint32_t dst)
{
	return lm_matrix_held(solver, plane, src, dst) ? 0 : solver->set_ps;
}

int lm_matrix_largest_first(const void *one, const void *other, void *context)
{
	const struct matrix_share *a = one, *b = other;

	(void)context;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

static void load(struct matrix_solver *solver, const struct matrix_share *share, int64_t ps)
{
	struct pair_loads loads = loads_of(solver, share->plane, share->src, share->dst);

	*loads.transmit += (uint64_t)ps;
	*loads.receive += (uint64_t)ps;
}

static uint64_t share_ps(const struct matrix_solver *solver, const struct matrix_share *share)
{
	return change_ps(solver, share->plane, share->src, share->dst) +
	       matrix_send_ps(solver, share->bytes);
}

/* The plane on which it ends first, if ports were never idle. */
static void choose_plane(struct matrix_solver *solver, struct matrix_share *share)
{
	uint64_t best = UINT64_MAX;
	uint32_t chosen = 0;

	for (uint32_t plane = 0; plane < solver->problem.planes; plane++) {
		struct pair_loads loads = loads_of(solver, plane, share->src, share->dst);
		uint64_t done = matrix_later(*loads.transmit, *loads.receive) +
				change_ps(solver, plane, share->src, share->dst);

		if (done >= best)
			continue;
		best = done;
		chosen = plane;
	}
	share->plane = chosen;
	load(solver, share, (int64_t)share_ps(solver, share));
}

/* ----------------------------------------------------------------- evening */

/* A part of a share that moves to another plane. */
struct move {
	uint32_t share, plane;
	uint64_t bytes;
	uint64_t gain; /* decrease of the fullest port's load */
};

static size_t fullest_port(const struct matrix_solver *solver)
{
	size_t all = matrix_ports(solver, solver->problem.planes), fullest = 0;

	for (size_t port = 1; port < all; port++)
		if (solver->loads[port] > solver->loads[fullest])
			fullest = port;
	return fullest;
}

static uint64_t bytes_in(const struct matrix_solver *solver, uint64_t ps)
{
	return (uint64_t)((unsigned __int128)ps * solver->problem.costs.mbps / 8000000);
}

/* The gain if a part of a share of the fullest port moves to this plane. */
static void consider(struct matrix_solver *solver, uint64_t fullest, uint32_t at, uint32_t plane,
		     struct move *best)
{
	const struct matrix_share *share = &solver->shares.list[at];
	struct pair_loads loads = loads_of(solver, plane, share->src, share->dst);
	uint64_t begin = matrix_later(*loads.transmit, *loads.receive) + solver->each_ps +
			 change_ps(solver, plane, share->src, share->dst);
	uint64_t wire = matrix_wire_ps(solver, share->bytes), room, gain;
	bool whole;

	if (begin >= fullest)
		return;
	room = fullest - begin;
	whole = wire <= room / 2;
	gain = whole ? room - wire : room / 2;
	if (whole && gain > share_ps(solver, share))
		gain = share_ps(solver, share);
	if (gain > best->gain && (whole || bytes_in(solver, gain)))
		*best = (struct move){ at, plane, whole ? share->bytes : bytes_in(solver, gain),
				       gain };
}

static int carry_out(struct matrix_solver *solver, const struct move *move)
{
	struct matrix_share *share = &solver->shares.list[move->share], part = *share;

	load(solver, share, -(int64_t)share_ps(solver, share));
	if (move->bytes == share->bytes) {
		share->plane = move->plane;
		load(solver, share, (int64_t)share_ps(solver, share));
		return 0;
	}
	part.plane = move->plane;
	part.bytes = move->bytes;
	share->bytes -= part.bytes;
	load(solver, share, (int64_t)share_ps(solver, share));
	load(solver, &part, (int64_t)share_ps(solver, &part));
	if (ARRAY_GROW(solver->ctx, solver->shares, 1, "share planes"))
		return -ENOMEM;
	solver->shares.list[solver->shares.count++] = part;
	return 0;
}

/* Make one move for the fullest port. Return 1, 0 if there is none, or -ENOMEM. */
static int even_out(struct matrix_solver *solver)
{
	size_t port = fullest_port(solver);
	uint32_t ranks = solver->problem.ranks, plane = (uint32_t)(port / (2 * (size_t)ranks));
	uint32_t end = (uint32_t)(port % (2 * (size_t)ranks));
	uint64_t fullest = solver->loads[port];
	struct move best = { .gain = fullest / 4096 };
	int ret;

	best.share = MATRIX_NONE;
	for (uint32_t at = 0; at < solver->shares.count; at++) {
		const struct matrix_share *share = &solver->shares.list[at];

		if (share->plane != plane ||
		    (end < ranks ? share->src != end : share->dst != end - ranks))
			continue;
		for (uint32_t other = 0; other < solver->problem.planes; other++)
			if (other != plane)
				consider(solver, fullest, at, other, &best);
	}
	if (best.share == MATRIX_NONE)
		return 0;
	ret = carry_out(solver, &best);
	return ret ? ret : 1;
}

/* Whole pairs, the largest first, then split. */
static int share_pairs(struct matrix_solver *solver)
{
	uint32_t moves = 8 * solver->problem.ranks * solver->problem.planes;
	uint64_t most = solver->looks + solver->most_looks / 8;
	int ret = 1;

	memset(solver->loads, 0,
	       matrix_ports(solver, solver->problem.planes) * sizeof(*solver->loads));
	lm_sort(solver->shares.list, solver->shares.count, sizeof(*solver->shares.list),
		lm_matrix_largest_first, NULL);
	for (uint32_t at = 0; at < solver->shares.count; at++)
		choose_plane(solver, &solver->shares.list[at]);
	while (moves-- && ret > 0 && solver->looks < most) {
		solver->looks += solver->shares.count;
		ret = even_out(solver);
	}
	return ret < 0 ? ret : 0;
}

/* ------------------------------------------------------------------ stripes */

/* The same on each plane, within a byte. */
static int share_stripes(struct matrix_solver *solver)
{
	uint32_t planes = solver->problem.planes, pairs = solver->shares.count;

	if (ARRAY_GROW(solver->ctx, solver->shares, pairs * (planes - 1), "share planes"))
		return -ENOMEM;
	for (uint32_t at = 0; at < pairs; at++) {
		struct matrix_share *share = &solver->shares.list[at];
		uint64_t bytes = share->bytes;

		share->bytes = bytes / planes + (bytes % planes > 0);
		for (uint32_t plane = 1; plane < planes; plane++) {
			struct matrix_share *other = &solver->shares.list[solver->shares.count++];

			*other = *share;
			other->plane = plane;
			other->bytes = bytes / planes + (plane < bytes % planes);
		}
	}
	return 0;
}

/* ---------------------------------------------------------------- matchings */

static uint64_t part_ps(const struct matrix_solver *solver, const struct matrix_part *part)
{
	return solver->set_ps + solver->each_ps +
	       (uint64_t)((unsigned __int128)part->wire_ps * (part->to - part->from) /
			  MATRIX_PARTS);
}

/* All pairs as for one plane; a part for each matching. */
static int decompose(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;
	size_t cells = (size_t)ranks * ranks;
	int ret;

	solver->plane = solver->step = 0;
	solver->sends.count = solver->parts.count = 0;
	memcpy(solver->left, solver->cells, cells * sizeof(*solver->left));
	memset(solver->ready, 0, 2 * (size_t)ranks * sizeof(*solver->ready));
	if (ranks <= MATRIX_QUICK_RANKS)
		ret = lm_matrix_urgent(solver);
	else if (solver->shares.count < cells / 2)
		ret = lm_matrix_longest(solver);
	else
		ret = lm_matrix_rotation(solver);
	if (!ret)
		ret = ARRAY_GROW(solver->ctx, solver->parts, solver->step, "share planes");
	for (uint32_t at = 0; !ret && at < solver->sends.count; at++) {
		const struct matrix_send *send = &solver->sends.list[at];
		uint64_t wire_ps = matrix_wire_ps(solver, send->bytes);
		struct matrix_part *part;

		if (send->step == solver->parts.count)
			solver->parts.list[solver->parts.count++] =
				(struct matrix_part){ .first = at, .to = MATRIX_PARTS };
		part = &solver->parts.list[send->step];
		part->count++;
		part->wire_ps = matrix_later(part->wire_ps, wire_ps);
	}
	return ret;
}

static uint32_t emptiest(const struct matrix_solver *solver)
{
	uint32_t found = 0;

	for (uint32_t plane = 1; plane < solver->problem.planes; plane++)
		if (solver->loads[plane] < solver->loads[found])
			found = plane;
	return found;
}

static int longest_first(const void *one, const void *other, void *context)
{
	const struct matrix_part *a = one, *b = other;

	(void)context;
	if (a->wire_ps != b->wire_ps)
		return a->wire_ps > b->wire_ps ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* The longest part of the fullest plane; NULL: it has none. */
static struct matrix_part *longest_part(struct matrix_solver *solver)
{
	struct matrix_part *found = NULL;
	uint32_t fullest = 0;

	for (uint32_t plane = 1; plane < solver->problem.planes; plane++)
		if (solver->loads[plane] > solver->loads[fullest])
			fullest = plane;
	for (uint32_t at = 0; at < solver->parts.count; at++) {
		struct matrix_part *part = &solver->parts.list[at];

		if (part->plane == fullest &&
		    (!found || part_ps(solver, part) > part_ps(solver, found)))
			found = part;
	}
	return found;
}

/*
 * Move some of the longest part of the fullest plane to the emptiest. Return whether that gains
 * anything.
 */
static int split_part(struct matrix_solver *solver)
{
	uint64_t over = solver->set_ps + solver->each_ps, fullest, room, cut;
	uint32_t plane = emptiest(solver);
	struct matrix_part *part, rest;

	if (ARRAY_GROW(solver->ctx, solver->parts, 1, "share planes"))
		return -ENOMEM;
	part = longest_part(solver);
	if (!part)
		return 0;
	fullest = solver->loads[part->plane];
	if (fullest <= solver->loads[plane] + over)
		return 0;
	room = (fullest - solver->loads[plane] - over) / 2;
	cut = part->wire_ps ? (uint64_t)((unsigned __int128)room * MATRIX_PARTS / part->wire_ps) :
			      0;
	if (!cut || cut >= part->to - part->from || room < fullest / 1024)
		return 0;
	rest = *part;
	solver->loads[part->plane] -= part_ps(solver, part);
	part->to -= (uint32_t)cut;
	solver->loads[part->plane] += part_ps(solver, part);
	rest.from = part->to;
	rest.plane = plane;
	solver->loads[plane] += part_ps(solver, &rest);
	solver->parts.list[solver->parts.count++] = rest;
	return 1;
}

/* Bytes of a send up to a part. */
static uint64_t up_to(uint64_t bytes, uint32_t part)
{
	return (uint64_t)((unsigned __int128)bytes * part / MATRIX_PARTS);
}

/* Whole matchings, the longest first, each to the plane with the least load, then split. */
static int share_matchings(struct matrix_solver *solver)
{
	uint32_t splits = 4 * solver->problem.planes;
	int ret = decompose(solver);

	if (ret)
		return ret;
	memset(solver->loads, 0, solver->problem.planes * sizeof(*solver->loads));
	lm_sort(solver->parts.list, solver->parts.count, sizeof(*solver->parts.list), longest_first,
		NULL);
	for (uint32_t at = 0; at < solver->parts.count; at++) {
		struct matrix_part *part = &solver->parts.list[at];

		part->plane = emptiest(solver);
		solver->loads[part->plane] += part_ps(solver, part);
	}
	for (ret = 1; ret > 0 && splits; splits--)
		ret = split_part(solver);
	solver->shares.count = 0;
	for (uint32_t at = 0; ret >= 0 && at < solver->parts.count; at++) {
		const struct matrix_part *part = &solver->parts.list[at];

		ret = ARRAY_GROW(solver->ctx, solver->shares, part->count, "share planes");
		for (uint32_t number = 0; !ret && number < part->count; number++) {
			const struct matrix_send *send = &solver->sends.list[part->first + number];
			uint64_t bytes =
				up_to(send->bytes, part->to) - up_to(send->bytes, part->from);

			solver->shares.list[solver->shares.count++] =
				(struct matrix_share){ part->plane, send->src, send->dst, bytes };
		}
	}
	return ret < 0 ? ret : 0;
}

/* -------------------------------------------------------------------- pairs */

int lm_matrix_pairs(struct matrix_solver *solver, const uint64_t *cells, matrix_shares *out)
{
	uint32_t ranks = solver->problem.ranks;

	out->count = 0;
	for (uint32_t src = 0; src < ranks; src++) {
		if (ARRAY_GROW(solver->ctx, *out, ranks, "plan a matrix"))
			return -ENOMEM;
		for (uint32_t dst = 0; dst < ranks; dst++) {
			uint64_t bytes = cells[(size_t)src * ranks + dst];

			if (bytes)
				out->list[out->count++] =
					(struct matrix_share){ 0, src, dst, bytes };
		}
	}
	return 0;
}

int lm_matrix_share(struct matrix_solver *solver, enum matrix_sharing sharing)
{
	int ret = lm_matrix_pairs(solver, solver->cells, &solver->shares);

	if (ret || solver->problem.planes == 1)
		return ret;
	switch (sharing) {
	case MATRIX_STRIPES:
		return share_stripes(solver);
	case MATRIX_MATCHINGS:
		return share_matchings(solver);
	default:
		return share_pairs(solver);
	}
}
