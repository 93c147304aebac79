// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl slice replace */
#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

/* Print the new state of the rank from the slice's record. */
static enum exit_code show_rank(struct run *run, uint32_t fabric, uint32_t slice, uint32_t rank)
{
	struct morph_object *object = NULL;
	json_t *record, *one;
	enum exit_code code;
	struct view view;
	int error;
	size_t i;

	error = morph_admin_get(run->client->ctx, MORPH_OBJECT_SLICE, fabric, MORPH_ANY, slice,
				&object);
	code = client_reply(run, error, object, &record);
	if (code)
		return code;
	json_array_foreach(json_object_get(record, "ranks"), i, one)
	{
		if (number_of(one, "rank", NUMBER_NONE) != rank)
			continue;
		view = client_view(run, MORPH_OBJECT_RANK, NULL);
		code = emit_one(run, &view, one);
	}
	json_decref(record);
	return code;
}

static enum exit_code replace_now(struct run *run, struct act *act, uint32_t fabric, uint32_t slice,
				  uint32_t rank, uint32_t spare)
{
	struct morph_object *object = NULL;
	enum exit_code code;
	struct view view;
	json_t *reply;
	int error;

	error = morph_admin_replace(run->client->ctx, fabric, slice, rank, spare, &object);
	code = client_reply(run, error, object, &reply);
	if (!code && !act->monitor) {
		view = client_view(run, MORPH_OBJECT_REPLACE, NULL);
		code = emit_one(run, &view, reply);
	} else if (!code) {
		code = act_wait(run, act, fabric, "txn", &reply);
		if (!code)
			code = show_rank(run, fabric, slice, rank);
	}
	json_decref(reply);
	return code;
}

enum exit_code slice_replace(struct run *run)
{
	uint32_t fabric, slice, rank, spare = MORPH_ANY;
	enum exit_code code;
	struct act act;

	code = client_fields(run,
			     given(run, OPTION_NO_WAIT) ? MORPH_OBJECT_REPLACE : MORPH_OBJECT_RANK);
	if (!code)
		code = resolve_number(run, "rank", run->argv[1], &rank);
	if (!code)
		code = client_fabric(run, &fabric);
	if (!code)
		code = resolve_slice(run, fabric, run->argv[0], &slice);
	if (!code && given(run, OPTION_SPARE))
		code = resolve_accelerator(run, fabric, run->option[OPTION_SPARE], &spare);
	if (!code)
		code = act_begin(run, &act);
	if (code)
		return code;
	code = replace_now(run, &act, fabric, slice, rank, spare);
	act_end(&act);
	return code;
}
