// SPDX-License-Identifier: LGPL-2.1-or-later
/* The profile, as the checker reads it. */
#include "internal.h"

#define HEADER_BYTES 280U
#define PORTS 16U
#define PORT_NONE 0xffU
#define MOST_WAVELENGTHS 64 /* a set of them is two words */
#define LOOKED_AT 256 /* limit of ports of a tile visited from the end of a fibre */

enum record {
	KIND = 40,
	STATE = 16,
	ELEMENT = 8,
	GUIDE = 16,
	ACCELERATOR = 12,
	HOST = 32
};

static uint32_t half(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8;
}

/* The position of a section and the number of its records. */
static bool section(const struct morph_check_bytes *profile, uint32_t number, uint32_t stride,
		    size_t *offset, uint32_t *count)
{
	const uint8_t *at = (const uint8_t *)profile->data + 168 + (size_t)number * 16;
	uint64_t where = word(at, 0) | (uint64_t)word(at, 1) << 32;

	*count = word(at, 2);
	*offset = (size_t)where;
	return word(at, 3) == stride && where <= profile->bytes &&
	       *count <= (profile->bytes - where) / stride;
}

static bool end_is_healthy(const struct fabric *fabric, struct end end)
{
	switch (end.type) {
	case END_ELEMENT:
		return end.index < fabric->elements && end.port < PORTS;
	case END_TX:
	case END_RX:
		return end.index < fabric->accelerators && end.port < fabric->planes;
	default:
		return end.type == END_EDGE;
	}
}

static bool records_are_valid(const struct fabric *fabric)
{
	for (uint32_t at = 0; at < fabric->kinds; at++) {
		const uint8_t *kind = fabric->profile + fabric->kinds_at + (size_t)at * KIND;
		uint32_t states = half(kind + 18), first = word(kind + 20, 0);

		if (kind[16] > PORTS || first > fabric->states || states > fabric->states - first)
			return false;
	}
	for (uint32_t at = 0; at < fabric->elements; at++) {
		const uint8_t *element =
			fabric->profile + fabric->elements_at + (size_t)at * ELEMENT;
		uint32_t tile = word(element, 1);

		if (word(element, 0) >= fabric->kinds ||
		    (tile != NONE && tile >= fabric->accelerators))
			return false;
	}
	for (uint32_t at = 0; at < fabric->accelerators; at++)
		if (ck_host(fabric, at) >= fabric->hosts)
			return false;
	for (uint32_t at = 0; at < 2 * fabric->guides; at++)
		if (!end_is_healthy(fabric, ck_guide_end(fabric, at >> 1, at & 1)))
			return false;
	return true;
}

/* A rack: all servers that fibres without switches connect. */
static void find_racks(struct fabric *fabric)
{
	bool changed = true;

	for (uint32_t host = 0; host < fabric->hosts; host++)
		fabric->rack[host] = host;
	while (changed) {
		changed = false;
		for (uint32_t at = 0; at < fabric->guides; at++) {
			struct end a = ck_guide_end(fabric, at, 0), b = ck_guide_end(fabric, at, 1);
			uint32_t *one, *other;

			if (ck_guide_class(fabric, at) != CLASS_FIBRE || a.type != END_ELEMENT ||
			    b.type != END_ELEMENT || ck_tile(fabric, a.index) == NONE ||
			    ck_tile(fabric, b.index) == NONE)
				continue;
			one = &fabric->rack[ck_host(fabric, ck_tile(fabric, a.index))];
			other = &fabric->rack[ck_host(fabric, ck_tile(fabric, b.index))];
			changed |= *one != *other;
			*one = *other = *one < *other ? *one : *other;
		}
	}
}

int ck_fabric_read(struct check *check, const struct morph_check_bytes *profile)
{
	struct fabric *fabric = &check->fabric;
	const uint8_t *at = profile->data;
	uint32_t ignored;
	size_t where;

	if (!at || profile->bytes < HEADER_BYTES || memcmp(at, "MORPHPF1", 8) || word(at, 2) != 1)
		return ck_wrong(check, EINVAL, "the profile does not have version 1");
	fabric->profile = at;
	fabric->checksum = word(at, 6);
	fabric->wavelengths = word(at, 16);
	fabric->planes = word(at, 17);
	if (!fabric->wavelengths || fabric->wavelengths > MOST_WAVELENGTHS)
		return ck_wrong(check, EINVAL, "the profile has %u wavelengths, not 1 to %d",
				fabric->wavelengths, MOST_WAVELENGTHS);
	if (!section(profile, 0, KIND, &fabric->kinds_at, &fabric->kinds) ||
	    !section(profile, 1, STATE, &fabric->states_at, &fabric->states) ||
	    !section(profile, 2, ELEMENT, &fabric->elements_at, &fabric->elements) ||
	    !section(profile, 3, GUIDE, &fabric->guides_at, &fabric->guides) ||
	    !section(profile, 4, ACCELERATOR, &fabric->accelerators_at, &fabric->accelerators) ||
	    !section(profile, 5, HOST, &where, &fabric->hosts) ||
	    !section(profile, 6, 40, &where, &ignored) || !records_are_valid(fabric))
		return ck_wrong(check, EINVAL, "the profile is malformed");
	fabric->port_guide = malloc(((size_t)fabric->elements * PORTS + 1) * 4);
	fabric->rack = calloc((size_t)fabric->hosts + 1, 4);
	if (!fabric->port_guide || !fabric->rack)
		return ck_wrong(check, ENOMEM, "out of memory");
	memset(fabric->port_guide, 0xff, ((size_t)fabric->elements * PORTS + 1) * 4);
	for (uint32_t code = 0; code < 2 * fabric->guides; code++) {
		struct end end = ck_guide_end(fabric, code >> 1, code & 1);

		if (end.type == END_ELEMENT)
			fabric->port_guide[(size_t)end.index * PORTS + end.port] = code;
	}
	find_racks(fabric);
	return 0;
}

void ck_fabric_free(struct fabric *fabric)
{
	free(fabric->port_guide);
	free(fabric->rack);
}

uint64_t ck_light_ns(const struct fabric *fabric)
{
	const uint8_t *settle = fabric->profile + 112, *relock = fabric->profile + 120;

	return (word(settle, 0) | (uint64_t)word(settle, 1) << 32) +
	       (word(relock, 0) | (uint64_t)word(relock, 1) << 32);
}

struct end ck_guide_end(const struct fabric *fabric, uint32_t guide, uint32_t end)
{
	const uint8_t *at = fabric->profile + fabric->guides_at + (size_t)guide * GUIDE;

	return (struct end){ .type = at[10 + end], .index = word(at, end), .port = at[8 + end] };
}

uint32_t ck_guide_class(const struct fabric *fabric, uint32_t guide)
{
	return half(fabric->profile + fabric->guides_at + (size_t)guide * GUIDE + 12);
}

uint32_t ck_tile(const struct fabric *fabric, uint32_t element)
{
	return word(fabric->profile + fabric->elements_at + (size_t)element * ELEMENT, 1);
}

static const uint8_t *kind_of(const struct fabric *fabric, uint32_t element)
{
	uint32_t kind = word(fabric->profile + fabric->elements_at + (size_t)element * ELEMENT, 0);

	return fabric->profile + fabric->kinds_at + (size_t)kind * KIND;
}

uint32_t ck_states(const struct fabric *fabric, uint32_t element)
{
	return half(kind_of(fabric, element) + 18);
}

uint32_t ck_joined(const struct fabric *fabric, uint32_t element, uint32_t state, uint32_t port)
{
	uint32_t first = word(kind_of(fabric, element) + 20, 0);
	uint8_t out;

	if (state >= ck_states(fabric, element) || port >= PORTS)
		return NONE;
	out = fabric->profile[fabric->states_at + (size_t)(first + state) * STATE + port];
	return out < PORTS && out != PORT_NONE ? out : NONE;
}

uint32_t ck_host(const struct fabric *fabric, uint32_t accelerator)
{
	return word(fabric->profile + fabric->accelerators_at + (size_t)accelerator * ACCELERATOR,
		    0);
}

uint32_t ck_position(const struct fabric *fabric, uint32_t accelerator, uint32_t axis)
{
	return half(fabric->profile + fabric->accelerators_at + (size_t)accelerator * ACCELERATOR +
		    4 + 2 * (size_t)axis);
}

bool ck_is_spare(const struct fabric *fabric, uint32_t accelerator)
{
	return half(fabric->profile + fabric->accelerators_at + (size_t)accelerator * ACCELERATOR +
		    10) &
	       1;
}

/* Ports that some state joins to this one. */
static uint32_t ports_behind(const struct fabric *fabric, struct end end)
{
	uint32_t ports = 0;

	for (uint32_t state = 0; state < ck_states(fabric, end.index); state++) {
		uint32_t out = ck_joined(fabric, end.index, state, end.port);

		if (out != NONE)
			ports |= 1U << out;
	}
	return ports;
}

static void look_at(struct end *queue, uint32_t *count, struct end end)
{
	for (uint32_t at = 0; at < *count; at++)
		if (queue[at].index == end.index && queue[at].port == end.port)
			return;
	if (*count < LOOKED_AT)
		queue[(*count)++] = end;
}

bool ck_reaches(const struct fabric *fabric, struct end from, uint32_t type)
{
	struct end queue[LOOKED_AT] = { { 0 } };
	uint32_t count = 0;

	look_at(queue, &count, from);
	for (uint32_t at = 0; at < count; at++) {
		for (uint32_t ports = ports_behind(fabric, queue[at]); ports; ports &= ports - 1) {
			uint32_t out = (uint32_t)__builtin_ctz(ports), code;
			struct end end;

			code = fabric->port_guide[(size_t)queue[at].index * PORTS + out];
			if (code == NONE || ck_guide_class(fabric, code >> 1) != CLASS_WAVEGUIDE)
				continue;
			end = ck_guide_end(fabric, code >> 1, !(code & 1));
			if (end.type == type)
				return true;
			if (end.type == END_ELEMENT)
				look_at(queue, &count, end);
		}
	}
	return false;
}

static int walk_on(struct strand_walk *walk, uint32_t from)
{
	const struct fabric *fabric = walk->fabric;
	uint32_t code = walk->guides[walk->count - 1];
	struct end end = ck_guide_end(fabric, code >> 1, !(code & 1));
	int ret = 0;

	if (end.type != END_ELEMENT)
		return 0;
	if (ck_tile(fabric, end.index) != NONE) {
		uint32_t to = ck_host(fabric, ck_tile(fabric, end.index));

		return to != from && ck_reaches(fabric, end, END_RX) ? walk->each(walk, from, to) :
								       0;
	}
	if (walk->count == MOST_GUIDES)
		return 0;
	for (uint32_t state = 0; state < ck_states(fabric, end.index) && !ret; state++) {
		uint32_t out = ck_joined(fabric, end.index, state, end.port), next;

		next = out == NONE ? NONE : fabric->port_guide[(size_t)end.index * PORTS + out];
		if (next == NONE)
			continue;
		walk->elements[walk->count - 1] = end.index;
		walk->states[walk->count - 1] = state;
		walk->guides[walk->count++] = next;
		ret = walk_on(walk, from);
		walk->count--;
	}
	return ret;
}

int ck_walk_strands(struct strand_walk *walk, uint32_t guide_code)
{
	const struct fabric *fabric = walk->fabric;
	struct end end = ck_guide_end(fabric, guide_code >> 1, guide_code & 1);

	if (ck_guide_class(fabric, guide_code >> 1) != CLASS_FIBRE || end.type != END_ELEMENT ||
	    ck_tile(fabric, end.index) == NONE || !ck_reaches(fabric, end, END_TX))
		return 0;
	walk->guides[0] = guide_code;
	walk->count = 1;
	return walk_on(walk, ck_host(fabric, ck_tile(fabric, end.index)));
}
