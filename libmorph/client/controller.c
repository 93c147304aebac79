// SPDX-License-Identifier: LGPL-2.1-or-later
/* Several controllers of one fabric: requests over netlink. */
#include <netlink/attr.h>

#include <linux/morph_netlink.h>

#include "internal.h"

/* Limit of a request here: numbers of 8 bytes with their headers. */
#define REQUEST_BYTES (7 * 12)

/* Begin a request with the fabric in @attribute, unless it is MORPH_ANY. */
static struct nl_msg *begin(struct morph_ctx *ctx, uint32_t command, int attribute, uint32_t fabric)
{
	struct nl_msg *request = lm_request(ctx, command, REQUEST_BYTES);

	if (request && fabric != MORPH_ANY)
		nla_put_u32(request, attribute, fabric);
	return request;
}

/* Begin a request about a controller. */
static struct nl_msg *about(struct morph_ctx *ctx, uint32_t command, uint32_t fabric,
			    uint32_t controller)
{
	struct nl_msg *request = begin(ctx, command, MORPH_A_CONTROLLER_FABRIC, fabric);

	if (request)
		nla_put_u32(request, MORPH_A_CONTROLLER_ID, controller);
	return request;
}

MORPH_API int morph_controller_take(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller,
				    uint64_t epoch, uint64_t lease_ns, uint32_t flags,
				    struct morph_object **out)
{
	bool renew = flags == MORPH_TAKE_RENEW;
	struct nl_msg *request;

	if (out)
		*out = NULL;
	if (flags & ~MORPH_TAKE_FORCE && !renew)
		return lm_fail(ctx, EINVAL,
			       "flags of taking control are 0x%x: neither 0x%x nor 0x%x", flags,
			       MORPH_TAKE_FORCE, MORPH_TAKE_RENEW);
	request = about(ctx, renew ? MORPH_CMD_CONTROLLER_RENEW : MORPH_CMD_CONTROLLER_TAKE, fabric,
			controller);
	if (!request)
		return -ctx->error.code;
	nla_put_u64(request, MORPH_A_CONTROLLER_EPOCH, epoch);
	nla_put_u64(request, MORPH_A_CONTROLLER_LEASE_NS, lease_ns);
	if (flags & MORPH_TAKE_FORCE)
		nla_put_flag(request, MORPH_A_CONTROLLER_FORCE);
	if (renew)
		return lm_do(ctx, request, out, "renew the lease of controller %u", controller);
	return lm_do(ctx, request, out, "take control as controller %u", controller);
}

MORPH_API int morph_controller_drop(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller)
{
	struct nl_msg *request = about(ctx, MORPH_CMD_CONTROLLER_DROP, fabric, controller);

	return request ? lm_do(ctx, request, NULL, "drop controller %u", controller) :
			 -ctx->error.code;
}

MORPH_API int morph_controller_reserve(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller,
				       uint64_t epoch, uint32_t guide, uint32_t count,
				       uint64_t among, struct morph_object **out)
{
	struct nl_msg *request =
		begin(ctx, MORPH_CMD_RESERVATION_SET, MORPH_A_RESERVATION_FABRIC, fabric);

	if (out)
		*out = NULL;
	if (!request)
		return -ctx->error.code;
	nla_put_u32(request, MORPH_A_RESERVATION_CONTROLLER, controller);
	nla_put_u32(request, MORPH_A_RESERVATION_GUIDE, guide);
	nla_put_u64(request, MORPH_A_RESERVATION_EPOCH, epoch);
	nla_put_u32(request, MORPH_A_RESERVATION_LANES_COUNT, count);
	if (among)
		nla_put_u64(request, MORPH_A_RESERVATION_LANES, among);
	return lm_do(ctx, request, out, "reserve %u lanes of guide %u", count, guide);
}

MORPH_API int morph_controller_settle(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller,
				      uint64_t epoch, struct morph_object **out)
{
	struct nl_msg *request = about(ctx, MORPH_CMD_CONTROLLER_SETTLE, fabric, controller);

	if (out)
		*out = NULL;
	if (!request)
		return -ctx->error.code;
	nla_put_u64(request, MORPH_A_CONTROLLER_EPOCH, epoch);
	return lm_do(ctx, request, out, "settle the reservations of controller %u", controller);
}
