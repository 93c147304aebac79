// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks that the guides of circuits are adjacent, and that simultaneous circuits are compatible.
 */
#include "light.h"

#define PORTS 16
#define MOST_HOPS 64

struct ways_check {
	struct light_check *it;
	uint32_t *joins; /* by element and port: the port that light goes to, plus 1; 0: none */
	uint64_t *lanes; /* by guide: lanes in use in the step */
	uint32_t *touched; /* elements of the step, each once */
	uint32_t touched_count;
	uint32_t *sends, *receives; /* by rank and plane: the last step that uses it, plus one */
};

static bool foreign_tile(const struct light_check *it, uint32_t element)
{
	const struct fabric *fabric = &it->check.fabric;
	uint32_t tile = ck_tile(fabric, element), owner;

	owner = tile == NONE ? 0 : ck_owner(fabric, tile);
	return it->input->transit && owner && owner != ck_owner(fabric, it->input->accelerators[0]);
}

/* The end at which light enters the first guide; NONE if it is not at the transmitter. */
static uint32_t first_end(const struct light_check *it, const struct light_circuit *circuit)
{
	uint32_t guide = it->guides[circuit->guides.first];

	for (uint32_t at = 0; at < 2; at++) {
		struct end end = ck_guide_end(&it->check.fabric, guide, at);

		if (end.type == END_TX && end.index == it->input->accelerators[circuit->src] &&
		    end.port == circuit->src_plane)
			return at;
	}
	return NONE;
}

static bool is_receiver(const struct light_check *it, const struct light_circuit *circuit,
			struct end end)
{
	return end.type == END_RX && end.index == it->input->accelerators[circuit->dst] &&
	       end.port == circuit->dst_plane;
}

/* Whether the guide is healthy, and dark in these lanes. */
static int check_guide(struct light_check *it, uint32_t number, uint32_t guide)
{
	const struct fabric *fabric = &it->check.fabric;
	size_t at = 2 * (size_t)fabric->accelerators + fabric->elements + 3 * (size_t)guide;
	uint64_t lit = word(fabric->ledger, at + 1) | (uint64_t)word(fabric->ledger, at + 2) << 32;

	if (ck_guide_marked(fabric, guide) || ck_guide_kept(fabric, guide))
		return ck_wrong(&it->check, EBADMSG, "circuit %u: guide %u is not available",
				number, guide);
	if (lit & it->circuits[number].lanes)
		return ck_wrong(&it->check, EBADMSG,
				"circuit %u: guide %u carries light of other circuits in its lanes",
				number, guide);
	return 0;
}

static int check_lanes(struct light_check *it, uint32_t number)
{
	const struct light_circuit *circuit = &it->circuits[number];
	uint32_t wavelengths = it->check.fabric.wavelengths;
	uint32_t count = (uint32_t)__builtin_popcountll(circuit->lanes);

	if (!count || (wavelengths < 64 && circuit->lanes >> wavelengths) ||
	    (circuit->lanes_count && circuit->lanes_count != count) ||
	    (it->input->lanes && it->input->lanes != count))
		return ck_wrong(&it->check, EBADMSG, "circuit %u has wrong lanes", number);
	if (!circuit->guides.count || circuit->guides.count > MOST_HOPS)
		return ck_wrong(&it->check, EBADMSG, "circuit %u has %u guides", number,
				circuit->guides.count);
	return 0;
}

/* The end of a guide at an element, other than the given one; or NONE. */
static uint32_t end_at(const struct fabric *fabric, uint32_t guide, uint32_t element,
		       const struct end * not )
{
	for (uint32_t at = 0; at < 2; at++) {
		struct end end = ck_guide_end(fabric, guide, at);

		if (end.type == END_ELEMENT && end.index == element && end.port != not ->port)
			return at;
	}
	return NONE;
}

/* Join two ports of an element. Each leads to the other one only. */
static int join(struct ways_check *ways, uint32_t number, struct end in, uint32_t out)
{
	uint32_t *joins = &ways->joins[(size_t)in.index * PORTS];
	bool first = true;

	for (uint32_t port = 0; port < PORTS; port++)
		first &= !joins[port];
	if ((joins[in.port] && joins[in.port] != out + 1) ||
	    (joins[out] && joins[out] != in.port + 1))
		return ck_wrong(&ways->it->check, EBADMSG,
				"circuit %u: element %u connects a port twice", number, in.index);
	joins[in.port] = out + 1;
	joins[out] = in.port + 1;
	if (first)
		ways->touched[ways->touched_count++] = in.index;
	return 0;
}

/* Follow a circuit from the transmitter. Each guide gets the circuit's lanes. */
static int follow(struct ways_check *ways, uint32_t number)
{
	struct light_check *it = ways->it;
	const struct fabric *fabric = &it->check.fabric;
	const struct light_circuit *circuit = &it->circuits[number];
	uint32_t end = first_end(it, circuit);

	for (uint32_t hop = 0; hop < circuit->guides.count && end != NONE; hop++) {
		uint32_t guide = it->guides[circuit->guides.first + hop], next;
		struct end in = ck_guide_end(fabric, guide, !end);
		int ret = check_guide(it, number, guide);

		if (!ret && ways->lanes[guide] & circuit->lanes)
			ret = ck_wrong(
				&it->check, EBADMSG,
				"circuit %u: another circuit of the step uses its lanes of guide %u",
				number, guide);
		if (ret)
			return ret;
		ways->lanes[guide] |= circuit->lanes;
		if (hop + 1 == circuit->guides.count) {
			if (is_receiver(it, circuit, in))
				return 0;
			break;
		}
		if (in.type != END_ELEMENT || foreign_tile(it, in.index))
			break;
		next = it->guides[circuit->guides.first + hop + 1];
		end = end_at(fabric, next, in.index, &in);
		if (end != NONE)
			ret = join(ways, number, in, ck_guide_end(fabric, next, end).port);
		if (ret)
			return ret;
	}
	return ck_wrong(&it->check, EBADMSG,
			"circuit %u does not lead from its transmitter to its receiver", number);
}

static void forget(struct ways_check *ways, uint32_t number)
{
	const struct light_circuit *circuit = &ways->it->circuits[number];

	for (uint32_t hop = 0; hop < circuit->guides.count; hop++)
		ways->lanes[ways->it->guides[circuit->guides.first + hop]] = 0;
}

/* Check that each element has a state for all joined ports, and clear these. */
static int check_elements(struct ways_check *ways)
{
	const struct fabric *fabric = &ways->it->check.fabric;
	int ret = 0;

	while (ways->touched_count) {
		uint32_t element = ways->touched[--ways->touched_count], state, port = 0;
		uint32_t *joins = &ways->joins[(size_t)element * PORTS];

		for (state = 0; state < ck_states(fabric, element) && port < PORTS; state++)
			for (port = 0; port < PORTS; port++)
				if (joins[port] &&
				    ck_joined(fabric, element, state, port) != joins[port] - 1)
					break;
		if (port < PORTS)
			ret = ck_wrong(
				&ways->it->check, EBADMSG,
				"element %u has no state for all circuits of the step through it",
				element);
		memset(joins, 0, PORTS * sizeof(*joins));
	}
	return ret;
}

static int check_ports(struct ways_check *ways, uint32_t number, uint32_t step)
{
	const struct light_circuit *circuit = &ways->it->circuits[number];
	uint32_t planes = ways->it->check.fabric.planes;
	uint32_t *sends, *receives;

	if (circuit->src_plane >= planes || circuit->dst_plane >= planes)
		return ck_wrong(&ways->it->check, EBADMSG, "circuit %u: no such port", number);
	sends = &ways->sends[(size_t)circuit->src * planes + circuit->src_plane];
	receives = &ways->receives[(size_t)circuit->dst * planes + circuit->dst_plane];
	if (*sends == step + 1 || *receives == step + 1)
		return ck_wrong(&ways->it->check, EBADMSG,
				"circuit %u: another circuit of the step uses its port", number);
	*sends = *receives = step + 1;
	return 0;
}

static int check_step(struct ways_check *ways, uint32_t number)
{
	struct light_check *it = ways->it;
	const struct light_step *step = &it->steps[number];
	int ret = 0, states;

	for (uint32_t at = 0; !ret && at < step->held.count; at++) {
		uint32_t circuit = it->held[step->held.first + at];

		ret = check_lanes(it, circuit);
		if (!ret)
			ret = check_ports(ways, circuit, number);
		if (!ret)
			ret = follow(ways, circuit);
	}
	if (ret)
		return ret;
	states = check_elements(ways);
	for (uint32_t at = 0; at < step->held.count; at++)
		forget(ways, it->held[step->held.first + at]);
	return states;
}

/* Every circuit must be part of a step. */
static int check_all_held(struct light_check *it)
{
	bool *held = calloc((size_t)it->circuits_count + 1, sizeof(*held));
	int ret = 0;

	if (!held)
		return ck_wrong(&it->check, ENOMEM, "out of memory");
	for (uint32_t at = 0; at < it->held_count; at++)
		held[it->held[at]] = true;
	for (uint32_t at = 0; !ret && at < it->circuits_count; at++)
		if (!held[at])
			ret = ck_wrong(&it->check, EBADMSG, "no step holds circuit %u", at);
	free(held);
	return ret;
}

int ck_light_ways(struct light_check *it)
{
	const struct fabric *fabric = &it->check.fabric;
	size_t ports = (size_t)it->input->ranks * fabric->planes + 1;
	struct ways_check ways = {
		.it = it,
		.joins = calloc((size_t)fabric->elements + 1, PORTS * sizeof(*ways.joins)),
		.lanes = calloc((size_t)fabric->guides + 1, sizeof(*ways.lanes)),
		.touched = calloc((size_t)fabric->elements + 1, sizeof(*ways.touched)),
		.sends = calloc(ports, sizeof(*ways.sends)),
		.receives = calloc(ports, sizeof(*ways.receives)),
	};
	int ret = 0;

	if (!ways.joins || !ways.lanes || !ways.touched || !ways.sends || !ways.receives) {
		ck_wrong(&it->check, ENOMEM, "out of memory");
		ret = -ENOMEM;
	}
	for (uint32_t step = 0; !ret && step < it->steps_count; step++)
		ret = check_step(&ways, step);
	if (!ret)
		ret = check_all_held(it);
	free(ways.joins);
	free(ways.lanes);
	free(ways.touched);
	free(ways.sends);
	free(ways.receives);
	return ret;
}
