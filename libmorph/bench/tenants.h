/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tenants of unequal weight that controllers share: what slicing is measured on. Weights have
 * Lomax's distribution, whose heavy tail makes one tenant an even share now and then.
 */
#ifndef LM_BENCH_TENANTS_H
#define LM_BENCH_TENANTS_H

#include <stdint.h>

#define TENANTS 4096 /* at most */
#define TENANTS_CONTROLLERS 16 /* at most */
#define TENANTS_CASES 8

struct tenants_case {
	uint32_t controllers, tenants;
	double tail; /* exponent of the distribution */
};

extern const struct tenants_case tenants_cases[TENANTS_CASES];

/* Put weights in order, the heaviest first; returns their sum. */
double tenants_sort(double *weights, uint32_t count);

/* Draw weights, in that order; returns their sum. */
double tenants_draw(const struct tenants_case *this, uint64_t *random, double *weights);

/* The weight that the failure of the worst controller touches. */
double tenants_worst(const struct tenants_case *this, const double *weights,
		     const uint32_t *controllers);

/*
 * What it can't be below: tenants are whole, so the heaviest of them, and an even share. @total: the
 * sum of the weights, which come heaviest first.
 */
double tenants_floor(const struct tenants_case *this, const double *weights, double total);

#endif /* LM_BENCH_TENANTS_H */
