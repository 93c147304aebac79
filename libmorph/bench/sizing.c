// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The number of spares for 95 % of the time: exact, beside random racks. 64 accelerators fail one
 * by one; each is down for a share of the time drawn from the published ranges.
 */
#include <math.h>
#include <string.h>

#include "../internal/planner.h"
#include "bench.h"
#include "random.h"

#define DRAWS 100
#define CHIPS 64
#define COVERED 0.95
#define RACKS_DRAWN 10000
#define DEVIATIONS 5 /* limit of the error of counts */

static const struct range {
	const char *name;
	double least, most;
	uint32_t published;
} ranges[] = {
	{ "spares for 95 % of the time, 64 accelerators down 0 to 1 %", 0, 0.01, 2 },
	{ "spares for 95 % of the time, down 1 to 3 %", 0.01, 0.03, 4 },
	{ "spares for 95 % of the time, down 3 to 5 %", 0.03, 0.05, 4 },
};

struct sizing_rows {
	struct samples exact, simulated, enough;
	uint32_t apart; /* draws with a larger error */
};

/* Count random racks with more failed accelerators than spares. */
static uint32_t count_short(const double *shares, uint32_t spares, uint64_t *random)
{
	uint32_t count = 0;

	for (uint32_t rack = 0; rack < RACKS_DRAWN; rack++) {
		uint32_t down = 0;

		for (uint32_t at = 0; at < CHIPS; at++)
			down += random_unit(random) < shares[at];
		count += down > spares;
	}
	return count;
}

static void simulate(const double *shares, const struct morph_spare_count *count, uint64_t *random,
		     struct sizing_rows *rows)
{
	double begin = now_us(), expected = count->short_of * RACKS_DRAWN;
	uint32_t found = count_short(shares, count->enough, random);

	sample(&rows->simulated, now_us() - begin);
	rows->apart += fabs(found - expected) >
		       DEVIATIONS * sqrt(fmax(1, expected * (1 - count->short_of)));
}

static void draw(struct morph_ctx *ctx, const struct range *range, uint64_t *random,
		 struct sizing_rows *rows)
{
	MORPH_OPTS(morph_spare_count, count);
	struct morph_risk *risk = morph_risk_new(ctx);
	double shares[CHIPS], begin;

	for (uint32_t at = 0; at < CHIPS; at++) {
		shares[at] = range->least + (range->most - range->least) * random_unit(random);
		if (!risk || morph_risk_add_server(risk, 1, shares[at], 0) < 0)
			wrong(morph_error_text(ctx));
	}
	begin = now_us();
	if (!risk || morph_risk_solve(risk) || morph_risk_spares(risk, COVERED, &count))
		wrong(morph_error_text(ctx));
	sample(&rows->exact, now_us() - begin);
	sample(&rows->enough, count.enough);
	simulate(shares, &count, random, rows);
	morph_risk_free(risk);
}

void bench_sizing(struct morph_ctx *ctx)
{
	static struct sizing_rows rows;

	for (uint64_t at = 0; at < sizeof(ranges) / sizeof(ranges[0]); at++) {
		uint64_t random = at + 1;

		memset(&rows, 0, sizeof(rows));
		for (uint32_t number = 0; number < DRAWS; number++)
			draw(ctx, &ranges[at], &random, &rows);
		report(ranges[at].name, &rows.exact, NO_BAR, 0);
		report_oracle("  the same, counted in 10000 random racks", &rows.simulated,
			      &rows.exact);
		report_count("  draws that disagree", rows.apart, 0);
		report_row(&(const struct row){ .name = "  enough, draw by draw",
						.unit = "spares" },
			   &rows.enough);
		remark("published for this range: %u", ranges[at].published);
	}
}
