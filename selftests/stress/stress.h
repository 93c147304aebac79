/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the files of the stress programs share. */
#ifndef SELFTESTS_STRESS_H
#define SELFTESTS_STRESS_H

#include <stdatomic.h>

#include "../../libmorph/include/morph/device.h"
#include "fabric.h"

/* Random number from a seed: 0 to limit - 1, or 0 if limit is 0. */
unsigned int pick(uint64_t *seed, unsigned int limit);

/*
 * An actor performs random acts. The seed and the number of earlier acts choose each act. Each act
 * has its own random numbers, so its results and its number of draws change no later act.
 */
struct actor {
	uint64_t seed;
	uint64_t chance; /* random state of the current act */
	unsigned int done;
	int log; /* file of the log, or -1 */
	_Atomic unsigned int *count; /* shared counter of all actors, or NULL */
};

struct act {
	const char *name;
	unsigned int weight;
	int (*run)(void *who); /* returns 0 or an errno for the log */
};

/* Perform the next act of a table, which ends with an entry without a name. */
const struct act *actor_choose(struct actor *actor, const struct act *acts);
void actor_act(struct actor *actor, const struct act *acts, void *who);
/* Write a line to the log that describes no act. */
void actor_log(struct actor *actor, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define MOST_RANKS 6
#define MOST_CIRCUITS 32
#define MOST_RINGS 4

/* A queue that a tenant made and mapped. If @slice is 0 the entry is free. */
struct tenant_ring {
	unsigned int slice, number;
	unsigned int steps; /* number of steps of its schedule */
	bool user; /* whether it lies in memory of the tenant */
	void *memory;
	size_t bytes;
	struct morph_device_ring device;
	unsigned int tag; /* tag of the next entry */
	bool corrupt; /* an entry was invalid: the driver answers none after it */
};

/*
 * A tenant that uses slices and circuits at random. Two threads of a process may be one tenant
 * each.
 */
struct tenant {
	struct actor actor;
	int fabric; /* file, or -1 */
	_Atomic int slice; /* file, or -1 */
	struct tenant *sibling; /* tenant whose slice it also changes, or NULL */
	int give, take; /* socket for passing slices to other tenants, or -1 */
	unsigned int ranks;
	unsigned int serial; /* number of the slice's file in the log */
	struct morph_slice_info info;
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	unsigned int circuits_count;
	bool shared; /* other tenants may have the file, too */
	struct tenant_ring rings[MOST_RINGS];
	void *page; /* its slice's state page, or NULL */
	size_t page_bytes;
};

extern const struct act tenant_acts[];
/* Perform one act; false if there is no fabric any more. */
bool tenant_act(struct tenant *tenant);
/* Read all events, or close the slice. */
int tenant_listen(void *tenant);
int tenant_drop(void *tenant);
/* Return the file of the slice that an act uses: the tenant's own, or else its sibling's. */
int tenant_either(struct tenant *tenant);
/* Random number of the current act: 0 to limit - 1. */
unsigned int draw(struct tenant *tenant, unsigned int limit);
/* Run a tenant's process until the fabric goes or the process is killed. */
void tenant(unsigned int fabric, uint64_t seed) __attribute__((noreturn));

/* Slices with lent spares so far, and spares that failovers have taken back from them. */
struct loan_counts {
	_Atomic unsigned int made, taken;
};

/* Run a tenant that lends spares, as root, until the fabric goes or the process is killed. */
void borrower(const struct sim *sim, uint64_t seed, struct loan_counts *counts)
	__attribute__((noreturn));

/* Acts on schedules, queues and state pages: see schedule.c, ring.c and page.c. */
int schedule_load(void *tenant);
int schedule_load_wrong(void *tenant);
int schedule_start(void *tenant);
int schedule_walk(void *tenant);
int schedule_wait(void *tenant);
int schedule_stop(void *tenant);
int schedule_unload(void *tenant);
int schedule_look(void *tenant);
int schedule_spin(void *tenant);
/* Sometimes leave a running schedule before a pause. */
int schedule_leave(void *tenant);
int ring_new(void *tenant);
int ring_submit(void *tenant);
int ring_corrupt(void *tenant);
int ring_touch(void *tenant);
int page_read(void *tenant);

/* Log the answer (0 or an errno) to a call for which proof.py has a rule. */
int log_call(struct tenant *tenant, const char *call, int ret);
/* Return a file of the slice that an act uses, to be closed by the caller, or a negative errno. */
int borrow_slice(struct tenant *tenant, struct morph_slice_info *info);
/*
 * Find a schedule of the slice, or a running one (loaded and started if necessary). 0 or a negative
 * errno.
 */
int any_schedule(struct tenant *tenant, int slice, struct morph_schedule_info *info);
int running_schedule(struct tenant *tenant, int slice, struct morph_schedule_info *info);

/* While no actor runs: wait until all entries are answered, and log the amount of pinned memory. */
void rings_settle(struct tenant *tenant);
/* Release queues and state page before the tenant closes its slice. */
void rings_drop(struct tenant *tenant);
void page_drop(struct tenant *tenant);

/* Run an administrator over netlink on the fabric of that name, except on the given parts. */
struct admin;
extern const struct act admin_acts[];
struct admin *admin_new(struct actor actor, const char *fabric, const unsigned int *barred);
void admin_act(struct admin *admin);

/*
 * Run a coordinator of a change in two fabrics. It starts a change, or finishes one of a killed
 * coordinator.
 */
int coordinate(struct actor *actor, char **slices, unsigned int edge, uint64_t cookie,
	       const char *verb, unsigned int steps);

/*
 * While no tenant and no fault is left: wait until all slices have gone and nothing is claimed,
 * pinned or lit, both in the accounts of the core and in the hardware. The spares must be those of
 * the start, in number. Return NULL or a description.
 */
const char *balance_empty(const struct sim *sim);
/* While tenants pause: compare elements and lasers of the core and the hardware. */
const char *balance_held(const struct sim *sim);

#endif /* SELFTESTS_STRESS_H */
