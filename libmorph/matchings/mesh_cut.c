// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lower bounds of the number of rounds by cuts.
 *
 * A set of elements has a border: the guides between an element inside and one outside. A circuit
 * with one port inside and one outside passes the border. A guide ends at one port of an element on
 * each side, and a state joins that port to one other port. So a guide carries one circuit in a
 * round, whatever its direction. The circuits across, divided by the guides, are a lower bound.
 *
 * Both circuits of a duplex pair are in one round. If both pass the border, they take two guides
 * there, and an odd number of guides leaves one idle. So the pairs, divided by half the guides, are
 * a second bound, which no fractional flow gives.
 *
 * Guides of failed elements carry nothing and do not count.
 */
#include <morph/matchings.h>

#include "mesh_cut.h"

#define SIDE_TX 1u
#define SIDE_RX 2u

#define MOST_PASSES 8 /* over all elements, which move single ones over the border */

/* ------------------------------------------------------------------ the present set */

/* Whether some state joins the port of an arc. */
static bool is_joined(const struct mesh *mesh, uint32_t arc)
{
	return mesh->turn_first[arc] < mesh->turn_first[arc + 1];
}

/* Whether a circuit passes the border of the present set. */
static bool is_crossing(const struct mesh_cut *cut, uint32_t src, uint32_t dst)
{
	return !!(cut->sides[src] & SIDE_TX) != !!(cut->sides[dst] & SIDE_RX);
}

/* An endpoint's port changes the side. */
static void move_port(struct mesh_cut *cut, uint32_t port)
{
	uint32_t endpoint = port >> 2, moved = port & 3, src;

	cut->with[cut->sides[endpoint]]--;
	cut->sides[endpoint] ^= moved;
	cut->with[cut->sides[endpoint]]++;
	if (!cut->targets)
		return;
	/* The circuit of this port passed the border before if it does not now. */
	src = moved == SIDE_TX ? endpoint : cut->sender[endpoint];
	if (is_crossing(cut, src, cut->targets[src]))
		cut->crossing++;
	else
		cut->crossing--;
}

/* Put an element into the present set, or take it out. O(its ports). */
static void move_element(struct mesh_cut *cut, uint32_t element)
{
	const struct mesh *mesh = cut->mesh;
	uint32_t arc, next, other, i;

	cut->inside[element] ^= 1;
	for (arc = mesh->arc_first[element]; arc < mesh->arc_first[element + 1]; arc++) {
		next = mesh->next[arc];
		if (next >= MESH_END || !is_joined(mesh, arc) || !is_joined(mesh, next))
			continue;
		other = mesh->element[next];
		if (other == element)
			continue;
		if (cut->inside[other] == cut->inside[element])
			cut->guides--;
		else
			cut->guides++;
	}
	for (i = cut->port_first[element]; i < cut->port_first[element + 1]; i++)
		move_port(cut, cut->port[i]);
}

static void clear(struct mesh_cut *cut)
{
	memset(cut->inside, 0, cut->mesh->elements);
	memset(cut->sides, 0, cut->endpoints);
	memset(cut->with, 0, sizeof(cut->with));
	cut->with[0] = cut->endpoints;
	cut->guides = 0;
	cut->crossing = 0;
}

static uint64_t count_pairs(uint64_t count)
{
	return count * (count - !!count) / 2;
}

/* What the present set proves. O(1). */
static struct mesh_cut_quotient measure(const struct mesh_cut *cut)
{
	uint64_t outside = cut->with[0], tx_inside = cut->with[SIDE_TX];
	uint64_t rx_inside = cut->with[SIDE_RX], inside = cut->with[SIDE_TX | SIDE_RX], one, two;
	struct mesh_cut_quotient found = { .carries = cut->guides };

	if (cut->targets) {
		found.needs = cut->crossing;
		return found;
	}
	if (cut->kind == MORPH_MATCHINGS_PAIRS) {
		found.needs = inside * outside;
		return found;
	}
	/* Pairs of which one circuit passes the border, and pairs of which two do. */
	one = (inside + outside) * (tx_inside + rx_inside);
	two = inside * outside + count_pairs(tx_inside) + count_pairs(rx_inside);
	found.needs = one + 2 * two;
	if (cut->kind == MORPH_MATCHINGS_DUPLEX &&
	    two * found.carries > found.needs * (found.carries / 2)) {
		found.needs = two;
		found.carries /= 2;
	}
	return found;
}

static bool is_better(const struct mesh_cut_quotient *one, const struct mesh_cut_quotient *other)
{
	return one->needs * other->carries > other->needs * one->carries;
}

/* ------------------------------------------------------------------ ports */

/* The element at which light of an endpoint enters, or leaves. MESH_NONE: no circuit needs it. */
static uint32_t port_element(const struct mesh_cut *cut, uint32_t endpoint, uint32_t side)
{
	const struct mesh *mesh = cut->mesh;
	uint32_t arc;

	if (side == SIDE_RX) {
		if (cut->targets && cut->sender[endpoint] == MORPH_ANY)
			return MESH_NONE;
		return cut->leaves[cut->rx[endpoint]];
	}
	if (cut->targets && cut->targets[endpoint] == MORPH_ANY)
		return MESH_NONE;
	arc = mesh->enter[cut->tx[endpoint]];
	return arc == MESH_NONE ? MESH_NONE : mesh->element[arc];
}

/* Set whose circuit each endpoint receives. O(endpoints). */
static void set_senders(struct mesh_cut *cut)
{
	uint32_t src;

	memset(cut->sender, 0xff, cut->endpoints * sizeof(*cut->sender));
	for (src = 0; src < cut->endpoints && cut->targets; src++) {
		if (cut->targets[src] != MORPH_ANY)
			cut->sender[cut->targets[src]] = src;
	}
}

/* Count the ports at each element, or list them from port_first on, which moves to their end. */
static void scan_ports(struct mesh_cut *cut, bool list)
{
	bool pairs = cut->kind == MORPH_MATCHINGS_PAIRS;
	uint32_t endpoint, side, element;

	for (endpoint = 0; endpoint < cut->endpoints; endpoint++) {
		for (side = SIDE_TX; side <= (pairs ? SIDE_TX : SIDE_RX); side++) {
			element = port_element(cut, endpoint, side);
			if (element == MESH_NONE)
				continue;
			if (list)
				cut->port[cut->port_first[element + 1]] =
					endpoint << 2 | (pairs ? SIDE_TX | SIDE_RX : side);
			cut->port_first[element + 1]++;
		}
	}
}

/* List the ports of endpoints by their elements. O(arcs + endpoints). */
static void list_ports(struct mesh_cut *cut)
{
	const struct mesh *mesh = cut->mesh;
	uint32_t arc, element, first = 0, count;

	set_senders(cut);
	memset(cut->leaves, 0xff, mesh->ends * sizeof(*cut->leaves));
	for (arc = 0; arc < mesh->arcs; arc++) {
		if (mesh->next[arc] != MESH_NONE && mesh->next[arc] & MESH_END)
			cut->leaves[mesh->next[arc] & ~MESH_END] = mesh->element[arc];
	}
	memset(cut->port_first, 0, (mesh->elements + 1) * sizeof(*cut->port_first));
	scan_ports(cut, false);
	for (element = 0; element < mesh->elements; element++) {
		count = cut->port_first[element + 1];
		cut->port_first[element + 1] = first;
		first += count;
	}
	scan_ports(cut, true);
}

/* ------------------------------------------------------------------ sweeps */

/* The least number of elements from an element to a port, or MESH_FAR. */
static uint32_t element_distance(const struct mesh_cut *cut, uint32_t element, uint32_t column)
{
	const uint16_t *togo = cut->togo + (size_t)column * cut->mesh->arcs;
	uint32_t arc, least = MESH_FAR;

	for (arc = cut->mesh->arc_first[element]; arc < cut->mesh->arc_first[element + 1]; arc++)
		least = togo[arc] < least ? togo[arc] : least;
	return least;
}

/*
 * Order the elements that light of a port reaches by the distance to it, less the distance to
 * another port if @other is not MESH_NONE. Returns their number. O(arcs).
 */
static uint32_t order_elements(struct mesh_cut *cut, uint32_t column, uint32_t other)
{
	uint32_t keys = 2 * cut->mesh->arcs + 1, middle = cut->mesh->arcs, element, key, sum = 0;
	uint32_t near, far, least = keys, last = 0;

	for (element = 0; element < cut->mesh->elements; element++) {
		near = element_distance(cut, element, column);
		far = other == MESH_NONE ? 0 : element_distance(cut, element, other);
		cut->key[element] = near == MESH_FAR || far == MESH_FAR ? MESH_NONE :
									  middle + near - far;
		if (cut->key[element] == MESH_NONE)
			continue;
		least = cut->key[element] < least ? cut->key[element] : least;
		last = cut->key[element] > last ? cut->key[element] : last;
	}
	if (least == keys)
		return 0;
	memset(&cut->count[least], 0, (last - least + 1) * sizeof(*cut->count));
	for (element = 0; element < cut->mesh->elements; element++) {
		if (cut->key[element] != MESH_NONE)
			cut->count[cut->key[element]]++;
	}
	for (key = least; key <= last; key++) {
		sum += cut->count[key];
		cut->count[key] = sum - cut->count[key];
	}
	for (element = 0; element < cut->mesh->elements; element++) {
		if (cut->key[element] != MESH_NONE)
			cut->order[cut->count[cut->key[element]]++] = element;
	}
	return sum;
}

/* Add one element after the other to an empty set, and keep the best set. O(arcs). */
static void sweep(struct mesh_cut *cut, uint32_t column, uint32_t other)
{
	uint32_t count = order_elements(cut, column, other), best = 0, i;
	struct mesh_cut_quotient found;

	clear(cut);
	for (i = 0; i < count; i++) {
		move_element(cut, cut->order[i]);
		found = measure(cut);
		if (!is_better(&found, &cut->most))
			continue;
		cut->most = found;
		best = i + 1;
	}
	if (!best)
		return;
	memcpy(cut->best, cut->order, best * sizeof(*cut->best));
	cut->best_count = best;
}

/* Move an element of the present set or to it, if this makes the bound larger. Whether it did. */
static bool improve_element(struct mesh_cut *cut, uint32_t element)
{
	struct mesh_cut_quotient found;

	move_element(cut, element);
	found = measure(cut);
	if (is_better(&found, &cut->most)) {
		cut->most = found;
		return true;
	}
	move_element(cut, element);
	return false;
}

/* Move single elements over the border of the best set, as long as the bound becomes larger. */
static void improve(struct mesh_cut *cut)
{
	uint32_t pass, element, i;
	bool improved = true;

	clear(cut);
	for (i = 0; i < cut->best_count; i++)
		move_element(cut, cut->best[i]);
	for (pass = 0; pass < MOST_PASSES && improved; pass++) {
		improved = false;
		for (element = 0; element < cut->mesh->elements; element++)
			improved |= improve_element(cut, element);
	}
	cut->best_count = 0;
	for (element = 0; element < cut->mesh->elements; element++) {
		if (cut->inside[element])
			cut->best[cut->best_count++] = element;
	}
}

/* The column of distances to the receive port of an endpoint, or MESH_NONE without such a port. */
static uint32_t find_column(const struct mesh_cut *cut, uint32_t endpoint)
{
	return cut->rx[endpoint] == MORPH_ANY ? MESH_NONE : cut->togo_of[cut->rx[endpoint]];
}

void lm_mesh_cut_search(struct mesh_cut *cut, uint64_t work)
{
	uint32_t n = cut->endpoints, step, offset, i, one, other;
	uint64_t sweeps = work / (cut->mesh->arcs + 1);

	cut->best_count = 0;
	cut->most = (struct mesh_cut_quotient){ .carries = 1 };
	list_ports(cut);
	/* One endpoint alone, then two: first those on opposite sides of the rim. */
	for (step = 0; step <= n / 2; step++) {
		offset = step ? n / 2 + 1 - step : 0;
		for (i = 0; i < n && sweeps; i++) {
			one = find_column(cut, i);
			other = offset ? find_column(cut, (i + offset) % n) : MESH_NONE;
			if (one == MESH_NONE || (offset && other == MESH_NONE))
				continue;
			sweep(cut, one, other);
			sweeps--;
		}
	}
	if (cut->best_count)
		improve(cut);
}

bool lm_mesh_cut_pair(const struct mesh_cut *cut, uint32_t *src, uint32_t *dst)
{
	for (*src = 0; *src < cut->endpoints; ++*src) {
		for (*dst = *src + 1; *dst < cut->endpoints; ++*dst) {
			if (is_crossing(cut, *src, *dst) && is_crossing(cut, *dst, *src))
				return true;
		}
	}
	return false;
}
