// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks that steps light the circuits that a schedule holds. */
#include <morph/wire.h>

#include "light.h"

#define STEPS_HEAD 7 /* words */
#define CIRCUIT 9
#define STEP 7

static uint64_t long_word(const uint8_t *at, size_t index)
{
	return word(at, index) | (uint64_t)word(at, index + 1) << 32;
}

static bool within(struct part part, uint32_t count)
{
	return part.first <= count && part.count <= count - part.first;
}

/* Each array has at least one entry, so that NULL means out of memory. */
static int make_room(struct light_check *it)
{
	it->circuits = calloc((size_t)it->circuits_count + 1, sizeof(*it->circuits));
	it->steps = calloc((size_t)it->steps_count + 1, sizeof(*it->steps));
	it->guides = calloc((size_t)it->guides_count + 1, sizeof(*it->guides));
	it->held = calloc((size_t)it->held_count + 1, sizeof(*it->held));
	if (!it->circuits || !it->steps || !it->guides || !it->held)
		return ck_wrong(&it->check, ENOMEM, "out of memory");
	return 0;
}

static int read_circuits(struct light_check *it, const uint8_t *at)
{
	for (uint32_t number = 0; number < it->circuits_count; number++, at += 4 * CIRCUIT) {
		struct light_circuit *circuit = &it->circuits[number];

		*circuit = (struct light_circuit){
			.src = word(at, 0),
			.dst = word(at, 1),
			.src_plane = word(at, 2),
			.dst_plane = word(at, 3),
			.lanes_count = word(at, 4),
			.lanes = long_word(at, 5),
			.guides = { word(at, 7), word(at, 8) },
		};
		if (circuit->src >= it->input->ranks || circuit->dst >= it->input->ranks ||
		    !within(circuit->guides, it->guides_count))
			return ck_wrong(&it->check, EINVAL, "circuit %u is malformed", number);
	}
	return 0;
}

static int read_lists(struct light_check *it, const uint8_t *at)
{
	for (uint32_t number = 0; number < it->steps_count; number++, at += 4 * STEP) {
		struct light_step *step = &it->steps[number];

		*step = (struct light_step){
			.held = { word(at, 0), word(at, 1) },
			.begin = word(at, 2),
			.after_ns = long_word(at, 3),
			.deadline_ns = long_word(at, 5),
		};
		if (!within(step->held, it->held_count) || step->begin > 2)
			return ck_wrong(&it->check, EINVAL, "step %u is malformed", number);
	}
	for (uint32_t number = 0; number < it->guides_count; number++, at += 4) {
		it->guides[number] = word(at, 0);
		if (it->guides[number] >= it->check.fabric.guides)
			return ck_wrong(&it->check, EINVAL, "no guide %u", it->guides[number]);
	}
	for (uint32_t number = 0; number < it->held_count; number++, at += 4) {
		it->held[number] = word(at, 0);
		if (it->held[number] >= it->circuits_count)
			return ck_wrong(&it->check, EINVAL, "no circuit %u", it->held[number]);
	}
	return 0;
}

static int read_steps(struct light_check *it)
{
	const struct morph_check_bytes *bytes = &it->input->steps;
	size_t words = 0;
	const uint8_t *at = ck_body(bytes, MORPH_WIRE_STEPS, &words);
	int ret;

	if (!at || words < STEPS_HEAD)
		return ck_wrong(&it->check, EINVAL, "the steps are malformed");
	if (word(bytes->data, 3) != it->check.fabric.checksum)
		return ck_wrong(&it->check, EINVAL, "the steps are for another profile");
	it->loop = word(at, 0);
	it->circuits_count = word(at, 3);
	it->steps_count = word(at, 4);
	it->guides_count = word(at, 5);
	it->held_count = word(at, 6);
	if (it->loop > 1 || words != STEPS_HEAD + CIRCUIT * (uint64_t)it->circuits_count +
					     STEP * (uint64_t)it->steps_count + it->guides_count +
					     it->held_count)
		return ck_wrong(&it->check, EINVAL, "the steps differ from their declared size");
	ret = make_room(it);
	if (!ret)
		ret = read_circuits(it, at + (size_t)4 * STEPS_HEAD);
	if (!ret)
		ret = read_lists(it, at + 4 * (STEPS_HEAD + CIRCUIT * (size_t)it->circuits_count));
	return ret;
}

/* Accelerators of ranks: they exist, are healthy, different, and belong to one owner. */
static int check_ranks(struct light_check *it)
{
	const struct fabric *fabric = &it->check.fabric;
	const uint32_t *accelerators = it->input->accelerators;

	if (it->input->ranks != it->schedule.ranks || it->input->ranks > MOST_RANKS)
		return ck_wrong(&it->check, EINVAL, "the schedule does not have %u ranks",
				it->input->ranks);
	for (uint32_t rank = 0; rank < it->input->ranks; rank++) {
		if (accelerators[rank] >= fabric->accelerators)
			return ck_wrong(&it->check, EINVAL, "no accelerator %u",
					accelerators[rank]);
		if (word(fabric->ledger, 2 * (size_t)accelerators[rank] + 1) & 1)
			return ck_wrong(&it->check, EBADMSG,
					"accelerator %u of rank %u is not available",
					accelerators[rank], rank);
		for (uint32_t other = 0; other < rank; other++)
			if (accelerators[other] == accelerators[rank] ||
			    ck_owner(fabric, accelerators[other]) !=
				    ck_owner(fabric, accelerators[rank]))
				return ck_wrong(&it->check, EBADMSG,
						"ranks %u and %u cannot belong to one slice", other,
						rank);
	}
	return 0;
}

int morph_check_light(const struct morph_check_light_input *input, char *report, size_t room)
{
	struct light_check it = { .check = { .report = report, .report_room = report ? room : 0 },
				  .input = input };
	int ret;

	if (it.check.report_room)
		report[0] = '\0';
	ret = ck_fabric_read(&it.check, &input->profile);
	if (!ret)
		ret = ck_ledger_read(&it.check, &input->ledger);
	if (!ret)
		ret = ck_schedule_read(&it.check, &input->schedule, &it.schedule);
	if (!ret)
		ret = check_ranks(&it);
	if (!ret)
		ret = read_steps(&it);
	if (!ret)
		ret = ck_light_steps(&it);
	if (!ret)
		ret = ck_light_ways(&it);
	free(it.circuits);
	free(it.steps);
	free(it.guides);
	free(it.held);
	ck_schedule_free(&it.schedule);
	ck_fabric_free(&it.check.fabric);
	return ret;
}
