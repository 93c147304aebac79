// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames for ranks to which no circuit leads. A job that needs such a circuit fails early, and the
 * kernel log and ethtool -S name the missing circuit.
 */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/net.h>
#include <net/dst.h>

#include "net.h"

/* A dark circuit is not missing: a failover or a change may light it again. Holds RCU. */
static bool is_missing(const struct net_slice *slice, u32 src, u32 dst)
{
	struct net_circuit *circuit;

	list_for_each_entry_rcu(circuit, &slice->ranks[src].out, out_node)
		if (circuit->dst == dst)
			return false;
	return true;
}

static void count_missing(struct net_port *port, u32 rank)
{
	atomic64_inc(&port->missing_frames);
	WRITE_ONCE(port->missing_rank, rank);
	if (net_ratelimit())
		netdev_warn(port->dev, "no circuit leads from rank %u to rank %u\n", port->rank,
			    rank);
}

void net_missing_check(struct net_port *port, u32 rank, struct sk_buff *skb)
{
	if (!is_missing(port->slice, port->rank, rank))
		return;
	count_missing(port, rank);
	/*
	 * A connection that is being set up then fails with EHOSTUNREACH. Only a local sender gets
	 * this report, which passes over lo. Others would get it over this transmit queue.
	 */
	if (skb->sk)
		dst_link_failure(skb);
}

/* Does a device have the IPv4 address? Holds RCU. */
static bool has_address(const struct net_port *port, __be32 address)
{
	struct in_device *in_dev = __in_dev_get_rcu(port->dev);
	const struct in_ifaddr *ifa;

	if (in_dev)
		in_dev_for_each_ifa_rcu(ifa, in_dev)
			if (ifa->ifa_local == address)
				return true;
	return false;
}

/* Read the address for which an ARP request asks. False: the frame is no such request. */
static bool read_target(struct sk_buff *skb, __be32 *address)
{
	const unsigned int bytes = sizeof(struct arphdr) + 2 * (ETH_ALEN + sizeof(*address));
	const struct arphdr *arp;

	if (skb->protocol != htons(ETH_P_ARP) || !pskb_may_pull(skb, ETH_HLEN + bytes))
		return false;
	arp = (const struct arphdr *)(skb->data + ETH_HLEN);
	if (arp->ar_op != htons(ARPOP_REQUEST) || arp->ar_hln != ETH_ALEN ||
	    arp->ar_pln != sizeof(*address))
		return false;
	memcpy(address, skb->data + ETH_HLEN + bytes - sizeof(*address), sizeof(*address));
	return true;
}

void net_missing_check_arp(struct net_port *port, struct sk_buff *skb)
{
	struct net_slice *slice = port->slice;
	const struct net_port *other;
	__be32 address;
	u32 rank;

	if (!read_target(skb, &address))
		return;
	for (rank = 0; rank < slice->ranks_count; rank++) {
		other = rcu_dereference(slice->ranks[rank].port);
		if (other && other != port && has_address(other, address) &&
		    is_missing(slice, port->rank, rank))
			count_missing(port, rank);
	}
}
