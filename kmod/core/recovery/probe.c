// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find a path for the test of a guide, between any two idle accelerators. The router searches
 * between two given ends and would use the guide only by chance. This search starts at the guide:
 * it walks back to a transmitter and forward to a receiver, by iterative deepening.
 */
#include "core/base/base.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"

#define LEG_HOPS	12u	/* guides of one leg; two legs are shorter than a longest path */
#define LEG_STEPS	1024u	/* guides visited for one leg */

/* One leg from the guide, in the direction of the walk. */
struct leg {
	struct morph_fabric *fabric;
	const struct leg *other;	/* the leg that it may not cross; NULL: none */
	bool backwards;			/* walks towards a transmitter */
	bool trusting;			/* may use suspect hardware, too */
	u32 end;			/* port at which it arrived */
	u32 count;
	u32 steps;			/* remaining steps */
	u64 lanes[LEG_HOPS];		/* lanes that are free so far */
	u32 code[LEG_HOPS];		/* guide * 2 + end at which the leg enters it */
	u32 element[LEG_HOPS];		/* behind the guide */
	u8 state[LEG_HOPS];		/* of that element */
};

bool morph_chip_idle(struct morph_fabric *fabric, u32 accelerator)
{
	const struct morph_chip *chip = &ledger_of(fabric)->chips[accelerator];

	return !ledger_of(fabric)->state->owner[accelerator] && chip->health == MORPH_HEALTH_OK &&
	       !chip->testing;
}

static const struct optics_end *far_end(const struct leg *leg, u32 hop)
{
	u32 code = leg->code[hop];

	return &leg->fabric->graph->guides[code >> 1].end[!(code & 1)];
}

/* Return whether the leg ends here, at a port that a test may use. */
static bool arrives(struct leg *leg)
{
	const struct optics_end *end = far_end(leg, leg->count - 1);
	const struct optics_state *ledger = ledger_of(leg->fabric)->state;
	u32 planes = leg->fabric->graph->params.planes, port;
	u64 taken;

	if (end->type != (leg->backwards ? MORPH_END_TX : MORPH_END_RX))
		return false;
	port = end->index * planes + end->port;
	taken = leg->backwards ? ledger->tx_lanes[port] | ledger->tx_dead[port] :
				 ledger->rx_lanes[port] | ledger->rx_dead[port];
	if (!(leg->lanes[leg->count - 1] & ~taken) || !morph_chip_idle(leg->fabric, end->index) ||
	    (leg->other && leg->other->end / planes == end->index))
		return false;
	leg->lanes[leg->count - 1] &= ~taken;
	leg->end = port;
	return true;
}

static bool crossed(const struct leg *leg, u32 hops, u32 element)
{
	u32 i;

	for (i = 0; i < hops; i++)
		if (leg->element[i] == element)
			return true;
	return false;
}

/* Return whether the leg may cross the element behind its last guide. */
static bool may_cross(const struct leg *leg)
{
	const struct optics_end *end = far_end(leg, leg->count - 1);

	return end->type == MORPH_END_ELEMENT &&
	       !ledger_of(leg->fabric)->state->element_marks[end->index] &&
	       !crossed(leg, leg->count - 1, end->index) &&
	       !(leg->other && crossed(leg->other, leg->other->count - 1, end->index));
}

/*
 * Cross the element behind the last guide in its next possible state; return false if there is
 * none.
 */
static bool step_on(struct leg *leg, u32 *next_state)
{
	const struct optics_state *ledger = ledger_of(leg->fabric)->state;
	const struct optics_graph *graph = leg->fabric->graph;
	const struct optics_end *end = far_end(leg, leg->count - 1);
	u32 states = graph->kinds[graph->elements[end->index].kind].states;
	u32 state, code;
	u64 lanes;
	u8 out;

	for (state = *next_state; state < states; state++) {
		out = optics_joined(graph, end->index, state, end->port);
		if (out == MORPH_PORT_NONE || (ledger->element_pins[end->index] &&
					       ledger->element_state[end->index] != state))
			continue;
		code = graph->port_guide[graph->elements[end->index].first_port + out];
		if (code == OPTICS_NONE || ledger->guide_marks[code >> 1] ||
		    (!leg->trusting &&
		     morph_suspect_waits(leg->fabric, MORPH_PART_GUIDE, code >> 1)))
			continue;
		lanes = leg->lanes[leg->count - 1] & ~optics_guide_taken(ledger, code >> 1);
		if (!lanes)
			continue;
		leg->element[leg->count - 1] = end->index;
		leg->state[leg->count - 1] = state;
		leg->code[leg->count] = code;
		leg->lanes[leg->count++] = lanes;
		*next_state = state + 1;
		return true;
	}
	return false;
}

/* Try all legs of at most @hops guides until one arrives. */
static bool walk_to(struct leg *leg, u32 hops)
{
	u32 next_state[LEG_HOPS] = {};
	u32 at;

	leg->count = 1;
	while (leg->count) {
		at = leg->count - 1;
		if (!next_state[at] && arrives(leg))
			return true;
		if (leg->count < hops && may_cross(leg) && leg->steps &&
		    step_on(leg, &next_state[at])) {
			leg->steps--;
			next_state[at + 1] = 0;
			continue;
		}
		leg->count--;
	}
	return false;
}

static bool walk(struct leg *leg, u32 code, u64 lanes)
{
	u32 hops;

	leg->code[0] = code;
	for (hops = 1; hops <= LEG_HOPS && leg->steps; hops++) {
		leg->lanes[0] = lanes;
		if (walk_to(leg, hops))
			return true;
	}
	return false;
}

/* Join both legs, which begin with the same guide, to one path. */
static void join_legs(const struct leg *back, const struct leg *on, struct optics_path *path)
{
	u64 lanes = on->lanes[on->count - 1];
	u32 n = 0, i;

	for (i = back->count - 1; i; i--)
		path->hops[n++] = (struct optics_hop){
			.guide = back->code[i] ^ 1, .element = back->element[i - 1],
			.state = back->state[i - 1],
		};
	for (i = 0; i < on->count; i++)
		path->hops[n++] = (struct optics_hop){
			.guide = on->code[i],
			.element = i + 1 < on->count ? on->element[i] : OPTICS_NONE,
			.state = i + 1 < on->count ? on->state[i] : 0,
		};
	path->hops_count = n;
	path->tx = back->end;
	path->rx = on->end;
	path->lanes = lanes & -lanes;
	path->loss_mdb = 0;
}

static bool find_path(struct morph_fabric *fabric, u32 guide, bool trusting,
		      struct optics_path *path)
{
	u32 code;

	for (code = guide * 2; code < guide * 2 + 2; code++) {
		struct leg back = {
			.fabric = fabric, .backwards = true, .trusting = trusting,
			.steps = LEG_STEPS,
		};
		struct leg on = {
			.fabric = fabric, .other = &back, .trusting = trusting,
			.steps = LEG_STEPS,
		};

		if (!walk(&back, code ^ 1, fabric->graph->all_lanes &
			  ~optics_guide_taken(ledger_of(fabric)->state, guide)) ||
		    !walk(&on, code, back.lanes[back.count - 1]))
			continue;
		join_legs(&back, &on, path);
		path->loss_mdb = optics_path_loss(fabric->graph, path);
		return true;
	}
	return false;
}

/* Avoid suspect hardware first: it would make a dark receiver inconclusive. */
bool morph_probe_path(struct morph_fabric *fabric, u32 guide, struct optics_path *path)
{
	lockdep_assert_held(&fabric->lock);
	BUILD_BUG_ON(2 * LEG_HOPS > OPTICS_MAX_HOPS);
	return find_path(fabric, guide, false, path) || find_path(fabric, guide, true, path);
}
