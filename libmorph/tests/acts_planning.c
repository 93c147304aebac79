// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls of planners, which use no kernel, as acts that can fail. */
#include "../internal/planner.h"
#include "../internal/client.h"
#include "acts.h"
#include "acts_planning.h"
#include "scheduling.h"

static const char *profile;
static bool checks;

void acts_planning_begin(struct morph_ctx *of, const char *path)
{
	ctx = of;
	profile = path;
}

void acts_planning_check(bool check)
{
	checks = check;
}

/* Exceed the initial capacity of the lists of links and paths. */
int solve_traffic(void)
{
	struct morph_traffic *te = morph_traffic_new(ctx);
	int result = te ? 0 : -morph_error_code(ctx);

	for (uint32_t at = 0; result >= 0 && at < 20; at++)
		result = morph_traffic_add_link(te, 4);
	for (uint32_t at = 0; result >= 0 && at < 20; at++)
		result = morph_traffic_add_demand(te, 6, 1);
	for (uint32_t at = 0; result >= 0 && at < 20; at++)
		result = morph_traffic_add_path(te, at, (const uint32_t[]){ at, 19 - at }, 2);
	if (result >= 0)
		result = morph_traffic_solve(te, NULL, NULL);
	morph_traffic_free(te);
	return result;
}

int solve_fabric(void)
{
	struct morph_traffic *te = morph_traffic_new(ctx);
	struct morph_ledger *ledger = NULL;
	struct morph_model *loaded = NULL;
	int result = te ? morph_model_load(ctx, profile, &loaded) : -morph_error_code(ctx);

	if (!result)
		result = morph_ledger_new(ctx, loaded, &ledger);
	if (!result)
		result = morph_traffic_add_servers(te, ledger);
	morph_traffic_free(te);
	morph_ledger_free(ledger);
	morph_model_put(loaded);
	return result;
}

int place_slice(void)
{
	struct morph_ledger *ledger = NULL;
	struct morph_model *loaded = NULL;
	struct morph_request *request = NULL;
	struct morph_object *described = NULL;
	struct morph_plan *plan = NULL;
	struct morph_txn *txn = NULL;
	struct morph_protection *protection = NULL;
	int result = morph_model_load(ctx, profile, &loaded);

	if (!result)
		result = morph_ledger_new(ctx, loaded, &ledger);
	if (!result)
		request = morph_request_new(ctx);
	if (request)
		plan = morph_plan_new(ctx);
	if (!plan)
		result = -morph_error_code(ctx);
	if (!result)
		result = morph_request_set_shape(request, MORPH_SHAPE_RING, 2, 1, 1);
	if (!result)
		result = morph_place(ledger, request, plan);
	if (!result)
		result = morph_plan_describe(plan, ledger, &described);
	if (!result && !(txn = morph_txn_new(ctx)))
		result = -morph_error_code(ctx);
	if (!result)
		result = morph_txn_add_plan(txn, plan, ledger);
	if (!result)
		result = morph_ledger_take(ledger, plan, 1);
	if (!result && !(protection = morph_protection_new(ctx)))
		result = -morph_error_code(ctx);
	if (!result)
		result = morph_protect(ledger, plan, protection);
	morph_object_free(described);
	described = NULL;
	if (!result)
		result = morph_protection_describe(protection, plan, ledger, &described);
	morph_protection_free(protection);
	morph_txn_free(txn);
	morph_object_free(described);
	morph_plan_free(plan);
	morph_request_free(request);
	morph_ledger_free(ledger);
	morph_model_put(loaded);
	return result;
}

/* Make room for a slice beside a running one. No circuit needs to move. */
int make_room(void)
{
	struct morph_ledger *ledger = NULL;
	struct morph_model *loaded = NULL;
	struct morph_request *request = NULL;
	struct morph_object *described = NULL;
	struct morph_plan *plan = NULL;
	struct morph_defrag *defrag = NULL;
	int result = morph_model_load(ctx, profile, &loaded);

	if (!result)
		result = morph_ledger_new(ctx, loaded, &ledger);
	if (!result)
		request = morph_request_new(ctx);
	if (request)
		plan = morph_plan_new(ctx);
	if (plan)
		defrag = morph_defrag_new(ctx);
	if (!defrag)
		result = -morph_error_code(ctx);
	if (!result)
		result = morph_request_set_shape(request, MORPH_SHAPE_RING, 2, 1, 1);
	if (!result)
		result = morph_place(ledger, request, plan);
	if (!result)
		result = morph_ledger_take(ledger, plan, 1);
	if (!result)
		result = morph_defrag_add(defrag, plan, 1, 0);
	if (!result)
		result = morph_defrag_solve(defrag, ledger, request, NULL, NULL);
	if (!result)
		result = morph_defrag_describe(defrag, ledger, &described);
	if (!result)
		result = morph_defrag_take(defrag, ledger, 2);
	morph_object_free(described);
	morph_defrag_free(defrag);
	morph_plan_free(plan);
	morph_request_free(request);
	morph_ledger_free(ledger);
	morph_model_put(loaded);
	return result;
}

int assign_tenants(void)
{
	const double weights[] = { 1, 2, 3 };
	uint32_t primary[3], backup[3];

	return morph_slicing_assign(ctx, weights, 3, 2, 1, NULL, primary, backup);
}

int count_spares(void)
{
	MORPH_OPTS(morph_spare_count, count);
	struct morph_risk *risk = morph_risk_new(ctx);
	int result = risk ? 0 : -morph_error_code(ctx);

	for (uint32_t at = 0; result >= 0 && at < 4; at++)
		result = morph_risk_add_server(risk, 4, 0.01, 0.01);
	for (uint32_t at = 0; result >= 0 && at < 20; at++)
		result = morph_risk_add_shared(risk, (const uint32_t[]){ at % 4, (at + 1) % 4 }, 2,
					       0.01);
	if (result >= 0)
		result = morph_risk_solve(risk);
	if (result >= 0)
		result = morph_risk_spares(risk, 0.9, &count);
	morph_risk_free(risk);
	return result;
}

/* Three groups that share guides of one fibre, and exceed the initial capacity of the lists. */
int share_bandwidth(void)
{
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, 2);
	int result = bw ? 0 : -morph_error_code(ctx);

	for (uint32_t at = 0; result >= 0 && at < 20; at++)
		result = morph_bandwidth_add_accelerator(bw, 1, 1);
	for (uint32_t at = 0; result >= 0 && at < 20; at++)
		result = morph_bandwidth_add_guide(bw, 1);
	for (uint32_t at = 0; result >= 0 && at < 20; at++)
		result = morph_bandwidth_add_group(bw, 0, 0);
	for (uint32_t at = 0; result >= 0 && at < 20; at++)
		result = morph_bandwidth_add_hop(bw, at, at, (at + 1) % 20, 1,
						 (const uint32_t[]){ at % 3, (at + 1) % 3 }, 2);
	if (result >= 0)
		result = morph_bandwidth_solve(bw, NULL, NULL);
	morph_bandwidth_free(bw);
	return result;
}

/* Build one collective of each family: lists grow, and each family allocates its own memory. */
int build_collectives(void)
{
	static const struct {
		uint32_t kind, algorithm, ranks;
	} all[] = {
		{ MORPH_ALL_REDUCE, MORPH_RINGS, 6 },	  { MORPH_ALL_REDUCE, MORPH_SWING, 8 },
		{ MORPH_ALL_TO_ALL, MORPH_BRUCK, 5 },	  { MORPH_ALL_TO_ALL, MORPH_PAIRWISE, 5 },
		{ MORPH_ALL_GATHER, MORPH_BRUCK, 7 },	  { MORPH_BROADCAST, MORPH_BINARY, 20 },
		{ MORPH_ALL_REDUCE, MORPH_DIRECT, 5 },	  { MORPH_ALL_REDUCE, MORPH_STRAGGLAR, 8 },
		{ MORPH_ALL_REDUCE, MORPH_STRAGGLAR, 6 },
	};
	int result = 0;

	for (size_t at = 0; result >= 0 && at < ARRAY_SIZE(all); at++) {
		MORPH_OPTS(morph_collective_opts, opts, .kind = all[at].kind,
			   .algorithm = all[at].algorithm, .ranks = all[at].ranks,
			   .extent = { 2, 3 }, .segments = 20, .bytes = 1000);
		struct morph_collective *collective = morph_collective_new(ctx);

		result = collective ? morph_collective_build(collective, &opts) :
				      -morph_error_code(ctx);
		if (!result)
			result = morph_collective_run(collective, NULL);
		morph_collective_free(collective);
	}
	return result;
}

int make_delay(void)
{
	struct morph_delay *delay = morph_delay_new(ctx);

	if (!delay)
		return -morph_error_code(ctx);
	morph_delay_free(delay);
	return 0;
}

/* Check the schedule by the checker. */
static void check_schedule(const struct morph_collective *collective,
			   const struct morph_delay *delay, const struct morph_schedule *after,
			   const struct morph_schedule *schedule)
{
	if (checks)
		assert_valid(collective, delay, 2, after, schedule);
}

/*
 * Plan by each policy: first rounds of one circuit per rank, then all pairs at once, after a
 * schedule that left circuits lit. Each policy allocates its own memory.
 */
int plan_schedules(void)
{
	MORPH_OPTS(morph_collective_opts, how, .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_HALVING,
		   .ranks = 8, .bytes = 1000);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *before = morph_schedule_new(ctx), *after = morph_schedule_new(ctx);
	struct morph_delay *delay = morph_delay_new(ctx);
	int result = collective && before && after && delay ? 0 : -morph_error_code(ctx);

	if (!result)
		result = morph_delay_set_link(delay, 100, 10, 100000);
	if (!result)
		result = morph_collective_build(collective, &how);
	if (!result)
		result = morph_schedule_plan(before, collective, delay, &opts);
	if (!result)
		check_schedule(collective, delay, NULL, before);
	opts.after = before;
	how.algorithm = MORPH_DIRECT;
	if (!result)
		result = morph_collective_build(collective, &how);
	if (!result)
		result = morph_schedule_plan(after, collective, delay, &opts);
	if (!result)
		check_schedule(collective, delay, before, after);
	morph_delay_free(delay);
	morph_schedule_free(after);
	morph_schedule_free(before);
	morph_collective_free(collective);
	return result;
}

/* Choose among all algorithms. Each of many allocations fails in turn, so the ranks are few. */
int choose_schedule(void)
{
	MORPH_OPTS(morph_collective_opts, how, .kind = MORPH_ALL_REDUCE, .ranks = 4, .bytes = 1000);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = morph_delay_new(ctx);
	int result = collective && schedule && delay ? 0 : -morph_error_code(ctx);

	if (!result)
		result = morph_delay_set_link(delay, 100, 10, 100000);
	if (!result)
		result = morph_schedule_choose(schedule, collective, &how, delay, &opts, NULL);
	if (!result)
		check_schedule(collective, delay, NULL, schedule);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
	return result;
}

/* Describe a plan that is found fast, because each of many allocations fails in turn. */
int describe_schedule(void)
{
	MORPH_OPTS(morph_collective_opts, how, .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_DIRECT,
		   .ranks = 8, .bytes = 1000);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = morph_delay_new(ctx);
	struct morph_object *object = NULL;
	int result = collective && schedule && delay ? 0 : -morph_error_code(ctx);

	if (!result)
		result = morph_delay_set_link(delay, 100, 10, 100000);
	if (!result)
		result = morph_collective_build(collective, &how);
	if (!result)
		result = morph_schedule_plan(schedule, collective, delay, &opts);
	if (!result)
		result = morph_schedule_describe(schedule, &object);
	morph_object_free(object);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
	return result;
}
