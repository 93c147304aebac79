// SPDX-License-Identifier: GPL-2.0-only
/* Faults that hardware reports itself: read the accelerators, lasers and elements of a path. */
#include "core/base/base.h"
#include "core/hardware/hardware.h"

/* Return whether an accelerator is known not to answer; a failed probe is no evidence. */
static bool probe_dead(struct morph_fabric *fabric, u32 accelerator)
{
	struct morph_probe probe = { .accelerator = accelerator };

	return !morph_hw_probe(fabric, NULL, &probe, 1) && !probe.alive;
}

u64 morph_hw_lasers_lit(struct morph_fabric *fabric, struct morph_hw_session *session, u32 tx,
			u64 lanes)
{
	struct morph_laser_reading reading = { .port = tx };

	if (morph_hw_get_lasers(fabric, session, &reading, 1))
		return lanes;
	return lanes & (reading.lanes | reading.weak);
}

/* Read the transmit port. An accelerator that drives no data is blamed before its laser. */
static bool sender_bad(struct morph_fabric *fabric, const struct optics_path *path,
		       u32 accelerator, struct morph_culprit *culprit)
{
	struct morph_laser_reading reading = { .port = path->tx };

	if (morph_hw_get_lasers(fabric, NULL, &reading, 1))
		return false;
	if (!reading.active) {
		culprit->part = MORPH_PART_ACCELERATOR;
		culprit->index = accelerator;
		return true;
	}
	culprit->lanes = path->lanes & (~reading.lanes | reading.weak);
	if (!culprit->lanes)
		return false;
	culprit->part = MORPH_PART_LASER;
	culprit->index = path->tx;
	return true;
}

static bool element_bad(struct morph_fabric *fabric, const struct optics_path *path,
			struct morph_culprit *culprit)
{
	struct morph_element_setting reading;
	u32 h;

	for (h = 0; h + 1 < path->hops_count; h++) {
		reading.element = path->hops[h].element;
		if (morph_hw_get_elements(fabric, NULL, &reading, 1) ||
		    reading.state == path->hops[h].state)
			continue;
		culprit->part = MORPH_PART_ELEMENT;
		culprit->index = reading.element;
		return true;
	}
	return false;
}

bool morph_hw_confess(struct morph_fabric *fabric, const struct optics_path *path,
		      u32 src_accelerator, struct morph_culprit *culprit)
{
	bool comes_in = optics_end_is_edge(fabric->graph, path->tx);
	bool leaves = optics_end_is_edge(fabric->graph, path->rx);
	u32 receiver = path->rx / fabric->graph->params.planes;

	*culprit = (struct morph_culprit){};
	if (!comes_in && sender_bad(fabric, path, src_accelerator, culprit))
		return true;
	if (!leaves && probe_dead(fabric, receiver)) {
		culprit->part = MORPH_PART_ACCELERATOR;
		culprit->index = receiver;
		return true;
	}
	return element_bad(fabric, path, culprit);
}
