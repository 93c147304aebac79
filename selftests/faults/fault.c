// SPDX-License-Identifier: GPL-2.0-only
/* The kinds of faults, and their injection into the simulator. */
#include <string.h>

#include "campaign.h"

#define BROKEN_MDB 60000u /* above the limit of any circuit */
#define DIM_MDB 6000u /* the light stays on with less power than the core expects */
#define DRIFT_MDB 16000u
#define STEP_NS 1000000u /* step of a gradual fault */
#define STEPS 4u

const struct kind_info kinds[KINDS] = {
	[ACCELERATOR_DEAD] = { "accelerator dead", MORPH_PART_ACCELERATOR },
	[ACCELERATOR_FLAPS] = { "accelerator flaps", MORPH_PART_ACCELERATOR, true },
	[LASER_DEAD] = { "laser dead", MORPH_PART_LASER },
	[LASER_DIM] = { "laser dim", MORPH_PART_LASER },
	[ELEMENT_MOVED] = { "element moved", MORPH_PART_ELEMENT },
	[ELEMENT_HELD] = { "element held", MORPH_PART_ELEMENT },
	[FIBRE_CUT] = { "fibre cut", MORPH_PART_GUIDE },
	[GUIDE_BROKEN] = { "guide broken", MORPH_PART_GUIDE },
	[GUIDE_DIM] = { "guide dim", MORPH_PART_GUIDE },
	[GUIDE_DRIFTS] = { "guide drifts", MORPH_PART_GUIDE, true },
	[RECEIVER_DEAF] = { "receiver deaf", MORPH_PART_RECEIVER },
};

bool fault_fits(enum kind kind, uint32_t index)
{
	if (index >= rack_count(kinds[kind].part))
		return false;
	/* Only fibres are cut; other guides break. */
	if (kind == FIBRE_CUT || kind == GUIDE_BROKEN)
		return (rack.guide_class[index] == 2) == (kind == FIBRE_CUT);
	return true;
}

/* Choose a state other than the current one, so that light is lost or goes elsewhere. */
void fault_aim(struct fault *fault)
{
	uint32_t now;

	if (fault->kind != ELEMENT_MOVED)
		return;
	now = rack_element(fault->index).state;
	if (!now)
		fault->state = 1;
	else
		fault->state = fault->index & 1 ? 0 : 1 + (now == 1);
}

void fault_text(const struct fault *fault, char *text, size_t bytes)
{
	static const char *const formats[KINDS] = {
		[ACCELERATOR_DEAD] = "accelerator_dead %u",
		[ACCELERATOR_FLAPS] = "accelerator_flapping %u",
		[ELEMENT_HELD] = "element_stuck %u",
		[FIBRE_CUT] = "fibre_cut %u",
	};
	char port[24];
	int length;

	snprintf(port, sizeof(port), "%u.%u", fault->index / rack.planes,
		 fault->index % rack.planes);
	switch (fault->kind) {
	case LASER_DEAD:
		length = snprintf(text, bytes, "laser_dead %s", port);
		break;
	case LASER_DIM:
		length = snprintf(text, bytes, "laser_weak %s mdb=%u", port, DIM_MDB);
		break;
	case RECEIVER_DEAF:
		length = snprintf(text, bytes, "receiver_deaf %s", port);
		break;
	case ELEMENT_MOVED:
		length = snprintf(text, bytes, "element_stuck %u state=%u", fault->index,
				  fault->state);
		break;
	case GUIDE_BROKEN:
	case GUIDE_DIM:
		length = snprintf(text, bytes, "guide_lossy %u mdb=%u", fault->index,
				  fault->kind == GUIDE_DIM ? DIM_MDB : BROKEN_MDB);
		break;
	case GUIDE_DRIFTS:
		length = snprintf(text, bytes, "guide_drifting %u mdb=%u period=%u", fault->index,
				  DRIFT_MDB, STEPS * STEP_NS);
		break;
	default:
		length = snprintf(text, bytes, formats[fault->kind], fault->index);
	}
	if (fault->kind == ACCELERATOR_FLAPS)
		length += snprintf(text + length, bytes - length, " period=%u count=2", STEP_NS);
	if (fault->after)
		snprintf(text + length, bytes - length, " after=%u", fault->after);
}

bool fault_inject(const struct fault *fault)
{
	char text[96];
	unsigned int i;

	fault_text(fault, text, sizeof(text));
	if (sim_control(&rack.sim, "fault", "%s", text))
		return false;
	/* A skipping clock stops while there is no request. */
	for (i = 0; kinds[fault->kind].takes_time && i < STEPS; i++)
		if (!rack_rest() || sim_control(&rack.sim, "advance", "%u", STEP_NS))
			return false;
	return true;
}
