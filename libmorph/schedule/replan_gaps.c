// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sends the data of lost circuits in gaps: after all data of the round that was sent beside it has
 * arrived, and before anything continues. First, data with a path over lit circuits goes at once.
 * Then circuits are set for the rest, as many at once as the ports allow.
 */
#include "../util/sort.h"
#include "replan.h"

/* The time of a send. */
struct span {
	uint64_t from_ps, until_ps;
};

/* ---------------------------------------------------------------- when gaps are */

static int by_send(const void *one, const void *other, void *context)
{
	const struct use *a = one, *b = other;

	(void)context;
	if (a->gap_ps != b->gap_ps)
		return a->gap_ps < b->gap_ps ? -1 : 1;
	if (a->send != b->send)
		return a->send < b->send ? -1 : 1;
	if (a->transfer != b->transfer)
		return a->transfer < b->transfer ? -1 : 1;
	return a->lost < b->lost ? -1 : a->lost > b->lost;
}

static int by_from(const void *one, const void *other, void *context)
{
	const struct span *a = one, *b = other;

	(void)context;
	if (a->from_ps != b->from_ps)
		return a->from_ps < b->from_ps ? -1 : 1;
	return a->until_ps < b->until_ps ? -1 : a->until_ps > b->until_ps;
}

/* Merge the times of a round that have no pause. Return their number. */
static uint32_t join_spans(const struct replan *replan, uint32_t round, struct span *spans)
{
	uint32_t first = replan->round_first[round], joined = 0;
	uint32_t count = replan->round_first[round + 1] - first;
	bool sorted = true;

	for (uint32_t at = 0; at < count; at++) {
		const struct send *send = &replan->old->sends.list[first + at];

		spans[at] = (struct span){ send->from_ps, send->until_ps };
		sorted = sorted && (!at || spans[at - 1].from_ps <= spans[at].from_ps);
	}
	if (!sorted)
		lm_sort(spans, count, sizeof(*spans), by_from, NULL);
	for (uint32_t at = 0; at < count; at++) {
		if (joined && spans[at].from_ps < spans[joined - 1].until_ps) {
			if (spans[at].until_ps > spans[joined - 1].until_ps)
				spans[joined - 1].until_ps = spans[at].until_ps;
			continue;
		}
		spans[joined++] = spans[at];
	}
	return joined;
}

static uint64_t end_of(const struct span *spans, uint32_t count, uint64_t from_ps)
{
	uint32_t low = 0, high = count;

	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;

		if (spans[middle].from_ps <= from_ps)
			low = middle;
		else
			high = middle;
	}
	return spans[low].until_ps;
}

static int find_gaps(struct replan *replan)
{
	struct span *spans = calloc((size_t)replan->old->sends.count + 1, sizeof(*spans));
	uint32_t round = NOTHING, count = 0;

	if (!spans) {
		lm_no_memory(replan->schedule->ctx, "plan a schedule again");
		return -ENOMEM;
	}
	for (uint32_t at = 0; at < replan->uses.count; at++)
		replan->losts.list[replan->uses.list[at].lost].uses++;
	lm_sort(replan->uses.list, replan->uses.count, sizeof(*replan->uses.list), by_send, NULL);
	for (uint32_t at = 0; at < replan->uses.count; at++) {
		struct use *use = &replan->uses.list[at];
		const struct send *send = &replan->old->sends.list[use->send];

		if (send->round != round)
			count = join_spans(replan, send->round, spans);
		round = send->round;
		use->gap_ps = end_of(spans, count, send->from_ps);
	}
	free(spans);
	lm_sort(replan->uses.list, replan->uses.count, sizeof(*replan->uses.list), by_send, NULL);
	return 0;
}

/* -------------------------------------------------------------------- what is sent */

static int send_over(struct gapping *gapping, const struct use *use, uint64_t bytes,
		     const struct step *steps, uint32_t hops)
{
	struct replan *replan = gapping->replan;
	int ret = REPLAN_GROW(replan, resends, 1);

	if (!ret)
		ret = REPLAN_GROW(replan, ways, hops);
	if (!ret)
		ret = ARRAY_GROW(replan->schedule->ctx, gapping->links, hops,
				 "plan a schedule again");
	if (ret)
		return ret;
	replan->resends.list[replan->resends.count++] =
		(struct resend){ .round = gapping->round,
				 .transfer = use->transfer,
				 .ways_first = replan->ways.count,
				 .hops = hops,
				 .bytes = bytes,
				 .gap_ps = gapping->ps,
				 .from_ps = UINT64_MAX };
	for (uint32_t hop = 0; hop < hops; hop++) {
		size_t port = replan_port(gapping, steps[hop].plane, steps[hop].rank);

		replan->ways.list[replan->ways.count++] = steps[hop].ref;
		gapping->links.list[gapping->links.count++] = (uint32_t)port;
		gapping->loads[port] = lm_sum(gapping->loads[port], bytes);
		gapping->passed[port] = replan->gaps.count + 1;
	}
	return 0;
}

/* Send directly, over all circuits between the ranks. Return their number or a noted error. */
static int send_straight(struct gapping *gapping, const struct use *use,
			 const struct transfer *transfer)
{
	uint64_t bytes = gapping->replan->old->sends.list[use->send].bytes;
	struct step steps[MOST_PLANES];
	uint32_t count = 0;
	int ret = 0;

	for (uint32_t plane = 0; plane < gapping->replan->old->planes; plane++) {
		const struct seat *at = &gapping->out[replan_port(gapping, plane, transfer->src)];

		if (at->other == transfer->dst && lm_replan_lit(gapping, at, plane))
			steps[count++] = (struct step){ .rank = transfer->src,
							.ref = at->ref,
							.plane = plane };
	}
	for (uint32_t at = 0; !ret && at < count; at++)
		ret = send_over(gapping, use, bytes / count + (at < bytes % count), &steps[at], 1);
	return ret ? ret : (int)count;
}

/*
 * The fewest hops over lit circuits, by breadth-first search; steps are stored from the end. Return
 * their number, 0 without a path.
 */
static uint32_t find_way(struct gapping *gapping, const struct transfer *transfer)
{
	uint32_t head = 0, tail = 0, hops = 0;
	struct step *steps = gapping->steps;

	memset(steps, 0, gapping->replan->old->ranks * sizeof(*steps));
	steps[transfer->src].done = true;
	gapping->queue[tail++] = transfer->src;
	while (head < tail && !steps[transfer->dst].done) {
		uint32_t rank = gapping->queue[head++];

		for (uint32_t plane = 0; plane < gapping->replan->old->planes; plane++) {
			const struct seat *at = &gapping->out[replan_port(gapping, plane, rank)];

			if (!lm_replan_lit(gapping, at, plane) || steps[at->other].done)
				continue;
			steps[at->other] = (struct step){
				.rank = rank, .ref = at->ref, .plane = plane, .done = true
			};
			gapping->queue[tail++] = at->other;
		}
	}
	if (!steps[transfer->dst].done)
		return 0;
	for (uint32_t rank = transfer->dst; rank != transfer->src; rank = steps[rank].rank)
		hops++;
	return hops;
}

static int send_by_hops(struct gapping *gapping, const struct use *use,
			const struct transfer *transfer, uint32_t hops)
{
	struct step *way = gapping->steps + gapping->replan->old->ranks;
	uint32_t rank = transfer->dst;

	for (uint32_t hop = hops; hop--; rank = gapping->steps[rank].rank)
		way[hop] = gapping->steps[rank];
	/* gapping frees the path: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	return send_over(gapping, use, gapping->replan->old->sends.list[use->send].bytes, way,
			 hops);
}

/* A circuit in its place is fastest, and nothing must be set again for it. */
static bool is_better_set(struct gapping *gapping, const struct use *use,
			  const struct transfer *transfer, uint32_t hops)
{
	const struct costs *costs = &gapping->replan->old->costs;
	const struct lost *lost = &gapping->replan->losts.list[use->lost];
	uint64_t bytes = gapping->replan->old->sends.list[use->send].bytes;
	uint64_t shared = costs_send_ps(costs, bytes, hops);
	uint64_t set = costs_change_ps(costs, 1) + costs_send_ps(costs, bytes, 1);

	if (lost->set || transfer->src != lost->circuit.src || transfer->dst != lost->circuit.dst)
		return false;
	if (hops > 1 && set < shared && lm_replan_turn_is_free(gapping, lost))
		return lost->uses == 1 || lm_replan_turn_stays(gapping, lost);
	return lost->uses > 1 && set < lm_sum(shared, shared) &&
	       lm_replan_turn_stays(gapping, lost);
}

/* Use lit circuits. Return 1, 0 (no path) or a noted error. */
static int share(struct gapping *gapping, const struct use *use, bool first)
{
	const struct transfer *transfer =
		replan_transfer(gapping->replan, gapping->round, use->transfer);
	uint32_t hops = find_way(gapping, transfer);
	int ret;

	if (!hops || (first && is_better_set(gapping, use, transfer, hops)))
		return 0;
	ret = hops > 1 ? send_by_hops(gapping, use, transfer, hops) :
			 send_straight(gapping, use, transfer);
	if (ret < 0)
		return ret;
	gapping->replan->count.shared += first;
	return 1;
}

/* Simultaneous sends take as long as the fullest circuit and the longest path. */
static void end_sends(struct gapping *gapping)
{
	struct replan *replan = gapping->replan;
	uint64_t most = 0, until_ps;
	uint32_t hops = 0, first = replan->resends.count;

	while (first > gapping->first_resend &&
	       replan->resends.list[first - 1].from_ps == UINT64_MAX)
		first--;
	for (uint32_t at = 0; at < gapping->links.count; at++) {
		uint64_t *load = &gapping->loads[gapping->links.list[at]];

		most = *load > most ? *load : most;
		*load = 0;
	}
	gapping->links.count = 0;
	if (first == replan->resends.count)
		return;
	for (uint32_t at = first; at < replan->resends.count; at++)
		hops = replan->resends.list[at].hops > hops ? replan->resends.list[at].hops : hops;
	until_ps = lm_sum(gapping->later_ps, costs_send_ps(&replan->old->costs, most, hops));
	for (uint32_t at = first; at < replan->resends.count; at++) {
		replan->resends.list[at].from_ps = gapping->later_ps;
		replan->resends.list[at].until_ps = until_ps;
	}
	gapping->later_ps = until_ps;
}

/* ----------------------------------------------------------------------- a gap */

static bool is_same(const struct use *one, const struct use *other)
{
	return one->send == other->send && one->transfer == other->transfer;
}

/* Report a transfer without a port, and the rank. */
static int no_port(struct gapping *gapping, const struct use *use)
{
	const struct replan *replan = gapping->replan;
	const struct transfer *transfer = replan_transfer(replan, gapping->round, use->transfer);
	uint64_t all = replan->old->planes == MOST_PLANES ? UINT64_MAX :
							    (1ULL << replan->old->planes) - 1;

	if (replan->sends_lost[transfer->src] == all)
		return lm_replan_refuse(gapping->replan, MORPH_INFEASIBLE,
					"rank %u has no port left to send from", transfer->src);
	if (replan->receives_lost[transfer->dst] == all)
		return lm_replan_refuse(gapping->replan, MORPH_INFEASIBLE,
					"rank %u has no port left to receive", transfer->dst);
	return lm_replan_refuse(gapping->replan, MORPH_UNDECIDED,
				"in round %u: found no path from rank %u to rank %u",
				gapping->round, transfer->src, transfer->dst);
}

/*
 * Set as many circuits as the ports allow, except for transfers that have a path over those set
 * already.
 */
static int set_all(struct gapping *gapping, const struct use *uses, uint32_t count)
{
	struct replan *replan = gapping->replan;

	for (uint32_t at = 0; at < count; at++) {
		struct lost *lost = &replan->losts.list[uses[at].lost];
		int ret;

		if (!uses[at].waits || lost->stamp == gapping->stamp ||
		    (gapping->taken &&
		     find_way(gapping, replan_transfer(replan, gapping->round, uses[at].transfer))))
			continue;
		lost->stamp = gapping->stamp;
		ret = lm_replan_turn(gapping, uses[at].lost);
		if (ret && ret != -ENOSPC)
			return ret;
		gapping->taken = gapping->taken || !ret;
	}
	return 0;
}

/* Set circuits for all, or for one transfer. */
static int set_circuits(struct gapping *gapping, const struct use *uses, uint32_t count,
			const struct use *alone)
{
	struct replan *replan = gapping->replan;
	uint32_t first = gapping->turns.count, set[MOST_PLANES] = { 0 };
	uint64_t takes_ps;
	int ret;

	gapping->stamp++;
	gapping->taken = false;
	if (alone) {
		const struct transfer *transfer =
			replan_transfer(replan, gapping->round, alone->transfer);

		ret = lm_replan_turn_between(gapping, alone->lost, transfer->src, transfer->dst);
	} else {
		ret = set_all(gapping, uses, count);
	}
	if (ret && ret != -ENOSPC)
		return ret;
	for (uint32_t at = first; at < gapping->turns.count; at++)
		set[replan->pieces.list[gapping->turns.list[at]].plane]++;
	takes_ps = lm_replan_takes(replan, set);
	gapping->later_ps = lm_sum(gapping->later_ps, takes_ps);
	for (uint32_t at = first; at < gapping->turns.count; at++)
		replan->pieces.list[gapping->turns.list[at]].takes_ps = takes_ps;
	return 0;
}

/* Send waiting transfers over lit circuits. Return how many still wait, or a noted error. */
static int send_waiting(struct gapping *gapping, struct use *uses, uint32_t count)
{
	int waiting = 0;

	for (uint32_t at = 0, next; at < count; at = next) {
		int ret;

		for (next = at + 1; next < count && is_same(&uses[at], &uses[next]); next++)
			;
		if (!uses[at].waits)
			continue;
		ret = share(gapping, &uses[at], false);
		if (ret < 0)
			return ret;
		for (uint32_t of = at; of < next; of++)
			uses[of].waits = !ret;
		waiting += !ret;
	}
	end_sends(gapping);
	return waiting;
}

/* Return how many must wait for circuits, or a noted error. */
static int send_first(struct gapping *gapping, struct use *uses, uint32_t count)
{
	struct replan *replan = gapping->replan;
	int waiting = 0;

	for (uint32_t at = 0, next; at < count; at = next) {
		const struct send *send = &replan->old->sends.list[uses[at].send];
		int ret = 1;

		for (next = at + 1; next < count && is_same(&uses[at], &uses[next]); next++)
			;
		if (!lm_replan_way(replan, send, uses[at].transfer, gapping->queue))
			ret = share(gapping, &uses[at], true);
		if (ret < 0)
			return ret;
		for (uint32_t of = at; of < next; of++) {
			uses[of].waits = !ret;
			replan->losts.list[uses[of].lost].uses--;
		}
		waiting += !ret;
	}
	end_sends(gapping);
	return waiting;
}

static const struct use *first_waiting(const struct use *uses, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++)
		if (uses[at].waits)
			return &uses[at];
	return uses;
}

static int fill_gap(struct gapping *gapping, struct use *uses, uint32_t count)
{
	struct replan *replan = gapping->replan;
	int waiting = send_first(gapping, uses, count), ret = 0;
	bool alone = false;

	while (!ret && waiting > 0) {
		int before = waiting;

		ret = set_circuits(gapping, uses, count, alone ? first_waiting(uses, count) : NULL);
		if (ret)
			return ret;
		waiting = send_waiting(gapping, uses, count);
		if (waiting != before) {
			alone = false;
		} else if (!lm_replan_wait(gapping)) {
			ret = alone ? no_port(gapping, first_waiting(uses, count)) : 0;
			/* Circuits set at once may have broken each other's paths. */
			alone = true;
		}
	}
	if (waiting < 0 || ret)
		return ret ? ret : waiting;
	ret = lm_replan_turns_end(gapping);
	if (!ret)
		ret = lm_replan_order(gapping);
	if (!ret && gapping->later_ps > LONGEST_PS)
		ret = lm_fail(replan->schedule->ctx, ERANGE, "it takes more than 2^62 picoseconds");
	if (!ret && gapping->later_ps)
		ret = REPLAN_GROW(replan, gaps, 1);
	if (!ret && gapping->later_ps) {
		const struct gap *last = &replan->gaps.list[replan->gaps.count - 1];

		replan->gaps.list[replan->gaps.count] = (struct gap){
			.ps = gapping->ps,
			.length_ps = gapping->later_ps,
			.before_ps = replan->gaps.count ? lm_sum(last->before_ps, last->length_ps) :
							  0
		};
		replan->gaps.count++;
	}
	return ret;
}

static int make_room(struct gapping *gapping)
{
	const struct replan *replan = gapping->replan;
	size_t ranks = replan->old->ranks, ports = ranks * replan->old->planes;
	size_t widest = lm_widest_round(replan->collective);

	gapping->out = malloc(2 * ports * sizeof(*gapping->out));
	gapping->taken_out = calloc(6 * ports, sizeof(*gapping->taken_out));
	gapping->loads = calloc(ports, sizeof(*gapping->loads));
	gapping->steps = calloc(2 * ranks, sizeof(*gapping->steps));
	gapping->queue = calloc((size_t)lm_replan_most_hops(replan) + 1, sizeof(*gapping->queue));
	gapping->coming = calloc(ranks + widest, sizeof(*gapping->coming));
	if (!gapping->out || !gapping->taken_out || !gapping->loads || !gapping->steps ||
	    !gapping->queue || !gapping->coming) {
		lm_no_memory(replan->schedule->ctx, "plan a schedule again");
		return -ENOMEM;
	}
	memset(gapping->out, 0xff, 2 * ports * sizeof(*gapping->out));
	gapping->in = gapping->out + ports;
	gapping->taken_in = gapping->taken_out + ports;
	gapping->wanted_at = gapping->taken_in + ports;
	gapping->wanted = gapping->wanted_at + ports;
	gapping->passed = gapping->wanted + ports;
	gapping->lasting = gapping->passed + ports;
	gapping->coming_next = gapping->coming + ranks;
	gapping->coming_round = NOTHING;
	return 0;
}

static void free_room(struct gapping *gapping)
{
	free(gapping->out);
	free(gapping->taken_out);
	free(gapping->loads);
	free(gapping->steps);
	free(gapping->queue);
	free(gapping->coming);
	free(gapping->links.list);
	free(gapping->turns.list);
	free(gapping->stolen.list);
}

int lm_replan_gaps(struct replan *replan)
{
	struct gapping gapping = { .replan = replan };
	int ret;

	if (!replan->uses.count)
		return 0;
	ret = make_room(&gapping);
	if (!ret)
		ret = find_gaps(replan);
	for (uint32_t at = 0, next; !ret && at < replan->uses.count; at = next) {
		struct use *uses = replan->uses.list;

		for (next = at + 1;
		     next < replan->uses.count && uses[next].gap_ps == uses[at].gap_ps; next++)
			;
		lm_replan_come_to(&gapping, uses[at].gap_ps);
		gapping.round = replan->old->sends.list[uses[at].send].round;
		if (replan->old->sends.list[uses[next - 1].send].round != gapping.round)
			ret = lm_replan_refuse(replan, MORPH_UNDECIDED,
					       "rounds without duration cannot be distinguished");
		else
			ret = fill_gap(&gapping, &uses[at], next - at);
	}
	free_room(&gapping);
	return ret;
}
