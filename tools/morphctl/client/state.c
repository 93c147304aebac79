// SPDX-License-Identifier: GPL-2.0-or-later
/* The lists of objects that make up the state of a fabric. */
#include "morphctl/client/client.h"

const struct state_kind state_kinds[] = {
	{ "fabric-get", "fabrics", MORPH_OBJECT_FABRIC, false },
	{ "accelerator-get", "accelerators", MORPH_OBJECT_ACCELERATOR, false },
	{ "hardware-get", "hardware", MORPH_OBJECT_HARDWARE, false },
	{ "slice-get", "slices", MORPH_OBJECT_SLICE, true },
	{ "circuit-get", "circuits", MORPH_OBJECT_CIRCUIT, true },
};

const size_t state_kinds_count = sizeof(state_kinds) / sizeof(state_kinds[0]);

/* A list of fabrics has those of the whole machine. */
static void keep_fabric(json_t *fabrics, uint32_t fabric)
{
	if (fabric == MORPH_ANY)
		return;
	for (size_t i = json_array_size(fabrics); i-- > 0;)
		if (number_of(json_array_get(fabrics, i), "id", NUMBER_NONE) != fabric)
			json_array_remove(fabrics, i);
}

int state_dump(struct run *run, const struct state_kind *kind, uint32_t fabric, json_t **records)
{
	struct morph_list *list = NULL;
	int error = morph_admin_list(run->client->ctx, kind->type, fabric, MORPH_ANY, &list);

	*records = error < 0 ? json_array() : records_of(list);
	morph_list_free(list);
	if (kind->type == MORPH_OBJECT_FABRIC)
		keep_fabric(*records, fabric);
	return error < 0 ? error : 0;
}

enum exit_code state_read(struct run *run, const struct state_kind *kind, uint32_t fabric,
			  json_t **records)
{
	struct morph_list *list = NULL;
	int error;

	if (kind->admin) {
		error = client_read_list(run, kind->type, fabric, MORPH_ANY, &list);
		*records = error < 0 ? json_array() : records_of(list);
		morph_list_free(list);
	} else {
		error = state_dump(run, kind, fabric, records);
	}
	return error < 0 ? client_error(run, error) : EXIT_CODE_OK;
}

enum exit_code state_fabrics(struct run *run, uint32_t fabric, json_t **records)
{
	enum exit_code code = client_fabric_records(run, records);

	keep_fabric(*records, fabric);
	return code;
}
