// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules that lose ports, with any algorithm, policy and scope. */
#include <string.h>

#include "../internal/planner.h"
#include "lossy.h"
#include "random.h"

void lossy_free(struct lossy *lossy)
{
	morph_schedule_free(lossy->schedule);
	morph_delay_free(lossy->delay);
	morph_collective_free(lossy->collective);
}

void lossy_lose(struct lossy *lossy, uint64_t *random, uint32_t most)
{
	uint32_t ranks = morph_collective_ranks(lossy->collective);
	uint64_t ns = morph_schedule_ns(lossy->schedule, NULL);

	lossy->opts = (struct morph_replan_opts){ .sz = sizeof(lossy->opts),
						  .losses = lossy->losses,
						  .count = 1 + random_below(random, most) };
	for (uint32_t at = 0; at < lossy->opts.count; at++) {
		lossy->losses[at].rank = random_below(random, ranks);
		lossy->losses[at].plane = random_below(random, lossy->planes);
		lossy->losses[at].ports = 1 + random_below(random, 3);
	}
	if (random_below(random, 2) && ns < UINT32_MAX)
		lossy->opts.from_ns = random_below(random, (uint32_t)ns + 1);
}

static bool draw_collective(struct lossy *lossy, uint64_t *random, uint32_t ranks)
{
	struct morph_collective_opts opts = { .sz = sizeof(opts), .ranks = ranks };

	opts.kind = 1 + random_below(random, MORPH_BROADCAST);
	opts.algorithm = 1 + random_below(random, MORPH_ALGORITHMS - 1);
	opts.bytes = 1ULL << (6 + random_below(random, 17));
	opts.radix = 2 + random_below(random, 3);
	opts.segments = 1 + random_below(random, 4);
	if (opts.algorithm == MORPH_RINGS) {
		opts.extent[1] = ranks % 2 ? 1 : 2;
		opts.extent[0] = ranks / opts.extent[1];
	}
	return !morph_collective_build(lossy->collective, &opts);
}

static void draw_delay(struct lossy *lossy, uint64_t *random)
{
	uint64_t settle_ns = random_below(random, 20000), port_ns = random_below(random, 20);
	uint64_t hop_ns = random_below(random, 500), round_ns = 1 + random_below(random, 2000);

	morph_delay_set_link(lossy->delay, round_ns, hop_ns, 100000);
	morph_delay_set_part(lossy->delay, MORPH_DELAY_SETTLE, &settle_ns, 1);
	morph_delay_set_part(lossy->delay, MORPH_DELAY_PORT, &port_ns, 1);
	morph_delay_set_scope(lossy->delay, random_below(random, 2) ? MORPH_DELAY_PORT_SCOPE :
								      1 + random_below(random, 2));
}

bool lossy_draw(struct morph_ctx *ctx, uint64_t seed, const struct lossy_range *range,
		struct lossy *lossy)
{
	struct morph_schedule_opts opts = { .sz = sizeof(opts) };
	uint64_t random = seed;
	uint32_t ranks = range->least_ranks +
			 random_below(&random, range->most_ranks - range->least_ranks + 1);

	*lossy = (struct lossy){ .collective = morph_collective_new(ctx),
				 .delay = morph_delay_new(ctx),
				 .schedule = morph_schedule_new(ctx) };
	if (!lossy->collective || !lossy->delay || !lossy->schedule)
		return false;
	lossy->planes = range->least_planes +
			random_below(&random, range->most_planes - range->least_planes + 1);
	draw_delay(lossy, &random);
	if (!draw_collective(lossy, &random, ranks))
		return false;
	opts.planes = lossy->planes;
	opts.policy = random_below(&random, MORPH_POLICIES);
	if (morph_schedule_plan(lossy->schedule, lossy->collective, lossy->delay, &opts) ||
	    morph_schedule_verdict(lossy->schedule) != MORPH_FEASIBLE)
		return false;
	lossy_lose(lossy, &random, range->losses);
	return true;
}
