// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Turns a plan of fewer planes, or of a dark start, into a plan of all planes. Initially lit
 * circuits go dark when their plane is set. Unused planes stay unchanged.
 */
#include "schedule.h"

/* Initially lit circuits of a plane; they stay until it is set. */
static int add_resident(struct morph_schedule *schedule, const struct morph_schedule *after,
			uint32_t plane, uint64_t dark_ps, struct morph_rank_pair *circuits)
{
	uint32_t count = lm_schedule_left_lit(after, plane, circuits), matching, hold;
	int ret;

	if (!count)
		return 0;
	ret = lm_schedule_matching(schedule, circuits, count, &matching);
	if (!ret)
		ret = lm_schedule_hold(schedule, plane, matching, 0, 0, &hold);
	if (ret)
		return ret;
	schedule->holds.list[hold].dark_ps = dark_ps;
	schedule->residents++;
	return 0;
}

static uint64_t first_set(const struct morph_schedule *schedule, uint32_t plane)
{
	for (uint32_t at = schedule->residents; at < schedule->holds.count; at++)
		if (schedule->holds.list[at].plane == plane)
			return schedule->holds.list[at].set_ps;
	return UINT64_MAX;
}

static int take_hold(struct morph_schedule *schedule, const struct morph_schedule *less,
		     uint32_t number)
{
	const struct hold *hold = &less->holds.list[number];
	const struct matching *of = &less->matchings.list[hold->matching];
	uint32_t matching, added;
	int ret = lm_schedule_sorted_matching(schedule, &less->circuits.list[of->first], of->count,
					      &matching);

	if (!ret)
		ret = lm_schedule_hold(schedule, hold->plane, matching, hold->set_ps, hold->lit_ps,
				       &added);
	if (ret)
		return ret;
	schedule->holds.list[added].dark_ps = hold->dark_ps;
	schedule->residents += number < less->residents;
	return 0;
}

/*
 * Add the holds that it has at first, then other lit circuits, in place of them or on other planes.
 */
static int add_residents(struct morph_schedule *schedule, const struct morph_schedule *less,
			 const struct morph_schedule *after)
{
	struct morph_rank_pair *circuits = calloc(schedule->ranks, sizeof(*circuits));
	int ret = 0;

	if (!circuits)
		return lm_no_memory(schedule->ctx, "plan a schedule");
	for (uint32_t at = 0; !ret && at < less->residents; at++)
		ret = take_hold(schedule, less, at);
	for (uint32_t plane = less->residents ? less->planes : 0;
	     !ret && after && plane < schedule->planes; plane++)
		ret = add_resident(schedule, after, plane, first_set(less, plane), circuits);
	free(circuits);
	return ret;
}

static int take_sends(struct morph_schedule *schedule, const struct morph_schedule *less,
		      uint32_t more)
{
	uint32_t most = 1, *hops;
	int ret = 0;

	for (uint32_t at = 0; at < less->sends.count; at++)
		most = less->sends.list[at].hops > most ? less->sends.list[at].hops : most;
	hops = calloc(most, sizeof(*hops));
	if (!hops)
		return lm_no_memory(schedule->ctx, "plan a schedule");
	for (uint32_t at = 0; !ret && at < less->sends.count; at++) {
		const struct send *send = &less->sends.list[at];

		for (uint32_t hop = 0; hop < send->hops; hop++) {
			uint32_t hold = less->hops.list[send->hops_first + hop];

			hops[hop] = hold < less->residents ? hold : hold + more;
		}
		ret = lm_schedule_send(schedule, send, hops);
	}
	free(hops);
	return ret;
}

int lm_schedule_take_less(struct morph_schedule *schedule, const struct morph_schedule *less,
			  const struct morph_schedule *after)
{
	int ret = add_residents(schedule, less, after);
	uint32_t more = schedule->residents - less->residents;

	for (uint32_t at = less->residents; !ret && at < less->holds.count; at++)
		ret = take_hold(schedule, less, at);
	if (!ret)
		ret = take_sends(schedule, less, more);
	if (!ret)
		lm_schedule_end(schedule);
	return ret;
}
