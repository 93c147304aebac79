// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl quota */
#include <stdlib.h>
#include <string.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

#define COLUMNS                                                                   \
	"uid,grant,accelerators-limit,circuits-limit,lanes-limit,prepared-limit," \
	"replacements-limit,memory-limit-bytes"

/* A limit, and how much of it is used; NULL if the kernel does not count it here. */
struct limit {
	const char *limit, *used;
};

static const struct limit limits[] = {
	{ "accelerators-limit", "used-accelerators-count" },
	{ "circuits-limit", "used-circuits-count" },
	{ "lanes-limit", "used-lanes-count" },
	{ "prepared-limit", "used-prepared-count" },
	{ "replacements-limit", NULL },
	{ "memory-limit-bytes", "used-memory-bytes" },
};

static char *count_text(const char *key, const json_t *value)
{
	char *text;

	if (!strcmp(key, "memory-limit-bytes"))
		return format_value(key, value);
	if (asprintf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(value)) < 0)
		text = NULL;
	return needed(text);
}

/* In tables, a limit is "USED of LIMIT" or "USED (no limit)". */
static void join_limits(const struct run *run, json_t *record)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const char *key = limits[i].limit;
		json_t *limit = json_object_get(record, key), *text;
		json_t *used = limits[i].used ? json_object_get(record, limits[i].used) : NULL;
		bool none = json_is_string(limit) || json_integer_value(limit) == UINT32_MAX;
		char *most, *now;

		if (!limit)
			continue;
		most = none ? needed(strdup("no limit")) : count_text(key, limit);
		now = count_text(key, used);
		text = used && !given(run, OPTION_FIELDS) ?
			       json_sprintf(none ? "%s (%s)" : "%s of %s", now, most) :
			       json_string(most);
		json_object_set_new(record, key, text);
		if (used && !given(run, OPTION_FIELDS))
			json_object_del(record, limits[i].used);
		free(most);
		free(now);
	}
}

enum exit_code quota_list(struct run *run)
{
	json_t *records, *record;
	enum exit_code code = client_dump(run, MORPH_OBJECT_QUOTA, MORPH_ANY, &records);
	size_t i;

	if (!given(run, OPTION_JSON))
		json_array_foreach(records, i, record) join_limits(run, record);
	return code ? code : client_emit(run, MORPH_OBJECT_QUOTA, COLUMNS, records);
}

/* Read the owner of the limits: "default", "grant:N", or a user. */
static bool parse_whose(const char *text, uint32_t *uid, uint32_t *grant)
{
	static const char prefix[] = "grant:";
	uint64_t number;

	if (!strcmp(text, "default"))
		return true;
	if (strncmp(text, prefix, sizeof(prefix) - 1))
		return parse_user(text, uid);
	if (!parse_u64(text + sizeof(prefix) - 1, 1, UINT32_MAX, &number))
		return false;
	*grant = (uint32_t)number;
	return true;
}

enum exit_code quota_set(struct run *run)
{
	MORPH_OPTS(morph_quota_opts, opts);
	struct {
		enum option_id id;
		uint32_t bit;
		uint32_t *value;
	} const wanted[] = {
		{ OPTION_Q_ACCELERATORS, MORPH_QUOTA_ACCELERATORS, &opts.accelerators },
		{ OPTION_Q_CIRCUITS, MORPH_QUOTA_CIRCUITS, &opts.circuits },
		{ OPTION_Q_LANES, MORPH_QUOTA_LANES, &opts.lanes },
		{ OPTION_Q_PREPARED, MORPH_QUOTA_PREPARED, &opts.prepared },
		{ OPTION_Q_REPLACEMENTS, MORPH_QUOTA_REPLACEMENTS, &opts.replacements },
	};
	struct morph_object *object = NULL;
	uint32_t uid = MORPH_ANY;
	enum exit_code code;
	struct view view;
	json_t *record;
	int error;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (!option_u32(run, wanted[i].id, wanted[i].value))
			return EXIT_CODE_USAGE;
		opts.set |= given(run, wanted[i].id) ? wanted[i].bit : 0;
	}
	if (!option_u64(run, OPTION_Q_BYTES, &opts.bytes))
		return EXIT_CODE_USAGE;
	opts.set |= given(run, OPTION_Q_BYTES) ? MORPH_QUOTA_BYTES : 0;
	if (!opts.set)
		return usage_error(run, "requires at least one limit, such as --accelerators 16");
	if (!parse_whose(run->argv[0], &uid, &opts.grant))
		return usage_error(run, "unknown user '%s'; expected a user, default or grant:N",
				   run->argv[0]);
	code = client_fields(run, MORPH_OBJECT_QUOTA);
	if (!code)
		code = client_open(run);
	if (code)
		return code;
	error = morph_admin_quota_set(run->client->ctx, uid, &opts, &object);
	code = client_reply(run, error, object, &record);
	if (!code && !given(run, OPTION_JSON))
		join_limits(run, record);
	if (!code) {
		view = client_view(run, MORPH_OBJECT_QUOTA, NULL);
		code = emit_one(run, &view, record);
	}
	json_decref(record);
	return code;
}
