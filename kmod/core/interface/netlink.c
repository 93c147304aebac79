// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink family: its structure, and functions shared by its commands.
 *
 * Handlers hold fabric->lock only while they read or stage, and never wait for a device: they queue
 * longer work and return the id of a transaction. The family is in the initial network namespace
 * only. Policies and the table of operations are generated from
 * Documentation/netlink/specs/morph.yaml. The structure of the family is written by hand, because
 * the generator does not support the capability of the monitor group.
 */
#include <linux/module.h>
#include <net/net_namespace.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/slice/slice.h"
#include "netlink.h"

enum { MORPH_NLGRP_MONITOR };

static const struct genl_multicast_group morph_nl_groups[] = {
	[MORPH_NLGRP_MONITOR] = {
		.name = MORPH_MCGRP_MONITOR,
		.flags = GENL_MCAST_CAP_NET_ADMIN,
	},
};

struct genl_family morph_nl_family __ro_after_init = {
	.name = MORPH_FAMILY_NAME,
	.version = MORPH_FAMILY_VERSION,
	.netnsok = false,
	.parallel_ops = true,		/* handlers take fabric->lock */
	.module = THIS_MODULE,
	.ops = morph_nl_ops,
	.n_ops = ARRAY_SIZE(morph_nl_ops),
	.resv_start_op = 1,		/* strict validation for all commands */
	.mcgrps = morph_nl_groups,
	.n_mcgrps = ARRAY_SIZE(morph_nl_groups),
};

/* ----------------------------------------------------------------- refusals */

/* Sentences for the core's own reasons; optics has its own. */
static const char * const core_sentences[] = {
	[MORPH_REASON_ACCELERATORS] = "too few accelerators are free",
	[MORPH_REASON_ACCELERATOR_HELD] = "the accelerator belongs to a slice",
	[MORPH_REASON_ACCELERATOR_UNFIT] = "the accelerator is not healthy, or cordoned",
	[MORPH_REASON_NO_SPARE] = "no spare that the slice allows is free and healthy",
	[MORPH_REASON_QUOTA] = "the user's quota is used up",
	[MORPH_REASON_GENERATION] = "the slice has another generation; read it again",
	[MORPH_REASON_STATE] = "the object is not in a state that allows this",
	[MORPH_REASON_HARDWARE] = "hardware did not obey a command",
	[MORPH_REASON_TIMEOUT] = "the hardware did not answer in time",
	[MORPH_REASON_IDENTITY] = "the known accelerator was removed or replaced",
	[MORPH_REASON_ARGUMENT] = "an attribute has a value that is not valid here",
	[MORPH_REASON_PEER] = "no light arrives from the fabric on the other side of an edge",
	[MORPH_REASON_CONTROLLER] = "another controller or another epoch controls this object",
};

/* A fixed sentence for each reason. */
static const char *reason_sentence(u32 reason)
{
	if (reason < ARRAY_SIZE(core_sentences) && core_sentences[reason])
		return core_sentences[reason];
	return optics_reason_text(reason);
}

static const char *errno_sentence(int error)
{
	switch (error) {
	case -ENODEV:
		return "the fabric or the slice is gone";
	case -EAGAIN:
		return "the slice is being changed or repaired; try again";
	case -ENOENT:
		return "no such object";
	default:
		return NULL;
	}
}

/*
 * Put the numbers of a refusal into the cookie. In net/netlink/af_netlink.c, netlink_ack_tlv_fill()
 * sends the cookie of errors too, also in 6.1. netlink_dump_done() sends it only since 6.10.
 */
static void set_cookie(struct netlink_ext_ack *extack, const struct morph_refusal *refusal)
{
	const struct morph_refusal_cookie cookie = {
		.reason = refusal->reason,
		.part = refusal->part,
		.index = refusal->index,
		.have = clamp_t(s64, refusal->have, S32_MIN, S32_MAX),
		.need = clamp_t(s64, refusal->need, S32_MIN, S32_MAX),
	};

	BUILD_BUG_ON(sizeof(cookie) > sizeof(extack->cookie));
	memcpy(extack->cookie, &cookie, sizeof(cookie));
	extack->cookie_len = sizeof(cookie);
}

/**
 * morph_nl_refuse() - report the reason for a refusal
 * @info: the request
 * @error: negative errno to answer
 * @refusal: the core's refusal
 * @attr: the attribute that caused the refusal, or NULL; used only if the core gave a reason
 *
 * The sentence is the fixed one of the refusal or of its reason, because 6.1 cannot format it. Its
 * numbers are in the cookie.
 *
 * Return: @error.
 */
int morph_nl_refuse(struct genl_info *info, int error, const struct morph_refusal *refusal,
		    const struct nlattr *attr)
{
	struct netlink_ext_ack *extack = info->extack;

	if (!extack)
		return error;
	if (!refusal->reason) {
		extack->_msg = errno_sentence(error);
		return error;
	}
	if (attr)
		NL_SET_BAD_ATTR(extack, attr);
	extack->_msg = refusal->fixed ?: reason_sentence(refusal->reason);
	set_cookie(extack, refusal);
	return error;
}

/* Refuse a value of a request; the arguments are those of morph_refuse_numbers(). */
int morph_nl_refuse_numbers(struct genl_info *info, int error, const struct nlattr *attr,
			    u32 index, s64 have, s64 need, const char *fixed)
{
	struct morph_refusal refusal = {};

	morph_refuse_numbers(&refusal, error, MORPH_REASON_ARGUMENT, MORPH_PART_NONE, index, have,
			     need, fixed);
	return morph_nl_refuse(info, error, &refusal, attr);
}

/* ---------------------------------------------------------------- look-ups */

static u32 count_fabrics(void)
{
	struct morph_fabric *fabric;
	u32 count = 0, id;

	for (id = 0; (fabric = morph_fabric_next(&id)); id++, count++)
		put_device(&fabric->dev);
	return count;
}

/* The fabric that an attribute names, with a reference; or an ERR_PTR, and the reason in @info. */
struct morph_fabric *morph_nl_find_fabric(struct genl_info *info, int attr)
{
	struct morph_fabric *fabric;
	u32 id;

	if (GENL_REQ_ATTR_CHECK(info, attr)) {
		NL_SET_ERR_MSG(info->extack, "the id of the fabric is missing");
		return ERR_PTR(-EINVAL);
	}
	id = nla_get_u32(info->attrs[attr]);
	fabric = morph_fabric_find(id);
	if (fabric)
		return fabric;
	return ERR_PTR(morph_nl_refuse_numbers(info, -ENOENT, info->attrs[attr], id,
					       count_fabrics(), 0,
					       "no fabric {index} (fabrics: {have})"));
}

/* The slice that an attribute names, with a reference; or an ERR_PTR, and the reason in @info. */
struct morph_slice *morph_nl_find_slice(struct genl_info *info, struct morph_fabric *fabric,
					int attr)
{
	struct morph_slice *slice = NULL;
	u32 number;

	if (GENL_REQ_ATTR_CHECK(info, attr)) {
		NL_SET_ERR_MSG(info->extack, "the id of the slice is missing");
		return ERR_PTR(-EINVAL);
	}
	number = nla_get_u32(info->attrs[attr]);
	if (number != MORPH_ANY)
		slice = morph_slice_find(fabric, number, NULL);
	if (slice)
		return slice;
	return ERR_PTR(morph_nl_refuse_numbers(info, -ENOENT, info->attrs[attr], number,
					       READ_ONCE(ledger_of(fabric)->slices_count), 0,
					       "no slice {index} (slices: {have})"));
}

/* Check that an attribute is present and holds an index of a part, which is below @count. */
int morph_nl_check_index(struct genl_info *info, int attr, u32 part, u32 count)
{
	struct morph_refusal refusal = {};
	u32 index;

	if (GENL_REQ_ATTR_CHECK(info, attr)) {
		NL_SET_ERR_MSG(info->extack, "the index of the object is missing");
		return -EINVAL;
	}
	index = nla_get_u32(info->attrs[attr]);
	if (index < count)
		return 0;
	morph_refuse_index(&refusal, part, index, count);
	return morph_nl_refuse(info, -ENOENT, &refusal, info->attrs[attr]);
}

/* ----------------------------------------------------------------- messages */

/* Begin a message; return its head, or NULL if it does not fit. */
void *morph_nl_begin(struct morph_nl_to *to)
{
	return genlmsg_put(to->skb, to->portid, to->seq, &morph_nl_family, to->flags, to->cmd);
}

/* End a message, or remove it if it failed. */
int morph_nl_end(struct morph_nl_to *to, void *header, bool failed)
{
	if (failed) {
		genlmsg_cancel(to->skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(to->skb, header);
	return 0;
}

/* Allocate the reply before any action, so that the result of an action can be reported. */
int morph_nl_reply_begin(struct morph_nl_to *to, struct genl_info *info, size_t bytes)
{
	*to = (struct morph_nl_to) {
		.skb = genlmsg_new(bytes, GFP_KERNEL),
		.portid = info->snd_portid,
		.seq = info->snd_seq,
		.cmd = info->genlhdr->cmd,
	};
	return to->skb ? 0 : -ENOMEM;
}

/* Send the reply, or drop it if @ret is an error. Return @ret or the error of sending. */
int morph_nl_reply_end(struct morph_nl_to *to, struct genl_info *info, int ret)
{
	if (!ret)
		return genlmsg_reply(to->skb, info);
	nlmsg_free(to->skb);
	return ret;
}

/* Allocate the reply and the notification; if that fails, the request changes nothing. */
int morph_nl_answer_begin(struct morph_nl_answer *answer, struct genl_info *info, u8 ntf,
			  size_t bytes)
{
	int ret;

	answer->echo.skb = NULL;
	ret = morph_nl_reply_begin(&answer->reply, info, bytes);
	if (ret || !morph_nl_wants_echo(info))
		return ret;
	ret = morph_nl_reply_begin(&answer->echo, info, bytes);
	answer->echo.cmd = ntf;
	return ret ? morph_nl_answer_drop(answer, ret) : 0;
}

/* Drop the reply of a request that failed with @ret. Return @ret. */
int morph_nl_answer_drop(struct morph_nl_answer *answer, int ret)
{
	nlmsg_free(answer->echo.skb);
	nlmsg_free(answer->reply.skb);
	return ret;
}

/* Return whether there are listeners and memory. Otherwise listeners get ENOBUFS. */
bool morph_nl_notify_begin(struct morph_nl_to *to, u8 cmd, size_t bytes)
{
	if (!genl_has_listeners(&morph_nl_family, &init_net, MORPH_NLGRP_MONITOR))
		return false;
	*to = (struct morph_nl_to) {
		.skb = genlmsg_new(bytes, GFP_KERNEL),
		.cmd = cmd,
		.admin = true,		/* only administrators are in the group */
	};
	if (to->skb)
		return true;
	genl_set_err(&morph_nl_family, &init_net, 0, MORPH_NLGRP_MONITOR, -ENOBUFS);
	return false;
}

void morph_nl_notify_end(struct morph_nl_to *to, int ret)
{
	if (WARN_ON_ONCE(ret)) {	/* the computed size was too small */
		nlmsg_free(to->skb);
		return;
	}
	genlmsg_multicast_netns(&morph_nl_family, &init_net, to->skb, 0, MORPH_NLGRP_MONITOR,
				GFP_KERNEL);
}

int morph_nl_put_times(struct sk_buff *skb, int attr, const struct morph_times *times)
{
	struct nlattr *nest;
	u32 phase;

	BUILD_BUG_ON(MORPH_A_TIMES_NOTIFY_NS - MORPH_A_TIMES_DETECT_NS != MORPH_PHASE_NOTIFY);
	nest = nla_nest_start(skb, attr);
	if (!nest)
		return -EMSGSIZE;
	for (phase = 0; phase < MORPH_PHASE_COUNT; phase++)
		if (nla_put_u64_64bit(skb, MORPH_A_TIMES_DETECT_NS + phase, times->phase_ns[phase],
				      MORPH_A_TIMES_PAD))
			return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, MORPH_A_TIMES_PROVIDER_NS, times->provider_ns,
			      MORPH_A_TIMES_PAD) ||
	    nla_put_u64_64bit(skb, MORPH_A_TIMES_MODELLED_NS, times->modelled_ns,
			      MORPH_A_TIMES_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* -------------------------------------------------------------------- dumps */

/* Refuse an attribute that names one object, because a dump would ignore it. */
int morph_nl_dump_lacks(struct netlink_callback *cb, int attr)
{
	struct nlattr *found = genl_info_dump(cb)->attrs[attr];

	if (!found)
		return 0;
	NL_SET_ERR_MSG_ATTR(cb->extack, found, "a dump does not take this attribute");
	return -EINVAL;
}

/*
 * The messages that follow have this seq. If the seq of a fabric changes during its dump, the dump
 * is inconsistent. From then on all messages carry NLM_F_DUMP_INTR, including the end, because any
 * one may be removed again if it does not fit. Caller holds fabric->lock.
 */
void morph_nl_dump_seq(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
		       struct morph_fabric *fabric)
{
	if (cursor->seq_fabric == fabric->id && cursor->seq != fabric->seq)
		cursor->torn = true;
	cursor->seq_fabric = fabric->id;
	cursor->seq = fabric->seq;
	if (cursor->torn)
		to->flags |= NLM_F_DUMP_INTR;
}

/* The fabric to dump now, with a reference, or NULL at the end. */
static struct morph_fabric *dump_fabric(struct morph_nl_cursor *cursor)
{
	struct morph_fabric *fabric;
	u32 id = cursor->fabric;

	if (cursor->done)
		return NULL;
	if (cursor->only != MORPH_ANY)
		fabric = morph_fabric_find(id);
	else
		fabric = morph_fabric_next(&id);
	if (!fabric || id != cursor->fabric) {
		if (cursor->inside)	/* it unregistered during its dump */
			cursor->torn = true;
		cursor->inside = false;
		cursor->index = 0;
		cursor->sub = 0;
	}
	cursor->fabric = id;
	return fabric;
}

static int dump_begin(struct netlink_callback *cb, struct morph_nl_cursor *cursor, int attr)
{
	struct nlattr *only = genl_info_dump(cb)->attrs[attr];
	struct morph_fabric *fabric;

	cursor->begun = true;
	cursor->only = MORPH_ANY;
	cursor->seq_fabric = MORPH_ANY;
	if (!only)
		return 0;
	cursor->only = nla_get_u32(only);
	cursor->fabric = cursor->only;
	fabric = morph_fabric_find(cursor->only);
	if (!fabric) {	/* kernels before 6.10 send only the message when a dump fails */
		NL_SET_ERR_MSG(cb->extack, "no such fabric");
		return -ENOENT;
	}
	put_device(&fabric->dev);
	return 0;
}

/**
 * morph_nl_dump() - dump objects of one fabric or of all
 * @skb: to fill
 * @cb: the dump; the cursor is in its ctx
 * @cmd: command of the messages
 * @fabric_attr: attribute that restricts the dump to a fabric
 * @dump: dumps objects of one fabric
 *
 * Return: the result of a dumpit function.
 */
int morph_nl_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, int fabric_attr,
		  morph_nl_dump_fn dump)
{
	struct morph_nl_cursor *cursor = (void *)cb->ctx;
	struct morph_nl_to to = {
		.skb = skb,
		.portid = NETLINK_CB(cb->skb).portid,
		.seq = cb->nlh->nlmsg_seq,
		.flags = NLM_F_MULTI,
		.cmd = cmd,
		.admin = netlink_capable(cb->skb, CAP_NET_ADMIN),
		.cb = cb,
	};
	struct morph_fabric *fabric;
	int ret = 0;

	BUILD_BUG_ON(sizeof(*cursor) > sizeof(cb->ctx));
	if (!cursor->begun)
		ret = dump_begin(cb, cursor, fabric_attr);
	if (ret)
		return ret;
	while ((fabric = dump_fabric(cursor))) {
		cursor->inside = true;
		ret = dump(&to, cursor, fabric);
		put_device(&fabric->dev);
		if (ret)
			break;
		cursor->inside = false;
		cursor->index = 0;
		cursor->sub = 0;
		cursor->done = cursor->only != MORPH_ANY || cursor->fabric == MORPH_ANY - 1;
		cursor->fabric++;
	}
	cb->prev_seq = cursor->torn;	/* flags the end too: cb->seq stays 0 */
	return ret == -EMSGSIZE && skb->len ? skb->len : ret;
}

/* ------------------------------------------------------------ init and exit */

int __init morph_netlink_init(void)
{
	return genl_register_family(&morph_nl_family);
}

void morph_netlink_exit(void)
{
	genl_unregister_family(&morph_nl_family);
	morph_user_exit();	/* only the family can set limits */
}
