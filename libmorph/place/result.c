// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans: results of morph_place(), and their memory. */
#include "place.h"

MORPH_API struct morph_plan *morph_plan_new(struct morph_ctx *ctx)
{
	struct morph_plan *plan = calloc(1, sizeof(*plan));

	if (!plan) {
		lm_no_memory(ctx, "begin a plan");
		return NULL;
	}
	plan->ctx = ctx;
	return plan;
}

MORPH_API void morph_plan_free(struct morph_plan *plan)
{
	if (!plan)
		return;
	free(plan->circuits);
	free(plan->ways);
	free(plan->strands);
	free(plan->refusals);
	free(plan->cuts);
	free(plan);
}

uint32_t morph_plan_verdict(const struct morph_plan *plan)
{
	return plan->verdict;
}

static bool feasible(const struct morph_plan *plan)
{
	return plan->verdict == MORPH_FEASIBLE;
}

uint32_t morph_plan_tier(const struct morph_plan *plan)
{
	return feasible(plan) ? plan->tier : 0;
}

uint32_t morph_plan_ranks(const struct morph_plan *plan)
{
	return feasible(plan) ? plan->ranks : 0;
}

uint32_t morph_plan_accelerator(const struct morph_plan *plan, uint32_t rank)
{
	return rank < morph_plan_ranks(plan) ? plan->accelerators[rank] : UINT32_MAX;
}

MORPH_API int morph_plan_info(const struct morph_plan *plan, struct morph_plan_info *out)
{
	const struct morph_plan_info info = { .sz = sizeof(info),
					      .verdict = plan->verdict,
					      .ranks = morph_plan_ranks(plan),
					      .accelerators = plan->accelerators };
	int ret = lm_opts_check(plan->ctx, out, sizeof(info), "morph_plan_info");

	if (!ret)
		lm_answer_copy(out, &info, sizeof(info));
	return ret;
}

uint32_t morph_plan_fibres(const struct morph_plan *plan, uint32_t *bound)
{
	if (bound)
		*bound = feasible(plan) ? plan->fibres_bound : 0;
	return feasible(plan) ? plan->strands_count : 0;
}

uint32_t morph_plan_servers(const struct morph_plan *plan, uint32_t *bound)
{
	if (bound)
		*bound = feasible(plan) ? plan->servers_bound : 0;
	return feasible(plan) ? plan->servers : 0;
}

const char *morph_plan_why(const struct morph_plan *plan)
{
	return plan->why;
}

/* --------------------------------------------------------------------- room */

#define GROW(plan, array, more)                                                 \
	array_grow((plan)->ctx, (void **)&(plan)->array, (plan)->array##_count, \
		   &(plan)->array##_room, sizeof(*(plan)->array), more, "make a plan")

int lm_plan_reserve(struct morph_plan *plan, const struct morph_request *request)
{
	uint32_t ways_room = plan->circuits_room;
	int ret;

	/* Both arrays have the same number of entries, and none so far. */
	ret = array_grow(plan->ctx, (void **)&plan->ways, 0, &ways_room, sizeof(*plan->ways),
			 request->circuits_count, "make a plan");
	if (!ret)
		ret = GROW(plan, circuits, request->circuits_count);
	return ret;
}

int lm_plan_add_strand(struct morph_plan *plan, const struct strand *strand)
{
	int ret = GROW(plan, strands, 1);

	if (!ret)
		plan->strands[plan->strands_count++] = *strand;
	return ret;
}

int lm_plan_refuse(struct morph_plan *plan, const struct rack_refusal *refusal,
		   const struct cuts *cuts)
{
	uint32_t count = cuts ? cuts->count : 0;
	struct rack_refusal *entry;
	int ret = GROW(plan, refusals, 1);

	if (!ret)
		ret = GROW(plan, cuts, count);
	if (ret)
		return ret;
	entry = &plan->refusals[plan->refusals_count++];
	*entry = *refusal;
	entry->cuts_first = plan->cuts_count;
	entry->cuts_count = count;
	for (uint32_t at = 0; at < count; at++)
		plan->cuts[plan->cuts_count++] = cuts->list[at].set;
	return 0;
}
