/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * morph_net.ko: network devices of slices, one for each rank. Frames pass over lit circuits.
 *
 * Locks, outermost first: RTNL, fabric->lock of the core, slice->lock, circuit->lock. The core
 * reports light under fabric->lock. RTNL guards the list of slices and the devices of a slice.
 *
 * A frame waits in the queue of the circuit that it will pass. Only the device of the sending rank
 * fills this queue, so ndo_stop() of that device empties it.
 */
#ifndef MORPH_NET_NET_H
#define MORPH_NET_NET_H

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

#include "morph_consumer.h"

/* Transmit queues: frames for different ranks stop each other only if they share a queue. */
#define NET_TX_QUEUES		16u
#define NET_CARRIER_DELAY_MS	100u
#define NET_MOST_DELAY_MS	30000u

struct net_slice;

/* Frames and bytes that passed, and frames that were dropped. circuit->lock guards all fields. */
struct net_counters {
	u64 frames;
	u64 bytes;
	u64 dark;		/* dropped: the light went out while they waited */
	u64 full;		/* dropped: the queue was full */
	u64 queued_most;	/* largest number of waiting bytes */
};

/* A circuit that has been lit since the first device of the slice exists. */
struct net_circuit {
	/* constant */
	struct net_slice *slice;
	u32 id;
	u32 src;
	u32 dst;

	/* Heads: out and in of struct net_rank. Readers hold RCU or slice->lock. */
	struct list_head out_node;
	struct list_head in_node;
	struct list_head dead_node;	/* head: net_slice.dead; slice->lock */
	struct rcu_head rcu;
	struct hrtimer timer;		/* releases waiting frames */

	spinlock_t lock;		/* the following fields */
	u64 mbps;			/* 0: dark */
	u64 busy_until_ns;		/* end of the last accepted frame; CLOCK_MONOTONIC */
	struct sk_buff_head queue;	/* waiting frames; its own lock is not used */
	u32 queued_bytes;
	u32 stopped;			/* transmit queues that it has stopped, a bit for each */
	bool releasing;			/* a release delivers frames that have left the queue */
	struct net_counters counters;
};

struct net_port;

/* A rank of a slice. slice->lock guards the fields without other note. */
struct net_rank {
	struct list_head out;		/* of net_circuit.out_node */
	struct list_head in;		/* of net_circuit.in_node */
	struct net_port __rcu *port;	/* its device, or NULL */
	u32 out_lit;
	u32 in_lit;
	u64 out_mbps;			/* sum of the lit circuits in out */
};

/* A slice with at least one device. */
struct net_slice {
	/* constant */
	u32 fabric;
	u32 number;
	u32 ranks_count;
	u8 mac[4];			/* first bytes of the addresses of its devices */
	bool simulated;			/* the hardware of the fabric */

	struct list_head node;		/* head: net_slices; RTNL */
	u32 ports_count;		/* RTNL */
	struct morph_consumer *consumer; /* RTNL; tidy_work reads it without */
	struct delayed_work tidy_work;	/* frees dead circuits, replays missed reports */
	struct rcu_head rcu;

	spinlock_t lock;		/* the following fields; process context */
	struct list_head dead;		/* circuits that have ended */
	bool missed;			/* no memory for a circuit */
	bool ended;			/* also read without the lock */
	struct net_rank ranks[];
};

/* One line of ethtool -S. */
struct net_shown {
	u32 id;
	u32 src;
	bool in;			/* the device receives from the circuit */
};

/* The private part of a device. */
struct net_port {
	/* constant while the device is registered */
	struct net_device *dev;
	struct net_slice *slice;
	u32 rank;
	bool published;			/* in ranks[rank].port; RTNL */

	u32 carrier_delay_ms;		/* written under RTNL */
	bool was_lit;			/* slice->lock */
	struct delayed_work carrier_work;

	struct napi_struct napi;
	struct sk_buff_head received;	/* waits for the poll of napi */

	atomic64_t missing_frames;	/* dropped: no circuit leads to their rank */
	u32 missing_rank;		/* of the last of them; read without a lock */

	struct net_shown *shown;	/* circuits in the current answer to ethtool -S; RTNL */
	u32 shown_count;
};

extern struct workqueue_struct *net_wq;
extern struct list_head net_slices;	/* of net_slice.node; RTNL */
extern unsigned int net_scale;		/* divisor of all rates */

/* --------------------------------------------------------------- circuit.c */

/*
 * Return the slice, with its light, and count a port of it. The first call follows the slice.
 * Caller holds RTNL. ERR_PTR: -ENODEV, -ENOMEM.
 */
struct net_slice *net_slice_get(u32 fabric, u32 number, const struct morph_consumer_slice *found);
/* The last call frees the slice. Caller holds RTNL. */
void net_slice_put(struct net_slice *slice);
/* No slice is left, and no new one can come. */
void net_slices_exit(void);
/* Find a circuit of a rank that sends. Caller holds RCU or slice->lock. Or NULL. */
struct net_circuit *net_circuit_find(struct net_slice *slice, u32 src, u32 id);

/* --------------------------------------------------------------- carrier.c */

/* Let the device of a rank follow the rank's light. Caller holds slice->lock. */
void net_carrier_follow(struct net_slice *slice, u32 rank);
void net_carrier_work(struct work_struct *work);

/* ------------------------------------------------------------------ xmit.c */

netdev_tx_t net_xmit(struct sk_buff *skb, struct net_device *dev);
u16 net_select_queue(struct net_device *dev, struct sk_buff *skb, struct net_device *sb_dev);
enum hrtimer_restart net_circuit_timer(struct hrtimer *timer);
/* Deliver the frames that are due, or drop all if the circuit is dark. Bottom halves are off. */
void net_circuit_release(struct net_circuit *circuit);
/* Free all waiting frames of a rank's circuits. No frame may arrive meanwhile. */
void net_circuits_flush(struct net_slice *slice, u32 rank);
int net_poll(struct napi_struct *napi, int budget);

/* --------------------------------------------------------------- missing.c */

/* Count and report a frame if no circuit leads to its rank. Holds RCU. The caller drops it. */
void net_missing_check(struct net_port *port, u32 rank, struct sk_buff *skb);
/* The same for an ARP request that asks for the address of another rank. Holds RCU. */
void net_missing_check_arp(struct net_port *port, struct sk_buff *skb);

/* --------------------------------------------------------------- ethtool.c */

extern const struct ethtool_ops net_ethtool_ops;

/* ---------------------------------------------------------------- module.c */

int net_get_module_eeprom(struct net_device *dev, const struct ethtool_module_eeprom *page,
			  struct netlink_ext_ack *extack);

/* ------------------------------------------------------------------ link.c */

extern struct rtnl_link_ops net_link_ops;
/* Write the address of a rank's device. */
void net_fill_address(const struct net_slice *slice, u32 rank, u8 *address);

#endif /* MORPH_NET_NET_H */
