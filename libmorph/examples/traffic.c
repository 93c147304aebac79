// SPDX-License-Identifier: MIT
/*
 * Lanes of each demand between two servers. Several controllers compute the same numbers without
 * communication. Needs no kernel.
 *
 *	traffic PROFILE EPOCH
 *
 * cc traffic.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>

#define DEMANDS 3
#define PATHS_MOST 64
#define LINKS_MOST 1024

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

/* Servers 0 to 3; each demand can use up to four paths. Returns the number of paths. */
static int add_demands(struct morph_traffic *te)
{
	static const double amounts[DEMANDS] = { 12.5, 100, 3.25 };
	int paths = 0;

	for (int number = 0; number < DEMANDS; number++) {
		int demand = morph_traffic_add_demand(te, amounts[number], 1);
		int ways = demand < 0 ?
				   demand :
				   morph_traffic_add_ways(te, (uint32_t)demand, (uint32_t)number,
							  (uint32_t)number + 1, 4);

		if (ways < 0)
			return ways;
		paths += ways;
	}
	return paths;
}

static void print_path(const struct morph_traffic *te, uint32_t path, uint32_t lanes)
{
	MORPH_OPTS(morph_traffic_path, info);

	if (morph_traffic_path(te, path, &info))
		return;
	printf("path %" PRIu32 ": %.3f lanes, %" PRIu32 " in whole, over", path, info.flow, lanes);
	for (uint32_t at = 0; at < info.count; at++) {
		MORPH_OPTS(morph_traffic_link, link);

		if (morph_traffic_link(te, info.links[at], &link) == 0)
			printf(" %" PRIu32 "-%" PRIu32 " (%.1f of %.0f, price %.3f)", link.src_host,
			       link.dst_host, link.load, link.capacity, link.price);
	}
	printf("\n");
}

/* Reconstruct the last decision of a restarted controller from its reserved lanes. */
static int recall(struct morph_traffic *te, const double *flows, const uint32_t *lanes,
		  uint32_t paths)
{
	static const uint32_t mine[] = { 0 };
	uint32_t *held = calloc(LINKS_MOST, sizeof(*held));
	uint32_t last[PATHS_MOST] = { 0 };
	int64_t differing = -1;

	for (uint32_t path = 0; held && path < paths && path < 4; path++) {
		MORPH_OPTS(morph_traffic_path, info);

		morph_traffic_path(te, path, &info);
		for (uint32_t at = 0; at < info.count; at++)
			held[info.links[at]] += lanes[path];
	}
	if (held)
		differing = morph_traffic_recall(te, flows, mine, 1, held, last);
	if (differing >= 0)
		printf("recalled but for %" PRId64 " lanes\n", differing);
	if (morph_traffic_guide_link(te, 0) < 0)
		printf("guide 0 does not join two servers\n");
	free(held);
	return differing < 0;
}

static int solve(struct morph_ctx *ctx, struct morph_traffic *te, uint64_t epoch)
{
	int paths = add_demands(te);
	uint32_t lanes[PATHS_MOST];
	double flows[PATHS_MOST];
	MORPH_OPTS(morph_traffic_result, result);

	if (paths < 0 || paths > PATHS_MOST || morph_traffic_solve(te, NULL, &result))
		return fail(ctx, "solve");
	for (uint32_t path = 0; path < (uint32_t)paths; path++) {
		MORPH_OPTS(morph_traffic_path, info);

		morph_traffic_path(te, path, &info);
		flows[path] = info.flow;
	}
	/* The epoch is the same for all controllers. It decides which halves are rounded up. */
	if (morph_traffic_round(te, flows, epoch, NULL, lanes))
		return fail(ctx, "round");
	printf("%.3f lanes in all\n", result.throughput);
	for (uint32_t path = 0; path < (uint32_t)paths; path++)
		print_path(te, path, lanes[path]);
	if (recall(te, flows, lanes, (uint32_t)paths))
		return fail(ctx, "recall");
	return 0;
}

int main(int argc, char **argv)
{
	struct morph_ledger *ledger = NULL;
	struct morph_model *model = NULL;
	struct morph_traffic *te = NULL;
	struct morph_ctx *ctx;
	int status;

	if (argc != 3) {
		fprintf(stderr, "usage: traffic PROFILE EPOCH\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	te = morph_traffic_new(ctx);
	if (!te || morph_model_load(ctx, argv[1], &model) ||
	    morph_ledger_new(ctx, model, &ledger) || morph_traffic_add_servers(te, ledger) < 0)
		status = fail(ctx, argv[1]);
	else
		status = solve(ctx, te, strtoull(argv[2], NULL, 10));
	morph_traffic_free(te);
	morph_ledger_free(ledger);
	morph_model_put(model);
	morph_ctx_free(ctx);
	return status;
}
