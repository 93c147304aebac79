// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: slices. Administrators only. */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "netlink.h"

#define SLICE_BYTES	512
#define RANK_BYTES	128

/* ------------------------------------------------------------------- slices */

static int put_rank(struct sk_buff *skb, struct morph_slice *slice, u32 rank)
{
	u32 preferred = rank_protection(slice, rank)->preferred;
	struct morph_rank_info info = {};
	struct nlattr *nest;

	morph_rank_fill_info(slice, rank, &info);
	nest = nla_nest_start(skb, MORPH_A_SLICE_RANK);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, MORPH_A_RANK_RANK, info.rank) ||
	    nla_put_u32(skb, MORPH_A_RANK_ACCELERATOR, info.accelerator) ||
	    nla_put_u32(skb, MORPH_A_RANK_HOST, info.host) ||
	    nla_put_u32(skb, MORPH_A_RANK_HEALTH, info.health) ||
	    nla_put_u32(skb, MORPH_A_RANK_PLAN, info.plan) ||
	    (info.spare != MORPH_ANY && nla_put_u32(skb, MORPH_A_RANK_SPARE, info.spare)) ||
	    nla_put_u32(skb, MORPH_A_RANK_REPLACEMENTS, info.replacements) ||
	    nla_put_string(skb, MORPH_A_RANK_PCI, info.pci) ||
	    nla_put(skb, MORPH_A_RANK_UUID, sizeof(info.uuid), info.uuid) ||
	    (preferred != MORPH_ANY && nla_put_u32(skb, MORPH_A_RANK_PREFERRED, preferred))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_slice(struct sk_buff *skb, struct morph_slice *slice)
{
	const struct morph_slice_tenancy *tenancy = slice_tenancy(slice);
	struct morph_slice_info info = {};

	morph_slice_fill_info(slice, &info);
	return nla_put_u32(skb, MORPH_A_SLICE_FABRIC, slice->fabric->id) ||
	       nla_put_u32(skb, MORPH_A_SLICE_ID, slice->number) ||
	       (info.name[0] && nla_put_string(skb, MORPH_A_SLICE_NAME, info.name)) ||
	       nla_put_u32(skb, MORPH_A_SLICE_STATE, info.state) ||
	       nla_put_u32(skb, MORPH_A_SLICE_OWNER, from_kuid(&init_user_ns, tenancy->uid)) ||
	       (info.name[0] && nla_put_u32(skb, MORPH_A_SLICE_MODE, tenancy->mode)) ||
	       nla_put_u32(skb, MORPH_A_SLICE_FAILOVER, info.failover) ||
	       nla_put_u32(skb, MORPH_A_SLICE_TRANSIT, info.transit) ||
	       nla_put_u32(skb, MORPH_A_SLICE_SPARES, info.spare_policy) ||
	       nla_put_u8(skb, MORPH_A_SLICE_RESERVED, info.reserved) ||
	       nla_put_u32(skb, MORPH_A_SLICE_FILES, tenancy->files_count) ||
	       nla_put_u64_64bit(skb, MORPH_A_SLICE_GENERATION, info.generation,
				 MORPH_A_SLICE_PAD) ||
	       nla_put_u64_64bit(skb, MORPH_A_SLICE_SEQ, info.seq, MORPH_A_SLICE_PAD) ||
	       nla_put_u32(skb, MORPH_A_SLICE_RANKS_COUNT, slice->ranks_count) ||
	       nla_put_u32(skb, MORPH_A_SLICE_CIRCUITS_COUNT, slice->circuits_count) ||
	       nla_put_u64_64bit(skb, MORPH_A_SLICE_BANDWIDTH_MBPS, morph_slice_bandwidth(slice),
				 MORPH_A_SLICE_PAD) ||
	       (slice->user->grant &&
		nla_put_u32(skb, MORPH_A_SLICE_GRANT, slice->user->grant)) ||
	       nla_put_u32(skb, MORPH_A_SLICE_USED_REPLACEMENTS,
			   morph_repair_replacements(slice)) ||
	       (tenancy->controller &&
		nla_put_u32(skb, MORPH_A_SLICE_CONTROLLER, tenancy->controller));
}

/*
 * Fill a slice with its ranks from *rank on, at most @most or until the message is full; *rank then
 * is the first missing one. A message without any rank is removed, because a dump would make no
 * progress.
 */
static int fill_slice(struct morph_nl_to *to, struct morph_slice *slice, u32 *rank, u32 most)
{
	u32 first = *rank, end = first + min(most, slice->ranks_count - first);
	void *header;
	bool failed;

	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = put_slice(to->skb, slice);
	while (!failed && *rank < end && !put_rank(to->skb, slice, *rank))
		(*rank)++;
	return morph_nl_end(to, header, failed || *rank == first);
}

static size_t slice_bytes(u32 ranks)
{
	return SLICE_BYTES + RANK_BYTES * min(ranks, MORPH_NL_LIST_MAX);
}

void morph_netlink_slice(struct morph_slice *slice)
{
	struct morph_nl_to to;
	u32 rank = 0;

	if (morph_nl_notify_begin(&to, MORPH_CMD_SLICE_NTF, slice_bytes(slice->ranks_count)))
		morph_nl_notify_end(&to, fill_slice(&to, slice, &rank, MORPH_NL_LIST_MAX));
}

/* Fill the reply that was begun, and send it. */
static int send_slice(struct morph_nl_to *to, struct genl_info *info, struct morph_slice *slice)
{
	u32 rank = 0;
	int ret;

	morph_fabric_lock(slice->fabric);
	ret = fill_slice(to, slice, &rank, MORPH_NL_LIST_MAX);
	morph_fabric_unlock(slice->fabric);
	return morph_nl_reply_end(to, info, ret);
}

static int get_slice(struct genl_info *info, struct morph_slice *slice)
{
	struct morph_nl_to to;
	int ret;

	ret = morph_nl_reply_begin(&to, info, slice_bytes(slice->ranks_count));
	return ret ? ret : send_slice(&to, info, slice);
}

/* End a request that changes a slice: send the notification if requested, then the reply. */
static int answer_slice(struct morph_nl_answer *answer, struct genl_info *info,
			struct morph_slice *slice)
{
	if (answer->echo.skb)
		send_slice(&answer->echo, info, slice);
	return send_slice(&answer->reply, info, slice);
}

static struct morph_slice *find_named(struct genl_info *info, struct morph_fabric *fabric)
{
	struct nlattr *name = info->attrs[MORPH_A_SLICE_NAME];
	struct morph_slice *slice;

	if (info->attrs[MORPH_A_SLICE_ID] && name) {
		NL_SET_ERR_MSG_ATTR(info->extack, name, "name a slice by id or by name, not both");
		return ERR_PTR(-EINVAL);
	}
	if (!name)
		return morph_nl_find_slice(info, fabric, MORPH_A_SLICE_ID);
	slice = morph_slice_find(fabric, MORPH_ANY, nla_data(name));
	if (slice)
		return slice;
	NL_SET_ERR_MSG_ATTR(info->extack, name, "no slice of this name");
	return ERR_PTR(-ENOENT);
}

int morph_nl_slice_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct morph_fabric *fabric;
	struct morph_slice *slice;
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_SLICE_FABRIC);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	slice = find_named(info, fabric);
	ret = PTR_ERR_OR_ZERO(slice);
	if (!ret) {
		ret = get_slice(info, slice);
		morph_slice_put(slice);
	}
	put_device(&fabric->dev);
	return ret;
}

struct morph_slice *morph_nl_slice_from(struct morph_fabric *fabric, u32 *number)
{
	struct morph_slice *slice;
	unsigned long index;

	rcu_read_lock();
	xa_for_each_start(&morph_slices, index, slice, *number)
		if (slice->fabric == fabric && kref_get_unless_zero(&slice->kref))
			break;
	rcu_read_unlock();
	*number = index;
	return slice;
}

/**
 * morph_nl_dump_slices() - dump data of all slices of a fabric, or of one slice
 * @to: destination of the messages
 * @cursor: its index is the slice, its sub the position within the slice
 * @fabric: the fabric
 * @only: attribute that names the only slice to dump, or NULL
 * @dump: called under fabric->lock; moves cursor->sub on
 *
 * Return: 0 when all slices are dumped, -EMSGSIZE when there are more.
 */
int morph_nl_dump_slices(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
			 struct morph_fabric *fabric, const struct nlattr *only,
			 int (*dump)(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
				     struct morph_slice *slice))
{
	u32 last = only ? nla_get_u32(only) : MORPH_ANY, number;
	struct morph_slice *slice;
	int ret = 0;

	if (only && cursor->index < last)
		cursor->index = last;
	for (number = cursor->index; (slice = morph_nl_slice_from(fabric, &number)); number++) {
		if (number > last) {
			morph_slice_put(slice);
			break;
		}
		if (number != cursor->index)	/* the slice ended during its dump */
			cursor->sub = 0;
		cursor->index = number;
		morph_fabric_lock(fabric);
		morph_nl_dump_seq(to, cursor, fabric);
		ret = dump(to, cursor, slice);
		morph_fabric_unlock(fabric);
		morph_slice_put(slice);
		if (ret)
			break;
		cursor->index = number + 1;
		cursor->sub = 0;
	}
	if (!ret) {	/* slices after the cursor may have ended */
		morph_fabric_lock(fabric);
		morph_nl_dump_seq(to, cursor, fabric);
		morph_fabric_unlock(fabric);
	}
	return ret;
}

static int dump_slice(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
		      struct morph_slice *slice)
{
	int ret = 0;

	while (!ret && cursor->sub < slice->ranks_count)
		ret = fill_slice(to, slice, &cursor->sub, U32_MAX);
	return ret;
}

static int dump_slices(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
		       struct morph_fabric *fabric)
{
	return morph_nl_dump_slices(to, cursor, fabric,
				    genl_info_dump(to->cb)->attrs[MORPH_A_SLICE_ID], dump_slice);
}

int morph_nl_slice_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	int ret;

	ret = morph_nl_dump_lacks(cb, MORPH_A_SLICE_NAME);
	return ret ? ret : morph_nl_dump(skb, cb, MORPH_CMD_SLICE_GET, MORPH_A_SLICE_FABRIC,
					 dump_slices);
}

/* ------------------------------------------------------------------- create */

/* Read the values of all attributes of a type in order; *count gets their number. */
u32 *morph_nl_read_list(struct genl_info *info, int type, u32 *count)
{
	struct nlattr *attr = NULL;
	u32 *list, i = 0;

	*count = 0;
	while ((attr = morph_nl_next(info, attr, type)))
		(*count)++;
	if (!*count)
		return NULL;
	list = kvmalloc_array(*count, sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		return ERR_PTR(-ENOMEM);
	while ((attr = morph_nl_next(info, attr, type)))
		list[i++] = nla_get_u32(attr);
	return list;
}

static int read_params(struct genl_info *info, struct morph_slice_params *params)
{
	struct nlattr *count = info->attrs[MORPH_A_SLICE_RANKS_COUNT];
	struct nlattr *reserved = info->attrs[MORPH_A_SLICE_RESERVED];

	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_SLICE_NAME) ||
	    GENL_REQ_ATTR_CHECK(info, MORPH_A_SLICE_OWNER)) {
		NL_SET_ERR_MSG(info->extack, "a slice requires a name and an owner");
		return -EINVAL;
	}
	nla_strscpy(params->name, info->attrs[MORPH_A_SLICE_NAME], sizeof(params->name));
	params->uid = make_kuid(&init_user_ns, nla_get_u32(info->attrs[MORPH_A_SLICE_OWNER]));
	if (!uid_valid(params->uid) || !params->name[0]) {
		NL_SET_ERR_MSG_ATTR(info->extack, params->name[0] ?
				    info->attrs[MORPH_A_SLICE_OWNER] :
				    info->attrs[MORPH_A_SLICE_NAME],
				    "owner must be a user id, and name must not be empty");
		return -EINVAL;
	}
	params->mode = morph_nl_get_u32(info, MORPH_A_SLICE_MODE, 0);
	params->failover = morph_nl_get_u32(info, MORPH_A_SLICE_FAILOVER, MORPH_FAILOVER_AUTOMATIC);
	params->transit = morph_nl_get_u32(info, MORPH_A_SLICE_TRANSIT, MORPH_TRANSIT_ANY);
	params->spare_policy = morph_nl_get_u32(info, MORPH_A_SLICE_SPARES, MORPH_SPARES_HOST);
	params->reserved = reserved && nla_get_u8(reserved);
	params->lend = nla_get_flag(info->attrs[MORPH_A_SLICE_LEND]);
	params->controller = morph_nl_get_u32(info, MORPH_A_SLICE_CONTROLLER, 0);
	if (params->accelerators && count && nla_get_u32(count) != params->count)
		return morph_nl_refuse_numbers(info, -EINVAL, count, 0, params->count,
					       nla_get_u32(count),
					       "ranks-count is {need}, but {have} accelerators are listed");
	if (!params->accelerators && !count) {
		NL_SET_ERR_MSG(info->extack, "requires ranks-count or accelerators");
		return -EINVAL;
	}
	if (!params->accelerators)
		params->count = nla_get_u32(count);
	return 0;
}

/* The attribute that caused a refusal of slice-create. */
static struct nlattr *create_culprit(struct genl_info *info, const struct morph_refusal *refusal)
{
	struct nlattr *listed;

	switch (refusal->reason) {
	case MORPH_REASON_QUOTA:
		return info->attrs[MORPH_A_SLICE_OWNER];
	case MORPH_REASON_NO_SPARE:
		return info->attrs[MORPH_A_SLICE_RESERVED];
	}
	if (refusal->error == -EEXIST)
		return info->attrs[MORPH_A_SLICE_NAME];
	if (info->attrs[MORPH_A_SLICE_LEND] && refusal->part == MORPH_PART_NONE &&
	    refusal->error == -EINVAL)
		return info->attrs[MORPH_A_SLICE_LEND];
	if (refusal->error == -ENOENT && refusal->part == MORPH_PART_NONE)
		return info->attrs[MORPH_A_SLICE_CONTROLLER];
	if (refusal->part != MORPH_PART_ACCELERATOR)
		return info->attrs[MORPH_A_SLICE_SPARES] ?: info->attrs[MORPH_A_SLICE_SPARE];
	listed = morph_nl_find_u32(info, MORPH_A_SLICE_ACCELERATOR, refusal->index);
	if (!listed)
		listed = morph_nl_find_u32(info, MORPH_A_SLICE_SPARE, refusal->index);
	return listed ?: info->attrs[MORPH_A_SLICE_RANKS_COUNT];
}

static int create_slice(struct genl_info *info, struct morph_fabric *fabric,
			struct morph_slice_params *params)
{
	struct morph_refusal refusal = {};
	struct morph_nl_answer answer;
	struct morph_slice *slice;
	int ret;

	ret = read_params(info, params);
	if (ret)
		return ret;
	ret = morph_slice_check_name(params->name, &refusal);
	if (ret)
		return morph_nl_refuse(info, ret, &refusal, info->attrs[MORPH_A_SLICE_NAME]);
	ret = morph_nl_answer_begin(&answer, info, MORPH_CMD_SLICE_NTF, slice_bytes(params->count));
	if (ret)
		return ret;
	params->user = morph_user_get(params->uid);
	if (!params->user)
		return morph_nl_answer_drop(&answer, -ENOMEM);
	ret = morph_chardev_create_slice(fabric, params, &slice, &refusal);
	morph_user_put(params->user);
	if (ret) {
		morph_nl_refuse(info, ret, &refusal, create_culprit(info, &refusal));
		return morph_nl_answer_drop(&answer, ret);
	}
	ret = answer_slice(&answer, info, slice);
	morph_slice_put(slice);
	return ret;
}

int morph_nl_slice_create_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct morph_slice_params params = {};
	struct morph_fabric *fabric;
	u32 *accelerators, *spares;
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_SLICE_FABRIC);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	accelerators = morph_nl_read_list(info, MORPH_A_SLICE_ACCELERATOR, &params.count);
	spares = morph_nl_read_list(info, MORPH_A_SLICE_SPARE, &params.spares_count);
	params.accelerators = accelerators;
	params.spares = spares;
	if (IS_ERR(accelerators) || IS_ERR(spares))
		ret = -ENOMEM;
	else
		ret = create_slice(info, fabric, &params);
	if (!IS_ERR(accelerators))
		kvfree(accelerators);
	if (!IS_ERR(spares))
		kvfree(spares);
	put_device(&fabric->dev);
	return ret;
}

/* -------------------------------------------------------------- set, delete */

static int set_node(struct genl_info *info, struct morph_slice *slice)
{
	struct nlattr *owner = info->attrs[MORPH_A_SLICE_OWNER];
	struct nlattr *mode = info->attrs[MORPH_A_SLICE_MODE];
	struct morph_refusal refusal = {};
	kuid_t uid = slice_tenancy(slice)->uid;
	int ret;

	if (owner)
		uid = make_kuid(&init_user_ns, nla_get_u32(owner));
	if (!uid_valid(uid)) {
		NL_SET_ERR_MSG_ATTR(info->extack, owner, "owner must be a user id");
		return -EINVAL;
	}
	ret = morph_chardev_change_slice(slice, uid,
					 mode ? nla_get_u32(mode) : slice_tenancy(slice)->mode,
					 &refusal);
	return ret ? morph_nl_refuse(info, ret, &refusal, mode ?: owner) : 0;
}

static int read_preference(struct genl_info *info, const struct nlattr *nest,
			   struct morph_preference *preference)
{
	struct nlattr *tb[MORPH_A_PREFERENCE_MAX + 1], *spare;
	int ret;

	ret = nla_parse_nested(tb, MORPH_A_PREFERENCE_MAX, nest, morph_preference_nl_policy,
			       info->extack);
	if (ret)
		return ret;
	spare = tb[MORPH_A_PREFERENCE_SPARE];
	if (!tb[MORPH_A_PREFERENCE_RANK]) {
		NL_SET_ERR_MSG_ATTR(info->extack, nest, "a preference requires a rank");
		return -EINVAL;
	}
	preference->rank = nla_get_u32(tb[MORPH_A_PREFERENCE_RANK]);
	preference->spare = spare ? nla_get_u32(spare) : MORPH_ANY;
	return 0;
}

/* The first preference that a refusal is about. */
static struct nlattr *prefer_culprit(struct genl_info *info, const struct morph_preference *list,
				     const struct morph_refusal *refusal)
{
	bool spare = refusal->part == MORPH_PART_ACCELERATOR;
	struct nlattr *nest = NULL;
	u32 i = 0;

	while ((nest = morph_nl_next(info, nest, MORPH_A_SLICE_PREFERENCE))) {
		if ((spare ? list[i].spare : list[i].rank) == refusal->index)
			return nest;
		i++;
	}
	return NULL;
}

static int set_preferences(struct genl_info *info, struct morph_slice *slice)
{
	struct morph_preference *list;
	struct nlattr *nest = NULL;
	struct morph_refusal refusal = {};
	u32 count = 0, i = 0;
	int ret = 0;

	while ((nest = morph_nl_next(info, nest, MORPH_A_SLICE_PREFERENCE)))
		count++;
	list = kvmalloc_array(count, sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		return -ENOMEM;
	while (!ret && (nest = morph_nl_next(info, nest, MORPH_A_SLICE_PREFERENCE)))
		ret = read_preference(info, nest, &list[i++]);
	if (!ret) {
		ret = morph_repair_prefer(slice, list, count, &refusal);
		if (ret)
			morph_nl_refuse(info, ret, &refusal,
					prefer_culprit(info, list, &refusal));
	}
	kvfree(list);
	return ret;
}

static int set_attributes(struct genl_info *info, struct morph_slice *slice)
{
	struct nlattr *controller = info->attrs[MORPH_A_SLICE_CONTROLLER];
	struct nlattr *failover = info->attrs[MORPH_A_SLICE_FAILOVER];
	bool prefers = info->attrs[MORPH_A_SLICE_PREFERENCE];
	bool node = info->attrs[MORPH_A_SLICE_OWNER] || info->attrs[MORPH_A_SLICE_MODE];
	struct morph_refusal refusal = {};
	int ret = 0;

	if (!controller && !failover && !node && !prefers) {
		NL_SET_ERR_MSG(info->extack,
			       "requires failover, controller, owner, mode or preference");
		return -EINVAL;
	}
	if (controller)
		ret = morph_controller_assign(slice, nla_get_u32(controller), &refusal);
	if (ret)
		return morph_nl_refuse(info, ret, &refusal, controller);
	if (node)
		ret = set_node(info, slice);
	if (!ret && prefers)
		ret = set_preferences(info, slice);
	if (ret)
		return ret;
	if (failover)
		ret = morph_slice_set_policy(slice, nla_get_u32(failover), &refusal);
	return ret ? morph_nl_refuse(info, ret, &refusal, failover) : 0;
}

static int set_slice(struct genl_info *info, struct morph_slice *slice)
{
	struct morph_nl_answer answer;
	int ret;

	ret = morph_nl_answer_begin(&answer, info, MORPH_CMD_SLICE_NTF,
				    slice_bytes(slice->ranks_count));
	if (ret)
		return ret;
	ret = set_attributes(info, slice);
	return ret ? morph_nl_answer_drop(&answer, ret) : answer_slice(&answer, info, slice);
}

static int delete_slice(struct genl_info *info, struct morph_slice *slice)
{
	struct morph_refusal refusal = {};
	struct morph_nl_to echo = {};
	int ret = 0;

	if (morph_nl_wants_echo(info))
		ret = morph_nl_reply_begin(&echo, info, slice_bytes(slice->ranks_count));
	if (ret)
		return ret;
	echo.cmd = MORPH_CMD_SLICE_NTF;
	ret = morph_slice_delete(slice, nla_get_flag(info->attrs[MORPH_A_SLICE_FORCE]), &refusal);
	if (!ret)
		return echo.skb ? send_slice(&echo, info, slice) : 0;
	nlmsg_free(echo.skb);
	return morph_nl_refuse(info, ret, &refusal, info->attrs[MORPH_A_SLICE_ID]);
}

static int on_slice(struct genl_info *info, int (*act)(struct genl_info *info,
						       struct morph_slice *slice))
{
	struct morph_fabric *fabric;
	struct morph_slice *slice;
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_SLICE_FABRIC);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	slice = morph_nl_find_slice(info, fabric, MORPH_A_SLICE_ID);
	ret = PTR_ERR_OR_ZERO(slice);
	if (!ret) {
		ret = act(info, slice);
		morph_slice_put(slice);
	}
	put_device(&fabric->dev);
	return ret;
}

int morph_nl_slice_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return on_slice(info, set_slice);
}

int morph_nl_slice_delete_doit(struct sk_buff *skb, struct genl_info *info)
{
	return on_slice(info, delete_slice);
}
