// SPDX-License-Identifier: LGPL-2.1-or-later
/* Topologies for a collective: see topologies.h. */
#include "topologies.h"

#include "../util/sort.h"

#define MOST_JOINTS (1U << 26)

static uint32_t end_of(const struct topology *topology)
{
	return topology->first + topology->count;
}

int lm_pool_begin(struct pool *pool)
{
	uint32_t count = pool->topologies.count;
	int ret;

	if (count == MOST_TOPOLOGIES)
		return lm_fail(pool->ctx, E2BIG, "a pool has at most %u topologies",
			       MOST_TOPOLOGIES);
	ret = ARRAY_GROW(pool->ctx, pool->topologies, 1, "begin a topology");
	if (!ret)
		ret = ARRAY_GROW(pool->ctx, pool->ports, 2 * pool->ranks, "begin a topology");
	if (ret)
		return ret;
	pool->joints.count = count ? end_of(&pool->topologies.list[count - 1]) : 0;
	pool->topologies.list[count] = (struct topology){ .first = pool->joints.count };
	return 0;
}

int lm_pool_join(struct pool *pool, uint32_t src, uint32_t dst, uint32_t circuits)
{
	int ret;

	if (src >= pool->ranks || dst >= pool->ranks || src == dst || !circuits)
		return lm_fail(pool->ctx, EINVAL,
			       "%u circuits from rank %u to %u do not join two of %u ranks",
			       circuits, src, dst, pool->ranks);
	if (pool->joints.count == MOST_JOINTS)
		return lm_fail(pool->ctx, E2BIG, "a pool has at most %u joints", MOST_JOINTS);
	ret = ARRAY_GROW(pool->ctx, pool->joints, 1, "join ranks");
	if (ret)
		return ret;
	pool->joints.list[pool->joints.count++] =
		(struct joint){ .src = src, .dst = dst, .circuits = circuits };
	return 0;
}

static int by_ranks(const void *one, const void *other, void *context)
{
	const struct joint *a = one, *b = other;

	(void)context;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

/* The joints of the begun topology, in order and each once. */
static struct topology *settle(struct pool *pool)
{
	struct topology *topology = &pool->topologies.list[pool->topologies.count];
	uint32_t count = pool->joints.count - topology->first;
	struct joint *joints = pool->joints.list + topology->first;

	lm_sort(joints, count, sizeof(*joints), by_ranks, NULL);
	topology->count = 0;
	for (uint32_t at = 0; at < count; at++) {
		struct joint *last = topology->count ? &joints[topology->count - 1] : NULL;

		if (last && !by_ranks(last, &joints[at], NULL))
			last->circuits += joints[at].circuits;
		else
			joints[topology->count++] = joints[at];
	}
	pool->joints.count = end_of(topology);
	return topology;
}

/* Discard the begun topology. */
static void drop(struct pool *pool)
{
	pool->joints.count = pool->topologies.list[pool->topologies.count].first;
}

/* The number of the finished topology, or of an equal one. */
static int take(struct pool *pool)
{
	const struct topology *topology = &pool->topologies.list[pool->topologies.count];
	const struct joint *joints = pool->joints.list;

	for (uint32_t at = 0; at < pool->topologies.count; at++) {
		const struct topology *other = &pool->topologies.list[at];

		if (other->count == topology->count &&
		    (!other->count || !memcmp(joints + other->first, joints + topology->first,
					      other->count * sizeof(*joints)))) {
			drop(pool);
			return (int)at;
		}
	}
	return (int)pool->topologies.count++;
}

int lm_pool_end(struct pool *pool)
{
	settle(pool);
	return take(pool);
}

static uint32_t ports_of(struct pool *pool, const struct topology *topology)
{
	uint32_t *out = pool->ports.list, *in = out + pool->ranks, most = 0;

	memset(out, 0, 2 * (size_t)pool->ranks * sizeof(*out));
	for (uint32_t at = topology->first; at < end_of(topology); at++) {
		const struct joint *joint = &pool->joints.list[at];

		out[joint->src] += joint->circuits;
		in[joint->dst] += joint->circuits;
	}
	for (uint32_t at = 0; at < 2 * pool->ranks; at++)
		most = out[at] > most ? out[at] : most;
	return most;
}

uint32_t lm_pool_ports(struct pool *pool, uint32_t topology)
{
	return ports_of(pool, &pool->topologies.list[topology]);
}

uint32_t lm_pool_changed_ports(const struct pool *pool, uint32_t from, uint32_t to)
{
	static const struct topology dark;
	const struct topology *old = from == RESIDENT_NONE ? &dark : &pool->topologies.list[from];
	const struct topology *new = &pool->topologies.list[to];
	const struct joint *joints = pool->joints.list;
	uint32_t changed = 0, past = old->first;

	for (uint32_t at = new->first; at < end_of(new); at++) {
		uint32_t held = 0;

		while (past < end_of(old) && by_ranks(&joints[past], &joints[at], NULL) < 0)
			past++;
		if (past < end_of(old) && !by_ranks(&joints[past], &joints[at], NULL))
			held = joints[past].circuits;
		changed += joints[at].circuits > held ? joints[at].circuits - held : 0;
	}
	return changed;
}

void lm_pool_clear(struct pool *pool)
{
	pool->topologies.count = 0;
	pool->joints.count = 0;
}

void lm_pool_release(struct pool *pool)
{
	free(pool->topologies.list);
	free(pool->joints.list);
	free(pool->ports.list);
	*pool = (struct pool){ .ctx = pool->ctx,
			       .ranks = pool->ranks,
			       .row = pool->row,
			       .row_count = pool->row_count };
}

/* ----------------------------------------------------------------- builders */

static int join_ways(struct pool *pool, uint32_t one, uint32_t other, enum pool_ways ways,
		     uint32_t circuits)
{
	int ret = lm_pool_join(pool, one, other, circuits);

	if (!ret && ways == POOL_BOTH)
		ret = lm_pool_join(pool, other, one, circuits);
	return ret;
}

static uint32_t row_count(const struct pool *pool)
{
	return pool->row ? pool->row_count : pool->ranks;
}

static uint32_t of_row(const struct pool *pool, uint32_t at)
{
	return pool->row ? pool->row[at] : at;
}

int lm_pool_add_circulant(struct pool *pool, uint32_t by, enum pool_ways ways, uint32_t circuits)
{
	uint32_t count = row_count(pool);
	int ret = lm_pool_begin(pool);

	for (uint32_t at = 0; !ret && at < count; at++)
		ret = join_ways(pool, of_row(pool, at), of_row(pool, (at + by) % count), ways,
				circuits);
	return ret ? ret : lm_pool_end(pool);
}

int lm_pool_add_circulants(struct pool *pool, enum pool_ways ways, uint32_t circuits)
{
	uint32_t most = ways == POOL_BOTH ? row_count(pool) / 2 : row_count(pool) - 1;
	int ring = lm_pool_add_circulant(pool, 1, ways, circuits), ret = ring;

	for (uint32_t by = 2; ret >= 0 && by <= most; by++)
		ret = lm_pool_add_circulant(pool, by, ways, circuits);
	return ret < 0 ? ret : ring;
}

/* Neighbours at distance @step, in rows of @size. */
static int join_rows(struct pool *pool, uint32_t step, uint32_t size, bool wraps, uint32_t circuits)
{
	/* the position in the row, and the first rank of another one */
	uint32_t at = 0, next = step;
	int ret = 0;

	for (uint32_t rank = 0; !ret && rank < pool->ranks; rank++) {
		if (rank == next) {
			at = at + 1 < size ? at + 1 : 0;
			next += step;
		}
		if (at + 1 < size)
			ret = join_ways(pool, rank, rank + step, POOL_BOTH, circuits);
		else if (wraps && at)
			ret = join_ways(pool, rank, rank - at * step, POOL_BOTH, circuits);
	}
	return ret;
}

int lm_pool_add_grid(struct pool *pool, const uint32_t sizes[3], bool wraps, uint32_t circuits)
{
	uint32_t step = 1;
	int ret;

	if ((uint64_t)sizes[0] * sizes[1] > pool->ranks ||
	    (uint64_t)sizes[0] * sizes[1] * sizes[2] != pool->ranks)
		return lm_fail(pool->ctx, EINVAL, "a grid of %ux%ux%u does not have %u ranks",
			       sizes[0], sizes[1], sizes[2], pool->ranks);
	ret = lm_pool_begin(pool);
	for (uint32_t way = 0; !ret && way < 3; way++) {
		ret = join_rows(pool, step, sizes[way], wraps, circuits);
		step *= sizes[way];
	}
	return ret ? ret : lm_pool_end(pool);
}

static int join_round(struct pool *pool, const struct morph_collective *collective, uint32_t round)
{
	const struct round *its = &collective->rounds.list[round];
	const struct transfer *transfers = collective->transfers.list + its->first;
	int ret = 0;

	for (uint32_t at = 0; !ret && at < its->count; at++)
		ret = lm_pool_join(pool, transfers[at].src, transfers[at].dst, 1);
	return ret;
}

/* Give each joint the same number of circuits. Return the ports that this needs. */
static uint32_t spread(struct pool *pool, uint32_t circuits)
{
	struct topology *topology = settle(pool);

	for (uint32_t at = topology->first; at < end_of(topology); at++)
		pool->joints.list[at].circuits = circuits;
	return ports_of(pool, topology);
}

int lm_pool_add_round(struct pool *pool, const struct morph_collective *collective, uint32_t round,
		      uint32_t ports)
{
	uint32_t needed;
	int ret = lm_pool_begin(pool);

	if (!ret)
		ret = join_round(pool, collective, round);
	if (ret)
		return ret;
	needed = spread(pool, 1);
	if (needed > ports)
		return lm_fail(pool->ctx, ENOSPC,
			       "in round %u a rank has %u partners, but only %u ports", round,
			       needed, ports);
	spread(pool, ports / (needed ? needed : 1));
	return take(pool);
}

/* Begin a topology with the circuits of some rounds, and count the ports. */
static int join_rounds(struct pool *pool, const struct morph_collective *collective, uint32_t first,
		       uint32_t end, uint32_t *needed)
{
	int ret = lm_pool_begin(pool);

	for (uint32_t round = first; !ret && round < end; round++)
		if (round == first || !lm_rounds_alike(collective, round - 1, round))
			ret = join_round(pool, collective, round);
	if (!ret)
		*needed = spread(pool, 1);
	return ret;
}

int lm_pool_add_rounds(struct pool *pool, const struct morph_collective *collective, uint32_t ports,
		       uint32_t *first)
{
	uint32_t begin = *first, end = begin, needed = 0;
	int ret = lm_pool_begin(pool);

	for (; !ret && end < collective->rounds.count; end++) {
		if (end > begin && lm_rounds_alike(collective, end - 1, end))
			continue;
		ret = join_round(pool, collective, end);
		if (!ret)
			needed = spread(pool, 1);
		if (needed > ports)
			break;
	}
	if (!ret && end == begin) {
		/* Equal rounds need the same ports. */
		do
			end++;
		while (end < collective->rounds.count && lm_rounds_alike(collective, end - 1, end));
		*first = end;
		drop(pool);
		return 0;
	}
	*first = end;
	if (!ret && needed > ports)
		ret = join_rounds(pool, collective, begin, end, &needed);
	if (ret)
		return ret;
	spread(pool, ports / (needed ? needed : 1));
	take(pool);
	return 0;
}
