// SPDX-License-Identifier: GPL-2.0-only
#include "oracle.h"

#include <math.h>

#define FREE 0xff

struct oracle {
	const struct morph_profile_header *header;
	const struct morph_profile_kind *kinds;
	const struct morph_profile_state *states;
	const struct morph_profile_element *elements;
	const struct morph_profile_guide *guides;
	u32 elements_count, guides_count, ports_count, ends_count, planes;
	u8 *held; /* state that circuits need, or FREE */
	u64 *lanes; /* by guide */
	u64 *tx, *rx;
	/* data of the exhaustive search */
	u8 *tried; /* state that the current path needs, or FREE */
	u32 *crossings;
	bool *used;
	unsigned long tries;
	long best;
	u64 lane; /* or lanes, if a circuit needs all of them */
	u32 target;
};

static const void *section(const void *blob, const struct morph_profile_section *section)
{
	return (const char *)blob + le64toh(section->offset);
}

struct oracle *oracle_open(const void *blob)
{
	struct oracle *oracle = calloc(1, sizeof(*oracle));
	const struct morph_profile_header *header = blob;

	oracle->header = header;
	oracle->kinds = section(blob, &header->kinds);
	oracle->states = section(blob, &header->states);
	oracle->elements = section(blob, &header->elements);
	oracle->guides = section(blob, &header->guides);
	oracle->elements_count = le32toh(header->elements.count);
	oracle->guides_count = le32toh(header->guides.count);
	oracle->planes = le32toh(header->planes);
	oracle->ports_count = le32toh(header->accelerators.count) * oracle->planes;
	oracle->held = malloc(oracle->elements_count + 1);
	oracle->tried = malloc(oracle->elements_count + 1);
	oracle->crossings = calloc(oracle->elements_count + 1, sizeof(u32));
	oracle->lanes = calloc(oracle->guides_count, sizeof(u64));
	oracle->used = calloc(oracle->guides_count, sizeof(bool));
	oracle->ends_count = oracle->ports_count + le32toh(header->edges.count);
	oracle->tx = calloc(oracle->ends_count, sizeof(u64));
	oracle->rx = calloc(oracle->ends_count, sizeof(u64));
	oracle_reset(oracle);
	return oracle;
}

void oracle_close(struct oracle *oracle)
{
	free(oracle->held);
	free(oracle->tried);
	free(oracle->crossings);
	free(oracle->lanes);
	free(oracle->used);
	free(oracle->tx);
	free(oracle->rx);
	free(oracle);
}

void oracle_reset(struct oracle *oracle)
{
	memset(oracle->held, FREE, oracle->elements_count + 1);
	memset(oracle->lanes, 0, oracle->guides_count * sizeof(u64));
	memset(oracle->tx, 0, oracle->ends_count * sizeof(u64));
	memset(oracle->rx, 0, oracle->ends_count * sizeof(u64));
}

void oracle_occupy(struct oracle *oracle, u32 guide, u64 lanes)
{
	oracle->lanes[guide] |= lanes;
}

static const struct morph_profile_kind *kind_of(const struct oracle *oracle, u32 element)
{
	return &oracle->kinds[le32toh(oracle->elements[element].kind)];
}

static u8 join(const struct oracle *oracle, u32 element, u32 state, u8 port)
{
	return oracle->states[le32toh(kind_of(oracle, element)->first_state) + state].joins[port];
}

/* Return the place of end @side of @guide. */
static void guide_end(const struct oracle *oracle, u32 guide, int side, u8 *type, u32 *index,
		      u8 *port)
{
	const struct morph_profile_guide *record = &oracle->guides[guide];

	*type = side ? record->b_type : record->a_type;
	*index = le32toh(side ? record->b_index : record->a_index);
	*port = side ? record->b_port : record->a_port;
}

/* Find the guide at a place, and its side, by a search of all guides. */
static bool guide_at(const struct oracle *oracle, u8 type, u32 index, u8 port, u32 *guide,
		     int *side)
{
	u8 its_type, its_port;
	u32 its_index;

	for (*guide = 0; *guide < oracle->guides_count; ++*guide)
		for (*side = 0; *side < 2; ++*side) {
			guide_end(oracle, *guide, *side, &its_type, &its_index, &its_port);
			if (its_type == type && its_index == index && its_port == port)
				return true;
		}
	return false;
}

/* Return the owner of a circuit's end; edges come after the ports. */
static u8 circuit_end(const struct oracle *oracle, u32 end, u8 type, u32 *index, u8 *port)
{
	*index = end < oracle->ports_count ? end / oracle->planes : end - oracle->ports_count;
	*port = end < oracle->ports_count ? (u8)(end % oracle->planes) : 0;
	return end < oracle->ports_count ? type : MORPH_END_EDGE;
}

const char *oracle_add(struct oracle *oracle, const struct optics_path *path)
{
	u32 index, last, i, loss = 0, guide;
	u8 port, last_port;
	u8 type = circuit_end(oracle, path->tx, MORPH_END_TX, &index, &port);
	u8 last_type = circuit_end(oracle, path->rx, MORPH_END_RX, &last, &last_port);
	int side;

	if (oracle->tx[path->tx] & path->lanes || oracle->rx[path->rx] & path->lanes)
		return "port in use";
	oracle->tx[path->tx] |= path->lanes;
	oracle->rx[path->rx] |= path->lanes;
	for (i = 0; i < path->hops_count; i++) {
		const struct optics_hop *hop = &path->hops[i];

		if (!guide_at(oracle, type, index, port, &guide, &side))
			return "the path lacks a guide";
		if (hop->guide != guide * 2 + (u32)side)
			return "wrong guide";
		if (oracle->lanes[guide] & path->lanes)
			return "lane in use twice";
		oracle->lanes[guide] |= path->lanes;
		loss += le16toh(oracle->guides[guide].loss_mdb);
		guide_end(oracle, guide, !side, &type, &index, &port);
		if (type != MORPH_END_ELEMENT)
			break;
		if (hop->element != index)
			return "wrong element";
		if (oracle->held[index] != FREE && oracle->held[index] != hop->state)
			return "element in two states";
		oracle->held[index] = (u8)hop->state;
		loss += le32toh(kind_of(oracle, index)->loss_mdb);
		port = join(oracle, index, hop->state, port);
	}
	if (i + 1 != path->hops_count || type != last_type || index != last || port != last_port)
		return "does not end at its receiver";
	return loss == path->loss_mdb ? NULL : "wrong loss";
}

static void explore(struct oracle *oracle, u8 type, u32 index, u8 port, long loss, u32 hops)
{
	u32 guide, state, states;
	int side;
	u8 came;

	if (!oracle->tries || hops == OPTICS_MAX_HOPS)
		return;
	oracle->tries--;
	if (!guide_at(oracle, type, index, port, &guide, &side) || oracle->used[guide] ||
	    oracle->lanes[guide] & oracle->lane)
		return;
	loss += le16toh(oracle->guides[guide].loss_mdb);
	guide_end(oracle, guide, !side, &type, &index, &came);
	if (type == MORPH_END_RX && index == oracle->target &&
	    !(oracle->rx[index * oracle->planes + came] & oracle->lane) &&
	    (oracle->best < 0 || loss < oracle->best))
		oracle->best = loss;
	if (type != MORPH_END_ELEMENT)
		return;
	oracle->used[guide] = true;
	loss += le32toh(kind_of(oracle, index)->loss_mdb);
	states = le16toh(kind_of(oracle, index)->states);
	for (state = 0; state < states; state++) {
		u8 out = join(oracle, index, state, came);

		if (out == MORPH_PORT_NONE ||
		    (oracle->held[index] != FREE && oracle->held[index] != state) ||
		    (oracle->crossings[index] && oracle->tried[index] != state))
			continue;
		oracle->crossings[index]++;
		oracle->tried[index] = (u8)state;
		explore(oracle, MORPH_END_ELEMENT, index, out, loss, hops + 1);
		oracle->crossings[index]--;
	}
	oracle->used[guide] = false;
}

long oracle_search(struct oracle *oracle, u32 tx_accelerator, u32 rx_accelerator, u64 lanes,
		   u32 count, unsigned long tries)
{
	u32 plane;
	u64 set;

	oracle->best = -1;
	oracle->tries = tries;
	oracle->target = rx_accelerator;
	for (set = 1; set <= lanes; set++)
		for (plane = 0; plane < oracle->planes; plane++) {
			if (set & ~lanes || (u32)__builtin_popcountll(set) != count)
				continue;
			oracle->lane = set;
			if (!(oracle->tx[tx_accelerator * oracle->planes + plane] & set))
				explore(oracle, MORPH_END_TX, tx_accelerator, (u8)plane, 0, 0);
		}
	return oracle->tries ? oracle->best : -2;
}

static double attenuate(double milliwatts, u32 mdb)
{
	return milliwatts * pow(10.0, -(double)mdb / 10000.0);
}

static u32 state_of(const struct oracle *oracle, u32 element)
{
	return oracle->held[element] == FREE ? kind_of(oracle, element)->park :
					       oracle->held[element];
}

/* Does a state of the element join the two ports? */
static bool ever_joined(const struct oracle *oracle, u32 element, u8 a, u8 b)
{
	u32 state, states = le16toh(kind_of(oracle, element)->states);

	for (state = 0; state < states; state++)
		if (join(oracle, element, state, a) == b)
			return true;
	return false;
}

static double shine(const struct oracle *oracle, u8 type, u32 index, u8 port, double power, u32 rx,
		    u32 leaks, u32 hops)
{
	const struct morph_profile_kind *kind;
	double sum = 0;
	u32 guide;
	int side;
	u8 out, came, through;

	if (hops == OPTICS_MAX_HOPS || !guide_at(oracle, type, index, port, &guide, &side))
		return 0;
	power = attenuate(power, le16toh(oracle->guides[guide].loss_mdb));
	guide_end(oracle, guide, !side, &type, &index, &came);
	if (type == MORPH_END_RX && index * oracle->planes + came == rx && !leaks)
		return power;
	if (type != MORPH_END_ELEMENT)
		return 0;
	kind = kind_of(oracle, index);
	through = join(oracle, index, state_of(oracle, index), came);
	if (through != MORPH_PORT_NONE)
		sum += shine(oracle, MORPH_END_ELEMENT, index, through,
			     attenuate(power, le32toh(kind->loss_mdb)), rx, leaks, hops + 1);
	for (out = 0; out < kind->ports && leaks; out++)
		if (out != through && out != came && ever_joined(oracle, index, came, out))
			sum += shine(oracle, MORPH_END_ELEMENT, index, out,
				     attenuate(power, le32toh(kind->extinction_mdb)), rx, leaks - 1,
				     0);
	return sum;
}

double oracle_light(const struct oracle *oracle, u32 tx, u32 rx, u32 leaks)
{
	double laser = pow(10.0, (double)(s32)le32toh(oracle->header->laser_mdbm) / 10000.0);

	return shine(oracle, MORPH_END_TX, tx / oracle->planes, (u8)(tx % oracle->planes), laser,
		     rx, leaks, 0);
}
