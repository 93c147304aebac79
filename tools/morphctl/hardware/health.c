// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl health */
#include <errno.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

static void keep_unwell(json_t *records, const char *key, const char *well)
{
	for (size_t i = json_array_size(records); i-- > 0;)
		if (key_is(json_array_get(records, i), key, well))
			json_array_remove(records, i);
}

/*
 * Count hardware that is only cordoned as healthy, because an administrator cordoned it on purpose.
 */
static enum exit_code gather(struct run *run, uint32_t fabric, json_t *report)
{
	static const char *const wanted[] = { "fabrics", "hardware", "slices" };
	enum exit_code code = EXIT_CODE_OK;

	for (size_t i = 0; i < state_kinds_count && !code; i++) {
		const struct state_kind *kind = &state_kinds[i];
		json_t *records;
		int error;

		for (size_t k = 0; k < sizeof(wanted) / sizeof(wanted[0]); k++) {
			if (strcmp(kind->key, wanted[k]))
				continue;
			error = state_dump(run, kind, fabric, &records);
			if (error && !(kind->admin && (error == -EPERM || error == -EACCES)))
				code = client_error(run, error);
			if (!error)
				json_object_set(report, kind->key, records);
			json_decref(records);
		}
	}
	return code;
}

static const char *verdict(json_t *report)
{
	json_t *fabrics = json_object_get(report, "fabrics");

	keep_unwell(json_object_get(report, "hardware"), "health", "ok");
	keep_unwell(json_object_get(report, "slices"), "state", "ok");
	for (size_t i = 0; i < json_array_size(fabrics); i++)
		if (!key_is(json_array_get(fabrics, i), "state", "ready"))
			return "degraded";
	return json_array_size(json_object_get(report, "hardware")) ||
			       json_array_size(json_object_get(report, "slices")) ?
		       "degraded" :
		       "ok";
}

/* Each fabric has its own number of planes. */
static void name_ports(json_t *fabrics, json_t *hardware)
{
	json_t *fabric, *record;
	size_t i, k;

	json_array_foreach(hardware, i, record)
		json_array_foreach(fabrics, k, fabric) if (number_of(fabric, "id", 0) ==
							   number_of(record, "fabric", NUMBER_NONE))
			name_port(record, number_of(fabric, "planes-count", 0));
}

static void write_text(struct run *run, json_t *report, const char *state)
{
	json_t *hardware = json_object_get(report, "hardware");
	json_t *slices = json_object_get(report, "slices");

	name_ports(json_object_get(report, "fabrics"), hardware);
	say("%s\n\n", state);
	emit_table(
		run,
		"id,name,state,accelerators-count,free-count,spares-count,held-count,failed-count,"
		"impaired-count,slices-count",
		json_object_get(report, "fabrics"));
	if (json_array_size(hardware)) {
		say("\nunhealthy hardware:\n");
		emit_table(run, "fabric,part,index,health,cordoned,text", hardware);
	}
	if (json_array_size(slices)) {
		say("\ndegraded or lost slices:\n");
		emit_table(run, "fabric,id,name,state,ranks-count,circuits-count,bandwidth-mbps",
			   slices);
	}
	if (!slices)
		say("\nslices hidden: needs CAP_NET_ADMIN\n");
}

enum exit_code health(struct run *run)
{
	uint32_t fabric = MORPH_ANY;
	enum exit_code code;
	const char *state;
	json_t *report;

	code = given(run, OPTION_FABRIC) ? client_fabric(run, &fabric) : client_open(run);
	if (code)
		return code;
	report = json_object();
	code = gather(run, fabric, report);
	if (code) {
		json_decref(report);
		return code;
	}
	if (!json_array_size(json_object_get(report, "fabrics"))) {
		warn_line("no fabric; load the module of a provider, such as morph_sim");
		json_decref(report);
		return EXIT_CODE_NOT_FOUND;
	}
	state = verdict(report);
	if (given(run, OPTION_JSON)) {
		json_object_set_new(report, "state", json_string(state));
		emit_document(report);
	} else {
		write_text(run, report, state);
	}
	json_decref(report);
	return strcmp(state, "ok") ? EXIT_CODE_PARTIAL : EXIT_CODE_OK;
}
