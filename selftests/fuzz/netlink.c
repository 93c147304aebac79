// SPDX-License-Identifier: GPL-2.0-only
/* The input is the kernel's answers to one netlink request of libmorph. */
#include "../../libmorph/internal/client.h"
#include "transport.h"

#include <linux/morph_netlink.h>

enum call {
	CALL_FABRICS,
	CALL_ACCELERATORS,
	CALL_GUIDES,
	CALL_ELEMENTS,
	CALL_EDGES,
	CALL_SLICES,
	CALL_CIRCUITS,
	CALL_TXNS,
	CALL_HARDWARE,
	CALL_QUOTAS,
	CALL_STATS,
	CALL_TXN,
	CALL_APPLY,
	CALL_MONITOR,
	CALL_WAIT,
	CALLS,
};

static int dump(struct morph_ctx *ctx, enum call call, struct morph_list **list)
{
	switch (call) {
	case CALL_FABRICS:
		return morph_admin_list(ctx, MORPH_OBJECT_FABRIC, MORPH_ANY, MORPH_ANY, list);
	case CALL_ACCELERATORS:
		return morph_admin_list(ctx, MORPH_OBJECT_ACCELERATOR, 0, MORPH_ANY, list);
	case CALL_GUIDES:
		return morph_admin_list(ctx, MORPH_OBJECT_GUIDE, 0, MORPH_ANY, list);
	case CALL_ELEMENTS:
		return morph_admin_list(ctx, MORPH_OBJECT_ELEMENT, 0, MORPH_ANY, list);
	case CALL_EDGES:
		return morph_admin_list(ctx, MORPH_OBJECT_EDGE, 0, MORPH_ANY, list);
	case CALL_SLICES:
		return morph_admin_list(ctx, MORPH_OBJECT_SLICE, 0, MORPH_ANY, list);
	case CALL_CIRCUITS:
		return morph_admin_list(ctx, MORPH_OBJECT_CIRCUIT, 0, 1, list);
	case CALL_TXNS:
		return morph_admin_list(ctx, MORPH_OBJECT_TXN, 0, MORPH_ANY, list);
	case CALL_HARDWARE:
		return morph_admin_list(ctx, MORPH_OBJECT_HARDWARE, 0, MORPH_ANY, list);
	case CALL_QUOTAS:
		return morph_admin_list(ctx, MORPH_OBJECT_QUOTA, MORPH_ANY, MORPH_ANY, list);
	default:
		return morph_admin_list(ctx, MORPH_OBJECT_STATS, 0, MORPH_ANY, list);
	}
}

/* The request has nests, so that the offsets of extended acknowledgements can point into them. */
static int apply(struct morph_ctx *ctx, struct morph_object **out)
{
	struct morph_txn *txn = morph_txn_new(ctx);
	int error = morph_txn_add(txn, 0, 1, NULL);

	if (!error)
		error = morph_admin_circuit_apply(ctx, 0, 1, txn, out);
	morph_txn_free(txn);
	return error;
}

static void monitor(struct morph_ctx *ctx, bool wait)
{
	struct morph_monitor *monitor;
	struct morph_object *txn = NULL;
	struct morph_list *list;

	if (morph_monitor_new(ctx, NULL, &monitor))
		return;
	if (wait && !morph_monitor_wait_txn(monitor, 0, 1, 0, &txn))
		MUST(txn);
	morph_object_free(txn);
	while (!wait && morph_monitor_read(monitor, &list) >= 0) {
		read_list(list);
		morph_list_free(list);
	}
	morph_monitor_free(monitor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	uint8_t first = eat8(&input);
	enum call call = (first & 0x7f) % CALLS;
	struct morph_ctx *ctx = transport_ctx(&input, !(first & 0x80));
	struct morph_object *object = NULL;
	struct morph_list *list = NULL;
	int error = 0;

	if (call == CALL_TXN)
		error = morph_admin_get(ctx, MORPH_OBJECT_TXN, 0, MORPH_ANY, 1, &object);
	else if (call == CALL_APPLY)
		error = apply(ctx, &object);
	else if (call == CALL_MONITOR || call == CALL_WAIT)
		monitor(ctx, call == CALL_WAIT);
	else
		error = dump(ctx, call, &list);
	MUST(!error == !morph_error_code(ctx) || call >= CALL_MONITOR);
	MUST(strlen(morph_error_text(ctx)) < 1024);
	if (object)
		read_object(object);
	read_list(list);
	morph_object_free(object);
	morph_list_free(list);
	morph_ctx_free(ctx);
	return 0;
}
