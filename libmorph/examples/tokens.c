// SPDX-License-Identifier: MIT
/*
 * Tokens go to experts and return: an all-to-all of unequal parts. All ranks compute the same plan.
 * Needs no kernel.
 *
 *	tokens
 *
 * cc tokens.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>

#define RANKS 4u
#define METHODS 16u

/* Bytes from the rank of the row to the rank of the column. */
static const uint64_t matrix[RANKS * RANKS] = {
	0,	65536, 131072, 1048576, /* rank 0 */
	5,	0,     3,      4, /* rank 1 */
	65536,	0,     0,      12582912, /* rank 2 */
	131072, 2,     3,      0, /* rank 3 */
};

static void print_matchings(struct morph_ctx *ctx, const struct morph_delay *delay,
			    const struct morph_schedule_opts *opts)
{
	struct morph_method methods[METHODS];
	int count = morph_matrix_methods(ctx, matrix, RANKS, delay, opts, methods, METHODS);

	for (int at = 0; at < count && at < (int)METHODS; at++)
		printf("%s%s: %" PRIu64 " ns\n", methods[at].chosen ? "* " : "  ", methods[at].name,
		       methods[at].ns);
}

static int plan(struct morph_ctx *ctx, const struct morph_delay *delay)
{
	MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_TO_ALL,
		   .algorithm = MORPH_DIRECT, .ranks = RANKS, .matrix = matrix);
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_MATCHINGS, .planes = 2);
	struct morph_collective *there = morph_collective_new(ctx),
				*back = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	MORPH_OPTS(morph_schedule_result, info);
	uint32_t involved, loader;
	int error = -1;

	if (!there || !back || !schedule)
		goto out;
	involved = morph_matrix_roles(matrix, RANKS, NULL, &loader);
	printf("%" PRIu32 " ranks take part, rank %" PRIu32 " loads the plan\n", involved, loader);
	print_matchings(ctx, delay, &opts);
	error = morph_collective_build(there, &wanted);
	if (!error)
		error = morph_schedule_plan(schedule, there, delay, &opts);
	if (!error)
		error = morph_schedule_result(schedule, &info);
	if (error)
		goto out;
	printf("dispatch: %" PRIu64 " ns\n", info.ns);
	error = morph_schedule_combine(schedule, back, there, delay, &opts);
	if (!error)
		error = morph_schedule_result(schedule, &info);
	if (!error)
		printf("combine: %" PRIu64 " ns\n", info.ns);
out:
	morph_schedule_free(schedule);
	morph_collective_free(back);
	morph_collective_free(there);
	return error;
}

int main(void)
{
	MORPH_OPTS(morph_delay_opts, link, .mbps = 100000, .round_ns = 500, .hop_ns = 5,
		   .settle_ns = 3700);
	struct morph_delay *delay;
	struct morph_ctx *ctx;
	int status = 0;

	if (morph_ctx_new(NULL, &ctx))
		return 1;
	delay = morph_delay_new(ctx);
	if (!delay || morph_delay_set(delay, &link) || plan(ctx, delay)) {
		fprintf(stderr, "%s\n", morph_error_text(ctx));
		status = 1;
	}
	morph_delay_free(delay);
	morph_ctx_free(ctx);
	return status;
}
