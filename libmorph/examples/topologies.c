// SPDX-License-Identifier: MIT
/*
 * A ring all-reduce whose circuits change only between given topologies, written in the form of
 * Harvest's tools. Needs no kernel.
 *
 *	topologies RANKS BYTES
 *
 * cc topologies.c $(pkg-config --cflags --libs libmorph-formats libmorph-plan)
 */
#include <inttypes.h>
#include <morph/formats.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>

#define RANKS_MOST 64

/* One topology: a circuit from each rank to the next. */
static int plan(struct morph_schedule *schedule, const struct morph_collective *collective,
		const struct morph_delay *delay, uint32_t ranks)
{
	struct morph_joint joints[RANKS_MOST];
	const uint32_t firsts[] = { 0, ranks };
	MORPH_OPTS(morph_pool, pool, .count = 1, .firsts = firsts, .joints = joints);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1, .pool = &pool);

	for (uint32_t rank = 0; rank < ranks; rank++)
		joints[rank] = (struct morph_joint){ rank, (rank + 1) % ranks, 1 };
	return morph_schedule_plan(schedule, collective, delay, &opts);
}

static int write(const struct morph_schedule *schedule, const struct morph_collective *collective,
		 const struct morph_delay *delay)
{
	char why[256] = "no memory", *text = NULL;
	ssize_t bytes = morph_segments_write(schedule, collective, delay, "ring", NULL, 0, why,
					     sizeof(why));

	if (bytes > 0)
		text = malloc((size_t)bytes);
	if (!text || morph_segments_write(schedule, collective, delay, "ring", text, (size_t)bytes,
					  why, sizeof(why)) != bytes) {
		fprintf(stderr, "%s\n", why);
		free(text);
		return 1;
	}
	fwrite(text, 1, (size_t)bytes, stdout);
	free(text);
	return 0;
}

int main(int argc, char **argv)
{
	MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_REDUCE,
		   .algorithm = MORPH_RING);
	struct morph_collective *collective;
	struct morph_schedule *schedule;
	struct morph_delay *delay;
	struct morph_ctx *ctx;
	MORPH_OPTS(morph_delay_opts, link, .mbps = 100000, .round_ns = 500);
	int status = 1;

	if (argc != 3 || atoi(argv[1]) > RANKS_MOST) {
		fprintf(stderr, "usage: topologies RANKS BYTES\n");
		return 2;
	}
	wanted.ranks = (uint32_t)atoi(argv[1]);
	wanted.bytes = strtoull(argv[2], NULL, 10);
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	collective = morph_collective_new(ctx);
	schedule = morph_schedule_new(ctx);
	delay = morph_delay_new(ctx);
	if (!collective || !schedule || !delay || morph_delay_set(delay, &link) ||
	    morph_collective_build(collective, &wanted) ||
	    plan(schedule, collective, delay, wanted.ranks))
		fprintf(stderr, "%s\n", morph_error_text(ctx));
	else
		status = write(schedule, collective, delay);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
	morph_ctx_free(ctx);
	return status;
}
