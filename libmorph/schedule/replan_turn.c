// SPDX-License-Identifier: LGPL-2.1-or-later
/* The ports at a gap, and the circuits that are set there for lost ones. */
#include "replan.h"

/* ---------------------------------------------------------------------- ports */

/* The holders of ports at the begin of a gap, and the changes in progress. */

static void seat(struct gapping *gapping, uint32_t plane, const struct morph_rank_pair *circuit,
		 uint32_t ref)
{
	gapping->out[replan_port(gapping, plane, circuit->src)] =
		(struct seat){ ref, circuit->dst };
	gapping->in[replan_port(gapping, plane, circuit->dst)] = (struct seat){ ref, circuit->src };
}

static void seat_hold(struct gapping *gapping, uint32_t number)
{
	const struct replan *replan = gapping->replan;
	const struct morph_schedule *old = replan->old;
	const struct hold *hold = &old->holds.list[number];
	const struct matching *matching = &old->matchings.list[hold->matching];

	for (uint32_t at = matching->first; at < matching->first + matching->count; at++) {
		const struct morph_rank_pair *circuit = &old->circuits.list[at];
		uint32_t piece = replan->pieces_of[number] == NOTHING ?
					 NOTHING :
					 lm_replan_piece(replan, number, circuit->src, gapping->ps);

		if (piece == NOTHING)
			seat(gapping, hold->plane, circuit, number);
		else if (!replan->pieces.list[piece].absent)
			seat(gapping, replan->pieces.list[piece].plane, circuit, PIECE | piece);
	}
}

/*
 * Planes that are programming at a time. A moved circuit is set on its plane as before on the old
 * one.
 */
static void find_busy(struct gapping *gapping, uint64_t now_ps)
{
	const struct replan *replan = gapping->replan;
	const struct morph_schedule *old = replan->old;

	gapping->busy = 0;
	if (!replan_queues(replan))
		return;
	for (uint32_t at = old->residents; at < old->holds.count; at++) {
		const struct hold *hold = &old->holds.list[at];

		if (hold->set_ps >= gapping->ps)
			break;
		if (hold->lit_ps > hold->set_ps && hold->lit_ps - old->costs.change_ps > now_ps)
			gapping->busy |= 1ULL << hold->plane;
	}
	for (uint32_t at = 0; at < replan->pieces.count; at++) {
		const struct piece *piece = &replan->pieces.list[at];

		if (!piece->absent && piece->set.after && piece->set.ps < gapping->ps &&
		    piece->takes_ps &&
		    lm_sum(piece->set.ps, piece->takes_ps) - old->costs.change_ps > now_ps)
			gapping->busy |= 1ULL << piece->plane;
	}
}

/*
 * If changes stop planes, changing planes carry nothing now; or nothing else can be set on them.
 * Return when everything set before the gap is lit.
 */
static uint64_t find_closed(struct gapping *gapping)
{
	const struct replan *replan = gapping->replan;
	uint64_t now_ps = lm_sum(gapping->ps, gapping->later_ps), lit_ps = gapping->ps;

	find_busy(gapping, now_ps);
	gapping->closed = 0;
	for (uint32_t plane = 0; plane < replan->old->planes; plane++)
		for (uint32_t at = replan->plane_first[plane]; at < replan->plane_first[plane + 1];
		     at++) {
			const struct hold *hold = &replan->old->holds.list[replan->plane_holds[at]];

			if (hold->set_ps >= gapping->ps)
				break;
			if (hold->lit_ps > now_ps &&
			    replan->old->costs.scope != MORPH_DELAY_PORT_SCOPE)
				gapping->closed |= 1ULL << plane;
			lit_ps = hold->lit_ps > lit_ps ? hold->lit_ps : lit_ps;
		}
	return lit_ps;
}

void lm_replan_come_to(struct gapping *gapping, uint64_t ps)
{
	const struct morph_schedule *old = gapping->replan->old;

	gapping->ps = ps;
	gapping->later_ps = 0;
	gapping->changed = 0;
	gapping->stamp++;
	gapping->first_resend = gapping->replan->resends.count;
	while (gapping->swept < old->holds.count &&
	       (gapping->swept < old->residents || old->holds.list[gapping->swept].set_ps < ps))
		seat_hold(gapping, gapping->swept++);
	if (old->costs.scope != MORPH_DELAY_PORT_SCOPE || replan_queues(gapping->replan))
		find_closed(gapping);
}

bool lm_replan_wait(struct gapping *gapping)
{
	uint64_t later_ps = find_closed(gapping) - gapping->ps;

	if (later_ps <= gapping->later_ps)
		return false;
	gapping->later_ps = later_ps;
	find_closed(gapping);
	return true;
}

/* ---------------------------------------------------------------------- turns */

/*
 * A lost circuit is set for one turn, or for as long as it is needed. The circuits of its ports go
 * dark. Setting these again, if they are needed later, is the cost of a turn. If a direct circuit
 * has a cost, or no plane, the cheapest path uses lit circuits and those that could be set
 * (Dijkstra, Numerische Mathematik 1, 1959): one unit of the cheapest flow.
 */

uint64_t lm_replan_takes(const struct replan *replan, const uint32_t *set)
{
	const struct costs *costs = &replan->old->costs;
	uint32_t all = 0, most = 0;

	for (uint32_t plane = 0; plane < replan->old->planes; plane++) {
		all += set[plane];
		most = set[plane] > most ? set[plane] : most;
	}
	if (!all)
		return 0;
	/* A plane programs its ports one after another, whatever stops for it. */
	return costs_change_ps(costs, costs->scope == MORPH_DELAY_FABRIC_SCOPE ? all : most);
}

static uint64_t lit_ps(const struct gapping *gapping, uint32_t ref)
{
	return ref & PIECE ? gapping->replan->pieces.list[ref & ~PIECE].lit_ps :
			     gapping->replan->old->holds.list[ref].lit_ps;
}

static uint64_t until_ps(const struct gapping *gapping, uint32_t ref)
{
	return ref & PIECE ? gapping->replan->pieces.list[ref & ~PIECE].until_ps :
			     gapping->replan->old->holds.list[ref].dark_ps;
}

/* Programming that is in progress at the begin of the gap continues in it. */
static uint64_t now_ps(const struct gapping *gapping)
{
	return lm_sum(gapping->ps, gapping->later_ps);
}

/* Does a port have a circuit, lit or not yet? */
static bool is_held(const struct gapping *gapping, const struct seat *seat)
{
	return seat->ref != NOTHING && until_ps(gapping, seat->ref) >= gapping->ps;
}

bool lm_replan_lit(const struct gapping *gapping, const struct seat *seat, uint32_t plane)
{
	return is_held(gapping, seat) && lit_ps(gapping, seat->ref) <= now_ps(gapping) &&
	       !(gapping->closed >> plane & 1);
}

/* ------------------------------------------------------------------- what it costs */

static bool carries_on(const struct gapping *gapping, uint32_t hold, uint32_t src)
{
	const struct replan *replan = gapping->replan;

	for (uint32_t at = replan->hold_first[hold + 1]; at > replan->hold_first[hold]; at--) {
		const struct send *send = &replan->old->sends.list[replan->hold_sends[at - 1]];

		if (send->round < gapping->round)
			break;
		if (send->from_ps < gapping->ps)
			continue;
		for (uint32_t next = send->first; next < send->first + send->count; next++)
			if (lm_replan_passes(replan, send, next, hold, src))
				return true;
	}
	return false;
}

static bool find_wanted(const struct gapping *gapping, uint32_t ref, uint32_t plane,
			const struct morph_rank_pair *circuit)
{
	const struct replan *replan = gapping->replan;
	uint32_t hold = ref & PIECE ? replan->pieces.list[ref & ~PIECE].hold : ref;

	if (hold == NOTHING)
		return false;
	if (carries_on(gapping, hold, circuit->src))
		return true;
	return replan->old->holds.list[hold].plane == plane &&
	       lm_replan_stays(replan, hold, circuit);
}

/* Must the circuit of a rank on a plane be set again if it goes dark now? */
static uint32_t wanted(struct gapping *gapping, uint32_t plane, uint32_t src)
{
	size_t port = replan_port(gapping, plane, src);
	const struct seat *seat = &gapping->out[port];
	const struct morph_rank_pair circuit = { src, seat->other };

	if (gapping->wanted_at[port] != gapping->stamp) {
		gapping->wanted_at[port] = gapping->stamp;
		gapping->wanted[port] = find_wanted(gapping, seat->ref, plane, &circuit);
	}
	return gapping->wanted[port];
}

static bool can_leave(const struct gapping *gapping, uint32_t plane, uint32_t rank)
{
	const struct seat *seat = &gapping->out[replan_port(gapping, plane, rank)];

	return !(gapping->replan->sends_lost[rank] >> plane & 1) &&
	       !((gapping->closed | gapping->busy) >> plane & 1) &&
	       gapping->taken_out[replan_port(gapping, plane, rank)] != gapping->stamp &&
	       (!is_held(gapping, seat) || lit_ps(gapping, seat->ref) <= now_ps(gapping));
}

static bool can_come(const struct gapping *gapping, uint32_t plane, uint32_t rank)
{
	const struct seat *seat = &gapping->in[replan_port(gapping, plane, rank)];

	return !(gapping->replan->receives_lost[rank] >> plane & 1) &&
	       !((gapping->closed | gapping->busy) >> plane & 1) &&
	       gapping->taken_in[replan_port(gapping, plane, rank)] != gapping->stamp &&
	       (!is_held(gapping, seat) || lit_ps(gapping, seat->ref) <= now_ps(gapping));
}

static uint32_t leave_cost(struct gapping *gapping, uint32_t plane, uint32_t rank)
{
	const struct seat *seat = &gapping->out[replan_port(gapping, plane, rank)];

	return is_held(gapping, seat) ? wanted(gapping, plane, rank) : 0;
}

static uint32_t come_cost(struct gapping *gapping, uint32_t plane, uint32_t rank)
{
	const struct seat *seat = &gapping->in[replan_port(gapping, plane, rank)];

	return is_held(gapping, seat) ? wanted(gapping, plane, seat->other) : 0;
}

/* ------------------------------------------------------------------ straight ways */

static bool can_stay(const struct gapping *gapping, const struct lost *lost, uint32_t plane)
{
	const struct replan *replan = gapping->replan;
	uint64_t dark_ps = replan->old->holds.list[lost->hold].dark_ps;

	return dark_ps > gapping->ps &&
	       lm_replan_free(replan, plane, &lost->circuit, gapping->ps, dark_ps);
}

/*
 * The plane on which the fewest circuits are set again and, among these, one on which it can stay;
 * NOTHING: there is none.
 */
static uint32_t best_plane(struct gapping *gapping, const struct lost *lost, uint32_t *again,
			   bool *stays)
{
	uint32_t best = NOTHING;

	*again = UINT32_MAX;
	*stays = false;
	for (uint32_t plane = 0; plane < gapping->replan->old->planes; plane++) {
		uint32_t cost;
		bool stay;

		if (!can_leave(gapping, plane, lost->circuit.src) ||
		    !can_come(gapping, plane, lost->circuit.dst))
			continue;
		cost = leave_cost(gapping, plane, lost->circuit.src) +
		       come_cost(gapping, plane, lost->circuit.dst);
		stay = !cost && can_stay(gapping, lost, plane);
		if (cost > *again || (cost == *again && (*stays || !stay)))
			continue;
		best = plane;
		*again = cost;
		*stays = stay;
	}
	return best;
}

bool lm_replan_turn_stays(struct gapping *gapping, const struct lost *lost)
{
	uint32_t again;
	bool stays;

	return best_plane(gapping, lost, &again, &stays) != NOTHING && stays;
}

bool lm_replan_turn_is_free(struct gapping *gapping, const struct lost *lost)
{
	uint32_t again;
	bool stays;

	return best_plane(gapping, lost, &again, &stays) != NOTHING && !again;
}

/* ------------------------------------------------------------------ what is set */

/* The holder of a port goes dark; it is set again at the end if it is needed. */
static int steal(struct gapping *gapping, uint32_t plane, struct morph_rank_pair circuit,
		 uint32_t lost)
{
	struct replan *replan = gapping->replan;
	struct seat *seat = &gapping->out[replan_port(gapping, plane, circuit.src)];
	bool again = wanted(gapping, plane, circuit.src);
	const struct moment dark = { gapping->ps, gapping->later_ps, false };
	uint32_t ref = seat->ref, number;
	struct piece piece;
	int ret = 0;

	if (ref & PIECE) {
		piece = replan->pieces.list[ref & ~PIECE];
		replan->pieces.list[ref & ~PIECE].dark = dark;
		replan->pieces.list[ref & ~PIECE].until_ps = gapping->ps;
	} else {
		const struct hold *hold = &replan->old->holds.list[ref];

		piece = (struct piece){ .plane = plane,
					.circuit = circuit,
					.hold = ref,
					.lit_ps = hold->lit_ps,
					.until_ps = gapping->ps,
					.set = { hold->set_ps, 0, true },
					.takes_ps = hold->lit_ps - hold->set_ps,
					.dark = dark };
		ret = lm_replan_add_piece(replan, &piece, &number);
		piece.until_ps = hold->dark_ps;
	}
	gapping->passed[replan_port(gapping, plane, circuit.src)] = replan->gaps.count + 1;
	seat->ref = NOTHING;
	gapping->in[replan_port(gapping, plane, circuit.dst)].ref = NOTHING;
	if (ret || !again)
		return ret;
	ret = ARRAY_GROW(replan->schedule->ctx, gapping->stolen, 1, "plan a schedule again");
	if (!ret)
		gapping->stolen.list[gapping->stolen.count++] =
			(struct stolen){ .piece = piece, .lost = lost };
	return ret;
}

static int clear_ports(struct gapping *gapping, uint32_t plane,
		       const struct morph_rank_pair *circuit, uint32_t lost)
{
	const struct seat *out = &gapping->out[replan_port(gapping, plane, circuit->src)];
	const struct seat *in = &gapping->in[replan_port(gapping, plane, circuit->dst)];
	int ret = 0;

	if (is_held(gapping, out))
		ret = steal(gapping, plane, (struct morph_rank_pair){ circuit->src, out->other },
			    lost);
	if (!ret && is_held(gapping, in))
		ret = steal(gapping, plane, (struct morph_rank_pair){ in->other, circuit->dst },
			    lost);
	return ret;
}

/* The time of setting it is known when all circuits set with it are. */
static int set_circuit(struct gapping *gapping, uint32_t plane,
		       const struct morph_rank_pair *circuit, uint32_t lost, bool stays)
{
	struct replan *replan = gapping->replan;
	struct lost *its = &replan->losts.list[lost];
	uint64_t dark_ps = replan->old->holds.list[its->hold].dark_ps;
	struct piece piece = { .plane = plane,
			       .circuit = *circuit,
			       .hold = stays ? its->hold : NOTHING,
			       .from_ps = gapping->ps,
			       .lit_ps = gapping->ps,
			       .until_ps = stays ? dark_ps : gapping->ps,
			       .set = { gapping->ps, gapping->later_ps, false },
			       .dark = { stays ? dark_ps : gapping->ps, stays ? 0 : UINT64_MAX,
					 stays } };
	uint32_t number;
	int ret = clear_ports(gapping, plane, circuit, lost);

	if (!ret)
		ret = lm_replan_add_piece(replan, &piece, &number);
	if (!ret)
		ret = ARRAY_GROW(replan->schedule->ctx, gapping->turns, 1, "plan a schedule again");
	if (ret)
		return ret;
	gapping->turns.list[gapping->turns.count++] = number;
	gapping->out[replan_port(gapping, plane, circuit->src)] =
		(struct seat){ PIECE | number, circuit->dst };
	gapping->in[replan_port(gapping, plane, circuit->dst)] =
		(struct seat){ PIECE | number, circuit->src };
	gapping->taken_out[replan_port(gapping, plane, circuit->src)] = gapping->stamp;
	gapping->taken_in[replan_port(gapping, plane, circuit->dst)] = gapping->stamp;
	gapping->changed |= 1ULL << plane;
	replan->count.turns++;
	its->set++;
	return 0;
}

/* ------------------------------------------------------------------ cheapest ways */

static void reach(struct step *steps, uint32_t from, uint32_t to, uint32_t ref, uint32_t plane,
		  uint32_t set)
{
	if (steps[to].done || steps[to].set <= set)
		return;
	steps[to] = (struct step){ .rank = from, .ref = ref, .plane = plane, .set = set };
}

/*
 * Continue from a rank over a plane: to the receiver of its circuit, and to each rank to which one
 * could be set for less than @limit.
 */
static void go_on(struct gapping *gapping, uint32_t rank, uint32_t plane, uint32_t limit)
{
	const struct seat *seat = &gapping->out[replan_port(gapping, plane, rank)];
	struct step *steps = gapping->steps;
	uint32_t set;

	if (lm_replan_lit(gapping, seat, plane))
		reach(steps, rank, seat->other, seat->ref, plane, steps[rank].set);
	if (steps[rank].set + 1 >= limit || !can_leave(gapping, plane, rank))
		return;
	set = steps[rank].set + 1 + leave_cost(gapping, plane, rank);
	if (set >= limit)
		return;
	for (uint32_t other = 0; other < gapping->replan->old->ranks; other++)
		if (other != rank && !steps[other].done && steps[other].set > set &&
		    can_come(gapping, plane, other))
			reach(steps, rank, other, NOTHING, plane,
			      set + come_cost(gapping, plane, other));
}

/*
 * The next rank to continue from. @level is the cost of the last one; none of the rest costs less.
 */
static uint32_t nearest(const struct gapping *gapping, uint32_t level)
{
	const struct step *steps = gapping->steps;
	uint32_t next = NOTHING;

	for (uint32_t rank = 0; rank < gapping->replan->old->ranks; rank++) {
		if (steps[rank].done || steps[rank].set == UINT32_MAX ||
		    (next != NOTHING && steps[rank].set >= steps[next].set))
			continue;
		next = rank;
		if (steps[rank].set == level)
			break;
	}
	return next;
}

/* A path that sets fewer than @limit. */
static bool find_cheapest(struct gapping *gapping, const struct morph_rank_pair *circuit,
			  uint32_t limit)
{
	uint32_t ranks = gapping->replan->old->ranks, level = 0;
	struct step *steps = gapping->steps;

	for (uint32_t rank = 0; rank < ranks; rank++)
		steps[rank] = (struct step){ .set = rank == circuit->src ? 0 : UINT32_MAX };
	while (steps[circuit->dst].set > level) {
		uint32_t next = nearest(gapping, level);

		if (next == NOTHING || steps[next].set >= limit)
			return false;
		level = steps[next].set;
		steps[next].done = true;
		for (uint32_t plane = 0; plane < gapping->replan->old->planes; plane++)
			go_on(gapping, next, plane, limit);
	}
	return level < limit;
}

static int set_way(struct gapping *gapping, const struct morph_rank_pair *ends, uint32_t lost)
{
	uint32_t rank = ends->dst;
	int ret = 0;

	while (!ret && rank != ends->src) {
		const struct step *step = &gapping->steps[rank];
		const struct morph_rank_pair circuit = { step->rank, rank };

		if (step->ref == NOTHING)
			ret = set_circuit(gapping, step->plane, &circuit, lost, false);
		rank = step->rank;
	}
	return ret;
}

int lm_replan_turn(struct gapping *gapping, uint32_t number)
{
	const struct morph_rank_pair circuit = gapping->replan->losts.list[number].circuit;
	uint32_t again, plane;
	bool stays;

	plane = best_plane(gapping, &gapping->replan->losts.list[number], &again, &stays);
	if (plane != NOTHING && !again)
		return set_circuit(gapping, plane, &circuit, number, stays);
	if (find_cheapest(gapping, &circuit, plane != NOTHING ? 1 + again : UINT32_MAX))
		return set_way(gapping, &circuit, number);
	return plane != NOTHING ? set_circuit(gapping, plane, &circuit, number, false) : -ENOSPC;
}

int lm_replan_turn_between(struct gapping *gapping, uint32_t lost, uint32_t src, uint32_t dst)
{
	const struct morph_rank_pair ends = { src, dst };

	return find_cheapest(gapping, &ends, UINT32_MAX) ? set_way(gapping, &ends, lost) : -ENOSPC;
}

/* ------------------------------------------------------------------------- the end */

static int set_again(struct gapping *gapping, const struct stolen *stolen, uint64_t takes_ps)
{
	struct replan *replan = gapping->replan;
	struct piece piece = stolen->piece;
	uint32_t number;
	int ret;

	piece.from_ps = gapping->ps;
	piece.lit_ps = gapping->ps;
	piece.set = (struct moment){ gapping->ps, gapping->later_ps, false };
	piece.takes_ps = takes_ps;
	piece.dark = (struct moment){ piece.until_ps, 0, true };
	ret = lm_replan_add_piece(replan, &piece, &number);
	if (ret)
		return ret;
	gapping->out[replan_port(gapping, piece.plane, piece.circuit.src)] =
		(struct seat){ PIECE | number, piece.circuit.dst };
	gapping->in[replan_port(gapping, piece.plane, piece.circuit.dst)] =
		(struct seat){ PIECE | number, piece.circuit.src };
	gapping->changed |= 1ULL << piece.plane;
	replan->losts.list[stolen->lost].set++;
	replan->count.again++;
	return 0;
}

int lm_replan_turns_end(struct gapping *gapping)
{
	struct replan *replan = gapping->replan;
	uint32_t set[MOST_PLANES] = { 0 };
	uint64_t takes_ps;
	int ret = 0;

	for (uint32_t at = 0; at < gapping->turns.count; at++) {
		struct piece *piece = &replan->pieces.list[gapping->turns.list[at]];

		if (piece->dark.later_ps != UINT64_MAX)
			continue;
		piece->dark.later_ps = gapping->later_ps;
		gapping->out[replan_port(gapping, piece->plane, piece->circuit.src)].ref = NOTHING;
		gapping->in[replan_port(gapping, piece->plane, piece->circuit.dst)].ref = NOTHING;
	}
	for (uint32_t at = 0; at < gapping->stolen.count; at++)
		set[gapping->stolen.list[at].piece.plane]++;
	takes_ps = lm_replan_takes(replan, set);
	for (uint32_t at = 0; !ret && at < gapping->stolen.count; at++)
		ret = set_again(gapping, &gapping->stolen.list[at], takes_ps);
	gapping->later_ps = lm_sum(gapping->later_ps, takes_ps);
	gapping->turns.count = 0;
	gapping->stolen.count = 0;
	return ret;
}
