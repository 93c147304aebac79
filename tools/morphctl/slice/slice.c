// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl slice */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "morphctl/circuit/circuit.h"
#include "morphctl/output/output.h"
#include "morphctl/slice/slice.h"

#define COLUMNS                                                                                        \
	"id,name,state,owner,ranks-count,circuits-count,bandwidth-mbps,failover,transit,spare-policy," \
	"mode,generation,files-count"

enum exit_code slice_list(struct run *run)
{
	enum exit_code code;
	uint32_t fabric;
	json_t *records;

	code = client_fabric_of_slices(run, &fabric);
	if (!code)
		code = client_slices(run, fabric, &records);
	if (code)
		return code;
	code = client_emit(run, MORPH_OBJECT_SLICE, COLUMNS, records);
	client_note_own(run);
	return code;
}

/* The circuits are read only for a degraded slice, because a large slice has many. */
static enum exit_code add_reason(struct run *run, uint32_t fabric, uint32_t id, json_t *slice)
{
	json_t *fabrics = NULL, *circuits = NULL;
	enum exit_code code = EXIT_CODE_OK;
	char *reason;

	if (key_is(slice, "state", "degraded")) {
		code = client_fabric_records(run, &fabrics);
		if (!code)
			code = circuit_records(run, fabric, id, &circuits);
	}
	reason = code ? NULL : slice_reason(slice, fabrics, circuits);
	if (reason)
		/* The heading of "reason" says more than that of "text". */
		json_object_set_new(slice,
				    given(run, OPTION_JSON) || given(run, OPTION_FIELDS) ? "text" :
											   "reason",
				    json_string(reason));
	free(reason);
	json_decref(fabrics);
	json_decref(circuits);
	return code;
}

enum exit_code slice_show(struct run *run)
{
	struct morph_object *object = NULL;
	enum exit_code code;
	uint32_t fabric, id;
	struct view view;
	json_t *record;
	int error;

	code = client_fabric_of_slices(run, &fabric);
	if (!code)
		code = resolve_slice(run, fabric, run->argv[0], &id);
	if (code)
		return code;
	error = client_read(run, MORPH_OBJECT_SLICE, fabric, MORPH_ANY, id, &object);
	code = client_reply(run, error, object, &record);
	if (!code)
		code = add_reason(run, fabric, id, record);
	if (!code) {
		view = client_view(run, MORPH_OBJECT_SLICE, NULL);
		code = emit_one(run, &view, record);
	}
	json_decref(record);
	return code;
}

bool parse_mode(const char *text, uint32_t *mode)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '7')
		return false;
	value = strtoul(text, &end, 8);
	if (*end || !value || value > 0777)
		return false;
	*mode = (uint32_t)value;
	return true;
}

static enum exit_code parse_spares(struct run *run, struct slice_wish *wish)
{
	const char *text = run->option[OPTION_SPARES];

	if (!text || !strcmp(text, "host"))
		return EXIT_CODE_OK;
	if (!strcmp(text, "any")) {
		wish->spare_policy = MORPH_SPARES_ANY;
		return EXIT_CODE_OK;
	}
	wish->spare_policy = MORPH_SPARES_LIST;
	return resolve_accelerators(run, wish->fabric, text, &wish->spares, &wish->spares_count);
}

enum exit_code slice_wish_options(struct run *run, struct slice_wish *wish)
{
	wish->owner = getuid();
	wish->mode = 0600;
	if (!option_word(run, OPTION_FAILOVER, &wish->failover) ||
	    !option_word(run, OPTION_TRANSIT, &wish->transit) ||
	    !option_u32(run, OPTION_CONTROLLER, &wish->controller))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_OWNER) && !parse_user(run->option[OPTION_OWNER], &wish->owner))
		return usage_error(run, "unknown user '%s'", run->option[OPTION_OWNER]);
	if (given(run, OPTION_MODE) && !parse_mode(run->option[OPTION_MODE], &wish->mode))
		return usage_error(run, "--mode must be octal permission bits as 0660, not '%s'",
				   run->option[OPTION_MODE]);
	return EXIT_CODE_OK;
}

static enum exit_code parse_wish(struct run *run, struct slice_wish *wish)
{
	enum exit_code code;

	wish->name = run->argv[0];
	wish->reserved = given(run, OPTION_RESERVED);
	wish->lends = given(run, OPTION_LEND_SPARES);
	if (given(run, OPTION_COUNT) == given(run, OPTION_ACCELERATORS))
		return usage_error(run, "requires either --count or --accelerators");
	if (!option_u32(run, OPTION_COUNT, &wish->count))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_COUNT) && !wish->count)
		return usage_error(run, "--count must be at least 1");
	code = slice_wish_options(run, wish);
	if (!code)
		code = client_fabric(run, &wish->fabric);
	if (!code)
		code = parse_spares(run, wish);
	if (!code && given(run, OPTION_ACCELERATORS))
		code = resolve_accelerators(run, wish->fabric, run->option[OPTION_ACCELERATORS],
					    &wish->accelerators, &wish->accelerators_count);
	return code;
}

void slice_wish_free(struct slice_wish *wish)
{
	free(wish->accelerators);
	free(wish->spares);
}

static int fill_request(struct morph_request *request, const struct slice_wish *wish)
{
	MORPH_OPTS(morph_request_opts, opts, .name = wish->name, .mode = wish->mode,
		   .failover = wish->failover, .transit = wish->transit,
		   .spare_policy = wish->spare_policy, .controller = wish->controller,
		   .flags = (wish->reserved ? MORPH_REQUEST_RESERVE_SPARE : 0) |
			    (wish->lends ? MORPH_REQUEST_LEND_SPARES : 0));
	int error;

	if (wish->spare_policy == MORPH_SPARES_LIST) {
		opts.spares = wish->spares;
		opts.spares_count = wish->spares_count;
	}
	error = morph_request_set_opts(request, &opts);
	if (error)
		return error;
	return wish->accelerators_count ?
		       morph_request_set_accelerators(request, wish->accelerators,
						      wish->accelerators_count) :
		       morph_request_set_count(request, wish->count);
}

enum exit_code slice_make(struct run *run, const struct slice_wish *wish, json_t **record)
{
	struct morph_request *request = needed(morph_request_new(run->client->ctx));
	struct morph_object *object = NULL;
	enum exit_code code;
	int error;

	error = fill_request(request, wish);
	if (!error)
		error = morph_admin_slice_create(run->client->ctx, wish->fabric, request,
						 wish->owner, &object);
	code = client_reply(run, error, object, record);
	morph_request_free(request);
	return code;
}

static enum exit_code dry_run(struct run *run, const struct slice_wish *wish)
{
	MORPH_OPTS(morph_why_not_opts, opts, .accelerators = wish->accelerators,
		   .accelerators_count = wish->accelerators_count, .count = wish->count,
		   .transit = wish->transit);

	return why_not_answer(run, wish->fabric, &opts);
}

enum exit_code slice_create(struct run *run)
{
	struct slice_wish wish = { 0 };
	enum exit_code code = client_fields(run, given(run, OPTION_DRY_RUN) ? MORPH_OBJECT_WHY_NOT :
									      MORPH_OBJECT_SLICE);
	struct view view;
	json_t *record;

	if (!code)
		code = parse_wish(run, &wish);
	if (!code && given(run, OPTION_DRY_RUN)) {
		code = dry_run(run, &wish);
	} else if (!code) {
		code = slice_make(run, &wish, &record);
		if (!code) {
			view = client_view(run, MORPH_OBJECT_SLICE, NULL);
			code = emit_one(run, &view, record);
		}
		json_decref(record);
	}
	slice_wish_free(&wish);
	return code;
}

/* Changes to a slice. */
struct slice_change {
	struct morph_slice_set_opts opts;
	uint32_t controller;
	struct morph_preference *preferences;
	uint32_t preferences_count;
};

static enum exit_code parse_preference(struct run *run, uint32_t fabric, char *word,
				       struct morph_preference *preference)
{
	char *spare = strchr(word, '=');
	enum exit_code code;

	if (!spare)
		return usage_error(run, "--prefer must be RANK=ACCELERATOR or RANK=none, not '%s'",
				   word);
	*spare++ = '\0';
	preference->spare = MORPH_ANY;
	code = resolve_number(run, "rank", word, &preference->rank);
	return code || !strcmp(spare, "none") ?
		       code :
		       resolve_accelerator(run, fabric, spare, &preference->spare);
}

static enum exit_code parse_preferences(struct run *run, uint32_t fabric,
					struct slice_change *change)
{
	const char *list = given(run, OPTION_PREFER) ? run->option[OPTION_PREFER] : "";
	char *copy = needed(strdup(list)), *place = NULL;
	enum exit_code code = EXIT_CODE_OK;

	change->preferences = needed(calloc(strlen(list) + 1, sizeof(*change->preferences)));
	for (char *word = strtok_r(copy, ",", &place); word && !code;
	     word = strtok_r(NULL, ",", &place))
		code = parse_preference(run, fabric, word,
					&change->preferences[change->preferences_count++]);
	free(copy);
	if (!code && given(run, OPTION_PREFER) && !change->preferences_count)
		return usage_error(run, "--prefer must be RANK=ACCELERATOR, separated by commas");
	return code;
}

/* Make the changes one by one. Each gets its own reply. */
static int set_slice(struct run *run, uint32_t fabric, uint32_t id,
		     const struct slice_change *change, struct morph_object **object)
{
	MORPH_OPTS(morph_slice_set_opts, assign, .controller = change->controller,
		   .set = given(run, OPTION_CONTROLLER) ? MORPH_SET_CONTROLLER : 0);
	MORPH_OPTS(morph_slice_set_opts, prefer, .preferences = change->preferences,
		   .preferences_count = change->preferences_count,
		   .set = change->preferences_count ? MORPH_SET_PREFERENCES : 0);
	const struct morph_slice_set_opts *all[] = { &assign, &change->opts, &prefer };
	int error = 0;

	for (size_t at = 0; at < 3 && !error; at++) {
		if (!all[at]->set)
			continue;
		morph_object_free(*object);
		error = morph_admin_slice_set(run->client->ctx, fabric, id, all[at], object);
	}
	return error;
}

enum exit_code slice_set(struct run *run)
{
	struct slice_change change = { .opts.sz = sizeof(change.opts) };
	struct morph_slice_set_opts *opts = &change.opts;
	struct morph_object *object = NULL;
	uint32_t fabric, id;
	enum exit_code code;
	struct view view;
	json_t *record;
	int error;

	if (!option_word(run, OPTION_FAILOVER, &opts->failover))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_OWNER) && !parse_user(run->option[OPTION_OWNER], &opts->owner))
		return usage_error(run, "unknown user '%s'", run->option[OPTION_OWNER]);
	if (given(run, OPTION_MODE) && !parse_mode(run->option[OPTION_MODE], &opts->mode))
		return usage_error(run, "--mode must be octal permission bits as 0660, not '%s'",
				   run->option[OPTION_MODE]);
	opts->set = (given(run, OPTION_FAILOVER) ? MORPH_SET_FAILOVER : 0) |
		    (given(run, OPTION_OWNER) ? MORPH_SET_OWNER : 0) |
		    (given(run, OPTION_MODE) ? MORPH_SET_MODE : 0);
	if (!opts->set && !given(run, OPTION_CONTROLLER) && !given(run, OPTION_PREFER))
		return usage_error(
			run, "requires --failover, --controller, --owner, --mode or --prefer");
	if (!option_u32(run, OPTION_CONTROLLER, &change.controller))
		return EXIT_CODE_USAGE;
	code = client_fields(run, MORPH_OBJECT_SLICE);
	if (!code)
		code = client_fabric(run, &fabric);
	if (!code)
		code = resolve_slice(run, fabric, run->argv[0], &id);
	if (!code)
		code = parse_preferences(run, fabric, &change);
	if (!code) {
		error = set_slice(run, fabric, id, &change, &object);
		code = client_reply(run, error, object, &record);
		if (!code) {
			view = client_view(run, MORPH_OBJECT_SLICE, NULL);
			code = emit_one(run, &view, record);
		}
		json_decref(record);
	}
	free(change.preferences);
	return code;
}

enum exit_code slice_remove(struct run *run, struct act *act, uint32_t fabric, uint32_t slice,
			    bool force)
{
	int error = morph_admin_slice_delete(run->client->ctx, fabric, slice, force);
	enum exit_code code = client_reply(run, error, NULL, NULL);

	return code ? code : act_wait_slice(run, act, fabric, slice);
}

static enum exit_code delete_one(struct run *run, struct act *act, uint32_t fabric,
				 const char *which)
{
	enum exit_code code;
	uint32_t id;

	code = resolve_slice(run, fabric, which, &id);
	return code ? code : slice_remove(run, act, fabric, id, given(run, OPTION_FORCE));
}

enum exit_code slice_delete(struct run *run)
{
	struct tally tally = { 0 };
	enum exit_code code;
	uint32_t fabric;
	struct act act;

	code = client_fabric(run, &fabric);
	if (!code)
		code = act_begin(run, &act);
	if (code)
		return code;
	for (int i = 0; i < run->argc; i++)
		tally_add(&tally, delete_one(run, &act, fabric, run->argv[i]));
	act_end(&act);
	return tally_code(&tally);
}
