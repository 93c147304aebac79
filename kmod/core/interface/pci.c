// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accelerators that are PCI devices. The removal of a device is a failure of its accelerator;
 * unbinding the driver has no effect here. A device that returns at an accelerator's address must
 * pass a test, which checks its identity (identity.c).
 *
 * Hot-plug is rare, so addresses are compared one by one. The notifier runs in process context
 * inside the driver core. It holds fabric->lock only briefly and calls no PCI function under it.
 */
#include <linux/device.h>
#include <linux/ktime.h>
#include <linux/notifier.h>
#include <linux/pci.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/recovery/recovery.h"

#ifdef CONFIG_PCI

/* The first accelerator with that address from @first on, or MORPH_ANY. */
static u32 find_address(struct morph_fabric *fabric, const char *address, u32 first)
{
	u32 i;

	lockdep_assert_held(&fabric->lock);
	for (i = first; i < fabric->graph->accelerators_count; i++)
		if (!strcmp(ledger_of(fabric)->chips[i].identity.pci, address))
			return i;
	return MORPH_ANY;
}

static void device_went(struct morph_fabric *fabric, const char *address)
{
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };

	mutex_lock(&fabric->lock);
	culprit.index = find_address(fabric, address, 0);
	while (culprit.index != MORPH_ANY && !morph_fabric_check(fabric)) {
		dev_warn(&fabric->dev, "accelerator %u: PCI device %s was removed\n",
			 culprit.index, address);
		ledger_of(fabric)->chips[culprit.index].removed = true;
		morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, ktime_get_ns());
		culprit.index = find_address(fabric, address, culprit.index + 1);
	}
	mutex_unlock(&fabric->lock);
}

/*
 * Check whether the device at an accelerator's address is a returned one. Caller holds
 * fabric->lock.
 */
static bool is_back(struct morph_fabric *fabric, u32 accelerator, u64 serial)
{
	const struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR, accelerator };
	struct morph_chip *chip = &ledger_of(fabric)->chips[accelerator];

	chip->removed = false;
	if (chip->health != MORPH_HEALTH_OK) {
		morph_health_set(fabric, &culprit, MORPH_HEALTH_QUARANTINED, 0);
		return true;
	}
	/* The device never went away: its address was only set late. */
	if (!chip->serial)
		chip->serial = serial;
	return false;
}

static void device_came(struct morph_fabric *fabric, const char *address)
{
	u64 serial = morph_identity_serial(address);
	u32 index = 0, txn;
	bool back;

	for (;; index++) {
		mutex_lock(&fabric->lock);
		index = find_address(fabric, address, index);
		back = index != MORPH_ANY && !morph_fabric_check(fabric) &&
		       is_back(fabric, index, serial);
		mutex_unlock(&fabric->lock);
		if (index == MORPH_ANY)
			return;
		if (!back)
			continue;
		dev_info(&fabric->dev, "accelerator %u: PCI device %s is back and awaits a test\n",
			 index, address);
		if (morph_health_test(fabric, MORPH_PART_ACCELERATOR, index, false, &txn, NULL))
			dev_warn(&fabric->dev,
				 "accelerator %u could not be tested and stays quarantined\n",
				 index);
	}
}

static int pci_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	const char *address = dev_name((struct device *)data);
	struct morph_fabric *fabric;
	u32 id;

	if (action != BUS_NOTIFY_DEL_DEVICE && action != BUS_NOTIFY_ADD_DEVICE)
		return NOTIFY_DONE;
	for (id = 0; (fabric = morph_fabric_next(&id)); id++) {
		if (action == BUS_NOTIFY_DEL_DEVICE)
			device_went(fabric, address);
		else
			device_came(fabric, address);
		put_device(&fabric->dev);
	}
	return NOTIFY_OK;
}

static struct notifier_block pci_notifier = {
	.notifier_call = pci_notify,
};

int morph_pci_init(void)
{
	return bus_register_notifier(&pci_bus_type, &pci_notifier);
}

void morph_pci_exit(void)
{
	bus_unregister_notifier(&pci_bus_type, &pci_notifier);
}

#else

int morph_pci_init(void)
{
	return 0;
}

void morph_pci_exit(void)
{
}

#endif /* CONFIG_PCI */
