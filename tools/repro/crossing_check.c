// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Check a plan of slices across racks: servers, paths hop by hop against the geometry, and no link
 * twice. Assign a number to every link of a face, because a circuit switch joins only links with
 * the same number. This is the colouring of a bipartite graph, for which its degree is enough
 * (Konig, 1916), by alternating paths.
 */
#include <string.h>

#include "crossing.h"

#define DIMENSIONS 3
#define NOBODY UINT16_MAX

struct check {
	const struct racks *racks;
	uint8_t inside[RACKS][RACK_SITES][RACK_SITES]; /* links in use between servers of a rack */
	/*
	 * By dimension, server of a face and link of a server: the rack on the other end of plus
	 * and minus.
	 */
	uint16_t plus[DIMENSIONS][8][RACKS][4], minus[DIMENSIONS][8][RACKS][4];
};

static uint32_t axis_of(uint32_t one, uint32_t other)
{
	switch (one ^ other) {
	case 1:
		return 0;
	case 2:
		return 1;
	default:
		return 2;
	}
}

static uint32_t wide(uint32_t axis)
{
	return axis < 2 ? 2 : 4;
}

/* The index of a server in its face. */
static uint32_t place_on_face(uint32_t site, uint32_t axis)
{
	uint32_t x = site & 1, y = site >> 1 & 1, z = site >> 2;

	return axis == 0 ? 2 * z + y : axis == 1 ? 2 * z + x : 2 * y + x;
}

static bool on_face(uint32_t site, uint32_t axis, bool plus)
{
	uint32_t at = axis < 2 ? site >> axis & 1 : site >> 2;

	return at == (plus ? (axis < 2 ? 1 : 3) : 0);
}

/*
 * Find a number that both the plus face's server and the minus face's server have free. If there is
 * none, change the numbers of other links.
 */
static bool join(struct check *check, uint32_t axis, uint32_t place, uint32_t from, uint32_t to)
{
	uint16_t(*plus)[4] = check->plus[axis][place], (*minus)[4] = check->minus[axis][place];
	uint32_t mine = 0, its = 0, number;
	uint16_t next = (uint16_t)to;

	while (mine < wide(axis) && plus[from][mine] != NOBODY)
		mine++;
	while (its < wide(axis) && minus[to][its] != NOBODY)
		its++;
	if (mine == wide(axis) || its == wide(axis))
		return false;
	/* Exchange both numbers along the path of links that begins at the minus face. */
	if (minus[to][mine] != NOBODY) {
		bool at_minus = true;
		uint16_t path[2 * RACKS + 2];
		uint32_t count = 0;

		path[count++] = next;
		for (number = mine; count < 2 * RACKS + 1; number = number == mine ? its : mine) {
			next = at_minus ? minus[next][number] : plus[next][number];
			if (next == NOBODY)
				break;
			path[count++] = next;
			at_minus = !at_minus;
		}
		for (uint32_t pass = 0; pass < 2; pass++) {
			for (uint32_t at = 0; at + 1 < count; at++) {
				uint32_t old = at % 2 ? its : mine, new = at % 2 ? mine : its;
				uint16_t in = path[at % 2 ? at + 1 : at],
					 out = path[at % 2 ? at : at + 1];

				plus[out][pass ? new : old] = pass ? in : NOBODY;
				minus[in][pass ? new : old] = pass ? out : NOBODY;
			}
		}
	}
	plus[from][mine] = (uint16_t)to;
	minus[to][mine] = (uint16_t)from;
	return true;
}

/*
 * Take the links between the servers of present slices, and their wraps from the last server to the
 * first.
 */
static void take_there(struct check *check, const struct racks_slice *slice)
{
	for (uint32_t one = 0; one < RACK_SITES; one++) {
		for (uint32_t axis = 0; axis < DIMENSIONS; axis++) {
			uint32_t above = axis < 2 ? one ^ (1U << axis) : (one + 4) % RACK_SITES;

			if (!(slice->sites >> one & 1) || !(slice->sites >> above & 1))
				continue;
			if (!on_face(one, axis, true))
				check->inside[slice->rack][one][above] = wide(axis);
			else
				for (uint32_t link = 0; link < wide(axis); link++)
					join(check, axis, place_on_face(one, axis), slice->rack,
					     slice->rack);
		}
	}
}

static const char *check_way(struct check *check, const struct cross_pod *pod,
			     const struct cross_way *way, cross_server from, cross_server to)
{
	uint32_t switches = 0;
	cross_server at = from;

	for (uint32_t hop = 0; hop < way->hops; hop++) {
		const struct cross_arc *arc = &pod->arcs[at % CROSS_SEATS][way->arcs[hop]];
		cross_server next = cross_step(pod, at, way->arcs[hop], to);
		uint32_t here = at % CROSS_SEATS, there = next % CROSS_SEATS;
		uint32_t axis = axis_of(here, there);

		if (way->arcs[hop] >= pod->arcs_count[here])
			return "a path uses a link that does not exist";
		if (!arc->face) {
			uint32_t low = here < there ? here : there, high = here + there - low;

			if (at / CROSS_SEATS != next / CROSS_SEATS ||
			    (axis == 2 && high != low + 4) ||
			    ++check->inside[at / CROSS_SEATS][low][high] > wide(axis))
				return "two circuits use one link within a rack";
		} else {
			bool plus = on_face(here, axis, true);

			if (++switches > 1 || !on_face(here, axis, plus) ||
			    !on_face(there, axis, !plus) ||
			    place_on_face(here, axis) != place_on_face(there, axis))
				return "a circuit switch cannot join these links";
			if (!join(check, axis, place_on_face(here, axis),
				  (plus ? at : next) / CROSS_SEATS,
				  (plus ? next : at) / CROSS_SEATS))
				return "two circuits use one link of a face";
		}
		at = next;
	}
	return at == to ? NULL : "a path does not end at its server";
}

static const char *check_servers(const struct check *check, const struct cross_found *found)
{
	uint32_t seen[RACKS] = { 0 };

	for (uint32_t slot = 0; slot < found->slices * CROSSING_SLOTS; slot++) {
		uint32_t rack = found->servers[slot] / CROSS_SEATS;
		uint32_t bit = 1U << found->servers[slot] % CROSS_SEATS;

		if (rack >= RACKS || seen[rack] & bit || !(racks_free(check->racks, rack) & bit))
			return "two ranks share a server, or the server is not free";
		seen[rack] |= bit;
	}
	return NULL;
}

/* Check that the links of the plan fit together: each number of a face's link has one partner. */
static const char *check_numbers(const struct check *check)
{
	for (uint32_t at = 0; at < DIMENSIONS * 8 * RACKS * 4; at++) {
		uint32_t axis = at / (8 * RACKS * 4), place = at / (RACKS * 4) % 8;
		uint32_t rack = at / 4 % RACKS, link = at % 4;
		uint16_t to = check->plus[axis][place][rack][link];
		uint16_t from = check->minus[axis][place][rack][link];

		if ((to != NOBODY && check->minus[axis][place][to][link] != rack) ||
		    (from != NOBODY && check->plus[axis][place][from][link] != rack))
			return "a switch joins links with different numbers";
	}
	return NULL;
}

const char *crossing_check(const struct racks *racks, const struct cross_found *found)
{
	static struct check check;
	static struct cross_pod pod;
	const char *wrong;

	memset(&check, 0, sizeof(check));
	memset(check.plus, 0xff, sizeof(check.plus));
	memset(check.minus, 0xff, sizeof(check.minus));
	check.racks = racks;
	crossing_pod(racks, &pod);
	wrong = check_servers(&check, found);
	for (uint32_t at = 0; at < racks->slices_count; at++)
		if (!racks->slices[at].gone)
			take_there(&check, &racks->slices[at]);
	for (uint32_t at = 0; !wrong && at < found->slices * CROSSING_LINKS; at++) {
		const cross_server *slots = &found->servers[at / CROSSING_LINKS * CROSSING_SLOTS];
		const uint8_t *edge = crossing_edges[at % CROSSING_LINKS / CROSSING_WIDE];

		wrong = check_way(&check, &pod, &found->ways[at], slots[edge[0]], slots[edge[1]]);
	}
	return wrong ? wrong : check_numbers(&check);
}
