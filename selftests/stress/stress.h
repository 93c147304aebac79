/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the stress program share. */
#ifndef SELFTESTS_STRESS_H
#define SELFTESTS_STRESS_H

#include "fabric.h"

/* Chance from a seed: 0 to limit - 1. */
unsigned int pick(uint64_t *seed, unsigned int limit);

/* The number after a key in a file of the core's debugfs, or -1. */
long long core_number(const struct sim *sim, const char *file, const char *key);

/* A tenant's process: slices and circuits at random, until the fabric goes or it is killed. */
void tenant(unsigned int fabric, uint64_t seed) __attribute__((noreturn));

/*
 * With nobody left and no fault: wait until every slice has gone and nothing is claimed,
 * pinned or lit, by the core's books and by the hardware's own state. NULL, or what is wrong.
 */
const char *balance_empty(const struct sim *sim);
/* With tenants that hold still: core and hardware agree on elements and lasers. */
const char *balance_held(const struct sim *sim);

#endif /* SELFTESTS_STRESS_H */
