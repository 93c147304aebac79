// SPDX-License-Identifier: LGPL-2.1-or-later
/* Algorithm and circuits are chosen together: each algorithm is planned, and the soonest is it. */
#include "schedule.h"

#define FEW_RANKS 64 /* all algorithms are soon planned */
#define MOST_WORK (1ULL << 28) /* some seconds, of more ranks */
#define WORK_BITS 22 /* of a step of the budget */
#define WORK_EACH 16 /* of a transfer, where a round has no more of them than ranks */

struct choosing {
	struct morph_schedule *schedule, *trial;
	struct morph_collective *collective, *rounds;
	const struct morph_delay *delay;
	const struct morph_schedule_opts *opts;
	uint32_t chosen;
	bool left_out[MORPH_ALGORITHMS]; /* the budget is spent before */
};

static void swap_schedules(struct morph_schedule *one, struct morph_schedule *other)
{
	struct morph_schedule kept = *one;

	*one = *other;
	*other = kept;
}

static void swap_collectives(struct morph_collective *one, struct morph_collective *other)
{
	struct morph_collective kept = *one;

	*one = *other;
	*other = kept;
}

static bool is_sooner(const struct morph_schedule *one, const struct morph_schedule *other)
{
	uint64_t ours, theirs;

	if (one->verdict != MORPH_FEASIBLE || other->verdict != MORPH_FEASIBLE)
		return one->verdict == MORPH_FEASIBLE;
	if (one->finish_ps != other->finish_ps)
		return one->finish_ps < other->finish_ps;
	morph_schedule_changes(one, &ours);
	morph_schedule_changes(other, &theirs);
	return ours < theirs;
}

/* Plan the rounds of an algorithm; what is best so far is in what the caller gave. */
static int try(struct choosing *choosing, uint32_t algorithm, bool first,
	       struct morph_choice *choice)
{
	int ret = morph_schedule_plan(choosing->trial, choosing->rounds, choosing->delay,
				      choosing->opts);

	if (ret)
		return ret;
	*choice = (struct morph_choice){ .algorithm = algorithm,
					 .rounds = choosing->rounds->rounds.count };
	if (choosing->trial->verdict == MORPH_FEASIBLE) {
		choice->policy = choosing->trial->policy;
		choice->ns = morph_schedule_ns(choosing->trial, NULL);
	}
	if (first || is_sooner(choosing->trial, choosing->schedule)) {
		choosing->chosen = algorithm;
		swap_schedules(choosing->trial, choosing->schedule);
		swap_collectives(choosing->rounds, choosing->collective);
	}
	return 0;
}

/* Rounds of an algorithm; -ENOENT: it does not do that. */
static int build(struct choosing *choosing, struct morph_collective_opts wanted, uint32_t algorithm)
{
	int ret;

	if (algorithm == MORPH_STRAGGLAR)
		return -ENOENT;
	wanted.algorithm = algorithm;
	ret = morph_collective_build(choosing->rounds, &wanted);
	if (ret != -EINVAL)
		return ret;
	lm_error_clear(choosing->schedule->ctx);
	return -ENOENT;
}

/* What it takes to plan rounds: where a rank has several partners each is weighed with all ranks. */
static uint64_t work_of(const struct morph_collective *collective)
{
	uint64_t work = 0;

	for (uint32_t round = 0; round < collective->rounds.count; round++) {
		uint64_t count = collective->rounds.list[round].count;

		work += count * (count > collective->ranks ? collective->ranks : WORK_EACH);
	}
	return work;
}

/* The least work first, as many as the budget is for, and one in any case. */
static void spend(struct choosing *choosing, uint64_t *works, uint64_t left)
{
	for (bool first = true;; first = false) {
		uint32_t least = 0;

		for (uint32_t algorithm = 1; algorithm < MORPH_ALGORITHMS; algorithm++)
			if (works[algorithm] && (!least || works[algorithm] < works[least]))
				least = algorithm;
		if (!least)
			return;
		if (first || works[least] <= left)
			left -= works[least] < left ? works[least] : left;
		else
			choosing->left_out[least] = true;
		works[least] = 0;
	}
}

/* Time is not looked at, so that all ranks come to the same. */
static int leave_out(struct choosing *choosing, const struct morph_collective_opts *wanted)
{
	const struct morph_schedule_opts *opts = choosing->opts;
	uint64_t works[MORPH_ALGORITHMS] = { 0 };
	uint64_t budget = lm_schedule_budget(opts);

	if (!budget && wanted->ranks <= FEW_RANKS)
		return 0;
	for (uint32_t algorithm = 1; algorithm < MORPH_ALGORITHMS; algorithm++) {
		int ret = build(choosing, *wanted, algorithm);

		if (ret && ret != -ENOENT)
			return ret;
		if (!ret)
			works[algorithm] = 1 + work_of(choosing->rounds);
	}
	spend(choosing, works, budget ? budget << WORK_BITS : MOST_WORK);
	return 0;
}

/* Algorithms that do not do it are left out, unless none does. */
static int try_all(struct choosing *choosing, const struct morph_collective_opts *wanted,
		   struct morph_choice *choices)
{
	bool first = true;
	int ret = leave_out(choosing, wanted);

	for (uint32_t algorithm = 1; !ret && algorithm < MORPH_ALGORITHMS; algorithm++) {
		ret = build(choosing, *wanted, algorithm);
		if (ret == -ENOENT) {
			ret = 0;
			continue;
		}
		if (!ret && choosing->left_out[algorithm]) {
			choices[algorithm] =
				(struct morph_choice){ .algorithm = algorithm,
						       .rounds = choosing->rounds->rounds.count };
			continue;
		}
		if (!ret)
			ret = try(choosing, algorithm, first, &choices[algorithm]);
		first = false;
	}
	if (!ret && first)
		ret = lm_fail(choosing->schedule->ctx, EINVAL,
			      "no algorithm does collective %u with %u ranks", wanted->kind,
			      wanted->ranks);
	return ret;
}

static int choose(struct choosing *choosing, const struct morph_collective_opts *wanted,
		  struct morph_choice *choices)
{
	int ret;

	if (!wanted->algorithm)
		return try_all(choosing, wanted, choices);
	ret = morph_collective_build(choosing->rounds, wanted);
	return ret ? ret : try(choosing, wanted->algorithm, true, &choices[wanted->algorithm]);
}

MORPH_API int
morph_schedule_choose(struct morph_schedule *schedule, struct morph_collective *collective,
		      const struct morph_collective_opts *wanted, const struct morph_delay *delay,
		      const struct morph_schedule_opts *opts, struct morph_choice *choices)
{
	struct morph_choice mine[MORPH_ALGORITHMS] = { 0 };
	struct morph_schedule_opts how;
	struct choosing choosing = { .schedule = schedule,
				     .collective = collective,
				     .trial = morph_schedule_new(schedule->ctx),
				     .rounds = morph_collective_new(schedule->ctx),
				     .delay = delay,
				     .opts = &how };
	struct morph_collective_opts known;
	int ret = choosing.trial && choosing.rounds ? 0 : -ENOMEM;

	if (!ret)
		ret = lm_opts_check(schedule->ctx, wanted, sizeof(known), "morph_collective_opts");
	if (!ret)
		ret = lm_opts_check(schedule->ctx, opts, sizeof(how), "morph_schedule_opts");
	if (!ret) {
		lm_opts_copy(&how, opts, sizeof(how));
		how.sz = sizeof(how);
		lm_opts_copy(&known, wanted, sizeof(known));
		known.sz = sizeof(known);
		ret = choose(&choosing, &known, mine);
		mine[choosing.chosen].chosen = !ret;
	}
	if (choices)
		memcpy(choices, mine, sizeof(mine));
	morph_schedule_free(choosing.trial);
	morph_collective_free(choosing.rounds);
	return ret;
}
