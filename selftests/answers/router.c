// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the router's answers to random requests, one line each, to compare two versions of it:
 *
 * 	router COUNT SEED PROFILE...
 *
 * The fabric fills up during the run. Two slices own its accelerators, some hardware is unhealthy
 * or cordoned, and some lanes are reserved. The program claims most paths that the router finds,
 * and releases some of them again. A line has the request, the reason of the router with its
 * refusal or its path, the number of steps, and the validator's verdict on the path.
 */
#include "maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICES 2u
#define LIVE_MAX 256u
#define AVOIDED 8u

struct run {
	struct fabric fabric;
	struct route live[LIVE_MAX];
	u32 live_count;
	u64 seed;
};

static u32 below(struct run *run, u32 count)
{
	return count ? next_random(&run->seed) % count : 0;
}

/* True with probability 1 / @times. */
static bool once_in(struct run *run, u32 times)
{
	return below(run, times) == 0;
}

static u64 random_lanes(struct run *run)
{
	u64 low = next_random(&run->seed);

	return low | (u64)next_random(&run->seed) << 32;
}

/* Set owners of accelerators and edges, unusable hardware, and reserved lanes. */
static void fill_fabric(struct run *run)
{
	const struct optics_graph *graph = run->fabric.graph;
	struct optics_state *state = run->fabric.state;
	u32 i;

	for (i = 0; i < graph->accelerators_count + graph->edges_count; i++)
		state->owner[i] = 1 + below(run, SLICES);
	for (i = 0; i < graph->guides_count; i++) {
		if (once_in(run, 40))
			state->guide_marks[i] = once_in(run, 2) ? OPTICS_UNHEALTHY :
								  OPTICS_CORDONED;
		if (once_in(run, 20))
			state->guide_reserved[i] = random_lanes(run) & graph->all_lanes;
	}
	for (i = 0; i < graph->elements_count; i++)
		if (once_in(run, 60))
			state->element_marks[i] = OPTICS_UNHEALTHY;
	for (i = 0; i < graph->ends_count; i++)
		if (once_in(run, 30))
			state->tx_dead[i] = random_lanes(run);
}

/* An end other than @taken that the slice owns, if one of a few random ends has that owner. */
static u32 random_end(struct run *run, u32 owner, u32 taken)
{
	const struct optics_graph *graph = run->fabric.graph;
	u32 end = 0, tries;

	if (graph->edges_count && once_in(run, 6))
		return OPTICS_EDGE | below(run, graph->edges_count);
	for (tries = 0; tries < 16; tries++) {
		end = below(run, graph->accelerators_count);
		if (run->fabric.state->owner[end] == owner && end != taken)
			break;
	}
	return end;
}

static int compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static u32 random_list(struct run *run, u32 *list, u32 below_this)
{
	u32 count = once_in(run, 3) ? below(run, AVOIDED) + 1 : 0, i;

	for (i = 0; i < count; i++)
		list[i] = below(run, below_this);
	qsort(list, count, sizeof(*list), compare);
	return count;
}

static struct optics_route_request random_request(struct run *run, u32 *guides, u32 *elements)
{
	static const u32 budgets[] = { 0, 0, 0, 16384, 64, 1024 };
	const struct optics_graph *graph = run->fabric.graph;
	struct optics_route_request request = { .tx_planes = ~0ull, .rx_planes = ~0ull };

	request.owner = 1 + below(run, SLICES);
	request.tx_accelerator = random_end(run, request.owner, OPTICS_NONE);
	request.rx_accelerator = random_end(run, request.owner, request.tx_accelerator);
	if (once_in(run, 4))
		request.tx_planes = random_lanes(run);
	if (once_in(run, 4))
		request.rx_planes = random_lanes(run);
	request.lanes_allowed = once_in(run, 3) ? random_lanes(run) : ~0ull;
	request.lanes_count = 1 + (once_in(run, 2) ? below(run, graph->params.wavelengths) : 0);
	request.transit_own = once_in(run, 3);
	request.ignore_claims = once_in(run, 12);
	request.steps = budgets[below(run, ARRAY_SIZE(budgets))];
	request.avoid_guides = guides;
	request.avoid_guides_count = random_list(run, guides, graph->guides_count);
	request.avoid_elements = elements;
	request.avoid_elements_count = random_list(run, elements, graph->elements_count);
	return request;
}

/* FNV-1a hash of the parts of the path. */
static u64 path_digest(const struct optics_path *path)
{
	u64 digest = 0xcbf29ce484222325ull;
	u32 i, j;

	for (i = 0; i < path->hops_count; i++) {
		u32 words[] = { path->hops[i].guide, path->hops[i].element, path->hops[i].state };

		for (j = 0; j < sizeof(words); j++)
			digest = (digest ^ (words[j / 4] >> j % 4 * 8 & 0xff)) * 0x100000001b3ull;
	}
	return digest;
}

static void print_refusal(const char *who, const struct optics_refusal *refusal)
{
	printf(" %s: reason %u part %u index %d item %d have %lld need %lld", who, refusal->reason,
	       refusal->part, (int)refusal->index, (int)refusal->item, (long long)refusal->have,
	       (long long)refusal->need);
}

static void print_judgement(struct run *run, const struct optics_route_request *request,
			    const struct optics_path *path)
{
	struct optics_view view = fabric_view(&run->fabric);
	struct optics_refusal refusal = { 0 };
	struct optics_verdict verdict;

	if (optics_validate(&view, path, 1, request->owner, request->transit_own, &verdict,
			    &refusal))
		print_refusal("validator", &refusal);
	else
		printf(" power %d spread %u margin %d isolation %d", verdict.power_mdbm,
		       verdict.spread_mdb, verdict.margin_mdb, verdict.isolation_mdb);
}

static void release_one(struct run *run)
{
	u32 which = below(run, run->live_count);

	optics_release(run->fabric.state, &run->live[which].path);
	run->live[which] = run->live[--run->live_count];
	run->live[which].path.hops = run->live[which].hops;
}

static void answer_found(struct run *run, const struct optics_route_request *request,
			 struct route *route)
{
	const struct optics_path *path = &route->path;
	bool claimed;

	printf(" path %u-%u lanes %llx loss %u hops %u %016llx steps %u", path->tx, path->rx,
	       (unsigned long long)path->lanes, path->loss_mdb, path->hops_count,
	       (unsigned long long)path_digest(path), route->steps);
	claimed = !optics_claim(run->fabric.state, path, &route->refusal);
	if (!claimed)
		print_refusal("ledger", &route->refusal);
	print_judgement(run, request, path);
	if (claimed && once_in(run, 8))
		optics_release(run->fabric.state, path);
	else if (claimed)
		run->live_count++;
}

static void answer(struct run *run, const char *profile, u32 number)
{
	u32 guides[AVOIDED], elements[AVOIDED];
	struct optics_route_request request;
	struct route *route;

	if (run->live_count && (run->live_count == LIVE_MAX || once_in(run, 10)))
		release_one(run);
	route = &run->live[run->live_count];
	request = random_request(run, guides, elements);
	fabric_route(&run->fabric, &request, route);
	printf("%s %u: %x to %x slice %u lanes %u%s%s:", profile, number, request.tx_accelerator,
	       request.rx_accelerator, request.owner, request.lanes_count,
	       request.transit_own ? " own" : "", request.ignore_claims ? " any" : "");
	if (route->error) {
		printf(" error %d steps %u", route->error, route->steps);
		print_refusal("router", &route->refusal);
	} else {
		answer_found(run, &request, route);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	static struct run run;
	u32 count, at, number;

	if (argc < 4) {
		fprintf(stderr, "usage: router COUNT SEED PROFILE...\n");
		return 2;
	}
	count = (u32)strtoul(argv[1], NULL, 10);
	for (at = 3; at < (u32)argc; at++) {
		const char *name = strrchr(argv[at], '/');

		memset(&run, 0, sizeof(run));
		run.seed = strtoul(argv[2], NULL, 10) * 7919 + 1;
		if (!fabric_open_file(&run.fabric, argv[at], OPTICS_ROUTE_STEPS)) {
			fprintf(stderr, "router: no profile %s\n", argv[at]);
			return 1;
		}
		fill_fabric(&run);
		for (number = 0; number < count; number++)
			answer(&run, name ? name + 1 : argv[at], number);
		fabric_close(&run.fabric);
	}
	return 0;
}
