// SPDX-License-Identifier: LGPL-2.1-or-later
/* Defragmentation: the problem and its verdict. */
#include <errno.h>
#include <stdio.h>

#include "defrag.h"

#define DEFAULT_STEPS (1ULL << 20)

MORPH_API struct morph_defrag *morph_defrag_new(struct morph_ctx *ctx)
{
	struct morph_defrag *defrag = calloc(1, sizeof(*defrag));

	if (!defrag) {
		lm_no_memory(ctx, "create a defragmentation");
		return NULL;
	}
	defrag->ctx = ctx;
	defrag->reroute = calloc(1, sizeof(*defrag->reroute));
	defrag->best = calloc(1, sizeof(*defrag->best));
	defrag->plan = morph_plan_new(ctx);
	if (!defrag->reroute || !defrag->best || !defrag->plan) {
		lm_no_memory(ctx, "create a defragmentation");
		morph_defrag_free(defrag);
		return NULL;
	}
	return defrag;
}

static void forget(struct morph_defrag *defrag)
{
	defrag->verdict = 0;
	defrag->moved = defrag->moved_least = defrag->dark = 0;
	defrag->steps.count = defrag->changes.count = defrag->strands.count = 0;
	defrag->tenants.count = 0;
	defrag->refusals.count = defrag->metrics.count = defrag->lengths.count = 0;
	defrag->guides.count = 0;
	defrag->lit = false;
	if (defrag->best)
		defrag->best->found = false;
	if (defrag->plan)
		defrag->plan->verdict = 0;
	defrag->why[0] = '\0';
}

void morph_defrag_clear(struct morph_defrag *defrag)
{
	for (uint32_t at = 0; at < defrag->slices.count; at++)
		lm_running_free(&defrag->slices.list[at]);
	for (uint32_t at = 0; at < defrag->fixed.count; at++)
		lm_running_free(&defrag->fixed.list[at]);
	defrag->slices.count = defrag->fixed.count = defrag->stays.count = 0;
	forget(defrag);
}

MORPH_API void morph_defrag_free(struct morph_defrag *defrag)
{
	if (!defrag)
		return;
	morph_defrag_clear(defrag);
	free(defrag->slices.list);
	free(defrag->fixed.list);
	free(defrag->stays.list);
	free(defrag->guides.list);
	free(defrag->reroute);
	free(defrag->best);
	morph_plan_free(defrag->plan);
	free(defrag->pool.list);
	free(defrag->guides_taken);
	free(defrag->elements_taken);
	free(defrag->steps.list);
	free(defrag->changes.list);
	free(defrag->strands.list);
	free(defrag->tenants.list);
	free(defrag->refusals.list);
	free(defrag->metrics.list);
	free(defrag->lengths.list);
	free(defrag);
}

int morph_defrag_add(struct morph_defrag *defrag, struct morph_plan *plan, uint32_t slice,
		     uint32_t flags)
{
	int ret;

	if (plan->verdict != MORPH_FEASIBLE)
		return lm_fail(defrag->ctx, EINVAL, "slice %u: its plan is not feasible", slice);
	if (!slice)
		return lm_fail(defrag->ctx, EINVAL, "slice 0 is not a slice; numbers begin at 1");
	if (plan->bands > 1)
		return lm_fail(
			defrag->ctx, EINVAL,
			"slice %u: its circuits share fibres in %u wavelengths; only circuits on unshared fibres can move",
			slice, plan->bands);
	if (plan->tier == MORPH_TIER_CROSSING)
		return lm_fail(
			defrag->ctx, EINVAL,
			"slice %u: it was placed across racks and cannot move; do not add it",
			slice);
	if (flags & ~MORPH_DEFRAG_PINNED)
		return lm_fail(defrag->ctx, EINVAL, "flags %#x: only %#x is known", flags,
			       MORPH_DEFRAG_PINNED);
	for (uint32_t at = 0; at < defrag->slices.count; at++)
		if (defrag->slices.list[at].slice == slice)
			return lm_fail(defrag->ctx, EEXIST, "slice %u was already added", slice);
	ret = DEFRAG_GROW(defrag, slices, 1);
	if (ret)
		return ret;
	forget(defrag);
	defrag->slices.list[defrag->slices.count++] = (struct running){
		.plan = plan, .slice = slice, .pinned = flags & MORPH_DEFRAG_PINNED
	};
	return 0;
}

/* ------------------------------------------------------------------------ input */

/* Check that a slice is lit as its plan states. */
static int check_running(struct morph_defrag *defrag, const struct morph_ledger *ledger,
			 const struct running *running)
{
	const struct morph_plan *plan = running->plan;

	if (plan->checksum != ledger->graph->params.checksum)
		return lm_fail(
			defrag->ctx, EINVAL,
			"slice %u: its plan is for a profile with checksum %08x, the ledger's has %08x",
			running->slice, plan->checksum, ledger->graph->params.checksum);
	for (uint32_t rank = 0; rank < plan->ranks; rank++)
		if (ledger->owner[plan->accelerators[rank]] != running->slice)
			return lm_fail(
				defrag->ctx, EINVAL,
				"slice %u: the ledger does not give it accelerator %u of rank %u",
				running->slice, plan->accelerators[rank], rank);
	for (uint32_t at = 0; at < plan->strands_count; at++)
		for (uint32_t guide = 0; guide < plan->strands[at].guides_count; guide++)
			if (!ledger->guide_lanes[plan->strands[at].guides[guide] >> 1])
				return lm_fail(defrag->ctx, EINVAL,
					       "slice %u: its guide %u is dark in the ledger",
					       running->slice,
					       plan->strands[at].guides[guide] >> 1);
	return 0;
}

static int check_input(struct morph_defrag *defrag, const struct morph_ledger *ledger,
		       const struct morph_defrag_opts *opts)
{
	int ret = 0;

	if (opts->objective > MORPH_DEFRAG_MOVES)
		return lm_fail(defrag->ctx, EINVAL, "unknown objective %u: expected 0 or 1",
			       opts->objective);
	for (uint32_t at = 0; at < defrag->slices.count && !ret; at++)
		ret = check_running(defrag, ledger, &defrag->slices.list[at]);
	return ret;
}

/* -------------------------------------------------------------------- refusals */

static int report_metric(struct morph_defrag *defrag, const struct metric *metric)
{
	const struct net *room = &defrag->reroute->room;
	uint32_t first = defrag->lengths.count;

	for (uint32_t from = 0; from < room->sites; from++) {
		for (uint64_t left = room->out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);

			if (!metric->lengths.of[from][to])
				continue;
			if (DEFRAG_GROW(defrag, lengths, 1))
				return -ENOMEM;
			defrag->lengths.list[defrag->lengths.count++] =
				(struct length){ (uint16_t)from, (uint16_t)to,
						 metric->lengths.of[from][to] };
		}
	}
	if (DEFRAG_GROW(defrag, metrics, 1))
		return -ENOMEM;
	defrag->metrics.list[defrag->metrics.count++] =
		(struct metric_told){ first, defrag->lengths.count - first };
	return 0;
}

static int refuse(struct morph_defrag *defrag, const struct morph_ledger *ledger, uint32_t rack,
		  uint32_t reason, uint32_t need)
{
	struct refusal *refusal;
	int ret = DEFRAG_GROW(defrag, refusals, 1);

	if (ret)
		return ret;
	refusal = &defrag->refusals.list[defrag->refusals.count++];
	*refusal = (struct refusal){
		.host = ledger->sites.rack_hosts[ledger->sites.racks[rack].hosts_first],
		.reason = reason,
		.have = ledger->rack_free[rack],
		.need = need,
		.first = defrag->metrics.count,
	};
	if (reason != MORPH_WIRE_CUTS)
		return 0;
	for (uint32_t at = 0; at < defrag->reroute->metrics_count && !ret; at++)
		ret = report_metric(defrag, &defrag->reroute->metrics[at]);
	refusal->count = defrag->metrics.count - refusal->first;
	return ret;
}

static void explain(struct morph_defrag *defrag, const struct morph_ledger *ledger,
		    const struct morph_request *request)
{
	uint32_t most = 0, doubts = 0, cut = 0;

	for (uint32_t at = 0; at < defrag->refusals.count; at++) {
		const struct refusal *refusal = &defrag->refusals.list[at];

		if (refusal->reason == MORPH_WIRE_COUNT && refusal->have > most)
			most = refusal->have;
		doubts += refusal->reason == MORPH_WIRE_DOUBT;
		cut += refusal->reason == MORPH_WIRE_CUTS;
	}
	defrag->verdict = MORPH_INFEASIBLE;
	if (doubts || !lm_racks_are_all(ledger, request))
		defrag->verdict = MORPH_UNDECIDED;
	if (!doubts && defrag->verdict == MORPH_UNDECIDED)
		snprintf(defrag->why, sizeof(defrag->why),
			 "no rack fits; room for slices across racks is not looked for%s",
			 lm_plan_remark(defrag->plan));
	else if (doubts)
		snprintf(defrag->why, sizeof(defrag->why),
			 "nothing was found, and nothing proven, in %u of %u racks%s", doubts,
			 defrag->refusals.count, lm_plan_remark(defrag->plan));
	else if (cut)
		snprintf(
			defrag->why, sizeof(defrag->why),
			"%u of %u racks have enough free accelerators; none has enough fibres there, on any path of the circuits",
			cut, defrag->refusals.count);
	else
		snprintf(
			defrag->why, sizeof(defrag->why),
			"not enough accelerators in one rack: %u requested, at most %u free; ranks keep their accelerators",
			request->ranks, most);
}

/* ----------------------------------------------------------------------- solve */

/* Search all racks until a request fits in one. */
static int try_racks(struct morph_defrag *defrag, struct morph_ledger *ledger,
		     const struct morph_request *request, uint64_t steps)
{
	uint32_t others = 0;
	int ret = 0;

	defrag->verdict = 0;
	defrag->refusals.count = defrag->metrics.count = defrag->lengths.count = 0;
	for (uint32_t at = 0; at < ledger->sites.racks_count; at++)
		others += ledger->rack_free[at] >= request->ranks;
	for (uint32_t at = 0; at < ledger->sites.racks_count && !ret; at++) {
		uint32_t rack = ledger->rack_order[at], reason = MORPH_WIRE_COUNT;

		if (ledger->rack_free[rack] >= request->ranks) {
			ret = lm_defrag_rack(defrag, ledger, request, rack);
			if (ret)
				return ret;
			switch (lm_defrag_search(defrag, ledger, request, rack, steps)) {
			case STITCH_FEASIBLE:
				/* Another rack, or shared servers, might need fewer moves. */
				if (others > 1 || (defrag->plan->whole &&
						   request->servers != MORPH_SERVERS_WHOLE))
					defrag->moved_least = 0;
				defrag->verdict = MORPH_FEASIBLE;
				defrag->refusals.count = 0;
				defrag->metrics.count = defrag->lengths.count = 0;
				return lm_defrag_steps(defrag, ledger, request);
			case STITCH_INFEASIBLE:
				reason = MORPH_WIRE_CUTS;
				break;
			default:
				reason = MORPH_WIRE_DOUBT;
				break;
			}
		}
		ret = refuse(defrag, ledger, rack, reason, request->ranks);
	}
	if (!ret)
		explain(defrag, ledger, request);
	return ret;
}

void lm_defrag_report(const struct morph_defrag *defrag, struct morph_defrag_result *out)
{
	const struct morph_defrag_result result = {
		.sz = out->sz,
		.verdict = defrag->verdict,
		.steps = defrag->steps.count,
		.moved = defrag->moved,
		.moved_least = defrag->moved_least,
		.dark = defrag->dark,
		.tenants = defrag->tenants.count,
	};

	memcpy(out, &result, out->sz < sizeof(result) ? out->sz : sizeof(result));
}

MORPH_API int morph_defrag_solve(struct morph_defrag *defrag, struct morph_ledger *ledger,
				 const struct morph_request *request,
				 const struct morph_defrag_opts *opts,
				 struct morph_defrag_result *out)
{
	struct morph_defrag_opts mine;
	uint64_t steps;
	int ret = lm_opts_check(defrag->ctx, opts, sizeof(mine), "morph_defrag_opts");

	if (!ret)
		ret = lm_opts_check(defrag->ctx, out, sizeof(*out), "morph_defrag_result");
	if (ret)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	forget(defrag);
	defrag->objective = mine.objective;
	ret = check_input(defrag, ledger, &mine);
	if (!ret)
		ret = lm_place_begin(ledger, request, defrag->plan);
	if (!ret && request->bands > 1)
		ret = lm_fail(
			defrag->ctx, EINVAL,
			"defragmentation requires circuits that do not share fibres: 1 wavelength, not %u",
			request->bands);
	if (ret)
		return ret;
	lm_place_order(ledger, request);
	steps = mine.steps ? mine.steps : DEFAULT_STEPS;
	ret = try_racks(defrag, ledger, request, steps);
	if (!ret && lm_place_share(ledger, request, defrag->verdict, defrag->plan))
		ret = try_racks(defrag, ledger, request, steps);
	if (ret) {
		forget(defrag);
		return ret;
	}
	defrag->plan->verdict = defrag->verdict;
	if (out)
		lm_defrag_report(defrag, out);
	return 0;
}
