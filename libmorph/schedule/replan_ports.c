// SPDX-License-Identifier: LGPL-2.1-or-later
/* What has ports when a gap begins, and what is being changed then. */
#include "replan.h"

static void seat(struct gapping *gapping, uint32_t plane, const struct joined *circuit,
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
		const struct joined *circuit = &old->circuits.list[at];
		uint32_t piece = replan->pieces_of[number] == NOTHING ?
					 NOTHING :
					 lm_replan_piece(replan, number, circuit->src, gapping->ps);

		if (piece == NOTHING)
			seat(gapping, hold->plane, circuit, number);
		else if (!replan->pieces.list[piece].absent)
			seat(gapping, replan->pieces.list[piece].plane, circuit, PIECE | piece);
	}
}

/* Planes whose ports are programmed at a time: what was put on another plane is set as it was on its own. */
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
 * Planes that change now carry nothing, where changes stop planes; or nothing else can be set on them. Returns when all is lit that was set
 * before the gap.
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
