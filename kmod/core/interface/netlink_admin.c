// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: the why-not query, and quotas. Administrators only. */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/slice/slice.h"
#include "netlink.h"

#define ANSWER_BYTES	512
#define QUOTA_BYTES	512

/* ------------------------------------------------------------------ why-not */

static int fill_answer(struct morph_nl_to *to, u32 fabric, const struct morph_refusal *refusal,
		       int status, const u32 *chosen, u32 count)
{
	struct sk_buff *skb = to->skb;
	bool failed;
	void *header;
	u32 i;

	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_WHY_NOT_FABRIC, fabric) ||
		 nla_put_u32(skb, MORPH_A_WHY_NOT_REASON, refusal->reason) ||
		 nla_put_u32(skb, MORPH_A_WHY_NOT_PART, refusal->part) ||
		 morph_nl_put_index(skb, MORPH_A_WHY_NOT_INDEX, refusal->index) ||
		 nla_put_s64(skb, MORPH_A_WHY_NOT_HAVE, refusal->have, MORPH_A_WHY_NOT_PAD) ||
		 nla_put_s64(skb, MORPH_A_WHY_NOT_NEED, refusal->need, MORPH_A_WHY_NOT_PAD) ||
		 nla_put_s32(skb, MORPH_A_WHY_NOT_STATUS, status) ||
		 (status && nla_put_string(skb, MORPH_A_WHY_NOT_TEXT, refusal->text));
	for (i = 0; !failed && !status && i < count; i++)
		failed = nla_put_u32(skb, MORPH_A_WHY_NOT_CHOSEN, chosen[i]);
	return morph_nl_end(to, header, failed);
}

/* An invalid query is an error; a query with the answer "no" is not. */
static bool is_answer(int status, const struct morph_refusal *refusal)
{
	return !status || (refusal->reason && refusal->reason != MORPH_REASON_ARGUMENT &&
			   status != -ENODEV);
}

/* The attribute of the query that caused a refusal. */
static const struct nlattr *question_culprit(struct genl_info *info,
					     const struct morph_refusal *refusal)
{
	if (refusal->part == MORPH_PART_ACCELERATOR)
		return morph_nl_find_u32(info, MORPH_A_WHY_NOT_ACCELERATOR, refusal->index);
	return info->attrs[MORPH_A_WHY_NOT_LANES_COUNT];
}

/* No answer names more accelerators than the fabric has. */
static u32 most_chosen(const struct morph_fabric *fabric, u32 count)
{
	return min(count, fabric->graph->accelerators_count);
}

static int ask(struct genl_info *info, struct morph_fabric *fabric, const u32 *accelerators,
	       u32 count, u32 *chosen)
{
	const struct morph_question question = {
		.accelerators = accelerators,
		.count = count,
		.transit = morph_nl_get_u32(info, MORPH_A_WHY_NOT_TRANSIT, MORPH_TRANSIT_ANY),
		.ring = nla_get_flag(info->attrs[MORPH_A_WHY_NOT_RING]),
		.lanes = morph_nl_get_u32(info, MORPH_A_WHY_NOT_LANES_COUNT, 1),
	};
	struct morph_refusal refusal = {};
	struct morph_nl_to to;
	int ret, status;

	ret = morph_nl_reply_begin(&to, info, ANSWER_BYTES +
				   nla_total_size(sizeof(u32)) * most_chosen(fabric, count));
	if (ret)
		return ret;
	status = morph_why_not(fabric, &question, chosen, &refusal);
	if (is_answer(status, &refusal)) {
		ret = fill_answer(&to, fabric->id, &refusal, status, chosen, count);
	} else {
		ret = status;
		morph_nl_refuse(info, ret, &refusal, question_culprit(info, &refusal));
	}
	return morph_nl_reply_end(&to, info, ret);
}

/* The number of accelerators in the query. */
static int question_count(struct genl_info *info, struct morph_fabric *fabric, u32 listed,
			  u32 *result)
{
	struct nlattr *attr = info->attrs[MORPH_A_WHY_NOT_COUNT];
	u32 count = attr ? nla_get_u32(attr) : listed;

	if (!attr && !listed) {
		NL_SET_ERR_MSG(info->extack, "requires count or accelerators");
		return -EINVAL;
	}
	if (listed && count != listed)
		return morph_nl_refuse_numbers(info, -EINVAL, attr, 0, listed, count,
					       "count is {need}, but {have} accelerators are listed");
	if (listed > fabric->graph->accelerators_count)
		return morph_nl_refuse_numbers(info, -EINVAL, NULL, 0,
					       fabric->graph->accelerators_count, listed,
					       "{need} accelerators are listed, the fabric has {have}");
	*result = count;
	return 0;
}

int morph_nl_why_not_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 *accelerators, *chosen = NULL, listed, count;
	struct morph_fabric *fabric;
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_WHY_NOT_FABRIC);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	accelerators = morph_nl_read_list(info, MORPH_A_WHY_NOT_ACCELERATOR, &listed);
	ret = PTR_ERR_OR_ZERO(accelerators);
	if (ret)
		goto out_put;
	ret = question_count(info, fabric, listed, &count);
	if (ret)
		goto out_free;
	chosen = kvcalloc(most_chosen(fabric, count), sizeof(*chosen), GFP_KERNEL_ACCOUNT);
	ret = chosen ? ask(info, fabric, accelerators, count, chosen) : -ENOMEM;
out_free:
	kvfree(chosen);
	kvfree(accelerators);
out_put:
	put_device(&fabric->dev);
	return ret;
}

/* ------------------------------------------------------------------- quotas */

static int put_limits(struct sk_buff *skb, const struct morph_limits *limits)
{
	return nla_put_u32(skb, MORPH_A_QUOTA_ACCELERATORS, limits->accelerators) ||
	       nla_put_u32(skb, MORPH_A_QUOTA_CIRCUITS, limits->circuits) ||
	       nla_put_u32(skb, MORPH_A_QUOTA_LANES, limits->lanes) ||
	       nla_put_u32(skb, MORPH_A_QUOTA_PREPARED, limits->prepared) ||
	       nla_put_u32(skb, MORPH_A_QUOTA_REPLACEMENTS, limits->replacements) ||
	       nla_put_u64_64bit(skb, MORPH_A_QUOTA_BYTES, limits->bytes, MORPH_A_QUOTA_PAD);
}

static int put_used(struct sk_buff *skb, const struct morph_limits *used)
{
	return nla_put_u32(skb, MORPH_A_QUOTA_USED_ACCELERATORS, used->accelerators) ||
	       nla_put_u32(skb, MORPH_A_QUOTA_USED_CIRCUITS, used->circuits) ||
	       nla_put_u32(skb, MORPH_A_QUOTA_USED_LANES, used->lanes) ||
	       nla_put_u32(skb, MORPH_A_QUOTA_USED_PREPARED, used->prepared) ||
	       nla_put_u64_64bit(skb, MORPH_A_QUOTA_USED_BYTES, used->bytes, MORPH_A_QUOTA_PAD);
}

static int put_whose(struct sk_buff *skb, const struct morph_user *user)
{
	if (user->grant)
		return nla_put_u32(skb, MORPH_A_QUOTA_GRANT, user->grant);
	return nla_put_u32(skb, MORPH_A_QUOTA_UID, from_kuid(&init_user_ns, user->uid));
}

/* The limits of a user or a grant, or the default limits without one. */
static int fill_quota(struct morph_nl_to *to, struct morph_user *user)
{
	struct morph_limits limits, used;
	bool failed;
	void *header;

	if (user)
		morph_user_limits(user, &limits, &used);
	else
		morph_user_get_default(&limits);
	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = put_limits(to->skb, &limits) ||
		 (user && (put_whose(to->skb, user) || put_used(to->skb, &used)));
	return morph_nl_end(to, header, failed);
}

static struct morph_user *named_grant(struct genl_info *info, struct nlattr *attr)
{
	struct morph_user *grant = morph_grant_find(nla_get_u32(attr));
	unsigned long cursor;
	u32 count = 0;

	if (grant)
		return grant;
	for (cursor = 0; (grant = morph_grant_next(&cursor)); cursor++, count++)
		morph_user_put(grant);
	return ERR_PTR(morph_nl_refuse_numbers(info, -ENOENT, attr, nla_get_u32(attr), count, 0,
					       "no grant {index} (grants: {have})"));
}

/*
 * The user or grant of the request, with a reference; NULL: none; or ERR_PTR, and the reason in
 * @info.
 */
static struct morph_user *named_user(struct genl_info *info)
{
	struct nlattr *grant = info->attrs[MORPH_A_QUOTA_GRANT];
	struct nlattr *attr = info->attrs[MORPH_A_QUOTA_UID];
	struct morph_user *user;
	kuid_t uid;

	if (attr && grant) {
		NL_SET_ERR_MSG_ATTR(info->extack, grant, "name a user by uid or a grant, not both");
		return ERR_PTR(-EINVAL);
	}
	if (grant)
		return named_grant(info, grant);
	if (!attr)
		return NULL;
	uid = make_kuid(&init_user_ns, nla_get_u32(attr));
	if (!uid_valid(uid)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "uid must be a user id");
		return ERR_PTR(-EINVAL);
	}
	user = morph_user_get(uid);
	return user ? user : ERR_PTR(-ENOMEM);
}

static void read_limits(struct genl_info *info, struct morph_limits *limits)
{
	limits->accelerators = morph_nl_get_u32(info, MORPH_A_QUOTA_ACCELERATORS,
						limits->accelerators);
	limits->circuits = morph_nl_get_u32(info, MORPH_A_QUOTA_CIRCUITS, limits->circuits);
	limits->lanes = morph_nl_get_u32(info, MORPH_A_QUOTA_LANES, limits->lanes);
	limits->prepared = morph_nl_get_u32(info, MORPH_A_QUOTA_PREPARED, limits->prepared);
	limits->replacements = morph_nl_get_u32(info, MORPH_A_QUOTA_REPLACEMENTS,
						limits->replacements);
	limits->bytes = morph_nl_get_u64(info, MORPH_A_QUOTA_BYTES, limits->bytes);
}

static void set_limits(struct genl_info *info, struct morph_user *user)
{
	struct morph_limits limits, used;

	if (user)
		morph_user_limits(user, &limits, &used);
	else
		morph_user_get_default(&limits);
	read_limits(info, &limits);
	morph_user_set_limits(user, &limits);
}

/* Allocate the reply before setting limits, so that each change can be reported. */
static int answer_quota(struct genl_info *info, bool set)
{
	struct morph_user *user = named_user(info);
	struct morph_nl_to to;
	int ret;

	if (IS_ERR(user))
		return PTR_ERR(user);
	ret = morph_nl_reply_begin(&to, info, QUOTA_BYTES);
	if (!ret) {
		if (set)
			set_limits(info, user);
		ret = morph_nl_reply_end(&to, info, fill_quota(&to, user));
	}
	if (user)
		morph_user_put(user);
	return ret;
}

int morph_nl_quota_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return answer_quota(info, false);
}

int morph_nl_quota_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return answer_quota(info, true);
}

/* Parts of a dump of quotas, in this order: the cursor's sub. */
enum { TELL_DEFAULT, TELL_USERS, TELL_GRANTS };

static int dump_quotas(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
		       struct morph_user *(*next)(unsigned long *cursor))
{
	unsigned long id = cursor->index;
	struct morph_user *user;
	int ret = 0;

	for (; !ret && (user = next(&id)); id++) {
		cursor->index = id;
		ret = fill_quota(to, user);
		morph_user_put(user);
		if (!ret)
			cursor->index = id + 1;
	}
	return ret;
}

/*
 * Dump the default, then users by id, then grants by number; the cursor's index is the next id.
 * Quotas have no seq, because their users come and go.
 */
int morph_nl_quota_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct morph_nl_cursor *cursor = (void *)cb->ctx;
	struct morph_nl_to to = {
		.skb = skb,
		.portid = NETLINK_CB(cb->skb).portid,
		.seq = cb->nlh->nlmsg_seq,
		.flags = NLM_F_MULTI,
		.cmd = MORPH_CMD_QUOTA_GET,
	};
	int ret;

	ret = morph_nl_dump_lacks(cb, MORPH_A_QUOTA_UID);
	if (!ret)
		ret = morph_nl_dump_lacks(cb, MORPH_A_QUOTA_GRANT);
	if (!ret && cursor->sub == TELL_DEFAULT) {
		ret = fill_quota(&to, NULL);
		cursor->sub += !ret;
	}
	if (!ret && cursor->sub == TELL_USERS) {
		ret = dump_quotas(&to, cursor, morph_user_next);
		cursor->sub += !ret;
		cursor->index = ret ? cursor->index : 0;
	}
	if (!ret)
		ret = dump_quotas(&to, cursor, morph_grant_next);
	return ret == -EMSGSIZE && skb->len ? skb->len : ret;
}
