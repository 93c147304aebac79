// SPDX-License-Identifier: GPL-2.0-only
/* The rtnetlink kind "morph": creation, change and removal of devices. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/morph_net.h>
#include <net/rtnetlink.h>

#include "net.h"

static bool force;
module_param(force, bool, 0644);
MODULE_PARM_DESC(force, "create devices also on fabrics that are not simulated (default: 0)");

/* -------------------------------------------------------------------- devices */

static int port_init(struct net_device *dev)
{
	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	return dev->tstats ? 0 : -ENOMEM;
}

/* The device is closed, and senders that had found it have finished. */
static void port_uninit(struct net_device *dev)
{
	struct net_port *port = netdev_priv(dev);
	struct net_slice *slice = port->slice;

	if (!port->published)
		return;
	port->published = false;
	spin_lock(&slice->lock);
	RCU_INIT_POINTER(slice->ranks[port->rank].port, NULL);
	spin_unlock(&slice->lock);
	cancel_delayed_work_sync(&port->carrier_work);
	skb_queue_purge(&port->received);
	net_slice_put(slice);
}

static int port_open(struct net_device *dev)
{
	struct net_port *port = netdev_priv(dev);

	napi_enable(&port->napi);
	netif_tx_start_all_queues(dev);
	return 0;
}

static int port_stop(struct net_device *dev)
{
	struct net_port *port = netdev_priv(dev);

	netif_tx_stop_all_queues(dev);
	net_circuits_flush(port->slice, port->rank);
	napi_disable(&port->napi);
	skb_queue_purge(&port->received);
	return 0;
}

static const struct net_device_ops port_ops = {
	.ndo_init = port_init,
	.ndo_uninit = port_uninit,
	.ndo_open = port_open,
	.ndo_stop = port_stop,
	.ndo_start_xmit = net_xmit,
	.ndo_select_queue = net_select_queue,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_get_stats64 = dev_get_tstats64,
};

static void port_free(struct net_device *dev)
{
	struct net_port *port = netdev_priv(dev);

	free_percpu(dev->tstats);
	kfree(port->shown);
}

#define PORT_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | \
			 NETIF_F_HIGHDMA | NETIF_F_GSO_SOFTWARE)

static void port_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &port_ops;
	dev->ethtool_ops = &net_ethtool_ops;
	dev->priv_destructor = port_free;
	dev->needs_free_netdev = true;
	dev->max_mtu = ETH_MAX_MTU;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	netif_keep_dst(dev);	/* for dst_link_failure() */
	dev->features |= PORT_FEATURES;
	dev->hw_features |= PORT_FEATURES;
	dev->vlan_features |= PORT_FEATURES;
}

/* ------------------------------------------------------------------ rtnetlink */

static const struct nla_policy policy[IFLA_MORPH_MAX + 1] = {
	[IFLA_MORPH_FABRIC] = { .type = NLA_U32 },
	[IFLA_MORPH_SLICE] = { .type = NLA_U32 },
	[IFLA_MORPH_RANK] = { .type = NLA_U32 },
	[IFLA_MORPH_CARRIER_DELAY_MS] = NLA_POLICY_MAX(NLA_U32, NET_MOST_DELAY_MS),
};

static int link_validate(struct nlattr *tb[], struct nlattr *data[], struct netlink_ext_ack *extack)
{
	if (!tb[IFLA_ADDRESS])
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS], "the address follows from slice and rank");
	return -EOPNOTSUPP;
}

/* rtnetlink has checked CAP_NET_ADMIN over the network namespace. */
static int check_slice(const struct morph_consumer_slice *found, u32 rank,
		       struct netlink_ext_ack *extack)
{
	if (!uid_eq(current_euid(), found->uid) && !capable(CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(extack, "the caller does not own the slice");
		return -EPERM;
	}
	if (!found->simulated && !READ_ONCE(force)) {
		NL_SET_ERR_MSG(extack, "the fabric is not simulated: its own devices carry frames");
		return -EOPNOTSUPP;
	}
	if (rank >= found->ranks_count) {
		NL_SET_ERR_MSG(extack, "the slice has no such rank");
		return -ENOENT;
	}
	return 0;
}

static void port_publish(struct net_port *port)
{
	struct net_slice *slice = port->slice;

	spin_lock(&slice->lock);
	rcu_assign_pointer(slice->ranks[port->rank].port, port);
	port->published = true;
	net_carrier_follow(slice, port->rank);
	spin_unlock(&slice->lock);
}

static int port_register(struct net_device *dev, struct net_slice *slice, u32 rank,
			 struct netlink_ext_ack *extack)
{
	struct net_port *port = netdev_priv(dev);
	u8 address[ETH_ALEN];
	int ret;

	if (rtnl_dereference(slice->ranks[rank].port)) {
		NL_SET_ERR_MSG(extack, "the rank has a device already");
		return -EEXIST;
	}
	port->dev = dev;
	port->slice = slice;
	port->rank = rank;
	INIT_DELAYED_WORK(&port->carrier_work, net_carrier_work);
	skb_queue_head_init(&port->received);
	netif_napi_add(dev, &port->napi, net_poll);
	net_fill_address(slice, rank, address);
	eth_hw_addr_set(dev, address);
	dev->addr_assign_type = NET_ADDR_PERM;
	netif_carrier_off(dev);
	ret = register_netdevice(dev);
	if (!ret)
		port_publish(port);
	return ret;
}

static int link_new(struct net *src_net, struct net_device *dev, struct nlattr *tb[],
		    struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct net_port *port = netdev_priv(dev);
	struct morph_consumer_slice found;
	struct net_slice *slice;
	u32 fabric, number, rank;
	int ret;

	if (!data || !data[IFLA_MORPH_FABRIC] || !data[IFLA_MORPH_SLICE] ||
	    !data[IFLA_MORPH_RANK]) {
		NL_SET_ERR_MSG(extack, "fabric, slice and rank are required");
		return -EINVAL;
	}
	fabric = nla_get_u32(data[IFLA_MORPH_FABRIC]);
	number = nla_get_u32(data[IFLA_MORPH_SLICE]);
	rank = nla_get_u32(data[IFLA_MORPH_RANK]);
	port->carrier_delay_ms = NET_CARRIER_DELAY_MS;
	if (data[IFLA_MORPH_CARRIER_DELAY_MS])
		port->carrier_delay_ms = nla_get_u32(data[IFLA_MORPH_CARRIER_DELAY_MS]);
	ret = morph_consumer_find(fabric, number, &found);
	if (ret) {
		NL_SET_ERR_MSG(extack, "no such slice");
		return ret;
	}
	ret = check_slice(&found, rank, extack);
	if (ret)
		return ret;
	slice = net_slice_get(fabric, number, &found);
	if (IS_ERR(slice)) {
		NL_SET_ERR_MSG(extack, "the slice has ended, or memory is short");
		return PTR_ERR(slice);
	}
	ret = port_register(dev, slice, rank, extack);
	if (ret)
		net_slice_put(slice);
	return ret;
}

static int link_change(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
		       struct netlink_ext_ack *extack)
{
	static const u32 constant[] = { IFLA_MORPH_FABRIC, IFLA_MORPH_SLICE, IFLA_MORPH_RANK };
	struct net_port *port = netdev_priv(dev);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(constant); i++) {
		if (data && data[constant[i]]) {
			NL_SET_ERR_MSG_ATTR(extack, data[constant[i]],
					    "fabric, slice and rank of a device do not change");
			return -EOPNOTSUPP;
		}
	}
	if (data && data[IFLA_MORPH_CARRIER_DELAY_MS])
		WRITE_ONCE(port->carrier_delay_ms, nla_get_u32(data[IFLA_MORPH_CARRIER_DELAY_MS]));
	return 0;
}

static size_t link_size(const struct net_device *dev)
{
	return IFLA_MORPH_MAX * nla_total_size(sizeof(u32));
}

static int link_fill(struct sk_buff *skb, const struct net_device *dev)
{
	const struct net_port *port = netdev_priv(dev);

	if (nla_put_u32(skb, IFLA_MORPH_FABRIC, port->slice->fabric) ||
	    nla_put_u32(skb, IFLA_MORPH_SLICE, port->slice->number) ||
	    nla_put_u32(skb, IFLA_MORPH_RANK, port->rank) ||
	    nla_put_u32(skb, IFLA_MORPH_CARRIER_DELAY_MS, port->carrier_delay_ms))
		return -EMSGSIZE;
	return 0;
}

static unsigned int tx_queues(void)
{
	return NET_TX_QUEUES;
}

static unsigned int rx_queues(void)
{
	return 1;
}

struct rtnl_link_ops net_link_ops = {
	.kind = "morph",
	.priv_size = sizeof(struct net_port),
	.setup = port_setup,
	.maxtype = IFLA_MORPH_MAX,
	.policy = policy,
	.validate = link_validate,
	.newlink = link_new,
	.changelink = link_change,
	.get_size = link_size,
	.fill_info = link_fill,
	.get_num_tx_queues = tx_queues,
	.get_num_rx_queues = rx_queues,
};
