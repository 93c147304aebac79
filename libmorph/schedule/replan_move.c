// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Moves lost circuits to planes on which both of their ports are free while they are held. Two
 * circuits with a common rank exclude each other on a plane while both are held. A circuit that
 * wants an occupied plane asks the present one to move, and so on (Kuhn, Naval Research Logistics
 * Quarterly 2, 1955). If all have one end in common, this leaves the fewest.
 */
#include "replan.h"

#define NO_PLANE UINT32_MAX

struct mover {
	struct replan *replan;
	uint32_t *plane; /* by lost circuit: its plane, or NO_PLANE */
	uint32_t *next_out, *next_in; /* by lost circuit: the next at the same port */
	uint32_t *out, *in; /* by plane and rank: the first at the port */
	uint32_t *asked; /* by lost circuit: for which it was last asked, plus one */
	/* plane of the circuits that move there, if changes stop planes; or NO_PLANE */
	uint32_t from[MOST_PLANES];
};

static const struct hold *hold_of(const struct mover *mover, uint32_t lost)
{
	return &mover->replan->old->holds.list[mover->replan->losts.list[lost].hold];
}

/* ------------------------------------------------------------- who may go where */

/*
 * If changes stop planes or the fabric, everything set at one moment counts. A circuit that was not
 * set then must not be set.
 */
static bool was_there(const struct replan *replan, const struct lost *lost)
{
	const struct morph_schedule *old = replan->old;
	const struct hold *hold = &old->holds.list[lost->hold];
	uint32_t first = replan->plane_first[hold->plane];
	uint32_t at = replan->plane_first[hold->plane + 1];

	while (at > first && replan->plane_holds[at - 1] >= lost->hold)
		at--;
	for (; at > first && replan->dark_before[at - 1] >= hold->set_ps; at--) {
		const struct hold *before = &old->holds.list[replan->plane_holds[at - 1]];

		if (before->dark_ps == hold->set_ps &&
		    lm_matching_leads(old, before->matching, lost->circuit.src) ==
			    lost->circuit.dst)
			return true;
	}
	return false;
}

/* All of its sends happen while it is lit, and there is time to set it alone. */
static bool can_go(const struct replan *replan, const struct lost *lost)
{
	const struct morph_schedule *old = replan->old;
	const struct hold *hold = &old->holds.list[lost->hold];

	if (!lost->used || hold->set_ps < replan->lost_ps || lost->hold < old->residents ||
	    hold->lit_ps - hold->set_ps < costs_change_ps(&old->costs, 1))
		return false;
	for (uint32_t at = replan->hold_first[lost->hold]; at < replan->hold_first[lost->hold + 1];
	     at++)
		if (old->sends.list[replan->hold_sends[at]].from_ps < hold->lit_ps)
			return false;
	return old->costs.scope == MORPH_DELAY_PORT_SCOPE || !old->costs.port_ps ||
	       !was_there(replan, lost);
}

/* Does a hold carry data at that time? */
static bool sends_in(const struct replan *replan, uint32_t hold, uint64_t from_ps,
		     uint64_t until_ps)
{
	for (uint32_t at = replan->hold_first[hold]; at < replan->hold_first[hold + 1]; at++) {
		const struct send *send = &replan->old->sends.list[replan->hold_sends[at]];

		if (send->from_ps < until_ps && send->until_ps > from_ps)
			return true;
	}
	return false;
}

/* Does a plane carry no data while a hold is set, if changes stop planes? */
static bool is_quiet(const struct replan *replan, uint32_t plane, const struct hold *set)
{
	const struct morph_schedule *old = replan->old;

	if (old->costs.scope != MORPH_DELAY_PLANE_SCOPE)
		return true;
	for (uint32_t at = lm_replan_first_after(replan, plane, set->set_ps);
	     at < replan->plane_first[plane + 1]; at++) {
		uint32_t hold = replan->plane_holds[at];

		if (old->holds.list[hold].dark_ps <= set->set_ps)
			continue;
		if (old->holds.list[hold].set_ps >= set->lit_ps)
			break;
		if (sends_in(replan, hold, set->set_ps, set->lit_ps))
			return false;
	}
	return true;
}

/* Lost circuits that are set with a hold on its plane: these may move together. */
static uint32_t count_with(const struct replan *replan, const struct hold *set)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < replan->losts.count; at++) {
		const struct hold *hold = &replan->old->holds.list[replan->losts.list[at].hold];

		count += hold->plane == set->plane && hold->set_ps == set->set_ps;
	}
	return count;
}

/*
 * Do circuits set on a plane at one time affect each other? Changes stop the plane, or it programs
 * one port after another.
 */
static bool is_one_change(const struct replan *replan)
{
	return replan->old->costs.scope == MORPH_DELAY_PLANE_SCOPE || replan_queues(replan);
}

/*
 * Either nothing else is set on the plane while a hold is, if that is one change; or it is set with
 * the hold, and both last long enough.
 */
static bool is_still(const struct replan *replan, uint32_t plane, const struct hold *set)
{
	const struct morph_schedule *old = replan->old;
	uint64_t least_ps = set->lit_ps - set->set_ps;
	/* After its last port is programmed, light may come while others are being programmed. */
	uint64_t after_ps = replan_queues(replan) ? old->costs.change_ps : 0;
	uint32_t circuits = 0;

	if (!is_one_change(replan))
		return true;
	for (uint32_t at = lm_replan_first_after(replan, plane, set->set_ps);
	     at < replan->plane_first[plane + 1]; at++) {
		const struct hold *hold = &old->holds.list[replan->plane_holds[at]];

		if (hold->set_ps >= set->lit_ps - after_ps)
			break;
		if (hold->lit_ps == hold->set_ps || hold->lit_ps - after_ps <= set->set_ps)
			continue;
		if (hold->set_ps != set->set_ps)
			return false;
		if (hold->lit_ps - hold->set_ps < least_ps)
			least_ps = hold->lit_ps - hold->set_ps;
		circuits += old->matchings.list[hold->matching].count;
	}
	return !circuits ||
	       least_ps >= costs_change_ps(&old->costs, circuits + count_with(replan, set));
}

/* Is nothing set on a plane while it would send for a hold, if changes stop planes? */
static bool is_undisturbed(const struct replan *replan, uint32_t plane, uint32_t lost)
{
	const struct morph_schedule *old = replan->old;
	const struct hold *its = &old->holds.list[lost];

	if (old->costs.scope != MORPH_DELAY_PLANE_SCOPE)
		return true;
	for (uint32_t at = lm_replan_first_after(replan, plane, its->lit_ps);
	     at < replan->plane_first[plane + 1]; at++) {
		const struct hold *hold = &old->holds.list[replan->plane_holds[at]];

		if (hold->set_ps >= its->dark_ps)
			break;
		if (hold->lit_ps > its->lit_ps && hold->lit_ps != hold->set_ps &&
		    sends_in(replan, lost, hold->set_ps, hold->lit_ps))
			return false;
	}
	return true;
}

static void find_planes(struct replan *replan, struct lost *lost)
{
	const struct hold *hold = &replan->old->holds.list[lost->hold];

	lost->planes = 0;
	if (!can_go(replan, lost))
		return;
	for (uint32_t plane = 0; plane < replan->old->planes; plane++)
		if (lm_replan_free(replan, plane, &lost->circuit, hold->set_ps, hold->dark_ps) &&
		    is_quiet(replan, plane, hold) && is_still(replan, plane, hold) &&
		    is_undisturbed(replan, plane, lost->hold))
			lost->planes |= 1ULL << plane;
}

/* ------------------------------------------------------------------ who goes where */

static uint32_t *row(const struct mover *mover, uint32_t *ports, uint32_t plane, uint32_t rank)
{
	return &ports[(size_t)plane * mover->replan->old->ranks + rank];
}

static void take_plane(struct mover *mover, uint32_t lost, uint32_t plane)
{
	const struct morph_rank_pair *circuit = &mover->replan->losts.list[lost].circuit;
	uint32_t *out = row(mover, mover->out, plane, circuit->src);
	uint32_t *in = row(mover, mover->in, plane, circuit->dst);

	mover->plane[lost] = plane;
	mover->from[plane] = hold_of(mover, lost)->plane;
	mover->next_out[lost] = *out;
	mover->next_in[lost] = *in;
	*out = lost;
	*in = lost;
}

static void unlink_from(uint32_t *first, uint32_t *next, uint32_t lost)
{
	while (*first != lost)
		first = &next[*first];
	*first = next[lost];
}

static void leave_plane(struct mover *mover, uint32_t lost)
{
	const struct morph_rank_pair *circuit = &mover->replan->losts.list[lost].circuit;
	uint32_t plane = mover->plane[lost];

	unlink_from(row(mover, mover->out, plane, circuit->src), mover->next_out, lost);
	unlink_from(row(mover, mover->in, plane, circuit->dst), mover->next_in, lost);
	mover->plane[lost] = NO_PLANE;
}

/*
 * Add to @found, which has space for two, the circuits of a list that are held while @lost is.
 * Return the new number.
 */
static uint32_t collide(const struct mover *mover, uint32_t first, const uint32_t *next,
			uint32_t lost, uint32_t *found, uint32_t count)
{
	const struct hold *hold = hold_of(mover, lost);

	for (uint32_t at = first; at != NOTHING && count < 2; at = next[at]) {
		const struct hold *other = hold_of(mover, at);

		if (other->set_ps < hold->dark_ps && other->dark_ps > hold->set_ps &&
		    !(count && found[0] == at))
			found[count++] = at;
	}
	return count;
}

/* Circuits of one plane do not change while it sends; those of two planes might. */
static bool is_from(const struct mover *mover, uint32_t lost, uint32_t plane)
{
	return !is_one_change(mover->replan) || mover->from[plane] == NO_PLANE ||
	       mover->from[plane] == hold_of(mover, lost)->plane;
}

static bool settle(struct mover *mover, uint32_t lost, uint32_t whom)
{
	const struct lost *its = &mover->replan->losts.list[lost];

	mover->asked[lost] = whom + 1;
	for (uint32_t plane = 0; plane < mover->replan->old->planes; plane++) {
		uint32_t found[2], count;

		if (!(its->planes >> plane & 1) || !is_from(mover, lost, plane))
			continue;
		count = collide(mover, *row(mover, mover->out, plane, its->circuit.src),
				mover->next_out, lost, found, 0);
		count = collide(mover, *row(mover, mover->in, plane, its->circuit.dst),
				mover->next_in, lost, found, count);
		if (count == 1 && mover->asked[found[0]] != whom + 1) {
			uint32_t held = mover->plane[found[0]];

			leave_plane(mover, found[0]);
			/* An obstacle until it has moved. */
			take_plane(mover, lost, plane);
			if (settle(mover, found[0], whom))
				return true;
			leave_plane(mover, lost);
			take_plane(mover, found[0], held);
		} else if (!count) {
			take_plane(mover, lost, plane);
			return true;
		}
	}
	return false;
}

static int move(struct mover *mover, uint32_t number)
{
	struct lost *lost = &mover->replan->losts.list[number];
	const struct hold *hold = hold_of(mover, number);
	const struct piece piece = { .plane = mover->plane[number],
				     .circuit = lost->circuit,
				     .hold = lost->hold,
				     .from_ps = hold->set_ps,
				     .lit_ps = hold->lit_ps,
				     .until_ps = hold->dark_ps,
				     .set = { hold->set_ps, 0, true },
				     .takes_ps = hold->lit_ps - hold->set_ps,
				     .dark = { hold->dark_ps, 0, true } };
	uint32_t added;

	lost->moved = true;
	lost->set = 1;
	mover->replan->count.moved++;
	return lm_replan_add_piece(mover->replan, &piece, &added);
}

static int make_room(struct mover *mover)
{
	const struct morph_schedule *old = mover->replan->old;
	size_t losts = mover->replan->losts.count, ports = (size_t)old->planes * old->ranks;

	mover->plane = malloc((4 * losts + 2 * ports) * sizeof(*mover->plane));
	if (!mover->plane) {
		lm_no_memory(mover->replan->schedule->ctx, "plan a schedule again");
		return -ENOMEM;
	}
	memset(mover->plane, 0xff, (4 * losts + 2 * ports) * sizeof(*mover->plane));
	mover->next_out = mover->plane + losts;
	mover->next_in = mover->next_out + losts;
	mover->asked = mover->next_in + losts;
	mover->out = mover->asked + losts;
	mover->in = mover->out + ports;
	memset(mover->asked, 0, losts * sizeof(*mover->asked));
	memset(mover->from, 0xff, sizeof(mover->from));
	return 0;
}

int lm_replan_move(struct replan *replan)
{
	struct mover mover = { .replan = replan };
	bool any = false;
	int ret;

	for (uint32_t at = 0; at < replan->losts.count; at++) {
		find_planes(replan, &replan->losts.list[at]);
		any |= replan->losts.list[at].planes != 0;
	}
	if (!any)
		return 0;
	ret = make_room(&mover);
	for (uint32_t at = 0; !ret && at < replan->losts.count; at++)
		if (replan->losts.list[at].planes)
			settle(&mover, at, at);
	for (uint32_t at = 0; !ret && at < replan->losts.count; at++)
		if (mover.plane[at] != NO_PLANE)
			ret = move(&mover, at);
	free(mover.plane);
	return ret;
}
