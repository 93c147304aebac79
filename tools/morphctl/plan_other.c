// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * morphctl plan with --profile or --slice: where the soonest plan's light has no ways, the next ones. Algorithms, policies, and
 * as many planes as go together, by when all has arrived.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

struct candidate {
	uint32_t algorithm, policy, planes;
	uint64_t ns;
};

struct candidates {
	struct planning *planning;
	struct morph_schedule_opts opts;
	uint32_t policy; /* that was asked for */
	struct candidate list[2 * MORPH_ALGORITHMS * MORPH_POLICIES];
	size_t count;
};

static int by_time(const void *one, const void *other)
{
	const struct candidate *a = one, *b = other;

	if (a->ns != b->ns)
		return a->ns > b->ns ? 1 : -1;
	if (a->algorithm != b->algorithm)
		return a->algorithm > b->algorithm ? 1 : -1;
	if (a->policy != b->policy)
		return a->policy > b->policy ? 1 : -1;
	return (a->planes > b->planes) - (a->planes < b->planes);
}

/* Rounds of an algorithm as it was chosen; those of a file are what they are. -EINVAL: it does not do that. */
static int build(struct planning *planning, uint32_t algorithm)
{
	struct morph_collective_opts wanted = planning->wanted;

	if (planning->rounds_given)
		return 0;
	wanted.algorithm = algorithm;
	if (!wanted.radix)
		wanted.radix = planning->choices[algorithm].radix;
	if (!wanted.segments)
		wanted.segments = planning->choices[algorithm].segments;
	if (!wanted.extent[0])
		memcpy(wanted.extent, planning->choices[algorithm].extent, sizeof(wanted.extent));
	return morph_collective_build(planning->collective, &wanted);
}

static int make(struct candidates *all, const struct candidate *candidate)
{
	struct planning *planning = all->planning;
	int error = build(planning, candidate->algorithm);

	all->opts.policy = candidate->policy;
	all->opts.planes = candidate->planes;
	planning->planes = candidate->planes;
	return error ? error :
		       morph_schedule_plan(planning->schedule, planning->collective,
					   planning->delay, &all->opts);
}

/* One plan by the best policy knows when each of them would end. */
static int collect_policies(struct candidates *all, uint32_t algorithm, uint32_t policy,
			    uint32_t planes)
{
	struct candidate candidate = { algorithm, policy, planes, 0 };
	int error = make(all, &candidate);

	for (uint32_t at = 1; !error && at < MORPH_POLICIES; at++) {
		struct morph_alternative tried;

		if (morph_schedule_alternative(all->planning->schedule, at, &tried) ||
		    tried.verdict != MORPH_FEASIBLE)
			continue;
		candidate.policy = at;
		candidate.ns = tried.ns;
		all->list[all->count++] = candidate;
	}
	return error;
}

/* Algorithms that do not do it are left out. */
static int collect(struct candidates *all, uint32_t policy, uint32_t planes)
{
	const struct planning *planning = all->planning;
	uint32_t only = planning->wanted.algorithm;
	int error = 0;

	if (planning->rounds_given)
		return collect_policies(all, 0, policy, planes);
	for (uint32_t algorithm = 1; !error && algorithm < MORPH_ALGORITHMS; algorithm++) {
		if (only ? algorithm != only : algorithm == MORPH_STRAGGLAR)
			continue;
		error = build(all->planning, algorithm);
		if (error == -EINVAL)
			error = 0;
		else if (!error)
			error = collect_policies(all, algorithm, policy, planes);
	}
	return error;
}

static void note(struct planning *planning, const struct candidate *candidate)
{
	struct unlit *unlit = &planning->unlit[planning->unlit_count++];

	*unlit = (struct unlit){ candidate->algorithm, candidate->policy, candidate->planes,
				 candidate->ns, planning->light.verdict == MORPH_INFEASIBLE };
}

static void choose(struct planning *planning, const struct candidate *candidate)
{
	if (planning->rounds_given)
		return;
	for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++)
		planning->choices[at].chosen = at == candidate->algorithm;
	planning->choices[candidate->algorithm].policy = candidate->policy;
	/* By its policy alone, which may end later than what the best one made of it. */
	planning->choices[candidate->algorithm].ns = morph_schedule_ns(planning->schedule, NULL);
	planning->choices[candidate->algorithm].rounds =
		morph_collective_rounds(planning->collective);
}

static struct candidate present(const struct planning *planning)
{
	struct candidate candidate = { .policy = morph_schedule_policy(planning->schedule),
				       .planes = planning->planes,
				       .ns = morph_schedule_ns(planning->schedule, NULL) };

	for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++)
		if (planning->choices[at].chosen)
			candidate.algorithm = at;
	return candidate;
}

static bool is_same(const struct candidate *one, const struct candidate *other)
{
	return one->algorithm == other->algorithm && one->policy == other->policy &&
	       one->planes == other->planes;
}

/* The first one that has ways; or else what was planned at first, and why that has none. */
static enum exit_code ask_all(struct candidates *all, const struct candidate *soonest)
{
	struct planning *planning = all->planning;
	const struct morph_light why = planning->light;
	struct candidate first = *soonest;
	enum exit_code code = EXIT_CODE_OK;
	int error = 0;

	note(planning, soonest);
	for (size_t at = 0; at < all->count && planning->unlit_count < MOST_UNLIT; at++) {
		if (is_same(&all->list[at], soonest))
			continue;
		error = make(all, &all->list[at]);
		if (error)
			return plan_error(planning->run, error);
		code = plan_light(planning);
		if (code)
			return code;
		if (planning->light.verdict == MORPH_FEASIBLE) {
			choose(planning, &all->list[at]);
			return EXIT_CODE_OK;
		}
		note(planning, &all->list[at]);
	}
	planning->light = why;
	first.policy = all->policy;
	error = make(all, &first);
	return error ? plan_error(planning->run, error) : EXIT_CODE_OK;
}

/* What no plan could mend: there are fewer ports or lanes than are asked for, or an accelerator may not be used. */
static bool is_hopeless(uint32_t reason)
{
	return reason == MORPH_LIGHT_PORTS || reason == MORPH_LIGHT_LANES ||
	       reason == MORPH_LIGHT_ACCELERATOR;
}

enum exit_code plan_other(struct planning *planning)
{
	struct run *run = planning->run;
	const struct candidate soonest = present(planning);
	struct candidates *all;
	enum exit_code code;
	uint32_t policy = 0;
	uint32_t planes = planning->light.planes;
	int error;

	if (!planning->light.verdict || planning->light.verdict == MORPH_FEASIBLE ||
	    is_hopeless(planning->light.reason) || given(run, OPTION_COMBINE) ||
	    given(run, OPTION_LOST) || planning->topologies.count || planning->payoff.rest_ns)
		return EXIT_CODE_OK;
	all = needed(calloc(1, sizeof(*all)));
	all->planning = planning;
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	all->opts = opts;
	if (!option_word(run, OPTION_POLICY, &policy) ||
	    !option_u64(run, OPTION_BUDGET, &all->opts.budget)) {
		free(all);
		return EXIT_CODE_USAGE;
	}
	all->policy = policy;
	error = collect(all, policy, planning->planes);
	if (!error && planes && planes < soonest.planes)
		error = collect(all, policy, planes);
	qsort(all->list, all->count, sizeof(all->list[0]), by_time);
	code = error ? plan_error(run, error) : ask_all(all, &soonest);
	free(all);
	return code;
}

void plan_other_write(const struct planning *planning)
{
	for (uint32_t at = 0; at < planning->unlit_count; at++) {
		const struct unlit *unlit = &planning->unlit[at];

		printf("%s%s%s on %u plane%s, %llu ns: %s\n",
		       unlit->algorithm ? morph_algorithm_name(unlit->algorithm) : "",
		       unlit->algorithm ? ", " : "", morph_policy_name(unlit->policy),
		       unlit->planes, PLURAL(unlit->planes), (unsigned long long)unlit->ns,
		       unlit->proven ? "its light has no ways" :
				       "no ways were found for its light");
	}
	if (planning->unlit_count)
		putchar('\n');
}

void plan_other_add(const struct planning *planning, json_t *report)
{
	json_t *list;

	if (!planning->unlit_count)
		return;
	list = json_array();
	for (uint32_t at = 0; at < planning->unlit_count; at++) {
		const struct unlit *unlit = &planning->unlit[at];
		json_t *record = json_pack("{s:s, s:i, s:I, s:b}", "policy",
					   morph_policy_name(unlit->policy), "planes-count",
					   (int)unlit->planes, "finish-ns", (json_int_t)unlit->ns,
					   "proven", (int)unlit->proven);

		if (unlit->algorithm)
			json_object_set_new(record, "algorithm",
					    json_string(morph_algorithm_name(unlit->algorithm)));
		json_array_append_new(list, record);
	}
	json_object_set_new(report, "unlit", list);
}
