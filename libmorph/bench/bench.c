// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How long planners take, in processor time, on the committed instances, and how long oracles take on
 * the same: a table, and with a file an object a line there. A bar that is missed is shown and
 * fails nothing; what fails is an answer that must not be.
 */
#include <stdio.h>

#include "bench.h"

int main(int argc, char **argv)
{
	struct morph_ctx *ctx;

	if (argc < 4 || argc > 5) {
		fprintf(stderr,
			"usage: %s POD ANY RACK [FILE]: profiles of a pod4096, a pod4096-any and a rack64; where rows go\n",
			argv[0]);
		return 2;
	}
	if (!rows_begin(argv[4]) || morph_ctx_new(NULL, &ctx))
		return 1;
	bench_stitch();
	bench_pod(ctx, argv[1], argv[2]);
	bench_light(ctx, argv[3]);
	bench_defrag(ctx, argv[3]);
	bench_corners(ctx, argv[3]);
	bench_protect(ctx, argv[3]);
	bench_sizing(ctx);
	bench_bandwidth(ctx);
	bench_te(ctx);
	bench_overload(ctx);
	bench_slicing(ctx);
	bench_overlap(ctx);
	bench_matrix(ctx);
	bench_segments(ctx);
	bench_united(ctx);
	bench_replan(ctx);
	bench_phases(ctx);
	bench_shim(ctx);
	morph_ctx_free(ctx);
	return !rows_end();
}
