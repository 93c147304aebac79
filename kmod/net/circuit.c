// SPDX-License-Identifier: GPL-2.0-only
/* Slices with devices, and their circuits as the core reports them. */
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "net.h"

#define RETRY_MS	10	/* after a shortage of memory */

LIST_HEAD(net_slices);

/* ---------------------------------------------------------- light of circuits */

struct net_circuit *net_circuit_find(struct net_slice *slice, u32 src, u32 id)
{
	struct net_circuit *circuit;

	list_for_each_entry_rcu(circuit, &slice->ranks[src].out, out_node,
				lockdep_is_held(&slice->lock))
		if (circuit->id == id)
			return circuit;
	return NULL;
}

/* Caller holds slice->lock and fabric->lock, so the allocation must not wait. */
static struct net_circuit *circuit_add(struct net_slice *slice,
				       const struct morph_consumer_light *light)
{
	struct net_circuit *circuit = kzalloc(sizeof(*circuit), GFP_ATOMIC | __GFP_NOWARN);

	if (!circuit)
		return NULL;
	circuit->slice = slice;
	circuit->id = light->circuit;
	circuit->src = light->src;
	circuit->dst = light->dst;
	spin_lock_init(&circuit->lock);
	__skb_queue_head_init(&circuit->queue);
	hrtimer_init(&circuit->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	circuit->timer.function = net_circuit_timer;
	list_add_tail_rcu(&circuit->out_node, &slice->ranks[light->src].out);
	list_add_tail_rcu(&circuit->in_node, &slice->ranks[light->dst].in);
	return circuit;
}

/*
 * Return the time until which other circuits between the same ranks are busy. Flows move to a
 * circuit that has just been lit. A frame that leaves later does not overtake frames of its flow.
 */
static u64 busy_beside(struct net_circuit *circuit)
{
	struct net_circuit *other;
	u64 latest = 0;

	list_for_each_entry(other, &circuit->slice->ranks[circuit->src].out, out_node)
		if (other != circuit && other->dst == circuit->dst)
			latest = max(latest, READ_ONCE(other->busy_until_ns));
	return latest;
}

static void set_light(struct net_circuit *circuit, u64 mbps)
{
	struct net_rank *src = &circuit->slice->ranks[circuit->src];
	struct net_rank *dst = &circuit->slice->ranks[circuit->dst];
	u64 before, busy = busy_beside(circuit);

	spin_lock_bh(&circuit->lock);
	before = circuit->mbps;
	circuit->mbps = mbps;
	if (!before && mbps)
		WRITE_ONCE(circuit->busy_until_ns, busy);
	/* The release drops all frames that wait for a dark circuit. */
	if (!mbps && !skb_queue_empty(&circuit->queue))
		hrtimer_start(&circuit->timer, 0, HRTIMER_MODE_ABS_SOFT);
	spin_unlock_bh(&circuit->lock);
	src->out_mbps += mbps - before;
	src->out_lit += !!mbps - !!before;
	dst->in_lit += !!mbps - !!before;
	net_carrier_follow(circuit->slice, circuit->src);
	net_carrier_follow(circuit->slice, circuit->dst);
}

static void circuit_remove(struct net_circuit *circuit)
{
	list_del_rcu(&circuit->out_node);
	list_del_rcu(&circuit->in_node);
	list_add(&circuit->dead_node, &circuit->slice->dead);
}

static void on_light(void *priv, const struct morph_consumer_light *light)
{
	struct net_slice *slice = priv;
	struct net_circuit *circuit;

	if (light->src >= slice->ranks_count || light->dst >= slice->ranks_count)
		return;
	spin_lock(&slice->lock);
	circuit = net_circuit_find(slice, light->src, light->circuit);
	if (!circuit && light->mbps) {
		circuit = circuit_add(slice, light);
		slice->missed |= !circuit;
	}
	if (circuit) {
		set_light(circuit, light->mbps);
		if (light->removed)
			circuit_remove(circuit);
	}
	if (!list_empty(&slice->dead))
		mod_delayed_work(net_wq, &slice->tidy_work, 0);
	else if (slice->missed)
		queue_delayed_work(net_wq, &slice->tidy_work, msecs_to_jiffies(RETRY_MS));
	spin_unlock(&slice->lock);
}

/* ------------------------------------------------------------- end of a slice */

/* Remove the devices of slices that have ended. */
static void remove_ended(struct work_struct *work)
{
	struct net_slice *slice;
	struct net_port *port;
	LIST_HEAD(ended);
	u32 rank;

	rtnl_lock();
	list_for_each_entry(slice, &net_slices, node) {
		for (rank = 0; READ_ONCE(slice->ended) && rank < slice->ranks_count; rank++) {
			port = rtnl_dereference(slice->ranks[rank].port);
			if (port)
				unregister_netdevice_queue(port->dev, &ended);
		}
	}
	unregister_netdevice_many(&ended);
	rtnl_unlock();
}

static DECLARE_WORK(ended_work, remove_ended);

static void on_end(void *priv)
{
	struct net_slice *slice = priv;
	struct net_circuit *circuit;
	u32 rank;

	spin_lock(&slice->lock);
	WRITE_ONCE(slice->ended, true);
	for (rank = 0; rank < slice->ranks_count; rank++)
		list_for_each_entry(circuit, &slice->ranks[rank].out, out_node)
			set_light(circuit, 0);
	spin_unlock(&slice->lock);
	queue_work(net_wq, &ended_work);
}

static const struct morph_consumer_ops consumer_ops = { .light = on_light, .end = on_end };

/* ------------------------------------------------------------ slices with ports */

/* No frame can arrive: the circuit is dark, or the slice has no device. */
static void circuit_free(struct net_circuit *circuit)
{
	hrtimer_cancel(&circuit->timer);
	local_bh_disable();
	net_circuit_release(circuit);
	local_bh_enable();
	kfree_rcu(circuit, rcu);
}

static void tidy(struct work_struct *work)
{
	struct net_slice *slice = container_of(to_delayed_work(work), struct net_slice, tidy_work);
	struct morph_consumer *consumer = READ_ONCE(slice->consumer);
	struct net_circuit *circuit, *next;
	LIST_HEAD(dead);
	bool missed;

	spin_lock(&slice->lock);
	list_splice_init(&slice->dead, &dead);
	missed = slice->missed && consumer;
	if (missed)
		slice->missed = false;
	spin_unlock(&slice->lock);
	list_for_each_entry_safe(circuit, next, &dead, dead_node)
		circuit_free(circuit);
	if (missed)
		morph_consumer_replay(consumer);
}

static struct net_slice *slice_alloc(u32 fabric, u32 number,
				     const struct morph_consumer_slice *found)
{
	struct net_slice *slice;
	u32 hash, i;

	slice = kvzalloc(struct_size(slice, ranks, found->ranks_count), GFP_KERNEL_ACCOUNT);
	if (!slice)
		return NULL;
	slice->fabric = fabric;
	slice->number = number;
	slice->ranks_count = found->ranks_count;
	slice->simulated = found->simulated;
	hash = jhash(found->fabric_uuid, sizeof(found->fabric_uuid), number);
	slice->mac[0] = 0x02;		/* locally administered, unicast */
	slice->mac[1] = hash >> 16;
	slice->mac[2] = hash >> 8;
	slice->mac[3] = hash;
	spin_lock_init(&slice->lock);
	INIT_LIST_HEAD(&slice->dead);
	INIT_DELAYED_WORK(&slice->tidy_work, tidy);
	for (i = 0; i < slice->ranks_count; i++) {
		INIT_LIST_HEAD(&slice->ranks[i].out);
		INIT_LIST_HEAD(&slice->ranks[i].in);
	}
	return slice;
}

static void slice_free(struct net_slice *slice)
{
	struct net_circuit *circuit, *next;
	u32 rank;

	/* The work takes no RTNL. */
	cancel_delayed_work_sync(&slice->tidy_work);
	spin_lock(&slice->lock);
	for (rank = 0; rank < slice->ranks_count; rank++) {
		list_for_each_entry_safe(circuit, next, &slice->ranks[rank].out, out_node) {
			set_light(circuit, 0);
			circuit_remove(circuit);
		}
	}
	spin_unlock(&slice->lock);
	list_for_each_entry_safe(circuit, next, &slice->dead, dead_node)
		circuit_free(circuit);
	kvfree_rcu(slice, rcu);
}

struct net_slice *net_slice_get(u32 fabric, u32 number, const struct morph_consumer_slice *found)
{
	struct morph_consumer *consumer;
	struct net_slice *slice;

	ASSERT_RTNL();
	list_for_each_entry(slice, &net_slices, node) {
		if (slice->fabric != fabric || slice->number != number)
			continue;
		/* Numbers return. The devices of the old slice are removed soon. */
		if (READ_ONCE(slice->ended))
			return ERR_PTR(-ENODEV);
		slice->ports_count++;
		return slice;
	}
	slice = slice_alloc(fabric, number, found);
	if (!slice)
		return ERR_PTR(-ENOMEM);
	consumer = morph_consumer_attach(fabric, number, &consumer_ops, slice);
	if (IS_ERR(consumer)) {
		slice_free(slice);
		return ERR_CAST(consumer);
	}
	WRITE_ONCE(slice->consumer, consumer);
	/* A work that ran before this store could not replay. */
	if (READ_ONCE(slice->missed))
		queue_delayed_work(net_wq, &slice->tidy_work, 0);
	slice->ports_count = 1;
	list_add_tail(&slice->node, &net_slices);
	return slice;
}

void net_slice_put(struct net_slice *slice)
{
	struct morph_consumer *consumer = slice->consumer;

	ASSERT_RTNL();
	if (--slice->ports_count)
		return;
	list_del(&slice->node);
	/* Until the consumer detaches, reports may queue the work, but it uses no consumer. */
	WRITE_ONCE(slice->consumer, NULL);
	cancel_delayed_work_sync(&slice->tidy_work);
	morph_consumer_detach(consumer);
	slice_free(slice);
}

void net_slices_exit(void)
{
	cancel_work_sync(&ended_work);
}
