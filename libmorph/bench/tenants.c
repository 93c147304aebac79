// SPDX-License-Identifier: LGPL-2.1-or-later
/* Generator of tenants. */
#include <math.h>
#include <stdlib.h>

#include "random.h"
#include "tenants.h"

const struct tenants_case tenants_cases[TENANTS_CASES] = {
	{ 4, 8, 1.2 },	 { 4, 24, 1.2 },  { 8, 16, 2 },	  { 8, 64, 2 },
	{ 16, 64, 1.2 }, { 8, 256, 1.2 }, { 8, 1024, 2 }, { 16, 4096, 2 },
};

static int heavier(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a < b) - (a > b);
}

double tenants_sort(double *weights, uint32_t count)
{
	double total = 0;

	for (uint32_t at = 0; at < count; at++)
		total += weights[at];
	qsort(weights, count, sizeof(*weights), heavier);
	return total;
}

double tenants_draw(const struct tenants_case *this, uint64_t *random, double *weights)
{
	for (uint32_t at = 0; at < this->tenants; at++)
		weights[at] = pow(1 - random_unit(random), -1 / this->tail) - 1;
	return tenants_sort(weights, this->tenants);
}

double tenants_worst(const struct tenants_case *this, const double *weights,
		     const uint32_t *controllers)
{
	double loads[TENANTS_CONTROLLERS] = { 0 }, most = 0;

	for (uint32_t at = 0; at < this->tenants; at++)
		loads[controllers[at]] += weights[at];
	for (uint32_t at = 0; at < this->controllers; at++)
		most = fmax(most, loads[at]);
	return most;
}

double tenants_bound(const struct tenants_case *this, const double *weights, double total)
{
	return fmax(total / this->controllers, weights[0]);
}
