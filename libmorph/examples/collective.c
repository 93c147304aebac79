// SPDX-License-Identifier: MIT
/*
 * Plan the circuits of an all-reduce, find the best algorithm for its size, and replan after the
 * loss of a port. Needs no kernel.
 *
 *	collective RANKS BYTES
 *
 * cc collective.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

/* Optical power takes 3.7 us; relocking takes 0.1 us, and 0.2 us in half of all cases. */
static struct morph_delay *make_delay(struct morph_ctx *ctx)
{
	static const uint64_t relock_ns[] = { 100, 200 };
	MORPH_OPTS(morph_delay_opts, link, .mbps = 100000, .round_ns = 500, .hop_ns = 5,
		   .settle_ns = 3700, .scope = MORPH_DELAY_PORT_SCOPE);
	struct morph_delay *delay = morph_delay_new(ctx);

	if (!delay || morph_delay_set(delay, &link) ||
	    morph_delay_set_part(delay, MORPH_DELAY_RELOCK, relock_ns, 2)) {
		morph_delay_free(delay);
		return NULL;
	}
	return delay;
}

static void print_holds(const struct morph_schedule *schedule)
{
	struct morph_hold hold;

	for (uint32_t number = 0; morph_schedule_hold(schedule, number, &hold) == 0; number++) {
		printf("plane %" PRIu32 " from %" PRIu64 " ns on:", hold.plane, hold.lit_ns);
		for (uint32_t at = 0; at < hold.circuits; at++)
			printf(" %" PRIu32 "-%" PRIu32, hold.pairs[at].src, hold.pairs[at].dst);
		printf("\n");
	}
}

static void print_schedule(const struct morph_schedule *schedule)
{
	MORPH_OPTS(morph_schedule_result, info);

	if (morph_schedule_result(schedule, &info))
		return;
	printf("%s: %" PRIu64 " ns (at least %" PRIu64 "), %" PRIu32 " changes of %" PRIu64
	       " circuits, %" PRIu32 " sends\n",
	       morph_enum_name(MORPH_ENUM_POLICY, info.policy), info.ns, info.bound_ns,
	       info.changes, info.circuits, info.sends);
	print_holds(schedule);
}

/* Plan with one port less. As few circuits as possible change. */
static int replan(struct morph_ctx *ctx, const struct morph_schedule *old,
		  const struct morph_collective *collective, const struct morph_delay *delay)
{
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_loss loss = { .rank = 0, .plane = 0, .ports = MORPH_LOSS_TRANSMIT };
	MORPH_OPTS(morph_replan_opts, opts, .losses = &loss, .count = 1);
	struct morph_replanned replanned;
	MORPH_OPTS(morph_schedule_result, info);
	int error = schedule ? morph_schedule_replan(schedule, old, collective, delay, &opts,
						     &replanned) :
			       -1;

	if (!error)
		error = morph_schedule_result(schedule, &info);
	if (!error && info.verdict == MORPH_FEASIBLE)
		printf("without a port: %" PRIu32 " circuits differ, %" PRIu64 " ns later\n",
		       replanned.changed, replanned.later_ns);
	else if (!error)
		printf("without a port: %s\n", info.why);
	morph_schedule_free(schedule);
	return error;
}

static int plan(struct morph_ctx *ctx, const struct morph_collective_opts *wanted,
		const struct morph_delay *delay)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_BEST, .planes = 2);
	struct morph_choice choices[MORPH_ALGORITHMS];
	int error = -1;

	if (!collective || !schedule)
		goto out;
	error = morph_schedule_choose(schedule, collective, wanted, delay, &opts, choices);
	if (error)
		goto out;
	for (uint32_t algorithm = 1; algorithm < MORPH_ALGORITHMS; algorithm++)
		if (choices[algorithm].policy)
			printf("%s%s: %" PRIu64 " ns\n", choices[algorithm].chosen ? "* " : "  ",
			       morph_enum_name(MORPH_ENUM_ALGORITHM, algorithm),
			       choices[algorithm].ns);
	print_schedule(schedule);
	error = replan(ctx, schedule, collective, delay);
out:
	morph_schedule_free(schedule);
	morph_collective_free(collective);
	return error;
}

int main(int argc, char **argv)
{
	MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_REDUCE);
	struct morph_delay *delay;
	struct morph_ctx *ctx;
	int status = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: collective RANKS BYTES\n");
		return 2;
	}
	wanted.ranks = (uint32_t)atoi(argv[1]);
	wanted.bytes = strtoull(argv[2], NULL, 10);
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	delay = make_delay(ctx);
	if (!delay || plan(ctx, &wanted, delay))
		status = fail(ctx, "plan");
	morph_delay_free(delay);
	morph_ctx_free(ctx);
	return status;
}
