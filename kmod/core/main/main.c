// SPDX-License-Identifier: GPL-2.0-only
/* morph.ko: the core for programmable photonic fabrics between accelerators. */
#include <linux/module.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"
#include "morph_version.h"

static_assert((u32)OPTICS_BAD_PROFILE == (u32)MORPH_REASON_PROFILE);
static_assert((u32)OPTICS_BAD_PORT == (u32)MORPH_REASON_PORT);
static_assert((u32)OPTICS_BAD_PATH == (u32)MORPH_REASON_PATH);
static_assert((u32)OPTICS_NO_ROUTE == (u32)MORPH_REASON_NO_ROUTE);
static_assert((u32)OPTICS_BLOCKED == (u32)MORPH_REASON_BLOCKED);
static_assert((u32)OPTICS_GAVE_UP == (u32)MORPH_REASON_GAVE_UP);
static_assert((u32)OPTICS_LANES == (u32)MORPH_REASON_LANES);
static_assert((u32)OPTICS_ELEMENT_PINNED == (u32)MORPH_REASON_ELEMENT_PINNED);
static_assert((u32)OPTICS_UNUSABLE == (u32)MORPH_REASON_UNUSABLE);
static_assert((u32)OPTICS_MARGIN == (u32)MORPH_REASON_MARGIN);
static_assert((u32)OPTICS_OVERLOAD == (u32)MORPH_REASON_OVERLOAD);
static_assert((u32)OPTICS_ISOLATION == (u32)MORPH_REASON_ISOLATION);
static_assert((u32)OPTICS_TRANSIT == (u32)MORPH_REASON_TRANSIT);
static_assert((u32)OPTICS_PORT_BUSY == (u32)MORPH_REASON_PORT_BUSY);
static_assert((u32)OPTICS_PART_EDGE == (u32)MORPH_PART_EDGE);
static_assert((u32)OPTICS_PART_GUIDE == (u32)MORPH_PART_GUIDE);

/*
 * Register what each layer adds to the layers below. This order is also the order in which waiters
 * for idle slices and subscribers to reports are called.
 */
static void __init register_layers(void)
{
	morph_content_set_sizes(sizeof(struct morph_slice_interface),
				sizeof(struct morph_circuit_interface));
	morph_schedule_register();
	morph_slice_register();
	morph_txn_register();
	morph_recovery_register();
	morph_interface_register();
}

static int __init morph_init(void)
{
	int ret = -ENOMEM;

	/*
	 * All queues freeze before devices may suspend, so that no light is switched on afterwards.
	 */
	morph_wq = alloc_workqueue("morph", WQ_UNBOUND | WQ_HIGHPRI | WQ_FREEZABLE, 0);
	if (!morph_wq)
		return -ENOMEM;
	morph_signal_wq = alloc_workqueue("morph-signal", WQ_HIGHPRI | WQ_FREEZABLE, 0);
	if (!morph_signal_wq)
		goto err_wq;
	morph_repair_wq = alloc_workqueue("morph-repair",
					  WQ_CPU_INTENSIVE | WQ_HIGHPRI | WQ_FREEZABLE,
					  WQ_MAX_ACTIVE);
	if (!morph_repair_wq)
		goto err_signal_wq;
	morph_turn_wq = alloc_workqueue("morph-turn", WQ_UNBOUND | WQ_HIGHPRI | WQ_FREEZABLE,
					WQ_MAX_ACTIVE);
	if (!morph_turn_wq)
		goto err_repair_wq;
	morph_act_wq = alloc_workqueue("morph-act", WQ_UNBOUND | WQ_FREEZABLE, 0);
	if (!morph_act_wq)
		goto err_turn_wq;
	/* A step occupies a worker until its light is verified, so allow one per stepping slice. */
	morph_step_wq = alloc_workqueue("morph-step", WQ_UNBOUND | WQ_FREEZABLE, WQ_MAX_ACTIVE);
	if (!morph_step_wq)
		goto err_act_wq;
	register_layers();
	morph_user_teach_lockdep();
	morph_debugfs_init();
	ret = morph_chardev_init();
	if (ret)
		goto err_debugfs;
	ret = morph_netlink_init();
	if (ret)
		goto err_chardev;
	ret = morph_pci_init();
	if (ret)
		goto err_netlink;
	return 0;

err_netlink:
	morph_netlink_exit();
err_chardev:
	morph_chardev_exit();
err_debugfs:
	morph_debugfs_exit();
	destroy_workqueue(morph_step_wq);
err_act_wq:
	destroy_workqueue(morph_act_wq);
err_turn_wq:
	destroy_workqueue(morph_turn_wq);
err_repair_wq:
	destroy_workqueue(morph_repair_wq);
err_signal_wq:
	destroy_workqueue(morph_signal_wq);
err_wq:
	destroy_workqueue(morph_wq);
	return ret;
}

static void __exit morph_exit(void)
{
	morph_pci_exit();
	morph_netlink_exit();
	/* Last releases of slices may still run, and they use the objects destroyed below. */
	destroy_workqueue(morph_act_wq);
	destroy_workqueue(morph_step_wq);
	destroy_workqueue(morph_turn_wq);
	destroy_workqueue(morph_signal_wq);
	destroy_workqueue(morph_repair_wq);
	drain_workqueue(morph_wq);
	morph_fabric_wait_released();
	morph_free_now();
	rcu_barrier();
	morph_chardev_exit();
	morph_debugfs_exit();
	destroy_workqueue(morph_wq);
}

module_init(morph_init);
module_exit(morph_exit);

MODULE_DESCRIPTION("Core for programmable photonic fabrics between accelerators");
MODULE_AUTHOR("The morph developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(MORPH_VERSION);
