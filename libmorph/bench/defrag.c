// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Defragmentation in a rack where slices have come and gone. Circuits take random paths, up to two
 * hops longer than the shortest, as if slices that left since had been in their way. If a request
 * is refused although accelerators are free, running circuits are rerouted. Deterministic for a
 * seed.
 */
#include <stdlib.h>
#include <string.h>

#include "../check/check.h"
#include "../internal/planner.h"
#include "../internal/request.h"
#include "../defrag/defrag.h"
#include "bench.h"
#include "fenced.h"
#include "random.h"

#define SLICES 64
#define REFUSALS 100
#define DETOUR 2 /* most additional hops of a circuit */
#define CHECKED 10 /* one in this number of answers is checked */

struct rack_shape {
	uint8_t x, y, z; /* of a torus; 0: a ring, or a mesh of z */
};

static const struct rack_shape shapes[] = {
	{ 2, 1, 1 }, { 3, 1, 1 }, { 4, 1, 1 }, { 6, 1, 1 }, { 2, 3, 1 }, { 2, 2, 2 },
	{ 2, 2, 4 }, { 3, 3, 1 }, { 2, 2, 3 }, { 0, 1, 4 }, { 0, 1, 5 }, { 8, 1, 1 },
};

struct site {
	struct morph_ctx *ctx;
	struct morph_ledger *ledger;
	struct morph_request *request;
	struct morph_defrag *defrag;
	struct morph_plan *plans[SLICES]; /* used again */
	uint32_t numbers[SLICES];
	uint32_t live, held, next;
	uint64_t random;
	struct morph_check_bytes profile;
};

/* Results. */
struct outcome {
	uint32_t refused, verdicts[4], moved, dark, tenants, fewest;
	uint64_t dark_ns, digest;
};

static void draw(struct site *site)
{
	const struct rack_shape *shape =
		&shapes[random_below(&site->random, sizeof(shapes) / sizeof(shapes[0]))];
	int ret;

	if (shape->x)
		ret = morph_request_set_shape(site->request, MORPH_SHAPE_TORUS, shape->x, shape->y,
					      shape->z);
	else
		ret = morph_request_set_shape(site->request, MORPH_SHAPE_MESH, shape->z, 1, 1);
	if (ret ||
	    morph_request_set_servers(site->request,
				      shape->x ? servers_of_torus(shape->x, shape->y, shape->z) :
						 MORPH_SERVERS_SHARED))
		wrong(morph_error_text(site->ctx));
}

static void leave(struct site *site)
{
	uint32_t at = random_below(&site->random, site->live);
	struct morph_plan *plan = site->plans[at];

	if (morph_ledger_give(site->ledger, plan))
		wrong(morph_error_text(site->ctx));
	site->held -= morph_plan_ranks(plan);
	site->plans[at] = site->plans[--site->live];
	site->numbers[at] = site->numbers[site->live];
	site->plans[site->live] = plan;
}

static void come(struct site *site)
{
	struct morph_plan *plan = site->plans[site->live];

	draw(site);
	if (morph_place(site->ledger, site->request, plan))
		wrong(morph_error_text(site->ctx));
	if (morph_plan_verdict(plan) != MORPH_FEASIBLE ||
	    !fenced_scatter(site->ledger, plan, DETOUR, &site->random))
		return;
	if (morph_ledger_take(site->ledger, plan, site->next))
		wrong(morph_error_text(site->ctx));
	site->numbers[site->live++] = site->next++;
	site->held += morph_plan_ranks(plan);
}

static struct morph_check_bytes room(ssize_t bytes)
{
	return (struct morph_check_bytes){ .data = malloc((size_t)bytes), .bytes = (size_t)bytes };
}

/* Check an answer with the checker. */
static void check(const struct site *site)
{
	struct morph_check_defrag_input input = {
		.profile = site->profile,
		.ledger = room(morph_ledger_write(site->ledger, NULL, 0)),
		.request = room(morph_request_write(site->request, site->ledger, NULL, 0)),
		.running = room(morph_defrag_write_running(site->defrag, NULL, 0)),
		.answer = room(morph_defrag_write(site->defrag, NULL, 0)),
		.steps = 1 << 18,
	};
	void *ledger = (void *)(uintptr_t)input.ledger.data;
	void *request = (void *)(uintptr_t)input.request.data;
	void *running = (void *)(uintptr_t)input.running.data;
	void *answer = (void *)(uintptr_t)input.answer.data;
	char text[256];

	if (ledger && request && running && answer) {
		int ret;

		morph_ledger_write(site->ledger, ledger, input.ledger.bytes);
		morph_request_write(site->request, site->ledger, request, input.request.bytes);
		morph_defrag_write_running(site->defrag, running, input.running.bytes);
		morph_defrag_write(site->defrag, answer, input.answer.bytes);
		ret = morph_check_defrag(&input, text, sizeof(text));
		if (ret && ret != -EAGAIN)
			wrong(text);
	}
	free(ledger);
	free(request);
	free(running);
	free(answer);
}

static void solve(struct site *site, struct outcome *outcome, struct samples samples[2])
{
	MORPH_OPTS(morph_defrag_result, result);
	struct samples *mine;
	double begin, took;

	morph_defrag_clear(site->defrag);
	for (uint32_t at = 0; at < site->live; at++)
		if (morph_defrag_add(site->defrag, site->plans[at], site->numbers[at], 0))
			wrong(morph_error_text(site->ctx));
	begin = now_us();
	if (morph_defrag_solve(site->defrag, site->ledger, site->request, NULL, &result))
		wrong(morph_error_text(site->ctx));
	took = now_us() - begin;
	mine = &samples[result.verdict != MORPH_FEASIBLE];
	sample(mine, took);
	outcome->refused++;
	outcome->verdicts[result.verdict]++;
	outcome->moved += result.moved;
	outcome->dark += result.dark;
	outcome->tenants += result.tenants;
	outcome->fewest += result.verdict == MORPH_FEASIBLE && result.moved_least == result.moved;
	for (uint32_t at = 0; at < result.tenants; at++) {
		MORPH_OPTS(morph_defrag_tenant, tenant);

		morph_defrag_tenant(site->defrag, at, &tenant);
		if (tenant.dark_ns > outcome->dark_ns)
			outcome->dark_ns = tenant.dark_ns;
	}
	if (outcome->refused % CHECKED == 0)
		check(site);
}

static void print(const struct outcome *outcome)
{
	report_count("  undecided", outcome->verdicts[MORPH_UNDECIDED], 0);
	remark("%u refused: %u feasible by rerouting, %u proven infeasible", outcome->refused,
	       outcome->verdicts[MORPH_FEASIBLE], outcome->verdicts[MORPH_INFEASIBLE]);
	remark("%u circuits of %u tenants moved (fewest proven in %u answers), %u dark, for %llu ns at most",
	       outcome->moved, outcome->tenants, outcome->fewest, outcome->dark,
	       (unsigned long long)outcome->dark_ns);
}

static void run(struct site *site, const char *name)
{
	static struct samples samples[2];
	struct outcome outcome = { 0 };

	samples[0].count = samples[1].count = 0;
	while (outcome.refused < REFUSALS) {
		uint32_t most = 32 + random_below(&site->random, 25);
		struct morph_plan *plan;

		for (uint32_t tries = 0; tries < 12 && site->held < most && site->live < SLICES - 1;
		     tries++)
			come(site);
		plan = site->plans[site->live];
		draw(site);
		if (morph_place(site->ledger, site->request, plan))
			wrong(morph_error_text(site->ctx));
		if (morph_plan_verdict(plan) != MORPH_FEASIBLE &&
		    site->held + site->request->ranks <= 64)
			solve(site, &outcome, samples);
		for (uint32_t gone = 0; gone < 3 && site->live; gone++)
			leave(site);
	}
	report(name, &samples[0], NO_BAR, 0);
	if (samples[1].count)
		report("  still without room", &samples[1], NO_BAR, 0);
	print(&outcome);
}

void bench_defrag(struct morph_ctx *ctx, const char *path)
{
	struct site site = { .ctx = ctx, .next = 1, .random = 1 };
	struct morph_model *model = NULL;
	size_t bytes = 0;
	void *profile = read_profile(path, &bytes);

	if (!profile || morph_model_parse(ctx, profile, bytes, &model) ||
	    morph_ledger_new(ctx, model, &site.ledger)) {
		wrong(path);
		free(profile);
		return;
	}
	site.profile = (struct morph_check_bytes){ profile, bytes };
	site.request = morph_request_new(ctx);
	morph_request_set_budget(site.request, 1 << 9);
	site.defrag = morph_defrag_new(ctx);
	for (uint32_t at = 0; at < SLICES; at++)
		site.plans[at] = morph_plan_new(ctx);
	run(&site, "defragmentation of a rack");
	while (site.live)
		leave(&site);
	for (uint32_t at = 0; at < site.ledger->sites.strands_count; at++)
		if (random_below(&site.random, 2))
			morph_ledger_mark(site.ledger, MORPH_PART_GUIDE,
					  site.ledger->sites.strands[at].guides[0] >> 1, true);
	run(&site, "defragmentation of a rack, half of its fibres unusable");
	for (uint32_t at = 0; at < SLICES; at++)
		morph_plan_free(site.plans[at]);
	morph_defrag_free(site.defrag);
	morph_request_free(site.request);
	morph_ledger_free(site.ledger);
	morph_model_put(model);
	free(profile);
}
