// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Exact search of ports for circuits of any kind, in any number of rounds.
 *
 * A search in depth gives ports to one endpoint after another. It keeps a list of the matchings
 * that can still be a round: only a limited number of endpoints may lack a circuit in a round. It
 * goes on only where the matchings of the list join the endpoint to all those before it. For the
 * ports of all endpoints, the circuits of these matchings are candidates of a cover.
 *
 * For directed circuits, it first chooses the ports that send, then those that receive. The cover
 * decides which two of them belong to one endpoint (exact_cover.c).
 *
 * Symmetries of the mesh map ports to other ports with the same answer. The ports of all endpoints,
 * sorted, are a list of numbers. The search goes on only where no symmetry makes the list smaller:
 * then no symmetry makes the list of any further endpoints smaller than its own image either.
 *
 * If no ports get that far with all matchings, no number of rounds is enough.
 */
#include "exact_any.h"

static int extend(struct ports *ports, struct list list);

/* ------------------------------------------------------------------ symmetries */

static uint32_t number_join(uint32_t one, uint32_t other)
{
	return one < other ? exact_pair(one, other) : exact_pair(other, one);
}

/* Note which joins a matching has together. */
static void set_together(struct ports *ports, const uint8_t *partner)
{
	uint32_t joins[EXACT_MOST_ENDS / 2] = { 0 }, count = 0, end, i, word;
	uint64_t mask[JOIN_WORDS] = { 0 };

	for (end = 0; end < ports->ends; end++) {
		if (partner[end] == EXACT_ALONE || partner[end] <= end)
			continue;
		joins[count] = exact_pair(end, partner[end]);
		mask[joins[count] / 64] |= 1ull << joins[count] % 64;
		count++;
	}
	for (i = 0; i < count; i++) {
		for (word = 0; word < JOIN_WORDS; word++)
			ports->together[joins[i]][word] |= mask[word];
	}
}

static void set_joined(struct ports *ports)
{
	const struct exact *exact = ports->exact;
	uint32_t matching, end;
	const uint8_t *partner;

	for (matching = 0; matching < exact->matchings.count; matching++) {
		partner = exact_partners(exact, matching);
		for (end = 0; end < ports->ends; end++) {
			if (partner[end] != EXACT_ALONE)
				ports->joined[end] |= 1u << partner[end];
		}
		if (ports->kind == MORPH_MATCHINGS_DUPLEX)
			set_together(ports, partner);
	}
}

static void find_symmetries(struct ports *ports)
{
	uint32_t map, end;

	for (map = 1; map < exact_maps(ports->exact); map++) {
		if (!lm_exact_is_symmetry(ports->exact, map))
			continue;
		for (end = 0; end < ports->ends; end++)
			ports->image[ports->symmetries][end] =
				(uint8_t)exact_image(ports->exact, map, end);
		ports->symmetries++;
	}
}

/* Whether one list of endpoints, by rx_of[], precedes another. */
static bool precedes(const struct ports *ports, const uint8_t *one, const uint8_t *other)
{
	uint32_t end = 0;

	while (end < ports->ends && one[end] == other[end])
		end++;
	return end < ports->ends && one[end] < other[end];
}

/*
 * Whether the image of the present endpoints precedes them. @swap: it exchanges transmit and
 * receive ports, too, which reverses all circuits.
 */
static bool is_image_less(const struct ports *ports, const uint8_t *image, bool swap)
{
	uint8_t rx_of[EXACT_MOST_ENDS];
	uint32_t i;

	memset(rx_of, EXACT_ALONE, sizeof(rx_of));
	for (i = 0; i < ports->count; i++) {
		uint32_t tx = swap ? ports->rx[i] : ports->tx[i];
		uint32_t rx = swap ? ports->tx[i] : ports->rx[i];

		rx_of[image ? image[tx] : tx] = (uint8_t)(image ? image[rx] : rx);
	}
	return precedes(ports, rx_of, ports->rx_of);
}

/* Whether no image of the present endpoints precedes them. */
static bool is_first_image(const struct ports *ports)
{
	bool swap = ports->kind == MORPH_MATCHINGS_DUPLEX;
	uint32_t i;

	if (swap && is_image_less(ports, NULL, true))
		return false;
	for (i = 0; i < ports->symmetries; i++) {
		if (is_image_less(ports, ports->image[i], false) ||
		    (swap && is_image_less(ports, ports->image[i], true)))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------ lists of matchings */

int lm_exact_reserve_part(struct ports *ports, struct list list)
{
	struct exact *exact = ports->exact;
	int error = lm_exact_reserve(exact, &exact->entries_block,
				     (list.first + 2 * (size_t)list.count) * sizeof(*ports->live));

	ports->live = exact->entries_block.memory;
	return error;
}

/*
 * Mark the endpoints that each endpoint meets in a matching. False if more than ports->most_idle
 * endpoints can have no circuit in it, with any ports of the later ones.
 */
static bool mark_circuits(const struct ports *ports, const uint8_t *partner, uint32_t *meets)
{
	uint32_t other[EXACT_MOST_ENDS], idle = 0, i, end;
	bool open;

	for (i = 0; i < ports->count; i++) {
		end = partner[ports->tx[i]];
		other[i] = EXACT_ALONE;
		if (end == EXACT_ALONE) {
			idle++;
		} else if (ports->used >> end & 1) {
			other[i] = ports->owner[end];
			if (other[i] == EXACT_ALONE || other[i] == i ||
			    partner[ports->tx[other[i]]] != ports->rx[i])
				other[i] = EXACT_ALONE;
			idle += other[i] == EXACT_ALONE;
		} else {
			end = partner[ports->rx[i]];
			open = end != EXACT_ALONE && !(ports->used >> end & 1);
			idle += !open;
		}
		if (idle > ports->most_idle)
			return false;
	}
	for (i = 0; i < ports->count; i++)
		meets[i] |= other[i] == EXACT_ALONE ? 0 : 1u << other[i];
	return true;
}

/*
 * List the matchings of a list that can still be a round. Whether they join all present endpoints
 * to each other. Returns 1, 0 or a noted -ENOMEM. While all endpoints can be idle in a round, it
 * keeps the list.
 */
static int keep_rounds(struct ports *ports, struct list list, struct list *kept)
{
	uint32_t meets[EXACT_MOST_ENDS] = { 0 }, all = (1u << ports->count) - 1, i;
	uint32_t *live;
	int error;

	*kept = list;
	if (ports->count <= ports->most_idle)
		return 1;
	error = lm_exact_reserve_part(ports, list);
	if (error)
		return error;
	live = &ports->live[list.first];
	*kept = (struct list){ list.first + list.count, 0 };
	for (i = 0; i < list.count; i++) {
		if (mark_circuits(ports, exact_partners(ports->exact, live[i]), meets))
			live[list.count + kept->count++] = live[i];
	}
	for (i = 0; i < ports->count; i++) {
		if ((meets[i] | 1u << i) != all)
			return 0;
	}
	return 1;
}

bool lm_exact_spend(struct ports *ports, uint32_t count)
{
	if (ports->exact->steps <= count + 1)
		return false;
	ports->exact->steps -= count + 1;
	return true;
}

/* ------------------------------------------------------------------ pairs and duplex circuits */

/* Whether some setting joins an endpoint at two ports to another one, in both directions. */
static bool can_meet(const struct ports *ports, uint32_t tx, uint32_t rx, uint32_t other)
{
	uint32_t join = number_join(ports->tx[other], rx);

	if (!(ports->joined[tx] >> ports->rx[other] & 1))
		return false;
	if (ports->kind == MORPH_MATCHINGS_PAIRS)
		return true;
	return ports->together[number_join(tx, ports->rx[other])][join / 64] >> join % 64 & 1;
}

/* Whether settings join an endpoint at two ports to all endpoints so far. */
static bool fits(const struct ports *ports, uint32_t tx, uint32_t rx)
{
	uint32_t i = 0;

	while (i < ports->count && can_meet(ports, tx, rx, i))
		i++;
	return i == ports->count;
}

/* Cover all pairs at the present ports by the circuits of the matchings of a list. */
static int cover(struct ports *ports, struct list list)
{
	struct exact *exact = ports->exact;
	uint32_t i, j, end;
	const uint8_t *partner;
	int result;

	if (!lm_exact_spend(ports, list.count))
		return EXACT_UNDECIDED;
	result = lm_exact_clear(exact, &exact->candidates, (exact->cover.pairs + 63) / 64);
	for (i = 0; i < list.count && !result; i++) {
		partner = exact_partners(exact, ports->live[list.first + i]);
		for (j = 0; j < ports->count; j++) {
			end = partner[ports->tx[j]];
			exact->reached[j] = end == EXACT_ALONE || ports->owner[end] == EXACT_ALONE ?
						    MESH_NONE :
						    ports->owner[end];
		}
		result = lm_exact_add_reached(exact, ports->live[list.first + i], 0);
	}
	return result ? result : lm_exact_cover_briefly(exact, exact->rounds->rounds);
}

/* Give the next endpoint two ports, or one port for pairs, then the later endpoints. */
static int place(struct ports *ports, struct list list, uint32_t tx, uint32_t rx)
{
	const uint32_t before = ports->used;
	int result = EXACT_REFUTED, joins;
	struct list kept = { 0 };

	if (!fits(ports, tx, rx))
		return EXACT_REFUTED;
	ports->tx[ports->count] = tx;
	ports->rx[ports->count] = rx;
	ports->owner[rx] = (uint8_t)ports->count;
	ports->rx_of[tx] = (uint8_t)rx;
	ports->used |= 1u << tx | 1u << rx;
	ports->count++;
	if (is_first_image(ports)) {
		if (!lm_exact_spend(ports, count_visits(ports, list)))
			return EXACT_UNDECIDED;
		joins = keep_rounds(ports, list, &kept);
		result = joins > 0 ? extend(ports, kept) : joins < 0 ? joins : EXACT_REFUTED;
	}
	if (result == EXACT_FOUND)
		return result;
	ports->count--;
	ports->used = before;
	ports->owner[rx] = EXACT_ALONE;
	ports->rx_of[tx] = EXACT_ALONE;
	return result;
}

/* Try all ports of the next endpoint. Endpoints are in the order of their transmit ports. */
static int extend(struct ports *ports, struct list list)
{
	uint32_t tx = ports->count ? ports->tx[ports->count - 1] + 1 : 0, rx;
	int result = EXACT_REFUTED;

	if (ports->count == ports->endpoints) {
		ports->complete = true;
		return ports->first ? EXACT_FOUND : cover(ports, list);
	}
	for (; tx < ports->ends && result == EXACT_REFUTED; tx++) {
		if (ports->used >> tx & 1)
			continue;
		if (ports->kind == MORPH_MATCHINGS_PAIRS) {
			result = place(ports, list, tx, tx);
			continue;
		}
		for (rx = 0; rx < ports->ends && result == EXACT_REFUTED; rx++) {
			if (rx != tx && !(ports->used >> rx & 1))
				result = place(ports, list, tx, rx);
		}
	}
	return result;
}

/* ------------------------------------------------------------------ the search */

/* Try all ports. @most_idle: as ports->most_idle. */
static int try_all(struct ports *ports, uint32_t most_idle)
{
	struct exact *exact = ports->exact;
	struct list all = { 0, exact->matchings.count };
	int error = lm_exact_reserve_part(ports, all);
	uint32_t i;

	if (error)
		return error;
	for (i = 0; i < all.count; i++)
		ports->live[i] = i;
	memset(ports->owner, EXACT_ALONE, sizeof(ports->owner));
	memset(ports->rx_of, EXACT_ALONE, sizeof(ports->rx_of));
	ports->most_idle = most_idle;
	ports->used = 0;
	ports->count = 0;
	ports->receivers = 0;
	ports->missed = 0;
	return ports->kind == MORPH_MATCHINGS_DIRECTED ? lm_exact_send(ports, all, 0) :
							 extend(ports, all);
}

static void begin_ports(struct ports *ports, struct exact *exact)
{
	memset(ports, 0, sizeof(*ports));
	ports->exact = exact;
	ports->ends = exact->rounds->mesh.ends;
	ports->endpoints = exact->rounds->endpoints;
	ports->kind = exact->rounds->kind;
	set_joined(ports);
	find_symmetries(ports);
}

/* Whether no ports have routes for all pairs, with any rounds. */
static bool is_separated(struct ports *ports)
{
	ports->first = true;
	return try_all(ports, ports->endpoints) == EXACT_REFUTED;
}

/* The endpoints that can lack a circuit in a round, if the other rounds have all others. */
static uint32_t count_idle(const struct exact *exact)
{
	const struct exact_cover *cover = &exact->cover;
	uint32_t slack = exact->rounds->rounds * cover->full - cover->pairs;
	uint32_t least = cover->full > slack ? cover->full - slack : 0;

	return exact->rounds->endpoints -
	       (exact->rounds->kind == MORPH_MATCHINGS_DIRECTED ? least : 2 * least);
}

/* List the matchings of all ports for a search. EXACT_UNDECIDED if it does not apply. */
static int begin_search(struct ports *ports, struct exact *exact)
{
	int error;

	if (exact->rounds->mesh.ends > EXACT_MOST_ENDS || exact->steps <= exact->settings)
		return EXACT_UNDECIDED;
	exact->steps -= exact->settings;
	error = lm_exact_list_matchings(exact);
	if (error < 0)
		return error;
	begin_ports(ports, exact);
	return EXACT_FOUND;
}

static void keep_ports(const struct ports *ports)
{
	struct rounds *rounds = ports->exact->rounds;

	memcpy(rounds->tx, ports->tx, rounds->endpoints * sizeof(*rounds->tx));
	memcpy(rounds->rx, ports->rx, rounds->endpoints * sizeof(*rounds->rx));
}

int lm_exact_choose_any(struct exact *exact)
{
	struct ports ports;
	uint64_t reserve;
	int result = begin_search(&ports, exact);

	if (result != EXACT_FOUND)
		return result;
	/* Another search uses what is left of the budget. */
	reserve = exact->steps - exact->steps / exact->share;
	exact->steps -= reserve;
	result = try_all(&ports, count_idle(exact));
	if (result == EXACT_REFUTED && !ports.complete)
		exact->separated = is_separated(&ports);
	exact->steps += reserve;
	if (result == EXACT_FOUND)
		keep_ports(&ports);
	return result;
}

int lm_exact_choose_joined(struct exact *exact)
{
	struct ports ports;
	int result = begin_search(&ports, exact);

	if (result != EXACT_FOUND)
		return result;
	ports.first = true;
	result = try_all(&ports, ports.endpoints);
	if (result == EXACT_FOUND)
		keep_ports(&ports);
	return result;
}

void lm_exact_find_separated(struct exact *exact)
{
	struct ports ports;

	begin_ports(&ports, exact);
	exact->separated = is_separated(&ports);
}
