// SPDX-License-Identifier: GPL-2.0-only
/* ethtool: the speed of a device, and counters for each circuit. */
#include <linux/math64.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "net.h"

/* Counters of the device itself. */
static const char * const port_names[] = { "tx_no_circuit", "tx_no_circuit_rank" };

/* Names of the counters of a circuit, for its sender and for its receiver. */
static const char * const out_names[] = {
	"tx_frames", "tx_bytes", "tx_dark", "tx_full", "tx_queued_most",
};

static const char * const in_names[] = { "rx_frames", "rx_bytes" };

static u32 names_count(const struct net_shown *shown)
{
	return shown->in ? ARRAY_SIZE(in_names) : ARRAY_SIZE(out_names);
}

static int get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	struct net_port *port = netdev_priv(dev);
	u64 mbps;

	spin_lock(&port->slice->lock);
	mbps = port->slice->ranks[port->rank].out_mbps;
	spin_unlock(&port->slice->lock);
	mbps = min_t(u64, div_u64(mbps, net_scale), INT_MAX);
	settings->base.speed = mbps ? mbps : SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_FULL;
	settings->base.port = PORT_OTHER;
	settings->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

/* Add the circuits of a list to port->shown, or only count them if shown is NULL. */
static u32 show(const struct net_rank *rank, struct net_shown *shown, u32 count, u32 room)
{
	struct net_circuit *circuit;

	list_for_each_entry(circuit, &rank->out, out_node) {
		if (shown && count < room)
			shown[count] = (struct net_shown){ circuit->id, circuit->src, false };
		count++;
	}
	list_for_each_entry(circuit, &rank->in, in_node) {
		if (shown && count < room)
			shown[count] = (struct net_shown){ circuit->id, circuit->src, true };
		count++;
	}
	return count;
}

/*
 * Choose the circuits that the answer shows. ethtool asks for their number first. Circuits may come
 * and go before it asks for names and values, which have no other bound.
 */
static void choose_shown(struct net_port *port)
{
	struct net_slice *slice = port->slice;
	struct net_shown *shown;
	u32 room, count;

	ASSERT_RTNL();
	spin_lock(&slice->lock);
	room = show(&slice->ranks[port->rank], NULL, 0, 0);
	spin_unlock(&slice->lock);
	shown = kcalloc(room, sizeof(*shown), GFP_KERNEL);
	if (!shown)
		room = 0;
	spin_lock(&slice->lock);
	count = show(&slice->ranks[port->rank], shown, 0, room);
	spin_unlock(&slice->lock);
	kfree(port->shown);
	port->shown = shown;
	port->shown_count = min(count, room);
}

static int get_sset_count(struct net_device *dev, int set)
{
	struct net_port *port = netdev_priv(dev);
	int count = ARRAY_SIZE(port_names);
	u32 i;

	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	choose_shown(port);
	for (i = 0; i < port->shown_count; i++)
		count += names_count(&port->shown[i]);
	return count;
}

static void get_strings(struct net_device *dev, u32 set, u8 *strings)
{
	struct net_port *port = netdev_priv(dev);
	const struct net_shown *shown;
	u32 i, n;

	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(port_names); i++, strings += ETH_GSTRING_LEN)
		strscpy_pad((char *)strings, port_names[i], ETH_GSTRING_LEN);
	for (i = 0; i < port->shown_count; i++) {
		shown = &port->shown[i];
		for (n = 0; n < names_count(shown); n++)
			ethtool_sprintf(&strings, "circuit_%u_%s", shown->id,
					shown->in ? in_names[n] : out_names[n]);
	}
}

static void get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *values)
{
	struct net_port *port = netdev_priv(dev);
	struct net_counters counters;
	struct net_circuit *circuit;
	const u64 *from = &counters.frames;
	u32 i, n, at = 0;

	BUILD_BUG_ON(sizeof(counters) != sizeof(u64) * ARRAY_SIZE(out_names));
	values[at++] = atomic64_read(&port->missing_frames);
	values[at++] = READ_ONCE(port->missing_rank);
	for (i = 0; i < port->shown_count; i++) {
		memset(&counters, 0, sizeof(counters));
		rcu_read_lock();
		circuit = net_circuit_find(port->slice, port->shown[i].src, port->shown[i].id);
		if (circuit) {
			spin_lock_bh(&circuit->lock);
			counters = circuit->counters;
			spin_unlock_bh(&circuit->lock);
		}
		rcu_read_unlock();
		for (n = 0; n < names_count(&port->shown[i]) && at < stats->n_stats; n++)
			values[at++] = from[n];
	}
}

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	struct net_port *port = netdev_priv(dev);

	strscpy(info->driver, "morph_net", sizeof(info->driver));
	snprintf(info->bus_info, sizeof(info->bus_info), "fabric%u slice%u rank%u",
		 port->slice->fabric, port->slice->number, port->rank);
}

const struct ethtool_ops net_ethtool_ops = {
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = get_link_ksettings,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_ethtool_stats,
	.get_ts_info = ethtool_op_get_ts_info,
	.get_module_eeprom_by_page = net_get_module_eeprom,
};
