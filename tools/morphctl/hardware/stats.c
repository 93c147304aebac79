// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl stats */
#include "morphctl/client/client.h"

/*
 * There are many counters and few fabrics, so print one counter per line unless --fields is given.
 */
enum exit_code stats(struct run *run)
{
	enum exit_code code;
	json_t *records, *record;
	uint32_t fabric;
	struct view view;
	size_t i;

	code = client_fabric(run, &fabric);
	if (!code)
		code = client_dump(run, MORPH_OBJECT_STATS, fabric, &records);
	if (code)
		return code;
	if (given(run, OPTION_JSON) || given(run, OPTION_FIELDS))
		return client_emit(run, MORPH_OBJECT_STATS, NULL, records);
	view = client_view(run, MORPH_OBJECT_STATS, NULL);
	json_array_foreach(records, i, record) emit_one(run, &view, record);
	json_decref(records);
	return EXIT_CODE_OK;
}
