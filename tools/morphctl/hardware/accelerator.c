// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl accelerator, morphctl spare */
#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

#define COLUMNS "id,host-name,use,health,cordoned,slice,rank,pci,x,y,z"
#define SPARE_COLUMNS(lent) "id,host-name," lent "health,cordoned,pci,last-verified-ns"

enum exit_code accelerator_list(struct run *run)
{
	return client_list(run, MORPH_OBJECT_ACCELERATOR, COLUMNS);
}

enum exit_code accelerator_show(struct run *run)
{
	return show_resolved(run, resolve_accelerator, MORPH_OBJECT_ACCELERATOR);
}

static enum exit_code set_one(struct run *run, uint32_t fabric, const char *text,
			      const struct morph_accelerator_opts *opts, json_t *records)
{
	struct morph_object *object = NULL;
	enum exit_code code;
	json_t *record;
	uint32_t id;
	int error;

	code = resolve_accelerator(run, fabric, text, &id);
	if (code)
		return code;
	error = morph_admin_accelerator_set(run->client->ctx, fabric, id, opts, &object);
	code = client_reply(run, error, object, &record);
	if (record)
		json_array_append_new(records, record);
	return code;
}

/* Each accelerator on the command line is an independent change. */
static enum exit_code set_all(struct run *run, const struct morph_accelerator_opts *opts)
{
	struct tally tally = { 0 };
	enum exit_code code;
	json_t *records;
	uint32_t fabric;

	code = client_fields(run, MORPH_OBJECT_ACCELERATOR);
	if (!code)
		code = client_fabric(run, &fabric);
	if (code)
		return code;
	records = json_array();
	for (int i = 0; i < run->argc; i++)
		tally_add(&tally, set_one(run, fabric, run->argv[i], opts, records));
	return tally_emit(&tally, run, MORPH_OBJECT_ACCELERATOR, "id,use,health,pci", records);
}

enum exit_code accelerator_set(struct run *run)
{
	MORPH_OPTS(morph_accelerator_opts, opts);

	if (given(run, OPTION_MAKE_SPARE) && given(run, OPTION_MAKE_FREE))
		return usage_error(run, "--spare and --free are mutually exclusive");
	if (given(run, OPTION_MAKE_SPARE) || given(run, OPTION_MAKE_FREE)) {
		opts.set |= MORPH_SET_USE;
		opts.use = given(run, OPTION_MAKE_SPARE) ? MORPH_USE_SPARE : MORPH_USE_FREE;
	}
	if (given(run, OPTION_PCI)) {
		if (run->argc > 1)
			return usage_error(run, "--pci is valid for one accelerator, not for %d",
					   run->argc);
		opts.set |= MORPH_SET_PCI;
		opts.pci = run->option[OPTION_PCI];
	}
	if (!opts.set)
		return usage_error(run, "requires --spare, --free or --pci");
	return set_all(run, &opts);
}

enum exit_code spare_add(struct run *run)
{
	MORPH_OPTS(morph_accelerator_opts, opts, .set = MORPH_SET_USE, .use = MORPH_USE_SPARE);

	return set_all(run, &opts);
}

enum exit_code spare_remove(struct run *run)
{
	MORPH_OPTS(morph_accelerator_opts, opts, .set = MORPH_SET_USE, .use = MORPH_USE_FREE);

	return set_all(run, &opts);
}

/* Idle spares and lent ones. The kernel shows the borrowers to administrators only. */
enum exit_code spare_list(struct run *run)
{
	json_t *records, *spares, *record;
	enum exit_code code;
	uint32_t fabric;
	size_t i;

	code = client_fabric(run, &fabric);
	if (!code)
		code = client_dump(run, MORPH_OBJECT_ACCELERATOR, fabric, &records);
	if (code)
		return code;
	spares = json_array();
	json_array_foreach(records, i, record)
	{
		if (key_is(record, "use", "spare") || flag_of(record, "lent"))
			json_array_append(spares, record);
	}
	json_decref(records);
	return client_emit(run, MORPH_OBJECT_ACCELERATOR,
			   any_has(spares, "lent") ? SPARE_COLUMNS("lent,slice,rank,") :
						     SPARE_COLUMNS(""),
			   spares);
}
