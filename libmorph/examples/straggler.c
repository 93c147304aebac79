// SPDX-License-Identifier: MIT
/*
 * Decide whether an all-reduce should begin without the last rank, and from which size on it pays
 * to change the circuits of a ring. Needs no kernel.
 *
 *	straggler RANKS BYTES
 *
 * cc straggler.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>

static int print_payoff(struct morph_ctx *ctx, const struct morph_delay *delay, uint32_t ranks,
			uint64_t bytes)
{
	MORPH_OPTS(morph_collective_opts, wanted, .ranks = ranks, .bytes = bytes);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	MORPH_OPTS(morph_collective_info, info);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_payoff payoff;
	int error = collective && schedule ? morph_schedule_payoff(schedule, collective, &wanted,
								   delay, &opts, &payoff) :
					     -1;

	if (!error)
		error = morph_collective_info(collective, &info);
	if (!error) {
		printf("the other ranks take %" PRIu64 " ns, then all take %" PRIu64 " ns\n",
		       payoff.late_ns, payoff.rest_ns);
		printf("another algorithm takes %" PRIu64 " ns once the last rank is there\n",
		       payoff.other_ns);
		printf("the last rank has %" PRIu32 " rounds of time; %" PRIu32
		       " rounds after it are the least\n",
		       info.rounds_before_last, info.late_rounds_least);
		printf("the collective is %s\n", morph_collective_write(collective, NULL, 0) > 0 ?
							 "written in bytes" :
							 "empty");
	}
	morph_schedule_free(schedule);
	morph_collective_free(collective);
	return error;
}

int main(int argc, char **argv)
{
	MORPH_OPTS(morph_delay_opts, link, .mbps = 3600000, .round_ns = 3000, .hop_ns = 5,
		   .settle_ns = 3700);
	struct morph_short_cut cut;
	struct morph_delay *delay;
	struct morph_ctx *ctx;
	uint32_t ranks;
	uint64_t bytes;
	int status = 1;

	if (argc != 3) {
		fprintf(stderr, "usage: straggler RANKS BYTES\n");
		return 2;
	}
	ranks = (uint32_t)atoi(argv[1]);
	bytes = strtoull(argv[2], NULL, 10);
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	delay = morph_delay_new(ctx);
	if (!delay || morph_delay_set(delay, &link) || print_payoff(ctx, delay, ranks, bytes) ||
	    morph_short_cut(ctx, delay, ranks, 1, bytes, &cut)) {
		fprintf(stderr, "%s\n", morph_error_text(ctx));
	} else {
		printf("halving on a ring changes circuits from %" PRIu64 " bytes on\n",
		       cut.pays_bytes);
		status = 0;
	}
	morph_delay_free(delay);
	morph_ctx_free(ctx);
	return status;
}
