// SPDX-License-Identifier: LGPL-2.1-or-later
/* The configuration of each plane, and when it is free: see overlap_replay.h. */
#include "overlap_replay.h"

struct plane {
	uint32_t holds;
	uint64_t free;
};

/* Long enough for the latency and all bytes. */
static bool long_enough(const struct costs *costs, const struct overlap_share *share)
{
	unsigned __int128 takes = share->until - share->from;

	return takes >= costs->round_ps && (takes - costs->round_ps) * costs->mbps >=
						   (unsigned __int128)share->bytes * 8 * 1000000;
}

static const char *change(const struct costs *costs, struct plane *plane, uint32_t configuration,
			  const struct overlap_share *share)
{
	if (share->change_from < plane->free)
		return "a plane changes while it sends";
	if (share->change_until < share->change_from ||
	    share->change_until - share->change_from < costs->change_ps)
		return "a change is too short";
	plane->holds = configuration;
	plane->free = share->change_until;
	return NULL;
}

static const char *send(const struct costs *costs, struct plane *plane,
			const struct overlap_round *round, uint64_t begin,
			const struct overlap_share *share)
{
	const char *wrong = NULL;

	if (!share->bytes)
		return "a plane takes part but carries nothing";
	if (share->changed)
		wrong = change(costs, plane, round->configuration, share);
	if (wrong)
		return wrong;
	if (plane->holds != round->configuration)
		return "a plane sends over circuits that it does not hold";
	if (share->from < begin)
		return "a plane sends before the last round has ended";
	if (share->from < plane->free)
		return "a plane sends during its change";
	if (share->until < share->from || !long_enough(costs, share))
		return "bytes take no time";
	plane->free = share->until;
	return NULL;
}

const char *overlap_replay(const struct overlap_problem *problem,
			   const struct overlap_share *shares, uint64_t *finish)
{
	struct plane planes[OVERLAP_PLANES] = { { 0 } };
	uint64_t begin = 0;

	for (uint32_t plane = 0; plane < problem->planes; plane++)
		planes[plane].holds = problem->resident ? problem->resident[plane] : OVERLAP_NONE;
	for (uint32_t round = 0; round < problem->count; round++) {
		unsigned __int128 bytes = 0;
		uint64_t end = begin;

		for (uint32_t plane = 0; plane < problem->planes; plane++, shares++) {
			const char *wrong;

			if (!shares->used) {
				if (shares->bytes || shares->changed)
					return "a plane that takes no part has work";
				continue;
			}
			wrong = send(&problem->costs, &planes[plane], &problem->rounds[round],
				     begin, shares);
			if (wrong)
				return wrong;
			bytes += shares->bytes;
			end = shares->until > end ? shares->until : end;
		}
		if (bytes != problem->rounds[round].bytes)
			return "a round does not carry its bytes";
		begin = end;
	}
	*finish = begin;
	return NULL;
}
