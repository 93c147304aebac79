// SPDX-License-Identifier: GPL-2.0-only
/* Consumers: modules that follow the lit circuits of a slice. */
#include <linux/module.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/interface/interface.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "morph_consumer.h"

/* All fields but node are constant. */
struct morph_consumer {
	struct list_head node;		/* head: slice_interface(slice)->consumers; fabric->lock */
	struct morph_slice *slice;	/* with a reference */
	const struct morph_consumer_ops *ops;
	void *priv;
};

/* Find a slice that has not begun to end, and take a reference. Or return NULL. */
static struct morph_slice *find_slice(u32 fabric_id, u32 number)
{
	struct morph_fabric *fabric = morph_fabric_find(fabric_id);
	struct morph_slice *slice = NULL;

	if (!fabric)
		return NULL;
	/* By name, MORPH_ANY would read a NULL pointer. */
	if (number != MORPH_ANY)
		slice = morph_slice_find(fabric, number, NULL);
	put_device(&fabric->dev);
	return slice;
}

/**
 * morph_consumer_find() - return the data of a slice
 * @fabric: number of its fabric
 * @slice: its number
 * @found: is filled
 *
 * Context: process context, takes fabric->lock.
 * Return: 0, or -ENODEV if there is no such slice.
 */
int morph_consumer_find(u32 fabric, u32 slice, struct morph_consumer_slice *found)
{
	struct morph_slice *from = find_slice(fabric, slice);

	if (!from)
		return -ENODEV;
	BUILD_BUG_ON(sizeof(found->fabric_uuid) != sizeof(from->fabric->uuid));
	memcpy(found->fabric_uuid, from->fabric->uuid, sizeof(found->fabric_uuid));
	found->simulated = from->fabric->simulated;
	found->ranks_count = from->ranks_count;
	mutex_lock(&from->fabric->lock);
	found->uid = slice_tenancy(from)->uid;
	mutex_unlock(&from->fabric->lock);
	morph_slice_put(from);
	return 0;
}
EXPORT_SYMBOL_GPL(morph_consumer_find);

static void tell(const struct morph_consumer *consumer, const struct morph_circuit *circuit)
{
	const struct morph_consumer_light light = {
		.circuit = circuit->id,
		.src = circuit->src_rank,
		.dst = circuit->dst_rank,
		.removed = !circuit->listed,
		.mbps = circuit_interface(circuit)->consumer_mbps,
	};

	consumer->ops->light(consumer->priv, &light);
}

/* Report the lit circuits of the slice. Caller holds fabric->lock. */
static void replay(const struct morph_consumer *consumer)
{
	struct morph_circuit *circuit;
	unsigned long index;

	xa_for_each(&consumer->slice->circuits, index, circuit)
		if (circuit_interface(circuit)->consumer_mbps)
			tell(consumer, circuit);
}

/**
 * morph_consumer_attach() - follow the light of a slice
 * @fabric: number of its fabric
 * @slice: its number
 * @ops: operations of the consumer; must live until morph_consumer_detach() has returned
 * @priv: argument of the operations
 *
 * Calls @ops->light for each lit circuit before it returns. A module that has attached must detach
 * before it unloads.
 *
 * Context: process context, takes fabric->lock.
 * Return: the consumer, or an ERR_PTR: -ENODEV if the slice is unknown or ends, or -ENOMEM.
 */
struct morph_consumer *morph_consumer_attach(u32 fabric, u32 slice,
					     const struct morph_consumer_ops *ops, void *priv)
{
	struct morph_consumer *consumer;
	struct morph_slice *to;
	int ret = 0;

	consumer = kzalloc(sizeof(*consumer), GFP_KERNEL);
	if (!consumer)
		return ERR_PTR(-ENOMEM);
	to = find_slice(fabric, slice);
	if (!to) {
		kfree(consumer);
		return ERR_PTR(-ENODEV);
	}
	consumer->slice = to;
	consumer->ops = ops;
	consumer->priv = priv;
	INIT_LIST_HEAD(&consumer->node);
	mutex_lock(&to->fabric->lock);
	if (to->dying || morph_fabric_check(to->fabric)) {
		ret = -ENODEV;
	} else {
		morph_state_watch(to);
		list_add_tail(&consumer->node, &slice_interface(to)->consumers);
		replay(consumer);
	}
	mutex_unlock(&to->fabric->lock);
	if (ret) {
		morph_slice_put(to);
		kfree(consumer);
		return ERR_PTR(ret);
	}
	return consumer;
}
EXPORT_SYMBOL_GPL(morph_consumer_attach);

/**
 * morph_consumer_replay() - report all lit circuits again
 * @consumer: from morph_consumer_attach()
 *
 * For a consumer that had no memory for a circuit. Does nothing after the end of the slice.
 *
 * Context: process context, takes fabric->lock.
 */
void morph_consumer_replay(struct morph_consumer *consumer)
{
	struct morph_fabric *fabric = consumer->slice->fabric;

	mutex_lock(&fabric->lock);
	if (!list_empty(&consumer->node))
		replay(consumer);
	mutex_unlock(&fabric->lock);
}
EXPORT_SYMBOL_GPL(morph_consumer_replay);

/* What to read from the ports of an accelerator, then the readings. */
struct port_reads {
	u64 lasers_on[MORPH_MAX_PLANES];
	struct morph_laser_reading lasers[MORPH_MAX_PLANES];
	struct morph_receiver_reading receivers[MORPH_MAX_PLANES];
	u32 receivers_count;	/* ports to which lanes of circuits lead */
};

/* Choose the first @count ports of an accelerator. Caller holds fabric->lock. */
static void choose_ports(const struct morph_fabric *fabric, u32 accelerator,
			 struct port_reads *reads, u32 count)
{
	u32 plane, port;
	u64 lanes;

	for (plane = 0; plane < count; plane++) {
		port = accelerator * fabric->graph->params.planes + plane;
		reads->lasers_on[plane] = hardware_of(fabric)->tx_on[port];
		reads->lasers[plane].port = port;
		lanes = ledger_of(fabric)->state->rx_lanes[port];
		if (lanes)
			reads->receivers[reads->receivers_count++] =
				(struct morph_receiver_reading){ .port = port, .lanes = lanes };
	}
}

static void fill_ports(const struct port_reads *reads, u32 planes,
		       struct morph_consumer_port *ports, u32 count)
{
	const struct morph_receiver_reading *receiver;
	struct morph_consumer_port *port;
	u64 on;
	u32 i;

	for (i = 0; i < count; i++) {
		on = reads->lasers_on[i];
		ports[i] = (struct morph_consumer_port){
			.sends = on,
			.tx_fault = on & ~reads->lasers[i].lanes,
		};
	}
	for (i = 0; i < reads->receivers_count; i++) {
		receiver = &reads->receivers[i];
		port = &ports[receiver->port % planes];
		port->receives = true;
		port->lit = !(receiver->lanes & ~receiver->lit);
		port->locked = !(receiver->lanes & ~receiver->locked);
		port->power_nw = optics_power_nw(receiver->min_mdbm);
	}
}

/**
 * morph_consumer_read() - ask the provider for readings of a rank's accelerator
 * @consumer: from morph_consumer_attach()
 * @rank: a rank of the slice
 * @found: is filled
 * @ports: is filled, by plane
 * @count: length of @ports; 0: do not ask the device
 *
 * A change of the slice may run meanwhile, so readings of several ports need not fit together.
 *
 * Context: process context, takes fabric->lock. Waits for the device, at most for the deadlines of
 * two operations.
 * Return: 0; -ENODEV after the end of the slice; -ENOENT: no such rank; -ENOMEM; or an error of the
 * provider.
 */
int morph_consumer_read(struct morph_consumer *consumer, u32 rank,
			struct morph_consumer_rank *found, struct morph_consumer_port *ports,
			u32 count)
{
	struct morph_slice *slice = consumer->slice;
	struct morph_fabric *fabric = slice->fabric;
	struct port_reads *reads;
	int ret = 0;

	if (rank >= slice->ranks_count)
		return -ENOENT;
	reads = kzalloc(sizeof(*reads), GFP_KERNEL);
	if (!reads)
		return -ENOMEM;
	found->planes_count = fabric->graph->params.planes;
	found->temperature = READ_ONCE(recovery_of(fabric)->temperature);
	count = min(count, found->planes_count);
	mutex_lock(&fabric->lock);
	if (list_empty(&consumer->node))
		ret = -ENODEV;
	found->accelerator = slice->ranks[rank].accelerator;
	choose_ports(fabric, found->accelerator, reads, count);
	mutex_unlock(&fabric->lock);
	if (!ret && count)
		ret = morph_hw_get_lasers(fabric, NULL, reads->lasers, count);
	if (!ret && reads->receivers_count)
		ret = morph_hw_get_receivers(fabric, NULL, reads->receivers,
					     reads->receivers_count);
	if (!ret)
		fill_ports(reads, found->planes_count, ports, count);
	kfree(reads);
	return ret;
}
EXPORT_SYMBOL_GPL(morph_consumer_read);

/**
 * morph_consumer_detach() - stop following a slice
 * @consumer: from morph_consumer_attach(); is freed
 *
 * After it returns, no operation of the consumer runs or is called.
 *
 * Context: process context, takes fabric->lock.
 */
void morph_consumer_detach(struct morph_consumer *consumer)
{
	struct morph_slice *slice = consumer->slice;

	mutex_lock(&slice->fabric->lock);
	list_del(&consumer->node);
	mutex_unlock(&slice->fabric->lock);
	morph_slice_put(slice);
	kfree(consumer);
}
EXPORT_SYMBOL_GPL(morph_consumer_detach);

void morph_consumer_light(const struct morph_circuit *circuit)
{
	const struct morph_consumer *consumer;

	lockdep_assert_held(&circuit->slice->fabric->lock);
	list_for_each_entry(consumer, &slice_interface(circuit->slice)->consumers, node)
		tell(consumer, circuit);
}

void morph_consumer_end(struct morph_slice *slice)
{
	struct morph_consumer *consumer, *next;

	lockdep_assert_held(&slice->fabric->lock);
	list_for_each_entry_safe(consumer, next, &slice_interface(slice)->consumers, node) {
		list_del_init(&consumer->node);
		consumer->ops->end(consumer->priv);
	}
}
