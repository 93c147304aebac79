// SPDX-License-Identifier: GPL-2.0-only
/*
 * The why-not query: try a placement, and on request a ring of circuits. It uses the same router,
 * ledger and validator as a commit, and then undoes all claims.
 *
 * The trial holds fabric->lock and has a budget of search steps, so other threads never see its
 * claims. It does not touch the hardware.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/slice/slice.h"

/* Search steps for a whole ring; beyond this limit the result is "undecided". */
#define RING_STEPS	(8 * OPTICS_ROUTE_STEPS)

/* Owner of the accelerators during the trial; no slice ever has this number. */
#define TRIAL_OWNER	0xfffffffeu

struct trial {
	struct morph_fabric *fabric;
	const u32 *chosen;
	u32 count;
	u32 lanes;
	bool transit_own;
	u32 paths_count;		/* claimed paths */
	struct optics_path *paths;	/* count entries */
	struct optics_hop *hops;	/* count * OPTICS_MAX_HOPS entries */
	u32 steps_left;
};

static u64 low_bits(u32 count)
{
	return count >= 64 ? ~0ULL : (1ULL << count) - 1;
}

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
	u32 used = 0;
	int ret;

	path->hops = &trial->hops[trial->paths_count * OPTICS_MAX_HOPS];
	ret = optics_route(ledger_of(fabric)->state, &request, ledger_of(fabric)->route_work, path,
			   &used, why);
	atomic64_add(used, &fabric->stats[MORPH_STAT_ROUTE_STEPS]);
	trial->steps_left -= min(used, trial->steps_left);
	if (!ret)
		ret = optics_claim(ledger_of(fabric)->state, path, why);
	if (!ret)
		trial->paths_count++;
	return ret;
}

static int trial_validate(struct trial *trial, struct optics_refusal *why)
{
	const struct optics_view view = optics_state_view(ledger_of(trial->fabric)->state);

	return optics_validate(&view, trial->paths, trial->paths_count, TRIAL_OWNER,
			       trial->transit_own, NULL, why);
}

static void trial_undo(struct trial *trial)
{
	u32 i;

	while (trial->paths_count--)
		morph_path_unclaim(trial->fabric, &trial->paths[trial->paths_count]);
	for (i = 0; i < trial->count; i++)
		ledger_of(trial->fabric)->state->owner[trial->chosen[i]] = 0;
}

static int trial_ring(struct trial *trial, struct morph_refusal *refusal)
{
	struct optics_refusal why = {};
	u32 i;
	int ret = 0;

	for (i = 0; i < trial->count; i++)
		ledger_of(trial->fabric)->state->owner[trial->chosen[i]] = TRIAL_OWNER;
	for (i = 0; i < trial->count && !ret; i++) {
		if (!trial->steps_left) {
			ret = morph_refuse(refusal, -EAGAIN, MORPH_REASON_GAVE_UP, 0, 0,
					   "undecided: the kernel tried %u of %u circuits of the ring",
					   i, trial->count);
			goto undo;
		}
		ret = trial_route(trial, i, &why);
	}
	if (!ret)
		ret = trial_validate(trial, &why);
	if (ret)
		morph_refuse_optics(refusal, ret, &why);
undo:
	trial_undo(trial);
	return ret;
}

static int trial_alloc(struct trial *trial)
{
	trial->paths = kvcalloc(trial->count, sizeof(*trial->paths), GFP_KERNEL_ACCOUNT);
	trial->hops = kvmalloc_array(trial->count, OPTICS_MAX_HOPS * sizeof(*trial->hops),
				     GFP_KERNEL_ACCOUNT);
	return trial->paths && trial->hops ? 0 : -ENOMEM;
}

static void trial_free(struct trial *trial)
{
	kvfree(trial->paths);
	kvfree(trial->hops);
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
 * @accelerators: accelerators in the order of ranks, or NULL: the kernel chooses
 * @count: number of accelerators
 * @transit: enum morph_transit
 * @ring: also try a circuit from each rank to the next, and from the last to the first
 * @lanes: lanes of each circuit of the ring; 0: 1
 * @chosen: space for @count entries, at most the number in the fabric; filled on success
 * @refusal: filled on failure
 *
 * A ring needs two accelerators; with one it is empty, and always fits.
 *
 * Context: process context; takes fabric->lock.
 * Return: 0 or a negative errno; -EAGAIN when the search has used up its budget.
 */
int morph_why_not(struct morph_fabric *fabric, const u32 *accelerators, u32 count, u32 transit,
		  bool ring, u32 lanes, u32 *chosen, struct morph_refusal *refusal)
{
	struct trial trial = {
		.fabric = fabric,
		.chosen = chosen,
		.count = count,
		.lanes = lanes ? lanes : 1,
		.transit_own = transit == MORPH_TRANSIT_OWN,
		.steps_left = RING_STEPS,
	};
	int ret;

	ret = check_question(fabric, &trial, transit, refusal);
	if (ret)
		return ret;
	ring = ring && count > 1;
	ret = ring ? trial_alloc(&trial) : 0;
	if (ret)
		goto out;
	mutex_lock(&fabric->lock);
	ret = morph_fabric_check(fabric);
	if (ret) {
		morph_refuse(refusal, ret, MORPH_REASON_STATE, 0, 0, "the fabric is gone");
	} else if (accelerators) {
		memcpy(chosen, accelerators, array_size(count, sizeof(*chosen)));
		ret = morph_place_check(fabric, chosen, count, false, refusal);
	} else {
		ret = morph_place(fabric, count, chosen, refusal);
	}
	if (!ret && ring)
		ret = trial_ring(&trial, refusal);
	mutex_unlock(&fabric->lock);
out:
	trial_free(&trial);
	return ret;
}
