// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: fabrics, their counters, and the events of their slices. */
#include "core/interface/interface.h"
#include "core/slice/slice.h"
#include "netlink.h"

#define FABRIC_BYTES	512
#define STATS_BYTES	1280
#define EVENT_BYTES	1024

/* ------------------------------------------------------------------ fabrics */

static int put_fabric_counts(struct sk_buff *skb, struct morph_fabric *fabric,
			     const struct morph_fabric_info *info)
{
	return nla_put_u32(skb, MORPH_A_FABRIC_ACCELERATORS, info->accelerators) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_HOSTS, info->hosts) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_ELEMENTS, info->elements) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_GUIDES, info->guides) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_PLANES, info->planes) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_WAVELENGTHS, info->wavelengths) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_EDGES, info->edges) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_FREE, info->free) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_SPARES, info->spares) ||
	       (info->lent && nla_put_u32(skb, MORPH_A_FABRIC_LENT, info->lent)) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_HELD, ledger_of(fabric)->held) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_FAILED, ledger_of(fabric)->failed) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_IMPAIRED, ledger_of(fabric)->impaired) ||
	       nla_put_u32(skb, MORPH_A_FABRIC_SLICES, info->slices);
}

static int fill_fabric(struct morph_nl_to *to, struct morph_fabric *fabric)
{
	struct morph_fabric_info info = {};
	struct sk_buff *skb = to->skb;
	void *header;
	bool failed;

	morph_fabric_fill_info(fabric, &info);
	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_FABRIC_ID, fabric->id) ||
		 nla_put(skb, MORPH_A_FABRIC_UUID, sizeof(info.uuid), info.uuid) ||
		 nla_put_string(skb, MORPH_A_FABRIC_NAME, info.name) ||
		 nla_put_string(skb, MORPH_A_FABRIC_PROFILE, info.profile) ||
		 nla_put_u32(skb, MORPH_A_FABRIC_PROFILE_CHECKSUM, info.profile_checksum) ||
		 nla_put_u8(skb, MORPH_A_FABRIC_SIMULATED, fabric->simulated) ||
		 nla_put_u32(skb, MORPH_A_FABRIC_STATE, info.state) ||
		 put_fabric_counts(skb, fabric, &info) ||
		 nla_put_s32(skb, MORPH_A_FABRIC_TEMPERATURE,
			     READ_ONCE(recovery_of(fabric)->temperature)) ||
		 nla_put_u64_64bit(skb, MORPH_A_FABRIC_LANE_MBPS, info.lane_mbps,
				   MORPH_A_FABRIC_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_FABRIC_SETTLE_NS, info.settle_ns,
				   MORPH_A_FABRIC_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_FABRIC_RELOCK_NS, info.relock_ns,
				   MORPH_A_FABRIC_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_FABRIC_SEQ, info.seq, MORPH_A_FABRIC_PAD);
	return morph_nl_end(to, header, failed);
}

int morph_nl_fabric_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct morph_fabric *fabric;
	struct morph_nl_to to;
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_FABRIC_ID);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	ret = morph_nl_reply_begin(&to, info, FABRIC_BYTES);
	if (!ret) {
		morph_fabric_lock(fabric);
		ret = fill_fabric(&to, fabric);
		morph_fabric_unlock(fabric);
		ret = morph_nl_reply_end(&to, info, ret);
	}
	put_device(&fabric->dev);
	return ret;
}

static int dump_one_fabric(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
			   struct morph_fabric *fabric)
{
	int ret;

	morph_fabric_lock(fabric);
	morph_nl_dump_seq(to, cursor, fabric);
	ret = fill_fabric(to, fabric);
	morph_fabric_unlock(fabric);
	return ret;
}

int morph_nl_fabric_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return morph_nl_dump(skb, cb, MORPH_CMD_FABRIC_GET, MORPH_A_FABRIC_ID, dump_one_fabric);
}

void morph_netlink_fabric(struct morph_fabric *fabric)
{
	struct morph_nl_to to;

	if (morph_nl_notify_begin(&to, MORPH_CMD_FABRIC_NTF, FABRIC_BYTES))
		morph_nl_notify_end(&to, fill_fabric(&to, fabric));
}

/* ----------------------------------------------------------------- counters */

static const u8 stat_attrs[MORPH_STAT_COUNT] = {
	[MORPH_STAT_PUBLISHES] = MORPH_A_STATS_PUBLISHES,
	[MORPH_STAT_COMMITTED] = MORPH_A_STATS_COMMITTED,
	[MORPH_STAT_ROLLED_BACK] = MORPH_A_STATS_ROLLED_BACK,
	[MORPH_STAT_BROKEN] = MORPH_A_STATS_BROKEN,
	[MORPH_STAT_REFUSED] = MORPH_A_STATS_REFUSED,
	[MORPH_STAT_REVOKED] = MORPH_A_STATS_REVOKED,
	[MORPH_STAT_EXPIRED] = MORPH_A_STATS_EXPIRED,
	[MORPH_STAT_FAILOVERS] = MORPH_A_STATS_FAILOVERS,
	[MORPH_STAT_FAILOVERS_FAILED] = MORPH_A_STATS_FAILOVERS_FAILED,
	[MORPH_STAT_PLANS_USED] = MORPH_A_STATS_PLANS_USED,
	[MORPH_STAT_PLANS_INLINE] = MORPH_A_STATS_PLANS_INLINE,
	[MORPH_STAT_REROUTES] = MORPH_A_STATS_REROUTES,
	[MORPH_STAT_ROUTE_STEPS] = MORPH_A_STATS_ROUTE_STEPS,
	[MORPH_STAT_PROVIDER_OPS] = MORPH_A_STATS_PROVIDER_OPS,
	[MORPH_STAT_PROVIDER_ERRORS] = MORPH_A_STATS_PROVIDER_ERRORS,
	[MORPH_STAT_PROVIDER_TIMEOUTS] = MORPH_A_STATS_PROVIDER_TIMEOUTS,
	[MORPH_STAT_LATE_COMPLETIONS] = MORPH_A_STATS_LATE_COMPLETIONS,
	[MORPH_STAT_SIGNALS] = MORPH_A_STATS_SIGNALS,
	[MORPH_STAT_SIGNALS_LOST] = MORPH_A_STATS_SIGNALS_LOST,
	[MORPH_STAT_EVENTS] = MORPH_A_STATS_EVENTS,
	[MORPH_STAT_EVENTS_LOST] = MORPH_A_STATS_EVENTS_LOST,
	[MORPH_STAT_PATROLS] = MORPH_A_STATS_PATROLS,
	[MORPH_STAT_CONTROLLERS_EXPIRED] = MORPH_A_STATS_CONTROLLERS_EXPIRED,
	[MORPH_STAT_RESERVATIONS] = MORPH_A_STATS_RESERVATIONS,
	[MORPH_STAT_RESERVATION_CONFLICTS] = MORPH_A_STATS_RESERVATION_CONFLICTS,
	[MORPH_STAT_STEPS_JUDGED] = MORPH_A_STATS_STEPS_JUDGED,
};

/* It names a slice, so only administrators see it. */
static int put_last_replaced(const struct morph_nl_to *to, const struct morph_fabric *fabric)
{
	const struct morph_event *event = &recovery_of(fabric)->last_replaced;
	struct sk_buff *skb = to->skb;
	struct nlattr *nest;

	if (!to->admin || event->type != MORPH_EVENT_REPLACED)
		return 0;
	nest = nla_nest_start(skb, MORPH_A_STATS_LAST_REPLACED);
	if (!nest ||
	    nla_put_u64_64bit(skb, MORPH_A_REPLACEMENT_TIME_NS, event->time_ns,
			      MORPH_A_REPLACEMENT_PAD) ||
	    nla_put_u32(skb, MORPH_A_REPLACEMENT_SLICE, event->slice) ||
	    nla_put_u32(skb, MORPH_A_REPLACEMENT_RANK, event->rank) ||
	    nla_put_u32(skb, MORPH_A_REPLACEMENT_OLD_ACCELERATOR, event->old_accelerator) ||
	    nla_put_u32(skb, MORPH_A_REPLACEMENT_NEW_ACCELERATOR, event->new_accelerator) ||
	    nla_put_string(skb, MORPH_A_REPLACEMENT_OLD_PCI, event->old_pci) ||
	    nla_put_string(skb, MORPH_A_REPLACEMENT_NEW_PCI, event->new_pci))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_stats(struct morph_nl_to *to, struct morph_fabric *fabric)
{
	struct sk_buff *skb = to->skb;
	bool failed;
	void *header;
	u32 stat;

	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_STATS_FABRIC, fabric->id);
	for (stat = 0; stat < MORPH_STAT_COUNT && !failed; stat++)
		failed = nla_put_u64_64bit(skb, stat_attrs[stat],
					   atomic64_read(&fabric->stats[stat]), MORPH_A_STATS_PAD);
	failed = failed ||
		 nla_put_u64_64bit(skb, MORPH_A_STATS_ELEMENTS_VISITED,
				   ledger_of(fabric)->state->elements_visited, MORPH_A_STATS_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_STATS_LANES_VISITED,
				   ledger_of(fabric)->state->lanes_visited, MORPH_A_STATS_PAD) ||
		 morph_nl_put_times(skb, MORPH_A_STATS_LAST_FAILOVER,
				    &recovery_of(fabric)->last_replaced.times) ||
		 put_last_replaced(to, fabric);
	return morph_nl_end(to, header, failed);
}

int morph_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct morph_fabric *fabric;
	struct morph_nl_to to;
	int ret;

	fabric = morph_nl_find_fabric(info, MORPH_A_STATS_FABRIC);
	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	ret = morph_nl_reply_begin(&to, info, STATS_BYTES);
	if (!ret) {
		to.admin = netlink_capable(skb, CAP_NET_ADMIN);
		morph_fabric_lock(fabric);
		ret = fill_stats(&to, fabric);
		morph_fabric_unlock(fabric);
		ret = morph_nl_reply_end(&to, info, ret);
	}
	put_device(&fabric->dev);
	return ret;
}

static int dump_stats(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
		      struct morph_fabric *fabric)
{
	int ret;

	morph_fabric_lock(fabric);
	morph_nl_dump_seq(to, cursor, fabric);
	ret = fill_stats(to, fabric);
	morph_fabric_unlock(fabric);
	return ret;
}

int morph_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return morph_nl_dump(skb, cb, MORPH_CMD_STATS_GET, MORPH_A_STATS_FABRIC, dump_stats);
}

/* ------------------------------------------------------------------- events */

/* The failed accelerator and its replacement. */
static int put_event_chips(struct sk_buff *skb, const struct morph_event *event)
{
	bool old = event->old_accelerator != MORPH_ANY, new = event->new_accelerator != MORPH_ANY;

	if (old && (nla_put_u32(skb, MORPH_A_EVENT_OLD_ACCELERATOR, event->old_accelerator) ||
		    morph_nl_put_index(skb, MORPH_A_EVENT_OLD_HOST, event->old_host) ||
		    nla_put_string(skb, MORPH_A_EVENT_OLD_PCI, event->old_pci) ||
		    nla_put(skb, MORPH_A_EVENT_OLD_UUID, MORPH_UUID_BYTES, event->old_uuid)))
		return -EMSGSIZE;
	if (new && (nla_put_u32(skb, MORPH_A_EVENT_NEW_ACCELERATOR, event->new_accelerator) ||
		    morph_nl_put_index(skb, MORPH_A_EVENT_NEW_HOST, event->new_host) ||
		    nla_put_string(skb, MORPH_A_EVENT_NEW_PCI, event->new_pci) ||
		    nla_put(skb, MORPH_A_EVENT_NEW_UUID, MORPH_UUID_BYTES, event->new_uuid)))
		return -EMSGSIZE;
	return 0;
}

static int fill_event(struct morph_nl_to *to, u32 fabric, const struct morph_event *event)
{
	struct sk_buff *skb = to->skb;
	bool failed;
	void *header;

	header = morph_nl_begin(to);
	if (!header)
		return -EMSGSIZE;
	failed = nla_put_u32(skb, MORPH_A_EVENT_FABRIC, fabric) ||
		 nla_put_u32(skb, MORPH_A_EVENT_TYPE, event->type) ||
		 nla_put_u64_64bit(skb, MORPH_A_EVENT_SEQ, event->seq, MORPH_A_EVENT_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_EVENT_GENERATION, event->generation,
				   MORPH_A_EVENT_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_EVENT_TIME_NS, event->time_ns,
				   MORPH_A_EVENT_PAD) ||
		 nla_put_u32(skb, MORPH_A_EVENT_SLICE, event->slice) ||
		 nla_put_u32(skb, MORPH_A_EVENT_STATE, event->state) ||
		 morph_nl_put_index(skb, MORPH_A_EVENT_RANK, event->rank) ||
		 morph_nl_put_index(skb, MORPH_A_EVENT_CIRCUIT, event->circuit) ||
		 morph_nl_put_index(skb, MORPH_A_EVENT_TXN, event->txn ? event->txn : MORPH_ANY) ||
		 nla_put_u32(skb, MORPH_A_EVENT_OUTCOME, event->outcome) ||
		 nla_put_u32(skb, MORPH_A_EVENT_PART, event->part) ||
		 morph_nl_put_index(skb, MORPH_A_EVENT_INDEX, event->index) ||
		 put_event_chips(skb, event) ||
		 nla_put_u64_64bit(skb, MORPH_A_EVENT_BANDWIDTH_MBPS, event->bandwidth_mbps,
				   MORPH_A_EVENT_PAD) ||
		 nla_put_u64_64bit(skb, MORPH_A_EVENT_DARK_NS, event->dark_ns,
				   MORPH_A_EVENT_PAD) ||
		 morph_nl_put_times(skb, MORPH_A_EVENT_TIMES, &event->times);
	return morph_nl_end(to, header, failed);
}

void morph_netlink_event(struct morph_slice *slice, const struct morph_event *event)
{
	struct morph_nl_to to;

	if (morph_nl_notify_begin(&to, MORPH_CMD_EVENT_NTF, EVENT_BYTES))
		morph_nl_notify_end(&to, fill_event(&to, slice->fabric->id, event));
}
