// SPDX-License-Identifier: MIT
/*
 * The work of a job launcher: place a ring on a fabric with running slices, create the slice, light
 * it as planned, and set its preferred spares.
 *
 *	launch PROFILE FABRIC RANKS NAME
 *
 * cc launch.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>

struct launch {
	struct morph_ctx *ctx;
	struct morph_ledger *ledger;
	struct morph_request *request;
	struct morph_plan *plan;
	struct morph_txn *txn;
	struct morph_fabric *fabric;
	struct morph_slice *slice;
};

/* Create a slice with the accelerators of the plan, in the order of its ranks. */
static int create(struct launch *l, const struct morph_plan_info *plan, const char *name)
{
	MORPH_OPTS(morph_request_opts, opts, .name = name);
	struct morph_request *request = morph_request_new(l->ctx);
	int error =
		request ? morph_request_set_accelerators(request, plan->accelerators, plan->ranks) :
			  -1;

	if (!error)
		error = morph_request_set_opts(request, &opts);
	if (!error)
		error = morph_slice_create(l->fabric, request, &l->slice);
	morph_request_free(request);
	return error;
}

/* Protect the slice by its number, which administrators' functions need. */
static int protect(struct launch *l, uint32_t fabric)
{
	struct morph_protection *protection = morph_protection_new(l->ctx);
	struct morph_object *info = NULL;
	struct morph_list *circuits = NULL;
	int error = protection ? morph_protect(l->ledger, l->plan, protection) : -1;

	if (!error)
		error = morph_slice_read(l->slice, &info, &circuits);
	if (!error)
		error = morph_protection_apply(protection, fabric,
					       (uint32_t)morph_object_uint(info, "id"));
	morph_list_free(circuits);
	morph_object_free(info);
	morph_protection_free(protection);
	return error;
}

static int launch(struct launch *l, uint32_t fabric, uint32_t ranks, const char *name)
{
	MORPH_OPTS(morph_plan_info, plan);
	int error = morph_request_set_shape(l->request, MORPH_SHAPE_RING, ranks, 1, 1);

	if (!error)
		error = morph_ledger_read(l->ledger, fabric, 0);
	if (!error)
		error = morph_txn_place(l->txn, l->ledger, l->request, l->plan);
	if (!error)
		error = morph_plan_info(l->plan, &plan);
	if (error)
		return error;
	if (plan.verdict != MORPH_FEASIBLE) {
		printf("no rack fits the request\n");
		return 0;
	}
	error = create(l, &plan, name);
	if (!error)
		error = morph_txn_run(l->slice, l->txn, NULL);
	if (!error)
		error = protect(l, fabric);
	return error;
}

int main(int argc, char **argv)
{
	struct morph_model *model = NULL;
	struct launch l = { 0 };
	int status = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: launch PROFILE FABRIC RANKS NAME\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &l.ctx))
		return 1;
	l.request = morph_request_new(l.ctx);
	l.plan = morph_plan_new(l.ctx);
	l.txn = morph_txn_new(l.ctx);
	if (!l.request || !l.plan || !l.txn || morph_model_load(l.ctx, argv[1], &model) ||
	    morph_ledger_new(l.ctx, model, &l.ledger) ||
	    morph_fabric_open(l.ctx, argv[2], &l.fabric) ||
	    launch(&l, (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]), argv[4])) {
		fprintf(stderr, "%s\n", morph_error_text(l.ctx));
		status = 1;
	}
	morph_slice_close(l.slice);
	morph_fabric_close(l.fabric);
	morph_txn_free(l.txn);
	morph_plan_free(l.plan);
	morph_request_free(l.request);
	morph_ledger_free(l.ledger);
	morph_model_put(model);
	morph_ctx_free(l.ctx);
	return status;
}
