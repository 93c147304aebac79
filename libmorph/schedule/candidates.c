// SPDX-License-Identifier: LGPL-2.1-or-later
/* The alternatives to a chosen plan: each algorithm by each policy, the fastest first. */
#include "../util/mix.h"
#include "../util/sort.h"
#include "schedule.h"

struct listing {
	struct morph_schedule *schedule;
	struct morph_collective *collective;
	const struct morph_collective_opts *wanted; /* NULL: the rounds are given */
	const struct morph_delay *delay;
	struct morph_schedule_opts opts;
	uint64_t late_ns;
	struct morph_choice *list;
	uint64_t digests[2 *
			 /* by index in the list: digest of its circuits and their times */
			 MORPH_CANDIDATES];
	uint32_t count;
};

/* ------------------------------------------------------------------- one of them */

/* A plan for the first planes and a dark start, as a plan of all planes. */
static int plan_on_fewer(struct morph_schedule *schedule, const struct morph_collective *collective,
			 const struct morph_delay *delay, const struct morph_schedule_opts *opts,
			 const struct morph_choice *choice)
{
	struct morph_schedule *fewer = morph_schedule_new(schedule->ctx);
	struct morph_schedule_opts how = *opts;
	int ret;

	if (!fewer)
		return -ENOMEM;
	how.policy = choice->policy;
	how.planes = choice->planes;
	how.after = NULL;
	ret = lm_choice_plan(fewer, collective, delay, &how, choice);
	if (!ret) {
		lm_schedule_begin(schedule, collective->ranks, opts->planes, &fewer->costs);
		memcpy(schedule->tried, fewer->tried, sizeof(schedule->tried));
		memcpy(schedule->why, fewer->why, sizeof(schedule->why));
		schedule->policy = fewer->policy;
		schedule->verdict = fewer->verdict;
	}
	if (!ret && fewer->verdict == MORPH_FEASIBLE) {
		ret = lm_schedule_take_less(schedule, fewer, opts->after);
		if (!ret)
			ret = lm_schedule_bound(schedule, collective);
	}
	morph_schedule_free(fewer);
	return ret;
}

static int plan(struct morph_schedule *schedule, struct morph_collective *collective,
		const struct morph_collective_opts *wanted, const struct morph_delay *delay,
		const struct morph_schedule_opts *opts, const struct morph_choice *choice)
{
	struct morph_schedule_opts how = *opts;
	int ret = wanted ? lm_choice_build(collective, wanted, choice) : 0;

	if (ret)
		return ret;
	if (choice->planes < opts->planes)
		return plan_on_fewer(schedule, collective, delay, opts, choice);
	how.policy = choice->policy;
	return lm_choice_plan(schedule, collective, delay, &how, choice);
}

uint64_t lm_schedule_digest(const struct morph_schedule *schedule)
{
	uint64_t digest = 0;

	for (uint32_t number = 0; number < schedule->holds.count; number++) {
		const struct hold *hold = &schedule->holds.list[number];
		const struct matching *matching = &schedule->matchings.list[hold->matching];

		digest = mix(digest ^ hold->plane) ^ hold->set_ps;
		digest = mix(digest) ^ hold->lit_ps;
		digest = mix(digest) ^ hold->dark_ps;
		for (uint32_t at = 0; at < matching->count; at++) {
			const struct morph_rank_pair *circuit =
				&schedule->circuits.list[matching->first + at];

			digest = mix(digest) ^ ((uint64_t)circuit->src << 32 | circuit->dst);
		}
	}
	return mix(digest);
}

/* ------------------------------------------------------------------------ all of them */

/* If two plans hold the same circuits, both have paths or none does. */
static void list_it(struct listing *listing, struct morph_choice candidate)
{
	uint64_t digest = lm_schedule_digest(listing->schedule);

	lm_choice_note(&candidate, listing->schedule, listing->collective,
		       listing->wanted ? listing->wanted->kind : 0);
	for (uint32_t at = 0; at < listing->count; at++)
		if (listing->digests[at] == digest && listing->list[at].ns == candidate.ns)
			return;
	listing->digests[listing->count] = digest;
	listing->list[listing->count++] = candidate;
}

/* Plan by each policy that can, even if others failed. */
static int list_policies(struct listing *listing, const struct morph_choice *parameters,
			 uint32_t planes)
{
	struct morph_choice candidate = *parameters;

	candidate.planes = planes;
	candidate.chosen = false;
	for (uint32_t policy = 1; policy < MORPH_POLICIES; policy++) {
		int ret;

		if (listing->opts.policy && policy != listing->opts.policy)
			continue;
		candidate.policy = policy;
		ret = plan(listing->schedule, listing->collective, listing->wanted, listing->delay,
			   &listing->opts, &candidate);
		if (!ret && listing->schedule->verdict == MORPH_FEASIBLE)
			list_it(listing, candidate);
		if (ret && ret != -EINVAL && ret != -ERANGE && ret != -E2BIG)
			return ret;
		lm_error_clear(listing->schedule->ctx);
	}
	return 0;
}

static int list_algorithms(struct listing *listing, const struct morph_choice *choices,
			   uint32_t planes)
{
	int ret = 0;

	if (!listing->wanted)
		return list_policies(listing, &(struct morph_choice){ 0 }, planes);
	for (uint32_t algorithm = 1; !ret && algorithm < MORPH_ALGORITHMS; algorithm++)
		if (choices[algorithm].policy)
			ret = list_policies(listing, &choices[algorithm], planes);
	return ret;
}

static int by_end(const void *one, const void *other, void *context)
{
	const struct morph_choice *a = one, *b = other;
	const uint64_t *late_ns = context;
	uint64_t ours = lm_choice_ends_ns(a, *late_ns), theirs = lm_choice_ends_ns(b, *late_ns);

	if (ours != theirs)
		return ours < theirs ? -1 : 1;
	if (a->algorithm != b->algorithm)
		return a->algorithm < b->algorithm ? -1 : 1;
	if (a->planes != b->planes)
		return a->planes > b->planes ? -1 : 1;
	return a->policy < b->policy ? -1 : a->policy > b->policy;
}

/* Options for the next calls. */
static int look_at(struct morph_ctx *ctx, const struct morph_collective_opts *wanted,
		   struct morph_collective_opts *known, const struct morph_schedule_opts *opts,
		   struct morph_schedule_opts *how)
{
	int ret = wanted ? lm_opts_check(ctx, wanted, sizeof(*known), "morph_collective_opts") : 0;

	if (!ret)
		ret = lm_schedule_opts_check(ctx, opts);
	if (ret)
		return ret;
	lm_opts_copy(known, wanted, sizeof(*known));
	known->sz = sizeof(*known);
	lm_opts_copy(how, opts, sizeof(*how));
	how->sz = sizeof(*how);
	how->planes = how->planes ? how->planes : 1;
	return 0;
}

MORPH_API int morph_schedule_candidates(struct morph_schedule *schedule,
					struct morph_collective *collective,
					const struct morph_collective_opts *wanted,
					const struct morph_delay *delay,
					const struct morph_schedule_opts *opts,
					const struct morph_choice *choices, uint32_t fewer,
					struct morph_choice *list, uint32_t *count)
{
	struct listing listing = {
		.schedule = schedule, .collective = collective, .delay = delay, .list = list
	};
	struct morph_collective_opts known;
	int ret = look_at(schedule->ctx, wanted, &known, opts, &listing.opts);

	*count = 0;
	if (ret)
		return ret;
	if (fewer >= listing.opts.planes)
		return lm_fail(schedule->ctx, EINVAL,
			       "the smaller number of planes is %u, must be below %u", fewer,
			       listing.opts.planes);
	if (wanted)
		listing.wanted = &known;
	if (wanted && wanted->kind == MORPH_ALL_REDUCE)
		listing.late_ns = known.late_ns;
	ret = list_algorithms(&listing, choices, listing.opts.planes);
	if (!ret && fewer)
		ret = list_algorithms(&listing, choices, fewer);
	if (ret)
		return ret;
	lm_sort(list, listing.count, sizeof(*list), by_end, &listing.late_ns);
	*count = listing.count;
	return 0;
}

MORPH_API int
morph_schedule_take(struct morph_schedule *schedule, struct morph_collective *collective,
		    const struct morph_collective_opts *wanted, const struct morph_delay *delay,
		    const struct morph_schedule_opts *opts, const struct morph_choice *choice)
{
	struct morph_collective_opts known;
	struct morph_schedule_opts how;
	int ret = look_at(schedule->ctx, wanted, &known, opts, &how);

	if (ret)
		return ret;
	if (!choice->planes || choice->planes > how.planes)
		return lm_fail(schedule->ctx, EINVAL, "a choice of %u planes must have 1 to %u",
			       choice->planes, how.planes);
	return plan(schedule, collective, wanted ? &known : NULL, delay, &how, choice);
}
