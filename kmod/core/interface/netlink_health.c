// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: the operator's actions on hardware, health of hardware, and replacement. */
#include <linux/ktime.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "netlink.h"

#define HARDWARE_BYTES	512
#define DUMP_CHUNK	2048u	/* parts examined in one hold of fabric->lock */

/* A part of the hardware and, for the reply, the queued transaction. */
struct subject {
	u32 part, index;
	u32 txn;	/* 0: none */
};

/* The reason why the part is out of use, if its health does not show it. */
static int put_reason(struct sk_buff *skb, struct morph_fabric *fabric,
		      const struct subject *subject)
{
	struct morph_refusal refusal;

	if (subject->part != MORPH_PART_ACCELERATOR ||
	    !morph_identity_refuse(fabric, subject->index, &refusal))
		return 0;
	return nla_put_u32(skb, MORPH_A_HARDWARE_REASON, refusal.reason) ||
	       nla_put_string(skb, MORPH_A_HARDWARE_TEXT, refusal.text);
}

static int fill_hardware(struct morph_nl_to *to, struct morph_fabric *fabric,
			 const struct subject *subject)
{
	bool cordoned = morph_health_cordoned(fabric, subject->part, subject->index);
	u32 health = morph_health_get(fabric, subject->part, subject->index);
	struct sk_buff *skb = to->skb;
	bool failed;
	void *header;

	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_HARDWARE_FABRIC, fabric->id) ||
		 nla_put_u32(skb, MORPH_A_HARDWARE_PART, subject->part) ||
		 nla_put_u32(skb, MORPH_A_HARDWARE_INDEX, subject->index) ||
		 nla_put_u8(skb, MORPH_A_HARDWARE_CORDONED, cordoned) ||
		 nla_put_u32(skb, MORPH_A_HARDWARE_HEALTH, health) ||
		 put_reason(skb, fabric, subject) ||
		 (subject->txn && nla_put_u32(skb, MORPH_A_HARDWARE_TXN, subject->txn));
	return morph_nl_end(to, header, failed);
}

void morph_netlink_hardware(struct morph_fabric *fabric, u32 part, u32 index)
{
	struct subject subject = { part, index, 0 };
	struct morph_nl_to to;

	if (morph_nl_notify_begin(&to, MORPH_CMD_HARDWARE_NTF, HARDWARE_BYTES))
		morph_nl_notify_end(&to, fill_hardware(&to, fabric, &subject));
}

/*
 * An action, called without a lock. Fills the refusal on failure, and subject->txn if it queues a
 * transaction. NULL: the request only reads the part.
 */
typedef int (*act_fn)(struct genl_info *info, struct morph_fabric *fabric,
		      struct subject *subject, struct morph_refusal *refusal);

/* Fill the reply that was begun, and send it. */
static int send_hardware(struct morph_nl_to *to, struct genl_info *info,
			 struct morph_fabric *fabric, const struct subject *subject)
{
	int ret;

	morph_fabric_lock(fabric);
	ret = fill_hardware(to, fabric, subject);
	morph_fabric_unlock(fabric);
	return morph_nl_reply_end(to, info, ret);
}

static int look(struct genl_info *info, struct morph_fabric *fabric,
		const struct subject *subject)
{
	struct morph_nl_to to;
	int ret;

	ret = morph_nl_reply_begin(&to, info, HARDWARE_BYTES);
	return ret ? ret : send_hardware(&to, info, fabric, subject);
}

static int act_and_answer(struct genl_info *info, struct morph_fabric *fabric,
			  struct subject *subject, act_fn act, struct morph_refusal *refusal)
{
	struct morph_nl_answer answer;
	int ret;

	ret = morph_nl_answer_begin(&answer, info, MORPH_CMD_HARDWARE_NTF, HARDWARE_BYTES);
	if (ret)
		return ret;
	ret = act(info, fabric, subject, refusal);
	if (ret)
		return morph_nl_answer_drop(&answer, ret);
	if (answer.echo.skb)
		send_hardware(&answer.echo, info, fabric, subject);
	return send_hardware(&answer.reply, info, fabric, subject);
}

static int act_on_part(struct genl_info *info, struct morph_fabric *fabric, act_fn act)
{
	struct morph_refusal refusal = {};
	struct subject subject = {};
	int ret;

	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_HARDWARE_PART) ||
	    GENL_REQ_ATTR_CHECK(info, MORPH_A_HARDWARE_INDEX)) {
		NL_SET_ERR_MSG(info->extack, "requires part and index");
		return -EINVAL;
	}
	subject.part = nla_get_u32(info->attrs[MORPH_A_HARDWARE_PART]);
	subject.index = nla_get_u32(info->attrs[MORPH_A_HARDWARE_INDEX]);
	morph_fabric_lock(fabric);
	ret = morph_health_check_part(fabric, subject.part, subject.index, &refusal);
	morph_fabric_unlock(fabric);
	if (!ret)
		ret = act ? act_and_answer(info, fabric, &subject, act, &refusal) :
			    look(info, fabric, &subject);
	return ret ? morph_nl_refuse(info, ret, &refusal,
				     info->attrs[ret == -EOPNOTSUPP ? MORPH_A_HARDWARE_PART :
								      MORPH_A_HARDWARE_INDEX]) : 0;
}

static int do_act(struct genl_info *info, act_fn act)
{
	struct morph_fabric *fabric;
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_HARDWARE_FABRIC);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	ret = act_on_part(info, fabric, act);
	put_device(&fabric->dev);
	return ret;
}

static int act_cordon(struct genl_info *info, struct morph_fabric *fabric,
		      struct subject *subject, struct morph_refusal *refusal)
{
	return morph_health_cordon(fabric, subject->part, subject->index,
				   nla_get_u8(info->attrs[MORPH_A_HARDWARE_CORDONED]), refusal);
}

static int act_fail(struct genl_info *info, struct morph_fabric *fabric,
		    struct subject *subject, struct morph_refusal *refusal)
{
	struct morph_culprit culprit = { .part = subject->part, .index = subject->index };
	int ret;

	morph_fabric_lock(fabric);
	ret = morph_fabric_check(fabric);
	if (!ret)
		ret = morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, ktime_get_ns());
	morph_fabric_unlock(fabric);
	return ret;
}

static int act_test(struct genl_info *info, struct morph_fabric *fabric,
		    struct subject *subject, struct morph_refusal *refusal)
{
	return morph_health_test(fabric, subject->part, subject->index,
				 nla_get_flag(info->attrs[MORPH_A_HARDWARE_ACCEPT]), &subject->txn,
				 refusal);
}

int morph_nl_hardware_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_HARDWARE_CORDONED)) {
		NL_SET_ERR_MSG(info->extack, "requires cordoned, 0 or 1");
		return -EINVAL;
	}
	return do_act(info, act_cordon);
}

int morph_nl_hardware_fail_doit(struct sk_buff *skb, struct genl_info *info)
{
	return do_act(info, act_fail);
}

int morph_nl_hardware_test_doit(struct sk_buff *skb, struct genl_info *info)
{
	return do_act(info, act_test);
}

int morph_nl_hardware_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return do_act(info, NULL);
}

/* --------------------------------------------------------------------- dump */

/* Examine at most DUMP_CHUNK parts of one kind under one hold of the lock. */
static int dump_chunk(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
		      struct morph_fabric *fabric)
{
	u32 end = min(morph_part_count(fabric, cursor->index), cursor->sub + DUMP_CHUNK);
	int ret = 0;

	morph_fabric_lock(fabric);
	morph_nl_dump_seq(to, cursor, fabric);
	for (; cursor->sub < end; cursor->sub++) {
		struct subject subject = { cursor->index, cursor->sub, 0 };

		if (morph_health_get(fabric, subject.part, subject.index) == MORPH_HEALTH_OK &&
		    !morph_health_cordoned(fabric, subject.part, subject.index))
			continue;
		ret = fill_hardware(to, fabric, &subject);
		if (ret)
			break;
		morph_holds_count(fabric, 1);
	}
	morph_fabric_unlock(fabric);
	return ret;
}

/*
 * The cursor's index is the kind of part, its sub the index of the part. A dump that other changes
 * interrupt between two chunks is marked, as between two messages.
 */
static int dump_impaired(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
			 struct morph_fabric *fabric)
{
	int ret;

	while (cursor->index <= MORPH_PART_GUIDE) {
		ret = dump_chunk(to, cursor, fabric);
		if (ret)
			return ret;
		if (cursor->sub >= morph_part_count(fabric, cursor->index)) {
			cursor->index++;
			cursor->sub = 0;
		}
		cond_resched();
	}
	return 0;
}

int morph_nl_hardware_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	int ret;

	ret = morph_nl_dump_lacks(cb, MORPH_A_HARDWARE_PART);
	if (!ret)
		ret = morph_nl_dump_lacks(cb, MORPH_A_HARDWARE_INDEX);
	if (ret)
		return ret;
	return morph_nl_dump(skb, cb, MORPH_CMD_HARDWARE_GET, MORPH_A_HARDWARE_FABRIC,
			     dump_impaired);
}

/* ------------------------------------------------------------------ replace */

static int replace_rank(struct genl_info *info, struct morph_slice *slice)
{
	u32 spare = morph_nl_get_u32(info, MORPH_A_REPLACE_SPARE, MORPH_ANY);
	struct morph_refusal refusal = {};
	struct morph_nl_to to;
	u32 rank, txn = 0;
	bool failed;
	void *header;
	int ret;

	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_REPLACE_RANK)) {
		NL_SET_ERR_MSG(info->extack, "the rank to replace is missing");
		return -EINVAL;
	}
	rank = nla_get_u32(info->attrs[MORPH_A_REPLACE_RANK]);
	ret = morph_nl_reply_begin(&to, info, HARDWARE_BYTES);
	if (ret)
		return ret;
	ret = morph_repair_replace_queue(slice, rank, spare, &txn, &refusal);
	if (ret) {
		morph_nl_refuse(info, ret, &refusal,
				ret == -ENOENT ? info->attrs[MORPH_A_REPLACE_RANK] : NULL);
		return morph_nl_reply_end(&to, info, ret);
	}
	header = morph_nl_begin(&to);
	if (!header)
		return morph_nl_reply_end(&to, info, -EMSGSIZE);
	failed = nla_put_u32(to.skb, MORPH_A_REPLACE_FABRIC, slice->fabric->id) ||
		 nla_put_u32(to.skb, MORPH_A_REPLACE_SLICE, slice->number) ||
		 nla_put_u32(to.skb, MORPH_A_REPLACE_RANK, rank) ||
		 (spare != MORPH_ANY && nla_put_u32(to.skb, MORPH_A_REPLACE_SPARE, spare)) ||
		 nla_put_u32(to.skb, MORPH_A_REPLACE_TXN, txn);
	return morph_nl_reply_end(&to, info, morph_nl_end(&to, header, failed));
}

int morph_nl_replace_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct morph_fabric *fabric;
	struct morph_slice *slice;
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_REPLACE_FABRIC);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	slice = morph_nl_find_slice(info, fabric, MORPH_A_REPLACE_SLICE);
	ret = PTR_ERR_OR_ZERO(slice);
	if (!ret) {
		ret = replace_rank(info, slice);
		morph_slice_put(slice);
	}
	put_device(&fabric->dev);
	return ret;
}
