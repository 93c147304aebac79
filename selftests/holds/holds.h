/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The campaign holds: workloads that try to hold fabric->lock for long, on one fabric after the
 * other.
 */
#ifndef SELFTESTS_HOLDS_H
#define SELFTESTS_HOLDS_H

#include "fabric.h"
#include "nl.h"

/* A fabric under test. */
struct scene {
	struct sim sim;
	struct nl nl;
	unsigned int all; /* accelerators */
};

struct workload {
	const char *name;
	void (*run)(struct scene *scene);
};

/*
 * Workloads of tenants, also those that move circuits, those of schedules, those of failing
 * hardware, and those whose holders lose the processor or want memory that is short. The last entry
 * has no name.
 */
extern const struct workload tenants[];
extern const struct workload moves[];
extern const struct workload schedules[];
extern const struct workload failures[];
extern const struct workload absences[];
/* No holder may sleep. */
extern const struct workload sleepless[];

/* The longest delay of one of the tenant's calls. */
struct delay {
	const char *name;
	unsigned long long ns; /* running time of the holds that it waited for */
	unsigned int holds; /* their number */
	unsigned int calls; /* that were measured */
};

#define DELAYED_CALLS 5u

/* Measure the calls of a tenant beside hostile users; DELAYED_CALLS entries. */
void measure_delays(struct scene *scene, struct delay *worst);

/* Does a hold over the bound fail? Not on kernels for finding bugs, which may lack cgroups. */
extern bool judges;

void __attribute__((noreturn)) stop(const char *what);
/* Make a slice, or end the program. 0 accelerators: all. */
int need_slice(struct scene *scene, unsigned int accelerators, unsigned int failover);
/* Close the slice and wait until its accelerators are free. */
void end_slice(struct scene *scene, int slice);
/* Light a ring over as many of the first ranks as get a circuit; return their number. */
unsigned int light_some(int slice, unsigned int ranks);

/* Fill the circuits and steps of a schedule: each step is a matching of all ranks. */
void fill_matchings(unsigned int ranks, unsigned int count, struct morph_schedule_circuit *circuits,
		    struct morph_schedule_step *steps, uint32_t *held);

#endif /* SELFTESTS_HOLDS_H */
