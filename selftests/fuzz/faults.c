// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is a line for one of the simulator's control files. An injected fault must name
 * existing hardware. Its text must give the same fault again.
 */
#include "fuzz.h"

#include "sim/sim.h"

#define ACCELERATORS 4u
#define PLANES 3u
#define ELEMENTS 5u
#define GUIDES 6u
#define STATES 2u

static struct sim_fault_spec given;
static unsigned int added;

int sim_fault_add(struct sim_hardware *hw, const struct sim_fault_spec *spec)
{
	MUST(spec->type <= SIM_FAULT_waiting_error); /* the last one */
	MUST(!(spec->given >> SIM_ARGUMENTS_COUNT));
	switch (spec->type) {
	case SIM_FAULT_accelerator_dead:
	case SIM_FAULT_accelerator_flapping:
		MUST(spec->index < ACCELERATORS);
		break;
	case SIM_FAULT_laser_dead:
	case SIM_FAULT_laser_weak:
		MUST(spec->lanes && !(spec->lanes & ~hw->optics.all_lanes));
		/* fall through */
	case SIM_FAULT_receiver_deaf:
		MUST(spec->index < ACCELERATORS * PLANES);
		break;
	case SIM_FAULT_element_stuck:
		MUST(sim_argument(spec, SIM_ARGUMENT_STATE) < STATES);
		/* fall through */
	case SIM_FAULT_element_slow:
		MUST(spec->index < ELEMENTS);
		break;
	case SIM_FAULT_fibre_cut:
		MUST(hw->optics.guides[spec->index].class >= MORPH_GUIDE_FIBRE);
		/* fall through */
	case SIM_FAULT_guide_lossy:
	case SIM_FAULT_guide_drifting:
		MUST(spec->index < GUIDES);
		break;
	default:
		break;
	}
	given = *spec;
	added++;
	return 0;
}

u64 sim_argument(const struct sim_fault_spec *spec, enum sim_argument argument)
{
	return spec->given & BIT(argument) ? spec->arguments[argument] : 0;
}

int sim_fault_clear(struct sim_hardware *hw, u32 id)
{
	return id > hw->faults_count ? -ENOENT : 0;
}

void sim_fault_clear_all(struct sim_hardware *hw)
{
	hw->faults_count = 0;
}

int sim_flip(struct sim_hardware *hw, u32 element, u32 state)
{
	MUST(hw && element < ELEMENTS && state < STATES);
	return 0;
}

void sim_swap(struct sim_hardware *hw, u32 accelerator, const uuid_t *uuid)
{
	MUST(hw && uuid && accelerator < ACCELERATORS);
}

u64 sim_mix(u64 value)
{
	value = (value ^ value >> 31) * 0x7fb5d329728ea185ull;
	return value ^ value >> 27;
}

static void set_up(struct sim_hardware *hw)
{
	static struct sim_kind kinds[1] = { { .states = STATES, .ports = 4 } };
	static struct sim_element elements[ELEMENTS];
	static struct sim_guide guides[GUIDES];

	guides[GUIDES - 1].class = MORPH_GUIDE_FIBRE;
	hw->optics.kinds = kinds;
	hw->optics.elements = elements;
	hw->optics.guides = guides;
	hw->optics.planes = PLANES;
	hw->optics.wavelengths = 4;
	hw->optics.all_lanes = 0xf;
	hw->optics.kinds_count = 1;
	hw->optics.elements_count = ELEMENTS;
	hw->optics.guides_count = GUIDES;
	hw->optics.accelerators_count = ACCELERATORS;
	hw->optics.ports_count = ACCELERATORS * PLANES;
	hw->faults_count = 7;
}

/* A fault made from text must match that text. */
static void read_back(struct sim_hardware *hw)
{
	struct sim_fault_spec first = given;
	char text[SIM_FAULT_BYTES];

	sim_fault_format(hw, &first, text, sizeof(text));
	MUST(!sim_fault_line(hw, text));
	MUST(given.type == first.type && given.index == first.index && given.given == first.given);
	if (first.type == SIM_FAULT_laser_dead || first.type == SIM_FAULT_laser_weak)
		MUST(given.lanes == first.lanes);
	for (int at = 0; at < SIM_ARGUMENTS_COUNT; at++)
		MUST(!(first.given & BIT(at)) || given.arguments[at] == first.arguments[at]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int (*const lines[])(struct sim_hardware * hw, char *line) = {
		sim_fault_line,
		sim_clear_line,
		sim_flip_line,
		sim_swap_line,
	};
	struct input input = { data, size };
	struct sim_hardware hw = {};
	unsigned int which = eat8(&input) % ARRAY_SIZE(lines);
	char *line = eat_text(&input);
	int err;

	set_up(&hw);
	added = 0;
	err = lines[which](&hw, line);
	MUST(!err || err == -ENOENT || err == -EINVAL);
	MUST(!err || hw.refusal.text[0]);
	if (!err && added)
		read_back(&hw);
	free(line);
	return 0;
}
