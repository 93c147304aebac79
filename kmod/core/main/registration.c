// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registration and removal of fabrics, and the data of their accelerators.
 *
 * A fabric is its struct device and lives while it has references. Its provider may unregister at
 * any time: setting ops to NULL and waiting for SRCU separates the two.
 */
#include <linux/ctype.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/interface/interface.h"
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* Fabrics that are not released yet, registered or not. */
static atomic_t fabrics_alive = ATOMIC_INIT(0);

/* ---------------------------------------------------------- alloc and free */

static void fabric_free_tables(struct morph_fabric *fabric)
{
	kvfree(fabric->peers);
	morph_suspects_free(fabric);
	morph_pending_free(fabric);
	kvfree(ledger_of(fabric)->hosts_by_free);
	kvfree(ledger_of(fabric)->hosts);
	kvfree(ledger_of(fabric)->chips);
	kvfree(ledger_of(fabric)->guide_holds);
	kvfree(ledger_of(fabric)->guide_routes);
	kvfree(hardware_of(fabric)->review_left);
	morph_blames_free(fabric);
	kvfree(hardware_of(fabric)->rx_blamed);
	kvfree(recovery_of(fabric)->unparked);
	kvfree(hardware_of(fabric)->tx_on);
	kvfree(hardware_of(fabric)->hw_state);
	kvfree(ledger_of(fabric)->route_work);
	kvfree(ledger_of(fabric)->state);
	kvfree(fabric->graph);
}

static void fabric_release(struct device *dev)
{
	struct morph_fabric *fabric = to_morph_fabric(dev);

	morph_history_free(fabric);
	morph_controller_free(fabric);
	morph_prepared_free(&slices_of(fabric)->search);
	fabric_free_tables(fabric);
	xa_destroy(&txns_of(fabric)->txns);
	cleanup_srcu_struct(&hardware_of(fabric)->programming);
	cleanup_srcu_struct(&hardware_of(fabric)->srcu);
	xa_erase(&morph_fabrics, fabric->id);
	morph_holds_stop(fabric);
	kfree(interface_of(fabric));
	if (atomic_dec_and_test(&fabrics_alive))
		wake_up_var(&fabrics_alive);
}

/**
 * morph_fabric_wait_released() - wait until no fabric is left, before the module unloads
 *
 * References that pin the module are gone by now, but the driver core may still be releasing a
 * fabric. Slices and their nodes hold a reference to their fabric, so they were released before.
 *
 * Context: process context; waits.
 */
void morph_fabric_wait_released(void)
{
	wait_var_event(&fabrics_alive, !atomic_read(&fabrics_alive));
	/*
	 * The thread that released the last one may have been preempted before it left the
	 * function.
	 */
	synchronize_rcu_tasks();
}

/**
 * morph_fabric_alloc() - allocate a fabric
 * @parent: the provider's device, or NULL
 * @ops: the provider's operations; must live until morph_fabric_unregister() has returned
 * @priv: returned by morph_fabric_priv()
 *
 * Context: process context.
 * Return: the fabric, which the caller frees with morph_fabric_put(), or an ERR_PTR.
 */
struct morph_fabric *morph_fabric_alloc(struct device *parent, const struct morph_fabric_ops *ops,
					void *priv)
{
	struct morph_interface *interface;
	struct morph_fabric *fabric;
	u32 id;
	int ret;

	if (!ops || !ops->set_elements || !ops->get_elements || !ops->set_lasers ||
	    !ops->get_lasers || !ops->get_receivers || !ops->probe)
		return ERR_PTR(-EINVAL);
	interface = kzalloc(sizeof(*interface), GFP_KERNEL);
	if (!interface)
		return ERR_PTR(-ENOMEM);
	fabric = &interface->recovery.slices.txns.ledger.hardware.fabric;
	ret = init_srcu_struct(&hardware_of(fabric)->srcu);
	if (ret)
		goto err_free;
	ret = init_srcu_struct(&hardware_of(fabric)->programming);
	if (ret)
		goto err_srcu;
	/* A NULL entry reserves the number without publishing the fabric. */
	ret = xa_alloc(&morph_fabrics, &id, NULL, XA_LIMIT(0, MORPH_MAX_FABRICS - 1), GFP_KERNEL);
	if (ret)
		goto err_programming;
	fabric->id = id;
	hardware_of(fabric)->ops = ops;
	fabric->owner = ops->owner;
	fabric->priv = priv;
	fabric->seq = 1;
	mutex_init(&fabric->lock);
	morph_lock_order_init(&fabric->lock_order);
	morph_holds_start(fabric);
	init_waitqueue_head(&hardware_of(fabric)->review_end);
	spin_lock_init(&interface_of(fabric)->event_lock);
	spin_lock_init(&hardware_of(fabric)->op_lock);
	INIT_LIST_HEAD(&ledger_of(fabric)->slices);
	xa_init_flags(&txns_of(fabric)->txns, XA_FLAGS_ALLOC1);
	txns_of(fabric)->effort = MORPH_HOLD_EFFORT;
	morph_slices_init(fabric);
	morph_health_init(fabric);
	device_initialize(&fabric->dev);
	fabric->dev.parent = parent;
	fabric->dev.class = morph_class;
	fabric->dev.release = fabric_release;
	atomic_inc(&fabrics_alive);
	return fabric;

err_programming:
	cleanup_srcu_struct(&hardware_of(fabric)->programming);
err_srcu:
	cleanup_srcu_struct(&hardware_of(fabric)->srcu);
err_free:
	kfree(interface);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(morph_fabric_alloc);

/**
 * morph_fabric_put() - drop the provider's reference to a fabric
 * @fabric: the fabric, which is not registered
 */
void morph_fabric_put(struct morph_fabric *fabric)
{
	put_device(&fabric->dev);
}
EXPORT_SYMBOL_GPL(morph_fabric_put);

/**
 * morph_fabric_priv() - return the pointer given to morph_fabric_alloc()
 * @fabric: the fabric
 *
 * Return: the provider's pointer.
 */
void *morph_fabric_priv(struct morph_fabric *fabric)
{
	return fabric->priv;
}
EXPORT_SYMBOL_GPL(morph_fabric_priv);

/* ------------------------------------------------------------- registration */

static int fabric_check_desc(struct morph_fabric *fabric, const struct morph_fabric_desc *desc)
{
	const char *c;

	if (!desc->name || !*desc->name || strlen(desc->name) >= sizeof(fabric->name)) {
		dev_err(&fabric->dev, "name must have 1 to %zu characters\n",
			sizeof(fabric->name) - 1);
		return -EINVAL;
	}
	for (c = desc->name; *c; c++) {
		if (!isalnum(*c) && !strchr("_.:-", *c)) {
			dev_err(&fabric->dev, "name may hold letters, digits and _ . : - only\n");
			return -EINVAL;
		}
	}
	if (morph_reads_as_number(desc->name)) {
		dev_err(&fabric->dev, "name reads as a number; begin it with a letter\n");
		return -EINVAL;
	}
	if (!memchr_inv(desc->uuid, 0, sizeof(desc->uuid))) {
		dev_err(&fabric->dev, "uuid is all zeros\n");
		return -EINVAL;
	}
	return 0;
}

static int fabric_build_graph(struct morph_fabric *fabric, const struct morph_fabric_desc *desc)
{
	struct optics_refusal why = {};
	void *block;
	s64 bytes;

	bytes = optics_graph_bytes(desc->profile, desc->profile_bytes, &why);
	if (bytes < 0)
		goto malformed;
	block = kvzalloc(bytes, GFP_KERNEL);
	if (!block)
		return -ENOMEM;
	fabric->graph = optics_graph_build(block, desc->profile, desc->profile_bytes, &why);
	if (fabric->graph)
		return 0;
	kvfree(block);
malformed:
	dev_err(&fabric->dev, "profile of %zu bytes is malformed: %s, at byte %lld\n",
		desc->profile_bytes, optics_reason_text(why.reason), why.have);
	return -EINVAL;
}

static int fabric_alloc_tables(struct morph_fabric *fabric)
{
	const struct optics_graph *graph = fabric->graph;
	void *block;
	u32 i;

	block = kvzalloc(optics_state_bytes(graph), GFP_KERNEL);
	if (!block)
		return -ENOMEM;
	ledger_of(fabric)->state = optics_state_init(block, graph);
	ledger_of(fabric)->route_work = kvzalloc(optics_route_bytes(MORPH_ROUTE_STEPS), GFP_KERNEL);
	hardware_of(fabric)->hw_state = kvzalloc(graph->elements_count, GFP_KERNEL);
	hardware_of(fabric)->tx_on = kvcalloc(graph->ports_count, sizeof(u64), GFP_KERNEL);
	hardware_of(fabric)->review_left = kvcalloc(BITS_TO_LONGS(morph_hw_review_chunks(graph)),
						    sizeof(long), GFP_KERNEL);
	hardware_of(fabric)->rx_blamed =
		kvcalloc(BITS_TO_LONGS(graph->ends_count), sizeof(long), GFP_KERNEL);
	recovery_of(fabric)->unparked =
		kvcalloc(BITS_TO_LONGS(graph->elements_count), sizeof(long), GFP_KERNEL);
	recovery_of(fabric)->blames =
		kvcalloc(graph->ports_count, sizeof(*recovery_of(fabric)->blames), GFP_KERNEL);
	ledger_of(fabric)->guide_routes =
		kvcalloc(graph->guides_count, sizeof(*ledger_of(fabric)->guide_routes), GFP_KERNEL);
	ledger_of(fabric)->guide_holds =
		kvcalloc(graph->guides_count, sizeof(*ledger_of(fabric)->guide_holds), GFP_KERNEL);
	ledger_of(fabric)->chips =
		kvcalloc(graph->accelerators_count, sizeof(*ledger_of(fabric)->chips), GFP_KERNEL);
	ledger_of(fabric)->hosts =
		kvcalloc(graph->hosts_count, sizeof(*ledger_of(fabric)->hosts), GFP_KERNEL);
	if (!ledger_of(fabric)->route_work || !hardware_of(fabric)->hw_state ||
	    !hardware_of(fabric)->tx_on || !hardware_of(fabric)->rx_blamed ||
	    !hardware_of(fabric)->review_left || !recovery_of(fabric)->blames ||
	    !recovery_of(fabric)->unparked ||
	    !ledger_of(fabric)->guide_routes || !ledger_of(fabric)->guide_holds ||
	    !ledger_of(fabric)->chips || !ledger_of(fabric)->hosts || morph_pending_alloc(fabric) ||
	    morph_suspects_alloc(fabric))
		return -ENOMEM;
	for (i = 0; i < graph->accelerators_count; i++)
		ledger_of(fabric)->hosts[graph->accelerators[i].host].free_count++;
	for (i = 0; i < graph->hosts_count; i++)
		ledger_of(fabric)->hosts_max =
			max(ledger_of(fabric)->hosts_max, ledger_of(fabric)->hosts[i].free_count);
	ledger_of(fabric)->hosts_by_free =
		kvcalloc(ledger_of(fabric)->hosts_max + 1, sizeof(struct list_head), GFP_KERNEL);
	return ledger_of(fabric)->hosts_by_free ? 0 : -ENOMEM;
}

/* Set the UUIDs of the fabrics at the edges, from the provider or the profile. */
static int fabric_init_peers(struct morph_fabric *fabric, const struct morph_fabric_desc *desc)
{
	const struct optics_graph *graph = fabric->graph;
	u32 i;

	fabric->peers = kvcalloc(graph->edges_count, sizeof(*fabric->peers), GFP_KERNEL);
	if (!fabric->peers)
		return -ENOMEM;
	for (i = 0; i < graph->edges_count; i++)
		memcpy(fabric->peers[i], desc->peers ? desc->peers[i] : graph->edges[i].peer_uuid,
		       sizeof(*fabric->peers));
	return 0;
}

/* Caller holds fabric->lock; the function drops it at times. No other thread uses the chips yet. */
static void fabric_init_chips(struct morph_fabric *fabric)
{
	const struct optics_graph *graph = fabric->graph;
	struct morph_chip *chip;
	struct morph_host *host;
	u32 i;

	for (i = 0; i <= ledger_of(fabric)->hosts_max; i++)
		INIT_LIST_HEAD(&ledger_of(fabric)->hosts_by_free[i]);
	for (i = 0; i < graph->hosts_count; i++) {
		host = &ledger_of(fabric)->hosts[i];
		host->index = i;
		host->free_count = 0;
		INIT_LIST_HEAD(&host->free);
		INIT_LIST_HEAD(&host->spares);
		INIT_LIST_HEAD(&host->lent);
		list_add_tail(&host->bucket, &ledger_of(fabric)->hosts_by_free[0]);
		morph_fabric_pause_after(fabric, i + 1);
	}
	for (i = 0; i < graph->accelerators_count; i++) {
		chip = &ledger_of(fabric)->chips[i];
		INIT_LIST_HEAD(&chip->host_node);
		INIT_LIST_HEAD(&chip->protections);
		chip->spare = graph->accelerators[i].flags & MORPH_ACCELERATOR_F_SPARE;
		chip->use = chip->spare ? MORPH_USE_SPARE : MORPH_USE_FREE;
		if (hardware_of(fabric)->ops->identify)
			hardware_of(fabric)->ops->identify(fabric, i, &chip->identity);
		chip->identity.pci[MORPH_PCI_BYTES - 1] = '\0';
		morph_chip_update(fabric, i);
		morph_fabric_pause_after(fabric, i + 1);
	}
}

/**
 * morph_fabric_register() - make a fabric usable
 * @fabric: from morph_fabric_alloc()
 * @desc: description of the fabric
 *
 * Checks the profile, switches all lasers off, parks all elements, verifies that,
 * and publishes /dev/morph/fabricN. It may call the provider's operations before it
 * returns.
 *
 * Context: process context; waits for the device.
 * Return: 0 or a negative errno; -EINVAL for a malformed description, with the
 * reason in the kernel log.
 */
int morph_fabric_register(struct morph_fabric *fabric, const struct morph_fabric_desc *desc)
{
	int ret;

	dev_set_name(&fabric->dev, "fabric%u", fabric->id);
	ret = fabric_check_desc(fabric, desc);
	if (!ret)
		ret = fabric_build_graph(fabric, desc);
	if (!ret)
		ret = fabric_alloc_tables(fabric);
	if (!ret)
		ret = fabric_init_peers(fabric, desc);
	if (ret)
		return ret;
	strscpy(fabric->name, desc->name, sizeof(fabric->name));
	memcpy(fabric->uuid, desc->uuid, sizeof(fabric->uuid));
	fabric->simulated = desc->simulated;
	mutex_lock(&fabric->lock);
	fabric_init_chips(fabric);
	mutex_unlock(&fabric->lock);
	morph_identity_learn(fabric);
	ret = morph_bringup(fabric);
	if (ret)
		goto err_gone;
	mutex_lock(&fabric->lock);
	WRITE_ONCE(fabric->state, MORPH_FABRIC_READY);
	mutex_unlock(&fabric->lock);
	ret = morph_chardev_add_fabric(fabric);
	if (ret)
		goto err_gone;
	mutex_lock(&morph_registry_lock);
	ret = xa_err(xa_store(&morph_fabrics, fabric->id, fabric, GFP_KERNEL));
	mutex_unlock(&morph_registry_lock);
	if (ret)
		goto err_chardev;
	morph_debugfs_add(fabric);
	morph_hwmon_add(fabric);
	morph_devlink_add(fabric);
	mutex_lock(&fabric->lock);
	morph_netlink_fabric(fabric);
	mutex_unlock(&fabric->lock);
	morph_health_start(fabric);
	return 0;

err_chardev:
	morph_chardev_del_fabric(fabric);
err_gone:
	mutex_lock(&fabric->lock);
	WRITE_ONCE(fabric->state, MORPH_FABRIC_GONE);
	mutex_unlock(&fabric->lock);
	WRITE_ONCE(hardware_of(fabric)->ops, NULL);
	synchronize_srcu(&hardware_of(fabric)->srcu);
	morph_health_stop(fabric);
	return ret;
}
EXPORT_SYMBOL_GPL(morph_fabric_register);

/* Mark a slice lost. One without open files ends now. Drops fabric->lock at times. */
static void lose_slice(struct morph_slice *slice)
{
	struct morph_event event;

	slice_tenancy(slice)->lost = true;
	slice_tenancy(slice)->state = MORPH_SLICE_LOST;
	slice->generation++;
	slice->fabric->seq++;
	morph_event_init(&event, slice, MORPH_EVENT_FABRIC_GONE);
	morph_event_queue(slice, &event);
	morph_event_hangup(slice);
	wake_up_all(&slice->idle);
	morph_state_lose(slice, true);
	morph_schedule_wake(slice);
	morph_queue_wake_slice(slice);
	slice_tenancy(slice)->named = false;
	/* No operation of the provider runs or will run, although files may hold the slice. */
	morph_slice_unpin(slice);
	if (!slice_tenancy(slice)->files_count && !slice->dying)
		morph_slice_release(slice, 0);
}

/* Return a slice that is not marked lost, with a reference, or NULL. Caller holds fabric->lock. */
static struct morph_slice *next_kept_slice(struct morph_fabric *fabric)
{
	struct morph_slice *slice;

	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		if (slice_tenancy(slice)->lost)
			continue;
		kref_get(&slice->kref);
		return slice;
	}
	return NULL;
}

/* Mark all slices lost. The fabric gets no new ones. */
static void lose_slices(struct morph_fabric *fabric)
{
	struct morph_slice *slice;

	mutex_lock(&fabric->lock);
	while ((slice = next_kept_slice(fabric))) {
		lose_slice(slice);
		mutex_unlock(&fabric->lock);
		morph_slice_put(slice);
		cond_resched();
		mutex_lock(&fabric->lock);
	}
	morph_netlink_fabric(fabric);
	mutex_unlock(&fabric->lock);
}

/**
 * morph_fabric_unregister() - remove a fabric
 * @fabric: a registered fabric
 *
 * Always succeeds. After it returns, no operation of the provider runs or is called.
 * Open files stay, get POLLHUP, and return ENODEV. An operation that does not return delays
 * the removal.
 *
 * Context: process context.
 */
void morph_fabric_unregister(struct morph_fabric *fabric)
{
	mutex_lock(&morph_registry_lock);
	xa_store(&morph_fabrics, fabric->id, NULL, GFP_KERNEL);
	mutex_unlock(&morph_registry_lock);

	mutex_lock(&fabric->lock);
	WRITE_ONCE(fabric->state, MORPH_FABRIC_GONE);
	mutex_unlock(&fabric->lock);

	WRITE_ONCE(hardware_of(fabric)->ops, NULL);
	synchronize_srcu(&hardware_of(fabric)->srcu);
	morph_hw_fail_all(fabric, -ENODEV);
	morph_health_stop(fabric);
	morph_controller_stop(fabric);
	/* Cancel in this order, since recover_work queues protection_work. */
	cancel_delayed_work_sync(&recovery_of(fabric)->recover_work);
	cancel_delayed_work_sync(&slices_of(fabric)->protection_work);
	morph_devlink_remove(fabric);
	morph_hwmon_remove(fabric);
	morph_debugfs_remove(fabric);
	morph_chardev_del_fabric(fabric);

	lose_slices(fabric);
}
EXPORT_SYMBOL_GPL(morph_fabric_unregister);

/**
 * morph_fabric_shutdown() - switch all lasers off, for the provider's shutdown hook
 * @fabric: a registered fabric
 *
 * Context: process context; waits for the device.
 */
void morph_fabric_shutdown(struct morph_fabric *fabric)
{
	struct morph_slice *slice;

	/* From now on no repair may start, and no running change may switch lasers on. */
	mutex_lock(&fabric->lock);
	WRITE_ONCE(fabric->state, MORPH_FABRIC_GONE);
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		morph_state_lose(slice, false);
		morph_schedule_wake(slice);
		morph_queue_wake_slice(slice);
	}
	mutex_unlock(&fabric->lock);
	morph_hw_drain(fabric);
	morph_bringup_lasers_off(fabric);
}
EXPORT_SYMBOL_GPL(morph_fabric_shutdown);

/**
 * morph_fabric_is_lit() - return whether any laser is on, to refuse a suspend
 * @fabric: a registered fabric
 *
 * Context: process context, takes fabric->lock.
 * Return: true while a laser is switched on.
 */
bool morph_fabric_is_lit(struct morph_fabric *fabric)
{
	bool lit = false;
	u32 i;

	mutex_lock(&fabric->lock);
	for (i = 0; i < fabric->graph->ports_count && !lit; i++) {
		morph_fabric_pause_after(fabric, i);
		lit = hardware_of(fabric)->tx_on[i];
	}
	mutex_unlock(&fabric->lock);
	return lit;
}
EXPORT_SYMBOL_GPL(morph_fabric_is_lit);
