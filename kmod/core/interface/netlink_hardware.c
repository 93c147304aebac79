// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: accelerators, guides, elements. Any user may read them. */
#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "netlink.h"

#define OBJECT_BYTES	512

/* ------------------------------------------------------------- accelerators */

/* Only an administrator may see the holder. */
static int put_holder(struct morph_nl_to *to, const struct morph_chip *chip)
{
	if (!to->admin || !chip->slice)
		return 0;
	if (nla_put_u32(to->skb, MORPH_A_ACCELERATOR_SLICE, chip->slice->number))
		return -EMSGSIZE;
	if (chip->rank == MORPH_ANY)	/* a spare that the slice has reserved */
		return 0;
	return nla_put_u32(to->skb, MORPH_A_ACCELERATOR_RANK, chip->rank);
}

static int fill_accelerator(struct morph_nl_to *to, struct morph_fabric *fabric, u32 index)
{
	struct morph_accelerator_info info = {};
	struct sk_buff *skb = to->skb;
	bool failed;
	void *header;

	morph_accelerator_fill_info(fabric, index, &info);
	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_ACCELERATOR_FABRIC, fabric->id) ||
		 nla_put_u32(skb, MORPH_A_ACCELERATOR_ID, index) ||
		 nla_put_u32(skb, MORPH_A_ACCELERATOR_HOST, info.host) ||
		 nla_put_string(skb, MORPH_A_ACCELERATOR_HOST_NAME,
				fabric->graph->hosts[info.host].name) ||
		 nla_put_u32(skb, MORPH_A_ACCELERATOR_X, info.x) ||
		 nla_put_u32(skb, MORPH_A_ACCELERATOR_Y, info.y) ||
		 nla_put_u32(skb, MORPH_A_ACCELERATOR_Z, info.z) ||
		 nla_put_u32(skb, MORPH_A_ACCELERATOR_USE, info.use) ||
		 nla_put_u32(skb, MORPH_A_ACCELERATOR_HEALTH, info.health) ||
		 nla_put_u8(skb, MORPH_A_ACCELERATOR_CORDONED, info.cordoned) ||
		 nla_put_string(skb, MORPH_A_ACCELERATOR_PCI, info.pci) ||
		 nla_put(skb, MORPH_A_ACCELERATOR_UUID, sizeof(info.uuid), info.uuid) ||
		 nla_put_u64_64bit(skb, MORPH_A_ACCELERATOR_LAST_VERIFIED_NS,
				   info.last_verified_ns, MORPH_A_ACCELERATOR_PAD) ||
		 put_holder(to, &ledger_of(fabric)->chips[index]) ||
		 (ledger_of(fabric)->chips[index].lent &&
		  nla_put_flag(skb, MORPH_A_ACCELERATOR_LENT)) ||
		 nla_put_u64_64bit(skb, MORPH_A_ACCELERATOR_SEQ, fabric->seq,
				   MORPH_A_ACCELERATOR_PAD);
	return morph_nl_end(to, header, failed);
}

void morph_netlink_accelerator(struct morph_fabric *fabric, u32 index)
{
	struct morph_nl_to to;

	if (morph_nl_notify_begin(&to, MORPH_CMD_ACCELERATOR_NTF, OBJECT_BYTES))
		morph_nl_notify_end(&to, fill_accelerator(&to, fabric, index));
}

/* ------------------------------------------------------------------- guides */

/* Attributes carry the numbers of the profile. */
static_assert((int)MORPH_GUIDE_TYPE_EDGE == MORPH_GUIDE_EDGE);
static_assert((int)MORPH_GUIDE_TYPE_FIBRE == MORPH_GUIDE_FIBRE);
static_assert((int)MORPH_GUIDE_END_RECEIVER == MORPH_END_RX);
static_assert((int)MORPH_GUIDE_END_EDGE == MORPH_END_EDGE);

static int put_ends(struct sk_buff *skb, const struct optics_end *a, const struct optics_end *b)
{
	return nla_put_u32(skb, MORPH_A_GUIDE_A_TYPE, a->type) ||
	       nla_put_u32(skb, MORPH_A_GUIDE_A_INDEX, a->index) ||
	       nla_put_u32(skb, MORPH_A_GUIDE_A_PORT, a->port) ||
	       nla_put_u32(skb, MORPH_A_GUIDE_B_TYPE, b->type) ||
	       nla_put_u32(skb, MORPH_A_GUIDE_B_INDEX, b->index) ||
	       nla_put_u32(skb, MORPH_A_GUIDE_B_PORT, b->port);
}

static int fill_guide(struct morph_nl_to *to, struct morph_fabric *fabric, u32 index)
{
	const struct optics_guide *guide = &fabric->graph->guides[index];
	struct morph_guide_info info = {};
	struct sk_buff *skb = to->skb;
	bool failed;
	void *header;

	morph_guide_fill_info(fabric, index, &info);
	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_GUIDE_FABRIC, fabric->id) ||
		 nla_put_u32(skb, MORPH_A_GUIDE_ID, index) ||
		 nla_put_u32(skb, MORPH_A_GUIDE_CLASS, info.type) ||
		 nla_put_u32(skb, MORPH_A_GUIDE_HEALTH, info.health) ||
		 nla_put_u8(skb, MORPH_A_GUIDE_CORDONED, info.cordoned) ||
		 nla_put_u64_64bit(skb, MORPH_A_GUIDE_LANES, info.lanes, MORPH_A_GUIDE_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_GUIDE_LANES_FREE, info.lanes_free,
				   MORPH_A_GUIDE_PAD) ||
		 nla_put_u32(skb, MORPH_A_GUIDE_LOSS_MDB, info.loss_mdb) ||
		 put_ends(skb, &guide->end[0], &guide->end[1]) ||
		 nla_put_u64_64bit(skb, MORPH_A_GUIDE_SEQ, fabric->seq, MORPH_A_GUIDE_PAD);
	return morph_nl_end(to, header, failed);
}

/* ----------------------------------------------------------------- elements */

static int fill_element(struct morph_nl_to *to, struct morph_fabric *fabric, u32 index)
{
	const struct optics_element *element = &fabric->graph->elements[index];
	struct morph_element_info info = {};
	struct sk_buff *skb = to->skb;
	bool failed;
	void *header;

	morph_element_fill_info(fabric, index, &info);
	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_ELEMENT_FABRIC, fabric->id) ||
		 nla_put_u32(skb, MORPH_A_ELEMENT_ID, index) ||
		 nla_put_string(skb, MORPH_A_ELEMENT_KIND,
				fabric->graph->kinds[element->kind].name) ||
		 (info.tile != MORPH_ANY &&
		  nla_put_u32(skb, MORPH_A_ELEMENT_TILE, info.tile)) ||
		 nla_put_u32(skb, MORPH_A_ELEMENT_STATE, info.state) ||
		 nla_put_u32(skb, MORPH_A_ELEMENT_PINS, info.pins) ||
		 nla_put_u32(skb, MORPH_A_ELEMENT_HEALTH, info.health) ||
		 nla_put_u8(skb, MORPH_A_ELEMENT_CORDONED, info.cordoned) ||
		 nla_put_u64_64bit(skb, MORPH_A_ELEMENT_SEQ, fabric->seq, MORPH_A_ELEMENT_PAD);
	return morph_nl_end(to, header, failed);
}

/* -------------------------------------------------------------------- edges */

static int fill_edge(struct morph_nl_to *to, struct morph_fabric *fabric, u32 index)
{
	u32 slice = ledger_of(fabric)->state->owner[fabric->graph->accelerators_count + index];
	struct morph_edge_info info = {};
	struct sk_buff *skb = to->skb;
	bool peer, failed;
	void *header;

	morph_edge_fill_info(fabric, index, &info);
	peer = memchr_inv(info.peer_uuid, 0, sizeof(info.peer_uuid));
	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_EDGE_FABRIC, fabric->id) ||
		 nla_put_u32(skb, MORPH_A_EDGE_ID, index) ||
		 nla_put_string(skb, MORPH_A_EDGE_NAME, info.name) ||
		 nla_put_u32(skb, MORPH_A_EDGE_GUIDE, info.guide) ||
		 (peer && nla_put(skb, MORPH_A_EDGE_PEER_UUID, sizeof(info.peer_uuid),
				  info.peer_uuid)) ||
		 (peer && nla_put_u32(skb, MORPH_A_EDGE_PEER_EDGE, info.peer_edge)) ||
		 nla_put_s32(skb, MORPH_A_EDGE_LEAST_MDBM, info.least_mdbm) ||
		 nla_put_s32(skb, MORPH_A_EDGE_MOST_MDBM, info.most_mdbm) ||
		 nla_put_u64_64bit(skb, MORPH_A_EDGE_LANES_OUT, info.lanes_out,
				   MORPH_A_EDGE_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_EDGE_LANES_IN, info.lanes_in,
				   MORPH_A_EDGE_PAD) ||
		 (slice && to->admin && nla_put_u32(skb, MORPH_A_EDGE_SLICE, slice)) ||
		 nla_put_u64_64bit(skb, MORPH_A_EDGE_SEQ, fabric->seq, MORPH_A_EDGE_PAD);
	return morph_nl_end(to, header, failed);
}

/* ---------------------------------------------------------------- get, dump */

/* A kind of objects of a fabric with an index. */
struct kind {
	u8 get;
	u8 part;		/* enum morph_part */
	int fabric_attr, id_attr;
	u32 (*count)(const struct optics_graph *graph);
	int (*fill)(struct morph_nl_to *to, struct morph_fabric *fabric, u32 index);
};

static u32 count_accelerators(const struct optics_graph *graph)
{
	return graph->accelerators_count;
}

static u32 count_guides(const struct optics_graph *graph)
{
	return graph->guides_count;
}

static u32 count_elements(const struct optics_graph *graph)
{
	return graph->elements_count;
}

static u32 count_edges(const struct optics_graph *graph)
{
	return graph->edges_count;
}

static const struct kind accelerators = {
	.get = MORPH_CMD_ACCELERATOR_GET,
	.part = MORPH_PART_ACCELERATOR,
	.fabric_attr = MORPH_A_ACCELERATOR_FABRIC,
	.id_attr = MORPH_A_ACCELERATOR_ID,
	.count = count_accelerators,
	.fill = fill_accelerator,
};

static const struct kind guides = {
	.get = MORPH_CMD_GUIDE_GET,
	.part = MORPH_PART_GUIDE,
	.fabric_attr = MORPH_A_GUIDE_FABRIC,
	.id_attr = MORPH_A_GUIDE_ID,
	.count = count_guides,
	.fill = fill_guide,
};

static const struct kind elements = {
	.get = MORPH_CMD_ELEMENT_GET,
	.part = MORPH_PART_ELEMENT,
	.fabric_attr = MORPH_A_ELEMENT_FABRIC,
	.id_attr = MORPH_A_ELEMENT_ID,
	.count = count_elements,
	.fill = fill_element,
};

static const struct kind edges = {
	.get = MORPH_CMD_EDGE_GET,
	.part = MORPH_PART_EDGE,
	.fabric_attr = MORPH_A_EDGE_FABRIC,
	.id_attr = MORPH_A_EDGE_ID,
	.count = count_edges,
	.fill = fill_edge,
};

/* Fill the reply that was begun, and send it. */
static int kind_send(const struct kind *kind, struct morph_nl_to *to, struct sk_buff *skb,
		     struct genl_info *info, struct morph_fabric *fabric)
{
	int ret;

	to->admin = netlink_capable(skb, CAP_NET_ADMIN);
	morph_fabric_lock(fabric);
	ret = kind->fill(to, fabric, nla_get_u32(info->attrs[kind->id_attr]));
	morph_fabric_unlock(fabric);
	return morph_nl_reply_end(to, info, ret);
}

static int kind_reply(const struct kind *kind, struct sk_buff *skb, struct genl_info *info,
		      struct morph_fabric *fabric)
{
	struct morph_nl_to to;
	int ret;

	ret = morph_nl_reply_begin(&to, info, OBJECT_BYTES);
	return ret ? ret : kind_send(kind, &to, skb, info, fabric);
}

static int kind_get(const struct kind *kind, struct sk_buff *skb, struct genl_info *info)
{
	struct morph_fabric *fabric;
	int ret;

	fabric = morph_nl_find_fabric(info, kind->fabric_attr);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	ret = morph_nl_check_index(info, kind->id_attr, kind->part, kind->count(fabric->graph));
	if (!ret)
		ret = kind_reply(kind, skb, info, fabric);
	put_device(&fabric->dev);
	return ret;
}

static int fill_kind(const struct kind *kind, struct morph_nl_to *to,
		     struct morph_nl_cursor *cursor, struct morph_fabric *fabric)
{
	int ret = 0;

	morph_fabric_lock(fabric);
	morph_nl_dump_seq(to, cursor, fabric);
	for (; cursor->index < kind->count(fabric->graph); cursor->index++) {
		ret = kind->fill(to, fabric, cursor->index);
		if (ret)
			break;
	}
	morph_fabric_unlock(fabric);
	return ret;
}

static int kind_dump(const struct kind *kind, struct sk_buff *skb, struct netlink_callback *cb,
		     morph_nl_dump_fn dump)
{
	int ret;

	ret = morph_nl_dump_lacks(cb, kind->id_attr);
	return ret ? ret : morph_nl_dump(skb, cb, kind->get, kind->fabric_attr, dump);
}

int morph_nl_accelerator_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return kind_get(&accelerators, skb, info);
}

static int dump_accelerators(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
			     struct morph_fabric *fabric)
{
	return fill_kind(&accelerators, to, cursor, fabric);
}

int morph_nl_accelerator_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return kind_dump(&accelerators, skb, cb, dump_accelerators);
}

int morph_nl_guide_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return kind_get(&guides, skb, info);
}

static int dump_guides(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
		       struct morph_fabric *fabric)
{
	return fill_kind(&guides, to, cursor, fabric);
}

int morph_nl_guide_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return kind_dump(&guides, skb, cb, dump_guides);
}

int morph_nl_element_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return kind_get(&elements, skb, info);
}

static int dump_elements(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
			 struct morph_fabric *fabric)
{
	return fill_kind(&elements, to, cursor, fabric);
}

int morph_nl_element_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return kind_dump(&elements, skb, cb, dump_elements);
}

int morph_nl_edge_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return kind_get(&edges, skb, info);
}

static int dump_edges(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
		      struct morph_fabric *fabric)
{
	return fill_kind(&edges, to, cursor, fabric);
}

int morph_nl_edge_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return kind_dump(&edges, skb, cb, dump_edges);
}

/* ---------------------------------------------------------- accelerator-set */

static int set_accelerator(struct genl_info *info, struct morph_fabric *fabric, u32 index)
{
	struct nlattr *use = info->attrs[MORPH_A_ACCELERATOR_USE];
	struct nlattr *pci = info->attrs[MORPH_A_ACCELERATOR_PCI];
	struct morph_refusal refusal = {};
	int ret = 0;

	if (use && nla_get_u32(use) != MORPH_USE_FREE && nla_get_u32(use) != MORPH_USE_SPARE) {
		NL_SET_ERR_MSG_ATTR(info->extack, use, "use must be free or spare");
		return -EINVAL;
	}
	if (!use && !pci) {
		NL_SET_ERR_MSG(info->extack, "requires use or pci");
		return -EINVAL;
	}
	if (pci) {
		ret = morph_accelerator_set_pci(fabric, index, nla_data(pci), &refusal);
		if (ret)
			return morph_nl_refuse(info, ret, &refusal, pci);
	}
	if (use)
		ret = morph_accelerator_set_use(fabric, index, nla_get_u32(use), &refusal);
	return ret ? morph_nl_refuse(info, ret, &refusal, use) : 0;
}

static int set_and_answer(struct sk_buff *skb, struct genl_info *info,
			  struct morph_fabric *fabric)
{
	struct morph_nl_answer answer;
	int ret;

	ret = morph_nl_answer_begin(&answer, info, MORPH_CMD_ACCELERATOR_NTF, OBJECT_BYTES);
	if (ret)
		return ret;
	ret = set_accelerator(info, fabric, nla_get_u32(info->attrs[MORPH_A_ACCELERATOR_ID]));
	if (ret)
		return morph_nl_answer_drop(&answer, ret);
	if (answer.echo.skb)
		kind_send(&accelerators, &answer.echo, skb, info, fabric);
	return kind_send(&accelerators, &answer.reply, skb, info, fabric);
}

int morph_nl_accelerator_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct morph_fabric *fabric;
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_ACCELERATOR_FABRIC);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	ret = morph_nl_check_index(info, MORPH_A_ACCELERATOR_ID, MORPH_PART_ACCELERATOR,
				   fabric->graph->accelerators_count);
	if (!ret)
		ret = set_and_answer(skb, info, fabric);
	put_device(&fabric->dev);
	return ret;
}
