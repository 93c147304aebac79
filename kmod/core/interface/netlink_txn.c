// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: transactions. Changes of light are queued: the reply has the number of the transaction,
 * and a notification reports its end.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"
#include "netlink.h"

#define TXN_BYTES	1024
#define CHANGE_BYTES	192

/* -------------------------------------------------------------------- reply */

/* The plane of the staged route, else the requested one. */
static int put_planes(struct sk_buff *skb, const struct morph_txn *txn,
		      const struct morph_item *item)
{
	const struct optics_graph *graph = txn->fabric->graph;
	u32 src = item->change.src_plane, dst = item->change.dst_plane;

	if (txn->staged && item->new) {
		src = morph_end_plane(graph, item->new->path.tx);
		dst = morph_end_plane(graph, item->new->path.rx);
	}
	if (src != MORPH_PLANE_ANY && nla_put_u32(skb, MORPH_A_CHANGE_SRC_PLANE, src))
		return -EMSGSIZE;
	if (dst != MORPH_PLANE_ANY && nla_put_u32(skb, MORPH_A_CHANGE_DST_PLANE, dst))
		return -EMSGSIZE;
	return 0;
}

/* One end of an added circuit: a rank, or an edge. */
static int put_end_of(struct sk_buff *skb, int rank_attr, int edge_attr, u32 rank)
{
	return rank & MORPH_RANK_EDGE ? nla_put_u32(skb, edge_attr, rank & ~MORPH_RANK_EDGE) :
					nla_put_u32(skb, rank_attr, rank);
}

static int put_change_fields(struct sk_buff *skb, const struct morph_txn *txn,
			     const struct morph_item *item)
{
	const struct morph_change *change = &item->change;
	bool add = change->op == MORPH_CHANGE_ADD;
	u64 lanes = change->lanes;

	if (txn->staged && item->new)
		lanes = item->new->path.lanes;
	return nla_put_u32(skb, MORPH_A_CHANGE_OP, change->op) ||
	       ((change->circuit || !add) &&
		nla_put_u32(skb, MORPH_A_CHANGE_CIRCUIT, change->circuit)) ||
	       (add && put_end_of(skb, MORPH_A_CHANGE_SRC_RANK, MORPH_A_CHANGE_SRC_EDGE,
				  change->src_rank)) ||
	       (add && put_end_of(skb, MORPH_A_CHANGE_DST_RANK, MORPH_A_CHANGE_DST_EDGE,
				  change->dst_rank)) ||
	       put_planes(skb, txn, item) ||
	       (lanes &&
		nla_put_u64_64bit(skb, MORPH_A_CHANGE_LANES, lanes, MORPH_A_CHANGE_PAD)) ||
	       nla_put_s32(skb, MORPH_A_CHANGE_STATUS, change->status) ||
	       nla_put_u32(skb, MORPH_A_CHANGE_REASON, change->reason) ||
	       nla_put_u32(skb, MORPH_A_CHANGE_PART, change->part) ||
	       morph_nl_put_index(skb, MORPH_A_CHANGE_INDEX, change->index) ||
	       nla_put_u64_64bit(skb, MORPH_A_CHANGE_DARK_NS, change->dark_ns,
				 MORPH_A_CHANGE_PAD);
}

static int put_change(struct sk_buff *skb, const struct morph_txn *txn, u32 index)
{
	struct nlattr *nest = nla_nest_start(skb, MORPH_A_TXN_CHANGE);

	if (!nest)
		return -EMSGSIZE;
	if (put_change_fields(skb, txn, &txn->items[index])) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* The results, which may not be read while the transaction runs. */
static int put_end(struct sk_buff *skb, const struct morph_txn *txn)
{
	const struct morph_refusal *refusal = &txn->refusal;
	bool test = txn->kind == morph_txn_kinds[MORPH_TXN_TEST];

	if (nla_put_s32(skb, MORPH_A_TXN_STATUS, txn->status) ||
	    nla_put_u64_64bit(skb, MORPH_A_TXN_SEQ, txn->seq, MORPH_A_TXN_PAD) ||
	    morph_nl_put_times(skb, MORPH_A_TXN_TIMES, &txn->session.times))
		return -EMSGSIZE;
	if (!refusal->reason)
		return test && (nla_put_u32(skb, MORPH_A_TXN_PART, txn->target.part) ||
				nla_put_u32(skb, MORPH_A_TXN_INDEX, txn->target.index)) ?
			       -EMSGSIZE : 0;
	return nla_put_u32(skb, MORPH_A_TXN_REASON, refusal->reason) ||
	       nla_put_u32(skb, MORPH_A_TXN_PART, refusal->part) ||
	       morph_nl_put_index(skb, MORPH_A_TXN_INDEX, refusal->index) ||
	       nla_put_s64(skb, MORPH_A_TXN_HAVE, refusal->have, MORPH_A_TXN_PAD) ||
	       nla_put_s64(skb, MORPH_A_TXN_NEED, refusal->need, MORPH_A_TXN_PAD) ||
	       nla_put_string(skb, MORPH_A_TXN_TEXT, refusal->text);
}

/*
 * The outcome to report. A queued step waits for devices without the lock; until it ends, the
 * outcome before the step is not the result of the transaction.
 */
static u32 reported_outcome(const struct morph_txn *txn)
{
	bool stepping = txn->stepping_from && txn->outcome == txn->stepping_from;

	return stepping ? MORPH_OUTCOME_RUNNING : txn->outcome;
}

static int put_txn(struct sk_buff *skb, struct morph_txn *txn)
{
	bool running = reported_outcome(txn) == MORPH_OUTCOME_RUNNING;
	u64 lease = morph_txn_lease_left(txn);

	return nla_put_u32(skb, MORPH_A_TXN_FABRIC, txn->fabric->id) ||
	       (txn->slice_number &&
		nla_put_u32(skb, MORPH_A_TXN_SLICE, txn->slice_number)) ||
	       (txn->id && nla_put_u32(skb, MORPH_A_TXN_ID, txn->id)) ||
	       nla_put_u32(skb, MORPH_A_TXN_OUTCOME, reported_outcome(txn)) ||
	       (txn->cookie &&
		nla_put_u64_64bit(skb, MORPH_A_TXN_COOKIE, txn->cookie, MORPH_A_TXN_PAD)) ||
	       (lease && nla_put_u64_64bit(skb, MORPH_A_TXN_LEASE_NS, lease, MORPH_A_TXN_PAD)) ||
	       (!running && put_end(skb, txn));
}

/*
 * Fill a transaction with its changes from *change on, at most @most or until the message is full;
 * *change then is the first missing one. While it runs, the executing thread owns its changes. A
 * message without any missing change is removed, because a dump would make no progress.
 */
static int fill_txn(struct morph_nl_to *to, struct morph_txn *txn, u32 *change, u32 most)
{
	u32 count = reported_outcome(txn) == MORPH_OUTCOME_RUNNING ? 0 : txn->count;
	u32 first = *change, end;
	void *header;
	bool failed;

	end = first + min(most, count > first ? count - first : 0);
	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = put_txn(to->skb, txn);
	while (!failed && *change < end && !put_change(to->skb, txn, *change))
		(*change)++;
	return morph_nl_end(to, header, failed || (first < end && *change == first));
}

static size_t txn_bytes(u32 changes)
{
	return TXN_BYTES + CHANGE_BYTES * min(changes, MORPH_NL_LIST_MAX);
}

void morph_netlink_txn(struct morph_txn *txn)
{
	struct morph_nl_to to;
	u32 change = 0;

	if (morph_nl_notify_begin(&to, MORPH_CMD_TXN_NTF, txn_bytes(txn->count)))
		morph_nl_notify_end(&to, fill_txn(&to, txn, &change, MORPH_NL_LIST_MAX));
}

/* Send a transaction as the reply that was begun. */
static int reply_txn(struct morph_nl_to *to, struct genl_info *info, struct morph_txn *txn)
{
	u32 change = 0;
	int ret;

	morph_fabric_lock(txn->fabric);
	ret = fill_txn(to, txn, &change, MORPH_NL_LIST_MAX);
	morph_fabric_unlock(txn->fabric);
	return morph_nl_reply_end(to, info, ret);
}

/* The transaction that the request names, with a reference; or ERR_PTR, and the reason in @info. */
static struct morph_txn *find_txn(struct genl_info *info, struct morph_fabric *fabric)
{
	struct morph_txn *txn;
	u32 id, ended;

	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_TXN_ID)) {
		NL_SET_ERR_MSG(info->extack, "the id of the transaction is missing");
		return ERR_PTR(-EINVAL);
	}
	id = nla_get_u32(info->attrs[MORPH_A_TXN_ID]);
	morph_fabric_lock(fabric);
	txn = morph_txn_find(fabric, id);
	ended = txns_of(fabric)->ended_count;
	morph_fabric_unlock(fabric);
	if (txn)
		return txn;
	return ERR_PTR(morph_nl_refuse_numbers(info, -ENOENT, info->attrs[MORPH_A_TXN_ID], id,
					       ended, 0,
					       "no transaction {index} (records: {have})"));
}

static int on_txn(struct genl_info *info, int (*act)(struct genl_info *info,
						     struct morph_txn *txn))
{
	struct morph_fabric *fabric;
	struct morph_txn *txn;
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_TXN_FABRIC);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	txn = find_txn(info, fabric);
	ret = PTR_ERR_OR_ZERO(txn);
	if (!ret) {
		ret = act(info, txn);
		morph_txn_put(txn);
	}
	put_device(&fabric->dev);
	return ret;
}

static int get_txn(struct genl_info *info, struct morph_txn *txn)
{
	struct morph_nl_to to;
	int ret;

	ret = morph_nl_reply_begin(&to, info, txn_bytes(txn->count));
	return ret ? ret : reply_txn(&to, info, txn);
}

int morph_nl_txn_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return on_txn(info, get_txn);
}

static int dump_txns(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
		     struct morph_fabric *fabric)
{
	const struct nlattr *only = genl_info_dump(to->cb)->attrs[MORPH_A_TXN_ID];
	u32 last = only ? nla_get_u32(only) : MORPH_ANY;
	struct morph_txn *txn;
	unsigned long id;
	int ret = 0;

	if (only && cursor->index < last)
		cursor->index = last;
	morph_fabric_lock(fabric);
	morph_nl_dump_seq(to, cursor, fabric);
	xa_for_each_range(&txns_of(fabric)->txns, id, txn, cursor->index, last) {
		if (id != cursor->index)	/* the history has dropped it */
			cursor->sub = 0;
		cursor->index = id;
		do {
			ret = fill_txn(to, txn, &cursor->sub, U32_MAX);
		} while (!ret && reported_outcome(txn) != MORPH_OUTCOME_RUNNING &&
			 cursor->sub < txn->count);
		if (ret)
			break;
		cursor->index = id + 1;
		cursor->sub = 0;
	}
	morph_fabric_unlock(fabric);
	return ret;
}

int morph_nl_txn_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return morph_nl_dump(skb, cb, MORPH_CMD_TXN_GET, MORPH_A_TXN_FABRIC, dump_txns);
}

/* ------------------------------------------------------------ circuit-apply */

/* A request for changes while it is parsed. */
struct order {
	const struct morph_slice *slice;
	u32 count;
	u32 flags;
	u64 cookie, generation, lease_ns;
	struct morph_token token;
	struct morph_change *changes;	/* count entries */
	u32 **guides;			/* count entries: explicit paths, or NULL */
};

static void order_free(struct order *order)
{
	u32 i;

	for (i = 0; order->guides && i < order->count; i++)
		kvfree(order->guides[i]);
	kvfree(order->guides);
	kvfree(order->changes);
}

static int read_guides(struct genl_info *info, struct order *order, u32 index,
		       const struct nlattr *nest)
{
	struct nlattr *attr;
	u32 count = 0, i = 0;
	int rem;

	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) == MORPH_A_CHANGE_GUIDE)
			count++;
	if (!count)
		return 0;
	if (count > OPTICS_MAX_HOPS)
		return morph_nl_refuse_numbers(info, -EINVAL, nest, 0, OPTICS_MAX_HOPS, count,
					       "{need} guides, a path has at most {have}");
	order->guides[index] = kvmalloc_array(count, sizeof(u32), GFP_KERNEL_ACCOUNT);
	if (!order->guides[index])
		return -ENOMEM;
	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) == MORPH_A_CHANGE_GUIDE)
			order->guides[index][i++] = nla_get_u32(attr);
	order->changes[index].guides.count = count;
	return 0;
}

/* An invalid edge number must not look like a rank. */
static int check_edges(struct genl_info *info, const struct morph_slice *slice, struct nlattr **tb)
{
	static const u8 edges[] = { MORPH_A_CHANGE_SRC_EDGE, MORPH_A_CHANGE_DST_EDGE };
	struct morph_refusal refusal = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		if (tb[edges[i]] && nla_get_u32(tb[edges[i]]) & MORPH_RANK_EDGE) {
			morph_refuse_index(&refusal, MORPH_PART_EDGE, nla_get_u32(tb[edges[i]]),
					   slice->fabric->graph->edges_count);
			return morph_nl_refuse(info, -ENOENT, &refusal, tb[edges[i]]);
		}
	for (i = MORPH_A_CHANGE_SRC_RANK; i <= MORPH_A_CHANGE_DST_RANK; i++)
		if (tb[i] && nla_get_u32(tb[i]) & MORPH_RANK_EDGE)
			return morph_nl_refuse_numbers(info, -ENOENT, tb[i], nla_get_u32(tb[i]),
						       slice->ranks_count, 0,
						       "no rank {index} (0-{last})");
	return 0;
}

/* Refuse attributes that only a reply has, and check those that the op requires or excludes. */
static int check_change(struct genl_info *info, const struct morph_slice *slice,
			const struct nlattr *nest, struct nlattr **tb)
{
	static const u8 of_replies[] = {
		MORPH_A_CHANGE_STATUS, MORPH_A_CHANGE_REASON, MORPH_A_CHANGE_PART,
		MORPH_A_CHANGE_INDEX, MORPH_A_CHANGE_DARK_NS,
	};
	bool add;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(of_replies); i++)
		if (tb[of_replies[i]]) {
			NL_SET_ERR_MSG_ATTR(info->extack, tb[of_replies[i]],
					    "status, reason, part, index and dark-ns are only valid in replies");
			return -EINVAL;
		}
	if (NL_REQ_ATTR_CHECK(info->extack, nest, tb, MORPH_A_CHANGE_OP)) {
		NL_SET_ERR_MSG(info->extack, "a change requires an op");
		return -EINVAL;
	}
	add = nla_get_u32(tb[MORPH_A_CHANGE_OP]) == MORPH_CHANGE_ADD;
	if (add && !tb[MORPH_A_CHANGE_SRC_EDGE] &&
	    NL_REQ_ATTR_CHECK(info->extack, nest, tb, MORPH_A_CHANGE_SRC_RANK)) {
		NL_SET_ERR_MSG(info->extack, "add requires src-rank or src-edge");
		return -EINVAL;
	}
	if (add && !tb[MORPH_A_CHANGE_DST_EDGE] &&
	    NL_REQ_ATTR_CHECK(info->extack, nest, tb, MORPH_A_CHANGE_DST_RANK)) {
		NL_SET_ERR_MSG(info->extack, "add requires dst-rank or dst-edge");
		return -EINVAL;
	}
	if (!add && NL_REQ_ATTR_CHECK(info->extack, nest, tb, MORPH_A_CHANGE_CIRCUIT)) {
		NL_SET_ERR_MSG(info->extack, "remove and move require a circuit");
		return -EINVAL;
	}
	if (add == !tb[MORPH_A_CHANGE_CIRCUIT] &&
	    add == !!tb[MORPH_A_CHANGE_SRC_RANK] + !!tb[MORPH_A_CHANGE_SRC_EDGE] &&
	    add == !!tb[MORPH_A_CHANGE_DST_RANK] + !!tb[MORPH_A_CHANGE_DST_EDGE])
		return check_edges(info, slice, tb);
	NL_SET_ERR_MSG_ATTR(info->extack, nest,
			    "add takes a rank or an edge at each end, remove and move take a circuit");
	return -EINVAL;
}

static u32 change_u32(struct nlattr **tb, int type, u32 otherwise)
{
	return tb[type] ? nla_get_u32(tb[type]) : otherwise;
}

/* One end in the form of the device's structure. */
static u32 change_end(struct nlattr **tb, int rank, int edge)
{
	return tb[edge] ? MORPH_RANK_EDGE | nla_get_u32(tb[edge]) : change_u32(tb, rank, 0);
}

static int read_change(struct genl_info *info, struct order *order, u32 index,
		       const struct nlattr *nest)
{
	struct nlattr *tb[MORPH_A_CHANGE_MAX + 1];
	int ret;

	ret = nla_parse_nested(tb, MORPH_A_CHANGE_MAX, nest, morph_change_nl_policy,
			       info->extack);
	if (!ret)
		ret = check_change(info, order->slice, nest, tb);
	if (ret)
		return ret;
	order->changes[index] = (struct morph_change) {
		.op = nla_get_u32(tb[MORPH_A_CHANGE_OP]),
		.circuit = change_u32(tb, MORPH_A_CHANGE_CIRCUIT, 0),
		.src_rank = change_end(tb, MORPH_A_CHANGE_SRC_RANK, MORPH_A_CHANGE_SRC_EDGE),
		.dst_rank = change_end(tb, MORPH_A_CHANGE_DST_RANK, MORPH_A_CHANGE_DST_EDGE),
		.src_plane = change_u32(tb, MORPH_A_CHANGE_SRC_PLANE, MORPH_PLANE_ANY),
		.dst_plane = change_u32(tb, MORPH_A_CHANGE_DST_PLANE, MORPH_PLANE_ANY),
		.lanes_count = change_u32(tb, MORPH_A_CHANGE_LANES_COUNT, 0),
		.lanes = tb[MORPH_A_CHANGE_LANES] ? nla_get_u64(tb[MORPH_A_CHANGE_LANES]) : 0,
	};
	return read_guides(info, order, index, nest);
}

/* Read the token of the requester. */
static int read_token(struct genl_info *info, struct morph_token *token)
{
	struct nlattr *controller = info->attrs[MORPH_A_TXN_CONTROLLER];
	struct nlattr *epoch = info->attrs[MORPH_A_TXN_EPOCH];

	if (!controller != !epoch) {
		NL_SET_ERR_MSG(info->extack, "controller and epoch require each other");
		return -EINVAL;
	}
	*token = (struct morph_token) {
		.needed = true,
		.controller = controller ? nla_get_u32(controller) : 0,
		.epoch = epoch ? nla_get_u64(epoch) : 0,
	};
	return 0;
}

/* The attribute that caused a refusal: the epoch, the controller, or another. */
static const struct nlattr *token_culprit(struct genl_info *info,
					  const struct morph_refusal *refusal, int otherwise)
{
	if (refusal->reason != MORPH_REASON_CONTROLLER)
		return otherwise ? info->attrs[otherwise] : NULL;
	return info->attrs[refusal->error == -EPERM ? MORPH_A_TXN_CONTROLLER : MORPH_A_TXN_EPOCH];
}

static int check_profile(struct genl_info *info, struct morph_fabric *fabric)
{
	u32 checksum = morph_nl_get_u32(info, MORPH_A_TXN_PROFILE_CHECKSUM, 0);
	struct morph_refusal refusal = {};
	int ret;

	ret = morph_fabric_check_profile(fabric, checksum, &refusal);
	return ret ? morph_nl_refuse(info, ret, &refusal,
				     info->attrs[MORPH_A_TXN_PROFILE_CHECKSUM]) : 0;
}

static int check_flags(struct genl_info *info, const struct order *order)
{
	bool prepare = order->flags & MORPH_TXN_PREPARE, each = order->flags & MORPH_TXN_EACH;
	struct nlattr *lease = info->attrs[MORPH_A_TXN_LEASE_NS];

	if (each && order->flags != MORPH_TXN_EACH) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[MORPH_A_TXN_EACH],
				    "each is not valid with prepare or dry-run");
		return -EINVAL;
	}
	if (prepare && (order->flags & MORPH_TXN_DRY_RUN)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[MORPH_A_TXN_PREPARE],
				    "prepare is not valid with dry-run");
		return -EINVAL;
	}
	if (prepare != !!lease) {
		NL_SET_ERR_MSG(info->extack, "lease-ns and prepare require each other");
		return -EINVAL;
	}
	if (lease && !morph_lease_ok(order->lease_ns)) {
		NL_SET_ERR_MSG_ATTR(info->extack, lease, "a lease must be 1 ms to 1 hour long");
		return -EINVAL;
	}
	return 0;
}

static int order_read(struct genl_info *info, struct order *order)
{
	struct nlattr *attr = NULL;
	u32 i = 0;
	int ret;

	order->cookie = morph_nl_get_u64(info, MORPH_A_TXN_COOKIE, 0);
	order->generation = morph_nl_get_u64(info, MORPH_A_TXN_GENERATION, MORPH_GENERATION_ANY);
	order->lease_ns = morph_nl_get_u64(info, MORPH_A_TXN_LEASE_NS, 0);
	order->flags = (info->attrs[MORPH_A_TXN_DRY_RUN] ? MORPH_TXN_DRY_RUN : 0) |
		       (info->attrs[MORPH_A_TXN_EACH] ? MORPH_TXN_EACH : 0) |
		       (info->attrs[MORPH_A_TXN_PREPARE] ? MORPH_TXN_PREPARE : 0);
	ret = check_flags(info, order);
	if (!ret)
		ret = read_token(info, &order->token);
	if (ret)
		return ret;
	while ((attr = morph_nl_next(info, attr, MORPH_A_TXN_CHANGE)))
		i++;
	if (!i || i > MORPH_MAX_CHANGES)
		return morph_nl_refuse_numbers(info, -EINVAL, NULL, 0, MORPH_MAX_CHANGES, i,
					       "{need} changes, a transaction has 1 to {have}");
	order->changes = kvcalloc(i, sizeof(*order->changes), GFP_KERNEL_ACCOUNT);
	order->guides = kvcalloc(i, sizeof(*order->guides), GFP_KERNEL_ACCOUNT);
	if (!order->changes || !order->guides)
		return -ENOMEM;
	order->count = i;
	i = 0;
	while ((attr = morph_nl_next(info, attr, MORPH_A_TXN_CHANGE))) {
		ret = read_change(info, order, i++, attr);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Stage, report the result, and undo. Do not wait for a slice that is being changed, because that
 * would wait for a device. Staging drops fabric->lock at times.
 */
static int dry_run(struct genl_info *info, struct morph_nl_to *to, struct morph_txn *txn)
{
	struct morph_fabric *fabric = txn->fabric;
	u32 change = 0;
	u64 begin;
	int ret;

	morph_fabric_lock(fabric);
	if (txn->slice->busy)
		ret = morph_refuse(&txn->refusal, -EAGAIN, MORPH_REASON_STATE, 0, 0,
				   "the slice is being changed; try again");
	else
		ret = morph_txn_enter_slice(txn, &txn->refusal);
	if (ret) {
		morph_fabric_unlock(fabric);
		morph_nl_refuse(info, ret, &txn->refusal, NULL);
		return morph_nl_reply_end(to, info, ret);
	}
	begin = ktime_get_ns();
	txn->status = morph_txn_plan_and_stage(txn);
	txn->session.times.phase_ns[MORPH_PHASE_PLAN] = ktime_get_ns() - begin;
	txn->seq = fabric->seq;
	ret = fill_txn(to, txn, &change, MORPH_NL_LIST_MAX);
	morph_txn_unstage_in_parts(txn);
	morph_slice_leave(txn->slice);
	morph_fabric_unlock(fabric);
	return morph_nl_reply_end(to, info, ret);
}

static int apply(struct genl_info *info, struct morph_slice *slice, struct order *order)
{
	struct morph_refusal refusal = {};
	struct morph_nl_to to;
	struct morph_txn *txn;
	int ret;

	ret = morph_nl_reply_begin(&to, info, txn_bytes(order->count));
	if (ret)
		return ret;
	txn = morph_txn_repeated(slice, order->cookie);
	if (txn) {
		ret = reply_txn(&to, info, txn);
		morph_txn_put(txn);
		return ret;
	}
	/* Refuse early what is known to fail; staging checks again. */
	morph_fabric_lock(slice->fabric);
	ret = morph_controller_permits(slice, &order->token, &refusal);
	morph_fabric_unlock(slice->fabric);
	if (ret) {
		morph_nl_refuse(info, ret, &refusal, token_culprit(info, &refusal, 0));
		return morph_nl_reply_end(&to, info, ret);
	}
	txn = morph_txn_alloc(slice, order->changes, order->guides, order->count, order->flags,
			      GFP_KERNEL_ACCOUNT);
	if (!txn)
		return morph_nl_reply_end(&to, info, -ENOMEM);
	memset(order->guides, 0, array_size(order->count, sizeof(*order->guides)));
	txn->cookie = order->cookie;
	txn->generation = order->generation;
	txn->lease_ns = order->lease_ns;
	txn->token = order->token;
	if (order->flags & MORPH_TXN_DRY_RUN) {
		ret = dry_run(info, &to, txn);
	} else {
		ret = morph_txn_queue(txn);
		if (ret) {
			morph_nl_refuse(info, ret, &txn->refusal, NULL);
			morph_nl_reply_end(&to, info, ret);
		} else {
			ret = reply_txn(&to, info, txn);
		}
	}
	morph_txn_put(txn);
	return ret;
}

int morph_nl_circuit_apply_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct morph_fabric *fabric;
	struct morph_slice *slice;
	struct order order = {};
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_TXN_FABRIC);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	slice = morph_nl_find_slice(info, fabric, MORPH_A_TXN_SLICE);
	ret = PTR_ERR_OR_ZERO(slice);
	if (!ret) {
		order.slice = slice;
		ret = check_profile(info, fabric);
		if (!ret)
			ret = order_read(info, &order);
		if (!ret)
			ret = apply(info, slice, &order);
		order_free(&order);
		morph_slice_put(slice);
	}
	put_device(&fabric->dev);
	return ret;
}

/* ----------------------------------------------------------------- txn-step */

static int step_txn(struct genl_info *info, struct morph_txn *txn)
{
	struct nlattr *lease = info->attrs[MORPH_A_TXN_LEASE_NS];
	u64 lease_ns = morph_nl_get_u64(info, MORPH_A_TXN_LEASE_NS, 0);
	struct morph_refusal refusal = {};
	struct morph_token token;
	struct morph_nl_to to;
	u32 verb;
	int ret;

	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_TXN_VERB)) {
		NL_SET_ERR_MSG(info->extack, "the verb is missing");
		return -EINVAL;
	}
	verb = nla_get_u32(info->attrs[MORPH_A_TXN_VERB]);
	if (lease && ((verb != MORPH_TXN_COMMIT && verb != MORPH_TXN_VERIFY) ||
		      !morph_lease_ok(lease_ns))) {
		NL_SET_ERR_MSG_ATTR(info->extack, lease,
				    "a lease is only valid with commit and verify, 1 ms to 1 hour");
		return -EINVAL;
	}
	ret = read_token(info, &token);
	if (!ret)
		ret = morph_nl_reply_begin(&to, info, txn_bytes(txn->count));
	if (ret)
		return ret;
	if (verb != MORPH_TXN_QUERY)
		ret = morph_txn_step_queue(txn, verb, lease_ns, &token, &refusal);
	if (!ret)
		return reply_txn(&to, info, txn);
	morph_nl_refuse(info, ret, &refusal, token_culprit(info, &refusal, MORPH_A_TXN_VERB));
	return morph_nl_reply_end(&to, info, ret);
}

int morph_nl_txn_step_doit(struct sk_buff *skb, struct genl_info *info)
{
	return on_txn(info, step_txn);
}
