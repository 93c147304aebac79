// SPDX-License-Identifier: MIT
/*
 * A controller takes its lease, reserves lanes of a guide between two servers, gets a slice to
 * decide about, and gives everything back.
 *
 *	controllers FABRIC CONTROLLER GUIDE LANES [SLICE [edge]]
 *	controllers spread
 *
 * cc controllers.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_NS 30000000000ull

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

static int print_controllers(struct morph_ctx *ctx, uint32_t fabric)
{
	struct morph_list *list;
	int error = morph_admin_list(ctx, MORPH_OBJECT_CONTROLLER, fabric, MORPH_ANY, &list);

	for (size_t at = 0; !error && at < morph_list_count(list); at++) {
		const struct morph_object *controller = morph_list_get(list, at);

		printf("controller %" PRIu64 ", epoch %" PRIu64 "\n",
		       morph_object_uint(controller, "id"), morph_object_uint(controller, "epoch"));
	}
	if (!error)
		morph_list_free(list);
	return error;
}

/* Take control. Returns the epoch. */
static uint64_t take(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller)
{
	struct morph_object *out;
	uint64_t epoch = 1;

	if (morph_admin_get(ctx, MORPH_OBJECT_CONTROLLER, fabric, MORPH_ANY, controller, &out) ==
	    0) {
		epoch = morph_object_uint(out, "epoch") + 1;
		morph_object_free(out);
	}
	if (morph_controller_take(ctx, fabric, controller, epoch, LEASE_NS, 0, &out))
		return 0;
	morph_object_free(out);
	return epoch;
}

static int reserve(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller, uint64_t epoch,
		   uint32_t guide, uint32_t lanes)
{
	struct morph_object *out;
	struct morph_list *list;
	int error = morph_controller_reserve(ctx, fabric, controller, epoch, guide, lanes,
					     UINT64_MAX, &out);

	if (error)
		return error;
	printf("lanes %" PRIx64 " of guide %" PRIu32 "\n", morph_object_uint(out, "lanes"), guide);
	morph_object_free(out);
	error = morph_admin_list(ctx, MORPH_OBJECT_RESERVATION, fabric, controller, &list);
	if (error)
		return error;
	printf("%zu reservations\n", morph_list_count(list));
	morph_list_free(list);
	/* Release reservations of earlier epochs. */
	error = morph_controller_settle(ctx, fabric, controller, epoch, &out);
	if (!error)
		morph_object_free(out);
	return error;
}

/* Change a circuit of the controller's slice on its behalf: prepare, then commit. */
static int change(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice, uint32_t controller,
		  uint64_t epoch)
{
	MORPH_OPTS(morph_txn_opts, opts, .lease_ns = LEASE_NS, .controller = controller,
		   .epoch = epoch);
	struct morph_txn *txn = morph_txn_new(ctx);
	struct morph_object *out;
	uint32_t id;
	int error = txn ? morph_txn_add(txn, 0, 1, NULL) : -1;

	if (!error)
		error = morph_txn_set_opts(txn, &opts);
	if (error)
		goto out;
	error = morph_admin_circuit_apply(ctx, fabric, slice, txn, &out);
	if (error)
		goto out;
	id = (uint32_t)morph_object_uint(out, "id");
	morph_object_free(out);
	error = morph_controller_step(ctx, fabric, id, MORPH_TXN_COMMIT, LEASE_NS, controller,
				      epoch, NULL);
out:
	morph_txn_free(txn);
	return error;
}

/* Reserve the same lanes at both ends of an edge. If one end refuses, both are unchanged. */
static int reserve_edge(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller, uint64_t epoch)
{
	const struct morph_controller_end ends[2] = { { ctx, fabric, 0, epoch },
						      { ctx, fabric + 1, 0, epoch } };
	uint64_t lanes;
	int error = morph_controller_reserve_edge(ends, controller, 1, UINT64_MAX, &lanes);

	if (!error)
		printf("lanes %" PRIx64 " of the edge\n", lanes);
	return error;
}

/* Assign whole slices to controllers by weight, with a backup for each. */
static int spread(struct morph_ctx *ctx)
{
	static const double weights[] = { 16, 8, 4, 4, 2 };
	uint32_t primary[5], backup[5];
	int error = morph_slicing_assign(ctx, weights, 5, 3, 1, NULL, primary, backup);

	for (size_t slice = 0; !error && slice < 5; slice++)
		printf("slice %zu: controller %" PRIu32 ", then %" PRIu32 "\n", slice,
		       primary[slice], backup[slice]);
	return error;
}

static int decide(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice, uint32_t controller,
		  uint64_t epoch)
{
	MORPH_OPTS(morph_slice_set_opts, opts, .controller = controller,
		   .set = MORPH_SET_CONTROLLER);
	struct morph_object *out;
	int error = morph_admin_slice_set(ctx, fabric, slice, &opts, &out);

	if (error)
		return error;
	morph_object_free(out);
	error = change(ctx, fabric, slice, controller, epoch);
	if (error)
		return error;
	/* 0 assigns the slice to no controller. */
	opts.controller = 0;
	error = morph_admin_slice_set(ctx, fabric, slice, &opts, &out);
	if (!error)
		morph_object_free(out);
	return error;
}

int main(int argc, char **argv)
{
	uint32_t fabric, controller;
	struct morph_object *out;
	struct morph_ctx *ctx;
	uint64_t epoch;
	int status = 1;

	if (argc == 2 && !strcmp(argv[1], "spread")) {
		if (morph_ctx_new(NULL, &ctx))
			return 1;
		status = spread(ctx);
		morph_ctx_free(ctx);
		return status;
	}
	if (argc < 5) {
		fprintf(stderr, "usage: controllers FABRIC CONTROLLER GUIDE LANES [SLICE]\n");
		return 2;
	}
	fabric = (uint32_t)atoi(argv[1]);
	controller = (uint32_t)atoi(argv[2]);
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	epoch = take(ctx, fabric, controller);
	if (!epoch ||
	    reserve(ctx, fabric, controller, epoch, (uint32_t)atoi(argv[3]),
		    (uint32_t)atoi(argv[4])) ||
	    (argc > 5 && decide(ctx, fabric, (uint32_t)atoi(argv[5]), controller, epoch)) ||
	    print_controllers(ctx, fabric) ||
	    (argc > 6 && reserve_edge(ctx, fabric, controller, epoch))) {
		fail(ctx, "controller");
		goto out;
	}
	if (morph_controller_take(ctx, fabric, controller, epoch, LEASE_NS, MORPH_TAKE_RENEW,
				  &out)) {
		fail(ctx, "renew");
		goto out;
	}
	morph_object_free(out);
	status = morph_controller_drop(ctx, fabric, controller) ? fail(ctx, "drop") : 0;
out:
	morph_ctx_free(ctx);
	return status;
}
