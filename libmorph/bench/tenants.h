/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tenants of unequal weight that share controllers: instances of slicing. Weights have Lomax's
 * distribution. Its heavy tail sometimes makes one tenant an even share.
 */
#ifndef LM_BENCH_TENANTS_H
#define LM_BENCH_TENANTS_H

#include <stdint.h>

#define TENANTS 4096 /* limit */
#define TENANTS_CONTROLLERS 16 /* limit */
#define TENANTS_CASES 8

struct tenants_case {
	uint32_t controllers, tenants;
	double tail; /* exponent of the distribution */
};

extern const struct tenants_case tenants_cases[TENANTS_CASES];

/* Sort weights, the heaviest first. Returns their sum. */
double tenants_sort(double *weights, uint32_t count);

/* Draw weights in this order. Returns their sum. */
double tenants_draw(const struct tenants_case *this, uint64_t *random, double *weights);

/* The weight that the failure of the worst controller affects. */
double tenants_worst(const struct tenants_case *this, const double *weights,
		     const uint32_t *controllers);

/*
 * Its lower bound: the heaviest tenant, because tenants are whole, and an even share. @total: the
 * sum of the weights, which are sorted.
 */
double tenants_bound(const struct tenants_case *this, const double *weights, double total);

#endif /* LM_BENCH_TENANTS_H */
