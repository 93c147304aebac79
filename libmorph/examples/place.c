// SPDX-License-Identifier: MIT
/*
 * Place a slice in a fabric that is partly in use, and find spares for its ranks. Needs no kernel.
 *
 *	place PROFILE count|ring|mesh|torus|pairs RANKS
 *
 * cc place.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

/* Record resources of another slice, and unusable hardware. */
static int fill_ledger(struct morph_ledger *ledger)
{
	if (morph_ledger_hold(ledger, 0, 7) || morph_ledger_hold(ledger, 1, 7) ||
	    morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, 2, true) ||
	    morph_ledger_set_spare(ledger, 3, true))
		return 1;
	return 0;
}

/* Set the links between ranks. */
static int set_shape(struct morph_request *request, const char *shape, uint32_t ranks)
{
	int error = -1;

	if (!strcmp(shape, "count"))
		return morph_request_set_count(request, ranks);
	if (!strcmp(shape, "ring"))
		return morph_request_set_shape(request, MORPH_SHAPE_RING, ranks, 1, 1);
	if (!strcmp(shape, "mesh"))
		return morph_request_set_shape(request, MORPH_SHAPE_MESH, ranks, 1, 1);
	if (!strcmp(shape, "torus"))
		return morph_request_set_shape(request, MORPH_SHAPE_TORUS, ranks / 2, 2, 1);
	if (!strcmp(shape, "pairs"))
		error = morph_request_set_count(request, ranks);
	for (uint32_t rank = 0; !error && rank + 1 < ranks; rank += 2)
		error = morph_request_add_circuit(request, rank, rank + 1);
	return error;
}

static struct morph_request *make_request(struct morph_ctx *ctx, const char *shape, uint32_t ranks)
{
	MORPH_OPTS(morph_request_opts, opts, .mbps = 100000, .steps = 65536,
		   .objective = MORPH_OBJECTIVE_FRAGMENTATION, .transit = MORPH_TRANSIT_ANY);
	struct morph_request *request = morph_request_new(ctx);

	if (!request || morph_request_set_opts(request, &opts) ||
	    set_shape(request, shape, ranks)) {
		morph_request_free(request);
		return NULL;
	}
	return request;
}

/* Print the accelerator of each rank, and the plan's bounds. */
static int print_plan(const struct morph_plan *plan, const struct morph_ledger *ledger)
{
	struct morph_object *answer;
	int error = morph_plan_describe(plan, ledger, &answer);

	if (error)
		return error;
	printf("%" PRIu64 " fibres (at least %" PRIu64 "), %" PRIu64 " servers (at least %" PRIu64
	       ")\n",
	       morph_object_uint(answer, "fibres"), morph_object_uint(answer, "fibres-bound"),
	       morph_object_uint(answer, "servers"), morph_object_uint(answer, "servers-bound"));
	if (morph_object_values(answer, "text"))
		printf("%s\n", morph_object_text(answer, "text"));
	morph_object_free(answer);
	return 0;
}

/* Find the spare that takes over from each rank. */
static int protect(struct morph_ctx *ctx, struct morph_ledger *ledger,
		   const struct morph_plan *plan)
{
	struct morph_protection *protection = morph_protection_new(ctx);
	struct morph_object *answer;
	int error = protection ? morph_protect(ledger, plan, protection) : -1;

	if (!error)
		error = morph_protection_describe(protection, plan, ledger, &answer);
	if (error)
		goto out;
	for (size_t at = 0; at < morph_object_values(answer, "rank"); at++) {
		const struct morph_object *rank = morph_object_nested_at(answer, "rank", at);

		printf("rank %" PRIu64 ": spare %" PRIu64 "\n", morph_object_uint(rank, "rank"),
		       morph_object_uint(rank, "spare"));
	}
	morph_object_free(answer);
out:
	morph_protection_free(protection);
	return error;
}

static int place(struct morph_ctx *ctx, struct morph_ledger *ledger, const char *shape,
		 uint32_t ranks)
{
	struct morph_request *request = make_request(ctx, shape, ranks);
	struct morph_plan *plan = morph_plan_new(ctx);
	MORPH_OPTS(morph_plan_info, info);
	int status = 1;

	if (!request || !plan || morph_place(ledger, request, plan)) {
		fail(ctx, "place");
		goto out;
	}
	if (print_plan(plan, ledger)) {
		fail(ctx, "describe");
		goto out;
	}
	morph_plan_info(plan, &info);
	for (uint32_t rank = 0; rank < info.ranks; rank++)
		printf("rank %" PRIu32 ": accelerator %" PRIu32 "\n", rank,
		       info.accelerators[rank]);
	if (info.verdict != MORPH_FEASIBLE)
		goto out;
	/* From here on, slice 8 has the resources of the plan. */
	if (morph_ledger_take(ledger, plan, 8) || protect(ctx, ledger, plan) ||
	    morph_ledger_give(ledger, plan))
		fail(ctx, "ledger");
	else
		status = 0;
out:
	morph_plan_free(plan);
	morph_request_free(request);
	return status;
}

int main(int argc, char **argv)
{
	struct morph_ledger *ledger = NULL;
	struct morph_model *model;
	struct morph_object *info;
	struct morph_ctx *ctx;
	int status;

	if (argc != 4) {
		fprintf(stderr, "usage: place PROFILE count|ring|mesh|torus|pairs RANKS\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	if (morph_model_load(ctx, argv[1], &model)) {
		status = fail(ctx, argv[1]);
		morph_ctx_free(ctx);
		return status;
	}
	if (morph_model_info(ctx, model, &info) == 0) {
		printf("profile %s, checksum %08" PRIx32 "\n", morph_object_text(info, "profile"),
		       (uint32_t)morph_object_uint(info, "profile-checksum"));
		morph_object_free(info);
	}
	if (morph_ledger_new(ctx, model, &ledger) || fill_ledger(ledger))
		status = fail(ctx, "ledger");
	else
		status = place(ctx, ledger, argv[2], (uint32_t)atoi(argv[3]));
	morph_ledger_free(ledger);
	morph_model_put(model);
	morph_ctx_free(ctx);
	return status;
}
