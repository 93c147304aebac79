// SPDX-License-Identifier: LGPL-2.1-or-later
/* The size from which changing the circuits of a ring pays: see morph_short_cut(). */
#include "circulants.h"
#include "schedule.h"

#define MOST_BYTES (1ULL << 50)

static struct short_cuts cuts_of(const struct costs *costs, uint32_t ranks, uint32_t planes,
				 uint64_t bytes)
{
	return lm_short_cuts(costs, ranks, bytes / planes + !!(bytes % planes));
}

static bool pays(const struct costs *costs, uint32_t ranks, uint32_t planes, uint64_t bytes)
{
	struct short_cuts cuts = cuts_of(costs, ranks, planes, bytes);

	return cuts.first < cuts.steps;
}

/*
 * The saving of a step grows with its bytes, and the last step saves most. Find the least size at
 * which it has its own circuits. Search upwards, because times overflow at large sizes.
 */
static uint64_t pays_from(const struct costs *costs, uint32_t ranks, uint32_t planes)
{
	uint64_t low = 0, high = 1;

	while (!pays(costs, ranks, planes, high)) {
		if (high >= MOST_BYTES)
			return UINT64_MAX;
		low = high + 1;
		high *= 2;
	}
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (pays(costs, ranks, planes, middle))
			high = middle;
		else
			low = middle + 1;
	}
	return high;
}

MORPH_API int morph_short_cut(struct morph_ctx *ctx, const struct morph_delay *delay,
			      uint32_t ranks, uint32_t planes, uint64_t bytes,
			      struct morph_short_cut *out)
{
	struct short_cuts cuts;
	struct costs costs;

	if (ranks < 2 || ranks > MOST_RANKS || ranks & (ranks - 1))
		return lm_fail(ctx, EINVAL,
			       "halving requires a power of two of 2 to %d ranks, not %u",
			       MOST_RANKS, ranks);
	if (!planes || planes > MOST_PLANES)
		return lm_fail(ctx, EINVAL, "a rank has 1 to %d ports, not %u", MOST_PLANES,
			       planes);
	if (!delay->mbps)
		return lm_fail(ctx, EINVAL,
			       "the delay has no bandwidth; call morph_delay_set() first");
	costs = lm_delay_costs(delay, ranks);
	costs = costs_of_planes(&costs, planes);
	cuts = cuts_of(&costs, ranks, planes, bytes);
	*out = (struct morph_short_cut){ .steps = cuts.steps,
					 .first = cuts.first,
					 .ns = lm_edge_ns(cuts.ps),
					 .pays_bytes = pays_from(&costs, ranks, planes) };
	return 0;
}
