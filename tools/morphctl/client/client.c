// SPDX-License-Identifier: GPL-2.0-or-later
/* Context, choice of the fabric, errors, and functions that most commands share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

enum exit_code client_open(struct run *run)
{
	MORPH_OPTS(morph_ctx_opts, opts, .replay_path = getenv("MORPHCTL_REPLAY"));
	int error;

	if (run->client)
		return EXIT_CODE_OK;
	run->client = needed(calloc(1, sizeof(*run->client)));
	error = morph_ctx_new(&opts, &run->client->ctx);
	if (!error)
		return EXIT_CODE_OK;
	if (opts.replay_path)
		warn_line("MORPHCTL_REPLAY=%s: %s", opts.replay_path, strerror(-error));
	else
		warn_line("libmorph: %s", strerror(-error));
	return exit_of_errno(-error);
}

void client_close(struct run *run)
{
	if (!run->client)
		return;
	morph_ctx_free(run->client->ctx);
	free(run->client->keys);
	free(run->client->renamed);
	free(run->client);
	run->client = NULL;
}

/* Of objects that do not exist, and of states, the numbers are no amounts. */
static bool has_amounts(const struct morph_error *details)
{
	return (details->have || details->need) && details->reason != MORPH_REASON_ARGUMENT &&
	       details->reason != MORPH_REASON_STATE && details->reason != MORPH_REASON_PORT;
}

/* Members of the message in JSON. The amounts have the unit of the reason. */
static void add_facts(const struct morph_error *details, int error)
{
	json_t *facts = json_object();
	const char *name = strerrorname_np(-error);

	if (name)
		json_object_set_new(facts, "errno", json_string(name));
	if (details->code == -error && details->reason != MORPH_REASON_NONE) {
		json_object_set_new(
			facts, "reason",
			json_string(morph_enum_name(MORPH_ENUM_REASON, details->reason)));
	}
	if (details->code == -error && has_amounts(details)) {
		json_object_set_new(facts, "have", json_integer(details->have));
		json_object_set_new(facts, "need", json_integer(details->need));
	}
	if (details->code == -error && details->part != MORPH_PART_NONE) {
		json_object_set_new(facts, "part",
				    json_string(morph_enum_name(MORPH_ENUM_PART, details->part)));
		if (details->index != MORPH_ANY)
			json_object_set_new(facts, "index", json_integer(details->index));
	}
	if (details->code == -error && *details->attribute)
		json_object_set_new(facts, "attribute", json_string(details->attribute));
	warn_facts(facts);
}

/* The text contains the kernel's message unchanged. */
enum exit_code client_error(struct run *run, int error)
{
	const char *text = morph_error_text(run->client->ctx);
	MORPH_OPTS(morph_error, details);

	morph_error_get(run->client->ctx, &details);
	warn_line("%s", *text ? text : strerror(-error));
	if (messages_are_json())
		add_facts(&details, error);
	/* The kernel sends no message to a caller without the capability. */
	if ((error == -EPERM || error == -EACCES) && !*details.kernel_text)
		warn_line("CAP_NET_ADMIN in the initial user namespace is required; run as root");
	if (error == -EAGAIN || error == -ESTALE)
		warn_line("the state changed meanwhile; try again");
	/* The same request is valid in another state of the object. */
	if (error == -EINVAL && details.code == EINVAL && details.reason == MORPH_REASON_STATE)
		return EXIT_CODE_FAILED;
	/* The kernel's errno does not distinguish a shortage from more than the fabric has. */
	if (error == -ENOSPC && details.code == ENOSPC &&
	    details.reason == MORPH_REASON_ACCELERATORS && run->accelerators &&
	    details.need > run->accelerators)
		return EXIT_CODE_INVALID;
	return exit_of_errno(-error);
}

enum exit_code client_reply(struct run *run, int error, struct morph_object *object,
			    json_t **result)
{
	if (result)
		*result = object ? record_of(object) : NULL;
	morph_object_free(object);
	return error < 0 ? client_error(run, error) : EXIT_CODE_OK;
}

static enum exit_code take_records(struct run *run, int error, struct morph_list *list,
				   json_t **records)
{
	if (error < 0)
		return client_error(run, error);
	*records = records_of(list);
	morph_list_free(list);
	return EXIT_CODE_OK;
}

enum exit_code client_dump(struct run *run, uint32_t type, uint32_t fabric, json_t **records)
{
	struct morph_list *list = NULL;
	enum exit_code code = client_open(run);
	int error;

	*records = NULL;
	if (code)
		return code;
	error = morph_admin_list(run->client->ctx, type, fabric, MORPH_ANY, &list);
	return take_records(run, error, list, records);
}

enum exit_code client_slices(struct run *run, uint32_t fabric, json_t **records)
{
	struct morph_list *list = NULL;
	enum exit_code code = client_open(run);
	int error;

	*records = NULL;
	if (code)
		return code;
	error = client_read_list(run, MORPH_OBJECT_SLICE, fabric, MORPH_ANY, &list);
	return take_records(run, error, list, records);
}

enum exit_code client_fabric_records(struct run *run, json_t **records)
{
	struct morph_list *list = NULL;
	enum exit_code code = client_open(run);
	int error;

	*records = NULL;
	if (code)
		return code;
	error = morph_fabrics(run->client->ctx, &list);
	return take_records(run, error, list, records);
}

static bool fabric_is(const json_t *record, const char *which)
{
	const char *name;
	uint64_t number;

	if (parse_u64(which, 0, UINT32_MAX - 1, &number))
		return number_of(record, "id", NUMBER_NONE) == number;
	name = only_name(which);
	return key_is(record, "name", which) || (name && key_is(record, "name", name)) ||
	       !strcasecmp(text_of_key(record, "uuid"), which);
}

static void list_fabrics(json_t *records)
{
	json_t *record;
	size_t i;

	json_array_foreach(records, i, record)
		warn_detail("%u  %s  %s", number_of(record, "id", NUMBER_NONE),
			    text_of_key(record, "name"), text_of_key(record, "uuid"));
}

/* @which is NULL: choose the only fabric. */
static enum exit_code choose(struct run *run, const char *which, json_t *records,
			     const json_t **chosen)
{
	unsigned int found = 0;
	json_t *record;
	size_t i;

	if (!json_array_size(records))
		return client_no_fabric(run);
	json_array_foreach(records, i, record)
	{
		if (which && !fabric_is(record, which))
			continue;
		*chosen = record;
		found++;
	}
	if (found == 1)
		return EXIT_CODE_OK;
	if (!which)
		warn_line("several fabrics exist; choose one with --fabric:");
	else if (found)
		warn_line("several fabrics are named '%s'; choose one by number or UUID:", which);
	else
		warn_line("no fabric '%s'; fabrics:", which);
	if (which && !found)
		warn_object("fabric");
	list_fabrics(records);
	return found || !which ? EXIT_CODE_USAGE : EXIT_CODE_NOT_FOUND;
}

enum exit_code client_fabric_named(struct run *run, const char *which, uint32_t *fabric)
{
	const json_t *chosen = NULL;
	json_t *records;
	enum exit_code code = client_fabric_records(run, &records);

	if (code)
		return code;
	code = choose(run, which, records, &chosen);
	if (!code) {
		*fabric = number_of(chosen, "id", NUMBER_NONE);
		run->planes = number_of(chosen, "planes-count", 0);
		run->accelerators = number_of(chosen, "accelerators-count", 0);
	}
	json_decref(records);
	return code;
}

enum exit_code client_fabric(struct run *run, uint32_t *fabric)
{
	return client_fabric_named(run, run->option[OPTION_FABRIC], fabric);
}

/* Whether the caller may open the node of a slice, of any fabric. */
static bool has_own_slices(struct run *run)
{
	struct morph_list *list = NULL;
	bool found = !morph_admin_list(run->client->ctx, MORPH_OBJECT_SLICE | MORPH_OWN, MORPH_ANY,
				       MORPH_ANY, &list) &&
		     morph_list_count(list);

	morph_list_free(list);
	return found;
}

enum exit_code client_fabric_of_slices(struct run *run, uint32_t *fabric)
{
	const json_t *chosen = NULL;
	json_t *records;
	enum exit_code code = client_fabric_records(run, &records);

	if (code)
		return code;
	if (!json_array_size(records) && !given(run, OPTION_FABRIC) && has_own_slices(run)) {
		*fabric = MORPH_ANY;
	} else {
		code = choose(run, run->option[OPTION_FABRIC], records, &chosen);
		if (!code)
			*fabric = number_of(chosen, "id", NUMBER_NONE);
	}
	json_decref(records);
	return code;
}

struct view client_view(struct run *run, uint32_t type, const char *columns)
{
	struct client *client = run->client;

	free(client->keys);
	free(client->renamed);
	record_keys(type, &client->keys, &client->renamed);
	return (struct view){ .columns = columns,
			      .attributes = client->keys,
			      .renamed = client->renamed };
}

enum exit_code client_fields(const struct run *run, uint32_t type)
{
	char *keys, *renamed;
	bool known;

	record_keys(type, &keys, &renamed);
	known = emit_knows_fields(run, &(struct view){ .attributes = keys, .renamed = renamed });
	free(keys);
	free(renamed);
	return known ? EXIT_CODE_OK : EXIT_CODE_USAGE;
}

enum exit_code client_list(struct run *run, uint32_t type, const char *columns)
{
	enum exit_code code;
	uint32_t fabric;
	json_t *records;

	code = client_fabric(run, &fabric);
	if (code)
		return code;
	code = client_dump(run, type, fabric, &records);
	if (code)
		return code;
	return client_emit(run, type, columns, records);
}

enum exit_code client_show(struct run *run, uint32_t type, uint32_t fabric, uint32_t id)
{
	struct morph_object *object = NULL;
	json_t *record;
	enum exit_code code;
	struct view view;
	int error;

	error = morph_admin_get(run->client->ctx, type, fabric, MORPH_ANY, id, &object);
	code = client_reply(run, error, object, &record);
	if (!code) {
		view = client_view(run, type, NULL);
		code = emit_one(run, &view, record);
	}
	json_decref(record);
	return code;
}

enum exit_code client_emit(struct run *run, uint32_t type, const char *columns, json_t *records)
{
	struct view view = client_view(run, type, columns);
	enum exit_code code = emit_list(run, &view, records);

	json_decref(records);
	return code;
}

void tally_add(struct tally *tally, enum exit_code code)
{
	if (code == EXIT_CODE_OK) {
		tally->good++;
		return;
	}
	if (!tally->bad++)
		tally->first = code;
}

enum exit_code tally_code(const struct tally *tally)
{
	if (!tally->bad)
		return EXIT_CODE_OK;
	return tally->good ? EXIT_CODE_PARTIAL : tally->first;
}

enum exit_code tally_emit(const struct tally *tally, struct run *run, uint32_t type,
			  const char *columns, json_t *records)
{
	enum exit_code code = EXIT_CODE_OK;

	if (json_array_size(records) || given(run, OPTION_JSON))
		code = client_emit(run, type, columns, records);
	else
		json_decref(records);
	return code ? code : tally_code(tally);
}

const char *verdict_word(uint32_t verdict)
{
	return verdict == MORPH_FEASIBLE   ? "feasible" :
	       verdict == MORPH_INFEASIBLE ? "infeasible" :
					     "undecided";
}
