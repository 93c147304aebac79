// SPDX-License-Identifier: LGPL-2.1-or-later
/* From netlink messages to objects, and from offsets in messages to names of attributes. */
#include <stdio.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/genetlink.h>
#include <linux/morph_netlink.h>

#include "internal.h"

/* ------------------------------------------------------------------- values */

static int get_uint(const struct nlattr *attr, uint64_t *value)
{
	switch (nla_len(attr)) {
	case 1:
		*value = nla_get_u8(attr);
		return 0;
	case 2:
		*value = nla_get_u16(attr);
		return 0;
	case 4:
		*value = nla_get_u32(attr);
		return 0;
	case 8:
		*value = nla_get_u64((struct nlattr *)attr);
		return 0;
	}
	return -EPROTO;
}

static int64_t sign_extend(uint64_t value, int bytes)
{
	int shift = 64 - 8 * bytes;

	return (int64_t)(value << shift) >> shift;
}

static int decode_attr(struct morph_object *object, const struct lm_attr *schema,
		       const struct nlattr *attr)
{
	struct morph_object *inner;
	uint64_t value;
	int error;

	switch (schema->type) {
	case MORPH_ATTR_UINT:
	case MORPH_ATTR_ENUM:
	case MORPH_ATTR_SINT:
		error = get_uint(attr, &value);
		if (error)
			return error;
		if (schema->type == MORPH_ATTR_SINT)
			return lm_put_sint(object, schema->number,
					   sign_extend(value, nla_len(attr)));
		return lm_put_uint(object, schema->number, value);
	case MORPH_ATTR_FLAG:
		return lm_put_uint(object, schema->number, 1);
	case MORPH_ATTR_STRING:
		return lm_put_text(object, schema->number, nla_data(attr), (size_t)nla_len(attr));
	case MORPH_ATTR_UUID:
		if (nla_len(attr) != MORPH_UUID_BYTES)
			return -EPROTO;
		return lm_put_uuid(object, schema->number, nla_data(attr));
	default:
		inner = lm_object_new(schema->object, morph_object_command(object));
		error = inner ? lm_decode_attrs(inner, nla_data(attr), nla_len(attr)) : -ENOMEM;
		if (!error)
			return lm_put_object(object, schema->number, inner);
		morph_object_free(inner);
		return error;
	}
}

/* Unknown attributes belong to a newer kernel. Ignore them. */
int lm_decode_attrs(struct morph_object *object, const void *attributes, int bytes)
{
	const struct lm_schema *schema = lm_schema(morph_object_type(object));
	const struct nlattr *attr;
	int left;

	nla_for_each_attr(attr, (struct nlattr *)attributes, bytes, left) {
		int slot = lm_schema_slot(schema, (uint32_t)nla_type(attr));
		int error = slot < 0 ? 0 : decode_attr(object, &schema->attrs[slot], attr);

		if (error)
			return error;
	}
	return 0;
}

struct morph_object *lm_decode(struct morph_ctx *ctx, const struct nlmsghdr *header, int *code)
{
	const struct lm_command *command;
	const struct genlmsghdr *genl;
	struct morph_object *object;

	*code = 0;
	if (!ctx->family || header->nlmsg_type != ctx->family)
		return NULL;
	if (!genlmsg_valid_hdr((struct nlmsghdr *)header, 0)) {
		*code = -EPROTO;
		return NULL;
	}
	genl = nlmsg_data(header);
	command = lm_command(genl->cmd);
	if (!command)
		return NULL;
	object = lm_object_new(command->object, command->name);
	*code = object ? lm_decode_attrs(object, genlmsg_attrdata(genl, 0),
					 genlmsg_attrlen(genl, 0)) :
			 -ENOMEM;
	if (!*code)
		return object;
	morph_object_free(object);
	return NULL;
}

/* --------------------------------------------------------------- the family */

static void group_parse(struct morph_ctx *ctx, struct nlattr *entry)
{
	static struct nla_policy policy[CTRL_ATTR_MCAST_GRP_MAX + 1] = {
		[CTRL_ATTR_MCAST_GRP_ID] = { .type = NLA_U32 },
	};
	struct nlattr *attrs[CTRL_ATTR_MCAST_GRP_MAX + 1];

	if (nla_parse_nested(attrs, CTRL_ATTR_MCAST_GRP_MAX, entry, policy) ||
	    !attrs[CTRL_ATTR_MCAST_GRP_NAME] || !attrs[CTRL_ATTR_MCAST_GRP_ID])
		return;
	if (!nla_strcmp(attrs[CTRL_ATTR_MCAST_GRP_NAME], MORPH_MCGRP_MONITOR))
		ctx->monitor_group = nla_get_u32(attrs[CTRL_ATTR_MCAST_GRP_ID]);
}

int lm_family_parse(struct morph_ctx *ctx, const struct nlmsghdr *header)
{
	static struct nla_policy policy[CTRL_ATTR_MAX + 1] = {
		[CTRL_ATTR_FAMILY_ID] = { .type = NLA_U16 },
	};
	struct nlattr *attrs[CTRL_ATTR_MAX + 1];
	struct nlattr *entry;
	int left;

	if (genlmsg_parse((struct nlmsghdr *)header, 0, attrs, CTRL_ATTR_MAX, policy) ||
	    !attrs[CTRL_ATTR_FAMILY_ID])
		return -EPROTO;
	ctx->family = nla_get_u16(attrs[CTRL_ATTR_FAMILY_ID]);
	if (attrs[CTRL_ATTR_MCAST_GROUPS])
		nla_for_each_nested(entry, attrs[CTRL_ATTR_MCAST_GROUPS], left)
			group_parse(ctx, entry);
	return 0;
}

/* -------------------------------------------------------- names of attributes */

static void path_add(char *text, size_t room, const char *name)
{
	size_t used = strlen(text);

	snprintf(text + used, room - used, "%s%s", used ? "." : "", name);
}

/* Walk down to the attribute at @offset. Returns its schema, or NULL. */
static const struct lm_schema *walk(const struct nlmsghdr *request, uint32_t offset, char *text,
				    size_t room)
{
	const struct genlmsghdr *genl = nlmsg_data(request);
	const struct lm_command *command = lm_command(genl->cmd);
	const struct lm_schema *schema = command ? lm_schema(command->object) : NULL;
	const struct nlattr *attr = genlmsg_attrdata(genl, 0);
	int left = genlmsg_attrlen(genl, 0);

	text[0] = '\0';
	while (schema && nla_ok(attr, left)) {
		uint32_t at = (uint32_t)((const char *)attr - (const char *)request);
		int slot;

		if (offset >= at + (uint32_t)nla_total_size(nla_len(attr))) {
			attr = nla_next(attr, &left);
			continue;
		}
		slot = lm_schema_slot(schema, (uint32_t)nla_type(attr));
		if (slot < 0)
			return NULL;
		path_add(text, room, schema->attrs[slot].name);
		schema = lm_schema(schema->attrs[slot].object);
		if (offset <= at || !schema)
			return schema;
		left = nla_len(attr);
		attr = nla_data(attr);
	}
	return NULL;
}

void lm_attr_path(const struct nlmsghdr *request, uint32_t offset, char *text, size_t room)
{
	walk(request, offset, text, room);
}

void lm_missing_path(const struct nlmsghdr *request, uint32_t nest, uint32_t number, char *text,
		     size_t room)
{
	const struct genlmsghdr *genl = nlmsg_data(request);
	const struct lm_command *command = lm_command(genl->cmd);
	const struct lm_schema *schema = command ? lm_schema(command->object) : NULL;
	int slot;

	text[0] = '\0';
	if (nest)
		schema = walk(request, nest, text, room);
	slot = schema ? lm_schema_slot(schema, number) : -1;
	if (slot >= 0)
		path_add(text, room, schema->attrs[slot].name);
}

/* ---------------------------------------------------------------- verdicts */

int lm_verdict(struct morph_ctx *ctx, const struct morph_object *txn, const char *format, ...)
{
	struct lm_error *error = &ctx->error;
	int status = morph_object_sint(txn, "status");
	const char *text = morph_object_text(txn, "text");
	va_list arguments;

	if (!status)
		return 0;
	lm_error_clear(ctx);
	error->reason = morph_object_uint(txn, "reason");
	error->part = morph_object_uint(txn, "part");
	error->index = morph_object_has(txn, "index") ? morph_object_uint(txn, "index") : MORPH_ANY;
	error->have = morph_object_sint(txn, "have");
	error->need = morph_object_sint(txn, "need");
	snprintf(error->kernel, sizeof(error->kernel), "%s", text ? text : "");
	lm_ask_planes(ctx, morph_object_uint(txn, "fabric"));
	va_start(arguments, format);
	lm_fail_kernel(ctx, status < 0 ? -status : EPROTO, format, arguments);
	va_end(arguments);
	return status < 0 ? status : -EPROTO;
}
