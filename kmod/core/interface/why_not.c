// SPDX-License-Identifier: GPL-2.0-only
/*
 * The why-not query: try a placement, and on request a ring of circuits. It uses the same router,
 * ledger and validator as a commit, and then undoes all claims.
 *
 * The trial has a budget of search steps. It drops fabric->lock at times, also within a search, and
 * undoes its claims before, so other threads never see them. It does not touch the hardware.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/slice/slice.h"

/* Search steps for a whole ring; beyond this limit the result is "undecided". */
#define RING_STEPS	(8 * OPTICS_ROUTE_STEPS)

#define TRIAL_CLAIMS		4u
#define TRIAL_LEAST_STEPS	32u

/* Owner of the accelerators during the trial; no slice ever has this number. */
#define TRIAL_OWNER	0xfffffffeu

struct trial {
	struct morph_fabric *fabric;
	u32 *chosen;
	u32 count;
	bool given;			/* the caller has chosen the accelerators */
	u32 lanes;
	bool transit_own;
	u32 paths_count;		/* paths found */
	struct optics_path *paths;	/* count entries */
	struct optics_hop *hops;	/* count * OPTICS_MAX_HOPS entries */
	struct morph_path_search search;
	u64 seq;			/* morph_ledger_seq() at the end of the last hold */
	u64 end;			/* morph_route_steps() at which this hold ends */
	u32 claims;			/* of new paths in this hold */
	u32 judged;			/* paths that are valid in the ledger of @seq */
	u32 rejudges;			/* how often another change has made that obsolete */
	u32 steps_left;			/* also bounds the searches that other changes repeat */
	struct morph_user *user;	/* charged for the memory, or NULL */
	size_t charged;			/* for paths and hops */
};

static u64 low_bits(u32 count)
{
	return count >= 64 ? ~0ULL : (1ULL << count) - 1;
}

/* The steps that remain in this hold. */
static u32 hold_left(const struct trial *trial)
{
	u64 now = morph_route_steps(trial->fabric) + (u64)MORPH_CLAIM_STEPS * trial->claims;

	return now < trial->end ? trial->end - now : 0;
}

/* Find and claim the next path. -EINPROGRESS: the search takes another hold. */
static int trial_route(struct trial *trial, u32 from, struct optics_refusal *why)
{
	struct morph_fabric *fabric = trial->fabric;
	struct optics_path *path = &trial->paths[trial->paths_count];
	u64 planes = low_bits(fabric->graph->params.planes);
	struct optics_route_request request = {
		.tx_accelerator = trial->chosen[from],
		.rx_accelerator = trial->chosen[(from + 1) % trial->count],
		.tx_planes = planes,
		.rx_planes = planes,
		.lanes_allowed = fabric->graph->all_lanes,
		.lanes_count = trial->lanes,
		.owner = TRIAL_OWNER,
		.transit_own = trial->transit_own,
		.steps = min(trial->steps_left, OPTICS_ROUTE_STEPS),
	};
	int ret;

	path->hops = &trial->hops[trial->paths_count * OPTICS_MAX_HOPS];
	ret = morph_path_search_run(fabric, &trial->search, &request,
				    MORPH_STEP_EFFORT * max(hold_left(trial), 1u), path, why);
	if (ret == -EINPROGRESS)
		return ret;
	trial->steps_left -= min(trial->search.steps, trial->steps_left);
	if (!ret)
		ret = optics_claim(ledger_of(fabric)->state, path, why);
	/* The search has met several ledgers, so its failure proves nothing: search again. */
	if (ret && trial->search.stale)
		return -EINPROGRESS;
	if (!ret)
		trial->paths_count++;
	trial->claims += !ret;
	return ret;
}

/* Validate some of the paths. -EINPROGRESS: others remain. */
static int trial_validate(struct trial *trial, struct optics_refusal *why)
{
	const struct optics_view view = optics_state_view(ledger_of(trial->fabric)->state);
	u32 effort = MORPH_JUDGE_EFFORT / MORPH_HOLD_STEPS * hold_left(trial);
	int ret;

	if (!effort)
		return -EINPROGRESS;
	ret = optics_validate_part(&view, trial->paths, trial->count, &trial->judged, effort,
				   TRIAL_OWNER, trial->transit_own, NULL, why);
	return ret || trial->judged == trial->count ? ret : -EINPROGRESS;
}

/* Keep the first @count paths, and search the others again. */
static void trial_search_again(struct trial *trial, u32 count)
{
	trial->paths_count = count;
	if (trial->search.running)
		trial->steps_left -= min(trial->search.steps, trial->steps_left);
	trial->search.running = false;
	trial->judged = 0;
}

/* Take the accelerators, and claim the paths that earlier holds have found. */
static void trial_claim(struct trial *trial)
{
	struct optics_state *ledger = ledger_of(trial->fabric)->state;
	bool same = trial->seq == morph_ledger_seq(trial->fabric);
	struct optics_refusal why;
	u32 i;

	for (i = 0; i < trial->count; i++)
		ledger->owner[trial->chosen[i]] = TRIAL_OWNER;
	for (i = 0; i < trial->paths_count && same; i++)
		optics_claim_again(ledger, &trial->paths[i]);
	if (same)
		return;
	/* After many changes, each path was valid at some time. */
	if (trial->rejudges < MORPH_MOST_RESTARTS) {
		trial->rejudges += trial->judged > 0;
		trial->judged = 0;
	}
	for (i = 0; i < trial->paths_count; i++)
		if (optics_claim(ledger, &trial->paths[i], &why))
			break;
	/* Another change has taken a part of the path: search again from here on. */
	if (i < trial->paths_count)
		trial_search_again(trial, i);
}

static void trial_unclaim(struct trial *trial)
{
	u32 i;

	for (i = 0; i < trial->paths_count; i++)
		morph_path_unclaim(trial->fabric, &trial->paths[i]);
	for (i = 0; i < trial->count; i++)
		ledger_of(trial->fabric)->state->owner[trial->chosen[i]] = 0;
	trial->seq = morph_ledger_seq(trial->fabric);
}

/*
 * Router steps of one hold. The hold claims all found paths, and releases them at its end; that
 * takes as long as a step for TRIAL_CLAIMS paths, and leaves fewer steps.
 */
static u32 hold_steps(const struct trial *trial)
{
	u32 claims = trial->paths_count / TRIAL_CLAIMS;

	return MORPH_HOLD_STEPS - min(claims, MORPH_HOLD_STEPS - TRIAL_LEAST_STEPS);
}

/* Find or validate more paths in one hold. Return -EINPROGRESS if another hold must follow. */
static int trial_search(struct trial *trial, struct morph_refusal *refusal)
{
	struct optics_refusal why = {};
	int ret = 0;

	trial->end = morph_route_steps(trial->fabric) + hold_steps(trial);
	trial->claims = 0;
	while (trial->paths_count < trial->count && !ret) {
		if (!trial->steps_left)
			return morph_refuse(refusal, -EAGAIN, MORPH_REASON_GAVE_UP, 0, 0,
					    "undecided: the kernel tried %u of %u circuits of the ring",
					    trial->paths_count, trial->count);
		if (!hold_left(trial))
			return -EINPROGRESS;
		ret = trial_route(trial, trial->paths_count, &why);
	}
	if (!ret)
		ret = trial_validate(trial, &why);
	if (ret && ret != -EINPROGRESS)
		morph_refuse_optics(refusal, ret, &why);
	return ret;
}

/* Choose the accelerators, or check those of the caller. */
static int trial_place(struct trial *trial, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = trial->fabric;
	int ret = morph_fabric_check(fabric);

	if (ret)
		return morph_refuse(refusal, ret, MORPH_REASON_STATE, 0, 0, "the fabric is gone");
	if (trial->given)
		return morph_place_check_again(fabric, trial->chosen, trial->count, false,
					       refusal);
	return morph_place(fabric, trial->count, trial->chosen, refusal);
}

/* Drop fabric->lock for a while. */
static int trial_yield(struct trial *trial, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = trial->fabric;

	morph_path_search_pause(fabric, &trial->search);
	morph_fabric_unlock(fabric);
	cond_resched();
	morph_fabric_lock(fabric);
	morph_path_search_resume(fabric, &trial->search);
	if (fatal_signal_pending(current))
		return -EINTR;
	/* The ledger changes whenever a slice takes an accelerator or gives one back. */
	if (!morph_fabric_check(fabric) && trial->seq == morph_ledger_seq(fabric))
		return 0;
	if (morph_fabric_check(fabric) ||
	    morph_place_check_again(fabric, trial->chosen, trial->count, false, refusal)) {
		*refusal = (struct morph_refusal){};
		trial_search_again(trial, 0);
		return trial_place(trial, refusal);
	}
	return 0;
}

static int trial_ring(struct trial *trial, struct morph_refusal *refusal)
{
	int ret;

	do {
		trial_claim(trial);
		ret = trial_search(trial, refusal);
		trial_unclaim(trial);
		if (ret != -EINPROGRESS)
			return ret;
		ret = trial_yield(trial, refusal);
	} while (!ret);
	return ret;
}

static int trial_charge(struct trial *trial, struct morph_refusal *refusal)
{
	size_t bytes = array_size(trial->count, sizeof(*trial->paths) +
						OPTICS_MAX_HOPS * sizeof(*trial->hops));
	int ret;

	if (!trial->user)
		return 0;
	ret = morph_user_charge(trial->user, MORPH_RES_BYTES, bytes, refusal);
	if (!ret)
		trial->charged = bytes;
	return ret;
}

static int trial_alloc(struct trial *trial, struct morph_refusal *refusal)
{
	int ret = morph_path_search_alloc(&trial->search, trial->user, refusal);

	if (!ret)
		ret = trial_charge(trial, refusal);
	if (ret)
		return ret;
	trial->paths = kvcalloc(trial->count, sizeof(*trial->paths), GFP_KERNEL_ACCOUNT);
	trial->hops = kvmalloc_array(trial->count, OPTICS_MAX_HOPS * sizeof(*trial->hops),
				     GFP_KERNEL_ACCOUNT);
	return trial->paths && trial->hops ? 0 : -ENOMEM;
}

static void trial_free(struct trial *trial)
{
	kvfree(trial->paths);
	kvfree(trial->hops);
	if (trial->charged)
		morph_user_uncharge(trial->user, MORPH_RES_BYTES, trial->charged);
	morph_path_search_free(&trial->search);
}

static int check_question(struct morph_fabric *fabric, const struct trial *trial, u32 transit,
			  struct morph_refusal *refusal)
{
	int ret = morph_place_possible(fabric, trial->count, refusal);

	if (ret)
		return ret;
	if (transit > MORPH_TRANSIT_OWN)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, 0, 0,
				    "transit must be 0 (any) or 1 (own)");
	if (trial->lanes > fabric->graph->params.wavelengths)
		return morph_refuse_numbers(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
					    fabric->graph->params.wavelengths, trial->lanes,
					    "{need} lanes requested, a guide has {have}");
	return 0;
}

/**
 * morph_why_not() - check whether a slice is possible now, with the reason if not
 * @fabric: the fabric
 * @question: the request
 * @chosen: space for @question->count entries, at most the number in the fabric; filled on success
 * @refusal: filled on failure
 *
 * A ring needs two accelerators; with one it is empty, and always fits.
 *
 * Context: process context; takes fabric->lock.
 * Return: 0 or a negative errno; -EAGAIN when the search has used up its budget, -EDQUOT when the
 * user may not have the memory.
 */
int morph_why_not(struct morph_fabric *fabric, const struct morph_question *question, u32 *chosen,
		  struct morph_refusal *refusal)
{
	struct trial trial = {
		.fabric = fabric,
		.chosen = chosen,
		.count = question->count,
		.given = question->accelerators,
		.lanes = question->lanes ?: 1,
		.transit_own = question->transit == MORPH_TRANSIT_OWN,
		.steps_left = RING_STEPS,
		.user = question->user,
	};
	bool ring = question->ring && question->count > 1;
	int ret;

	ret = check_question(fabric, &trial, question->transit, refusal);
	if (ret)
		return ret;
	ret = ring ? trial_alloc(&trial, refusal) : 0;
	if (ret)
		goto out;
	if (question->accelerators) {
		memcpy(chosen, question->accelerators, array_size(trial.count, sizeof(*chosen)));
		ret = morph_place_distinct(chosen, trial.count, refusal);
		if (ret)
			goto out;
	}
	morph_fabric_lock(fabric);
	ret = trial_place(&trial, refusal);
	if (!ret && ring)
		ret = trial_ring(&trial, refusal);
	morph_fabric_unlock(fabric);
out:
	trial_free(&trial);
	return ret;
}
