// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolve names of objects on the command line to numbers. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

enum exit_code resolve_number(struct run *run, const char *what, const char *text, uint32_t *id)
{
	uint64_t number;

	if (!parse_u64(text, 0, UINT32_MAX - 1, &number))
		return usage_error(run, "the %s must be an integer from 0 to 4294967294, not '%s'",
				   what, text);
	*id = (uint32_t)number;
	return EXIT_CODE_OK;
}

enum exit_code resolve_first_number(struct run *run, const char *what, uint32_t *fabric,
				    uint32_t *id)
{
	enum exit_code code = resolve_number(run, what, run->argv[0], id);

	return code ? code : client_fabric(run, fabric);
}

enum exit_code show_resolved(struct run *run, resolve_fn *resolve, uint32_t type)
{
	uint32_t fabric, id;
	enum exit_code code = client_fabric(run, &fabric);

	if (!code)
		code = resolve(run, fabric, run->argv[0], &id);
	return code ? code : client_show(run, type, fabric, id);
}

static bool same_text(const json_t *record, const char *key, const char *text)
{
	return *text && !strcasecmp(text_of_key(record, key), text);
}

const char *only_name(const char *text)
{
	static const char prefix[] = "name:";

	return strncmp(text, prefix, sizeof(prefix) - 1) ? NULL : text + sizeof(prefix) - 1;
}

static bool is_accelerator(const json_t *record, const char *text)
{
	return same_text(record, "pci", text) || same_text(record, "uuid", text);
}

static bool is_slice(const json_t *record, const char *text)
{
	const char *name = only_name(text);

	return key_is(record, "name", name ? name : text);
}

typedef bool is_fn(const json_t *record, const char *text);

/*
 * Resolve a number, or find the last record that @is accepts. After EXIT_CODE_NOT_FOUND, @records
 * contains all records.
 */
static enum exit_code find_id(struct run *run, uint32_t fabric, const char *text, uint32_t type,
			      is_fn *is, uint32_t *id, json_t **records)
{
	enum exit_code code;
	json_t *record;
	uint64_t number;
	size_t i;

	*records = NULL;
	if (parse_u64(text, 0, UINT32_MAX - 1, &number)) {
		*id = (uint32_t)number;
		return EXIT_CODE_OK;
	}
	code = type == MORPH_OBJECT_SLICE ? client_slices(run, fabric, records) :
					    client_dump(run, type, fabric, records);
	if (code)
		return code;
	code = EXIT_CODE_NOT_FOUND;
	json_array_foreach(*records, i, record)
	{
		if (!is(record, text))
			continue;
		*id = number_of(record, "id", NUMBER_NONE);
		code = EXIT_CODE_OK;
	}
	return code;
}

enum exit_code resolve_accelerator(struct run *run, uint32_t fabric, const char *text, uint32_t *id)
{
	json_t *records;
	enum exit_code code =
		find_id(run, fabric, text, MORPH_OBJECT_ACCELERATOR, is_accelerator, id, &records);

	if (code && records) {
		warn_line(
			"no accelerator '%s'; give a number, a PCI address as in lspci -D, or a UUID; see 'morphctl accelerator list'",
			text);
		warn_object("accelerator");
	}
	json_decref(records);
	return code;
}

/* Resolve a list separated by commas. The caller frees @ids. */
enum exit_code resolve_accelerators(struct run *run, uint32_t fabric, const char *list,
				    uint32_t **ids, size_t *count)
{
	char *copy = needed(strdup(list)), *place = NULL;
	enum exit_code code = EXIT_CODE_OK;

	*count = 0;
	*ids = needed(calloc(strlen(list) + 1, sizeof(**ids)));
	for (char *word = strtok_r(copy, ",", &place); word && !code;
	     word = strtok_r(NULL, ",", &place)) {
		code = resolve_accelerator(run, fabric, word, &(*ids)[*count]);
		(*count)++;
	}
	free(copy);
	if (!code && !*count)
		code = usage_error(run, "requires accelerators separated by commas, as 0,1,2,3");
	return code;
}

static void list_slices(json_t *records)
{
	json_t *record;
	size_t i;

	json_array_foreach(records, i, record) warn_detail(
		"%u  %s", number_of(record, "id", NUMBER_NONE), text_of_key(record, "name"));
}

enum exit_code resolve_slice(struct run *run, uint32_t fabric, const char *text, uint32_t *id)
{
	json_t *records;
	enum exit_code code =
		find_id(run, fabric, text, MORPH_OBJECT_SLICE, is_slice, id, &records);

	if (code && records) {
		warn_line("no slice '%s'%s", text,
			  json_array_size(records) ? "; slices:" : "; this fabric has no slices");
		warn_object("slice");
		list_slices(records);
	}
	json_decref(records);
	return code;
}
