// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames. A frame goes to the rank that its address names, over a lit circuit, at the rate of this
 * circuit. It is dropped if no lit circuit leads there.
 */
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/math64.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include "net.h"

/* Waiting bytes at which a circuit stops the transmit queue, and at which it drops frames. */
#define QUEUE_STOP_BYTES	SZ_128K
#define QUEUE_MOST_BYTES	SZ_256K
/* A frame may leave this much before its time, so that fast circuits need no timer. */
#define EARLY_NS		(50 * NSEC_PER_USEC)
#define RECEIVED_MOST		1000u	/* frames that wait for the receiver's poll */

/* In skb->cb while a frame waits. */
struct waiting {
	u64 leave_ns;
};

static struct waiting *waiting_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct waiting) > sizeof(skb->cb));
	return (struct waiting *)skb->cb;
}

/* ------------------------------------------------------------------- receive */

/* Hand a frame that has passed the circuit to the device of its rank. Holds RCU. */
static void deliver(struct net_circuit *circuit, struct sk_buff *skb)
{
	struct net_port *port = rcu_dereference(circuit->slice->ranks[circuit->dst].port);
	bool full;

	if (!port || !netif_running(port->dev)) {
		kfree_skb_reason(skb, SKB_DROP_REASON_DEV_READY);
		return;
	}
	/* Frees and counts the frame if the device does not accept it. */
	if (__dev_forward_skb(port->dev, skb) != NET_RX_SUCCESS)
		return;
	spin_lock(&port->received.lock);
	full = skb_queue_len(&port->received) >= RECEIVED_MOST;
	if (!full)
		__skb_queue_tail(&port->received, skb);
	spin_unlock(&port->received.lock);
	if (full) {
		DEV_STATS_INC(port->dev, rx_dropped);
		kfree_skb_reason(skb, SKB_DROP_REASON_CPU_BACKLOG);
		return;
	}
	napi_schedule(&port->napi);
}

int net_poll(struct napi_struct *napi, int budget)
{
	struct net_port *port = container_of(napi, struct net_port, napi);
	struct sk_buff *skb;
	int done = 0;

	while (done < budget) {
		spin_lock(&port->received.lock);
		skb = __skb_dequeue(&port->received);
		spin_unlock(&port->received.lock);
		if (!skb)
			break;
		dev_sw_netstats_rx_add(port->dev, skb->len + ETH_HLEN);
		/*
		 * No GRO: it changes the data of the frame, and a TCP sender keeps this data in
		 * case that it must send it again.
		 */
		netif_receive_skb(skb);
		done++;
	}
	if (done < budget)
		napi_complete_done(napi, done);
	return done;
}

/* ------------------------------------------------------------------- circuits */

/* Bytes on the wire: the kernel may hand over many frames as one. */
static u32 wire_bytes(const struct sk_buff *skb)
{
	u32 header;

	if (!skb_is_gso(skb))
		return skb->len;
	header = skb_transport_offset(skb);
	if (skb_shinfo(skb)->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6))
		header += tcp_hdrlen(skb);
	else
		header += sizeof(struct udphdr);
	return skb->len + (max_t(u32, skb_shinfo(skb)->gso_segs, 1) - 1) * header;
}

static void count_passed(struct net_circuit *circuit, const struct sk_buff *skb)
{
	circuit->counters.frames += max_t(u32, skb_shinfo(skb)->gso_segs, 1);
	circuit->counters.bytes += wire_bytes(skb);
}

static struct net_port *sender(const struct net_circuit *circuit)
{
	return rcu_dereference(circuit->slice->ranks[circuit->src].port);
}

static void drop_dark(struct net_device *dev, struct sk_buff *skb)
{
	DEV_STATS_INC(dev, tx_carrier_errors);
	DEV_STATS_INC(dev, tx_dropped);
	kfree_skb_reason(skb, SKB_DROP_REASON_DEV_READY);
}

/* Let transmit queues go on that the circuit had stopped. Holds RCU. */
static void wake_queues(const struct net_circuit *circuit, unsigned long stopped)
{
	struct net_port *port = sender(circuit);
	unsigned int queue;

	for_each_set_bit(queue, &stopped, BITS_PER_TYPE(circuit->stopped))
		if (port)
			netif_wake_subqueue(port->dev, queue);
}

void net_circuit_release(struct net_circuit *circuit)
{
	u64 due = ktime_get_ns() + EARLY_NS;
	struct sk_buff_head leaving;
	unsigned long stopped = 0;
	struct sk_buff *skb;
	bool lit;

	__skb_queue_head_init(&leaving);
	rcu_read_lock();
	spin_lock(&circuit->lock);
	lit = circuit->mbps;
	while ((skb = skb_peek(&circuit->queue))) {
		if (lit && waiting_of(skb)->leave_ns > due)
			break;
		__skb_unlink(skb, &circuit->queue);
		circuit->queued_bytes -= skb->len;
		if (lit)
			count_passed(circuit, skb);
		else
			circuit->counters.dark++;
		__skb_queue_tail(&leaving, skb);
	}
	if (circuit->queued_bytes <= QUEUE_STOP_BYTES / 2)
		swap(stopped, circuit->stopped);
	if (skb)
		hrtimer_start(&circuit->timer, ns_to_ktime(waiting_of(skb)->leave_ns),
			      HRTIMER_MODE_ABS_SOFT);
	circuit->releasing = true;
	spin_unlock(&circuit->lock);
	while ((skb = __skb_dequeue(&leaving))) {
		if (lit)
			deliver(circuit, skb);
		else
			drop_dark(skb->dev, skb);
	}
	spin_lock(&circuit->lock);
	circuit->releasing = false;
	spin_unlock(&circuit->lock);
	wake_queues(circuit, stopped);
	rcu_read_unlock();
}

/* The timer stays on its processor while this function runs, so releases do not overlap. */
enum hrtimer_restart net_circuit_timer(struct hrtimer *timer)
{
	net_circuit_release(container_of(timer, struct net_circuit, timer));
	return HRTIMER_NORESTART;
}

void net_circuits_flush(struct net_slice *slice, u32 rank)
{
	struct net_circuit *circuit;
	struct sk_buff_head queue;

	rcu_read_lock();
	list_for_each_entry_rcu(circuit, &slice->ranks[rank].out, out_node) {
		__skb_queue_head_init(&queue);
		spin_lock_bh(&circuit->lock);
		skb_queue_splice_init(&circuit->queue, &queue);
		circuit->queued_bytes = 0;
		circuit->stopped = 0;
		spin_unlock_bh(&circuit->lock);
		__skb_queue_purge(&queue);
	}
	rcu_read_unlock();
}

/* Keep a frame until its time. Caller holds circuit->lock. */
static void wait_for_turn(struct net_circuit *circuit, struct sk_buff *skb, u64 leave_ns)
{
	bool first = skb_queue_empty(&circuit->queue);
	u32 queue = skb_get_queue_mapping(skb);

	waiting_of(skb)->leave_ns = leave_ns;
	circuit->queued_bytes += skb->len;
	circuit->counters.queued_most = max_t(u64, circuit->counters.queued_most,
					      circuit->queued_bytes);
	/* A release that waits for the lock may free the frame, so stop the queue first. */
	if (circuit->queued_bytes > QUEUE_STOP_BYTES && queue < NET_TX_QUEUES) {
		circuit->stopped |= BIT(queue);
		netif_stop_subqueue(skb->dev, queue);
	}
	__skb_queue_tail(&circuit->queue, skb);
	if (first)
		hrtimer_start(&circuit->timer, ns_to_ktime(leave_ns), HRTIMER_MODE_ABS_SOFT);
}

/* Pass a frame, or keep it until its time. Holds RCU; bottom halves are off. */
static void pass(struct net_circuit *circuit, struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	u64 now = ktime_get_ns(), start;

	spin_lock(&circuit->lock);
	if (!circuit->mbps) {
		circuit->counters.dark++;
		spin_unlock(&circuit->lock);
		drop_dark(dev, skb);
		return;
	}
	if (circuit->queued_bytes >= QUEUE_MOST_BYTES) {
		circuit->counters.full++;
		spin_unlock(&circuit->lock);
		DEV_STATS_INC(dev, tx_dropped);
		kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
		return;
	}
	dev_sw_netstats_tx_add(dev, max_t(u32, skb_shinfo(skb)->gso_segs, 1), wire_bytes(skb));
	start = max(now, circuit->busy_until_ns);
	WRITE_ONCE(circuit->busy_until_ns,
		   start + div64_u64(8000ULL * net_scale * wire_bytes(skb), circuit->mbps));
	if (start > now + EARLY_NS || circuit->releasing || !skb_queue_empty(&circuit->queue)) {
		wait_for_turn(circuit, skb, start);
		spin_unlock(&circuit->lock);
		return;
	}
	count_passed(circuit, skb);
	spin_unlock(&circuit->lock);
	deliver(circuit, skb);
}

/* ------------------------------------------------------------------ addresses */

void net_fill_address(const struct net_slice *slice, u32 rank, u8 *address)
{
	memcpy(address, slice->mac, sizeof(slice->mac));
	address[4] = rank >> 8;
	address[5] = rank;
}

/* The rank that a unicast address names. At least ranks_count: none. */
static u32 rank_of(const struct net_slice *slice, const u8 *address)
{
	if (memcmp(address, slice->mac, sizeof(slice->mac)))
		return slice->ranks_count;
	return address[4] << 8 | address[5];
}

/*
 * Return a lit circuit between two ranks, or NULL. With several circuits, each flow keeps the one
 * for which its hash is highest. So a change of the circuits moves only flows that must move.
 */
static struct net_circuit *choose(struct net_slice *slice, u32 src, u32 dst, struct sk_buff *skb)
{
	struct net_circuit *circuit, *best = NULL;
	u32 highest = 0, hash;

	list_for_each_entry_rcu(circuit, &slice->ranks[src].out, out_node) {
		if (circuit->dst != dst || !READ_ONCE(circuit->mbps))
			continue;
		hash = jhash_2words(skb_get_hash(skb), circuit->id, 0);
		if (!best || hash > highest) {
			best = circuit;
			highest = hash;
		}
	}
	return best;
}

/* Pass a copy to each rank to which a lit circuit leads. */
static void pass_to_all(struct net_slice *slice, u32 src, struct sk_buff *skb)
{
	struct net_circuit *circuit;
	struct sk_buff *copy;
	bool passed = false;

	list_for_each_entry_rcu(circuit, &slice->ranks[src].out, out_node) {
		if (choose(slice, src, circuit->dst, skb) != circuit)
			continue;
		passed = true;
		copy = skb_clone(skb, GFP_ATOMIC);
		if (copy)
			pass(circuit, copy);
		else
			DEV_STATS_INC(skb->dev, tx_dropped);
	}
	if (passed)
		consume_skb(skb);
	else
		drop_dark(skb->dev, skb);
}

netdev_tx_t net_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct net_port *port = netdev_priv(dev);
	struct net_slice *slice = port->slice;
	struct net_circuit *circuit = NULL;
	u32 rank;

	if (!pskb_may_pull(skb, ETH_HLEN)) {
		DEV_STATS_INC(dev, tx_dropped);
		kfree_skb_reason(skb, SKB_DROP_REASON_PKT_TOO_SMALL);
		return NETDEV_TX_OK;
	}
	skb_tx_timestamp(skb);
	rcu_read_lock();
	if (is_multicast_ether_addr(skb->data)) {
		net_missing_check_arp(port, skb);
		pass_to_all(slice, port->rank, skb);
	} else {
		rank = rank_of(slice, skb->data);
		if (rank < slice->ranks_count)
			circuit = choose(slice, port->rank, rank, skb);
		if (circuit) {
			pass(circuit, skb);
		} else {
			if (rank < slice->ranks_count)
				net_missing_check(port, rank, skb);
			drop_dark(dev, skb);
		}
	}
	rcu_read_unlock();
	return NETDEV_TX_OK;
}

u16 net_select_queue(struct net_device *dev, struct sk_buff *skb, struct net_device *sb_dev)
{
	struct net_port *port = netdev_priv(dev);
	u32 queues = min(dev->real_num_tx_queues, NET_TX_QUEUES);

	if (is_multicast_ether_addr(skb->data))
		return 0;
	return rank_of(port->slice, skb->data) % queues;
}
