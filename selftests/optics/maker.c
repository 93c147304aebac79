// SPDX-License-Identifier: GPL-2.0-only
#include "maker.h"

#include <stdio.h>

static void *vector_add(struct vector *vector)
{
	void *record;

	/* Round up to the next power of two. */
	if (!(vector->count & (vector->count - 1))) {
		vector->data =
			realloc(vector->data, (size_t)(2 * vector->count + 1) * vector->stride);
		if (!vector->data)
			abort();
	}
	record = (u8 *)vector->data + (size_t)vector->count++ * vector->stride;
	return memset(record, 0, vector->stride);
}

void maker_init(struct maker *maker, u32 planes, u32 wavelengths)
{
	struct morph_profile_header *header = &maker->header;

	memset(maker, 0, sizeof(*maker));
	maker->kinds.stride = sizeof(struct morph_profile_kind);
	maker->states.stride = sizeof(struct morph_profile_state);
	maker->elements.stride = sizeof(struct morph_profile_element);
	maker->guides.stride = sizeof(struct morph_profile_guide);
	maker->accelerators.stride = sizeof(struct morph_profile_accelerator);
	maker->hosts.stride = sizeof(struct morph_profile_host);
	maker->edges.stride = sizeof(struct morph_profile_edge);
	header->magic = htole64(MORPH_PROFILE_MAGIC);
	header->version = htole32(MORPH_PROFILE_VERSION);
	header->header_bytes = htole32(sizeof(*header));
	strcpy(header->name, "test");
	header->wavelengths = htole32(wavelengths);
	header->planes = htole32(planes);
	header->lane_mbps = htole64(100000);
	header->laser_mdbm = htole32(10000);
	header->sensitivity_mdbm = htole32((u32)-20000);
	header->overload_mdbm = htole32(12000);
	header->margin_mdb = htole32(3000);
	header->isolation_mdb = htole32(20000);
	header->dark_mdbm = htole32((u32)-40000);
	header->window_mdb = htole32(1500);
	header->settle_ns = htole64(3700);
	header->relock_ns = htole64(1000);
	header->write_fixed_ns = htole64(500);
	header->write_each_ns = htole64(10);
	header->deadline_ns = htole64(1000000);
}

void maker_free(struct maker *maker)
{
	struct vector *vectors = &maker->kinds;
	u32 i;

	for (i = 0; i < 7; i++)
		free(vectors[i].data);
}

u32 maker_kind(struct maker *maker, const char *name, u32 ports, u32 loss_mdb, u32 extinction_mdb)
{
	struct morph_profile_kind *kind = vector_add(&maker->kinds);

	snprintf(kind->name, sizeof(kind->name), "%s", name);
	kind->ports = (u8)ports;
	kind->first_state = htole32(maker->states.count);
	kind->loss_mdb = htole32(loss_mdb);
	kind->extinction_mdb = htole32(extinction_mdb);
	return maker->kinds.count - 1;
}

void maker_state(struct maker *maker, const char *joins)
{
	struct morph_profile_kind *kind = maker->kinds.data;
	struct morph_profile_state *state = vector_add(&maker->states);
	int a, b, length;

	memset(state->joins, MORPH_PORT_NONE, sizeof(state->joins));
	for (; sscanf(joins, " %d-%d%n", &a, &b, &length) == 2; joins += length) {
		state->joins[a] = (u8)b;
		state->joins[b] = (u8)a;
	}
	kind += maker->kinds.count - 1;
	kind->states = htole16(le16toh(kind->states) + 1);
}

u32 maker_element(struct maker *maker, u32 kind, u32 tile)
{
	struct morph_profile_element *element = vector_add(&maker->elements);

	element->kind = htole32(kind);
	element->tile = htole32(tile);
	return maker->elements.count - 1;
}

u32 maker_guide(struct maker *maker, struct place a, struct place b, u32 loss_mdb)
{
	struct morph_profile_guide *guide = vector_add(&maker->guides);

	guide->a_type = a.type;
	guide->a_index = htole32(a.index);
	guide->a_port = a.port;
	guide->b_type = b.type;
	guide->b_index = htole32(b.index);
	guide->b_port = b.port;
	guide->loss_mdb = htole16((u16)loss_mdb);
	return maker->guides.count - 1;
}

u32 maker_host(struct maker *maker)
{
	struct morph_profile_host *host = vector_add(&maker->hosts);

	snprintf(host->name, sizeof(host->name), "host%u", maker->hosts.count - 1);
	return maker->hosts.count - 1;
}

u32 maker_accelerator(struct maker *maker, u32 host)
{
	struct morph_profile_accelerator *accelerator = vector_add(&maker->accelerators);

	accelerator->host = htole32(host);
	return maker->accelerators.count - 1;
}

u32 maker_edge(struct maker *maker, s16 least_mdbm, s16 most_mdbm)
{
	struct morph_profile_edge *edge = vector_add(&maker->edges);

	edge->least_mdbm = htole16((u16)least_mdbm);
	edge->most_mdbm = htole16((u16)most_mdbm);
	snprintf(edge->name, sizeof(edge->name), "edge%u", maker->edges.count - 1);
	return maker->edges.count - 1;
}

u32 profile_checksum(const void *blob, u64 bytes)
{
	const u32 field = offsetof(struct morph_profile_header, checksum);
	const u8 *data = blob;
	u32 crc = 0xffffffff;
	u64 i;
	int bit;

	for (i = 0; i < bytes; i++) {
		crc ^= i - field < 4 ? 0 : data[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return ~crc;
}

void profile_seal(void *blob, u64 bytes)
{
	struct morph_profile_header *header = blob;

	header->checksum = htole32(profile_checksum(blob, bytes));
}

void *maker_blob(struct maker *maker, u64 *bytes)
{
	struct morph_profile_section *sections = &maker->header.kinds;
	const struct vector *vectors = &maker->kinds;
	u64 offset = sizeof(maker->header);
	u8 *blob;
	u32 i;

	for (i = 0; i < 7; i++) {
		offset = (offset + 7) & ~7ull;
		sections[i].offset = htole64(offset);
		sections[i].count = htole32(vectors[i].count);
		sections[i].stride = htole32(vectors[i].stride);
		offset += (u64)vectors[i].count * vectors[i].stride;
	}
	*bytes = offset;
	maker->header.total_bytes = htole64(offset);
	blob = calloc(1, (size_t)offset);
	if (!blob)
		abort();
	memcpy(blob, &maker->header, sizeof(maker->header));
	for (i = 0; i < 7; i++)
		if (vectors[i].count)
			memcpy(blob + le64toh(sections[i].offset), vectors[i].data,
			       (size_t)vectors[i].count * vectors[i].stride);
	profile_seal(blob, offset);
	return blob;
}

/* Port of an ingress or egress in direction @of that leads to direction @to. */
static u8 transit_port(u32 of, u32 to)
{
	return (u8)(to > of ? to + 1 : to + 2);
}

/* The tile next to @tile in a direction (0 east, 1 west, 2 north, 3 south), or OPTICS_NONE. */
static u32 neighbour(u32 width, u32 height, u32 tile, u32 direction)
{
	u32 x = tile % width, y = tile / width;

	switch (direction) {
	case 0:
		return x + 1 < width ? tile + 1 : OPTICS_NONE;
	case 1:
		return x ? tile - 1 : OPTICS_NONE;
	case 2:
		return y + 1 < height ? tile + width : OPTICS_NONE;
	default:
		return y ? tile - width : OPTICS_NONE;
	}
}

static void make_tile(struct maker *maker, u32 width, u32 height, u32 tile, u32 plane, u32 first)
{
	u32 from, to;

	maker_guide(maker, TX(tile, plane), AT(first + ROLE_TX, 0), 10);
	maker_guide(maker, AT(first + ROLE_RX, 0), RX(tile, plane), 10);
	for (from = 0; from < 4; from++) {
		if (neighbour(width, height, tile, from) == OPTICS_NONE)
			continue;
		maker_guide(maker, AT(first + ROLE_TX, (u8)(from + 1)),
			    AT(first + ROLE_EGRESS + from, 1), 10);
		maker_guide(maker, AT(first + ROLE_INGRESS + from, 1),
			    AT(first + ROLE_RX, (u8)(from + 1)), 10);
		for (to = 0; to < 4; to++)
			if (to != from && neighbour(width, height, tile, to) != OPTICS_NONE)
				maker_guide(maker,
					    AT(first + ROLE_INGRESS + from, transit_port(from, to)),
					    AT(first + ROLE_EGRESS + to, transit_port(to, from)),
					    10);
	}
}

void make_interposer(struct maker *maker, u32 width, u32 height, u32 planes, u32 wavelengths)
{
	u32 tile, plane, role, direction, kind, host;

	maker_init(maker, planes, wavelengths);
	kind = maker_kind(maker, "selector", 5, 200, 35000);
	maker_state(maker, "");
	maker_state(maker, "0-1");
	maker_state(maker, "0-2");
	maker_state(maker, "0-3");
	maker_state(maker, "0-4");
	host = maker_host(maker);
	for (tile = 0; tile < width * height; tile++)
		maker_accelerator(maker, host);
	for (tile = 0; tile < width * height; tile++)
		for (plane = 0; plane < planes; plane++) {
			for (role = 0; role < ROLES; role++)
				maker_element(maker, kind, tile);
			make_tile(maker, width, height, tile, plane,
				  (tile * planes + plane) * ROLES);
		}
	for (tile = 0; tile < width * height; tile++)
		for (direction = 0; direction < 4; direction++) {
			u32 other = neighbour(width, height, tile, direction);

			for (plane = 0; plane < planes && other != OPTICS_NONE; plane++)
				maker_guide(maker,
					    AT((tile * planes + plane) * ROLES + ROLE_EGRESS +
						       direction,
					       0),
					    AT((other * planes + plane) * ROLES + ROLE_INGRESS +
						       (direction ^ 1),
					       0),
					    300);
		}
}

/*
 * Cells lie on the edges of a brick wall. Light crosses a cell from the side of its ports 0 and 3
 * to the side of 1 and 2. Around each vertex guides join the cells there in a circle, a port of one
 * to a port of the next.
 */
struct wall {
	u32 width, height;
	u32 east[64], north[64]; /* by vertex: the cell that leaves it, or OPTICS_NONE */
};

static void make_vertex(struct maker *maker, const struct wall *wall, u32 vertex,
			struct place *loose, u32 *loose_count)
{
	u32 x = vertex % wall->width, y = vertex / wall->width;
	struct place left[3], right[3];
	u32 cells[4] = {
		wall->east[vertex],
		wall->north[vertex],
		x ? wall->east[vertex - 1] : OPTICS_NONE,
		y ? wall->north[vertex - wall->width] : OPTICS_NONE,
	};
	u32 i, count = 0;

	for (i = 0; i < 4; i++) {
		if (cells[i] == OPTICS_NONE)
			continue;
		left[count] = AT(cells[i], i < 2 ? 0 : 1);
		right[count] = AT(cells[i], i < 2 ? 3 : 2);
		count++;
	}
	for (i = 0; i < count; i++) {
		if (count == 3 || (count == 2 && !i)) {
			maker_guide(maker, right[i], left[(i + 1) % count], 20);
		} else if (count) {
			loose[(*loose_count)++] = right[i];
			loose[(*loose_count)++] = left[(i + 1) % count];
		}
	}
}

void make_mesh(struct maker *maker, u32 width, u32 height, u32 wavelengths)
{
	struct wall wall = { .width = width, .height = height };
	struct place loose[256];
	u32 vertex, kind, host, i, loose_count = 0;

	maker_init(maker, 1, wavelengths);
	kind = maker_kind(maker, "cell", 4, 250, 35000);
	maker_state(maker, "0-1 2-3");
	maker_state(maker, "0-2 1-3");
	maker_state(maker, "");
	for (vertex = 0; vertex < width * height; vertex++) {
		u32 x = vertex % width, y = vertex / width;

		wall.east[vertex] = x + 1 < width ? maker_element(maker, kind, OPTICS_NONE) :
						    OPTICS_NONE;
		wall.north[vertex] = y + 1 < height && !((x + y) & 1) ?
					     maker_element(maker, kind, OPTICS_NONE) :
					     OPTICS_NONE;
	}
	for (vertex = 0; vertex < width * height; vertex++)
		make_vertex(maker, &wall, vertex, loose, &loose_count);
	host = maker_host(maker);
	for (i = 0; i + 1 < loose_count; i += 2) {
		u32 accelerator = maker_accelerator(maker, host);

		maker_guide(maker, TX(accelerator, 0), loose[i], 20);
		maker_guide(maker, RX(accelerator, 0), loose[i + 1], 20);
	}
}

u32 next_random(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (u32)(*seed >> 32);
}
