// SPDX-License-Identifier: GPL-2.0-only
/* Who is to blame when light does not arrive: what hardware shows, from the surest on. */
#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"

/* Does light of some circuit arrive that runs through a guide? fabric->lock held. */
bool morph_guide_lit(struct morph_fabric *fabric, u32 guide)
{
	const struct morph_link *link;

	lockdep_assert_held(&fabric->lock);
	hlist_for_each_entry(link, &ledger_of(fabric)->guide_routes[guide], node) {
		const struct morph_circuit *circuit = link->route->circuit;

		/* What a transaction is lighting just now is no proof yet. */
		if (link->route->role == MORPH_ROUTE_LIVE && circuit &&
		    !circuit_txns(circuit)->pending && !circuit->dark &&
		    circuit->state == MORPH_CIRCUIT_LIT)
			return true;
	}
	return false;
}

/* A guide that is not blamed yet, and that no other circuit's light proves to be sound. */
static bool may_be_to_blame(struct morph_fabric *fabric, u32 guide)
{
	u32 health = morph_health_get(fabric, MORPH_PART_GUIDE, guide);

	return (health == MORPH_HEALTH_OK || health == MORPH_HEALTH_SUSPECT) &&
	       !morph_guide_lit(fabric, guide);
}

/* The first fibre, else guide between tiles; where @suspect one that is suspected already. */
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
 * Nothing on the way owns up. The longest span is the likeliest: a fibre, then a
 * guide between tiles, then the guides inside. Spans that were blamed before are
 * not on new paths, so that a deaf receiver is what remains in the end.
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
 * Half a circuit: nothing here owns up. What comes in is missing at the edge, for all
 * that can be told on this side; what leaves is seen by the peer alone.
 */
static void blame_edge(struct morph_fabric *fabric, const struct optics_path *path,
		       struct morph_culprit *culprit)
{
	u32 end = optics_end_is_edge(fabric->graph, path->tx) ? path->tx : path->rx;

	culprit->part = MORPH_PART_EDGE;
	culprit->index = end - fabric->graph->ports_count;
}

/* Whatever else on the way may be to blame: light will tell them apart. fabric->lock held. */
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
	/* Was it not dark on another path just now? */
	if (hardware_of(fabric)->rx_blamed != path->rx + 1) {
		blame_span(fabric, path, culprit);
		hardware_of(fabric)->rx_blamed = path->rx + 1;
		/* It was the likeliest, no more. */
		morph_suspect_add(fabric, culprit);
		suspect_path(fabric, path);
	} else if (blame_long_span(fabric, path, true, culprit)) {
		/* Two ways lead to this receiver, both are dark, and have this in common. */
		morph_suspect_add(fabric, culprit);
	} else {
		/* Two ways, and both are dark: it is deaf. */
		culprit->part = MORPH_PART_RECEIVER;
		culprit->index = path->rx;
		culprit->lanes = path->lanes;
		hardware_of(fabric)->rx_blamed = 0;
	}
	mutex_unlock(&fabric->lock);
}
