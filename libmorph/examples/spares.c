// SPDX-License-Identifier: MIT
/*
 * Number of spares that a rack of sixteen servers needs, so that a failed accelerator finds one.
 * Needs no kernel.
 *
 *	spares HOURS-BETWEEN-FAILURES HOURS-TO-REPAIR COVERED
 *
 * COVERED is a share of time, for example 0.999.
 *
 * cc spares.c -lm $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>

#define SERVERS 16
#define OF_SERVER 4

/* Servers that fail as a whole, and pairs of them that share a power supply. */
static int fill(struct morph_risk *risk, double each)
{
	for (uint32_t server = 0; server < SERVERS; server++)
		if (morph_risk_add_server(risk, OF_SERVER, each, each / 10) < 0)
			return 1;
	for (uint32_t server = 0; server < SERVERS; server += 2) {
		uint32_t pair[] = { server, server + 1 };

		if (morph_risk_add_shared(risk, pair, 2, each / 100))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	MORPH_OPTS(morph_spare_count, count);
	struct morph_risk *risk;
	struct morph_ctx *ctx;
	int status = 1;
	double each;

	if (argc != 4) {
		fprintf(stderr, "usage: spares HOURS-BETWEEN-FAILURES HOURS-TO-REPAIR COVERED\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	risk = morph_risk_new(ctx);
	each = atof(argv[2]) / (atof(argv[1]) + atof(argv[2]));
	if (!risk || fill(risk, each) || morph_risk_spares(risk, atof(argv[3]), &count)) {
		fprintf(stderr, "%s\n", morph_error_text(ctx));
	} else {
		printf("an accelerator is down for %.6f of the time\n", each);
		printf("%" PRIu32
		       " spares are enough; with one less %.3g of the time is not covered\n",
		       count.enough, morph_risk_at_least(risk, count.enough));
		status = 0;
	}
	morph_risk_free(risk);
	morph_ctx_free(ctx);
	return status;
}
