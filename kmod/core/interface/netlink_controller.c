// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: controllers and their reservations. Administrators only. */
#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"
#include "netlink.h"

#define CONTROLLER_BYTES	256
#define RESERVATION_BYTES	192

static int fill_controller(struct morph_nl_to *to, struct morph_fabric *fabric,
			   const struct morph_controller *controller, u32 state)
{
	struct sk_buff *skb = to->skb;
	bool failed;
	void *header;

	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_CONTROLLER_FABRIC, fabric->id) ||
		 nla_put_u32(skb, MORPH_A_CONTROLLER_ID, controller->id) ||
		 nla_put_u64_64bit(skb, MORPH_A_CONTROLLER_EPOCH, controller->epoch,
				   MORPH_A_CONTROLLER_PAD) ||
		 nla_put_u32(skb, MORPH_A_CONTROLLER_STATE, state) ||
		 nla_put_u64_64bit(skb, MORPH_A_CONTROLLER_LEASE_NS,
				   morph_controller_lease_left(controller),
				   MORPH_A_CONTROLLER_PAD) ||
		 nla_put_u32(skb, MORPH_A_CONTROLLER_SLICES,
			     morph_controller_slices(fabric, controller->id)) ||
		 nla_put_u32(skb, MORPH_A_CONTROLLER_LANES_COUNT, controller->lanes_count) ||
		 nla_put_u64_64bit(skb, MORPH_A_CONTROLLER_RESERVATIONS, controller->granted,
				   MORPH_A_CONTROLLER_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_CONTROLLER_CONFLICTS, controller->conflicts,
				   MORPH_A_CONTROLLER_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_CONTROLLER_SEQ, fabric->seq,
				   MORPH_A_CONTROLLER_PAD);
	return morph_nl_end(to, header, failed);
}

static u32 state_now(const struct morph_controller *controller)
{
	return morph_controller_lease_left(controller) ? MORPH_CONTROLLER_ACTIVE :
							 MORPH_CONTROLLER_EXPIRED;
}

void morph_netlink_controller(struct morph_fabric *fabric,
			      const struct morph_controller *controller, u32 state)
{
	struct morph_nl_to to;

	if (morph_nl_notify_begin(&to, MORPH_CMD_CONTROLLER_NTF, CONTROLLER_BYTES))
		morph_nl_notify_end(&to, fill_controller(&to, fabric, controller, state));
}

/* ------------------------------------------------------------------ look-ups */

/* Fill the message that was begun with a controller, and send it. */
static int send_controller(struct morph_nl_to *to, struct genl_info *info,
			   struct morph_fabric *fabric, u32 id)
{
	struct morph_controller *controller;
	struct morph_refusal refusal = {};
	int ret;

	morph_fabric_lock(fabric);
	controller = morph_controller_find(fabric, id, &refusal);
	ret = PTR_ERR_OR_ZERO(controller);
	if (!ret)
		ret = fill_controller(to, fabric, controller, state_now(controller));
	morph_fabric_unlock(fabric);
	if (ret == -ENOENT)
		morph_nl_refuse(info, ret, &refusal, info->attrs[MORPH_A_CONTROLLER_ID]);
	return morph_nl_reply_end(to, info, ret);
}

/* A request whose required attributes are all present. */
struct ask {
	u32 id;
	u64 epoch, lease_ns;
};

static int read_id(struct genl_info *info, struct ask *ask)
{
	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_CONTROLLER_ID)) {
		NL_SET_ERR_MSG(info->extack, "the id of the controller is missing");
		return -EINVAL;
	}
	ask->id = nla_get_u32(info->attrs[MORPH_A_CONTROLLER_ID]);
	return 0;
}

static int read_ask(struct genl_info *info, struct ask *ask)
{
	int ret = read_id(info, ask);

	if (ret)
		return ret;
	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_CONTROLLER_EPOCH) ||
	    GENL_REQ_ATTR_CHECK(info, MORPH_A_CONTROLLER_LEASE_NS)) {
		NL_SET_ERR_MSG(info->extack, "taking control requires an epoch and a lease");
		return -EINVAL;
	}
	ask->epoch = nla_get_u64(info->attrs[MORPH_A_CONTROLLER_EPOCH]);
	ask->lease_ns = nla_get_u64(info->attrs[MORPH_A_CONTROLLER_LEASE_NS]);
	if (morph_lease_ok(ask->lease_ns))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[MORPH_A_CONTROLLER_LEASE_NS],
			    "a lease must be 1 ms to 1 hour long");
	return -EINVAL;
}

static int get_controller(struct genl_info *info, struct morph_fabric *fabric)
{
	struct morph_nl_to to;
	struct ask ask;
	int ret;

	ret = read_id(info, &ask);
	if (!ret)
		ret = morph_nl_reply_begin(&to, info, CONTROLLER_BYTES);
	return ret ? ret : send_controller(&to, info, fabric, ask.id);
}

/* Run the request on the fabric that @attr names. */
static int on_fabric(struct genl_info *info, int attr,
		     int (*act)(struct genl_info *info, struct morph_fabric *fabric))
{
	struct morph_fabric *fabric = morph_nl_find_fabric(info, attr);
	int ret;

	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	ret = act(info, fabric);
	put_device(&fabric->dev);
	return ret;
}

int morph_nl_controller_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return on_fabric(info, MORPH_A_CONTROLLER_FABRIC, get_controller);
}

static int dump_controllers(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
			    struct morph_fabric *fabric)
{
	struct morph_controller *controller;
	unsigned long id;
	int ret = 0;

	morph_fabric_lock(fabric);
	morph_nl_dump_seq(to, cursor, fabric);
	xa_for_each_start(&slices_of(fabric)->controllers, id, controller, cursor->index) {
		cursor->index = id;
		ret = fill_controller(to, fabric, controller, state_now(controller));
		if (ret)
			break;
	}
	morph_fabric_unlock(fabric);
	return ret;
}

int morph_nl_controller_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	int ret = morph_nl_dump_lacks(cb, MORPH_A_CONTROLLER_ID);

	return ret ? ret : morph_nl_dump(skb, cb, MORPH_CMD_CONTROLLER_GET,
					 MORPH_A_CONTROLLER_FABRIC, dump_controllers);
}

/* ------------------------------------------------------------------ actions */

/* The attribute that caused a refusal. */
static const struct nlattr *culprit(struct genl_info *info, int error)
{
	return info->attrs[error == -ENOENT || error == -ENOSPC ? MORPH_A_CONTROLLER_ID :
								  MORPH_A_CONTROLLER_EPOCH];
}

static int take_or_renew(struct genl_info *info, struct morph_fabric *fabric)
{
	bool take = info->genlhdr->cmd == MORPH_CMD_CONTROLLER_TAKE;
	struct morph_refusal refusal = {};
	struct morph_nl_answer answer;
	struct ask ask;
	int ret;

	ret = read_ask(info, &ask);
	if (!ret)
		ret = morph_nl_answer_begin(&answer, info, MORPH_CMD_CONTROLLER_NTF,
					    CONTROLLER_BYTES);
	if (ret)
		return ret;
	if (take)
		ret = morph_controller_take(fabric, ask.id, ask.epoch, ask.lease_ns,
					    nla_get_flag(info->attrs[MORPH_A_CONTROLLER_FORCE]),
					    &refusal);
	else
		ret = morph_controller_renew(fabric, ask.id, ask.epoch, ask.lease_ns, &refusal);
	if (ret) {
		morph_nl_refuse(info, ret, &refusal, culprit(info, ret));
		return morph_nl_answer_drop(&answer, ret);
	}
	if (answer.echo.skb)
		send_controller(&answer.echo, info, fabric, ask.id);
	return send_controller(&answer.reply, info, fabric, ask.id);
}

int morph_nl_controller_take_doit(struct sk_buff *skb, struct genl_info *info)
{
	return on_fabric(info, MORPH_A_CONTROLLER_FABRIC, take_or_renew);
}

int morph_nl_controller_renew_doit(struct sk_buff *skb, struct genl_info *info)
{
	return on_fabric(info, MORPH_A_CONTROLLER_FABRIC, take_or_renew);
}

static int drop_controller(struct genl_info *info, struct morph_fabric *fabric)
{
	struct morph_refusal refusal = {};
	struct morph_controller last;
	struct morph_nl_to echo = {};
	struct ask ask;
	int ret;

	ret = read_id(info, &ask);
	if (!ret && morph_nl_wants_echo(info))
		ret = morph_nl_reply_begin(&echo, info, CONTROLLER_BYTES);
	if (ret)
		return ret;
	echo.cmd = MORPH_CMD_CONTROLLER_NTF;
	ret = morph_controller_drop(fabric, ask.id, &last, &refusal);
	if (ret) {
		nlmsg_free(echo.skb);
		return morph_nl_refuse(info, ret, &refusal, info->attrs[MORPH_A_CONTROLLER_ID]);
	}
	if (!echo.skb)
		return 0;
	morph_fabric_lock(fabric);
	ret = fill_controller(&echo, fabric, &last, MORPH_CONTROLLER_GONE);
	morph_fabric_unlock(fabric);
	return morph_nl_reply_end(&echo, info, ret);
}

int morph_nl_controller_drop_doit(struct sk_buff *skb, struct genl_info *info)
{
	return on_fabric(info, MORPH_A_CONTROLLER_FABRIC, drop_controller);
}

static int settle(struct genl_info *info, struct morph_fabric *fabric)
{
	struct morph_refusal refusal = {};
	struct morph_nl_to reply;
	struct ask ask;
	int ret;

	ret = read_id(info, &ask);
	if (ret)
		return ret;
	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_CONTROLLER_EPOCH)) {
		NL_SET_ERR_MSG(info->extack, "the current epoch is missing");
		return -EINVAL;
	}
	ret = morph_nl_reply_begin(&reply, info, CONTROLLER_BYTES);
	if (ret)
		return ret;
	ret = morph_controller_settle(fabric, ask.id,
				      nla_get_u64(info->attrs[MORPH_A_CONTROLLER_EPOCH]), &refusal);
	if (!ret)
		return send_controller(&reply, info, fabric, ask.id);
	morph_nl_refuse(info, ret, &refusal, culprit(info, ret));
	return morph_nl_reply_end(&reply, info, ret);
}

int morph_nl_controller_settle_doit(struct sk_buff *skb, struct genl_info *info)
{
	return on_fabric(info, MORPH_A_CONTROLLER_FABRIC, settle);
}

/* ------------------------------------------------------------- reservations */

/* Without a reservation of the guide, the epoch is 0. */
static int fill_reservation(struct morph_nl_to *to, struct morph_fabric *fabric,
			    struct morph_controller *controller, u32 guide)
{
	struct morph_reservation *reservation = xa_load(&controller->reservations, guide);
	struct sk_buff *skb = to->skb;
	bool failed;
	void *header;

	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_RESERVATION_FABRIC, fabric->id) ||
		 nla_put_u32(skb, MORPH_A_RESERVATION_CONTROLLER, controller->id) ||
		 nla_put_u32(skb, MORPH_A_RESERVATION_GUIDE, guide) ||
		 nla_put_u64_64bit(skb, MORPH_A_RESERVATION_EPOCH,
				   reservation ? reservation->epoch : 0, MORPH_A_RESERVATION_PAD) ||
		 nla_put_u32(skb, MORPH_A_RESERVATION_LANES_COUNT,
			     optics_weight64(controller->lanes[guide])) ||
		 nla_put_u64_64bit(skb, MORPH_A_RESERVATION_LANES, controller->lanes[guide],
				   MORPH_A_RESERVATION_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_RESERVATION_SEQ, fabric->seq,
				   MORPH_A_RESERVATION_PAD);
	return morph_nl_end(to, header, failed);
}

/* Send the reservation of a controller on a guide, which may be empty. */
static int send_reservation(struct morph_nl_to *to, struct genl_info *info,
			    struct morph_fabric *fabric, u32 id, u32 guide)
{
	struct morph_refusal refusal = {};
	struct morph_controller *controller;
	int ret;

	morph_fabric_lock(fabric);
	controller = morph_controller_find(fabric, id, &refusal);
	ret = PTR_ERR_OR_ZERO(controller);
	if (!ret)
		ret = fill_reservation(to, fabric, controller, guide);
	morph_fabric_unlock(fabric);
	if (ret == -ENOENT)
		morph_nl_refuse(info, ret, &refusal, info->attrs[MORPH_A_RESERVATION_CONTROLLER]);
	return morph_nl_reply_end(to, info, ret);
}

/* Read the controller and the guide of a request. */
static int read_place(struct genl_info *info, struct morph_fabric *fabric,
		      struct morph_lanes_wanted *wanted)
{
	int ret;

	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_RESERVATION_CONTROLLER)) {
		NL_SET_ERR_MSG(info->extack, "the id of the controller is missing");
		return -EINVAL;
	}
	ret = morph_nl_check_index(info, MORPH_A_RESERVATION_GUIDE, MORPH_PART_GUIDE,
				   fabric->graph->guides_count);
	if (ret)
		return ret;
	wanted->controller = nla_get_u32(info->attrs[MORPH_A_RESERVATION_CONTROLLER]);
	wanted->guide = nla_get_u32(info->attrs[MORPH_A_RESERVATION_GUIDE]);
	return 0;
}

static int get_reservation(struct genl_info *info, struct morph_fabric *fabric)
{
	struct morph_lanes_wanted wanted;
	struct morph_nl_to to;
	int ret;

	ret = read_place(info, fabric, &wanted);
	if (!ret)
		ret = morph_nl_reply_begin(&to, info, RESERVATION_BYTES);
	return ret ? ret : send_reservation(&to, info, fabric, wanted.controller, wanted.guide);
}

static int read_wanted(struct genl_info *info, struct morph_fabric *fabric,
		       struct morph_lanes_wanted *wanted)
{
	int ret = read_place(info, fabric, wanted);

	if (ret)
		return ret;
	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_RESERVATION_EPOCH) ||
	    GENL_REQ_ATTR_CHECK(info, MORPH_A_RESERVATION_LANES_COUNT)) {
		NL_SET_ERR_MSG(info->extack, "a reservation requires epoch and lanes-count");
		return -EINVAL;
	}
	wanted->epoch = nla_get_u64(info->attrs[MORPH_A_RESERVATION_EPOCH]);
	wanted->count = nla_get_u32(info->attrs[MORPH_A_RESERVATION_LANES_COUNT]);
	wanted->among = morph_nl_get_u64(info, MORPH_A_RESERVATION_LANES, U64_MAX);
	return 0;
}

/* The attribute that caused a refusal. */
static const struct nlattr *wanted_culprit(struct genl_info *info,
					   const struct morph_refusal *refusal)
{
	if (refusal->part == MORPH_PART_GUIDE)
		return info->attrs[MORPH_A_RESERVATION_GUIDE];
	if (refusal->error == -ENOENT)
		return info->attrs[MORPH_A_RESERVATION_CONTROLLER];
	return info->attrs[refusal->reason == MORPH_REASON_CONTROLLER ?
				   MORPH_A_RESERVATION_EPOCH : MORPH_A_RESERVATION_LANES_COUNT];
}

static int set_reservation(struct genl_info *info, struct morph_fabric *fabric)
{
	struct morph_refusal refusal = {};
	struct morph_lanes_wanted wanted;
	struct morph_nl_to reply;
	int ret;

	ret = read_wanted(info, fabric, &wanted);
	if (!ret)
		ret = morph_nl_reply_begin(&reply, info, RESERVATION_BYTES);
	if (ret)
		return ret;
	ret = morph_controller_reserve(fabric, &wanted, &refusal);
	if (!ret)
		return send_reservation(&reply, info, fabric, wanted.controller, wanted.guide);
	morph_nl_refuse(info, ret, &refusal, wanted_culprit(info, &refusal));
	return morph_nl_reply_end(&reply, info, ret);
}

int morph_nl_reservation_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return on_fabric(info, MORPH_A_RESERVATION_FABRIC, get_reservation);
}

int morph_nl_reservation_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return on_fabric(info, MORPH_A_RESERVATION_FABRIC, set_reservation);
}

/* Dump from the cursor on: its index is the controller, its sub the guide. */
static int dump_reservations(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
			     struct morph_fabric *fabric)
{
	const struct nlattr *only = genl_info_dump(to->cb)->attrs[MORPH_A_RESERVATION_CONTROLLER];
	unsigned long id, guide, last = only ? nla_get_u32(only) : U32_MAX;
	struct morph_reservation *reservation;
	struct morph_controller *controller;
	int ret = 0;

	if (only && cursor->index < last)
		cursor->index = last;
	morph_fabric_lock(fabric);
	morph_nl_dump_seq(to, cursor, fabric);
	xa_for_each_range(&slices_of(fabric)->controllers, id, controller, cursor->index, last) {
		if (id != cursor->index)
			cursor->sub = 0;
		cursor->index = id;
		xa_for_each_start(&controller->reservations, guide, reservation, cursor->sub) {
			cursor->sub = guide;
			ret = fill_reservation(to, fabric, controller, guide);
			if (ret)
				goto out;
		}
		cursor->sub = 0;
	}
out:
	morph_fabric_unlock(fabric);
	return ret;
}

int morph_nl_reservation_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	int ret = morph_nl_dump_lacks(cb, MORPH_A_RESERVATION_GUIDE);

	return ret ? ret : morph_nl_dump(skb, cb, MORPH_CMD_RESERVATION_GET,
					 MORPH_A_RESERVATION_FABRIC, dump_reservations);
}
