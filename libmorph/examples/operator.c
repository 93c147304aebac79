// SPDX-License-Identifier: MIT
/*
 * The work of an operator: read a fabric, take hardware out of use and back, create a slice for a
 * user, follow events. Needs CAP_NET_ADMIN.
 *
 *	operator FABRIC list | show | follow | drain GUIDE | spare ACCELERATOR | fail ACCELERATOR
 *	operator FABRIC slice NAME RANKS UID | replace SLICE RANK | delete SLICE
 *
 * cc operator.c $(pkg-config --cflags --libs libmorph)
 */
#include <inttypes.h>
#include <morph/morph.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ll

struct operator
{
	struct morph_ctx *ctx;
	uint32_t fabric;
};

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

static int print_count(const struct operator* op, const char *what, uint32_t type)
{
	struct morph_list *list;

	if (morph_admin_list(op->ctx, type, op->fabric, MORPH_ANY, &list))
		return 1;
	printf("%s: %zu\n", what, morph_list_count(list));
	morph_list_free(list);
	return 0;
}

/* Count the objects of each kind. */
static int list_all(const struct operator* op)
{
	struct morph_list *circuits;

	if (print_count(op, "fabrics", MORPH_OBJECT_FABRIC))
		return fail(op->ctx, "fabrics");
	print_count(op, "accelerators", MORPH_OBJECT_ACCELERATOR);
	print_count(op, "guides", MORPH_OBJECT_GUIDE);
	print_count(op, "elements", MORPH_OBJECT_ELEMENT);
	print_count(op, "edges", MORPH_OBJECT_EDGE);
	print_count(op, "slices", MORPH_OBJECT_SLICE);
	print_count(op, "circuits", MORPH_OBJECT_CIRCUIT);
	print_count(op, "transactions", MORPH_OBJECT_TXN);
	print_count(op, "not healthy", MORPH_OBJECT_HARDWARE);
	print_count(op, "quotas", MORPH_OBJECT_QUOTA);
	print_count(op, "counters", MORPH_OBJECT_STATS);
	if (!morph_admin_list(op->ctx, MORPH_OBJECT_CIRCUIT, op->fabric, 1, &circuits)) {
		printf("circuits of slice 1: %zu\n", morph_list_count(circuits));
		morph_list_free(circuits);
	}
	return 0;
}

/* No new circuit takes the guide. Test it, and return it to use if it passes. */
static int drain_guide(const struct operator* op, uint32_t guide)
{
	MORPH_OPTS(morph_monitor_opts, opts, .buffer_bytes = 1 << 20);
	struct morph_monitor *monitor;
	struct morph_object *out;
	int status = 1;

	if (morph_monitor_new(op->ctx, &opts, &monitor))
		return fail(op->ctx, "monitor");
	if (morph_admin_hardware_set(op->ctx, op->fabric, MORPH_PART_GUIDE, guide, true, &out))
		goto out;
	printf("%s\n",
	       morph_enum_name(MORPH_ENUM_HEALTH, (uint32_t)morph_object_uint(out, "health")));
	morph_object_free(out);
	if (morph_admin_hardware_test(op->ctx, op->fabric, MORPH_PART_GUIDE, guide, 0, &out))
		goto out;
	uint32_t txn = (uint32_t)morph_object_uint(out, "txn");

	morph_object_free(out);
	if (morph_monitor_wait_txn(monitor, op->fabric, txn, 10 * SECOND_NS, &out))
		goto out;
	morph_object_free(out);
	if (morph_admin_hardware_set(op->ctx, op->fabric, MORPH_PART_GUIDE, guide, false, &out))
		goto out;
	morph_object_free(out);
	status = 0;
out:
	if (status)
		fail(op->ctx, "drain");
	morph_monitor_free(monitor);
	return status;
}

static int make_spare(const struct operator* op, uint32_t accelerator)
{
	MORPH_OPTS(morph_accelerator_opts, opts, .use = MORPH_USE_SPARE, .set = MORPH_SET_USE);
	struct morph_object *out;

	if (morph_admin_accelerator_set(op->ctx, op->fabric, accelerator, &opts, &out))
		return fail(op->ctx, "spare");
	morph_object_free(out);
	if (morph_admin_get(op->ctx, MORPH_OBJECT_ACCELERATOR, op->fabric, MORPH_ANY, accelerator,
			    &out))
		return fail(op->ctx, "accelerator");
	printf("accelerator %" PRIu32 " of server %" PRIu64 " is a spare\n", accelerator,
	       morph_object_uint(out, "host"));
	morph_object_free(out);
	return 0;
}

/* Print an object by its number. */
static int print_one(const struct operator* op, const char *what, uint32_t type, uint32_t id)
{
	struct morph_object *out;

	if (morph_admin_get(op->ctx, type, op->fabric, MORPH_ANY, id, &out))
		return 1;
	printf("%s: type %" PRIu32 "\n", what, morph_object_type(out));
	morph_object_free(out);
	return 0;
}

static int show_first(const struct operator* op)
{
	struct morph_object *circuit;

	if (print_one(op, "fabric", MORPH_OBJECT_FABRIC, 0))
		return fail(op->ctx, "fabric");
	print_one(op, "guide 0", MORPH_OBJECT_GUIDE, 0);
	print_one(op, "element 0", MORPH_OBJECT_ELEMENT, 0);
	print_one(op, "edge 0", MORPH_OBJECT_EDGE, 0);
	print_one(op, "slice 1", MORPH_OBJECT_SLICE, 1);
	print_one(op, "transaction 1", MORPH_OBJECT_TXN, 1);
	if (!morph_admin_get(op->ctx, MORPH_OBJECT_CIRCUIT, op->fabric, 1, 1, &circuit)) {
		printf("circuit 1: type %" PRIu32 "\n", morph_object_type(circuit));
		morph_object_free(circuit);
	}
	return 0;
}

/* Replace the accelerator of a rank. It counts as one of the user's replacements. */
static int replace_rank(const struct operator* op, uint32_t slice, uint32_t rank)
{
	MORPH_OPTS(morph_slice_set_opts, manual, .failover = MORPH_FAILOVER_MANUAL,
		   .set = MORPH_SET_FAILOVER);
	MORPH_OPTS(morph_quota_opts, quota, .accelerators = 16, .set = MORPH_QUOTA_ACCELERATORS);
	struct morph_preference preference = { .rank = rank, .spare = MORPH_ANY };
	MORPH_OPTS(morph_slice_set_opts, prefer, .set = MORPH_SET_PREFERENCES,
		   .preferences = &preference, .preferences_count = 1);
	struct morph_object *out;

	if (morph_admin_slice_set(op->ctx, op->fabric, slice, &manual, &out))
		return fail(op->ctx, "slice");
	morph_object_free(out);
	if (morph_admin_slice_set(op->ctx, op->fabric, slice, &prefer, &out))
		return fail(op->ctx, "preference");
	morph_object_free(out);
	if (morph_admin_replace(op->ctx, op->fabric, slice, rank, MORPH_ANY, &out))
		return fail(op->ctx, "replace");
	morph_object_free(out);
	if (morph_admin_quota_set(op->ctx, 1000, &quota, &out))
		return fail(op->ctx, "quota");
	morph_object_free(out);
	return 0;
}

static int declare_failed(const struct operator* op, uint32_t accelerator)
{
	struct morph_object *out;

	if (morph_admin_hardware_fail(op->ctx, op->fabric, MORPH_PART_ACCELERATOR, accelerator,
				      &out))
		return fail(op->ctx, "fail");
	morph_object_free(out);
	return 0;
}

/* Ask whether the driver would create the slice, then create it for the user. */
static int make_slice(const struct operator* op, const char *name, uint32_t ranks, uint32_t owner)
{
	MORPH_OPTS(morph_why_not_opts, question, .count = ranks);
	MORPH_OPTS(morph_request_opts, opts, .name = name);
	struct morph_request *request = morph_request_new(op->ctx);
	struct morph_object *out;
	int status = 1;

	if (!request || morph_admin_why_not(op->ctx, op->fabric, &question, &out))
		goto out;
	if (morph_object_values(out, "text"))
		printf("%s\n", morph_object_text(out, "text"));
	morph_object_free(out);
	if (morph_request_set_count(request, ranks) || morph_request_set_opts(request, &opts) ||
	    morph_admin_slice_create(op->ctx, op->fabric, request, owner, &out))
		goto out;
	printf("slice %" PRIu64 "\n", morph_object_uint(out, "id"));
	morph_object_free(out);
	status = 0;
out:
	if (status)
		fail(op->ctx, name);
	morph_request_free(request);
	return status;
}

/* Missed changes arrive as an object of type "resync". */
static int follow(const struct operator* op)
{
	struct morph_monitor *monitor;
	struct morph_list *list;

	if (morph_monitor_new(op->ctx, NULL, &monitor))
		return fail(op->ctx, "monitor");
	while (morph_monitor_wait(monitor, 60 * SECOND_NS) > 0 &&
	       morph_monitor_read(monitor, &list) >= 0) {
		for (size_t at = 0; at < morph_list_count(list); at++)
			printf("%s\n", morph_object_command(morph_list_get(list, at)));
		morph_list_free(list);
	}
	morph_monitor_free(monitor);
	return 0;
}

int main(int argc, char **argv)
{
	struct operator op;
	int status = 2;

	if (argc < 3) {
		fprintf(stderr, "usage: operator FABRIC list | follow | drain GUIDE | "
				"spare ACCELERATOR | slice NAME RANKS UID | show | "
				"fail ACCELERATOR | replace SLICE RANK | delete SLICE\n");
		return 2;
	}
	op.fabric = (uint32_t)atoi(argv[1]);
	if (morph_ctx_new(NULL, &op.ctx))
		return 1;
	if (!strcmp(argv[2], "list"))
		status = list_all(&op);
	else if (!strcmp(argv[2], "follow"))
		status = follow(&op);
	else if (!strcmp(argv[2], "drain") && argc == 4)
		status = drain_guide(&op, (uint32_t)atoi(argv[3]));
	else if (!strcmp(argv[2], "spare") && argc == 4)
		status = make_spare(&op, (uint32_t)atoi(argv[3]));
	else if (!strcmp(argv[2], "slice") && argc == 6)
		status = make_slice(&op, argv[3], (uint32_t)atoi(argv[4]), (uint32_t)atoi(argv[5]));
	else if (!strcmp(argv[2], "show"))
		status = show_first(&op);
	else if (!strcmp(argv[2], "fail") && argc == 4)
		status = declare_failed(&op, (uint32_t)atoi(argv[3]));
	else if (!strcmp(argv[2], "replace") && argc == 5)
		status = replace_rank(&op, (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
	else if (!strcmp(argv[2], "delete") && argc == 4)
		status = morph_admin_slice_delete(op.ctx, op.fabric, (uint32_t)atoi(argv[3]),
						  false) ?
				 fail(op.ctx, "delete") :
				 0;
	morph_ctx_free(op.ctx);
	return status;
}
