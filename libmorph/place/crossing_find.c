// SPDX-License-Identifier: LGPL-2.1-or-later
/* The racks of a fabric as a pod: the faces of racks, and the free links. */
#include <stdlib.h>
#include <string.h>

#include "crossing.h"
#include "gates.h"

/* --------------------------------------------------------------------- faces */

static bool switched(const struct strand *strand)
{
	return strand->guides_count > 1;
}

/*
 * Add a group of links between two positions. Returns its number; CROSS_GROUPS if there are too
 * many.
 */
static uint32_t add_group(struct crossing *crossing, uint32_t from, uint32_t to)
{
	uint32_t group = crossing->pod.groups;

	if (group == CROSS_GROUPS)
		return CROSS_GROUPS;
	crossing->from[group] = (uint8_t)from;
	crossing->to[group] = (uint8_t)to;
	crossing->pod.groups++;
	return group;
}

static bool add_arc(struct crossing *crossing, uint32_t from, uint32_t to, uint32_t group,
		    uint32_t far_group, bool face)
{
	struct cross_pod *pod = &crossing->pod;

	if (group == CROSS_GROUPS || pod->arcs_count[from] == CROSS_ARCS)
		return false;
	pod->arcs[from][pod->arcs_count[from]++] = (struct cross_arc){
		.to = (uint8_t)to,
		.group = (uint8_t)group,
		.far_group = (uint8_t)far_group,
		.face = face,
	};
	return true;
}

static bool is_switched(const struct sites *sites, uint32_t at)
{
	return switched(&sites->strands[at]);
}

/* The number of paths between two hosts that pass switches, or that do not. */
static uint32_t count_strands(const struct sites *sites, uint32_t from, uint32_t to, bool through)
{
	struct strand_range range = lm_strands_between(sites, from, to);
	uint32_t count = 0;

	for (uint32_t at = range.first; at < range.end; at++)
		count += is_switched(sites, at) == through;
	return count;
}

/*
 * Join two positions of the first rack: fibres to neighbours as one group, wraps as a group per
 * link.
 */
static bool join_seats(struct crossing *crossing, const struct sites *sites, uint32_t one,
		       uint32_t other, bool faces)
{
	const uint32_t *hosts = &sites->rack_hosts[sites->racks[0].hosts_first];
	uint32_t there = count_strands(sites, hosts[one], hosts[other], faces);
	uint32_t back = count_strands(sites, hosts[other], hosts[one], faces);
	uint32_t links = there < back ? there : back;

	for (uint32_t link = 0; faces && link < links; link++) {
		uint32_t group = add_group(crossing, one, other);
		uint32_t far = add_group(crossing, other, one);

		if (!add_arc(crossing, one, other, group, far, true) ||
		    !add_arc(crossing, other, one, far, group, true))
			return false;
	}
	if (!faces && links) {
		uint32_t group = add_group(crossing, one, other);

		return add_arc(crossing, one, other, group, 0, false) &&
		       add_arc(crossing, other, one, group, 0, false);
	}
	return true;
}

static bool find_arcs(struct crossing *crossing, const struct sites *sites)
{
	bool fits = true;

	for (uint32_t faces = 0; faces < 2; faces++) {
		crossing->first_face = faces ? crossing->first_face : CROSS_GROUPS;
		if (faces)
			crossing->first_face = crossing->pod.groups;
		for (uint32_t one = 0; one < crossing->pod.seats; one++)
			for (uint32_t other = one + 1; other < crossing->pod.seats; other++)
				fits = fits && join_seats(crossing, sites, one, other, faces);
	}
	fits = fits && crossing->pod.groups > crossing->first_face;
	crossing->first_gate = crossing->pod.groups;
	for (uint32_t seat = 0; seat < crossing->pod.seats; seat++)
		crossing->pod.gates[seat] =
			(uint8_t)((add_group(crossing, seat, seat) + 1) % (CROSS_GROUPS + 1));
	return fits;
}

/*
 * Find the fibres of a rack's faces. Wraps between two positions are numbered in the order of their
 * fibres, so that a number means the same link in every rack.
 */
static void find_fibres(struct crossing *crossing, const struct sites *sites, uint32_t rack)
{
	struct cross_pod *pod = &crossing->pod;
	const uint32_t *hosts = &sites->rack_hosts[sites->racks[rack].hosts_first];

	for (uint32_t group = 0; group < pod->groups; group++)
		crossing->out[rack][group] = crossing->in[rack][group] = OPTICS_NONE;
	for (uint32_t seat = 0; seat < pod->seats; seat++) {
		for (uint32_t number = 0; number < pod->arcs_count[seat]; number++) {
			const struct cross_arc *arc = &pod->arcs[seat][number];
			struct strand_range range;
			uint32_t skip = 0;

			if (!arc->face)
				continue;
			for (uint32_t before = 0; before < number; before++)
				skip += pod->arcs[seat][before].face &&
					pod->arcs[seat][before].to == arc->to;
			range = lm_strands_between(sites, hosts[seat], hosts[arc->to]);
			for (uint32_t at = range.first; at < range.end; at++) {
				const struct strand *strand = &sites->strands[at];

				if (!switched(strand) || skip--)
					continue;
				crossing->out[rack][arc->group] = strand->guides[0];
				crossing->in[rack][arc->far_group] =
					strand->guides[strand->guides_count - 1];
				break;
			}
		}
	}
}

/* Find the racks that each face reaches, by the fibre out of one face and into the other. */
static void find_leads(struct crossing *crossing, const struct sites *sites, uint32_t host)
{
	uint32_t rack = sites->host_rack[host], seat = sites->host_seat[host];
	const struct cross_pod *pod = &crossing->pod;

	for (uint32_t at = sites->strands_first[host]; at < sites->strands_first[host + 1]; at++) {
		const struct strand *strand = &sites->strands[at];
		uint32_t last = sites->host_rack[strand->to];

		for (uint32_t number = 0; switched(strand) && number < pod->arcs_count[seat];
		     number++) {
			const struct cross_arc *arc = &pod->arcs[seat][number];

			if (arc->face && crossing->out[rack][arc->group] == strand->guides[0] &&
			    crossing->in[last][arc->far_group] ==
				    strand->guides[strand->guides_count - 1])
				crossing->leads[rack][arc->group] |= 1ULL << last;
		}
	}
}

/* Links are duplex: keep a lead only if the opposite one exists. */
static void match_lead(struct crossing *crossing, const struct cross_arc *arc, uint32_t rack)
{
	for (uint32_t other = 0; other < crossing->pod.racks; other++)
		if (!(crossing->leads[other][arc->far_group] >> rack & 1))
			crossing->leads[rack][arc->group] &= ~(1ULL << other);
}

static void match_leads(struct crossing *crossing)
{
	const struct cross_pod *pod = &crossing->pod;

	for (uint32_t seat = 0; seat < pod->seats; seat++)
		for (uint32_t number = 0; number < pod->arcs_count[seat]; number++)
			for (uint32_t rack = 0; pod->arcs[seat][number].face && rack < pod->racks;
			     rack++)
				match_lead(crossing, &pod->arcs[seat][number], rack);
}

/* --------------------------------------------------------------------- gates */

struct fibres {
	uint32_t codes[GATE_FIBRES], count;
};

static void add_fibre(struct fibres *fibres, uint32_t code)
{
	if (code != OPTICS_NONE && fibres->count < GATE_FIBRES)
		fibres->codes[fibres->count++] = code;
}

static void add_strands(struct fibres *fibres, const struct sites *sites, uint32_t from,
			uint32_t to)
{
	struct strand_range range = lm_strands_between(sites, from, to);

	for (uint32_t at = range.first; at < range.end; at++)
		if (!is_switched(sites, at))
			add_fibre(fibres, sites->strands[at].guides[0]);
}

/* The fibres into a server, and out of it. */
static void gather(const struct crossing *crossing, const struct sites *sites, uint32_t rack,
		   uint32_t seat, struct fibres *in, struct fibres *out)
{
	const uint32_t *hosts = &sites->rack_hosts[sites->racks[rack].hosts_first];

	in->count = out->count = 0;
	for (uint32_t group = 0; group < crossing->first_gate; group++) {
		uint32_t one = crossing->from[group], other = crossing->to[group];

		if (group >= crossing->first_face && one == seat) {
			add_fibre(out, crossing->out[rack][group]);
			add_fibre(in, crossing->in[rack][group]);
		} else if (group < crossing->first_face && (one == seat || other == seat)) {
			other = one == seat ? other : one;
			add_strands(out, sites, hosts[seat], hosts[other]);
			add_strands(in, sites, hosts[other], hosts[seat]);
		}
	}
}

/* How much light enters and leaves each server. Racks are alike, so measure the first one. */
static int find_limits(struct crossing *crossing, const struct sites *sites)
{
	const uint32_t *hosts = &sites->rack_hosts[sites->racks[0].hosts_first];
	struct fibres in, out;
	struct gate *gates = calloc(2UL * CROSS_SEATS, sizeof(*gates));
	int ret;

	if (!gates)
		return -ENOMEM;
	for (uint32_t seat = 0; seat < crossing->pod.seats; seat++) {
		struct gate *into = &gates[2 * seat], *from = &gates[2 * seat + 1];

		gather(crossing, sites, 0, seat, &in, &out);
		into->host = from->host = hosts[seat];
		into->end_type = MORPH_END_RX;
		from->end_type = MORPH_END_TX;
		into->sources_count = from->sinks_count = in.count;
		into->sinks_count = from->sources_count = out.count;
		memcpy(into->sources, in.codes, sizeof(in.codes));
		memcpy(into->sinks, out.codes, sizeof(out.codes));
		memcpy(from->sinks, in.codes, sizeof(in.codes));
		for (uint32_t at = 0; at < out.count; at++)
			from->sources[at] = out.codes[at] ^ 1;
	}
	ret = lm_gate_limits(sites->graph, gates, 2 * crossing->pod.seats);
	for (uint32_t seat = 0; seat < crossing->pod.seats; seat++)
		crossing->limits[seat] = gates[2 * seat].limit < gates[2 * seat + 1].limit ?
						 gates[2 * seat].limit :
						 gates[2 * seat + 1].limit;
	free(gates);
	return ret;
}

int lm_crossing_find(struct crossing *crossing, const struct sites *sites)
{
	struct cross_pod *pod = &crossing->pod;

	crossing->possible = sites->racks_count > 1 && sites->racks_count <= CROSS_RACKS &&
			     sites->racks[0].hosts_count <= CROSS_SEATS;
	for (uint32_t rack = 1; rack < sites->racks_count && crossing->possible; rack++)
		crossing->possible = sites->racks[rack].hosts_count == sites->racks[0].hosts_count;
	if (!crossing->possible)
		return 0;
	pod->racks = sites->racks_count;
	pod->seats = sites->racks[0].hosts_count;
	crossing->possible = find_arcs(crossing, sites);
	if (!crossing->possible)
		return 0;
	for (uint32_t rack = 0; rack < pod->racks; rack++)
		find_fibres(crossing, sites, rack);
	for (uint32_t host = 0; host < sites->graph->hosts_count; host++)
		find_leads(crossing, sites, host);
	match_leads(crossing);
	return find_limits(crossing, sites);
}

/* ---------------------------------------------------------------------- room */

static bool tile_held(const struct morph_ledger *ledger, uint32_t element)
{
	uint32_t tile = ledger->graph->elements[element].tile;

	return tile != OPTICS_NONE && ledger->owner[tile];
}

static bool fibre_free(const struct morph_ledger *ledger, uint32_t code, bool own)
{
	const struct optics_guide *guide;

	if (code == OPTICS_NONE)
		return false;
	guide = &ledger->graph->guides[code >> 1];
	if (own &&
	    (tile_held(ledger, guide->end[0].index) || tile_held(ledger, guide->end[1].index)))
		return false;
	return !ledger->guide_marked[code >> 1] && !ledger->guide_lanes[code >> 1] &&
	       !ledger->guide_kept[code >> 1] && !ledger->element_marked[guide->end[0].index] &&
	       !ledger->element_marked[guide->end[1].index];
}

static uint32_t free_strands(const struct morph_ledger *ledger, uint32_t from, uint32_t to,
			     bool own)
{
	struct strand_range range = lm_strands_between(&ledger->sites, from, to);
	uint32_t count = 0;

	for (uint32_t at = range.first; at < range.end; at++)
		count += !is_switched(&ledger->sites, at) &&
			 lm_strand_free(ledger, &ledger->sites.strands[at]) &&
			 !(own && !lm_may_touch(ledger, &ledger->sites.strands[at]));
	return count;
}

static uint32_t count_lit(const struct morph_ledger *ledger, const struct fibres *fibres)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < fibres->count; at++)
		count += ledger->guide_lanes[fibres->codes[at] >> 1] != 0;
	return count;
}

/* What remains of a server's limit. */
static uint32_t gate_room(const struct morph_ledger *ledger, const struct crossing *crossing,
			  uint32_t rack, uint32_t seat, bool airy)
{
	uint32_t limit = crossing->limits[seat] * (airy ? 3 : 4) / 4, came, went, lit;
	struct fibres in, out;

	gather(crossing, &ledger->sites, rack, seat, &in, &out);
	came = count_lit(ledger, &in);
	went = count_lit(ledger, &out);
	lit = came > went ? came : went;
	limit = limit < UINT8_MAX ? limit : UINT8_MAX;
	return limit > lit ? limit - lit : 0;
}

static void rack_room(const struct morph_ledger *ledger, uint32_t rack, bool airy,
		      struct crossing *crossing)
{
	const struct sites *sites = &ledger->sites;
	const uint32_t *hosts = &sites->rack_hosts[sites->racks[rack].hosts_first];
	struct cross_pod *pod = &crossing->pod;

	for (uint32_t group = 0; group < pod->groups; group++) {
		uint32_t from = hosts[crossing->from[group]], to = hosts[crossing->to[group]];
		uint32_t there, back;

		if (group >= crossing->first_gate) {
			pod->room[rack][group] = (uint8_t)gate_room(ledger, crossing, rack,
								    crossing->from[group], airy);
			continue;
		}
		if (group >= crossing->first_face) {
			pod->room[rack][group] =
				fibre_free(ledger, crossing->out[rack][group], crossing->own) &&
				fibre_free(ledger, crossing->in[rack][group], crossing->own);
			pod->leads[rack][group] = crossing->leads[rack][group];
			continue;
		}
		there = free_strands(ledger, from, to, crossing->own);
		back = free_strands(ledger, to, from, crossing->own);
		there = there < back ? there : back;
		pod->room[rack][group] = (uint8_t)(there < UINT8_MAX ? there : UINT8_MAX);
	}
}

void lm_crossing_room(const struct morph_ledger *ledger, const struct morph_request *request,
		      uint32_t least, bool airy, struct crossing *crossing)
{
	const struct sites *sites = &ledger->sites;
	struct cross_pod *pod = &crossing->pod;

	crossing->own = request->transit == MORPH_TRANSIT_OWN;
	for (uint32_t rack = 0; rack < pod->racks; rack++) {
		pod->free[rack] = pod->pass[rack] = 0;
		for (uint32_t seat = 0; seat < pod->seats; seat++) {
			uint32_t host = sites->rack_hosts[sites->racks[rack].hosts_first + seat];

			pod->takes[rack * CROSS_SEATS + seat] = ledger->host_free[host];
			if (ledger->host_free[host] >= least)
				pod->free[rack] |= 1U << seat;
			if (!crossing->own || lm_may_cross(ledger, host))
				pod->pass[rack] |= 1U << seat;
		}
		rack_room(ledger, rack, airy, crossing);
	}
}
