// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading slices as an administrator or, if netlink is closed to the caller, as a tenant: then
 * libmorph reads those slices whose device nodes the caller may open.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/client/client.h"

/*
 * Whether a request failed for want of a capability, or of the netlink family. The kernel sends a
 * sentence with all other refusals.
 */
bool client_is_closed(struct run *run, int error)
{
	MORPH_OPTS(morph_error, details);

	morph_error_get(run->client->ctx, &details);
	return (error == -EPERM || error == -EACCES || error == -ENOENT) && !*details.kernel_text;
}

/* Read as a tenant, or report @error, the first one, again. */
static int read_own(struct run *run, int error, uint32_t type, uint32_t fabric, uint32_t parent,
		    uint32_t id, struct morph_list **list, struct morph_object **object)
{
	struct morph_ctx *ctx = run->client->ctx;
	char *text = needed(strdup(morph_error_text(ctx)));
	int own;

	type |= MORPH_OWN;
	own = list ? morph_admin_list(ctx, type, fabric, parent, list) :
		     morph_admin_get(ctx, type, fabric, parent, id, object);
	/* Without the netlink family, an empty list is no answer: the module may be missing. */
	if (!own && list && error == -ENOENT && !morph_list_count(*list)) {
		morph_list_free(*list);
		*list = NULL;
		own = error;
	}
	run->client->own |= !own;
	if (own)
		morph_error_set(ctx, -error, "%s", text);
	free(text);
	return own ? error : 0;
}

int client_read_list(struct run *run, uint32_t type, uint32_t fabric, uint32_t parent,
		     struct morph_list **list)
{
	int error = morph_admin_list(run->client->ctx, type, fabric, parent, list);

	return client_is_closed(run, error) ?
		       read_own(run, error, type, fabric, parent, 0, list, NULL) :
		       error;
}

int client_read(struct run *run, uint32_t type, uint32_t fabric, uint32_t parent, uint32_t id,
		struct morph_object **object)
{
	int error = morph_admin_get(run->client->ctx, type, fabric, parent, id, object);

	return client_is_closed(run, error) ?
		       read_own(run, error, type, fabric, parent, id, NULL, object) :
		       error;
}

void client_note_own(const struct run *run)
{
	if (run->client->own && !given(run, OPTION_JSON) && !given(run, OPTION_NOHEADINGS))
		warn_line(CLIENT_OWN_NOTE);
}
