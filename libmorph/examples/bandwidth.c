// SPDX-License-Identifier: MIT
/*
 * Bandwidth of two rings that share the fibres between two servers.
 *
 *	bandwidth [FIBRES]
 *
 * cc bandwidth.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>

#define RANKS 4u
#define PORTS 6u
#define WAVELENGTHS 4u

/* A ring over four accelerators. Two of its hops lead to the other server. */
static int add_ring(struct morph_bandwidth *bw, uint32_t there, uint32_t back, uint32_t most)
{
	int group = morph_bandwidth_add_group(bw, 1, most);
	int first = 0, hop;

	for (uint32_t rank = 0; group >= 0 && rank < RANKS; rank++) {
		int accelerator = morph_bandwidth_add_accelerator(bw, PORTS, PORTS);

		if (accelerator < 0)
			return accelerator;
		if (!rank)
			first = accelerator;
	}
	for (uint32_t rank = 0; group >= 0 && rank < RANKS; rank++) {
		uint32_t guide = rank == 1 ? there : back;
		bool crosses = rank == 1 || rank == RANKS - 1;

		hop = morph_bandwidth_add_hop(bw, (uint32_t)group, (uint32_t)first + rank,
					      (uint32_t)first + (rank + 1) % RANKS, 1, &guide,
					      crosses);
		if (hop < 0)
			return hop;
	}
	return group;
}

static int print_groups(struct morph_bandwidth *bw, uint32_t groups)
{
	static const char *const parts[] = { "nothing",	      "its wish", "transmit ports",
					     "receive ports", "fibres",	  "wavelengths" };

	for (uint32_t group = 0; group < groups; group++) {
		MORPH_OPTS(morph_bandwidth_group, info);
		uint32_t lanes[64];
		size_t count = morph_bandwidth_lanes(bw, group * RANKS + 1, lanes, 64);

		if (morph_bandwidth_group(bw, group, &info))
			return 1;
		printf("group %" PRIu32 ": %" PRIu32 " lanes, stopped by %s (%" PRIu64
		       " of %" PRIu64 "); wavelengths",
		       group, info.lanes, parts[info.part], info.have, info.need);
		for (size_t at = 0; at < count && at < 64; at++)
			printf(" %" PRIu32, lanes[at]);
		printf("\n");
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t fibres = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	MORPH_OPTS(morph_bandwidth_result, result);
	int there, back, status = 1;
	struct morph_ctx *ctx;
	struct morph_bandwidth *bw;

	if (morph_ctx_new(NULL, &ctx))
		return 1;
	bw = morph_bandwidth_new(ctx, WAVELENGTHS);
	there = bw ? morph_bandwidth_add_guide(bw, fibres) : -1;
	back = bw ? morph_bandwidth_add_guide(bw, fibres) : -1;
	if (there < 0 || back < 0 || add_ring(bw, (uint32_t)there, (uint32_t)back, 0) < 0 ||
	    add_ring(bw, (uint32_t)there, (uint32_t)back, 1) < 0 ||
	    morph_bandwidth_solve(bw, NULL, &result)) {
		fprintf(stderr, "%s\n", morph_error_text(ctx));
		goto out;
	}
	printf("%s, %" PRIu64 " circuits; the fibres carry %" PRIu64 " lanes\n",
	       result.proof == MORPH_BANDWIDTH_LEXIMIN ? "fairest" : "fair", result.circuits,
	       morph_bandwidth_load(bw, MORPH_BANDWIDTH_GUIDE, (uint32_t)there));
	status = print_groups(bw, 2);
out:
	morph_bandwidth_free(bw);
	morph_ctx_free(ctx);
	return status;
}
