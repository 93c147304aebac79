// SPDX-License-Identifier: GPL-2.0-or-later
/* The reason why there is no fabric. All commands print the same message for the same reason. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/client/client.h"

#define PATH_BYTES 512
#define CONSUMER "morph_net" /* uses the core, too, but registers no fabric */

const char *modules_directory(void)
{
	const char *path = getenv("MORPHCTL_MODULES");

	return path && *path ? path : "/sys/module";
}

/*
 * The first loaded module, by name, that can register fabrics: a module that uses the core. An
 * empty text if there is none.
 */
static void find_provider(char name[NAME_MAX + 1])
{
	char path[PATH_BYTES];
	const struct dirent *entry;
	DIR *users;

	*name = 0;
	snprintf(path, sizeof(path), "%s/morph/holders", modules_directory());
	users = opendir(path);
	while (users && (entry = readdir(users)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, CONSUMER) &&
		    (!*name || strcmp(entry->d_name, name) < 0))
			strcpy(name, entry->d_name);
	if (users)
		closedir(users);
}

enum exit_code client_no_fabric(struct run *run)
{
	char provider[NAME_MAX + 1];
	struct morph_list *list = NULL;
	int error = morph_admin_list(run->client->ctx, MORPH_OBJECT_FABRIC, MORPH_ANY, MORPH_ANY,
				     &list);

	morph_list_free(list);
	/* libmorph reports a missing module and another network namespace. */
	if (error)
		return client_error(run, error);
	find_provider(provider);
	if (*provider)
		warn_line(
			"no fabric: the provider %s is loaded, but has none; see the kernel log with 'dmesg'",
			provider);
	else
		warn_line(
			"no provider: the module morph is loaded, but no module that drives a fabric; run 'modprobe morph_sim profile=server8' or load that of the hardware");
	warn_object(*provider ? "fabric" : "provider");
	return EXIT_CODE_NOT_FOUND;
}

enum exit_code client_no_slice(struct run *run, int error)
{
	char *text = needed(strdup(morph_error_text(run->client->ctx)));
	enum exit_code code = EXIT_CODE_OK;
	json_t *fabrics = NULL;

	if (error == -ENOENT)
		code = client_fabric_records(run, &fabrics);
	if (!code && fabrics && !json_array_size(fabrics)) {
		code = client_no_fabric(run);
	} else if (!code) {
		/* The list of fabrics has cleared the first error. */
		if (fabrics)
			morph_error_set(run->client->ctx, -error, "%s", text);
		code = client_error(run, error);
	}
	json_decref(fabrics);
	free(text);
	return code;
}
