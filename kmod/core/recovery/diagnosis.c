// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnosis of missing light: find the failed hardware, starting with the most reliable evidence.
 */
#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"

/* Return whether the light of some circuit through a guide arrives. Caller holds fabric->lock. */
bool morph_guide_lit(struct morph_fabric *fabric, u32 guide)
{
	const struct morph_link *link;

	lockdep_assert_held(&fabric->lock);
	hlist_for_each_entry(link, &ledger_of(fabric)->guide_routes[guide], node) {
		const struct morph_circuit *circuit = link->route->circuit;

		/* The light of a pending transaction is no proof yet. */
		if (link->route->role == MORPH_ROUTE_LIVE && circuit &&
		    !circuit_txns(circuit)->pending && !circuit->dark &&
		    circuit->state == MORPH_CIRCUIT_LIT)
			return true;
	}
	return false;
}

/*
 * Return whether a guide may be the cause: it is not blamed yet, and no other circuit's light
 * proves it healthy.
 */
static bool may_be_to_blame(struct morph_fabric *fabric, u32 guide)
{
	u32 health = morph_health_get(fabric, MORPH_PART_GUIDE, guide);

	return (health == MORPH_HEALTH_OK || health == MORPH_HEALTH_SUSPECT) &&
	       !morph_guide_lit(fabric, guide);
}

/*
 * Blame the first fibre, else the first guide between tiles. With @suspect, consider only suspects.
 */
static bool blame_long_span(struct morph_fabric *fabric, const struct optics_path *path,
			    bool suspect, struct morph_culprit *culprit)
{
	static const u16 likeliest[] = { MORPH_GUIDE_FIBRE, MORPH_GUIDE_TILE };
	u32 c, h;

	for (c = 0; c < ARRAY_SIZE(likeliest); c++) {
		for (h = 0; h < path->hops_count; h++) {
			u32 guide = path->hops[h].guide >> 1;

			if (fabric->graph->guides[guide].class != likeliest[c] ||
			    !may_be_to_blame(fabric, guide) ||
			    (suspect && !morph_suspect_waits(fabric, MORPH_PART_GUIDE, guide)))
				continue;
			culprit->part = MORPH_PART_GUIDE;
			culprit->index = guide;
			return true;
		}
	}
	return false;
}

/*
 * No hardware on the path reports an error, so blame the likeliest part. That is the longest span:
 * a fibre, then a guide between tiles, then the guides inside. New paths avoid spans that were
 * blamed before, so a failed receiver is found at the end.
 */
static void blame_span(struct morph_fabric *fabric, const struct optics_path *path,
		       struct morph_culprit *culprit)
{
	u32 h;

	if (blame_long_span(fabric, path, false, culprit))
		return;
	for (h = 1; h + 1 < path->hops_count; h++) {
		u32 guide = path->hops[h].guide >> 1;

		if (!may_be_to_blame(fabric, guide))
			continue;
		culprit->part = MORPH_PART_GUIDE;
		culprit->index = guide;
		return;
	}
	culprit->part = MORPH_PART_RECEIVER;
	culprit->index = path->rx;
	culprit->lanes = path->lanes;
}

/*
 * For a half circuit, no hardware of this fabric reports an error. If light that comes in is
 * missing, this side can only blame the edge. Only the peer can read light that leaves.
 */
static void blame_edge(struct morph_fabric *fabric, const struct optics_path *path,
		       struct morph_culprit *culprit)
{
	u32 end = optics_end_is_edge(fabric->graph, path->tx) ? path->tx : path->rx;

	culprit->part = MORPH_PART_EDGE;
	culprit->index = end - fabric->graph->ports_count;
}

/*
 * Suspect the other parts of the path that may be the cause. Later light of other circuits clears
 * some of them. Caller holds fabric->lock.
 */
static void suspect_path(struct morph_fabric *fabric, const struct optics_path *path)
{
	struct morph_culprit suspect = { MORPH_PART_RECEIVER, path->rx, path->lanes };
	u32 h;

	morph_suspect_add(fabric, &suspect);
	suspect = (struct morph_culprit){ .part = MORPH_PART_GUIDE };
	for (h = 0; h < path->hops_count; h++) {
		suspect.index = path->hops[h].guide >> 1;
		if (may_be_to_blame(fabric, suspect.index))
			morph_suspect_add(fabric, &suspect);
	}
}

void morph_health_diagnose(struct morph_fabric *fabric, const struct optics_path *path,
			   u32 src_accelerator, struct morph_culprit *culprit)
{
	if (morph_hw_confess(fabric, path, src_accelerator, culprit))
		return;
	if (optics_end_is_edge(fabric->graph, path->tx) ||
	    optics_end_is_edge(fabric->graph, path->rx)) {
		blame_edge(fabric, path, culprit);
		return;
	}
	mutex_lock(&fabric->lock);
	/* Is this the first diagnosis of the receiver, without one for another path just before? */
	if (hardware_of(fabric)->rx_blamed != path->rx + 1) {
		blame_span(fabric, path, culprit);
		hardware_of(fabric)->rx_blamed = path->rx + 1;
		/* This part is only the likeliest one: patrol must test it. */
		morph_suspect_add(fabric, culprit);
		suspect_path(fabric, path);
	} else if (blame_long_span(fabric, path, true, culprit)) {
		/* Two paths to this receiver are dark, and both use this guide. */
		morph_suspect_add(fabric, culprit);
	} else {
		/* Two paths without a common span are dark: the receiver has failed. */
		culprit->part = MORPH_PART_RECEIVER;
		culprit->index = path->rx;
		culprit->lanes = path->lanes;
		hardware_of(fabric)->rx_blamed = 0;
	}
	mutex_unlock(&fabric->lock);
}
