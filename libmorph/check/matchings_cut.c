// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bounds by a cut: circuits that must pass the border of a set of elements, divided by the guides
 * of the border. A guide has one circuit in a round, since each of its ends is at one arm.
 */
#include "matchings.h"

struct border {
	struct matchings_check *it;
	bool *inside; /* by element */
	uint32_t *receives; /* by receive port: the element before it, or NONE */
	uint64_t guides;
	uint64_t circuits; /* that pass the border */
	uint64_t both; /* pairs of endpoints whose circuits pass it in both directions */
};

/* Whether light can pass the element by this port, in some state. */
static bool passes(const struct matchings_check *it, uint32_t place)
{
	uint32_t element = place / ELEMENT_PORTS, port = place % ELEMENT_PORTS;

	for (uint32_t state = 0; state < ck_matchings_states(it, element); state++)
		if ((it->only[element] == ANY_STATE || it->only[element] == state) &&
		    ck_matchings_joined(it, element, state, port) != NONE)
			return true;
	return false;
}

/* Each guide across the border has one end inside. */
static void count_guides(struct border *border)
{
	const struct matchings_check *it = border->it;

	for (uint32_t place = 0; place < it->elements * ELEMENT_PORTS; place++) {
		uint32_t next = it->next[place];

		if (next == NONE)
			continue;
		if (next & RECEIVER)
			border->receives[next & ~RECEIVER] = place / ELEMENT_PORTS;
		else if (border->inside[place / ELEMENT_PORTS] &&
			 !border->inside[next / ELEMENT_PORTS])
			border->guides += passes(it, place) && passes(it, next);
	}
}

/* Whether the rounds have a circuit that begins on one side of the border and ends on the other. */
static bool crosses(const struct border *border, uint32_t src, uint32_t dst)
{
	const struct matchings_check *it = border->it;
	uint32_t from, to;

	if (src == dst || !ck_matchings_wanted(it, src, dst))
		return false;
	from = it->entry[it->input->tx[src]];
	to = border->receives[ck_matchings_rx(it, dst)];
	return from != NONE && !(from & RECEIVER) && to != NONE &&
	       border->inside[from / ELEMENT_PORTS] != border->inside[to];
}

static void count_circuits(struct border *border)
{
	uint32_t endpoints = border->it->input->endpoints;

	for (uint32_t src = 0; src < endpoints; src++)
		for (uint32_t dst = 0; dst < endpoints; dst++) {
			bool there = crosses(border, src, dst);

			border->circuits += there;
			border->both += there && src < dst && crosses(border, dst, src);
		}
}

static int read_set(struct border *border)
{
	const struct morph_check_matchings_input *input = border->it->input;

	for (size_t at = 0; at < input->cut_count; at++) {
		uint32_t element = input->cut[at];

		if (element >= border->it->elements)
			return ck_wrong(&border->it->check, EINVAL, "no element %u (0-%u)", element,
					border->it->elements - 1);
		border->inside[element] = true;
	}
	return 0;
}

static int check_border(struct border *border)
{
	const struct morph_check_matchings_input *input = border->it->input;
	uint64_t rounds, paired = 0;
	int ret = read_set(border);

	if (ret)
		return ret;
	count_guides(border);
	count_circuits(border);
	if (!border->guides)
		return ck_wrong(&border->it->check, EBADMSG, "no guide leaves the set of the cut");
	rounds = (border->circuits + border->guides - 1) / border->guides;
	/* Both circuits of a duplex pair are in one round. */
	if (input->kind == MORPH_CHECK_DUPLEX && border->guides > 1)
		paired = (border->both + border->guides / 2 - 1) / (border->guides / 2);
	rounds = rounds > paired ? rounds : paired;
	if (rounds != input->bound)
		return ck_wrong(
			&border->it->check, EBADMSG,
			"circuits across the cut: %llu, guides: %llu; these prove %llu rounds, not %u",
			(unsigned long long)border->circuits, (unsigned long long)border->guides,
			(unsigned long long)rounds, input->bound);
	return 0;
}

/* One guide does not carry both circuits of the refused duplex pair in one round. */
static int check_separated(struct border *border)
{
	const struct morph_check_matchings_input *input = border->it->input;
	int ret = read_set(border);

	if (ret)
		return ret;
	count_guides(border);
	if (input->kind != MORPH_CHECK_DUPLEX || border->guides > 1 ||
	    !crosses(border, input->src, input->dst) || !crosses(border, input->dst, input->src))
		return ck_wrong(
			&border->it->check, EBADMSG,
			"guides of the cut: %llu; these do not separate endpoints %u and %u",
			(unsigned long long)border->guides, input->src, input->dst);
	return 0;
}

int ck_matchings_cut(struct matchings_check *it)
{
	struct border border = { .it = it };
	int ret;

	border.inside = calloc((size_t)it->elements + 1, sizeof(*border.inside));
	border.receives = malloc(((size_t)it->rx_ports + 1) * sizeof(*border.receives));
	if (!border.inside || !border.receives) {
		ret = ck_wrong(&it->check, ENOMEM, "out of memory");
	} else {
		memset(border.receives, 0xff, it->rx_ports * sizeof(*border.receives));
		ret = it->input->bound ? check_border(&border) : check_separated(&border);
	}
	free(border.inside);
	free(border.receives);
	return ret;
}
