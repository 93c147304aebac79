/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The physical state of a simulated fabric, and the light in it.
 *
 * profile.c converts a device profile to the arrays below, light.c traces light
 * through them, decibel.c does the arithmetic. They take no locks, allocate only while
 * they read the profile, and use only types of the kernel. The caller serialises, and
 * a test can build them as a program.
 *
 * This code shares only the layout of the profile with kmod/optics, so that tests can
 * compare both.
 *
 * The tracer treats two fabrics with joined edges as one: light that reaches an edge
 * continues in the peer. The caller serialises both with the same lock.
 */
#ifndef MORPH_SIM_PHYSICS_H
#define MORPH_SIM_PHYSICS_H

#include <linux/types.h>

#include "optics/profile.h"

#define SIM_NONE		0xffffffffu
#define SIM_OPAQUE_MDB		1000000		/* 1000 dB: no light passes */
#define SIM_FLOOR_MDB		10000		/* monitors read this far below dark */
#define SIM_CAPTURE_RATIO	10	/* lock needs this ratio of the best path to the rest */
#define SIM_MEAN_MDEG		45000
#define SIM_SWING_MDEG		5000		/* amplitude in a period of the drift */
#define SIM_MAX_LEAKS		2	/* extinguished crossings on a traced path */
#define SIM_MAX_DEPTH		192		/* elements on a traced path */
#define SIM_MAX_ELEMENTS	4194304u
#define SIM_MAX_GUIDES		16777216u
#define SIM_MAX_ACCELERATORS	65536u
#define SIM_MAX_LANE_STATES	8388608u	/* receive ports times lanes */

/* A guide of a port: guide * 2 + the end that is attached to the port. */
typedef u32 sim_coded;

struct sim_end {
	u32 index;		/* element, accelerator or edge */
	u8 port;
	u8 type;		/* enum morph_end_type */
};

struct sim_guide {
	struct sim_end end[2];
	u32 loss_mdb;
	u32 extra_mdb;		/* by faults; SIM_OPAQUE_MDB: cut */
	u16 class;
};

struct sim_kind {
	u32 first_state;
	u32 loss_mdb;
	u32 extinction_mdb;
	u16 states;
	u8 ports;
	u8 park;
	u16 leaks[MORPH_MAX_PORTS];	/* by port: mask of ports that some state joins to it */
};

struct sim_element {
	u64 settled_at;		/* end of the change from previous to state */
	u64 slow_ns;		/* by faults: settles this much later */
	u64 drift_phase;	/* constant; below sim_optics.drift_period_ns */
	u32 kind;
	u32 first_port;		/* into sim_optics.port_guide */
	u8 state;
	u8 previous;
	bool stuck;
};

struct sim_transmitter {
	u64 on;			/* lanes whose laser is switched on */
	u64 dead;		/* by faults: lanes whose laser never emits */
	u64 weak;		/* by faults: lanes that emit weak_mdb less */
	u32 weak_mdb;
	sim_coded guide;
};

struct sim_receiver {
	sim_coded guide;
	bool deaf;
};

struct sim_optics;

/* A guide leaves the fabric here. Joined while the peer's hardware exists. */
struct sim_edge {
	struct sim_optics *peer;	/* NULL: light that leaves is lost, none arrives */
	u32 peer_edge;
	u8 peer_uuid[16];
	sim_coded guide;
};

struct sim_accelerator {
	u64 alive_at;
	bool alive;
};

/* A step of the backward trace: an element, and its ports that are left to try. */
struct sim_step {
	struct sim_optics *o;	/* fabric of the element */
	const struct sim_element *element;
	const sim_coded *guides;	/* by port of the element */
	u64 since;		/* when the last element behind it had settled */
	s32 loss_mdb;		/* before the element */
	s32 joined_mdb, leak_mdb;	/* behind it: of the joined port, and of the others */
	u16 todo;
	u8 joined, was;		/* ports that its states join to this one; or MORPH_PORT_NONE */
	u8 leaks;
	bool moves;		/* the element has not settled, so the losses are others */
};

/* Light at one receive port, by lane. */
struct sim_light {
	u64 total[MORPH_MAX_WAVELENGTHS];
	u64 best[MORPH_MAX_WAVELENGTHS];	/* strongest single path */
	u64 since[MORPH_MAX_WAVELENGTHS];	/* since when that path is undisturbed */
	u64 modulated;				/* lanes whose best path carries data */
	struct sim_step stack[SIM_MAX_DEPTH + 1];	/* the first has no element */
};

/*
 * The hardware of a fabric. Data from the profile are constant after sim_profile_read(),
 * except fields that the structures above mark as physical state.
 */
struct sim_optics {
	char name[32];
	u32 checksum;
	u32 wavelengths;
	u32 planes;
	s32 laser_mdbm;
	s32 floor_mdbm;
	s32 dark_mdbm;
	u64 dark;			/* these are linear powers */
	u64 sensitivity;
	u64 overload;
	u32 drift_mdb;
	u64 drift_period_ns;
	u64 settle_ns;
	u64 relock_ns;
	u64 write_fixed_ns;
	u64 write_each_ns;
	u64 all_lanes;
	u64 seed;

	u32 kinds_count;
	u32 states_count;
	u32 elements_count;
	u32 guides_count;
	u32 accelerators_count;
	u32 hosts_count;
	u32 edges_count;
	u32 ports_count;		/* accelerators_count * planes */
	u32 element_ports_count;

	struct sim_kind *kinds;
	struct morph_profile_state *states;
	struct sim_element *elements;
	sim_coded *port_guide;		/* by element.first_port + port */
	struct sim_guide *guides;
	struct sim_accelerator *accelerators;
	struct sim_transmitter *transmitters;
	struct sim_receiver *receivers;
	struct sim_edge *edges;
	u64 *lit_at;			/* by transmit port * wavelengths + lane */
	u64 *clear_at;			/* by receive port likewise: end of a disturbance */

	struct sim_light *light;	/* scratch of the tracer */
	u64 traces;
	u64 visits;			/* elements that the tracer visited */
};

/* Why a profile was refused, in a sentence. */
struct sim_refusal {
	char text[160];
};

/**
 * struct sim_reading - a receive port's lanes at one moment
 * @lit: lanes above the profile's dark power
 * @usable: lanes that are locked, or will be when undisturbed for relock_ns
 * @locked: lanes whose receiver is locked
 */
struct sim_reading {
	u64 lit;
	u64 usable;
	u64 locked;
};

int sim_profile_read(struct sim_optics *o, const void *blob, size_t bytes,
		     struct sim_refusal *why);
void sim_profile_set_times(void *blob, size_t bytes, const struct sim_optics *o);
void sim_profile_free(struct sim_optics *o);

u64 sim_linear(s32 mdbm);
s32 sim_mdbm(u64 linear);
s32 sim_rise_mdb(u64 t, u64 settle_ns);
s32 sim_fade_mdb(u64 t, u64 settle_ns);

u64 sim_mix(u64 value);
void sim_set_seed(struct sim_optics *o, u64 seed);
s32 sim_drift_mdb(const struct sim_optics *o, u32 element, u64 now);
s32 sim_temperature(const struct sim_optics *o, u64 now);
void sim_trace(struct sim_optics *o, u32 port, u64 lanes, u64 now, bool settled);
void sim_trace_edge(struct sim_optics *o, u32 edge, u64 now);
void sim_receive(struct sim_optics *o, u32 port, u64 lanes, u64 now, bool settled,
		 struct sim_reading *reading);
u64 sim_lock_since(const struct sim_optics *o, u32 port, u32 lane);
u32 sim_follow(struct sim_optics **o, sim_coded out);

static inline u32 sim_joined(const struct sim_optics *o, const struct sim_element *element,
			     u32 state, u32 port)
{
	return o->states[o->kinds[element->kind].first_state + state].joins[port];
}

#endif /* MORPH_SIM_PHYSICS_H */
