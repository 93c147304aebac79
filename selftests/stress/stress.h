/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the stress programs share. */
#ifndef SELFTESTS_STRESS_H
#define SELFTESTS_STRESS_H

#include <stdatomic.h>

#include "../../libmorph/include/morph/device.h"
#include "fabric.h"

/* Chance from a seed: 0 to limit - 1, and 0 of nothing. */
unsigned int pick(uint64_t *seed, unsigned int limit);

/*
 * Whoever acts by chance. Each act is chosen by the seed and by how many came before it, and
 * has a chance of its own: what an act finds, and how much it draws, changes no later one.
 */
struct actor {
	uint64_t seed;
	uint64_t chance; /* of the act under way */
	unsigned int done;
	int log; /* where acts are told, or -1 */
	_Atomic unsigned int *count; /* of all actors together, or NULL */
};

struct act {
	const char *name;
	unsigned int weight;
	int (*run)(void *who); /* 0 or an errno, which is told and no more */
};

/* The next act of a table, which ends with a nameless one. */
const struct act *actor_choose(struct actor *actor, const struct act *acts);
void actor_act(struct actor *actor, const struct act *acts, void *who);
/* A line in the log that is no act. */
void actor_tell(struct actor *actor, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define MOST_RANKS 6
#define MOST_CIRCUITS 32
#define MOST_RINGS 4

/* A ring that a tenant has made and mapped; a slice's number of 0: none. */
struct tenant_ring {
	unsigned int slice, number;
	unsigned int steps; /* of its schedule */
	bool user; /* in memory of the tenant's own */
	void *memory;
	size_t bytes;
	struct morph_device_ring device;
	unsigned int tag; /* of the next entry */
	bool spoilt; /* an entry means nothing: those after it are not answered */
};

/* Slices and circuits at random. Two threads of a process may be a tenant each. */
struct tenant {
	struct actor actor;
	int fabric; /* file, or -1 */
	_Atomic int slice; /* file, or -1 */
	struct tenant *sibling; /* in whose slice it meddles, or NULL */
	int give, take; /* a socket through which slices are handed on, or -1 */
	unsigned int ranks;
	unsigned int serial; /* of the slice's file, as the log calls it */
	struct morph_slice_info info;
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	unsigned int circuits_count;
	bool shared; /* others may have the file, too */
	struct tenant_ring rings[MOST_RINGS];
	void *page; /* of its slice's state, or NULL */
	size_t page_bytes;
};

extern const struct act tenant_acts[];
/* One act, if there is a fabric; false: there is none any more. */
bool tenant_act(struct tenant *tenant);
/* Read all events; close the slice. */
int tenant_listen(void *tenant);
int tenant_drop(void *tenant);
/* Whose slice an act is about: its own, if it has one, or its sibling's. */
int tenant_either(struct tenant *tenant);
/* Chance of the act under way: 0 to limit - 1. */
unsigned int draw(struct tenant *tenant, unsigned int limit);
/* A tenant's process, until the fabric goes or it is killed. */
void tenant(unsigned int fabric, uint64_t seed) __attribute__((noreturn));

/*
 * What tenants do with schedules and rings, and the state page: see schedule.c, ring.c and page.c.
 */
int schedule_load(void *tenant);
int schedule_load_wrong(void *tenant);
int schedule_start(void *tenant);
int schedule_walk(void *tenant);
int schedule_wait(void *tenant);
int schedule_stop(void *tenant);
int schedule_unload(void *tenant);
int schedule_look(void *tenant);
int schedule_spin(void *tenant);
/* Those who are about to hold still leave something that runs, now and then. */
int schedule_leave(void *tenant);
int ring_new(void *tenant);
int ring_submit(void *tenant);
int ring_spoil(void *tenant);
int ring_touch(void *tenant);
int page_read(void *tenant);

/* The answer to a call of these, which proof.py has a rule for: 0 or an errno. */
int tell_call(struct tenant *tenant, const char *call, int ret);
/* A file of the slice that an act is about, to be closed; or a negative errno. */
int borrow_slice(struct tenant *tenant, struct morph_slice_info *info);
/* One of its schedules, or a negative errno; and one that runs, loaded and started if need be. */
int any_schedule(struct tenant *tenant, int slice, struct morph_schedule_info *info);
int running_schedule(struct tenant *tenant, int slice, struct morph_schedule_info *info);

/* With nobody acting: all that was submitted is answered. What is pinned is told. */
void rings_settle(struct tenant *tenant);
/* The tenant lets go of its slice. */
void rings_drop(struct tenant *tenant);
void page_drop(struct tenant *tenant);

/* An administrator, by netlink, of a fabric by its name; hardware that he must leave alone. */
struct admin;
extern const struct act admin_acts[];
struct admin *admin_new(struct actor actor, const char *fabric, const unsigned int *barred);
void admin_act(struct admin *admin);

/* A coordinator of a change in two fabrics: forward, or finishing what another one began. */
int coordinate(struct actor *actor, char **slices, unsigned int edge, uint64_t cookie,
	       const char *verb, unsigned int steps);

/*
 * With nobody left and no fault: wait until every slice has gone and nothing is claimed,
 * pinned or lit, by the core's books and by the hardware's own state. NULL, or what is wrong.
 */
const char *balance_empty(const struct sim *sim);
/* With tenants that hold still: core and hardware agree on elements and lasers. */
const char *balance_held(const struct sim *sim);

#endif /* SELFTESTS_STRESS_H */
