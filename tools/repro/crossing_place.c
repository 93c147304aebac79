// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Servers for the slots of slices across racks: simulated annealing (Kirkpatrick, Gelatt and
 * Vecchi, Science 220, 1983) on the sum of links that the edges would take, were each alone.
 */
#include <math.h>
#include <string.h>

#include "../../libmorph/bench/random.h"
#include "crossing.h"

#define HOT 8.0
#define COLD 3.0
#define APART 20 /* of a way that is none */

/*
 * Each edge leaves a server by a side of its own, for no side has links for two: x and y have two
 * links of the rack and two of a face, z up and z down four each. Edges of a slice have one of
 * three patterns; the pair is slots 2k and 2k + 1, the ring is along even and along odd slots.
 */
enum pattern_kind {
	RING_AND_X, /* the ring goes up in z */
	RING_AND_Y,
	CUBE, /* pairs in x, the ring in y and z by turns */
	PATTERNS,
};

#define CROWDED 12 /* for each edge that finds its side taken */

/* An edge: how it leaves its servers, and how many links it takes. */
struct laid {
	uint8_t links;
	enum {
		BY_X,
		BY_Y,
		UP,
		DOWN
	} way;
};

#define FACES 48 /* groups, filled up so that they are compared by words */
#define LINES 8 /* of a rack in x and in y; in z there are four */

struct place {
	const struct pod *pod;
	struct plan *plan;
	uint64_t random;
	uint8_t patterns[CROSSING_MOST];
	struct laid laid[CROSSING_MOST][CROSSING_EDGES];
	/* Edges that want the links of a line in x or y, and of a line in z between two levels. */
	uint8_t flat[RACKS][2][LINES], levels[RACKS][4][5];
	int32_t energy;
	uint8_t near[RACKS][RACK_SITES][RACK_SITES]; /* links within the rack */
	uint8_t out[RACKS][RACK_SITES][FACES]; /* links to a face and through it */
	uint8_t in[RACKS][RACK_SITES][FACES]; /* the same, by the face at the other end */
	uint16_t where[RACKS * RACK_SITES]; /* the slot of a server */
	uint16_t lines[3][LINES][RACK_SLICES], lines_count[3][LINES]; /* servers by line */
};

/* Groups of faces that circuit switches join with one another. */
static uint32_t opposite(uint32_t group)
{
	return group < 32 ? group ^ 8 : group ^ 4;
}

static void measure(struct place *place, uint32_t rack)
{
	const struct pod *pod = place->pod;

	memset(place->near[rack], APART, sizeof(place->near[rack]));
	memset(place->out[rack], APART, sizeof(place->out[rack]));
	memset(place->in[rack], APART, sizeof(place->in[rack]));
	for (uint32_t from = 0; from < RACK_SITES; from++) {
		uint8_t *near = place->near[rack][from], *out = place->out[rack][from];
		uint8_t line[RACK_SITES], count = 1;

		near[from] = 0;
		line[0] = (uint8_t)from;
		for (uint32_t next = 0; next < count; next++) {
			uint32_t at = line[next];

			for (uint32_t arc = 0; arc < pod->arcs_count[at]; arc++) {
				const struct arc *way = &pod->arcs[at][arc];

				if (!pod->room[rack][way->group])
					continue;
				if (way->face) {
					out[way->group - DIRECT_GROUPS] = near[at] + 1;
				} else if (near[way->to] == APART) {
					near[way->to] = near[at] + 1;
					line[count++] = way->to;
				}
			}
		}
		for (uint32_t group = 0; group < FACE_GROUPS; group++)
			place->in[rack][from][opposite(group)] = out[group];
	}
}

/* Links from a server to one of another rack, by the nearest faces. */
static uint32_t through(const struct place *place, server one, server other)
{
	const uint8_t *out = place->out[one / RACK_SITES][one % RACK_SITES];
	const uint8_t *in = place->in[other / RACK_SITES][other % RACK_SITES];
	uint8_t least = APART;

	for (uint32_t group = 0; group < FACES; group++) {
		uint8_t links = (uint8_t)(out[group] + in[group]);

		least = links < least ? links : least;
	}
	return least;
}

/* Links behind the face of a server, to another server of the other rack. */
static uint32_t behind(const struct place *place, uint32_t group, server other)
{
	return place->in[other / RACK_SITES][other % RACK_SITES][group];
}

static uint32_t between(const struct place *place, server one, server other)
{
	return place->near[one / RACK_SITES][one % RACK_SITES][other % RACK_SITES];
}

/* The face of a server in x or y: its group, among those of faces. */
static uint32_t own_face(server at, uint32_t axis)
{
	uint32_t x = at & 1, y = at >> 1 & 1, z = at >> 2 & 3;

	return axis ? 16 + 8 * y + 2 * z + x : 8 * x + 2 * z + y;
}

/* An edge that leaves both servers in x, or in y: two links by faces and two by neighbours. */
static uint32_t edge_flat(const struct place *place, server one, server other, uint32_t axis)
{
	server mine = one ^ (1U << axis), its = other ^ (1U << axis);
	uint32_t my_face = own_face(one, axis), its_face = own_face(other, axis);
	uint32_t parallel, crosswise;

	if (one / RACK_SITES == other / RACK_SITES)
		return mine == other ? 6 : 12 + 4 * between(place, mine, its);
	parallel = (my_face == opposite(its_face) ? 2U : APART) + 2 + through(place, mine, its);
	crosswise = 4 + behind(place, my_face, its) + behind(place, its_face, mine);
	return 2 * (parallel < crosswise ? parallel : crosswise);
}

/* An edge that leaves one server up in z and enters the other from below. */
static uint32_t edge_up(const struct place *place, server one, server other)
{
	uint32_t top = (one >> 2 & 3) == 3, bottom = !(other >> 2 & 3);
	uint32_t my_face = 36 + (one & 3), its_face = 32 + (other & 3);
	server above = (server)(one + 4), below = (server)(other - 4);

	if (one / RACK_SITES == other / RACK_SITES) {
		if ((one & 3) == (other & 3) && ((other - one) & 15) == 4)
			return top ? 8 : 4;
		above = (server)((one & ~15U) | ((one + 4) & 15));
		below = (server)((other & ~15U) | ((other - 4) & 15));
		return 4 * (1 + top + between(place, above, below) + 1 + bottom);
	}
	if (top && bottom)
		return my_face == opposite(its_face) ? 8 : 4 * APART;
	if (top)
		return 4 * (2 + behind(place, my_face, below));
	if (bottom)
		return 4 * (2 + behind(place, its_face, above));
	return 4 * (2 + through(place, above, below));
}

/* The line of a dimension that a server is in: what it shares with those that it is joined to. */
static uint32_t line_of(server at, uint32_t axis)
{
	uint32_t x = at & 1, y = at >> 1 & 1, z = at >> 2 & 3;

	return axis == 0 ? 2 * z + y : axis == 1 ? 2 * z + x : 2 * y + x;
}

static void crowd(struct place *place, uint8_t *edges, int by)
{
	if (by < 0)
		--*edges;
	place->energy += by * (*edges ? CROWDED : 0);
	if (by > 0)
		++*edges;
}

static void crowd_flat(struct place *place, server one, server other, uint32_t axis, int by)
{
	crowd(place, &place->flat[one / RACK_SITES][axis][line_of(one, axis)], by);
	if (one != (other ^ (1U << axis)))
		crowd(place, &place->flat[other / RACK_SITES][axis][line_of(other, axis)], by);
}

/* Between levels: 0 is the lower face, 4 the upper one. */
static void crowd_up(struct place *place, server one, server other, int by)
{
	uint8_t *mine = place->levels[one / RACK_SITES][one & 3];
	uint8_t *its = place->levels[other / RACK_SITES][other & 3];
	uint32_t from = one >> 2 & 3, to = other >> 2 & 3,
		 near = one / RACK_SITES == other / RACK_SITES;

	if (near && mine == its && to == from + 1) {
		crowd(place, &mine[to], by);
		return;
	}
	for (uint32_t level = from + 1; level <= (near ? from + 1 : 4); level++)
		crowd(place, &mine[level], by);
	for (uint32_t level = near ? to : 0; level <= to; level++)
		crowd(place, &its[level], by);
}

static void lay(struct place *place, uint32_t slice, uint32_t edge, int by)
{
	const server *slots = &place->plan->slots[slice * CROSSING_SLOTS];
	server one = slots[crossing_edges[edge][0]], other = slots[crossing_edges[edge][1]];
	struct laid *laid = &place->laid[slice][edge];
	uint32_t kind = place->patterns[slice], links, back;

	if (by > 0 && (edge < 4 || (kind == CUBE && edge % 2 == 0))) {
		laid->way = kind == RING_AND_Y || edge >= 4 ? BY_Y : BY_X;
		laid->links = (uint8_t)edge_flat(place, one, other, laid->way);
	} else if (by > 0) {
		links = edge_up(place, one, other);
		back = kind == CUBE ? edge_up(place, other, one) : UINT32_MAX;
		laid->way = back < links ? DOWN : UP;
		laid->links = (uint8_t)(back < links ? back : links);
	}
	place->energy += by * laid->links;
	if (laid->way == DOWN)
		crowd_up(place, other, one, by);
	else if (laid->way == UP)
		crowd_up(place, one, other, by);
	else
		crowd_flat(place, one, other, laid->way, by);
}

/* The edges of a slot: beside, and along. */
static void lay_slot(struct place *place, uint32_t slot, uint32_t but, int by)
{
	uint32_t slice = slot / CROSSING_SLOTS, mine = slot % CROSSING_SLOTS;
	uint32_t ring = 4 + mine % 2 * 4;
	uint8_t edges[3] = { (uint8_t)(mine / 2), (uint8_t)(ring + mine / 2),
			     (uint8_t)(ring + (mine / 2 + 3) % 4) };

	if (slice >= place->plan->slices)
		return;
	for (uint32_t at = 0; at < 3; at++)
		if (but / CROSSING_SLOTS != slice ||
		    (crossing_edges[edges[at]][0] != but % CROSSING_SLOTS &&
		     crossing_edges[edges[at]][1] != but % CROSSING_SLOTS))
			lay(place, slice, edges[at], by);
}

#define NOBODY UINT32_MAX

/* Exchanges the servers of two slots; returns what that spares. */
static int32_t exchange(struct place *place, uint32_t one, uint32_t other)
{
	server *slots = place->plan->slots, a = slots[one], b = slots[other];
	int32_t before = place->energy;

	lay_slot(place, one, NOBODY, -1);
	lay_slot(place, other, one, -1);
	slots[one] = b;
	slots[other] = a;
	place->where[a] = (uint16_t)other;
	place->where[b] = (uint16_t)one;
	lay_slot(place, one, NOBODY, 1);
	lay_slot(place, other, one, 1);
	return before - place->energy;
}

static bool accepts(struct place *place, int32_t spared, double heat)
{
	return spared >= 0 || random_unit(&place->random) < exp(spared / heat);
}

static void turn_to(struct place *place, uint32_t slice, uint32_t kind)
{
	for (uint32_t edge = 0; edge < CROSSING_EDGES; edge++)
		lay(place, slice, edge, -1);
	place->patterns[slice] = (uint8_t)kind;
	for (uint32_t edge = 0; edge < CROSSING_EDGES; edge++)
		lay(place, slice, edge, 1);
}

/* Another pattern for the edges of a slice. */
static void turn(struct place *place, uint32_t slice, double heat)
{
	uint8_t kind = place->patterns[slice];
	int32_t before = place->energy;

	turn_to(place, slice, random_below(&place->random, PATTERNS));
	if (!accepts(place, before - place->energy, heat))
		turn_to(place, slice, kind);
}

/* A slot whose server might be better in @slot: of the rack or the line of one that it is joined to. */
static uint32_t propose(struct place *place, uint32_t slot)
{
	static const uint8_t beside[3] = { 1, 2, 6 };
	uint32_t first = slot / CROSSING_SLOTS * CROSSING_SLOTS,
		 way = random_below(&place->random, 3);
	uint32_t mine = slot % CROSSING_SLOTS, axis = random_below(&place->random, 3), left;
	const struct plan *plan = place->plan;
	server near;

	if (slot >= plan->slices * CROSSING_SLOTS)
		return random_below(&place->random, plan->servers);
	near = plan->slots[first + (way ? (mine + beside[way]) % CROSSING_SLOTS : mine ^ 1)];
	if (random_below(&place->random, 4)) {
		uint32_t line = line_of(near, axis);

		return place->where[place->lines[axis][line][random_below(
			&place->random, place->lines_count[axis][line])]];
	}
	left = place->pod->free[near / RACK_SITES];
	for (uint32_t skip = random_below(&place->random, net_count(left)); skip; skip--)
		left &= left - 1;
	return place->where[near / RACK_SITES * RACK_SITES + net_first(left)];
}

static void begin(struct place *place)
{
	struct plan *plan = place->plan;

	memset(place->patterns, 0, sizeof(place->patterns));
	memset(place->lines_count, 0, sizeof(place->lines_count));
	memset(place->flat, 0, sizeof(place->flat));
	memset(place->levels, 0, sizeof(place->levels));
	place->energy = 0;
	plan->servers = 0;
	for (uint32_t rack = 0; rack < RACKS; rack++) {
		measure(place, rack);
		for (uint32_t left = place->pod->free[rack]; left; left &= left - 1) {
			server at = (server)(rack * RACK_SITES + net_first(left));

			for (uint32_t axis = 0; axis < 3; axis++) {
				uint32_t line = line_of(at, axis);

				place->lines[axis][line][place->lines_count[axis][line]++] = at;
			}
			place->where[at] = (uint16_t)plan->servers;
			plan->slots[plan->servers++] = at;
		}
	}
	for (uint32_t slice = 0; slice < plan->slices; slice++)
		for (uint32_t edge = 0; edge < CROSSING_EDGES; edge++)
			lay(place, slice, edge, 1);
}

static void anneal(struct place *place, uint32_t moves, double heat)
{
	double cooling = pow(COLD / heat, 1.0 / moves);

	for (uint32_t move = 0; move < moves; move++, heat *= cooling) {
		uint32_t one = random_below(&place->random, place->plan->servers);
		uint32_t other = propose(place, one);

		if (move % 16 == 0)
			turn(place, move / 16 % place->plan->slices, heat);
		if (one != other && !accepts(place, exchange(place, one, other), heat))
			exchange(place, one, other);
	}
}

void crossing_place(const struct pod *pod, struct plan *plan, uint32_t moves, uint64_t seed)
{
	static struct place place;

	place.pod = pod;
	place.plan = plan;
	place.random = seed;
	begin(&place);
	anneal(&place, moves, HOT);
}
