// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl controller */
#include <stdlib.h>
#include <string.h>

#include "morphctl/circuit/circuit.h"
#include "morphctl/client/client.h"
#include "morphctl/controller/controller.h"
#include "morphctl/output/output.h"

#define COLUMNS \
	"id,epoch,state,lease-ns,slices-count,lanes-count,reservations-count,conflicts-count"
#define RESERVATIONS "controller,guide,epoch,lanes-count,lane-mask"
#define AT_ENDS "fabric," RESERVATIONS
#define HIT "id,name,owner,circuits-count,lanes-count,lanes-percent"

enum exit_code token_given(struct run *run, struct token *token)
{
	*token = (struct token){ 0 };
	if (!option_u32(run, OPTION_CONTROLLER, &token->controller) ||
	    !option_u64(run, OPTION_EPOCH, &token->epoch))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_CONTROLLER) != given(run, OPTION_EPOCH))
		return usage_error(run, "--controller and --epoch require each other");
	return EXIT_CODE_OK;
}

enum exit_code controller_list(struct run *run)
{
	return client_list(run, MORPH_OBJECT_CONTROLLER, COLUMNS);
}

enum exit_code controller_show(struct run *run)
{
	uint32_t fabric, id;
	enum exit_code code = resolve_first_number(run, "controller", &fabric, &id);

	return code ? code : client_show(run, MORPH_OBJECT_CONTROLLER, fabric, id);
}

/* Print the answer to a request, and free the object. */
static enum exit_code answer(struct run *run, int error, struct morph_object *object, uint32_t type)
{
	json_t *record;
	enum exit_code code = client_reply(run, error, object, &record);
	struct view view;

	if (!code) {
		view = client_view(run, type, NULL);
		code = emit_one(run, &view, record);
	}
	json_decref(record);
	return code;
}

/* Read --epoch, which is required. */
static enum exit_code epoch_given(struct run *run, uint64_t *epoch)
{
	if (!option_u64(run, OPTION_EPOCH, epoch))
		return EXIT_CODE_USAGE;
	return *epoch ? EXIT_CODE_OK : usage_error(run, "--epoch N is required (N >= 1)");
}

static enum exit_code lease_given(struct run *run, uint64_t *lease_ns)
{
	int64_t ns = INT64_C(30000000000);

	if (!option_ns(run, OPTION_LEASE, &ns))
		return EXIT_CODE_USAGE;
	*lease_ns = (uint64_t)ns;
	return EXIT_CODE_OK;
}

enum exit_code controller_take(struct run *run)
{
	struct morph_object *object = NULL, *known = NULL;
	uint64_t epoch = 0, lease_ns;
	uint32_t fabric, id;
	enum exit_code code;
	int error;

	if (!option_u64(run, OPTION_EPOCH, &epoch))
		return EXIT_CODE_USAGE;
	code = client_fields(run, MORPH_OBJECT_CONTROLLER);
	if (!code)
		code = lease_given(run, &lease_ns);
	if (!code)
		code = resolve_first_number(run, "controller", &fabric, &id);
	if (code)
		return code;
	/* Without --epoch, use the epoch after the one that the kernel knows. */
	if (!given(run, OPTION_EPOCH)) {
		epoch = 1;
		if (!morph_admin_get(run->client->ctx, MORPH_OBJECT_CONTROLLER, fabric, MORPH_ANY,
				     id, &known))
			epoch = morph_object_uint(known, "epoch") + 1;
		morph_object_free(known);
	}
	error = morph_controller_take(run->client->ctx, fabric, id, epoch, lease_ns,
				      given(run, OPTION_SEIZE) ? MORPH_TAKE_FORCE : 0, &object);
	return answer(run, error, object, MORPH_OBJECT_CONTROLLER);
}

/* Read the arguments of a request of the present epoch. @lease_ns is NULL if it has no lease. */
static enum exit_code present_given(struct run *run, uint32_t *fabric, uint32_t *id,
				    uint64_t *epoch, uint64_t *lease_ns)
{
	enum exit_code code = client_fields(run, MORPH_OBJECT_CONTROLLER);

	*epoch = 0;
	if (!code)
		code = epoch_given(run, epoch);
	if (!code && lease_ns)
		code = lease_given(run, lease_ns);
	return code ? code : resolve_first_number(run, "controller", fabric, id);
}

enum exit_code controller_renew(struct run *run)
{
	struct morph_object *object = NULL;
	uint64_t epoch, lease_ns;
	uint32_t fabric, id;
	enum exit_code code = present_given(run, &fabric, &id, &epoch, &lease_ns);
	int error;

	if (code)
		return code;
	error = morph_controller_take(run->client->ctx, fabric, id, epoch, lease_ns,
				      MORPH_TAKE_RENEW, &object);
	return answer(run, error, object, MORPH_OBJECT_CONTROLLER);
}

enum exit_code controller_settle(struct run *run)
{
	struct morph_object *object = NULL;
	uint32_t fabric, id;
	uint64_t epoch;
	enum exit_code code = present_given(run, &fabric, &id, &epoch, NULL);
	int error;

	if (code)
		return code;
	error = morph_controller_settle(run->client->ctx, fabric, id, epoch, &object);
	return answer(run, error, object, MORPH_OBJECT_CONTROLLER);
}

enum exit_code controller_drop(struct run *run)
{
	uint32_t fabric, id;
	enum exit_code code = resolve_first_number(run, "controller", &fabric, &id);

	if (code)
		return code;
	return client_reply(run, morph_controller_drop(run->client->ctx, fabric, id), NULL, NULL);
}

enum exit_code controller_reserve(struct run *run)
{
	struct morph_object *object = NULL;
	uint32_t fabric, id, guide, count;
	uint64_t epoch = 0, among = 0;
	enum exit_code code;
	int error;

	if (!option_u64(run, OPTION_LANE_MASK, &among))
		return EXIT_CODE_USAGE;
	code = client_fields(run, MORPH_OBJECT_RESERVATION);
	if (!code)
		code = epoch_given(run, &epoch);
	if (!code)
		code = resolve_number(run, "guide", run->argv[1], &guide);
	if (!code)
		code = resolve_number(run, "number of lanes", run->argv[2], &count);
	if (!code)
		code = resolve_first_number(run, "controller", &fabric, &id);
	if (code)
		return code;
	error = morph_controller_reserve(run->client->ctx, fabric, id, epoch, guide, count, among,
					 &object);
	return answer(run, error, object, MORPH_OBJECT_RESERVATION);
}

enum exit_code controller_reservations(struct run *run)
{
	uint32_t fabric, id = MORPH_ANY;
	struct morph_list *list = NULL;
	enum exit_code code;
	json_t *records;
	int error;

	code = run->argc ? resolve_first_number(run, "controller", &fabric, &id) :
			   client_fabric(run, &fabric);
	if (code)
		return code;
	error = morph_admin_list(run->client->ctx, MORPH_OBJECT_RESERVATION, fabric, id, &list);
	if (error < 0)
		return client_error(run, error);
	records = records_of(list);
	morph_list_free(list);
	return client_emit(run, MORPH_OBJECT_RESERVATION, RESERVATIONS, records);
}

/* --------------------------------------------------------- both ends of an edge */

/* Resolve an end of an edge in the form FABRIC:EDGE. */
static enum exit_code resolve_end(struct run *run, const char *text,
				  struct morph_controller_end *end)
{
	const char *colon = strrchr(text, ':');
	enum exit_code code;
	char *fabric;

	if (!colon || colon == text)
		return usage_error(run, "the other end must be FABRIC:EDGE, not '%s'", text);
	code = resolve_number(run, "edge", colon + 1, &end->edge);
	if (code)
		return code;
	fabric = needed(strndup(text, (size_t)(colon - text)));
	code = client_fabric_named(run, fabric, &end->fabric);
	free(fabric);
	return code;
}

/*
 * Read the arguments that both ends share. Both ends use the same epoch, unless --to-epoch is
 * given.
 */
static enum exit_code ends_given(struct run *run, struct morph_controller_end ends[2])
{
	enum exit_code code = epoch_given(run, &ends[0].epoch);

	if (code)
		return code;
	ends[1].epoch = ends[0].epoch;
	if (!option_u64(run, OPTION_TO_EPOCH, &ends[1].epoch))
		return EXIT_CODE_USAGE;
	code = resolve_number(run, "edge", run->argv[1], &ends[0].edge);
	if (!code)
		code = resolve_end(run, run->argv[2], &ends[1]);
	if (!code)
		code = client_fabric(run, &ends[0].fabric);
	if (!code)
		ends[0].ctx = ends[1].ctx = run->client->ctx;
	return code;
}

/* Add the controller's reservation at an end to the records, if there is one. */
static enum exit_code add_reservation(struct run *run, const struct morph_controller_end *end,
				      uint32_t id, json_t *records)
{
	const struct morph_object *reservation;
	struct morph_object *edge = NULL;
	struct morph_list *list = NULL;
	int error = morph_admin_get(end->ctx, MORPH_OBJECT_EDGE, end->fabric, MORPH_ANY, end->edge,
				    &edge);

	if (!error)
		error = morph_admin_list(end->ctx, MORPH_OBJECT_RESERVATION, end->fabric, id,
					 &list);
	for (size_t at = 0; !error && at < morph_list_count(list); at++) {
		reservation = morph_list_get(list, at);
		if (morph_object_uint(reservation, "guide") == morph_object_uint(edge, "guide"))
			json_array_append_new(records, record_of(reservation));
	}
	morph_list_free(list);
	morph_object_free(edge);
	return error ? client_error(run, error) : EXIT_CODE_OK;
}

enum exit_code controller_reserve_edge(struct run *run)
{
	struct morph_controller_end ends[2] = { 0 };
	enum exit_code code;
	uint64_t among = 0;
	uint32_t id, count;
	json_t *records;
	int error;

	if (!option_u64(run, OPTION_LANE_MASK, &among))
		return EXIT_CODE_USAGE;
	code = client_fields(run, MORPH_OBJECT_RESERVATION);
	if (!code)
		code = resolve_number(run, "controller", run->argv[0], &id);
	if (!code)
		code = resolve_number(run, "number of lanes", run->argv[3], &count);
	if (!code)
		code = ends_given(run, ends);
	if (code)
		return code;
	error = morph_controller_reserve_edge(ends, id, count, among, NULL);
	if (error)
		return client_error(run, error);
	records = json_array();
	code = add_reservation(run, &ends[0], id, records);
	if (!code)
		code = add_reservation(run, &ends[1], id, records);
	if (!code)
		return client_emit(run, MORPH_OBJECT_RESERVATION, AT_ENDS, records);
	json_decref(records);
	return code;
}

/* --------------------------------------------------------- what a failure hits */

uint64_t controller_lanes(json_t *circuits, uint32_t slice)
{
	uint64_t sum = 0;
	json_t *circuit;
	size_t i;

	json_array_foreach(circuits, i, circuit) if (slice == MORPH_ANY ||
						     number_of(circuit, "slice", 0) == slice)
		sum += (uint64_t)__builtin_popcountll(wide_of(circuit, "lane-mask"));
	return sum;
}

double controller_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/*
 * Report the slices that the controller's failure would affect, as a document. @slices and
 * @circuits are all of the fabric.
 */
static json_t *report(uint32_t id, json_t *slices, json_t *circuits)
{
	uint64_t whole = controller_lanes(circuits, MORPH_ANY), sum = 0, lanes;
	json_t *hit = json_array(), *slice;
	size_t i;

	json_array_foreach(slices, i, slice)
	{
		if (number_of(slice, "controller", 0) != id)
			continue;
		lanes = controller_lanes(circuits, number_of(slice, "id", 0));
		sum += lanes;
		json_array_append_new(hit,
				      json_pack("{s:i, s:s, s:i, s:i, s:I, s:f}", "id",
						(int)number_of(slice, "id", 0), "name",
						text_of_key(slice, "name"), "owner",
						(int)number_of(slice, "owner", 0), "circuits-count",
						(int)number_of(slice, "circuits-count", 0),
						"lanes-count", (json_int_t)lanes, "lanes-percent",
						controller_percent(lanes, whole)));
	}
	return json_pack("{s:i, s:i, s:I, s:I, s:f, s:o}", "controller", (int)id, "slices-count",
			 (int)json_array_size(slices), "lanes-count", (json_int_t)sum,
			 "all-lanes-count", (json_int_t)whole, "lanes-percent",
			 controller_percent(sum, whole), "affected-slices", hit);
}

static void write_report(struct run *run, json_t *report)
{
	json_t *hit = json_object_get(report, "affected-slices");

	say("controller %u decides about %zu of %u slices, with %u of %u lanes (%.1f %%).\n"
	    "If it failed, their light would stay, and nobody could change them until another "
	    "controller takes control.\n",
	    number_of(report, "controller", 0), json_array_size(hit),
	    number_of(report, "slices-count", 0), number_of(report, "lanes-count", 0),
	    number_of(report, "all-lanes-count", 0),
	    json_real_value(json_object_get(report, "lanes-percent")));
	if (json_array_size(hit)) {
		say("\n");
		emit_table(run, HIT, hit);
	}
}

enum exit_code controller_fail(struct run *run)
{
	json_t *slices = NULL, *circuits = NULL, *document;
	struct morph_object *known = NULL;
	uint32_t fabric, id;
	enum exit_code code;
	int error;

	if (!given(run, OPTION_DRY_RUN))
		return usage_error(run, "only a simulation; add --dry-run");
	code = resolve_first_number(run, "controller", &fabric, &id);
	if (!code) {
		error = morph_admin_get(run->client->ctx, MORPH_OBJECT_CONTROLLER, fabric,
					MORPH_ANY, id, &known);
		code = client_reply(run, error, known, NULL);
	}
	if (!code)
		code = client_dump(run, MORPH_OBJECT_SLICE, fabric, &slices);
	if (!code)
		code = circuit_records(run, fabric, MORPH_ANY, &circuits);
	if (!code) {
		document = report(id, slices, circuits);
		if (given(run, OPTION_JSON))
			emit_document(document);
		else
			write_report(run, document);
		json_decref(document);
	}
	json_decref(slices);
	json_decref(circuits);
	return code;
}
