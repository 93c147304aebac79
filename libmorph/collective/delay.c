// SPDX-License-Identifier: LGPL-2.1-or-later
/* Durations of rounds and changes: see <morph/delay.h>. */
#include "delay.h"

#define MOST_MBPS (1ULL << 40)

MORPH_API struct morph_delay *morph_delay_new(struct morph_ctx *ctx)
{
	struct morph_delay *delay = calloc(1, sizeof(*delay));

	if (!delay) {
		lm_no_memory(ctx, "begin a delay");
		return NULL;
	}
	delay->ctx = ctx;
	delay->permille = 990;
	for (uint32_t part = 0; part < MORPH_DELAY_PARTS; part++)
		delay->counts[part] = 1;
	return delay;
}

MORPH_API void morph_delay_free(struct morph_delay *delay)
{
	free(delay);
}

static int check_ns(struct morph_delay *delay, uint64_t ns)
{
	if (ns <= MOST_NS)
		return 0;
	return lm_fail(delay->ctx, EINVAL, "a delay is at most %llu ns, not %llu", MOST_NS,
		       (unsigned long long)ns);
}

int morph_delay_set_link(struct morph_delay *delay, uint64_t round_ns, uint64_t hop_ns,
			 uint64_t mbps)
{
	int ret = check_ns(delay, round_ns);

	if (!ret)
		ret = check_ns(delay, hop_ns);
	if (ret)
		return ret;
	if (!mbps || mbps > MOST_MBPS)
		return lm_fail(delay->ctx, EINVAL,
			       "a port has 1 to %llu megabits per second, not %llu", MOST_MBPS,
			       (unsigned long long)mbps);
	delay->round_ns = round_ns;
	delay->hop_ns = hop_ns;
	delay->mbps = mbps;
	return 0;
}

static int check_count(struct morph_delay *delay, size_t count)
{
	if (count && count <= MOST_QUANTILES)
		return 0;
	return lm_fail(delay->ctx, EINVAL, "a delay has 1 to %d numbers, not %zu", MOST_QUANTILES,
		       count);
}

MORPH_API int morph_delay_set_part(struct morph_delay *delay, uint32_t part, const uint64_t *ns,
				   size_t count)
{
	int ret = check_count(delay, count);

	if (!ret && part >= MORPH_DELAY_PARTS)
		ret = lm_fail(delay->ctx, EINVAL, "a change has no part %u", part);
	for (size_t at = 0; !ret && at < count; at++) {
		ret = check_ns(delay, ns[at]);
		if (!ret && at && ns[at] < ns[at - 1])
			ret = lm_fail(delay->ctx, EINVAL,
				      "quantiles must ascend: %llu ns does not follow %llu ns",
				      (unsigned long long)ns[at], (unsigned long long)ns[at - 1]);
	}
	if (ret)
		return ret;
	memcpy(delay->parts[part], ns, count * sizeof(*ns));
	delay->counts[part] = (uint32_t)count;
	if (part == MORPH_DELAY_BARRIER)
		delay->barriers = 0;
	return 0;
}

int morph_delay_set_barrier(struct morph_delay *delay, const uint32_t *ranks, const uint64_t *ns,
			    size_t count)
{
	int ret = check_count(delay, count);

	for (size_t at = 0; !ret && at < count; at++) {
		ret = check_ns(delay, ns[at]);
		if (!ret && at && ranks[at] <= ranks[at - 1])
			ret = lm_fail(delay->ctx, EINVAL,
				      "ranks of barriers must ascend: %u does not follow %u",
				      ranks[at], ranks[at - 1]);
	}
	if (ret)
		return ret;
	memcpy(delay->barrier_ranks, ranks, count * sizeof(*ranks));
	memcpy(delay->barrier_ns, ns, count * sizeof(*ns));
	delay->barriers = (uint32_t)count;
	return 0;
}

int morph_delay_set_quantile(struct morph_delay *delay, uint32_t permille)
{
	if (!permille || permille > 1000)
		return lm_fail(delay->ctx, EINVAL, "a quantile must be 1 to 1000 per mille, not %u",
			       permille);
	delay->permille = permille;
	return 0;
}

int morph_delay_set_scope(struct morph_delay *delay, uint32_t scope)
{
	if (scope > MORPH_DELAY_FABRIC_SCOPE)
		return lm_fail(delay->ctx, EINVAL, "scope %u must be one of 0 to %d", scope,
			       MORPH_DELAY_FABRIC_SCOPE);
	delay->scope = scope;
	return 0;
}

MORPH_API int morph_delay_set(struct morph_delay *delay, const struct morph_delay_opts *opts)
{
	struct morph_delay_opts mine;
	struct morph_delay set = *delay;
	int ret = lm_opts_check(delay->ctx, opts, sizeof(mine), "morph_delay_opts");

	if (ret)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	const uint64_t parts[MORPH_DELAY_PARTS] = {
		[MORPH_DELAY_DRAIN] = mine.drain_ns,	 [MORPH_DELAY_BARRIER] = mine.barrier_ns,
		[MORPH_DELAY_PROGRAM] = mine.program_ns, [MORPH_DELAY_PORT] = mine.port_ns,
		[MORPH_DELAY_SETTLE] = mine.settle_ns,	 [MORPH_DELAY_RELOCK] = mine.relock_ns,
	};

	ret = morph_delay_set_link(&set, mine.round_ns, mine.hop_ns, mine.mbps);
	if (!ret)
		ret = morph_delay_set_scope(&set, mine.scope);
	for (uint32_t part = 0; !ret && part < MORPH_DELAY_PARTS; part++)
		ret = morph_delay_set_part(&set, part, &parts[part], 1);
	if (!ret)
		*delay = set;
	return ret;
}

/* The least of the part's numbers that is not below the quantile. */
static uint64_t part_ns(const struct morph_delay *delay, uint32_t part)
{
	uint32_t count = delay->counts[part];

	return delay->parts[part][(delay->permille * count + 999) / 1000 - 1];
}

static uint64_t barrier_ps(const struct morph_delay *delay, uint32_t ranks)
{
	uint32_t above = 0;
	unsigned __int128 rise;
	uint32_t run;

	if (!delay->barriers)
		return part_ns(delay, MORPH_DELAY_BARRIER) * PS_PER_NS;
	while (above < delay->barriers && delay->barrier_ranks[above] < ranks)
		above++;
	if (!above)
		return delay->barrier_ns[0] * PS_PER_NS;
	if (above == delay->barriers)
		return delay->barrier_ns[above - 1] * PS_PER_NS;
	/* Use weights of both ends, so that nothing is negative where the line falls. */
	run = delay->barrier_ranks[above] - delay->barrier_ranks[above - 1];
	rise = (unsigned __int128)delay->barrier_ns[above] *
		       (ranks - delay->barrier_ranks[above - 1]) +
	       (unsigned __int128)delay->barrier_ns[above - 1] *
		       (delay->barrier_ranks[above] - ranks);
	return (uint64_t)((rise * PS_PER_NS + run - 1) / run);
}

struct costs lm_delay_costs(const struct morph_delay *delay, uint32_t ranks)
{
	struct costs costs = { .round_ps = delay->round_ns * PS_PER_NS,
			       .hop_ps = delay->hop_ns * PS_PER_NS,
			       .mbps = delay->mbps,
			       .change_ps = barrier_ps(delay, ranks),
			       .port_ps = part_ns(delay, MORPH_DELAY_PORT) * PS_PER_NS,
			       .scope = delay->scope };

	for (uint32_t part = 0; part < MORPH_DELAY_PARTS; part++)
		if (part != MORPH_DELAY_BARRIER && part != MORPH_DELAY_PORT)
			costs.change_ps += part_ns(delay, part) * PS_PER_NS;
	return costs;
}

static uint64_t edge_ns(unsigned __int128 ps)
{
	unsigned __int128 ns = (ps + PS_PER_NS - 1) / PS_PER_NS;

	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

MORPH_API uint64_t morph_delay_change_ns(const struct morph_delay *delay, uint32_t ranks,
					 uint32_t ports)
{
	struct costs costs = lm_delay_costs(delay, ranks);

	if (!ports)
		return 0;
	return edge_ns(costs.change_ps + (unsigned __int128)costs.port_ps * ports);
}

uint64_t morph_delay_round_ns(const struct morph_delay *delay, uint64_t bytes, uint32_t hops)
{
	struct costs costs = lm_delay_costs(delay, 0);

	if (!costs.mbps)
		return UINT64_MAX;
	return edge_ns(costs.round_ps + (unsigned __int128)costs.hop_ps * hops +
		       costs_wire_ps(&costs, bytes));
}
