// SPDX-License-Identifier: LGPL-2.1-or-later
/* The cost of rounds on topologies: paths, congestion and prices. See topologies.h. */
#include "topologies.h"

#define MOST_CELLS (1U << 30) /* prices, changes */

#define ROOM(work, array, wanted) \
	ARRAY_GROW((work)->segments.ctx, (work)->array, wanted, "find paths on a topology")

static int make_room(struct pool_work *work, const struct pool *pool)
{
	uint32_t room = work->visits.room, most = 0;
	int ret;

	for (uint32_t at = 0; at < pool->topologies.count; at++)
		most = pool->topologies.list[at].count > most ? pool->topologies.list[at].count :
								most;
	ret = ROOM(work, loads, most);
	if (!ret)
		ret = ROOM(work, heads, pool->ranks + 1);
	if (!ret)
		ret = ROOM(work, queue, pool->ranks);
	if (!ret)
		ret = ROOM(work, visits, pool->ranks);
	if (!ret && work->visits.room != room)
		memset(work->visits.list, 0, work->visits.room * sizeof(*work->visits.list));
	return ret;
}

/* Index the first joint of each rank, and clear the loads. */
static void clear(struct pool_work *work, const struct pool *pool, const struct topology *topology)
{
	const struct joint *joints = pool->joints.list + topology->first;
	uint32_t at = 0;

	for (uint32_t rank = 0; rank <= pool->ranks; rank++) {
		while (at < topology->count && joints[at].src < rank)
			at++;
		work->heads.list[rank] = at;
	}
	memset(work->loads.list, 0, topology->count * sizeof(*work->loads.list));
}

/* Most ranks are joined by one circuit, and a division takes longer than all else in leave(). */
static uint64_t each_of(uint64_t bytes, uint32_t circuits)
{
	if (circuits == 1)
		return bytes;
	return bytes / circuits + !!(bytes % circuits);
}

/*
 * Visit ranks in the order of their hops. When a rank is taken, all paths to it are known; it keeps
 * the one whose fullest circuit has the least bytes. Of several, the first.
 */
static void leave(struct pool_work *work, const struct joint *joints, uint32_t rank, uint64_t bytes,
		  uint32_t *queued)
{
	struct visit *visits = work->visits.list;
	const struct visit *from = &visits[rank];

	for (uint32_t over = work->heads.list[rank]; over < work->heads.list[rank + 1]; over++) {
		struct visit *to = &visits[joints[over].dst];
		uint64_t full =
			each_of(lm_sum(work->loads.list[over], bytes), joints[over].circuits);
		bool is_new = to->search != work->search;

		full = full > from->bytes ? full : from->bytes;
		if (is_new)
			work->queue.list[(*queued)++] = joints[over].dst;
		else if (to->hops != from->hops + 1 || full >= to->bytes)
			continue;
		*to = (struct visit){ work->search, from->hops + 1, over, full };
	}
}

/* Return whether there is a path; if so, add the bytes to it. */
static bool send(struct pool_work *work, const struct joint *joints,
		 const struct transfer *transfer, uint32_t *hops)
{
	struct visit *visits = work->visits.list;
	const struct visit *last = &visits[transfer->dst];
	uint32_t queued = 1;

	work->search++;
	work->queue.list[0] = transfer->src;
	visits[transfer->src] = (struct visit){ .search = work->search };
	for (uint32_t at = 0; at < queued; at++) {
		uint32_t rank = work->queue.list[at];

		if (last->search == work->search && visits[rank].hops >= last->hops)
			break;
		leave(work, joints, rank, transfer->bytes, &queued);
	}
	if (last->search != work->search)
		return false;
	*hops = last->hops;
	for (uint32_t rank = transfer->dst; rank != transfer->src;) {
		uint32_t over = visits[rank].over;

		work->loads.list[over] = lm_sum(work->loads.list[over], transfer->bytes);
		rank = joints[over].src;
	}
	return true;
}

/* Restart the numbers of searches before they reach those stored in visits. */
static void renumber(struct pool_work *work, uint32_t searches)
{
	if (work->search <= UINT32_MAX - searches)
		return;
	memset(work->visits.list, 0, work->visits.room * sizeof(*work->visits.list));
	work->search = 0;
}

static struct congestion route(struct pool_work *work, const struct pool *pool, uint32_t number,
			       const struct morph_collective *collective, uint32_t round)
{
	const struct topology *topology = &pool->topologies.list[number];
	const struct joint *joints = pool->joints.list + topology->first;
	const struct round *its = &collective->rounds.list[round];
	struct congestion congestion = { .reached = true };

	clear(work, pool, topology);
	renumber(work, its->count);
	for (uint32_t at = its->first; congestion.reached && at < its->first + its->count; at++) {
		uint32_t hops = 0;

		congestion.reached = send(work, joints, &collective->transfers.list[at], &hops);
		congestion.hops = hops > congestion.hops ? hops : congestion.hops;
	}
	for (uint32_t at = 0; at < topology->count; at++) {
		uint64_t each = each_of(work->loads.list[at], joints[at].circuits);

		congestion.bytes = each > congestion.bytes ? each : congestion.bytes;
	}
	return congestion;
}

int lm_pool_route(struct pool_work *work, const struct pool *pool, uint32_t topology,
		  const struct morph_collective *collective, uint32_t round,
		  struct congestion *congestion)
{
	int ret = make_room(work, pool);

	if (!ret)
		*congestion = route(work, pool, topology, collective, round);
	return ret;
}

/* The path of the transfer that was just routed; visits store it from its end. */
static int note_way(struct pool_work *work, const struct joint *joints,
		    const struct transfer *transfer, uint32_t hops, struct ways *ways)
{
	int ret = ARRAY_GROW(work->segments.ctx, ways->joints, hops, "find paths on a topology");
	uint32_t rank = transfer->dst;

	if (ret)
		return ret;
	for (uint32_t hop = hops; hop-- > 0;) {
		uint32_t over = work->visits.list[rank].over;

		ways->joints.list[ways->joints.count + hop] = over;
		rank = joints[over].src;
	}
	ways->joints.count += hops;
	return 0;
}

int lm_pool_ways(struct pool_work *work, const struct pool *pool, uint32_t topology,
		 const struct morph_collective *collective, uint32_t round, struct ways *ways)
{
	const struct topology *its = &pool->topologies.list[topology];
	const struct joint *joints = pool->joints.list + its->first;
	const struct round *of = &collective->rounds.list[round];
	int ret = make_room(work, pool);

	ways->firsts.count = 0;
	ways->joints.count = 0;
	if (!ret)
		ret = ARRAY_GROW(work->segments.ctx, ways->firsts, of->count + 1,
				 "find paths on a topology");
	if (ret)
		return ret;
	clear(work, pool, its);
	renumber(work, of->count);
	for (uint32_t at = of->first; !ret && at < of->first + of->count; at++) {
		const struct transfer *transfer = &collective->transfers.list[at];
		uint32_t hops = 0;

		ways->firsts.list[ways->firsts.count++] = ways->joints.count;
		ret = send(work, joints, transfer, &hops) ?
			      note_way(work, joints, transfer, hops, ways) :
			      -ENETUNREACH;
	}
	ways->firsts.list[ways->firsts.count] = ways->joints.count;
	return ret;
}

void lm_pool_ways_release(struct ways *ways)
{
	free(ways->firsts.list);
	free(ways->joints.list);
}

/* ------------------------------------------------------------------- prices */

bool lm_rounds_alike(const struct morph_collective *collective, uint32_t one, uint32_t other)
{
	const struct round *a = &collective->rounds.list[one];
	const struct round *b = &collective->rounds.list[other];

	if (a->count != b->count)
		return false;
	for (uint32_t at = 0; at < a->count; at++) {
		const struct transfer *its = &collective->transfers.list[a->first + at];
		const struct transfer *others = &collective->transfers.list[b->first + at];

		if (its->src != others->src || its->dst != others->dst ||
		    its->bytes != others->bytes)
			return false;
	}
	return true;
}

/* Equal rounds are priced once; those of a ring all are equal. */
static void price_round(struct pool_work *work, const struct pool *pool,
			const struct morph_collective *collective, const struct pool_opts *opts,
			uint32_t round)
{
	uint32_t count = pool->topologies.count, earlier = 0;
	uint64_t *prices = work->prices.list + (size_t)round * count;

	while (earlier < round && !lm_rounds_alike(collective, earlier, round))
		earlier++;
	if (earlier < round) {
		memcpy(prices, work->prices.list + (size_t)earlier * count,
		       count * sizeof(*prices));
		return;
	}
	for (uint32_t at = 0; at < count; at++) {
		struct congestion its = route(work, pool, at, collective, round);
		uint64_t ps = lm_round_ps(opts->costs, opts->round_each_hop, its.hops, its.bytes);

		ps = ps > TOO_LONG_PS ? TOO_LONG_PS : ps;
		prices[at] = its.reached ? ps : NEVER_PS;
	}
}

/* Only removing circuits is a change too. */
static void price_changes(struct pool_work *work, const struct pool *pool,
			  const struct pool_opts *opts)
{
	const struct costs *costs = opts->costs;
	uint32_t count = pool->topologies.count;

	for (uint32_t row = 0; row <= count; row++) {
		uint32_t from = row < count ? row : RESIDENT_NONE;

		for (uint32_t to = 0; to < count; to++) {
			uint64_t ports = opts->changed ? opts->changed(opts->context, from, to) :
							 lm_pool_changed_ports(pool, from, to);
			unsigned __int128 ps =
				costs->change_ps + (unsigned __int128)costs->port_ps * ports;

			ps = ps > NEVER_PS ? NEVER_PS : ps;
			work->changes.list[(size_t)row * count + to] = from == to ? 0 :
										    (uint64_t)ps;
		}
	}
}

static int look_at(struct pool_work *work, const struct pool *pool,
		   const struct morph_collective *collective, const struct pool_opts *opts)
{
	struct morph_ctx *ctx = work->segments.ctx;
	uint64_t count = pool->topologies.count;

	if (pool->ranks != collective->ranks)
		return lm_fail(ctx, EINVAL, "the collective has %u ranks, its topologies have %u",
			       collective->ranks, pool->ranks);
	if (!opts->costs->mbps)
		return lm_fail(ctx, EINVAL, "the bandwidth of ports was not set");
	if (collective->rounds.count * count > MOST_CELLS || (count + 1) * count > MOST_CELLS)
		return lm_fail(ctx, E2BIG, "%u rounds on %u topologies are too many",
			       collective->rounds.count, pool->topologies.count);
	return 0;
}

int lm_pool_pose(struct pool_work *work, const struct pool *pool,
		 const struct morph_collective *collective, const struct pool_opts *opts,
		 struct segments_problem *problem)
{
	const struct costs *costs = opts->costs;
	uint32_t rounds = collective->rounds.count, count = pool->topologies.count;
	int ret = look_at(work, pool, collective, opts);

	if (!ret)
		ret = make_room(work, pool);
	if (!ret)
		ret = ROOM(work, prices, rounds * count);
	if (!ret && costs->port_ps)
		ret = ROOM(work, changes, (count + 1) * count);
	if (ret)
		return ret;
	for (uint32_t round = 0; round < rounds; round++)
		price_round(work, pool, collective, opts, round);
	if (costs->port_ps)
		price_changes(work, pool, opts);
	*problem = (struct segments_problem){ .rounds = rounds,
					      .topologies = count,
					      .price = lm_segments_price_table,
					      .prices = work->prices.list,
					      .change_ps = costs->change_ps,
					      .changes = costs->port_ps ? work->changes.list : NULL,
					      .resident = opts->resident };
	return 0;
}

/* -------------------------------------------------------------------- bound */

static uint64_t most_moved(struct pool_work *work, const struct morph_collective *collective,
			   uint32_t round)
{
	const struct round *its = &collective->rounds.list[round];
	uint64_t *sent = work->moved.list, *heard = sent + collective->ranks, most = 0;

	memset(sent, 0, 2 * (size_t)collective->ranks * sizeof(*sent));
	for (uint32_t at = its->first; at < its->first + its->count; at++) {
		const struct transfer *transfer = &collective->transfers.list[at];

		sent[transfer->src] = lm_sum(sent[transfer->src], transfer->bytes);
		heard[transfer->dst] = lm_sum(heard[transfer->dst], transfer->bytes);
	}
	for (uint32_t at = 0; at < 2 * collective->ranks; at++)
		most = sent[at] > most ? sent[at] : most;
	return most;
}

int lm_ports_bound_ps(struct pool_work *work, const struct morph_collective *collective,
		      uint32_t ports, const struct pool_opts *opts, uint64_t *ps)
{
	int ret = ROOM(work, moved, 2 * collective->ranks);

	if (ret)
		return ret;
	*ps = 0;
	for (uint32_t round = 0; round < collective->rounds.count; round++) {
		uint64_t bytes = each_of(most_moved(work, collective, round), ports);
		uint32_t hops = collective->rounds.list[round].count ? 1 : 0;

		*ps = lm_sum(*ps, lm_round_ps(opts->costs, opts->round_each_hop, hops, bytes));
	}
	return 0;
}

void lm_pool_work_release(struct pool_work *work)
{
	lm_segments_release(&work->segments);
	free(work->prices.list);
	free(work->changes.list);
	free(work->loads.list);
	free(work->heads.list);
	free(work->visits.list);
	free(work->queue.list);
	free(work->moved.list);
	*work = (struct pool_work){ .segments = work->segments };
}
