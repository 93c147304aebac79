// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Loss, power, and leakage of light. */
#include "internal.h"

#define SUM_STEP_MDB	500

/* 10 log10(1 + 10^(-d/10)) in mdb, for d = 0, 0.5, 1, ... dB; zero from the last entry on. */
static const u16 sum_table[] = {
	3010, 2767, 2539, 2325, 2124, 1938, 1764, 1604, 1455, 1319, 1193, 1078,
	973, 877, 790, 711, 639, 574, 515, 462, 414, 371, 332, 297,
	266, 238, 212, 190, 170, 151, 135, 121, 108, 96, 86, 77,
	68, 61, 54, 48, 43, 39, 34, 31, 27, 24, 22, 19,
	17, 15, 14, 12, 11, 10, 9, 8, 7, 6, 5, 5,
	4, 4, 3, 3, 3, 2, 2, 2, 2, 2, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 0, 0,
};

s32 optics_power_sum(s32 a_mdbm, s32 b_mdbm)
{
	s32 high = a_mdbm > b_mdbm ? a_mdbm : b_mdbm;
	s64 apart = a_mdbm > b_mdbm ? (s64)a_mdbm - b_mdbm : (s64)b_mdbm - a_mdbm;
	s32 entry, rest, gain;

	if (apart >= (s64)(ARRAY_SIZE(sum_table) - 1) * SUM_STEP_MDB)
		return high;
	entry = (s32)apart / SUM_STEP_MDB;
	rest = (s32)apart % SUM_STEP_MDB;
	gain = sum_table[entry] -
	       (sum_table[entry] - sum_table[entry + 1]) * rest / SUM_STEP_MDB;
	return high > OPTICS_MAX_MDB ? high : high + gain;
}

#define NANOWATT_MDBM	(-60000)
#define MOST_MDBM	36000	/* 4 W; 32 bits hold more nanowatts than that */

/* Fixed point, since a 32-bit machine has no 64-bit division: factors below 10, and below 2. */
#define BITS_10		28
#define BITS_2		31
#define PER_MDB		500364u	/* of 10^(1/10000), less 1, with BITS_2 */

/* 10^(n/10) with BITS_10, and 10^(n/100) with BITS_2. */
static const u32 by_db[] = {
	268435456, 337940217, 425441527, 535599149, 674279380,
	848867446, 1068660799, 1345364236, 1693713225, 2132258619,
};

static const u32 by_tenth_db[] = {
	2147483648, 2197504968, 2248691434, 2301070187, 2354668997,
	2409516283, 2465641128, 2523073287, 2581843214, 2641982068,
};

u32 optics_power_nw(s32 mdbm)
{
	u32 rest, decades;
	u64 power;

	if (mdbm < NANOWATT_MDBM)
		return 0;
	rest = (u32)((mdbm > MOST_MDBM ? MOST_MDBM : mdbm) - NANOWATT_MDBM);
	decades = rest / 10000;
	rest %= 10000;
	power = (u64)by_db[rest / 1000] * by_tenth_db[rest % 1000 / 100] >> BITS_2;
	power = power * ((1u << BITS_2) + rest % 100 * PER_MDB) >> BITS_2;
	while (decades--)
		power *= 10;
	return (u32)((power + (1u << (BITS_10 - 1))) >> BITS_10);
}

static const struct optics_kind *kind_of(const struct optics_graph *graph, u32 element)
{
	return &graph->kinds[graph->elements[element].kind];
}

u32 optics_path_loss(const struct optics_graph *graph, const struct optics_path *path)
{
	u32 loss = 0, i;

	for (i = 0; i < path->hops_count; i++) {
		loss += graph->guides[path->hops[i].guide >> 1].loss_mdb;
		if (path->hops[i].element != OPTICS_NONE)
			loss += kind_of(graph, path->hops[i].element)->loss_mdb;
	}
	return loss;
}

s32 optics_path_power(const struct optics_graph *graph, const struct optics_path *path)
{
	s32 source = graph->params.laser_mdbm;

	if (optics_end_is_edge(graph, path->tx))
		source = optics_edge_least(graph, path->tx - graph->ports_count);
	return source - (s32)optics_path_loss(graph, path);
}

u32 optics_path_spread(const struct optics_graph *graph, const struct optics_path *path)
{
	u32 edge = path->tx - graph->ports_count;

	if (!optics_end_is_edge(graph, path->tx))
		return 0;
	return (u32)(optics_edge_most(graph, edge) - optics_edge_least(graph, edge));
}

/*
 * A light ray that is about to enter the guide @code. OPTICS_NONE: it is lost.
 * @hops_left bounds a walk through states that form a ring.
 */
struct ray {
	u32 code;
	s32 power;
	u32 hops_left;
};

/* A walk along stray light, and the data for its reports. */
struct stray {
	const struct optics_graph *graph;
	const u8 *element_state;
	u32 rx;			/* the receiver, if the walk begins there */
	u32 tx;			/* the transmitter, if the walk begins there */
	u64 lanes;
	s32 floor;
	u8 wanted;		/* enum morph_end_type: report walks that end there */
	optics_leak_fn emit;
	void *context;
};

/* Pass the next guide. Returns its far end, or NULL if the light is lost. */
static const struct optics_end *ray_step(const struct optics_graph *graph, struct ray *ray,
					 s32 floor)
{
	if (ray->code == OPTICS_NONE || !ray->hops_left--)
		return NULL;
	ray->power -= graph->guides[ray->code >> 1].loss_mdb;
	return ray->power < floor ? NULL : optics_far_end(graph, ray->code);
}

/* The guides that a ray has passed or tried to pass; hops_left has wrapped after all of them. */
static u32 ray_passed(const struct ray *ray)
{
	return OPTICS_MAX_HOPS - ray->hops_left;
}

/* An element that light has entered, and the next ports of the light. */
struct crossing {
	const struct optics_kind *kind;
	const u32 *guides;	/* at its ports */
	u8 entered;
	u8 joined;		/* port joined to @entered, or MORPH_PORT_NONE */
};

/* The element at @end, in @state. */
static struct crossing crossing_at(const struct optics_graph *graph, const struct optics_end *end,
				   u32 state)
{
	const struct optics_element *element = &graph->elements[end->index];
	const struct optics_kind *kind = &graph->kinds[element->kind];

	return (struct crossing){
		.kind = kind,
		.guides = graph->port_guide + element->first_port,
		.entered = end->port,
		.joined = graph->states[kind->first_state + state].joins[end->port],
	};
}

static void ray_cross(struct ray *ray, const struct crossing *at)
{
	ray->code = at->joined == MORPH_PORT_NONE ? OPTICS_NONE : at->guides[at->joined];
	ray->power -= (s32)at->kind->loss_mdb;
}

/* Ports into which @power leaks; none if it is too weak. */
static u32 leaks_of(const struct crossing *at, s32 power, s32 floor)
{
	u32 leaks = at->kind->leaks[at->entered];

	if (power < floor)
		return 0;
	return at->joined == MORPH_PORT_NONE ? leaks : leaks & ~(1u << at->joined);
}

static void report_stray(const struct stray *stray, const struct optics_end *end, s32 power)
{
	const struct optics_graph *graph = stray->graph;
	u32 at = optics_circuit_end(graph, end);
	struct optics_leak leak = {
		.rx = stray->wanted == MORPH_END_RX ? at : stray->rx,
		.tx = stray->wanted == MORPH_END_TX ? at : stray->tx,
		.lanes = stray->lanes,
		.power_mdbm = power,
	};

	if (end->type == MORPH_END_EDGE) {
		/* The backward trace started with the power of a laser, which is no weaker. */
		if (stray->wanted == MORPH_END_TX)
			leak.power_mdbm += optics_edge_most(graph, end->index) -
					   graph->params.laser_mdbm;
	} else if (end->type != stray->wanted) {
		return;
	}
	stray->emit(stray->context, &leak);
}

/* Follow light that has leaked twice along the states to its end. Return the guides passed. */
static u32 stray_second(const struct stray *stray, struct ray ray)
{
	const struct optics_end *end;

	while ((end = ray_step(stray->graph, &ray, stray->floor))) {
		struct crossing at;

		if (end->type != MORPH_END_ELEMENT) {
			report_stray(stray, end, ray.power);
			break;
		}
		at = crossing_at(stray->graph, end, stray->element_state[end->index]);
		ray_cross(&ray, &at);
	}
	return ray_passed(&ray);
}

/*
 * Follow light that has leaked once along the states, and its leaks at each element. Return the
 * guides passed.
 */
static u32 stray_first(const struct stray *stray, struct ray ray)
{
	const struct optics_graph *graph = stray->graph;
	const struct optics_end *end;
	u32 passed = 0;

	while ((end = ray_step(graph, &ray, stray->floor))) {
		struct crossing at;
		struct ray leak;
		u32 leaks;

		if (end->type != MORPH_END_ELEMENT) {
			report_stray(stray, end, ray.power);
			break;
		}
		at = crossing_at(graph, end, stray->element_state[end->index]);
		leak.power = ray.power - (s32)at.kind->extinction_mdb;
		leaks = leaks_of(&at, leak.power, stray->floor);
		for (; leaks; leaks &= leaks - 1) {
			leak.code = at.guides[optics_first64(leaks)];
			leak.hops_left = OPTICS_MAX_HOPS;
			passed += stray_second(stray, leak);
		}
		ray_cross(&ray, &at);
	}
	return passed + ray_passed(&ray);
}

/*
 * Follow the main light from one end of a circuit, and each stray from its leak. The
 * elements of @path have the states of @path. Without a path, all elements have the
 * states of stray->element_state. Return the guides that light and strays have passed.
 */
static u32 stray_walk(const struct stray *stray, u32 code, const struct optics_path *path)
{
	const struct optics_graph *graph = stray->graph;
	struct ray ray = { code, graph->params.laser_mdbm, OPTICS_MAX_HOPS };
	const struct optics_end *end;
	u32 crossed = 0, passed = 0;

	if (stray->tx != OPTICS_NONE && optics_end_is_edge(graph, stray->tx))
		ray.power = optics_edge_most(graph, stray->tx - graph->ports_count);
	while ((end = ray_step(graph, &ray, stray->floor))) {
		struct crossing at;
		u32 state, leaks;
		struct ray leak;

		if (end->type != MORPH_END_ELEMENT)
			break;
		state = stray->element_state[end->index];
		if (path) {
			if (++crossed >= path->hops_count)
				break;
			state = path->hops[stray->wanted == MORPH_END_RX ? crossed - 1 :
					   path->hops_count - 1 - crossed].state;
		}
		at = crossing_at(graph, end, state);
		leak.power = ray.power - (s32)at.kind->extinction_mdb;
		leaks = leaks_of(&at, leak.power, stray->floor);
		for (; leaks; leaks &= leaks - 1) {
			leak.code = at.guides[optics_first64(leaks)];
			leak.hops_left = OPTICS_MAX_HOPS;
			passed += stray_first(stray, leak);
		}
		ray_cross(&ray, &at);
	}
	return passed + ray_passed(&ray);
}

u32 optics_leaks_from(const struct optics_graph *graph, const u8 *element_state,
		      const struct optics_path *path, s32 floor_mdbm, optics_leak_fn emit,
		      void *context)
{
	const struct stray stray = {
		.graph = graph, .element_state = element_state, .rx = OPTICS_NONE, .tx = path->tx,
		.lanes = path->lanes, .floor = floor_mdbm, .wanted = MORPH_END_RX,
		.emit = emit, .context = context,
	};

	return stray_walk(&stray, graph->tx_guide[path->tx], path);
}

u32 optics_leaks_into(const struct optics_graph *graph, const u8 *element_state,
		      const struct optics_path *path, s32 floor_mdbm, optics_leak_fn emit,
		      void *context)
{
	const struct stray stray = {
		.graph = graph, .element_state = element_state, .rx = path->rx, .tx = OPTICS_NONE,
		.lanes = path->lanes, .floor = floor_mdbm, .wanted = MORPH_END_TX,
		.emit = emit, .context = context,
	};

	return stray_walk(&stray, graph->rx_guide[path->rx], path);
}

u32 optics_leaks_at(const struct optics_graph *graph, const u8 *element_state, u32 rx,
		    u64 lanes, s32 floor_mdbm, optics_leak_fn emit, void *context)
{
	const struct stray stray = {
		.graph = graph, .element_state = element_state, .rx = rx, .tx = OPTICS_NONE,
		.lanes = lanes, .floor = floor_mdbm, .wanted = MORPH_END_TX,
		.emit = emit, .context = context,
	};

	return stray_walk(&stray, graph->rx_guide[rx], NULL);
}

s32 optics_signal_at(const struct optics_graph *graph, const u8 *element_state, u32 rx, u32 *tx)
{
	struct ray ray = { graph->rx_guide[rx], graph->params.laser_mdbm, OPTICS_MAX_HOPS };
	const struct optics_end *end;

	while ((end = ray_step(graph, &ray, -OPTICS_MAX_MDB))) {
		struct crossing at;

		if (end->type == MORPH_END_TX) {
			*tx = optics_circuit_end(graph, end);
			return ray.power;
		}
		if (end->type == MORPH_END_EDGE) {
			*tx = optics_circuit_end(graph, end);
			return ray.power - graph->params.laser_mdbm +
			       optics_edge_least(graph, end->index);
		}
		if (end->type != MORPH_END_ELEMENT)
			break;
		at = crossing_at(graph, end, element_state[end->index]);
		ray_cross(&ray, &at);
	}
	*tx = OPTICS_NONE;
	return -OPTICS_MAX_MDB;
}
