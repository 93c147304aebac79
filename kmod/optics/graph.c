// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Check the profile record by record and convert it to arrays. */
#include "internal.h"

#define MAX_MDB	100000	/* 100 dB, beyond any optics */

/* Writable pointers to the arrays of a graph, which are const afterwards. */
struct builder {
	const void *blob;
	const struct morph_profile_header *header;
	struct optics_graph *graph;
	struct optics_kind *kinds;
	struct optics_element *elements;
	u32 *port_guide;
	struct optics_guide *guides;
	struct optics_accelerator *accelerators;
	u32 *tx_guide;
	u32 *rx_guide;
	struct optics_bound bound;
	struct optics_refusal *refusal;
};

/* Sizes that do not follow from the head alone. */
struct sizes {
	u64 ports;
	u64 places;
	u64 arcs;
};

static u32 count_of(const struct morph_profile_section *section)
{
	return le32_to_cpu(section->count);
}

static bool bad(const struct builder *b, const void *field)
{
	optics_bad_profile(b->refusal, optics_offset(b->blob, field));
	return false;
}

/* Count over all elements. Check kinds here, because the sizes depend on them. */
static int measure(const void *blob, struct sizes *sizes, struct optics_refusal *refusal)
{
	const struct morph_profile_header *header = blob;
	u32 elements = count_of(&header->elements);
	u32 i;

	sizes->ports = 0;
	sizes->places = 2ull * count_of(&header->accelerators);
	for (i = 0; i < elements; i++) {
		const struct morph_profile_element *element;
		const struct morph_profile_kind *kind;

		element = optics_record(blob, &header->elements, i);
		if (le32_to_cpu(element->kind) >= count_of(&header->kinds))
			return optics_bad_profile(refusal, optics_offset(blob, &element->kind));
		kind = optics_record(blob, &header->kinds, le32_to_cpu(element->kind));
		if (kind->ports < 1 || kind->ports > MORPH_MAX_PORTS)
			return optics_bad_profile(refusal, optics_offset(blob, &kind->ports));
		sizes->ports += kind->ports;
		sizes->places += le32_to_cpu(element->tile) == OPTICS_NONE ? 2 : 0;
	}
	sizes->arcs = optics_bound_arcs(blob);
	return 0;
}

/* Allocate the next array of a block: advance @cursor by @count records, 8-byte aligned. */
static u64 take(u64 *cursor, u64 count, u32 bytes)
{
	u64 at = *cursor;

	*cursor += (count * bytes + 7) & ~7ull;
	return at;
}

/* Lay out the arrays behind the graph. With a NULL builder, only return the size. */
static u64 lay_out(const struct morph_profile_header *header, const struct sizes *sizes,
		   struct builder *b)
{
	u64 sockets = (u64)count_of(&header->accelerators) * le32_to_cpu(header->planes);
	u64 ends = sockets + count_of(&header->edges);
	u64 cursor = 0, at[13];
	u8 *block;

	take(&cursor, 1, sizeof(struct optics_graph));
	at[0] = take(&cursor, count_of(&header->kinds), sizeof(struct optics_kind));
	at[1] = take(&cursor, count_of(&header->states), sizeof(struct morph_profile_state));
	at[2] = take(&cursor, count_of(&header->elements), sizeof(struct optics_element));
	at[3] = take(&cursor, sizes->ports, sizeof(u32));
	at[4] = take(&cursor, count_of(&header->guides), sizeof(struct optics_guide));
	at[5] = take(&cursor, count_of(&header->accelerators), sizeof(struct optics_accelerator));
	at[6] = take(&cursor, count_of(&header->hosts), sizeof(struct morph_profile_host));
	at[7] = take(&cursor, count_of(&header->edges), sizeof(struct morph_profile_edge));
	at[8] = take(&cursor, ends, sizeof(u32));
	at[9] = take(&cursor, ends, sizeof(u32));
	at[10] = take(&cursor, 2ull * count_of(&header->guides), sizeof(s32));
	at[11] = take(&cursor, sizes->arcs, sizeof(struct optics_arc));
	at[12] = take(&cursor, sizes->places, sizeof(u32));
	if (!b)
		return cursor;

	block = (u8 *)b->graph;
	b->kinds = (void *)(block + (size_t)at[0]);
	b->graph->kinds = b->kinds;
	b->graph->states = (void *)(block + (size_t)at[1]);
	b->elements = (void *)(block + (size_t)at[2]);
	b->graph->elements = b->elements;
	b->port_guide = (void *)(block + (size_t)at[3]);
	b->graph->port_guide = b->port_guide;
	b->guides = (void *)(block + (size_t)at[4]);
	b->graph->guides = b->guides;
	b->accelerators = (void *)(block + (size_t)at[5]);
	b->graph->accelerators = b->accelerators;
	b->graph->hosts = (void *)(block + (size_t)at[6]);
	b->graph->edges = (void *)(block + (size_t)at[7]);
	b->tx_guide = (void *)(block + (size_t)at[8]);
	b->graph->tx_guide = b->tx_guide;
	b->rx_guide = (void *)(block + (size_t)at[9]);
	b->graph->rx_guide = b->rx_guide;
	b->bound.graph = b->graph;
	b->bound.elements = b->elements;
	b->bound.cost = (void *)(block + (size_t)at[10]);
	b->graph->slack = b->bound.cost;
	b->bound.arcs = (void *)(block + (size_t)at[11]);
	b->graph->arcs = b->bound.arcs;
	b->bound.place_arcs = (void *)(block + (size_t)at[12]);
	b->graph->place_arcs = b->bound.place_arcs;
	memset(b->port_guide, 0xff, (size_t)sizes->ports * sizeof(u32));
	memset(b->tx_guide, 0xff, (size_t)ends * sizeof(u32));
	memset(b->rx_guide, 0xff, (size_t)ends * sizeof(u32));
	b->graph->ports_count = (u32)sockets;
	b->graph->ends_count = (u32)ends;
	return cursor;
}

s64 optics_graph_bytes(const void *blob, u64 bytes, struct optics_refusal *refusal)
{
	int error = optics_blob_check(blob, bytes, refusal);
	struct sizes sizes;

	if (!error)
		error = measure(blob, &sizes, refusal);
	return error ? error : (s64)lay_out(blob, &sizes, NULL);
}

static void build_params(const struct builder *b)
{
	const struct morph_profile_header *header = b->header;
	struct optics_params *params = &b->graph->params;

	memcpy(params->name, header->name, sizeof(params->name));
	params->checksum = le32_to_cpu(header->checksum);
	params->wavelengths = le32_to_cpu(header->wavelengths);
	params->planes = le32_to_cpu(header->planes);
	params->laser_mdbm = (s32)le32_to_cpu(header->laser_mdbm);
	params->sensitivity_mdbm = (s32)le32_to_cpu(header->sensitivity_mdbm);
	params->overload_mdbm = (s32)le32_to_cpu(header->overload_mdbm);
	params->margin_mdb = le32_to_cpu(header->margin_mdb);
	params->isolation_mdb = le32_to_cpu(header->isolation_mdb);
	params->dark_mdbm = (s32)le32_to_cpu(header->dark_mdbm);
	params->window_mdb = le32_to_cpu(header->window_mdb);
	params->drift_mdb = le32_to_cpu(header->drift_mdb);
	params->lane_mbps = le64_to_cpu(header->lane_mbps);
	params->settle_ns = le64_to_cpu(header->settle_ns);
	params->relock_ns = le64_to_cpu(header->relock_ns);
	params->write_fixed_ns = le64_to_cpu(header->write_fixed_ns);
	params->write_each_ns = le64_to_cpu(header->write_each_ns);
	params->deadline_ns = le64_to_cpu(header->deadline_ns);
	params->drift_period_ns = le64_to_cpu(header->drift_period_ns);
	b->graph->all_lanes = optics_low_mask(params->wavelengths);
	b->graph->kinds_count = count_of(&header->kinds);
	b->graph->elements_count = count_of(&header->elements);
	b->graph->guides_count = count_of(&header->guides);
	b->graph->accelerators_count = count_of(&header->accelerators);
	b->graph->hosts_count = count_of(&header->hosts);
	b->graph->edges_count = count_of(&header->edges);
}

/* Joins are symmetric and between two different ports. Leaks are their union. */
static bool build_state(const struct builder *b, struct optics_kind *kind, u32 index,
			const struct morph_profile_state *state)
{
	u32 port;

	for (port = 0; port < MORPH_MAX_PORTS; port++) {
		u8 other = state->joins[port];

		if (other == MORPH_PORT_NONE)
			continue;
		if (port >= kind->ports || other >= kind->ports || other == port ||
		    state->joins[other] != port)
			return bad(b, &state->joins[port]);
		kind->leaks[port] |= 1u << other;
		kind->joining |= 1ull << index;
	}
	return true;
}

/* The ports on one side of a kind that joins only ports of different sides, or 0. */
static u16 side_of(const struct optics_kind *kind)
{
	u16 side = 0;
	u32 port;

	for (port = 0; port < kind->ports && !side; port++)
		side = kind->leaks[port];
	for (port = 0; port < kind->ports; port++)
		if (kind->leaks[port] & (side >> port & 1 ? side : ~side))
			return 0;
	return side;
}

static bool build_kind(const struct builder *b, u32 index)
{
	const struct morph_profile_kind *record =
		optics_record(b->blob, &b->header->kinds, index);
	struct optics_kind *kind = &b->kinds[index];
	u32 all = count_of(&b->header->states);
	u32 i;

	memset(kind, 0, sizeof(*kind));
	memcpy(kind->name, record->name, sizeof(kind->name));
	kind->ports = record->ports;
	kind->park = record->park;
	kind->states = le16_to_cpu(record->states);
	kind->first_state = le32_to_cpu(record->first_state);
	kind->loss_mdb = le32_to_cpu(record->loss_mdb);
	kind->extinction_mdb = le32_to_cpu(record->extinction_mdb);
	if (!optics_name_ok(record->name, sizeof(record->name), false))
		return bad(b, record->name);
	if (kind->ports < 1 || kind->ports > MORPH_MAX_PORTS)
		return bad(b, &record->ports);
	if (kind->states < 1 || kind->states > MORPH_MAX_STATES)
		return bad(b, &record->states);
	if (kind->park >= kind->states)
		return bad(b, &record->park);
	if (kind->first_state > all || kind->states > all - kind->first_state)
		return bad(b, &record->first_state);
	if (kind->loss_mdb >= MAX_MDB)
		return bad(b, &record->loss_mdb);
	if (kind->extinction_mdb >= MAX_MDB || kind->extinction_mdb < kind->loss_mdb)
		return bad(b, &record->extinction_mdb);
	if (record->flags)
		return bad(b, &record->flags);
	if (record->reserved)
		return bad(b, &record->reserved);
	for (i = 0; i < kind->states; i++)
		if (!build_state(b, kind, i, optics_record(b->blob, &b->header->states,
							   kind->first_state + i)))
			return false;
	kind->side = side_of(kind);
	return true;
}

static bool build_elements(const struct builder *b)
{
	u32 i, first_port = 0;

	for (i = 0; i < b->graph->elements_count; i++) {
		const struct morph_profile_element *record =
			optics_record(b->blob, &b->header->elements, i);
		struct optics_element *element = &b->elements[i];

		element->kind = le32_to_cpu(record->kind);
		element->tile = le32_to_cpu(record->tile);
		element->first_port = first_port;
		if (element->tile != OPTICS_NONE &&
		    element->tile >= b->graph->accelerators_count)
			return bad(b, &record->tile);
		first_port += b->kinds[element->kind].ports;
	}
	return true;
}

static bool build_places(const struct builder *b)
{
	u32 i;

	for (i = 0; i < b->graph->accelerators_count; i++) {
		const struct morph_profile_accelerator *record =
			optics_record(b->blob, &b->header->accelerators, i);
		struct optics_accelerator *accelerator = &b->accelerators[i];

		accelerator->host = le32_to_cpu(record->host);
		accelerator->x = le16_to_cpu(record->x);
		accelerator->y = le16_to_cpu(record->y);
		accelerator->z = le16_to_cpu(record->z);
		accelerator->flags = le16_to_cpu(record->flags);
		if (accelerator->host >= b->graph->hosts_count)
			return bad(b, &record->host);
		if (accelerator->flags & ~MORPH_ACCELERATOR_F_SPARE)
			return bad(b, &record->flags);
	}
	for (i = 0; i < b->graph->hosts_count; i++)
		if (!optics_name_ok(b->graph->hosts[i].name, sizeof(b->graph->hosts[i].name),
				    false))
			return bad(b, optics_record(b->blob, &b->header->hosts, i));
	for (i = 0; i < b->graph->edges_count; i++) {
		const struct morph_profile_edge *edge =
			optics_record(b->blob, &b->header->edges, i);

		if (optics_edge_most(b->graph, i) > b->graph->params.laser_mdbm)
			return bad(b, &edge->most_mdbm);
		if (optics_edge_least(b->graph, i) > optics_edge_most(b->graph, i))
			return bad(b, &edge->least_mdbm);
		if (!optics_name_ok(edge->name, sizeof(edge->name), false))
			return bad(b, edge->name);
	}
	return true;
}

/* The entry for the guide that is attached at @end, or NULL if @end does not exist. */
static u32 *attached_at(const struct builder *b, const struct optics_end *end)
{
	const struct optics_graph *graph = b->graph;

	switch (end->type) {
	case MORPH_END_ELEMENT:
		if (end->index >= graph->elements_count ||
		    end->port >= b->kinds[b->elements[end->index].kind].ports)
			return NULL;
		return &b->port_guide[b->elements[end->index].first_port + end->port];
	case MORPH_END_TX:
	case MORPH_END_RX:
		if (end->index >= graph->accelerators_count || end->port >= graph->params.planes)
			return NULL;
		return (end->type == MORPH_END_TX ? b->tx_guide : b->rx_guide) +
		       (end->index * graph->params.planes + end->port);
	case MORPH_END_EDGE:
		if (end->index >= graph->edges_count || end->port)
			return NULL;
		return &b->tx_guide[optics_edge_end(graph, end->index)];
	default:
		return NULL;
	}
}

static bool build_guide(const struct builder *b, u32 index)
{
	const struct morph_profile_guide *record =
		optics_record(b->blob, &b->header->guides, index);
	struct optics_guide *guide = &b->guides[index];
	u32 i;

	memset(guide, 0, sizeof(*guide));
	guide->end[0].index = le32_to_cpu(record->a_index);
	guide->end[0].port = record->a_port;
	guide->end[0].type = record->a_type;
	guide->end[1].index = le32_to_cpu(record->b_index);
	guide->end[1].port = record->b_port;
	guide->end[1].type = record->b_type;
	guide->class = le16_to_cpu(record->class);
	guide->loss_mdb = le16_to_cpu(record->loss_mdb);
	if (guide->class > MORPH_GUIDE_EDGE)
		return bad(b, &record->class);
	/* A guide between two lasers or two receivers is an error of the profile. */
	if (guide->end[0].type == guide->end[1].type && guide->end[0].type != MORPH_END_ELEMENT)
		return bad(b, &record->b_type);
	for (i = 0; i < 2; i++) {
		u32 *entry = attached_at(b, &guide->end[i]);

		if (!entry || *entry != OPTICS_NONE)
			return bad(b, i ? &record->b_index : &record->a_index);
		*entry = index * 2 + i;
	}
	return true;
}

static bool build_guides(const struct builder *b)
{
	u32 i;

	for (i = 0; i < b->graph->guides_count; i++)
		if (!build_guide(b, i))
			return false;
	for (i = b->graph->ports_count; i < b->graph->ends_count; i++) {
		b->rx_guide[i] = b->tx_guide[i];
		if (b->tx_guide[i] == OPTICS_NONE)
			return bad(b, optics_record(b->blob, &b->header->edges,
						    i - b->graph->ports_count));
	}
	for (i = 0; i < b->graph->ports_count; i++)
		if (b->tx_guide[i] == OPTICS_NONE || b->rx_guide[i] == OPTICS_NONE)
			return bad(b, optics_record(b->blob, &b->header->accelerators,
						    optics_end_place(b->graph, i)));
	return true;
}

const struct optics_graph *optics_graph_build(void *block, const void *blob, u64 bytes,
					      struct optics_refusal *refusal)
{
	struct builder b = { .blob = blob, .header = blob, .graph = block, .refusal = refusal };
	struct sizes sizes;
	u32 i;

	if (optics_blob_check(blob, bytes, refusal) || measure(blob, &sizes, refusal))
		return NULL;
	memset(b.graph, 0, sizeof(*b.graph));
	lay_out(blob, &sizes, &b);
	build_params(&b);
	memcpy((void *)b.graph->states, optics_record(blob, &b.header->states, 0),
	       (size_t)count_of(&b.header->states) * sizeof(struct morph_profile_state));
	memcpy((void *)b.graph->hosts, optics_record(blob, &b.header->hosts, 0),
	       (size_t)count_of(&b.header->hosts) * sizeof(struct morph_profile_host));
	memcpy((void *)b.graph->edges, optics_record(blob, &b.header->edges, 0),
	       (size_t)count_of(&b.header->edges) * sizeof(struct morph_profile_edge));
	for (i = 0; i < b.graph->kinds_count; i++)
		if (!build_kind(&b, i))
			return NULL;
	if (!build_elements(&b) || !build_places(&b) || !build_guides(&b))
		return NULL;
	optics_bound_build(&b.bound);
	return b.graph;
}
