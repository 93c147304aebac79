// SPDX-License-Identifier: MIT
/*
 * Change the circuits of a slice: prepare a transaction under a lease, commit it, confirm it.
 *
 *	transaction SLICE SOURCE-RANK TARGET-RANK
 *
 * cc transaction.c $(pkg-config --cflags --libs libmorph)
 */
#include <errno.h>
#include <inttypes.h>
#include <morph/morph.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS 1000000000ull

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

static void print_txn(const char *what, struct morph_object *txn)
{
	printf("%s: transaction %" PRIu64 ", %zu changes\n", what, morph_object_uint(txn, "id"),
	       morph_object_values(txn, "change"));
	morph_object_free(txn);
}

/* Ask whether the change is possible, without making it. */
static int validate(struct morph_slice *slice, struct morph_txn *txn)
{
	MORPH_OPTS(morph_txn_opts, opts, .flags = MORPH_TXN_DRY_RUN);
	struct morph_object *out;
	int error = morph_txn_set_opts(txn, &opts);

	if (!error)
		error = morph_txn_run(slice, txn, &out);
	if (!error)
		print_txn("valid", out);
	return error;
}

/* The old circuits stay reserved until the confirmation; a missed lease reverts the change. */
static int change_in_phases(struct morph_slice *slice, struct morph_txn *txn)
{
	MORPH_OPTS(morph_txn_opts, opts, .lease_ns = 10 * SECOND_NS);
	struct morph_object *out;
	uint32_t id;
	int error = morph_txn_set_opts(txn, &opts);

	if (!error)
		error = morph_txn_run(slice, txn, &out);
	if (error)
		return error;
	id = (uint32_t)morph_object_uint(out, "id");
	print_txn("prepared", out);
	error = morph_txn_step(slice, id, MORPH_TXN_COMMIT, 10 * SECOND_NS, &out);
	if (error)
		return error;
	print_txn("committed", out);
	error = morph_txn_step(slice, id, MORPH_TXN_CONFIRM, 0, &out);
	if (!error)
		print_txn("confirmed", out);
	return error;
}

/* Another path for a circuit, lit before the old one goes dark; each change stands alone. */
static int move(struct morph_slice *slice, struct morph_txn *txn, uint32_t circuit)
{
	MORPH_OPTS(morph_circuit_opts, how, .lanes_count = 1, .src_plane = MORPH_ANY,
		   .dst_plane = MORPH_ANY);
	MORPH_OPTS(morph_txn_opts, opts, .flags = MORPH_TXN_EACH);
	size_t before = morph_txn_count(txn);
	struct morph_object *out;
	int error = morph_txn_set_opts(txn, &opts);

	if (!error && morph_txn_move(txn, circuit, &how) < 0)
		error = -ENOMEM;
	if (!error)
		error = morph_txn_run(slice, txn, &out);
	if (!error)
		print_txn("moved", out);
	morph_txn_truncate(txn, before);
	return error;
}

/* Run more changes than the kernel takes at once, one part after the other. */
static int run_all(struct morph_slice *slice, struct morph_txn *txn)
{
	struct morph_txn *rest;
	int error = 0;

	for (; txn && !error; txn = rest) {
		struct morph_object *out;

		rest = NULL;
		error = morph_txn_split(txn, &rest);
		if (!error)
			error = morph_txn_run(slice, txn, &out);
		if (!error)
			print_txn("run", out);
		morph_txn_free(txn);
	}
	morph_txn_free(txn);
	return error;
}

/* Darken all circuits of the slice, unless it has changed since it was read. */
static int remove_all(struct morph_ctx *ctx, struct morph_slice *slice)
{
	struct morph_txn *txn = morph_txn_new(ctx);
	struct morph_list *circuits;
	struct morph_object *info;
	int error = txn ? morph_slice_read(slice, &info, &circuits) : -1;

	if (error)
		goto free_txn;
	morph_txn_set_generation(txn, morph_object_uint(info, "generation"));
	for (size_t at = 0; !error && at < morph_list_count(circuits); at++) {
		uint64_t id = morph_object_uint(morph_list_get(circuits, at), "id");

		if (morph_txn_remove(txn, (uint32_t)id) < 0)
			error = -ENOMEM;
	}
	morph_list_free(circuits);
	morph_object_free(info);
	if (!error)
		return run_all(slice, txn);
free_txn:
	morph_txn_free(txn);
	return error;
}

int main(int argc, char **argv)
{
	MORPH_OPTS(morph_circuit_opts, how, .lanes_count = 2, .src_plane = MORPH_ANY,
		   .dst_plane = MORPH_ANY);
	struct morph_slice *slice;
	struct morph_ctx *ctx;
	struct morph_txn *txn;
	int status = 1;

	if (argc != 4) {
		fprintf(stderr, "usage: transaction SLICE SOURCE-RANK TARGET-RANK\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	txn = morph_txn_new(ctx);
	if (morph_slice_open(ctx, argv[1], &slice)) {
		fail(ctx, argv[1]);
		goto free_txn;
	}
	if (!txn || morph_txn_add(txn, (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]), &how)) {
		fail(ctx, "transaction");
		goto close_slice;
	}
	printf("%zu changes\n", morph_txn_count(txn));
	if (validate(slice, txn) || change_in_phases(slice, txn) || move(slice, txn, 1)) {
		fail(ctx, "transaction");
		goto close_slice;
	}
	if (remove_all(ctx, slice)) {
		fail(ctx, "remove");
		goto close_slice;
	}
	status = 0;
close_slice:
	morph_slice_close(slice);
free_txn:
	morph_txn_free(txn);
	morph_ctx_free(ctx);
	return status;
}
