// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Defragmentation in corners of a rack that are small enough to try everything. Requests of two to
 * four ranks that lack fibres compete with up to five slices of the same size, whose circuits take
 * random paths. Every request that can be satisfied must be.
 */
#include <stdlib.h>
#include <string.h>

#include "../internal/planner.h"
#include "../defrag/defrag.h"
#include "bench.h"
#include "brute.h"
#include "fenced.h"
#include "random.h"

#define SLICES 6
#define REFUSALS 200
#define PINNED 8 /* one in this number of slices is pinned */

struct corners {
	struct morph_ctx *ctx;
	struct morph_ledger *ledger;
	struct morph_request *request;
	struct morph_plan *plan; /* of the request */
	struct morph_plan *plans[SLICES];
	struct morph_defrag *defrag;
	uint64_t random;
};

struct corner_rows {
	struct samples ours, brute;
	uint32_t verdicts[4], moved, needless;
};

static void try_to(struct corners *corners, int error)
{
	if (error)
		wrong(morph_error_text(corners->ctx));
}

static void ask(struct corners *corners, struct morph_plan *plan)
{
	try_to(corners, fenced_ask(corners->request, &corners->random));
	try_to(corners, morph_place(corners->ledger, corners->request, plan));
}

/* Add a slice if possible. */
static bool come(struct corners *corners, uint32_t number)
{
	struct morph_plan *plan = corners->plans[number];

	ask(corners, plan);
	if (morph_plan_verdict(plan) != MORPH_FEASIBLE)
		return false;
	if (!fenced_scatter(corners->ledger, plan, 0, &corners->random))
		try_to(corners, morph_place(corners->ledger, corners->request, plan));
	try_to(corners, morph_ledger_take(corners->ledger, plan, number + 1));
	try_to(corners,
	       morph_defrag_add(corners->defrag, plan, number + 1,
				random_below(&corners->random, PINNED) ? 0 : MORPH_DEFRAG_PINNED));
	return true;
}

/* Build a corner and slices in it. */
static void settle(struct corners *corners)
{
	uint32_t servers = 4 + random_below(&corners->random, FENCED_SERVERS - 3);
	uint32_t chips = 1 + random_below(&corners->random, 3);
	uint32_t fibres = 1 + random_below(&corners->random, 2);
	uint32_t most = 2 + random_below(&corners->random, SLICES - 2), count = 0;

	morph_defrag_clear(corners->defrag);
	fenced_clear(corners->ledger);
	fenced_leave(corners->ledger, servers, &corners->random, chips, fibres);
	for (uint32_t tries = 0; tries < 2 * most && count < most; tries++)
		count += come(corners, count);
}

static void solve(struct corners *corners, struct corner_rows *rows)
{
	MORPH_OPTS(morph_defrag_result, result);
	double begin = now_us();
	uint32_t least;

	try_to(corners, morph_defrag_solve(corners->defrag, corners->ledger, corners->request, NULL,
					   &result));
	sample(&rows->ours, now_us() - begin);
	begin = now_us();
	least = brute_least(corners->ledger, corners->request, corners->defrag);
	sample(&rows->brute, now_us() - begin);
	rows->verdicts[result.verdict]++;
	if (result.verdict != MORPH_UNDECIDED &&
	    (result.verdict == MORPH_FEASIBLE) != (least != UINT32_MAX))
		wrong("brute force disagrees about a corner");
	if (result.verdict != MORPH_FEASIBLE)
		return;
	rows->moved += result.moved;
	rows->needless += result.moved - least;
	if (result.moved < least || (result.moved_least && result.moved_least != least))
		wrong("brute force moves a different number of circuits in a corner");
}

static void measure(struct corners *corners)
{
	static struct corner_rows rows;

	while (rows.ours.count < REFUSALS) {
		settle(corners);
		ask(corners, corners->plan);
		if (morph_plan_verdict(corners->plan) != MORPH_FEASIBLE &&
		    corners->plan->refusals[0].reason != MORPH_WIRE_COUNT)
			solve(corners, &rows);
	}
	report("defragmentation of a corner of a rack", &rows.ours, NO_BAR, 0);
	report_oracle("  the same by brute force", &rows.brute, &rows.ours);
	report_count("  undecided", rows.verdicts[MORPH_UNDECIDED], 0);
	remark("%u of %u feasible by rerouting, %u proven infeasible; %u circuits moved, %u of them needlessly",
	       rows.verdicts[MORPH_FEASIBLE], rows.ours.count, rows.verdicts[MORPH_INFEASIBLE],
	       rows.moved, rows.needless);
}

void bench_corners(struct morph_ctx *ctx, const char *path)
{
	struct corners corners = { .ctx = ctx, .random = 1 };
	struct morph_model *model = NULL;
	bool made = !morph_model_load(ctx, path, &model) &&
		    !morph_ledger_new(ctx, model, &corners.ledger);

	corners.request = morph_request_new(ctx);
	corners.plan = morph_plan_new(ctx);
	corners.defrag = morph_defrag_new(ctx);
	made = made && corners.request && corners.plan && corners.defrag;
	for (uint32_t at = 0; at < SLICES; at++) {
		corners.plans[at] = morph_plan_new(ctx);
		made = made && corners.plans[at];
	}
	if (made)
		measure(&corners);
	else
		wrong(path);
	for (uint32_t at = 0; at < SLICES; at++)
		morph_plan_free(corners.plans[at]);
	morph_defrag_free(corners.defrag);
	morph_plan_free(corners.plan);
	morph_request_free(corners.request);
	morph_ledger_free(corners.ledger);
	morph_model_put(model);
}
