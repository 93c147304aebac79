// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Exact search of ports for circuits of any kind, in any number of rounds.
 *
 * A search in depth gives ports to one endpoint after another. It goes on only where settings join
 * the endpoint to all those before it. For the ports of all endpoints, the circuits of all settings
 * are candidates of a cover. If no ports get that far, no number of rounds is enough.
 */
#include "exact.h"

struct ports {
	struct exact *exact;
	uint32_t joined[EXACT_MOST_ENDS]; /* mask of the ports that settings join to each port */
	uint32_t used; /* mask of the ports that endpoints have */
	uint32_t count; /* number of endpoints that have ports */
	uint32_t tx[EXACT_MOST_ENDS], rx[EXACT_MOST_ENDS]; /* by endpoint */
	bool complete; /* all endpoints had ports at some time */
	bool first; /* stop there */
};

static int extend(struct ports *ports, uint32_t first);

static void set_joined(struct ports *ports)
{
	const struct exact *exact = ports->exact;
	uint32_t matching, end;
	const uint8_t *partner;

	for (matching = 0; matching < exact->matchings.count; matching++) {
		partner = exact_partners(exact, matching);
		for (end = 0; end < exact->rounds->mesh.ends; end++) {
			if (partner[end] != EXACT_ALONE)
				ports->joined[end] |= 1u << partner[end];
		}
	}
}

/* Whether settings join an endpoint at two ports to all endpoints so far. */
static bool fits(const struct ports *ports, uint32_t tx, uint32_t rx)
{
	uint32_t i;

	for (i = 0; i < ports->count; i++) {
		if (!(ports->joined[tx] >> ports->rx[i] & 1) ||
		    !(ports->joined[ports->tx[i]] >> rx & 1))
			return false;
	}
	return true;
}

/*
 * Set where light of all endpoints arrives in a matching. False if more than @most endpoints reach
 * none.
 */
static bool set_reached(struct ports *ports, uint32_t matching, uint32_t most)
{
	struct exact *exact = ports->exact;
	const uint8_t *partner = exact_partners(exact, matching);
	uint32_t alone = 0, i, end;

	for (i = 0; i < ports->count && alone <= most; i++) {
		end = partner[ports->tx[i]];
		exact->reached[i] = end == EXACT_ALONE ? MESH_NONE : exact->owner[end];
		alone += exact->reached[i] == MESH_NONE;
	}
	return alone <= most;
}

/* Cover all pairs at the present ports by the circuits of all settings. */
static int cover(struct ports *ports)
{
	struct exact *exact = ports->exact;
	uint32_t slack = exact->rounds->rounds * exact->cover.full - exact->cover.pairs;
	uint32_t least = exact->cover.full > slack ? exact->cover.full - slack : 0, matching, i;
	uint32_t sends = exact->rounds->kind == MORPH_MATCHINGS_DIRECTED ? least : 2 * least;
	int result;

	if (exact->steps <= exact->matchings.count)
		return EXACT_UNDECIDED;
	exact->steps -= exact->matchings.count;
	memset(exact->owner, 0xff, exact->rounds->mesh.ends * sizeof(*exact->owner));
	for (i = 0; i < ports->count; i++)
		exact->owner[ports->rx[i]] = i;
	result = lm_exact_clear(exact, &exact->candidates, (exact->cover.pairs + 63) / 64);
	for (matching = 0; matching < exact->matchings.count && !result; matching++) {
		if (set_reached(ports, matching, ports->count - sends))
			result = lm_exact_add_reached(exact, matching, least);
	}
	return result ? result : lm_exact_cover(exact, exact->rounds->rounds);
}

/* Give the next endpoint two ports, or one port for pairs, then the later endpoints. */
static int place(struct ports *ports, uint32_t tx, uint32_t rx)
{
	const uint32_t before = ports->used;
	int result;

	if (!fits(ports, tx, rx))
		return EXACT_REFUTED;
	if (!ports->exact->steps)
		return EXACT_UNDECIDED;
	ports->exact->steps--;
	ports->tx[ports->count] = tx;
	ports->rx[ports->count] = rx;
	ports->used |= 1u << tx | 1u << rx;
	ports->count++;
	result = extend(ports, tx + 1);
	if (result == EXACT_FOUND)
		return result;
	ports->count--;
	ports->used = before;
	return result;
}

/* Try all ports of the next endpoint. Endpoints are in the order of their transmit ports. */
static int extend(struct ports *ports, uint32_t first)
{
	const struct rounds *rounds = ports->exact->rounds;
	uint32_t ends = rounds->mesh.ends, tx, rx;
	int result = EXACT_REFUTED;

	if (ports->count == rounds->endpoints) {
		ports->complete = true;
		return ports->first ? EXACT_FOUND : cover(ports);
	}
	for (tx = first; tx < ends && result == EXACT_REFUTED; tx++) {
		if (ports->used >> tx & 1)
			continue;
		if (rounds->kind == MORPH_MATCHINGS_PAIRS) {
			result = place(ports, tx, tx);
			continue;
		}
		for (rx = 0; rx < ends && result == EXACT_REFUTED; rx++) {
			if (rx != tx && !(ports->used >> rx & 1))
				result = place(ports, tx, rx);
		}
	}
	return result;
}

int lm_exact_choose_any(struct exact *exact)
{
	struct ports ports = { .exact = exact };
	struct rounds *rounds = exact->rounds;
	uint64_t reserve;
	int result;

	if (rounds->mesh.ends > EXACT_MOST_ENDS || exact->steps <= exact->settings)
		return EXACT_UNDECIDED;
	exact->steps -= exact->settings;
	result = lm_exact_list_matchings(exact);
	if (result)
		return result;
	set_joined(&ports);
	/* Another search uses what is left of the budget. */
	reserve = exact->steps - exact->steps / exact->share;
	exact->steps -= reserve;
	result = extend(&ports, 0);
	exact->steps += reserve;
	exact->separated = result == EXACT_REFUTED && !ports.complete;
	if (result == EXACT_FOUND) {
		memcpy(rounds->tx, ports.tx, rounds->endpoints * sizeof(*rounds->tx));
		memcpy(rounds->rx, ports.rx, rounds->endpoints * sizeof(*rounds->rx));
	}
	return result;
}

void lm_exact_find_separated(struct exact *exact)
{
	struct ports ports = { .exact = exact, .first = true };

	set_joined(&ports);
	exact->separated = extend(&ports, 0) == EXACT_REFUTED;
}
