// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl fabric */
#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

#define COLUMNS(lent)                                                    \
	"id,name,state,accelerators-count,free-count,spares-count," lent \
	"held-count,failed-count,impaired-count,slices-count,profile,uuid"

/* Return whether slices have borrowed spares. */
static bool any_lent(json_t *records)
{
	json_t *record;
	size_t i;

	json_array_foreach(records, i,
			   record) if (json_object_get(record, "lent-count")) return true;
	return false;
}

enum exit_code fabric_list(struct run *run)
{
	json_t *records;
	enum exit_code code = client_fabric_records(run, &records);

	if (code)
		return code;
	if (!json_array_size(records))
		warn_line("no fabric; load the module of a provider, such as morph_sim");
	return client_emit(run, MORPH_OBJECT_FABRIC,
			   any_lent(records) ? COLUMNS("lent-count,") : COLUMNS(""), records);
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
