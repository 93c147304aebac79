// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The profile of a fabric. It is found by name, in the directories of the kernel's firmware loader.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "morphctl/client/client.h"

#define FIRST_PLACE "/sys/module/firmware_class/parameters/path"

/* Read the first word of a file; an empty word if there is none. */
static void read_word(const char *path, char *word, size_t room)
{
	FILE *in = fopen(path, "r");

	if (!in || !fgets(word, (int)room, in))
		*word = 0;
	word[strcspn(word, "\n")] = 0;
	if (in)
		fclose(in);
}

static enum exit_code load(struct run *run, const char *path, struct morph_model **model)
{
	int error = morph_model_load(run->client->ctx, path, model);

	return error < 0 ? client_error(run, error) : EXIT_CODE_OK;
}

enum exit_code profile_file(const char *name, char **path)
{
	char first[512];
	const char *const places[] = { first, "/lib/firmware/updates", "/lib/firmware" };

	read_word(FIRST_PLACE, first, sizeof(first));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (asprintf(path, "%s/morph/%s.bin", places[i], name) < 0)
			needed(NULL);
		if (*places[i] && !access(*path, R_OK))
			return EXIT_CODE_OK;
		free(*path);
	}
	*path = NULL;
	warn_line("no profile '%s' in /lib/firmware/morph; give its file with --profile", name);
	return EXIT_CODE_NOT_FOUND;
}

static enum exit_code load_named(struct run *run, const char *name, struct morph_model **model)
{
	char *path;
	enum exit_code code = profile_file(name, &path);

	if (!code)
		code = load(run, path, model);
	free(path);
	return code;
}

/* Reading the ledger compares the fabric's attributes with the model. */
static enum exit_code load_of_fabric(struct run *run, uint32_t fabric, struct morph_model **model)
{
	struct morph_object *info = NULL;
	enum exit_code code;
	int error;

	error = morph_admin_get(run->client->ctx, MORPH_OBJECT_FABRIC, fabric, MORPH_ANY, 0, &info);
	if (error < 0)
		return client_error(run, error);
	code = load_named(run, morph_object_text(info, "profile"), model);
	morph_object_free(info);
	return code;
}

enum exit_code profile_of_fabric(struct run *run, uint32_t fabric, struct morph_model **model)
{
	const char *path = run->option[OPTION_PROFILE];

	return path ? load(run, path, model) : load_of_fabric(run, fabric, model);
}

enum exit_code profile_model(struct run *run, uint32_t *fabric, struct morph_model **model)
{
	const char *path = run->option[OPTION_PROFILE];
	enum exit_code code = client_open(run);

	*model = NULL;
	*fabric = MORPH_ANY;
	if (!code && (!path || given(run, OPTION_FABRIC)))
		code = client_fabric(run, fabric);
	return code ? code : profile_of_fabric(run, *fabric, model);
}

uint32_t profile_checksum(struct run *run, struct morph_model *model)
{
	struct morph_object *info = NULL;
	uint32_t checksum;

	if (morph_model_info(run->client->ctx, model, &info))
		needed(NULL);
	checksum = (uint32_t)morph_object_uint(info, "profile-checksum");
	morph_object_free(info);
	return checksum;
}

enum exit_code profile_ledger(struct run *run, uint32_t fabric, uint32_t controller,
			      struct morph_model *model, struct morph_ledger **ledger)
{
	int error = morph_ledger_new(run->client->ctx, model, ledger);

	if (!error && fabric != MORPH_ANY)
		error = morph_ledger_read(*ledger, fabric, controller);
	return error < 0 ? client_error(run, error) : EXIT_CODE_OK;
}
