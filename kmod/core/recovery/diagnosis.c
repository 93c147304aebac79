// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnosis of missing light: find the failed hardware, starting with the most reliable evidence.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"

/* The guides that all dark paths to a receiver share, since its first diagnosis. */
struct morph_blame {
	u32 count;
	u32 guides[];
};

void morph_blames_free(struct morph_fabric *fabric)
{
	struct morph_blame **blames = recovery_of(fabric)->blames;
	u32 rx;

	for (rx = 0; blames && rx < fabric->graph->ports_count; rx++)
		kfree(blames[rx]);
	kvfree(blames);
}

/* Return whether the path uses the guide. */
static bool uses(const struct optics_path *path, u32 guide)
{
	u32 h;

	for (h = 0; h < path->hops_count; h++)
		if (path->hops[h].guide >> 1 == guide)
			return true;
	return false;
}

/* Replace the guides of a receiver by those of its first dark path. */
static void remember_path(struct morph_fabric *fabric, const struct optics_path *path,
			  struct morph_blame *blame)
{
	u32 h;

	kfree(recovery_of(fabric)->blames[path->rx]);
	recovery_of(fabric)->blames[path->rx] = blame;
	for (h = 0; blame && h < path->hops_count; h++)
		blame->guides[blame->count++] = path->hops[h].guide >> 1;
}

/* Keep only guides that the next dark path uses, too. */
static void intersect_path(struct morph_blame *blame, const struct optics_path *path)
{
	u32 left = 0, i;

	for (i = 0; blame && i < blame->count; i++)
		if (uses(path, blame->guides[i]))
			blame->guides[left++] = blame->guides[i];
	if (blame)
		blame->count = left;
}

/* Return whether the other dark paths to the receiver used the guide, and no test cleared it. */
static bool is_shared(struct morph_fabric *fabric, u32 rx, u32 guide)
{
	const struct morph_blame *blame = recovery_of(fabric)->blames[rx];
	u32 i;

	for (i = 0; blame && i < blame->count; i++)
		if (blame->guides[i] == guide)
			return morph_suspect_waits(fabric, MORPH_PART_GUIDE, guide);
	return false;
}

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
 * Blame the first fibre, else the first guide between tiles. With @shared, consider only guides of
 * all dark paths to the receiver.
 */
static bool blame_long_span(struct morph_fabric *fabric, const struct optics_path *path,
			    bool shared, struct morph_culprit *culprit)
{
	static const u16 likeliest[] = { MORPH_GUIDE_FIBRE, MORPH_GUIDE_TILE };
	u32 c, h;

	for (c = 0; c < ARRAY_SIZE(likeliest); c++) {
		for (h = 0; h < path->hops_count; h++) {
			u32 guide = path->hops[h].guide >> 1;

			if (fabric->graph->guides[guide].class != likeliest[c] ||
			    !may_be_to_blame(fabric, guide) ||
			    (shared && !is_shared(fabric, path->rx, guide)))
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
	struct morph_blame *blame;

	if (morph_hw_confess(fabric, path, src_accelerator, culprit))
		return;
	if (optics_end_is_edge(fabric->graph, path->tx) ||
	    optics_end_is_edge(fabric->graph, path->rx)) {
		blame_edge(fabric, path, culprit);
		return;
	}
	/* Without memory, a later diagnosis finds no shared guide, and blames the receiver. */
	blame = kzalloc(struct_size(blame, guides, path->hops_count), GFP_KERNEL);
	mutex_lock(&fabric->lock);
	/* Is this the first diagnosis of the receiver since it had light? */
	if (!__test_and_set_bit(path->rx, hardware_of(fabric)->rx_blamed)) {
		blame_span(fabric, path, culprit);
		remember_path(fabric, path, blame);
		blame = NULL;
		/* This part is only the likeliest one: patrol must test it. */
		morph_suspect_add(fabric, culprit);
		suspect_path(fabric, path);
	} else {
		intersect_path(recovery_of(fabric)->blames[path->rx], path);
		/* All dark paths to this receiver use one guide, or the receiver has failed. */
		if (!blame_long_span(fabric, path, true, culprit)) {
			culprit->part = MORPH_PART_RECEIVER;
			culprit->index = path->rx;
			culprit->lanes = path->lanes;
			__clear_bit(path->rx, hardware_of(fabric)->rx_blamed);
		}
		/* Two failed spans may look like a failed receiver, so patrol must test it. */
		morph_suspect_add(fabric, culprit);
	}
	mutex_unlock(&fabric->lock);
	kfree(blame);
}
