// SPDX-License-Identifier: LGPL-2.1-or-later
/* Servers, racks and the fibres between servers, found in a fabric's graph. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../place/net.h"
#include "sites.h"

#define LOOK_STEPS 256 /* limit of guides visited from the end of a fibre */

/* ------------------------------------------------------------------ members */

static int find_members(struct sites *sites)
{
	const struct optics_graph *graph = sites->graph;
	u32 *next;

	sites->members_first = calloc(graph->hosts_count + 1, sizeof(u32));
	sites->members = calloc(graph->accelerators_count + 1, sizeof(u32));
	next = calloc(graph->hosts_count + 1, sizeof(u32));
	if (!sites->members_first || !sites->members || !next) {
		free(next);
		return -ENOMEM;
	}
	for (u32 at = 0; at < graph->accelerators_count; at++)
		sites->members_first[graph->accelerators[at].host + 1]++;
	for (u32 host = 0; host < graph->hosts_count; host++)
		sites->members_first[host + 1] += sites->members_first[host];
	memcpy(next, sites->members_first, graph->hosts_count * sizeof(u32));
	for (u32 at = 0; at < graph->accelerators_count; at++)
		sites->members[next[graph->accelerators[at].host]++] = at;
	free(next);
	return 0;
}

/* ------------------------------------------------------------------ strands */

/* The ends that light reaches from a port of an element, or comes from: bits of END_. */
struct look {
	const struct optics_graph *graph;
	u32 steps;
	bool tx, rx;
};

/*
 * Light can pass an element in both directions, but in most fabrics only transmitters or only
 * receivers are behind a fibre. Depth-first search until both are found or the limit is reached.
 */
static void look_behind(struct look *look, u32 element, u32 port)
{
	const struct optics_graph *graph = look->graph;
	const struct optics_kind *kind = &graph->kinds[graph->elements[element].kind];

	for (u32 out = 0; out < kind->ports && !(look->tx && look->rx) && look->steps; out++) {
		const struct optics_end *end;
		u32 code;

		if (!(kind->leaks[port] >> out & 1))
			continue;
		code = graph->port_guide[graph->elements[element].first_port + out];
		if (code == OPTICS_NONE)
			continue;
		look->steps--;
		end = &graph->guides[code >> 1].end[!(code & 1)];
		if (end->type == MORPH_END_TX)
			look->tx = true;
		else if (end->type == MORPH_END_RX)
			look->rx = true;
		else if (end->type == MORPH_END_ELEMENT &&
			 graph->guides[code >> 1].class == MORPH_GUIDE_WAVEGUIDE)
			look_behind(look, end->index, end->port);
	}
}

static struct look look_from(const struct optics_graph *graph, const struct optics_end *end)
{
	struct look look = { .graph = graph, .steps = LOOK_STEPS };

	look_behind(&look, end->index, end->port);
	return look;
}

static bool on_tile(const struct optics_graph *graph, const struct optics_end *end)
{
	return end->type == MORPH_END_ELEMENT && graph->elements[end->index].tile != OPTICS_NONE;
}

static int add_strand(struct sites *sites, u32 *room, const struct strand *strand)
{
	if (sites->strands_count == *room) {
		u32 more = *room ? *room * 2 : 256;
		struct strand *strands =
			reallocarray(sites->strands, more, sizeof(*sites->strands));

		if (!strands)
			return -ENOMEM;
		sites->strands = strands;
		*room = more;
	}
	sites->strands[sites->strands_count++] = *strand;
	return 0;
}

/* Continue along the fibre @code, over circuit switches, to every tile that it leads to. */
static int follow(struct sites *sites, u32 *room, struct strand *strand, u32 code)
{
	const struct optics_graph *graph = sites->graph;
	const struct optics_end *end = &graph->guides[code >> 1].end[!(code & 1)];
	u32 at = strand->guides_count, states;
	int ret = 0;

	strand->guides[strand->guides_count++] = code;
	if (on_tile(graph, end)) {
		strand->to_tile = graph->elements[end->index].tile;
		strand->to = graph->accelerators[strand->to_tile].host;
		if (strand->to != strand->from && look_from(graph, end).rx)
			ret = add_strand(sites, room, strand);
	} else if (end->type == MORPH_END_ELEMENT && strand->guides_count < STRAND_GUIDES) {
		states = graph->kinds[graph->elements[end->index].kind].states;
		strand->elements[at] = end->index;
		for (u32 state = 0; state < states && !ret; state++) {
			u8 out = optics_joined(graph, end->index, state, end->port);
			u32 next =
				out == MORPH_PORT_NONE ?
					OPTICS_NONE :
					graph->port_guide[graph->elements[end->index].first_port +
							  out];

			strand->states[at] = state;
			if (next != OPTICS_NONE)
				ret = follow(sites, room, strand, next);
		}
	}
	strand->guides_count--;
	return ret;
}

static int by_ends(const void *a, const void *b)
{
	const struct strand *one = a, *other = b;

	if (one->from != other->from)
		return one->from < other->from ? -1 : 1;
	if (one->to != other->to)
		return one->to < other->to ? -1 : 1;
	return one->guides[0] < other->guides[0] ? -1 : one->guides[0] > other->guides[0];
}

static int find_strands(struct sites *sites)
{
	const struct optics_graph *graph = sites->graph;
	u32 room = 0;
	int ret = 0;

	for (u32 code = 0; code < 2 * graph->guides_count && !ret; code++) {
		const struct optics_guide *guide = &graph->guides[code >> 1];
		const struct optics_end *end = &guide->end[code & 1];
		struct strand strand = { 0 };

		if (guide->class != MORPH_GUIDE_FIBRE || !on_tile(graph, end) ||
		    !look_from(graph, end).tx)
			continue;
		strand.from_tile = graph->elements[end->index].tile;
		strand.from = graph->accelerators[strand.from_tile].host;
		ret = follow(sites, &room, &strand, code);
	}
	sites->strands_first = calloc(graph->hosts_count + 1, sizeof(u32));
	if (ret || !sites->strands_first)
		return -ENOMEM;
	if (sites->strands_count)
		qsort(sites->strands, sites->strands_count, sizeof(*sites->strands), by_ends);
	for (u32 at = 0; at < sites->strands_count; at++)
		sites->strands_first[sites->strands[at].from + 1]++;
	for (u32 host = 0; host < graph->hosts_count; host++)
		sites->strands_first[host + 1] += sites->strands_first[host];
	return 0;
}

/* -------------------------------------------------------------------- racks */

/* The rack of @host: all servers that single fibres connect, in either direction. */
static void spread(struct sites *sites, u32 first, u32 rack)
{
	u32 *queue = sites->rack_hosts, head = sites->racks[rack].hosts_first, tail = head;

	queue[tail++] = first;
	sites->host_rack[first] = rack;
	for (; head < tail; head++) {
		/* Between two servers with fibres, fibres lead in both directions. */
		for (u32 at = sites->strands_first[queue[head]];
		     at < sites->strands_first[queue[head] + 1]; at++) {
			u32 to = sites->strands[at].to;

			if (sites->strands[at].guides_count > 1 ||
			    sites->host_rack[to] != OPTICS_NONE)
				continue;
			sites->host_rack[to] = rack;
			queue[tail++] = to;
		}
	}
	sites->racks[rack].hosts_count = tail - sites->racks[rack].hosts_first;
}

static int by_number(const void *a, const void *b)
{
	const u32 *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

static int find_racks(struct sites *sites)
{
	u32 hosts = sites->graph->hosts_count, placed = 0;

	sites->racks = calloc(hosts + 1, sizeof(*sites->racks));
	sites->rack_hosts = calloc(hosts + 1, sizeof(u32));
	sites->host_rack = calloc(hosts + 1, sizeof(u32));
	sites->host_seat = calloc(hosts + 1, sizeof(u32));
	if (!sites->racks || !sites->rack_hosts || !sites->host_rack || !sites->host_seat)
		return -ENOMEM;
	for (u32 host = 0; host < hosts; host++)
		sites->host_rack[host] = OPTICS_NONE;
	for (u32 host = 0; host < hosts; host++) {
		struct rack *rack = &sites->racks[sites->racks_count];

		if (sites->host_rack[host] != OPTICS_NONE)
			continue;
		rack->hosts_first = placed;
		spread(sites, host, sites->racks_count++);
		placed += rack->hosts_count;
		if (rack->hosts_count > NET_SITES)
			return -E2BIG;
		qsort(&sites->rack_hosts[rack->hosts_first], rack->hosts_count, sizeof(u32),
		      by_number);
		for (u32 seat = 0; seat < rack->hosts_count; seat++)
			sites->host_seat[sites->rack_hosts[rack->hosts_first + seat]] = seat;
	}
	return 0;
}

/* --------------------------------------------------------------------- cells */

/* First cell and extents of the box that the accelerators of a rack fill, without spares. */
static u32 measure_rack(struct sites *sites, u32 rack, u32 corner[3])
{
	const struct optics_graph *graph = sites->graph;
	struct rack *it = &sites->racks[rack];
	u32 far[3] = { 0 }, count = 0;

	corner[0] = corner[1] = corner[2] = UINT32_MAX;
	for (u32 seat = 0; seat < it->hosts_count; seat++) {
		u32 host = sites->rack_hosts[it->hosts_first + seat];

		for (u32 at = sites->members_first[host]; at < sites->members_first[host + 1];
		     at++) {
			const struct optics_accelerator *chip =
				&graph->accelerators[sites->members[at]];
			const u32 place[3] = { chip->x, chip->y, chip->z };

			if (sites_spare(sites, sites->members[at]))
				continue;
			count++;
			for (u32 axis = 0; axis < 3; axis++) {
				if (place[axis] < corner[axis])
					corner[axis] = place[axis];
				if (place[axis] + 1 > far[axis])
					far[axis] = place[axis] + 1;
			}
		}
	}
	for (u32 axis = 0; axis < 3; axis++)
		it->extent[axis] = count ? far[axis] - corner[axis] : 0;
	return count;
}

/* Give every accelerator of a rack its cell. Returns whether no two share one. */
static bool fill_grid(struct sites *sites, u32 rack, u32 *grid, const u32 corner[3])
{
	const struct rack *it = &sites->racks[rack];

	for (u32 seat = 0; seat < it->hosts_count; seat++) {
		u32 host = sites->rack_hosts[it->hosts_first + seat];

		for (u32 at = sites->members_first[host]; at < sites->members_first[host + 1];
		     at++) {
			u32 chip = sites->members[at], *place;
			const struct optics_accelerator *it_is = &sites->graph->accelerators[chip];
			struct cell cell = {
				.x = (u8)(it_is->x - corner[0]),
				.y = (u8)(it_is->y - corner[1]),
				.z = (u8)(it_is->z - corner[2]),
			};

			if (sites_spare(sites, chip))
				continue;
			place = &grid[(cell.z * it->extent[1] + cell.y) * it->extent[0] + cell.x];
			if (*place != OPTICS_NONE)
				return false;
			*place = chip;
			sites->cells[chip] = cell;
		}
	}
	return true;
}

static int find_cells(struct sites *sites)
{
	u32 room = 0;

	sites->grid_first = calloc(sites->racks_count + 1, sizeof(u32));
	sites->cells = calloc(sites->graph->accelerators_count + 1, sizeof(*sites->cells));
	sites->grid = malloc(((size_t)sites->graph->accelerators_count + 1) * sizeof(u32));
	if (!sites->grid_first || !sites->cells || !sites->grid)
		return -ENOMEM;
	memset(sites->grid, 0xff, ((size_t)sites->graph->accelerators_count + 1) * sizeof(u32));
	for (u32 rack = 0; rack < sites->racks_count; rack++) {
		u32 *extent = sites->racks[rack].extent;
		u32 corner[3], count = measure_rack(sites, rack, corner);

		if (count > RACK_ACCELERATORS)
			return -E2BIG;
		sites->grid_first[rack] = room;
		/* A box with holes is not a torus, so the rack has no contiguous tier. */
		if ((u64)extent[0] * extent[1] * extent[2] != count ||
		    !fill_grid(sites, rack, &sites->grid[room], corner))
			memset(extent, 0, 3 * sizeof(*extent));
		room += count;
	}
	return 0;
}

int lm_sites_build(struct sites *sites, const struct optics_graph *graph)
{
	int ret;

	memset(sites, 0, sizeof(*sites));
	sites->graph = graph;
	ret = find_members(sites);
	if (!ret)
		ret = find_strands(sites);
	if (!ret)
		ret = find_racks(sites);
	if (!ret)
		ret = find_cells(sites);
	if (ret)
		lm_sites_free(sites);
	return ret;
}

void lm_sites_free(struct sites *sites)
{
	free(sites->racks);
	free(sites->rack_hosts);
	free(sites->host_rack);
	free(sites->host_seat);
	free(sites->members_first);
	free(sites->members);
	free(sites->cells);
	free(sites->grid_first);
	free(sites->grid);
	free(sites->strands_first);
	free(sites->strands);
	memset(sites, 0, sizeof(*sites));
}

struct strand_range lm_strands_between(const struct sites *sites, u32 from, u32 to)
{
	u32 low = sites->strands_first[from], high = sites->strands_first[from + 1], end = high;
	struct strand_range range;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (sites->strands[middle].to < to)
			low = middle + 1;
		else
			high = middle;
	}
	range.first = low;
	for (range.end = low; range.end < end && sites->strands[range.end].to == to;)
		range.end++;
	return range;
}
