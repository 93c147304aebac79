// SPDX-License-Identifier: GPL-2.0-or-later
/* The dumps that make up the state of a fabric. */
#include "morphctl/client/client.h"

static int dump_circuits(struct morph_ctx *ctx, uint32_t fabric, struct morph_list **list)
{
	return morph_admin_circuits(ctx, fabric, MORPH_ANY, list);
}

static int dump_fabrics(struct morph_ctx *ctx, uint32_t fabric, struct morph_list **list)
{
	(void)fabric;
	return morph_admin_fabrics(ctx, list);
}

const struct state_kind state_kinds[] = {
	{ "fabric-get", "fabrics", dump_fabrics, false },
	{ "accelerator-get", "accelerators", morph_admin_accelerators, false },
	{ "hardware-get", "hardware", morph_admin_hardware, false },
	{ "slice-get", "slices", morph_admin_slices, true },
	{ "circuit-get", "circuits", dump_circuits, true },
};

const size_t state_kinds_count = sizeof(state_kinds) / sizeof(state_kinds[0]);

int state_dump(struct run *run, const struct state_kind *kind, uint32_t fabric, json_t **records)
{
	struct morph_list *list = NULL;
	int error = kind->dump(run->client->ctx, fabric, &list);

	*records = error < 0 ? json_array() : records_of(list);
	morph_list_free(list);
	return error < 0 ? error : 0;
}
