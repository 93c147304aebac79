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
 * Read the controllers, which need a capability and which drivers of the first ABI do not have:
 * the report may lack them.
 */
static enum exit_code gather_controllers(struct run *run, uint32_t fabric, json_t *report)
{
	static const struct state_kind kind = { .type = MORPH_OBJECT_CONTROLLER };
	json_t *records;
	int error = state_dump(run, &kind, fabric, &records);

	if (!error)
		json_object_set(report, "controllers", records);
	json_decref(records);
	if (!error || error == -EPERM || error == -EACCES || error == -EOPNOTSUPP)
		return EXIT_CODE_OK;
	return client_error(run, error);
}

/* The lists that a report is made of. A caller without CAP_NET_ADMIN gets its own slices. */
static enum exit_code gather(struct run *run, uint32_t fabric, json_t *report)
{
	enum exit_code code = EXIT_CODE_OK;

	for (size_t i = 0; i < state_kinds_count && !code; i++) {
		const struct state_kind *kind = &state_kinds[i];
		json_t *records;

		if (kind->type == MORPH_OBJECT_CIRCUIT)
			continue;
		code = state_read(run, kind, fabric, &records);
		if (!code)
			json_object_set(report, kind->key, records);
		json_decref(records);
	}
	json_object_set_new(report, "visible", json_string(run->client->own ? "own" : "all"));
	return code ? code : gather_controllers(run, fabric, report);
}

/*
 * Whether a spare of the report may replace the accelerator of a rank: an idle one, or a lent one,
 * which the driver takes back.
 */
static bool has_spare(const json_t *accelerators, const json_t *slice, const json_t *rank)
{
	bool same_host = key_is(slice, "spare-policy", "host");
	const json_t *record;
	size_t i;

	json_array_foreach(accelerators, i, record)
	{
		bool near = number_of(record, "host", 0) == number_of(rank, "host", NUMBER_NONE);

		if (number_of(record, "fabric", 0) == number_of(slice, "fabric", NUMBER_NONE) &&
		    (key_is(record, "use", "spare") || flag_of(record, "lent")) &&
		    key_is(record, "health", "ok") &&
		    !json_is_true(json_object_get(record, "cordoned")) && (near || !same_host))
			return true;
	}
	return false;
}

/* Whether a rank is on a lent spare, for which the driver takes no other spare. */
static bool is_on_lent_spare(const json_t *accelerators, const json_t *slice, const json_t *rank)
{
	const json_t *record;
	size_t i;

	json_array_foreach(accelerators, i, record)
	{
		if (number_of(record, "fabric", 0) == number_of(slice, "fabric", NUMBER_NONE) &&
		    number_of(record, "id", 0) == number_of(rank, "accelerator", NUMBER_NONE))
			return flag_of(record, "lent");
	}
	return false;
}

/*
 * Whether a slice wants failover, and a rank has no spare. A rank without protection may have one:
 * the driver chooses the spare at the failure if a schedule is loaded.
 */
static bool lacks_spare(const json_t *accelerators, const json_t *slice)
{
	const json_t *rank;
	size_t i;

	if (!key_is(slice, "failover", "automatic"))
		return false;
	json_array_foreach(json_object_get(slice, "ranks"), i, rank)
	{
		if (key_is(rank, "protection-state", "none") &&
		    !is_on_lent_spare(accelerators, slice, rank) &&
		    !has_spare(accelerators, slice, rank))
			return true;
	}
	return false;
}

/*
 * List the slices that lack a spare. Device nodes do not give the state of protections, so the list
 * is absent if the slices were read through them. Drop the accelerators, which are not part of the
 * report.
 */
static void find_unprotected(json_t *report)
{
	const json_t *slices = json_object_get(report, "slices"), *slice;
	json_t *unprotected = json_array();
	size_t i;

	json_array_foreach(slices, i, slice)
	{
		if (lacks_spare(json_object_get(report, "accelerators"), slice))
			json_array_append(unprotected, (json_t *)slice);
	}
	if (key_is(report, "visible", "all"))
		json_object_set(report, "unprotected", unprotected);
	json_decref(unprotected);
	json_object_del(report, "accelerators");
}

/*
 * Count hardware that is only cordoned as healthy, because an administrator cordoned it on purpose.
 */
static const char *verdict(json_t *report)
{
	static const char *const lists[] = { "hardware", "slices", "unprotected", "controllers" };
	json_t *fabrics = json_object_get(report, "fabrics");

	find_unprotected(report);
	keep_unwell(json_object_get(report, "hardware"), "health", "ok");
	keep_unwell(json_object_get(report, "slices"), "state", "ok");
	keep_unwell(json_object_get(report, "controllers"), "state", "active");
	for (size_t i = 0; i < json_array_size(fabrics); i++)
		if (!key_is(json_array_get(fabrics, i), "state", "ready"))
			return "degraded";
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (json_array_size(json_object_get(report, lists[i])))
			return "degraded";
	return "ok";
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
	json_t *fabrics = json_object_get(report, "fabrics");
	json_t *hardware = json_object_get(report, "hardware");
	json_t *slices = json_object_get(report, "slices");
	json_t *unprotected = json_object_get(report, "unprotected");
	json_t *controllers = json_object_get(report, "controllers");

	name_ports(fabrics, hardware);
	say("%s\n\n", state);
	emit_table(run,
		   any_has(fabrics, "lent-count") ? FABRIC_COLUMNS("lent-count,") :
						    FABRIC_COLUMNS(""),
		   fabrics);
	if (json_array_size(hardware)) {
		say("\nunhealthy hardware:\n");
		emit_table(run, "fabric,part,index,health,cordoned,text", hardware);
	}
	if (json_array_size(slices)) {
		say("\ndegraded or lost slices:\n");
		emit_table(run, "fabric,id,name,state,ranks-count,circuits-count,bandwidth-mbps",
			   slices);
	}
	if (json_array_size(unprotected)) {
		say("\nslices without a usable spare:\n");
		emit_table(run, "fabric,id,name,state,spare-policy,ranks-count", unprotected);
	}
	if (json_array_size(controllers)) {
		say("\ncontrollers whose lease has run out:\n");
		emit_table(run, "fabric,id,epoch,state,slices-count", controllers);
	}
	if (key_is(report, "visible", "own"))
		say("\nother slices and controllers hidden: needs CAP_NET_ADMIN\n");
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
		json_decref(report);
		return client_no_fabric(run);
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
