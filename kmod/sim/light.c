// SPDX-License-Identifier: GPL-2.0-only
/*
 * Light that reaches a receiver through the present states of elements.
 *
 * Elements and guides are reciprocal, so the tracer follows light backward from the
 * receiver. It follows ports that states join, and ports that they extinguish at most
 * twice, until it finds a transmitter or the power is too low. The cost grows with the
 * path, not with the fabric. Powers of all paths add up; interference is not modelled.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "physics.h"

#define MAX_FOLLOW	4096	/* guides followed forward; a closed ring has no end */

/* Hash a number (the finaliser of a multiplicative generator). */
u64 sim_mix(u64 value)
{
	value += 0x9e3779b97f4a7c15ULL;
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
	return value ^ (value >> 31);
}

/* A triangle wave of the drift's period, about 0. @phase is below the period. */
static inline s32 triangle(const struct sim_optics *o, s32 amplitude, u64 phase)
{
	s32 quarters = div64_u64(phase * 4096, o->drift_period_ns);

	if (quarters < 2048)
		return amplitude * (quarters - 1024) / 1024;
	return amplitude * (3072 - quarters) / 1024;
}

/* The part of a time since the last whole period of the drift. */
static u64 drift_time(const struct sim_optics *o, u64 time)
{
	if (o->drift_period_ns)
		div64_u64_rem(time, o->drift_period_ns, &time);
	return time;
}

/* The drift of an element's loss. @time is that of drift_time(). */
static inline s32 drift_mdb(const struct sim_optics *o, const struct sim_element *element, u64 time)
{
	u64 phase = element->drift_phase + time;

	if (!o->drift_mdb || !o->drift_period_ns)
		return 0;
	if (phase >= o->drift_period_ns)
		phase -= o->drift_period_ns;
	return triangle(o, o->drift_mdb, phase);
}

/* The seed determines the phases in which the losses of elements drift with their temperature. */
void sim_set_seed(struct sim_optics *o, u64 seed)
{
	u32 i;

	o->seed = seed;
	for (i = 0; i < o->elements_count; i++)
		o->elements[i].drift_phase = drift_time(o, sim_mix(seed ^ sim_mix(i)));
}

/* The present drift of an element's loss. */
s32 sim_drift_mdb(const struct sim_optics *o, u32 element, u64 now)
{
	return drift_mdb(o, &o->elements[element], drift_time(o, now));
}

/* The temperature of the interposer, in thousandths of a degree. */
s32 sim_temperature(const struct sim_optics *o, u64 now)
{
	if (!o->drift_period_ns)
		return SIM_MEAN_MDEG;
	return SIM_MEAN_MDEG + triangle(o, SIM_SWING_MDEG, drift_time(o, sim_mix(o->seed) + now));
}

/*
 * Loss behind an element that is changing, at port @out. The path of the new state rises and the
 * path of the old one fades.
 */
static s32 moving_mdb(const struct sim_step *step, u32 out, u64 now, bool *leaks)
{
	const struct sim_optics *o = step->o;
	const struct sim_element *e = step->element;
	const struct sim_kind *kind = &o->kinds[e->kind];
	bool joined = step->joined == out, was = step->was == out;
	s32 loss;
	u64 settle, t;

	*leaks = !joined;
	if (!joined && !was)
		return step->leak_mdb;
	loss = step->joined_mdb;
	if (joined == was)
		return loss;
	*leaks = false;
	settle = o->settle_ns + e->slow_ns;
	t = settle - min(settle, e->settled_at - now);
	loss += joined ? sim_rise_mdb(t, settle) : sim_fade_mdb(t, settle);
	return min(loss, max(step->leak_mdb, step->loss_mdb + (s32)kind->loss_mdb));
}

static u64 add_saturated(u64 a, u64 b)
{
	return a + b < a ? U64_MAX : a + b;
}

/* Add the light of a transmit port, which arrives with @loss_mdb less. */
static void contribute(struct sim_light *light, const struct sim_optics *o, u32 port, u64 lanes,
		       s32 loss_mdb, u64 since)
{
	const struct sim_transmitter *tx = &o->transmitters[port];
	const struct sim_accelerator *source = &o->accelerators[port / o->planes];
	u64 healthy, weak;
	u32 lane;

	lanes &= tx->on & ~tx->dead;
	if (!lanes)
		return;
	healthy = sim_linear(o->laser_mdbm - loss_mdb);
	weak = tx->weak ? sim_linear(o->laser_mdbm - (s32)tx->weak_mdb - loss_mdb) : healthy;
	for (; lanes; lanes &= lanes - 1) {
		u64 power;

		lane = __ffs64(lanes);
		power = tx->weak & BIT_ULL(lane) ? weak : healthy;
		light->total[lane] = add_saturated(light->total[lane], power);
		if (power <= light->best[lane])
			continue;
		light->best[lane] = power;
		light->since[lane] = max3(since, source->alive_at,
					  o->lit_at[port * o->wavelengths + lane]);
		if (source->alive)
			light->modulated |= BIT_ULL(lane);
		else
			light->modulated &= ~BIT_ULL(lane);
	}
}

/* Clear the light on these lanes only. */
static void clear_light(struct sim_light *light, u64 lanes)
{
	for (; lanes; lanes &= lanes - 1) {
		u32 lane = __ffs64(lanes);

		light->total[lane] = 0;
		light->best[lane] = 0;
		light->since[lane] = 0;
	}
	light->modulated = 0;
}

/* Cross a guide and return its far end. */
static const struct sim_end *span(const struct sim_optics *o, sim_coded near, s32 *loss_mdb)
{
	const struct sim_guide *guide = &o->guides[near >> 1];

	*loss_mdb += guide->loss_mdb + guide->extra_mdb;
	return &guide->end[!(near & 1)];
}

static inline u32 port_bit(u32 port)
{
	return port == MORPH_PORT_NONE ? 0 : BIT(port);
}

/*
 * Return whether a leak of the step's element would end the path: it has leaked too often, or is
 * too weak then. A guide of an edge may end in a fabric that sees weaker light.
 */
static inline bool leak_ends(const struct sim_step *step)
{
	const struct sim_optics *o = step->o;

	return step->leaks == SIM_MAX_LEAKS ||
	       (!o->edges_count && o->laser_mdbm - step->leak_mdb < o->floor_mdbm);
}

/* The moment of a trace. */
struct moment {
	u64 now;
	u64 drift;	/* drift_time() of fabrics with this period */
	u64 period;
	bool settled;	/* assume that all elements have settled */
};

/*
 * Continue a step, which has the fabric, the losses and the leaks before it, at an element. Return
 * whether it has ports to try.
 */
static inline bool enter_element(struct sim_step *step, const struct sim_end *at,
				 const struct moment *moment)
{
	struct sim_optics *o = step->o;
	const struct sim_element *e = &o->elements[at->index];
	const struct sim_kind *kind = &o->kinds[e->kind];
	const struct morph_profile_state *states = &o->states[kind->first_state];
	u32 joined = states[e->state].joins[at->port], was = joined;
	u32 todo = kind->leaks[at->port];

	o->visits++;
	step->leak_mdb = step->loss_mdb + kind->extinction_mdb;
	step->moves = moment->now < e->settled_at && !moment->settled;
	if (unlikely(step->moves))
		was = states[e->previous].joins[at->port];
	if (leak_ends(step))
		todo &= port_bit(joined) | port_bit(was);
	if (!todo)
		return false;
	step->todo = todo;
	step->joined = joined;
	step->was = was;
	step->element = e;
	step->guides = &o->port_guide[e->first_port];
	if (joined == MORPH_PORT_NONE && was == MORPH_PORT_NONE)
		return true;
	step->joined_mdb = step->loss_mdb + kind->loss_mdb;
	/* The peer of an edge may be another kind of fabric. */
	if (likely(o->drift_period_ns == moment->period))
		step->joined_mdb += drift_mdb(o, e, moment->drift);
	else
		step->joined_mdb += drift_mdb(o, e, drift_time(o, moment->now));
	return true;
}

/*
 * Cross the guide with the coded end @near, with the losses and leaks of @next before it. If it
 * ends at a joined edge, also cross the peer's guide, which never ends at an edge. Return true if
 * an element with ports to try is at the far end; @next is then its step.
 */
static inline bool cross_guide(struct sim_light *light, sim_coded near, u64 lanes,
			       const struct moment *moment, struct sim_step *next)
{
	struct sim_optics *o = next->o;
	const struct sim_end *far = span(o, near, &next->loss_mdb);

	if (far->type == MORPH_END_EDGE && o->edges[far->index].peer) {
		const struct sim_edge *edge = &o->edges[far->index];

		o = edge->peer;
		next->o = o;
		far = span(o, o->edges[edge->peer_edge].guide, &next->loss_mdb);
	}
	if (o->laser_mdbm - next->loss_mdb < o->floor_mdbm)
		return false;
	if (far->type == MORPH_END_TX)
		contribute(light, o, far->index * o->planes + far->port, lanes, next->loss_mdb,
			   next->since);
	if (far->type != MORPH_END_ELEMENT)
		return false;
	return enter_element(next, far, moment);
}

/* Take the next guide of a step, and the losses and leaks before it; or return SIM_NONE. */
static inline sim_coded take_guide(struct sim_step *step, u64 now, struct sim_step *next)
{
	u32 port = __ffs(step->todo);
	bool leaks = port != step->joined;

	step->todo &= step->todo - 1;
	next->o = step->o;
	next->loss_mdb = leaks ? step->leak_mdb : step->joined_mdb;
	if (unlikely(step->moves))
		next->loss_mdb = moving_mdb(step, port, now, &leaks);
	next->since = leaks ? step->since : max(step->since, step->element->settled_at);
	next->leaks = step->leaks + leaks;
	return next->leaks > SIM_MAX_LEAKS ? SIM_NONE : step->guides[port];
}

/* Find all light that leaves the coded end of a guide of @from. */
static void trace(struct sim_light *light, struct sim_optics *from, sim_coded guide, u64 lanes,
		  u64 now, bool settled)
{
	const struct moment moment = {
		.now = now,
		.drift = drift_time(from, now),
		.period = from->drift_period_ns,
		.settled = settled,
	};
	struct sim_step *first = light->stack, *step = first;

	clear_light(light, lanes);
	from->traces++;
	first->todo = 0;
	first[1].o = from;
	first[1].since = 0;
	first[1].loss_mdb = 0;
	first[1].leaks = 0;
	for (;;) {
		if (guide != SIM_NONE && cross_guide(light, guide, lanes, &moment, step + 1))
			step++;
		for (; !step->todo; step--)
			if (step == first)
				return;
		guide = SIM_NONE;
		if (step == first + SIM_MAX_DEPTH)
			step->todo = 0;
		else
			guide = take_guide(step, now, step + 1);
	}
}

/**
 * sim_trace() - find all light that reaches a receive port
 * @o: fabric; its scratch @light takes the result, for these lanes only
 * @port: receive port
 * @lanes: lanes to trace
 * @now: time
 * @settled: true: assume that all elements have settled
 */
void sim_trace(struct sim_optics *o, u32 port, u64 lanes, u64 now, bool settled)
{
	trace(o->light, o, o->receivers[port].guide, lanes, now, settled);
}

/**
 * sim_trace_edge() - find all light that arrives at an edge
 * @o: fabric; its scratch @light takes the result, for all its lanes
 * @edge: edge
 * @now: time
 */
void sim_trace_edge(struct sim_optics *o, u32 edge, u64 now)
{
	const struct sim_edge *e = &o->edges[edge];

	if (e->peer)
		trace(o->light, e->peer, e->peer->edges[e->peer_edge].guide, o->all_lanes, now,
		      false);
	else
		clear_light(o->light, o->all_lanes);
}

/* The time since which the light that sim_trace() found on a lane permits lock. */
u64 sim_lock_since(const struct sim_optics *o, u32 port, u32 lane)
{
	return max3(o->light->since[lane], o->clear_at[port * o->wavelengths + lane],
		    o->accelerators[port / o->planes].alive_at);
}

/**
 * sim_receive() - read a receive port
 * @o: fabric; its scratch @light keeps the powers
 * @port: receive port
 * @lanes: requested lanes
 * @now: time
 * @settled: as for sim_trace()
 * @reading: result
 */
void sim_receive(struct sim_optics *o, u32 port, u64 lanes, u64 now, bool settled,
		 struct sim_reading *reading)
{
	struct sim_light *light = o->light;

	memset(reading, 0, sizeof(*reading));
	lanes &= o->all_lanes;
	if (o->receivers[port].deaf) {
		clear_light(light, lanes);
		return;
	}
	sim_trace(o, port, lanes, now, settled);
	for (; lanes; lanes &= lanes - 1) {
		u32 lane = __ffs64(lanes);
		u64 power = light->total[lane];
		u64 rest = power - light->best[lane];

		if (power > o->dark)
			reading->lit |= BIT_ULL(lane);
		if (power < o->sensitivity || power > o->overload ||
		    div_u64(light->best[lane], SIM_CAPTURE_RATIO) < rest ||
		    !(light->modulated & BIT_ULL(lane)) ||
		    !o->accelerators[port / o->planes].alive)
			continue;
		reading->usable |= BIT_ULL(lane);
		if (now >= sim_lock_since(o, port, lane) + o->relock_ns)
			reading->locked |= BIT_ULL(lane);
	}
}

/**
 * sim_follow() - follow light forward, along joined ports only
 * @fabric: fabric; on return the fabric in which the light ends
 * @out: guide at whose coded end the light enters
 *
 * Return: the receive port where it ends, or SIM_NONE.
 */
u32 sim_follow(struct sim_optics **fabric, sim_coded out)
{
	u32 hops;

	for (hops = 0; hops < MAX_FOLLOW && out != SIM_NONE; hops++) {
		struct sim_optics *o = *fabric;
		const struct sim_end *far = &o->guides[out >> 1].end[!(out & 1)];
		const struct sim_element *e;
		u32 port;

		if (far->type == MORPH_END_RX)
			return far->index * o->planes + far->port;
		if (far->type == MORPH_END_EDGE && o->edges[far->index].peer) {
			*fabric = o->edges[far->index].peer;
			out = (*fabric)->edges[o->edges[far->index].peer_edge].guide;
			continue;
		}
		if (far->type != MORPH_END_ELEMENT)
			return SIM_NONE;
		e = &o->elements[far->index];
		port = sim_joined(o, e, e->state, far->port);
		if (port == MORPH_PORT_NONE)
			return SIM_NONE;
		out = o->port_guide[e->first_port + port];
	}
	return SIM_NONE;
}
