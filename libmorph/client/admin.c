// SPDX-License-Identifier: LGPL-2.1-or-later
/* Administration: reading over netlink. */
#include <netlink/attr.h>

#include <linux/morph_netlink.h>

#include "internal.h"

/* A number that goes into a request, unless it is MORPH_ANY. */
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

/* One object, named by up to three numbers; 0 stands for no attribute. */
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
	const struct lm_command *known = lm_command(command);

	*out = NULL;
	if (!request)
		return -ctx->error.code;
	return lm_dump(ctx, request, out, "read all of type %s",
		       morph_object_type_name(known->object));
}

static int get_two(struct morph_ctx *ctx, uint32_t command, int fabric_attribute, uint32_t fabric,
		   int attribute, uint32_t value, struct morph_object **out)
{
	struct selector selectors[] = { { fabric_attribute, fabric }, { attribute, value } };

	return get(ctx, command, selectors, ARRAY_SIZE(selectors), out);
}

static int dump_one(struct morph_ctx *ctx, uint32_t command, int attribute, uint32_t value,
		    struct morph_list **out)
{
	struct selector selector = { attribute, value };

	return dump(ctx, command, &selector, 1, out);
}

MORPH_API int morph_admin_fabric(struct morph_ctx *ctx, uint32_t fabric, struct morph_object **out)
{
	struct selector selector = { MORPH_A_FABRIC_ID, fabric };

	return get(ctx, MORPH_CMD_FABRIC_GET, &selector, 1, out);
}

MORPH_API int morph_admin_fabrics(struct morph_ctx *ctx, struct morph_list **out)
{
	return dump(ctx, MORPH_CMD_FABRIC_GET, NULL, 0, out);
}

MORPH_API int morph_admin_accelerator(struct morph_ctx *ctx, uint32_t fabric, uint32_t accelerator,
				      struct morph_object **out)
{
	return get_two(ctx, MORPH_CMD_ACCELERATOR_GET, MORPH_A_ACCELERATOR_FABRIC, fabric,
		       MORPH_A_ACCELERATOR_ID, accelerator, out);
}

MORPH_API int morph_admin_accelerators(struct morph_ctx *ctx, uint32_t fabric,
				       struct morph_list **out)
{
	return dump_one(ctx, MORPH_CMD_ACCELERATOR_GET, MORPH_A_ACCELERATOR_FABRIC, fabric, out);
}

MORPH_API int morph_admin_guide(struct morph_ctx *ctx, uint32_t fabric, uint32_t guide,
				struct morph_object **out)
{
	return get_two(ctx, MORPH_CMD_GUIDE_GET, MORPH_A_GUIDE_FABRIC, fabric, MORPH_A_GUIDE_ID,
		       guide, out);
}

MORPH_API int morph_admin_guides(struct morph_ctx *ctx, uint32_t fabric, struct morph_list **out)
{
	return dump_one(ctx, MORPH_CMD_GUIDE_GET, MORPH_A_GUIDE_FABRIC, fabric, out);
}

MORPH_API int morph_admin_element(struct morph_ctx *ctx, uint32_t fabric, uint32_t element,
				  struct morph_object **out)
{
	return get_two(ctx, MORPH_CMD_ELEMENT_GET, MORPH_A_ELEMENT_FABRIC, fabric,
		       MORPH_A_ELEMENT_ID, element, out);
}

MORPH_API int morph_admin_elements(struct morph_ctx *ctx, uint32_t fabric, struct morph_list **out)
{
	return dump_one(ctx, MORPH_CMD_ELEMENT_GET, MORPH_A_ELEMENT_FABRIC, fabric, out);
}

MORPH_API int morph_admin_edge(struct morph_ctx *ctx, uint32_t fabric, uint32_t edge,
			       struct morph_object **out)
{
	return get_two(ctx, MORPH_CMD_EDGE_GET, MORPH_A_EDGE_FABRIC, fabric, MORPH_A_EDGE_ID, edge,
		       out);
}

MORPH_API int morph_admin_edges(struct morph_ctx *ctx, uint32_t fabric, struct morph_list **out)
{
	return dump_one(ctx, MORPH_CMD_EDGE_GET, MORPH_A_EDGE_FABRIC, fabric, out);
}

/*
 * A reply holds no more than so many ranks or changes; the whole object comes with a
 * dump of it alone. *out is replaced then.
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
		return lm_fail(ctx, ENOENT, "it went away while it was read");
	return error;
}

MORPH_API int morph_admin_slice(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice,
				struct morph_object **out)
{
	struct selector selectors[] = {
		{ MORPH_A_SLICE_FABRIC, fabric },
		{ MORPH_A_SLICE_ID, slice },
	};
	int error = get(ctx, MORPH_CMD_SLICE_GET, selectors, 2, out);

	return error ? error : get_whole(ctx, MORPH_CMD_SLICE_GET, selectors, "rank", out);
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

MORPH_API int morph_admin_slices(struct morph_ctx *ctx, uint32_t fabric, struct morph_list **out)
{
	return dump_one(ctx, MORPH_CMD_SLICE_GET, MORPH_A_SLICE_FABRIC, fabric, out);
}

MORPH_API int morph_admin_circuit(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice,
				  uint32_t circuit, struct morph_object **out)
{
	struct selector selectors[] = {
		{ MORPH_A_CIRCUIT_FABRIC, fabric },
		{ MORPH_A_CIRCUIT_SLICE, slice },
		{ MORPH_A_CIRCUIT_ID, circuit },
	};

	return get(ctx, MORPH_CMD_CIRCUIT_GET, selectors, ARRAY_SIZE(selectors), out);
}

MORPH_API int morph_admin_circuits(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice,
				   struct morph_list **out)
{
	struct selector selectors[] = {
		{ MORPH_A_CIRCUIT_FABRIC, fabric },
		{ MORPH_A_CIRCUIT_SLICE, slice },
	};

	return dump(ctx, MORPH_CMD_CIRCUIT_GET, selectors, ARRAY_SIZE(selectors), out);
}

MORPH_API int morph_admin_txn(struct morph_ctx *ctx, uint32_t fabric, uint32_t txn,
			      struct morph_object **out)
{
	struct selector selectors[] = {
		{ MORPH_A_TXN_FABRIC, fabric },
		{ MORPH_A_TXN_ID, txn },
	};
	int error = get(ctx, MORPH_CMD_TXN_GET, selectors, 2, out);

	return error ? error : get_whole(ctx, MORPH_CMD_TXN_GET, selectors, "change", out);
}

MORPH_API int morph_admin_txns(struct morph_ctx *ctx, uint32_t fabric, struct morph_list **out)
{
	return dump_one(ctx, MORPH_CMD_TXN_GET, MORPH_A_TXN_FABRIC, fabric, out);
}

MORPH_API int morph_admin_hardware(struct morph_ctx *ctx, uint32_t fabric, struct morph_list **out)
{
	return dump_one(ctx, MORPH_CMD_HARDWARE_GET, MORPH_A_HARDWARE_FABRIC, fabric, out);
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

MORPH_API int morph_admin_quotas(struct morph_ctx *ctx, struct morph_list **out)
{
	return dump(ctx, MORPH_CMD_QUOTA_GET, NULL, 0, out);
}

MORPH_API int morph_admin_stats(struct morph_ctx *ctx, uint32_t fabric, struct morph_list **out)
{
	return dump_one(ctx, MORPH_CMD_STATS_GET, MORPH_A_STATS_FABRIC, fabric, out);
}
