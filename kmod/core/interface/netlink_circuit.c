// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: circuits. Administrators only. */
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "netlink.h"

#define CIRCUIT_BYTES	(512 + 24 * OPTICS_MAX_HOPS)

static int put_path(struct sk_buff *skb, const struct optics_path *path)
{
	u32 i;

	for (i = 0; i < path->hops_count; i++)
		if (nla_put_u32(skb, MORPH_A_CIRCUIT_GUIDE, path->hops[i].guide >> 1))
			return -EMSGSIZE;
	for (i = 0; i < path->hops_count; i++)
		if (path->hops[i].element != OPTICS_NONE &&
		    nla_put_u32(skb, MORPH_A_CIRCUIT_ELEMENT, path->hops[i].element))
			return -EMSGSIZE;
	for (i = 0; i < path->hops_count; i++)
		if (path->hops[i].element != OPTICS_NONE &&
		    nla_put_u32(skb, MORPH_A_CIRCUIT_ELEMENT_STATE, path->hops[i].state))
			return -EMSGSIZE;
	return 0;
}

/* Rank, accelerator and plane of both ends; for a half circuit, an edge at one end. */
static int put_ends(struct sk_buff *skb, const struct morph_circuit_info *info,
		    const struct optics_path *path, u32 planes)
{
	bool from = info->src_rank & MORPH_RANK_EDGE, to = info->dst_rank & MORPH_RANK_EDGE;

	return (!from && nla_put_u32(skb, MORPH_A_CIRCUIT_SRC_RANK, info->src_rank)) ||
	       (!to && nla_put_u32(skb, MORPH_A_CIRCUIT_DST_RANK, info->dst_rank)) ||
	       (!from && nla_put_u32(skb, MORPH_A_CIRCUIT_SRC_ACCELERATOR, path->tx / planes)) ||
	       (!to && nla_put_u32(skb, MORPH_A_CIRCUIT_DST_ACCELERATOR, path->rx / planes)) ||
	       (!from && nla_put_u32(skb, MORPH_A_CIRCUIT_SRC_PLANE, info->src_plane)) ||
	       (!to && nla_put_u32(skb, MORPH_A_CIRCUIT_DST_PLANE, info->dst_plane)) ||
	       (from && nla_put_u32(skb, MORPH_A_CIRCUIT_SRC_EDGE,
				    info->src_rank & ~MORPH_RANK_EDGE)) ||
	       (to && nla_put_u32(skb, MORPH_A_CIRCUIT_DST_EDGE,
				  info->dst_rank & ~MORPH_RANK_EDGE));
}

static int fill_circuit(struct morph_nl_to *to, struct morph_circuit *circuit)
{
	const struct morph_fabric *fabric = circuit->slice->fabric;
	const struct optics_path *path = &circuit->route->path;
	struct morph_circuit_info info = {};
	struct sk_buff *skb = to->skb;
	bool failed;
	void *header;

	morph_circuit_fill_info(circuit, &info);
	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_CIRCUIT_FABRIC, fabric->id) ||
		 nla_put_u32(skb, MORPH_A_CIRCUIT_SLICE, circuit->slice->number) ||
		 nla_put_u32(skb, MORPH_A_CIRCUIT_ID, info.circuit) ||
		 nla_put_u32(skb, MORPH_A_CIRCUIT_STATE, info.state) ||
		 put_ends(skb, &info, path, fabric->graph->params.planes) ||
		 nla_put_u64_64bit(skb, MORPH_A_CIRCUIT_LANES, info.lanes,
				   MORPH_A_CIRCUIT_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_CIRCUIT_BANDWIDTH_MBPS, info.bandwidth_mbps,
				   MORPH_A_CIRCUIT_PAD) ||
		 nla_put_u32(skb, MORPH_A_CIRCUIT_LOSS_MDB, info.loss_mdb) ||
		 nla_put_s32(skb, MORPH_A_CIRCUIT_MARGIN_MDB, info.margin_mdb) ||
		 nla_put_s32(skb, MORPH_A_CIRCUIT_POWER_MDBM, info.power_mdbm) ||
		 nla_put_s32(skb, MORPH_A_CIRCUIT_ISOLATION_MDB, info.isolation_mdb) ||
		 nla_put_u64_64bit(skb, MORPH_A_CIRCUIT_DARK_NS, info.dark_ns,
				   MORPH_A_CIRCUIT_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_CIRCUIT_LAST_VERIFIED_NS, info.last_verified_ns,
				   MORPH_A_CIRCUIT_PAD) ||
		 put_path(skb, path);
	return morph_nl_end(to, header, failed);
}

static int reply_circuit(struct genl_info *info, struct morph_slice *slice)
{
	struct nlattr *id = info->attrs[MORPH_A_CIRCUIT_ID];
	struct morph_circuit *circuit;
	struct morph_nl_to to;
	int ret;

	if (GENL_REQ_ATTR_CHECK(info, MORPH_A_CIRCUIT_ID)) {
		NL_SET_ERR_MSG(info->extack, "the id of the circuit is missing");
		return -EINVAL;
	}
	ret = morph_nl_reply_begin(&to, info, CIRCUIT_BYTES);
	if (ret)
		return ret;
	morph_fabric_lock(slice->fabric);
	circuit = xa_load(&slice->circuits, nla_get_u32(id));
	if (circuit && morph_circuit_shown(circuit)) {
		ret = fill_circuit(&to, circuit);
	} else {
		ret = morph_nl_refuse_numbers(info, -ENOENT, id, nla_get_u32(id),
					      slice->circuits_count, 0,
					      "no circuit {index} (circuits: {have})");
	}
	morph_fabric_unlock(slice->fabric);
	return morph_nl_reply_end(&to, info, ret);
}

int morph_nl_circuit_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct morph_fabric *fabric;
	struct morph_slice *slice;
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_CIRCUIT_FABRIC);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	slice = morph_nl_find_slice(info, fabric, MORPH_A_CIRCUIT_SLICE);
	ret = PTR_ERR_OR_ZERO(slice);
	if (!ret) {
		ret = reply_circuit(info, slice);
		morph_slice_put(slice);
	}
	put_device(&fabric->dev);
	return ret;
}

/* Dump circuits of one slice, from the cursor's sub on. */
static int dump_slice(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
		      struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	unsigned long id;
	int ret;

	xa_for_each_start(&slice->circuits, id, circuit, cursor->sub) {
		if (!morph_circuit_shown(circuit))
			continue;
		cursor->sub = id;
		ret = fill_circuit(to, circuit);
		if (ret)
			return ret;
	}
	return 0;
}

static int dump_circuits(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
			 struct morph_fabric *fabric)
{
	return morph_nl_dump_slices(to, cursor, fabric,
				    genl_info_dump(to->cb)->attrs[MORPH_A_CIRCUIT_SLICE],
				    dump_slice);
}

int morph_nl_circuit_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	int ret;

	ret = morph_nl_dump_lacks(cb, MORPH_A_CIRCUIT_ID);
	return ret ? ret : morph_nl_dump(skb, cb, MORPH_CMD_CIRCUIT_GET, MORPH_A_CIRCUIT_FABRIC,
					 dump_circuits);
}
