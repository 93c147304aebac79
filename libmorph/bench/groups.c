// SPDX-License-Identifier: LGPL-2.1-or-later
/* Groups of accelerators that share bandwidth. */
#include "groups.h"
#include "random.h"

/* The guide from a tile to a neighbour: right, left, up, down. */
static uint32_t guide_of(const struct groups *groups, uint32_t tile, uint32_t direction)
{
	return direction * groups->accelerators_count + tile;
}

static struct groups_hop *add_hop(struct groups *groups, uint32_t group, uint32_t source,
				  uint32_t target)
{
	struct groups_hop *hop = &groups->hops[groups->hops_count++];

	*hop = (struct groups_hop){
		.group = group,
		.source = source,
		.target = target,
		.circuits = 1,
	};
	return hop;
}

/* Whether the shorter direction on a ring leads ahead. Half of the ring does. */
static bool goes_ahead(uint32_t from, uint32_t to, uint32_t places)
{
	return (to + places - from) % places <= places / 2;
}

static void route(struct groups *groups, struct groups_hop *hop, uint32_t width, uint32_t height,
		  bool x_first)
{
	uint32_t x = hop->source % width, to_x = hop->target % width;
	uint32_t y = hop->source / width, to_y = hop->target / width;

	while (x != to_x || y != to_y) {
		bool along_x = x_first ? x != to_x : y == to_y;
		bool ahead = along_x ? goes_ahead(x, to_x, width) : goes_ahead(y, to_y, height);
		uint32_t tile = y * width + x;

		hop->guides[hop->guides_count++] = guide_of(groups, tile, 2 * !along_x + !ahead);
		if (along_x)
			x = (ahead ? x + 1 : x + width - 1) % width;
		else
			y = (ahead ? y + 1 : y + height - 1) % height;
	}
}

void groups_rings(struct groups *groups, uint64_t seed, uint32_t width, uint32_t height,
		  uint32_t count, uint32_t wavelengths, uint32_t ports, uint32_t fibres)
{
	uint32_t order[GROUPS_ACCELERATORS] = { 0 };
	uint64_t random = seed;

	*groups = (struct groups){
		.wavelengths = wavelengths,
		.accelerators_count = width * height,
		.guides_count = 4 * width * height,
		.groups_count = count,
	};
	for (uint32_t at = 0; at < groups->accelerators_count; at++)
		groups->transmit[at] = groups->receive[at] = ports;
	for (uint32_t at = 0; at < groups->guides_count; at++)
		groups->fibres[at] = fibres;
	for (uint32_t group = 0; group < count; group++) {
		uint32_t members = 2 + random_below(&random, groups->accelerators_count - 1);

		for (uint32_t at = 0; at < groups->accelerators_count; at++) {
			uint32_t other = random_below(&random, at + 1);

			order[at] = order[other];
			order[other] = at;
		}
		for (uint32_t at = 0; at < 2 * members; at++) {
			uint32_t one = order[at / 2], next = order[(at / 2 + 1) % members];

			route(groups,
			      add_hop(groups, group, at % 2 ? next : one, at % 2 ? one : next),
			      width, height, random_below(&random, 2));
		}
	}
}

void groups_irregular(struct groups *groups, uint64_t seed, uint32_t accelerators, uint32_t guides,
		      uint32_t count, uint32_t hops, uint32_t wavelengths)
{
	uint64_t random = seed;

	*groups = (struct groups){
		.wavelengths = wavelengths,
		.accelerators_count = accelerators,
		.guides_count = guides,
		.groups_count = count,
	};
	for (uint32_t at = 0; at < accelerators; at++) {
		groups->transmit[at] = 1 + random_below(&random, 4);
		groups->receive[at] = 1 + random_below(&random, 4);
	}
	for (uint32_t at = 0; at < guides; at++)
		groups->fibres[at] = 1 + random_below(&random, 2);
	for (uint32_t group = 0; group < count; group++) {
		uint32_t its = 1 + random_below(&random, hops);

		groups->least[group] = random_below(&random, 6) ? 0 : 1;
		groups->most[group] = random_below(&random, 6) ? 0 : 1 + random_below(&random, 3);
		for (uint32_t at = 0; at < its; at++) {
			uint32_t source = random_below(&random, accelerators);
			uint32_t target = random_below(&random, accelerators - 1);
			struct groups_hop *hop;

			hop = add_hop(groups, group, source, target + (target >= source));
			hop->circuits += !random_below(&random, 4);
			for (uint32_t guide = 0; guide < guides && hop->guides_count < GROUPS_WAY;
			     guide++)
				if (!random_below(&random, guides < 6 ? 2 : guides / 3))
					hop->guides[hop->guides_count++] = guide;
		}
	}
}

struct morph_bandwidth *groups_problem(struct morph_ctx *ctx, const struct groups *groups)
{
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, groups->wavelengths);
	int result = 0;

	if (!bw)
		return NULL;
	for (uint32_t at = 0; result >= 0 && at < groups->accelerators_count; at++)
		result = morph_bandwidth_add_accelerator(bw, groups->transmit[at],
							 groups->receive[at]);
	for (uint32_t at = 0; result >= 0 && at < groups->guides_count; at++)
		result = morph_bandwidth_add_guide(bw, groups->fibres[at]);
	for (uint32_t at = 0; result >= 0 && at < groups->groups_count; at++)
		result = morph_bandwidth_add_group(bw, groups->least[at], groups->most[at]);
	for (uint32_t at = 0; result >= 0 && at < groups->hops_count; at++) {
		const struct groups_hop *hop = &groups->hops[at];

		result = morph_bandwidth_add_hop(bw, hop->group, hop->source, hop->target,
						 hop->circuits, hop->guides, hop->guides_count);
	}
	if (result >= 0)
		return bw;
	morph_bandwidth_free(bw);
	return NULL;
}
