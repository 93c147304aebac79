// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Assignment of whole tenants to controllers: time, and the share that the worst failure freezes,
 * beside its lower bound. (Tests of the driver show that nothing stops.)
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "tenants.h"

#define DRAWS 200

static void measure(struct morph_ctx *ctx, uint32_t number)
{
	const struct tenants_case *this = &tenants_cases[number];
	static struct samples times, shares;
	static double weights[TENANTS];
	static uint32_t primary[TENANTS], backup[TENANTS];
	char name[96];

	times.count = shares.count = 0;
	for (uint64_t draw = 0; draw < DRAWS; draw++) {
		uint64_t seed = 1000ULL * number + draw + 1, random = seed;
		double total = tenants_draw(this, &random, weights), begin = now_us();

		if (morph_slicing_assign(ctx, weights, this->tenants, this->controllers, seed, NULL,
					 primary, backup))
			wrong(morph_error_text(ctx));
		sample(&times, now_us() - begin);
		sample(&shares,
		       tenants_worst(this, weights, primary) / tenants_bound(this, weights, total));
	}
	snprintf(name, sizeof(name), "%u tenants assigned to %u controllers", this->tenants,
		 this->controllers);
	report(name, &times, NO_BAR, 0);
	report_row(&(const struct row){ .name = "  frozen by the worst failure",
					.unit = "times the lower bound",
					.figure = MOST,
					.limit = 1.2 },
		   &shares);
}

void bench_slicing(struct morph_ctx *ctx)
{
	for (uint32_t number = 0; number < TENANTS_CASES; number++)
		measure(ctx, number);
}
