// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Placement in a pod of racks where slices come and go. Sizes are random: those of the TPU v4 paper
 * below a rack (Jouppi et al., ISCA 2023; the split below 64 is not verified), whole racks, and one
 * in ten other sizes. Each slice is a torus. Before each one, random slices end until at most the
 * given share of accelerators is held. Deterministic for a seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../check/check.h"
#include "../internal/planner.h"
#include "../internal/request.h"
#include "bench.h"
#include "random.h"

#define POD 4096 /* accelerators without spares */
#define EVENTS 10000
#define CHECKED 997 /* one in this number of answers is checked, and all refusals up to it */
#define REFUSALS_CHECKED 8

struct shape {
	uint8_t x, y, z;
	uint16_t weight; /* per mille */
};

static const struct shape shapes[] = {
	{ 1, 1, 1, 43 }, { 2, 1, 1, 8 },   { 2, 2, 1, 142 }, { 2, 2, 2, 133 }, { 2, 2, 4, 186 },
	{ 2, 4, 4, 96 }, { 4, 4, 4, 292 }, { 3, 1, 1, 20 },  { 2, 3, 1, 20 },  { 6, 1, 1, 15 },
	{ 3, 3, 1, 10 }, { 2, 2, 3, 20 },  { 4, 4, 3, 15 },
};

struct pod {
	struct morph_ctx *ctx;
	struct morph_ledger *ledger;
	struct morph_request *request;
	struct morph_plan *plans[POD]; /* used again: a warm planner allocates nothing */
	uint32_t live, held;
	uint64_t random, digest;
	struct morph_check_bytes profile;
	uint32_t checked;
};

static const struct shape *draw(struct pod *pod)
{
	uint32_t choice = random_below(&pod->random, 1000), at = 0;

	while (choice >= shapes[at].weight)
		choice -= shapes[at++].weight;
	return &shapes[at];
}

static void leave(struct pod *pod, uint32_t most)
{
	while (pod->live && pod->held > most) {
		uint32_t at = random_below(&pod->random, pod->live);
		struct morph_plan *plan = pod->plans[at];

		if (morph_ledger_give(pod->ledger, plan))
			wrong(morph_error_text(pod->ctx));
		pod->held -= morph_plan_ranks(plan);
		pod->plans[at] = pod->plans[--pod->live];
		pod->plans[pod->live] = plan;
	}
}

static struct morph_check_bytes room(ssize_t bytes)
{
	return (struct morph_check_bytes){ .data = malloc((size_t)bytes), .bytes = (size_t)bytes };
}

/* Check an answer with the checker. */
static void check(struct pod *pod, const struct morph_plan *plan)
{
	struct morph_check_input input = {
		.profile = pod->profile,
		.ledger = room(morph_ledger_write(pod->ledger, NULL, 0)),
		.request = room(morph_request_write(pod->request, pod->ledger, NULL, 0)),
		.plan = room(morph_plan_write(plan, pod->ledger, NULL, 0)),
	};
	void *ledger = (void *)(uintptr_t)input.ledger.data;
	void *request = (void *)(uintptr_t)input.request.data;
	void *written = (void *)(uintptr_t)input.plan.data;
	char text[256];

	if (ledger && request && written) {
		morph_ledger_write(pod->ledger, ledger, input.ledger.bytes);
		morph_request_write(pod->request, pod->ledger, request, input.request.bytes);
		morph_plan_write(plan, pod->ledger, written, input.plan.bytes);
		if (morph_check(&input, text, sizeof(text)))
			wrong(text);
		pod->checked++;
	}
	free(ledger);
	free(request);
	free(written);
}

/* Add a slice if possible. */
static uint32_t come(struct pod *pod, const struct shape *shape, struct samples *samples)
{
	struct morph_plan *plan = pod->plans[pod->live];
	uint32_t verdict;
	double begin;

	if (morph_request_set_shape(pod->request, MORPH_SHAPE_TORUS, shape->x, shape->y,
				    shape->z) ||
	    morph_request_set_servers(pod->request, servers_of_torus(shape->x, shape->y, shape->z)))
		wrong(morph_error_text(pod->ctx));
	begin = now_us();
	if (morph_place(pod->ledger, pod->request, plan))
		wrong(morph_error_text(pod->ctx));
	samples->values[samples->count++] = now_us() - begin;
	verdict = morph_plan_verdict(plan);
	pod->digest = (pod->digest ^ (verdict << 16 | morph_plan_accelerator(plan, 0))) *
		      0x100000001b3ULL;
	if (samples->count % CHECKED == 0 ||
	    (verdict == MORPH_INFEASIBLE && pod->checked < REFUSALS_CHECKED))
		check(pod, plan);
	if (verdict != MORPH_FEASIBLE)
		return verdict;
	if (morph_ledger_take(pod->ledger, plan, 1))
		wrong(morph_error_text(pod->ctx));
	pod->held += morph_plan_ranks(plan);
	pod->live++;
	return verdict;
}

static void churn(struct pod *pod, uint32_t permille, const char *name, double bar)
{
	static struct samples samples;
	uint32_t verdicts[4] = { 0 };

	samples.count = 0;
	pod->checked = 0;
	pod->random = 1;
	pod->digest = 0xcbf29ce484222325ULL;
	/* The time until the pod is full at first is not part of the measurement. */
	while (pod->held < POD * permille / 1000)
		come(pod, draw(pod), &samples);
	samples.count = 0;
	while (samples.count < EVENTS) {
		leave(pod, POD * permille / 1000);
		verdicts[come(pod, draw(pod), &samples)]++;
	}
	report(name, &samples, bar > 0 ? P99 : NO_BAR, bar);
	remark("%u refused, %u undecided, %u checked, digest %016llx", verdicts[MORPH_INFEASIBLE],
	       verdicts[MORPH_UNDECIDED], pod->checked, (unsigned long long)pod->digest);
	leave(pod, 0);
}

/* -------------------------------------------------------------- across racks */

#define CLUSTERS 8
#define HELD (POD * 7 / 10)

static void set_tier(struct pod *pod, uint32_t tier)
{
	if (morph_request_set_tier(pod->request, tier))
		wrong(morph_error_text(pod->ctx));
}

/* Slices of 4, 8, 16 and 32 in equal shares and random order; some of them end. */
static void fragment(struct pod *pod, struct samples *samples)
{
	static const struct shape sizes[] = {
		{ 2, 2, 1, 0 }, { 2, 2, 2, 0 }, { 2, 2, 4, 0 }, { 2, 4, 4, 0 }
	};
	uint8_t order[POD / 8];
	uint32_t count = 0;

	for (uint8_t size = 0; size < 4; size++)
		for (uint32_t at = 0; at < POD / 16U >> size; at++)
			order[count++] = size;
	set_tier(pod, MORPH_TIER_CONTIGUOUS);
	for (; count; count--) {
		uint32_t at = random_below(&pod->random, count);

		samples->count = 0;
		come(pod, &sizes[order[at]], samples);
		order[at] = order[count - 1];
	}
	leave(pod, HELD);
}

/* Results of requests of 32 over all clusters. */
struct filling {
	struct samples samples;
	uint32_t verdicts[4], tiers[4];
	uint32_t room; /* upper bound of placements, by free accelerators */
	uint32_t short_of; /* clusters with fewer placements than this bound */
};

/* Place requests until one fails. */
static void fill_cluster(struct pod *pod, struct filling *filling)
{
	static const struct shape wanted = { 2, 4, 4, 0 };
	uint32_t room = (POD - pod->held) / 32, met = 0, verdict;

	set_tier(pod, MORPH_TIER_CROSSING);
	do {
		verdict = come(pod, &wanted, &filling->samples);
		filling->verdicts[verdict]++;
		if (verdict == MORPH_FEASIBLE) {
			filling->tiers[morph_plan_tier(pod->plans[pod->live - 1])]++;
			met++;
		}
	} while (verdict == MORPH_FEASIBLE);
	filling->room += room;
	filling->short_of += met < room;
}

static void fill_across(struct pod *pod, const char *name)
{
	static struct filling filling;
	static struct samples before;

	pod->checked = 0;
	pod->digest = 0xcbf29ce484222325ULL;
	for (uint32_t cluster = 0; cluster < CLUSTERS; cluster++) {
		pod->random = cluster + 1;
		fragment(pod, &before);
		fill_cluster(pod, &filling);
		leave(pod, 0);
	}
	report(name, &filling.samples, NO_BAR, 0);
	report_count("  clusters short of what accelerators bound", filling.short_of, 0);
	report_count("  undecided", filling.verdicts[MORPH_UNDECIDED], 0);
	remark("%u of at most %u: %u contiguous, %u stitched, %u across racks",
	       filling.verdicts[MORPH_FEASIBLE], filling.room, filling.tiers[MORPH_TIER_CONTIGUOUS],
	       filling.tiers[MORPH_TIER_STITCHED], filling.tiers[MORPH_TIER_CROSSING]);
	remark("%u refused, %u checked, digest %016llx", filling.verdicts[MORPH_INFEASIBLE],
	       pod->checked, (unsigned long long)pod->digest);
}

void *read_profile(const char *path, size_t *bytes)
{
	FILE *in = fopen(path, "r");
	struct stat status = { 0 };
	void *data = NULL;

	if (in && !fstat(fileno(in), &status))
		data = malloc((size_t)status.st_size);
	if (data && fread(data, 1, (size_t)status.st_size, in) != (size_t)status.st_size) {
		free(data);
		data = NULL;
	}
	if (in)
		fclose(in);
	*bytes = (size_t)status.st_size;
	return data;
}

typedef void measure_pod(struct pod *pod);

static void with_pod(struct morph_ctx *ctx, const char *path, measure_pod *measure)
{
	struct pod *pod = calloc(1, sizeof(*pod));
	struct morph_model *model = NULL;
	size_t bytes = 0;
	void *profile = read_profile(path, &bytes);
	bool made = pod && profile && !morph_model_parse(ctx, profile, bytes, &model) &&
		    !morph_ledger_new(ctx, model, &pod->ledger);

	if (made) {
		pod->ctx = ctx;
		pod->profile = (struct morph_check_bytes){ profile, bytes };
		pod->request = morph_request_new(ctx);
		for (uint32_t at = 0; at < POD; at++)
			made &= !!(pod->plans[at] = morph_plan_new(ctx));
	}
	if (made && pod->request)
		measure(pod);
	else
		wrong(path);
	for (uint32_t at = 0; pod && at < POD; at++)
		morph_plan_free(pod->plans[at]);
	if (pod) {
		morph_request_free(pod->request);
		morph_ledger_free(pod->ledger);
	}
	morph_model_put(model);
	free(profile);
	free(pod);
}

static void measure_churn(struct pod *pod)
{
	churn(pod, 700, "slices placed in a pod of 4096, 70 % held", 2000);
	churn(pod, 950, "slices placed in a pod of 4096, 95 % held", 0);
}

static void measure_across(struct pod *pod)
{
	fill_across(pod, "32 accelerators in a pod of 4096, 70 % held, any tier");
}

void bench_pod(struct morph_ctx *ctx, const char *path, const char *any)
{
	with_pod(ctx, path, measure_churn);
	with_pod(ctx, any, measure_across);
}
