// SPDX-License-Identifier: MIT
/*
 * A new collective: an all-gather of four ranks in two rounds. Check that each chunk ends where it
 * must, plan its circuits, and print the sends. Needs no kernel.
 *
 *	rounds BYTES
 *
 * cc rounds.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <errno.h>
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>

#define RANKS 4u

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

/*
 * Chunk r belongs to rank r. In round i each rank sends its chunks to the rank that differs in bit
 * i.
 */
static int make_rounds(struct morph_collective *collective, uint64_t bytes)
{
	int error = morph_collective_begin(collective, RANKS);

	for (uint32_t rank = 0; error >= 0 && rank < RANKS; rank++)
		error = morph_collective_add_chunk(collective, rank, MORPH_EACH_RANK, bytes);
	for (uint32_t distance = 1; error >= 0 && distance < RANKS; distance *= 2) {
		error = morph_collective_add_round(collective);
		for (uint32_t rank = 0; error >= 0 && rank < RANKS; rank++) {
			error = morph_collective_add_transfer(collective, rank, rank ^ distance,
							      false);
			if (error >= 0)
				error = morph_collective_add_run(collective, rank & ~(distance - 1),
								 distance);
		}
	}
	return error < 0 ? error : 0;
}

static int check(const struct morph_collective *collective)
{
	struct morph_collective_fault fault;
	int error = morph_collective_run(collective, &fault);

	if (error == -EBADMSG)
		fprintf(stderr, "chunk %" PRIu32 " is lost in round %" PRIu32 "\n", fault.chunk,
			fault.round);
	return error;
}

static void print_sends(const struct morph_schedule *schedule)
{
	struct morph_send send;

	for (uint32_t number = 0; morph_schedule_send(schedule, number, &send) == 0; number++)
		printf("round %" PRIu32 ": %" PRIu64 " bytes from %" PRIu64 " to %" PRIu64
		       " ns, by hold %" PRIu32 "\n",
		       send.round, send.bytes, send.from_ns, send.until_ns, send.holds[0]);
}

static int plan(struct morph_ctx *ctx, const struct morph_collective *collective)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_BEST, .planes = 1);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = morph_delay_new(ctx);
	MORPH_OPTS(morph_delay_opts, link, .mbps = 100000, .round_ns = 500, .hop_ns = 5,
		   .settle_ns = 3700);
	MORPH_OPTS(morph_schedule_result, info);
	struct morph_object *answer;
	int error = -1;

	if (!schedule || !delay)
		goto out;
	error = morph_delay_set(delay, &link);
	if (!error)
		error = morph_schedule_plan(schedule, collective, delay, &opts);
	if (error)
		goto out;
	printf("a change takes %" PRIu64 " ns\n", morph_delay_change_ns(delay, RANKS, 1));
	print_sends(schedule);
	error = morph_schedule_describe(schedule, &answer);
	if (error)
		goto out;
	printf("%s: %" PRIu64 " ns\n", morph_object_text(answer, "verdict"),
	       morph_object_uint(answer, "finish-ns"));
	morph_object_free(answer);
	/* Compare with schedules without a planner. */
	for (uint32_t baseline = 0; !error && baseline < MORPH_BASELINES; baseline++) {
		error = morph_schedule_baseline(schedule, collective, delay, &opts, baseline);
		if (!error)
			error = morph_schedule_result(schedule, &info);
		if (!error && info.verdict == MORPH_FEASIBLE)
			printf("%s: %" PRIu64 " ns\n",
			       morph_enum_name(MORPH_ENUM_BASELINE, baseline), info.ns);
	}
out:
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	return error;
}

int main(int argc, char **argv)
{
	struct morph_collective *collective;
	struct morph_ctx *ctx;
	int status = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: rounds BYTES\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	collective = morph_collective_new(ctx);
	if (!collective || make_rounds(collective, strtoull(argv[1], NULL, 10)) ||
	    check(collective) || plan(ctx, collective))
		status = fail(ctx, "rounds");
	morph_collective_free(collective);
	morph_ctx_free(ctx);
	return status;
}
