// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl fabric */
#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

#define COLUMNS(lent) FABRIC_COLUMNS(lent) ",profile,uuid"

enum exit_code fabric_list(struct run *run)
{
	json_t *records;
	enum exit_code code = client_fabric_records(run, &records);

	if (code)
		return code;
	if (!json_array_size(records))
		client_no_fabric(run);
	return client_emit(run, MORPH_OBJECT_FABRIC,
			   any_has(records, "lent-count") ? COLUMNS("lent-count,") : COLUMNS(""),
			   records);
}

enum exit_code fabric_show(struct run *run)
{
	enum exit_code code;
	json_t *records, *record;
	struct view view;
	uint32_t fabric;
	size_t i;

	if (run->argc && given(run, OPTION_FABRIC))
		return usage_error(run, "the fabric appears twice: as '%s' and as --fabric",
				   run->argv[0]);
	if (run->argc)
		run->option[OPTION_FABRIC] = run->argv[0];
	code = client_fabric(run, &fabric);
	if (code)
		return code;
	code = client_fabric_records(run, &records);
	if (code)
		return code;
	view = client_view(run, MORPH_OBJECT_FABRIC, NULL);
	code = EXIT_CODE_NOT_FOUND;
	json_array_foreach(records, i, record) if (number_of(record, "id", NUMBER_NONE) == fabric)
		code = emit_one(run, &view, record);
	json_decref(records);
	return code;
}
