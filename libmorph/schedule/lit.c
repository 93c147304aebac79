// SPDX-License-Identifier: LGPL-2.1-or-later
/* Chooses algorithm, circuits and paths together: the fastest plan that has paths. */
#include <stdio.h>

#include "../place/place.h"
#include "schedule.h"

#define MOST_TRIED 24

struct choosing {
	struct morph_schedule *schedule;
	struct morph_collective *collective;
	const struct morph_collective_opts *wanted;
	const struct morph_delay *delay;
	const struct morph_schedule_opts *opts;
	struct morph_lit_opts lit;
	struct morph_light_opts light_opts;
	struct morph_steps *steps;
	struct morph_light *light;
	struct morph_choice *choices;
};

/* Does the latest plan have paths? The schedule notes the reason otherwise. */
static int light(struct choosing *choosing)
{
	struct morph_ctx *ctx = choosing->schedule->ctx, *its = choosing->lit.ledger->ctx;
	int ret = morph_schedule_light(choosing->schedule, choosing->lit.ledger,
				       choosing->lit.accelerators, choosing->wanted->ranks,
				       &choosing->light_opts, choosing->steps, choosing->light);

	if (ret && ctx != its)
		lm_fail(ctx, -ret, "%s", morph_error_text(its));
	return ret;
}

static void choose(struct morph_choice *choices, const struct morph_choice *candidate)
{
	for (uint32_t at = 0; at < MORPH_ALGORITHMS; at++)
		choices[at].chosen = false;
	choices[candidate->algorithm] = *candidate;
	choices[candidate->algorithm].chosen = true;
}

/* Plan the chosen one again. */
static struct morph_choice chosen(const struct choosing *choosing)
{
	struct morph_choice best = { 0 };

	for (uint32_t at = 0; at < MORPH_ALGORITHMS; at++)
		if (choosing->choices[at].chosen)
			best = choosing->choices[at];
	best.policy = choosing->opts->policy;
	return best;
}

static int take(struct choosing *choosing, const struct morph_choice *choice)
{
	return morph_schedule_take(choosing->schedule, choosing->collective, choosing->wanted,
				   choosing->delay, choosing->opts, choice);
}

/* -ENOENT: none of the plans tried has paths. */
static int try_candidates(struct choosing *choosing, const struct morph_choice *list,
			  uint32_t count, uint64_t best)
{
	uint32_t left = (choosing->lit.most ? choosing->lit.most : MOST_TRIED) - 1;

	for (uint32_t at = 0; at < count && left; at++) {
		int ret = take(choosing, &list[at]);

		/* A plan that holds the same circuits as one without paths has none. */
		if (!ret && lm_schedule_digest(choosing->schedule) == best)
			continue;
		if (!ret)
			ret = light(choosing);
		if (ret)
			return ret;
		if (choosing->light->verdict == MORPH_FEASIBLE) {
			choose(choosing->choices, &list[at]);
			return 0;
		}
		left--;
	}
	return -ENOENT;
}

static int choose_other(struct choosing *choosing)
{
	struct morph_choice *list = calloc(2UL * MORPH_CANDIDATES, sizeof(*list));
	const uint64_t digest = lm_schedule_digest(choosing->schedule);
	const struct morph_choice best = chosen(choosing);
	const struct morph_light why = *choosing->light;
	uint32_t count, fewer = why.planes < best.planes ? why.planes : 0;
	int ret;

	if (!list)
		return lm_no_memory(choosing->schedule->ctx, "choose a plan");
	ret = morph_schedule_candidates(choosing->schedule, choosing->collective, choosing->wanted,
					choosing->delay, choosing->opts, choosing->choices, fewer,
					list, &count);
	if (!ret)
		ret = try_candidates(choosing, list, count, digest);
	if (ret == -ENOENT) {
		morph_steps_clear(choosing->steps);
		*choosing->light = why;
		ret = take(choosing, &best);
	}
	free(list);
	return ret;
}

static int choose_lit(struct choosing *choosing)
{
	int ret = morph_schedule_choose(choosing->schedule, choosing->collective, choosing->wanted,
					choosing->delay, choosing->opts, choosing->choices);

	if (!ret && choosing->schedule->verdict == MORPH_FEASIBLE)
		ret = light(choosing);
	if (ret || !choosing->light->verdict || choosing->light->verdict == MORPH_FEASIBLE ||
	    choosing->lit.most == 1 || morph_light_is_final(choosing->light->reason))
		return ret;
	return choose_other(choosing);
}

int morph_schedule_choose_lit(struct morph_schedule *schedule, struct morph_collective *collective,
			      const struct morph_collective_opts *wanted,
			      const struct morph_delay *delay,
			      const struct morph_schedule_opts *opts,
			      const struct morph_lit_opts *lit, struct morph_steps *steps,
			      struct morph_light *light, struct morph_choice *choices)
{
	struct morph_choice mine[MORPH_ALGORITHMS];
	struct choosing choosing = { .schedule = schedule,
				     .collective = collective,
				     .delay = delay,
				     .steps = steps,
				     .light = light,
				     .choices = choices ? choices : mine };
	struct morph_collective_opts known;
	struct morph_schedule_opts how;
	int ret = lm_opts_check(schedule->ctx, wanted, sizeof(known), "morph_collective_opts");

	if (!ret)
		ret = lm_schedule_opts_check(schedule->ctx, opts);
	if (!ret)
		ret = lm_opts_check(schedule->ctx, lit, sizeof(choosing.lit), "morph_lit_opts");
	*light = (struct morph_light){ 0 };
	morph_steps_clear(steps);
	if (ret)
		return ret;
	lm_opts_copy(&known, wanted, sizeof(known));
	lm_opts_copy(&how, opts, sizeof(how));
	lm_opts_copy(&choosing.lit, lit, sizeof(choosing.lit));
	if (!choosing.lit.ledger || !choosing.lit.accelerators)
		return lm_fail(schedule->ctx, EINVAL, "morph_lit_opts.%s is required",
			       choosing.lit.ledger ? "accelerators" : "ledger");
	ret = lm_opts_check(schedule->ctx, choosing.lit.light, sizeof(choosing.light_opts),
			    "morph_light_opts");
	if (ret)
		return ret;
	lm_opts_copy(&choosing.light_opts, choosing.lit.light, sizeof(choosing.light_opts));
	known.sz = sizeof(known);
	how.sz = sizeof(how);
	choosing.light_opts.sz = sizeof(choosing.light_opts);
	choosing.light_opts.count_planes = true;
	choosing.wanted = &known;
	choosing.opts = &how;
	return choose_lit(&choosing);
}
