// SPDX-License-Identifier: MIT
/*
 * Make room for a ring on a fabric with running slices: find the circuits that must move, in an
 * order that keeps them lit if possible. Plans only.
 *
 *	defrag PROFILE FABRIC RANKS
 *
 * cc defrag.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

static int print_answer(struct morph_defrag *defrag, struct morph_ledger *ledger)
{
	const struct morph_plan *plan = morph_defrag_plan(defrag);
	MORPH_OPTS(morph_plan_info, info);
	struct morph_object *answer;
	int error = morph_defrag_describe(defrag, ledger, &answer);

	if (error)
		return error;
	printf("%s: %" PRIu64 " circuits are moved, %" PRIu64 " of them are dark meanwhile\n",
	       morph_object_text(answer, "verdict"), morph_object_uint(answer, "moved"),
	       morph_object_uint(answer, "dark"));
	for (size_t at = 0; at < morph_object_values(answer, "step"); at++) {
		const struct morph_object *step = morph_object_nested_at(answer, "step", at);

		printf("step %zu: %s, %" PRIu64 " ns\n", at, morph_object_text(step, "kind"),
		       morph_object_uint(step, "takes-ns"));
	}
	if (plan && morph_plan_info(plan, &info) == 0)
		printf("%" PRIu32 " ranks get accelerators\n", info.ranks);
	morph_object_free(answer);
	return 0;
}

/* Each step is a transaction of one slice. After a failure, its dark circuits are lit again. */
static int make_transactions(struct morph_ctx *ctx, const struct morph_defrag *defrag,
			     uint32_t steps)
{
	int error = 0;

	for (uint32_t step = 0; !error && step < steps; step++) {
		struct morph_txn *txn = morph_txn_new(ctx), *again = morph_txn_new(ctx);

		error = txn && again ? morph_txn_add_step(txn, defrag, step) : -1;
		if (!error)
			error = morph_txn_add_broken(again, defrag, step, 1);
		if (!error)
			printf("step %" PRIu32 ": %zu changes, %zu if it fails\n", step,
			       morph_txn_count(txn), morph_txn_count(again));
		morph_txn_free(again);
		morph_txn_free(txn);
	}
	return error;
}

static int solve(struct morph_ctx *ctx, struct morph_ledger *ledger, uint32_t fabric,
		 struct morph_request *request)
{
	MORPH_OPTS(morph_defrag_opts, opts, .objective = MORPH_DEFRAG_MOVES);
	struct morph_defrag *defrag = morph_defrag_new(ctx);
	MORPH_OPTS(morph_defrag_result, result);
	int status = 1;

	if (!defrag || morph_ledger_read(ledger, fabric, 0) ||
	    morph_defrag_read(defrag, ledger, fabric, 0) || morph_defrag_keep(defrag, ledger) ||
	    morph_defrag_solve(defrag, ledger, request, &opts, &result))
		goto out;
	if (result.verdict == MORPH_FEASIBLE && morph_defrag_light(defrag, ledger, &result))
		goto out;
	if (print_answer(defrag, ledger) ||
	    (result.verdict == MORPH_FEASIBLE && make_transactions(ctx, defrag, result.steps)))
		goto out;
	status = 0;
out:
	if (status)
		fail(ctx, "defrag");
	morph_defrag_free(defrag);
	return status;
}

int main(int argc, char **argv)
{
	struct morph_request *request = NULL;
	struct morph_ledger *ledger = NULL;
	struct morph_model *model = NULL;
	struct morph_ctx *ctx;
	int status;

	if (argc != 4) {
		fprintf(stderr, "usage: defrag PROFILE FABRIC RANKS\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	request = morph_request_new(ctx);
	if (!request ||
	    morph_request_set_shape(request, MORPH_SHAPE_RING, (uint32_t)atoi(argv[3]), 1, 1) ||
	    morph_model_load(ctx, argv[1], &model) || morph_ledger_new(ctx, model, &ledger))
		status = fail(ctx, argv[1]);
	else
		status = solve(ctx, ledger, (uint32_t)atoi(argv[2]), request);
	morph_request_free(request);
	morph_ledger_free(ledger);
	morph_model_put(model);
	morph_ctx_free(ctx);
	return status;
}
