// SPDX-License-Identifier: LGPL-2.1-or-later
/* Administration: reading over netlink. */
#include <netlink/attr.h>

#include <linux/morph_netlink.h>

#include "internal.h"

/* A number in a request; MORPH_ANY leaves it out. */
struct selector {
	int attribute;
	uint32_t value;
};

static struct nl_msg *select_request(struct morph_ctx *ctx, uint32_t command,
				     const struct selector *selectors, size_t count)
{
	struct nl_msg *request = lm_request(ctx, command, count * 8);

	for (size_t at = 0; request && at < count; at++)
		if (selectors[at].value != MORPH_ANY)
			nla_put_u32(request, selectors[at].attribute, selectors[at].value);
	return request;
}

/* How to read objects of a type. 0 means no attribute. */
struct kind {
	uint32_t command;
	int fabric; /* attribute: number of the fabric */
	int id; /* attribute: number of the object; 0: objects are only listed */
	int parent; /* attribute: number of the object that it belongs to */
	const char *nests; /* attribute that can exceed a reply; or NULL */
	const char *plural; /* the word for a list of them in error texts */
};

static const struct kind kinds[] = {
	[MORPH_OBJECT_FABRIC] = { .command = MORPH_CMD_FABRIC_GET,
				  .id = MORPH_A_FABRIC_ID,
				  .plural = "fabrics" },
	[MORPH_OBJECT_ACCELERATOR] = { .command = MORPH_CMD_ACCELERATOR_GET,
				       .fabric = MORPH_A_ACCELERATOR_FABRIC,
				       .id = MORPH_A_ACCELERATOR_ID,
				       .plural = "accelerators" },
	[MORPH_OBJECT_GUIDE] = { .command = MORPH_CMD_GUIDE_GET,
				 .fabric = MORPH_A_GUIDE_FABRIC,
				 .id = MORPH_A_GUIDE_ID,
				 .plural = "guides" },
	[MORPH_OBJECT_ELEMENT] = { .command = MORPH_CMD_ELEMENT_GET,
				   .fabric = MORPH_A_ELEMENT_FABRIC,
				   .id = MORPH_A_ELEMENT_ID,
				   .plural = "elements" },
	[MORPH_OBJECT_EDGE] = { .command = MORPH_CMD_EDGE_GET,
				.fabric = MORPH_A_EDGE_FABRIC,
				.id = MORPH_A_EDGE_ID,
				.plural = "edges" },
	[MORPH_OBJECT_SLICE] = { .command = MORPH_CMD_SLICE_GET,
				 .fabric = MORPH_A_SLICE_FABRIC,
				 .id = MORPH_A_SLICE_ID,
				 .nests = "rank",
				 .plural = "slices" },
	[MORPH_OBJECT_CIRCUIT] = { .command = MORPH_CMD_CIRCUIT_GET,
				   .fabric = MORPH_A_CIRCUIT_FABRIC,
				   .id = MORPH_A_CIRCUIT_ID,
				   .parent = MORPH_A_CIRCUIT_SLICE,
				   .plural = "circuits" },
	[MORPH_OBJECT_TXN] = { .command = MORPH_CMD_TXN_GET,
			       .fabric = MORPH_A_TXN_FABRIC,
			       .id = MORPH_A_TXN_ID,
			       .nests = "change",
			       .plural = "transactions" },
	[MORPH_OBJECT_HARDWARE] = { .command = MORPH_CMD_HARDWARE_GET,
				    .fabric = MORPH_A_HARDWARE_FABRIC,
				    .plural = "hardware" },
	[MORPH_OBJECT_QUOTA] = { .command = MORPH_CMD_QUOTA_GET, .plural = "quotas" },
	[MORPH_OBJECT_STATS] = { .command = MORPH_CMD_STATS_GET,
				 .fabric = MORPH_A_STATS_FABRIC,
				 .plural = "statistics" },
	[MORPH_OBJECT_CONTROLLER] = { .command = MORPH_CMD_CONTROLLER_GET,
				      .fabric = MORPH_A_CONTROLLER_FABRIC,
				      .id = MORPH_A_CONTROLLER_ID,
				      .plural = "controllers" },
	[MORPH_OBJECT_RESERVATION] = { .command = MORPH_CMD_RESERVATION_GET,
				       .fabric = MORPH_A_RESERVATION_FABRIC,
				       .parent = MORPH_A_RESERVATION_CONTROLLER,
				       .plural = "reservations" },
};

/* Read one object, named by up to three numbers. 0 means no attribute. */
static int get(struct morph_ctx *ctx, uint32_t command, const struct selector *selectors,
	       size_t count, struct morph_object **out)
{
	struct nl_msg *request = select_request(ctx, command, selectors, count);
	const struct lm_command *known = lm_command(command);

	*out = NULL;
	if (!request)
		return -ctx->error.code;
	return lm_do(ctx, request, out, "read %s %u", morph_object_type_name(known->object),
		     selectors[count - 1].value);
}

static int dump(struct morph_ctx *ctx, uint32_t command, const struct selector *selectors,
		size_t count, struct morph_list **out)
{
	struct nl_msg *request = select_request(ctx, command, selectors, count);
	const struct kind *kind = &kinds[lm_command(command)->object];

	*out = NULL;
	if (!request)
		return -ctx->error.code;
	/* Kernels before 6.10 send no number of the fabric in the error of a dump. */
	if (kind->fabric && selectors[0].value != MORPH_ANY)
		return lm_dump(ctx, request, out, "list %s of fabric %u", kind->plural,
			       selectors[0].value);
	return lm_dump(ctx, request, out, "list %s", kind->plural);
}

/*
 * A reply has at most this number of ranks or changes. A dump of one object has all; then it
 * replaces *out.
 */
#define NESTS_PER_REPLY 256

static int get_whole(struct morph_ctx *ctx, uint32_t command, const struct selector *selectors,
		     const char *nests, struct morph_object **out)
{
	struct morph_list *list;
	int error;

	if (!*out || morph_object_values(*out, nests) < NESTS_PER_REPLY)
		return 0;
	morph_object_free(*out);
	error = dump(ctx, command, selectors, 2, &list);
	*out = error ? NULL : lm_list_pop(list);
	morph_list_free(list);
	if (!error && !*out)
		return lm_fail(ctx, ENOENT, "the object was removed during the read");
	return error;
}

static const struct kind *kind_of(uint32_t type)
{
	return type < ARRAY_SIZE(kinds) && kinds[type].command ? &kinds[type] : NULL;
}

static bool is_own(uint32_t type)
{
	return type == (MORPH_OBJECT_SLICE | MORPH_OWN) ||
	       type == (MORPH_OBJECT_CIRCUIT | MORPH_OWN);
}

/* Set the numbers of the fabric and of the parent. Returns how many it has set. */
static size_t select_within(const struct kind *kind, uint32_t fabric, uint32_t parent,
			    struct selector *selectors)
{
	size_t count = 0;

	if (kind->fabric)
		selectors[count++] = (struct selector){ kind->fabric, fabric };
	if (kind->parent)
		selectors[count++] = (struct selector){ kind->parent, parent };
	return count;
}

MORPH_API int morph_admin_get(struct morph_ctx *ctx, uint32_t type, uint32_t fabric,
			      uint32_t parent, uint32_t id, struct morph_object **out)
{
	const struct kind *kind = kind_of(type);
	struct selector selectors[3] = { 0 };
	size_t count;
	int error;

	*out = NULL;
	if (is_own(type))
		return lm_own_get(ctx, type & ~MORPH_OWN, fabric, parent, id, out);
	if (!kind || !kind->id)
		return lm_fail(ctx, EINVAL, "objects of type %u cannot be read by number", type);
	count = select_within(kind, fabric, parent, selectors);
	selectors[count++] = (struct selector){ kind->id, kind->fabric ? id : fabric };
	error = get(ctx, kind->command, selectors, count, out);
	return error || !kind->nests ? error :
				       get_whole(ctx, kind->command, selectors, kind->nests, out);
}

MORPH_API int morph_admin_list(struct morph_ctx *ctx, uint32_t type, uint32_t fabric,
			       uint32_t parent, struct morph_list **out)
{
	const struct kind *kind = kind_of(type);
	struct selector selectors[2] = { 0 };

	*out = NULL;
	if (is_own(type))
		return lm_own_list(ctx, type & ~MORPH_OWN, fabric, parent, out);
	if (!kind)
		return lm_fail(ctx, EINVAL, "objects of type %u cannot be listed", type);
	return dump(ctx, kind->command, selectors, select_within(kind, fabric, parent, selectors),
		    out);
}

int morph_admin_slice_named(struct morph_ctx *ctx, uint32_t fabric, const char *name,
			    struct morph_object **out)
{
	struct nl_msg *request = lm_request(ctx, MORPH_CMD_SLICE_GET, 16 + strlen(name) + 8);
	struct selector selectors[] = {
		{ MORPH_A_SLICE_FABRIC, fabric },
		{ MORPH_A_SLICE_ID, MORPH_ANY },
	};
	int error;

	*out = NULL;
	if (!request)
		return -ctx->error.code;
	nla_put_u32(request, MORPH_A_SLICE_FABRIC, fabric);
	nla_put_string(request, MORPH_A_SLICE_NAME, name);
	error = lm_do(ctx, request, out, "read slice \"%s\"", name);
	if (error)
		return error;
	selectors[1].value = morph_object_uint(*out, "id");
	return get_whole(ctx, MORPH_CMD_SLICE_GET, selectors, "rank", out);
}

int morph_admin_hardware_part(struct morph_ctx *ctx, uint32_t fabric, uint32_t part, uint32_t index,
			      struct morph_object **out)
{
	struct selector selectors[] = {
		{ MORPH_A_HARDWARE_FABRIC, fabric },
		{ MORPH_A_HARDWARE_PART, part },
		{ MORPH_A_HARDWARE_INDEX, index },
	};

	return get(ctx, MORPH_CMD_HARDWARE_GET, selectors, ARRAY_SIZE(selectors), out);
}

int morph_admin_quota(struct morph_ctx *ctx, uint32_t uid, struct morph_object **out)
{
	struct selector selector = { MORPH_A_QUOTA_UID, uid };

	return get(ctx, MORPH_CMD_QUOTA_GET, &selector, 1, out);
}

void lm_ask_planes(struct morph_ctx *ctx, uint32_t fabric)
{
	const struct lm_error error = ctx->error;
	struct morph_object *object;

	if (!lm_names_port(&error) || fabric == MORPH_ANY)
		return;
	if (!morph_admin_get(ctx, MORPH_OBJECT_FABRIC, MORPH_ANY, MORPH_ANY, fabric, &object)) {
		ctx->error = error;
		ctx->error.planes = (uint32_t)morph_object_uint(object, "planes");
		morph_object_free(object);
	} else {
		ctx->error = error;
	}
}
