// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Processor time of planners on fixed instances, and of oracles on the same instances: a table, and
 * with a file one JSON object in each line. A missed bar is shown and fails nothing. A wrong answer
 * fails the bench.
 */
#include <stdio.h>

#include "bench.h"

#define ADDITIONS 1000000

/*
 * Measure the present speed of the machine, which other programs can use too: the time of an
 * addition that depends on the one before, one cycle on an idle machine. It is the unit for reading
 * the bars.
 */
static void ask_machine(struct samples *samples)
{
	for (uint32_t at = 0; at < 10; at++) {
		double from = now_us();
		uint64_t sum = 0;

		for (uint32_t next = 0; next < ADDITIONS; next++) {
			sum += next;
			__asm__ volatile("" : "+r"(sum));
		}
		sample(samples, (now_us() - from) * 1e3 / ADDITIONS);
	}
}

static void report_machine(struct samples *samples)
{
	const struct row row = { .name = "one addition after another, before each part",
				 .unit = "ns" };

	report_row(&row, samples);
}

int main(int argc, char **argv)
{
	static struct samples machine;
	struct morph_ctx *ctx;

	if (argc < 5 || argc > 6) {
		fprintf(stderr,
			"usage: %s POD ANY RACK MESH [FILE]: profiles pod4096, pod4096-any, rack64 and smartlight72; file for the rows\n",
			argv[0]);
		return 2;
	}
	if (!rows_begin(argv[5]) || morph_ctx_new(NULL, &ctx))
		return 1;
	ask_machine(&machine);
	bench_stitch();
	ask_machine(&machine);
	bench_pod(ctx, argv[1], argv[2]);
	ask_machine(&machine);
	bench_light(ctx, argv[3]);
	bench_defrag(ctx, argv[3]);
	bench_corners(ctx, argv[3]);
	bench_protect(ctx, argv[3]);
	bench_sizing(ctx);
	bench_bandwidth(ctx);
	bench_te(ctx);
	bench_overload(ctx);
	bench_slicing(ctx);
	ask_machine(&machine);
	bench_overlap(ctx);
	ask_machine(&machine);
	bench_matrix(ctx);
	ask_machine(&machine);
	bench_segments(ctx);
	ask_machine(&machine);
	bench_united(ctx);
	ask_machine(&machine);
	bench_replan(ctx);
	bench_phases(ctx);
	bench_shim(ctx);
	ask_machine(&machine);
	bench_matchings(ctx, argv[4]);
	ask_machine(&machine);
	bench_jobs(ctx);
	ask_machine(&machine);
	report_machine(&machine);
	morph_ctx_free(ctx);
	return !rows_end();
}
